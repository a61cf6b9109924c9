//! The rounds that Algorithms 2 and 3 share: explore in rounds 1, 4, 9, ..., exploit what was found in
//! between.

use super::dual_average::{DualAverage, Regularization, small};
use super::largest::{Largest, select};
use crate::params::ParamError;
use crate::state;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::estimate::gram::Observe;
use lao_observation::stored::Damaged;
use lao_observation::{Ask, LearnError, Rng, Row, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(super) struct Squares {
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
}

/// The state of the exploration rounds `s = 1, 2, ...`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Explore {
    budget: usize,
    regularization: Regularization,
    radius: f64,
    /// `rho_0`; 0 in Algorithm 2.
    penalty: f64,
    /// `w_s` has weight `s^-decay` in the average.
    decay: f64,
    /// `s`: how many exploration rounds were prepared.
    round: u64,
    /// `h^`.
    sum: Vec<f64>,
    /// `Lambda_s = rho_1 + ... + rho_{s-1}`.
    level: f64,
    /// `-1 / max(lambda_s, ||u||/R)`.
    factor: f64,
    /// `wbar_s`, and the weights that went into it.
    mean: Vec<f64>,
    mass: f64,
    /// The `k'` largest entries of `wbar_s`, sorted by index.
    #[serde(skip)]
    chosen: Vec<u32>,
    #[serde(skip)]
    order: Vec<u32>,
}

/// What is stored of [`Squares`]; the rest follows from it.
#[derive(Deserialize)]
struct Stored {
    explore: Explore,
    exploit: DualAverage,
    asked: Vec<u32>,
    pending: bool,
}

/// What stored rounds are called.
const STORED: &str = "state of exploration at squares";

impl TryFrom<Stored> for Squares {
    type Error = Damaged;

    /// Checks what goes for both methods; what penalty and decay may be is for the method to say.
    fn try_from(stored: Stored) -> Result<Self, Damaged> {
        let Stored { mut explore, exploit, asked, pending } = stored;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, STORED, || reason);
        let dim = exploit.dim();
        explore.validate(dim, exploit.rounds())?;
        damaged(explore.radius == exploit.radius(), "exploration and exploitation have different radii")?;
        select(&explore.mean, explore.budget, &mut explore.order, &mut explore.chosen);
        damaged(state::is_set(&asked, dim), "the attributes asked for are no set of attributes")?;
        let squares = Squares::assemble(explore, exploit);
        if pending {
            state::length(STORED, "the set asked for", asked.len(), squares.explore.budget)?;
            let fits = squares.explores() || asked == squares.explore.chosen;
            damaged(fits, "the set asked for is not the one chosen")?;
        }
        Ok(Squares { asked, pending, ..squares })
    }
}

impl Explore {
    /// Checks all that [`prepare`](Self::prepare) and the rounds in between guarantee, `rounds` of either
    /// kind being over.
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
        // The coming round is number rounds + 1; the exploration rounds up to it are the squares up to it.
        damaged(
            *round == (rounds + 1).isqrt(),
            "the exploration rounds are not the squares up to this round",
        )?;
        // An average of vectors within the ball, up to rounding.
        damaged(mean.iter().all(|w| w.abs() <= radius * (1.0 + 1e-6)), "the average leaves the ball")?;
        let weights = sum_of_powers(*decay, *round);
        damaged(within(*mass, weights), "the weights of the average do not belong to its round")?;
        let steps = sum_of_powers(0.25, *round - 1).map(|sum| penalty * sum);
        damaged(within(*level, steps), "the level of the penalty does not belong to its round")?;
        let current = if is_square(rounds + 1) {
            within(self.factor, [self.current_factor(); 2])
        } else {
            // That of the last exploration round, whose gradient sum is not kept.
            let most = 1.0 / regularization.at(*round);
            within(self.factor, [-most, 0.0]) && self.factor < 0.0
        };
        damaged(current, "the factor of the weights does not belong to the gradient sum")
    }

    /// `-1 / max(lambda_s, ||u||/R)`.
    fn current_factor(&self) -> f64 {
        let norm = self.sum.iter().map(|h| soft(*h, self.level).powi(2)).sum::<f64>().sqrt();
        -1.0 / self.regularization.at(self.round).max(norm / self.radius)
    }

    /// Before exploration round `s`: `w_s`, `wbar_s` and the attributes it chooses. O(d).
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
            *mean += share * (self.factor * soft(*h, self.level) - *mean);
        }
        select(&self.mean, self.budget, &mut self.order, &mut self.chosen);
    }

    /// `w_s` at one attribute.
    fn weight(&self, attribute: u32) -> f64 {
        self.factor * soft(self.sum[attribute as usize], self.level)
    }
}

