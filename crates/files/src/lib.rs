//! Files that are written completely or not at all, locks between processes, and folders of results.

mod file;
mod folder;

pub use file::{
    WriteError, check_ordinary, check_writable, is_same, lock, open_ordinary, remove_unfinished, sync_folder,
    write_atomically, write_by_way_of, write_with,
};
pub use folder::OutputFolder;
