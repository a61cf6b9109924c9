//! The engine of the verification suite: the parts with which a claim is written and judged. It contains no
//! claims.
//!
//! A [`claim::Claim`] is an assertion with an experiment. The experiment runs trials in a
//! [`context::Context`] and passes their results to a [`judge`], which returns a finding; [`verdict`]
//! combines the findings of a claim into one verdict. [`instance`], [`probe`] and [`mutants`] hold the code
//! that claims of several papers share.

pub mod arm;
pub mod claim;
pub mod context;
pub mod fault;
mod hand_on;
pub mod instance;
pub mod judge;
pub mod mutants;
pub mod paper;
pub mod plots;
pub mod probe;
pub mod record;
mod shared;
pub mod sizes;
pub mod special;
mod vectors;
pub mod verdict;

// For `hand_on!`.
#[doc(hidden)]
pub use lao_kernels::SparseView;
#[doc(hidden)]
pub use lao_observation as observation;
