//! KHR_draco_mesh_compression in a model: which attributes come from where, and what is refused. That the bitstream is decoded bit by
//! bit is tested beside the decoder.

mod support;

use serde_json::{Value, json};
use support::bake::{assert_near, bake_fixture, refuse_at};
use support::models::rigid;
use support::{Baked, Doc, scalars, vec3};

const EXTENSION: &str = "KHR_draco_mesh_compression";
const POINTER: &str = "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression";

/// One triangle: positions as attribute 0, four U16 as attribute 1.
const SAMPLE: &[u8] = include_bytes!("data/draco/triangle.drc");

/// Its corners.
const CORNERS: [[f64; 3]; 3] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

/// The triangle in a file that requires the extension. Accessor 0 is POSITION, 1 `_PARTS`, 2 the indices.
fn packed(sample: &[u8]) -> Doc {
    let mut doc = Doc::new();
    let view = doc.view(sample);
    doc.json["extensionsUsed"] = json!([EXTENSION]);
    doc.json["extensionsRequired"] = json!([EXTENSION]);
    doc.push("accessors", json!({ "componentType": 5126, "type": "VEC3", "count": 3 }));
    doc.push("accessors", json!({ "componentType": 5121, "type": "VEC4", "count": 3 }));
    doc.push("accessors", json!({ "componentType": 5123, "type": "SCALAR", "count": 3 }));
    let extension = json!({ "bufferView": view, "attributes": { "POSITION": 0, "_PARTS": 1 } });
    let attributes = json!({ "POSITION": 0, "_PARTS": 1 });
    let primitive = json!({ "attributes": attributes, "indices": 2, "extensions": { EXTENSION: extension } });
    let mesh = doc.push("meshes", json!({ "primitives": [primitive] }));
    doc.root(json!({ "mesh": mesh }));
    doc
}

fn primitive(doc: &mut Doc) -> &mut Value {
    &mut doc.json["meshes"][0]["primitives"][0]
}

fn extension(doc: &mut Doc) -> &mut Value {
    &mut primitive(doc)["extensions"][EXTENSION]
}

/// The corners in the order of the triangle, from the vertex at the origin.
fn corners(baked: &Baked) -> Vec<[f64; 3]> {
    let triangles = baked.vat.triangles(&baked.vat.parts[0]);
    assert_eq!(triangles.len(), 1);
    let mut corners = triangles[0].map(|vertex| baked.position(0, vertex));
    let first = corners.iter().position(|p| p.iter().all(|c| c.abs() < 1e-4)).expect("a vertex at the origin");
    corners.rotate_left(first);
    corners.to_vec()
}

fn assert_triangle(baked: &Baked) {
    corners(baked).into_iter().zip(CORNERS).for_each(|(found, wanted)| assert_near(found, wanted, 1e-4));
}

#[test]
fn d04_a_required_mesh_is_decoded() {
    assert_triangle(&bake_fixture(&packed(SAMPLE), |_| ()));
    // Without indices in the file, and as a strip, the triangles are those of the mesh.
    let mut doc = packed(SAMPLE);
    primitive(&mut doc).as_object_mut().expect("a primitive").remove("indices");
    assert_triangle(&bake_fixture(&doc, |_| ()));
    let mut doc = packed(SAMPLE);
    primitive(&mut doc)["mode"] = json!(5);
    assert_triangle(&bake_fixture(&doc, |_| ()));
}

#[test]
fn a_mesh_that_is_not_required_is_decoded_where_there_is_no_other() {
    let mut doc = packed(SAMPLE);
    doc.json.as_object_mut().expect("a document").remove("extensionsRequired");
    assert_triangle(&bake_fixture(&doc, |_| ()));
    // With a plain copy of everything, the data is not even looked at.
    let mut doc = rigid(&CORNERS);
    let view = doc.view(b"not Draco at all");
    let indices = doc.add(scalars(&[0.0, 1.0, 2.0]).of(support::Type::U16));
    doc.json["extensionsUsed"] = json!([EXTENSION]);
    primitive(&mut doc)["indices"] = json!(indices);
    primitive(&mut doc)["extensions"] = json!({ EXTENSION: { "bufferView": view, "attributes": { "POSITION": 0 } } });
    assert_triangle(&bake_fixture(&doc, |_| ()));
}

#[test]
fn other_attributes_and_targets_come_from_their_accessors() {
    let mut doc = packed(SAMPLE);
    let lift = doc.add(vec3(&[[0.0, 0.0, 1.0]; 3]));
    primitive(&mut doc)["targets"] = json!([{ "POSITION": lift }]);
    doc.json["meshes"][0]["weights"] = json!([0.5]);
    let baked = bake_fixture(&doc, |_| ());
    for (vertex, height) in (0..3).map(|v| (v, baked.position(0, v)[2])) {
        assert!((height - 0.5).abs() < 1e-4, "vertex {vertex} is at height {height}");
    }
}

#[test]
fn counts_and_types_must_be_those_of_the_mesh() {
    let with = |accessor: usize, key: &str, value: Value| {
        let mut doc = packed(SAMPLE);
        doc.json["accessors"][accessor][key] = value;
        doc
    };
    refuse_at(&with(0, "count", json!(4)), POINTER, &["3 vertices", "POSITION 4"]);
    refuse_at(&with(2, "count", json!(6)), POINTER, &["1 triangles", "indices 2"]);
    refuse_at(&with(1, "type", json!("VEC3")), POINTER, &["attribute 1 has 4 components", "VEC3"]);
    refuse_at(&with(0, "count", json!(u32::MAX)), POINTER, &["3 vertices", "4294967295"]);
    let mut doc = with(0, "componentType", json!(5123));
    doc.json["accessors"][0]["normalized"] = json!(true);
    doc.json["extensionsUsed"] = json!([EXTENSION, "KHR_mesh_quantization"]);
    refuse_at(&doc, POINTER, &["attribute 0 is of F32", "U16"]);
}

#[test]
fn a_broken_extension_is_refused() {
    let with = |key: &str, value: Value| {
        let mut doc = packed(SAMPLE);
        extension(&mut doc)[key] = value;
        doc
    };
    refuse_at(&with("bufferView", json!("0")), POINTER, &["bufferView"]);
    refuse_at(&with("bufferView", json!(7)), POINTER, &["bufferView 7"]);
    refuse_at(&with("attributes", json!(null)), POINTER, &["attributes"]);
    refuse_at(&with("attributes", json!({ "POSITION": 5 })), POINTER, &["POSITION is attribute 5", "0, 1"]);
    let mut doc = packed(SAMPLE);
    primitive(&mut doc)["attributes"]["_PARTS"] = json!(0);
    refuse_at(&doc, POINTER, &["accessor 0 stands for two attributes"]);
}

#[test]
fn other_versions_and_cut_data_are_refused() {
    let mut old = SAMPLE.to_vec();
    old[6] = 1;
    refuse_at(&packed(&old), POINTER, &["version 2.1", "2.2"]);
    refuse_at(&packed(&SAMPLE[..SAMPLE.len() / 2]), POINTER, &[]);
    refuse_at(&packed(b"PNG"), POINTER, &["DRACO"]);
}
