//! Parameters at their extremes: `build` refuses them and names field, value and allowed range, or the
//! learner runs and stays finite.

use lao_algorithms::baselines::{AerParams, Ball, DantzigParams, FkkParams, OmpParams, OnlineParams};
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, AesvrParams};
use lao_algorithms::ito::{GreedyParams, Rda1Params, Rda2Params, Rda3Params, UniformParams};
use lao_algorithms::murata_suzuki::{
    ExploitationParams, ExplorationParams, Guarantee, HybridParams, NaiveParams, Problem, StageGuarantee,
};
use lao_algorithms::{AnyParams, BatchSizes, METHODS, Method, Money, ParamError, StepSizes, Task};
use lao_datasets::synthetic::{Noise, UniformAttributes, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Constants, Learner, Seed, Session, Tariff};
use lao_testing::largest;
use std::collections::BTreeSet;
use toml::Value;

const DIM: usize = 23;
const BUDGET: usize = 9;
/// The largest allocation of a method for 23 attributes, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// Returns allowed parameters of every kind, with every option given.
fn working() -> Vec<AnyParams> {
    let start = SparseVector::new(DIM, vec![1, 4, 9], vec![0.5, -0.5, 0.25]).unwrap();
    let task = Task {
        dim: DIM,
        sparsity: 4,
        budget: BUDGET,
        radius: Some(4.0),
        examples: 1000,
        speed: 0.4,
        start: Some(start),
        money: None,
    };
    let money = Some(Money::new(Tariff::uniform(DIM, 0.5).unwrap(), 0.5 * BUDGET as f64));
    let updates = Some(1_000_000);
    let exploration = ExplorationParams { updates, ..ExplorationParams::practical(&task).unwrap() };
    let exploitation = ExploitationParams { updates, ..ExploitationParams::practical(&task).unwrap() };
    let hybrid = HybridParams { stages: updates, ..HybridParams::practical(&task).unwrap() };
    let naive = NaiveParams::practical(&task).unwrap();
    let listed = BatchSizes::Listed(vec![2, 3]);
    vec![
        AnyParams::Exploration(ExplorationParams { batch: BatchSizes::Constant(3), ..exploration.clone() }),
        AnyParams::Exploration(ExplorationParams { money: money.clone(), ..exploration.clone() }),
        AnyParams::Exploration(exploration),
        AnyParams::Exploitation(ExploitationParams { batch: listed.clone(), ..exploitation.clone() }),
        AnyParams::Exploitation(exploitation),
        AnyParams::Hybrid(HybridParams { exploit_batch: listed, ..hybrid.clone() }),
        AnyParams::Hybrid(HybridParams { money, ..hybrid.clone() }),
        AnyParams::Hybrid(hybrid),
        AnyParams::Naive(NaiveParams { step_size: StepSizes::Constant(0.01), ..naive.clone() }),
        AnyParams::Naive(NaiveParams { step_size: StepSizes::InverseSqrt(0.01), ..naive.clone() }),
        AnyParams::Naive(naive),
        AnyParams::Aerr(AerrParams::practical(&task).unwrap()),
        AnyParams::Aelr(AelrParams::practical(&task).unwrap()),
        AnyParams::Aesvr(AesvrParams::practical(&task).unwrap()),
        AnyParams::Aer(AerParams::practical(&task).unwrap()),
        AnyParams::Rda1(Rda1Params::practical(&task).unwrap()),
        AnyParams::Rda2(Rda2Params::practical(&task).unwrap()),
        AnyParams::Rda3(Rda3Params::practical(&task).unwrap()),
        AnyParams::Greedy(GreedyParams::practical(&task).unwrap()),
        AnyParams::Uniform(UniformParams::practical(&task).unwrap()),
        AnyParams::Dantzig(DantzigParams::practical(&task).unwrap()),
        AnyParams::Omp(OmpParams::practical(&task).unwrap()),
        AnyParams::Fkk(FkkParams::practical(&Task { sparsity: 2, ..task.clone() }).unwrap()),
        AnyParams::Online(OnlineParams::ridge(&task).unwrap()),
        AnyParams::Online(OnlineParams::lasso(&task).unwrap()),
    ]
}

/// Returns all copies of `value` with one number at an extreme, and the path to this number.
fn extremes(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Float(_) => [0.0, -1.0, 5e-324, 1e-308, 1e-150, 1e-10, 1e10, 1e150, 1e308, f64::MAX]
            .into_iter()
            .chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY])
            .map(|extreme| (format!(" = {extreme:e}"), Value::Float(extreme)))
            .collect(),
        Value::Integer(_) => [0, 1, 2, DIM as i64, i64::from(u32::MAX), 1 << 40, i64::MAX]
            .into_iter()
            .map(|extreme| (format!(" = {extreme}"), Value::Integer(extreme)))
            .collect(),
        Value::Array(entries) => {
            let changed = |at: usize| {
                extremes(&entries[at]).into_iter().map(move |(what, entry)| {
                    let mut entries = entries.clone();
                    entries[at] = entry;
                    (format!("[{at}]{what}"), Value::Array(entries))
                })
            };
            (0..entries.len()).flat_map(changed).collect()
        }
        Value::Table(fields) => {
            let changed = |(field, value): (&String, &Value)| {
                let replaced = |(what, value)| {
                    let mut fields = fields.clone();
                    fields.insert(field.clone(), value);
                    (format!(".{field}{what}"), Value::Table(fields))
                };
                extremes(value).into_iter().map(replaced).collect::<Vec<_>>()
            };
            fields.iter().flat_map(changed).collect()
        }
        _ => Vec::new(),
    }
}

