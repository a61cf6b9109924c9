//! Support sets: which coordinates of a vector may be different from zero.

use serde::{Deserialize, Serialize};

/// A set of coordinates, kept sorted and free of repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct Support(Vec<u32>);

/// Indices that do not ascend strictly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "index {index} at position {position} follows {previous}: indices must ascend strictly; \
     sort them and drop repetitions (`Support::from_unsorted`)"
)]
pub struct SupportError {
    /// Position of the offending index, counted from zero.
    pub position: usize,
    /// The index just before it.
    pub previous: u32,
    /// The offending index.
    pub index: u32,
}

/// Checks that `indices` ascend strictly.
pub(crate) fn check_ascending(indices: &[u32]) -> Result<(), SupportError> {
    match indices.windows(2).position(|pair| pair[0] >= pair[1]) {
        None => Ok(()),
        Some(at) => Err(SupportError { position: at + 1, previous: indices[at], index: indices[at + 1] }),
    }
}

impl Support {
    /// Returns the set of these indices, which must ascend strictly.
    pub fn new(indices: Vec<u32>) -> Result<Support, SupportError> {
        check_ascending(&indices)?;
        Ok(Support(indices))
    }

    /// Returns the set of these indices, in any order and with repetitions.
    pub fn from_unsorted(mut indices: Vec<u32>) -> Support {
        indices.sort_unstable();
        indices.dedup();
        Support(indices)
    }

    /// Returns the indices, ascending.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }

    /// Returns the number of indices.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the indices, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + '_ {
        self.0.iter().copied()
    }

    /// Returns whether `index` belongs to the set.
    pub fn contains(&self, index: u32) -> bool {
        self.0.binary_search(&index).is_ok()
    }

    /// Returns whether every index of this set belongs to `other`.
    pub fn is_subset_of(&self, other: &Support) -> bool {
        let mut rest = other.0.iter();
        self.0.iter().all(|index| rest.by_ref().find(|candidate| *candidate >= index) == Some(index))
    }

    /// Returns the indices in this set or in `other`.
    pub fn union(&self, other: &Support) -> Support {
        let mut union = Vec::with_capacity(self.len() + other.len());
        merge_into(&self.0, &other.0, &mut union);
        Support(union)
    }

    /// Returns the indices in both sets.
    pub fn intersection(&self, other: &Support) -> Support {
        Support(self.iter().filter(|&index| other.contains(index)).collect())
    }

    /// Returns the indices in this set but not in `other`.
    pub fn difference(&self, other: &Support) -> Support {
        Support(self.iter().filter(|&index| !other.contains(index)).collect())
    }
}

impl TryFrom<Vec<u32>> for Support {
    type Error = SupportError;

    fn try_from(indices: Vec<u32>) -> Result<Support, SupportError> {
        Support::new(indices)
    }
}

impl From<Support> for Vec<u32> {
    fn from(support: Support) -> Vec<u32> {
        support.0
    }
}

/// Writes the sorted union of two strictly ascending slices to `out`, whose former content is removed.
///
/// The function allocates only when the capacity of `out` is below the size of the union.
pub fn merge_into(a: &[u32], b: &[u32], out: &mut Vec<u32>) {
    out.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (left, right) = (a[i], b[j]);
        out.push(left.min(right));
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set() -> impl Strategy<Value = BTreeSet<u32>> {
        proptest::collection::btree_set(0..30_u32, 0..12)
    }

    fn support(set: &BTreeSet<u32>) -> Support {
        Support::new(set.iter().copied().collect()).expect("a BTreeSet ascends")
    }

    proptest! {
        #[test]
        fn algebra_agrees_with_btree_sets(a in set(), b in set(), probe in 0..31_u32) {
            let (sa, sb) = (support(&a), support(&b));
            prop_assert_eq!(sa.union(&sb), support(&(&a | &b)));
            prop_assert_eq!(sa.intersection(&sb), support(&(&a & &b)));
            prop_assert_eq!(sa.difference(&sb), support(&(&a - &b)));
            prop_assert_eq!(sa.is_subset_of(&sb), a.is_subset(&b));
            prop_assert!(sa.intersection(&sb).is_subset_of(&sa));
            prop_assert_eq!(sa.contains(probe), a.contains(&probe));
        }

        #[test]
        fn any_order_and_repetition_gives_the_same_set(
            indices in proptest::collection::vec(0..30_u32, 0..20),
        ) {
            let set: BTreeSet<u32> = indices.iter().copied().collect();
            prop_assert_eq!(Support::from_unsorted(indices), support(&set));
        }
    }

    #[test]
    fn disorder_and_repetition_are_refused_at_their_position() {
        let error = Support::new(vec![1, 4, 4]).unwrap_err();
        assert_eq!(error, SupportError { position: 2, previous: 4, index: 4 });
        assert_eq!(Support::new(vec![5, 3, 9]).unwrap_err().position, 1);
        assert!(Support::new(Vec::new()).is_ok());
    }

    #[test]
    fn a_support_is_made_of_its_indices_and_becomes_them_again() {
        let indices = vec![0, 3, 7];
        assert_eq!(Vec::from(Support::try_from(indices.clone()).unwrap()), indices);
    }
}
