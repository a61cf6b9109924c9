//! Parameters at their extremes: the gate refuses them by field, value and allowed range, or the learner runs
//! and stays finite.

use lao_algorithms::baselines::{AerParams, Ball, DantzigParams, FkkParams, OnlineParams};
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, AesvrParams};
use lao_algorithms::ito::{GreedyParams, Rda1Params, Rda2Params, Rda3Params, UniformParams};
use lao_algorithms::murata_suzuki::{
    ExploitationParams, ExplorationParams, HybridParams, NaiveParams, Problem,
};
use lao_algorithms::{AnyParams, BatchSizes, ParamError, StepSizes};
use lao_datasets::synthetic::{Noise, Uniform, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Constants, Learner, Seed, Session};
use lao_testing::{Watched, largest};
use std::collections::BTreeSet;
use toml::Value;

const DIM: usize = 23;
const BUDGET: usize = 9;
/// No method takes more at once for 23 attributes.
const MOST_BYTES: usize = 64 << 20;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Parameters of every kind that work, with every option given.
fn working() -> Vec<AnyParams> {
    let start = SparseVector::new(DIM, vec![1, 4, 9], vec![0.5, -0.5, 0.25]).unwrap();
    let given = |start: &SparseVector| Some(start.clone());
    let (s, step, updates) = (4, 0.1, Some(1_000_000));
    let exploration = ExplorationParams {
        updates,
        start: given(&start),
        ..ExplorationParams::practical(DIM, s, BUDGET, step)
    };
    let exploitation =
        ExploitationParams { updates, ..ExploitationParams::practical(start.clone(), BUDGET, step) };
    let hybrid = HybridParams {
        stages: updates,
        start: given(&start),
        ..HybridParams::practical(DIM, s, BUDGET, step)
    };
    let naive = NaiveParams { start: given(&start), ..NaiveParams::practical(DIM, s, BUDGET, step) };
    let listed = BatchSizes::Listed(vec![2, 3]);
    vec![
        AnyParams::Exploration(ExplorationParams { batch: BatchSizes::Constant(3), ..exploration.clone() }),
        AnyParams::Exploration(exploration),
        AnyParams::Exploitation(ExploitationParams { batch: listed.clone(), ..exploitation.clone() }),
        AnyParams::Exploitation(exploitation),
        AnyParams::Hybrid(HybridParams { exploit_batch: listed, ..hybrid.clone() }),
        AnyParams::Hybrid(hybrid),
        AnyParams::Naive(NaiveParams { step_size: StepSizes::Constant(0.01), ..naive.clone() }),
        AnyParams::Naive(NaiveParams { step_size: StepSizes::InverseSqrt(0.01), ..naive.clone() }),
        AnyParams::Naive(naive),
        AnyParams::Aerr(AerrParams {
            start: given(&start),
            ..AerrParams::practical(DIM, 8, 4.0, 1000, step)
        }),
        AnyParams::Aelr(AelrParams::practical(DIM, 8, 4.0, 1000, step)),
        AnyParams::Aesvr(AesvrParams::practical(DIM, 7, 4.0, 1000, step)),
        AnyParams::Aer(AerParams::practical(DIM, BUDGET, 4.0, 1000, step)),
        AnyParams::Rda1(Rda1Params::practical(DIM, BUDGET, s, step, 4.0)),
        AnyParams::Rda2(Rda2Params::practical(DIM, BUDGET, step, 4.0)),
        AnyParams::Rda3(Rda3Params::practical(DIM, BUDGET, step, 4.0)),
        AnyParams::Greedy(GreedyParams::practical(DIM, BUDGET, step, 4.0)),
        AnyParams::Uniform(UniformParams::practical(DIM, BUDGET, step, 4.0)),
        AnyParams::Dantzig(DantzigParams::practical(DIM, s, BUDGET, 1000)),
        AnyParams::Fkk(FkkParams::practical(DIM, 2, BUDGET, 4.0, 1000, step)),
        AnyParams::Online(OnlineParams::practical(DIM, Ball::Ridge, 4.0, step)),
        AnyParams::Online(OnlineParams::practical(DIM, Ball::Lasso, 4.0, step)),
    ]
}

