//! Methods that estimate the residual, each beside its reference, with the draws given.

use lao_algorithms::baselines::aer::{AerDraws, AerParams};
use lao_algorithms::baselines::reference::AerReference;
use lao_algorithms::hazan_koren::reference::{AelrReference, AerrReference};
use lao_algorithms::hazan_koren::{AelrParams, AerrParams, Horizon, Prediction, TwoSampleDraws};
use lao_algorithms::reference::{Drawn, Reference, Seen};
use lao_kernels::SparseVector;
use lao_observation::{Ask, BlockBuf, LearnError, Learner, Request, Rng, Seed, Told};
use proptest::prelude::*;
use rand::RngExt;

/// Returns the attributes asked for.
fn asked(ask: &Ask) -> &[u32] {
    let Request::Values { attributes, .. } = ask.request() else { panic!("values") };
    attributes
}

/// Answers an ask from a dense example.
fn serve(learner: &mut (impl Learner + ?Sized), ask: &Ask, x: &[f64], y: f64) -> Result<f64, LearnError> {
    let (attributes, mut block) = (asked(ask), BlockBuf::new());
    block.reset(attributes.len(), 1);
    attributes.iter().enumerate().for_each(|(c, &j)| block.column_mut(c)[0] = x[j as usize]);
    block.labels_mut()[0] = y;
    block.set_rows(1);
    let block = block.view(attributes);
    let prediction = learner.predict(block.single().unwrap().seen);
    learner.tell(Told::Values(block)).map(|()| prediction)
}

fn example(dim: usize, rng: &mut Rng) -> (Vec<f64>, f64) {
    let x: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y = 0.7 * x[0] - 0.4 * x[dim - 1] + rng.random_range(-0.3..0.3);
    (x, y)
}

fn uniform(dim: usize, count: usize, rng: &mut Rng) -> Vec<u32> {
    (0..count).map(|_| rng.random_range(0..dim as u32)).collect()
}

/// Draws an index with probability proportional to its weight; returns the first if all weights are 0.
fn weighted(weights: impl Iterator<Item = f64> + Clone, rng: &mut Rng) -> u32 {
    let mut left = rng.random::<f64>() * weights.clone().sum::<f64>();
    let passed = |weight: f64| {
        left -= weight;
        left < 0.0
    };
    weights.clone().position(passed).unwrap_or(0) as u32
}

/// Returns the largest difference, in units of `radius`.
fn distance(a: &[f64], b: &[f64], radius: f64) -> f64 {
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs() / radius))
}

/// Returns the largest difference of the iterates and of the averages.
fn differences(
    reference: &impl Reference,
    iterates: [&[f64]; 2],
    learner: &impl Learner,
    radius: f64,
) -> f64 {
    let average = learner.coefficients().to_dense();
    distance(iterates[0], iterates[1], radius).max(distance(&reference.coefficients(), &average, radius))
}

/// Runs Algorithm 1 beside its reference.
fn aerr(params: AerrParams, steps: usize, seed: u64) -> f64 {
    let AerrParams { dim, draws: k, radius, .. } = params;
    let mut reference = AerrReference::new(&params).unwrap();
    let (mut learner, mut ask, mut rng) = (params.build().unwrap(), Ask::new(dim), Seed::root(seed).rng());
    for _ in 0..steps {
        let (x, y) = example(dim, &mut rng);
        let draws = TwoSampleDraws {
            uniform: uniform(dim, k, &mut rng),
            weighted: weighted(reference.iterate().iter().map(|w| w * w), &mut rng),
        };
        let weight = reference.iterate()[draws.weighted as usize];
        learner.ask_for(&draws, &mut ask);
        let seen = Seen { x: &x, label: y, asked: asked(&ask), drawn: Drawn::Listed };
        let inner = reference.predict(&seen).unwrap();
        let told = serve(&mut learner, &ask, &x, y).unwrap();
        // Rounding in a small w_j changes x_j / w_j a lot. The reference therefore continues with the
        // learner's residual, which another label gives it, so that only the rest of the step is compared.
        let slack = if weight == 0.0 { 0.0 } else { 1e-10 * radius / weight.abs() };
        assert!((told - inner).abs() <= slack * inner.abs(), "{told} is not {inner}");
        reference.see(&Seen { label: y + (inner - told), ..seen }).unwrap();
    }
    differences(&reference, [reference.iterate(), &learner.iterate()], &learner, radius)
}

