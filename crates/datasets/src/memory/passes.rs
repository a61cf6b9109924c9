//! Passes over stored rows, and the permutation of rows.

use lao_observation::{Cursor, Seed, SourceError};
use rand::RngExt;
use std::ops::Range;

/// The position in a stream that passes over `rows` rows a number of times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    rows: usize,
    cursor: Cursor,
}

impl Passes {
    /// Returns the position at the start of one pass.
    pub(super) fn new(rows: usize) -> Passes {
        Passes { rows, cursor: Cursor::new(rows as u64) }
    }

    /// Returns the same position in a stream of this number of passes.
    pub(super) fn with_passes(self, passes: u64) -> Passes {
        Passes { cursor: self.cursor.with_length((self.rows as u64).saturating_mul(passes)), ..self }
    }

    /// Returns the position at the start of the same passes.
    pub(super) fn rewound(self) -> Passes {
        Passes { cursor: Cursor::new(self.cursor.length()), ..self }
    }

    pub(super) fn position(&self) -> u64 {
        self.cursor.position()
    }

    /// Returns the range of the next stored rows: at most `most` rows, within one pass. It is empty if the
    /// stream is dry.
    pub(super) fn upcoming(&self, most: usize) -> Range<usize> {
        let left = self.cursor.upcoming(most);
        if left == 0 {
            return 0..0;
        }
        // `left > 0` implies `rows > 0`.
        let row = (self.position() % self.rows as u64) as usize;
        row..row + left.min(self.rows - row)
    }

    pub(super) fn advance(&mut self, rows: usize) {
        self.cursor.advance(rows);
    }

    pub(super) fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.cursor.seek(position)
    }
}

/// Returns a uniformly drawn order of `0..rows` (Fisher-Yates).
pub(super) fn permutation(rows: usize, seed: &Seed) -> Vec<usize> {
    let mut rng = seed.child("row order").rng();
    let mut order: Vec<usize> = (0..rows).collect();
    for last in (1..rows).rev() {
        order.swap(last, rng.random_range(0..=last));
    }
    order
}
