//! Runners: Python programs that fit the learners of other projects, one process for each learner.
//!
//! A runner (`peers/run.py`) first writes a line with the software that it uses, then answers each request, a
//! line of JSON, by a line of JSON. A runner that cannot start, ends, is too slow or writes anything else is
//! an error with the reason, and the next request starts it again.

use anyhow::{Context as _, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What to do where there is no Python, or no learner in it.
const REMEDY: &str = "bench-suite/peers/README.md says how to make an environment for LAO_PYTHON";

/// The longest part of a line, and the last lines of the standard error, that a message repeats.
const SHOWN: usize = 200;
const LAST_LINES: usize = 3;

/// The environment variable that names the Python interpreter.
pub const PYTHON: &str = "LAO_PYTHON";

/// Returns the interpreter that the environment names, or `python3`.
pub fn python() -> PathBuf {
    std::env::var_os(PYTHON).filter(|name| !name.is_empty()).map_or_else(|| "python3".into(), PathBuf::from)
}

/// Returns the program of the suite that runs learners.
pub fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join("run.py")
}

/// A request: fit the learner to the files of a folder.
#[derive(Clone, Debug, Serialize)]
pub struct Request {
    /// The table, by which a runner knows whether a shape is new to it.
    pub table: String,
    /// The number of the repetition, from 0.
    pub repetition: u64,
    /// The folder of the NPY files.
    pub folder: PathBuf,
    /// The seed of a randomized learner.
    pub seed: u32,
    /// The time after which the runner is stopped, in seconds.
    pub seconds: f64,
    /// The number of attributes that may be bought of each training row.
    pub budget: Option<usize>,
    /// The largest number of attributes of a model.
    pub longest: Option<usize>,
    /// Whether the labels are two classes, 0 and 1.
    pub classes: bool,
    /// The standard deviation of the noise, where it is known.
    pub noise: Option<f64>,
}

/// The measurements of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The number of training rows.
    pub examples: u64,
    /// The measurements by name; `None` is no number.
    pub measurements: BTreeMap<String, Option<f64>>,
}

/// The first line of a runner.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Greeting {
    software: Option<Vec<String>>,
    error: Option<String>,
}

/// An answer as a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    repetition: u64,
    examples: Option<u64>,
    measurements: Option<BTreeMap<String, Option<f64>>>,
    error: Option<String>,
}

/// Returns the software that the first line of a runner names.
fn greeting(line: &str) -> anyhow::Result<Vec<String>> {
    let Greeting { software, error } = parse(line)?;
    match (software, error) {
        (_, Some(error)) => bail!("{error}; {REMEDY}"),
        (Some(software), None) => Ok(software),
        (None, None) => bail!("the runner wrote `{}`, which has neither software nor error", shown(line)),
    }
}

/// Returns the answer to the request of a repetition, or the reason why the learner failed. The outer error
/// is that of a line that is no answer.
fn answer(line: &str, repetition: u64) -> anyhow::Result<Result<Answer, String>> {
    let Line { repetition: answered, examples, measurements, error } = parse(line)?;
    ensure!(
        answered == repetition,
        "the runner answered repetition {answered} instead of {repetition}: `{}`",
        shown(line)
    );
    match (error, examples, measurements) {
        (Some(error), ..) => Ok(Err(error)),
        (None, Some(examples), Some(measurements)) => Ok(Ok(Answer { examples, measurements })),
        _ => bail!("the runner wrote `{}`, which lacks examples or measurements", shown(line)),
    }
}

fn parse<T: for<'de> Deserialize<'de>>(line: &str) -> anyhow::Result<T> {
    serde_json::from_str(line).map_err(|error| {
        anyhow!("the runner wrote `{}`, which is no line of its protocol: {error}", shown(line))
    })
}

/// Returns the beginning of a line.
fn shown(line: &str) -> String {
    let line = line.trim_end();
    let short: String = line.chars().take(SHOWN).collect();
    if short.len() < line.len() { format!("{short}...") } else { short }
}

/// A runner that was started, with the lines that it writes.
#[derive(Debug)]
pub struct Runner {
    child: Child,
    requests: ChildStdin,
    lines: Receiver<std::io::Result<String>>,
    said: Arc<Mutex<VecDeque<String>>>,
    /// Ends when the standard error of the runner does.
    silence: Receiver<()>,
    /// The software that the runner uses, with versions and limits.
    pub software: Vec<String>,
}

