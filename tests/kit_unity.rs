//! The kit for Unity (`--for unity`): its importer, written down twice, and its shader show the positions that other programs computed,
//! in Unity's axes.
//!
//! No Unity runs here. What does: the kit's C# (compiled by mcs, run by mono, on stand-ins for Unity's API) imports real bakes; a second
//! import follows what glTFast does to a mesh and an image importer to a texture; both go through the kit's HLSL on a software adapter.
//! Each comparison must also fail where one step is left out.

mod support;
#[path = "support/unity.rs"]
mod unity;

use serde_json::{Value, json};
use support::decode::V3;
use support::glb::Glb;
use support::oracle::{self, Model};
use support::{bake, models};
use unity::{Imported, Kit, Texels};
use vatbake::options::{DeviceChoice, Format, Fps, Normals, Position, RootMotion};
use vatbake::playback::Language;
use vatbake::targets::{Kit as Described, Target};
use vatbake::{Input, Options};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/bun.glb");
/// Share of the model's size that may be lost besides half a quantisation step.
const TOLERANCE: f64 = 1e-5;
/// Given models whose vertices keep their numbers: a skin, morphs, rigid nodes, many materials, cubic splines.
const MODELS: &[&str] = &["CesiumMan", "MorphStressTest", "BoxAnimated", "Kenney-PlatformerCharacter", "HandLeft-CubicSpline"];

fn cpu() -> Options {
    Options { device: DeviceChoice::Cpu, ..Options::default() }
}

fn sample(set: impl FnOnce(&mut Options)) -> Kit {
    let mut options = Options { fps: Fps::Rate(10.0), ..cpu() };
    set(&mut options);
    Kit::bake(Input::File(SAMPLE.into()), options)
}

fn mirrored([x, y, z]: V3) -> V3 {
    [-x, y, z]
}

/// What is where at which frame of the bake: vertex of the bake, frame, position, and the normal where it is known.
struct Wanted {
    vertex: usize,
    frame: usize,
    position: V3,
    normal: Option<V3>,
}

/// Compares what the kit's shader shows with what is wanted, in Unity's axes.
fn compare(kit: &Kit, imported: &Imported, wanted: &[Wanted], size: f64) -> Result<(), String> {
    let wgsl = unity::shape(&kit.folder);
    let surface = std::fs::read_to_string(kit.folder.join("VatSurface.hlsl")).expect("VatSurface.hlsl");
    // One instance a frame: the first clip's vec4 counts from its first frame, and every frame of the bake is one that it can name.
    let frames = kit.sidecar["frame_count"].as_u64().expect("frames") as usize;
    let instances: Vec<_> = (0..frames).map(|f| [[f as f64, 0.0, 1.0, 0.0], [0.0; 4], [0.0; 4]]).collect();
    let numbers = imported.numbers(&kit.sidecar);
    let mut place = vec![usize::MAX; numbers.len()];
    for (k, &number) in numbers.iter().enumerate() {
        *place.get_mut(number).ok_or_else(|| format!("a lookup names vertex {number} of {}", numbers.len()))? = k;
    }
    let cases: Vec<_> = wanted.iter().map(|w| (place[w.vertex], w.frame, 3.25)).collect();
    if cases.iter().any(|c| c.0 == usize::MAX) {
        return Err("a vertex of the bake is named by none of the mesh".into());
    }
    let found = imported.show(wgsl, &surface, &instances, &cases);
    let step = half_step(kit, imported);
    let is_packed = kit.sidecar["textures"].as_array().into_iter().flatten().any(|t| t["encoding"] == "alpha-octahedral");
    let direction = if is_packed { 2e-2 } else { 2e-3 }; // 8 bits an axis, or more
    let (mut failed, mut first) = (0, None);
    for (w, [position, normal]) in wanted.iter().zip(&found) {
        // false for NaN
        let is_near = (0..3).all(|c| (position[c] - w.position[c]).abs() <= step[c] + TOLERANCE * size);
        let points_along = w.normal.is_none_or(|n| (0..3).all(|c| (normal[c] - n[c]).abs() <= direction));
        if !is_near || !points_along {
            failed += 1;
            first.get_or_insert_with(|| {
                format!("vertex {}, frame {}: {position:?} {normal:?}, wanted {:?} {:?}", w.vertex, w.frame, w.position, w.normal)
            });
        }
    }
    assert!(wanted.len() > 50, "{} comparisons", wanted.len());
    first.map_or(Ok(()), |first| Err(format!("{failed} of {} are wrong, the first: {first}", wanted.len())))
}

/// Largest error that rounding to the texels may cause, by axis.
fn half_step(kit: &Kit, imported: &Imported) -> V3 {
    let texture = &kit.sidecar["textures"][0];
    match texture["pixel"].as_str() {
        Some("rgba16unorm") => std::array::from_fn(|c| texture["scale"][c].as_f64().expect("scale") / 65535.0 / 2.0),
        Some("rgba16float") => {
            let most = imported.position.all.iter().fold(0.0_f64, |most, v| most.max(f64::from(v.abs())));
            [most * 2.0_f64.powi(-11); 3]
        }
        other => panic!("pixel {other:?}"),
    }
}

/// The sample as the tests' own decoder sees it in the native bake with 32-bit floats, x negated.
fn sample_wanted(kit: &Kit) -> (Vec<Wanted>, f64) {
    let native = bake::bake(Input::File(SAMPLE.into()), Options { fps: Fps::Rate(10.0), format: Format::Exr32, ..cpu() }).expect("a bake");
    assert_eq!(native.frame_count as u64, kit.sidecar["frame_count"].as_u64().expect("frames"));
    let vertices = (0..native.vertex_count).step_by(3);
    let all = vertices.flat_map(|vertex| (0..native.frame_count).step_by(4).map(move |frame| (vertex, frame)));
    // without baked normals those of the mesh stay
    let is_baked = kit.sidecar["textures"].as_array().into_iter().flatten().any(|t| t["role"] == "normal");
    let rest = native.rest_normal.as_ref().expect("normals");
    let wanted = all.map(|(vertex, frame)| Wanted {
        vertex,
        frame,
        position: mirrored(native.position(frame, vertex)),
        normal: Some(mirrored(if is_baked { native.normal(frame, vertex) } else { rest[vertex] })),
    });
    (wanted.collect(), 1.0)
}

