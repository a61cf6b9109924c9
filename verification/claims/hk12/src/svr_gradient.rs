//! Section 4.2 and Algorithm 4: the gradient of the smoothed loss of one example, and AESVR's estimate of it.
//!
//! *Why.* The eps of the inner derivative and that in front of rho cancel, so x is not divided:
//! `grad = (f'(theta+) + f'(theta-)) x/2` with `f' = erf` and `theta+- = w.x' - y+-`. AESVR takes
//! `phi = (G+ + G-)/2` for the bracket, `G+- = 2^(n+1) a_n theta~_1 .. theta~_n` with `n` of its own for
//! each, and `x~ = (d/k) sum_r x[i_r] e_{i_r}` for x. Given both `n`, all draws are independent, so
//!
//! ```text
//! E[phi | n+, n-]   = (mu(n+) + mu(n-))/2,     mu(n) = 2^(n+1) a_n theta^n,
//! E[phi^2 | n+, n-] = (m(n+) + m(n-) + 2 mu(n+) mu(n-))/4,     m(n) = (2^(n+1) a_n)^2 v^n,
//! ```
//!
//! with `v` the second moment of one factor, which is a single attribute up to `n = 2 log2 N` and a mean of N
//! beyond. Multiplied by x and by `E |x~|^2 = (d + k - 1)/k |x|^2` these are the moments of `g~`. The
//! probability of `n` is `2^-(n+1)` ([`lem41_unbiased`](super::lem41_unbiased)); on one attribute every
//! factor is theta itself, and the sum over `n` can be carried out.

use super::setup::steps::tell;
use lao_algorithms::hazan_koren::gen_est::{GenEst, GenEstDraws, erf_coefficient};
use lao_algorithms::hazan_koren::loss::{smoothed, smoothed_derivative};
use lao_algorithms::hazan_koren::{Aesvr, AesvrDraws, AesvrParams};
use lao_observation::{Ask, Rng};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, norm2, sparse_normal};
use lao_verification_engine::judge::exact_all;
use rand::RngExt;

/// What an arm gets wrong.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    ScalesX,
    PlainLabels,
    UpperLabelTwice,
    HalfThePower,
    ForgetsSign,
    ForgetsDivisor,
    OneSharedFactor,
    OneDrawForBoth,
}

const FAULTS: [Fault<Wrong>; 8] = [
    Fault::refuted("multiplies_by_scaled_x", "x' in place of x", Wrong::ScalesX),
    Fault::refuted("labels_not_scaled", "w.x' against y +- delta, not divided by eps", Wrong::PlainLabels),
    Fault::refuted("upper_label_twice", "y+ in both calls of GenEst", Wrong::UpperLabelTwice),
    Fault::refuted("half_the_power", "2^n in the place of 2^(n+1)", Wrong::HalfThePower),
    Fault::refuted("forgets_sign", "coefficients of erf without (-1)^m", Wrong::ForgetsSign),
    Fault::refuted("forgets_divisor", "coefficients of erf without 1/(2m + 1)", Wrong::ForgetsDivisor),
    Fault::refuted(
        "one_shared_factor",
        "one estimate of theta, raised to the n-th power",
        Wrong::OneSharedFactor,
    ),
    Fault::refuted("one_draw_for_both", "the attributes of y+ for y- as well", Wrong::OneDrawForBoth),
];

/// An example, with delta and eps.
struct Instance {
    x: Vec<f64>,
    y: f64,
    delta: f64,
    eps: f64,
}

impl Instance {
    fn random(rng: &mut Rng, dim: usize) -> Instance {
        let (x, y) = (sparse_normal(rng, dim, dim), rng.random_range(-1.0..1.0));
        let (delta, eps) = (rng.random_range(0.1..1.0), rng.random_range(0.5..2.0));
        Instance { x, y, delta, eps }
    }

    /// `theta+` and `theta-` at `w`.
    fn margins(&self, w: &[f64], wrong: Option<Wrong>) -> [f64; 2] {
        let scale = if wrong == Some(Wrong::PlainLabels) { 1.0 } else { self.eps };
        [1.0, -1.0].map(|side| dot(w, &self.x) / self.eps - (self.y + side * self.delta) / scale)
    }
}

