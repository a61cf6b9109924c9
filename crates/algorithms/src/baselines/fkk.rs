//! FKK: Hedge over all supports of size k, each with its own gradient descent.
//!
//! *Source*: Foster, Kale & Karloff 2016, *Online Sparse Linear Regression*, in the form in which Ito et al.
//! 2017 compare with it.
//!
//! *Setting*: the online protocol under a budget of k' >= k + 2 attributes per example, without any
//! assumption on the data, at a cost that is exponential in k.
//!
//! *Notation*: `k` -> `sparsity`, `k'` -> `budget`, `eta_h` -> `hedge_rate`, `eta_o` -> `step_size`; `A` is
//! one of the `N = C(d, k)` supports, with weight `pi_A` and predictor `w_A`; `r = k' - k`.
//!
//! *Update*: draw `A_t` from `pi` and, independently, a uniform set `R` of `r` attributes; observe both of
//! one example, predict `w_A' x` with `A = A_t`; from `R` alone estimate, with `p = r/d` and
//! `p2 = r (r - 1)/(d (d - 1))`,
//!
//! ```text
//! X_ij = x_i x_j / p2,   X_ii = x_i^2 / p,   z_i = y x_i / p           for i /= j in R, else 0
//! ```
//!
//! so that `E X = x x'` and `E z = y x`; then, for every support `A`,
//!
//! ```text
//! phi_A = w_A' X w_A - 2 z' w_A + y^2,          pi_A <- pi_A exp(-eta_h phi_A)
//! w_A <- P(w_A - 2 eta_o (X w_A - z) on A),     P the projection on |w|_2 <= radius
//! ```
//!
//! *Departures*: the method is written from descriptions in later papers. Weights are kept as logarithms,
//! which do not fall below `f64::MIN`. More than [`MAX_SUPPORTS`] supports, or more than [`MAX_WEIGHTS`]
//! weights in all of them, are refused.
//!
//! *Cost*: an example changes all `N k` weights and draws from `N` supports, whatever the budget. One core
//! takes about 15 ns for each support: 0.25 ms for (d, k) = (20, 5), 3 ms for (100, 3), which is five minutes
//! for 100,000 examples.
//!
//! *Reference*: [`FkkReference`](super::reference::FkkReference).
//!
//! *Claims*: `ito17-fkk`.

use crate::params::{ParamError, derived, require, require_attributes, require_dim, require_scale};
use crate::state;
use crate::task::Task;
use lao_kernels::{SparseVector, SparseView, merge_into};
use lao_observation::sample::SubsetSampler;
use lao_observation::stored::{Damaged, Validate};
use lao_observation::{Ask, Example, LearnError, Learner, Rng, Row, Told};
use rand::RngExt;
use serde::{Deserialize, Serialize};

const NAME: &str = "FKK";

/// The largest number of supports that the method accepts. At this size an example takes about 3 ms on one
/// core, and 100,000 examples take five minutes.
pub const MAX_SUPPORTS: u64 = 200_000;

/// The largest number of weights of all supports together; these and their attributes then take 12 MB. For
/// `k > 5` this bound is tighter than [`MAX_SUPPORTS`].
pub const MAX_WEIGHTS: u64 = 1_000_000;

/// Parameters of [`Fkk`].
///
/// ```
/// use lao_algorithms::{Task, baselines::FkkParams};
///
/// let task = Task { dim: 20, sparsity: 2, budget: 6, ..Task::default() };
/// let learner = FkkParams::practical(&task)?.build()?;
/// assert_eq!(learner.count(), 190);
///
/// // 100 attributes have 3.9 million supports of size 4.
/// let refused = FkkParams::practical(&Task { dim: 100, sparsity: 4, ..task })?.build().unwrap_err();
/// assert_eq!(refused.field, "sparsity");
/// # Ok::<(), lao_algorithms::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FkkParams {
    /// `d`, attributes of an example; `C(d, k)` is at most [`MAX_SUPPORTS`].
    pub dim: usize,
    /// `k`, non-zeros of a predictor; `1 <= k <= k' - 2`.
    pub sparsity: usize,
    /// `k'`, attributes observed per example; `k + 2 <= k' <= d`.
    pub budget: usize,
    /// `eta_h`, the rate at which weights follow losses; from 1e-150 to 1e150.
    pub hedge_rate: f64,
    /// `eta_o`, the step size of every support's predictor; from 1e-150 to 1e150.
    pub step_size: f64,
    /// The largest l2 norm of a predictor, 1 in the paper; from 1e-150 to 1e150.
    pub radius: f64,
}

