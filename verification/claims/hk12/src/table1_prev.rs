//! Table 1 beside its own bounds: what was known before, and full information.

use crate::setup::problem::{Problem, Run};
use crate::setup::scaling::{self, Grid, Sharing, least};
use lao_algorithms::Task;
use lao_algorithms::baselines::{AerParams, Ball, OnlineParams};
use lao_observation::{Budget, Seed};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Context, Direction, View};
use lao_verification_engine::judge::{FindingKind, ratio, slope};
use lao_verification_engine::mutants::{Cripple, Crippled};

const EXAMPLES: u64 = 2000;
const DIM: usize = 32;
/// Attributes that AER may look at: four for the direction, five for the residual.
const BUDGET: usize = 9;
/// Half of the zero predictor's excess on the signs.
const HALF: f64 = 0.09;

/// Excess of AER on signs after `examples` examples.
fn aer(problem: &Problem, examples: u64, cripple: Option<Cripple>, seed: &Seed) -> anyhow::Result<f64> {
    // Nine draws with replacement, of eight attributes.
    let practical = AerParams::practical(&Task {
        dim: problem.dim,
        budget: BUDGET - 1,
        radius: Some(problem.radius),
        examples,
        ..Task::default()
    })?;
    let params = AerParams { weighted: BUDGET - practical.uniform, ..practical };
    let learner = Crippled::new(params.build()?, cripple);
    let end = problem.learn(learner, Budget::PerExample(BUDGET), examples, seed)?;
    Ok(end.map_or(f64::INFINITY, |w| problem.excess(&w)))
}

/// Excess of AELR, the same.
fn aelr(problem: &Problem, examples: u64, cripple: Option<Cripple>, seed: &Seed) -> anyhow::Result<f64> {
    let run = Run { cripple, ..Run::new(BUDGET - 1, examples) };
    Ok(problem.excess(&problem.lasso(&run, seed)?))
}

/// The excess of a method after so many examples.
type Excess = fn(&Problem, u64, Option<Cripple>, &Seed) -> anyhow::Result<f64>;

/// The examples that a method needs until half of the zero predictor's excess, for each d.
fn needs<'a>(
    name: &'static str,
    most_dim: usize,
    excess: impl Fn(&Problem, u64, &Seed) -> anyhow::Result<f64> + Sync + 'a,
) -> anyhow::Result<Grid<'a>> {
    let dims: Vec<usize> = [8, 16, 32, 64].into_iter().filter(|d| *d <= most_dim).collect();
    let problems = dims.iter().map(|&d| Problem::signs(d, 1.0)).collect::<anyhow::Result<Vec<_>>>()?;
    let measure = move |i: usize, seed: &Seed, _: &[View]| {
        Ok(vec![least(64.0, 1.2, |m| Ok(excess(&problems[i], m.ceil() as u64, seed)? <= HALF))?])
    };
    let x = dims.iter().map(|&d| d as f64).collect();
    let (measure, sharing) = (Box::new(measure), Sharing::Faults);
    Ok(Grid { name, variable: "d", x, measure, judge: None, level: None, sharing })
}

/// Mean excess of the method with few attributes, and of its twin with all of them.
fn against_full(cx: &Context<'_>, ball: Ball, draws: usize, n: u64) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let (name, problem) = match ball {
        Ball::Ridge => ("Ridge", Problem::hard(DIM, 4)?),
        Ball::Lasso => ("Lasso", Problem::signs(DIM, 1.0)?),
    };
    let run = Run { cripple: cx.cripple(), ..Run::new(draws, EXAMPLES) };
    let pairs = cx.all_trials(name, n, |trial| {
        let w = match ball {
            Ball::Ridge => problem.ridge(&run, &trial.seed)?,
            Ball::Lasso => problem.lasso(&run, &trial.seed)?,
        };
        let full = OnlineParams::from_theorem(
            ball,
            &Task { dim: DIM, radius: Some(problem.radius), examples: EXAMPLES, ..Task::default() },
        )
        .build()?;
        let full = problem.average(full, EXAMPLES, &trial.seed)?;
        Ok((problem.excess(&w), problem.excess(&full)))
    })?;
    Ok(pairs.into_iter().unzip())
}

