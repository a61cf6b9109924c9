//! Ctrl-C, and requests to end from the system: a run ends with what is finished.

use anyhow::Context as _;
use lao_terminal as say;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns a flag that the first Ctrl-C sets. What is being computed may take a minute to look at it, so a
/// second one ends the program at once.
pub(crate) fn canceled_by_ctrl_c() -> anyhow::Result<Arc<AtomicBool>> {
    let canceled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&canceled);
    let interrupted = move || {
        if flag.swap(true, Ordering::Relaxed) {
            lao_files::remove_unfinished();
            exit(130);
        }
        say::note("canceling after what is being computed; a second Ctrl-C ends at once");
    };
    ctrlc::set_handler(interrupted).context("cannot catch Ctrl-C")?;
    Ok(canceled)
}
