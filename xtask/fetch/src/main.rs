//! The program that `cargo xtask data fetch NAME` runs, which downloads datasets of the catalog into the
//! cache and checks them.

use anyhow::Context as _;
use indicatif::ProgressBar;
use lao_datasets::catalog::{Catalog, FoundFile};
use lao_fetch::DownloadProgress;
use lao_terminal as say;
use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let names: Vec<String> = env::args().skip(1).collect();
    match fetch(&names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::note(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Fetches the named datasets, one after the other, and prints the paths of their files.
fn fetch(names: &[String]) -> anyhow::Result<()> {
    let catalog = Catalog::from_env()?;
    let mut printed = Ok(());
    for name in names {
        let found = lao_fetch::fetch(&catalog, name, &mut Bar::default());
        let found = found.with_context(|| format!("cannot fetch `{name}`"))?;
        let line = |file: &FoundFile<'_>| format!("{name}: {} ({})\n", file.path.display(), file.place);
        let lines: String = found.files.values().map(line).collect();
        // A failed print does not stop the remaining downloads.
        printed = printed.and(say::results(&lines));
    }
    printed
}

/// A progress bar per transfer on a terminal, and a line elsewhere.
#[derive(Default)]
struct Bar(Option<ProgressBar>);

impl DownloadProgress for Bar {
    fn start(&mut self, url: &str, already: u64, total: Option<u64>) {
        let template = "{msg} {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
        let bar = say::bar(total, template);
        if bar.is_hidden() {
            say::note(&format!("fetching {url}"));
        }
        bar.set_message(url.rsplit('/').next().unwrap_or(url).to_owned());
        bar.set_position(already);
        self.0 = Some(bar);
    }

    fn advance(&mut self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(bytes);
        }
    }

    fn note(&mut self, message: &str) {
        match &self.0 {
            Some(bar) => say::note_beside(bar, message),
            None => say::note(message),
        }
    }
}
