use super::{ALPHA, assert_broken, uniforms};
use crate::judge::calibration::{UnitMeanLaw, normal};
use crate::judge::compare::{self, Change, RateChange, RateScale, Replicates};
use crate::judge::{Decision, Direction, paired, ratio};

fn lognormals(n: usize, scale: f64, seed: u64) -> Vec<f64> {
    let mut uniform = uniforms(seed);
    (0..n).map(|_| scale * UnitMeanLaw::Lognormal.draw(&mut uniform)).collect()
}

#[test]
fn wins_needed_agree_with_the_printed_table() {
    let needed = [16, 21, 25, 28, 35].map(|n| paired::wins_needed(n, ALPHA));
    assert_eq!(needed, [16, 20, 23, 25, 30].map(Some));
    assert_eq!((paired::wins_needed(41, ALPHA), paired::wins_needed(85, ALPHA)), (Some(34), Some(62)));
    assert_eq!(paired::wins_needed(15, ALPHA), None);
}

#[test]
fn the_sign_test_decides_exactly_at_the_wins_needed() {
    let decide = |wins: usize, n: usize| {
        let b: Vec<f64> = (0..n).map(|r| if r < wins { 2.0 } else { 0.5 }).collect();
        paired::better(&vec![1.0; n], &b, ALPHA).decide(ALPHA)
    };
    assert_eq!(decide(23, 25), Decision::Supported);
    assert_eq!(decide(22, 25), Decision::Undecided);
    assert_eq!(decide(2, 25), Decision::Refuted);
    assert_eq!(decide(3, 25), Decision::Undecided);
}

#[test]
fn a_method_against_itself_is_undecided() {
    let (a, b) = (lognormals(60, 1.0, 1), lognormals(60, 1.0, 2));
    assert_eq!(paired::better(&a, &b, ALPHA).decide(ALPHA), Decision::Undecided);
    assert_eq!(paired::better(&a, &a, ALPHA).decide(ALPHA), Decision::Undecided);
}

#[test]
fn effect_is_the_median_log_ratio_with_an_interval() {
    let a = lognormals(41, 1.0, 3);
    let b: Vec<f64> = a.iter().map(|a| 2.0 * a).collect();
    let finding = paired::better(&a, &b, ALPHA);
    assert_eq!(finding.decide(ALPHA), Decision::Supported);
    let interval = finding.interval.unwrap();
    assert!((interval.lo - 2.0_f64.ln()).abs() < 1e-12 && (interval.hi - 2.0_f64.ln()).abs() < 1e-12);
    assert!(paired::median_interval(&[1.0, 2.0, 3.0], 0.999).is_none());
}

#[test]
fn failed_runs_lose_and_nan_breaks() {
    let b = lognormals(20, 1.0, 4);
    assert_eq!(paired::better(&[f64::INFINITY; 20], &b, ALPHA).decide(ALPHA), Decision::Refuted);
    assert_eq!(
        paired::better(&[f64::INFINITY; 20], &[f64::INFINITY; 20], ALPHA).decide(ALPHA),
        Decision::Undecided
    );
    assert_broken(paired::better(&[f64::NAN; 20], &b, ALPHA).decide(ALPHA), "pair 0");
    assert_broken(paired::better(&[1.0], &b, ALPHA).decide(ALPHA), "cannot be paired");
    assert_broken(paired::better(&[], &[], ALPHA).decide(ALPHA), "no pair");
}

#[test]
fn wilcoxon_agrees_with_a_worked_example() {
    // Ranks 1..6 with only rank 2 negative: W+ = 19, mean 10.5, variance 22.75.
    let p = paired::wilcoxon_p(&[1.0, -2.0, 3.0, 4.0, 5.0, 6.0]);
    let want = crate::special::normal_sf((19.0 - 10.5 - 0.5) / 22.75_f64.sqrt());
    assert!((p - want).abs() < 1e-15);
    assert_eq!(paired::wilcoxon_p(&[0.0, 0.0]), 0.5);
}

