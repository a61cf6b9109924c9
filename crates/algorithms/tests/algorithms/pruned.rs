//! Pruned solvers that start again, on chains that hide an attribute behind its neighbors.

use crate::exchange::{chain, labels, least};
use lao_algorithms::thresholding::registry::solver;
use lao_algorithms::thresholding::{
    AutoParams, EpochLength, Pruned, Shape, Solver, SolverLimit, SolverTask, solve,
};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
use lao_observation::Seed;

/// SVRG-HT with eight times as many attributes, pruned, without restarts.
fn goes_on(shape: Shape, task: &SolverTask) -> Box<dyn Solver> {
    let pruned = Pruned::new(shape, task, 8, |shape, task, wanted| {
        let params = AutoParams { wanted, ..AutoParams::of_part(shape, task, [1.0, 1.0]) };
        Ok(Box::new(params.scsg(shape, EpochLength::Ratio)?))
    });
    Box::new(pruned.unwrap())
}

#[test]
fn random_solvers_that_start_again_find_what_neighbors_hide() {
    const ROWS: usize = 300;
    const DIM: usize = 600;
    const SPARSITY: usize = 8;
    const NAMES: [&str; 5] =
        ["sg-ht-pruned", "hsg-ht-pruned", "svrg-ht-pruned", "scsg-ht-i-pruned", "scsg-ht-ii-pruned"];
    let task = SolverTask { sparsity: SPARSITY, ..SolverTask::default() };
    let (mut missed, mut missed_without) = ([0; NAMES.len()], 0);
    for seed in 0..12 {
        let rng = &mut Seed::root(seed).child("pruned").rng();
        let columns = chain(ROWS, DIM, 0.97, rng);
        let (support, labels) = labels(&columns, ROWS, SPARSITY, 1.0, rng);
        let design = DesignMatrix::columns(ROWS, DIM, columns).unwrap();
        let mut sum = FiniteSum::new(design, Loss::least_squares(labels).unwrap()).unwrap();
        let (shape, goal) = (Shape::of(&sum), 1.01 * least(&mut sum, &support));
        let mut misses = |mut solver: Box<dyn Solver>| {
            let limit = SolverLimit::after_rounds(100);
            let found = solve(&mut sum, &mut solver, &Seed::root(seed), limit).unwrap().predictor;
            i32::from(sum.objective(&found).unwrap() > goal)
        };
        missed_without += misses(goes_on(shape, &task));
        for (missed, name) in missed.iter_mut().zip(NAMES) {
            *missed += misses((solver(name).unwrap().build)(shape, &task).unwrap());
        }
    }
    assert!(missed.iter().all(|missed| *missed < missed_without), "{missed:?}, {missed_without} without");
}
