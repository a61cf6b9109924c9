//! Numerics that every method shares: sparse vectors and their supports, hard thresholding, products with
//! contiguous columns, gathers, projections and restricted eigenvalues.
//!
//! This crate draws no random numbers and does no I/O. All arithmetic is in `f64`, in an order that the
//! source fixes, and without fused multiply-add, so that a result has the same bits whatever the vector width
//! of the machine. On x86-64 the kernels choose AVX-512, AVX2 or SSE2 when they run. Indices are `u32`, so
//! that a dimension is at most 2^32. Kernels that run inside a learner's loop write to buffers of the caller,
//! or keep their own, and allocate nothing once these buffers have grown to size.
//!
//! ```
//! use lao_kernels::{HardThreshold, SparseVector, Threshold};
//!
//! // The two entries of largest magnitude; of equal ones the first.
//! let mut kept = SparseVector::zeros(5);
//! HardThreshold::default().keep(&[0.5, -3.0, 2.0, 0.0, -2.0], 2, &mut kept)?;
//! assert_eq!((kept.indices(), kept.values()), (&[1, 2][..], &[-3.0, 2.0][..]));
//! # Ok::<(), lao_kernels::NotFinite>(())
//! ```

mod cholesky;
mod dense;
mod exponential;
mod gather;
mod lazy_threshold;
mod panel;
mod project;
mod sparse;
mod spectrum;
mod split;
mod support;
mod threshold;
mod vector;

pub use cholesky::{solve_lower, solve_positive};
pub use dense::{
    Element, TILE, add_columns, all_finite, axpy_column, dot_column, first_not_finite, gradient_block,
    residual, sum, sum_abs,
};
pub use exponential::{exponential_factors, scaled_exponentials};
pub use gather::{ROW_TILE, gather_dot, row_gather_dot, row_gather_gradient, scatter_axpy};
pub use lazy_threshold::LazyThresholdIterate;
pub use panel::{panel_clip, panel_moments, panel_products, panel_steps, solve_lower_lanes};
pub use project::{project_l1_ball, project_l2_ball};
pub use sparse::{Compressed, CompressedError};
pub use spectrum::{MAX_SUPPORTS, RestrictedSpectrum, SpectrumError, symmetric_eigenvalues};
pub use split::{BINS, Histogram, Split, SplitRule, best_split};
pub use support::{Support, SupportError, merge_into};
pub use threshold::{HardThreshold, NotFinite, Threshold, soft_threshold};
pub use vector::{SparseVector, SparseView, VectorError};
