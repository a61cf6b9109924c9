//! What came of a slot, as the user writes it: pairs `NAME=VALUE`, or the rows of a CSV file.

use anyhow::{Context as _, bail};
use lao::{Label, Sheet, SheetRow};
use lao_study::{Description, Row, Slot, SlotLabel, Study, StudyError};
use lao_terminal as say;
use std::path::Path;

pub const NO_ROWS: &str = "there are no rows; nothing was recorded";
/// The column of a file that has the number of the slot.
const SLOT: &str = "slot";

/// What the rows of a file tell, each of one slot.
pub struct Rows<T> {
    pub told: Vec<T>,
    file: String,
    /// The slot and the line of each row.
    rows: Vec<(u64, u64)>,
}

/// The cells of a row that are not empty, by the names of their columns, and how their numbers are read.
pub struct Cells<'a> {
    pub pairs: Vec<(&'a str, &'a str)>,
    pub number: &'a dyn Fn(&str) -> Option<f64>,
}

impl<T> Rows<T> {
    /// Reads the text of a table from `file`. `tell` makes of a slot and its cells what the row tells, if it
    /// tells anything.
    ///
    /// # Errors
    /// When a row cannot be told, or there is none; the error names the line and the column.
    pub fn read(
        text: &[u8],
        file: &Path,
        description: &Description,
        tell: impl Fn(u64, &Cells<'_>) -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<Self> {
        let name = file.display().to_string();
        let sheet = Sheet::parse(text, &name);
        let sheet = sheet.map_err(|error| anyhow::anyhow!("{error}; nothing was recorded"))?;
        let (names, others) = match sheet.rows.split_first() {
            Some((first, others)) => (&first.fields[..], others),
            None => (&[][..], &[][..]),
        };
        let place = place_of_slot(names, description).with_context(|| format!("{name}, line 1"))?;
        let (of_slot, ignored) = place;
        note_ignored(&name, ignored.into_iter());
        let named = |name: &str| name == description.target || description.attribute(name).is_some();
        let known: Vec<bool> = names.iter().map(|name| named(name)).collect();
        let number = |cell: &str| sheet.number(cell);
        let mut all = Rows { told: Vec::new(), file: name.clone(), rows: Vec::new() };
        for SheetRow { line, fields } in others {
            let told = all.row(fields, names, (of_slot, &known), &number, &tell);
            let (slot, told) = told.with_context(|| format!("{name}, line {line}"))?;
            all.told.extend(told);
            all.rows.push((slot, *line));
        }
        if all.rows.is_empty() {
            bail!("{name}: {NO_ROWS}")
        }
        Ok(all)
    }

    /// Returns the slot of a row, and what the row tells.
    fn row(
        &self,
        fields: &[String],
        names: &[String],
        (of_slot, known): (usize, &[bool]),
        number: &dyn Fn(&str) -> Option<f64>,
        tell: impl Fn(u64, &Cells<'_>) -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<(u64, Option<T>)> {
        check_width(fields, names)?;
        let cell = &fields[of_slot];
        let whole = |x: &f64| x.fract() == 0.0 && (0.0..=9e15).contains(x);
        let spelled = || number(cell).filter(whole).map(|x| x as u64);
        let Some(slot) = cell.parse::<u64>().ok().or_else(spelled) else {
            bail!("{SLOT} `{cell}`: give the number of a slot; nothing was recorded")
        };
        if let Some((_, line)) = self.rows.iter().find(|(other, _)| *other == slot) {
            bail!("slot {slot} is in line {line}, too; nothing was recorded")
        }
        let cells = names.iter().map(String::as_str).zip(fields.iter().map(String::as_str)).enumerate();
        let cells = cells.filter(|(i, (_, cell))| known[*i] && !cell.is_empty());
        let pairs = cells.map(|(_, cell)| cell).collect();
        Ok((slot, tell(slot, &Cells { pairs, number })?))
    }

    /// Returns an error of the study with the file, and the line of the slot that it names.
    pub fn blame(&self, error: StudyError) -> anyhow::Error {
        let slot = match &error {
            StudyError::Slot { slot, .. }
            | StudyError::Values { slot, .. }
            | StudyError::Learn { slot, .. } => Some(*slot),
            _ => None,
        };
        let file = &self.file;
        let place = match self.rows.iter().find(|(other, _)| Some(*other) == slot) {
            Some((_, line)) => format!("{file}, line {line}"),
            None => file.clone(),
        };
        anyhow::Error::new(error).context(place)
    }
}

/// Checks that no two columns have one name.
pub fn check_names(names: &[String]) -> anyhow::Result<()> {
    for (i, name) in names.iter().enumerate() {
        if names.iter().take(i).any(|other| other == name) {
            bail!("there are two columns `{name}`; nothing was recorded")
        }
    }
    Ok(())
}

/// Checks that a row has a field for each column.
pub fn check_width(fields: &[String], names: &[String]) -> anyhow::Result<()> {
    if fields.len() != names.len() {
        let (fields, columns) = (fields.len(), names.len());
        bail!("{fields} fields, but the first line has {columns}; nothing was recorded")
    }
    Ok(())
}

/// Says which columns of a file the study does not have.
pub fn note_ignored<'a>(file: &str, columns: impl Iterator<Item = &'a str>) {
    let columns = columns.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if !columns.is_empty() {
        say::note(&format!("{file}: the study has no attribute {columns}; ignored"));
    }
}

/// Checks the names of the columns, and returns the place of the slot's number and the names that the study
/// does not have.
fn place_of_slot<'a>(
    names: &'a [String],
    description: &Description,
) -> anyhow::Result<(usize, Vec<&'a str>)> {
    let Description { target, attributes, .. } = description;
    if target == SLOT || attributes.iter().any(|name| name == SLOT) {
        bail!(
            "the study has a `{SLOT}` of its own, so a file cannot name slots: tell them one by one; nothing \
             was recorded"
        )
    }
    check_names(names)?;
    let is_slot = |name: &str| name.eq_ignore_ascii_case(SLOT);
    let exact = names.iter().position(|name| name == SLOT);
    let place = exact.or_else(|| names.iter().position(|name| is_slot(name)));
    let place = place.with_context(|| format!("there is no column `{SLOT}`; nothing was recorded"))?;
    let known = |name: &str| name == target || description.attribute(name).is_some();
    let ignored = names.iter().enumerate().filter(|(i, name)| *i != place && !known(name));
    Ok((place, ignored.map(|(_, name)| name.as_str()).collect()))
}