/// A mesh as glTFast turns it (x negated, v to 1 - v in every UV set; sets that no shader reads are stripped), its lookup stored as
/// `rounded` says, and the texels of the `.raw` files.
fn gltfast(kit: &Kit, rounded: fn(f64) -> f64) -> Imported {
    let glb = Glb::read(&std::fs::read(kit.file("_vat.glb")).expect("the mesh")).expect("a GLB");
    let lookup = format!("TEXCOORD_{}", kit.sidecar["mesh"]["lookup"]["texcoord"]);
    let (mut positions, mut normals, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
    for primitive in glb.shown().expect("primitives") {
        let read = |name: &str| glb.attribute(&primitive.json, name).expect("an attribute").unwrap_or_else(|| panic!("no {name}"));
        let (p, n, uv) = (read("POSITION"), read("NORMAL"), read(&lookup));
        positions.extend((0..p.count()).map(|k| mirrored(p.get(k))));
        normals.extend((0..n.count()).map(|k| mirrored(n.get(k))));
        uvs.extend((0..uv.count()).map(|k| uv.get::<2>(k)).map(|[u, v]| [rounded(u), rounded(1.0 - v)]));
    }
    let texels = |role: usize| {
        let texture = &kit.sidecar["textures"][role];
        let format = match texture["pixel"].as_str() {
            Some("rgba16unorm") => "RGBA64",
            Some("rgba16float") => "RGBAHalf",
            other => panic!("pixel {other:?}"),
        };
        let bytes = std::fs::read(kit.folder.join(texture["file"].as_str().expect("a file"))).expect("texels");
        Texels::read(format, kit.sidecar["layout"]["width"].as_u64().expect("a width") as usize, &bytes)
    };
    let material = Imported::of(&kit.import()).material;
    Imported { positions, normals, lookup: uvs, position: texels(0), normal: Some(texels(1)), material }
}

fn as_half(v: f64) -> f64 {
    half::f16::from_f64(v).to_f64()
}

fn as_unorm(v: f64) -> f64 {
    (v * 65535.0).round() / 65535.0
}

#[test]
fn the_importer_and_the_shader_show_the_sample_in_unitys_axes() {
    let kit = sample(|_| ());
    let (wanted, size) = sample_wanted(&kit);
    let imported = Imported::of(&kit.import());
    compare(&kit, &imported, &wanted, size).unwrap_or_else(|e| panic!("{e}"));

    // what one step left out does to it
    let changed = |change: fn(&mut Imported)| {
        let mut changed = imported.clone();
        change(&mut changed);
        compare(&kit, &changed, &wanted, size)
    };
    let twins: [(&str, fn(&mut Imported)); 6] = [
        ("x of the mesh not negated", |i| i.positions.iter_mut().for_each(|p| p[0] = -p[0])),
        ("v of the lookup not turned", |i| i.lookup.iter_mut().for_each(|uv| uv[1] = 1.0 - uv[1])),
        ("x of the texels not negated", |i| i.position.all.iter_mut().step_by(4).for_each(|t| *t = 1.0 - *t)),
        ("x of the normals not negated", |i| {
            i.normal.iter_mut().for_each(|n| n.all.iter_mut().step_by(4).for_each(|t| *t = 1.0 - *t));
        }),
        ("8 bits", |i| i.position.all.iter_mut().for_each(|t| *t = (*t * 255.0).round() / 255.0)),
        ("rows turned over, and not said", |i| i.position.turn_over()),
    ];
    for (what, change) in twins {
        assert!(changed(change).is_err(), "{what}: not noticed");
    }
}

#[test]
fn a_mesh_from_gltfast_and_rows_of_an_image_importer_show_the_same() {
    let kit = sample(|_| ());
    let (wanted, size) = sample_wanted(&kit);
    let stored: [(&str, fn(f64) -> f64); 3] = [("float", |v| v), ("half", as_half), ("unorm", as_unorm)];
    for (what, rounded) in stored {
        compare(&kit, &gltfast(&kit, rounded), &wanted, size).unwrap_or_else(|e| panic!("lookup of {what}: {e}"));
    }
    // an image importer has the bottom row first, in each texture, and the material says so
    let mut turned = gltfast(&kit, as_half);
    let rows = turned.position.height();
    turned.position.turn_over();
    turned.normal.as_mut().expect("normals").turn_over();
    turned.set("_VatFlippedRows", &[rows as f64]);
    compare(&kit, &turned, &wanted, size).unwrap_or_else(|e| panic!("rows turned over: {e}"));
    turned.set("_VatFlippedRows", &[rows as f64 + 1.0]);
    assert!(compare(&kit, &turned, &wanted, size).is_err(), "a row beside is not noticed");
}

#[test]
fn every_encoding_plays() {
    let formats = [
        (Format::Auto, Position::Offset, Normals::Auto),
        (Format::Exr16, Position::Offset, Normals::Auto),
        (Format::Png16, Position::Absolute, Normals::None),
        (Format::Png16, Position::Offset, Normals::Alpha),
    ];
    let mut seen = Vec::new();
    for (format, position, normals) in formats {
        let kit = sample(|o| (o.format, o.position, o.normals) = (format, position, normals));
        let (wanted, size) = sample_wanted(&kit);
        let told = kit.import();
        compare(&kit, &Imported::of(&told), &wanted, size).unwrap_or_else(|e| panic!("{format:?} {position:?} {normals:?}: {e}"));
        let textures: Vec<_> = told["textures"].as_array().expect("textures").iter().map(|t| t["format"].clone()).collect();
        seen.push((textures, told["materials"][0]["vectors"]["_VatLookup"].clone()));
    }
    let lookup = seen[0].1.clone();
    let code = |position: u32, normal: u32| json!([lookup[0], lookup[1], position, normal]);
    let both = |format: &str| vec![json!(format), json!(format)];
    assert_eq!(
        seen,
        [
            (both("RGBA64"), code(0, 0)),
            (both("RGBAHalf"), code(2, 1)),
            (vec![json!("RGBA64")], code(1, 3)),
            (vec![json!("RGBA64")], code(0, 2))
        ]
    );
}

#[test]
fn the_given_models_are_where_other_programs_say() {
    let Some(all) = oracle::models() else {
        assert!(std::env::var("CI").map_or(true, |v| v != "true"), "no given models; VATBAKE_SHARED names the folder `shared`");
        return;
    };
    for name in MODELS {
        let model = oracle::find(&all, name);
        let kit = Kit::bake(Input::File(model.file.clone()), Options { exact_fps: true, ..cpu() });
        let (wanted, size) = oracle_wanted(&model, &kit);
        for (how, imported) in [("importer", Imported::of(&kit.import())), ("glTFast", gltfast(&kit, as_half))] {
            compare(&kit, &imported, &wanted, size).unwrap_or_else(|e| panic!("{name}, {how}: {e}"));
        }
        let mut wrong = Imported::of(&kit.import());
        wrong.positions.iter_mut().for_each(|p| p[0] = -p[0]);
        assert!(compare(&kit, &wrong, &wanted, size).is_err(), "{name}: a mesh that is not turned is not noticed");
    }
}

/// The oracle's points, x negated.
fn oracle_wanted(model: &Model, kit: &Kit) -> (Vec<Wanted>, f64) {
    assert!(!model.unshared, "{} has no normals, so its vertices may be split", model.name);
    let expected = oracle::load(model);
    let number = |json: &Value| json.as_u64().unwrap_or_else(|| panic!("a whole number, found {json}")) as usize;
    let parts = kit.sidecar["mesh"]["parts"].as_array().expect("parts");
    let mut wanted = Vec::new();
    for (k, primitive) in expected.primitives.iter().enumerate() {
        let is_it = |p: &&Value| Some(number(&p["node"])) == primitive.node && number(&p["primitive"]) == primitive.primitive;
        let part = parts.iter().find(is_it).unwrap_or(&parts[k]);
        assert_eq!(number(&part["vertex_count"]), primitive.vertices, "{}: vertices", model.name);
        for clip in &expected.clips {
            let baked = kit.sidecar["clips"].as_array().into_iter().flatten().find(|c| c["animation"] == json!(clip.animation));
            let baked = baked.expect("the clip");
            for (kept, frame) in clip.frames.iter().enumerate() {
                let row = number(&baked["first_frame"]) + (*frame).min(number(&baked["frame_count"]) - 1);
                for (i, point) in expected.points(clip, kept, primitive).into_iter().enumerate() {
                    let vertex = number(&part["first_vertex"]) + i * expected.stride;
                    wanted.push(Wanted { vertex, frame: row, position: mirrored(point), normal: None });
                }
            }
        }
    }
    (wanted, expected.size)
}

#[test]
fn the_importer_turns_the_mesh_and_keeps_the_texels() {
    let kit = sample(|o| o.tangents = true);
    let told = kit.import();
    let glb = Glb::read(&std::fs::read(kit.file("_vat.glb")).expect("the mesh")).expect("a GLB");
    let mesh = &told["mesh"];
    let (mut first, mut submesh) = (0, 0);
    let [positions, normals] = ["positions", "normals"].map(|name| unity::points(&mesh[name]));
    let [uvs, lookups] = ["uv", "lookup"].map(|name| unity::pairs(&mesh[name]));
    let turn = |v: f64| f64::from(1.0 - v as f32);
    let mut facing = [0_usize; 2];
    for primitive in glb.shown().expect("primitives") {
        let read = |name: &str| glb.attribute(&primitive.json, name).expect("an attribute").unwrap_or_else(|| panic!("no {name}"));
        let (p, n, t, uv0, uv1) = (read("POSITION"), read("NORMAL"), read("TANGENT"), read("TEXCOORD_0"), read("TEXCOORD_1"));
        for k in 0..p.count() {
            let at = first + k;
            let [x, y, z, w] = t.get::<4>(k);
            assert_eq!((positions[at], normals[at]), (mirrored(p.get(k)), mirrored(n.get(k))), "vertex {at}");
            assert_eq!(unity::numbers(&mesh["tangents"][at]), [-x, y, z, -w], "tangent of {at}");
            let [a, b] = [uv0.get::<2>(k), uv1.get::<2>(k)];
            assert_eq!((uvs[at], lookups[at]), ([a[0], turn(a[1])], [b[0], turn(b[1])]), "UVs of {at}");
        }
        let indices = glb.values(primitive.json["indices"].as_u64().expect("indices") as usize).expect("indices").all;
        let triangles = unity::numbers(&mesh["triangles"][submesh]);
        for (a, b) in indices.chunks_exact(3).zip(triangles.chunks_exact(3)) {
            assert_eq!(b, [a[0], a[2], a[1]].map(|i| i + first as f64), "a triangle of submesh {submesh}");
            let corners = [b[0], b[1], b[2]].map(|i| positions[i as usize]);
            facing[usize::from(faces_along(corners, normals[b[0] as usize]))] += 1;
        }
        (first, submesh) = (first + p.count(), submesh + 1);
    }
    // In Unity a triangle faces those who see its corners clockwise, which is where its cross product points in left-handed axes.
    assert!(facing[1] > 50 * facing[0], "{facing:?} triangles face against and along their normals");
    assert_eq!((submesh, first), (told["materials"].as_array().expect("materials").len(), positions.len()));

    for (k, texture) in told["textures"].as_array().expect("textures").iter().enumerate() {
        let file = std::fs::read(kit.folder.join(kit.sidecar["textures"][k]["file"].as_str().expect("a file"))).expect("texels");
        let held =
            base64::Engine::decode(&base64::engine::general_purpose::STANDARD, texture["data"].as_str().expect("data")).expect("base64");
        assert!(held == file, "texels of {}", texture["name"]);
        let set = ["linear", "applied", "mips", "readable"].map(|key| texture[key].as_bool().expect("a flag"));
        assert_eq!((set, &texture["filter"], &texture["wrap"]), ([true, true, false, false], &json!("Point"), &json!("Clamp")));
    }
    let flags = ["is_mesh_imported", "are_materials_imported", "are_materials_shown"].map(|key| told[key].as_bool());
    assert_eq!(flags, [Some(true); 3]);
    // what the prefab is culled by: the motion, not the rest pose
    let near = |found: &Value, wanted: &Value| {
        let wanted = [&wanted["min"], &wanted["max"]].map(unity::numbers).concat();
        let found = unity::points(found).concat();
        assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {wanted:?}");
    };
    near(&mesh["bounds"], &kit.sidecar["bounds"]);
    for (k, clip) in kit.sidecar["clips"].as_array().expect("clips").iter().enumerate() {
        near(&told["clips"][k]["bounds"], &clip["bounds"]);
        let (frames, fps) = (clip["frame_count"].as_f64().expect("frames"), clip["fps"].as_f64().expect("a rate"));
        let intervals = if clip["loop"] == "once" { 1.0 - frames } else { frames - 1.0 };
        let first = clip["first_frame"].as_f64().expect("a frame");
        assert_eq!(unity::numbers(&told["play"][k]), [first, intervals, f64::from(fps as f32), 1.5]);
    }
    // all that it reads has it imported again when it changes
    let depends = told["dependencies"].as_array().expect("dependencies");
    for name in ["bun.vat.json", "bun_vat.glb", "bun_vat_position.raw", "bun_vat_normal.raw", "bun_vat_tangent.raw", "Vat.shader"] {
        assert!(depends.contains(&json!(kit.folder.join(name))), "{name} among {depends:?}");
    }
    assert_eq!(told["before"], json!([kit.folder.join("Vat.shader")]));

    // a machine that writes numbers with a comma reads the same
    let comma = std::process::Command::new("mono")
        .arg(unity::programs().join("Driver.exe"))
        .arg("import")
        .arg(kit.file(".vatbake"))
        .env("VATBAKE_CULTURE", "de-DE")
        .output()
        .expect("mono");
    assert!(serde_json::from_slice::<Value>(&comma.stdout).expect("JSON") == told, "in German");
}

/// Whether a triangle's cross product points along a normal.
fn faces_along([a, b, c]: [V3; 3], normal: V3) -> bool {
    let [u, v] = [b, c].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
    let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    (0..3).map(|k| cross[k] * normal[k]).sum::<f64>() > 0.0
}

/// Writes the mesh again with its JSON changed.
fn patch(kit: &Kit, change: impl FnOnce(&mut Value)) {
    let file = kit.file("_vat.glb");
    let mut glb = Glb::read(&std::fs::read(&file).expect("the mesh")).expect("a GLB");
    change(&mut glb.json);
    let mut text = serde_json::to_vec(&glb.json).expect("JSON");
    text.resize(text.len().next_multiple_of(4), b' ');
    let word = |v: usize| (v as u32).to_le_bytes().to_vec();
    let length = 12 + 8 + text.len() + 8 + glb.bin.len();
    let head = [b"glTF".to_vec(), word(2), word(length), word(text.len()), b"JSON".to_vec()].concat();
    let bytes = [head, text, word(glb.bin.len()), b"BIN\0".to_vec(), glb.bin].concat();
    std::fs::write(&file, bytes).expect("the mesh");
}

#[test]
fn materials_become_what_the_shader_reads() {
    let kit = sample(|_| ());
    patch(&kit, |glb| {
        let moved = json!({ "KHR_texture_transform": { "offset": [0.25, 0.5], "scale": [2.0, 4.0] } });
        glb["samplers"] = json!([{ "wrapS": 33071, "wrapT": 33648, "magFilter": 9728 }]);
        glb["textures"][0]["sampler"] = 0.into();
        glb["materials"][0] = json!({
            "name": "Glass", "alphaMode": "BLEND", "doubleSided": true,
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.2, 0.5, 1.0, 0.25], "metallicFactor": 0.5,
                "baseColorTexture": { "index": 0, "extensions": moved }, "metallicRoughnessTexture": { "index": 0, "extensions": moved },
            },
            "normalTexture": { "index": 0, "scale": 0.5, "extensions": moved },
            "occlusionTexture": { "index": 0, "texCoord": 1 },
        });
        glb["materials"][1] = json!({
            "alphaMode": "MASK", "alphaCutoff": 0.75, "emissiveFactor": [1.0, 0.0, 0.0],
            "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 4.0 }, "KHR_materials_unlit": {} },
        });
    });
    let told = kit.import();
    let find = |name: &str| {
        let all = told["materials"].as_array().expect("materials");
        all.iter().find(|m| m["name"] == name).unwrap_or_else(|| panic!("{name} among {all:?}")).clone()
    };
    let glass = find("Glass");
    assert_eq!((&glass["queue"], &glass["instanced"]), (&json!(3000), &json!(true)));
    assert_eq!(glass["keywords"], json!(["_NORMALMAP", "_SURFACE_TYPE_TRANSPARENT"]));
    assert_eq!(glass["tags"], json!({ "RenderType": "Transparent" }));
    let floats = |material: &Value, name: &str| material["floats"][name].as_f64().unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(["_Cull", "_SrcBlend", "_DstBlend", "_ZWrite"].map(|n| floats(&glass, n)), [0.0, 5.0, 10.0, 0.0]);
    assert_eq!(["_Metallic", "_Roughness", "_NormalScale"].map(|n| floats(&glass, n)), [0.5, 1.0, 0.5]);
    // linear 0.2 and 0.5 as sRGB: what Unity turns back for the shader
    let color = unity::numbers(&glass["vectors"]["_BaseColor"]);
    let near = [0.48453, 0.73536, 1.0, 0.25].iter().zip(&color).all(|(a, b)| (a - b).abs() < 1e-4);
    assert!(near, "{color:?}");
    let pictures = glass["textures"].as_object().expect("textures");
    let has = ["_BaseMap", "_MetallicRoughnessMap", "_NormalMap", "_OcclusionMap", "_EmissionMap"].map(|n| pictures.contains_key(n));
    assert_eq!(has, [true, true, true, false, false]);
    let warnings = told["warnings"].as_array().expect("warnings");
    assert!(warnings.len() == 1 && warnings[0].as_str().is_some_and(|w| w.contains("_OcclusionMap")), "{warnings:?}");

    let masked = find("Material_1");
    assert_eq!((&masked["queue"], &masked["keywords"]), (&json!(2450), &json!(["_ALPHATEST_ON", "_UNLIT"])));
    assert_eq!(["_Cutoff", "_EmissionStrength", "_Cull"].map(|n| floats(&masked, n)), [0.75, 4.0, 2.0]);
    assert_eq!(masked["vectors"]["_EmissionColor"][1], json!(0));

    // the texture transform is in the UVs of the submesh that wears it
    let glb = Glb::read(&std::fs::read(kit.file("_vat.glb")).expect("the mesh")).expect("a GLB");
    let first = &glb.shown().expect("primitives")[0].json;
    assert_eq!(first["material"], 0);
    let uv = glb.attribute(first, "TEXCOORD_0").expect("an attribute").expect("UVs").get::<2>(7);
    let found = unity::pairs(&told["mesh"]["uv"])[7];
    let wanted = [uv[0] * 2.0 + 0.25, 1.0 - (uv[1] * 4.0 + 0.5)];
    assert!((0..2).all(|c| (found[c] - wanted[c]).abs() < 1e-6), "{found:?} {wanted:?}");
}

