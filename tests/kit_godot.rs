//! The kit for Godot: its import written down, its vertex() run on what was imported, its text files parsed.
//!
//! The rules were read in Godot's sources: a mesh keeps floats with `force_disable_compression` and 16-bit UVs without; an EXR of
//! halves stays as it is, but for numbers that a half holds with fewer digits (below 2^-14), which become 0; a path without a scheme
//! is relative to the file that names it.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use support::decode::V3;
use support::kit::{self, Call, Case, Vertex, calls, compare, half, reordered, show, tolerance, unorm16};
use support::kit_text::{Tag, Value, parse};
use vatbake::options::Normals;
use vatbake::output::sidecar;
use vatbake::targets::{Kit, Target};

const SIDECAR: &str = include_str!("kit/sidecar.json");
/// A name that every format has to quote.
const NAME: &str = "my \"hero\" ü";

fn small(change: impl FnOnce(&mut sidecar::Sidecar)) -> BTreeMap<String, String> {
    let mut sidecar = sidecar::read(SIDECAR.as_bytes()).expect("a sidecar");
    change(&mut sidecar);
    let files = Target::Godot.files(&Kit { name: NAME, sidecar: &sidecar });
    let count = files.len();
    let files: BTreeMap<_, _> = files.into_iter().map(|f| (f.name, f.text)).collect();
    assert_eq!(files.len(), count, "each name once");
    files
}

fn read(text: &str) -> Vec<Tag> {
    parse(text).unwrap_or_else(|e| panic!("{e} in\n{text}"))
}

fn the<'a>(files: &'a BTreeMap<String, String>, ending: &str) -> &'a str {
    let mut found = files.iter().filter(|(name, _)| name.ends_with(ending));
    let first = found.next().unwrap_or_else(|| panic!("{ending} among {:?}", files.keys()));
    assert!(found.next().is_none(), "{ending} twice");
    first.1
}

/// The shader with the includes and built-ins of a compute shader instead of Godot's. What is taken away: `shader_type`,
/// `render_mode`, `#include`, hints of uniforms, and fragment().
fn shim(files: &BTreeMap<String, String>, rows: usize, change: impl Fn(&str) -> String) -> String {
    let include = &files["vat.gdshaderinc"];
    let material = read(the(files, "_vat.tres"));
    let values = &material.last().expect("[resource]").values;
    let whole = |name: &str| values[&format!("shader_parameter/vat_{name}")].number() as i64;
    let bake = format!(
        "VatBake vat_bake() {{ return VatBake(vec3(1.0), {}, vec3(0.0), {}, {}, {}, {}, {}); }}\n",
        whole("width"),
        whole("frame_count"),
        whole("lanes"),
        whole("groups"),
        whole("position_encoding"),
        whole("normal_encoding")
    );
    let given = "vec3 VERTEX; vec3 NORMAL; vec3 TANGENT; vec3 BINORMAL; vec2 UV; vec2 UV2; vec4 CUSTOM0; vec4 INSTANCE_CUSTOM;
        float TIME;\n";
    let shader = the(files, ".gdshader");
    let (vertex, _) = shader.split_once("void fragment()").expect("fragment()");
    let lines = vertex.lines().filter_map(|line| {
        if ["shader_type", "render_mode", "#include", "uniform sampler2D"].iter().any(|start| line.starts_with(start)) {
            return None;
        }
        Some(match line.strip_prefix("uniform ") {
            Some(rest) => {
                let (_, default) = rest.rsplit_once(" = ").expect("a default");
                let declared = rest.split(" = ").next().and_then(|d| d.split(" : ").next()).expect("a declaration");
                format!("const {declared} = {default}")
            }
            None => line.replace("texelFetch(vat_tangents, ", "fetch_tangent("),
        })
    });
    // tangents lie behind the normals in their buffer
    let tangents = format!("vec4 fetch_tangent(ivec2 at, int level) {{ return normals[(at.y + {rows}) * int(settings[0].w) + at.x]; }}\n");
    let text = [include, &bake, given, &tangents, &lines.collect::<Vec<_>>().join("\n"), include_str!("kit/godot.glsl")].concat();
    kit::glsl(&(include_str!("playback/before.glsl").to_owned() + &change(&text)))
}

