//! Exploration with soft thresholding: every update thresholds softly and refits the support that it finds.
//!
//! *Source*: none; [`exploration`](super::exploration) with the operator of the Lasso in place of `H_s`.
//!
//! *Setting, notation*: as [`exploration`](super::exploration); `R` -> `refit_updates`, `A_t` -> `refit_batch`.
//!
//! *Update*: `g` as there, and `l` the `(s+1)`-th largest magnitude of `theta - eta g`; then
//!
//! ```text
//! theta <- sign(theta - eta g) max(|theta - eta g| - l, 0)
//! R times: theta <- theta - eta g' on supp(theta),  g' from A_t examples, of which only supp(theta) is observed
//! ```
//!
//! The refit takes back what soft thresholding takes from every coefficient, which would be a bias of `l`.
//!
//! *Departures*: none.
//!
//! *Reference*: [`SoftReference`].
//!
//! *Claims*: none.

use super::{Hybrid, HybridParams};
use crate::params::ParamError;
use crate::reference::{Mismatch, Reference, Seen, dot, support};
use crate::schedule::BatchSizes;
use crate::task::Task;
use lao_kernels::{HardThreshold, NotFinite, SparseVector, Threshold, soft_threshold};
use lao_observation::Learner;
use serde::{Deserialize, Serialize};

/// The learner: Hybrid with a soft threshold, in stages of one exploring update.
pub type ExplorationSoft = Hybrid<SoftThreshold>;

/// Parameters of [`ExplorationSoft`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplorationSoftParams {
    /// `d`, attributes of an example.
    pub dim: usize,
    /// `s`, non-zeros kept; `1 <= s < s'`.
    pub sparsity: usize,
    /// `s'`, attributes observed per example; `s < s' <= d`.
    pub budget: usize,
    /// `eta`.
    pub step_size: f64,
    /// `B_t`, examples per gradient block.
    pub batch: BatchSizes,
    /// `R`, refitting updates after each exploring one.
    pub refit_updates: u64,
    /// `A_t`, examples of a refitting update.
    pub refit_batch: BatchSizes,
    /// `theta_0`; `None` is zero.
    pub start: Option<SparseVector>,
}

impl ExplorationSoftParams {
    /// Batches as of [`ExplorationParams::practical`](super::ExplorationParams::practical), and two refitting updates
    /// with five times as many examples each.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        let HybridParams { dim, sparsity, budget, step_size, start, .. } = HybridParams::practical(task)?;
        let first = 10.0 * sparsity as f64;
        let batch = BatchSizes::Geometric { first, growth: 1.15 };
        let refit_batch = BatchSizes::Geometric { first: 5.0 * first, growth: 1.15 };
        Ok(Self { dim, sparsity, budget, step_size, batch, refit_updates: 2, refit_batch, start })
    }

    /// The learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<ExplorationSoft, ParamError> {
        let params = HybridParams {
            dim: self.dim,
            sparsity: self.sparsity,
            budget: self.budget,
            step_size: self.step_size,
            explore_updates: 1,
            explore_batch: self.batch,
            exploit_updates: self.refit_updates,
            exploit_batch: self.refit_batch,
            stages: None,
            start: self.start,
        };
        let field = |field| match field {
            "explore_batch" => "batch",
            "exploit_batch" => "refit_batch",
            other => other,
        };
        let name = |error: ParamError| ParamError { field: field(error.field), ..error };
        params.check_with(SoftThreshold::default()).map_err(name)
    }
}

/// Keeps the `s` entries of largest magnitude, shrunk by the next magnitude.
#[derive(Clone, Debug, Default)]
pub struct SoftThreshold {
    hard: HardThreshold,
    next: SparseVector,
}

impl Threshold for SoftThreshold {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        self.hard.keep(dense, sparsity.saturating_add(1), &mut self.next)?;
        let level = if self.next.len() > sparsity {
            self.next.values().iter().fold(f64::INFINITY, |least, value| least.min(value.abs()))
        } else {
            0.0
        };
        self.hard.keep(dense, sparsity, kept)?;
        soft_threshold(kept.values_mut(), level);
        Ok(())
    }
}

/// The reference of [`ExplorationSoft`].
#[derive(Clone, Debug)]
pub struct SoftReference {
    params: ExplorationSoftParams,
    theta: Vec<f64>,
    /// `theta - eta g`, as far as `g` is summed up.
    z: Vec<f64>,
    /// First attribute of the block while exploring; `None` while refitting.
    block: Option<usize>,
    seen: u64,
    refits: u64,
    update: u64,
}

impl SoftReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`ExplorationSoftParams::build`].
    pub fn new(params: &ExplorationSoftParams) -> Result<Self, ParamError> {
        let theta = params.clone().build()?.coefficients().to_dense();
        let (params, z) = (params.clone(), theta.clone());
        Ok(SoftReference { params, theta, z, block: Some(0), seen: 0, refits: 0, update: 1 })
    }
}

impl Reference for SoftReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let ExplorationSoftParams { dim, sparsity, budget, step_size, .. } = self.params;
        seen.fits(dim)?;
        let coordinates = match self.block {
            Some(first) => (first as u32..(first + budget - sparsity).min(dim) as u32).collect(),
            None => support(&self.theta),
        };
        seen.require(seen.asked == coordinates, format_args!("is at {coordinates:?}"))?;
        let batches = if self.block.is_some() { &self.params.batch } else { &self.params.refit_batch };
        let batch = batches.size(self.update);
        let residual = dot(&self.theta, seen.x) - seen.label;
        for &j in &coordinates {
            self.z[j as usize] -= step_size * 2.0 * residual * seen.x[j as usize] / batch as f64;
        }
        self.seen += 1;
        if self.seen < batch {
            return Ok(());
        }
        self.seen = 0;
        self.block = match self.block {
            Some(first) if first + budget - sparsity < dim => Some(first + budget - sparsity),
            Some(_) => {
                let mut sizes: Vec<f64> = self.z.iter().map(|z| z.abs()).collect();
                sizes.sort_by(|a, b| b.total_cmp(a));
                soft_threshold(&mut self.z, sizes[sparsity]);
                self.theta.copy_from_slice(&self.z);
                (self.params.refit_updates == 0).then_some(0)
            }
            None => {
                self.theta.copy_from_slice(&self.z);
                self.refits += 1;
                (self.refits.is_multiple_of(self.params.refit_updates)).then_some(0)
            }
        };
        self.update += u64::from(self.block == Some(0));
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        self.theta.clone()
    }
}
