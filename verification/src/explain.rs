//! The explanation of one claim as text.

use crate::claim::{Claim, Expected, Must, Regime, StatementForm};
use crate::comparison::{found_in_new_draws, rate_level};
use crate::errata;
use crate::judge::compare::RateScale;
use crate::plan::{Plan, RunTier};
use crate::record::RunRecord;
use crate::verdict::CellVerdict;
use lao_figures::{number, p_value};
use std::fmt::Write as _;
use std::path::Path;

/// Returns an explanation of a claim: its statement, place, design, sizes per tier, level, detectable
/// effects, mutants, expected verdict, errata, and its last result if `out/evidence.json` has one.
pub fn explain(claim: &Claim, plan: &Plan, tier: RunTier, out: &Path) -> String {
    let mut text = format!("{}\n{}\n\n", claim.id, "=".repeat(claim.id.len()));
    paragraph(&mut text, claim.sentence);
    let _ = writeln!(text, "place      {} ({})", claim.place, form(claim.standing.form));
    // Long formulas are broken over several lines in the source.
    let formula: Vec<&str> = claim.formula.split_whitespace().collect();
    let _ = writeln!(text, "formula    {}", formula.join(" "));
    let _ = writeln!(text, "constants  {}", regime(claim.standing.regime));
    let _ = writeln!(text, "expected   {}\n", expected(claim.standing.expected));
    text += "Design\n";
    paragraph(&mut text, claim.design);
    sizes(&mut text, claim, plan, tier);
    let _ = writeln!(text, "Mutants ({})", claim.mutants.len());
    for mutant in claim.mutants {
        let must = match mutant.must {
            Must::BeRefuted => "must be REFUTED",
            Must::StayUndecided => "a tie: must be UNDECIDED",
            Must::Hold => "control: must be SUPPORTED",
        };
        let _ = writeln!(text, "  {}: {} ({must})", mutant.name, mutant.fault);
    }
    if !claim.standing.errata.is_empty() {
        text += "\nErrata\n";
    }
    for erratum in errata::of(claim) {
        let _ = writeln!(text, "  {}-E{}, {}", erratum.paper, erratum.number, erratum.place);
        let _ = writeln!(text, "    printed    {}\n    corrected  {}", erratum.printed, erratum.corrected);
    }
    last_result(&mut text, claim, out);
    text
}

/// Appends the sizes, the level, and the effect that a size can detect at that level.
fn sizes(text: &mut String, claim: &Claim, plan: &Plan, tier: RunTier) {
    let alpha = plan.suite.alpha / plan.suite.family as f64;
    let _ = writeln!(
        text,
        "Level\n  {} = {} / {}: family-wise level over the claims planned, per family (refuted, holds)\n",
        p_value(alpha),
        plan.suite.alpha,
        plan.suite.family
    );
    let (quick, full) = (plan.sizes(claim.id, RunTier::Quick), plan.sizes(claim.id, RunTier::Full));
    if quick.iter().next().is_some() {
        let _ =
            writeln!(text, "Sizes{:>25}{:>12}{:>16}   (this run: {tier})", "quick", "full", "mutants first");
        let of_mutants = full.of_mutants().unwrap_or_else(|| full.clone());
        for (key, size) in quick.iter() {
            let all = full.get(key).unwrap_or(size);
            let first = of_mutants.get(key).filter(|first| *first != all).map(|first| first.to_string());
            let first = first.unwrap_or_default();
            let _ = writeln!(text, "  {key:<16}{size:>12}{all:>12}{first:>16}");
        }
        text.push('\n');
    }
    let chosen = plan.sizes(claim.id, tier);
    if let Some(trials) =
        chosen.get("trials").filter(|n| *n > 0 && claim.standing.regime != Regime::Deterministic)
    {
        // If (1 - p)^n <= alpha, then n trials without a failure rule out failure probabilities above p.
        let excluded = -(alpha.ln() / trials as f64).exp_m1();
        let _ = writeln!(
            text,
            "Detectable\n  {trials} trials: a fault that makes a trial fail with probability p is seen at \
             least once with\n  probability 0.99 if p >= {}; no failure at all rules out p > {}.\n  The \
             settings of the last result below say more.\n",
            number(-(0.01f64.ln() / trials as f64).exp_m1()),
            number(excluded),
        );
    }
}

