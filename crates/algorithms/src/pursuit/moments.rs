//! What Pursuit remembers of the examples: sums over the examples in which an attribute, or a pair of
//! attributes, was observed.

use super::{NAME, Rule, WITHIN};
use crate::state;
use lao_kernels::{panel_clip, panel_moments, panel_products, sum};
use lao_observation::stored::Damaged;
use serde::{Deserialize, Serialize};

/// Sums of attributes and pairs. Values and labels enter as deviations from their means so far, so that sums
/// of squares do not cancel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Moments {
    /// `N`, the number of examples.
    pub examples: u64,
    /// `N` less the weight of all examples; 0 if nothing is forgotten, and each weighs 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: f64,
    /// The mean of the labels.
    pub label_mean: f64,
    /// `sum v^2`, for the deviation `v` of the label.
    #[serde(default)]
    pub label_square: f64,
    /// `sum r^2` over all examples; `r` is the error of the prediction before the example was learned from.
    #[serde(default)]
    pub errors: f64,
    /// `n_j`, the number of examples in which attribute j was observed, or their weight.
    pub seen: Vec<f64>,
    /// The number of examples in which attribute j was asked for, or their weight; empty as long as nothing
    /// that was asked for was missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<f64>,
    /// Values of watched attributes that were missing.
    #[serde(default, skip_serializing_if = "is_none")]
    pub gaps: u64,
    /// The means of the attributes.
    pub mean: Vec<f64>,
    /// `sum u_j^2`, for the deviation `u_j` of attribute j.
    pub square: Vec<f64>,
    /// `sum u_j v`, for the deviation `v` of the label.
    pub label: Vec<f64>,
    /// `sum r^2` over the examples in which j was observed; `r` is the error of the prediction before the
    /// example was learned from.
    pub error: Vec<f64>,
    /// `sum u_j^2 r^2`.
    pub error_square: Vec<f64>,
    /// The watched attributes and their pairs.
    pub pairs: Pairs,
    /// The rule that is left out.
    #[serde(skip)]
    pub without: Option<Rule>,
}

/// A block of examples. Its columns are interleaved four by four: value `i` of column `c` is
/// `values[c / 4 * rows + i][c % 4]`, and what is beyond the last column is 0.
pub(super) struct Panel<'a> {
    /// The attribute of each column; the watched ones come first.
    pub attributes: &'a [u32],
    /// The values; [`Moments::absorb`] subtracts the means.
    pub values: &'a mut [[f64; 4]],
    /// The labels; the mean is subtracted.
    pub labels: &'a mut [f64],
    /// The errors of the predictions.
    pub errors: &'a mut [f64],
    /// What is missing, row by row.
    pub gaps: &'a [Gap],
    /// The weight of each row; empty if each weighs 1.
    pub weights: &'a [f64],
}

/// A value that was asked for and is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Gap {
    /// The row of the block.
    pub row: u32,
    /// The column of the block.
    pub column: u32,
}

/// Returns the number of groups of four columns.
pub(super) fn groups(columns: usize) -> usize {
    columns.div_ceil(4)
}

/// Returns `of` of each attribute of a group of four columns, and 0 beyond the last.
fn lanes(group: &[u32], of: impl Fn(usize) -> f64) -> [f64; 4] {
    std::array::from_fn(|lane| group.get(lane).map_or(0.0, |&j| of(j as usize)))
}

/// Returns the weight of a row.
pub(super) fn weight_of(weights: &[f64], row: usize) -> f64 {
    weights.get(row).copied().unwrap_or(1.0)
}

/// Returns the weight of all of these rows.
pub(super) fn weight_of_all(weights: &[f64], rows: usize) -> f64 {
    if weights.is_empty() { rows as f64 } else { sum(weights) }
}

