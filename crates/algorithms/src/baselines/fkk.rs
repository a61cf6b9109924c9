//! FKK: hedging over all supports of size k, each with its own gradient descent.
//!
//! *Source*: Foster, Kale & Karloff 2016, *Online Sparse Linear Regression*, in the form in which Ito et al. 2017 compare
//! with it.
//!
//! *Setting*: the online protocol under a budget of k' >= k + 2 attributes per example, without any assumption on the
//! data, at a cost that is exponential in k.
//!
//! *Notation*: `k` -> `sparsity`, `k'` -> `budget`, `eta_h` -> `hedge_rate`, `eta_o` -> `step_size`; `A` is one of the
//! `N = C(d, k)` supports, with weight `pi_A` and predictor `w_A`; `r = k' - k`.
//!
//! *Update*: draw `A_t` from `pi` and, independently, a uniform set `R` of `r` attributes; observe both of one example,
//! predict `w_A' x` with `A = A_t`; from `R` alone estimate, with `p = r/d` and `p2 = r (r - 1)/(d (d - 1))`,
//!
//! ```text
//! X_ij = x_i x_j / p2,   X_ii = x_i^2 / p,   z_i = y x_i / p           for i /= j in R, else 0
//! ```
//!
//! so that `E X = x x'` and `E z = y x`, and then for every support `A`
//!
//! ```text
//! phi_A = w_A' X w_A - 2 z' w_A + y^2,          pi_A <- pi_A exp(-eta_h phi_A)
//! w_A <- P(w_A - 2 eta_o (X w_A - z) on A),     P the projection on |w|_2 <= radius
//! ```
//!
//! *Departures*: written from descriptions. Weights are kept as logarithms. More than [`MAX_SUPPORTS`] supports are refused;
//! an update costs O(N k).
//!
//! *Reference*: [`FkkReference`](super::reference::FkkReference).
//!
//! *Claims*: `ito17-fkk`.

use crate::params::{ParamError, require, require_step};
use lao_kernels::{SparseVector, SparseView, merge_into};
use lao_observation::sample::SubsetSampler;
use lao_observation::{Ask, LearnError, Learner, Rng, Row, Told};
use rand::RngExt;
use serde::{Deserialize, Serialize};

const NAME: &str = "FKK";

/// Supports that are kept at most.
pub const MAX_SUPPORTS: u64 = 200_000;

/// Parameters of [`Fkk`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FkkParams {
    /// `d`, attributes of an example; `C(d, k)` is at most [`MAX_SUPPORTS`].
    pub dim: usize,
    /// `k`, non-zeros of a predictor; `1 <= k <= k' - 2`.
    pub sparsity: usize,
    /// `k'`, attributes observed per example; `k + 2 <= k' <= d`.
    pub budget: usize,
    /// `eta_h > 0`, the rate at which weights follow losses.
    pub hedge_rate: f64,
    /// `eta_o > 0`, the step size of every support's predictor.
    pub step_size: f64,
    /// The largest l2 norm of a predictor, 1 in the paper.
    pub radius: f64,
}

impl FkkParams {
    /// The rates of the analysis up to constants, `eta_h = p2 sqrt(log N / T)` and `eta_o = p2 / sqrt(T)` for
    /// `T = examples` with `|x|_2 <= 1` and `|y| <= 1`.
    pub fn from_theorem(dim: usize, sparsity: usize, budget: usize, examples: u64) -> Self {
        let (d, r) = (dim as f64, budget.saturating_sub(sparsity) as f64);
        let (pair, t) = (r * (r - 1.0) / (d * (d - 1.0)), examples as f64);
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

    /// The theorem's rates times 16 for the weights and four times `step_size` for the predictors (as elsewhere 1/4 for
    /// weakly correlated attributes), within `radius`.
    pub fn practical(
        dim: usize,
        sparsity: usize,
        budget: usize,
        radius: f64,
        examples: u64,
        step_size: f64,
    ) -> Self {
        let theorem = Self::from_theorem(dim, sparsity, budget, examples);
        FkkParams {
            hedge_rate: 16.0 * theorem.hedge_rate,
            step_size: 4.0 * step_size * theorem.step_size,
            radius,
            ..theorem
        }
    }

    /// The learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn check(self) -> Result<Fkk, ParamError> {
        let FkkParams { dim, sparsity, budget, hedge_rate, step_size, radius } = self;
        require(dim >= 1 && dim <= u32::MAX as usize, NAME, "dim", dim, "1..2^32")?;
        require((1..=dim).contains(&sparsity), NAME, "sparsity", sparsity, format_args!("1..={dim}"))?;
        let ok = budget <= dim && budget >= sparsity + 2;
        let allowed =
            format_args!("{}..={dim}: two random attributes beside the support", sparsity + 2).to_string();
        require(ok, NAME, "budget", budget, allowed)?;
        let count = supports(dim, sparsity);
        let many = format_args!("{sparsity}, which makes {count} supports of {dim} attributes").to_string();
        let allowed = format_args!("at most {MAX_SUPPORTS} supports: lower sparsity or dim").to_string();
        require(count <= MAX_SUPPORTS, NAME, "sparsity", many, allowed)?;
        let ok = hedge_rate.is_finite() && hedge_rate > 0.0;
        require(ok, NAME, "hedge_rate", hedge_rate, "a positive finite number")?;
        require_step(NAME, step_size)?;
        require(radius.is_finite() && radius > 0.0, NAME, "radius", radius, "a positive finite number")?;
        let supports = all_supports(dim, sparsity, count as usize);
        Ok(Fkk {
            weights: vec![0.0; supports.len()],
            logs: vec![0.0; count as usize],
            supports,
            masked: vec![0.0; dim],
            chosen: 0,
            best: SparseVector::zeros(dim),
            sampler: SubsetSampler::new(dim),
            drawn: Vec::with_capacity(budget),
            pending: false,
            done: 0,
            params: self,
        })
    }
}

