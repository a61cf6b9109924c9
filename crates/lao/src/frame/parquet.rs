//! Tables in Parquet files: what they hold is read as if it stood in a CSV file.

use super::words::{Numbers, Read, Words};
use super::{Fields, FirstWord, Frame, Made, ReadOptions, Values, notes};
use crate::error::Error;
use crate::frame::Pick;
use lao_parquet::{Cells, Kind, ParquetError, ParquetFile, Unit};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Files of equal columns, whose rows follow one another.
#[derive(Debug)]
pub(crate) struct Files {
    /// The file or the folder.
    pub path: PathBuf,
    pub files: Vec<ParquetFile>,
}

/// Opens a Parquet file, or all such files of a folder in the order of their names, on disk or at a URL;
/// `None` if it is neither.
///
/// # Errors
/// When a file cannot be opened, or has other columns than the first.
pub(crate) fn open(path: &Path) -> Result<Option<Files>, Error> {
    if let Some(url) = url(path) {
        return at_url(url).map(Some);
    }
    let failed = |cause| Error::File { path: path.to_owned(), cause };
    if !path.is_dir() {
        let is_one = path != Path::new("-") && begins_like_one(path).unwrap_or(false);
        let files = is_one.then(|| ParquetFile::open(path)).transpose()?;
        return Ok(files.map(|file| Files { path: path.to_owned(), files: vec![file] }));
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let part = entry.map_err(failed)?.path();
        if part.is_file() && part.extension().is_some_and(|ending| ending == "parquet" || ending == "pq") {
            paths.push(part);
        }
    }
    paths.sort_unstable();
    let mut files: Vec<ParquetFile> = Vec::new();
    for part in &paths {
        files.push(ParquetFile::open(part)?);
    }
    if files.is_empty() {
        let reason = "the folder has no file whose name ends in .parquet";
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, reason)));
    }
    Files::of(path.to_owned(), files).map(Some)
}

/// Opens the files, or folders, of one table.
///
/// # Errors
/// When a file cannot be opened, or has other columns than the first, or there is none.
pub(crate) fn open_parts(paths: &[impl AsRef<Path>]) -> Result<Files, Error> {
    let mut files = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        if url(path).is_none() {
            std::fs::metadata(path).map_err(|cause| Error::File { path: path.to_owned(), cause })?;
        }
        let other = || ParquetError::Damaged {
            file: path.display().to_string(),
            reason: "this is no Parquet file".into(),
        };
        files.extend(open(path)?.ok_or_else(other)?.files);
    }
    let none = || ParquetError::Damaged { file: "the table".into(), reason: "it has no files".into() };
    let first = paths.first().ok_or_else(none)?.as_ref();
    let name = url(first).map_or_else(|| first.to_owned(), |url| lao_parquet::public_url(url).into());
    Files::of(name, files)
}

/// Returns a path that is a URL of a table elsewhere.
pub(crate) fn url(path: &Path) -> Option<&str> {
    let url = path.to_str()?;
    let (scheme, _) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    ["s3", "s3a", "gs", "az", "abfs", "abfss", "http", "https"].contains(&&scheme[..]).then_some(url)
}

#[cfg(feature = "remote")]
fn at_url(url: &str) -> Result<Files, Error> {
    let files = lao_parquet::open_url(url, &[])?;
    Files::of(lao_parquet::public_url(url).into(), files)
}

#[cfg(not(feature = "remote"))]
fn at_url(url: &str) -> Result<Files, Error> {
    let reason = "a table elsewhere is read if lao is built with its feature `remote`";
    let path = lao_parquet::public_url(url).into();
    Err(Error::File { path, cause: io::Error::new(io::ErrorKind::Unsupported, reason) })
}

/// Returns whether a file begins as Parquet files do.
fn begins_like_one(path: &Path) -> io::Result<bool> {
    // A pipe is read once, so nothing is taken from it here.
    if !std::fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut begin = [0; 4];
    File::open(path)?.read_exact(&mut begin)?;
    Ok(begin == *b"PAR1")
}

