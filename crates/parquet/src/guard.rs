//! Panics of the decoder, which come of damaged pages, are errors here.

use parquet::errors::{ParquetError, Result};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `decode`, whose values are dropped if it panics. The panic is not printed.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                usual(info);
            }
        }));
    });
    let outer = IS_GUARDED.replace(true);
    // What a panic leaves behind is dropped with the reader.
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    let is_of_decoder = IS_GUARDED.replace(outer);
    match outcome {
        Ok(outcome) => outcome,
        Err(_) if is_of_decoder => Err(ParquetError::General("a page is damaged".into())),
        Err(panic) => resume_unwind(panic),
    }
}

/// Calls, from within [`guarded`], what is not part of the decoder and panics as usual.
pub(crate) fn unguarded<T>(call: impl FnOnce() -> T) -> T {
    let guarded = IS_GUARDED.replace(false);
    let outcome = call();
    IS_GUARDED.set(guarded);
    outcome
}
