//! The `vatbake` program: everything it does is in `vatbake::cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    vatbake::cli::run(std::env::args_os().collect()).into()
}
