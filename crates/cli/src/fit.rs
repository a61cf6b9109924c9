//! `lao fit`.

use crate::inspect::load;
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use lao::{Examples, Fit, Label, Model, Pick, Prices, Progress, ReadOptions};
use lao_figures::count;
use lao_files::check_writable;
use lao_terminal as say;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Learn a model from a table within a budget.
///
/// The table is CSV; gzip, bzip2 and zip are unpacked, and `-` is standard input. All columns but the target
/// are attributes: use --drop for identifiers, for example a patient number, and for columns that will be
/// unknown at prediction time. Words become attributes `column=word`; empty fields, NA and ? are missing
/// values. An example is skipped if a value is missing that the method asks for. A target with two values is
/// a class.
///
/// A file of prices has a line `attribute,price` or `attribute,price,panel` for each column. A panel is paid
/// once per example; its price stands in each of its lines. A price of 0 means free. With prices, the budget
/// is an amount of money, which is spent where it is expected to explain most.
///
/// `--like` takes the target and all choices from a model; the same table then gives the same model.
///
/// An interrupt (Ctrl-C) ends learning: the model learned so far is written, and the exit status is 130.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lao fit patients.csv --target pressure --budget 12
  lao fit wide.csv.gz --target y --budget 5% --most-attributes 8 -o y.lao.json
  lao fit patients.csv --target pressure --prices prices.csv --budget 60 --predict-budget 20
  lao fit patients.csv --target sick --positive yes --budget 12 --drop patient --na -999
  lao fit patients.csv --target pressure --budget 12 --method hybrid --json
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
    /// Buy at most this number of columns per example, or this share of them, for example 10%; with --prices,
    /// spend at most this amount of money per example.
    #[arg(long, short, value_name = "N|P%|MONEY", required_unless_present = "like")]
    budget: Option<String>,
    /// Read the prices of attributes from this file of lines `attribute,price[,panel]`.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Spend at most this amount of money per prediction [default: about four fifths of the budget].
    #[arg(long, value_name = "MONEY", requires = "prices")]
    predict_budget: Option<f64>,
    /// Keep at most this number of attributes in the model [default: four fifths of the budget].
    #[arg(long, alias = "longest", value_name = "N")]
    most_attributes: Option<usize>,
    /// Include this column in every model; can be given more than once.
    #[arg(long, value_name = "COLUMN")]
    always: Vec<String>,
    /// Bound the probability that the model ever includes an irrelevant attribute [default: 5%].
    #[arg(long, value_name = "P%")]
    level: Option<String>,
    /// Halve the weight of an example after N further examples, for coefficients that drift; the examples are
    /// then taken in the order of the table [default: all examples have the same weight].
    #[arg(long, value_name = "N")]
    half_life: Option<f64>,
    /// Use this method; `lao methods` lists them.
    #[arg(long, default_value = "pursuit")]
    method: String,
    /// Hold out this share of the examples to measure the error.
    #[arg(long, default_value = "10%", value_name = "P%")]
    holdout: String,
    /// Pass over the examples this number of times; more than one pass makes standard errors too small.
    #[arg(long, default_value_t = 1)]
    passes: u64,
    /// Take the examples in the order of the table, and hold out the last ones; use it if rows follow one
    /// another in time [default: random order].
    #[arg(long)]
    in_order: bool,
    /// Derive all random draws from this seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Take all of the choices above from this model.
    #[arg(long, value_name = "MODEL", conflicts_with_all = [
        "target", "positive", "drop", "budget", "prices", "predict_budget", "most_attributes", "always",
        "level", "half_life", "method", "holdout", "passes", "in_order", "seed", "na",
    ])]
    like: Option<PathBuf>,
    #[command(flatten)]
    layout: Layout,
    /// Write the model to this file [default: the table's name with the ending .lao.json].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
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

/// Whether the first line of a table has names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Header {
    /// Yes, unless all its fields are numbers.
    Auto,
    /// Yes.
    Yes,
    /// No; columns are called c1, c2, ...
    No,
}

/// How a table is written.
#[derive(Debug, Args)]
pub struct Layout {
    /// Take the first line of the table as names.
    #[arg(long, value_enum, default_value_t = Header::Auto)]
    header: Header,
    /// Read this field as a missing value, in all columns (-999) or in one (signal=100), beside empty fields,
    /// NA, ? and null; can be given more than once.
    #[arg(long, value_name = "FIELD|COLUMN=FIELD", allow_hyphen_values = true)]
    na: Vec<String>,
}

impl Layout {
    /// Returns the options for reading a table, of which these columns are read.
    pub fn options(&self, columns: Pick) -> ReadOptions {
        let header = match self.header {
            Header::Auto => lao::Header::Auto,
            Header::Yes => lao::Header::Yes,
            Header::No => lao::Header::No,
        };
        ReadOptions { header, columns, missing: self.na.clone(), ..ReadOptions::default() }
    }
}

