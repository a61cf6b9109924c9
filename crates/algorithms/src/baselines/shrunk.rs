//! A predictor under strongly convex steps and projections on the l1 ball, with its average, at an amortised cost per step
//! that does not depend on `d`.
//!
//! The projection takes the same amount off the magnitude of every coordinate, until it vanishes. So `|w_j| = s (a_j - h)`
//! for the active coordinates, with one level `h` that rises at each projection, and 0 for the others. How far it rises
//! follows from the sum and the number of the active `a_j`; those that it passes become inactive and are found through
//! lower bounds of `a` over blocks, blocks of blocks, and so on. A coordinate must be touched before it can be passed again,
//! and a bound that is not sharp was left so by a touch, so that both are paid for by touches.
//!
//! With `P` and `Q` the sums of `s` and `s h` over the iterates, an active coordinate's sum is `+-(P a_j - Q)` and a
//! constant that takes up its changes. When `h` has become so large that `a_j - h` would cancel, all coordinates are put
//! right at once: O(d), rarely.

use lao_kernels::SparseVector;
use lao_observation::sample::{BLOCK, SumTree};
use lao_observation::{LearnError, Rng};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// How far `h` times the number of active entries may exceed the norm: so many bits of it may be lost to cancellation.
const SLACK: f64 = (1 << 16) as f64;
/// Nodes below one bound of the next coarser level, and the most of the coarsest level.
const FAN: usize = 32;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// `+-a_j` with the sign of `w_j`; 0 when inactive.
    key: f64,
    /// The constant of the sum of its iterates.
    past: f64,
}

/// Sums over the active entries of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    /// Of `a_j`.
    keys: f64,
    /// How many.
    count: f64,
}

impl Sums {
    fn of(key: f64) -> Sums {
        Sums { keys: key.abs(), count: f64::from(key != 0.0) }
    }

    /// The sum of `a_j - h`.
    fn above(&self, level: f64) -> f64 {
        self.keys - level * self.count
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.keys += other.keys;
        self.count += other.count;
    }
}

/// `w`, `|w|_1` and the sum of all iterates so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Shrunk {
    radius: Option<f64>,
    /// `s`.
    scale: f64,
    /// `h`.
    level: f64,
    /// `P` and `Q`.
    prefix: [f64; 2],
    entries: Vec<Entry>,
    sums: SumTree<Sums>,
    total: Sums,
    /// `lowest[0]` bounds the active `a_j` of each block from below, `lowest[l]` the bounds of `lowest[l - 1]`. A block
    /// without active entries has the largest number there is, which a file can hold and infinity cannot.
    lowest: Vec<Vec<f64>>,
    /// The block to be added up anew next.
    stale: usize,
    /// `w'/s` of the step under way.
    next: Vec<f64>,
}

impl Shrunk {
    /// Zero.
    pub(super) fn new(dim: usize, radius: Option<f64>) -> Self {
        let sums = SumTree::new(dim);
        let mut lowest = vec![vec![f64::MAX; sums.blocks()]];
        while let Some(nodes) = lowest.last().map(Vec::len).filter(|&nodes| nodes > FAN) {
            lowest.push(vec![f64::MAX; nodes.div_ceil(FAN)]);
        }
        Shrunk {
            radius,
            scale: 1.0,
            level: 0.0,
            prefix: [0.0; 2],
            entries: vec![Entry::default(); dim],
            sums,
            total: Sums::default(),
            lowest,
            stale: 0,
            next: Vec::new(),
        }
    }

    pub(super) fn dim(&self) -> usize {
        self.entries.len()
    }

    /// `w_j`; 0 beyond the dimension.
    pub(super) fn get(&self, j: u32) -> f64 {
        self.entries.get(j as usize).map_or(0.0, |entry| self.scale * shrink(entry.key, self.level))
    }

    /// `|w|_1`.
    pub(super) fn norm(&self) -> f64 {
        self.scale * self.total.above(self.level).max(0.0)
    }

    /// `j` with probability `|w_j| / |w|_1`; none when `w = 0`.
    pub(super) fn draw(&mut self, rng: &mut Rng) -> Option<u32> {
        loop {
            let (level, total) = (self.level, self.total.above(self.level));
            if total <= 0.0 || total.is_nan() {
                return None;
            }
            let weight = |j: usize| shrink(self.entries[j].key, level).abs();
            let target = rng.random::<f64>() * total;
            match self.sums.find(target, |sums| sums.above(level), weight, self.entries.len()) {
                Ok(j) => return Some(j as u32),
                Err(block) => {
                    let before = self.total;
                    self.add_up_block(block);
                    // Sums that are right and still find nothing differ from zero by rounding only.
                    if self.total == before {
                        return None;
                    }
                }
            }
        }
    }

    /// Counts the present `w` into the average, if `counts`.
    fn count(&mut self, counts: bool) {
        if counts {
            self.prefix[0] += self.scale;
            self.prefix[1] += self.scale * self.level;
        }
    }

