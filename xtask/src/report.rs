//! The verb `cargo xtask report`, which renews the generated parts of the repository's pages.

use crate::peers;
use anyhow::{Context as _, bail};
use clap::Args;
use lao_algorithms::METHODS;
use lao_algorithms::thresholding::SOLVERS;
use lao_files::{check_writable, write_atomically};
use lao_terminal as say;
use lao_verification::errata;
use lao_verification::record::RunRecord;
use lao_verification::report::markdown;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Renew all generated text: ERRATA.md, the results in README.md, and in the book the tables of methods,
/// solvers and comparisons and what its commands print.
///
/// The results come from the last run of `cargo xtask verify`, the comparisons with other packages from the
/// records in bench-suite/figures.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask verify && cargo xtask report
  cargo xtask report --check      fails if a page is not up to date

Exit status: 0 pages are fresh; 1 stale (with --check); 2 usage or I/O.")]
pub struct ReportArgs {
    /// The folder of the results of the run.
    #[arg(long, default_value = "target/lao/verify", value_name = "DIR")]
    from: PathBuf,
    /// The folder of the pages.
    #[arg(long, default_value = ".", value_name = "DIR")]
    pages: PathBuf,
    /// Write nothing, and fail if a page would change.
    #[arg(long)]
    check: bool,
}

/// Runs the verb.
pub fn run(args: ReportArgs) -> anyhow::Result<ExitCode> {
    let record = RunRecord::read(&args.from)?;
    let known = lao_verification::papers::all().count();
    if record.claims.len() != known {
        bail!(
            "{} holds {} of {known} claims: run `cargo xtask verify` without a filter",
            args.from.display(),
            record.claims.len()
        );
    }

    let list = args.pages.join("ERRATA.md");
    let mut pages = vec![
        (list.clone(), errata::markdown(&record)),
        (args.pages.join("bench-suite/figures/purchases.svg"), peers::purchases_drawn()?),
        (args.pages.join("bench-suite/figures/disk.svg"), peers::disk_drawn()?),
    ];
    for (page, parts) in [
        (
            "README.md",
            vec![("results", markdown::results(&record)), ("purchases", peers::purchases_in_short()?)],
        ),
        ("crates/lao/book/src/methods.md", vec![("methods", methods())]),
        ("crates/lao/book/src/layers.md", vec![("solvers", solvers())]),
        ("crates/lao/book/src/disk.md", vec![("disk", peers::disk()?)]),
        (
            "crates/lao/book/src/comparison.md",
            vec![
                ("purchases", peers::purchases()?),
                ("full-information", peers::full_information()?),
                ("designs", DESIGNS.to_owned()),
                ("choices", CHOICES.to_owned()),
            ],
        ),
    ] {
        let path = args.pages.join(page);
        let mut text = read(&path)?;
        for (name, part) in parts {
            text = splice(&text, name, &part).with_context(|| shown(&path))?;
        }
        pages.push((path, text));
    }
    let stale: Vec<_> = pages
        .into_iter()
        .filter(|(path, text)| std::fs::read_to_string(path).map_or(true, |old| old != *text))
        .collect();
    if args.check {
        let names: Vec<String> = stale.iter().map(|(path, _)| shown(path)).collect();
        if !names.is_empty() {
            say::note(&format!(
                "stale: {}; run `cargo xtask verify && cargo xtask report`",
                names.join(", ")
            ));
        }
        return Ok(ExitCode::from(u8::from(!names.is_empty())));
    }
    // All pages are checked before one is written.
    if list.exists() && !errata::is_generated(&read(&list)?) {
        bail!(
            "{} was not written by `cargo xtask report`: move it away, or name other --pages",
            list.display()
        );
    }
    stale.iter().try_for_each(|(path, _)| check_writable(path))?;
    for (path, text) in &stale {
        write_atomically(path, text.as_bytes())?;
        say::note(&format!("wrote {}", path.display()));
    }
    if args.pages.join(BOOK_TEST).exists() {
        renew_commands_of_the_book()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The table of the solvers at full information, by `bench-suite/peers/designs.py`.
const DESIGNS: &str = include_str!("../../bench-suite/figures/designs.md");

/// The table of the criteria for the number of attributes, by the same program.
const CHOICES: &str = include_str!("../../bench-suite/figures/choices.md");

/// The test that runs the commands of the book, and writes what they print if it is asked to.
const BOOK_TEST: &str = "crates/cli/tests/cli/book.rs";

/// Writes what the commands of the book print. They run as a test, which needs the command `lao`.
fn renew_commands_of_the_book() -> anyhow::Result<()> {
    say::note("running the commands of the book");
    let mut test = Command::new("cargo");
    test.args(["test", "--quiet", "--package", "lao-cli", "--test", "cli", "book"]).env("LAO_BLESS", "1");
    let done = test.stdout(Stdio::null()).status().context("cannot start cargo")?;
    if !done.success() {
        bail!("a command of the book fails: run `cargo test --package lao-cli --test cli book`");
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path)
        .with_context(|| format!("cannot read {}: run this at the root of the repository", path.display()))
}

/// Returns the table of all methods of the registry.
fn methods() -> String {
    let rows = METHODS.iter().map(|method| {
        [method.name, method.source, method.summary, method.model.symbol(), method.cost].map(String::from)
    });
    table(["method", "source", "what it does", "attributes a prediction reads", "time per example"], rows)
}

/// Returns the table of all solvers of finite sums.
fn solvers() -> String {
    let rows = SOLVERS
        .iter()
        .map(|solver| [solver.name, solver.source, solver.summary, solver.step.words()].map(String::from));
    table(["solver", "source", "what it does", "step size"], rows)
}

/// Returns a table in Markdown whose first column holds names.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(N));
    for mut row in rows {
        row[0] = format!("`{}`", row[0]);
        text += &format!("| {} |\n", row.join(" | "));
    }
    text
}

/// Returns the page with `text` between the markers `<!-- name:begin -->` and `<!-- name:end -->`.
fn splice(page: &str, name: &str, text: &str) -> anyhow::Result<String> {
    let (begin, end) = (format!("<!-- {name}:begin -->\n"), format!("<!-- {name}:end -->"));
    let found = page.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) =
        found.with_context(|| format!("no line `{}` followed by `{end}`", begin.trim_end()))?;
    Ok(format!("{before}{begin}{}\n{end}{after}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n";

    #[test]
    fn a_splice_replaces_what_is_between_the_markers_and_can_be_repeated() {
        let once = splice(PAGE, "x", "new\n").unwrap();
        assert_eq!(once, "a\n<!-- x:begin -->\nnew\n<!-- x:end -->\nb\n");
        assert_eq!(splice(&once, "x", "new\n").unwrap(), once);
    }

    #[test]
    fn a_missing_marker_is_named() {
        assert!(splice(PAGE, "y", "new").unwrap_err().to_string().contains("y:begin"));
    }

    #[test]
    fn every_method_has_a_row() {
        assert_eq!(methods().lines().count(), METHODS.len() + 2);
        assert_eq!(solvers().lines().count(), SOLVERS.len() + 2);
    }
}
