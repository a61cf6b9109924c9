//! A study: a folder, its lock, and the state.

use crate::description::{DEFAULT_LEVEL, Description};
use crate::error::StudyError;
use crate::journal::{self, Given, Joining, Journal, Place, Record, Row, SlotLabel};
use crate::snapshot::{ahead_of, snapshots};
use crate::state::State;
use crate::status::{Slot, Status};
use lao::algorithms::AnyParams;
use lao::algorithms::pursuit::Evidence;
use lao::{About, Choices, JournalPlace, Model, Origin, PricedColumns, Reading, Spent, SpentMoney};
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

const DESCRIPTION: &str = "study.json";
const JOURNAL: &str = "journal.jsonl";
const LOCK: &str = "lock";
/// A file that is being written. There is one at a time, so a process that is killed leaves no more than one.
const UNFINISHED: &str = "unfinished";
/// Lines of the journal between two snapshots, at most. A snapshot is also a witness of the lines that it
/// stands for, so the first ones come early.
const SNAPSHOT_EVERY: u64 = 256;
/// Snapshots that are kept.
const KEPT: usize = 2;

/// A study that is open in this process, and in no other.
#[derive(Debug)]
pub struct Study {
    folder: PathBuf,
    description: Description,
    state: State,
    place: Place,
    /// The journal and the lock; `None` if the study can only be read.
    writing: Option<(Journal, File)>,
    recovery: Recovery,
    /// The lines of the newest snapshot.
    snapshot: u64,
}

/// What opening a study had to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// The lines that the snapshot in use stands for.
    pub snapshot: u64,
    /// The lines that were replayed after it.
    pub replayed: u64,
    /// The bytes of a last line that was never finished, zeros after it included, and was cut off. Nobody was
    /// told that it had been recorded.
    pub cut: u64,
}

/// A state, and the lines of the journal that it stands for.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    /// The version of lao that wrote it: what another version had in mind need not be what this one has.
    version: String,
    place: Place,
    state: State,
}

