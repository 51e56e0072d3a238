//! Headless Chromium, driven by Node scripts in `tests/support/browser`.
//!
//! A script gets JSON and returns JSON; what the page logs as an error, throws or cannot load comes back as well, so that a test can
//! ask for none. WebGL 2 runs on SwiftShader, a software adapter. Without a browser a test fails; none is skipped.

use std::fmt::Display;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

/// What a script came to.
#[derive(Debug, Clone, Deserialize)]
pub struct Visit {
    /// What it returned.
    pub value: Value,
    /// What the page logged as an error, threw, or could not load.
    pub errors: Vec<String>,
    /// What the page logged as a warning.
    pub warnings: Vec<String>,
}

/// A visit to one page.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    /// Folder that is served on `http://127.0.0.1`; none for a `file://` URL.
    pub folder: Option<&'a Path>,
    /// Path below that folder, beginning with `/`, or a `file://` URL.
    pub address: String,
    /// Body of an async function that runs in the page, with `input`; it returns the value.
    pub script: &'a str,
    /// What the script gets.
    pub input: Value,
    /// Where a PNG of the page is written afterwards.
    pub shot: Option<PathBuf>,
}

/// Time for a script, with starting the browser.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// Folder of the npm packages.
pub fn packages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/node/node_modules")
}

/// Opens a page and runs a script in it.
pub fn open(page: &Page<'_>) -> Result<Visit, String> {
    let input = json!({ "folder": page.folder, "address": page.address, "script": page.script, "input": page.input, "shot": page.shot });
    run("page.mjs", &input, TIMEOUT)
}

/// Runs a script of `tests/support/browser` with `input`. An error says what went wrong in Node; the page's own errors are in the visit.
pub fn run(script: &str, input: &Value, timeout: Duration) -> Result<Visit, String> {
    // One browser at a time: a software adapter takes every core.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/browser").join(script);
    if !packages().join("playwright-core/package.json").exists() {
        return Err(format!("no playwright-core in {}: tests/run installs it", packages().display()));
    }
    let fault = |what: &str, e: &dyn Display| format!("{script}: {what}: {e}");
    let mut child = Command::new("node")
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| fault("node does not start; tests/run installs it", &e))?;
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let request = json!({ "timeout": timeout.as_millis() as u64, "input": input });
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(request.to_string().as_bytes()).map_err(|e| fault("node does not read", &e))?;
    drop(stdin);
    // The script ends by itself when its time is over; the margin is for one that cannot.
    let ended = wait(&mut child, timeout + Duration::from_secs(15));
    let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    match ended {
        Some(true) => serde_json::from_str(&stdout).map_err(|e| fault("prints no JSON", &format!("{e}\n{stdout}\n{stderr}"))),
        Some(false) => Err(fault("failed", &stderr)),
        None => Err(fault("was stopped", &format!("not done after {timeout:?}\n{stderr}"))),
    }
}

/// Reads a pipe to its end beside the rest, so that neither side waits for the other.
fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes); // what came before an error is the best there is to show
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Whether the process succeeded; none where it had to be killed.
fn wait(child: &mut Child, timeout: Duration) -> Option<bool> {
    let end = Instant::now() + timeout;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = child.kill(); // Chromium ends when the pipe to it closes
                let _ = child.wait();
                return None;
            }
        }
    }
}
