use super::{ALPHA, assert_broken};
use crate::judge::{Decision, Finding, PropertyTally, exact, exact_all, holm, nonfinite, property};
use serde::{Deserialize, Serialize};

#[test]
fn identities_hold_up_to_the_scaled_tolerance() {
    assert_eq!(exact(1e6 + 1e-6, 1e6, 1e-10).decide(ALPHA), Decision::Supported);
    assert_eq!(exact(1.0 + 1e-9, 1.0, 1e-10).decide(ALPHA), Decision::Refuted);
    let many = exact_all([(1.0, 1.0), (2.0, 2.5), (3.0, 3.0)], 1e-10);
    assert_eq!(many.decide(ALPHA), Decision::Refuted);
    assert!(many.note.contains("pair 1"));
}

#[test]
fn identities_that_cannot_be_compared_are_broken() {
    assert_broken(exact(f64::NAN, 1.0, 1e-10).decide(ALPHA), "pair 0");
    assert_broken(exact(f64::INFINITY, f64::INFINITY, 1e-10).decide(ALPHA), "cannot be compared");
    assert_eq!(exact(f64::INFINITY, 1.0, 1e-10).decide(ALPHA), Decision::Refuted);
    assert_broken(exact_all([], 1e-10).decide(ALPHA), "no trial");
}

#[test]
fn one_violation_in_many_instances_refutes_a_property() {
    let mut tally = PropertyTally::new();
    for i in 0..1000 {
        tally.check(f64::from(i), 1000.0);
    }
    assert_eq!(tally.finish().decide(ALPHA), Decision::Supported);
    assert_eq!(tally.finish().tightness, Some(0.999));
    assert_eq!(tally.worst().map(|instance| instance.index), Some(999));
    assert!(!tally.check(1000.1, 1000.0));
    let finding = tally.finish();
    assert_eq!(finding.decide(ALPHA), Decision::Refuted);
    assert_eq!((tally.violations(), tally.first_violation().unwrap().index), (1, 1000));
    assert!(finding.note.contains("instance 1000"));
}

#[test]
fn a_property_tolerates_rounding_and_nothing_more() {
    let mut tally = PropertyTally::new();
    assert!(tally.check(1.0 + 1e-9, 1.0));
    assert!(!tally.check(1.0 + 1e-8, 1.0));
    assert!(!tally.check(1e-10, 0.0), "the tolerance is relative");
    assert!(tally.check_sums(1e-14, 0.0, 1.0), "the rounding of sums of terms of size 1");
    assert!(!tally.check_sums(1e-12, 0.0, 1.0));
    assert!(tally.check(5.0, f64::INFINITY));
    assert!(!tally.check(f64::INFINITY, 5.0));
    assert!(tally.check(-5.0, -4.0));
    assert!(!tally.check(-4.0, -5.0));
}

#[test]
fn a_nan_side_breaks_a_property_and_no_instance_does_too() {
    let mut tally = PropertyTally::new();
    tally.check(1.0, 2.0);
    tally.check(f64::NAN, 2.0);
    assert_broken(tally.finish().decide(ALPHA), "instance 1");
    assert_broken(PropertyTally::new().finish().decide(ALPHA), "no instance");
}

#[test]
fn appended_tallies_equal_one_tally() {
    let sides: Vec<(f64, f64)> = (0..40).map(|i| (f64::from(i * 37 % 41), 38.5)).collect();
    let tally = |sides: &[(f64, f64)]| {
        let mut tally = PropertyTally::new();
        for (lhs, rhs) in sides {
            tally.check(*lhs, *rhs);
        }
        tally
    };
    for cut in [0, 13, 40] {
        let mut first = tally(&sides[..cut]);
        first.append(&tally(&sides[cut..]));
        assert_eq!(first, tally(&sides));
    }
}

#[test]
fn eleven_over_n_is_what_a_clean_property_leaves_possible() {
    let fraction = property::undetected_fraction(1000, ALPHA);
    assert!((fraction - 0.010_94).abs() < 1e-4, "{fraction}");
}

#[test]
fn both_nulls_rejected_is_broken() {
    let mut finding = exact(1.0, 1.0, 1e-10);
    finding.p_refute = 0.0;
    assert_broken(finding.decide(ALPHA), "both");
    finding.p_refute = 1.5;
    assert_broken(finding.decide(ALPHA), "not a probability");
}

#[test]
fn findings_survive_json_with_infinities() {
    let mut finding = exact(f64::INFINITY, 1.0, 1e-10);
    finding.log_e_refute = Some(f64::NEG_INFINITY);
    let text = serde_json::to_string(&finding).unwrap();
    assert!(text.contains(r#""estimate":"inf""#) && text.contains(r#""log_e_refute":"-inf""#), "{text}");
    assert!(text.contains(r#""kind":"EXACT""#) && text.contains(r#""stopped":"fixed""#), "{text}");
    assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), finding);
}

#[derive(Serialize, Deserialize)]
struct Floats {
    #[serde(with = "nonfinite")]
    one: f64,
    #[serde(with = "nonfinite::option")]
    maybe: Option<f64>,
    #[serde(with = "nonfinite::vec")]
    many: Vec<f64>,
}

#[test]
fn non_finite_floats_are_strings() {
    let floats = Floats { one: f64::NAN, maybe: None, many: vec![1.5, f64::INFINITY, -2.0] };
    let text = serde_json::to_string(&floats).unwrap();
    assert_eq!(text, r#"{"one":"nan","maybe":null,"many":[1.5,"inf",-2.0]}"#);
    let back: Floats = serde_json::from_str(&text).unwrap();
    assert!(back.one.is_nan() && back.maybe.is_none() && back.many == floats.many);
    let whole: Floats = serde_json::from_str(r#"{"one":3,"maybe":-4,"many":[]}"#).unwrap();
    assert_eq!((whole.one, whole.maybe), (3.0, Some(-4.0)));
    assert!(serde_json::from_str::<Floats>(r#"{"one":"much","maybe":null,"many":[]}"#).is_err());
}

#[test]
fn holm_steps_down_over_the_registered_family() {
    let p = [0.01, 0.04, 0.03, 0.005];
    let adjusted = holm::adjusted(&p, 4);
    for (got, want) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
        assert!((got - want).abs() < 1e-15);
    }
    assert_eq!(holm::step_down(&p, 4, 0.05), [true, false, false, true]);
    assert_eq!(holm::step_down(&p, 10, 0.05), [false, false, false, true]);
    assert_eq!(holm::step_down(&[f64::NAN, 0.001], 2, 0.05), [false, true]);
    assert!(holm::step_down(&[], 60, 0.05).is_empty());
}