/// All copies of `value` with one number at an extreme, and the way there.
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

/// The names of all fields, at any depth.
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
    let design = Uniform::new(dim).map_err(|error| error.to_string())?;
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
    // What became of it can be stored and read.
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

#[test]
fn no_examples_and_tiny_or_huge_radii_and_steps_are_no_reason_to_refuse_a_step_size() {
    for ball in [Ball::Ridge, Ball::Lasso] {
        assert!(OnlineParams::from_theorem(9, ball, 1.0, 0).build().is_ok());
        for (radius, step) in [(1e-150, 1e-300), (1e-150, 1e300), (1e150, 1e-300), (1e150, 1e300)] {
            let params = OnlineParams::practical(9, ball, radius, step);
            assert!(params.build().is_ok(), "{ball:?}, {radius}, {step}");
        }
        // What is refused is what was given.
        let refused =
            |radius, step| OnlineParams::practical(9, ball, radius, step).build().unwrap_err().field;
        for strange in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!((refused(strange, 0.1), refused(1.0, strange)), ("radius", "step_size"));
        }
    }
    assert!(FkkParams::from_theorem(9, 2, 5, 0).build().is_ok());
    assert!(FkkParams::practical(9, 2, 5, 1.0, 0, 0.25).build().is_ok());
    for step in [1e-300, 1e-150, 1e150, 1e308] {
        assert!(FkkParams::practical(9, 2, 5, 1.0, 100, step).build().is_ok(), "{step}");
        assert!(NaiveParams::practical(9, 2, 5, step).build().is_ok(), "{step}");
        assert!(GreedyParams::practical(9, 5, step, 1.0).build().is_ok(), "{step}");
        assert!(UniformParams::practical(9, 5, step, 1.0).build().is_ok(), "{step}");
        assert!(Rda1Params::practical(9, 5, 2, step, 1.0).build().is_ok(), "{step}");
        assert!(Rda2Params::practical(9, 5, step, 1.0).build().is_ok(), "{step}");
        assert!(Rda3Params::practical(9, 5, step, 1.0).build().is_ok(), "{step}");
    }
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
                    let _ = FkkParams::practical(dim, sparsity, budget, 1.0, examples, 0.1).build();
                    let _ = FkkParams::from_theorem(dim, sparsity, budget, examples).cost_per_example();
                    let dantzig = DantzigParams::practical(dim, sparsity, budget, examples);
                    let _ = (dantzig.cost_per_example(), dantzig.build());
                }
                let _ = Rda1Params::from_theorem(dim, budget, sparsity).build();
                let _ = Rda1Params::practical(dim, budget, sparsity, 0.1, 1.0).build();
                let _ = ExplorationParams::practical(dim, sparsity, budget, 0.1).build();
                let _ = HybridParams::practical(dim, sparsity, budget, 0.1).build();
                let _ = NaiveParams::practical(dim, sparsity, budget, 0.1).build();
            }
            let _ = Rda2Params::from_theorem(dim, sparsity).build();
            let _ = Rda3Params::from_theorem(dim, sparsity, 0.5).build();
            let _ = GreedyParams::practical(dim, sparsity, 0.1, 1.0).build();
            let _ = UniformParams::practical(dim, sparsity, 0.1, 1.0).build();
        }
    }
    let numbers = [0.0, -1.0, 1e-308, 1.0, 1e308, f64::NAN, f64::INFINITY];
    for number in numbers {
        for other in numbers {
            let many = if (number, other) == (1.0, 1.0) { u64::MAX } else { 3 };
            for stages in [0, 1, many] {
                let constants =
                    Constants { smoothness: number, convexity: other, bound: 1.0, noise: other, sparsity: 2 };
                let problem = Problem::new(constants, 9, 3);
                let _ = HybridParams::from_theorem(&problem, 6, stages, other, number).build();
                let _ = ExplorationParams::from_theorem(&problem, 6, stages, other, number).build();
                let start = SparseVector::zeros(9);
                let _ = ExploitationParams::from_theorem(&problem, start, 6, stages, other, number).build();
            }
        }
    }
}
