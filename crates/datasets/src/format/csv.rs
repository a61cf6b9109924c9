//! CSV: one row of numbers per line, of which one is the label.
//!
//! Quoted fields and every kind of line end are understood; blank lines are skipped. Blanks around a field
//! are left out, and so is the mark that some programs write before UTF-8.
//!
//! The bytes of a file do not show whether it has a header. [`CsvOptions::header`] states it, and the reader
//! refuses a header that looks like a row of data: all its fields are numbers (or empty), and no column is
//! asked for by name.

use super::archive::{Opening, Part, open};
use super::error::{At, FormatError, ReadProblem, shown};
use super::number;
use super::record::Records;
use super::table::{DenseTable, require_rows};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

/// A column of a CSV file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Column {
    /// By index, from 0.
    Index(usize),
    /// By its name in the header.
    Name(String),
    /// By position from the end: `{ last = 0 }` is the last column.
    FromEnd {
        /// Columns after it.
        last: usize,
    },
}

/// The options of a CSV file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CsvOptions {
    /// Whether the first row has names. The default is true; a first row of numbers is then an error.
    #[serde(default = "yes")]
    pub header: bool,
    /// The column of the label. The default is the last column.
    #[serde(default = "last_column")]
    pub target: Column,
    /// The columns to leave out.
    #[serde(default)]
    pub drop: Vec<Column>,
    /// The column whose text names the row's group. It is not a feature.
    #[serde(default)]
    pub group: Option<Column>,
    /// The separator: an ASCII character that does not occur in numbers. The default is `,`.
    #[serde(default = "comma")]
    pub delimiter: char,
}

fn yes() -> bool {
    true
}

fn last_column() -> Column {
    Column::FromEnd { last: 0 }
}

fn comma() -> char {
    ','
}

/// Returns whether a delimiter cannot be part of a number, a quote or a line end.
fn allowed_delimiter(delimiter: char) -> bool {
    delimiter.is_ascii()
        && !delimiter.is_ascii_alphanumeric()
        && !matches!(delimiter, '"' | '\n' | '\r' | '.' | '+' | '-' | '\0')
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self { header: yes(), target: last_column(), drop: Vec::new(), group: None, delimiter: comma() }
    }
}

/// One row of a CSV file, borrowed from the reader.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DenseRow<'a> {
    /// The label.
    pub label: f64,
    /// One value per feature column, in file order.
    pub values: &'a [f64],
    /// The number of the row's group, in the order of first appearance.
    pub group: Option<u32>,
}

/// The use of each column of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Layout {
    fields: usize,
    target: usize,
    group: Option<usize>,
    features: Vec<usize>,
}

/// A reader of rows, one at a time, into a buffer that it keeps.
pub struct CsvReader<R> {
    name: String,
    records: Records<R>,
    options: CsvOptions,
    names: Option<Vec<String>>,
    layout: Option<Layout>,
    groups: HashMap<Vec<u8>, u32>,
    values: Vec<f64>,
}

impl<R: Read> CsvReader<R> {
    /// Returns a reader of `input`, called `name` in messages.
    pub fn new(input: R, name: &str, options: CsvOptions) -> Self {
        // A delimiter that is not allowed is refused by `plan`, before the first row.
        let delimiter = if allowed_delimiter(options.delimiter) { options.delimiter } else { comma() };
        Self {
            name: name.to_owned(),
            records: Records::new(input, delimiter as u8),
            options,
            names: None,
            layout: None,
            groups: HashMap::new(),
            values: Vec::new(),
        }
    }

