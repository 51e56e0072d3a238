//! What the reader takes and what it refuses: encodings of accessors, broken and hostile numbers, buffers and their URIs,
//! extensions, odd JSON. A refusal names the place (a JSON pointer) and the numbers, within a second and without a file.

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::bake::{assert_fault, assert_near, bake, input, options, refuse_at, refuse_input};
use support::decode::V3;
use support::fixture::glb;
use support::models::{Rig, TRIANGLE, along_x, cloud, morphing, normals, rigid, sliding};
use support::{Array, Baked, Doc, Type, bake_fixture, mat4, refuse, scalars, vec2, vec3, vec4};
use tempfile::TempDir;
use vatbake::warning::Code;
use vatbake::{Error, Input};

const NEAR: f64 = 1e-6;

/// A triangle whose POSITION is this accessor.
fn positioned(positions: Array) -> Doc {
    let mut doc = rigid(&TRIANGLE);
    let accessor = doc.add(positions);
    doc.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(accessor);
    doc
}

/// Index of the accessor of an attribute of the first primitive.
fn accessor_of(doc: &Doc, attribute: &str) -> usize {
    doc.json["meshes"][0]["primitives"][0]["attributes"][attribute].as_u64().expect("an accessor") as usize
}

/// The first primitive.
fn primitive(doc: &mut Doc) -> &mut Value {
    &mut doc.json["meshes"][0]["primitives"][0]
}

fn quantised(mut doc: Doc) -> Doc {
    doc.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    doc.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    doc
}

fn assert_points(baked: &Baked, wanted: &[V3], tolerance: f64) {
    wanted.iter().enumerate().for_each(|(i, p)| assert_near(baked.position(0, i), *p, tolerance));
}

// Accessors

#[test]
fn d01_positions_of_every_type() {
    let unit = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let times = |factor: f64| vec3(&unit.map(|p| p.map(|c| c * factor)));
    let mut whole = quantised(positioned(times(1000.0).of(Type::I16)));
    whole.json["nodes"][0]["scale"] = json!([0.001, 0.001, 0.001]);
    assert_points(&bake_fixture(&whole, |_| ()), &unit, NEAR);
    for (component, factor) in [(Type::U16, 65535.0), (Type::I16, 32767.0), (Type::U8, 255.0), (Type::I8, 127.0)] {
        let doc = quantised(positioned(times(factor).of(component).normalized().stride(8)));
        assert_points(&bake_fixture(&doc, |_| ()), &unit, NEAR);
    }
    for (component, factor) in [(Type::U16, 60000.0), (Type::I16, 30000.0), (Type::U8, 200.0), (Type::I8, 100.0)] {
        let doc = quantised(positioned(times(factor).of(component)));
        assert_points(&bake_fixture(&doc, |_| ()), &unit.map(|p| p.map(|c| c * factor)), 1e-2);
    }
    // The smallest integer of a signed type is -1 too.
    let doc = quantised(positioned(vec3(&[[-32768.0, 32767.0, -32767.0]; 3]).of(Type::I16).normalized()));
    assert_points(&bake_fixture(&doc, |_| ()), &[[-1.0, 1.0, -1.0]], NEAR);
}

#[test]
fn d01_skinned_quantised_positions_take_their_scale_from_the_inverse_bind_matrix() {
    let m = 0.001;
    let scale = [m, 0.0, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, 0.0, 1.0];
    let mut doc = quantised(Rig { inverse_bind: Some(mat4(&[scale])), ..Rig::new(vec![json!({})]) }.doc());
    let accessor = doc.add(vec3(&TRIANGLE.map(|p| p.map(|c| c * 1000.0))).of(Type::I16).stride(8));
    primitive(&mut doc)["attributes"]["POSITION"] = json!(accessor);
    doc.json["nodes"][0]["scale"] = json!([7.0, 7.0, 7.0]);
    assert_points(&bake_fixture(&doc, |_| ()), &TRIANGLE, NEAR);
}

