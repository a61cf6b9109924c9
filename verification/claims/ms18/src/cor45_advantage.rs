//! Corollary 4.5 in practice: what Hybrid saves.
//!
//! *Statement.* Once the noise decides, Exploration needs `d'` times as many examples as exploiting the right
//! support would, `d' = d/(s'-s)`. Hybrid (a) needs a fraction of that, (b) is never much worse, (c) with a
//! coefficient of 1/eps that does not depend on the smallest coefficient r, and (d) does not depend on d'
//! where Exploration is proportional to it; (e) none of this depends on the unit of the coefficients.

use lao_algorithms::BatchSizes;
use lao_algorithms::murata_suzuki::HybridParams;
use lao_datasets::synthetic::{Counted, Hadamard, Noise, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Learner, Seed, Session, SessionLimit};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series, ShownTrials};
use lao_verification_engine::judge::slope::{Exponent, SlopeJudge};
use lao_verification_engine::judge::{exact_all, prob, ratio};
use lao_verification_engine::mutants::{Cripple, Crippled, Misdirected, Misdirection};
use lao_verification_engine::plots;

const SPARSITY: usize = 12;
const STAGES: u64 = 40;
const SHRINK: f64 = 0.7;
const EPS: [f64; 4] = [1e-1, 1e-2, 1e-3, 1e-4];
const SMALLEST: [f64; 3] = [1.0, 0.3, 0.1];

/// What runs.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Method {
    Exploration,
    Hybrid,
}

/// What an arm gets wrong.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Wrong {
    RandomSupport,
    NeverExploits,
    ExplorationExploits,
    ExplorationStandsStill,
    ExploresOverSmallest,
    ForgetsUnit,
}

/// `theta* = (1, -1, 1, -r)`, in a unit.
pub(crate) fn target(dim: usize, smallest: f64, unit: f64) -> anyhow::Result<SparseVector> {
    let d = dim as u32;
    let values = [1.0, -1.0, 1.0, -smallest].iter().map(|x| x * unit).collect();
    Ok(SparseVector::new(dim, vec![5, d / 4, d / 2 + 3, d - 2], values)?)
}

/// A problem and a budget.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub dim: usize,
    pub blocks: usize,
    /// r.
    pub smallest: f64,
    /// Unit of coefficients and noise.
    pub unit: f64,
    pub wrong: Option<Wrong>,
    pub cripple: Option<Cripple>,
}

/// One run: gaps and examples after every update, inclusion of the support after every stage.
#[derive(Default)]
pub(crate) struct Run {
    /// Examples of Exploration's whole schedule.
    schedule: u64,
    examples: Vec<u64>,
    gaps: Vec<f64>,
    included: Vec<bool>,
}

impl Run {
    /// Examples up to the first gap of at most `eps`; where it is not reached, those of Exploration's whole
    /// schedule, thirty times what a sound run needs for the finest target.
    fn to(&self, eps: f64) -> f64 {
        self.reached(eps).unwrap_or(self.schedule) as f64
    }

    /// Examples up to the first gap of at most `eps`, if it was reached.
    pub fn reached(&self, eps: f64) -> Option<u64> {
        let place = self.gaps.iter().position(|gap| *gap <= eps)?;
        self.examples.get(place).copied()
    }
}

impl Setting {
    /// Returns whether this arm gets something wrong in a method.
    fn is_faulty(&self, method: Method) -> bool {
        use Wrong::{ExplorationExploits, ExplorationStandsStill};
        use Wrong::{ExploresOverSmallest, ForgetsUnit, NeverExploits, RandomSupport};
        let of_method = match self.wrong {
            None => false,
            Some(ForgetsUnit) => true,
            Some(ExplorationExploits | ExplorationStandsStill) => method == Method::Exploration,
            Some(NeverExploits | RandomSupport | ExploresOverSmallest) => method == Method::Hybrid,
        };
        of_method || self.cripple.is_some()
    }

