//! The kit for Bevy: its shaders are run on a software adapter, its other files are read by real parsers.
//!
//! Bevy's import is written down as `import`: it keeps two UV sets as 32-bit floats, positions and directions likewise, 16-bit PNGs
//! as unorm texels, half floats as they are. `vertex` of vat_material.wgsl then runs with bevy_pbr's functions stubbed
//! (kit_bevy/stubs.wgsl), and must show what the decoder of the tests and the oracle say. `examples/bevy` plays the same files in
//! Bevy itself.

mod support;

use serde::Deserialize;
use support::decode::{Texture, V3, Vat, mix};
use support::fixture::vec3;
use support::oracle::{self, Model};
use support::playback::{Resource, run};
use support::{Baked, bake, models};
use vatbake::options::{DeviceChoice, Format, Fps, Looping, Normals};
use vatbake::output::sidecar::{self, Sidecar};
use vatbake::targets::{Kit, KitFile, Target};
use vatbake::{Input, Options};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/bun.glb");
/// What the main pass of a mesh with everything defines.
const MAIN: [&str; 6] =
    ["VERTEX_NORMALS", "VERTEX_UVS_A", "VERTEX_UVS_B", "VERTEX_TANGENTS", "VERTEX_COLORS", "VERTEX_OUTPUT_INSTANCE_INDEX"];

/// What the pass defines that is executed: the prepass that writes all of it.
const EXECUTED: [&str; 6] = [
    "PREPASS_PIPELINE",
    "NORMAL_PREPASS_OR_DEFERRED_PREPASS",
    "MOTION_VECTOR_PREPASS",
    "VERTEX_NORMALS",
    "VERTEX_UVS_B",
    "VERTEX_TANGENTS",
];
/// The modules for versions of Bevy.
const VERSIONS: [&str; 4] = ["vat_0_19.rs", "vat_0_18.rs", "vat_0_17.rs", "vat_0_16.rs"];

fn kit(name: &str, sidecar: &Sidecar) -> Vec<KitFile> {
    Target::Bevy.files(&Kit { name, sidecar })
}

fn text<'a>(files: &'a [KitFile], name: &str) -> &'a str {
    &files.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("no {name} in the kit")).text
}

fn sidecar_of(vat: &Vat) -> Sidecar {
    sidecar::read(vat.sidecar.to_string().as_bytes()).expect("the sidecar")
}

/// naga_oil's part: conditions on defines, imports (all of them from the stubs), the material's bind group. What it knows and this
/// does not, `#if` and `#define`, the kit does not use.
fn preprocess(source: &str, defines: &[&str]) -> String {
    let mut kept = vec![true];
    let mut lines = Vec::new();
    let mut imports = 0;
    for line in source.lines() {
        let word = line.trim();
        let is_on = kept.iter().all(|k| *k);
        if let Some(name) = word.strip_prefix("#ifdef ") {
            kept.push(defines.contains(&name));
        } else if word == "#else" {
            let last = kept.last_mut().expect("an #ifdef");
            *last = !*last;
        } else if word == "#endif" {
            kept.pop().filter(|_| !kept.is_empty()).expect("an #ifdef");
        } else if imports > 0 || word.starts_with("#import") {
            imports += word.matches('{').count();
            imports -= word.matches('}').count();
        } else if is_on && !word.starts_with("#define_import_path") {
            assert!(!word.starts_with('#'), "unknown to the tests: {word}");
            lines.push(line.replace("mesh_functions::", "mesh_functions_").replace("#{MATERIAL_BIND_GROUP}", "3"));
        }
    }
    assert_eq!((kept.len(), imports), (1, 0), "open #ifdef or #import");
    lines.join("\n")
}

/// The kit's shaders on the stubs.
fn compose(files: &[KitFile], defines: &[&str]) -> String {
    let parts = [include_str!("kit_bevy/stubs.wgsl"), text(files, "vat_playback.wgsl"), text(files, "vat_material.wgsl")];
    parts.map(|part| preprocess(part, defines)).join("\n")
}

