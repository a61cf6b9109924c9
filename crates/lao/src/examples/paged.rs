//! Examples of a table that is read by pages.

use super::label::{Classes, labels};
use super::rows::{Rows, Runs};
use super::{Examples, Labels, Store, all_rows, check_names};
use crate::error::Error;
use crate::frame::{Reading, Values};
use crate::table::Table;
use std::sync::Arc;

/// What is known of a table that is read by pages before a run begins.
pub(crate) struct PagedParts {
    pub table: Arc<dyn Table>,
    pub name: String,
    pub target: String,
    pub label: PagedLabel,
    /// The column of each attribute and, if the column has words, the word at which the attribute is 1.
    pub attributes: Vec<(String, Option<String>)>,
    /// The other columns.
    pub others: Vec<String>,
    pub notes: Vec<String>,
    pub reading: Reading,
}

/// What is known of a label before a run begins.
pub(crate) enum PagedLabel {
    /// All of it.
    Held(Values),
    /// Its words, if it has any, its classes, and the rows that have one; the table reads it as if it were an
    /// attribute.
    Stored { at: u32, rows: usize, words: Vec<String>, classes: Classes, known: Runs },
}

impl Examples {
    /// Returns the rows of a table that is read by pages, whose label was read.
    pub(crate) fn of_pages(parts: PagedParts, positive: Option<&str>) -> Result<Self, Error> {
        let PagedParts { table, name, target, label, attributes, others, mut notes, reading } = parts;
        let (label, labels, rows) = match label {
            PagedLabel::Held(values) => {
                let (label, labels) = labels(&values, &target, positive, &mut notes)?;
                let rows = Rows::in_runs(all_rows(&labels).into_iter());
                (label, Labels::Held(labels), rows)
            }
            PagedLabel::Stored { at, rows, words, classes, known } => {
                let (label, coding) = classes.decided(&words, &target, positive, &mut notes)?;
                (label, Labels::Stored { at, coding, rows }, Rows::Runs(known))
            }
        };
        let missing = labels.rows() - rows.len();
        if missing > 0 {
            notes.push(format!("{missing} rows are left out: they have no `{target}`"));
        }
        let names = attributes.iter().map(|(column, word)| match word {
            Some(word) => format!("{column}={word}"),
            None => column.clone(),
        });
        let names: Vec<String> = names.collect();
        check_names(&names)?;
        let notes = notes.into_iter().map(crate::escape::line).collect();
        let (hash, values) = (String::new(), table);
        let store = Store {
            table: name,
            hash,
            target,
            label,
            names,
            others,
            attributes,
            values,
            labels,
            notes,
            reading,
        };
        Ok(Examples { store: Arc::new(store), rows: Arc::new(rows), weights: None, stop: Arc::default() })
    }
}
