//! A source with examples chosen by the claim.

use lao_observation::{BlockBuf, Source, SourceError};

/// A given list of examples, in order; dry after the last. Gradients come from the default path over blocks.
#[derive(Clone, Debug, Default)]
pub struct Examples {
    dim: usize,
    rows: Vec<Vec<f64>>,
    labels: Vec<f64>,
    position: usize,
}

impl Examples {
    /// No examples yet, of `dim` attributes.
    pub fn new(dim: usize) -> Self {
        Examples { dim, ..Examples::default() }
    }

    /// Appends an example with these `d` attributes and this label.
    pub fn push(&mut self, x: &[f64], y: f64) {
        debug_assert_eq!(x.len(), self.dim);
        self.rows.push(x.to_vec());
        self.labels.push(y);
    }

    /// Appends the examples `times` over: one pass for every block of an Exploration update.
    pub fn repeated(&self, times: usize) -> Self {
        let mut all = Examples::new(self.dim);
        for _ in 0..times {
            all.rows.extend_from_slice(&self.rows);
            all.labels.extend_from_slice(&self.labels);
        }
        all
    }

    /// All attributes of all examples, one column after the other.
    pub fn columns(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        (0..self.dim).map(|j| self.rows.iter().map(|row| row[j]).collect())
    }

    /// The labels.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// Attributes and label of each example.
    pub fn iter(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.rows.iter().map(Vec::as_slice).zip(self.labels.iter().copied())
    }
}

impl Source for Examples {
    fn dim(&self) -> usize {
        self.dim
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = block.room().min(self.rows.len() - self.position);
        let seen = self.position..self.position + rows;
        for (c, &j) in attributes.iter().enumerate() {
            for (value, row) in block.column_mut(c).iter_mut().zip(&self.rows[seen.clone()]) {
                *value = row[j as usize];
            }
        }
        block.labels_mut()[..rows].copy_from_slice(&self.labels[seen]);
        block.set_rows(rows);
        self.position += rows;
        Ok(rows)
    }

    fn position(&self) -> u64 {
        self.position as u64
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        let end = self.rows.len() as u64;
        if position > end {
            return Err(SourceError::Seek { position, end });
        }
        self.position = position as usize;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_come_in_order_and_run_dry() {
        let mut examples = Examples::new(2);
        examples.push(&[1.0, 2.0], 3.0);
        examples.push(&[4.0, 5.0], 6.0);
        let mut twice = examples.repeated(2);
        let mut block = BlockBuf::new();
        block.reset(1, 3);
        assert_eq!(twice.observe(&[1], &mut block).expect("in memory"), 3);
        assert_eq!(block.view(&[1]).column(0), [2.0, 5.0, 2.0]);
        assert_eq!(block.view(&[1]).labels(), [3.0, 6.0, 3.0]);
        assert_eq!(twice.observe(&[1], &mut block).expect("in memory"), 1);
        assert_eq!(twice.observe(&[1], &mut block).expect("in memory"), 0);
        assert!(twice.seek(5).is_err());
    }
}
