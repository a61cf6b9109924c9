//! What a run leaves behind: one file per claim while it goes on, one `evidence.json` at the end.
//!
//! Nothing here depends on the clock, the machine's load or the number of threads; times are kept apart, in
//! `timings.json`.

use crate::claim::{Must, Regime, StatementForm};
use crate::context::ArmRecord;
use crate::verdict::{CellRecord, CellVerdict, Evidence, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the layout of `evidence.json`.
pub const SCHEMA: &str = "lao-evidence/1";

/// `evidence.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`SCHEMA`].
    pub schema: String,
    /// What ran.
    pub run: RunInfo,
    /// One entry per claim, in the order of the registry.
    pub claims: Vec<ClaimRecord>,
}

/// What ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Version of the project.
    pub version: String,
    /// quick, full or nightly.
    pub tier: String,
    /// Root seed.
    pub seed: u64,
    /// Level of each family.
    pub alpha: f64,
    /// Claims that the family is planned for.
    pub family: usize,
    /// Hash of program, plan, tier, seed and data folder: equal keys give equal records on one platform.
    pub key: String,
    /// Architecture and operating system.
    pub platform: String,
}

/// All about one claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimRecord {
    /// The claim's id.
    pub id: String,
    /// Where the paper says it.
    pub place: String,
    /// The sentence.
    pub sentence: String,
    /// Reading of the statement.
    pub form: StatementForm,
    /// How close the experiment is to it.
    pub regime: Regime,
    /// "HOLDS", "REFUTED", "VACUOUS" or "NOT-RUN".
    pub expected: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the verdict is the expected one.
    pub as_expected: bool,
    /// Level at which the claim's sequential judges stop.
    pub alpha: f64,
    /// p-values before Holm's procedure.
    pub evidence: Evidence,
    /// Largest ratio of estimate to bound over the cells, where that has a meaning: 1 is sharp.
    pub tightness: Option<f64>,
    /// Sizes used.
    pub sizes: BTreeMap<String, u64>,
    /// What each cell of the honest arm is worth, in the arm's order.
    #[serde(default)]
    pub cells: Vec<CellRecord>,
    /// How a refutation differs from the predicted one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpredicted: Vec<String>,
    /// The honest arm.
    pub honest: ArmRecord,
    /// The mutants.
    pub mutants: Vec<MutantRecord>,
    /// The crippled learners, if the claim is about learning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crippled: Vec<CrippledRecord>,
}

/// The arm of one crippled learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrippledRecord {
    /// Its name.
    pub name: String,
    /// Its arm.
    pub arm: ArmRecord,
}

/// One mutant's arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MutantRecord {
    /// Its name.
    pub name: String,
    /// What is wrong with it.
    #[serde(alias = "sin")]
    pub fault: String,
    /// What the judge had to say.
    pub must: Must,
    /// Whether it did.
    pub noticed: bool,
    /// "REFUTED", "SUPPORTED", "UNDECIDED" or "BROKEN: ...".
    pub said: String,
    /// Its arm.
    pub arm: ArmRecord,
}

impl RunRecord {
    /// All judged cells.
    pub fn cells(&self) -> impl Iterator<Item = &CellRecord> {
        self.claims.iter().flat_map(|claim| &claim.cells)
    }

    /// The line that sums a run up.
    pub fn summary(&self) -> String {
        let count = |verdict| self.claims.iter().filter(|claim| claim.verdict == verdict).count();
        let expected = self.claims.iter().filter(|c| c.verdict == Verdict::Refuted && c.as_expected).count();
        let mutants: Vec<_> = self.claims.iter().flat_map(|claim| &claim.mutants).collect();
        let noticed = mutants.iter().filter(|mutant| mutant.noticed).count();
        format!(
            "claims {}: HOLDS {}, REFUTED as expected {expected}, REFUTED {}, INCONCLUSIVE {}, PARTIAL {}, \
             VACUOUS {}, UNTESTED {}, ERROR {}, NOT-RUN {}; mutants noticed {noticed} of {}; cells {}: {} that \
             no mutant refutes, {} that a crippled learner passes; level {} per family; seed {}",
            self.claims.len(),
            count(Verdict::Holds),
            count(Verdict::Refuted) - expected,
            count(Verdict::Inconclusive),
            count(Verdict::Partial),
            count(Verdict::Vacuous),
            count(Verdict::Untested),
            count(Verdict::Error),
            count(Verdict::NotRun),
            mutants.len(),
            self.cells().count(),
            self.cells().filter(|cell| !cell.is_shown()).count(),
            self.cells().filter(|cell| cell.said == CellVerdict::Vacuous).count(),
            self.run.alpha,
            self.run.seed,
        )
    }
}
