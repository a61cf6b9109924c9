//! The largest entries of a vector by magnitude, and uniform sets of the others. Among equals the smallest
//! index ranks first.
//!
//! The naive way costs O(d) per round: [`select`], and a shuffle of the other entries for the set. Three
//! departures are for speed:
//!
//! 1. `U`, the set of the `k_1` largest entries, is kept from round to round, since few entries change. The
//!    others compete in a tree: each node holds the best of its 16 entries or nodes, and `U` changes only
//!    while the best outside beats the worst inside;
//! 2. a change of an entry that stays below the best of its 16 costs one comparison, with a magnitude that is
//!    kept for each of the lowest nodes;
//! 3. a set is drawn by rejection, with one bit per entry that says whether it is in already, and two draws
//!    from each 64 random bits.

use lao_observation::Rng;
use rand::{Rng as _, RngExt};
use std::cmp::Ordering;

/// Returns the order of entries `i` and `j`: larger magnitudes first, then smaller indices.
fn rank(values: &[f64], i: u32, j: u32) -> Ordering {
    values[j as usize].abs().total_cmp(&values[i as usize].abs()).then(i.cmp(&j))
}

/// Returns whether entry `i` ranks before entry `j`.
fn beats(values: &[f64], i: u32, j: u32) -> bool {
    let (a, b) = (values[i as usize].abs(), values[j as usize].abs());
    a > b || (a == b && i < j)
}

/// Returns the magnitude of an entry, -1 if it is [`NONE`].
fn magnitude(values: &[f64], entry: u32) -> f64 {
    values.get(entry as usize).map_or(-1.0, |value| value.abs())
}

/// Sets `into` to the `count` largest entries of `values`, sorted by index, at a cost of O(d). `order` is
/// scratch.
pub(super) fn select(values: &[f64], count: usize, order: &mut Vec<u32>, into: &mut Vec<u32>) {
    order.clear();
    order.extend(0..values.len() as u32);
    if count > 0 && count < values.len() {
        order.select_nth_unstable_by(count - 1, |&i, &j| rank(values, i, j));
    }
    into.clear();
    into.extend(order.iter().take(count));
    into.sort_unstable();
}

/// A set of indices below a bound, with one bit for each.
#[derive(Clone, Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(bound: usize) -> Self {
        Bits(vec![0; bound.div_ceil(64)])
    }
    fn contains(&self, j: u32) -> bool {
        self.0[j as usize / 64] >> (j % 64) & 1 == 1
    }
    /// Adds `j`; returns whether it was new.
    fn insert(&mut self, j: u32) -> bool {
        let (word, bit) = (&mut self.0[j as usize / 64], 1 << (j % 64));
        let out = *word & bit == 0;
        *word |= bit;
        out
    }
    /// Adds `j` if it is not in the set, else removes it.
    fn toggle(&mut self, j: u32) {
        self.0[j as usize / 64] ^= 1 << (j % 64);
    }
}

/// The number of entries or nodes below a node of the tree.
const FAN: usize = 16;

/// The best entry of a node below which no entry lies outside `U`.
const NONE: u32 = u32::MAX;

/// `U`, the `k_1` largest entries of a vector that changes in few places at a time.
///
/// A change costs one comparison unless it concerns the best of 16 entries; then it costs at most O(log d).
#[derive(Clone, Debug, Default)]
pub(super) struct Largest {
    dim: usize,
    kept: Vec<u32>,
    inside: Bits,
    levels: Vec<Vec<u32>>,
    /// The magnitudes of the entries that the nodes hold, at the time at which they took them; -1 where a
    /// node holds none. Nodes are compared by these, and not by the entries as they are now: while several
    /// changes are worked in one by one, an entry that has fallen must not make room before its own node is
    /// corrected.
    ///
    /// (2) One read of the lowest level tells whether a change matters.
    peaks: Vec<Vec<f64>>,
    /// The set `U` and, while a set is drawn, the entries drawn so far.
    taken: Bits,
}

impl Largest {
    pub(super) fn new(values: &[f64], count: usize) -> Self {
        let mut largest =
            Largest { inside: Bits::new(values.len()), dim: values.len(), ..Largest::default() };
        select(values, count, &mut Vec::new(), &mut largest.kept);
        for at in 0..largest.kept.len() {
            largest.inside.toggle(largest.kept[at]);
        }
        largest.taken = largest.inside.clone();
        // If U is empty, nothing is ever compared.
        let mut nodes = if count > 0 { values.len() } else { 0 };
        while nodes > 1 {
            nodes = nodes.div_ceil(FAN);
            largest.levels.push(vec![NONE; nodes]);
            largest.peaks.push(vec![-1.0; nodes]);
            let level = largest.levels.len() - 1;
            for node in 0..nodes {
                let best = largest.best_below(values, level, node);
                largest.levels[level][node] = best;
                largest.peaks[level][node] = magnitude(values, best);
            }
        }
        largest
    }

