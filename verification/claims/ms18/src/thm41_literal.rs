//! Theorem 4.1 with its literal constants.
//!
//! *Statement.* With `eta = 1/(4L)`, `a = 1/(32 kappa)`, `s >= (1024 kappa^2 + 1) s*` and `B` the larger of
//! Proposition A.1's batch and `c T/(Delta (1-a)^T)`, both at confidence `delta/(2T)`:
//! `gap_T <= (1-a)^T (gap_0 + Delta)` with probability at least `1 - delta`. The noise terms add up to at
//! most `(1-a)^T Delta`, since each is at most `(1-a)^T Delta/T`. `gap_0` is that of `H_s(theta_0)`.
//!
//! *Tightness.* The gap falls by 9/16 per update where 31/32 is promised: the ratio of the logarithms is 18.
//! A bound that far away notices no step that is too short or too long; so the factor without noise is a cell
//! of its own, from both sides: with `Sigma = I` and `eta = 1/8` it is `(1 - 2 eta)^2`.

use crate::setup::literal::{self, BUDGET, DIM, explore, random_start};
use crate::setup::practical::Path;
use lao_algorithms::BatchSizes;
use lao_algorithms::murata_suzuki::{ExplorationParams, Guarantee};
use lao_datasets::synthetic::{Hadamard, HadamardPairs, WalshRows};
use lao_kernels::{SparseVector, Threshold};
use lao_verification_engine::claim::{Claim, Fault, Passable, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series, Trial};
use lao_verification_engine::judge::FindingKind;
use lao_verification_engine::judge::slope::judge_sample;
use lao_verification_engine::mutants::{Cripple, GradientFault, Keep, KeepsOneMore, KeepsSmallest, Sabotage};

const UPDATES: u64 = 32;

/// `(1 - 2 eta)^2` for `Sigma = I` and `eta = 1/(4L) = 1/8`, within 1 %.
const NINE_SIXTEENTHS: (f64, f64) = (0.99 * 9.0 / 16.0, 1.01 * 9.0 / 16.0);

/// `sigma` where noise dominates; `gap_0 = 1` there.
const NOISE: f64 = 100.0;

/// An arm of the experiment.
#[derive(Clone, Debug)]
struct Arm {
    delta: f64,
    sabotage: Sabotage,
    step: f64,
    batch: f64,
    cripple: Option<Cripple>,
}

/// A run and what the theorem says of it.
struct Run {
    path: Path,
    sparsity: usize,
    rate: f64,
}

impl Run {
    /// `(1-a)^t (gap_0 + Delta)` with `Delta = gap_0`.
    fn bound(&self, updates: usize) -> f64 {
        (1.0 - self.rate).powi(updates as i32) * 2.0 * self.path.points[0].gap
    }

    /// The mean factor of the gap per update.
    fn factor(&self) -> f64 {
        (self.path.last_gap() / self.path.points[0].gap).powf(1.0 / UPDATES as f64)
    }

    fn is_as_stated(&self) -> bool {
        let last = self.path.last_gap();
        last <= self.bound(UPDATES as usize) && self.path.most_nonzeros <= self.sparsity
    }
}

/// First attribute of the last block.
const LAST_BLOCK: u32 = (DIM - (BUDGET - 1025)) as u32;

const FAULTS: [Fault<fn(&mut Arm)>; 8] = [
    Fault::refuted("flips_sign", "steps up the gradient", |arm| {
        arm.sabotage = GradientFault::Scaled(-1.0).into()
    }),
    Fault::refuted("drops_last_block", "never fills the last block, where theta* lives", |arm| {
        arm.sabotage = GradientFault::DropsFrom(LAST_BLOCK).into()
    }),
    Fault::refuted("steps_64_times_too_short", "steps by eta/64", |arm| arm.step = 1.0 / 64.0),
    Fault::refuted("keeps_smallest", "keeps the s smallest non-zero entries", |arm| {
        arm.sabotage = Keep::Smallest(KeepsSmallest).into()
    }),
    Fault::refuted("keeps_one_more", "keeps s + 1 entries", |arm| {
        arm.sabotage = Keep::OneMore(KeepsOneMore::default()).into()
    }),
    Fault::refuted("batches_100000_times_too_small", "divides the batch by 10^5", |arm| arm.batch = 1e-5),
    Fault::refuted("doubles_the_step", "steps by 2 eta", |arm| arm.step = 2.0),
    Fault::refuted("steps_a_fifth_too_short", "steps by .8 eta", |arm| arm.step = 0.8),
];

impl Arm {
    fn of(cx: &Context<'_>) -> anyhow::Result<Self> {
        let mut arm = Arm {
            delta: 1.0 / cx.size("one_in")? as f64,
            sabotage: Sabotage::default(),
            step: 1.0,
            batch: 1.0,
            cripple: cx.cripple(),
        };
        if let Some(commit) = cx.fault(&FAULTS) {
            commit(&mut arm);
        }
        Ok(arm)
    }

    fn run<D: WalshRows + Clone>(
        &self,
        design: D,
        budget: usize,
        trial: &Trial,
        noisy: bool,
    ) -> anyhow::Result<Run> {
        let data = trial.seed.child("data");
        let dim = design.dim();
        let (problem, theory) = literal::problem(design, if noisy { NOISE } else { 0.0 }, &data)?;
        let start = if noisy { SparseVector::zeros(dim) } else { random_start(dim, dim, 1.0, &data) };
        let mut thresholded = SparseVector::zeros(dim);
        Keep::default().keep(&start.view().to_dense(), theory.sparsity, &mut thresholded)?;
        let gap_0 = problem.gap(thresholded.view());
        let mut params = ExplorationParams::from_theorem(
            &theory,
            budget,
            Guarantee { updates: UPDATES, slack: gap_0, delta: self.delta },
        );
        params.start = Some(start);
        params.step_size *= self.step;
        if let BatchSizes::Constant(size) = params.batch {
            params.batch = BatchSizes::Constant(BatchSizes::round_up(size as f64 * self.batch));
        }
        let Sabotage { fault, keep } = self.sabotage.clone();
        let path = explore(&problem, params, (fault, keep), self.cripple, &trial.seed.child("algorithm"))?;
        Ok(Run { path, sparsity: theory.sparsity, rate: theory.rate() })
    }

