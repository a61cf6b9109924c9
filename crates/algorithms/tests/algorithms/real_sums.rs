//! The solvers on real data. A data set that is not available is not tested, and the test prints the reason.

use lao_algorithms::thresholding::{SOLVERS, Shape, SolverLimit, SolverTask, solve};
use lao_datasets::catalog::{Catalog, CatalogError, Loaded};
use lao_datasets::format::Table;
use lao_datasets::memory::By;
use lao_finite_sum::{FiniteSum, Loss, Standardize};
use lao_observation::Seed;

fn at_hand(name: &str) -> Option<Loaded> {
    match Catalog::from_env().unwrap().load(name) {
        Ok(loaded) => Some(loaded),
        Err(reason @ CatalogError::Missing { .. }) => {
            eprintln!("not run: {reason}");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

fn accuracy(rows: &Table, weights: &[f64]) -> f64 {
    let rows = rows.sparse().unwrap();
    let right = (0..rows.rows()).filter(|&i| {
        let row = rows.row(i);
        let margin: f64 =
            row.indices.iter().zip(row.values).map(|(&j, value)| weights[j as usize] * value).sum();
        margin * row.label > 0.0
    });
    right.count() as f64 / rows.rows() as f64
}

#[test]
fn every_solver_learns_the_news_sample_from_200_words() {
    let Some(Loaded { train, test: Some(test), .. }) = at_hand("rcv1-sample") else { return };
    for row in SOLVERS {
        let examples = train.examples(By::Rows).unwrap();
        let sum = FiniteSum::new(examples, Loss::logistic(train.labels()).unwrap()).unwrap();
        let mut sum = sum.with_ridge(1e-5).unwrap();
        let task = SolverTask { sparsity: 200, step_size: Some(4.0), start: None };
        let mut solver = (row.build)(Shape::of(&sum), &task).unwrap();
        let stop = SolverLimit::after_calls(60 * sum.len() as u64);
        let run = solve(&mut sum, &mut *solver, &Seed::root(1), stop).unwrap();
        let objective = sum.objective(&run.predictor).unwrap();
        let right = accuracy(&test, &run.predictor.coefficients[0].view().to_dense());
        eprintln!("{}: objective {objective:.4}, accuracy {right:.3}", row.name);
        assert!(objective < 0.9 * 2_f64.ln(), "{}: {objective}, log 2 at zero", row.name);
        assert!(right > 0.75 || !row.settles_on_sparse_rows, "{}: {right}", row.name);
        assert!(run.predictor.coefficients[0].len() <= 200);
    }
}

#[test]
fn digits_with_constant_pixels_are_told_apart_by_ten_columns_of_15_pixels() {
    let digits = at_hand("digits").unwrap().train;
    for row in SOLVERS {
        let loss = Loss::softmax(digits.labels()).unwrap();
        let sum = FiniteSum::new(digits.examples(By::Rows).unwrap(), loss).unwrap();
        let mut sum = sum.standardized(Standardize::CenterAndScale).unwrap().with_intercept();
        let task = SolverTask { sparsity: 15, step_size: Some(0.05), start: None };
        let mut solver = (row.build)(Shape::of(&sum), &task).unwrap();
        // To prune ten classes takes Newton steps for each.
        let passes = if row.prunes { 300 } else { 60 };
        let stop = SolverLimit::after_calls(passes * sum.len() as u64);
        let run = solve(&mut sum, &mut *solver, &Seed::root(1), stop).unwrap();
        let objective = sum.objective(&run.predictor).unwrap();
        eprintln!("{}: objective {objective:.4}", row.name);
        assert!(objective < 0.9 * 10_f64.ln(), "{}: {objective}, log 10 at zero", row.name);
        assert!(run.predictor.coefficients.iter().all(|x| x.len() <= 15));
    }
}
