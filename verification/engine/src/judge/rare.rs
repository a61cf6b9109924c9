//! Whether the judges keep the levels at which claims are judged, near 1e-5, where counting rejections would
//! take a hundred million runs.
//!
//! Three ways give the probability that an engine rejects a true null at its boundary:
//!
//! | engine | way |
//! |---|---|
//! | tests of counts (Clopper-Pearson, sign, chi-square of two cells, spikes) | sum over all counts |
//! | sequential test of a probability | the law of the count from look to look, without what has crossed |
//! | all others | importance sampling |
//!
//! The numbers of runs are such that four standard errors are less than the level, and that a hundred times
//! the level is told from it with power .9999.
//!
//! *Importance sampling.* The data are drawn from laws under which rejections are common, and each rejection
//! counts as much as the null law is smaller there. Several laws share the runs; the weight is against their
//! mixture, so that no weight is large where one of the laws is likely. A sequential test stops, and its
//! weight is that of the data up to the stop.

use super::calibration::{UnitDraw, UnitMeanLaw, normal};
use super::compare::{self, RateScale, Replicates};
use super::equal::{self, EqualJudge};
use super::prob::LogE;
use super::slope::{Exponent, judge_slopes};
use super::{BLOCK, Direction, Flow, MeanJudge, geom, mean, paired, prob, ratio};
use crate::special::{ln_gamma, normal_quantile, normal_upper_quantile, student_upper_quantile};
use std::sync::{Arc, OnceLock};

/// The probability that an engine rejects a true null.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rejection {
    /// The probability.
    pub probability: f64,
    /// The standard error of the simulation; 0 if the probability was computed.
    pub se: f64,
}