/// The same as a compute shader: what it binds is put by `check.wgsl`, and its vertex is a function of buffers.
fn executable(files: &[KitFile]) -> String {
    let all = compose(files, &EXECUTED);
    let kept = all.lines().filter(|line| !line.starts_with("@group(") && *line != "@vertex");
    let mut text = kept.collect::<Vec<_>>().join("\n");
    for (buffer, name) in ["vat_positions", "vat_normals", "vat_tangents"].into_iter().enumerate() {
        let call = format!("textureLoad({name}, at, 0)");
        assert_eq!(text.matches(&call).count(), 1, "{call}");
        text = text.replace(&call, &format!("check_load({buffer}u, at)"));
    }
    for attribute in
        ["@builtin(instance_index)", "@builtin(position)", "@location(0)", "@location(1)", "@location(3)", "@location(4)", "@location(8)"]
    {
        text = text.replace(attribute, "");
    }
    [&text, include_str!("kit_bevy/check.wgsl")].concat()
}

/// A vertex as Bevy's glTF loader leaves it in the mesh.
#[derive(Clone, Copy, Default)]
struct Vertex {
    number: usize,
    position: [f32; 3],
    normal: [f32; 3],
    tangent: [f32; 4],
    /// UV sets 0 and 1; Bevy has no others.
    uvs: [[f32; 2]; 2],
}

/// Bevy's import of the GLB.
fn import(vat: &Vat) -> Vec<Vertex> {
    let mut vertices: Vec<Vertex> = Vec::new();
    let lookup = ["lanes", "groups"].map(|key| vat.sidecar["mesh"]["lookup"][key].as_f64().expect("a number"));
    for shown in vat.glb.shown().expect("primitives") {
        let attribute = |name: &str| vat.glb.attribute(&shown.json, name).expect("an accessor");
        let [positions, lookups] = ["POSITION", "TEXCOORD_1"].map(|name| attribute(name).expect("it is there"));
        let [normals, tangents, uvs] = ["NORMAL", "TANGENT", "TEXCOORD_0"].map(attribute);
        for i in 0..positions.count() {
            let [lane, group] = lookups.get(i);
            vertices.push(Vertex {
                number: (lane * lookup[0]) as usize + (lookup[0] * (group * lookup[1]).floor()) as usize,
                position: positions.get(i).map(|v| v as f32),
                normal: normals.as_ref().map_or([0.0; 3], |a| a.get(i).map(|v| v as f32)),
                tangent: tangents.as_ref().map_or([1.0, 0.0, 0.0, 1.0], |a| a.get(i).map(|v| v as f32)),
                uvs: [uvs.as_ref().map_or([0.0; 2], |a| a.get(i).map(|v| v as f32)), lookups.get(i).map(|v| v as f32)],
            });
        }
    }
    vertices
}

/// Bevy's import of a texture: unorm16 and unorm8 as the GPU samples them, floats as they are.
fn texels(texture: &Texture) -> Vec<f32> {
    let image = &texture.image;
    (0..image.height).flat_map(|y| (0..image.width).flat_map(move |x| image.shown(x, y))).map(|v| v as f32).collect()
}

/// What an instance plays: three vec4s, as vat_plugin.rs writes them.
type Slot = [[f32; 4]; 3];

/// A frame of the bake, whatever the time.
fn still(frame: usize) -> Slot {
    [[frame as f32, 0.0, 0.0, 0.0], [0.0; 4], [0.0; 4]]
}

/// One vertex of one instance at a time; `step` is the time since the frame before.
struct Case {
    vertex: Vertex,
    slot: usize,
    now: f32,
    step: f32,
}

#[derive(Debug, Clone, Copy)]
struct Shown {
    position: V3,
    normal: V3,
    tangent: V3,
    before: V3,
}

