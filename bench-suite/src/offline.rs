//! Lasso and ridge regression on complete rows: what the same money buys without a method for limited
//! attribute observation.

use lao_algorithms::baselines::offline::Products;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{Ask, Budget, LearnError, Learner, Rng, Told};
use serde::Deserialize;

/// The penalties that are tried, from the one at which all weights are zero, each so many times smaller.
const PENALTIES: usize = 24;
const RATIO: f64 = 0.75;
/// Those of ridge regression, from 1.
const PENALTIES_OF_RIDGE: usize = 8;
const RATIO_OF_RIDGE: f64 = 0.2;
/// The precision of a solution on the path of penalties; the error on the rows for validation decides.
const TOLERANCE: f64 = 1e-4;
/// One block of so many is for validation.
const VALIDATION: u64 = 5;
/// The longest block of rows.
const BLOCK: u64 = 64;
/// The weights are renewed when the number of rows has grown by this factor.
const GROWTH: f64 = 1.2;

/// The rows that are bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowsBought {
    /// All rows with all attributes: full information, which no budget pays for.
    All,
    /// As many complete rows as the budget per example pays for; the other examples are passed over.
    WithinBudget,
}

/// The penalty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Penalty {
    /// `|w|_1`.
    Lasso,
    /// `|w|_2^2 / 2`.
    Ridge,
}

/// Lasso or ridge regression on the complete rows bought so far. The penalty is the best one on a fifth of
/// the rows, among those with few enough weights; the weights are those of the other four fifths at this
/// penalty.
#[derive(Debug)]
pub struct OfflineOnRows {
    penalty: Penalty,
    /// Examples per complete row.
    every: f64,
    /// The largest number of weights.
    longest: usize,
    /// Examples asked for so far.
    examples: u64,
    /// Rows bought, and blocks of them.
    rows: u64,
    blocks: u64,
    asked: u64,
    complete: bool,
    training: Products,
    validation: Products,
    weights: SparseVector,
    due: f64,
    updates: u64,
}

impl OfflineOnRows {
    /// Returns the learner over `dim` attributes, all of which cost `share` budgets of an example. Its
    /// predictor has at most `longest` attributes.
    pub fn new(penalty: Penalty, dim: usize, share: f64, bought: RowsBought, longest: usize) -> Self {
        let every = match bought {
            RowsBought::All => 1.0,
            RowsBought::WithinBudget => share.max(1.0),
        };
        OfflineOnRows {
            penalty,
            every,
            longest,
            examples: 0,
            rows: 0,
            blocks: 0,
            asked: 0,
            complete: false,
            training: Products::new(dim),
            validation: Products::new(dim),
            weights: SparseVector::zeros(dim),
            due: 20.0,
            updates: 0,
        }
    }

    /// Returns the budget that it keeps to.
    pub fn budget(&self) -> Budget {
        let dim = self.weights.dim();
        Budget::Expected { mean: dim as f64 / self.every, cap: dim }
    }

    fn fit(&mut self) {
        let mut best = (f64::INFINITY, vec![0.0; self.weights.dim()]);
        best.0 = self.validation.mean_squared_error(&best.1);
        let mut weights = best.1.clone();
        let (count, ratio, mut penalty) = match self.penalty {
            Penalty::Lasso => (PENALTIES, RATIO, self.training.largest_penalty()),
            Penalty::Ridge => (PENALTIES_OF_RIDGE, RATIO_OF_RIDGE, 1.0 / RATIO_OF_RIDGE),
        };
        for _ in 0..count {
            penalty *= ratio;
            // Where there is no solution, the path ends: smaller penalties are no easier.
            let solved = match self.penalty {
                Penalty::Lasso => self.training.lasso(penalty, TOLERANCE, &mut weights),
                Penalty::Ridge => self.training.ridge(penalty).map(|w| weights = w),
            };
            let length = weights.iter().filter(|w| **w != 0.0).count();
            if solved.is_err() || length > self.longest {
                break;
            }
            let error = self.validation.mean_squared_error(&weights);
            if error < best.0 {
                best = (error, weights.clone());
            }
        }
        self.weights = SparseVector::from_dense(&best.1);
        self.updates += 1;
    }
}

impl Learner for OfflineOnRows {
    fn dim(&self) -> usize {
        self.weights.dim()
    }

    fn ask(&mut self, _: &mut Rng, ask: &mut Ask) {
        // The next row is bought when the examples so far have paid for it.
        let paid = (self.examples as f64 + 1.0) >= (self.rows as f64 + 1.0) * self.every;
        self.complete = paid;
        if paid {
            self.asked = if self.every == 1.0 { BLOCK } else { 1 };
            let dim = self.weights.dim() as u32;
            ask.values(self.asked).extend(0..dim);
        } else {
            self.asked = 1;
            ask.values(self.asked);
        }
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let asked = "complete rows, or none of their attributes";
        let Told::Values(block) = told else {
            return Err(LearnError::NotAsked { told: "a gradient sum", asked });
        };
        let rows = block.rows() as u64;
        self.examples += rows;
        if !self.complete {
            return Ok(());
        }
        self.rows += rows;
        self.blocks += 1;
        let part =
            if self.blocks.is_multiple_of(VALIDATION) { &mut self.validation } else { &mut self.training };
        part.add(block);
        if self.rows as f64 >= self.due && self.validation.examples() > 0 {
            self.due = GROWTH * self.rows as f64;
            self.fit();
        }
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.weights.view()
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}
