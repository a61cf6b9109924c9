//! Small tables that are read row by row: prices, and what came of the slots of a study.

use crate::error::Error;
use crate::frame::{number, separator_of};
use lao_datasets::format::Records;

/// A small table of text, with the same grammar as [`Frame`](crate::Frame): the separator is the comma, the
/// semicolon or the tabulator, fields may be quoted, and blank lines are skipped.
///
/// ```
/// let sheet = lao::Sheet::parse(b"slot;CRP\n1;4,5\n", "monday.csv")?;
/// assert_eq!((sheet.rows[1].line, &sheet.rows[1].fields[..]), (2, &["1".to_owned(), "4,5".to_owned()][..]));
/// assert_eq!(sheet.number("4,5"), Some(4.5));
///
/// let refused = lao::Sheet::parse(b"slot,CRP\n1,\"4.5\n2,7\n", "monday.csv").unwrap_err();
/// assert!(refused.to_string().starts_with("monday.csv, line 2: "));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// The rows, the first line among them.
    pub rows: Vec<SheetRow>,
    separator: u8,
}

/// A row of a [`Sheet`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetRow {
    /// The line in which it begins, counted from 1.
    pub line: u64,
    /// Its fields, without the blanks around them.
    pub fields: Vec<String>,
}

impl Sheet {
    /// Reads the text of a table, called `name` in messages.
    ///
    /// # Errors
    /// When the text is no UTF-8, or a quote is not closed; the error names the line.
    pub fn parse(text: &[u8], name: &str) -> Result<Self, Error> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let separator = separator_of(text);
        let (mut records, mut rows) = (Records::new(text, separator), Vec::new());
        while records.read(name)? {
            let line = records.line();
            let fields = records.fields().map(|field| std::str::from_utf8(field).map(str::to_owned));
            let fields = fields.collect::<Result<_, _>>().map_err(|_| not_utf8(name, line))?;
            rows.push(SheetRow { line, fields });
        }
        Ok(Sheet { rows, separator })
    }

    /// Reads a text of one field per line, whatever separators are in it.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_lines(text: &[u8], name: &str) -> Result<Self, Error> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut rows = Vec::new();
        for (line, bytes) in (1..).zip(text.split(|&byte| byte == b'\n')) {
            let field = std::str::from_utf8(bytes).map_err(|_| not_utf8(name, line))?.trim().to_owned();
            rows.push(SheetRow { line, fields: vec![field] });
        }
        Ok(Sheet { rows, separator: b'\n' })
    }

    /// Returns the finite number that a field is. Where commas do not separate fields, one may begin the
    /// decimals.
    pub fn number(&self, field: &str) -> Option<f64> {
        number(field.as_bytes(), if self.separator == b',' { b'.' } else { b',' })
    }
}

fn not_utf8(name: &str, line: u64) -> Error {
    let reason = "this is not UTF-8; save the file as UTF-8".into();
    Error::Table { file: name.into(), line, reason }
}

/// Returns the finite number that a person typed; a point or a comma begins its decimals.
///
/// ```
/// assert_eq!((lao::decimal("4,5"), lao::decimal("4.5 mg")), (Some(4.5), None));
/// ```
pub fn decimal(text: &str) -> Option<f64> {
    number(text.trim().as_bytes(), b',')
}
