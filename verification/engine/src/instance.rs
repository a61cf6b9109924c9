//! Instances for claims about inequalities: populations with a known spectrum, sparse vectors, finite sets of
//! examples, subsets, and a search for the instance that brings an inequality closest to failing.
//!
//! Vectors are dense slices of `d` numbers here, since the instances are small and the formulas stay
//! readable.

mod climb;
mod crossing;
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

pub use crate::vectors::{dot, in_units, minus, norm2, sup_norm, support_of};
pub use climb::{climb, strain};
pub use crossing::{Crossing, examples_until};
pub use drawn::LawSource;
pub use dual_averaging::{DualAveraging, largest};
pub use given_examples::GivenExamples;
pub use metered::{Metered, numbers, numbers_within};
pub use population::QuadraticPopulation;
pub use sets::{masks, members, random_support, sparse_normal, subsets};
pub use small_sum::{SmallSum, batches, epoch, mean, predictor, production_gradient};
pub use step::{StepInstance, Stepped, pad};
pub use tally::tally;

/// Returns `|v_S|^2`, the squared norm of `v` restricted to the set `S` with these bits.
pub fn norm2_on(v: &[f64], set: u128) -> f64 {
    members(set).map(|j| v[j] * v[j]).sum()
}
