//! The verb `cargo xtask bench`, which is a program of its own, `lao-bench`: the other verbs need not wait
//! for its build, nor does `--help`, or who mistypes an argument.

use anyhow::Context as _;
use std::path::Path;
use std::process::{Command, ExitCode};

pub mod args;

/// Runs the verb, whose arguments were checked: builds `lao-bench`, and hands them on.
pub fn run() -> anyhow::Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--features", "bench", "--bin", "lao-bench", "--manifest-path"]);
    command.arg(manifest).arg("--").args(std::env::args_os().skip(2));
    finish(command)
}

/// Becomes the program, so that Ctrl-C reaches it alone; its exit status is that of the verb.
#[cfg(unix)]
fn finish(mut command: Command) -> anyhow::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec()).context("cannot run cargo")
}

/// Runs the program; its exit status is that of the verb.
#[cfg(not(unix))]
fn finish(mut command: Command) -> anyhow::Result<ExitCode> {
    let status = command.status().context("cannot run cargo")?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)))
}
