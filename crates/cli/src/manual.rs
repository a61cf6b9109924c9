//! `lao completions`, `lao man` and `lao --version`.

use crate::Cli;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use lao_files::write_atomically;
use lao_terminal as say;
use std::path::PathBuf;
use std::{env, thread};

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  lao completions bash > ~/.local/share/bash-completion/completions/lao")]
pub struct CompletionsArgs {
    /// Write the script for this shell.
    shell: Shell,
}

/// Write the manual pages of this command and its subcommands to a folder.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  lao man ~/.local/share/man/man1; man lao-fit")]
pub struct ManArgs {
    /// Write the pages to this folder, which must exist.
    folder: PathBuf,
}

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lao", &mut script);
    say::results(&String::from_utf8(script)?)?;
    Ok(0)
}

pub fn pages(args: &ManArgs) -> anyhow::Result<u8> {
    let mut command = Cli::command();
    command.build();
    let mut left = vec![command];
    while let Some(command) = left.pop() {
        let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        write_atomically(&args.folder.join(format!("{name}.1")), &page)?;
        left.extend(command.get_subcommands().filter(|one| one.get_name() != "help").cloned());
    }
    Ok(0)
}

pub fn version(verbose: bool) -> anyhow::Result<u8> {
    let mut text = format!("lao {}\n", env!("CARGO_PKG_VERSION"));
    if verbose {
        let program = env::current_exe().map_or_else(|_| "unknown".into(), |path| path.display().to_string());
        text += &format!(
            "program: {program}\nsystem: {} {}{}\nthreads: {}\noptimized: {}\nmodel files: format {}\n\
             studies: format {}\n",
            env::consts::OS,
            env::consts::ARCH,
            if cfg!(target_feature = "crt-static") { ", static" } else { "" },
            thread::available_parallelism().map_or(1, usize::from),
            if cfg!(debug_assertions) { "no" } else { "yes" },
            lao::Stamp::FORMAT,
            lao_study::Description::FORMAT,
        );
    }
    say::results(&text)?;
    Ok(0)
}
