//! `lao study ask` and `open`: what to buy.

use super::{Place, ShowArgs, missing, open, shown};
use anyhow::Context as _;
use clap::Args;
use lao_study::Slot;
use lao_terminal as say;

#[derive(Debug, Args)]
pub struct AskArgs {
    #[command(flatten)]
    place: Place,
    /// Hand out slots for this number of examples.
    #[arg(short = 'n', long, default_value_t = 1)]
    count: u64,
    /// Give the slot this name, such as a pseudonym.
    #[arg(long, conflicts_with = "count")]
    name: Option<String>,
    /// Hand out all of them, even while results are missing on which the next choice rests: they buy what the
    /// present choice buys. For labels that come long after their values.
    #[arg(long)]
    ahead: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub fn ask(args: &AskArgs) -> anyhow::Result<u8> {
    let mut study = open(&args.place)?;
    if let Some(name) = &args.name {
        study.may_be_named(name)?;
    }
    let mut slots = if args.ahead { study.ask_ahead(args.count)? } else { study.ask(args.count)? };
    if let (Some(name), Some(slot)) = (&args.name, slots.first_mut()) {
        study.name(slot.number, name)?;
        slot.name = Some(name.clone());
    }
    let said = handed_out(&slots);
    if args.json {
        let slots: Vec<_> = slots.iter().map(value_of).collect();
        let text = format!("{}\n", serde_json::json!({ "format": 1, "slots": slots }));
        say::results(&text).with_context(|| said)?;
    } else {
        say::results(&slots.iter().map(line_of).collect::<String>()).with_context(|| said)?;
    }
    if (slots.len() as u64) < args.count {
        let (handed, asked, missing) = (slots.len(), args.count, missing(&study.status()).join(" and "));
        let folder = shown(&args.place.folder);
        say::note(&format!(
            "handed out {handed} of {asked}: before more can be planned, report {missing} (`lao study open \
             -S {folder}`), or hand out more of the present plan by --ahead"
        ));
    }
    Ok(if slots.is_empty() { 1 } else { 0 })
}

/// Says what was recorded, for an error that follows: a second ask would hand out others.
fn handed_out(slots: &[Slot]) -> String {
    let numbers: Vec<String> = slots.iter().map(|slot| slot.number.to_string()).collect();
    format!("slots {} are handed out (`lao study open` shows them again)", numbers.join(", "))
}

/// Returns a slot for programs.
fn value_of(slot: &Slot) -> serde_json::Value {
    let mut value = match slot.cost {
        None => serde_json::json!({ "slot": slot.number, "attributes": slot.attributes }),
        Some(cost) => serde_json::json!({
            "slot": slot.number, "attributes": slot.attributes, "panels": slot.panels, "cost": cost,
        }),
    };
    if let Some(name) = &slot.name {
        value["name"] = name.as_str().into();
    }
    value
}

/// Returns a slot as a line for people.
fn line_of(slot: &Slot) -> String {
    let bill = |cost| format!(" (buy {} for {cost})", slot.panels.join(", "));
    let bill = slot.cost.map_or_else(String::new, bill);
    let names: Vec<_> = slot.attributes.iter().map(|name| lao::shown(name)).collect();
    let name = slot.name.as_ref().map_or_else(String::new, |name| format!(" ({})", lao::shown(name)));
    format!("slot {}{name}: {}{bill}\n", slot.number, names.join(", "))
}

pub fn list_open(args: &ShowArgs) -> anyhow::Result<u8> {
    let study = open(&args.place)?;
    let (slots, waiting) = (study.open_slots(), study.status().waiting);
    if args.json {
        let slots: Vec<_> = slots.iter().map(value_of).collect();
        let text = serde_json::json!({ "format": 1, "slots": slots, "waiting": waiting });
        say::results(&format!("{text}\n"))?;
        return Ok(0);
    }
    let target = &study.description().target;
    let mut text: String = slots.iter().map(line_of).collect();
    text.extend(waiting.iter().map(|slot| {
        let name = study.name_of(*slot).map_or_else(String::new, |name| format!(" ({})", lao::shown(name)));
        format!("slot {slot}{name}: only `{target}` is missing\n")
    }));
    if text.is_empty() {
        text = "nothing is to be reported: no slot is open, and no label is missing\n".into();
    }
    say::results(&text)?;
    Ok(0)
}
