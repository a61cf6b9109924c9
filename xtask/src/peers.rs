//! The tables of the README that compare lao_learn with other packages, from records of the bench suite.
//!
//! A record is read as plain JSON: `cargo xtask report` does not wait for the build of the bench suite.

use anyhow::{Context as _, ensure};
use lao_figures::{Axis, Figure, Series};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The recorded runs of the three scenarios.
const PURCHASES: &str = include_str!("../../bench-suite/figures/peers-purchases.json");
const FULL_INFORMATION: &str = include_str!("../../bench-suite/figures/peers-full-information.json");

const DISK: &str = include_str!("../../bench-suite/figures/disk.json");

/// The parts of a record that the tables need.
#[derive(Deserialize)]
struct Record {
    scenario: String,
    tier: String,
    seed: u64,
    size: Size,
    provenance: Provenance,
    software: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Size {
    repetitions: u64,
}

#[derive(Deserialize)]
struct Provenance {
    processor: String,
}

#[derive(Deserialize)]
struct Row {
    learner: String,
    metric: String,
    repetition: u64,
    value: Option<f64>,
    error: Option<String>,
}

/// The results of all learners on all tables.
struct Results {
    record: Record,
    /// The names of learners and tables, in the order of the scenario.
    learners: Vec<String>,
    tables: Vec<String>,
}

impl Results {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let record: Record = serde_json::from_str(text).context("a record of the peers is malformed")?;
        let (mut learners, mut tables) = (Vec::new(), Vec::new());
        for row in &record.rows {
            let (learner, table) = row
                .learner
                .split_once(" on ")
                .with_context(|| format!("`{}` is no learner on a table", row.learner))?;
            for (names, name) in [(&mut learners, learner), (&mut tables, table)] {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        ensure!(!learners.is_empty(), "the record of {} has no rows", record.scenario);
        Ok(Results { record, learners, tables })
    }

    /// Returns the values of a metric by repetition.
    fn values(&self, learner: &str, table: &str, metric: &str) -> BTreeMap<u64, f64> {
        let name = format!("{learner} on {table}");
        let of = |row: &&Row| row.learner == name && row.metric == metric;
        let rows = self.record.rows.iter().filter(of);
        rows.filter_map(|row| Some((row.repetition, row.value?))).collect()
    }

    fn median(&self, learner: &str, table: &str, metric: &str) -> Option<f64> {
        median(self.values(learner, table, metric).into_values().collect())
    }

    /// Returns a table whose columns are the tables of the scenario, with the best of each column in bold,
    /// and the reasons of learners without results.
    fn markdown(&self, cell: impl Fn(&str, &str) -> Cell) -> String {
        let columns = "|---:".repeat(self.tables.len());
        let mut text = format!("| learner | {} |\n|---{columns}|\n", self.tables.join(" | "));
        let cells = |learner: &String| self.tables.iter().map(|table| cell(learner, table)).collect();
        let lines: Vec<Vec<Cell>> = self.learners.iter().map(cells).collect();
        let best: Vec<Option<f64>> = (0..self.tables.len())
            .map(|c| lines.iter().filter_map(|line| line[c].score).min_by(f64::total_cmp))
            .collect();
        for (learner, line) in self.learners.iter().zip(&lines) {
            let bold = |(cell, best): (&Cell, &Option<f64>)| match cell.score {
                score @ Some(_) if score == *best => format!("**{}**", cell.text),
                _ => cell.text.clone(),
            };
            let cells: Vec<String> = line.iter().zip(&best).map(bold).collect();
            text += &format!("| {learner} | {} |\n", cells.join(" | "));
        }
        for (name, (count, reason)) in self.failures() {
            let line = format!("- {name}, {count} of {} runs: {reason}", self.record.size.repetitions);
            text += &format!("\n{}\n", wrapped(&line));
        }
        text + &self.origin()
    }

    /// Returns the errors by learner and table: how many, and the first reason.
    fn failures(&self) -> BTreeMap<&str, (u64, String)> {
        let mut found = BTreeMap::new();
        for row in &self.record.rows {
            if let Some(error) = &row.error {
                let reason = error.replace('|', "/");
                found.entry(row.learner.as_str()).or_insert((0, reason)).0 += 1;
            }
        }
        found
    }

    /// Returns the paragraph that says where the numbers come from.
    fn origin(&self) -> String {
        let Record { scenario, tier, seed, size, provenance, software, .. } = &self.record;
        let text = format!(
            "Medians of {} paired repetitions, by `cargo xtask bench {scenario} --tier {tier} --seed \
             {seed}`, on {}, with {}.",
            size.repetitions,
            provenance.processor,
            software.join(", "),
        );
        format!("\n{}\n", wrapped(&text))
    }
}

/// A cell, and the number by which it competes in its column, if it does.
struct Cell {
    text: String,
    score: Option<f64>,
}

/// What the name of a learner ends with that spends its money in two halves.
const IN_HALVES: &str = ", in halves";

/// The error of a learner on a table, at equal purchases.
struct Bought {
    error: f64,
    reads: f64,
    /// Whether it spends as much as the first learner, at most.
    competes: bool,
    in_halves: bool,
}

impl Results {
    /// Returns the error of a learner that spends its money in the better one of two ways.
    fn bought(&self, learner: &str, table: &str) -> Option<Bought> {
        let first = self.learners.first()?;
        let of = |name: &str| {
            let median = |metric| self.median(name, table, metric);
            // Learners that buy more than the first one do not compete.
            let most = 1.01 * self.median(first, table, "values bought")?;
            let competes = median("values bought").is_some_and(|bought| bought <= most);
            let (error, reads) = median("relative test error").zip(median("attributes per prediction"))?;
            Some(Bought { error, reads, competes, in_halves: name.ends_with(IN_HALVES) })
        };
        let both = [of(learner), of(&format!("{learner}{IN_HALVES}"))];
        both.into_iter().flatten().min_by(|a, b| a.error.total_cmp(&b.error))
    }