fn check_columns(first: &ParquetFile, other: &ParquetFile) -> Result<(), ParquetError> {
    let differs = |(a, b): (&lao_parquet::Column, &lao_parquet::Column)| a != b;
    let pairs = first.columns().iter().zip(other.columns());
    let fail = |column: &str, reason: String| {
        Err(ParquetError::Column { file: other.name().to_owned(), column: column.to_owned(), reason })
    };
    if let Some((a, b)) = pairs.clone().find(|pair| differs(*pair)) {
        let own = first.name();
        return match a.name == b.name {
            true => fail(&b.name, format!("it has another type than in {own}; write all files alike")),
            false => fail(&b.name, format!("in {own} `{}` is in its place; write all files alike", a.name)),
        };
    }
    let (some, more) = (first.columns().len(), other.columns().len());
    if some != more {
        let reason = format!("it has {more} columns, and {} has {some}; write all files alike", first.name());
        return Err(ParquetError::Damaged { file: other.name().to_owned(), reason });
    }
    Ok(())
}

impl Files {
    fn of(path: PathBuf, files: Vec<ParquetFile>) -> Result<Self, Error> {
        let mut others = files.iter();
        if let Some(first) = others.next() {
            others.try_for_each(|other| check_columns(first, other))?;
        }
        Ok(Files { path, files })
    }

    /// Returns whether the files are elsewhere, so that a request takes far longer than on a disk.
    pub fn are_elsewhere(&self) -> bool {
        url(&self.path).is_some()
    }

    /// Reads the files, and returns them in memory.
    fn in_memory(&self) -> Result<Self, Error> {
        let files = self.files.iter().map(ParquetFile::in_memory).collect::<Result<_, _>>()?;
        Ok(Files { path: self.path.clone(), files })
    }

    pub fn rows(&self) -> u64 {
        self.files.iter().map(ParquetFile::rows).fold(0, u64::saturating_add)
    }

    /// Returns the columns, which are the same in all files.
    pub fn columns(&self) -> &[lao_parquet::Column] {
        self.files.first().map_or(&[], ParquetFile::columns)
    }

    /// Returns the names of the columns, all different.
    pub fn names(&self, notes: &mut Vec<String>) -> Vec<String> {
        let header: Vec<Vec<u8>> =
            self.columns().iter().map(|column| column.name.clone().into_bytes()).collect();
        notes::names(&header, &header, notes)
    }

