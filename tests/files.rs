//! The files themselves: what is in them byte by byte, that they are all there or none, that they never replace the user's own,
//! that outside validators find nothing, and that the errors they state are the errors they have.

mod support;

use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};
use support::bake::{assert_near, input, names_in, options, sidecar_of};
use support::decode::V3;
use support::models::{PIXEL, QUARTER_Z, Rig, TRIANGLE, cloud, cube, morphing, rigid, sliding};
use support::validate::{issues_of_glb, issues_of_json, schema_into};
use support::{Baked, Doc, Type, bake_fixture, refuse, scalars, vec2, vec3, vec4};
use tempfile::TempDir;
use vatbake::options::{Format, Normals, Position};
use vatbake::report::Step;
use vatbake::{Error, Input, Options, Progress, Request, Silent};

/// A character in small: skin, rigid part, morph, material with a picture, two clips.
fn character() -> Doc {
    let mut rig = Rig::new(vec![json!({ "name": "hip" }), json!({ "name": "knee", "translation": [0.0, 1.0, 0.0] })]);
    rig.joints = vec4(&[[0.0, 1.0, 0.0, 0.0]; 3]).of(Type::U8);
    rig.weights = vec4(&[[1.0, 0.0, 0.0, 0.0], [0.25, 0.75, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]);
    let mut doc = rig.doc();
    let uv = doc.add(vec2(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]));
    let target = doc.add(vec3(&[[0.0, 0.5, 0.0]; 3]));
    let primitive = &mut doc.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["TEXCOORD_0"] = json!(uv);
    primitive["targets"] = json!([{ "POSITION": target }]);
    primitive["material"] = json!(0);
    doc.push(
        "materials",
        json!({ "name": "skin", "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 }, "roughnessFactor": 0.5 },
        "extras": { "kept": [1, 2, 3] } }),
    );
    doc.push("textures", json!({ "source": 0, "sampler": 0 }));
    doc.push("samplers", json!({ "magFilter": 9728 }));
    let view = doc.view(PIXEL);
    doc.push("images", json!({ "name": "red", "bufferView": view, "mimeType": "image/png" }));
    let mesh = cube(&mut doc);
    let hat = doc.node(json!({ "name": "hat", "mesh": mesh, "translation": [0.0, 2.0, 0.0] }));
    doc.json["nodes"][2]["children"] = json!([hat]);
    doc.animate(
        Some("bend"),
        &[
            (2, "rotation", "LINEAR", &[0.0, 0.5, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z, [0.0, 0.0, 0.0, 1.0]])),
            (0, "weights", "LINEAR", &[0.0, 0.5, 1.0], scalars(&[0.0, 1.0, 0.0])),
        ],
    );
    doc.animate(Some("slide"), &[(1, "translation", "STEP", &[0.0, 0.5, 1.0], vec3(&[[0.0; 3], [1.0, 2.0, 3.0], [0.5, 0.0, 0.0]]))]);
    doc
}

fn png(o: &mut Options) {
    o.format = Format::Png16;
}

/// The types of a PNG's chunks in order.
fn chunks_of(file: &Path) -> Vec<String> {
    let bytes = std::fs::read(file).expect("a texture");
    assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
    let mut at = 8;
    let mut chunks = Vec::new();
    while at < bytes.len() {
        let length = u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
        chunks.push(String::from_utf8_lossy(&bytes[at + 4..at + 8]).into_owned());
        at += 12 + length;
    }
    chunks
}

#[test]
fn t01_pngs_hold_no_chunk_that_recolours_them() {
    for (format, depth) in [(Format::Png16, 16), (Format::Png8, 8)] {
        let baked = bake_fixture(&character(), |o| o.format = format);
        for file in [&baked.position.file, &baked.normal.as_ref().expect("normals").file] {
            let path = baked.folder.path().join(file);
            let mut chunks = chunks_of(&path);
            chunks.dedup();
            assert_eq!(chunks, ["IHDR", "IDAT", "IEND"]);
            let header = std::fs::read(&path).expect("a texture");
            assert_eq!(header[24..29], [depth, 6, 0, 0, 0], "RGBA, not interlaced");
        }
    }
}

