//! For authors of sources: checks of the contract of [`Source`].
//!
//! A test of a source is one line. `make` opens the stream from its start; it is called several times, and
//! must give the same examples each time.
//!
//! ```
//! use lao_observation::testing::check_source;
//! # use lao_observation::{BlockBuf, Source, SourceError};
//! # struct Count(u64);
//! # impl Source for Count {
//! #     fn dim(&self) -> usize { 2 }
//! #     fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
//! #         let rows = block.capacity().min((9 - self.0) as usize);
//! #         for row in 0..rows {
//! #             let i = (self.0 + row as u64) as f64;
//! #             for (c, &j) in attributes.iter().enumerate() {
//! #                 block.column_mut(c)[row] = i + f64::from(j);
//! #             }
//! #             block.labels_mut()[row] = i;
//! #         }
//! #         block.set_rows(rows);
//! #         self.0 += rows as u64;
//! #         Ok(rows)
//! #     }
//! #     fn position(&self) -> u64 { self.0 }
//! #     fn seek(&mut self, position: u64) -> Result<(), SourceError> { self.0 = position; Ok(()) }
//! # }
//! check_source(|| Count(0)).unwrap();
//! ```

use crate::block::BlockBuf;
use crate::source::{GradientAsk, Scratch, Source, SourceError};
use crate::source::{check_answer, observe_checked};
use lao_kernels::{SparseVector, merge_into};
use thiserror::Error;

/// The largest number of examples that are checked.
const EXAMPLES: usize = 80;
/// The largest number of attributes that are checked.
const ATTRIBUTES: usize = 24;

/// The way in which a source breaks its contract.
#[derive(Debug, Error)]
pub enum SourceFault {
    /// The source has no attributes.
    #[error("dim() is 0: examples must have at least one attribute")]
    Empty,
    /// The source failed where it may not, or its answer was refused.
    #[error("{doing}: {error}")]
    Failed {
        /// What was asked of it.
        doing: &'static str,
        /// The error of the source, or of the check of its answer.
        error: SourceError,
    },
    /// The source reports a wrong position.
    #[error("{doing}: position() is {found}, but {expected} examples have passed")]
    Position {
        /// What was asked of it.
        doing: &'static str,
        /// The position that the source reports.
        found: u64,
        /// The right position.
        expected: u64,
    },
    /// An example differs from what it was when the examples were read one by one.
    #[error(
        "{doing}: {what} of example {example} is {found}, but was {expected} when examples were read one by \
         one"
    )]
    Differs {
        /// What was asked of it.
        doing: &'static str,
        /// The number that differs: a label, or the value of an attribute.
        what: String,
        /// Index of the example.
        example: usize,
        /// The number now; NaN if the source left this place of the block unfilled.
        found: f64,
        /// The number before.
        expected: f64,
    },
    /// The source ended early, or continued after its end.
    #[error("{doing}: {found} examples came, but {expected} are left")]
    Length {
        /// What was asked of it.
        doing: &'static str,
        /// The number of examples that were returned.
        found: u64,
        /// The number of examples that are left.
        expected: u64,
    },
    /// A gradient sum is not that of the examples.
    #[error(
        "{doing}: the sum for attribute {attribute} grew by {found}, but the sum over {examples} examples of \
         2 (theta'x - y) x_j is {expected}"
    )]
    Gradient {
        /// What was asked of it.
        doing: &'static str,
        /// The attribute.
        attribute: u32,
        /// Examples summed over.
        examples: u64,
        /// What the source added.
        found: f64,
        /// What the examples give.
        expected: f64,
    },
}

/// Checks the whole contract of a source: [`check_observations`], and that sums of gradients are those of the
/// examples.
///
/// # Errors
/// Returns the first fault that was found.
pub fn check_source<S: Source>(make: impl Fn() -> S) -> Result<(), SourceFault> {
    let seen = Seen::read(&make)?;
    seen.check_observations(&make)?;
    seen.check_gradients(&make)
}

/// Checks the contract of a source, except for the values of its gradient sums. Use it for a source that
/// draws such sums from their law, so that they are sums over other examples than the ones that can be
/// observed.
///
/// # Errors
/// Returns the first fault that was found.
pub fn check_observations<S: Source>(make: impl Fn() -> S) -> Result<(), SourceFault> {
    Seen::read(&make)?.check_observations(&make)
}

