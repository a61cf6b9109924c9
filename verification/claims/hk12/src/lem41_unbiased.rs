//! Lemma 4.1, first part: GenEst is unbiased for an entire derivative.
//!
//! *Statement.* With `n` drawn with probability `2^-(n+1)` and `theta~_1 .. theta~_n` independent with mean
//! `theta = w.x - y`, `phi = 2^(n+1) a_n theta~_1 .. theta~_n` has mean `sum_n a_n theta^n = f'(theta)` (the
//! proof prints `f(theta)`: erratum 16).
//!
//! *Why.* Given `n` the factors are independent, whether each is one attribute or a mean of `N`. The sum over
//! `n` may be taken inside if `sum_n |a_n| (E |theta~|)^n` is finite: always, if `f'` is entire. Analytic on
//! the real line, which is what the lemma asks for, is not enough
//! ([the printed form](super::lem41_unbiased_printed), erratum 12).

use lao_algorithms::hazan_koren::gen_est::{GenEst, GenEstDraws, erf_coefficient};
use lao_observation::Seed;
use lao_observation::estimate::inner_product::l2_law;
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{dot, norm2};
use lao_verification_engine::judge::equal::{EqualJudge, discrete};
use lao_verification_engine::judge::{exact, exact_all};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Relative to the mean absolute value of the estimates.
const TOLERANCE: f64 = 1e-10;
/// Longest sequence of attributes that is enumerated.
const LONGEST: u32 = 8;

/// A predictor and an example.
struct Instance {
    w: Vec<f64>,
    x: Vec<f64>,
    y: f64,
}

impl Instance {
    fn draw(seed: &Seed, dim: usize) -> Self {
        let mut rng = seed.rng();
        let mut normal = |n: usize| (0..n).map(|_| StandardNormal.sample(&mut rng)).collect::<Vec<f64>>();
        let (mut w, x, y) = (normal(dim), normal(dim), normal(1)[0]);
        // A tiny weight, whose attribute has a large importance.
        w[0] *= if y > 0.0 { 1e-3 } else { 1.0 };
        Instance { w, x, y }
    }

    fn theta(&self) -> f64 {
        dot(&self.w, &self.x) - self.y
    }

    /// `phi` from these attributes.
    fn estimate(&self, arm: &Arm, estimate: &GenEst, draws: &GenEstDraws) -> f64 {
        let squares = norm2(&self.w);
        let inner_product = |j: u32| l2_law(squares, self.w[j as usize], self.x[j as usize]);
        let phi = estimate.value(|n| arm.coefficient(n), draws, inner_product, self.y);
        if arm.half_power { 0.5 * phi } else { phi }
    }

    /// `E phi` and `E |phi|` given `n`, over all sequences of attributes.
    fn given(&self, arm: &Arm, estimate: &GenEst, n: u32) -> (f64, f64) {
        let (dim, squares) = (self.w.len(), norm2(&self.w));
        let reads = n * estimate.copies(n);
        let (mut mean, mut size) = (0.0, 0.0);
        for code in 0..dim.pow(reads) {
            let of = |place: u32| (code / dim.pow(place) % dim) as u32;
            let mut attributes: Vec<u32> = (0..reads).map(of).collect();
            let probability: f64 = attributes.iter().map(|&j| self.w[j as usize].powi(2) / squares).product();
            if arm.shares_factor {
                let copies = estimate.copies(n) as usize;
                (copies..attributes.len()).for_each(|place| attributes[place] = attributes[place - copies]);
            }
            let phi = self.estimate(arm, estimate, &GenEstDraws { factors: n, attributes });
            mean += probability * phi;
            size += probability * phi.abs();
        }
        (mean, size)
    }
}

/// What an arm gets wrong.
struct Arm {
    half_power: bool,
    early_law: bool,
    shares_factor: bool,
    loses_divisor: bool,
    loses_sign: bool,
}

const HALF_THE_POWER: Mutant = Mutant::refuted("half_the_power", "2^n in the place of 2^(n+1)");
const LAW_STARTS_AT_ONE: Mutant = Mutant::refuted("law_starts_at_one", "draws n >= 1 with probability 2^-n");
const ONE_SHARED_FACTOR: Mutant =
    Mutant::refuted("one_shared_factor", "one estimate of theta, raised to the n-th power");
const FORGETS_DIVISOR: Mutant = Mutant::refuted("forgets_divisor", "coefficients of erf without 1/(2m + 1)");
const FORGETS_SIGN: Mutant = Mutant::refuted("forgets_sign", "coefficients of erf without (-1)^m");

impl Arm {
    fn of(cx: &Context<'_>) -> Self {
        Arm {
            half_power: cx.commits(&HALF_THE_POWER),
            early_law: cx.commits(&LAW_STARTS_AT_ONE),
            shares_factor: cx.commits(&ONE_SHARED_FACTOR),
            loses_divisor: cx.commits(&FORGETS_DIVISOR),
            loses_sign: cx.commits(&FORGETS_SIGN),
        }
    }

    /// The coefficient that the arm uses.
    fn coefficient(&self, n: u32) -> f64 {
        let a = erf_coefficient(n);
        let a = if self.loses_divisor { a * f64::from(n) } else { a };
        if self.loses_sign { a.abs() } else { a }
    }

    /// The number of factors that the arm uses in the place of the one drawn.
    fn factors(&self, n: u32) -> u32 {
        if self.early_law { n + 1 } else { n }
    }
}

