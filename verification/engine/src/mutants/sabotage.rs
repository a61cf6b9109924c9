//! Faults of one run, chosen by name at run time.

use super::{GradientFault, KeepsOneMore, KeepsSmallest};
use lao_kernels::{HardThreshold, NotFinite, SparseVector, Threshold};

/// What is wrong with an otherwise honest run of a production learner; by default nothing.
#[derive(Clone, Debug, Default)]
pub struct Sabotage {
    /// Of the source.
    pub fault: Option<GradientFault>,
    /// Of the threshold.
    pub keep: Keep,
}

impl From<GradientFault> for Sabotage {
    fn from(fault: GradientFault) -> Self {
        Sabotage { fault: Some(fault), ..Sabotage::default() }
    }
}

impl From<Keep> for Sabotage {
    fn from(keep: Keep) -> Self {
        Sabotage { keep, ..Sabotage::default() }
    }
}

/// One of the thresholds, chosen at run time.
#[derive(Clone, Debug)]
pub enum Keep {
    /// The largest: the production threshold.
    Largest(HardThreshold),
    /// [`KeepsSmallest`].
    Smallest(KeepsSmallest),
    /// [`KeepsOneMore`].
    OneMore(KeepsOneMore),
    /// Everything: no threshold.
    All,
}

impl Default for Keep {
    fn default() -> Self {
        Keep::Largest(HardThreshold::default())
    }
}

impl Threshold for Keep {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        match self {
            Keep::Largest(threshold) => threshold.keep(dense, sparsity, kept),
            Keep::Smallest(threshold) => threshold.keep(dense, sparsity, kept),
            Keep::OneMore(threshold) => threshold.keep(dense, sparsity, kept),
            Keep::All => HardThreshold::default().keep(dense, dense.len(), kept),
        }
    }
}
