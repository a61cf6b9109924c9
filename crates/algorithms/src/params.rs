//! The checks that parameters pass once, before they become a learner, and their error.

use lao_observation::stored::Damaged;
use std::fmt::Display;
use thiserror::Error;

/// A parameter that a method refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{method}: {field} = {value} is not allowed; it must be {allowed}")]
pub struct ParamError {
    /// The name of the method that refused the parameter.
    pub method: &'static str,
    /// The name of the field.
    pub field: &'static str,
    /// The value that was refused, as text.
    pub value: String,
    /// The values that are allowed, as words that can follow "it must be".
    pub allowed: String,
}

/// The largest dimension of the methods that keep a list of `d` numbers: one such list then takes a GiB.
pub const MAX_DIM: usize = 1 << 27;

impl ParamError {
    /// Returns the error of a stored state whose parameters are refused.
    pub(crate) fn damaged(self) -> Damaged {
        let ParamError { method, field, value, allowed } = self;
        Damaged { what: method, reason: format!("{field} = {value} is not allowed; it must be {allowed}") }
    }
}

/// Refuses a dimension below `least` or above [`MAX_DIM`].
pub(crate) fn require_dim(method: &'static str, least: usize, dim: usize) -> Result<(), ParamError> {
    let allowed = format_args!("at least {least} and at most 2^27, which takes a GiB per list of d numbers");
    require((least..=MAX_DIM).contains(&dim), method, "dim", dim, allowed)
}

/// Refuses a radius, rate or scale outside `1e-150..=1e150`. Within these bounds squares and quotients are
/// neither infinite nor zero.
pub(crate) fn require_scale(method: &'static str, field: &'static str, value: f64) -> Result<(), ParamError> {
    require((1e-150..=1e150).contains(&value), method, field, number(value), SCALES)
}

/// The numbers that [`require_scale`] allows, as a message says it.
pub(crate) const SCALES: &str = "a positive finite number, from 1e-150 to 1e150";

/// Returns a number as messages show it; very large and very small ones have an exponent instead of zeros.
pub(crate) fn number(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

/// Returns `value`, clamped to `1e-150..=1e150` if all numbers of `from`, from which it was derived, are
/// positive and finite. A derived number that overflows would be refused in the place of the numbers that the
/// caller gave. If one of these is not allowed, `value` is returned as it is, so that the checks refuse it.
pub(crate) fn derived(value: f64, from: &[f64]) -> f64 {
    let allowed = from.iter().all(|given| given.is_finite() && *given > 0.0);
    if allowed { value.clamp(1e-150, 1e150) } else { value }
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

/// Refuses a number of attributes other than `1..=dim`.
pub(crate) fn require_attributes(
    method: &'static str,
    field: &'static str,
    count: usize,
    dim: usize,
) -> Result<(), ParamError> {
    require((1..=dim).contains(&count), method, field, count, format_args!("from 1 to d = {dim}"))
}

/// Refuses a start with a number that is not finite; `allowed` says what a start is.
pub(crate) fn require_finite_start(
    method: &'static str,
    start: &[f64],
    allowed: &str,
) -> Result<(), ParamError> {
    let not_finite = start.iter().find(|value| !value.is_finite()).copied();
    require(not_finite.is_none(), method, "start", not_finite.unwrap_or_default(), allowed)
}

/// Refuses sizes other than `1 <= s < s' <= d`, as every gradient method under a budget does.
pub(crate) fn require_shape(
    method: &'static str,
    dim: usize,
    sparsity: usize,
    budget: usize,
) -> Result<(), ParamError> {
    require(dim >= 2, method, "dim", dim, "at least 2: one attribute for the support and one to explore")?;
    require_dim(method, 2, dim)?;
    require(sparsity >= 1, method, "sparsity", sparsity, format_args!("from 1 to d - 1 = {}", dim - 1))?;
    require(budget <= dim, method, "budget", budget, format_args!("at most d = {dim}"))?;
    require(
        budget > sparsity,
        method,
        "budget",
        budget,
        format_args!("above the sparsity s = {sparsity}, so that s' - s attributes are left to explore"),
    )
}

/// Refuses a step size that is not a positive finite number.
pub(crate) fn require_step(method: &'static str, step_size: f64) -> Result<(), ParamError> {
    let ok = step_size.is_finite() && step_size > 0.0;
    require(
        ok,
        method,
        "step_size",
        number(step_size),
        "a positive finite number; theorems derive it from the smoothness",
    )
}