    /// Reads a column of all files: of some row groups at a time, since what is fetched at once is in memory
    /// at once.
    pub fn read(&self, column: usize, mut each: impl FnMut(Cells<'_>)) -> Result<(), ParquetError> {
        /// Rows that are enough for as many requests as are made at once.
        const AT_ONCE: u64 = 1 << 20;
        for file in &self.files {
            let mut start = 0;
            for &end in file.row_groups().iter().skip(1).chain([&file.rows()]) {
                if end - start >= AT_ONCE || end == file.rows() {
                    file.read(&[column], start..end, |_, cells| each(cells))?;
                    start = end;
                }
            }
        }
        Ok(())
    }

    /// Returns the SHA-256 hash of all bytes.
    fn hash(&self) -> Result<String, Error> {
        let mut hash = Sha256::new();
        for file in &self.files {
            for bytes in file.bytes() {
                hash.update(&bytes?);
            }
        }
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl Frame {
    /// Reads the columns of Parquet files that the options ask for.
    pub(crate) fn of_parquet(files: &Files, options: &ReadOptions) -> Result<Self, Error> {
        let some = matches!(options.columns, Pick::Only(_));
        let held = (files.are_elsewhere() && !some).then(|| files.in_memory()).transpose()?;
        let files = held.as_ref().unwrap_or(files);
        let name = files.path.display().to_string();
        let mut notes = Vec::new();
        let names = files.names(&mut notes);
        let fields = Fields::new(options, &names, b',', &name)?;
        if files.rows() == 0 {
            let reason = "the table has no rows".into();
            return Err(ParquetError::Damaged { file: name, reason }.into());
        }
        let places: Vec<usize> = fields.places().collect();
        let found: Vec<Found> =
            places.par_iter().map(|&place| found(files, &fields, place)).collect::<Result<_, _>>()?;
        for (&place, found) in places.iter().zip(&found) {
            notes.extend(note_on(&files.columns()[place], &names[place], found.infinite));
        }
        let rows = files.rows() as usize;
        // A few columns are read where few are needed, and not the whole file for its hash.
        let hash = if some { String::new() } else { files.hash()? };
        let (columns, first_words): (Vec<Read>, Vec<_>) =
            found.into_iter().map(|found| (found.read, found.first)).unzip();
        let first_word = |place: usize| {
            places.iter().position(|other| *other == place).and_then(|at| first_words[at].clone())
        };
        // Texts that count as missing were not kept.
        let occurs = |_: &[u8]| true;
        let made = Made { name, hash, names, rows, columns, notes, is_arff: false };
        Ok(Frame::assembled(made, &fields, options, &first_word, &occurs))
    }
}

/// Reads a column of all files.
pub(crate) fn column(files: &Files, fields: &Fields, place: usize) -> Result<Values, ParquetError> {
    Ok(found(files, fields, place)?.read.values)
}

/// Returns a number; an infinite one is missing.
pub(crate) fn finite(x: &f64) -> f64 {
    if x.is_finite() { *x } else { f64::NAN }
}

/// How the fields of a column of texts become numbers.
#[derive(Debug)]
pub(crate) struct Texts {
    place: usize,
    /// The words in their order; none if the column has numbers.
    words: Vec<String>,
    /// A word becomes its place.
    places: HashMap<String, f64>,
}

impl Texts {
    /// Returns how the fields of a column become numbers that was read or [looked through](words).
    pub fn of(place: usize, values: &Values) -> Self {
        let words = values.words().map_or(Vec::new(), |(words, _)| words.to_vec());
        Texts { place, places: words.iter().cloned().zip((0..).map(f64::from)).collect(), words }
    }

    /// Returns how truth values become numbers.
    pub fn truths(place: usize) -> Self {
        Texts::of(place, &Values::Words { words: vec!["false".into(), "true".into()], places: Vec::new() })
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the words that become attributes, and their places: of two words one says all.
    pub fn attributes(&self) -> impl Iterator<Item = (u32, &str)> {
        let one_says_all = usize::from(self.words.len() <= 2);
        (0..).zip(&self.words).skip(one_says_all).map(|(at, word)| (at, word.as_str()))
    }

    /// Tells the numbers, NaN where a field is missing or is none.
    pub fn each_number(&self, fields: &Fields, cells: Cells<'_>, mut each: impl FnMut(f64)) {
        each_text(cells, |text| {
            let number = match text.trim_ascii() {
                text if self.words.is_empty() => fields.number_in(self.place, text),
                text if fields.is_missing(self.place, text) => None,
                text => self.places.get(&*String::from_utf8_lossy(text)).copied(),
            };
            each(number.unwrap_or(f64::NAN));
        });
    }
}

/// Looks through a column for its words, or its numbers, and returns it without its rows.
pub(crate) fn words(files: &Files, fields: &Fields, place: usize) -> Result<Values, ParquetError> {
    if let Kind::Others(why) = files.columns()[place].kind {
        return Ok(Values::Others(why));
    }
    let mut column = Column::of(fields, place);
    files.read(place, |cells| {
        each_text(cells, |text| column.add(text));
        column.forget_rows();
    })?;
    Ok(column.read().0.values)
}

/// Tells the texts of some cells, empty where one is missing.
fn each_text(cells: Cells<'_>, mut each: impl FnMut(&[u8])) {
    match cells {
        Cells::Texts(texts) => {
            texts.iter().for_each(|text| each(text.as_ref().map_or(&[][..], |text| text.data())))
        }
        Cells::Numbers(numbers) => numbers.iter().for_each(|x| match x.is_finite() {
            true => each(x.to_string().as_bytes()),
            false => each(&[]),
        }),
    }
}

/// A column whose texts are looked at as fields of a CSV file are.
struct Column<'a> {
    fields: &'a Fields,
    place: usize,
    numbers: Numbers,
    /// How many fields there were, and how many of them are numbers.
    rows: usize,
    counted: usize,
    /// The words, if they are not too many.
    words: Option<Words>,
    first: Option<FirstWord>,
}

impl<'a> Column<'a> {
    fn of(fields: &'a Fields, place: usize) -> Self {
        let words = Some(Words::at_most(fields.most_words(place)));
        Column { fields, place, numbers: Numbers::default(), rows: 0, counted: 0, words, first: None }
    }

    fn add(&mut self, text: &[u8]) {
        let Column { fields, place, numbers, rows, counted, words, first } = self;
        let field = text.trim_ascii();
        let (value, missing) = (fields.number_in(*place, field), fields.is_missing(*place, field));
        *rows += 1;
        if value.is_none() && !missing {
            numbers.odd += 1;
            let word = || String::from_utf8_lossy(field).into_owned();
            first.get_or_insert_with(|| FirstWord { at: format!("row {rows}"), word: word() });
        }
        *counted += usize::from(value.is_some());
        numbers.values.push(value.unwrap_or(f64::NAN));
        if words.as_mut().is_some_and(|words| !words.add(field, missing)) {
            *words = None;
        }
    }

    fn forget_rows(&mut self) {
        self.numbers.values.clear();
        if let Some(words) = &mut self.words {
            words.forget_rows();
        }
    }

    fn read(self) -> (Read, Option<FirstWord>) {
        let has_words = self.fields.has_words(self.place, self.counted, self.numbers.odd);
        (Read::of(self.numbers, has_words.then_some(self.words)), self.first)
    }
}

/// A column that was found.
struct Found {
    read: Read,
    first: Option<FirstWord>,
    /// How many numbers were infinite.
    infinite: usize,
}

fn found(files: &Files, fields: &Fields, place: usize) -> Result<Found, ParquetError> {
    if let Kind::Others(why) = files.columns()[place].kind {
        let read = Read { values: Values::Others(why), odd: 0, mark: None };
        return Ok(Found { read, first: None, infinite: 0 });
    }
    let is_number = matches!(files.columns()[place].kind, Kind::Numbers(_));
    let mut infinite = 0;
    if is_number && !fields.must_be_words(place) {
        let mut numbers = Vec::new();
        files.read(place, |cells| {
            if let Cells::Numbers(some) = cells {
                infinite += some.iter().filter(|x| x.is_infinite()).count();
                numbers.extend(some.iter().map(finite));
            }
        })?;
        let read = Read { values: Values::Numbers(numbers), odd: 0, mark: None };
        return Ok(Found { read, first: None, infinite });
    }
    let mut column = Column::of(fields, place);
    files.read(place, |cells| {
        if let Cells::Numbers(some) = cells {
            infinite += some.iter().filter(|x| x.is_infinite()).count();
        }
        each_text(cells, |text| column.add(text));
    })?;
    let (read, first) = column.read();
    Ok(Found { read, first, infinite })
}

/// Returns what is to be said of a column that was read.
fn note_on(column: &lao_parquet::Column, name: &str, infinite: usize) -> Vec<String> {
    let unit = match column.kind {
        Kind::Numbers(Unit::Days) => Some(format!("`{name}` has dates: they are days since 1970-01-01")),
        Kind::Numbers(Unit::Seconds) => {
            Some(format!("`{name}` has times: they are seconds, of timestamps since 1970-01-01"))
        }
        _ => None,
    };
    let of_infinite = match infinite {
        0 => None,
        1 => Some(format!("`{name}`: 1 value is infinite, and counts as missing")),
        _ => Some(format!("`{name}`: {infinite} values are infinite, and count as missing")),
    };
    unit.into_iter().chain(of_infinite).collect()
}
