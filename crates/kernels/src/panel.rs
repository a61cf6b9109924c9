//! Sums over the examples of a block for many pairs of columns, and triangular systems with several right
//! sides: four or eight problems of one shape, a lane for each.
//!
//! A panel holds four interleaved columns: `panel[i][c]` is the value of column c in row i. A lane adds in
//! the order of the rows, so that the bits of a sum depend neither on the vector width nor on the other
//! columns, and blocks of few rows need no special treatment.

use multiversion::multiversion;

/// Returns the products of the columns of two panels of the same rows: entry `[a][b]` is the sum over rows of
/// column a of `left` times column b of `right`. Rows beyond the end of the shorter panel are left out.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn panel_products(left: &[[f64; 4]], right: &[[f64; 4]]) -> [[f64; 4]; 4] {
    debug_assert_eq!(left.len(), right.len());
    let mut sums = [[0.0; 4]; 4];
    for (x, y) in left.iter().zip(right) {
        for a in 0..4 {
            for b in 0..4 {
                sums[a][b] += x[a] * y[b];
            }
        }
    }
    sums
}

/// Clamps the values of each column of a panel to the range from `low` to `high`, and returns the sums of
/// their deviations from `center`.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn panel_clip(panel: &mut [[f64; 4]], low: [f64; 4], high: [f64; 4], center: [f64; 4]) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for row in panel {
        let above: [f64; 4] =
            std::array::from_fn(|lane| if row[lane] < low[lane] { low[lane] } else { row[lane] });
        let inside: [f64; 4] =
            std::array::from_fn(|lane| if above[lane] > high[lane] { high[lane] } else { above[lane] });
        *row = inside;
        for lane in 0..4 {
            sums[lane] += inside[lane] - center[lane];
        }
    }
    sums
}

/// Subtracts its center from each column of a panel, and returns three sums for each of the deviations u: of
/// `u^2`, of u times the label, and of `(u r)^2` for the residual r.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn panel_moments(
    panel: &mut [[f64; 4]],
    center: [f64; 4],
    labels: &[f64],
    residual: &[f64],
) -> [[f64; 4]; 3] {
    debug_assert!(panel.len() == labels.len() && panel.len() == residual.len());
    let mut sums = [[0.0; 4]; 3];
    for ((row, y), r) in panel.iter_mut().zip(labels).zip(residual) {
        let u: [f64; 4] = std::array::from_fn(|lane| row[lane] - center[lane]);
        *row = u;
        let products: [f64; 4] = std::array::from_fn(|lane| u[lane] * r);
        for lane in 0..4 {
            sums[0][lane] += u[lane] * u[lane];
        }
        for lane in 0..4 {
            sums[1][lane] += u[lane] * y;
        }
        for lane in 0..4 {
            sums[2][lane] += products[lane] * products[lane];
        }
    }
    sums
}

/// Goes from the last row of a panel to the first, and returns three sums for each column x: of the steps
/// `D_i = (x_i - mean(x_i, .., x_m)) e_i`, of `D_i^2 + 2 C_i` with `C_i = var(x_i, .., x_m) e_i^2`, and of
/// the squared deviations from the mean of the column. Entry i of `steps` is `e_i` and the reciprocal of the
/// number of rows from row i on. If the values of a column come in a random order, `C_i` is what `D_i^2` is
/// expected to be, given all rows before row i.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn panel_steps(panel: &[[f64; 4]], steps: &[[f64; 2]]) -> [[f64; 4]; 3] {
    debug_assert_eq!(panel.len(), steps.len());
    let (mut sums, mut mean) = ([[0.0; 4]; 3], panel.last().copied().unwrap_or_default());
    for (row, &[e, share]) in panel.iter().zip(steps).rev() {
        // Deviations are from the mean of the later rows, so that sums of squares do not cancel.
        let ahead: [f64; 4] = std::array::from_fn(|lane| row[lane] - mean[lane]);
        let shift = ahead.map(|ahead| ahead * share);
        let rest: [f64; 4] = std::array::from_fn(|lane| ahead[lane] - shift[lane]);
        let (twice, square) = (2.0 * share * e * e, &mut sums[2]);
        for lane in 0..4 {
            mean[lane] += shift[lane];
            square[lane] += ahead[lane] * rest[lane];
        }
        let square = *square;
        for lane in 0..4 {
            let step = rest[lane] * e;
            sums[0][lane] += step;
            sums[1][lane] += step * step + twice * square[lane];
        }
    }
    sums
}

