//! Symmetric positive definite systems: least squares on a support.
//!
//! The method is plain Cholesky, row by row, in sums of fixed shape ([`dot_column`]), so that a solution has
//! the same bits on every machine. It is meant for systems of up to a few thousand unknowns.

use crate::dense::dot_column;

/// A pivot below this share of its diagonal entry counts as zero: up to rounding, the column depends on the
/// columns before it.
const DEPENDENT: f64 = 1e-12;

/// Solves `A x = b` for symmetric, positive semidefinite `A`, stored row by row. The lower triangle of A is
/// read and overwritten; `b` becomes x.
///
/// If a column of A depends on the columns before it (up to rounding), its unknown is set to zero: of
/// duplicate columns the first is used. Returns how many unknowns were set to zero in this way.
///
/// # Panics
/// Panics if `matrix` does not hold `b.len()` squared entries.
pub fn solve_positive(matrix: &mut [f64], b: &mut [f64]) -> usize {
    let n = b.len();
    assert_eq!(matrix.len(), n * n, "a square matrix with as many rows as there are unknowns");
    let mut dependent = 0;
    for i in 0..n {
        let (above, row) = matrix.split_at_mut(i * n);
        let row = &mut row[..n];
        for (j, other) in above.chunks_exact(n).enumerate() {
            let sum = row[j] - dot_column(&row[..j], &other[..j]);
            row[j] = if other[j] > 0.0 { sum / other[j] } else { 0.0 };
        }
        let pivot = row[i] - dot_column(&row[..i], &row[..i]);
        // A pivot that is zero or NaN marks a column that is left out.
        if pivot > DEPENDENT * row[i] && pivot.is_finite() {
            row[i] = pivot.sqrt();
            b[i] = (b[i] - dot_column(&row[..i], &b[..i])) / row[i];
        } else {
            row[..=i].fill(0.0);
            b[i] = 0.0;
            dependent += 1;
        }
    }
    for i in (0..n).rev() {
        let row = &matrix[i * n..][..n];
        if row[i] > 0.0 {
            b[i] /= row[i];
            let x = b[i];
            b[..i].iter_mut().zip(row).for_each(|(b, l)| *b -= l * x);
        }
    }
    dependent
}

/// Solves `L x = b` for the factor L that [`solve_positive`] leaves in its matrix. `b` becomes x; an unknown
/// that was left out is zero. The sum of the squares of x is `b' A^-1 b`.
///
/// # Panics
/// Panics if `factor` does not hold `b.len()` squared entries.
pub fn solve_lower(factor: &[f64], b: &mut [f64]) {
    let n = b.len();
    assert_eq!(factor.len(), n * n, "a square matrix with as many rows as there are unknowns");
    for i in 0..n {
        let row = &factor[i * n..][..n];
        b[i] = if row[i] > 0.0 { (b[i] - dot_column(&row[..i], &b[..i])) / row[i] } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gram(columns: &[Vec<f64>]) -> Vec<f64> {
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        columns.iter().flat_map(|a| columns.iter().map(|b| inner(a, b)).collect::<Vec<_>>()).collect()
    }

    fn times(matrix: &[f64], x: &[f64]) -> Vec<f64> {
        matrix.chunks(x.len()).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    }

    proptest! {
        #[test]
        fn the_solution_solves(
            columns in proptest::collection::vec(proptest::collection::vec(-2.0..2.0, 12), 1..9),
            x in proptest::collection::vec(-2.0..2.0, 9),
            twice in any::<bool>(),
        ) {
            let mut columns = columns;
            if twice {
                columns.push(columns[0].clone());
            }
            let mut matrix = gram(&columns);
            let kept = matrix.clone();
            let target = times(&matrix, &x[..columns.len()]);
            let mut b = target.clone();
            let dependent = solve_positive(&mut matrix, &mut b);
            let mut half = target.clone();
            solve_lower(&matrix, &mut half);
            let (inner, squares) = (
                target.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>(),
                half.iter().map(|x| x * x).sum::<f64>(),
            );
            prop_assert!((inner - squares).abs() <= 1e-6 * (1.0 + inner.abs()), "b' A^-1 b");
            prop_assert_eq!(dependent, usize::from(twice));
            if twice {
                prop_assert_eq!(b[columns.len() - 1], 0.0, "of duplicates the first is used");
            }
            for (a, b) in times(&kept, &b).iter().zip(&target) {
                prop_assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()));
            }
        }
    }

    #[test]
    fn zero_columns_get_zero() {
        let mut b = [3.0, 0.0];
        assert_eq!(solve_positive(&mut [4.0, 0.0, 0.0, 0.0], &mut b), 1);
        assert_eq!(b, [0.75, 0.0]);
        assert_eq!(solve_positive(&mut [], &mut []), 0);
    }
}
