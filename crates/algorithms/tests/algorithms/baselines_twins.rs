//! The baselines beside their references, with the draws given.

use crate::beside::{Beside, Example, examples, source};
use lao_algorithms::baselines::reference::{DantzigReference, FkkReference, OnlineReference};
use lao_algorithms::baselines::{Ball, DantzigParams, FkkParams, OnlineParams};
use lao_algorithms::reference::{Drawn, Reference, Seen};
use lao_algorithms::{AnyLearner, Task};
use lao_kernels::SparseView;
use lao_observation::sample::SubsetSampler;
use lao_observation::{Ask, BlockBuf, Budget, Learner, Request, Seed, Session, SessionLimit, Told};
use proptest::prelude::*;

/// Answers the ask from a dense example.
fn serve(learner: &mut impl Learner, ask: &Ask, (x, y): &Example) {
    let (attributes, mut block) = (asked(ask), BlockBuf::new());
    block.reset(attributes.len(), 1);
    attributes.iter().enumerate().for_each(|(c, &j)| block.column_mut(c)[0] = x[j as usize]);
    block.labels_mut()[0] = *y;
    block.set_rows(1);
    learner.tell(Told::Values(block.view(attributes))).unwrap();
}

/// Returns the attributes asked for.
fn asked(ask: &Ask) -> &[u32] {
    let Request::Values { attributes, .. } = ask.request() else { panic!("values") };
    attributes
}

fn close(found: SparseView<'_>, wanted: &[f64]) -> Result<(), TestCaseError> {
    for (j, (&a, b)) in wanted.iter().zip(found.to_dense()).enumerate() {
        prop_assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "attribute {j}: twin {a}, learner {b}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn fkk_is_its_twin(dim in 5usize..9, k in 1usize..3, extra in 2usize..4, steps in 1usize..60, seed: u64) {
        let (budget, eta_h, eta_o, radius) = (k + extra, 0.05, 0.02, 1.5);
        let params = FkkParams { dim, sparsity: k, budget, hedge_rate: eta_h, step_size: eta_o, radius };
        let mut reference = FkkReference::new(&params).unwrap();
        let mut learner = params.build().unwrap();
        let (mut rng, mut sampler) = (Seed::root(seed).rng(), SubsetSampler::new(dim));
        let mut ask = Ask::new(dim);
        for (t, example) in examples(dim, seed, steps).iter().enumerate() {
            let mut drawn = Vec::new();
            sampler.draw(extra, &mut rng, &mut drawn);
            learner.ask_for(t % learner.count(), &drawn, &mut ask);
            prop_assert_eq!(learner.drawn(), &drawn);
            let drawn = Drawn::SetAndSupport(&drawn, learner.support(t % learner.count()));
            let seen = Seen { x: &example.0, label: example.1, asked: asked(&ask), drawn };
            reference.see(&seen).unwrap();
            serve(&mut learner, &ask, example);
        }
        let losses = reference.losses();
        prop_assert_eq!(losses.len(), learner.count());
        let best = (0..losses.len()).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap();
        let ratio = |a: usize| (learner.log_weights()[a] - learner.log_weights()[best]) / -eta_h;
        for a in 0..losses.len() {
            prop_assert!((ratio(a) - (losses[a] - losses[best])).abs() <= 1e-9 * (1.0 + losses[a].abs()));
        }
        close(learner.coefficients(), &reference.coefficients())?;
    }

    #[test]
    fn dantzig_adds_up_the_moments_of_its_twin(
        dim in 4usize..12, random in 2usize..5, steps in 1usize..80, predicts: bool, seed: u64,
    ) {
        let random = random.min(dim - 1);
        let budget = random + usize::from(predicts);
        let task = Task { dim, sparsity: 1, budget, examples: 1000, ..Task::default() };
        let params = DantzigParams { predicts, ..DantzigParams::practical(&task).unwrap() };
        let mut reference = DantzigReference::new(&params).unwrap();
        let mut learner = params.build().unwrap();
        let (mut rng, mut sampler) = (Seed::root(seed).rng(), SubsetSampler::new(dim));
        let mut ask = Ask::new(dim);
        for example in &examples(dim, seed, steps) {
            let mut drawn = Vec::new();
            sampler.draw(random, &mut rng, &mut drawn);
            learner.ask_for(&drawn, &mut ask);
            let seen =
                Seen { x: &example.0, label: example.1, asked: asked(&ask), drawn: Drawn::Set(&drawn) };
            reference.see(&seen).unwrap();
            serve(&mut learner, &ask, example);
        }
        prop_assert_eq!(learner.updates(), steps.ilog2() as u64 + 1, "one program at each power of two");
        for (i, row) in reference.moments().iter().enumerate() {
            for (j, mean) in row.iter().enumerate() {
                prop_assert!((learner.moment(i, j) - mean).abs() <= 1e-12 * (1.0 + mean.abs()));
            }
        }
        close(learner.coefficients(), &reference.coefficients())?;
    }

    #[test]
    fn online_ridge_and_lasso_are_their_twins(
        dim in 1usize..12, lasso: bool, steps in 1usize..60, seed: u64,
    ) {
        let (ball, radius, eta) = (if lasso { Ball::Lasso } else { Ball::Ridge }, 0.8, 0.05);
        let params = OnlineParams { dim: dim + 1, ball, radius, step_size: eta };
        let mut reference = OnlineReference::new(&params).unwrap();
        let learner = AnyLearner::Online(params.build().unwrap());
        let rows = examples(dim + 1, seed, steps);
        let mut beside = Beside::new(learner, |learner| Drawn::from(learner), &mut reference, &rows, 1e-9);
        let mut session = Session::new(source(dim + 1, seed), Budget::Unlimited, &Seed::root(0));
        let outcome = session.run(&mut beside, SessionLimit::after_examples(steps as u64), |_, _| {});
        prop_assert_eq!(&beside.fault, &None);
        prop_assert!(outcome.is_ok() && beside.updates() == steps as u64);
    }
}

