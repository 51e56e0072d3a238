//! The kit for Unreal: its script run against a stand-in for the editor, what it recorded looked at, and the code of its Custom nodes
//! run on a mesh and texels as the editor imports them.
//!
//! The rules: Interchange puts (x, y, z) of glTF at (x, z, y) in centimetres; UVs are halves unless full precision is asked for, which
//! the script does, and which must not be needed; EXR halves stay halves.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::decode::V3;
use support::kit::{self, Call, Case, Vertex, calls, compare, half, reordered, show, tolerance};
use vatbake::output::sidecar;
use vatbake::targets::{Kit, Target};

const SIDECAR: &str = include_str!("kit/sidecar.json");
const STUB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/kit_unreal_stub.py");

/// Runs the script of a folder in the stand-in; what it recorded.
fn run_script(script: &Path, importer: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record.json");
    let told = Command::new("python3").arg(STUB).arg(script).arg(&record).arg(importer).output().expect("python3");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    serde_json::from_slice(&std::fs::read(record).expect("a record")).expect("JSON")
}

fn recorded(case: &Case, importer: &str) -> Value {
    run_script(&case.baked.vat.folder.join("import_bun.py"), importer)
}

fn asset<'a>(record: &'a Value, ending: &str) -> &'a Value {
    let assets = record["assets"].as_object().expect("assets");
    let mut found = assets.iter().filter(|(path, _)| path.ends_with(ending));
    let first = found.next().unwrap_or_else(|| panic!("{ending} among {:?}", assets.keys()));
    assert!(found.next().is_none(), "{ending} twice");
    first.1
}

fn materials(record: &Value) -> Vec<&Value> {
    record["assets"].as_object().expect("assets").values().filter(|a| a["kind"] == "Material").collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no array")).iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// The node at the other end of an input, or of an output of the material.
fn behind<'a>(material: &'a Value, link: &Value) -> &'a Value {
    let name = link[0].as_str().unwrap_or_else(|| panic!("no connection: {link}"));
    &material["nodes"][name]
}

/// The Custom node before a Transform from instance to world space.
fn local<'a>(material: &'a Value, transform: &'a Value) -> &'a Value {
    assert_eq!(transform["kind"], "MaterialExpressionTransform", "{transform}");
    assert_eq!(transform["properties"]["transform_source_type"], "MaterialVectorCoordTransformSource.TRANSFORMSOURCE_INSTANCE");
    assert_eq!(transform["properties"]["transform_type"], "MaterialVectorCoordTransform.TRANSFORM_WORLD");
    behind(material, &transform["links"]["Input"])
}

/// What of a material moves vertices, as HLSL: the two Custom nodes and the constants at their inputs.
fn shader(material: &Value) -> String {
    let offset = local(material, behind(material, &material["outputs"]["MaterialProperty.MP_WORLD_POSITION_OFFSET"]));
    let interpolator = behind(material, &material["outputs"]["MaterialProperty.MP_NORMAL"]);
    assert_eq!(interpolator["kind"], "MaterialExpressionVertexInterpolator", "textures are read for each vertex");
    let normal = local(material, behind(material, &interpolator["links"]["VS"]));
    // the editor makes a function of each node's code. Here what is shared stands before it, and out of its struct: glslang mixes up the
    // types of functions of structs and the arguments of calls within them
    let code = |node: &Value| {
        let code = node["properties"]["code"].as_str().expect("code");
        for once in ["struct VatPlayer {\n", "};\n\nVatBake bake;", "VatPlayer player;"] {
            assert_eq!(code.matches(once).count(), 1, "{once} in\n{code}");
        }
        let (shared, body) = code.split_once("};\n\nVatBake bake;").expect("the end of the decode");
        let shared = shared.replace("struct VatPlayer {\n", "");
        format!("{shared}\nVatBake bake;{}", body.replace("VatPlayer player;", "").replace("player.", ""))
    };
    let (shared, offset_body) = split(&code(offset));
    let (same, normal_body) = split(&code(normal));
    assert_eq!(shared, same);
    let inputs = "FakeTexture Positions, FakeTexture Normals, float2 UV, float Time, float Clock, float FirstFrame, float Intervals, \
                  float FramesPerSecond, float StartTime, float3 Rest, float3 AxisX, float3 AxisY, float3 AxisZ";
    let mut constants = String::new();
    for (node, prefix) in [(offset, ""), (normal, "Normal")] {
        for letter in ["X", "Y", "Z"] {
            let axis = behind(material, &node["links"][format!("Axis{letter}")]);
            assert_eq!(axis["kind"], "MaterialExpressionVectorParameter");
            let v = numbers(&axis["properties"]["default_value"]);
            constants += &format!("static const float3 {prefix}Axis{letter} = float3({}, {}, {});\n", v[0], v[1], v[2]);
        }
    }
    let clock = behind(material, &offset["links"]["Clock"]);
    constants += &format!("static const float VatClock = {:?};\n", clock["properties"]["default_value"].as_f64().expect("a number"));
    let rest = behind(material, &offset["links"]["Rest"]);
    assert_eq!(numbers(&rest["properties"]["constant"])[..3], [0.0; 3], "offsets need no rest pose");
    constants += "static const float3 Rest = float3(0.0, 0.0, 0.0);\n";
    let fake = "struct FakeTexture { uint which; float4 Load(int3 at) {
        uint i = uint(at.y) * uint(settings[0].w) + uint(at.x);
        if (which == 0u) { return positions_texels[i]; } return normals_texels[i]; } };\n";
    let before = include_str!("playback/before.hlsl").lines().filter(|l| !l.starts_with("#define")).map(|l| format!("{l}\n"));
    let before: String =
        before.collect::<String>().replace("> positions ", "> positions_texels ").replace("> normals ", "> normals_texels ");
    let shared = shared.replace("Texture2D ", "FakeTexture ");
    let function = |name: &str, body: &str| format!("float3 {name}({inputs})\n{{\n{body}\n}}\n");
    [
        &before,
        fake,
        &shared,
        &function("CustomOffset", &offset_body),
        &function("CustomNormal", &normal_body),
        &constants,
        include_str!("kit/unreal.hlsl"),
    ]
    .concat()
}

