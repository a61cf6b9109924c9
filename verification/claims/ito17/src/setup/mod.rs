//! What the claims of the paper share: laws, sets, learners that are watched, contests of methods.

pub(crate) mod consistency;
pub(crate) mod contest;
pub(crate) mod enumerated;
pub(crate) mod finite_law;
pub(crate) mod population;
pub(crate) mod regret;
pub(crate) mod theorem2;
pub(crate) mod watched;
pub(crate) mod work;