#[test]
fn dantzig_finds_the_support_and_predicts_from_what_it_reads() {
    let mut learner = DantzigParams::practical(&Task {
        dim: 20,
        sparsity: 2,
        budget: 8,
        examples: 1 << 14,
        ..Task::default()
    })
    .unwrap()
    .build()
    .unwrap();
    let mut session = Session::new(source(20, 3), Budget::PerExample(8), &Seed::root(1)).online();
    session.run(&mut learner, SessionLimit::after_examples(1 << 14), |_, _| {}).unwrap();
    assert_eq!(learner.coefficients().indices(), [0, 19]);
    let before = session.ledger().squared_loss;
    session.run(&mut learner, SessionLimit::after_examples((1 << 14) + 4000), |_, _| {}).unwrap();
    let loss = (session.ledger().squared_loss - before) / 4000.0;
    // The loss is the noise, 0.25, with a standard error of 0.006, and the bias of the selector.
    assert!((0.2..0.35).contains(&loss), "{loss}");
    assert!(session.ledger().most_attributes <= 8);
}

#[test]
fn fkk_predicts_with_the_support_that_it_drew() {
    let params = FkkParams {
        radius: 2.0,
        step_size: 0.5,
        ..FkkParams::from_theorem(&Task { dim: 4, sparsity: 1, budget: 3, examples: 1, ..Task::default() })
    };
    let (mut learner, mut ask) = (params.build().unwrap(), Ask::new(4));
    learner.ask_for(2, &[1, 2], &mut ask);
    serve(&mut learner, &ask, &(vec![1.0; 4], 1.0));
    learner.ask_for(2, &[0, 3], &mut ask);
    let Request::Values { attributes, .. } = ask.request() else { panic!("values") };
    assert_eq!(attributes, [0, 2, 3]);
    let seen = lao_observation::Row { attributes, values: &[10.0, 1.0, 10.0] };
    // z_2 = y x_2 / p = 2 with p = 1/2, so the first step goes to 2 * 0.5 * 2 = 2.
    assert_eq!(learner.predict(seen), 2.0);
}