impl Moments {
    pub fn new(dim: usize, watched: usize) -> Self {
        let zeros = vec![0.0; dim];
        Moments {
            examples: 0,
            forgotten: 0.0,
            label_mean: 0.0,
            label_square: 0.0,
            errors: 0.0,
            seen: zeros.clone(),
            tried: Vec::new(),
            gaps: 0,
            mean: zeros.clone(),
            square: zeros.clone(),
            label: zeros.clone(),
            error: zeros.clone(),
            error_square: zeros,
            pairs: Pairs::new(dim, watched),
            without: None,
        }
    }

    /// Returns whether a rule holds.
    pub fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    /// Makes room for attributes that join, up to `dim` of them, and up to `watched` that are watched.
    pub fn join(&mut self, dim: usize, watched: usize) {
        let Moments { seen, tried, mean, square, label, error, error_square, pairs, .. } = self;
        for list in [seen, mean, square, label, error, error_square] {
            list.resize(dim, 0.0);
        }
        if !tried.is_empty() {
            tried.resize(dim, 0.0);
        }
        pairs.join(dim, watched);
    }

    /// Returns the weight of all examples: their number, if nothing is forgotten.
    pub fn weight(&self) -> f64 {
        self.examples as f64 - self.forgotten
    }

    /// Multiplies the weight of all examples so far by `kept`, at most 1.
    pub fn forget(&mut self, kept: f64) {
        self.forgotten += (1.0 - kept) * self.weight();
        self.label_square *= kept;
        self.errors *= kept;
        let Moments { seen, tried, square, label, error, error_square, pairs, .. } = self;
        let lists = [seen, tried, square, label, error, error_square];
        lists.into_iter().flatten().for_each(|sum| *sum *= kept);
        pairs.forget(kept);
    }

    /// Moves values that lie beyond the range of their attribute to its end, and updates the means of the
    /// attributes. Subtracts from `errors` what the coefficients say; they belong to the first columns.
    pub fn clip(
        &mut self,
        attributes: &[u32],
        values: &mut [[f64; 4]],
        coefficients: &[f64],
        errors: &mut [f64],
        gaps: &[Gap],
        weights: &[f64],
    ) {
        let rows = errors.len();
        let weight = weight_of_all(weights, rows);
        let missing = self.count_gaps(attributes, weight, gaps, weights);
        self.fill(attributes, values, rows, gaps);
        for (at, (group, values)) in attributes.chunks(4).zip(values.chunks_exact_mut(rows)).enumerate() {
            let low = lanes(group, |j| self.range(j as u32).0);
            let high = lanes(group, |j| self.range(j as u32).1);
            let mean = lanes(group, |j| self.mean[j]);
            let mut sums = panel_clip(values, low, high, mean);
            if !weights.is_empty() {
                sums = [0.0; 4];
                for (x, weight) in values.iter().zip(weights) {
                    (0..4).for_each(|lane| sums[lane] += weight * (x[lane] - mean[lane]));
                }
            }
            if let Some(of_group) = coefficients.get(4 * at..) {
                let b: [f64; 4] = std::array::from_fn(|lane| of_group.get(lane).copied().unwrap_or(0.0));
                for (error, x) in errors.iter_mut().zip(&*values) {
                    *error -= (b[0] * x[0] + b[1] * x[1]) + (b[2] * x[2] + b[3] * x[3]);
                }
            }
            for (lane, (&j, sum)) in group.iter().zip(sums).enumerate() {
                let j = j as usize;
                self.seen[j] += weight - missing.get(4 * at + lane).unwrap_or(&0.0);
                if self.seen[j] > 0.0 {
                    self.mean[j] += sum / self.seen[j];
                }
            }
        }
        self.fill(attributes, values, rows, gaps);
    }

    /// Counts what was asked for in examples of this weight; returns for each column the weight of those in
    /// which it is missing, or nothing if there are no gaps.
    fn count_gaps(&mut self, attributes: &[u32], weight: f64, gaps: &[Gap], weights: &[f64]) -> Vec<f64> {
        if self.tried.is_empty() && !gaps.is_empty() {
            self.tried.clone_from(&self.seen);
        }
        if !self.tried.is_empty() {
            attributes.iter().for_each(|&j| self.tried[j as usize] += weight);
        }
        let mut missing = vec![0.0; if gaps.is_empty() { 0 } else { attributes.len() }];
        gaps.iter().for_each(|gap| missing[gap.column as usize] += weight_of(weights, gap.row as usize));
        missing
    }

