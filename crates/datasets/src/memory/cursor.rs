//! Where a stream over stored rows stands, and the permutation of its rows.

use lao_observation::{Seed, SourceError};
use rand::RngExt;
use std::ops::Range;

/// Position in a stream that goes over `rows` rows a number of times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    rows: usize,
    passes: u64,
    position: u64,
}

impl Cursor {
    pub(super) fn new(rows: usize) -> Cursor {
        Cursor { rows, passes: 1, position: 0 }
    }

    pub(super) fn with_passes(self, passes: u64) -> Cursor {
        Cursor { passes, ..self }
    }

    /// The same passes, from the start.
    pub(super) fn rewound(self) -> Cursor {
        Cursor { position: 0, ..self }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The next stored rows: at most `most`, within one pass; empty when dry.
    pub(super) fn upcoming(&self, most: u64) -> Range<usize> {
        let left = self.end().saturating_sub(self.position);
        if left == 0 {
            return 0..0;
        }
        // `left > 0` implies `rows > 0`.
        let row = (self.position % self.rows as u64) as usize;
        let run = left.min(most).min((self.rows - row) as u64);
        row..row + run as usize
    }

    pub(super) fn advance(&mut self, rows: usize) {
        self.position += rows as u64;
    }

    pub(super) fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        if position > self.end() {
            return Err(SourceError::Seek { position, end: self.end() });
        }
        self.position = position;
        Ok(())
    }

    fn end(&self) -> u64 {
        (self.rows as u64).saturating_mul(self.passes)
    }
}

/// A uniformly drawn order of `0..rows` (Fisher-Yates).
pub(super) fn permutation(rows: usize, seed: &Seed) -> Vec<usize> {
    let mut rng = seed.child("row order").rng();
    let mut order: Vec<usize> = (0..rows).collect();
    for last in (1..rows).rev() {
        order.swap(last, rng.random_range(0..=last));
    }
    order
}
