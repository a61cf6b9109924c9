//! What a learner may look at, and how.
//!
//! The data is examples `(x, y)` with `x` in `R^d`, and looking at an attribute of an example costs something. A
//! [`Learner`] therefore never touches data: it fills an [`Ask`], a [`Session`] checks the ask against the
//! [`Budget`], fetches through a [`Source`], keeps the [`Ledger`] and tells the learner what was there. No method
//! here decides what to look at in an example from values of the same example, so the exchange loses nothing.
//!
//! | module | holds |
//! |---|---|
//! | [`ask`] | what a learner asks for |
//! | [`block`] | what comes back: blocks of values, one contiguous column per attribute |
//! | [`learner`], [`source`] | the two ends |
//! | [`session`] | the road between them |
//! | [`budget`], [`ledger`] | what may be seen, what was seen |
//! | [`seed`], [`sample`] | where every draw comes from |
//! | [`estimate`] | unbiased estimates from partly observed examples |
//! | [`finite_sum`] | full information: a metered sum of component functions |
//! | [`problem`] | the constants that theorems speak of |

pub mod ask;
pub mod block;
pub mod budget;
mod distinct;
pub mod estimate;
pub mod finite_sum;
pub mod learner;
pub mod ledger;
pub mod problem;
pub mod sample;
pub mod seed;
pub mod session;
pub mod source;
pub mod stored;

pub use ask::{Ask, Request};
pub use block::{Block, BlockBuf, Row};
pub use budget::Budget;
pub use finite_sum::{Batch, FiniteSum, FiniteSumError, Gradient, Meter, Predictor};
pub use learner::{GradientSum, LearnError, Learner, NoUpdate, Told};
pub use ledger::Ledger;
pub use problem::Constants;
pub use seed::{Rng, Seed};
pub use session::{Checkpoint, Outcome, Session, SessionError, Step, Stop};
pub use source::{GradientAsk, Scratch, Source, SourceError};
