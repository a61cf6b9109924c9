//! A source with examples that the claim chooses.

use lao_observation::{BlockBuf, Source, SourceError};
use std::sync::Arc;

/// A source of given examples in a given order, which is dry after the last one. Gradients come from the
/// default path over blocks.
#[derive(Clone, Debug, Default)]
pub struct GivenExamples {
    dim: usize,
    /// The examples, shared by all orders of them.
    given: Arc<Given>,
    /// The numbers of the examples in the order in which they come.
    order: Vec<usize>,
    position: usize,
}

/// The attributes of all examples, example after example, and their labels.
#[derive(Clone, Debug, Default)]
struct Given {
    values: Vec<f64>,
    labels: Vec<f64>,
}

impl GivenExamples {
    /// Returns a source of `dim` attributes without examples.
    pub fn new(dim: usize) -> Self {
        GivenExamples { dim, ..GivenExamples::default() }
    }

    /// Appends an example with these `d` attributes and this label.
    pub fn push(&mut self, x: &[f64], y: f64) {
        debug_assert_eq!(x.len(), self.dim);
        self.order.push(self.given.labels.len());
        let given = Arc::make_mut(&mut self.given);
        given.values.extend_from_slice(x);
        given.labels.push(y);
    }

    /// Returns a source of the examples with these numbers, in this order, from the start. Examples are
    /// numbered as they were appended; `order` may repeat and omit some.
    pub fn in_order(&self, order: Vec<usize>) -> Self {
        GivenExamples { dim: self.dim, given: Arc::clone(&self.given), order, position: 0 }
    }

    /// Returns a source that repeats the examples `times` times, for one pass per block of an Exploration
    /// update.
    pub fn repeated(&self, times: usize) -> Self {
        self.in_order(self.order.repeat(times))
    }

    /// Returns the number of examples until the source is dry.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns the columns: the values of one attribute in all examples, attribute after attribute.
    pub fn columns(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        (0..self.dim).map(|j| self.iter().map(|(x, _)| x[j]).collect())
    }

    /// Returns the labels.
    pub fn labels(&self) -> Vec<f64> {
        self.iter().map(|(_, y)| y).collect()
    }

    /// Attributes and label of each example.
    pub fn iter(&self) -> impl Iterator<Item = (&[f64], f64)> {
        let given = &*self.given;
        self.order.iter().map(|&i| (&given.values[i * self.dim..(i + 1) * self.dim], given.labels[i]))
    }
}

impl Source for GivenExamples {
    fn dim(&self) -> usize {
        self.dim
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let rows = block.capacity().min(self.order.len() - self.position);
        let seen = &self.order[self.position..self.position + rows];
        let Given { values, labels } = &*self.given;
        for (c, &j) in attributes.iter().enumerate() {
            debug_assert!((j as usize) < self.dim);
            for (value, &i) in block.column_mut(c).iter_mut().zip(seen) {
                *value = values[i * self.dim + j as usize];
            }
        }
        for (label, &i) in block.labels_mut().iter_mut().zip(seen) {
            *label = labels[i];
        }
        block.set_rows(rows);
        self.position += rows;
        Ok(rows)
    }

    fn position(&self) -> u64 {
        self.position as u64
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        let end = self.order.len() as u64;
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
        let mut examples = GivenExamples::new(2);
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

    #[test]
    fn another_order_repeats_and_leaves_out_and_more_can_be_appended() {
        let mut examples = GivenExamples::new(1);
        [10.0, 20.0, 30.0].iter().for_each(|x| examples.push(&[*x], -x));
        let mut chosen = examples.in_order(vec![2, 0, 2]);
        chosen.push(&[40.0], -40.0);
        assert_eq!(chosen.columns().collect::<Vec<_>>(), [[30.0, 10.0, 30.0, 40.0]]);
        assert_eq!((chosen.labels(), examples.len()), (vec![-30.0, -10.0, -30.0, -40.0], 3));
        let mut block = BlockBuf::new();
        block.reset(1, 2);
        chosen.seek(1).expect("there are four");
        assert_eq!(chosen.observe(&[0], &mut block).expect("in memory"), 2);
        assert_eq!(block.view(&[0]).column(0), [10.0, 30.0]);
        assert_eq!(block.view(&[0]).labels(), [-10.0, -30.0]);
    }
}
