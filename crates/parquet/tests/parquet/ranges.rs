//! Some rows of a column are what they are in the whole column.

use crate::hostile::FILES;
use bytes::Bytes;
use lao_parquet::{Cells, Kind, ParquetFile, Writing, rewrite};
use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::DoubleType;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::Range;
use std::sync::Arc;

fn open(bytes: &[u8]) -> ParquetFile {
    ParquetFile::of(Box::new(Bytes::copy_from_slice(bytes)), "file".into()).unwrap()
}

/// Returns the values of columns as texts.
fn read(file: &ParquetFile, columns: &[usize], rows: Range<u64>) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new(); columns.len()];
    file.read(columns, rows, |of, cells| match cells {
        Cells::Numbers(numbers) => found[of].extend(numbers.iter().map(f64::to_string)),
        Cells::Texts(texts) => {
            let text = |text: &Option<_>| format!("{text:?}");
            found[of].extend(texts.iter().map(text));
        }
    })
    .unwrap();
    found
}

fn readable(file: &ParquetFile) -> Vec<usize> {
    let is_read = |(_, column): &(usize, &lao_parquet::Column)| !matches!(column.kind, Kind::Others(_));
    file.columns().iter().enumerate().filter(is_read).map(|(place, _)| place).collect()
}

#[test]
fn some_rows_are_those_of_the_whole_column() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    for bytes in FILES {
        let mut rewritten = Vec::new();
        rewrite(&open(bytes), &mut rewritten, &Writing { page: 17, ..Writing::default() }, None).unwrap();
        let whole = read(&open(bytes), &readable(&open(bytes)), 0..200);
        assert!(whole.iter().all(|column| column.len() == 200));
        for bytes in [bytes, &rewritten] {
            let file = open(bytes);
            for _ in 0..100 {
                let columns: Vec<usize> = readable(&file).into_iter().filter(|_| rng.random()).collect();
                let start = rng.random_range(0..200);
                let rows = start..rng.random_range(start..=200);
                let found = read(&file, &columns, rows.clone());
                let places = readable(&file);
                for (column, found) in columns.iter().zip(found) {
                    let all = &whole[places.binary_search(column).unwrap()];
                    assert_eq!(found, all[rows.start as usize..rows.end as usize]);
                }
            }
        }
        // Groups of 120 and 80 rows, or one.
        let pages = open(&rewritten).pages(0).unwrap().unwrap();
        assert!(pages.starts_with(&[0, 17, 34]) && pages.len() == if bytes == FILES[2] { 12 } else { 13 });
    }
}

#[test]
fn a_page_costs_its_bytes() {
    let values: Vec<f64> = (0..100_000).map(f64::from).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.parquet");
    let columns = [("a", (&values).into()), ("b", (&values).into())];
    let to = std::fs::File::create(&path).unwrap();
    lao_parquet::write(to, "one", &columns, &Writing { page: 100, group: 100_000, ..Writing::default() })
        .unwrap();
    let file = ParquetFile::open(&path).unwrap();
    read(&file, &[1], 0..1);
    let before = file.traffic();
    assert_eq!(read(&file, &[1], 70_000..70_100)[0][0], "70000");
    let after = file.traffic();
    assert_eq!(after.requests - before.requests, 1);
    assert!((800..850).contains(&(after.bytes - before.bytes)), "{before:?} {after:?}");
}

/// Two columns of equally many bytes, of which the second has pages of other lengths.
fn alike_but_not_even() -> Vec<u8> {
    let field = |name| {
        let field = Type::primitive_type_builder(name, Physical::DOUBLE);
        Arc::new(field.with_repetition(Repetition::REQUIRED).build().unwrap())
    };
    let fields = vec![field("a"), field("b"), field("c")];
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build().unwrap());
    let mut properties = WriterProperties::builder().set_dictionary_enabled(false).set_write_batch_size(1);
    for (name, rows) in [("a", 100), ("b", 101), ("c", 100)] {
        properties = properties.set_column_data_page_row_count_limit(name.into(), rows);
    }
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        let values: Vec<f64> = (0..400).map(f64::from).collect();
        column.typed::<DoubleType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn a_column_whose_pages_are_not_where_those_of_its_like_are_is_looked_up() {
    let file = open(&alike_but_not_even());
    assert_eq!(file.bytes_of(0), file.bytes_of(1), "no test of what it is for");
    let expected = |rows: Range<u32>| rows.map(|row| row.to_string()).collect::<Vec<_>>();
    assert_eq!(read(&file, &[0, 1, 2], 150..250), vec![expected(150..250); 3]);
    assert_eq!(read(&file, &[1], 0..1), [expected(0..1)]);
    assert_eq!(file.pages(1).unwrap().unwrap(), [0, 101, 202, 303]);
    // It is enough to look up one of columns that are.
    let file = open(&alike_but_not_even());
    read(&file, &[0], 0..1);
    let before = file.traffic().requests;
    read(&file, &[2], 0..1);
    assert_eq!(file.traffic().requests, before + 1);
}
