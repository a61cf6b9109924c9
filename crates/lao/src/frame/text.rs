//! What comes before the rows: the encoding of the text, and lines that are not of the table.

use crate::error::Error;
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use std::borrow::Cow;

/// A text in UTF-8 whose first line that is not blank is the header, or the first row.
pub(super) struct Text<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// The separator, if the text names it.
    pub separator: Option<u8>,
    /// The names of the columns, if they are not in the first line.
    pub names: Vec<String>,
    /// Whether it is ARFF, in which `?` is a missing value.
    pub is_arff: bool,
    pub notes: Vec<String>,
}

/// Decodes a text.
///
/// # Errors
/// When the encoding is unknown, or there are bytes that it does not have; the error names the first line of
/// them.
pub(super) fn decoded<'a>(
    text: &'a [u8],
    encoding: Option<&str>,
    file: &str,
) -> Result<Cow<'a, [u8]>, Error> {
    let refused = |at: usize, bytes: &[u8], said: String| {
        let line = 1 + bytes[..at.min(bytes.len())].iter().filter(|&&byte| byte == b'\n').count() as u64;
        Err(Error::Table { file: file.to_owned(), line, reason: said })
    };
    let marked = [(UTF_16LE, b"\xff\xfe"), (UTF_16BE, b"\xfe\xff")];
    let marked = marked.into_iter().find(|(_, mark)| text.starts_with(*mark)).map(|(encoding, _)| encoding);
    let given = match encoding {
        Some(label) => Some(Encoding::for_label(label.as_bytes()).ok_or_else(|| {
            let allowed =
                "give a name such as utf-8, windows-1252, iso-8859-1, windows-1251, gbk or utf-16le";
            Error::Choice { what: "encoding", value: label.into(), allowed: allowed.into() }
        })?),
        None => None,
    };
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if let Some(encoding) = given.or(marked).filter(|encoding| *encoding != encoding_rs::UTF_8) {
        let (decoded, _, damaged) = encoding.decode(text);
        if damaged {
            let at = decoded.find('\u{fffd}').unwrap_or(0);
            let said =
                format!("here are bytes that {} does not have; give another --encoding", encoding.name());
            return refused(at, decoded.as_bytes(), said);
        }
        return Ok(Cow::Owned(decoded.into_owned().into_bytes()));
    }
    if let Err(error) = std::str::from_utf8(text) {
        let at = error.valid_up_to();
        let said = format!(
            "byte {:#04x} is no UTF-8; give the encoding, such as --encoding windows-1252 for files of \
             Windows in Western Europe, or save the table as UTF-8",
            text[at]
        );
        return refused(at, text, said);
    }
    Ok(Cow::Borrowed(text))
}

/// Looks for what is not of the table at the beginning of a text: the line `sep=;` of spreadsheets, comments,
/// and the header of ARFF. Such lines are left empty, so that the numbers of the others stay.
pub(super) fn opened<'a>(bytes: Cow<'a, [u8]>, file: &str) -> Result<Text<'a>, Error> {
    let mut text = Text { bytes, separator: None, names: Vec::new(), is_arff: false, notes: Vec::new() };
    let magic: [(&[u8], &str); 3] =
        [(b"PAR1", "a Parquet file"), (b"%PDF", "a PDF file"), (b"\x89HDF", "an HDF5 file")];
    if let Some((_, what)) = magic.iter().find(|(magic, _)| text.bytes.starts_with(magic)) {
        let reason = format!("this is {what}; save the table as CSV, for example by pandas or DuckDB");
        return Err(Error::Table { file: file.to_owned(), line: 1, reason });
    }
    let is_arff = |line: &[u8]| starts_with(line, b"@relation");
    let first = text.bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = first.filter(|line| !line.is_empty() && !line.starts_with(b"%")).take(1).collect::<Vec<_>>();
    if first.iter().any(|line| is_arff(line)) {
        return arff(text, file);
    }
    let mut skipped = 0;
    let mut blank = Vec::new();
    let mut at = 0;
    for line in text.bytes.split_inclusive(|&byte| byte == b'\n') {
        let content = line.trim_ascii();
        let excel =
            content.strip_prefix(b"sep=").and_then(|rest| rest.first().copied().filter(|_| rest.len() == 1));
        let comment = content.starts_with(b"#") && !content.iter().any(|byte| b",;\t|".contains(byte));
        match excel {
            Some(separator) if at == 0 => text.separator = Some(separator),
            _ if comment => skipped += 1,
            _ if content.is_empty() => {}
            _ => break,
        }
        blank.push(at..at + line.len());
        at += line.len();
    }
    if text.separator.is_some() || skipped > 0 {
        let bytes = text.bytes.to_mut();
        blank.into_iter().flatten().for_each(|at| {
            if bytes[at] != b'\n' {
                bytes[at] = b'\r';
            }
        });
    }
    if skipped > 0 {
        text.notes.push(format!("skipped {skipped} lines that begin with #"));
    }
    Ok(text)
}