/// AESVR at a predictor, about to see an example.
struct At {
    learner: Aesvr,
    w: Vec<f64>,
    draws: usize,
    step_size: f64,
    estimate: GenEst,
    wrong: Option<Wrong>,
}

impl At {
    /// Production AESVR, brought to `w` by steps of its own, one for each coordinate: an example `e_i` on
    /// which the attribute read for the inner product is zero moves `w_i` by as much as its label says.
    fn new(
        instance: &Instance,
        w: &[f64],
        (draws, repetitions): (usize, u32),
        wrong: Option<Wrong>,
    ) -> anyhow::Result<At> {
        let (dim, step_size) = (w.len(), 1024.0);
        let Instance { delta, eps, .. } = *instance;
        let (radius, reads_zeros) = (1e100, false);
        // With y+ twice both labels are y + delta, and nothing is subtracted.
        let insensitivity = if wrong == Some(Wrong::UpperLabelTwice) { 0.0 } else { delta };
        let params = AesvrParams {
            dim,
            draws,
            radius,
            step_size,
            insensitivity,
            smoothing: eps,
            repetitions,
            reads_zeros,
        };
        let (mut learner, mut ask) = (params.build()?, Ask::new(dim));
        for (i, target) in w.iter().enumerate() {
            let mut unit = vec![0.0; dim];
            unit[i] = 1.0;
            // Any other attribute; with one attribute w is zero, and nothing is read.
            let other = if i == 0 { dim as u32 - 1 } else { 0 };
            let one = || GenEstDraws { factors: 1, attributes: vec![other; repetitions_of_one(repetitions)] };
            let draws = AesvrDraws { uniform: vec![i as u32; draws], estimates: [one(), one()] };
            learner.ask_for(&draws, &mut ask);
            // phi is -4 a_1 y/eps, and x~ is d e_i.
            tell(
                &mut learner,
                &ask,
                &unit,
                target * eps / (4.0 * erf_coefficient(1) * dim as f64 * step_size),
            )?;
        }
        let w = learner.iterate();
        Ok(At { learner, w, draws, step_size, estimate: GenEst::new(repetitions), wrong })
    }

    /// `g~` on these draws.
    fn gradient(&self, instance: &Instance, draws: &AesvrDraws) -> anyhow::Result<Vec<f64>> {
        let (mut learner, mut ask) = (self.learner.clone(), Ask::new(self.w.len()));
        let mut draws = draws.clone();
        if self.wrong == Some(Wrong::OneSharedFactor) {
            for one in &mut draws.estimates {
                let copies = self.estimate.copies(one.factors) as usize;
                (copies..one.attributes.len())
                    .for_each(|at| one.attributes[at] = one.attributes[at - copies]);
            }
        }
        if self.wrong == Some(Wrong::OneDrawForBoth)
            && draws.estimates[0].factors == draws.estimates[1].factors
        {
            draws.estimates[1] = draws.estimates[0].clone();
        }
        let Instance { x, y, delta, eps } = instance;
        learner.ask_for(&draws, &mut ask);
        let told = if self.wrong == Some(Wrong::UpperLabelTwice) { y + delta } else { *y };
        tell(&mut learner, &ask, x, told)?;
        // Faults that production has no seam for change a step by a factor, which depends on the larger n.
        let n = draws.estimates.iter().map(|one| one.factors).max().unwrap_or(0);
        let factor = match self.wrong {
            Some(Wrong::HalfThePower) => 0.5,
            Some(Wrong::ForgetsSign) if n % 4 == 3 => -1.0,
            Some(Wrong::ForgetsDivisor) => f64::from(n),
            Some(Wrong::ScalesX) => 1.0 / eps,
            _ => 1.0,
        };
        let moved = self.w.iter().zip(learner.iterate());
        Ok(moved.map(|(before, after)| factor * (before - after) / self.step_size).collect())
    }

    /// All sequences of attributes for `n` factors, with probabilities; none is read for `n = 0`.
    fn sequences(&self, n: u32) -> Vec<(f64, GenEstDraws)> {
        let (dim, square) = (self.w.len(), norm2(&self.w));
        let reads = n * self.estimate.copies(n);
        let of = |code: usize| {
            let attribute = |place: u32| (code / dim.pow(place) % dim) as u32;
            let attributes: Vec<u32> = (0..reads).map(attribute).collect();
            let probability = attributes.iter().map(|&j| self.w[j as usize].powi(2) / square).product();
            (probability, GenEstDraws { factors: n, attributes })
        };
        (0..dim.pow(reads)).map(of).collect()
    }

