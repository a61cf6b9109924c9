//! Judges, which are pure functions from numbers to [`Finding`]s: they use no seeds, no I/O and no threads.
//!
//! Every claim has two one-sided null hypotheses, which are tested separately. Rejecting "the claim holds"
//! *refutes* it, rejecting "the claim fails" *supports* it, rejecting neither leaves it *undecided*, and
//! rejecting both means that the experiment is broken. A p-value that did not reject is never read as
//! evidence for its null.
//!
//! | file | question | engine |
//! |---|---|---|
//! | [`mod@exact`] | is this identity true? | comparison to a tolerance |
//! | [`property`] | does this inequality hold on every instance? | zero violations |
//! | [`prob`] | `P(failure) <= delta`? | beta-binomial e-process; Clopper-Pearson at fixed n |
//! | [`mean`] | `E X <= b`? | betting e-process to refute; bounded betting or Hall's t to support |
//! | [`bounded`] | where is the mean of a bounded variable? | hedged-capital confidence sequence (drawn) |
//! | [`slope`] | is the exponent in this range? | slope per replicate, t |
//! | [`geom`] | does the gap shrink geometrically? | slope of the log gap in a frozen window, t |
//! | [`equal`] | is this estimator unbiased, this sampler right? | max abs t with Sidak; chi-square |
//! | [`paired`] | is A better than B? | sign test |
//! | [`ratio`] | is the ratio of two means in this range? | t on the log scale |
//! | [`holm`] | which of many p-values reject? | step-down |
//! | [`compare`] | did a tracked rate change? | exact, or Welch and paired intervals |
//! | [`calibration`] | do the judges keep their level? | simulation at the boundary of each null |

pub mod bounded;
pub mod calibration;
pub mod compare;
pub mod equal;
pub mod exact;
mod finding;
pub mod geom;
pub mod holm;
pub mod mean;
pub mod nonfinite;
pub mod paired;
pub mod prob;
pub mod property;
pub mod rare;
pub mod ratio;
pub mod sample;
pub mod slope;

pub use exact::{exact, exact_all};
pub use finding::{Decision, Direction, Finding, FindingKind, Flow, Guard, Interval, Stopped};
pub use mean::MeanJudge;
pub use prob::ProbJudge;
pub use property::PropertyTally;

/// The number of trials between two looks of a sequential judge. It is part of the statistic, so it is fixed.
pub const BLOCK: usize = 16;

/// The level of the intervals that are drawn beside a verdict.
pub const DRAWN_LEVEL: f64 = 0.999;

/// The normal quantile of .99, the power for which a detectable effect is stated.
pub(crate) const POWER_99: f64 = 2.326_347_874_040_841;

#[cfg(test)]
mod tests;
