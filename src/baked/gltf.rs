//! GLB and glTF as far as a static mesh goes: what this program writes, and what engines and DCC tools make of it.
//!
//! Accessors with strides, integer components and normalised ones, node transforms, several meshes. Sparse and compressed data, which
//! none of them writes unasked, is an error with its remedy.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use glam::{DMat4, DQuat, DVec3};
use serde_json::Value;

use super::locate;
use crate::{Error, Result};

/// Elements that an accessor may have.
const MOST_ELEMENTS: u64 = 1 << 26;
/// Nodes below each other.
const MOST_DEPTH: usize = 256;

/// A parsed file with its buffers.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) root: Value,
    buffers: Vec<Vec<u8>>,
}

/// A primitive as a node shows it.
#[derive(Debug, Clone)]
pub(crate) struct Shown<'a> {
    /// From the mesh to the scene.
    pub(crate) world: DMat4,
    /// The primitive.
    pub(crate) json: &'a Value,
}

impl Document {
    /// Reads a file with the buffers that it names.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = locate::read_limited(path, "read the mesh", 1 << 32)?;
        Self::parse(&bytes, &locate::folder(path)).map_err(|text| Error::Bake(format!("{text}: {}", path.display())))
    }

    fn parse(bytes: &[u8], folder: &Path) -> Result<Self, String> {
        let (json, bin) = split(bytes)?;
        let root: Value = serde_json::from_slice(json).map_err(|e| format!("the file's JSON cannot be read ({e}); write it again"))?;
        if !root.is_object() {
            return Err("the file's JSON is no object; write it again".into());
        }
        let mut buffers = Vec::new();
        for (i, buffer) in list(&root, "buffers").iter().enumerate() {
            let bytes = match buffer["uri"].as_str() {
                Some(uri) => load(uri, folder).map_err(|why| format!("buffer {i} cannot be read ({why}); put it beside the file"))?,
                None if i == 0 => bin.unwrap_or_default().to_vec(),
                None => Vec::new(),
            };
            buffers.push(bytes);
        }
        Ok(Self { root, buffers })
    }

    /// Every primitive that the scene shows, with its node's transform: the scene's nodes depth first.
    pub(crate) fn shown(&self) -> Result<Vec<Shown<'_>>, String> {
        let nodes = list(&self.root, "nodes");
        let number = self.root["scene"].as_u64().unwrap_or(0);
        let scene = usize::try_from(number).ok().and_then(|n| list(&self.root, "scenes").get(n));
        let roots: Vec<usize> = match scene {
            Some(scene) => numbers(&scene["nodes"]),
            // Without a scene: every node that is nobody's child.
            None => {
                let children: std::collections::BTreeSet<usize> = nodes.iter().flat_map(|n| numbers(&n["children"])).collect();
                (0..nodes.len()).filter(|n| !children.contains(n)).collect()
            }
        };
        let mut shown = Vec::new();
        let mut visits = 0;
        // On a stack of its own: last in, first out, so children are pushed backwards.
        let mut stack: Vec<(usize, DMat4, usize)> = roots.into_iter().rev().map(|n| (n, DMat4::IDENTITY, 0)).collect();
        while let Some((number, parent, depth)) = stack.pop() {
            visits += 1;
            if depth > MOST_DEPTH || visits > nodes.len() {
                return Err("the file's nodes are children of themselves; write it again".into());
            }
            let node = nodes.get(number).ok_or_else(|| format!("node {number} does not exist; write the file again"))?;
            let world = parent * local_matrix(node);
            let at_depth = numbers(&node["children"]).into_iter().rev().map(|child| (child, world, depth + 1));
            stack.extend(at_depth);
            let Some(mesh) = node["mesh"].as_u64() else { continue };
            let mesh = usize::try_from(mesh).ok().and_then(|m| list(&self.root, "meshes").get(m));
            let mesh = mesh.ok_or_else(|| format!("the mesh of node {number} does not exist; write the file again"))?;
            for json in list(mesh, "primitives") {
                shown.push(Shown { world, json });
            }
        }
        Ok(shown)
    }

    /// An attribute of a primitive as floats, `N` components an element; none where it has no such attribute. More components in the
    /// file are left.
    pub(crate) fn attribute<const N: usize>(&self, primitive: &Value, name: &str) -> Result<Option<Vec<[f32; N]>>, String> {
        if let Some(extension) = packed_by(primitive) {
            return Err(format!("the mesh is compressed ({extension}); write it without compression"));
        }
        let accessor = &primitive["attributes"][name];
        if accessor.is_null() {
            return Ok(None);
        }
        let view = self.accessor(accessor).map_err(|why| format!("{name}: {why}"))?;
        if view.components < N {
            return Err(format!("{name} has {} components, wanted {N}; write the file again", view.components));
        }
        let read = |i: usize| std::array::from_fn(|c| view.float(i, c));
        Ok(Some((0..view.count).map(read).collect()))
    }

    /// What an accessor's components are stored as; none where there is no such attribute.
    pub(crate) fn component_type(&self, primitive: &Value, name: &str) -> Option<u64> {
        let index = usize::try_from(primitive["attributes"][name].as_u64()?).ok()?;
        list(&self.root, "accessors").get(index)?["componentType"].as_u64()
    }

    /// Indices of a primitive, or one a vertex where it has none. All are below `vertices`.
    pub(crate) fn indices(&self, primitive: &Value, vertices: usize) -> Result<Vec<u32>, String> {
        if !matches!(primitive["mode"].as_u64(), None | Some(4)) {
            return Err(format!("a primitive has the mode {}, where triangles (4) are read", primitive["mode"]));
        }
        if primitive["indices"].is_null() {
            return Ok((0..u32::try_from(vertices).unwrap_or(u32::MAX)).collect());
        }
        let view = self.accessor(&primitive["indices"]).map_err(|why| format!("indices: {why}"))?;
        let all: Vec<u32> = (0..view.count).map(|i| view.integer(i)).collect();
        match all.iter().find(|&&i| i as usize >= vertices) {
            Some(i) => Err(format!("an index names vertex {i} of {vertices}; the file is damaged")),
            None => Ok(all),
        }
    }

    fn accessor(&self, number: &Value) -> Result<View<'_>, String> {
        let find = |name: &str, number: &Value| {
            let index = number.as_u64().and_then(|n| usize::try_from(n).ok());
            index.and_then(|i| list(&self.root, name).get(i)).ok_or_else(|| format!("{name} {number} does not exist; the file is damaged"))
        };
        let accessor = find("accessors", number)?;
        if !accessor["sparse"].is_null() {
            return Err("the data is stored sparsely; write it in full".into());
        }
        let count = accessor["count"].as_u64().filter(|&n| n <= MOST_ELEMENTS).ok_or("the count is missing or too large")?;
        let components = match accessor["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            other => return Err(format!("the type {other:?} is none of an attribute")),
        };
        let kind = accessor["componentType"].as_u64().unwrap_or_default();
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            other => return Err(format!("the component type {other} does not exist")),
        };
        let buffer_view = find("bufferViews", &accessor["bufferView"])?;
        if let Some(extension) = packed_by(buffer_view) {
            return Err(format!("the data is compressed ({extension}); write it without compression"));
        }
        let bytes = self.view_bytes(buffer_view)?;
        let offset = accessor["byteOffset"].as_u64().unwrap_or(0);
        let packed = components as u64 * size as u64;
        let stride = buffer_view["byteStride"].as_u64().filter(|&s| s > 0).unwrap_or(packed);
        let end = count.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(packed)?.checked_add(offset));
        if stride < packed || end.is_none_or(|end| end > bytes.len() as u64) {
            return Err(format!("{count} elements of {packed} bytes do not fit a view of {} bytes; the file is damaged", bytes.len()));
        }
        let normalized = accessor["normalized"].as_bool().unwrap_or(false);
        let (offset, stride, count) = (offset as usize, stride as usize, count as usize);
        Ok(View { bytes, offset, stride, count, components, kind, size, normalized })
    }

    /// Bytes of a buffer view by its number.
    pub(crate) fn buffer_view(&self, number: u64) -> Result<&[u8], String> {
        let view = usize::try_from(number).ok().and_then(|n| list(&self.root, "bufferViews").get(n));
        self.view_bytes(view.ok_or_else(|| format!("buffer view {number} does not exist; the file is damaged"))?)
    }

    fn view_bytes(&self, view: &Value) -> Result<&[u8], String> {
        let number = view["buffer"].as_u64().and_then(|n| usize::try_from(n).ok());
        let buffer = number.and_then(|n| self.buffers.get(n)).ok_or("a buffer view names no buffer; the file is damaged")?;
        let offset = view["byteOffset"].as_u64().unwrap_or(0);
        let end = view["byteLength"].as_u64().and_then(|length| offset.checked_add(length));
        let range = usize::try_from(offset).ok().zip(end.and_then(|e| usize::try_from(e).ok()));
        let bytes = range.and_then(|(start, end)| buffer.get(start..end));
        bytes.ok_or_else(|| format!("a buffer view goes past its buffer of {} bytes; the file is damaged", buffer.len()))
    }
}