    /// Returns the best entry below a node among those outside `U`.
    fn best_below(&self, values: &[f64], level: usize, node: usize) -> u32 {
        // Indices ascend, so the first among equals is the one that ranks before the others.
        let (mut best, mut most) = (NONE, -1.0);
        let start = node * FAN;
        if level == 0 {
            let inside = self.inside.0[start / 64] >> (start % 64);
            for (lane, value) in (0u32..).zip(&values[start..values.len().min(start + FAN)]) {
                let magnitude = if inside >> lane & 1 == 1 { -1.0 } else { value.abs() };
                if magnitude > most {
                    (best, most) = (start as u32 + lane, magnitude);
                }
            }
        } else {
            let end = self.levels[level - 1].len().min(start + FAN);
            let below = self.levels[level - 1][start..end].iter().zip(&self.peaks[level - 1][start..end]);
            for (&entry, &magnitude) in below {
                if magnitude > most {
                    (best, most) = (entry, magnitude);
                }
            }
        }
        best
    }

    /// Corrects the nodes above entry `j`, which changed, entered `U` or left it.
    fn correct(&mut self, values: &[f64], j: u32) {
        let (mut below, mut peak) = (j, magnitude(values, j));
        for level in 0..self.levels.len() {
            // Entry or node `at` of the level below has changed; its best entry is now `below`.
            let at = j as usize >> (4 * level);
            let node = at / FAN;
            let (best, most) = (self.levels[level][node], self.peaks[level][node]);
            if best != NONE && best as usize >> (4 * level) != at {
                if below == NONE || peak < most || (peak == most && below > best) {
                    return;
                }
            } else {
                below = self.best_below(values, level, node);
                // The node that holds the best entry below has just recorded it.
                peak = match level {
                    0 => magnitude(values, below),
                    _ if below == NONE => -1.0,
                    _ => self.peaks[level - 1][below as usize >> (4 * level)],
                };
            }
            (self.levels[level][node], self.peaks[level][node]) = (below, peak);
        }
    }

    /// Brings `U` up to date after changes of entries inside `U` and of the entries `changed` outside.
    #[inline]
    pub(super) fn update(&mut self, values: &[f64], changed: &[u32]) {
        changed.iter().for_each(|&j| self.change(values, j));
        self.exchange(values);
    }

    /// Corrects the tree after a change of entry `j`, which lies outside `U`. The tree is correct once this
    /// was called for all entries that changed: each call corrects the nodes above its own entry.
    #[inline]
    fn change(&mut self, values: &[f64], j: u32) {
        let node = j as usize / FAN;
        // 2. The entry stays below the best of its node, and is not the best itself, which may now be smaller
        //    than another.
        let stays = self.peaks.first().is_none_or(|peaks| peaks[node] > values[j as usize].abs())
            && self.levels.first().is_none_or(|leaves| leaves[node] != j);
        if !stays {
            self.correct(values, j);
        }
    }

    /// (1) Exchanges the worst entry inside `U` for the best outside, as long as the latter is larger.
    fn exchange(&mut self, values: &[f64]) {
        while let Some(best) = self.levels.last().map(|root| root[0]).filter(|&best| best != NONE) {
            let bar = values[best as usize].abs();
            if self.kept.iter().all(|&j| values[j as usize].abs() > bar) {
                return;
            }
            let worse = |worst, &j| if beats(values, worst, j) { j } else { worst };
            let worst = self.kept.iter().fold(self.kept[0], worse);
            if !beats(values, best, worst) {
                return;
            }
            self.kept.retain(|&j| j != worst);
            let place = self.kept.partition_point(|&j| j < best);
            self.kept.insert(place, best);
            for j in [best, worst] {
                self.inside.toggle(j);
                self.taken.toggle(j);
                self.correct(values, j);
            }
        }
    }

    /// Returns the entries of `U`, sorted by index.
    pub(super) fn kept(&self) -> &[u32] {
        &self.kept
    }

    /// Returns whether entry `j` is in `U`.
    pub(super) fn contains(&self, j: u32) -> bool {
        self.inside.contains(j)
    }

