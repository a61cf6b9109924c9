//! Hard thresholding H_s, the projection onto s-sparse vectors, and soft thresholding, the proximal map of
//! the l1 norm.
//!
//! *Source.* H_s is that of Murata & Suzuki (2018), Section 2, and of all iterative hard thresholding. The
//! papers leave ties open; here the lowest index wins.
//!
//! *Method.* The *key* of a finite number x is the bits of `|x|`, read as an integer; keys are ordered as the
//! magnitudes are. First the s-th largest key is found, in O(d). Then one pass keeps the entries with larger
//! keys, and as many of those with this key as are still needed. The key is found by quickselect: on all keys
//! or, where s is small or a bound on the key is known, on those that pass a filter which tightens itself.
//! The key of the last call serves as the bound of the next one, since vectors often change little between
//! calls. The bound is checked, so that it changes the time, but never the answer.

use crate::vector::SparseVector;
use multiversion::multiversion;

/// Keeps a few entries of a dense vector.
pub trait Threshold {
    /// Writes to `kept` the `sparsity` entries of `dense` of largest magnitude.
    ///
    /// Zeros are never stored, so that `kept` has fewer entries if `dense` has fewer nonzeros. Sparsity 0
    /// keeps nothing; a sparsity of `dense.len()` or above keeps every nonzero. On an error `kept` is left
    /// unchanged.
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite>;
}

/// A vector holds a NaN or an infinity.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "entry {index} is {value}: the vector must be finite; has the iteration diverged (step size too large)?"
)]
pub struct NotFinite {
    /// Index of the first such entry.
    pub index: usize,
    /// Its value.
    pub value: f64,
}

/// Hard thresholding; of equal magnitudes the lowest index wins.
///
/// The value keeps scratch memory for one key per coordinate, and the key that decided last, which speeds up
/// the next call.
///
/// ```
/// use lao_kernels::{HardThreshold, SparseVector, Threshold};
///
/// let mut threshold = HardThreshold::default();
/// let mut kept = SparseVector::zeros(4);
/// threshold.keep(&[1.0, -3.0, 3.0, 0.0], 1, &mut kept)?;
/// assert_eq!((kept.indices(), kept.values()), (&[1][..], &[-3.0][..]));
/// assert!(threshold.keep(&[1.0, f64::NAN, 0.0, 0.0], 1, &mut kept).is_err());
/// # Ok::<(), lao_kernels::NotFinite>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct HardThreshold {
    keys: Vec<u64>,
    /// Zero when unknown.
    last: u64,
}

/// How far the filter starts below the last deciding key: an eighth of a binade, 6 to 13 percent.
const SLACK: u64 = 1 << 49;

/// The filter is faster than selection among all keys when at most one coordinate in this many is kept.
const RARE: usize = 100;

/// The number of coordinates that are tested together, a bit each.
const CHUNK: usize = 64;

impl Threshold for HardThreshold {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        check_finite(dense)?;
        kept.reset(dense.len());
        kept.reserve(sparsity.min(dense.len()));
        if sparsity > 0 {
            let cut = if sparsity < dense.len() { self.cut(dense, sparsity) } else { None };
            match cut {
                Some((lowest, ties)) => push_above(dense, lowest, ties, kept),
                None => push_above(dense, 1, usize::MAX, kept),
            }
        }
        Ok(())
    }
}

impl HardThreshold {
    /// Returns the s-th largest key, and how many of the keys equal to it are kept; none when the key is
    /// zero, since there are fewer than s nonzeros.
    ///
    /// The caller ensures `1 <= s < dense.len()`.
    fn cut(&mut self, dense: &[f64], s: usize) -> Option<(u64, usize)> {
        // Capacity for all keys is reserved here, so that no later call of this size allocates.
        self.keys.clear();
        self.keys.reserve(dense.len());
        let warm =
            if self.last > SLACK { cut_above(&mut self.keys, dense, s, self.last - SLACK) } else { None };
        let cut = warm.or_else(|| {
            if s <= dense.len() / RARE {
                return cut_above(&mut self.keys, dense, s, 0);
            }
            self.keys.clear();
            self.keys.extend(dense.iter().map(|&value| key(value)));
            Some(select(&mut self.keys, s)).filter(|&(lowest, _)| lowest > 0)
        });
        self.last = cut.map_or(0, |(lowest, _)| lowest);
        cut
    }
}