/// Solves `L x = b` for as many right sides as `b` has lanes, where [`solve_positive`](crate::solve_positive)
/// left the factor L. `b` becomes x; an unknown that was left out is zero. The entries of `b` before `first`
/// are zero, and stay so.
///
/// # Panics
/// Panics if `factor` does not hold `b.len()` squared entries.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn solve_lower_lanes<const LANES: usize>(factor: &[f64], first: usize, b: &mut [[f64; LANES]]) {
    let n = b.len();
    assert_eq!(factor.len(), n * n, "a square matrix with as many rows as there are unknowns");
    for i in first..n {
        let row = &factor[i * n..][..n];
        let (known, rest) = b.split_at_mut(i);
        let mut x = rest[0];
        for (l, known) in row[first..].iter().zip(&known[first..]) {
            for lane in 0..LANES {
                x[lane] -= l * known[lane];
            }
        }
        rest[0] = if row[i] > 0.0 { x.map(|x| x / row[i]) } else { [0.0; LANES] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve_positive;
    use proptest::prelude::*;

    fn rows() -> impl Strategy<Value = Vec<([f64; 4], [f64; 4])>> {
        let row = || proptest::array::uniform4(-3.0..3.0);
        proptest::collection::vec((row(), row()), 0..40)
    }

    proptest! {
        #[test]
        fn products_have_the_bits_of_sums_in_order(rows in rows()) {
            let (left, right): (Vec<[f64; 4]>, Vec<[f64; 4]>) = rows.into_iter().unzip();
            let products = panel_products(&left, &right);
            for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                let naive = left.iter().zip(&right).fold(0.0, |sum, (x, y)| sum + x[a] * y[b]);
                prop_assert_eq!(products[a][b].to_bits(), naive.to_bits());
            }
        }

        #[test]
        fn columns_are_clipped_and_centered_one_by_one(
            rows in rows(), low in -1.0..0.0, center in -1.0..1.0,
        ) {
            let (mut panel, others): (Vec<[f64; 4]>, Vec<[f64; 4]>) = rows.into_iter().unzip();
            let labels: Vec<f64> = others.iter().map(|row| row[0]).collect();
            let residual: Vec<f64> = others.iter().map(|row| row[1]).collect();
            let kept = panel.clone();
            let deviations = panel_clip(&mut panel, [low; 4], [0.5; 4], [center; 4]);
            let sums = panel_moments(&mut panel, [center; 4], &labels, &residual);
            for lane in 0..4 {
                let mut naive = [0.0; 4];
                for i in 0..kept.len() {
                    let u = kept[i][lane].clamp(low, 0.5) - center;
                    prop_assert_eq!(panel[i][lane].to_bits(), u.to_bits());
                    let terms = [u, u * u, u * labels[i], (u * residual[i]) * (u * residual[i])];
                    naive.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
                }
                let found = [deviations[lane], sums[0][lane], sums[1][lane], sums[2][lane]];
                prop_assert_eq!(found.map(f64::to_bits), naive.map(f64::to_bits));
            }
        }

        #[test]
        fn steps_are_those_of_their_definition(rows in rows(), shift in -1e3..1e3) {
            let (mut panel, others): (Vec<[f64; 4]>, Vec<[f64; 4]>) = rows.into_iter().unzip();
            panel.iter_mut().flatten().for_each(|x| *x += shift);
            let m = panel.len();
            let steps: Vec<[f64; 2]> =
                others.iter().enumerate().map(|(i, row)| [row[0], 1.0 / (m - i) as f64]).collect();
            let sums = panel_steps(&panel, &steps);
            let moments = |x: &[f64]| {
                let mean = x.iter().sum::<f64>() / x.len() as f64;
                (mean, x.iter().map(|x| (x - mean).powi(2)).sum::<f64>())
            };
            for lane in 0..4 {
                let x: Vec<f64> = panel.iter().map(|row| row[lane]).collect();
                let mut naive = [0.0; 3];
                for i in 0..m {
                    let ((mean, square), [e, share]) = (moments(&x[i..]), steps[i]);
                    naive[0] += (x[i] - mean) * e;
                    naive[1] += ((x[i] - mean) * e).powi(2) + 2.0 * square * share * e * e;
                }
                naive[2] = moments(&x).1;
                for (sum, naive) in sums.iter().zip(naive) {
                    prop_assert!((sum[lane] - naive).abs() <= 1e-9 * (1.0 + naive.abs()));
                }
            }
        }

        #[test]
        fn each_lane_is_a_system_of_its_own(
            columns in proptest::collection::vec(proptest::collection::vec(-2.0..2.0, 12), 1..9),
            b in proptest::collection::vec(proptest::array::uniform8(-2.0..2.0), 9),
            twice in any::<bool>(),
            first in 0_usize..9,
        ) {
            let mut columns: Vec<Vec<f64>> = columns;
            if twice {
                columns.push(columns[0].clone());
            }
            let n = columns.len();
            let inner = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let mut factor: Vec<f64> =
                columns
                    .iter()
                    .flat_map(|x| columns.iter().map(|y| inner(x, y)).collect::<Vec<_>>())
                    .collect();
            solve_positive(&mut factor, &mut vec![0.0; n]);
            let mut b: Vec<[f64; 8]> = b[..n].to_vec();
            let first = first.min(n);
            b[..first].fill([0.0; 8]);
            let mut lanes = b.clone();
            solve_lower_lanes(&factor, first, &mut lanes);
            for lane in 0..8 {
                let mut naive: Vec<f64> = Vec::new();
                for (i, row) in factor.chunks_exact(n).enumerate() {
                    let rest = row.iter().zip(&naive).fold(b[i][lane], |rest, (l, x)| rest - l * x);
                    naive.push(if row[i] > 0.0 { rest / row[i] } else { 0.0 });
                }
                for (x, naive) in lanes.iter().zip(&naive) {
                    prop_assert_eq!(x[lane].to_bits(), naive.to_bits());
                }
            }
        }
    }
}