    /// Returns the results without the learners that spend in halves, which [`bought`](Self::bought) holds
    /// beside those of the same name.
    fn of_purchases() -> anyhow::Result<Self> {
        let mut results = Results::parse(PURCHASES)?;
        results.learners.retain(|learner| !learner.ends_with(IN_HALVES));
        Ok(results)
    }
}

/// Returns the table of errors at equal purchases.
///
/// # Errors
/// When the record is malformed.
pub fn purchases() -> anyhow::Result<String> {
    let results = Results::of_purchases()?;
    Ok(results.markdown(|learner, table| {
        let Some(Bought { error, reads, competes, in_halves }) = results.bought(learner, table) else {
            return Cell { text: "failed".into(), score: None };
        };
        // The error of a run that diverged is shown in powers of ten.
        let text = if error < 1e3 { format!("{error:.3}") } else { format!("{error:.0e}") };
        let halves = if in_halves { "\\*" } else { "" };
        Cell { text: format!("{text} ({reads:.1}){halves}"), score: competes.then_some(error) }
    }))
}

/// Returns for each table what the default of lao_learn reached, and the best other package with its name.
fn beside_the_best<'a>(
    results: &'a Results,
) -> anyhow::Result<Vec<(&'a String, Bought, &'a String, Bought)>> {
    let (own, others): (Vec<&String>, Vec<&String>) =
        results.learners.iter().partition(|learner| learner.starts_with("lao_learn"));
    let first = own.first().context("the record has no learner of lao_learn")?;
    let of = |table: &'a String| {
        let mut all: Vec<(&String, Bought)> =
            others.iter().filter_map(|learner| Some((*learner, results.bought(learner, table)?))).collect();
        all.retain(|(_, bought)| bought.competes);
        let (name, best) = all.into_iter().min_by(|a, b| a.1.error.total_cmp(&b.1.error))?;
        Some((table, results.bought(first, table)?, name, best))
    };
    Ok(results.tables.iter().filter_map(of).collect())
}

