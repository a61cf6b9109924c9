//! Boosted regression trees on a few columns, for what a line leaves unexplained.
//!
//! *Source*: Friedman 2001, Algorithm 3 (least squares boosting), on histograms, leaf by leaf, as LightGBM
//! (Ke et al. 2017) grows them.
//!
//! *Notation*: r -> the residuals; n, G -> the number of the rows of a leaf, and the sum of their residuals;
//! `l2` -> [`PRIOR`]. A tree is grown by the split of largest gain,
//!
//! ```text
//! G_L^2 / (n_L + l2) + G_R^2 / (n_R + l2) - G^2 / (n + l2)
//! ```
//!
//! until it has [`LEAVES`] leaves or no split has a gain. A leaf adds `RATE G / (n + l2)` to the prediction.
//!
//! Each column is cut into at most [`BINS`] bins of about the same number of rows; a value that is more
//! frequent has a bin of its own. A split is a cut between two bins, so that a model of hundreds of trees
//! stores a column, a number of a cut and two places per split, and a number of single precision per leaf.
//!
//! *Departures*: nothing is drawn, all sums are in double precision and have a fixed order, so that the same
//! rows give the same bits. The sums of the larger part of a split are those of the whole less those of the
//! smaller part.
//!
//! *Cost*: a tree costs O(n k) for the histogram of all rows of k columns, and about as much again for the
//! smaller parts of its splits.

use lao_kernels::{Histogram, Split, SplitRule, best_split};
use lao_observation::stored::Damaged;
use serde::{Deserialize, Serialize};

/// The largest number of bins of a column.
pub use lao_kernels::BINS;

/// The largest number of leaves of a tree.
pub const LEAVES: usize = 15;
/// The part of the best step that a tree makes.
pub const RATE: f64 = 0.1;
/// The least number of rows of a leaf.
pub const LEAST_ROWS: f64 = 10.0;
/// `l2`: a leaf predicts as if it had this many rows of residual zero besides its own.
pub const PRIOR: f64 = 1.0;
/// A gain must be above this part of the sum of squares of the residuals: what is below it is rounding.
const LEAST_GAIN: f64 = 1e-12;
/// The largest number of splits of a tree in a file; a path has no more of them.
const MOST_SPLITS: usize = 255;
/// Rows that go down all trees before the next ones do, so that their bins stay in the cache.
const ROWS_AT_ONCE: usize = 1024;
/// The largest number of columns: a split has two bytes for its column.
pub const MOST_COLUMNS: usize = 1 << 16;

const NAME: &str = "trees";

/// A tree. Split 0 is the root, unless there is no split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// The column of each split.
    pub column: Vec<u16>,
    /// The number of the cut of each split, in the list of the column.
    pub cut: Vec<u8>,
    /// Where a row goes whose value is at most the cut: a later split or, as `!leaf`, a leaf.
    pub below: Vec<i16>,
    /// Where another row goes.
    pub above: Vec<i16>,
    /// What each leaf adds to the prediction.
    pub leaf: Vec<f32>,
}

/// The sum of some trees.
///
/// ```
/// use lao_algorithms::trees::{Tree, Trees};
///
/// // 0.5 where the first column is above 1.5, and -0.5 elsewhere.
/// let leaf = vec![-0.5, 0.5];
/// let tree = Tree { column: vec![0], cut: vec![0], below: vec![!0], above: vec![!1], leaf };
/// let trees = Trees { cuts: vec![vec![1.5]], scale: 1.0, trees: vec![tree], ..Trees::default() };
/// trees.validate()?;
/// assert_eq!([trees.of(&[1.5]), trees.of(&[2.0])], [-0.5, 0.5]);
/// # Ok::<(), lao_observation::stored::Damaged>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trees {
    /// The cuts of each column, ascending.
    pub cuts: Vec<Vec<f64>>,
    /// The unit of the leaves, in units of the label.
    pub scale: f64,
    /// The part of each column in the gains of all splits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<f64>,
    /// What each column adds to the prediction, the line's part included, on average over rows (partial
    /// dependence): pairs of a value and the mean of the predictions with it, less that of all values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Vec<[f64; 2]>>,
    /// The trees.
    pub trees: Vec<Tree>,
}