/// Returns what came of a slot: the values by name, and the label by the name of the target.
///
/// # Errors
/// When the slot is not open, or other values are given than were asked for.
pub fn row(study: &Study, slot: u64, cells: &Cells<'_>) -> anyhow::Result<Row> {
    let description = study.description();
    let mut label = None;
    let mut told: Vec<(&str, f64)> = Vec::new();
    for &(name, value) in &cells.pairs {
        if name == description.target {
            if lao::is_missing(value) {
                continue;
            }
            if label.replace(cells.label(value, description)?).is_some() {
                bail!("`{name}` is given twice; nothing was recorded")
            }
        } else if told.iter().any(|(other, _)| *other == name) {
            bail!("`{name}` is given twice; nothing was recorded")
        } else {
            let nothing = lao::is_missing(value);
            told.push((name, if nothing { f64::NAN } else { cells.number(name, value)? }));
        }
    }
    let open = study.slot(slot).map_err(|error| anyhow::anyhow!("{error}; nothing was recorded"))?;
    let Slot { attributes: asked, .. } = open;
    // That nothing came of what was not asked for is no news.
    told.retain(|(name, value)| !value.is_nan() || asked.iter().any(|other| other == name));
    if let Some((name, _)) = told.iter().find(|(name, _)| !asked.iter().any(|other| other == name)) {
        bail!("slot {slot}: {name} was not asked for, but {}; nothing was recorded", asked.join(", "))
    }
    let of = |name: &String| {
        told.iter().find(|(other, _)| other == name).map(|(_, value)| *value).with_context(|| {
            format!(
                "slot {slot}: {name} was asked for and is missing; give its value, or {name}=NA if nothing \
                 came of it (`lao study void -S {} {slot} --reason ..` if nothing came of the whole slot); \
                 nothing was recorded",
                study.folder().display()
            )
        })
    };
    let values = asked.iter().map(of).collect::<anyhow::Result<_>>()?;
    Ok(Row { slot, values, label })
}

/// Returns the label that a row gives a slot; the values in it are passed over. `None` if the row has no
/// label, so that the slot goes on waiting for it.
pub fn label(slot: u64, cells: &Cells<'_>, description: &Description) -> anyhow::Result<Option<SlotLabel>> {
    let of_target = |(name, value): &&(&str, &str)| *name == description.target && !lao::is_missing(value);
    let given = cells.pairs.iter().find(of_target);
    given.map(|(_, value)| Ok(SlotLabel { slot, label: cells.label(value, description)? })).transpose()
}

impl Cells<'_> {
    pub fn number(&self, name: &str, value: &str) -> anyhow::Result<f64> {
        (self.number)(value.trim())
            .with_context(|| format!("{name}={value}: give a number, or NA; nothing was recorded"))
    }

    /// Reads a label: a number, or the name of a class.
    pub fn label(&self, value: &str, description: &Description) -> anyhow::Result<f64> {
        match &description.label {
            Label::Number => self.number(&description.target, value),
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
}
