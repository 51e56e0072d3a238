//! Writes the character as a GLB: core glTF 2.0, interleaved vertices, one buffer.
//!
//! Numbers are rounded to fractions of a power of two, far below what can be seen: the last bit of a platform's `sin` is not kept.

use super::character::Model;
use super::colours::{MATERIALS, linear, palette_png};
use super::motion::{Clip, Pose};
use super::rig::{HIPS, Joint};
use super::surface::Surface;
use glam::{DQuat, DVec3};
use serde_json::{Value, json};

const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_BYTE: u32 = 5121;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// The binary chunk and the lists that describe it.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    fn view(&mut self, bytes: &[u8], stride: Option<usize>, target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(stride) = stride {
            view["byteStride"] = json!(stride);
        }
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// An accessor of floats in a view of its own.
    fn floats(&mut self, kind: &str, rows: &[Vec<f32>]) -> usize {
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        let view = self.view(&bytes, None, None);
        self.accessor(json!({ "bufferView": view, "componentType": FLOAT, "count": rows.len(), "type": kind }))
    }
}

fn rounded(value: f64, parts: f64) -> f32 {
    ((value * parts).round() / parts) as f32 + 0.0
}

/// A position or normal, to 1/65536.
fn vector(v: DVec3) -> [f32; 3] {
    v.to_array().map(|c| rounded(c, 65536.0))
}

/// A unit quaternion, to 2^-20.
fn quaternion(q: DQuat) -> Vec<f32> {
    q.normalize().to_array().map(|c| rounded(c, 1048576.0)).to_vec()
}

/// The whole file.
pub fn write(joints: &[Joint], models: &[Model], clips: &[Clip]) -> Vec<u8> {
    let mut buffer = Buffer::default();
    let meshes: Vec<Value> = models.iter().map(|model| write_mesh(&mut buffer, model)).collect();

    // Nodes: the joints in order, then one node a mesh. Skinned meshes stand at the root, rigid parts below their joint.
    let mut children = vec![Vec::new(); joints.len()];
    for (i, joint) in joints.iter().enumerate() {
        joint.parent.into_iter().for_each(|parent| children[parent].push(i));
    }
    let mut roots = vec![HIPS];
    for (i, model) in models.iter().enumerate() {
        match &model.carrier {
            Some((joint, ..)) => children[*joint].push(joints.len() + i),
            None => roots.push(joints.len() + i),
        }
    }
    let mut nodes: Vec<Value> = joints
        .iter()
        .zip(children)
        .map(|(joint, children)| {
            let offset = joint.position - joint.parent.map_or(DVec3::ZERO, |parent| joints[parent].position);
            let mut node = json!({ "name": joint.name, "translation": vector(offset) });
            if !children.is_empty() {
                node["children"] = json!(children);
            }
            node
        })
        .collect();
    nodes.extend(models.iter().enumerate().map(|(i, model)| match &model.carrier {
        Some((_, rotation, offset)) => {
            json!({ "name": model.name, "mesh": i, "rotation": quaternion(*rotation), "translation": vector(*offset) })
        }
        None => json!({ "name": model.name, "mesh": i, "skin": 0 }),
    }));
    let inverse: Vec<Vec<f32>> = joints
        .iter()
        .map(|joint| {
            let [x, y, z] = vector(-joint.position);
            vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0]
        })
        .collect();
    let inverse = buffer.floats("MAT4", &inverse);
    let eyes = joints.len() + models.iter().position(|m| m.surfaces[0].morphed.is_some()).expect("the eyes blink");
    let animations: Vec<Value> = clips.iter().map(|clip| write_clip(&mut buffer, clip, eyes)).collect();
    let image = buffer.view(&palette_png(), None, None);
    buffer.bytes.resize(buffer.bytes.len().next_multiple_of(4), 0);

    let document = json!({
        "asset": { "version": "2.0", "generator": "vatbake make_sample", "copyright": "The vatbake authors, MIT OR Apache-2.0" },
        "scene": 0,
        "scenes": [{ "name": "Bun", "nodes": roots }],
        "nodes": nodes,
        "skins": [{ "name": "Bun", "joints": (0..joints.len()).collect::<Vec<_>>(), "skeleton": HIPS, "inverseBindMatrices": inverse }],
        "meshes": meshes,
        "materials": MATERIALS.iter().map(|(name, colour, roughness)| {
            let [r, g, b] = colour.map(linear);
            json!({ "name": name, "pbrMetallicRoughness": {
                "baseColorFactor": [r, g, b, 1.0], "baseColorTexture": { "index": 0 }, "metallicFactor": 0.0, "roughnessFactor": roughness
            }})
        }).collect::<Vec<_>>(),
        "textures": [{ "source": 0, "sampler": 0 }],
        "images": [{ "name": "Palette", "bufferView": image, "mimeType": "image/png" }],
        "samplers": [{ "magFilter": 9729, "minFilter": 9729, "wrapS": 33071, "wrapT": 33071 }],
        "animations": animations,
        "bufferViews": buffer.views,
        "accessors": buffer.accessors,
        "buffers": [{ "byteLength": buffer.bytes.len() }],
    });
    pack(&document, &buffer.bytes)
}

