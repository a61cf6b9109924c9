//! Exchange against single exchanges made by hand, and on designs that mislead steps along the gradient.

use lao_algorithms::thresholding::{
    ExchangeParams, GdParams, Shape, Solver, SolverEnd, SolverLimit, SolverTask, solve,
};
use lao_finite_sum::{
    Batch, DesignMatrix, FiniteSum, Gradient, Loss, NormalEquations, Predictor, Standardize,
};
use lao_kernels::{Compressed, SparseVector, solve_positive};
use lao_observation::{Rng, Seed};
use rand::RngExt as _;

fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// Rows of a chain whose neighbors have this correlation, column after column.
pub fn chain(rows: usize, dim: usize, correlation: f64, rng: &mut Rng) -> Vec<f64> {
    let rest = (1.0 - correlation * correlation).sqrt();
    let mut columns: Vec<f64> = (0..rows).map(|_| normal(rng)).collect();
    for j in 1..dim {
        for i in 0..rows {
            columns.push(correlation * columns[(j - 1) * rows + i] + rest * normal(rng));
        }
    }
    columns
}

/// Labels of `k` coefficients of 1 and -1, far from one another, with this noise.
pub fn labels(columns: &[f64], rows: usize, k: usize, noise: f64, rng: &mut Rng) -> (Vec<u32>, Vec<f64>) {
    let dim = columns.len() / rows;
    let support: Vec<u32> = (0..k).map(|a| (a * dim / k + rng.random_range(0..dim / k)) as u32).collect();
    let margin = |i: usize| {
        let sign = |a: usize| if a.is_multiple_of(2) { 1.0 } else { -1.0 };
        support.iter().enumerate().map(|(a, &j)| sign(a) * columns[j as usize * rows + i]).sum::<f64>()
    };
    let labels = (0..rows).map(|i| margin(i) + noise * normal(rng)).collect();
    (support, labels)
}

fn exchanged(sum: &mut FiniteSum, sparsity: usize, start: Option<Predictor>) -> Predictor {
    let mut solver = ExchangeParams::practical(&SolverTask { sparsity, start, step_size: None })
        .build(Shape::of(sum))
        .unwrap();
    let run = solve(sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(300)).unwrap();
    assert_eq!(run.outcome, SolverEnd::Settled);
    run.predictor
}

/// The lowest value of least squares on a support.
pub fn least(sum: &mut FiniteSum, support: &[u32]) -> f64 {
    let mut equations = NormalEquations::default();
    assert!(sum.normal_equations(support, &mut equations).unwrap());
    let NormalEquations { gram, right, .. } = &mut equations;
    solve_positive(gram, right);
    let x = SparseVector::new(sum.dim(), support.to_vec(), right.clone()).unwrap();
    let intercepts = vec![sum.best_intercept(&x).unwrap()];
    sum.objective(&Predictor { coefficients: vec![x], intercepts }).unwrap()
}

/// Asserts that every exchange of an attribute of `support` that is not in `always` for any other attribute
/// has a value above `value`.
fn assert_no_exchange_improves(sum: &mut FiniteSum, (support, always): (&[u32], &[u32]), value: f64) {
    for at in (0..support.len()).filter(|at| !always.contains(&support[*at])) {
        for j in (0..sum.dim() as u32).filter(|j| !support.contains(j)) {
            let mut other = support.to_vec();
            other[at] = j;
            other.sort_unstable();
            let lower = least(sum, &other);
            assert!(lower > value, "{support:?} with {j} for {}: {lower} for {value}", support[at]);
        }
    }
}

