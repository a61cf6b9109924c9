//! The claims that every method and solver of the registries learns as fast as it is recorded to.
//!
//! *Statement*: the geometric mean of the cost from which on the error stays below a share of the start's is
//! within 9.5 % (full tier: 4.9 %) of the recorded one. The cost is the number of examples of an online
//! method, and the number of IFO calls of a solver.
//!
//! *Why.* Bounds have room, and a support that is found a fifth later is found: a method that has become
//! slower by a fifth passes all of them. The band ends at half of log 1.2 (1.1), so that both a method that
//! is as fast as it was and one that is slower by a fifth (a tenth) are told by the same number of runs. That
//! number follows from the law of the recorded runs: each of the two is told with probability .9999, since
//! all methods have to be told. The spread alone would not do: where one run in a thousand takes very long,
//! an interval that rests on such a run is several times as wide as the others.
//!
//! *Record*: `speeds.toml`. This records the rows that the file lacks:
//!
//! ```sh
//! LAO_BLESS=1 cargo test -p lao-claims-engine speeds
//! ```
//!
//! The row of a method that is slower or faster on purpose is deleted first, and the change says why.
//!
//! The share of each row is fixed by a rule: that of `SHARES` at which the logarithm of the cost has the
//! smallest deviation, of those that nineteen of twenty runs reach. The others count as if they reached it
//! with their last example, or call.

use super::defaults::{Begun, begin, begin_solver, share_of_distance, share_of_risk};
use anyhow::Context as _;
use lao_algorithms::registry::{METHODS, Method};
use lao_algorithms::thresholding::{SOLVERS, SolverProgress, SolverRow};
use lao_observation::Seed;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, View, still};
use lao_verification_engine::instance::{Crossing, examples_until};
use lao_verification_engine::judge::FindingKind;
use lao_verification_engine::judge::slope::judge_sample;
use lao_verification_engine::plots;
use lao_verification_engine::special::{normal_quantile, normal_upper_quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The examples that an online method has, and the IFO calls of a solver.
const EXAMPLES: u64 = 4000;
const CALLS: u64 = 200_000;

/// The probability with which a method is told to be as fast as recorded, or slower.
const POWER: f64 = 0.9999;
/// The fewest runs, so that the quantiles of a normal law do for those of Student's.
const FEWEST: u64 = 80;

/// A mutant whose estimates are those of the sound method, and come a fifth later.
const FAULTS: [Fault<f64>; 1] =
    [Fault::refuted("needs_a_fifth_more", "needs a fifth more examples, or calls, for each estimate", 1.2)];

/// What is recorded of a method or solver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Speed {
    /// The share of the start's error that ends a run.
    share: f64,
    /// The mean of the logarithm of the cost over runs, and its standard deviation, skewness and kurtosis.
    log_cost: f64,
    deviation: f64,
    skewness: f64,
    kurtosis: f64,
    /// The number of runs that were recorded.
    runs: usize,
}

/// The record, by the names of the rows of the registries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Speeds {
    learners: BTreeMap<String, Speed>,
    solvers: BTreeMap<String, Speed>,
}

/// A record that cannot be read has no rows; the test below says why.
static SPEEDS: LazyLock<Speeds> =
    LazyLock::new(|| toml::from_str(include_str!("../speeds.toml")).unwrap_or_default());

impl Speed {
    /// Returns the number of runs that tell the recorded speed from one beyond a band of this half-width.
    ///
    /// The end of the interval is `mean + z s / sqrt(n)`. The variance of `s^2` is that of the mean times
    /// `kurtosis - 1`, and their covariance is the skewness (times powers of the deviation), so that the
    /// variance of the end is that of the mean times `varies` below.
    fn runs_within(&self, half_width: f64, alpha: f64) -> u64 {
        let (level, power) = (normal_upper_quantile(alpha), normal_quantile(POWER));
        let suffices = |runs: &u64| {
            let relative = level / (*runs as f64).sqrt();
            let varies =
                1.0 + relative * self.skewness.abs() + relative.powi(2) * (self.kurtosis - 1.0) / 4.0;
            (level + power * varies.sqrt()) * self.deviation <= half_width * (*runs as f64).sqrt()
        };
        (FEWEST..).find(suffices).unwrap_or(u64::MAX)
    }
}

