//! The methods that the papers compare with.
//!
//! [`aer`], [`dantzig`] and [`fkk`] learn under a budget as well; [`online`] and [`offline`] see everything.

pub mod aer;
pub mod dantzig;
pub mod fkk;
mod l1_ball_iterate;
pub mod offline;
pub mod online;
pub mod reference;

pub use aer::{Aer, AerParams};
pub use dantzig::{Dantzig, DantzigParams};
pub use fkk::{Fkk, FkkParams};
pub use online::{Ball, Online, OnlineParams};