    fn isotropic(&self, trial: &Trial, noisy: bool) -> anyhow::Result<Run> {
        self.run(Hadamard::new(DIM)?, BUDGET, trial, noisy)
    }

    fn pairs(&self, trial: &Trial, noisy: bool) -> anyhow::Result<Run> {
        self.run(HadamardPairs::new(8192, 1.0 / 3.0)?, 4097 + 2048, trial, noisy)
    }
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (arm, most, pairs) = (Arm::of(cx)?, cx.size("trials")?, cx.size("pairs")?);
    cx.split(if pairs > 0 { 3 } else { 2 });
    let quiet = cx.all_trials("no noise", cx.size("replicates")?, |trial| arm.isotropic(trial, false))?;
    let factors: Vec<f64> = quiet.iter().map(Run::factor).collect();
    cx.judge(
        "factor per update without noise",
        judge_sample(&factors, NINE_SIXTEENTHS, cx.alpha(), FindingKind::Mean),
    );
    cx.settled()?;
    cx.prob("kappa = 1, T = 32", arm.delta, most, |trial| {
        Ok(arm.isotropic(trial, trial.number % 2 == 1)?.is_as_stated())
    })?;
    if pairs > 0 {
        cx.settled()?;
        cx.prob("kappa = 2, T = 32", arm.delta, pairs, |trial| {
            Ok(arm.pairs(trial, trial.number % 2 == 1)?.is_as_stated())
        })?;
    }
    if cx.honest() {
        paths(cx, &arm, quiet)?;
    }
    Ok(())
}

/// Rates, tightness and the plot, from a few more runs.
fn paths(cx: &mut Context<'_>, arm: &Arm, quiet: Vec<Run>) -> anyhow::Result<()> {
    let mut series = Vec::new();
    let loud_name = "sigma^2 = 10^4 gap_0";
    let loud = cx.all_trials(loud_name, quiet.len() as u64, |trial| arm.isotropic(trial, true))?;
    for (name, runs, noisy) in [("no noise", quiet, false), (loud_name, loud, true)] {
        let ratios =
            |run: &Run| run.path.points.iter().map(|p| p.gap / run.path.points[0].gap).collect::<Vec<_>>();
        let curves: Vec<Vec<f64>> = runs.iter().map(ratios).collect();
        let mean = |t: usize| curves.iter().map(|curve| curve[t].ln()).sum::<f64>() / curves.len() as f64;
        series.push(Series::line(name, (0..=UPDATES as usize).map(|t| [t as f64, mean(t).exp()]).collect()));
        let last = UPDATES as usize;
        let share = runs.iter().map(|run| run.path.last_gap() / run.bound(last)).fold(0.0, f64::max);
        cx.note(&format!("largest gap_T over its bound, {name}"), share);
        if !noisy {
            let factors: Vec<f64> = runs.iter().map(Run::factor).collect();
            let promised = 1.0 - runs[0].rate;
            cx.note("log of the measured factor per update / log of 1 - a", factors[0].ln() / promised.ln());
            cx.rate("contraction factor per update, literal constants, T = 32", Direction::Larger, factors);
            let bound = (0..=last).map(|t| [t as f64, runs[0].bound(t) / runs[0].path.points[0].gap]);
            series.push(Series::bound("(1-a)^t (gap_0 + Delta)", bound.collect()));
        }
    }
    cx.figure(Figure {
        caption: "Gap over gap_0 against updates, literal constants (geometric mean of the runs), and the \
                  bound of Theorem 4.1."
            .into(),
        x: Axis::linear("updates t"),
        y: Axis::log("gap_t / gap_0"),
        series,
    });
    Ok(())
}

const PASSABLE: [Passable; 1] = [Passable {
    cells: "kappa = 2",
    why: "after 32 updates the bound is 1.2 times the start's gap; the cell on the factor of an update is \
          for this",
}];

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-thm41-literal",
    place: "Theorem 4.1",
    sentence: "With literal constants, Exploration contracts the gap by 1 - 1/(32 kappa) per update, up \
               to the slack Delta, with probability at least 1 - delta; without noise the factor of an \
               update is 9/16 within 1 %, as exact gradients have it.",
    formula: r"P\left( \mathcal{L}(\theta_T) - \mathcal{L}(\theta_*) \leq (1-\check\alpha)^T
               (\mathcal{L}(\mathcal{H}_s(\theta_0)) - \mathcal{L}(\theta_*) + \Delta) \right) \geq 1 -
               \delta, \quad \check\alpha = \frac{1}{32 \kappa_s}",
    design: "T = 32, Delta = gap_0, s* = 1, kappa = 1, s = 1025, s' = 1537 (d' = 4). Even trials have no \
             noise and a dense random start, odd ones start at zero with sigma^2 = 10^4 gap_0, where the \
             second batch is the larger. In the full tier also kappa = 2: s = 4097, d = 8192, pairs with \
             correlation 1/3. An estimate with more than s non-zeros counts as a failure.",
    standing: Standing::corrected(&[]).literal().learns().passable(&PASSABLE),
    mutants: &mutants(&FAULTS),
    experiment,
};
