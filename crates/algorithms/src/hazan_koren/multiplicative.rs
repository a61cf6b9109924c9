//! A predictor under multiplicative steps on the l1 ball, with its average, at a cost per step that does not depend on
//! `d`.
//!
//! `w = B D/C`, where `D_j = e^u_j - e^-u_j` and `C` is the sum of `e^u_i + e^-u_i` over all `i`: a step on a few `u_j`
//! changes as many `D_j` and one `C`. The exponentials are multiplied by those of the changes, which are small, and put right
//! from `u_j` now and then, lest rounding adds up. The law `|w_j|` is that of `|D_j|`, kept with `C` in a [`SumTree`]. With
//! `P = B (1/C_1 + .. + 1/C_t)` the sum of the iterates is `P D + a`, where a change of `D_j` to `D_j'` adds
//! `P (D_j - D_j')` to `a_j` and so leaves the sum unchanged.
//!
//! All of `D` and `C` carries a common factor `2^-q`. When `P C` has grown so large that `P D + a` would cancel, that is
//! when `C` has grown much since it was last looked at, `q` is chosen anew and all coordinates are put right: O(d), a few
//! times in a run, since the steps of a learner that converges change `C` less and less.

use lao_kernels::{SparseVector, exponential_factors, scaled_exponentials};
use lao_observation::sample::{BLOCK, SumTree, block};
use lao_observation::{LearnError, Rng};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// How far `P C/B` may exceed the number of steps that it covers: so many bits of the average may be lost to cancellation.
const SLACK: f64 = (1 << 16) as f64;
/// `C` below this is looked at again, lest its parts vanish.
const SMALL: f64 = 1e-150;
/// Exponentials below this are found from `u`, since their multiples may have lost digits.
const TINY: f64 = 1e-270;
/// Up to so many entries lie in the nearest cache.
const NEAR: usize = 2048;

/// A block is added up anew in every so many steps.
const REFRESH: u64 = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// `u_j`.
    log: f64,
    /// `2^-q e^u_j` and `2^-q e^-u_j`.
    up: f64,
    down: f64,
    /// `a_j`.
    past: f64,
}

impl Entry {
    /// `D_j`.
    fn difference(&self) -> f64 {
        self.up - self.down
    }

    /// `|D_j|` and the share of `j` in `C`.
    fn sums(&self) -> Sums {
        Sums { weight: self.difference().abs(), sum: self.up + self.down }
    }

    /// Gives the exponentials these values, and leaves the sum of iterates, with this `P`, as it was.
    fn set(&mut self, up: f64, down: f64, prefix: f64) {
        self.past += prefix * (self.difference() - (up - down));
        (self.up, self.down) = (up, down);
    }
}

/// Sums over several entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    /// Of `|D_j|`.
    weight: f64,
    /// Of the shares in `C`.
    sum: f64,
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.weight += other.weight;
        self.sum += other.sum;
    }
}

/// The step under way, draw by draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Next {
    /// `eta clip(g, 1/eta)` of one draw, then what `u` really loses.
    change: Vec<f64>,
    before: Vec<Entry>,
    /// `u'`, and its exponentials.
    logs: Vec<f64>,
    ups: Vec<f64>,
    downs: Vec<f64>,
}

/// `w`, `|w|_1` and the sum of all iterates so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Multiplicative {
    radius: f64,
    /// `q`.
    exponent: f64,
    /// `P`, and the number of steps it covers.
    prefix: f64,
    covered: f64,
    entries: Vec<Entry>,
    sums: SumTree<Sums>,
    /// `|D|_1` and `C`.
    total: Sums,
    /// The block to be added up anew next.
    stale: usize,
    next: Next,
}

impl Multiplicative {
    pub(crate) fn new(dim: usize, radius: f64) -> Self {
        let mut weights = Multiplicative {
            radius,
            exponent: 0.0,
            prefix: 0.0,
            covered: 0.0,
            entries: vec![Entry::default(); dim],
            sums: SumTree::new(dim),
            total: Sums::default(),
            stale: 0,
            next: Next::default(),
        };
        weights.settle();
        weights
    }

    pub(crate) fn dim(&self) -> usize {
        self.entries.len()
    }

    /// `w_j`; 0 beyond the dimension.
    pub(crate) fn get(&self, j: u32) -> f64 {
        self.entries.get(j as usize).map_or(0.0, |entry| self.unit() * entry.difference())
    }

    /// `|w|_1`.
    pub(crate) fn norm(&self) -> f64 {
        self.unit() * self.total.weight
    }

    /// `B/C`.
    fn unit(&self) -> f64 {
        self.radius / self.total.sum
    }

    /// `j` with probability `|w_j| / |w|_1`; none when `w = 0`.
    pub(crate) fn draw(&mut self, rng: &mut Rng) -> Option<u32> {
        while self.total.weight > 0.0 {
            let target = rng.random::<f64>() * self.total.weight;
            let weights = |at| block(&self.entries, at, |entry| entry.difference().abs());
            match self.sums.find(target, |sums| sums.weight, weights) {
                Ok(j) => return Some(j as u32),
                Err(block) => self.add_up_block(block),
            }
        }
        None
    }

