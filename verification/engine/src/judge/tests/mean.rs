use super::{ALPHA, assert_broken, uniforms};
use crate::judge::calibration::UnitMeanLaw;
use crate::judge::sample::Moments;
use crate::judge::{BLOCK, Decision, Finding, Flow, MeanJudge, Stopped, bounded, mean};

fn run(mut judge: MeanJudge, mut draw: impl FnMut() -> f64) -> Finding {
    loop {
        let block: Vec<f64> = (0..BLOCK).map(|_| draw()).collect();
        if judge.push_block(&block) == Flow::Stop {
            return judge.finish();
        }
    }
}

fn exponential(scale: f64, seed: u64) -> impl FnMut() -> f64 {
    let mut uniform = uniforms(seed);
    move || scale * UnitMeanLaw::Exponential.draw(&mut uniform)
}

#[test]
fn a_mean_of_half_its_bound_is_supported_at_the_cap() {
    for seed in 0..20 {
        let finding = run(MeanJudge::new(1.0, ALPHA, 1600), exponential(0.5, seed));
        assert_eq!(finding.decide(ALPHA), Decision::Supported, "{finding:?}");
        assert_eq!((finding.stopped, finding.n_trials), (Stopped::Cap, 1600));
        let interval = finding.interval.unwrap();
        assert!(interval.lo < 0.5 && 0.5 < interval.hi);
    }
}

#[test]
fn a_mean_above_its_bound_is_refuted_at_the_cost_of_the_table() {
    let mut sizes: Vec<u64> = (0..101)
        .map(|seed| {
            let finding = run(MeanJudge::new(1.0, ALPHA, 4000), exponential(1.5, seed));
            assert_eq!(finding.decide(ALPHA), Decision::Refuted);
            finding.n_trials
        })
        .collect();
    sizes.sort_unstable();
    // The median is 175 for looks after every trial.
    assert!((150..=215).contains(&sizes[50]), "median {}", sizes[50]);
}

#[test]
fn a_mean_at_its_bound_is_undecided() {
    let finding = run(MeanJudge::new(1.0, ALPHA, 1000), exponential(1.0, 5));
    assert_eq!(finding.decide(ALPHA), Decision::Undecided);
    assert!(finding.detectable_effect.unwrap() > 0.1);
}

#[test]
fn a_constant_sample_supports_nothing_without_an_upper_bound() {
    let finding = run(MeanJudge::new(1.0, ALPHA, 400), || 0.5);
    assert_eq!(finding.decide(ALPHA), Decision::Undecided);
    assert!(finding.guards.iter().any(|guard| !guard.ok && guard.name.contains("vary")));
    assert_eq!(run(MeanJudge::new(1.0, ALPHA, 400), || 0.0).decide(ALPHA), Decision::Undecided);
}

#[test]
fn a_constant_sample_is_judged_when_its_range_is_declared() {
    let low = run(MeanJudge::new(1.0, ALPHA, 400).with_upper(2.0), || 0.5);
    assert_eq!((low.decide(ALPHA), low.stopped), (Decision::Supported, Stopped::Evidence));
    let high = run(MeanJudge::new(1.0, ALPHA, 400).with_upper(2.0), || 1.5);
    assert_eq!(high.decide(ALPHA), Decision::Refuted);
}

#[test]
fn a_shifted_lower_limit_shifts_everything() {
    let mut draw = exponential(1.0, 9);
    let finding = run(MeanJudge::new(-2.0, ALPHA, 4000).with_lower(-3.0), || draw() - 2.5);
    assert_eq!(finding.decide(ALPHA), Decision::Refuted);
}

#[test]
fn few_or_spiky_values_fail_a_guard_and_support_nothing() {
    let few = run(MeanJudge::new(1.0, ALPHA, 100), exponential(0.1, 1));
    assert_eq!(few.decide(ALPHA), Decision::Undecided);
    let mut n = 0;
    let spiky = run(MeanJudge::new(1.0, ALPHA, 1600), || {
        n += 1;
        if n == 700 { 300.0 } else { 0.1 }
    });
    assert_eq!(spiky.decide(ALPHA), Decision::Undecided);
    assert!(spiky.guards.iter().any(|guard| !guard.ok && guard.name.contains("largest")));
}

#[test]
fn median_of_means_is_reported_and_decides_nothing() {
    let finding = run(MeanJudge::new(1.0, ALPHA, 2000), exponential(0.5, 2));
    let guard = finding.guards.iter().find(|guard| guard.name.contains("median of means")).unwrap();
    assert!(guard.ok && (0.3..0.6).contains(&guard.value));
    assert_eq!(mean::median_of_means(&[1.0, 3.0, 5.0, 7.0, 100.0, 200.0], 3), 6.0);
}

#[test]
fn all_infinite_values_refute() {
    let finding = run(MeanJudge::new(1.0, ALPHA, 160), || f64::INFINITY);
    assert_eq!(finding.decide(ALPHA), Decision::Refuted);
    assert_eq!((finding.estimate, finding.p_refute), (f64::INFINITY, 0.0));
    let bounded = run(MeanJudge::new(1.0, ALPHA, 160).with_upper(2.0), || f64::INFINITY);
    assert_eq!(bounded.decide(ALPHA), Decision::Refuted);
}