impl FkkParams {
    /// Returns the rates of the analysis up to constants, `eta_h = p2 sqrt(log N / T)` and
    /// `eta_o = p2 / sqrt(T)`, for `T = examples` with `|x|_2 <= 1` and `|y| <= 1`, over the unit ball
    /// whatever the task's radius. `T = 0` counts as 1.
    pub fn from_theorem(task: &Task) -> Self {
        let Task { dim, sparsity, budget, examples, .. } = *task;
        let (d, r) = (dim as f64, budget.saturating_sub(sparsity) as f64);
        let (pair, t) = (r * (r - 1.0) / (d * (d - 1.0)), examples.max(1) as f64);
        let supports = supports(dim, sparsity) as f64;
        FkkParams {
            dim,
            sparsity,
            budget,
            hedge_rate: pair * (supports.ln() / t).sqrt(),
            step_size: pair / t.sqrt(),
            radius: 1.0,
        }
    }

    /// Returns practical parameters: 16 times the theorem's `eta_h`, the theorem's `eta_o` times the task's
    /// speed, and the task's radius.
    ///
    /// # Errors
    /// [`ParamError`] when the task's speed is not allowed.
    pub fn practical(task: &Task) -> Result<Self, ParamError> {
        task.check(NAME)?;
        let theorem = Self::from_theorem(task);
        Ok(FkkParams {
            hedge_rate: 16.0 * theorem.hedge_rate,
            step_size: derived(task.speed * theorem.step_size, &[task.speed]),
            radius: task.radius(),
            ..theorem
        })
    }

    /// Builds the learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<Fkk, ParamError> {
        let supports = all_supports(self.dim, self.sparsity, self.gate()? as usize);
        Ok(Fkk {
            weights: vec![0.0; supports.len()],
            logs: vec![0.0; supports.len() / self.sparsity],
            supports,
            masked: vec![0.0; self.dim],
            chosen: 0,
            best: SparseVector::zeros(self.dim),
            sampler: SubsetSampler::new(self.dim),
            drawn: Vec::with_capacity(self.budget),
            pending: false,
            done: 0,
            params: self,
        })
    }

    /// Returns the number of weights that an example changes, `k C(d, k)` (saturating). Each takes 3 to 15 ns
    /// on one core. A smaller `k` costs more per weight, since drawing takes about 10 ns for each support.
    pub fn cost_per_example(&self) -> u64 {
        supports(self.dim, self.sparsity).saturating_mul(self.sparsity as u64)
    }

    /// Refuses parameters that are not allowed, when a learner is built and when its state is read; returns
    /// the number of supports.
    fn gate(&self) -> Result<u64, ParamError> {
        let FkkParams { dim, sparsity, budget, hedge_rate, step_size, radius } = *self;
        require_dim(NAME, 1, dim)?;
        require_attributes(NAME, "sparsity", sparsity, dim)?;
        let ok = budget <= dim && budget >= sparsity + 2;
        let allowed =
            format_args!("from {} to d = {dim}: two random attributes beside the support", sparsity + 2)
                .to_string();
        require(ok, NAME, "budget", budget, allowed)?;
        let count = supports(dim, sparsity);
        let many = format_args!("{sparsity}, which makes {count} supports of {dim} attributes").to_string();
        let allowed =
            format_args!("a number that makes at most {MAX_SUPPORTS} supports: lower sparsity or dim")
                .to_string();
        require(count <= MAX_SUPPORTS, NAME, "sparsity", many, allowed)?;
        let weights = self.cost_per_example();
        let many = format_args!("{sparsity}, which makes {weights} weights in {count} supports").to_string();
        let allowed =
            format_args!("a number that makes at most {MAX_WEIGHTS} weights: lower sparsity or dim")
                .to_string();
        require(weights <= MAX_WEIGHTS, NAME, "sparsity", many, allowed)?;
        require_scale(NAME, "hedge_rate", hedge_rate)?;
        require_scale(NAME, "step_size", step_size)?;
        require_scale(NAME, "radius", radius)?;
        Ok(count)
    }
}

