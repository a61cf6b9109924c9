//! The history of the tracked rates: one line of JSON per rate and run, appended and never rewritten.
//!
//! A project that tracks a learner of its own writes the same lines, or a record with claims of its own, and
//! uses the same trends and change points.

use crate::context::{Axis, Direction, Figure, Rate, Series};
use crate::judge::compare::{RateScale, Replicates, compare, values};
use crate::judge::sample::Moments;
use crate::record::{ClaimRecord, RunRecord};
use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// The version of the layout of a history.
pub const SCHEMA: &str = "lao-track/1";

/// One tracked rate in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrackPoint {
    /// [`SCHEMA`].
    pub schema: String,
    /// When the run was recorded, in seconds since 1970.
    pub recorded: u64,
    /// The key of the run.
    pub key: String,
    /// The tier of the run.
    pub tier: String,
    /// The root seed of the run.
    pub seed: u64,
    /// The claim's id.
    pub claim: String,
    /// The rate's name.
    pub rate: String,
    /// The direction that is worse.
    pub worse: Direction,
    /// The mean of the replicates.
    pub mean: f64,
    /// The standard deviation of the replicates.
    pub sd: f64,
    /// The number of replicates.
    pub count: usize,
    /// The mean of the values that are compared (logarithms of an amount, an exponent as it is), if the rate
    /// has not vanished.
    pub value: Option<f64>,
}

impl TrackPoint {
    /// Returns the standard error of the mean.
    fn standard_error(&self) -> f64 {
        self.sd / (self.count.max(1) as f64).sqrt()
    }

    /// Returns the interval of two standard errors on either side of the mean.
    fn interval(&self) -> [f64; 2] {
        let reach = 2.0 * self.standard_error();
        [self.mean - reach, self.mean + reach]
    }
}

/// Returns the rates of a record as points of a history.
pub fn points(record: &RunRecord, recorded: u64) -> Vec<TrackPoint> {
    let rates = record.claims.iter().flat_map(|claim| claim.honest.rates.iter().map(move |r| (claim, r)));
    let point = |(claim, rate): (&ClaimRecord, &Rate)| {
        let moments = Moments::of(&rate.replicates);
        let compared = values("run", &rate.replicates, RateScale::of(&rate.name));
        TrackPoint {
            schema: SCHEMA.into(),
            recorded,
            key: record.run.key.clone(),
            tier: record.run.tier.clone(),
            seed: record.run.seed,
            claim: claim.id.clone(),
            rate: rate.name.clone(),
            worse: rate.worse,
            mean: moments.mean,
            sd: moments.sd,
            count: moments.n,
            value: compared.ok().map(|values| Moments::of(&values).mean),
        }
    };
    rates.filter(|(_, rate)| !rate.replicates.is_empty()).map(point).collect()
}

/// The evidence on one claim in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NightPoint {
    /// [`NIGHT_SCHEMA`].
    pub schema: String,
    /// When the run was recorded, in seconds since 1970.
    pub recorded: u64,
    /// The tier of the run.
    pub tier: String,
    /// The root seed of the run.
    pub seed: u64,
    /// The version of the project.
    pub version: String,
    /// The claim's id.
    pub claim: String,
    /// The verdict that is expected.
    pub expected: String,
    /// The level of the claim.
    pub alpha: f64,
    /// The p-value of "the claim holds".
    pub p_refute: f64,
    /// The p-value of "the claim fails".
    pub p_support: f64,
}

/// The version of the layout of the evidence of a run.
pub const NIGHT_SCHEMA: &str = "lao-night/1";

/// A line of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HistoryLine {
    /// A rate.
    Rate(TrackPoint),
    /// The evidence on a claim.
    Night(NightPoint),
}

/// Returns what a history keeps of a record: its rates, and the evidence on each claim that ran.
pub fn lines(record: &RunRecord, recorded: u64) -> Vec<HistoryLine> {
    let rates = points(record, recorded).into_iter().map(HistoryLine::Rate);
    let ran = record.claims.iter().filter(|c| c.honest.not_run.is_none() && c.honest.error.is_none());
    let night = |claim: &ClaimRecord| {
        HistoryLine::Night(NightPoint {
            schema: NIGHT_SCHEMA.into(),
            recorded,
            tier: record.run.tier.clone(),
            seed: record.run.seed,
            version: record.run.version.clone(),
            claim: claim.id.clone(),
            expected: claim.expected.clone(),
            alpha: claim.alpha,
            p_refute: claim.evidence.p_refute,
            p_support: claim.evidence.p_support,
        })
    };
    rates.chain(ran.map(night)).collect()
}