impl Trees {
    /// Returns the prediction for a row, one value per column. No value may be NaN.
    pub fn of(&self, row: &[f64]) -> f64 {
        let bins: Vec<u8> = self.cuts.iter().zip(row).map(|(cuts, &x)| bin_of(cuts, x)).collect();
        self.of_bins(&bins)
    }

    fn of_bins(&self, bins: &[u8]) -> f64 {
        self.scale * self.trees.iter().map(|tree| f64::from(tree.leaf[tree.leaf_of(bins)])).sum::<f64>()
    }

    /// Adds the predictions for rows, of which `columns` has the values column by column, to `sums`. No value
    /// may be NaN.
    pub fn add_to<'a>(&self, columns: impl Iterator<Item = &'a [f64]>, sums: &mut [f64]) {
        let walks: Vec<_> = self.trees.iter().map(|tree| (Walk::of(tree), tree)).collect();
        self.add_leaves(&walks, &self.bins_of(columns, sums.len()), sums);
    }

    /// Returns for each value the mean prediction for rows in which a column has it, less what trees that do
    /// not split this column give, which is the same for all values (partial dependence). The first argument
    /// has the values of the rows, column by column.
    pub(crate) fn means_with(&self, columns: &[Vec<f64>], column: usize, values: &[f64]) -> Vec<f64> {
        let (width, rows) = (self.cuts.len(), columns[column].len());
        let mut bins = self.bins_of(columns.iter().map(Vec::as_slice), rows);
        let splits = |tree: &&Tree| tree.column.iter().any(|&c| usize::from(c) == column);
        let walks: Vec<_> = self.trees.iter().filter(splits).map(|tree| (Walk::of(tree), tree)).collect();
        let mut sums = vec![0.0; rows];
        let mean = |&x: &f64| {
            let bin = bin_of(&self.cuts[column], x);
            bins.iter_mut().skip(column).step_by(width).for_each(|own| *own = bin);
            sums.fill(0.0);
            self.add_leaves(&walks, &bins, &mut sums);
            sums.iter().sum::<f64>() / rows as f64
        };
        values.iter().map(mean).collect()
    }

    /// Returns the bins of rows, row by row.
    fn bins_of<'a>(&self, columns: impl Iterator<Item = &'a [f64]>, rows: usize) -> Vec<u8> {
        let width = self.cuts.len();
        let mut bins = vec![0; width * rows];
        for (c, (cuts, column)) in self.cuts.iter().zip(columns).enumerate() {
            bins.iter_mut().skip(c).step_by(width).zip(column).for_each(|(bin, &x)| *bin = bin_of(cuts, x));
        }
        bins
    }

    /// Adds what these trees predict for rows of these bins to `sums`.
    fn add_leaves(&self, walks: &[(Walk, &Tree)], bins: &[u8], sums: &mut [f64]) {
        let width = self.cuts.len();
        let mut own = [0.0; ROWS_AT_ONCE];
        for (block, sums) in sums.chunks_mut(ROWS_AT_ONCE).enumerate() {
            // As an empty sum begins.
            own.fill(-0.0);
            let first = block * ROWS_AT_ONCE;
            for (walk, tree) in walks {
                let row = |i: usize| &bins[(first + i) * width..][..width];
                walk.leaves(sums.len(), row, |i, leaf| own[i] += f64::from(tree.leaf[leaf]));
            }
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += self.scale * own);
        }
    }

    /// Builds something from a tree, from the leaves up: `leaf` gets what a leaf adds to the prediction, in
    /// units of the label, and `split` gets a column, the cut, and what was built of the rows at most there
    /// and of those above.
    pub fn fold<T>(&self, tree: &Tree, leaf: &dyn Fn(f64) -> T, split: &dyn Fn(usize, f64, T, T) -> T) -> T {
        let root = if tree.column.is_empty() { !0 } else { 0 };
        self.fold_from(tree, root, leaf, split)
    }

    fn fold_from<T>(
        &self,
        tree: &Tree,
        place: i16,
        leaf: &dyn Fn(f64) -> T,
        split: &dyn Fn(usize, f64, T, T) -> T,
    ) -> T {
        if place < 0 {
            return leaf(self.scale * f64::from(tree.leaf[usize::from(!place as u16)]));
        }
        let at = place as usize;
        let column = usize::from(tree.column[at]);
        let [below, above] =
            [&tree.below, &tree.above].map(|next| self.fold_from(tree, next[at], leaf, split));
        split(column, self.cuts[column][usize::from(tree.cut[at])], below, above)
    }

    /// Checks that the parts fit together, so that no prediction can fail.
    ///
    /// # Errors
    /// Returns the first part that does not fit.
    pub fn validate(&self) -> Result<(), Damaged> {
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        damaged(self.cuts.len() <= MOST_COLUMNS, "there are too many columns")?;
        damaged(self.scale.is_finite(), "the unit of the leaves is no number")?;
        let shares = self.shares.is_empty() || self.shares.len() == self.cuts.len();
        damaged(shares && self.shares.iter().all(|x| *x >= 0.0), "the shares of the columns do not fit")?;
        let parts = self.parts.is_empty() || self.parts.len() == self.cuts.len();
        let finite = self.parts.iter().flatten().flatten().all(|x| x.is_finite());
        damaged(parts && finite, "the parts of the columns do not fit")?;
        let ascends = |cuts: &Vec<f64>| {
            cuts.len() < 256 && cuts.is_sorted_by(|a, b| a < b) && cuts.iter().all(|x| x.is_finite())
        };
        damaged(self.cuts.iter().all(ascends), "the cuts of a column do not ascend")?;
        for Tree { column, cut, below, above, leaf } in &self.trees {
            let splits = column.len();
            let whole = [cut.len(), below.len(), above.len()] == [splits; 3] && leaf.len() == splits + 1;
            damaged(whole && splits <= MOST_SPLITS, "the lists of a tree do not fit together")?;
            damaged(leaf.iter().all(|x| x.is_finite()), "a leaf is no number")?;
            let has_cut = |(&column, &cut): (&u16, &u8)| {
                self.cuts.get(usize::from(column)).is_some_and(|cuts| usize::from(cut) < cuts.len())
            };
            damaged(column.iter().zip(cut).all(has_cut), "a split is at no cut")?;
            // Each split and each leaf has one place, and a split comes after the one that it follows.
            let mut seen = vec![false; 2 * splits + 1];
            for (at, &next) in below.iter().enumerate().chain(above.iter().enumerate()) {
                let place = if next < 0 { splits + usize::from(!next as u16) } else { next as usize };
                let later = next < 0 || next as usize > at && (next as usize) < splits;
                let fresh = seen.get_mut(place).is_some_and(|seen| !std::mem::replace(seen, true));
                damaged(later && fresh, "a split leads nowhere, or where another one does")?;
            }
        }
        Ok(())
    }
}