/// Runs the kit's vertex shader. `set` of the lookup UV is 1, but for a test that it matters.
fn play(files: &[KitFile], vat: &Vat, slots: &[Slot], cases: &[Case], set: usize) -> Vec<Shown> {
    let code = |names: &[&str], name: &str| names.iter().position(|n| *n == name).unwrap_or_else(|| panic!("encoding {name}")) as f32;
    let directions = ["unit-unorm", "unit-float", "alpha-octahedral"];
    let encoding = |texture: &Option<Texture>| texture.as_ref().map_or(0.0, |t| code(&directions, &t.encoding));
    let lookup = ["lanes", "groups"].map(|key| vat.sidecar["mesh"]["lookup"][key].as_f64().expect("a number") as f32);
    let position = code(&["offset-unorm", "absolute-unorm", "offset-float", "absolute-float"], &vat.position.encoding);
    let row = |v: V3, w: usize| [v[0] as f32, v[1] as f32, v[2] as f32, w as f32];
    let flags = [&vat.normal, &vat.tangent].map(|texture| f32::from(u8::from(texture.is_some())));
    let material = [
        row(vat.position.scale, vat.width),
        row(vat.position.bias, vat.frame_count),
        [lookup[0], lookup[1], position, encoding(&vat.normal)],
        [encoding(&vat.tangent), flags[0], flags[1], slots.len() as f32],
    ];
    let texture = |texture: &Option<Texture>| texture.as_ref().map_or(vec![0.0; 4], texels);
    let buffers = [material.concat(), texels(&vat.position), texture(&vat.normal), texture(&vat.tangent), slots.concat().concat()];
    let of_case = |c: &Case| {
        let Vertex { position: p, normal: n, tangent, uvs, .. } = c.vertex;
        [[p[0], p[1], p[2], c.now], [uvs[set][0], uvs[set][1], c.step, c.slot as f32], [n[0], n[1], n[2], 0.0], tangent].concat()
    };
    let cases: Vec<f32> = cases.iter().flat_map(of_case).collect();
    let resources: Vec<_> = buffers.iter().chain([&cases]).map(|v| Resource::Storage(v)).collect();
    let found = run(&executable(files), &resources, cases.len() / 16, 4);
    let three = |v: [f32; 4]| [v[0], v[1], v[2]].map(f64::from);
    let shown = |v: &[[f32; 4]]| Shown { position: three(v[0]), normal: three(v[1]), tangent: three(v[2]), before: three(v[3]) };
    found.chunks_exact(4).map(shown).collect()
}

fn near(what: &str, found: V3, wanted: V3, within: f64) -> Result<(), String> {
    let is_near = (0..3).all(|c| (found[c] - wanted[c]).abs() <= within); // false for NaN
    if is_near { Ok(()) } else { Err(format!("{what}: found {found:?}, wanted {wanted:?} within {within:e}")) }
}

/// Rounding of texel, product and two sums in 32 bits: a few units of 2^-24 of what is added up.
fn rounding(vat: &Vat) -> f64 {
    let reach = vat.sidecar["bounds"].as_object().expect("bounds").values().flat_map(|v| support::decode::vector(v).expect("three"));
    let reach = reach.fold(0.0, |most: f64, v| most.max(v.abs()));
    let ranges = (0..3).map(|c| vat.position.scale[c].abs() + vat.position.bias[c].abs()).fold(0.0, f64::max);
    6.0 / f64::from(1 << 24) * (2.0 * reach + ranges)
}

/// Largest distance of a component of a direction.
const DIRECTION: f64 = 1e-6;

/// The sample, few frames of it, cut into blocks.
fn sample(set: impl FnOnce(&mut Options)) -> Baked {
    let mut options = Options { device: DeviceChoice::Cpu, fps: Fps::Rate(3.0), max_size: 2500, ..Options::default() };
    set(&mut options);
    bake::bake(Input::File(SAMPLE.into()), options).expect("the sample bakes")
}