/// The evidence on a claim over all nights of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Pooled {
    /// The claim's id.
    pub claim: String,
    /// The number of nights.
    pub nights: usize,
    /// The verdict that is expected.
    pub expected: String,
    /// Whether the nights together reject that the claim holds.
    pub refuted: bool,
    /// Whether the nights together reject that the claim fails.
    pub supported: bool,
}

/// Pools the nights of one version and tier.
///
/// Each p-value becomes the e-value `1/(2 sqrt p)`, whose mean is at most 1 if the hypothesis is true. Nights
/// have seeds of their own, so the product is an e-value too, and stays valid however many nights there are.
/// A hypothesis is rejected where the product reaches `1/alpha`. (A p-value that is tested anew each night
/// would reject a true hypothesis sooner or later.)
pub fn pooled(history: &[HistoryLine]) -> Vec<Pooled> {
    let nights = history.iter().filter_map(|line| match line {
        HistoryLine::Night(night) => Some(night),
        HistoryLine::Rate(_) => None,
    });
    let mut by: BTreeMap<(&str, &str, &str), Vec<&NightPoint>> = BTreeMap::new();
    for night in nights {
        by.entry((&night.claim, &night.tier, &night.version)).or_default().push(night);
    }
    let pool = |nights: Vec<&NightPoint>| {
        // A p-value below the smallest double counts as that.
        let log_e = |p: f64| -0.5 * p.max(f64::MIN_POSITIVE).ln() - 2.0_f64.ln();
        let reached = |p: &dyn Fn(&NightPoint) -> f64| {
            let sum: f64 = nights.iter().map(|night| log_e(p(night))).sum();
            sum >= -nights[0].alpha.ln()
        };
        Pooled {
            claim: nights[0].claim.clone(),
            nights: nights.len(),
            expected: nights[0].expected.clone(),
            refuted: reached(&|night| night.p_refute),
            supported: reached(&|night| night.p_support),
        }
    };
    by.into_values().map(pool).collect()
}

/// Appends lines to a history. The file is created if there is none.
///
/// # Errors
/// When the file cannot be read or written, holds a line that is no point, or already holds the run: the same
/// draws must not count twice.
pub fn append(file: &Path, lines: &[HistoryLine]) -> anyhow::Result<()> {
    let known = if file.exists() { read(file)? } else { Vec::new() };
    if let Some(new) = lines.first() {
        let same = |old: &&HistoryLine| {
            old.draws() == new.draws() && old.version_of_program() == new.version_of_program()
        };
        let (tier, seed) = new.draws();
        ensure!(
            !known.iter().any(|old| same(&old)),
            "{} already holds this run (tier {tier}, seed {seed}): run another seed",
            file.display(),
        );
    }
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(line)?;
        text.push('\n');
    }
    let open = OpenOptions::new().create(true).append(true).open(file);
    let mut out = open.with_context(|| format!("cannot write {}", file.display()))?;
    out.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", file.display()))
}

/// Reads a history.
///
/// # Errors
/// When the file cannot be read, or a line is no point of this version; the error names the line.
pub fn read(file: &Path) -> anyhow::Result<Vec<HistoryLine>> {
    let text = std::fs::read_to_string(file).with_context(|| {
        format!("cannot read {}: `cargo xtask track add` writes a history", file.display())
    })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let point = |(number, line): (usize, &str)| {
        let known = serde_json::from_str::<HistoryLine>(line).ok().filter(|line| match line {
            HistoryLine::Rate(point) => point.schema == SCHEMA,
            HistoryLine::Night(point) => point.schema == NIGHT_SCHEMA,
        });
        known.with_context(|| {
            format!("{}, line {}: no line of `{SCHEMA}` or `{NIGHT_SCHEMA}`", file.display(), number + 1)
        })
    };
    lines.map(point).collect()
}

impl HistoryLine {
    /// Returns what the draws of the run depend on: tier and seed.
    fn draws(&self) -> (&str, u64) {
        match self {
            HistoryLine::Rate(point) => (&point.tier, point.seed),
            HistoryLine::Night(point) => (&point.tier, point.seed),
        }
    }

    fn version_of_program(&self) -> &str {
        match self {
            HistoryLine::Rate(point) => &point.key,
            HistoryLine::Night(point) => &point.version,
        }
    }
}

/// The points of one rate in one tier, in the order of the history.
#[derive(Clone, Debug)]
pub struct Trend {
    /// The claim's id.
    pub claim: String,
    /// The rate's name.
    pub rate: String,
    /// The tier.
    pub tier: String,
    /// The points.
    pub points: Vec<TrackPoint>,
    /// Where the mean moved, if it did.
    pub change: Option<ChangePoint>,
}