/// Returns the default of lao_learn beside the best other package, table by table.
///
/// # Errors
/// When the record is malformed.
pub fn purchases_in_short() -> anyhow::Result<String> {
    let mut text = String::from("| table | lao_learn | columns | best other package | columns | |\n");
    text += "|---|---:|---:|---:|---:|---|\n";
    for (table, own, name, best) in beside_the_best(&Results::of_purchases()?)? {
        let bold = |own: f64, other: f64| {
            if own <= other { format!("**{own:.3}**") } else { format!("{own:.3}") }
        };
        let halves = if best.in_halves { IN_HALVES } else { "" };
        text += &format!(
            "| {table} | {} | {:.1} | {} | {:.1} | {name}{halves} |\n",
            bold(own.error, best.error),
            own.reads,
            bold(best.error, own.error),
            best.reads,
        );
    }
    Ok(text)
}

/// Draws the ratios of these errors.
///
/// # Errors
/// When the record is malformed.
pub fn purchases_drawn() -> anyhow::Result<String> {
    let results = Results::of_purchases()?;
    let mut ratios: Vec<(&str, f64)> = (beside_the_best(&results)?.into_iter())
        .map(|(table, own, _, best)| (table.as_str(), own.error / best.error))
        .collect();
    // The largest first, which is the lowest.
    ratios.sort_by(|a, b| b.1.total_cmp(&a.1));
    let label = "error of lao_learn / error of the best other package that spends the same";
    Ok(lao_figures::standalone(&lao_figures::bars("Errors at equal purchases", label, &ratios)?))
}

/// Returns the table of times at full information.
///
/// # Errors
/// When the record is malformed.
pub fn full_information() -> anyhow::Result<String> {
    let results = Results::parse(FULL_INFORMATION)?;
    Ok(results.markdown(|learner, table| {
        let reached = results.values(learner, table, "reached");
        let times: Vec<f64> = results.values(learner, table, "seconds").into_values().collect();
        let runs = results.record.size.repetitions;
        if reached.is_empty() {
            let failed = results.failures().contains_key(format!("{learner} on {table}").as_str());
            return Cell { text: if failed { "failed".into() } else { "–".into() }, score: None };
        }
        let [least, most] = [f64::min, f64::max].map(|of| times.iter().copied().reduce(of));
        let (Some(middle), Some(least), Some(most)) = (median(times.clone()), least, most) else {
            let f1 = results.median(learner, table, "support F1").unwrap_or(f64::NAN);
            return Cell { text: format!("not reached, F1 {f1:.2}"), score: None };
        };
        let all = times.len() as u64 == runs;
        let some = if all { String::new() } else { format!(", {} of {runs}", times.len()) };
        let [middle_text, least, most] = [middle, least, most].map(three_digits);
        Cell { text: format!("{middle_text} ({least} to {most}{some})"), score: all.then_some(middle) }
    }))
}

/// Returns the table of bytes, times and errors for tables on disk.
///
/// # Errors
/// When the record is malformed.
pub fn disk() -> anyhow::Result<String> {
    let results = Results::parse(DISK)?;
    Ok(results.markdown(|learner, table| {
        let median = |metric| results.median(learner, table, metric);
        let (Some(share), Some(seconds)) = (median("share of the file read"), median("seconds")) else {
            return Cell { text: "failed".into(), score: None };
        };
        let [share, time] = [100.0 * share, seconds].map(three_digits);
        let error = match (median("excess risk"), median("relative test error")) {
            (Some(excess), _) => format!("excess risk {excess:.1e}"),
            (None, error) => format!("error {:.3}", error.unwrap_or(f64::NAN)),
        };
        Cell { text: format!("{share} % in {time} s, {error}"), score: Some(seconds) }
    }))
}

