//! Compares the convergence rates of a run with those of a baseline.
//!
//! A baseline holds, per claim, every replicate of the tracked rates. Which of three rules applies depends on
//! what the two runs share:
//!
//! | shared | rule |
//! |---|---|
//! | platform, seed, tier, sizes | replicates equal to a relative 1e-9: *same*; else the next but one |
//! | seed, tier, sizes | equal to a relative 1e-6 (rounding of another platform): *same*; else the next |
//! | less, or the replicates differ | 99.9 % interval of the difference of the means |
//!
//! The interval is the paired one if seeds and sizes are equal, and Welch's otherwise.
//!
//! A rate is the *same* if the interval lies within 3 % of the baseline's mean. It is *worse* if the interval
//! lies on the worse side of zero, the difference exceeds half of these 3 %, and Holm's procedure over all
//! tracked rates rejects "not worse" at level 1e-3.
//!
//! The rates that were blessed last decide. The difference from the first rates ever blessed, the *drift*, is
//! reported as well and decides nothing; it shows the sum of small steps that were blessed one by one.

use crate::context::{ArmRecord, Direction, Rate};
use crate::judge::compare::{
    Change, RateChange, SAME_WITHIN, Worse, paired, same_counts, same_floats, welch,
};
use crate::judge::{holm, sample::Moments};
use crate::record::{ClaimRecord, RunRecord};
use anyhow::{Context as _, bail, ensure};
use lao_figures::{check_writable, number, p_value, write_atomically};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// The version of the layout of a baseline file.
pub const SCHEMA: &str = "lao-baseline/1";
/// The level of each of the two comparisons (with the last and the first rates) over all tracked rates.
const LEVEL: f64 = 1e-3;

/// The content of a baseline file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// [`SCHEMA`].
    pub schema: String,
    /// The measurements that were blessed last, by claim.
    pub current: BTreeMap<String, Measured>,
    /// The measurements that were blessed first, by claim; they are never overwritten.
    pub epoch_zero: BTreeMap<String, Measured>,
    /// Every bless, oldest first.
    pub history: Vec<Bless>,
}

/// The tracked measurements of one claim, and the run that they come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Version of the project.
    pub version: String,
    /// Tier of the run.
    pub tier: String,
    /// Root seed of the run.
    pub seed: u64,
    /// Architecture and operating system.
    pub platform: String,
    /// Hash of program, plan and settings.
    pub key: String,
    /// Sizes of the claim.
    pub sizes: BTreeMap<String, u64>,
    /// Largest estimate over bound.
    pub tightness: Option<f64>,
    /// The number of trials of each cell.
    pub trials: Vec<u64>,
    /// Tracked rates, by name.
    pub rates: BTreeMap<String, MeasuredRate>,
}

/// One tracked rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredRate {
    /// The direction that is worse.
    pub worse: Direction,
    /// Mean of the replicates.
    pub mean: f64,
    /// The standard deviation of the replicates.
    pub sd: f64,
    /// The number of replicates.
    pub count: usize,
    /// The replicates, in trial order.
    pub replicates: Vec<f64>,
}

/// One change of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bless {
    /// Version of the project.
    pub version: String,
    /// The reason for the change.
    pub reason: String,
    /// Old and new values of the rates that moved, one line each.
    pub changes: Vec<String>,
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// One row per tracked rate and epoch; the rows of [`BaselineEpoch::Zero`] decide nothing.
    pub rows: Vec<RateRow>,
    /// Changes of numbers that are not judged: numbers of trials, tightness, new rates.
    pub remarks: Vec<String>,
}

/// The comparison of one tracked rate with one epoch of the baseline.
#[derive(Clone, Debug)]
pub struct RateRow {
    /// The claim's id.
    pub claim: String,
    /// The rate's name.
    pub rate: String,
    /// The epoch: the rates blessed last, or first.
    pub epoch: BaselineEpoch,
    /// The result of the comparison.
    pub outcome: RateOutcome,
}

/// A part of a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaselineEpoch {
    /// The rates that were blessed last.
    Current,
    /// The rates that were blessed first.
    Zero,
}

/// The result of comparing one rate.
#[derive(Clone, Debug, PartialEq)]
pub enum RateOutcome {
    /// Every replicate agrees, to a relative 1e-9 or, between platforms, 1e-6.
    Identical,
    /// The replicates were compared as distributions.
    Compared(RateChange),
    /// The claim ran but no longer measures the rate, or the replicates cannot be compared; the text is the
    /// reason.
    Lost(String),
}