/// A run from which on a rate has another mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first run with the new mean, counted from 0.
    pub at: usize,
    /// The distance of the means on the rate's scale, positive where the rate got worse.
    pub worsening: f64,
    /// The p-value of "no change", corrected for the number of runs at which the change could have been.
    pub p: f64,
}

/// The level at which a change point is reported.
const LEVEL: f64 = 1e-3;

/// Returns the trends of a history, by claim, rate and tier.
pub fn trends(history: &[HistoryLine]) -> Vec<Trend> {
    let mut by: BTreeMap<(&str, &str, &str), Vec<TrackPoint>> = BTreeMap::new();
    for line in history {
        if let HistoryLine::Rate(point) = line {
            by.entry((&point.claim, &point.rate, &point.tier)).or_default().push(point.clone());
        }
    }
    let trend = |((claim, rate, tier), points): ((&str, &str, &str), Vec<TrackPoint>)| Trend {
        claim: claim.into(),
        rate: rate.into(),
        tier: tier.into(),
        change: change_point(&points),
        points,
    };
    by.into_iter().map(trend).collect()
}

/// Returns the most likely run at which the mean moved, if Welch's test between the runs before and after it
/// rejects "no change" at the level .001 divided by the number of possible runs. At least three runs must lie
/// on each side. Runs in which the rate had vanished are left out.
fn change_point(points: &[TrackPoint]) -> Option<ChangePoint> {
    let kept: Vec<(usize, f64)> =
        points.iter().enumerate().filter_map(|(i, p)| Some((i, p.value?))).collect();
    let values: Vec<f64> = kept.iter().map(|(_, value)| *value).collect();
    let splits = 3..values.len().saturating_sub(2);
    let count = splits.len().max(1) as f64;
    let test = |split: usize| {
        let (before, after) = values.split_at(split);
        // The values are on their scale already, and an exponent is compared as it is.
        let one_sided =
            |worse| compare(before, after, Replicates::Independent, worse, RateScale::Exponent).ok();
        let (rises, falls) = (one_sided(Direction::Larger)?, one_sided(Direction::Smaller)?);
        let p = 2.0 * rises.p_worse.min(falls.p_worse) * count;
        let worse = if points[0].worse == Direction::Larger { rises } else { falls };
        Some(ChangePoint { at: kept[split].0, worsening: worse.worsening, p: p.min(1.0) })
    };
    let order = |a: &ChangePoint, b: &ChangePoint| {
        a.p.total_cmp(&b.p).then(b.worsening.abs().total_cmp(&a.worsening.abs()))
    };
    splits.filter_map(test).min_by(order).filter(|change| change.p <= LEVEL)
}

impl Trend {
    /// Returns the plot of the trend: the mean of each run, with the standard error of the mean.
    pub fn figure(&self) -> Figure {
        let at = |i: usize, point: &TrackPoint| [i as f64, point.mean];
        let points: Vec<[f64; 2]> = self.points.iter().enumerate().map(|(i, p)| at(i, p)).collect();
        let interval = self.points.iter().map(TrackPoint::interval).collect();
        let mut series = vec![Series { interval, ..Series::points("mean of a run", points) }];
        if let Some(change) = self.change {
            let mean = |part: &[TrackPoint]| part.iter().map(|p| p.mean).sum::<f64>() / part.len() as f64;
            let (before, after) = self.points.split_at(change.at);
            let last = self.points.len() as f64 - 1.0;
            let steps = vec![
                [0.0, mean(before)],
                [change.at as f64 - 0.5, mean(before)],
                [change.at as f64 - 0.5, mean(after)],
                [last, mean(after)],
            ];
            series.push(Series::line("mean before and after the change", steps));
        }
        Figure {
            caption: format!("{}: {} ({})", self.claim, self.rate, self.tier),
            x: Axis::linear("run"),
            y: Axis::linear("mean"),
            series,
        }
    }

    /// Returns the change in words: `run 12: worse by +8.31 % (p = 2e-5)`.
    pub fn words(&self) -> Option<String> {
        let change = self.change?;
        let word = if change.worsening > 0.0 { "worse" } else { "better" };
        let by = RateScale::of(&self.rate).words(change.worsening.abs());
        Some(format!("{word} by {by} from run {} on (p = {})", change.at, lao_figures::p_value(change.p)))
    }
}

