//! The learner's side of the contract: ask and tell.

use crate::ask::Ask;
use crate::block::{Block, Example, Row};
use crate::seed::Rng;
use lao_kernels::{SparseView, all_finite};
use std::fmt;
use thiserror::Error;

/// A method that learns a sparse linear predictor without access to the data.
///
/// A learner does no I/O, and owns neither a loop nor a generator. It fills in what to observe next, and is
/// told what was observed. In between it is plain data, so that it can be stored and resumed later.
///
/// ```
/// use lao_kernels::{SparseVector, SparseView};
/// use lao_observation::{Ask, Example, LearnError, Learner, Rng, Told};
///
/// /// Gradient steps on the weight of attribute 0, one example at a time.
/// struct First {
///     w: SparseVector,
///     updates: u64,
/// }
///
/// impl Learner for First {
///     fn dim(&self) -> usize {
///         self.w.dim()
///     }
///     fn ask(&mut self, _: &mut Rng, ask: &mut Ask) {
///         ask.values(1).push(0); // attribute 0 of one example
///     }
///     fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
///         let Example { seen, label } = told.example()?;
///         let x = seen.values[0];
///         self.w.change_values(|_, w| w + 0.2 * (label - w * x) * x);
///         self.updates += 1;
///         Ok(())
///     }
///     fn coefficients(&self) -> SparseView<'_> {
///         self.w.view()
///     }
///     fn updates(&self) -> u64 {
///         self.updates
///     }
/// }
/// # let learner = First { w: SparseVector::new(3, vec![0], vec![0.0])?, updates: 0 };
/// # assert_eq!((learner.dim(), learner.updates(), learner.coefficients().len()), (3, 0, 1));
/// # Ok::<(), lao_kernels::VectorError>(())
/// ```
pub trait Learner {
    /// Returns `d`, the number of attributes of an example.
    fn dim(&self) -> usize;

    /// Fills in what to observe next. If the previous ask was served in part, the learner asks for the rest.
    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask);

    /// Predicts the label of one example from its observed attributes alone.
    fn predict(&self, seen: Row<'_>) -> f64 {
        seen.dot(self.coefficients())
    }

    /// Returns whether a value told may be NaN: it was asked for and could not be had. A learner that does
    /// not take gaps is told complete examples alone.
    fn takes_gaps(&self) -> bool {
        false
    }

    /// Returns whether examples may have [weights](crate::Block::weights).
    fn takes_weights(&self) -> bool {
        false
    }

    /// Learns from what was observed. A large ask may be answered in several pieces, which the learner
    /// counts.
    ///
    /// # Errors
    /// [`LearnError::Diverged`] when an update leaves the finite numbers, [`LearnError::NotFinite`] when a
    /// number told is NaN (unless the learner [takes gaps](Self::takes_gaps)) or infinite,
    /// [`LearnError::NotAsked`] when something else was asked for. The learner is then as it was before: the
    /// estimate remains, and the learner still accepts the right answer to the same ask.
    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError>;

    /// Returns the estimate after the last completed update.
    fn coefficients(&self) -> SparseView<'_>;

    /// Returns the intercept, which [`predict`](Self::predict) adds: 0 for a method that has none and expects
    /// centered attributes and labels.
    fn intercept(&self) -> f64 {
        0.0
    }

    /// Returns the label that the estimate predicts from the values of its attributes, which must be sorted.
    /// This is the prediction to use after learning. [`predict`](Self::predict) belongs to the online
    /// protocol, and predicts from the attributes that were drawn.
    fn apply(&self, seen: Row<'_>) -> f64 {
        self.intercept() + seen.dot(self.coefficients())
    }

    /// Returns the number of completed updates.
    fn updates(&self) -> u64;

    /// Returns the number of further examples that complete the next update; `None` if no update follows, or
    /// if the learner does not know, which is allowed to one that updates with every example.
    ///
    /// A method of mini-batches may need many examples for its first update, and a run that ends earlier has
    /// learned nothing. [`NoUpdate`] is the warning.
    fn examples_to_next_update(&self) -> Option<u64> {
        None
    }

    /// Guesses the asks that follow the current one, `count` of them at most, in their order; nothing if the
    /// learner does not guess. A source that is slow to answer begins to fetch what is foreseen; what is
    /// asked for then need not be the same.
    fn foresee(&self, _count: usize) -> Vec<Foreseen> {
        Vec::new()
    }
}

/// An ask for values that is likely to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreseen {
    /// The attributes, ascending.
    pub attributes: Vec<u32>,
    /// The number of examples.
    pub examples: u64,
}

/// The warning after a run that ended before the first update: the estimate is still the start.
///
/// ```
/// # use lao_observation::{Learner, NoUpdate};
/// # fn report<L: Learner>(learner: &L) {
/// // After the run:
/// if let Some(warning) = NoUpdate::of(learner) {
///     eprintln!("{warning}");
/// }
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoUpdate {
    /// The number of further examples that the first update needs, if the learner knows it.
    pub missing: Option<u64>,
}

