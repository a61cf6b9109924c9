//! AERR and AELR as one learner: a uniform sample for the direction, a weighted one for the residual.

use super::size_law::SizeLaw;
use crate::draws::{DrawCounts, PendingExample, Prediction, require_shape};
use crate::params::ParamError;
use crate::state;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::sample::uniform_draws;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, LearnError, Learner, Rng, Row, Told};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

/// The draws of AERR or AELR for one example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TwoSampleDraws {
    /// `i_1 .. i_k`: uniform, with replacement, in any order.
    pub uniform: Vec<u32>,
    /// `j`: drawn with a probability that grows with `|w_j|`. Any attribute when `w = 0`.
    pub weighted: u32,
}

/// An iterate `w_t` in a ball, with the sum of all iterates so far. A step costs O(k log d), amortized.
pub trait Iterate {
    /// Returns `d`.
    fn dim(&self) -> usize;

    /// Returns `B`.
    fn radius(&self) -> f64;

    /// Returns `w_j`; 0 beyond the dimension.
    fn get(&self, j: u32) -> f64;

    /// Draws `j` with a probability that grows with `|w_j|`; none when `w = 0`.
    fn draw(&mut self, rng: &mut Rng) -> Option<u32>;

    /// Returns `w`, all d coordinates.
    fn to_dense(&self) -> Vec<f64>;

    /// Returns the average of `count` iterates, or `w` if there were none.
    fn average(&self, count: u64) -> SparseVector;

    /// Refuses a state that no sequence of `done` steps leads to. The caller checks the radius.
    ///
    /// # Errors
    /// [`Damaged`] with what is wrong.
    fn check(&self, what: &'static str, done: u64) -> Result<(), Damaged>;
}

/// The parts in which AERR and AELR differ: how `w.x` is estimated from the `x_j` drawn, and how `w` moves.
pub trait TwoSampleMethod: Iterate + Serialize + DeserializeOwned {
    /// The name of the method in messages.
    const METHOD: &'static str;

    /// Returns the unbiased estimate of `w.x` from the attribute `j` drawn, whose `w_j` is not 0.
    fn inner_product(&self, w_j: f64, x_j: f64) -> f64;

    /// Counts the current `w` into the average, then moves `w` against `phi x~`, where
    /// `x~ = (d/k) sum_r x[i_r] e_{i_r}` is a sum over the uniform draws.
    ///
    /// # Errors
    /// [`LearnError::Diverged`] when the step is not finite; `w` then stays as it was.
    fn descend(&mut self, uniform: Row<'_>, phi: f64, step: Step) -> Result<(), LearnError>;
}

/// The sizes of one step of an iterate.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// `k`.
    pub draws: usize,
    /// `eta`.
    pub size: f64,
    /// `t`, counted from 1.
    pub update: u64,
}

/// The learner of Algorithms 1 and 2, [`Aerr`](super::Aerr) and [`Aelr`](super::Aelr). An example costs O(k
/// log d), amortized; the learner keeps O(d) memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", bound = "I: TwoSampleMethod")]
pub struct TwoSample<I> {
    draws: usize,
    step_size: f64,
    prediction: Prediction,
    iterate: I,
    pending: PendingExample,
    /// The law of the draws that are uniform otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    law: Option<SizeLaw>,
    done: u64,
    /// The values of the attributes drawn, as if the draws had been uniform.
    #[serde(skip)]
    values: Vec<f64>,
    #[serde(skip)]
    average: OnceCell<SparseVector>,
}

lao_observation::stored!(TwoSample<I: TwoSampleMethod>);

impl<I: TwoSampleMethod> Validate for TwoSample<I> {
    fn validate(&self) -> Result<(), Damaged> {
        let TwoSample { draws, step_size, prediction, iterate, pending, law, done, .. } = self;
        require_shape(I::METHOD, iterate.dim(), *draws, iterate.radius(), *step_size)
            .map_err(ParamError::damaged)?;
        state::count(I::METHOD, "the number of updates", *done)?;
        iterate.check(I::METHOD, *done)?;
        if let Some(law) = law {
            law.check(I::METHOD, iterate.dim())?;
        }
        let wanted = DrawCounts { uniform: *draws, weighted: 1 };
        pending.check(I::METHOD, iterate.dim(), *prediction, wanted)
    }
}

impl<I: TwoSampleMethod> TwoSample<I> {
    /// Returns the learner at `iterate`. The caller has checked the parameters.
    pub(super) fn at(iterate: I, draws: usize, step_size: f64, prediction: Prediction) -> Self {
        let pending = PendingExample::new(iterate.dim(), prediction);
        let (law, values, average) = (None, Vec::new(), OnceCell::new());
        TwoSample { draws, step_size, prediction, iterate, pending, law, done: 0, values, average }
    }

