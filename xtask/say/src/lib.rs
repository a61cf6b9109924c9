//! The one place that writes to standard output and standard error. Neither may end the program: a stream can
//! be closed by its reader, be full, or be absent, and what a run has found is worth more than the words
//! about it.
//!
//! | stream | cannot be written | what follows |
//! |---|---|---|
//! | standard output | its reader has gone, or there is none | nothing: the status of the run stands |
//! | standard output | full disk, or any other error | exit status 2, as for every file that was asked for |
//! | standard error | for any reason | nothing: the words are lost, the status stands |

use anyhow::Context as _;
use comfy_table::{Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::time::Duration;

/// Columns of a table where there is no terminal to ask.
const WIDTH: usize = 110;

/// Writes results to standard output, and sees them out.
///
/// # Errors
/// When they cannot be written though somebody reads.
pub fn results(text: &str) -> anyhow::Result<()> {
    let mut stream = io::stdout().lock();
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot print to standard output")
        }
        _ => Ok(()),
    }
}

/// Writes a line about the run to standard error, if that can be written.
pub fn note(line: &str) {
    // One write, so that lines of several threads stay whole.
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// A bar on standard error, hidden where that is no terminal; `template` as in
/// [`ProgressStyle::with_template`].
pub fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = length.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    if !io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// A bar that shows the time as it goes by.
pub fn ticking_bar(length: u64, template: &str) -> ProgressBar {
    let bar = bar(Some(length), template);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Writes a line above a bar that is shown, or without it.
pub fn note_beside(bar: &ProgressBar, line: &str) {
    if bar.is_hidden() { note(line) } else { bar.println(line) }
}

/// A table without lines.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table
}

/// A table whose lines fit the terminal: what is too long in the last column ends in an ellipsis.
pub fn fitted(table: &Table) -> String {
    let terminal = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    let width = terminal.unwrap_or(WIDTH);
    let lines = table.to_string();
    lines.lines().map(|line| console::truncate_str(line.trim_end(), width, "…") + "\n").collect()
}
