//! Each decision of the safeguard on both sides of its border, with numbers that were done by hand. A good
//! result in the end does not show how strict a decision is.

use super::calibration::{Calibration, Verdict};
use super::refit::{Refit, Solution};
use super::scales::Scales;
use super::{CHECK_EVERY, Errors, PILOT, Safeguarded};
use crate::Task;
use crate::registry::method;
use lao_kernels::SparseVector;

fn guarded(name: &str) -> Safeguarded {
    method(name).unwrap().safeguarded(&Task { dim: 4, sparsity: 2, budget: 3, ..Task::default() }).unwrap()
}

/// The errors of 100 examples whose squares have this mean and standard deviation: a standard error of a
/// tenth of the latter.
fn errors(mean: f64, deviation: f64) -> Errors {
    Errors { sum: 100.0 * mean, square: 100.0 * (mean * mean + deviation * deviation), count: 100.0 }
}

/// Returns a safeguard whose best error is 1, with a standard error of .1, after updates with these errors.
fn after(updates: &[Errors]) -> Safeguarded {
    let mut learner = guarded("hybrid");
    learner.best = Some(errors(1.0, 1.0));
    for now in updates {
        learner.errors = *now;
        learner.judge();
    }
    learner
}

#[test]
fn four_errors_on_end_beyond_three_standard_errors_halve_the_speed() {
    // The border is 1 + 3 (.1 + .1) = 1.6.
    let (below, above) = (errors(1.59, 1.0), errors(1.61, 1.0));
    assert_eq!(after(&[below; 20]).restarts(), 0);
    assert_eq!(after(&[above; 3]).restarts(), 0);
    let halved = after(&[above; 4]);
    assert_eq!((halved.restarts(), halved.speed(), halved.worse), (1, guarded("hybrid").speed() / 2.0, 0));
    assert_eq!(after(&[above, above, above, below, above, above, above]).restarts(), 0);
    // An error below the best is the best from then on: the border is .8 + .6.
    let better = errors(0.8, 1.0);
    assert_eq!(after(&[better, errors(1.41, 1.0), errors(1.41, 1.0), above, above]).restarts(), 1);
    assert_eq!(after(&[better, errors(1.39, 1.0), above, above, above]).restarts(), 0);
}

#[test]
fn four_times_the_best_error_halves_the_speed_at_once_unless_it_is_in_doubt() {
    assert_eq!(after(&[errors(3.99, 1.0)]).restarts(), 0);
    assert_eq!(after(&[errors(4.01, 1.0)]).restarts(), 1);
    // The border is 1 + 3 (.1 + 1).
    assert_eq!(after(&[errors(4.29, 10.0)]).restarts(), 0);
    assert_eq!(after(&[errors(4.31, 10.0)]).restarts(), 1);
}

#[test]
fn a_curvature_of_more_than_four_over_the_speed_sets_it_to_two_over_the_curvature() {
    // Columns of a and -a in a frame of deviation 1 have the eigenvalue a^2.
    let after = |a: f64| {
        let mut learner = guarded("hybrid");
        let speed = learner.speed();
        let a = a / speed.sqrt();
        for j in [0, 4] {
            learner.scales.absorb(j, &[1.0, -1.0].repeat(10));
        }
        learner.refit = Refit::default();
        learner.refit.begin(&[0], &learner.scales, 4);
        let column = [a, -a].repeat(30);
        let labels = [1.0, 1.0, -1.0, -1.0].repeat(15);
        learner.refit.absorb(&learner.scales, |_| &column, &labels);
        learner.errors = errors(1.0, 1.0);
        learner.judge();
        (learner.restarts(), learner.speed() / speed)
    };
    assert_eq!(after(3.99f64.sqrt()), (0, 1.0));
    let (restarts, speed) = after(4.01f64.sqrt());
    assert!(restarts == 1 && (speed - 2.0 / 4.01).abs() < 1e-9, "{restarts}, {speed}");
}

/// Fits `y = b x + r` on 40 examples, with x and r of 1 and -1 in all combinations.
fn fitted(b: f64, rows: usize) -> Option<Solution> {
    let mut scales = Scales::new(2);
    for j in [0, 1] {
        scales.absorb(j, &[1.0, -1.0].repeat(10));
    }
    let mut refit = Refit::default();
    refit.begin(&[0], &scales, 1);
    let x: Vec<f64> = [1.0, -1.0].into_iter().cycle().take(rows).collect();
    let r = [1.0, 1.0, -1.0, -1.0].into_iter().cycle();
    let labels: Vec<f64> = x.iter().zip(r).map(|(x, r)| b * x + r).collect();
    refit.absorb(&scales, |_| &x, &labels);
    refit.solve_when_due(1)
}

