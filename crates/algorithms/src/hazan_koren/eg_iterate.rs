//! The iterate of AELR: exponentiated gradient with positive and negative weights (EG+-) on the l1 ball, with
//! the average of the iterates.
//!
//! The naive step, for `g = sum_r g_r e_{i_r}` over the draws, is
//!
//! ```text
//! sum += w                                                       O(d), for the average
//! u_j <- u_j - clip(eta g_j, 1)                                  for the attributes drawn
//! w_j  = B (e^u_j - e^-u_j) / sum_i (e^u_i + e^-u_i)             O(d)
//! draw j with probability |w_j| / |w|_1                          O(d)
//! ```
//!
//! Seven departures make a step cost O(k log d), amortized:
//!
//! 1. `w = B D/C`, where `D_j = e^u_j - e^-u_j` and `C` is the sum of all exponentials, so that a step
//!    changes a few `D_j` and one `C`;
//! 2. exponentials are multiplied by the exponentials of the changes, which are small. To bound rounding
//!    error, the exponentials of one block are recomputed from `u` every [`REFRESH`] steps, and exponentials
//!    below [`TINY`] at once;
//! 3. with `P = B (1/C_1 + .. + 1/C_t)` the sum of the iterates is `P D + a`, where a change of `D_j` to
//!    `D_j'` adds `P (D_j - D_j')` to `a_j`, which leaves the sum as it was;
//! 4. `|D_j|` and the shares in `C` are kept in a [`SumTree`], which `j` is drawn from;
//! 5. all entries that a step needs are read before the first is used, since reads of far memory need not
//!    wait for each other;
//! 6. the clip is left out where the changes of all attributes together are at most 1;
//! 7. `D` and `C` carry a common factor `2^-q`. When `P C` has grown so large that `P D + a` would cancel,
//!    `q` is chosen again and all coordinates are recomputed ([`rebase`](EgIterate::rebase)). This costs
//!    O(d), and happens a few times in a run, since the steps of a learner that converges change `C` less and
//!    less.

use super::two_sample::Iterate;
use crate::bug::always;
use lao_kernels::{SparseVector, exponential_factors, scaled_exponentials, sum_abs};
use lao_observation::sample::{BLOCK, SumTree, block};
use lao_observation::stored::Damaged;
use lao_observation::{LearnError, Rng};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The largest allowed ratio of `P C/B` to the number of steps that `P` covers: 16 bits of the average may be
/// lost to cancellation.
const SLACK: f64 = (1 << 16) as f64;
/// The smallest `C`. Below it `q` is chosen again, so that the summands of `C` do not underflow.
const SMALL: f64 = 1e-150;
/// The smallest exponential that is multiplied. Below it exponentials are recomputed from `u`, since products
/// may have lost digits.
const TINY: f64 = 1e-270;
/// The number of entries that fit into the first-level cache.
const NEAR: usize = 2048;

/// The number of steps after which the next block is recomputed.
const REFRESH: u64 = 4;

/// Stored sums may differ from recomputed ones by this much, relative to the largest possible `C`.
const DRIFT: f64 = 1.0 / 1024.0;
/// A stored weight may be this many times the radius; the reason is at [`check`](EgIterate::check).
const ASTRAY: f64 = (1_u64 << 60) as f64;

/// A coordinate. Entries are aligned, so that none lies in two lines of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[repr(align(32))]
struct Entry {
    /// `u_j`.
    log: f64,
    /// `2^-q e^u_j` and `2^-q e^-u_j`.
    up: f64,
    down: f64,
    /// `a_j`.
    offset: f64,
}

impl Entry {
    /// Returns `D_j`.
    fn difference(&self) -> f64 {
        self.up - self.down
    }

    /// Returns `|D_j|` and the share of `j` in `C`.
    fn sums(&self) -> Sums {
        Sums { weight: self.difference().abs(), sum: self.up + self.down }
    }

    /// Recomputes the exponentials from `u`, with this `q` and this `P`.
    fn recompute(&mut self, exponent: f64, iterate_weight: f64) {
        let (mut up, mut down) = ([0.0], [0.0]);
        scaled_exponentials(&[self.log], exponent, &mut up, &mut down);
        self.set(up[0], down[0], iterate_weight);
    }

    /// (3) Gives the exponentials these values, and corrects `a_j`, so that the sum of the iterates stays as
    ///    it was with this `P`.
    fn set(&mut self, up: f64, down: f64, iterate_weight: f64) {
        self.offset += iterate_weight * (self.difference() - (up - down));
        (self.up, self.down) = (up, down);
    }
}

