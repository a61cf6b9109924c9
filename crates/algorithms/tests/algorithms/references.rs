//! Every row of the registry beside the reference of the method that it names, with the parameters that it
//! promises.

use crate::beside::{Beside, Example, examples, hard, source};
use lao_algorithms::baselines::reference::{
    AerReference, DantzigReference, FkkReference, OmpReference, OnlineReference,
};
use lao_algorithms::baselines::{AerParams, DantzigParams, FkkParams, OmpParams, OnlineParams};
use lao_algorithms::hazan_koren::gen_est::GenEstDraws;
use lao_algorithms::hazan_koren::reference::{AelrReference, AerrReference, AesvrReference};
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, AesvrParams};
use lao_algorithms::ito::reference::{Rda1Reference, Rda3Reference};
use lao_algorithms::ito::{GreedyParams, Rda1Params, Rda2Params, Rda3Params, UniformParams};
use lao_algorithms::murata_suzuki::reference::{
    ExploitationReference, ExplorationReference, HybridReference, NaiveReference,
};
use lao_algorithms::murata_suzuki::{ExploitationParams, ExplorationParams, HybridParams, NaiveParams};
use lao_algorithms::pursuit::PursuitParams;
use lao_algorithms::pursuit::reference::PursuitReference;
use lao_algorithms::reference::{Drawn, Reference, Seen};
use lao_algorithms::registry::method;
use lao_algorithms::{AnyLearner, Growth, METHODS, Method, ModelSize, ParamError, Task};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::{
    Ask, Budget, GradientSum, LearnError, Learner, Rng, Row, Seed, Session, SessionLimit, Source, Told,
};

type Build = fn(&Task) -> Result<Box<dyn Reference>, ParamError>;

fn boxed<R: Reference + 'static>(reference: Result<R, ParamError>) -> Result<Box<dyn Reference>, ParamError> {
    reference.map(|reference| Box::new(reference) as Box<dyn Reference>)
}

/// The references by name of method, with the parameters that the row promises for a task.
const REFERENCES: &[(&str, Build)] = &[
    ("pursuit", |task| boxed(PursuitReference::new(&PursuitParams::practical(task)?))),
    ("exploration", |task| boxed(ExplorationReference::new(&ExplorationParams::practical(task)?))),
    ("exploitation", |task| boxed(ExploitationReference::new(&ExploitationParams::practical(task)?))),
    ("hybrid", |task| boxed(HybridReference::new(&HybridParams::practical(task)?))),
    ("naive", |task| boxed(NaiveReference::new(&NaiveParams::practical(task)?))),
    ("aerr", |task| boxed(AerrReference::new(&AerrParams::practical(task)?))),
    ("aelr", |task| boxed(AelrReference::new(&AelrParams::practical(task)?))),
    ("aesvr", |task| boxed(AesvrReference::new(&AesvrParams::practical(task)?))),
    ("aer", |task| boxed(AerReference::new(&AerParams::practical(task)?))),
    ("rda1", |task| boxed(Rda1Reference::new(&Rda1Params::practical(task)?))),
    ("rda2", |task| boxed(Rda3Reference::rda2(&Rda2Params::practical(task)?))),
    ("rda3", |task| boxed(Rda3Reference::new(&Rda3Params::practical(task)?))),
    ("greedy", |task| boxed(Rda1Reference::greedy(&GreedyParams::practical(task)?))),
    ("uniform", |task| boxed(Rda1Reference::uniform(&UniformParams::practical(task)?))),
    ("dantzig", |task| boxed(DantzigReference::new(&DantzigParams::practical(task)?))),
    ("omp", |task| boxed(OmpReference::new(&OmpParams::practical(task)?))),
    ("fkk", |task| boxed(FkkReference::new(&FkkParams::practical(task)?))),
    ("online-ridge", |task| boxed(OnlineReference::new(&OnlineParams::ridge(task)?))),
    ("online-lasso", |task| boxed(OnlineReference::new(&OnlineParams::lasso(task)?))),
];

