//! What came of a slot, as the user writes it: pairs `NAME=VALUE`, or the rows of a CSV file.

use anyhow::{Context as _, bail};
use lao::Label;
use lao_study::{Description, Row, Slot, SlotLabel, Study, StudyError};

/// The column of a file that has the number of the slot.
const SLOT: &str = "slot";

/// What the rows of a file tell, each of one slot.
pub struct Rows<'a, T> {
    pub told: Vec<T>,
    rows: Vec<Place>,
    text: &'a [u8],
}

/// A row of a file.
struct Place {
    slot: u64,
    /// The place in the text where the row begins, or where the line ends before it begin.
    start: usize,
}

impl<'a, T> Rows<'a, T> {
    /// Reads the text of a table. `tell` makes of a slot and its cells, of which none is empty, what the row
    /// tells, if it tells anything.
    ///
    /// # Errors
    /// When a row cannot be told, or none tells anything; the error names the line and the column.
    pub fn read(
        text: &'a [u8],
        description: &Description,
        tell: impl Fn(u64, &[(&str, &str)]) -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<Self> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut all = Rows { told: Vec::new(), rows: Vec::new(), text };
        if let Err(error) = std::str::from_utf8(text) {
            let line = all.line(error.valid_up_to());
            bail!("line {line}: this is not UTF-8; save the table as UTF-8; nothing was recorded")
        }
        let mut builder = csv::ReaderBuilder::new();
        builder.trim(csv::Trim::All).flexible(true).delimiter(separator(text));
        let mut reader = builder.from_reader(text);
        let names = reader.headers().context("nothing was recorded")?.clone();
        let of_slot = place_of_slot(&names, description).context("line 1")?;
        for record in reader.records() {
            let record = record.context("nothing was recorded")?;
            // The record's own line may be that of the line ends before it.
            let start = record.position().map_or(0, |place| place.byte() as usize);
            let line = || format!("line {}", all.line(start));
            if record.len() != names.len() {
                let (fields, columns) = (record.len(), names.len());
                bail!("{}: {fields} fields, but the first line has {columns}; nothing was recorded", line())
            }
            let slot = all.slot(record.get(of_slot).unwrap_or_default()).with_context(line)?;
            let cells = names.iter().zip(&record).enumerate();
            let cells = cells.filter(|(i, (_, cell))| *i != of_slot && !cell.is_empty());
            let cells: Vec<(&str, &str)> = cells.map(|(_, cell)| cell).collect();
            let told = tell(slot, &cells).with_context(line)?;
            all.told.extend(told);
            all.rows.push(Place { slot, start });
        }
        if all.rows.is_empty() {
            bail!("there are no rows; nothing was recorded")
        }
        Ok(all)
    }

    /// Returns the line of a place, or of what follows the line ends at this place.
    fn line(&self, start: usize) -> usize {
        let (before, rest) = self.text.split_at(start.min(self.text.len()));
        let empty = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        1 + before.iter().chain(empty).filter(|&&byte| byte == b'\n').count()
    }

    /// Reads the number of a slot that no row before has.
    fn slot(&self, cell: &str) -> anyhow::Result<u64> {
        let Ok(slot) = cell.parse::<u64>() else {
            bail!("{SLOT} `{cell}`: give the number of a slot; nothing was recorded")
        };
        match self.rows.iter().find(|row| row.slot == slot) {
            Some(first) => {
                bail!("slot {slot} is in line {}, too; nothing was recorded", self.line(first.start))
            }
            None => Ok(slot),
        }
    }

    /// Returns an error of the study with the line of the slot that it names.
    pub fn blame(&self, error: StudyError) -> anyhow::Error {
        let slot = match &error {
            StudyError::Slot { slot, .. }
            | StudyError::Values { slot, .. }
            | StudyError::Learn { slot, .. } => *slot,
            _ => return error.into(),
        };
        match self.rows.iter().find(|row| row.slot == slot) {
            Some(row) => anyhow::Error::new(error).context(format!("line {}", self.line(row.start))),
            None => error.into(),
        }
    }
}

