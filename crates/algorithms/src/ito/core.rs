//! The round that Algorithm 1, greedy and uniform choice share: *Observe(w_t, k', k_1)*, estimate the gradient, add it up.

use super::dual_average::{DualAverage, Regularization};
use super::largest::Largest;
use super::not_asked;
use crate::params::{ParamError, require};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::estimate::gram::Observe;
use lao_observation::{Ask, LearnError, Rng, Row, Told};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(super) struct Core {
    kept: usize,
    budget: usize,
    average: DualAverage,
    /// `V_t` of the round asked for.
    drawn: Vec<u32>,
    /// `S_t`, sorted, and which of it lies outside `U_t`.
    asked: Vec<u32>,
    outside: Vec<bool>,
    /// Whether `S_t` still waits for its example.
    pending: bool,
    /// `U_t`.
    #[serde(skip)]
    largest: Largest,
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
    drawn: Vec<u32>,
    asked: Vec<u32>,
    outside: Vec<bool>,
    pending: bool,
}

impl TryFrom<Stored> for Core {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { kept, budget, average, drawn, asked, outside, pending } = stored;
        let dim = average.dim();
        let fits = |list: &[u32]| list.last().is_none_or(|&j| (j as usize) < dim) && list.is_sorted();
        if kept > budget || budget > dim || !fits(&drawn) || !fits(&asked) || asked.len() != outside.len() {
            return Err("the stored state is not one of a learner: sizes or attributes do not fit together");
        }
        let core = Core::assemble(average, budget, kept);
        Ok(Core { drawn, asked, outside, pending, ..core })
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
            largest: Largest::new(average.sum(), kept),
            average,
            drawn: Vec::new(),
            asked: Vec::new(),
            outside: Vec::new(),
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

    pub(super) fn law(&self) -> Observe {
        Observe::new(self.dim(), self.budget, self.kept)
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
            self.drawn.clear();
            self.largest.draw_outside(self.budget - self.kept, rng, &mut self.drawn);
            self.observe();
        }
        ask.values(1).extend_from_slice(&self.asked);
    }

    /// As [`ask`](Self::ask), with these attributes for `V_t`; those in `U_t` or out of range are left out.
    pub(super) fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        self.drawn.clear();
        self.drawn.extend_from_slice(drawn);
        self.drawn.sort_unstable();
        self.drawn.dedup();
        let (dim, kept) = (self.average.dim(), self.largest.kept());
        self.drawn.retain(|&j| (j as usize) < dim && kept.binary_search(&j).is_err());
        self.observe();
        ask.values(1).extend_from_slice(&self.asked);
    }

    /// `S_t <- U_t + V_t`.
    fn observe(&mut self) {
        let (kept, drawn) = (self.largest.kept(), &self.drawn);
        self.asked.clear();
        lao_kernels::merge_into(kept, drawn, &mut self.asked);
        self.outside.clear();
        self.outside.extend(self.asked.iter().map(|j| kept.binary_search(j).is_err()));
        self.pending = true;
    }

    /// `w_t' D_t x_t`.
    pub(super) fn predict(&self, seen: Row<'_>) -> f64 {
        seen.attributes.iter().zip(seen.values).map(|(&j, x)| self.average.weight(j) * x).sum()
    }

    pub(super) fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Told::Values(block) = told else { return Err(not_asked(&told)) };
        let Some((seen, label)) = block.single() else { return Err(not_asked(&told)) };
        if !self.pending || seen.attributes != self.asked {
            return Err(not_asked(&told));
        }
        self.weights.clear();
        self.weights.extend(self.asked.iter().map(|&j| self.average.weight(j)));
        let estimates = self.law().estimates();
        estimates.gradient(seen.values, &self.weights, &self.outside, label, &mut self.gradient);
        self.average.add(&self.asked, &self.gradient)?;
        self.largest.update(self.average.sum(), &self.asked);
        self.current.take();
        self.pending = false;
        Ok(())
    }

    pub(super) fn coefficients(&self) -> SparseView<'_> {
        self.current.get_or_init(|| SparseVector::from_dense(&self.average.weights())).view()
    }
}
