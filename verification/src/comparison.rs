//! Compares what a run measured with a baseline.
//!
//! The comparison goes over all claims of the [baseline](Baseline) and of the run: a claim or a rate that is
//! missing, not run, broken, or measured at other sizes is *lost*, and fails. Only runs of the same tier are
//! compared.
//!
//! Three rules apply to a rate, depending on what the two runs have in common:
//!
//! | in common | rule |
//! |---|---|
//! | platform, seed, sizes | replicates equal to a relative 1e-9: *unchanged*; else the next but one |
//! | seed, sizes | equal to a relative 1e-6 (rounding of another platform): *unchanged*; else the next |
//! | sizes, or the replicates differ | 99.9 % interval of the difference of the means |
//!
//! In new draws, a rate is compared only if its replicates in the baseline are enough to find a worsening of
//! 20 % with probability .99: with fewer, chance alone would often look like a change. The other rates are
//! compared where the draws are the same, and the history of all nights pools them
//! ([`track`](crate::track)).
//!
//! The difference is taken on the [scale](RateScale) of the rate, on which a method that is 20 % slower is a
//! fixed distance away. The interval is for pairs on equal seeds, and Welch's otherwise. An interval within 3
//! % is *same*; one that lies on the worse side of zero, with a difference beyond half of that, is *worse* if
//! Holm's procedure over all tracked rates at level 1e-3 agrees. What stays *undecided* in the same draws
//! fails if the means differ by more than 10 % to the worse; in new draws it does not, so that a false alarm
//! among all rates has a probability of at most 1e-3, and a worsening of 20 % is found all the same.
//!
//! Verdicts are compared as words; trials and tightness are compared where the draws are the same, and must
//! then be equal.
//!
//! The measurements blessed last decide: what was blessed is accepted. The distance to the rates that were
//! blessed first, the *drift*, is reported beside them and decides nothing, so that small steps that were
//! blessed one by one stay in view. A drift that is right is [accepted](crate::bless::accept) by name, with a
//! reason: the rate's drift then counts from there.

use crate::baseline::{Baseline, Drift, Measured, MeasuredRate, drifts, read};
use crate::context::Rate;
use crate::judge::compare::{
    Change, RateChange, RateScale, Replicates, compare as compare_rates, detectable, same_counts,
    same_floats, values,
};
use crate::judge::{holm, sample::Moments};
use crate::record::{ClaimRecord, RunRecord};
use crate::verdict::Verdict;
use anyhow::{Context as _, bail};
use lao_figures::{number, p_value};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// The level of each of the two comparisons (with the last and the first rates) over all tracked rates.
const LEVEL: f64 = 1e-3;

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// One row per tracked figure and epoch; the rows of [`BaselineEpoch::Zero`] decide nothing.
    pub rows: Vec<RateRow>,
    /// Changes that are not judged, such as new rates.
    pub remarks: Vec<String>,
    /// The number of tracked rates, and of those with enough replicates to be compared in new draws.
    pub power: RatePower,
}

/// How many rates of a run are compared with which draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatePower {
    /// The number of tracked rates.
    pub tracked: usize,
    /// Those in which a worsening of 20 % is found in new draws with probability .99.
    pub in_new_draws: usize,
}

/// Which claims of the baseline a run must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them: the run was of the whole suite.
    Everything,
    /// Those that the run holds: it was of a selection.
    Selection,
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

/// The result of comparing one figure.
#[derive(Clone, Debug, PartialEq)]
pub enum RateOutcome {
    /// The figure is the same: every replicate agrees to a relative 1e-9 or, between platforms, 1e-6.
    Identical,
    /// The replicates were compared as distributions.
    Compared(RateChange, Draws),
    /// The figure is gone or cannot be compared; the text is the reason.
    Lost(String),
    /// A verdict, a count or a tightness is another one; the text gives old and new.
    Moved(String),
    /// The draws differ, and the replicates are too few to tell a change from chance.
    TooFew,
}

/// Whether a run has the draws of the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// The seeds are equal: every difference comes from a change of the program.
    Same,
    /// The seeds differ: chance alone makes a rate worse now and then.
    New,
}

