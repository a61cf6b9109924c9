//! The number of examples grows like 1/eps.

use crate::setup::practical::{Path, Practical, follow};
use lao_algorithms::murata_suzuki::NaiveParams;
use lao_algorithms::{BatchSizes, StepSizes};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series, ShownTrials, Trial, View};
use lao_verification_engine::judge::sample::Moments;
use lao_verification_engine::judge::slope::{Exponent, SlopeJudge, fit};
use lao_verification_engine::mutants::{GradientFault, Keep, KeepsSmallest, Sabotage};

const EPS: [f64; 6] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];
const BATCHES: [u64; 5] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18];
const DELTA: f64 = 0.1;

/// Updates after which the signal's part of the gap is below 10^-7 of the start.
const UPDATES: u64 = 30;

/// An arm of the experiment.
#[derive(Clone, Debug)]
struct Arm {
    practical: Practical,
    sabotage: Sabotage,
    /// Only about sqrt(B) of B examples are different.
    root: bool,
    /// Batches grow like 1/eps^2.
    squared: bool,
    /// The naive method with steps of order 1/sqrt(t).
    naive: bool,
}

const FAULTS: [Fault<fn(&mut Arm)>; 8] = [
    Fault::refuted("batches_like_1_over_eps_squared", "lets batches grow like 1/eps^2", |arm| {
        arm.squared = true
    }),
    Fault::refuted("flips_sign", "steps up the gradient", |arm| {
        arm.sabotage = GradientFault::Scaled(-1.0).into()
    }),
    Fault::refuted("forgets_factor_two", "uses (theta' x - y) x without the 2 of the squared loss", |arm| {
        arm.sabotage = GradientFault::Scaled(0.5).into()
    }),
    Fault::refuted(
        "residual_from_block_only",
        "computes the residual from the block, not from supp(theta)",
        |arm| arm.sabotage = GradientFault::ResidualFromBlock.into(),
    ),
    Fault::refuted(
        "repeats_every_example_four_times",
        "counts every example four times, so the variance is fourfold",
        |arm| arm.sabotage = GradientFault::Repeats(4).into(),
    ),
    Fault::refuted("keeps_smallest", "keeps the s smallest non-zero entries", |arm| {
        arm.sabotage = Keep::Smallest(KeepsSmallest).into()
    }),
    Fault::refuted(
        "variance_like_1_over_root_b",
        "uses only about sqrt(B) different examples in a batch of B",
        |arm| arm.root = true,
    ),
    Fault::refuted("naive_shrinking_steps", "one example per update and steps of order 1/sqrt(t)", |arm| {
        arm.naive = true
    }),
];

impl Arm {
    fn of(cx: &Context<'_>) -> anyhow::Result<Self> {
        let mut arm = Arm {
            practical: Practical {
                cripple: cx.cripple(),
                ..Practical::signs(cx.size("dim")? as usize, 4, 12, 64)
            },
            sabotage: Sabotage::default(),
            root: false,
            squared: false,
            naive: false,
        };
        if let Some(commit) = cx.fault(&FAULTS) {
            commit(&mut arm);
        }
        Ok(arm)
    }

    fn run(&self, trial: &Trial, batch: u64, updates: u64) -> anyhow::Result<Path> {
        Ok(self.run_in_views(trial, (batch, updates), &[self.practical.cripple])?.swap_remove(0))
    }

    fn run_in_views(
        &self,
        trial: &Trial,
        (batch, updates): (u64, u64),
        views: &[View],
    ) -> anyhow::Result<Vec<Path>> {
        if self.naive {
            let path = self.run_naive(trial, batch)?;
            return Ok(vec![path; views.len()]);
        }
        let mut sabotage = self.sabotage.clone();
        if self.root {
            sabotage.fault = Some(GradientFault::Repeats((batch as f64).sqrt() as u64));
        }
        let params = self.practical.exploration(BatchSizes::Constant(batch), updates);
        self.practical.explore_in_views(trial, params, &sabotage, views)
    }