impl Tree {
    fn leaf_of(&self, bins: &[u8]) -> usize {
        if self.column.is_empty() {
            return 0;
        }
        let mut at = 0;
        loop {
            let is_below = bins[usize::from(self.column[at])] <= self.cut[at];
            let next = if is_below { self.below[at] } else { self.above[at] };
            if next < 0 {
                return usize::from(!next as u16);
            }
            at = next as usize;
        }
    }
}

/// A tree that several rows go down at a time, without a branch on a value, which no processor foresees.
struct Walk {
    /// The splits, and after them the leaves, where a row stays.
    steps: Vec<WalkStep>,
    splits: usize,
    /// The splits of the longest path.
    depth: u8,
}

#[derive(Clone, Copy)]
struct WalkStep {
    column: u16,
    cut: u8,
    /// Where a row goes whose value is at most the cut, and where another one does.
    next: [u16; 2],
}

impl Walk {
    fn of(tree: &Tree) -> Self {
        let splits = tree.column.len();
        let place = |next: i16| if next < 0 { splits as u16 + !next as u16 } else { next as u16 };
        let mut steps = Vec::with_capacity(2 * splits + 1);
        let mut depths = vec![0u8; 2 * splits + 1];
        for at in 0..splits {
            let next = [place(tree.below[at]), place(tree.above[at])];
            steps.push(WalkStep { column: tree.column[at], cut: tree.cut[at], next });
            // A split comes after the one that it follows.
            next.iter().for_each(|&next| depths[usize::from(next)] = depths[at] + 1);
        }
        steps.extend((splits..=2 * splits).map(|at| WalkStep { column: 0, cut: 0, next: [at as u16; 2] }));
        Walk { steps, splits, depth: depths.into_iter().max().unwrap_or(0) }
    }