#[test]
fn what_is_broken_is_one_error_and_no_object() {
    let cases: [(&str, fn(&Kit)); 9] = [
        ("bun.vat.json", |kit| std::fs::remove_file(kit.file(".vat.json")).expect("gone")),
        ("bun_vat.glb", |kit| std::fs::remove_file(kit.file("_vat.glb")).expect("gone")),
        ("bytes where", |kit| {
            let file = kit.file("_vat_position.raw");
            let bytes = std::fs::read(&file).expect("texels");
            std::fs::write(&file, &bytes[..bytes.len() - 8]).expect("shorter");
        }),
        ("not the name of a file", |kit| std::fs::write(kit.file(".vatbake"), "../bun.vat.json\n").expect("written")),
        ("no GLB", |kit| {
            let bytes = std::fs::read(kit.file("_vat.glb")).expect("the mesh");
            std::fs::write(kit.file("_vat.glb"), &bytes[..bytes.len() / 2]).expect("shorter");
        }),
        ("has the index", |kit| {
            patch(kit, |glb| (0..4_usize).for_each(|k| glb["accessors"][k]["count"] = 5.into()));
        }),
        ("needs", |kit| patch(kit, |glb| glb["accessors"][0]["count"] = 2_000_000_000.into())),
        ("more than 64 levels", |kit| std::fs::write(kit.file(".vat.json"), "[".repeat(100_000)).expect("written")),
        ("is not Unity's", |kit| {
            let text = std::fs::read_to_string(kit.file(".vat.json")).expect("the sidecar");
            std::fs::write(kit.file(".vat.json"), text.replace("\"left\"", "\"right\"")).expect("written");
        }),
    ];
    for (words, spoil) in cases {
        let kit = sample(|o| (o.clips, o.normals) = (vec!["Walk".into()], Normals::None));
        kit.import();
        spoil(&kit);
        let error = kit.refused();
        assert!(error.contains(words), "expected {words:?} in: {error}");
    }
}