#[test]
fn d01_normals_of_every_type() {
    for (component, factor) in [(Type::I8, 127.0), (Type::I16, 32767.0)] {
        let mut doc = quantised(rigid(&TRIANGLE));
        let accessor = doc.add(vec3(&[[0.0, factor, 0.0]; 3]).of(component).normalized().stride(8));
        primitive(&mut doc)["attributes"]["NORMAL"] = json!(accessor);
        assert_near(bake_fixture(&doc, |_| ()).normal(0, 0), [0.0, 1.0, 0.0], NEAR);
    }
    let mut doc = rigid(&TRIANGLE);
    let accessor = doc.add(vec3(&[[0.0, 3.0, 4.0]; 3]));
    primitive(&mut doc)["attributes"]["NORMAL"] = json!(accessor);
    let baked = bake_fixture(&doc, |_| ());
    assert_near(baked.normal(0, 0), [0.0, 0.6, 0.8], NEAR);
    assert!(baked.warned(Code::NormalRepaired) > 0);
}

#[test]
fn strides_offsets_and_sparse_positions() {
    let late = vec3(&TRIANGLE).view_offset(12).offset(8).stride(28);
    assert_points(&bake_fixture(&positioned(late), |_| ()), &TRIANGLE, 0.0);
    let mended = vec3(&[[1.0, 0.0, 0.0], [9.0; 3], [9.0; 3]]).sparse(&[1, 2], &[0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_points(&bake_fixture(&positioned(mended), |_| ()), &TRIANGLE, 0.0);
    let zeros = vec3(&TRIANGLE).without_base().sparse(&[0, 2], &[5.0, 0.0, 0.0, 0.0, 6.0, 0.0]);
    assert_points(&bake_fixture(&positioned(zeros), |_| ()), &[[5.0, 0.0, 0.0], [0.0; 3], [0.0, 6.0, 0.0]], 0.0);
}

#[test]
fn d09_misaligned_floats_are_read() {
    let baked = bake_fixture(&positioned(vec3(&TRIANGLE).offset(2)), |_| ());
    assert_points(&baked, &TRIANGLE, 0.0);
    assert!(baked.warned(Code::Misaligned) > 0);
}

#[test]
fn d10_indices_of_every_type_and_mode() {
    let quad = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
    let triangles = |mode: u64, indices: Option<Array>| -> Vec<[usize; 3]> {
        let mut doc = rigid(&quad);
        primitive(&mut doc)["mode"] = json!(mode);
        if let Some(indices) = indices {
            let accessor = doc.add(indices);
            primitive(&mut doc)["indices"] = json!(accessor);
        }
        let baked = bake_fixture(&doc, |_| ());
        baked.triangles(&baked.parts[0])
    };
    for component in [Type::U8, Type::U16, Type::U32] {
        assert_eq!(triangles(4, Some(scalars(&[0.0, 1.0, 2.0, 1.0, 3.0, 2.0]).of(component))), [[0, 1, 2], [1, 3, 2]]);
    }
    assert_eq!(triangles(5, None), [[0, 1, 2], [1, 3, 2]]);
    assert_eq!(triangles(5, Some(scalars(&[3.0, 2.0, 1.0, 0.0]).of(Type::U8))), [[3, 2, 1], [2, 0, 1]]);
    assert_eq!(triangles(6, None).len(), 2);
    // A fan's triangles may start at any of their corners, but must turn the same way: (1,2,0), (2,3,0).
    for (found, wanted) in triangles(6, None).iter().zip([[0, 1, 2], [0, 2, 3]]) {
        let turned = (0..3).any(|k| (0..3).all(|c| found[(c + k) % 3] == wanted[c]));
        assert!(turned, "{found:?}, wanted {wanted:?}");
    }
    let mut doc = rigid(&quad);
    let five = doc.add(scalars(&[0.0, 1.0, 2.0, 1.0, 3.0]).of(Type::U8));
    primitive(&mut doc)["indices"] = json!(five);
    let baked = bake_fixture(&doc, |_| ());
    assert_eq!(baked.indices, [0, 1, 2]);
    assert!(baked.warned(Code::IncompleteTriangle) > 0);
}

#[test]
fn d10_points_and_lines_are_left_out() {
    for mode in [0, 1, 2, 3] {
        let mut doc = rigid(&TRIANGLE);
        let mut other = primitive(&mut doc).clone();
        other["mode"] = json!(mode);
        doc.json["meshes"][0]["primitives"].as_array_mut().expect("primitives").push(other);
        let baked = bake_fixture(&doc, |_| ());
        assert_eq!((baked.parts.len(), baked.warned(Code::PrimitiveSkipped)), (1, 1), "mode {mode}");
    }
    let mut only = rigid(&TRIANGLE);
    primitive(&mut only)["mode"] = json!(0);
    assert!(matches!(refuse(&only, |_| ()), Error::Model { .. } | Error::Bake(_)), "nothing is left to bake");
}

#[test]
fn d11_primitives_without_positions_are_left_out() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["meshes"][0]["primitives"].as_array_mut().expect("primitives").push(json!({ "attributes": {} }));
    let baked = bake_fixture(&doc, |_| ());
    assert_eq!((baked.parts.len(), baked.warned(Code::PrimitiveSkipped)), (1, 1));
}

#[test]
fn d12_attributes_of_unequal_length_are_refused() {
    let mut doc = rigid(&TRIANGLE);
    let two = doc.add(normals(2));
    primitive(&mut doc)["attributes"]["NORMAL"] = json!(two);
    refuse_at(&doc, "/meshes/0/primitives/0", &["2", "3", "NORMAL"]);
    let mut doc = rigid(&TRIANGLE);
    let four = doc.add(vec2(&[[0.0; 2]; 4]));
    primitive(&mut doc)["attributes"]["TEXCOORD_0"] = json!(four);
    refuse_at(&doc, "/meshes/0/primitives/0", &["4", "3", "TEXCOORD_0"]);
    let mut doc = morphing(&TRIANGLE, vec![vec![("POSITION", vec3(&[[0.0; 3]; 5]))]]);
    doc.json["meshes"][0]["weights"] = json!([1.0]);
    refuse_at(&doc, "/meshes/0/primitives/0", &["5", "3"]);
}

// Hostile numbers

#[test]
fn d02_counts_and_offsets_beyond_the_buffer() {
    let huge = [1_u64 << 62, u64::MAX, u64::MAX / 12 + 1, u64::from(u32::MAX), 4];
    for count in huge {
        let mut doc = rigid(&TRIANGLE);
        let accessor = accessor_of(&doc, "POSITION");
        doc.json["accessors"][accessor]["count"] = json!(count);
        refuse_at(&doc, "/", &[&count.to_string()]);
        let mut doc = rigid(&TRIANGLE);
        for attribute in ["POSITION", "NORMAL"] {
            let accessor = accessor_of(&doc, attribute);
            doc.json["accessors"][accessor]["count"] = json!(count);
        }
        refuse_at(&doc, "/accessors/", &[&count.to_string()]);
    }
    for offset in [(1_u64 << 62) - 8, u64::MAX - 7, 4096] {
        let mut doc = rigid(&TRIANGLE);
        let accessor = accessor_of(&doc, "POSITION");
        doc.json["accessors"][accessor]["byteOffset"] = json!(offset);
        refuse_at(&doc, "/accessors/", &[]);
        for field in ["byteOffset", "byteLength", "buffer"] {
            let mut doc = rigid(&TRIANGLE);
            let view = doc.json["accessors"][accessor]["bufferView"].as_u64().expect("a view") as usize;
            doc.json["bufferViews"][view][field] = json!(offset);
            refuse_at(&doc, "/", &[&offset.to_string()]);
        }
    }
}

#[test]
fn d02_strides() {
    for stride in [1_u64, 8, 1 << 40, u64::MAX] {
        let mut doc = rigid(&TRIANGLE);
        let view = doc.json["accessors"][accessor_of(&doc, "POSITION")]["bufferView"].as_u64().expect("a view") as usize;
        doc.json["bufferViews"][view]["byteStride"] = json!(stride);
        refuse_at(&doc, "/", &[&stride.to_string()]);
    }
}

#[test]
fn d02_zero_and_viewless_counts() {
    let mut doc = rigid(&TRIANGLE);
    for attribute in ["POSITION", "NORMAL"] {
        let accessor = accessor_of(&doc, attribute);
        doc.json["accessors"][accessor]["count"] = json!(0);
    }
    assert!(matches!(refuse(&doc, |_| ()), Error::Model { .. } | Error::Bake(_)));
    // Zeros cost no bytes in the file; there is a stated limit all the same.
    let mut doc = rigid(&TRIANGLE);
    for attribute in ["POSITION", "NORMAL"] {
        let accessor = accessor_of(&doc, attribute);
        doc.json["accessors"][accessor].as_object_mut().expect("an accessor").remove("bufferView");
        doc.json["accessors"][accessor]["count"] = json!(4_000_000_000_u64);
    }
    refuse_at(&doc, "/accessors/", &["4000000000"]);
}

#[test]
fn d02_cycles_and_second_parents() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["nodes"] = json!([{ "mesh": 0, "children": [1] }, { "children": [0] }]);
    refuse_at(&doc, "/nodes/", &[]);
    doc.json["nodes"] = json!([{ "mesh": 0, "children": [0] }]);
    refuse_at(&doc, "/nodes/", &[]);
    doc.json["nodes"] = json!([{ "children": [2] }, { "children": [2] }, { "mesh": 0 }]);
    doc.json["scenes"][0]["nodes"] = json!([0, 1]);
    refuse_at(&doc, "/nodes/", &["2"]);
    // A cycle that no scene reaches, but a skin does.
    let mut doc = Rig::new(vec![json!({ "children": [2] }), json!({ "children": [1] })]).doc();
    doc.json["scenes"][0]["nodes"] = json!([0]);
    refuse_at(&doc, "/nodes/", &[]);
}

