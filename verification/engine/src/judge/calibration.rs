//! Simulations that check whether the judges keep their level: each engine runs many times at the boundary of
//! a null hypothesis that it must not reject, and the rejections are counted.
//!
//! Random numbers come from the caller, as a function that returns independent uniforms in [0, 1).

use super::equal::{self, EqualJudge};
use super::slope::{Exponent, judge_slopes};
use super::{
    BLOCK, Direction, Flow, MeanJudge, ProbJudge, bounded, compare, geom, mean, paired, prob, ratio,
};
use crate::special::{binomial_ln_at_least, normal_ln_sf};
use serde::{Deserialize, Serialize};

/// A source of independent uniforms in [0, 1).
pub type UnitDraw<'a> = dyn FnMut() -> f64 + 'a;

/// How often an engine rejected a null hypothesis that was true.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Crossings {
    /// The engine, the side and the law.
    pub name: String,
    /// The nominal level of one run.
    pub alpha: f64,
    /// The number of simulated runs.
    pub runs: u64,
    /// The number of runs that rejected.
    pub crossings: u64,
}

impl Crossings {
    /// Returns the share of runs that rejected.
    pub fn frequency(&self) -> f64 {
        self.crossings as f64 / self.runs as f64
    }

    /// Returns the largest frequency that an engine at the nominal level may show: one more crossing would
    /// have at most the probability with which a normal variable exceeds four standard errors, 3e-5, by the
    /// binomial law. (At levels near .01 the normal law itself would raise ten times as many false alarms.)
    pub fn largest_frequency(&self) -> f64 {
        let rare = normal_ln_sf(4.0);
        let refuses = |k: u64| k > self.runs || binomial_ln_at_least(self.runs, self.alpha, k) <= rare;
        let least = prob::first(0, self.runs + 1, refuses);
        (least as f64 - 1.0) / self.runs as f64
    }

    /// Returns whether the frequency is at most the [largest](Crossings::largest_frequency).
    pub fn within_level(&self) -> bool {
        self.frequency() <= self.largest_frequency()
    }
}

/// A law on `[0, inf)` with mean one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitMeanLaw {
    /// Exponential.
    Exponential,
    /// Chi-square with one degree of freedom.
    ChiSquare,
    /// Lognormal with unit log-variance.
    Lognormal,
    /// Pareto with tail exponent 3.
    Pareto,
    /// The value 100 with probability 1/100, otherwise 0.
    Spikes,
}

impl UnitMeanLaw {
    /// Returns one draw from the law.
    pub fn draw(self, uniform: &mut UnitDraw<'_>) -> f64 {
        match self {
            UnitMeanLaw::Exponential => -(1.0 - uniform()).ln(),
            UnitMeanLaw::ChiSquare => normal(uniform).powi(2),
            UnitMeanLaw::Lognormal => (normal(uniform) - 0.5).exp(),
            UnitMeanLaw::Pareto => 2.0 / 3.0 / (1.0 - uniform()).cbrt(),
            UnitMeanLaw::Spikes => f64::from(u8::from(uniform() < 0.01)) * 100.0,
        }
    }
}

