//! `vatbake devices`: what could run a bake.

use serde::Serialize;

use super::args::DevicesArgs;
use super::exit::Exit;
use super::json::to_text;
use super::show::{print, table};
use crate::Result;
use crate::options::DeviceChoice;
use crate::report::Device;

/// A device, and whether `--device auto` takes it.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    device: &'a Device,
    auto: bool,
}

/// Lists the devices.
///
/// # Errors
/// Where standard output cannot be written.
pub fn run(args: &DevicesArgs) -> Result<Exit> {
    let (devices, taken) = crate::devices(&DeviceChoice::Auto)?;
    let listed: Vec<_> = devices.iter().enumerate().map(|(i, device)| Listed { device, auto: i == taken }).collect();
    print(&if args.json { to_text(&listed) } else { describe(&listed) })?;
    Ok(Exit::Done)
}

fn describe(devices: &[Listed<'_>]) -> String {
    let row = |d: &Listed<'_>| {
        let mark = if d.auto { "*" } else { "" };
        vec![mark.into(), d.device.name.clone(), d.device.kind.clone(), d.device.backend.clone(), d.device.driver.clone()]
    };
    let rows: Vec<_> = devices.iter().map(row).collect();
    let foot = "* is what --device auto takes; name another with a part of its name, as in --device llvmpipe";
    format!("{}\n\n{foot}", table(&["", "name", "kind", "backend", "driver"], &rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_auto_takes_is_marked() {
        let device =
            |name: &str, kind: &str| Device { name: name.into(), backend: "vulkan".into(), kind: kind.into(), driver: "mesa".into() };
        let devices = [device("llvmpipe", "software"), device("CPU twin", "cpu")];
        let listed: Vec<_> = devices.iter().enumerate().map(|(i, device)| Listed { device, auto: i == 1 }).collect();
        let text = describe(&listed);
        let marked: Vec<_> = text.lines().filter(|l| l.starts_with('*')).collect();
        assert!(marked[0].contains("CPU twin") && marked.len() == 2, "{text}");
        let json = serde_json::to_value(&listed).expect("JSON");
        assert_eq!((&json[0]["name"], &json[0]["auto"], &json[1]["auto"]), (&"llvmpipe".into(), &false.into(), &true.into()));
    }
}
