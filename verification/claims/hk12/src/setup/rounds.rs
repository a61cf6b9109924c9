//! AELR followed round by round, with all that the lemmas on clipping speak of.
//!
//! The production learner draws, is told the example, and steps. Beside it stand, written out here, its
//! weights `z+- = exp(+-u)` and the estimate `g~ = phi x~` on the same draws.

use super::problem::Problem;
use super::steps::tell;
use lao_algorithms::hazan_koren::{AelrParams, Horizon, TwoSampleDraws};
use lao_observation::sample::uniform_draws;
use lao_observation::{Ask, Learner, Rng, Seed};
use lao_verification_engine::instance::sup_norm;
use lao_verification_engine::mutants::Cripple;
use rand::RngExt;

/// A run of AELR.
pub(crate) struct Rounds<'a> {
    pub problem: &'a Problem,
    /// `k`.
    pub draws: usize,
    /// `m`.
    pub rounds: u64,
    /// `eta`.
    pub step_size: f64,
    /// The clip level times `eta`: 1 is the production learner, anything else a few lines of our own.
    pub clip: f64,
    /// Steps against the clipped estimate, as one should.
    pub descends: bool,
    /// A factor of the estimate; 1 is the method's.
    pub factor: f64,
    /// A factor of the production learner's step size; 1 is what the weights written out here have.
    pub pace: f64,
    /// How the learner is crippled, if it is: it plays, and sees estimates at, what the cripple leaves of its
    /// iterate.
    pub cripple: Option<Cripple>,
}

/// One round.
pub(crate) struct Round<'a> {
    /// `w_t`.
    pub w: &'a [f64],
    /// `g~_t`.
    pub estimate: &'a [f64],
    /// `g~_t` clipped.
    pub clipped: &'a [f64],
    /// `p+ + p-`, from the weights written out here.
    pub shares: &'a [f64],
    /// Distance of `w_t` from what those weights make of it, over B.
    pub off: f64,
}

/// `p+` and `p-`: `exp(+-u)` over the sum of all.
pub(crate) fn shares(u: &[f64]) -> Vec<(f64, f64)> {
    let top = sup_norm(u);
    let z: Vec<(f64, f64)> = u.iter().map(|u| ((u - top).exp(), (-u - top).exp())).collect();
    let total: f64 = z.iter().map(|(plus, minus)| plus + minus).sum();
    z.iter().map(|(plus, minus)| (plus / total, minus / total)).collect()
}

/// `w = B (p+ - p-)`.
pub(crate) fn predictor(u: &[f64], radius: f64) -> Vec<f64> {
    shares(u).iter().map(|(plus, minus)| radius * (plus - minus)).collect()
}

/// The `u` of a predictor whose size is well below B.
///
/// With `c = 1/(|z+|_1 + |z-|_1)` every `|p+ - p-|` is `2c sinh|u|`, and
/// `p+ + p- = sqrt((p+ - p-)^2 + 4c^2)`. These add up to 1, which is an equation for `c`: convex, so that
/// Newton's steps from above stay above.
pub(crate) fn exponents(w: &[f64], radius: f64) -> Vec<f64> {
    let v: Vec<f64> = w.iter().map(|w| w / radius).collect();
    let missing = 1.0 - v.iter().map(|v| v.abs()).sum::<f64>();
    let mut c = 0.5 / v.len() as f64;
    for _ in 0..200 {
        let roots = v.iter().map(|v| (v.abs(), v.hypot(2.0 * c)));
        let (mut excess, mut slope) = (-missing, 0.0);
        for (v, root) in roots {
            // The difference of root and v, without cancellation.
            excess += 4.0 * c * c / (root + v);
            slope += 4.0 * c / root;
        }
        let next = c - excess / slope;
        if !(next > 0.0 && next < c) {
            break;
        }
        c = next;
    }
    v.iter().map(|v| (v / (2.0 * c)).asinh()).collect()
}