impl Comparison {
    /// Returns whether a tracked rate is worse than when it was blessed last, or is no longer measured.
    pub fn is_worse(&self) -> bool {
        self.of(BaselineEpoch::Current).any(|row| row.outcome.is_worse())
    }

    fn of(&self, epoch: BaselineEpoch) -> impl Iterator<Item = &RateRow> {
        self.rows.iter().filter(move |row| row.epoch == epoch)
    }
}

impl RateOutcome {
    /// Returns the result in one word, in capitals if it fails a run.
    fn word(&self) -> &'static str {
        match self {
            RateOutcome::Identical => "unchanged",
            RateOutcome::Lost(_) => "LOST",
            RateOutcome::Compared(RateChange { change, .. }) => match change {
                Change::Same => "same",
                Change::Worse => "WORSE",
                Change::Better => "better",
                Change::Undecided => "undecided",
            },
        }
    }

    fn is_worse(&self) -> bool {
        match self {
            RateOutcome::Identical => false,
            RateOutcome::Compared(change) => change.change == Change::Worse,
            RateOutcome::Lost(_) => true,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |epoch, word| self.of(epoch).filter(|row| row.outcome.word() == word).count();
        let now = |word| of(BaselineEpoch::Current, word);
        writeln!(
            f,
            "compared with the baseline: {} figures: {} unchanged, {} same, {} better, {} worse, \
             {} undecided, {} lost",
            self.of(BaselineEpoch::Current).count(),
            now("unchanged"),
            now("same"),
            now("better"),
            now("WORSE"),
            now("undecided"),
            now("LOST"),
        )?;
        for RateRow { claim, rate, outcome, .. } in self.of(BaselineEpoch::Current) {
            match outcome {
                RateOutcome::Identical => {}
                RateOutcome::Lost(why) => writeln!(f, "LOST: {claim}: {rate}: {why}")?,
                RateOutcome::Compared(change) => {
                    writeln!(f, "{}: {claim}: {rate}: {}", outcome.word(), by_how_much(change))?;
                }
            }
        }
        if self.is_worse() {
            writeln!(
                f,
                "if this is accepted, make it the baseline: cargo xtask verify --bless FILE --reason \"why\""
            )?;
        }
        let drifted = self.of(BaselineEpoch::Zero).count();
        if drifted > 0 {
            writeln!(
                f,
                "drift since the first baseline, for information: {drifted} figures were blessed anew: \
                 {} better, {} worse",
                of(BaselineEpoch::Zero, "better"),
                of(BaselineEpoch::Zero, "WORSE"),
            )?;
        }
        for RateRow { claim, rate, outcome, .. } in self.of(BaselineEpoch::Zero) {
            if let RateOutcome::Compared(change) = outcome
                && matches!(change.change, Change::Better | Change::Worse)
            {
                let word = outcome.word().to_lowercase();
                writeln!(f, "drift, {word}: {claim}: {rate}: {}", by_how_much(change))?;
            }
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "note: {remark}"))
    }
}

/// Returns a change as text, such as `0.57 -> 0.61, by 7 % [5.9 %, 8.1 %] (paired-t, 99.9 %; p = 1e-9)`.
fn by_how_much(change: &RateChange) -> String {
    let share = |x: f64| format!("{:+.2} %", 100.0 * x / change.baseline.abs());
    format!(
        "{} -> {}, by {} [{}, {}] ({}, {} %; p = {})",
        number(change.baseline),
        number(change.run),
        share(change.run - change.baseline),
        share(change.interval.lo),
        share(change.interval.hi),
        change.interval.method,
        100.0 * change.interval.level,
        p_value(change.p_worse),
    )
}

/// Compares a record with the baseline in a file, without the claims that did not run.
///
/// # Errors
/// When the file cannot be read, or is not a baseline of this version.
pub fn compare(record: &RunRecord, file: &Path) -> anyhow::Result<Comparison> {
    Ok(against(record, &read(file)?))
}

