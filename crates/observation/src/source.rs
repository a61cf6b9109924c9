//! The data's side of the contract: a source observes.

use crate::block::BlockBuf;
use crate::learner::Foreseen;
use lao_kernels::{SparseView, all_finite, gradient_block, residual};
use thiserror::Error;

/// A stream of examples that can be observed attribute by attribute. The first page of this [crate] has a
/// source of four short methods; [`check_source`](crate::testing::check_source) tests such sources.
///
/// ```
/// use lao_datasets::memory::Columns;
/// use lao_observation::{BlockBuf, Source};
///
/// // Three examples of two attributes, one column after the other.
/// let mut source = Columns::new(2, vec![1.0, 2.0, 3.0, 10.0, 20.0, 30.0], vec![0.5, 1.5, 2.5])?;
/// let mut block = BlockBuf::new();
/// block.reset(1, 2); // one attribute of up to two examples
/// assert_eq!(source.observe(&[1], &mut block)?, 2);
/// assert_eq!(block.view(&[1]).column(0), [10.0, 20.0]);
/// assert_eq!(source.position(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source {
    /// Returns `d`, the number of attributes of an example.
    fn dim(&self) -> usize;

    /// Observes `attributes` (sorted, distinct, below [`dim`](Source::dim)) and labels of the next examples.
    /// Fills at most the block's capacity, calls [`BlockBuf::set_rows`], and returns the number of examples,
    /// which is 0 if the source is dry.
    ///
    /// # Errors
    /// Fails when the data cannot be read.
    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError>;

    /// Returns whether a value may be NaN, which stands for one that is missing. Of a source that does not
    /// say so, it is an error. Only a learner that [takes gaps](crate::Learner::takes_gaps) can learn from
    /// such a source.
    fn has_gaps(&self) -> bool {
        false
    }

    /// Returns whether examples have [weights](BlockBuf::weights_mut). Only a learner that
    /// [takes weights](crate::Learner::takes_weights) can learn from such a source.
    fn has_weights(&self) -> bool {
        false
    }

    /// Does the same as [`observe`](Source::observe) for attributes in any order, which may repeat, such as
    /// draws with replacement.
    ///
    /// The default observes the distinct attributes, sorted, and copies their values. A source that can serve
    /// any order directly overrides it.
    ///
    /// # Errors
    /// Fails when the data cannot be read.
    fn observe_draws(
        &mut self,
        draws: &[u32],
        block: &mut BlockBuf,
        scratch: &mut Scratch,
    ) -> Result<usize, SourceError> {
        observe_draws_sorted(self, draws, block, scratch)
    }

    /// Adds to `sum[i]` the sum over up to `ask.examples` next examples of `2 (theta' x - y) x_j`, `j =
    /// ask.attributes[i]`, and returns the number of examples, which is 0 if the source is dry.
    ///
    /// The default observes blocks and adds up. A source that has a faster way (contiguous columns, a finite
    /// set of rows, a remote engine) overrides it.
    ///
    /// # Errors
    /// Fails when the data cannot be read.
    fn gradient(
        &mut self,
        ask: GradientAsk<'_>,
        sum: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<u64, SourceError> {
        gradient_by_blocks(self, ask, sum, scratch)
    }

    /// Returns the index of the next example, counted from 0 at the start of the stream.
    fn position(&self) -> u64;

    /// Goes to example `position`, so that a stored run can be resumed.
    ///
    /// # Errors
    /// Fails when the source cannot go there.
    fn seek(&mut self, position: u64) -> Result<(), SourceError>;

    /// Returns how many asks after the current one are worth [foreseeing](crate::Learner::foresee): 0 unless
    /// the source is slow to answer, and can [fetch](Source::expect) what it expects.
    fn asks_ahead(&self) -> usize {
        0
    }

    /// Begins to fetch the values of the asks that are likely to come next, in their order, and forgets what
    /// was expected before.
    fn expect(&mut self, _asks: &[Foreseen]) {}

    /// Returns the number of bytes of one value in the source's storage, for the ledger.
    fn value_bytes(&self) -> u64 {
        8
    }
}

// A pointer to a source is a source.
macro_rules! points_to_a_source {
    ($($pointer:ty),*) => {$(
        impl<S: Source + ?Sized> Source for $pointer {
            fn dim(&self) -> usize {
                (**self).dim()
            }
            fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
                (**self).observe(attributes, block)
            }

            fn has_gaps(&self) -> bool {
                (**self).has_gaps()
            }
            fn has_weights(&self) -> bool {
                (**self).has_weights()
            }
            fn observe_draws(
                &mut self,
                draws: &[u32],
                block: &mut BlockBuf,
                scratch: &mut Scratch,
            ) -> Result<usize, SourceError> {
                (**self).observe_draws(draws, block, scratch)
            }
            fn gradient(
                &mut self,
                ask: GradientAsk<'_>,
                sum: &mut [f64],
                scratch: &mut Scratch,
            ) -> Result<u64, SourceError> {
                (**self).gradient(ask, sum, scratch)
            }
            fn position(&self) -> u64 {
                (**self).position()
            }
            fn seek(&mut self, position: u64) -> Result<(), SourceError> {
                (**self).seek(position)
            }
            fn asks_ahead(&self) -> usize {
                (**self).asks_ahead()
            }
            fn expect(&mut self, asks: &[Foreseen]) {
                (**self).expect(asks);
            }
            fn value_bytes(&self) -> u64 {
                (**self).value_bytes()
            }
        }
    )*};
}

