//! The iterate of AER: strongly convex gradient steps, projected on the l1 ball, with the average of the
//! iterates.
//!
//! The naive step `t`, for `c = sum_r c_r e_{i_r}` over the draws, is
//!
//! ```text
//! sum += w                                            O(d), for the average
//! w_j <- (1 - 1/t) w_j - c_j/t                        O(d)
//! w_j <- sign(w_j) max(|w_j| - h, 0)                  O(d), with the h that makes |w|_1 = B, if it is larger
//! draw k_w times j with probability |w_j| / |w|_1     O(d)
//! ```
//!
//! Seven departures make a step cost O((k_u + k_w) log d), amortized:
//!
//! 1. `w = s u`, so that scaling changes one number;
//! 2. `|u_j| = a_j - h` for the active coordinates, with one level `h` that rises at each projection, and 0
//!    for the others. How far `h` rises follows from the sum and the number of the active `a_j`;
//! 3. the coordinates whose `a_j` falls below `h` become inactive. They are found through lower bounds of `a`
//!    over blocks, blocks of blocks, and so on ([`drop_passed`](L1BallIterate::drop_passed)). Each
//!    deactivation, and each bound that is recomputed, is charged to an earlier update of that coordinate, so
//!    that both cost O(log d) per update, amortized;
//! 4. the active coordinates, of which there are few in most runs, are stored side by side, so that sums,
//!    bounds and draws visit no others. The sums are a [`SumTree`], of which one block is recomputed every
//!    [`REFRESH`] steps, to bound rounding error;
//! 5. with `P` and `Q` the sums of `s` and `s h` over the iterates, the sum of an active coordinate's
//!    iterates is `+-(P a_j - Q)` plus an offset, which is corrected whenever `a_j` changes;
//! 6. when `h` has become so large that `a_j - h` would cancel, all coordinates are recomputed with `h = 0`
//!    ([`rebase`](L1BallIterate::rebase)): O(d), rarely. The same is done before and after a step that leads
//!    far beyond the ball, since all sums would consist of its rounding errors;
//! 7. all entries and keys that a step needs are read before the first is changed, since reads of far memory
//!    need not wait for each other.

use lao_kernels::{SparseVector, soft_threshold, sum_abs};
use lao_observation::sample::{BLOCK, SumTree, block};
use lao_observation::stored::Damaged;
use lao_observation::{LearnError, Rng};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The largest allowed ratio of `h` times the number of active entries to the norm: 16 bits of the norm may
/// be lost to cancellation.
const SLACK: f64 = (1 << 16) as f64;
/// The number of nodes below one bound of the next coarser level, and the largest number of nodes of the
/// coarsest level.
const FAN: usize = 64;

/// The number of steps after which the next block is recomputed.
const REFRESH: u64 = 4;
/// The number of entries that fit into the first-level cache.
const NEAR: usize = 4096;
/// The largest sum of keys. It is so far from overflow that neither another order of adding nor the sum of
/// the iterates, where keys are multiplied by the sum of all scales, can overflow.
const LARGEST: f64 = f64::MAX / 4096.0;
/// A step counts as far beyond the ball when its l1 norm exceeds this many radii.
const FAR: f64 = (1_u64 << 30) as f64;
/// A stored weight, or average, may be this many times the radius; the reason is at
/// [`check`](L1BallIterate::check).
const ASTRAY: f64 = (1_u64 << 60) as f64;
/// A stored sum of keys may differ from the recomputed one by this many radii; the reason is at
/// [`check`](L1BallIterate::check).
const DRIFT: f64 = (1_u64 << 20) as f64;
/// An upper bound of the sum of all scales `1, 1/2, 1/3, ..` of a run.
const SCALES: f64 = 64.0;
/// The slot of an inactive coordinate.
const NONE: u32 = u32::MAX;

/// A coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// The sum of its iterates, without the part that `P` and `Q` give.
    offset: f64,
    /// Its place among the active coordinates, or [`NONE`].
    slot: u32,
}

/// An active coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Active {
    /// `a_j` with the sign of `w_j`; never 0.
    key: f64,
    attribute: u32,
}

/// Sums over the active entries of a block or of all blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    /// The sum of `a_j`.
    keys: f64,
    /// The number of entries.
    count: f64,
}