    /// Takes back that attribute `j` was asked for in an example.
    pub fn was_not_asked(&mut self, j: u32) {
        if let Some(tried) = self.tried.get_mut(j as usize) {
            *tried -= 1.0;
        }
    }

    /// Puts the mean of its attribute in the place of what is missing, which then adds nothing to a sum.
    fn fill(&self, attributes: &[u32], values: &mut [[f64; 4]], rows: usize, gaps: &[Gap]) {
        for &Gap { column, row } in gaps {
            let (column, row) = (column as usize, row as usize);
            values[column / 4 * rows + row][column % 4] = self.mean[attributes[column] as usize];
        }
    }

    /// Returns the part of the asks for attribute `j` that was answered, about; 1 if nothing is ever missing.
    pub fn availability(&self, j: u32) -> f64 {
        let j = j as usize;
        let tried = self.tried.get(j).filter(|_| self.has(Rule::Availability));
        tried.map_or(1.0, |tried| (self.seen[j] + 1.0) / (tried + 1.0))
    }

    /// Returns whether attribute `j` was never asked for.
    pub fn untried(&self, j: u32) -> bool {
        self.seen[j as usize] == 0.0 && self.tried.get(j as usize).is_none_or(|tried| *tried == 0.0)
    }

    /// Updates the mean of the labels with those of a block.
    pub fn absorb_labels(&mut self, labels: &[f64], weights: &[f64]) {
        let (rows, weight) = (labels.len() as f64, weight_of_all(weights, labels.len()));
        self.examples += labels.len() as u64;
        self.forgotten += rows - weight;
        let sum = if weights.is_empty() {
            sum(labels)
        } else {
            labels.iter().zip(weights).map(|(y, w)| y * w).sum()
        };
        if self.weight() > 0.0 {
            self.label_mean += (sum - weight * self.label_mean) / self.weight();
        }
    }

    /// Updates all sums with a block whose values were [clipped](Self::clip), and whose labels were
    /// [absorbed](Self::absorb_labels).
    pub fn absorb(&mut self, block: Panel<'_>) {
        let Panel { attributes, values, labels, errors, gaps, weights } = block;
        let rows = labels.len();
        labels.iter_mut().for_each(|y| *y -= self.label_mean);
        self.weigh(attributes, values, labels, errors, weights);
        self.label_square += labels.iter().map(|v| v * v).sum::<f64>();
        let error: f64 = errors.iter().map(|r| r * r).sum();
        self.errors += error;
        for (group, values) in attributes.chunks(4).zip(values.chunks_exact_mut(rows)) {
            let mean = lanes(group, |j| self.mean[j]);
            let [square, label, error_square] = panel_moments(values, mean, labels, errors);
            for (lane, &j) in group.iter().enumerate() {
                let j = j as usize;
                self.square[j] += square[lane];
                self.label[j] += label[lane];
                self.error[j] += error;
                self.error_square[j] += error_square[lane];
            }
        }
        for gap in gaps {
            self.error[attributes[gap.column as usize] as usize] -= errors[gap.row as usize].powi(2);
        }
        self.pairs.absorb(attributes, values, rows);
        self.gaps += self.pairs.miss(attributes, gaps, weights);
    }

    /// Multiplies deviations and errors by the root of the weight of their row: all sums of products of two
    /// of them are then weighted, and `sum u_j^2 r^2` has the squared weight, as the variance of a weighted
    /// sum has.
    fn weigh(
        &self,
        attributes: &[u32],
        values: &mut [[f64; 4]],
        labels: &mut [f64],
        errors: &mut [f64],
        weights: &[f64],
    ) {
        if weights.is_empty() {
            return;
        }
        let root = |row: usize| weight_of(weights, row).sqrt();
        labels.iter_mut().enumerate().for_each(|(row, v)| *v *= root(row));
        errors.iter_mut().enumerate().for_each(|(row, r)| *r *= root(row));
        for (group, values) in attributes.chunks(4).zip(values.chunks_exact_mut(labels.len())) {
            let mean = lanes(group, |j| self.mean[j]);
            for (row, x) in values.iter_mut().enumerate() {
                *x = std::array::from_fn(|lane| mean[lane] + root(row) * (x[lane] - mean[lane]));
            }
        }
    }

