//! The command line from outside: help, messages and exit codes, as a shell sees them.
//!
//! Snapshots stand in `tests/snapshots`; `INSTA_UPDATE=always cargo test --test cli` writes them anew.

#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use base64::Engine;
use serde_json::Value;
use tempfile::TempDir;
use vatbake::Report;
use vatbake::playback::Language;

/// A folder of small files, of which none is a model.
fn tree(files: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, b"not a model").expect("a file");
    }
    dir
}

/// A triangle that moves by 1 m along x within a second, as JSON without side files; `still` adds a clip in which it stays.
fn triangle(still: bool) -> String {
    let floats = [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, /* times */ 0.0, 1.0, /* moves */ 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    let floats = floats.into_iter().chain([5.0, 0.0, 0.0, 5.0, 0.0, 0.0]); // stays
    let bytes: Vec<u8> = floats.flat_map(f32::to_le_bytes).collect();
    let uri = format!("data:application/octet-stream;base64,{}", base64::engine::general_purpose::STANDARD.encode(&bytes));
    let accessor = |offset: usize, count: usize, kind: &str| serde_json::json!({ "bufferView": 0, "byteOffset": offset, "componentType": 5126, "count": count, "type": kind });
    let mut accessors = vec![accessor(0, 3, "VEC3"), accessor(36, 2, "SCALAR"), accessor(44, 2, "VEC3"), accessor(68, 2, "VEC3")];
    (accessors[0]["min"], accessors[0]["max"]) = (serde_json::json!([0.0, 0.0, 0.0]), serde_json::json!([1.0, 2.0, 0.0]));
    (accessors[1]["min"], accessors[1]["max"]) = (serde_json::json!([0.0]), serde_json::json!([1.0]));
    let clip = |name: &str, output: u32| {
        serde_json::json!({
            "name": name,
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }],
            "samplers": [{ "input": 1, "output": output }],
        })
    };
    let animations = if still { vec![clip("Move", 2), clip("Stay", 3)] } else { vec![clip("Move", 2)] };
    let json = serde_json::json!({
        "asset": { "version": "2.0" },
        "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "animations": animations,
        "buffers": [{ "byteLength": bytes.len(), "uri": uri }], "bufferViews": [{ "buffer": 0, "byteLength": bytes.len() }], "accessors": accessors,
    });
    json.to_string()
}

/// The same as a GLB without a binary chunk.
fn triangle_glb(still: bool) -> Vec<u8> {
    let mut json = triangle(still).into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let words = [0x4654_6c67, 2, json.len() as u32 + 20, json.len() as u32, 0x4e4f_534a];
    words.into_iter().flat_map(u32::to_le_bytes).chain(json).collect()
}

/// The program in `folder`, with nothing of the caller's environment that changes what it says.
fn vatbake(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vatbake"));
    command.current_dir(folder).args(words.split_whitespace());
    command.env("NO_COLOR", "1").env("COLUMNS", "120").env_remove("RUST_LOG").env_remove("VATBAKE_LOG");
    command
}

/// Exit code, standard output, standard error.
fn answer(folder: &Path, words: &str) -> (i32, String, String) {
    let output = vatbake(folder, words).output().expect("runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8").replace("vatbake.exe", "vatbake");
    (output.status.code().expect("ended by itself"), text(output.stdout), text(output.stderr))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("not JSON ({e}): {text}"))
}

/// Paths in `folder`, sorted: to see that nothing was left.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        walk(folder).iter().map(|p| p.strip_prefix(folder).expect("below").to_string_lossy().replace('\\', "/")).collect();
    names.sort();
    names
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn help() {
    let dir = tree(&[]);
    for words in [
        "-h",
        "--help",
        "bake -h",
        "bake --help",
        "inspect -h",
        "inspect --help",
        "devices --help",
        "schema --help",
        "shader --help",
        "preview --help",
    ] {
        let (code, stdout, stderr) = answer(dir.path(), words);
        assert_eq!((code, stderr.as_str()), (0, ""), "{words}");
        insta::assert_snapshot!(format!("help {}", words.replace("--help", "long").replace("-h", "short")).replace(' ', "-"), stdout);
    }
}

