//! `lao study tell`, `label` and `void`: what came of slots.

use super::rows::{self, Cells, Rows};
use super::{Place, open, shown};
use anyhow::{Context as _, bail};
use clap::Args;
use lao_study::{Row, SlotLabel, Study};
use lao_terminal as say;
use std::io::Read as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct TellArgs {
    #[command(flatten)]
    place: Place,
    /// Read a CSV file with a row for each slot; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slot", "values"])]
    from: Option<PathBuf>,
    /// The slot.
    #[arg(required_unless_present = "from")]
    slot: Option<u64>,
    /// The values, NA for one of which nothing came, and the label if it is known.
    #[arg(required_unless_present = "from", value_name = "NAME=VALUE")]
    values: Vec<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct LabelArgs {
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
pub struct VoidArgs {
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
pub struct NameArgs {
    #[command(flatten)]
    place: Place,
    /// The slot.
    slot: u64,
    /// The name.
    name: String,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub fn tell(args: &TellArgs) -> anyhow::Result<u8> {
    let Some(file) = &args.from else { return tell_one(args) };
    let text = read(file)?;
    let mut study = open(&args.place)?;
    let row = |slot, cells: &Cells<'_>| rows::row(&study, slot, cells).map(Some);
    let rows = Rows::read(&text, file, study.description(), row)?;
    say::note(&format!("read {} rows of {}; recording them as one entry", rows.told.len(), shown(file)));
    study.tell_all(&rows.told).map_err(|error| rows.blame(error))?;
    say_told(&rows.told, &study, args.json)
}

/// Reads a whole file before the study is opened, so that nobody waits for the study while a pipe is slow.
pub fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut text)
    } else {
        std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut text))
    };
    read.with_context(|| shown(file))?;
    Ok(text)
}

fn tell_one(args: &TellArgs) -> anyhow::Result<u8> {
    let mut study = open(&args.place)?;
    let pairs = args.values.iter().map(|pair| {
        let parts = pair.split_once('=');
        parts.with_context(|| format!("`{pair}`: write NAME=VALUE; nothing was recorded"))
    });
    let pairs = pairs.collect::<anyhow::Result<_>>()?;
    let row = rows::row(&study, args.slot.unwrap_or_default(), &Cells { pairs, number: &typed })?;
    study.tell(row.slot, &row.values, row.label)?;
    say_told(&[row], &study, args.json)
}

/// Reads a number that was typed: its decimals begin with a point or a comma.
fn typed(text: &str) -> Option<f64> {
    lao::decimal(text)
}

/// Says which slots were told with their labels, which without, and which of the whole study wait for theirs.
fn say_told(rows: &[Row], study: &Study, json: bool) -> anyhow::Result<u8> {
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
        [Row { slot, label: Some(_), .. }] => format!("slot {slot}: recorded"),
        [Row { slot, .. }] => format!("slot {slot}: values recorded, waiting for `{target}`"),
        _ => {
            let (told, without) = (told.len(), without_label.len());
            format!("recorded {told} slots with `{target}`, {without} without; {} it", wait(&waiting))
        }
    };
    say::results(&(text + "\n"))?;
    Ok(0)
}

/// Says how many slots wait for their label, up to the name of the label.
fn wait(waiting: &[u64]) -> String {
    let (slots, wait) = if waiting.len() == 1 { ("slot", "waits") } else { ("slots", "wait") };
    format!("{} {slots} of the study {wait} for", waiting.len())
}

pub fn label(args: &LabelArgs) -> anyhow::Result<u8> {
    let Some(file) = &args.from else { return label_one(args) };
    let text = read(file)?;
    let mut study = open(&args.place)?;
    let description = study.description();
    let rows = Rows::read(&text, file, description, |slot, cells| rows::label(slot, cells, description))?;
    if rows.told.is_empty() {
        let target = &description.target;
        bail!("{}: no row has a label: fill in a column `{target}`; nothing was recorded", shown(file))
    }
    study.label_all(&rows.told).map_err(|error| rows.blame(error))?;
    say_labeled(&rows.told, &study, args.json)
}

fn label_one(args: &LabelArgs) -> anyhow::Result<u8> {
    let mut study = open(&args.place)?;
    let typed = Cells { pairs: Vec::new(), number: &typed };
    let label = typed.label(args.value.as_deref().unwrap_or_default(), study.description())?;
    let slot = args.slot.unwrap_or_default();
    study.label(slot, label)?;
    say_labeled(&[SlotLabel { slot, label }], &study, args.json)
}

/// Says which slots were told their labels, and which of the whole study still wait.
fn say_labeled(labels: &[SlotLabel], study: &Study, json: bool) -> anyhow::Result<u8> {
    let waiting = study.status().waiting;
    let text = match labels {
        _ if json => {
            let told: Vec<u64> = labels.iter().map(|label| label.slot).collect();
            serde_json::json!({ "format": 1, "told": told, "waiting": waiting }).to_string()
        }
        [SlotLabel { slot, .. }] => format!("slot {slot}: label recorded"),
        _ => {
            let target = &study.description().target;
            format!("recorded {} labels; {} `{target}`", labels.len(), wait(&waiting))
        }
    };
    say::results(&(text + "\n"))?;
    Ok(0)
}

pub fn void(args: &VoidArgs) -> anyhow::Result<u8> {
    let (mut study, slot) = (open(&args.place)?, args.slot);
    study.void(slot, &args.reason)?;
    let text = if args.json {
        let waiting = study.status().waiting;
        serde_json::json!({ "format": 1, "void": [slot], "waiting": waiting }).to_string()
    } else {
        format!("slot {slot}: closed without a result; another example takes its place")
    };
    say::results(&(text + "\n"))?;
    Ok(0)
}

pub fn name(args: &NameArgs) -> anyhow::Result<u8> {
    let (mut study, slot) = (open(&args.place)?, args.slot);
    study.name(slot, &args.name)?;
    let text = if args.json {
        serde_json::json!({ "format": 1, "slot": slot, "name": args.name }).to_string()
    } else {
        format!("slot {slot}: named {}", lao::shown(&args.name))
    };
    say::results(&(text + "\n"))?;
    Ok(0)
}