/// Draws the bytes that were read against the error.
///
/// # Errors
/// When the record is malformed.
pub fn disk_drawn() -> anyhow::Result<String> {
    let results = Results::parse(DISK)?;
    let points = |learner: &String| -> Vec<[f64; 2]> {
        let of = |table: &String| {
            let median = |metric| results.median(learner, table, metric);
            Some([median("share of the file read")?, median("excess risk")?])
        };
        results.tables.iter().filter_map(of).collect()
    };
    // What is learned from a download is what is learned from the file.
    let learners = results.learners.iter().enumerate();
    let is_new = |(place, learner): &(usize, &String)| {
        results.learners[..*place].iter().all(|other| points(other) != points(learner))
    };
    let drawn = learners.filter(is_new).map(|(_, learner)| Series::points(learner, points(learner)));
    let has_excess = |table: &&String| {
        results.learners.iter().any(|one| results.median(one, table, "excess risk").is_some())
    };
    let tables: Vec<&str> = results.tables.iter().filter(has_excess).map(String::as_str).collect();
    let figure = Figure {
        caption: format!("Tables of {}.", tables.join(" and of ")),
        x: Axis::log("part of the file that is read"),
        y: Axis::log("excess risk"),
        series: drawn.collect(),
    };
    Ok(lao_figures::standalone(&lao_figures::draw(&figure)?))
}

/// Returns a positive number with three significant digits.
fn three_digits(value: f64) -> String {
    let digits = (2.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some((values[low] + values[high]) / 2.0)
}

/// Returns a paragraph in lines of at most 110 columns.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 110 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rows: &[(&str, &str, u64, Option<f64>)]) -> Results {
        let row = |(learner, metric, repetition, value): &(&str, &str, u64, Option<f64>)| {
            let error = (*metric == "error").then_some("absent | gone");
            serde_json::json!({
                "learner": learner, "metric": metric, "repetition": repetition, "value": value,
                "error": error,
            })
        };
        let rows: Vec<_> = rows.iter().map(row).collect();
        let text = serde_json::json!({
            "scenario": "peers", "tier": "quick", "seed": 1, "size": {"repetitions": 2},
            "provenance": {"processor": "abacus"}, "software": ["Python"], "rows": rows,
        });
        Results::parse(&text.to_string()).unwrap()
    }

    #[test]
    fn the_best_of_a_column_is_bold_and_a_failure_has_its_reason() {
        let results = record(&[
            ("a on x", "seconds", 0, Some(1.0)),
            ("a on x", "seconds", 1, Some(4.0)),
            ("b on x", "seconds", 0, Some(2.0)),
            ("b on x", "seconds", 1, None),
            ("c on x", "error", 0, None),
        ]);
        let text = results.markdown(|learner, table| {
            let middle = results.median(learner, table, "seconds");
            Cell { text: middle.map_or_else(|| "failed".into(), |x| x.to_string()), score: middle }
        });
        assert!(text.starts_with("| learner | x |\n|---|---:|\n| a | 2.5 |\n| b | **2** |\n"), "{text}");
        assert!(text.contains("\n- c on x, 1 of 2 runs: absent / gone\n"), "{text}");
        assert!(text.contains("seed 1`, on abacus, with Python."), "{text}");
    }

    #[test]
    fn a_record_that_is_none_is_refused() {
        assert!(Results::parse("[]").is_err());
        assert!(Results::parse("{}").is_err());
    }

    #[test]
    fn numbers_have_three_digits() {
        let numbers = [0.001_234, 0.1, 12.34, 123.4, 1234.0].map(three_digits);
        assert_eq!(numbers, ["0.00123", "0.100", "12.3", "123", "1234"]);
        assert_eq!([median(vec![]), median(vec![3.0, 1.0, 2.0])], [None, Some(2.0)]);
    }

    #[test]
    fn the_recorded_runs_make_tables() {
        for text in [purchases().unwrap(), full_information().unwrap()] {
            assert!(text.contains("| lao_learn, ") && text.contains("--tier quick"), "{text}");
            assert!(text.lines().all(|line| line.starts_with('|') || line.chars().count() <= 110));
        }
    }
}