/// Bounds of the sum of `j^-decay` over `j = 1..=count`, by integrals, for `decay` below 1.
fn sum_of_powers(decay: f64, count: u64) -> [f64; 2] {
    let integral = |to: f64| (to.powf(1.0 - decay) - 1.0) / (1.0 - decay);
    let count = count as f64;
    if count == 0.0 { [0.0; 2] } else { [integral(count + 1.0), 1.0 + integral(count)] }
}

/// Whether a number that was added up step by step lies between two others, which leaves 2^32 steps their
/// rounding errors.
fn within(number: f64, [least, most]: [f64; 2]) -> bool {
    number >= least - 1e-6 * least.abs() && number <= most + 1e-6 * most.abs()
}

/// `sign(h) max(|h| - level, 0)`.
fn soft(h: f64, level: f64) -> f64 {
    (h.abs() - level).max(0.0).copysign(h)
}

impl Squares {
    pub(super) fn new(
        (dim, budget, radius): (usize, usize, f64),
        explore: Regularization,
        exploit: Regularization,
        (penalty, decay): (f64, f64),
    ) -> Self {
        let mut explore = Explore {
            budget,
            regularization: explore,
            radius,
            penalty,
            decay,
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
        Squares {
            sampler: Largest::new(&explore.sum, 0),
            explore,
            exploit,
            asked: Vec::new(),
            pending: false,
            weights: Vec::new(),
            gradient: Vec::new(),
            current: OnceCell::new(),
        }
    }

    pub(super) fn dim(&self) -> usize {
        self.exploit.dim()
    }

    pub(super) fn budget(&self) -> usize {
        self.explore.budget
    }

    /// `rho_0`, and the power at which weights fall.
    pub(super) fn penalty_and_decay(&self) -> (f64, f64) {
        (self.explore.penalty, self.explore.decay)
    }

    pub(super) fn exploit(&self) -> &DualAverage {
        &self.exploit
    }

    /// `h^`.
    pub(super) fn explore_sum(&self) -> &[f64] {
        &self.explore.sum
    }

    /// `w_s`.
    pub(super) fn explorer(&self) -> Vec<f64> {
        (0..self.dim() as u32).map(|j| self.explore.weight(j)).collect()
    }

    /// `wbar_s`.
    pub(super) fn mean(&self) -> &[f64] {
        &self.explore.mean
    }

    pub(super) fn chosen(&self) -> &[u32] {
        &self.explore.chosen
    }

    /// Whether the coming round explores.
    pub(super) fn explores(&self) -> bool {
        is_square(self.exploit.rounds() + 1)
    }

    pub(super) fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
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

    /// As [`ask`](Self::ask), with these attributes if the round explores; those out of range are left out.
    pub(super) fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        let dim = self.dim();
        let explores = self.explores();
        let drawn = if explores { drawn } else { &self.explore.chosen };
        state::set_of(drawn, dim, &mut self.asked);
        self.pending = true;
        ask.values(1).extend_from_slice(&self.asked);
    }

    /// `w~_t' D_t x_t`.
    pub(super) fn predict(&self, seen: Row<'_>) -> f64 {
        seen.attributes.iter().zip(seen.values).map(|(&j, x)| self.exploit.weight(j) * x).sum()
    }

    pub(super) fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let (seen, label) = told.example()?;
        if !self.pending || seen.attributes != self.asked {
            return Err(told.other_attributes());
        }
        let explored = self.explores();
        if explored {
            self.estimate(seen, label)?;
        }
        // The gradient of (w~' D x - y)^2 in the observed coordinates, at D w~.
        let residual = self.predict(seen) - label;
        self.gradient.clear();
        self.gradient.extend(seen.values.iter().map(|x| 2.0 * residual * x));
        self.exploit.add(&self.asked, &self.gradient, |_, _| ())?;
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

    /// Leaves in `weights` what `h^` becomes at the observed attributes: `h^ + 2 X w_s - 2 y z`.
    fn estimate(&mut self, seen: Row<'_>, label: f64) -> Result<(), LearnError> {
        let Squares { explore, asked, weights, gradient, .. } = self;
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

    /// `D w~`, with the attributes chosen from `wbar_s`.
    pub(super) fn coefficients(&self) -> SparseView<'_> {
        let restricted = || {
            let mut vector = SparseVector::zeros(self.dim());
            for &j in &self.explore.chosen {
                vector.push(j, self.exploit.weight(j));
            }
            vector
        };
        self.current.get_or_init(restricted).view()
    }
}

fn is_square(t: u64) -> bool {
    t.isqrt().pow(2) == t
}
