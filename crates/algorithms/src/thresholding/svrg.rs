//! SVRG-HT: variance-reduced hard thresholding with the full gradient at the snapshot.
//!
//! *Source*: Li, Zhao, Arora, Liu & Haupt 2016; as a rival of Liang et al. 2020.
//!
//! *Setting, notation, update*: as [`scsg`](super::scsg) with B = n and epochs of `m` -> `steps`:
//!
//! ```text
//! mu = grad f(X)
//! m times: I_t uniform of size b;  x <- H_k(x - eta (grad f_{I_t}(x) - grad f_{I_t}(X) + mu))
//! X <- x
//! ```
//!
//! Costs n + 2 b m IFO calls and m thresholdings an epoch.
//!
//! *Departures*: mini-batches; the source has b = 1. The new snapshot is the last iterate, as in the source's
//! experiments.
//!
//! *Claims*: `scsg20-table1-counts`, `scsg20-linear-rate`, `scsg20-n-independence`.

use super::scsg::{EpochLength, Scsg, ScsgParams, UniformDraws};
use super::{Shape, SolverTask};
use crate::params::ParamError;
use lao_finite_sum::Predictor;
use serde::{Deserialize, Serialize};

const NAME: &str = "SVRG-HT";

/// Parameters of SVRG-HT, which is run by [`Scsg`] with B = n.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvrgParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// `eta`; in practice 0.1/L or 0.2/L with L of a component.
    pub step_size: f64,
    /// `b`, components of a step; 1 to n.
    pub mini_batch: usize,
    /// `m`, steps of an epoch, at least 1.
    pub steps: u64,
    /// Where to start; `None` is zero.
    pub start: Option<Predictor>,
}

impl SvrgParams {
    /// Single-component steps, `m = n`.
    pub fn practical(shape: Shape, task: &SolverTask) -> Self {
        let SolverTask { sparsity, step_size, start } = task.clone();
        SvrgParams { sparsity, step_size, mini_batch: 1, steps: shape.components as u64, start }
    }

    /// The solver for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self, shape: Shape) -> Result<Scsg, ParamError> {
        let SvrgParams { sparsity, step_size, mini_batch, steps, start } = self;
        let (batch, length) = (shape.components, EpochLength::Steps(steps));
        let params = ScsgParams { sparsity, step_size, batch, mini_batch, length, start };
        params.check_as(NAME, shape, UniformDraws::new(shape.components))
    }
}