/// Returns the examples of a method until its error has fallen to `share`, in each view.
fn examples(method: &Method, share: f64, seed: &Seed, views: &[View]) -> anyhow::Result<Vec<f64>> {
    if still(views).is_some() {
        return Ok(vec![EXAMPLES as f64; views.len()]);
    }
    let Begun { mut learner, mut session } = begin(method, 1.0, EXAMPLES, seed)?;
    let found = examples_until(share, EXAMPLES, &mut session, &mut learner, views, &share_of_risk);
    found.with_context(|| format!("{} on the problem of the defaults", method.name))
}

/// Returns the IFO calls of a solver until its error has fallen to `share`, in each view.
fn calls(row: &SolverRow, share: f64, seed: &Seed, views: &[View]) -> anyhow::Result<Vec<f64>> {
    if still(views).is_some() {
        return Ok(vec![CALLS as f64; views.len()]);
    }
    let (mut sum, mut solver) = begin_solver(row, 1.0, seed)?;
    let mut rng = seed.child("algorithm").rng();
    let mut watches = vec![Crossing::below(share); views.len()];
    while sum.meter().calls < CALLS && watches.first().is_some_and(|watch| !watch.lasted()) {
        match solver.step(&mut sum, &mut rng)? {
            SolverProgress::Evaluated => continue,
            SolverProgress::Settled => break,
            SolverProgress::Moved => {}
        }
        let (calls, predictor) = (sum.meter().calls as f64, solver.coefficients());
        for (view, watch) in views.iter().zip(&mut watches) {
            watch.see(calls, share_of_distance(predictor, *view));
        }
    }
    Ok(watches.iter().map(|watch| watch.cost().unwrap_or(CALLS as f64)).collect())
}

/// How a row is judged.
#[derive(Clone, Copy)]
struct Judged {
    speed: Speed,
    half_width: f64,
    runs: u64,
}

/// Returns the rows that this tier judges, with how each is judged, and plans a cell for each: those
/// whose runs take no more than so many examples, or calls.
fn judged<'a, R>(
    cx: &mut Context<'_>,
    rows: &'a [R],
    name: impl Fn(&R) -> &'static str,
    speeds: &BTreeMap<String, Speed>,
) -> anyhow::Result<Vec<(&'a R, Judged)>> {
    let most = cx.size("most")? as f64;
    // Half of the width of the band.
    let half_width = (1.0 + cx.size("tenths")? as f64 / 10.0).ln() / 2.0;
    let mut judged = Vec::new();
    for row in rows {
        let name = name(row);
        let speed = *speeds.get(name).with_context(|| {
            format!("speeds.toml has no row for {name}: LAO_BLESS=1 cargo test -p lao-claims-engine speeds")
        })?;
        // The level of a refutation, if there is a cell for each row.
        let runs = speed.runs_within(half_width, cx.alpha() / rows.len() as f64);
        // A run goes on until the cost has doubled.
        if runs as f64 * 2.0 * speed.log_cost.exp() <= most {
            judged.push((row, Judged { speed, half_width, runs }));
        }
    }
    cx.split(judged.len());
    Ok(judged)
}

/// Judges the costs of one method or solver.
fn judge(
    cx: &mut Context<'_>,
    (what, name): (&str, &str),
    Judged { speed, half_width, runs }: Judged,
    costs: impl Fn(f64, &Seed, &[View]) -> anyhow::Result<Vec<f64>> + Sync,
) -> anyhow::Result<Vec<f64>> {
    let slower = cx.arm(1.0, &FAULTS);
    let costs = cx.sound_trials(name, runs, |trial, views| costs(speed.share, &trial.seed, views))?;
    let costs: Vec<f64> = costs.iter().map(|cost| slower * cost).collect();
    let logarithms: Vec<f64> = costs.iter().map(|cost| cost.ln()).collect();
    let band = (speed.log_cost - half_width, speed.log_cost + half_width);
    cx.judge(name, judge_sample(&logarithms, band, cx.alpha(), FindingKind::Mean));
    cx.rate(&format!("{what}, {name}"), Direction::Larger, costs.clone());
    Ok(costs)
}