#[test]
fn d02_deep_chains_bake() {
    let mut doc = rigid(&TRIANGLE);
    const DEPTH: usize = 100_000;
    let mut nodes: Vec<Value> = (0..DEPTH).map(|i| json!({ "children": [i + 1] })).collect();
    nodes[0]["translation"] = json!([0.0, 4.0, 0.0]);
    nodes.push(json!({ "mesh": 0 }));
    doc.json["nodes"] = json!(nodes);
    assert_near(bake_fixture(&doc, |_| ()).position(0, 0), [1.0, 4.0, 0.0], NEAR);
}

#[test]
fn d02_few_bytes_do_not_unfold_to_gigabytes() {
    // 3,000 nodes that show 3,000 primitives each, then nodes with 6,000 morph weights each.
    let mut doc = rigid(&TRIANGLE);
    let primitive = primitive(&mut doc).clone();
    doc.json["meshes"][0]["primitives"] = json!(vec![primitive; 3000]);
    for _ in 1..3000 {
        doc.root(json!({ "mesh": 0 }));
    }
    refuse_at(&doc, "/nodes", &["3000 elements", "limit"]);
    let mut doc = rigid(&TRIANGLE);
    doc.json["meshes"][0]["primitives"][0]["targets"] = json!(vec![json!({}); 6000]);
    for _ in 1..3000 {
        doc.root(json!({ "mesh": 0 }));
    }
    refuse_at(&doc, "/nodes", &["18000000 elements", "limit"]);
}

