//! GD-HT: full-gradient steps, hard thresholding, and, if wanted, a refit on the support found.
//!
//! *Source*: Jain, Tewari & Kar 2014 (GD-HT); Foucart 2011 (refit: HTP); Blumensath & Davies 2010 (normalised step); as rivals of
//! Liang et al. 2020.
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
//! A normalised step is `eta = |p|^2 / p'Hp`, p the gradient on the support of x or, where that vanishes (at a refit point) or x is
//! zero, its k largest entries. `p'Hp` is exact for least squares, else the loss's curvature bound. Where the support
//! changes, eta is halved until it is at most `|dx|^2 / dx'H dx`, so that f falls.
//! With refit and an unchanged support the iterate is a fixed point, and the solver says so.
//!
//! Costs n IFO calls and 1 thresholding; a normalised step n more for each curvature; a refit n for least squares, else n or
//! 2n for each of its gradient steps.
//!
//! *Departures*: the refit solves normal equations for least squares (of columns that depend on each other the first are used) and
//! makes `REFIT_STEPS` descent steps for other losses, instead of minimising exactly. Steps are halved, where Blumensath &
//! Davies divide by a constant that they leave open.
//!
//! *Claims*: `scsg20-table1-counts`, `scsg20-thm1-small-eta`.

use super::{Progress, Shape, SolveError, Solver, require_sparsity, require_start};
use crate::params::{ParamError, require_step};
use lao_kernels::{HardThreshold, SparseVector, Threshold, merge_into, solve_positive};
use lao_observation::finite_sum::NormalEquations;
use lao_observation::{Batch, FiniteSum, Gradient, Predictor, Rng};
use serde::{Deserialize, Serialize};

const NAME: &str = "GD-HT";

/// Descent steps of a refit that has no closed form.
const REFIT_STEPS: usize = 20;

/// Halvings of a normalised step, at most.
const HALVINGS: usize = 30;

/// How long steps are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GdStep {
    /// `eta`, the same always; `2/(3 L)` in the theory, L the restricted smoothness.
    Fixed(f64),
    /// From the curvature at the iterate.
    Normalised,
}

/// Parameters of [`Gd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GdParams {
    /// `k`, non-zeros kept per output, at least 1.
    pub sparsity: usize,
    /// `eta`.
    pub step: GdStep,
    /// Whether to minimise over the support after each step.
    pub refit: bool,
    /// Where to start; `None` is zero.
    pub start: Option<Predictor>,
}

impl GdParams {
    /// Normalised steps with refit.
    pub fn practical(sparsity: usize) -> Self {
        GdParams { sparsity, step: GdStep::Normalised, refit: true, start: None }
    }

    /// The solver for sums of this shape.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn check(self, shape: Shape) -> Result<Gd, ParamError> {
        self.check_with(shape, HardThreshold::default())
    }

    /// The solver with another thresholding operator.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_with<T: Threshold>(self, shape: Shape, mut threshold: T) -> Result<Gd<T>, ParamError> {
        let GdParams { sparsity, step, refit, start } = self;
        require_sparsity(NAME, sparsity)?;
        if let GdStep::Fixed(eta) = step {
            require_step(NAME, eta)?;
        }
        let mut x = require_start(NAME, start, shape)?;
        for x in &mut x.coefficients {
            let dense = x.view().to_dense();
            // The start is finite: it was checked.
            let _ = threshold.keep(&dense, sparsity, x);
        }
        Ok(Gd {
            shape,
            sparsity,
            step,
            refit,
            next: x.clone(),
            x,
            gradient: Gradient::default(),
            dense: Vec::with_capacity(shape.dim),
            threshold,
            rounds: 0,
        })
    }
}

/// The solver of GD-HT and HTP. Keeps O(c d) memory for c outputs.
#[derive(Clone, Debug)]
pub struct Gd<T = HardThreshold> {
    shape: Shape,
    sparsity: usize,
    step: GdStep,
    refit: bool,
    x: Predictor,
    next: Predictor,
    gradient: Gradient,
    dense: Vec<f64>,
    threshold: T,
    rounds: u64,
}

impl<T: Threshold> Gd<T> {
    /// `next <- H_k(x - eta g)`, g without its l2 term.
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
        for (next, (x, gradient)) in next.intercepts.iter_mut().zip(old) {
            *next = x - eta * gradient;
        }
        sum.count_threshold();
        Ok(())
    }

    /// `|p|^2 / p'Hp`; none where p is zero.
    fn normalised(&mut self, sum: &mut FiniteSum) -> Result<Option<f64>, SolveError> {
        let mut along = Predictor::zeros(self.shape.dim, self.shape.outputs);
        let at_refit = self.refit && self.rounds > 0;
        for (l, p) in along.coefficients.iter_mut().enumerate() {
            let (x, gradient) = (&self.x.coefficients[l], &self.gradient.coefficients[l]);
            if x.is_empty() || at_refit {
                self.threshold.keep(gradient, self.sparsity, p)?;
                sum.count_threshold();
            } else {
                p.fill_from(x.indices(), |j| gradient[j as usize] + sum.ridge() * x.view().get(j));
            }
        }
        along.intercepts.clone_from(&self.gradient.intercepts);
        let norm = along.norm_squared() + along.intercepts.iter().map(|a| a * a).sum::<f64>();
        let curvature = sum.curvature(&along)?;
        Ok((norm > 0.0 && curvature > 0.0).then(|| norm / curvature))
    }

    /// Halves the step until f falls, where the support changes.
    fn descend(&mut self, sum: &mut FiniteSum, mut eta: f64) -> Result<(), SolveError> {
        self.try_step(sum, eta)?;
        for _ in 0..HALVINGS {
            let kept = self.x.coefficients.iter().zip(&self.next.coefficients);
            if kept.clone().all(|(x, next)| x.is_empty() || x.indices() == next.indices()) || self.refit {
                return Ok(());
            }
            let mut along = self.next.clone();
            for (along, x) in along.coefficients.iter_mut().zip(&self.x.coefficients) {
                *along = difference(along, x);
            }
            along.intercepts.iter_mut().zip(&self.x.intercepts).for_each(|(a, x)| *a -= x);
            let (moved, curvature) = (self.next.distance_squared(&self.x), sum.curvature(&along)?);
            if eta * curvature <= moved {
                return Ok(());
            }
            eta *= 0.5;
            self.try_step(sum, eta)?;
        }
        Ok(())
    }

    fn refit(&mut self, sum: &mut FiniteSum) -> Result<(), SolveError> {
        let equations = sum.normal_equations(self.next.coefficients[0].indices())?;
        if let Some(NormalEquations { mut gram, mut right }) = equations {
            solve_positive(&mut gram, &mut right);
            if let Some(index) = right.iter().position(|value| !value.is_finite()) {
                return Err(lao_kernels::NotFinite { index, value: right[index] }.into());
            }
            let x = &mut self.next.coefficients[0];
            x.values_mut().copy_from_slice(&right);
            self.next.intercepts[0] = sum.best_intercept(x)?;
            return Ok(());
        }
        refit_by_descent(sum, &mut self.next)
    }
}

