//! Lemma A.2: clipping a variable whose mean is well inside the clip costs little.
//!
//! *Why.* The constant 2 can be 1/2, and that is sharp. Only one side counts, say `X > C`; with `u = X - mu`
//! and `D = C - mu >= C/2`, `(u - D)/u^2 <= 1/(4D) <= 1/(2C)`.
//!
//! *Tightness.* `mu = C/2`, `X = 3C/2` with a small probability p, else what makes the mean right: bias over
//! `Var/C` is `(1 - p)/2`.

use lao_verification_engine::claim::{Claim, Fault, Shown, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::tally;
use lao_verification_engine::judge::{PropertyTally, exact};
use rand::RngExt;

/// A law on a few points: values and probabilities.
struct Law<'a>(&'a [(f64, f64)]);

impl Law<'_> {
    fn mean(&self, f: impl Fn(f64) -> f64) -> f64 {
        self.0.iter().map(|&(x, p)| p * f(x)).sum()
    }

    /// Bias of the clip at `level`, and variance over C = 1, in units of the scale of the law: `None` if the
    /// mean is beyond `most`.
    fn sides(&self, level: f64, most: f64) -> Option<(f64, f64)> {
        let mean = self.mean(|x| x);
        let bias = self.mean(|x| x.clamp(-level, level) - x).abs();
        let variance = self.mean(|x| (x - mean) * (x - mean));
        (mean.abs() <= most).then_some((bias, variance))
    }
}

/// What a fault changes.
#[derive(Clone, Copy)]
struct Arm {
    level: f64,
    most: f64,
    sharp: f64,
}

const SOUND: Arm = Arm { level: 1.0, most: 0.5, sharp: 0.5 };

const FAULTS: [Fault<Arm>; 3] = [
    Fault::refuted("sharp_constant_cut", "0.49 Var/C on the right side", Arm { sharp: 0.49, ..SOUND }),
    Fault::refuted("clips_at_half", "clips at C/2, bound with C", Arm { level: 0.5, ..SOUND }),
    Fault::refuted("hypothesis_dropped", "any mean, also beyond C/2", Arm { most: f64::INFINITY, ..SOUND }),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(5);
    let Arm { level, most, sharp } = cx.arm(SOUND, &FAULTS);
    let constants = [2.0, sharp];
    let check = |tallies: &mut [PropertyTally; 2], law: &[(f64, f64)]| {
        if let Some((bias, variance)) = Law(law).sides(level, most) {
            for (tally, constant) in tallies.iter_mut().zip(constants) {
                tally.check(bias, constant * variance);
            }
        }
    };

    let grid = cx.size("grid")? as i64;
    let rows = tally(cx, "two points", grid as u64, |trial, tallies| {
        let a = 8.0 * trial.number as f64 / grid as f64 - 4.0;
        for b in 0..grid {
            let b = 8.0 * b as f64 / grid as f64 - 4.0;
            for p in 0..=grid {
                let p = p as f64 / grid as f64;
                check(tallies, &[(a, p), (b, 1.0 - p)]);
            }
        }
        Ok(())
    })?;
    let random = tally(cx, "three points", cx.size("random")?, |trial, tallies| {
        let rng = &mut trial.seed.child("data").rng();
        for _ in 0..100 {
            let weights: [f64; 3] = std::array::from_fn(|_| rng.random::<f64>().powi(3));
            let total: f64 = weights.iter().sum();
            let law = weights.map(|w| (rng.random_range(-1.0..1.0) / rng.random_range(0.05..1.0), w / total));
            check(tallies, &law);
        }
        Ok(())
    })?;
    let mut extremal = [PropertyTally::new(), PropertyTally::new()];
    let mut worst = 0.0f64;
    for p in [1e-1, 1e-2, 1e-3, 1e-4] {
        let law = [(1.5, p), (0.5 - p / (1.0 - p), 1.0 - p)];
        check(&mut extremal, &law);
        worst = Law(&law)
            .sides(level, f64::INFINITY)
            .map_or(worst, |(bias, variance)| worst.max(bias / variance));
    }
    for (name, form) in ["constant 2", "constant 1/2"].iter().zip(0..) {
        // The extremal family has two points too.
        let mut two = rows[form].clone();
        two.append(&extremal[form]);
        cx.judge(&format!("two points, {name}"), two.finish());
        cx.judge(&format!("three points, {name}"), random[form].finish());
    }
    cx.judge("largest bias over Var/C is (1 - p)/2 at p = 10^-4", exact(worst, 0.5 * (1.0 - 1e-4), 1e-9));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-lema2-clip-bias",
    place: "Lemma A.2",
    sentence: "Clipping at C a variable whose mean is at most C/2 in size shifts its mean by at most 2 \
               Var/C, and in fact by at most Var/(2C), which is sharp.",
    formula: r"|E X| \le \frac{C}{2} \Rightarrow |E[\operatorname{clip}(X, C)] - E[X]| \le
               \frac{\operatorname{Var} X}{2C} \le \frac{2 \operatorname{Var} X}{C}",
    design: "C = 1 (the statement is scale-free). All two-point laws on a grid, random three-point laws, the \
             extremal family. Means are finite sums. That the hypothesis is needed is a check of its own: at \
             a constant X = 1.2 C there is bias without variance.",
    standing: Standing::corrected(&[10]).showing(&[Shown { erratum: 10, cell: "largest bias over Var/C" }]),
    mutants: &mutants(&FAULTS),
    experiment,
};
