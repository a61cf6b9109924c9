//! "The extra stochasticity helps to jump out of bad local minima", on a planted one.
//!
//! *Statement.* Variance-reduced gradients with a bias, B below n, help the method to leave a bad support.
//!
//! *Instance.* With `h = (c/sqrt k) 1` and `H = [[1, h'], [h, I_k]]`,
//! `f(x) = (x - e_1)'H(x - e_1)/2 + noise^2`, the point `(0, h)` is a k-sparse fixed point of
//! `x <- H_k(x - eta grad f(x))` for `eta (1 - c^2) < c/sqrt k` (`scsg20-thm1-small-eta`). Here k = 20, c =
//! 1/3 (condition number 2), eta half of that, and f the mean of 420 squares: ten random orthonormal bases as
//! `g` in `z = H^(1/2) g`, each row twice with opposite noise, so that H is exact and e_1 the global
//! minimizer.
//!
//! *Not shown.* That the support which is found next is better: here there is only one other.

use crate::setup::runs::{each_round, shown};
use lao_algorithms::thresholding::{EpochLength, ScsgParams, Shape};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
use lao_observation::{Rng, Seed};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::{Axis, Context, Figure, Series};
use lao_verification_engine::instance::quadratics::predictor;
use lao_verification_engine::instance::{dot, norm2};
use lao_verification_engine::judge::paired;
use lao_verification_engine::mutants::Cripple;
use rand_distr::{Distribution, StandardNormal};

const K: usize = 20;
const C: f64 = 1.0 / 3.0;
const BASES: usize = 10;
/// n.
const N: usize = 2 * BASES * (K + 1);
const NOISE: f64 = 0.5;

/// An orthonormal basis of so many dimensions, uniform.
fn basis(dim: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    while rows.len() < dim {
        let mut row: Vec<f64> = (0..dim).map(|_| StandardNormal.sample(rng)).collect();
        // Twice is enough.
        for earlier in rows.iter().chain(&rows) {
            let along = dot(&row, earlier);
            row.iter_mut().zip(earlier).for_each(|(x, e)| *x -= along * e);
        }
        let length = norm2(&row).sqrt();
        row.iter_mut().for_each(|x| *x /= length);
        rows.push(row);
    }
    rows
}

/// The sum, and its fixed point.
fn coherent(seed: &Seed) -> anyhow::Result<(FiniteSum, Vec<f64>)> {
    let (mut rng, d) = (seed.rng(), K + 1);
    let entry = C / (K as f64).sqrt();
    // H has eigenvalue 1 +- c along (e_1 +- u)/sqrt 2, u the unit vector of h, and 1 elsewhere.
    let along = |row: &[f64], sign: f64| (row[0] + sign * dot(&row[1..], &[entry / C; K])) / 2.0_f64.sqrt();
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..BASES {
        for g in basis(d, &mut rng) {
            let scale = (d as f64 / 2.0).sqrt();
            let parts = [1.0, -1.0].map(|sign| ((1.0 + sign * C).sqrt() - 1.0) * along(&g, sign));
            let shift = [parts[0] + parts[1], parts[0] - parts[1]].map(|part| part / 2.0_f64.sqrt());
            let row = g
                .iter()
                .enumerate()
                .map(|(j, g)| scale * (g + if j == 0 { shift[0] } else { shift[1] * entry / C }));
            let row: Vec<f64> = row.collect();
            let noise: f64 = StandardNormal.sample(&mut rng);
            for noise in [NOISE * noise, -NOISE * noise] {
                values.extend_from_slice(&row);
                labels.push(row[0] + noise);
            }
        }
    }
    let sum = FiniteSum::new(DesignMatrix::rows(N, d, values)?, Loss::least_squares(labels)?)?;
    let mut stuck = vec![entry; d];
    stuck[0] = 0.0;
    Ok((sum, stuck))
}

/// The epoch at whose end each run has escaped.
fn escapes(cx: &Context<'_>, method: u64, batch: usize, step: f64) -> anyhow::Result<Vec<f64>> {
    let epochs = cx.size("epochs")?;
    // SCSG-HT is the one that is said to be ahead.
    let cripple = cx.cripple().filter(|_| method == 0);
    if cripple.is_some_and(Cripple::stands_still) {
        // Neither zero nor the start has the first coordinate.
        return Ok(vec![f64::INFINITY; cx.size("pairs")? as usize]);
    }
    let pairs = cx.size("pairs")?;
    let runs = cx.shared(&format!("runs {method} {batch} {step} {cripple:?}"), || {
        cx.all_trials("runs", pairs, |trial| {
            let seed = trial.seed.child("data");
            let (mut sum, mut start) = coherent(&seed)?;
            let mut rng = seed.child("start").rng();
            for x in &mut start[1..] {
                let shake: f64 = StandardNormal.sample(&mut rng);
                *x += 0.01 * shake;
            }
            let start = predictor(&start);
            let (step_size, begin) = (step * C / (K as f64).sqrt() / (1.0 - C * C), Some(start.clone()));
            let length = EpochLength::Steps(21);
            let params = ScsgParams { sparsity: K, step_size, batch, mini_batch: 2, length, start: begin };
            let mut solver = params.build(Shape::of(&sum))?;
            let mut target = vec![0.0; K + 1];
            target[0] = 1.0;
            let (target, mut epoch, mut escaped) = (predictor(&target), 0.0, f64::INFINITY);
            let seed = trial.seed.child("algorithm").trial(method);
            each_round(&mut sum, &mut solver, &seed, epochs, |x, _| {
                epoch += 1.0;
                let x = shown(cripple, &start, x);
                let has_first = x.coefficients[0].view().iter().next().is_some_and(|(j, _)| j == 0);
                if has_first && x.distance_squared(&target) < 0.5 {
                    escaped = epoch;
                }
                escaped.is_finite()
            })?;
            Ok(escaped)
        })
    })?;
    Ok(runs[..pairs as usize].to_vec())
}

