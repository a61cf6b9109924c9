//! The promises of every method in the registry.

use lao_algorithms::{Accuracy, AnyLearner, Growth, METHODS, Method, ModelSize, Task};
use lao_datasets::synthetic::{Noise, UniformAttributes, Virtual};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{
    BlockBuf, Budget, Learner, Ledger, Seed, Session, SessionEnd, SessionError, SessionLimit, Source,
    SourceError,
};
use std::fmt::Display;

const DIM: usize = 23;
const SPARSITY: usize = 4;
const BUDGET: usize = 9;

fn task(method: &Method) -> Task {
    let sparsity = if method.growth == Growth::Exponential { 2 } else { SPARSITY };
    Task { dim: DIM, sparsity, budget: BUDGET, speed: 0.8, ..Task::default() }
}

fn source(length: u64) -> Virtual<UniformAttributes> {
    let theta = SparseVector::new(DIM, vec![0, 7, 22], vec![1.0, -1.0, 0.5]).unwrap();
    let seed = Seed::root(7).child("data");
    Virtual::new(UniformAttributes::new(DIM).unwrap(), theta, Noise::Gaussian(0.1), &seed)
        .unwrap()
        .with_length(length)
}

/// The value of a result of this method.
fn of<T, E: Display>(method: &Method, result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{}: {error}", method.name))
}

fn learner(method: &Method) -> AnyLearner {
    of(method, method.build(&task(method)))
}

fn session<S: Source>(method: &Method, source: S) -> Session<S> {
    Session::new(source, (method.budget)(&task(method)), &Seed::root(3))
}

fn run<S: Source>(
    method: &Method,
    source: S,
    learner: &mut AnyLearner,
    stop: SessionLimit,
) -> (Ledger, SessionEnd) {
    let mut session = session(method, source);
    let outcome = session.run(learner, stop, |_, learner| {
        let theta = learner.coefficients();
        let (found, most) = (theta.len(), method.model.most(&task(method)));
        assert!(found <= most, "{}: {found} non-zeros, its row says at most {most}", method.name);
        is_finite(method, learner);
    });
    (*session.ledger(), of(method, outcome))
}

fn is_finite(method: &Method, learner: &AnyLearner) {
    let theta = learner.coefficients();
    let strange = theta.iter().find(|(_, value)| !value.is_finite());
    assert_eq!(strange, None, "{}: the coefficient of this attribute is not finite", method.name);
}

fn bits(theta: SparseView<'_>) -> (Vec<u32>, Vec<u64>) {
    (theta.indices().to_vec(), theta.values().iter().map(|value| value.to_bits()).collect())
}

fn for_every_method(check: impl Fn(&Method)) {
    assert!(!METHODS.is_empty());
    METHODS.iter().for_each(check);
}

#[test]
fn names_are_unique_and_rows_are_documented() {
    for_every_method(|method| {
        assert_eq!(METHODS.iter().filter(|other| other.name == method.name).count(), 1, "{}", method.name);
        assert!(!method.source.is_empty() && method.summary.ends_with('.'), "{}", method.name);
        let found = lao_algorithms::registry::method(method.name).map(|found| found.name);
        assert_eq!(found, Some(method.name), "{}", method.name);
    });
}

#[test]
fn same_seed_gives_the_same_bits() {
    for_every_method(|method| {
        let once = || {
            let mut learner = learner(method);
            run(method, source(3000), &mut learner, SessionLimit::never());
            bits(learner.coefficients())
        };
        assert_eq!(once(), once(), "{}", method.name);
    });
}

