//! The budget in all phases, in attributes and in money, and the size of the predictor.
//!
//! *Why.* The attributes that are bought complete are those of the support and others that a basket within
//! the budget takes; columns are dropped until a predictor may have, and may pay, the rest.

use crate::budget::Greedy;
use crate::setup::phased::{DIM, Truth};
use lao_algorithms::Money;
use lao_algorithms::phases::{PhasesParams, Shape};
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::{Basket, Budget, Learner as _, Session, SessionLimit, Tariff};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::Metered;
use lao_verification_engine::judge::PropertyTally;
use rand::RngExt as _;

const TRUTHS: [Truth; 4] = [Truth::Product, Truth::ManyEffects, Truth::Line, Truth::Curves];

const ASKS_FOR_ONE_MORE: Mutant =
    Mutant::refuted("asks_for_one_more", "one attribute more is asked for, of every example");
const PREDICTS_FROM_ALL: Mutant =
    Mutant::refuted("predicts_from_all", "the predictor has all attributes that were bought complete");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (asks, predicts) = (cx.commits(&ASKS_FOR_ONE_MORE), cx.commits(&PREDICTS_FROM_ALL));
    let outcomes = cx.all_trials("purchases", cx.size("purchases")?, |trial| {
        let mut rng = trial.seed.child("shape").rng();
        let truth = TRUTHS[trial.number as usize % TRUTHS.len()];
        let shape = if trial.number % 3 == 0 { Shape::Auto } else { Shape::Trees };
        let rows = rng.random_range(140..900);
        let budget = rng.random_range(3..DIM);
        let mut pursuit = PursuitParams::within(DIM, budget);
        // Half of the runs have prices; panels are of three neighbors.
        if rng.random() {
            let prices: Vec<f64> = (0..10).map(|_| f64::from(rng.random_range(0..4u8))).collect();
            let panels = (0..DIM as u32).map(|j| j / 3).collect();
            let most = rng.random_range(4.0..12.0);
            pursuit = PursuitParams::within_money(Money::new(Tariff::with_panels(panels, prices)?, most));
        }
        let longest = rng.random_range(1..=pursuit.largest_support());
        pursuit.longest = Some(longest);
        let money = pursuit.money.clone();
        let (most_of_prediction, most) = (pursuit.most_per_prediction(), pursuit.budget);
        // It stops anywhere.
        let stop = rng.random_range(1..=rows) as u64;
        let learner = PhasesParams { pursuit, examples: Some(rows as u64), shape }.build()?;
        let shown = if predicts { longest + 1 } else { 0 };
        let mut learner = Greedy::new(learner, asks, shown);
        let source = Metered::new(truth.examples(rows, rows, &trial.seed.child("data"))?);
        // Without a limit, so that the session cannot hide a learner that asks for too much.
        let mut session = Session::new(source, Budget::Unlimited, &trial.seed.child("algorithm"));
        let (mut spent, mut basket) = (0.0f64, Basket::default());
        session.run(&mut learner, SessionLimit::after_examples(stop), |_, _| {})?;
        let source = session.into_source();
        for seen in source.attributes_of_examples() {
            let cost = money.as_ref().map_or(0.0, |money| money.tariff.cost(&seen, &mut basket));
            spent = spent.max(cost);
        }
        let support = learner.coefficients().indices();
        let cost = money.as_ref().map_or(0.0, |money| money.tariff.cost(support, &mut basket));
        let seen = source.attributes_per_example().max().unwrap_or(0);
        let per_example = money.as_ref().map_or(0.0, |money| money.per_example);
        let most_of_prediction = if money.is_some() { most_of_prediction } else { 0.0 };
        Ok([
            [f64::from(seen), most as f64],
            [spent, per_example * (1.0 + 1e-9)],
            [support.len() as f64, longest as f64],
            [cost, most_of_prediction * (1.0 + 1e-9)],
        ])
    })?;
    let [mut bought, mut spent, mut predictor, mut cost] = [(); 4].map(|()| PropertyTally::new());
    for [b, s, p, c] in outcomes {
        bought.check(b[0], b[1]);
        spent.check(s[0], s[1]);
        predictor.check(p[0], p[1]);
        cost.check(c[0], c[1]);
    }
    cx.split(4);
    cx.judge("attributes bought of an example", bought.finish());
    cx.judge("money spent on an example", spent.finish());
    cx.judge("attributes of the predictor", predictor.finish());
    cx.judge("money for a prediction", cost.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-phases-budget",
    place: "Phases: budget",
    sentence: "In no phase is more bought of an example than the budget allows, in attributes or in money, \
               and the predictor has no more attributes, and costs no more, than a predictor may.",
    formula: r"|J_i| \le s', \quad c(J_i) \le B, \qquad \|\theta\|_0 \le s, \quad
               c(\operatorname{supp} \theta) \le B_{\mathrm{prediction}}",
    design: "d = 30; random budgets, prices in half of the runs (ten panels of three attributes, which cost \
             0 to 3), limits of the predictor, numbers of examples, and ends of the run; a product, curves, \
             and lines of few and of many effects. A meter below the session notes which attributes of which \
             example are read.",
    standing: Standing::ours().practical(),
    mutants: &[ASKS_FOR_ONE_MORE, PREDICTS_FROM_ALL],
    experiment,
};