/// The largest difference of a coefficient or prediction. Learner and reference add the same numbers in
/// another order, the learners' lazy sums cancel up to 16 bits, and the methods magnify differences: AERR,
/// AER and AESVR divide by a weight that may be small. After 1,000 examples most methods differ by 1e-15, and
/// AESVR by 1e-12 if it reads all attributes; the difference grows with the run. A fault other than rounding
/// changes a coefficient by at least 1e-6.
const TOLERANCE: f64 = 1e-9;

/// Returns tasks that differ in what they exercise. In the first two the last block of Exploration is
/// narrower than the others; in the third all attributes are observed; the fourth has a start, and no default
/// speed, radius or number of examples; in the last, steps are so long and the ball is so small that every
/// method with a ball projects, and AELR clips.
fn tasks() -> [Task; 5] {
    let start = SparseVector::new(12, vec![1, 5, 9], vec![0.5, -0.5, 0.25]).unwrap();
    let of = |dim, sparsity, budget| Task { dim, sparsity, budget, ..Task::default() };
    let known = Task { start: Some(start), speed: 0.4, radius: Some(1.5), examples: 3000, ..of(12, 3, 7) };
    let small = Task { radius: Some(0.2), examples: 20, ..of(6, 1, 4) };
    [of(8, 2, 5), of(23, 4, 9), of(7, 3, 7), known, small]
}

/// Checks a row: its learner, wrapped by `wrap`, must agree with its reference on all tasks, and budget and
/// model must be those of the row.
fn check<L: Learner>(
    method: &Method,
    wrap: impl Fn(AnyLearner) -> L,
    drawn: fn(&L) -> Drawn<'_>,
) -> Result<(), String> {
    for task in tasks() {
        check_on(method, &task, &wrap, drawn)
            .map_err(|fault| format!("method `{}` on {task:?}: {fault}", method.name))?;
    }
    Ok(())
}

fn check_on<L: Learner>(
    method: &Method,
    task: &Task,
    wrap: impl Fn(AnyLearner) -> L,
    drawn: fn(&L) -> Drawn<'_>,
) -> Result<(), String> {
    let build = REFERENCES.iter().find(|(name, _)| *name == method.name).ok_or(
        "it has no reference: write one in the `reference` module of its paper and add it to REFERENCES in \
         crates/algorithms/tests/algorithms/references.rs",
    )?;
    for stream in [Stream::Plain, Stream::Hard] {
        let mut reference = build.1(task).map_err(|error| format!("its reference: {error}"))?;
        let learner = method.build(task).map_err(|error| error.to_string())?;
        check_beside(method, (task, stream), wrap(learner), &mut *reference, drawn)
            .map_err(|fault| format!("{stream:?} examples: {fault}"))?;
    }
    Ok(())
}

/// The examples that a learner and its reference see.
#[derive(Clone, Copy, Debug)]
enum Stream {
    /// Independent normal attributes.
    Plain,
    /// [`hard`] ones.
    Hard,
}

