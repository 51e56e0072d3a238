//! `vatbake schema`: the sidecar's JSON Schema.

use super::exit::Exit;
use super::json::to_text;
use super::show::print;
use crate::Result;

/// Prints the schema.
///
/// # Errors
/// Where standard output cannot be written.
pub fn run() -> Result<Exit> {
    print(&to_text(&crate::output::sidecar::schema()))?;
    Ok(Exit::Done)
}