/// Collects the names of all fields, at any depth.
fn fields(value: &Value, names: &mut BTreeSet<String>) {
    if let Value::Table(table) = value {
        for (name, value) in table {
            names.insert(name.clone());
            fields(value, names);
        }
    }
}

/// Runs a learner for 40 asks.
fn run(params: AnyParams) -> Result<Result<(), ParamError>, String> {
    let mut learner = match params.build() {
        Ok(learner) => learner,
        Err(error) => return Ok(Err(error)),
    };
    let dim = learner.dim();
    let design = UniformAttributes::new(dim).map_err(|error| error.to_string())?;
    let theta = SparseVector::new(dim, vec![0], vec![1.0]).map_err(|error| error.to_string())?;
    let source = Virtual::new(design, theta, Noise::Gaussian(0.1), &Seed::root(5)).unwrap();
    let mut session = Session::new(source, Budget::Unlimited, &Seed::root(6));
    for _ in 0..40 {
        let step = session.step(&mut learner, 32);
        let theta = learner.coefficients();
        if !theta.values().iter().all(|value| value.is_finite()) {
            return Err(format!("an estimate that is not finite after {step:?}"));
        }
        match step {
            Ok(_) => {}
            Err(error) if error.to_string().contains("diverged") => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    // The state after the run can be stored and read.
    let stored = serde_json::to_string(&learner).map_err(|error| error.to_string())?;
    let read = serde_json::from_str::<lao_algorithms::AnyLearner>(&stored);
    read.map(|_| Ok(())).map_err(|error| format!("its state cannot be read: {error}"))
}

#[test]
fn extreme_parameters_are_refused_by_name_or_run() {
    let (mut findings, mut refused, mut ran) = (Vec::new(), 0, 0);
    for params in working() {
        assert!(matches!(run(params.clone()), Ok(Ok(()))), "{params:?}");
        let value = Value::try_from(&params).unwrap();
        let mut names = BTreeSet::new();
        fields(&value, &mut names);
        let method = value["method"].clone();
        for (what, changed) in extremes(&value) {
            // Types refuse what they cannot hold, such as a start with an index beyond its dimension.
            let Ok(changed) = changed.try_into::<AnyParams>() else { continue };
            let (ended, bytes) = largest(|| run(changed));
            let mut finding = |why: String| findings.push(format!("{method}{what}: {why}"));
            if bytes > MOST_BYTES {
                finding(format!("took {bytes} bytes at once"));
            }
            match ended {
                Ok(Ok(())) => ran += 1,
                Err(why) => finding(why),
                Ok(Err(error)) => {
                    refused += 1;
                    let told = !error.value.is_empty() && !error.allowed.is_empty();
                    if !names.contains(error.field) || !told || error.to_string().len() > 250 {
                        finding(format!("refused by {error}"));
                    }
                }
            }
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert!(refused > 500 && ran > 400, "{refused} refused, {ran} ran");
}

/// Returns whether the method has parameters for the task, and a learner for these.
fn builds(method: &Method, task: &Task) -> bool {
    method.build(task).is_ok()
}

#[test]
fn no_examples_and_tiny_or_huge_radii_and_speeds_are_no_reason_to_refuse_a_step_size() {
    let known = Task { dim: 9, sparsity: 2, budget: 5, radius: Some(1.0), examples: 0, ..Task::default() };
    for ball in [Ball::Ridge, Ball::Lasso] {
        assert!(OnlineParams::from_theorem(ball, &known).build().is_ok());
    }
    assert!(FkkParams::from_theorem(&known).build().is_ok());
    for method in METHODS {
        assert!(builds(method, &known), "{}", method.name);
        for speed in [1e-300, 1e-150, 1e150, 1e300] {
            let extreme = Task { speed, ..known.clone() };
            assert!(builds(method, &extreme), "{}, {speed}", method.name);
            for radius in [1e-150, 1e150] {
                let extreme = Task { radius: Some(radius), ..extreme.clone() };
                assert!(builds(method, &extreme), "{}, {radius}, {speed}", method.name);
            }
        }
    }
}

#[test]
fn what_is_refused_is_what_was_given() {
    let known = Task { dim: 9, sparsity: 2, budget: 5, radius: Some(1.0), ..Task::default() };
    for method in METHODS {
        let refused = |task: &Task| method.build(task).map_err(|error| error.field).map(|_| ());
        assert_eq!(refused(&known), Ok(()), "{}", method.name);
        for strange in [0.0, -1.0, f64::NAN, f64::INFINITY, 5e-324, f64::MAX] {
            let what = format!("{}: {strange}", method.name);
            assert_eq!(refused(&Task { speed: strange, ..known.clone() }), Err("speed"), "{what}");
            let radius = refused(&Task { radius: Some(strange), ..known.clone() });
            assert!(radius == Err("radius") || radius == Ok(()), "{what}: {radius:?}");
        }
    }
}

#[test]
fn practical_parameters_take_from_the_task_what_they_need() {
    let start = SparseVector::new(9, vec![1, 4], vec![0.5, -0.5]).unwrap();
    let task = Task { dim: 9, sparsity: 2, budget: 5, start: Some(start.clone()), ..Task::default() };
    let started = Some(start.clone());
    let exploration = ExplorationParams::practical(&task).unwrap();
    assert_eq!((exploration.step_size, &exploration.start), (0.25, &started));
    let hybrid = HybridParams::practical(&Task { speed: 0.8, ..task.clone() }).unwrap();
    assert_eq!((hybrid.step_size, &hybrid.start), (0.2, &started));
    assert_eq!(NaiveParams::practical(&task).unwrap().start, started);
    assert_eq!(ExploitationParams::practical(&task).unwrap().start, start);
    let first = ExploitationParams::practical(&Task { start: None, ..task.clone() }).unwrap().start;
    assert_eq!((first.indices(), first.values()), (&[0, 1][..], &[0.0, 0.0][..]));

    // One attribute of the budget is drawn by weight; AESVR needs two, and AER half of the budget. Without a
    // radius, the radius is the sparsity.
    let aerr = AerrParams::practical(&task).unwrap();
    assert_eq!((aerr.draws, aerr.radius, &aerr.start), (4, 2.0, &started));
    assert_eq!(AelrParams::practical(&task).unwrap().draws, 4);
    assert_eq!(AesvrParams::practical(&task).unwrap().draws, 3);
    let aer = AerParams::practical(&Task { radius: Some(3.0), ..task.clone() }).unwrap();
    assert_eq!((aer.uniform, aer.weighted, aer.radius), (2, 3, Some(3.0)));

    let rda1 = Rda1Params::practical(&task).unwrap();
    assert_eq!((rda1.budget, rda1.kept), (5, 2));
    let dantzig = DantzigParams::practical(&Task { examples: 77, ..task.clone() }).unwrap();
    assert_eq!((dantzig.examples, dantzig.predicts), (Some(77), true));
    // Twice the speed is twice the step.
    let fast = Task { speed: 2.0, ..task.clone() };
    let step = |task| FkkParams::practical(task).unwrap().step_size;
    assert_eq!(step(&fast), 2.0 * step(&task));
    let step = |task| OnlineParams::lasso(task).unwrap().step_size;
    assert_eq!((step(&task), step(&fast)), (0.25 / 18.0, 0.5 / 18.0));
    let scale = |task| GreedyParams::practical(task).unwrap().regularization.scale;
    assert_eq!((scale(&task), scale(&fast)), (4.0, 2.0));
}

#[test]
fn constructors_take_any_numbers_without_panic_or_large_lists() {
    let ((), bytes) = largest(construct_from_any_numbers);
    assert!(bytes <= MOST_BYTES, "{bytes} bytes at once");
}

fn construct_from_any_numbers() {
    let sizes = [0, 1, 2, 9, u32::MAX as usize, usize::MAX];
    for dim in sizes {
        for sparsity in sizes {
            for budget in sizes {
                for examples in [0, 1, u64::MAX] {
                    let task = Task { dim, sparsity, budget, radius: Some(1.0), examples, ..Task::default() };
                    for method in METHODS {
                        let _ = method.build(&task);
                    }
                    let _ = FkkParams::from_theorem(&task).cost_per_example();
                    let _ = DantzigParams::practical(&task).map(|params| params.cost_per_example());
                    let _ = OmpParams::practical(&task).map(|params| params.cost_per_example());
                    let _ = Rda1Params::from_theorem(&task).build();
                    let _ = Rda2Params::from_theorem(&task).build();
                    let _ = Rda3Params::from_theorem(&task, 0.5).build();
                }
            }
        }
    }
    let numbers = [0.0, -1.0, 1e-308, 1.0, 1e308, f64::NAN, f64::INFINITY];
    for number in numbers {
        for other in numbers {
            let many = if (number, other) == (1.0, 1.0) { u64::MAX } else { 3 };
            for stages in [0, 1, many] {
                let constants =
                    Constants { smoothness: number, convexity: other, bound: 1.0, noise: other, sparsity: 2 };
                let problem =
                    Problem { constants, dim: 9, sparsity: 3, step_size: Problem::theorem_step(&constants) };
                let _ = HybridParams::from_theorem(
                    &problem,
                    6,
                    StageGuarantee { stages, gap_0: other, delta: number },
                )
                .build();
                let _ = ExplorationParams::from_theorem(
                    &problem,
                    6,
                    Guarantee { updates: stages, slack: other, delta: number },
                )
                .build();
                let start = SparseVector::zeros(9);
                let _ = ExploitationParams::from_theorem(
                    &problem,
                    start,
                    6,
                    Guarantee { updates: stages, slack: other, delta: number },
                )
                .build();
            }
        }
    }
}
