//! The `vatbake` program: everything it does is in `vatbake::cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    silence_device_select();
    vatbake::cli::run(std::env::args_os().collect()).into()
}

/// Mesa's device-select layer asks Wayland which adapter comes first and complains on stderr where there is no session, as on a
/// server. The order does not matter here, so the program starts itself again without the layer: a process cannot safely change
/// an environment that other threads and libraries read.
#[cfg(target_os = "linux")]
fn silence_device_select() {
    use std::os::unix::process::CommandExt;
    const OFF: &str = "NODEVICE_SELECT";
    if std::env::var_os("XDG_RUNTIME_DIR").is_some() || std::env::var_os(OFF).is_some() {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        // comes back only where it fails; then the complaint stays
        let _ = std::process::Command::new(program).args(std::env::args_os().skip(1)).env(OFF, "1").exec();
    }
}

#[cfg(not(target_os = "linux"))]
fn silence_device_select() {}
