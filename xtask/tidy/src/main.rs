//! `cargo tidy --fix`: wraps the comments and pages that the test of line widths would refuse.

use std::fs;
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().skip(1).ne(["--fix".to_owned()]) {
        eprintln!(
            "usage: cargo tidy --fix   (wraps comments and pages; `cargo test -p lao-tidy` only looks)"
        );
        return ExitCode::from(2);
    }
    for file in lao_tidy::texts().iter().filter(|file| file.name != "ERRATA.md") {
        let wrapped = file.wrapped();
        if wrapped != file.text {
            if let Err(error) = fs::write(lao_tidy::root().join(&file.name), wrapped) {
                eprintln!("{}: {error}", file.name);
                return ExitCode::FAILURE;
            }
            eprintln!("wrapped {}", file.name);
        }
    }
    ExitCode::SUCCESS
}