#[test]
fn the_spawner_draws_a_crowd_in_few_calls_and_keeps_its_phase() {
    let kit = sample(|_| ());
    let times = [10.0, 11.5, 12.0, 14.0, 265.0, 267.0, 100_000.25];
    let words: Vec<String> = [1500.0].iter().chain(&times).map(f64::to_string).collect();
    let told = kit.drive("crowd", &words.iter().map(String::as_str).collect::<Vec<_>>());
    let materials = told["materials"].as_u64().expect("materials") as usize;
    let number = |json: &Value| json.as_f64().unwrap_or_else(|| panic!("a number, found {json}"));
    let mut phases: Vec<Option<f64>> = vec![None; 1500];
    for (k, frame) in told["frames"].as_array().expect("frames").iter().enumerate() {
        let time = times[k];
        let calls = frame["calls"].as_array().expect("calls");
        let sizes: Vec<_> = calls.iter().map(|c| (number(&c["start"]) as usize, number(&c["count"]) as usize)).collect();
        let expected = [vec![(0, 1023); materials], vec![(1023, 477); materials]].concat();
        assert_eq!(sizes, expected, "one call for 1,023 instances and a material");
        for call in calls.iter().step_by(materials) {
            let values = |name: &str| call["values"][name].as_array().unwrap_or_else(|| panic!("no {name}")).clone();
            let (clips, fades) = (values("_VatInstanceClip"), values("_VatInstanceFade"));
            let clock = number(&values("_VatClock")[0][0]);
            assert!((0.0..=256.0).contains(&clock), "the shader's clock at {time}: {clock}");
            for (i, clip) in clips.iter().enumerate() {
                let (instance, clip) = (number(&call["start"]) as usize + i, unity::numbers(clip));
                let age = (clock - clip[3]) * clip[2];
                if instance > 0 {
                    // the place in the cycle runs on with the time of the 64-bit clock, through every wrap
                    let phase = (age / clip[1]).rem_euclid(1.0);
                    let cycles = clip[2] / clip[1];
                    let wanted = *phases[instance].get_or_insert(phase - (time - 10.0) * cycles);
                    let off = (phase - wanted - (time - 10.0) * cycles).rem_euclid(1.0);
                    // f32 holds the rate to 6e-8 of itself, which 100,000 seconds make into as much of a cycle as this
                    assert!(off.min(1.0 - off) < 2e-2, "instance {instance} at {time}: {off} of a cycle beside");
                    assert!(age >= 0.0 && age < 1.01 * clip[1] + 256.0 * clip[2], "{age}");
                } else if time >= 11.5 {
                    // the one that began the last clip, once, at 11.5
                    let last = &told["clips"].as_array().expect("clips").last().expect("a clip").clone();
                    assert_eq!((clip[0], clip[1]), (number(&last["first_frame"]), 1.0 - number(&last["frame_count"])));
                    assert!((age - (time - 11.5) * clip[2]).abs() <= 1e-2 * (1.0 + time / 1e3), "{age} at {time}");
                    let fade = unity::numbers(&fades[0]);
                    let wanted = if time < 267.0 { 0.5 } else { 0.0 };
                    assert_eq!(fade[1], wanted, "fade at {time}");
                    assert!((clock - fade[0] - (time - 11.5)).abs() < 1e-2, "the fade's beginning at {time}: {fade:?}");
                }
            }
        }
        // the instance that was moved at 11.5 is where it was put, and one frame later it was there before, too
        let heights = (number(&calls[0]["height"]), number(&calls[0]["height_before"]));
        assert_eq!(heights, [(0.0, 0.0), (50.0, 0.0), (50.0, 50.0)][k.min(2)], "at {time}");
        let top = number(&calls[0]["bounds"][1][1]);
        assert!(if k == 0 { top < 2.0 } else { top > 50.0 }, "the box that it is culled by ends at {top}");
    }
}