/// The decode and what follows it.
fn split(code: &str) -> (String, String) {
    let at = code.find("\nVatBake bake;\n").unwrap_or_else(|| panic!("the numbers of the bake in\n{code}"));
    (code[..=at].to_owned(), code[at + 1..].to_owned())
}

/// Where the importer puts a point of the GLB.
type Place = fn(V3) -> V3;

fn expected(p: V3) -> V3 {
    [p[0] * 100.0, p[2] * 100.0, p[1] * 100.0]
}

fn turned(p: V3) -> V3 {
    [-p[2] * 100.0, p[0] * 100.0, p[1] * 100.0]
}

fn metres(p: V3) -> V3 {
    [p[0], p[2], p[1]]
}

fn imported(vertices: &[Vertex], place: Place, uv: fn(f64) -> f64) -> Vec<Vertex> {
    vertices.iter().map(|v| Vertex { rest: place(v.rest).map(|c| f64::from(c as f32)), uv: v.uv.map(uv), ..*v }).collect()
}

struct Run {
    wgsl: String,
    positions: Vec<f64>,
    directions: Vec<f64>,
}

impl Run {
    fn of(case: &Case, record: &Value, change: impl Fn(&str) -> String) -> Self {
        assert!(record["error"].is_null(), "{}", record["error"]);
        let wgsl = kit::hlsl(&change(&shader(materials(record)[0])));
        let texels = |texture: &support::decode::Texture| kit::texels(texture);
        Self { wgsl, positions: texels(&case.baked.position), directions: case.baked.normal.as_ref().map(texels).expect("normals") }
    }

    fn compare(&self, vertices: &[Vertex], case: &Case, place: Place) -> Result<(), String> {
        let (calls, wanted): (Vec<Call>, Vec<V3>) = calls(vertices, &case.wanted).into_iter().unzip();
        let shown = show(&self.wgsl, case.baked.width, &self.positions, &self.directions, &calls);
        let wanted: Vec<V3> = wanted.into_iter().map(place).collect();
        // texels are centimetres; what is compared is in the importer's unit
        let unit = place([1.0, 0.0, 0.0]).iter().map(|v| v.abs()).sum::<f64>();
        compare(&shown, &wanted, tolerance(case, 100.0) * unit)
    }
}

fn unchanged(text: &str) -> String {
    text.to_owned()
}

