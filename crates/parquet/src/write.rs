//! Files of which few pages need to be read.

use crate::error::ParquetError;
use crate::file::ParquetFile;
use crate::guard::guarded;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96Type,
};
use parquet::errors::{ParquetError as Refused, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writing {
    /// The rows of a page, which are read together.
    pub page: usize,
    /// The rows of a row group.
    pub group: usize,
    /// Whether the pages of numbers are packed, by zstd, as those of texts are. Pages of numbers that are not
    /// are equally long, so that their places need not be looked up, and few numbers can be packed well.
    pub packed: bool,
    /// Whether [`write`](fn@write) stores numbers in single precision.
    pub single: bool,
}

impl Default for Writing {
    fn default() -> Self {
        Writing { page: 1024, group: 1 << 17, packed: false, single: false }
    }
}

impl Writing {
    /// Returns the properties for a file with this schema. Numbers have no dictionary, which would be one
    /// more page to read.
    fn properties(self, schema: &Type, metadata: Option<Vec<KeyValue>>) -> WriterPropertiesPtr {
        let zstd = ZstdLevel::try_new(1).map_or(Compression::UNCOMPRESSED, Compression::ZSTD);
        let mut properties = WriterProperties::builder()
            .set_data_page_row_count_limit(self.page)
            .set_write_batch_size(self.page)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_dictionary_enabled(false)
            .set_key_value_metadata(metadata)
            .set_compression(if self.packed { zstd } else { Compression::UNCOMPRESSED });
        for field in schema.get_fields().iter().filter(|field| field.is_primitive()) {
            if field.get_physical_type() == Physical::BYTE_ARRAY {
                properties = properties
                    .set_column_dictionary_enabled(field.name().into(), true)
                    .set_column_compression(field.name().into(), zstd);
            }
        }
        Arc::new(properties.build())
    }
}

/// The values of a column that is written.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Numbers; NaN is missing.
    Numbers(&'a [f64]),
    /// Texts.
    Texts(&'a [Option<&'a str>]),
}

impl<'a> From<&'a [f64]> for Values<'a> {
    fn from(numbers: &'a [f64]) -> Self {
        Values::Numbers(numbers)
    }
}

impl<'a> From<&'a Vec<f64>> for Values<'a> {
    fn from(numbers: &'a Vec<f64>) -> Self {
        Values::Numbers(numbers)
    }
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Values::Numbers(numbers) => numbers.len(),
            Values::Texts(texts) => texts.len(),
        }
    }

    /// Writes some of the values.
    fn write(&self, rows: Range<usize>, to: &mut ColumnWriter<'_>) -> Result<()> {
        match (self, to) {
            (Values::Numbers(numbers), ColumnWriter::DoubleColumnWriter(to)) => {
                let known = |x: &f64| (!x.is_nan()).then_some(*x);
                write_known(to, numbers.get(rows).unwrap_or_default().iter().map(known))
            }
            (Values::Numbers(numbers), ColumnWriter::FloatColumnWriter(to)) => {
                let known = |x: &f64| (!x.is_nan()).then_some(*x as f32);
                write_known(to, numbers.get(rows).unwrap_or_default().iter().map(known))
            }
            (Values::Texts(texts), ColumnWriter::ByteArrayColumnWriter(to)) => {
                let known = |text: &Option<&str>| text.map(ByteArray::from);
                write_known(to, texts.get(rows).unwrap_or_default().iter().map(known))
            }
            _ => Err(Refused::General("a column changes its type".into())),
        }
    }
}

/// Writes values, of which some are missing.
fn write_known<T: DataType>(
    to: &mut ColumnWriterImpl<'_, T>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let (mut levels, mut known) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        known.extend(value);
    }
    to.write_batch(&known, Some(&levels), None).map(|_| ())
}

