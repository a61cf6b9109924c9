//! The round that Algorithm 1, greedy and uniform choice share: *Observe(w_t, k', k_1)*, estimate the
//! gradient, add it up.

use super::dual_average::{DualAverage, Regularization};
use super::largest::Largest;
use crate::params::{ParamError, require};
use crate::state;
use lao_kernels::{SparseVector, SparseView};
use lao_observation::estimate::gram::{GramWeights, Observe};
use lao_observation::stored::Damaged;
use lao_observation::{Ask, LearnError, Rng, Row, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(super) struct Core {
    kept: usize,
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
}

/// What is stored of a [`Core`]; the rest follows from it.
#[derive(Deserialize)]
struct Stored {
    kept: usize,
    budget: usize,
    average: DualAverage,
    asked: Vec<u32>,
    pending: bool,
}

/// What stored rounds are called.
const STORED: &str = "state of dual averaging";

impl TryFrom<Stored> for Core {
    type Error = Damaged;

    /// Checks what goes for every method that has such rounds; what `kept` may be is for the method to say.
    fn try_from(stored: Stored) -> Result<Self, Damaged> {
        let Stored { kept, budget, average, asked, pending } = stored;
        let dim = average.dim();
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, STORED, || reason);
        super::require_common(STORED, dim, budget, average.radius()).map_err(ParamError::damaged)?;
        damaged(kept <= budget, "more attributes are kept than observed")?;
        let mut sorted = asked.clone();
        sorted.sort_unstable();
        damaged(state::is_set(&sorted, dim), "the attributes asked for are no set of attributes")?;
        let core = Core::assemble(average, budget, kept);
        if pending {
            state::length(STORED, "the set asked for", asked.len(), budget)?;
            let begins = asked.starts_with(core.largest.kept());
            damaged(begins, "the set asked for does not begin with the largest weights")?;
        }
        Ok(Core { asked, pending, ..core })
    }
}

impl Core {
    pub(super) fn new(
        dim: usize,
        budget: usize,
        kept: usize,
        regularization: Regularization,
        radius: f64,
    ) -> Self {
        Self::assemble(DualAverage::new(dim, regularization, radius), budget, kept)
    }

    fn assemble(average: DualAverage, budget: usize, kept: usize) -> Self {
        Core {
            kept,
            budget,
            estimates: Observe { dim: average.dim(), budget, kept }.estimates(),
            largest: Largest::new(average.sum(), kept),
            average,
            asked: Vec::new(),
            pending: false,
            weights: Vec::new(),
            gradient: Vec::new(),
            current: OnceCell::new(),
        }
    }

    /// Takes up with the gradient sum `h`.
    pub(super) fn with_gradient_sum(mut self, method: &'static str, sum: &[f64]) -> Result<Self, ParamError> {
        let dim = self.dim();
        require(sum.len() == dim, method, "gradient_sum", sum.len(), format_args!("{dim} entries"))?;
        let wild = sum.iter().find(|h| !super::dual_average::small(**h));
        let value = wild.copied().unwrap_or_default();
        require(wild.is_none(), method, "gradient_sum", value, "finite entries, below 1e149")?;
        self.average.set_sum(sum);
        Ok(Self::assemble(self.average, self.budget, self.kept))
    }

    pub(super) fn dim(&self) -> usize {
        self.average.dim()
    }

    /// `k'` and `k_1`.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.budget, self.kept)
    }

    pub(super) fn law(&self) -> Observe {
        Observe { dim: self.dim(), budget: self.budget, kept: self.kept }
    }

    /// `U_t`, sorted.
    pub(super) fn largest(&self) -> &[u32] {
        self.largest.kept()
    }

    pub(super) fn average(&self) -> &DualAverage {
        &self.average
    }

    pub(super) fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if !self.pending {
            self.largest.draw(self.budget - self.kept, rng, &mut self.asked);
            self.pending = true;
        }
        ask.values(1).extend_from_slice(&self.asked);
    }

    /// As [`ask`](Self::ask), with these attributes for `V_t`; those in `U_t` or out of range are left out.
    pub(super) fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        let mut others = Vec::new();
        state::set_of(drawn, self.dim(), &mut others);
        others.retain(|&j| !self.largest.contains(j));
        self.asked.clear();
        self.asked.extend_from_slice(self.largest.kept());
        self.asked.extend(others);
        self.pending = true;
        ask.values(1).extend_from_slice(&self.asked);
    }

    /// `w_t' D_t x_t`.
    pub(super) fn predict(&self, seen: Row<'_>) -> f64 {
        seen.attributes.iter().zip(seen.values).map(|(&j, x)| self.average.weight(j) * x).sum()
    }

    pub(super) fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let (seen, label) = told.example()?;
        if !self.pending || seen.attributes != self.asked {
            return Err(told.other_attributes());
        }
        let Core { kept, average, largest, estimates, asked, weights, gradient, .. } = self;
        average.weights_at(asked, weights);
        estimates.gradient(seen.values, weights, *kept, label, gradient);
        average.add(asked, gradient, |sum, at| {
            if at >= *kept {
                largest.change(sum, asked[at]);
            }
        })?;
        largest.settle(average.sum());
        self.current.take();
        self.pending = false;
        Ok(())
    }

    pub(super) fn coefficients(&self) -> SparseView<'_> {
        self.current.get_or_init(|| SparseVector::from_dense(&self.average.weights())).view()
    }
}