/// Returns the cut, if at least s keys lie above `bound`.
///
/// The function collects keys above the bound. Whenever it has 2s, it keeps the s largest and raises the
/// bound to the least of them. All keys above the final cut are collected, since the bound never exceeds it.
/// Each raise costs O(s), which is O(1) for each of the s keys that were collected since the last one.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn cut_above(keys: &mut Vec<u64>, dense: &[f64], s: usize, bound: u64) -> Option<(u64, usize)> {
    keys.clear();
    let full = s.saturating_mul(2).max(64);
    let mut bound = f64::from_bits(bound);
    for chunk in dense.chunks(CHUNK) {
        keys.extend(passing(chunk, |value| value.abs() > bound).map(|lane| key(chunk[lane])));
        if keys.len() >= full {
            let (lowest, _) = select(keys, s);
            bound = f64::from_bits(lowest);
            keys.truncate(s);
        }
    }
    (keys.len() >= s).then(|| select(keys, s))
}

/// Returns the key of a finite number, by which numbers are ordered by magnitude.
fn key(value: f64) -> u64 {
    value.abs().to_bits()
}

/// Moves the s largest keys to the front; returns the least of them and how many equal to it are among them.
///
/// The caller ensures `1 <= s <= keys.len()`.
fn select(keys: &mut [u64], s: usize) -> (u64, usize) {
    let (larger, &mut lowest, _) = keys.select_nth_unstable_by(s - 1, |a, b| b.cmp(a));
    let above = larger.iter().filter(|&&key| key > lowest).count();
    (lowest, s - above)
}

/// Appends the entries with a key above `lowest`, and the first `ties` of those at `lowest`.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn push_above(dense: &[f64], lowest: u64, mut ties: usize, kept: &mut SparseVector) {
    let lowest = f64::from_bits(lowest);
    for (c, chunk) in dense.chunks(CHUNK).enumerate() {
        for lane in passing(chunk, |value| value.abs() >= lowest) {
            if chunk[lane].abs() == lowest {
                if ties == 0 {
                    continue;
                }
                ties -= 1;
            }
            kept.push((c * CHUNK + lane) as u32, chunk[lane]);
        }
    }
}

/// Returns the positions in a chunk that pass, ascending. The function first gathers one bit for each
/// position, so that no branch depends on a single number; such a branch would be mispredicted.
#[inline(always)]
fn passing(chunk: &[f64], pass: impl Fn(f64) -> bool) -> impl Iterator<Item = usize> {
    let mut bits = 0_u64;
    // Where few values pass, first test whether any passes, which is cheaper.
    if chunk.iter().fold(false, |any, &value| any | pass(value)) {
        for (lane, &value) in chunk.iter().enumerate() {
            bits |= u64::from(pass(value)) << lane;
        }
    }
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let lane = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            lane
        })
    })
}

/// Refuses NaN and infinities.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub(crate) fn check_finite(dense: &[f64]) -> Result<(), NotFinite> {
    // 0 x is zero for finite x and NaN otherwise; the sums keep a NaN.
    let (chunks, tail) = dense.as_chunks::<8>();
    let mut acc = [0.0; 8];
    for chunk in chunks {
        for lane in 0..8 {
            acc[lane] += 0.0 * chunk[lane];
        }
    }
    if acc.iter().all(|sum| *sum == 0.0) && tail.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    match dense.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(NotFinite { index, value: dense[index] }),
    }
}

