//! With few attributes per example the cost is proportional to the dimension.

use crate::setup::practical::{Batches, Practical};
use crate::setup::shown::shown;
use lao_algorithms::BatchSizes;
use lao_observation::{Budget, Learner as _, Session, SessionLimit, Source};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Context, Direction, ShownTrials, Trial, View, still};
use lao_verification_engine::judge::slope::{Exponent, SlopeJudge, fit};
use lao_verification_engine::mutants::{Faulty, GradientFault};
use lao_verification_engine::plots;

/// Attributes of an example: powers of two from here.
const SMALLEST_DIM: usize = 128;
const EPS: f64 = 0.1;
const DELTA: f64 = 0.1;

/// How examples are counted until eps is reached.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// `s'-s` as a share of d; a fixed 16 if there is none.
    pub share: Option<usize>,
    /// Batches are `sqrt(d/128)` times larger.
    pub growing: bool,
    /// What is wrong with the source.
    pub fault: Option<GradientFault>,
}

impl Cost {
    /// Examples, in units of the schedule's logarithm, until the gap is first at most eps, in each view; a
    /// run that does not get there within three times the schedule counts with all its examples. The runs end
    /// when the sound learner is there: one that goes a hundredth of the way is not there yet, and does not
    /// get there.
    pub fn examples(&self, trial: &Trial, dim: usize, views: &[View]) -> anyhow::Result<Vec<f64>> {
        let practical = Practical::signs(dim, 4, 12, self.share.map_or(16, |share| dim / share));
        let schedule = practical.schedule(EPS, DELTA);
        let growth = if self.growing { (dim as f64 / SMALLEST_DIM as f64).sqrt() } else { 1.0 };
        let batch = BatchSizes::round_up(growth * schedule.batch as f64);
        let problem = practical.problem(&trial.seed.child("data"))?;
        let params = practical.exploration(BatchSizes::Constant(batch), 3 * schedule.updates);
        let mut learner = params.build()?;
        let log = (2.0 * dim as f64 * schedule.updates as f64 / DELTA).ln();
        let all = (practical.blocks() * 3 * schedule.updates * batch) as f64 / log;
        let start = learner.coefficients().to_owned_vector();
        let mut reached: Vec<Option<f64>> = vec![None; views.len()];
        if let Some(view) = still(views) {
            let there = problem.gap(shown(view, start.view(), start.view()).view()) <= EPS;
            anyhow::ensure!(!there, "the start is as near as eps");
            return Ok(vec![all]);
        }
        let batches = Batches::new(problem.clone())?;
        let source: Box<dyn Source> = match self.fault {
            Some(fault) => Box::new(Faulty::new(batches, fault)),
            None => Box::new(batches),
        };
        let budget = Budget::PerExample(practical.budget());
        let mut session = Session::new(source, budget, &trial.seed.child("algorithm"));
        for updates in 1..=3 * schedule.updates {
            session.run(&mut learner, SessionLimit::after_updates(updates), |_, _| {})?;
            // The source's position: a batch that is replayed counts once.
            let position = session.source().position() as f64 / log;
            for (view, reached) in views.iter().zip(&mut reached) {
                let gap = match view {
                    None => problem.gap(learner.coefficients()),
                    Some(_) => problem.gap(shown(*view, start.view(), learner.coefficients()).view()),
                };
                if gap <= EPS {
                    reached.get_or_insert(position);
                }
            }
            if views.iter().zip(&reached).any(|(view, reached)| view.is_none() && reached.is_some()) {
                break;
            }
        }
        let seen = session.source().position() as f64 / log;
        let count = |(view, reached): (&View, Option<f64>)| {
            reached.unwrap_or(if view.is_none() { seen } else { all })
        };
        Ok(views.iter().zip(reached).map(count).collect())
    }

