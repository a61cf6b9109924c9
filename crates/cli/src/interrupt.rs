//! Ctrl-C, and requests to end from the system: learning ends with what was learned, and everything else
//! leaves no file half written.

use anyhow::Context as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Set when learning is to end; there is none unless something learns.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Catches the signals, once for the program.
pub fn catch() -> anyhow::Result<()> {
    let interrupted = || {
        // A second signal ends the program in any case.
        if STOP.get().is_some_and(|stop| !stop.swap(true, Ordering::Relaxed)) {
            return;
        }
        lao_files::remove_unfinished();
        std::process::exit(130);
    };
    ctrlc::set_handler(interrupted).context("cannot catch Ctrl-C")
}

/// Returns what becomes true when learning is to end.
pub fn learning() -> Arc<AtomicBool> {
    Arc::clone(STOP.get_or_init(Arc::default))
}