    /// Calls `found` with each of so many rows, whose bins `bins` returns, and its leaf.
    fn leaves<'a>(&self, rows: usize, bins: impl Fn(usize) -> &'a [u8], mut found: impl FnMut(usize, usize)) {
        /// Rows whose steps the processor takes at the same time.
        const TOGETHER: usize = 8;
        for first in (0..rows).step_by(TOGETHER) {
            // Of the last rows some go down more than once.
            let of_rows: [&[u8]; TOGETHER] = std::array::from_fn(|i| bins((first + i).min(rows - 1)));
            let mut at = [0; TOGETHER];
            for _ in 0..self.depth {
                for (at, bins) in at.iter_mut().zip(of_rows) {
                    let step = self.steps[usize::from(*at)];
                    *at = step.next[usize::from(bins[usize::from(step.column)] > step.cut)];
                }
            }
            let last = TOGETHER.min(rows - first);
            at[..last]
                .iter()
                .enumerate()
                .for_each(|(i, &at)| found(first + i, usize::from(at) - self.splits));
        }
    }
}

/// Returns the bin of a value: the number of cuts below it.
fn bin_of(cuts: &[f64], x: f64) -> u8 {
    cuts.partition_point(|&cut| cut < x) as u8
}

/// Returns the cuts between bins of about the same number of rows.
fn cuts_of(column: &[f64]) -> Vec<f64> {
    let mut sorted = column.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (mut cuts, mut rest, mut filled, mut seen) = (Vec::new(), sorted.len(), 0, 0);
    for equal in sorted.chunk_by(|a, b| a == b) {
        (filled, seen) = (filled + equal.len(), seen + equal.len());
        let Some(&next) = sorted.get(seen) else { break };
        if filled * (BINS - cuts.len()) >= rest {
            let between = equal[0] + (next - equal[0]) / 2.0;
            cuts.push(if between < next { between } else { equal[0] });
            (rest, filled) = (rest - filled, 0);
            if cuts.len() == BINS - 1 {
                break;
            }
        }
    }
    cuts
}

/// Columns cut into bins.
pub(crate) struct Binned {
    pub cuts: Vec<Vec<f64>>,
    /// The bins, row by row.
    bins: Vec<u8>,
}

impl Binned {
    /// Cuts columns of the same number of rows, without NaN.
    pub fn of(columns: &[&[f64]]) -> Self {
        let cuts: Vec<Vec<f64>> = columns.iter().map(|column| cuts_of(column)).collect();
        let (rows, width) = (columns.first().map_or(0, |column| column.len()), columns.len());
        let mut bins = vec![0; rows * width];
        for (c, (cuts, column)) in cuts.iter().zip(columns).enumerate() {
            bins.iter_mut().skip(c).step_by(width).zip(*column).for_each(|(bin, &x)| *bin = bin_of(cuts, x));
        }
        Binned { cuts, bins }
    }

    fn row(&self, row: usize) -> &[u8] {
        &self.bins[row * self.cuts.len()..][..self.cuts.len()]
    }
}