impl Study {
    /// Begins a study in a folder, which must not exist.
    ///
    /// # Errors
    /// When the folder exists or cannot be made, or the description is not allowed.
    pub fn create(folder: impl AsRef<Path>, description: Description) -> Result<Self, StudyError> {
        let folder = folder.as_ref();
        let id = if description.id.is_empty() { new_id() } else { description.id };
        let description = Description { id, ..description };
        State::begin(&description)?;
        match std::fs::create_dir(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(StudyError::Exists(folder.to_owned()));
            }
            Err(cause) => return Err(StudyError::File { path: folder.to_owned(), cause }),
        }
        let begun = (|| {
            write(folder, JOURNAL, b"")?;
            // The description comes last: with it, the folder is a study.
            let mut text = serde_json::to_vec_pretty(&description).unwrap_or_default();
            text.push(b'\n');
            write(folder, DESCRIPTION, &text)?;
            // The parent of a relative path of one part is the empty path.
            let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
            let synced = lao_files::sync_folder(parent.unwrap_or(Path::new(".")));
            synced.map_err(|cause| StudyError::File { path: folder.to_owned(), cause })
        })();
        if let Err(error) = begun {
            // What was begun here is taken back; if that fails, too, the first error says more.
            let _ = std::fs::remove_dir_all(folder);
            return Err(error);
        }
        Self::open(folder)
    }

    /// Opens a study: takes its lock, reads the newest good snapshot and replays the journal after it. A
    /// study that may not be written, such as a backup or one of somebody else, can be read.
    ///
    /// # Errors
    /// When there is no study, another process has it, a line before the last is damaged, or this version of
    /// lao would have bought other attributes than the journal names.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, StudyError> {
        let folder = folder.as_ref();
        let lock = lock(folder)?;
        let (mut description, begin) = describe(folder)?;
        let path = folder.join(JOURNAL);
        let replay = journal::read(&path, &begin)?;
        let known = |place: &Place| {
            let index = usize::try_from(place.seq).ok().and_then(|seq| seq.checked_sub(1));
            index.and_then(|index| replay.places.get(index)) == Some(place)
        };
        if let Some((ahead, _)) = ahead_of(&replay, folder)? {
            let lines = replay.places.len();
            let reason = format!(
                "the journal ends here, but `{ahead}` was made of more lines, or of others: lines are \
                 missing, or the journal is that of another study (if you have cut it on purpose, remove \
                 the files snapshot-* as well)"
            );
            return Err(StudyError::Damaged { path, line: lines as u64, reason });
        }
        let newest = snapshots(folder)?.into_iter().rev().find_map(|(_, hash, path)| {
            // A snapshot that is damaged or of another version is passed over: the journal alone decides.
            let text = std::fs::read(path).ok().filter(|text| journal::digest(text) == hash)?;
            let snapshot: Snapshot = serde_json::from_slice(&text).ok()?;
            let records = replay.records.get(..snapshot.place.seq as usize)?;
            let description = with_all_that_joined(&description, records)?;
            let fits = known(&snapshot.place) && snapshot.state.fits(&description);
            (fits && snapshot.version == env!("CARGO_PKG_VERSION")).then_some((snapshot, description))
        });
        let (place, mut state) = match newest {
            Some((snapshot, then)) => {
                description = then;
                (snapshot.place, snapshot.state)
            }
            None => (begin, State::begin(&description)?),
        };
        let snapshot = place.seq;
        for (record, at) in replay.records.iter().zip(&replay.places).skip(snapshot as usize) {
            replayed(&mut state, record, at, &mut description, &path)?;
        }
        let place = replay.places.last().cloned().unwrap_or(place);
        let recovery = Recovery { snapshot, replayed: place.seq - snapshot, cut: replay.torn };
        let writing = match lock {
            Some(lock) => Some((Journal::open(&path, &replay)?, lock)),
            None => None,
        };
        let folder = folder.to_owned();
        Ok(Study { folder, description, state, place, writing, recovery, snapshot })
    }

    /// Returns what the study is about.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the folder of the study.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns what opening had to do.
    pub fn recovery(&self) -> Recovery {
        self.recovery
    }

    /// Returns where the study stands.
    pub fn status(&self) -> Status {
        self.state.status(&self.description)
    }

    /// Returns what is known of every attribute.
    pub fn evidence(&self) -> Vec<Evidence> {
        self.state.evidence()
    }

    /// Hands out up to `count` slots, each for one example. There may be fewer, or none: then some that are
    /// open must be told first, since what to buy next depends on them.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn ask(&mut self, count: u64) -> Result<Vec<Slot>, StudyError> {
        let slots = count.min(self.status().room);
        if slots == 0 {
            return Ok(Vec::new());
        }
        self.hand_out(slots, false)
    }

    /// Hands out `count` slots, at most a million, even if what to buy next depends on slots that are not
    /// told yet: all of them buy what the present choice buys. This is for labels that come long after their
    /// values; the choice is renewed whenever enough of them have come.
    ///
    /// # Errors
    /// When the journal cannot be written, or the count is not allowed.
    pub fn ask_ahead(&mut self, count: u64) -> Result<Vec<Slot>, StudyError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        self.hand_out(count, true)
    }

    fn hand_out(&mut self, slots: u64, ahead: bool) -> Result<Vec<Slot>, StudyError> {
        let first = self.state.handed_out() + 1;
        self.record(self.state.asking(slots, ahead, &self.description))?;
        Ok(self.state.slots(first..first + slots, &self.description))
    }

    /// Returns what people call a slot, if they have given it a name.
    pub fn name_of(&self, slot: u64) -> Option<&str> {
        self.state.name(slot)
    }

    /// Returns whether the next slot may have a name.
    ///
    /// # Errors
    /// As [`name`](Self::name).
    pub fn may_be_named(&self, name: &str) -> Result<(), StudyError> {
        self.state.fit_name(self.state.handed_out() + 1, name)
    }

    /// Returns the estimate of the variance of the predictor's errors, on examples before it learned from
    /// them; 0 before there are any.
    pub fn noise(&self) -> f64 {
        self.state.learner().pursuit().noise()
    }

    /// Returns the slots that are handed out and not told.
    pub fn open_slots(&self) -> Vec<Slot> {
        self.state.slots(self.status().open.into_iter(), &self.description)
    }

    /// Returns a slot that is handed out and not told.
    ///
    /// # Errors
    /// When the slot is not open; the error says what state it is in.
    pub fn slot(&self, number: u64) -> Result<Slot, StudyError> {
        self.state.slot(number, &self.description)
    }

    /// Tells the values of a slot, one per attribute asked for and NaN for one that came to nothing, and the
    /// label if it is known.
    ///
    /// # Errors
    /// When the slot is not open or the values do not fit; then nothing was recorded.
    pub fn tell(&mut self, slot: u64, values: &[f64], label: Option<f64>) -> Result<(), StudyError> {
        self.record(Record::Told { slot, values: values.to_vec(), label })
    }

    /// Tells what came of several slots: all rows, or none of them, are recorded, whatever happens.
    ///
    /// # Errors
    /// When a slot is not open or there twice, or the values do not fit; then nothing was recorded.
    pub fn tell_all(&mut self, rows: &[Row]) -> Result<(), StudyError> {
        if rows.is_empty() {
            return Ok(());
        }
        self.record(Record::ToldAll { rows: rows.to_vec() })
    }

    /// Tells the label of a slot whose values are told.
    ///
    /// # Errors
    /// When the slot does not wait for its label, or the label is not allowed.
    pub fn label(&mut self, slot: u64, label: f64) -> Result<(), StudyError> {
        self.record(Record::Labeled { slot, label })
    }

    /// Tells the labels of several slots whose values are told: all labels, or none of them, are recorded,
    /// whatever happens.
    ///
    /// # Errors
    /// When a slot does not wait for its label or is there twice, or a label is not allowed; then nothing was
    /// recorded.
    pub fn label_all(&mut self, labels: &[SlotLabel]) -> Result<(), StudyError> {
        if labels.is_empty() {
            return Ok(());
        }
        self.record(Record::LabeledAll { labels: labels.to_vec() })
    }

    /// Closes a slot that will never be told: a test failed, a patient left. What was bought stays spent, and
    /// another example takes its place.
    ///
    /// # Errors
    /// When the slot is not open.
    pub fn void(&mut self, slot: u64, reason: &str) -> Result<(), StudyError> {
        self.record(Record::Void { slot, reason: reason.to_owned() })
    }

    /// Gives a slot a name, such as the pseudonym of a patient, or another one.
    ///
    /// # Errors
    /// When the slot was never handed out, another slot has the name, or the name is empty, long, or no line
    /// of text.
    pub fn name(&mut self, slot: u64, name: &str) -> Result<(), StudyError> {
        self.record(Record::Named { slot, name: name.to_owned() })
    }

    /// Adds examples that were known before: earlier patients, whose values cost nothing now. They may have
    /// more attributes than the budget allows, or fewer. Which of them are known must not depend on the
    /// label, beyond what the values themselves say of it. All of them are recorded, or none.
    ///
    /// # Errors
    /// When an example has no attribute, a number does not fit, or the same examples were added before; then
    /// nothing was recorded.
    pub fn import(&mut self, examples: &[Given]) -> Result<(), StudyError> {
        self.record(Record::Imported { examples: examples.to_vec() })
    }

    /// Lets attributes join, such as a test that did not exist when the study began. They come after the
    /// others, and are bought first once the present block is told. The budget stays, and with prices, those
    /// of the others stay.
    ///
    /// # Errors
    /// When a name is not allowed or there already, a price is missing or contradicts others of its panel, or
    /// the budget pays for all attributes so far; then nothing was recorded.
    pub fn join(&mut self, attributes: &[Joining]) -> Result<(), StudyError> {
        self.record(Record::Joined { attributes: attributes.to_vec() })
    }

    /// Returns the predictor so far.
    pub fn model(&self) -> Model {
        let description = &self.description;
        let Status { slots, told, bought, void, .. } = self.status();
        let named = |name: &String| (name.clone(), None);
        let dim = description.attributes.len();
        let attributes: Vec<_> = description.attributes.iter().map(named).collect();
        let money = description.money.as_ref().map(|money| {
            let (panels, bought) = (description.panels.clone(), self.state.panels());
            let priced = PricedColumns { tariff: money.tariff.clone(), panels };
            SpentMoney::of(&priced, bought, &attributes, self.state.most_cost(), money.per_example)
        });
        // The study holds out nothing.
        let level = description.choices.level.filter(|level| *level != DEFAULT_LEVEL);
        let choices = Choices { level, holdout: 0.0, ..description.choices.clone() };
        let about = About {
            target: description.target.clone(),
            label: description.label.clone(),
            attributes,
            spent: Spent {
                traffic: None,
                examples: slots,
                attributes: bought,
                most_attributes: self.state.most_attributes(),
                missing: self.state.missing(),
                passed_over: 0,
                void,
                imported: self.state.imported(),
                money,
            },
            origin: Origin {
                choices,
                safeguarded: false,
                parameters: AnyParams::Pursuit(description.params()),
                table: self.folder.display().to_string(),
                sha256: None,
                journal: Some(JournalPlace { lines: self.place.seq, chain: self.place.chain.clone() }),
                attributes: dim,
                examples: told as usize,
                budget: description.money.is_none().then_some(description.budget),
                reading: Reading::default(),
            },
        };
        Model::of(self.state.learner(), about)
    }

    /// Replays the whole journal from its beginning and compares the result with the state.
    ///
    /// # Errors
    /// When a line is damaged, or the state is another one.
    pub fn verify(&self) -> Result<u64, StudyError> {
        let (state, lines) = self.replay(|_, _, _| ())?;
        let text = |state: &State| serde_json::to_string(state).unwrap_or_default();
        if lines == self.place.seq && text(&state) == text(&self.state) {
            return Ok(lines);
        }
        let reason = "the journal leads to another state than the one in use".into();
        Err(StudyError::Damaged { path: self.folder.join(JOURNAL), line: self.place.seq, reason })
    }

    /// Reads the records of the journal.
    pub(crate) fn records(&self) -> Result<Vec<Record>, StudyError> {
        let (_, begin) = describe(&self.folder)?;
        Ok(journal::read(&self.folder.join(JOURNAL), &begin)?.records)
    }

    /// Replays the whole journal. `each` is told every record, and the state and the description after it;
    /// the state at the end is returned, with the number of lines.
    pub(crate) fn replay(
        &self,
        mut each: impl FnMut(&Record, &State, &Description),
    ) -> Result<(State, u64), StudyError> {
        let (mut description, begin) = describe(&self.folder)?;
        let path = self.folder.join(JOURNAL);
        let replay = journal::read(&path, &begin)?;
        let mut state = State::begin(&description)?;
        for (record, at) in replay.records.iter().zip(&replay.places) {
            replayed(&mut state, record, at, &mut description, &path)?;
            each(record, &state, &description);
        }
        Ok((state, replay.places.last().map_or(0, |place| place.seq)))
    }

    /// Checks a record, writes it, and applies it.
    fn record(&mut self, record: Record) -> Result<(), StudyError> {
        let Some((journal, lock)) = &mut self.writing else {
            return Err(StudyError::ReadOnly(self.folder.clone()));
        };
        let path = self.folder.join(LOCK);
        let held = lock.metadata().and_then(|own| Ok(lao_files::is_same(&own, &path.symlink_metadata()?)));
        if !matches!(held, Ok(true)) {
            let reason = "it was removed or replaced, and it must stay: it keeps other processes out".into();
            return Err(StudyError::Changed { path, reason });
        }
        self.state.check(&record, &self.description)?;
        // The method may refuse what the check lets pass. Then nothing must have been written.
        let mut next = self.state.clone();
        next.apply(&record, &self.description)?;
        let description = match &record {
            Record::Joined { attributes } => Some(self.description.joined(attributes)?),
            _ => None,
        };
        journal.append(&record, &mut self.place)?;
        self.state = next;
        if let Some(description) = description {
            self.description = description;
        }
        if self.place.seq >= self.snapshot + self.snapshot.clamp(1, SNAPSHOT_EVERY) {
            // The journal has all that a snapshot has; one that cannot be written is made later.
            if self.take_snapshot().is_ok() {
                self.snapshot = self.place.seq;
            }
        }
        Ok(())
    }

    fn take_snapshot(&self) -> Result<(), StudyError> {
        let (version, place) = (env!("CARGO_PKG_VERSION").to_owned(), self.place.clone());
        let snapshot = Snapshot { version, place, state: self.state.clone() };
        let text = serde_json::to_vec(&snapshot).unwrap_or_default();
        let name = format!("snapshot-{:012}-{}.json", self.place.seq, journal::digest(&text));
        write(&self.folder, &name, &text)?;
        let old = snapshots(&self.folder)?;
        for (_, _, path) in &old[..old.len().saturating_sub(KEPT)] {
            // An old snapshot that stays does no harm.
            let _ = std::fs::remove_file(path);
        }
        Ok(())
    }
}

