//! What looks that are chosen are worth, beside looks at random.
//!
//! *The rival.* OMP on unbiased moments of random attributes (Chen & Caramanis 2013), which suits values that
//! are missing at random and is near the best that can be done with them. It knows s*; Pursuit does not.
//!
//! *Predicted.* With s' of d attributes at random each example a pair is seen in `(s'/d)^2` of the examples,
//! an attribute in `s'/d` of them. Pursuit looks at what is significant in every example, and at the others
//! where there is most to find. So about `d/s' = 5` times the examples were expected of OMP (a guess, not
//! derived), and at least twice as many are claimed. Both are looked at after 128, 256, 512, ... examples,
//! and the first of these from which on all attributes of S* are in the support counts.

use crate::setup::{Law, Point, Scene, follow_in_views};
use lao_algorithms::Task;
use lao_algorithms::baselines::OmpParams;
use lao_algorithms::pursuit::PursuitParams;
use lao_observation::Learner;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Trial, View};
use lao_verification_engine::judge::FindingKind;
use lao_verification_engine::judge::slope::judge_sample;
use lao_verification_engine::plots;

const DIM: usize = 60;
const BUDGET: usize = 12;
const STAR: usize = 5;
/// Numbers of examples at which the supports are looked at.
const MARKS: [u64; 9] = [128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768];
const LAWS: [(&str, Law); 2] =
    [("independent", Law::Independent), ("chain of correlation .5", Law::Chain(0.5))];

/// What an arm gets wrong.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Exchanged,
    Noisy,
}

const FAULTS: [Fault<Wrong>; 2] = [
    Fault::refuted("exchanged", "calls OMP Pursuit and Pursuit OMP", Wrong::Exchanged),
    Fault::refuted("five_times_the_noise", "Pursuit alone gets labels with more noise", Wrong::Noisy),
];

/// The first mark from which on all attributes with an effect are in the support; twice the last one if there
/// is none.
fn found_from(points: &[Point]) -> f64 {
    let wrong = points.iter().rposition(|point| point.found < STAR);
    let place = wrong.map_or(0, |place| place + 1);
    MARKS.get(place).map_or(2.0 * MARKS[MARKS.len() - 1] as f64, |mark| *mark as f64)
}

/// The marks of a learner in each view.
fn runs(learner: &mut dyn Learner, scene: &Scene, views: &[View], trial: &Trial) -> anyhow::Result<Vec<f64>> {
    let (examples, truth) = (scene.examples(&trial.seed)?, scene.examples(&trial.seed)?);
    let points = follow_in_views(examples, learner, BUDGET, (&truth, &MARKS), views, &trial.seed)?;
    Ok(points.iter().map(|points| found_from(points)).collect())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (wrong, pairs) = (cx.fault(&FAULTS), cx.size("pairs")?);
    cx.split(LAWS.len());
    for (name, law) in LAWS {
        let scene = |noise: f64| Scene { law, dim: DIM, star: STAR, noise };
        let noise = if wrong == Some(Wrong::Noisy) { 5.0 } else { 1.0 };
        let mut pursuit = cx
            .shown_trials(name, pairs, |trial, views| {
                let mut learner = PursuitParams::within(DIM, BUDGET).build()?;
                runs(&mut learner, &scene(noise), views, trial)
            })?
            .to_vec();
        let mut omp = cx
            .shared(&format!("OMP, {name}"), || {
                cx.all_trials(name, pairs, |trial| {
                    let task = Task { dim: DIM, sparsity: STAR, budget: BUDGET, ..Task::default() };
                    let params =
                        OmpParams { predicts: false, examples: None, ..OmpParams::practical(&task)? };
                    Ok(runs(&mut params.build()?, &scene(1.0), &[None], trial)?[0])
                })
            })?
            .to_vec();
        if wrong == Some(Wrong::Exchanged) {
            std::mem::swap(&mut pursuit, &mut omp);
        }
        let logs: Vec<f64> = omp.iter().zip(&pursuit).map(|(omp, pursuit)| (omp / pursuit).ln()).collect();
        let finding = judge_sample(&logs, (2.0_f64.ln(), f64::INFINITY), cx.alpha(), FindingKind::Mean);
        cx.judge(&format!("{name}: log of OMP's examples over Pursuit's, at least that of 2"), finding);
        if cx.honest() {
            cx.figure(plots::spread(
                &format!("Examples until the support is found, {name}, over the pairs."),
                Axis::log("examples"),
                &[("Pursuit", &pursuit), ("OMP", &omp)],
            ));
            let logs = |runs: &[f64]| runs.iter().map(|examples| examples.ln()).collect();
            cx.rate(&format!("log of OMP's examples, {name}"), Direction::Larger, logs(&omp));
            cx.rate(&format!("log of Pursuit's examples, {name}"), Direction::Larger, logs(&pursuit));
        }
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-chosen-looks",
    place: "Chosen looks",
    sentence: "To find five attributes of 60 by twelve looks an example, a method that looks at random needs \
               at least twice the examples of Pursuit, although it knows that there are five.",
    formula: r"\mathbb{E} \ln \frac{N_{\mathrm{OMP}}}{N_{\mathrm{Pursuit}}} \ge \ln 2",
    design: "Coefficients of 1 and -1, noise 1, independent normal attributes or a chain in which neighbors \
             have correlation .5. OMP gets all twelve looks at random and chooses five attributes by \
             orthogonal matching pursuit on unbiased moments. N is the first of 128, 256, .., 32,768 \
             examples from which on all five are in the support, on the same examples for both; t test of \
             the mean log ratio.",
    standing: Standing::ours().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