impl NoUpdate {
    /// Returns the warning if `learner` has completed no update.
    pub fn of<L: Learner + ?Sized>(learner: &L) -> Option<Self> {
        (learner.updates() == 0).then(|| NoUpdate { missing: learner.examples_to_next_update() })
    }
}

impl fmt::Display for NoUpdate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("no update was completed, so the estimate is still the start")?;
        match self.missing {
            Some(missing) => write!(
                formatter,
                ": the first update needs {missing} more examples; give more data, or lower the batch size"
            ),
            None => Ok(()),
        }
    }
}

/// The answer to an ask, or a part of it.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// Attribute values and labels of the next examples.
    Values(Block<'a>),
    /// Part or all of a gradient sum.
    Gradient(GradientSum<'a>),
}

impl<'a> Told<'a> {
    /// Returns the example told, if it is one example and all its numbers are finite. The caller must compare
    /// its attributes with those asked for.
    ///
    /// # Errors
    /// [`LearnError::NotAsked`] or [`LearnError::NotFinite`].
    #[inline]
    pub fn example(&self) -> Result<Example<'a>, LearnError> {
        let not_asked = |told| LearnError::NotAsked { told, asked: ONE_EXAMPLE };
        let Told::Values(block) = self else { return Err(not_asked("a gradient sum")) };
        let Some(example) = block.single() else {
            return Err(not_asked("values of several examples, or of none"));
        };
        let Example { seen, label } = example;
        if label.is_finite() && all_finite(seen.values) {
            return Ok(example);
        }
        let not_finite = |(_, value): &(&u32, &f64)| !value.is_finite();
        Err(match seen.attributes.iter().zip(seen.values).find(not_finite) {
            Some((&attribute, &value)) if label.is_finite() => {
                LearnError::NotFinite { attribute: Some(attribute), value }
            }
            _ => LearnError::NotFinite { attribute: None, value: label },
        })
    }

    /// Returns the error of a learner that asked for one example's values of other attributes.
    pub fn other_attributes(&self) -> LearnError {
        LearnError::NotAsked { told: "other attribute values", asked: ONE_EXAMPLE }
    }

    /// Returns the gradient sum told, if it is one over these coordinates, of at least 1 and at most
    /// `examples` examples. Its numbers need not be finite: an estimate that has grown too large makes them
    /// overflow.
    ///
    /// # Errors
    /// [`LearnError::NotAsked`].
    pub fn gradient(
        &self,
        attributes: impl ExactSizeIterator<Item = u32>,
        examples: u64,
    ) -> Result<GradientSum<'a>, LearnError> {
        let not_asked =
            |told| LearnError::NotAsked { told, asked: "a gradient sum over the coordinates asked for" };
        let &Told::Gradient(part) = self else { return Err(not_asked("attribute values")) };
        if part.sum.len() != attributes.len() || !part.attributes.iter().copied().eq(attributes) {
            return Err(not_asked("a gradient sum over other coordinates"));
        }
        if part.examples == 0 || part.examples > examples {
            return Err(not_asked("a gradient sum over no examples, or over more than asked for"));
        }
        Ok(part)
    }
}

const ONE_EXAMPLE: &str = "one example's values of the attributes asked for";

/// `sum[i]` is the sum over `examples` examples of `2 (theta' x - y) x_j` for `j = attributes[i]`.
#[derive(Clone, Copy, Debug)]
pub struct GradientSum<'a> {
    /// The attributes asked for, sorted.
    pub attributes: &'a [u32],
    /// One sum per attribute.
    pub sum: &'a [f64],
    /// The number of examples that this sum covers.
    pub examples: u64,
}

/// The reason why a learner cannot continue.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LearnError {
    /// The step led to a number that is not finite.
    #[error(
        "update {update} diverged: coordinate {attribute} became {value:?}; the step size is too large for \
         this data, or the data has values out of scale"
    )]
    Diverged {
        /// The update, counted from 1.
        update: u64,
        /// The first coordinate that is not finite.
        attribute: usize,
        /// Its value.
        value: f64,
    },
    /// A number told is NaN or infinite.
    #[error("{} is {value:?}: values and labels must be finite; leave the example out", name(.attribute))]
    NotFinite {
        /// The attribute; `None` for the label.
        attribute: Option<u32>,
        /// The number that was told.
        value: f64,
    },
    /// The session told something that was not asked for.
    #[error("told {told}, but asked for {asked}")]
    NotAsked {
        /// What was told.
        told: &'static str,
        /// What was asked for.
        asked: &'static str,
    },
}

fn name(attribute: &Option<u32>) -> String {
    attribute.map_or("the label".into(), |attribute| format!("the value of attribute {attribute}"))
}
