//! SG-HT (StoIHT): a step along the gradient of a random batch, then thresholding.
//!
//! *Source*: Nguyen, Needell & Woolf 2017; as a rival of Liang et al. 2020, who have b = 1.
//!
//! *Setting*: a finite sum at full information.
//!
//! *Notation*: `k` -> `sparsity`, `gamma` -> `step_size`, `b` -> `batch`.
//!
//! *Update*: `x <- H_k(x - eta grad f_I(x))` with I uniform of size b; b IFO calls, 1 thresholding. A round
//! is a pass, n/b steps. With b = 1 components may be drawn with probabilities p, and the step is
//! `eta/(n p(z))` ([`SgParams::check_weighted`]). A step costs O(k + nnz of the batch).
//!
//! The source fixes a partition of the rows into blocks and draws one block a step: that is a sum
//! [in blocks](lao_finite_sum::FiniteSum::in_blocks) with `b = 1`. Larger `b` are fresh uniform subsets of
//! the components.
//!
//! *Departures*: none.
//!
//! *Claims*: `scsg20-table1-counts`, `scsg20-residual-eta`.

use super::hsg::{Hsg, HsgParams};
use super::{Shape, SolverTask};
use crate::params::{ParamError, require};
use lao_finite_sum::Predictor;
use serde::{Deserialize, Serialize};

const NAME: &str = "SG-HT";

/// SG-HT is HSG-HT with batches that do not grow.
pub type Sg = Hsg;

/// Parameters of SG-HT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SgParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// `eta`; contraction needs about 1/L with L of a component, and a condition number of at most 4/3.
    pub step_size: f64,
    /// `b`, components of a step; 1 to n.
    pub batch: usize,
    /// Where to start; `None` is zero.
    pub start: Option<Predictor>,
}

impl SgParams {
    /// Single-component steps.
    pub fn practical(task: &SolverTask) -> Self {
        let SolverTask { sparsity, step_size, start } = task.clone();
        SgParams { sparsity, step_size, batch: 1, start }
    }

    /// The solver for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self, shape: Shape) -> Result<Sg, ParamError> {
        let SgParams { sparsity, step_size, batch, start } = self;
        super::require_batch(NAME, "batch", batch, shape.components)?;
        HsgParams { sparsity, step_size, first: batch as f64, growth: 1.0, start }.check_as(NAME, shape)
    }

    /// The solver with components drawn by weight: component z with `p(z) = weights[z] / their sum`, its step
    /// divided by `n p(z)`, so that the expected step is that of uniform draws. Needs `batch = 1`.
    ///
    /// # Errors
    /// As [`build`](Self::build); weights must be positive and finite, one per component.
    pub fn check_weighted(self, shape: Shape, weights: &[f64]) -> Result<Sg, ParamError> {
        require(self.batch == 1, NAME, "batch", self.batch, "1 where components are drawn by weight")?;
        self.build(shape)?.with_weights(NAME, weights)
    }
}
