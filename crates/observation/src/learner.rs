//! The learner's side of the contract: ask and tell.

use crate::{Ask, Block, Rng, Row};
use lao_kernels::SparseView;
use thiserror::Error;

/// A method that learns a sparse linear predictor without a handle on the data.
///
/// A learner does no I/O, owns no loop and no generator. It fills in what it wants to see next and is told what was
/// there; in between it is plain data, so it can be stored and taken up again.
pub trait Learner {
    /// `d`, the number of attributes of an example.
    fn dim(&self) -> usize;

    /// Fills in what to observe next. Called again before an earlier wish was served completely, it asks for the
    /// rest of it.
    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask);

    /// Predicts the label of one example from its observed attributes alone.
    fn predict(&self, seen: Row<'_>) -> f64 {
        seen.dot(self.coefficients())
    }

    /// Takes in what was observed. A large wish may be told in several pieces; the learner counts.
    ///
    /// # Errors
    /// [`LearnError::Diverged`] when an update leaves the finite numbers; the estimate before it stands.
    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError>;

    /// The estimate after the last completed update.
    fn coefficients(&self) -> SparseView<'_>;

    /// How many updates were completed.
    fn updates(&self) -> u64;
}

/// What a learner is told.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// Attribute values and labels of the next examples.
    Values(Block<'a>),
    /// Part or all of a gradient sum.
    Gradient(GradientSum<'a>),
}

/// `sum[i]` is the sum over `examples` examples of `2 (theta' x - y) x_j` for `j = attributes[i]`.
#[derive(Clone, Copy, Debug)]
pub struct GradientSum<'a> {
    /// The attributes asked for, sorted.
    pub attributes: &'a [u32],
    /// One sum per attribute.
    pub sum: &'a [f64],
    /// How many examples this sum covers.
    pub examples: u64,
}

/// Why a learner cannot go on.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LearnError {
    /// The step left the finite numbers.
    #[error(
        "update {update} diverged: coordinate {attribute} became {value}; the step size is too large for this data, or the data has values out of scale"
    )]
    Diverged {
        /// The update, counted from 1.
        update: u64,
        /// The first coordinate that is not finite.
        attribute: usize,
        /// Its value.
        value: f64,
    },
    /// The session told something that was not asked for.
    #[error("told {told}, but asked for {asked}")]
    NotAsked {
        /// What came.
        told: &'static str,
        /// What was wanted.
        asked: &'static str,
    },
}