#[test]
fn short_help_shows_a_dozen_flags() {
    let (_, stdout, _) = answer(tree(&[]).path(), "bake -h");
    let is_flag = |line: &&str| line.trim_start().starts_with('-') && !line.contains("--help");
    assert_eq!(stdout.lines().filter(is_flag).count(), 12);
}

#[test]
fn version() {
    let (code, stdout, _) = answer(tree(&[]).path(), "--version");
    assert_eq!((code, stdout.trim()), (0, concat!("vatbake ", env!("CARGO_PKG_VERSION"))));
}

/// Command lines that make no sense: exit code 2, one sentence, nothing on standard output, nothing written.
#[test]
fn wrong_usage() {
    let before = ["file", "models/a/hero.glb", "models/b/hero.glb", "notes/readme.txt", "one.glb"];
    let dir = tree(&before);
    let lines = [
        "",
        "bakery",
        "bake",
        "bake --nonsense one.glb",
        "bake one.glb --fps 0",
        "bake one.glb --fps nan",
        "bake one.glb --fps -30",
        "bake one.glb --scale 0",
        "bake one.glb --scale -1",
        "bake one.glb --start -1",
        "bake one.glb --start 2 --end 2",
        "bake one.glb --start 1 --exact-fps",
        "bake one.glb --loop all,Walk",
        "bake one.glb --root Hips",
        "bake one.glb --root-motion away",
        "bake one.glb --merge-clips Walk_Hips,",
        "bake -a one.glb",
        "bake one.glb -a models",
        "bake one.glb -a models/*.glb",
        "bake one.glb --format jpg",
        "bake one.glb --format exr16 --normals alpha",
        "bake one.glb --format exr32 --normal-bits 8",
        "bake one.glb --normals none --normal-bits 8",
        "bake one.glb --normal-bits 12",
        "bake one.glb --max-size 0",
        "bake one.glb --uv-set 0",
        "bake one.glb --uv-set 8",
        "bake one.glb --memory 512MB",
        "bake one.glb --memory 1K",
        "bake one.glb --quiet --timings",
        "bake one.glb --name a/b",
        "bake one.glb two.glb --name both",
        "bake one.glb one.glb",
        "bake models/a/hero.glb models/b/hero.glb -o out",
        "bake models",
        "bake models/*/hero.glb",
        "bake one.glb -o file",
        "bake one.glb --batch models -o out",
        "bake --batch models",
        "bake --batch models -o out --name all",
        "bake --batch absent -o out",
        "bake --batch one.glb -o out",
        "bake --batch notes -o out",
        "bake --batch notes/*.glb -o out",
        "bake --batch models/[a -o out",
        "inspect",
        "inspect models",
        "devices --quiet",
        "schema now",
        "shader",
        "shader msl",
        "shader wgsl -o absent/vat.wgsl -o vat.wgsl",
    ];
    let mut shown = String::new();
    for line in lines {
        let (code, stdout, stderr) = answer(dir.path(), line);
        assert_eq!((code, stdout.as_str()), (2, ""), "{line}: {stderr}");
        shown += &format!("$ vatbake {line}\n{stderr}\n");
    }
    insta::assert_snapshot!("wrong-usage", shown);
    assert_eq!(files(dir.path()), before);
}

#[test]
fn wrong_usage_in_json() {
    let dir = tree(&["one.glb"]);
    for line in ["bake --json one.glb --fps 0", "bake --json one.glb --start 2 --end 1", "bake --json", "inspect --json"] {
        let (code, stdout, stderr) = answer(dir.path(), line);
        let object = json(&stdout);
        assert_eq!((code, &object["exit"], &object["source"]), (2, &2.into(), &Value::Null), "{line}");
        let error = object["error"].as_str().expect("a sentence");
        assert!(!error.is_empty() && !error.contains('\n') && !error.starts_with("error"), "{error}");
        assert!(stderr.starts_with("error: "), "people read standard error: {stderr}");
    }
}

