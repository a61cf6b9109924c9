//! Draws of attributes with replacement, some uniform and some by weight, as AERR, AELR and AESVR
//! ([`hazan_koren`](crate::hazan_koren)) and AER ([`baselines`](crate::baselines)) make them for each
//! example.

use crate::params::{ParamError, require, require_dim, require_scale};
use crate::state;
use crate::task::Task;
use lao_observation::stored::Damaged;
use lao_observation::{Ask, Example, LearnError, Row, Told};
use serde::{Deserialize, Serialize};

/// The largest number of draws per example, as a multiple of
/// `d`. The second moment of a direction estimated from `k` draws is `1 + (d - 1)/k` times that of the exact
/// direction, so more than a few times `d` draws gain nothing.
const MAX_DRAWS: usize = 16;

/// The sizes that the step sizes of the theorems depend on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Horizon {
    /// `d`, the number of attributes of an example.
    pub dim: usize,
    /// `k`, the number of uniform draws per example.
    pub draws: usize,
    /// `B`, the largest norm of a predictor.
    pub radius: f64,
    /// `m`, the number of examples; 0 counts as 1.
    pub examples: u64,
}

impl Horizon {
    /// Returns the horizon of a task whose budget leaves room for `others` draws beside the uniform ones.
    ///
    /// # Errors
    /// [`ParamError`] when the speed is not allowed, or the budget is above `d` or leaves no uniform draw.
    pub(crate) fn of(task: &Task, method: &'static str, others: usize) -> Result<Horizon, ParamError> {
        task.check(method)?;
        let Task { dim, budget, examples, .. } = *task;
        let allowed = format_args!("at least {}, one uniform draw and {others} beside it", others + 1);
        require(budget > others, method, "budget", budget, allowed)?;
        require(budget <= dim, method, "budget", budget, format_args!("at most d = {dim}"))?;
        Ok(Horizon { dim, draws: budget - others, radius: task.radius(), examples })
    }
}

/// How an example's label is predicted from its observed attributes, in the online protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prediction {
    /// The unbiased estimate of `w.x` from the attributes drawn by weight, which the residual is computed
    /// from.
    #[default]
    Unbiased,
    /// The observed part of `w.x`, with 0 for attributes that were not observed. It is biased towards 0 and
    /// has less variance.
    Observed,
}

/// The draws of the example that was asked for, and whether its values are still awaited.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PendingExample {
    dim: usize,
    uniform: Vec<u32>,
    weighted: Vec<u32>,
    pending: bool,
    /// Whether `distinct` is kept.
    counts_once: bool,
    /// The distinct attributes, sorted, each with its first place among uniform and then weighted draws.
    distinct: Vec<(u32, u32)>,
}

/// The numbers of uniform and of weighted draws per example.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawCounts {
    pub(crate) uniform: usize,
    pub(crate) weighted: usize,
}

/// The example that was asked for: the values at the draws, and the label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) all: Row<'a>,
    pub(crate) uniform: Row<'a>,
    pub(crate) weighted: Row<'a>,
    pub(crate) label: f64,
}

impl PendingExample {
    /// Returns a state in which no example is awaited. [`observed_part`](Self::observed_part) and
    /// [`value`](Self::value) need a list of the distinct attributes, which is kept only for
    /// [`Prediction::Observed`].
    pub(crate) fn new(dim: usize, prediction: Prediction) -> Self {
        let (uniform, weighted, distinct) = (Vec::new(), Vec::new(), Vec::new());
        let counts_once = prediction == Prediction::Observed;
        PendingExample { dim, uniform, weighted, pending: false, counts_once, distinct }
    }

    /// Returns whether an example was asked for and not yet told.
    pub(crate) fn pending(&self) -> bool {
        self.pending
    }

    /// Empties the lists of uniform and of weighted draws, and returns them for the caller to fill.
    pub(crate) fn draws(&mut self) -> (&mut Vec<u32>, &mut Vec<u32>) {
        self.uniform.clear();
        self.weighted.clear();
        self.pending = false;
        (&mut self.uniform, &mut self.weighted)
    }

    /// Returns the uniform and the weighted draws of the example that is awaited or, if none is, was told
    /// last.
    pub(crate) fn drawn(&self) -> (&[u32], &[u32]) {
        (&self.uniform, &self.weighted)
    }

    /// Asks like [`ask`](Self::ask), for draws supplied by the caller. If one of them is out of range, the
    /// session refuses the ask, and no example is awaited.
    pub(crate) fn ask_given(&mut self, ask: &mut Ask) {
        self.ask(ask);
        self.pending = self.uniform.iter().chain(&self.weighted).all(|&j| (j as usize) < self.dim);
    }

    /// Asks for one example's values at the attributes drawn, all of which are below `d`.
    pub(crate) fn ask(&mut self, ask: &mut Ask) {
        let attributes = ask.values(1);
        attributes.extend_from_slice(&self.uniform);
        attributes.extend_from_slice(&self.weighted);
        self.pending = true;
        if self.counts_once {
            self.distinct.clear();
            self.distinct.extend(attributes.iter().copied().zip(0..));
            self.distinct.sort_unstable();
            self.distinct.dedup_by_key(|&mut (j, _)| j);
        }
    }

