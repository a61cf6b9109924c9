//! Sources and learners with a fault, which claims must notice.

use lao_observation::{BlockBuf, LearnError, Learner, Seed, Source, SourceError, Told};
use rand_distr::{Distribution as _, StandardNormal};

/// Fills a block from a source, with a change; returns the number of rows.
type Change<S> = Box<dyn FnMut(&mut S, &[u32], &mut BlockBuf) -> Result<usize, SourceError>>;

/// The examples of another source, changed.
pub struct Changed<S> {
    inner: S,
    change: Change<S>,
}

impl<S: Source> Changed<S> {
    /// Returns `inner` as `change` serves it.
    pub fn new(
        inner: S,
        change: impl FnMut(&mut S, &[u32], &mut BlockBuf) -> Result<usize, SourceError> + 'static,
    ) -> Self {
        Changed { inner, change: Box::new(change) }
    }
}

impl<S: Source> Source for Changed<S> {
    lao_verification_engine::hand_on!(inner: dim position seek);

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        (self.change)(&mut self.inner, attributes, block)
    }
}

/// Returns `inner` with each example twice, as two fresh ones.
pub fn echo<S: Source>(inner: S) -> Changed<S> {
    Changed::new(inner, |inner, attributes, block| {
        let mut fresh = BlockBuf::new();
        fresh.reset(attributes.len(), block.capacity().div_ceil(2));
        let rows = inner.observe(attributes, &mut fresh)?;
        let served = (2 * rows).min(block.capacity());
        let seen = fresh.view(attributes);
        for row in 0..served {
            for c in 0..attributes.len() {
                block.column_mut(c)[row] = seen.column(c)[row / 2];
            }
            block.labels_mut()[row] = seen.labels()[row / 2];
        }
        block.set_rows(served);
        Ok(served)
    })
}

/// Returns `inner` with normal noise of standard deviation `sigma` added to the labels.
pub fn noisier<S: Source>(inner: S, sigma: f64, seed: &Seed) -> Changed<S> {
    let mut rng = seed.child("noise added").rng();
    Changed::new(inner, move |inner, attributes, block| {
        let rows = inner.observe(attributes, block)?;
        for label in &mut block.labels_mut()[..rows] {
            let z: f64 = StandardNormal.sample(&mut rng);
            *label += sigma * z;
        }
        Ok(rows)
    })
}

/// A learner that learns nothing from the examples after the first ones.
pub struct Deaf<L> {
    inner: L,
    left: u64,
}

impl<L: Learner> Deaf<L> {
    /// Returns `inner`, which is told of `examples` examples, or a few less.
    pub fn after(examples: u64, inner: L) -> Self {
        Deaf { inner, left: examples }
    }
}

impl<L> Deaf<L> {
    /// Returns the learner.
    pub fn into_inner(self) -> L {
        self.inner
    }
}

impl<L: Learner> Learner for Deaf<L> {
    lao_verification_engine::hand_on!(inner: dim ask predict coefficients intercept updates takes_gaps);

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let examples = match &told {
            Told::Values(block) => block.rows() as u64,
            Told::Gradient(part) => part.examples,
        };
        if examples > self.left {
            self.left = 0;
            return Ok(());
        }
        self.left -= examples;
        self.inner.tell(told)
    }
}
