//! The constants of the theorems taken literally.
//!
//! Proposition A.1 asks for `s >= (1024 kappa^2 + 1) s*` and for billions of examples per block. With s* = 1,
//! kappa = 1 and random rows of the Hadamard matrix of order 2048 that is s = 1025, and a batch of any size
//! is drawn exactly by its row counts in a fraction of a millisecond. So nothing is scaled down here: s, B
//! and delta are those of the statement.

use super::practical::{Path, Population, follow};
use lao_algorithms::murata_suzuki::{ExplorationParams, Problem};
use lao_datasets::synthetic::{Counted, Noise, Virtual, WalshRows};
use lao_kernels::{SparseVector, Threshold};
use lao_observation::Seed;
use lao_observation::sample::SubsetSampler;
use lao_verification_engine::mutants::{Cripple, Crippled, Faulty, GradientFault};
use rand_distr::{Distribution, StandardNormal};

/// `d` where kappa = 1.
pub const DIM: usize = 2048;

/// `s'` where kappa = 1: 512 attributes per block, d' = 4.
pub const BUDGET: usize = 1537;

/// `theta* = e_d`: s* = 1, in the last block.
pub fn last_unit(dim: usize) -> SparseVector {
    let mut theta_star = SparseVector::zeros(dim);
    theta_star.push(dim as u32 - 1, 1.0);
    theta_star
}

/// The problem with `theta* = e_d`, and what the theorems see of it at the sparsity that they ask for.
///
/// # Errors
/// When the design is too small for that sparsity.
pub fn problem<D: WalshRows>(design: D, noise: f64, data: &Seed) -> anyhow::Result<(Virtual<D>, Problem)> {
    let dim = design.dim();
    let noise = if noise > 0.0 { Noise::Gaussian(noise) } else { Noise::None };
    let source = Virtual::new(design, last_unit(dim), noise, data)?;
    let sparsity = Problem::required_sparsity(&source.constants(1));
    let theory = Problem {
        constants: source.constants(sparsity),
        dim,
        sparsity,
        step_size: Problem::theorem_step(&source.constants(sparsity)),
    };
    anyhow::ensure!(Problem::required_sparsity(&theory.constants) <= sparsity, "kappa depends on s");
    anyhow::ensure!(sparsity < dim, "d = {dim} leaves nothing to explore beside s = {sparsity}");
    Ok((source, theory))
}

/// A normal vector on the first `nonzeros` of a shuffled list of coordinates.
pub fn random_start(dim: usize, nonzeros: usize, size: f64, data: &Seed) -> SparseVector {
    let (mut rng, mut drawn) = (data.child("start").rng(), Vec::new());
    SubsetSampler::new(dim).draw(nonzeros, &mut rng, &mut drawn);
    drawn.sort_unstable();
    let mut start = SparseVector::zeros(dim);
    for j in drawn {
        let z: f64 = StandardNormal.sample(&mut rng);
        start.push(j, size * z);
    }
    start
}

/// Follows production Exploration, sound or crippled; the examples pass through `fault`, if there is one.
///
/// # Errors
/// When parameters are refused or the session fails; divergence is no error.
pub fn explore<D: WalshRows + Clone, T: Threshold>(
    problem: &Virtual<D>,
    params: ExplorationParams,
    (fault, threshold): (Option<GradientFault>, T),
    cripple: Option<Cripple>,
    algorithm: &Seed,
) -> anyhow::Result<Path> {
    let (budget, learner) = (params.budget, params.build_with(threshold)?);
    let mut learner = Crippled::new(learner, cripple);
    if cripple.is_some_and(Cripple::stands_still) {
        // What is shown does not depend on the examples: they are counted, but not drawn.
        return follow(Population::new(problem.clone()), problem, &mut learner, budget, algorithm);
    }
    let source = Counted::new(problem.clone())?;
    match fault {
        Some(fault) => follow(Faulty::new(source, fault), problem, &mut learner, budget, algorithm),
        None => follow(source, problem, &mut learner, budget, algorithm),
    }
}