/// Reads a baseline.
///
/// # Errors
/// When the file cannot be read, or is not a baseline of this version.
pub fn read(file: &Path) -> anyhow::Result<Baseline> {
    let name = file.display();
    let cannot = || format!("cannot read the baseline {name}: write one with --bless {name} --reason TEXT");
    // Reading a pipe would block, and reading a device may never end.
    let found = std::fs::metadata(file).with_context(cannot)?;
    ensure!(found.is_file(), "{name} is not a baseline: it is not an ordinary file");
    let text = std::fs::read_to_string(file).with_context(cannot)?;
    let baseline: Baseline =
        serde_json::from_str(&text).with_context(|| format!("{name} is not a baseline"))?;
    ensure!(
        baseline.schema == SCHEMA,
        "{name}: schema is `{}`, this program reads `{SCHEMA}`",
        baseline.schema
    );
    Ok(baseline)
}

/// Compares a record with a baseline, without the claims that did not run.
pub fn against(record: &RunRecord, baseline: &Baseline) -> Comparison {
    let (mut rows, mut remarks) = (Vec::new(), Vec::new());
    let ran = record.claims.iter().filter(|c| c.honest.not_run.is_none() && c.honest.error.is_none());
    for claim in ran {
        let new = measured(record, claim);
        let current = baseline.current.get(&claim.id);
        let zero = baseline.epoch_zero.get(&claim.id);
        for (epoch, old) in [(BaselineEpoch::Current, current), (BaselineEpoch::Zero, zero)] {
            for (rate, old_rate) in old.iter().flat_map(|old| &old.rates) {
                let blessed = current.and_then(|current| current.rates.get(rate));
                // The first rates are left out where they equal the last ones, and where a rate is no longer
                // tracked.
                if epoch == BaselineEpoch::Zero
                    && blessed.is_none_or(|blessed| blessed.replicates == old_rate.replicates)
                {
                    continue;
                }
                let outcome = match (old, new.rates.get(rate)) {
                    (Some(old), Some(new_rate)) => judge(old, old_rate, &new, new_rate),
                    _ => RateOutcome::Lost(
                        "the claim no longer measures this rate; bless if this is intended".into(),
                    ),
                };
                rows.push(RateRow { claim: claim.id.clone(), rate: rate.clone(), epoch, outcome });
            }
        }
        let blessed = |rate: &&String| current.is_some_and(|old| old.rates.contains_key(*rate));
        let fresh = new.rates.keys().filter(|rate| !blessed(rate));
        remarks.extend(
            fresh.map(|rate| format!("{}: {rate}: not in the baseline; bless to track it", claim.id)),
        );
        remarks.extend(current.into_iter().flat_map(|old| moved(&claim.id, old, &new)));
    }
    hold_the_level(&mut rows);
    Comparison { rows, remarks }
}

/// Compares one rate with one epoch, before Holm's procedure.
fn judge(old: &Measured, old_rate: &MeasuredRate, new: &Measured, new_rate: &MeasuredRate) -> RateOutcome {
    let same_draws = old.seed == new.seed && old.tier == new.tier && old.sizes == new.sizes;
    let (before, now) = (&old_rate.replicates, &new_rate.replicates);
    if same_draws {
        let agree = match old.platform == new.platform {
            true => same_floats(before, now).is_ok(),
            false => within_rounding(before, now),
        };
        if agree {
            return RateOutcome::Identical;
        }
    }
    let worse = match new_rate.worse {
        Direction::Larger => Worse::Larger,
        Direction::Smaller => Worse::Smaller,
    };
    let change = match same_draws && before.len() == now.len() {
        true => paired(before, now, worse, SAME_WITHIN),
        false => welch(before, now, worse, SAME_WITHIN),
    };
    change.map_or_else(RateOutcome::Lost, RateOutcome::Compared)
}

/// Returns whether replicates agree to a relative 1e-6, as they do between platforms, where rounding differs
/// and cancellation magnifies the difference.
fn within_rounding(before: &[f64], now: &[f64]) -> bool {
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
    before.len() == now.len() && before.iter().zip(now).all(close)
}

/// Keeps the result *worse* only where Holm's procedure over the tracked rates of an epoch rejects "not
/// worse".
fn hold_the_level(rows: &mut [RateRow]) {
    for epoch in [BaselineEpoch::Current, BaselineEpoch::Zero] {
        let tracked: Vec<usize> = (0..rows.len()).filter(|i| rows[*i].epoch == epoch).collect();
        let p = |i: &usize| match &rows[*i].outcome {
            RateOutcome::Compared(change) => change.p_worse,
            RateOutcome::Identical | RateOutcome::Lost(_) => 1.0,
        };
        let p: Vec<f64> = tracked.iter().map(p).collect();
        let rejected = holm::step_down(&p, tracked.len(), LEVEL);
        for (i, rejected) in tracked.into_iter().zip(rejected) {
            if let RateOutcome::Compared(change) = &mut rows[i].outcome
                && change.change == Change::Worse
                && !rejected
            {
                change.change = Change::Undecided;
            }
        }
    }
}