    fn params(&self, method: Method) -> HybridParams {
        let Setting { dim, blocks, smallest, unit, .. } = *self;
        let gap_0 = unit * unit * (3.0 + smallest * smallest);
        let noise = if self.wrong == Some(Wrong::ForgetsUnit) { 1.0 } else { unit * unit };
        let larger = match self.wrong {
            Some(Wrong::ExploresOverSmallest) if method == Method::Hybrid => smallest.powi(-2),
            _ => 1.0,
        };
        let needed = |accuracy: f64| ((SPARSITY as f64 * noise / accuracy).max(100.0)).ceil() as u64;
        let target = |stage: u64| gap_0 * SHRINK.powi(stage as i32);
        let refine = ((blocks as f64).ln() / (1.0 / SHRINK).ln()).ceil() as u64;
        let exploits = match method {
            Method::Exploration => self.wrong == Some(Wrong::ExplorationExploits),
            Method::Hybrid => self.wrong != Some(Wrong::NeverExploits),
        };
        let slower = method == Method::Exploration && self.wrong == Some(Wrong::ExplorationStandsStill);
        let listed = |of: &dyn Fn(u64) -> u64| BatchSizes::Listed((1..=STAGES).map(of).collect());
        HybridParams {
            dim,
            sparsity: SPARSITY,
            budget: SPARSITY + dim / blocks,
            step_size: if slower { 0.00125 } else { 0.125 },
            explore_updates: 3,
            explore_batch: listed(&|stage| needed(target(stage) / larger)),
            exploit_updates: if exploits { refine } else { 0 },
            exploit_batch: listed(&|stage| needed(target(stage) * SHRINK.powi(refine as i32))),
            stages: Some(STAGES),
            start: None,
            money: None,
        }
    }

    /// Examples of Exploration's whole schedule.
    fn schedule(&self) -> u64 {
        let params = Setting { wrong: None, ..*self }.params(Method::Exploration);
        let updates = params.explore_updates * self.blocks as u64;
        (1..=STAGES).map(|stage| updates * params.explore_batch.size(stage)).sum()
    }

    /// Runs until the gap is at most `eps` or the stages are over.
    pub fn run(&self, method: Method, eps: f64, seed: &Seed) -> anyhow::Result<Run> {
        let params = self.params(method);
        let star = target(self.dim, self.smallest, self.unit)?;
        let truth = Virtual::new(
            Hadamard::new(self.dim)?,
            star.clone(),
            Noise::Gaussian(self.unit),
            &seed.child("data"),
        )?;
        let (per_stage, budget) = (params.explore_updates + params.exploit_updates, params.budget);
        let mut learner: Box<dyn Learner> = match (method, self.wrong) {
            (Method::Hybrid, Some(Wrong::RandomSupport)) => {
                Box::new(Misdirected::new(params, Misdirection::RandomSupport)?)
            }
            _ => Box::new(Crippled::new(params.build()?, self.cripple)),
        };
        let source = Counted::new(truth.clone())?;
        let mut session = Session::new(source, Budget::PerExample(budget), &seed.child("algorithm"));
        let mut run = Run { schedule: self.schedule(), ..Run::default() };
        for update in 1..=STAGES * per_stage {
            session.run(learner.as_mut(), SessionLimit::after_updates(update), |ledger, learner| {
                let theta = learner.coefficients();
                run.examples.push(ledger.examples);
                run.gaps.push(truth.gap(theta));
                if update % per_stage == 0 {
                    run.included.push(star.indices().iter().all(|&j| theta.get(j) != 0.0));
                }
            })?;
            let reached = run.gaps.last().is_some_and(|gap| *gap <= eps);
            // What a crippled learner says stays near its start: one stage is enough.
            if reached || (self.cripple.is_some() && update == per_stage) {
                break;
            }
        }
        Ok(run)
    }
}

