//! Corollary 1.1: how many epochs for an accuracy eps.
//!
//! *What is wrong.* `theta^J D_0 <= eps/2` needs `C_1 log(2 |X^(1) - x*|^2/eps)`: the square is missing
//! (Corollary 1.2 has it), and the printed form is too short for distant starts and too long for near ones.
//! "At most" should read "it suffices". And the statement inherits the third term of Theorem 1: on the toy
//! with `sigma^2 = 1/(2 gamma)` the floor is `phi/(2 gamma)` times eps.
//!
//! *Corrected.* `J = ceil(log(2 D_0/eps)/(-log th))` with the corrected rate, and
//! `B >= min{n, 18 sigma_*^2/(rho^2 eps)}`: here B = n, with n = 1000. Runs end far below eps; betting up to
//! 2 eps supports it.

use crate::setup::runs::{distances, mean_below, option_one};
use lao_algorithms::thresholding::Shape;
use lao_algorithms::thresholding::theory::Epoch;
use lao_verification_engine::claim::{Claim, Fault, Mutant, Standing, mutants};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::instance::quadratics::{Quadratics, Shared};
use lao_verification_engine::judge::PropertyTally;

const EPS: f64 = 0.01;
const STAR: [f64; 2] = [0.5, -0.5];
const START: f64 = 0.5;

fn constants(ratio: f64) -> Epoch {
    Epoch { step_size: 1.0 / 1024.0, smoothness: 1.0, convexity: 1.0, ratio, alpha: 0.0 }
}

/// Epochs that are said to bring the first term below eps/2.
fn epochs(rate: f64, distance: f64, eps: f64, squared: bool) -> f64 {
    let log = if squared { (2.0 * distance / eps).ln() } else { (4.0 * distance.sqrt() / eps).ln() };
    (log / -rate.ln()).ceil().max(0.0)
}

fn judge(cx: &mut Context<'_>, corrected_rate: bool, squared: bool, full: bool) -> anyhow::Result<()> {
    cx.split(2);
    let rate =
        |ratio| if corrected_rate { constants(ratio).corrected_theta() } else { constants(ratio).theta() };
    let mut first_term = PropertyTally::new();
    for distance in [1e-4, 0.25, 1.0, 100.0, 1e4] {
        for eps in [1e-1, 1e-3, 1e-6] {
            let theta = rate(0.01);
            let log_left = epochs(theta, distance, eps, squared) * theta.ln() + f64::ln(distance);
            first_term.check(log_left.exp() / eps, 0.5);
        }
    }
    cx.judge("theta^J D_0 over eps, at most 1/2", first_term.finish());
    cx.settled()?;
    let (n, batch) = if full { (1000, 1000) } else { (4000, 100) };
    let variance = 0.5 / constants(0.01).gamma();
    let instance = Quadratics::around(&STAR, n, variance, &cx.seed("instance").child("data"));
    let (shared, ratio) = (Shared::new(instance.sum()?), 1.0 / batch as f64);
    let rounds = epochs(rate(ratio), START, EPS, squared) as u64;
    let ends = cx.all_trials("toy", cx.size("runs")?, |trial: &Trial| {
        let mut sum = shared.sum();
        let mut solver = option_one(2, constants(ratio).step_size, batch, 1).build(Shape::of(&sum))?;
        let seed = trial.seed.child("algorithm");
        Ok(distances(&mut sum, &mut solver, &seed, &STAR, rounds)?[rounds as usize - 1])
    })?;
    cx.judge(&format!("toy: E D after {rounds} epochs"), mean_below(EPS, 2.0 * EPS, (cx.alpha(), 2), &ends));
    cx.note("toy: epochs", rounds as f64);
    cx.note("toy: E D over eps", ends.iter().sum::<f64>() / ends.len() as f64 / EPS);
    Ok(())
}

const CONTROL: [Fault<bool>; 1] =
    [Fault::held("corrected_form", "log(2 |X - x*|^2/eps), the corrected rate, B = n", true)];

fn printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let repaired = cx.arm(false, &CONTROL);
    judge(cx, repaired, repaired, repaired)
}

const NO_SQUARE: Mutant = Mutant::refuted("no_square", "log(4 |X - x*|/eps) epochs");
const BATCH_TOO_SMALL: Mutant = Mutant::refuted("batch_too_small", "batches of 1/eps");

fn corrected(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (squared, full) = (!cx.commits(&NO_SQUARE), !cx.commits(&BATCH_TOO_SMALL));
    judge(cx, true, squared, full)
}

/// As printed.
pub const PRINTED: Claim = Claim {
    id: "scsg20-cor11-printed",
    place: "Corollary 1.1",
    sentence: "C_1 log(4 |X - x*|/eps) epochs with batches of 1/eps bring the mean squared error below eps.",
    formula: r"J \le C_1 \log \frac{4 \|X^{(1)} - x^*\|}{\varepsilon} \;\Rightarrow\; \mathbb{E}
               \|X^{(J)} - x^*\|^2 \le \varepsilon + g_1(x^*)",
    design: "(a) theta^J D_0 <= eps/2 over starts from .01 to 100 and eps from .1 to 1e-6. (b) The toy, eta \
             = 1/1024, B = 100 = 1/eps, b = 1, sigma^2 = 62, n = 4000: J epochs from a start with D_0 = \
             1/2.",
    standing: Standing::printed(&[2, 16]).literal(),
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
    design: "As for the printed form, with n = 1000 components and B = n.",
    standing: Standing::corrected(&[16]).literal(),
    mutants: &[NO_SQUARE, BATCH_TOO_SMALL],
    experiment: corrected,
};
