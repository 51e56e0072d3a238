//! From a choice to a backend.

use crate::Result;
use crate::gpu::adapter::{Chosen, choose, choose_adapter, describe, list_adapters};
use crate::options::{DeviceChoice, WorkLimits};
use crate::report::Device;
use crate::skin::Backend;
use crate::skin::cpu::{self, Cpu};
use crate::skin::gpu::Gpu;

/// Starts what a choice means.
///
/// # Errors
/// [`crate::Error::Device`] where it is absent or does not start.
pub fn start(choice: &DeviceChoice, work: WorkLimits) -> Result<Box<dyn Backend>> {
    if *choice == DeviceChoice::Cpu {
        return Ok(Box::new(Cpu));
    }
    match choose_adapter(list_adapters(), choice)? {
        Chosen::Cpu => Ok(Box::new(Cpu)),
        Chosen::Adapter(adapter) => Ok(Box::new(Gpu::start(&adapter, work)?)),
    }
}

/// What could run a bake, the CPU twin last, and the index of what `choice` takes.
///
/// # Errors
/// [`crate::Error::Device`] where `choice` names a device that is absent.
pub fn devices(choice: &DeviceChoice) -> Result<(Vec<Device>, usize)> {
    let infos: Vec<_> = list_adapters().iter().map(wgpu::Adapter::get_info).collect();
    let chosen = choose(&infos, choice)?.unwrap_or(infos.len());
    let mut list: Vec<_> = infos.iter().map(describe).collect();
    list.push(cpu::device());
    Ok((list, chosen))
}