/// Every vertex in every frame. `shift` of the frame and `set` of the lookup are 0 and 1 where nothing is to go wrong.
fn sweep(vat: &Vat, shift: usize, set: usize) -> Result<usize, String> {
    let files = kit("sample", &sidecar_of(vat));
    let vertices = import(vat);
    let slots: Vec<Slot> = (0..vat.frame_count).map(|frame| still((frame + shift) % vat.frame_count)).collect();
    let places: Vec<_> = vertices.iter().flat_map(|vertex| (0..vat.frame_count).map(move |frame| (*vertex, frame))).collect();
    let cases: Vec<_> = places.iter().map(|&(vertex, slot)| Case { vertex, slot, now: 1.0, step: 0.5 }).collect();
    let found = play(&files, vat, &slots, &cases, set);
    for ((vertex, frame), shown) in places.iter().zip(&found) {
        let what = format!("{} vertex {} frame {frame}", vat.position.encoding, vertex.number);
        near(&what, shown.position, vat.position(*frame, vertex.number), rounding(vat))?;
        near(&format!("before, {what}"), shown.before, shown.position, 0.0)?;
        match &vat.normal {
            Some(_) => near(&format!("normal, {what}"), shown.normal, vat.normal(*frame, vertex.number), DIRECTION)?,
            None => near(&format!("the mesh's normal, {what}"), shown.normal, vertex.normal.map(f64::from), 0.0)?,
        }
        if vat.tangent.is_some() {
            near(&format!("tangent, {what}"), shown.tangent, vat.tangent(*frame, vertex.number), DIRECTION)?;
        } else {
            let along = (0..3).map(|c| shown.tangent[c] * shown.normal[c]).sum::<f64>();
            // as long as the mesh's tangent is not the normal itself
            let usable = (0..3).map(|c| f64::from(vertex.tangent[c]) * shown.normal[c]).sum::<f64>().abs() < 0.99;
            if usable && along.abs() > 1e-5 {
                return Err(format!("tangent, {what}: {along} along the normal"));
            }
        }
    }
    Ok(found.len())
}

#[test]
fn every_texel_is_shown_as_the_decoder_shows_it() {
    type Set = fn(&mut Options);
    let forms: [(&str, Set); 6] = [
        ("PNG16", |_| ()),
        ("normals in alpha", |o| o.normals = Normals::Alpha),
        ("no normals", |o| o.normals = Normals::None),
        ("tangents", |o| o.tangents = true),
        ("PNG8", |o| o.format = Format::Png8),
        ("half floats", |o| o.format = Format::Exr16),
    ];
    for (form, set) in forms {
        let baked = sample(set);
        assert!(baked.blocks == 3 && baked.frame_count > 10, "{form}: {} blocks, {} frames", baked.blocks, baked.frame_count);
        let count = sweep(&baked, 0, 1).unwrap_or_else(|e| panic!("{form}: {e}"));
        assert_eq!(count, baked.vertex_count * baked.frame_count, "{form}");
    }
}

#[test]
fn another_frame_or_another_uv_set_is_noticed() {
    let baked = sample(|_| ());
    assert!(sweep(&baked, 1, 1).is_err(), "the frame after");
    assert!(sweep(&baked, 0, 0).is_err(), "the UV set of the pictures as lookup");
}

/// The positions that other programs computed for given models, and not those of the frame after.
#[test]
fn the_oracle_is_shown() {
    let Some(all) = oracle::models() else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no shared/data beside the repository; VATBAKE_SHARED names it");
        return;
    };
    // skinned, rigid, morphed; MorphStressTest has its lookup in the third UV set, which Bevy does not read
    for name in ["CesiumMan", "BoxAnimated", "AnimatedMorphCube"] {
        let model = &oracle::find(&all, name);
        let options = Options { exact_fps: true, device: DeviceChoice::Cpu, ..Options::default() };
        let baked = bake::bake(Input::File(model.file.clone()), options).expect("it bakes");
        let compared = compare(&baked, model, 0).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(compared > 100, "{name}: {compared} points");
        assert!(compare(&baked, model, 1).is_err(), "{name}: the frame after");
    }
}