#[test]
fn t01_every_value_of_16_bits_is_exact() {
    // Vertex i stands at x = i / 65535: absolute over 0..1 its texel is i.
    let doc = cloud(65536, |i| [i as f64 / 65535.0, 0.0, 0.0]);
    let baked = bake_fixture(&doc, |o| (o.format, o.position, o.max_size) = (Format::Png16, Position::Absolute, 1024));
    assert_eq!((baked.position.scale[0], baked.position.bias[0]), (1.0, 0.0));
    for i in 0..65536 {
        let (x, y) = baked.address(0, i);
        assert_eq!(baked.position.image.raw(x, y), [i as f64, 0.0, 0.0, 65535.0]);
    }
}

#[test]
fn t05_halfs_out_of_range_are_refused() {
    let doc = sliding("LINEAR", &[0.0, 1.0], &[0.0, 70000.0]);
    for position in [Position::Offset, Position::Absolute] {
        let error = refuse(&doc, |o| (o.format, o.position) = (Format::Exr16, position));
        assert!(matches!(error, Error::Bake(_)) && error.to_string().contains("exr32"), "{error}");
    }
    let baked = bake_fixture(&sliding("LINEAR", &[0.0, 1.0], &[0.0, 65000.0]), |o| o.format = Format::Exr16);
    assert_near(baked.position(30, 0), [65001.0, 0.0, 0.0], 16.0);
    let baked = bake_fixture(&doc, |o| o.format = Format::Exr32);
    assert_near(baked.position(30, 0), [70001.0, 0.0, 0.0], 0.01);
}

#[test]
fn two_bakes_give_the_same_bytes() {
    for format in [Format::Png16, Format::Png8, Format::Exr16, Format::Exr32] {
        let bake = || bake_fixture(&character(), |o| o.format = format);
        let (first, second) = (bake(), bake());
        assert!(first.data_files().len() == 3 && first.data_files() == second.data_files(), "{format:?}");
        let sidecar = |b: &Baked| std::fs::read(sidecar_of(&b.report)).expect("the sidecar");
        assert_eq!(sidecar(&first), sidecar(&second), "{format:?}");
    }
}

#[test]
fn a_bake_writes_these_files_and_no_others() {
    let baked = bake_fixture(&character(), png);
    let expected = ["fixture.vat.json", "fixture_vat.glb", "fixture_vat_normal.png", "fixture_vat_position.png"];
    assert_eq!(names_in(baked.folder.path()), expected);
    assert_eq!(baked.report.files.len(), 4);
    assert!(baked.report.files.last().expect("a file").ends_with("fixture.vat.json"), "the sidecar comes last");
    let without = bake_fixture(&character(), |o| (o.format, o.normals) = (Format::Exr16, Normals::None));
    assert_eq!(names_in(without.folder.path()), ["fixture.vat.json", "fixture_vat.glb", "fixture_vat_position.exr"]);
    let named = bake_fixture(&character(), |o| (o.format, o.name) = (Format::Png16, Some("hero".into())));
    assert_eq!(named.position.file, "hero_vat_position.png");
}

#[test]
fn names_that_no_file_system_takes_are_changed() {
    for name in ["a/b", "..", "CON", "x:y", "trailing.", "a\\b", "a*?b"] {
        let baked = bake_fixture(&character(), |o| o.name = Some(name.into()));
        for file in names_in(baked.folder.path()) {
            assert!(!file.contains(['/', '\\', ':', '*', '?', '|', '<', '>', '"']), "{file}");
            let stem = file.split('.').next().expect("a stem");
            assert!(!stem.is_empty() && !stem.eq_ignore_ascii_case("con"), "{file}");
        }
        assert!(baked.warned(vatbake::warning::Code::NameChanged) > 0, "{name}");
    }
}

/// Asks to stop at the n-th question, or once a step has begun.
struct Stop {
    questions: std::cell::Cell<i64>,
    at: Option<Step>,
    reached: bool,
}
impl Progress for Stop {
    fn begin(&mut self, step: Step, _total: u64) {
        self.reached |= self.at == Some(step);
    }
    fn is_cancelled(&self) -> bool {
        self.questions.set(self.questions.get() - 1);
        self.reached || (self.at.is_none() && self.questions.get() < 0)
    }
}

#[test]
fn an_interrupted_bake_leaves_nothing_new() {
    let mut stops: Vec<Stop> =
        [Step::Plan, Step::Bounds, Step::Texels].map(|at| Stop { questions: 0.into(), at: Some(at), reached: false }).into();
    stops.push(Stop { questions: 0.into(), at: None, reached: false });
    for mut stop in stops {
        let folder = TempDir::new().expect("a folder");
        let output = folder.path().join("new");
        let request = Request { input: input(&character()), output: output.clone(), options: options() };
        let result = vatbake::bake(&request, &mut stop);
        assert!(matches!(result, Err(Error::Interrupted)), "{:?}: {result:?}", stop.at);
        assert_eq!(names_in(&output), Vec::<String>::new());
    }
}

