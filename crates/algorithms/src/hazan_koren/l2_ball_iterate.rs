//! The iterate of AERR and AESVR: projected gradient steps on the l2 ball, with the average of the iterates.
//!
//! The naive step, for `c = sum_r c_r e_{i_r}` over the draws, is
//!
//! ```text
//! sum += w                                     O(d), for the average
//! w_j <- w_j - c_j                             for the attributes drawn
//! w   <- w min(1, B / |w|_2)                   O(d)
//! draw j with probability w_j^2 / |w|_2^2      O(d)
//! ```
//!
//! Five departures make a step cost O(k log d), amortized:
//!
//! 1. `w = s u`, so that scaling changes one number;
//! 2. with `P = s_1 + .. + s_t`, the sum of the iterates is `P u + a`, where a change of `u_j` to `u_j'` adds
//!    `P (u_j - u_j')` to `a_j`, which leaves the sum as it was;
//! 3. the squares `u_j^2` are kept in a [`SumTree`], which gives the norm, and which `j` is drawn from. One
//!    block is recomputed every [`REFRESH`] steps, to bound rounding error;
//! 4. all entries that a step needs are read before the first is used, since reads of far memory need not
//!    wait for each other;
//! 5. when `P/s` has grown so large that `P u + a` would cancel, or `s` so small that `u` might overflow, all
//!    coordinates are recomputed with `s = 1` and `P = 0` ([`rebase`](L2BallIterate::rebase)). This costs
//!    O(d), and happens more rarely as steps shrink. The same is done before and after a step that leads far
//!    beyond the ball, since `P u + a` would consist of its rounding errors.

use super::two_sample::Iterate;
use lao_kernels::{SparseVector, dot_column};
use lao_observation::sample::{BLOCK, SumTree, block};
use lao_observation::stored::Damaged;
use lao_observation::{LearnError, Rng};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// The largest allowed ratio of `P/s` to the number of steps that `P` covers: 16 bits of the average may be
/// lost to cancellation.
const SLACK: f64 = (1 << 16) as f64;

/// A step counts as far beyond the ball when its squared length exceeds this many squared radii.
const FAR: f64 = (1_u64 << 60) as f64;

/// The number of steps after which the next block is recomputed.
const REFRESH: u64 = 4;

/// Stored sums may differ from recomputed ones by this much, relative to the largest possible `|u|_2^2`; the
/// reason is at [`check`](L2BallIterate::check).
const DRIFT: f64 = 1.0 / 1024.0;

/// The number of entries that fit into the first-level cache.
const NEAR: usize = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// `u_j`.
    value: f64,
    /// `a_j`.
    offset: f64,
}

fn squares(entries: &[Entry], block: usize) -> f64 {
    let first = block * BLOCK;
    entries[first..(first + BLOCK).min(entries.len())].iter().map(|entry| entry.value * entry.value).sum()
}

/// `w`, `|w|_2` and the sum of all iterates so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct L2BallIterate {
    radius: f64,
    /// `s`.
    scale: f64,
    /// `P`, the weight of the current `u` in the sum of the iterates.
    iterate_weight: f64,
    /// The number of steps that `P` covers.
    steps_in_average: f64,
    entries: Vec<Entry>,
    squares: SumTree<f64>,
    /// `|u|_2^2`.
    norm_squared: f64,
    /// The block to be recomputed next.
    next_block: usize,
    /// `u_j - u_j'` of the current step, draw by draw.
    #[serde(skip)]
    change: Vec<f64>,
}

impl L2BallIterate {
    pub(crate) fn new(start: &SparseVector, radius: f64) -> Self {
        let dim = start.dim();
        let mut iterate = L2BallIterate {
            radius,
            scale: 1.0,
            iterate_weight: 0.0,
            steps_in_average: 0.0,
            entries: vec![Entry::default(); dim],
            squares: SumTree::new(dim),
            norm_squared: 0.0,
            next_block: 0,
            change: Vec::new(),
        };
        for (j, value) in start.view().iter() {
            iterate.entries[j as usize].value = value;
        }
        iterate.recompute_squares();
        iterate
    }

    /// Returns `|w|_2^2`.
    pub(crate) fn norm_squared(&self) -> f64 {
        self.scale * self.scale * self.norm_squared
    }

    /// Counts the current `w` into the average, then makes the step `w <- P_B(w - change)`. The change is a
    /// sum over `draws`, in which an attribute may occur more than once.
    pub(crate) fn step(
        &mut self,
        draws: &[u32],
        change: impl Iterator<Item = f64>,
        update: u64,
    ) -> Result<(), LearnError> {
        let most = self.change_of_u(change);
        let fits = self.norm_squared + most < f64::MAX / 16.0;
        if !fits {
            return Err(self.diverged(draws, update));
        }

        let far = self.leads_far(most);
        self.count_into_average();
        if far {
            self.rebase_with_change();
        }
        self.touch(draws);
        let grown = self.subtract_change(draws);
        self.count_growth(grown, draws);
        self.project();
        if far || self.needs_rebase() {
            self.rebase();
        }
        Ok(())
    }

