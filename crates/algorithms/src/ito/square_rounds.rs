//! The rounds that Algorithms 2 and 3 share: rounds 1, 4, 9, ... explore, and the rounds in between exploit
//! what was found.

use super::Rda3Params;
use super::dual_average::{DualAverage, Regularization, small};
use super::gram::Observe;
use super::largest::{Largest, select};
use crate::params::ParamError;
use crate::state;
use lao_kernels::{SparseVector, SparseView, soft_threshold};
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Example, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::marker::PhantomData;

/// The method, which decides how exploration is penalized and averaged. The parameters of each method
/// implement this trait.
pub trait Averaging {
    /// The name of the method in messages.
    const METHOD: &'static str;

    /// The power in the weight `s^-DECAY` of `w_s` in the average.
    const DECAY: f64;

    /// Refuses a weight `rho_0` of the l1 term that the method does not have.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    fn require_penalty(penalty: f64) -> Result<(), ParamError>;
}

/// The learner of Algorithms 2 and 3, as reconstructed: [`Rda2`](super::Rda2) and [`Rda3`](super::Rda3).
/// Rounds 1, 4, 9, ... explore.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", try_from = "Stored", bound = "A: Averaging")]
pub struct SquareRounds<A> {
    explore: Explore,
    /// `h~`, which the predictions come from.
    exploit: DualAverage,
    /// `S_t`, sorted.
    asked: Vec<u32>,
    /// Whether `S_t` still waits for its example.
    pending: bool,
    #[serde(skip)]
    sampler: Largest,
    #[serde(skip)]
    weights: Vec<f64>,
    #[serde(skip)]
    gradient: Vec<f64>,
    #[serde(skip)]
    current: OnceCell<SparseVector>,
    #[serde(skip)]
    averaging: PhantomData<A>,
}

lao_observation::stored!(SquareRounds<A: Averaging>);

impl<A: Averaging> Validate for SquareRounds<A> {
    fn validate(&self) -> Result<(), Damaged> {
        let Explore { budget, penalty, decay, .. } = self.explore;
        super::require_pairs(A::METHOD, self.dim(), budget).map_err(ParamError::damaged)?;
        A::require_penalty(penalty).map_err(ParamError::damaged)?;
        Damaged::unless(decay == A::DECAY, A::METHOD, || "its average has other weights")
    }
}

/// The state of the exploration rounds `s = 1, 2, ...`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Explore {
    budget: usize,
    regularization: Regularization,
    radius: f64,
    /// `rho_0`; 0 in Algorithm 2.
    penalty: f64,
    /// The power in the weight `s^-decay` of `w_s` in the average.
    decay: f64,
    /// `s`, the number of exploration rounds that were prepared.
    round: u64,
    /// `h^`.
    sum: Vec<f64>,
    /// `Lambda_s = rho_1 + ... + rho_{s-1}`.
    level: f64,
    /// `-1 / max(lambda_s, ||u||/R)`.
    factor: f64,
    /// `wbar_s`, and the sum of the weights in it.
    mean: Vec<f64>,
    mass: f64,
    /// The `k'` largest entries of `wbar_s`, sorted by index.
    #[serde(skip)]
    chosen: Vec<u32>,
    #[serde(skip)]
    order: Vec<u32>,
}

/// The stored part of [`SquareRounds`]; the rest follows from it.
#[derive(Deserialize)]
struct Stored {
    explore: Explore,
    exploit: DualAverage,
    asked: Vec<u32>,
    pending: bool,
}

/// The name of stored rounds in messages.
const STORED: &str = "state of exploration at squares";

impl<A: Averaging> TryFrom<Stored> for SquareRounds<A> {
    type Error = Damaged;

    /// Checks everything but the penalty and the decay, which depend on the method.
    fn try_from(stored: Stored) -> Result<Self, Damaged> {
        let Stored { mut explore, exploit, asked, pending } = stored;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, STORED, || reason);
        let dim = exploit.dim();
        explore.validate(dim, exploit.rounds())?;
        damaged(explore.radius == exploit.radius(), "exploration and exploitation have different radii")?;
        select(&explore.mean, explore.budget, &mut explore.order, &mut explore.chosen);
        damaged(state::is_set(&asked, dim), "the attributes asked for are no set of attributes")?;
        let rounds = Self::assemble(explore, exploit);
        if pending {
            state::length(STORED, "the set asked for", asked.len(), rounds.explore.budget)?;
            let fits = rounds.explores() || asked == rounds.explore.chosen;
            damaged(fits, "the set asked for is not the one chosen")?;
        }
        Ok(SquareRounds { asked, pending, ..rounds })
    }
}