/// The first examples, read one by one with all attributes that are checked.
struct Seen {
    attributes: Vec<u32>,
    /// One list per example.
    values: Vec<Vec<f64>>,
    labels: Vec<f64>,
    /// Whether the stream ends after these.
    ends: bool,
}

fn failed(doing: &'static str) -> impl Fn(SourceError) -> SourceFault {
    move |error| SourceFault::Failed { doing, error }
}

fn check_position<S: Source>(doing: &'static str, source: &S, expected: usize) -> Result<(), SourceFault> {
    let (found, expected) = (source.position(), expected as u64);
    if found == expected { Ok(()) } else { Err(SourceFault::Position { doing, found, expected }) }
}

impl Seen {
    fn read<S: Source>(make: &impl Fn() -> S) -> Result<Self, SourceFault> {
        let doing = "reading examples one by one";
        let mut source = make();
        let dim = source.dim();
        if dim == 0 {
            return Err(SourceFault::Empty);
        }
        // The first, the last, and some in between.
        let kept = dim.min(ATTRIBUTES);
        let attributes: Vec<u32> = (0..kept).map(|i| (i * (dim - 1) / (kept - 1).max(1)) as u32).collect();
        let mut seen = Seen { attributes, values: Vec::new(), labels: Vec::new(), ends: false };
        let mut block = BlockBuf::new();
        check_position(doing, &source, 0)?;
        while seen.labels.len() < EXAMPLES {
            block.reset_poisoned(kept, 1);
            let rows = observe_checked(&mut source, &seen.attributes, &mut block).map_err(failed(doing))?;
            if rows == 0 {
                seen.ends = true;
                break;
            }
            let view = block.view(&seen.attributes);
            seen.values.push((0..kept).map(|c| view.column(c)[0]).collect());
            seen.labels.push(view.labels()[0]);
            check_position(doing, &source, seen.labels.len())?;
        }
        Ok(seen)
    }

    fn check_observations<S: Source>(&self, make: &impl Fn() -> S) -> Result<(), SourceFault> {
        let all = self.attributes.clone();
        let even: Vec<u32> = all.iter().copied().step_by(2).collect();
        let last: Vec<u32> = all.last().copied().into_iter().collect();
        let mut draws: Vec<u32> = all.iter().rev().copied().collect();
        draws.extend_from_slice(&even);
        draws.extend_from_slice(&last);
        self.compare("reading blocks", make(), 0, &all, false)?;
        self.compare("reading every other attribute", make(), 0, &even, false)?;
        self.compare("reading the last attribute", make(), 0, &last, false)?;
        self.compare("reading labels alone", make(), 0, &[], false)?;
        self.compare("reading draws, unsorted and repeated", make(), 0, &draws, true)?;

        let doing = "reading after a seek";
        let middle = self.labels.len() / 2;
        let mut ahead = make();
        ahead.seek(middle as u64).map_err(failed("a seek forward"))?;
        check_position("a seek forward", &ahead, middle)?;
        let mut back = self.compare(doing, ahead, middle, &all, false)?;
        back.seek(0).map_err(failed("a seek back to the start"))?;
        check_position("a seek back to the start", &back, 0)?;
        self.compare(doing, back, 0, &all, false)?;
        Ok(())
    }