/// Writes a table, whose columns have equally many rows, called `name` in messages.
///
/// # Errors
/// When the file cannot be written.
pub fn write(
    to: impl Write + Send,
    name: &str,
    columns: &[(&str, Values<'_>)],
    writing: &Writing,
) -> Result<(), ParquetError> {
    write_columns(to, columns, *writing)
        .map_err(|error| ParquetError::Damaged { file: name.to_owned(), reason: error.to_string() })
}

fn write_columns(to: impl Write + Send, columns: &[(&str, Values<'_>)], writing: Writing) -> Result<()> {
    let field = |(name, values): &(&str, Values<'_>)| {
        let (physical, logical) = match values {
            Values::Numbers(_) if writing.single => (Physical::FLOAT, None),
            Values::Numbers(_) => (Physical::DOUBLE, None),
            Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let of = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        Ok::<TypePtr, Refused>(Arc::new(of.with_repetition(Repetition::OPTIONAL).build()?))
    };
    let fields = columns.iter().map(field).collect::<Result<_>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let mut writer = SerializedFileWriter::new(to, Arc::clone(&schema), writing.properties(&schema, None))?;
    let rows = columns.first().map_or(0, |(_, values)| values.len());
    let mut start = 0;
    while start < rows {
        let end = rows.min(start.saturating_add(writing.group.max(1)));
        let mut group = writer.next_row_group()?;
        for (_, values) in columns {
            if let Some(mut column) = group.next_column()? {
                values.write(start..end, column.untyped())?;
                column.close()?;
            }
        }
        group.close()?;
        start = end;
    }
    writer.close()?;
    Ok(())
}

/// Writes all columns of a file as they are, in pages of few rows and with an offset index. Row groups stay
/// as they are. With an order of the rows, there is one row group, and one column at a time is in memory.
///
/// # Errors
/// When the one cannot be read or the other not be written, or rows with nested values are to be in another
/// order.
pub fn rewrite(
    from: &ParquetFile,
    to: impl Write + Send,
    writing: &Writing,
    order: Option<&[u32]>,
) -> Result<(), ParquetError> {
    let failed = |error: Refused| ParquetError::Damaged {
        file: from.name().to_owned(),
        reason: match error {
            Refused::External(cause) => format!("it cannot be written anew: {cause}"),
            error => error.to_string(),
        },
    };
    let schema = from.schema();
    let properties = writing.properties(&schema, from.key_values());
    let mut writer = SerializedFileWriter::new(to, schema, properties).map_err(failed)?;
    let groups = from.row_groups().len();
    let together = if order.is_some() { groups.max(1) } else { 1 };
    for first in (0..groups).step_by(together) {
        let mut group = writer.next_row_group().map_err(failed)?;
        for stored in 0..from.stored_columns() {
            let readers = (first..first + together).map(|place| from.stored(place, stored));
            let readers = readers.collect::<Result<Vec<ColumnReader>, _>>()?;
            if let Some(mut chunk) = group.next_column().map_err(failed)? {
                guarded(|| copy(readers, chunk.untyped(), writing.page, order)).map_err(failed)?;
                chunk.close().map_err(failed)?;
            }
        }
        group.close().map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

fn copy(
    from: Vec<ColumnReader>,
    to: &mut ColumnWriter<'_>,
    batch: usize,
    order: Option<&[u32]>,
) -> Result<()> {
    use ColumnWriter as To;
    match to {
        To::BoolColumnWriter(to) => copy_as::<BoolType>(from, to, batch, order),
        To::Int32ColumnWriter(to) => copy_as::<Int32Type>(from, to, batch, order),
        To::Int64ColumnWriter(to) => copy_as::<Int64Type>(from, to, batch, order),
        To::Int96ColumnWriter(to) => copy_as::<Int96Type>(from, to, batch, order),
        To::FloatColumnWriter(to) => copy_as::<FloatType>(from, to, batch, order),
        To::DoubleColumnWriter(to) => copy_as::<DoubleType>(from, to, batch, order),
        To::ByteArrayColumnWriter(to) => copy_as::<ByteArrayType>(from, to, batch, order),
        To::FixedLenByteArrayColumnWriter(to) => copy_as::<FixedLenByteArrayType>(from, to, batch, order),
    }
}

fn copy_as<T: DataType>(
    from: Vec<ColumnReader>,
    to: &mut ColumnWriterImpl<'_, T>,
    batch: usize,
    order: Option<&[u32]>,
) -> Result<()> {
    let mut from = from.into_iter().map(get_typed_column_reader::<T>);
    match order {
        None => from.try_for_each(|from| batches(from, to, batch)),
        Some(order) => in_order(from, to, batch, order),
    }
}

/// Copies the rows of a column in an order of their numbers.
fn in_order<T: DataType>(
    from: impl Iterator<Item = ColumnReaderImpl<T>>,
    to: &mut ColumnWriterImpl<'_, T>,
    batch: usize,
    order: &[u32],
) -> Result<()> {
    let fail = |why: &str| Err(Refused::General(why.into()));
    let (most, nested) = (to.get_descriptor().max_def_level(), to.get_descriptor().max_rep_level() > 0);
    if nested {
        return fail("its rows cannot be shuffled, since a column has lists");
    }
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    for mut from in from {
        while from.read_records(1 << 16, Some(&mut levels), None, &mut values)?.0 > 0 {}
    }
    // Where the value of each row is, if it has one.
    let mut next = 0;
    let mut place = |level: &i16| {
        next += u32::from(*level == most);
        next - u32::from(*level == most)
    };
    let places: Vec<u32> = levels.iter().map(&mut place).collect();
    let (mut of_rows, mut known) = (Vec::new(), Vec::new());
    for rows in order.chunks(batch.max(1)) {
        of_rows.clear();
        known.clear();
        for &row in rows {
            let row = row as usize;
            let level = levels.get(row).copied().unwrap_or(most);
            if level == most {
                let at = places.get(row).map_or(row, |at| *at as usize);
                known.extend(values.get(at).cloned());
            }
            of_rows.push(level);
        }
        to.write_batch(&known, (most > 0).then_some(&of_rows[..]), None)?;
    }
    Ok(())
}

fn batches<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    batch: usize,
) -> Result<()> {
    let (mut defined, mut repeated, mut values) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        defined.clear();
        repeated.clear();
        values.clear();
        let (records, _, levels) =
            from.read_records(batch, Some(&mut defined), Some(&mut repeated), &mut values)?;
        if records == 0 && levels == 0 {
            return Ok(());
        }
        let of = |levels: &[i16]| (!levels.is_empty()).then(|| levels.to_vec());
        to.write_batch(&values, of(&defined).as_deref(), of(&repeated).as_deref())?;
    }
}