/// `a - b` on the union of their supports.
fn difference(a: &SparseVector, b: &SparseVector) -> SparseVector {
    let (mut union, mut out) = (Vec::new(), SparseVector::zeros(a.dim()));
    merge_into(a.indices(), b.indices(), &mut union);
    out.fill_from(&union, |j| a.view().get(j) - b.view().get(j));
    out
}

/// Descent steps on the supports of `x`, over the columns of their union alone, each along the gradient and as long as the
/// curvature bound allows.
fn refit_by_descent(sum: &FiniteSum, x: &mut Predictor) -> Result<(), SolveError> {
    let mut union = Vec::new();
    for vector in &x.coefficients {
        let so_far = std::mem::take(&mut union);
        merge_into(&so_far, vector.indices(), &mut union);
    }
    let place = |j: u32| union.binary_search(&j).unwrap_or(0) as u32;
    let mut small = sum.restricted(&union)?;
    let mut at = Predictor { coefficients: Vec::new(), intercepts: x.intercepts.clone() };
    for vector in &x.coefficients {
        let mut renumbered = SparseVector::zeros(union.len());
        vector.view().iter().for_each(|(j, value)| renumbered.push(place(j), value));
        at.coefficients.push(renumbered);
    }
    let (mut gradient, mut along) = (Gradient::default(), at.clone());
    for _ in 0..REFIT_STEPS {
        small.gradient(Batch::All, &at, &mut gradient)?;
        for ((p, x), gradient) in
            along.coefficients.iter_mut().zip(&at.coefficients).zip(&gradient.coefficients)
        {
            p.fill_from(x.indices(), |j| gradient[j as usize] + sum.ridge() * x.view().get(j));
        }
        along.intercepts.clone_from(&gradient.intercepts);
        let norm = along.norm_squared() + along.intercepts.iter().map(|a| a * a).sum::<f64>();
        let curvature = small.curvature(&along)?;
        if !(norm > 0.0 && curvature > 0.0) {
            break;
        }
        let eta = norm / curvature;
        for (x, p) in at.coefficients.iter_mut().zip(&along.coefficients) {
            x.values_mut().iter_mut().zip(p.values()).for_each(|(x, p)| *x -= eta * p);
        }
        at.intercepts.iter_mut().zip(&along.intercepts).for_each(|(x, p)| *x -= eta * p);
    }
    for (x, at) in x.coefficients.iter_mut().zip(&at.coefficients) {
        x.values_mut().copy_from_slice(at.values());
    }
    x.intercepts = at.intercepts;
    sum.charge(small.meter());
    Ok(())
}

impl<T: Threshold> Solver for Gd<T> {
    fn next_calls(&self, sum: &FiniteSum) -> u64 {
        // At least: a normalised step may look at the curvature more than once.
        let curvature = u64::from(self.step == GdStep::Normalised);
        let least_squares = sum.loss().squares().is_some();
        let refit = if least_squares { 1 } else { 2 * REFIT_STEPS as u64 };
        (1 + curvature + if self.refit { refit } else { 0 }) * sum.len() as u64
    }

    fn step(&mut self, sum: &mut FiniteSum, _: &mut Rng) -> Result<Progress, SolveError> {
        self.shape.require(sum)?;
        sum.gradient(Batch::All, &self.x, &mut self.gradient)?;
        match self.step {
            GdStep::Fixed(eta) => self.try_step(sum, eta)?,
            GdStep::Normalised => match self.normalised(sum)? {
                Some(eta) => self.descend(sum, eta)?,
                None => return Ok(Progress::Settled),
            },
        }
        if self.refit {
            let same = self.x.coefficients.iter().zip(&self.next.coefficients);
            let settled = same.clone().all(|(x, next)| x.indices() == next.indices());
            if settled && self.rounds > 0 && sum.loss().squares().is_some() {
                return Ok(Progress::Settled);
            }
            self.refit(sum)?;
        }
        std::mem::swap(&mut self.x, &mut self.next);
        self.rounds += 1;
        Ok(Progress::Moved)
    }

    fn coefficients(&mut self) -> &Predictor {
        &self.x
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }
}
