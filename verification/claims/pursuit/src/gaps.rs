//! Values that are missing.
//!
//! *Why.* A sum rests on the examples in which its factors were observed. If values are missing at random,
//! such sums are means of the right quantities, of fewer examples; so the level holds, intervals cover, and
//! what has an effect is found. The bounds were set before the first run. A learner that counts every example
//! as if it had been observed in full, with the mean in the place of a gap, has coefficients that are wrong
//! where attributes are correlated.

use crate::setup::faulty::{Deaf, echo};
use crate::setup::{Gappy, LEARNS_A_64TH, Law, REPEATS, Scene, adds};
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::{Budget, Learner as _, Session, SessionLimit, Source};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Trial};

const LEVEL: f64 = 0.05;
/// Examples of a run in which nothing has an effect.
const WITHOUT_EFFECT: u64 = 1500;
/// The half-width of an interval of 99 %, in standard errors.
const HALF_WIDTH: f64 = 2.576;

/// The probability that a value of an attribute is missing.
type Missing = fn(u32) -> f64;

/// The shares of values that are missing, and the examples of a run whose coefficients are judged: of nine
/// tenths missing, a pair of attributes is left in one example of a hundred.
const GAPS: [(&str, Missing, u64); 4] = [
    ("5 % missing", |_| 0.05, 4000),
    ("30 % missing", |_| 0.3, 4000),
    ("0 to 90 % missing, by attribute", |j| [0.0, 0.3, 0.05, 0.6, 0.9, 0.1][j as usize % 6], 40_000),
    ("90 % missing", |_| 0.9, 200_000),
];

const FULL_COUNT: Mutant =
    Mutant::refuted("full_count", "a gap is told as the mean, and counts as if it had been observed");

const LEAKS: Mutant =
    Mutant::refuted("labels_leak_an_attribute", "the label is that of an attribute and a tenth of noise");

/// What a run has found: whether all attributes with an effect, and whether an interval misses its
/// coefficient.
struct Found {
    all: bool,
    misses: bool,
}

fn run(
    (missing, examples): (Missing, u64),
    (filled, deaf): (bool, bool),
    trial: &Trial,
) -> anyhow::Result<Found> {
    // All six attributes are observed, and correlated, so that each coefficient depends on the others.
    let scene = Scene { law: Law::Chain(0.7), dim: 6, star: 3, noise: 1.0 };
    let truth = scene.examples(&trial.seed)?;
    let source = Gappy::new(scene.examples(&trial.seed)?, missing, filled, &trial.seed);
    let learner = PursuitParams::within(6, 6).build()?;
    let mut learner = Deaf::after(if deaf { examples / 64 } else { examples }, learner);
    let mut session = Session::new(source, Budget::PerExample(6), &trial.seed.child("algorithm"));
    session.run(&mut learner, SessionLimit::after_examples(examples), |_, _| {})?;
    let learner = learner.into_inner();
    let (mut all, mut misses) = (true, false);
    for (j, b) in truth.theta_star().iter() {
        all &= learner.support().contains(&j);
        if let Some(known) = learner.evidence(j).filter(|known| known.in_support()) {
            misses |= (known.coefficient - b).abs() > HALF_WIDTH * known.standard_error;
        }
    }
    debug_assert_eq!(learner.dim(), 6);
    Ok(Found { all, misses })
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let most = cx.size("most")?;
    let (filled, repeats) = (cx.commits(&FULL_COUNT), cx.commits(&REPEATS));
    let (deaf, leaks) = (cx.commits(&LEARNS_A_64TH), cx.commits(&LEAKS));
    let judged = if cx.size("all_cells")? > 0 { &GAPS[..] } else { &GAPS[..3] };
    cx.split(2 * judged.len() + GAPS.len());
    // A fault is tried where it acts.
    let judged = if repeats || leaks { &[] } else { judged };
    for &(name, missing, examples) in judged {
        cx.prob(&format!("{name}: an interval misses"), 0.1, most, |trial| {
            let Found { all, misses } = run((missing, examples), (filled, deaf), trial)?;
            // Where an attribute is not found, the others have other coefficients.
            Ok(!(all && misses))
        })?;
        cx.settled()?;
        cx.prob(&format!("{name}: an attribute is not found"), 0.1, most, |trial| {
            Ok(run((missing, examples), (filled, deaf), trial)?.all)
        })?;
        cx.settled()?;
    }
    for (name, missing, _) in GAPS.into_iter().filter(|_| !filled && !deaf) {
        cx.prob(&format!("{name}: an attribute without effect is added"), LEVEL, most, |trial| {
            let (star, noise) = if leaks { (1, 0.1) } else { (0, 1.0) };
            let scene = Scene { law: Law::Chain(0.8), dim: 60, star, noise };
            let source = Gappy::new(scene.examples(&trial.seed)?, missing, false, &trial.seed);
            let source: Box<dyn Source> =
                if repeats { Box::new(Twice(echo(source))) } else { Box::new(source) };
            Ok(!adds(source, PursuitParams::within(60, 12), WITHOUT_EFFECT, &trial.seed)?)
        })?;
        cx.settled()?;
    }
    Ok(())
}

/// Examples with gaps, each of them twice.
struct Twice<S>(S);

impl<S: Source> Source for Twice<S> {
    lao_verification_engine::hand_on!(0: dim observe position seek);

    fn has_gaps(&self) -> bool {
        true
    }
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-gaps",
    place: "Missing values",
    sentence: "Where values are missing at random, 5, 30 or 90 % of them or other shares of each attribute, \
               Pursuit adds an attribute without effect with probability at most .05; its intervals of 99 % \
               miss a coefficient of three correlated attributes in at most a tenth of the runs; and it \
               finds all three in nine runs of ten: from 4,000 examples with up to 30 % missing, and from \
               200,000 with 90 %.",
    formula: r"P(\exists t: S_t \ne \emptyset) \le 0.05, \qquad P(\exists j \in S_*: |\beta_j - \beta^*_j| >
               2.58\, s_j) \le 0.1, \qquad P(S_* \not\subseteq S_n) \le 0.1",
    design: "Level: d = 60, s' = 12, a normal chain of correlation .8, 1,500 examples. Coefficients: d = \
             s' = 6, a chain of correlation .7, three coefficients of 1 or -1 in noise of variance 1. What \
             is observed of an attribute does not depend on anything. Three intervals of 99 % miss in 3 % of \
             the runs; the bound leaves room for the errors of predictions that lack a value. With 90 % \
             missing, coefficients are judged in the full tier.",
    standing: Standing::ours().practical(),
    mutants: &[FULL_COUNT, LEARNS_A_64TH, LEAKS, REPEATS],
    experiment,
};