    /// `E g~` and `E |g~|^2` given `n+` and `n-`, over all draws.
    fn given(&self, instance: &Instance, [plus, minus]: [u32; 2]) -> anyhow::Result<(Vec<f64>, f64)> {
        let dim = self.w.len();
        let (mut mean, mut square) = (vec![0.0; dim], 0.0);
        let (first, second) = (self.sequences(plus), self.sequences(minus));
        let tuples = dim.pow(self.draws as u32);
        for code in 0..tuples {
            let uniform: Vec<u32> =
                (0..self.draws).map(|r| (code / dim.pow(r as u32) % dim) as u32).collect();
            for (p, upper) in &first {
                for (q, lower) in &second {
                    let estimates = [upper.clone(), lower.clone()];
                    let g = self.gradient(instance, &AesvrDraws { uniform: uniform.clone(), estimates })?;
                    let weight = p * q / tuples as f64;
                    mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += weight * g);
                    square += weight * norm2(&g);
                }
            }
        }
        Ok((mean, square))
    }
}

/// Attributes of an estimate with one factor.
fn repetitions_of_one(repetitions: u32) -> usize {
    GenEst::new(repetitions).copies(1) as usize
}

/// `2^(n+1) a_n`.
fn weight(n: u32) -> f64 {
    2f64.powi(n as i32 + 1) * erf_coefficient(n)
}

/// Pairs of a value and its claim.
type Pairs = Vec<(f64, f64)>;

/// The moments of `g~` given the numbers of factors, against the formulas: means, second moments.
fn moments(rng: &mut Rng, wrong: Option<Wrong>) -> anyhow::Result<[Pairs; 2]> {
    let (mut means, mut squares) = (Vec::new(), Vec::new());
    for (draws, repetitions, numbers) in [
        (1, 1, [[1, 0], [0, 3], [1, 1], [3, 3], [5, 0]].as_slice()),
        (2, 2, [[1, 1], [0, 1], [3, 0]].as_slice()),
        (1, 2, [[5, 0], [0, 5]].as_slice()),
        (2, 3, [[3, 3], [1, 3]].as_slice()),
    ] {
        let (dim, instance) = (2, Instance::random(rng, 2));
        let w = [rng.random_range(0.2..1.0), -rng.random_range(0.2..1.0)];
        let at = At::new(&instance, &w, (draws, repetitions), wrong)?;
        let (x, w) = (&instance.x, &at.w);
        let scaled: Vec<f64> = x.iter().map(|x| x / instance.eps).collect();
        let margins = instance.margins(w, None);
        let spread = (dim + draws - 1) as f64 / draws as f64;
        // The variance of an estimate of w.x' from one attribute.
        let variance = norm2(w) * norm2(&scaled) - dot(w, &scaled).powi(2);
        for &n in numbers {
            let moment = |side: usize| {
                let factor = margins[side].powi(2) + variance / f64::from(at.estimate.copies(n[side]));
                (
                    weight(n[side]) * margins[side].powi(n[side] as i32),
                    weight(n[side]).powi(2) * factor.powi(n[side] as i32),
                )
            };
            let ((mu, m), (nu, l)) = (moment(0), moment(1));
            let (mean, square) = at.given(&instance, n)?;
            // A gradient is the difference of two iterates, whose rounding does not become smaller with it.
            let rounded = norm2(w).sqrt() / at.step_size;
            let size = (spread * norm2(x) * 0.25 * (m + l + 2.0 * (mu * nu).abs())).sqrt().max(rounded);
            means.extend(mean.iter().zip(x).map(|(mean, x)| (mean / size, 0.5 * (mu + nu) * x / size)));
            squares.push((
                square / (size * size),
                spread * norm2(x) * 0.25 * (m + l + 2.0 * mu * nu) / (size * size),
            ));
        }
    }
    Ok([means, squares])
}

