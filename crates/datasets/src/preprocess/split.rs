//! Training and test rows: at random, or by group, from a named seed.

use super::{PreprocessError, not_a_partition};
use crate::format::Table;
use lao_observation::Seed;
use rand::Rng as _;
use serde::{Deserialize, Serialize};

/// Row indices of both sides, each ascending. Every row is on exactly one side, and no side is empty.
///
/// ```
/// use lao_datasets::preprocess::split_random;
/// use lao_observation::Seed;
///
/// let split = split_random(8, 0.25, &Seed::root(42).child("split"))?;
/// assert_eq!((split.train.len(), split.test.len()), (6, 2));
/// assert!(split.test.iter().all(|row| !split.train.contains(row)));
/// # Ok::<(), lao_datasets::preprocess::PreprocessError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Split {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Rows to test on.
    pub test: Vec<usize>,
}

/// A split as it is read, before it is known to be one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    train: Vec<usize>,
    test: Vec<usize>,
}

impl TryFrom<Stored> for Split {
    type Error = PreprocessError;

    fn try_from(stored: Stored) -> Result<Self, PreprocessError> {
        let split = Self { train: stored.train, test: stored.test };
        split.check()?;
        Ok(split)
    }
}

/// The rows of a table on the two sides of a split.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitTable {
    /// Rows to learn from.
    pub train: Table,
    /// Rows to test on.
    pub test: Table,
}

impl Split {
    /// Returns the rows of the two sides.
    ///
    /// # Errors
    /// Fails when the table has another number of rows than the split, or the split was changed and is none
    /// any more.
    pub fn apply(&self, rows: &Table) -> Result<SplitTable, PreprocessError> {
        self.check()?;
        let (expected, found) = (self.train.len() + self.test.len(), rows.rows());
        if expected != found {
            return Err(PreprocessError::Rows { expected, found });
        }
        Ok(SplitTable { train: rows.select_rows(&self.train), test: rows.select_rows(&self.test) })
    }

    fn check(&self) -> Result<(), PreprocessError> {
        let fail = |field, problem| Err(PreprocessError::Stored { what: "split", field, problem });
        for (field, side) in [("train", &self.train), ("test", &self.test)] {
            if side.is_empty() {
                return fail(field, "is empty".to_owned());
            }
        }
        match not_a_partition(&self.train, &self.test) {
            None => Ok(()),
            Some(row) => {
                fail("train", format!("and `test` must ascend and hold each row once, unlike row {row}"))
            }
        }
    }
}

/// Returns a split with `test_fraction` of the rows as test rows (rounded, at least one row on each side).
/// All subsets are equally likely.
pub fn split_random(rows: usize, test_fraction: f64, seed: &Seed) -> Result<Split, PreprocessError> {
    let test = draw(rows, test_fraction, seed, "rows to split")?;
    Ok(sides(rows, |i| test[i]))
}

/// Returns a split with the rows of `test_fraction` of the groups as test rows (rounded, at least one group
/// on each side). `groups` has each row's group, as [`crate::format::DenseTable::groups`] does.
pub fn split_by_group(groups: &[u32], test_fraction: f64, seed: &Seed) -> Result<Split, PreprocessError> {
    let mut distinct = groups.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let test = draw(distinct.len(), test_fraction, seed, "groups to split")?;
    Ok(sides(groups.len(), |i| distinct.binary_search(&groups[i]).is_ok_and(|k| test[k])))
}

fn sides(rows: usize, is_test: impl Fn(usize) -> bool) -> Split {
    let (test, train) = (0..rows).partition(|&i| is_test(i));
    Split { train, test }
}

