//! The pages of a table's files, as a table.

use crate::frame::Fields;
use crate::frame::parquet::{self, Files, Texts};
use crate::table::{Table, Traffic};
use lao_observation::SourceError;
use lao_parquet::{Cells, ParquetError, ParquetFile};
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};

/// The most values of a page that are kept at hand, 16 MiB; of two blocks there are twice as many.
const KEPT: usize = 1 << 21;
/// Blocks of examples whose pages are fetched from a store before the learner asks for them.
const AHEAD: usize = 8;

/// Where the values of an attribute are.
#[derive(Debug)]
pub(super) enum Attribute {
    /// In this column of the files.
    Stored(usize),
    /// In this column of words, 1 where it has the word of this place.
    Word(usize, u32),
}

impl Attribute {
    /// Returns the column.
    pub fn place(&self) -> usize {
        match self {
            Attribute::Stored(place) | Attribute::Word(place, _) => *place,
        }
    }
}

/// A table of which those pages are read that are looked at.
#[derive(Debug)]
pub(super) struct Pages {
    pub files: Files,
    pub fields: Fields,
    /// The columns of texts, by their places.
    pub texts: HashMap<usize, Texts>,
    /// The attributes, of which there are `dim`, and the label after them.
    pub attributes: Vec<Attribute>,
    pub dim: usize,
    /// The first row of each page.
    pub pages: Vec<u32>,
    pub rows: u32,
    pub most: Option<u64>,
    pub cache: Mutex<Cache>,
}

/// Values of pages that were read last, by page and column.
type Cache = HashMap<(usize, usize), Vec<f64>>;

impl Pages {
    /// Returns the first row of a page, and the one after its last.
    fn ends(&self, page: usize) -> [u32; 2] {
        [self.pages[page], self.pages.get(page + 1).copied().unwrap_or(self.rows)]
    }

    /// Returns the files in which some pages lie, with the places of these pages in the list, and their rows
    /// in the file.
    fn parts(&self, pages: &[usize]) -> impl Iterator<Item = (usize, Vec<usize>, Vec<Range<u64>>)> {
        let mut begin = 0;
        self.files.files.iter().enumerate().filter_map(move |(f, file)| {
            let end = begin + file.rows();
            let inside = |(place, page): (usize, &usize)| {
                let [first, last] = self.ends(*page).map(u64::from);
                let (from, to) = (first.max(begin), last.min(end));
                (from < to).then(|| (place, from - begin..to - begin))
            };
            let (places, rows): (Vec<_>, Vec<_>) = pages.iter().enumerate().filter_map(inside).unzip();
            begin = end;
            (!rows.is_empty()).then_some((f, places, rows))
        })
    }

    /// Returns the columns of attributes in the files.
    fn columns(&self, attributes: &[u32]) -> Vec<usize> {
        let mut columns: Vec<usize> =
            attributes.iter().map(|j| self.attributes[*j as usize].place()).collect();
        // Attributes that are words of one column are neighbors.
        columns.dedup();
        columns
    }

    /// Returns the runs of rows that lie in the same page, each with its page.
    fn by_page<'a>(&self, rows: &'a [u32]) -> Vec<(usize, &'a [u32])> {
        let page = |row: u32| self.pages.partition_point(|first| *first <= row) - 1;
        rows.chunk_by(|a, b| page(*a) == page(*b)).map(|run| (page(run[0]), run)).collect()
    }

    /// Reads columns of pages, all in one go.
    fn fetch(&self, pages: &[usize], columns: &[usize], cache: &mut Cache) -> Result<(), ParquetError> {
        let room = |page: &usize| {
            let [first, end] = self.ends(*page);
            columns.iter().map(|_| Vec::with_capacity((end - first) as usize)).collect()
        };
        let mut values: Vec<Vec<Vec<f64>>> = pages.iter().map(room).collect();
        for (file, of_pages, rows) in self.parts(pages) {
            self.files.files[file].read_ranges(columns, &rows, |of, range, cells| {
                let (column, values) = (columns[of], &mut values[of_pages[range]][of]);
                add_numbers(&self.fields, column, self.texts.get(&column), cells, values);
            })?;
        }
        for (&page, values) in pages.iter().zip(values) {
            columns.iter().zip(values).for_each(|(&column, values)| {
                cache.insert((page, column), values);
            });
        }
        Ok(())
    }

    /// Writes the values of some pages: `runs` are rows of one page each, the first of which is at place `at`
    /// of `all` rows.
    fn read_pages(
        &self,
        attributes: &[u32],
        runs: &[(usize, &[u32])],
        (mut at, all): (usize, usize),
        into: &mut [f64],
    ) -> Result<(), ParquetError> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let columns = self.columns(attributes);
        let wanted: Vec<usize> = runs.iter().map(|(page, _)| *page).collect();
        cache.retain(|(page, _), _| wanted.contains(page));
        let held: usize = cache.values().map(Vec::len).sum();
        let rows: usize =
            wanted.iter().map(|page| self.ends(*page)).map(|[first, end]| (end - first) as usize).sum();
        if held + columns.len() * rows > 2 * KEPT {
            cache.clear();
        }
        for (pages, lacking) in together(&wanted, &columns, &cache) {
            self.fetch(&pages, &lacking, &mut cache)?;
        }
        for (page, rows) in runs {
            let [first, _] = self.ends(*page);
            for (c, &j) in attributes.iter().enumerate() {
                let into = &mut into[c * all + at..][..rows.len()];
                let attribute = &self.attributes[j as usize];
                let values = &cache[&(*page, attribute.place())];
                into.iter_mut().zip(*rows).for_each(|(x, row)| *x = values[(row - first) as usize]);
                if let Attribute::Word(_, word) = attribute {
                    let is = |x: f64| if x.is_nan() { x } else { f64::from(u8::from(x == f64::from(*word))) };
                    into.iter_mut().for_each(|x| *x = is(*x));
                }
            }
            at += rows.len();
        }
        Ok(())
    }
}

