//! Draws in proportion to the size of attributes, for Algorithms 1 and 2.
//!
//! *Statement* (Kukliansky & Shamir 2015, of whose paper the abstract was at hand). With `q_j` in proportion
//! to the size `s_j = sqrt(E x_j^2)` and `x~ = 1/k sum_r x[i_r]/q[i_r] e_{i_r}` the estimates stay unbiased,
//! and
//! `d` in the bound becomes `D = (sum s)^2/sum s^2`, between 1 and d.
//!
//! *Here* `x_j` is `s_j` or `-s_j`, and `s_j` falls like `1/(j+1)`: D is 13.8 at d = 64. The step size of
//! Theorem 3.1 with D for d balances the bound, which is then `sqrt(D/d) = .46` times that of uniform draws.
//! What is learned within a bound may gain less: at most .8 of the excess risk is claimed.

use crate::setup::steps::tell;
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, Horizon, TwoSampleDraws};
use lao_kernels::SparseVector;
use lao_observation::{Ask, Budget, Learner, Session, SessionLimit};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Trial};
use lao_verification_engine::instance::{LawSource, dot};
use lao_verification_engine::judge::{exact_all, ratio};
use lao_verification_engine::plots;
use rand::RngExt;

const DIM: usize = 64;
/// `k`.
const DRAWS: usize = 4;
const EXAMPLES: u64 = 4000;

/// The sizes, of norm 1.
fn sizes(dim: usize) -> Vec<f64> {
    let all = || (1..=dim).map(|j| 1.0 / j as f64);
    let norm = all().map(|s| s * s).sum::<f64>().sqrt();
    all().map(|s| s / norm).collect()
}

/// What an arm gets wrong.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    /// The draws are uniform, and are said to be by size.
    Uniform,
    /// Sizes are given as `E x_j^2`.
    Squares,
    Exchanged,
}

const FAULTS: [Fault<Wrong>; 3] = [
    Fault::refuted("draws_uniformly", "draws uniformly, with the step size of draws by size", Wrong::Uniform),
    Fault::refuted("draws_by_square", "draws in proportion to the squares of the sizes", Wrong::Squares),
    Fault::refuted("exchanged", "calls uniform draws those by size", Wrong::Exchanged),
];

/// What one draw of each attribute tells AERR at `w = 0`: the mean over draws of `x~`, and of its squared
/// norm, with what they are expected to be.
fn moments(wrong: Option<Wrong>) -> anyhow::Result<[Vec<(f64, f64)>; 2]> {
    const SMALL: usize = 6;
    let (sizes, step) = (sizes(SMALL), 1e-3);
    let given = law(&sizes, wrong);
    let sum = sizes.iter().sum::<f64>();
    let x: Vec<f64> = sizes.iter().zip([1.0, -1.0].iter().cycle()).map(|(s, sign)| s * sign).collect();
    let (mut mean, mut square) = ([vec![0.0; SMALL], vec![0.0; SMALL]], 0.0);
    for j in 0..SMALL {
        let q = sizes[j] / sum;
        let draws = TwoSampleDraws { uniform: vec![j as u32], weighted: j as u32 };
        let (mut ask, horizon) =
            (Ask::new(SMALL), Horizon { dim: SMALL, draws: 1, radius: 1.0, examples: 1 });
        // At w = 0 the residual is -y: one step with a label of 1 is the step size times x~.
        let params = AerrParams { step_size: step, ..AerrParams::from_theorem(horizon) };
        let mut aerr = params.build()?.drawing_by(&given)?;
        aerr.ask_for(&draws, &mut ask);
        tell(&mut aerr, &ask, &x, 1.0)?;
        let told: Vec<f64> = aerr.iterate().iter().map(|w| w / step).collect();
        mean[0].iter_mut().zip(&told).for_each(|(mean, w)| *mean += q * w);
        square += q * dot(&told, &told);
        // AELR moves by the hyperbolic sine of the same.
        let params = AelrParams { step_size: step, ..AelrParams::from_theorem(horizon) };
        let mut aelr = params.build()?.drawing_by(&given)?;
        aelr.ask_for(&draws, &mut ask);
        tell(&mut aelr, &ask, &x, 1.0)?;
        // w = sinh(u)/(d - 1 + cosh(u)) at the coordinate that moved, and u = eta x~.
        let (w, d) = (aelr.iterate()[j], SMALL as f64);
        let moved = |u: f64| u.sinh() / (d - 1.0 + u.cosh());
        let (mut low, mut high) = (-1.0, 1.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if moved(middle) < w { low = middle } else { high = middle }
        }
        mean[1][j] += q * low / step;
    }
    let unbiased = mean.iter().flat_map(|mean| mean.iter().copied().zip(x.iter().copied())).collect();
    Ok([unbiased, vec![(square, sum * sum)]])
}

