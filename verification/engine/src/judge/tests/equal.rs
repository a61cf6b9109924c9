use super::{ALPHA, assert_broken, uniforms};
use crate::judge::calibration::UnitMeanLaw;
use crate::judge::equal::{EqualJudge, discrete};
use crate::judge::{Decision, Finding};

/// Returns `n` draws of `d` exponential coordinates with mean `1 + bias`, judged against mean one.
fn judge(d: usize, bias: impl Fn(usize) -> f64, margin: Option<f64>, n: u64) -> Finding {
    let mut uniform = uniforms(21);
    let mut judge = EqualJudge::new(vec![1.0; d], vec![vec![1.0; d]]);
    for _ in 0..n {
        let draw: Vec<f64> = (0..d).map(|i| UnitMeanLaw::Exponential.draw(&mut uniform) + bias(i)).collect();
        judge.push(&draw);
    }
    judge.finish(margin, ALPHA)
}

#[test]
fn unbiased_is_supported_within_the_margin_and_undecided_without() {
    assert_eq!(judge(10, |_| 0.0, Some(0.06), 20_000).decide(ALPHA), Decision::Supported);
    assert_eq!(judge(10, |_| 0.0, None, 20_000).decide(ALPHA), Decision::Undecided);
    assert_eq!(judge(10, |_| 0.0, Some(0.01), 20_000).decide(ALPHA), Decision::Undecided);
}

#[test]
fn a_bias_in_one_coordinate_is_refuted() {
    assert_eq!(judge(10, |i| if i == 7 { 0.06 } else { 0.0 }, None, 20_000).decide(ALPHA), Decision::Refuted);
}

#[test]
fn a_small_bias_in_every_coordinate_is_refuted_along_the_ones() {
    let finding = judge(64, |_| 0.015, None, 20_000);
    assert_eq!(finding.decide(ALPHA), Decision::Refuted);
    assert!(finding.detectable_effect.unwrap() > 0.0);
}

#[test]
fn too_few_draws_decide_nothing() {
    assert_eq!(judge(3, |_| 0.5, Some(0.1), 1000).decide(ALPHA), Decision::Undecided);
}

#[test]
fn constant_coordinates_are_compared_as_numbers() {
    let run = |value: f64| {
        let mut judge = EqualJudge::new(vec![0.0, 2.0], vec![]);
        let mut uniform = uniforms(3);
        for _ in 0..20_000 {
            judge.push(&[uniform() - 0.5, value]);
        }
        judge.finish(Some(0.05), ALPHA).decide(ALPHA)
    };
    assert_eq!(run(2.0), Decision::Supported);
    assert_eq!(run(2.1), Decision::Refuted);
}

#[test]
fn draws_that_are_nan_infinite_or_ragged_are_broken() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut judge = EqualJudge::new(vec![0.0], vec![]);
        (0..20_000).for_each(|_| judge.push(&[bad]));
        assert_broken(judge.finish(None, ALPHA).decide(ALPHA), "coordinate 0");
    }
    let mut judge = EqualJudge::new(vec![0.0], vec![]);
    judge.push(&[1.0, 2.0]);
    assert_broken(judge.finish(None, ALPHA).decide(ALPHA), "2 coordinates");
    assert_broken(EqualJudge::new(vec![0.0], vec![vec![]]).finish(None, ALPHA).decide(ALPHA), "direction 0");
    assert_broken(EqualJudge::new(vec![], vec![]).finish(None, ALPHA).decide(ALPHA), "0 draws");
}

#[test]
fn samplers_are_supported_refuted_or_undecided() {
    let p = [0.1, 0.2, 0.3, 0.4];
    assert_eq!(discrete(&[10_020, 19_950, 30_110, 39_920], &p, Some(0.1)).decide(ALPHA), Decision::Supported);
    assert_eq!(discrete(&[10_020, 19_950, 30_110, 39_920], &p, None).decide(ALPHA), Decision::Undecided);
    assert_eq!(discrete(&[12_000, 18_000, 30_000, 40_000], &p, Some(0.1)).decide(ALPHA), Decision::Refuted);
    assert_eq!(discrete(&[100, 0, 0, 0], &p, None).decide(ALPHA), Decision::Undecided);
    assert_broken(discrete(&[1, 2], &p, None).decide(ALPHA), "2 counts");
    assert_broken(discrete(&[0; 4], &p, None).decide(ALPHA), "no draw");
}
