//! Draws by weight while weights change.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Entries that a node of the finest level adds up.
pub const BLOCK: usize = 16;
/// Nodes that a node of a coarser level adds up.
const FAN: usize = 32;
/// A level of at most so many nodes is the coarsest.
const TOP: usize = 64;

/// Sums over blocks of entries, over blocks of those sums, and so on: a wide tree in which changing an entry is one
/// addition per level (one at 500 entries, three at a million), and a draw looks at some dozens of nodes.
///
/// The tree does not keep the entries, only sums over [`BLOCK`] of them. Sums that are only ever added to drift by
/// rounding: [`set_block`](SumTree::set_block) puts one right, and a caller does so for one block after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SumTree<T> {
    levels: Vec<Vec<T>>,
}

impl<T: Copy + Default + AddAssign> SumTree<T> {
    /// The tree of `dim` zeros.
    pub fn new(dim: usize) -> Self {
        let mut levels = vec![vec![T::default(); dim.div_ceil(BLOCK)]];
        while let Some(nodes) = levels.last().map(Vec::len).filter(|&nodes| nodes > TOP) {
            levels.push(vec![T::default(); nodes.div_ceil(FAN)]);
        }
        SumTree { levels }
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.levels[0].len()
    }

    /// Adds `change` to entry `j`, which must lie below the dimension.
    #[inline]
    pub fn add(&mut self, j: usize, change: T) {
        let mut node = j / BLOCK;
        for level in &mut self.levels {
            level[node] += change;
            node /= FAN;
        }
    }

    /// Adds `changes`, parallel to `entries`, which must lie below the dimension.
    #[inline]
    pub fn add_all(&mut self, entries: &[u32], changes: &[T]) {
        let mut shift = BLOCK.ilog2();
        for level in &mut self.levels {
            entries.iter().zip(changes).for_each(|(&j, &change)| level[j as usize >> shift] += change);
            shift += FAN.ilog2();
        }
    }

    /// Sets the sum of a block, and adds up anew what lies above it.
    pub fn set_block(&mut self, block: usize, sum: T) {
        self.levels[0][block] = sum;
        let mut node = block;
        for level in 1..self.levels.len() {
            let first = node / FAN * FAN;
            let children = &self.levels[level - 1];
            let mut sum = T::default();
            children[first..(first + FAN).min(children.len())].iter().for_each(|&child| sum += child);
            node /= FAN;
            self.levels[level][node] = sum;
        }
    }

    /// Sets all blocks, at a cost of O(d).
    pub fn set_all(&mut self, block: impl Fn(usize) -> T) {
        self.levels[0].iter_mut().enumerate().for_each(|(i, sum)| *sum = block(i));
        for level in 1..self.levels.len() {
            let (finer, coarser) = self.levels.split_at_mut(level);
            for (sum, children) in coarser[0].iter_mut().zip(finer[level - 1].chunks(FAN)) {
                *sum = T::default();
                children.iter().for_each(|&child| *sum += child);
            }
        }
    }

    /// The sum of all entries.
    #[inline]
    pub fn total(&self) -> T {
        // Four sums at a time, because one waits for itself.
        let mut lanes = [T::default(); 4];
        for nodes in self.levels[self.levels.len() - 1].chunks(4) {
            lanes.iter_mut().zip(nodes).for_each(|(lane, &node)| *lane += node);
        }
        let [mut total, b, mut c, d] = lanes;
        total += b;
        c += d;
        total += c;
        total
    }

    /// The entry at which the running sum of weights passes `target`, a number from 0 to the total weight. `node` is the
    /// weight of a sum (negative ones count as 0), `leaf` that of an entry.
    ///
    /// `Err` names a block that the sums say has weight, but none of whose entries has: set it, then draw again. `Err`
    /// of block 0 also when there is no weight at all.
    #[inline]
    pub fn find(
        &self,
        mut target: f64,
        node: impl Fn(&T) -> f64,
        leaf: impl Fn(usize) -> f64,
        dim: usize,
    ) -> Result<usize, usize> {
        let mut place = 0;
        for level in self.levels.iter().rev() {
            let first = place * FAN;
            let end = if level.len() <= TOP { level.len() } else { (first + FAN).min(level.len()) };
            let Some(nodes) = level.get(first..end) else { return Err(0) };
            place = first + pass(nodes.len(), |i| node(&nodes[i]), &mut target).ok_or(0usize)?;
        }
        let first = place * BLOCK;
        let leaves = BLOCK.min(dim.saturating_sub(first));
        pass(leaves, |i| leaf(first + i), &mut target).map(|i| first + i).ok_or(place)
    }
}