/// An EXR as Godot's reader leaves it.
fn imported(texels: &[f64], pixel: &str) -> Vec<f64> {
    let small = 2.0_f64.powi(-14);
    let keep = |v: f64| if pixel == "rgba16float" && v.abs() < small { 0.0 } else { v };
    texels.iter().map(|v| keep(*v)).collect()
}

struct Run {
    wgsl: String,
    width: usize,
    positions: Vec<f64>,
    directions: Vec<f64>,
}

impl Run {
    fn of(case: &Case, change: impl Fn(&str) -> String) -> Self {
        let vat = &case.baked.vat;
        let through = |texture: &support::decode::Texture| imported(&kit::texels(texture), &texture.pixel);
        let mut directions = vat.normal.as_ref().map_or_else(|| vec![0.0; 4], through);
        directions.extend(vat.tangent.as_ref().map_or_else(Vec::new, through));
        Self { wgsl: shim(&kit::files(&vat.folder), vat.height, change), width: vat.width, positions: through(&vat.position), directions }
    }

    fn compare(&self, imported: &[Vertex], case: &Case) -> Result<(), String> {
        let (calls, wanted): (Vec<Call>, Vec<V3>) = calls(imported, &case.wanted).into_iter().unzip();
        let shown = show(&self.wgsl, self.width, &self.positions, &self.directions, &calls);
        // what is below 2^-14 became 0
        compare(&shown, &wanted, tolerance(case, 1.0) + 2.0_f64.powi(-14))
    }
}

fn with_uv(vertices: &[Vertex], change: impl Fn(f64) -> f64) -> Vec<Vertex> {
    vertices.iter().map(|v| Vertex { uv: v.uv.map(&change), ..*v }).collect()
}

fn unchanged(text: &str) -> String {
    text.to_owned()
}

#[test]
fn what_godot_imports_plays_as_the_source() {
    for case in std::iter::once(kit::sample(Target::Godot, |_| ())).chain(kit::given(Target::Godot)) {
        let run = Run::of(&case, unchanged);
        let vertices = reordered(&kit::vertices(&case.baked));
        for (what, uvs) in
            [("floats", with_uv(&vertices, |v| v)), ("unorm16", with_uv(&vertices, unorm16)), ("half", with_uv(&vertices, half))]
        {
            run.compare(&uvs, &case).unwrap_or_else(|e| panic!("{} with UVs as {what}: {e}", case.name));
        }
    }
}

#[test]
fn a_wrong_import_is_noticed() {
    let case = kit::sample(Target::Godot, |_| ());
    let vertices = kit::vertices(&case.baked);
    let run = || Run::of(&case, unchanged);
    run().compare(&vertices, &case).expect("right");
    let fails = |what: &str, run: Run, vertices: &[Vertex]| assert!(run.compare(vertices, &case).is_err(), "{what} was not noticed");
    fails("UVs of 8 bits", run(), &with_uv(&vertices, |v| (v * 255.0).round() / 255.0));
    fails("v turned over", run(), &vertices.iter().map(|v| Vertex { uv: [v.uv[0], 1.0 - v.uv[1]], ..*v }).collect::<Vec<_>>());
    let texels = |change: &dyn Fn(usize, f64) -> f64| {
        let mut run = run();
        run.positions.iter_mut().enumerate().for_each(|(i, v)| *v = change(i, *v));
        run
    };
    fails("textures of 8 bits", texels(&|_, v| (v.clamp(0.0, 1.0) * 255.0).round() / 255.0), &vertices);
    fails("sRGB", texels(&|_, v| if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }), &vertices);
    let before = run().positions;
    let swap = [0, 2, 1, 3];
    fails("Z up", texels(&|i, _| before[i / 4 * 4 + swap[i % 4]]), &vertices);
    let row = case.baked.width * 4;
    fails("rows from the bottom", texels(&|i, _| before[(case.baked.height - 1 - i / row) * row + i % row]), &vertices);
    fails("no rest pose", Run::of(&case, |text| text.replace("vat_bake(), VERTEX", "vat_bake(), vec3(0.0)")), &vertices);
}

