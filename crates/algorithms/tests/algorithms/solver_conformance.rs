//! The promises of every solver of finite sums.

use lao_algorithms::thresholding::{
    SOLVERS, SgParams, Shape, SolveError, Solver, SolverEnd, SolverLimit, SolverProgress, SolverRow,
    SolverTask, StepRule, resume, solve,
};
use lao_finite_sum::{Batch, DesignMatrix, FiniteSum, Gradient, Loss, Predictor};
use lao_kernels::{Compressed, SparseVector};
use lao_observation::Seed;
use rand::RngExt;

const N: usize = 60;
const DIM: usize = 25;
const SPARSITY: usize = 4;

/// Returns numbers that single precision represents exactly, most of them zero if `sparse`.
fn table(sparse: bool) -> Vec<f64> {
    let mut rng = Seed::root(11).child("conformance").rng();
    let mut number = || f64::from(rng.random_range(-1.0..1.0_f32));
    let mut table: Vec<f64> = (0..N * DIM).map(|_| number()).collect();
    if sparse {
        table.iter_mut().enumerate().filter(|(at, _)| at * 7 % 10 > 2).for_each(|(_, value)| *value = 0.0);
    }
    table
}

fn compressed(table: &[f64]) -> Compressed<f64> {
    Compressed::from_dense(DIM, table).unwrap()
}

fn truth() -> SparseVector {
    SparseVector::new(DIM, vec![2, 11, 24], vec![1.0, -1.5, 2.0]).unwrap()
}

/// Returns losses with the labels of the planted predictor without noise, with their signs, and with three
/// classes.
fn losses(table: &[f64]) -> [Loss; 3] {
    let labels: Vec<f64> = table.chunks(DIM).map(|row| truth().view().dot_dense(row)).collect();
    let signs: Vec<f64> = labels.iter().map(|label| label.signum()).collect();
    let classes: Vec<f64> = labels.iter().map(|label| (label + 1.5).clamp(0.0, 2.0).floor()).collect();
    [Loss::least_squares(labels).unwrap(), Loss::logistic(&signs).unwrap(), Loss::softmax(&classes).unwrap()]
}

/// Returns all losses on sparse and dense rows, with components of one row and of two, some with an
/// intercept.
fn sums() -> Vec<FiniteSum> {
    let mut sums = Vec::new();
    for sparse in [true, false] {
        let table = table(sparse);
        for loss in losses(&table) {
            let examples = match sparse {
                true => DesignMatrix::compressed_rows(compressed(&table)),
                false => DesignMatrix::rows(N, DIM, table.clone()).unwrap(),
            };
            let sum = FiniteSum::new(examples, loss).unwrap().with_ridge(0.01).unwrap();
            sums.push(if sparse { sum.with_intercept() } else { sum.in_blocks(2).unwrap() });
        }
    }
    sums
}

/// A solver with a given step size, or with its own.
struct Case {
    row: &'static SolverRow,
    own: bool,
    name: String,
}

impl Case {
    fn task(&self, sum: &FiniteSum) -> SolverTask {
        let step_size = (!self.own).then(|| 0.3 / sum.component_smoothness());
        SolverTask { sparsity: SPARSITY, step_size, start: None }
    }

    fn solver(&self, sum: &FiniteSum, task: &SolverTask) -> Box<dyn Solver> {
        (self.row.build)(Shape::of(sum), task).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    fn build(&self, sum: &FiniteSum) -> Box<dyn Solver> {
        self.solver(sum, &self.task(sum))
    }
}

/// Returns all solvers with their own step sizes, and with given ones where they take them.
fn cases() -> impl Iterator<Item = Case> {
    assert!(!SOLVERS.is_empty());
    let case = |row: &'static SolverRow, own: bool| {
        let name = format!("{}, {}", row.name, if own { "its own steps" } else { "given steps" });
        Case { row, own, name }
    };
    let takes = |own: &bool, row: &SolverRow| *own || row.step != StepRule::Own;
    SOLVERS.iter().flat_map(move |row| {
        [true, false].into_iter().filter(move |own| takes(own, row)).map(move |own| case(row, own))
    })
}