#[test]
fn cross_fades_modes_and_the_materials_clip_play() {
    let kit = sample(|_| ());
    let mut imported = Imported::of(&kit.import());
    let wgsl = unity::shape(&kit.folder);
    let surface = std::fs::read_to_string(kit.folder.join("VatSurface.hlsl")).expect("VatSurface.hlsl");
    let hold = |frame: f64| [frame, 0.0, 1.0, 0.0];
    let walk = [0.0, 4.0, 8.0, 0.0]; // frames 0 to 4, 8 a second
    let instances = [
        [hold(2.0), [0.0; 4], [0.0; 4]],
        [hold(3.0), [0.0; 4], [0.0; 4]],
        [hold(3.0), hold(2.0), [1.0, 0.5, 0.0, 0.0]], // faded in over two seconds from 1 on
        [walk, [0.0; 4], [0.0; 4]],
        [walk, [0.0; 4], [0.0, 0.0, 1.0, 0.0]], // stepped
        [walk, [0.0; 4], [0.0, 0.0, 2.0, 0.0]], // forth and back
        [[0.0; 4]; 3],                          // the material's
    ];
    imported.set("_VatClip", &walk);
    let vertex = 4000;
    let at = |instance: usize, now: f64| imported.show(wgsl, &surface, &instances, &[(vertex, instance, now)])[0][0];
    let mix = |a: V3, b: V3, t: f64| support::decode::mix(a, b, t);
    let near = |what: &str, a: V3, b: V3| assert!((0..3).all(|c| (a[c] - b[c]).abs() < 1e-6), "{what}: {a:?} {b:?}");
    let [two, three] = [at(0, 9.0), at(1, 9.0)];
    let gap = (0..3).map(|c| (two[c] - three[c]).abs()).fold(0.0, f64::max);
    assert!(gap > 1e-3, "the frames differ by {gap}");
    for (now, amount) in [(0.0, 0.0), (1.0, 0.0), (1.5, 0.25), (2.0, 0.5), (2.9375, 0.96875), (3.0, 1.0), (50.0, 1.0)] {
        near(&format!("faded at {now}"), at(2, now), mix(two, three, amount));
    }
    near("between frames", at(3, 0.3125), mix(two, three, 0.5));
    near("stepped", at(4, 0.3125), two);
    near("stepped, at the next", at(4, 0.375), three);
    near("forth", at(5, 0.3125), mix(two, three, 0.5));
    near("back", at(5, 0.65625), mix(two, three, 0.75)); // 5.25 of 8 is 2.75 on the way back
    near("round again instead", at(3, 0.8125), mix(two, three, 0.5)); // 6.5 of 4 is 2.5
    near("the material's", at(6, 0.3125), mix(two, three, 0.5));
}

