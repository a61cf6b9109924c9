//! Examples as a stream, of which a session observes what is bought.

use super::Examples;
use lao_observation::{BlockBuf, Foreseen, Source, SourceError};
use std::sync::atomic::Ordering;

/// The most values that a table is told to expect.
const EXPECTED: u64 = 1 << 21;

/// Examples as a learner buys them. An example that lacks a value which is asked for is passed over and
/// counted, and another one takes its place, unless the learner takes gaps; of one that lacks all, nothing
/// came.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    examples: Examples,
    passes: u64,
    gaps: bool,
    position: u64,
    /// The number of examples that were passed over.
    pub skipped: u64,
    /// How often each attribute was asked for and missing.
    lacking: Vec<u64>,
    /// The rows that may become examples, and their values, column after column.
    rows: Vec<u32>,
    read: Vec<f64>,
}

impl Stream {
    /// Returns the examples, `passes` times over.
    pub fn new(examples: Examples, passes: u64, gaps: bool) -> Self {
        let lacking = vec![0; examples.names().len()];
        Stream {
            examples,
            passes,
            gaps,
            position: 0,
            skipped: 0,
            lacking,
            rows: Vec::new(),
            read: Vec::new(),
        }
    }

    /// Returns how often each attribute was asked for and missing.
    pub fn counts(&self) -> &[u64] {
        &self.lacking
    }

    /// Takes over what an earlier stream of the same examples has counted.
    pub fn has_counted(&mut self, skipped: u64, lacking: Vec<u64>) {
        (self.skipped, self.lacking) = (skipped, lacking);
    }

    /// Returns how often each column was asked for and missing, if it ever was.
    pub fn lacking(&self) -> Vec<(&str, u64)> {
        let Stream { examples: Examples { store, .. }, lacking, .. } = self;
        let mut columns: Vec<(&str, u64)> = Vec::new();
        for ((column, _), &count) in store.attributes.iter().zip(lacking).filter(|(_, count)| **count > 0) {
            match columns.last_mut() {
                // The attributes of a column of words are neighbors, and are missing together.
                Some((last, most)) if last == column => *most = count.max(*most),
                _ => columns.push((column, count)),
            }
        }
        columns
    }
}

impl Source for Stream {
    fn dim(&self) -> usize {
        self.examples.store.names.len()
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let Stream { examples, rows, read, position, skipped, lacking, gaps, .. } = self;
        let (store, n) = (&examples.store, examples.len());
        let end = (n as u64).saturating_mul(self.passes);
        let mut filled = 0;
        let spent = store.values.traffic().is_some_and(|traffic| traffic.is_spent());
        let end = if spent { *position } else { end };
        while filled < block.capacity() && *position < end && !examples.stop.load(Ordering::Relaxed) {
            let at = (*position % n as u64) as usize;
            examples.rows.copy(at..n.min(at + block.capacity() - filled), rows);
            if examples.read_rows(attributes, rows, read)?.is_break() {
                break;
            }
            *position += rows.len() as u64;
            for (r, &row) in rows.iter().enumerate() {
                let column = |c: usize| read[c * rows.len() + r];
                let missing = (0..attributes.len()).filter(|&c| column(c).is_nan()).count();
                if missing > 0 {
                    let of = attributes.iter().enumerate().filter(|(c, _)| column(*c).is_nan());
                    of.for_each(|(_, &j)| lacking[j as usize] += 1);
                    if !*gaps || missing == attributes.len() {
                        *skipped += 1;
                        continue;
                    }
                }
                for c in 0..attributes.len() {
                    block.column_mut(c)[filled] = column(c);
                }
                block.labels_mut()[filled] = examples.label_of(rows, r, read);
                if let Some(weights) = &examples.weights {
                    block.weights_mut()[filled] = weights[row as usize];
                }
                filled += 1;
            }
        }
        block.set_rows(filled);
        Ok(filled)
    }

    fn has_gaps(&self) -> bool {
        self.gaps
    }

    fn has_weights(&self) -> bool {
        self.examples.weights.is_some()
    }

    fn asks_ahead(&self) -> usize {
        self.examples.store.values.blocks_ahead()
    }

    fn expect(&mut self, asks: &[Foreseen]) {
        let n = self.examples.len() as u64;
        let (mut position, end) = (self.position, n.saturating_mul(self.passes));
        let mut expected = Vec::with_capacity(asks.len());
        let mut room = EXPECTED;
        for ask in asks {
            let examples = ask.examples.min(room / ask.attributes.len().max(1) as u64);
            room -= examples * ask.attributes.len() as u64;
            let last = position.saturating_add(examples).min(end);
            while position < last {
                let at = position % n;
                let rows = (last - position).min(n - at);
                self.examples.rows.copy(at as usize..(at + rows) as usize, &mut self.rows);
                expected.push((ask.attributes.clone(), self.rows.clone()));
                position += rows;
            }
        }
        self.examples.expect(expected);
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        self.position = position;
        Ok(())
    }
}