#[test]
fn d02_a_mesh_below_its_own_joint_bakes() {
    let mut doc = Rig::new(vec![json!({ "translation": [0.0, 0.0, 2.0], "children": [0] })]).doc();
    doc.json["scenes"][0]["nodes"] = json!([1]);
    assert_near(bake_fixture(&doc, |_| ()).position(0, 0), [1.0, 0.0, 2.0], NEAR);
}

#[test]
fn d02_references_out_of_range() {
    let patch = |pointer: &str, value: Value| {
        let mut doc = Rig::new(vec![json!({})]).doc();
        let target = doc.add(vec3(&[[0.0; 3]; 3]).sparse(&[1], &[1.0, 2.0, 3.0]));
        let indices = doc.add(scalars(&[0.0, 1.0, 2.0]).of(Type::U16));
        let primitive = primitive(&mut doc);
        primitive["targets"] = json!([{ "POSITION": target }]);
        primitive["indices"] = json!(indices);
        doc.animate(None, &[(1, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0])))]);
        bake_fixture(&doc, |_| ()); // sound before the patch
        *doc.json.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
        doc
    };
    for (pointer, at) in [
        ("/scenes/0/nodes/0", "/scenes/0"),
        ("/nodes/0/mesh", "/nodes/0"),
        ("/nodes/0/skin", "/nodes/0"),
        ("/skins/0/joints/0", "/skins/0"),
        ("/meshes/0/primitives/0/indices", "/meshes/0/primitives/0"),
        ("/meshes/0/primitives/0/attributes/POSITION", "/meshes/0/primitives/0"),
        ("/meshes/0/primitives/0/attributes/JOINTS_0", "/meshes/0/primitives/0"),
        ("/meshes/0/primitives/0/targets/0/POSITION", "/meshes/0/primitives/0"),
        ("/animations/0/channels/0/sampler", "/animations/0"),
        ("/animations/0/channels/0/target/node", "/animations/0"),
        ("/animations/0/samplers/0/input", "/animations/0"),
        ("/animations/0/samplers/0/output", "/animations/0"),
        ("/accessors/0/bufferView", "/accessors/0"),
    ] {
        refuse_at(&patch(pointer, json!(77_777)), at, &["77777"]);
    }
    assert!(matches!(refuse(&patch("/scene", json!(77_777)), |_| ()), Error::Model { .. } | Error::Usage(_)));
}