pub fn run(args: &FitArgs) -> anyhow::Result<ExitCode> {
    let output = args.output.clone().unwrap_or_else(|| beside(&args.data));
    check_writable(&output)?;
    let like = args.like.as_deref().map(load).transpose()?;
    let target = like.as_ref().map(|model| &model.target).or(args.target.as_ref());
    let target = target.context("give --target or --like")?;
    let mut options = args.layout.options(Pick::Without(args.drop.clone()));
    let mut positive = args.positive.as_deref();
    if let Some(Model { origin, label, .. }) = &like {
        options.columns = Pick::Without(origin.reading.without.clone());
        options.missing.clone_from(&origin.reading.missing);
        if let Label::Classes { positive: class, .. } = label {
            positive = Some(class);
        }
    }
    let frame = lao::read_with(&args.data, &options)?;
    let examples = match positive {
        Some(class) => frame.target_class(target, class)?,
        None => frame.target(target)?,
    };
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
    let bought = match (fit.budget(), fit.money()) {
        (_, Some(money)) => format!("for at most {money} each"),
        (budget, None) => format!("at most {} bought of each", budget.min(columns)),
    };
    let from = if columns < dim { format!(" from {columns} columns") } else { String::new() };
    note(&format!("{} examples of {dim} attributes{from}, {bought}", count(examples.len() as u64)));
    let progress = |line: &str| {
        if args.progress.shows() {
            note(line);
        }
    };
    progress("  examples   values bought   attributes in the model   error held out");
    let stop = Arc::new(AtomicBool::new(false));
    stop_at_interrupt(&stop)?;
    let learning = fit.run_with(&examples.until(Arc::clone(&stop)), |reached| progress(&line(&reached)));
    let fitted = learning.map_err(|error| match flag_of(&error) {
        Some(flag) => anyhow::Error::from(error).context(flag),
        None => error.into(),
    })?;
    fitted.notes.iter().for_each(|line| note(line));
    let replaced = output.exists();
    fitted.model.save(&output)?;
    let text = if args.json { fitted.model.to_json() } else { fitted.model.to_string() };
    say::results(&text)?;
    let new = if replaced { ", whose older model it replaces" } else { "" };
    note(&format!("the model is in {}{new}; `lao predict {0} NEW.csv` applies it", output.display()));
    if stop.load(Ordering::Relaxed) {
        let examples = count(fitted.model.spent.examples);
        say::note(&format!("interrupted: this is what was learned from {examples} examples"));
        return Ok(ExitCode::from(130));
    }
    if fitted.found {
        return Ok(ExitCode::SUCCESS);
    }
    say::note("nothing was found: no attribute has a significant effect, and the model predicts the mean");
    Ok(ExitCode::from(1))
}

/// Returns what the options choose.
fn chosen(args: &FitArgs, examples: &Examples, note: &dyn Fn(&str)) -> anyhow::Result<Fit> {
    let columns = examples.columns();
    let budget = args.budget.as_deref().context("give --budget or --like")?;
    let holdout = share(&args.holdout, "--holdout")?;
    let fit = match &args.prices {
        Some(prices) => {
            let prices = Prices::read(prices)?;
            let Ok(money) = budget.trim().parse::<f64>() else {
                bail!("--budget {budget}: with --prices, give the money for an example, such as 60")
            };
            Fit::within_money(money, prices)
        }
        None => {
            let budget = match budget.parse::<usize>() {
                Ok(budget) => budget,
                Err(_) => (columns as f64 * share(budget, "--budget")?).ceil() as usize,
            };
            if budget > columns {
                note(&format!(
                    "the budget is {budget}, and there are {columns} columns: all of them are read"
                ));
            }
            Fit::within(budget)
        }
    };
    let mut fit = fit.method(&args.method).holdout(holdout).passes(args.passes).seed(args.seed);
    fit = fit.always(args.always.iter().cloned());
    if let Some(level) = &args.level {
        fit = fit.level(share(level, "--level")?);
    }
    if let Some(examples) = args.half_life {
        fit = fit.half_life(examples);
    }
    if let Some(money) = args.predict_budget {
        fit = fit.predict_within(money);
    }
    if let Some(most) = args.most_attributes {
        fit = fit.most_attributes(most);
    }
    if args.in_order {
        fit = fit.in_order();
    }
    Ok(fit)
}

/// Returns the option that gives the parameter which was refused.
fn flag_of(error: &lao::Error) -> Option<&'static str> {
    let lao::Error::Param(refused) = error else { return None };
    match refused.field {
        "budget" => Some("--budget"),
        "sparsity" | "longest" => Some("--most-attributes"),
        "per_prediction" => Some("--predict-budget"),
        "level" => Some("--level"),
        "half_life" => Some("--half-life"),
        "always" => Some("--always"),
        _ => None,
    }
}

/// Lets an interrupt end the run, so that what was learned is kept; a second one ends the program.
fn stop_at_interrupt(stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    let stop = Arc::clone(stop);
    let interrupted = move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(interrupted).context("cannot catch Ctrl-C")
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

/// Reads a share, with or without a percent sign.
pub fn share(text: &str, flag: &str) -> anyhow::Result<f64> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    match number.trim().parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&(value * unit)) => Ok(value * unit),
        _ => bail!("{flag} = {text}: give a share such as 10% or 0.1"),
    }
}
