//! Murata & Suzuki 2018, *Sample Efficient Stochastic Gradient Iterative Hard Thresholding Method for
//! Stochastic Sparse Linear Regression with Limited Attribute Observation*.
//!
//! Thresholding at every update keeps the iterate s-sparse, so its residual needs s attributes; the other
//! `s' - s` attributes of the budget build one block of the gradient. [`exploration`] (Algorithm 1) updates
//! all coordinates, [`exploitation`] (Algorithm 2) those of a fixed support, [`hybrid`] (Algorithm 3)
//! alternates both and need not know when the support is right, and [`naive`] is the one-example method of
//! Section 3.1 that these three improve on. [`theory`] has the constants of the theorems, as printed and as
//! corrected.

pub mod exploitation;
pub mod exploration;
pub mod hybrid;
pub mod naive;
pub mod reference;
pub mod theory;

pub use exploitation::{Exploitation, ExploitationParams};
pub use exploration::{Exploration, ExplorationParams};
pub use hybrid::{Hybrid, HybridParams};
pub use naive::{Naive, NaiveParams};
pub use theory::{Form, Guarantee, Problem, StageGuarantee};

use lao_kernels::{NotFinite, SparseVector, SparseView, Threshold};
use lao_observation::LearnError;

/// Sets `kept` to `H_s` of a vector that is given by its stored entries. `places` is scratch.
fn threshold_sparse<T: Threshold>(
    vector: SparseView<'_>,
    sparsity: usize,
    threshold: &mut T,
    places: &mut SparseVector,
    kept: &mut SparseVector,
) -> Result<(), NotFinite> {
    // Entries ascend by index, so breaking ties by lowest place is breaking them by lowest index.
    threshold.keep(vector.values(), sparsity, places)?;
    kept.reset(vector.dim());
    for (place, value) in places.view().iter() {
        kept.push(vector.indices()[place as usize], value);
    }
    Ok(())
}

fn diverged(update: u64, at: NotFinite, indices: Option<&[u32]>) -> LearnError {
    let attribute = indices.map_or(at.index, |indices| indices[at.index] as usize);
    LearnError::Diverged { update, attribute, value: at.value }
}
