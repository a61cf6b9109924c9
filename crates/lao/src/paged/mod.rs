//! Tables in Parquet files of which a run reads the pages that it buys.

mod pages;

use crate::error::Error;
use crate::examples::{Classes, Examples, PagedLabel, PagedParts, Runs};
use crate::frame::parquet::{self, Files, Texts};
use crate::frame::{Fields, Frame, ReadOptions, Reading, Values};
use crate::rewriting::Rewriting;
use lao_parquet::{Allowance, Kind, ParquetError, ParquetFile};
use pages::{Attribute, Pages, add_numbers};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Columns of which the pages are looked up, to see how many rows a page has.
const ASKED: usize = 9;
/// The most rows whose labels are kept in memory, 16 MiB. Those of a longer table are read where they are
/// needed.
const HELD: u64 = 1 << 21;
/// The number of rows from which a page is long: its examples have common looks, of which there are few then.
const LONG: usize = 8192;

/// A table in a Parquet file, or in a folder of them, of which nothing was read but what the footers say.
///
/// Where [`read`](crate::read) reads the table whole, a [`Fit`](crate::Fit) of the examples of this one reads
/// the pages that the learner buys: those of one column in some hundreds of rows. The examples of a page have
/// the same looks. In memory are the learner, a page of each column that is looked at, and the labels of up
/// to two million rows; those of more are read with the pages.
///
/// ```
/// use lao::{Fit, ReadOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("wide.parquet");
/// # let mixed = |x: u32| (x ^ x >> 15).wrapping_mul(0x85eb_ca77);
/// # let value = |i: u32, j: u32| f64::from(mixed(mixed((8191 * j + i + 1).wrapping_mul(0x9e37_79b1))) >> 8);
/// # let column = |j: u32| -> Vec<f64> { (0..20_000).map(|i| value(i, j)).collect() };
/// # let mut columns: Vec<(String, Vec<f64>)> = (0..200).map(|j| (format!("c{j}"), column(j))).collect();
/// # let noise = column(500);
/// # let y = (0..20_000).map(|i| 3.0 * columns[7].1[i] + columns[40].1[i] + noise[i]).collect();
/// # columns.push(("y".into(), y));
/// # let columns: Vec<_> = columns.iter().map(|(name, x)| (&name[..], x.into())).collect();
/// # let writing = lao_parquet::Writing { page: 100, ..Default::default() };
/// # lao_parquet::write(std::fs::File::create(&path)?, "wide", &columns, &writing)?;
/// // let path = "wide.parquet"; // 200 columns and 20,000 rows, in pages of 100 rows
/// let table = lao::open(path, &ReadOptions::default())?;
/// let fitted = Fit::within(10).run(&table.target("y")?)?;
/// assert_eq!(fitted.model.columns(), ["c7", "c40"]);
/// let read = fitted.model.spent.traffic.unwrap();
/// assert!(10 * read.bytes < read.of);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Paged {
    files: Files,
    options: ReadOptions,
    /// The bytes that may be read, if they are limited.
    most: Option<u64>,
    /// The rows whose labels are kept in memory.
    held: u64,
}

/// Opens a Parquet file, or a folder of them, to be read page by page. With the feature `remote` the path may
/// be a URL: `s3://`, `gs://`, `az://` or `abfs://` of an object store, whose credentials are read from the
/// environment, or `https://` of a file on a web server. Of the columns those are attributes
/// that hold numbers or truth values, and those with words that [`ReadOptions::words`] names: their words are
/// known only when the whole column was read.
///
/// # Errors
/// When a file cannot be read, or none is a Parquet file.
pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Paged, Error> {
    open_parts(&[path], options)
}

/// As [`open`], for the files of one table in their order.
///
/// # Errors
/// As [`open`]; and when there is none, or two have different columns.
pub fn open_parts(paths: &[impl AsRef<Path>], options: &ReadOptions) -> Result<Paged, Error> {
    let files = parquet::open_parts(paths)?;
    Ok(Paged { files, options: options.clone(), most: None, held: HELD })
}