/// `C(d, k)`, saturating.
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

/// All supports in lexicographic order, one after the other.
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
pub struct Fkk {
    params: FkkParams,
    /// All supports, k indices each.
    supports: Vec<u32>,
    /// `w_A`, k numbers each.
    weights: Vec<f64>,
    /// `log pi_A`, up to a constant.
    logs: Vec<f64>,
    /// `x` on `R`, zero elsewhere.
    masked: Vec<f64>,
    /// `A_t`.
    chosen: usize,
    /// `w_A` of the heaviest support.
    best: SparseVector,
    sampler: SubsetSampler,
    /// `R` of the example asked for.
    drawn: Vec<u32>,
    /// Whether `drawn` still waits for its example.
    pending: bool,
    done: u64,
}

impl Fkk {
    /// As [`ask`](Learner::ask), with these draws instead of random ones: the support of this number, in lexicographic
    /// order (the last one if there are fewer), and this `R` (sorted, distinct).
    pub fn ask_for(&mut self, support: usize, drawn: &[u32], ask: &mut Ask) {
        self.chosen = support.min(self.logs.len() - 1);
        self.drawn.clear();
        self.drawn.extend_from_slice(drawn);
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

    /// How many supports there are.
    pub fn count(&self) -> usize {
        self.logs.len()
    }

    /// The attributes of support number `a`, sorted; none if there are not that many supports.
    pub fn support(&self, a: usize) -> &[u32] {
        self.supports.chunks_exact(self.params.sparsity).nth(a).unwrap_or_default()
    }

    /// `w_A` of support number `a`, one weight per attribute.
    pub fn weights(&self, a: usize) -> &[f64] {
        self.weights.chunks_exact(self.params.sparsity).nth(a).unwrap_or_default()
    }

    /// `log pi_A` of every support, up to a constant.
    pub fn log_weights(&self) -> &[f64] {
        &self.logs
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
        let not_asked =
            |told| LearnError::NotAsked { told, asked: "one example's values of the attributes asked for" };
        let Told::Values(block) = told else { return Err(not_asked("a gradient sum")) };
        let Some((seen, label)) = block.single().filter(|_| self.pending) else {
            return Err(not_asked("other attribute values"));
        };
        let FkkParams { dim, sparsity, budget, hedge_rate, step_size, radius } = self.params;
        let (d, r) = (dim as f64, (budget - sparsity) as f64);
        let (single, pair) = (d / r, d * (d - 1.0) / (r * (r - 1.0)));
        self.masked.fill(0.0);
        for &j in &self.drawn {
            // Everything below is bounded by a multiple of this.
            let value = seen.attributes.binary_search(&j).map_or(0.0, |place| seen.values[place]);
            let size = (radius * value).abs().max(label.abs()) * r;
            let largest = pair * size * size * hedge_rate.max(1.0) * (1.0 + step_size / radius.min(1.0));
            if !largest.is_finite() {
                let (update, attribute) = (self.done + 1, j as usize);
                return Err(LearnError::Diverged { update, attribute, value: largest });
            }
            self.masked[j as usize] = value;
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
            *log -= hedge_rate * loss;
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
        // Only differences count; without this the logarithms would lose digits as they fall.
        let heaviest =
            (0..self.logs.len()).fold(0, |best, a| if self.logs[a] > self.logs[best] { a } else { best });
        let largest = self.logs[heaviest];
        self.logs.iter_mut().for_each(|log| *log -= largest);
        let Fkk { best, supports, weights, .. } = self;
        let first = heaviest * sparsity;
        best.clear();
        let pairs = supports[first..].iter().zip(&weights[first..first + sparsity]);
        pairs.filter(|&(_, &w)| w != 0.0).for_each(|(&j, &w)| best.push(j, w));
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
        let error = FkkParams::from_theorem(60, 5, 12, 1000).check().unwrap_err();
        assert_eq!(error.field, "sparsity");
        assert!(error.value.contains("5461512") && error.allowed.contains("200000"), "{error}");
    }
}
