//! The faults of a claim, which its own judge must notice.

use serde::{Deserialize, Serialize};

/// A deliberate fault, and what the claim's own judge must say of it.
///
/// Where a fault is another value (a constant of a bound, a step size), it is a row of a table, [`Fault`].
/// Where it is another way through the experiment it is a constant of its own, and the experiment asks
/// whether it [commits](crate::context::Context::commits) it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The fault as an identifier, in snake_case: `forgets_importance_weight`.
    pub name: &'static str,
    /// What is wrong with it, in a few words.
    pub fault: &'static str,
    /// What the judge must say.
    pub must: Must,
}

/// What a judge must say of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Must {
    /// Refuted, at the claim's own level.
    BeRefuted,
    /// Anything but supported (where a bound is so loose that refutation is out of reach; the claim says
    /// why).
    NotHold,
    /// Supported: the control of a claim that is expected to be refuted, showing that its judge can also
    /// accept.
    Hold,
}

impl Mutant {
    /// A fault that must be refuted.
    pub const fn refuted(name: &'static str, fault: &'static str) -> Self {
        Mutant { name, fault, must: Must::BeRefuted }
    }
    /// A fault that must not be supported.
    pub const fn not_held(name: &'static str, fault: &'static str) -> Self {
        Mutant { name, fault, must: Must::NotHold }
    }
    /// A repaired form that must be supported.
    pub const fn held(name: &'static str, fault: &'static str) -> Self {
        Mutant { name, fault, must: Must::Hold }
    }
}

/// A fault of a claim with what the experiment does about it: one row of the claim's table of faults.
///
/// A claim has the table as a constant. [`mutants`] makes the list for the registry from it, and
/// [`Context::arm`](crate::context::Context::arm) gives the experiment the value of the fault that it is to
/// commit.
#[derive(Clone, Copy, Debug)]
pub struct Fault<A> {
    /// Name, description and required verdict.
    pub mutant: Mutant,
    /// The value that takes the place of the sound one.
    pub arm: A,
}

impl<A> Fault<A> {
    /// A fault that must be refuted.
    pub const fn refuted(name: &'static str, fault: &'static str, arm: A) -> Self {
        Fault { mutant: Mutant::refuted(name, fault), arm }
    }
    /// A fault that must not be supported.
    pub const fn not_held(name: &'static str, fault: &'static str, arm: A) -> Self {
        Fault { mutant: Mutant::not_held(name, fault), arm }
    }
    /// A repaired form that must be supported.
    pub const fn held(name: &'static str, fault: &'static str, arm: A) -> Self {
        Fault { mutant: Mutant::held(name, fault), arm }
    }
}

/// The mutants of a table of faults, for [`Claim::mutants`](crate::claim::Claim::mutants).
pub const fn mutants<A, const N: usize>(faults: &[Fault<A>; N]) -> [Mutant; N] {
    let mut mutants = [Mutant::refuted("", ""); N];
    let mut i = 0;
    while i < N {
        mutants[i] = faults[i].mutant;
        i += 1;
    }
    mutants
}
