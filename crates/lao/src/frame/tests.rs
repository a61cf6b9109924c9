use super::*;
use proptest::prelude::*;

/// A cell of the twin: a number, no value, or a word.
type Cell = Result<Option<f64>, String>;

/// Returns the columns as the `csv` crate alone reads them, row by row, or the place of a ragged row, or
/// of the line ends before it.
fn twin(text: &str, separator: u8, skip: usize) -> Result<Vec<Vec<Cell>>, usize> {
    let (mut columns, mut width) = (Vec::new(), None);
    let mut records = csv::ReaderBuilder::new();
    let records = records.has_headers(false).flexible(true).delimiter(separator).from_reader(text.as_bytes());
    // A line of blanks is no row.
    let blank = |record: &csv::ByteRecord| record.len() == 1 && record[0].trim_ascii().is_empty();
    let records = records.into_byte_records().map(Result::unwrap).filter(|record| !blank(record));
    for (row, record) in records.enumerate() {
        let width = *width.get_or_insert(record.len());
        columns.resize(width, Vec::new());
        if row < skip {
            continue;
        }
        if record.len() != width {
            return Err(record.position().unwrap().byte() as usize);
        }
        for (field, column) in record.iter().zip(&mut columns) {
            let field = std::str::from_utf8(field).unwrap().trim_ascii();
            let numeric = !field.starts_with(char::is_alphabetic);
            let number = field.parse().ok().filter(|x: &f64| numeric && x.is_finite());
            let missing = fields::MISSING.contains(&field.as_bytes());
            column.push(if missing { Ok(None) } else { number.map(Some).ok_or(field.to_owned()) });
        }
    }
    Ok(columns)
}

/// Returns whether a column holds what the twin has read, to the bit.
fn agree(values: &Values, cells: &[Cell]) -> bool {
    let mut words: Vec<&String> = cells.iter().filter_map(|cell| cell.as_ref().err()).collect();
    let numbers = cells.iter().filter(|cell| matches!(cell, Ok(Some(_)))).count();
    if words.len() <= numbers || words.is_empty() {
        // What is no number is missing among as many numbers.
        let bits = |cell: &Cell| cell.as_ref().ok().copied().flatten().unwrap_or(f64::NAN).to_bits();
        return matches!(values, Values::Numbers(numbers)
            if numbers.iter().map(|x| x.to_bits()).eq(cells.iter().map(bits)));
    }
    // In a column of words, numbers are words, too: only gaps and words are compared here.
    words.sort_unstable();
    words.dedup();
    match values {
        Values::Words { words: found, places } => {
            let word = |&place: &u32| found.get(place as usize);
            let same = |(word, cell): (Option<&String>, &Cell)| match cell {
                Ok(None) => word.is_none(),
                Ok(Some(number)) => word.is_some_and(|word| word.parse() == Ok(*number)),
                Err(other) => word == Some(other),
            };
            places.len() == cells.len()
                && found.is_sorted()
                && words.iter().all(|word| found.contains(word))
                && places.iter().map(word).zip(cells).all(same)
        }
        Values::TooManyWords(first) => {
            let first = first.as_ref().map(|first| &first.word);
            cells.len() > MOST_WORDS && first == cells.iter().find_map(|cell| cell.as_ref().err())
        }
        Values::Numbers(_) | Values::Others(_) => false,
    }
}

/// Returns the rows of a table whose first row has a field more than the header has names.
fn wider_rows(body: &str, separator: u8) -> Option<&str> {
    let mut records = csv::ReaderBuilder::new();
    records.has_headers(false).flexible(true).delimiter(separator);
    let blank = |record: &csv::ByteRecord| record.len() == 1 && record[0].trim_ascii().is_empty();
    let records = records.from_reader(body.as_bytes()).into_byte_records().map(Result::unwrap);
    let mut records = records.filter(|record| !blank(record));
    let (header, first) = (records.next()?, records.next()?);
    (first.len() == header.len() + 1).then(|| &body[first.position().unwrap().byte() as usize..])
}

