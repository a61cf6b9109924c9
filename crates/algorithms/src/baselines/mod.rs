//! The methods that the papers compare with.
//!
//! [`aer`], [`dantzig`] and [`fkk`] learn under a budget as well; [`online`] and `offline` see everything.
//! The feature `offline` adds the latter; the feature `linear-programs` lets [`dantzig`] solve its programs.

pub mod aer;
pub mod dantzig;
pub mod fkk;
mod l1_ball_iterate;
#[cfg(feature = "offline")]
pub mod offline;
pub mod online;
pub mod reference;

pub use aer::{Aer, AerParams};
pub use dantzig::{Dantzig, DantzigParams};
pub use fkk::{Fkk, FkkParams};
pub use online::{Ball, Online, OnlineParams};
