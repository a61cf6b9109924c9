//! `lao study import`: examples that were known before.

use super::rows::{self, Cells};
use super::{Place, open, shown, tell};
use anyhow::{Context as _, bail};
use clap::Args;
use lao::{Sheet, SheetRow};
use lao_study::{Description, Given, StudyError};
use lao_terminal as say;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(flatten)]
    place: Place,
    /// Read a CSV file with a row for each example; `-` is standard input.
    file: PathBuf,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// The examples of a table.
struct Earlier {
    examples: Vec<Given>,
    /// The line of each example.
    lines: Vec<u64>,
    /// Rows that have no label, or nothing else.
    passed_over: usize,
}

pub fn import(args: &ImportArgs) -> anyhow::Result<u8> {
    let text = tell::read(&args.file)?;
    let mut study = open(&args.place)?;
    let name = shown(&args.file);
    let Earlier { examples, lines, passed_over } = read(&text, &name, study.description())?;
    let blame = |error: StudyError| match error {
        StudyError::Import { example: Some(example), reason } => {
            let line = lines.get(example - 1).copied().unwrap_or_default();
            anyhow::anyhow!("{name}, line {line}: {reason}; nothing was recorded")
        }
        error => anyhow::Error::new(error).context(name.clone()),
    };
    study.import(&examples).map_err(blame)?;
    let (target, imported) = (&study.description().target, examples.len());
    if passed_over > 0 {
        let rows = if passed_over == 1 { "row" } else { "rows" };
        say::note(&format!(
            "{name}: passed over {passed_over} {rows} without `{target}`, or with nothing else"
        ));
    }
    let text = if args.json {
        serde_json::json!({ "format": 1, "imported": imported, "passed_over": passed_over }).to_string()
    } else {
        format!("recorded {imported} earlier examples; they count as learned from, not as bought")
    };
    say::results(&(text + "\n"))?;
    Ok(0)
}

fn read(text: &[u8], name: &str, description: &Description) -> anyhow::Result<Earlier> {
    let sheet = Sheet::parse(text, name);
    let sheet = sheet.map_err(|error| anyhow::anyhow!("{error}; nothing was recorded"))?;
    let Some((SheetRow { fields: names, .. }, rows)) = sheet.rows.split_first() else {
        bail!("{name}: {}", rows::NO_ROWS)
    };
    rows::check_names(names).with_context(|| format!("{name}, line 1"))?;
    let target = &description.target;
    let Some(of_label) = names.iter().position(|name| name == target) else {
        bail!("{name}: there is no column `{target}`; nothing was recorded")
    };
    let attributes: Vec<_> = names.iter().map(|name| description.attribute(name)).collect();
    if attributes.iter().all(Option::is_none) {
        bail!("{name}: no column is an attribute of the study; nothing was recorded")
    }
    let others = attributes.iter().enumerate().filter(|(c, j)| j.is_none() && *c != of_label);
    rows::note_ignored(name, others.map(|(c, _)| names[c].as_str()));

    let number = |cell: &str| sheet.number(cell);
    let cells = Cells { pairs: Vec::new(), number: &number };
    let mut earlier = Earlier { examples: Vec::new(), lines: Vec::new(), passed_over: 0 };
    for SheetRow { line, fields } in rows {
        let place = || format!("{name}, line {line}");
        rows::check_width(fields, names).with_context(place)?;
        let is_known = |cell: &str| !lao::is_missing(cell);
        let known = attributes.iter().zip(fields).enumerate().filter(|(_, (_, cell))| is_known(cell));
        let values = known.filter_map(|(c, (j, cell))| j.map(|j| (j, cells.number(&names[c], cell))));
        let values = values.map(|(j, value)| Ok((j, value.with_context(place)?)));
        let mut values = values.collect::<anyhow::Result<Vec<(u32, f64)>>>()?;
        if values.is_empty() || !is_known(&fields[of_label]) {
            earlier.passed_over += 1;
            continue;
        }
        values.sort_by_key(|(j, _)| *j);
        let label = cells.label(&fields[of_label], description).with_context(place)?;
        let (attributes, values) = values.into_iter().unzip();
        earlier.examples.push(Given { attributes, values, label });
        earlier.lines.push(*line);
    }
    if earlier.examples.is_empty() {
        bail!("{name}: no row has `{target}` and a value of an attribute; nothing was recorded")
    }
    Ok(earlier)
}