impl Runner {
    /// Starts a runner with these arguments and waits for its first line.
    ///
    /// # Errors
    /// When the interpreter cannot be started, or the first line is late, malformed or an error.
    pub fn start(
        python: &Path,
        program: &Path,
        arguments: &[&str],
        patience: Duration,
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(python);
        command.arg(program).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| {
            format!("cannot start {}, as a Python interpreter; {REMEDY}", python.display())
        })?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(requests), Some(stdout), Some(stderr)) = pipes else { bail!("the runner has no streams") };
        let (sender, lines) = channel();
        // Both threads end when the runner closes its streams, at the latest when it is stopped.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let said = Arc::new(Mutex::new(VecDeque::new()));
        let words = Arc::clone(&said);
        let (saying, silence) = channel();
        std::thread::spawn(move || {
            // It is dropped at the end of the stream.
            let _saying: Sender<()> = saying;
            let mut stream = BufReader::new(stderr);
            let mut line = Vec::new();
            while stream.by_ref().take(1 << 16).read_until(b'\n', &mut line).is_ok_and(|size| size > 0) {
                let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
                let text = shown(&String::from_utf8_lossy(&line));
                if !text.is_empty() {
                    words.push_back(text);
                }
                while words.len() > LAST_LINES {
                    words.pop_front();
                }
                line.clear();
            }
        });
        let mut runner = Runner { child, requests, lines, said, silence, software: Vec::new() };
        runner.software = greeting(&runner.line(patience)?)?;
        Ok(runner)
    }

    /// Returns the answer to a request.
    ///
    /// # Errors
    /// When the learner failed, or the runner ended, is late or wrote anything else than an answer. In the
    /// latter cases [`is_alive`](Self::is_alive) is false afterwards.
    pub fn ask(&mut self, request: &Request) -> anyhow::Result<Answer> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        // A runner that has ended refuses the line; why it ended is said below.
        let _ = self.requests.write_all(line.as_bytes()).and_then(|()| self.requests.flush());
        let line = self.line(Duration::try_from_secs_f64(request.seconds)?)?;
        let answer = answer(&line, request.repetition).inspect_err(|_| self.stop())?;
        answer.map_err(|error| anyhow!("{error}"))
    }

    /// Returns the next line.
    fn line(&mut self, patience: Duration) -> anyhow::Result<String> {
        match self.lines.recv_timeout(patience) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(error)) => {
                self.stop();
                Err(error).context("cannot read what the runner writes")
            }
            Err(RecvTimeoutError::Timeout) => {
                self.stop();
                bail!("not done after {} s, and stopped", patience.as_secs_f64())
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
                self.stop();
                // The last words may still be on their way. A child of the runner may hold the stream open.
                let _ = self.silence.recv_timeout(Duration::from_secs(1));
                let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
                let words: Vec<&str> = said.iter().map(String::as_str).collect();
                bail!("the runner ended ({status}): {}; {REMEDY}", words.join(" / "))
            }
        }
    }

    /// Returns whether the runner can be asked again.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the runner.
    fn stop(&mut self) {
        // A runner that has ended already needs no signal.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_its_measurements() {
        let line = r#"{"repetition": 3, "examples": 7, "measurements": {"seconds": 0.5, "reached": null}}"#;
        let Answer { examples, measurements } = answer(line, 3).unwrap().unwrap();
        assert_eq!(examples, 7);
        assert_eq!(measurements["seconds"], Some(0.5));
        assert_eq!(measurements["reached"], None);
    }

    #[test]
    fn a_malformed_line_is_an_error_that_repeats_the_line() {
        for line in [
            "Segmentation fault",
            "",
            "[1]",
            r#"{"repetition": 0}"#,
            r#"{"repetition": 0, "examples": 1}"#,
            r#"{"repetition": 0, "examples": -1, "measurements": {}}"#,
            r#"{"repetition": 0, "examples": 1, "measurements": {"seconds": "fast"}}"#,
            r#"{"repetition": 0, "examples": 1, "measurements": {}, "color": 1}"#,
            r#"{"repetition": 1, "examples": 1, "measurements": {}}"#,
        ] {
            let error = answer(line, 0).unwrap_err().to_string();
            assert!(error.contains(&format!("`{line}`")), "{line}: {error}");
        }
        let long = "x".repeat(3 * SHOWN);
        let error = answer(&long, 0).unwrap_err().to_string();
        assert!(error.len() < 2 * SHOWN && error.contains("xxx..."), "{error}");
    }

    #[test]
    fn the_error_of_a_learner_is_its_reason() {
        let error = answer(r#"{"repetition": 0, "error": "ValueError: too wide"}"#, 0).unwrap();
        assert_eq!(error, Err("ValueError: too wide".into()));
        let error = greeting(r#"{"error": "ModuleNotFoundError: No module named 'abess'"}"#).unwrap_err();
        assert!(error.to_string().contains("'abess'") && error.to_string().contains("README"), "{error}");
    }
}
