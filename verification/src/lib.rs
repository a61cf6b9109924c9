//! Every claim of the papers as an executable, statistical test.
//!
//! A [`claim::Claim`] is an assertion with an experiment; the experiment runs trials in a
//! [`context::Context`] and hands numbers to a [`judge`], which finds; [`verdict`] turns findings into one
//! word; [`run`] does this for many claims at once and leaves a [`record`]. Each claim also has mutants: the
//! same experiment with one deliberate fault, which the same judge must notice. A check that cannot fail is
//! reported as UNTESTED.
//!
//! What a claim is written with is a crate of its own, `lao-verification-engine`, and so are the claims of
//! each paper: they compile side by side, and a change to one paper leaves the others alone. This crate knows
//! them all and runs them.

pub mod baseline_diff;
pub mod errata;
pub mod explain;
pub mod papers;
pub mod plan;
pub mod record;
pub mod report;
pub mod run;
mod self_tests;
pub mod status;

pub use lao_verification_engine::{claim, context, judge, paper, verdict};