#[test]
fn ratios_of_means_inside_outside_and_in_doubt() {
    let a = lognormals(400, 0.2, 5);
    let b = lognormals(400, 1.0, 6);
    assert_eq!(ratio::independent(&a, &b, (0.0, 0.5), ALPHA).decide(ALPHA), Decision::Supported);
    assert_eq!(ratio::independent(&b, &a, (0.0, 0.5), ALPHA).decide(ALPHA), Decision::Refuted);
    assert_eq!(ratio::independent(&b, &b[..200], (0.5, 2.0), ALPHA).decide(ALPHA), Decision::Supported);
    assert_eq!(
        ratio::independent(&b[..10], &b[10..20], (0.9, 1.1), ALPHA).decide(ALPHA),
        Decision::Undecided
    );
    let finding = ratio::independent(&a, &b, (0.0, 0.5), ALPHA);
    let interval = finding.interval.unwrap();
    assert!(interval.lo < 0.2 && 0.2 < interval.hi && (0.1..0.3).contains(&finding.estimate));
}

#[test]
fn paired_ratios_take_out_the_common_part() {
    let mut uniform = uniforms(7);
    let b = lognormals(20, 1.0, 8);
    let a: Vec<f64> = b.iter().map(|b| b * (0.25_f64.ln() + 0.05 * normal(&mut uniform)).exp()).collect();
    let finding = ratio::paired(&a, &b, (0.2, 0.3), ALPHA);
    assert_eq!(finding.decide(ALPHA), Decision::Supported);
    assert!((finding.estimate - 0.25).abs() < 0.02);
    assert_eq!(ratio::paired(&a, &b, (0.5, 2.0), ALPHA).decide(ALPHA), Decision::Refuted);
}

#[test]
fn ratios_of_constants_zeros_and_nan_are_not_decided() {
    let ones = [1.0; 20];
    assert_eq!(ratio::independent(&ones, &ones, (0.5, 2.0), ALPHA).decide(ALPHA), Decision::Undecided);
    assert_broken(ratio::independent(&[0.0; 20], &ones, (0.5, 2.0), ALPHA).decide(ALPHA), "log ratio");
    assert_broken(ratio::independent(&[f64::NAN; 20], &ones, (0.5, 2.0), ALPHA).decide(ALPHA), "log ratio");
    assert_broken(
        ratio::independent(&[f64::INFINITY; 20], &ones, (0.5, 2.0), ALPHA).decide(ALPHA),
        "log ratio",
    );
    assert_broken(ratio::independent(&ones, &ones, (2.0, 0.5), ALPHA).decide(ALPHA), "nothing is claimed");
    assert_broken(ratio::independent(&ones, &ones, (0.0, f64::INFINITY), ALPHA).decide(ALPHA), "nothing");
    assert_broken(ratio::paired(&ones, &[f64::NAN; 20], (0.5, 2.0), ALPHA).decide(ALPHA), "replicate 0");
}

fn rates(n: usize, mean: f64, seed: u64) -> Vec<f64> {
    let mut uniform = uniforms(seed);
    (0..n).map(|_| mean * (1.0 + 0.05 * normal(&mut uniform))).collect()
}

fn welch(old: &[f64], new: &[f64]) -> Result<RateChange, String> {
    compare::compare(old, new, Replicates::Independent, Direction::Larger, RateScale::Amount)
}

fn paired(old: &[f64], new: &[f64]) -> Result<RateChange, String> {
    compare::compare(old, new, Replicates::Paired, Direction::Larger, RateScale::Amount)
}

#[test]
fn rates_are_the_same_worse_better_or_undecided() {
    let old = rates(200, 1.0, 1);
    let to = |mean, n| welch(&old, &rates(n, mean, 2)).unwrap();
    assert_eq!(to(1.0, 200).change, Change::Same);
    assert_eq!(to(1.1, 200).change, Change::Worse);
    assert_eq!(to(0.9, 200).change, Change::Better);
    assert_eq!(to(1.0, 5).change, Change::Undecided);
    assert!(to(1.1, 200).p_worse < 1e-10 && to(1.0, 200).p_worse > 0.01);
    let (new, drawn) = (rates(200, 0.9, 2), Replicates::Independent);
    let smaller = compare::compare(&old, &new, drawn, Direction::Smaller, RateScale::Amount).unwrap();
    assert_eq!(smaller.change, Change::Worse);
}