/// A leaf of a tree that grows.
struct Leaf {
    /// Its rows, as a part of the list of rows.
    from: usize,
    until: usize,
    /// The sum of the residuals of its rows.
    sum: f64,
    /// One per column.
    histograms: Vec<Histogram>,
    /// The split of largest gain.
    best: Option<Split>,
    /// The split that leads to it, and whether it is the one above.
    parent: Option<(usize, bool)>,
}

impl Leaf {
    fn rows(&self) -> f64 {
        (self.until - self.from) as f64
    }

    /// Finds the split of largest gain, if one has a gain above `least` and parts that are large enough.
    fn split_best(mut self, least: f64) -> Self {
        // Bins beyond the cuts of a column are empty, and each part needs rows: a split is at one of the
        // cuts.
        let rule = SplitRule { prior: PRIOR, least_rows: LEAST_ROWS, least_gain: least };
        if self.rows() >= 2.0 * LEAST_ROWS {
            self.best = best_split(&self.histograms, (self.sum, self.rows()), rule);
        }
        self
    }
}

/// Boosting: trees, one after the other, on what those before leave unexplained.
pub(crate) struct Boost<'a> {
    binned: &'a Binned,
    /// What is left unexplained of each row, those that trees do not learn from among them.
    pub residuals: Vec<f64>,
    pub trees: Vec<Tree>,
    /// The gain of each column.
    pub gains: Vec<f64>,
    /// The rows to learn from; the leaves of a tree divide the list.
    rows: Vec<u32>,
    /// The other rows.
    held_out: Vec<u32>,
    scratch: Vec<u32>,
    free: Vec<Vec<Histogram>>,
}

impl<'a> Boost<'a> {
    /// Begins with the residuals of all rows, of which these are learned from.
    pub fn new(binned: &'a Binned, residuals: Vec<f64>, rows: Vec<u32>) -> Self {
        let gains = vec![0.0; binned.cuts.len()];
        let mut learned = vec![false; residuals.len()];
        rows.iter().for_each(|&row| learned[row as usize] = true);
        let held_out = (0..residuals.len() as u32).filter(|&row| !learned[row as usize]).collect();
        let (scratch, free) = (Vec::new(), Vec::new());
        Boost { binned, residuals, trees: Vec::new(), gains, rows, held_out, scratch, free }
    }

    /// Adds a tree; returns whether it has a split.
    pub fn step(&mut self) -> bool {
        let tree = self.grow();
        let Boost { binned, residuals, held_out, .. } = self;
        let bins = |i: usize| binned.row(held_out[i] as usize);
        Walk::of(&tree).leaves(held_out.len(), bins, |i, leaf| {
            residuals[held_out[i] as usize] -= f64::from(tree.leaf[leaf]);
        });
        let splits = !tree.column.is_empty();
        self.trees.push(tree);
        splits
    }

    /// Grows a tree, and takes what it predicts from the residuals of the rows to learn from.
    fn grow(&mut self) -> Tree {
        let squares: f64 = self.rows.iter().map(|&row| self.residuals[row as usize].powi(2)).sum();
        let least = LEAST_GAIN * squares;
        let mut tree = Tree::default();
        let mut leaves = vec![self.leaf(0, self.rows.len(), None, least)];
        while leaves.len() < LEAVES {
            // Of equal gains the first.
            let mut best: Option<(usize, Split)> = None;
            for (i, leaf) in leaves.iter().enumerate() {
                if let Some(own) = leaf.best
                    && best.is_none_or(|(_, best)| own.gain > best.gain)
                {
                    best = Some((i, own));
                }
            }
            let Some((i, best)) = best else { break };
            let leaf = leaves.swap_remove(i);
            self.gains[best.column] += best.gain;
            let split = tree.column.len();
            tree.column.push(best.column as u16);
            tree.cut.push(best.cut as u8);
            tree.below.push(0);
            tree.above.push(0);
            Self::link(&mut tree, leaf.parent, split as i16);
            let middle = self.divide(&leaf, best);
            leaves.extend(self.children(leaf, middle, split, least));
        }
        for leaf in leaves {
            let place = !(tree.leaf.len() as i16);
            Self::link(&mut tree, leaf.parent, place);
            let adds = (RATE * leaf.sum / (leaf.rows() + PRIOR)) as f32;
            tree.leaf.push(adds);
            let own = &self.rows[leaf.from..leaf.until];
            own.iter().for_each(|&row| self.residuals[row as usize] -= f64::from(adds));
            self.free.push(leaf.histograms);
        }
        tree
    }

