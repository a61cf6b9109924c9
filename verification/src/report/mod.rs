//! The report of a run: a page for people, files for machines, all from one record.
//!
//! | file | for |
//! |---|---|
//! | `index.html` | people: self-contained, light and dark, prints |
//! | `summary.md` | the page of a continuous integration run |
//! | `errata.md` | what is wrong in print, with figures |
//! | `junit.xml` | tools that show test results |
//! | `plots/<claim>-<n>.svg`, `plots/tightness.svg` | other documents |

pub mod formula;
mod html;
mod junit;
pub mod markdown;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod schema;
mod view;

use crate::compare::Comparison;
use crate::errata;
use crate::record::Record;
use crate::run::Timings;
use anyhow::Context as _;
use lao_figures::{standalone, write_atomically};
use std::path::Path;

/// Writes the report of a record into the folder `out`, next to its `evidence.json`. Each file is replaced whole.
///
/// # Errors
/// When a file cannot be written.
pub fn write(
    out: &Path,
    record: &Record,
    timings: &Timings,
    comparison: Option<&Comparison>,
) -> anyhow::Result<()> {
    let page = view::page(record, timings, comparison)?;
    let plots = out.join("plots");
    if plots.exists() {
        std::fs::remove_dir_all(&plots).with_context(|| format!("cannot clear {}", plots.display()))?;
    }
    std::fs::create_dir_all(&plots).with_context(|| format!("cannot create {}", plots.display()))?;
    let mut files = vec![
        ("index.html".to_string(), html::render(&page)?),
        ("summary.md".to_string(), markdown::summary(record, comparison)),
        ("errata.md".to_string(), errata::markdown(record)),
        ("junit.xml".to_string(), junit::xml(record, timings)?),
    ];
    files.extend(page.tightness.iter().map(|svg| ("plots/tightness.svg".into(), standalone(svg))));
    let drawn = page.claims.iter().flat_map(|claim| &claim.plots);
    files.extend(drawn.map(|one| (one.file.clone(), standalone(&one.svg))));
    for (name, text) in files {
        write_atomically(&out.join(name), text.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        let record = sample::record();
        write(folder.path(), &record, &Timings::new(), None).unwrap();
        for file in ["index.html", "summary.md", "errata.md", "junit.xml", "plots/tightness.svg"] {
            assert!(folder.path().join(file).metadata().unwrap().len() > 100, "{file}");
        }
        let plot = format!("plots/{}-2.svg", record.claims[0].id);
        assert!(folder.path().join(plot).exists());
    }
}
