//! One update of Exploration with the literal constants of Proposition A.1.
//!
//! *Mutants.* Direction of the step, its size (below eta/10.5 the contraction is weaker than 1 - alpha), a
//! block that is never filled (`theta*` lives there), a residual that forgets the support, and two wrong
//! thresholds.
//!
//! *Tightness.* With `Sigma = I` and eta = 1/8 an update leaves 9/16 of the gap where the statement promises
//! .953; the noise term is too large by a factor of about 500.

use crate::setup::literal::{self, BUDGET, DIM, explore, random_start};
use lao_algorithms::BatchSizes;
use lao_algorithms::murata_suzuki::{ExplorationParams, Form as Reading};
use lao_datasets::synthetic::Hadamard;
use lao_kernels::{NotFinite, SparseVector, Threshold};
use lao_verification_engine::claim::{Claim, Fault, Passable, Standing, mutants};
use lao_verification_engine::context::{Axis, Series};
use lao_verification_engine::context::{Context, Direction, Trial};
use lao_verification_engine::judge::FindingKind;
use lao_verification_engine::judge::slope::judge_sample;
use lao_verification_engine::mutants::{Cripple, GradientFault, Keep, KeepsSmallest};
use lao_verification_engine::plots;

/// Noise levels, one cell each.
const NOISE: [f64; 4] = [0.0, 1.0, 30.0, 300.0];

/// `(1 - 2 eta)^2` for `Sigma = I` and `eta = 1/8`, within 1 %.
const NINE_SIXTEENTHS: (f64, f64) = (0.99 * 9.0 / 16.0, 1.01 * 9.0 / 16.0);

/// Where an update starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Zero,
    Random,
    Near,
    Optimum,
}

/// The start of trial i is number i modulo 4.
const STARTS: [Start; 4] = [Start::Zero, Start::Random, Start::Near, Start::Optimum];

/// What an arm does wrong.
#[derive(Clone, Debug)]
struct Arm {
    delta: f64,
    fault: Option<GradientFault>,
    smallest: bool,
    gradient_only: bool,
    step: f64,
    cripple: Option<Cripple>,
}

/// One update, in the statement's terms.
struct Update {
    before: f64,
    after: f64,
    /// `1 - alpha`.
    factor: f64,
    /// `c_t/B_t`.
    noise: f64,
}

/// Thresholds the gradient step alone, without the estimate that it starts from.
struct OfGradientOnly {
    theta: SparseVector,
    keep: Keep,
    started: bool,
}

impl Threshold for OfGradientOnly {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        // The first call thresholds the start.
        if !std::mem::replace(&mut self.started, true) {
            return self.keep.keep(dense, sparsity, kept);
        }
        let mut step = dense.to_vec();
        self.theta.view().iter().for_each(|(j, value)| step[j as usize] -= value);
        self.keep.keep(&step, sparsity, kept)
    }
}

/// First attribute of the last block.
const LAST_BLOCK: u32 = (DIM - (BUDGET - 1025)) as u32;

const FAULTS: [Fault<fn(&mut Arm)>; 8] = [
    Fault::refuted("flips_sign", "steps up the gradient", |arm| {
        arm.fault = Some(GradientFault::Scaled(-1.0))
    }),
    Fault::refuted("drops_last_block", "never fills the last block, where theta* lives", |arm| {
        arm.fault = Some(GradientFault::DropsFrom(LAST_BLOCK))
    }),
    Fault::refuted(
        "residual_from_block_only",
        "computes the residual from the block, not from supp(theta)",
        |arm| arm.fault = Some(GradientFault::ResidualFromBlock),
    ),
    Fault::refuted("steps_64_times_too_short", "steps by eta/64", |arm| arm.step = 1.0 / 64.0),
    Fault::refuted("thresholds_the_gradient_only", "thresholds eta g instead of theta - eta g", |arm| {
        arm.gradient_only = true
    }),
    Fault::refuted("keeps_smallest", "keeps the s smallest non-zero entries", |arm| arm.smallest = true),
    Fault::refuted("doubles_the_step", "steps by 2 eta", |arm| arm.step = 2.0),
    Fault::refuted("steps_a_fifth_too_short", "steps by .8 eta", |arm| arm.step = 0.8),
];

impl Arm {
    fn of(cx: &Context<'_>) -> anyhow::Result<Self> {
        let delta = 1.0 / cx.size("one_in")? as f64;
        let cripple = cx.cripple();
        let mut arm = Arm { delta, fault: None, smallest: false, gradient_only: false, step: 1.0, cripple };
        if let Some(commit) = cx.fault(&FAULTS) {
            commit(&mut arm);
        }
        Ok(arm)
    }

