//! `lao study serve`: the study as pages for a browser.

use super::{Place, open, shown};
use crate::interrupt;
use crate::serve::Address;
use clap::Args;
use lao_pages::StudyPages;

#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    at: Address,
    /// Only show; nothing can be asked for or reported.
    #[arg(long)]
    read_only: bool,
}

pub fn run(args: &ServeArgs) -> anyhow::Result<u8> {
    let folder = &args.place.folder;
    // Whether the folder is a study is said before anything is served.
    drop(open(&args.place)?);
    let (server, guard) = args.at.listen(&shown(folder), true)?;
    StudyPages::new(folder, guard.read_only(args.read_only)).serve(server, &interrupt::learning())?;
    Ok(0)
}
