//! Read: glTF or GLB bytes to a [`Scene`]. The only place that knows accessors, sparse data, strides and extensions.

use crate::options::Input;
use crate::scene::Scene;
use crate::warning::Warnings;
use crate::{Error, Result};

/// What is to be read.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Scene by number or name; the file's default where absent.
    pub scene: Option<String>,
    /// Follow URIs that leave the model's folder.
    pub allow_outside: bool,
}

/// Reads a model.
///
/// # Errors
/// [`Error::Io`] where a file cannot be read, [`Error::Model`] where the model is broken or asks for what is not supported,
/// [`Error::Usage`] where the scene does not exist.
pub fn read(input: &Input, settings: &Settings, warnings: &mut Warnings) -> Result<Scene> {
    let _ = (input, settings, warnings);
    Err(Error::Bake("not yet".into()))
}
