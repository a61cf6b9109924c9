//! Corollary 1.1: how many epochs for an accuracy eps.
//!
//! *What is wrong.* `theta^J D_0 <= eps/2` needs `C_1 log(2 |X^(1) - x*|^2/eps)`: the square is missing
//! (Corollary 1.2 has it), and the printed form is too short for distant starts and too long for near ones.
//! "At most" should read "it suffices". And the statement inherits the third term of Theorem 1: on the toy
//! with `sigma^2 = 1/(2 gamma)` the floor is `phi/(2 gamma)` times eps.
//!
//! *Corrected.* `J = ceil(log(2 D_0/eps)/(-log th))` with the corrected rate, and `B >= min{n, 18
//! sigma_*^2/(rho^2 eps)}`: on the toy with d = k, where nothing is thresholded and alpha = 0. Its exact `E
//! D` is known, so that the bound is judged on it, and production runs against it.

use crate::setup::runs::{distances, mean_below, near, option_one, shown_distances};
use crate::setup::toy::Toy;
use lao_algorithms::thresholding::Shape;
use lao_algorithms::thresholding::theory::{Epoch, expansion, sharp_expansion};
use lao_verification_engine::claim::{Claim, Fault, Mutant, Shown, Standing, Violation, mutants};
use lao_verification_engine::context::{Context, Trial, View};
use lao_verification_engine::instance::norm2;
use lao_verification_engine::instance::quadratics::{Quadratics, Shared, predictor};
use lao_verification_engine::judge::PropertyTally;

const N: usize = 4000;

fn constants(step_size: f64, ratio: f64, alpha: f64) -> Epoch {
    Epoch { step_size, smoothness: 1.0, convexity: 1.0, ratio, alpha }
}

/// Epochs that are said to bring the first term below eps/2.
fn epochs(rate: f64, distance: f64, eps: f64, squared: bool) -> f64 {
    let log = if squared { (2.0 * distance / eps).ln() } else { (4.0 * distance.sqrt() / eps).ln() };
    (log / -rate.ln()).ceil().max(0.0)
}

/// `theta^J D_0 <= eps/2` over starts and accuracies, the worst ratio.
fn first_term(theta: f64, squared: bool) -> PropertyTally {
    let mut first_term = PropertyTally::new();
    for distance in [1e-4, 0.25, 1.0, 100.0, 1e4] {
        for eps in [1e-1, 1e-3, 1e-6] {
            let log_left = epochs(theta, distance, eps, squared) * theta.ln() + f64::ln(distance);
            first_term.check(log_left.exp() / eps, 0.5);
        }
    }
    first_term
}

const CONTROL: [Fault<bool>; 1] =
    [Fault::held("corrected_form", "log(2 |X - x*|^2/eps), the corrected rate and batch", true)];

fn printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    const EPS: f64 = 0.01;
    const START: [f64; 2] = [0.25, -0.25];
    let repaired = cx.arm(false, &CONTROL);
    cx.split(2);
    // x* = 0 is the optimum, so that k* = 0.
    let (alpha, step_size, batch) = (expansion(0, 2), 1.0 / 1024.0, 100);
    let of = constants(step_size, 1.0 / batch as f64, alpha);
    let theta = if repaired { of.corrected_theta() } else { of.theta() };
    cx.judge("theta^J D_0 over eps, at most 1/2", first_term(theta, repaired).finish());
    // gamma <= 1/(2 sigma^2), with equality. The corrected form takes a batch of 18 sigma^2/(rho^2 eps),
    // which is more than n here.
    let variance = 0.5 / of.gamma();
    let (n, batch) = if repaired { (1000, 1000) } else { (N, batch) };
    let of = constants(step_size, 1.0 / batch as f64, alpha);
    let legal =
        step_size <= Epoch::largest_step(1.0, 1.0) && alpha <= of.ratio && alpha <= of.largest_alpha();
    anyhow::ensure!(legal && batch as f64 >= EPS.recip(), "the hypotheses are not met");
    let theta = if repaired { of.corrected_theta() } else { of.theta() };
    let instance = Quadratics::around(&[0.0; 2], n, variance, &cx.seed("instance").child("data"));
    let (shared, start) = (Shared::new(instance.sum()?), norm2(&START));
    let rounds = epochs(theta, start, EPS, repaired) as u64;
    let runs = cx.size(if repaired { "control" } else { "runs" })?;
    let ends = cx.all_trials("toy", runs, |trial: &Trial| {
        let mut sum = shared.sum();
        let mut params = option_one(2, step_size, batch, 1);
        params.start = Some(predictor(&START));
        let mut solver = params.build(Shape::of(&sum))?;
        let seed = trial.seed.child("algorithm");
        Ok(distances(&mut sum, &mut solver, (None, &seed), &[0.0; 2], rounds)?[rounds as usize - 1])
    })?;
    // With B = n the toy moves straight to x*.
    let cap = repaired.then_some(start);
    cx.judge("toy: E D after J epochs", mean_below((EPS, cap), (cx.alpha(), 2), &ends));
    let toy = Toy { components: n, batch, mini_batch: 1, step_size, geometric: true };
    cx.note("toy: epochs", rounds as f64);
    cx.note("toy: exact E D", toy.distance(start, variance, rounds as u32));
    Ok(())
}

const NO_SQUARE: Mutant = Mutant::refuted("no_square", "log(4 |X - x*|/eps) epochs");
const BATCH_TOO_SMALL: Mutant = Mutant::refuted("batch_too_small", "a batch of a hundredth");
const STEP_TOO_SHORT: Mutant = Mutant::refuted("step_too_short", "a twentieth of the step size");

