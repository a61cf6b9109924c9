//! Supplement A.1, a gap in the proofs: supports of equal size, and a start that is thresholded first.
//!
//! *Printed.* "`|S_t| = |S_{t-1}|`" with `S_t = supp(theta_t)` is used three times, and Theorem 4.1 starts
//! its recursion at `L(theta_0)`.
//!
//! *Why not.* From `theta_0 = 0` the supports have 0 and s members (erratum 9). And line 1 of Algorithm 1
//! thresholds `theta_0` on entry: the loss of `H_s(theta_0)` may be much larger than that of `theta_0`
//! (erratum 15), so the guarantee `gap_1 <= (1-a) gap(theta_0)` fails already for an exact start.
//!
//! *Control.* Sets padded to s members, and the gap of `H_s(theta_0)` as the start of the recursion: accepted
//! by the same judges. The other claims use both.

use lao_algorithms::murata_suzuki::ExplorationParams;
use lao_algorithms::{BatchSizes, Task};
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Learner, SessionLimit};
use lao_verification_engine::claim::{Claim, Fault, Shown, Standing, Violation, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{
    QuadraticPopulation, climb, pad, sparse_normal, strain, support_of, tally,
};
use lao_verification_engine::judge::exact_all;
use lao_verification_engine::probe;
use rand::RngExt;

/// Keeps the `s` entries of largest magnitude: by definition, with a sort.
fn largest(theta: &[f64], s: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..theta.len()).collect();
    order.sort_by(|&i, &j| theta[j].abs().total_cmp(&theta[i].abs()).then(i.cmp(&j)));
    let mut kept = vec![0.0; theta.len()];
    order[..s].iter().for_each(|&j| kept[j] = theta[j]);
    kept
}

/// What the production learner starts from when it is given `theta`.
fn entry(theta: &[f64], s: usize) -> anyhow::Result<Vec<f64>> {
    let start = Some(SparseVector::from_dense(theta));
    let params = ExplorationParams::practical(&Task {
        dim: theta.len(),
        sparsity: s,
        budget: s + 1,
        ..Task::default()
    })?;
    Ok(ExplorationParams { start, ..params }.build()?.coefficients().to_dense())
}

const CONTROL: [Fault<bool>; 1] = [Fault::held(
    "corrected_form",
    "index sets padded to s members; the recursion starts at H_s(theta_0)",
    true,
)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(2);
    let corrected = cx.arm(false, &CONTROL);
    let sizes = cx.all_trials("runs", cx.size("runs")?, |trial| {
        const DIM: usize = 16;
        let mut rng = trial.seed.child("data").rng();
        let sparsity = rng.random_range(2..=8);
        let star = SparseVector::from_dense(&sparse_normal(&mut rng, DIM, 2));
        let seed = trial.seed.child("data");
        let source = Virtual::new(Rademacher::new(DIM)?, star, Noise::Gaussian(1.0), &seed)?;
        let batch = BatchSizes::Constant(10);
        let params = ExplorationParams::practical(&Task {
            dim: DIM,
            sparsity,
            budget: sparsity + 3,
            ..Task::default()
        })?;
        let mut learner = ExplorationParams { batch, ..params }.build()?;
        let size = |set: u128| {
            let set = if corrected { pad(set, sparsity, DIM) } else { set };
            f64::from(set.count_ones())
        };
        let mut sizes = vec![size(support_of(&learner.coefficients().to_dense()))];
        let (budget, stop) = (Budget::PerExample(sparsity + 3), SessionLimit::after_updates(3));
        probe::run(source, &mut learner, budget, &trial.seed.child("algorithm"), stop, |_, theta| {
            sizes.push(size(support_of(&theta.to_dense())));
        })?;
        Ok(sizes.windows(2).map(|pair| (pair[1], pair[0])).collect::<Vec<_>>())
    })?;
    cx.judge("sizes of consecutive index sets", exact_all(sizes.into_iter().flatten(), 0.0));

    let rounds = cx.size("rounds")? as usize;
    let [entries] = tally(cx, "entries", cx.size("searches")?, |trial, [tally]| {
        let mut rng = trial.seed.child("data").rng();
        let (dim, condition) = (rng.random_range(4..=8), rng.random_range(5.0..30.0));
        let s = rng.random_range(1..dim);
        let population = QuadraticPopulation::random(&mut rng, dim, 1.0 / condition, 1.0);
        let star = sparse_normal(&mut rng, dim, 1);
        let rate = 1.0 / (32.0 * condition);
        let sides = |theta: &[f64]| -> anyhow::Result<(f64, f64)> {
            let promised = if corrected { largest(theta, s) } else { theta.to_vec() };
            let from = population.gap(&promised, &star) / (1.0 - rate);
            Ok((population.gap(&entry(theta, s)?, &star), from))
        };
        // A dense start near theta*: what thresholding removes from it made up for what it keeps.
        let mut theta: Vec<f64> = sparse_normal(&mut rng, dim, dim);
        let mut search = trial.seed.child("algorithm").rng();
        climb(&mut theta, rounds, &mut search, |theta| {
            sides(theta).map_or(f64::NAN, |(lhs, rhs)| strain(lhs, rhs))
        });
        let (lhs, rhs) = sides(&theta)?;
        tally.check(lhs, rhs);
        Ok(())
    })?;
    if let (Some(worst), false) = (entries.worst(), corrected) {
        cx.note("largest gap(H_s(theta_0)) / gap(theta_0) found", worst.ratio());
    }
    cx.judge("gap on entry", entries.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-support-size-gap",
    place: "Supplement A.1, proofs of Proposition A.1 and Theorem 4.1",
    sentence: "The supports of consecutive iterates have equal size, and thresholding the start on entry \
               does not raise its loss.",
    formula: r"|\operatorname{supp}(\theta_t)| = |\operatorname{supp}(\theta_{t-1})|, \qquad
               \mathcal{L}(\mathcal{H}_s(\theta_0)) - \mathcal{L}(\theta_*) \le \frac{1}{1 - 1/(32
               \kappa_s)} \left( \mathcal{L}(\theta_0) - \mathcal{L}(\theta_*) \right)",
    design: "Sizes of supports in production runs from zero; and a search by hill climbing (d <= 8, \
             condition number at least 5) for a dense theta_0 with gap(entry) > gap(theta_0)/(1 - a), a = \
             1/(32 kappa), where the entry is what the production learner holds before its first update. The \
             control pads the index sets and starts the recursion at H_s(theta_0).",
    standing: Standing::printed(&[9, 15]).violated(&VIOLATIONS).showing(&SHOWN),
    mutants: &mutants(&CONTROL),
    experiment,
};

/// From zero a support goes from 0 to s of at most 8 members. The gap on entry can be raised without limit; a
/// search finds a part of that.
const VIOLATIONS: [Violation; 2] = [
    Violation { cell: "sizes of consecutive index sets", at_least: 2.0, at_most: 8.0 },
    Violation { cell: "gap on entry", at_least: 1.5, at_most: f64::INFINITY },
];

/// Which erratum each cell shows alone.
const SHOWN: [Shown; 2] =
    [Shown { erratum: 9, cell: "sizes of consecutive" }, Shown { erratum: 15, cell: "gap on entry" }];