#[test]
fn what_unreal_imports_plays_as_the_source() {
    let sample = kit::sample(Target::Unreal, |_| ());
    for (importer, place) in [("expected", expected as Place), ("turned", turned), ("metres", metres)] {
        let run = Run::of(&sample, &recorded(&sample, importer), unchanged);
        let vertices = reordered(&kit::vertices(&sample.baked));
        for (what, uv) in [("floats", (|v| v) as fn(f64) -> f64), ("half", half)] {
            let vertices = imported(&vertices, place, uv);
            run.compare(&vertices, &sample, place).unwrap_or_else(|e| panic!("{importer}, UVs as {what}: {e}"));
        }
        // the others' axes are not these
        let others = [expected as Place, turned, metres].into_iter().filter(|other| other([1.0, 2.0, 3.0]) != place([1.0, 2.0, 3.0]));
        for other in others {
            assert!(run.compare(&imported(&vertices, place, half), &sample, other).is_err(), "{importer} passes for another's axes");
        }
    }
    for case in kit::given(Target::Unreal) {
        let script = case.baked.vat.folder.join(format!("import_{}.py", case.baked.report.name));
        let run = Run::of(&case, &run_script(&script, "expected"), unchanged);
        let vertices = imported(&kit::vertices(&case.baked), expected, half);
        run.compare(&vertices, &case, expected).unwrap_or_else(|e| panic!("{}: {e}", case.name));
    }
}

#[test]
fn a_wrong_import_is_noticed() {
    let case = kit::sample(Target::Unreal, |_| ());
    let record = recorded(&case, "expected");
    let plain = kit::vertices(&case.baked);
    let vertices = imported(&plain, expected, half);
    let run = || Run::of(&case, &record, unchanged);
    run().compare(&vertices, &case, expected).expect("right");
    let fails =
        |what: &str, run: Run, vertices: &[Vertex]| assert!(run.compare(vertices, &case, expected).is_err(), "{what} was not noticed");
    fails("axes unturned", run(), &imported(&plain, |p| p.map(|v| v * 100.0), half));
    fails("metres", run(), &imported(&plain, metres, half));
    fails("v turned over", run(), &vertices.iter().map(|v| Vertex { uv: [v.uv[0], 1.0 - v.uv[1]], ..*v }).collect::<Vec<_>>());
    fails("UVs of 8 bits", run(), &imported(&plain, expected, |v| (v * 255.0).round() / 255.0));
    let texels = |change: &dyn Fn(usize, f64) -> f64| {
        let mut run = run();
        run.positions.iter_mut().enumerate().for_each(|(i, v)| *v = change(i, *v));
        run
    };
    fails("textures of 8 bits", texels(&|_, v| (v.clamp(0.0, 1.0) * 255.0).round() / 255.0), &vertices);
    let before = run().positions;
    let swap = [0, 2, 1, 3];
    fails("texels in glTF's axes", texels(&|i, _| before[i / 4 * 4 + swap[i % 4]]), &vertices);
    let other =
        Run::of(&case, &record, |text| text.replace("vertex / bake.width * bake.frames + frame", "vertex / bake.width * bake.frames"));
    fails("another frame", other, &vertices);
}

