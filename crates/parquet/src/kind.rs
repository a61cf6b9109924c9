//! What the values of a column are.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::schema::types::ColumnDescriptor;

/// What the values of a column are.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Numbers.
    Numbers(Unit),
    /// Truth values, as the texts `false` and `true`.
    Truths,
    /// Texts.
    Texts,
    /// Values that are not read, and why.
    Others(&'static str),
}

/// In what unit numbers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// As they are.
    One,
    /// Dates, in days since 1970-01-01.
    Days,
    /// Times and timestamps, in seconds since midnight or since 1970-01-01.
    Seconds,
}

/// How a stored value becomes a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// Divided by this.
    Signed(f64),
    /// An integer without a sign.
    Unsigned,
    /// Two bytes of floating point.
    Half,
}

/// Returns what the values of a column are, and how they become numbers.
pub(crate) fn kind_of(column: &ColumnDescriptor) -> (Kind, Number) {
    let plain = Number::Signed(1.0);
    let others = |why| (Kind::Others(why), plain);
    if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
        return others("it is nested: a list, a map or a structure");
    }
    let seconds = |unit: &TimeUnit| {
        let parts = match unit {
            TimeUnit::MILLIS => 1e3,
            TimeUnit::MICROS => 1e6,
            _ => 1e9,
        };
        (Kind::Numbers(Unit::Seconds), Number::Signed(parts))
    };
    let decimal = |scale: i32| (Kind::Numbers(Unit::One), Number::Signed(10f64.powi(scale.clamp(0, 300))));
    let number = (Kind::Numbers(Unit::One), plain);
    match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
        (Type::BOOLEAN, ..) => (Kind::Truths, plain),
        (_, Some(LogicalType::Decimal(decimal_type)), _) => decimal(decimal_type.scale),
        (_, None, ConvertedType::DECIMAL) => decimal(column.type_scale()),
        (_, Some(LogicalType::Date), _) | (_, None, ConvertedType::DATE) => {
            (Kind::Numbers(Unit::Days), plain)
        }
        (_, Some(LogicalType::Time(time)), _) => seconds(&time.unit),
        (_, Some(LogicalType::Timestamp(time)), _) => seconds(&time.unit),
        (_, None, ConvertedType::TIME_MILLIS | ConvertedType::TIMESTAMP_MILLIS) => seconds(&TimeUnit::MILLIS),
        (_, None, ConvertedType::TIME_MICROS | ConvertedType::TIMESTAMP_MICROS) => seconds(&TimeUnit::MICROS),
        (Type::INT96, ..) => seconds(&TimeUnit::NANOS),
        (Type::INT32 | Type::INT64, Some(LogicalType::Integer(integer)), _) if !integer.is_signed => {
            (Kind::Numbers(Unit::One), Number::Unsigned)
        }
        (
            Type::INT32 | Type::INT64,
            None,
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
        ) => (Kind::Numbers(Unit::One), Number::Unsigned),
        (Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE, ..) => number,
        (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16), _) if column.type_length() == 2 => {
            (Kind::Numbers(Unit::One), Number::Half)
        }
        (Type::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), _)
        | (Type::BYTE_ARRAY, None, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) => {
            (Kind::Texts, plain)
        }
        // Old writers do not say that texts are texts.
        (Type::BYTE_ARRAY, None, ConvertedType::NONE) => (Kind::Texts, plain),
        (_, _, ConvertedType::INTERVAL) => others("it has intervals of time"),
        _ => others("it has bytes that are neither numbers nor texts"),
    }
}
