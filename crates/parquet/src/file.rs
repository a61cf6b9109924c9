//! A Parquet file: its columns, and values of some rows of them.

use crate::cells::{Cells, decode};
use crate::error::ParquetError;
use crate::guard::{guarded, unguarded};
use crate::kind::{Kind, Number, kind_of};
use crate::pages::Fetched;
use crate::places::Known;
use crate::store::{Ahead, Allowance, LocalFile, Store, Traffic};
use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::ParquetError as Refused;
use parquet::file::metadata::{
    ColumnChunkMetaData, KeyValue, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetStatisticsPolicy,
};
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::TypePtr;
use std::borrow::Cow;
use std::iter;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// A column of a file. One that is nested is one column, whatever parts it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    number: Number,
    /// Its place, or that of its first part, among the columns as they are stored.
    stored: usize,
}

/// The most bytes that are requested before they are wanted.
const MOST_AHEAD: u64 = 16 << 20;

/// A file whose footer was read.
#[derive(Debug)]
pub struct ParquetFile {
    name: String,
    store: Box<dyn Store>,
    footer: ParquetMetaData,
    columns: Vec<Column>,
    /// The first row of each row group, and the number of all rows.
    begins: Vec<u64>,
    pub(crate) known: Mutex<Known>,
    bytes: AtomicU64,
    requests: AtomicU64,
    allowance: Option<Allowance>,
    ahead: Mutex<Ahead>,
}

/// The part of a column in a row group that holds some rows.
pub(crate) struct Part {
    /// Its place in the list of columns that are read, and that of its rows in the list of rows.
    pub of: usize,
    pub range: usize,
    pub group: usize,
    pub places: Arc<Vec<PageLocation>>,
    /// The rows of a page, if the places follow from those of another column.
    pub assumed: Option<u64>,
    /// The rows before the first wanted one, and the wanted ones.
    pub rows: [usize; 2],
}

impl Part {
    /// Returns the first row of the pages at hand.
    fn first_row(&self) -> u64 {
        let first = self.places.first().filter(|_| self.assumed.is_some());
        first.map_or(0, |page| page.first_row_index.cast_unsigned())
    }
}

impl ParquetFile {
    /// Opens a file on disk.
    ///
    /// # Errors
    /// When it cannot be read, or is no Parquet file.
    pub fn open(path: &Path) -> Result<Self, ParquetError> {
        let name = path.display().to_string();
        let failed = |cause| ParquetError::File { file: name.clone(), cause };
        let store = LocalFile::open(path).map_err(failed)?;
        Self::of(Box::new(store), name)
    }

