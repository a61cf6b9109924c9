//! The record of a run: one file per claim during the run, and one `evidence.json` at the end.
//!
//! Nothing in a record depends on the clock, the machine's load or the number of threads; times are stored
//! separately, in `timings.json`.

use crate::claim::{Must, Regime, StatementForm};
use crate::context::ArmRecord;
use crate::judge::FindingKind;
use crate::verdict::{CellRecord, CellVerdict, Evidence, Verdict};
use anyhow::Context as _;
use lao_figures::number;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// The name of the record in a folder of results.
pub(crate) const EVIDENCE: &str = "evidence.json";
/// The version of the layout of `evidence.json`.
pub const SCHEMA: &str = "lao-evidence/1";

/// The content of `evidence.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version, plan and platform of the run.
    pub run: RunInfo,
    /// The records of the claims, in the order of the registry.
    pub claims: Vec<ClaimRecord>,
}

/// The version, plan and platform of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Version of the project.
    pub version: String,
    /// The tier: quick, full or nightly.
    pub tier: String,
    /// Root seed.
    pub seed: u64,
    /// Level of each family.
    pub alpha: f64,
    /// Claims that the family is planned for.
    pub family: usize,
    /// A hash of commit, lock file, target and profile (or of the program, if files are not as committed),
    /// plan, tier and seed. Runs with equal keys on the same data give equal records.
    pub key: String,
    /// Architecture and operating system.
    pub platform: String,
}

/// The record of one claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimRecord {
    /// The claim's id.
    pub id: String,
    /// The place of the statement in the paper.
    pub place: String,
    /// The claim in one sentence.
    pub sentence: String,
    /// The reading of the statement that is tested.
    pub form: StatementForm,
    /// How close the experiment is to the statement.
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
    /// The largest ratio of estimate to bound over the cells, where such a ratio is meaningful; 1 means that
    /// the bound is sharp.
    pub tightness: Option<Tightness>,
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

/// How much of their bounds the cells of a claim use: 1 is sharp.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tightness {
    /// The smallest over the cells.
    pub smallest: f64,
    /// The median over the cells.
    pub median: f64,
    /// The largest over the cells.
    pub largest: f64,
}

impl Tightness {
    /// Returns the tightness of the cells of an arm that have one. Identities have none.
    pub fn of(arm: &ArmRecord) -> Option<Self> {
        let bounds = arm.cells.iter().filter(|cell| cell.finding.kind != FindingKind::Exact);
        let mut ratios: Vec<f64> = bounds.filter_map(|cell| cell.finding.tightness).collect();
        ratios.retain(|ratio| ratio.is_finite());
        ratios.sort_by(f64::total_cmp);
        let (&smallest, &largest) = (ratios.first()?, ratios.last()?);
        Some(Tightness { smallest, median: ratios[(ratios.len() - 1) / 2], largest })
    }
}

impl fmt::Display for Tightness {
    /// `.02` for one cell, `.02 to .8, median .3` for several.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.smallest == self.largest {
            return f.write_str(&number(self.median));
        }
        write!(f, "{} to {}, median {}", number(self.smallest), number(self.largest), number(self.median))
    }
}

/// The arm of one crippled learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrippledRecord {
    /// Its name.
    pub name: String,
    /// Its arm.
    pub arm: ArmRecord,
}

/// The record of one mutant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MutantRecord {
    /// The mutant's name.
    pub name: String,
    /// The description of the fault.
    #[serde(alias = "sin")]
    pub fault: String,
    /// The verdict that the judge had to reach.
    pub must: Must,
    /// How far the cell that decides lies beyond the point at which it decides, where that has a meaning: a
    /// mutant at 1 sits on its own threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<f64>,
    /// Whether the judge reached that verdict.
    pub noticed: bool,
    /// The verdict that the judge reached: "REFUTED", "SUPPORTED", "UNDECIDED" or "BROKEN: ...".
    pub said: String,
    /// The mutant's arm.
    pub arm: ArmRecord,
}

impl ClaimRecord {
    /// Returns whether the statement is one reading of a print that leaves something open, so that its
    /// verdict says nothing about the print.
    pub fn is_a_reading(&self) -> bool {
        self.form == StatementForm::Reading
    }
}

impl RunRecord {
    /// Reads the record of the last run in a folder of results.
    ///
    /// # Errors
    /// When there is none, or it is not of this version; the error names the file and what to run.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let file = folder.join(EVIDENCE);
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {}: run `cargo xtask verify` first", file.display()))?;
        serde_json::from_str(&text).with_context(|| {
            format!("{} is not a record of this version: run `cargo xtask verify`", file.display())
        })
    }

    /// All judged cells.
    pub fn cells(&self) -> impl Iterator<Item = &CellRecord> {
        self.claims.iter().flat_map(|claim| &claim.cells)
    }

    /// Returns a summary of the run in one line.
    pub fn summary(&self) -> String {
        let count = |verdict| self.claims.iter().filter(|claim| claim.verdict == verdict).count();
        let expected = || self.claims.iter().filter(|c| c.verdict == Verdict::Refuted && c.as_expected);
        let readings = expected().filter(|claim| claim.is_a_reading()).count();
        let expected = expected().count();
        let mutants: Vec<_> = self.claims.iter().flat_map(|claim| &claim.mutants).collect();
        let noticed = mutants.iter().filter(|mutant| mutant.noticed).count();
        format!(
            "claims {}: HOLDS {}, REFUTED as expected {expected} ({readings} of them a \
             reading that the print leaves open), REFUTED {}, INCONCLUSIVE {}, PARTIAL {}, \
             VACUOUS {}, UNTESTED {}, ERROR {}, NOT-RUN {}; mutants noticed {noticed} of {}; cells {}: {} \
             that no mutant refutes, {} that a crippled learner passes, {} with a loose bound; level {} per \
             family; seed {}",
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
            self.cells().filter(|cell| cell.loose).count(),
            self.run.alpha,
            self.run.seed,
        )
    }
}
