//! The verb `cargo xtask docs`, which builds the site: the front page, the book, the documentation of the
//! crates and of the Python package, and the report of the last verification.

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use lao_terminal as say;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

const BOOK: &str = "crates/lao/book";
/// Pages of the repository that the site's book has behind its chapters: a title, a file or a folder, and the
/// place in the book.
const PAGES: [(&str, &str, &str); 10] = [
    ("Figures of the papers", "bench-suite/gallery", "gallery"),
    ("Errata", "ERRATA.md", "errata.md"),
    ("How a verdict is reached", "verification/README.md", "verdicts.md"),
    ("What fresh seeds change", "verification/SEEDS.md", "seeds.md"),
    ("The comparison with other packages", "bench-suite/peers/README.md", "peers.md"),
    ("What is unfair in a comparison", "bench-suite/BIAS.md", "bias.md"),
    ("Notation", "NOTATION.md", "notation.md"),
    ("Architecture", "ARCHITECTURE.md", "architecture.md"),
    ("Contributing", "CONTRIBUTING.md", "contributing.md"),
    ("Changelog", "CHANGELOG.md", "changelog.md"),
];

/// Build the site in target/site, whose front page is index.html.
#[derive(Debug, Args)]
#[command(after_help = "The book needs mdBook (cargo install mdbook). The pages of the Python package need a
Python that has lao-learn and the packages of crates/python/docs/requirements.txt. The report is that of the
last `cargo xtask verify`. Nothing is downloaded.

Exit status: 0 all is built; 2 otherwise.")]
pub struct DocsArgs {
    /// Build the book only, in target/site/book.
    #[arg(long)]
    book: bool,
    /// Build the pages of the Python package with this Python, by default $LAO_PYTHON or python3.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Take the report of this folder.
    #[arg(long, value_name = "FOLDER", default_value = "target/lao/verify")]
    report: PathBuf,
}