/// Sums over several entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    /// The sum of `|D_j|`.
    weight: f64,
    /// The sum of the shares in `C`.
    sum: f64,
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.weight += other.weight;
        self.sum += other.sum;
    }
}

/// The current step, draw by draw.
#[derive(Clone, Debug, Default, PartialEq)]
struct Next {
    /// The numbers subtracted from `u`.
    change: Vec<f64>,
    /// `u` before the step, if the clip needs it.
    before: Vec<f64>,
    /// The factors of the exponentials.
    ups: Vec<f64>,
    downs: Vec<f64>,
    /// The numbers added to the sums.
    growth: Vec<Sums>,
}

/// `w`, `|w|_1` and the sum of all iterates so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EgIterate {
    radius: f64,
    /// `q`.
    exponent: f64,
    /// `P`, the weight of the current `D` in the sum of the iterates.
    iterate_weight: f64,
    /// The number of steps that `P` covers.
    steps_in_average: f64,
    entries: Vec<Entry>,
    sums: SumTree<Sums>,
    /// `|D|_1` and `C`.
    total: Sums,
    /// The block to be recomputed next.
    next_block: usize,
    #[serde(skip)]
    next: Next,
}

impl EgIterate {
    pub(crate) fn new(dim: usize, radius: f64) -> Self {
        let mut iterate = EgIterate {
            radius,
            exponent: 0.0,
            iterate_weight: 0.0,
            steps_in_average: 0.0,
            entries: vec![Entry::default(); dim],
            sums: SumTree::new(dim),
            total: Sums::default(),
            next_block: 0,
            next: Next::default(),
        };
        iterate.rebase();
        iterate
    }

    /// (7) Returns whether `P D + a` cancels by more than `slack` times [`SLACK`], or `C` is too small.
    fn needs_rebase(&self, slack: f64) -> bool {
        self.iterate_weight * self.total.sum > slack * SLACK * self.steps_in_average * self.radius
            || self.total.sum < SMALL
    }

    /// Returns `|w|_1`.
    pub(crate) fn norm(&self) -> f64 {
        self.unit() * self.total.weight
    }

    /// (1) Returns `B/C`, the factor of `D`.
    fn unit(&self) -> f64 {
        self.radius / self.total.sum
    }

    /// Counts the current `w` into the average, then makes the step `u <- u - eta clip(g, 1/eta)`, coordinate
    /// by coordinate. `gradient` has one number for each of `draws`; `g` is the sum of these numbers by
    /// attribute. An attribute that was drawn more than once has the same number each time.
    pub(crate) fn step(
        &mut self,
        draws: &[u32],
        gradient: impl Iterator<Item = f64>,
        step_size: f64,
        update: u64,
    ) -> Result<(), LearnError> {
        let change = &mut self.next.change;
        change.clear();
        change.extend(gradient.map(|gradient| step_size * gradient));
        let size = sum_abs(change);
        if !size.is_finite() {
            // Finite changes may have an infinite sum; the error then names the first.
            let place = change.iter().position(|change| !change.is_finite()).unwrap_or_default();
            let attribute = always(draws.get(place).copied(), "there is a draw for each change") as usize;
            let value = always(change.get(place).copied(), "no changes have no size") / step_size;
            return Err(LearnError::Diverged { update, attribute, value });
        }

        self.count_into_average();
        self.touch(draws);
        // 6. The clip bounds an attribute's total change by 1. When the changes of all attributes together
        //    sum to at most 1, no single one can exceed it, so the clip is skipped.
        if size > 1.0 {
            self.clip(draws);
        }
        let exact = self.multiply(draws);
        // 4. The sums grow with the entries.
        self.sums.add_all(draws, &self.next.growth);
        if !exact {
            self.recompute_exponentials(draws);
        }
        self.maintain();
        Ok(())
    }

    /// (3) Counts the current `w = B D/C` into the average.
    fn count_into_average(&mut self) {
        self.iterate_weight += self.radius / self.total.sum;
        self.steps_in_average += 1.0;
    }

    /// (5) Reads all entries of the step.
    fn touch(&self, draws: &[u32]) {
        if self.entries.len() > NEAR {
            std::hint::black_box(draws.iter().map(|&j| self.entries[j as usize].log).sum::<f64>());
        }
    }

