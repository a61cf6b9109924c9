//! Wrong draws for variance-reduced methods: subsets of components and lengths of epochs.

use lao_algorithms::thresholding::{BatchLaw, EpochLength, UniformDraws};
use lao_observation::Rng;
use rand::RngExt;
use rand_distr::{Distribution, Exp1};

/// A fault in the law of an epoch's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongLength {
    /// Geometric on 1, 2, .. instead of 0, 1, ..
    FromOne,
    /// Geometric with parameter `b/(B+b)` instead of `B/(B+b)`.
    Swapped,
    /// Geometric, cut off at `2B/b`.
    Truncated,
    /// An exponential with the right mean, rounded to the nearest whole number.
    RoundedExponential,
    /// The constant `B/b`: option II instead of option I.
    Fixed,
    /// One step less than drawn, or none if none was drawn.
    OneLess,
}

/// A fault in the law of a subset of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongSubset {
    /// Components drawn with replacement.
    WithReplacement,
    /// Always the first components.
    First,
    /// Component 0 together with a uniform subset of the others.
    AlwaysComponentZero,
    /// Mini-batches drawn from the snapshot's batch (where that batch is not all components).
    InsideBatch,
}

/// The production draws, with or without a fault.
#[derive(Clone, Debug)]
pub struct FaultyDraws {
    honest: UniformDraws,
    length: Option<WrongLength>,
    subset: Option<WrongSubset>,
    batch: Vec<u32>,
    /// The number of mini-batches still to come in this epoch.
    left: u64,
}

impl FaultyDraws {
    /// Returns draws for sums of `components` components.
    pub fn new(components: usize, length: Option<WrongLength>, subset: Option<WrongSubset>) -> Self {
        let honest = UniformDraws::new(components);
        FaultyDraws { honest, length, subset, batch: Vec::new(), left: 0 }
    }
}

impl BatchLaw for FaultyDraws {
    fn subset(&mut self, components: usize, size: usize, rng: &mut Rng, into: &mut Vec<u32>) {
        let from = into.len();
        let mini = self.left > 0;
        self.left = self.left.saturating_sub(1);
        match self.subset {
            Some(WrongSubset::InsideBatch) if mini && !self.batch.is_empty() => {
                into.extend((0..size).map(|_| self.batch[rng.random_range(0..self.batch.len())]));
            }
            None | Some(WrongSubset::InsideBatch) => self.honest.subset(components, size, rng, into),
            Some(WrongSubset::WithReplacement) => {
                into.extend((0..size).map(|_| rng.random_range(0..components.max(1)) as u32));
                into[from..].sort_unstable();
            }
            Some(WrongSubset::First) => into.extend(0..size as u32),
            Some(WrongSubset::AlwaysComponentZero) => {
                self.honest.subset(components, size, rng, into);
                if !into[from..].contains(&0) {
                    into[from] = 0;
                }
            }
        }
        if !mini {
            self.batch.clear();
            self.batch.extend_from_slice(&into[from..]);
        }
    }

    fn length(&mut self, length: EpochLength, batch: usize, mini_batch: usize, rng: &mut Rng) -> u64 {
        let ratio = batch as f64 / mini_batch as f64;
        let mut honest = || self.honest.length(length, batch, mini_batch, rng);
        self.left = match self.length {
            None => honest(),
            Some(WrongLength::FromOne) => honest() + 1,
            Some(WrongLength::Swapped) => self.honest.length(length, mini_batch, batch, rng),
            Some(WrongLength::Truncated) => honest().min((2.0 * ratio) as u64),
            Some(WrongLength::RoundedExponential) => {
                let unit: f64 = Exp1.sample(rng);
                (ratio * unit).round() as u64
            }
            Some(WrongLength::Fixed) => ratio as u64,
            Some(WrongLength::OneLess) => honest().saturating_sub(1),
        };
        self.left
    }
}
