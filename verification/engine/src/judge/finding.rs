//! The findings that judges return.

use super::nonfinite;
use serde::{Deserialize, Serialize};

/// The result of one judge on one cell.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Finding {
    /// The test that decided: "beta-binomial-e", "clopper-pearson", "betting-e", "t", "sign", "enumeration"
    /// and others.
    pub engine: String,
    /// The kind of statement that was judged.
    pub kind: FindingKind,
    /// The number of trials (instances, replicates, pairs) that were judged.
    pub n_trials: u64,
    /// The number of trials that were allowed.
    pub n_max: u64,
    /// Why the judge stopped.
    pub stopped: Stopped,
    /// The estimate, in the units of `bound`.
    #[serde(with = "nonfinite")]
    pub estimate: f64,
    /// The bound that the claim states.
    #[serde(with = "nonfinite")]
    pub bound: f64,
    /// The ratio `estimate / bound`, where this ratio says how loose the bound is.
    #[serde(with = "nonfinite::option", default, skip_serializing_if = "Option::is_none")]
    pub tightness: Option<f64>,
    /// An interval for the estimated quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The p-value of "the claim holds": a small value refutes. It is valid at any stopping time where the
    /// engine is sequential.
    #[serde(with = "nonfinite")]
    pub p_refute: f64,
    /// The p-value of "the claim fails": a small value supports.
    #[serde(with = "nonfinite")]
    pub p_support: f64,
    /// The largest log e-value against the claim so far, of sequential engines.
    #[serde(with = "nonfinite::option", default, skip_serializing_if = "Option::is_none")]
    pub log_e_refute: Option<f64>,
    /// The largest log e-value for the claim so far, of sequential engines.
    #[serde(with = "nonfinite::option", default, skip_serializing_if = "Option::is_none")]
    pub log_e_support: Option<f64>,
    /// The smallest violation that this many trials find with power .99. It is relative to the bound for
    /// probabilities and means, and absolute for exponents and log ratios.
    #[serde(with = "nonfinite::option", default, skip_serializing_if = "Option::is_none")]
    pub detectable_effect: Option<f64>,
    /// The checks of the engine's own assumptions. Where a failed guard matters, the engine has set both
    /// p-values, or the supporting one, to 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<Guard>,
    /// A remark for the reader, which starts with the reason when the finding is broken.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The kind of statement that is judged.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "UPPERCASE")]
pub enum FindingKind {
    /// An identity.
    Exact,
    /// A deterministic inequality.
    Property,
    /// A bound on a probability.
    Prob,
    /// A bound on an expectation.
    Mean,
    /// An equality of expectations or of distributions.
    Equal,
    /// An exponent.
    Slope,
    /// A geometric rate.
    Geom,
    /// An ordering of two methods.
    Paired,
}

impl FindingKind {
    /// Returns whether a finding of this kind is computed, without chance.
    pub const fn is_computed(self) -> bool {
        matches!(self, FindingKind::Exact | FindingKind::Property)
    }
}

/// Why a judge stopped.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Stopped {
    /// The evidence sufficed.
    Evidence,
    /// The cap on trials was reached.
    Cap,
    /// The number of trials was fixed in advance.
    Fixed,
}

/// An interval for the estimated quantity.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Interval {
    /// Two-sided confidence level.
    pub level: f64,
    /// Lower end.
    #[serde(with = "nonfinite")]
    pub lo: f64,
    /// Upper end.
    #[serde(with = "nonfinite")]
    pub hi: f64,
    /// The method that computed the interval.
    pub method: String,
}

/// A check of an engine's assumptions.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Guard {
    /// The assumption.
    pub name: String,
    /// Whether the assumption is met.
    pub ok: bool,
    /// The number that was checked.
    #[serde(with = "nonfinite")]
    pub value: f64,
}

/// The decision of a finding at a level.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// "The claim fails" was rejected.
    Supported,
    /// "The claim holds" was rejected.
    Refuted,
    /// Neither "the claim fails" nor "the claim holds" was rejected.
    Undecided,
    /// The numbers cannot be judged, for this reason.
    Broken(String),
}

/// Whether a sequential judge wants more trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// Run the next block.
    Continue,
    /// The judge needs no more trials; call `finish`.
    Stop,
}

