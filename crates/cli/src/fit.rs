//! `lao fit`.

use crate::args::{BudgetArgs, ChoiceArgs, Layout, by_option};
use crate::inspect::load;
use crate::output::{Output, OutputArgs};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use lao::{Budget, Candidate, Examples, Fit, Label, Model, Paged, Pick, Progress, ReadOptions, Suspended};
use lao_figures::count;
use lao_files::{check_writable, write_atomically};
use lao_terminal as say;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Learn a model from a table within a budget.
///
/// The table is CSV, or Parquet, or a folder of Parquet files; gzip, bzip2 and zip are unpacked, and `-` is
/// standard input. Parquet may be in an object store or on a web server (s3://, gs://, az://, https://). Of a
/// large Parquet table, or one elsewhere, the pages are read that are bought; its columns of words are left
/// out then, but for those of --words. All columns but the target are attributes: use --drop for identifiers,
/// for example a patient number, and for columns that will be unknown at prediction time. Words become
/// attributes `column=word`; empty fields, NA and ? are missing values. Of an example that lacks a value,
/// pursuit learns from what is there; other methods skip it. A target with two values is a class; of several
/// classes, --positive learns one against all others.
///
/// The model is written to the table's name with the ending .lao.json unless --output names another file.
///
/// A file of prices has a line `attribute,price` or `attribute,price,panel` for each column. A panel is paid
/// once per example; its price stands in each of its lines. In a line `attribute,price,panel,further`, the
/// attribute is bought alone, for the price if it is the first of its panel and for the further price beside
/// another one. A price of 0 means free. With prices, the budget is an amount of money, which is spent where
/// it is expected to explain most.
///
/// The data choose between a line and trees: once the attributes are found, the best of them are bought
/// complete, and the line on the significant ones is kept unless another predictor is better by three
/// standard errors. `--shape line` makes no choice.
///
/// `--like` takes the target and all choices from a model; the same table then gives the same model.
///
/// An interrupt (Ctrl-C) or a request to end (SIGTERM) ends learning: the model learned so far is written,
/// and the exit status is 130.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lao fit patients.csv --target pressure --budget 12
  lao fit wide.csv.gz --target y --budget 5% --most-attributes 8 -o y.lao.json
  lao fit patients.csv --target pressure --prices prices.csv --budget 60 --predict-budget 20
  lao fit patients.csv --target sick --positive yes --budget 12 --drop patient --na -999
  lao fit patients.csv --target pressure --budget 12 --method hybrid --json
  lao fit patients.csv --target pressure --budget 12 --shape line        no trees
  lao fit this-year.csv --like patients.lao.json          the target and all choices of a model")]
pub struct FitArgs {
    /// Read this table.
    data: PathBuf,
    /// Predict this column.
    #[arg(long, short, value_name = "COLUMN", required_unless_present = "like")]
    target: Option<String>,
    /// Take this class of a two-class target as positive [default: the greater number, or the later word].
    #[arg(long, value_name = "CLASS")]
    positive: Option<String>,
    /// Ignore this column; can be given more than once.
    #[arg(long, value_name = "COLUMN")]
    drop: Vec<String>,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    choices: ChoiceArgs<false>,
    /// Take all of the choices above from this model.
    #[arg(long, value_name = "MODEL", conflicts_with_all = [
        "target", "positive", "drop", "na", "BudgetArgs", ChoiceArgs::<false>::GROUP,
    ])]
    like: Option<PathBuf>,
    #[command(flatten)]
    layout: Layout,
    /// Read a Parquet table page by page, as it is bought, or whole; `auto` reads page by page what would
    /// take more than 512 MiB of memory.
    #[arg(long, value_enum, default_value_t = ByPage::Auto, value_name = "WHEN")]
    pages: ByPage,
    /// Read at most this many bytes of a Parquet table, such as 200MB or 2GB, page by page; learning ends
    /// when four fifths of them are read, and the rest is for the error.
    #[arg(long, value_name = "BYTES", value_parser = bytes, conflicts_with = "pages")]
    most_bytes: Option<u64>,
    /// Keep in this file where learning stands, every few seconds, and go on from there if the file is there,
    /// with the same bits; it is removed when the model is written.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// Print the model as JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Show the held-out error each time the examples have doubled; `auto` shows it on a terminal only.
    #[arg(long, value_enum, default_value_t = ShowProgress::Auto, value_name = "WHEN")]
    progress: ShowProgress,
    /// Print only errors, interrupts and `nothing found` to standard error.
    #[arg(long, short)]
    quiet: bool,
}