    fn link(tree: &mut Tree, parent: Option<(usize, bool)>, place: i16) {
        match parent {
            Some((split, true)) => tree.above[split] = place,
            Some((split, false)) => tree.below[split] = place,
            None => {}
        }
    }

    /// Puts the rows below the cut before the others, either in their order; returns where these begin.
    fn divide(&mut self, leaf: &Leaf, best: Split) -> usize {
        let (binned, cut) = (self.binned, best.cut as u8);
        let Boost { rows, scratch, .. } = self;
        let own = &mut rows[leaf.from..leaf.until];
        scratch.resize(own.len(), 0);
        // Each row is written to both lists and kept in one, without a branch that no processor foresees.
        let (mut kept, mut others) = (0, 0);
        for at in 0..own.len() {
            let row = own[at];
            let is_below = binned.row(row as usize)[best.column] <= cut;
            (own[kept], scratch[others]) = (row, row);
            kept += usize::from(is_below);
            others += usize::from(!is_below);
        }
        own[kept..].copy_from_slice(&scratch[..others]);
        leaf.from + kept
    }

    /// Returns the two parts of a leaf.
    fn children(&mut self, leaf: Leaf, middle: usize, split: usize, least: f64) -> [Leaf; 2] {
        let below_is_smaller = middle - leaf.from <= leaf.until - middle;
        let (from, until) = if below_is_smaller { (leaf.from, middle) } else { (middle, leaf.until) };
        let smaller = self.leaf(from, until, Some((split, !below_is_smaller)), least);
        let (from, until) = if below_is_smaller { (middle, leaf.until) } else { (leaf.from, middle) };
        let mut histograms = leaf.histograms;
        for (own, other) in histograms.iter_mut().zip(&smaller.histograms) {
            own.sums.iter_mut().zip(other.sums).for_each(|(own, other)| *own -= other);
            own.rows.iter_mut().zip(other.rows).for_each(|(own, other)| *own -= other);
        }
        let parent = Some((split, below_is_smaller));
        let larger = Leaf { from, until, sum: leaf.sum - smaller.sum, histograms, best: None, parent };
        [smaller, larger.split_best(least)]
    }