/// Returns `C(d, k)`, saturating.
pub fn supports(dim: usize, sparsity: usize) -> u64 {
    let mut count = 1u128;
    for i in 0..sparsity.min(dim.saturating_sub(sparsity)) {
        count = count * (dim - i) as u128 / (i + 1) as u128;
        if count > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    if sparsity > dim { 0 } else { count as u64 }
}

/// Returns all supports in lexicographic order, one after the other.
fn all_supports(dim: usize, sparsity: usize, count: usize) -> Vec<u32> {
    let mut all = Vec::with_capacity(count * sparsity);
    let mut support: Vec<u32> = (0..sparsity as u32).collect();
    loop {
        all.extend_from_slice(&support);
        let limit = |place: usize| (dim - sparsity + place) as u32;
        let Some(place) = (0..sparsity).rev().find(|&place| support[place] < limit(place)) else {
            return all;
        };
        let first = support[place] + 1;
        for (after, index) in support[place..].iter_mut().enumerate() {
            *index = first + after as u32;
        }
    }
}

/// The learner of Foster, Kale & Karloff.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", try_from = "Stored")]
pub struct Fkk {
    params: FkkParams,
    /// All supports, k indices each.
    #[serde(skip)]
    supports: Vec<u32>,
    /// `w_A`, k numbers each.
    weights: Vec<f64>,
    /// `log pi_A`, up to a constant.
    logs: Vec<f64>,
    /// `x` on `R`, zero elsewhere.
    #[serde(skip)]
    masked: Vec<f64>,
    /// `A_t`.
    chosen: usize,
    /// The predictor `w_A` of the heaviest support, which is the estimate.
    #[serde(skip)]
    best: SparseVector,
    sampler: SubsetSampler,
    /// `R` of the example asked for.
    drawn: Vec<u32>,
    /// Whether `drawn` still waits for its example.
    pending: bool,
    done: u64,
}

lao_observation::stored!(Fkk);

/// The stored part of an [`Fkk`]; the rest follows from it.
#[derive(Deserialize)]
struct Stored {
    params: FkkParams,
    weights: Vec<f64>,
    logs: Vec<f64>,
    chosen: usize,
    sampler: SubsetSampler,
    drawn: Vec<u32>,
    pending: bool,
    done: u64,
}

impl TryFrom<Stored> for Fkk {
    type Error = Damaged;

    fn try_from(stored: Stored) -> Result<Self, Damaged> {
        let Stored { params, weights, logs, chosen, sampler, drawn, pending, done } = stored;
        let (dim, sparsity) = (params.dim, params.sparsity);
        // The lists are checked first, so that no more memory is allocated than they have.
        state::length(NAME, "the sampler", sampler.dim(), dim)?;
        let count = params.gate().map_err(ParamError::damaged)? as usize;
        state::length(NAME, "the logarithms", logs.len(), count)?;
        state::length(NAME, "the weights", weights.len(), count * sparsity)?;
        let supports = all_supports(dim, sparsity, count);
        let (masked, best) = (vec![0.0; dim], SparseVector::zeros(dim));
        let mut fkk =
            Fkk { params, supports, weights, logs, masked, chosen, best, sampler, drawn, pending, done };
        fkk.choose_best(fkk.heaviest());
        Ok(fkk)
    }
}

impl Validate for Fkk {
    fn validate(&self) -> Result<(), Damaged> {
        let Fkk { params, weights, logs, chosen, drawn, pending, done, .. } = self;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, NAME, || reason);
        damaged(logs[self.heaviest()] == 0.0, "the largest logarithm is not 0")?;
        let squares = |w: &[f64]| w.iter().map(|w| (w / params.radius) * (w / params.radius)).sum::<f64>();
        // Up to rounding, every step ends in the ball.
        let within = weights.chunks_exact(params.sparsity).all(|w| squares(w) <= 1.0 + 1e-6);
        damaged(within, "a predictor leaves the ball")?;
        damaged(*chosen < logs.len(), "there is no support of the number chosen")?;
        state::count(NAME, "the number of updates", *done)?;
        damaged(state::is_set(drawn, params.dim), "the attributes drawn are no set of attributes")?;
        let size = params.budget - params.sparsity;
        damaged(!pending || drawn.len() == size, "the attributes drawn are not as many as explored at a time")
    }
}

