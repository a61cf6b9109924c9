//! AERR and AELR with a fault in their estimates.
//!
//! Both learners update along `phi x~`, where `phi` comes from one attribute drawn by weight and `x~` from
//! uniform draws. A change of the label shifts `phi`, and a change of a value scales its coordinate of `x~`.
//! Any other `phi` and `x~` on the same draws can therefore be passed to the learner as another example, and
//! the update itself stays production code.

use lao_algorithms::hazan_koren::{Aelr, Aerr, TwoSampleDraws};
use lao_observation::sample::uniform_draws;
use lao_observation::{Ask, BlockBuf, Example, LearnError, Learner, Rng, Told};
use rand::RngExt;

/// The interface that the two methods share.
pub trait TwoDraws: Learner {
    /// Fills `ask` like [`Learner::ask`], with these draws instead of random ones.
    fn ask_for(&mut self, draws: &TwoSampleDraws, ask: &mut Ask);
    /// Returns the draws for the example that was asked for last.
    fn drawn(&self) -> TwoSampleDraws;
    /// Returns `w_t`.
    fn iterate(&self) -> Vec<f64>;
    /// Returns the probability of drawing a coefficient by weight, up to a common factor.
    fn weight(coefficient: f64) -> f64;
    /// Returns the factor of `x_j` in `phi`, where `total` is the sum of all weights.
    fn factor(total: f64, coefficient: f64) -> f64;
}

impl TwoDraws for Aerr {
    fn ask_for(&mut self, draws: &TwoSampleDraws, ask: &mut Ask) {
        Aerr::ask_for(self, draws, ask);
    }
    fn drawn(&self) -> TwoSampleDraws {
        Aerr::drawn(self)
    }
    fn iterate(&self) -> Vec<f64> {
        Aerr::iterate(self)
    }
    fn weight(coefficient: f64) -> f64 {
        coefficient * coefficient
    }
    fn factor(total: f64, coefficient: f64) -> f64 {
        total / coefficient
    }
}

impl TwoDraws for Aelr {
    fn ask_for(&mut self, draws: &TwoSampleDraws, ask: &mut Ask) {
        Aelr::ask_for(self, draws, ask);
    }
    fn drawn(&self) -> TwoSampleDraws {
        Aelr::drawn(self)
    }
    fn iterate(&self) -> Vec<f64> {
        Aelr::iterate(self)
    }
    fn weight(coefficient: f64) -> f64 {
        coefficient.abs()
    }
    fn factor(total: f64, coefficient: f64) -> f64 {
        total * coefficient.signum()
    }
}

/// The estimates of one example, for a fault to change.
#[derive(Debug)]
pub struct TwoSampleEstimates<'a> {
    /// `w_t`.
    pub w: &'a [f64],
    /// `k`.
    pub draws: usize,
    /// The attribute drawn by weight; it is arbitrary when `w = 0`.
    pub drawn: usize,
    /// The value of that attribute.
    pub value: f64,
    /// The label.
    pub label: f64,
    /// `phi`, the estimate of `w.x - y`.
    pub phi: f64,
    /// The coordinates of `x~` that were drawn uniformly.
    pub direction: Vec<(u32, f64)>,
}

/// A learner whose estimates pass through `fault` before it updates.
#[derive(Debug)]
pub struct Tampered<L, F> {
    inner: L,
    fault: F,
    draws: TwoSampleDraws,
    count: usize,
    w: Vec<f64>,
    block: BlockBuf,
}

impl<L: TwoDraws, F: FnMut(&mut TwoSampleEstimates<'_>)> Tampered<L, F> {
    /// Returns `inner`, which makes `count` uniform draws per example, with `fault`.
    pub fn new(inner: L, count: usize, fault: F) -> Self {
        Tampered {
            inner,
            fault,
            draws: TwoSampleDraws::default(),
            count,
            w: Vec::new(),
            block: BlockBuf::new(),
        }
    }

    /// Fills `ask` like [`ask`](Learner::ask), with these draws instead of random ones.
    pub fn ask_for(&mut self, draws: &TwoSampleDraws, ask: &mut Ask) {
        self.w = self.inner.iterate();
        self.draws.clone_from(draws);
        self.inner.ask_for(draws, ask);
    }

    /// Returns the learner behind the fault.
    pub fn inner(&self) -> &L {
        &self.inner
    }

    fn total(&self) -> f64 {
        self.w.iter().map(|&w| L::weight(w)).sum()
    }
}

impl<L: TwoDraws, F: FnMut(&mut TwoSampleEstimates<'_>)> Learner for Tampered<L, F> {
    crate::hand_on!(inner: dim coefficients updates);

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        self.w = self.inner.iterate();
        self.draws.uniform.clear();
        uniform_draws(self.w.len(), self.count, rng, &mut self.draws.uniform);
        let mut left = rng.random::<f64>() * self.total();
        let place = self.w.iter().position(|&w| {
            left -= L::weight(w);
            left < 0.0
        });
        self.draws.weighted = place.map_or(self.draws.uniform[0], |j| j as u32);
        self.inner.ask_for(&self.draws, ask);
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Told::Values(block) = told else { return self.inner.tell(told) };
        let Some(Example { seen, label }) = block.single() else { return self.inner.tell(told) };
        let place = |j: u32| seen.attributes.iter().position(|&seen| seen == j).unwrap_or(0);
        let drawn = self.draws.weighted;
        let factor = match self.w[drawn as usize] {
            0.0 => 0.0,
            w => L::factor(self.total(), w),
        };
        let value = seen.values[place(drawn)];
        let scale = |j: u32| {
            let times = self.draws.uniform.iter().filter(|&&i| i == j).count() as f64;
            times * self.w.len() as f64 / self.count as f64
        };
        let mut uniform = self.draws.uniform.clone();
        uniform.sort_unstable();
        uniform.dedup();
        let mut estimates = TwoSampleEstimates {
            w: &self.w,
            draws: self.count,
            drawn: drawn as usize,
            value,
            label,
            phi: factor * value - label,
            direction: uniform.iter().map(|&j| (j, scale(j) * seen.values[place(j)])).collect(),
        };
        (self.fault)(&mut estimates);
        let (phi, direction) = (estimates.phi, estimates.direction);

        self.block.reset(seen.attributes.len(), 1);
        for (c, &value) in seen.values.iter().enumerate() {
            self.block.column_mut(c)[0] = value;
        }
        for (j, value) in direction {
            // Every draw of the attribute shows the same value.
            for (c, _) in seen.attributes.iter().enumerate().filter(|&(_, &seen)| seen == j) {
                self.block.column_mut(c)[0] = value / scale(j);
            }
        }
        let value = self.block.column_mut(place(drawn))[0];
        self.block.labels_mut()[0] = factor * value - phi;
        self.block.set_rows(1);
        self.inner.tell(Told::Values(self.block.view(seen.attributes)))
    }
}
