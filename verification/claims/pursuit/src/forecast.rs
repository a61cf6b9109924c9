//! The forecast of evidence, held against the runs that follow.
//!
//! *Statement.* What [`Evidence::until_added`](lao_algorithms::pursuit::Evidence) says of an attribute that
//! has an effect, a look at the search under way, is right within a factor of 2 in the median.
//!
//! *Why it is no more.* The forecast takes the evidence so far for the effect, and evidence is noisy: of a
//! `z` of 3 the number of examples that are needed for a given square is uncertain by a factor of 2 or so in
//! either direction. And attributes are added one after the other, which removes noise from the others.

use crate::setup::{Law, Scene};
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::{Budget, Session, SessionLimit};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::judge::prob;

const DIM: usize = 60;
const BUDGET: usize = 12;
const STAR: usize = 5;
/// The number of examples after which forecasts are looked at, and how long is waited for them.
const LOOK: u64 = 150;
const WAIT: u64 = 8;
const LAWS: [(&str, Law); 2] =
    [("independent", Law::Independent), ("chain of correlation .5", Law::Chain(0.5))];

/// What a forecast is multiplied with.
const FAULTS: [Fault<f64>; 2] = [
    Fault::refuted("a_quarter", "forecasts a quarter of the examples", 0.25),
    Fault::refuted("four_times", "forecasts four times the examples", 4.0),
];

/// The examples that one attribute with an effect needed over those that were forecast, of the attributes
/// that are outside the support and have a forecast; `None` if there are none. Infinite if it was not added
/// in eight times as many.
fn ratio(trial: &Trial, law: Law) -> anyhow::Result<Option<f64>> {
    let examples = Scene { law, dim: DIM, star: STAR, noise: 2.0 }.examples(&trial.seed)?;
    let target = examples.theta_star().indices().to_vec();
    let mut learner = PursuitParams::within(DIM, BUDGET).build()?;
    let mut session = Session::new(examples, Budget::PerExample(BUDGET), &trial.seed.child("algorithm"));
    session.run(&mut learner, SessionLimit::after_examples(LOOK), |_, _| {})?;
    let outside = target.into_iter().filter(|j| learner.support().binary_search(j).is_err());
    let mut forecasts = outside.filter_map(|j| Some((j, learner.evidence(j)?.until_added?)));
    // The first in the order of the attributes, which is random.
    let Some((j, forecast)) = forecasts.find(|(_, forecast)| *forecast > 0) else { return Ok(None) };
    let looked = session.ledger().examples;
    while session.ledger().examples < looked + WAIT * forecast {
        session.step(&mut learner, looked + WAIT * forecast - session.ledger().examples)?;
        if learner.support().binary_search(&j).is_ok() {
            return Ok(Some((session.ledger().examples - looked) as f64 / forecast as f64));
        }
    }
    Ok(Some(f64::INFINITY))
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (factor, runs) = (cx.arm(1.0, &FAULTS), cx.size("runs")?);
    cx.split(2 * LAWS.len());
    for (name, law) in LAWS {
        let all = cx.shared(name, || cx.all_trials(name, runs, |trial| ratio(trial, law)))?;
        let ratios: Vec<f64> = all.iter().flatten().map(|ratio| ratio / factor).collect();
        let n = ratios.len() as u64;
        let count = |is: &dyn Fn(f64) -> bool| ratios.iter().filter(|ratio| is(**ratio)).count() as u64;
        let late = prob::fixed(0.5, cx.alpha(), count(&|ratio| ratio > 2.0), n);
        cx.judge(&format!("{name}: more than twice the examples of the forecast"), late);
        let early = prob::fixed(0.5, cx.alpha(), count(&|ratio| ratio < 0.5), n);
        cx.judge(&format!("{name}: less than half the examples of the forecast"), early);
        if cx.honest() {
            let mut sorted = ratios.clone();
            sorted.sort_by(f64::total_cmp);
            for (part, what) in [(4, "lower quartile"), (2, "median")] {
                let at = sorted.get(sorted.len() / part).copied().unwrap_or(f64::NAN);
                cx.note(&format!("{name}: examples over forecast, {what}"), at);
            }
        }
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-forecast",
    place: "Evidence, the examples until an attribute is added",
    sentence: "The median of the examples that an attribute with an effect still needs is within a factor of \
               2 of what Pursuit forecasts.",
    formula: r"P(N > 2 \hat N) \le \tfrac12, \qquad P(N < \tfrac12 \hat N) \le \tfrac12",
    design: "d = 60, s' = 12, five coefficients of 1 and -1, noise 2; independent attributes or a chain in \
             which neighbors have correlation .5. After 150 examples one attribute with an effect that is \
             not in the support and has a forecast is waited for, up to eight times its forecast.",
    standing: Standing::ours().practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