    /// The naive method with as many examples as one block has, which is generous to it.
    fn run_naive(&self, trial: &Trial, examples: u64) -> anyhow::Result<Path> {
        let data = trial.seed.child("data");
        let problem = self.practical.problem(&data)?;
        let params = NaiveParams {
            dim: self.practical.dim,
            sparsity: self.practical.sparsity,
            budget: self.practical.budget(),
            step_size: StepSizes::InverseSqrt(0.02),
            start: None,
        };
        let source = problem.clone().with_length(examples.min(1 << 18));
        let seed = trial.seed.child("algorithm");
        follow(source, &problem, &mut params.build()?, self.practical.budget(), &seed)
    }

    /// `T` and `B` of the schedule, with the fault of this arm.
    fn schedule(&self, eps: f64) -> (u64, u64) {
        let schedule = self.practical.schedule(eps, DELTA);
        let batch = if self.squared { schedule.batch as f64 * (EPS[0] / eps) } else { schedule.batch as f64 };
        (BatchSizes::round_up(batch), schedule.updates)
    }

    /// A run of the P-schedule.
    fn scheduled(&self, trial: &Trial, eps: f64) -> anyhow::Result<Path> {
        let (batch, updates) = self.schedule(eps);
        self.run(trial, batch, updates)
    }

    /// Examples until eps is reached, in each view. A run that does not reach it within the schedule is made
    /// three times as long; if it never does, it counts with all examples of that.
    fn seen(&self, trial: &Trial, eps: f64, views: &[View]) -> anyhow::Result<Vec<f64>> {
        let (batch, updates) = self.schedule(eps);
        let mut paths = self.run_in_views(trial, (batch, updates), views)?;
        // The longer run begins like the shorter one. What moves a hundredth of the way is not waited for.
        let waits = |(view, path): (&View, &Path)| view.is_none() && path.examples_to(eps).is_none();
        if views.iter().zip(&paths).any(waits) {
            paths = self.run_in_views(trial, (batch, 3 * updates), views)?;
        }
        let most = self.practical.most(eps, 3);
        Ok(paths.iter().map(|path| path.examples_to(eps).map_or(most, |n| n as f64)).collect())
    }
}

impl Practical {
    /// Examples of the P-schedule, so many times as long as it is.
    fn most(&self, eps: f64, stretch: u64) -> f64 {
        let schedule = self.schedule(eps, DELTA);
        (self.blocks() * stretch * schedule.updates) as f64 * schedule.batch as f64
    }
}

/// How much faster than 1/eps the schedule's `T B` grows over the grid, on the log scale; plus .05.
fn margin(practical: &Practical) -> f64 {
    let size = |eps| {
        let schedule = practical.schedule(eps, DELTA);
        (schedule.updates * schedule.batch) as f64 * eps
    };
    let (first, last) = (EPS[0], EPS[EPS.len() - 1]);
    (size(last) / size(first)).ln() / (first / last).ln() + 0.05
}

/// From a number per view at every grid point to a grid of numbers per view.
fn by_view(
    views: &[View],
    points: impl Iterator<Item = anyhow::Result<Vec<f64>>>,
) -> anyhow::Result<Vec<Vec<f64>>> {
    let mut grids = vec![Vec::new(); views.len()];
    for point in points {
        grids.iter_mut().zip(point?).for_each(|(grid, number)| grid.push(number));
    }
    Ok(grids)
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (arm, most, replicates) = (Arm::of(cx)?, cx.size("trials")?, cx.size("replicates")?);
    cx.split(EPS.len() + 2);
    let alpha = cx.alpha() / (EPS.len() + 2) as f64;
    let mut gaps = ShownTrials::from(Vec::new());
    // Larger batches than needed reach every eps, and leave the exponent of B as it is.
    if !arm.squared {
        for eps in EPS {
            cx.prob(&format!("eps = {eps:e}: reached by the schedule"), DELTA, most, |trial| {
                Ok(arm.scheduled(trial, eps)?.last_gap() <= eps)
            })?;
            cx.settled()?;
        }
        gaps = cx.shown_trials("B", replicates, |trial, views| {
            let ends = BATCHES.iter().map(|&batch| {
                let paths = arm.run_in_views(trial, (batch, UPDATES), views)?;
                Ok(paths.iter().map(Path::last_gap).collect())
            });
            by_view(views, ends)
        })?;
        let sizes = BATCHES.map(|batch| batch as f64);
        let judge = SlopeJudge::new(Exponent::Within(-1.0, -1.0), 0.1);
        cx.judge("gap against B: exponent -1", judge.judge(&sizes, &gaps, alpha));
        cx.settled()?;
    }

    let seen = cx.shown_trials("n", replicates, |trial, views| {
        by_view(views, EPS.iter().map(|&eps| arm.seen(trial, eps, views)))
    })?;
    let accuracy = EPS.map(|eps| 1.0 / eps);
    let judge = SlopeJudge::new(Exponent::Within(1.0, 1.0), margin(&arm.practical));
    cx.judge("examples until eps is reached against 1/eps: exponent 1", judge.judge(&accuracy, &seen, alpha));
    if cx.honest() {
        report(cx, &gaps, &seen)?;
    }
    Ok(())
}

