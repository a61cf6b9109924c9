//! Instances for claims about inequalities: populations with a known spectrum, sparse vectors, finite sets of
//! examples, subsets, and a search for the instance that strains an inequality most.
//!
//! Vectors are dense slices of `d` numbers here: the instances are small, and formulas stay readable.

mod climb;
mod drawn;
mod dual_averaging;
mod given_examples;
mod metered;
mod population;
pub mod quadratics;
pub mod regression;
mod sets;
mod small_sum;
mod step;
mod tally;

pub use climb::{climb, strain};
pub use drawn::LawSource;
pub use dual_averaging::{DualAveraging, largest};
pub use given_examples::GivenExamples;
pub use metered::{Metered, numbers, numbers_within};
pub use population::QuadraticPopulation;
pub use sets::{masks, members, random_support, sparse_normal, subsets};
pub use small_sum::{SmallSum, batches, epoch, mean, predictor, production_gradient};
pub use step::{StepInstance, Stepped, pad};
pub use tally::tally;

/// `a' b`.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `|v|^2`.
pub fn norm2(v: &[f64]) -> f64 {
    dot(v, v)
}

/// `|v restricted to the set|^2`, the set given by its bits.
pub fn norm2_on(v: &[f64], set: u128) -> f64 {
    members(set).map(|j| v[j] * v[j]).sum()
}

/// `a - b`.
pub fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// `max_j |v_j|`.
pub fn sup_norm(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// The support as bits; at most 128 coordinates.
pub fn support_of(v: &[f64]) -> u128 {
    v.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, _)| 1 << j).sum()
}

/// Both sides of an inequality in units of `scale`, a sum of the sizes of the terms that they are made of:
/// what remains after cancellation below 1e-12 of it is rounding, and counts as zero.
pub fn in_units(scale: f64, lhs: f64, rhs: f64) -> (f64, f64) {
    let unit = |side: f64| {
        let share = if scale > 0.0 { side / scale } else { side };
        if share.abs() < 1e-12 { 0.0 } else { share }
    };
    (unit(lhs), unit(rhs))
}