points_to_a_source!(&mut S, Box<S>);

/// A gradient ask that the session has checked, with the set of attributes that the source may observe.
#[derive(Clone, Copy, Debug)]
pub struct GradientAsk<'a> {
    /// The point at which the gradient is taken.
    pub theta: SparseView<'a>,
    /// Coordinates of the gradient, sorted.
    pub attributes: &'a [u32],
    /// The union of `supp(theta)` and `attributes`, sorted: the attributes that may be observed.
    pub observed: &'a [u32],
    /// The largest number of examples.
    pub examples: u64,
}

/// Buffers for gradient asks, kept by the session so that a source allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// A block of observed values.
    pub block: BlockBuf,
    /// One residual per row.
    pub residual: Vec<f64>,
    /// Places of one list in another.
    pub places: Vec<usize>,
    /// The draws, sorted, each with its place in the list.
    pub sorted: Vec<(u32, u32)>,
    /// The distinct draws.
    pub distinct: Vec<u32>,
}

/// Observes, and checks the answer, since a source is not trusted. Every value for a learner passes this
/// function or [`check_answer`].
///
/// # Errors
/// Fails when the data cannot be read, or the source breaks its contract.
pub(crate) fn observe_checked<S: Source + ?Sized>(
    source: &mut S,
    attributes: &[u32],
    block: &mut BlockBuf,
) -> Result<usize, SourceError> {
    let returned = source.observe(attributes, block)?;
    check_answer(attributes, block, returned, false, &|| source.position())
}

// What follows is compiled once, and not for every source: the functions with a type of source as a parameter
// only call it.

/// Checks what a source has written to `block`, whose columns are `attributes`: there are as many rows as it
/// `returned`, at most the capacity of the block, and all numbers are finite, but for values that are NaN if
/// there may be `gaps`. Returns the number of rows.
/// `position` is that of the source, for an error.
pub(crate) fn check_answer(
    attributes: &[u32],
    block: &BlockBuf,
    returned: usize,
    gaps: bool,
    position: &dyn Fn() -> u64,
) -> Result<usize, SourceError> {
    let (set, capacity) = (block.rows(), block.capacity());
    if returned != set || returned > capacity {
        return Err(SourceError::Rows { returned, set, capacity });
    }
    let seen = block.view(attributes);
    let columns = |c: usize| seen.column(c);
    let all = match seen.single() {
        Some(example) => all_finite(example.seen.values),
        None => (0..attributes.len()).all(|c| all_finite(columns(c))),
    };
    if all && all_finite(seen.labels()) {
        return Ok(returned);
    }
    let first = position().saturating_sub(returned as u64);
    let not_finite = |numbers: &[f64], gaps: bool| {
        numbers.iter().position(|number| !(number.is_finite() || gaps && number.is_nan()))
    };
    if let Some(row) = not_finite(seen.labels(), false) {
        return Err(SourceError::Label { example: first + row as u64, value: seen.labels()[row] });
    }
    for (c, &attribute) in attributes.iter().enumerate() {
        if let Some(row) = not_finite(columns(c), gaps) {
            let (example, value) = (first + row as u64, columns(c)[row]);
            return Err(SourceError::Value { example, attribute, value });
        }
    }
    Ok(returned)
}

/// Answers draws in the default way: observes the distinct attributes, sorted, and copies their values.
///
/// # Errors
/// Fails when the data cannot be read.
pub fn observe_draws_sorted<S: Source + ?Sized>(
    source: &mut S,
    draws: &[u32],
    block: &mut BlockBuf,
    scratch: &mut Scratch,
) -> Result<usize, SourceError> {
    scratch.sort(draws, block.capacity());
    let rows = observe_checked(source, &scratch.distinct, &mut scratch.block)?;
    scratch.spread(rows, block);
    Ok(rows)
}

impl Scratch {
    /// Sorts the draws, and makes room for their distinct attributes.
    fn sort(&mut self, draws: &[u32], capacity: usize) {
        let Scratch { block, sorted, distinct, .. } = self;
        sorted.clear();
        sorted.extend(draws.iter().copied().zip(0..));
        // One comparison of whole numbers, where that of pairs takes two.
        sorted.sort_unstable_by_key(|&(j, place)| u64::from(j) << 32 | u64::from(place));
        distinct.clear();
        distinct.extend(sorted.iter().map(|&(j, _)| j));
        distinct.dedup();
        block.reset(distinct.len(), capacity);
    }