fn report(cx: &mut Context<'_>, gaps: &[Vec<f64>], seen: &[Vec<f64>]) -> anyhow::Result<()> {
    let slopes = |x: &[f64], y: &[Vec<f64>]| -> anyhow::Result<Vec<f64>> {
        let fits = fit(x, y, None).map_err(|why| anyhow::anyhow!(why))?;
        Ok(fits.iter().map(|fit| fit.slope).collect())
    };
    let accuracy = EPS.map(|eps| 1.0 / eps);
    cx.rate("exponent of the gap in B", Direction::Larger, slopes(&BATCHES.map(|b| b as f64), gaps)?);
    let exponents = slopes(&accuracy, seen)?;
    let interval = Moments::of(&exponents).t_interval();
    cx.rate("exponent of the examples in 1/eps", Direction::Larger, exponents.clone());
    for (name, place) in [("1e-2", 1), ("1e-4", 3)] {
        cx.rate(&format!("log of examples to reach eps = {name}"), Direction::Larger, {
            seen.iter().map(|n| n[place].ln()).collect()
        });
    }
    let column = |i: usize| Moments::of(&seen.iter().map(|n| n[i].ln()).collect::<Vec<_>>());
    let mut measured = Series::points("measured", Vec::new());
    let mut law = Series::bound("slope 1", Vec::new());
    for (i, &x) in accuracy.iter().enumerate() {
        let moments = column(i);
        let interval = moments.t_interval();
        measured.points.push([x, moments.mean.exp()]);
        measured.interval.push([interval.lo.exp(), interval.hi.exp()]);
        law.points.push([x, column(0).mean.exp() * x / accuracy[0]]);
    }
    let mean = Moments::of(&exponents).mean;
    cx.figure(Figure {
        caption: format!(
            "Examples until the gap is first at most eps: exponent {mean:.3} in 1/eps ({:.1} % interval \
             {:.3} to {:.3})",
            100.0 * interval.level,
            interval.lo,
            interval.hi
        ),
        x: Axis::log("1/eps"),
        y: Axis::log("examples"),
        series: vec![measured, law],
    });
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-cor42-eps",
    place: "Corollary 4.2",
    sentence: "Exploration reaches accuracy eps with a number of examples proportional to 1/eps.",
    formula: r"n = \tilde{O}\left( \frac{\kappa_s R_\infty^2}{\mu_s} \frac{d s}{s'-s}
               \frac{\sigma^2}{\varepsilon} \right)",
    design: "Random Hadamard rows, s* = 4, s = 12, s'-s = 64, noise 1, with a schedule of batches that has \
             one constant. (a) The constant was set at eps = .01; it must reach eps with probability .9 for \
             every eps from 10^-1 to 10^-6, so that n = d'TB of order log/eps suffices. (b) The gap after \
             enough updates falls like 1/B over B = 2^10 .. 2^18, exponent -1 within .1. (c) The examples \
             seen when eps is first reached grow like 1/eps, up to the logarithms of T and B, which the \
             margin allows for; a run that never reaches eps counts with all examples of a schedule three \
             times as long.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
