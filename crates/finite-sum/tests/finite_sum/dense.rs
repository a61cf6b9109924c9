//! Finite sums against their definition on dense rows, in every layout, precision and form: standardized or
//! not, with and without intercept, l2 term and blocks. Shapes do not divide the tiles of the kernels.

use lao_finite_sum::{
    Batch, Coding, DesignMatrix, Entries, FiniteSum, FiniteSumError, Gradient, Loss, NormalEquations,
    Predictor, RowBuf, Standardize,
};
use lao_kernels::{Compressed, Element, SparseVector};
use std::sync::Arc;

/// Rows and columns. A tile of rows has 64, one of a column 2048 entries.
const SHAPES: [(usize, usize); 6] = [(1, 1), (6, 5), (64, 9), (65, 13), (130, 21), (2050, 6)];

/// Returns a number from -1 to 1 without any pattern.
pub(crate) fn number(seed: usize) -> f64 {
    let mut word = (seed as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (word >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Returns a table in row-major order, with columns of different scale and mean, and one constant column if
/// there are several. Its entries are numbers of single precision.
pub(crate) fn table(n: usize, dim: usize, density: f64) -> Vec<f64> {
    let entry = |at: usize| {
        let (i, j) = (at / dim, at % dim);
        if dim > 4 && j == 2 {
            return 0.75;
        }
        let kept = number(7 * at + 3).abs() < density || i % 17 == j;
        let value = if kept { (1 + j) as f64 * (number(at) + 0.3) } else { 0.0 };
        f64::from(value as f32)
    };
    (0..n * dim).map(entry).collect()
}

pub(crate) fn layouts<T: Element>(n: usize, dim: usize, table: &[T]) -> Vec<DesignMatrix<T>> {
    let columns: Vec<T> = (0..dim).flat_map(|j| table.iter().skip(j).step_by(dim).copied()).collect();
    let sparse = |width: usize, values: &[T]| {
        let (mut starts, mut indices, mut kept) = (vec![0], Vec::new(), Vec::new());
        for line in values.chunks(width) {
            for (at, value) in (0..).zip(line) {
                if value.to_f64() != 0.0 {
                    indices.push(at);
                    kept.push(*value);
                }
            }
            starts.push(kept.len());
        }
        Compressed::new(width, starts, indices, kept).unwrap()
    };
    vec![
        DesignMatrix::compressed_rows(sparse(dim, table)),
        DesignMatrix::compressed_columns(sparse(n, &columns)),
        DesignMatrix::rows(n, dim, table.to_vec()).unwrap(),
        DesignMatrix::shared_rows(n, dim, Arc::new(table.to_vec())).unwrap(),
        DesignMatrix::shared_columns(n, dim, Arc::new(columns.clone())).unwrap(),
        DesignMatrix::columns(n, dim, columns).unwrap(),
    ]
}

#[test]
fn a_number_that_is_not_finite_is_named_with_its_place() {
    for (at, row, attribute) in [(0, 0, 0), (1023, 204, 3), (1024, 204, 4), (2999, 599, 4)] {
        let mut values = vec![1.0; 3000];
        values[at] = f64::NAN;
        let refused = DesignMatrix::rows(600, 5, values).unwrap_err();
        assert_eq!(
            refused.to_string(),
            FiniteSumError::NotFinite { row, attribute, value: f64::NAN }.to_string()
        );
    }
    // The first of several.
    let mut values = vec![1.0; 300_000];
    for at in [250_001, 70_003, 140_000] {
        values[at] = f64::INFINITY;
    }
    let refused = DesignMatrix::columns(100_000, 3, values).unwrap_err();
    assert!(matches!(refused, FiniteSumError::NotFinite { row: 70_003, attribute: 0, .. }), "{refused}");
}

/// A sum as its definition has it.
struct Dense {
    /// Rows after standardization.
    rows: Vec<Vec<f64>>,
    /// Means and standard deviations of the columns; 0 and 1 where they are not used.
    center: Vec<f64>,
    scale: Vec<f64>,
    kind: usize,
    labels: Vec<f64>,
    ridge: f64,
    intercept: bool,
    block: usize,
}

impl Dense {
    fn new(dim: usize, table: &[f64], how: Standardize) -> Dense {
        let n = (table.len() / dim) as f64;
        let column = |j: usize| table.iter().skip(j).step_by(dim);
        let mean = |j: usize| column(j).sum::<f64>() / n;
        let deviation = |j: usize| {
            let squares: f64 = column(j).map(|value| (value - mean(j)).powi(2)).sum();
            if (squares / n).sqrt() > 1e-12 { (squares / n).sqrt() } else { 1.0 }
        };
        let scaled = how != Standardize::No;
        let centered = how == Standardize::CenterAndScale;
        let center: Vec<f64> = (0..dim).map(|j| if centered { mean(j) } else { 0.0 }).collect();
        let scale: Vec<f64> = (0..dim).map(|j| if scaled { deviation(j) } else { 1.0 }).collect();
        let standard = |row: &[f64]| (0..dim).map(|j| (row[j] - center[j]) / scale[j]).collect();
        let rows = table.chunks(dim).map(standard).collect();
        Dense { rows, center, scale, kind: 0, labels: vec![], ridge: 0.0, intercept: false, block: 1 }
    }

    fn margins(&self, row: usize, at: &Predictor) -> Vec<f64> {
        let of = |(x, intercept): (&SparseVector, &f64)| {
            let x = x.view().to_dense();
            self.rows[row].iter().zip(&x).map(|(z, x)| z * x).sum::<f64>() + intercept
        };
        at.coefficients.iter().zip(&at.intercepts).map(of).collect()
    }

    fn loss(&self, row: usize, margins: &[f64]) -> f64 {
        let label = self.labels[row];
        match self.kind {
            0 => (label - margins[0]) * (label - margins[0]),
            1 => (1.0 + (-label * margins[0]).exp()).ln(),
            _ => margins.iter().map(|m| m.exp()).sum::<f64>().ln() - margins[label as usize],
        }
    }

    fn slopes(&self, row: usize, margins: &[f64]) -> Vec<f64> {
        let label = self.labels[row];
        match self.kind {
            0 => vec![2.0 * (margins[0] - label)],
            1 => vec![-label / (1.0 + (label * margins[0]).exp())],
            _ => {
                let total: f64 = margins.iter().map(|m| m.exp()).sum();
                let own = |class: usize| if class == label as usize { 1.0 } else { 0.0 };
                margins.iter().enumerate().map(|(class, m)| m.exp() / total - own(class)).collect()
            }
        }
    }

    fn curvature(&self) -> f64 {
        [2.0, 0.25, 0.5][self.kind]
    }

    /// Returns the mean gradient over some rows for each output, without the l2 term, and that of the
    /// intercept.
    fn gradient(&self, rows: &[usize], at: &Predictor) -> Vec<(Vec<f64>, f64)> {
        let (dim, weight) = (self.scale.len(), 1.0 / rows.len().max(1) as f64);
        let mut sums = vec![(vec![0.0; dim], 0.0); at.coefficients.len()];
        for &row in rows {
            let slopes = self.slopes(row, &self.margins(row, at));
            for ((sum, total), slope) in sums.iter_mut().zip(slopes) {
                sum.iter_mut().zip(&self.rows[row]).for_each(|(sum, z)| *sum += weight * slope * z);
                *total += weight * if self.intercept { slope } else { 0.0 };
            }
        }
        sums
    }
}

#[track_caller]
pub(crate) fn close(found: f64, wanted: f64, what: &str) {
    let ok = (found - wanted).abs() <= 1e-9 * (1.0 + wanted.abs());
    assert!(ok, "{what}: {found}, not {wanted}");
}

pub(crate) fn predictor(dim: usize, outputs: usize, intercept: bool) -> Predictor {
    let mut at = Predictor::zeros(dim, outputs);
    for l in 0..outputs {
        let value = |j: usize| if (j + l) % 3 == 2 { 0.0 } else { 0.2 * number(100 * l + j) };
        at.coefficients[l] = SparseVector::from_dense(&(0..dim).map(value).collect::<Vec<_>>());
        at.intercepts[l] = if intercept { 0.4 * number(500 + l) } else { 0.0 };
    }
    at
}

/// Compares everything that a sum can be asked with the definition.
fn compare(sum: &mut FiniteSum, dense: &Dense, table: &[f64], what: &str) {
    let (n, dim, outputs) = (dense.rows.len(), dense.scale.len(), sum.outputs());
    let at = predictor(dim, outputs, dense.intercept);
    assert_eq!((sum.rows(), sum.len(), sum.dim()), (n, n / dense.block, dim));

    let mut buffer = RowBuf::default();
    for i in [0, n / 2, n - 1] {
        let mut row = match sum.row(i, &mut buffer) {
            Entries::Dense(values) => values.to_vec(),
            Entries::Sparse(at, values) => {
                SparseVector::new(dim, at.to_vec(), values.to_vec()).unwrap().view().to_dense()
            }
        };
        let offset = sum.offset().map_or(vec![0.0; dim], <[f64]>::to_vec);
        row.iter_mut().zip(offset).for_each(|(value, offset)| *value -= offset);
        row.iter().zip(&dense.rows[i]).for_each(|(a, b)| close(*a, *b, &format!("{what}: row {i}")));
    }

    let losses: f64 = (0..n).map(|i| dense.loss(i, &dense.margins(i, &at))).sum();
    let norm: f64 = at.coefficients.iter().flat_map(SparseVector::values).map(|x| x * x).sum();
    let objective = losses / n as f64 + 0.5 * dense.ridge * norm;
    close(sum.objective(&at).unwrap(), objective, &format!("{what}: objective"));

    let every: Vec<usize> = (0..n).collect();
    let count = n / dense.block;
    let list: Vec<u32> = [count - 1, 0, count / 2, 0, count / 3].map(|z| z as u32).to_vec();
    let of_list: Vec<usize> =
        list.iter().flat_map(|&z| z as usize * dense.block..(z as usize + 1) * dense.block).collect();
    for (batch, rows) in [(Batch::All, &every), (Batch::Components(&list), &of_list)] {
        let mut gradient = Gradient::default();
        sum.gradient(batch, &at, &mut gradient).unwrap();
        for (l, (wanted, of_intercept)) in dense.gradient(rows, &at).iter().enumerate() {
            let what = format!("{what}: gradient over {} rows", rows.len());
            gradient.coefficients[l].iter().zip(wanted).for_each(|(a, b)| close(*a, *b, &what));
            close(gradient.intercepts[l], *of_intercept, &what);
        }
    }

    let squares = |i: usize| dense.margins(i, &at).iter().map(|m| m * m).sum::<f64>();
    let curvature = dense.curvature() * (0..n).map(squares).sum::<f64>() / n as f64 + dense.ridge * norm;
    close(sum.curvature(&at).unwrap(), curvature, &format!("{what}: curvature"));

    let length =
        |row: &Vec<f64>| row.iter().map(|z| z * z).sum::<f64>() + if dense.intercept { 1.0 } else { 0.0 };
    let of_blocks = dense.rows.chunks(dense.block).map(|rows| rows.iter().map(length).sum::<f64>());
    let largest = of_blocks.fold(0.0, f64::max) / dense.block as f64;
    let smoothness = dense.curvature() * largest + dense.ridge;
    close(sum.component_smoothness(), smoothness, &format!("{what}: smoothness"));

    let support: Vec<u32> = (0..dim as u32).filter(|j| j % 3 != 1).collect();
    compare_normal_equations(sum, dense, &support, what);
    compare_restriction(sum, &support, &at, what);

    let stored = sum.to_original_scale(&at).unwrap();
    for i in [0, n - 1] {
        let row = &table[i * dim..][..dim];
        for (l, margin) in dense.margins(i, &at).into_iter().enumerate() {
            let x = stored.coefficients[l].view().dot_dense(row);
            close(x + stored.intercepts[l], margin, &format!("{what}: margin in stored units"));
        }
    }
}

fn compare_normal_equations(sum: &FiniteSum, dense: &Dense, support: &[u32], what: &str) {
    let (n, size, mut equations) = (dense.rows.len(), support.len(), NormalEquations::default());
    // What was computed before must leave no trace.
    sum.normal_equations(&support[..1], &mut equations).unwrap();
    assert_eq!(sum.normal_equations(support, &mut equations).unwrap(), dense.kind == 0);
    let x = SparseVector::new(dense.scale.len(), support.to_vec(), vec![0.5; size]).unwrap();
    let found = sum.best_intercept(&x).unwrap();
    if dense.kind != 0 {
        return assert_eq!(found, 0.0);
    }
    let column = |a: usize| -> Vec<f64> { dense.rows.iter().map(|row| row[support[a] as usize]).collect() };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n as f64;
    let about = |values: Vec<f64>| -> Vec<f64> {
        let mean = if dense.intercept { mean(&values) } else { 0.0 };
        values.iter().map(|value| value - mean).collect()
    };
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let labels = about(dense.labels.clone());
    // Centering subtracts sums of squares about zero, of this size, whose rounding remains.
    let length = |a: usize| {
        let shift = dense.center[support[a] as usize] / dense.scale[support[a] as usize];
        inner(&column(a), &column(a)) + n as f64 * shift * shift
    };
    let same = |found: f64, wanted: f64, size: f64, entry: &str| {
        assert!((found - wanted).abs() <= 1e-12 * (1.0 + size), "{what}: {entry}: {found}, not {wanted}");
    };
    for a in 0..size {
        let own = about(column(a));
        for b in 0..=a {
            let ridge = if a == b { 0.5 * n as f64 * dense.ridge } else { 0.0 };
            let wanted = inner(&own, &about(column(b))) + ridge;
            let entry = format!("gram {a} {b}");
            same(equations.gram[a * size + b], wanted, length(a) + length(b) + ridge, &entry);
        }
        let size = length(a) + inner(&dense.labels, &dense.labels);
        same(equations.right[a], inner(&own, &labels), size, &format!("right {a}"));
    }
    let residual =
        |i: usize| dense.labels[i] - 0.5 * support.iter().map(|&j| dense.rows[i][j as usize]).sum::<f64>();
    let best = (0..n).map(residual).sum::<f64>() / n as f64;
    close(found, if dense.intercept { best } else { 0.0 }, &format!("{what}: intercept"));
}

/// A restriction is the sum at predictors on the support.
fn compare_restriction(sum: &mut FiniteSum, support: &[u32], at: &Predictor, what: &str) {
    let mut small = sum.restricted(support).unwrap();
    let mut inside = Predictor { coefficients: Vec::new(), intercepts: at.intercepts.clone() };
    let mut renumbered = inside.clone();
    for x in &at.coefficients {
        let values: Vec<f64> = support.iter().map(|&j| x.view().get(j)).collect();
        inside.coefficients.push(SparseVector::new(sum.dim(), support.to_vec(), values.clone()).unwrap());
        renumbered.coefficients.push(SparseVector::from_dense(&values));
    }
    let objective = sum.objective(&inside).unwrap();
    close(small.objective(&renumbered).unwrap(), objective, &format!("{what}: restricted"));
    let (mut whole, mut part) = (Gradient::default(), Gradient::default());
    sum.gradient(Batch::All, &inside, &mut whole).unwrap();
    small.gradient(Batch::All, &renumbered, &mut part).unwrap();
    for (whole, part) in whole.coefficients.iter().zip(&part.coefficients) {
        assert_eq!(part.len(), support.len());
        support.iter().zip(part).for_each(|(&j, a)| close(*a, whole[j as usize], what));
    }
    let curvature = sum.curvature(&inside).unwrap();
    close(small.curvature(&renumbered).unwrap(), curvature, &format!("{what}: restricted curvature"));
}

fn check<T: Element>(n: usize, dim: usize, density: f64, convert: impl Fn(f64) -> T) {
    let table = table(n, dim, density);
    let stored: Vec<T> = table.iter().map(|&value| convert(value)).collect();
    for how in [Standardize::No, Standardize::Scale, Standardize::CenterAndScale] {
        let mut dense = Dense::new(dim, &table, how);
        for kind in 0..3 {
            dense.kind = kind;
            dense.labels = (0..n)
                .map(|i| match kind {
                    0 => 3.0 * number(9 * i) + 1.0,
                    1 => {
                        if (i / 2).is_multiple_of(2) {
                            -1.0
                        } else {
                            1.0
                        }
                    }
                    _ => ((i * 5 + 2) % 3) as f64,
                })
                .collect();
            let classes = Coding::Classes { first: 0, count: 3 };
            let loss = match kind {
                0 => Loss::least_squares(dense.labels.clone()),
                1 => Loss::coded(&dense.labels, Coding::TwoClasses { negative: -1.0, positive: 1.0 }),
                _ => Loss::coded(&dense.labels, classes),
            }
            .unwrap();
            for (layout, design) in layouts(n, dim, &stored).into_iter().enumerate() {
                let block = if n.is_multiple_of(5) {
                    5
                } else if n.is_multiple_of(2) {
                    2
                } else {
                    1
                };
                for (intercept, ridge, block) in [(false, 0.7, 1), (true, 0.3, block), (true, 0.0, 1)] {
                    (dense.intercept, dense.ridge, dense.block) = (intercept, ridge, block);
                    let what = format!("{n} x {dim}, {how:?}, loss {kind}, layout {layout}, {intercept}");
                    let sum =
                        FiniteSum::new(design.clone(), loss.clone()).unwrap().with_ridge(ridge).unwrap();
                    let sum = if intercept && ridge > 0.0 { sum.with_intercept() } else { sum };
                    let sum = sum.standardized(how).unwrap().in_blocks(block).unwrap();
                    let mut sum = if intercept { sum.with_intercept() } else { sum };
                    compare(&mut sum, &dense, &table, &what);
                }
            }
        }
    }
}

#[test]
fn sums_of_double_precision_are_their_definition() {
    for (n, dim) in SHAPES {
        [1.0, 0.3].into_iter().for_each(|density| check::<f64>(n, dim, density, |value| value));
    }
}

#[test]
fn sums_of_single_precision_are_their_definition() {
    for (n, dim) in SHAPES {
        [1.0, 0.3].into_iter().for_each(|density| check::<f32>(n, dim, density, |value| value as f32));
    }
}

/// Products on several threads take another path; the shape divides neither their chunks nor the tiles.
#[test]
fn sums_large_enough_for_several_threads_are_their_definition() {
    let (n, dim) = (2051, 257);
    let table = table(n, dim, 1.0);
    let mut dense = Dense::new(dim, &table, Standardize::CenterAndScale);
    dense.labels = (0..n).map(|i| number(9 * i)).collect();
    (dense.intercept, dense.ridge) = (true, 0.2);
    for design in layouts(n, dim, &table) {
        let sum = FiniteSum::new(design, Loss::least_squares(dense.labels.clone()).unwrap()).unwrap();
        let sum = sum.with_ridge(0.2).unwrap().with_intercept();
        let mut sum = sum.standardized(Standardize::CenterAndScale).unwrap();
        compare(&mut sum, &dense, &table, "2051 x 257");
    }
}
