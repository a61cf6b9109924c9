//! The number of different attributes in a list of draws.

/// A counter whose time is proportional to the list, whatever the dimension: an attribute is marked with the
/// number of the list that it was last in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distinct {
    marks: Vec<u16>,
    list: u16,
}

impl Distinct {
    /// Returns the number of different attributes in `attributes`.
    ///
    /// # Errors
    /// Returns an attribute that is not below `dim`, if there is one.
    #[inline]
    pub(crate) fn count(&mut self, attributes: &[u32], dim: usize) -> Result<usize, u32> {
        self.marks.resize(dim, 0);
        self.list = self.list.wrapping_add(1);
        if self.list == 0 {
            // The counter is about to wrap, so clear all marks; marks of 2^16 lists ago would otherwise look
            // current.
            self.marks.fill(0);
            self.list = 1;
        }
        let (marks, list, mut count) = (&mut self.marks[..], self.list, 0);
        for &j in attributes {
            let mark = marks.get_mut(j as usize).ok_or(j)?;
            count += usize::from(*mark != list);
            *mark = list;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_count_is_that_of_a_set(
            lists in proptest::collection::vec(proptest::collection::vec(0u32..30, 0..40), 1..9),
        ) {
            let mut distinct = Distinct::default();
            for list in lists {
                let set: BTreeSet<_> = list.iter().collect();
                prop_assert_eq!(distinct.count(&list, 30), Ok(set.len()));
            }
        }
    }

    #[test]
    fn marks_of_long_ago_are_forgotten() {
        let mut distinct = Distinct::default();
        for list in 0..200_000u32 {
            let attributes = [list % 7, 9, list % 7];
            assert_eq!(distinct.count(&attributes, 10), Ok(2));
        }
    }

    #[test]
    fn an_attribute_beyond_the_dimension_is_named() {
        assert_eq!(Distinct::default().count(&[3, 4, 1, 5], 4), Err(4));
    }
}
