//! Sources with examples chosen by the claim.

use lao_datasets::synthetic::words::fill_signs;
use lao_datasets::synthetic::{Design, Restricted, Words};
use lao_kernels::SparseView;
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

/// The first `common` attributes are one and the same fair sign, the others independent fair signs: the design on
/// which `|v' x| = |v|_1` for v on the first attributes, so that Hoeffding's range is attained. `R_inf = 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonSign {
    dim: usize,
    common: usize,
}

impl CommonSign {
    /// `dim` attributes, of which the first `common` (at most all) agree.
    pub fn new(dim: usize, common: usize) -> Self {
        CommonSign { dim, common: common.min(dim) }
    }

    /// `v_1 + .. + v_k` over the common attributes.
    fn together(&self, v: SparseView<'_>) -> f64 {
        v.iter().filter(|&(j, _)| (j as usize) < self.common).map(|(_, value)| value).sum()
    }
}

impl Design for CommonSign {
    fn dim(&self) -> usize {
        self.dim
    }

    fn fill(&self, words: &Words, _: &[f64], first_row: u64, attribute: u32, out: &mut [f64]) {
        let own = if (attribute as usize) < self.common { 0 } else { attribute };
        let stream = words.stream(0, own);
        fill_signs(first_row, out, |row| stream.word(row));
    }

    fn quadratic_form(&self, v: SparseView<'_>) -> f64 {
        let others = v.iter().filter(|&(j, _)| j as usize >= self.common);
        self.together(v).powi(2) + others.map(|(_, value)| value * value).sum::<f64>()
    }

    fn covariance_times(&self, v: SparseView<'_>, out: &mut [f64]) {
        out.fill(0.0);
        for (j, value) in v.iter() {
            out[j as usize] = value;
        }
        out[..self.common].fill(self.together(v));
    }

    fn r_inf(&self) -> f64 {
        1.0
    }

    fn restricted(&self, order: usize) -> Restricted {
        let together = self.common.min(order).max(1) as f64;
        Restricted::exact(if together > 1.0 { 0.0 } else { 1.0 }, together)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lao_datasets::synthetic::{Noise, Virtual};
    use lao_kernels::{RestrictedSpectrum, SparseVector};
    use lao_observation::Seed;

    #[test]
    fn common_attributes_agree_and_constants_are_exact() {
        let design = CommonSign::new(5, 3);
        let covariance = design.covariance().expect("small");
        for order in 1..=5 {
            let spectrum = RestrictedSpectrum::of(&covariance, 5, order).expect("symmetric");
            let stated = design.restricted(order);
            assert!((spectrum.smallest - stated.smallest).abs() < 1e-12);
            assert!((spectrum.largest - stated.largest).abs() < 1e-12);
        }
        let star = SparseVector::zeros(5);
        let mut source = Virtual::new(design, star, Noise::None, &Seed::root(2)).expect("valid");
        let (all, mut block) = ([0, 1, 2, 3, 4], BlockBuf::new());
        block.reset(5, 200);
        source.observe(&all, &mut block).expect("endless");
        let view = block.view(&all);
        assert_eq!(view.column(0), view.column(2));
        assert_ne!(view.column(0), view.column(3));
        assert_ne!(view.column(3), view.column(4));
    }

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
