//! `lao fit`.

use crate::inspect::load;
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use lao::{Examples, Fit, Label, Model, Pick, Prices, Progress, ReadOptions};
use lao_figures::{check_writable, count};
use lao_say as say;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Learn a model from a table within a budget.
///
/// The table is CSV; gzip, bzip2 and zip are unpacked, and `-` is standard input. All columns but the target
/// are attributes: leave out with --drop what names a row, such as a number of the patient, and what will not
/// be known when the model predicts. Words become attributes `column=word`; empty fields, NA, ? and the like
/// are missing. An example that lacks a value which the method wants to buy is passed over. A label of two
/// values is a class.
///
/// A file of prices has a line `attribute,price` or `attribute,price,panel` for each column. A panel is paid
/// once per example, and has one price, which each of its lines repeats; a price of 0 is free. The budget is
/// then money, and goes where it may explain most.
///
/// `--like` takes the target and all choices from a model; from the same table the same model comes again.
///
/// An interrupt (Ctrl-C) ends learning: the model learned until then is written, and the exit status is 130.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lao fit patients.csv --target pressure --budget 12
  lao fit wide.csv.gz --target y --budget 5% --longest 8 -o y.lao.json
  lao fit patients.csv --target pressure --prices prices.csv --budget 60 --predict-budget 20
  lao fit patients.csv --target sick --positive yes --budget 12 --drop patient --na -999
  lao fit patients.csv --target pressure --budget 12 --method hybrid --json
  lao fit this-year.csv --like patients.lao.json          the target and all choices of a model")]
pub struct FitArgs {
    /// The table.
    data: PathBuf,
    /// The column to predict.
    #[arg(long, short, value_name = "COLUMN", required_unless_present = "like")]
    target: Option<String>,
    /// Of a target with two classes, the positive one [default: the greater number, or the later word].
    #[arg(long, value_name = "CLASS")]
    positive: Option<String>,
    /// A column that is no attribute; can be given more than once.
    #[arg(long, value_name = "COLUMN")]
    drop: Vec<String>,
    /// The number of columns that may be bought of each example, or a share of them, such as 10%; with
    /// --prices, the money for each example.
    #[arg(long, short, value_name = "N|P%|MONEY", required_unless_present = "like")]
    budget: Option<String>,
    /// What the attributes cost: a file of lines `attribute,price[,panel]`.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// The money for a prediction [default: about four fifths of the budget].
    #[arg(long, value_name = "MONEY", requires = "prices")]
    predict_budget: Option<f64>,
    /// The largest number of attributes of the model [default: four fifths of the budget].
    #[arg(long, value_name = "N")]
    longest: Option<usize>,
    /// A column that the model always has; can be given more than once.
    #[arg(long, value_name = "COLUMN")]
    always: Vec<String>,
    /// The probability with which an attribute without effect is ever taken in, at most [default: 5%].
    #[arg(long, value_name = "P%")]
    level: Option<String>,
    /// The number of examples after which an example counts half, for coefficients that change; the examples
    /// are taken in the order of the table then [default: all examples count the same].
    #[arg(long, value_name = "N")]
    half_life: Option<f64>,
    /// The method; `lao methods` lists them.
    #[arg(long, default_value = "pursuit")]
    method: String,
    /// The share of examples on which the error is measured, and from which nothing is learned.
    #[arg(long, default_value = "10%", value_name = "P%")]
    holdout: String,
    /// How often the examples are gone through. More than once makes standard errors too small.
    #[arg(long, default_value_t = 1)]
    passes: u64,
    /// Take the examples in the order of the table, and hold out the last ones, as is right where rows follow
    /// one another in time; without it the order is random.
    #[arg(long)]
    in_order: bool,
    /// The seed from which all draws descend.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Learn as this model was learned: all of the above is taken from it.
    #[arg(long, value_name = "MODEL", conflicts_with_all = [
        "target", "positive", "drop", "budget", "prices", "predict_budget", "longest", "always", "level",
        "half_life", "method", "holdout", "passes", "in_order", "seed", "na",
    ])]
    like: Option<PathBuf>,
    #[command(flatten)]
    layout: Layout,
    /// The model file [default: the table's name with the ending .lao.json].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the model as JSON instead of text.
    #[arg(long)]
    json: bool,
    /// When to show the error each time the examples have doubled; by itself only on a terminal.
    #[arg(long, value_enum, default_value_t = ShowProgress::Auto, value_name = "WHEN")]
    progress: ShowProgress,
    /// Say nothing on standard error but errors, interrupts, and that nothing was found.
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
    /// It has, unless all its fields are numbers.
    Auto,
    /// It has.
    Yes,
    /// It has not; columns are called c1, c2, ...
    No,
}

/// How a table is written.
#[derive(Debug, Args)]
pub struct Layout {
    /// Whether the first line of the table has names.
    #[arg(long, value_enum, default_value_t = Header::Auto)]
    header: Header,
    /// What stands for a missing value, beside an empty field, NA, ?, null and the like: a field, such as
    /// -999, or a field of one column, such as signal=100; can be given more than once.
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
    if let Some(longest) = args.longest {
        fit = fit.longest(longest);
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
        "sparsity" | "longest" => Some("--longest"),
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
fn share(text: &str, flag: &str) -> anyhow::Result<f64> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    match number.trim().parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&(value * unit)) => Ok(value * unit),
        _ => bail!("{flag} = {text}: give a share such as 10% or 0.1"),
    }
}
