//! The README against the program: flags, extensions, sidecar fields, the precision table, and every snippet.
//!
//! Its Rust is compiled as documentation tests (see `src/lib.rs`). The snippets of "Playing it" are files in `tests/readme`: the Rust
//! is run here on the baked sample, the vertex shader is validated, and what it calls is run as `vatbake shader wgsl` prints it.

#![cfg(feature = "cli")]

mod support;

use std::collections::BTreeSet;

use assert_cmd::Command;
use support::decode::Mode;
use support::playback::Resource;
use support::{Baked, bake};
use vatbake::options::DeviceChoice;
use vatbake::playback::Language;
use vatbake::{Input, Options, Report};

const README: &str = include_str!("../README.md");
const VERTEX: &str = include_str!("readme/vertex.wgsl");

/// Calls the code as it is printed: rest, UV, clock and instance of each case in, position and normal out.
const CHECK: &str = "
struct Case { rest: vec3f, u: f32, v: f32, now: f32, padding: vec2f, instance: vec4f }
@group(0) @binding(3) var<storage, read> cases: array<Case>;
@group(0) @binding(4) var<storage, read_write> results: array<vec4f>;

@compute @workgroup_size(64)
fn check(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&cases) {
        return;
    }
    let given = cases[id.x];
    let pose = vat_pose(vat_bake, given.rest, vec2f(given.u, given.v), given.instance, given.now);
    results[id.x * 2] = vec4f(pose.position, 0.0);
    results[id.x * 2 + 1] = vec4f(pose.normal, 0.0);
}
";
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/bun.glb");

/// Flags in the README that are cargo's.
const CARGO_FLAGS: [&str; 5] = ["--release", "--path", "--example", "--profile", "--test"];

mod decode {
    include!("readme/decode.rs");
    pub fn at(bake: &Sidecar, clip: usize, texels: &[[u16; 4]], rest: [f32; 3], uv: [f32; 2], seconds: f32) -> [f32; 3] {
        position(bake, &bake.clips[clip], texels, rest, uv, seconds)
    }
}

mod host {
    include!("readme/host.rs");
    pub fn start(began: f64, base: f64, length: f64, loops: bool) -> f32 {
        start_time(began, base, length, loops)
    }
}

fn vatbake(arguments: &[&str]) -> String {
    let output = Command::cargo_bin("vatbake").expect("the program").args(arguments).output().expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Everything that looks like a long flag.
fn flags(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let words = text.split(|c: char| !is_name(c)).map(|word| word.trim_end_matches('-'));
    words.filter(|word| word.len() > 3 && word.starts_with("--") && !word.starts_with("---")).map(str::to_owned).collect()
}

#[test]
fn every_flag_of_bake_is_explained_and_every_flag_named_exists() {
    let told = flags(README);
    // --help itself needs no row
    let wanted: BTreeSet<String> = flags(&vatbake(&["bake", "--help"])).into_iter().filter(|flag| flag != "--help").collect();
    assert!(wanted.len() > 20, "{wanted:?}");
    let missing: Vec<_> = wanted.difference(&told).collect();
    assert!(missing.is_empty(), "not in README.md: {missing:?}");
    let mut known = wanted;
    for command in ["verify", "preview", "inspect", "devices", "schema", "shader"] {
        known.extend(flags(&vatbake(&[command, "--help"])));
    }
    let unknown: Vec<_> = told.difference(&known).filter(|flag| !CARGO_FLAGS.contains(&flag.as_str())).collect();
    assert!(unknown.is_empty(), "README.md names {unknown:?}, which no help has");
}

#[test]
fn every_extension_is_named() {
    let source = include_str!("../src/source/extensions.rs");
    let listed = |start: &str| {
        let declaration = source.split_once(start).unwrap_or_else(|| panic!("no '{start}' in the source")).1;
        let (_, names) = declaration.split_once(" = [").expect("a list");
        let (names, _) = names.split_once("];").expect("its end");
        names.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
    };
    for (list, least) in [("const READ:", 3), ("const APPEARANCE:", 10), ("const ASIDE:", 10)] {
        let names = listed(list);
        assert!(names.len() >= least, "{list} {names:?}");
        for name in names {
            assert!(README.contains(&format!("`{name}`")), "README.md does not name {name}");
        }
    }
    assert!(README.contains("`KHR_draco_mesh_compression`"));
}

#[test]
fn every_field_of_the_sidecar_is_named() {
    let schema: serde_json::Value = serde_json::from_str(&vatbake(&["schema"])).expect("JSON");
    let mut fields = BTreeSet::new();
    collect_properties(&schema, &mut fields);
    assert!(fields.len() > 40, "{fields:?}");
    for field in fields {
        let is_told = [format!("`{field}`"), format!("`{field}[]`")].iter().any(|text| README.contains(text));
        assert!(is_told, "README.md does not name the field {field}");
    }
}

fn collect_properties(schema: &serde_json::Value, fields: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        fields.extend(properties.keys().cloned());
    }
    for value in schema.as_object().into_iter().flat_map(|o| o.values()).chain(schema.as_array().into_iter().flatten()) {
        collect_properties(value, fields);
    }
}

