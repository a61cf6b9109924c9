//! Lemma A.1, and Lemma 3.5 as its special case: the regret of multiplicative weights with costs bounded from
//! below.
//!
//! *Statement.* `c_t[i] >= -1/eta`, `z_1 = 1`, `z_{t+1}[i] = z_t[i] exp(-eta c_t[i])`, `p_t = z_t/|z_t|_1`:
//! `sum p_t.c_t <= min_i sum c_t[i] + log(n)/eta + eta sum p_t.(c_t^2)`.
//!
//! *Why.* `e^x <= 1 + x + x^2` for `x <= 1` (up to `x = 1.793`) bounds `|z_{t+1}|_1/|z_t|_1`; the final sum
//! is at least its largest term. Costs may be as large as they like from above, but not from below. The print
//! has "i in \[d\]" for \[n\], and an equality sign for the first inequality after the induction.
//!
//! *No mutant.* A clip 1.7 times too generous is covered by the scalar inequality and passes; its range is
//! reported.

use crate::setup::steps::aelr_along;
use lao_algorithms::hazan_koren::{AelrParams, Horizon};
use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::tally;
use lao_verification_engine::judge::PropertyTally;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// The constants of the bound.
#[derive(Clone, Copy)]
struct Bound {
    log: f64,
    second: f64,
}

/// Multiplicative weights over `n` costs, in logarithms, and the terms of the lemma, all times `eta`.
struct Weights {
    /// `eta` times the summed costs: `-log z`.
    total: Vec<f64>,
    paid: f64,
    squares: f64,
}

impl Weights {
    fn new(n: usize) -> Weights {
        Weights { total: vec![0.0; n], paid: 0.0, squares: 0.0 }
    }

    fn law(&self) -> Vec<f64> {
        let least = self.total.iter().copied().fold(f64::INFINITY, f64::min);
        let z: Vec<f64> = self.total.iter().map(|total| (least - total).exp()).collect();
        let sum: f64 = z.iter().sum();
        z.iter().map(|z| z / sum).collect()
    }

    /// Costs given in units of `1/eta`.
    fn pay(&mut self, costs: &[f64]) {
        let law = self.law();
        self.paid += law.iter().zip(costs).map(|(p, c)| p * c).sum::<f64>();
        self.squares += law.iter().zip(costs).map(|(p, c)| p * c * c).sum::<f64>();
        self.total.iter_mut().zip(costs).for_each(|(total, c)| *total += c);
    }

    fn sides(&self, bound: Bound) -> (f64, f64) {
        let least = self.total.iter().copied().fold(f64::INFINITY, f64::min);
        (self.paid - least, bound.log * (self.total.len() as f64).ln() + bound.second * self.squares)
    }
}

/// Costs in units of `1/eta`, at least `-floor`.
fn costs(kind: u32, weights: &Weights, floor: f64, rng: &mut Rng) -> Vec<f64> {
    let n = weights.total.len();
    let pick = |better: fn(f64, f64) -> bool| {
        (1..n).fold(0, |best, i| if better(weights.total[i], weights.total[best]) { i } else { best })
    };
    let one = |place: usize, cost: f64| (0..n).map(|i| if i == place { cost } else { 0.0 }).collect();
    let mut free: Box<dyn FnMut() -> f64> = match kind {
        0 => Box::new(|| rng.random_range(-1.0..1.0)),
        1 => Box::new(|| StandardNormal.sample(rng)),
        2 => Box::new(|| rng.random::<f64>().powf(-1.5) - 2.0),
        // The lightest becomes cheap; the heaviest becomes dear.
        3 => return one(pick(|a, b| a > b), -floor),
        _ => return one(pick(|a, b| a < b), rng.random_range(0.0..3.0)),
    };
    (0..n).map(|_| free().max(-floor)).collect()
}

fn random(cx: &Context<'_>, bound: Bound, floor: f64) -> anyhow::Result<PropertyTally> {
    let sequences = cx.size("sequences")?;
    let [tally] = tally(cx, "sequences", sequences, |trial, [tally]| {
        let rng = &mut trial.seed.child("data").rng();
        let n = [1, 2, 3, 20, 200, 1000][rng.random_range(0..6)];
        let (steps, kind) = ([1, 5, 100][rng.random_range(0..3)], rng.random_range(0..5));
        let mut weights = Weights::new(n);
        for _ in 0..steps {
            let costs = costs(kind, &weights, floor, rng);
            weights.pay(&costs);
            let (lhs, rhs) = weights.sides(bound);
            tally.check(lhs, rhs);
        }
        Ok(())
    })?;
    Ok(tally)
}