fn check(text: &str, header: Header, separator: Option<u8>, part: usize) {
    let read = Frame::parse_parts(
        text.as_bytes(),
        "t",
        &ReadOptions { header, separator, ..ReadOptions::default() },
        part,
    );
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let separator = separator.unwrap_or_else(|| separator_of(body.as_bytes()));
    match read {
        Ok(frame) => {
            let named =
                header == Header::Yes || frame.names().zip(1..).any(|(name, c)| name != format!("c{c}"));
            let cells = twin(body, separator, usize::from(named)).unwrap_or_else(|_| {
                let rows = wider_rows(body, separator).unwrap_or_else(|| panic!("{body:?}"));
                twin(rows, separator, 0).unwrap()
            });
            if frame.columns.len() == 1 && frame.rows != cells[0].len() {
                // An empty line of a table of one column is a row.
                assert!(frame.rows > cells[0].len() && body.contains("\n"), "{body:?}");
                return;
            }
            assert_eq!((frame.columns.len(), frame.rows), (cells.len(), cells[0].len()));
            assert_eq!(frame.hash, format!("{:064x}", Digits(&Sha256::digest(body))));
            for (column, cells) in frame.columns.iter().zip(&cells) {
                assert!(agree(&column.values, cells), "{:?} {cells:?}", column.values);
            }
        }
        Err(Error::Table { reason, .. })
            if reason.contains("fields, but") && wider_rows(body, separator).is_some() => {}
        Err(Error::Table { line, reason, .. }) if reason.contains("fields, but") => {
            let start = twin(body, separator, 0).unwrap_err();
            let row = body[start..].trim_start_matches(['\r', '\n']);
            let before = body.strip_suffix(row).unwrap();
            // A carriage return alone ends a line, too.
            let ends = before.replace("\r\n", "\n").replace('\r', "\n").matches('\n').count() as u64;
            assert_eq!(line, 1 + ends, "{body:?}");
        }
        // What the `csv` crate reads somehow is refused.
        Err(Error::Format(error)) => {
            assert!(body.contains('"') && error.to_string().contains("quote"), "{error}")
        }
        Err(Error::Table { line, reason, .. }) if reason.contains("value 0") => {
            let before = body.split('\0').next().unwrap();
            assert_eq!(line, 1 + before.matches('\n').count() as u64);
        }
        Err(Error::Table { reason, .. }) => {
            let known = ["empty", "no rows"].iter().any(|part| reason.contains(part));
            assert!(known && !body.contains('\0'), "{reason}");
        }
        Err(error) => panic!("{error}"),
    }
}

struct Digits<'a>(&'a [u8]);

impl std::fmt::LowerHex for Digits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Fields as they occur, and as they should not.
fn fields() -> impl Strategy<Value = String> {
    const ODD: [&str; 27] = [
        "",
        "NA",
        "?",
        "nan",
        "inf",
        "1e5",
        "-1E-3",
        "1e999",
        "+7",
        "-",
        ".",
        "-.5",
        "5.",
        "1.2.3",
        " 4 ",
        "\t2",
        "a",
        "b c",
        "ä",
        "\"q\"",
        "\"x,\ny\"",
        "\"1\"",
        "1\"",
        "-0",
        "12345678901234567890",
        "9007199254740993",
        "0.1234567890123456789",
    ];
    prop_oneof![
        4 => (-999i32..999).prop_map(|x| x.to_string()),
        4 => (-9999i32..9999).prop_map(|x| (f64::from(x) / 128.0).to_string()),
        3 => proptest::sample::select(&ODD[..]).prop_map(str::to_owned),
    ]
}

/// Separators as they occur, and bytes that mean something else in a table.
fn separators() -> impl Strategy<Value = Option<u8>> {
    prop_oneof![
        1 => Just(None),
        4 => proptest::sample::select(&b",;\t| :"[..]).prop_map(Some),
        2 => proptest::sample::select(&b"10-+.eEnNa?"[..]).prop_map(Some),
    ]
}

fn ends() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&["\n", "\n", "\r\n", "\r", "\n\n"][..])
}

/// Parts of a text, in any order.
fn pieces() -> impl Strategy<Value = &'static str> {
    const PIECES: [&str; 15] =
        ["1", "2.5", ",", ",", "\n", "\n", "\r", "\"", " ", "a", "NA", "-", ";", "\0", "\u{feff}"];
    proptest::sample::select(&PIECES[..])
}

fn headers() -> impl Strategy<Value = Header> {
    proptest::sample::select(&[Header::Auto, Header::Yes, Header::No][..])
}

proptest! {
    #[test]
    fn tables_are_what_the_csv_crate_reads_whatever_the_parts(
        width in 1..5usize,
        fields in proptest::collection::vec(fields(), 0..240),
        ends in proptest::collection::vec(ends(), 60),
        (names, last, ragged) in (any::<bool>(), any::<bool>(), 0..400usize),
        header in headers(),
        separator in separators(),
        part in 0..200usize,
    ) {
        let between = separator.map_or(",".into(), |byte| char::from(byte).to_string());
        let mut text = String::new();
        if names {
            text = (0..width).map(|c| format!("n{c}")).collect::<Vec<_>>().join(&between) + "\n";
        }
        for (row, end) in fields.chunks_exact(width).zip(ends.iter().cycle()) {
            text += &row.join(&between);
            text += end;
        }
        if last { text.truncate(text.trim_end().len()) }
        // At one place there may be a separator too many.
        if text.is_char_boundary(ragged) { text.insert_str(ragged, &between) }
        check(&text, header, separator, part);
    }

    #[test]
    fn any_text_is_read_as_the_csv_crate_reads_it(
        pieces in proptest::collection::vec(pieces(), 0..40),
        header in headers(),
        part in 0..12usize,
    ) {
        check(&pieces.concat(), header, Some(b','), part);
    }

    #[test]
    fn short_decimals_have_the_bits_of_the_standard_library(
        text in "[-+]?[0-9]{0,21}([.][0-9]{0,21})?",
        double in any::<f64>(),
        digits in 0..=1u64 << 54,
        point in 0..20usize,
    ) {
        let mut decimal = digits.to_string();
        decimal.insert(decimal.len().saturating_sub(point), '.');
        let (long, scientific, short) =
            (double.to_string(), format!("{double:e}"), format!("{:.3}", double % 1e6));
        for text in [text, decimal, long, scientific, short] {
            let read = plain::value(text.as_bytes());
            let told = text.parse().ok().filter(|x: &f64| x.is_finite());
            prop_assert_eq!(read.map(f64::to_bits), told.map(f64::to_bits), "{}", text);
        }
    }
}