#[test]
fn the_script_sets_what_the_texels_need() {
    let case = kit::sample(Target::Unreal, |_| ());
    let record = recorded(&case, "expected");
    assert!(record["error"].is_null(), "{}", record["error"]);
    assert_eq!(record["warnings"].as_array().map(Vec::len), Some(0), "{}", record["warnings"]);
    for role in ["position", "normal"] {
        let texture = &asset(&record, &format!("T_bun_vat_{role}"))["properties"];
        assert_eq!(texture["compression_settings"], "TextureCompressionSettings.TC_HDR");
        assert_eq!(texture["filter"], "TextureFilter.TF_NEAREST");
        assert_eq!(texture["mip_gen_settings"], "TextureMipGenSettings.TMGS_NO_MIPMAPS");
        for (key, value) in [("srgb", false), ("never_stream", true), ("virtual_texture_streaming", false)] {
            assert_eq!(texture[key], value, "{key}");
        }
    }
    let mesh = asset(&record, "SM_bun");
    for (key, value) in
        [("use_full_precision_u_vs", true), ("generate_lightmap_u_vs", false), ("remove_degenerates", false), ("recompute_normals", false)]
    {
        assert_eq!(mesh["build"][key], value, "{key}");
    }
    assert_eq!(mesh["properties"]["nanite_settings"]["enabled"], false);
    let options = &record["imports"][0]["options"][0];
    assert_eq!(options["mesh_pipeline"]["combine_static_meshes_behavior"], "InterchangeCombineStaticMeshesBehavior.ALL");
    for (key, value) in [("build_nanite", false), ("generate_lightmap_u_vs", false), ("import_skeletal_meshes", false)] {
        assert_eq!(options["mesh_pipeline"][key], value, "{key}");
    }
    assert_eq!(options["common_meshes_properties"]["use_full_precision_u_vs"], true);

    // the box with its extensions is the sidecar's, a little wider at most
    let rest: Vec<V3> = case.baked.rest.iter().map(|p| expected(*p)).collect();
    let bound = |end: &str, axis: usize| case.baked.sidecar["bounds"][end][axis].as_f64().expect("a number");
    let extension = |name: &str| numbers(&mesh["properties"][name]);
    let (negative, positive) = (extension("negative_bounds_extension"), extension("positive_bounds_extension"));
    assert!(negative.iter().chain(&positive).any(|v| *v > 1.0), "the animation leaves the rest pose's box");
    for axis in 0..3 {
        let low = rest.iter().map(|p| p[axis]).fold(f64::INFINITY, f64::min) - negative[axis];
        let high = rest.iter().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max) + positive[axis];
        assert!((low - bound("min", axis)).abs() < 1e-3 && (high - bound("max", axis)).abs() < 1e-3, "axis {axis}: {low} to {high}");
    }

    let count = case.baked.glb.json["materials"].as_array().map_or(1, Vec::len);
    assert_eq!((materials(&record).len(), mesh["materials"].as_object().map(serde_json::Map::len)), (count, Some(count)));
    for (number, material) in materials(&record).into_iter().enumerate() {
        assert_eq!(material["compiled"], true);
        let set = &material["properties"];
        assert_eq!((set["used_with_instanced_static_meshes"].clone(), set["tangent_space_normal"].clone()), (true.into(), false.into()));
        let offset = local(material, behind(material, &material["outputs"]["MaterialProperty.MP_WORLD_POSITION_OFFSET"]));
        for (index, pin) in ["FirstFrame", "Intervals", "FramesPerSecond", "StartTime"].into_iter().enumerate() {
            let node = behind(material, &offset["links"][pin]);
            assert_eq!(node["kind"], "MaterialExpressionPerInstanceCustomData");
            assert_eq!(node["properties"]["data_index"], index);
        }
        assert_eq!(behind(material, &offset["links"]["UV"])["properties"]["coordinate_index"], 1);
        assert_eq!(behind(material, &offset["links"]["Time"])["kind"], "MaterialExpressionTime");
        let position = &behind(material, &offset["links"]["Positions"])["properties"]["texture"];
        assert!(position.as_str().is_some_and(|p| p.ends_with("T_bun_vat_position")), "{position}");
        let normals = &behind(material, &offset["links"]["Normals"])["properties"]["texture"];
        assert!(normals.as_str().is_some_and(|p| p.ends_with("T_bun_vat_normal")), "{normals}");
        assert!(material["outputs"]["MaterialProperty.MP_BASE_COLOR"].is_array(), "material {number}");
    }
    // everything that was made is saved
    let saved: Vec<_> = record["saved"].as_array().into_iter().flatten().collect();
    for path in record["assets"].as_object().expect("assets").keys() {
        assert!(saved.iter().any(|s| *s == path), "{path} was not saved");
    }
    // the crowd: a clip of the bake each, started in the past
    let instances = record["instances"].as_array().expect("instances");
    assert_eq!(instances.len(), 100);
    for (number, instance) in instances.iter().enumerate() {
        let clip = &case.baked.clips[number % case.baked.clips.len()];
        let data = numbers(&instance["data"]);
        assert_eq!((data[0], data[1]), (clip.first_frame as f64, (clip.frame_count - 1) as f64));
        assert!((data[2] - clip.fps).abs() < 1e-5 && data[3] <= 0.0 && data[3] > -clip.length - 1e-6, "{data:?}");
    }
    // a second run over the same assets is the same, on an engine before 5.6 too
    assert!(recorded(&case, "old")["error"].is_null());
}