#[test]
fn a_failed_bake_leaves_the_earlier_set_as_it_was() {
    let folder = TempDir::new().expect("a folder");
    let run = |doc: &Doc, options: Options| {
        vatbake::bake(&Request { input: input(doc), output: folder.path().to_path_buf(), options }, &mut Silent)
    };
    run(&character(), options()).expect("a bake");
    let all = || -> Vec<(String, Vec<u8>)> {
        names_in(folder.path()).into_iter().map(|n| (n.clone(), std::fs::read(folder.path().join(n)).expect("a file"))).collect()
    };
    let before = all();
    assert_eq!(before.len(), 4);
    // Out of half's range: found only while texels are made.
    run(&sliding("LINEAR", &[0.0, 1.0], &[0.0, 70000.0]), Options { format: Format::Exr16, ..options() }).expect_err("refused");
    run(&character(), Options { max_size: 16, ..options() }).expect_err("refused");
    assert!(before == all());
    // A later bake replaces the whole set; what the new one does not have must not stay beside it as if it did.
    run(&character(), Options { format: Format::Exr32, ..options() }).expect("a bake");
    assert!(support::decode::decode(&folder.path().join("fixture.vat.json")).is_ok());
}

#[test]
fn strict_and_dry_runs_write_nothing() {
    let mut doc = character();
    doc.json["nodes"][1]["rotation"] = json!([0.0, 0.0, 0.0, 2.0]);
    assert!(matches!(refuse(&doc, |o| o.strict = true), Error::Strict(w) if !w.is_empty()));
    bake_fixture(&character(), |o| o.strict = true); // notes are no warnings

    let folder = TempDir::new().expect("a folder");
    let options = Options { dry_run: true, ..options() };
    let report =
        vatbake::bake(&Request { input: input(&character()), output: folder.path().join("new"), options }, &mut Silent).expect("a plan");
    assert!(report.files.is_empty() && report.frame_count == 62 && report.vertex_count == 27, "{report:?}");
    assert_eq!(names_in(folder.path()), Vec::<String>::new());
}

/// Writes these bytes as the input, bakes into the same folder as `hero`, and expects a refusal that changes nothing.
fn must_not_replace(file: &str, bytes: &[u8]) {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join(file);
    std::fs::write(&path, bytes).expect("the input");
    let request = |output: &Path| Request {
        input: Input::File(path.clone()),
        output: output.to_path_buf(),
        options: Options { name: Some("hero".into()), format: Format::Png16, ..options() },
    };
    let error = vatbake::bake(&request(folder.path()), &mut Silent).expect_err("must be refused");
    assert!(matches!(error, Error::Usage(_)), "{file}: {error}");
    assert_eq!((names_in(folder.path()), std::fs::read(&path).expect("the input")), (vec![file.to_owned()], bytes.to_vec()));
    // By another way to the same folder.
    let around = folder.path().join("..").join(folder.path().file_name().expect("a name"));
    assert!(matches!(vatbake::bake(&request(&around), &mut Silent), Err(Error::Usage(_))), "{file}, another way");
}

#[test]
fn outputs_never_replace_inputs() {
    must_not_replace("hero_vat.glb", &character().to_glb());
    must_not_replace("HERO_VAT.GLB", &character().to_glb());
    // A picture that the model refers to.
    let mut doc = character();
    doc.json["images"][0] = json!({ "uri": "hero_vat_position.png" });
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("model.gltf"), doc.to_gltf()).expect("the input");
    std::fs::write(folder.path().join("hero_vat_position.png"), PIXEL).expect("the picture");
    let request = Request {
        input: Input::File(folder.path().join("model.gltf")),
        output: folder.path().to_path_buf(),
        options: Options { name: Some("hero".into()), format: Format::Png16, ..options() },
    };
    let error = vatbake::bake(&request, &mut Silent).expect_err("must be refused");
    assert!(matches!(error, Error::Usage(_)), "{error}");
    assert_eq!(std::fs::read(folder.path().join("hero_vat_position.png")).expect("the picture"), PIXEL);
}

