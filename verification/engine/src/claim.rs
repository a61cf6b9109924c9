//! The definition of a claim: an assertion of a paper, an experiment that could refute the assertion, and
//! mutants that the experiment must reject.

use crate::context::Context;
pub use crate::fault::{Fault, Must, Mutant, mutants};
use serde::{Deserialize, Serialize};

/// One claim of a paper.
///
/// A claim is one file under `verification/claims/<paper>/src`, which ends in a `pub const CLAIM: Claim`, and
/// one row in that folder's `lib.rs`.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The unique name `<paper>-<name>`, which is also the name of the claim's table in `plan.toml`; its file
    /// is called `<name>`.
    pub id: &'static str,
    /// The place of the statement in the paper: "Theorem 4.1", "Supplement A.1, display (7)".
    pub place: &'static str,
    /// The claim in one plain sentence.
    pub sentence: &'static str,
    /// The claim in LaTeX, shown as mathematics in the report.
    pub formula: &'static str,
    /// Design and assumptions of the experiment, in a few sentences.
    pub design: &'static str,
    /// Whether the printed statement is right, how close the experiment is to it, and the verdict to expect.
    pub standing: Standing,
    /// Faults that the experiment must notice.
    pub mutants: &'static [Mutant],
    /// The experiment, which is called once for the honest arm (the arm without a fault) and once per mutant.
    pub experiment: fn(&mut Context<'_>) -> anyhow::Result<()>,
}

/// The form in which a statement is tested, and the verdict that is expected of the test.
///
/// ```
/// # use lao_verification_engine::claim::{Expected, Standing};
/// let standing = Standing::printed(&[3]).literal();
/// assert_eq!(standing.expected, Expected::Refuted);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Which reading of the statement is tested: as printed, as corrected, or a printed statement that is
    /// right.
    pub form: StatementForm,
    /// Whether the experiment is deterministic, uses the theorem's literal constants, or uses practical ones.
    pub regime: Regime,
    /// The verdict that a correct implementation gets.
    pub expected: Expected,
    /// Numbers of the errata (a table each of the paper's `errata.toml`) that the claim shows or corrects.
    pub errata: &'static [u32],
    /// Whether the claim is about learning (a risk, a regret, a rate, a number of examples), so that the
    /// engine also runs it with [crippled learners](crate::mutants::Cripple).
    pub learns: bool,
    /// The cells that no mutant can refute.
    pub beyond: &'static [Beyond],
    /// The cells about learning that a learner which learns nothing passes, and rightly.
    pub passable: &'static [Passable],
    /// The cells that refute a claim which is expected to be refuted.
    pub violations: &'static [Violation],
    /// How the names of cells begin that may refute such a claim, or stay undecided.
    pub open: &'static [&'static str],
    /// The cells whose verdict depends on a single erratum.
    pub shows: &'static [Shown],
}

/// A cell that shows an erratum: its verdict would be another one if the erratum, and nothing else, were not
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The number of the erratum.
    pub erratum: u32,
    /// How the name of the cell begins.
    pub cell: &'static str,
}

/// Cells that no mutant of the claim can refute, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// How the names of the cells begin.
    pub cells: &'static str,
    /// Why no mutant refutes them.
    pub why: &'static str,
}

/// Cells about learning that a learner which learns nothing passes: their statement is no more than that, and
/// another cell of the claim says what is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passable {
    /// What is in the names of the cells.
    pub cells: &'static str,
    /// Why such a learner passes, and which cell it fails.
    pub why: &'static str,
}

/// A cell that refutes a claim, and how far theory says that it is violated. Both are judged: a claim that is
/// refuted elsewhere, or by another amount, is not refuted as expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Violation {
    /// The name of the cell.
    pub cell: &'static str,
    /// The smallest estimate that theory allows, in the units of the cell.
    pub at_least: f64,
    /// The largest estimate that theory allows.
    pub at_most: f64,
}