/// Checks a learner against its reference, and what the row states of it.
fn check_beside<L: Learner>(
    method: &Method,
    (task, stream): (&Task, Stream),
    learner: L,
    reference: &mut dyn Reference,
    drawn: fn(&L) -> Drawn<'_>,
) -> Result<(), String> {
    let (budget, allowed) = ((method.budget)(task), task.budget);
    let (fits, mean) = match budget {
        Budget::PerExample(most) => (most <= allowed, f64::INFINITY),
        Budget::Expected { mean, cap } => (mean <= allowed as f64 && cap <= task.dim, mean),
        Budget::Priced { per_example } => (per_example <= allowed as f64, f64::INFINITY),
        Budget::Unlimited => (reference.has_full_information(), f64::INFINITY),
    };
    if !fits {
        return Err(format!(
            "its row states the budget {budget:?}, but the task allows {allowed} attributes"
        ));
    }

    // The reference takes O(d^2) for each of 8,855 supports.
    let n = if method.growth == Growth::Exponential && task.dim > 20 { 60 } else { 1000 };
    let (source, rows): (Box<dyn Source>, Vec<Example>) = match stream {
        Stream::Plain => (Box::new(source(task.dim, 11)), examples(task.dim, 11, n)),
        Stream::Hard => {
            let (columns, rows) = hard(task.dim, 12, n);
            (Box::new(columns), rows)
        }
    };
    let mut beside = Beside::new(learner, drawn, reference, &rows, TOLERANCE);
    let mut session = Session::new(source, budget, &Seed::root(2));
    let mut entries = beside.coefficients().len();
    let outcome = session.run(&mut beside, SessionLimit::after_examples(n as u64), |_, beside| {
        entries = entries.max(beside.coefficients().len());
    });
    match (&beside.fault, outcome) {
        (Some(fault), _) => return Err(fault.clone()),
        (None, Err(error)) => return Err(error.to_string()),
        (None, Ok(_)) => {}
    }
    let (updates, read) = (beside.updates(), session.ledger().attributes_per_example());
    if updates < 3 {
        return Err(format!("it made {updates} updates in {n} examples"));
    }
    // References are told the draws, so they cannot notice a learner that never draws some attribute.
    let never = beside.ever.iter().position(|ever| !ever);
    if let Some(j) = never.filter(|_| method.explores) {
        return Err(format!("it never asks for attribute {j} in {n} examples"));
    }
    if read > mean {
        return Err(format!("it reads {read} attributes per example, but its row states {mean} on average"));
    }
    let (model, most) = (method.model, method.model.most(task));
    let tighter = [ModelSize::Sparsity, ModelSize::Budget].map(|model| model.most(task));
    if entries > most || tighter.iter().any(|&tighter| tighter < most && entries <= tighter) {
        return Err(format!(
            "its row states ModelSize::{model:?}, {most} non-zeros, but it keeps up to {entries}"
        ));
    }
    Ok(())
}

fn check_row(method: &Method) -> Result<(), String> {
    check(method, |learner| learner, |learner| Drawn::from(learner))
}