/// Runs Algorithm 2 beside its reference.
fn aelr(params: AelrParams, steps: usize, seed: u64) -> f64 {
    let AelrParams { dim, draws: k, radius, .. } = params;
    let mut reference = AelrReference::new(&params).unwrap();
    let (mut learner, mut ask, mut rng) = (params.build().unwrap(), Ask::new(dim), Seed::root(seed).rng());
    for _ in 0..steps {
        let (x, y) = example(dim, &mut rng);
        let draws = TwoSampleDraws {
            uniform: uniform(dim, k, &mut rng),
            weighted: weighted(reference.iterate().iter().map(|w| w.abs()), &mut rng),
        };
        let weight = reference.iterate()[draws.weighted as usize];
        learner.ask_for(&draws, &mut ask);
        let seen = Seen { x: &x, label: y, asked: asked(&ask), drawn: Drawn::Listed };
        let inner = reference.predict(&seen).unwrap();
        let told = serve(&mut learner, &ask, &x, y).unwrap();
        // If w_j is zero up to rounding, either sign is right.
        assert!(
            (told - inner).abs() <= 1e-8 * radius || weight.abs() < 1e-12 * radius,
            "{told} is not {inner}"
        );
        reference.see(&Seen { label: y + (inner - told), ..seen }).unwrap();
    }
    differences(&reference, [reference.iterate(), &learner.iterate()], &learner, radius)
}

/// Runs AER beside its reference.
fn aer(params: AerParams, steps: usize, seed: u64) -> f64 {
    let AerParams { dim, uniform: k, weighted: k_w, radius, .. } = params;
    let mut reference = AerReference::new(&params).unwrap();
    let (mut learner, mut ask, mut rng) = (params.build().unwrap(), Ask::new(dim), Seed::root(seed).rng());
    for _ in 0..steps {
        let (x, y) = example(dim, &mut rng);
        let sizes = || reference.iterate().iter().map(|w| w.abs());
        let by_weight = (0..k_w).map(|_| weighted(sizes(), &mut rng)).collect();
        let draws = AerDraws { uniform: uniform(dim, k, &mut rng), weighted: by_weight };
        learner.ask_for(&draws, &mut ask);
        let seen = Seen { x: &x, label: y, asked: asked(&ask), drawn: Drawn::Listed };
        reference.see(&seen).unwrap();
        serve(&mut learner, &ask, &x, y).unwrap();
    }
    let radius = radius.unwrap_or(1.0);
    differences(&reference, [reference.iterate(), &learner.iterate()], &learner, radius)
}

fn aerr_params(dim: usize, draws: usize, radius: f64, step_size: f64) -> AerrParams {
    AerrParams { step_size, ..AerrParams::from_theorem(Horizon { dim, draws, radius, examples: 1 }) }
}

fn aelr_params(dim: usize, draws: usize, radius: f64, step_size: f64) -> AelrParams {
    AelrParams { step_size, ..AelrParams::from_theorem(Horizon { dim, draws, radius, examples: 1 }) }
}