/// The estimate of `w.x` from attribute `j`.
pub(crate) fn inner(w: &[f64], j: usize, x: &[f64]) -> f64 {
    let norm: f64 = w.iter().map(|w| w.abs()).sum();
    if w[j] == 0.0 { 0.0 } else { norm * w[j].signum() * x[j] }
}

/// `g~ = phi x~` on these draws.
pub(crate) fn estimate(w: &[f64], draws: &TwoSampleDraws, (x, y): (&[f64], f64)) -> Vec<f64> {
    let phi = inner(w, draws.weighted as usize, x) - y;
    let share = w.len() as f64 / draws.uniform.len() as f64;
    let mut g = vec![0.0; w.len()];
    for &i in &draws.uniform {
        g[i as usize] += share * phi * x[i as usize];
    }
    g
}

fn draw(w: &[f64], count: usize, rng: &mut Rng) -> TwoSampleDraws {
    let mut uniform = Vec::new();
    uniform_draws(w.len(), count, rng, &mut uniform);
    let mut left = rng.random::<f64>() * w.iter().map(|w| w.abs()).sum::<f64>();
    let place = w.iter().position(|w| {
        left -= w.abs();
        left < 0.0
    });
    TwoSampleDraws { weighted: place.map_or(uniform[0], |j| j as u32), uniform }
}

impl Rounds<'_> {
    /// Plays the rounds; `look` sees each before its step.
    pub(crate) fn follow(&self, seed: &Seed, mut look: impl FnMut(&Round<'_>)) -> anyhow::Result<()> {
        let Rounds { problem, draws, rounds, step_size, clip, descends, factor, pace, cripple } = *self;
        let (dim, radius) = (problem.dim, problem.radius);
        let params = AelrParams {
            step_size: pace * step_size,
            ..AelrParams::from_theorem(Horizon { dim, draws, radius, examples: rounds })
        };
        let mut learner = params.build()?;
        let (mut rng, mut ask) = (seed.child("algorithm").rng(), Ask::new(dim));
        let (production, level) = (clip == 1.0 && cripple.is_none(), clip / step_size);
        let direction = if descends { 1.0 } else { -1.0 };
        let mut u = vec![0.0; dim];
        problem.each_example(rounds, seed, |x, y| {
            let mut by_hand = predictor(&u, radius);
            if let Some(cripple) = cripple {
                cripple.estimate(&[], &mut by_hand);
            }
            let w = if production { learner.iterate() } else { by_hand.clone() };
            let draws = if production {
                learner.ask(&mut rng, &mut ask);
                learner.drawn()
            } else {
                draw(&w, draws, &mut rng)
            };
            let mut estimate = estimate(&w, &draws, (x, y));
            estimate.iter_mut().for_each(|g| *g *= factor);
            let clipped: Vec<f64> = estimate.iter().map(|g| g.clamp(-level, level)).collect();
            let shares: Vec<f64> = shares(&u).iter().map(|(plus, minus)| plus + minus).collect();
            let off = w.iter().zip(&by_hand).map(|(w, v)| (w - v).abs() / radius).fold(0.0, f64::max);
            look(&Round { w: &w, estimate: &estimate, clipped: &clipped, shares: &shares, off });
            u.iter_mut().zip(&clipped).for_each(|(u, g)| *u -= direction * step_size * g);
            if production {
                // Another label turns phi round.
                let turned = 2.0 * inner(&w, draws.weighted as usize, x) - y;
                tell(&mut learner, &ask, x, if descends { y } else { turned })?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_come_back_from_the_predictor() {
        for u in [vec![0.3, -2.0, 0.0, 5.0], vec![8.0, 0.0], vec![-0.01; 7]] {
            let back = exponents(&predictor(&u, 3.0), 3.0);
            for (a, b) in u.iter().zip(&back) {
                assert!((a - b).abs() < 1e-8, "{a} {b}");
            }
        }
    }
}