#[test]
fn d02_indices_joints_and_sparse_indices_out_of_range() {
    let mut doc = rigid(&TRIANGLE);
    let indices = doc.add(scalars(&[0.0, 1.0, 3.0]).of(Type::U16));
    primitive(&mut doc)["indices"] = json!(indices);
    refuse_at(&doc, "/", &["3"]);
    refuse_at(&positioned(vec3(&TRIANGLE).sparse(&[3], &[1.0, 2.0, 3.0])), "/accessors/", &["3"]);
    let mut doc = Rig::new(vec![json!({})]).influences([1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]).doc();
    refuse_at(&doc, "/meshes/0/primitives/0", &["1"]);
    doc.json["skins"][0]["joints"] = json!([]);
    refuse_at(&doc, "/skins/0", &[]);
}

#[test]
fn d19_undefined_numbers_are_refused_wherever_they_stand() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let corner = [[bad, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        refuse_at(&positioned(vec3(&corner)), "/", &[]);
        let mut doc = rigid(&TRIANGLE);
        let accessor = doc.add(vec3(&corner));
        primitive(&mut doc)["attributes"]["NORMAL"] = json!(accessor);
        refuse_at(&doc, "/", &[]);
        let mut matrix = [1.0; 16];
        matrix[5] = bad;
        refuse_at(&Rig { inverse_bind: Some(mat4(&[matrix])), ..Rig::new(vec![json!({})]) }.doc(), "/", &[]);
        refuse_at(&sliding("LINEAR", &[0.0, 1.0], &[0.0, bad]), "/", &[]);
        refuse_at(&morphing(&TRIANGLE, vec![vec![("POSITION", vec3(&corner))]]), "/", &[]);
        refuse_at(&positioned(vec3(&TRIANGLE).sparse(&[1], &[bad, 0.0, 0.0])), "/accessors/", &[]);
    }
}

#[test]
fn truncation_at_every_byte_is_refused() {
    let file = sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]).to_glb();
    let begun = Instant::now();
    for length in 0..file.len() {
        let input = Input::Bytes { name: "cut.glb".into(), bytes: file[..length].to_vec() };
        assert!(bake(input, options()).is_err(), "{length} of {} bytes bake", file.len());
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?} for {} files", begun.elapsed(), file.len());
}

#[test]
fn wrong_lengths_in_the_container_are_refused() {
    let file = rigid(&TRIANGLE).to_glb();
    for at in [8, 12] {
        for length in [0_u32, 11, u32::MAX, file.len() as u32 + 400] {
            let mut bytes = file.clone();
            bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
            let error = refuse_input(Input::Bytes { name: "bent.glb".into(), bytes }, options());
            assert!(matches!(error, Error::Model { .. }), "{error}");
            assert!(error.to_string().contains("bent.glb"), "the file is named: {error}");
        }
    }
    for bytes in [Vec::new(), b"glTF".to_vec(), b"<html>".to_vec(), vec![0; 64], b"glTF\x01\0\0\0".to_vec()] {
        let error = refuse_input(Input::Bytes { name: "other.glb".into(), bytes }, options());
        assert!(matches!(error, Error::Model { .. }), "{error}");
    }
}

// Buffers and their URIs

/// A folder with `model.gltf`, whose buffer has this URI, and its bytes under `file` where there is one.
fn beside(uri: &str, file: Option<&str>) -> (TempDir, Input) {
    let doc = rigid(&TRIANGLE);
    let folder = TempDir::new().expect("a folder");
    let home = folder.path().join("home");
    std::fs::create_dir(&home).expect("a folder");
    std::fs::write(home.join("model.gltf"), doc.to_gltf_with(uri)).expect("the model");
    if let Some(file) = file {
        std::fs::write(home.join(file), &doc.bin).expect("the buffer");
    }
    let input = Input::File(home.join("model.gltf"));
    (folder, input)
}

