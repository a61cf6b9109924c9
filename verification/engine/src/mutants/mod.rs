//! Deliberate faults that enter through public interfaces of the production crates: a source, a threshold, a
//! learner.
//!
//! Production code does not know that these faults exist. A fault copies only the code in which it differs.

pub mod crippled;
pub mod draws;
pub mod learner;
pub mod reader;
pub mod sabotage;
pub mod source;
pub mod tampered;
pub mod threshold;
pub mod variance_reduced;

pub use crippled::{Cripple, Crippled};
pub use draws::{FaultyDraws, WrongLength, WrongSubset};
pub use learner::{Misdirected, Misdirection};
pub use reader::{Overreach, Overreaches};
pub use sabotage::{Keep, Sabotage};
pub use source::{Faulty, GradientFault, ImputesMean};
pub use tampered::{Tampered, TwoDraws, TwoSampleEstimates};
pub use threshold::{KeepsByLot, KeepsOneMore, KeepsSmallest};
pub use variance_reduced::{PlainScsg, StepFault};
