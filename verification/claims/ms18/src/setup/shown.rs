//! What a crippled learner says of its estimate, where the learner itself cannot be wrapped.

use lao_kernels::{SparseVector, SparseView};
use lao_verification_engine::mutants::Cripple;

/// The estimate `now` of a learner that began at `start`, crippled if the arm says so.
pub(crate) fn shown(cripple: Option<Cripple>, start: SparseView<'_>, now: SparseView<'_>) -> SparseVector {
    let Some(cripple) = cripple else { return now.to_owned_vector() };
    let mut estimate = now.to_dense();
    cripple.estimate(&start.to_dense(), &mut estimate);
    SparseVector::from_dense(&estimate)
}
