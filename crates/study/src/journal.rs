//! The journal: a line for each thing that happened, with a hash over all lines so far.

use crate::error::StudyError;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// What came of a slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The slot.
    pub slot: u64,
    /// One value per attribute asked for; NaN for one that came to nothing.
    #[serde(with = "crate::gaps")]
    pub values: Vec<f64>,
    /// The label, if it is known.
    pub label: Option<f64>,
}

/// The label of a slot whose values are told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotLabel {
    /// The slot.
    pub slot: u64,
    /// The label.
    pub label: f64,
}

/// An example that was known before: not handed out, and not bought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The attributes whose values are known, by their places in the description, ascending.
    pub attributes: Vec<u32>,
    /// One value for each of them.
    pub values: Vec<f64>,
    /// The label.
    pub label: f64,
}

/// An attribute that joins a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joining {
    /// Its name.
    pub name: String,
    /// Where attributes have prices, its own, as [`lao::Price`] has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// Its panel, which may be one of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<String>,
    /// What it costs beside others of its panel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub further: Option<f64>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Record {
    /// So many slots were handed out, all of them for the same attributes.
    Asked {
        /// Their number.
        slots: u64,
        /// The attributes, by their places in the description. A line without them was written by a lao that
        /// did not name them: it stands for the attributes for which this lao asks at that line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attributes: Option<Vec<u32>>,
        /// Where attributes have prices: what each slot costs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        /// Whether they were handed out although the next choice waits for results.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ahead: bool,
    },
    /// The values of a slot came, with or without the label.
    Told {
        /// The slot.
        slot: u64,
        /// One value per attribute asked for; NaN for one that came to nothing.
        #[serde(with = "crate::gaps")]
        values: Vec<f64>,
        /// The label, if it is known.
        label: Option<f64>,
    },
    /// The values of several slots came together: all of them are in this line, so that none comes alone.
    ToldAll {
        /// What came of each slot, in the order in which it is learned.
        rows: Vec<Row>,
    },
    /// The label of a slot came.
    Labeled {
        /// The slot.
        slot: u64,
        /// The label.
        label: f64,
    },
    /// The labels of several slots came together: all of them are in this line, so that none comes alone.
    LabeledAll {
        /// The label of each slot, in the order in which it is learned.
        labels: Vec<SlotLabel>,
    },
    /// Examples that were known before were added: all of them are in this line.
    Imported {
        /// The examples, in the order in which they are learned.
        examples: Vec<Given>,
    },
    /// Attributes joined: they may be bought from now on.
    Joined {
        /// The attributes, which come after the others.
        attributes: Vec<Joining>,
    },
    /// A slot will never be told.
    Void {
        /// The slot.
        slot: u64,
        /// Why.
        reason: String,
    },
    /// A slot got a name, such as the pseudonym of a patient; nothing is learned from it.
    Named {
        /// The slot.
        slot: u64,
        /// The name.
        name: String,
    },
}

/// A line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The number of the line, counted from 1.
    seq: u64,
    record: Record,
    /// The hash over the line before, the number and the record.
    chain: String,
}

/// The place in the journal up to which a state knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    /// Lines so far.
    pub seq: u64,
    /// The hash of the last line.
    pub chain: String,
}

impl Place {
    /// Returns the place before the first line: the hash of the description.
    pub fn begin(description: &[u8]) -> Self {
        Place { seq: 0, chain: digest(description) }
    }

    /// Returns the place after a record.
    fn after(&self, record: &Record) -> Self {
        let seq = self.seq + 1;
        let mut hash = Sha256::new();
        hash.update(self.chain.as_bytes());
        hash.update(seq.to_le_bytes());
        // A record has finite numbers only, or gaps, which JSON can always hold.
        hash.update(serde_json::to_vec(record).unwrap_or_default());
        Place { seq, chain: hex(&hash.finalize()) }
    }
}

