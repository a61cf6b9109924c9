//! From pages to values.

use crate::kind::{Kind, Number};
use half::f16;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, Int96};
use parquet::errors::{ParquetError, Result};

/// Rows that are decoded at once.
const BATCH: usize = 1024;

/// Values of consecutive rows of a column.
#[derive(Clone, Copy, Debug)]
pub enum Cells<'a> {
    /// Numbers; NaN where one is missing.
    Numbers(&'a [f64]),
    /// Texts; `None` where one is missing.
    Texts(&'a [Option<ByteArray>]),
}

/// Decodes `take` rows after the first `skip` ones, in batches.
pub(crate) fn decode(
    reader: ColumnReader,
    kind: &Kind,
    number: Number,
    [skip, take]: [usize; 2],
    each: &mut dyn FnMut(Cells<'_>),
) -> Result<()> {
    let rows = [skip, take];
    let divisor = match number {
        Number::Signed(divisor) => divisor,
        _ => 1.0,
    };
    let unsigned = number == Number::Unsigned;
    match reader {
        ColumnReader::BoolColumnReader(reader) => {
            let text = |truth: &bool| ByteArray::from(if *truth { "true" } else { "false" });
            texts(reader, rows, text, each)
        }
        ColumnReader::Int32ColumnReader(reader) => {
            let of = |x: &i32| if unsigned { f64::from(x.cast_unsigned()) } else { f64::from(*x) };
            numbers(reader, rows, |x| of(x) / divisor, each)
        }
        ColumnReader::Int64ColumnReader(reader) => {
            let of = |x: &i64| if unsigned { x.cast_unsigned() as f64 } else { *x as f64 };
            numbers(reader, rows, |x| of(x) / divisor, each)
        }
        ColumnReader::Int96ColumnReader(reader) => {
            numbers(reader, rows, |x: &Int96| x.to_nanos() as f64 / divisor, each)
        }
        ColumnReader::FloatColumnReader(reader) => numbers(reader, rows, |x| f64::from(*x), each),
        ColumnReader::DoubleColumnReader(reader) => numbers(reader, rows, |x| *x, each),
        ColumnReader::ByteArrayColumnReader(reader) if *kind == Kind::Texts => {
            texts(reader, rows, Clone::clone, each)
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            numbers(reader, rows, |x| integer(x.data()) / divisor, each)
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            let of = |bytes: &[u8]| match (number, bytes) {
                (Number::Half, [low, high]) => f16::from_le_bytes([*low, *high]).to_f64(),
                _ => integer(bytes) / divisor,
            };
            numbers(reader, rows, |x| of(x.data()), each)
        }
    }
}

/// Returns the integer whose bytes in two's complement are these, the highest first.
fn integer(bytes: &[u8]) -> f64 {
    match bytes.split_first() {
        None => 0.0,
        Some((first, rest)) if rest.len() < 16 => {
            let begin = i128::from(first.cast_signed());
            rest.iter().fold(begin, |sum, byte| sum << 8 | i128::from(*byte)) as f64
        }
        Some((first, rest)) => {
            let begin = f64::from(first.cast_signed());
            rest.iter().fold(begin, |sum, byte| 256.0 * sum + f64::from(*byte))
        }
    }
}

fn numbers<T: DataType>(
    reader: ColumnReaderImpl<T>,
    rows: [usize; 2],
    number: impl Fn(&T::T) -> f64,
    each: &mut dyn FnMut(Cells<'_>),
) -> Result<()> {
    batches(reader, rows, f64::NAN, number, |numbers| each(Cells::Numbers(numbers)))
}

fn texts<T: DataType>(
    reader: ColumnReaderImpl<T>,
    rows: [usize; 2],
    text: impl Fn(&T::T) -> ByteArray,
    each: &mut dyn FnMut(Cells<'_>),
) -> Result<()> {
    batches(reader, rows, None, |value| Some(text(value)), |texts| each(Cells::Texts(texts)))
}

/// Reads the values of some rows and puts `missing` where there is none.
fn batches<T: DataType, C: Clone>(
    mut reader: ColumnReaderImpl<T>,
    [skip, take]: [usize; 2],
    missing: C,
    cell: impl Fn(&T::T) -> C,
    mut each: impl FnMut(&[C]),
) -> Result<()> {
    let short = || ParquetError::General("it has fewer values than rows".into());
    if skip > 0 && reader.skip_records(skip)? < skip {
        return Err(short());
    }
    let (mut levels, mut values, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    let mut left = take;
    while left > 0 {
        levels.clear();
        values.clear();
        cells.clear();
        let wanted = left.min(BATCH);
        let (records, ..) = reader.read_records(wanted, Some(&mut levels), None, &mut values)?;
        if records == 0 || records > wanted {
            return Err(short());
        }
        left -= records;
        if values.len() == records {
            cells.extend(values.iter().map(&cell));
        } else {
            let mut values = values.iter();
            for level in &levels {
                cells.push(match level {
                    0 => missing.clone(),
                    _ => cell(values.next().ok_or_else(short)?),
                });
            }
            if cells.len() != records {
                return Err(short());
            }
        }
        each(&cells);
    }
    Ok(())
}
