//! `vatbake shader`: the code that plays a bake.

use super::args::ShaderArgs;
use super::exit::Exit;
use super::show::print;
use crate::{Error, Result};

/// Prints the code, or writes it to a file.
///
/// # Errors
/// Where standard output or the file cannot be written.
pub fn run(args: &ShaderArgs) -> Result<Exit> {
    let source = args.language.source();
    match &args.output {
        Some(path) => std::fs::write(path, source).map_err(Error::io("write the shader", path))?,
        None => print(source)?,
    }
    Ok(Exit::Done)
}