#[test]
fn every_method_is_its_reference() {
    assert!(!METHODS.is_empty());
    let faults: Vec<String> = METHODS.iter().filter_map(|method| check_row(method).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn pursuit_with_other_choices_is_its_reference() {
    let half_life = |params| PursuitParams { half_life: Some(90.0), ..params };
    let fdr = |params| PursuitParams { fdr: Some(0.2), ..params };
    let page = |params| PursuitParams { page: Some(24), ..params };
    let choices: [&dyn Fn(PursuitParams) -> PursuitParams; 3] = [&half_life, &fdr, &page];
    for (task, choice) in tasks().into_iter().flat_map(|task| choices.map(|choice| (task.clone(), choice))) {
        for stream in [Stream::Plain, Stream::Hard] {
            let params = choice(PursuitParams::practical(&task).unwrap());
            let mut reference = PursuitReference::new(&params).unwrap();
            let (learner, of) = (params.build().unwrap(), (&task, stream));
            let found = check_beside(&row("pursuit"), of, learner, &mut reference, |_| Drawn::Listed);
            found.unwrap_or_else(|fault| panic!("{of:?}: {fault}"));
        }
    }
}

#[test]
fn every_reference_is_of_a_method() {
    for (name, _) in REFERENCES {
        assert!(method(name).is_some(), "REFERENCES has `{name}`, which is no method: remove it");
        let count = REFERENCES.iter().filter(|(other, _)| other == name).count();
        assert_eq!(count, 1, "REFERENCES has `{name}` {count} times");
    }
}

/// Asserts that the check finds a fault in the row, and names the method.
fn notices(row: &Method, what: &str) {
    let Err(fault) = check_row(row) else { panic!("the check lets pass: `{}`, {what}", row.name) };
    assert!(fault.starts_with(&format!("method `{}` on Task", row.name)), "{what}: {fault}");
}

fn row(name: &str) -> Method {
    *method(name).unwrap()
}

#[test]
fn a_method_without_a_reference_is_noticed() {
    let fault = check_row(&Method { name: "new", ..row("hybrid") }).unwrap_err();
    assert!(fault.starts_with("method `new` on Task") && fault.contains("has no reference"), "{fault}");
}

#[test]
fn a_row_that_builds_another_method_is_noticed() {
    for method in METHODS {
        for other in METHODS.iter().filter(|other| other.name != method.name) {
            notices(&Method { params: other.params, ..*method }, &format!("built as `{}`", other.name));
        }
    }
}

#[test]
fn a_row_that_builds_with_other_parameters_is_noticed() {
    let exploration = row("exploration");
    let params = |task: &Task| (method("exploration").unwrap().params)(&Task { start: None, ..task.clone() });
    notices(&Method { params, ..exploration }, "without the start");
    let params = |task: &Task| (method("rda1").unwrap().params)(&Task { radius: Some(1.0), ..task.clone() });
    notices(&Method { params, ..row("rda1") }, "with radius 1");
    let params =
        |task: &Task| (method("aer").unwrap().params)(&Task { budget: task.budget - 1, ..task.clone() });
    notices(&Method { params, ..row("aer") }, "with less than the budget");
    let params = |task: &Task| (method("rda2").unwrap().params)(&Task { dim: task.dim + 1, ..task.clone() });
    notices(&Method { params, ..row("rda2") }, "with one attribute more");
    let params = |task: &Task| (method("naive").unwrap().params)(&Task { speed: 0.8, ..task.clone() });
    notices(&Method { params, ..row("naive") }, "with another speed");
}

#[test]
fn a_row_that_states_another_budget_is_noticed() {
    for method in METHODS {
        let limited = (method.budget)(&tasks()[0]) != Budget::Unlimited;
        if limited {
            notices(&Method { budget: |_| Budget::Unlimited, ..*method }, "stated to be unlimited");
            let budget = |task: &Task| Budget::PerExample(task.budget + 1);
            notices(&Method { budget, ..*method }, "stated to read one more");
        } else {
            notices(
                &Method { budget: |task| Budget::PerExample(task.budget), ..*method },
                "stated as limited",
            );
        }
    }
    let budget = |task: &Task| Budget::Expected { mean: 2.0, cap: task.dim };
    notices(&Method { budget, ..row("aesvr") }, "stated to read less");
    notices(
        &Method { budget: |task| Budget::PerExample(task.budget - 1), ..row("aerr") },
        "stated to read one less",
    );
}

#[test]
fn a_row_that_states_another_model_is_noticed() {
    for method in METHODS {
        for model in [ModelSize::Sparsity, ModelSize::Budget, ModelSize::Dense] {
            if model != method.model {
                notices(&Method { model, ..*method }, &format!("stated as {model:?}"));
            }
        }
    }
}

#[test]
fn what_no_learner_of_the_method_asks_for_is_refused_by_its_reference() {
    let [task, ..] = tasks();
    for (name, build) in REFERENCES {
        let mut reference = build(&task).unwrap();
        let before = reference.coefficients();
        let draws = [(); 2].map(|()| GenEstDraws { factors: 1, attributes: Vec::new() });
        let beyond = [(); 2].map(|()| GenEstDraws { factors: 1, attributes: vec![8] });
        let kinds = [
            Drawn::Listed,
            Drawn::Set(&[1, 0]),
            Drawn::Set(&[8]),
            Drawn::SetAndSupport(&[], &[]),
            Drawn::SetAndSupport(&[0, 1, 2], &[8]),
            Drawn::Estimates(&draws),
            Drawn::Estimates(&beyond),
        ];
        for drawn in kinds {
            for (length, asked) in [(8, &[][..]), (8, &[7]), (8, &[8]), (8, &[u32::MAX]), (7, &[0]), (0, &[])]
            {
                let x = vec![1.0; length];
                let seen = Seen { x: &x, label: 1.0, asked, drawn };
                let mismatch = reference.see(&seen).expect_err(name).to_string();
                assert!(!mismatch.is_empty() && reference.coefficients() == before, "{name}: {mismatch}");
                // Whatever the answer is, there is no panic.
                let _ = reference.predict(&seen);
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Sin {
    None,
    /// Counts three examples too many in a gradient sum.
    LargerBatch,
    /// Adds nothing for a block that is narrower than the others.
    DropsRaggedBlock,
    /// Skips one coordinate of a block.
    DropsLastCoordinate,
    /// Uses the residual of opposite sign for one example in a hundred.
    MishearsLabel,
    /// Predicts 0 as every label.
    PredictsZero,
    /// Returns one coefficient slightly too large.
    GivesMore,
}

/// A learner with a fault.
struct Sinner {
    inner: AnyLearner,
    sin: Sin,
    widest: usize,
    told: u64,
    given: SparseVector,
}

impl Sinner {
    fn new(inner: AnyLearner, sin: Sin) -> Self {
        let given = inner.coefficients().to_owned_vector();
        Sinner { inner, sin, widest: 0, told: 0, given }
    }
}

impl Learner for Sinner {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        self.inner.ask(rng, ask);
    }

    fn predict(&self, seen: Row<'_>) -> f64 {
        if let Sin::PredictsZero = self.sin { 0.0 } else { self.inner.predict(seen) }
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        match told {
            Told::Gradient(part) => {
                let (n, width) = (part.examples as f64, part.attributes.len());
                self.widest = self.widest.max(width);
                let mut sum = part.sum.to_vec();
                match self.sin {
                    Sin::LargerBatch => sum.iter_mut().for_each(|sum| *sum *= n / (n + 3.0)),
                    Sin::DropsRaggedBlock if width < self.widest => sum.fill(0.0),
                    Sin::DropsLastCoordinate => sum[width - 1] = 0.0,
                    _ => {}
                }
                self.inner.tell(Told::Gradient(GradientSum { sum: &sum, ..part }))?;
            }
            Told::Values(block) => {
                let mut other = lao_observation::BlockBuf::new();
                other.reset(block.attributes().len(), block.rows());
                for c in 0..block.attributes().len() {
                    other.column_mut(c).copy_from_slice(block.column(c));
                }
                for (told, label) in other.labels_mut().iter_mut().zip(block.labels()) {
                    self.told += 1;
                    let misheard = matches!(self.sin, Sin::MishearsLabel) && self.told.is_multiple_of(100);
                    *told = if misheard { -1.0 } else { 1.0 } * label;
                }
                other.set_rows(block.rows());
                self.inner.tell(Told::Values(other.view(block.attributes())))?;
            }
        }
        self.given = self.inner.coefficients().to_owned_vector();
        if let (Sin::GivesMore, Some(value)) = (self.sin, self.given.values_mut().last_mut()) {
            *value += 1e-6;
        }
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.given.view()
    }

    fn updates(&self) -> u64 {
        self.inner.updates()
    }
}

fn check_sinner(name: &str, sin: Sin) -> Result<(), String> {
    let wrap = |learner| Sinner::new(learner, sin);
    check(&row(name), wrap, |learner| Drawn::from(&learner.inner))
}

#[test]
fn learners_with_a_fault_are_noticed() {
    for method in METHODS {
        let name = method.name;
        check_sinner(name, Sin::None).unwrap();
        let sins: &[Sin] = match (method.batches, method.explores) {
            (true, true) => {
                &[Sin::LargerBatch, Sin::DropsRaggedBlock, Sin::DropsLastCoordinate, Sin::GivesMore]
            }
            (true, false) => &[Sin::LargerBatch, Sin::DropsLastCoordinate, Sin::GivesMore],
            (false, _) => &[Sin::MishearsLabel, Sin::PredictsZero, Sin::GivesMore],
        };
        for &sin in sins {
            let Err(fault) = check_sinner(name, sin) else {
                panic!("the check lets pass: `{name}` with the sin {sin:?}")
            };
            assert!(fault.starts_with(&format!("method `{name}` on Task")), "{sin:?}: {fault}");
            let names_what = fault.contains("coefficient") || !method.batches && fault.contains("prediction");
            assert!(names_what, "{sin:?}: {fault}");
        }
    }
}

#[test]
fn the_faults_of_the_list_are_named() {
    let divided = check_sinner("exploration", Sin::LargerBatch).unwrap_err();
    assert!(divided.contains("coefficient 0 is"), "{divided}");
    // The fault is found on the first task, d = 8 with blocks of three.
    let dropped = check_sinner("exploration", Sin::DropsRaggedBlock).unwrap_err();
    assert!(dropped.contains("dim: 8"), "{dropped}");
    let unlimited = check_row(&Method { budget: |_| Budget::Unlimited, ..row("hybrid") }).unwrap_err();
    assert!(unlimited.contains("states the budget Unlimited"), "{unlimited}");
}