fn draw(cx: &mut Context<'_>, what: &str, rates: &[(&str, Vec<f64>)]) {
    let samples: Vec<(&str, &[f64])> = rates.iter().map(|(name, rates)| (*name, &rates[..])).collect();
    cx.figure(plots::spread(&format!("The {what} of each, over runs."), Axis::log(what), &samples));
}

fn learners(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (what, mut rates) = ("examples to a share of the excess risk", Vec::new());
    for (method, how) in judged(cx, METHODS, |row| row.name, &SPEEDS.learners)? {
        let found =
            judge(cx, (what, method.name), how, |share, seed, views| examples(method, share, seed, views))?;
        rates.push((method.name, found));
        cx.settled()?;
    }
    draw(cx, what, &rates);
    Ok(())
}

fn solvers(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (what, mut rates) = ("IFO calls to a share of the squared distance", Vec::new());
    for (row, how) in judged(cx, SOLVERS, |row| row.name, &SPEEDS.solvers)? {
        let found = judge(cx, (what, row.name), how, |share, seed, views| calls(row, share, seed, views))?;
        rates.push((row.name, found));
        cx.settled()?;
    }
    draw(cx, what, &rates);
    Ok(())
}

/// The claim about the online methods.
pub const LEARNERS: Claim = Claim {
    id: "engine-speed-learners",
    place: "the registry of methods",
    sentence: "With practical parameters, every online method of the registry needs as many examples as \
               recorded until its excess risk has fallen to a share of the start's: within 9.5 %, so that a \
               method that needs a fifth more is noticed.",
    formula: r"\left| E \log N - \ell \right| \le \tfrac12 \log 1.2",
    design: "The problem of `engine-defaults-learners`. The number of runs of a method follows from the \
             recorded law of its cost, so that the recorded speed and one that is a fifth slower are each \
             told with probability .9999; the full tier tells a tenth. A method whose runs take more than \
             ten million examples is left to the full tier. The share is recorded with the speed.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment: learners,
};

/// The claim about the solvers.
pub const SOLVERS_CLAIM: Claim = Claim {
    id: "engine-speed-solvers",
    place: "the registry of solvers",
    sentence: "With practical parameters, every solver of the registry needs as many IFO calls as recorded \
               until its squared distance from the truth has fallen to a share of the start's: within 9.5 %, \
               so that a solver that needs a fifth more is noticed.",
    formula: r"\left| E \log N - \ell \right| \le \tfrac12 \log 1.2",
    design: "The problem of `engine-defaults-solvers`, and runs as in `engine-speed-learners`.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment: solvers,
};

#[cfg(test)]
mod tests {
    use super::*;
    use lao_verification_engine::judge::sample::Moments;
    use rand::RngExt;
    use rand_distr::StandardNormal;
    use rayon::prelude::*;
    use std::path::Path;

    /// The shares that a record may have.
    const SHARES: [f64; 7] = [0.75, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01];
    const TRIED: u64 = 1000;
    /// The fewest runs of a record, and the most that its standard error may be: a sixteenth of the band.
    const RECORDED: u64 = 20_000;
    const EXACT: f64 = 0.003;

    /// Records the costs at the share at which their logarithm has the smallest deviation, of those that
    /// nineteen of twenty runs reach.
    fn record(most: u64, costs: impl Fn(f64, &Seed) -> f64 + Sync) -> Option<Speed> {
        let at = |share: f64, runs: u64| -> Option<Speed> {
            let seed = Seed::root(1).child("recorded speeds");
            let costs: Vec<f64> =
                (0..runs).into_par_iter().map(|run| costs(share, &seed.trial(run))).collect();
            let reached = costs.iter().filter(|cost| **cost < most as f64).count();
            let logarithms: Vec<f64> = costs.iter().map(|cost| cost.ln()).collect();
            let Moments { mean, sd, .. } = Moments::of(&logarithms);
            let standardized =
                |power| logarithms.iter().map(|x| ((x - mean) / sd).powi(power)).sum::<f64>() / runs as f64;
            let rounded = |x: f64| (x * 1e5).round() / 1e5;
            (20 * reached >= 19 * costs.len()).then_some(Speed {
                share,
                log_cost: rounded(mean),
                deviation: rounded(sd),
                skewness: rounded(standardized(3)),
                kurtosis: rounded(standardized(4)),
                runs: costs.len(),
            })
        };
        let tried = SHARES.into_iter().filter_map(|share| at(share, TRIED));
        let best = tried.min_by(|a, b| a.deviation.total_cmp(&b.deviation))?;
        at(best.share, RECORDED.max((best.deviation / EXACT).powi(2).ceil() as u64))
    }

