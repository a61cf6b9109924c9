//! What the programs of the project say about a wrong use of them, and their exit status 2.

use lao_say as say;
use std::process::ExitCode;

/// Prints clap's message: help and version to standard output, and errors of usage to standard error.
///
/// # Errors
/// Standard output cannot be written.
pub fn answer(said: &clap::Error) -> anyhow::Result<ExitCode> {
    let text = said.render().to_string();
    if said.use_stderr() {
        say::note(text.trim_end());
        return Ok(ExitCode::from(2));
    }
    say::results(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the error that ended a program.
pub fn failed(error: &anyhow::Error) -> ExitCode {
    say::note(&format!("error: {error:#}"));
    ExitCode::from(2)
}