    /// Watches attribute `k`: from now on its products with all attributes observed beside it are summed.
    pub fn watch(&mut self, k: u32) {
        self.pairs.watch(k as usize, &self.seen, self.square[k as usize]);
    }

    /// Returns the sum of the products of `j` with the attribute that is watched in `slot`, and the number of
    /// examples in which both were observed.
    pub fn pair(&self, j: u32, slot: usize) -> (f64, f64) {
        let (sums, void) = self.pairs.of(slot);
        (sums[j as usize], self.seen[j as usize] - void[j as usize])
    }

    /// Returns the mean of `u_j u_k` for the attribute k that is watched in `slot`; 0 if the two were never
    /// observed together.
    pub fn product(&self, j: u32, slot: usize) -> f64 {
        let (sum, count) = self.pair(j, slot);
        sum / count.max(1.0)
    }

    /// Returns the variance of attribute `j`; zero for a constant one.
    pub fn variance(&self, j: u32) -> f64 {
        let j = j as usize;
        let variance = self.square[j] / self.seen[j].max(1.0);
        let rounding = 1e-12 * self.mean[j];
        if variance > rounding * rounding { variance } else { 0.0 }
    }

    /// Returns the range beyond which values of attribute `j` are not believed: all numbers, as long as its
    /// values do not vary.
    pub fn range(&self, j: u32) -> (f64, f64) {
        let (mean, width) = (self.mean[j as usize], WITHIN * self.variance(j).sqrt());
        if width > 0.0 && (mean - width) < (mean + width) && self.has(Rule::Clip) {
            (mean - width, mean + width)
        } else {
            (f64::MIN, f64::MAX)
        }
    }

    /// Returns the mean of `u_j v`.
    pub fn label_product(&self, j: u32) -> f64 {
        self.label[j as usize] / self.seen[j as usize].max(1.0)
    }

    /// Returns how much larger the errors are where attribute `j` was observed than they are on average,
    /// beyond what is chance, and at least 1: it may have been observed while errors were large.
    pub fn timing(&self, j: u32) -> f64 {
        let j = j as usize;
        let (of_j, of_all) = (self.error[j] * self.weight(), self.errors * self.seen[j]);
        let by_chance = 4.0 / self.seen[j].max(1.0).sqrt();
        let is_more = of_all > 0.0 && of_j > (1.0 + by_chance) * of_all;
        if is_more && self.has(Rule::Timing) { of_j / of_all - by_chance } else { 1.0 }
    }

    /// Returns how much larger the variance of `u_j r` is than the product of the variances, beyond what is
    /// chance, and at least 1: large values of the attribute may come with large errors.
    pub fn unevenness(&self, j: u32) -> f64 {
        let j = j as usize;
        let even = self.square[j] * self.error[j];
        let ratio = self.error_square[j] * self.seen[j] / even;
        let by_chance = 4.0 / self.seen[j].max(1.0).sqrt();
        let is_more = even > 0.0 && ratio > 1.0 + by_chance;
        if is_more && self.has(Rule::Unevenness) { ratio - by_chance } else { 1.0 }
    }