/// What stands between braces, and its keywords: enough of ShaderLab to find what does not belong.
#[derive(Debug)]
struct Block {
    head: String,
    inside: Vec<Block>,
    code: String,
}

/// Reads ShaderLab strictly: braces, strings and code blocks must close, and each block has a head.
fn shader_lab(text: &str) -> Result<Vec<Block>, String> {
    let mut open: Vec<Block> = vec![Block { head: String::new(), inside: Vec::new(), code: String::new() }];
    let mut head = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.split("//").next().unwrap_or("").trim();
        if line == "HLSLPROGRAM" || line == "HLSLINCLUDE" {
            let code: Vec<&str> = lines.by_ref().take_while(|l| l.trim() != "ENDHLSL").collect();
            let block = open.last_mut().ok_or("code outside of all blocks")?;
            if line == "HLSLPROGRAM" && !block.head.ends_with("Pass") || !block.code.is_empty() {
                return Err(format!("code in {:?}", block.head));
            }
            block.code = code.join("\n") + "\n";
            continue;
        }
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '"' => {
                    quoted = !quoted;
                    head.push(c);
                }
                '{' if !quoted => {
                    open.push(Block { head: std::mem::take(&mut head).trim().to_owned(), inside: Vec::new(), code: String::new() });
                }
                '}' if !quoted => {
                    let mut done = open.pop().ok_or("one brace too many")?;
                    done.code.insert_str(0, std::mem::take(&mut head).trim());
                    open.last_mut().ok_or("one brace too many")?.inside.push(done);
                }
                c => head.push(c),
            }
        }
        if quoted {
            return Err(format!("a string does not end: {line}"));
        }
        head.push('\n');
    }
    match (open.pop(), open.is_empty()) {
        (Some(top), true) if head.trim().is_empty() => Ok(top.inside),
        _ => Err("a brace does not close".into()),
    }
}

