//! The round that Algorithm 1, greedy and uniform choice share: *Observe(w_t, k', k_1)*, estimate the gradient, add it up.

use super::dual_average::{DualAverage, Regularization};
use super::largest::{Chosen, Largest};
use super::{BROKEN, not_asked};
use crate::params::{ParamError, require};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::estimate::gram::{Estimates, Observe};
use lao_observation::{Ask, LearnError, Rng, Row, Told};
use serde::{Deserialize, Serialize, Serializer};
use std::cell::OnceCell;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(super) struct Core {
    kept: usize,
    budget: usize,
    average: DualAverage,
    /// `S_t`.
    #[serde(serialize_with = "attributes")]
    asked: Chosen,
    /// Whether `S_t` still waits for its example.
    pending: bool,
    #[serde(skip)]
    estimates: Estimates,
    /// `U_t`.
    #[serde(skip)]
    largest: Largest,
    /// `x_t`, `w_t` and `g^_t` at the members of `S_t`.
    #[serde(skip)]
    values: Vec<f64>,
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

impl TryFrom<Stored> for Core {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { kept, budget, average, asked, pending } = stored;
        let dim = average.dim();
        let sorted = asked.is_sorted_by(|a, b| a < b) && asked.last().is_none_or(|&j| (j as usize) < dim);
        if kept > budget || budget > dim || !sorted {
            return Err(BROKEN);
        }
        let mut core = Core::assemble(average, budget, kept);
        if pending {
            if !core.largest.kept().iter().all(|j| asked.binary_search(j).is_ok()) {
                return Err(BROKEN);
            }
            core.largest.split(&asked, &mut core.asked);
            core.pending = true;
        }
        Ok(core)
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
            estimates: Observe::new(average.dim(), budget, kept).estimates(),
            largest: Largest::new(average.sum(), kept),
            average,
            asked: Chosen::default(),
            values: Vec::new(),
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
            self.largest.draw(self.budget - self.kept, rng, &mut self.asked);
            self.pending = true;
        }
        ask.values(1).extend_from_slice(&self.asked.all);
    }

    /// As [`ask`](Self::ask), with these attributes for `V_t`; those in `U_t` or out of range are left out.
    pub(super) fn ask_for(&mut self, drawn: &[u32], ask: &mut Ask) {
        let allowed = |&j: &u32| (j as usize) < self.dim() && !self.largest.contains(j);
        let mut drawn: Vec<u32> = drawn.iter().copied().filter(allowed).collect();
        drawn.sort_unstable();
        drawn.dedup();
        let mut set = Vec::new();
        lao_kernels::merge_into(self.largest.kept(), &drawn, &mut set);
        self.largest.split(&set, &mut self.asked);
        self.pending = true;
        ask.values(1).extend_from_slice(&self.asked.all);
    }

    /// `w_t' D_t x_t`.
    pub(super) fn predict(&self, seen: Row<'_>) -> f64 {
        seen.attributes.iter().zip(seen.values).map(|(&j, x)| self.average.weight(j) * x).sum()
    }

    pub(super) fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Told::Values(block) = told else { return Err(not_asked(&told)) };
        let Some((seen, label)) = block.single() else { return Err(not_asked(&told)) };
        if !self.pending || seen.attributes != self.asked.all {
            return Err(not_asked(&told));
        }
        let Core { kept, average, largest, estimates, asked, values, weights, gradient, .. } = self;
        values.clear();
        values.extend(asked.places.iter().map(|&place| seen.values[place as usize]));
        average.weights_at(&asked.members, weights);
        estimates.gradient(values, weights, *kept, label, gradient);
        average.add(&asked.members, gradient, |sum, at| {
            if at >= *kept {
                largest.change(sum, asked.members[at]);
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

/// Of a set, only its attributes are stored.
fn attributes<S: Serializer>(set: &Chosen, serializer: S) -> Result<S::Ok, S::Error> {
    set.all.serialize(serializer)
}