#[test]
fn clips_play_by_time_with_normals_and_tangents() {
    let case = kit::sample(Target::Godot, |o| o.tangents = true);
    let vat = &case.baked.vat;
    let run = Run::of(&case, unchanged);
    let files = kit::files(&vat.folder);
    let scene = read(the(&files, ".tscn"));
    let crowd = scene.iter().find(|t| t.fields.get("name") == Some(&Value::Text("Crowd".into()))).expect("the crowd");
    let clips = crowd.values["clips"].numbers("PackedVector3Array");
    assert_eq!(clips.len(), 3 * vat.clips.len());
    let vertices: Vec<Vertex> = kit::vertices(vat).into_iter().step_by(7).collect();
    for (clip, numbers) in vat.clips.iter().zip(clips.chunks_exact(3)) {
        let intervals = clip.frame_count - 1;
        for x in [0.0, 0.25, 1.5, intervals as f64 - 0.25] {
            let start = 2.0 - x / clip.fps;
            let carried = [numbers[0], numbers[1].abs(), numbers[2], start];
            let calls: Vec<_> = vertices.iter().map(|v| Call { vertex: *v, clip: carried, now: 2.0, normal: [0.0, 0.0, 1.0] }).collect();
            let shown = show(&run.wgsl, run.width, &run.positions, &run.directions, &calls);
            for (vertex, shown) in vertices.iter().zip(&shown) {
                let wanted = kit::between(|f| vat.position(f, vertex.number), clip.first_frame, intervals, x);
                let far = (0..3).map(|c| (shown.position[c] - wanted[c]).abs()).fold(0.0, f64::max);
                assert!(far < 2e-4, "{} at {x}: {far} m off", clip.name);
                if x == 0.0 {
                    assert!(kit::cosine(shown.normal, vat.normal(clip.first_frame, vertex.number)) > 0.99999);
                    assert!(kit::cosine(shown.tangent, vat.tangent(clip.first_frame, vertex.number)) > 0.99999);
                    assert!(kit::cosine(shown.normal, shown.tangent).abs() < 0.1);
                }
            }
        }
    }
}

#[test]
fn resources_name_files_that_are_there() {
    for case in [kit::sample(Target::Godot, |_| ()), kit::sample(Target::Godot, |o| o.normals = Normals::None)] {
        let folder = &case.baked.vat.folder;
        let files = kit::files(folder);
        let mut named = 0;
        for ending in [".tscn", ".tres"] {
            let tags = read(the(&files, ending));
            let resources: Vec<_> = tags.iter().filter(|t| t.name == "ext_resource").collect();
            assert_eq!(tags[0].fields["load_steps"].number() as usize, resources.len() + 1, "{ending}");
            assert_eq!(tags[0].fields["format"].number(), 3.0);
            let ids: BTreeSet<_> = resources.iter().map(|t| t.fields["id"].text().to_owned()).collect();
            for tag in resources {
                let path = tag.fields["path"].text();
                assert!(!path.contains('/') && folder.join(path).is_file(), "{path}");
                assert!(!tag.fields.contains_key("uid"));
                named += 1;
            }
            let used = tags.iter().flat_map(|t| t.values.values()).filter_map(|v| match v {
                Value::Made(maker, id) if maker == "ExtResource" => Some(id[0].text().to_owned()),
                _ => None,
            });
            assert_eq!(used.collect::<BTreeSet<_>>(), ids, "each resource is used: {ending}");
        }
        assert_eq!(named, 5 + usize::from(case.baked.normal.is_some()));
        // settings beside everything that is imported, and for nothing else
        for (name, text) in &files {
            if let Some(target) = name.strip_suffix(".import") {
                assert!(folder.join(target).is_file(), "{target}");
                let tags = read(text);
                assert_eq!(tags.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["remap", "params"]);
                check_import(target, &tags[0].values, &tags[1].values);
            }
        }
        let imports = files.keys().filter(|n| n.ends_with(".import")).count();
        assert_eq!(imports, 2 + usize::from(case.baked.normal.is_some()));
        let shader = the(&files, ".gdshader");
        assert_eq!(shader.contains("NORMAL = pose.normal"), case.baked.normal.is_some());
        // the crowd's box: the bounds, moved to the outermost instances
        let scene = read(the(&files, ".tscn"));
        let crowd = &scene.last().expect("the crowd").values;
        let (outer, inner) = (crowd["custom_aabb"].numbers("AABB"), crowd["model_bounds"].numbers("AABB"));
        let reach = 9.0 * crowd["spacing"].number();
        for axis in 0..3 {
            let grown = if axis == 1 { 0.0 } else { reach };
            assert!((outer[axis] - (inner[axis] - grown / 2.0)).abs() < 1e-4 && (outer[3 + axis] - (inner[3 + axis] + grown)).abs() < 1e-4);
            let (low, high) = (case.baked.sidecar["bounds"]["min"][axis].as_f64(), case.baked.sidecar["bounds"]["max"][axis].as_f64());
            assert!(
                (inner[axis] - low.expect("a number")).abs() < 1e-6
                    && (inner[axis] + inner[3 + axis] - high.expect("a number")).abs() < 1e-5
            );
        }
    }
}