/// As [`open`]; `None` if the path is that of another file.
///
/// # Errors
/// As [`open`].
pub fn open_parquet(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Option<Paged>, Error> {
    let files = parquet::open(path.as_ref())?;
    Ok(files.map(|files| Paged { files, options: options.clone(), most: None, held: HELD }))
}

impl Paged {
    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.files.rows()
    }

    /// Returns whether the files are in an object store or on a web server.
    pub fn is_elsewhere(&self) -> bool {
        self.files.are_elsewhere()
    }

    /// Reads at most so many bytes, the footers and the label included. Learning ends when four fifths are
    /// read; the rest is left to measure the error. What was learned until then is kept.
    ///
    /// # Errors
    /// When the footers have more bytes.
    pub fn most_bytes(mut self, most: u64) -> Result<Paged, Error> {
        let allowance = Allowance::of(most);
        let within = |file: ParquetFile| file.within(allowance.clone());
        self.files.files = self.files.files.into_iter().map(within).collect::<Result<_, _>>()?;
        Ok(Paged { most: Some(most), ..self })
    }

    /// Reads the table whole, as [`read_with`](crate::read_with) does.
    ///
    /// # Errors
    /// As [`read_with`](crate::read_with).
    pub fn whole(&self) -> Result<Frame, Error> {
        Frame::of_parquet(&self.files, &self.options)
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.files.columns().len()
    }

    /// Writes the table, a single file, to another one in short pages, of which few need to be read. Types
    /// and names stay as they are, and row groups, unless rows are shuffled.
    ///
    /// # Errors
    /// When there are several files, or one cannot be read or the other not be written, or rows with lists
    /// are to be shuffled.
    pub fn rewrite(&self, to: impl Write + Send, how: Rewriting) -> Result<(), Error> {
        let [file] = &self.files.files[..] else {
            let (path, cause) = (self.files.path.clone(), "a folder; rewrite its files one by one");
            return Err(Error::File { path, cause: io::Error::other(cause) });
        };
        let order = how.order(file.rows());
        Ok(lao_parquet::rewrite(file, to, &how.writing(file.rows()), order.as_deref())?)
    }

    /// Makes examples of the rows, as [`Frame::target`](crate::Frame::target) does. The label is read once.
    ///
    /// # Errors
    /// When there is no such column, or it holds neither numbers nor two words, or no other column can be an
    /// attribute, or there are more than 2^32 rows.
    pub fn target(self, target: &str) -> Result<Examples, Error> {
        self.examples(target, None)
    }

    /// As [`target`](Self::target), for a label of two classes, of which `positive` is the positive one.
    ///
    /// # Errors
    /// As [`target`](Self::target); and when `positive` is no class.
    pub fn target_class(self, target: &str, positive: &str) -> Result<Examples, Error> {
        self.examples(target, Some(positive))
    }

    fn examples(self, target: &str, positive: Option<&str>) -> Result<Examples, Error> {
        let Paged { files, options, most, held } = self;
        let name = files.path.display().to_string();
        let (mut notes, reading) = (Vec::new(), Reading::of(&options));
        let names = files.names(&mut notes);
        let fields = Fields::new(&options, &names, b',', &name)?;
        let of_target = fields.place(target, &names, &name)?;
        let rows = u32::try_from(files.rows()).map_err(|_| {
            let reason = format!("it has {} rows, and 4,294,967,295 is the most", files.rows());
            ParquetError::Damaged { file: name.clone(), reason }
        })?;
        let is_number = matches!(files.columns()[of_target].kind, Kind::Numbers(_));
        let (mut attributes, mut stored, mut with_words) = (Vec::new(), Vec::new(), Vec::new());
        let mut texts = HashMap::new();
        for place in fields.places().filter(|place| *place != of_target) {
            let column = &names[place];
            let numbers = |word: Option<&str>| (column.clone(), word.map(str::to_owned));
            match files.columns()[place].kind {
                Kind::Numbers(_) => {
                    attributes.push(numbers(None));
                    stored.push(Attribute::Stored(place));
                }
                Kind::Truths => {
                    attributes.push(numbers(Some("true")));
                    stored.push(Attribute::Stored(place));
                    texts.insert(place, Texts::truths(place));
                }
                Kind::Texts if fields.must_be_words(place) => {
                    let of_column = Texts::of(place, &parquet::words(&files, &fields, place)?);
                    for (at, word) in of_column.attributes() {
                        attributes.push(numbers(Some(word)));
                        stored.push(Attribute::Word(place, at));
                    }
                    texts.insert(place, of_column);
                }
                Kind::Texts => with_words.push(column.as_str()),
                Kind::Others(why) => notes.push(format!("`{column}` is left out: {why}")),
            }
        }
        if let Some(first) = with_words.first() {
            let more = with_words.len() - 1;
            let others = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!(
                "`{first}`{others}: left out, since the words of a column are known only when it was read \
                 whole (--words {} does it)",
                crate::escape::argument(first)
            ));
        }
        if attributes.is_empty() {
            let reason = "no other column can be an attribute: none has numbers".into();
            return Err(Error::Column { column: target.into(), reason });
        }
        let used: Vec<&str> = attributes.iter().map(|(column, _)| column.as_str()).collect();
        let others = names.iter().filter(|name| !used.contains(&name.as_str())).cloned().collect();
        let mut places: Vec<usize> = stored.iter().map(Attribute::place).collect();
        places.dedup();
        let pages = pages(&files, &places, &mut notes)?;
        let dim = stored.len();
        stored.push(Attribute::Stored(of_target));
        let label = if u64::from(rows) <= held {
            let mut label = parquet::column(&files, &fields, of_target)?;
            if let Values::Numbers(numbers) = &mut label {
                fields.blank(of_target, numbers);
            }
            PagedLabel::Held(label)
        } else {
            let is_text = !is_number || fields.must_be_words(of_target);
            let read = is_text.then(|| parquet::words(&files, &fields, of_target)).transpose()?;
            match read {
                // It is no label, which is said when it is taken for one.
                Some(read @ (Values::TooManyWords(_) | Values::Others(_))) => PagedLabel::Held(read),
                read => {
                    texts.extend(read.map(|read| (of_target, Texts::of(of_target, &read))));
                    let of_label = texts.get(&of_target);
                    let words = of_label.map_or(Vec::new(), |texts| texts.words().to_vec());
                    let (classes, known) = seen(&files, &fields, of_target, of_label)?;
                    PagedLabel::Stored { at: dim as u32, rows: rows as usize, words, classes, known }
                }
            }
        };
        let cache = Mutex::default();
        let table =
            Arc::new(Pages { files, fields, texts, attributes: stored, dim, pages, rows, most, cache });
        let target = target.to_owned();
        let parts = PagedParts { table, name, target, label, attributes, others, notes, reading };
        Examples::of_pages(parts, positive)
    }
}