#[test]
fn d03_side_files_by_escaped_and_raw_names() {
    for (uri, file) in [
        ("my%20mesh.bin", "my mesh.bin"),
        ("my mesh.bin", "my mesh.bin"),
        ("10%25.bin", "10%.bin"),
        ("10%.bin", "10%.bin"),
        ("A..B.bin", "A..B.bin"),
        ("a%20b.bin", "a%20b.bin"),
        ("./é.bin", "é.bin"),
    ] {
        let (_folder, input) = beside(uri, Some(file));
        let baked = bake(input, options()).unwrap_or_else(|e| panic!("{uri} with {file}: {e}"));
        assert_points(&baked, &TRIANGLE, 0.0);
    }
}

#[test]
fn d03_uris_that_leave_the_folder_are_refused() {
    for uri in [
        "../x.bin",
        "/etc/hostname",
        "file:///etc/hostname",
        "http://localhost/x.bin",
        "%2e%2e/x.bin",
        "a/../../x.bin",
        "..\\x.bin",
        "C:\\x.bin",
    ] {
        let (folder, input) = beside(uri, None);
        std::fs::write(folder.path().join("x.bin"), rigid(&TRIANGLE).bin).expect("a file outside");
        let error = refuse_input(input, options());
        assert_fault(&error, "/buffers/0", &[]);
        let text = error.to_string();
        let names_it = text.contains(uri) || text.contains("x.bin") || text.contains("hostname");
        assert!(names_it, "{text}");
    }
    // On request what lies outside is read.
    let (folder, input) = beside("../x.bin", None);
    std::fs::write(folder.path().join("x.bin"), rigid(&TRIANGLE).bin).expect("a file outside");
    let baked = bake(input, vatbake::Options { allow_outside: true, ..options() }).unwrap_or_else(|e| panic!("{e}"));
    assert_points(&baked, &TRIANGLE, 0.0);
}

#[test]
fn d03_data_uris() {
    let doc = rigid(&TRIANGLE);
    let gltf = String::from_utf8(doc.to_gltf()).expect("JSON");
    for media in ["application/octet-stream", "application/gltf-buffer", "text/plain", "application/octet-stream;charset=utf-8", ""] {
        let text = gltf.replace("data:application/octet-stream;", &format!("data:{media};"));
        let baked =
            bake(Input::Bytes { name: "m.gltf".into(), bytes: text.into_bytes() }, options()).unwrap_or_else(|e| panic!("{media}: {e}"));
        assert_points(&baked, &TRIANGLE, 0.0);
    }
    for uri in ["data:,abc", "data:application/octet-stream;base64,@@@", "data:application/octet-stream;base64"] {
        let error = refuse_input(Input::Bytes { name: "m.gltf".into(), bytes: doc.to_gltf_with(uri) }, options());
        assert_fault(&error, "/buffers/0", &[]);
    }
    // A data URI inside a GLB.
    let whole: Value = serde_json::from_slice(&doc.to_gltf()).expect("JSON");
    let bytes = glb(&serde_json::to_vec(&whole).expect("JSON"), &[]);
    assert_points(&bake(Input::Bytes { name: "m.glb".into(), bytes }, options()).unwrap_or_else(|e| panic!("{e}")), &TRIANGLE, 0.0);
}

#[test]
fn d05_a_buffer_without_data() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["buffers"] = json!([{ "byteLength": doc.bin.len() }, { "byteLength": 100 }]);
    assert_points(&bake_fixture(&doc, |_| ()), &TRIANGLE, 0.0);
    let view = doc.json["accessors"][accessor_of(&doc, "POSITION")]["bufferView"].as_u64().expect("a view") as usize;
    doc.json["bufferViews"][view]["buffer"] = json!(1);
    refuse_at(&doc, "/buffers/1", &[]);
}

