use super::uniforms;
use crate::judge::calibration::{UnitMeanLaw, battery, mean_refute};

#[test]
fn every_engine_keeps_its_level_at_the_boundary_of_its_null() {
    let mut uniform = uniforms(2018);
    let all = battery(3, &mut uniform);
    for crossings in &all {
        assert!(crossings.within_level(), "{crossings:?}: {}", crossings.frequency());
    }
    assert!(all.len() > 25);
}

#[test]
fn crossings_are_counted_and_not_merely_absent() {
    // At level one half a working process crosses often.
    let mut uniform = uniforms(7);
    let crossings = mean_refute(UnitMeanLaw::Exponential, 0.5, 400, 200, &mut uniform);
    assert!(crossings.frequency() > 0.1 && crossings.within_level(), "{crossings:?}");
}

#[test]
fn the_laws_have_mean_one() {
    let mut uniform = uniforms(5);
    for law in [
        UnitMeanLaw::Exponential,
        UnitMeanLaw::ChiSquare,
        UnitMeanLaw::Lognormal,
        UnitMeanLaw::Pareto,
        UnitMeanLaw::Spikes,
    ] {
        let n = 400_000;
        let mean = (0..n).map(|_| law.draw(&mut uniform)).sum::<f64>() / f64::from(n);
        assert!((mean - 1.0).abs() < 0.08, "{law:?}: {mean}");
    }
}
