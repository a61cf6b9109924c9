//! The only code that writes to standard output and standard error. A failed write never ends the program: a
//! stream can be closed by its reader, full, or absent, and the results of a run matter more than messages
//! about them.
//!
//! | stream | cannot be written | what follows |
//! |---|---|---|
//! | standard output | its reader has gone, or there is none | nothing: the status of the run stands |
//! | standard output | full disk, or any other error | exit status 2, as for every file that was asked for |
//! | standard error | for any reason | nothing: the words are lost, the status stands |

use anyhow::Context as _;
use clap::Parser;
use comfy_table::{Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::env;
use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

/// The columns of a table where there is no terminal whose width is known.
const WIDTH: usize = 110;

/// Writes results to standard output and flushes it.
///
/// # Errors
/// When they cannot be written for any other reason than that the reader has closed the stream.
pub fn results(text: &str) -> anyhow::Result<()> {
    results_of_bytes(text.as_bytes())
}

/// As [`results`], for what may be no text.
///
/// # Errors
/// Those of [`results`].
pub fn results_of_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stream = io::stdout().lock();
    match stream.write_all(bytes).and_then(|()| stream.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot print to standard output")
        }
        _ => Ok(()),
    }
}

/// Writes a line about the run to standard error, and ignores errors.
pub fn note(line: &str) {
    // The line is a single write, so that lines of several threads do not mix.
    let _ = io::stderr().lock().write_all(format!("{}\n", plain(line)).as_bytes());
}

/// Escapes what would control a terminal, such as in the name of a file or a column.
fn plain(text: &str) -> String {
    let hostile = |c: char| {
        let bidi = matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        bidi || (c.is_control() && c != '\n' && c != '\t')
    };
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if hostile(c) { plain.extend(c.escape_debug()) } else { plain.push(c) }
    }
    plain
}

/// Returns whether somebody sees the lines of [`note`] as they come, because standard error is a terminal.
pub fn notes_are_seen() -> bool {
    io::stderr().is_terminal()
}

/// Reads the arguments of this program, runs it with them, and returns its exit status, which is 2 for wrong
/// usage and for an error. Help and version go to standard output; errors go to standard error.
pub fn program<P: Parser>(run: impl FnOnce(P) -> anyhow::Result<ExitCode>) -> ExitCode {
    program_with(env::args_os(), run, |_| 2)
}

/// Does the same as [`program`] with these arguments, of which the first is the name of the program, and with
/// an exit status for each error.
pub fn program_with<P: Parser, S: From<u8>>(
    arguments: impl IntoIterator<Item = OsString>,
    run: impl FnOnce(P) -> anyhow::Result<S>,
    status: impl FnOnce(&anyhow::Error) -> u8,
) -> S {
    P::try_parse_from(arguments).map_or_else(|said| usage(&said).map(S::from), run).unwrap_or_else(|error| {
        note(&plain(&format!("error: {error:#}").replace(['\n', '\r'], " ")));
        S::from(status(&error))
    })
}

/// Prints clap's message.
fn usage(said: &clap::Error) -> anyhow::Result<u8> {
    let text = said.render().to_string();
    if said.use_stderr() {
        note(text.trim_end());
        return Ok(2);
    }
    results(&text)?;
    Ok(0)
}

/// Returns a progress bar on standard error, which is hidden where that is not a terminal; `template` is that
/// of [`ProgressStyle::with_template`].
pub fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = length.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    if !notes_are_seen() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// Returns a progress bar that shows the elapsed time.
pub fn ticking_bar(length: u64, template: &str) -> ProgressBar {
    let bar = bar(Some(length), template);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Writes a line to standard error, above the bar if the bar is shown.
pub fn note_beside(bar: &ProgressBar, line: &str) {
    if bar.is_hidden() { note(line) } else { bar.println(line) }
}

/// Returns a table without borders.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table
}

/// Returns a table as text whose lines fit the terminal: a line that is too long ends in an ellipsis.
pub fn fitted(table: &Table) -> String {
    let terminal = console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    let width = terminal.unwrap_or(WIDTH);
    let lines = table.to_string();
    lines.lines().map(|line| console::truncate_str(line.trim_end(), width, "…") + "\n").collect()
}
