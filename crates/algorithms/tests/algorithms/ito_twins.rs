//! The methods of Ito et al. beside their references, over shapes, radii and regularizations.

use lao_algorithms::Task;
use lao_algorithms::ito::reference::{Rda1Reference, Rda3Reference};
use lao_algorithms::ito::{
    Greedy, GreedyParams, Rda1, Rda1Params, Rda2, Rda2Params, Rda3, Rda3Params, Regularization, Uniform,
    UniformParams,
};
use lao_algorithms::reference::{Drawn, Reference, Seen};
use lao_observation::{Ask, BlockBuf, LearnError, Learner, Request, Rng, Seed, Told};
use proptest::prelude::*;
use rand::RngExt;

/// Plays one round: asks, answers from `x`, predicts and tells. Returns the observed set and the prediction.
fn round(learner: &mut impl Learner, rng: &mut Rng, x: &[f64], y: f64) -> (Vec<u32>, f64) {
    let (mut ask, mut block) = (Ask::new(x.len()), BlockBuf::new());
    learner.ask(rng, &mut ask);
    let Request::Values { attributes, examples: 1 } = ask.request() else { panic!("{ask:?}") };
    block.reset(attributes.len(), 1);
    for (c, &j) in attributes.iter().enumerate() {
        block.column_mut(c)[0] = x[j as usize];
    }
    block.labels_mut()[0] = y;
    block.set_rows(1);
    let view = block.view(attributes);
    let prediction = learner.predict(view.single().unwrap().seen);
    learner.tell(Told::Values(view)).unwrap();
    (attributes.to_vec(), prediction)
}

