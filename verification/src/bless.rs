//! Writes baselines: the measurements of a run become the new measure, and drifts are accepted by name.

use crate::baseline::{AcceptedDrift, Baseline, Bless, Measured, SCHEMA, drifts, read, write};
use crate::comparison::{BaselineEpoch, RateOutcome, Scope, against, by_how_much};
use crate::record::RunRecord;
use anyhow::{bail, ensure};
use lao_figures::number;
use lao_files::check_writable;
use std::collections::BTreeMap;
use std::path::Path;

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
    Ok(Baseline {
        schema: SCHEMA.into(),
        current: BTreeMap::new(),
        epoch_zero: BTreeMap::new(),
        accepted: BTreeMap::new(),
        history: Vec::new(),
    })
}

/// Writes the measurements of a run of the whole suite as the new baseline. The first measurements of every
/// rate are kept as epoch zero.
///
/// # Errors
/// Those of [`may_bless`].
pub fn bless(record: &RunRecord, file: &Path, reason: &str) -> anyhow::Result<()> {
    let mut baseline = may_bless(file, reason)?;
    let comparison = against(record, &baseline, Scope::Everything);
    let changes = comparison.rows.iter().filter(|row| row.epoch == BaselineEpoch::Current);
    let changes = changes.filter_map(|row| match &row.outcome {
        RateOutcome::Identical | RateOutcome::TooFew => None,
        RateOutcome::Compared(change, _) => {
            Some(format!("{}: {}: {}", row.claim, row.rate, by_how_much(change)))
        }
        RateOutcome::Lost(what) | RateOutcome::Moved(what) => {
            Some(format!("{}: {}: {}: {what}", row.outcome.word().to_lowercase(), row.claim, row.rate))
        }
    });
    let version = record.run.version.clone();
    baseline.history.push(Bless { version, reason: reason.trim().into(), changes: changes.collect() });
    baseline.current.clear();
    for claim in &record.claims {
        let new = Measured::of(record, claim);
        let zero = baseline.epoch_zero.entry(claim.id.clone()).or_insert_with(|| new.clone());
        for (name, rate) in &new.rates {
            zero.rates.entry(name.clone()).or_insert_with(|| rate.clone());
        }
        baseline.current.insert(claim.id.clone(), new);
    }
    write(&baseline, file)
}

/// Accepts, in a baseline, the drift of rates by name: `CLAIM: RATE` is one rate, and `CLAIM` all rates of a
/// claim that have drifted. From now on their drift counts from the figures that were blessed last; the first
/// figures are kept. Returns what was accepted, a line for each rate.
///
/// # Errors
/// When the reason is empty, the file is not a baseline or cannot be written, or a name belongs to no rate
/// that has drifted; nothing is changed then.
pub fn accept(file: &Path, names: &[String], reason: &str) -> anyhow::Result<Vec<String>> {
    let reason = reason.trim();
    ensure!(!reason.is_empty(), "--reason is empty: say why the drift is right");
    let mut baseline = read(file)?;
    check_writable(file)?;
    let mut changes = Vec::new();
    for name in names {
        let (claim, rate) = name.split_once(": ").map_or((name.as_str(), None), |(c, r)| (c, Some(r)));
        let Some(current) = baseline.current.get(claim) else {
            bail!("{} has no claim `{claim}`: write CLAIM, or CLAIM: RATE", file.display());
        };
        let mut found: Vec<(String, AcceptedDrift)> = Vec::new();
        for drift in drifts(&baseline, claim) {
            if rate.is_some_and(|rate| rate != drift.rate) {
                continue;
            }
            let rates = [(drift.rate.to_string(), drift.last_rate.clone())].into();
            let measured = Measured { rates, ..current.clone() };
            let [first, last] = [drift.first_rate.mean, drift.last_rate.mean].map(number);
            changes.push(format!("drift accepted: {claim}: {}: {first} -> {last}", drift.rate));
            found.push((drift.rate.to_string(), AcceptedDrift { reason: reason.into(), measured }));
        }
        ensure!(
            !found.is_empty(),
            "`{name}` has no drift: `verify --compare {}` lists the rates that have",
            file.display()
        );
        baseline.accepted.entry(claim.to_string()).or_default().extend(found);
    }
    let version = env!("CARGO_PKG_VERSION").into();
    baseline.history.push(Bless { version, reason: reason.into(), changes: changes.clone() });
    write(&baseline, file)?;
    Ok(changes)
}