/// The index at which the running sum passes `target`, from which the sum before it is taken; the last one with weight if
/// rounding keeps the sum below the target.
#[inline]
fn pass(count: usize, weight: impl Fn(usize) -> f64, target: &mut f64) -> Option<usize> {
    // Sums over groups do not wait for the running sum, so the processor has several of them at work.
    const GROUP: usize = 8;
    let mut start = 0;
    while start + GROUP < count {
        let sum: f64 = (start..start + GROUP).map(|i| weight(i).max(0.0)).sum();
        if *target < sum {
            break;
        }
        *target -= sum;
        start += GROUP;
    }
    for i in start..count {
        let weight = weight(i).max(0.0);
        if *target < weight {
            return Some(i);
        }
        *target -= weight;
    }
    let last = (0..count).rev().find(|&i| weight(i) > 0.0)?;
    *target = weight(last);
    Some(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use proptest::prelude::*;
    use rand::RngExt;

    fn tree(weights: &[f64]) -> SumTree<f64> {
        let mut tree = SumTree::new(weights.len());
        weights.iter().enumerate().for_each(|(j, &weight)| tree.add(j, weight));
        tree
    }

    fn find(tree: &SumTree<f64>, weights: &[f64], target: f64) -> Result<usize, usize> {
        tree.find(target, |&node| node, |j| weights[j], weights.len())
    }

    proptest! {
        #[test]
        fn the_entry_found_is_that_of_the_running_sum(
            dim in prop_oneof![1usize..100, 1000usize..1100, Just(70_000)], seed: u64,
        ) {
            // Small integers, so that every order of adding gives the same sum.
            let mut rng = Seed::root(seed).rng();
            let weights: Vec<f64> = (0..dim).map(|_| f64::from(rng.random_range(0..4u32))).collect();
            let (tree, total) = (tree(&weights), weights.iter().sum::<f64>());
            prop_assert_eq!(tree.total(), total);
            for _ in 0..20 {
                let target = (rng.random::<f64>() * total).floor() + 0.5;
                let mut sum = 0.0;
                let wanted = weights.iter().position(|weight| {
                    sum += weight;
                    target < sum
                });
                if total > 0.0 {
                    prop_assert_eq!(find(&tree, &weights, target).ok(), wanted);
                }
            }
        }
    }

    #[test]
    fn entries_are_drawn_in_proportion_to_their_weight() {
        // Chi-square over the 5 entries with weight; 18.47 is its 0.999 quantile at 4 degrees.
        let mut weights = vec![0.0; 3000];
        let held = [(0, 1.0), (17, 2.0), (18, 3.0), (2048, 4.0), (2999, 10.0)];
        held.iter().for_each(|&(j, weight)| weights[j] = weight);
        let (tree, mut rng, mut counts) = (tree(&weights), Seed::root(8).rng(), [0u32; 5]);
        for _ in 0..20_000 {
            let j = find(&tree, &weights, rng.random::<f64>() * tree.total()).unwrap();
            counts[held.iter().position(|&(at, _)| at == j).unwrap()] += 1;
        }
        let expected = held.map(|(_, weight)| 1000.0 * weight);
        let statistic: f64 = counts.iter().zip(expected).map(|(&n, e)| (f64::from(n) - e).powi(2) / e).sum();
        assert!(statistic < 18.47, "chi-square {statistic}");
    }

    #[test]
    fn a_target_lost_to_rounding_gives_the_last_entry_with_weight() {
        let weights = [0.0, 3.0, 1.0, 0.0];
        assert_eq!(find(&tree(&weights), &weights, 4.0), Ok(2));
    }

    #[test]
    fn a_block_that_drifted_is_named_and_put_right() {
        let mut weights = vec![0.0; 5000];
        weights[4321] = 1.0;
        let mut tree = tree(&weights);
        tree.add(40, 1e-17);
        assert_eq!(find(&tree, &weights, 0.0), Err(40 / BLOCK));
        tree.set_block(40 / BLOCK, 0.0);
        assert_eq!(find(&tree, &weights, 0.0), Ok(4321));
        assert_eq!(find(&SumTree::new(70), &[0.0; 70], 0.0), Err(0));
    }
}