#[test]
fn one_infinite_value_among_good_ones_refutes() {
    let mut n = 0;
    let finding = run(MeanJudge::new(1.0, ALPHA, 400), || {
        n += 1;
        if n == 37 { f64::INFINITY } else { 0.5 }
    });
    assert_eq!((finding.decide(ALPHA), finding.n_trials), (Decision::Refuted, 48));
    assert!(finding.note.contains("1 of 48"));
}

#[test]
fn values_that_are_nan_or_out_of_range_break() {
    assert_broken(run(MeanJudge::new(1.0, ALPHA, 160), || f64::NAN).decide(ALPHA), "NaN");
    assert_broken(run(MeanJudge::new(1.0, ALPHA, 160), || -0.1).decide(ALPHA), "-0.1");
    assert_broken(run(MeanJudge::new(1.0, ALPHA, 160), || f64::NEG_INFINITY).decide(ALPHA), "-inf");
    assert_broken(run(MeanJudge::new(1.0, ALPHA, 160).with_upper(2.0), || 2.1).decide(ALPHA), "2.1");
    assert_broken(mean::fixed(1.0, ALPHA, &[]).decide(ALPHA), "no trial");
}

#[test]
fn bounds_that_say_nothing_break() {
    for bound in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        assert_broken(mean::fixed(bound, ALPHA, &[0.5; 20]).decide(ALPHA), "bound");
    }
    assert_broken(run(MeanJudge::new(2.0, ALPHA, 16).with_upper(2.0), || 1.0).decide(ALPHA), "says nothing");
}

#[test]
fn enormous_finite_values_do_not_make_nan() {
    let finding = run(MeanJudge::new(1.0, ALPHA, 320), || 1e300);
    assert!(matches!(finding.decide(ALPHA), Decision::Refuted | Decision::Undecided | Decision::Broken(_)));
    assert!(!finding.p_refute.is_nan());
}

#[test]
fn the_order_of_blocks_does_not_change_a_fixed_size_judgment() {
    let mut draw = exponential(0.6, 4);
    let values: Vec<f64> = (0..500).map(|_| draw()).collect();
    let finding = mean::fixed(1.0, ALPHA, &values);
    assert_eq!((finding.stopped, finding.n_trials), (Stopped::Fixed, 500));
    assert_eq!(finding.decide(ALPHA), Decision::Supported);
}

#[test]
fn hall_corrects_towards_the_long_tail() {
    let mut draw = exponential(1.0, 8);
    let values: Vec<f64> = (0..400).map(|_| draw()).collect();
    let moments = Moments::of(&values);
    let (hall, t) = (mean::hall_test(&moments, 1.4).0, moments.t_test(1.4).0);
    assert!(hall > t, "support is harder than by the plain t: {hall} against {t}");
    let symmetric = Moments { skewness: 0.0, ..moments };
    let (without, plain) = (mean::hall_test(&symmetric, 1.1).0, symmetric.t_test(1.1).0);
    assert!((without / plain - 1.0).abs() < 1e-12, "{without} {plain}");
}

#[test]
fn sizes_follow_the_formula() {
    // This is ((4.831 + 2.326) / .2)^2 with the reserve of 30 percent.
    assert_eq!(mean::size(0.2, 1.0, ALPHA), 1667);
    assert_eq!(mean::size(5.0, 1.0, ALPHA), 200);
}

#[test]
fn the_hedged_interval_narrows_and_covers() {
    let mut uniform = uniforms(11);
    let values: Vec<f64> = (0..4000).map(|_| 3.0 + 2.0 * uniform()).collect();
    let (short, long) =
        (bounded::interval(&values[..200], 3.0, 5.0, 0.05), bounded::interval(&values, 3.0, 5.0, 0.05));
    assert!(short.lo <= long.lo && long.hi <= short.hi, "{short:?} {long:?}");
    assert!(long.lo < 4.0 && 4.0 < long.hi && long.hi - long.lo < 0.2, "{long:?}");
}

#[test]
fn the_hedged_interval_handles_constants_and_refuses_nonsense() {
    let zeros = bounded::interval(&[0.0; 3000], 0.0, 1.0, 0.01);
    assert!(zeros.lo == 0.0 && zeros.hi < 0.01, "{zeros:?}");
    let many = bounded::interval(&vec![0.12345; 200_000], 0.0, 1.0, 0.01);
    assert!(many.lo <= 0.12345 && 0.12345 <= many.hi && many.hi - many.lo < 2e-3, "{many:?}");
    assert!(bounded::interval(&[f64::NAN], 0.0, 1.0, 0.01).lo.is_nan());
    assert!(bounded::interval(&[0.5], 1.0, 1.0, 0.01).hi.is_nan());
    let none = bounded::interval(&[], 0.0, 1.0, 0.01);
    assert_eq!((none.lo, none.hi), (0.0, 1.0));
}
