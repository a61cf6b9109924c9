//! Step sizes and mini-batches that solvers choose, and pruning, against dense lines.

use lao_algorithms::thresholding::registry::solver;
use lao_algorithms::thresholding::{
    AutoParams, Choice, EpochLength, RuleParams, Shape, Solver, SolverLimit, SolverTask, resume,
};
use lao_finite_sum::{DesignMatrix, FiniteSum, Loss, Predictor};
use lao_kernels::solve_positive;
use lao_observation::Seed;
use rand::RngExt;

const N: usize = 80;
const DIM: usize = 30;

/// Returns rows and the labels of three attributes, with noise.
fn data(seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rng = Seed::root(seed).child("auto").rng();
    let mut number = || rng.random_range(-1.0..1.0);
    let rows: Vec<Vec<f64>> = (0..N).map(|_| (0..DIM).map(|_| number()).collect()).collect();
    let labels = rows.iter().map(|row| 2.0 * row[3] - row[17] + 0.7 * row[20] + 0.3 * number()).collect();
    (rows, labels)
}

fn design(rows: &[Vec<f64>]) -> DesignMatrix<f64> {
    DesignMatrix::rows(N, DIM, rows.concat()).unwrap()
}

fn losses(labels: &[f64]) -> [Loss; 2] {
    let signs: Vec<f64> = labels.iter().map(|label| label.signum()).collect();
    [Loss::least_squares(labels.to_vec()).unwrap(), Loss::logistic(&signs).unwrap()]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Keeps the entries of largest magnitude.
fn keep(x: &[f64], size: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|a, b| x[*b].abs().total_cmp(&x[*a].abs()));
    (0..x.len()).map(|j| if order[..size].contains(&j) { x[j] } else { 0.0 }).collect()
}

/// The rule for one output, with all rows in the batch, written down as in its docs.
fn choice(rows: &[Vec<f64>], sum: &FiniteSum, x: &[f64], mu: &[f64], k: usize, wanted: usize) -> Choice {
    let (h, ridge, n) = (sum.loss().curvature(), sum.ridge(), rows.len() as f64);
    let mean_square =
        |v: &[f64]| rows.iter().map(|row| dot(row, v)).map(|margin| margin * margin).sum::<f64>() / n;
    let on_support: Vec<f64> = mu.iter().zip(x).map(|(g, x)| if *x == 0.0 { 0.0 } else { *g }).collect();
    let p = if dot(&on_support, &on_support) > 0.0 { on_support } else { keep(mu, k) };
    let step = |eta: f64| keep(&x.iter().zip(mu).map(|(x, g)| x - eta * g).collect::<Vec<_>>(), k);
    let difference = |next: &[f64]| next.iter().zip(x).map(|(next, x)| next - x).collect::<Vec<f64>>();
    let along = dot(&p, &p) / (h * mean_square(&p) + ridge * dot(&p, &p));
    // The largest eigenvalue, by eight power iterations.
    let (mut direction, mut largest) = (difference(&step(along)), 0.0);
    let inside: Vec<bool> = direction.iter().map(|value| *value != 0.0).collect();
    for _ in 0..8 {
        let length = dot(&direction, &direction).sqrt();
        direction.iter_mut().for_each(|value| *value /= length);
        let margins: Vec<f64> = rows.iter().map(|row| dot(row, &direction)).collect();
        for j in (0..direction.len()).filter(|j| inside[*j]) {
            direction[j] = rows.iter().zip(&margins).map(|(row, margin)| row[j] * margin).sum::<f64>() / n;
        }
        largest = dot(&direction, &direction).sqrt();
    }
    let eta = along.min(1.0 / (h * largest + ridge));
    let next = step(eta);
    let union: Vec<usize> = (0..x.len()).filter(|j| x[*j] != 0.0 || next[*j] != 0.0).collect();
    let norm = union.iter().map(|j| rows.iter().map(|row| row[*j] * row[*j]).sum::<f64>() / n).sum::<f64>();
    let mut sizes: Vec<f64> = next.iter().map(|x| x.abs()).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let moved = difference(&next);
    let variance = eta * eta * h * h * mean_square(&moved) * norm / union.len() as f64;
    let noise = 2.0 * (x.len() as f64).ln() * variance / (0.3 * sizes[wanted - 1]).powi(2);
    let b = noise.max(4.0 * eta * (h * norm + ridge)).max(n / 20.0).ceil().min(n);
    Choice { batch: rows.len(), step_size: eta, mini_batch: b as usize }
}

