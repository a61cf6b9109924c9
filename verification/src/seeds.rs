//! Verdicts under fresh seeds: a claim whose verdict depends on the seed sits on a threshold.
//!
//! Each seed is a run of its own in the folder `seed-<n>`. A table says what differs from what
//! is expected under any of them, and how close each claim's mutants come to the point at which they would go
//! unnoticed.

use crate::errata::literal;
use crate::record::{ClaimRecord, RunRecord};
use crate::run::{self, RunOptions, RunProgress};
use crate::status::{ClaimStatus, RunStatus};
use crate::verdict::{CellRecord, CellVerdict, Verdict};
use crate::{plan::Plan, report};
use lao_figures::number;
use lao_files::OutputFolder;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The version of the layout of `seeds.json`.
pub const SCHEMA: &str = "lao-seeds/1";
/// The table for programs.
const JSON: &str = "seeds.json";
/// The table for people.
const MARKDOWN: &str = "seeds.md";
/// A mutant with less room than this is listed.
const NARROW: f64 = 1.3;

/// The content of `seeds.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedsTable {
    /// [`SCHEMA`].
    pub schema: String,
    /// The tier: quick or full.
    pub tier: String,
    /// The first seed; the others follow it.
    pub first: u64,
    /// The counts of each seed that is finished.
    pub seeds: Vec<SeedCounts>,
    /// Every claim with another verdict than expected, or with a mutant that was not noticed, under a seed.
    pub surprises: Vec<Surprise>,
    /// The smallest room of each claim's mutants over the seeds, by room; claims whose mutants have none,
    /// since computation decides, are left out.
    pub rooms: Vec<SmallestRoom>,
}

/// The counts of one seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedCounts {
    /// The seed.
    pub seed: u64,
    /// The number of claims.
    pub claims: usize,
    /// Claims with the expected verdict.
    pub as_expected: usize,
    /// Claims with another verdict than the expected one.
    pub unexpected: usize,
    /// Claims that did not run, for lack of data or as expected.
    pub not_run: usize,
    /// The number of mutants.
    pub mutants: usize,
    /// Mutants that were noticed.
    pub noticed: usize,
}

/// A claim that a seed surprises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surprise {
    /// The claim's id.
    pub claim: String,
    /// The seed.
    pub seed: u64,
    /// The expected verdict.
    pub expected: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The mutants that were not noticed, each with what the judge said.
    pub not_noticed: Vec<String>,
    /// Why the verdict is another one than expected, as far as the record says it.
    pub differences: Vec<String>,
}

/// The smallest room of a claim's mutants over the seeds: how far the cell that decides about the mutant lies
/// beyond the point at which it decides. A mutant at 1 sits on its own threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmallestRoom {
    /// The claim's id.
    pub claim: String,
    /// The room.
    pub room: f64,
    /// The mutant.
    pub mutant: String,
    /// The seed.
    pub seed: u64,
}

impl SeedsTable {
    /// Returns the table of no seed.
    pub fn new(tier: &str, first: u64) -> Self {
        SeedsTable {
            schema: SCHEMA.into(),
            tier: tier.into(),
            first,
            seeds: Vec::new(),
            surprises: Vec::new(),
            rooms: Vec::new(),
        }
    }

    /// Adds the run of one seed.
    pub fn add(&mut self, record: &RunRecord) {
        let seed = record.run.seed;
        let statuses: Vec<ClaimStatus> = record.claims.iter().map(ClaimStatus::of).collect();
        let count = |holds: fn(&ClaimStatus) -> bool| statuses.iter().filter(|status| holds(status)).count();
        let (unexpected, not_run) =
            (count(|status| status.is_failure()), count(|status| *status == ClaimStatus::NotRun));
        let mutants = || record.claims.iter().flat_map(|claim| &claim.mutants);
        self.seeds.push(SeedCounts {
            seed,
            claims: record.claims.len(),
            as_expected: record.claims.len() - unexpected - not_run,
            unexpected,
            not_run,
            mutants: mutants().count(),
            noticed: mutants().filter(|mutant| mutant.noticed).count(),
        });
        for (claim, status) in record.claims.iter().zip(statuses) {
            let surprise = surprise(claim, seed);
            if status.is_failure() || !surprise.not_noticed.is_empty() {
                self.surprises.push(surprise);
            }
            self.narrow(claim, seed);
        }
        // By claim, so that the seeds of one claim stand together.
        self.surprises.sort_by(|a, b| (&a.claim, a.seed).cmp(&(&b.claim, b.seed)));
        self.rooms.sort_by(|a, b| a.room.total_cmp(&b.room).then_with(|| a.claim.cmp(&b.claim)));
    }