fn starts_with(line: &[u8], word: &[u8]) -> bool {
    line.len() >= word.len() && line[..word.len()].eq_ignore_ascii_case(word)
}

/// Takes the names from the header of ARFF, and leaves the rows.
fn arff<'a>(mut text: Text<'a>, file: &str) -> Result<Text<'a>, Error> {
    let mut in_data = false;
    let mut rows = Vec::with_capacity(text.bytes.len());
    for (line, number) in text.bytes.split_inclusive(|&byte| byte == b'\n').zip(1..) {
        let content = line.trim_ascii();
        if in_data && !content.starts_with(b"%") {
            if content.starts_with(b"{") {
                let reason = "this is sparse ARFF; save the table as CSV, or as dense ARFF (Weka's filter \
                              SparseToNonSparse)"
                    .into();
                return Err(Error::Table { file: file.to_owned(), line: number, reason });
            }
            arff_row(line, &mut rows);
            continue;
        }
        if starts_with(content, b"@attribute") {
            let rest = String::from_utf8_lossy(&content[b"@attribute".len()..]).trim().to_owned();
            let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let name = match quote {
                Some(quote) => rest[1..].split(quote).next(),
                None => rest.split_whitespace().next(),
            };
            text.names.push(name.unwrap_or_default().to_owned());
        }
        in_data |= starts_with(content, b"@data");
        rows.extend(line.iter().filter(|byte| **byte == b'\n'));
    }
    text.notes.push("read as ARFF: the names come from its header".into());
    Ok(Text { bytes: Cow::Owned(rows), separator: Some(b','), is_arff: true, ..text })
}

/// Appends a row of ARFF as one of CSV. A field that begins with a quote of either kind ends with the next
/// one of that kind; a backslash escapes the byte that follows.
fn arff_row(line: &[u8], rows: &mut Vec<u8>) {
    let (mut quote, mut begins, mut is_closed) = (None, true, false);
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => match bytes.next() {
                Some(b'"') => rows.extend(b"\"\""),
                // The end of a line inside a field is a blank, so that lines keep their numbers.
                Some(b'n' | b'r' | b't') => rows.push(b' '),
                Some(escaped) => rows.push(escaped),
                None => {}
            },
            (Some(open), _) if byte == open => {
                (quote, is_closed) = (None, true);
                rows.push(b'"');
            }
            (Some(_), b'"') => rows.extend(b"\"\""),
            (Some(_), _) => rows.push(byte),
            (None, b'\'' | b'"') if begins => {
                quote = Some(byte);
                begins = false;
                rows.push(b'"');
            }
            (None, b' ' | b'\t') if begins || is_closed => {}
            (None, _) => {
                begins = byte == b',';
                is_closed = false;
                rows.push(byte);
            }
        }
    }
}