    /// Reads the footer of a file, called `name` in messages. Statistics in it are not decoded.
    ///
    /// # Errors
    /// When it cannot be read, or is no Parquet file.
    pub fn of(store: Box<dyn Store>, name: String) -> Result<Self, ParquetError> {
        let damaged = |reason: String| ParquetError::Damaged { file: name.clone(), reason };
        let size = store.size();
        let read = |range: Range<u64>| {
            let mut bytes = store
                .read(std::slice::from_ref(&range))
                .map_err(|cause| ParquetError::File { file: name.clone(), cause })?;
            bytes.pop().ok_or_else(|| damaged("nothing was read".into()))
        };
        if size < 12 {
            return Err(damaged("this is no Parquet file: it has fewer than 12 bytes".into()));
        }
        let tail = read(size - 8..size)?;
        let (length, mark) = tail.split_at(4);
        match mark {
            b"PAR1" => {}
            b"PARE" => return Err(damaged("its footer is encrypted; write it without encryption".into())),
            _ => return Err(damaged("this is no Parquet file: it does not end with PAR1".into())),
        }
        let length = u64::from(u32::from_le_bytes([length[0], length[1], length[2], length[3]]));
        if length + 12 > size {
            return Err(damaged(format!(
                "its footer has {length} bytes, and the file {size}; it was cut off"
            )));
        }
        let bytes = read(size - 8 - length..size - 8)?;
        let options = ParquetMetaDataOptions::new()
            .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
            .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
            .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll);
        let footer = guarded(|| ParquetMetaDataReader::decode_metadata_with_options(&bytes, Some(&options)))
            .map_err(|error| damaged(format!("its footer is damaged: {}", said(&error))))?;
        let schema = footer.file_metadata().schema_descr();
        let mut columns: Vec<Column> = Vec::new();
        for (stored, column) in schema.columns().iter().enumerate() {
            // The parts of a nested column are neighbors.
            if stored == 0 || schema.get_column_root_idx(stored) != schema.get_column_root_idx(stored - 1) {
                let (kind, number) = kind_of(column);
                let name = schema.get_column_root(stored).name().to_owned();
                columns.push(Column { name, kind, number, stored });
            }
        }
        let mut begins = vec![0u64];
        for (place, group) in footer.row_groups().iter().enumerate() {
            let rows = u64::try_from(group.num_rows()).ok();
            let end = rows.and_then(|rows| begins[place].checked_add(rows));
            begins.push(end.ok_or_else(|| damaged("a row group has a negative number of rows".into()))?);
            if group.columns().len() != schema.num_columns() {
                return Err(damaged("a row group lacks columns".into()));
            }
            for (chunk, column) in group.columns().iter().zip(schema.columns()) {
                // Sums of what is stored, which may be any numbers.
                let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
                let end = start.checked_add(chunk.compressed_size());
                let inside = start >= 0 && chunk.compressed_size() >= 0;
                if !inside || end.is_none_or(|end| end.cast_unsigned() > size) {
                    let (file, column) = (name.clone(), column.path().string());
                    let reason = "its values lie beyond the end of the file".into();
                    return Err(ParquetError::Column { file, column, reason });
                }
            }
        }
        let traffic = Traffic { bytes: 8 + length, requests: 2 };
        Ok(ParquetFile {
            name,
            store,
            footer,
            columns,
            begins,
            known: Mutex::default(),
            bytes: traffic.bytes.into(),
            requests: traffic.requests.into(),
            allowance: None,
            ahead: Mutex::default(),
        })
    }

    /// Reads from now on within an allowance. What was read so far is taken from it.
    ///
    /// # Errors
    /// [`ParquetError::Allowance`] if that was more.
    pub fn within(mut self, allowance: Allowance) -> Result<Self, ParquetError> {
        let wanted = self.traffic().bytes;
        allowance.take(wanted).map_err(|left| self.not_allowed(wanted, left))?;
        self.allowance = Some(allowance);
        Ok(self)
    }

    fn not_allowed(&self, wanted: u64, left: u64) -> ParquetError {
        ParquetError::Allowance { file: self.name.clone(), wanted, left }
    }

    /// Returns the name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.begins.last().copied().unwrap_or(0)
    }

    /// Returns the number of bytes of the file.
    pub fn size(&self) -> u64 {
        self.store.size()
    }

    /// Returns the gap between two ranges of bytes below which one longer request costs less than two: some
    /// kilobytes on a disk, more in a network.
    pub fn worth_a_request(&self) -> u64 {
        self.store.worth_a_request()
    }

    /// Reads the whole file, and returns it in memory.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn in_memory(&self) -> Result<ParquetFile, ParquetError> {
        const AT_ONCE: usize = 8 << 20;
        let ends = |begin: u64| begin..(begin + AT_ONCE as u64).min(self.size());
        let ranges: Vec<_> = (0..self.size()).step_by(AT_ONCE).map(ends).collect();
        let failed = |cause| ParquetError::File { file: self.name.clone(), cause };
        let bytes = self.store.read(&ranges).map_err(failed)?;
        ParquetFile::of(Box::new(Bytes::from(bytes.concat())), self.name.clone())
    }

    /// Returns all bytes, piece by piece; an error where one cannot be read.
    pub fn bytes(&self) -> impl Iterator<Item = Result<Bytes, ParquetError>> {
        const PIECE: usize = 1 << 20;
        (0..self.size()).step_by(PIECE).map(|begin| {
            let range = begin..(begin + PIECE as u64).min(self.size());
            let read = self.store.read(&[range]);
            let failed = |cause| ParquetError::File { file: self.name.clone(), cause };
            Ok(read.map_err(failed)?.into_iter().next().unwrap_or_default())
        })
    }

    /// Returns what was read so far, the footer included.
    pub fn traffic(&self) -> Traffic {
        Traffic { bytes: self.bytes.load(Relaxed), requests: self.requests.load(Relaxed) }
    }

    /// Returns the first row of each row group.
    pub fn row_groups(&self) -> &[u64] {
        &self.begins[..self.begins.len() - 1]
    }

    /// Returns the packed bytes of a column in all row groups.
    pub fn bytes_of(&self, column: usize) -> u64 {
        let of = |group| u64::try_from(self.chunk_of(group, column).compressed_size()).unwrap_or(0);
        (0..self.row_groups().len()).map(of).fold(0, u64::saturating_add)
    }

    pub(crate) fn schema(&self) -> TypePtr {
        self.footer.file_metadata().schema_descr().root_schema_ptr()
    }

    pub(crate) fn key_values(&self) -> Option<Vec<KeyValue>> {
        self.footer.file_metadata().key_value_metadata().cloned()
    }

    /// Returns a reader of a whole column, as it is stored, in a row group.
    pub(crate) fn stored(&self, group: usize, stored: usize) -> Result<ColumnReader, ParquetError> {
        let chunk = self.footer.row_group(group).column(stored);
        let (start, length) = chunk.byte_range();
        let whole = start..start + length;
        let ranges = self.fetch(iter::once(&whole))?.ranges;
        let (places, rows) = (Arc::default(), [0, self.rows_of(group) as usize]);
        let part = Part { of: 0, range: 0, group, places, assumed: None, rows };
        self.reader(stored, &part, ranges).map_err(|error| ParquetError::Column {
            file: self.name.clone(),
            column: chunk.column_path().string(),
            reason: said(&error),
        })
    }

    /// Returns the number of columns as they are stored.
    pub(crate) fn stored_columns(&self) -> usize {
        self.footer.file_metadata().schema_descr().num_columns()
    }

    /// Returns a column in a row group.
    pub(crate) fn chunk_of(&self, group: usize, column: usize) -> &ColumnChunkMetaData {
        self.footer.row_group(group).column(self.columns[column].stored)
    }

    /// Reads the values of consecutive rows of some columns, and fetches for it the pages alone that hold
    /// them, all in one go. `each` is told the place in `columns`, and the values batch by batch.
    ///
    /// # Errors
    /// When they cannot be read; the error names the column.
    pub fn read(
        &self,
        columns: &[usize],
        rows: Range<u64>,
        mut each: impl FnMut(usize, Cells<'_>),
    ) -> Result<(), ParquetError> {
        self.read_ranges(columns, std::slice::from_ref(&rows), |of, _, cells| each(of, cells))
    }

    /// As [`read`](Self::read), for several ranges of rows. `each` is told the place in `columns`, that in
    /// `rows`, and the values batch by batch.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_ranges(
        &self,
        columns: &[usize],
        rows: &[Range<u64>],
        mut each: impl FnMut(usize, usize, Cells<'_>),
    ) -> Result<(), ParquetError> {
        let parts = self.parts(columns, rows)?;
        let wanted: Vec<Vec<Range<u64>>> =
            parts.iter().map(|part| self.ranges(columns[part.of], part)).collect();
        let fetched = self.fetch(wanted.iter().flatten())?;
        for (part, ranges) in parts.into_iter().zip(wanted) {
            let column = columns[part.of];
            let (of, range) = (part.of, part.range);
            match self.decode(column, &part, &ranges, &fetched, &mut |cells| each(of, range, cells)) {
                Err(_) if part.assumed.is_some() => {
                    // The pages are not where those of a like column are: nothing was told yet, since each
                    // page is checked before its values are.
                    let part = self.known_part(column, part)?;
                    let ranges = self.ranges(column, &part);
                    let fetched = self.fetch(ranges.iter())?;
                    self.decode(column, &part, &ranges, &fetched, &mut |cells| each(of, range, cells))
                }
                outcome => outcome,
            }
            .map_err(|error| self.refused(column, said(&error)))?;
        }
        Ok(())
    }

    /// Begins to fetch what [`read_ranges`](Self::read_ranges) is likely to be asked for next: of some
    /// columns some ranges of rows, and so on. What was expected before is forgotten. The bytes count as
    /// read.
    ///
    /// Nothing is done if the file is quick to answer, or if an [allowance](Self::within) is kept. What
    /// cannot be fetched is left to `read_ranges`.
    pub fn expect(&self, next: &[(Vec<usize>, Vec<Range<u64>>)]) {
        if self.allowance.is_some() || !self.store.is_slow() {
            return;
        }
        let mut wanted: Vec<Range<u64>> = Vec::new();
        let mut bytes = 0;
        for (columns, rows) in next {
            let Ok(parts) = self.parts(columns, rows) else { break };
            let begin = wanted.len();
            wanted.extend(parts.iter().flat_map(|part| self.ranges(columns[part.of], part)));
            bytes += wanted[begin..].iter().map(|range| range.end - range.start).sum::<u64>();
            if bytes > MOST_AHEAD {
                wanted.truncate(begin);
                break;
            }
        }
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = ahead.keep(wanted);
        let requests = self.requests(missing.iter());
        let answers = self.store.begin(&requests);
        self.count(&requests[..answers.len()]);
        requests.into_iter().zip(answers).for_each(|(range, answer)| ahead.add(range, answer));
    }

    /// Decodes the rows of a part from what was fetched.
    fn decode(
        &self,
        column: usize,
        part: &Part,
        ranges: &[Range<u64>],
        fetched: &Fetched,
        each: &mut dyn FnMut(Cells<'_>),
    ) -> Result<(), Refused> {
        let inside = |range: &Range<u64>| {
            let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
            let bytes = fetched.from(range.start)?;
            Ok((range.start, bytes.slice(..length.min(bytes.len()))))
        };
        let ranges = ranges.iter().map(inside).collect::<Result<_, Refused>>()?;
        let Column { kind, number, stored, .. } = &self.columns[column];
        // Of assumed pages the values are told when all of them were found.
        let mut kept = Vec::new();
        guarded(|| {
            let reader = self.reader(*stored, part, ranges)?;
            let [skip, take] = part.rows;
            let rows = [skip - part.first_row() as usize, take];
            decode(reader, kind, *number, rows, &mut |cells| match (part.assumed, cells) {
                (Some(_), Cells::Numbers(numbers)) => kept.extend_from_slice(numbers),
                _ => unguarded(|| each(cells)),
            })
        })?;
        if !kept.is_empty() {
            each(Cells::Numbers(&kept));
        }
        Ok(())
    }

    pub(crate) fn refused(&self, column: usize, reason: String) -> ParquetError {
        let (file, column) = (self.name.clone(), self.columns[column].name.clone());
        ParquetError::Column { file, column, reason }
    }

    pub(crate) fn rows_of(&self, group: usize) -> u64 {
        self.begins[group + 1] - self.begins[group]
    }

    /// Returns the parts of columns in row groups that hold some rows, column by column.
    fn parts(&self, columns: &[usize], rows: &[Range<u64>]) -> Result<Vec<Part>, ParquetError> {
        let mut chunks = Vec::new();
        let (mut wanted, mut inside) = (Vec::new(), Vec::new());
        for (of, &column) in columns.iter().enumerate() {
            if let Kind::Others(why) = self.columns[column].kind {
                return Err(self.refused(column, format!("{why}; leave it out")));
            }
            for (range, rows) in rows.iter().enumerate() {
                // The row group of the first row, and those after it.
                let first = self.begins.partition_point(|begin| *begin <= rows.start).saturating_sub(1);
                let groups = self.row_groups().iter().enumerate().skip(first);
                for (group, &begin) in groups.take_while(|(_, begin)| **begin < rows.end) {
                    let (from, to) = (rows.start.max(begin), rows.end.min(self.begins[group + 1]));
                    if from < to {
                        chunks.push((group, column));
                        wanted.push([of, range]);
                        inside.push([from - begin, to - from].map(|rows| rows as usize));
                    }
                }
            }
        }
        let places = self.places(&chunks, &inside)?;
        let parts = chunks.iter().zip(wanted).zip(inside.into_iter().zip(places));
        let part = |((chunk, wanted), (rows, (places, assumed))): ((&(usize, usize), [usize; 2]), _)| {
            let ([of, range], group) = (wanted, chunk.0);
            Part { of, range, group, places, assumed, rows }
        };
        Ok(parts.map(part).collect())
    }

    /// Returns the ranges of bytes that hold a part: its dictionary and the pages of its rows, or all of it.
    fn ranges(&self, column: usize, part: &Part) -> Vec<Range<u64>> {
        let (start, length) = self.chunk_of(part.group, column).byte_range();
        let Some(first) = part.places.first() else { return iter::once(start..start + length).collect() };
        let mut ranges = Vec::new();
        let of_first = first.offset.cast_unsigned();
        if of_first > start && part.assumed.is_none() {
            ranges.push(start..of_first);
        }
        let from = part.rows[0] as u64;
        let to = from + part.rows[1] as u64;
        let ends = part.places.iter().skip(1).map(|page| page.first_row_index.cast_unsigned());
        for (page, end) in part.places.iter().zip(ends.chain([u64::MAX])) {
            if page.first_row_index.cast_unsigned() < to && end > from {
                let start = page.offset.cast_unsigned();
                ranges.push(start..start + u64::from(page.compressed_page_size.cast_unsigned()));
            }
        }
        ranges
    }

    /// Returns the requests for some ranges of bytes. Neighbors are one request.
    fn requests<'a>(&self, wanted: impl Iterator<Item = &'a Range<u64>>) -> Vec<Range<u64>> {
        let mut sorted: Vec<Range<u64>> = wanted.cloned().collect();
        sorted.sort_unstable_by_key(|range| (range.start, range.end));
        let mut requests: Vec<Range<u64>> = Vec::new();
        for range in sorted {
            match requests.last_mut() {
                Some(last) if range.start <= last.end.saturating_add(self.store.worth_a_request()) => {
                    last.end = last.end.max(range.end);
                }
                _ => requests.push(range),
            }
        }
        requests
    }

    /// Counts requests as read.
    fn count(&self, requests: &[Range<u64>]) {
        self.bytes.fetch_add(requests.iter().map(|range| range.end - range.start).sum(), Relaxed);
        self.requests.fetch_add(requests.len() as u64, Relaxed);
    }

    /// Fetches ranges of bytes, or waits for those that come already.
    pub(crate) fn fetch<'a>(
        &self,
        wanted: impl Iterator<Item = &'a Range<u64>>,
    ) -> Result<Fetched, ParquetError> {
        let (mut ranges, mut missing) = (Vec::new(), Vec::new());
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        for range in wanted {
            match ahead.wait(range) {
                Some(bytes) => ranges.push((range.start, bytes)),
                // What failed is requested once more, for what is wrong to be told.
                None => missing.push(range),
            }
        }
        drop(ahead);
        let missing = self.requests(missing.into_iter());
        if let Some(allowance) = &self.allowance {
            let wanted = missing.iter().map(|range| range.end - range.start).sum();
            allowance.take(wanted).map_err(|left| self.not_allowed(wanted, left))?;
        }
        if !missing.is_empty() {
            let failed = |cause| ParquetError::File { file: self.name.clone(), cause };
            let bytes = self.store.read(&missing).map_err(failed)?;
            self.count(&missing);
            ranges.extend(missing.iter().map(|range| range.start).zip(bytes));
        }
        ranges.sort_unstable_by_key(|(start, _)| *start);
        Ok(Fetched { size: self.size(), ranges, by_page: false, at_header: true.into() })
    }

    /// Returns a reader of a column, as it is stored, in a row group. Where the places of pages are known,
    /// those that are skipped need no bytes.
    fn reader(&self, stored: usize, part: &Part, ranges: Vec<(u64, Bytes)>) -> Result<ColumnReader, Refused> {
        let (mut places, by_page) = (part.places.to_vec(), !part.places.is_empty());
        let fetched = Arc::new(Fetched { size: self.size(), ranges, by_page, at_header: true.into() });
        let (chunk, mut rows) = (self.footer.row_group(part.group).column(stored), self.rows_of(part.group));
        let even = part.assumed.map(|of_page| [of_page, (rows - 1) % of_page + 1]);
        let mut chunk = Cow::Borrowed(chunk);
        if let (Some(first), true) = (places.first().cloned(), part.assumed.is_some()) {
            // The pages at hand are taken for all of the column.
            rows -= part.first_row();
            let size = places.iter().map(|page| i64::from(page.compressed_page_size)).sum();
            places.iter_mut().for_each(|page| page.first_row_index -= first.first_row_index);
            let own = chunk.into_owned().into_builder();
            let own = own.set_data_page_offset(first.offset).set_total_compressed_size(size);
            chunk = Cow::Owned(own.build()?);
        }
        let (kept, places) = (Arc::clone(&fetched), by_page.then_some(places));
        let pages = SerializedPageReader::new(kept, &chunk, rows as usize, places)?;
        let descriptor = self.footer.file_metadata().schema_descr().column(stored);
        Ok(get_column_reader(descriptor, Box::new(Checked { pages, fetched, peeked: false, even })))
    }
}