#[test]
fn a_settled_support_is_one_that_no_single_exchange_improves() {
    for seed in 0..12 {
        let mut rng = Seed::root(seed).rng();
        let (rows, dim, k) = (60, 40, 6);
        let columns = chain(rows, dim, 0.8, &mut rng);
        // Noise only, in every second sum: there are many minima.
        let noise = if seed.is_multiple_of(2) { 1.0 } else { 30.0 };
        let (_, labels) = labels(&columns, rows, k, noise, &mut rng);
        let mut loss = Loss::least_squares(labels).unwrap();
        if seed.is_multiple_of(3) {
            let weights: Vec<f64> = (0..rows).map(|i| (i % 4) as f64).collect();
            loss = loss.with_weights(&weights).unwrap();
        }
        let design = DesignMatrix::columns(rows, dim, columns).unwrap();
        let mut sum = FiniteSum::new(design, loss).unwrap().with_ridge(0.1 * (seed % 4) as f64).unwrap();
        if seed % 4 > 1 {
            sum = sum.standardized(Standardize::CenterAndScale).unwrap();
        }
        if seed % 4 > 0 {
            sum = sum.with_intercept();
        }
        let found = exchanged(&mut sum, k, None);
        let value = sum.objective(&found).unwrap();
        let support = found.coefficients[0].indices().to_vec();
        assert_eq!(support.len(), k);
        assert!((least(&mut sum, &support) - value).abs() < 1e-9 * value);
        assert_no_exchange_improves(&mut sum, (&support, &[]), value * (1.0 - 1e-7));
        // A start that is settled is left as it is.
        let again = exchanged(&mut sum, k, Some(found.clone()));
        assert_eq!(again.coefficients[0].indices(), &support[..]);
    }
}

#[test]
fn a_certified_support_is_one_that_no_exchange_with_any_attribute_improves() {
    let mut changed = 0;
    for seed in 0..20 {
        let mut rng = Seed::root(300 + seed).rng();
        let (rows, dim, k) = (50, 400, 4);
        let columns = chain(rows, dim, 0.97, &mut rng);
        let (_, labels) = labels(&columns, rows, k, 2.0, &mut rng);
        let design = DesignMatrix::columns(rows, dim, columns).unwrap();
        let loss = Loss::least_squares(labels).unwrap();
        let mut sum = FiniteSum::new(design, loss).unwrap().with_ridge(0.01 * (seed % 2) as f64).unwrap();
        if seed % 3 > 0 {
            sum = sum.with_intercept();
        }
        let plain = exchanged(&mut sum, k, None);
        let task = SolverTask { sparsity: k, ..SolverTask::default() };
        let params = ExchangeParams { certify: true, ..ExchangeParams::practical(&task) };
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        let found = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::default()).unwrap().predictor;
        assert!(solver.is_certified());
        let (value, before) = (sum.objective(&found).unwrap(), sum.objective(&plain).unwrap());
        assert!(value <= before * (1.0 + 1e-9));
        changed += u32::from(value < before * (1.0 - 1e-7));
        let support = found.coefficients[0].indices().to_vec();
        assert_no_exchange_improves(&mut sum, (&support, &[]), value * (1.0 - 2e-6));
    }
    assert!(changed > 0, "the certificate never changed an answer");
}

#[test]
fn attributes_that_are_always_wanted_stay_and_the_others_are_the_best_beside_them() {
    for seed in 0..6 {
        let mut rng = Seed::root(400 + seed).rng();
        let (rows, dim, k) = (60, 30, 4);
        let columns = chain(rows, dim, 0.7, &mut rng);
        let (_, labels) = labels(&columns, rows, k, 1.0, &mut rng);
        let classes: Vec<f64> = labels.iter().map(|label| (label.clamp(-1.5, 1.5) + 1.5).floor()).collect();
        for loss in [Loss::least_squares(labels.clone()).unwrap(), Loss::softmax(&classes).unwrap()] {
            let design = DesignMatrix::columns(rows, dim, columns.clone()).unwrap();
            let mut sum = FiniteSum::new(design, loss).unwrap().with_intercept().with_ridge(0.05).unwrap();
            let start = seed.is_multiple_of(2).then(|| Predictor {
                coefficients: vec![
                    SparseVector::new(dim, vec![1, 2, 3, 4], vec![1.0; 4]).unwrap();
                    sum.outputs()
                ],
                intercepts: vec![0.0; sum.outputs()],
            });
            let task = SolverTask { sparsity: k, start, step_size: None };
            let always = vec![7, 29];
            let params =
                ExchangeParams { always: always.clone(), certify: true, ..ExchangeParams::practical(&task) };
            let mut solver = params.build(Shape::of(&sum)).unwrap();
            let run = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(300)).unwrap();
            for x in &run.predictor.coefficients {
                assert!(x.len() == k && always.iter().all(|j| x.indices().contains(j)), "{:?}", x.indices());
            }
            if sum.loss().squares().is_none() {
                continue;
            }
            let (support, value) =
                (run.predictor.coefficients[0].indices().to_vec(), sum.objective(&run.predictor).unwrap());
            assert_no_exchange_improves(&mut sum, (&support, &always), value * (1.0 - 1e-7));
        }
    }
    let rows = DesignMatrix::columns(2, 3, vec![0.0; 6]).unwrap();
    let sum = FiniteSum::new(rows, Loss::least_squares(vec![1.0, 2.0]).unwrap()).unwrap();
    for always in [vec![3], vec![1, 0], vec![0, 0], vec![0, 1, 2]] {
        let task = SolverTask { sparsity: 2, ..SolverTask::default() };
        let params = ExchangeParams { always, ..ExchangeParams::practical(&task) };
        assert_eq!(params.build(Shape::of(&sum)).unwrap_err().field, "always");
    }
}