fn corrected(cx: &mut Context<'_>) -> anyhow::Result<()> {
    const EPS: f64 = 0.1;
    const VARIANCE: f64 = 0.5;
    const STAR: [f64; 4] = [1.0, -1.0, 2.0, -2.0];
    cx.split(3);
    let squared = !cx.commits(&NO_SQUARE);
    let start = norm2(&STAR);
    // With k = d nothing is thresholded.
    let (alpha, step_size) = (sharp_expansion(4, 4, 4), 1.0 / 64.0);
    let batch = (18.0 * VARIANCE / EPS).ceil() as usize;
    let of = constants(step_size, 1.0 / batch as f64, alpha);
    let theta = of.corrected_theta();
    anyhow::ensure!((36..N).contains(&batch) && alpha <= of.ratio, "the hypotheses are not met");
    cx.judge("theta^J D_0 over eps, at most 1/2", first_term(theta, squared).finish());

    let toy = Toy { components: N, batch, mini_batch: 1, step_size, geometric: true };
    let batch = if cx.commits(&BATCH_TOO_SMALL) { 1 } else { batch };
    let taken = if cx.commits(&STEP_TOO_SHORT) { step_size / 20.0 } else { step_size };
    let rounds = epochs(theta, start, EPS, true) as u64;
    let instance = Quadratics::around(&STAR, N, VARIANCE, &cx.seed("instance").child("data"));
    let shared = Shared::new(instance.sum()?);
    let run = |trial: &Trial, views: &[View]| {
        let mut sum = shared.sum();
        let mut solver = option_one(4, taken, batch, 1).build(Shape::of(&sum))?;
        let seed = trial.seed.child("algorithm");
        shown_distances(&mut sum, &mut solver, (views, &seed), &STAR, rounds)
    };
    // A wrong number of epochs for the first term changes no run.
    let curves = match squared {
        true => cx.shown_trials("toy", cx.size("runs")?, run)?,
        false => cx.sound_trials("toy", cx.size("runs")?, run)?,
    };
    let ends: Vec<f64> = curves.iter().map(|curve| curve[rounds as usize - 1]).collect();
    cx.judge("toy: E D after J epochs", mean_below((EPS, None), (cx.alpha(), 3), &ends));
    let exact = toy.distance(start, VARIANCE, rounds as u32);
    let finding = near(&ends, (start, exact), 0.4, cx.alpha());
    cx.judge("toy: E D after J epochs against its exact value", finding);
    cx.note("toy: epochs", rounds as f64);
    cx.note("toy: exact E D over eps", exact / EPS);
    Ok(())
}

/// The exact values are 50 times theta, which is .957, or a little more for the rounding of J; and .0541 with
/// a standard error of 7 % for the mean of 240 runs.
const VIOLATIONS: [Violation; 2] = [
    Violation { cell: "theta^J D_0 over eps, at most 1/2", at_least: 47.8, at_most: 50.0 },
    Violation { cell: "toy: E D after J epochs", at_least: 0.038, at_most: 0.071 },
];

/// As printed.
pub const PRINTED: Claim = Claim {
    id: "scsg20-cor11-printed",
    place: "Corollary 1.1",
    sentence: "C_1 log(4 |X - x*|/eps) epochs with batches of 1/eps bring the mean squared error below eps.",
    formula: r"J \le C_1 \log \frac{4 \|X^{(1)} - x^*\|}{\varepsilon} \;\Rightarrow\; \mathbb{E}
               \|X^{(J)} - x^*\|^2 \le \varepsilon + g_1(x^*)",
    design: "(a) theta^J D_0 <= eps/2 over starts from .01 to 100 and eps from .1 to 1e-6. (b) The toy, x* = \
             0 (so k* = 0 and alpha = 0), d = k = 2, eta = 1/1024, B = 100 = 1/eps, b = 1, sigma^2 = 62, n = \
             4000: J epochs from a start with D_0 = 1/8. E D is then exactly .0541, 5.4 times eps. Errata 16 \
             and 2 each refute one of the two.",
    standing: Standing::printed(&[2, 16])
        .literal()
        .violated(&VIOLATIONS)
        .showing(&[Shown { erratum: 16, cell: "theta^J D_0 over eps" }]),
    mutants: &mutants(&CONTROL),
    experiment: printed,
};

/// As corrected.
pub const CLAIM: Claim = Claim {
    id: "scsg20-cor11",
    place: "Corollary 1.1, corrected",
    sentence: "log(2 |X - x*|^2/eps)/(-log th) epochs with batches of min{n, 18 sigma_*^2/(rho^2 eps)} \
               suffice for eps.",
    formula: r"J \ge \frac{\log(2 \|X^{(1)} - x^*\|^2/\varepsilon)}{-\log\theta_c},\ B \ge \min\Bigl\{n,
               \frac{18 \sigma_*^2}{\rho^2 \varepsilon}\Bigr\} \;\Rightarrow\; \mathbb{E} \|X - x^*\|^2
               \le \varepsilon + O(G/\rho^2)",
    design: "(a) As for the printed form. (b) The toy, d = k = 4, |x*|^2 = 10 from zero, eta = 1/64, n = \
             4000, sigma^2 = 1/2, eps = .1, so B = 90, b = 1: after J epochs E D is at most eps, by Hall's \
             test; and it agrees with its exact value, a thirtieth of that, within 40 %: the corrected batch \
             is sufficient, not necessary.",
    standing: Standing::corrected(&[16]).literal().learns(),
    mutants: &[STEP_TOO_SHORT, NO_SQUARE, BATCH_TOO_SMALL],
    experiment: corrected,
};