impl Explore {
    /// Checks everything that [`prepare`](Self::prepare) and the rounds in between guarantee after `rounds`
    /// rounds of both kinds.
    fn validate(&self, dim: usize, rounds: u64) -> Result<(), Damaged> {
        let Explore { budget, regularization, radius, penalty, decay, round, sum, level, mean, mass, .. } =
            self;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, STORED, || reason);
        super::require_common(STORED, dim, *budget, *radius).map_err(ParamError::damaged)?;
        regularization.check(STORED, "explore").map_err(ParamError::damaged)?;
        state::length(STORED, "the gradient sum", sum.len(), dim)?;
        state::length(STORED, "the average", mean.len(), dim)?;
        damaged((0.0..=1e150).contains(penalty) && (0.0..=0.5).contains(decay), "no such penalty or decay")?;
        damaged(sum.iter().all(|h| small(*h)), "an entry of the gradient sum is 1e149 or larger")?;
        // The coming round has the number rounds + 1. The number of exploration rounds up to it is the number
        // of squares up to it.
        damaged(
            *round == (rounds + 1).isqrt(),
            "the exploration rounds are not the squares up to this round",
        )?;
        // Up to rounding, this is an average of vectors in the ball.
        damaged(mean.iter().all(|w| w.abs() <= radius * (1.0 + 1e-6)), "the average leaves the ball")?;
        let weights = sum_of_powers(*decay, *round);
        damaged(within(*mass, weights), "the weights of the average do not belong to its round")?;
        let steps = sum_of_powers(0.25, *round - 1).map(|sum| penalty * sum);
        damaged(within(*level, steps), "the level of the penalty does not belong to its round")?;
        let current = if is_square(rounds + 1) {
            within(self.factor, [self.current_factor(); 2])
        } else {
            // This is the factor of the last exploration round, whose gradient sum is not kept.
            let most = 1.0 / regularization.at(*round);
            within(self.factor, [-most, 0.0]) && self.factor < 0.0
        };
        damaged(current, "the factor of the weights does not belong to the gradient sum")
    }

    /// Returns `-1 / max(lambda_s, ||u||/R)`.
    fn current_factor(&self) -> f64 {
        let norm = self.sum.iter().map(|h| soft_threshold(*h, self.level).powi(2)).sum::<f64>().sqrt();
        -1.0 / self.regularization.at(self.round).max(norm / self.radius)
    }

    /// Computes `w_s`, `wbar_s` and the attributes that it chooses, before exploration round `s`, at a cost
    /// of O(d).
    fn prepare(&mut self) {
        self.round += 1;
        let s = self.round as f64;
        if self.round > 1 {
            self.level += self.penalty * (s - 1.0).powf(-0.25);
        }
        self.factor = self.current_factor();
        let weight = s.powf(-self.decay);
        self.mass += weight;
        let share = weight / self.mass;
        for (mean, h) in self.mean.iter_mut().zip(&self.sum) {
            *mean += share * (self.factor * soft_threshold(*h, self.level) - *mean);
        }
        select(&self.mean, self.budget, &mut self.order, &mut self.chosen);
    }

    /// Returns `w_s` at one attribute.
    fn weight(&self, attribute: u32) -> f64 {
        self.factor * soft_threshold(self.sum[attribute as usize], self.level)
    }
}

/// Returns a lower and an upper bound of the sum of `j^-decay` over `j = 1..=count`, by integrals, for
/// `decay` below 1.
fn sum_of_powers(decay: f64, count: u64) -> [f64; 2] {
    let integral = |to: f64| (to.powf(1.0 - decay) - 1.0) / (1.0 - decay);
    let count = count as f64;
    if count == 0.0 { [0.0; 2] } else { [integral(count + 1.0), 1.0 + integral(count)] }
}

/// Returns whether a sum lies between two bounds, with a margin for the rounding errors of 2^32 additions.
fn within(number: f64, [least, most]: [f64; 2]) -> bool {
    number >= least - 1e-6 * least.abs() && number <= most + 1e-6 * most.abs()
}

impl<A: Averaging> SquareRounds<A> {
    /// Returns the learner before its first round. The caller has checked the parameters.
    pub(super) fn new(params: Rda3Params) -> Self {
        let Rda3Params { dim, budget, explore: regularization, exploit, radius, penalty } = params;
        let mut explore = Explore {
            budget,
            regularization,
            radius,
            penalty,
            decay: A::DECAY,
            round: 0,
            sum: vec![0.0; dim],
            level: 0.0,
            factor: 0.0,
            mean: vec![0.0; dim],
            mass: 0.0,
            chosen: Vec::new(),
            order: Vec::new(),
        };
        explore.prepare();
        Self::assemble(explore, DualAverage::new(dim, exploit, radius))
    }

    fn assemble(explore: Explore, exploit: DualAverage) -> Self {
        SquareRounds {
            sampler: Largest::new(&explore.sum, 0),
            explore,
            exploit,
            asked: Vec::new(),
            pending: false,
            weights: Vec::new(),
            gradient: Vec::new(),
            current: OnceCell::new(),
            averaging: PhantomData,
        }
    }