    pub fn validate(&self, dim: usize, watched: usize) -> Result<(), Damaged> {
        let Moments { seen, mean, square, label, error, error_square, pairs, .. } = self;
        state::count(NAME, "the number of examples", self.examples)?;
        for list in [seen, mean, square, label, error, error_square] {
            state::length(NAME, "a list of sums", list.len(), dim)?;
        }
        let forgotten = self.forgotten.is_finite() && self.weight() >= 0.0;
        Damaged::unless(forgotten, NAME, || "more was forgotten than was observed")?;
        // Of weights that are no whole numbers, sums are rounded.
        let most = 1.000_001 * self.weight().max(self.examples as f64);
        let few = seen.iter().all(|n| (0.0..=most).contains(n));
        Damaged::unless(few, NAME, || "an attribute was observed in more examples than there were")?;
        if !self.tried.is_empty() {
            state::length(NAME, "the list of asks", self.tried.len(), dim)?;
            let more = self.tried.iter().zip(seen).all(|(tried, seen)| tried >= seen);
            Damaged::unless(
                more,
                NAME,
                || "an attribute was observed in more examples than it was asked for",
            )?;
        }
        state::count(NAME, "the number of gaps", self.gaps)?;
        let squares = self.label_square >= 0.0 && self.errors >= 0.0;
        Damaged::unless(squares, NAME, || "a sum of squares is negative")?;
        pairs.validate(seen, watched)
    }
}

/// Returns whether a state need not have this number.
pub(super) fn is_none(x: &u64) -> bool {
    *x == 0
}

/// Returns whether a state need not have this number.
pub(super) fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// The sums of products of pairs: of every attribute with those that are watched.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pairs {
    /// The watched attributes. The place of an attribute in this list is its slot.
    pub slots: Vec<Option<u32>>,
    /// The number of attributes.
    dim: usize,
    /// `sum u_j u_k` over the examples in which both were observed while k was watched: for each slot, a sum
    /// for each attribute.
    sums: Vec<f64>,
    /// (2) The number of examples in which j was observed, but that have no part in the sum. It is constant
    ///    while k is watched, since k is observed in every example then.
    void: Vec<f64>,
    /// The slot of each watched column of a block.
    #[serde(skip)]
    columns: Vec<usize>,
    /// The sums of products of a block: a row for each watched column, in groups of four columns.
    #[serde(skip)]
    products: Vec<[f64; 4]>,
}

impl Pairs {
    fn new(dim: usize, watched: usize) -> Self {
        Pairs {
            slots: vec![None; watched],
            dim,
            sums: vec![0.0; dim * watched],
            void: vec![0.0; dim * watched],
            columns: Vec::new(),
            products: Vec::new(),
        }
    }