const EXCHANGED: Mutant = Mutant::refuted("exchanged", "calls SVRG-HT SCSG-HT and SCSG-HT SVRG-HT");
const FULL_BATCHES: Mutant = Mutant::tied("full_batches", "B = n in both");
const STEP_ABOVE_THRESHOLD: Mutant =
    Mutant::refuted("step_above_threshold", "a step size with which the point is no fixed point");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let step = if cx.commits(&STEP_ABOVE_THRESHOLD) { 1.5 } else { 0.5 };
    let batch = if cx.commits(&FULL_BATCHES) { N } else { N / 10 };
    let (mut scsg, mut svrg) = (escapes(cx, 0, batch, step)?, escapes(cx, 1, N, step)?);
    if cx.commits(&EXCHANGED) {
        std::mem::swap(&mut scsg, &mut svrg);
    }
    let finding = paired::better(&scsg, &svrg, cx.alpha());
    cx.judge("SCSG-HT escapes in an earlier epoch than SVRG-HT", finding);
    if !cx.honest() {
        return Ok(());
    }
    let share = |runs: &[f64], epoch: f64| {
        runs.iter().filter(|escaped| **escaped <= epoch).count() as f64 / runs.len() as f64
    };
    let epochs = cx.size("epochs")?;
    let mut series = Vec::new();
    for (place, part) in [(2, 10), (3, 4), (4, 2), (5, 1)] {
        let runs = escapes(cx, place, N / part, step)?;
        let name = if part == 1 { "B = n".into() } else { format!("B = n/{part}") };
        cx.note(&format!("share escaped, {name}"), share(&runs, epochs as f64));
        let points = (0..=epochs).map(|epoch| [epoch as f64, share(&runs, epoch as f64)]).collect();
        series.push(Series::line(&name, points));
    }
    cx.figure(Figure {
        caption: "Share of runs that have left the planted fixed point.".into(),
        x: Axis::linear("epoch"),
        y: Axis::linear("share"),
        series,
    });
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-fig-e",
    place: "Experiments: High Precision Regime, on local minima",
    sentence: "From a support where full gradients are stuck, SCSG-HT with B = n/10 escapes earlier than \
               SVRG-HT.",
    formula: r"\mathbb{P}\{T_{\mathrm{SCSG}} < T_{\mathrm{SVRG}}\} > \tfrac12, \quad T = \min\{j :
               |X^{(j)} - e_1|^2 < \tfrac12\}",
    design: "Both methods from the fixed point, its entries shaken by .01, with the same step size, \
             mini-batches of 2 and 21 steps an epoch; SCSG-HT with B = n/10, SVRG-HT with B = n. The epoch \
             at whose end a run has the first coordinate and a squared distance below 1/2 to e_1 (1.11 at \
             the fixed point), infinite if none; sign test, ties split. The full gradient vanishes on the \
             support of the fixed point, so a snapshot there makes every step of SVRG-HT a step of GD-HT; \
             with B = n/10 a whole epoch goes in a direction that is off by sigma/sqrt B in every \
             coordinate.",
    standing: Standing::sound().practical().learns(),
    mutants: &[EXCHANGED, FULL_BATCHES, STEP_ABOVE_THRESHOLD],
    experiment,
};

#[cfg(test)]
mod tests {
    use super::*;
    use lao_algorithms::thresholding::{GdParams, GdStep, Solver};
    use lao_finite_sum::{Batch, Gradient};

    #[test]
    fn the_planted_point_is_fixed_below_the_threshold_and_not_above() {
        let (mut sum, stuck) = coherent(&Seed::root(1)).unwrap();
        let mut gradient = Gradient::default();
        sum.gradient(Batch::All, &predictor(&stuck), &mut gradient).unwrap();
        assert!((gradient.coefficients[0][0] - (C * C - 1.0)).abs() < 1e-10);
        assert!(gradient.coefficients[0][1..].iter().all(|g| g.abs() < 1e-10));
        let critical = C / (K as f64).sqrt() / (1.0 - C * C);
        for (share, moves) in [(0.9, false), (1.1, true)] {
            let (step, start) = (GdStep::Fixed(share * critical), Some(predictor(&stuck)));
            let params = GdParams { sparsity: K, step, refit: false, start };
            let mut solver = params.build(Shape::of(&sum)).unwrap();
            solver.step(&mut sum, &mut Seed::root(2).rng()).unwrap();
            let moved = solver.coefficients().distance_squared(&predictor(&stuck));
            assert_eq!(moved > 1e-10, moves);
        }
    }
}