#[test]
fn the_choice_is_that_of_the_formulas() {
    let (rows, labels) = data(1);
    for loss in losses(&labels) {
        let mut sum = FiniteSum::new(design(&rows), loss).unwrap().with_ridge(0.02).unwrap();
        let shape = Shape::of(&sum);
        let task = SolverTask { sparsity: 6, ..SolverTask::default() };
        let params = AutoParams { wanted: 3, ..AutoParams::of_part(shape, &task, [1.0, 1.0]) };
        assert_eq!(params.rule, RuleParams::default());
        let mut solver = params.scsg(shape, EpochLength::Ratio).unwrap();
        let mut rng = Seed::root(2).rng();
        let mut sizes = Vec::new();
        for _ in 0..6 {
            let x = solver.coefficients().coefficients[0].view().to_dense();
            let at =
                Predictor { coefficients: solver.coefficients().coefficients.clone(), intercepts: vec![0.0] };
            let mut gradient = lao_finite_sum::Gradient::default();
            sum.gradient(lao_finite_sum::Batch::All, &at, &mut gradient).unwrap();
            let mu: Vec<f64> =
                gradient.coefficients[0].iter().zip(&x).map(|(g, x)| g + sum.ridge() * x).collect();
            let expected = choice(&rows, &sum, &x, &mu, 6, 3);
            solver.step(&mut sum, &mut rng).unwrap();
            let chosen = solver.choice().unwrap();
            let near = (chosen.step_size / expected.step_size - 1.0).abs() < 1e-9;
            assert!(near && chosen.batch == N, "{chosen:?} is not {expected:?}");
            assert_eq!(chosen.mini_batch, expected.mini_batch);
            sizes.push(chosen.mini_batch);
            let round = solver.rounds() + 1;
            // The first step of an epoch looks at no row.
            assert_eq!(solver.next_calls(&sum), 0);
            while solver.rounds() < round {
                solver.step(&mut sum, &mut rng).unwrap();
            }
        }
        sizes.dedup();
        assert!(sizes.len() > 1, "all mini-batches are {sizes:?}");
    }
}

#[test]
fn batches_grow_and_a_run_says_what_was_chosen() {
    let (rows, labels) = data(3);
    let [squares, _] = losses(&labels);
    for (name, first) in
        [("scsg-ht-ii", 20), ("scsg-ht-i-pruned", 20), ("svrg-ht", N), ("sg-ht", 40), ("hsg-ht", 8)]
    {
        let mut sum = FiniteSum::new(design(&rows), squares.clone()).unwrap();
        let task = SolverTask { sparsity: 3, ..SolverTask::default() };
        let mut own = (solver(name).unwrap().build)(Shape::of(&sum), &task).unwrap();
        assert_eq!(own.choice(), None);
        let mut rng = Seed::root(4).rng();
        own.step(&mut sum, &mut rng).unwrap();
        let Choice { batch, step_size, mini_batch } = own.choice().unwrap();
        assert!(batch == first && step_size > 0.0 && (1..=batch).contains(&mini_batch), "{name}: {batch}");
        let given = SolverTask { step_size: Some(0.01), ..task };
        let mut given = (solver(name).unwrap().build)(Shape::of(&sum), &given).unwrap();
        given.step(&mut sum, &mut rng).unwrap();
        assert_eq!(given.choice(), None, "{name}");
    }
}