/// The sizes that the learner is given.
fn law(sizes: &[f64], wrong: Option<Wrong>) -> Vec<f64> {
    match wrong {
        Some(Wrong::Uniform) => vec![1.0; sizes.len()],
        Some(Wrong::Squares) => sizes.iter().map(|s| s * s).collect(),
        Some(Wrong::Exchanged) | None => sizes.to_vec(),
    }
}

/// The excess risk of AERR's output with draws by these sizes, or uniform ones.
fn excess(given: Option<&[f64]>, dimension: f64, trial: &Trial) -> anyhow::Result<f64> {
    let sizes = sizes(DIM);
    let mut star = vec![0.0; DIM];
    (star[0], star[2]) = (0.6, -0.6);
    let target = star.clone();
    let drawn = sizes.clone();
    let source = LawSource::new(DIM, EXAMPLES, trial.seed.child("data"), move |rng, x| {
        x.iter_mut().zip(&drawn).for_each(|(x, s)| *x = if rng.random() { *s } else { -s });
        dot(x, &target) + if rng.random() { 0.1 } else { -0.1 }
    });
    let horizon = Horizon { dim: DIM, draws: DRAWS, radius: 1.0, examples: EXAMPLES };
    let step_size = (DRAWS as f64 / (2.0 * dimension * EXAMPLES as f64)).sqrt();
    let params = AerrParams { step_size, ..AerrParams::from_theorem(horizon) };
    let mut learner = params.build()?;
    if let Some(given) = given {
        learner = learner.drawing_by(given)?;
    }
    let mut session = Session::new(source, Budget::PerExample(DRAWS + 1), &trial.seed.child("algorithm"));
    session.run(&mut learner, SessionLimit::after_examples(EXAMPLES), |_, _| {})?;
    let w: SparseVector = learner.coefficients().to_owned_vector();
    let errors = w.view().to_dense();
    let parts = errors.iter().zip(&star).zip(&sizes).map(|((w, star), s)| (s * (w - star)).powi(2));
    Ok(0.5 * parts.sum::<f64>())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (wrong, runs) = (cx.fault(&FAULTS), cx.size("runs")?);
    cx.split(3);
    let [mean, square] = moments(wrong)?;
    cx.judge("mean of x~ over all draws: x", exact_all(mean, 1e-9));
    cx.judge("mean squared norm of x~: (sum s)^2", exact_all(square, 1e-9));
    let sizes = sizes(DIM);
    let effective = sizes.iter().sum::<f64>().powi(2);
    let given = law(&sizes, wrong);
    let mut by_size = cx.all_trials("runs", runs, |trial| excess(Some(&given), effective, trial))?;
    let uniform = || cx.all_trials("uniform", runs, |trial| excess(None, DIM as f64, trial));
    let mut uniform = cx.shared("uniform draws", uniform)?.to_vec();
    if wrong == Some(Wrong::Exchanged) {
        std::mem::swap(&mut by_size, &mut uniform);
    }
    let finding = ratio::independent(&by_size, &uniform, (0.0, 0.8), cx.alpha());
    cx.judge("excess risk of AERR over that with uniform draws", finding);
    if cx.honest() {
        cx.figure(plots::spread(
            "Excess risk of AERR after 4,000 examples, d = 64, k = 4.",
            Axis::log("excess risk"),
            &[("draws by size", &by_size), ("uniform draws", &uniform)],
        ));
        cx.rate("excess risk, draws by size", Direction::Larger, by_size);
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-draws-by-size",
    place: "Beside Algorithms 1 and 2: draws by size",
    sentence: "With draws in proportion to the size of the attributes the estimates of AERR and AELR stay \
               unbiased, the mean squared norm of x~ is the square of the sum of the sizes, and the excess \
               risk of AERR is at most .8 of that with uniform draws where sizes fall like 1/j.",
    formula: r"q_j \propto s_j: \quad \mathbb{E} \tilde x = x, \qquad \mathbb{E} \|\tilde x\|^2 = \Bigl(
               \sum_j s_j \Bigr)^2 \text{ at } k = 1",
    design: "One draw of each of six attributes by the production learners, at w = 0, weighted by the law of \
             draws. AERR on signs of sizes 1/j, scaled to |x| = 1, d = 64, k = 4, 4,000 examples, two \
             coefficients of .6 and noise .1, with the step size of Theorem 3.1, in which (sum s)^2 takes \
             the place of d for draws by size.",
    standing: Standing::ours().practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};
