//! More updates alone do not make the estimate consistent.
//!
//! *Statement.* The last remark on Corollary 4.2: `theta_T` is asymptotically consistent, since
//! `|theta_T - theta*|^2` converges to 0 as T grows. With a fixed batch size it does not: the gap ends at a
//! floor of order `sigma^2 s/B`. Only with batches that grow with the number of updates (in Theorem 4.1 they
//! do, like `(1-a)^-T`) is it true.

use crate::setup::practical::Practical;
use lao_algorithms::BatchSizes;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Axis, Context, Figure, Series, Trial};
use lao_verification_engine::mutants::Sabotage;

const EARLY: usize = 20;
const LATE: usize = 80;

fn gaps(trial: &Trial, growing: bool) -> anyhow::Result<Vec<f64>> {
    let practical = Practical::signs(128, 2, 6, 64);
    let first = 1024.0;
    let batch = if growing {
        BatchSizes::Geometric { first, growth: 1.15 }
    } else {
        BatchSizes::Constant(first as u64)
    };
    let path = practical.explore(trial, practical.exploration(batch, LATE as u64), &Sabotage::default())?;
    Ok(path.points.iter().map(|point| point.gap).collect())
}

const CONTROL: [Fault<bool>; 1] =
    [Fault::held("growing_batches", "lets the batch grow by 15 % per update", true)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let growing = cx.arm(false, &CONTROL);
    let most = cx.size("trials")?;
    cx.prob("the gap at T = 80 is at most half of that at T = 20", 0.1, most, |trial| {
        let gaps = gaps(trial, growing)?;
        Ok(gaps.get(LATE).copied().unwrap_or(f64::INFINITY) <= 0.5 * gaps[EARLY])
    })?;
    if cx.honest() {
        let mut series = Vec::new();
        for (name, growing) in [("B = 1024", false), ("B_t = 1024 * 1.15^t", true)] {
            let runs = cx.all_trials("curves", 8, |trial| gaps(trial, growing))?;
            let mean = |t: usize| runs.iter().map(|gaps| gaps[t]).sum::<f64>() / runs.len() as f64;
            cx.note(&format!("mean gap at T = 80 over that at T = 20, {name}"), mean(LATE) / mean(EARLY));
            series.push(Series::line(name, (0..=LATE).map(|t| [t as f64, mean(t)]).collect()));
        }
        cx.figure(Figure {
            caption: "Mean gap against updates, with fixed and with growing batches.".into(),
            x: Axis::linear("updates t"),
            y: Axis::log("gap"),
            series,
        });
    }
    Ok(())
}

/// As printed.
pub const PRINTED: Claim = Claim {
    id: "ms18-consistency-remark-printed",
    place: "Corollary 4.2, third remark",
    sentence: "The estimate becomes consistent by more updates alone, whatever the batch size.",
    formula: r"\|\theta_T - \theta_*\|^2 \to 0 \quad (T \to \infty)",
    design: "Random Hadamard rows, d = 128, s* = 2, s = 6, s'-s = 64, B = 1024, noise 1. If the gap \
             converges to 0, it is at T = 80 at most half of what it was at T = 20, with probability at \
             least .9; the measured ratio is about 1. Batches that grow by 15 % per update pass the same \
             judge.",
    standing: Standing::printed(&[17]).practical(),
    mutants: &mutants(&CONTROL),
    experiment,
};