#[test]
fn a_fit_needs_thirty_examples_and_more_than_chance_explains() {
    assert!(fitted(1.0, 28).is_none() && fitted(1.0, 32).is_some());
    // 40 b^2 against 40/38 times 1 + 2 sqrt(6) + 12: the border of b is .6863.
    assert!(!fitted(0.68, 40).unwrap().significant && fitted(0.69, 40).unwrap().significant);
    // The error is 40/38, with 1/40 for the coefficient, and three standard errors of itself.
    let bound = 40.0 / 38.0 * (1.0 + 1.0 / 40.0) * (1.0 + 3.0 * (2.0f64 / 40.0).sqrt());
    assert!((fitted(0.69, 40).unwrap().risk_bound - bound).abs() < 1e-9);
}

#[test]
fn a_fit_is_kept_if_it_is_significant_and_has_more_examples_or_a_smaller_bound() {
    let fit = |support: u32, risk_bound: f64, significant: bool| {
        let theta = SparseVector::new(4, vec![support], vec![1.0]).unwrap();
        Solution { theta, intercept: 0.0, risk_bound, curvature: 1.0, significant }
    };
    let mut learner = guarded("hybrid");
    assert!(!learner.keep(fit(1, 1.0, false)) && !learner.found());
    assert!(learner.keep(fit(1, 1.0, true)) && learner.found());
    assert!(!learner.keep(fit(2, 1.0, true)) && learner.keep(fit(2, 0.99, true)));
    assert!(learner.keep(fit(2, 1.5, true)), "more examples of the same support");
    assert!(!learner.keep(fit(2, 0.5, false)));
}

/// The verdict on the predictions 1 and -1, if their products with the labels are `mean` and 1 more or less.
fn verdict(mean: f64, examples: usize) -> Verdict {
    let mut calibration = Calibration::default();
    calibration.begin(SparseVector::new(1, vec![0], vec![1.0]).unwrap(), 1);
    for i in 0..examples {
        let (p, z) = ([1.0, -1.0][i / 2 % 2], mean + [1.0, -1.0][i % 2]);
        calibration.absorb(&[0], |_| p, z * p);
    }
    calibration.verdict()
}

#[test]
fn a_snapshot_is_good_or_worse_than_none_beyond_three_standard_errors() {
    // Of 100 products the mean has the standard error .1; that of p^2 - 2 p v is .2, and its mean 1 - 2 mean.
    let Verdict::Good { factor, risk, error } = verdict(0.31, 100) else { panic!() };
    assert!((factor - 0.31).abs() < 1e-9 && (risk - 1.0).abs() < 1e-9 && (error - 0.062).abs() < 1e-9);
    assert_eq!([0.29, 0.21].map(|mean| verdict(mean, 100)), [Verdict::Unsure; 2]);
    assert_eq!(verdict(0.19, 100), Verdict::Worse);
    assert_eq!(verdict(-9.0, 18), Verdict::Unsure, "fewer than twenty examples");
    assert_eq!(verdict(-9.0, 20), Verdict::Worse);
    let factor = |label: f64| {
        let mut calibration = Calibration::default();
        calibration.begin(SparseVector::new(1, vec![0], vec![1.0]).unwrap(), 1);
        (0..40).for_each(|_| calibration.absorb(&[0], |_| 0.01, label));
        calibration.verdict()
    };
    assert!(matches!(factor(0.99), Verdict::Good { .. }) && factor(1.01) == Verdict::Unsure);
}

#[test]
fn snapshots_are_tested_by_one_example_in_ten_and_follow_each_other_after_a_quarter() {
    assert_eq!((CHECK_EVERY, PILOT), (10, 20));
    let mut learner = guarded("aerr");
    assert!(!learner.batches() && learner.due == learner.pilot_examples() + 200);
    for (examples, due) in [(400, 600), (800, 1000), (4000, 5000)] {
        learner.examples = examples;
        learner.judge_snapshot();
        assert_eq!(learner.due, due);
    }
}

#[test]
fn a_snapshot_takes_the_place_of_another_unless_it_is_worse_beyond_its_error() {
    // The risk of the snapshot is 1, and its error .062.
    for (kept, taken) in [(0.95, true), (0.93, false)] {
        let mut learner = guarded("aerr");
        for j in 0..5 {
            learner.scales.absorb(j, &[1.0, -1.0].repeat(10));
        }
        learner.risk = Some(kept);
        learner.calibration.begin(SparseVector::new(4, vec![0], vec![1.0]).unwrap(), 3);
        for i in 0..100 {
            let (p, z) = ([1.0, -1.0][i / 2 % 2], 0.31 + [1.0, -1.0][i % 2]);
            learner.calibration.absorb(&[0], |_| p, z * p);
        }
        learner.judge_snapshot();
        assert_eq!(learner.theta.len() == 1, taken, "{kept}");
    }
    let mut learner = guarded("aerr");
    let speed = learner.speed();
    learner.calibration.begin(SparseVector::new(4, vec![0], vec![1.0]).unwrap(), 3);
    (0..100).for_each(|i| learner.calibration.absorb(&[0], |_| 1.0, [-1.0, -1.2][i % 2]));
    learner.judge_snapshot();
    assert_eq!((learner.restarts(), learner.speed()), (1, speed / 2.0));
}
