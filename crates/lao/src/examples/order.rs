//! Examples in another order, and in two parts: those that are read together stay together.

use super::{Examples, Rows, TrainTest};
use crate::error::Error;
use crate::table::Traffic;
use lao_observation::Seed;
use rand::seq::SliceRandom as _;
use std::ops::Range;

/// The part of the examples that whole pages must hold.
const IN_WHOLE_PAGES: f64 = 0.9;
/// The most rows that are taken as a page, and the part of all that they are at most: a run needs some pages
/// to look at different columns. Of a longer page, or row group, the parts follow one another.
const LONGEST: usize = 1 << 16;
const PAGES: usize = 16;

/// The rows that stay neighbors in a random order are at most this part of all, and so many: about those of a
/// late block of Pursuit.
const PART: usize = 160;
const MOST_TOGETHER: usize = 512;

/// Rows in a random order.
pub(super) struct Shuffled {
    /// Whole pages first; then the rows that are left over.
    pub rows: Rows,
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
        let (at, all) = (if whole < rows.len() { whole } else { size }, rows.len());
        let of = |places: Range<usize>| self.of(rows.at(std::iter::once(places)));
        Ok(TrainTest { train: of(at..all), test: of(0..at) })
    }

    /// Splits the examples in their order; `share` of them, the last ones, are for the test.
    ///
    /// # Errors
    /// As [`split`](Self::split).
    pub fn split_in_order(&self, share: f64) -> Result<TrainTest, Error> {
        let (at, all) = (self.len() - self.test_size(share)?, self.len());
        let of = |places: Range<usize>| self.of(self.rows.at(std::iter::once(places)));
        Ok(TrainTest { train: of(0..at), test: of(at..all) })
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
    pub(crate) fn likeness(&self) -> Result<Option<f64>, Error> {
        /// The pages that tell, and the rows that are enough.
        const ENOUGH: usize = 30;
        const MOST: usize = 1 << 20;
        if self.store.values.pages().is_none() {
            return Ok(None);
        }
        let runs = self.runs();
        let runs = &runs[..runs.partition_point(|run| run.end <= MOST)];
        let (n, pages) = (runs.last().map_or(0, |run| run.end), runs.len());
        if pages < ENOUGH || n < 2 * pages {
            return Ok(None);
        }
        let mut labels = Vec::with_capacity(n);
        self.each_label(0..n, |y| labels.push(y))?;
        let mean_of = |labels: &[f64]| labels.iter().sum::<f64>() / labels.len() as f64;
        let mean = mean_of(&labels);
        let (mut between, mut within) = (0.0, 0.0);
        for run in runs {
            let of_run = labels.get(run.clone()).unwrap_or_default();
            let own = mean_of(of_run);
            between += run.len() as f64 * (own - mean).powi(2);
            within += of_run.iter().map(|y| (y - own).powi(2)).sum::<f64>();
        }
        Ok(Some(between / (pages - 1) as f64 / (within / (n - pages) as f64)))
    }

    /// Returns what was read of the table so far, if it is not in memory.
    pub(crate) fn traffic(&self) -> Option<Traffic> {
        self.store.values.traffic()
    }

    /// Returns the rows in a random order.
    pub(super) fn shuffle(&self, seed: &Seed) -> Shuffled {
        let mut rng = seed.rng();
        if self.store.values.pages().is_none() {
            let mut rows: Vec<u32> = self.rows.iter().collect();
            rows.shuffle(&mut rng);
            return Shuffled { rows: Rows::Listed(rows), page: 1 };
        }
        let runs = self.runs();
        let page = page_of(&runs);
        let together = pages_together(self.len(), self.len().div_ceil(runs.len().max(1)));
        let mut groups: Vec<&[Range<usize>]> = runs.chunks(together).collect();
        groups.shuffle(&mut rng);
        let runs: Vec<Range<usize>> = groups.concat();
        let whole = |run: &Range<usize>| run.start + run.len() / page * page;
        let pages = runs.iter().map(|run| run.start..whole(run));
        let rows = self.rows.at(pages.chain(runs.iter().map(|run| whole(run)..run.end)));
        Shuffled { rows, page }
    }

    /// Returns the places of the rows in runs of those that lie in the same page.
    fn runs(&self) -> Vec<Range<usize>> {
        let first_rows = self.store.values.pages().unwrap_or_default();
        let mut runs: Vec<Range<usize>> = Vec::new();
        let (mut place, mut last) = (0, None);
        for mut rows in self.rows.slices(0..self.len()) {
            while !rows.is_empty() {
                let page = first_rows.partition_point(|first| *first <= rows.start);
                let end = first_rows.get(page).map_or(rows.end, |next| rows.end.min(*next));
                let next = place + (end - rows.start) as usize;
                match runs.last_mut() {
                    Some(run) if last == Some(page) => run.end = next,
                    _ => runs.push(place..next),
                }
                (place, last, rows.start) = (next, Some(page), end);
            }
        }
        runs
    }
}

/// Returns the largest number of rows in which whole pages hold nine tenths of all: pages differ in length by
/// rows without a label, and where a row group ends.
fn page_of(runs: &[Range<usize>]) -> usize {
    let all: usize = runs.iter().map(Range::len).sum();
    let longest = (all / PAGES).clamp(1, LONGEST);
    let mut lengths: Vec<usize> = runs.iter().map(|run| run.len().min(longest)).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let held = |page: usize| runs.iter().map(|run| run.len() / page * page).sum::<usize>();
    let fits = |page: &usize| held(*page) as f64 >= IN_WHOLE_PAGES * all as f64;
    lengths.into_iter().rev().find(fits).unwrap_or(1)
}

/// Returns the number of pages, of so many rows each, that stay neighbors in a random order. Late in a run a
/// block of examples has several pages; those of a column are then read in one go.
fn pages_together(rows: usize, page: usize) -> usize {
    (rows / PART).min(MOST_TOGETHER).checked_div(page).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_stay_together_where_there_are_many_short_pages() {
        let pages = [(1797, 40), (20_000, 64), (100_000, 64), (10_000_000, 64), (10_000_000, 1024)];
        assert_eq!(pages.map(|(rows, page)| pages_together(rows, page)), [1, 1, 8, 8, 1]);
        assert_eq!([pages_together(0, 1), pages_together(5, 0)], [1, 1]);
    }

    #[test]
    fn a_page_has_as_many_rows_as_most_pages_have_at_least() {
        let page = |lengths: &[usize]| page_of(&lengths.iter().map(|length| 0..*length).collect::<Vec<_>>());
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