impl Finding {
    /// Returns a finding without evidence either way, to be filled in.
    pub(crate) fn undecided(engine: &str, kind: FindingKind, n: usize, estimate: f64, bound: f64) -> Self {
        Finding {
            engine: engine.into(),
            kind,
            n_trials: n as u64,
            n_max: n as u64,
            stopped: Stopped::Fixed,
            estimate,
            bound,
            tightness: None,
            interval: None,
            p_refute: 1.0,
            p_support: 1.0,
            log_e_refute: None,
            log_e_support: None,
            detectable_effect: None,
            guards: Vec::new(),
            note: String::new(),
        }
    }

    /// Returns a finding that no level can decide, with the reason.
    pub(crate) fn broken(engine: &str, kind: FindingKind, n: usize, why: impl Into<String>) -> Self {
        let mut finding = Finding::undecided(engine, kind, n, f64::NAN, f64::NAN);
        finding.p_refute = f64::NAN;
        finding.p_support = f64::NAN;
        finding.note = why.into();
        finding
    }

    /// Returns the finding with its tightness `estimate / bound`, if both are finite and the bound is not
    /// zero.
    pub(crate) fn with_tightness(mut self) -> Self {
        let ratio = self.estimate / self.bound;
        self.tightness = (ratio.is_finite() && self.bound != 0.0).then_some(ratio);
        self
    }

    /// Returns the ratio of the evidence to the least evidence that decides at `level`: 1 is just enough.
    ///
    /// For a judge that stops when the evidence suffices, it is the number of trials allowed over the number
    /// of trials made; for any other judge, it is `ln p / ln level`. For a computed finding it is infinite.
    pub fn evidence_ratio(&self, p: f64, level: f64) -> f64 {
        match self.stopped {
            _ if self.kind.is_computed() => f64::INFINITY,
            Stopped::Evidence => self.n_max as f64 / self.n_trials as f64,
            Stopped::Cap | Stopped::Fixed => p.max(f64::MIN_POSITIVE).ln() / level.ln(),
        }
    }

    /// Adds a check; returns whether it passed.
    pub(crate) fn guard(&mut self, name: &str, ok: bool, value: f64) -> bool {
        self.guards.push(Guard { name: name.into(), ok, value });
        ok
    }

    /// Adds a remark.
    pub(crate) fn remark(&mut self, text: &str) {
        if !self.note.is_empty() {
            self.note.push_str("; ");
        }
        self.note.push_str(text);
    }

    /// Returns the decision at level `alpha`. It is `Broken` if a number is NaN, no trial was judged, or both
    /// nulls are rejected.
    pub fn decide(&self, alpha: f64) -> Decision {
        if let Some(why) = self.defect() {
            return Decision::Broken(if self.note.is_empty() {
                why
            } else {
                format!("{}: {why}", self.note)
            });
        }
        match (self.p_support <= alpha, self.p_refute <= alpha) {
            (true, true) => Decision::Broken("both the claim and its opposite were rejected".into()),
            (true, false) => Decision::Supported,
            (false, true) => Decision::Refuted,
            (false, false) => Decision::Undecided,
        }
    }

    fn defect(&self) -> Option<String> {
        if self.n_trials == 0 {
            return Some("no trial was judged".into());
        }
        let named = [
            ("estimate", Some(self.estimate)),
            ("bound", Some(self.bound)),
            ("p_refute", Some(self.p_refute)),
            ("p_support", Some(self.p_support)),
            ("log_e_refute", self.log_e_refute),
            ("log_e_support", self.log_e_support),
            ("tightness", self.tightness),
            ("interval", self.interval.as_ref().map(|i| i.lo)),
            ("interval", self.interval.as_ref().map(|i| i.hi)),
        ];
        if let Some((name, _)) = named.iter().find(|(_, value)| value.is_some_and(f64::is_nan)) {
            return Some(format!("{name} is NaN"));
        }
        let outside = [("p_refute", self.p_refute), ("p_support", self.p_support)];
        let outside = outside.iter().find(|(_, p)| !(0.0..=1.0).contains(p));
        outside.map(|(name, p)| format!("{name} = {p} is not a probability"))
    }
}

/// A direction on the real line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Larger values.
    Larger,
    /// Smaller values.
    Smaller,
}
