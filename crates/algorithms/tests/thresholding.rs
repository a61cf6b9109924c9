//! The hard-thresholding solvers against dense twins, their counts, and what they must find.

use lao_algorithms::thresholding::{
    EpochLength, GdParams, GdStep, HsgParams, ScsgParams, SgParams, Shape, Solver, SolverEnd, SolverLimit,
    SolverProgress, SolverTask, SvrgParams, path, solve, solve_traced,
};
use lao_finite_sum::{
    Batch, Coding, DesignMatrix, Entries, FiniteSum, Gradient, Loss, Predictor, RowBuf, Standardize,
};
use lao_kernels::{Compressed, SparseVector};
use lao_observation::sample::SubsetSampler;
use lao_observation::{Rng, Seed};
use rand::RngExt;

const N: usize = 30;
const DIM: usize = 40;

/// Returns a table whose columns have at least three entries each. Columns with a single entry in the same
/// row would be equal once standardized, and rounding would break such ties.
fn table(density: f64) -> Vec<f64> {
    let mut rng = Seed::root(1).child("table").rng();
    let mut table: Vec<f64> = (0..N * DIM)
        .map(|_| if rng.random::<f64>() < density { rng.random_range(-1.0..1.0) } else { 0.0 })
        .collect();
    for j in 0..DIM {
        while table.iter().skip(j).step_by(DIM).filter(|value| **value != 0.0).count() < 3 {
            table[rng.random_range(0..N) * DIM + j] = rng.random_range(-1.0..1.0);
        }
    }
    table
}

fn compressed(table: &[f64]) -> Compressed<f64> {
    Compressed::from_dense(DIM, table).unwrap()
}

fn transposed(table: &[f64]) -> Vec<f64> {
    (0..DIM).flat_map(|j| table.iter().skip(j).step_by(DIM).copied()).collect()
}

fn layouts(table: &[f64]) -> Vec<DesignMatrix<f64>> {
    vec![
        DesignMatrix::compressed_rows(compressed(table)),
        DesignMatrix::compressed_columns(compressed(table).transpose()),
        DesignMatrix::rows(N, DIM, table.to_vec()).unwrap(),
        DesignMatrix::columns(N, DIM, transposed(table)).unwrap(),
    ]
}

fn losses() -> Vec<Loss> {
    let labels: Vec<f64> = (0..N).map(|i| (i * 7 % 5) as f64).collect();
    let binary: Vec<f64> = labels.iter().map(|&label| if label > 2.0 { 1.0 } else { -1.0 }).collect();
    vec![
        Loss::least_squares(labels.clone()).unwrap(),
        Loss::logistic(&binary).unwrap(),
        Loss::softmax(&labels).unwrap(),
    ]
}

/// Returns sums of all losses, layouts and ways to standardize, with an l2 term, with and without intercept,
/// and with components of three rows and of one.
fn sums(density: f64) -> Vec<FiniteSum> {
    let (table, mut sums) = (table(density), Vec::new());
    for loss in losses() {
        for how in [Standardize::No, Standardize::Scale, Standardize::CenterAndScale] {
            for examples in layouts(&table) {
                let sum = FiniteSum::new(examples, loss.clone()).unwrap().with_ridge(0.05).unwrap();
                let sum = sum.standardized(how).unwrap();
                let sum = if how == Standardize::Scale { sum.with_intercept() } else { sum };
                sums.extend([sum.clone().in_blocks(3).unwrap(), sum]);
            }
        }
    }
    sums
}

fn predictor(sum: &FiniteSum, seed: u64) -> Predictor {
    let mut rng = Seed::root(seed).rng();
    let mut at = Predictor::zeros(sum.dim(), sum.outputs());
    for l in 0..sum.outputs() {
        let dense: Vec<f64> = (0..sum.dim())
            .map(|_| if rng.random::<f64>() < 0.2 { rng.random_range(-1.0..1.0) } else { 0.0 })
            .collect();
        at.coefficients[l] = SparseVector::from_dense(&dense);
        at.intercepts[l] = if sum.has_intercept() { rng.random_range(-1.0..1.0) } else { 0.0 };
    }
    at
}

/// Returns one component's row, with its zeros.
fn dense_row(sum: &FiniteSum, i: usize) -> Vec<f64> {
    let mut buffer = RowBuf::default();
    let mut row = match sum.row(i, &mut buffer) {
        Entries::Dense(values) => values.to_vec(),
        Entries::Sparse(indices, values) => {
            SparseVector::new(sum.dim(), indices.to_vec(), values.to_vec()).unwrap().view().to_dense()
        }
    };
    if let Some(offset) = sum.offset() {
        row.iter_mut().zip(offset).for_each(|(value, offset)| *value -= offset);
    }
    row
}

