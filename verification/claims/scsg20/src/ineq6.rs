//! Inequality (6): the second moment inserted.
//!
//! *Corrected.* With `F = f - f(x*)`, `G = |g*|^2`, `r = b/B`, and C the mean of `<e, x_N - x*>`, at any
//! x* (alpha = 0 here):
//!
//! ```text
//! 2 (1 - 2 L eta) eta P + r D <= -4 L eta^2 E F(x_N) + 4 L eta^2 F(X) + (r + 2 L^2 eta^2) D_0
//!     + 2 eta^2 (E|e|^2 + E|grad f(x_N)|^2 + G) - 2 eta C
//! ```
//!
//! if every component is L-smooth. *As printed* C is missing, as in (4). The theorem then drops
//! `-4 L eta^2 E F(x_N)`, which needs `F >= 0` once more.
//!
//! *Why.* Components are co-coercive:
//! `2 E|grad f_z(x_N) - grad f_z(x*)|^2 <= -4 L F(x_N) + 4 L <grad f(x_N), x_N - x*>`, whatever `g*`.

use crate::setup::enumerated::averages;
use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{SmallSum, batches, tally};
use lao_verification_engine::judge::{PropertyTally, exact_all};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// `f_z = (1/2) h_z u^2 + q_z u` in `u = x - x*`.
struct Scalar {
    curvature: Vec<f64>,
    slope: Vec<f64>,
    /// `g*`, the mean slope.
    tilt: f64,
}

/// Means over the mini-batches at one step.
#[derive(Clone, Copy, Default)]
struct Moments {
    first: f64,
    second: f64,
    direction: f64,
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

impl Scalar {
    fn random(rng: &mut Rng, n: usize, spread: bool, tilted: bool) -> Self {
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        // With `spread`, one component is far more curved than f.
        let curvature = (0..n).map(|z| if spread && z > 0 { 0.01 } else { normal().exp() }).collect();
        let slope: Vec<f64> = (0..n).map(|_| normal()).collect();
        let center = mean(slope.iter().copied());
        let tilt = if tilted { normal() } else { 0.0 };
        Scalar { curvature, slope: slope.iter().map(|q| q - center + tilt).collect(), tilt }
    }

    /// One component in `every` has the curvature `curved` and the others next to none; x* minimizes all of
    /// them.
    fn mostly_flat(n: usize, every: usize, curved: f64) -> Self {
        let curvature = (0..n).map(|z| if z % every == 1 { curved } else { 5e-4 * curved }).collect();
        Scalar { curvature, slope: vec![0.0; n], tilt: 0.0 }
    }

    fn mean_curvature(&self) -> f64 {
        mean(self.curvature.iter().copied())
    }

    /// `mu = grad f_I(X)` at `U = X - x*`.
    fn snapshot(&self, batch: &[u32], at: f64) -> f64 {
        mean(batch.iter().map(|&z| self.curvature[z as usize] * at + self.slope[z as usize]))
    }

    /// Moments at steps 0, .., T of an epoch with this snapshot gradient and single components.
    fn moments(&self, at: f64, mu: f64, step_size: f64, steps: usize) -> Vec<Moments> {
        let (h, square) = (self.mean_curvature(), mean(self.curvature.iter().map(|h| h * h)));
        let (mut first, mut second) = (at, at * at);
        let step = |_| {
            // E(u - U)^2 and E(u - U).
            let (spread, gap) = (second - 2.0 * at * first + at * at, first - at);
            let direction = square * spread + 2.0 * h * gap * mu + mu * mu;
            let now = Moments { first, second, direction };
            // E u v = h E u (u - U) + mu E u.
            let mixed = h * (second - at * first) + mu * first;
            second += step_size * step_size * direction - 2.0 * step_size * mixed;
            first -= step_size * (h * gap + mu);
            now
        };
        (0..=steps).map(step).collect()
    }
}

/// What an arm gets wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    no_cross: bool,
    no_snapshot: bool,
    mean_smoothness: bool,
    too_long: bool,
}