#[test]
fn a_separator_that_a_number_contains_separates_numbers() {
    for separator in *b"0123456789+-.eE" {
        let [one, two] = if b"56".contains(&separator) { ["2", "3"] } else { ["5", "6"] };
        let row = format!("{one}{}{two}\n", char::from(separator));
        check(&row.repeat(3), Header::No, Some(separator), 0);
        let options =
            ReadOptions { header: Header::No, separator: Some(separator), ..ReadOptions::default() };
        let frame = Frame::parse(row.as_bytes(), "t", &options).unwrap();
        assert_eq!(frame.columns.len(), 2, "{row}");
        let ragged = Frame::parse(format!("{one}\n{row}").as_bytes(), "t", &options);
        assert!(matches!(ragged, Err(Error::Table { line: 2, .. })), "{row}");
    }
}

#[test]
fn empty_lines_count_as_lines() {
    for (text, ragged) in
        [("a,b\n1,2\n\n\n3\n", 5), ("a,b\r\n\r\n1,2\r\n3,4,5\r\n", 4), ("a,b\n\"1\n\n\",2\n3\n", 5)]
    {
        let error = Frame::parse(text.as_bytes(), "t", &ReadOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Table { line, .. } if line == ragged), "{error}");
    }
}

#[test]
fn a_word_late_in_the_table_makes_a_column_of_words_and_many_words_none() {
    let mut text = String::from("a,b,c\n");
    (0..5000).for_each(|i| text += &format!("{i},{},{}\n", i % 7, if i < 4990 { "2" } else { "x" }));
    let guessed = Frame::parse_parts(text.as_bytes(), "t", &ReadOptions::default(), 0).unwrap();
    assert!(guessed.notes()[0].contains("10 of 5000 fields are no numbers"), "{:?}", guessed.notes());
    let as_words = ReadOptions { words: vec!["c".into()], ..ReadOptions::default() };
    let frame = Frame::parse_parts(text.as_bytes(), "t", &as_words, 0).unwrap();
    let [Values::Numbers(a), Values::Numbers(_), Values::Words { words, places }] =
        [0, 1, 2].map(|c| &frame.columns[c].values)
    else {
        panic!("{frame:?}")
    };
    assert_eq!((a[4321], &words[..]), (4321.0, &["2".to_owned(), "x".to_owned()][..]));
    assert_eq!(places.iter().sum::<u32>(), 10);
    let text = text.replace('\n', "x\n");
    let frame = Frame::parse_parts(text.replace(",2x", ",2").as_bytes(), "t", &ReadOptions::default(), 0);
    assert!(matches!(frame.unwrap().columns[0].values, Values::Numbers(_)));
    let text: String = (0..5000).map(|i| format!("w{i},1\n")).collect();
    let frame = Frame::parse_parts(text.as_bytes(), "t", &ReadOptions::default(), 0).unwrap();
    let Values::TooManyWords(Some(first)) = &frame.columns[0].values else { panic!("{frame:?}") };
    assert_eq!((&first.at[..], &first.word[..]), ("line 2", "w1"), "the first line has the names");
}

#[test]
fn odd_fields_are_noted_once_for_all_columns_and_what_is_to_be_typed_can_be_pasted() {
    let mut text = String::from("fasting blood sugar > 120;b;it's;d;e;f\n");
    for i in 0..200 {
        let field = |at: usize| if i == at { "n.d.".to_owned() } else { (i * at % 17).to_string() };
        text += &format!("{};{};{};{};{};{}\n", field(7), field(8), field(9), field(10), field(11), i % 2);
    }
    text = text.replacen("\n1;", "\n<5;", 1);
    let frame = Frame::parse(text.as_bytes(), "x.csv", &ReadOptions::default()).unwrap();
    let about: Vec<&String> = frame.notes().iter().filter(|note| note.contains("as missing")).collect();
    let [first, others] = about[..] else { panic!("{:?}", frame.notes()) };
    assert!(first.contains("`fasting blood sugar > 120`: 2 of 200 fields are no numbers"), "{first}");
    assert!(first.contains("(--words 'fasting blood sugar > 120' reads the column as words)"), "{first}");
    assert!(
        others.starts_with("`b`, `it's`, `d`, `e`: 4 of 800 fields are no numbers and count"),
        "{others}"
    );
    assert_eq!(crate::escape::argument("it's"), r"'it'\''s'");
}