#[test]
fn estimates_are_sparse_and_the_ledger_is_exact_and_within_budget() {
    for_every_method(|method| {
        let mut learner = learner(method);
        let (ledger, outcome) = run(method, source(3000), &mut learner, SessionLimit::never());
        assert_eq!(outcome, SessionEnd::Dry, "{}", method.name);
        assert_eq!((ledger.examples, ledger.labels), (3000, 3000), "{}", method.name);
        let budget = (method.budget)(&task(method));
        let cap = budget.cap(DIM);
        assert!(ledger.most_attributes <= cap, "{}: {}", method.name, ledger.most_attributes);
        assert!(ledger.attributes <= 3000 * cap as u64, "{}: {}", method.name, ledger.attributes);
        if let Budget::Expected { mean, .. } = budget {
            assert!(ledger.attributes_per_example() <= mean, "{}: {ledger:?}", method.name);
        }
        assert!(learner.coefficients().len() <= method.model.most(&task(method)), "{}", method.name);
        assert!(learner.updates() > 0, "{} never updated", method.name);
    });
}

/// Examples with their attributes renamed.
struct Renamed {
    inner: Virtual<UniformAttributes>,
    old_of_new: Vec<u32>,
}

impl Source for Renamed {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let mut old: Vec<u32> = attributes.iter().map(|&j| self.old_of_new[j as usize]).collect();
        let renamed = old.clone();
        old.sort_unstable();
        let mut inner = BlockBuf::new();
        inner.reset(old.len(), block.capacity());
        let rows = self.inner.observe(&old, &mut inner)?;
        let view = inner.view(&old);
        for (c, j) in renamed.iter().enumerate() {
            let from = old.binary_search(j).unwrap();
            block.column_mut(c)[..rows].copy_from_slice(view.column(from));
        }
        block.labels_mut()[..rows].copy_from_slice(view.labels());
        block.set_rows(rows);
        Ok(rows)
    }
    fn position(&self) -> u64 {
        self.inner.position()
    }
    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.inner.seek(position)
    }
}

#[test]
fn renaming_attributes_renames_the_answer() {
    // Reversal keeps blocks together only when their width divides d, so Exploration's blocks see other
    // examples: the check is therefore on a run without noise, where both answers are as near the target as
    // the row says.
    let theta = SparseVector::new(8, vec![1, 6], vec![1.0, -2.0]).unwrap();
    let design = || UniformAttributes::new(8).unwrap();
    let data = |length| {
        Virtual::new(design(), theta.clone(), Noise::None, &Seed::root(5)).unwrap().with_length(length)
    };
    let start = SparseVector::new(8, vec![1, 6], vec![0.3, 0.3]).unwrap();
    // With five attributes the last block of Exploration is ragged.
    for budget in [6, 5] {
        for_every_method(|method| {
            let Accuracy { budget: least, examples, error } = method.accuracy;
            let budget = budget.max(least);
            let (radius, start) = (Some(3.0), Some(start.clone()));
            let task = Task { dim: 8, sparsity: 2, budget, radius, examples, speed: 0.8, start, money: None };
            let mut plain = of(method, method.build(&task));
            let mut renamed = of(method, method.build(&task));
            let inner = data(examples);
            let flipped = Renamed { inner, old_of_new: (0..8).rev().collect() };
            run(method, data(examples), &mut plain, SessionLimit::never());
            run(method, flipped, &mut renamed, SessionLimit::never());
            for j in 0..8 {
                let (one, other) = (plain.coefficients().get(j), renamed.coefficients().get(7 - j));
                let what = format!("{} with {budget} attributes: attribute {j}: {one}", method.name);
                assert!((one - other).abs() < error, "{what} against {other}");
                assert!((one - theta.view().get(j)).abs() < error, "{what}");
            }
        });
    }
}

#[test]
fn horizon_zero_is_legal_and_leaves_the_start() {
    for_every_method(|method| {
        let mut learner = learner(method);
        let before = bits(learner.coefficients());
        let (ledger, outcome) = run(method, source(0), &mut learner, SessionLimit::never());
        assert_eq!((ledger.examples, outcome), (0, SessionEnd::Dry), "{}", method.name);
        let (ledger, outcome) = run(method, source(10), &mut learner, SessionLimit::after_examples(0));
        assert_eq!((ledger.examples, outcome), (0, SessionEnd::Limit), "{}", method.name);
        assert_eq!((bits(learner.coefficients()), learner.updates()), (before, 0), "{}", method.name);
    });
}