fn shader_text() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/targets/unity/Vat.shader")).expect("Vat.shader")
}

fn read_source(name: &str) -> String {
    std::fs::read_to_string(format!("{}/src/targets/unity/{name}", env!("CARGO_MANIFEST_DIR"))).expect("a source")
}

#[test]
fn the_shader_is_whole_and_its_properties_are_those_of_the_block() {
    let text = shader_text();
    let blocks = shader_lab(&text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].head, "Shader \"Vatbake/Vat\"");
    // a brace, a quote or an end of code less is found
    for gone in ["    FallBack Off\n}", "ENDHLSL\n        }\n\n        Pass", "ENDHLSL", "\"Vatbake/Vat\""] {
        let spoilt = text.replacen(gone, &gone[..gone.len() - 1], 1);
        assert!(spoilt != text && shader_lab(&spoilt).is_err(), "{gone}");
    }
    let find = |head: &str| blocks[0].inside.iter().find(|b| b.head.ends_with(head)).unwrap_or_else(|| panic!("no {head}"));

    // what the SRP batcher asks for: each property that is no texture and no render state is in UnityPerMaterial, and the reverse
    let properties: Vec<(String, String)> = text
        .split_once("SubShader")
        .expect("a SubShader")
        .0
        .lines()
        .filter_map(|line| line.split_once("(\""))
        .map(|(name, rest)| {
            let name = name.rsplit([' ', ']']).next().expect("a name").to_owned();
            let kind = rest.rsplit_once(") =").expect("a default").0.rsplit_once(", ").map(|(_, kind)| kind.to_owned());
            (name, kind.expect("a type"))
        })
        .collect();
    assert!(properties.len() > 25, "{properties:?}");
    let states = ["_Cull", "_SrcBlend", "_DstBlend", "_ZWrite"];
    let mut declared: Vec<String> =
        properties.iter().filter(|(n, k)| k != "2D" && !states.contains(&n.as_str())).map(|p| p.0.clone()).collect();
    let surface = read_source("VatSurface.hlsl");
    let mut held: Vec<String> = unity::members(&surface).into_iter().map(|(_, name)| name).filter(|n| n != "_BaseMap_ST").collect();
    declared.sort();
    held.sort();
    assert_eq!(declared, held);
    for (name, _) in properties.iter().filter(|(_, kind)| kind == "2D") {
        assert!(surface.contains(&format!("({name});")), "no texture {name} in the code");
    }
    // render states name properties
    for state in states {
        assert!(text.contains(&format!("[{state}]")) && properties.iter().any(|(name, _)| name == state), "{state}");
    }
    // what the importer sets is there
    let importer = [read_source("VatImporter.cs"), read_source("VatMaterials.cs")].concat();
    let set: Vec<&str> = importer.split("\"_").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let keywords = ["NORMALMAP", "UNLIT", "ALPHATEST_ON", "SURFACE_TYPE_TRANSPARENT"];
    assert!(keywords.iter().all(|k| set.contains(k) && text.contains(&format!("_{k}\n"))));
    let others = set.iter().filter(|n| !keywords.contains(n) && **n != "data"); // the end of a picture's name
    let unknown: Vec<_> = others.filter(|n| !properties.iter().any(|(name, _)| name[1..] == ***n)).collect();
    assert!(set.len() > 25 && unknown.is_empty(), "{unknown:?}");
    let crowd = read_source("VatSpawner.cs");
    for name in ["_VatInstanceClip", "_VatInstanceFrom", "_VatInstanceFade", "_VatClock"] {
        assert!(crowd.contains(name) && surface.contains(name), "{name}");
    }

    let modes: Vec<&str> =
        find("SubShader").inside.iter().filter(|b| b.head.ends_with("Pass")).map(|pass| pass.inside[0].code.as_str()).collect();
    let wanted = ["UniversalForwardOnly", "ShadowCaster", "DepthOnly", "DepthNormalsOnly", "MotionVectors"];
    assert_eq!(modes.len(), wanted.len(), "{modes:?}");
    for (found, mode) in modes.iter().zip(wanted) {
        assert!(found.starts_with(&format!("\"LightMode\" = \"{mode}\"")), "{found} for {mode}");
    }
}

#[test]
fn every_pass_compiles_in_every_variant() {
    let kit = sample(|o| (o.clips, o.normals) = (vec!["Walk".into()], Normals::None));
    let folder = unity::shader_folder(&kit.folder);
    let text = shader_text();
    let include = text.split_once("HLSLINCLUDE").expect("the common part").1.split_once("ENDHLSL").expect("its end").0;
    let mut compiled = 0;
    for pass in text.split("HLSLPROGRAM").skip(1).map(|p| p.split_once("ENDHLSL").expect("its end").0) {
        let pragma =
            |word: &str| pass.split(&format!("#pragma {word} ")).nth(1).and_then(|r| r.split_whitespace().next()).expect("an entry");
        let keywords: Vec<&str> = pass
            .lines()
            .filter(|l| {
                l.contains("#pragma shader_feature") || l.contains("#pragma multi_compile_") || l.contains("#pragma multi_compile ")
            })
            .flat_map(|l| l.split_whitespace().skip(2))
            .filter(|k| *k != "_")
            .collect();
        let code: String =
            [include, pass].concat().lines().filter(|l| !l.trim().starts_with("#pragma")).map(|l| format!("{l}\n")).collect();
        let all = [vec![], keywords.clone(), vec!["INSTANCING_ON"]];
        for set in keywords.iter().map(|k| vec![*k]).chain(all) {
            let defines: String = set.iter().map(|k| format!("#define {k} 1\n")).collect();
            for (stage, entry) in [("vert", pragma("vertex")), ("frag", pragma("fragment"))] {
                let spirv = unity::glslang(folder.path(), &format!("{defines}{code}"), stage, entry);
                assert!(spirv.unwrap_or_else(|e| panic!("{entry} {set:?}: {e}")).len() > 200);
                compiled += 1;
            }
        }
        // the vertex stage goes through the decode: without it, nothing compiles
        let broken = code.replace("vatbake_shape(", "vatbake_shape_gone(");
        assert!(unity::glslang(folder.path(), &broken, "vert", pragma("vertex")).is_err());
    }
    assert!(compiled > 50, "{compiled}");
}

