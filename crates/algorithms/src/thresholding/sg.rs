//! SG-HT (StoIHT): a step along the gradient of a random batch, then thresholding.
//!
//! *Source*: Nguyen, Needell & Woolf 2017. Liang et al. 2020 compare with this method at b = 1.
//!
//! *Setting*: a finite sum at full information.
//!
//! *Notation*: `k` -> `sparsity`, `eta` (printed gamma) -> `step_size`, `b` -> `batch`.
//!
//! *Update*: `x <- H_k(x - eta grad f_I(x))`, where I is uniform of size b. A step costs b IFO calls and 1
//! thresholding, in time O(k + nnz of the batch). A round is a pass of n/b steps. With b = 1, components may
//! be drawn with probabilities p, and the step size is then `eta/(n p(z))` ([`SgParams::build_weighted`]).
//!
//! The source fixes a partition of the rows into blocks, and draws one block per step. This is a sum [in
//! blocks](lao_finite_sum::FiniteSum::in_blocks) with `b = 1`. With a larger `b`, each step draws a new
//! uniform subset of the components.
//!
//! *Departures*: none.
//!
//! *Reference*: [`HsgReference`](super::reference::HsgReference).
//!
//! *Claims*: `scsg20-table1-counts`, `scsg20-residual-eta`.

use super::hsg::{Hsg, HsgParams};
use super::{Shape, SolverTask};
use crate::params::{ParamError, require};
use lao_finite_sum::Predictor;
use serde::{Deserialize, Serialize};

const NAME: &str = "SG-HT";

/// The solver of SG-HT, which is HSG-HT with batches that do not grow.
pub type Sg = Hsg;

/// Parameters of SG-HT.
///
/// ```
/// use lao_algorithms::thresholding::{SgParams, Shape, SolverLimit, solve};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let params = SgParams { sparsity: 1, step_size: 0.5, batch: 1, start: None };
/// let mut solver = params.build_weighted(Shape::of(&sum), &[8.0, 1.0, 1.0])?;
/// solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_calls(30))?;
/// assert_eq!(sum.meter().thresholds, 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SgParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// `eta`; contraction needs about `1/L`, where L is that of a component, and a condition number of at
    /// most 4/3.
    pub step_size: f64,
    /// `b`, the number of components of a step, from 1 to n.
    pub batch: usize,
    /// The first iterate; `None` stands for zero.
    pub start: Option<Predictor>,
}

impl SgParams {
    /// Returns practical parameters for a step size, with single-component steps.
    pub fn practical(task: &SolverTask, step_size: f64) -> Self {
        let SolverTask { sparsity, start, .. } = task.clone();
        SgParams { sparsity, step_size, batch: 1, start }
    }

    /// Builds the solver for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self, shape: Shape) -> Result<Sg, ParamError> {
        let SgParams { sparsity, step_size, batch, start } = self;
        super::require_batch(NAME, "batch", batch, shape.components)?;
        HsgParams { sparsity, step_size, first: batch as f64, growth: 1.0, start }.build_as(NAME, shape)
    }

    /// Builds the solver with components drawn by weight. Component z has the probability
    /// `p(z) = weights[z] / sum of weights`, and its step is divided by `n p(z)`, so that the expected step
    /// is that of uniform draws. The batch size must be 1.
    ///
    /// # Errors
    /// As [`build`](Self::build), and when the weights are not positive finite numbers, one per component.
    pub fn build_weighted(self, shape: Shape, weights: &[f64]) -> Result<Sg, ParamError> {
        require(self.batch == 1, NAME, "batch", self.batch, "1 if components are drawn by weight")?;
        self.build(shape)?.with_weights(NAME, weights)
    }
}