    #[test]
    fn rare_long_runs_have_their_number() {
        let (alpha, half_width) = (8e-6, 1.2f64.ln() / 2.0);
        // The logarithm of the cost is normal with deviation .08, but 2 larger in one run of a thousand.
        let mut rng = Seed::root(1).child("rare long runs").rng();
        let mut draw = || -> f64 {
            let long = if rng.random::<f64>() < 1e-3 { 2.0 } else { 0.0 };
            0.08 * rng.sample::<f64, _>(StandardNormal) + long
        };
        let (log_cost, square) = (2e-3, 0.0064_f64 + 4.0 * 0.999e-3);
        let central = [8.0 * 0.999e-3 * 0.998, 3.0 * 0.0064f64.powi(2) + 6.0 * 0.0064 * 4e-3 + 16e-3];
        let speed = Speed {
            share: 0.5,
            log_cost,
            deviation: square.sqrt(),
            skewness: central[0] / square.powf(1.5),
            kurtosis: central[1] / square.powi(2),
            runs: 1,
        };
        let band = (log_cost - half_width, log_cost + half_width);
        let mut missed = |runs: u64| -> usize {
            let undecided = |_: &u32| {
                let sample: Vec<f64> = (0..runs).map(|_| draw()).collect();
                judge_sample(&sample, band, alpha, FindingKind::Mean).p_support > alpha
            };
            (0..5000).filter(undecided).count()
        };
        let by_spread = Speed { skewness: 0.0, kurtosis: 3.0, ..speed };
        let (runs, fewer) = (speed.runs_within(half_width, alpha), by_spread.runs_within(half_width, alpha));
        assert!(missed(runs) <= 5 && missed(fewer) > 100, "{runs} and {fewer} runs");
    }

    #[test]
    fn speeds_of_all_rows_are_recorded() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("speeds.toml");
        let read = || -> Speeds { toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap() };
        if std::env::var_os("LAO_BLESS").is_some() {
            let Speeds { learners, solvers } = read();
            let mut speeds = Speeds::default();
            for method in METHODS {
                let of = |share: f64, seed: &Seed| examples(method, share, seed, &[None]).unwrap()[0];
                let speed = learners.get(method.name).copied().or_else(|| record(EXAMPLES, of));
                let speed = speed.unwrap_or_else(|| panic!("{} reaches no share", method.name));
                speeds.learners.insert(method.name.to_owned(), speed);
            }
            for row in SOLVERS {
                let of = |share: f64, seed: &Seed| calls(row, share, seed, &[None]).unwrap()[0];
                let speed = solvers.get(row.name).copied().or_else(|| record(CALLS, of));
                let speed = speed.unwrap_or_else(|| panic!("{} reaches no share", row.name));
                speeds.solvers.insert(row.name.to_owned(), speed);
            }
            let head = "# The speed of every method and solver, for the claims `engine-speed-learners` and\n\
                        # `engine-speed-solvers`; recorded by\n\
                        # LAO_BLESS=1 cargo test -p lao-claims-engine speeds\n\n";
            std::fs::write(&path, head.to_owned() + &toml::to_string(&speeds).unwrap()).unwrap();
        }
        let speeds = read();
        assert!(speeds.learners.keys().map(String::as_str).eq(sorted(METHODS.iter().map(|row| row.name))));
        assert!(speeds.solvers.keys().map(String::as_str).eq(sorted(SOLVERS.iter().map(|row| row.name))));
        // The deviation that chose the number of runs was that of a few.
        let exact = |speed: &Speed| speed.deviation <= 1.2 * EXACT * (speed.runs as f64).sqrt();
        assert!(speeds.learners.values().chain(speeds.solvers.values()).all(exact));
    }

    fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.into_iter()
    }
}
