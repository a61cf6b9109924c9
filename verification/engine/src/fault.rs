//! The faults of a claim, which the claim's own judge must notice.

use serde::{Deserialize, Serialize};

/// A deliberate fault, and the verdict that the claim's own judge must reach on it.
///
/// A fault that replaces a value (a constant of a bound, a step size) is a row of a table, [`Fault`]. A fault
/// that changes the course of the experiment is a constant of its own, and the experiment asks the context
/// whether the arm [commits](crate::context::Context::commits) the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The identifier of the fault, in snake_case: `forgets_importance_weight`.
    pub name: &'static str,
    /// A description of the fault in a few words.
    pub fault: &'static str,
    /// The verdict that the judge must reach.
    pub must: Must,
}

/// The verdict that a judge must reach on a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Must {
    /// The mutant must be refuted at the claim's own level.
    BeRefuted,
    /// The mutant must be neither refuted nor supported: the fault makes equal what the claim orders, and a
    /// judge that decides between equals is wrong in either direction.
    StayUndecided,
    /// The mutant must be supported. It is the control of a claim that is expected to be refuted, and shows
    /// that the claim's judge can also accept.
    Hold,
}

impl Mutant {
    /// Returns a fault that must be refuted.
    pub const fn refuted(name: &'static str, fault: &'static str) -> Self {
        Mutant { name, fault, must: Must::BeRefuted }
    }
    /// Returns a fault that makes equal what the claim orders, so that the judge must not decide.
    pub const fn tied(name: &'static str, fault: &'static str) -> Self {
        Mutant { name, fault, must: Must::StayUndecided }
    }
    /// Returns a repaired form that must be supported.
    pub const fn held(name: &'static str, fault: &'static str) -> Self {
        Mutant { name, fault, must: Must::Hold }
    }
}

/// One row of a claim's table of faults: a mutant and the value that the experiment uses in its arm.
///
/// The table is a constant of the claim. [`mutants`] makes the registry's list from the table, and
/// [`Context::arm`](crate::context::Context::arm) gives the experiment the value for the arm that runs.
#[derive(Clone, Copy, Debug)]
pub struct Fault<A> {
    /// The fault's name, description and required verdict.
    pub mutant: Mutant,
    /// The value that replaces the sound one.
    pub arm: A,
}

impl<A> Fault<A> {
    /// Returns a fault that must be refuted.
    pub const fn refuted(name: &'static str, fault: &'static str, arm: A) -> Self {
        Fault { mutant: Mutant::refuted(name, fault), arm }
    }
    /// Returns a fault that makes equal what the claim orders, so that the judge must not decide.
    pub const fn tied(name: &'static str, fault: &'static str, arm: A) -> Self {
        Fault { mutant: Mutant::tied(name, fault), arm }
    }
    /// Returns a repaired form that must be supported.
    pub const fn held(name: &'static str, fault: &'static str, arm: A) -> Self {
        Fault { mutant: Mutant::held(name, fault), arm }
    }
}

/// Returns the mutants of a table of faults, for [`Claim::mutants`](crate::claim::Claim::mutants).
pub const fn mutants<A, const N: usize>(faults: &[Fault<A>; N]) -> [Mutant; N] {
    let mut mutants = [Mutant::refuted("", ""); N];
    let mut i = 0;
    while i < N {
        mutants[i] = faults[i].mutant;
        i += 1;
    }
    mutants
}
