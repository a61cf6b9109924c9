//! Parameters at the extremes of the number range: `build` refuses them and names the field that was given,
//! or the run keeps finite numbers or ends with a named error.

use lao_algorithms::baselines::AerParams;
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, AesvrParams, Horizon, SmoothedLoss};
use lao_algorithms::{AnyLearner, AnyParams, ParamError, Task};
use lao_datasets::synthetic::{Noise, UniformAttributes, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Learner, Seed, Session};
use serde_json::{Map, Value, json};

const DIM: usize = 30;
const EXTREMES: [f64; 14] =
    [5e-324, 1e-308, 1e-200, 1e-151, 1e-150, 1e-100, 1e-16, 1e16, 1e100, 1e150, 1e151, 1e200, 1e308, -1.0];

/// Returns parameters of every method of Hazan & Koren and Cesa-Bianchi et al., in the form of a file.
fn all_params(radius: f64, examples: u64) -> [AnyParams; 8] {
    let task = |budget| Task { dim: DIM, budget, radius: Some(radius), examples, ..Task::default() };
    let horizon = Horizon { dim: DIM, draws: 4, radius, examples };
    let loss = SmoothedLoss { insensitivity: 0.1, smoothing: 0.5, second_moment: 5.0 };
    let aer = AerParams::practical(&task(8)).unwrap();
    [
        AnyParams::Aerr(AerrParams::practical(&task(5)).unwrap()),
        AnyParams::Aerr(AerrParams::from_theorem(horizon)),
        AnyParams::Aelr(AelrParams::practical(&task(5)).unwrap()),
        AnyParams::Aelr(AelrParams::from_theorem(horizon)),
        AnyParams::Aesvr(AesvrParams::practical(&task(6)).unwrap()),
        AnyParams::Aesvr(AesvrParams::from_theorem(horizon, loss)),
        AnyParams::Aer(aer.clone()),
        AnyParams::Aer(AerParams { radius: None, ..aer }),
    ]
}

fn fields(params: &AnyParams) -> Map<String, Value> {
    let Value::Object(fields) = serde_json::to_value(params).unwrap() else { panic!("a map") };
    fields
}

fn check(fields: Map<String, Value>) -> Result<AnyLearner, ParamError> {
    serde_json::from_value::<AnyParams>(Value::Object(fields)).unwrap().build()
}

/// Makes forty steps on labels of this size.
fn run(mut learner: AnyLearner, labels: f64, name: &str) {
    let theta = SparseVector::new(DIM, vec![0, 7], vec![labels, -labels]).unwrap();
    let design = UniformAttributes::new(DIM).unwrap();
    let source = Virtual::new(design, theta, Noise::None, &Seed::root(1)).unwrap();
    let mut session = Session::new(source, Budget::Unlimited, &Seed::root(2)).online();
    for step in 0..40 {
        let served = session.step(&mut learner, 1);
        let finite = learner.coefficients().values().iter().all(|value| value.is_finite());
        assert!(finite, "{name}: coefficients after step {step}");
        // The state after the run can be stored.
        let stored = serde_json::to_string(&learner).unwrap();
        let read = serde_json::from_str::<AnyLearner>(&stored);
        assert!(read.is_ok(), "{name}: after step {step}, {}", read.unwrap_err());
        if let Err(error) = served {
            assert!(error.to_string().contains("diverged"), "{name}: {error}");
            return;
        }
    }
}

#[test]
fn a_number_at_any_extreme_is_refused_by_name_or_leads_to_finite_numbers() {
    let (mut refused, mut ran) = (0, 0);
    for params in all_params(4.0, 1000) {
        let fields = fields(&params);
        let floats = fields.iter().filter(|(_, value)| value.is_f64()).map(|(field, _)| field);
        for field in floats {
            for extreme in EXTREMES {
                let mut changed = fields.clone();
                changed.insert(field.clone(), json!(extreme));
                let name = format!("{params:?} with {field} = {extreme:e}");
                match check(changed) {
                    Err(error) => {
                        assert_eq!(error.field, field, "{name}: {error}");
                        refused += 1;
                    }
                    Ok(learner) => {
                        for labels in [0.0, 1e-150, 1.0, 1e100, 1e300] {
                            run(learner.clone(), labels, &format!("{name}, labels of {labels:e}"));
                        }
                        ran += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 100 && ran > 100, "{refused} refused, {ran} ran");
}

#[test]
fn two_numbers_at_extremes_lead_to_finite_numbers() {
    let ends = [1e-150, 1e-75, 1.0, 1e75, 1e150];
    for params in all_params(4.0, 1000) {
        let fields = fields(&params);
        let floats: Vec<&String> =
            fields.iter().filter(|(_, value)| value.is_f64()).map(|(field, _)| field).collect();
        for (at, one) in floats.iter().enumerate() {
            for other in &floats[..at] {
                for (a, b) in ends.iter().flat_map(|a| ends.map(|b| (*a, b))) {
                    let mut changed = fields.clone();
                    changed.insert((*one).clone(), json!(a));
                    changed.insert((*other).clone(), json!(b));
                    let learner = check(changed).unwrap();
                    run(learner, 1.0, &format!("{params:?} with {one} = {a:e}, {other} = {b:e}"));
                }
            }
        }
    }
}

#[test]
fn counts_are_bounded_by_what_they_mean() {
    for params in all_params(4.0, 1000) {
        let fields = fields(&params);
        let changed = |field: &str, value: u64| {
            let mut changed = fields.clone();
            changed.insert(field.into(), json!(value));
            check(changed)
        };
        for field in ["draws", "uniform", "weighted"].into_iter().filter(|&field| fields.contains_key(field))
        {
            for allowed in [1, 16 * DIM as u64] {
                run(changed(field, allowed).unwrap(), 1.0, field);
            }
            for beyond in [0, 16 * DIM as u64 + 1, 4_000_000_000, u64::MAX] {
                let error = changed(field, beyond).unwrap_err();
                assert_eq!((error.field, error.value), (field, beyond.to_string()));
                assert!(error.allowed.contains("16 d = 480"), "{}", error.allowed);
            }
        }
        for beyond in [0, (1 << 27) + 1, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(changed("dim", beyond).unwrap_err().field, "dim");
        }
        if fields.contains_key("repetitions") {
            for beyond in [0, (1 << 16) + 1, u64::from(u32::MAX)] {
                assert_eq!(changed("repetitions", beyond).unwrap_err().field, "repetitions");
            }
            run(changed("repetitions", 1 << 16).unwrap(), 1.0, "repetitions");
        }
        if fields.contains_key("burn_in") {
            run(changed("burn_in", u64::MAX).unwrap(), 1.0, "burn_in");
        }
    }
}

#[test]
fn what_is_derived_is_not_refused_in_the_place_of_what_was_given() {
    for params in all_params(4.0, 0) {
        assert!(params.clone().build().is_ok(), "no examples: {params:?}");
    }
    for radius in [0.0, -1.0, f64::NAN, 1e-308, 1e308, f64::INFINITY] {
        for params in all_params(radius, 1000).into_iter().take(7) {
            let error = params.clone().build().unwrap_err();
            assert_eq!(error.field, "radius", "{params:?}: {error}");
        }
    }
    for radius in [1e-150, 1e150] {
        for params in all_params(radius, 1000) {
            run(params.clone().build().unwrap(), radius, &format!("{params:?}"));
        }
    }
}