/// Returns the rates of a record in Bencher's metric format.
pub fn bencher(record: &RunRecord) -> serde_json::Value {
    let mut all = serde_json::Map::new();
    for point in points(record, 0) {
        let [low, high] = point.interval();
        let measure = serde_json::json!({"value": point.mean, "lower_value": low, "upper_value": high});
        let name = if point.worse == Direction::Larger { "smaller-is-better" } else { "larger-is-better" };
        all.insert(format!("{}: {}", point.claim, point.rate), serde_json::json!({ name: measure }));
    }
    all.into()
}

/// Returns the rates of which smaller (or larger) values are worse in the format of github-action-benchmark,
/// which wants a file for each: `customBiggerIsBetter` and `customSmallerIsBetter`.
pub fn github(record: &RunRecord, worse: Direction) -> serde_json::Value {
    let rates = points(record, 0).into_iter().filter(|point| point.worse == worse);
    let entry = |point: TrackPoint| {
        serde_json::json!({
            "name": format!("{}: {}", point.claim, point.rate),
            "unit": "",
            "value": point.mean,
            "range": format!("{:.3e}", point.standard_error()),
        })
    };
    rates.map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn series(values: &[f64]) -> Vec<HistoryLine> {
        let mut record = sample::record();
        record.claims.truncate(1);
        let mut all = Vec::new();
        for (seed, value) in values.iter().enumerate() {
            record.run.seed = seed as u64;
            record.claims[0].honest.rates[0].name = "examples to the target".into();
            record.claims[0].honest.rates[0].replicates = vec![0.99 * value, 1.01 * value];
            all.extend(points(&record, seed as u64).into_iter().map(HistoryLine::Rate));
        }
        all
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let noise = |i: usize| 1.0 + 0.01 * ((i * 7 % 10) as f64 - 4.5) / 4.5;
        let values: Vec<f64> = (0..20).map(|i| noise(i) * if i < 12 { 100.0 } else { 110.0 }).collect();
        let trends = trends(&series(&values));
        let change = trends[0].change.unwrap();
        assert_eq!((trends.len(), change.at), (1, 12));
        assert!((change.worsening - 1.1_f64.ln()).abs() < 0.01, "{change:?}");
        assert!(trends[0].words().unwrap().contains("worse by +"), "{:?}", trends[0].words());
        assert_eq!(trends[0].figure().series.len(), 2);
    }

    #[test]
    fn noise_is_no_change() {
        let values: Vec<f64> = (0..30).map(|i| 100.0 + (i * 7 % 10) as f64).collect();
        assert_eq!(trends(&series(&values))[0].change, None);
        assert_eq!(trends(&series(&values[..4]))[0].change, None, "too short to say");
    }

    #[test]
    fn a_history_is_appended_to_and_holds_no_run_twice() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.jsonl");
        let all = series(&[100.0, 101.0]);
        append(&file, &all[..1]).unwrap();
        append(&file, &all[1..]).unwrap();
        assert_eq!(read(&file).unwrap(), all);
        let again = append(&file, &all[..1]).unwrap_err();
        assert!(again.to_string().contains("already holds"), "{again}");
        std::fs::write(&file, "{}\n").unwrap();
        assert!(format!("{:#}", read(&file).unwrap_err()).contains("line 1"));
    }

    #[test]
    fn nights_are_pooled_by_e_values() {
        let mut record = sample::record();
        record.claims.truncate(1);
        let mut after = |nights: u64, p_refute: f64| {
            let mut history = Vec::new();
            for seed in 0..nights {
                record.run.seed = seed;
                let evidence = &mut record.claims[0].evidence;
                (evidence.p_refute, evidence.p_support) = (p_refute, 0.5);
                history.extend(lines(&record, seed));
            }
            pooled(&history)[0].clone()
        };
        // A p-value of .05 each night is an e-value of 2.2, and adds up; one of .5 is .7, and never does.
        assert!(!after(5, 0.05).refuted && after(30, 0.05).refuted);
        let never = after(1000, 0.5);
        assert!(!never.refuted && !never.supported && never.nights == 1000);
    }

    #[test]
    fn other_tools_get_their_formats() {
        let record = sample::record();
        let bencher = bencher(&record);
        let (name, measures) = bencher.as_object().unwrap().iter().next().unwrap();
        assert!(name.contains("contraction factor") && measures["smaller-is-better"]["value"].is_number());
        let smaller = github(&record, Direction::Larger);
        assert!(smaller[0]["value"].is_number() && smaller[0]["name"].is_string());
        assert_eq!(github(&record, Direction::Smaller), serde_json::json!([]));
    }
}
