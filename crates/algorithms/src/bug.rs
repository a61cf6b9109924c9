//! What cannot happen unless this crate is wrong, said in one way: debug builds stop with the reason, others
//! go on with the default.

use std::fmt::Debug;

/// States that `result` is no error, because of what the sentence says.
pub(crate) fn cannot_fail<E: Debug>(result: Result<(), E>, because: &str) {
    debug_assert!(result.is_ok(), "a bug: {because}, and yet {:?}", result.err());
}

/// Returns what `found` holds, which is something because of what the sentence says.
pub(crate) fn always<T: Default>(found: Option<T>, because: &str) -> T {
    debug_assert!(found.is_some(), "a bug: {because}, and yet there is nothing");
    found.unwrap_or_default()
}