impl Sums {
    /// Returns the sum of `a_j - level`.
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
pub(super) struct L1BallIterate {
    radius: Option<f64>,
    /// `s`.
    scale: f64,
    /// `h`.
    level: f64,
    /// `P` and `Q`.
    iterate_weights: [f64; 2],
    entries: Vec<Entry>,
    active: Vec<Active>,
    /// Sums over blocks of `active`; the bounds have the same blocks.
    sums: SumTree<Sums>,
    total: Sums,
    /// Lower bounds: `lowest[0]` of the `a_j` of each block, `lowest[l]` of the bounds in `lowest[l - 1]`. An
    /// empty block has the bound `f64::MAX`, since a file cannot hold infinity.
    lowest: Vec<Vec<f64>>,
    /// The block to be recomputed next.
    next_block: usize,
    /// The numbers that the current step subtracts from `w/s`, draw by draw.
    #[serde(skip)]
    change: Vec<f64>,
    /// The random targets of the current draws.
    #[serde(skip)]
    targets: Vec<f64>,
}

impl L1BallIterate {
    /// Returns the iterate at zero.
    pub(super) fn new(dim: usize, radius: Option<f64>) -> Self {
        let sums = SumTree::new(dim);
        let mut lowest = vec![vec![f64::MAX; sums.blocks()]];
        while let Some(nodes) = lowest.last().map(Vec::len).filter(|&nodes| nodes > FAN) {
            lowest.push(vec![f64::MAX; nodes.div_ceil(FAN)]);
        }
        L1BallIterate {
            radius,
            scale: 1.0,
            level: 0.0,
            iterate_weights: [0.0; 2],
            entries: vec![Entry { offset: 0.0, slot: NONE }; dim],
            active: Vec::new(),
            sums,
            total: Sums::default(),
            lowest,
            next_block: 0,
            change: Vec::new(),
            targets: Vec::new(),
        }
    }

    pub(super) fn dim(&self) -> usize {
        self.entries.len()
    }

    /// Returns `B`, or `None` without a projection.
    pub(super) fn radius(&self) -> Option<f64> {
        self.radius
    }

    /// Refuses a state that no sequence of `done` steps leads to. The caller checks the radius.
    ///
    /// 1. *The scale, the slots, the counts of active entries and the bounds* obey exact rules, and
    ///    [`rebase`](Self::rebase) keeps `h` below `SLACK B/s`. Without a radius, `h` is 0.
    /// 2. *Sums of keys* gain an error of 2^-53 of the largest sum with each entry touched. With a radius
    ///    this largest sum is at most `(SLACK + 1 + FAR) B/s`, so the drift stays below `DRIFT B/s` for 2^40
    ///    entries touched, even if all errors have the same sign. Weights and averages follow from the sums,
    ///    and stay far below `ASTRAY B`.
    /// 3. *Without a radius* sums may have any size, so only numbers near overflow are refused.
    pub(super) fn check(&self, what: &'static str, done: u64) -> Result<(), Damaged> {
        let L1BallIterate {
            radius,
            scale,
            level,
            iterate_weights,
            entries,
            active,
            sums,
            total,
            next_block,
            ..
        } = self;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, what, || reason);
        damaged(*scale == 1.0 / done.max(1) as f64, "the scale is not that of the number of updates")?;
        // With a radius, h s is at most SLACK B after each step, and s falls. Without one, nothing is ever
        // projected, and h is 0.
        let highest = radius.map_or(0.0, |radius| SLACK * radius / scale);
        let most = SCALES.min(2.0 * done as f64);
        let levels = SLACK * radius.unwrap_or(0.0) * 2.0 * done as f64;
        let begun =
            (0.0..=most).contains(&iterate_weights[0]) && (0.0..=levels).contains(&iterate_weights[1]);
        damaged(begun && (0.0..=2.0 * highest).contains(level), "the scales and levels do not add up")?;

        let slots = entries.iter().filter(|entry| entry.slot != NONE).count();
        let at_home = |(slot, active): (usize, &Active)| {
            entries.get(active.attribute as usize).is_some_and(|entry| entry.slot as usize == slot)
        };
        let ok = slots == active.len() && active.iter().enumerate().all(at_home);
        damaged(ok, "the list of active attributes does not fit their places in it")?;
        let largest = radius.map_or(2.0 * LARGEST, |radius| level + ASTRAY * radius / scale);
        let fits = |key: f64| key != 0.0 && (*level..=largest).contains(&key.abs());
        damaged(active.iter().all(|active| fits(active.key)), "an active weight is out of reach")?;
        let drift = radius.map_or(2.0 * LARGEST, |radius| DRIFT * radius / scale);
        let near = |sums: &Sums, exact: &Sums| {
            sums.count == exact.count
                && (sums.keys - exact.keys).abs() <= drift
                && sums.keys.abs() <= 2.0 * LARGEST
        };
        let agrees = sums.agrees(entries.len(), |block| sums_of_block(active, block), near);
        damaged(agrees && *total == sums.total(), "the sums are not those of the active weights")?;
        damaged(*next_block < sums.blocks(), "the block to be recomputed next does not exist")?;
        damaged(self.bounds_hold(), "a bound from below is above a weight")?;
        let most = radius.map_or(f64::MAX / 4.0, |radius| ASTRAY * radius * done as f64);
        damaged(self.summed().iter().all(|sum| sum.abs() <= most), "the average is out of reach")
    }

