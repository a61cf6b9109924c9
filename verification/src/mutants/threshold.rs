//! Thresholds that keep the wrong entries.

use lao_kernels::{HardThreshold, NotFinite, SparseVector, Threshold};

/// Keeps the entries of smallest magnitude (among the non-zero ones).
#[derive(Clone, Debug, Default)]
pub struct KeepsSmallest;

impl Threshold for KeepsSmallest {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        let mut order: Vec<usize> = (0..dense.len()).filter(|&j| dense[j] != 0.0).collect();
        order.sort_by(|&i, &j| dense[i].abs().total_cmp(&dense[j].abs()).then(i.cmp(&j)));
        order.truncate(sparsity);
        order.sort_unstable();
        kept.reset(dense.len());
        for j in order {
            kept.push(j as u32, dense[j]);
        }
        Ok(())
    }
}

/// Keeps one entry too many.
#[derive(Clone, Debug, Default)]
pub struct KeepsOneMore(HardThreshold);

impl Threshold for KeepsOneMore {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        self.0.keep(dense, sparsity + 1, kept)
    }
}
