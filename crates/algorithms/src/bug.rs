//! Assertions of what only a bug in this crate can violate. Debug builds stop with the reason; other builds
//! go on with the default value.

use std::fmt::Debug;

/// Asserts that `result` is no error, for the reason `because`.
pub(crate) fn cannot_fail<E: Debug>(result: Result<(), E>, because: &str) {
    debug_assert!(result.is_ok(), "a bug: {because}, and yet {:?}", result.err());
}

/// Returns the value of `found`, which is not `None` for the reason `because`.
pub(crate) fn always<T: Default>(found: Option<T>, because: &str) -> T {
    debug_assert!(found.is_some(), "a bug: {because}, and yet there is nothing");
    found.unwrap_or_default()
}