#[test]
fn khronos_validator_is_content() {
    let mut unlit = character();
    unlit.json["materials"][0]["extensions"] = json!({ "KHR_materials_unlit": {} });
    unlit.json["extensionsUsed"] = json!(["KHR_materials_unlit"]);
    let mut bare = rigid(&TRIANGLE);
    bare.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().expect("attributes").remove("NORMAL");
    for (what, doc) in [("character", character()), ("unlit", unlit), ("bare", bare), ("large", cloud(70000, |i| [i as f64, 0.1, 0.7]))] {
        for keep_parts in [false, true] {
            let baked = bake_fixture(&doc, |o| (o.format, o.keep_parts) = (Format::Png16, keep_parts));
            let file = baked.folder.path().join("fixture_vat.glb");
            let issues = issues_of_glb(&file);
            assert!(issues.is_empty(), "{what}: {issues:#?}");
        }
    }
    // The validator does look: a broken file has issues.
    let baked = bake_fixture(&character(), png);
    let mut bytes = std::fs::read(baked.folder.path().join("fixture_vat.glb")).expect("the mesh");
    let length = bytes.len();
    bytes[length - 200..].fill(0xFF); // NaN among the numbers, indices out of range
    let broken = baked.folder.path().join("broken.glb");
    std::fs::write(&broken, bytes).expect("a file");
    assert!(!issues_of_glb(&broken).is_empty());
}

#[test]
fn sidecars_are_valid_against_the_schema() {
    let folder = TempDir::new().expect("a folder");
    let schema = schema_into(folder.path());
    for format in [Format::Png16, Format::Png8, Format::Exr16, Format::Exr32] {
        for doc in [character(), rigid(&TRIANGLE)] {
            let baked = bake_fixture(&doc, |o| o.format = format);
            let issues = issues_of_json(&sidecar_of(&baked.report), &schema);
            assert!(issues.is_empty(), "{format:?}: {issues:#?}");
        }
    }
    let alpha = bake_fixture(&character(), |o| (o.format, o.normals) = (Format::Png16, Normals::Alpha));
    assert!(issues_of_json(&sidecar_of(&alpha.report), &schema).is_empty());
    // The schema does ask for something: without a required member it is not met.
    for member in ["vertex_count", "layout", "textures", "clips", "mesh", "format"] {
        let mut broken = alpha.sidecar.clone();
        broken.as_object_mut().expect("an object").remove(member);
        let file = folder.path().join("broken.json");
        std::fs::write(&file, broken.to_string()).expect("a file");
        assert!(!issues_of_json(&file, &schema).is_empty(), "{member} is not required");
    }
}

#[test]
fn the_sidecar_says_what_it_is() {
    let baked = bake_fixture(&character(), png);
    let sidecar = &baked.sidecar;
    let hash = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect::<String>();
    assert_eq!(sidecar["source"], json!({ "file": "fixture.glb", "sha256": hash(&character().to_glb()), "scene": 0 }));
    assert_eq!(sidecar["space"], json!({ "up": "+y", "forward": "+z", "handedness": "right", "scale": 1.0 }));
    assert_eq!((sidecar["rest"].as_str(), sidecar["generator"].as_str()), (Some("shown"), Some(vatbake::GENERATOR)));
    let mesh = std::fs::read(baked.folder.path().join("fixture_vat.glb")).expect("the mesh");
    assert_eq!(sidecar["mesh"]["sha256"], json!(hash(&mesh)));
    for texture in [&baked.position, baked.normal.as_ref().expect("normals")] {
        assert_eq!(texture.crc32, format!("{:08x}", crc32fast::hash(&texture.image.bytes())), "of the texels, little-endian");
    }
    assert_eq!(sidecar["textures"][0]["upload"], "rgba16uint");
    assert_eq!(sidecar["textures"][0]["gpu_bytes"], json!(baked.width * baked.height * 8));
    assert_eq!((baked.clips[0].stepped, baked.clips[1].stepped), (false, true));
    let names: Vec<_> = sidecar["mesh"]["parts"].as_array().expect("parts").iter().map(|p| p["node_name"].clone()).collect();
    assert!(names.contains(&json!("hat")), "{names:?}");
}

