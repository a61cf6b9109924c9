//! GD-HT: full-gradient steps with hard thresholding and, optionally, a refit on the support found.
//!
//! *Source*: Jain, Tewari & Kar 2014 (GD-HT); Foucart 2011 (HTP, with refit); Blumensath & Davies 2010
//! (normalized step). Liang et al. 2020 compare with these methods.
//!
//! *Setting*: a finite sum at full information.
//!
//! *Notation*: `k` -> `sparsity`, `eta` -> `step`, `S` -> the support, `g = grad f(x)`, l2 term included.
//!
//! *Update*:
//!
//! ```text
//! x <- H_k(x - eta g);           with refit: x <- argmin { f(u) : supp u in supp x }
//! ```
//!
//! A normalized step has `eta = |p|^2 / p'Hp`, where p is the gradient on the support of x. If x is zero, or
//! minimizes f over its support, p is the k largest entries of the gradient; x is such a minimizer after a
//! refit, and where the gradient on the support is exactly zero, as it may be at a start. `p'Hp` is exact
//! for least squares; for other losses it is the loss's curvature bound. Without refit, eta is halved until
//! it is at most `|dx|^2 / dx'H dx` if the support changes, so that f falls. If a step from such a minimizer
//! does not change the support, or if the length of p is 1e-12 of the largest so far, x is a fixed point up
//! to rounding, and the solver returns [`SolverProgress::Settled`]. (Where k attributes fit the labels
//! exactly, rounding alone would decide which of the others enters, for ever.)
//!
//! After a refit no step is halved, so that f need not fall in every round, and a run may alternate between
//! supports for ever. With logistic and softmax loss, whose steps have the size of a curvature bound, this
//! happens: such a run never settles; give it a budget ([`SolverLimit`](super::SolverLimit)).
//!
//! A round costs n IFO calls and 1 thresholding, and a normalized step n more calls for each curvature. A
//! refit costs n calls for least squares. For other losses it costs 2n for each of at most two conjugate
//! gradient steps, and n where a gradient shows that it is done before, which makes 3 to 6 passes a round in
//! all. Each pass is a step of its own of the [`Solver`], so that a budget can end a run between any two
//! passes; the iterate moves with the last pass of a round.
//!
//! *Departures*: a refit of least squares solves the normal equations, in which the first of linearly
//! dependent columns are kept; other losses are minimized inexactly until the support settles. Steps are
//! halved, where Blumensath & Davies divide by a constant that they leave open.
//!
//! *Reference*: [`GdReference`](super::reference::GdReference).
//!
//! *Claims*: `scsg20-table1-counts`, `scsg20-thm1-small-eta`.

use super::refit::{Refit, Refitted};
use super::{
    Shape, SolveError, Solver, SolverProgress, SolverTask, require_sparsity, require_start, threshold_start,
};
use crate::params::{ParamError, require, require_step};
use lao_finite_sum::{Batch, FiniteSum, Gradient, Predictor};
use lao_kernels::{HardThreshold, SparseVector, Threshold, merge_into};
use lao_observation::Rng;
use serde::{Deserialize, Serialize};

pub(super) const NAME: &str = "GD-HT";

/// The largest number of halvings of a normalized step.
pub(super) const HALVINGS: usize = 30;

/// The length of the direction of a normalized step, as a part of the largest so far, that is rounding.
pub(super) const ROUNDING: f64 = 1e-12;

/// The rule that sets the step size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GdStep {
    /// `eta`, the same for all steps; `2/(3 L)` in the theory, where L is the restricted smoothness.
    Fixed(f64),
    /// A step size computed from the curvature at the iterate.
    Normalized,
}

impl GdStep {
    /// Returns the step size `2/(3 L)`, with which Jain, Tewari & Kar 2014 show linear convergence for
    /// `k >= 32 kappa^2 k*`.
    ///
    /// # Errors
    /// [`ParamError`] when `smoothness` is not a positive finite number.
    pub fn from_theorem(smoothness: f64) -> Result<GdStep, ParamError> {
        let ok = smoothness.is_finite() && smoothness > 0.0;
        require(ok, NAME, "smoothness", smoothness, "a positive finite number, L at order 2k + k*")?;
        Ok(GdStep::Fixed(2.0 / (3.0 * smoothness)))
    }
}

/// Parameters of [`Gd`].
///
/// ```
/// use lao_algorithms::thresholding::{GdParams, GdStep, Shape, SolverLimit, solve};
/// use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
/// use lao_observation::Seed;
///
/// // Three examples with one attribute each; the best predictor with one non-zero has 3 at attribute 0.
/// let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![3.0, 0.0, -1.0])?)?;
///
/// let params = GdParams { sparsity: 1, step: GdStep::Fixed(0.5), refit: false, start: None };
/// let mut solver = params.build(Shape::of(&sum))?;
/// solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(10))?;
/// assert_eq!((sum.meter().calls, sum.meter().thresholds), (30, 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GdParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// `eta`.
    pub step: GdStep,
    /// Whether to minimize over the support after each step.
    pub refit: bool,
    /// The first iterate; `None` stands for zero.
    pub start: Option<Predictor>,
}