/// Applies a record of the journal, whose chain of hashes is whole. A record that this version would not have
/// written was written by another version of lao.
fn replayed(
    state: &mut State,
    record: &Record,
    at: &Place,
    description: &mut Description,
    path: &Path,
) -> Result<(), StudyError> {
    let done = state.check(record, description).and_then(|()| state.apply(record, description));
    if let Record::Joined { attributes } = record
        && done.is_ok()
    {
        *description = description.joined(attributes)?;
    }
    let other = |error: StudyError| StudyError::OtherVersion {
        path: path.to_owned(),
        line: at.seq,
        reason: error.to_string(),
        began: description.version.clone(),
    };
    done.map_err(other)
}

/// Returns the description with the attributes that joined in these records; `None` if they could not.
fn with_all_that_joined(description: &Description, records: &[Record]) -> Option<Description> {
    let joined = records.iter().filter_map(|record| match record {
        Record::Joined { attributes } => Some(attributes),
        _ => None,
    });
    joined.into_iter().try_fold(description.clone(), |now, attributes| now.joined(attributes).ok())
}

/// Takes the lock of a study; `None` if the study may not be written.
fn lock(folder: &Path) -> Result<Option<File>, StudyError> {
    if !folder.join(DESCRIPTION).is_file() {
        return Err(StudyError::NoStudy(folder.to_owned()));
    }
    let path = folder.join(LOCK);
    let failed = |cause| StudyError::File { path: path.clone(), cause };
    for name in [DESCRIPTION, JOURNAL, LOCK] {
        let path = folder.join(name);
        lao_files::check_ordinary(&path).map_err(|cause| StudyError::File { path, cause })?;
    }
    match lao_files::lock(&path) {
        Ok(file) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(StudyError::Locked(folder.to_owned())),
        Err(TryLockError::Error(cause)) => match cause.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => Ok(None),
            _ => Err(failed(cause)),
        },
    }
}

