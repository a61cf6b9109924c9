//! The report of a run: a page for people and files for programs, all made from one record.
//!
//! | file | for |
//! |---|---|
//! | `index.html` | people: self-contained, light and dark, prints |
//! | `summary.md` | the page of a continuous integration run |
//! | `errata.md` | what is wrong in print, with numbers |
//! | `junit.xml` | tools that show test results |
//! | `plots/<claim>-<n>.svg`, `plots/tightness.svg` | other documents |

pub mod formula;
mod headlines;
mod html;
mod junit;
pub mod markdown;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod schema;
mod view;

use crate::comparison::Comparison;
use crate::errata;
use crate::record::RunRecord;
use crate::run::Timings;
use crate::status::RunStatus;
use lao_figures::standalone;
use lao_files::OutputFolder;

/// The files of a report, without the plots.
const PAGES: [&str; 4] = ["index.html", "summary.md", "errata.md", "junit.xml"];
/// The plot of all claims.
const TIGHTNESS: &str = "plots/tightness.svg";

/// Returns the name of a claim's plot, counted from 1.
fn plot(claim: &str, number: usize) -> String {
    format!("plots/{claim}-{number}.svg")
}

/// Announces the files that [`write()`] writes in any case, so that a file that must not be replaced is known
/// before the first claim runs.
pub(crate) fn announce<'a>(
    folder: &mut OutputFolder,
    claims: impl Iterator<Item = &'a str>,
) -> anyhow::Result<()> {
    folder.announce(PAGES.into_iter().chain([TIGHTNESS]).map(String::from))?;
    folder.announce(claims.map(|claim| plot(claim, 1)))
}

/// Writes the report of a record into the folder of its `evidence.json`. Each file is replaced atomically,
/// and the plots of another run are removed.
///
/// # Errors
/// When a file cannot be written.
pub fn write(
    folder: &mut OutputFolder,
    record: &RunRecord,
    timings: &Timings,
    comparison: Option<&Comparison>,
    status: &RunStatus,
) -> anyhow::Result<()> {
    let page = view::page(record, timings, comparison, status)?;
    let mut files = vec![
        ("index.html".to_string(), html::render(&page)?),
        ("summary.md".to_string(), markdown::summary(record, comparison, status)),
        ("errata.md".to_string(), errata::markdown(record)),
        ("junit.xml".to_string(), junit::xml(record, timings, status)?),
    ];
    files.extend(page.tightness.iter().map(|svg| (TIGHTNESS.into(), standalone(svg))));
    let drawn = page.claims.iter().flat_map(|claim| &claim.plots);
    files.extend(drawn.map(|one| (one.file.clone(), standalone(&one.svg))));
    folder.announce(files.iter().map(|(name, _)| name.clone()))?;
    let stale = |name: &str| name.starts_with("plots/") && files.iter().all(|(new, _)| new != name);
    folder.remove(stale)?;
    files.iter().try_for_each(|(name, text)| folder.write(name, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_written_whole() {
        let out = tempfile::tempdir().unwrap();
        let record = sample::record();
        let mut folder = crate::run::open_folder(out.path()).unwrap();
        write(&mut folder, &record, &Timings::new(), None, &RunStatus::of(&record, None)).unwrap();
        for file in ["index.html", "summary.md", "errata.md", "junit.xml", "plots/tightness.svg"] {
            assert!(folder.path().join(file).metadata().unwrap().len() > 100, "{file}");
        }
        assert!(folder.path().join(plot(&record.claims[0].id, 2)).exists());

        // Another run has fewer plots: the extra plots of this run are removed, and a file that the program
        // did not write stays.
        let mine = out.path().join("plots/mine.svg");
        std::fs::write(&mine, "mine").unwrap();
        let mut fewer = record.clone();
        fewer.claims[0].honest.figures.pop();
        write(&mut folder, &fewer, &Timings::new(), None, &RunStatus::of(&fewer, None)).unwrap();
        assert!(!folder.path().join(plot(&record.claims[0].id, 2)).exists());
        assert!(folder.path().join(plot(&record.claims[0].id, 1)).exists() && mine.exists());
    }
}