/// The elements of an accessor: all within `bytes`.
struct View<'a> {
    bytes: &'a [u8],
    offset: usize,
    stride: usize,
    count: usize,
    components: usize,
    kind: u64,
    size: usize,
    normalized: bool,
}

impl View<'_> {
    fn raw(&self, element: usize, component: usize) -> [u8; 4] {
        let at = self.offset + element * self.stride + component * self.size;
        let mut four = [0; 4];
        if let Some(bytes) = self.bytes.get(at..at + self.size) {
            four[..self.size].copy_from_slice(bytes);
        }
        four
    }

    fn float(&self, element: usize, component: usize) -> f32 {
        let raw = self.raw(element, component);
        let scaled = |value: f32, most: f32| if self.normalized { (value / most).max(-1.0) } else { value };
        match self.kind {
            5120 => scaled(f32::from(raw[0] as i8), 127.0),
            5121 => scaled(f32::from(raw[0]), 255.0),
            5122 => scaled(f32::from(i16::from_le_bytes([raw[0], raw[1]])), 32767.0),
            5123 => scaled(f32::from(u16::from_le_bytes([raw[0], raw[1]])), 65535.0),
            5125 => u32::from_le_bytes(raw) as f32,
            _ => f32::from_le_bytes(raw),
        }
    }

    /// Unsigned, for indices.
    fn integer(&self, element: usize) -> u32 {
        u32::from_le_bytes(self.raw(element, 0))
    }
}