/// When a table is read page by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByPage {
    /// If the table would take more than 512 MiB of memory.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ByPage {
    /// Returns the examples of a table.
    fn examples(
        self,
        data: &Path,
        options: &ReadOptions,
        (target, positive): (&str, Option<&str>),
        most_bytes: Option<u64>,
    ) -> Result<Examples, lao::Error> {
        const MOST_IN_MEMORY: u64 = 512 << 20;
        let is_large = |paged: &Paged| {
            paged.is_elsewhere() || paged.rows().saturating_mul(8 * paged.columns() as u64) > MOST_IN_MEMORY
        };
        let frame = match self {
            ByPage::Never => lao::read_with(data, options)?,
            ByPage::Always => return of_pages(lao::open(data, options)?, (target, positive), most_bytes),
            ByPage::Auto => match lao::open_parquet(data, options)? {
                Some(paged) if is_large(&paged) => return of_pages(paged, (target, positive), most_bytes),
                Some(paged) => paged.whole()?,
                None => lao::read_with(data, options)?,
            },
        };
        match positive {
            Some(class) => frame.target_class(target, class),
            None => frame.target(target),
        }
    }
}

/// Returns the examples of a table that is read page by page.
fn of_pages(
    paged: Paged,
    (target, positive): (&str, Option<&str>),
    most_bytes: Option<u64>,
) -> Result<Examples, lao::Error> {
    let paged = match most_bytes {
        Some(most) => paged.most_bytes(most)?,
        None => paged,
    };
    match positive {
        Some(class) => paged.target_class(target, class),
        None => paged.target(target),
    }
}

/// Reads a number of bytes with its unit.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024f64.powi(2),
        "gib" => 1024f64.powi(3),
        "tib" => 1024f64.powi(4),
        _ => return Err("give a number of bytes, such as 200MB, 2GB or 1.5GiB".into()),
    };
    let number: f64 = digits.parse().map_err(|_| String::from("give a number, such as 200MB"))?;
    let bytes = (number * unit).floor();
    (1.0..1e18).contains(&bytes).then_some(bytes as u64).ok_or_else(|| "give at least one byte".into())
}

/// When progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShowProgress {
    /// If standard error is a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ShowProgress {
    fn shows(self) -> bool {
        match self {
            ShowProgress::Auto => say::notes_are_seen(),
            ShowProgress::Always => true,
            ShowProgress::Never => false,
        }
    }
}

