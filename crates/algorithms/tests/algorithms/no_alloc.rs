//! After warm-up, no learner and no solver allocates memory in its loop.

use lao_algorithms::pursuit::PursuitParams;
use lao_algorithms::thresholding::{SOLVERS, Shape, SolverTask};
use lao_algorithms::{AnyParams, Growth, METHODS, Money, Task};
use lao_datasets::synthetic::{Noise, Rademacher, Virtual};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss};
use lao_kernels::{Compressed, SparseVector};
use lao_observation::{Budget, Seed, Session, Step, Tariff};
use lao_testing::allocations_so_far;

#[test]
fn no_method_allocates_after_warm_up() {
    for method in METHODS {
        let theta = SparseVector::new(60, vec![2, 31, 59], vec![1.0, -1.0, 0.5]).unwrap();
        let design = Rademacher::new(60).unwrap();
        let source = Virtual::new(design, theta, Noise::Gaussian(0.1), &Seed::root(1)).unwrap();
        let sparsity = if method.growth == Growth::Exponential { 1 } else { 5 };
        let task = Task { dim: 60, sparsity, budget: 12, speed: 0.4, ..Task::default() };
        let built = method.build(&task);
        let mut learner = built.unwrap_or_else(|error| panic!("{}: {error}", method.name));
        let mut session = Session::new(source, (method.budget)(&task), &Seed::root(2));
        // Batches grow, and with them the buffers, until blocks reach their largest size.
        let mut serve = |until: u64| {
            while session.ledger().examples < until {
                let step = session.step(&mut learner, u64::MAX);
                assert!(matches!(step, Ok(Step::Served)), "{}: {step:?}", method.name);
            }
        };
        serve(300_000);
        let before = allocations_so_far();
        // The run ends before 2^19, since Dantzig's solver allocates at powers of two.
        serve(500_000);
        let allocated = allocations_so_far() - before;
        assert_eq!(allocated, 0, "{} allocated {allocated} times", method.name);
    }
}

#[test]
fn prices_allocate_nothing_after_warm_up() {
    // Twenty panels of three neighbors; every fourth is free.
    let prices = (0..20).map(|panel| f64::from(panel % 4)).collect();
    let tariff = Tariff::with_panels((0..60).map(|j| j / 3).collect(), prices).unwrap();
    let budget = Budget::Priced { per_example: 9.0 };
    let money = Money::new(tariff.clone(), 9.0);
    let pursuit = AnyParams::Pursuit(PursuitParams::within_money(money.clone()));
    let task = Task { speed: 0.4, ..Task::within_money(money) };
    let others = METHODS.iter().filter(|row| row.prices).map(|row| (row.params)(&task).unwrap());
    for params in others.chain([pursuit]) {
        let theta = SparseVector::new(60, vec![2, 31, 59], vec![1.0, -1.0, 0.5]).unwrap();
        let design = Rademacher::new(60).unwrap();
        let source = Virtual::new(design, theta, Noise::Gaussian(0.1), &Seed::root(1)).unwrap();
        let mut session = Session::new(source, budget, &Seed::root(2)).priced(tariff.clone()).unwrap();
        let mut learner = params.build().unwrap();
        let mut serve = |until: u64| {
            while session.ledger().examples < until {
                assert!(matches!(session.step(&mut learner, u64::MAX), Ok(Step::Served)));
            }
        };
        serve(100_000);
        let before = allocations_so_far();
        serve(150_000);
        assert_eq!(allocations_so_far() - before, 0);
    }
}

/// Returns a hundred rows with five entries each.
fn rows() -> DesignMatrix<f64> {
    let indices = (0..500).map(|at| at % 5 * 12 + at / 5 * 7 % 12).collect();
    let values = (0..500).map(|at| f64::from(at * 37 % 101) / 50.0 - 1.0).collect();
    let starts = (0..=100).map(|row| 5 * row).collect();
    DesignMatrix::compressed_rows(Compressed::new(60, starts, indices, values).unwrap())
}

#[test]
fn no_solver_allocates_after_warm_up() {
    let labels: Vec<f64> = (0..100).map(|i| f64::from(i * 31 % 3)).collect();
    let signs: Vec<f64> = labels.iter().map(|&label| if label > 0.0 { 1.0 } else { -1.0 }).collect();
    let losses = [Loss::least_squares(labels.clone()), Loss::logistic(&signs), Loss::softmax(&labels)]
        .map(Result::unwrap);
    for row in SOLVERS {
        for loss in &losses {
            // A refit of other losses copies the columns of each new support.
            if row.prunes || row.refits && loss.squares().is_none() {
                continue;
            }
            let mut sum = FiniteSum::new(rows(), loss.clone()).unwrap().with_intercept();
            let task = SolverTask { sparsity: 6, step_size: Some(0.1), start: None };
            let built = (row.build)(Shape::of(&sum), &task);
            let mut solver = built.unwrap_or_else(|error| panic!("{}: {error}", row.name));
            let mut rng = Seed::root(1).rng();
            let mut steps = |count: usize| {
                for _ in 0..count {
                    let step = solver.step(&mut sum, &mut rng);
                    step.unwrap_or_else(|error| panic!("{}: {error}", row.name));
                }
                solver.coefficients().norm_squared()
            };
            steps(2000);
            let before = allocations_so_far();
            steps(2000);
            let allocated = allocations_so_far() - before;
            assert_eq!(allocated, 0, "{} allocated {allocated} times", row.name);
        }
    }
}
