//! Mini-batch methods know how many examples their first update needs, and a run with fewer examples gives a
//! warning.

use lao_algorithms::murata_suzuki::ExplorationParams;
use lao_algorithms::{AnyLearner, Growth, METHODS, Task};
use lao_datasets::synthetic::{Noise, UniformAttributes, Virtual};
use lao_kernels::SparseVector;
use lao_observation::{Budget, Learner, NoUpdate, Seed, Session, SessionEnd, SessionLimit};

fn session(dim: usize) -> Session<Virtual<UniformAttributes>> {
    let theta = SparseVector::new(dim, vec![0], vec![1.0]).unwrap();
    let source =
        Virtual::new(UniformAttributes::new(dim).unwrap(), theta, Noise::None, &Seed::root(1)).unwrap();
    Session::new(source, Budget::Unlimited, &Seed::root(2))
}

#[test]
fn a_run_too_short_for_the_first_update_says_how_much_is_missing() {
    // A table of 4088 columns makes 818 blocks of 5 attributes, with 50 examples each.
    let mut learner =
        ExplorationParams::practical(&Task { dim: 4088, sparsity: 5, budget: 10, ..Task::default() })
            .unwrap()
            .build()
            .unwrap();
    let mut session = session(4088);
    assert_eq!(NoUpdate::of(&learner), Some(NoUpdate { missing: Some(40_900) }));
    let outcome = session.run(&mut learner, SessionLimit::after_examples(20_000), |_, _| {}).unwrap();
    assert_eq!((outcome, learner.updates()), (SessionEnd::Limit, 0));
    let warning = NoUpdate::of(&learner).unwrap();
    assert!(warning.to_string().contains("the first update needs 20900 more examples"), "{warning}");
    session.run(&mut learner, SessionLimit::after_examples(40_899), |_, _| {}).unwrap();
    assert_eq!(NoUpdate::of(&learner), Some(NoUpdate { missing: Some(1) }));
    session.run(&mut learner, SessionLimit::after_examples(40_900), |_, _| {}).unwrap();
    assert_eq!((NoUpdate::of(&learner), learner.updates()), (None, 1));
}

#[test]
fn what_a_learner_says_is_missing_completes_an_update_and_one_example_less_does_not() {
    for method in METHODS {
        let sparsity = if method.growth == Growth::Exponential { 2 } else { 4 };
        let mut learner: AnyLearner =
            method.build(&Task { dim: 23, sparsity, budget: 9, ..Task::default() }).unwrap();
        let mut session = session(23);
        for most in [0, 7, 100, 1000, 3000] {
            session.run(&mut learner, SessionLimit::after_examples(most), |_, _| {}).unwrap();
            let (before, seen) = (learner.updates(), session.ledger().examples);
            let Some(missing) = learner.examples_to_next_update() else {
                assert!(!method.batches, "{} does not know", method.name);
                continue;
            };
            session.run(&mut learner, SessionLimit::after_examples(seen + missing - 1), |_, _| {}).unwrap();
            assert_eq!(learner.updates(), before, "{} after {seen} examples", method.name);
            session.run(&mut learner, SessionLimit::after_examples(seen + missing), |_, _| {}).unwrap();
            assert_eq!(learner.updates(), before + 1, "{} after {seen} examples", method.name);
        }
    }
}

#[test]
fn a_learner_that_is_finished_misses_nothing() {
    let params = ExplorationParams {
        updates: Some(0),
        ..ExplorationParams::practical(&Task { dim: 9, sparsity: 2, budget: 4, ..Task::default() }).unwrap()
    };
    let learner = params.build().unwrap();
    assert_eq!(learner.examples_to_next_update(), None);
    assert!(!NoUpdate::of(&learner).unwrap().to_string().contains("needs"));
}