fn compare(vat: &Vat, model: &Model, shift: usize) -> Result<usize, String> {
    let (files, vertices, expected) = (kit("model", &sidecar_of(vat)), import(vat), oracle::load(model));
    let mut cases = Vec::new();
    let mut wanted = Vec::new();
    let mut slots = Vec::new();
    for clip in &expected.clips {
        let baked = vat.clips.iter().find(|c| c.animation == Some(clip.animation)).ok_or("a clip that was not baked")?;
        // as many slots as the shader of the tests holds
        for (k, frame) in clip.frames.iter().enumerate().take(60 / expected.clips.len()) {
            slots.push(still(baked.first_frame + (frame.min(&(baked.frame_count - 1)) + shift) % baked.frame_count));
            for primitive in &expected.primitives {
                let is_it = |p: &&support::decode::Part| Some(p.node) == primitive.node && p.primitive == primitive.primitive;
                let part = vat.parts.iter().find(is_it).ok_or("a part that was not baked")?;
                assert_eq!(part.vertex_count, primitive.vertices, "this test compares vertices in their order");
                let points = expected.points(clip, k, primitive);
                let numbers = (part.first_vertex..).step_by(expected.stride);
                for (number, point) in numbers.zip(points) {
                    let vertex = *vertices.iter().find(|v| v.number == number).ok_or("a vertex that is missing")?;
                    cases.push(Case { vertex, slot: slots.len() - 1, now: 0.0, step: 0.0 });
                    wanted.push(point);
                }
            }
        }
    }
    let found = play(&files, vat, &slots, &cases, 1);
    let half_step = (0..3).map(|c| vat.half_step(c)).fold(0.0, f64::max);
    for ((shown, wanted), case) in found.iter().zip(&wanted).zip(&cases) {
        near(&format!("vertex {}", case.vertex.number), shown.position, *wanted, half_step + 1e-5 * expected.size + rounding(vat))?;
    }
    Ok(found.len())
}

/// Two clips of 8 frames a second, 4 and 2 intervals; f32 holds all times exactly.
fn two_clips() -> Baked {
    let mut doc = models::rigid(&models::TRIANGLE);
    for (intervals, seed) in [(4, 1.0), (2, 7.0)] {
        let times: Vec<f64> = (0..=intervals).map(|k| f64::from(k) / 8.0).collect();
        let places: Vec<V3> = (0..=intervals).map(|k| f64::from(k) + seed).map(|k| [k * k, (k * 2.0).sin(), k]).collect();
        doc.animate(None, &[(0, "translation", "LINEAR", &times[..], vec3(&places))]);
    }
    bake::bake_fixture(&doc, |o| (o.fps, o.looping) = (Fps::Rate(8.0), Looping::None))
}

