//! Sources that return the right sums but read the wrong attributes.

use lao_observation::source::gradient_by_blocks;
use lao_observation::{BlockBuf, GradientAsk, Scratch, Source, SourceError};

/// The difference between the attributes that are read and those that were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overreach {
    /// One attribute more than asked for, if there is one.
    OneMore,
    /// Every attribute, as a dense inner product would.
    All,
    /// Nothing is read for the block with the last attribute: its examples are not even drawn.
    SkipsLastBlock,
}

/// A source that reads the wrong attributes when it is asked for gradients or, except for the last fault, for
/// values.
#[derive(Clone, Debug)]
pub struct Overreaches<S> {
    inner: S,
    by: Overreach,
    observed: Vec<u32>,
}

impl<S: Source> Overreaches<S> {
    /// Returns `inner` with the fault `by`.
    pub fn new(inner: S, by: Overreach) -> Self {
        Overreaches { inner, by, observed: Vec::new() }
    }

    /// Returns the sound source.
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

impl<S: Source> Source for Overreaches<S> {
    crate::hand_on!(inner: dim position seek);

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let all = 0..self.inner.dim() as u32;
        let observed: Vec<u32> = match self.by {
            Overreach::SkipsLastBlock => return self.inner.observe(attributes, block),
            Overreach::All => all.collect(),
            Overreach::OneMore => {
                let missing = all.clone().find(|j| attributes.binary_search(j).is_err());
                all.filter(|j| Some(*j) == missing || attributes.binary_search(j).is_ok()).collect()
            }
        };
        let mut wider = BlockBuf::new();
        wider.reset(observed.len(), block.capacity());
        let rows = self.inner.observe(&observed, &mut wider)?;
        let view = wider.view(&observed);
        for (place, j) in observed.iter().enumerate() {
            if let Ok(c) = attributes.binary_search(j) {
                block.column_mut(c)[..rows].copy_from_slice(&view.column(place)[..rows]);
            }
        }
        block.labels_mut()[..rows].copy_from_slice(&view.labels()[..rows]);
        block.set_rows(rows);
        Ok(rows)
    }

    fn gradient(
        &mut self,
        ask: GradientAsk<'_>,
        sum: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<u64, SourceError> {
        let all = 0..self.inner.dim() as u32;
        self.observed.clear();
        match self.by {
            Overreach::SkipsLastBlock if ask.attributes.last() == all.clone().last().as_ref() => {
                return Ok(ask.examples);
            }
            Overreach::All => self.observed.extend(all),
            Overreach::OneMore => {
                self.observed.extend_from_slice(ask.observed);
                let missing = all.clone().find(|j| ask.observed.binary_search(j).is_err());
                self.observed.extend(missing);
                self.observed.sort_unstable();
            }
            Overreach::SkipsLastBlock => self.observed.extend_from_slice(ask.observed),
        }
        gradient_by_blocks(&mut self.inner, GradientAsk { observed: &self.observed, ..ask }, sum, scratch)
    }
}