    /// Reads from example `at` in blocks of several sizes, and compares.
    fn compare<S: Source>(
        &self,
        doing: &'static str,
        mut source: S,
        mut at: usize,
        attributes: &[u32],
        draws: bool,
    ) -> Result<S, SourceFault> {
        let (mut block, mut scratch) = (BlockBuf::new(), Scratch::default());
        let mut capacities = [1, 7, 33, 2, 64].into_iter().cycle();
        while at < self.labels.len() || self.ends {
            let left = self.labels.len() - at;
            // If the examples read one by one do not include the end, ask for no more examples than were
            // read.
            let capacity =
                capacities.next().map_or(1, |capacity| if self.ends { capacity } else { left.min(capacity) });
            block.reset_poisoned(attributes.len(), capacity);
            let answer = if draws {
                source.observe_draws(attributes, &mut block, &mut scratch)
            } else {
                source.observe(attributes, &mut block)
            };
            let rows = answer.and_then(|rows| check_shape(&source, attributes, &block, rows));
            let rows = rows.map_err(failed(doing))?;
            if rows > left || (rows == 0 && left > 0) {
                let (found, expected) = (rows as u64, left as u64);
                return Err(SourceFault::Length { doing, found, expected });
            }
            let view = block.view(attributes);
            for row in 0..rows {
                let example = at + row;
                let differs = |what: String, found: f64, expected: f64| {
                    Err(SourceFault::Differs { doing, what, example, found, expected })
                };
                if view.labels()[row] != self.labels[example] {
                    return differs("the label".into(), view.labels()[row], self.labels[example]);
                }
                for (c, &j) in attributes.iter().enumerate() {
                    let (found, expected) = (view.column(c)[row], self.value(example, j));
                    if found != expected {
                        return differs(format!("attribute {j}"), found, expected);
                    }
                }
            }
            at += rows;
            check_position(doing, &source, at)?;
            if rows == 0 {
                break;
            }
        }
        Ok(source)
    }

    /// Returns the value of an attribute that was read.
    fn value(&self, example: usize, attribute: u32) -> f64 {
        let place = self.attributes.binary_search(&attribute);
        place.map_or(f64::NAN, |place| self.values[example][place])
    }

    fn check_gradients<S: Source>(&self, make: &impl Fn() -> S) -> Result<(), SourceFault> {
        let doing = "summing gradients";
        let mut source = make();
        let middle = self.attributes[self.attributes.len() / 2];
        let mut at = 0;
        for (round, wanted) in [1, 5, 2, EXAMPLES].into_iter().enumerate() {
            let mut theta = SparseVector::zeros(source.dim());
            theta.push(middle, 0.5 - round as f64);
            let attributes: Vec<u32> = self.attributes.iter().copied().skip(round % 2).step_by(2).collect();
            let mut observed = Vec::new();
            merge_into(theta.indices(), &attributes, &mut observed);
            let left = (self.labels.len() - at) as u64;
            let examples = if self.ends { wanted as u64 } else { left.min(wanted as u64) };
            if examples == 0 {
                break;
            }
            let view = theta.view();
            let ask = GradientAsk { theta: view, attributes: &attributes, observed: &observed, examples };
            let before: Vec<f64> = attributes.iter().map(|&j| 3.0 + f64::from(j % 5)).collect();
            let mut sum = before.clone();
            let served = source.gradient(ask, &mut sum, &mut Scratch::default()).map_err(failed(doing))?;
            let most = examples.min(left);
            if served > most || (served == 0 && most > 0) {
                return Err(SourceFault::Length { doing, found: served, expected: most });
            }
            for ((&attribute, before), after) in attributes.iter().zip(before).zip(sum) {
                let terms = (at..at + served as usize).map(|i| {
                    let residual = view.iter().map(|(j, weight)| weight * self.value(i, j)).sum::<f64>();
                    2.0 * (residual - self.labels[i]) * self.value(i, attribute)
                });
                let (expected, size) =
                    terms.fold((0.0, before), |(sum, size), term| (sum + term, size + term.abs()));
                let found = after - before;
                // Sources may add in any order; `size` bounds the rounding error. NaN is refused, too.
                let close = (found - expected).abs() <= 1e-9 * size;
                if !close {
                    return Err(SourceFault::Gradient {
                        doing,
                        attribute,
                        examples: served,
                        found,
                        expected,
                    });
                }
            }
            at += served as usize;
            check_position(doing, &source, at)?;
        }
        self.compare("reading after gradients were summed", source, at, &self.attributes, false)?;
        Ok(())
    }
}

/// Checks an answer like [`check_answer`], except for numbers that are not finite: the comparison reports
/// these more precisely.
fn check_shape<S: Source>(
    source: &S,
    attributes: &[u32],
    block: &BlockBuf,
    returned: usize,
) -> Result<usize, SourceError> {
    match check_answer(attributes, block, returned, false, &|| source.position()) {
        Err(SourceError::Value { .. } | SourceError::Label { .. }) => Ok(returned),
        other => other,
    }
}
