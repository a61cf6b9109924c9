//! Draws by weight, while the weights change.

use crate::stored::Damaged;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The number of entries in a sum of the finest level.
pub const BLOCK: usize = 8;
/// The number of sums in a sum of a coarser level.
const FAN: usize = 64;

/// Sums over blocks of entries, over blocks of those sums, and so on: a wide tree in which the change of an
/// entry takes one addition per level (one at 500 entries, three at a million), and a draw reads some dozens
/// of sums.
///
/// The tree does not keep the entries, but only sums over [`BLOCK`] of them. Sums drift by rounding as
/// changes are added to them. [`set_block`](SumTree::set_block) corrects one sum, and a caller does this for
/// one block after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored<T>", bound(deserialize = "T: Copy + Default + PartialEq + Deserialize<'de>"))]
pub struct SumTree<T> {
    blocks: usize,
    /// The levels, the finest first, each padded with zeros to a multiple of [`FAN`].
    levels: Vec<Vec<T>>,
}

/// A tree before it is checked.
#[derive(Deserialize)]
struct Stored<T> {
    blocks: usize,
    levels: Vec<Vec<T>>,
}

impl<T: Copy + Default + PartialEq> TryFrom<Stored<T>> for SumTree<T> {
    type Error = Damaged;

    /// Checks the shape. Sums need not agree with one another, because of rounding, and a draw that meets
    /// sums which do not agree names the block to set.
    fn try_from(Stored { blocks, levels }: Stored<T>) -> Result<Self, Damaged> {
        let refuse = |ok, reason| Damaged::unless(ok, "tree of sums", || reason);
        let (mut nodes, mut depth) = (blocks.max(1), 0);
        loop {
            let level: &[T] = levels.get(depth).map_or(&[], Vec::as_slice);
            let fits = nodes.checked_next_multiple_of(FAN) == Some(level.len());
            refuse(fits, "a level has another length than its number of blocks asks for")?;
            let rest = &level[nodes.min(level.len())..];
            refuse(rest.iter().all(|sum| *sum == T::default()), "a sum over nothing is not zero")?;
            depth += 1;
            if nodes <= FAN {
                break;
            }
            nodes = nodes.div_ceil(FAN);
        }
        refuse(levels.len() == depth, "it has more levels than its number of blocks asks for")?;
        Ok(SumTree { blocks, levels })
    }
}