    /// Keeps the smallest room of the claim's mutants.
    fn narrow(&mut self, claim: &ClaimRecord, seed: u64) {
        let rooms = claim.mutants.iter().filter_map(|mutant| Some((mutant.room?, &mutant.name)));
        let Some((room, mutant)) = rooms.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        let here = SmallestRoom { claim: claim.id.clone(), room, mutant: mutant.clone(), seed };
        match self.rooms.iter_mut().find(|known| known.claim == claim.id) {
            Some(known) if room < known.room => *known = here,
            Some(_) => {}
            None => self.rooms.push(here),
        }
    }

    /// Returns whether every verdict is the expected one, and every mutant was noticed, under every seed.
    pub fn is_steady(&self) -> bool {
        self.surprises.is_empty()
    }

    /// Returns the table in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# Verdicts under fresh seeds ({}), tier {}\n\n| seed | claims | as expected | not as expected | \
             not run | mutants noticed |\n|---:|---:|---:|---:|---:|---:|\n",
            self.seeds.len(),
            self.tier
        );
        for SeedCounts { seed, claims, as_expected, unexpected, not_run, mutants, noticed } in &self.seeds {
            let _ = writeln!(
                text,
                "| {seed} | {claims} | {as_expected} | {unexpected} | {not_run} | {noticed} of {mutants} |"
            );
        }
        text += "\n## What is not as expected\n\n";
        if self.seeds.is_empty() {
            text += "No seed has finished.\n";
        } else if self.surprises.is_empty() {
            text += "Every verdict is the expected one, and every mutant was noticed, under every seed.\n";
        } else {
            text += "| claim | seed | verdict | expected | mutants not noticed | differences \
                     |\n|---|---:|---|---|---|---|\n";
        }
        for Surprise { claim, seed, expected, verdict, not_noticed, differences } in &self.surprises {
            let (not_noticed, differences) =
                (literal(&not_noticed.join("; ")), literal(&differences.join("; ")));
            let _ = writeln!(
                text,
                "| {claim} | {seed} | {verdict} | {expected} | {not_noticed} | {differences} |"
            );
        }
        text += &format!(
            "\n## Mutants with little room\n\nThe smallest room of each claim's mutants over the seeds, \
             where it is below {NARROW}: 1 is on the threshold. A mutant that is tried with fewer runs first \
             has as many as the other arms if those are too few.\n\n"
        );
        let narrow: Vec<_> = self.rooms.iter().filter(|smallest| smallest.room < NARROW).collect();
        if narrow.is_empty() {
            text += "There is none.\n";
        } else {
            text += "| claim | smallest room | mutant | seed |\n|---|---:|---|---:|\n";
        }
        for SmallestRoom { claim, room, mutant, seed } in narrow {
            let _ = writeln!(text, "| {claim} | {} | `{mutant}` | {seed} |", number(*room));
        }
        text
    }
}

fn surprise(claim: &ClaimRecord, seed: u64) -> Surprise {
    let missed = claim.mutants.iter().filter(|mutant| !mutant.noticed);
    let against = |cell: &CellRecord| matches!(cell.said, CellVerdict::Refuted | CellVerdict::Undecided);
    let cells = claim.cells.iter().zip(&claim.honest.cells);
    let cells = cells.filter(|(cell, _)| claim.expected == "HOLDS" && against(cell));
    let mut differences = claim.unpredicted.clone();
    differences.extend(claim.honest.error.clone());
    differences.extend(cells.map(|(cell, judged)| {
        let [found, bound] = [judged.finding.estimate, judged.finding.bound].map(number);
        format!("{}: {found} for {bound}", cell.name)
    }));
    Surprise {
        claim: claim.id.clone(),
        seed,
        expected: claim.expected.clone(),
        verdict: claim.verdict,
        not_noticed: missed.map(|mutant| format!("{} ({})", mutant.name, mutant.said)).collect(),
        differences,
    }
}