/// Runs the verb.
pub fn run(args: &DocsArgs) -> anyhow::Result<ExitCode> {
    let site = Path::new("target/site");
    ensure!(Path::new(BOOK).is_dir(), "{BOOK} is no folder: run this at the root of the repository");
    if !args.book {
        let report = args.report.join("index.html");
        ensure!(report.is_file(), "there is no {}: run `cargo xtask verify` first", report.display());
    }
    book(site)?;
    if args.book {
        say::note("built target/site/book/index.html");
        return Ok(ExitCode::SUCCESS);
    }
    rust(site)?;
    let python = args.python.as_ref().map_or_else(|| env::var_os("LAO_PYTHON"), |path| Some(path.into()));
    // In a copy, since Sphinx writes beside the pages.
    let copied = Path::new("target/site-python");
    for name in ["docs", "examples"] {
        anew(&Path::new("crates/python").join(name), &copied.join(name))?;
    }
    let mut sphinx = Command::new(python.unwrap_or_else(|| "python3".into()));
    sphinx.args(["-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]).arg(copied.join("docs"));
    succeed(
        sphinx.arg(site.join("python")).env("MPLBACKEND", "Agg"),
        "see crates/python/docs/requirements.txt",
    )?;
    anew(&args.report, &site.join("verification"))?;
    anew(Path::new("bench-suite/figures"), &site.join("figures"))?;
    for (from, to) in [
        ("xtask/site/index.html", "index.html"),
        ("xtask/site/style.css", "style.css"),
        ("data/diabetes.csv.gz", "data/diabetes.csv.gz"),
    ] {
        copy(Path::new(from), &site.join(to))?;
    }
    say::note("built target/site/index.html");
    Ok(ExitCode::SUCCESS)
}

/// Builds the book from its chapters and the pages of the repository, whose links it changes.
fn book(site: &Path) -> anyhow::Result<()> {
    let made = Path::new("target/site-book");
    if made.exists() {
        fs::remove_dir_all(made).with_context(|| format!("cannot remove {}", made.display()))?;
    }
    // Where each file of the repository is in the book.
    let mut places = BTreeMap::new();
    for file in files(&Path::new(BOOK).join("src"))? {
        let place = file.strip_prefix(Path::new(BOOK).join("src"))?.to_owned();
        places.insert(file, place);
    }
    let mut summary = String::from("\n# Reference\n\n");
    for (title, from, to) in PAGES {
        let from = Path::new(from);
        if from.is_dir() {
            summary += &format!("- [{title}]({to}/README.md)\n");
            for file in files(from)? {
                let place = Path::new(to).join(file.strip_prefix(from)?);
                if place.extension().is_some_and(|extension| extension == "md")
                    && !place.ends_with("README.md")
                {
                    let text = fs::read_to_string(&file)?;
                    let title =
                        text.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned();
                    let short = title.split(':').next().unwrap_or(&title);
                    summary += &format!("  - [{short}]({})\n", place.display());
                }
                places.insert(file, place);
            }
        } else {
            summary += &format!("- [{title}]({to})\n");
            places.insert(from.to_owned(), to.into());
        }
    }
    for (file, place) in &places {
        let to = made.join("src").join(place);
        if file.extension().is_none_or(|extension| extension != "md") {
            copy(file, &to)?;
            continue;
        }
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut text = with_links(&text, |link| link_in_book(link, file, place, &places));
        if place == Path::new("SUMMARY.md") {
            text += &summary;
        }
        write(&to, &text)?;
    }
    copy(&Path::new(BOOK).join("book.toml"), &made.join("book.toml"))?;
    let to = std::path::absolute(site.join("book"))?;
    let mut mdbook = Command::new("mdbook");
    succeed(mdbook.arg("build").arg(made).arg("--dest-dir").arg(to), "`cargo install mdbook` installs mdbook")
}

/// Returns a text of Markdown, in which `change` has replaced the targets of links where it returns one.
fn with_links(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut parts = text.split("](");
    changed.push_str(parts.next().unwrap_or_default());
    for part in parts {
        changed.push_str("](");
        let (link, rest) = part.split_at(part.find([')', ' ', '\n']).unwrap_or(0));
        changed.push_str(&change(link).unwrap_or_else(|| link.to_owned()));
        changed.push_str(rest);
    }
    changed
}

/// Returns what a link of a file becomes in the book: the page there, or the file in the repository on the
/// web. Links to the web and within a page stay.
fn link_in_book(
    link: &str,
    file: &Path,
    place: &Path,
    places: &BTreeMap<PathBuf, PathBuf>,
) -> Option<String> {
    let (path, anchor) =
        link.split_once('#').map_or((link, String::new()), |(path, id)| (path, format!("#{id}")));
    let target = normal(&file.parent()?.join(path));
    if path.is_empty() || path.contains(':') || !target.exists() {
        return None;
    }
    let page = places.get(&target).or_else(|| places.get(&target.join("README.md")));
    let Some(page) = page else {
        return Some(format!("{}/blob/main/{}{anchor}", env!("CARGO_PKG_REPOSITORY"), target.display()));
    };
    // mdBook makes index.html of README.md, and changes no link for it.
    let page = if page.ends_with("README.md") { page.with_file_name("index.md") } else { page.clone() };
    let up = "../".repeat(place.components().count() - 1);
    Some(format!("{up}{}{anchor}", page.display()))
}

/// Returns a path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// Builds the documentation of the crates that are published, with all features.
fn rust(site: &Path) -> anyhow::Result<()> {
    let metadata = Command::new("cargo").args(["metadata", "--no-deps", "--format-version", "1"]).output();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.context("cannot run cargo")?.stdout)
        .context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let names = packages.iter().filter(|one| one["publish"].is_null()).filter_map(|one| one["name"].as_str());
    let mut doc = Command::new("cargo");
    doc.args(["doc", "--quiet", "--no-deps", "--all-features", "--lib", "--target-dir", "target/site-build"]);
    for name in names {
        doc.args(["--package", name]);
    }
    succeed(&mut doc, "the messages above say what is wrong")?;
    anew(Path::new("target/site-build/doc"), &site.join("rust"))
}

/// Runs a program, and says what helps if it cannot be run or fails.
fn succeed(command: &mut Command, help: &str) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => bail!("`{command:?}` failed: {help}"),
        Err(error) if error.kind() == ErrorKind::NotFound => bail!("there is no {name}: {help}"),
        Err(error) => Err(error).with_context(|| format!("cannot run {name}")),
    }
}

/// Returns all files below a folder, in the order of their names.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}

/// Copies a folder to another place, from which what was there is removed.
fn anew(from: &Path, to: &Path) -> anyhow::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    files(from)?.iter().try_for_each(|file| copy(file, &to.join(file.strip_prefix(from)?)))
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn write(to: &Path, text: &str) -> anyhow::Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))
}