    /// Asks like [`ask`](Learner::ask); if the coming round [`explores`](Self::explores), the random set of
    /// `k'` attributes is `drawn`, of which attributes out of range are left out.
    pub fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        let dim = self.dim();
        let explores = self.explores();
        let drawn = if explores { drawn } else { &self.explore.chosen };
        state::set_of(drawn, dim, &mut self.asked);
        self.pending = true;
        ask.values(1).extend_from_slice(&self.asked);
    }

    /// Returns whether the coming round explores, which it does if its number is a square.
    pub fn explores(&self) -> bool {
        is_square(self.exploit.rounds() + 1)
    }

    /// Returns `S_t` of the rounds that do not explore, sorted: the `k'` largest entries of
    /// [`average`](Self::average).
    pub fn chosen(&self) -> &[u32] {
        &self.explore.chosen
    }

    /// Returns `w~_t`, which the predictions come from.
    pub fn iterate(&self) -> Vec<f64> {
        self.exploit.weights()
    }

    /// Returns `h~`, the sum of the observed gradients.
    pub fn exploit_sum(&self) -> Vec<f64> {
        self.exploit.sum().to_vec()
    }

    /// Returns `h^`, the sum of the gradient estimates of the exploration rounds.
    pub fn gradient_sum(&self) -> Vec<f64> {
        self.explore.sum.clone()
    }

    /// Returns `w_s`, which is up to date if the coming round explores.
    pub fn explorer(&self) -> Vec<f64> {
        (0..self.dim() as u32).map(|j| self.explore.weight(j)).collect()
    }

    /// Returns `wbar_s`.
    pub fn average(&self) -> Vec<f64> {
        self.explore.mean.clone()
    }

    /// Sets `weights` to the new `h^` at the observed attributes, `h^ + 2 X w_s - 2 y z`.
    fn estimate(&mut self, seen: Row<'_>, label: f64) -> Result<(), LearnError> {
        let SquareRounds { explore, asked, weights, gradient, .. } = self;
        weights.clear();
        weights.extend(asked.iter().map(|&j| explore.weight(j)));
        let estimates = Observe { dim: explore.sum.len(), budget: explore.budget, kept: 0 }.estimates();
        estimates.gradient(seen.values, weights, 0, label, gradient);
        for ((&j, fresh), g) in asked.iter().zip(weights).zip(gradient) {
            *fresh = explore.sum[j as usize] + *g;
            if !small(*fresh) {
                let update = self.exploit.rounds() + 1;
                return Err(LearnError::Diverged { update, attribute: j as usize, value: *fresh });
            }
        }
        Ok(())
    }
}

impl<A: Averaging> Learner for SquareRounds<A> {
    fn dim(&self) -> usize {
        self.exploit.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if !self.pending {
            self.asked.clear();
            if self.explores() {
                self.sampler.draw(self.explore.budget, rng, &mut self.asked);
                self.asked.sort_unstable();
            } else {
                self.asked.extend_from_slice(&self.explore.chosen);
            }
            self.pending = true;
        }
        ask.values(1).extend_from_slice(&self.asked);
    }

    /// Returns `w~_t' D_t x_t`.
    fn predict(&self, seen: Row<'_>) -> f64 {
        seen.attributes.iter().zip(seen.values).map(|(&j, x)| self.exploit.weight(j) * x).sum()
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Example { seen, label } = told.example()?;
        if !self.pending || seen.attributes != self.asked {
            return Err(told.other_attributes());
        }
        let explored = self.explores();
        if explored {
            self.estimate(seen, label)?;
        }
        // This is the gradient of (w~' D x - y)^2 in the observed coordinates, at D w~.
        let residual = self.predict(seen) - label;
        self.gradient.clear();
        self.gradient.extend(seen.values.iter().map(|x| 2.0 * residual * x));
        self.exploit.add(&self.asked, &self.gradient)?;
        if explored {
            for (&j, fresh) in self.asked.iter().zip(&self.weights) {
                self.explore.sum[j as usize] = *fresh;
            }
        }
        if self.explores() {
            self.explore.prepare();
        }
        self.current.take();
        self.pending = false;
        Ok(())
    }

    /// Returns `D w~`, with the attributes chosen from `wbar_s`.
    fn coefficients(&self) -> SparseView<'_> {
        let restricted = || {
            let mut vector = SparseVector::zeros(self.dim());
            for &j in &self.explore.chosen {
                vector.push(j, self.exploit.weight(j));
            }
            vector
        };
        self.current.get_or_init(restricted).view()
    }

    fn updates(&self) -> u64 {
        self.exploit.rounds()
    }
}

fn is_square(t: u64) -> bool {
    t.isqrt().pow(2) == t
}