    /// One row of the grid of dimensions per replicate.
    pub fn grid(
        &self,
        cx: &Context<'_>,
        dims: &[usize],
        replicates: u64,
    ) -> anyhow::Result<ShownTrials<Vec<f64>>> {
        cx.shown_trials("n", replicates, |trial, views| {
            let mut grids = vec![Vec::new(); views.len()];
            for &dim in dims {
                let examples = self.examples(trial, dim, views)?;
                grids.iter_mut().zip(examples).for_each(|(grid, n)| grid.push(n));
            }
            Ok(grids)
        })
    }
}

/// Judges the exponent over `d <= largest` and, in the honest arm, tracks it.
pub(super) fn judge(
    cx: &mut Context<'_>,
    cost: &Cost,
    exponent: Exponent,
    (largest, replicates): (u64, u64),
) -> anyhow::Result<()> {
    let dims: Vec<usize> = std::iter::successors(Some(SMALLEST_DIM), |dim| Some(2 * dim))
        .take_while(|dim| *dim as u64 <= largest)
        .collect();
    let grid = cost.grid(cx, &dims, replicates)?;
    let dims: Vec<f64> = dims.iter().map(|&dim| dim as f64).collect();
    cx.judge("examples until eps is reached against d", {
        SlopeJudge::new(exponent, 0.15).judge(&dims, &grid, cx.alpha())
    });
    if cx.honest() {
        let fits = fit(&dims, &grid, None).map_err(|why| anyhow::anyhow!(why))?;
        let slopes = fits.iter().map(|fit| fit.slope).collect();
        cx.rate("exponent of the examples in d", Direction::Larger, slopes);
        let claimed = match exponent {
            Exponent::AtMost(end) | Exponent::AtLeast(end) | Exponent::Within(_, end) => end,
        };
        cx.figure(plots::growth(
            "Examples until eps is reached against the dimension.",
            ("d", &dims),
            ("examples", &grid),
            claimed,
        ));
        // s* sigma^2 log(d/s*)/eps, with full information.
        let minimax = |dim: f64| 4.0 * (dim / 4.0).ln() / EPS;
        let schedule = |dim: f64| (2.0 * dim * 9.0 / DELTA).ln();
        for (i, dim) in dims.iter().enumerate() {
            let mean = grid.iter().map(|row| row[i]).sum::<f64>() / grid.len() as f64;
            cx.note(
                &format!("examples over s* sigma^2 log(d/s*)/eps at d = {dim}"),
                mean * schedule(*dim) / minimax(*dim),
            );
        }
    }
    Ok(())
}

const SOUND: Cost = Cost { share: None, growing: false, fault: None };

const FAULTS: [Fault<Cost>; 3] = [
    Fault::refuted(
        "replays_one_batch",
        "looks at one batch through all blocks, beyond the budget of its examples",
        Cost { fault: Some(GradientFault::ReplaysBatch), ..SOUND },
    ),
    Fault::refuted(
        "blocks_grow_with_d",
        "observes d/8 attributes per block instead of 16",
        Cost { share: Some(8), ..SOUND },
    ),
    Fault::refuted(
        "batches_grow_like_root_d",
        "lets the batch grow like the square root of d",
        Cost { growing: true, ..SOUND },
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let cost = cx.arm(SOUND, &FAULTS);
    let sizes = (cx.size("largest_dim")?, cx.size("replicates")?);
    judge(cx, &cost, Exponent::Within(1.0, 1.0), sizes)
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-cor42-remark-partial",
    place: "Corollary 4.2, first remark",
    sentence: "With s' - s of the order of s, the number of examples grows like d.",
    formula: r"s' - s = \Theta(s) \;\Rightarrow\; n = \tilde{O}\left( d s_* + d
               \frac{\sigma^2}{\varepsilon} \right)",
    design: "Random Hadamard rows, s* = 4, s = 12, s'-s = 16, eps = .1, d from 128 to 2048 (4096 in the full \
             tier). A schedule (its one constant set at d = 512, s'-s = 64) gives the batch; the examples \
             seen when eps is first reached, divided by the schedule's log(2dT/delta), must grow like d: \
             exponent 1 within .15.",
    standing: Standing::sound().practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
