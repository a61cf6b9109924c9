//! The stored form of states: they keep their bits, and are checked when they are read.
//!
//! A learner that is stored and read must continue as if it had never left memory, and a file that was
//! damaged, or written by another program, must be refused before the first step.
//! [`stored!`](macro@crate::stored) ensures both, for every type whose state outlives a run:
//!
//! - **Exact numbers.** Not every reader of decimal numbers rounds correctly (that of `serde_json` does so
//!   only with its feature `float_roundtrip`), so text formats hold an `f64` as the 16 hexadecimal digits of
//!   its bits. A plain number is read, too, so that a state can be written by hand. Binary formats hold
//!   floats as they are.
//! - **No NaN, no infinity.** Neither can be part of a state, so that both are refused.
//! - **What the constructor guarantees** is checked by [`Validate`], in time and memory bounded by the size
//!   of what was read: a state contains no size that its lists do not have.

mod read;
mod write;

pub use read::Exact as ReadExact;
pub use write::Exact as WriteExact;

use thiserror::Error;

/// A state that can check whether its parts fit together.
pub trait Validate {
    /// Checks all that the constructor guarantees and later steps rely on.
    ///
    /// # Errors
    /// Returns the first part that does not fit.
    fn validate(&self) -> Result<(), Damaged>;
}

/// What is wrong with a stored state.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the stored {what} is damaged: {reason}; go back to an earlier copy, or start over")]
pub struct Damaged {
    /// What was stored, such as "AERR".
    pub what: &'static str,
    /// Which part does not fit, and why.
    pub reason: String,
}

impl Damaged {
    /// Refuses a state unless the condition `ok` holds; `reason` says which part does not fit, and why.
    ///
    /// # Errors
    /// Fails when `ok` is false.
    pub fn unless<R: Into<String>>(
        ok: bool,
        what: &'static str,
        reason: impl FnOnce() -> R,
    ) -> Result<(), Damaged> {
        if ok { Ok(()) } else { Err(Damaged { what, reason: reason().into() }) }
    }
}

/// Implements `Serialize` and `Deserialize` for a state: numbers with their bits, checked by [`Validate`]
/// when read.
///
/// The type derives both with `#[serde(remote = "Self")]`, which makes the derived code available to this
/// macro alone. A type that is read as another one and made of it by `TryFrom` derives `Serialize` alone, and
/// names the other type: `stored!(Range, from Stored)`.
///
/// ```
/// use lao_observation::stored::{Damaged, Validate};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// #[serde(remote = "Self")]
/// struct Mean {
///     total: f64,
///     count: u64,
/// }
///
/// impl Validate for Mean {
///     fn validate(&self) -> Result<(), Damaged> {
///         Damaged::unless(self.count > 0 || self.total == 0.0, "mean", || "it has a total of no examples")
///     }
/// }
///
/// lao_observation::stored!(Mean);
///
/// let mean = Mean { total: 0.1, count: 3 };
/// let text = serde_json::to_string(&mean).unwrap();
/// assert_eq!(text, r#"{"total":"3fb999999999999a","count":3}"#);
/// assert_eq!(serde_json::from_str::<Mean>(&text).unwrap(), mean);
/// assert!(serde_json::from_str::<Mean>(r#"{"total":0.5,"count":0}"#).is_err());
/// ```
#[macro_export]
macro_rules! stored {
    ($type:ident $(<$parameter:ident: $bound:path>)?) => {
        impl $(<$parameter: $bound>)? ::serde::Serialize for $type $(<$parameter>)? {
            fn serialize<S: ::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                $type::serialize(self, $crate::stored::WriteExact(serializer))
            }
        }

        impl<'de $(, $parameter: $bound)?> ::serde::Deserialize<'de> for $type $(<$parameter>)? {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                let state: Self = $type::deserialize($crate::stored::ReadExact(deserializer))?;
                $crate::stored::Validate::validate(&state).map_err(::serde::de::Error::custom)?;
                Ok(state)
            }
        }
    };
    ($type:ident, from $read:ident) => {
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                $type::serialize(self, $crate::stored::WriteExact(serializer))
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                let read: $read = ::serde::Deserialize::deserialize($crate::stored::ReadExact(deserializer))?;
                ::std::convert::TryFrom::try_from(read).map_err(::serde::de::Error::custom)
            }
        }
    };
}
