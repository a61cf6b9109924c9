//! The two steps from regret to risk: the loss is convex, and so is the risk.
//!
//! *Setting.* `l_t(w) = (w.x_t - y_t)^2/2` and `g_t = (w_t.x_t - y_t) x_t`.
//!
//! *Why.* The first is an equality less `((w_t - w*).x_t)^2/2`; the second is Jensen's inequality for the
//! quadratic L.

use crate::setup::problem::Problem;
use crate::setup::steps::tell;
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, Horizon};
use lao_observation::{Ask, Seed};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, in_units, minus, tally};
use lao_verification_engine::judge::PropertyTally;
use lao_verification_engine::mutants::TwoDraws;
use rand::RngExt;

/// What an arm does.
#[derive(Clone, Copy, Default)]
struct Arm {
    last: bool,
    second: bool,
    single: bool,
    half: bool,
}

/// Follows `learner` through `examples` rounds.
fn follow<L: TwoDraws>(
    mut learner: L,
    problem: &Problem,
    examples: u64,
    (arm, seed): (Arm, &Seed),
    [convex, defect, average, jensen]: &mut [PropertyTally; 4],
) -> anyhow::Result<()> {
    let (dim, unit) = (problem.dim, problem.radius * problem.radius);
    let (mut rng, mut ask) = (seed.child("algorithm").rng(), Ask::new(dim));
    let (mut sum, mut risks, mut largest) = (vec![0.0; dim], 0.0, 0.0_f64);
    problem.each_example(examples, seed, |x, y| {
        let w = learner.iterate();
        let (residual, away) = (dot(&w, x) - y, minus(&w, &problem.star));
        let mut slope = residual * dot(x, &away);
        if arm.single {
            // d x_1 e_1 is one outcome of x~, for k = 1.
            slope = residual * dim as f64 * x[0] * away[0];
        }
        if arm.half {
            slope *= 0.5;
        }
        let at_star = dot(&problem.star, x) - y;
        let gain = 0.5 * (residual * residual - at_star * at_star);
        let (below, above) = in_units(unit, gain, slope);
        // Both sides are differences of squares of residuals, which may nearly cancel.
        convex.check_sums(below, above, (residual * residual + at_star * at_star) / unit);
        let expected = 0.5 * dot(&away, x).powi(2);
        defect.check_sums((slope - gain - expected).abs() / unit, 0.0, 1.0);
        sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
        largest = w.iter().fold(largest, |largest, w| largest.max(w.abs()));
        risks += problem.excess(&w);
        learner.ask(&mut rng, &mut ask);
        Ok(tell(&mut learner, &ask, x, y)?)
    })?;
    let m = examples as f64;
    let output = match () {
        () if arm.last => learner.iterate(),
        () if arm.second => {
            // w_1 leaves, w_{m+1} enters; w_1 is the start, which is 0.
            sum.iter().zip(learner.iterate()).map(|(sum, w)| (sum + w) / m).collect()
        }
        () => learner.coefficients().to_dense(),
    };
    // The learner updates its sum only where a coordinate changes, by differences of a running sum of the
    // scales of its iterates. These vary over orders of magnitude when steps are long, so that the average
    // carries more rounding than a plain sum: a billionth of the largest iterate is allowed.
    for (output, sum) in output.iter().zip(&sum) {
        average.check_sums((output - sum / m).abs() / largest.max(f64::MIN_POSITIVE), 0.0, 1e4);
    }
    let (of_average, average_of) = in_units(unit, problem.excess(&output), risks / m);
    jensen.check(of_average, average_of);
    Ok(())
}

const SOUND: Arm = Arm { last: false, second: false, single: false, half: false };

const FAULTS: [Fault<Arm>; 4] = [
    Fault::refuted("last_iterate", "the last iterate in place of the average", Arm { last: true, ..SOUND }),
    Fault::refuted("averages_from_the_second", "averages w_2 .. w_{m+1}", Arm { second: true, ..SOUND }),
    Fault::refuted(
        "one_attribute_for_the_gradient",
        "the estimate from one attribute in place of the gradient",
        Arm { single: true, ..SOUND },
    ),
    Fault::refuted(
        "half_of_the_gradient",
        "half of the gradient on the right side",
        Arm { half: true, ..SOUND },
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(4);
    let arm = cx.arm(SOUND, &FAULTS);
    let all = tally(cx, "runs", cx.size("runs")?, |trial, tallies| {
        let rng = &mut trial.seed.child("setting").rng();
        let (dim, draws) = ([4, 10, 20][rng.random_range(0..3)], rng.random_range(1..4));
        let (radius, examples) = ([0.2, 1.0, 5.0][rng.random_range(0..3)], 200);
        let factor = 10f64.powf(rng.random_range(-1.0..1.5));
        let problem = match rng.random_range(0..3) {
            0 => Problem::hard(dim, 4)?,
            1 => Problem::pair(dim)?,
            _ => Problem::sphere(dim, radius),
        };
        let params = AerrParams::from_theorem(Horizon { dim, draws, radius: problem.radius, examples });
        let ridge = AerrParams { step_size: factor * params.step_size, ..params }.build()?;
        follow(ridge, &problem, examples, (arm, &trial.seed.child("ridge")), tallies)?;
        let problem = match rng.random_range(0..4) {
            0 => Problem::axis(dim, radius),
            1 => Problem::signs(dim, radius)?,
            2 => Problem::rare(dim, 0.2)?,
            _ => Problem::correlated(dim, radius),
        };
        let params = AelrParams::from_theorem(Horizon { dim, draws, radius: problem.radius, examples });
        let lasso = AelrParams { step_size: factor * params.step_size, ..params }.build()?;
        follow(lasso, &problem, examples, (arm, &trial.seed.child("lasso")), tallies)
    })?;
    let names = [
        "the loss lies above its tangent",
        "by half of the squared difference",
        "the output is the average of w_1 .. w_m",
        "risk of the average, mean of the risks",
    ];
    let judged = if arm.last || arm.second { 2..4 } else { 0..4 };
    for (name, tally) in names.iter().zip(all).take(judged.end).skip(judged.start) {
        cx.judge(name, tally.finish());
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-convexity-jensen",
    place: "Sections 3.1 and 3.2, proofs of Theorems 3.1 and 3.4",
    sentence: "In every round the loss exceeds the comparator's by at most the gradient along the \
               difference, and the risk of the averaged iterate is at most the average risk of the \
               iterates.",
    formula: r"\ell_t(w_t) - \ell_t(w^*) \le g_t \cdot (w_t - w^*), \qquad L_{\mathcal{D}}(\bar{w}) \le
               \frac{1}{m} \sum_{t=1}^m L_{\mathcal{D}}(w_t)",
    design: "Runs of production AERR and AELR with the risk in closed form: every round's inequality and \
             defect, the output against the average of the iterates seen, and Jensen's inequality, whose \
             defect is that of the excess risks. Step sizes from a tenth of the theorem's to 30 times it; w* \
             is the best predictor.",
    standing: Standing::sound(),
    mutants: &mutants(&FAULTS),
    experiment,
};
