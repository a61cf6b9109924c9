//! Schedules: batch sizes and step sizes as functions of the update's number.

use crate::params::{ParamError, number, require};
use serde::{Deserialize, Serialize};

/// Batch sizes: the number of examples per gradient block, `B_t`, of the updates `t = 1, 2, ...` (in Hybrid,
/// of the stages `k`).
///
/// ```
/// use lao_algorithms::BatchSizes;
///
/// let sizes = BatchSizes::Geometric { first: 10.0, growth: 1.5 };
/// assert_eq!([1, 2, 3].map(|t| sizes.size(t)), [10, 15, 23]);
/// assert_eq!(BatchSizes::Listed(vec![5, 8]).size(100), 8);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchSizes {
    /// The same size for all updates. The error then falls to a floor of order `sigma^2 s / B`.
    Constant(u64),
    /// `ceil(first * growth^(t-1))`, with which the error keeps falling linearly.
    Geometric {
        /// `B_1`.
        first: f64,
        /// Factor from one update to the next, at least 1.
        growth: f64,
    },
    /// The sizes of a list, whose last entry is repeated.
    Listed(Vec<u64>),
}

impl BatchSizes {
    /// Returns `B_t` for `t >= 1`: at least 1, and at most `2^62`.
    pub fn size(&self, t: u64) -> u64 {
        const MOST: f64 = (1u64 << 62) as f64;
        let size = match self {
            BatchSizes::Constant(size) => *size,
            BatchSizes::Geometric { first, growth } => {
                let exponent = i32::try_from(t.saturating_sub(1)).unwrap_or(i32::MAX);
                (first * growth.powi(exponent)).ceil().min(MOST) as u64
            }
            BatchSizes::Listed(sizes) => {
                let place = (t.saturating_sub(1) as usize).min(sizes.len().saturating_sub(1));
                sizes.get(place).copied().unwrap_or(1)
            }
        };
        size.max(1)
    }

    /// Rounds a real-valued batch size up, as every theorem allows.
    pub fn round_up(size: f64) -> u64 {
        (size.ceil().max(1.0)).min((1u64 << 62) as f64) as u64
    }

    pub(crate) fn check(&self, method: &'static str, field: &'static str) -> Result<(), ParamError> {
        match self {
            BatchSizes::Constant(size) => require(*size >= 1, method, field, size, "at least 1 example"),
            BatchSizes::Geometric { first, growth } => {
                let ok = first.is_finite() && *first > 0.0;
                require(
                    ok,
                    method,
                    field,
                    format_args!("first = {}", number(*first)),
                    "a positive finite first size",
                )?;
                let ok = growth.is_finite() && *growth >= 1.0;
                require(
                    ok,
                    method,
                    field,
                    format_args!("growth = {}", number(*growth)),
                    "a finite growth of at least 1",
                )
            }
            BatchSizes::Listed(sizes) => {
                require(!sizes.is_empty(), method, field, "an empty list", "a list of at least one size")?;
                let zero = sizes.iter().position(|&size| size == 0);
                let at = zero.unwrap_or_default();
                let value = format_args!("0 at place {at}").to_string();
                require(zero.is_none(), method, field, value, "a list of sizes of at least 1 example")
            }
        }
    }
}

/// Step sizes `eta_t` of the updates `t = 1, 2, ...`.
///
/// ```
/// use lao_algorithms::StepSizes;
///
/// assert_eq!(StepSizes::InverseSqrt(0.5).size(4), 0.25);
/// assert_eq!(StepSizes::Inverse { c: 10.0, offset: 16.0 }.size(4), 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepSizes {
    /// `eta`, the same for all updates.
    Constant(f64),
    /// `c / sqrt(t)`.
    InverseSqrt(f64),
    /// `c / (offset + t)`.
    Inverse {
        /// The numerator `c`.
        c: f64,
        /// The number added to `t`, at least 0.
        offset: f64,
    },
}

impl StepSizes {
    /// Returns `eta_t` for `t >= 1`.
    pub fn size(&self, t: u64) -> f64 {
        match *self {
            StepSizes::Constant(eta) => eta,
            StepSizes::InverseSqrt(c) => c / (t as f64).sqrt(),
            StepSizes::Inverse { c, offset } => c / (offset + t as f64),
        }
    }

    pub(crate) fn check(&self, method: &'static str) -> Result<(), ParamError> {
        let (StepSizes::Constant(c) | StepSizes::InverseSqrt(c) | StepSizes::Inverse { c, .. }) = *self;
        crate::params::require_step(method, c)?;
        match *self {
            StepSizes::Inverse { offset, .. } => require(
                offset.is_finite() && offset >= 0.0,
                method,
                "step_size",
                format_args!("offset = {}", number(offset)),
                "a finite offset of at least 0",
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_sizes_round_up_and_saturate() {
        let sizes = BatchSizes::Geometric { first: 100.0, growth: 1.5 };
        assert_eq!([1, 2, 3].map(|t| sizes.size(t)), [100, 150, 225]);
        assert_eq!(BatchSizes::Geometric { first: 10.0, growth: 10.0 }.size(u64::MAX), 1 << 62);
    }

    #[test]
    fn listed_sizes_repeat_the_last() {
        assert_eq!([1, 2, 9].map(|t| BatchSizes::Listed(vec![5, 7]).size(t)), [5, 7, 7]);
    }
}
