//! Inequality (5): from steps to epochs.
//!
//! *Corrected.* Averaging (4), with its cross term, over `N ~ Geom(B/(B+b))` and using Lemma 4, with
//! `P, D, V, C` for the means of `<grad f(x_N), x_N - x*>`, `|x_N - x*|^2`, `|pi_I v_N|^2`, `<e, x_N - x*>`
//! and `r = b/B`,
//!
//! ```text
//! 2 (1+alpha) eta P <= (alpha - r) D + r D_0 + (1+alpha) eta^2 V - 2 (1+alpha) eta C
//! ```
//!
//! with equality where thresholding does nothing. *As printed* C is missing, as in (4).

use crate::setup::enumerated::{Averages, averages_around};
use lao_algorithms::thresholding::theory::expansion;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{sparse_normal, tally};
use lao_verification_engine::judge::exact_all;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

const STEPS: usize = 160;
const COMPONENTS: usize = 6;
/// `(B, b)`.
const SIZES: [(usize, usize); 4] = [(2, 1), (3, 1), (4, 2), (6, 2)];

/// What an arm gets wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    inverted: bool,
    fixed: bool,
    no_cross: bool,
    too_long: bool,
}

/// Means over N.
struct Epoch {
    start: f64,
    descent: f64,
    distance: f64,
    direction: f64,
    cross: f64,
    error: f64,
}

impl Arm {
    fn epoch(self, at: &Averages, (size, mini): (usize, usize)) -> Epoch {
        let g = size as f64 / (size + mini) as f64;
        let probability = |t: usize| match self.fixed {
            true => f64::from(t == size / mini),
            false => (1.0 - g) * g.powi(t as i32),
        };
        let over =
            |values: &[f64]| -> f64 { (0..STEPS).zip(values).map(|(t, value)| probability(t) * value).sum() };
        Epoch {
            start: at.distance[0],
            descent: over(&at.descent),
            distance: over(&at.distance),
            direction: over(&at.direction),
            cross: over(&at.cross),
            error: at.error,
        }
    }

    /// The step that the solver takes.
    fn taken(self, step_size: f64) -> f64 {
        if self.too_long { 10.0 * step_size } else { step_size }
    }

    /// `(lhs, rhs)` of (5).
    fn sides(self, epoch: &Epoch, (size, mini): (usize, usize), step_size: f64, alpha: f64) -> (f64, f64) {
        let r = mini as f64 / size as f64;
        let r = if self.inverted { 1.0 / r } else { r };
        let cross = if self.no_cross { 0.0 } else { epoch.cross };
        let rhs = (alpha - r) * epoch.distance
            + r * epoch.start
            + (1.0 + alpha) * (step_size * step_size * epoch.direction - 2.0 * step_size * cross);
        (2.0 * (1.0 + alpha) * step_size * epoch.descent, rhs)
    }
}

const SOUND: Arm = Arm { inverted: false, fixed: false, no_cross: false, too_long: false };

