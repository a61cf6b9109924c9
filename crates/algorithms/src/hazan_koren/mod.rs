//! Hazan & Koren 2012, *Linear Regression with Limited Observation*.
//!
//! One attribute of an example, drawn with a probability that the predictor gives it, is enough for an unbiased
//! residual; `k` more, drawn uniformly, for an unbiased direction. Their product is an unbiased gradient, whatever `d`
//! is, and any online method may descend along it: [`aerr`] (Algorithm 1) by projected steps on the l2 ball, [`aelr`]
//! (Algorithm 2) by multiplicative steps on the l1 ball. Other losses need a function of the residual, for which a few more
//! attributes suffice: [`aesvr`] (Algorithm 4) for support vector regression.
//!
//! The loss of the first two is `(w.x - y)^2 / 2`, so gradients have no factor 2.

pub mod aelr;
pub mod aerr;
pub mod aesvr;
mod multiplicative;
mod scaled;

pub use aelr::{Aelr, AelrParams};
pub use aerr::{Aerr, AerrParams};
pub use aesvr::{Aesvr, AesvrDraws, AesvrParams};

use crate::params::{ParamError, require};
use lao_observation::sample::{Tallier, Tally};
use lao_observation::{Ask, LearnError, Row, Told};
use serde::{Deserialize, Serialize};

/// What is drawn for one example.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draws {
    /// `i_1 .. i_k`: uniform, with replacement, in any order.
    pub uniform: Vec<u32>,
    /// `j`: drawn with a probability that grows with `|w_j|`. Any attribute when `w = 0`.
    pub weighted: u32,
}

/// How an example's label is predicted from its observed attributes, in the online protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prediction {
    /// The unbiased estimate of `w.x` from the attributes drawn by weight: the residual's own.
    #[default]
    Unbiased,
    /// The observed part of `w.x`, with 0 for what was not observed: biased towards 0, with less variance.
    Observed,
}

/// The draws of the example that was asked for, counted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Look {
    uniform: Vec<u32>,
    weighted: Vec<u32>,
    tally: Tally,
    tallier: Tallier,
    pending: bool,
}

impl Look {
    pub(crate) fn new(dim: usize) -> Self {
        let (tally, tallier) = (Tally::default(), Tallier::new(dim));
        Look { uniform: Vec::new(), weighted: Vec::new(), tally, tallier, pending: false }
    }

    /// Whether an example was asked for and has not come.
    pub(crate) fn pending(&self) -> bool {
        self.pending
    }

    /// The lists of uniform and of weighted draws, emptied, to be filled anew.
    pub(crate) fn draws(&mut self) -> (&mut Vec<u32>, &mut Vec<u32>) {
        self.uniform.clear();
        self.weighted.clear();
        self.pending = false;
        (&mut self.uniform, &mut self.weighted)
    }

    /// The draws of the example that is awaited, or was told last.
    pub(crate) fn drawn(&self) -> (&[u32], &[u32]) {
        (&self.uniform, &self.weighted)
    }

    /// Asks for one example's values at the attributes drawn.
    pub(crate) fn fill(&mut self, ask: &mut Ask) {
        if !self.pending {
            let strange = self.tallier.count(&self.uniform, &self.weighted, &mut self.tally);
            self.pending = strange.is_none();
            if let Some(strange) = strange {
                // The session refuses it, by its name.
                return ask.values(1).push(strange);
            }
        }
        ask.values(1).extend_from_slice(&self.tally.attributes);
    }

    /// The example that was awaited: its observed part, its label, and how often each attribute was drawn.
    pub(crate) fn answer<'a>(&self, told: Told<'a>) -> Result<(Row<'a>, f64, &Tally), LearnError> {
        let (told, asked) = match told {
            Told::Values(block) if self.pending => match block.single() {
                Some((row, label)) if row.attributes == self.tally.attributes => {
                    return Ok((row, label, &self.tally));
                }
                _ => ("other attribute values", "one example's values at the attributes drawn"),
            },
            Told::Values(_) => ("attribute values", "nothing"),
            Told::Gradient(_) => ("a gradient sum", "attribute values"),
        };
        Err(LearnError::NotAsked { told, asked })
    }

    /// The first attribute drawn by weight and its value, if it is among those seen.
    pub(crate) fn weighted_value(&self, seen: Row<'_>) -> Option<(u32, f64)> {
        let &j = self.weighted.first()?;
        let place = seen.attributes.binary_search(&j).ok()?;
        Some((j, *seen.values.get(place)?)).filter(|_| self.pending)
    }

    /// The attributes drawn by weight, among those seen: place, how often, value.
    pub(crate) fn weighted_values<'a>(&'a self, seen: Row<'a>) -> impl Iterator<Item = (u32, u32, f64)> + 'a {
        let times = self.tally.weighted.iter().copied();
        let pairs = seen.attributes.iter().zip(seen.values).zip(times);
        pairs.filter(|&(_, times)| times > 0).map(|((&j, &value), times)| (j, times, value))
    }

    /// Ends the wait for the example.
    pub(crate) fn done(&mut self) {
        self.pending = false;
    }
}

/// The checks that AERR, AELR and their relatives share.
pub(crate) fn require_shape(
    method: &'static str,
    dim: usize,
    draws: usize,
    radius: f64,
    step_size: f64,
) -> Result<(), ParamError> {
    require(dim >= 1, method, "dim", dim, "at least 1 attribute")?;
    require(dim <= u32::MAX as usize, method, "dim", dim, "below 2^32")?;
    require(
        draws >= 1,
        method,
        "draws",
        draws,
        "at least 1 uniform draw beside the one by weight: a budget of 2",
    )?;
    require(draws <= u32::MAX as usize, method, "draws", draws, "below 2^32")?;
    require(radius.is_finite() && radius > 0.0, method, "radius", radius, "a positive finite number")?;
    let ok = step_size.is_finite() && step_size > 0.0;
    require(ok, method, "step_size", step_size, "a positive finite number")
}
