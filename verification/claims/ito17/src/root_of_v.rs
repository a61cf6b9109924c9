//! Section 3: which root of V the proofs use.
//!
//! *Statement.* "Let L be the Cholesky decomposition of V (i.e. `V = L'L`)." The usual Cholesky factor is the
//! lower triangular one with `V = L L'`. All that is used is `|L w|^2 = w'Vw`, so any L with `V = L'L` will
//! do: the transposed factor, or the symmetric root.

use lao_verification_engine::claim::{Claim, Fault, Mutant, Standing, mutants};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{QuadraticPopulation, dot, norm2};
use lao_verification_engine::judge::exact_all;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// The lower triangular L with `V = L L'`, row by row; V must be positive definite.
fn cholesky(v: &[f64], dim: usize) -> Vec<f64> {
    let mut l = vec![0.0; dim * dim];
    for i in 0..dim {
        for j in 0..=i {
            let rest = v[i * dim + j] - dot(&l[i * dim..i * dim + j], &l[j * dim..j * dim + j]);
            l[i * dim + j] = if i == j { rest.sqrt() } else { rest / l[j * dim + j] };
        }
    }
    l
}

fn times(matrix: &[f64], w: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(w.len()).map(|row| dot(row, w)).collect()
}

fn transposed(matrix: &[f64], dim: usize) -> Vec<f64> {
    (0..dim * dim).map(|at| matrix[at % dim * dim + at / dim]).collect()
}

/// Judges `|L w|^2 = w'Vw` for the transposed factor, or the factor itself, times `scale`.
fn judge(cx: &mut Context<'_>, transpose: bool, scale: f64) -> anyhow::Result<()> {
    cx.split(2);
    let each = cx.all_trials("random", cx.size("instances")?, |trial| {
        let mut rng = trial.seed.child("data").rng();
        let dim = rng.random_range(2..=6);
        let population = QuadraticPopulation::random(&mut rng, dim, 0.01, 1.0);
        let lower = cholesky(population.covariance(), dim);
        let product = |at: usize| dot(&lower[at / dim * dim..][..dim], &lower[at % dim * dim..][..dim]);
        let entries = (0..dim * dim).map(|at| (product(at), population.covariance()[at])).collect::<Vec<_>>();
        let w: Vec<f64> = (0..dim).map(|_| StandardNormal.sample(&mut rng)).collect();
        let root = if transpose { transposed(&lower, dim) } else { lower };
        Ok((entries, (scale * scale * norm2(&times(&root, &w)), population.form(&w))))
    })?;
    let entries = each.iter().flat_map(|(entries, _)| entries.iter().copied());
    cx.judge("L is a Cholesky factor: V = L L'", exact_all(entries, 1e-10));
    cx.judge("|root w|^2 = w'Vw", exact_all(each.iter().map(|(_, pair)| *pair), 1e-10));
    Ok(())
}

const NOT_TRANSPOSED: Mutant = Mutant::refuted("not_transposed", "takes the lower factor itself");
const HALF_A_FACTOR: Mutant = Mutant::refuted("half_a_factor", "takes half the factor");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let scale = if cx.commits(&HALF_A_FACTOR) { 0.5 } else { 1.0 };
    judge(cx, !cx.commits(&NOT_TRANSPOSED), scale)
}

const CONTROL: [Fault<bool>; 1] = [Fault::held("corrected_form", "transposes the factor", true)];

fn experiment_printed(cx: &mut Context<'_>) -> anyhow::Result<()> {
    judge(cx, cx.arm(false, &CONTROL), 1.0)
}

/// With the transposed factor.
pub const CLAIM: Claim = Claim {
    id: "ito17-root-of-v",
    place: "Section 3, definition of L",
    sentence: "With L the transposed Cholesky factor of V, |L w|^2 is w'Vw.",
    formula: r"V = L^\top L \;\Rightarrow\; \|L w\|^2 = w^\top V w",
    design: "Random covariances in up to six dimensions and random w; the factor is computed and checked.",
    standing: Standing::corrected(&[8]),
    mutants: &[NOT_TRANSPOSED, HALF_A_FACTOR],
    experiment,
};

/// With the factor that is usually called by this name.
pub const PRINTED: Claim = Claim {
    id: "ito17-root-of-v-printed",
    sentence: "With L the Cholesky decomposition of V, the lower factor, |L w|^2 is w'Vw.",
    formula: r"V = L L^\top \;\Rightarrow\; \|L w\|^2 = w^\top V w",
    standing: Standing::printed(&[8]),
    mutants: &mutants(&CONTROL),
    experiment: experiment_printed,
    ..CLAIM
};