/// Returns what a message says, without its first words.
pub(crate) fn said(error: &Refused) -> String {
    let text = error.to_string();
    if let Some((_, codec)) = text.split_once("Disabled feature at compile time: ") {
        return format!("it is packed by {codec}; write it with zstd, lz4, snappy or gzip");
    }
    text.strip_prefix("Parquet error: ").map_or(text.clone(), str::to_owned)
}

/// Pages, of which a dictionary that says it has more entries than bytes is refused: room is made for as many
/// as it says.
struct Checked {
    pages: SerializedPageReader<Fetched>,
    fetched: Arc<Fetched>,
    /// Whether the header of the next page was read.
    peeked: bool,
    /// The rows of a page and of the last one, if that is known.
    even: Option<[u64; 2]>,
}

impl Checked {
    /// Notes whether the next header is still to be read; `then` says whether it is read after this.
    fn at_header(&mut self, then: bool) {
        self.fetched.at_header.store(!self.peeked, Relaxed);
        self.peeked = then;
    }
}

impl Iterator for Checked {
    type Item = Result<Page, Refused>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// Refuses a page that cannot be one.
fn checked(page: Option<Page>, even: Option<[u64; 2]>) -> Result<Option<Page>, Refused> {
    match page {
        Some(Page::DictionaryPage { buf, num_values, .. }) if num_values as usize > buf.len() => {
            Err(Refused::General("a dictionary says that it has more entries than bytes".into()))
        }
        Some(page) if even.is_some_and(|rows| !rows.contains(&u64::from(page.num_values()))) => {
            Err(Refused::General("a page is not where it must be".into()))
        }
        page => Ok(page),
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>, Refused> {
        self.at_header(false);
        checked(self.pages.get_next_page()?, self.even)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, Refused> {
        self.at_header(true);
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), Refused> {
        self.at_header(false);
        self.pages.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.pages.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>, Refused> {
        checked(self.pages.take_deferred_dictionary()?, None)
    }

    fn at_record_boundary(&mut self) -> Result<bool, Refused> {
        self.at_header(true);
        self.pages.at_record_boundary()
    }
}
