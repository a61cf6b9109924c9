//! Products with contiguous columns: the residual `X_S theta - y` and the sums `X_J' r` of a block of
//! examples.
//!
//! A column holds one attribute of consecutive examples, in single or double precision; arithmetic is in
//! double precision. Sums have a fixed number of accumulators, and row i goes to accumulator i mod 8, so that
//! their bits depend neither on the vector width nor on how columns are grouped. Columns are processed four
//! at a time, so that a tile of the residual, which stays in the first-level cache, is read once for four
//! columns.
//!
//! All slices of a call must have the same length; in release builds the shortest length decides.

use multiversion::multiversion;

/// The best number of rows to process at a time: the residual fills half of a small first-level cache, and
/// each column contributes a run of several memory pages, which is long enough for the hardware to prefetch.
pub const TILE: usize = 2048;

/// The number of accumulators of a sum.
pub(crate) const LANES: usize = 8;

/// A number as it is stored: `f32` or `f64`.
pub trait Element: Copy + std::fmt::Debug + Send + Sync + sealed::Sealed + 'static {
    /// Returns the same number in double precision.
    fn to_f64(self) -> f64;

    /// Returns the slice itself, if it holds double precision already.
    fn as_f64(slice: &[Self]) -> Option<&[f64]>;
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

    #[inline(always)]
    fn as_f64(slice: &[f64]) -> Option<&[f64]> {
        Some(slice)
    }
}

impl Element for f32 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn as_f64(_: &[f32]) -> Option<&[f64]> {
        None
    }
}

/// Computes `r <- r + weight * column`.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn axpy_column<T: Element>(r: &mut [f64], column: &[T], weight: f64) {
    axpy_columns(r, [(column, weight)]);
}

/// Returns `column' r`.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn dot_column<T: Element>(column: &[T], r: &[f64]) -> f64 {
    let [dot] = dot_columns([column], r);
    dot
}

/// Returns the sum of all numbers.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn sum(values: &[f64]) -> f64 {
    sum_of(values, |x| x)
}

/// Returns the sum of all magnitudes.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn sum_abs(values: &[f64]) -> f64 {
    sum_of(values, f64::abs)
}

/// Returns whether all values are finite.
#[inline]
pub fn all_finite(values: &[f64]) -> bool {
    // For a short slice, the scan takes less time than the choice of the vector width.
    if values.len() < 64 { none_carries(values) } else { many_finite(values) }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn many_finite(values: &[f64]) -> bool {
    none_carries(values)
}

/// Returns whether all values are finite. The exponent of any other value is all ones, so that adding one to
/// it carries into the sign bit. The loop works on integers and has no early exit, so that it processes many
/// values at a time.
#[inline(always)]
fn none_carries(values: &[f64]) -> bool {
    let carries = |bits: u64| (bits & !(1 << 63)) + (1 << 52);
    values.iter().fold(0, |all, value| all | carries(value.to_bits())) >> 63 == 0
}

/// Returns the place of the first value that is not finite.
pub fn first_not_finite<T: Element>(values: &[T]) -> Option<usize> {
    // Each part is tested as a whole, many values at a time; then the place is found within its part.
    const PART: usize = 4096;
    let part = PART * values.chunks(PART).position(|part| !part_finite(part))?;
    Some(part + values[part..].iter().position(|value| !value.to_f64().is_finite())?)
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn part_finite<T: Element>(values: &[T]) -> bool {
    match T::as_f64(values) {
        Some(values) => none_carries(values),
        None => values.iter().fold(true, |all, value| all & value.to_f64().is_finite()),
    }
}

#[inline(always)]
fn sum_of(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let (chunks, tail) = values.as_chunks::<LANES>();
    let mut acc = padded(tail).map(&term);
    for chunk in chunks {
        for lane in 0..LANES {
            acc[lane] += term(chunk[lane]);
        }
    }
    sum_lanes(acc)
}

/// Computes `out <- sum over columns of weight * column, minus labels`: the residual of a linear predictor on
/// a tile of examples.
pub fn residual<'a, T: Element>(
    columns: impl Iterator<Item = (&'a [T], f64)>,
    labels: &[f64],
    out: &mut [f64],
) {
    debug_assert_eq!(labels.len(), out.len());
    for (out, label) in out.iter_mut().zip(labels) {
        *out = -label;
    }
    add_columns(columns, out);
}

/// Computes `out <- out + sum over columns of weight * column`, four columns in one pass over `out`.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn add_columns<'a, T: Element>(columns: impl Iterator<Item = (&'a [T], f64)>, out: &mut [f64]) {
    let mut columns = columns.fuse();
    loop {
        match [columns.next(), columns.next(), columns.next(), columns.next()] {
            [Some(a), Some(b), Some(c), Some(d)] => axpy_columns(out, [a, b, c, d]),
            rest => return rest.into_iter().flatten().for_each(|column| axpy_columns(out, [column])),
        }
    }
}

/// Computes `sums[j] <- sums[j] + columns[j]' r` for each column: the gradient of the squared loss at
/// residual `r`, but for the factor 2.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn gradient_block<'a, T: Element>(columns: impl Iterator<Item = &'a [T]>, r: &[f64], sums: &mut [f64]) {
    let mut columns = columns.zip(sums).fuse();
    loop {
        match [columns.next(), columns.next(), columns.next(), columns.next()] {
            [Some(a), Some(b), Some(c), Some(d)] => {
                let dots = dot_columns([a.0, b.0, c.0, d.0], r);
                for (sum, dot) in [a.1, b.1, c.1, d.1].into_iter().zip(dots) {
                    *sum += dot;
                }
            }
            rest => {
                return rest.into_iter().flatten().for_each(|(column, sum)| {
                    let [dot] = dot_columns([column], r);
                    *sum += dot;
                });
            }
        }
    }
}