#[test]
fn what_was_imported_otherwise_is_measured_or_refused() {
    let case = kit::sample(Target::Unreal, |_| ());
    let turned = recorded(&case, "turned");
    assert!(turned["warnings"][0].as_str().is_some_and(|w| w.contains("turned the mesh")), "{}", turned["warnings"]);
    let material = materials(&turned)[0];
    let offset = local(material, behind(material, &material["outputs"]["MaterialProperty.MP_WORLD_POSITION_OFFSET"]));
    let axis = |letter: &str| numbers(&behind(material, &offset["links"][format!("Axis{letter}")])["properties"]["default_value"]);
    // (x, z, y) is expected, (-z, x, y) was found
    let near = |found: Vec<f64>, wanted: [f64; 3]| (0..3).all(|c| (found[c] - wanted[c]).abs() < 1e-4);
    assert!(near(axis("X"), [0.0, 1.0, 0.0]) && near(axis("Y"), [-1.0, 0.0, 0.0]) && near(axis("Z"), [0.0, 0.0, 1.0]));
    // v turned over: the node turns it back
    let flipped = recorded(&case, "upside-down");
    let code = local(
        materials(&flipped)[0],
        behind(materials(&flipped)[0], &materials(&flipped)[0]["outputs"]["MaterialProperty.MP_WORLD_POSITION_OFFSET"]),
    );
    assert!(code["properties"]["code"].as_str().is_some_and(|c| c.contains("1.0 - UV.y")));
    for (importer, words) in [("bent", "does not lie where"), ("no-lookup", "reimport it without removing UV channels")] {
        let refused = recorded(&case, importer);
        assert!(refused["error"].as_str().is_some_and(|e| e.contains(words)), "{importer}: {}", refused["error"]);
        assert!(materials(&refused).is_empty());
    }
}

#[test]
fn files_that_are_missing_or_wrong_are_named() {
    let case = kit::sample(Target::Unreal, |_| ());
    let copy = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(&case.baked.vat.folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            std::fs::copy(&path, copy.path().join(path.file_name().expect("a name"))).expect("a copy");
        }
    }
    let script = copy.path().join("import_bun.py");
    let sidecar = copy.path().join("bun.vat.json");
    let text = std::fs::read_to_string(&sidecar).expect("the sidecar");
    std::fs::write(&sidecar, text.replace("\"+z\"", "\"+y\"")).expect("written");
    let wrong = run_script(&script, "expected");
    assert!(wrong["error"].as_str().is_some_and(|e| e.contains("--for unreal")), "{}", wrong["error"]);
    std::fs::write(&sidecar, text).expect("written");
    std::fs::remove_file(copy.path().join("bun_vat_normal.exr")).expect("removed");
    let missing = run_script(&script, "expected");
    assert!(missing["error"].as_str().is_some_and(|e| e.contains("bun_vat_normal.exr")), "{}", missing["error"]);
    std::fs::write(copy.path().join("bun_vat.glb"), b"glTF but short").expect("written");
    let broken = run_script(&script, "expected");
    assert!(broken["error"].as_str().is_some_and(|e| e.contains("not a whole GLB")), "{}", broken["error"]);
}

#[test]
fn every_text_file_is_as_reviewed() {
    let mut json: Value = serde_json::from_str(SIDECAR).expect("JSON");
    json["space"] = serde_json::json!({ "up": "+z", "forward": "+y", "handedness": "left", "scale": 1.0, "unit": "centimetre" });
    let sidecar = sidecar::read(json.to_string().as_bytes()).expect("a sidecar");
    let files = Target::Unreal.files(&Kit { name: "my \"hero\" \\ ü", sidecar: &sidecar });
    let files: BTreeMap<_, _> = files.into_iter().map(|f| (f.name, f.text)).collect();
    let shown = files.iter().filter(|(name, _)| name.as_str() != "vat_unreal.py");
    let text: String = shown.map(|(name, text)| format!("---- {name}\n{text}")).collect();
    insta::assert_snapshot!(text);
    assert!(Target::Unreal.check(&Kit { name: "a", sidecar: &sidecar })[0].contains("1 clip"));
    // both scripts compile, and the name arrives as it is
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".py")) {
        assert!(!text.contains("{{"), "{name}");
        let path = folder.path().join(name.replace(['"', '\\'], "_"));
        std::fs::write(&path, text).expect("a file");
        let told = Command::new("python3").args(["-m", "py_compile"]).arg(&path).output().expect("python3");
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    }
    let script = files.iter().find(|(name, _)| name.starts_with("import_")).expect("the script").1;
    let line = script.lines().find(|l| l.starts_with("NAME = ")).expect("the name");
    let told = Command::new("python3")
        .args(["-c", &format!("{line}\nimport sys\nsys.stdout.buffer.write(NAME.encode())")])
        .output()
        .expect("python3");
    assert_eq!(String::from_utf8_lossy(&told.stdout), "my \"hero\" \\ ü");
}