    /// Draws attributes in proportion to these sizes, one for each attribute: their root mean squares, or
    /// estimates of them. They change the law of what is observed, and each draw is weighted for it, so that
    /// the estimates stay unbiased; an attribute of size 0 is never drawn, and must be 0. Where sizes differ
    /// a larger step size is right: that for `(sum of the sizes)^2` where the theorem has `d sum_j E x_j^2`.
    ///
    /// *Source*: Kukliansky & Shamir 2015.
    ///
    /// # Errors
    /// [`ParamError`] when there is not one number of at least 0 for each attribute, or none is positive.
    pub fn drawing_by(self, sizes: &[f64]) -> Result<Self, ParamError> {
        let law = SizeLaw::new(I::METHOD, self.iterate.dim(), sizes)?;
        Ok(TwoSample { law: Some(law), ..self })
    }

    /// Returns `w_t`, all d coordinates, at a cost of O(d).
    pub fn iterate(&self) -> Vec<f64> {
        self.iterate.to_dense()
    }

    /// Asks like [`ask`](Learner::ask), with these draws instead of random ones. A state that is stored while
    /// it awaits another number of uniform draws than `k` cannot be read.
    pub fn ask_for(&mut self, draws: &TwoSampleDraws, ask: &mut Ask) {
        let (uniform, weighted) = self.pending.draws();
        uniform.extend_from_slice(&draws.uniform);
        weighted.push(draws.weighted);
        self.pending.ask_given(ask);
    }

    /// Returns the draws of the example that was asked for last.
    pub fn drawn(&self) -> TwoSampleDraws {
        let (uniform, weighted) = self.pending.drawn();
        TwoSampleDraws { uniform: uniform.to_vec(), weighted: weighted.first().copied().unwrap_or_default() }
    }

    /// Returns the estimate of `w.x` from the attribute drawn by weight; 0 when its weight is 0.
    fn inner_product(&self, weighted: Row<'_>) -> f64 {
        let (Some(&j), Some(&x_j)) = (weighted.attributes.first(), weighted.values.first()) else {
            return 0.0;
        };
        match self.iterate.get(j) {
            0.0 => 0.0,
            w_j => self.iterate.inner_product(w_j, x_j),
        }
    }
}

impl<I: TwoSampleMethod> Learner for TwoSample<I> {
    fn dim(&self) -> usize {
        self.iterate.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.pending.pending() {
            return self.pending.ask_given(ask);
        }
        let (uniform, weighted) = self.pending.draws();
        match &self.law {
            Some(law) => law.draw(self.draws, rng, uniform),
            None => uniform_draws(self.iterate.dim(), self.draws, rng, uniform),
        }
        weighted.push(self.iterate.draw(rng).unwrap_or(uniform[0]));
        self.pending.ask(ask);
    }

    fn predict(&self, seen: Row<'_>) -> f64 {
        match self.prediction {
            Prediction::Unbiased => self.inner_product(self.pending.split(seen).1),
            Prediction::Observed => self.pending.observed_part(seen, |j| self.iterate.get(j)),
        }
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let seen = self.pending.answer(told)?;
        let phi = self.inner_product(seen.weighted) - seen.label;
        let step = Step { draws: self.draws, size: self.step_size, update: self.done + 1 };
        let mut uniform = seen.uniform;
        if let Some(law) = &self.law {
            let weighted = uniform.attributes.iter().zip(uniform.values).map(|(&j, x)| law.weight(j) * x);
            self.values.clear();
            self.values.extend(weighted);
            uniform = Row { attributes: uniform.attributes, values: &self.values };
        }
        self.iterate.descend(uniform, phi, step)?;
        self.done += 1;
        self.average.take();
        self.pending.clear();
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.average.get_or_init(|| self.iterate.average(self.done)).view()
    }

    fn updates(&self) -> u64 {
        self.done
    }
}