#[test]
fn the_precision_table_is_what_is_measured() {
    let mut rows = 0;
    for row in README.lines().filter(|line| line.starts_with("| `--format ")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, arguments, position, normal, bytes, _] = cells[..] else { panic!("not five bars: {row}") };
        let arguments = ["bake", SAMPLE, "--dry-run", "--quiet", "--json", "--device", "cpu"]
            .into_iter()
            .chain(arguments.trim_matches('`').split(' '))
            .collect::<Vec<_>>();
        let report: Report = serde_json::from_str(&vatbake(&arguments)).expect("a report");
        let [p, n] = &report.textures[..] else { panic!("two textures: {row}") };
        for (told, found) in [(position, p.error_max * 1000.0), (normal, n.error_max)] {
            let told: f64 = told.parse().expect("a number");
            assert!((told - found).abs() <= 0.06 * found, "told {told}, found {found}: {row}");
        }
        let texels = u64::from(report.size[0]) * u64::from(report.size[1]);
        assert_eq!(bytes.parse::<u64>().expect("a number") * texels, p.gpu_bytes + n.gpu_bytes, "{row}");
        rows += 1;
    }
    assert!(rows >= 10, "{rows} rows");
}

#[test]
fn snippets_are_the_files_that_are_run() {
    for (language, text) in [("wgsl", VERTEX), ("rust", include_str!("readme/decode.rs"))] {
        assert!(README.contains(&format!("```{language}\n{text}```")), "the {language} of tests/readme is not what README.md shows");
    }
    let host: String = include_str!("readme/host.rs").lines().map(|line| format!("  {line}\n")).collect();
    assert!(README.contains(&host), "tests/readme/host.rs is not what README.md shows");
}

fn baked_sample() -> Baked {
    bake(Input::File(SAMPLE.into()), Options { device: DeviceChoice::Cpu, ..Options::default() }).expect("the sample bakes")
}

/// Vertices and seconds at which players are compared.
fn moments(bake: &Baked) -> impl Iterator<Item = (usize, f64)> {
    let step = bake.vertex_count / 97;
    (0..bake.vertex_count).step_by(step).zip([0.0, 0.01, 0.37, 0.5, 0.79, 0.8, 1.1, 2.39, 2.41, 7.3].into_iter().cycle())
}

