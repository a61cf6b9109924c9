//! SVRG-HT: variance-reduced hard thresholding with the full gradient at the snapshot.
//!
//! *Source*: Li, Zhao, Arora, Liu & Haupt 2016. Liang et al. 2020 compare with this method.
//!
//! *Setting*: as [`scsg`](super::scsg).
//!
//! *Notation*: as [`scsg`](super::scsg), with B = n and `m` -> `steps`.
//!
//! *Update*: an epoch is
//!
//! ```text
//! mu = grad f(X)
//! m times: I_t uniform of size b;  x <- H_k(x - eta (grad f_{I_t}(x) - grad f_{I_t}(X) + mu))
//! X <- x
//! ```
//!
//! An epoch costs n + 2 b m IFO calls and m thresholdings.
//!
//! *Departures*: mini-batches may have any size b; the source has b = 1. The new snapshot is the last
//! iterate, as in the source's experiments.
//!
//! *Reference*: [`ScsgReference`](super::reference::ScsgReference).
//!
//! *Claims*: `scsg20-table1-counts`, `scsg20-linear-rate`, `scsg20-n-independence`.

use super::scsg::{EpochLength, Scsg, ScsgParams, UniformDraws};
use super::{Shape, SolverTask};
use crate::params::ParamError;
use lao_finite_sum::Predictor;
use serde::{Deserialize, Serialize};

const NAME: &str = "SVRG-HT";

/// Parameters of SVRG-HT, whose solver is [`Scsg`] with B = n.
///
/// ```
/// use lao_algorithms::thresholding::{Shape, SolverLimit, SvrgParams, solve};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let params = SvrgParams { sparsity: 1, step_size: 0.2, mini_batch: 1, steps: 30, start: None };
/// let mut solver = params.build(Shape::of(&sum))?;
/// let run = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(10))?;
/// assert!((run.predictor.coefficients[0].view().get(0) - 3.0).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvrgParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// `eta`; `0.1/L` or `0.2/L` in practice, where L is that of a component.
    pub step_size: f64,
    /// `b`, the number of components of a step, from 1 to n.
    pub mini_batch: usize,
    /// `m`, the number of steps of an epoch, at least 1.
    pub steps: u64,
    /// The first iterate; `None` stands for zero.
    pub start: Option<Predictor>,
}

impl SvrgParams {
    /// Returns practical parameters for a step size: single-component steps and `m = n`.
    pub fn practical(shape: Shape, task: &SolverTask, step_size: f64) -> Self {
        let SolverTask { sparsity, start, .. } = task.clone();
        SvrgParams { sparsity, step_size, mini_batch: 1, steps: shape.components as u64, start }
    }

    /// Builds the solver for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self, shape: Shape) -> Result<Scsg, ParamError> {
        let SvrgParams { sparsity, step_size, mini_batch, steps, start } = self;
        let (batch, length) = (shape.components, EpochLength::Steps(steps));
        let params = ScsgParams { sparsity, step_size, batch, mini_batch, length, start };
        params.build_as(NAME, shape, UniformDraws::new(shape.components))
    }
}
