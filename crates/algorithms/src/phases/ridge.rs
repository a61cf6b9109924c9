//! Ridge regression on complete rows, its penalty chosen by generalized cross-validation.

use lao_kernels::{dot_column, solve_positive, sum, symmetric_eigenvalues};
use std::ops::Range;

/// The penalties that are tried, per row and in units of the variance of a column.
const PENALTIES: [f64; 10] = [0.0, 1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0];

/// Sums over rows of k columns and their labels.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    rows: f64,
    columns: Vec<f64>,
    label: f64,
    /// Of the products of two columns, row by row; the lower triangle.
    products: Vec<f64>,
    with_label: Vec<f64>,
    label_square: f64,
}

/// A linear predictor of standardized columns.
#[derive(Clone, Debug)]
pub(super) struct Ridge {
    pub intercept: f64,
    /// One per column that is kept.
    pub weights: Vec<f64>,
    /// How much the squared error grows, at least, if the column is left out.
    pub sacrifices: Vec<f64>,
}

impl Sums {
    /// Returns the sums over these rows.
    pub fn of(columns: &[Vec<f64>], labels: &[f64], rows: Range<usize>) -> Self {
        let parts: Vec<&[f64]> = columns.iter().map(|column| &column[rows.clone()]).collect();
        let labels = &labels[rows.clone()];
        let k = parts.len();
        let mut products = vec![0.0; k * k];
        for (i, column) in parts.iter().enumerate() {
            for (l, other) in parts[..=i].iter().enumerate() {
                products[i * k + l] = dot_column(column, other);
            }
        }
        Sums {
            rows: rows.len() as f64,
            columns: parts.iter().map(|column| sum(column)).collect(),
            label: sum(labels),
            products,
            with_label: parts.iter().map(|column| dot_column(column, labels)).collect(),
            label_square: dot_column(labels, labels),
        }
    }

    /// Adds `sign` times other sums of the same columns.
    pub fn add(&mut self, other: &Sums, sign: f64) {
        let add = |own: &mut [f64], other: &[f64]| {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += sign * other);
        };
        add(&mut self.columns, &other.columns);
        add(&mut self.products, &other.products);
        add(&mut self.with_label, &other.with_label);
        self.rows += sign * other.rows;
        self.label += sign * other.label;
        self.label_square += sign * other.label_square;
    }

    /// Fits the label on the columns that are kept. The penalty lambda minimizes `RSS / (n - 1 - df)^2`,
    /// where
    /// `df = sum e / (e + lambda)` over the eigenvalues e of the centered products.
    pub fn ridge(&self, kept: &[usize]) -> Ridge {
        let (n, k) = (self.rows.max(1.0), kept.len());
        let all = self.columns.len();
        let means: Vec<f64> = kept.iter().map(|&i| self.columns[i] / n).collect();
        let label_mean = self.label / n;
        let centered = |a: usize, b: usize| {
            let (i, l) = (kept[a].max(kept[b]), kept[a].min(kept[b]));
            self.products[i * all + l] - n * means[a] * means[b]
        };
        let mut products = vec![0.0; k * k];
        for a in 0..k {
            for b in 0..=a {
                products[a * k + b] = centered(a, b);
                products[b * k + a] = products[a * k + b];
            }
        }
        let with_label: Vec<f64> =
            kept.iter().zip(&means).map(|(&i, mean)| self.with_label[i] - n * mean * label_mean).collect();
        let square = self.label_square - n * label_mean * label_mean;
        let solved = |lambda: f64| {
            let (mut factor, mut weights) = (products.clone(), with_label.clone());
            (0..k).for_each(|a| factor[a * k + a] += lambda);
            solve_positive(&mut factor, &mut weights);
            (factor, weights)
        };
        let residual = |weights: &[f64]| {
            let quadratic: f64 =
                (0..k).map(|a| weights[a] * dot_column(&products[a * k..][..k], weights)).sum();
            (square - 2.0 * dot_column(&with_label, weights) + quadratic).max(0.0)
        };
        let eigenvalues = symmetric_eigenvalues(&products, k).unwrap_or_default();
        let mut best: Option<(f64, f64)> = None;
        for penalty in PENALTIES {
            let lambda = penalty * n;
            let freedom: f64 =
                eigenvalues.iter().map(|e| e.max(0.0) / (e.max(0.0) + lambda).max(1e-300)).sum();
            let rest = n - 1.0 - freedom;
            // Without eigenvalues, or with fewer rows than columns, the largest penalties alone are safe.
            let safe = eigenvalues.len() == k && rest > 0.1 * n;
            let score = residual(&solved(lambda).1) / (rest * rest);
            if safe && score.is_finite() && best.is_none_or(|(least, _)| score < least) {
                best = Some((score, lambda));
            }
        }
        let (factor, weights) = solved(best.map_or(PENALTIES[PENALTIES.len() - 1] * n, |(_, lambda)| lambda));
        let sacrifices = sacrifices(&factor, &weights);
        let intercept = label_mean - dot_column(&means, &weights);
        Ridge { intercept, weights, sacrifices }
    }
}