fn pack(document: &Value, binary: &[u8]) -> Vec<u8> {
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut file = b"glTF".to_vec();
    let total = 12 + 8 + text.len() + 8 + binary.len();
    file.extend([2, total as u32].into_iter().flat_map(u32::to_le_bytes));
    for (kind, chunk) in [(b"JSON", &text[..]), (b"BIN\0", binary)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

/// All surfaces of a model in one vertex buffer and one index buffer.
fn write_mesh(buffer: &mut Buffer, model: &Model) -> Value {
    let skinned = model.carrier.is_none();
    let stride = if skinned { 36 } else { 28 };
    let (mut vertices, mut indices, mut deltas) = (Vec::new(), Vec::new(), Vec::new());
    for surface in &model.surfaces {
        for (i, (p, n)) in surface.mesh.positions.iter().zip(&surface.mesh.normals).enumerate() {
            vertices.extend([vector(*p), vector(*n)].into_iter().flatten().flat_map(f32::to_le_bytes));
            vertices.extend(surface.uvs[i].map(|c| (c * 65535.0).round() as u16).into_iter().flat_map(u16::to_le_bytes));
            if skinned {
                let (joints, weights) = surface.influences[i];
                vertices.extend(joints);
                vertices.extend(weights);
            }
            if let Some(morphed) = &surface.morphed {
                let delta = [morphed.positions[i] - *p, morphed.normals[i] - *n].map(vector);
                deltas.extend(delta.into_iter().flatten().flat_map(f32::to_le_bytes));
            }
        }
        indices.extend(surface.mesh.triangles.iter().flatten().flat_map(|&i| (i as u16).to_le_bytes()));
    }
    let vertex_view = buffer.view(&vertices, Some(stride), Some(ARRAY_BUFFER));
    let index_view = buffer.view(&indices, None, Some(ELEMENT_ARRAY_BUFFER));
    let delta_view = (!deltas.is_empty()).then(|| buffer.view(&deltas, Some(24), Some(ARRAY_BUFFER)));

    let (mut first_vertex, mut first_index) = (0, 0);
    let mut primitives = Vec::new();
    for surface in &model.surfaces {
        let count = surface.mesh.positions.len();
        let mut attribute = |offset: usize, component: u32, normalized: bool, kind: &str| {
            let mut accessor = json!({
                "bufferView": vertex_view, "byteOffset": first_vertex * stride + offset,
                "componentType": component, "count": count, "type": kind
            });
            if normalized {
                accessor["normalized"] = json!(true);
            }
            buffer.accessor(accessor)
        };
        let mut attributes = json!({
            "POSITION": attribute(0, FLOAT, false, "VEC3"),
            "NORMAL": attribute(12, FLOAT, false, "VEC3"),
            "TEXCOORD_0": attribute(24, UNSIGNED_SHORT, true, "VEC2"),
        });
        if skinned {
            attributes["JOINTS_0"] = json!(attribute(28, UNSIGNED_BYTE, false, "VEC4"));
            attributes["WEIGHTS_0"] = json!(attribute(32, UNSIGNED_BYTE, true, "VEC4"));
        }
        let position = attributes["POSITION"].as_u64().unwrap_or(0) as usize;
        set_bounds(&mut buffer.accessors[position], surface.mesh.positions.iter().map(|p| vector(*p)));
        let index_count = surface.mesh.triangles.len() * 3;
        let indices = buffer.accessor(json!({
            "bufferView": index_view, "byteOffset": first_index * 2, "componentType": UNSIGNED_SHORT, "count": index_count, "type": "SCALAR"
        }));
        let mut primitive = json!({ "attributes": attributes, "indices": indices, "material": surface.material });
        if let (Some(view), Some(_)) = (delta_view, &surface.morphed) {
            primitive["targets"] = json!([write_target(buffer, view, first_vertex, surface)]);
        }
        primitives.push(primitive);
        first_vertex += count;
        first_index += index_count;
    }
    let mut mesh = json!({ "name": model.name, "primitives": primitives });
    if delta_view.is_some() {
        mesh["weights"] = json!([0.0]);
        mesh["extras"] = json!({ "targetNames": ["Blink"] });
    }
    mesh
}

fn write_target(buffer: &mut Buffer, view: usize, first_vertex: usize, surface: &Surface) -> Value {
    let mut part = |offset: usize| {
        buffer.accessor(json!({
            "bufferView": view, "byteOffset": first_vertex * 24 + offset,
            "componentType": FLOAT, "count": surface.mesh.positions.len(), "type": "VEC3"
        }))
    };
    let (position, normal) = (part(0), part(12));
    if let Some(morphed) = &surface.morphed {
        let deltas = morphed.positions.iter().zip(&surface.mesh.positions).map(|(m, p)| vector(*m - *p));
        set_bounds(&mut buffer.accessors[position], deltas);
    }
    json!({ "POSITION": position, "NORMAL": normal })
}

fn set_bounds(accessor: &mut Value, values: impl Iterator<Item = [f32; 3]>) {
    let (mut min, mut max) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for value in values {
        for k in 0..3 {
            min[k] = min[k].min(value[k]);
            max[k] = max[k].max(value[k]);
        }
    }
    accessor["min"] = json!(min);
    accessor["max"] = json!(max);
}

/// One animation: the hips' way, every joint's rotation, the eyes' morph.
fn write_clip(buffer: &mut Buffer, clip: &Clip, eyes: usize) -> Value {
    let times: Vec<Vec<f32>> = clip.times.iter().map(|t| vec![*t as f32]).collect();
    let input = buffer.floats("SCALAR", &times);
    (buffer.accessors[input]["min"], buffer.accessors[input]["max"]) = (json!(times[0]), json!(times[times.len() - 1]));
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    let mut add = |buffer: &mut Buffer, node: usize, path: &str, kind: &str, row: &dyn Fn(&Pose) -> Vec<f32>| {
        let rows: Vec<Vec<f32>> = clip.poses.iter().map(row).collect();
        let output = buffer.floats(kind, &rows);
        channels.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
        samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
    };
    add(buffer, HIPS, "translation", "VEC3", &|pose| vector(pose.hips).to_vec());
    for joint in 0..clip.poses[0].rotations.len() {
        add(buffer, joint, "rotation", "VEC4", &|pose| quaternion(pose.rotations[joint]));
    }
    add(buffer, eyes, "weights", "SCALAR", &|pose| vec![rounded(pose.blink, 1024.0)]);
    json!({ "name": clip.name, "samplers": samplers, "channels": channels })
}