    /// (2, 7) Recomputes the next block every few steps, and all coordinates when `P D + a` would cancel.
    fn maintain(&mut self) {
        if (self.steps_in_average as u64).is_multiple_of(REFRESH) {
            self.recompute_block(self.next_block);
            self.next_block = if self.next_block + 1 < self.sums.blocks() { self.next_block + 1 } else { 0 };
        } else {
            self.total = self.sums.total();
        }
        if self.needs_rebase(1.0) {
            self.rebase();
        }
    }

    /// Reduces the changes of an attribute's later draws, so that `u_j` changes by at most 1.
    fn clip(&mut self, draws: &[u32]) {
        let (Next { change, before, .. }, entries) = (&mut self.next, &mut self.entries[..]);
        before.clear();
        before.extend(draws.iter().map(|&j| entries[j as usize].log));
        for ((&j, change), before) in draws.iter().zip(change).zip(&*before) {
            let log = &mut entries[j as usize].log;
            let next = (*log - *change).clamp(before - 1.0, before + 1.0);
            *change = *log - next;
            *log = next;
        }
        draws.iter().zip(before).for_each(|(&j, before)| entries[j as usize].log = *before);
    }

    /// (2, 3) Subtracts the change from `u`, draw by draw, multiplies the exponentials, and notes the numbers
    ///    to add to the sums. Returns whether all exponentials are so large that they kept their digits.
    fn multiply(&mut self, draws: &[u32]) -> bool {
        let Next { change, ups, downs, growth, .. } = &mut self.next;
        ups.resize(change.len(), 0.0);
        downs.resize(change.len(), 0.0);
        exponential_factors(change, downs, ups);
        let (entries, iterate_weight, mut exact) = (&mut self.entries[..], self.iterate_weight, true);
        growth.clear();
        growth.extend(draws.iter().zip(&*change).zip(ups.iter().zip(&*downs)).map(
            |((&j, change), (up, down))| {
                let entry = &mut entries[j as usize];
                let before = entry.sums();
                entry.log -= change;
                entry.set(entry.up * up, entry.down * down, iterate_weight);
                exact &= entry.up > TINY && entry.down > TINY;
                let Sums { weight, sum } = entry.sums();
                Sums { weight: weight - before.weight, sum: sum - before.sum }
            },
        ));
        exact
    }

    /// (2) Recomputes from `u` the exponentials of the attributes drawn.
    fn recompute_exponentials(&mut self, draws: &[u32]) {
        for &j in draws {
            let entry = &mut self.entries[j as usize];
            let before = entry.sums();
            entry.recompute(self.exponent, self.iterate_weight);
            let Sums { weight, sum } = entry.sums();
            self.sums.add(j as usize, Sums { weight: weight - before.weight, sum: sum - before.sum });
        }
    }

    /// (2) Recomputes from `u` the exponentials of a block, and their sums.
    fn recompute_block(&mut self, block: usize) {
        let first = block * BLOCK;
        let end = (first + BLOCK).min(self.entries.len());
        self.entries[first..end]
            .iter_mut()
            .for_each(|entry| entry.recompute(self.exponent, self.iterate_weight));
        self.sums.set_block(block, sums_of_block(&self.entries, block));
        self.total = self.sums.total();
    }

    /// (7) Chooses `q` such that the largest exponential is near 1, and recomputes all coordinates with
    ///    `P = 0`, at a cost of O(d).
    fn rebase(&mut self) {
        let largest = self.entries.iter().fold(0.0_f64, |largest, entry| largest.max(entry.log.abs()));
        self.exponent = (largest * std::f64::consts::LOG2_E).round();
        for entry in &mut self.entries {
            // The offset takes the whole sum of the iterates, since the next P is 0.
            entry.offset += self.iterate_weight * entry.difference();
            entry.recompute(self.exponent, 0.0);
        }
        (self.iterate_weight, self.steps_in_average) = (0.0, 0.0);
        self.sums.set_all(|block| sums_of_block(&self.entries, block));
        self.total = self.sums.total();
    }
}