#[test]
fn d17_missing_short_and_long_buffers() {
    let doc = rigid(&TRIANGLE);
    let (_folder, input) = beside("gone.bin", None);
    let error = refuse_input(input, options());
    assert!(error.to_string().contains("gone.bin"), "{error}");
    for (change, bakes) in [(-1_i64, false), (100, true)] {
        let (folder, input) = beside("data.bin", None);
        let mut bytes = doc.bin.clone();
        bytes.resize((bytes.len() as i64 + change) as usize, 0xEE);
        std::fs::write(folder.path().join("home/data.bin"), &bytes).expect("the buffer");
        if bakes {
            assert_points(&bake(input, options()).unwrap_or_else(|e| panic!("{e}")), &TRIANGLE, 0.0);
        } else {
            assert_fault(
                &refuse_input(input, options()),
                "/buffers/0",
                &[&bytes.len().to_string(), &doc.bin.len().to_string(), "data.bin"],
            );
        }
    }
}

#[test]
fn d18_missing_pictures_do_not_stop_a_bake() {
    let mut doc = rigid(&TRIANGLE);
    doc.push("materials", json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }));
    doc.push("textures", json!({ "source": 0 }));
    doc.push("images", json!({ "uri": "gone.webp" }));
    primitive(&mut doc)["material"] = json!(0);
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("model.gltf");
    std::fs::write(&file, doc.to_gltf()).expect("the model");
    for input in [Input::File(file), input(&doc)] {
        let baked = bake(input, options()).unwrap_or_else(|e| panic!("{e}"));
        assert_points(&baked, &TRIANGLE, 0.0);
        assert_eq!(baked.warned(Code::ImageMissing), 1);
    }
}

#[test]
fn a_file_that_is_not_there() {
    let error = refuse_input(Input::File(Path::new("no/such/model.glb").into()), options());
    assert!(matches!(error, Error::Io { .. }) && error.to_string().contains("model.glb"), "{error}");
}

// Extensions

#[test]
fn d04_required_extensions() {
    let with = |required: &[&str]| {
        let mut doc = rigid(&TRIANGLE);
        doc.json["extensionsUsed"] = json!(required);
        doc.json["extensionsRequired"] = json!(required);
        doc
    };
    refuse_at(&with(&["VENDOR_squash"]), "/extensionsRequired", &["VENDOR_squash"]);
    for name in ["KHR_materials_unlit", "KHR_texture_transform", "KHR_mesh_quantization", "KHR_lights_punctual"] {
        assert_points(&bake_fixture(&with(&[name]), |_| ()), &TRIANGLE, 0.0);
    }
}

#[test]
fn d04_an_extension_that_is_only_used_leaves_the_fallback() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["extensionsUsed"] = json!(["VENDOR_squash"]);
    doc.json["meshes"][0]["primitives"][0]["extensions"] = json!({ "VENDOR_squash": { "bufferView": 99 } });
    assert_points(&bake_fixture(&doc, |_| ()), &TRIANGLE, 0.0);
}

#[test]
fn d16_extensions_that_move_no_vertex_are_left_aside() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["extensionsUsed"] = json!(["EXT_mesh_gpu_instancing"]);
    doc.json["nodes"][0]["extensions"] = json!({ "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": 0 } } });
    let baked = bake_fixture(&doc, |_| ());
    assert_points(&baked, &TRIANGLE, 0.0);
    assert!(baked.warned(Code::ExtensionIgnored) > 0);
}

// JSON

/// A document whose JSON text is changed by hand.
fn as_text(doc: &Doc, change: impl Fn(String) -> Vec<u8>) -> Input {
    let text = String::from_utf8(doc.to_gltf()).expect("JSON");
    Input::Bytes { name: "odd.gltf".into(), bytes: change(text) }
}