/// The groups of some attributes, ascending.
fn groups_of(attributes: &[u32], groups: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = attributes.iter().map(|&j| groups[j as usize]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn no_exchange_of_two_groups_improves_a_settled_support() {
    for seed in 0..12 {
        let mut rng = Seed::root(600 + seed).rng();
        let (rows, dim, k) = (90, 36, 3);
        let columns = chain(rows, dim, 0.7, &mut rng);
        // Groups of one to four attributes, which are no neighbors.
        let groups: Vec<u32> = (0..dim as u32).map(|j| (j * j + 3 * j) % 16).collect();
        let noise = if seed.is_multiple_of(2) { 1.0 } else { 30.0 };
        let (_, labels) = labels(&columns, rows, 5, noise, &mut rng);
        let mut loss = Loss::least_squares(labels).unwrap();
        if seed.is_multiple_of(3) {
            loss = loss.with_weights(&(0..rows).map(|i| (i % 4) as f64).collect::<Vec<f64>>()).unwrap();
        }
        let design = DesignMatrix::columns(rows, dim, columns).unwrap();
        let mut sum = FiniteSum::new(design, loss).unwrap().with_ridge(0.1 * (seed % 3) as f64).unwrap();
        if seed % 4 > 0 {
            sum = sum.with_intercept();
        }
        let always = if seed % 5 == 4 { vec![7] } else { Vec::new() };
        let task = SolverTask { sparsity: k, ..SolverTask::default() };
        let params = ExchangeParams { groups: groups.clone(), always, ..ExchangeParams::practical(&task) };
        let fixed = groups_of(&params.always, &groups);
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        let run = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(300)).unwrap();
        assert_eq!(run.outcome, SolverEnd::Settled);
        let support = run.predictor.coefficients[0].indices().to_vec();
        let inside = groups_of(&support, &groups);
        assert_eq!(inside.len(), k);
        assert!(fixed.iter().all(|group| inside.contains(group)));
        let all_of = |inside: &[u32]| -> Vec<u32> {
            (0..dim as u32).filter(|j| inside.contains(&groups[*j as usize])).collect()
        };
        assert_eq!(support, all_of(&inside));
        let value = sum.objective(&run.predictor).unwrap();
        assert!((least(&mut sum, &support) - value).abs() < 1e-9 * value);
        for out in inside.iter().filter(|out| !fixed.contains(out)) {
            for into in (0..16).filter(|into| !inside.contains(into) && groups.contains(into)) {
                let mut other: Vec<u32> = inside.iter().copied().filter(|group| group != out).collect();
                other.push(into);
                let lower = least(&mut sum, &all_of(&other));
                assert!(lower > value * (1.0 - 1e-7), "{into} for {out}: {lower} for {value}");
            }
        }
        // A start that is settled is left as it is.
        let start = Some(run.predictor);
        let params = ExchangeParams { groups, start, ..ExchangeParams::practical(&task) };
        if fixed.is_empty() {
            let mut solver = params.build(Shape::of(&sum)).unwrap();
            let again = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(300)).unwrap();
            assert_eq!(again.predictor.coefficients[0].indices(), &support[..]);
        }
    }
}