/// The folder of the seeds.
#[derive(Debug)]
pub struct SeedsFolder(OutputFolder);

impl SeedsFolder {
    /// Takes a folder for the results of many seeds, and locks it.
    ///
    /// # Errors
    /// As [`run::open_folder`].
    pub fn open(out: &Path) -> anyhow::Result<Self> {
        let mut folder = OutputFolder::open(out, "seeds")?;
        folder.announce([JSON, MARKDOWN].map(String::from))?;
        Ok(SeedsFolder(folder))
    }

    /// Returns the table that the folder holds, if there is one.
    pub fn table(&self) -> Option<SeedsTable> {
        let text = std::fs::read_to_string(self.0.path().join(JSON)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Returns the folder of one seed's run.
    pub fn of_seed(&self, seed: u64) -> PathBuf {
        self.0.path().join(format!("seed-{seed}"))
    }

    /// Writes the table, and returns the file for people.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, table: &SeedsTable) -> anyhow::Result<PathBuf> {
        let mut json = serde_json::to_vec_pretty(table)?;
        json.push(b'\n');
        self.0.write(JSON, &json)?;
        self.0.write(MARKDOWN, table.markdown().as_bytes())?;
        Ok(self.0.path().join(MARKDOWN))
    }

    /// Runs the claims under the seed of `options`, with a report in the seed's folder, and returns the
    /// record. A run that the same program has finished is read from the folder instead.
    ///
    /// # Errors
    /// As [`run::run`].
    pub fn run(
        &self,
        options: &RunOptions,
        plan: &Plan,
        progress: &dyn RunProgress,
        canceled: &AtomicBool,
    ) -> anyhow::Result<RunRecord> {
        let mut folder = run::open_folder(&self.of_seed(options.seed))?;
        if let Some(record) = run::finished(&folder, options) {
            return Ok(record);
        }
        let (record, timings) = run::run(options, plan, &mut folder, progress, canceled)?;
        let status = RunStatus::of(&record, None);
        report::write(&mut folder, &record, &timings, None, &status)?;
        run::finish(&folder)?;
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_table_counts_seeds_lists_surprises_and_keeps_the_smallest_room() {
        let (first, mut second) = (sample::record(), sample::record());
        second.run.seed = 8;
        second.claims[0].mutants[1].room = Some(1.25);
        let mut table = SeedsTable::new("quick", 7);
        table.add(&first);
        assert_eq!(table.rooms.iter().filter(|smallest| smallest.room < NARROW).count(), 0);
        table.add(&second);
        assert_eq!(table.seeds.iter().map(|counts| counts.seed).collect::<Vec<_>>(), [7, 8]);
        let counts = &table.seeds[0];
        // Of the sample's eight claims one is refuted, one inconclusive, one untested and one broken against
        // expectation, and one waits for data.
        assert_eq!((counts.claims, counts.unexpected, counts.not_run), (8, 4, 1));
        assert_eq!((counts.mutants, counts.noticed), (14, 13));
        assert_eq!(table.surprises.len(), 8);
        assert_eq!(table.surprises[0].claim, table.surprises[1].claim);
        let untested = table.surprises.iter().find(|one| one.verdict == Verdict::Untested).unwrap();
        assert_eq!(untested.not_noticed, ["drops_last_block (UNDECIDED)"]);
        let smallest = &table.rooms[0];
        assert_eq!((smallest.room, smallest.seed), (1.25, 8));
        assert_eq!(
            (smallest.claim.as_str(), smallest.mutant.as_str()),
            (first.claims[0].id.as_str(), "drops_last_block")
        );
        assert!(!table.is_steady());
        let page = table.markdown();
        assert!(page.contains("| 8 | 8 | 3 | 4 | 1 | 13 of 14 |"), "{page}");
        assert!(page.contains("| planted-0-holds | 1.25 | `drops_last_block` | 8 |"), "{page}");
    }
}
