//! Theorem 7: the regret bound of Algorithm 3 as printed says nothing before T = 10^30.
//!
//! *Setting.* `C = k'(k'-1)/(d(d-1))`, and `phi_0` is the compatibility constant.
//!
//! *Vacuity.* As for [Theorem 6](super::thm6_bound): up to exponent 1 the second term exceeds the regret of
//! the predictor zero. Averaged over the signs of weights `1/k` on `S*`, `w'Vw` is `trace V_S/k^2 <= 1/k^2`,
//! so `phi_0^2 <= 1/k` (not `1/d`: compatibility does not mind features without variance). The easiest case
//! is d = k' = 2, k = 1: T = 1.3e30 for `phi_0^2 = 1`, 3.4e32 for independent features. The third term is
//! 4.6e16 at least.

use super::thm6_bound::Setting;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::PropertyTally;

/// A reading of the bound.
#[derive(Clone, Copy)]
struct Reading {
    first_only: bool,
    root: f64,
    /// The fourth power of 36, as read.
    fourth: f64,
}

const SOUND: Reading = Reading { first_only: false, root: 0.25, fourth: 1_679_616.0 };

/// `|w|^2 phi_0^2/k`, which the bound is stated in.
fn drift(setting: &Setting, w: f64) -> f64 {
    w * w * setting.conditioning / setting.weights.len() as f64
}

impl Reading {
    fn bound(&self, setting: &Setting, rounds: f64) -> f64 {
        let steps = (rounds.powf(self.root) - 1.0).sqrt();
        let second = setting.sum(|w| (-setting.pair() * steps * drift(setting, w) / 5832.0).exp());
        let more = if self.first_only { 0.0 } else { 12.0 * rounds * second + third(setting, self.fourth) };
        setting.first(rounds) + more
    }
}

fn third(setting: &Setting, fourth: f64) -> f64 {
    4.0 * setting.sum(|w| (64.0 * fourth / (setting.pair() * drift(setting, w)).powi(2) + 1.0).powi(2))
}

/// The T at which the exponent of the largest weight is 1.
fn turning_point(setting: &Setting) -> f64 {
    let largest = setting.weights.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
    ((5832.0 / (setting.pair() * drift(setting, largest))).powi(2) + 1.0).powi(4)
}

const FAULTS: [Fault<Reading>; 2] = [
    Fault::refuted(
        "first_term_only",
        "leaves out the exponential and the burn-in",
        Reading { first_only: true, ..SOUND },
    ),
    Fault::refuted(
        "fourth_powers_forgotten",
        "reads T for its fourth root and 36 for its fourth power",
        Reading { root: 1.0, fourth: 36.0, ..SOUND },
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let reading = cx.arm(SOUND, &FAULTS);
    let (mut grid, mut turning) = (PropertyTally::new(), PropertyTally::new());
    for (norm, setting) in Setting::grid(|_, k| 1.0 / k) {
        let zero = norm * norm;
        for decade in 0..=9 {
            let rounds = 10f64.powi(decade);
            grid.check(zero * rounds, reading.bound(&setting, rounds));
        }
        let last = turning_point(&setting);
        for share in [1e-6, 1e-3, 0.1, 1.0] {
            turning.check(zero * share * last, reading.bound(&setting, share * last));
        }
    }
    cx.judge("the bound exceeds the regret of zero up to T = 10^9", grid.finish());
    cx.judge("and up to exponent 1", turning.finish());
    if cx.honest() {
        let (easiest, independent) = (Setting::easiest(1.0), Setting::easiest(0.5));
        cx.note("T at exponent 1, easiest case", turning_point(&easiest));
        cx.note("the same for two independent features", turning_point(&independent));
        cx.note("third term, easiest case", third(&easiest, reading.fourth));
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ito17-thm7-bound",
    place: "Theorem 7",
    sentence: "Algorithm 3 has regret at most the printed bound, which exceeds the regret of the predictor \
               zero for every T below 10^30.",
    formula: r"E[R_T(w)] \le 8(1+\sqrt{d})\sqrt{T+1} + 12 T \sum_{i \in S^*} |w_i^*| \exp\left( -\frac{C
               \sqrt{T^{1/4}-1} |w_i^*|^2 \phi_0^2}{5832 k} \right) + 4 \sum_{i \in S^*} |w_i^*| \left(
               \frac{64 \cdot 36^4 k^2}{C^2 w_i^{*4} \phi_0^4} + 1 \right)^2",
    design: "The bound against T |w*|^2, which the predictor zero does not exceed in the mean, at 48 \
             settings of d, k', k and w*, T up to 10^9 and up to exponent 1.",
    standing: Standing::sound().with_errata(&[20]).vacuous(),
    mutants: &mutants(&FAULTS),
    experiment,
};