/// One engine, side and law.
pub struct RareEvent {
    /// The engine, the side and the law.
    pub name: String,
    /// How many times its level the engine may reject: 2 where both sides are counted.
    pub sides: f64,
    /// Returns the probability of a rejection at a level, by so many runs where it is simulated.
    #[allow(clippy::type_complexity, reason = "one function with its three arguments")]
    pub measure: Box<dyn Fn(f64, u64, &mut UnitDraw<'_>) -> Rejection + Send + Sync>,
}

impl std::fmt::Debug for RareEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

fn event(
    name: String,
    measure: impl Fn(f64, u64, &mut UnitDraw<'_>) -> Rejection + Send + Sync + 'static,
) -> RareEvent {
    RareEvent { name, sides: 1.0, measure: Box::new(measure) }
}

fn computed(probability: f64) -> Rejection {
    Rejection { probability, se: 0.0 }
}

/// Returns all engines, each at the boundary of a null.
pub fn events() -> Vec<RareEvent> {
    let mut all = Vec::new();
    for delta in [0.05, 0.1, 0.3] {
        let looks = Arc::new(OnceLock::new());
        for (side, crosses) in [("refute", Crosses::Refute), ("support", Crosses::Support)] {
            let name = format!("beta-binomial-e {side}, delta {delta}");
            let known = Arc::clone(&looks);
            all.push(event(name, move |alpha, _, _| computed(sequential(delta, &known, alpha, crosses))));
            let name = format!("clopper-pearson {side}, delta {delta}");
            all.push(event(name, move |alpha, _, _| computed(clopper_pearson(delta, alpha, crosses))));
        }
        if delta == 0.1 {
            let judge = event(format!("ProbJudge, delta {delta}"), move |alpha, _, _| {
                computed(sequential(delta, &looks, alpha, Crosses::Either))
            });
            all.push(RareEvent { sides: 2.0, ..judge });
        }
    }
    let laws = [
        UnitMeanLaw::Exponential,
        UnitMeanLaw::ChiSquare,
        UnitMeanLaw::Lognormal,
        UnitMeanLaw::Pareto,
        UnitMeanLaw::Spikes,
    ];
    for law in laws {
        all.push(event(format!("betting-e refute, {law:?}"), move |alpha, runs, uniform| {
            mean_refute(law, alpha, runs, uniform)
        }));
    }
    for law in laws.into_iter().filter(|law| *law != UnitMeanLaw::Spikes) {
        // The weights vary most where the tail is heaviest; elsewhere a hundred times the level is exceeded
        // least.
        let times = if law == UnitMeanLaw::Pareto { 4 } else { 3 };
        all.push(event(format!("hall-t support, {law:?}"), move |alpha, runs, uniform| {
            mean_support(law, alpha, times * runs, uniform)
        }));
    }
    all.push(event("hall-t support, Spikes".into(), |alpha, _, _| computed(spikes(alpha))));
    all.push(event("betting-e support, uniform".into(), mean_support_bounded));
    for replicates in [8, 20] {
        let name = format!("slope t support, {replicates} replicates");
        all.push(event(name, move |alpha, runs, uniform| {
            normal_sample(replicates, alpha, runs, uniform, &|sample, alpha| {
                let slopes: Vec<f64> = sample.iter().map(|z| 1.0 + 0.1 * z).collect();
                judge_slopes(&slopes, Exponent::AtMost(1.0), 0.0, alpha).p_support
            })
        }));
        let name = format!("geom t support, {replicates} replicates");
        all.push(event(name, move |alpha, runs, uniform| {
            normal_sample(replicates, alpha, runs, uniform, &|sample, alpha| {
                let slopes: Vec<Option<f64>> = sample.iter().map(|z| Some(-0.1 + 0.01 * z)).collect();
                geom::rate(&slopes, (-0.1_f64).exp(), alpha).p_support
            })
        }));
    }
    all.push(event("t-sidak refute, 5 coordinates".into(), equal_refute));
    all.push(event("chi-square refute, ten cells of 400".into(), |alpha, runs, uniform| {
        ten_cells(alpha, runs, uniform)
    }));
    all.push(event("chi-square refute, a rare cell".into(), |alpha, _, _| computed(rare_cell(alpha))));
    all.push(event("sign support, 30 pairs".into(), |alpha, _, _| computed(signs(alpha))));
    for law in [UnitMeanLaw::Exponential, UnitMeanLaw::ChiSquare] {
        all.push(event(format!("log-ratio-t support, 100 each, {law:?}"), move |alpha, runs, uniform| {
            ratio_support(law, alpha, 5 * runs, uniform)
        }));
    }
    all.push(event("welch worse, 20 replicates".into(), compare_worse));
    all
}

// Sums over counts.

fn ln_choose(n: u64, k: u64) -> f64 {
    ln_gamma(n as f64 + 1.0) - ln_gamma(k as f64 + 1.0) - ln_gamma((n - k) as f64 + 1.0)
}

/// Returns the probability of `k` of `n` at probability `p`.
fn binomial(n: u64, k: u64, p: f64) -> f64 {
    (ln_choose(n, k) + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p()).exp()
}

/// Returns the probability of the counts of `n` at probability `p` at which a test rejects.
fn rejected(n: u64, p: f64, alpha: f64, p_value: impl Fn(u64) -> f64) -> f64 {
    // A p-value that is NaN counts as a rejection. Counts that never come up add nothing to any level.
    let rejects = |k: u64| !matches!(p_value(k), value if value > alpha);
    let laws = (0..=n).map(|k| (k, binomial(n, k, p)));
    laws.filter(|(k, mass)| *mass > NEVER && rejects(*k)).map(|(_, mass)| mass).sum()
}

/// A probability that adds nothing to any level.
const NEVER: f64 = 1e-30;

/// Which process must cross.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Crosses {
    Refute,
    Support,
    Either,
}

fn clopper_pearson(delta: f64, alpha: f64, crosses: Crosses) -> f64 {
    let n = 400;
    rejected(n, delta, alpha, |failures| {
        let finding = prob::fixed(delta, alpha, failures, n);
        if crosses == Crosses::Refute { finding.p_refute } else { finding.p_support }
    })
}

/// The evidence at each look of the sequential test, for the numbers of failures that come up.
type Looks = Vec<Vec<Option<LogE>>>;

/// The number of trials of the sequential test.
const MOST: u64 = 2000;

/// Returns the evidence at each look.
fn looks(delta: f64) -> Looks {
    let at = |n: u64| {
        let known = |failures: u64| {
            (binomial(n, failures, delta) > NEVER).then(|| prob::log_e(failures, n - failures, delta))
        };
        (0..=n).map(known).collect()
    };
    (1..=MOST / BLOCK as u64).map(|look| at(look * BLOCK as u64)).collect()
}

/// Returns the probability that the sequential test crosses at one of its looks, up to 2000 trials.
fn sequential(delta: f64, known: &OnceLock<Looks>, alpha: f64, crosses: Crosses) -> f64 {
    let block = BLOCK as u64;
    let step: Vec<f64> = (0..=block).map(|k| binomial(block, k, delta)).collect();
    let (mut law, mut crossed) = (vec![1.0], 0.0);
    for evidence in known.get_or_init(|| looks(delta)) {
        let mut next = vec![0.0; evidence.len()];
        for (failures, mass) in law.iter().enumerate().filter(|(_, mass)| **mass > NEVER) {
            step.iter().enumerate().for_each(|(k, share)| next[failures + k] += mass * share);
        }
        for (mass, e) in next.iter_mut().zip(evidence) {
            let crosses = e.is_some_and(|e| match crosses {
                Crosses::Refute => e.refute >= -alpha.ln(),
                Crosses::Support => e.support >= -alpha.ln(),
                Crosses::Either => e.refute.max(e.support) >= -alpha.ln(),
            });
            if crosses {
                crossed += std::mem::take(mass);
            }
        }
        law = next;
    }
    crossed
}

/// Hall's test on 400 values, each 100 with probability .01 and otherwise 0.
fn spikes(alpha: f64) -> f64 {
    let n = 400;
    rejected(n, 0.01, alpha, |count| {
        let values: Vec<f64> = (0..n).map(|i| if i < count { 100.0 } else { 0.0 }).collect();
        mean::fixed(1.0, alpha, &values).p_support
    })
}

/// The chi-square test of two cells, one of which expects the smallest count that is allowed.
fn rare_cell(alpha: f64) -> f64 {
    let (n, p) = (10_000, 0.002);
    rejected(n, p, alpha, |count| equal::discrete(&[count, n - count], &[p, 1.0 - p], None).p_refute)
}

/// The sign test on 30 pairs.
fn signs(alpha: f64) -> f64 {
    let n = 30;
    rejected(n, 0.5, alpha, |wins| {
        let better: Vec<f64> = (0..n).map(|i| if i < wins { 1.0 } else { 3.0 }).collect();
        paired::better(&better, &vec![2.0; n as usize], alpha).p_support
    })
}

// Importance sampling.

/// The logarithms of the density of each sampling law over that of the null, on the data of one run.
struct Weight {
    ln_ratios: Vec<f64>,
}

impl Weight {
    fn add(&mut self, ln_ratio: impl Fn(usize) -> f64) {
        self.ln_ratios.iter_mut().enumerate().for_each(|(law, sum)| *sum += ln_ratio(law));
    }