#[test]
fn a_bad_model_fails() {
    let dir = tree(&["bad.glb"]);
    for line in ["bake bad.glb", "bake absent.glb", "inspect bad.glb", "inspect absent.glb", "bake bad.glb -q"] {
        let (code, stdout, stderr) = answer(dir.path(), line);
        assert_eq!((code, stdout.as_str()), (1, ""), "{line}");
        assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{line}: {stderr}");
    }
    assert_eq!(files(dir.path()), ["bad.glb"]);
}

#[test]
fn a_bad_model_fails_in_json() {
    let dir = tree(&["bad.glb", "worse.glb"]);
    for command in ["bake", "inspect"] {
        let (code, stdout, _) = answer(dir.path(), &format!("{command} --json bad.glb"));
        let object = json(&stdout);
        assert_eq!((code, &object["exit"], &object["source"]), (1, &1.into(), &"bad.glb".into()));
        assert!(object["error"].is_string());
        let (code, stdout, _) = answer(dir.path(), &format!("{command} --json bad.glb worse.glb"));
        let sources: Vec<_> = json(&stdout).as_array().expect("an array").iter().map(|o| o["source"].clone()).collect();
        assert_eq!((code, &sources[..]), (1, &["bad.glb".into(), "worse.glb".into()][..]));
    }
}

#[test]
fn a_bad_model_does_not_stop_a_batch() {
    let dir = tree(&["in/a.glb", "in/b/c.gltf", "in/.hidden/d.glb", "in/e_vat.glb", "in/e.vat.json"]);
    for batch in ["in", "in/**/*.{glb,gltf}"] {
        let (code, stdout, stderr) = answer(dir.path(), &format!("bake --batch {batch} -o out"));
        assert_eq!((code, stderr.lines().count()), (1, 2), "{stderr}");
        let lines: Vec<_> = stdout.lines().map(str::trim_end).collect();
        assert_eq!(lines.len(), 4, "{stdout}");
        assert!(lines[0].starts_with("model") && lines[1].ends_with("failed") && lines[2].ends_with("failed"), "{stdout}");
        assert_eq!(lines[3], "0 models done, 2 failed");
    }
    let (code, stdout, _) = answer(dir.path(), "bake --batch in -o out --json");
    assert_eq!((code, json(&stdout).as_array().map(Vec::len)), (1, Some(2)));
    assert!(!dir.path().join("out").exists());
}

#[test]
fn standard_input_is_a_model() {
    let dir = tree(&[]);
    let output = vatbake(dir.path(), "bake - --json").write_stdin("not a model").output().expect("runs");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json(&String::from_utf8_lossy(&output.stdout))["source"], "stdin");
    let (code, _, stderr) = answer(dir.path(), "bake - -");
    assert_eq!(code, 2, "{stderr}");
}

#[test]
fn the_schema_is_json() {
    let (code, stdout, stderr) = answer(tree(&[]).path(), "schema");
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(json(&stdout).is_object());
}

#[test]
fn a_shader_is_printed_or_written() {
    let dir = tree(&[]);
    for (word, language) in [("wgsl", Language::Wgsl), ("glsl", Language::Glsl), ("hlsl", Language::Hlsl), ("godot", Language::Godot)] {
        assert_eq!(answer(dir.path(), &format!("shader {word}")), (0, language.source().to_owned(), String::new()));
        assert_eq!(answer(dir.path(), &format!("shader {word} -o {word}.txt")), (0, String::new(), String::new()));
        assert_eq!(std::fs::read_to_string(dir.path().join(format!("{word}.txt"))).expect("a file"), language.source());
    }
    let (code, stdout, stderr) = answer(dir.path(), "shader wgsl -o absent/vat.wgsl");
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.contains("absent/vat.wgsl"), "{stderr}");
}