#[test]
fn a_short_stream_leaves_the_last_completed_update_standing() {
    for_every_method(|method| {
        let mut whole = learner(method);
        let mut last = None;
        let mut session = session(method, source(700));
        let after = |_: &_, learner: &AnyLearner| last = Some(bits(learner.coefficients()));
        of(method, session.run(&mut whole, SessionLimit::never(), after));
        assert_eq!(last, Some(bits(whole.coefficients())), "{}", method.name);
    });
}

/// Stops a run, stores and resumes it, and compares the result with that of a run that was stopped but not
/// stored.
fn stored_and_resumed_equals_uninterrupted(stop: SessionLimit, then: SessionLimit) {
    for_every_method(|method| {
        let fresh = || session(method, source(4000));
        let (mut straight, mut session) = (learner(method), fresh());
        of(method, session.run(&mut straight, stop, |_, _| {}));
        of(method, session.run(&mut straight, then, |_, _| {}));

        let (mut half, mut session) = (learner(method), fresh());
        of(method, session.run(&mut half, stop, |_, _| {}));
        let stored = of(method, serde_json::to_string(&(session.checkpoint(), &half)));
        drop((session, half));
        let (checkpoint, mut half): (_, AnyLearner) = of(method, serde_json::from_str(&stored));
        let mut session = of(method, Session::resume(source(4000), checkpoint));
        of(method, session.run(&mut half, then, |_, _| {}));
        assert_eq!(bits(half.coefficients()), bits(straight.coefficients()), "{}", method.name);
        assert_eq!(half.updates(), straight.updates(), "{}", method.name);
    });
}

#[test]
fn state_survives_storage_between_updates() {
    stored_and_resumed_equals_uninterrupted(SessionLimit::after_updates(2), SessionLimit::never());
}

#[test]
fn state_survives_storage_in_the_middle_of_an_update() {
    stored_and_resumed_equals_uninterrupted(SessionLimit::after_examples(1234), SessionLimit::never());
}

#[test]
fn stopping_between_updates_leaves_no_trace_in_the_bits() {
    for_every_method(|method| {
        let (mut straight, mut stopped) = (learner(method), learner(method));
        run(method, source(4000), &mut straight, SessionLimit::never());
        let mut session = session(method, source(4000));
        for updates in 1..4 {
            of(method, session.run(&mut stopped, SessionLimit::after_updates(updates), |_, _| {}));
        }
        of(method, session.run(&mut stopped, SessionLimit::never(), |_, _| {}));
        assert_eq!(bits(stopped.coefficients()), bits(straight.coefficients()), "{}", method.name);
    });
}

fn refuses(method: &Method, task: &Task) {
    let name = method.name;
    let Err(error) = method.build(task) else { panic!("{name} accepts {task:?}") };
    assert!(!error.value.is_empty() && !error.allowed.is_empty(), "{name}: {error}");
    let fields = ["dim", "sparsity", "budget", "speed", "start", "radius"];
    assert!(fields.contains(&error.field), "{name}: {error}");
}

#[test]
fn parameters_that_cannot_work_are_refused_by_field_value_and_range() {
    let task = |sparsity, budget, speed| Task { dim: 10, sparsity, budget, speed, ..Task::default() };
    for_every_method(|method| {
        let limited = (method.budget)(&task(4, 8, 0.4)) != Budget::Unlimited;
        if limited {
            refuses(method, &task(4, 11, 0.4));
        }
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            refuses(method, &task(4, 8, speed));
        }
        if method.model == ModelSize::Sparsity {
            refuses(method, &task(4, 3, 0.4));
            // Without exploration, s' = s is enough.
            if method.explores {
                refuses(method, &task(4, 4, 0.4));
                refuses(method, &task(0, 0, 0.4));
            }
        } else {
            // Without exploration, one attribute is enough.
            if limited && method.explores {
                refuses(method, &task(4, 1, 0.4));
            }
            if limited {
                refuses(method, &task(4, 0, 0.4));
            }
            for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                refuses(method, &Task { radius: Some(radius), ..task(4, 8, 0.4) });
            }
        }
    });
}

