//! Wrong steps of variance-reduced hard thresholding, in a plain dense copy of the production epoch. Wrong
//! draws need no copy: see [`draws`](super::draws).

use lao_algorithms::thresholding::{BatchLaw, ScsgParams, SolveError, Solver, SolverProgress, UniformDraws};
use lao_finite_sum::{Batch, FiniteSum, Gradient, Predictor};
use lao_kernels::{HardThreshold, Threshold};
use lao_observation::Rng;
use rand::RngExt;

/// A fault in the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepFault {
    /// No fault: the solver is the dense reference of the production solver.
    #[default]
    None,
    /// Steps along the mini-batch gradient alone, without the control variate.
    NoControlVariate,
    /// Leaves out the mini-batch gradient at the snapshot.
    NoCorrection,
    /// Uses the snapshot gradient of the epoch before.
    StaleSnapshot,
    /// Recomputes the snapshot gradient at every iterate.
    FreshSnapshot,
    /// Applies the threshold before the step instead of after it.
    ThresholdsFirst,
    /// Uses the mean of an epoch's iterates as the next snapshot.
    AveragesIterates,
    /// Divides the step size by the step's number.
    DecayingStep,
    /// Draws a batch of n components with replacement.
    ReplacesAll,
}

/// SCSG-HT for one output with a fault, in plain steps that cost O(d) each. Without a fault it makes the same
/// draws as the production solver.
#[derive(Clone, Debug)]
pub struct PlainScsg {
    params: ScsgParams,
    fault: StepFault,
    draws: UniformDraws,
    drawn: Vec<u32>,
    x: Predictor,
    snapshot: Predictor,
    batch: Vec<u32>,
    mu: Vec<f64>,
    before: Vec<f64>,
    iterates: Vec<f64>,
    left: u64,
    steps: u64,
    in_epoch: u64,
    rounds: u64,
}

impl PlainScsg {
    /// Returns a solver that starts at zero, or at the start that the parameters give.
    pub fn new(params: ScsgParams, sum: &FiniteSum, fault: StepFault) -> Self {
        let x = params.start.clone().unwrap_or_else(|| Predictor::zeros(sum.dim(), 1));
        PlainScsg {
            params,
            fault,
            draws: UniformDraws::new(sum.len()),
            drawn: Vec::new(),
            snapshot: x.clone(),
            x,
            batch: Vec::new(),
            mu: Vec::new(),
            before: Vec::new(),
            iterates: vec![0.0; sum.dim()],
            left: 0,
            steps: 0,
            in_epoch: 0,
            rounds: 0,
        }
    }

    fn gradient(sum: &mut FiniteSum, batch: Batch<'_>, at: &Predictor) -> Result<Vec<f64>, SolveError> {
        let mut gradient = Gradient::default();
        sum.gradient(batch, at, &mut gradient)?;
        let mut dense = gradient.coefficients.swap_remove(0);
        at.coefficients[0].view().iter().for_each(|(j, x)| dense[j as usize] += sum.ridge() * x);
        Ok(dense)
    }

    fn begin_epoch(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<(), SolveError> {
        let ScsgParams { batch, mini_batch, length, .. } = self.params;
        let n = sum.len();
        self.batch.clear();
        if batch < n {
            self.draws.subset(n, batch, rng, &mut self.batch);
        } else if self.fault == StepFault::ReplacesAll {
            self.batch.extend((0..n).map(|_| rng.random_range(0..n as u32)));
        } else {
            self.batch.extend(0..n as u32);
        }
        self.snapshot.copy_from(&self.x);
        let mu = Self::gradient(sum, Batch::Components(&self.batch), &self.x)?;
        self.before = std::mem::replace(&mut self.mu, mu);
        if self.before.is_empty() {
            self.before.clone_from(&self.mu);
        }
        self.left = self.draws.length(length, batch, mini_batch, rng);
        self.iterates.fill(0.0);
        self.in_epoch = 0;
        Ok(())
    }

    fn direction(&mut self, sum: &mut FiniteSum) -> Result<Vec<f64>, SolveError> {
        let batch = Batch::Components(&self.drawn);
        let mut v = Self::gradient(sum, batch, &self.x)?;
        let correction = Self::gradient(sum, batch, &self.snapshot)?;
        let fresh;
        let mu = match self.fault {
            StepFault::NoControlVariate => return Ok(v),
            StepFault::StaleSnapshot => &self.before,
            StepFault::FreshSnapshot => {
                fresh = Self::gradient(sum, Batch::Components(&self.batch), &self.x)?;
                &fresh
            }
            _ => &self.mu,
        };
        for ((v, correction), mu) in v.iter_mut().zip(&correction).zip(mu) {
            *v += mu - if self.fault == StepFault::NoCorrection { 0.0 } else { *correction };
        }
        Ok(v)
    }
}

impl Solver for PlainScsg {
    fn next_calls(&self, _: &FiniteSum) -> u64 {
        let ScsgParams { batch, mini_batch, .. } = self.params;
        if self.left == 0 { batch as u64 } else { 2 * mini_batch as u64 }
    }

