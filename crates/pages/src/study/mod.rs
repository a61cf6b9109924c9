//! The pages of a study.

mod files;
mod known;
mod predict;
mod slot;
mod today;

pub(crate) use slot::unit;

use crate::guard::Guard;
use crate::http::{Reply, Request};
use crate::render::{STYLES, page, problem};
use crate::server::{Pages, Server, Stop};
use hyper::StatusCode;
use known::Plans;
use lao_study::{Study, StudyError};
use minijinja::{Value, context};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a page waits for a command that uses the study.
const WAIT: Duration = Duration::from_secs(3);

/// The pages of a study in a folder.
#[derive(Debug)]
pub struct StudyPages {
    folder: PathBuf,
    guard: Guard,
    /// Requests take turns, so that they do not wait for the lock of the study as for a command.
    turn: Mutex<()>,
    plans: Plans,
}

impl StudyPages {
    /// Returns the pages of the study in a folder, behind a guard.
    pub fn new(folder: &Path, guard: Guard) -> Self {
        StudyPages { folder: folder.to_owned(), guard, turn: Mutex::default(), plans: Plans::default() }
    }

    /// Serves the pages until the server is to end.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn serve(self, server: Server, stop: &Stop) -> std::io::Result<()> {
        server.serve(self, stop)
    }

    /// Opens the study; others who use it are waited for.
    fn open(&self) -> Result<Study, StudyError> {
        Study::open_when_free(&self.folder, WAIT, |_| ())
    }

    /// Renders a page of the study.
    fn page(&self, status: StatusCode, template: &str, values: Value) -> Reply {
        let name = self.folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let all = context! {
            study => name.unwrap_or_default(),
            form => self.guard.form_token(),
            read_only => self.guard.is_read_only(),
            ..values
        };
        page(status, template, all)
    }

    /// Answers a request that may pass; `None` if there is no such page.
    fn route(&self, request: &Request) -> Result<Option<Reply>, StudyError> {
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        let reply = match (request.sends, &path[..]) {
            (false, []) => self.today(&self.open()?, None),
            (true, ["ask"]) => self.ask(&request.form())?,
            (sends, ["slot", number, rest @ ..]) => match (number.parse(), sends, rest) {
                (Ok(number), false, []) => return self.slot(number, request.query.get("done")),
                (Ok(number), true, [what]) => return self.sent(number, what, &request.form()),
                _ => return Ok(None),
            },
            (false, ["known"]) => self.known(&request.query)?,
            (false, ["predict"]) => self.predict_form()?,
            (true, ["predict"]) => self.predicted(&request.form())?,
            (false, ["files"]) => self.page(StatusCode::OK, "files.html", context! { at => "files" }),
            (false, ["files", file]) => return self.file(file),
            _ => return Ok(None),
        };
        Ok(Some(reply))
    }
}

impl Pages for StudyPages {
    fn answer(&self, request: Request) -> Reply {
        if request.path == ["style.css"] {
            return Reply::styles(STYLES);
        }
        let stopped = self.guard.stop(&request);
        let stopped = stopped.or_else(|| if request.sends { self.guard.stop_form(&request) } else { None });
        if let Some(reply) = stopped {
            return reply;
        }
        // A panic of another request has changed nothing here.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        match self.route(&request) {
            Ok(Some(reply)) => reply,
            Ok(None) => problem(
                StatusCode::NOT_FOUND,
                "There is no such page",
                "begin at the page of today, or look at the number of the example",
            ),
            Err(error) => problem(status_of(&error), "The study cannot be used now", &in_words(&error)),
        }
    }
}

/// Returns the status of a reply that an error stands in the way of.
fn status_of(error: &StudyError) -> StatusCode {
    match error {
        StudyError::Locked(_) => StatusCode::SERVICE_UNAVAILABLE,
        StudyError::Slot { .. } => StatusCode::CONFLICT,
        StudyError::Values { .. } | StudyError::Learn { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        StudyError::Unwritten { .. } => StatusCode::INSUFFICIENT_STORAGE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns an error as whoever is at the page can act on it.
fn in_words(error: &StudyError) -> String {
    match error {
        StudyError::Locked(_) => String::from(
            "another program uses the study at this moment; nothing was recorded; wait a moment and send it \
             again",
        ),
        error => error.to_string(),
    }
}