const ONE_DRAW: Mutant = Mutant::refuted("one_draw", "makes one uniform draw in the place of d");
const LABELS_SWAPPED: Mutant = Mutant::refuted("labels_swapped", "calls AER AELR and AELR AER");

/// The cell on exponents.
const EXPONENTS: &str = "exponent in d: AER's less AELR's";

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (replicates, most_dim) = (cx.size("replicates")?, cx.size("most_dim")? as usize);
    cx.split(2);
    let draws = if cx.commits(&ONE_DRAW) { 1 } else { DIM };
    let pairs = cx.size("pairs")?;
    let (few, full) = against_full(cx, Ball::Ridge, draws, pairs)?;
    let finding = ratio::independent(&few, &full, (0.0, 4.0), cx.alpha());
    cx.judge("AERR with d draws over gradient descent, hard rows", finding);
    cx.settled()?;
    // A learner that never gets there has no exponent.
    let cripple = cx.cripple();
    let (easiest, probe) = (Problem::signs(8, 1.0)?, cx.seed("probe"));
    for excess in [aer(&easiest, 1 << 16, cripple, &probe)?, aelr(&easiest, 1 << 16, cripple, &probe)?] {
        if excess > HALF {
            cx.judge_nothing(EXPONENTS, "65,536 examples leave less than half of the excess");
            return Ok(());
        }
    }
    let sought =
        |name, of: Excess| needs(name, most_dim, move |problem, m, seed| of(problem, m, cripple, seed));
    let aer = sought("AER's examples until half of the excess", aer)?;
    let aelr = sought("AELR's examples until half of the excess", aelr)?;
    let aer = scaling::exponents(cx, &aer, replicates, 2.0)?;
    let aelr = scaling::exponents(cx, &aelr, replicates, 1.0)?;
    let sign = if cx.commits(&LABELS_SWAPPED) { -1.0 } else { 1.0 };
    let more: Vec<f64> = aer.iter().zip(&aelr).map(|(aer, aelr)| sign * (aer - aelr)).collect();
    let finding = slope::judge_sample(&more, (0.0, f64::INFINITY), cx.alpha(), FindingKind::Slope);
    cx.judge(EXPONENTS, finding);
    if cx.honest() {
        let (few, full) = against_full(cx, Ball::Lasso, DIM, pairs)?;
        let ratio = few.iter().sum::<f64>() / full.iter().sum::<f64>();
        cx.note("AELR with d draws over EG+-, independent signs: ratio of mean excesses", ratio);
        cx.rate("AER: exponent of examples in d", Direction::Larger, aer);
        cx.rate("AELR: exponent of examples in d", Direction::Larger, aelr);
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-table1-prev",
    place: "Table 1, previous bounds, and the remark on full information",
    sentence: "With d draws AERR is within a factor of 4 of gradient descent on as many examples, and AER's \
               number of examples grows faster with d than AELR's.",
    formula: r"k = \Omega(d) \ \Rightarrow\ m = O\!\left( \frac{1}{\epsilon^2} \right), \qquad
               m_{\mathrm{AER}} = O\!\left( \frac{d^2 \log(d/\epsilon)}{k \epsilon^2} \right)",
    design: "With k = d the bounds differ from those with exact gradients by constants only. The mean excess \
             of AERR with d draws is compared with that of projected gradient descent on as many examples, \
             both with their theorems' step sizes and averaged: the ratio is at most 4. For AELR and EG+- \
             the ratio is reported only: their step sizes are for bounds that differ by sqrt(10), and on a \
             population with no hard instance the slower one keeps more than that. AER's number of examples \
             until half of the zero predictor's excess on independent signs, with the library's lambda for \
             that number, is reported against d = 8 to 32 (64 in the full tier). What is judged is the \
             improvement: its exponent exceeds that of AELR at the same budget of nine attributes.",
    standing: Standing::sound().practical().learns(),
    mutants: &[LABELS_SWAPPED, ONE_DRAW],
    experiment,
};
