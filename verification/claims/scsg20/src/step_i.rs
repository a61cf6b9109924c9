//! Step (i) of the last part of the proof: descent towards x*.
//!
//! *Corrected.* For f that is rho-strongly convex and any x*, with `G = |pi_I g*|^2` on
//! `I = supp(x) u supp(x*)`:
//! - `<grad f(x) - g*, x - x*> >= rho |x - x*|^2`;
//! - `<grad f(x), x - x*> >= (rho/2) |x - x*|^2 - G/(2 rho)`.
//!
//! *Print.* There the second has no G. That is true of the printed x*, the optimum over sparse vectors, since
//! `f(x) >= f(x*)`. At another x* it fails: for `f = (1/2)|x - c|^2`, `x* = (c_1, 0)`, `x = c` left is 0 and
//! right `c_2^2/2`. An optimum with k > k* has `g* = 0` (erratum 1), so that a residual term says something
//! only where x* may be any sparse vector; then it enters Theorem 1 as `G/rho^2`, without a factor eta.

use lao_finite_sum::Batch;
use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{
    SmallSum, dot, minus, norm2, norm2_on, production_gradient, sparse_normal, support_of, tally,
};
use lao_verification_engine::judge::PropertyTally;
use rand::RngExt;

/// A sum, x* and x.
pub(super) struct Pair {
    pub(super) small: SmallSum,
    pub(super) star: Vec<f64>,
    pub(super) x: Vec<f64>,
}

impl Pair {
    /// Any sum and any x*; or one whose gradient vanishes at x*.
    pub(super) fn random(rng: &mut Rng, number: u64, stationary: bool) -> Self {
        let (n, dim) = (rng.random_range(2..=6), rng.random_range(1..=5));
        let (small, star) = if stationary {
            SmallSum::balanced(rng, number, n, dim)
        } else {
            let size = rng.random_range(0..=dim);
            let small = SmallSum::random(rng, number, n, dim);
            (small, sparse_normal(rng, dim, size))
        };
        let (size, scale) = (rng.random_range(1..=dim), 10f64.powf(rng.random_range(-2.0..2.0)));
        let x = sparse_normal(rng, dim, size).iter().zip(&star).map(|(x, star)| star + scale * x).collect();
        Pair { small, star, x }
    }

    /// `f = (1/2)|x - c|^2`, `x* = (c_1, 0)`, `x = c`.
    fn counterexample() -> Self {
        Pair { small: SmallSum::around(&[vec![1.0, 2.0]]), star: vec![1.0, 0.0], x: vec![1.0, 2.0] }
    }

    /// `|pi_I g*|^2`.
    pub(super) fn residual(&self) -> f64 {
        norm2_on(&self.small.gradient(&self.star), support_of(&self.x) | support_of(&self.star))
    }

    /// `rho`, `<grad f(x), x - x*>` and `|x - x*|^2`.
    fn descent(&self) -> anyhow::Result<(f64, f64, f64)> {
        let away = minus(&self.x, &self.star);
        let gradient = production_gradient(&mut self.small.production()?, Batch::All, &self.x)?;
        Ok((self.small.constants()?.0, dot(&gradient, &away), norm2(&away)))
    }

    fn check_difference(&self, share: f64, tally: &mut PropertyTally) -> anyhow::Result<()> {
        let (rho, descent, distance) = self.descent()?;
        let along = dot(&self.small.gradient(&self.star), &minus(&self.x, &self.star));
        // Relative to what cancels.
        let unit = descent.abs() + along.abs();
        tally.check(share * rho * distance / unit, (descent - along) / unit);
        Ok(())
    }

    /// `share` of G; 0 is the print.
    fn check_descent(&self, share: f64, tally: &mut PropertyTally) -> anyhow::Result<()> {
        let (rho, descent, distance) = self.descent()?;
        // f need not be strongly convex where there is no residual.
        let allowed = if share > 0.0 { share * self.residual() / (2.0 * rho) } else { 0.0 };
        let unit = descent.abs() + allowed + 0.5 * rho * distance;
        tally.check(0.5 * rho * distance / unit, (descent + allowed) / unit);
        Ok(())
    }
}

const PER_TRIAL: u64 = 100;

/// What a fault changes.
#[derive(Clone, Copy)]
struct Arm {
    more: f64,
    share: f64,
    any_star: bool,
}

const SOUND: Arm = Arm { more: 1.0, share: 1.0, any_star: false };

const FAULTS: [Fault<Arm>; 3] = [
    Fault::refuted(
        "star_not_optimal",
        "any sparse vector for the optimum x*",
        Arm { any_star: true, ..SOUND },
    ),
    Fault::refuted("more_convexity", "1.01 rho in place of rho", Arm { more: 1.01, ..SOUND }),
    Fault::refuted("residual_dropped", "without G/(2 rho)", Arm { share: 0.0, ..SOUND }),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(4);
    let Arm { more, share, any_star } = cx.arm(SOUND, &FAULTS);
    let n = cx.size("instances")?.div_ceil(PER_TRIAL);
    let [difference, descent, optimal] =
        tally(cx, "instances", n, |trial, [difference, descent, optimal]| {
            let rng = &mut trial.seed.child("data").rng();
            for number in 0..PER_TRIAL {
                let pair = Pair::random(rng, number, false);
                pair.check_difference(more, difference)?;
                pair.check_descent(share, descent)?;
                let pair = if any_star { pair } else { Pair::random(rng, number, true) };
                pair.check_descent(0.0, optimal)?;
            }
            Ok(())
        })?;
    let mut tight = PropertyTally::new();
    let centers = [[1.0, -2.0], [0.0, 0.5], [-4.0, 0.0]].map(|c| c.to_vec());
    let pair = Pair { small: SmallSum::around(&centers), star: vec![-1.0, -0.5], x: vec![0.7, 0.1] };
    pair.check_difference(more, &mut tight)?;
    Pair::counterexample().check_descent(share, &mut tight)?;
    cx.judge("difference of gradients", difference.finish());
    cx.judge("gradient, with the residual", descent.finish());
    cx.judge("gradient, as printed, x* optimal", optimal.finish());
    cx.judge("isotropic f, and the counterexample to the print", tight.finish());
    Ok(())
}

/// The claim, corrected.
pub const CLAIM: Claim = Claim {
    id: "scsg20-step-i",
    place: "Proof sketch, step (i)",
    sentence: "For any x*, <grad f(x), x - x*> is at least (rho/2) |x - x*|^2 - G/(2 rho); at the optimum \
               the last term is not needed.",
    formula: r"\langle \nabla f(x) - \nabla f(x^*), x - x^* \rangle \ge \rho \|x - x^*\|^2, \; \langle
               \nabla f(x), x - x^* \rangle \ge \tfrac{\rho}{2} \|x - x^*\|^2 - \tfrac{1}{2 \rho}
               \|\pi_I \nabla f(x^*)\|^2",
    design: "Random sums and points; f isotropic, where the first is an equality. Production gradients.",
    standing: Standing::corrected(&[6]),
    mutants: &mutants(&FAULTS),
    experiment,
};
