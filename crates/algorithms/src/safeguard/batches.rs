//! The guard of a method of mini-batches: the examples of an update test the estimate before it, and the
//! estimate is the least squares fit on the support.

use super::refit::Solution;
use super::{LARGEST, Safeguarded};
use lao_kernels::{axpy_column, gradient_block};
use lao_observation::{Block, GradientSum, LearnError, Learner as _, Told};

/// An error of so many times the smallest one ends a step size at once; any larger one does after so many
/// updates on end.
const DIVERGES: f64 = 4.0;
const PATIENCE: u32 = 4;
/// `speed` times the largest eigenvalue on the support, above which gradient steps of the size `speed/4` on
/// squared errors grow, and the product that is safe.
const UNSTABLE: f64 = 4.0;
const STABLE: f64 = 2.0;

impl Safeguarded {
    /// Tells the method within the gradient sum over a block of standardized examples.
    pub(super) fn learn_gradient(&mut self, told: Block<'_>) -> Result<(), LearnError> {
        let (rows, dim) = (told.rows(), self.task.dim);
        let Safeguarded { scratch, asked, at, coordinates, refit, .. } = self;
        let block = scratch.block.view(asked);
        let place = |j: u32| asked.binary_search(&j).unwrap_or(0);
        let errors = &mut scratch.errors;
        errors.clear();
        errors.extend(scratch.labels.iter().map(|v| -v));
        for (j, weight) in at.view().iter() {
            axpy_column(errors, block.column(place(j)), weight);
        }
        if !refit.support().iter().all(|j| asked.binary_search(j).is_ok()) {
            refit.begin(at.indices(), &self.scales, dim);
        }
        if !errors.iter().all(|r| r.abs() < LARGEST) {
            self.restart(self.task.speed / 2.0);
            return Ok(());
        }
        refit.absorb(&self.scales, |j| told.column(place(j)), told.labels());
        self.errors.add(errors);
        let sums = &mut scratch.sums;
        sums.clear();
        sums.resize(coordinates.len(), 0.0);
        gradient_block(coordinates.iter().map(|&j| block.column(place(j))), errors, sums);
        sums.iter_mut().for_each(|g| *g *= 2.0);
        let part = GradientSum { attributes: coordinates, sum: sums, examples: rows as u64 };
        let before = self.inner.updates();
        let outcome = self.inner.tell(Told::Gradient(part));
        let updates = self.inner.updates().saturating_sub(before);
        self.updates += updates;
        match outcome {
            Err(LearnError::Diverged { .. }) => self.restart(self.task.speed / 2.0),
            outcome => outcome?,
        }
        if updates > 0 {
            self.judge();
        } else if self.refit.is_due() {
            self.refit();
        }
        Ok(())
    }

    /// Fits the label on the support and keeps the fit if it is better than the one before. Returns the
    /// largest eigenvalue on the support, or 0 if there are not enough examples to fit.
    fn refit(&mut self) -> f64 {
        let Some(found) = self.refit.solve_when_due(self.task.dim) else { return 0.0 };
        let curvature = found.curvature;
        if self.keep(found) {
            self.updates += 1;
        }
        curvature
    }

    /// After an update: keeps the best fit, and looks whether the step size is too large.
    pub(super) fn judge(&mut self) {
        let curvature = self.refit();
        if self.risk.is_none() {
            self.intercept = self.scales.mean(self.task.dim);
        }
        let now = std::mem::take(&mut self.errors);
        let best = self.best.unwrap_or(now);
        let above = now.mean() - best.mean() > 3.0 * (now.doubt() + best.doubt());
        self.worse = if above { self.worse + 1 } else { 0 };
        if self.best.is_none() || now.mean() < best.mean() {
            self.best = Some(now);
            self.best_theta.copy_from(self.at.view());
        }
        let speed = self.task.speed;
        if speed * curvature > UNSTABLE {
            self.restart(STABLE / curvature);
        } else if (above && now.mean() > DIVERGES * best.mean()) || self.worse >= PATIENCE {
            self.restart(speed / 2.0);
        }
        self.begin_refit();
    }

    /// Makes a fit the estimate, if it rests on more examples of the same support, or if its error has the
    /// smallest bound so far. Returns whether it did.
    pub(super) fn keep(&mut self, found: Solution) -> bool {
        let more = found.theta.indices() == self.theta.indices();
        let better = found.significant && self.risk.is_none_or(|risk| more || found.risk_bound < risk);
        if better {
            (self.theta, self.intercept) = (found.theta, found.intercept);
            self.risk = Some(found.risk_bound);
        }
        better
    }

    pub(super) fn begin_refit(&mut self) {
        let Safeguarded { refit, inner, scales, task, .. } = self;
        let support = inner.coefficients();
        if refit.support() != support.indices() || refit.is_blind() {
            refit.begin(support.indices(), scales, task.dim);
        }
    }
}
