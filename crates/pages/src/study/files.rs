//! Files to keep: the examples as CSV, the model, its page, and the whole folder.

use super::StudyPages;
use super::slot::in_class;
use crate::http::Reply;
use crate::model;
use lao_study::{Study, StudyError};
use std::io::{Cursor, Write as _};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

impl StudyPages {
    pub(super) fn file(&self, name: &str) -> Result<Option<Reply>, StudyError> {
        let study = self.open()?;
        let reply = match name {
            "examples.csv" => Reply::file(name, "text/csv; charset=utf-8", examples(&study)?),
            "model.lao.json" => Reply::file(name, "application/json", study.model().to_json().into_bytes()),
            "report.html" => {
                let page = model::html(&study.model());
                let page = page.unwrap_or_else(|error| error.to_string());
                Reply::file(name, "text/html; charset=utf-8", page.into_bytes())
            }
            "study.zip" => Reply::file(name, "application/zip", archive(&study)?),
            _ => return Ok(None),
        };
        Ok(Some(reply))
    }
}

/// Returns the examples as `lao study tell --from` reads them: a row for each slot, an empty cell for a value
/// that was not asked for or is not told yet, and NA for one that could not be had.
fn examples(study: &Study) -> Result<Vec<u8>, StudyError> {
    let description = study.description();
    let mut out = csv::Writer::from_writer(Vec::new());
    let head = ["slot", "name", "state"].into_iter();
    let columns = description.attributes.iter().map(String::as_str);
    // Memory takes what is written.
    let _ = out.write_record(head.chain(columns).chain([&*description.target]));
    for entry in study.entries()? {
        let state = match (&entry.void, &entry.values, entry.label) {
            (Some(_), ..) => "closed",
            (_, None, _) => "open",
            (_, _, None) => "waiting",
            _ => "told",
        };
        let mut row = vec![String::new(); description.attributes.len()];
        for (&j, &x) in entry.attributes.iter().zip(entry.values.iter().flatten()) {
            if let Some(cell) = row.get_mut(j as usize) {
                *cell = if x.is_nan() { "NA".into() } else { x.to_string() };
            }
        }
        let label = entry.label.map_or_else(String::new, |label| in_class(label, &description.label));
        let head = [entry.number.to_string(), entry.name.unwrap_or_default(), state.into()];
        let _ = out.write_record(head.into_iter().chain(row).chain([label]));
    }
    Ok(out.into_inner().unwrap_or_default())
}

/// Returns the folder as an archive, without the lock. The study is open, so nothing changes meanwhile.
fn archive(study: &Study) -> Result<Vec<u8>, StudyError> {
    let folder = study.folder();
    let failed = |path: &std::path::Path, cause| StudyError::File { path: path.to_owned(), cause };
    let name = folder.file_name().map_or_else(|| "study".into(), |name| name.to_string_lossy().into_owned());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|cause| failed(folder, cause))? {
        let path = entry.map_err(|cause| failed(folder, cause))?.path();
        let own = path.file_name().map(|own| own.to_string_lossy().into_owned()).unwrap_or_default();
        let kept = own == "study.json" || own == "journal.jsonl" || own.starts_with("snapshot-");
        if kept && path.is_file() {
            files.push((own, path));
        }
    }
    files.sort();
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (own, path) in files {
        let bytes = std::fs::read(&path).map_err(|cause| failed(&path, cause))?;
        let begun = archive.start_file(format!("{name}/{own}"), SimpleFileOptions::default());
        let written = begun.map_err(std::io::Error::other).and_then(|()| archive.write_all(&bytes));
        written.map_err(|cause| failed(&path, cause))?;
    }
    let archive = archive.finish().map_err(|error| failed(folder, std::io::Error::other(error)))?;
    Ok(archive.into_inner())
}