impl GdParams {
    /// Returns the parameters of normalized steps with refit (HTP). Such steps compute their own size, so the
    /// task's step size is not used.
    pub fn practical(task: &SolverTask) -> Self {
        let start = task.start.clone();
        GdParams { sparsity: task.sparsity, step: GdStep::Normalized, refit: true, start }
    }

    /// Returns the parameters of steps of the task's size, or of normalized ones if it has none, without
    /// refit (GD-HT).
    pub fn plain(task: &SolverTask) -> Self {
        let step = task.step_size.map_or(GdStep::Normalized, GdStep::Fixed);
        GdParams { step, refit: false, ..Self::practical(task) }
    }

    /// Builds the solver for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self, shape: Shape) -> Result<Gd, ParamError> {
        self.build_with(shape, HardThreshold::default())
    }

    /// Builds the solver with another thresholding operator.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with<T: Threshold>(self, shape: Shape, mut threshold: T) -> Result<Gd<T>, ParamError> {
        let GdParams { sparsity, step, refit, start } = self;
        require_sparsity(NAME, sparsity)?;
        if let GdStep::Fixed(eta) = step {
            require_step(NAME, eta)?;
        }
        let mut x = require_start(NAME, start, shape)?;
        threshold_start(&mut x, sparsity, &mut threshold);
        Ok(Gd {
            shape,
            sparsity,
            step,
            refit,
            next: x.clone(),
            along: x.clone(),
            x,
            gradient: Gradient::default(),
            dense: Vec::with_capacity(shape.dim),
            union: Vec::new(),
            threshold,
            work: Refit::default(),
            stage: Stage::Gradient,
            at_minimum: false,
            largest: 0.0,
            rounds: 0,
        })
    }
}

/// The part of a round that the next step of the solver does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Computes the gradient at x.
    Gradient,
    /// Computes the curvature along a direction of this squared length.
    Curvature { norm: f64 },
    /// Checks whether the step that led to `next` is short enough.
    Check { eta: f64, halvings: usize },
    /// Minimizes over the support of `next`.
    Refit,
}

/// The solver of GD-HT and HTP. It keeps O(c d) memory for c outputs.
#[derive(Clone, Debug)]
pub struct Gd<T = HardThreshold> {
    shape: Shape,
    sparsity: usize,
    step: GdStep,
    refit: bool,
    x: Predictor,
    next: Predictor,
    along: Predictor,
    gradient: Gradient,
    dense: Vec<f64>,
    union: Vec<u32>,
    threshold: T,
    work: Refit,
    stage: Stage,
    /// Whether x minimizes f over its support.
    at_minimum: bool,
    /// The largest squared length of the direction of a normalized step so far.
    largest: f64,
    rounds: u64,
}

impl<T: Threshold> Gd<T> {
    /// Sets `next` to `H_k(x - eta g)`, where the stored g lacks its l2 term.
    fn try_step(&mut self, sum: &FiniteSum, eta: f64) -> Result<(), SolveError> {
        let factor = 1.0 - eta * sum.ridge();
        let Gd { x, next, gradient, dense, threshold, .. } = self;
        let old = x.coefficients.iter().zip(&gradient.coefficients);
        for (next, (x, gradient)) in next.coefficients.iter_mut().zip(old) {
            dense.clear();
            dense.extend(gradient.iter().map(|gradient| -eta * gradient));
            x.view().iter().for_each(|(j, value)| dense[j as usize] += factor * value);
            threshold.keep(dense, self.sparsity, next)?;
        }
        let old = x.intercepts.iter().zip(&gradient.intercepts);
        for (output, (next, (x, gradient))) in next.intercepts.iter_mut().zip(old).enumerate() {
            *next = x - eta * gradient;
            if !next.is_finite() {
                return Err(SolveError::Intercept { output, value: *next });
            }
        }
        sum.count_threshold();
        Ok(())
    }

