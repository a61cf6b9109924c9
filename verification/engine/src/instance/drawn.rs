//! Streams of examples from a law that is given as a function.

use lao_observation::{BlockBuf, Cursor, Rng, Scratch, Seed, Source, SourceError};

/// A source whose examples are drawn one after the other: `law` fills the attributes, which are zero when it
/// is called, and returns the label.
///
/// The draws do not depend on what is observed, so two learners on the same seed see the same examples.
pub struct LawSource<F> {
    law: F,
    seed: Seed,
    rng: Rng,
    example: Vec<f64>,
    cursor: Cursor,
}

impl<F: Fn(&mut Rng, &mut [f64]) -> f64> LawSource<F> {
    /// Returns a source of `length` examples of `dim` attributes.
    pub fn new(dim: usize, length: u64, seed: Seed, law: F) -> Self {
        let rng = seed.rng();
        LawSource { law, seed, rng, example: vec![0.0; dim], cursor: Cursor::new(length) }
    }

    /// Draws the next example and returns its label.
    fn draw(&mut self) -> f64 {
        self.example.fill(0.0);
        (self.law)(&mut self.rng, &mut self.example)
    }
}

impl<F: Fn(&mut Rng, &mut [f64]) -> f64> Source for LawSource<F> {
    fn dim(&self) -> usize {
        self.example.len()
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = self.cursor.upcoming(block.capacity());
        for row in 0..rows {
            block.labels_mut()[row] = self.draw();
            for (c, &j) in attributes.iter().enumerate() {
                block.column_mut(c)[row] = self.example[j as usize];
            }
        }
        block.set_rows(rows);
        self.cursor.advance(rows);
        Ok(rows)
    }

    // A value is computed where it is asked for, so draws need not be sorted first.
    fn observe_draws(
        &mut self,
        draws: &[u32],
        block: &mut BlockBuf,
        _: &mut Scratch,
    ) -> Result<usize, SourceError> {
        self.observe(draws, block)
    }

    fn position(&self) -> u64 {
        self.cursor.position()
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.cursor.seek(position)?;
        self.rng = self.seed.rng();
        for _ in 0..position {
            self.draw();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    fn labels(source: &mut impl Source, attributes: &[u32], room: usize) -> Vec<f64> {
        let mut block = BlockBuf::new();
        block.reset(attributes.len(), room);
        source.observe(attributes, &mut block).unwrap();
        block.view(attributes).labels().to_vec()
    }

    #[test]
    fn examples_do_not_depend_on_what_is_observed_and_come_again_after_seeking() {
        let law = |rng: &mut Rng, x: &mut [f64]| {
            assert!(x.iter().all(|x| *x == 0.0));
            x.fill_with(|| rng.random());
            x[0]
        };
        let source = || LawSource::new(3, 9, Seed::root(1), law);
        let all = labels(&mut source(), &[0, 1, 2], 20);
        assert_eq!(all.len(), 9);
        let mut few = source();
        assert_eq!(labels(&mut few, &[2], 4), all[..4]);
        few.seek(2).unwrap();
        assert_eq!(labels(&mut few, &[], 4), all[2..6]);
        assert!(few.seek(10).is_err());
    }
}
