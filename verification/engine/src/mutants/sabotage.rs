//! Faults of one run, chosen by name at run time.

use super::{GradientFault, KeepsOneMore, KeepsSmallest};
use lao_kernels::{HardThreshold, NotFinite, SparseVector, Threshold};

/// The faults of a run of a production learner; by default there are none.
#[derive(Clone, Debug, Default)]
pub struct Sabotage {
    /// The fault of the source.
    pub fault: Option<GradientFault>,
    /// The threshold, sound or faulty.
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

/// A threshold that is chosen at run time.
#[derive(Clone, Debug)]
pub enum Keep {
    /// Keeps the largest entries, like the production threshold.
    Largest(HardThreshold),
    /// Keeps the smallest entries, by [`KeepsSmallest`].
    Smallest(KeepsSmallest),
    /// Keeps one entry too many, by [`KeepsOneMore`].
    OneMore(KeepsOneMore),
    /// Keeps everything: there is no threshold.
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
