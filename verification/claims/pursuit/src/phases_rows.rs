//! How many rows are complete: all after the search.

use crate::setup::phased::{BUDGET, Contest, DIM, Truth};
use lao_algorithms::phases::{PhasesParams, Shape};
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::{Budget, Session, SessionLimit};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::Metered;
use lao_verification_engine::judge::PropertyTally;

/// The part of the examples for the search, and what its last block may add.
const SEARCH: f64 = 0.4;
const BLOCK: f64 = 20.0;
const ROWS: [usize; 4] = [200, 500, 1000, 3000];

const FAULTS: [Fault<Contest>; 1] = [Fault::refuted(
    "never_trees",
    "Pursuit goes on to its end, and looks at other attributes all the time",
    Contest::NeverTrees,
)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let contest = cx.arm(Contest::Sound, &FAULTS);
    let shape = if contest == Contest::Sound { Shape::Trees } else { Shape::Line };
    let runs = cx.size("runs")?;
    cx.split(ROWS.len());
    for rows in ROWS {
        let lacking = cx.all_trials(&format!("{rows}"), runs, |trial| {
            let source = Metered::new(Truth::Product.examples(rows, rows, &trial.seed.child("data"))?);
            let pursuit = PursuitParams::within(DIM, BUDGET);
            let mut learner = PhasesParams { pursuit, examples: Some(rows as u64), shape }.build()?;
            let mut session =
                Session::new(source, Budget::PerExample(BUDGET), &trial.seed.child("algorithm"));
            session.run(&mut learner, SessionLimit::after_examples(rows as u64), |_, _| {})?;
            let source = session.into_source();
            // Without complete rows, those of the last row count as wanted.
            let last = source.attributes_of_examples().last().unwrap_or_default();
            let complete =
                if learner.bought_complete().is_empty() { last } else { learner.bought_complete().to_vec() };
            let has = |seen: &Vec<u32>| complete.iter().all(|j| seen.contains(j));
            let found = source.attributes_of_examples().filter(has).count();
            Ok(rows as f64 - found as f64)
        })?;
        let mut tally = PropertyTally::new();
        for lacking in lacking {
            tally.check(lacking, SEARCH * rows as f64 + BLOCK);
        }
        cx.judge(&format!("{rows} examples: rows that are not complete"), tally.finish());
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-phases-rows",
    place: "Phases: complete rows",
    sentence: "Of N examples all are complete on the attributes that a predictor with trees may have, except \
               the .4 N of the search and the rest of its last block.",
    formula: r"\#\{i : W \subseteq J_i\} \ge N - 0.4\,N - 20",
    design: "d = 30, s' = 8, a product of two attributes; 200 to 3,000 examples. A meter below the session \
             notes which attributes of which example are read.",
    standing: Standing::ours().practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
