//! `lao study`: live studies.

use crate::fit::share;
use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use lao::{HALF_WIDTH, Label, Prices};
use lao_study::{Description, Recovery, Row, Slot, SlotLabel, Status, Study, StudyError};
use lao_terminal as say;
use rows::{Rows, label_of};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

mod rows;

/// Run a live study: ask which attributes to buy of the next example, for example which tests to order for
/// the next patient, and report the results.
///
/// A study is a folder. Reported values are on the disk before the command returns, and survive power cuts.
/// Only one command can use a study at a time; a second one waits up to `--wait` seconds and then fails.
///
/// The exit status is 0 if all went well; 1 if `ask` has nothing to hand out before open slots or missing
/// labels are reported; 2 for an error; and 3 if the study cannot be used as it is: another process uses
/// it, the folder is damaged, or another version of lao wrote it.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  lao study new -S tumor --target response --attributes panel.txt --budget 12
  lao study new -S flu --target state --positive ill --negative well --attributes panel.txt --budget 6
  lao study new -S heart --target pressure --attributes panel.txt --prices prices.csv --budget 60
  lao study ask -S tumor -n 2
  lao study open -S tumor                                  what is still to be reported
  lao study tell -S tumor 1 CRP=88 IL6=41 LDH=402 response=0.7
  lao study tell -S tumor 2 CRP=4.1 IL6=2.2 LDH=188        the label comes later
  lao study tell -S tumor --from monday.csv                many slots at once
  lao study label -S tumor 2 0.35
  lao study status -S tumor
  lao study model -S tumor -o tumor.lao.json")]
pub struct StudyArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Begin a study in a new folder.
    New(NewArgs),
    /// Hand out slots: which attributes to buy of the next examples.
    Ask(AskArgs),
    /// List the open slots with their attributes, and the missing labels.
    Open(ShowArgs),
    /// Report the values of a slot, or of many from a file, with or without their labels.
    ///
    /// A file has a column `slot`, one for each attribute that was asked for, and one for the label; an empty
    /// cell is a value that was not asked for, or a label that comes later. All rows are recorded, or none.
    Tell(TellArgs),
    /// Report the label of a slot whose values are reported, or of many from a file.
    ///
    /// A file has a column `slot` and one for the label. Columns of attributes are ignored, so that the file
    /// of
    /// `tell` can be used again once its labels are filled in. Rows without a label are ignored. All labels
    /// are recorded, or none.
    Label(LabelArgs),
    /// Close a slot without a result; its purchases stay spent.
    Void(VoidArgs),
    /// Show where the study stands.
    Status(ShowArgs),
    /// Show the evidence for each attribute.
    Evidence(ShowArgs),
    /// Replay the whole journal and compare.
    Verify(ShowArgs),
    /// Write the predictor so far to a model file.
    Model(ModelArgs),
}

/// The folder of the study.
#[derive(Debug, Args)]
struct Place {
    /// Use the study in this folder.
    #[arg(short = 'S', long = "study", value_name = "FOLDER")]
    folder: PathBuf,
    /// Wait this number of seconds while another command uses the study.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u32,
}

