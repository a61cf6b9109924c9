//! The gate that parameters pass once.

use std::fmt::Display;
use thiserror::Error;

/// A parameter that a method cannot take.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{method}: {field} = {value} is not allowed; {allowed}")]
pub struct ParamError {
    /// The method that refused.
    pub method: &'static str,
    /// The field's name.
    pub field: &'static str,
    /// The value refused.
    pub value: String,
    /// What would be accepted.
    pub allowed: String,
}

/// Refuses `value` unless `ok`.
pub(crate) fn require(
    ok: bool,
    method: &'static str,
    field: &'static str,
    value: impl Display,
    allowed: impl Display,
) -> Result<(), ParamError> {
    if ok {
        return Ok(());
    }
    Err(ParamError { method, field, value: value.to_string(), allowed: allowed.to_string() })
}

/// The checks that every budgeted gradient method shares: `1 <= s < s' <= d`.
pub(crate) fn require_shape(
    method: &'static str,
    dim: usize,
    sparsity: usize,
    budget: usize,
) -> Result<(), ParamError> {
    require(dim >= 2, method, "dim", dim, "at least 2 attributes, one for the support and one to explore")?;
    require(dim <= u32::MAX as usize, method, "dim", dim, "below 2^32")?;
    require(sparsity >= 1, method, "sparsity", sparsity, format_args!("s must lie in 1..={}", dim - 1))?;
    require(budget <= dim, method, "budget", budget, format_args!("s' must not exceed d = {dim}"))?;
    require(
        budget > sparsity,
        method,
        "budget",
        budget,
        format_args!(
            "s' must exceed the sparsity s = {sparsity}, so that s' - s attributes are left to explore"
        ),
    )
}

/// Refuses a step size that is not a positive finite number.
pub(crate) fn require_step(method: &'static str, step_size: f64) -> Result<(), ParamError> {
    let ok = step_size.is_finite() && step_size > 0.0;
    require(
        ok,
        method,
        "step_size",
        step_size,
        "a positive finite number; theorems give it by the smoothness",
    )
}