/// An array of a JSON object, empty where it has none.
pub(crate) fn list<'a>(json: &'a Value, name: &str) -> &'a [Value] {
    json[name].as_array().map_or(&[], Vec::as_slice)
}

fn numbers(json: &Value) -> Vec<usize> {
    json.as_array().into_iter().flatten().filter_map(|n| n.as_u64().and_then(|n| usize::try_from(n).ok())).collect()
}

/// The extension that a primitive's or a view's data is compressed with.
fn packed_by(json: &Value) -> Option<&'static str> {
    const EXTENSIONS: [&str; 3] = ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"];
    EXTENSIONS.into_iter().find(|name| json["extensions"].get(name).is_some())
}

/// JSON and binary chunk of a GLB, or a bare glTF.
fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    if !bytes.starts_with(b"glTF") {
        let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
        return match first {
            Some(b'{') => Ok((bytes, None)),
            _ => Err("the file is neither GLB nor glTF; export the mesh as .glb".into()),
        };
    }
    const CUT: &str = "the GLB is cut off or damaged; write it again";
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?));
    if word(4) != Some(2) {
        return Err("the GLB does not have version 2; export the mesh again".into());
    }
    let mut chunks: BTreeMap<u32, &[u8]> = BTreeMap::new();
    let mut at = 12;
    while at < bytes.len() {
        let (length, kind) = word(at).zip(word(at + 4)).ok_or(CUT)?;
        let start = at + 8;
        let end = start.checked_add(length as usize).ok_or(CUT)?;
        chunks.entry(kind).or_insert(bytes.get(start..end).ok_or(CUT)?);
        at = end.next_multiple_of(4);
    }
    let json = *chunks.get(&0x4E4F_534A).ok_or("the GLB has no JSON chunk; write it again")?;
    Ok((json.trim_ascii_end(), chunks.get(&0x004E_4942).copied()))
}

/// What a buffer's URI stands for: a data URI, or a file beside the document.
fn load(uri: &str, folder: &Path) -> Result<Vec<u8>, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        let encoded = data.split_once(";base64,").ok_or("its data URI is not base64")?.1;
        return base64::engine::general_purpose::STANDARD.decode(encoded).map_err(|e| e.to_string());
    }
    let name = percent_encoding::percent_decode_str(uri).decode_utf8().map_err(|e| e.to_string())?;
    let path = locate::beside(folder, &name).map_err(|_| format!("it is {uri:?}, outside the folder"))?;
    locate::read_limited(&path, "read the buffer", 1 << 32).map_err(|e| e.to_string())
}

fn local_matrix(node: &Value) -> DMat4 {
    fn array<const N: usize>(json: &Value) -> Option<[f64; N]> {
        let all: Vec<f64> = json.as_array()?.iter().filter_map(Value::as_f64).collect();
        all.try_into().ok()
    }
    if let Some(matrix) = array::<16>(&node["matrix"]) {
        return DMat4::from_cols_array(&matrix);
    }
    let translation = array(&node["translation"]).map_or(DVec3::ZERO, DVec3::from_array);
    let rotation =
        array(&node["rotation"]).map(DQuat::from_array).filter(|q| q.length_squared() > 0.0).map_or(DQuat::IDENTITY, |q| q.normalize());
    let scale = array(&node["scale"]).map_or(DVec3::ONE, DVec3::from_array);
    DMat4::from_scale_rotation_translation(scale, rotation, translation)
}
