//! The command `lao`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(lao_cli::run(std::env::args_os()))
}
