//! The data choose trees where they help, and a line where it is the truth.
//!
//! *Why.* Trees must be better by three standard errors of a paired difference, or by two where as many rows
//! again were bought: rows on which neither was learned. Without an effect, a mean of three hundred or more
//! differences exceeds these with probability .0013 and .023 at most, and where the truth is a line trees are
//! worse.

use crate::setup::phased::{BUDGET, CONTESTS, Contest, DIM, OF_CONTEST, Truth};
use lao_algorithms::phases::Chosen;
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::Step;
use lao_verification_engine::claim::{Claim, Standing};
use lao_verification_engine::context::Context;

/// What is claimed of a truth: whether trees are right, from so many examples, and the probability of a wrong
/// end.
const CELLS: [(&str, Truth, bool, usize, f64); 4] = [
    ("a product", Truth::Product, true, 2500, 0.1),
    ("curves", Truth::Curves, true, 3000, 0.1),
    ("a line", Truth::Line, false, 1500, 0.05),
    ("many effects", Truth::ManyEffects, false, 1500, 0.05),
];

/// The cells of the quick tier: one where trees are right, and one where they are wrong.
const IN_QUICK_TIER: [Truth; 2] = [Truth::Product, Truth::Line];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (most, all) = (cx.size("most")?, cx.size("all_cells")? > 0);
    let contest = cx.arm(Contest::Sound, &CONTESTS);
    let cells = CELLS.into_iter().filter(|(_, truth, ..)| all || IN_QUICK_TIER.contains(truth));
    cx.split(cells.clone().count());
    for (name, truth, trees_are_right, rows, wrong) in cells {
        if contest == Contest::RowsAgain && trees_are_right {
            // Rows that come again speak for trees.
            continue;
        }
        let cell = format!("{name}, {rows} examples: the wrong end");
        cx.prob(&cell, wrong, most, |trial| {
            let different = match contest {
                // Without a contest the end is known.
                Contest::AlwaysTrees => return Ok(trees_are_right),
                Contest::NeverTrees => return Ok(!trees_are_right),
                Contest::RowsAgain => rows / 20,
                Contest::Sound => rows,
            };
            let source = truth.examples(rows, different, &trial.seed.child("data"))?;
            let params = PursuitParams::within(DIM, BUDGET);
            let (mut learner, mut session) = contest.session(source, params, rows, &trial.seed)?;
            while learner.decision().is_none() && session.step(&mut learner, rows as u64)? == Step::Served {}
            let trees = learner.decision().is_some_and(|decision| decision.chosen == Chosen::Trees);
            Ok(trees == trees_are_right)
        })?;
        cx.settled()?;
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-phases-decision",
    place: "Phases: decision",
    sentence: "Where the truth is a line of few or of many effects, trees are chosen with probability at \
               most .05; where two attributes with effects have a product as well, or the effects of four \
               attributes are curves, trees are chosen with probability at least .9 from 2,500 and 3,000 \
               examples.",
    formula: r"P(\text{trees} \mid \text{line}) \le 0.05, \qquad P(\text{trees} \mid
               \text{product, curves}) \ge 0.9",
    design: "d = 30 independent normal attributes, s' = 8, noise of variance 1. The line has effects 1, -1 \
             and .5, the other one 30 effects of .15. The product is 2 x_3 x_7 beside x_3 + x_7; the curves \
             are a sine, a square, a step and a line. The quick tier has the product and the line.",
    standing: Standing::ours().practical(),
    mutants: &OF_CONTEST,
    experiment,
};