    fn update(&self, trial: &Trial, start: Start, noise: f64) -> anyhow::Result<Update> {
        let data = trial.seed.child("data");
        let (problem, theory) = literal::problem(Hadamard::new(DIM)?, noise, &data)?;
        let s = theory.sparsity;
        let start = match start {
            Start::Zero => SparseVector::zeros(DIM),
            Start::Random => random_start(DIM, s, 1.0, &data),
            Start::Near => {
                let mut dense = random_start(DIM, s - 1, 1e-6, &data).view().to_dense();
                dense[DIM - 1] += 1.0;
                SparseVector::from_dense(&dense)
            }
            Start::Optimum => literal::last_unit(DIM),
        };
        let batch = BatchSizes::round_up(theory.batch_a1(self.delta, Reading::Corrected));
        let params = ExplorationParams {
            dim: DIM,
            sparsity: s,
            budget: BUDGET,
            step_size: theory.step_size * self.step,
            batch: BatchSizes::Constant(batch),
            updates: Some(1),
            start: Some(start.clone()),
            money: None,
        };
        let algorithm = trial.seed.child("algorithm");
        let path = if self.gradient_only {
            let threshold = OfGradientOnly { theta: start, keep: Keep::default(), started: false };
            explore(&problem, params, (self.fault, threshold), self.cripple, &algorithm)?
        } else {
            let keep = if self.smallest { Keep::Smallest(KeepsSmallest) } else { Keep::default() };
            explore(&problem, params, (self.fault, keep), self.cripple, &algorithm)?
        };
        Ok(Update {
            before: path.points[0].gap,
            after: path.last_gap(),
            factor: 1.0 - theory.alpha_a1(),
            noise: theory.noise_a1(self.delta, Reading::Corrected) / batch as f64,
        })
    }
}

impl Update {
    fn is_as_stated(&self) -> bool {
        // Rounding of sums of a thousand squares.
        let slack = 1e-12 * self.before;
        self.after <= self.factor * self.before + self.noise + slack
    }
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (arm, most, replicates) = (Arm::of(cx)?, cx.size("trials")?, cx.size("replicates")?);
    cx.split(1 + NOISE.len());
    let steps = cx.all_trials("contraction", replicates, |trial| {
        let update = arm.update(trial, Start::Random, 0.0)?;
        Ok((update.after / update.before, update.factor))
    })?;
    let factors: Vec<f64> = steps.iter().map(|step| step.0).collect();
    cx.judge("factor without noise", judge_sample(&factors, NINE_SIXTEENTHS, cx.alpha(), FindingKind::Mean));
    for noise in NOISE {
        cx.settled()?;
        cx.prob(&format!("sigma = {noise}"), 2.0 * arm.delta, most, |trial| {
            let start = STARTS[trial.number as usize % STARTS.len()];
            Ok(arm.update(trial, start, noise)?.is_as_stated())
        })?;
    }
    if cx.honest() {
        let promised = steps[0].1;
        let mean = factors.iter().sum::<f64>() / factors.len() as f64;
        cx.note("factor of the gap per update, measured without noise", mean);
        cx.note("factor of the gap per update, promised (1 - alpha)", promised);
        cx.note("log of the measured factor / log of the promised one", mean.ln() / promised.ln());
        let line = Series::bound("1 - alpha", vec![[0.0, promised], [1.0, promised]]);
        let caption = "Factor of the gap in one update without noise, over random starts.";
        let mut figure =
            plots::spread(caption, Axis::linear("gap_1/gap_0"), &[("literal constants", &factors)]);
        figure.series.push(line);
        cx.figure(figure);
        cx.rate("contraction factor per update, literal constants, random start", Direction::Larger, factors);
        let noisy = cx.all_trials("noise term", replicates, |trial| {
            let update = arm.update(trial, Start::Optimum, 1.0)?;
            Ok(update.after / update.noise)
        })?;
        let mean = noisy.iter().sum::<f64>() / noisy.len() as f64;
        cx.note("gap after an update from theta*, in units of c_t/B_t", mean);
    }
    Ok(())
}

const PASSABLE: [Passable; 1] = [Passable {
    cells: "sigma = ",
    why: "with so much noise the term c/B allows as much as a start leaves; the cell without noise is for \
          this",
}];

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-prop-a1-literal",
    place: "Supplement A.1, Proposition A.1",
    sentence: "With the corrected constants of Proposition A.1, taken literally, one update of \
               Exploration leaves at most (1 - alpha) of the gap plus c_t/B_t, with probability at least \
               1 - 2 delta; from a random start and without noise it leaves 9/16 of the gap within 1 %.",
    formula: r"P\left( \mathcal{L}(\theta_t) - \mathcal{L}(\theta_*) \leq (1-\alpha)
               (\mathcal{L}(\theta_{t-1}) - \mathcal{L}(\theta_*)) + \frac{c_t}{B_t} \right) \geq 1 - 2
               \delta_t",
    design: "Random rows of the Hadamard matrix of order 2048, s* = 1, kappa = 1, s = 1025, s' = 1537, B the \
             corrected literal size (5.6 * 10^9 at delta = .05), drawn exactly by row counts. One update \
             from each of four starts in turn: zero, a random vector with s non-zeros, a vector within about \
             10^-5 of theta*, and theta*; one cell per noise level 0, 1, 30 and 300. Without noise the last \
             two leave no room for any error of the estimate, and with sigma = 300 the noise term alone \
             decides.",
    standing: Standing::corrected(&[]).literal().learns().passable(&PASSABLE),
    mutants: &mutants(&FAULTS),
    experiment,
};
