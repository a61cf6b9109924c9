//! Sparse vectors: ascending indices with their values, owned or borrowed.

use crate::gather::gather_dot;
use crate::support::{Support, SupportError, check_ascending};
use serde::{Deserialize, Serialize};

/// A borrowed sparse vector of dimension `dim`: indices ascend strictly and lie below `dim`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseView<'a> {
    dim: usize,
    indices: &'a [u32],
    values: &'a [f64],
}

/// An owned sparse vector of dimension `dim`: indices ascend strictly and lie below `dim`.
///
/// ```
/// use lao_kernels::SparseVector;
///
/// let w = SparseVector::new(5, vec![1, 4], vec![2.0, -0.5])?;
/// assert_eq!((w.dim(), w.len()), (5, 2));
/// assert_eq!((w.view().get(4), w.view().get(0)), (-0.5, 0.0));
/// assert_eq!(w.view().dot_dense(&[1.0, 1.0, 1.0, 1.0, 2.0]), 1.0);
/// assert_eq!(SparseVector::from_dense(&[0.0, 2.0, 0.0, 0.0, -0.5]), w);
/// # Ok::<(), lao_kernels::VectorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct SparseVector {
    dim: usize,
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// A sparse vector before it is checked.
#[derive(Deserialize)]
struct Parts {
    dim: usize,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl TryFrom<Parts> for SparseVector {
    type Error = VectorError;

    fn try_from(parts: Parts) -> Result<SparseVector, VectorError> {
        SparseVector::new(parts.dim, parts.indices, parts.values)
    }
}

/// The reason why parts are not a sparse vector.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum VectorError {
    /// The number of values is not that of indices.
    #[error("{values} values for {indices} indices: give one value for each index")]
    Lengths {
        /// Number of indices.
        indices: usize,
        /// Number of values.
        values: usize,
    },
    /// The indices do not ascend strictly.
    #[error(transparent)]
    Order(#[from] SupportError),
    /// An index reaches the dimension.
    #[error("index {index} at position {position} must lie below the dimension {dim}")]
    OutOfRange {
        /// Position among the indices, counted from zero.
        position: usize,
        /// The offending index.
        index: u32,
        /// The dimension.
        dim: usize,
    },
    /// A value is NaN or infinite.
    #[error("value {value} of index {index} is not finite")]
    NotFinite {
        /// Its index.
        index: u32,
        /// The offending value.
        value: f64,
    },
}

impl<'a> SparseView<'a> {
    /// Checks borrowed parts: equal lengths, indices strictly ascending and below `dim`, values finite.
    pub fn new(dim: usize, indices: &'a [u32], values: &'a [f64]) -> Result<SparseView<'a>, VectorError> {
        if indices.len() != values.len() {
            return Err(VectorError::Lengths { indices: indices.len(), values: values.len() });
        }
        check_ascending(indices)?;
        if let Some(position) = indices.iter().position(|&index| index as usize >= dim) {
            return Err(VectorError::OutOfRange { position, index: indices[position], dim });
        }
        if let Some(position) = values.iter().position(|value| !value.is_finite()) {
            return Err(VectorError::NotFinite { index: indices[position], value: values[position] });
        }
        Ok(SparseView { dim, indices, values })
    }

    /// Returns the dimension of the space.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns the indices of the stored entries, ascending.
    pub fn indices(&self) -> &'a [u32] {
        self.indices
    }

    /// Returns the values of the stored entries, in the order of their indices.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// Returns the number of stored entries.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns whether no entry is stored.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Returns the stored entries, by ascending index.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, f64)> + DoubleEndedIterator + 'a {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }

    /// Returns coordinate `index`, which is zero if it is not stored.
    pub fn get(&self, index: u32) -> f64 {
        self.indices.binary_search(&index).map_or(0.0, |position| self.values[position])
    }

    /// Returns the inner product with a dense vector.
    ///
    /// # Panics
    /// Panics if a stored index lies beyond the end of `dense`.
    pub fn dot_dense(&self, dense: &[f64]) -> f64 {
        gather_dot(self.indices, self.values, dense)
    }

    /// Returns the squared Euclidean norm.
    pub fn norm_squared(&self) -> f64 {
        self.values.iter().map(|value| value * value).sum()
    }

    /// Returns the indices of the stored entries as a set.
    pub fn support(&self) -> Support {
        Support::from_unsorted(self.indices.to_vec())
    }

    /// Returns the vector with all its `dim` coordinates.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut dense = vec![0.0; self.dim];
        for (index, value) in self.iter() {
            dense[index as usize] = value;
        }
        dense
    }

    /// Returns an owned copy.
    pub fn to_owned_vector(&self) -> SparseVector {
        SparseVector { dim: self.dim, indices: self.indices.to_vec(), values: self.values.to_vec() }
    }
}

impl SparseVector {
    /// Returns the zero vector, without stored entries.
    pub fn zeros(dim: usize) -> SparseVector {
        SparseVector { dim, indices: Vec::new(), values: Vec::new() }
    }

    /// Checks the parts: equal lengths, indices strictly ascending and below `dim`, values finite.
    pub fn new(dim: usize, indices: Vec<u32>, values: Vec<f64>) -> Result<SparseVector, VectorError> {
        SparseView::new(dim, &indices, &values)?;
        Ok(SparseVector { dim, indices, values })
    }