fn for_every_solver(mut check: impl FnMut(&Case, FiniteSum)) {
    for case in cases() {
        sums().into_iter().for_each(|sum| check(&case, sum));
    }
}

fn bits(at: &Predictor) -> Vec<(u32, u64)> {
    let entries = at.coefficients.iter().flat_map(|x| x.indices().iter().copied().zip(x.values()));
    let intercepts = at.intercepts.iter().map(|value| (u32::MAX, value));
    entries.chain(intercepts).map(|(j, value)| (j, value.to_bits())).collect()
}

#[test]
fn names_are_unique_and_rows_are_documented() {
    for row in SOLVERS {
        assert_eq!(SOLVERS.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        assert!(!row.source.is_empty() && row.summary.ends_with('.'), "{}", row.name);
        assert_eq!(lao_algorithms::thresholding::registry::solver(row.name).unwrap().name, row.name);
    }
}

#[test]
fn same_seed_gives_the_same_bits_and_other_seeds_others() {
    for_every_solver(|case, mut sum| {
        let mut run = |seed| {
            let mut solver = case.build(&sum);
            let stop = SolverLimit::after_calls(5 * N as u64);
            bits(&solve(&mut sum, &mut *solver, &Seed::root(seed), stop).unwrap().predictor)
        };
        let first = run(1);
        assert_eq!(first, run(1), "{}", case.name);
        // Least squares on the same attributes is the same, and so are steps with batches of all rows, which
        // a solver may choose.
        let (differs, may_agree) = (first != run(2), case.row.prunes || case.own);
        assert!(differs == case.row.random || (may_agree && !differs), "{}", case.name);
    });
}

#[test]
fn iterates_are_sparse_and_the_meter_counts_what_was_announced() {
    for_every_solver(|case, mut sum| {
        let (mut solver, mut rng) = (case.build(&sum), Seed::root(2).rng());
        for _ in 0..300 {
            let (before, announced) = (sum.meter(), solver.next_calls(&sum));
            let progress = solver.step(&mut sum, &mut rng).unwrap();
            assert_eq!(sum.meter().calls - before.calls, announced, "{}", case.name);
            let at = solver.coefficients();
            assert!(at.coefficients.iter().all(|x| x.len() <= SPARSITY), "{}", case.name);
            assert!(at.coefficients.iter().flat_map(|x| x.values()).all(|value| value.is_finite()));
            if progress == SolverProgress::Settled {
                break;
            }
        }
        assert!(solver.rounds() > 0, "{} completed no round", case.name);
    });
}

#[test]
fn no_budget_is_ever_exceeded_and_none_is_left_that_would_do() {
    for_every_solver(|case, mut sum| {
        for budget in [0, 1, 7, 59, 60, 61, 150, 333, 1000] {
            sum.reset_meter();
            let mut solver = case.build(&sum);
            let stop = SolverLimit::after_calls(budget);
            let run = solve(&mut sum, &mut *solver, &Seed::root(3), stop).unwrap();
            let spent = sum.meter().calls;
            assert!(spent <= budget, "{}: {spent} of {budget}", case.name);
            if run.outcome == SolverEnd::Calls {
                assert!(spent + solver.next_calls(&sum) > budget, "{}", case.name);
            }
            if budget == 0 {
                assert_eq!(run.predictor, Predictor::zeros(DIM, sum.outputs()), "{}", case.name);
            }
        }
    });
}

#[test]
fn a_run_ends_after_the_first_round_that_moves_it_little_enough() {
    const CHANGE: f64 = 0.01;
    let numbers = |at: &Predictor| -> Vec<f64> {
        at.coefficients
            .iter()
            .flat_map(|x| x.view().to_dense())
            .chain(at.intercepts.iter().copied())
            .collect()
    };
    let (mut by_change, mut by_rounds) = (0, 0);
    for_every_solver(|case, mut sum| {
        let stop = SolverLimit { change: Some(CHANGE), ..SolverLimit::after_rounds(60) };
        let mut solver = case.build(&sum);
        let run = resume(&mut sum, &mut *solver, &mut Seed::root(9).rng(), stop).unwrap();
        // The same run, round by round.
        let (mut twin, mut rng) = (case.build(&sum), Seed::root(9).rng());
        let mut before = numbers(twin.coefficients());
        let expected = loop {
            if twin.rounds() == 60 {
                break SolverEnd::Rounds;
            }
            let thresholds = sum.meter().thresholds;
            let end = resume(&mut sum, &mut *twin, &mut rng, SolverLimit::after_rounds(1)).unwrap().outcome;
            if end != SolverEnd::Rounds {
                break end;
            }
            let after = numbers(twin.coefficients());
            let moved: f64 = after.iter().zip(&before).map(|(a, b)| (a - b).powi(2)).sum();
            let square = |x: &SparseVector| x.values().iter().map(|b| b * b).sum::<f64>();
            let norm: f64 = twin.coefficients().coefficients.iter().map(square).sum();
            if moved.sqrt() <= CHANGE * norm.sqrt() && sum.meter().thresholds > thresholds && twin.rests() {
                break SolverEnd::Change;
            }
            before = after;
        };
        assert_eq!((run.outcome, solver.rounds()), (expected, twin.rounds()), "{}", case.name);
        by_change += usize::from(expected == SolverEnd::Change);
        by_rounds += usize::from(expected == SolverEnd::Rounds);
    });
    assert!(by_change > 20 && by_rounds > 5, "{by_change}, {by_rounds}");
}

#[test]
fn going_on_after_a_stop_leaves_no_trace_in_the_bits() {
    for_every_solver(|case, mut sum| {
        let (mut straight, mut stopped) = (case.build(&sum), case.build(&sum));
        let (mut one, mut other) = (Seed::root(4).rng(), Seed::root(4).rng());
        let n = sum.len() as u64;
        for calls in [3, n / 2, n, n + 5] {
            resume(&mut sum, &mut *stopped, &mut other, SolverLimit::after_calls(calls)).unwrap();
        }
        let rounds = stopped.rounds();
        let rest = resume(&mut sum, &mut *stopped, &mut other, SolverLimit::after_rounds(3)).unwrap();
        let stop = SolverLimit::after_rounds(rounds + 3);
        let whole = resume(&mut sum, &mut *straight, &mut one, stop).unwrap();
        assert_eq!(bits(&rest.predictor), bits(&whole.predictor), "{}", case.name);
    });
}

#[test]
fn a_start_is_thresholded_and_stands_until_the_first_step() {
    for_every_solver(|case, mut sum| {
        let wide = SparseVector::from_dense(&(0..DIM).map(|j| j as f64 - 7.0).collect::<Vec<_>>());
        let start = Predictor {
            coefficients: vec![wide; sum.outputs()],
            intercepts: vec![0.25 * f64::from(u8::from(sum.has_intercept())); sum.outputs()],
        };
        let task = SolverTask { start: Some(start.clone()), ..case.task(&sum) };
        let mut solver = case.solver(&sum, &task);
        let run = solve(&mut sum, &mut *solver, &Seed::root(5), SolverLimit::after_rounds(0)).unwrap();
        assert!(run.predictor.coefficients.iter().all(|x| x.indices() == [21, 22, 23, 24]), "{}", case.name);
        assert_eq!(run.predictor.intercepts, start.intercepts);
    });
}

#[test]
fn renaming_attributes_renames_the_answer() {
    for case in cases() {
        for loss in losses(&table(false)) {
            let answer = |table: Vec<f64>| {
                let mut sum =
                    FiniteSum::new(DesignMatrix::rows(N, DIM, table).unwrap(), loss.clone()).unwrap();
                let mut solver = case.build(&sum);
                let stop = SolverLimit::after_calls(8 * N as u64);
                solve(&mut sum, &mut *solver, &Seed::root(6), stop).unwrap().predictor
            };
            let plain = answer(table(false));
            let renamed =
                answer(table(false).chunks(DIM).flat_map(|row| row.iter().rev().copied()).collect());
            for (x, renamed) in plain.coefficients.iter().zip(&renamed.coefficients) {
                for j in 0..DIM as u32 {
                    let (one, other) = (x.view().get(j), renamed.view().get(DIM as u32 - 1 - j));
                    assert!((one - other).abs() < 1e-9, "{}: {one} against {other}", case.name);
                }
            }
        }
    }
}

#[test]
fn a_planted_predictor_is_found() {
    for case in cases() {
        let table = table(false);
        let [squares, ..] = losses(&table);
        let mut sum = FiniteSum::new(DesignMatrix::rows(N, DIM, table).unwrap(), squares).unwrap();
        let given = if case.row.averages_components { Some(0.3) } else { case.task(&sum).step_size };
        let step_size = given.filter(|_| !case.own);
        // The sparsity is larger than the planted three, since small steps can freeze a wrong support that is
        // just large enough.
        let mut solver = case.solver(&sum, &SolverTask { sparsity: 10, step_size, start: None });
        let stop = SolverLimit::after_calls(400 * N as u64);
        let run = solve(&mut sum, &mut *solver, &Seed::root(7), stop).unwrap();
        for (j, value) in truth().view().iter() {
            let found = run.predictor.coefficients[0].view().get(j);
            assert!((found - value).abs() < 1e-3, "{}: {found} is not {value}", case.name);
        }
    }
}

#[test]
fn single_precision_storage_of_numbers_it_holds_has_the_bits_of_double() {
    for case in cases() {
        let table = table(true);
        let single: Vec<f32> = table.iter().map(|&value| value as f32).collect();
        for loss in losses(&table) {
            let mut sums = [
                FiniteSum::new(DesignMatrix::rows(N, DIM, table.clone()).unwrap(), loss.clone()).unwrap(),
                FiniteSum::new(DesignMatrix::rows(N, DIM, single.clone()).unwrap(), loss.clone()).unwrap(),
            ];
            let [double, single] = sums.each_mut().map(|sum| {
                let mut solver = case.build(sum);
                let stop = SolverLimit::after_calls(6 * N as u64);
                bits(&solve(sum, &mut *solver, &Seed::root(8), stop).unwrap().predictor)
            });
            assert_eq!(double, single, "{}", case.name);
        }
    }
}

#[test]
fn parameters_that_cannot_work_are_refused_by_field_value_and_range() {
    for_every_solver(|case, sum| {
        let good = case.task(&sum);
        let mut far = Predictor::zeros(DIM, sum.outputs());
        far.intercepts[0] = f64::NAN;
        let refused = [
            ("sparsity", SolverTask { sparsity: 0, ..good.clone() }),
            ("step_size", SolverTask { step_size: Some(0.0), ..good.clone() }),
            ("step_size", SolverTask { step_size: Some(-1.0), ..good.clone() }),
            ("step_size", SolverTask { step_size: Some(f64::NAN), ..good.clone() }),
            ("step_size", SolverTask { step_size: Some(f64::INFINITY), ..good.clone() }),
            ("start", SolverTask { start: Some(Predictor::zeros(DIM + 1, sum.outputs())), ..good.clone() }),
            ("start", SolverTask { start: Some(Predictor::zeros(DIM, sum.outputs() + 1)), ..good.clone() }),
            ("start", SolverTask { start: Some(far), ..good.clone() }),
        ];
        for (field, task) in refused {
            let error = (case.row.build)(Shape::of(&sum), &task).map(|_| ()).expect_err(&case.name);
            assert_eq!(error.field, field, "{error}");
            assert!(!error.value.is_empty() && !error.allowed.is_empty(), "{error}");
        }
    });
}

#[test]
fn a_sum_of_another_shape_is_refused_at_every_step() {
    let other = DesignMatrix::rows(N / 2, DIM - 1, vec![0.5; N / 2 * (DIM - 1)]).unwrap();
    let other = FiniteSum::new(other, Loss::least_squares(vec![1.0; N / 2]).unwrap()).unwrap();
    for_every_solver(|case, mut sum| {
        let (mut solver, mut other, mut rng) = (case.build(&sum), other.clone(), Seed::root(9).rng());
        for _ in 0..4 {
            let error = solver.step(&mut other, &mut rng).unwrap_err();
            assert!(matches!(error, SolveError::Shape { .. }), "{}: {error}", case.name);
            solver.step(&mut sum, &mut rng).unwrap();
        }
    });
}

#[test]
fn data_out_of_scale_ends_in_a_named_divergence_not_in_nan() {
    let table = table(false).iter().map(|value| value * 1e200).collect();
    let loss = Loss::least_squares((0..N).map(|i| i as f64 * 1e200).collect()).unwrap();
    let sum = FiniteSum::new(DesignMatrix::rows(N, DIM, table).unwrap(), loss).unwrap();
    for case in cases() {
        let (mut sum, mut rng) = (sum.clone(), Seed::root(10).rng());
        let step_size = (!case.own).then_some(1.0);
        let mut solver = case.solver(&sum, &SolverTask { sparsity: SPARSITY, step_size, start: None });
        let error = (0..1000).find_map(|_| solver.step(&mut sum, &mut rng).err());
        let error = error.unwrap_or_else(|| panic!("{} went on", case.name));
        assert!(error.to_string().contains("diverged"), "{}: {error}", case.name);
        let mut values = solver.coefficients().coefficients.iter().flat_map(|x| x.values());
        assert!(values.all(|value| value.is_finite()), "{}", case.name);
    }
}

/// Where one class diverges, no class moves.
#[test]
fn a_step_moves_all_classes_or_none() {
    let rows = DesignMatrix::rows(2, 2, vec![1.0, 0.5, 0.25, 1.0]).unwrap();
    let mut sum = FiniteSum::new(rows, Loss::softmax(&[0.0, 1.0]).unwrap()).unwrap();
    let start = Predictor {
        coefficients: vec![
            SparseVector::new(2, vec![0], vec![1.0]).unwrap(),
            SparseVector::new(2, vec![0], vec![f64::MAX]).unwrap(),
        ],
        intercepts: vec![0.0; 2],
    };
    // 1 - eta lambda is -2, so the second class overflows.
    sum = sum.with_ridge(3.0).unwrap();
    let params = SgParams { sparsity: 2, step_size: 1.0, batch: 1, start: Some(start.clone()) };
    let mut solver = params.build(Shape::of(&sum)).unwrap();
    assert!(solver.step(&mut sum, &mut Seed::root(1).rng()).is_err());
    assert_eq!(solver.coefficients(), &start);
}

#[test]
fn weighted_draws_take_the_step_of_uniform_draws_in_expectation() {
    let mut sum = sums().swap_remove(0);
    let n = sum.len();
    let weights: Vec<f64> = (0..n).map(|z| 1.0 + (z % 4) as f64).collect();
    let params = SgParams { sparsity: DIM, step_size: 0.01, batch: 1, start: None };
    let refused =
        |weights: &[f64]| params.clone().build_weighted(Shape::of(&sum), weights).unwrap_err().field;
    assert_eq!((refused(&weights[1..]), refused(&vec![0.0; n])), ("weights", "weights"));
    let mut gradient = Gradient::default();
    let zero = Predictor::zeros(DIM, 1);
    sum.gradient(Batch::All, &zero, &mut gradient).unwrap();
    let (mut mean, mut square, runs) = (vec![0.0; DIM], vec![0.0; DIM], 20_000);
    let fresh = params.build_weighted(Shape::of(&sum), &weights).unwrap();
    let mut rng = Seed::root(12).rng();
    for _ in 0..runs {
        let mut solver = fresh.clone();
        solver.step(&mut sum, &mut rng).unwrap();
        for (j, value) in solver.coefficients().coefficients[0].view().iter() {
            mean[j as usize] += value / runs as f64;
            square[j as usize] += value * value / runs as f64;
        }
    }
    for j in 0..DIM {
        let error = (square[j] / runs as f64).sqrt();
        let expected = -0.01 * gradient.coefficients[0][j];
        assert!((mean[j] - expected).abs() <= 5.0 * error, "{j}: {} is not {expected}", mean[j]);
    }
}
