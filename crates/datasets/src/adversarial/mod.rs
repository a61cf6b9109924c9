//! Lower-bound and hardness instances of the papers.

pub mod hazan_koren;
pub mod ito;
