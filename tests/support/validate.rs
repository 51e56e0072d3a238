//! Khronos's glTF validator and a JSON Schema validator, both run by Node (`tests/support/node/check.mjs`).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn check(arguments: &[&Path], kind: &str) -> Value {
    let node = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/node");
    assert!(node.join("node_modules/gltf-validator").exists(), "{} is missing: tests/run installs it", node.join("node_modules").display());
    let output =
        Command::new("node").arg(node.join("check.mjs")).arg(kind).args(arguments).output().expect("node runs; tests/run installs it");
    assert!(output.status.success(), "check.mjs {kind}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("check.mjs prints JSON")
}

/// Issues (errors and warnings) that Khronos's validator has with a GLB.
pub fn issues_of_glb(file: &Path) -> Vec<Value> {
    check(&[file], "glb").as_array().expect("an array").clone()
}

/// What a JSON file breaks of a JSON Schema (draft 2020-12).
pub fn issues_of_json(file: &Path, schema: &Path) -> Vec<Value> {
    check(&[file, schema], "json").as_array().expect("an array").clone()
}

/// The sidecar's schema as the program prints it, written into `folder`.
pub fn schema_into(folder: &Path) -> PathBuf {
    let output = Command::new(env!("CARGO_BIN_EXE_vatbake")).arg("schema").output().expect("the program runs");
    assert!(output.status.success(), "vatbake schema: {}", String::from_utf8_lossy(&output.stderr));
    let file = folder.join("schema.json");
    std::fs::write(&file, output.stdout).expect("the schema");
    file
}
