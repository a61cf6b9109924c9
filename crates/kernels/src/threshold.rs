//! Hard thresholding H_s, the projection onto s-sparse vectors, and soft thresholding, the proximal map of the l1 norm.
//!
//! *Source.* H_s as in Murata & Suzuki (2018), Section 2, and all of iterative hard thresholding. The papers leave ties
//! open; here they go to the lowest index.
//!
//! *Method.* For finite numbers the bits of `|x|`, read as an integer, are ordered as `|x|` is. So first the s-th largest
//! key is found, in O(d), then one pass keeps what lies above it, and from its ties as many as there is room for.
//! The key is found by quickselect on all keys, or, where s is small or a bound on the key is known, on those that
//! survive a filter which tightens itself. The last key serves as the bound of the next call, for vectors that change little
//! between calls; it is checked, so it changes the time, never the answer.

use crate::vector::SparseVector;

/// Keeps a few entries of a dense vector.
pub trait Threshold {
    /// Writes to `kept` the `sparsity` entries of `dense` of largest magnitude.
    ///
    /// Zeros are never stored, so fewer entries result where `dense` has fewer nonzeros. Sparsity 0 keeps nothing, a
    /// sparsity of `dense.len()` or above every nonzero. On an error `kept` is left unchanged.
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite>;
}

/// The vector to be thresholded holds a NaN or an infinity.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "entry {index} is {value}: only finite vectors can be thresholded; has the iteration diverged (step size too large)?"
)]
pub struct NotFinite {
    /// Index of the first such entry.
    pub index: usize,
    /// Its value.
    pub value: f64,
}

/// Hard thresholding, ties to the lowest index. Holds scratch memory of at most `dense.len()` keys.
#[derive(Clone, Debug, Default)]
pub struct HardThreshold {
    keys: Vec<u64>,
    /// The last key that decided; zero before the first call.
    last: u64,
}

/// Orders finite numbers by magnitude.
fn key(value: f64) -> u64 {
    value.abs().to_bits()
}

/// The s-th largest of `keys`. Needs `1 <= s <= keys.len()`.
fn select(keys: &mut [u64], s: usize) -> u64 {
    let position = keys.len() - s;
    *keys.select_nth_unstable(position).1
}

impl Threshold for HardThreshold {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        check_finite(dense)?;
        kept.reset(dense.len());
        if sparsity == 0 || dense.is_empty() {
            return Ok(());
        }
        let lowest = if sparsity >= dense.len() { 0 } else { self.lowest_kept(dense, sparsity) };
        if lowest == 0 {
            filter(dense, 1, usize::MAX, kept);
            return Ok(());
        }
        let above = dense.iter().filter(|&&value| key(value) > lowest).count();
        filter(dense, lowest, sparsity - above, kept);
        Ok(())
    }
}

impl HardThreshold {
    /// The s-th largest key of `dense`. Needs `1 <= s < dense.len()`.
    fn lowest_kept(&mut self, dense: &[f64], s: usize) -> u64 {
        self.keys.clear();
        self.keys.extend(dense.iter().map(|&value| key(value)));
        self.last = select(&mut self.keys, s);
        self.last
    }
}

/// Appends the entries with a key above `lowest`, and the first `ties` of those at `lowest`.
fn filter(dense: &[f64], lowest: u64, mut ties: usize, kept: &mut SparseVector) {
    for (index, &value) in dense.iter().enumerate() {
        let key = key(value);
        if key > lowest {
            kept.push(index as u32, value);
        } else if key == lowest && ties > 0 {
            ties -= 1;
            kept.push(index as u32, value);
        }
    }
}

fn check_finite(dense: &[f64]) -> Result<(), NotFinite> {
    match dense.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(NotFinite { index, value: dense[index] }),
    }
}

/// Soft thresholding in place: `x_j <- sign(x_j) max(|x_j| - level, 0)`. A level of zero or below changes nothing.
pub fn soft_threshold(x: &mut [f64], level: f64) {
    if level > 0.0 {
        for value in x {
            *value = (value.abs() - level).max(0.0).copysign(*value);
        }
    }
}
