//! Waiting for a study that another process has open.

use crate::error::StudyError;
use crate::study::Study;
use std::path::Path;
use std::time::{Duration, Instant};

impl Study {
    /// As [`open`](Self::open); for up to `wait` it waits until no other process has the study, and tells
    /// `waiting` how long it has.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_when_free(
        folder: impl AsRef<Path>,
        wait: Duration,
        mut waiting: impl FnMut(Duration),
    ) -> Result<Self, StudyError> {
        let begin = Instant::now();
        loop {
            match Self::open(&folder) {
                Err(StudyError::Locked(_)) if begin.elapsed() < wait => {
                    waiting(begin.elapsed());
                    std::thread::sleep(Duration::from_millis(5));
                }
                opened => return opened,
            }
        }
    }
}