    /// Sets `along` to the direction of a normalized step; returns its squared length.
    fn aim(&mut self, sum: &FiniteSum) -> Result<f64, SolveError> {
        let Gd { x, gradient, along, dense, threshold, .. } = self;
        let mut chosen = 0;
        for ((x, gradient), p) in
            x.coefficients.iter().zip(&gradient.coefficients).zip(&mut along.coefficients)
        {
            if x.is_empty() || self.at_minimum {
                // The gradient lacks the l2 term, which is zero off the support.
                dense.clone_from(gradient);
                x.view().iter().for_each(|(j, value)| dense[j as usize] += sum.ridge() * value);
                threshold.keep(dense, self.sparsity, p)?;
                chosen += 1;
            } else {
                p.fill_from(x.indices(), |j| gradient[j as usize] + sum.ridge() * x.view().get(j));
            }
        }
        if chosen > 0 {
            sum.count_threshold();
        }
        along.intercepts.clone_from(&gradient.intercepts);
        let norm = along.norm_squared() + along.intercepts.iter().map(|a| a * a).sum::<f64>();
        if norm != 0.0 || chosen == self.shape.outputs {
            return Ok(norm);
        }
        // The gradient is zero on the support, so x minimizes f there, as a start may do.
        self.at_minimum = true;
        self.aim(sum)
    }

    fn same_support(&self) -> bool {
        let pairs = self.x.coefficients.iter().zip(&self.next.coefficients);
        pairs.into_iter().all(|(x, next)| x.indices() == next.indices())
    }

    /// Ends the round after a step to `next`, or chooses the stage that completes it.
    fn conclude_step(&mut self, eta: f64, halvings: usize) -> SolverProgress {
        if self.at_minimum && self.same_support() {
            self.stage = Stage::Gradient;
            return SolverProgress::Settled;
        }
        if self.refit {
            self.stage = Stage::Refit;
            return SolverProgress::Evaluated;
        }
        let from_zero = self.x.coefficients.iter().all(SparseVector::is_empty);
        if self.step != GdStep::Normalized || from_zero || self.same_support() || halvings == HALVINGS {
            return self.accept(false);
        }
        self.along.copy_from(&self.next);
        for (along, x) in self.along.coefficients.iter_mut().zip(&self.x.coefficients) {
            let next = along.clone();
            merge_into(next.indices(), x.indices(), &mut self.union);
            along.fill_from(&self.union, |j| next.view().get(j) - x.view().get(j));
        }
        self.along.intercepts.iter_mut().zip(&self.x.intercepts).for_each(|(along, x)| *along -= x);
        self.stage = Stage::Check { eta, halvings };
        SolverProgress::Evaluated
    }

    fn accept(&mut self, at_minimum: bool) -> SolverProgress {
        std::mem::swap(&mut self.x, &mut self.next);
        (self.stage, self.at_minimum) = (Stage::Gradient, at_minimum);
        self.rounds += 1;
        SolverProgress::Moved
    }

    fn stage(&mut self, sum: &mut FiniteSum) -> Result<SolverProgress, SolveError> {
        match self.stage {
            Stage::Gradient => {
                sum.gradient(Batch::All, &self.x, &mut self.gradient)?;
                if let GdStep::Fixed(eta) = self.step {
                    self.try_step(sum, eta)?;
                    return Ok(self.conclude_step(eta, 0));
                }
                let norm = self.aim(sum)?;
                self.largest = self.largest.max(norm);
                if norm <= ROUNDING * ROUNDING * self.largest {
                    return Ok(SolverProgress::Settled);
                }
                self.stage = Stage::Curvature { norm };
                Ok(SolverProgress::Evaluated)
            }
            Stage::Curvature { norm } => {
                let eta = norm / sum.curvature(&self.along)?;
                if eta.is_infinite() {
                    // f is linear along the gradient; these losses are then constant.
                    self.stage = Stage::Gradient;
                    return Ok(SolverProgress::Settled);
                }
                self.try_step(sum, eta)?;
                Ok(self.conclude_step(eta, 0))
            }
            Stage::Check { eta, halvings } => {
                let moved = self.next.distance_squared(&self.x);
                if eta * sum.curvature(&self.along)? <= moved {
                    return Ok(self.accept(false));
                }
                self.try_step(sum, 0.5 * eta)?;
                Ok(self.conclude_step(0.5 * eta, halvings + 1))
            }
            Stage::Refit => Ok(match self.work.stage(sum, &mut self.next)? {
                Refitted::NotYet => SolverProgress::Evaluated,
                Refitted::Minimum => self.accept(true),
                Refitted::Closer => self.accept(false),
            }),
        }
    }
}

impl<T: Threshold> Solver for Gd<T> {
    fn next_calls(&self, sum: &FiniteSum) -> u64 {
        // Every stage makes one pass.
        sum.len() as u64
    }

    fn step(&mut self, sum: &mut FiniteSum, _: &mut Rng) -> Result<SolverProgress, SolveError> {
        self.shape.require(sum)?;
        let progress = self.stage(sum);
        if progress.is_err() {
            self.stage = Stage::Gradient;
            self.work.reset();
        }
        progress
    }

    fn coefficients(&mut self) -> &Predictor {
        &self.x
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }
}
