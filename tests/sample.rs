//! The sample in `assets/` is what its program makes, and has what the README promises of it.

#[path = "../assets/make_sample/main.rs"]
mod make_sample;

use serde_json::Value;

/// The committed file, taken apart.
struct Sample {
    bytes: Vec<u8>,
    document: Value,
    binary: Vec<u8>,
}

fn committed() -> Sample {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(make_sample::PATH);
    let bytes = std::fs::read(path).expect("the sample is in the repository");
    let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    let json_end = 20 + length(12);
    let document = serde_json::from_slice(&bytes[20..json_end]).expect("the first chunk is JSON");
    let binary = bytes[json_end + 8..json_end + 8 + length(json_end)].to_vec();
    Sample { bytes, document, binary }
}

impl Sample {
    fn list(&self, name: &str) -> &[Value] {
        self.document[name].as_array().map_or(&[], Vec::as_slice)
    }

    fn node(&self, name: &str) -> (usize, &Value) {
        self.list("nodes").iter().enumerate().find(|(_, node)| node["name"] == name).expect("a node of that name")
    }

    /// The rows of an accessor as raw bytes.
    fn rows(&self, accessor: &Value) -> Vec<&[u8]> {
        let accessor = &self.document["accessors"][number(accessor)];
        let view = &self.document["bufferViews"][number(&accessor["bufferView"])];
        let component = match number(&accessor["componentType"]) {
            5121 => 1,
            5123 => 2,
            _ => 4,
        };
        let size = component * ["SCALAR", "VEC2", "VEC3", "VEC4"].iter().position(|kind| accessor["type"] == *kind).map_or(16, |n| n + 1);
        let stride = view["byteStride"].as_u64().map_or(size, |stride| stride as usize);
        let first = number(&view["byteOffset"]) + accessor["byteOffset"].as_u64().unwrap_or(0) as usize;
        (0..number(&accessor["count"])).map(|i| &self.binary[first + i * stride..][..size]).collect()
    }

    fn floats(&self, accessor: &Value) -> Vec<Vec<f32>> {
        self.rows(accessor).iter().map(|row| bytemuck::pod_collect_to_vec(row)).collect()
    }

    fn primitives(&self) -> impl Iterator<Item = &Value> {
        self.list("meshes").iter().flat_map(|mesh| mesh["primitives"].as_array().expect("a mesh has primitives"))
    }
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("an index or a count") as usize
}

#[test]
fn the_committed_file_is_what_the_program_makes() {
    let (sample, built) = (committed(), make_sample::build());
    let differs = sample.bytes.iter().zip(&built).position(|(a, b)| a != b);
    assert_eq!((differs, built.len()), (None, sample.bytes.len()), "run `cargo run --example make_sample` and look at what changed");
}

#[test]
fn it_is_small_and_needs_no_extension() {
    let sample = committed();
    assert!(sample.bytes.len() < 500 * 1024, "{} bytes", sample.bytes.len());
    assert!(sample.document.get("extensionsUsed").is_none());
    let vertices: usize = sample.primitives().map(|p| sample.rows(&p["attributes"]["POSITION"]).len()).sum();
    assert!((2_000..=7_000).contains(&vertices), "{vertices} vertices");
}

#[test]
fn every_vertex_has_whole_weights_and_some_have_four() {
    let sample = committed();
    let joints = sample.document["skins"][0]["joints"].as_array().map_or(0, Vec::len);
    let mut influences = [0; 5];
    for attributes in sample.primitives().map(|p| &p["attributes"]).filter(|a| a.get("WEIGHTS_0").is_some()) {
        for (weights, ids) in sample.rows(&attributes["WEIGHTS_0"]).iter().zip(sample.rows(&attributes["JOINTS_0"])) {
            assert_eq!(weights.iter().map(|w| u32::from(*w)).sum::<u32>(), 255);
            assert!(ids.iter().all(|id| usize::from(*id) < joints));
            influences[weights.iter().filter(|w| **w > 0).count()] += 1;
        }
    }
    assert!(influences[4] > 400, "vertices by number of influences: {influences:?}");
}

#[test]
fn no_triangle_is_degenerate_and_no_vertex_unused() {
    let sample = committed();
    for primitive in sample.primitives() {
        let positions: Vec<glam::Vec3> =
            sample.floats(&primitive["attributes"]["POSITION"]).iter().map(|p| glam::Vec3::from_slice(p)).collect();
        let indices: Vec<usize> =
            sample.rows(&primitive["indices"]).iter().map(|row| usize::from(u16::from_le_bytes([row[0], row[1]]))).collect();
        let mut used = vec![false; positions.len()];
        indices.iter().for_each(|&i| used[i] = true);
        assert!(used.iter().all(|used| *used), "{primitive}");
        for t in indices.chunks(3) {
            let area = 0.5 * (positions[t[1]] - positions[t[0]]).cross(positions[t[2]] - positions[t[0]]).length();
            assert!(area > 1e-8, "a triangle of {area} square metres at {}", positions[t[0]]);
        }
    }
}

#[test]
fn both_clips_loop_and_move_the_morph() {
    let sample = committed();
    let names: Vec<&Value> = sample.list("animations").iter().map(|clip| &clip["name"]).collect();
    assert_eq!(names, ["Walk", "Wave"]);
    let (eyes, node) = sample.node("Eyes");
    let eyes_mesh = &sample.document["meshes"][number(&node["mesh"])];
    assert_eq!(eyes_mesh["primitives"][0]["targets"].as_array().map(Vec::len), Some(1));
    for clip in sample.list("animations") {
        let mut blinks = 0.0f32;
        for channel in clip["channels"].as_array().expect("channels") {
            let values = sample.floats(&clip["samplers"][number(&channel["sampler"])]["output"]);
            assert_eq!(values.first(), values.last(), "{}: {}", clip["name"], channel["target"]);
            if number(&channel["target"]["node"]) == eyes && channel["target"]["path"] == "weights" {
                blinks = values.iter().map(|v| v[0]).fold(0.0, f32::max);
            }
        }
        assert!(blinks > 0.9, "{} closes the eyes to {blinks}", clip["name"]);
    }
}

#[test]
fn the_hat_is_a_rigid_part_on_the_head() {
    let sample = committed();
    let (hat, node) = sample.node("Hat");
    assert!(node.get("skin").is_none() && node.get("mesh").is_some());
    let (head, parent) = sample.node("Head");
    assert!(parent["children"].as_array().is_some_and(|children| children.contains(&hat.into())));
    assert!(sample.document["skins"][0]["joints"].as_array().is_some_and(|joints| joints.contains(&head.into())));
}