#[test]
fn fades_steps_and_the_frame_before_are_shown() {
    let baked = two_clips();
    let (files, vertices) = (kit("clips", &sidecar_of(&baked)), import(&baked));
    let [first, second] = [[0.0, 4.0, 8.0, 0.0], [5.0, 2.0, 8.0, 1.0]];
    let slots = [
        [first, [0.0; 4], [0.0; 4]],             // the first clip
        [second, first, [1.0, 0.5, 0.0, 0.0]],   // the second, faded in from 1 s to 1.5 s
        [first, [0.0; 4], [0.0, 0.0, 1.0, 0.0]], // the first, stepped
        [second, first, [1.0, 0.5, 0.0, 1.0]],   // faded in over a stepped one
    ];
    let cases: Vec<_> = [(0, 0.1875), (1, 1.0), (1, 1.125), (1, 1.75), (2, 0.1875), (3, 1.0625)]
        .into_iter()
        .map(|(slot, now)| Case { vertex: vertices[0], slot, now, step: 0.125 })
        .collect();
    let found = play(&files, &baked, &slots, &cases, 1);
    let number = vertices[0].number;
    let between = |a: usize, b: usize, t: f64| mix(baked.position(a, number), baked.position(b, number), t);
    let wanted = [
        (between(1, 2, 0.5), between(0, 1, 0.5)),
        // a loop of four intervals is at its start after 1 s; what was before the fade is the clip faded from
        (between(0, 1, 0.0), between(3, 4, 0.0)),
        (mix(between(1, 1, 0.0), between(6, 6, 0.0), 0.25), between(0, 0, 0.0)),
        (between(5, 5, 0.0), between(6, 6, 0.0)),
        (between(1, 1, 0.0), between(0, 0, 0.0)),
        (mix(between(0, 0, 0.0), between(5, 6, 0.5), 0.125), between(3, 3, 0.0)),
    ];
    let within = 8.0 * rounding(&baked);
    for (k, (shown, (now, before))) in found.iter().zip(wanted).enumerate() {
        near(&format!("case {k}"), shown.position, now, within).unwrap_or_else(|e| panic!("{e}"));
        near(&format!("case {k}, before"), shown.before, before, within).unwrap_or_else(|e| panic!("{e}"));
    }
    // and they are not all the same
    assert!(near("stepped or not", found[0].position, found[4].position, within).is_err());
    assert!(near("faded or not", found[2].position, found[3].position, within).is_err());
}

fn validate(wgsl: &str) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(wgsl).map_err(|e| e.emit_to_string(wgsl))?;
    let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    validator.validate(&module).map_err(|e| e.emit_to_string(wgsl)).map(|_| ())
}

#[test]
fn shaders_are_valid_in_every_pass() {
    let files = kit("bun", &sidecar_of(&sample(|_| ())));
    let prepass = ["PREPASS_PIPELINE", "VERTEX_UVS_A", "VERTEX_UVS_B", "VERTEX_OUTPUT_INSTANCE_INDEX"];
    let normals = ["NORMAL_PREPASS_OR_DEFERRED_PREPASS", "VERTEX_NORMALS", "VERTEX_TANGENTS"];
    let passes: [Vec<&str>; 8] = [
        MAIN.to_vec(),
        // after a prepass that wrote motion vectors
        [&MAIN[..], &["MOTION_VECTOR_PREPASS"]].concat(),
        vec!["VERTEX_UVS_B"],
        [&MAIN[..], &["VISIBILITY_RANGE_DITHER"]].concat(),
        prepass.to_vec(),
        [&prepass[..], &["UNCLIPPED_DEPTH_ORTHO_EMULATION"]].concat(),
        [&prepass[..], &normals[..]].concat(),
        [&prepass[..], &normals[..], &["MOTION_VECTOR_PREPASS", "VERTEX_COLORS"]].concat(),
    ];
    for defines in &passes {
        let wgsl = compose(&files, defines);
        validate(&wgsl).unwrap_or_else(|e| panic!("{defines:?}: {e}"));
        assert!(validate(&wgsl.replace("out.world_position =", "out.nowhere =")).is_err(), "an unknown member is noticed");
    }
    // Without the lookup there is nothing to play: Bevy says so by the shader's error, not by a still picture.
    assert!(validate(&compose(&files, &["VERTEX_NORMALS"])).is_err());
    // The decode is that of every other engine, to the letter.
    let source = vatbake::playback::Language::Wgsl.source();
    let decode = source.split_once("// ---- The fetch").expect("the fetch").0;
    assert!(text(&files, "vat_playback.wgsl").contains(decode));
}