    /// Returns the density of the null over that of the mixture of the sampling laws.
    fn value(&self) -> f64 {
        let most = self.ln_ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.ln_ratios.iter().map(|ln| (ln - most).exp()).sum();
        (-most).exp() * self.ln_ratios.len() as f64 / sum
    }
}

/// Runs `one` in turn under each of `laws` sampling laws; it returns the p-value of its run.
fn importance(
    laws: usize,
    alpha: f64,
    runs: u64,
    mut one: impl FnMut(usize, &mut Weight) -> f64,
) -> Rejection {
    let values: Vec<f64> = (0..runs)
        .map(|run| {
            let mut weight = Weight { ln_ratios: vec![0.0; laws] };
            let p_value = one(run as usize % laws, &mut weight);
            // A p-value that is NaN counts as a rejection.
            if matches!(p_value, p if p > alpha) { 0.0 } else { weight.value() }
        })
        .collect();
    let moments = super::sample::Moments::of(&values);
    Rejection { probability: moments.mean, se: moments.se() }
}

/// A law of the family of `law`, which is a scale family, with mean `mean`.
#[derive(Clone, Copy)]
struct Tilted {
    law: UnitMeanLaw,
    mean: f64,
}

impl Tilted {
    fn draw(self, uniform: &mut UnitDraw<'_>) -> f64 {
        self.mean * self.law.draw(uniform)
    }

