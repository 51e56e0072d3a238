//! The kit for three.js, played in headless Chromium.

mod support;

use std::path::Path;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use support::browser::{self, Page};

fn main() {
    let arguments = Arguments::from_args();
    let trials = vec![Trial::test("browser/tells-errors", tells_errors), Trial::test("browser/is-stopped", is_stopped)];
    libtest_mimic::run(&arguments, trials).exit();
}

fn page(folder: &Path, script: &'static str, input: Value) -> Page<'static> {
    // A page of the folder, or a file: both must work.
    Page { folder: None, address: format!("file://{}", folder.join("page.html").display()), script, input, shot: None }
}

/// What a page logs, throws or cannot load is told; WebGL 2 is there; a page without faults has none.
fn tells_errors() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("page.html"), "<!doctype html><link rel=icon href=data:,><title>A page</title>")?;
    let webgl = "const gl = document.createElement('canvas').getContext('webgl2'); return [document.title, gl !== null, input.a]";
    for served in [true, false] {
        let mut page = page(folder.path(), webgl, json!({ "a": 7 }));
        if served {
            (page.folder, page.address) = (Some(folder.path()), "/page.html".into());
        }
        let visit = browser::open(&page)?;
        if visit.value != json!(["A page", true, 7]) || !visit.errors.is_empty() {
            return Err(format!("served {served}: {visit:?}").into());
        }
        page.script = "console.error('logged'); setTimeout(() => { throw new Error('thrown') }); \
            await fetch('missing.bin').catch(() => 0); await fetch('https://example.com').catch(() => 0); await new Promise(r => setTimeout(r, 50))";
        let visit = browser::open(&page)?;
        let told = |what: &str| visit.errors.iter().any(|e| e.contains(what));
        if !["logged", "thrown", "missing.bin", "example.com"].into_iter().all(told) {
            return Err(format!("served {served}: not all is told: {visit:?}").into());
        }
    }
    Ok(())
}

/// A script that does not end is stopped, and one that fails says why.
fn is_stopped() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("page.html"), "<!doctype html>")?;
    let mut request = json!({ "folder": folder.path(), "address": "/page.html", "script": "await new Promise(() => 0)", "input": null });
    let Err(error) = browser::run("page.mjs", &request, Duration::from_secs(4)) else { return Err("it ended".into()) };
    if !error.contains("not done after 4 s") {
        return Err(error.into());
    }
    request["script"] = json!("throw new Error('with these words')");
    let Err(error) = browser::run("page.mjs", &request, browser::TIMEOUT) else { return Err("it succeeded".into()) };
    if !error.contains("with these words") {
        return Err(error.into());
    }
    Ok(())
}
