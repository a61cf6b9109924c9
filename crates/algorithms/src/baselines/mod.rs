//! The methods that the papers compare with.

pub mod aer;

pub use aer::{Aer, AerParams};
//!
//! [`dantzig`] and [`fkk`] solve the same online problem under a budget, one by linear programs, one by enumeration;
//! [`online`] and [`offline`] see everything.

pub mod dantzig;
pub mod fkk;
pub mod offline;
pub mod online;

pub use dantzig::{Dantzig, DantzigParams};
pub use fkk::{Fkk, FkkParams};
pub use online::{Ball, Online, OnlineParams};
