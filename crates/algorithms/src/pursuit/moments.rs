//! What Pursuit remembers of the examples: sums over the examples in which an attribute, or a pair of
//! attributes, was observed.

use super::{NAME, WITHIN};
use crate::state;
use lao_kernels::{dot_column, gradient_block, sum};
use lao_observation::stored::Damaged;
use serde::{Deserialize, Serialize};

/// Sums of attributes and pairs. Values and labels enter as deviations from their means so far, so that sums
/// of squares do not cancel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Moments {
    /// `N`, the number of examples.
    pub examples: u64,
    /// The mean of the labels.
    pub label_mean: f64,
    /// `sum v^2`, for the deviation `v` of the label.
    pub label_square: f64,
    /// `n_j`, the number of examples in which attribute j was observed.
    pub seen: Vec<u64>,
    /// The means of the attributes.
    pub mean: Vec<f64>,
    /// `sum u_j^2`, for the deviation `u_j` of attribute j.
    pub square: Vec<f64>,
    /// `sum u_j v`.
    pub label: Vec<f64>,
    /// `sum r^2` over the examples in which j was observed; `r` is the error of the prediction before the
    /// example was learned from.
    pub error: Vec<f64>,
    /// `sum u_j^2 r^2`.
    pub error_square: Vec<f64>,
    /// The watched attributes and their pairs.
    pub pairs: Pairs,
}

/// The sums of products of pairs: of every attribute with those that are watched.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pairs {
    pub slots: Vec<Slot>,
    /// The number of watches that were begun.
    watches: u32,
    /// One sum per attribute and slot.
    sums: Vec<Pair>,
    /// The slots in use, each with its column of the block.
    #[serde(skip)]
    columns: Vec<(usize, usize)>,
}

/// A block of examples: a column of values per attribute.
pub(super) struct Columns<'a> {
    /// The attributes, ascending.
    pub attributes: &'a [u32],
    /// Their values, column after column; [`Moments::absorb`] subtracts the means.
    pub values: &'a mut [f64],
    /// The labels; the mean is subtracted.
    pub labels: &'a mut [f64],
    /// The errors of the predictions.
    pub errors: &'a [f64],
}

impl Moments {
    pub fn new(dim: usize, watched: usize) -> Self {
        let zeros = vec![0.0; dim];
        Moments {
            examples: 0,
            label_mean: 0.0,
            label_square: 0.0,
            seen: vec![0; dim],
            mean: zeros.clone(),
            square: zeros.clone(),
            label: zeros.clone(),
            error: zeros.clone(),
            error_square: zeros,
            pairs: Pairs::new(dim, watched),
        }
    }

    /// Updates the mean of the labels with those of a block.
    pub fn absorb_labels(&mut self, labels: &[f64]) {
        self.examples += labels.len() as u64;
        self.label_mean += deviation(labels, self.label_mean) / self.examples as f64;
    }

    /// Updates all sums with a block whose labels were [absorbed](Self::absorb_labels).
    pub fn absorb(&mut self, block: Columns<'_>, sums: &mut Vec<f64>) {
        let Columns { attributes, values, labels, errors } = block;
        let rows = labels.len();
        labels.iter_mut().for_each(|y| *y -= self.label_mean);
        self.label_square += dot_column(labels, labels);
        let error: f64 = dot_column(errors, errors);
        for (&j, column) in attributes.iter().zip(values.chunks_exact_mut(rows)) {
            let j = j as usize;
            self.seen[j] += rows as u64;
            self.mean[j] += deviation(column, self.mean[j]) / self.seen[j] as f64;
            let mean = self.mean[j];
            column.iter_mut().for_each(|x| *x -= mean);
            self.square[j] += dot_column(column, column);
            self.label[j] += dot_column(column, labels);
            self.error[j] += error;
            self.error_square[j] += column.iter().zip(errors).map(|(u, r)| (u * r) * (u * r)).sum::<f64>();
        }
        self.pairs.absorb(attributes, values, rows, sums);
    }

    /// Watches attribute `k`: from now on its products with all attributes observed beside it are summed.
    pub fn watch(&mut self, k: u32) {
        self.pairs.watch(k, self.seen[k as usize], self.square[k as usize]);
    }

    /// Returns the variance of attribute `j`; zero for a constant one.
    pub fn variance(&self, j: u32) -> f64 {
        let j = j as usize;
        let variance = self.square[j] / (self.seen[j].max(1)) as f64;
        let rounding = 1e-12 * self.mean[j];
        if variance > rounding * rounding { variance } else { 0.0 }
    }

    /// Returns the range beyond which values of attribute `j` are not believed: all numbers, as long as its
    /// values do not vary.
    pub fn range(&self, j: u32) -> (f64, f64) {
        let (mean, width) = (self.mean[j as usize], WITHIN * self.variance(j).sqrt());
        if width > 0.0 && (mean - width) < (mean + width) {
            (mean - width, mean + width)
        } else {
            (f64::MIN, f64::MAX)
        }
    }

    /// Returns the mean of `u_j v`.
    pub fn label_product(&self, j: u32) -> f64 {
        self.label[j as usize] / (self.seen[j as usize].max(1)) as f64
    }

    /// Returns how much larger the variance of `u_j r` is than the product of the variances, beyond what is
    /// chance, and at least 1: large values of the attribute may come with large errors.
    pub fn unevenness(&self, j: u32) -> f64 {
        let j = j as usize;
        let even = self.square[j] * self.error[j];
        let ratio = self.error_square[j] * self.seen[j] as f64 / even;
        let by_chance = 4.0 / (self.seen[j].max(1) as f64).sqrt();
        if even > 0.0 && ratio > 1.0 + by_chance { ratio - by_chance } else { 1.0 }
    }

