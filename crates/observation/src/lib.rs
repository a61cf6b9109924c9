//! Limited observation: what a learner may observe, and how.
//!
//! The data are examples `(x, y)` with `x` in `R^d`, and to observe an attribute of an example costs
//! something. A [`Learner`] therefore never touches data: it fills an [`Ask`]. A [`Session`] checks the ask
//! against the [`Budget`], fetches the answer from a [`Source`], keeps the [`Ledger`], and tells the learner
//! the answer. No method of the field chooses the attributes of an example by values of the same example, so
//! that this design excludes none.
//!
//! ```
//! use lao_kernels::SparseVector;
//! use lao_observation::{BlockBuf, Budget, Cursor, Source, SourceError, session::mean_squared_error};
//!
//! /// Example i is (1, i, i^2), its label 2 + 3 i.
//! struct Powers(Cursor);
//!
//! impl Source for Powers {
//!     fn dim(&self) -> usize {
//!         3
//!     }
//!     fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
//!         let rows = self.0.upcoming(block.capacity());
//!         for row in 0..rows {
//!             let i = (self.0.position() + row as u64) as f64;
//!             for (c, &j) in attributes.iter().enumerate() {
//!                 block.column_mut(c)[row] = i.powi(j as i32);
//!             }
//!             block.labels_mut()[row] = 2.0 + 3.0 * i;
//!         }
//!         block.set_rows(rows);
//!         self.0.advance(rows);
//!         Ok(rows)
//!     }
//!     fn position(&self) -> u64 {
//!         self.0.position()
//!     }
//!     fn seek(&mut self, position: u64) -> Result<(), SourceError> {
//!         self.0.seek(position)
//!     }
//! }
//!
//! lao_observation::testing::check_source(|| Powers(Cursor::new(100)))?; // for authors of sources
//! let model = SparseVector::new(3, vec![0, 1], vec![2.0, 3.0])?;
//! let error = mean_squared_error(model.view(), &mut Powers(Cursor::new(100)), Budget::PerExample(2), 100)?;
//! assert_eq!(error, Some(0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`ask`] | requests of learners |
//! | [`block`] | observed values, one contiguous column per attribute |
//! | [`learner`], [`source`] | the traits of methods and of data |
//! | [`cursor`] | the position in a stream, which most sources keep |
//! | [`session`] | the loop between a source and a learner |
//! | [`budget`], [`tariff`], [`ledger`] | the limit, the prices, the counts |
//! | [`seed`], [`sample`] | named seeds, and samplers of indices |
//! | [`estimate`] | unbiased estimates from partly observed examples |
//! | [`mod@stored`] | the stored form of states: with their bits, and checked when they are read |
//! | [`testing`] | checks for authors of sources |
//! | [`problem`] | the constants of theorems |

pub mod ask;
pub mod block;
pub mod budget;
pub mod cursor;
mod distinct;
pub mod estimate;
pub mod learner;
pub mod ledger;
pub mod problem;
pub mod sample;
pub mod seed;
pub mod session;
pub mod source;
pub mod stored;
pub mod tariff;
// For tests: no promise.
#[doc(hidden)]
pub mod testing;

pub use ask::{Ask, Request};
pub use block::{Block, BlockBuf, Example, Row};
pub use budget::Budget;
pub use cursor::Cursor;
pub use learner::{Foreseen, GradientSum, LearnError, Learner, NoUpdate, Told};
pub use ledger::Ledger;
pub use problem::Constants;
pub use seed::{Rng, Seed};
pub use session::{Checkpoint, Session, SessionEnd, SessionError, SessionLimit, Step};
pub use source::{GradientAsk, Scratch, Source, SourceError};
pub use tariff::{Basket, Tariff, TariffError};