/// The mean of `g~` on one attribute, summed over `n`, and the gradient of the smoothed loss.
fn summed(rng: &mut Rng, wrong: Option<Wrong>) -> anyhow::Result<Pairs> {
    let mut instance = Instance::random(rng, 1);
    // So that both margins are at most 2 in size: beyond, the series of erf loses digits.
    instance.x[0] = rng.random_range(0.3..0.5);
    instance.eps = rng.random_range(1.0..2.0);
    let at = At::new(&instance, &[rng.random_range(-1.0..1.0)], (1, 5), wrong)?;
    let mut mean = 0.0;
    for n in (1..60).step_by(2).rev() {
        let reads = n * at.estimate.copies(n);
        let one = |factors, reads| GenEstDraws { factors, attributes: vec![0; reads as usize] };
        // Given n for one of the two, the other is told to estimate nothing.
        for estimates in [[one(n, reads), one(0, 0)], [one(0, 0), one(n, reads)]] {
            let g = at.gradient(&instance, &AesvrDraws { uniform: vec![0], estimates })?;
            mean += 0.5f64.powi(n as i32 + 1) * g[0];
        }
    }
    let residual = at.w[0] * instance.x[0] - instance.y;
    Ok(vec![(mean, smoothed_derivative(residual, instance.delta, instance.eps) * instance.x[0])])
}

/// The formula of the gradient, against central differences of the production loss.
fn differences(rng: &mut Rng, wrong: Option<Wrong>) -> Pairs {
    const DIM: usize = 4;
    let (w, instance) = (sparse_normal(rng, DIM, 3), Instance::random(rng, DIM));
    let Instance { x, y, delta, eps } = &instance;
    let [plus, minus] = instance.margins(&w, wrong).map(libm::erf);
    let second = if wrong == Some(Wrong::UpperLabelTwice) { plus } else { minus };
    let slope = 0.5 * (plus + second) / if wrong == Some(Wrong::ScalesX) { *eps } else { 1.0 };
    let secant = |i: usize| {
        let at = |step: f64| {
            let mut w = w.clone();
            w[i] += step;
            smoothed(dot(&w, x) - y, *delta, *eps)
        };
        (at(1e-5) - at(-1e-5)) / 2e-5
    };
    x.iter().enumerate().map(|(i, x)| (slope * x, secant(i))).collect()
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(4);
    let wrong = cx.fault(&FAULTS);
    let instances = cx.size("instances")?;
    let loss = cx.all_trials("instances", instances, |trial| {
        Ok(differences(&mut trial.seed.child("data").rng(), wrong))
    })?;
    cx.judge("the formula against differences of the loss", exact_all(loss.into_iter().flatten(), 1e-6));
    let sums =
        cx.all_trials("sums", instances, |trial| summed(&mut trial.seed.child("data").rng(), wrong))?;
    cx.judge("AESVR on one attribute: E g~ is the gradient", exact_all(sums.into_iter().flatten(), 1e-9));
    let all = cx.all_trials("moments", cx.size("enumerations")?, |trial| {
        moments(&mut trial.seed.child("data").rng(), wrong)
    })?;
    let of = |kind: usize| all.iter().flat_map(move |pairs| pairs[kind].iter().copied());
    cx.judge("AESVR given n+ and n-: mean of g~ over all draws", exact_all(of(0), 1e-9));
    cx.judge("AESVR given n+ and n-: second moment of g~ over all draws", exact_all(of(1), 1e-9));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-svr-gradient",
    place: "Section 4.2 and Algorithm 4, lines 8 and 9",
    sentence: "The gradient of the smoothed loss is half the sum of two error functions, at the scaled \
               example and the two shifted and scaled labels, times the example itself, and AESVR's estimate \
               of it is unbiased.",
    formula: r"\nabla \ell^\varepsilon(w) = \frac12 \left[ \rho'(w \cdot x' - y^+) + \rho'(w \cdot x' -
               y^-) \right] x = \mathbb{E}[\tilde{g}], \quad x' = \frac{x}{\varepsilon}, \; y^\pm =
               \frac{y \pm \delta}{\varepsilon}",
    design: "Random w, x, y, delta, eps. The formula against central differences of the production loss in \
             four dimensions. Then production AESVR, brought to w by steps of its own, takes its step for \
             given draws: on one attribute, where a factor is its mean, summed over n with the law of n; on \
             two attributes over all draws given n+ and n-, its mean and its second moment, for one and two \
             uniform draws and N = 1, 2, 3. That the learner draws n and attributes as it should is \
             hk12-lem41-unbiased.",
    standing: Standing::sound(),
    mutants: &mutants(&FAULTS),
    experiment,
};
