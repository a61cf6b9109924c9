//! The methods that the papers compare their own with.
//!
//! [`aer`], [`dantzig`], [`fkk`] and [`omp`] learn under a budget, too; [`online`] and [`offline`] see all
//! attributes.
//! [`dantzig`] needs the feature `linear-programs` to solve its programs.

pub mod aer;
pub mod dantzig;
pub mod fkk;
mod l1_ball_iterate;
#[doc(hidden)]
pub mod moments;
pub mod offline;
pub mod omp;
pub mod online;
pub mod reference;

pub use aer::{Aer, AerParams};
pub use dantzig::{Dantzig, DantzigParams};
pub use fkk::{Fkk, FkkParams};
pub use omp::{Omp, OmpParams};
pub use online::{Ball, Online, OnlineParams};