impl Comparison {
    /// Returns whether a tracked figure is worse than when it was blessed last, is another one, or is lost.
    pub fn is_worse(&self) -> bool {
        self.of(BaselineEpoch::Current).any(|row| row.outcome.fails())
    }

    fn of(&self, epoch: BaselineEpoch) -> impl Iterator<Item = &RateRow> {
        self.rows.iter().filter(move |row| row.epoch == epoch)
    }
}

impl RateOutcome {
    /// Returns the result in one word, in capitals if it fails a run.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            RateOutcome::Identical => "unchanged",
            RateOutcome::Lost(_) => "LOST",
            RateOutcome::Moved(_) => "MOVED",
            RateOutcome::TooFew => "too few",
            RateOutcome::Compared(change, draws) => match change.change {
                Change::Same => "same",
                Change::Worse => "WORSE",
                Change::Better => "better",
                Change::Undecided if draws.ask_for_a_look(change) => "UNDECIDED",
                Change::Undecided => "undecided",
            },
        }
    }

    fn fails(&self) -> bool {
        match self {
            RateOutcome::Identical | RateOutcome::TooFew => false,
            RateOutcome::Compared(change, draws) => {
                change.change == Change::Worse || draws.ask_for_a_look(change)
            }
            RateOutcome::Lost(_) | RateOutcome::Moved(_) => true,
        }
    }
}