    /// Returns whether `lowest` has the shape that [`new`](Self::new) gives it, and its bounds hold.
    fn bounds_hold(&self) -> bool {
        let bound = |nodes: &[f64], below: &mut dyn Iterator<Item = f64>| {
            nodes.iter().zip(below).all(|(node, least)| (0.0..=least).contains(node))
        };
        let least = |keys: &[Active]| keys.iter().fold(f64::MAX, |least, active| least.min(active.key.abs()));
        let Some((blocks, coarser)) = self.lowest.split_first() else { return false };
        let mut keys = self.active.chunks(BLOCK).map(least).chain(std::iter::repeat(f64::MAX));
        if blocks.len() != self.sums.blocks() || !bound(blocks, &mut keys) {
            return false;
        }
        let mut finer = blocks;
        for nodes in coarser {
            let mut below = finer.chunks(FAN).map(|nodes| nodes.iter().copied().fold(f64::MAX, f64::min));
            if finer.len() <= FAN || nodes.len() != finer.len().div_ceil(FAN) || !bound(nodes, &mut below) {
                return false;
            }
            finer = nodes;
        }
        finer.len() <= FAN
    }

    /// Returns `w_j`; 0 beyond the dimension.
    pub(super) fn get(&self, j: u32) -> f64 {
        self.entries.get(j as usize).map_or(0.0, |entry| self.scale * self.unscaled(entry.slot))
    }

    /// Returns `w_j/s` of the coordinate in this slot; 0 for [`NONE`].
    fn unscaled(&self, slot: u32) -> f64 {
        self.active.get(slot as usize).map_or(0.0, |active| shrink(active.key, self.level))
    }

    /// Returns `|w|_1`.
    pub(super) fn norm(&self) -> f64 {
        self.scale * self.total.above(self.level).max(0.0)
    }

    /// Appends to `into` `count` independent draws of `j` with probability `|w_j| / |w|_1`; none when
    /// `w = 0`.
    pub(super) fn draw(&mut self, count: usize, rng: &mut Rng, into: &mut Vec<u32>) {
        loop {
            let (level, total) = (self.level, self.total.above(self.level));
            if total <= 0.0 || total.is_nan() {
                return;
            }
            self.targets.clear();
            self.targets.extend((0..count).map(|_| rng.random::<f64>() * total));
            let start = into.len();
            into.resize(start + count, 0);
            let active = &self.active[..];
            let weights = |at| block(active, at, |active| (active.key.abs() - level).max(0.0));
            let drawn = &mut into[start..];
            let above = |sums: &Sums| sums.above(level);
            match self.sums.locate_all(&mut self.targets, drawn, above, weights) {
                Ok(()) => {
                    drawn.iter_mut().for_each(|slot| *slot = active[*slot as usize].attribute);
                    return;
                }
                Err(block) => {
                    into.truncate(start);
                    let before = self.total;
                    self.recompute_block(block);
                    // If correct sums still find nothing, they differ from zero by rounding only.
                    if self.total == before {
                        return;
                    }
                }
            }
        }
    }

    /// (5) Counts the current `w` into the average.
    fn count_into_average(&mut self) {
        self.iterate_weights[0] += self.scale;
        self.iterate_weights[1] += self.scale * self.level;
    }

