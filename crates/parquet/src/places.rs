//! Where the pages of a column lie.

use crate::error::ParquetError;
use crate::file::{ParquetFile, Part, said};
use crate::guard::guarded;
use crate::kind::Kind;
use parquet::basic::{Compression, Type};
use parquet::errors::ParquetError as Refused;
use parquet::file::page_index::index_reader::decode_offset_index;
use parquet::file::page_index::offset_index::PageLocation;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// The most places of pages that are kept.
const MOST_PLACES: usize = 1 << 20;

/// What is known of the places of pages.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Those of a column in a row group; none if the file does not say it.
    places: HashMap<(usize, usize), Arc<Vec<PageLocation>>>,
    /// Where pages are even; `None` if they looked so and one was not where it had to be.
    even: HashMap<Likeness, Option<Even>>,
}

/// What the columns of a row group have in common whose pages lie alike: type, levels and packed bytes.
type Likeness = (usize, Type, i16, i64);

/// Pages of equally many rows and bytes, but for the last one. Columns of numbers that are not packed have
/// such pages, so that the offset index of one of them says where those of the others are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Even {
    pages: u64,
    rows: u64,
    bytes: u64,
    /// The bytes of the last page.
    last: u64,
}

impl Even {
    /// Returns what pages have in common, if they are even and fill their column from `start` on.
    fn of(pages: &[PageLocation], start: u64, length: u64) -> Option<Even> {
        let (first, last) = (pages.first()?, pages.last()?);
        let rows = pages.get(1)?.first_row_index.cast_unsigned();
        let size = |page: &PageLocation| u64::from(page.compressed_page_size.cast_unsigned());
        let even = Even { pages: pages.len() as u64, rows, bytes: size(first), last: size(last) };
        let filled = (even.pages - 1) * even.bytes + even.last == length;
        (filled && even.places(start) == pages).then_some(even)
    }

    /// Returns the pages of a column that begins at `start`.
    fn places(self, start: u64) -> Vec<PageLocation> {
        self.some(start, 0..self.pages)
    }

    /// Returns the pages that hold the `take` rows after the first `skip` ones.
    fn of_rows(self, start: u64, [skip, take]: [usize; 2]) -> Vec<PageLocation> {
        let (skip, end) = (skip as u64, (skip + take) as u64);
        self.some(start, skip / self.rows..end.div_ceil(self.rows).min(self.pages))
    }

    fn some(self, start: u64, pages: Range<u64>) -> Vec<PageLocation> {
        let page = |i: u64| PageLocation {
            offset: start.wrapping_add(i * self.bytes).cast_signed(),
            compressed_page_size: (if i + 1 == self.pages { self.last } else { self.bytes }) as i32,
            first_row_index: (i * self.rows).cast_signed(),
        };
        pages.map(page).collect()
    }
}

/// Where the pages of a column in a row group lie; and the rows of a page, if this follows from another
/// column.
pub(crate) type Places = (Arc<Vec<PageLocation>>, Option<u64>);