    /// Returns the example that was awaited.
    ///
    /// # Errors
    /// [`LearnError::NotAsked`] when no example is awaited, or the answer belongs to other draws.
    pub(crate) fn answer<'a>(&self, told: Told<'a>) -> Result<Seen<'a>, LearnError> {
        if !self.pending && matches!(told, Told::Values(_)) {
            return Err(LearnError::NotAsked { told: "attribute values", asked: "nothing" });
        }
        let Example { seen: row, label } = told.example()?;
        if !self.asked_for(row) {
            return Err(told.other_attributes());
        }
        let (uniform, weighted) = self.split(row);
        Ok(Seen { all: row, uniform, weighted, label })
    }

    fn asked_for(&self, row: Row<'_>) -> bool {
        let (uniform, weighted) = row.attributes.split_at(self.uniform.len().min(row.attributes.len()));
        uniform == self.uniform && weighted == self.weighted
    }

    /// Returns the values at the uniform draws, and those at the draws by weight.
    pub(crate) fn split<'a>(&self, row: Row<'a>) -> (Row<'a>, Row<'a>) {
        let at = self.uniform.len().min(row.attributes.len()).min(row.values.len());
        let (attributes, values) = (row.attributes.split_at(at), row.values.split_at(at));
        (
            Row { attributes: attributes.0, values: values.0 },
            Row { attributes: attributes.1, values: values.1 },
        )
    }

    /// Returns the observed part of `w.x`: the sum of `w_j x_j` over the distinct attributes drawn.
    pub(crate) fn observed_part(&self, row: Row<'_>, weight: impl Fn(u32) -> f64) -> f64 {
        let value = |place: u32| row.values.get(place as usize).copied().unwrap_or_default();
        self.distinct.iter().map(|&(j, place)| weight(j) * value(place)).sum()
    }

    /// Returns `x_j` if attribute `j` was drawn, else 0.
    pub(crate) fn value(&self, row: Row<'_>, j: u32) -> f64 {
        let found = self.distinct.binary_search_by_key(&j, |&(j, _)| j).ok();
        found.and_then(|at| row.values.get(self.distinct[at].1 as usize)).copied().unwrap_or_default()
    }

    /// Marks the example as told.
    pub(crate) fn clear(&mut self) {
        self.pending = false;
    }

    /// Returns whether `draws` are the draws by weight made for the example.
    pub(crate) fn is_weighted(&self, draws: impl Iterator<Item = u32>) -> bool {
        self.weighted.iter().copied().eq(draws)
    }

    /// Refuses a state that [`new`](Self::new) and [`ask`](Self::ask) never produce with these numbers of
    /// draws.
    pub(crate) fn check(
        &self,
        what: &'static str,
        dim: usize,
        prediction: Prediction,
        wanted: DrawCounts,
    ) -> Result<(), Damaged> {
        let counts_once = prediction == Prediction::Observed;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, what, || reason);
        damaged(self.dim == dim, "the draws are for another dimension than the predictor")?;
        damaged(self.counts_once == counts_once, "the kind of prediction does not fit the draws")?;
        damaged(counts_once || self.distinct.is_empty(), "it lists attributes that no prediction needs")?;
        if !self.pending {
            // The lists then hold the draws of the example before, which only `drawn` reads; if the caller
            // supplied them, they may be any attributes.
            return Ok(());
        }
        state::length(what, "the list of uniform draws", self.uniform.len(), wanted.uniform)?;
        state::length(what, "the list of draws by weight", self.weighted.len(), wanted.weighted)?;
        let draws = || self.uniform.iter().chain(&self.weighted).copied();
        damaged(draws().all(|j| (j as usize) < dim), "an attribute drawn does not exist")?;
        let mut distinct = Vec::new();
        if counts_once {
            distinct = places(draws());
        }
        damaged(self.distinct == distinct, "the list of distinct attributes is not that of the draws")
    }
}

/// Returns the distinct attributes, sorted, each with its first place.
fn places(draws: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut places = draws.zip(0..).collect::<Vec<_>>();
    places.sort_unstable();
    places.dedup_by_key(|&mut (j, _)| j);
    places
}

/// Refuses dimensions, numbers of draws, radii and step sizes that AERR, AELR and AESVR cannot use.
pub(crate) fn require_shape(
    method: &'static str,
    dim: usize,
    draws: usize,
    radius: f64,
    step_size: f64,
) -> Result<(), ParamError> {
    require_dim(method, 1, dim)?;
    require_draws(method, "draws", dim, draws)?;
    require_scale(method, "radius", radius)?;
    require_scale(method, "step_size", step_size)
}

/// Refuses a number of draws per example that is 0 or beyond [`MAX_DRAWS`] `d`.
pub(crate) fn require_draws(
    method: &'static str,
    field: &'static str,
    dim: usize,
    draws: usize,
) -> Result<(), ParamError> {
    let most = dim.saturating_mul(MAX_DRAWS);
    let allowed =
        format_args!("at least 1, and at most {MAX_DRAWS} d = {most}; a budget of 2 is one of each kind");
    require((1..=most).contains(&draws), method, field, draws, allowed)
}
