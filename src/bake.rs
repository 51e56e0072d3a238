//! The line: source, pose, plan, skin, output.

use crate::options::{DeviceChoice, Request};
use crate::report::{Device, Progress, Report};
use crate::{Error, Result};

/// Bakes one model. Either all files of the set are written, complete, or none.
///
/// # Errors
/// Every [`Error`]; the message names what, where, the numbers and the remedy.
pub fn bake(request: &Request, progress: &mut dyn Progress) -> Result<Report> {
    let _ = (request, progress);
    Err(Error::Bake("not yet".into()))
}

/// What could run a bake, the CPU twin last, and the index of what `choice` takes.
///
/// # Errors
/// [`Error::Device`] where `choice` names a device that is absent.
pub fn devices(choice: &DeviceChoice) -> Result<(Vec<Device>, usize)> {
    let _ = choice;
    Err(Error::Device("not yet".into()))
}