/// Runs a method on labels of this scale, and checks that coefficients stay finite. Returns the coefficients'
/// norm, and the error if the run ended with one.
fn at_scale(method: &Method, scale: f64) -> (f64, Option<String>) {
    let theta = SparseVector::new(DIM, vec![0, 3], vec![scale, -scale]).unwrap();
    let wild =
        Virtual::new(UniformAttributes::new(DIM).unwrap(), theta, Noise::None, &Seed::root(1)).unwrap();
    let mut learner = learner(method);
    let outcome = session(method, wild).run(&mut learner, SessionLimit::after_examples(100_000), |_, _| {});
    is_finite(method, &learner);
    (learner.coefficients().norm_squared().sqrt(), outcome.err().map(|error| error.to_string()))
}

#[test]
fn data_out_of_scale_ends_in_a_named_error_not_in_nan() {
    for_every_method(|method| {
        // Some of these labels are infinite, so every method must refuse them.
        let (_, error) = at_scale(method, 1e308);
        let error = error.unwrap_or_else(|| panic!("{} learns from infinite labels", method.name));
        let named = ["diverged", "must be finite"].iter().any(|part| error.contains(part));
        assert!(named, "{}: {error}", method.name);
        // These labels are finite.
        match at_scale(method, 1e307) {
            (_, Some(error)) => assert!(error.contains("diverged"), "{}: {error}", method.name),
            (size, None) => {
                assert!(method.bears_all_labels, "{} learns from labels of 1e307", method.name);
                let radius = task(method).radius();
                assert!(size <= radius * (1.0 + 1e-9), "{}: {size} is outside of {radius}", method.name);
            }
        }
    });
}

/// Examples of which number 50 has a NaN as label, or NaNs as values.
struct Poisoned {
    inner: Virtual<UniformAttributes>,
    label: bool,
}

impl Source for Poisoned {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let first = self.inner.position();
        let rows = self.inner.observe(attributes, block)?;
        if (first..first + rows as u64).contains(&50) {
            let at = (50 - first) as usize;
            if self.label {
                block.labels_mut()[at] = f64::NAN;
            } else {
                (0..attributes.len()).for_each(|c| block.column_mut(c)[at] = f64::NAN);
            }
        }
        Ok(rows)
    }
    fn position(&self) -> u64 {
        self.inner.position()
    }
    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.inner.seek(position)
    }
}

#[test]
fn numbers_that_are_none_end_the_run_and_leave_the_estimate_finite() {
    for_every_method(|method| {
        for label in [true, false] {
            let what = if label { "a label" } else { "values" };
            let mut learner = learner(method);
            let mut session = session(method, Poisoned { inner: source(2000), label });
            let outcome = session.run(&mut learner, SessionLimit::never(), |_, _| {});
            let Err(error) = outcome else { panic!("{} learns from {what} of NaN", method.name) };
            assert!(error.to_string().contains("NaN"), "{}: {error}", method.name);
            is_finite(method, &learner);
            assert!(session.ledger().examples <= 50, "{} counts the example of {what}", method.name);
        }
    });
}

#[test]
fn a_learner_of_another_dimension_than_the_source_is_refused() {
    for_every_method(|method| {
        let task = Task { dim: 30, ..task(method) };
        let mut learner = of(method, method.build(&task));
        let before = bits(learner.coefficients());
        let theta = SparseVector::zeros(60);
        let design = UniformAttributes::new(60).unwrap();
        let larger = Virtual::new(design, theta, Noise::Gaussian(1.0), &Seed::root(1)).unwrap();
        let mut session = Session::new(larger, (method.budget)(&task), &Seed::root(3));
        let outcome = session.run(&mut learner, SessionLimit::after_examples(1000), |_, _| {});
        let dimension = matches!(outcome, Err(SessionError::Dimension { asked: 30, source_dim: 60 }));
        assert!(dimension, "{}: {outcome:?}", method.name);
        assert_eq!(bits(learner.coefficients()), before, "{}", method.name);
        assert_eq!(session.ledger().examples, 0, "{}", method.name);
    });
}