impl Arm {
    /// `(lhs, rhs)` of (6) for epochs from `U` with these batches, all equally likely.
    fn sides(self, scalar: &Scalar, at: f64, step_size: f64, batches: &[Vec<u32>]) -> (f64, f64) {
        let size = batches[0].len() as f64;
        let (h, r, g) = (scalar.mean_curvature(), 1.0 / size, size / (size + 1.0));
        let most = scalar.curvature.iter().copied().fold(0.0, f64::max);
        let l = if self.mean_smoothness { h } else { most };
        let steps = (1e-18_f64.ln() / g.ln()).ceil() as usize;
        let (mut distance, mut cross, mut error, mut away) = (0.0, 0.0, 0.0, 0.0);
        for batch in batches {
            let weight = 1.0 / batches.len() as f64;
            let mu = scalar.snapshot(batch, at);
            let e = mu - h * at - scalar.tilt;
            error += weight * e * e;
            let mut probability = 1.0 - g;
            for now in scalar.moments(at, mu, step_size, steps) {
                distance += weight * probability * now.second;
                away += weight * probability * now.first;
                cross += weight * probability * e * now.first;
                probability *= g;
            }
        }
        let start = at * at;
        // f is a parabola: <grad f(x), x - x*> = h u^2 + g u, F = h u^2/2 + g u, |grad f|^2 = (h u + g)^2.
        let g = scalar.tilt;
        let descent = h * distance + g * away;
        let lhs = 2.0 * (1.0 - 2.0 * l * step_size) * step_size * descent + r * distance;
        let eta2 = step_size * step_size;
        let snapshot = 4.0 * l * (0.5 * h * start + g * at) + 2.0 * l * l * start;
        let snapshot = if self.no_snapshot { 0.0 } else { eta2 * snapshot };
        let rhs = -4.0 * l * eta2 * (0.5 * h * distance + g * away)
            + r * start
            + snapshot
            + 2.0 * eta2 * (error + h * h * distance + 2.0 * h * g * away + 2.0 * g * g)
            - if self.no_cross { 0.0 } else { 2.0 * step_size * cross };
        (lhs, rhs)
    }
}

const SOUND: Arm = Arm { no_cross: false, no_snapshot: false, mean_smoothness: false, too_long: false };