    /// Returns the leaf of a part of the rows.
    fn leaf(&mut self, from: usize, until: usize, parent: Option<(usize, bool)>, least: f64) -> Leaf {
        let mut histograms = self.free.pop().unwrap_or_default();
        histograms.clear();
        histograms.resize(self.binned.cuts.len(), Histogram::default());
        let mut sum = 0.0;
        for &row in &self.rows[from..until] {
            let residual = self.residuals[row as usize];
            sum += residual;
            for (column, &bin) in histograms.iter_mut().zip(self.binned.row(row as usize)) {
                let bin = usize::from(bin) % BINS;
                column.sums[bin] += residual;
                column.rows[bin] += 1.0;
            }
        }
        Leaf { from, until, sum, histograms, best: None, parent }.split_best(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_observation::Seed;
    use rand::RngExt as _;

    /// Three columns of which the product of the first two signs is the label.
    fn product(rows: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut rng = Seed::root(1).rng();
        let columns: Vec<Vec<f64>> =
            (0..3).map(|_| (0..rows).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
        let labels =
            (0..rows).map(|i| (columns[0][i] * columns[1][i] + 0.1 * columns[0][i]).signum()).collect();
        (columns, labels)
    }

    fn views(columns: &[Vec<f64>]) -> Vec<&[f64]> {
        columns.iter().map(Vec::as_slice).collect()
    }

    #[test]
    fn trees_learn_a_product_that_no_line_does() {
        let (columns, labels) = product(2000);
        let binned = Binned::of(&views(&columns));
        let mut boost = Boost::new(&binned, labels.clone(), (0..1000).collect());
        for _ in 0..200 {
            boost.step();
        }
        let error = |rows: std::ops::Range<usize>| boost.residuals[rows].iter().map(|r| r * r).sum::<f64>();
        assert!(error(1000..2000) < 200.0, "on the other rows {}", error(1000..2000));
        assert!(boost.gains[2] < 0.1 * boost.gains[1], "{:?}", boost.gains);
        let trees = Trees {
            cuts: binned.cuts.clone(),
            scale: 1.0,
            shares: Vec::new(),
            parts: Vec::new(),
            trees: boost.trees.clone(),
        };
        trees.validate().unwrap();
        let mut sums = vec![0.0; 2000];
        trees.add_to(columns.iter().map(Vec::as_slice), &mut sums);
        for (row, sum) in sums.iter().enumerate() {
            assert!((labels[row] - sum - boost.residuals[row]).abs() < 1e-9);
            assert_eq!(*sum, trees.of(&[columns[0][row], columns[1][row], columns[2][row]]));
        }
    }

    #[test]
    fn means_with_a_value_are_those_of_all_trees_but_for_a_constant() {
        let (columns, labels) = product(300);
        let binned = Binned::of(&views(&columns));
        let mut boost = Boost::new(&binned, labels, (0..300).collect());
        for _ in 0..40 {
            boost.step();
        }
        let trees = Trees {
            cuts: binned.cuts.clone(),
            scale: 2.0,
            shares: Vec::new(),
            parts: Vec::new(),
            trees: boost.trees.clone(),
        };
        for column in 0..3 {
            let values = [-1.5, -0.3, 0.2, 2.0];
            let naive = values.map(|x| {
                let of = |row: usize| {
                    let value = |c: usize| if c == column { x } else { columns[c][row] };
                    trees.of(&[value(0), value(1), value(2)])
                };
                (0..300).map(of).sum::<f64>() / 300.0
            });
            let fast = trees.means_with(&columns, column, &values);
            for (one, other) in fast.iter().zip(naive) {
                assert!(((one - fast[0]) - (other - naive[0])).abs() < 1e-12);
            }
        }
        assert!(trees.means_with(&columns, 0, &[-1.0, 1.0]).iter().any(|mean| mean.abs() > 0.01));
    }

    #[test]
    fn a_split_is_the_one_of_largest_gain_of_all() {
        let (columns, labels) = product(300);
        let binned = Binned::of(&views(&columns));
        let mut boost = Boost::new(&binned, labels.clone(), (0..300).collect());
        let all: Vec<usize> = (0..300).collect();
        let score = |rows: &[usize]| {
            rows.iter().map(|&i| labels[i]).sum::<f64>().powi(2) / (rows.len() as f64 + PRIOR)
        };
        let mut naive: Option<(f64, usize, usize)> = None;
        for (c, column) in columns.iter().enumerate() {
            for (k, &cut) in binned.cuts[c].iter().enumerate() {
                let (below, above): (Vec<usize>, Vec<usize>) = all.iter().partition(|&&i| column[i] <= cut);
                let gain = score(&below) + score(&above) - score(&all);
                let enough = below.len().min(above.len()) >= LEAST_ROWS as usize;
                if enough && naive.is_none_or(|(best, ..)| gain > best + 1e-9) {
                    naive = Some((gain, c, k));
                }
            }
        }
        let tree = boost.grow();
        let (gain, column, cut) = naive.unwrap();
        assert_eq!((usize::from(tree.column[0]), usize::from(tree.cut[0])), (column, cut));
        assert!(boost.gains.iter().sum::<f64>() >= gain);
        // Each leaf predicts the mean of its rows, shrunk.
        for leaf in 0..tree.leaf.len() {
            let rows: Vec<usize> =
                all.iter().copied().filter(|&i| tree.leaf_of(binned.row(i)) == leaf).collect();
            let sum: f64 = rows.iter().map(|&i| labels[i]).sum();
            let shrunk = RATE * sum / (rows.len() as f64 + PRIOR);
            assert!(rows.len() >= LEAST_ROWS as usize && (f64::from(tree.leaf[leaf]) - shrunk).abs() < 1e-7);
        }
    }

    #[test]
    fn bins_hold_about_as_many_rows_and_frequent_values_their_own() {
        let even: Vec<f64> = (0..1600).map(f64::from).collect();
        assert_eq!(cuts_of(&even), (1..16).map(|i| 100.0 * f64::from(i) - 0.5).collect::<Vec<_>>());
        let mostly_zero: Vec<f64> = (0..1000).map(|i| if i < 900 { 0.0 } else { f64::from(i) }).collect();
        let cuts = cuts_of(&mostly_zero);
        assert!(cuts.len() == 15 && cuts[0] > 0.0 && cuts[1] < 910.0, "{cuts:?}");
        assert_eq!(cuts_of(&[1.0, 1.0, 2.0, 3.0]), [1.5, 2.5]);
        assert_eq!(cuts_of(&[7.0; 5]), [0.0; 0]);
        assert_eq!(cuts_of(&[]), [0.0; 0]);
        let close = [1.0, 1.0f64.next_up()];
        assert_eq!([bin_of(&cuts_of(&close), close[0]), bin_of(&cuts_of(&close), close[1])], [0, 1]);
    }

    #[test]
    fn hostile_rows_give_finite_trees() {
        for labels in [[0.0; 40], [1e70; 40], std::array::from_fn(|i| if i == 7 { 1e30 } else { 0.0 })] {
            let columns =
                [[0.0; 40], std::array::from_fn(|i| i as f64 * 1e68), std::array::from_fn(|i| -(i as f64))];
            let binned = Binned::of(&columns.each_ref().map(|column| &column[..]));
            let mut boost = Boost::new(&binned, labels.map(|y| y / 1e40).to_vec(), (0..40).collect());
            for _ in 0..20 {
                boost.step();
            }
            Trees {
                cuts: binned.cuts.clone(),
                scale: 1.0,
                shares: Vec::new(),
                parts: Vec::new(),
                trees: boost.trees,
            }
            .validate()
            .unwrap();
        }
        let binned = Binned::of(&[]);
        let mut boost = Boost::new(&binned, vec![1.0; 30], (0..30).collect());
        assert!(!boost.step() && boost.residuals[0] < 1.0);
        let mut of_nothing = Boost::new(&binned, Vec::new(), Vec::new());
        assert!(!of_nothing.step());
    }

    #[test]
    fn damaged_trees_are_refused() {
        let tree =
            Tree { column: vec![0], cut: vec![0], below: vec![!0], above: vec![!1], leaf: vec![0.0; 2] };
        let whole = Trees {
            cuts: vec![vec![0.5]],
            scale: 1.0,
            shares: Vec::new(),
            parts: Vec::new(),
            trees: vec![tree.clone()],
        };
        whole.validate().unwrap();
        let damages: [fn(&mut Trees); 9] = [
            |t| t.trees[0].below[0] = 0,
            |t| t.trees[0].below[0] = !1,
            |t| t.trees[0].above[0] = !2,
            |t| t.trees[0].above[0] = 5,
            |t| t.trees[0].column[0] = 1,
            |t| t.trees[0].cut[0] = 1,
            |t| t.trees[0].leaf[1] = f32::NAN,
            |t| t.trees[0].leaf.truncate(1),
            |t| t.cuts[0] = vec![1.0, 0.5],
        ];
        for (i, damage) in damages.into_iter().enumerate() {
            let mut damaged = whole.clone();
            damage(&mut damaged);
            assert!(damaged.validate().is_err(), "damage {i}");
        }
    }
}