#[test]
fn groups_that_depend_on_the_intercept_lose_their_last_attribute() {
    // Each of three columns has three words; the second decides the label.
    let rows = 60;
    let word = |i: usize, column: usize| i / [1, 3, 9][column] % 3;
    let columns: Vec<f64> =
        (0..9).flat_map(|j| (0..rows).map(move |i| f64::from(u8::from(word(i, j / 3) == j % 3)))).collect();
    let numbers: Vec<f64> = (0..rows).map(|i| [0.0, 1.0, 3.0][word(i, 1)]).collect();
    let signs: Vec<f64> = numbers.iter().map(|y| if *y > 2.0 { 1.0 } else { -1.0 }).collect();
    for loss in [Loss::least_squares(numbers).unwrap(), Loss::logistic(&signs).unwrap()] {
        let design = DesignMatrix::columns(rows, 9, columns.clone()).unwrap();
        let ridge = if loss.squares().is_some() { 0.0 } else { 1e-3 };
        let mut sum = FiniteSum::new(design, loss).unwrap().with_ridge(ridge).unwrap().with_intercept();
        let task = SolverTask { sparsity: 1, ..SolverTask::default() };
        let params =
            ExchangeParams { groups: vec![0, 0, 0, 1, 1, 1, 2, 2, 2], ..ExchangeParams::practical(&task) };
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        let found = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(50)).unwrap();
        let x = found.predictor.coefficients[0].view();
        assert!(x.indices().iter().all(|j| (3..6).contains(j)) && x.len() >= 2, "{:?}", x.indices());
        assert!(x.values().iter().all(|b| b.abs() < 100.0), "{x:?}");
    }
}

#[test]
fn attributes_whose_neighbors_stand_for_them_are_found() {
    let (mut found, mut by_htp) = (0, 0);
    for seed in 0..10 {
        let mut rng = Seed::root(100 + seed).rng();
        let (rows, dim, k) = (300, 1500, 10);
        let columns = chain(rows, dim, 0.95, &mut rng);
        let (support, labels) = labels(&columns, rows, k, 0.5, &mut rng);
        let design = DesignMatrix::columns(rows, dim, columns).unwrap();
        let mut sum = FiniteSum::new(design, Loss::least_squares(labels).unwrap()).unwrap();
        let goal = 1.01 * least(&mut sum, &support);
        let predictor = exchanged(&mut sum, k, None);
        found += u32::from(sum.objective(&predictor).unwrap() <= goal);
        let task = SolverTask { sparsity: k, ..SolverTask::default() };
        let mut htp = GdParams::practical(&task).build(Shape::of(&sum)).unwrap();
        let run = solve(&mut sum, &mut htp, &Seed::root(1), SolverLimit::after_rounds(200)).unwrap();
        by_htp += u32::from(sum.objective(&run.predictor).unwrap() <= goal);
    }
    assert!(found == 10 && by_htp < 5, "{found} and {by_htp}");
}