    /// Makes room for attributes that join, up to `dim` of them, and up to `watched` that are watched.
    fn join(&mut self, dim: usize, watched: usize) {
        let longer = |list: &[f64]| -> Vec<f64> {
            let rows = list.chunks_exact(self.dim);
            rows.flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, dim - row.len())))
                .collect()
        };
        (self.sums, self.void) = (longer(&self.sums), longer(&self.void));
        self.slots.resize(watched, None);
        self.sums.resize(dim * watched, 0.0);
        self.void.resize(dim * watched, 0.0);
        self.dim = dim;
    }

    /// Returns the slot of a watched attribute.
    pub fn slot(&self, k: u32) -> Option<usize> {
        self.slots.iter().position(|&slot| slot == Some(k))
    }

    /// Returns the sums of a slot, and the numbers of examples without part in them.
    pub fn of(&self, slot: usize) -> (&[f64], &[f64]) {
        let dim = self.dim;
        (&self.sums[slot * dim..][..dim], &self.void[slot * dim..][..dim])
    }

    /// (1) Adds the products of a block of `rows` examples: those of each pair of groups of four columns at a
    ///    time, of which at least one group has a watched column.
    fn absorb(&mut self, attributes: &[u32], values: &[[f64; 4]], rows: usize) {
        let dim = self.dim;
        self.columns.clear();
        let slots = attributes.iter().map_while(|&j| self.slots.iter().position(|&slot| slot == Some(j)));
        self.columns.extend(slots);
        let group = |at: usize| &values[at * rows..][..rows];
        let (watched, all) = (groups(self.columns.len()), groups(attributes.len()));
        self.products.clear();
        self.products.resize(4 * watched * all, [0.0; 4]);
        for left in 0..watched {
            for right in left..all {
                let products = panel_products(group(left), group(right));
                for (a, row) in products.iter().enumerate() {
                    self.products[(4 * left + a) * all + right] = *row;
                    if right < watched {
                        self.products[(4 * right + a) * all + left] = products.map(|row| row[a]);
                    }
                }
            }
        }
        for (&slot, products) in self.columns.iter().zip(self.products.chunks_exact(all)) {
            let sums = &mut self.sums[slot * dim..][..dim];
            for (&j, product) in attributes.iter().zip(products.as_flattened()) {
                sums[j as usize] += product;
            }
        }
    }

    /// Takes out what is missing, row by row: an example in which a watched attribute is missing has no part
    /// in its products with the others that were observed. Returns how many values of watched attributes are
    /// missing.
    fn miss(&mut self, attributes: &[u32], gaps: &[Gap], weights: &[f64]) -> u64 {
        let dim = self.dim;
        let mut missed = 0;
        for of_row in gaps.chunk_by(|a, b| a.row == b.row) {
            for gap in of_row {
                let Some(&slot) = self.columns.get(gap.column as usize) else { continue };
                missed += 1;
                let void = &mut self.void[slot * dim..][..dim];
                for (c, &j) in (0..).zip(attributes) {
                    if of_row.iter().all(|gap| gap.column != c) {
                        void[j as usize] += weight_of(weights, gap.row as usize);
                    }
                }
            }
        }
        missed
    }

    /// Begins to watch `k`, whose own sum of squares is `square`. Products with attributes that are watched
    /// already are known.
    fn watch(&mut self, k: usize, seen: &[f64], square: f64) {
        let Some(free) = self.slots.iter().position(Option::is_none) else { return };
        let dim = self.dim;
        self.sums[free * dim..][..dim].fill(0.0);
        self.void[free * dim..][..dim].copy_from_slice(seen);
        for slot in 0..self.slots.len() {
            if let Some(l) = self.slots[slot] {
                let (sums, void) = self.of(slot);
                let (sum, count) = (sums[k], seen[k] - void[k]);
                let l = l as usize;
                (self.sums[free * dim + l], self.void[free * dim + l]) = (sum, seen[l] - count);
            }
        }
        (self.sums[free * dim + k], self.void[free * dim + k]) = (square, 0.0);
        self.slots[free] = Some(k as u32);
    }

    /// Multiplies the weight of all examples so far by `kept`.
    fn forget(&mut self, kept: f64) {
        let dim = self.dim;
        for slot in (0..self.slots.len()).filter(|slot| self.slots[*slot].is_some()) {
            let of_slot = slot * dim..(slot + 1) * dim;
            let both = self.sums[of_slot.clone()].iter_mut().chain(&mut self.void[of_slot]);
            both.for_each(|sum| *sum *= kept);
        }
    }

    /// Stops watching `k`.
    pub fn unwatch(&mut self, k: u32) {
        if let Some(slot) = self.slot(k) {
            self.slots[slot] = None;
        }
    }

    fn validate(&self, seen: &[f64], watched: usize) -> Result<(), Damaged> {
        let dim = seen.len();
        Damaged::unless(self.dim == dim, NAME, || "the pairs are not of all attributes")?;
        state::length(NAME, "the list of watched attributes", self.slots.len(), watched)?;
        for list in [&self.sums, &self.void] {
            state::length(NAME, "the list of pairs", list.len(), dim.saturating_mul(watched))?;
        }
        let mut attributes: Vec<u32> = self.slots.iter().flatten().copied().collect();
        attributes.sort_unstable();
        Damaged::unless(state::is_set(&attributes, dim), NAME, || "the watched attributes are no set")?;
        let few =
            |slot: usize| self.of(slot).1.iter().zip(seen).all(|(void, seen)| (0.0..=*seen).contains(void));
        let few = (0..watched).filter(|&slot| self.slots[slot].is_some()).all(few);
        Damaged::unless(
            few,
            NAME,
            || "a pair was observed in fewer examples than none, or in more than its attribute",
        )
    }
}
