//! The tests' own tools: the fixtures are valid glTF, the decoder reads a set of files that was written by hand, and notices what
//! is wrong with it; the outside validators run.

mod support;

use std::path::Path;

use image::{ImageBuffer, Rgba};
use serde_json::{Value, json};
use support::bake::{assert_near, names_in};
use support::decode::{Mode, Vat, decode};
use support::models::{QUARTER_Z, Rig, TRIANGLE, along_x, cloud, cube, mesh, morphing, normals, rigid, sliding};
use support::validate::{issues_of_glb, issues_of_json};
use support::{Doc, Type, oracle, scalars, vec2, vec3, vec4};
use tempfile::TempDir;

/// Vertices of the hand-written bake, in the order of the GLB's buffer; the lookup names them 2, 0, 1.
const NUMBERS: [usize; 3] = [2, 0, 1];

/// Writes a bake of one triangle in two clips of two frames: x of vertex i is its number plus a tenth a frame.
fn write_by_hand(folder: &Path) -> Value {
    let rest = NUMBERS.map(|i| [i as f64, 10.0, 0.0]);
    let uv = NUMBERS.map(|i| [(i as f64 + 0.5) / 3.0, 0.5]);
    let mut doc = Doc::new();
    let attributes =
        vec![("POSITION", vec3(&rest)), ("NORMAL", normals(3)), ("TEXCOORD_0", vec2(&[[0.0; 2]; 3])), ("TEXCOORD_1", vec2(&uv))];
    let m = mesh(&mut doc, attributes);
    let indices = doc.add(scalars(&[0.0, 1.0, 2.0]).of(Type::U8));
    doc.json["meshes"][m]["primitives"][0]["indices"] = json!(indices);
    doc.root(json!({ "mesh": m }));
    std::fs::write(folder.join("hand_vat.glb"), doc.to_glb()).expect("the mesh");
    let texel = |x: u32, y: u32| -> Rgba<u16> { if x < 3 && y < 4 { Rgba([(y * 6553) as u16, 0, 65535, 65535]) } else { Rgba([0; 4]) } };
    ImageBuffer::from_fn(4, 4, texel).save(folder.join("hand_vat_position.png")).expect("a texture");
    let normal = |x: u32, _: u32| -> Rgba<u16> { if x < 3 { Rgba([65535, 32768, 32768, 65535]) } else { Rgba([0; 4]) } };
    ImageBuffer::from_fn(4, 4, normal).save(folder.join("hand_vat_normal.png")).expect("a texture");
    let clip = |name: &str, first: u32| {
        json!({ "name": name, "animation": 0, "first_frame": first, "frame_count": 2, "fps": 10.0, "start": 0.0, "length": 0.1, "loop": "once",
            "stepped": false, "bounds": { "min": [0, 0, 0], "max": [1, 1, 1] }, "largest_displacement": 0.1 })
    };
    let texture = |role: &str, encoding: &str| {
        json!({ "role": role, "file": format!("hand_vat_{role}.png"), "pixel": "rgba16unorm", "encoding": encoding, "scale": [1.0, 1.0, 2.0],
            "bias": [0.0, -10.0, -1.0], "crc32": "0", "error": { "max": 0.0, "rms": 0.0, "unit": "metre" } })
    };
    json!({
        "format": "vatbake", "version": 1, "vertex_count": 3, "frame_count": 4,
        "layout": { "width": 4, "height": 4, "blocks": 1, "order": "block-major", "first_row": "top" },
        "textures": [texture("position", "offset-unorm"), texture("normal", "unit-unorm")],
        "mesh": { "file": "hand_vat.glb", "lookup": { "texcoord": 1, "lanes": 3, "groups": 1 },
            "parts": [{ "node": 0, "mesh": 0, "primitive": 0, "first_vertex": 0, "vertex_count": 3, "first_index": 0, "index_count": 3 }] },
        "clips": [clip("a", 0), clip("b", 2)],
    })
}

fn decode_with(folder: &Path, sidecar: &Value) -> Result<Vat, String> {
    let file = folder.join("hand.vat.json");
    std::fs::write(&file, sidecar.to_string()).expect("the sidecar");
    decode(&file)
}