#[test]
fn d07_odd_json() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["nodes"][0]["name"] = json!("NAME");
    // A byte-order mark is nothing.
    let marked = as_text(&doc, |t| [b"\xEF\xBB\xBF".to_vec(), t.into_bytes()].concat());
    assert_points(&bake(marked, options()).unwrap_or_else(|e| panic!("{e}")), &TRIANGLE, 0.0);
    // Not UTF-8.
    let broken = as_text(&doc, |t| {
        let at = t.find("NAME").expect("the name");
        let mut bytes = t.into_bytes();
        bytes[at] = 0x80;
        bytes
    });
    assert!(matches!(refuse_input(broken, options()), Error::Model { .. }));
    // Deeper than any reader should follow.
    let deep = as_text(&doc, |t| {
        t.replacen("\"NAME\"", &format!("\"NAME\",\"extras\":{}1{}", "[".repeat(10_000), "]".repeat(10_000)), 1).into_bytes()
    });
    assert!(matches!(refuse_input(deep, options()), Error::Model { .. }));
    // No JSON.
    for (from, to) in [("\"NAME\"", "NaN"), ("\"NAME\"", "\"NAME\",,"), ("{", "[")] {
        let error = refuse_input(as_text(&doc, |t| t.replacen(from, to, 1).into_bytes()), options());
        assert!(matches!(error, Error::Model { .. }) && error.to_string().contains("odd.gltf"), "{error}");
    }
}

#[test]
fn fields_of_the_wrong_kind_are_named() {
    for (pointer, value) in [
        ("/nodes/0/mesh", json!("zero")),
        ("/nodes/0/mesh", json!(-1)),
        ("/nodes/0/mesh", json!(0.5)),
        ("/meshes/0/primitives", json!({})),
        ("/accessors/0/count", json!("3")),
    ] {
        let mut doc = rigid(&TRIANGLE);
        *doc.json.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
        refuse_at(&doc, pointer, &[]);
    }
    for (member, value) in [("componentType", json!(5130)), ("type", json!("VEC5"))] {
        let mut doc = rigid(&TRIANGLE);
        doc.json["accessors"][0][member] = value;
        refuse_at(&doc, "/accessors/0", &[member]);
    }
    for version in ["1.0", "3.0"] {
        let mut doc = rigid(&TRIANGLE);
        doc.json["asset"]["version"] = json!(version);
        refuse_at(&doc, "/asset", &[version]);
    }
}

#[test]
fn attribute_types_that_the_specification_does_not_know() {
    let mut doc = rigid(&TRIANGLE);
    let flat = doc.add(vec2(&[[0.0; 2]; 3]));
    primitive(&mut doc)["attributes"]["POSITION"] = json!(flat);
    refuse_at(&doc, "/", &["VEC2", "VEC3"]);
    let mut doc = rigid(&TRIANGLE);
    let floats = doc.add(scalars(&[0.0, 1.0, 2.0]));
    primitive(&mut doc)["indices"] = json!(floats);
    refuse_at(&doc, "/", &[]);
    let mut rig = Rig::new(vec![json!({})]);
    rig.joints = vec4(&[[0.0; 4]; 3]);
    refuse_at(&rig.doc(), "/", &["JOINTS_0"]);
}

#[test]
fn a_skin_without_influences_and_the_reverse() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["nodes"][0]["skin"] = json!(0);
    let joint = doc.root(json!({ "translation": [5.0, 0.0, 0.0] }));
    doc.push("skins", json!({ "joints": [joint] }));
    let baked = bake_fixture(&doc, |_| ());
    assert_points(&baked, &TRIANGLE, 0.0);
    assert!(baked.warned(Code::SkinWithoutInfluences) > 0);
    let mut doc = Rig::new(vec![json!({ "translation": [5.0, 0.0, 0.0] })]).doc();
    doc.json["nodes"][0].as_object_mut().expect("a node").remove("skin");
    let baked = bake_fixture(&doc, |_| ());
    assert_points(&baked, &TRIANGLE, 0.0);
    assert!(baked.warned(Code::SkinWithoutInfluences) > 0);
}

#[test]
fn the_message_names_the_file_last() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["nodes"][0]["mesh"] = json!(9);
    let text = refuse(&doc, |_| ()).to_string();
    assert!(text.starts_with("/nodes/0") && text.ends_with("fixture.glb") && !text.contains('\n'), "{text}");
}

#[test]
fn a_large_model_bakes_without_complaint() {
    // 200,000 vertices over several blocks, indexed by u32, of which the last vertex is right.
    let mut doc = cloud(200_000, |i| [(i % 1000) as f64, (i / 1000) as f64, 0.0]);
    doc.animate(None, &[(0, "translation", "LINEAR", &[0.0, 0.1], vec3(&along_x(&[0.0, 1.0])))]);
    let baked = bake_fixture(&doc, |_| ());
    assert_near(baked.position(baked.frame_count - 1, 199_999), [1000.0, 199.0, 0.0], 1e-4);
}