#[test]
fn rust_files_parse_whatever_the_names_are() {
    let mut sidecar = sidecar_of(&sample(|_| ()));
    sidecar.clips[0].name = Some("a\n\"}} {{file}} */".into());
    for name in ["bun", "we\"ird {{clips}} \\ näme", "{{title}}"] {
        let files = kit(name, &sidecar);
        let sources: Vec<_> = files.iter().filter(|f| f.name.ends_with(".rs")).collect();
        assert_eq!(sources.len(), 3 + VERSIONS.len(), "{name}");
        for file in sources {
            assert!(syn::parse_file(&file.text).is_ok(), "{}: {:?}", file.name, syn::parse_file(&file.text).err());
            assert!(syn::parse_file(&file.text[..file.text.len() - 3]).is_err(), "{}: its last brace is missed", file.name);
        }
        let example = syn::parse_file(text(&files, &format!("{name}_example.rs"))).expect("it parses");
        let path = example.items.iter().find_map(|item| match item {
            syn::Item::Const(c) if c.ident == "VAT" => Some(c.expr.clone()),
            _ => None,
        });
        let Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. })) = path.map(|p| *p) else { panic!("no VAT in {name}") };
        assert_eq!(path.value(), format!("bevy/{name}.vat.json"), "the path that the example loads");
    }
}

/// The names that a file takes from the modules above its own, or that a file declares or imports.
fn names_of(source: &str, is_taken: bool) -> Vec<String> {
    fn leaves(tree: &syn::UseTree, names: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => leaves(&path.tree, names),
            syn::UseTree::Name(name) => names.push(name.ident.to_string()),
            syn::UseTree::Rename(rename) => names.push(rename.rename.to_string()),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, names)),
            syn::UseTree::Glob(_) => {}
        }
    }
    let mut names = Vec::new();
    for item in syn::parse_file(source).expect("it parses").items {
        match item {
            syn::Item::Use(item) => {
                let is_above = matches!(&item.tree, syn::UseTree::Path(path) if path.ident == "super");
                if is_above == is_taken {
                    leaves(&item.tree, &mut names);
                }
            }
            syn::Item::Const(item) if !is_taken => names.push(item.ident.to_string()),
            syn::Item::Fn(item) if !is_taken => names.push(item.sig.ident.to_string()),
            syn::Item::Struct(item) if !is_taken => names.push(item.ident.to_string()),
            syn::Item::Type(item) if !is_taken => names.push(item.ident.to_string()),
            _ => {}
        }
    }
    names
}

/// What the plugin takes from the module that declares it is there for every version of Bevy, and nothing else stands there.
#[test]
fn every_version_has_what_the_plugin_takes() {
    let files = kit("bun", &sidecar_of(&sample(|_| ())));
    let plugin = names_of(text(&files, "vat_plugin.rs"), false);
    let mut taken = names_of(text(&files, "vat_plugin.rs"), true);
    taken.extend(names_of(text(&files, "vat_loader.rs"), true).into_iter().filter(|name| !plugin.contains(name)));
    assert!(taken.len() > 10, "{taken:?}");
    for version in VERSIONS {
        let there = names_of(text(&files, version), false);
        let missing: Vec<_> = taken.iter().filter(|name| !there.contains(name)).collect();
        assert!(missing.is_empty(), "{version} lacks {missing:?}");
        let module = text(&files, version);
        let is_used = |name: &String| taken.contains(name) || module.matches(name.as_str()).count() > 1;
        assert!(there.iter().all(is_used), "{version} holds a name that nothing uses");
    }
    let spoilt = text(&files, VERSIONS[0]).replace("PROPAGATE", "SPREAD");
    assert!(taken.iter().any(|name| !names_of(&spoilt, false).contains(name)), "another name is noticed");
}

/// Bevy's `AssetMeta<ImageLoader, ()>`, written down from its source; `examples/bevy` reads the files by Bevy itself.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    meta_format_version: String,
    asset: Action,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Action {
    Load { loader: String, settings: Settings },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    format: Word,
    is_srgb: bool,
    sampler: Sampler,
    asset_usage: (String,),
}

