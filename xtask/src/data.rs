//! The verb `cargo xtask data`, which lists, fetches and checks the datasets of the catalog.

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use lao_datasets::catalog::{Catalog, CatalogError, Dataset, Found, SplitRule};
use lao_terminal as say;
use serde_json::{Value, json};
use std::env;
use std::process::{Command, ExitCode};

/// List, fetch and check the datasets of the catalog.
///
/// Files are searched in the folder that LAO_DATA names, in the project's data/, and in the cache
/// ($XDG_CACHE_HOME/lao or ~/.cache/lao), in this order. All three have the same layout (mnist/, libsvm/,
/// uci/). Only `fetch` uses the network.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask data list                    lists the datasets and the folders of their files
  cargo xtask data list mnist              shows everything about one dataset
  cargo xtask data fetch ct-slice          download into the cache; a cut-off download is resumed
  cargo xtask data check                   verifies and reads all files that are found
  LAO_DATA=~/data cargo xtask data check   the same, with a folder of your own

Exit status: 0 success, 1 a dataset is missing or damaged, 2 wrong usage or another error.")]
pub struct DataArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show the datasets, their shapes, their licenses, and the folders of their files.
    List {
        /// The datasets to show in full; if none is named, all datasets are shown in brief.
        names: Vec<String>,
        /// The form of the output.
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
    /// Download datasets into the cache and check them.
    ///
    /// Files that are found already are checked and stay in their place. For a file without a published
    /// checksum, the checksum of the first download is recorded beside the file, and a later download must
    /// match it.
    Fetch {
        /// The datasets to fetch.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Compare files with their checksums, read them, and compare the counts of rows, features and nonzeros.
    Check {
        /// The datasets to check; if none is named, all datasets whose files are found.
        names: Vec<String>,
        /// The form of the output.
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people.
    Human,
    /// One JSON document.
    Json,
}

/// Runs the verb.
pub fn run(args: DataArgs) -> anyhow::Result<ExitCode> {
    let catalog = Catalog::from_env()?;
    match args.verb {
        Verb::List { names, format } => list(&catalog, &names, format),
        Verb::Fetch { names } => fetch(&catalog, &names),
        Verb::Check { names, format } => check(&catalog, &names, format),
    }
}

fn list(catalog: &Catalog, names: &[String], format: Format) -> anyhow::Result<ExitCode> {
    let shown = chosen(catalog, names)?;
    match format {
        Format::Json => {
            let entries: Vec<Value> = shown.iter().map(|dataset| describe(catalog, dataset)).collect();
            say::results(&(serde_json::to_string_pretty(&entries)? + "\n"))?;
        }
        Format::Human if names.is_empty() => {
            let mut table = say::table(["name", "rows", "features", "license", "where", "title"]);
            for dataset in shown {
                let place = match catalog.find(&dataset.name) {
                    Ok(found) => places(&found),
                    Err(CatalogError::Missing { .. }) if fetchable(dataset) => "to be fetched".to_owned(),
                    Err(CatalogError::Missing { .. }) => "not at hand".to_owned(),
                    Err(_) => "damaged: see check".to_owned(),
                };
                let license = dataset.license.split(';').next().unwrap_or_default();
                let features = dataset.features.to_string();
                table.add_row([
                    &dataset.name,
                    &row_counts(dataset),
                    &features,
                    license,
                    &place,
                    &dataset.title,
                ]);
            }
            let searched = catalog.folders().describe();
            say::results(&format!("{}\nsearched: {searched}\n", say::fitted(&table)))?;
        }
        Format::Human => {
            let sheets: Vec<String> = shown.iter().map(|dataset| sheet(catalog, dataset) + "\n").collect();
            say::results(&sheets.concat())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the program `lao-fetch` for the downloads. It is built at its first use, since TLS takes long to
/// build and nothing else here needs TLS.
fn fetch(catalog: &Catalog, names: &[String]) -> anyhow::Result<ExitCode> {
    // All names are checked before anything is built.
    chosen(catalog, names)?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--package", "lao-fetch"]);
    command.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/fetch/Cargo.toml"), "--"]);
    let status = command.args(names).status().context("cannot run cargo, which builds `lao-fetch`")?;
    Ok(ExitCode::from(if status.success() { 0 } else { 2 }))
}

fn check(catalog: &Catalog, names: &[String], format: Format) -> anyhow::Result<ExitCode> {
    let mut bad = false;
    let mut reports = Vec::new();
    let mut table = say::table(["name", "state", "detail"]);
    for dataset in chosen(catalog, names)? {
        let (state, detail) = match catalog.load(&dataset.name) {
            Ok(loaded) => {
                let (rows, nonzeros) = (loaded.train.rows(), loaded.train.nonzeros());
                let test = loaded.test.map_or(String::new(), |test| format!(" + {}", test.rows()));
                let known = unverified(catalog, dataset)?;
                ("good", format!("{rows}{test} x {}, {nonzeros} nonzeros{known}", dataset.features))
            }
            Err(reason @ CatalogError::Missing { .. }) => {
                bad |= !names.is_empty();
                ("not at hand", if names.is_empty() { String::new() } else { reason.to_string() })
            }
            Err(reason) => {
                bad = true;
                ("damaged", reason.to_string())
            }
        };
        reports.push(json!({ "name": dataset.name, "state": state, "detail": detail }));
        table.add_row([dataset.name.as_str(), state, &detail]);
    }
    match format {
        Format::Json => say::results(&(serde_json::to_string_pretty(&reports)? + "\n"))?,
        Format::Human => say::results(&(table.trim_fmt() + "\n"))?,
    }
    Ok(ExitCode::from(u8::from(bad)))
}

/// Returns the named datasets, or all datasets if none is named.
fn chosen<'a>(catalog: &'a Catalog, names: &[String]) -> Result<Vec<&'a Dataset>, CatalogError> {
    if names.is_empty() {
        return Ok(catalog.datasets().iter().collect());
    }
    names.iter().map(|name| catalog.dataset(name)).collect()
}

/// Returns a remark if a file of the dataset has no checksum.
fn unverified(catalog: &Catalog, dataset: &Dataset) -> Result<&'static str, CatalogError> {
    for file in catalog.find(&dataset.name)?.files.values() {
        if !catalog.check(file)?.was_compared {
            return Ok("; no checksum is known");
        }
    }
    Ok("")
}

fn fetchable(dataset: &Dataset) -> bool {
    dataset.file_ids().iter().all(|id| dataset.alternatives(id).any(|file| !file.urls.is_empty()))
}

fn places(found: &Found<'_>) -> String {
    let mut places: Vec<String> = found.files.values().map(|file| file.place.to_string()).collect();
    places.dedup();
    places.join(", ")
}

fn row_counts(dataset: &Dataset) -> String {
    match dataset.test_rows {
        0 => dataset.rows.to_string(),
        test => format!("{} + {test}", dataset.rows),
    }
}

fn split_rule(rule: SplitRule) -> String {
    match rule {
        SplitRule::Given => "training and test rows as given by the authors".to_owned(),
        SplitRule::Random { test_fraction } => format!("{test_fraction} of the rows, at random, for testing"),
        SplitRule::ByGroup { test_fraction } => {
            format!("{test_fraction} of the groups, at random, for testing")
        }
    }
}

/// Returns all that is known about a dataset, as text for people.
fn sheet(catalog: &Catalog, dataset: &Dataset) -> String {
    let mut lines = vec![
        dataset.name.clone(),
        format!("  {}", dataset.title),
        format!("  shape    {} x {}", row_counts(dataset), dataset.features),
        format!("  target   {}", dataset.target),
        format!("  split    {}", split_rule(dataset.split)),
        format!("  license  {}", dataset.license),
        format!("  source   {}", dataset.source),
    ];
    if !dataset.notes.is_empty() {
        lines.push(format!("  notes    {}", dataset.notes));
    }
    for file in &dataset.files {
        lines.push(format!(
            "  file     {} (sha256 {})",
            file.path,
            file.sha256.as_deref().unwrap_or("not known")
        ));
        lines.extend(file.urls.iter().map(|url| format!("           {url}")));
    }
    lines.push(match catalog.find(&dataset.name) {
        Ok(found) => format!("  where    {}", places(&found)),
        Err(reason) => format!("  where    {reason}"),
    });
    lines.join("\n") + "\n"
}

/// Returns all that is known about a dataset, as JSON for programs.
fn describe(catalog: &Catalog, dataset: &Dataset) -> Value {
    let files: Vec<Value> = dataset
        .files
        .iter()
        .map(|f| json!({ "path": f.path, "bytes": f.bytes, "sha256": f.sha256, "urls": f.urls }))
        .collect();
    let (found, reason) = match catalog.find(&dataset.name) {
        Ok(found) => (found.files.values().map(|f| f.path.display().to_string()).collect(), None),
        Err(reason) => (Vec::new(), Some(reason.to_string())),
    };
    json!({
        "name": dataset.name, "title": dataset.title, "rows": dataset.rows, "test_rows": dataset.test_rows,
        "features": dataset.features, "nonzeros": dataset.nonzeros, "target": dataset.target,
        "split": dataset.split, "license": dataset.license, "source": dataset.source, "notes": dataset.notes,
        "files": files, "found": found, "reason": reason,
    })
}