/// Returns a standard normal draw (Box-Muller, cosine half).
pub fn normal(uniform: &mut UnitDraw<'_>) -> f64 {
    (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}

fn count(name: impl Into<String>, alpha: f64, runs: u64, mut p_value: impl FnMut() -> f64) -> Crossings {
    // A p-value that is NaN counts as a crossing: the engine failed on a plain sample.
    let crossings = (0..runs).filter(|_| !matches!(p_value(), p if p > alpha)).count() as u64;
    Crossings { name: name.into(), alpha, runs, crossings }
}

/// Runs both sides of the beta-binomial process at failure rate `delta`, each so many times.
pub fn prob_sequential(
    delta: f64,
    alpha: f64,
    n_max: u64,
    runs: [u64; 2],
    uniform: &mut UnitDraw<'_>,
) -> [Crossings; 2] {
    // Each side runs alone, since in a judge the other side would stop some runs before they cross.
    let mut side = |name: &str, refute: bool, runs: u64| {
        // More failures are more evidence against the claim: at every look they cross from some number on,
        // or up to it.
        let crosses = |failures: u64, n: u64| {
            let e = prob::log_e(failures, n - failures, delta);
            (if refute { e.refute } else { e.support }) >= -alpha.ln()
        };
        let looks = if runs > 0 { n_max / BLOCK as u64 } else { 0 };
        let turns: Vec<u64> = (1..=looks)
            .map(|look| look * BLOCK as u64)
            .map(|n| prob::first(0, n + 1, |failures| crosses(failures, n) == refute))
            .collect();
        let crossings = (0..runs).filter(|_| {
            let mut failures = 0;
            turns.iter().any(|turn| {
                failures += (0..BLOCK).filter(|_| uniform() < delta).count() as u64;
                (failures >= *turn) == refute
            })
        });
        let crossings = crossings.count() as u64;
        Crossings { name: format!("beta-binomial-e {name}, delta {delta}"), alpha, runs, crossings }
    };
    [side("refute", true, runs[0]), side("support", false, runs[1])]
}

/// Runs both sides of the Clopper-Pearson test at failure rate `delta`.
pub fn prob_fixed(delta: f64, alpha: f64, n: u64, runs: u64, uniform: &mut UnitDraw<'_>) -> [Crossings; 2] {
    // The p-values of each number of failures, once it is seen.
    let mut known = vec![None; n as usize + 1];
    let mut side = |name: &str, refute: bool| {
        count(format!("clopper-pearson {name}, delta {delta}"), alpha, runs, || {
            let failures = (0..n).filter(|_| uniform() < delta).count();
            let (p_refute, p_support) = *known[failures].get_or_insert_with(|| {
                let finding = prob::fixed(delta, alpha, failures as u64, n);
                (finding.p_refute, finding.p_support)
            });
            if refute { p_refute } else { p_support }
        })
    };
    [side("refute", true), side("support", false)]
}

/// Runs the whole sequential judge at failure rate `delta` and counts rejections on either side. Their
/// probability is at most `2 alpha`, so the level in the result is `2 alpha`.
pub fn prob_judge(delta: f64, alpha: f64, n_max: u64, runs: u64, uniform: &mut UnitDraw<'_>) -> Crossings {
    let mut crossings = count(format!("ProbJudge, delta {delta}"), alpha, runs, || {
        let mut judge = ProbJudge::new(delta, alpha, n_max);
        loop {
            let block: Vec<bool> = (0..BLOCK).map(|_| uniform() >= delta).collect();
            if judge.push_block(&block) == Flow::Stop {
                let finding = judge.finish();
                return finding.p_refute.min(finding.p_support);
            }
        }
    });
    crossings.alpha *= 2.0;
    crossings
}

/// Runs the betting process against a mean that equals its bound.
pub fn mean_refute(
    law: UnitMeanLaw,
    alpha: f64,
    n_max: u64,
    runs: u64,
    uniform: &mut UnitDraw<'_>,
) -> Crossings {
    count(format!("betting-e refute, {law:?}"), alpha, runs, || {
        let mut judge = MeanJudge::new(1.0, alpha, n_max);
        loop {
            let block: Vec<f64> = (0..BLOCK).map(|_| law.draw(uniform)).collect();
            if judge.push_block(&block) == Flow::Stop {
                return judge.finish().p_refute;
            }
        }
    })
}

/// Runs Hall's test, with its guards and at a fraction of the level, on a mean that equals its bound.
pub fn mean_support(
    law: UnitMeanLaw,
    alpha: f64,
    n: u64,
    runs: u64,
    uniform: &mut UnitDraw<'_>,
) -> Crossings {
    count(format!("hall-t support, {law:?}"), alpha, runs, || {
        let values: Vec<f64> = (0..n).map(|_| law.draw(uniform)).collect();
        mean::fixed(1.0, alpha, &values).p_support
    })
}

/// Runs the betting process for a uniform variable in [0, 1] whose mean equals its bound.
pub fn mean_support_bounded(alpha: f64, n_max: u64, runs: u64, uniform: &mut UnitDraw<'_>) -> Crossings {
    count("betting-e support, uniform", alpha, runs, || {
        let mut judge = MeanJudge::new(0.5, alpha, n_max).with_upper(1.0);
        loop {
            let block: Vec<f64> = (0..BLOCK).map(|_| uniform()).collect();
            if judge.push_block(&block) == Flow::Stop {
                return judge.finish().p_support;
            }
        }
    })
}

/// Counts how often the hedged-capital interval for a uniform variable misses its mean at any time up to `n`.
pub fn hedged_interval(alpha: f64, n: u64, runs: u64, uniform: &mut UnitDraw<'_>) -> Crossings {
    count("hedged-capital interval, uniform", alpha, runs, || {
        let values: Vec<f64> = (0..n).map(|_| uniform()).collect();
        let interval = bounded::interval(&values, 0.0, 1.0, alpha);
        if interval.lo <= 0.5 && 0.5 <= interval.hi { 1.0 } else { 0.0 }
    })
}

/// Runs the support side of "the exponent is at most 1" on `replicates` normal slopes whose mean is 1.
pub fn slope_support(alpha: f64, replicates: u64, runs: u64, uniform: &mut UnitDraw<'_>) -> Crossings {
    count(format!("slope t support, {replicates} replicates"), alpha, runs, || {
        let slopes: Vec<f64> = (0..replicates).map(|_| 1.0 + 0.1 * normal(uniform)).collect();
        judge_slopes(&slopes, Exponent::AtMost(1.0), 0.0, alpha).p_support
    })
}

/// Runs the support side of "the gap shrinks by `e^-0.1` per step" on gaps that shrink by exactly this
/// factor, with a random walk as noise of the logarithm.
pub fn geom_support(alpha: f64, replicates: u64, runs: u64, uniform: &mut UnitDraw<'_>) -> Crossings {
    let steps = 60;
    let time: Vec<f64> = (0..steps).map(f64::from).collect();
    let window = geom::Window { start: 6, end: 60 };
    count(format!("geom t support, {replicates} replicates"), alpha, runs, || {
        let slopes: Vec<Option<f64>> = (0..replicates)
            .map(|_| {
                let mut log_gap = 0.0;
                let gaps = time.iter().map(|_| {
                    log_gap += -0.1 + 0.15 * normal(uniform);
                    f64::exp(log_gap)
                });
                geom::log_slope(&time, &gaps.collect::<Vec<_>>(), window)
            })
            .collect();
        geom::rate(&slopes, (-0.1_f64).exp(), alpha).p_support
    })
}

/// Runs the refute side on an unbiased estimator with `d` exponential coordinates, at the smallest allowed
/// number of draws.
pub fn equal_refute(alpha: f64, d: usize, runs: u64, uniform: &mut UnitDraw<'_>) -> Crossings {
    count(format!("t-sidak refute, {d} coordinates"), alpha, runs, || {
        let mut judge = EqualJudge::new(vec![1.0; d], vec![vec![1.0; d]]);
        let mut draw = vec![0.0; d];
        for _ in 0..equal::MIN_DRAWS {
            draw.iter_mut().for_each(|x| *x = UnitMeanLaw::Exponential.draw(uniform));
            judge.push(&draw);
        }
        judge.finish(None, alpha).p_refute
    })
}

/// Runs the refute side on a uniform sampler over ten cells.
pub fn discrete_refute(alpha: f64, n: u64, runs: u64, uniform: &mut UnitDraw<'_>) -> Crossings {
    count("chi-square refute, ten cells", alpha, runs, || {
        let mut counts = [0; 10];
        (0..n).for_each(|_| counts[((uniform() * 10.0) as usize).min(9)] += 1);
        equal::discrete(&counts, &[0.1; 10], None).p_refute
    })
}

/// Runs the support side on two methods with the same law.
pub fn paired_support(alpha: f64, pairs: u64, runs: u64, uniform: &mut UnitDraw<'_>) -> Crossings {
    count(format!("sign support, {pairs} pairs"), alpha, runs, || {
        let a: Vec<f64> = (0..pairs).map(|_| UnitMeanLaw::Lognormal.draw(uniform)).collect();
        let b: Vec<f64> = (0..pairs).map(|_| UnitMeanLaw::Lognormal.draw(uniform)).collect();
        paired::better(&a, &b, alpha).p_support
    })
}

/// Runs the support side on exponential samples whose ratio of means equals the upper end of the range.
pub fn ratio_support(alpha: f64, n: u64, runs: u64, uniform: &mut UnitDraw<'_>) -> Crossings {
    count(format!("log-ratio-t support, {n} each"), alpha, runs, || {
        let a: Vec<f64> = (0..n).map(|_| UnitMeanLaw::Exponential.draw(uniform)).collect();
        let b: Vec<f64> = (0..n).map(|_| UnitMeanLaw::Exponential.draw(uniform)).collect();
        ratio::independent(&a, &b, (0.0, 1.0), alpha).p_support
    })
}

/// Runs Welch's test of "not worse" on a rate that did not change.
pub fn compare_worse(alpha: f64, replicates: u64, runs: u64, uniform: &mut UnitDraw<'_>) -> Crossings {
    count(format!("welch worse, {replicates} replicates"), alpha, runs, || {
        let old: Vec<f64> = (0..replicates).map(|_| 1.0 + 0.05 * normal(uniform)).collect();
        let new: Vec<f64> = (0..replicates).map(|_| 1.0 + 0.05 * normal(uniform)).collect();
        let (drawn, worse) = (compare::Replicates::Independent, Direction::Larger);
        let change = compare::compare(&old, &new, drawn, worse, compare::RateScale::Exponent);
        change.map_or(f64::NAN, |change| change.p_worse)
    })
}

/// Runs every engine at level .01 (.05 for the hedged interval), `100 scale` times each, or as often as it
/// needs if that is less.
pub fn battery(scale: u64, uniform: &mut UnitDraw<'_>) -> Vec<Crossings> {
    let levels = CalibrationLevels { one_sided: 0.01, interval: 0.05 };
    battery_at(levels, &|needed| needed.kept.min(100 * scale), uniform)
}

/// The levels of a battery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationLevels {
    /// Of all engines but the hedged interval.
    pub one_sided: f64,
    /// Of the hedged interval.
    pub interval: f64,
}