#[test]
fn common_seeds_see_smaller_changes() {
    let old = rates(20, 1.0, 3);
    let mut uniform = uniforms(4);
    let new: Vec<f64> = old.iter().map(|x| x + 0.05 + 0.005 * normal(&mut uniform)).collect();
    assert_eq!(paired(&old, &new).unwrap().change, Change::Worse);
    assert_eq!(welch(&old, &new).unwrap().change, Change::Undecided);
    assert_eq!(paired(&old, &old).unwrap().change, Change::Same);
}

#[test]
fn comparisons_refuse_short_or_strange_samples() {
    let good = [1.0, 2.0];
    assert!(welch(&[1.0], &good).unwrap_err().contains("baseline"));
    let strange = welch(&good, &[1.0, f64::NAN]);
    assert!(strange.unwrap_err().contains("replicate 1"));
    assert!(paired(&good, &[1.0, 2.0, 3.0]).is_err());
}

#[test]
fn constants_are_compared_as_numbers() {
    let change = |new: f64| welch(&[1.0; 5], &[new; 5]).unwrap();
    assert_eq!((change(1.0).change, change(1.0).p_worse), (Change::Same, 1.0));
    assert_eq!((change(1.1).change, change(1.1).p_worse), (Change::Worse, 0.0));
    assert_eq!(change(0.5).change, Change::Better);
}

#[test]
fn a_method_that_is_a_fifth_slower_is_as_far_away_on_every_scale() {
    let slower = [
        (RateScale::Amount, 500.0, 600.0),
        (RateScale::Contraction, 0.9, 0.9_f64.powf(1.0 / 1.2)),
        (RateScale::Decay, -0.3, -0.25),
        (RateScale::Logarithm, 500_f64.ln(), 600_f64.ln()),
        (RateScale::Exponent, 1.0, 1.1),
    ];
    for (scale, fast, slow) in slower {
        let distance = scale.value(slow).unwrap() - scale.value(fast).unwrap();
        assert!((distance - scale.worsening()).abs() < 1e-12, "{scale:?}: {distance}");
    }
    for (name, scale) in [
        ("exponent of log of x", RateScale::Exponent),
        ("log of examples to reach eps", RateScale::Logarithm),
        ("slope of log D per step", RateScale::Decay),
        ("contraction factor per update, T = 32", RateScale::Contraction),
        ("log of the last gap over log of its bound", RateScale::Amount),
        ("examples to the target", RateScale::Amount),
    ] {
        assert_eq!(RateScale::of(name), scale, "{name}");
    }
}

#[test]
fn what_vanishes_has_no_value() {
    assert!(welch(&[1.0, 1.1], &[0.0, 1.0]).unwrap_err().contains("vanished"));
    assert_eq!(RateScale::Contraction.value(1.0), None);
    assert_eq!(RateScale::Decay.value(0.1), None);
}

#[test]
fn a_worsening_of_the_detectable_size_is_found() {
    let (n, sd, alpha) = (20, 0.05, 1e-5);
    let shift = compare::detectable(n, sd, alpha);
    let found = |seed: u64| {
        let mut uniform = uniforms(seed);
        let mut draw = |mean: f64| -> Vec<f64> { (0..n).map(|_| mean + sd * normal(&mut uniform)).collect() };
        let (old, new) = (draw(1.0), draw(1.0 + shift));
        let (drawn, worse) = (Replicates::Independent, Direction::Larger);
        compare::compare(&old, &new, drawn, worse, RateScale::Exponent).unwrap().p_worse <= alpha
    };
    let count = (0..2000).filter(|seed| found(*seed)).count();
    assert!(count >= 1960, "{count} of 2000");
}

#[test]
fn replay_is_exact_for_counts_and_to_1e_9_for_floats() {
    assert!(compare::same_counts(&[1, 2], &[1, 2]).is_ok());
    assert!(compare::same_counts(&[1, 2], &[1, 3]).unwrap_err().contains("value 1"));
    assert!(compare::same_floats(&[1.0, f64::INFINITY], &[1.0 + 5e-10, f64::INFINITY]).is_ok());
    assert!(compare::same_floats(&[1.0], &[1.0 + 2e-9]).is_err());
    assert!(compare::same_floats(&[f64::INFINITY], &[1.0]).is_err());
    assert!(compare::same_floats(&[1.0], &[]).is_err());
    assert!(compare::log_gap_tolerance(1.0, 1.0) < 2e-9);
    assert_eq!(compare::log_gap_tolerance(1.0, 1e-8), f64::INFINITY);
}
