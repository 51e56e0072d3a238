//! Which adapter draws: a picture needs one, so a software adapter stands in where there is no hardware.

use wgpu::Adapter;

use crate::gpu::adapter::{choose, list_adapters};
use crate::gpu::context::Context;
use crate::options::{DeviceChoice, WorkLimits};
use crate::{Error, Result};

/// Starts the adapter that a choice means.
///
/// # Errors
/// [`Error::Usage`] for the CPU, which cannot draw; [`Error::Device`] where there is no such adapter, or it does not start.
pub fn start(choice: &DeviceChoice) -> Result<Context> {
    if *choice == DeviceChoice::Cpu {
        return Err(Error::Usage(format!("--device cpu cannot draw a picture; name an adapter, or leave it out{}", without("; "))));
    }
    let adapter = pick(list_adapters(), choice)?;
    Context::new(&adapter, &WorkLimits::default()).map_err(drawing)
}

fn pick(adapters: Vec<Adapter>, choice: &DeviceChoice) -> Result<Adapter> {
    let infos: Vec<_> = adapters.iter().map(Adapter::get_info).collect();
    let index = match choice {
        // hardware first: that is the order of the list
        DeviceChoice::Auto if infos.is_empty() => None,
        DeviceChoice::Auto => Some(0),
        _ => choose(&infos, choice).map_err(drawing)?,
    };
    let adapter = index.and_then(|index| adapters.into_iter().nth(index));
    adapter.ok_or_else(|| {
        Error::Device(format!(
            "a picture needs a graphics adapter and none was found; install a driver (on Debian and Ubuntu 'apt-get install mesa-vulkan-drivers' \
             brings the software adapter llvmpipe){}",
            without("; ")
        ))
    })
}

/// What works without an adapter.
fn without(before: &str) -> String {
    format!("{before}-o NAME.html and `vatbake verify` need no adapter")
}

/// An error of the device with what helps here: a bake's remedies are others.
pub fn drawing(error: Error) -> Error {
    match error {
        Error::Device(text) => {
            let what = text.split("; a smaller --memory").next().unwrap_or_default();
            let what = what.split("; --device cpu").next().unwrap_or_default();
            Error::Device(format!("{what}{}", without("; ")))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_adapter_the_message_says_what_helps() {
        for choice in [DeviceChoice::Auto, DeviceChoice::Software, DeviceChoice::Gpu, DeviceChoice::Named("RTX".into())] {
            let text = pick(Vec::new(), &choice).expect_err("no adapter").to_string();
            assert!(text.contains(".html") && text.contains("verify") && !text.contains("--device cpu"), "{choice:?}: {text}");
        }
        let text = pick(Vec::new(), &DeviceChoice::Auto).expect_err("no adapter").to_string();
        assert!(text.contains("mesa-vulkan-drivers"), "{text}");
        assert!(matches!(start(&DeviceChoice::Cpu), Err(Error::Usage(_))));
    }

    #[test]
    fn remedies_of_bakes_are_not_given() {
        let error =
            Error::Device("'X' failed: lost; a smaller --memory cuts the work into smaller pieces, --device cpu bakes without it".into());
        assert_eq!(drawing(error).to_string(), "'X' failed: lost; -o NAME.html and `vatbake verify` need no adapter");
    }
}