/// Returns remarks on numbers that changed and are not judged.
fn moved(id: &str, old: &Measured, new: &Measured) -> Vec<String> {
    let mut remarks = Vec::new();
    if old.seed == new.seed && old.sizes == new.sizes && old.tier == new.tier {
        if let Err(difference) = same_counts(&old.trials, &new.trials) {
            remarks.push(format!("{id}: trials looked at, {difference}"));
        }
        if let (Some(before), Some(now)) = (old.tightness, new.tightness)
            && (before - now).abs() > 1e-6 * before.abs()
        {
            remarks.push(format!("{id}: tightness {} -> {}", number(before), number(now)));
        }
    }
    remarks
}

fn measured(record: &RunRecord, claim: &ClaimRecord) -> Measured {
    let ArmRecord { cells, rates, .. } = &claim.honest;
    let rate = |rate: &Rate| {
        let Moments { n, mean, sd, .. } = Moments::of(&rate.replicates);
        let figures =
            MeasuredRate { worse: rate.worse, mean, sd, count: n, replicates: rate.replicates.clone() };
        (rate.name.clone(), figures)
    };
    Measured {
        version: record.run.version.clone(),
        tier: record.run.tier.clone(),
        seed: record.run.seed,
        platform: record.run.platform.clone(),
        key: record.run.key.clone(),
        sizes: claim.sizes.clone(),
        tightness: claim.tightness,
        trials: cells.iter().map(|cell| cell.finding.n_trials).collect(),
        rates: rates.iter().filter(|rate| !rate.replicates.is_empty()).map(rate).collect(),
    }
}

/// Writes the measurements of the claims that ran as the new baseline. Claims that did not run keep their old
/// measurements, and the first measurements of every rate are kept as epoch zero.
///
/// # Errors
/// Those of [`may_bless`].
pub fn bless(record: &RunRecord, file: &Path, reason: &str) -> anyhow::Result<()> {
    let mut baseline = may_bless(file, reason)?;
    let comparison = against(record, &baseline);
    let changes = comparison.rows.iter().filter(|row| row.epoch == BaselineEpoch::Current);
    let changes = changes.filter_map(|row| match &row.outcome {
        RateOutcome::Identical => None,
        RateOutcome::Compared(change) => {
            Some(format!("{}: {}: {}", row.claim, row.rate, by_how_much(change)))
        }
        RateOutcome::Lost(why) => Some(format!("{}: {}: lost: {why}", row.claim, row.rate)),
    });
    let version = record.run.version.clone();
    baseline.history.push(Bless { version, reason: reason.trim().into(), changes: changes.collect() });
    for claim in record.claims.iter().filter(|c| c.honest.not_run.is_none() && c.honest.error.is_none()) {
        let new = measured(record, claim);
        let zero = baseline.epoch_zero.entry(claim.id.clone()).or_insert_with(|| new.clone());
        for (name, rate) in &new.rates {
            zero.rates.entry(name.clone()).or_insert_with(|| rate.clone());
        }
        baseline.current.insert(claim.id.clone(), new);
    }
    let mut text = serde_json::to_vec_pretty(&baseline)?;
    text.push(b'\n');
    write_atomically(file, &text)
}

/// Checks, before any work, whether [`bless`] can write this file for this reason. Returns the baseline that
/// [`bless`] would change: that of the file, or an empty one.
///
/// # Errors
/// When the reason is empty, an existing file is not a baseline, or the file cannot be written.
pub fn may_bless(file: &Path, reason: &str) -> anyhow::Result<Baseline> {
    if reason.trim().is_empty() {
        bail!("--reason is empty: say why the baseline changes");
    }
    check_writable(file)?;
    if file.exists() {
        return read(file);
    }
    let (current, epoch_zero, history) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    Ok(Baseline { schema: SCHEMA.into(), current, epoch_zero, history })
}

#[cfg(test)]
mod tests;