impl Iterate for EgIterate {
    fn dim(&self) -> usize {
        self.entries.len()
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    fn get(&self, j: u32) -> f64 {
        self.entries.get(j as usize).map_or(0.0, |entry| self.unit() * entry.difference())
    }

    /// (4) Draws `j` with probability `|w_j| / |w|_1`; returns none when `w = 0`.
    fn draw(&mut self, rng: &mut Rng) -> Option<u32> {
        while self.total.weight > 0.0 {
            let target = rng.random::<f64>() * self.total.weight;
            let weights = |at| block(&self.entries, at, |entry| entry.difference().abs());
            match self.sums.locate(target, |sums| sums.weight, weights) {
                Ok(j) => return Some(j as u32),
                Err(block) => {
                    self.recompute_block(block);
                    // The sum that was wrong may have been most of C.
                    if self.needs_rebase(2.0) {
                        self.rebase();
                    }
                }
            }
        }
        None
    }

    fn to_dense(&self) -> Vec<f64> {
        self.entries.iter().map(|entry| self.unit() * entry.difference()).collect()
    }

    fn average(&self, count: u64) -> SparseVector {
        if count == 0 {
            return SparseVector::from_dense(&self.to_dense());
        }
        let sums = self.entries.iter().map(|entry| self.iterate_weight * entry.difference() + entry.offset);
        SparseVector::from_dense(&sums.map(|sum| sum / count as f64).collect::<Vec<_>>())
    }

    /// Refuses a state that no sequence of `done` steps leads to. The caller checks the radius.
    ///
    /// 1. *Counts and scales* obey exact rules: `q` and `steps_in_average` are whole numbers, `q <= 2 done`,
    ///    and `P C` and `C` are where [`rebase`](Self::rebase) keeps them.
    /// 2. *Exponentials* are those of `u`, which a step changes by at most 1, up to rounding. The relative
    ///    error is `2^-53 (|u| + 3)` per draw since they were computed from `u`, which never adds up to a
    ///    factor of 2.
    /// 3. *Sums* have errors relative to the largest `C` since their block was recomputed. When `C` has
    ///    fallen by more than 2^53 since then, no digit of them need be right, so they are compared relative
    ///    to that largest `C` alone. It is at most `3 SLACK steps_in_average d`, because
    ///    `P C <= SLACK steps_in_average B` holds after every step, and the first one adds to `P` its `B/C`,
    ///    where `C <= 3 d`.
    /// 4. *Weights and averages* may leave the ball when rounding makes `C` too small. A factor of 2^60 takes
    ///    a coincidence of probability 2^-60.
    fn check(&self, what: &'static str, done: u64) -> Result<(), Damaged> {
        let EgIterate {
            radius,
            exponent,
            iterate_weight,
            steps_in_average,
            entries,
            sums,
            total,
            next_block,
            ..
        } = self;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, what, || reason);
        let (steps, whole) = (done as f64, |number: &f64| number.fract() == 0.0);
        let counts = whole(steps_in_average) && (0.0..=steps).contains(steps_in_average);
        let begun = if *steps_in_average > 0.0 { *iterate_weight > 0.0 } else { *iterate_weight == 0.0 };
        damaged(counts && begun && !self.needs_rebase(2.0), "the scales do not add up")?;
        damaged(
            whole(exponent) && (0.0..=2.0 * steps).contains(exponent),
            "the common exponent is out of reach",
        )?;
        let found = |entry: &Entry| {
            let (mut up, mut down) = ([0.0], [0.0]);
            scaled_exponentials(&[entry.log], *exponent, &mut up, &mut down);
            let near = |value: f64, exact: f64| (0.5 * exact..=2.0 * exact).contains(&value);
            entry.log.abs() <= 2.0 * steps && near(entry.up, up[0]) && near(entry.down, down[0])
        };
        damaged(entries.iter().all(found), "the exponentials are not those of their logarithms")?;
        let most = DRIFT * SLACK * steps_in_average.max(1.0) * 3.0 * entries.len() as f64;
        let near = |sums: &Sums, exact: &Sums| {
            (sums.weight - exact.weight).abs() <= most && (sums.sum - exact.sum).abs() <= most
        };
        let agrees = sums.agrees(entries.len(), |block| sums_of_block(entries, block), near);
        damaged(agrees && *total == sums.total(), "the sums are not those of the weights")?;
        damaged(*next_block < sums.blocks(), "the block to be recomputed next does not exist")?;
        let fits = |entry: &Entry| {
            let weight = self.unit() * entry.difference();
            let sum = iterate_weight * entry.difference() + entry.offset;
            weight.abs() <= ASTRAY * radius && sum.abs() <= ASTRAY * radius * steps
        };
        damaged(entries.iter().all(fits), "a weight or an average leaves the ball")
    }
}

fn sums_of_block(entries: &[Entry], block: usize) -> Sums {
    let (first, mut sums) = (block * BLOCK, Sums::default());
    for entry in &entries[first..(first + BLOCK).min(entries.len())] {
        sums += entry.sums();
    }
    sums
}