const FAULTS: [Fault<Arm>; 4] = [
    Fault::refuted(
        "step_too_long",
        "the solver's steps are ten times as long as eta",
        Arm { too_long: true, ..SOUND },
    ),
    Fault::refuted("ratio_inverted", "B/b in place of b/B", Arm { inverted: true, ..SOUND }),
    Fault::refuted("option_two", "N fixed at B/b", Arm { fixed: true, ..SOUND }),
    Fault::refuted("cross_term_dropped", "no cross term, as printed", Arm { no_cross: true, ..SOUND }),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(4);
    let arm = cx.arm(SOUND, &FAULTS);
    let (mut equalities, mut closed) = (Vec::new(), Vec::new());
    let centers = [1.0, -1.0, 2.0, -2.0, 0.5, -0.5].map(|c| vec![c]);
    for size in SIZES {
        for step_size in [1.0 / 64.0, 0.3] {
            for (start, star) in [(0.0, 0.0), (1.3, 0.0), (-0.4, 0.7)] {
                let at =
                    averages_around(&centers, (&[start], &[star]), (1, arm.taken(step_size)), size, STEPS)?;
                let epoch = arm.epoch(&at, size);
                equalities.push(arm.sides(&epoch, size, step_size, 0.0));
                if star == 0.0 {
                    let r = size.1 as f64 / size.0 as f64;
                    let m_1 = r / (r + step_size);
                    let m_2 = r / (r + 2.0 * step_size - step_size * step_size);
                    closed.push((epoch.distance, m_2 * epoch.start + (1.0 - 2.0 * m_1 + m_2) * epoch.error));
                    closed.push((epoch.cross, (m_1 - 1.0) * epoch.error));
                }
            }
        }
    }
    cx.judge("equality without thresholding", exact_all(equalities, 1e-12));
    cx.judge("closed forms", exact_all(closed, 1e-12));
    cx.settled()?;
    let n = cx.size("instances")?;
    let [zero, sparse] = tally(cx, "instances", n, |trial, [zero, sparse]| {
        let rng = &mut trial.seed.child("data").rng();
        let with_star = trial.number % 2 == 1;
        // With x* sparse, alpha is at most b/B = 1/2 only for k of 17 and more.
        let dim = if with_star { rng.random_range(19..=22) } else { rng.random_range(2..=4) };
        let size = SIZES[if with_star { 2 * rng.random_range(0..2) } else { rng.random_range(0..4) }];
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let centers: Vec<Vec<f64>> = (0..COMPONENTS).map(|_| (0..dim).map(|_| normal()).collect()).collect();
        let step_size = rng.random_range(0.005..0.3);
        let sparsity = if with_star { dim - 1 } else { rng.random_range(1..dim) };
        let k_star = usize::from(with_star);
        let alpha = expansion(k_star, sparsity);
        anyhow::ensure!(alpha <= size.1 as f64 / size.0 as f64, "alpha is beyond b/B");
        let (start, star) = (sparse_normal(rng, dim, sparsity), sparse_normal(rng, dim, k_star));
        let at = averages_around(&centers, (&start, &star), (sparsity, arm.taken(step_size)), size, STEPS)?;
        let epoch = arm.epoch(&at, size);
        let (lhs, rhs) = arm.sides(&epoch, size, step_size, alpha);
        if k_star == 0 {
            zero.check(lhs, rhs)
        } else {
            sparse.check(lhs, rhs)
        };
        Ok(())
    })?;
    cx.judge("with thresholding, x* = 0", zero.finish());
    cx.judge("with thresholding, sparse x*", sparse.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-ineq5",
    place: "Proof sketch, inequality (5)",
    sentence: "Averaged over an epoch's random length, (4) with its cross term becomes (5) with its cross \
               term, an equality where thresholding does nothing.",
    formula: r"2 (1+\alpha) \eta E \langle \nabla f(x_N), x_N - x^* \rangle \le \left( \alpha -
               \tfrac{b}{B} \right) D_N + \tfrac{b}{B} D_0 + (1+\alpha) \left[ \eta^2 E\|\pi_I v_N\|^2 -
               2 \eta E \langle e, x_N - x^* \rangle \right]",
    design: "Components (1/2)|x - c_z|^2, all batches, production epochs of 160 steps (the law's tail beyond \
             is below 1e-19). Equality without thresholding, and the closed forms D = m_2 D_0 + (1 - 2 m_1 + \
             m_2) V_I, C = -(1 - m_1) V_I with m_1 = r/(r+eta), m_2 = r/(r + 2 eta - eta^2), V_I = E|e|^2. \
             The inequality with thresholding, for x* = 0, and for k* = 1 with k of 18 to 21, where alpha is \
             at most b/B = 1/2, as the theorem has it.",
    standing: Standing::corrected(&[3]),
    mutants: &mutants(&FAULTS),
    experiment,
};