    /// Returns the logarithm of its density over that at mean one, at a draw `x`. It is linear in the draw:
    /// the laws are those of Gamma with the shape 1, or 1/2.
    fn ln_ratio(self, x: f64) -> f64 {
        let shape = if self.law == UnitMeanLaw::ChiSquare { 0.5 } else { 1.0 };
        shape * ((1.0 - 1.0 / self.mean) * x - self.mean.ln())
    }
}

impl UnitMeanLaw {
    /// Returns one draw from the law whose density at `x` is `x` times that of this one.
    fn draw_by_size(self, uniform: &mut UnitDraw<'_>) -> f64 {
        match self {
            UnitMeanLaw::Exponential => self.draw(uniform) + self.draw(uniform),
            UnitMeanLaw::ChiSquare => self.draw(uniform) + 2.0 * UnitMeanLaw::Exponential.draw(uniform),
            UnitMeanLaw::Lognormal => std::f64::consts::E * self.draw(uniform),
            UnitMeanLaw::Pareto => 2.0 / 3.0 / (1.0 - uniform()).sqrt(),
            UnitMeanLaw::Spikes => 100.0,
        }
    }
}

/// Draws blocks until the judge stops.
fn play(judge: &mut MeanJudge, mut draw: impl FnMut() -> f64) {
    let mut block = [0.0; BLOCK];
    loop {
        block.fill_with(&mut draw);
        if judge.push_block(&block) == Flow::Stop {
            return;
        }
    }
}

/// The betting process against a mean that equals its bound, up to 2000 trials.
///
/// Each draw has the density `1 + bet (x - 1)` over that of the null law, `bet` being what is bet on it: that
/// of a draw by size with probability `bet`. So the density of the data is the wealth itself, and where the
/// process rejects no weight is more than the level. That the weights are right does not rest on this: any
/// bet between 0 and 1 on what is not yet drawn would do.
fn mean_refute(law: UnitMeanLaw, alpha: f64, runs: u64, uniform: &mut UnitDraw<'_>) -> Rejection {
    importance(1, alpha, runs, |_, weight| {
        let (mut judge, mut wealth) = (MeanJudge::new(1.0, alpha, 2000), mean::Bet::default());
        play(&mut judge, || {
            let bet = wealth.fraction();
            let x = if uniform() < bet { law.draw_by_size(uniform) } else { law.draw(uniform) };
            weight.add(|_| (bet * (x - 1.0)).ln_1p());
            wealth.push(x - 1.0);
            x
        });
        judge.finish().p_refute
    })
}

/// Hall's test on 400 values, with its guards and at a fraction of the level, on a mean that equals its
/// bound. The sampling laws have densities proportional to `exp(-tilt x)` times that of the law: a draw is
/// kept with this probability.
fn mean_support(law: UnitMeanLaw, alpha: f64, runs: u64, uniform: &mut UnitDraw<'_>) -> Rejection {
    let n = 400;
    let sd = match law {
        UnitMeanLaw::Exponential => 1.0,
        UnitMeanLaw::ChiSquare => std::f64::consts::SQRT_2,
        UnitMeanLaw::Lognormal => 1.31,
        UnitMeanLaw::Pareto => 0.58,
        UnitMeanLaw::Spikes => 9.95,
    };
    // The tilt that moves the mean by as many standard errors as the test asks for, to first order.
    let tilt = normal_upper_quantile(alpha / 25.0) / (sd * f64::from(n).sqrt());
    let tilts = [0.5, 0.8, 1.1, 1.5, 2.0].map(|far| far * tilt);
    let means = laplace(law, tilts);
    let tilts: Vec<(f64, f64)> = tilts.into_iter().zip(means.map(f64::ln)).collect();
    importance(tilts.len(), alpha, runs, |from, weight| {
        let mut draw = || loop {
            let x = law.draw(uniform);
            if uniform() < (-tilts[from].0 * x).exp() {
                return x;
            }
        };
        let values: Vec<f64> = (0..n).map(|_| draw()).collect();
        let sum = values.iter().sum::<f64>();
        weight.add(|law| -tilts[law].0 * sum - f64::from(n) * tilts[law].1);
        mean::fixed(1.0, alpha, &values).p_support
    })
}

/// Returns `E exp(-tilt X)` for each tilt, by the midpoint rule over the quantiles.
fn laplace<const N: usize>(law: UnitMeanLaw, tilts: [f64; N]) -> [f64; N] {
    let points = 100_000;
    let quantile = |u: f64| match law {
        UnitMeanLaw::Exponential => -(-u).ln_1p(),
        UnitMeanLaw::ChiSquare => normal_quantile(0.5 + 0.5 * u).powi(2),
        UnitMeanLaw::Lognormal => (normal_quantile(u) - 0.5).exp(),
        UnitMeanLaw::Pareto => 2.0 / 3.0 * (1.0 - u).powf(-1.0 / 3.0),
        UnitMeanLaw::Spikes => f64::from(u8::from(u < 0.01)) * 100.0,
    };
    let mut sums = [0.0; N];
    for i in 0..points {
        let x = quantile((f64::from(i) + 0.5) / f64::from(points));
        sums.iter_mut().zip(tilts).for_each(|(sum, tilt)| *sum += (-tilt * x).exp());
    }
    sums.map(|sum| sum / f64::from(points))
}

/// The betting process for a uniform variable in [0, 1] whose mean equals its bound, up to 1000 trials.
fn mean_support_bounded(alpha: f64, runs: u64, uniform: &mut UnitDraw<'_>) -> Rejection {
    // Densities proportional to exp(-tilt x).
    let tilts = [0.4, 0.8, 1.6, 3.2_f64];
    let whole = |tilt: f64| -(-tilt).exp_m1();
    let logs = tilts.map(|tilt| (tilt / whole(tilt)).ln());
    importance(tilts.len(), alpha, runs.div_ceil(6), |from, weight| {
        let mut judge = MeanJudge::new(0.5, alpha, 1000).with_upper(1.0);
        play(&mut judge, || {
            let x = -(-uniform() * whole(tilts[from])).ln_1p() / tilts[from];
            weight.add(|law| logs[law] - tilts[law] * x);
            x
        });
        judge.finish().p_support
    })
}

/// Returns the mean and the spread of normal draws that reach `t` standard errors below zero, of those the
/// likeliest under the standard normal law.
fn reaching(replicates: u64, t: f64) -> (f64, f64) {
    let share = t / (replicates as f64).sqrt();
    let spread = 1.0 / (1.0 + share * share).sqrt();
    (-share * spread, spread)
}

/// Returns the logarithm of the density of `mean + spread z` over the standard normal one, `ln_spread` being
/// that of the spread.
fn ln_normal_ratio((mean, spread): (f64, f64), ln_spread: f64, x: f64) -> f64 {
    0.5 * (x * x - ((x - mean) / spread).powi(2)) - ln_spread
}

/// A t test of standard normal replicates against "the mean is at least 0".
fn normal_sample(
    replicates: u64,
    alpha: f64,
    runs: u64,
    uniform: &mut UnitDraw<'_>,
    p_value: &dyn Fn(&[f64], f64) -> f64,
) -> Rejection {
    let t = student_upper_quantile(alpha, replicates as f64 - 1.0);
    // A few replicates that reach far do so with spreads that vary much themselves.
    let laws = [(1.0, 0.65), (1.0, 1.0), (1.15, 1.0), (1.05, 1.35)].map(|(far, size)| {
        let (mean, spread) = reaching(replicates, far * t);
        (size * mean, size * spread)
    });
    let ln_spreads = laws.map(|(_, spread)| spread.ln());
    importance(laws.len(), alpha, runs, |from, weight| {
        let (mean, spread) = laws[from];
        let sample: Vec<f64> = (0..replicates).map(|_| mean + spread * normal(uniform)).collect();
        sample.iter().for_each(|x| weight.add(|law| ln_normal_ratio(laws[law], ln_spreads[law], *x)));
        p_value(&sample, alpha)
    })
}

/// The t test of an unbiased estimator with five independent exponential coordinates, at the smallest allowed
/// number of draws. One coordinate is drawn, and tested at its share of the level; five times its probability
/// is at least that of all.
fn equal_refute(alpha: f64, runs: u64, uniform: &mut UnitDraw<'_>) -> Rejection {
    let coordinates = 5.0;
    let share = -((-alpha).ln_1p() / coordinates).exp_m1();
    let reach = student_upper_quantile(0.5 * share, 1e9) / (equal::MIN_DRAWS as f64).sqrt();
    let law = UnitMeanLaw::Exponential;
    let laws = [-1.15, -1.0, 1.0, 1.15].map(|far| Tilted { law, mean: 1.0 + far * reach });
    let one = importance(laws.len(), share, runs.div_ceil(3), |from, weight| {
        let mut judge = EqualJudge::new(vec![1.0], Vec::new());
        let mut sum = 0.0;
        for _ in 0..equal::MIN_DRAWS {
            let x = laws[from].draw(uniform);
            sum += x;
            judge.push(&[x]);
        }
        // The ratio depends on the sum alone.
        let n = equal::MIN_DRAWS as f64;
        weight.add(|law| n * laws[law].ln_ratio(sum / n));
        judge.finish(None, share).p_refute
    });
    Rejection { probability: coordinates * one.probability, se: coordinates * one.se }
}

/// The chi-square test of ten equal cells, at the smallest allowed number of draws. The sampling laws draw
/// the cells' probabilities first: Polya's urns that start with `total` balls, in which every ball drawn
/// comes back with another.
fn ten_cells(alpha: f64, runs: u64, uniform: &mut UnitDraw<'_>) -> Rejection {
    let size = 4000;
    let totals = [0.2, 0.35].map(|share| share * f64::from(size));
    importance(totals.len(), alpha, runs, |from, weight| {
        let mut counts = [0_u64; 10];
        for drawn in 0..size {
            let total = totals[from];
            let mut left = uniform() * (total + f64::from(drawn));
            let place = counts.iter().position(|count| {
                left -= 0.1 * total + *count as f64;
                left < 0.0
            });
            counts[place.unwrap_or(9)] += 1;
        }
        // The ratio depends on the counts alone.
        let drawn = f64::from(size);
        weight.add(|law| {
            let (total, ball) = (totals[law], 0.1 * totals[law]);
            let of = |count: &u64| ln_gamma(ball + *count as f64) - ln_gamma(ball);
            counts.iter().map(of).sum::<f64>() + ln_gamma(total)
                - ln_gamma(total + drawn)
                - drawn * 0.1_f64.ln()
        });
        equal::discrete(&counts, &[0.1; 10], None).p_refute
    })
}

/// Samples of 100 whose ratio of means equals the upper end of the range.
fn ratio_support(tilted: UnitMeanLaw, alpha: f64, runs: u64, uniform: &mut UnitDraw<'_>) -> Rejection {
    let laws =
        [0.5, 0.58, 0.66, 0.74].map(|mean| [mean, 1.0 / mean].map(|mean| Tilted { law: tilted, mean }));
    importance(laws.len(), alpha, runs, |from, weight| {
        let samples: [Vec<f64>; 2] =
            laws[from].map(|law| (0..100).map(|_| law.draw(uniform)).collect::<Vec<f64>>());
        for (i, sample) in samples.iter().enumerate() {
            sample.iter().for_each(|x| weight.add(|law| laws[law][i].ln_ratio(*x)));
        }
        ratio::independent(&samples[0], &samples[1], (0.0, 1.0), alpha).p_support
    })
}

/// Welch's test of "not worse" on 20 replicates of a rate that did not change.
fn compare_worse(alpha: f64, runs: u64, uniform: &mut UnitDraw<'_>) -> Rejection {
    let replicates = 20;
    let t = student_upper_quantile(alpha, 2.0 * replicates as f64 - 2.0);
    // Each of the two means goes half of the way, whose standard error is sqrt(2) of its own.
    let laws = [1.0, 1.1].map(|far| reaching(replicates, far * t / std::f64::consts::SQRT_2));
    let ln_spreads = laws.map(|(_, spread)| spread.ln());
    importance(laws.len(), alpha, runs, |from, weight| {
        let (mean, spread) = laws[from];
        let [old, new] = [mean, -mean]
            .map(|mean| (0..replicates).map(|_| mean + spread * normal(uniform)).collect::<Vec<f64>>());
        old.iter().for_each(|x| weight.add(|law| ln_normal_ratio(laws[law], ln_spreads[law], *x)));
        // The mirror image.
        new.iter().for_each(|x| weight.add(|law| ln_normal_ratio(laws[law], ln_spreads[law], -*x)));
        let scaled = |sample: Vec<f64>| sample.iter().map(|z| 1.0 + 0.05 * z).collect::<Vec<f64>>();
        let change = compare::compare(
            &scaled(old),
            &scaled(new),
            Replicates::Independent,
            Direction::Larger,
            RateScale::Exponent,
        );
        change.map_or(f64::NAN, |change| change.p_worse)
    })
}