    /// Makes the step `w <- P_B((1 - 1/t) w - change/t)` for `t = update`, after counting the current
    /// `w` into the average if `counts`. The change is a sum over `draws`, in which an attribute may occur
    /// more than once.
    pub(super) fn step(
        &mut self,
        draws: &[u32],
        change: impl Iterator<Item = f64>,
        update: u64,
        counts: bool,
    ) -> Result<(), LearnError> {
        self.change.clear();
        self.change.extend(change);
        let size = sum_abs(&self.change);
        let fits = self.total.keys + size + self.level * self.total.count < LARGEST;
        if !fits {
            let large = draws.iter().zip(&self.change).find(|(_, change)| !change.is_finite());
            let (attribute, value) = large.map_or((0, f64::INFINITY), |(&j, &change)| (j as usize, -change));
            return Err(LearnError::Diverged { update, attribute, value });
        }

        if counts {
            self.count_into_average();
        }
        let far = self.radius.is_some_and(|radius| size > FAR * radius / self.scale);
        if far {
            self.rebase();
        }
        self.scale = 1.0 / update as f64;
        self.touch(draws);
        for (place, &j) in draws.iter().enumerate() {
            // 1. In units of the new scale 1/t, (1 - 1/t) w is the same number as w in units of the old one,
            //    1/(t - 1).
            let next = self.unscaled(self.entries[j as usize].slot) - self.change[place];
            self.set(j, if next == 0.0 { 0.0 } else { next + self.level.copysign(next) });
        }
        if update.is_multiple_of(REFRESH) {
            self.recompute_block(self.next_block);
            self.next_block =
                if (self.next_block + 1) * BLOCK < self.active.len() { self.next_block + 1 } else { 0 };
        }
        self.total = self.sums.total();
        if let Some(radius) = self.radius {
            if far {
                self.draw_near(radius / self.scale);
            }
            self.project(radius / self.scale);
        }
        if far {
            self.rebase();
        }
        Ok(())
    }

    /// (7) Reads all entries and keys of the step.
    fn touch(&self, draws: &[u32]) {
        if let Some(last) = self.active.len().checked_sub(1)
            && self.entries.len() > NEAR
        {
            // The place is bounded by `min`, since a branch would wait for the slot.
            let slot = |j: u32| (self.entries[j as usize].slot as usize).min(last);
            std::hint::black_box(draws.iter().map(|&j| self.active[slot(j)].key).sum::<f64>());
        }
    }

    /// Gives a coordinate this key, or makes it inactive if the key is 0.
    fn set(&mut self, j: u32, key: f64) {
        let [p, q] = self.iterate_weights;
        let entry = &mut self.entries[j as usize];
        let slot = entry.slot as usize;
        let old = self.active.get(slot).map_or(0.0, |active| active.key);
        entry.offset += p * (old - key) - q * (sign(old) - sign(key));
        if let Some(active) = self.active.get_mut(slot) {
            if key == 0.0 {
                return self.remove(slot);
            }
            active.key = key;
            self.sums.add(slot, Sums { keys: key.abs() - old.abs(), count: 0.0 });
            self.bound(slot, key.abs());
        } else if key != 0.0 {
            let slot = self.active.len();
            entry.slot = slot as u32;
            self.active.push(Active { key, attribute: j });
            self.sums.add(slot, Sums { keys: key.abs(), count: 1.0 });
            self.bound(slot, key.abs());
        }
    }

    /// (4) Removes a coordinate from the active ones; the last of these moves to its slot.
    fn remove(&mut self, slot: usize) {
        let Some(last) = self.active.pop() else { return };
        let end = self.active.len();
        self.sums.add(end, Sums { keys: -last.key.abs(), count: -1.0 });
        let mut gone = last;
        if let Some(active) = self.active.get_mut(slot) {
            gone = std::mem::replace(active, last);
            self.sums.add(slot, Sums { keys: last.key.abs() - gone.key.abs(), count: 0.0 });
            self.entries[last.attribute as usize].slot = slot as u32;
            self.bound(slot, last.key.abs());
        }
        self.entries[gone.attribute as usize].slot = NONE;
    }

    /// Lowers the bounds over a slot to the magnitude there.
    fn bound(&mut self, slot: usize, key: f64) {
        let mut node = slot / BLOCK;
        for level in &mut self.lowest {
            level[node] = level[node].min(key);
            node /= FAN;
        }
    }

    /// (2) Raises the level `h` until the sum of `a_j - h` over the active entries is at most `radius`.
    fn project(&mut self, radius: f64) {
        let coarsest = self.lowest.len() - 1;
        while self.total.above(self.level) > radius && self.total.count > 0.5 {
            let level = (self.total.keys - radius) / self.total.count;
            let before = self.total.count;
            for node in 0..self.lowest[coarsest].len() {
                if self.lowest[coarsest][node] <= level {
                    self.drop_passed(coarsest, node, level);
                }
            }
            self.total = self.sums.total();
            // 3. The coordinates that were passed had negative terms `a_j - h`, so the others need a higher
            //    level.
            if self.total.count >= before - 0.5 {
                self.level = level;
                break;
            }
        }
        if self.level * self.total.count > SLACK * radius {
            self.rebase();
        }
    }