    /// (1) Stores the change of `u`, which is that of `w` divided by `s`. Returns a bound on its squared
    ///    length, which holds in any order of summation, even if all draws are of one attribute.
    fn change_of_u(&mut self, change: impl Iterator<Item = f64>) -> f64 {
        let unit = 1.0 / self.scale;
        self.change.clear();
        self.change.extend(change.map(|change| unit * change));
        self.change.len() as f64 * dot_column(&self.change, &self.change)
    }

    /// (5) Returns whether a step of at most this squared length leads far beyond the ball.
    fn leads_far(&self, most: f64) -> bool {
        let unit = 1.0 / self.scale;
        most > FAR * (self.radius * unit).powi(2)
    }

    /// (2) Counts the current `w = s u` into the average.
    fn count_into_average(&mut self) {
        self.iterate_weight += self.scale;
        self.steps_in_average += 1.0;
    }

    /// (4) Reads all entries of the step.
    fn touch(&self, draws: &[u32]) {
        if self.entries.len() > NEAR {
            let values = draws.iter().map(|&j| self.entries[j as usize].value);
            std::hint::black_box(values.sum::<f64>());
        }
    }

    /// (2, 3) Subtracts the change from `u`, draw by draw, and adds the growth of the squares to their sums.
    ///    Returns the growth of `|u|_2^2`.
    fn subtract_change(&mut self, draws: &[u32]) -> f64 {
        let L2BallIterate { entries, iterate_weight, change, squares, .. } = self;
        let (entries, iterate_weight) = (&mut entries[..], *iterate_weight);
        let mut grown = [0.0; 2];
        for (&j, change) in draws.iter().zip(&mut *change) {
            let Entry { value, offset } = entries[j as usize];
            let lost = *change;
            entries[j as usize] = Entry { value: value - lost, offset: offset + iterate_weight * lost };
            // (u - c)^2 - u^2
            let growth = lost * (lost - 2.0 * value);
            *change = growth;
            grown = [grown[1], grown[0] + growth];
        }
        squares.add_all(draws, change);
        grown[0] + grown[1]
    }

    /// (1) Projects `w` on the ball, by `s` alone.
    fn project(&mut self) {
        let norm = self.norm_squared().sqrt();
        if norm > self.radius {
            self.scale *= self.radius / norm;
        }
    }

    /// (5) Returns whether `P u + a` cancels by more than [`SLACK`], or `s` is too small.
    fn needs_rebase(&self) -> bool {
        self.iterate_weight > SLACK * self.steps_in_average * self.scale
    }

    fn diverged(&self, attributes: &[u32], update: u64) -> LearnError {
        // The first change beyond all bounds, or else the largest.
        let size = |place: usize| self.change[place].abs();
        let larger = |a: usize, b: usize| if size(b) > size(a) || size(b).is_nan() { b } else { a };
        let all = 0..attributes.len();
        let place = all.clone().find(|&place| !size(place).is_finite()).or_else(|| all.reduce(larger));
        let (attribute, value) = place.map_or((0, f64::INFINITY), |place| {
            let j = attributes[place] as usize;
            (j, self.scale * (self.entries[j].value - self.change[place]))
        });
        LearnError::Diverged { update, attribute, value }
    }

    /// (3) Updates `|u|_2^2`, and recomputes one block every few steps. If the sum has become so small that
    ///    rounding errors matter, all blocks that were touched are recomputed.
    fn count_growth(&mut self, grown: f64, draws: &[u32]) {
        let before = self.norm_squared;
        self.norm_squared += grown;
        if self.norm_squared < 0.5 * before {
            draws.iter().for_each(|&j| self.recompute_block(j as usize / BLOCK));
        } else if (self.steps_in_average as u64).is_multiple_of(REFRESH) {
            self.recompute_block(self.next_block);
            self.next_block =
                if self.next_block + 1 < self.squares.blocks() { self.next_block + 1 } else { 0 };
        }
    }

    fn recompute_block(&mut self, block: usize) {
        self.squares.set_block(block, squares(&self.entries, block));
        self.norm_squared = self.squares.total();
    }

    fn recompute_squares(&mut self) {
        self.squares.set_all(|block| squares(&self.entries, block));
        self.norm_squared = self.squares.total();
    }

    /// (5) Recomputes all coordinates in mid-step, and the change of `u` with them.
    fn rebase_with_change(&mut self) {
        let scale = self.scale;
        self.rebase();
        self.change.iter_mut().for_each(|change| *change *= scale);
    }

    /// (5) Recomputes all coordinates with `s = 1` and `P = 0`, at a cost of O(d).
    fn rebase(&mut self) {
        for entry in &mut self.entries {
            entry.offset += self.iterate_weight * entry.value;
            entry.value *= self.scale;
        }
        (self.iterate_weight, self.steps_in_average, self.scale) = (0.0, 0.0, 1.0);
        self.recompute_squares();
    }
}