    /// Sets `into` to `U`, followed by a uniform set of `size` entries outside `U`, or of all of these if
    /// there are fewer.
    ///
    /// (3) Draws entries until there are enough, and rejects those that are in already. If more than half of
    /// the draws would be rejected, one pass over all entries is made instead. Both cost O(k') on average.
    pub(super) fn draw(&mut self, size: usize, rng: &mut Rng, into: &mut Vec<u32>) {
        let (mut others, mut left) = (self.dim - self.kept.len(), size.min(self.dim - self.kept.len()));
        let asked = self.kept.len() + left;
        into.clear();
        into.extend_from_slice(&self.kept);
        if 2 * asked > self.dim {
            for j in (0..self.dim as u32).filter(|&j| !self.inside.contains(j)) {
                if left > 0 && rng.random_range(0..others) < left {
                    into.push(j);
                    left -= 1;
                }
                others -= 1;
            }
            return;
        }
        into.resize(asked, 0);
        let drawn = &mut into[self.kept.len()..];
        let dim = self.dim as u32;
        // This is Lemire's method: the high word of a product is uniform once these low words are rejected.
        let unfair = dim.wrapping_neg() % dim.max(1);
        let mut found = 0;
        while found < drawn.len() {
            let random = rng.next_u64();
            for half in [random as u32, (random >> 32) as u32] {
                let product = u64::from(half) * u64::from(dim);
                if found == drawn.len() || (product as u32) < unfair {
                    continue;
                }
                let j = (product >> 32) as u32;
                // The comparison is unpredictable, so store unconditionally and advance only if the entry is
                // new: no branch.
                drawn[found] = j;
                found += usize::from(self.taken.insert(j));
            }
        }
        drawn.iter().for_each(|&j| self.taken.toggle(j));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;
    use proptest::prelude::*;

    /// Returns the chi-square statistic over the sets of `size` of the entries outside `kept`, and the number
    /// of different sets.
    fn statistic(dim: usize, kept: &[u32], size: usize) -> (f64, usize) {
        let mut values = vec![0.0; dim];
        kept.iter().for_each(|&j| values[j as usize] = 1.0);
        let mut largest = Largest::new(&values, kept.len());
        let (mut rng, mut set) = (Seed::root(8).rng(), Vec::new());
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..20_000 {
            largest.draw(size, &mut rng, &mut set);
            assert_eq!(&set[..kept.len()], kept);
            set.sort_unstable();
            assert!(set.is_sorted_by(|a, b| a < b) && set.len() == kept.len() + size);
            *counts.entry(set.clone()).or_insert(0u32) += 1;
        }
        let even = 20_000.0 / counts.len() as f64;
        let statistic = counts.values().map(|&n| (f64::from(n) - even).powi(2) / even).sum();
        (statistic, counts.len())
    }

    #[test]
    fn every_set_outside_is_equally_frequent_whichever_way_it_is_drawn() {
        // 0.999 quantiles of chi-square: 27.88 at 9 degrees, 43.82 at 19, 36.12 at 14.
        let (many, sets) = statistic(6, &[1], 3);
        assert!(sets == 10 && many < 27.88, "{many} over {sets} sets");
        let (many, sets) = statistic(8, &[2, 5], 3);
        assert!(sets == 20 && many < 43.82, "{many} over {sets} sets");
        let (few, sets) = statistic(7, &[3], 2);
        assert!(sets == 15 && few < 36.12, "{few} over {sets} sets");
    }

    #[test]
    fn ties_go_to_the_smallest_index() {
        assert_eq!(Largest::new(&[0.0; 5], 3).kept(), [0, 1, 2]);
        assert_eq!(Largest::new(&[0.0, -2.0, 1.0, 2.0, 1.0], 3).kept(), [1, 2, 3]);
    }

    #[test]
    fn the_best_of_a_node_that_falls_makes_room_for_the_next() {
        let mut values = vec![0.0; 40];
        values[..3].copy_from_slice(&[5.0, 4.0, 3.0]);
        let mut largest = Largest::new(&values, 1);
        values[1] = 1.0;
        values[0] = 2.0;
        largest.update(&values, &[1]);
        assert_eq!(largest.kept(), [2]);
    }

    #[test]
    fn the_best_of_all_that_falls_does_not_hide_an_entry_that_stays() {
        // The best outside U is entry 32. In one update entry 3 rises between what 32 was and what it
        // becomes, and 26, which does not change, is the best after it.
        let mut values = vec![0.0; 35];
        for (j, value) in [(0, 20.0), (3, 15.0), (26, 16.6), (32, 16.8)] {
            values[j] = value;
        }
        let mut largest = Largest::new(&values, 1);
        (values[0], values[3], values[32]) = (1.0, 16.5, 12.0);
        largest.update(&values, &[3, 32]);
        assert_eq!(largest.kept(), [26]);
    }

    fn entry() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), Just(-0.0), Just(1.0), Just(-1.0), -3.0..3.0]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn kept_up_by_changes_equals_selected_anew(
            (mut values, count, changes) in (1usize..700).prop_flat_map(|dim| {
                let change = proptest::collection::vec((0..dim, entry()), 0..40);
                (proptest::collection::vec(entry(), dim), 0..=dim, proptest::collection::vec(change, 0..40))
            })
        ) {
            let mut largest = Largest::new(&values, count);
            let (mut order, mut wanted) = (Vec::new(), Vec::new());
            for change in changes {
                let mut changed = Vec::new();
                for (j, value) in change {
                    values[j] = value;
                    if !largest.contains(j as u32) {
                        changed.push(j as u32);
                    }
                }
                largest.update(&values, &changed);
                select(&values, count, &mut order, &mut wanted);
                prop_assert_eq!(largest.kept(), &wanted);
            }
        }
    }
}