const FAULTS: [Fault<Arm>; 4] = [
    Fault::refuted("step_doubled", "production steps twice as long as eta", Arm { too_long: true, ..SOUND }),
    Fault::refuted("cross_term_dropped", "no cross term, as printed", Arm { no_cross: true, ..SOUND }),
    Fault::refuted(
        "snapshot_terms_dropped",
        "neither F(X) nor the 2 L^2 eta^2 of the snapshot",
        Arm { no_snapshot: true, ..SOUND },
    ),
    Fault::refuted(
        "smoothness_of_the_mean",
        "L of f, as Assumption 1(ii) has it, not of the components",
        Arm { mean_smoothness: true, ..SOUND },
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(5);
    let arm = cx.arm(SOUND, &FAULTS);
    let checked = cx.size("checked")?;
    let pairs = cx.all_trials("recursion", checked, |trial| {
        let rng = &mut trial.seed.child("data").rng();
        let (scalar, at) =
            (Scalar::random(rng, 4, false, trial.number % 2 == 1), rng.random_range(-2.0..2.0));
        let parts = scalar.curvature.iter().zip(&scalar.slope);
        let components: Vec<_> = parts.map(|(&h, &q)| (vec![h], vec![-q / h])).collect();
        let (size, step_size) = (rng.random_range(1..=4), rng.random_range(0.01..0.3));
        let small = SmallSum::quadratics(&components);
        let taken = if arm.too_long { 2.0 * step_size } else { step_size };
        let found = averages(&small, (&[at], &[0.0]), (1, taken), size, 3)?;
        let batches = batches(4, size);
        let mut expected = vec![Moments::default(); 4];
        for batch in &batches {
            let moments = scalar.moments(at, scalar.snapshot(batch, at), step_size, 3);
            for (total, now) in expected.iter_mut().zip(moments) {
                total.second += now.second / batches.len() as f64;
                total.direction += now.direction / batches.len() as f64;
            }
        }
        let distances = found.distance.iter().zip(&expected).map(|(a, b)| (*a, b.second));
        let directions = found.direction.iter().zip(&expected).map(|(a, b)| (*a, b.direction));
        Ok(distances.chain(directions).collect::<Vec<_>>())
    })?;
    cx.judge("moments of production epochs", exact_all(pairs.into_iter().flatten(), 1e-10));

    let n = cx.size("instances")?;
    let [batched, full, any] = tally(cx, "instances", n, |trial, [batched, full, any]| {
        let rng = &mut trial.seed.child("data").rng();
        let spread = trial.number.is_multiple_of(3);
        let n = rng.random_range(2..=6);
        let (scalar, at) = (Scalar::random(rng, n, spread, false), rng.random_range(-2.0..2.0));
        let step = |rng: &mut Rng, scalar: &Scalar| {
            let most = scalar.curvature.iter().copied().fold(0.0, f64::max);
            10f64.powf(rng.random_range(-3.0..-0.7)) / most
        };
        let step_size = step(rng, &scalar);
        for size in 1..=n {
            let (lhs, rhs) = arm.sides(&scalar, at, step_size, &batches(n, size));
            batched.check(lhs, rhs);
        }
        let tilted = Scalar::random(rng, n, spread, true);
        let eta = step(rng, &tilted);
        for size in 1..=n {
            let (lhs, rhs) = arm.sides(&tilted, at, eta, &batches(n, size));
            let unit = lhs.abs() + rhs.abs();
            any.check(lhs / unit, rhs / unit);
        }
        let n = rng.random_range(20..=200);
        let scalar = Scalar::random(rng, n, spread, false);
        let step_size = step(rng, &scalar);
        let (lhs, rhs) = arm.sides(&scalar, at, step_size, &[(0..n as u32).collect()]);
        full.check(lhs, rhs);
        // Random components seldom need the snapshot's terms; with flat ones, and long steps, x_N comes near
        // x*, and these terms are what is left.
        let n = rng.random_range(150..=200);
        for every in [2, 10] {
            let scalar = Scalar::mostly_flat(n, every, 10f64.powf(rng.random_range(-1.0..1.0)));
            let step_size = rng.random_range(0.15..0.2) / scalar.curvature[1];
            let (lhs, rhs) = arm.sides(&scalar, at, step_size, &[(0..n as u32).collect()]);
            full.check(lhs, rhs);
        }
        Ok(())
    })?;
    // Where the iterate ends near x* and the snapshot is far: what is left of v is (h_z - h)(x_N - X).
    let (n, mut far) = (200, PropertyTally::new());
    let (lhs, rhs) = arm.sides(&Scalar::mostly_flat(n, 2, 2.0), 1.0, 0.1, &[(0..n as u32).collect()]);
    far.check(lhs, rhs);
    cx.judge("B = n, half of the components flat", far.finish());
    cx.judge("all batches", batched.finish());
    cx.judge("B = n", full.finish());
    cx.judge("all batches, any x*", any.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-ineq6",
    place: "Proof sketch, inequality (6)",
    sentence: "Inserting the second moment of the direction into (5) gives (6) with the cross term, if every \
               component is L-smooth, whatever x* is.",
    formula: r"2 (1 - 2 L \eta) \eta P_N + r D_N \le -4 L \eta^2 E F(x_N) + 4 L \eta^2 F(\tilde{x}) + (r
               + 2 L^2 \eta^2) D_0 + 2 \eta^2 E \left( \|e\|^2 + \|\nabla f(x_N)\|^2 +
               \|\nabla f(x^*)\|^2 \right) - 2 \eta E
               \langle e, x_N - x^* \rangle",
    design: "Scalar components (1/2) h_z (x - c_z)^2, for which the first two moments of x_t - x* follow a \
             recursion; it is compared with production epochs over all draws, and then summed over N. All \
             batches; also B = n of up to 200 components, random ones and such of which half, \
             or nine in ten, are flat, where the snapshot's terms are needed.",
    standing: Standing::corrected(&[3, 7, 8]),
    mutants: &mutants(&FAULTS),
    experiment,
};
