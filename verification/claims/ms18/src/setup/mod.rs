//! What the claims of the paper share: literal runs, practical runs, real data.

pub(crate) mod literal;
pub(crate) mod practical;
pub(crate) mod real;
pub(crate) mod shown;