/// `vatbake schema | head -1`: a reader that has enough is no error.
#[test]
fn a_closed_pipe_is_no_panic() {
    for words in [&["schema"][..], &["bake", "--help"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_vatbake"));
        let output = command.args(words).stdout(writer).stderr(Stdio::piped()).spawn().and_then(|c| c.wait_with_output()).expect("runs");
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{words:?}");
    }
}

/// What a bake of these names leaves in `folder`.
fn set(folder: &str, name: &str) -> Vec<String> {
    [".vat.json", "_vat.glb", "_vat_normal.png", "_vat_position.png"].map(|end| format!("{folder}/{name}{end}")).into()
}

#[test]
fn a_bake_ends_with_one_line_and_its_files() {
    let dir = tree(&[]);
    std::fs::write(dir.path().join("tri.gltf"), triangle(false)).expect("a model");
    let (code, stdout, stderr) = answer(dir.path(), "bake tri.gltf --device cpu");
    assert_eq!(code, 0, "{stderr}");
    let threads = stdout.split_once("twin (").and_then(|(_, rest)| rest.split_once(')')).expect("the device").0.to_string();
    insta::assert_snapshot!("bake", format!("{}\n{stderr}", stdout.replace(&threads, "N threads")));
    let mut wanted = set("tri_vat", "tri");
    wanted.insert(0, "tri.gltf".into());
    assert_eq!(files(dir.path()), wanted);
    let (code, stdout, stderr) = answer(dir.path(), "bake tri.gltf --device cpu -q");
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "", ""), "quiet, over an earlier bake");
}

#[test]
fn a_dry_run_writes_nothing() {
    let dir = tree(&[]);
    std::fs::write(dir.path().join("tri.gltf"), triangle(false)).expect("a model");
    let (code, stdout, _) = answer(dir.path(), "bake tri.gltf --device cpu -n --timings");
    assert!(code == 0 && stdout.contains("(dry run, nothing was written)") && stdout.contains("\ntotal "), "{stdout}");
    assert_eq!(files(dir.path()), ["tri.gltf"]);
}

#[test]
fn reports_are_json() {
    let dir = tree(&[]);
    std::fs::write(dir.path().join("tri.gltf"), triangle(false)).expect("a model");
    let (code, stdout, stderr) = answer(dir.path(), "bake tri.gltf --device cpu --json");
    let report: Report = serde_json::from_str(&stdout).expect("a report");
    assert_eq!((code, report.name.as_str(), report.frame_count, report.files.len()), (0, "tri", 31, 4));
    assert!(stderr.contains("tri: 1 clip, 31 frames, 3 vertices"), "the closing line: {stderr}");
    let (code, stdout, _) = answer(dir.path(), "bake tri.gltf bad.gltf --device cpu --json -n");
    let array = json(&stdout);
    assert_eq!((code, &array[0]["name"], &array[1]["exit"]), (1, &"tri".into(), &1.into()));
}

#[test]
fn warnings_end_a_strict_bake() {
    let dir = tree(&["bad.gltf"]);
    std::fs::write(dir.path().join("tri.gltf"), triangle(true)).expect("a model");
    std::fs::write(dir.path().join("clean.gltf"), triangle(false)).expect("a model");
    let (code, _, stderr) = answer(dir.path(), "bake tri.gltf --device cpu");
    assert!(code == 0 && stderr.contains("warning: [nothing-moves]"), "{stderr}");
    let (code, stdout, stderr) = answer(dir.path(), "bake tri.gltf --device cpu --strict -o strict");
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(stderr.starts_with("error: 1 warning under --strict") && stderr.contains("Stay"), "{stderr}");
    assert!(!dir.path().join("strict").exists());
    assert_eq!(answer(dir.path(), "bake clean.gltf --device cpu --strict").0, 0, "notes are no warnings");
    assert_eq!(answer(dir.path(), "bake clean.gltf tri.gltf --device cpu --strict -n").0, 3);
    assert_eq!(answer(dir.path(), "bake bad.gltf tri.gltf --device cpu --strict -n").0, 1);
}