/// Returns the mean gradient over components, l2 term included, and that of the intercept, per output.
fn naive_gradient(
    sum: &FiniteSum,
    components: &[u32],
    x: &[Vec<f64>],
    intercepts: &[f64],
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let (mut gradient, mut of_intercepts) = (vec![vec![0.0; sum.dim()]; x.len()], vec![0.0; x.len()]);
    let weight = 1.0 / (components.len() * sum.block()) as f64;
    for &z in components {
        let component = sum.component(z as usize);
        for i in component.rows() {
            let row = dense_row(sum, i);
            let dot = |x: &Vec<f64>| row.iter().zip(x).map(|(z, x)| z * x).sum::<f64>();
            let mut slopes: Vec<f64> = x.iter().zip(intercepts).map(|(x, a)| dot(x) + a).collect();
            component.slopes(i, &mut slopes);
            for (l, slope) in slopes.iter().enumerate() {
                gradient[l].iter_mut().zip(&row).for_each(|(g, z)| *g += weight * slope * z);
                of_intercepts[l] += weight * slope;
            }
        }
    }
    for (gradient, x) in gradient.iter_mut().zip(x) {
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g += sum.ridge() * x);
    }
    (gradient, of_intercepts)
}

fn naive_threshold(x: &mut [f64], k: usize) {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&i, &j| x[j].abs().total_cmp(&x[i].abs()).then(i.cmp(&j)));
    order.into_iter().skip(k).for_each(|j| x[j] = 0.0);
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn gradients_agree_with_the_definition_in_every_layout() {
    for mut sum in sums(0.2) {
        let at = predictor(&sum, 7);
        let x: Vec<Vec<f64>> = at.coefficients.iter().map(|x| x.view().to_dense()).collect();
        let (all, some): (Vec<u32>, Vec<u32>) = ((0..sum.len() as u32).collect(), vec![1, 4, 5, 9]);
        for (batch, rows) in [(Batch::All, &all), (Batch::Components(&some), &some)] {
            let before = sum.meter().calls;
            let mut gradient = Gradient::default();
            sum.gradient(batch, &at, &mut gradient).unwrap();
            assert_eq!(sum.meter().calls - before, rows.len() as u64);
            let (naive, of_intercepts) = naive_gradient(&sum, rows, &x, &at.intercepts);
            for l in 0..sum.outputs() {
                for j in 0..DIM {
                    let ours = gradient.coefficients[l][j] + sum.ridge() * x[l][j];
                    assert!(close(ours, naive[l][j]), "{ours} is not {}", naive[l][j]);
                }
                let expected = if sum.has_intercept() { of_intercepts[l] } else { 0.0 };
                assert!(close(gradient.intercepts[l], expected));
            }
        }
    }
}

#[test]
fn gradients_are_central_differences_of_the_score() {
    for mut sum in sums(0.2) {
        let at = predictor(&sum, 8);
        let mut gradient = Gradient::default();
        sum.gradient(Batch::All, &at, &mut gradient).unwrap();
        let (l, j, h) = (sum.outputs() - 1, 3_u32, 1e-5);
        let mut moved = |step: f64| {
            let mut to = at.clone();
            let mut dense = at.coefficients[l].view().to_dense();
            dense[j as usize] += step;
            to.coefficients[l] = SparseVector::from_dense(&dense);
            sum.objective(&to).unwrap()
        };
        let slope = (moved(h) - moved(-h)) / (2.0 * h);
        let ours = gradient.coefficients[l][j as usize] + 0.05 * at.coefficients[l].view().get(j);
        assert!((slope - ours).abs() < 1e-6 * (1.0 + slope.abs()), "{slope} is not {ours}");
    }
}