#[test]
fn the_decoder_reads_what_the_format_says() {
    let folder = TempDir::new().expect("a folder");
    let sidecar = write_by_hand(folder.path());
    let vat = decode_with(folder.path(), &sidecar).expect("a set");
    for frame in 0..4 {
        for i in 0..3 {
            // y: rest 10, offset -10; z: rest 0, offset 2 - 1
            assert_near(vat.position(frame, i), [i as f64 + frame as f64 * 6553.0 / 65535.0, 0.0, 1.0], 1e-12);
            assert_near(vat.normal(frame, i), [1.0, 0.0, 0.0], 1e-4);
        }
    }
    assert_eq!(vat.indices, NUMBERS);
    assert_eq!(vat.address(3, 2), (2, 3));
    let step = 6553.0 / 65535.0;
    assert_near(vat.play(1, 0.05, Mode::Once, 1), [1.0 + 2.5 * step, 0.0, 1.0], 1e-12);
    assert_near(vat.play(1, 9.0, Mode::Once, 1), [1.0 + 3.0 * step, 0.0, 1.0], 1e-12);
    assert!((vat.half_step(2) - 1.0 / 65535.0).abs() < 1e-15);
}

#[test]
fn the_decoder_notices_what_is_wrong() {
    let folder = TempDir::new().expect("a folder");
    let sidecar = write_by_hand(folder.path());
    for (pointer, value) in [
        ("/format", json!("other")),
        ("/layout/width", json!(8)),
        ("/layout/first_row", json!("bottom")),
        ("/textures/0/pixel", json!("rgba8unorm")),
        ("/vertex_count", json!(2)),      // a lookup beyond the vertices
        ("/vertex_count", json!(4)),      // a vertex without a lookup
        ("/mesh/lookup/lanes", json!(1)), // two vertices of one number
        ("/mesh/lookup/texcoord", json!(3)),
        ("/clips/0/fps", json!("10")),
    ] {
        let mut broken = sidecar.clone();
        *broken.pointer_mut(pointer).expect("a member") = value;
        assert!(decode_with(folder.path(), &broken).is_err(), "{pointer}");
    }
}

#[test]
fn fixtures_are_valid() {
    let folder = TempDir::new().expect("a folder");
    let mut cubes = Doc::new();
    let mesh = cube(&mut cubes);
    cubes.root(json!({ "mesh": mesh }));
    let mut turning = Rig::new(vec![json!({}), json!({})]).influences([0.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]).doc();
    turning.animate(Some("turn"), &[(1, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z]))]);
    let sparse = vec3(&TRIANGLE).without_base().sparse(&[1], &[0.0, 1.0, 0.0]);
    for (what, doc) in [
        ("rigid", rigid(&TRIANGLE)),
        ("sliding", sliding("STEP", &[0.0, 1.0], &[0.0, 1.0])),
        ("rig", turning),
        ("morphing", morphing(&TRIANGLE, vec![vec![("POSITION", vec3(&along_x(&[1.0, 2.0, 3.0])))], vec![("POSITION", sparse)]])),
        ("cube", cubes),
        ("cloud", cloud(7, |i| [i as f64, (i * i) as f64, 0.0])),
    ] {
        let file = folder.path().join(format!("{what}.glb"));
        std::fs::write(&file, doc.to_glb()).expect("a file");
        let errors: Vec<Value> = issues_of_glb(&file).into_iter().filter(|i| i["severity"] == 0).collect();
        assert!(errors.is_empty(), "{what}: {errors:#?}");
        let text: Value = serde_json::from_slice(&doc.to_gltf()).expect("JSON");
        assert!(text["buffers"][0]["uri"].as_str().is_some_and(|u| u.starts_with("data:")));
    }
}

#[test]
fn the_validators_find_something() {
    let folder = TempDir::new().expect("a folder");
    let mut doc = rigid(&TRIANGLE);
    doc.json["nodes"][0]["mesh"] = json!(5);
    let file = folder.path().join("broken.glb");
    std::fs::write(&file, doc.to_glb()).expect("a file");
    assert!(!issues_of_glb(&file).is_empty());
    let schema = folder.path().join("schema.json");
    std::fs::write(&schema, json!({ "type": "object", "required": ["a"] }).to_string()).expect("a schema");
    for (text, issues) in [("{\"a\":1}", 0), ("{}", 1)] {
        let file = folder.path().join("value.json");
        std::fs::write(&file, text).expect("a file");
        assert_eq!(issues_of_json(&file, &schema).len(), issues, "{text}");
    }
    assert_eq!(names_in(folder.path()).len(), 3);
}

#[test]
fn every_oracle_reads() {
    for model in oracle::models().unwrap_or_default() {
        let expected = oracle::load(&model);
        assert!(model.file.exists() && expected.size > 0.0 && expected.size.is_finite(), "{}", model.name);
        for clip in &expected.clips {
            assert!(clip.frames.is_sorted() && clip.frames.last().is_some_and(|f| *f < clip.total), "{}: {:?}", model.name, clip.name);
            let points = expected.points(clip, clip.frames.len() - 1, expected.primitives.last().expect("a primitive"));
            assert!(points.iter().flatten().all(|c| c.is_finite()), "{}", model.name);
        }
    }
}
