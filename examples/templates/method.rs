//! Least mean squares: a gradient step per example on a given support.
//!
//! *Source*: Widrow & Hoff 1960.
//!
//! *Setting*: squared loss; a start whose support is believed to hold that of the target. Observes that
//! support only.
//!
//! *Notation*: `w_t` -> `theta`, `eta` -> `step_size`.
//!
//! *Update*: `w <- w - eta (w'x - y) x` on the support, after each example.
//!
//! *Departures*: none.
//!
//! *Reference*: [`LmsReference`].
//!
//! *Claims*: none.

use crate::params::{ParamError, require, require_step};
use crate::reference::{Mismatch, Reference, Seen};
use crate::state;
use crate::task::Task;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Example, LearnError, Learner, Rng, Told};
use serde::{Deserialize, Serialize};

const NAME: &str = "LMS";

/// Parameters of [`Lms`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LmsParams {
    /// `w_0`, whose stored indices are the support; explicit zeros belong to it.
    pub start: SparseVector,
    /// `eta`.
    pub step_size: f64,
}

impl LmsParams {
    /// Starts at the task's start; without one, at zero on the first `s` attributes. `step_size` is
    /// `speed/4`.
    ///
    /// # Errors
    /// [`ParamError`] when a number of the task is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let first = || {
            let places: Vec<u32> = (0..task.sparsity.min(task.dim) as u32).collect();
            let zeros = vec![0.0; places.len()];
            SparseVector::new(task.dim, places, zeros).unwrap_or_else(|_| SparseVector::zeros(task.dim))
        };
        let start = task.start.clone().unwrap_or_else(first);
        let held = start.indices().len();
        let allowed = format_args!("at least |supp(w_0)| = {held}").to_string();
        require(task.budget >= held, NAME, "budget", task.budget, allowed)?;
        let allowed = format_args!("at most d = {}", task.dim).to_string();
        require(task.budget <= task.dim, NAME, "budget", task.budget, allowed)?;
        Ok(LmsParams { start, step_size: task.step_size() })
    }

    /// Returns the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Lms, ParamError> {
        let LmsParams { start, step_size } = self;
        require_step(NAME, step_size)?;
        require(start.dim() > 0, NAME, "start", "a vector without attributes", "at least one attribute")?;
        Ok(Lms { theta: start, step_size, updates: 0 })
    }
}

/// The learner: O(s) time per example and memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Lms {
    theta: SparseVector,
    step_size: f64,
    updates: u64,
}

// A stored state is checked when it is read.
lao_observation::stored!(Lms);

impl Validate for Lms {
    fn validate(&self) -> Result<(), Damaged> {
        require_step(NAME, self.step_size).map_err(ParamError::damaged)?;
        state::count(NAME, "the number of updates", self.updates)
    }
}

impl Learner for Lms {
    fn dim(&self) -> usize {
        self.theta.dim()
    }

    fn ask(&mut self, _: &mut Rng, ask: &mut Ask) {
        ask.values(1).extend_from_slice(self.theta.indices());
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Example { seen, label } = told.example()?;
        if seen.attributes != self.theta.indices() {
            return Err(told.other_attributes());
        }
        let residual = seen.dot(self.theta.view()) - label;
        let step = self.step_size * residual;
        // Nothing changes unless the loss and all weights stay finite.
        let next = self.theta.values().iter().zip(seen.values).map(|(weight, x)| weight - step * x);
        let lost = !(residual * residual).is_finite();
        let mut moved = seen.attributes.iter().zip(next);
        if let Some((&attribute, value)) = moved.find(|(_, value)| lost || !value.is_finite()) {
            return Err(LearnError::Diverged {
                update: self.updates + 1,
                attribute: attribute as usize,
                value,
            });
        }
        for (weight, x) in self.theta.values_mut().iter_mut().zip(seen.values) {
            *weight -= step * x;
        }
        self.updates += 1;
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.theta.view()
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

/// The method in dense lines; the tests run it beside [`Lms`].
#[derive(Clone, Debug)]
pub struct LmsReference {
    w: Vec<f64>,
    support: Vec<u32>,
    step_size: f64,
}

impl LmsReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`LmsParams::build`].
    pub fn new(params: &LmsParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let (w, support) = (params.start.view().to_dense(), params.start.indices().to_vec());
        Ok(LmsReference { w, support, step_size: params.step_size })
    }
}

impl Reference for LmsReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        seen.fits(self.w.len())?;
        seen.require(seen.asked == self.support, "observes the support of its start")?;
        let terms = self.support.iter().map(|&j| self.w[j as usize] * seen.x[j as usize]);
        let residual = terms.sum::<f64>() - seen.label;
        for &j in &self.support {
            self.w[j as usize] -= self.step_size * residual * seen.x[j as usize];
        }
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        self.w.clone()
    }
}
