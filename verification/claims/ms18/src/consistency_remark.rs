//! The estimate is consistent if batches grow, at the rate of the gap.
//!
//! *Why.* Restricted strong convexity gives the inequality, so theta converges like the gap.

use crate::setup::literal::random_start;
use crate::setup::practical::{CONTRACTION, Practical};
use lao_algorithms::BatchSizes;
use lao_datasets::synthetic::{CorrelatedPairs, Design, HadamardPairs, Noise, Virtual};
use lao_kernels::SparseVector;
use lao_observation::Seed;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Figure, Series};
use lao_verification_engine::context::{Context, Direction, Trial};
use lao_verification_engine::judge::PropertyTally;
use lao_verification_engine::mutants::Sabotage;
use lao_verification_engine::plots;

const UPDATES: u64 = 20;
const SPARSITY: usize = 5;

/// What a fault changes.
#[derive(Clone, Copy)]
struct Arm {
    mu_twice_too_large: f64,
    growth: f64,
    shorter: f64,
}

const SOUND: Arm = Arm { mu_twice_too_large: 1.0, growth: 1.0 / CONTRACTION, shorter: 1.0 };

const FAULTS: [Fault<Arm>; 3] = [
    Fault::refuted("mu_twice_too_large", "takes 1/mu for 2/mu", Arm { mu_twice_too_large: 2.0, ..SOUND }),
    Fault::refuted("constant_batches", "does not let the batches grow", Arm { growth: 1.0, ..SOUND }),
    Fault::refuted("steps_twice_too_short", "steps by eta/2", Arm { shorter: 0.5, ..SOUND }),
];

/// Checks `|theta - theta*|^2 <= (2/mu) gap` on vectors with s non-zeros.
fn curvature<D: Design>(
    cx: &Context<'_>,
    design: D,
    instances: u64,
    tally: &mut PropertyTally,
) -> anyhow::Result<()> {
    let dim = design.dim();
    let mut theta_star = SparseVector::zeros(dim);
    theta_star.push(0, 1.0);
    theta_star.push(3, -0.5);
    let source = Virtual::new(design, theta_star, Noise::None, &Seed::root(0))?;
    let convexity = source.constants(SPARSITY).convexity * cx.arm(SOUND, &FAULTS).mu_twice_too_large;
    let mut check = |theta: &SparseVector| {
        let (dense, star) = (theta.view().to_dense(), source.theta_star().to_dense());
        let distance: f64 = dense.iter().zip(&star).map(|(a, b)| (a - b) * (a - b)).sum();
        tally.check(distance, 2.0 / convexity * source.gap(theta.view()));
    };
    for instance in 0..instances {
        check(&random_start(dim, SPARSITY, 1.0, &cx.seed("curvature").trial(instance)));
    }
    for sign in [1.0, -1.0] {
        // theta* plus an eigenvector on the pair (4, 5).
        let mut theta = source.theta_star().to_owned_vector();
        theta.push(4, 1.0);
        theta.push(5, sign);
        check(&theta);
    }
    Ok(())
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (instances, most) = (cx.size("instances")?, cx.size("trials")?);
    let mut tally = PropertyTally::new();
    for rho in [0.8, -0.3] {
        curvature(cx, CorrelatedPairs::new(40, rho)?, instances, &mut tally)?;
        curvature(cx, HadamardPairs::new(32, rho)?, instances, &mut tally)?;
    }
    cx.split(2);
    cx.judge("|theta - theta*|^2 <= (2/mu) gap", tally.finish());

    let growth = cx.arm(SOUND, &FAULTS).growth;
    let shorter = cx.arm(SOUND, &FAULTS).shorter;
    let practical = Practical { cripple: cx.cripple(), ..Practical::signs(128, 2, 6, 64) };
    let gaps = |trial: &Trial| -> anyhow::Result<Vec<f64>> {
        let mut params = practical.exploration(BatchSizes::Geometric { first: 1024.0, growth }, UPDATES);
        params.step_size *= shorter;
        let path = practical.explore(trial, params, &Sabotage::default())?;
        Ok(path.points.iter().map(|point| point.gap / practical.gap_0()).collect())
    };
    cx.prob("gap_T <= 3 (9/16)^T gap_0 for T <= 20", 0.1, most, |trial| {
        let gaps = gaps(trial)?;
        let below = |(t, gap): (usize, &f64)| *gap <= 3.0 * CONTRACTION.powi(t as i32);
        Ok(gaps.len() == UPDATES as usize + 1 && gaps.iter().enumerate().all(below))
    })?;
    if cx.honest() {
        let curves = cx.all_trials("rate", cx.size("replicates")?, gaps)?;
        let last = UPDATES as usize;
        let factors: Vec<f64> = curves.iter().map(|curve| curve[last].powf(1.0 / last as f64)).collect();
        let bound = (0..=last).map(|t| [t as f64, 3.0 * CONTRACTION.powi(t as i32)]).collect();
        cx.figure(Figure {
            caption: "Gap over gap_0 against updates with growing batches, geometric mean of the runs."
                .into(),
            x: Axis::linear("updates t"),
            y: Axis::log("gap_t/gap_0"),
            series: vec![plots::decay("measured", &curves), Series::bound("3 (9/16)^t", bound)],
        });
        cx.rate("contraction factor per update, growing batches", Direction::Larger, factors);
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-consistency-remark",
    place: "Corollary 4.2, third remark",
    sentence: "With batches that grow with the updates the estimate converges to theta*, as fast as the gap \
               to 0.",
    formula: r"\|\theta_T - \theta_*\|^2 \leq \frac{2}{\mu_s} (\mathcal{L}(\theta_T) -
               \mathcal{L}(\theta_*)), \quad B_t \propto \left(\tfrac{16}{9}\right)^{t} \Rightarrow
               \mathcal{L}(\theta_T) - \mathcal{L}(\theta_*) \leq 3 \left(\tfrac{9}{16}\right)^T
               (\mathcal{L}(\theta_0) - \mathcal{L}(\theta_*))",
    design: "(a) The inequality on random sparse vectors, and on the bottom eigenvector of a pair, where it \
             is an equality; production constants and gaps of designs with correlated pairs. (b) d = 128, s* \
             = 2, s = 6, B_t = 1024 (16/9)^(t-1): for all T <= 20, gap_T <= 3 (9/16)^T gap_0, with \
             probability at least .9.",
    standing: Standing::reading(&[17]).practical().learns(),
    mutants: &mutants(&FAULTS),
    experiment,
};