impl<T: Copy + Default + AddAssign> SumTree<T> {
    /// Returns the tree of `dim` zeros.
    pub fn new(dim: usize) -> Self {
        let (blocks, mut levels) = (dim.div_ceil(BLOCK), Vec::new());
        let mut nodes = blocks.max(1);
        loop {
            levels.push(vec![T::default(); nodes.next_multiple_of(FAN)]);
            if nodes <= FAN {
                return SumTree { blocks, levels };
            }
            nodes = nodes.div_ceil(FAN);
        }
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Adds `change` to entry `j`, which must lie below the dimension.
    #[inline]
    pub fn add(&mut self, j: usize, change: T) {
        let Some((finest, coarser)) = self.levels.split_first_mut() else { return };
        let mut node = j / BLOCK;
        finest[node] += change;
        for level in coarser {
            node /= FAN;
            level[node] += change;
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

    /// Sets the sum of a block, and recomputes the sums above it.
    pub fn set_block(&mut self, block: usize, sum: T) {
        self.levels[0][block] = sum;
        let mut node = block;
        for level in 1..self.levels.len() {
            let first = node / FAN * FAN;
            let children = &self.levels[level - 1];
            let mut sum = T::default();
            children[first..first + FAN].iter().for_each(|&child| sum += child);
            node /= FAN;
            self.levels[level][node] = sum;
        }
    }

    /// Sets all blocks, at a cost of O(d).
    pub fn set_all(&mut self, block: impl Fn(usize) -> T) {
        self.levels[0].iter_mut().take(self.blocks).enumerate().for_each(|(i, sum)| *sum = block(i));
        for level in 1..self.levels.len() {
            let (finer, coarser) = self.levels.split_at_mut(level);
            for (sum, children) in coarser[0].iter_mut().zip(finer[level - 1].chunks(FAN)) {
                *sum = T::default();
                children.iter().for_each(|&child| *sum += child);
            }
        }
    }

    /// Returns whether this is a tree over `dim` entries, and `agree` holds for each of its sums and the
    /// recomputed one. Costs O(d).
    pub fn agrees(&self, dim: usize, block: impl Fn(usize) -> T, agree: impl Fn(&T, &T) -> bool) -> bool {
        if self.blocks != dim.div_ceil(BLOCK) {
            return false;
        }
        let mut recomputed = SumTree::new(dim);
        recomputed.set_all(block);
        let mut sums = self.levels.iter().flatten().zip(recomputed.levels.iter().flatten());
        sums.all(|(sum, recomputed)| agree(sum, recomputed))
    }

    /// Returns the sum of all entries.
    #[inline]
    pub fn total(&self) -> T {
        // Use eight independent partial sums, since the additions of one sum depend on each other.
        let mut lanes = [T::default(); 8];
        let (full, rest) = self.levels[self.levels.len() - 1].as_chunks::<8>();
        full.iter().for_each(|nodes| (0..8).for_each(|lane| lanes[lane] += nodes[lane]));
        lanes.iter_mut().zip(rest).for_each(|(lane, &node)| *lane += node);
        for half in [4, 2, 1] {
            (0..half).for_each(|lane| lanes[lane] += lanes[lane + half]);
        }
        lanes[0]
    }

    /// Returns the entry at which the running sum of weights passes `target`, a number from 0 to the total
    /// weight. `node` is the weight of a sum (negative ones count as 0), `entries` has those of the entries
    /// of a block ([`block`]).
    ///
    /// # Errors
    /// Returns a block below a sum whose weight is positive, although no part of it has weight. The caller
    /// sets this block, which corrects all sums above it, and draws again. A sum is named at most once
    /// between changes, so that this ends. If the total weight is zero, the function returns block 0.
    #[inline]
    pub fn locate(
        &self,
        target: f64,
        node: impl Fn(&T) -> f64,
        entries: impl Fn(usize) -> [f64; BLOCK],
    ) -> Result<usize, usize> {
        let (mut target, mut place) = ([target], [0]);
        self.locate_all(&mut target, &mut place, node, entries)?;
        Ok(place[0] as usize)
    }

    /// Does the same as [`locate`](Self::locate) for many targets: `places` becomes their entries, and
    /// `targets` is overwritten. All targets descend the tree side by side, so that their memory accesses
    /// overlap.
    ///
    /// # Errors
    /// Fails in the cases of [`locate`](Self::locate), for the first target that finds nothing.
    #[inline]
    pub fn locate_all(
        &self,
        targets: &mut [f64],
        places: &mut [u32],
        node: impl Fn(&T) -> f64,
        entries: impl Fn(usize) -> [f64; BLOCK],
    ) -> Result<(), usize> {
        let Some((top, finer)) = self.levels.split_last() else { return Err(0) };
        let weights = |nodes: &[T; FAN]| std::array::from_fn(|i| node(&nodes[i]).max(0.0));
        let top = weights(top.first_chunk().ok_or(0usize)?);
        // One target goes down at once; many share the running sums of the coarsest level.
        if let ([target], [place]) = (&mut *targets, &mut *places) {
            *place = pass(&top, target).ok_or(0usize)? as u32;
        } else {
            let (before, total) = running(&top);
            for (target, place) in targets.iter_mut().zip(&mut *places) {
                let mut at = last_at_most(&before, *target);
                if *target < total {
                    *target -= before[at];
                } else {
                    at = last_with_weight(&top, target).ok_or(0usize)?;
                }
                *place = at as u32;
            }
        }
        for (depth, level) in finer.iter().enumerate().rev() {
            for (target, place) in targets.iter_mut().zip(&mut *places) {
                // The first block below the node, whatever level that is on.
                let block = *place as usize * FAN.pow(depth as u32 + 1);
                let nodes = level.as_chunks().0.get(*place as usize).ok_or(0usize)?;
                let child = pass(&weights(nodes), target).ok_or(block)?;
                *place = *place * FAN as u32 + child as u32;
            }
        }
        for (target, place) in targets.iter_mut().zip(places) {
            let block = *place as usize;
            let found = pass_eight(&entries(block), target).ok_or(block)?;
            *place = (block * BLOCK + found) as u32;
        }
        Ok(())
    }
}

/// Returns the weights of the entries of a block, and 0 beyond the end, for [`SumTree::locate`]. No weight
/// may be negative.
#[inline]
pub fn block<E>(entries: &[E], block: usize, weight: impl Fn(&E) -> f64) -> [f64; BLOCK] {
    let entries = entries.get(block * BLOCK..).unwrap_or_default();
    match entries.first_chunk::<BLOCK>() {
        Some(entries) => std::array::from_fn(|i| weight(&entries[i])),
        None => std::array::from_fn(|i| entries.get(i).map_or(0.0, &weight)),
    }
}

/// Returns the last place that holds at most `target`, in an ascending list; 0 if none does.
#[inline]
fn last_at_most(list: &[f64; FAN], target: f64) -> usize {
    // The bisection has no branches, since no processor could predict their outcome.
    let (mut at, mut step) = (0, FAN / 2);
    while step > 0 {
        at += if list[(at + step) % FAN] <= target { step } else { 0 };
        step /= 2;
    }
    at
}

/// Returns the sums of eight weights at a time.
#[inline]
fn by_eights(weights: &[f64; FAN]) -> [f64; 8] {
    std::array::from_fn(|group| {
        let w = |place| weights[8 * group + place];
        ((w(0) + w(1)) + (w(2) + w(3))) + ((w(4) + w(5)) + (w(6) + w(7)))
    })
}

/// The sum of the weights before each, which never falls, and of all.
#[inline]
fn running(weights: &[f64; FAN]) -> ([f64; FAN], f64) {
    let (mut before, mut total) = ([0.0; FAN], 0.0);
    for (before, weights) in before.chunks_mut(8).zip(weights.chunks(8)) {
        let mut sum = 0.0;
        for (before, weight) in before.iter_mut().zip(weights) {
            *before = total + sum;
            sum += weight;
        }
        total += sum;
    }
    (before, total)
}

/// Does the same as [`pass_eight`], first by groups of eight and then within a group.
#[inline]
fn pass(weights: &[f64; FAN], target: &mut f64) -> Option<usize> {
    let group = pass_eight(&by_eights(weights), target)?;
    let place = pass_eight(weights.as_chunks().0.get(group)?, target)?;
    Some(8 * group + place)
}

/// Returns the index at which the running sum of `weights`, none of them negative, passes `target`, from
/// which the sum before it is taken; the last one with weight if rounding keeps the sum below the target.
#[inline]
fn pass_eight(weights: &[f64; 8], target: &mut f64) -> Option<usize> {
    let mut sums = [0.0; 9];
    for place in 0..8 {
        sums[place + 1] = sums[place] + weights[place];
    }
    if *target >= sums[8] {
        return last_with_weight(weights, target);
    }
    // Counts the sums that the target has passed: there are no branches, whose outcome no processor
    // could predict.
    let passed = sums[1..8].iter().map(|sum| usize::from(sum <= target)).sum::<usize>();
    *target -= sums[passed];
    Some(passed)
}

#[cold]
fn last_with_weight(weights: &[f64], target: &mut f64) -> Option<usize> {
    let last = weights.iter().rposition(|&weight| weight > 0.0)?;
    *target = weights[last];
    Some(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use proptest::prelude::*;
    use rand::RngExt;

    fn tree(weights: &[f64]) -> SumTree<f64> {
        let mut tree = SumTree::new(weights.len());
        weights.iter().enumerate().for_each(|(j, &weight)| tree.add(j, weight));
        tree
    }

    fn locate(tree: &SumTree<f64>, weights: &[f64], target: f64) -> Result<usize, usize> {
        tree.locate(target, |&node| node, |at| block(weights, at, |&weight| weight))
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
            if total == 0.0 {
                return Ok(());
            }
            let mut targets: Vec<f64> =
                (0..20).map(|_| (rng.random::<f64>() * total).floor() + 0.5).collect();
            let mut wanted = Vec::new();
            for &target in &targets {
                let mut sum = 0.0;
                let passes = |weight: &f64| {
                    sum += weight;
                    target < sum
                };
                wanted.extend(weights.iter().position(passes));
                prop_assert_eq!(locate(&tree, &weights, target).ok(), wanted.last().copied());
            }
            let mut places = vec![0; 20];
            let entries = |at| block(&weights, at, |&weight| weight);
            prop_assert_eq!(tree.locate_all(&mut targets, &mut places, |&node| node, entries), Ok(()));
            prop_assert_eq!(places.iter().map(|&place| place as usize).collect::<Vec<_>>(), wanted);
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
            let j = locate(&tree, &weights, rng.random::<f64>() * tree.total()).unwrap();
            counts[held.iter().position(|&(at, _)| at == j).unwrap()] += 1;
        }
        let expected = held.map(|(_, weight)| 1000.0 * weight);
        let statistic: f64 = counts.iter().zip(expected).map(|(&n, e)| (f64::from(n) - e).powi(2) / e).sum();
        assert!(statistic < 18.47, "chi-square {statistic}");
    }

    #[test]
    fn a_target_lost_to_rounding_gives_the_last_entry_with_weight() {
        let weights = [0.0, 3.0, 1.0, 0.0];
        assert_eq!(locate(&tree(&weights), &weights, 4.0), Ok(2));
    }

    #[test]
    fn a_block_that_drifted_is_named_and_put_right() {
        let mut weights = vec![0.0; 5000];
        weights[4321] = 1.0;
        let mut tree = tree(&weights);
        tree.add(40, 1e-17);
        assert_eq!(locate(&tree, &weights, 0.0), Err(40 / BLOCK));
        tree.set_block(40 / BLOCK, 0.0);
        assert_eq!(locate(&tree, &weights, 0.0), Ok(4321));
        assert_eq!(locate(&SumTree::new(70), &[0.0; 70], 0.0), Err(0));
    }

    #[test]
    fn a_coarse_sum_that_drifted_is_put_right_through_a_block_below_it() {
        // 40,000 entries make 5000 blocks, 79 sums of those, and 2 of these.
        let (weights, dim) = (vec![0.0; 40_000], 40_000);
        for level in [1, 2] {
            for node in [0, 1] {
                let mut tree = SumTree::new(dim);
                tree.levels[level][node] = 1e-17;
                tree.levels[2][if level == 2 { node } else { 0 }] = 1e-17;
                let block = locate(&tree, &weights, 0.0).unwrap_err();
                tree.set_block(block, 0.0);
                assert_eq!(tree.total(), 0.0, "level {level}, node {node}");
            }
        }
    }

    #[test]
    fn a_stored_tree_of_another_shape_is_refused() {
        let text = serde_json::to_string(&tree(&[1.0; 600])).unwrap();
        assert_eq!(serde_json::from_str::<SumTree<f64>>(&text).unwrap(), tree(&[1.0; 600]));
        let zeros = ",0.0".repeat(53);
        for (from, to) in [
            ("\"blocks\":75", "\"blocks\":74"),
            ("\"blocks\":75", "\"blocks\":18446744073709551615"),
            ("\"blocks\":75", "\"blocks\":0"),
            ("[[8.0", "[["),
            ("[[8.0", "[[8.0,8.0"),
            (&*zeros, ",0.5"),
            ("]]", "],[1.0]]"),
        ] {
            assert!(text.contains(from), "{from} in {text}");
            let changed = text.replacen(from, to, 1);
            assert!(serde_json::from_str::<SumTree<f64>>(&changed).is_err(), "{from} -> {to}");
        }
    }
}