    /// Returns the vector with these coordinates, of which it stores those that differ from zero.
    pub fn from_dense(dense: &[f64]) -> SparseVector {
        let mut vector = SparseVector::zeros(dense.len());
        for (index, &value) in dense.iter().enumerate() {
            if value != 0.0 {
                vector.push(index as u32, value);
            }
        }
        vector
    }

    /// Borrows the vector.
    pub fn view(&self) -> SparseView<'_> {
        SparseView { dim: self.dim, indices: &self.indices, values: &self.values }
    }

    /// Returns the dimension of the space.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns the indices of the stored entries, ascending.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Returns the values of the stored entries, in the order of their indices.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the values of the stored entries, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Replaces each stored value by the number that `change` returns for its index and value.
    pub fn change_values(&mut self, mut change: impl FnMut(u32, f64) -> f64) {
        for (&index, value) in self.indices.iter().zip(&mut self.values) {
            *value = change(index, *value);
        }
    }

    /// Returns the number of stored entries.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns whether no entry is stored.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Sets the vector to zero in the same dimension, and keeps its buffers.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
    }

    /// Sets the vector to zero in dimension `dim`, and keeps its buffers.
    pub fn reset(&mut self, dim: usize) {
        self.dim = dim;
        self.clear();
    }

    /// Reserves capacity for `additional` further entries.
    pub fn reserve(&mut self, additional: usize) {
        self.indices.reserve(additional);
        self.values.reserve(additional);
    }

    /// Appends an entry. The index must exceed those stored and lie below the dimension (asserted in debug
    /// builds).
    pub fn push(&mut self, index: u32, value: f64) {
        debug_assert!((index as usize) < self.dim, "index {index} not below the dimension {}", self.dim);
        debug_assert!(self.indices.last().is_none_or(|&last| last < index), "index {index} does not ascend");
        self.indices.push(index);
        self.values.push(value);
    }

    /// Replaces all entries by one for each index, with the value that `value` returns. The indices may be in
    /// any order, but must be distinct and lie below the dimension (asserted in debug builds).
    pub fn fill_from(&mut self, indices: &[u32], value: impl Fn(u32) -> f64) {
        self.clear();
        self.indices.extend_from_slice(indices);
        self.indices.sort_unstable();
        self.values.extend(self.indices.iter().map(|&index| value(index)));
        debug_assert!(SparseView::new(self.dim, &self.indices, &self.values).is_ok());
    }

    /// Copies `other`, and allocates only when the buffers are too small.
    pub fn copy_from(&mut self, other: SparseView<'_>) {
        self.reset(other.dim);
        self.indices.extend_from_slice(other.indices);
        self.values.extend_from_slice(other.values);
    }

    /// Removes stored entries whose value is zero, of either sign.
    pub fn prune_zeros(&mut self) {
        let mut kept = 0;
        for position in 0..self.indices.len() {
            if self.values[position] != 0.0 {
                self.indices[kept] = self.indices[position];
                self.values[kept] = self.values[position];
                kept += 1;
            }
        }
        self.indices.truncate(kept);
        self.values.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn with_zeros() -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(prop_oneof![Just(0.0), Just(-0.0), -3.0..3.0], 0..20)
    }

    proptest! {
        #[test]
        fn sparse_and_dense_agree(dense in with_zeros()) {
            let vector = SparseVector::from_dense(&dense);
            let view = vector.view();
            prop_assert_eq!(view.to_dense(), dense.clone());
            prop_assert!(vector.values().iter().all(|&value| value != 0.0));
            for (index, &value) in dense.iter().enumerate() {
                prop_assert_eq!(view.get(index as u32), value);
            }
            let squares: f64 = dense.iter().map(|value| value * value).sum();
            prop_assert!((view.norm_squared() - squares).abs() <= 1e-12 * squares);
            prop_assert!((view.dot_dense(&dense) - squares).abs() <= 1e-12 * squares);
            prop_assert_eq!(
                SparseVector::new(dense.len(), vector.indices().to_vec(), vector.values().to_vec()),
                Ok(vector.clone())
            );
            prop_assert_eq!(view.to_owned_vector(), vector.clone());
            let (mut in_place, mut changed) = (vector.clone(), vector);
            in_place.values_mut().iter_mut().for_each(|value| *value *= 2.0);
            changed.change_values(|_, value| 2.0 * value);
            prop_assert_eq!(in_place, changed);
        }

        #[test]
        fn pruning_leaves_the_vector_that_dense_gives(dense in with_zeros()) {
            let indices = (0..dense.len() as u32).collect();
            let mut vector = SparseVector::new(dense.len(), indices, dense.clone()).expect("valid parts");
            vector.prune_zeros();
            prop_assert_eq!(vector, SparseVector::from_dense(&dense));
        }
    }

    #[test]
    fn bad_parts_are_refused_by_name() {
        let new = |indices: &[u32], values: &[f64]| SparseVector::new(5, indices.to_vec(), values.to_vec());
        assert_eq!(new(&[1, 2], &[1.0]), Err(VectorError::Lengths { indices: 2, values: 1 }));
        assert!(matches!(new(&[2, 1], &[1.0, 1.0]), Err(VectorError::Order(error)) if error.position == 1));
        assert_eq!(new(&[0, 5], &[1.0, 1.0]), Err(VectorError::OutOfRange { position: 1, index: 5, dim: 5 }));
        assert!(matches!(new(&[3], &[f64::NAN]), Err(VectorError::NotFinite { index: 3, .. })));
    }
}