/// Lemma 3.5: the iterates of the production AELR along random gradients are those of the weights, and so is
/// its regret.
fn through_aelr(cx: &Context<'_>, bound: Bound, pace: f64) -> anyhow::Result<[PropertyTally; 2]> {
    let runs = cx.size("runs")?;
    tally(cx, "aelr", runs, |trial, [iterates, regret]| {
        let rng = &mut trial.seed.child("data").rng();
        let (dim, radius) = ([1, 2, 10, 50][rng.random_range(0..4)], [0.2, 1.0, 5.0][rng.random_range(0..3)]);
        let step_size = 10f64.powf(rng.random_range(-3.0..1.0));
        let params = AelrParams {
            step_size: pace * step_size,
            ..AelrParams::from_theorem(Horizon { dim, draws: dim, radius, examples: 1 })
        };
        let (mut learner, mut weights) = (params.build()?, Weights::new(2 * dim));
        let mut paid = 0.0;
        for _ in 0..40 {
            // In units of 1/eta; now and then beyond the clip.
            let size: f64 = StandardNormal.sample(rng);
            let g: Vec<f64> = (0..dim).map(|_| size * rng.random_range(-2.0..2.0)).collect();
            let clipped: Vec<f64> = g.iter().map(|g| g.clamp(-1.0, 1.0)).collect();
            let (w, law) = (learner.iterate(), weights.law());
            let off = |i: usize| (w[i] / radius - (law[i] - law[dim + i])).abs();
            // The sum of all exponentials keeps the rounding of larger ones that have shrunk since, by at
            // most 2^16 at each of forty steps (`eg_iterate`): 40 * 2^16 * 2^-53 = 3e-10.
            iterates.check_sums((0..dim).map(off).fold(0.0, f64::max), 0.0, 3000.0);
            paid += w.iter().zip(&clipped).map(|(w, g)| w / radius * g).sum::<f64>();
            weights.pay(&clipped.iter().copied().chain(clipped.iter().map(|g| -g)).collect::<Vec<_>>());
            let sent: Vec<f64> = g.iter().map(|g| g / step_size).collect();
            aelr_along(&mut learner, &sent)?;
            let (lhs, rhs) = weights.sides(bound);
            regret.check(lhs - weights.paid + paid, rhs);
        }
        Ok(())
    })
}

/// One step in which the first of `n` costs is `-x/eta`.
fn windfall(n: usize, x: f64, bound: Bound) -> (f64, f64) {
    let mut weights = Weights::new(n);
    let mut costs = vec![0.0; n];
    costs[0] = -x;
    weights.pay(&costs);
    weights.sides(bound)
}

/// `steps` rounds of costs that depend on the round.
fn repeated(n: usize, steps: usize, bound: Bound, costs: impl Fn(usize) -> Vec<f64>) -> (f64, f64) {
    let mut weights = Weights::new(n);
    (0..steps).for_each(|t| weights.pay(&costs(t)));
    weights.sides(bound)
}

/// What a fault changes.
#[derive(Clone, Copy)]
struct Arm {
    log: f64,
    second: f64,
    floor: f64,
    /// The learner's step size over the one that it should have.
    pace: f64,
}

const SOUND: Arm = Arm { log: 1.0, second: 1.0, floor: 1.0, pace: 1.0 };

const FAULTS: [Fault<Arm>; 5] = [
    Fault::refuted("steps_a_tenth_longer", "AELR with a step size of 1.1 eta", Arm { pace: 1.1, ..SOUND }),
    Fault::refuted("clip_five_times_higher", "costs down to -5/eta", Arm { floor: 5.0, ..SOUND }),
    Fault::refuted("costs_not_clipped", "no lower bound on the costs", Arm { floor: 1e3, ..SOUND }),
    Fault::refuted("logarithm_cut", "0.9 log n in the bound", Arm { log: 0.9, ..SOUND }),
    Fault::refuted("second_order_cut", "0.4 eta in the second-order term", Arm { second: 0.4, ..SOUND }),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(5);
    let Arm { log, second, floor, pace } = cx.arm(SOUND, &FAULTS);
    let bound = Bound { log, second };

    let general = random(cx, bound, floor)?;
    cx.judge("regret, general costs", general.finish());
    let [iterates, regret] = through_aelr(cx, bound, pace)?;
    cx.judge("iterates of AELR are B (p+ - p-)", iterates.finish());
    cx.judge("regret of AELR, costs (g, -g)", regret.finish());

    let mut single = PropertyTally::new();
    for n in [2, 3, 10, 20, 100, 1000, 10_000] {
        for share in [0.5, 0.9, 1.0] {
            let (lhs, rhs) = windfall(n, share * floor, bound);
            single.check(lhs, rhs);
        }
    }
    cx.judge("one windfall", single.finish());

    let mut tight = PropertyTally::new();
    let (lhs, rhs) =
        repeated(100, 2000, bound, |_| (0..100).map(|i| if i == 0 { -0.01 } else { 0.0 }).collect());
    tight.check(lhs, rhs);
    cx.note("one expert is always better: share of the bound", lhs / rhs);
    let sign = |t: usize| if t.is_multiple_of(2) { 0.2 } else { -0.2 };
    let (lhs, rhs) = repeated(2, 2000, bound, |t| vec![sign(t), -sign(t)]);
    tight.check(lhs, rhs);
    cx.note("two experts take turns: share of the bound", lhs / rhs);
    cx.judge("each term nearly used up", tight.finish());

    // The scalar inequality has room beyond the clip: to 1.7 times, hence the factor 5 of the mutant.
    let at = |i: i32| f64::from(i) * 1e-3;
    let most = (0..=2000).map(at).take_while(|x| x.exp_m1() - x <= x * x).last();
    cx.note("exp x <= 1 + x + x^2 up to x =", most.unwrap_or(0.0));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-lema1-mw",
    place: "Lemma A.1, display (11), and Lemma 3.5",
    sentence: "Multiplicative weights on costs that are at least -1/eta have regret at most log(n)/eta plus \
               eta times the mean squared costs, however large the costs are from above.",
    formula: r"\sum_{t=1}^T p_t \cdot c_t \le \min_{i \in [n]} \sum_{t=1}^T c_t[i] + \frac{\log n}{\eta}
               + \eta \sum_{t=1}^T p_t \cdot c_t^2",
    design: "Random, heavy-tailed and adaptive costs for n up to 1000, with the update written out. For \
             costs (g, -g) the production AELR takes the steps: w_t = B (p_t[i] - p_t[d+i]), and it clips at \
             1/eta by itself. Instances where each term of the bound is nearly used up: one expert that is \
             always better (the log n term), and two that take turns (the second).",
    standing: Standing::corrected(&[9]),
    mutants: &mutants(&FAULTS),
    experiment,
};
