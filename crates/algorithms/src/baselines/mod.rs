//! The methods that the papers compare with.

pub mod aer;

pub use aer::{Aer, AerParams};