fn last_result(text: &mut String, claim: &Claim, out: &Path) {
    let file = out.join("evidence.json");
    let record =
        std::fs::read_to_string(&file).ok().and_then(|json| serde_json::from_str::<RunRecord>(&json).ok());
    let found = record.as_ref().and_then(|record| record.claims.iter().find(|one| one.id == claim.id));
    let (Some(record), Some(found)) = (&record, found) else {
        let _ = writeln!(text, "\nLast result\n  none in {}", file.display());
        return;
    };
    let noticed = found.mutants.iter().filter(|mutant| mutant.noticed).count();
    let _ = writeln!(
        text,
        "\nLast result (tier {}, seed {})\n  {}; {noticed} of {} mutants noticed; p if it holds {}, if it \
         fails {}",
        record.run.tier,
        record.run.seed,
        found.verdict,
        found.mutants.len(),
        p_value(found.evidence.p_refute),
        p_value(found.evidence.p_support),
    );
    if let Some(why) = found.honest.error.as_ref().or(found.honest.not_run.as_ref()) {
        let _ = writeln!(text, "  {why}");
    }
    for (cell, judged) in found.honest.cells.iter().zip(&found.cells) {
        let finding = &cell.finding;
        let _ = write!(
            text,
            "  {}: {} trials, found {}, allowed {}",
            cell.name,
            finding.n_trials,
            number(finding.estimate),
            number(finding.bound)
        );
        if let Some(effect) = finding.detectable_effect {
            let _ = write!(text, ", detects a violation of {} with power 0.99", number(effect));
        }
        let _ = write!(text, "; {}", judged.said);
        match (&judged.refutes[..], &judged.beyond) {
            ([], None) if judged.said != CellVerdict::Refuted => text.push_str(", no mutant refutes it"),
            ([], None) => {}
            ([], Some(why)) => {
                let _ = write!(text, ", beyond mutants: {why}");
            }
            (mutants, _) => {
                let _ = write!(text, ", refutes {}", mutants.join(", "));
            }
        }
        if judged.loose {
            text.push_str(", loosely: the bound is more than ten times what was found");
        }
        if !judged.passed_by.is_empty() {
            let _ = write!(text, ", passed by {}", judged.passed_by.join(", "));
            if let Some(why) = &judged.passable {
                let _ = write!(text, ": {why}");
            }
        }
        text.push('\n');
    }
    let level = rate_level(record);
    for rate in &found.honest.rates {
        let scale = RateScale::of(&rate.name);
        let finds = found_in_new_draws(&rate.name, &rate.replicates, level);
        let finds = finds.map_or_else(
            || "cannot be compared".into(),
            |found| {
                let compared =
                    if found <= scale.worsening() { "" } else { ", so it is compared in equal draws only" };
                format!("{} worse is found in new draws with power 0.99{compared}", scale.words(found))
            },
        );
        let _ = writeln!(text, "  tracked, {}: {} replicates, {finds}", rate.name, rate.replicates.len());
    }
    for difference in &found.unpredicted {
        let _ = writeln!(text, "  not as predicted: {difference}");
    }
}

fn form(form: StatementForm) -> &'static str {
    match form {
        StatementForm::Printed => "as printed",
        StatementForm::Corrected => "corrected",
        StatementForm::Sound => "as printed, and sound",
        StatementForm::Reading => "our reading of a print that leaves something open",
        StatementForm::Ours => "a statement of this project",
    }
}

fn regime(regime: Regime) -> &'static str {
    match regime {
        Regime::Deterministic => "none: deterministic",
        Regime::Literal => "exactly the theorem's",
        Regime::Practical => "practical",
    }
}

fn expected(expected: Expected) -> String {
    match expected {
        Expected::Holds => "HOLDS".into(),
        Expected::Refuted => "REFUTED".into(),
        Expected::Vacuous => "VACUOUS".into(),
        Expected::NotRun(why) => format!("NOT-RUN: {why}"),
    }
}

/// Appends `words`, wrapped at 100 columns, and an empty line.
fn paragraph(text: &mut String, words: &str) {
    let mut width = 0;
    for word in words.split_whitespace() {
        if width > 0 && width + 1 + word.chars().count() > 100 {
            text.push('\n');
            width = 0;
        }
        if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += word.chars().count();
    }
    text.push_str("\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn an_explanation_names_statement_mutants_and_level() {
        let plan = Plan::built_in().unwrap();
        for claim in crate::papers::all() {
            let text = explain(claim, &plan, RunTier::Quick, &PathBuf::from("nowhere"));
            assert!(
                text.contains(claim.id) && text.contains(claim.place) && text.contains("8.0e-6"),
                "{text}"
            );
            assert!(claim.mutants.iter().all(|mutant| text.contains(mutant.name)));
        }
    }
}
