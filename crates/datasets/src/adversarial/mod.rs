//! Lower-bound and hardness instances of the papers.

pub mod ito;