#[test]
fn classes_are_minimized_over_a_support_that_no_gradient_step_betters() {
    for seed in 0..8 {
        let mut rng = Seed::root(200 + seed).rng();
        let (rows, dim, k) = (400, 200, 5);
        let columns = chain(rows, dim, 0.7, &mut rng);
        let (_, margins) = labels(&columns, rows, k, 1.5, &mut rng);
        let loss = if seed.is_multiple_of(2) {
            Loss::logistic(&margins.iter().map(|m| f64::from(u8::from(*m > 0.5))).collect::<Vec<_>>())
        } else {
            let class = |m: &f64| {
                if *m < -1.0 {
                    0.0
                } else if *m < 1.0 {
                    1.0
                } else {
                    2.0
                }
            };
            Loss::softmax(&margins.iter().map(class).collect::<Vec<_>>())
        };
        let design = DesignMatrix::columns(rows, dim, columns).unwrap();
        let sum = FiniteSum::new(design, loss.unwrap()).unwrap().with_ridge(1e-3).unwrap();
        let mut sum = sum.standardized(Standardize::CenterAndScale).unwrap().with_intercept();
        let found = exchanged(&mut sum, k, None);
        let value = sum.objective(&found).unwrap();
        let mut gradient = Gradient::default();
        sum.gradient(Batch::All, &found, &mut gradient).unwrap();
        for (x, gradient) in found.coefficients.iter().zip(&gradient.coefficients) {
            assert_eq!(x.len(), k);
            for (j, b) in x.view().iter() {
                assert!((gradient[j as usize] + 1e-3 * b).abs() < 1e-4, "seed {seed}: {j} moves");
            }
        }
        let task = SolverTask { sparsity: k, ..SolverTask::default() };
        let mut htp = GdParams::practical(&task).build(Shape::of(&sum)).unwrap();
        let run = solve(&mut sum, &mut htp, &Seed::root(1), SolverLimit::after_rounds(100)).unwrap();
        let other = sum.objective(&run.predictor).unwrap();
        assert!(value <= other * (1.0 + 1e-6), "seed {seed}: {value}, HTP {other}");
    }
}

#[test]
fn all_layouts_and_numbers_of_threads_have_one_answer() {
    let mut rng = Seed::root(300).rng();
    let (rows, dim, k) = (1100, 600, 8);
    let columns = chain(rows, dim, 0.9, &mut rng);
    let (_, labels) = labels(&columns, rows, k, 1.0, &mut rng);
    let by_rows: Vec<f64> =
        (0..rows).flat_map(|i| columns.iter().skip(i).step_by(rows).copied().collect::<Vec<_>>()).collect();
    let sparse = Compressed::from_dense(dim, &by_rows).unwrap();
    let designs = [
        DesignMatrix::columns(rows, dim, columns.clone()).unwrap(),
        DesignMatrix::rows(rows, dim, by_rows).unwrap(),
        DesignMatrix::compressed_columns(sparse.transpose()),
        DesignMatrix::compressed_rows(sparse),
    ];
    for loss in [
        Loss::least_squares(labels.clone()),
        Loss::logistic(&labels.iter().map(|y| f64::from(u8::from(*y > 0.0))).collect::<Vec<_>>()),
    ] {
        let loss = loss.unwrap();
        let mut answers = Vec::new();
        for design in &designs {
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut sum = FiniteSum::new(design.clone(), loss.clone()).unwrap().with_intercept();
                pool.install(|| exchanged(&mut sum, k, None))
            };
            let one = on(1);
            assert!([2, 5].iter().all(|&threads| on(threads) == one));
            answers.push(one);
        }
        for other in &answers[1..] {
            assert_eq!(other.coefficients[0].indices(), answers[0].coefficients[0].indices());
            assert!(other.distance_squared(&answers[0]) < 1e-14);
        }
    }
}

#[test]
fn more_attributes_than_rows_or_columns_and_equal_columns_are_no_trouble() {
    let mut rng = Seed::root(400).rng();
    for (rows, dim, k) in [(5, 30, 8), (30, 4, 9), (20, 10, 10), (1, 3, 2)] {
        let mut columns = chain(rows, dim, 0.3, &mut rng);
        // Two equal columns, and a constant one.
        columns.copy_within(0..rows, rows);
        columns[2 * rows..3 * rows].fill(1.0);
        let y: Vec<f64> = (0..rows).map(|_| normal(&mut rng)).collect();
        for intercept in [false, true] {
            let design = DesignMatrix::columns(rows, dim, columns.clone()).unwrap();
            let mut sum = FiniteSum::new(design, Loss::least_squares(y.clone()).unwrap()).unwrap();
            if intercept {
                sum = sum.with_intercept();
            }
            let found = exchanged(&mut sum, k, None);
            assert!(found.coefficients[0].len() <= k);
            let all: Vec<u32> = (0..dim as u32).collect();
            let value = sum.objective(&found).unwrap();
            assert!(k < dim.min(rows) || value <= least(&mut sum, &all) + 1e-9, "{rows} x {dim}: {value}");
        }
    }
}