/// Least squares on some attributes: the mean of the squared residuals, and the coefficients.
fn fit(rows: &[Vec<f64>], labels: &[f64], support: &[usize]) -> (f64, Vec<f64>) {
    let size = support.len();
    let column = |j: usize| rows.iter().map(|row| row[j]).collect::<Vec<f64>>();
    let mut gram = vec![0.0; size * size];
    for (a, i) in support.iter().enumerate() {
        support.iter().enumerate().for_each(|(b, j)| gram[a * size + b] = dot(&column(*i), &column(*j)));
    }
    let mut x: Vec<f64> = support.iter().map(|j| dot(&column(*j), labels)).collect();
    solve_positive(&mut gram, &mut x);
    let fitted = |row: &[f64]| support.iter().zip(&x).map(|(j, x)| row[*j] * x).sum::<f64>();
    let loss = rows.iter().zip(labels).map(|(row, label)| (label - fitted(row)).powi(2)).sum::<f64>();
    (loss, x)
}

#[test]
fn pruning_drops_what_raises_least_squares_least() {
    for seed in 0..5 {
        let (rows, labels) = data(10 + seed);
        let mut sum = FiniteSum::new(design(&rows), Loss::least_squares(labels.clone()).unwrap()).unwrap();
        let shape = Shape::of(&sum);
        // With 3 of 80 rows' attributes wanted, the solver keeps 20 = n/4.
        let build = |name: &str, sparsity| {
            (solver(name).unwrap().build)(shape, &SolverTask { sparsity, ..SolverTask::default() }).unwrap()
        };
        let mut whole = AutoParams {
            wanted: 3,
            ..AutoParams::of_part(shape, &SolverTask { sparsity: 20, ..SolverTask::default() }, [1.0, 1.0])
        }
        .scsg(shape, EpochLength::Ratio)
        .unwrap();
        let limit = SolverLimit::after_rounds(1);
        let all = resume(&mut sum, &mut whole, &mut Seed::root(1).rng(), limit).unwrap().predictor;
        let mut left: Vec<usize> = all.coefficients[0].indices().iter().map(|j| *j as usize).collect();
        while left.len() > 3 {
            let without = |at: usize| {
                let others: Vec<usize> =
                    left.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, j)| *j).collect();
                fit(&rows, &labels, &others).0
            };
            let least = (0..left.len()).min_by(|a, b| without(*a).total_cmp(&without(*b))).unwrap();
            left.remove(least);
        }
        let mut pruned = build("svrg-ht-pruned", 3);
        let run = resume(&mut sum, &mut *pruned, &mut Seed::root(1).rng(), limit).unwrap().predictor;
        let found: Vec<usize> = run.coefficients[0].indices().iter().map(|j| *j as usize).collect();
        assert_eq!(found, left);
        for (x, expected) in run.coefficients[0].values().iter().zip(fit(&rows, &labels, &left).1) {
            assert!((x - expected).abs() < 1e-9, "{x} is not {expected}");
        }
    }
}

#[test]
fn a_pruned_classifier_is_at_the_minimum_on_its_attributes() {
    let (rows, labels) = data(20);
    let [_, logistic] = losses(&labels);
    let mut sum = FiniteSum::new(design(&rows), logistic).unwrap().with_ridge(0.01).unwrap().with_intercept();
    let task = SolverTask { sparsity: 3, ..SolverTask::default() };
    for name in ["scsg-ht-ii-pruned", "htp-pruned"] {
        let mut solver = (solver(name).unwrap().build)(Shape::of(&sum), &task).unwrap();
        let limit = SolverLimit::after_rounds(4);
        let run = resume(&mut sum, &mut *solver, &mut Seed::root(1).rng(), limit).unwrap().predictor;
        assert_eq!(run.coefficients[0].indices(), &[3, 17, 20], "{name}");
        let mut gradient = lao_finite_sum::Gradient::default();
        sum.gradient(lao_finite_sum::Batch::All, &run, &mut gradient).unwrap();
        for (j, x) in run.coefficients[0].view().iter() {
            assert!((gradient.coefficients[0][j as usize] + 0.01 * x).abs() < 1e-4, "{name}");
        }
        assert!(gradient.intercepts[0].abs() < 1e-4, "{name}");
    }
}