    fn step(&mut self, sum: &mut FiniteSum, rng: &mut Rng) -> Result<SolverProgress, SolveError> {
        if self.left == 0 {
            self.begin_epoch(sum, rng)?;
            self.rounds += u64::from(self.left == 0);
            return Ok(SolverProgress::Evaluated);
        }
        self.drawn.clear();
        self.draws.subset(sum.len(), self.params.mini_batch, rng, &mut self.drawn);
        let v = self.direction(sum)?;
        self.steps += 1;
        self.in_epoch += 1;
        let mut eta = self.params.step_size;
        if self.fault == StepFault::DecayingStep {
            eta /= self.steps as f64;
        }
        let (x, mut threshold) = (&mut self.x.coefficients[0], HardThreshold::default());
        let mut dense = x.view().to_dense();
        if self.fault == StepFault::ThresholdsFirst {
            threshold.keep(&dense, self.params.sparsity, x)?;
            dense = x.view().to_dense();
        }
        dense.iter_mut().zip(&v).for_each(|(x, v)| *x -= eta * v);
        let kept = if self.fault == StepFault::ThresholdsFirst { dense.len() } else { self.params.sparsity };
        threshold.keep(&dense, kept, x)?;
        sum.count_threshold();
        x.view().iter().for_each(|(j, x)| self.iterates[j as usize] += x);
        self.left -= 1;
        if self.left == 0 {
            self.rounds += 1;
            if self.fault == StepFault::AveragesIterates {
                self.iterates.iter_mut().for_each(|total| *total /= self.in_epoch as f64);
                threshold.keep(&self.iterates, self.iterates.len(), &mut self.x.coefficients[0])?;
            }
        }
        Ok(SolverProgress::Moved)
    }

    fn coefficients(&mut self) -> &Predictor {
        &self.x
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::FaultyDraws;
    use lao_algorithms::thresholding::{EpochLength, Shape};
    use lao_finite_sum::{DesignMatrix, Loss};
    use lao_observation::Seed;

    #[test]
    fn without_a_fault_they_are_the_production_solver() {
        let (mut data, n, d) = (Seed::root(3).rng(), 12, 7);
        let mut number = || data.random_range(-1.0..1.0);
        let rows = DesignMatrix::rows(n, d, (0..n * d).map(|_| number()).collect()).unwrap();
        let labels = (0..n).map(|_| 3.0 * number()).collect();
        let mut sum = FiniteSum::new(rows, Loss::least_squares(labels).unwrap()).unwrap();
        for (batch, mini_batch) in [(n, 3), (6, 2), (5, 1)] {
            let length = EpochLength::Geometric;
            let params = ScsgParams { sparsity: 3, step_size: 0.05, batch, mini_batch, length, start: None };
            let mut production = params.clone().build(Shape::of(&sum)).unwrap();
            let draws = FaultyDraws::new(n, None, None);
            let mut seamed = params.clone().build_with(Shape::of(&sum), draws).unwrap();
            let mut plain = PlainScsg::new(params, &sum, StepFault::None);
            let solvers: [&mut dyn Solver; 3] = [&mut production, &mut seamed, &mut plain];
            let mut ends = Vec::new();
            for solver in solvers {
                let mut rng = Seed::root(4).rng();
                sum.reset_meter();
                while solver.rounds() < 5 {
                    solver.step(&mut sum, &mut rng).unwrap();
                }
                ends.push((solver.coefficients().clone(), sum.meter()));
            }
            assert_eq!(ends[0], ends[1]);
            assert_eq!(ends[0].1, ends[2].1);
            assert!(ends[0].0.distance_squared(&ends[2].0) < 1e-24);
            assert!(ends[0].0.norm_squared() > 0.0);
        }
    }
}
