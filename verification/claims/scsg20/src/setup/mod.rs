//! What the claims of the paper share: runs of solvers, the scenario of the figures, the toy.

pub(crate) mod diagonal;
pub(crate) mod enumerated;
pub(crate) mod runs;
pub(crate) mod scenario;
pub(crate) mod toy;
