//! The verification suite: every claim of the papers as an executable statistical test.
//!
//! A [`claim::Claim`] is an assertion with an experiment. The experiment runs trials in a
//! [`context::Context`] and passes their results to a [`judge`], which returns a finding; [`verdict`]
//! combines the findings of a claim into one verdict; [`run`] runs many claims at once and writes a
//! [`record`]. Each claim also has mutants: the same experiment with one deliberate fault, which the same
//! judge must notice. A check that cannot fail is reported as UNTESTED.
//!
//! The code with which a claim is written is the crate `lao-verification-engine`, and the claims of each
//! paper are a crate of their own. These crates compile in parallel, and a change to one paper recompiles no
//! other paper. This crate registers all papers and runs their claims.

pub mod baseline;
pub mod bless;
pub mod comparison;
pub mod errata;
pub mod explain;
pub mod papers;
pub mod partition;
pub mod plan;
pub mod record;
pub mod report;
pub mod run;
pub mod seeds;
pub mod status;
pub mod track;

pub use lao_verification_engine::{claim, context, judge, paper, verdict};