/// Returns the separator that the first line has most of.
fn separator(text: &[u8]) -> u8 {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |separator: u8| line.iter().filter(|&&byte| byte == separator).count();
    b"\t;,".iter().copied().max_by_key(|&separator| count(separator)).unwrap_or(b',')
}

/// Checks the names of the columns, and returns the place of the slot's number.
fn place_of_slot(names: &csv::StringRecord, description: &Description) -> anyhow::Result<usize> {
    let Description { target, attributes, .. } = description;
    if target == SLOT || attributes.iter().any(|name| name == SLOT) {
        bail!(
            "the study has a `{SLOT}` of its own, so a file cannot name slots: tell them one by one; nothing \
             was recorded"
        )
    }
    for (i, name) in names.iter().enumerate() {
        if names.iter().take(i).any(|other| other == name) {
            bail!("there are two columns `{name}`; nothing was recorded")
        }
        if name != SLOT && name != target && description.attribute(name).is_none() {
            bail!(
                "column `{name}` is neither `{SLOT}` nor `{target}` nor an attribute of the study; rename \
                 or remove it; nothing was recorded"
            )
        }
    }
    let place = names.iter().position(|name| name == SLOT);
    place.with_context(|| format!("there is no column `{SLOT}`; nothing was recorded"))
}

/// Returns what came of a slot: the values by name, and the label by the name of the target.
///
/// # Errors
/// When the slot is not open, or other values are given than were asked for.
pub fn row(study: &Study, slot: u64, pairs: &[(&str, &str)]) -> anyhow::Result<Row> {
    let description = study.description();
    let mut label = None;
    let mut told: Vec<(&str, f64)> = Vec::new();
    for &(name, value) in pairs {
        if name == description.target {
            if label.replace(label_of(value, description)?).is_some() {
                bail!("`{name}` is given twice; nothing was recorded")
            }
        } else if told.iter().any(|(other, _)| *other == name) {
            bail!("`{name}` is given twice; nothing was recorded")
        } else {
            told.push((name, number(name, value)?));
        }
    }
    let open = study.slot(slot).map_err(|error| anyhow::anyhow!("{error}; nothing was recorded"))?;
    let Slot { attributes: asked, .. } = open;
    if let Some((name, _)) = told.iter().find(|(name, _)| !asked.iter().any(|other| other == name)) {
        bail!("slot {slot}: {name} was not asked for, but {}; nothing was recorded", asked.join(", "))
    }
    let of = |name: &String| {
        told.iter().find(|(other, _)| other == name).map(|(_, value)| *value).with_context(|| {
            format!(
                "slot {slot}: {name} was asked for and is missing; give its value, or `lao study void -S \
                 {} {slot} --reason ..`; nothing was recorded",
                study.folder().display()
            )
        })
    };
    let values = asked.iter().map(of).collect::<anyhow::Result<_>>()?;
    Ok(Row { slot, values, label })
}

/// Returns the label that a row gives a slot; the values in it are passed over. `None` if the row has no
/// label, so that the slot goes on waiting for it.
pub fn label(
    slot: u64,
    pairs: &[(&str, &str)],
    description: &Description,
) -> anyhow::Result<Option<SlotLabel>> {
    let given = pairs.iter().find(|(name, _)| *name == description.target);
    given.map(|(_, value)| Ok(SlotLabel { slot, label: label_of(value, description)? })).transpose()
}

fn number(name: &str, value: &str) -> anyhow::Result<f64> {
    match value.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => bail!("{name}={value}: give a number; nothing was recorded"),
    }
}

/// Reads a label: a number, or the name of a class.
pub fn label_of(value: &str, description: &Description) -> anyhow::Result<f64> {
    match &description.label {
        Label::Number => number(&description.target, value),
        Label::Classes { positive, .. } if value == positive => Ok(1.0),
        Label::Classes { negative, .. } if value == negative => Ok(-1.0),
        Label::Classes { positive, negative } => {
            bail!(
                "{}={value}: the classes are {positive} and {negative}; nothing was recorded",
                description.target
            )
        }
    }
}