#[test]
fn equal_stems_and_standard_input_have_names_of_their_own() {
    let dir = tree(&[]);
    std::fs::write(dir.path().join("tri.gltf"), triangle(false)).expect("a model");
    std::fs::write(dir.path().join("tri.glb"), triangle_glb(false)).expect("a model");
    let (code, _, stderr) = answer(dir.path(), "bake tri.gltf tri.glb --device cpu -o out");
    assert_eq!(code, 0, "{stderr}");
    let output = vatbake(dir.path(), "bake - --device cpu -o out --name piped").write_stdin(triangle_glb(false)).output().expect("runs");
    assert_eq!(output.status.code(), Some(0));
    let wanted: Vec<_> = ["piped", "tri_glb", "tri_gltf"].into_iter().flat_map(|name| set("out", name)).collect();
    assert_eq!(files(dir.path())[..12], wanted);
}

#[test]
fn a_batch_keeps_the_tree() {
    let dir = tree(&["in/b/bad.glb"]);
    std::fs::create_dir_all(dir.path().join("in/a")).expect("folders");
    for name in ["in/tri.gltf", "in/a/tri.gltf", "in/b/tri.gltf"] {
        std::fs::write(dir.path().join(name), triangle(true)).expect("a model");
    }
    std::fs::write(dir.path().join("in/list.txt"), "# two\na/tri.gltf\n\ntri.gltf\n").expect("a list");
    let (code, stdout, stderr) = answer(dir.path(), "bake --batch in -o out --device cpu");
    assert_eq!(code, 1, "{stderr}");
    insta::assert_snapshot!("batch", stdout);
    let wanted: Vec<_> = ["out", "out/a", "out/b"].into_iter().flat_map(|folder| set(folder, "tri")).collect();
    let mut written: Vec<_> = files(dir.path()).into_iter().filter(|f| f.starts_with("out")).collect();
    written.sort_by_key(|f| f.rsplit_once('/').map(|(folder, name)| (folder.to_string(), name.to_string())));
    assert_eq!(written, wanted);
    let (code, stdout, _) = answer(dir.path(), "bake --batch in/list.txt -o listed --device cpu --json");
    assert_eq!((code, json(&stdout).as_array().map(Vec::len)), (0, Some(2)));
    assert!(dir.path().join("listed/a/tri.vat.json").is_file() && dir.path().join("listed/tri.vat.json").is_file());
    assert_eq!(answer(dir.path(), "bake --batch in/a -o strict --device cpu --strict").0, 3);
    // What was written is no input: the batch of everything still finds four models and the bad one.
    let (_, stdout, _) = answer(dir.path(), "bake --batch . -o again --device cpu -n --json");
    assert_eq!(json(&stdout).as_array().map(Vec::len), Some(4));
}

#[test]
fn inspect_shows_the_model() {
    let dir = tree(&[]);
    std::fs::write(dir.path().join("tri.gltf"), triangle(true)).expect("a model");
    let (code, stdout, stderr) = answer(dir.path(), "inspect tri.gltf");
    assert_eq!((code, stderr.as_str()), (0, ""));
    insta::assert_snapshot!("inspect", stdout);
    let (code, stdout, _) = answer(dir.path(), "inspect tri.gltf --json");
    let object = json(&stdout);
    assert_eq!(
        (code, &object["vertices"], &object["bake"]["frame_count"], &object["clips"][1]["name"]),
        (0, &3.into(), &62.into(), &"Stay".into())
    );
    assert_eq!(files(dir.path()), ["tri.gltf"]);
}

#[test]
fn devices_end_with_the_twin() {
    let (code, stdout, _) = answer(tree(&[]).path(), "devices --json");
    let list = json(&stdout);
    let list = list.as_array().expect("an array");
    assert_eq!((code, list.last().map(|d| d["kind"].clone())), (0, Some("cpu".into())));
    assert_eq!(list.iter().filter(|d| d["auto"] == true).count(), 1);
}

/// Servers have no session: Mesa's complaint about that must not be the program's.
#[test]
fn a_machine_without_a_session_is_told_nothing() {
    let folder = tree(&[]);
    let mut command = vatbake(folder.path(), "devices");
    command.env_remove("XDG_RUNTIME_DIR").env_remove("NODEVICE_SELECT");
    let output = command.output().expect("runs");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
