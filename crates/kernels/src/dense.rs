//! Products with contiguous columns: the residual `X_S theta - y` and the sums `X_J' r` of a block of examples.
//!
//! A column holds one attribute of consecutive examples, in single or double precision; arithmetic is in double precision.
//! Sums use a fixed number of accumulators, row i going to accumulator i mod 8, so their bits depend neither on the
//! vector width nor on how columns are grouped. Grouping only saves loads: a tile of 256 to 1024 rows of the residual stays in
//! the first-level cache while columns stream past.
//!
//! All slices of a call must have one length; in release builds the shortest decides.

/// Number of accumulators of a sum.
const LANES: usize = 8;

/// A number as it is stored: `f32` or `f64`.
pub trait Element: Copy + Send + Sync + sealed::Sealed + 'static {
    /// The same number in double precision.
    fn to_f64(self) -> f64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Element for f64 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

impl Element for f32 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

/// `r <- r + weight * column`.
pub fn axpy_column<T: Element>(r: &mut [f64], column: &[T], weight: f64) {
    debug_assert_eq!(r.len(), column.len());
    for (r, x) in r.iter_mut().zip(column) {
        *r += weight * x.to_f64();
    }
}

/// `column' r`.
pub fn dot_column<T: Element>(column: &[T], r: &[f64]) -> f64 {
    let mut sum = [0.0];
    dot_columns([column], r, &mut sum);
    sum[0]
}

/// `out <- sum over columns of weight * column, minus labels`: the residual of a linear predictor.
pub fn residual<'a, T: Element>(
    columns: impl Iterator<Item = (&'a [T], f64)>,
    labels: &[f64],
    out: &mut [f64],
) {
    debug_assert_eq!(labels.len(), out.len());
    for (out, label) in out.iter_mut().zip(labels) {
        *out = -label;
    }
    for (column, weight) in columns {
        axpy_column(out, column, weight);
    }
}

/// `sums[j] <- sums[j] + columns[j]' r` for each column: the gradient of the squared loss at residual `r`, but for the
/// factor 2.
pub fn gradient_block<'a, T: Element>(columns: impl Iterator<Item = &'a [T]>, r: &[f64], sums: &mut [f64]) {
    for (column, sum) in columns.zip(sums) {
        *sum += dot_column(column, r);
    }
}

/// Adds `columns[c]' r` to `sums[c]`.
#[inline(always)]
fn dot_columns<T: Element, const C: usize>(columns: [&[T]; C], r: &[f64], sums: &mut [f64; C]) {
    for (column, sum) in columns.into_iter().zip(sums) {
        debug_assert_eq!(r.len(), column.len());
        let n = r.len().min(column.len());
        let (r_chunks, r_tail) = r[..n].as_chunks::<LANES>();
        let (x_chunks, x_tail) = column[..n].as_chunks::<LANES>();
        let mut acc = [0.0; LANES];
        for (r, x) in r_chunks.iter().zip(x_chunks) {
            for lane in 0..LANES {
                acc[lane] += r[lane] * x[lane].to_f64();
            }
        }
        for (lane, (r, x)) in r_tail.iter().zip(x_tail).enumerate() {
            acc[lane] += r * x.to_f64();
        }
        *sum += add_up(acc);
    }
}

/// Sums the accumulators in a fixed order.
#[inline(always)]
fn add_up(acc: [f64; LANES]) -> f64 {
    ((acc[0] + acc[4]) + (acc[2] + acc[6])) + ((acc[1] + acc[5]) + (acc[3] + acc[7]))
}