/// Algorithm 1 with dense loops, drawing as the solver does.
#[test]
fn scsg_agrees_with_its_dense_twin_step_by_step() {
    for density in [0.06, 0.5] {
        for mut sum in sums(density) {
            let n = sum.len();
            for (batch, mini_batch, sparsity) in [(n, 1, 5), (n * 2 / 5, n / 10, 8), (n / 3, 1, DIM)] {
                let eta = 0.3 / sum.component_smoothness();
                let length = EpochLength::Ratio;
                let params = ScsgParams { sparsity, step_size: eta, batch, mini_batch, length, start: None };
                let mut solver = params.build(Shape::of(&sum)).unwrap();
                let (mut ours, mut twin) = (Seed::root(3).rng(), Seed::root(3).rng());
                let mut sampler = SubsetSampler::new(n);
                let mut draw = |size: usize, rng: &mut Rng| {
                    let mut drawn = Vec::new();
                    match size {
                        size if size == n => drawn.extend(0..n as u32),
                        1 => drawn.push(rng.random_range(0..n) as u32),
                        _ => sampler.draw(size, rng, &mut drawn),
                    }
                    drawn
                };
                let outputs = sum.outputs();
                let (mut x, mut a) = (vec![vec![0.0; DIM]; outputs], vec![0.0; outputs]);
                for _epoch in 0..4 {
                    assert_eq!(solver.step(&mut sum, &mut ours).unwrap(), SolverProgress::Evaluated);
                    let (anchor, anchor_a) = (x.clone(), a.clone());
                    let rows = draw(batch, &mut twin);
                    let (mu, mu_a) = naive_gradient(&sum, &rows, &x, &a);
                    for _ in 0..batch / mini_batch {
                        let before = sum.meter();
                        assert_eq!(solver.step(&mut sum, &mut ours).unwrap(), SolverProgress::Moved);
                        assert_eq!(sum.meter().calls - before.calls, 2 * mini_batch as u64);
                        assert_eq!(sum.meter().thresholds - before.thresholds, 1);
                        let rows = draw(mini_batch, &mut twin);
                        let (here, here_a) = naive_gradient(&sum, &rows, &x, &a);
                        let (there, there_a) = naive_gradient(&sum, &rows, &anchor, &anchor_a);
                        for l in 0..outputs {
                            for j in 0..DIM {
                                x[l][j] -= eta * (here[l][j] - there[l][j] + mu[l][j]);
                            }
                            naive_threshold(&mut x[l], sparsity);
                            if sum.has_intercept() {
                                a[l] -= eta * (here_a[l] - there_a[l] + mu_a[l]);
                            }
                        }
                        let found = solver.coefficients();
                        for l in 0..outputs {
                            assert!(found.coefficients[l].len() <= sparsity);
                            let dense = found.coefficients[l].view().to_dense();
                            assert!(
                                dense.iter().zip(&x[l]).all(|(a, b)| close(*a, *b)),
                                "{dense:?} is not {:?}",
                                x[l]
                            );
                            assert!(close(found.intercepts[l], a[l]));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn scsg_with_all_components_and_option_ii_is_svrg_bit_for_bit() {
    for mut sum in sums(0.1) {
        let start = None;
        let (sparsity, step_size) = (6, 0.2 / sum.component_smoothness());
        let n = sum.len();
        let (batch, mini_batch, length) = (n, n / 10, EpochLength::Ratio);
        let scsg = ScsgParams { sparsity, step_size, batch, mini_batch, length, start: start.clone() };
        let svrg = SvrgParams { sparsity, step_size, mini_batch, steps: (n / mini_batch) as u64, start };
        let shape = Shape::of(&sum);
        let mut run = |mut solver: Box<dyn Solver>| {
            sum.reset_meter();
            let run =
                solve_traced(&mut sum, &mut *solver, &Seed::root(5), SolverLimit::after_rounds(3)).unwrap();
            assert_eq!(sum.meter().calls, 3 * (n + 2 * n) as u64);
            assert_eq!(sum.meter().thresholds, 3 * (n / mini_batch) as u64);
            run
        };
        assert_eq!(run(Box::new(scsg.build(shape).unwrap())), run(Box::new(svrg.build(shape).unwrap())));
    }
}

#[test]
fn every_count_is_the_sum_of_its_steps_and_stays_within_budget() {
    for mut sum in sums(0.1) {
        let (shape, sparsity, step_size) = (Shape::of(&sum), 6, 0.1 / sum.component_smoothness());
        let start = || None;
        let length = EpochLength::Geometric;
        let scsg = ScsgParams { sparsity, step_size, batch: 8, mini_batch: 2, length, start: start() };
        let gd = GdParams { sparsity, step: GdStep::Fixed(step_size), refit: false, start: start() };
        let solvers: [Box<dyn Solver>; 5] = [
            Box::new(gd.build(shape).unwrap()),
            Box::new(SgParams { sparsity, step_size, batch: 4, start: start() }.build(shape).unwrap()),
            Box::new(
                HsgParams { sparsity, step_size, first: 2.0, growth: 1.3, start: start() }
                    .build(shape)
                    .unwrap(),
            ),
            Box::new(
                SvrgParams { sparsity, step_size, mini_batch: 1, steps: 9, start: start() }
                    .build(shape)
                    .unwrap(),
            ),
            Box::new(scsg.build(shape).unwrap()),
        ];
        for mut solver in solvers {
            sum.reset_meter();
            let mut rng = Seed::root(2).rng();
            let (mut expected, mut moves) = (0, 0);
            for _ in 0..60 {
                expected += solver.next_calls(&sum);
                moves += u64::from(solver.step(&mut sum, &mut rng).unwrap() == SolverProgress::Moved);
            }
            assert_eq!((sum.meter().calls, sum.meter().thresholds), (expected, moves));

            sum.reset_meter();
            let run = solve(&mut sum, &mut *solver, &Seed::root(9), SolverLimit::after_calls(401)).unwrap();
            assert_eq!(run.outcome, SolverEnd::Calls);
            assert!(sum.meter().calls <= 401 && sum.meter().calls + solver.next_calls(&sum) > 401);
        }
    }
}

/// Returns a table, the labels that a 3-sparse predictor explains exactly, and this predictor.
fn planted() -> (Vec<f64>, Vec<f64>, SparseVector) {
    let table = table(0.9);
    let truth = SparseVector::new(DIM, vec![3, 17, 31], vec![1.5, -2.0, 1.0]).unwrap();
    let labels = table.chunks(DIM).map(|row| 0.7 + truth.view().dot_dense(row)).collect();
    (table, labels, truth)
}

#[test]
fn refit_recovers_a_planted_predictor_with_its_intercept() {
    let (table, labels, truth) = planted();
    for how in [Standardize::No, Standardize::Scale, Standardize::CenterAndScale] {
        for examples in layouts(&table) {
            let sum = FiniteSum::new(examples, Loss::least_squares(labels.clone()).unwrap()).unwrap();
            let mut sum = sum.with_intercept().standardized(how).unwrap();
            let mut solver = GdParams::practical(&sparse(3)).build(Shape::of(&sum)).unwrap();
            let run =
                solve_traced(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(50)).unwrap();
            assert_eq!(run.outcome, SolverEnd::Settled);
            let found = sum.to_original_scale(&run.predictor).unwrap();
            assert_eq!(found.coefficients[0].indices(), truth.indices(), "{how:?}");
            assert!(found.coefficients[0].values().iter().zip(truth.values()).all(|(a, b)| close(*a, *b)));
            assert!(close(found.intercepts[0], 0.7));
        }
    }
}

#[test]
fn normalized_steps_never_raise_the_objective() {
    for mut sum in sums(0.4) {
        let params = GdParams { refit: false, ..GdParams::practical(&sparse(5)) };
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        let run = solve_traced(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(25)).unwrap();
        for pair in run.trace.windows(2) {
            assert!(pair[1].objective <= pair[0].objective + 1e-12, "{pair:?}");
        }
    }
}

fn sparse(sparsity: usize) -> SolverTask {
    SolverTask { sparsity, ..SolverTask::default() }
}

#[test]
fn a_path_starts_each_sparsity_at_the_last_answer_and_improves() {
    let mut sum = sums(0.4).swap_remove(0);
    let shape = Shape::of(&sum);
    let build = |k, start| GdParams::practical(&SolverTask { start, ..sparse(k) }).build(shape);
    let points = path(&mut sum, &[1, 2, 4, 8], build, &Seed::root(1), SolverLimit::after_rounds(30)).unwrap();
    assert!(points.windows(2).all(|pair| pair[1].objective <= pair[0].objective));
    assert!(points.iter().all(|point| point.run.predictor.coefficients[0].len() <= point.sparsity));
}

/// Returns the sum of three examples with one attribute each. The gradient on the support of its restricted
/// minimizers is exactly zero.
fn identity(labels: [f64; 3]) -> FiniteSum {
    let rows = DesignMatrix::rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    FiniteSum::new(rows, Loss::least_squares(labels.to_vec()).unwrap()).unwrap()
}

#[test]
fn a_start_that_minimizes_over_a_smaller_support_is_no_fixed_point() {
    for refit in [true, false] {
        let mut sum = identity([3.0, 0.0, -1.0]);
        let shape = Shape::of(&sum);
        let build = |k, start| {
            GdParams { refit, ..GdParams::practical(&SolverTask { start, ..sparse(k) }) }.build(shape)
        };
        let stop = SolverLimit::after_rounds(20);
        let points = path(&mut sum, &[1, 2, 3], build, &Seed::root(1), stop).unwrap();
        let found: Vec<_> =
            points.iter().map(|point| point.run.predictor.coefficients[0].view().to_dense()).collect();
        assert_eq!(found, [[3.0, 0.0, 0.0], [3.0, 0.0, -1.0], [3.0, 0.0, -1.0]]);
        assert!(points.iter().all(|point| point.run.outcome == SolverEnd::Settled), "refit: {refit}");
    }
}

#[test]
fn a_start_that_minimizes_over_the_wrong_support_is_left() {
    for refit in [true, false] {
        let mut sum = identity([3.0, 0.0, -1.0]);
        let mut start = Predictor::zeros(3, 1);
        start.coefficients[0] = SparseVector::new(3, vec![2], vec![-1.0]).unwrap();
        let task = SolverTask { start: Some(start), ..sparse(1) };
        let params = GdParams { refit, ..GdParams::practical(&task) };
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        let run = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(20)).unwrap();
        assert_eq!(run.predictor.coefficients[0].view().to_dense(), [3.0, 0.0, 0.0]);
        assert_eq!(run.outcome, SolverEnd::Settled);
    }
}

#[test]
fn empty_rows_zero_and_duplicate_columns_one_class_and_fewer_rows_than_k_are_ordinary() {
    let mut table = table(0.3);
    for row in table.chunks_mut(DIM) {
        row[5] = 0.0;
        row[9] = row[8];
    }
    table[..DIM].fill(0.0);
    let signs = Coding::TwoClasses { negative: -1.0, positive: 1.0 };
    let of_one_class = [Loss::coded(&[1.0; N], signs).unwrap(), Loss::softmax(&[1.0; N]).unwrap()];
    for (loss, sparsity) in losses().into_iter().chain(of_one_class).zip([N + 5, DIM + 5].into_iter().cycle())
    {
        for examples in layouts(&table) {
            let sum = FiniteSum::new(examples, loss.clone()).unwrap();
            let mut sum = sum.standardized(Standardize::CenterAndScale).unwrap().with_intercept();
            let mut solver = GdParams::practical(&sparse(sparsity)).build(Shape::of(&sum)).unwrap();
            let run =
                solve_traced(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(5)).unwrap();
            assert!(run.trace.iter().all(|point| point.objective.is_finite()));
        }
    }
}

#[test]
fn the_control_variate_takes_the_error_below_the_floor_of_plain_steps() {
    let (table, mut labels, _) = planted();
    labels.iter_mut().enumerate().for_each(|(i, label)| *label += ((i * 37 % 11) as f64 - 5.0) * 0.05);
    let examples = DesignMatrix::rows(N, DIM, table).unwrap();
    let mut sum = FiniteSum::new(examples, Loss::least_squares(labels).unwrap()).unwrap();
    let (shape, step_size) = (Shape::of(&sum), 0.2 / sum.component_smoothness());
    let best = GdParams::practical(&sparse(3)).build(shape).unwrap();
    let stop = SolverLimit::after_rounds(200);
    let best = solve(&mut sum, &mut best.clone(), &Seed::root(1), stop).unwrap().predictor;
    let mut gap = |mut solver: Box<dyn Solver>| {
        let run = solve(&mut sum, &mut *solver, &Seed::root(4), SolverLimit::after_calls(200_000)).unwrap();
        assert_eq!(run.predictor.coefficients[0].indices(), best.coefficients[0].indices());
        run.predictor.distance_squared(&best)
    };
    let start = Some(best.clone());
    let plain = SgParams { sparsity: 3, step_size, batch: 1, start: start.clone() }.build(shape).unwrap();
    let reduced =
        SvrgParams { sparsity: 3, step_size, mini_batch: 1, steps: N as u64, start }.build(shape).unwrap();
    let (plain, reduced) = (gap(Box::new(plain)), gap(Box::new(reduced)));
    assert!(reduced < 1e-20 && plain > 1e-8, "{reduced} and {plain}");
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let sum = &sums(0.1)[0];
    let shape = Shape::of(sum);
    let good = ScsgParams::practical(shape, &SolverTask { step_size: 0.1, ..sparse(3) });
    for (field, params) in [
        ("sparsity", ScsgParams { sparsity: 0, ..good.clone() }),
        ("step_size", ScsgParams { step_size: f64::NAN, ..good.clone() }),
        ("batch", ScsgParams { batch: N + 1, ..good.clone() }),
        ("mini_batch", ScsgParams { mini_batch: 0, ..good.clone() }),
        ("mini_batch", ScsgParams { mini_batch: 4, ..good.clone() }),
        ("length", ScsgParams { length: EpochLength::Steps(0), ..good.clone() }),
        ("start", ScsgParams { start: Some(Predictor::zeros(2, 1)), ..good.clone() }),
    ] {
        assert_eq!(params.build(shape).unwrap_err().field, field);
    }
}

#[test]
fn geometric_lengths_have_the_mean_of_the_definition() {
    use lao_algorithms::thresholding::{BatchLaw, UniformDraws};
    let (mut draws, mut rng, runs) = (UniformDraws::new(100), Seed::root(6).rng(), 200_000);
    for (batch, mini_batch) in [(1, 1), (100, 10), (64, 7)] {
        let (mut total, mut zeros) = (0, 0);
        for _ in 0..runs {
            let length = draws.length(EpochLength::Geometric, batch, mini_batch, &mut rng);
            total += length;
            zeros += u64::from(length == 0);
        }
        let ratio = batch as f64 / mini_batch as f64;
        // The tolerance is five standard errors.
        let error = 5.0 * ((ratio * ratio + ratio) / runs as f64).sqrt();
        assert!((total as f64 / runs as f64 - ratio).abs() < error);
        let p = 1.0 / (1.0 + ratio);
        assert!((zeros as f64 / runs as f64 - p).abs() < 5.0 * (p / runs as f64).sqrt());
    }
}

/// Returns `p'Hp` with the curvature bound of the loss in the place of its second derivatives.
fn naive_curvature(sum: &FiniteSum, p: &[Vec<f64>], of_intercepts: &[f64]) -> f64 {
    let squares = |i: usize| {
        let row = dense_row(sum, i);
        let margin = |(p, a): (&Vec<f64>, &f64)| p.iter().zip(&row).map(|(p, z)| p * z).sum::<f64>() + a;
        p.iter().zip(of_intercepts).map(margin).map(|m| m * m).sum::<f64>()
    };
    let mean = (0..sum.rows()).map(squares).sum::<f64>() / sum.rows() as f64;
    sum.loss().curvature() * mean + sum.ridge() * p.iter().flatten().map(|p| p * p).sum::<f64>()
}

/// An iterate of the full-gradient methods with dense loops: coefficients and intercepts by output.
#[derive(Clone)]
struct Twin {
    x: Vec<Vec<f64>>,
    a: Vec<f64>,
}

impl Twin {
    fn zero(sum: &FiniteSum) -> Twin {
        Twin { x: vec![vec![0.0; sum.dim()]; sum.outputs()], a: vec![0.0; sum.outputs()] }
    }

    fn gradient(&self, sum: &FiniteSum) -> Twin {
        let all: Vec<u32> = (0..sum.len() as u32).collect();
        let (x, mut a) = naive_gradient(sum, &all, &self.x, &self.a);
        a.iter_mut().for_each(|a| *a = if sum.has_intercept() { *a } else { 0.0 });
        Twin { x, a }
    }

    /// Returns `H_k(x - eta g)`.
    fn step(&self, gradient: &Twin, eta: f64, k: usize) -> Twin {
        let mut next = self.clone();
        for (x, g) in next.x.iter_mut().zip(&gradient.x) {
            x.iter_mut().zip(g).for_each(|(x, g)| *x -= eta * g);
            naive_threshold(x, k);
        }
        next.a.iter_mut().zip(&gradient.a).for_each(|(a, g)| *a -= eta * g);
        next
    }

    fn squares(&self) -> f64 {
        self.x.iter().flatten().chain(&self.a).map(|v| v * v).sum()
    }

    fn minus(&self, other: &Twin) -> Twin {
        let mut difference = self.clone();
        difference.x.iter_mut().flatten().zip(other.x.iter().flatten()).for_each(|(a, b)| *a -= b);
        difference.a.iter_mut().zip(&other.a).for_each(|(a, b)| *a -= b);
        difference
    }

    fn support(&self) -> Vec<bool> {
        self.x.iter().flatten().map(|x| *x != 0.0).collect()
    }

    /// Returns the gradient that a normalized step follows: its k largest entries, or those on the support.
    fn along(&self, gradient: &Twin, k: usize, at_minimum: bool) -> Twin {
        let mut along = gradient.clone();
        for (p, x) in along.x.iter_mut().zip(&self.x) {
            if at_minimum || x.iter().all(|x| *x == 0.0) {
                naive_threshold(p, k);
            } else {
                p.iter_mut().zip(x).for_each(|(p, x)| *p = if *x == 0.0 { 0.0 } else { *p });
            }
        }
        along
    }

    /// Sets the coefficients on the support, and the intercept, to the minimizer of least squares over them.
    fn refit(&mut self, sum: &FiniteSum) {
        let support: Vec<usize> = (0..sum.dim()).filter(|&j| self.x[0][j] != 0.0).collect();
        let labels = sum.loss().squares().unwrap();
        let unknowns = support.len() + usize::from(sum.has_intercept());
        let mut equations = vec![vec![0.0; unknowns + 1]; unknowns];
        for (i, label) in labels.iter().enumerate() {
            let row = dense_row(sum, i);
            let mut known: Vec<f64> = support.iter().map(|&j| row[j]).collect();
            known.resize(unknowns, 1.0);
            for (u, equation) in equations.iter_mut().enumerate() {
                equation.iter_mut().zip(known.iter().chain([label])).for_each(|(e, z)| *e += known[u] * z);
            }
        }
        (0..support.len()).for_each(|u| equations[u][u] += 0.5 * labels.len() as f64 * sum.ridge());
        for u in 0..unknowns {
            let pivot =
                (u..unknowns).max_by(|&a, &b| equations[a][u].abs().total_cmp(&equations[b][u].abs()));
            equations.swap(u, pivot.unwrap());
            let own = equations[u].clone();
            for (v, equation) in equations.iter_mut().enumerate().filter(|(v, _)| *v != u) {
                let factor = equation[u] / own[u];
                equation.iter_mut().zip(&own).for_each(|(e, o)| *e -= factor * o);
                assert!(v < unknowns);
            }
        }
        let solution: Vec<f64> = (0..unknowns).map(|u| equations[u][unknowns] / equations[u][u]).collect();
        support.iter().zip(&solution).for_each(|(&j, value)| self.x[0][j] = *value);
        self.a[0] = if sum.has_intercept() { solution[unknowns - 1] } else { 0.0 };
    }

    #[track_caller]
    fn is(&self, found: &Predictor, what: &str) {
        for (l, x) in self.x.iter().enumerate() {
            let dense = found.coefficients[l].view().to_dense();
            assert!(dense.iter().zip(x).all(|(a, b)| close(*a, *b)), "{what}: {dense:?} is not {x:?}");
            assert!(close(found.intercepts[l], self.a[l]), "{what}: intercept {l}");
        }
    }
}

/// Makes steps until a round ends or the solver settles.
fn round(solver: &mut impl Solver, sum: &mut FiniteSum) -> SolverProgress {
    let (before, mut rng) = (solver.rounds(), Seed::root(1).rng());
    loop {
        let progress = solver.step(sum, &mut rng).unwrap();
        if progress == SolverProgress::Settled || solver.rounds() > before {
            return progress;
        }
    }
}

#[test]
fn fixed_full_gradient_steps_are_those_of_the_dense_twin() {
    for mut sum in sums(0.5) {
        let (k, eta) = (6, 0.7 / sum.component_smoothness());
        let params = GdParams { sparsity: k, step: GdStep::Fixed(eta), refit: false, start: None };
        let (mut solver, mut twin) = (params.build(Shape::of(&sum)).unwrap(), Twin::zero(&sum));
        for t in 0..12 {
            assert_eq!(round(&mut solver, &mut sum), SolverProgress::Moved);
            twin = twin.step(&twin.gradient(&sum), eta, k);
            twin.is(solver.coefficients(), &format!("round {t}"));
        }
    }
}

#[test]
fn normalized_steps_are_those_of_the_dense_twin() {
    let mut halved = 0;
    for (sum, ridge) in sums(0.5).into_iter().zip([0.05, 3.0].into_iter().cycle()) {
        let (k, mut sum) = (4, sum.with_ridge(ridge).unwrap());
        let params = GdParams { refit: false, ..GdParams::practical(&sparse(k)) };
        let (mut solver, mut twin) = (params.build(Shape::of(&sum)).unwrap(), Twin::zero(&sum));
        for t in 0..10 {
            let gradient = twin.gradient(&sum);
            let p = twin.along(&gradient, k, false);
            let mut eta = p.squares() / naive_curvature(&sum, &p.x, &p.a);
            let mut next = twin.step(&gradient, eta, k);
            while t > 0 && next.support() != twin.support() {
                let change = next.minus(&twin);
                if eta * naive_curvature(&sum, &change.x, &change.a) <= change.squares() {
                    break;
                }
                (eta, halved) = (eta / 2.0, halved + 1);
                next = twin.step(&gradient, eta, k);
            }
            twin = next;
            round(&mut solver, &mut sum);
            twin.is(solver.coefficients(), &format!("round {t}"));
        }
    }
    assert!(halved > 20, "{halved}");
}

/// The step after a refit goes along the k largest entries of the whole gradient, l2 term included.
#[test]
fn steps_with_refit_are_those_of_the_dense_twin() {
    let mut settled = 0;
    for (sum, ridge) in sums(0.5).into_iter().zip([0.0, 0.05, 3.0, 30.0].into_iter().cycle()) {
        let (k, mut sum) = (5, sum.with_ridge(ridge).unwrap());
        if sum.loss().squares().is_none() {
            continue;
        }
        let (mut solver, mut twin) =
            (GdParams::practical(&sparse(k)).build(Shape::of(&sum)).unwrap(), Twin::zero(&sum));
        for t in 0..12 {
            let gradient = twin.gradient(&sum);
            let p = twin.along(&gradient, k, true);
            let eta = p.squares() / naive_curvature(&sum, &p.x, &p.a);
            let mut next = twin.step(&gradient, eta, k);
            let progress = round(&mut solver, &mut sum);
            if t > 0 && next.support() == twin.support() {
                assert_eq!(progress, SolverProgress::Settled, "round {t}");
                settled += 1;
                break;
            }
            next.refit(&sum);
            twin = next;
            twin.is(solver.coefficients(), &format!("round {t}, ridge {ridge}"));
        }
    }
    assert!(settled > 10, "{settled}");
}

/// A refit of another loss than squares ends, once the support settles, where the whole gradient is zero on
/// the support. Supports may also alternate forever, unless all coordinates are kept.
#[test]
fn refits_of_other_losses_end_at_the_minimum_over_the_support() {
    let mut settled = 0;
    for (sum, ridge) in sums(0.5).into_iter().zip([0.05, 0.5, 3.0].into_iter().cycle()) {
        let mut sum = sum.with_ridge(ridge).unwrap();
        if sum.loss().squares().is_some() {
            continue;
        }
        for (k, rounds) in [(3, 60), (DIM, 2000)] {
            let mut solver = GdParams::practical(&sparse(k)).build(Shape::of(&sum)).unwrap();
            let stop = SolverLimit::after_rounds(rounds);
            let run = solve(&mut sum, &mut solver, &Seed::root(1), stop).unwrap();
            if run.outcome != SolverEnd::Settled {
                assert_eq!(k, 3, "ridge {ridge}");
                continue;
            }
            settled += usize::from(k == 3);
            let x = run.predictor.coefficients.iter().map(|x| x.view().to_dense()).collect();
            let at = Twin { x, a: run.predictor.intercepts.clone() };
            let first = Twin::zero(&sum).gradient(&sum).squares().sqrt();
            let on_support = at.along(&at.gradient(&sum), k, false).squares().sqrt();
            assert!(on_support <= 2e-6 * first, "{on_support} of {first}");
        }
    }
    assert!(settled > 10, "{settled}");
}

/// Batches have `min(n, ceil(tau growth^t))` components, and a round ends with every n components seen.
#[test]
fn hsg_agrees_with_its_dense_twin_step_by_step() {
    for mut sum in sums(0.5) {
        let (n, k, eta) = (sum.len(), 6, 0.3 / sum.component_smoothness());
        let params = HsgParams { sparsity: k, step_size: eta, first: 1.3, growth: 1.45, start: None };
        let (mut solver, mut twin) = (params.build(Shape::of(&sum)).unwrap(), Twin::zero(&sum));
        let (mut ours, mut theirs) = (Seed::root(3).rng(), Seed::root(3).rng());
        let (mut sampler, mut seen) = (SubsetSampler::new(n), 0);
        for t in 0..14 {
            let size = (1.3 * 1.45_f64.powi(t)).ceil().min(n as f64) as usize;
            let mut rows: Vec<u32> = (0..n as u32).collect();
            if size < n {
                rows.clear();
                sampler.draw(size, &mut theirs, &mut rows);
            }
            let before = sum.meter().calls;
            assert_eq!(solver.next_calls(&sum), size as u64);
            solver.step(&mut sum, &mut ours).unwrap();
            seen += size as u64;
            assert_eq!((sum.meter().calls - before, solver.rounds()), (size as u64, seen / n as u64));
            let (x, mut a) = naive_gradient(&sum, &rows, &twin.x, &twin.a);
            a.iter_mut().for_each(|a| *a = if sum.has_intercept() { *a } else { 0.0 });
            twin = twin.step(&Twin { x, a }, eta, k);
            twin.is(solver.coefficients(), &format!("step {t}"));
        }
    }
}

/// A round takes one pass for the gradient, one for the curvature and, for two conjugate gradient steps, four
/// for the refit; fewer if the refit is done before.
#[test]
fn rounds_with_refit_of_other_losses_take_at_most_six_passes() {
    for mut sum in sums(0.5) {
        if sum.loss().squares().is_some() {
            continue;
        }
        let mut solver = GdParams::practical(&sparse(12)).build(Shape::of(&sum)).unwrap();
        let passes: Vec<u64> = (0..4)
            .map(|_| {
                let before = sum.meter().calls;
                assert_eq!(round(&mut solver, &mut sum), SolverProgress::Moved);
                (sum.meter().calls - before) / sum.len() as u64
            })
            .collect();
        assert!(passes.iter().all(|passes| (3..=6).contains(passes)) && passes.contains(&6), "{passes:?}");
    }
}

/// The curvature along so small a gradient underflows.
#[test]
fn a_direction_without_curvature_settles_a_run() {
    let rows = DesignMatrix::rows(2, 2, vec![1e-150, 0.0, 0.0, 2e-150]).unwrap();
    let mut sum = FiniteSum::new(rows, Loss::least_squares(vec![1.0, -1.0]).unwrap()).unwrap();
    for refit in [true, false] {
        let params = GdParams { refit, ..GdParams::practical(&sparse(1)) };
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        let run = solve(&mut sum, &mut solver, &Seed::root(1), SolverLimit::after_rounds(5)).unwrap();
        assert_eq!(run.outcome, SolverEnd::Settled);
        assert!(run.predictor.coefficients[0].is_empty());
    }
}
