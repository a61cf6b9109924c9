//! Floats in JSON: finite floats are stored as numbers, the others as the strings "inf", "-inf" and "nan".
//!
//! Use the module as `#[serde(with = "nonfinite")]`, with `nonfinite::option` for `Option<f64>` and
//! `nonfinite::vec` for `Vec<f64>`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// A float that can be serialized whatever its value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Float(pub f64);

impl Serialize for Float {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => serializer.serialize_f64(x),
            x if x.is_nan() => serializer.serialize_str("nan"),
            x => serializer.serialize_str(if x > 0.0 { "inf" } else { "-inf" }),
        }
    }
}

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FloatVisitor)
    }
}

struct FloatVisitor;

impl de::Visitor<'_> for FloatVisitor {
    type Value = Float;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or one of \"inf\", \"-inf\", \"nan\"")
    }

    fn visit_f64<E: de::Error>(self, x: f64) -> Result<Float, E> {
        Ok(Float(x))
    }

    fn visit_i64<E: de::Error>(self, x: i64) -> Result<Float, E> {
        Ok(Float(x as f64))
    }

    fn visit_u64<E: de::Error>(self, x: u64) -> Result<Float, E> {
        Ok(Float(x as f64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Float, E> {
        match text {
            "inf" => Ok(Float(f64::INFINITY)),
            "-inf" => Ok(Float(f64::NEG_INFINITY)),
            "nan" => Ok(Float(f64::NAN)),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
}

/// Writes a float.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Float(*x).serialize(serializer)
}

/// Reads a float.
///
/// # Errors
/// When the value is neither a number nor one of the three strings.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Float::deserialize(deserializer).map(|x| x.0)
}

/// The same form for `Option<f64>`.
pub mod option {
    use super::{Deserialize, Deserializer, Float, Serialize, Serializer};

    /// Writes an optional float.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(x: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        x.map(Float).serialize(serializer)
    }

    /// Reads an optional float.
    ///
    /// # Errors
    /// When the value is neither null, a number nor one of the three strings.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Float>::deserialize(deserializer)?.map(|x| x.0))
    }
}

/// The same form for `Vec<f64>`.
pub mod vec {
    use super::{Deserialize, Deserializer, Float, Serializer};

    /// Writes a list of floats.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(xs: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(xs.iter().map(|x| Float(*x)))
    }

    /// Reads a list of floats.
    ///
    /// # Errors
    /// When an entry is neither a number nor one of the three strings.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Float>::deserialize(deserializer)?.into_iter().map(|x| x.0).collect())
    }
}
