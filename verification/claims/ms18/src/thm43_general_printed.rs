//! Theorem 4.3, general case: three steps of the printed proof are false.
//!
//! *Printed.* With `B_t >= max{ 4 t s(s+s*) R^4 eta^2 log/(1 - eta L), 16 s(s+s*) R^4 eta (1-a) T log/mu, ..
//! }`:
//!
//! 1. `2|theta_{t-1} - theta_0|^2 <= t sum_{t' < t} |theta_{t'} - theta_{t'-1}|^2`. Cauchy's inequality gives
//!    `2(t-1)`; for equal steps and t = 3 the print says `8 <= 6`.
//! 2. `sum_t 2 t s(s+s*) R^4 eta log/B_t <= (1 - eta L)/(2 eta)`. The first branch bounds each of the T
//!    summands by that, and the sum by T times that; the second branch helps only up to T of about 24 kappa.
//! 3. `gap_0 (1 + sum_t 16 s(s+s*) R^4 eta log/(mu B_t)) <= gap_0/(1-a)`. The second branch makes the sum
//!    `1/(1-a)`, so the road ends at about `2 gap_0`; it would have to be divided by a.
//!
//! The theorem itself is repaired in [`thm43_general`](super::thm43_general).
//!
//! *Control.* The same judge must accept `2(t-1)` and the two conditions of the repaired proof at its batch
//! size.

use lao_algorithms::murata_suzuki::{Guarantee, Problem};
use lao_observation::Constants;
use lao_verification_engine::claim::{Claim, Fault, Shown, Standing, Violation, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::norm2;
use lao_verification_engine::judge::PropertyTally;
use rand_distr::{Distribution, StandardNormal};

const DELTA: f64 = 0.1;

/// Step 1, for one walk from the origin.
fn walk(tally: &mut PropertyTally, steps: &[Vec<f64>], corrected: bool) {
    let (mut place, mut squares) = (vec![0.0; steps[0].len()], 0.0);
    for (before, step) in steps.iter().enumerate() {
        place.iter_mut().zip(step).for_each(|(x, step)| *x += step);
        squares += norm2(step);
        // theta_{t-1} was reached by t - 1 steps.
        let t = before as f64 + 2.0;
        let factor = if corrected { 2.0 * (t - 1.0) } else { t };
        tally.check(2.0 * norm2(&place), factor * squares);
    }
}

/// Steps 2 and 3 for one problem without noise, or their counterparts in the repaired proof.
fn sums(tallies: [&mut PropertyTally; 2], kappa: f64, updates: u64, corrected: bool) {
    let (smoothness, mu, s, star) = (2.0 * kappa, 2.0, 4.0, 2.0);
    let constants = Constants { smoothness, convexity: mu, bound: 1.0, noise: 0.0, sparsity: 2 };
    let problem = Problem { constants, dim: 100, sparsity: 4, step_size: Problem::theorem_step(&constants) };
    let (eta, total, a) = (1.0 / (4.0 * smoothness), updates as f64, 1.0 / (32.0 * kappa));
    let many = s * (s + star) * (2.0 * s * 2.0 * total / DELTA).ln();
    let batch = |t: f64| {
        let first = 4.0 * t * many * eta * eta / (1.0 - eta * smoothness);
        first.max(16.0 * many * eta * (1.0 - a) * total / mu)
    };
    let over_updates = |term: &dyn Fn(f64) -> f64| (1..=updates).map(|t| term(t as f64)).sum::<f64>();
    let [second, third] = tallies;
    if corrected {
        // Without the negative term of (8) there is no condition 2; what remains is that the growth per
        // update is small.
        let growth = 16.0 * many * eta
            / (mu * problem.batch_theorem_43_general(Guarantee { updates, slack: 1.0, delta: DELTA }));
        second.check(total * growth, a);
        third.check((1.0 + growth).powf(total), 1.0 / (1.0 - a));
    } else {
        second.check(
            over_updates(&|t| 2.0 * t * many * eta / batch(t)),
            (1.0 - eta * smoothness) / (2.0 * eta),
        );
        third.check(1.0 + over_updates(&|t| 16.0 * many * eta / (mu * batch(t))), 1.0 / (1.0 - a));
    }
}

const CONTROL: [Fault<bool>; 1] =
    [Fault::held("corrected_form", "2(t-1) in place of t, and the conditions of the repaired proof", true)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let corrected = cx.arm(false, &CONTROL);
    let (mut first, mut second, mut third) =
        (PropertyTally::new(), PropertyTally::new(), PropertyTally::new());
    walk(&mut first, &vec![vec![1.0]; 32], corrected);
    let mut rng = cx.seed("walks").child("data").rng();
    for _ in 0..cx.size("walks")? {
        let step = |_| (0..3).map(|_| StandardNormal.sample(&mut rng)).collect();
        let steps: Vec<Vec<f64>> = (0..16).map(step).collect();
        walk(&mut first, &steps, corrected);
    }
    for kappa in [1.0, 2.0, 10.0] {
        for updates in [8, 32, 128, 512] {
            sums([&mut second, &mut third], kappa, updates, corrected);
        }
    }
    cx.split(3);
    cx.judge("1: distance from the start", first.finish());
    cx.judge("2: the sum over updates", second.finish());
    cx.judge("3: the factor of the first gap", third.finish());
    Ok(())
}

/// As printed.
pub const PRINTED: Claim = Claim {
    id: "ms18-thm43-general-printed",
    place: "Supplement B, general case, as printed",
    sentence: "Three steps of the printed proof: a walk's distance from its start, the sum over updates of \
               the signal errors, and the factor by which the first gap may grow.",
    formula: r"2 \|\theta_{t-1} - \theta_0\|^2 \le t \sum_{t'=1}^{t-1} \|\theta_{t'} -
               \theta_{t'-1}\|^2, \quad \sum_{t=1}^{T} \frac{2 t s (s+s_*) R_\infty^4 \eta
               \log\frac{2s}{\delta_t}}{B_t} \le \frac{1 - \eta L_s}{2\eta}, \quad 1 + \sum_{t=1}^{T}
               \frac{16 s (s+s_*) R_\infty^4 \eta \log\frac{2s}{\delta_t}}{\mu_s B_t} \le
               \frac{1}{1-\check{\alpha}}",
    design: "Arithmetic, with the printed batch sizes: lengths of walks (equal and random steps), sums over \
             kappa in {1, 2, 10} and T in {8, 32, 128, 512}.",
    standing: Standing::printed(&[21, 22, 23]).violated(&VIOLATIONS).showing(&SHOWN),
    mutants: &mutants(&CONTROL),
    experiment,
};

/// 2 (t - 1)/t at t = 33 for equal steps; T terms for one at T = 512; a second unit of the first gap.
const VIOLATIONS: [Violation; 3] = [
    Violation { cell: "1: distance from the start", at_least: 1.93, at_most: 1.95 },
    Violation { cell: "2: the sum over updates", at_least: 22.0, at_most: 22.1 },
    Violation { cell: "3: the factor of the first gap", at_least: 1.99, at_most: 2.0 },
];

/// Which erratum each cell shows alone.
const SHOWN: [Shown; 3] = [
    Shown { erratum: 21, cell: "1: distance" },
    Shown { erratum: 22, cell: "2: the sum" },
    Shown { erratum: 23, cell: "3: the factor" },
];