    /// (3) Makes those entries below a node inactive whose `a_j` is at most `level`, and makes the bound of
    ///    the node sharp.
    fn drop_passed(&mut self, depth: usize, node: usize, level: f64) {
        let mut lowest = f64::MAX;
        if depth == 0 {
            let (mut slot, end) = (node * BLOCK, (node + 1) * BLOCK);
            while let Some(&Active { key, attribute }) = self.active[..end.min(self.active.len())].get(slot) {
                if key.abs() <= level {
                    // Another entry comes to this slot.
                    self.set(attribute, 0.0);
                } else {
                    lowest = lowest.min(key.abs());
                    slot += 1;
                }
            }
        } else {
            let first = node * FAN;
            for child in first..(first + FAN).min(self.lowest[depth - 1].len()) {
                if self.lowest[depth - 1][child] <= level {
                    self.drop_passed(depth - 1, child, level);
                }
                lowest = lowest.min(self.lowest[depth - 1][child]);
            }
        }
        self.lowest[depth][node] = lowest;
    }

    fn recompute_block(&mut self, block: usize) {
        self.sums.set_block(block, sums_of_block(&self.active, block));
        self.total = self.sums.total();
    }

    /// Subtracts the same amount from all magnitudes, so that the largest becomes the radius. The projection
    /// subtracts at least as much, but it rounds `a_j - h` when keys are large, while the differences of keys
    /// are precise. The state must have been rebased.
    fn draw_near(&mut self, radius: f64) {
        let largest = self.active.iter().fold(0.0_f64, |largest, active| largest.max(active.key.abs()));
        if largest > radius {
            self.rebase_with(|key| ((key.abs() - largest) + radius).max(0.0).copysign(key));
        }
    }

    /// (6) Recomputes all coordinates with `h = 0`, at a cost of O(d) at most.
    fn rebase(&mut self) {
        let level = self.level;
        self.rebase_with(|key| shrink(key, level));
    }

    /// Rebases like [`rebase`](Self::rebase), with `weight`, which returns `w_j/s` of a key.
    fn rebase_with(&mut self, weight: impl Fn(f64) -> f64) {
        let [p, q] = self.iterate_weights;
        self.lowest.iter_mut().for_each(|level| level.fill(f64::MAX));
        let entries = &mut self.entries;
        self.active.retain_mut(|active| {
            let entry = &mut entries[active.attribute as usize];
            entry.offset += p * active.key - q * sign(active.key);
            entry.slot = NONE;
            active.key = weight(active.key);
            active.key != 0.0
        });
        for slot in 0..self.active.len() {
            let Active { key, attribute } = self.active[slot];
            self.entries[attribute as usize].slot = slot as u32;
            self.bound(slot, key.abs());
        }
        (self.level, self.iterate_weights) = (0.0, [0.0; 2]);
        self.sums.set_all(|block| sums_of_block(&self.active, block));
        self.total = self.sums.total();
    }

    /// Returns `w`, all d coordinates.
    pub(super) fn to_dense(&self) -> Vec<f64> {
        self.entries.iter().map(|entry| self.scale * self.unscaled(entry.slot)).collect()
    }

    /// Returns the average of `count` iterates, or `w` if there were none.
    pub(super) fn average(&self, count: u64) -> SparseVector {
        if count == 0 {
            return SparseVector::from_dense(&self.to_dense());
        }
        SparseVector::from_dense(&self.summed().iter().map(|sum| sum / count as f64).collect::<Vec<_>>())
    }

    /// (5) Returns the sum of the iterates that were counted, all d coordinates.
    fn summed(&self) -> Vec<f64> {
        let [p, q] = self.iterate_weights;
        let mut sums: Vec<f64> = self.entries.iter().map(|entry| entry.offset).collect();
        for &Active { key, attribute } in &self.active {
            sums[attribute as usize] += p * key - q * sign(key);
        }
        sums
    }
}

/// Returns `+-(a - h)` for the key `+-a`, and 0 for 0.
fn shrink(key: f64, level: f64) -> f64 {
    if key == 0.0 { 0.0 } else { soft_threshold(key, level) }
}

fn sign(key: f64) -> f64 {
    if key == 0.0 { 0.0 } else { key.signum() }
}

fn sums_of_block(active: &[Active], block: usize) -> Sums {
    let (first, mut sums) = ((block * BLOCK).min(active.len()), Sums::default());
    for active in &active[first..(first + BLOCK).min(active.len())] {
        sums += Sums { keys: active.key.abs(), count: 1.0 };
    }
    sums
}
