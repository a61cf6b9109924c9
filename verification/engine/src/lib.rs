//! What a claim is written with and judged by; no claims.
//!
//! A [`claim::Claim`] is an assertion with an experiment; the experiment runs trials in a
//! [`context::Context`] and hands numbers to a [`judge`], which finds; [`verdict`] turns findings into one
//! word. [`instance`], [`probe`] and [`mutants`] are what the claims of several papers share.

pub mod arm;
pub mod claim;
pub mod context;
pub mod fault;
pub mod instance;
pub mod judge;
pub mod mutants;
pub mod paper;
pub mod probe;
pub mod sizes;
pub mod special;
pub mod verdict;