/// Adds some values of a column as numbers, NaN where one is missing; a column of texts has `texts`.
pub(super) fn add_numbers(
    fields: &Fields,
    column: usize,
    texts: Option<&Texts>,
    cells: Cells<'_>,
    into: &mut Vec<f64>,
) {
    match (texts, cells) {
        (Some(texts), cells) => texts.each_number(fields, cells, |x| into.push(x)),
        (None, Cells::Numbers(numbers)) => {
            let begin = into.len();
            into.extend(numbers.iter().map(parquet::finite));
            fields.blank(column, &mut into[begin..]);
        }
        (None, Cells::Texts(texts)) => into.extend(texts.iter().map(|_| f64::NAN)),
    }
}

/// Returns the pages of which a cache lacks something, those that lack the same columns together.
fn together(pages: &[usize], columns: &[usize], cache: &Cache) -> Vec<(Vec<usize>, Vec<usize>)> {
    let has = |page, column| cache.contains_key(&(page, column));
    let lacking = |page: usize| columns.iter().copied().filter(|&column| !has(page, column)).collect();
    let of_pages: Vec<(usize, Vec<usize>)> = pages.iter().map(|&page| (page, lacking(page))).collect();
    let alike = of_pages.chunk_by(|a, b| a.1 == b.1).filter(|alike| !alike[0].1.is_empty());
    alike.map(|alike| (alike.iter().map(|(page, _)| *page).collect(), alike[0].1.clone())).collect()
}

impl Table for Pages {
    fn dim(&self) -> usize {
        self.dim
    }

    fn read(
        &self,
        attributes: &[u32],
        rows: &[u32],
        into: &mut [f64],
    ) -> Result<ControlFlow<()>, SourceError> {
        let runs = self.by_page(rows);
        // Few pages are in memory at a time, or one.
        let longest = runs.iter().map(|(page, _)| self.ends(*page)).map(|[first, end]| end - first).max();
        let at_once = KEPT / (longest.unwrap_or(1) as usize * attributes.len()).max(1);
        let mut at = 0;
        for some in runs.chunks(at_once.max(1)) {
            match self.read_pages(attributes, some, (at, rows.len()), into) {
                Ok(()) => at += some.iter().map(|(_, run)| run.len()).sum::<usize>(),
                // What was learned so far is kept.
                Err(ParquetError::Allowance { .. }) => return Ok(ControlFlow::Break(())),
                Err(error) => {
                    let (example, message) = (u64::from(some[0].1[0]), error.to_string());
                    return Err(SourceError::Read { example, message });
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn pages(&self) -> Option<&[u32]> {
        Some(&self.pages)
    }

    fn blocks_ahead(&self) -> usize {
        // Where bytes are counted, none is read on a guess.
        if self.most.is_none() && self.files.are_elsewhere() { AHEAD } else { 0 }
    }

    fn expect(&self, next: &[(Vec<u32>, Vec<u32>)]) {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of_files = vec![Vec::new(); self.files.files.len()];
        for (attributes, rows) in next {
            let pages: Vec<usize> = self.by_page(rows).into_iter().map(|(page, _)| page).collect();
            for (pages, columns) in together(&pages, &self.columns(attributes), &cache) {
                for (file, _, rows) in self.parts(&pages) {
                    of_files[file].push((columns.clone(), rows));
                }
            }
        }
        self.files.files.iter().zip(of_files).for_each(|(file, next)| file.expect(&next));
    }

    fn traffic(&self) -> Option<Traffic> {
        let all = self.files.files.iter().map(ParquetFile::traffic);
        let all = all.fold(lao_parquet::Traffic::default(), lao_parquet::Traffic::and);
        let of = self.files.files.iter().map(ParquetFile::size).fold(0, u64::saturating_add);
        Some(Traffic { bytes: all.bytes, of, requests: all.requests, most: self.most })
    }

    fn bytes(&self, attribute: u32) -> Option<f64> {
        let place = self.attributes[attribute as usize].place();
        let bytes: u64 = self.files.files.iter().map(|file| file.bytes_of(place)).sum();
        Some(bytes as f64 / f64::from(self.rows.max(1)))
    }
}
