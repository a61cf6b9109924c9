//! `lao study`: live studies.

use clap::{Args, Subcommand};
use lao_study::{Recovery, Status, Study, StudyError};
use lao_terminal as say;
use std::path::{Path, PathBuf};
use std::time::Duration;

mod ask;
mod import;
mod join;
mod new;
mod rows;
mod serve;
mod show;
mod tell;

/// Run a live study: ask which attributes to buy of the next example, for example which tests to order for
/// the next patient, and report the results.
///
/// A study is a folder. Reported values are on the disk before the command returns, and survive power cuts.
/// Only one command can use a study at a time; a second one waits up to `--wait` seconds and then fails.
///
/// The exit status is 0 if all went well; 1 if `ask` has nothing to hand out before open slots or missing
/// labels are reported; 2 for an error; and 3 if the study cannot be used as it is: another process uses
/// it, the folder is damaged, or another version of lao wrote it.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  lao study new -S tumor --target response --attributes panel.txt --budget 12
  lao study new -S flu --target state --positive ill --negative well --attributes panel.txt --budget 6
  lao study new -S heart --target pressure --attributes panel.txt --prices prices.csv --budget 60
  lao study ask -S tumor -n 2
  lao study open -S tumor                                  what is still to be reported
  lao study tell -S tumor 1 CRP=88 IL6=41 LDH=402 response=0.7
  lao study tell -S tumor 2 CRP=4.1 IL6=2.2 LDH=188        the label comes later
  lao study tell -S tumor --from monday.csv                many slots at once
  lao study label -S tumor 2 0.35
  lao study import -S tumor earlier.csv                    patients of the years before
  lao study join -S tumor ferritin                         a test that is new
  lao study status -S tumor
  lao study model -S tumor -o tumor.lao.json
  lao study serve -S tumor --open                          the same, as pages in a browser")]
pub struct StudyArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Begin a study in a new folder.
    New(new::NewArgs),
    /// Hand out slots: which attributes to buy of the next examples.
    Ask(ask::AskArgs),
    /// List the open slots with their attributes, and the missing labels.
    Open(ShowArgs),
    /// Report the values of a slot, or of many from a file, with or without their labels.
    ///
    /// A file has a column `slot`, one for each attribute that was asked for, and one for the label; an empty
    /// cell is a value that was not asked for, or a label that comes later, and NA is a test of which nothing
    /// came. Other columns are ignored. All rows are recorded, or none.
    Tell(tell::TellArgs),
    /// Report the label of a slot whose values are reported, or of many from a file.
    ///
    /// A file has a column `slot` and one for the label. Columns of attributes are ignored, so that the file
    /// of `tell` can be used again once its labels are filled in. Rows without a label are ignored. All
    /// labels are recorded, or none.
    Label(tell::LabelArgs),
    /// Add examples that were known before, such as earlier patients; they cost nothing.
    ///
    /// A file has a column for the label and one for each attribute that is known of some example; an empty
    /// cell or NA is a value that is not known. There may be more values than the budget allows. Which of
    /// them are known must not depend on the label, beyond what the values themselves say of it: a test that
    /// was made only of patients who were ill later misleads. All rows are recorded, or none, and no file
    /// twice.
    Import(import::ImportArgs),
    /// Add attributes to a study that runs, such as a test that is new.
    ///
    /// They are bought first once the present block is told, and judged as if they had been there from the
    /// beginning and never been chosen. The level then holds for the attributes of the beginning, and a part
    /// of it, m/d for m new ones of d, for those that join.
    Join(join::JoinArgs),
    /// Close a slot without a result; its purchases stay spent.
    Void(tell::VoidArgs),
    /// Show where the study stands.
    Status(ShowArgs),
    /// Show the evidence for each attribute.
    Evidence(ShowArgs),
    /// Replay the whole journal and compare.
    Verify(ShowArgs),
    /// Write the predictor so far to a model file.
    Model(show::ModelArgs),
    /// Give a slot a name of your own, such as a pseudonym.
    Name(tell::NameArgs),
    /// Serve the study as pages for a browser, for those who do not work at a terminal.
    ///
    /// Pages and commands may be used side by side. Whoever opens the address that is printed can see and
    /// report; the token in it is new each time. The server listens to this machine alone, unless --listen
    /// names another address: then use a proxy that encrypts (TLS), since the server does not.
    Serve(serve::ServeArgs),
}

/// The folder of the study.
#[derive(Debug, Args)]
struct Place {
    /// Use the study in this folder.
    #[arg(short = 'S', long = "study", value_name = "FOLDER")]
    folder: PathBuf,
    /// Wait this number of seconds while another command uses the study.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u32,
}

#[derive(Debug, Args)]
struct ShowArgs {
    #[command(flatten)]
    place: Place,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Returns the exit status of an error: 3 if a study cannot be used as it is.
pub fn status_of(error: &anyhow::Error) -> u8 {
    use StudyError::{Changed, Damaged, Format, Locked, OtherVersion, ReadOnly};
    match error.downcast_ref() {
        Some(
            Locked(_) | Damaged { .. } | Changed { .. } | Format { .. } | OtherVersion { .. } | ReadOnly(_),
        ) => 3,
        _ => 2,
    }
}

pub fn run(args: &StudyArgs) -> anyhow::Result<u8> {
    match &args.verb {
        Verb::New(args) => new::new(args),
        Verb::Ask(args) => ask::ask(args),
        Verb::Open(args) => ask::list_open(args),
        Verb::Tell(args) => tell::tell(args),
        Verb::Label(args) => tell::label(args),
        Verb::Import(args) => import::import(args),
        Verb::Join(args) => join::join(args),
        Verb::Void(args) => tell::void(args),
        Verb::Status(args) => show::status(args),
        Verb::Evidence(args) => show::evidence(args),
        Verb::Verify(args) => show::verify(args),
        Verb::Model(args) => show::model(args),
        Verb::Name(args) => tell::name(args),
        Verb::Serve(args) => serve::run(args),
    }
}

/// Opens a study, when no other command has it, and says what had to be mended.
fn open(place: &Place) -> anyhow::Result<Study> {
    let mut said = false;
    let study = Study::open_when_free(&place.folder, Duration::from_secs(place.wait.into()), |waited| {
        if !said && waited.as_secs() >= 1 {
            say::note(&format!("waiting: another command uses {}", shown(&place.folder)));
            said = true;
        }
    })?;
    let Recovery { cut, .. } = study.recovery();
    if cut > 0 {
        say::note(&format!(
            "removed an incomplete last line of {cut} bytes: its command never reported success"
        ));
    }
    Ok(study)
}

/// Returns what is still to be reported, in words: open slots, missing labels, or both.
fn missing(status: &Status) -> Vec<String> {
    let counted = |count: usize, what: &str| {
        let end = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {what}{end}"))
    };
    let parts = [counted(status.open.len(), "open slot"), counted(status.waiting.len(), "missing label")];
    parts.into_iter().flatten().collect()
}

fn shown(folder: &Path) -> String {
    folder.display().to_string()
}
