//! A run that is stored on its way, so that another process goes on with it.

use super::{Begun, Fit, Fitted, Learned, Progress};
use crate::choices::Choices;
use crate::error::Error;
use crate::examples::{Examples, Stream};
use crate::model::Reached;
use lao_observation::{Checkpoint, Session};
use serde::{Deserialize, Serialize};

/// The number of parts into which a run is cut that may be stored after each of them.
const PARTS: u64 = 64;

/// Where a run stood, in a form that can be stored: what was learned, from which examples, and the generator.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// // let table = "diabetes.csv.gz";
/// let examples = lao::read(table)?.target("progression")?;
/// let (fit, mut stored) = (lao::Fit::within(5), Vec::new());
/// let whole = fit.run_kept(&examples, None, |state| Ok(stored.push(state())), |_| {})?;
///
/// // Another process goes on from the middle, with the same bits.
/// let text = serde_json::to_string(&stored[stored.len() / 2]).unwrap();
/// let state = serde_json::from_str(&text).unwrap();
/// assert_eq!(fit.run_kept(&examples, Some(state), |_| Ok(()), |_| {})?.model, whole.model);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspended {
    run: Run,
    pub(super) learned: Learned,
    pub(super) checkpoint: Checkpoint,
    /// The number of examples at which the error is measured next.
    pub(super) until: u64,
    pub(super) history: Vec<Reached>,
    pub(super) passed_over: u64,
    pub(super) lacking: Vec<u64>,
}

/// What must be the same when a run goes on, beside the parameters of the learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    choices: Choices,
    table: String,
    sha256: String,
    target: String,
    attributes: usize,
    examples: usize,
    /// The bytes of a table that is read page by page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

impl Run {
    fn of(fit: &Fit, examples: &Examples) -> Run {
        let (table, sha256) = examples.table();
        Run {
            choices: fit.choices.clone(),
            table: table.to_owned(),
            sha256: sha256.to_owned(),
            target: examples.target().to_owned(),
            attributes: examples.names().len(),
            examples: examples.len(),
            bytes: examples.traffic().map(|traffic| traffic.of),
        }
    }
}

impl Suspended {
    /// Returns where a run stands.
    pub(super) fn of(
        fit: &Fit,
        examples: &Examples,
        (learned, session): (&Learned, &Session<Stream>),
        (until, history): (u64, &[Reached]),
    ) -> Suspended {
        let mut learned = learned.clone();
        learned.before.traffic = fit.traffic(examples, &learned);
        let stream = session.source();
        Suspended {
            run: Run::of(fit, examples),
            learned,
            checkpoint: session.checkpoint(),
            until,
            history: history.to_vec(),
            passed_over: stream.skipped,
            lacking: stream.counts().to_vec(),
        }
    }

    /// Checks that this is a state of a run with these examples, whose learner begins as `anew`.
    pub(super) fn check(&self, fit: &Fit, examples: &Examples, anew: &Learned) -> Result<(), Error> {
        let is_same = self.run == Run::of(fit, examples)
            && self.learned.parameters == anew.parameters
            && self.lacking.len() == examples.names().len();
        if is_same {
            return Ok(());
        }
        let allowed = "the state of a run with this table and these choices; remove it, to begin anew".into();
        let Run { table, target, examples, .. } = &self.run;
        let value = format!("a run on {examples} examples of {table} for `{target}`");
        Err(Error::Choice { what: "resume", value, allowed })
    }
}

/// What may be done with the state of a run, which is made if it is asked for.
pub(super) type Keep<'a> = &'a mut dyn FnMut(&dyn Fn() -> Suspended) -> Result<(), Error>;

/// Returns the number of examples of a part of a run, whole pages.
pub(super) fn part(whole: u64, page: Option<u64>) -> u64 {
    let page = page.unwrap_or(1);
    (whole / PARTS).max(1).div_ceil(page) * page
}

impl Fit {
    /// As [`run_with`](Self::run_with), in a run that can be stored: after each of some parts `keep` may ask
    /// for the state. A run that begins with the state of an earlier one, by the same fit and with the same
    /// examples, goes on with it, and ends with the same bits.
    ///
    /// # Errors
    /// As [`run`](Self::run), when `start` is the state of another run, and those of `keep`.
    pub fn run_kept(
        &self,
        examples: &Examples,
        start: Option<Suspended>,
        mut keep: impl FnMut(&dyn Fn() -> Suspended) -> Result<(), Error>,
        say: impl FnMut(Progress<'_>),
    ) -> Result<Fitted, Error> {
        let begun = start.map_or(Begun::Anew, |state| Begun::Suspended(Box::new(state)));
        self.learn(examples, begun, Some(&mut keep), say)
    }
}