#[test]
fn the_stand_ins_find_a_wrong_call() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = unity::programs();
    let references = ["UnityEngine", "UnityEditor"].map(|name| format!("-r:{}", library.join(format!("{name}.dll")).display()));
    let wrong = [
        ("VatSpawner.cs", "SetVectorArray(ClipsId, chunk.clips)", "SetVectors(ClipsId, chunk.clips)"),
        ("VatImporter.cs", "ctx.SetMainObject(shown)", "ctx.SetMainAsset(shown)"),
        ("VatImporter.cs", "texture.Apply(false, false)", "texture.Apply(false, \"no\")"),
    ];
    for (file, right, instead) in wrong {
        let mut files = unity::sources();
        let place = files.iter_mut().find(|f| f.ends_with(file)).expect("the file");
        let text = std::fs::read_to_string(&*place).expect("a source");
        assert_eq!(text.matches(right).count(), 1, "{right}");
        *place = folder.path().join(file);
        std::fs::write(&*place, text.replace(right, instead)).expect("a copy");
        let arguments = ["-d:UNITY_EDITOR", "-target:library", "-out:wrong.dll", references[0].as_str(), references[1].as_str()];
        let told = unity::try_compile(folder.path(), &arguments, &files);
        assert!(told.as_ref().is_err_and(|e| e.contains(file)), "{instead}: {told:?}");
    }
}

/// Unity finds scripts of components and assets by the name of their file; shared names must not clash between two bakes.
#[test]
fn the_files_are_those_of_every_bake() {
    let baked = bake::bake_fixture(&animated(), |_| ());
    let text = std::fs::read(baked.vat.folder.join("fixture.vat.json")).expect("the sidecar");
    let mut sidecar = vatbake::output::sidecar::read(&text).expect("a sidecar");
    let files = Target::Unity.files(&Described { name: "fixture", sidecar: &sidecar });
    let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
    insta::assert_snapshot!("unity_names", names.join("\n"));
    let text = |name: &str| files.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("no {name}")).text.clone();
    insta::assert_snapshot!("unity_stub", text("fixture.vatbake"));
    insta::assert_snapshot!("unity_readme", text("fixture_README.md"));
    assert!(text("fixture_README.md").lines().count() <= 10);
    assert_eq!(text("VatPlayback.hlsl"), Language::Hlsl.source(), "the decode is the one of shaders/playback");
    assert!(files.iter().all(|f| !f.text.contains("{{")), "a placeholder is left");
    for class in ["VatBake", "VatSpawner", "VatImporter"] {
        assert!(text(&format!("{class}.cs")).contains(&format!("public sealed class {class} ")), "{class}");
    }
    for editor in ["VatImporter.cs", "VatGlb.cs", "VatJson.cs", "VatMaterials.cs"] {
        let lines: Vec<String> = text(editor).lines().filter(|l| !l.starts_with("//")).map(str::to_owned).collect();
        assert_eq!(
            (lines.first().map(String::as_str), lines.last().map(String::as_str)),
            (Some("#if UNITY_EDITOR"), Some("#endif")),
            "{editor}"
        );
    }

    // a clip may be called anything
    sidecar.clips[0].name = Some("a`b\"c\\d\n{{clips}}".into());
    let again = Target::Unity.files(&Described { name: "other", sidecar: &sidecar });
    let shared = |files: &[vatbake::targets::KitFile]| -> Vec<_> { files.iter().filter(|f| f.name.starts_with("Vat")).cloned().collect() };
    assert_eq!(shared(&files), shared(&again), "what two bakes share is the same");
    let readme = &again.iter().find(|f| f.name == "other_README.md").expect("a README").text;
    assert!(readme.contains("`a?b\"c\\d?{{clips}}`") && readme.contains("bake.Find(\"a?b\\\"c\\\\d?{{clips}}\")"), "{readme}");
}

/// A way that was taken out of a clip is in the clip, frame by frame.
#[test]
fn root_motion_is_in_the_clip() {
    let doc = walker();
    let input = Input::Bytes { name: "walker.glb".into(), bytes: doc.to_glb() };
    let kit = Kit::bake(input, Options { fps: Fps::Rate(4.0), root_motion: RootMotion::Strip, allow_static: true, ..cpu() });
    let told = kit.import();
    let way = &kit.sidecar["clips"][0]["root_motion"];
    let single = |v: f64| f64::from(v as f32);
    let points = unity::points(&way["translation"]).into_iter().map(|p| p.map(single)).collect::<Vec<_>>();
    assert_eq!(unity::points(&told["clips"][0]["root_translation"]), points);
    assert_eq!(unity::numbers(&told["clips"][0]["root_yaw"]), unity::numbers(&way["yaw"]).into_iter().map(single).collect::<Vec<_>>());
    assert!(points.len() == 5 && (points[4][0] + 2.0).abs() < 1e-5, "two metres along glTF's x, which is Unity's -x: {points:?}");
    assert_eq!(sample(|_| ()).import()["clips"][0]["root_yaw"], json!([]));
}

/// A skin whose joint walks two metres along x within a second.
fn walker() -> support::Doc {
    let mut doc = models::Rig::new(vec![json!({ "name": "Hips" })]).doc();
    doc.animate(Some("Walk"), &[(1, "translation", "LINEAR", &[0.0, 1.0][..], support::vec3(&[[0.0; 3], [2.0, 0.0, 0.0]]))]);
    doc
}

/// A triangle that moves for a second.
fn animated() -> support::Doc {
    let mut doc = models::rigid(&models::TRIANGLE);
    doc.animate(Some("Move"), &[(0, "translation", "LINEAR", &[0.0, 1.0][..], support::vec3(&[[0.0; 3], [1.0, 0.0, 0.0]]))]);
    doc
}