    /// Returns the next row, or `None` at the end.
    pub fn next_row(&mut self) -> Result<Option<DenseRow<'_>>, FormatError> {
        if self.layout.is_none() && self.options.header {
            if !self.records.read(&self.name)? {
                return Ok(None);
            }
            self.check_header()?;
            let name = |field| String::from_utf8_lossy(field).into_owned();
            self.names = Some(self.records.fields().map(name).collect());
            self.layout = Some(self.plan()?);
        }
        if !self.records.read(&self.name)? {
            return Ok(None);
        }
        let layout = match self.layout.take() {
            Some(layout) => layout,
            None => self.plan()?,
        };
        let row = self.parse(&layout);
        self.layout = Some(layout);
        let (label, group) = row?;
        Ok(Some(DenseRow { label, values: &self.values, group }))
    }

    /// Returns the names of the feature columns, once the header has been read.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        let (names, layout) = (self.names.as_ref()?, self.layout.as_ref()?);
        Some(layout.features.iter().map(|&j| names[j].clone()).collect())
    }

    /// Refuses a header that looks like a row of data, unless the options name its columns.
    fn check_header(&self) -> Result<(), FormatError> {
        let CsvOptions { target, drop, group, .. } = &self.options;
        let known = [target].into_iter().chain(drop).chain(group).any(|c| matches!(c, Column::Name(_)));
        let is_number = |field: &[u8]| number::parse(field).is_some();
        let data = self.records.fields().all(|field| field.is_empty() || is_number(field))
            && self.records.fields().any(is_number);
        if self.records.holds_nul() {
            return Err(self.fail(ReadProblem::NotText));
        }
        if data && !known {
            let first: Vec<String> = self.records.fields().take(4).map(shown).collect();
            let more = if self.records.width() > first.len() { ", ..." } else { "" };
            return Err(
                self.fail(ReadProblem::NumericHeader { fields: format!("{}{more}", first.join(", ")) })
            );
        }
        Ok(())
    }

    fn parse(&mut self, layout: &Layout) -> Result<(f64, Option<u32>), FormatError> {
        let found = self.records.width();
        if found != layout.fields {
            return Err(self.fail(ReadProblem::Ragged { expected: layout.fields, found }));
        }
        if self.records.field(layout.target).is_empty() {
            return Err(self.fail(ReadProblem::LabelMissing { value: String::new() }));
        }
        let label = self.number(layout.target)?;
        self.values.clear();
        for &j in &layout.features {
            let value = self.number(j)?;
            self.values.push(value);
        }
        let group = layout.group.map(|j| {
            let fresh = self.groups.len() as u32;
            let text = self.records.field(j);
            match self.groups.get(text) {
                Some(&known) => known,
                None => *self.groups.entry(text.to_owned()).or_insert(fresh),
            }
        });
        Ok((label, group))
    }

    fn number(&self, j: usize) -> Result<f64, FormatError> {
        let text = self.records.field(j);
        match number::parse(text) {
            Some(value) if value.is_finite() => Ok(value),
            Some(_) => Err(self.fail(ReadProblem::NotFinite { field: self.field(j), value: shown(text) })),
            None => Err(self.fail(ReadProblem::NotANumber { field: self.field(j), value: shown(text) })),
        }
    }

    fn field(&self, j: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(j)) {
            Some(name) => format!("column {j} (`{}`)", shown(name.as_bytes())),
            None => format!("column {j}"),
        }
    }

    fn fail(&self, problem: ReadProblem) -> FormatError {
        // In a row that is refused, a NUL byte says more than what it led to.
        let problem = if self.records.holds_nul() { ReadProblem::NotText } else { problem };
        FormatError::new(&self.name, At::Line(self.records.line()), problem)
    }

    fn plan(&self) -> Result<Layout, FormatError> {
        if !allowed_delimiter(self.options.delimiter) {
            return Err(self.fail(ReadProblem::Delimiter { value: self.options.delimiter }));
        }
        let fields = self.records.width();
        let find = |column: &Column| self.find(column, fields).map_err(|problem| self.fail(problem));
        let target = find(&self.options.target)?;
        let group = self.options.group.as_ref().map(find).transpose()?;
        let mut feature = vec![true; fields];
        for j in [target].into_iter().chain(group) {
            feature[j] = false;
        }
        for column in &self.options.drop {
            feature[find(column)?] = false;
        }
        let features: Vec<usize> = (0..fields).filter(|&j| feature[j]).collect();
        if features.is_empty() {
            return Err(self.fail(ReadProblem::NoFeatures { columns: fields }));
        }
        Ok(Layout { fields, target, group, features })
    }

    fn find(&self, column: &Column, fields: usize) -> Result<usize, ReadProblem> {
        let last = fields.saturating_sub(1);
        match (column, &self.names) {
            (Column::Index(index), _) if *index < fields => Ok(*index),
            (Column::Index(index), _) => Err(ReadProblem::ColumnIndex { index: *index, last }),
            (Column::FromEnd { last: back }, _) => {
                last.checked_sub(*back).ok_or(ReadProblem::ColumnIndex { index: *back, last })
            }
            (Column::Name(name), None) => Err(ReadProblem::NoHeader { name: name.clone() }),
            (Column::Name(name), Some(names)) => {
                let hits: Vec<usize> = (0..names.len()).filter(|j| names[*j] == *name).collect();
                match hits.as_slice() {
                    [only] => Ok(*only),
                    _ => {
                        let (name, times) = (name.clone(), hits.len());
                        let first: Vec<&str> = names.iter().take(40).map(String::as_str).collect();
                        let columns = shown(first.join(", ").as_bytes());
                        Err(ReadProblem::ColumnName { name, times, columns })
                    }
                }
            }
        }
    }
}

/// Returns a CSV file in memory; the members of an archive are joined in name order and must agree in their
/// columns.
///
/// ```
/// use lao_datasets::format::Opening;
/// use lao_datasets::format::csv::{Column, CsvOptions, read_csv};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("trial.csv");
/// # std::fs::write(&path, "effect,age,dose\n3,61,0.5\n4,48,1.5\n")?;
///
/// // trial.csv: effect,age,dose / 3,61,0.5 / 4,48,1.5
/// let options = CsvOptions { target: Column::Name("effect".into()), ..CsvOptions::default() };
/// let table = read_csv(&path, &Opening::default(), &options)?;
/// assert_eq!((table.rows(), table.columns()), (2, 2));
/// assert_eq!((table.column(1), &table.labels[..]), (&[0.5, 1.5][..], &[3.0, 4.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_csv(path: &Path, opening: &Opening, options: &CsvOptions) -> Result<DenseTable, FormatError> {
    read_parts(open(path, opening)?, &path.display().to_string(), options)
}

/// Returns the same table from open streams; `file` is their source.
pub(crate) fn read_parts(
    parts: Vec<Part>,
    file: &str,
    options: &CsvOptions,
) -> Result<DenseTable, FormatError> {
    let mut values = Vec::new();
    let mut labels = Vec::new();
    let mut groups = Vec::new();
    let mut names = None;
    let mut known_groups = HashMap::new();
    let mut width = None;
    for part in parts {
        let name = part.name.clone();
        let mut reader = CsvReader::new(part.reader(), &name, options.clone());
        reader.groups = std::mem::take(&mut known_groups);
        while let Some(row) = reader.next_row()? {
            values.extend_from_slice(row.values);
            labels.push(row.label);
            groups.extend(row.group);
            let found = row.values.len();
            if *width.get_or_insert(found) != found {
                let expected = width.unwrap_or(found);
                return Err(reader.fail(ReadProblem::Ragged { expected, found }));
            }
        }
        names = names.or_else(|| reader.feature_names());
        known_groups = reader.groups;
    }
    require_rows(labels.len(), file)?;
    let columns = width.unwrap_or(0);
    let mut table = DenseTable::of_rows(columns, values, labels);
    table.names = names;
    table.groups = options.group.is_some().then_some(groups);
    Ok(table)
}