/// Adds the weighted columns to `r`, one after the other, in one pass over `r`.
#[inline(always)]
fn axpy_columns<T: Element, const C: usize>(r: &mut [f64], columns: [(&[T], f64); C]) {
    debug_assert!(columns.iter().all(|(column, _)| column.len() == r.len()));
    let n = columns.iter().fold(r.len(), |n, (column, _)| n.min(column.len()));
    let r = &mut r[..n];
    let weights = columns.map(|(_, weight)| weight);
    let columns = columns.map(|(column, _)| &column[..n]);
    for i in 0..n {
        let mut sum = r[i];
        for c in 0..C {
            sum += weights[c] * columns[c][i].to_f64();
        }
        r[i] = sum;
    }
}

/// Returns the inner products of several columns with `r`, in one pass over `r`.
#[inline(always)]
fn dot_columns<T: Element, const C: usize>(columns: [&[T]; C], r: &[f64]) -> [f64; C] {
    debug_assert!(columns.iter().all(|column| column.len() == r.len()));
    let n = columns.iter().fold(r.len(), |n, column| n.min(column.len()));
    let (r_chunks, r_tail) = r[..n].as_chunks::<LANES>();
    let columns = columns.map(|column| column[..n].as_chunks::<LANES>());
    // These lengths are equal; stating it here lets the optimizer drop the bounds checks.
    let chunks = columns.map(|(chunks, _)| &chunks[..r_chunks.len()]);
    let mut acc = [[0.0; LANES]; C];
    for i in 0..r_chunks.len() {
        for c in 0..C {
            multiply_add(&mut acc[c], &chunks[c][i], &r_chunks[i]);
        }
    }
    // The tail is one more chunk, padded with zeros: an index that is known only at run time would keep the
    // accumulators out of the vector registers.
    let r_last = padded(r_tail);
    for c in 0..C {
        multiply_add(&mut acc[c], &padded(columns[c].1), &r_last);
    }
    acc.map(sum_lanes)
}

/// Computes `acc <- acc + x * r`, entry by entry.
#[inline(always)]
fn multiply_add<T: Element>(acc: &mut [f64; LANES], x: &[T; LANES], r: &[f64; LANES]) {
    for lane in 0..LANES {
        acc[lane] += x[lane].to_f64() * r[lane];
    }
}

/// Returns a chunk that begins with `tail` and is zero from there on.
#[inline(always)]
fn padded<T: Element>(tail: &[T]) -> [f64; LANES] {
    std::array::from_fn(|lane| tail.get(lane).map_or(0.0, |x| x.to_f64()))
}

