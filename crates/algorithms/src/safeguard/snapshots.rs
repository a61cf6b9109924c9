//! The guard of any other method: one example in ten tests a snapshot of the estimate, and the estimate is
//! the snapshot times the factor that fits best.

use super::calibration::Verdict;
use super::{CHECK_EVERY, PILOT, Safeguarded};
use lao_observation::{Block, LearnError, Learner as _, Told};

/// The magnitude of a coefficient, for standardized attributes and label, that shows divergence.
const OUT_OF_SCALE: f64 = 1e30;

impl Safeguarded {
    /// Tells the method within a block of standardized examples.
    pub(super) fn learn_values(&mut self, rows: usize) -> Result<(), LearnError> {
        let label = self.scratch.block.labels_mut();
        label[..rows].copy_from_slice(&self.scratch.labels);
        let before = self.inner.updates();
        let outcome = self.inner.tell(Told::Values(self.scratch.block.view(&self.asked)));
        let updates = self.inner.updates().saturating_sub(before);
        self.updates += updates;
        match outcome {
            Err(LearnError::Diverged { .. }) => self.restart(self.task.speed / 2.0),
            outcome => outcome?,
        }
        if updates > 0 && self.examples >= self.due {
            self.judge_snapshot();
        }
        Ok(())
    }

    /// Makes the tested snapshot the estimate if it is good, and takes another one.
    pub(super) fn judge_snapshot(&mut self) {
        let dim = self.task.dim;
        let label = self.scales.mean(dim);
        if self.risk.is_none() {
            self.intercept = label;
        }
        match self.calibration.verdict() {
            Verdict::Good { factor, risk, error } if self.risk.is_none_or(|kept| risk <= kept + error) => {
                let unit = factor * self.scales.deviation(dim);
                self.theta.reset(dim);
                self.intercept = label;
                for (j, weight) in self.calibration.weights.view().iter() {
                    let weight = unit * weight / self.scales.deviation(j as usize);
                    let part = weight * self.scales.mean(j as usize);
                    if part.is_finite() && weight != 0.0 {
                        self.theta.push(j, weight);
                        self.intercept = (self.intercept - part).clamp(f64::MIN, f64::MAX);
                    }
                }
                self.risk = Some(risk.max(0.0));
            }
            Verdict::Worse => self.restart(self.task.speed / 2.0),
            _ => {}
        }
        let weights = self.inner.coefficients();
        if weights.values().iter().any(|w| w.abs() > OUT_OF_SCALE) {
            self.restart(self.task.speed / 2.0);
        } else {
            self.calibration.begin(weights.to_owned_vector(), self.budget());
        }
        self.due = self.examples + (self.examples / 4).max(CHECK_EVERY * PILOT);
    }

    pub(super) fn check(&mut self, told: Block<'_>) {
        let Safeguarded { calibration, scratch, asked, .. } = self;
        let block = scratch.block.view(asked);
        for row in 0..told.rows() {
            calibration.absorb(asked, |at| block.column(at)[row], scratch.labels[row]);
        }
    }
}
