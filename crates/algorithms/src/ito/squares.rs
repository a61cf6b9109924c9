//! The rounds that Algorithms 2 and 3 share: explore in rounds 1, 4, 9, ..., exploit what was found in between.

use super::dual_average::{DualAverage, Regularization, small};
use super::largest::{Largest, select};
use super::{BROKEN, not_asked};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::estimate::gram::Observe;
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

impl TryFrom<Stored> for Squares {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { explore, exploit, asked, pending } = stored;
        let dim = exploit.dim();
        let fits =
            |list: &[u32]| list.is_sorted_by(|a, b| a < b) && list.last().is_none_or(|&j| (j as usize) < dim);
        let sizes = explore.sum.len() == dim && explore.mean.len() == dim && explore.budget <= dim;
        if !sizes || !fits(&asked) || !fits(&explore.chosen) {
            return Err(BROKEN);
        }
        Ok(Squares { asked, pending, ..Squares::assemble(explore, exploit) })
    }
}

impl Explore {
    /// Before exploration round `s`: `w_s`, `wbar_s` and the attributes it chooses. O(d).
    fn prepare(&mut self) {
        self.round += 1;
        let s = self.round as f64;
        if self.round > 1 {
            self.level += self.penalty * (s - 1.0).powf(-0.25);
        }
        let norm = self.sum.iter().map(|h| soft(*h, self.level).powi(2)).sum::<f64>().sqrt();
        self.factor = -1.0 / self.regularization.at(self.round).max(norm / self.radius);
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
        self.asked.clear();
        self.asked.extend_from_slice(if explores { drawn } else { &self.explore.chosen });
        self.asked.sort_unstable();
        self.asked.dedup();
        self.asked.retain(|&j| (j as usize) < dim);
        self.pending = true;
        ask.values(1).extend_from_slice(&self.asked);
    }

    /// `w~_t' D_t x_t`.
    pub(super) fn predict(&self, seen: Row<'_>) -> f64 {
        seen.attributes.iter().zip(seen.values).map(|(&j, x)| self.exploit.weight(j) * x).sum()
    }

    pub(super) fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Told::Values(block) = told else { return Err(not_asked(&told)) };
        let Some((seen, label)) = block.single() else { return Err(not_asked(&told)) };
        if !self.pending || seen.attributes != self.asked {
            return Err(not_asked(&told));
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
        let estimates = Observe::new(explore.sum.len(), explore.budget, 0).estimates();
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