/// Returns `sign(x) max(|x| - level, 0)`, the soft threshold of `x` at `level >= 0`.
#[inline]
pub fn soft_threshold(x: f64, level: f64) -> f64 {
    (x.abs() - level).max(0.0).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sorts by magnitude, larger first, then by index; keeps the first s nonzeros.
    fn naive(dense: &[f64], s: usize) -> SparseVector {
        let mut order: Vec<usize> = (0..dense.len()).collect();
        order.sort_by(|&i, &j| dense[j].abs().total_cmp(&dense[i].abs()).then(i.cmp(&j)));
        let mut keep: Vec<usize> = order.into_iter().take(s).filter(|&i| dense[i] != 0.0).collect();
        keep.sort_unstable();
        let mut kept = SparseVector::zeros(dense.len());
        keep.into_iter().for_each(|i| kept.push(i as u32, dense[i]));
        kept
    }

    /// Numbers with many ties, zeros of both signs and subnormals.
    fn awkward() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(0.0),
            Just(-0.0),
            Just(1.0),
            Just(-1.0),
            Just(f64::MAX),
            Just(f64::from_bits(1)),
            Just(-f64::from_bits(2)),
            Just(f64::MIN_POSITIVE),
            (-3..3_i32).prop_map(f64::from),
            -2.0..2.0,
        ]
    }

    fn kept(threshold: &mut HardThreshold, dense: &[f64], s: usize) -> SparseVector {
        let mut kept = SparseVector::zeros(0);
        threshold.keep(dense, s, &mut kept).expect("finite");
        kept
    }

    proptest! {
        #[test]
        fn every_path_agrees_with_sorting(
            dense in proptest::collection::vec(awkward(), 0..400),
            s in prop_oneof![0..5_usize, 0..410_usize],
            last in prop_oneof![Just(0), awkward().prop_map(key)],
        ) {
            let mut threshold = HardThreshold { last, ..HardThreshold::default() };
            let expected = naive(&dense, s);
            prop_assert_eq!(&kept(&mut threshold, &dense, s), &expected, "guessed from {}", last);
            prop_assert_eq!(&kept(&mut threshold, &dense, s), &expected, "warm");
        }

        #[test]
        fn a_warm_start_never_changes_the_answer(
            calls in proptest::collection::vec(
                (proptest::collection::vec(awkward(), 300), 0..40_usize, prop_oneof![Just(1.0), 1e-3..1e3]),
                1..5,
            ),
        ) {
            let mut threshold = HardThreshold::default();
            for (dense, s, scale) in calls {
                let dense: Vec<f64> = dense.into_iter().map(|x| (scale * x).clamp(-1e300, 1e300)).collect();
                prop_assert_eq!(kept(&mut threshold, &dense, s), naive(&dense, s));
            }
        }

        #[test]
        fn permuting_distinct_magnitudes_permutes_the_answer(
            dense in Just((1..=60).map(|j| if j % 2 == 0 { -0.5 } else { 0.5 } * f64::from(j)).collect())
                .prop_shuffle(),
            s in 0..60_usize,
        ) {
            let dense: Vec<f64> = dense;
            let kept = kept(&mut HardThreshold::default(), &dense, s);
            prop_assert_eq!(kept.len(), s);
            for (index, value) in kept.view().iter() {
                prop_assert_eq!(value, dense[index as usize]);
                prop_assert!(value.abs() > 0.5 * (60 - s) as f64);
            }
        }

        #[test]
        fn nothing_s_sparse_lies_nearer(
            dense in proptest::collection::vec(-2.0..2.0, 12),
            s in 0..12_usize,
            mask in 0..(1_u32 << 12),
        ) {
            let distance = |inside: &dyn Fn(usize) -> bool| -> f64 {
                (0..12).filter(|&j| !inside(j)).map(|j| dense[j] * dense[j]).sum()
            };
            prop_assume!(mask.count_ones() as usize <= s);
            let kept = kept(&mut HardThreshold::default(), &dense, s);
            let ours = distance(&|j| kept.indices().contains(&(j as u32)));
            prop_assert!(ours <= distance(&|j| mask >> j & 1 == 1) + 1e-12);
        }

        #[test]
        fn soft_thresholding_solves_its_proximal_problem(
            x in -5.0..5.0,
            level in 0.0..3.0,
            other in -5.0..5.0,
        ) {
            let shrunk = soft_threshold(x, level);
            let objective = |u: f64| 0.5 * (u - x) * (u - x) + level * u.abs();
            prop_assert!(objective(shrunk) <= objective(other) + 1e-12);
        }
    }

    #[test]
    fn ties_break_to_the_lowest_index() {
        let mut threshold = HardThreshold::default();
        for _ in 0..2 {
            assert_eq!(kept(&mut threshold, &[1.0, -2.0, 2.0, 2.0, -1.0], 2).indices(), [1, 2]);
        }
    }

    #[test]
    fn nan_and_infinities_are_refused_where_they_first_occur() {
        for refused in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in [0, 7, 8, 20] {
                let mut dense = vec![f64::MAX; 21];
                dense[at] = refused;
                dense[20] = refused;
                let mut kept = SparseVector::from_dense(&[3.0]);
                let error = HardThreshold::default().keep(&dense, 2, &mut kept).unwrap_err();
                assert_eq!(error.index, at);
                assert_eq!(kept, SparseVector::from_dense(&[3.0]));
            }
        }
    }
}