    pub fn validate(&self, dim: usize, watched: usize) -> Result<(), Damaged> {
        let Moments { seen, mean, square, label, error, error_square, pairs, .. } = self;
        state::count(NAME, "the number of examples", self.examples)?;
        state::length(NAME, "the list of examples per attribute", seen.len(), dim)?;
        for list in [mean, square, label, error, error_square] {
            state::length(NAME, "a list of sums", list.len(), dim)?;
        }
        let few = seen.iter().all(|&n| n <= self.examples);
        Damaged::unless(few, NAME, || "an attribute was observed in more examples than there were")?;
        pairs.validate(dim, watched)
    }
}

fn deviation(values: &[f64], from: f64) -> f64 {
    sum(values) - values.len() as f64 * from
}

impl Pairs {
    fn absorb(&mut self, attributes: &[u32], values: &[f64], rows: usize, sums: &mut Vec<f64>) {
        let column = |c: usize| &values[c * rows..][..rows];
        self.columns.clear();
        for (slot, watched) in self.slots.iter().enumerate() {
            if let Some(place) = watched.attribute.and_then(|k| attributes.binary_search(&k).ok()) {
                self.columns.push((slot, place));
            }
        }
        for (c, &j) in attributes.iter().enumerate() {
            // A pair of watched attributes is summed once, for both.
            let own = self.columns.iter().position(|&(_, place)| place == c);
            let others = &self.columns[..own.map_or(self.columns.len(), |own| own + 1)];
            sums.clear();
            sums.resize(others.len(), 0.0);
            gradient_block(others.iter().map(|&(_, place)| column(place)), column(c), sums);
            let width = self.slots.len();
            for (&(slot, place), &sum) in others.iter().zip(&*sums) {
                let mut add = |j: u32, slot: usize| {
                    self.sums[j as usize * width + slot].add(sum, rows as u32, self.slots[slot].version);
                };
                add(j, slot);
                if let Some(own) = own.filter(|_| place != c) {
                    add(attributes[place], self.columns[own].0);
                }
            }
        }
    }
}

/// The sum of products of two attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Pair {
    /// `sum u_j u_k` over the examples in which both were observed.
    pub sum: f64,
    /// The number of these examples.
    pub count: u32,
    /// The watch that the sum belongs to; the sum of an earlier one is void.
    version: u32,
}

impl Pair {
    fn add(&mut self, sum: f64, rows: u32, version: u32) {
        if self.version != version {
            *self = Pair { sum: 0.0, count: 0, version };
        }
        if u32::MAX - self.count < rows {
            // The older examples count half, rather than that the counter overflows.
            (self.sum, self.count) = (self.sum / 2.0, self.count / 2);
        }
        self.sum += sum;
        self.count += rows;
    }

    /// Returns the mean of `u_j u_k`; 0 if the two were never observed together.
    pub fn mean(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }
}

/// A place for a watched attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Slot {
    pub attribute: Option<u32>,
    version: u32,
}

impl Pairs {
    pub fn new(dim: usize, watched: usize) -> Self {
        Pairs {
            slots: vec![Slot::default(); watched],
            watches: 0,
            sums: vec![Pair::default(); dim * watched],
            columns: Vec::new(),
        }
    }

    /// Returns the place of a watched attribute.
    pub fn slot(&self, k: u32) -> Option<usize> {
        self.slots.iter().position(|slot| slot.attribute == Some(k))
    }

    /// Returns the sum of the products of `j` with the attribute that is watched in `slot`.
    pub fn get(&self, j: u32, slot: usize) -> Pair {
        let pair = self.sums[j as usize * self.slots.len() + slot];
        if pair.version == self.slots[slot].version { pair } else { Pair::default() }
    }

    /// Begins to watch `k`, whose own sum of `seen` squares is `square`. Products with attributes that are
    /// watched already are known.
    fn watch(&mut self, k: u32, seen: u64, square: f64) {
        let Some(free) = self.slots.iter().position(|slot| slot.attribute.is_none()) else { return };
        // A version that comes again after 2^32 watches would revive a sum; the list is cleared then.
        self.watches = self.watches.checked_add(1).unwrap_or_else(|| {
            self.sums.iter_mut().for_each(|pair| pair.version = 0);
            1
        });
        let version = self.watches;
        for slot in 0..self.slots.len() {
            if let Some(l) = self.slots[slot].attribute {
                let pair = self.get(k, slot);
                self.sums[l as usize * self.slots.len() + free] = Pair { version, ..pair };
            }
        }
        let count = u32::try_from(seen).unwrap_or(u32::MAX);
        self.sums[k as usize * self.slots.len() + free] = Pair { sum: square, count, version };
        self.slots[free] = Slot { attribute: Some(k), version };
    }

    /// Stops watching `k`.
    pub fn unwatch(&mut self, k: u32) {
        if let Some(slot) = self.slot(k) {
            self.slots[slot].attribute = None;
        }
    }

    fn validate(&self, dim: usize, watched: usize) -> Result<(), Damaged> {
        state::length(NAME, "the list of watched attributes", self.slots.len(), watched)?;
        state::length(NAME, "the list of pairs", self.sums.len(), dim.saturating_mul(watched))?;
        let mut attributes: Vec<u32> = self.slots.iter().filter_map(|slot| slot.attribute).collect();
        attributes.sort_unstable();
        Damaged::unless(state::is_set(&attributes, dim), NAME, || "the watched attributes are no set")
    }
}