impl Draws {
    /// Returns whether a change that is not told from chance fails: if the same draws are that much worse.
    fn ask_for_a_look(self, change: &RateChange) -> bool {
        self == Draws::Same && change.is_suspicious()
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |epoch, word| self.of(epoch).filter(|row| row.outcome.word() == word).count();
        let now = |word| of(BaselineEpoch::Current, word);
        writeln!(
            f,
            "compared with the baseline: {} figures: {} unchanged, {} same, {} better, {} worse, \
             {} undecided, {} moved, {} lost, {} of too few replicates for new draws",
            self.of(BaselineEpoch::Current).count(),
            now("unchanged"),
            now("same"),
            now("better"),
            now("WORSE"),
            now("undecided") + now("UNDECIDED"),
            now("MOVED"),
            now("LOST"),
            now("too few"),
        )?;
        for RateRow { claim, rate, outcome, .. } in self.of(BaselineEpoch::Current) {
            match outcome {
                RateOutcome::Identical | RateOutcome::TooFew => {}
                RateOutcome::Lost(what) | RateOutcome::Moved(what) => {
                    writeln!(f, "{}: {claim}: {rate}: {what}", outcome.word())?;
                }
                RateOutcome::Compared(change, _) => {
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
            if let RateOutcome::Compared(change, _) = outcome
                && matches!(change.change, Change::Better | Change::Worse)
            {
                let word = outcome.word().to_lowercase();
                writeln!(f, "drift, {word}: {claim}: {rate}: {}", by_how_much(change))?;
            }
        }
        if of(BaselineEpoch::Zero, "WORSE") > 0 {
            writeln!(
                f,
                "if a drift is right, accept it by name: cargo xtask track accept \"CLAIM: RATE\" \
                 --baseline FILE --reason \"why\""
            )?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "note: {remark}"))?;
        let RatePower { tracked, in_new_draws } = self.power;
        writeln!(
            f,
            "power: {in_new_draws} of {tracked} rates have enough replicates to find 20 % (an exponent: .1) \
             with probability .99 in new draws; the others are compared where the draws are the same, and by \
             `cargo xtask track` over many runs (verify --explain CLAIM says what each finds)"
        )
    }
}

/// Returns a change as text, such as
/// `0.57 -> 0.61, worse by 7 % [5.9 %, 8.1 %] (paired-t, 99.9 %; p = 1e-9)`.
pub(crate) fn by_how_much(change: &RateChange) -> String {
    let words = |x: f64| change.scale.words(x);
    format!(
        "{} -> {}, worse by {} [{}, {}] ({}, {} %; p = {})",
        number(change.baseline),
        number(change.run),
        words(change.worsening),
        words(change.interval.lo),
        words(change.interval.hi),
        change.interval.method,
        100.0 * change.interval.level,
        p_value(change.p_worse),
    )
}

/// Compares a record with the baseline in a file.
///
/// # Errors
/// When the file cannot be read, is not a baseline of this version, or was blessed in another tier.
pub fn compare(record: &RunRecord, file: &Path, scope: Scope) -> anyhow::Result<Comparison> {
    let baseline = read(file)?;
    may_compare(&baseline, &record.run.tier).with_context(|| file.display().to_string())?;
    Ok(against(record, &baseline, scope))
}

/// Checks whether a run of this tier can be compared with a baseline. The nightly tier is the full one at
/// another seed.
///
/// # Errors
/// When the baseline was blessed in another tier.
pub fn may_compare(baseline: &Baseline, tier: &str) -> anyhow::Result<()> {
    let class = |tier: &str| if tier == "nightly" { "full".to_string() } else { tier.to_string() };
    let other = baseline.current.values().find(|measured| class(&measured.tier) != class(tier));
    match other {
        None => Ok(()),
        Some(Measured { tier: blessed, .. }) => {
            bail!("blessed in the tier {blessed}, and this run is of the tier {tier}: use the same tier")
        }
    }
}

/// Compares a record with a baseline of the same tier.
pub fn against(record: &RunRecord, baseline: &Baseline, scope: Scope) -> Comparison {
    let (mut rows, mut remarks) = (Vec::new(), Vec::new());
    let (level, power) = (rate_level(record), power(record));
    let found: BTreeMap<&str, &ClaimRecord> = record.claims.iter().map(|c| (c.id.as_str(), c)).collect();
    let mut row = |claim: &str, rate: &str, epoch, outcome| {
        rows.push(RateRow { claim: claim.into(), rate: rate.into(), epoch, outcome });
    };
    for (id, old) in &baseline.current {
        let Some(claim) = found.get(id.as_str()) else {
            if scope == Scope::Everything {
                let why = "the claim is not in this run; bless if it was withdrawn or renamed";
                row(id, "verdict", BaselineEpoch::Current, RateOutcome::Lost(why.into()));
            }
            continue;
        };
        let new = Measured::of(record, claim);
        row(id, "verdict", BaselineEpoch::Current, same_verdict(old.verdict, claim.verdict));
        if claim.honest.not_run.is_some() || claim.honest.error.is_some() {
            continue;
        }
        let judged = |rate: &str, old: &Measured, old_rate| match new.rates.get(rate) {
            Some(new_rate) => judge(rate, old, old_rate, &new, new_rate, level),
            None => {
                RateOutcome::Lost("the claim no longer measures this rate; bless if this is intended".into())
            }
        };
        for (rate, old_rate) in &old.rates {
            row(id, rate, BaselineEpoch::Current, judged(rate, old, old_rate));
        }
        for Drift { rate, first, first_rate, .. } in drifts(baseline, id) {
            row(id, rate, BaselineEpoch::Zero, judged(rate, first, first_rate));
        }
        remarks.extend(
            baseline
                .accepted
                .get(id)
                .into_iter()
                .flatten()
                .map(|(rate, accepted)| format!("{id}: {rate}: a drift was accepted: {}", accepted.reason)),
        );
        let fresh = new.rates.keys().filter(|rate| !old.rates.contains_key(*rate));
        remarks.extend(fresh.map(|rate| format!("{id}: {rate}: not in the baseline; bless to track it")));
        if old.seed == new.seed && old.sizes == new.sizes && old.platform == new.platform {
            for (figure, outcome) in counted(old, &new) {
                row(id, figure, BaselineEpoch::Current, outcome);
            }
        }
    }
    let fresh = record.claims.iter().filter(|claim| !baseline.current.contains_key(&claim.id));
    remarks.extend(fresh.map(|claim| format!("{}: not in the baseline; bless to track it", claim.id)));
    hold_the_level(&mut rows);
    Comparison { rows, remarks, power }
}

/// Compares the verdict with the blessed one, if the baseline has one.
fn same_verdict(old: Option<Verdict>, new: Verdict) -> RateOutcome {
    match old {
        Some(old) if old != new => RateOutcome::Moved(format!("{old} -> {new}")),
        _ => RateOutcome::Identical,
    }
}

/// Compares the numbers that equal draws must leave equal: trials and tightness.
fn counted(old: &Measured, new: &Measured) -> Vec<(&'static str, RateOutcome)> {
    let trials = match same_counts(&old.trials, &new.trials) {
        Ok(()) => RateOutcome::Identical,
        Err(difference) => RateOutcome::Moved(difference),
    };
    let tightness = match (old.tightness, new.tightness) {
        (Some(before), Some(now)) if (before - now).abs() > 1e-6 * before.abs() => {
            RateOutcome::Moved(format!("{} -> {}", number(before), number(now)))
        }
        (None, None) | (Some(_), Some(_)) => RateOutcome::Identical,
        (Some(_), None) => RateOutcome::Lost("no cell has a bound any more".into()),
        (None, Some(_)) => RateOutcome::Moved("no cell had a bound before".into()),
    };
    vec![("trials", trials), ("tightness", tightness)]
}

/// Returns the level at which a worsening of one of the record's rates is found: Holm's for the first one.
pub fn rate_level(record: &RunRecord) -> f64 {
    let tracked: usize = record.claims.iter().map(|claim| claim.honest.rates.len()).sum();
    LEVEL / tracked.max(1) as f64
}

/// Returns the smallest worsening, on the scale of a rate, that two runs of so many replicates with other
/// draws find with probability .99; `None` if the rate has no value on its scale.
pub fn found_in_new_draws(name: &str, replicates: &[f64], level: f64) -> Option<f64> {
    let moments = Moments::of(&values("run", replicates, RateScale::of(name)).ok()?);
    Some(detectable(moments.n, moments.sd, level))
}

/// Returns whether a worsening of 20 % of this rate is found in new draws with probability .99.
fn is_powered(name: &str, replicates: &[f64], level: f64) -> bool {
    found_in_new_draws(name, replicates, level).is_some_and(|found| found <= RateScale::of(name).worsening())
}

fn power(record: &RunRecord) -> RatePower {
    let level = rate_level(record);
    let rates: Vec<&Rate> = record.claims.iter().flat_map(|claim| &claim.honest.rates).collect();
    let powered = rates.iter().filter(|rate| is_powered(&rate.name, &rate.replicates, level)).count();
    RatePower { tracked: rates.len(), in_new_draws: powered }
}

/// Compares one rate with one epoch, before Holm's procedure.
fn judge(
    name: &str,
    old: &Measured,
    old_rate: &MeasuredRate,
    new: &Measured,
    new_rate: &MeasuredRate,
    level: f64,
) -> RateOutcome {
    if old.sizes != new.sizes {
        return RateOutcome::Lost("the claim has other sizes in plan.toml; bless if this is intended".into());
    }
    let draws = if old.seed == new.seed { Draws::Same } else { Draws::New };
    let (before, now) = (&old_rate.replicates, &new_rate.replicates);
    if draws == Draws::Same {
        let agree = match old.platform == new.platform {
            true => same_floats(before, now).is_ok(),
            false => within_rounding(before, now),
        };
        if agree {
            return RateOutcome::Identical;
        }
    }
    let pairs = draws == Draws::Same && before.len() == now.len();
    let replicates = if pairs { Replicates::Paired } else { Replicates::Independent };
    match compare_rates(before, now, replicates, new_rate.worse, RateScale::of(name)) {
        Err(vanished) => RateOutcome::Lost(vanished),
        // The baseline decides whether a rate is compared: if the run did, a change could hide itself.
        Ok(_) if draws == Draws::New && !is_powered(name, before, level) => RateOutcome::TooFew,
        Ok(change) => RateOutcome::Compared(change, draws),
    }
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
            RateOutcome::Compared(change, _) => change.p_worse,
            RateOutcome::Identical | RateOutcome::Lost(_) | RateOutcome::Moved(_) | RateOutcome::TooFew => {
                1.0
            }
        };
        let p: Vec<f64> = tracked.iter().map(p).collect();
        let rejected = holm::step_down(&p, tracked.len(), LEVEL);
        for (i, rejected) in tracked.into_iter().zip(rejected) {
            if let RateOutcome::Compared(change, _) = &mut rows[i].outcome
                && change.change == Change::Worse
                && !rejected
            {
                change.change = Change::Undecided;
            }
        }
    }
}

#[cfg(test)]
mod tests;