/// Sums the accumulators in a fixed order.
#[inline(always)]
pub(crate) fn sum_lanes(acc: [f64; LANES]) -> f64 {
    ((acc[0] + acc[4]) + (acc[2] + acc[6])) + ((acc[1] + acc[5]) + (acc[3] + acc[7]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_that_is_not_finite_shows_wherever_it_stands() {
        let finite = [0.0, -0.0, 5e-324, f64::MAX, f64::MIN, 1.0, -1e-300, f64::MIN_POSITIVE];
        for length in (0..40).chain([63, 64, 65, 100]) {
            let mut values: Vec<f64> = finite.iter().copied().cycle().take(length).collect();
            assert!(all_finite(&values));
            for place in 0..length {
                for other in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let old = std::mem::replace(&mut values[place], other);
                    assert!(!all_finite(&values), "{other} at {place} of {length}");
                    values[place] = old;
                }
            }
        }
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_found() {
        let mut values = vec![1.0_f64; 10_000];
        assert_eq!(first_not_finite(&values), None);
        for place in [9_999, 4_097, 4_096, 4_095, 7, 0] {
            values[place] = if place % 2 == 0 { f64::NAN } else { f64::NEG_INFINITY };
            assert_eq!(first_not_finite(&values), Some(place));
            let single: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            assert_eq!(first_not_finite(&single), Some(place));
        }
    }

    use proptest::prelude::*;

    /// Row i goes to accumulator i mod 8, then the accumulators are added pairwise.
    fn naive_dot<T: Element>(column: &[T], r: &[f64]) -> f64 {
        let mut acc = [0.0; LANES];
        for (i, (x, r)) in column.iter().zip(r).enumerate() {
            acc[i % LANES] += x.to_f64() * r;
        }
        sum_lanes(acc)
    }

    fn naive_residual<T: Element>(columns: &[Vec<T>], theta: &[f64], labels: &[f64]) -> Vec<f64> {
        let predict =
            |i: usize| columns.iter().zip(theta).fold(-labels[i], |sum, (x, w)| sum + w * x[i].to_f64());
        (0..labels.len()).map(predict).collect()
    }

    fn bits(x: &[f64]) -> Vec<u64> {
        x.iter().map(|x| x.to_bits()).collect()
    }

    /// Columns, one weight for each, and labels.
    fn block() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>, Vec<f64>)> {
        (0..70_usize, 0..11_usize).prop_flat_map(|(rows, columns)| {
            let column = proptest::collection::vec(-3.0..3.0, rows);
            let weights = proptest::collection::vec(-2.0..2.0, columns);
            (proptest::collection::vec(column.clone(), columns), weights, column)
        })
    }

    fn check<T: Element>(columns: &[Vec<T>], weights: &[f64], labels: &[f64]) -> Result<(), TestCaseError> {
        let mut r = vec![f64::NAN; labels.len()];
        let weighted = columns.iter().map(Vec::as_slice).zip(weights.iter().copied());
        residual(weighted, labels, &mut r);
        prop_assert_eq!(bits(&r), bits(&naive_residual(columns, weights, labels)));

        let mut sums = weights.to_vec();
        gradient_block(columns.iter().map(Vec::as_slice), &r, &mut sums);
        let naive: Vec<f64> = columns.iter().zip(weights).map(|(x, w)| w + naive_dot(x, &r)).collect();
        prop_assert_eq!(bits(&sums), bits(&naive));
        for column in columns {
            prop_assert_eq!(dot_column(column, &r).to_bits(), naive_dot(column, &r).to_bits());
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn sums_are_those_in_order(values in proptest::collection::vec(-3.0..3.0f64, 0..40)) {
            prop_assert!((sum(&values) - values.iter().sum::<f64>()).abs() <= 1e3 * f64::EPSILON);
            let naive: f64 = values.iter().map(|x| x.abs()).sum();
            prop_assert!((sum_abs(&values) - naive).abs() <= 1e3 * f64::EPSILON);
        }

        #[test]
        fn grouped_kernels_have_the_bits_of_their_naive_twins((columns, weights, labels) in block()) {
            check(&columns, &weights, &labels)?;
            let single: Vec<Vec<f32>> =
                columns.iter().map(|column| column.iter().map(|&x| x as f32).collect()).collect();
            check(&single, &weights, &labels)?;
        }

        #[test]
        fn dot_is_the_inner_product((columns, _, labels) in block()) {
            for column in &columns {
                let exact: f64 = column.iter().zip(&labels).map(|(x, y)| x * y).sum();
                let scale: f64 = column.iter().zip(&labels).map(|(x, y)| (x * y).abs()).sum();
                prop_assert!((dot_column(column, &labels) - exact).abs() <= 80.0 * f64::EPSILON * scale);
            }
        }

        #[test]
        fn axpy_adds_the_weighted_column((columns, weights, labels) in block()) {
            for (column, weight) in columns.iter().zip(weights) {
                let mut r = labels.clone();
                axpy_column(&mut r, column, weight);
                let naive: Vec<f64> = labels.iter().zip(column).map(|(y, x)| y + weight * x).collect();
                prop_assert_eq!(bits(&r), bits(&naive));
            }
        }
    }
}