impl Fkk {
    /// Asks like [`ask`](Learner::ask), with these draws instead of random ones: the support of this number
    /// in lexicographic order, or the last one if there are fewer, and this `R`, of which attributes out of
    /// range are left out.
    pub fn ask_for(&mut self, support: usize, drawn: &[u32], ask: &mut Ask) {
        self.chosen = support.min(self.logs.len() - 1);
        state::set_of(drawn, self.params.dim, &mut self.drawn);
        self.pending = true;
        self.fill(ask);
    }

    /// Returns `R` of the example asked for last, sorted.
    pub fn drawn(&self) -> &[u32] {
        &self.drawn
    }

    /// Returns the attributes of `A_t`, the support drawn for the example asked for last, sorted.
    pub fn chosen(&self) -> &[u32] {
        self.support(self.chosen)
    }

    fn fill(&self, ask: &mut Ask) {
        merge_into(self.support(self.chosen), &self.drawn, ask.values(1));
    }

    /// Returns the number of supports.
    pub fn count(&self) -> usize {
        self.logs.len()
    }

    /// Returns the attributes of support number `a`, sorted; none if there are not that many supports.
    pub fn support(&self, a: usize) -> &[u32] {
        self.supports.chunks_exact(self.params.sparsity).nth(a).unwrap_or_default()
    }

    /// Returns `w_A` of support number `a`, one weight per attribute.
    pub fn weights(&self, a: usize) -> &[f64] {
        self.weights.chunks_exact(self.params.sparsity).nth(a).unwrap_or_default()
    }

    /// Returns `log pi_A` of every support, up to a constant.
    pub fn log_weights(&self) -> &[f64] {
        &self.logs
    }

    /// Returns the number of the support with the largest weight, the first among equals.
    fn heaviest(&self) -> usize {
        (0..self.logs.len()).fold(0, |best, a| if self.logs[a] > self.logs[best] { a } else { best })
    }

    /// Makes the predictor of support number `heaviest` the estimate.
    fn choose_best(&mut self, heaviest: usize) {
        let Fkk { best, supports, weights, params, .. } = self;
        let first = heaviest * params.sparsity;
        best.clear();
        let pairs = supports[first..].iter().zip(&weights[first..first + params.sparsity]);
        pairs.filter(|&(_, &w)| w != 0.0).for_each(|(&j, &w)| best.push(j, w));
    }

    /// Draws a support from `pi`.
    fn draw_support(&self, rng: &mut Rng) -> usize {
        let largest = self.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weight = |&log: &f64| (log - largest).exp();
        let total: f64 = self.logs.iter().map(weight).sum();
        let mut left = rng.random::<f64>() * total;
        let place = self.logs.iter().position(|log| {
            left -= weight(log);
            left < 0.0
        });
        place.unwrap_or(self.logs.len() - 1)
    }
}

impl Learner for Fkk {
    fn dim(&self) -> usize {
        self.params.dim
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if !self.pending {
            self.chosen = self.draw_support(rng);
            self.drawn.clear();
            self.sampler.draw(self.params.budget - self.params.sparsity, rng, &mut self.drawn);
            self.pending = true;
        }
        self.fill(ask);
    }

