//! Where results go, and what is never overwritten.

use anyhow::bail;
use clap::Args;
use lao_files::{check_writable, write_atomically};
use lao_terminal as say;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Where the result of a command goes.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Write to this file in place of the default; `-` is standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

/// Whether a file may be replaced that lao did not write.
#[derive(Clone, Copy, Debug, Args)]
pub struct Force {
    /// Replace a file even if lao did not write it.
    #[arg(long)]
    force: bool,
}

/// A place that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Standard output.
    Standard,
    /// A file.
    File(PathBuf),
}

impl OutputArgs {
    /// Returns whether the user names a place.
    pub fn is_given(&self) -> bool {
        self.output.is_some()
    }

    /// Returns where the result goes: to the file that was given, or else to `default`. The inputs of the
    /// command are never replaced.
    pub fn checked(&self, default: Output, inputs: &[&Path]) -> anyhow::Result<Output> {
        let output = match &self.output {
            None => default,
            Some(path) if path.as_os_str() == "-" => Output::Standard,
            Some(path) => Output::File(path.clone()),
        };
        if let Output::File(path) = &output {
            self.force.check(path, inputs)?;
        }
        Ok(output)
    }
}

impl Force {
    /// Checks, before any work, that a file can be written and that nothing of the user's is lost by it.
    pub fn check(self, path: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
        check_writable(path)?;
        let shown = path.display();
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        if let Some(same) = inputs.iter().find(|input| real(path).is_some_and(|own| real(input) == Some(own)))
        {
            bail!(
                "{shown} is read by this command ({}) and would be replaced: name another file",
                same.display()
            )
        }
        if !self.force && path.exists() && !is_own(path)? {
            bail!("{shown} exists and was not written by lao: name another file, or replace it with --force")
        }
        Ok(())
    }
}

impl Output {
    /// Writes the result.
    pub fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        match self {
            Output::Standard => say::results_of_bytes(bytes),
            Output::File(path) => Ok(write_atomically(path, bytes)?),
        }
    }
}

/// Returns whether a file looks like one that lao wrote, or is empty.
fn is_own(path: &Path) -> anyhow::Result<bool> {
    /// How results begin, and what stands near their beginning.
    const BEGINS: [&str; 4] =
        ["predicted ", "attribute,column,word,coefficient", "/* Predicts ", "\"\"\"Predicts "];
    const NEAR: [&str; 5] =
        ["\"lao\":", "{\"format\":", "a model within a budget", "library_name: lao", "lao"];
    const HEAD: u64 = 2048;
    let mut head = Vec::new();
    std::fs::File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    let holds = |mark: &str| head.windows(mark.len()).any(|part| part == mark.as_bytes());
    let is_text = std::str::from_utf8(&head).map_or_else(|error| error.valid_up_to() > 1000, |_| true);
    // ONNX is no text, and names its producer.
    let near = if is_text { &NEAR[..4] } else { &NEAR[..] };
    let begins = BEGINS.iter().any(|mark| head.starts_with(mark.as_bytes()));
    Ok(head.is_empty() || begins || near.iter().any(|mark| holds(mark)))
}
