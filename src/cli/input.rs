//! An input as it is typed: a file, or `-` for standard input.

use std::io::IsTerminal;
use std::path::Path;

use super::batch::is_glob;
use crate::options::Input;
use crate::source::read_whole;
use crate::{Error, Result};

/// Name of standard input in messages and outputs.
pub const STDIN_NAME: &str = "stdin";

/// Whether standard input is meant.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses what is no model, with what was probably meant.
pub fn check_input(path: &Path) -> Result<()> {
    if is_stdin(path) {
        if std::io::stdin().is_terminal() {
            return Err(Error::Usage("standard input is a terminal; pipe a GLB into it or name a file".into()));
        }
        return Ok(());
    }
    let shown = path.display();
    if path.as_os_str().is_empty() {
        return Err(Error::Usage("an input is empty; name a .glb or .gltf file".into()));
    }
    if path.is_dir() {
        return Err(Error::Usage(format!(
            "an input is a folder; name its models, or bake all with `vatbake bake --batch {shown} -o OUT`: {shown}"
        )));
    }
    if is_glob(path) && !path.exists() {
        return Err(Error::Usage(format!(
            "no file has this name; bake all that match with `vatbake bake --batch \"{shown}\" -o OUT`: {shown}"
        )));
    }
    Ok(())
}

/// Checks a file of `-a/--animations`.
pub fn open_animation(path: &Path) -> Result<Input> {
    let usage = |text: String| Err(Error::Usage(format!("-a/--animations takes .glb and .gltf files, {text}")));
    let shown = path.display();
    if is_stdin(path) || path.as_os_str().is_empty() {
        return usage("not standard input or an empty name".into());
    }
    if path.is_dir() {
        return usage(format!("not a folder; name its files, as in -a {}/*.glb", shown.to_string().trim_end_matches('/')));
    }
    if is_glob(path) && !path.exists() {
        return usage(format!("but no file has this name: {shown}"));
    }
    Ok(Input::File(path.to_path_buf()))
}

/// Checks an input and, where it is standard input, reads it.
pub fn open_input(path: &Path) -> Result<Input> {
    check_input(path)?;
    if !is_stdin(path) {
        return Ok(Input::File(path.to_path_buf()));
    }
    let bytes = read_whole(std::io::stdin().lock()).map_err(Error::io("read the model", STDIN_NAME))?;
    Ok(Input::Bytes { name: STDIN_NAME.into(), bytes })
}
