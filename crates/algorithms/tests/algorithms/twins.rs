//! Each method of Murata & Suzuki beside its reference, over shapes, batches and numbers of updates.

use crate::beside::{Beside, examples, source};
use lao_algorithms::murata_suzuki::reference::{
    ExploitationReference, ExplorationReference, HybridReference, NaiveReference,
};
use lao_algorithms::murata_suzuki::{ExploitationParams, ExplorationParams, HybridParams, NaiveParams};
use lao_algorithms::reference::{Drawn, Reference};
use lao_algorithms::schedule::StepSizes;
use lao_algorithms::{AnyLearner, BatchSizes, Money, Task};
use lao_kernels::SparseVector;
use lao_observation::sample::SubsetSampler;
use lao_observation::{Budget, Learner, Seed, Session, SessionLimit, Tariff};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Runs a learner beside its reference over the first `n` examples, all of which it must accept. Returns the
/// learner, the ledger, and the results of `after` for each update.
fn together(
    learner: AnyLearner,
    reference: &mut dyn Reference,
    (seed, n): (u64, usize),
    (budget, draws, stop): (usize, u64, SessionLimit),
    mut after: impl FnMut(&AnyLearner),
) -> Result<AnyLearner, TestCaseError> {
    let (dim, rows) = (learner.dim(), examples(learner.dim(), seed, n));
    let mut beside = Beside::new(learner, |learner| Drawn::from(learner), reference, &rows, 1e-10);
    let mut session = Session::new(source(dim, seed), Budget::PerExample(budget), &Seed::root(draws));
    let outcome = session.run(&mut beside, stop, |_, beside| after(&beside.learner));
    prop_assert_eq!(&beside.fault, &None);
    prop_assert!(outcome.is_ok(), "{outcome:?}");
    prop_assert_eq!(session.ledger().examples, n as u64);
    Ok(beside.learner)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn exploration_is_its_twin(
        dim in 3usize..30, s in 1usize..6, extra in 1usize..9, batch in 1usize..40, updates in 0u64..5,
        seed: u64,
    ) {
        let (s, budget) = (s.min(dim - 1), (s.min(dim - 1) + extra).min(dim));
        // An update takes d' B examples.
        let n = dim.div_ceil(budget - s) * batch * updates as usize;
        let params = ExplorationParams {
            dim, sparsity: s, budget, step_size: 0.1, batch: BatchSizes::Constant(batch as u64),
            updates: Some(updates), start: None,
            money: None,
        };
        let mut reference = ExplorationReference::new(&params).unwrap();
        let learner = AnyLearner::Exploration(params.build().unwrap());
        let limits = (budget, 0, SessionLimit::never());
        let learner = together(learner, &mut reference, (seed, n), limits, |_| ())?;
        prop_assert_eq!(learner.updates(), updates);
    }

    #[test]
    fn methods_with_prices_are_their_twins(
        attributes in proptest::collection::vec((0u32..9, 0.0..9.0f64), 3..24),
        (s, less, more) in (1usize..4, 0usize..3, 0.0..9.0f64), batch in 1u64..12, n in 1usize..400,
        seed: u64,
    ) {
        let used: BTreeSet<u32> = attributes.iter().map(|(panel, _)| *panel).collect();
        let panel = |of: u32| used.iter().take_while(|&&panel| panel < of).count() as u32;
        let prices = (0..used.len()).map(|at| attributes[at].1.round()).collect();
        let panels = attributes.iter().map(|(of, _)| panel(*of)).collect();
        let tariff = Tariff::with_panels(panels, prices).unwrap();
        // Enough for some support and one attribute more.
        let mut sums = tariff.prices().to_vec();
        sums.sort_by(|a, b| b.total_cmp(a));
        let (dim, s) = (tariff.dim(), s.min(tariff.dim() - 2));
        let money = Money::new(tariff, sums.iter().take(s + 1).sum::<f64>() + more + 0.1);
        let most = money.tariff.most_attributes(money.per_example);
        let task = Task {
            dim, sparsity: s, budget: most.saturating_sub(less).max(s + 1), speed: 0.3, money: Some(money),
            ..Task::default()
        };
        let batch = BatchSizes::Constant(batch);
        let practical = ExplorationParams::practical(&task).unwrap();
        let params = ExplorationParams { batch: batch.clone(), ..practical };
        let mut reference = ExplorationReference::new(&params).unwrap();
        let limits = (task.budget, 0, SessionLimit::after_examples(n as u64));
        let learner = AnyLearner::Exploration(params.build().unwrap());
        together(learner, &mut reference, (seed, n), limits, |_| ())?;
        let params = HybridParams { explore_batch: batch, ..HybridParams::practical(&task).unwrap() };
        let mut reference = HybridReference::new(&params).unwrap();
        together(AnyLearner::Hybrid(params.build().unwrap()), &mut reference, (seed, n), limits, |_| ())?;
    }

    #[test]
    fn exploitation_is_its_twin(
        dim in 2usize..20, s in 0usize..6, extra in 0usize..4, batch in 1usize..40, updates in 0u64..9,
        zeros: bool, seed: u64,
    ) {
        let s = s.min(dim);
        let values = (0..s).map(|at| if zeros && at % 2 == 0 { 0.0 } else { 0.5 - at as f64 });
        let start = SparseVector::new(dim, (0..s as u32).collect(), values.collect()).unwrap();
        let params = ExploitationParams {
            start, budget: (s + extra).min(dim), step_size: 0.1, batch: BatchSizes::Constant(batch as u64),
            updates: Some(updates),
        };
        let (budget, n) = (params.budget, batch * updates as usize);
        let mut reference = ExploitationReference::new(&params).unwrap();
        let learner = AnyLearner::Exploitation(params.build().unwrap());
        let limits = (budget, 0, SessionLimit::never());
        let learner = together(learner, &mut reference, (seed, n), limits, |_| ())?;
        prop_assert_eq!(learner.updates(), updates);
    }

    #[test]
    fn hybrid_is_its_twin(
        dim in 4usize..20, s in 1usize..4, extra in 1usize..6, explore_updates in 1u64..3,
        exploit_updates in 0u64..4, stages in 0u64..4, seed: u64,
    ) {
        let (s, budget) = (s.min(dim - 1), (s.min(dim - 1) + extra).min(dim));
        let width = budget - s;
        let (b_explore, b_exploit) = ([3usize, 5, 8, 13], [7usize, 4, 9, 2]);
        let blocks = dim.div_ceil(width);
        let total: usize = (0..stages as usize)
            .map(|k| {
                explore_updates as usize * blocks * b_explore[k] + exploit_updates as usize * b_exploit[k]
            })
            .sum();
        let sizes = |sizes: [usize; 4]| BatchSizes::Listed(sizes.iter().map(|&b| b as u64).collect());
        let params = HybridParams {
            dim, sparsity: s, budget, step_size: 0.1, explore_updates, explore_batch: sizes(b_explore),
            exploit_updates, exploit_batch: sizes(b_exploit), stages: Some(stages), start: None,
            money: None,
        };
        let mut reference = HybridReference::new(&params).unwrap();
        let learner = AnyLearner::Hybrid(params.build().unwrap());
        let limits = (budget, 0, SessionLimit::never());
        let learner = together(learner, &mut reference, (seed, total), limits, |_| ())?;
        prop_assert_eq!(learner.updates(), stages * (explore_updates + exploit_updates));
    }

    #[test]
    fn naive_is_its_twin(
        dim in 3usize..40, s in 1usize..6, extra in 1usize..6, steps in 1usize..60, seed: u64,
    ) {
        let (s, budget) = (s.min(dim - 1), (s.min(dim - 1) + extra).min(dim));
        let params = NaiveParams {
            dim, sparsity: s, budget, step_size: StepSizes::InverseSqrt(0.01), start: None,
        };
        // The sets must be those that the sampler draws from the session's generator.
        let mut rng = Seed::root(4).child("learner").rng();
        let (mut sampler, mut wanted, mut found) = (SubsetSampler::new(dim), Vec::new(), Vec::new());
        (0..steps).for_each(|_| sampler.draw(budget - s, &mut rng, &mut wanted));
        let mut reference = NaiveReference::new(&params).unwrap();
        let learner = AnyLearner::Naive(params.build().unwrap());
        let stop = SessionLimit::after_examples(steps as u64);
        together(learner, &mut reference, (seed, steps), (budget, 4, stop), |learner| {
            let AnyLearner::Naive(learner) = learner else { unreachable!() };
            found.extend_from_slice(learner.drawn());
        })?;
        prop_assert_eq!(found, wanted);
    }
}