#[derive(Debug, PartialEq, Deserialize)]
enum Sampler {
    Default,
    Descriptor(Descriptor),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Descriptor {
    label: Option<String>,
    address_mode_u: Word,
    address_mode_v: Word,
    address_mode_w: Word,
    mag_filter: Word,
    min_filter: Word,
    mipmap_filter: Word,
    lod_min_clamp: f32,
    lod_max_clamp: f32,
    compare: Option<Word>,
    anisotropy_clamp: u16,
    border_color: Option<Word>,
}

/// Variants of several of its enums.
#[derive(Debug, PartialEq, Deserialize)]
enum Word {
    FromExtension,
    ClampToEdge,
    Nearest,
    Linear,
}

#[test]
fn meta_files_say_linear_and_nearest() {
    let baked = sample(|o| o.tangents = true);
    let files = kit("bun", &sidecar_of(&baked));
    let metas: Vec<_> = files.iter().filter(|f| f.name.ends_with(".meta")).collect();
    let names: Vec<_> = metas.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["bun_vat_normal.png.meta", "bun_vat_position.png.meta", "bun_vat_tangent.png.meta"]);
    let sampler = Descriptor {
        label: None,
        address_mode_u: Word::ClampToEdge,
        address_mode_v: Word::ClampToEdge,
        address_mode_w: Word::ClampToEdge,
        mag_filter: Word::Nearest,
        min_filter: Word::Nearest,
        mipmap_filter: Word::Nearest,
        lod_min_clamp: 0.0,
        lod_max_clamp: 32.0,
        compare: None,
        anisotropy_clamp: 1,
        border_color: None,
    };
    let settings = Settings {
        format: Word::FromExtension,
        is_srgb: false,
        sampler: Sampler::Descriptor(sampler),
        asset_usage: ("RENDER_WORLD".into(),),
    };
    let asset = Action::Load { loader: "bevy_image::image_loader::ImageLoader".into(), settings };
    let wanted = Meta { meta_format_version: "1.0".into(), asset };
    for KitFile { name, text } in metas {
        assert_eq!(ron::from_str::<Meta>(text).unwrap_or_else(|e| panic!("{name}: {e}")), wanted, "{name}");
        assert_ne!(ron::from_str::<Meta>(&text.replace("is_srgb: false", "is_srgb: true")).expect("it parses"), wanted);
        assert!(ron::from_str::<Meta>(&text.replace("is_srgb", "srgb")).is_err() && ron::from_str::<Meta>(&text[1..]).is_err());
    }
    // Octahedral normals have no file of their own.
    let packed = kit("bun", &sidecar_of(&sample(|o| o.normals = Normals::Alpha)));
    assert_eq!(packed.iter().filter(|f| f.name.ends_with(".meta")).count(), 1);
}

#[test]
fn two_bakes_share_the_code() {
    let (one, other) = (sample(|_| ()), two_clips());
    let (one, other) = (kit("one", &sidecar_of(&one)), kit("other", &sidecar_of(&other)));
    let shared: Vec<_> = one.iter().filter(|f| !f.name.starts_with("one") && !f.name.starts_with("bun")).collect();
    let names: Vec<_> = shared.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, [&["vat_plugin.rs", "vat_loader.rs", "vat_material.wgsl", "vat_playback.wgsl"][..], &VERSIONS].concat());
    for file in shared {
        assert_eq!(file.text, text(&other, &file.name), "{}", file.name);
    }
    assert_ne!(text(&one, "one_example.rs"), text(&other, "other_example.rs"));
}

#[test]
fn a_small_bake_gets_these_files() {
    let files = kit("clips", &sidecar_of(&two_clips()));
    let shown = ["clips_example.rs", "clips_README.md"].map(|name| format!("== {name}\n{}", text(&files, name)));
    let names: Vec<_> = files.iter().map(|f| f.name.as_str()).collect();
    insta::assert_snapshot!(format!("{}\n\n{}", names.join("\n"), shown.join("\n")));
}