/// Draws some of `count` items, those with the smallest of independent random keys; returns a mark for each
/// item.
fn draw(count: usize, fraction: f64, seed: &Seed, what: &'static str) -> Result<Vec<bool>, PreprocessError> {
    if fraction.is_nan() || fraction <= 0.0 || fraction >= 1.0 {
        let (field, allowed) = ("test_fraction", "strictly between 0 and 1");
        return Err(PreprocessError::Parameter { field, value: fraction, allowed });
    }
    if count < 2 {
        return Err(PreprocessError::TooFew { what, found: count, needed: 2 });
    }
    let wanted = ((fraction * count as f64).round() as usize).clamp(1, count - 1);
    let mut rng = seed.rng();
    let mut keys: Vec<(u64, usize)> = (0..count).map(|i| (rng.next_u64(), i)).collect();
    keys.sort_unstable();
    let mut drawn = vec![false; count];
    keys[..wanted].iter().for_each(|&(_, i)| drawn[i] = true);
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_row_is_on_exactly_one_side(
            rows in 2usize..200,
            fraction in 0.01..0.99f64,
            seed in any::<u64>(),
        ) {
            let split = split_random(rows, fraction, &Seed::root(seed)).unwrap();
            let mut all = [split.train.as_slice(), &split.test].concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..rows).collect::<Vec<_>>());
            prop_assert!(!split.train.is_empty() && !split.test.is_empty());
            prop_assert!((split.test.len() as f64 - fraction * rows as f64).abs() <= 1.0);
        }

        #[test]
        fn no_group_is_on_both_sides(
            groups in proptest::collection::vec(0u32..9, 2..80),
            seed in any::<u64>(),
        ) {
            let Ok(split) = split_by_group(&groups, 0.3, &Seed::root(seed)) else {
                prop_assert!(groups.iter().all(|g| *g == groups[0]));
                return Ok(());
            };
            prop_assert_eq!(split.train.len() + split.test.len(), groups.len());
            prop_assert!(!split.train.is_empty() && !split.test.is_empty());
            for i in &split.train {
                prop_assert!(split.test.iter().all(|k| groups[*k] != groups[*i]));
            }
        }
    }

    #[test]
    fn a_split_is_checked_when_it_is_read_and_when_it_is_applied() {
        let split = split_random(5, 0.4, &Seed::root(1)).unwrap();
        let stored = serde_json::to_string(&split).unwrap();
        assert_eq!(serde_json::from_str::<Split>(&stored).unwrap(), split);
        for (train, test, says) in [
            (vec![0, 1], vec![1], "unlike row 1"),
            (vec![1, 0], vec![2], "must ascend"),
            (vec![0, usize::MAX], vec![1], "unlike row 2"),
            (vec![0, 1, 2], vec![], "`test` is empty"),
        ] {
            let text = serde_json::json!({ "train": train, "test": test }).to_string();
            let error = serde_json::from_str::<Split>(&text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let rows = |n: usize| {
            let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
            Table::Dense(crate::format::DenseTable::from_rows(1, values.clone(), values.clone()).unwrap())
        };
        let SplitTable { train, test } = split.apply(&rows(5)).unwrap();
        assert_eq!((train.rows(), test.rows()), (3, 2));
        for n in [4, 6] {
            assert_eq!(split.apply(&rows(n)), Err(PreprocessError::Rows { expected: 5, found: n }));
        }
    }

    #[test]
    fn a_seed_names_its_split() {
        let split = |seed| split_random(50, 0.5, &Seed::root(seed)).unwrap();
        assert_eq!(split(1), split(1));
        assert_ne!(split(1), split(2));
    }

    #[test]
    fn each_row_is_tested_equally_often() {
        // Hits of one row over 4000 splits are binomial(4000, 1/5): sd 25.3; 5 sd leave 6e-7 per row, 6e-6 in
        // all.
        let mut hits = [0i32; 10];
        for seed in 0..4000 {
            split_random(10, 0.2, &Seed::root(seed)).unwrap().test.iter().for_each(|&i| hits[i] += 1);
        }
        assert!(hits.iter().all(|h| (h - 800).abs() <= 126), "{hits:?}");
    }

    #[test]
    fn impossible_splits_are_refused() {
        for fraction in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(split_random(10, fraction, &Seed::root(0)).is_err(), "{fraction}");
        }
        assert!(split_random(1, 0.5, &Seed::root(0)).is_err());
        assert!(split_by_group(&[7, 7, 7], 0.5, &Seed::root(0)).is_err());
    }
}