impl Standing {
    /// Returns the standing of a printed statement that is right.
    ///
    /// Like the other two constructors, this one describes a deterministic experiment;
    /// [`literal`](Self::literal) and [`practical`](Self::practical) change the regime.
    pub const fn sound() -> Self {
        let (form, regime, expected) = (StatementForm::Sound, Regime::Deterministic, Expected::Holds);
        Standing {
            form,
            regime,
            expected,
            errata: &[],
            learns: false,
            beyond: &[],
            passable: &[],
            violations: &[],
            open: &[],
            shows: &[],
        }
    }
    /// Returns the standing of the corrected form of a statement, which is expected to hold.
    pub const fn corrected(errata: &'static [u32]) -> Self {
        Standing { form: StatementForm::Corrected, errata, ..Standing::sound() }
    }
    /// Returns the standing of a statement as printed, where the print is wrong or in doubt. The statement is
    /// expected to be refuted.
    pub const fn printed(errata: &'static [u32]) -> Self {
        Standing { form: StatementForm::Printed, expected: Expected::Refuted, errata, ..Standing::sound() }
    }
    /// Returns the standing of a statement that is one reading of a print that leaves something open.
    pub const fn reading(errata: &'static [u32]) -> Self {
        Standing { form: StatementForm::Reading, errata, ..Standing::sound() }
    }
    /// Returns the standing of a statement of this project, about a method of its own.
    pub const fn ours() -> Self {
        Standing { form: StatementForm::Ours, ..Standing::sound() }
    }
    /// Returns this standing with the verdict "refuted" expected.
    pub const fn refuted(self) -> Self {
        Standing { expected: Expected::Refuted, ..self }
    }
    /// Returns this standing with the constants exactly as in the theorem.
    pub const fn literal(self) -> Self {
        Standing { regime: Regime::Literal, ..self }
    }
    /// Returns this standing with tuned constants.
    pub const fn practical(self) -> Self {
        Standing { regime: Regime::Practical, ..self }
    }
    /// Returns this standing with a vacuous statement: its bound says nothing, or its hypotheses cannot be
    /// met.
    pub const fn vacuous(self) -> Self {
        Standing { expected: Expected::Vacuous, ..self }
    }
    /// Returns this standing for a claim that cannot run yet, with the reason.
    pub const fn not_run(self, reason: &'static str) -> Self {
        Standing { expected: Expected::NotRun(reason), ..self }
    }
    /// Returns this standing for a claim about learning, which the engine also runs with crippled learners.
    pub const fn learns(self) -> Self {
        Standing { learns: true, ..self }
    }
    /// Returns this standing with the cells that no mutant can refute, and the reasons.
    pub const fn beyond_mutants(self, beyond: &'static [Beyond]) -> Self {
        Standing { beyond, ..self }
    }
    /// Returns this standing with the cells that a learner which learns nothing passes, and the reasons.
    pub const fn passable(self, passable: &'static [Passable]) -> Self {
        Standing { passable, ..self }
    }
    /// Returns this standing with the cells that show an erratum, each of them one.
    pub const fn showing(self, shows: &'static [Shown]) -> Self {
        Standing { shows, ..self }
    }
    /// Returns this standing with the cells that refute the claim, and by how much.
    pub const fn violated(self, violations: &'static [Violation]) -> Self {
        Standing { violations, ..self }
    }
    /// Returns this standing with the cells, by how their names begin, of which theory does not say whether
    /// they refute the claim.
    pub const fn open(self, open: &'static [&'static str]) -> Self {
        Standing { open, ..self }
    }
    /// Returns this standing with the numbers of the errata that the claim shows.
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
    /// The corrected form.
    Corrected,
    /// The printed form, which is right.
    Sound,
    /// A reading of a print that leaves something open; its verdict says nothing about the print.
    Reading,
    /// A statement of this project about a method of its own; there is no print.
    Ours,
}

/// How close the experiment is to the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regime {
    /// No cell is judged from draws: algebra, enumeration, properties on random instances.
    Deterministic,
    /// Constants exactly as in the theorem, or the method's own laws of draws.
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
    /// The claim cannot run, since something is not built or not available; the text says what is missing.
    NotRun(&'static str),
}

impl Claim {
    /// Returns the paper's short name, the first part of the id.
    pub fn paper(&self) -> &'static str {
        self.id.split('-').next().unwrap_or(self.id)
    }
}
