//! Signs minus their mean over the attributes: a singular covariance whose small blocks are well conditioned.
//!
//! `x = (I - 11'/d) z` with z of independent signs, so `Sigma = I - 11'/d`. Its eigenvalues over supports of
//! size m lie in `[1 - m/d, 1]`, though the least of Sigma itself is 0.
//!
//! *Cost.* Every attribute needs the sum of all d signs of its row. The sums are computed once per block, 64
//! rows at a time; a block of one row costs as much as a block of 64, O(d).

use super::words::fill_signs;
use super::{Design, DesignError, SpectrumBounds, Words, check_dim, identity_times};
use lao_kernels::SparseView;

/// `d` independent signs minus their mean. `R_inf = 2 - 2/d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Centered {
    dim: usize,
}

impl Centered {
    /// Returns the design of `dim` attributes.
    ///
    /// # Errors
    /// Fails when `dim` is below 2 or above 2^32.
    pub fn new(dim: usize) -> Result<Centered, DesignError> {
        Ok(Centered { dim: check_dim("Centered", dim, dim >= 2, "2 to 2^32 attributes")? })
    }

    fn mean(&self, total: f64) -> f64 {
        total / self.dim as f64
    }
}

impl Design for Centered {
    fn dim(&self) -> usize {
        self.dim
    }

    fn prepare(&self, words: &Words, first_row: u64, rows: usize, shared: &mut Vec<f64>) {
        shared.clear();
        let mut row = first_row;
        while shared.len() < rows {
            let negative = Counters::of((0..self.dim).map(|j| words.stream(0, j as u32).word(row / 64)));
            let skip = (row % 64) as usize;
            let take = (rows - shared.len()).min(64 - skip);
            shared.extend(
                (skip..skip + take).map(|lane| self.mean(self.dim as f64 - 2.0 * negative.lane(lane))),
            );
            row = row.wrapping_add(take as u64);
        }
    }

    fn fill(&self, words: &Words, shared: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        let stream = words.stream(0, attribute);
        fill_signs(first_row, out, |row| stream.word(row));
        for (x, mean) in out.iter_mut().zip(shared) {
            *x -= mean;
        }
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        let total: f64 = v.values().iter().sum();
        v.norm_squared() - total * self.mean(total)
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        identity_times(v, out);
        let mean = self.mean(v.values().iter().sum());
        out.iter_mut().for_each(|x| *x -= mean);
    }

    fn r_inf(&self) -> f64 {
        2.0 - 2.0 / self.dim as f64
    }

    fn restricted(&self, order: usize) -> SpectrumBounds {
        let order = order.clamp(1, self.dim);
        let smallest = (self.dim - order) as f64 / self.dim as f64;
        SpectrumBounds::exact(smallest, if order >= 2 { 1.0 } else { smallest })
    }
}

/// 64 counters side by side, one bit of each in a word: `planes[p]` holds bit p of all.
struct Counters {
    planes: [u64; 33],
}

impl Counters {
    /// Counter i counts the words whose bit i is set; at most 2^32 words.
    fn of(words: impl Iterator<Item = u64>) -> Counters {
        let mut planes = [0; 33];
        for word in words {
            let mut carry = word;
            for plane in &mut planes {
                (*plane, carry) = (*plane ^ carry, *plane & carry);
                if carry == 0 {
                    break;
                }
            }
        }
        Counters { planes }
    }

    fn lane(&self, lane: usize) -> f64 {
        let bits = self.planes.iter().enumerate();
        bits.map(|(p, plane)| (plane >> lane & 1) << p).sum::<u64>() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count_every_bit() {
        let words: Vec<u64> = (1..1000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let counters = Counters::of(words.iter().copied());
        for lane in 0..64 {
            let count = words.iter().filter(|&word| word >> lane & 1 == 1).count();
            assert_eq!(counters.lane(lane), count as f64);
        }
    }
}