fn check_import(target: &str, remap: &BTreeMap<String, Value>, params: &BTreeMap<String, Value>) {
    let (importer, settings): (&str, &[(&str, Value)]) = if target.ends_with(".exr") {
        let settings = &[
            ("compress/mode", Value::Number(0.0)),
            ("compress/normal_map", Value::Number(2.0)),
            ("mipmaps/generate", Value::Flag(false)),
            ("roughness/mode", Value::Number(1.0)),
            ("process/fix_alpha_border", Value::Flag(false)),
            ("process/premult_alpha", Value::Flag(false)),
            ("process/hdr_as_srgb", Value::Flag(false)),
            ("process/hdr_clamp_exposure", Value::Flag(false)),
            ("process/size_limit", Value::Number(0.0)),
            ("detect_3d/compress_to", Value::Number(0.0)),
        ];
        ("texture", settings)
    } else {
        let settings = &[
            ("meshes/light_baking", Value::Number(0.0)),
            ("meshes/generate_lods", Value::Flag(false)),
            ("meshes/create_shadow_meshes", Value::Flag(false)),
            ("meshes/force_disable_compression", Value::Flag(true)),
            ("meshes/ensure_tangents", Value::Flag(false)),
            ("nodes/use_name_suffixes", Value::Flag(false)),
        ];
        ("scene", settings)
    };
    assert_eq!(remap["importer"].text(), importer, "{target}");
    assert!(!remap.contains_key("uid") && !remap.contains_key("path"), "Godot makes both");
    for (key, value) in settings {
        assert_eq!(&params[*key], value, "{key} of {target}");
    }
}

#[test]
fn every_text_file_is_as_reviewed() {
    let files = small(|_| ());
    let shown = files.iter().filter(|(name, _)| name.as_str() != "vat.gdshaderinc" && name.as_str() != "vat_crowd.gd");
    let text: String = shown.map(|(name, text)| format!("---- {name}\n{text}")).collect();
    assert!(!text.contains("{{") && !text.contains("}}"), "{text}");
    insta::assert_snapshot!(text);
    assert_eq!(the(&files, "README.md").lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).count(), 10);
    // names with quotes come back as they were
    let tags = read(the(&files, ".tscn"));
    let model = tags.iter().find(|t| t.fields.get("id") == Some(&Value::Text("model".into()))).expect("the model");
    assert_eq!(model.fields["path"].text(), "my \"hero\" ü_vat.glb");
    let names = tags.last().expect("the crowd").values["clip_names"].made("PackedStringArray");
    assert_eq!(names[1].text(), "Fall \"back\" \\ o");
}

#[test]
fn other_bakes_change_what_they_must() {
    let tres = |files: &BTreeMap<String, String>| read(the(files, ".tres")).pop().expect("[resource]").values;
    let plain = small(|_| ());
    assert_eq!(tres(&plain)["shader_parameter/vat_position_encoding"].number(), 2.0);
    let absolute = small(|s| s.textures[0].encoding = sidecar::Encoding::AbsoluteFloat);
    assert_eq!(tres(&absolute)["shader_parameter/vat_position_encoding"].number(), 3.0);
    let bald = small(|s| {
        s.textures.pop();
    });
    assert!(!the(&bald, ".gdshader").contains("NORMAL = pose") && !tres(&bald).contains_key("shader_parameter/vat_normals"));
    for (set, input) in [(0, "UV"), (2, "CUSTOM0.xy"), (3, "CUSTOM0.zw"), (7, "CUSTOM2.zw")] {
        let moved = small(|s| s.mesh.lookup.texcoord = set);
        assert!(the(&moved, ".gdshader").contains(&format!("VERTEX, {input}, INSTANCE_CUSTOM")), "{set}");
    }
    let one = small(|s| s.clips.truncate(1));
    assert!(!the(&one, "README.md").contains("jump between frames"));
    let many = sidecar::read(SIDECAR.replace("\"frame_count\": 162", "\"frame_count\": 4000").as_bytes()).expect("a sidecar");
    let said = Target::Godot.check(&Kit { name: NAME, sidecar: &many });
    assert!(said.len() == 2 && said[0].contains("4000") && said[1].contains("1 clip"), "{said:?}");
}