fn aer_params(dim: usize, budget: usize, radius: Option<f64>, regularization: f64) -> AerParams {
    AerParams {
        dim,
        uniform: budget / 2,
        weighted: budget - budget / 2,
        regularization,
        radius,
        burn_in: 0,
        prediction: Prediction::default(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn aerr_is_its_twin(
        dim in prop_oneof![1usize..40, Just(1100)], k in 1usize..9, radius in 0.01..20.0, step in 1e-4..0.1,
        seed: u64,
    ) {
        let distance = aerr(aerr_params(dim, k, radius, step), 150, seed);
        // Coefficients, and with them rounding errors, are in units of the radius.
        prop_assert!(distance < 1e-9 * radius.max(1.0), "{distance}");
    }

    #[test]
    fn aelr_is_its_twin(
        dim in prop_oneof![1usize..40, Just(1100)], k in 1usize..9, radius in 0.01..20.0, step in 1e-4..2.0,
        seed: u64,
    ) {
        let distance = aelr(aelr_params(dim, k, radius, step), 150, seed);
        prop_assert!(distance < 1e-9, "{distance}");
    }

    #[test]
    fn aer_is_its_twin(
        dim in prop_oneof![1usize..40, Just(1100)], budget in 2usize..20,
        radius in prop_oneof![Just(None), (0.01..20.0).prop_map(Some)], regularization in 0.01..10.0,
        seed: u64,
    ) {
        // Without a projection only a large lambda keeps w finite.
        let regularization = if radius.is_some() { regularization } else { (dim * dim) as f64 };
        let distance = aer(aer_params(dim, budget, radius, regularization), 150, seed);
        prop_assert!(distance < 1e-10, "{distance}");
    }
}

#[test]
fn the_twins_agree_after_a_hundred_thousand_steps() {
    // The first ball is hardly ever reached; the second one needs a projection at every other step.
    assert!(aerr(aerr_params(40, 4, 3.0, 1e-4), 100_000, 1) < 1e-9);
    assert!(aerr(aerr_params(40, 4, 0.3, 1e-2), 100_000, 2) < 1e-9);
    // The first weights hardly differ; the exponentials of the second exceed the largest number.
    assert!(aelr(aelr_params(40, 4, 1.5, 1e-3), 100_000, 3) < 1e-9);
    assert!(aelr(aelr_params(40, 4, 0.4, 0.3), 100_000, 4) < 1e-9);
    assert!(aer(aer_params(40, 8, Some(3.0), 1.0), 100_000, 5) < 1e-9);
    assert!(aer(aer_params(40, 8, Some(0.5), 0.01), 100_000, 6) < 1e-9);
}

#[test]
fn the_average_of_aer_leaves_out_the_burn_in() {
    assert!(aer(AerParams { burn_in: 40, ..aer_params(12, 6, Some(2.0), 0.5) }, 100, 7) < 1e-10);
}

fn l1(w: &[f64]) -> f64 {
    w.iter().map(|w| w.abs()).sum()
}

fn l2(w: &[f64]) -> f64 {
    w.iter().map(|w| w * w).sum::<f64>().sqrt()
}

/// Returns the largest norm of the iterate and of the average, relative to the radius 1, when every fifth
/// example has a label of this size.
fn farthest<L: Learner>(
    mut learner: L,
    size: f64,
    norm: impl Fn(&[f64]) -> f64,
    iterate: impl Fn(&L) -> Vec<f64>,
) -> f64 {
    let (mut rng, mut ask, mut farthest) = (Seed::root(12).rng(), Ask::new(12), 0.0_f64);
    for round in 0..100 {
        let (x, y) = example(12, &mut rng);
        learner.ask(&mut rng, &mut ask);
        serve(&mut learner, &ask, &x, if round % 5 == 3 { size * y } else { y }).unwrap();
        farthest = farthest.max(norm(&iterate(&learner))).max(norm(&learner.coefficients().to_dense()));
    }
    farthest
}

#[test]
fn an_example_out_of_scale_leaves_iterate_and_average_in_the_ball() {
    for size in [1e5, 1e9, 1e12, 1e36, 1e100] {
        let ridge = farthest(aerr_params(12, 3, 1.0, 0.1).build().unwrap(), size, l2, |aerr| aerr.iterate());
        let lasso = farthest(aelr_params(12, 3, 1.0, 0.1).build().unwrap(), size, l1, |aelr| aelr.iterate());
        let convex =
            farthest(aer_params(12, 8, Some(1.0), 0.5).build().unwrap(), size, l1, |aer| aer.iterate());
        for (name, farthest) in [("AERR", ridge), ("AELR", lasso), ("AER", convex)] {
            assert!(farthest <= 1.0 + 1e-4, "{name}, labels of {size:e}: {farthest}");
        }
    }
}

#[test]
fn a_start_is_kept_to_the_ball_and_counts_into_the_average() {
    let start = SparseVector::new(6, vec![1, 4], vec![0.6, -0.8]).unwrap();
    let params = AerrParams { start: Some(start.clone()), ..aerr_params(6, 2, 1.0, 0.05) };
    assert!(aerr(params.clone(), 1, 8) < 1e-14 && aerr(params.clone(), 50, 8) < 1e-12);
    let refused = AerrParams { radius: 0.9, ..params }.build().unwrap_err();
    assert_eq!((refused.field, refused.method), ("start", "AERR"));
}

/// Returns chi-square over 5 attributes, whose 0.999 quantile at 4 degrees is 18.47, for draws of 20,000
/// examples, none of which is told, at the weights after 200 steps.
fn chi_square(drawn: impl IntoIterator<Item = u32>, law: impl Fn(f64) -> f64, w: &[f64]) -> f64 {
    let (mut counts, mut n) = (vec![0.0; w.len()], 0.0);
    for j in drawn {
        counts[j as usize] += 1.0;
        n += 1.0;
    }
    let total: f64 = w.iter().map(|&w| law(w)).sum();
    let cells = counts.iter().zip(w).map(|(count, &w)| (count, n * law(w) / total));
    cells.map(|(count, expected)| (count - expected) * (count - expected) / expected).sum()
}

#[test]
fn draws_follow_their_laws() {
    let (mut rng, mut ask) = (Seed::root(9).rng(), Ask::new(5));
    let (mut aerr, mut aelr) =
        (aerr_params(5, 3, 1.0, 0.02).build().unwrap(), aelr_params(5, 3, 1.0, 0.05).build().unwrap());
    let mut aer = aer_params(5, 6, Some(1.0), 0.5).build().unwrap();
    for learner in [&mut aerr as &mut dyn Learner, &mut aelr, &mut aer] {
        for _ in 0..200 {
            let (x, y) = example(5, &mut rng);
            learner.ask(&mut rng, &mut ask);
            serve(learner, &ask, &x, y).unwrap();
        }
    }
    let (mut by_square, mut by_size, mut by_chance) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..20_000 {
        let (mut aerr, mut aelr) = (aerr.clone(), aelr.clone());
        aerr.ask(&mut rng, &mut ask);
        aelr.ask(&mut rng, &mut ask);
        by_square.push(aerr.drawn().weighted);
        by_size.push(aelr.drawn().weighted);
        by_chance.extend(aerr.drawn().uniform);
    }
    assert!(chi_square(by_square, |w| w * w, &aerr.iterate()) < 18.47);
    assert!(chi_square(by_size, f64::abs, &aelr.iterate()) < 18.47);
    assert!(chi_square(by_chance, |_| 1.0, &aerr.iterate()) < 18.47);

    let mut by_size = Vec::new();
    for _ in 0..7_000 {
        let mut aer = aer.clone();
        aer.ask(&mut rng, &mut ask);
        by_size.extend(aer.drawn().weighted);
    }
    let w = aer.iterate();
    assert!(w.iter().all(|&w| w != 0.0), "{w:?}");
    assert!(chi_square(by_size, f64::abs, &w) < 18.47);
}

#[test]
fn the_observed_part_is_predicted_when_asked_for() {
    let start = SparseVector::new(4, vec![0, 2], vec![0.5, -0.5]).unwrap();
    let params =
        AerrParams { start: Some(start), prediction: Prediction::Observed, ..aerr_params(4, 2, 1.0, 0.1) };
    let (mut learner, mut ask) = (params.build().unwrap(), Ask::new(4));
    learner.ask_for(&TwoSampleDraws { uniform: vec![1, 1], weighted: 2 }, &mut ask);
    assert_eq!(serve(&mut learner, &ask, &[9.0, 9.0, 0.5, 9.0], 0.0).unwrap(), -0.25);
}

#[test]
fn answers_that_were_not_asked_for_are_refused() {
    let mut learner = aelr_params(4, 2, 1.0, 0.1).build().unwrap();
    let mut ask = Ask::new(4);
    learner.ask_for(&TwoSampleDraws { uniform: vec![1, 3], weighted: 2 }, &mut ask);
    assert!(serve(&mut learner, &ask, &[1.0; 4], 0.5).is_ok());
    let error = serve(&mut learner, &ask, &[1.0; 4], 0.5).unwrap_err();
    assert!(matches!(error, LearnError::NotAsked { asked: "nothing", .. }), "{error}");
    learner.ask_for(&TwoSampleDraws { uniform: vec![1, 9], weighted: 2 }, &mut ask);
    let asked = matches!(ask.request(), Request::Values { attributes: [1, 9, 2], .. });
    assert!(asked, "the session refuses 9 by name");
    let error = serve(&mut learner, &ask, &[1.0; 10], 0.5).unwrap_err();
    assert!(matches!(error, LearnError::NotAsked { asked: "nothing", .. }), "{error}");
}

#[test]
fn parameters_are_refused_by_field() {
    let field = |result: Result<(), lao_algorithms::ParamError>| result.unwrap_err().field;
    let aerr = |k, radius, step| field(aerr_params(4, k, radius, step).build().map(|_| ()));
    let aelr = |k, radius, step| field(aelr_params(4, k, radius, step).build().map(|_| ()));
    for refused in [&aerr as &dyn Fn(usize, f64, f64) -> &'static str, &aelr] {
        assert_eq!(refused(0, 1.0, 0.1), "draws");
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(|radius| refused(2, radius, 0.1)), ["radius"; 4]);
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(|step| refused(2, 1.0, step)), ["step_size"; 4]);
    }
    let aer = |params: AerParams| field(params.build().map(|_| ()));
    assert_eq!(aer(aer_params(4, 1, None, 1.0)), "uniform");
    assert_eq!(aer(AerParams { weighted: 0, ..aer_params(4, 2, None, 1.0) }), "weighted");
    assert_eq!(aer(aer_params(4, 4, Some(0.0), 1.0)), "radius");
    assert_eq!(aer(aer_params(4, 4, None, f64::NAN)), "regularization");
}
