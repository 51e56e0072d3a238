//! Which adapters there are and which one a choice means.

use wgpu::{Adapter, AdapterInfo, Backends, DeviceType};

use crate::options::DeviceChoice;
use crate::report::Device;
use crate::{Error, Result};

/// Back ends that are tried.
const BACKENDS: Backends = Backends::VULKAN.union(Backends::METAL).union(Backends::DX12);

/// What a choice means.
#[derive(Debug)]
pub enum Chosen {
    /// The twin.
    Cpu,
    /// An adapter.
    Adapter(Adapter),
}

/// All adapters, hardware first (discrete, integrated, virtual, other), software last.
pub fn list_adapters() -> Vec<Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = BACKENDS;
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let mut adapters = pollster::block_on(instance.enumerate_adapters(BACKENDS));
    adapters.sort_by_key(|a| rank(a.get_info().device_type));
    adapters
}

/// Picks from `adapters`.
///
/// # Errors
/// [`Error::Device`] naming what there is, where the choice is absent.
pub fn choose_adapter(adapters: Vec<Adapter>, choice: &DeviceChoice) -> Result<Chosen> {
    let infos: Vec<_> = adapters.iter().map(Adapter::get_info).collect();
    match choose(&infos, choice)? {
        Some(index) => Ok(adapters.into_iter().nth(index).map_or(Chosen::Cpu, Chosen::Adapter)),
        None => Ok(Chosen::Cpu),
    }
}

/// Index of the adapter that a choice means; none for the twin.
pub fn choose(infos: &[AdapterInfo], choice: &DeviceChoice) -> Result<Option<usize>> {
    let is_software = |info: &AdapterInfo| info.device_type == DeviceType::Cpu;
    let first = |wanted: &dyn Fn(&AdapterInfo) -> bool| infos.iter().position(wanted);
    let (found, missing) = match choice {
        DeviceChoice::Cpu => return Ok(None),
        DeviceChoice::Auto => return Ok(first(&|info| !is_software(info))),
        DeviceChoice::Gpu => (first(&|info| !is_software(info)), "no hardware adapter was found".to_owned()),
        DeviceChoice::Software => (
            first(&is_software),
            "no software adapter was found (on Debian and Ubuntu 'apt-get install mesa-vulkan-drivers' brings llvmpipe)".to_owned(),
        ),
        DeviceChoice::Named(name) => {
            let wanted = name.to_lowercase();
            (first(&|info| info.name.to_lowercase().contains(&wanted)), format!("no adapter's name contains '{name}'"))
        }
    };
    match found {
        Some(index) => Ok(Some(index)),
        None => {
            let names: Vec<_> = infos.iter().map(|i| format!("'{}' ({})", i.name, kind(i.device_type))).collect();
            let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Err(Error::Device(format!("{missing}; adapters found through {}: {there}; --device cpu bakes without one", backends_tried())))
        }
    }
}

/// How reports describe an adapter.
pub fn describe(info: &AdapterInfo) -> Device {
    let driver = [info.driver.as_str(), info.driver_info.as_str()].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>();
    Device { name: info.name.clone(), backend: info.backend.to_string(), kind: kind(info.device_type).into(), driver: driver.join(" ") }
}

fn kind(device_type: DeviceType) -> &'static str {
    match device_type {
        DeviceType::DiscreteGpu => "discrete",
        DeviceType::IntegratedGpu => "integrated",
        DeviceType::VirtualGpu => "virtual",
        DeviceType::Cpu => "software",
        DeviceType::Other => "other",
    }
}

fn rank(device_type: DeviceType) -> u8 {
    match device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

fn backends_tried() -> &'static str {
    if cfg!(target_vendor = "apple") {
        "Metal"
    } else if cfg!(windows) {
        "Vulkan and DX12"
    } else {
        "Vulkan"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, device_type: DeviceType) -> AdapterInfo {
        AdapterInfo { name: name.into(), ..AdapterInfo::new(device_type, wgpu::Backend::Vulkan) }
    }

    #[test]
    fn software_runs_only_when_it_is_named() {
        let both = [info("Arc A770", DeviceType::DiscreteGpu), info("llvmpipe (LLVM 15)", DeviceType::Cpu)];
        let software = &both[1..];
        assert_eq!(choose(&both, &DeviceChoice::Auto).unwrap(), Some(0));
        assert_eq!(choose(software, &DeviceChoice::Auto).unwrap(), None);
        assert_eq!(choose(&both, &DeviceChoice::Software).unwrap(), Some(1));
        assert_eq!(choose(&both, &DeviceChoice::Named("LLVMpipe".into())).unwrap(), Some(1));
        assert_eq!(choose(&both, &DeviceChoice::Cpu).unwrap(), None);
        let message = choose(software, &DeviceChoice::Gpu).unwrap_err().to_string();
        assert!(message.contains("no hardware adapter") && message.contains("'llvmpipe (LLVM 15)' (software)"), "{message}");
        let message = choose(&[], &DeviceChoice::Named("RTX".into())).unwrap_err().to_string();
        assert!(message.contains("'RTX'") && message.contains("none") && message.contains("--device cpu"), "{message}");
    }
}
