//! What a contest costs where the truth is a line.
//!
//! *Why.* The rows of the contest have the support complete, as all rows of Pursuit have; only other
//! attributes are looked at less often. Once the support is found, Pursuit is least squares on it from the
//! same rows.

use crate::setup::phased::{CONTESTS, Contest};
use crate::setup::{Law, Point, Scene, follow};
use lao_algorithms::Inspect as _;
use lao_algorithms::phases::Phases;
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::{Learner as _, Row, Seed, SessionLimit, Source as _};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;

const DIM: usize = 60;
const BUDGET: usize = 12;
const EXAMPLES: u64 = 4000;
/// Fresh rows by which a predictor with trees is judged, which has no exact excess risk.
const FRESH: usize = 500;
/// How many times the excess risk of Pursuit is allowed.
const ALLOWED: f64 = 1.03;
/// The probability of a larger one.
const WRONG: f64 = 0.1;

const LAWS: [(&str, Law); 2] = [("independent", Law::Independent), ("chain .5", Law::Chain(0.5))];
const FAULTS: [Fault<Contest>; 1] = {
    let [_, always_trees, _] = CONTESTS;
    [always_trees]
};

fn excess(learner: &Phases, scene: &Scene, seed: &Seed) -> anyhow::Result<f64> {
    let truth = scene.examples(seed)?;
    if learner.trees().is_none() {
        return Ok(Point::of(learner, None, &truth).excess());
    }
    let attributes: Vec<u32> = (0..DIM as u32).collect();
    let mut fresh = scene.examples(seed)?;
    fresh.seek(EXAMPLES)?;
    let mut block = lao_observation::BlockBuf::new();
    block.reset(DIM, FRESH);
    fresh.observe(&attributes, &mut block)?;
    let view = block.view(&attributes);
    let of = |row: usize| {
        let x: Vec<f64> = (0..DIM).map(|c| view.column(c)[row]).collect();
        let seen = Row { attributes: &attributes, values: &x };
        (learner.apply(seen) - seen.dot(truth.theta_star())).powi(2)
    };
    Ok((0..view.rows()).map(of).sum::<f64>() / view.rows() as f64)
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let most = cx.size("most")?;
    let contest = cx.arm(Contest::Sound, &FAULTS);
    cx.split(LAWS.len());
    for (name, law) in LAWS {
        let scene = Scene { law, dim: DIM, star: 5, noise: 1.0 };
        let cell = format!("{name}: excess risk above {ALLOWED} times that of Pursuit");
        cx.prob(&cell, WRONG, most, |trial| {
            let params = PursuitParams::within(DIM, BUDGET);
            let source = scene.examples(&trial.seed)?;
            let (mut learner, mut session) =
                contest.session(source, params.clone(), EXAMPLES as usize, &trial.seed)?;
            session.run(&mut learner, SessionLimit::after_examples(EXAMPLES), |_, _| {})?;
            let (truth, source) = (scene.examples(&trial.seed)?, scene.examples(&trial.seed)?);
            let plain = follow(source, &mut params.build()?, BUDGET, (&truth, &[EXAMPLES]), &trial.seed)?;
            Ok(excess(&learner, &scene, &trial.seed)? <= ALLOWED * plain[0].excess())
        })?;
        cx.settled()?;
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-phases-no-harm",
    place: "Phases: cost on a line",
    sentence: "Where the truth is a line, the excess risk after 4,000 examples is at most 1.03 times that of \
               Pursuit with probability at least .9.",
    formula: r"P\bigl(R(\theta) > 1.03\,R(\theta_{\mathrm{Pursuit}})\bigr) \le 0.1",
    design: "d = 60, s' = 12; five coefficients of 1 and -1, noise of variance 1; independent normal \
             attributes and a chain in which neighbors have correlation .5. Both learn from the same \
             examples. The excess risk is exact for a line, and from 500 fresh examples for trees.",
    standing: Standing::ours().practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
