//! Sources that answer gradient asks wrongly.

use lao_kernels::SparseVector;
use lao_observation::{GradientAsk, Scratch, Source, SourceError};

/// A fault in the answers to gradient asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GradientFault {
    /// Sums are multiplied by this factor: -1 reverses the step, 1/2 omits the 2 of the squared loss.
    Scaled(f64),
    /// The residual is computed from the block's attributes only, not from `supp(theta)`.
    ResidualFromBlock,
    /// The residual leaves out the first stored coordinate of theta.
    ResidualMissesFirst,
    /// The ragged last block (attributes from this one on) is answered with zeros.
    DropsFrom(u32),
    /// Only one example in this many is fresh, and is counted this many times, so the variance grows by this
    /// factor.
    Repeats(u64),
    /// Every block of an update sees the same examples, although the budget allows each example to be read
    /// only once.
    ReplaysBatch,
}

/// A source with a fault.
#[derive(Clone, Debug)]
pub struct Faulty<S> {
    inner: S,
    fault: GradientFault,
    /// The position at which the first block of the current update began.
    update_start: u64,
    part: Vec<f64>,
}

impl<S: Source> Faulty<S> {
    /// Returns `inner` with `fault` in its answers.
    pub fn new(inner: S, fault: GradientFault) -> Self {
        let update_start = inner.position();
        Faulty { inner, fault, update_start, part: Vec::new() }
    }

    /// Returns the sound source.
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

impl<S: Source> Source for Faulty<S> {
    crate::hand_on!(inner: dim observe position seek);

    fn gradient(
        &mut self,
        ask: GradientAsk<'_>,
        sum: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<u64, SourceError> {
        self.part.clear();
        self.part.resize(sum.len(), 0.0);
        let mut factor = 1.0;
        let mut served = match self.fault {
            GradientFault::ResidualFromBlock => {
                let mut theta = SparseVector::zeros(ask.theta.dim());
                for (j, value) in ask.theta.iter() {
                    if ask.attributes.binary_search(&j).is_ok() {
                        theta.push(j, value);
                    }
                }
                let ask = GradientAsk { theta: theta.view(), observed: ask.attributes, ..ask };
                self.inner.gradient(ask, &mut self.part, scratch)?
            }
            GradientFault::ResidualMissesFirst => {
                let mut theta = SparseVector::zeros(ask.theta.dim());
                ask.theta.iter().skip(1).for_each(|(j, value)| theta.push(j, value));
                self.inner.gradient(GradientAsk { theta: theta.view(), ..ask }, &mut self.part, scratch)?
            }
            GradientFault::Repeats(times) => {
                let fresh = ask.examples.div_ceil(times.max(1));
                let served =
                    self.inner.gradient(GradientAsk { examples: fresh, ..ask }, &mut self.part, scratch)?;
                factor = if served == 0 { 0.0 } else { ask.examples as f64 / served as f64 };
                if served == fresh { ask.examples } else { 0 }
            }
            GradientFault::ReplaysBatch => {
                if ask.attributes.first() == Some(&0) {
                    self.update_start = self.inner.position();
                } else {
                    self.inner.seek(self.update_start)?;
                }
                self.inner.gradient(ask, &mut self.part, scratch)?
            }
            GradientFault::Scaled(_) | GradientFault::DropsFrom(_) => {
                self.inner.gradient(ask, &mut self.part, scratch)?
            }
        };
        match self.fault {
            GradientFault::Scaled(by) => factor = by,
            GradientFault::DropsFrom(first) if ask.attributes.first().is_some_and(|&j| j >= first) => {
                factor = 0.0
            }
            _ => {}
        }
        for (total, part) in sum.iter_mut().zip(&self.part) {
            *total += factor * part;
        }
        served = served.min(ask.examples);
        Ok(served)
    }
}

/// A source that never reads the block's attributes: it multiplies the residual by the mean of each attribute
/// instead.
#[derive(Clone, Debug)]
pub struct ImputesMean<S> {
    inner: S,
    mean: Vec<f64>,
}

impl<S: Source> ImputesMean<S> {
    /// Returns `inner`, whose attributes have these means.
    pub fn new(inner: S, mean: Vec<f64>) -> Self {
        ImputesMean { inner, mean }
    }
}

impl<S: Source> Source for ImputesMean<S> {
    crate::hand_on!(inner: dim observe position seek);

    fn gradient(
        &mut self,
        ask: GradientAsk<'_>,
        sum: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<u64, SourceError> {
        let block = &mut scratch.block;
        let mut served = 0;
        while served < ask.examples {
            block.reset(ask.theta.len(), 1);
            if self.inner.observe(ask.theta.indices(), block)? == 0 {
                break;
            }
            let view = block.view(ask.theta.indices());
            let seen = ask.theta.values().iter().enumerate().map(|(c, weight)| weight * view.column(c)[0]);
            let residual = seen.sum::<f64>() - view.labels()[0];
            for (total, &j) in sum.iter_mut().zip(ask.attributes) {
                *total += 2.0 * residual * self.mean[j as usize];
            }
            served += 1;
        }
        Ok(served)
    }
}