impl Iterate for L2BallIterate {
    fn dim(&self) -> usize {
        self.entries.len()
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    fn get(&self, j: u32) -> f64 {
        self.entries.get(j as usize).map_or(0.0, |entry| self.scale * entry.value)
    }

    /// (3) Draws `j` with probability `w_j^2 / |w|_2^2`; returns none when `w = 0`.
    fn draw(&mut self, rng: &mut Rng) -> Option<u32> {
        while self.norm_squared > 0.0 {
            let target = rng.random::<f64>() * self.norm_squared;
            let squares = |at| block(&self.entries, at, |entry| entry.value * entry.value);
            match self.squares.locate(target, |&sum| sum, squares) {
                Ok(j) => return Some(j as u32),
                Err(block) => self.recompute_block(block),
            }
        }
        None
    }

    fn to_dense(&self) -> Vec<f64> {
        self.entries.iter().map(|entry| self.scale * entry.value).collect()
    }

    fn average(&self, count: u64) -> SparseVector {
        if count == 0 {
            return SparseVector::from_dense(&self.to_dense());
        }
        let sums = self.entries.iter().map(|entry| self.iterate_weight * entry.value + entry.offset);
        SparseVector::from_dense(&sums.map(|sum| sum / count as f64).collect::<Vec<_>>())
    }

    /// Refuses a state that no sequence of `done` steps leads to. The caller checks the radius.
    ///
    /// 1. *Scales* obey exact rules. Since [`rebase`](Self::rebase) was called last, `P` has added up
    ///    `steps_in_average` scales, of which the first is 1 and none is larger, and
    ///    `P <= SLACK steps_in_average s` holds after every step.
    /// 2. *Sums of squares* drift by rounding. A sum is recomputed after at most `REFRESH d k/BLOCK`
    ///    additions. Each adds an error of a few times 2^-53 of the largest `|u|_2^2` since the last
    ///    [`rebase`](Self::rebase), and this largest value is at most `(B/s)^2` with the present `s`, because
    ///    `w` stays in the ball and `s` only falls in between. So the drift stays below `DRIFT (B/s)^2` for
    ///    `d k` up to 2^40, even if all errors have the same sign.
    /// 3. *The sum of the iterates* gains an error of 2^-53 times `P` times the change of `u` in each step.
    ///    The change is at most 2^30 `B/s`, and if it exceeds `SLACK B/s`, [`rebase`](Self::rebase) follows.
    ///    So the errors are a small part of `B` per step, which the factor 2 covers.
    fn check(&self, what: &'static str, done: u64) -> Result<(), Damaged> {
        let L2BallIterate { radius, scale, iterate_weight, steps_in_average, entries, .. } = self;
        let L2BallIterate { norm_squared, next_block, .. } = self;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, what, || reason);
        let counts = steps_in_average.fract() == 0.0 && (0.0..=done as f64).contains(steps_in_average);
        let begun = match *steps_in_average > 0.0 {
            true => {
                (1.0..=*steps_in_average).contains(iterate_weight)
                    && *iterate_weight <= SLACK * steps_in_average * scale
            }
            false => (*iterate_weight, *scale) == (0.0, 1.0),
        };
        damaged(counts && begun && *scale > 0.0 && *scale <= 1.0, "the scales do not add up")?;
        let most = (radius / scale).powi(2).min(f64::MAX / 8.0);
        let near = |sum: &f64, exact: &f64| (sum - exact).abs() <= DRIFT * most;
        let exact = entries.iter().map(|entry| entry.value * entry.value).sum::<f64>();
        damaged(exact <= (1.0 + 4.0 * DRIFT) * most, "the predictor leaves the ball")?;
        let agrees = self.squares.agrees(entries.len(), |block| squares(entries, block), near);
        damaged(agrees && near(norm_squared, &exact), "the sums of squares are not those of the predictor")?;
        damaged(*next_block < self.squares.blocks(), "the block to be recomputed next does not exist")?;
        let most = 2.0 * radius * done as f64;
        let fits = |entry: &Entry| (iterate_weight * entry.value + entry.offset).abs() <= most;
        damaged(entries.iter().all(fits), "the average leaves the ball")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_beyond_all_numbers_is_named_with_the_value_that_it_leads_to() {
        let start = SparseVector::new(3, vec![1], vec![0.5]).unwrap();
        for (change, place) in [([1.0, 1e200, 2.0], 1), ([1e300, -2.0, f64::INFINITY], 2)] {
            let before = L2BallIterate::new(&start, 1.0);
            let mut iterate = before.clone();
            let refused = iterate.step(&[0, 1, 2], change.into_iter(), 7).unwrap_err();
            let value = start.view().get(place) - change[place as usize];
            assert_eq!(refused, LearnError::Diverged { update: 7, attribute: place as usize, value });
            iterate.change.clear();
            assert_eq!(iterate, before);
        }
    }
}