/// How many runs an engine needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsNeeded {
    /// At the level .01, where an engine that keeps its level must not be taken for one that does not: an
    /// engine that uses its whole level needs more than one that is far below it.
    pub kept: u64,
    /// At twenty times the level, where the largest frequency at the level must be exceeded with
    /// power .9999; 0 for an engine that is too far below its level.
    pub broken: u64,
}

/// Runs every engine at the given levels, each `runs` times as a function of what it needs; leaves out those
/// with no runs.
pub fn battery_at(
    levels: CalibrationLevels,
    runs: &dyn Fn(RunsNeeded) -> u64,
    uniform: &mut UnitDraw<'_>,
) -> Vec<Crossings> {
    let alpha = levels.one_sided;
    let runs = |kept: u64, broken: u64| runs(RunsNeeded { kept, broken });
    let mut all = Vec::new();
    for (delta, refute, support) in [
        (0.05, runs(600, 0), runs(600, 480)),
        (0.1, runs(600, 0), runs(600, 480)),
        // At twenty times its level it rejects in one run of 25.
        (0.3, runs(1600, 1600), runs(600, 480)),
    ] {
        all.extend(prob_sequential(delta, alpha, 2000, [refute, support], uniform));
        all.extend(prob_fixed(delta, alpha, 400, runs(1200, 300), uniform));
    }
    all.push(prob_judge(0.1, alpha, 2000, runs(600, 240), uniform));
    for law in [
        UnitMeanLaw::Exponential,
        UnitMeanLaw::ChiSquare,
        UnitMeanLaw::Lognormal,
        UnitMeanLaw::Pareto,
        UnitMeanLaw::Spikes,
    ] {
        all.push(mean_refute(law, alpha, 2000, runs(300, 0), uniform));
        all.push(mean_support(law, alpha, 400, runs(400, 0), uniform));
    }
    all.push(mean_support_bounded(alpha, 1000, runs(300, 0), uniform));
    all.push(hedged_interval(levels.interval, 500, runs(400, 0), uniform));
    for replicates in [8, 20] {
        all.push(slope_support(alpha, replicates, runs(1200, 240), uniform));
        all.push(geom_support(alpha, replicates, runs(1200, 240), uniform));
    }
    all.push(equal_refute(alpha, 5, runs(600, 360), uniform));
    all.push(discrete_refute(alpha, 1000, runs(1200, 240), uniform));
    all.push(paired_support(alpha, 30, runs(1200, 240), uniform));
    // At twenty times its level it rejects in three runs of a hundred.
    all.push(ratio_support(alpha, 100, runs(2700, 2700), uniform));
    all.push(compare_worse(alpha, 20, runs(1200, 240), uniform));
    all.retain(|crossings| crossings.runs > 0);
    all
}
