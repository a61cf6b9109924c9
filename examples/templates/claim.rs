//! Section 2: thresholding twice is thresholding once.
//!
//! *Why.* `H_s(x)` has at most `s` non-zeros, so the second threshold keeps all of them.

use lao_kernels::{HardThreshold, SparseVector, Threshold as _};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::sparse_normal;
use lao_verification_engine::judge::exact_all;

const DIM: usize = 12;

/// What a fault changes: the non-zeros that the second threshold keeps.
const FAULTS: [Fault<usize>; 1] = [Fault::refuted("drops_one", "the second threshold keeps s - 1", 1)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let fewer = cx.arm(0, &FAULTS);
    let pairs = cx.all_trials("vectors", cx.size("vectors")?, |trial| {
        let x = sparse_normal(&mut trial.seed.rng(), DIM, DIM);
        let s = 1 + trial.number as usize % DIM;
        let once = threshold(&x, s)?;
        let twice = threshold(&once, s - fewer)?;
        Ok(once.into_iter().zip(twice))
    })?;
    cx.judge("every coordinate of H_s(H_s(x))", exact_all(pairs.into_iter().flatten(), 0.0));
    Ok(())
}

/// `H_s(x)` by the production code.
fn threshold(x: &[f64], s: usize) -> anyhow::Result<Vec<f64>> {
    let mut kept = SparseVector::zeros(x.len());
    HardThreshold::default().keep(x, s, &mut kept)?;
    Ok(kept.view().to_dense())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "ms18-threshold-twice",
    place: "Section 2",
    sentence: "Thresholding a vector twice gives what thresholding it once gives.",
    formula: r"H_s(H_s(x)) = H_s(x)",
    design: "Normal vectors in twelve dimensions, every s from 1 to 12, by the production threshold.",
    standing: Standing::sound(),
    mutants: &mutants(&FAULTS),
    experiment,
};