#[test]
fn t13_numbers_parse_back_to_the_same_f32() {
    let baked = bake_fixture(&character(), png);
    fn walk(value: &serde_json::Value, check: &mut impl FnMut(f64)) {
        match value {
            serde_json::Value::Number(n) => check(n.as_f64().expect("a number")),
            serde_json::Value::Array(all) => all.iter().for_each(|v| walk(v, check)),
            serde_json::Value::Object(all) => all.values().for_each(|v| walk(v, check)),
            _ => {}
        }
    }
    let mut numbers = 0;
    walk(&baked.sidecar, &mut |n| {
        assert!(n.is_finite());
        numbers += 1;
    });
    assert!(numbers > 50);
    for texture in baked.sidecar["textures"].as_array().expect("textures") {
        for list in [&texture["scale"], &texture["bias"]] {
            // A shortest f32, widened, is nearer to its f32 than half a unit in the last place.
            walk(list, &mut |n| assert!((f64::from(n as f32) - n).abs() <= n.abs() * 2.0_f64.powi(-24)));
        }
    }
}

#[test]
fn d14_position_ranges_equal_the_stored_values() {
    let baked = bake_fixture(&rigid(&[[0.1, -0.2, 0.3], [1.0 / 3.0, 0.7, 1e-3], [2.0 / 3.0, 1e7, -0.3]]), |_| ());
    for shown in baked.glb.shown().expect("nodes") {
        let accessor = shown.json["attributes"]["POSITION"].as_u64().expect("an accessor") as usize;
        let values = baked.glb.values(accessor).expect("values");
        for c in 0..3 {
            let column: Vec<f64> = (0..values.count()).map(|i| values.get::<3>(i)[c]).collect();
            let json = &baked.glb.json["accessors"][accessor];
            let declared = |name: &str| json[name][c].as_f64().expect("a number") as f32;
            assert_eq!(declared("min"), column.iter().copied().fold(f64::INFINITY, f64::min) as f32);
            assert_eq!(declared("max"), column.iter().copied().fold(f64::NEG_INFINITY, f64::max) as f32);
        }
    }
}

#[test]
fn materials_and_pictures_are_carried_untouched() {
    let mut doc = character();
    doc.json["images"][0]["mimeType"] = json!("image/jpeg"); // wrong: what the bytes are counts
    doc.json["materials"][0]["extensions"] = json!({ "VENDOR_glow": { "strength": 2 } });
    doc.json["extensionsUsed"] = json!(["VENDOR_glow"]);
    let baked = bake_fixture(&doc, |_| ());
    let out = &baked.glb.json;
    let material = out["materials"].as_array().expect("materials").iter().find(|m| m["name"] == "skin").expect("the material");
    assert_eq!(material["extras"], json!({ "kept": [1, 2, 3] }));
    assert_eq!(material["extensions"], json!({ "VENDOR_glow": { "strength": 2 } }));
    assert_eq!(material["pbrMetallicRoughness"]["roughnessFactor"], 0.5);
    let texture = material["pbrMetallicRoughness"]["baseColorTexture"]["index"].as_u64().expect("a texture") as usize;
    let image = out["textures"][texture]["source"].as_u64().expect("an image") as usize;
    let view = out["images"][image]["bufferView"].as_u64().expect("a view") as usize;
    assert_eq!(baked.glb.view(view), Ok(PIXEL));
    assert_eq!(out["images"][image]["mimeType"], "image/png");
    for gone in ["skins", "animations", "cameras"] {
        assert!(out.get(gone).is_none(), "{gone}");
    }
    for shown in baked.glb.shown().expect("nodes") {
        assert!(shown.json.get("targets").is_none());
        let names = shown.json["attributes"].as_object().expect("attributes");
        assert!(names.keys().all(|n| !n.starts_with("JOINTS") && !n.starts_with("WEIGHTS")), "{names:?}");
    }
}

/// Largest distance, and root of the mean square, between what two bakes say of positions.
fn distance(a: &Baked, b: &Baked) -> (f64, f64) {
    let squared = |p: V3, q: V3| (0..3).map(|c| (p[c] - q[c]).powi(2)).sum::<f64>();
    let all: Vec<f64> = a.all_positions().concat().into_iter().zip(b.all_positions().concat()).map(|(p, q)| squared(p, q)).collect();
    (all.iter().copied().fold(0.0, f64::max).sqrt(), (all.iter().sum::<f64>() / all.len() as f64).sqrt())
}