/// `a_n` by its definition, `(2/sqrt(pi)) (-1)^m / (m! (2m+1))` for `n = 2m + 1`.
fn series(n: u32) -> f64 {
    let m = f64::from(n / 2);
    let size = (-libm::lgamma(m + 1.0)).exp() * 2.0 / std::f64::consts::PI.sqrt() / f64::from(n);
    match n % 4 {
        1 => size,
        3 => -size,
        _ => 0.0,
    }
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(4);
    let arm = Arm::of(cx);

    let pairs = cx.all_trials("enumeration", cx.size("instances")?, |trial| {
        let mut pairs = Vec::new();
        for (dim, repetitions) in [(2, 1), (3, 1), (2, 2), (3, 2)] {
            let instance = Instance::draw(&trial.seed.trial(dim as u64), dim);
            let estimate = GenEst::new(repetitions);
            for n in (1..).step_by(2).take_while(|&n| n * estimate.copies(n) <= LONGEST) {
                let (mean, size) = instance.given(&arm, &estimate, n);
                let wanted = 2f64.powi(n as i32 + 1) * series(n) * instance.theta().powi(n as i32);
                let unit = size.max(wanted.abs()).max(f64::MIN_POSITIVE);
                pairs.push((mean / unit, wanted / unit));
            }
        }
        Ok(pairs)
    })?;
    cx.judge("given n, over all attributes", exact_all(pairs.into_iter().flatten(), TOLERANCE));

    let mut worst = (0.0f64, 0.0f64);
    for step in -25..=25 {
        let theta = f64::from(step) / 10.0;
        let (instance, estimate) = (Instance { w: vec![0.5], x: vec![2.0], y: 1.0 - theta }, GenEst::new(5));
        let term = |drawn: u32| {
            let n = arm.factors(drawn);
            let attributes = vec![0; estimate.reads(erf_coefficient, n) as usize];
            let probability = 0.5f64.powi(drawn as i32 + 1);
            probability * instance.estimate(&arm, &estimate, &GenEstDraws { factors: n, attributes })
        };
        let pair = ((0..=60).rev().map(term).sum::<f64>(), libm::erf(theta));
        if (pair.0 - pair.1).abs() >= (worst.0 - worst.1).abs() {
            worst = pair;
        }
    }
    cx.judge("summed over n, without noise", exact(worst.0, worst.1, 1e-9));

    let draws = cx.size("draws")?;
    let mut rng = cx.seed("sampler").child("algorithm").rng();
    // |x| = 0.8, |w| = 0.5, theta = 0.3: |theta| + |w| |x| = 0.7.
    let instance = Instance { w: vec![0.3, -0.4], x: vec![0.48, 0.64], y: -0.412 };
    let (estimate, mut drawn) = (GenEst::new(4), GenEstDraws::default());
    let mut counts = [0u64; 10];
    let mut judge = EqualJudge::new(vec![libm::erf(instance.theta())], Vec::new());
    for _ in 0..draws {
        let by_weight = |rng: &mut lao_observation::Rng| u32::from(rng.random::<f64>() >= 0.36);
        estimate.draw(erf_coefficient, by_weight, &mut rng, &mut drawn);
        counts[(arm.factors(drawn.factors) as usize).min(9)] += 1;
        let phi = if arm.early_law {
            // The attributes drawn fit another n: without noise only the law is wrong.
            let n = arm.factors(drawn.factors);
            2f64.powi(n as i32 + 1) * series(n) * instance.theta().powi(n as i32)
        } else {
            if arm.shares_factor {
                let copies = estimate.copies(drawn.factors) as usize;
                (copies..drawn.attributes.len())
                    .for_each(|at| drawn.attributes[at] = drawn.attributes[at - copies]);
            }
            instance.estimate(&arm, &estimate, &drawn)
        };
        judge.push(&[phi]);
    }
    let law: Vec<f64> = (0..10).map(|n| 0.5f64.powi(if n < 9 { n + 1 } else { 9 })).collect();
    cx.judge("law of n, production sampler", discrete(&counts, &law, Some(0.2)));
    let margin = 0.02;
    cx.judge("mean of the production sampler", judge.finish(Some(margin), cx.alpha()));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-lem41-unbiased",
    place: "Lemma 4.1, Procedure 3, Supplement A.6",
    sentence: "GenEst is an unbiased estimate of f'(w.x - y) for an entire f', in particular for the error \
               function.",
    formula: r"\mathbb{E}\left[2^{n+1} a_n \tilde\theta_1 \cdots \tilde\theta_n\right] = \sum_{n \ge 0}
               a_n \theta^n = f'(\theta), \qquad \theta = w^\top x - y",
    design: "Three parts, all on the production estimator. (1) Given n, the mean over all sequences of \
             attributes of two and three, one attribute to a factor or two, against 2^(n+1) a_n theta^n, \
             relative to the mean absolute value. (2) One attribute, where every factor is theta itself: the \
             sum over n <= 60 against erf(theta) for |theta| <= 2.5, to 1e-9. (3) The production sampler: \
             the law of n by chi-square, and the mean of a million estimates at |theta| + |w| |x| <= 0.7, \
             where the second moment is below 5; at larger theta its tail is so heavy that a mean says \
             nothing.",
    standing: Standing::corrected(&[12, 16]).literal(),
    mutants: &[HALF_THE_POWER, LAW_STARTS_AT_ONE, ONE_SHARED_FACTOR, FORGETS_DIVISOR, FORGETS_SIGN],
    experiment,
};