/// Returns the first half of a SHA-256, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(hash: &[u8]) -> String {
    hash[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The damage that git and editors do.
pub(crate) const LINE_ENDS: &str = "the ends of lines were changed to those of Windows, as git and \
                                    editors do (dos2unix changes them back)";

/// What was read of a journal.
pub(crate) struct Replay {
    /// The records, in order.
    pub records: Vec<Record>,
    /// The place after each of them.
    pub places: Vec<Place>,
    /// The length of the good part, in bytes.
    pub good: u64,
    /// The length of what follows the good part, in bytes: a line that was not written to its end, or zeros.
    pub torn: u64,
    /// Whether the last good line lacks its end of line, and nothing else.
    pub unended: bool,
}

/// Reads a whole journal. What was torn by a crash is at the end and has no end of line: the beginning of a
/// line, or nothing, or all of a line, and then zeros up to the length that the file was to have, if the
/// power failed between two pages. Anything else that does not fit is damage.
pub(crate) fn read(path: &Path, begin: &Place) -> Result<Replay, StudyError> {
    let mut text = Vec::new();
    let failed = |cause| StudyError::File { path: path.to_owned(), cause };
    lao_files::open_ordinary(path).and_then(|mut file| file.read_to_end(&mut text)).map_err(failed)?;
    let mut replay = Replay { records: Vec::new(), places: Vec::new(), good: 0, torn: 0, unended: false };
    let mut place = begin.clone();
    while (replay.good as usize) < text.len() {
        let rest = &text[replay.good as usize..];
        let end = rest.iter().position(|&byte| byte == b'\n');
        let line = match end {
            Some(end) => &rest[..end],
            // No line of lao has a zero byte.
            None => &rest[..rest.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)],
        };
        let damaged =
            |reason: String| StudyError::Damaged { path: path.to_owned(), line: place.seq + 1, reason };
        let read: Line = match serde_json::from_slice(line) {
            Ok(read) => read,
            Err(error) if end.is_none() && error.is_eof() => {
                replay.torn = rest.len() as u64;
                break;
            }
            Err(error) => return Err(damaged(error.to_string())),
        };
        if line.ends_with(b"\r") {
            return Err(damaged(LINE_ENDS.into()));
        }
        let next = place.after(&read.record);
        if (read.seq, &read.chain) != (next.seq, &next.chain) {
            return Err(damaged("this line was changed, or lines before it are missing".into()));
        }
        // Another spelling of the same record would be a change, too.
        let written = serialized(&read.record, &next);
        if written[..written.len() - 1] != *line {
            return Err(damaged("it is not written as lao writes it".into()));
        }
        replay.good += line.len() as u64 + u64::from(end.is_some());
        replay.records.push(read.record);
        replay.places.push(next.clone());
        place = next;
        if end.is_none() {
            replay.unended = true;
            replay.torn = (rest.len() - line.len()) as u64;
            break;
        }
    }
    Ok(replay)
}

fn serialized(record: &Record, place: &Place) -> Vec<u8> {
    let line = Line { seq: place.seq, record: record.clone(), chain: place.chain.clone() };
    let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// A journal that is written to.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// The length of the good part.
    length: u64,
    /// Whether what lies beyond the good part could not be taken back.
    broken: bool,
}

impl Journal {
    /// Opens a journal for writing, cuts it to the length of its good part, and ends its last line.
    pub fn open(path: &Path, replay: &Replay) -> Result<Self, StudyError> {
        let failed = |cause| StudyError::File { path: path.to_owned(), cause };
        let mut length = replay.good;
        let mut mend = || {
            let mut file = File::options().read(true).write(true).open(path)?;
            if file.metadata()?.len() > length {
                file.set_len(length)?;
                file.sync_all()?;
            }
            if replay.unended {
                file.seek(SeekFrom::Start(length))?;
                file.write_all(b"\n")?;
                file.sync_all()?;
                length += 1;
            }
            Ok(file)
        };
        let file = mend().map_err(failed)?;
        Ok(Journal { path: path.to_owned(), file, length, broken: false })
    }

    /// Checks that the file that is open is still the journal of the study, and has the length that it had.
    fn check_place(&self) -> Result<(), StudyError> {
        let failed = |cause| StudyError::File { path: self.path.clone(), cause };
        let changed =
            |reason: &str| Err(StudyError::Changed { path: self.path.clone(), reason: reason.into() });
        let own = self.file.metadata().map_err(failed)?;
        let named = match std::fs::symlink_metadata(&self.path) {
            Ok(named) => named,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return changed("it was removed"),
            Err(error) => return Err(failed(error)),
        };
        if !lao_files::is_same(&own, &named) {
            return changed("another file has its name");
        }
        if own.len() != self.length {
            return changed("something else wrote to it");
        }
        Ok(())
    }

    /// Appends a record. It is on the disk when this returns; if it cannot be written it is taken back.
    pub fn append(&mut self, record: &Record, place: &mut Place) -> Result<(), StudyError> {
        let failed = |cause| StudyError::File { path: self.path.clone(), cause };
        if self.broken {
            self.file.set_len(self.length).map_err(failed)?;
            self.broken = false;
        }
        self.check_place()?;
        let next = place.after(record);
        let bytes = serialized(record, &next);
        let write = |file: &mut File, at: u64| {
            file.seek(SeekFrom::Start(at))?;
            file.write_all(&bytes)?;
            file.sync_data()
        };
        if let Err(cause) = write(&mut self.file, self.length) {
            self.broken = self.file.set_len(self.length).is_err();
            return Err(StudyError::Unwritten { path: self.path.clone(), cause, taken_back: !self.broken });
        }
        self.length += bytes.len() as u64;
        *place = next;
        Ok(())
    }
}
