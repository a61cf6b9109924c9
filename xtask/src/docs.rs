//! The verb `cargo xtask docs`, which builds the book and the documentation of the crates.

use anyhow::{Context as _, bail};
use clap::Args;
use lao_terminal as say;
use std::io::ErrorKind;
use std::process::{Command, ExitCode};

/// Build the book (target/book/index.html) and the documentation of the crates (target/doc/lao/index.html).
#[derive(Debug, Args)]
#[command(after_help = "The book needs mdBook: cargo install mdbook

Exit status: 0 both are built; 2 otherwise.")]
pub struct DocsArgs {
    /// Build the book only.
    #[arg(long)]
    book: bool,
}

/// Runs the verb.
pub fn run(args: &DocsArgs) -> anyhow::Result<ExitCode> {
    let mut book = Command::new("mdbook");
    let built = match book.args(["build", "crates/lao/book"]).status() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("there is no mdbook: `cargo install mdbook` installs it")
        }
        status => status.context("cannot run mdbook")?.success(),
    };
    if !built {
        bail!("mdbook could not build crates/lao/book");
    }
    if !args.book {
        let status = Command::new("cargo").args(["doc", "--workspace", "--no-deps"]).status();
        if !status.context("cannot run cargo")?.success() {
            bail!("`cargo doc --workspace --no-deps` failed");
        }
    }
    say::note("built target/book/index.html; the documentation of the crates is in target/doc");
    Ok(ExitCode::SUCCESS)
}