#[test]
fn stated_errors_are_the_real_ones() {
    let exact = bake_fixture(&character(), |_| ());
    for (format, share) in [(Format::Png16, 65535.0), (Format::Png8, 255.0)] {
        let baked = bake_fixture(&character(), |o| o.format = format);
        let (max, rms) = distance(&exact, &baked);
        let texture = &baked.position;
        assert!((texture.error_max - max).abs() <= max * 0.01 + 1e-6, "{format:?}: stated {}, found {max}", texture.error_max);
        assert!((texture.error_rms - rms).abs() <= rms * 0.02 + 1e-6, "{format:?}: stated {}, found {rms}", texture.error_rms);
        let half_steps: f64 = texture.scale.iter().map(|s| (s / share / 2.0).powi(2)).sum::<f64>().sqrt();
        assert!(max > 0.0 && max <= half_steps * 1.001 + 1e-6, "{format:?}: {max}, at most {half_steps}");
        let angles = angle(&exact, &baked);
        let stated = baked.normal.as_ref().expect("normals").error_max;
        assert!((stated - angles).abs() <= angles * 0.05 + 0.002, "{format:?}: stated {stated} degrees, found {angles}");
    }
}

/// Largest angle between the normals of two bakes, degrees.
fn angle(a: &Baked, b: &Baked) -> f64 {
    let mut most: f64 = 0.0;
    for f in 0..a.frame_count {
        for i in 0..a.vertex_count {
            let (p, q) = (a.normal(f, i), b.normal(f, i));
            // By the chord: the cosine has no digits left for small angles.
            let chord = (0..3).map(|c| (p[c] - q[c]).powi(2)).sum::<f64>().sqrt();
            most = most.max(2.0 * (chord / 2.0).asin().to_degrees());
        }
    }
    most
}

#[test]
fn t12_normals_in_every_encoding() {
    // 10,000 directions spread evenly over the sphere, poles and axes among them.
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let direction = |i: usize| -> V3 {
        match i {
            0 => [0.0, 0.0, -1.0],
            1 => [0.0, 0.0, 1.0],
            2 => [-1.0, 0.0, 0.0],
            3 => [0.0, -1.0, 0.0],
            _ => {
                let z = 1.0 - 2.0 * (i as f64 + 0.5) / 10_000.0;
                let (sin, cos) = (i as f64 * golden).sin_cos();
                let r = (1.0 - z * z).sqrt();
                [r * cos, r * sin, z]
            }
        }
    };
    let mut doc = cloud(10_000, |i| [i as f64, 0.0, 0.0]);
    let normals = doc.add(vec3(&(0..10_000).map(direction).collect::<Vec<_>>()));
    doc.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(normals);
    let exact = bake_fixture(&doc, |_| ());
    for (format, normals, bits, most) in [
        (Format::Png16, Normals::Separate, None, 0.002),
        (Format::Png16, Normals::Separate, Some(8), 0.5),
        (Format::Png8, Normals::Separate, None, 0.5),
        (Format::Png16, Normals::Alpha, None, 1.0),
        (Format::Exr16, Normals::Separate, None, 0.06),
    ] {
        let baked = bake_fixture(&doc, |o| (o.format, o.normals, o.normal_bits) = (format, normals, bits));
        let found = angle(&exact, &baked);
        assert!(found > 0.0 && found < most, "{format:?} {normals:?} {bits:?}: {found} degrees, at most {most}");
        let own_file = baked.normal.as_ref().expect("normals").file != baked.position.file;
        assert_eq!(own_file, normals == Normals::Separate);
    }
    let error = refuse(&rigid(&TRIANGLE), |o| (o.format, o.normals) = (Format::Exr16, Normals::Alpha));
    assert!(matches!(error, Error::Usage(_)), "{error}");
}

#[test]
fn the_report_agrees_with_the_files() {
    let baked = bake_fixture(&character(), png);
    let report = &baked.report;
    assert_eq!((report.vertex_count, report.frame_count, report.triangles), (27, 62, 13));
    assert_eq!(report.clips.iter().map(|c| c.frame_count).collect::<Vec<_>>(), [31, 31]);
    for texture in &report.textures {
        let length = std::fs::metadata(baked.folder.path().join(&texture.file)).expect("a texture").len();
        assert_eq!(texture.file_bytes, length);
        assert_eq!(texture.gpu_bytes, (baked.width * baked.height * 8) as u64);
    }
    let steps: Vec<Step> = report.timings.iter().map(|t| t.step).collect();
    assert!(steps.contains(&Step::Read) && steps.contains(&Step::Texels), "{steps:?}");
}

#[test]
fn a_missing_normal_texture_is_what_was_asked_for() {
    let baked = bake_fixture(&morphing(&TRIANGLE, vec![vec![("POSITION", vec3(&[[1.0, 0.0, 0.0]; 3]))]]), |o| o.normals = Normals::None);
    assert!(baked.normal.is_none() && baked.sidecar["textures"].as_array().map(Vec::len) == Some(1));
}