    fn predict(&self, seen: Row<'_>) -> f64 {
        let pairs = self.support(self.chosen).iter().zip(self.weights(self.chosen));
        let value = |j| seen.attributes.binary_search(j).map_or(0.0, |place| seen.values[place]);
        pairs.map(|(j, weight)| weight * value(j)).sum()
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Example { seen, label } = told.example()?;
        let asked = state::is_union(seen.attributes, self.support(self.chosen), &self.drawn);
        if !self.pending || !asked {
            return Err(told.other_attributes());
        }
        let FkkParams { dim, sparsity, budget, hedge_rate, step_size, radius } = self.params;
        let (d, r) = (dim as f64, (budget - sparsity) as f64);
        let (single, pair) = (d / r, d * (d - 1.0) / (r * (r - 1.0)));
        self.masked.fill(0.0);
        let (mut size, mut attribute) = (label.abs(), self.supports[sparsity * self.chosen]);
        for &j in &self.drawn {
            let value = seen.attributes.binary_search(&j).map_or(0.0, |place| seen.values[place]);
            if (radius * value).abs() > size {
                (size, attribute) = ((radius * value).abs(), j);
            }
            self.masked[j as usize] = value;
        }
        // No number below exceeds eight times this.
        let size = size * r;
        let largest = pair * size * size * hedge_rate.max(1.0) * (1.0 + step_size / radius.min(1.0));
        if largest > f64::MAX / 64.0 {
            let update = self.done + 1;
            return Err(LearnError::Diverged { update, attribute: attribute as usize, value: largest });
        }
        let supports = self.supports.chunks_exact(sparsity).zip(self.weights.chunks_exact_mut(sparsity));
        for ((support, w), log) in supports.zip(&mut self.logs) {
            let (mut inner, mut squares, mut norm) = (0.0, 0.0, 0.0);
            for (&j, w) in support.iter().zip(&*w) {
                let term = w * self.masked[j as usize];
                inner += term;
                squares += term * term;
            }
            let loss =
                pair * (inner * inner - squares) + single * (squares - 2.0 * label * inner) + label * label;
            *log = (*log - hedge_rate * loss).max(f64::MIN);
            for (&j, w) in support.iter().zip(&mut *w) {
                let x = self.masked[j as usize];
                let gradient = 2.0 * x * (pair * (inner - *w * x) + single * (*w * x - label));
                *w -= step_size * gradient;
                norm += *w * *w;
            }
            if norm > radius * radius {
                let factor = radius / norm.sqrt();
                w.iter_mut().for_each(|w| *w *= factor);
            }
        }
        // Only differences of logarithms matter. The largest is shifted to 0, so that the others keep their
        // digits as they fall.
        let heaviest = self.heaviest();
        let largest = self.logs[heaviest];
        // A logarithm that would fall below `f64::MIN` stays there.
        self.logs.iter_mut().for_each(|log| *log = (*log - largest).max(f64::MIN));
        self.choose_best(heaviest);
        self.pending = false;
        self.done += 1;
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.best.view()
    }

    fn updates(&self) -> u64 {
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supports_are_counted_and_listed_in_order() {
        assert_eq!(
            [(5, 2), (20, 5), (3, 3), (60, 5)].map(|(d, k)| supports(d, k)),
            [10, 15_504, 1, 5_461_512]
        );
        assert_eq!(supports(10_000, 5000), u64::MAX);
        assert_eq!(all_supports(4, 2, 6), [0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3]);
    }

    #[test]
    fn too_many_supports_are_refused_with_their_number() {
        let task = Task { dim: 60, sparsity: 5, budget: 12, ..Task::default() };
        let error = FkkParams::from_theorem(&task).build().unwrap_err();
        assert_eq!(error.field, "sparsity");
        assert!(error.value.contains("5461512") && error.allowed.contains("200000"), "{error}");
    }
}
