//! What the claims of the paper share: problems, rounds, estimates, images.

pub(crate) mod digits;
pub(crate) mod estimates;
pub(crate) mod faults;
pub(crate) mod problem;
pub(crate) mod rounds;
pub(crate) mod scaling;
pub(crate) mod second_moments;
pub(crate) mod steps;
pub(crate) mod test_errors;