    /// Counts the present `w` into the average, then `u <- u - eta clip(g, 1/eta)`, coordinate by coordinate, where `g` is the sum
    /// of `gradient` parallel to `draws`, in which an attribute may come again with the same number.
    pub(crate) fn step(
        &mut self,
        draws: &[u32],
        gradient: impl Iterator<Item = f64>,
        step_size: f64,
        update: u64,
    ) -> Result<(), LearnError> {
        let Next { change, before, logs, ups, downs } = &mut self.next;
        change.clear();
        change.extend(gradient);
        if let Some(place) = change.iter().position(|gradient| !gradient.is_finite()) {
            let (attribute, value) = (draws[place] as usize, change[place]);
            return Err(LearnError::Diverged { update, attribute, value });
        }
        // What one draw exceeds the clip by, all draws of its attribute together do.
        let clip = 1.0 / step_size;
        change.iter_mut().for_each(|gradient| *gradient = step_size * gradient.clamp(-clip, clip));

        self.prefix += self.radius / self.total.sum;
        self.covered += 1.0;
        let (entries, prefix) = (&mut self.entries[..], self.prefix);
        if entries.len() > NEAR {
            // All looks at far memory come first, since they need not wait for each other.
            std::hint::black_box(draws.iter().map(|&j| entries[j as usize].log).sum::<f64>());
        }
        before.clear();
        before.extend(draws.iter().map(|&j| entries[j as usize]));
        draws.iter().zip(&*change).for_each(|(&j, change)| entries[j as usize].log -= change);
        logs.clear();
        let clipped = |(&j, before): (&u32, &Entry)| {
            let log = &mut entries[j as usize].log;
            *log = log.clamp(before.log - 1.0, before.log + 1.0);
            *log
        };
        logs.extend(draws.iter().zip(&*before).map(clipped));
        change.clear();
        change.extend(before.iter().zip(&*logs).map(|(before, log)| log - before.log));
        ups.resize(logs.len(), 0.0);
        downs.resize(logs.len(), 0.0);
        exponential_factors(change, ups, downs);
        let mut large = true;
        for (before, (up, down)) in before.iter().zip(ups.iter_mut().zip(&mut *downs)) {
            *up *= before.up;
            *down *= before.down;
            large &= *up > TINY && *down > TINY;
        }
        if !large {
            scaled_exponentials(logs, self.exponent, ups, downs);
        }
        for (&j, (&up, &down)) in draws.iter().zip(ups.iter().zip(&*downs)) {
            let entry = &mut entries[j as usize];
            // Nothing changes, if the attribute came before.
            let before = entry.sums();
            entry.set(up, down, prefix);
            let Sums { weight, sum } = entry.sums();
            self.sums.add(j as usize, Sums { weight: weight - before.weight, sum: sum - before.sum });
        }
        if (self.covered as u64).is_multiple_of(REFRESH) {
            self.add_up_block(self.stale);
            self.stale = if self.stale + 1 < self.sums.blocks() { self.stale + 1 } else { 0 };
        } else {
            self.total = self.sums.total();
        }
        if self.prefix * self.total.sum > SLACK * self.covered * self.radius || self.total.sum < SMALL {
            self.settle();
        }
        Ok(())
    }

    /// Finds the exponentials of a block from `u`, and adds them up anew.
    fn add_up_block(&mut self, block: usize) {
        let first = block * BLOCK;
        let end = (first + BLOCK).min(self.entries.len());
        for entry in &mut self.entries[first..end] {
            let (mut up, mut down) = ([0.0], [0.0]);
            scaled_exponentials(&[entry.log], self.exponent, &mut up, &mut down);
            entry.set(up[0], down[0], self.prefix);
        }
        self.sums.set_block(block, add_up(&self.entries, block));
        self.total = self.sums.total();
    }

    /// `q` such that the largest weight is near 1, and `P = 0`, at a cost of O(d).
    fn settle(&mut self) {
        let largest = self.entries.iter().fold(0.0_f64, |largest, entry| largest.max(entry.log.abs()));
        self.exponent = (largest * std::f64::consts::LOG2_E).round();
        for entry in &mut self.entries {
            entry.past += self.prefix * entry.difference();
            let (mut up, mut down) = ([0.0], [0.0]);
            scaled_exponentials(&[entry.log], self.exponent, &mut up, &mut down);
            (entry.up, entry.down) = (up[0], down[0]);
        }
        (self.prefix, self.covered) = (0.0, 0.0);
        self.sums.set_all(|block| add_up(&self.entries, block));
        self.total = self.sums.total();
    }

    /// `w`, all d coordinates.
    pub(crate) fn to_dense(&self) -> Vec<f64> {
        self.entries.iter().map(|entry| self.unit() * entry.difference()).collect()
    }

    /// The average of `count` iterates, or `w` if there were none.
    pub(crate) fn average(&self, count: u64) -> SparseVector {
        if count == 0 {
            return SparseVector::from_dense(&self.to_dense());
        }
        let sums = self.entries.iter().map(|entry| self.prefix * entry.difference() + entry.past);
        SparseVector::from_dense(&sums.map(|sum| sum / count as f64).collect::<Vec<_>>())
    }
}

fn add_up(entries: &[Entry], block: usize) -> Sums {
    let (first, mut sums) = (block * BLOCK, Sums::default());
    for entry in &entries[first..(first + BLOCK).min(entries.len())] {
        sums += entry.sums();
    }
    sums
}