/// Returns an example whose target has three attributes, the second of which is the largest.
fn example(dim: usize, rng: &mut Rng) -> (Vec<f64>, f64) {
    let x: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y = 0.4 * x[0] - 0.6 * x[dim / 2] + 0.2 * x[dim - 1] + rng.random_range(-0.3..0.3);
    (x, y)
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn close(found: &[f64], wanted: &[f64], tolerance: f64) {
    let error = norm(&found.iter().zip(wanted).map(|(a, b)| a - b).collect::<Vec<_>>());
    assert!(error <= tolerance * (1.0 + norm(wanted)), "off by {error} at norm {}", norm(wanted));
}

/// The shape, regularization and radius of a run.
#[derive(Clone, Copy, Debug)]
struct Setting {
    dim: usize,
    budget: usize,
    kept: usize,
    scale: f64,
    power: f64,
    radius: f64,
}

/// Runs a learner beside its reference. In every round the predictions, the sets (the reference refuses
/// others) and the coefficients must be the same; at the end `same` compares the rest.
fn together<L: Learner, R: Reference>(
    (mut learner, mut reference): (L, R),
    same: impl Fn(&L, &R),
    rounds: usize,
    seed: u64,
) {
    let dim = learner.dim();
    let (mut data, mut rng) = (Seed::root(seed).child("data").rng(), Seed::root(seed).rng());
    for t in 1..=rounds {
        let (x, y) = example(dim, &mut data);
        let (set, found) = round(&mut learner, &mut rng, &x, y);
        let seen = Seen { x: &x, label: y, asked: &set, drawn: Drawn::Listed };
        let wanted = reference.predict(&seen).unwrap();
        assert!((found - wanted).abs() < 1e-9, "round {t}: {found} is not {wanted}");
        reference.see(&seen).unwrap_or_else(|mismatch| panic!("round {t}: {mismatch}"));
        if t % 16 == 0 {
            close(&learner.coefficients().to_dense(), &reference.coefficients(), 1e-10);
        }
    }
    close(&learner.coefficients().to_dense(), &reference.coefficients(), 1e-10);
    same(&learner, &reference);
}

/// Compares what Algorithm 1, greedy and uniform choice keep.
macro_rules! same_sums {
    () => {
        |learner, reference| {
            close(&learner.gradient_sum(), reference.gradient_sum(), 1e-10);
            close(&learner.iterate(), &reference.coefficients(), 1e-10);
            close(&learner.coefficients().to_dense(), &learner.iterate(), 0.0);
        }
    };
}

/// Compares what Algorithms 2 and 3 keep.
macro_rules! same_two_sums {
    () => {
        |learner, reference| {
            close(&learner.gradient_sum(), reference.gradient_sum(), 1e-10);
            close(&learner.exploit_sum(), reference.exploit_sum(), 1e-10);
            close(&learner.average(), &reference.average(), 1e-10);
            close(&learner.iterate(), &reference.iterate(), 1e-10);
        }
    };
}

fn rda1(setting: Setting) -> (Rda1, Rda1Reference) {
    let Setting { dim, budget, kept, scale, power, radius } = setting;
    let params = Rda1Params { dim, budget, kept, regularization: Regularization { scale, power }, radius };
    (params.build().unwrap(), Rda1Reference::new(&params).unwrap())
}

fn greedy(setting: Setting) -> (Greedy, Rda1Reference) {
    let Setting { dim, budget, scale, power, radius, .. } = setting;
    let params = GreedyParams { dim, budget, regularization: Regularization { scale, power }, radius };
    (params.build().unwrap(), Rda1Reference::greedy(&params).unwrap())
}

fn uniform(setting: Setting) -> (Uniform, Rda1Reference) {
    let Setting { dim, budget, scale, power, radius, .. } = setting;
    let params = UniformParams { dim, budget, regularization: Regularization { scale, power }, radius };
    (params.build().unwrap(), Rda1Reference::uniform(&params).unwrap())
}

fn rda2(Setting { dim, budget, scale, power, radius, .. }: Setting) -> (Rda2, Rda3Reference) {
    let (explore, exploit) = (Regularization { scale, power }, Regularization::sqrt(2.0));
    let params = Rda2Params { dim, budget, explore, exploit, radius };
    (params.build().unwrap(), Rda3Reference::rda2(&params).unwrap())
}

fn rda3(Setting { dim, budget, scale, power, radius, .. }: Setting, penalty: f64) -> (Rda3, Rda3Reference) {
    let (explore, exploit) = (Regularization { scale, power }, Regularization::sqrt(2.0));
    let params = Rda3Params { dim, budget, explore, exploit, radius, penalty };
    (params.build().unwrap(), Rda3Reference::new(&params).unwrap())
}

fn setting() -> impl Strategy<Value = Setting> {
    let shape = (2usize..40).prop_flat_map(|dim| (Just(dim), 2..=dim));
    let shape = shape.prop_flat_map(|(dim, budget)| (Just(dim), Just(budget), 0..=budget - 2));
    let power = prop_oneof![Just(0.0), Just(0.5), Just(1.0)];
    (shape, 0.5..20.0, power, 0.2..3.0).prop_map(|((dim, budget, kept), scale, power, radius)| Setting {
        dim,
        budget,
        kept,
        scale,
        power,
        radius,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rda1_is_its_twin(setting in setting(), rounds in 0usize..300, seed: u64) {
        together(rda1(setting), same_sums!(), rounds, seed);
    }

    #[test]
    fn greedy_is_its_twin(setting in setting(), rounds in 0usize..300, seed: u64) {
        together(greedy(setting), same_sums!(), rounds, seed);
    }

    #[test]
    fn uniform_is_its_twin(setting in setting(), rounds in 0usize..300, seed: u64) {
        together(uniform(setting), same_sums!(), rounds, seed);
    }

    #[test]
    fn rda2_is_its_twin(setting in setting(), rounds in 0usize..300, seed: u64) {
        together(rda2(setting), same_two_sums!(), rounds, seed);
    }

    #[test]
    fn rda3_is_its_twin(setting in setting(), rho in 0.0..1.0, rounds in 0usize..300, seed: u64) {
        together(rda3(setting, rho), same_two_sums!(), rounds, seed);
    }
}

const LONG: usize = 100_000;
const SETTING: Setting = Setting { dim: 40, budget: 8, kept: 4, scale: 20.0, power: 0.5, radius: 0.7 };

#[test]
fn rda1_is_its_twin_after_many_rounds() {
    together(rda1(SETTING), same_sums!(), LONG, 1);
}

#[test]
fn rda3_is_its_twin_after_many_rounds() {
    together(rda3(SETTING, 0.2), same_two_sums!(), LONG, 1);
}

#[test]
fn drawn_sets_can_be_given_instead() {
    let sum = [0.0, -0.9, 0.3, 0.0, 0.5, -0.1];
    let setting = Setting { dim: 6, budget: 4, kept: 2, scale: 2.0, power: 0.0, radius: 1.0 };
    let (learner, reference) = rda1(setting);
    let mut learner = learner.with_gradient_sum(&sum).unwrap();
    let mut reference = reference.with_gradient_sum(&sum);
    assert_eq!((learner.largest(), learner.iterate()), (&[1, 4][..], reference.coefficients()));
    let mut ask = Ask::new(6);
    learner.ask_for(&[5, 0], &mut ask);
    let Request::Values { attributes: &[1, 4, 0, 5], .. } = ask.request() else { panic!("{ask:?}") };
    let x = [0.2, -0.5, 0.3, 0.1, 0.4, -0.6];
    let (set, _) = round(&mut learner, &mut Seed::root(0).rng(), &x, 0.8);
    reference.see(&Seen { x: &x, label: 0.8, asked: &set, drawn: Drawn::Listed }).unwrap();
    close(&learner.gradient_sum(), reference.gradient_sum(), 1e-14);
}

#[test]
fn values_that_were_not_asked_for_are_refused_and_leave_no_trace() {
    let mut learner = rda1(SETTING).0;
    let mut block = BlockBuf::new();
    block.reset(2, 1);
    block.set_rows(1);
    let told = learner.tell(Told::Values(block.view(&[0, 1])));
    assert!(matches!(told, Err(LearnError::NotAsked { .. })), "{told:?}");
    assert_eq!(learner.updates(), 0);
}

#[test]
fn impossible_shapes_are_refused_by_field_and_value() {
    let refused = |dim, budget, kept| {
        let params = Rda1Params {
            dim,
            budget,
            kept,
            ..Rda1Params::from_theorem(&Task { dim: 9, sparsity: 2, budget: 5, ..Task::default() })
        };
        let error = params.build().unwrap_err();
        assert_eq!((error.field, error.value), ("budget", budget.to_string()));
    };
    refused(9, 3, 2);
    refused(9, 2, 2);
    refused(9, 10, 2);
    refused(9, 2, 3);
    refused(9, 0, 0);
    for kept in [0, 7, 8, 9] {
        let params = Rda1Params {
            dim: 9,
            budget: 9,
            kept,
            ..Rda1Params::from_theorem(&Task { dim: 9, sparsity: 0, budget: 9, ..Task::default() })
        };
        assert!(params.build().is_ok(), "everything is seen, whatever is kept");
    }
    assert_eq!(
        Rda2Params { budget: 1, ..Rda2Params::from_theorem(&Task { dim: 9, budget: 2, ..Task::default() }) }
            .build()
            .unwrap_err()
            .field,
        "budget"
    );
    assert_eq!(
        Rda3Params {
            budget: 1,
            ..Rda3Params::from_theorem(&Task { dim: 9, budget: 2, ..Task::default() }, 0.1)
        }
        .build()
        .unwrap_err()
        .field,
        "budget"
    );
    assert_eq!(
        Rda3Params::from_theorem(&Task { dim: 9, budget: 2, ..Task::default() }, f64::NAN)
            .build()
            .unwrap_err()
            .field,
        "penalty"
    );
    for (scale, power) in
        [(0.0, 0.5), (-1.0, 0.5), (f64::NAN, 0.5), (f64::INFINITY, 0.5), (1.0, -0.1), (1.0, f64::NAN)]
    {
        let regularization = Regularization { scale, power };
        let params = Rda1Params {
            regularization,
            ..Rda1Params::from_theorem(&Task { dim: 9, sparsity: 2, budget: 5, ..Task::default() })
        };
        assert_eq!(params.build().unwrap_err().field, "regularization");
    }
}

#[test]
fn a_damaged_store_is_refused() {
    let stored = serde_json::to_string(&rda1(SETTING).0).unwrap();
    assert!(serde_json::from_str::<Rda1>(&stored).is_ok());
    for (whole, damaged) in [
        ("\"largest_count\":4", "\"largest_count\":9"),
        ("\"budget\":8", "\"budget\":41"),
        ("\"asked\":[]", "\"asked\":[99]"),
    ] {
        let damaged = stored.replacen(whole, damaged, 1);
        assert_ne!(damaged, stored);
        assert!(serde_json::from_str::<Rda1>(&damaged).is_err(), "{damaged}");
    }
}