#[test]
fn hybrid_without_exploitation_is_exploration() {
    let (batch, stages) = (BatchSizes::Geometric { first: 20.0, growth: 1.5 }, 4);
    let explore = ExplorationParams {
        dim: 30,
        sparsity: 3,
        budget: 11,
        step_size: 0.1,
        batch: batch.clone(),
        updates: Some(stages),
        start: None,
        money: None,
    };
    let hybrid = HybridParams {
        dim: 30,
        sparsity: 3,
        budget: 11,
        step_size: 0.1,
        explore_updates: 1,
        explore_batch: batch,
        exploit_updates: 0,
        exploit_batch: BatchSizes::Constant(1),
        stages: Some(stages),
        start: None,
        money: None,
    };
    let (mut one, mut other) = (explore.build().unwrap(), hybrid.build().unwrap());
    for learner in [&mut one as &mut dyn Learner, &mut other] {
        let mut session = Session::new(source(30, 9), Budget::PerExample(11), &Seed::root(0));
        session.run(learner, SessionLimit::never(), |_, _| {}).unwrap();
        assert_eq!(learner.updates(), stages);
    }
    assert_eq!(one.coefficients().to_dense(), other.coefficients().to_dense());
}

#[test]
fn exploitation_never_leaves_its_support_even_through_zero() {
    let start = SparseVector::new(30, vec![4, 7, 29], vec![0.0, 1.0, 0.0]).unwrap();
    let params = ExploitationParams {
        start,
        budget: 3,
        step_size: 0.2,
        batch: BatchSizes::Constant(200),
        updates: Some(40),
    };
    let mut learner = params.build().unwrap();
    let mut session = Session::new(source(30, 9), Budget::PerExample(3), &Seed::root(0));
    session
        .run(&mut learner, SessionLimit::never(), |_, learner| {
            assert_eq!(learner.coefficients().indices(), [4, 7, 29])
        })
        .unwrap();
    assert!((learner.coefficients().get(29) + 0.7).abs() < 0.1, "the coefficient in the support is learned");
    assert_eq!(session.ledger().most_attributes, 3);
}

#[test]
fn exploitation_on_an_empty_support_stays_at_zero() {
    let params = ExploitationParams::practical(&Task {
        dim: 0,
        budget: 3,
        speed: 0.8,
        start: Some(SparseVector::zeros(30)),
        ..Task::default()
    })
    .unwrap();
    let mut learner = ExploitationParams { updates: Some(2), ..params }.build().unwrap();
    let mut session = Session::new(source(30, 9), Budget::PerExample(3), &Seed::root(0));
    session.run(&mut learner, SessionLimit::never(), |_, _| {}).unwrap();
    assert!(learner.coefficients().is_empty());
    assert_eq!((learner.updates(), session.ledger().attributes), (2, 0));
}
