//! The command line: what was typed ([`args`]) becomes what is meant ([`config`]), one file a command, one exit code.

pub mod args;
pub mod bake;
pub mod batch;
pub mod config;
pub mod devices;
pub mod exit;
pub mod facts;
pub mod input;
pub mod inspect;
pub mod json;
pub mod preview;
pub mod progress;
pub mod schema;
pub mod shader;
pub mod show;
pub mod space;
pub mod summary;
pub mod survey;
pub mod values;
pub mod verify;

use std::ffi::OsString;

use clap::Parser;

use self::args::{Args, Command};
use self::exit::Exit;
use self::json::{Failure, to_text};
use self::show::{Paint, print, say};
use self::summary::error_line;

/// Runs the program with these words, the first of them its own name.
pub fn run(words: Vec<OsString>) -> Exit {
    start_log();
    // Looked for in the raw words, so that a command line that cannot be parsed is answered in JSON too.
    let json = words.iter().any(|word| word == "--json");
    let args = match Args::try_parse_from(words) {
        Ok(args) => args,
        Err(error) => return show_parse_error(&error, json),
    };
    let result = match args.command {
        Command::Bake(args) => bake::run(*args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Schema => schema::run(),
        Command::Shader(args) => shader::run(&args),
        Command::Preview(args) => preview::run(&args),
        Command::Verify(args) => verify::run(&args),
    };
    result.unwrap_or_else(|error| {
        say(&error_line(&error, None, Paint::stderr()));
        if json {
            // Where standard output is what failed, the exit code still tells.
            let _ = print(&to_text(&Failure::new(&error, None)));
        }
        Exit::of(&error)
    })
}

/// Help and version, or what was wrong with the words.
fn show_parse_error(error: &clap::Error, json: bool) -> Exit {
    // A closed pipe is no reason to fail.
    let _ = error.print();
    if !error.use_stderr() {
        return Exit::Done;
    }
    if json {
        let text = error.render().to_string();
        let lines = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim);
        let error = lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_string();
        let _ = print(&to_text(&Failure { error, source: None, exit: Exit::Usage.code() }));
    }
    Exit::Usage
}

/// Silent unless `VATBAKE_LOG` (or `RUST_LOG`) says otherwise: graphics drivers talk a lot.
fn start_log() {
    let name = if std::env::var_os("VATBAKE_LOG").is_some() { "VATBAKE_LOG" } else { "RUST_LOG" };
    let env = env_logger::Env::new().filter_or(name, "off");
    // Fails only where a host program has set its own.
    let _ = env_logger::Builder::from_env(env).try_init();
}
