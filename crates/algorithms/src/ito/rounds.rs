//! The rounds that Algorithm 1, greedy and uniform choice share: *Observe(w_t, k', k_1)*, estimate the
//! gradient, and add the estimate to a sum.

use super::dual_average::{DualAverage, Regularization};
use super::gram::{GramWeights, Observe};
use super::largest::Largest;
use crate::params::{ParamError, require};
use crate::state;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Example, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::marker::PhantomData;

/// The method, which decides the sizes of `S_t` and `U_t`. The parameters of each method implement this
/// trait.
pub trait Choice {
    /// The name of the method in messages.
    const METHOD: &'static str;

    /// Refuses sizes that the method never has.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    fn require(law: Observe) -> Result<(), ParamError>;
}

/// The learner of Algorithm 1, of greedy and of uniform choice: [`Rda1`](super::Rda1),
/// [`Greedy`](super::Greedy) and [`Uniform`](super::Uniform).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", try_from = "Stored", bound = "C: Choice")]
pub struct DualAveragingRounds<C> {
    /// `k_1`.
    largest_count: usize,
    budget: usize,
    average: DualAverage,
    /// `S_t`, its members in `U_t` first.
    asked: Vec<u32>,
    /// Whether `S_t` still waits for its example.
    pending: bool,
    #[serde(skip)]
    estimates: GramWeights,
    /// `U_t`.
    #[serde(skip)]
    largest: Largest,
    /// `w_t` and `g^_t` at the members of `S_t`.
    #[serde(skip)]
    weights: Vec<f64>,
    #[serde(skip)]
    gradient: Vec<f64>,
    #[serde(skip)]
    current: OnceCell<SparseVector>,
    #[serde(skip)]
    choice: PhantomData<C>,
}

lao_observation::stored!(DualAveragingRounds<C: Choice>);

impl<C: Choice> Validate for DualAveragingRounds<C> {
    fn validate(&self) -> Result<(), Damaged> {
        C::require(self.law()).map_err(ParamError::damaged)
    }
}

/// The stored part of [`DualAveragingRounds`]; the rest follows from it.
#[derive(Deserialize)]
struct Stored {
    largest_count: usize,
    budget: usize,
    average: DualAverage,
    asked: Vec<u32>,
    pending: bool,
}

/// The name of stored rounds in messages.
const STORED: &str = "state of dual averaging";

impl<C: Choice> TryFrom<Stored> for DualAveragingRounds<C> {
    type Error = Damaged;

    /// Checks everything but the size of `k_1`, which depends on the method.
    fn try_from(stored: Stored) -> Result<Self, Damaged> {
        let Stored { largest_count, budget, average, asked, pending } = stored;
        let dim = average.dim();
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, STORED, || reason);
        super::require_common(STORED, dim, budget, average.radius()).map_err(ParamError::damaged)?;
        damaged(largest_count <= budget, "more attributes are kept than observed")?;
        let mut sorted = asked.clone();
        sorted.sort_unstable();
        damaged(state::is_set(&sorted, dim), "the attributes asked for are no set of attributes")?;
        let rounds = Self::assemble(average, budget, largest_count);
        if pending {
            state::length(STORED, "the set asked for", asked.len(), budget)?;
            let begins = asked.starts_with(rounds.largest.kept());
            damaged(begins, "the set asked for does not begin with the largest weights")?;
        }
        Ok(DualAveragingRounds { asked, pending, ..rounds })
    }
}

impl<C: Choice> DualAveragingRounds<C> {
    /// Returns the learner at `w_1 = 0`. The caller has checked the parameters.
    pub(super) fn new(law: Observe, regularization: Regularization, radius: f64) -> Self {
        Self::assemble(DualAverage::new(law.dim, regularization, radius), law.budget, law.kept)
    }

    fn assemble(average: DualAverage, budget: usize, largest_count: usize) -> Self {
        let law = Observe { dim: average.dim(), budget, kept: largest_count };
        DualAveragingRounds {
            largest_count,
            budget,
            estimates: law.estimates(),
            largest: Largest::new(average.sum(), largest_count),
            average,
            asked: Vec::new(),
            pending: false,
            weights: Vec::new(),
            gradient: Vec::new(),
            current: OnceCell::new(),
            choice: PhantomData,
        }
    }

    /// Returns the learner with the gradient sum `h = sum`, which gives an arbitrary `w_t` in the ball.
    ///
    /// # Errors
    /// [`ParamError`] when `sum` is not `d` finite numbers.
    pub fn with_gradient_sum(mut self, sum: &[f64]) -> Result<Self, ParamError> {
        let (method, dim) = (C::METHOD, self.dim());
        require(
            sum.len() == dim,
            method,
            "gradient_sum",
            sum.len(),
            format_args!("a list of {dim} entries"),
        )?;
        let large = sum.iter().find(|h| !super::dual_average::small(**h));
        let value = large.copied().unwrap_or_default();
        require(large.is_none(), method, "gradient_sum", value, "a list of finite entries below 1e149")?;
        self.average.set_sum(sum);
        Ok(Self::assemble(self.average, self.budget, self.largest_count))
    }

    /// Returns the law that the observed set `S_t` is drawn from.
    pub fn law(&self) -> Observe {
        Observe { dim: self.dim(), budget: self.budget, kept: self.largest_count }
    }

    /// Returns `U_t`, sorted.
    pub fn largest(&self) -> &[u32] {
        self.largest.kept()
    }

    /// Returns `w_t`.
    pub fn iterate(&self) -> Vec<f64> {
        self.average.weights()
    }

    /// Returns `h`, the sum of all gradient estimates.
    pub fn gradient_sum(&self) -> Vec<f64> {
        self.average.sum().to_vec()
    }

    /// Asks like [`ask`](Learner::ask), with `V_t = drawn`, which are `k' - k_1` attributes outside
    /// [`largest`](Self::largest). Attributes inside it or out of range are left out.
    pub fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        let mut others = Vec::new();
        state::set_of(drawn, self.dim(), &mut others);
        others.retain(|&j| !self.largest.contains(j));
        self.asked.clear();
        self.asked.extend_from_slice(self.largest.kept());
        self.asked.extend(others);
        self.pending = true;
        ask.values(1).extend_from_slice(&self.asked);
    }
}

impl<C: Choice> Learner for DualAveragingRounds<C> {
    fn dim(&self) -> usize {
        self.average.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if !self.pending {
            self.largest.draw(self.budget - self.largest_count, rng, &mut self.asked);
            self.pending = true;
        }
        ask.values(1).extend_from_slice(&self.asked);
    }

    /// Returns `w_t' D_t x_t`.
    fn predict(&self, seen: Row<'_>) -> f64 {
        seen.attributes.iter().zip(seen.values).map(|(&j, x)| self.average.weight(j) * x).sum()
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Example { seen, label } = told.example()?;
        if !self.pending || seen.attributes != self.asked {
            return Err(told.other_attributes());
        }
        let Self { largest_count, average, largest, estimates, asked, weights, gradient, .. } = self;
        average.weights_at(asked, weights);
        estimates.gradient(seen.values, weights, *largest_count, label, gradient);
        average.add(asked, gradient)?;
        // All of U is compared; of the other entries only the observed ones have changed and may enter U.
        largest.update(average.sum(), &asked[*largest_count..]);
        self.current.take();
        self.pending = false;
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.current.get_or_init(|| SparseVector::from_dense(&self.average.weights())).view()
    }

    fn updates(&self) -> u64 {
        self.average.rounds()
    }
}