    /// Counts the present `w` into the average, if `counts`, then `w <- P_B((1 - 1/t) w - change/t)`, with `change` parallel
    /// to `attributes`, for `t = update`.
    pub(super) fn step(
        &mut self,
        attributes: &[u32],
        change: impl Iterator<Item = f64>,
        update: u64,
        counts: bool,
    ) -> Result<(), LearnError> {
        self.next.clear();
        self.next.extend(change);
        for (&j, next) in attributes.iter().zip(&mut self.next) {
            // (1 - 1/t) w in units of the new scale 1/t is w in units of the old one, 1/(t - 1).
            *next = shrink(self.entries[j as usize].key, self.level) - *next;
        }
        let added: f64 = self.next.iter().map(|next| next.abs()).sum();
        // Far enough from overflow for any order of adding.
        let fits = self.total.keys + added + self.level * self.total.count < f64::MAX / 4.0;
        if !fits {
            let strange = attributes.iter().zip(&self.next).find(|(_, next)| !next.is_finite());
            let (attribute, value) = strange.map_or((0, f64::INFINITY), |(&j, &next)| (j as usize, next));
            return Err(LearnError::Diverged { update, attribute, value });
        }

        self.count(counts);
        self.scale = 1.0 / update as f64;
        for (place, &j) in attributes.iter().enumerate() {
            let next = self.next[place];
            let key = if next == 0.0 { 0.0 } else { next + self.level.copysign(next) };
            self.set(j as usize, key);
            if key != 0.0 {
                self.bound(j as usize, key.abs());
            }
        }
        self.add_up_block(self.stale);
        self.stale = if self.stale + 1 < self.sums.blocks() { self.stale + 1 } else { 0 };
        if let Some(radius) = self.radius {
            self.project(radius / self.scale);
        }
        Ok(())
    }

    /// Gives an entry another key, without a change of its past.
    fn set(&mut self, j: usize, key: f64) {
        let entry = &mut self.entries[j];
        let [p, q] = self.prefix;
        let (old, new) = (Sums::of(entry.key), Sums::of(key));
        entry.past += p * (entry.key - key) - q * (sign(entry.key) - sign(key));
        entry.key = key;
        self.sums.add(j, Sums { keys: new.keys - old.keys, count: new.count - old.count });
    }

    /// Lowers the bounds over an entry to its magnitude.
    fn bound(&mut self, j: usize, key: f64) {
        let mut node = j / BLOCK;
        for level in &mut self.lowest {
            level[node] = level[node].min(key);
            node /= FAN;
        }
    }

    /// Raises the level until the sum of `a_j - h` over the active entries is at most `radius`.
    fn project(&mut self, radius: f64) {
        let coarsest = self.lowest.len() - 1;
        while self.total.above(self.level) > radius && self.total.count > 0.5 {
            let level = (self.total.keys - radius) / self.total.count;
            let before = self.total.count;
            for node in 0..self.lowest[coarsest].len() {
                if self.lowest[coarsest][node] <= level {
                    self.cull(coarsest, node, level);
                }
            }
            self.total = self.sums.total();
            // Those passed would have been negative, so the level of the others lies higher still.
            if self.total.count >= before - 0.5 {
                self.level = level;
                break;
            }
        }
        if self.level * self.total.count > SLACK * radius {
            self.settle();
        }
    }

    /// Makes the entries below a node inactive that lie at or below `level`; its bound is sharp thereafter.
    fn cull(&mut self, depth: usize, node: usize, level: f64) {
        let mut lowest = f64::MAX;
        if depth == 0 {
            let first = node * BLOCK;
            for j in first..(first + BLOCK).min(self.entries.len()) {
                let key = self.entries[j].key;
                if key != 0.0 && key.abs() <= level {
                    self.set(j, 0.0);
                } else if key != 0.0 {
                    lowest = lowest.min(key.abs());
                }
            }
        } else {
            let first = node * FAN;
            for child in first..(first + FAN).min(self.lowest[depth - 1].len()) {
                if self.lowest[depth - 1][child] <= level {
                    self.cull(depth - 1, child, level);
                }
                lowest = lowest.min(self.lowest[depth - 1][child]);
            }
        }
        self.lowest[depth][node] = lowest;
    }

    fn add_up_block(&mut self, block: usize) {
        self.sums.set_block(block, add_up(&self.entries, block));
        self.total = self.sums.total();
    }

    /// `h = 0`, at a cost of O(d).
    fn settle(&mut self) {
        let [p, q] = self.prefix;
        self.lowest.iter_mut().for_each(|level| level.fill(f64::MAX));
        for j in 0..self.entries.len() {
            let entry = &mut self.entries[j];
            entry.past += p * entry.key - q * sign(entry.key);
            entry.key = shrink(entry.key, self.level);
            let key = entry.key.abs();
            if key > 0.0 {
                self.bound(j, key);
            }
        }
        (self.level, self.prefix) = (0.0, [0.0; 2]);
        self.sums.set_all(|block| add_up(&self.entries, block));
        self.total = self.sums.total();
    }

    /// `w`, all d coordinates.
    pub(super) fn to_dense(&self) -> Vec<f64> {
        self.entries.iter().map(|entry| self.scale * shrink(entry.key, self.level)).collect()
    }

    /// The average of `count` iterates, or `w` if there were none.
    pub(super) fn average(&self, count: u64) -> SparseVector {
        if count == 0 {
            return SparseVector::from_dense(&self.to_dense());
        }
        let [p, q] = self.prefix;
        let sums = self.entries.iter().map(|entry| p * entry.key - q * sign(entry.key) + entry.past);
        SparseVector::from_dense(&sums.map(|sum| sum / count as f64).collect::<Vec<_>>())
    }
}

/// `+-(a - h)` of `+-a`, 0 of 0.
fn shrink(key: f64, level: f64) -> f64 {
    if key == 0.0 { 0.0 } else { (key.abs() - level).max(0.0).copysign(key) }
}

fn sign(key: f64) -> f64 {
    if key == 0.0 { 0.0 } else { key.signum() }
}

fn add_up(entries: &[Entry], block: usize) -> Sums {
    let (first, mut sums) = (block * BLOCK, Sums::default());
    entries[first..(first + BLOCK).min(entries.len())].iter().for_each(|entry| sums += Sums::of(entry.key));
    sums
}