/// Runs of both methods, on data of their own, until `eps`.
fn both(
    cx: &Context<'_>,
    setting: Setting,
    eps: f64,
    (of_exploration, of_hybrid): (u64, u64),
) -> anyhow::Result<[ShownTrials<Run>; 2]> {
    let Setting { blocks, smallest, .. } = setting;
    let runs = |name: &str, method: Method, n: u64| {
        let cell = format!("{name}, d' = {blocks}, r = {smallest}");
        let run = || cx.all_trials(&cell, n, |trial| setting.run(method, eps, &trial.seed));
        // A fault of one method leaves the runs of the other as they are.
        if setting.is_faulty(method) {
            return Ok(ShownTrials::from(run()?));
        }
        anyhow::Ok(ShownTrials::first(cx.shared(&cell, run)?, n))
    };
    Ok([
        runs("Exploration", Method::Exploration, of_exploration)?,
        runs("Hybrid", Method::Hybrid, of_hybrid)?,
    ])
}

fn counts(runs: &[Run], eps: f64) -> Vec<f64> {
    runs.iter().map(|run| run.to(eps)).collect()
}

/// The first three are for the last cells, and the arms of the others end with part (c).
const FAULTS: [Fault<Wrong>; 6] = [
    Fault::refuted(
        "forgets_the_unit",
        "the batches do not know the unit of the coefficients",
        Wrong::ForgetsUnit,
    ),
    Fault::refuted("never_exploits", "Hybrid without exploiting updates", Wrong::NeverExploits),
    Fault::refuted(
        "exploration_exploits",
        "Exploration, too, makes exploiting updates",
        Wrong::ExplorationExploits,
    ),
    Fault::refuted(
        "exploits_random_support",
        "Hybrid exploits a random support of the same size",
        Wrong::RandomSupport,
    ),
    Fault::refuted(
        "exploration_stands_still",
        "Exploration with a hundredth of its step size",
        Wrong::ExplorationStandsStill,
    ),
    Fault::refuted(
        "explores_over_smallest",
        "Hybrid explores with batches 1/r^2 times as large",
        Wrong::ExploresOverSmallest,
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (wrong, cripple) = (cx.fault(&FAULTS), cx.cripple());
    let (dim, n) = (cx.size("dim")? as usize, cx.size("runs")?);
    cx.split(SMALLEST.len() * (1 + EPS.len()) + 5);
    if wrong == Some(Wrong::ForgetsUnit) {
        // With coefficients in the unit 1 nothing is forgotten: the other cells are those of the honest arm.
        return units(cx, (dim, wrong, cripple));
    }
    let alpha = cx.alpha();
    let accurate = EPS[3];
    let mut all = Vec::new();
    for smallest in SMALLEST {
        let setting = Setting { dim, blocks: 32, smallest, unit: 1.0, wrong, cripple };
        let runs = both(cx, setting, accurate, (n, n))?;
        let compare = |eps: f64, most: f64| {
            ratio::independent(&counts(&runs[1], eps), &counts(&runs[0], eps), (0.0, most), alpha)
        };
        cx.judge(&format!("(a) r = {smallest}: at eps = 0.0001 at most a quarter"), compare(accurate, 0.25));
        for eps in EPS {
            cx.judge(&format!("(b) r = {smallest}, eps = {eps}: at most twice"), compare(eps, 2.0));
        }
        all.push(runs);
    }
    // A rival that fails would make (a) and (b) easier.
    let reached = |run: &&Run| run.gaps.last().is_some_and(|gap| *gap <= accurate);
    let reached = all.iter().flat_map(|[exploration, _]| exploration.iter()).filter(reached).count() as u64;
    let total = SMALLEST.len() as u64 * n;
    cx.judge("Exploration does not get to eps = 0.0001", prob::fixed(0.1, alpha, total - reached, total));
    cx.settled()?;
    let free =
        ratio::independent(&counts(&all[2][1], accurate), &counts(&all[0][1], accurate), (0.5, 2.0), alpha);
    cx.judge("(c) Hybrid at r = 0.1 over r = 1", free);
    cx.settled()?;
    use Wrong::{ExplorationStandsStill, ExploresOverSmallest, RandomSupport};
    if matches!(wrong, Some(RandomSupport | ExplorationStandsStill | ExploresOverSmallest)) {
        // What these refute is among the cells so far; the last cells are for the mutants before them.
        return Ok(());
    }
    figures(cx, &all);
    blocks(cx, (dim, wrong, cripple))?;
    cx.settled()?;
    units(cx, (dim, wrong, cripple))
}

/// The dimension, the fault, the cripple.
type Arm = (usize, Option<Wrong>, Option<Cripple>);

/// (d): the exponent of d'.
fn blocks(cx: &mut Context<'_>, (dim, wrong, cripple): Arm) -> anyhow::Result<()> {
    const EPS: f64 = 1e-5;
    const BLOCKS: [usize; 6] = [4, 8, 16, 32, 64, 128];
    /// A count of Exploration is the geometric mean of so many runs: those with few blocks cost little, and
    /// weigh as much in the slope as those with many.
    const TIMES: [usize; 6] = [5, 2, 1, 1, 1, 1];
    let (replicates, alpha) = (cx.size("replicates")?, cx.alpha());
    let mut counted = [vec![Vec::new(); replicates as usize], vec![Vec::new(); replicates as usize]];
    for (blocks, times) in BLOCKS.into_iter().zip(TIMES) {
        let setting = Setting { dim, blocks, smallest: 0.5, unit: 1.0, wrong, cripple };
        let runs = both(cx, setting, EPS, (times as u64 * replicates, replicates))?;
        for ((counted, runs), times) in counted.iter_mut().zip(runs).zip([times, 1]) {
            for (replicate, counts) in counted.iter_mut().zip(counts(&runs, EPS).chunks(times)) {
                let logs = counts.iter().map(|n| n.ln()).sum::<f64>();
                replicate.push((logs / times as f64).exp());
            }
        }
    }
    let x = BLOCKS.map(|blocks| blocks as f64);
    let [exploration, hybrid] = &counted;
    let linear = SlopeJudge::new(Exponent::Within(1.0, 1.0), 0.1).judge(&x, exploration, alpha);
    cx.judge("(d) exponent of d', Exploration: 1", linear);
    let flat = SlopeJudge::new(Exponent::AtMost(0.35), 0.0).judge(&x, hybrid, alpha);
    cx.judge("(d) exponent of d', Hybrid: at most 0.35", flat);
    let mean = |counted: &[Vec<f64>]| {
        let at = |i: usize| counted.iter().map(|replicate| replicate[i]).sum::<f64>() / counted.len() as f64;
        (0..x.len()).map(|i| [x[i], at(i)]).collect::<Vec<_>>()
    };
    cx.figure(Figure {
        caption: "Examples to a gap of 0.00001 (mean) against the number of blocks.".into(),
        x: Axis::log("d' = d/(s'-s)"),
        y: Axis::log("examples"),
        series: {
            let exploration = Series::line("Exploration", mean(exploration));
            let theory = plots::theory("proportional to d'", &exploration, 1.0);
            vec![exploration, theory, Series::line("Hybrid", mean(hybrid))]
        },
    });
    Ok(())
}

/// (e): the same seeds in another unit give the same gaps, in that unit.
fn units(cx: &mut Context<'_>, (dim, wrong, cripple): Arm) -> anyhow::Result<()> {
    const UNIT: f64 = 10.0;
    let setting = Setting { dim, blocks: 32, smallest: 0.3, unit: 1.0, wrong, cripple };
    let seed = cx.seed("unit").trial(0);
    let one = setting.run(Method::Hybrid, EPS[2], &seed)?;
    let ten = Setting { unit: UNIT, ..setting }.run(Method::Hybrid, EPS[2] * UNIT * UNIT, &seed)?;
    let mut pairs = vec![(ten.gaps.len() as f64, one.gaps.len() as f64)];
    pairs.extend(ten.gaps.iter().zip(&one.gaps).map(|(ten, one)| (ten / (UNIT * UNIT * one), 1.0)));
    pairs.extend(ten.examples.iter().zip(&one.examples).map(|(ten, one)| (*ten as f64, *one as f64)));
    cx.judge("(e) the same gaps in another unit", exact_all(pairs, 1e-6));
    Ok(())
}

fn figures(cx: &mut Context<'_>, all: &[[ShownTrials<Run>; 2]]) {
    let mut series = Vec::new();
    for (smallest, runs) in SMALLEST.iter().zip(all) {
        for (name, runs) in ["Exploration", "Hybrid"].iter().zip(runs) {
            let mean = |eps: f64| counts(runs, eps).iter().sum::<f64>() / runs.len() as f64;
            let points = EPS.iter().map(|&eps| [1.0 / eps, mean(eps)]).collect();
            series.push(Series::line(&format!("{name}, r = {smallest}"), points));
            cx.rate(
                &format!("examples to a gap of 0.0001, {name}, r = {smallest}"),
                Direction::Larger,
                counts(runs, EPS[3]),
            );
        }
    }
    let theory = series.first().map(|first| plots::theory("proportional to 1/eps", first, 1.0));
    series.extend(theory);
    cx.figure(Figure {
        caption: "Examples to reach a gap of eps (mean), 32 blocks.".into(),
        x: Axis::log("1/eps"),
        y: Axis::log("examples"),
        series,
    });
    let included = |runs: &[Run], stage: usize| {
        // A run that has ended had found the support by then or never will.
        let of = |run: &Run| run.included.get(stage).or(run.included.last()).copied().unwrap_or(false);
        runs.iter().filter(|run| of(run)).count() as f64 / runs.len() as f64
    };
    let curves = SMALLEST.iter().zip(all).map(|(smallest, [_, hybrid])| {
        let longest = hybrid.iter().map(|run| run.included.len()).max().unwrap_or(0);
        let points = (0..longest).map(|stage| [stage as f64 + 1.0, included(hybrid, stage)]).collect();
        Series::line(&format!("r = {smallest}"), points)
    });
    cx.figure(Figure {
        caption: "Share of Hybrid runs whose support holds the target's after stage k.".into(),
        x: Axis::linear("stage k"),
        y: Axis::linear("share of runs"),
        series: curves.collect(),
    });
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-cor45-advantage",
    place: "Corollary 4.5 and its remark",
    sentence: "Hybrid needs a fraction of Exploration's examples, never many more, with a coefficient of \
               1/eps that is free of the smallest coefficient and of the number of blocks.",
    formula: r"n_{\mathrm{Hybrid}}(\varepsilon) \sim \frac{s \sigma^2}{\varepsilon}, \qquad
               n_{\mathrm{Exploration}}(\varepsilon) \sim \frac{d}{s'-s} \frac{s \sigma^2}{\varepsilon}",
    design: "Hadamard rows (d = 128; 512 in the full tier), s = 12, s* = 4, theta* = (1, -1, 1, -r), sigma = \
             1, step size 1/8. Stage k aims at tau_k = 0.7^k gap_0: three exploring updates with batches \
             max(100, s sigma^2/tau_k), then ceil(log d'/log(1/0.7)) exploiting ones with accuracy tau_k \
             0.7^T~. Exploration is the same production learner without exploiting updates, on other data. \
             The count is that of examples up to the first update with a gap of at most eps; gaps are exact. \
             d' = 32 in (a), (b), (c); 4 to 128, r = 1/2, eps = 10^-5 in (d). Bounds, fixed in advance: (a) \
             ratio 1/4 at eps = 10^-4 for r = 1, 0.3, 0.1; (b) ratio 2 at eps from 0.1 to 10^-4; (c) ratio \
             of r = 0.1 to r = 1 within a factor 2, though 1/r^2 = 100; (d) exponents 1 +- 0.1 and at most \
             0.35 (a count of Exploration in (d) is the geometric mean of five runs at d' = 4, and of two at \
             d' = 8). A run that does not reach eps counts with Exploration's whole schedule; that \
             Exploration does reach 10^-4 is judged, since a rival that fails would make (a) and (b) \
             easier.",
    standing: Standing::sound().with_errata(&[27]).practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