#[derive(Debug, Args)]
struct NewArgs {
    #[command(flatten)]
    place: Place,
    /// Predict this label.
    #[arg(long, short)]
    target: String,
    /// Read the names of the attributes from this file, one per line.
    #[arg(long, short, value_name = "FILE")]
    attributes: PathBuf,
    /// Buy at most this number of attributes per example; with --prices, spend at most this amount of money.
    #[arg(long, short, value_name = "N|MONEY")]
    budget: String,
    /// Read prices from this file of lines `attribute,price[,panel]`; a panel is paid once per example.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Spend at most this amount of money per prediction [default: about four fifths of the budget].
    #[arg(long, value_name = "MONEY", requires = "prices")]
    predict_budget: Option<f64>,
    /// Take this class of a two-class label as positive.
    #[arg(long, value_name = "CLASS", requires = "negative")]
    positive: Option<String>,
    /// Take this class of a two-class label as negative.
    #[arg(long, value_name = "CLASS", requires = "positive")]
    negative: Option<String>,
    /// Keep at most this number of attributes in the predictor [default: four fifths of the budget].
    #[arg(long, alias = "longest", value_name = "N")]
    most_attributes: Option<usize>,
    /// Include this attribute in every predictor; can be given more than once.
    #[arg(long, value_name = "ATTRIBUTE")]
    always: Vec<String>,
    /// Bound the probability that the predictor ever includes an irrelevant attribute.
    #[arg(long, default_value = "5%", value_name = "P%")]
    level: String,
    /// Halve the weight of an example after N further examples, for coefficients that drift [default: all
    /// examples have the same weight].
    #[arg(long, value_name = "N")]
    half_life: Option<f64>,
    /// Derive all random draws from this seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON instead of text: the description of the study.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct AskArgs {
    #[command(flatten)]
    place: Place,
    /// Hand out slots for this number of examples.
    #[arg(short = 'n', long, default_value_t = 1)]
    count: u64,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct TellArgs {
    #[command(flatten)]
    place: Place,
    /// Read a CSV file with a row for each slot; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slot", "values"])]
    from: Option<PathBuf>,
    /// The slot.
    #[arg(required_unless_present = "from")]
    slot: Option<u64>,
    /// The values, and the label if it is known.
    #[arg(required_unless_present = "from", value_name = "NAME=VALUE")]
    values: Vec<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct LabelArgs {
    #[command(flatten)]
    place: Place,
    /// Read a CSV file with a row for each slot; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slot", "value"])]
    from: Option<PathBuf>,
    /// The slot.
    #[arg(required_unless_present = "from")]
    slot: Option<u64>,
    /// The label: a number, or a class.
    #[arg(required_unless_present = "from", allow_hyphen_values = true)]
    value: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct VoidArgs {
    #[command(flatten)]
    place: Place,
    /// The slot.
    slot: u64,
    /// Record why the slot has no result.
    #[arg(long, default_value = "")]
    reason: String,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ShowArgs {
    #[command(flatten)]
    place: Place,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ModelArgs {
    #[command(flatten)]
    place: Place,
    /// Write the model to this file.
    #[arg(short, long)]
    output: PathBuf,
    /// Print JSON instead of text: what is in the file.
    #[arg(long)]
    json: bool,
}

/// Returns the exit status of an error: 3 if a study cannot be used as it is.
pub fn status_of(error: &anyhow::Error) -> u8 {
    use StudyError::{Damaged, Format, Locked, OtherVersion};
    match error.downcast_ref() {
        Some(Locked(_) | Damaged { .. } | Format { .. } | OtherVersion { .. }) => 3,
        _ => 2,
    }
}

pub fn run(args: &StudyArgs) -> anyhow::Result<ExitCode> {
    match &args.verb {
        Verb::New(args) => new(args),
        Verb::Ask(args) => ask(args),
        Verb::Open(args) => list_open(args),
        Verb::Tell(args) => tell(args),
        Verb::Label(args) => label(args),
        Verb::Void(args) => void(args),
        Verb::Status(args) => status(args),
        Verb::Evidence(args) => evidence(args),
        Verb::Verify(args) => verify(args),
        Verb::Model(args) => model(args),
    }
}

/// Opens a study, when no other command has it, and says what had to be mended.
fn open(place: &Place) -> anyhow::Result<Study> {
    let (begin, mut said) = (Instant::now(), false);
    let study = loop {
        match Study::open(&place.folder) {
            Err(StudyError::Locked(_)) if begin.elapsed().as_secs() < u64::from(place.wait) => {
                if !said && begin.elapsed().as_secs() >= 1 {
                    say::note(&format!("waiting: another command uses {}", shown(&place.folder)));
                    said = true;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => break opened?,
        }
    };
    let Recovery { cut, .. } = study.recovery();
    if cut > 0 {
        say::note(&format!(
            "removed an incomplete last line of {cut} bytes: its command never reported success"
        ));
    }
    Ok(study)
}

fn new(args: &NewArgs) -> anyhow::Result<ExitCode> {
    let text = std::fs::read_to_string(&args.attributes)
        .with_context(|| format!("cannot read {}", args.attributes.display()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let names: Vec<String> = lines.map(str::to_owned).collect();
    let label = match args.positive.clone().zip(args.negative.clone()) {
        None => Label::Number,
        Some((positive, negative)) if positive != negative => Label::Classes { positive, negative },
        Some((both, _)) => bail!("--positive and --negative are both {both}: give two different classes"),
    };
    let mut begun = match &args.prices {
        Some(file) => {
            let money: f64 = parsed(&args.budget, "with --prices, the money for an example, such as 60")?;
            Description::within_money(&args.target, names, money, &Prices::read(file)?)?
        }
        None => {
            let budget = parsed(&args.budget, "a number of attributes, such as 12")?;
            Description::new(&args.target, names, budget)
        }
    };
    if let Some(money) = &mut begun.money {
        money.per_prediction = args.predict_budget;
    }
    let level = share(&args.level, "--level")?;
    let &NewArgs { most_attributes: longest, half_life, seed, .. } = args;
    let always = args.always.clone();
    let description = Description { label, longest, level, always, half_life, seed, ..begun };
    let study = Study::create(&args.place.folder, description)?;
    let (folder, description) = (shown(&args.place.folder), study.description());
    if args.json {
        let text = serde_json::json!({ "format": 1, "study": folder, "description": description });
        say::results(&format!("{text}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let bought = match &description.money {
        Some(money) => {
            format!(" in {} panels, for at most {} each", description.panels.len(), money.per_example)
        }
        None => format!(", at most {} bought of each example", description.budget),
    };
    say::results(&format!(
        "{folder}: {} attributes{bought}; next: lao study ask -S {folder}\n",
        description.attributes.len(),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a budget.
pub fn parsed<T: std::str::FromStr>(budget: &str, wanted: &str) -> anyhow::Result<T> {
    budget.trim().parse().map_err(|_| anyhow::anyhow!("--budget {budget}: give {wanted}"))
}

fn ask(args: &AskArgs) -> anyhow::Result<ExitCode> {
    let mut study = open(&args.place)?;
    let slots = study.ask(args.count)?;
    if args.json {
        let slots: Vec<_> = slots.iter().map(value_of).collect();
        say::results(&format!("{}\n", serde_json::json!({ "format": 1, "slots": slots })))?;
    } else {
        say::results(&slots.iter().map(line_of).collect::<String>())?;
    }
    if (slots.len() as u64) < args.count {
        let (handed, asked, missing) = (slots.len(), args.count, missing(&study.status()).join(" and "));
        let folder = shown(&args.place.folder);
        say::note(&format!(
            "handed out {handed} of {asked}: before more can be planned, report {missing} (`lao study open \
             -S {folder}`)"
        ));
    }
    Ok(if slots.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Returns a slot for programs.
fn value_of(slot: &Slot) -> serde_json::Value {
    match slot.cost {
        None => serde_json::json!({ "slot": slot.number, "attributes": slot.attributes }),
        Some(cost) => serde_json::json!({
            "slot": slot.number, "attributes": slot.attributes, "panels": slot.panels, "cost": cost,
        }),
    }
}

/// Returns a slot as a line for people.
fn line_of(slot: &Slot) -> String {
    let bill = |cost| format!(" (buy {} for {cost})", slot.panels.join(", "));
    let bill = slot.cost.map_or_else(String::new, bill);
    format!("slot {}: {}{bill}\n", slot.number, slot.attributes.join(", "))
}

/// Returns what is still to be reported, in words: open slots, missing labels, or both.
fn missing(status: &Status) -> Vec<String> {
    let counted = |count: usize, what: &str| {
        let end = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {what}{end}"))
    };
    let parts = [counted(status.open.len(), "open slot"), counted(status.waiting.len(), "missing label")];
    parts.into_iter().flatten().collect()
}

fn list_open(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let study = open(&args.place)?;
    let (slots, waiting) = (study.open_slots(), study.status().waiting);
    if args.json {
        let slots: Vec<_> = slots.iter().map(value_of).collect();
        let text = serde_json::json!({ "format": 1, "slots": slots, "waiting": waiting });
        say::results(&format!("{text}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let target = &study.description().target;
    let mut text: String = slots.iter().map(line_of).collect();
    text.extend(waiting.iter().map(|slot| format!("slot {slot}: only `{target}` is missing\n")));
    if text.is_empty() {
        text = "nothing is to be reported: no slot is open, and no label is missing\n".into();
    }
    say::results(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn tell(args: &TellArgs) -> anyhow::Result<ExitCode> {
    let Some(file) = &args.from else { return tell_one(args) };
    let text = read(file)?;
    let mut study = open(&args.place)?;
    let rows = Rows::read(&text, study.description(), |slot, cells| rows::row(&study, slot, cells).map(Some));
    let rows = rows.with_context(|| shown(file))?;
    say::note(&format!("{}: {} rows read, which are now recorded together", shown(file), rows.told.len()));
    study.tell_all(&rows.told).map_err(|error| rows.blame(error).context(shown(file)))?;
    say_told(&rows.told, &study, args.json)
}

/// Reads a whole file before the study is opened, so that nobody waits for the study while a pipe is slow.
fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut text)
    } else {
        std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut text))
    };
    read.with_context(|| shown(file))?;
    Ok(text)
}

fn tell_one(args: &TellArgs) -> anyhow::Result<ExitCode> {
    let mut study = open(&args.place)?;
    let pairs = args.values.iter().map(|pair| {
        let parts = pair.split_once('=');
        parts.with_context(|| format!("`{pair}`: write NAME=VALUE; nothing was recorded"))
    });
    let pairs: Vec<(&str, &str)> = pairs.collect::<anyhow::Result<_>>()?;
    let row = rows::row(&study, args.slot.unwrap_or_default(), &pairs)?;
    study.tell(row.slot, &row.values, row.label)?;
    say_told(&[row], &study, args.json)
}

/// Says which slots were told with their labels, which without, and which of the whole study wait for theirs.
fn say_told(rows: &[Row], study: &Study, json: bool) -> anyhow::Result<ExitCode> {
    let of = |with_label: bool| {
        let rows = rows.iter().filter(|row| row.label.is_some() == with_label);
        rows.map(|row| row.slot).collect::<Vec<u64>>()
    };
    let (told, without_label, waiting) = (of(true), of(false), study.status().waiting);
    let target = &study.description().target;
    let text = match rows {
        _ if json => serde_json::json!({
            "format": 1, "told": told, "without_label": without_label, "waiting": waiting,
        })
        .to_string(),
        [Row { slot, label: Some(_), .. }] => format!("slot {slot}: told"),
        [Row { slot, .. }] => format!("slot {slot}: values kept, waiting for `{target}`"),
        _ => {
            let (told, without) = (told.len(), without_label.len());
            format!("{told} slots told with `{target}`, {without} without; {} it", wait(&waiting))
        }
    };
    say::results(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Says how many slots wait for their label, up to the name of the label.
fn wait(waiting: &[u64]) -> String {
    let (slots, wait) = if waiting.len() == 1 { ("slot", "waits") } else { ("slots", "wait") };
    format!("{} {slots} of the study {wait} for", waiting.len())
}

fn label(args: &LabelArgs) -> anyhow::Result<ExitCode> {
    let Some(file) = &args.from else { return label_one(args) };
    let text = read(file)?;
    let mut study = open(&args.place)?;
    let description = study.description();
    let rows = Rows::read(&text, description, |slot, cells| rows::label(slot, cells, description));
    let rows = rows.with_context(|| shown(file))?;
    if rows.told.is_empty() {
        let target = &description.target;
        bail!("{}: no row has a label: fill in a column `{target}`; nothing was recorded", shown(file))
    }
    study.label_all(&rows.told).map_err(|error| rows.blame(error).context(shown(file)))?;
    say_labeled(&rows.told, &study, args.json)
}

fn label_one(args: &LabelArgs) -> anyhow::Result<ExitCode> {
    let mut study = open(&args.place)?;
    let label = label_of(args.value.as_deref().unwrap_or_default(), study.description())?;
    let slot = args.slot.unwrap_or_default();
    study.label(slot, label)?;
    say_labeled(&[SlotLabel { slot, label }], &study, args.json)
}

/// Says which slots were told their labels, and which of the whole study still wait.
fn say_labeled(labels: &[SlotLabel], study: &Study, json: bool) -> anyhow::Result<ExitCode> {
    let waiting = study.status().waiting;
    let text = match labels {
        _ if json => {
            let told: Vec<u64> = labels.iter().map(|label| label.slot).collect();
            serde_json::json!({ "format": 1, "told": told, "waiting": waiting }).to_string()
        }
        [SlotLabel { slot, .. }] => format!("slot {slot}: told"),
        _ => {
            let target = &study.description().target;
            format!("{} labels told; {} `{target}`", labels.len(), wait(&waiting))
        }
    };
    say::results(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn void(args: &VoidArgs) -> anyhow::Result<ExitCode> {
    let (mut study, slot) = (open(&args.place)?, args.slot);
    study.void(slot, &args.reason)?;
    let text = if args.json {
        let waiting = study.status().waiting;
        serde_json::json!({ "format": 1, "void": [slot], "waiting": waiting }).to_string()
    } else {
        format!("slot {slot}: void; another example takes its place")
    };
    say::results(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn status(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let study = open(&args.place)?;
    let (status, recovery) = (study.status(), study.recovery());
    if args.json {
        let text = serde_json::json!({ "format": 1, "status": status, "recovered": recovery });
        say::results(&format!("{text}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let support = if status.support.is_empty() { "nothing yet".into() } else { status.support.join(", ") };
    let target = &study.description().target;
    let spent = status.spent.map_or_else(String::new, |spent| format!(" for {spent}"));
    let missing = missing(&status).join(" and ");
    let list = if missing.is_empty() {
        String::new()
    } else {
        format!("{missing} to be reported: lao study open -S {}\n", shown(&args.place.folder))
    };
    say::results(&format!(
        "{} slots handed out, {} values bought{spent}; {} told, {} open, {} waiting for `{target}`, {} void\n\
         found: {support}\n{list}{} more slots may be handed out now\n",
        status.slots,
        status.bought,
        status.told,
        status.open.len(),
        status.waiting.len(),
        status.void,
        status.room,
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn evidence(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let study = open(&args.place)?;
    let names = &study.description().attributes;
    let mut known = study.evidence();
    known.sort_by(|a, b| b.z.abs().total_cmp(&a.z.abs()));
    let name = |j: u32| names.get(j as usize).map_or("", String::as_str);
    if args.json {
        let row = |known: &lao::algorithms::pursuit::Evidence| {
            serde_json::json!({
                "attribute": name(known.attribute), "examples": known.examples, "z": known.z,
                "coefficient": known.coefficient, "standard_error": known.standard_error,
                "until_added": known.until_added,
            })
        };
        let rows: Vec<_> = known.iter().map(row).collect();
        say::results(&format!("{}\n", serde_json::json!({ "format": 1, "evidence": rows })))?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(9);
    let mut text = format!("{:<width$}  examples        z  coefficient (95 % interval)\n", "attribute");
    for known in &known {
        let fate = match known.until_added {
            Some(0) => format!("{:.4} +- {:.4}", known.coefficient, HALF_WIDTH * known.standard_error),
            Some(examples) => format!(
                "not in the model; about {examples} more examples would decide, if the effect stays as \
                 estimated"
            ),
            None => "-".into(),
        };
        text +=
            &format!("{:<width$}  {:>8}  {:>7.2}  {fate}\n", name(known.attribute), known.examples, known.z);
    }
    say::results(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn verify(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let lines = open(&args.place)?.verify()?;
    let text = if args.json {
        serde_json::json!({ "format": 1, "lines": lines }).to_string()
    } else {
        format!("{lines} entries checked: the journal is intact and leads to the stored state")
    };
    say::results(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn model(args: &ModelArgs) -> anyhow::Result<ExitCode> {
    let model = open(&args.place)?.model();
    model.save(&args.output)?;
    say::results(&if args.json { model.to_json() } else { model.to_string() })?;
    Ok(ExitCode::SUCCESS)
}

fn shown(folder: &Path) -> String {
    folder.display().to_string()
}