/// Returns the classes of a label, and the rows that have one, in one pass.
fn seen(
    files: &Files,
    fields: &Fields,
    column: usize,
    texts: Option<&Texts>,
) -> Result<(Classes, Runs), ParquetError> {
    let (mut classes, mut known, mut row, mut labels) = (Classes::default(), Runs::default(), 0, Vec::new());
    files.read(column, |cells| {
        labels.clear();
        add_numbers(fields, column, texts, cells, &mut labels);
        for run in labels.chunk_by(|a, b| a.is_nan() == b.is_nan()) {
            let end = row + run.len() as u32;
            if !run[0].is_nan() {
                known.push(row..end);
                run.iter().for_each(|y| classes.count(*y));
            }
            row = end;
        }
    })?;
    Ok((classes, known))
}

/// Returns the first row of each page, as most of some columns have them.
fn pages(files: &Files, places: &[usize], notes: &mut Vec<String>) -> Result<Vec<u32>, Error> {
    let step = places.len().div_ceil(ASKED).max(1);
    let asked: Vec<usize> = places.iter().copied().step_by(step).collect();
    let (mut first_rows, mut begin, mut unknown) = (Vec::new(), 0u64, false);
    for file in &files.files {
        let mut of_columns = Vec::new();
        for &place in &asked {
            of_columns.extend(file.pages(place)?);
        }
        unknown |= of_columns.is_empty();
        of_columns.sort_by_key(Vec::len);
        let middle = of_columns.len() / 2;
        let of_file = of_columns.get(middle).map_or_else(|| file.row_groups(), |rows| &rows[..]);
        first_rows.extend(of_file.iter().map(|row| (begin + row) as u32));
        begin += file.rows();
    }
    first_rows.dedup();
    let longest = first_rows.windows(2).map(|two| (two[1] - two[0]) as usize).max().unwrap_or(begin as usize);
    let better = "examples that are read together have the same looks, and the more of them there are, the \
                  fewer columns are looked at; `lao data TABLE --rewrite NEW.parquet` writes short pages";
    if unknown {
        notes.push(format!(
            "the table does not say where its pages are (it has no offset index), so that its row groups of \
             up to {longest} rows are read whole: {better}"
        ));
    } else if longest > LONG {
        notes.push(format!("the pages of the table have up to {longest} rows: {better}"));
    }
    Ok(first_rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fit, Model};
    use lao_parquet::{Values, Writing};

    /// A table of 40 columns and of labels of one of them: a number, a class, a word, a text that is mostly a
    /// number; some rows have none.
    fn table(folder: &Path) -> std::path::PathBuf {
        let value = |i: u32, j: u32| f64::from(i.wrapping_mul(2 * j + 977) % 641) / 641.0;
        let column = |j: u32| (0..3000).map(|i| value(i, j)).collect();
        let mut columns: Vec<(String, Vec<f64>)> = (0..40).map(|j| (format!("c{j}"), column(j))).collect();
        let known = |i: u32, y: f64| if i % 211 < 2 { f64::NAN } else { y };
        columns.push(("y".into(), (0..3000).map(|i| known(i, value(i, 8) + 0.1 * value(i, 70))).collect()));
        let class = |i: u32| if value(i, 8) + 0.1 * value(i, 70) > 0.6 { 7.0 } else { 3.0 };
        columns.push(("class".into(), (0..3000).map(|i| known(i, class(i))).collect()));
        let kind = |i: u32| match (class(i) > 5.0, i % 4) {
            (true, 0..3) | (false, 3) => Some("mild"),
            (true, _) => None,
            (false, 0) => Some("none"),
            (false, _) => Some(" grave"),
        };
        let kinds: Vec<_> = (0..3000).map(kind).collect();
        let text = |i: u32| if i.is_multiple_of(7) { "high".into() } else { value(i, 8).to_string() };
        let texts: Vec<String> = (0..3000).map(text).collect();
        let texts: Vec<_> = texts.iter().map(|text| Some(&text[..])).collect();
        let mut columns: Vec<_> = columns.iter().map(|(name, x)| (&name[..], x.into())).collect();
        columns.extend([("kind", Values::Texts(&kinds)), ("text", Values::Texts(&texts))]);
        let path = folder.join("table.parquet");
        let writing = Writing { page: 50, group: 1020, ..Writing::default() };
        lao_parquet::write(std::fs::File::create(&path).unwrap(), "table", &columns, &writing).unwrap();
        path
    }

    #[test]
    fn labels_in_the_table_give_the_model_of_labels_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = table(folder.path());
        let examples = |held: u64, target: &str, missing: &[&str]| {
            let missing = missing.iter().map(|&gap| gap.to_owned()).collect();
            let others = ["y", "class", "kind", "text"].into_iter().filter(|other| *other != target);
            let columns = crate::Pick::Without(others.map(str::to_owned).collect());
            let options = ReadOptions { missing, columns, ..ReadOptions::default() };
            let table = Paged { held, ..open(&path, &options).unwrap() };
            match target {
                "class" => table.target_class(target, "3"),
                "kind" => table.target_class(target, "grave"),
                _ => table.target(target),
            }
            .unwrap()
        };
        let cases: [(&str, &[&str]); 6] = [
            ("y", &[]),
            ("class", &[]),
            ("y", &["y=0.5"]),
            ("kind", &[]),
            ("kind", &["mild"]),
            ("text", &[]),
        ];
        for (target, missing) in cases {
            let [held, stored] = [HELD, 0].map(|held| examples(held, target, missing));
            assert_eq!((held.len(), held.notes()), (stored.len(), stored.notes()));
            assert_eq!(held.labels().unwrap(), stored.labels().unwrap());
            let parts = [&held, &stored].map(|examples| examples.parts().unwrap());
            assert_eq!(parts[0].rows, parts[1].rows);
            let known = |parts: &crate::TableParts| {
                parts.rows.iter().map(|row| parts.labels[*row as usize]).collect::<Vec<_>>()
            };
            assert_eq!(known(&parts[0]), known(&parts[1]));
            for fit in [Fit::within(6), Fit::within(6).in_order(), Fit::within(6).method("hybrid")] {
                let run = |examples| {
                    let fitted = fit.run(examples).unwrap();
                    let mut model: Model = fitted.model;
                    (model.spent.traffic.take(), model.to_json(), fitted.notes)
                };
                let ((less, of_held, notes), (more, of_stored, same)) = (run(&held), run(&stored));
                assert_eq!((of_held, notes), (of_stored, same));
                assert!(less.unwrap().bytes < more.unwrap().bytes);
            }
        }
    }

    #[test]
    fn words_are_read_with_the_pages() {
        let folder = tempfile::tempdir().unwrap();
        let path = table(folder.path());
        let columns = crate::Pick::Without(vec!["y".into(), "text".into()]);
        let options = ReadOptions { words: vec!["kind".into()], columns, ..ReadOptions::default() };
        let whole = crate::read_with(&path, &options).unwrap().target_class("class", "3").unwrap();
        let whole = whole.parts().unwrap();
        for held in [HELD, 0] {
            let table = Paged { held, ..open(&path, &options).unwrap() };
            let parts = table.target_class("class", "3").unwrap().parts().unwrap();
            assert_eq!(parts.names, whole.names);
            let attributes: Vec<u32> = (0..parts.names.len() as u32).collect();
            let rows = [0, 1, 2, 3, 700, 701, 702, 1019, 1020, 2999];
            let mut read = [&parts, &whole].map(|parts| {
                let mut into = vec![-1.0; attributes.len() * rows.len()];
                assert!(parts.table.read(&attributes, &rows, &mut into).unwrap().is_continue());
                into
            });
            assert!(read[0].iter().any(|x| x.is_nan()));
            // A missing value is not equal to itself.
            read.iter_mut().flatten().filter(|x| x.is_nan()).for_each(|x| *x = 9.0);
            assert_eq!(read[0], read[1]);
        }
    }
}