/// Returns `w_j^2 / (A^-1)_jj` for each weight, given the Cholesky factor of A that [`solve_positive`]
/// leaves.
fn sacrifices(factor: &[f64], weights: &[f64]) -> Vec<f64> {
    let k = weights.len();
    let of = |j: usize| {
        let mut unit = vec![0.0; k];
        unit[j] = 1.0;
        lao_kernels::solve_lower(factor, &mut unit);
        let inverse = dot_column(&unit, &unit);
        if inverse > 0.0 { weights[j] * weights[j] / inverse } else { 0.0 }
    };
    (0..k).map(of).collect()
}

impl Ridge {
    /// Returns the predictions for all rows.
    pub fn predict(&self, columns: &[Vec<f64>], kept: &[usize], rows: usize) -> Vec<f64> {
        let mut sums = vec![self.intercept; rows];
        for (&i, weight) in kept.iter().zip(&self.weights) {
            lao_kernels::axpy_column(&mut sums, &columns[i], *weight);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> (Vec<Vec<f64>>, Vec<f64>) {
        let column = |step: f64| (0..60).map(|i| (step * f64::from(i)).sin() * 2f64.sqrt()).collect();
        let columns: Vec<Vec<f64>> = vec![column(1.0), column(2.3), column(0.7)];
        let label = |i: usize| 3.0 + 2.0 * columns[0][i] - columns[2][i] + 0.01 * (17.0 * i as f64).cos();
        let labels = (0..60).map(label).collect();
        (columns, labels)
    }

    #[test]
    fn a_line_is_found_and_folds_add_up() {
        let (columns, labels) = table();
        let whole = Sums::of(&columns, &labels, 0..60);
        let found = whole.ridge(&[0, 1, 2]);
        let close = |a: f64, b: f64| (a - b).abs() < 0.02;
        assert!(close(found.intercept, 3.0) && close(found.weights[0], 2.0), "{found:?}");
        assert!(close(found.weights[1], 0.0) && close(found.weights[2], -1.0), "{found:?}");
        let mut parts = Sums::of(&columns, &labels, 0..20);
        parts.add(&Sums::of(&columns, &labels, 20..60), 1.0);
        parts.add(&Sums::of(&columns, &labels, 10..30), -1.0);
        let mut direct = Sums::of(&columns, &labels, 0..10);
        direct.add(&Sums::of(&columns, &labels, 30..60), 1.0);
        assert!(close(parts.ridge(&[2]).weights[0], direct.ridge(&[2]).weights[0]));
    }

    #[test]
    fn a_sacrifice_is_what_the_error_grows_by() {
        let (columns, labels) = table();
        let whole = Sums::of(&columns, &labels, 0..60);
        let error = |kept: &[usize]| {
            let ridge = whole.ridge(kept);
            let predicted = ridge.predict(&columns, kept, 60);
            predicted.iter().zip(&labels).map(|(p, y)| (p - y) * (p - y)).sum::<f64>()
        };
        let sacrifices = whole.ridge(&[0, 1, 2]).sacrifices;
        for (left_out, kept) in [[1, 2], [0, 2], [0, 1]].iter().enumerate() {
            let grows = error(kept) - error(&[0, 1, 2]);
            assert!((sacrifices[left_out] - grows).abs() < 0.05 * grows + 1e-3, "{left_out}: {grows}");
        }
    }

    #[test]
    fn no_columns_few_rows_and_copies_do_no_harm() {
        let (mut columns, labels) = table();
        assert!((Sums::of(&columns, &labels, 0..60).ridge(&[]).intercept - 3.0).abs() < 0.2);
        columns.push(columns[0].clone());
        columns.push(vec![0.0; 60]);
        for rows in [0..0, 0..1, 0..3, 0..60] {
            let ridge = Sums::of(&columns, &labels, rows).ridge(&[0, 1, 2, 3, 4]);
            assert!(ridge.weights.iter().chain([&ridge.intercept]).all(|x| x.abs() < 10.0), "{ridge:?}");
        }
    }
}