/// The whole shader but for hints, as a fragment shader of OpenGL: fragment() and the decode as printed.
#[test]
fn the_shader_compiles() {
    let with_tangents = |s: &mut sidecar::Sidecar| {
        let mut tangent = s.textures[1].clone();
        tangent.role = sidecar::Role::Tangent;
        tangent.file = "tangent.exr".into();
        s.textures.push(tangent);
    };
    for files in [small(|_| ()), small(with_tangents)] {
        let bare = |text: &str| {
            let line = |line: &str| match line.strip_prefix("uniform ") {
                Some(rest) => {
                    let declared = rest.trim_end_matches(';').split(" = ").next().and_then(|d| d.split(" : ").next()).expect("a name");
                    format!("uniform {declared};\n")
                }
                None if ["shader_type", "render_mode", "#include"].iter().any(|start| line.starts_with(start)) => "\n".into(),
                None => format!("{line}\n"),
            };
            text.lines().map(line).collect::<String>()
        };
        let given =
            "vec3 VERTEX; vec3 NORMAL; vec3 TANGENT; vec3 BINORMAL; vec2 UV; vec2 UV2; vec4 INSTANCE_CUSTOM; float TIME; vec4 COLOR;
            vec3 ALBEDO; float METALLIC; float ROUGHNESS; vec3 EMISSION; vec3 NORMAL_MAP; float NORMAL_MAP_DEPTH; out vec4 seen;\n";
        let shader = bare(the(&files, ".gdshader"));
        let text = [
            "#version 450\n",
            &bare(&files["vat.gdshaderinc"]),
            given,
            &shader,
            "void main() { vertex(); fragment(); seen = vec4(ALBEDO + VERTEX, 1.0); }\n",
        ]
        .concat();
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("shader");
        std::fs::write(&source, &text).expect("a file");
        let told = Command::new("glslangValidator").args(["-S", "frag"]).arg(&source).output().expect("glslangValidator");
        assert!(told.status.success(), "{}\n{text}", String::from_utf8_lossy(&told.stdout));
        assert_eq!(files.values().any(|t| t.contains("NORMAL_MAP = ")), files.values().any(|t| t.contains("vat_tangent(")));
    }
}

#[test]
fn the_script_parses() {
    let files = small(|_| ());
    let parser = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/python/bin/gdparse");
    let is_there = parser.is_file();
    let folder = tempfile::tempdir().expect("a folder");
    let judge = |text: &str| {
        let script = folder.path().join("script.gd");
        std::fs::write(&script, text).expect("a file");
        Command::new(&parser).arg(&script).output().unwrap_or_else(|e| panic!("{}: {e}", parser.display()))
    };
    if is_there {
        let told = judge(&files["vat_crowd.gd"]);
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        assert!(!judge(&files["vat_crowd.gd"].replacen("func rebuild()", "func rebuild(", 1)).status.success(), "the parser sees nothing");
    } else {
        eprintln!("not parsed: {} is missing; tests/run installs it (pip install gdtoolkit==4.5.0)", parser.display());
    }
    // what the scene sets is what the script exports
    let exported = |name: &str| files["vat_crowd.gd"].lines().any(|l| l.starts_with("@export") && l.contains(&format!("var {name}")));
    let scene = read(the(&files, ".tscn"));
    for key in scene.last().expect("the crowd").values.keys().filter(|k| !["custom_aabb", "script"].contains(&k.as_str())) {
        assert!(exported(key), "{key}");
    }
    // and what it sets in the material is a uniform of the shader
    let uniforms = the(&files, ".gdshader").to_owned() + &files["vat.gdshaderinc"];
    for line in files["vat_crowd.gd"].lines().filter(|l| l.starts_with("\t\t\"")) {
        let key = line.trim().trim_start_matches('"').split('"').next().expect("a key");
        assert!(uniforms.contains(&format!(" {key} ")), "{key}");
    }
}
