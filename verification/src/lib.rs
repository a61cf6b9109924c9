//! Every claim of the papers as an executable, statistical test.
//!
//! A [`claim::Claim`] is an assertion with an experiment; the experiment runs trials in a [`context::Context`] and
//! hands numbers to a [`judge`], which finds; [`verdict`] turns findings into one word; [`run`] does this for many
//! claims at once and leaves a [`record`]. Each claim also has mutants: the same experiment with one deliberate
//! fault, which the same judge must notice. A check that cannot fail is reported as UNTESTED.

pub mod claim;
pub mod claims;
pub mod compare;
pub mod context;
pub mod errata;
pub mod explain;
pub mod instance;
pub mod judge;
pub mod mutants;
pub mod plan;
pub mod probe;
pub mod record;
pub mod report;
pub mod run;
pub mod special;
pub mod verdict;
