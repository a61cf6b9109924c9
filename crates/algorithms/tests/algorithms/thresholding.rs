//! The hard-thresholding solvers beside their references, their counts, and what they must find.

use lao_algorithms::thresholding::reference::{
    self, DensePredictor, GdReference, HsgReference, ScsgReference,
};
use lao_algorithms::thresholding::{
    EpochLength, GdParams, GdStep, HsgParams, ScsgParams, SgParams, Shape, Solver, SolverEnd, SolverLimit,
    SolverProgress, SolverTask, SvrgParams, path, resume, resume_until, solve, solve_traced,
};
use lao_finite_sum::{Batch, Coding, DesignMatrix, FiniteSum, Gradient, Loss, Predictor, Standardize};
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

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn gradients_agree_with_the_definition_in_every_layout() {
    for mut sum in sums(0.2) {
        let at = predictor(&sum, 7);
        let dense = DensePredictor::from(&at);
        let (all, some): (Vec<u32>, Vec<u32>) = ((0..sum.len() as u32).collect(), vec![1, 4, 5, 9]);
        for (batch, rows) in [(Batch::All, &all), (Batch::Components(&some), &some)] {
            let before = sum.meter().calls;
            let mut gradient = Gradient::default();
            sum.gradient(batch, &at, &mut gradient).unwrap();
            assert_eq!(sum.meter().calls - before, rows.len() as u64);
            let expected = reference::gradient(&sum, rows, &dense).unwrap();
            for l in 0..sum.outputs() {
                for (j, expected) in expected.coefficients[l].iter().enumerate() {
                    let ours = gradient.coefficients[l][j] + sum.ridge() * dense.coefficients[l][j];
                    assert!(close(ours, *expected), "{ours} is not {expected}");
                }
                assert!(close(gradient.intercepts[l], expected.intercepts[l]));
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

/// Draws as the solvers do: nothing for all components, and a subset without replacement for several.
fn draw(sampler: &mut SubsetSampler, n: usize, size: usize, rng: &mut Rng) -> Vec<u32> {
    let mut drawn = Vec::new();
    match size {
        size if size == n => drawn.extend(0..n as u32),
        1 => drawn.push(rng.random_range(0..n) as u32),
        _ => sampler.draw(size, rng, &mut drawn),
    }
    drawn
}

#[test]
fn scsg_agrees_with_its_reference_step_by_step() {
    for density in [0.06, 0.5] {
        for mut sum in sums(density) {
            let n = sum.len();
            for (batch, mini_batch, sparsity) in [(n, 1, 5), (n * 2 / 5, n / 10, 8), (n / 3, 1, DIM)] {
                let eta = 0.3 / sum.component_smoothness();
                let length = EpochLength::Ratio;
                let params = ScsgParams { sparsity, step_size: eta, batch, mini_batch, length, start: None };
                let mut reference = ScsgReference::new(&params, Shape::of(&sum)).unwrap();
                let mut solver = params.build(Shape::of(&sum)).unwrap();
                let (mut ours, mut theirs) = (Seed::root(3).rng(), Seed::root(3).rng());
                let mut sampler = SubsetSampler::new(n);
                for epoch in 0..4 {
                    assert_eq!(solver.step(&mut sum, &mut ours).unwrap(), SolverProgress::Evaluated);
                    reference.begin(&sum, &draw(&mut sampler, n, batch, &mut theirs)).unwrap();
                    for _ in 0..batch / mini_batch {
                        let before = sum.meter();
                        assert_eq!(solver.step(&mut sum, &mut ours).unwrap(), SolverProgress::Moved);
                        assert_eq!(sum.meter().calls - before.calls, 2 * mini_batch as u64);
                        assert_eq!(sum.meter().thresholds - before.thresholds, 1);
                        reference.step(&sum, &draw(&mut sampler, n, mini_batch, &mut theirs)).unwrap();
                        let found = solver.coefficients();
                        assert!(found.coefficients.iter().all(|x| x.len() <= sparsity));
                        is_that_of(found, reference.iterate(), &format!("epoch {epoch}"));
                    }
                }
            }
        }
    }
}

#[test]
fn svrg_agrees_with_its_reference() {
    for mut sum in sums(0.5) {
        let (n, step_size) = (sum.len(), 0.2 / sum.component_smoothness());
        let params = SvrgParams { sparsity: 6, step_size, mini_batch: 2, steps: 7, start: None };
        let mut reference = ScsgReference::of_svrg(&params, Shape::of(&sum)).unwrap();
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        let (mut ours, mut theirs) = (Seed::root(4).rng(), Seed::root(4).rng());
        let (mut sampler, all) = (SubsetSampler::new(n), (0..n as u32).collect::<Vec<_>>());
        for epoch in 0..3 {
            solver.step(&mut sum, &mut ours).unwrap();
            reference.begin(&sum, &all).unwrap();
            for _ in 0..7 {
                solver.step(&mut sum, &mut ours).unwrap();
                reference.step(&sum, &draw(&mut sampler, n, 2, &mut theirs)).unwrap();
                is_that_of(solver.coefficients(), reference.iterate(), &format!("epoch {epoch}"));
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

#[test]
fn a_run_that_is_stopped_within_an_epoch_goes_on_with_the_same_bits() {
    for mut sum in sums(0.1) {
        let (shape, step_size) = (Shape::of(&sum), 0.1 / sum.component_smoothness());
        let params = SvrgParams { sparsity: 6, step_size, mini_batch: 1, steps: 9, start: None };
        let mut whole = params.build(shape).unwrap();
        let mut parts = whole.clone();
        let limit = SolverLimit::after_rounds(3);
        let end = resume(&mut sum, &mut whole, &mut Seed::root(4).rng(), limit).unwrap();
        assert_eq!(end.outcome, SolverEnd::Rounds);

        let (mut rng, mut asked) = (Seed::root(4).rng(), 0);
        let mut fifth = || {
            asked += 1;
            asked == 5
        };
        let first = resume_until(&mut sum, &mut parts, &mut rng, limit, &mut fifth).unwrap();
        assert_eq!((first.outcome, parts.rounds()), (SolverEnd::Stopped, 0));
        let rest = resume(&mut sum, &mut parts, &mut rng, limit).unwrap();
        assert_eq!((asked, rest.predictor), (5, end.predictor));
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
    let good = ScsgParams::practical(shape, &sparse(3), 0.1);
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

#[track_caller]
fn is_that_of(found: &Predictor, reference: &DensePredictor, what: &str) {
    for (l, x) in reference.coefficients.iter().enumerate() {
        let dense = found.coefficients[l].view().to_dense();
        assert!(dense.iter().zip(x).all(|(a, b)| close(*a, *b)), "{what}: {dense:?} is not {x:?}");
        assert!(close(found.intercepts[l], reference.intercepts[l]), "{what}: intercept {l}");
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
fn fixed_full_gradient_steps_are_those_of_the_reference() {
    for mut sum in sums(0.5) {
        let (sparsity, step) = (6, GdStep::Fixed(0.7 / sum.component_smoothness()));
        let params = GdParams { sparsity, step, refit: false, start: None };
        let mut reference = GdReference::new(&params, &sum).unwrap();
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        for t in 0..12 {
            assert_eq!(round(&mut solver, &mut sum), SolverProgress::Moved);
            assert_eq!(reference.round(&sum).unwrap(), SolverProgress::Moved);
            is_that_of(solver.coefficients(), reference.iterate(), &format!("round {t}"));
        }
    }
}

#[test]
fn normalized_steps_are_those_of_the_reference() {
    let mut halved = 0;
    for (sum, ridge) in sums(0.5).into_iter().zip([0.05, 3.0].into_iter().cycle()) {
        let mut sum = sum.with_ridge(ridge).unwrap();
        let params = GdParams { refit: false, ..GdParams::practical(&sparse(4)) };
        let mut reference = GdReference::new(&params, &sum).unwrap();
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        for t in 0..10 {
            round(&mut solver, &mut sum);
            reference.round(&sum).unwrap();
            is_that_of(solver.coefficients(), reference.iterate(), &format!("round {t}"));
        }
        halved += reference.halvings();
    }
    assert!(halved > 20, "{halved}");
}

/// The step after a refit goes along the k largest entries of the whole gradient, l2 term included.
#[test]
fn steps_with_refit_are_those_of_the_reference() {
    let mut settled = 0;
    for (sum, ridge) in sums(0.5).into_iter().zip([0.0, 0.05, 3.0, 30.0].into_iter().cycle()) {
        let (params, mut sum) = (GdParams::practical(&sparse(5)), sum.with_ridge(ridge).unwrap());
        if sum.loss().squares().is_none() {
            assert_eq!(GdReference::new(&params, &sum).unwrap_err().field, "refit");
            continue;
        }
        let mut reference = GdReference::new(&params, &sum).unwrap();
        let mut solver = params.build(Shape::of(&sum)).unwrap();
        for t in 0..12 {
            let progress = round(&mut solver, &mut sum);
            assert_eq!(progress, reference.round(&sum).unwrap(), "round {t}");
            if progress == SolverProgress::Settled {
                settled += 1;
                break;
            }
            is_that_of(solver.coefficients(), reference.iterate(), &format!("round {t}, ridge {ridge}"));
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
            let all: Vec<u32> = (0..sum.len() as u32).collect();
            // The norm of the gradient on a support, and in the intercepts.
            let norm = |at: &Predictor, on: fn(f64) -> bool| {
                let gradient = reference::gradient(&sum, &all, &DensePredictor::from(at)).unwrap();
                let dense = DensePredictor::from(at);
                let pairs = gradient.coefficients.iter().flatten().zip(dense.coefficients.iter().flatten());
                let kept = pairs.filter(|(_, x)| on(**x)).map(|(g, _)| g);
                kept.chain(&gradient.intercepts).map(|g| g * g).sum::<f64>().sqrt()
            };
            let first = norm(&Predictor::zeros(DIM, sum.outputs()), |_| true);
            let on_support = norm(&run.predictor, |x| x != 0.0);
            assert!(on_support <= 2e-6 * first, "{on_support} of {first}");
        }
    }
    assert!(settled > 10, "{settled}");
}

/// A round ends with every n components seen.
#[test]
fn hsg_and_sg_agree_with_their_reference_step_by_step() {
    for mut sum in sums(0.5) {
        let (n, sparsity, step_size) = (sum.len(), 6, 0.3 / sum.component_smoothness());
        let shape = Shape::of(&sum);
        let growing = HsgParams { sparsity, step_size, first: 1.3, growth: 1.45, start: None };
        let constant = SgParams { sparsity, step_size, batch: 2, start: None };
        for (mut reference, mut solver) in [
            (HsgReference::new(&growing, shape).unwrap(), growing.build(shape).unwrap()),
            (HsgReference::of_sg(&constant, shape).unwrap(), constant.build(shape).unwrap()),
        ] {
            let (mut ours, mut theirs) = (Seed::root(3).rng(), Seed::root(3).rng());
            let (mut sampler, mut seen) = (SubsetSampler::new(n), 0);
            for t in 0..14 {
                let size = reference.batch_size();
                let rows = draw(&mut sampler, n, size, &mut theirs);
                let before = sum.meter().calls;
                assert_eq!(solver.next_calls(&sum), size as u64);
                solver.step(&mut sum, &mut ours).unwrap();
                seen += size as u64;
                assert_eq!((sum.meter().calls - before, solver.rounds()), (size as u64, seen / n as u64));
                reference.step(&sum, &rows).unwrap();
                is_that_of(solver.coefficients(), reference.iterate(), &format!("step {t}"));
            }
        }
    }
}

#[test]
fn a_reference_refuses_what_the_sum_does_not_have() {
    let sum = identity([3.0, 0.0, -1.0]);
    let at = DensePredictor::from(&Predictor::zeros(3, 1));
    let refused = reference::gradient(&sum, &[0, 3], &at).unwrap_err().to_string();
    assert!(refused.contains("component 3"), "{refused}");
    let other = DensePredictor::from(&Predictor::zeros(4, 1));
    let refused = reference::gradient(&sum, &[0], &other).unwrap_err().to_string();
    assert!(refused.contains("4 coefficients"), "{refused}");
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
