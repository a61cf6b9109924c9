//! Tests of the judges: samples whose correct decision is known, the printed tables of sizes, and false
//! alarms at the boundary of each null. Seeds are fixed, so the tests are deterministic.

mod calibration;
mod equal;
mod mean;
mod paired;
mod plain;
mod prob;
mod rare;
mod trend;

use super::Decision;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The level at which the tables were computed.
const ALPHA: f64 = 1.67e-5;

/// Returns independent uniforms in [0, 1) from a fixed seed.
fn uniforms(seed: u64) -> impl FnMut() -> f64 {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    move || generator.random()
}

#[track_caller]
fn assert_broken(decision: Decision, reason: &str) {
    match decision {
        Decision::Broken(why) => assert!(why.contains(reason), "{why:?} does not mention {reason:?}"),
        other => panic!("expected Broken, got {other:?}"),
    }
}
