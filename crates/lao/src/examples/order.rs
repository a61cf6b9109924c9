//! Examples in another order, and in two parts: those that are read together stay together.

use super::{Examples, TrainTest};
use crate::error::Error;
use crate::table::Traffic;
use lao_observation::Seed;
use rand::seq::SliceRandom as _;

/// The part of the examples that whole pages must hold.
const IN_WHOLE_PAGES: f64 = 0.9;
/// The most rows that are taken as a page, and the part of all that they are at most: a run needs some pages
/// to look at different columns. Of a longer page, or row group, the parts follow one another.
const LONGEST: usize = 1 << 16;
const PAGES: usize = 16;

/// Rows in a random order.
pub(super) struct Shuffled {
    /// Whole pages first; then the rows that are left over.
    pub rows: Vec<u32>,
    /// The rows of a whole page; 1 if rows are read one by one.
    pub page: usize,
}

impl Examples {
    /// Splits the examples at random; `share` of them are for the test. Of a table that is read by pages,
    /// whole pages are.
    ///
    /// # Errors
    /// When the share is not between 0 and 1, or one part would be empty.
    pub fn split(&self, share: f64, seed: &Seed) -> Result<TrainTest, Error> {
        let Shuffled { rows, page } = self.shuffle(seed);
        let size = self.test_size(share)?;
        let whole = size.div_ceil(page) * page;
        let (test, train) = rows.split_at(if whole < rows.len() { whole } else { size });
        Ok(TrainTest { train: self.of(train.to_vec()), test: self.of(test.to_vec()) })
    }

    /// Splits the examples in their order; `share` of them, the last ones, are for the test.
    ///
    /// # Errors
    /// As [`split`](Self::split).
    pub fn split_in_order(&self, share: f64) -> Result<TrainTest, Error> {
        let (train, test) = self.rows.split_at(self.len() - self.test_size(share)?);
        Ok(TrainTest { train: self.of(train.to_vec()), test: self.of(test.to_vec()) })
    }

    /// Returns the number of examples for the test.
    fn test_size(&self, share: f64) -> Result<usize, Error> {
        let size = (self.len() as f64 * share).round() as usize;
        if share > 0.0 && share < 1.0 && size > 0 && size < self.len() {
            return Ok(size);
        }
        let allowed = format!("a share between 0 and 1 that leaves examples on both sides of {}", self.len());
        Err(Error::Choice { what: "share", value: share.to_string(), allowed })
    }

    /// Returns the examples in a random order, those of a page together.
    pub(crate) fn shuffled(&self, seed: &Seed) -> Examples {
        self.of(self.shuffle(seed).rows)
    }

    /// Returns the number of examples that are read together; `None` if each is read by itself.
    pub(crate) fn page(&self) -> Option<u64> {
        self.store.values.pages()?;
        Some(page_of(&self.runs()) as u64).filter(|page| *page > 1)
    }

    /// Returns by how much more the labels vary between the pages of a table than they would if its rows came
    /// in a random order: the ratio of the mean squares between pages and within. `None` where rows are read
    /// one by one, or there are too few pages to tell.
    pub(crate) fn likeness(&self) -> Option<f64> {
        /// The pages that tell.
        const ENOUGH: usize = 30;
        self.store.values.pages()?;
        let runs = self.runs();
        let (n, pages) = (self.len() as f64, runs.len());
        if pages < ENOUGH || self.len() < 2 * pages {
            return None;
        }
        let label = |row: &u32| self.store.labels[*row as usize];
        let mean = self.rows.iter().map(label).sum::<f64>() / n;
        let (mut between, mut within) = (0.0, 0.0);
        for run in runs {
            let of_run = run.iter().map(label).sum::<f64>() / run.len() as f64;
            between += run.len() as f64 * (of_run - mean).powi(2);
            within += run.iter().map(|row| (label(row) - of_run).powi(2)).sum::<f64>();
        }
        Some(between / (pages - 1) as f64 / (within / (n - pages as f64)))
    }

    /// Returns what was read of the table so far, if it is not in memory.
    pub(crate) fn traffic(&self) -> Option<Traffic> {
        self.store.values.traffic()
    }

    /// Returns the rows in a random order.
    pub(super) fn shuffle(&self, seed: &Seed) -> Shuffled {
        let mut rng = seed.rng();
        if self.store.values.pages().is_none() {
            let mut rows = self.rows.to_vec();
            rows.shuffle(&mut rng);
            return Shuffled { rows, page: 1 };
        }
        let runs = self.runs();
        let page = page_of(&runs);
        let mut runs = runs;
        runs.shuffle(&mut rng);
        let mut rows: Vec<u32> =
            runs.iter().flat_map(|run| run.chunks_exact(page)).flatten().copied().collect();
        rows.extend(runs.iter().flat_map(|run| run.chunks_exact(page).remainder()));
        Shuffled { rows, page }
    }

    /// Returns the rows in runs of those that lie in the same page.
    fn runs(&self) -> Vec<&[u32]> {
        let first_rows = self.store.values.pages().unwrap_or_default();
        let of = |row: u32| first_rows.partition_point(|first| *first <= row);
        self.rows.chunk_by(|a, b| of(*a) == of(*b)).collect()
    }
}

/// Returns the largest number of rows in which whole pages hold nine tenths of all: pages differ in length by
/// rows without a label, and where a row group ends.
fn page_of(runs: &[&[u32]]) -> usize {
    let all: usize = runs.iter().map(|run| run.len()).sum();
    let longest = (all / PAGES).clamp(1, LONGEST);
    let mut lengths: Vec<usize> = runs.iter().map(|run| run.len().min(longest)).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let held = |page: usize| runs.iter().map(|run| run.len() / page * page).sum::<usize>();
    let fits = |page: &usize| held(*page) as f64 >= IN_WHOLE_PAGES * all as f64;
    lengths.into_iter().rev().find(fits).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_as_many_rows_as_most_pages_have_at_least() {
        let page = |lengths: &[usize]| {
            let rows = [0; 2000];
            page_of(&lengths.iter().map(|length| &rows[..*length]).collect::<Vec<_>>())
        };
        assert_eq!(page(&[100; 20]), 100);
        let mut last_is_short = [100; 20];
        last_is_short[19] = 7;
        assert_eq!(page(&last_is_short), 100);
        // Some rows have no label.
        assert_eq!(page(&[97, 99, 96, 98, 100, 95, 97, 98, 99, 97].repeat(2)), 95);
        // A row group that has no pages.
        assert_eq!(page(&[1600]), 100);
        assert_eq!(page(&[]), 1);
        assert_eq!(page(&[1; 9]), 1);
    }
}
