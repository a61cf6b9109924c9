//! What a claim is: an assertion of a paper, an experiment that could refute it, and mutants that the
//! experiment must reject.

use crate::context::Context;
pub use crate::fault::{Fault, Must, Mutant, mutants};
use serde::{Deserialize, Serialize};

/// One claim. A claim is one file under `verification/claims/<paper>/src`, which ends in a
/// `pub const CLAIM: Claim`, and one row in that folder's `lib.rs`.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// `<paper>-<name>`, unique; also the file's name and its table in `plan.toml`.
    pub id: &'static str,
    /// Where the paper says it: "Theorem 4.1", "Supplement A.1, display (7)".
    pub place: &'static str,
    /// The claim in one plain sentence.
    pub sentence: &'static str,
    /// The claim in LaTeX, shown as mathematics in the report.
    pub formula: &'static str,
    /// Design and assumptions of the experiment, in a few sentences.
    pub design: &'static str,
    /// How the statement stands in print, how close the experiment is to it, and the verdict to expect.
    pub standing: Standing,
    /// Faults that the experiment must notice.
    pub mutants: &'static [Mutant],
    /// The experiment: called once for the honest arm and once per mutant.
    pub experiment: fn(&mut Context<'_>) -> anyhow::Result<()>,
}

/// How a statement stands: in print, and in its experiment.
///
/// ```
/// # use lao_verification_engine::claim::{Expected, Standing};
/// let standing = Standing::printed(&[3]).literal();
/// assert_eq!(standing.expected, Expected::Refuted);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Printed, corrected, or sound as it stands.
    pub form: StatementForm,
    /// Deterministic, with the theorem's literal constants, or with practical ones.
    pub regime: Regime,
    /// The verdict that a correct implementation gets.
    pub expected: Expected,
    /// Numbers of the errata ([`crate::paper::Erratum`]) that the claim shows or corrects.
    pub errata: &'static [u32],
}

impl Standing {
    /// The print is right. Like the other two constructors, this one is for an experiment without chance.
    pub const fn sound() -> Self {
        let (form, regime, expected) = (StatementForm::Sound, Regime::Deterministic, Expected::Holds);
        Standing { form, regime, expected, errata: &[] }
    }
    /// The corrected form of a statement; it is expected to hold.
    pub const fn corrected(errata: &'static [u32]) -> Self {
        Standing { form: StatementForm::Corrected, errata, ..Standing::sound() }
    }
    /// A statement as printed, where the print is wrong or in doubt; it is expected to be refuted.
    pub const fn printed(errata: &'static [u32]) -> Self {
        Standing { form: StatementForm::Printed, expected: Expected::Refuted, errata, ..Standing::sound() }
    }
    /// With constants exactly as in the theorem.
    pub const fn literal(self) -> Self {
        Standing { regime: Regime::Literal, ..self }
    }
    /// With tuned constants.
    pub const fn practical(self) -> Self {
        Standing { regime: Regime::Practical, ..self }
    }
    /// Expects a bound that says nothing, or hypotheses that cannot be met.
    pub const fn vacuous(self) -> Self {
        Standing { expected: Expected::Vacuous, ..self }
    }
    /// Waits for something that is not at hand, for this reason.
    pub const fn not_run(self, reason: &'static str) -> Self {
        Standing { expected: Expected::NotRun(reason), ..self }
    }
    /// Shows these errata.
    pub const fn with_errata(self, errata: &'static [u32]) -> Self {
        Standing { errata, ..self }
    }
}

/// Which reading of a statement is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatementForm {
    /// As printed, where the print is known to be wrong or in doubt.
    Printed,
    /// As corrected.
    Corrected,
    /// The print is right.
    Sound,
}

/// How close the experiment is to the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regime {
    /// No chance involved: algebra, enumeration, properties on random instances.
    Deterministic,
    /// Constants exactly as in the theorem.
    Literal,
    /// Tuned constants: the shape of the statement is tested.
    Practical,
}

/// The verdict that a correct implementation gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// The claim holds.
    Holds,
    /// The claim is false as stated.
    Refuted,
    /// The hypotheses cannot be met, or the bound says nothing.
    Vacuous,
    /// The claim waits for something that is not built or not at hand; the text says for what.
    NotRun(&'static str),
}

impl Claim {
    /// The paper's short name, the first part of the id.
    pub fn paper(&self) -> &'static str {
        self.id.split('-').next().unwrap_or(self.id)
    }
}