pub fn run(args: &FitArgs) -> anyhow::Result<u8> {
    // The model that --like names may be replaced by the one that is learned.
    let output = args.output.checked(Output::File(beside(&args.data)), &[&args.data])?;
    let like = args.like.as_deref().map(load).transpose()?;
    let target = like.as_ref().map(|model| &model.target).or(args.target.as_ref());
    let target = target.context("give --target or --like")?;
    let without = ReadOptions { columns: Pick::Without(args.drop.clone()), ..ReadOptions::default() };
    let mut options = args.layout.options(without);
    let mut positive = args.positive.as_deref();
    if let Some(Model { origin, label, .. }) = &like {
        options = args.layout.options(origin.reading.options());
        if let Label::Classes { positive: class, .. } = label {
            positive = Some(class);
        }
    }
    let by_page = if args.most_bytes.is_some() { ByPage::Always } else { args.pages };
    let examples = by_page.examples(&args.data, &options, (target, positive), args.most_bytes)?;
    let (dim, columns) = (examples.names().len(), examples.columns());
    let note = |line: &str| {
        if !args.quiet {
            say::note(line);
        }
    };
    let fit = match (&like, &args.like) {
        (Some(model), Some(path)) => Fit::again(model).with_context(|| path.display().to_string())?,
        _ => chosen(args, &examples, &note)?,
    };
    let bought = match fit.budget() {
        Budget::Money { per_example, .. } => format!("for at most {per_example} each"),
        Budget::Attributes(most) => format!("at most {} bought of each", most.min(&columns)),
    };
    let from = if columns < dim { format!(" from {columns} columns") } else { String::new() };
    note(&format!("{} examples of {dim} attributes{from}, {bought}", count(examples.len() as u64)));
    let progress = |line: &str| {
        if args.progress.shows() {
            note(line);
        }
    };
    progress("  examples   values bought   attributes in the model   error held out");
    let stop = crate::interrupt::learning();
    let examples = examples.until(Arc::clone(&stop));
    let show = |reached: Progress<'_>| progress(&line(&reached));
    let learning = match &args.resume {
        None => fit.run_with(&examples, show),
        Some(path) => {
            let state = suspended(path)?;
            if state.is_some() {
                note(&format!("learning goes on from where {} stands", path.display()));
            }
            let mut kept = Instant::now();
            let keep = |state: &dyn Fn() -> Suspended| {
                if kept.elapsed() < KEPT_EVERY {
                    return Ok(());
                }
                kept = Instant::now();
                let failed = |cause| lao::Error::File { path: path.clone(), cause };
                let state = serde_json::to_vec(&state()).map_err(|error| failed(error.into()))?;
                write_atomically(path, &state).map_err(|error| failed(error.cause))
            };
            fit.run_kept(&examples, state, keep, show)
        }
    };
    let fitted = learning.map_err(by_option)?;
    fitted.notes.iter().chain(&fitted.decided).for_each(|line| note(line));
    let replaced = matches!(&output, Output::File(path) if path.exists());
    output.write(fitted.model.to_json().as_bytes())?;
    if let Output::File(path) = &output {
        let text = if args.json { fitted.model.to_json() } else { fitted.model.to_string() };
        let new = if replaced { ", whose older model it replaces" } else { "" };
        let shown = path.display();
        say::results(&text).with_context(|| format!("the model is in {shown}"))?;
        note(&format!("the model is in {shown}{new}; `lao predict {shown} NEW.csv` applies it"));
    }
    let stopped = stop.load(Ordering::Relaxed);
    if let (Some(path), false) = (&args.resume, stopped) {
        // It may never have been written.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| path.display().to_string());
            }
            _ => {}
        }
    }
    if stopped {
        let examples = count(fitted.model.spent.examples);
        say::note(&format!("interrupted: this is what was learned from {examples} examples"));
        return Ok(130);
    }
    if fitted.found {
        return Ok(0);
    }
    say::note("nothing was found: no attribute has a significant effect, and the model predicts the mean");
    fitted.model.candidates.iter().take(3).for_each(|near| note(&nearest(near)));
    Ok(1)
}

/// How often it is kept where learning stands.
const KEPT_EVERY: Duration = Duration::from_secs(5);

/// Reads where learning stood; `None` if there is no such file.
fn suspended(path: &Path) -> anyhow::Result<Option<Suspended>> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            check_writable(path)?;
            return Ok(None);
        }
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let state = serde_json::from_slice(&text);
    state.map(Some).with_context(|| {
        format!("{} does not say where learning stood: name another file for --resume", path.display())
    })
}

/// Returns what the options choose.
fn chosen(args: &FitArgs, examples: &Examples, note: &dyn Fn(&str)) -> anyhow::Result<Fit> {
    let columns = examples.columns();
    let budget = args.budget.budget_of(examples)?;
    if let Budget::Attributes(most) = budget
        && most > columns
    {
        note(&format!("the budget is {most}, and there are {columns} columns: all of them are read"));
    }
    Ok(Fit::new(budget, args.choices.choices()?))
}

/// Says how far an attribute is from being taken in.
fn nearest(candidate: &Candidate) -> String {
    let Candidate { name, examples, z, until_added, .. } = candidate;
    let more = until_added.map_or_else(
        || "no number of examples would decide, if it stays as small".into(),
        |more| format!("about {} more examples would decide, if it stays as it seems", count(more)),
    );
    format!(
        "nearest: `{}`, an effect of {:.1} standard deviations in {} examples; {more}",
        lao::shown(name),
        z.abs(),
        count(*examples)
    )
}

/// Returns the model file of a table.
fn beside(data: &Path) -> PathBuf {
    let name = data.file_name().map_or("model".into(), |name| name.to_string_lossy().into_owned());
    let stem = name.split('.').next().filter(|stem| !stem.is_empty() && *stem != "-").unwrap_or("model");
    PathBuf::from(format!("{stem}.lao.json"))
}

fn line(progress: &Progress<'_>) -> String {
    let Progress { examples, attributes, support, holdout, .. } = *progress;
    let error = holdout.map_or_else(|| "-".into(), |holdout| format!("{:.5}", holdout.mean_squared_error));
    let (examples, attributes) = (count(examples), count(attributes));
    format!("{examples:>10}   {attributes:>13}   {support:>23}   {error:>14}")
}
