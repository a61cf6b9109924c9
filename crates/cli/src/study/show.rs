//! `lao study status`, `evidence`, `verify` and `model`: where a study stands.

use super::{Place, ShowArgs, missing, open, shown};
use crate::output::{Output, OutputArgs};
use anyhow::bail;
use clap::Args;
use lao_terminal as say;

#[derive(Debug, Args)]
pub struct ModelArgs {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: OutputArgs,
    /// Print JSON instead of text: what is in the file.
    #[arg(long)]
    json: bool,
}

pub fn status(args: &ShowArgs) -> anyhow::Result<u8> {
    let study = open(&args.place)?;
    let (status, recovery) = (study.status(), study.recovery());
    if args.json {
        let text = serde_json::json!({ "format": 1, "status": status, "recovered": recovery });
        say::results(&format!("{text}\n"))?;
        return Ok(0);
    }
    let support = if status.support.is_empty() { "nothing yet".into() } else { status.support.join(", ") };
    let target = &study.description().target;
    let spent = status.spent.map_or_else(String::new, |spent| format!(" for {spent}"));
    let imported = match status.imported {
        0 => String::new(),
        imported => format!(", and {imported} earlier examples imported"),
    };
    let plan = study.description().examples.zip(status.stands());
    let plan = plan
        .map_or_else(String::new, |(examples, stands)| format!("plan of {examples} examples: {stands}\n"));
    let missing = missing(&status).join(" and ");
    let list = if missing.is_empty() {
        String::new()
    } else {
        format!("{missing} to be reported: lao study open -S {}\n", shown(&args.place.folder))
    };
    say::results(&format!(
        "{} slots handed out, {} values bought{spent}; {} complete, {} open, {} waiting for `{target}`, {} \
         closed without a result{imported}\n\
         found: {support}\n{plan}{list}{} more {} may be handed out now\n",
        status.slots,
        status.bought,
        status.told,
        status.open.len(),
        status.waiting.len(),
        status.void,
        status.room,
        if status.room == 1 { "slot" } else { "slots" },
    ))?;
    Ok(0)
}

pub fn evidence(args: &ShowArgs) -> anyhow::Result<u8> {
    let study = open(&args.place)?;
    let names = &study.description().attributes;
    let mut known = study.evidence();
    known.sort_by(|a, b| b.z.abs().total_cmp(&a.z.abs()));
    let name = |j: u32| names.get(j as usize).map_or("", String::as_str);
    if args.json {
        let row = |known: &lao::algorithms::pursuit::Evidence| {
            serde_json::json!({
                "attribute": name(known.attribute), "examples": known.examples, "z": known.z,
                "coefficient": known.in_support().then_some(known.coefficient),
                "standard_error": known.estimate.map(|estimate| estimate.standard_error),
                "anytime_interval": known.anytime_interval(),
                "until_added": known.until_added,
            })
        };
        let rows: Vec<_> = known.iter().map(row).collect();
        say::results(&format!("{}\n", serde_json::json!({ "format": 1, "evidence": rows })))?;
        return Ok(0);
    }
    let width = names.iter().map(|name| lao::shown(name).chars().count()).max().unwrap_or(0).max(9);
    let mut text = format!("{:<width$}  examples        z  coefficient [95 % interval]\n", "attribute");
    for known in &known {
        let fate = match known.until_added {
            Some(0) => match known.anytime_interval() {
                Some([low, high]) => format!("{:.4} [{low:.4}, {high:.4}]", known.coefficient),
                None => {
                    format!("{:.4}, and no interval yet: the model has just changed", known.coefficient)
                }
            },
            Some(examples) => format!(
                "not in the model; about {examples} more examples would decide, if the effect stays as \
                 estimated"
            ),
            None => "-".into(),
        };
        text += &format!(
            "{:<width$}  {:>8}  {:>7.2}  {fate}\n",
            lao::shown(name(known.attribute)),
            known.examples,
            known.z
        );
    }
    say::results(&text)?;
    let status = study.status();
    if status.updates == 0 {
        let told = status.told + status.imported;
        let first = told + status.to_update;
        say::note(&format!(
            "there is no evidence yet: it is renewed after each block of examples; {told} of the {first} \
             of the first block are told with their labels"
        ));
    }
    Ok(0)
}

pub fn verify(args: &ShowArgs) -> anyhow::Result<u8> {
    let lines = open(&args.place)?.verify()?;
    let text = if args.json {
        serde_json::json!({ "format": 1, "lines": lines }).to_string()
    } else {
        format!("{lines} entries checked: the journal is intact and leads to the stored state")
    };
    say::results(&(text + "\n"))?;
    Ok(0)
}

pub fn model(args: &ModelArgs) -> anyhow::Result<u8> {
    if !args.output.is_given() {
        bail!("give the file of the model by --output, or `-` for standard output")
    }
    let output = args.output.checked(Output::Standard, &[&args.place.folder])?;
    let model = open(&args.place)?.model();
    output.write(model.to_json().as_bytes())?;
    if output != Output::Standard {
        say::results(&if args.json { model.to_json() } else { model.to_string() })?;
    }
    if model.coefficients.is_empty() {
        say::note("nothing was found yet: the model predicts the mean");
    }
    Ok(0)
}
