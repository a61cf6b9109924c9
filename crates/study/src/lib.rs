//! Live studies: lao says which attributes to buy of the next example, the results are reported to it, and it
//! forgets nothing.
//!
//! A study is a folder. Its journal has one line for each thing that happened; a line is on the disk before
//! the call that wrote it returns. What is known is a pure function of the journal, so a study can be copied,
//! replayed and audited, and a process that is killed at any moment loses nothing that it had acknowledged.
//!
//! A test that came to nothing is told as NaN beside the others: the learner learns from what came. Slots may
//! be handed out [ahead](Study::ask_ahead) of the results on which the next choice rests, where labels come
//! late. Earlier examples, which cost nothing now, are [imported](Study::import).
//!
//! No clock is read: the journal has no times, and nothing depends on when something is told, only on the
//! order of the lines.
//!
//! A line that hands out slots names their attributes. Opening replays the journal; where this version of lao
//! would have bought other attributes than the journal names, it refuses the study instead of learning from
//! values of the wrong attributes ([`StudyError::OtherVersion`]). Lines of versions that did not name them
//! are still read: there, what is compared is the number of slots, their cost, and the number of values.
//!
//! ```
//! use lao_study::{Description, Study};
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("pressure");
//!
//! let names = ["age", "weight", "pulse", "height"];
//! let description = Description::new("pressure", names.map(str::to_owned).to_vec(), 2);
//! let mut study = Study::create(&folder, description)?;
//!
//! let slots = study.ask(2)?; // two patients are here: what to measure of them
//! assert_eq!(slots[0].attributes.len(), 2);
//! let values = [1.0, 2.0];
//! study.tell(slots[0].number, &values, Some(120.0))?; // on the disk when this returns
//! study.tell(slots[1].number, &values, None)?; // the label comes later
//! drop(study);
//!
//! let mut study = Study::open(&folder)?;
//! study.label(slots[1].number, 131.0)?;
//! assert_eq!(study.status().told, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | content |
//! |---|---|
//! | `study.json` | attributes, target, budget, parameters, seed: written once; attributes that join later are in the journal |
//! | `journal.jsonl` | what happened, a line for each, with a number and a hash over all lines so far |
//! | `snapshot-N-HASH.json` | the state after N lines, so that opening is fast; the two newest are kept |
//! | `unfinished` | a file that is being written; it gets its name when it is complete |
//! | `lock` | held by the process that has the study open |

mod description;
mod error;
mod gaps;
mod history;
mod journal;
mod learner;
mod snapshot;
mod state;
mod status;
mod study;
mod wait;

pub use description::Description;
pub use error::StudyError;
pub use history::{Entry, Known};
pub use journal::{Given, Joining, Row, SlotLabel};
pub use status::{Slot, Status};
pub use study::{Recovery, Study};