#[test]
fn the_decoder_in_rust_finds_every_vertex() {
    let baked = baked_sample();
    let sidecar = vatbake::output::sidecar::read(baked.sidecar.to_string().as_bytes()).expect("a sidecar");
    let texels: Vec<[u16; 4]> = bytemuck::pod_collect_to_vec(&baked.position.image.bytes());
    for clip in 0..baked.clips.len() {
        for (vertex, seconds) in moments(&baked) {
            let rest = baked.rest[vertex].map(|v| v as f32);
            let uv = baked.lookup.iter().find(|l| l.1 == vertex).expect("a lookup").0.map(|v| v as f32);
            let found = decode::at(&sidecar, clip, &texels, rest, uv, seconds as f32);
            let wanted = baked.play(clip, seconds, Mode::Loop, vertex);
            support::bake::assert_near(found.map(f64::from), wanted, 1e-5);
        }
    }
}

#[test]
fn start_times_stay_small_and_name_the_same_pose() {
    // a clip of 0.8 s that began 1,000,000.3 s before the clock was set back is 0.3 s into its cycle
    assert!((host::start(50.0, 1_000_050.3, 0.8, true) + 0.3).abs() < 1e-6);
    assert_eq!(host::start(50.0, 45.0, 0.8, true), 5.0, "begins later");
    assert_eq!(host::start(50.0, 60.0, 0.8, false), -10.0, "plays once, ended long ago");
}

#[test]
fn the_vertex_shader_is_valid() {
    let text = [Language::Wgsl.source(), VERTEX].concat();
    let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
    let all = naga::valid::ValidationFlags::all();
    naga::valid::Validator::new(all, naga::valid::Capabilities::empty()).validate(&module).expect("a valid module");
}

#[test]
fn the_code_as_it_is_printed_finds_every_vertex() {
    let baked = baked_sample();
    let normal = baked.normal.as_ref().expect("normals");
    let vector = |bytes: &[f64]| bytes.iter().map(|&v| v as f32).collect::<Vec<f32>>();
    for (clip, mode) in [(0, Mode::Loop), (1, Mode::Loop), (1, Mode::Once)] {
        let plan = &baked.clips[clip];
        let intervals = (plan.frame_count - 1) as f32 * if mode == Mode::Once { -1.0 } else { 1.0 };
        // started 2 s ago, by a clock that shows `seconds` less
        let instance = [plan.first_frame as f32, intervals, plan.fps as f32, -2.0];
        let cases: Vec<_> = moments(&baked).collect();
        let mut inputs: Vec<f32> = Vec::new();
        for &(vertex, seconds) in &cases {
            let uv = baked.lookup.iter().find(|l| l.1 == vertex).expect("a lookup").0;
            inputs.extend([vector(&baked.rest[vertex]), vector(&uv), vec![seconds as f32 - 2.0, 0.0, 0.0], instance.to_vec()].concat());
        }
        let mut uniform: Vec<u32> = Vec::new();
        uniform.extend(vector(&baked.position.scale).iter().map(|v| v.to_bits()).chain([baked.width as u32]));
        uniform.extend(vector(&baked.position.bias).iter().map(|v| v.to_bits()).chain([baked.frame_count as u32]));
        let lookup = &baked.sidecar["mesh"]["lookup"];
        uniform.extend(["lanes", "groups"].map(|key| lookup[key].as_u64().expect("a number") as u32));
        uniform.extend([0, 0]);
        let textures = [&baked.position.image, &normal.image].map(Resource::Texture);
        let resources: Vec<_> = [Resource::Uniform(uniform)].into_iter().chain(textures).chain([Resource::Storage(&inputs)]).collect();
        let shader = [Language::Wgsl.source(), CHECK].concat();
        let found = support::playback::run(&shader, &resources, cases.len(), 2);
        let three = |v: [f32; 4]| [v[0], v[1], v[2]].map(f64::from);
        for ((vertex, seconds), found) in cases.into_iter().zip(found.chunks_exact(2)) {
            let found = (three(found[0]), three(found[1]));
            support::bake::assert_near(found.0, baked.play(clip, seconds, mode, vertex), 1e-5);
            support::bake::assert_near(found.1, baked.play_normal(clip, seconds, mode, vertex), 1e-3);
        }
    }
}
