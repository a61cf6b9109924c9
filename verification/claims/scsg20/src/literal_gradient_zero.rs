//! The residual under the literal reading of Theorem 1.
//!
//! *Why.* `x* + t e_i` is k-sparse for every i and t, so every partial derivative vanishes. Theorem 1 needs
//! `k > k*` (alpha is infinite otherwise) and calls x* the optimum: then its residual term is zero, and so is
//! the "fixed nonzero term due to the sparsity constraint". A residual exists only if x* is some other
//! k*-sparse vector.

use anyhow::Context as _;
use lao_finite_sum::{Batch, FiniteSum, NormalEquations};
use lao_kernels::solve_positive;
use lao_observation::Rng;
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{
    SmallSum, dot, masks, members, norm2, predictor, production_gradient, sparse_normal,
};
use lao_verification_engine::judge::exact_all;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Entries of an optimum below this are zeros that rounding has touched: planted ones are of order one.
const ZERO: f64 = 1e-9;

/// The best vector on a support.
fn best_on(sum: &FiniteSum, support: u128) -> anyhow::Result<Vec<f64>> {
    let support: Vec<u32> = members(support).map(|j| j as u32).collect();
    let mut equations = NormalEquations::default();
    anyhow::ensure!(sum.normal_equations(&support, &mut equations)?, "not least squares");
    let NormalEquations { gram, right, .. } = &mut equations;
    solve_positive(gram, right);
    let mut x = vec![0.0; sum.dim()];
    support.iter().zip(&*right).for_each(|(&j, value)| x[j as usize] = *value);
    Ok(x)
}

/// The best k-sparse vector.
fn optimum(sum: &mut FiniteSum, sparsity: usize) -> anyhow::Result<Vec<f64>> {
    let mut best: Option<(f64, Vec<f64>)> = None;
    for support in masks(sum.dim(), sparsity) {
        let x = best_on(sum, support)?;
        let value = sum.objective(&predictor(&x))?;
        if best.as_ref().is_none_or(|(least, _)| value < *least) {
            best = Some((value, x));
        }
    }
    Ok(best.context("no support")?.1)
}

/// Rows, and labels `row'x + residual` with residuals that are orthogonal to all columns: x is the minimizer.
fn planted(rng: &mut Rng, components: usize, x: &[f64]) -> SmallSum {
    let normal = |rng: &mut Rng| -> f64 { StandardNormal.sample(rng) };
    let rows: Vec<Vec<f64>> = (0..components).map(|_| x.iter().map(|_| normal(rng)).collect()).collect();
    // Gram-Schmidt, twice for accuracy.
    let columns = || (0..x.len()).map(|j| rows.iter().map(|row| row[j]).collect::<Vec<f64>>());
    let mut residual: Vec<f64> = (0..components).map(|_| normal(rng)).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let deflate = |v: &mut Vec<f64>, basis: &[Vec<f64>]| {
        for _ in 0..2 {
            for unit in basis {
                let along = dot(v, unit);
                v.iter_mut().zip(unit).for_each(|(v, unit)| *v -= along * unit);
            }
        }
    };
    for mut column in columns() {
        deflate(&mut column, &basis);
        let length = norm2(&column).sqrt();
        column.iter_mut().for_each(|v| *v /= length);
        basis.push(column);
    }
    deflate(&mut residual, &basis);
    let labels = rows.iter().zip(&residual).map(|(row, residual)| dot(row, x) + residual).collect();
    SmallSum::least_squares(rows, labels, 1, 0.0)
}

const FAULTS: [Fault<bool>; 1] = [Fault::refuted(
    "best_of_fewer_nonzeros",
    "x* is the best k*-sparse vector of a problem with a dense minimizer",
    true,
)];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let relaxed = cx.arm(false, &FAULTS);
    let n = cx.size("instances")?;
    let gradients = cx.all_trials("instances", n, |trial| {
        let rng = &mut trial.seed.child("data").rng();
        let dim = rng.random_range(3..=8);
        let sparsity = rng.random_range(2..dim);
        let fewer = rng.random_range(1..sparsity);
        let minimizer = sparse_normal(rng, dim, if relaxed { dim } else { fewer });
        let mut sum = planted(rng, 2 * dim, &minimizer).production()?;
        let star = optimum(&mut sum, if relaxed { fewer } else { sparsity })?;
        let used = star.iter().filter(|x| x.abs() > ZERO).count();
        anyhow::ensure!(used < sparsity, "the optimum uses all {sparsity} non-zeros");
        Ok(norm2(&production_gradient(&mut sum, Batch::All, &star)?).sqrt())
    })?;
    cx.note("largest gradient norm at an optimum", gradients.iter().copied().fold(0.0, f64::max));
    cx.note("smallest", gradients.iter().copied().fold(f64::INFINITY, f64::min));
    cx.judge("norm of the gradient", exact_all(gradients.into_iter().map(|norm| (norm, 0.0)), 1e-10));
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "scsg20-literal-gradient-zero",
    place: "Problem (1) and Theorem 1, reading of x*",
    sentence: "An optimum over k-sparse vectors that has fewer than k non-zeros has gradient zero.",
    formula: r"x^* \in \mathrm{argmin}_{\|x\|_0 \le k} f(x), \; \|x^*\|_0 < k \Rightarrow \nabla f(x^*) = 0",
    design: "Least squares of full rank with noise; labels such that the minimizer is sparse. The optimum by \
             trying all supports through the production normal equations; the production gradient there.",
    standing: Standing::corrected(&[1]),
    mutants: &mutants(&FAULTS),
    experiment,
};