    /// Copies the observed columns to the places of the draws.
    fn spread(&self, rows: usize, to: &mut BlockBuf) {
        let seen = self.block.view(&self.distinct);
        let mut at = 0;
        for &(j, place) in &self.sorted {
            at += usize::from(self.distinct[at] != j);
            to.column_mut(place as usize)[..rows].copy_from_slice(&seen.column(at)[..rows]);
        }
        to.labels_mut()[..rows].copy_from_slice(&seen.labels()[..rows]);
        to.set_rows(rows);
    }

    /// Notes the places of the support and of the coordinates of an ask among the attributes that it
    /// observes. Returns how many belong to the support.
    fn place(&mut self, ask: &GradientAsk<'_>) -> usize {
        self.places.clear();
        places_in(ask.observed, ask.theta.indices(), &mut self.places);
        let of_support = self.places.len();
        places_in(ask.observed, ask.attributes, &mut self.places);
        of_support
    }

    /// Adds the gradient sum of the observed rows.
    fn add_gradient(&mut self, ask: &GradientAsk<'_>, of_support: usize, rows: usize, sum: &mut [f64]) {
        let Scratch { block, residual: tile, places, .. } = self;
        let seen = block.view(ask.observed);
        tile.resize(rows, 0.0);
        let support = places[..of_support].iter().zip(ask.theta.values());
        residual(support.map(|(&c, &weight)| (seen.column(c), weight)), seen.labels(), tile);
        // Doubling is exact, so that the factor 2 of the gradient can be applied to the residual.
        tile.iter_mut().for_each(|r| *r *= 2.0);
        gradient_block(places[of_support..].iter().map(|&c| seen.column(c)), tile, sum);
    }
}

/// Answers a gradient ask in the default way: observes blocks, and adds up.
///
/// # Errors
/// Fails when the data cannot be read.
pub fn gradient_by_blocks<S: Source + ?Sized>(
    source: &mut S,
    ask: GradientAsk<'_>,
    sum: &mut [f64],
    scratch: &mut Scratch,
) -> Result<u64, SourceError> {
    let of_support = scratch.place(&ask);
    let preferred = BlockBuf::preferred_rows(ask.observed.len());
    let mut served = 0;
    while served < ask.examples {
        let capacity = (ask.examples - served).min(preferred as u64) as usize;
        scratch.block.reset(ask.observed.len(), capacity);
        let rows = observe_checked(source, ask.observed, &mut scratch.block)?;
        if rows == 0 {
            break;
        }
        scratch.add_gradient(&ask, of_support, rows, sum);
        served += rows as u64;
    }
    Ok(served)
}

/// Appends, for each item of `some`, its place in `all`. Both lists are sorted, and `all` contains `some`.
fn places_in(all: &[u32], some: &[u32], places: &mut Vec<usize>) {
    let mut at = 0;
    for &item in some {
        while at < all.len() && all[at] < item {
            at += 1;
        }
        places.push(at);
    }
}

/// The reason why a source cannot answer.
#[derive(Debug, Error)]
pub enum SourceError {
    /// Reading failed.
    #[error("cannot read example {example}: {message}")]
    Read {
        /// Index of the example.
        example: u64,
        /// The cause and the remedy.
        message: String,
    },
    /// The source contradicts itself about the number of examples.
    #[error(
        "the source is at fault: `observe` returned {returned} examples and set {set} in the block, whose \
         capacity is {capacity}; it must fill at most the capacity, call `set_rows` with the number filled, \
         and return that number"
    )]
    Rows {
        /// What was returned.
        returned: usize,
        /// What was set in the block.
        set: usize,
        /// The capacity of the block, in rows.
        capacity: usize,
    },
    /// The source counted more examples into a gradient sum than it was asked for.
    #[error(
        "the source is at fault: `gradient` summed over {served} examples, but was asked for {asked} at most"
    )]
    Examples {
        /// Examples that it says it summed over.
        served: u64,
        /// Examples asked for.
        asked: u64,
    },
    /// A value is NaN or infinite.
    #[error(
        "attribute {attribute} of example {example} is {value}: values must be finite; replace missing ones, \
         or leave the example out"
    )]
    Value {
        /// Index of the example.
        example: u64,
        /// The attribute.
        attribute: u32,
        /// Its value.
        value: f64,
    },
    /// A label is NaN or infinite.
    #[error("the label of example {example} is {value}: labels must be finite; leave the example out")]
    Label {
        /// Index of the example.
        example: u64,
        /// The label.
        value: f64,
    },
    /// The source cannot go to that example.
    #[error("cannot go to example {position}: this source holds examples 0..{end}")]
    Seek {
        /// Where it was asked to go.
        position: u64,
        /// How many examples there are.
        end: u64,
    },
}