/// Returns an identifier that no other study has, so that the journals of two studies cannot be exchanged. It
/// is drawn by the operating system, and nothing that is learned depends on it.
fn new_id() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let drawn = [RandomState::new(), RandomState::new()].map(|state| state.hash_one(0));
    format!("{:016x}{:016x}", drawn[0], drawn[1])
}

/// What a description has in every format.
#[derive(Deserialize)]
struct Written {
    format: u32,
    version: String,
}

/// Reads the description, and returns it with the place before the first line.
fn describe(folder: &Path) -> Result<(Description, Place), StudyError> {
    let path = folder.join(DESCRIPTION);
    let text = std::fs::read(&path).map_err(|cause| StudyError::File { path: path.clone(), cause })?;
    let damaged = |error: serde_json::Error| StudyError::Damaged {
        path: path.clone(),
        line: error.line() as u64,
        reason: error.to_string(),
    };
    if text.windows(2).any(|two| two == b"\r\n") {
        let reason = journal::LINE_ENDS.to_owned();
        return Err(StudyError::Damaged { path, line: 1, reason });
    }
    // The format comes first: in another one, the rest may have another meaning.
    let Written { format, version } = serde_json::from_slice(&text).map_err(damaged)?;
    if format != Description::FORMAT {
        return Err(StudyError::Format { path, format, version });
    }
    Ok((serde_json::from_slice(&text).map_err(damaged)?, Place::begin(&text)))
}

/// Writes a file completely or not at all; it is on the disk when this returns.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), StudyError> {
    let path = folder.join(name);
    let written = lao_files::write_by_way_of(&folder.join(UNFINISHED), &path, bytes);
    written.map_err(|cause| StudyError::File { path, cause })
}