impl ParquetFile {
    /// Returns the first row of each page of a column, in all row groups; `None` if the file has no offset
    /// index of it.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn pages(&self, column: usize) -> Result<Option<Vec<u64>>, ParquetError> {
        let mut first_rows = Vec::new();
        for (group, begin) in self.row_groups().iter().enumerate() {
            if self.rows_of(group) == 0 {
                continue;
            }
            let all = [0, self.rows_of(group) as usize];
            let places = self.places(&[(group, column)], &[all])?;
            let places = places.first().map(|(places, _)| places).filter(|places| !places.is_empty());
            let Some(places) = places else { return Ok(None) };
            first_rows.extend(places.iter().map(|page| begin + page.first_row_index.cast_unsigned()));
        }
        Ok(Some(first_rows))
    }

    /// Returns a part with the places that its own offset index says.
    pub(crate) fn known_part(&self, column: usize, part: Part) -> Result<Part, ParquetError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.even.extend(self.likeness(part.group, column).map(|likeness| (likeness, None)));
        drop(known);
        let places = self.places(&[(part.group, column)], &[part.rows])?;
        let (places, assumed) = places.into_iter().next().unwrap_or_default();
        Ok(Part { places, assumed, ..part })
    }

    /// Returns what a column in a row group has in common with those whose pages lie alike; `None` if its
    /// pages are packed, or there is a dictionary before them.
    fn likeness(&self, group: usize, column: usize) -> Option<Likeness> {
        let chunk = self.chunk_of(group, column);
        let descriptor = chunk.column_descr();
        let is_plain = chunk.compression() == Compression::UNCOMPRESSED
            && chunk.dictionary_page_offset().is_none()
            && matches!(self.columns()[column].kind, Kind::Numbers(_));
        let (kind, levels) = (descriptor.physical_type(), descriptor.max_def_level());
        is_plain.then(|| (group, kind, levels, chunk.compressed_size()))
    }

    /// Returns where the pages of columns in row groups lie, nothing where the file does not say it. If this
    /// follows from another column, those that hold some rows are enough, and the rows of a page are known.
    pub(crate) fn places(
        &self,
        chunks: &[(usize, usize)],
        rows: &[[usize; 2]],
    ) -> Result<Vec<Places>, ParquetError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { places: known, even } = &mut *known;
        if known.values().map(|places| places.len()).sum::<usize>() > MOST_PLACES {
            known.clear();
        }
        // The first of several columns that are alike is looked up, and the others are if it has no even
        // pages.
        for last in [false, true] {
            let mut asked = HashSet::new();
            let is_new = |chunk: &&(usize, usize)| {
                let likeness = self.likeness(chunk.0, chunk.1);
                let found = known.contains_key(*chunk)
                    || likeness.is_some_and(|likeness| matches!(even.get(&likeness), Some(Some(_))));
                !found && (last || likeness.is_none_or(|likeness| asked.insert(likeness)))
            };
            let new: Vec<(usize, usize)> = chunks.iter().filter(is_new).copied().collect();
            for (chunk, places) in new.iter().zip(self.look_up(&new)?) {
                if let Some(likeness) = self.likeness(chunk.0, chunk.1) {
                    let (start, length) = self.chunk_of(chunk.0, chunk.1).byte_range();
                    even.entry(likeness).or_insert_with(|| Even::of(&places, start, length));
                }
                known.insert(*chunk, Arc::new(places));
            }
        }
        let places = |(chunk, rows): (&(usize, usize), &[usize; 2])| match known.get(chunk) {
            Some(places) => (Arc::clone(places), None),
            None => {
                let likeness = self.likeness(chunk.0, chunk.1);
                let even = likeness.and_then(|likeness| even.get(&likeness).copied().flatten());
                let start = self.chunk_of(chunk.0, chunk.1).byte_range().0;
                let places = even.map_or_else(Vec::new, |even| even.of_rows(start, *rows));
                (Arc::new(places), even.map(|even| even.rows))
            }
        };
        Ok(chunks.iter().zip(rows).map(places).collect())
    }

    /// Reads the offset indexes of columns in row groups; nothing where there is none.
    fn look_up(&self, chunks: &[(usize, usize)]) -> Result<Vec<Vec<PageLocation>>, ParquetError> {
        let index = |&(group, column): &(usize, usize)| {
            let chunk = self.chunk_of(group, column);
            let start = u64::try_from(chunk.offset_index_offset()?).ok()?;
            let length = u64::try_from(chunk.offset_index_length()?).ok()?;
            start.checked_add(length).filter(|end| *end <= self.size()).map(|end| start..end)
        };
        let indexes: Vec<_> = chunks.iter().map(index).collect();
        let fetched = self.fetch(indexes.iter().flatten())?;
        let places = |(&(group, column), range): (&(usize, usize), &Option<Range<u64>>)| {
            let Some(range) = range else { return Ok(Vec::new()) };
            let failed = |error: Refused| self.refused(column, said(&error));
            let bytes = fetched.from(range.start).map_err(failed)?;
            let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
            let index = guarded(|| decode_offset_index(&bytes[..length.min(bytes.len())])).map_err(failed)?;
            let places = index.page_locations().clone();
            self.check_places(group, column, &places)?;
            Ok(places)
        };
        chunks.iter().zip(&indexes).map(places).collect()
    }

    /// Checks that pages lie in their column one after the other, from its first row on.
    fn check_places(&self, group: usize, column: usize, pages: &[PageLocation]) -> Result<(), ParquetError> {
        let chunk = self.chunk_of(group, column);
        let (mut end, size) = chunk.byte_range();
        let (last, mut row) = (end.saturating_add(size), None);
        for page in pages {
            let start = u64::try_from(page.offset).unwrap_or(0);
            let length = u64::try_from(page.compressed_page_size).unwrap_or(0);
            let first = u64::try_from(page.first_row_index).unwrap_or(u64::MAX);
            let ascends = row.map_or(first == 0, |row| row < first) && first < self.rows_of(group);
            if start < end || length == 0 || start.saturating_add(length) > last || !ascends {
                return Err(self.refused(column, "its offset index is damaged".into()));
            }
            (end, row) = (start + length, Some(first));
        }
        Ok(())
    }
}
