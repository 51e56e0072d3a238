//! A glTF document made in code: typed accessors into one buffer, everything else as raw JSON that a test may break.
//!
//! ```ignore
//! let mut doc = Doc::new();
//! let position = doc.add(vec3(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]));
//! let mesh = doc.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": position } }] }));
//! doc.root(json!({ "mesh": mesh }));
//! doc.json["accessors"][position]["count"] = json!(u64::MAX);
//! ```

use base64::Engine;
use serde_json::{Value, json};

/// Component types by glTF's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    I8 = 5120,
    U8 = 5121,
    I16 = 5122,
    U16 = 5123,
    U32 = 5125,
    F32 = 5126,
}

impl Type {
    fn size(self) -> usize {
        match self {
            Type::I8 | Type::U8 => 1,
            Type::I16 | Type::U16 => 2,
            Type::U32 | Type::F32 => 4,
        }
    }

    fn write(self, value: f64, to: &mut Vec<u8>) {
        match self {
            Type::I8 => to.extend((value as i8).to_le_bytes()),
            Type::U8 => to.push(value as u8),
            Type::I16 => to.extend((value as i16).to_le_bytes()),
            Type::U16 => to.extend((value as u16).to_le_bytes()),
            Type::U32 => to.extend((value as u32).to_le_bytes()),
            Type::F32 => to.extend((value as f32).to_le_bytes()),
        }
    }
}

/// An accessor to be: raw component values (integers as stored) and how they lie in the buffer.
#[derive(Debug, Clone)]
pub struct Array {
    kind: &'static str,
    width: usize,
    component: Type,
    normalized: bool,
    values: Vec<f64>,
    stride: Option<usize>,
    view_offset: usize,
    accessor_offset: usize,
    sparse: Option<(Vec<f64>, Vec<f64>)>,
    without_base: bool,
}

fn array(kind: &'static str, width: usize, values: Vec<f64>) -> Array {
    Array {
        kind,
        width,
        component: Type::F32,
        normalized: false,
        values,
        stride: None,
        view_offset: 0,
        accessor_offset: 0,
        sparse: None,
        without_base: false,
    }
}

/// SCALAR, f32 unless [`Array::of`] says otherwise.
pub fn scalars(values: &[f64]) -> Array {
    array("SCALAR", 1, values.to_vec())
}
/// VEC2.
pub fn vec2(values: &[[f64; 2]]) -> Array {
    array("VEC2", 2, values.concat())
}
/// VEC3.
pub fn vec3(values: &[[f64; 3]]) -> Array {
    array("VEC3", 3, values.concat())
}
/// VEC4.
pub fn vec4(values: &[[f64; 4]]) -> Array {
    array("VEC4", 4, values.concat())
}
/// MAT4, column-major.
pub fn mat4(values: &[[f64; 16]]) -> Array {
    array("MAT4", 16, values.concat())
}

impl Array {
    /// Stored as this component type; values are rounded towards zero by the cast.
    pub fn of(mut self, component: Type) -> Self {
        self.component = component;
        self
    }
    /// Integers stand for 0..1 or -1..1.
    pub fn normalized(mut self) -> Self {
        self.normalized = true;
        self
    }
    /// Elements this many bytes apart, with 0xEE between them.
    pub fn stride(mut self, bytes: usize) -> Self {
        self.stride = Some(bytes);
        self
    }
    /// The view starts this many bytes (of 0xEE) later than it need.
    pub fn view_offset(mut self, bytes: usize) -> Self {
        self.view_offset = bytes;
        self
    }
    /// The accessor starts this many bytes (of 0xEE) into its view.
    pub fn offset(mut self, bytes: usize) -> Self {
        self.accessor_offset = bytes;
        self
    }
    /// Replaces the elements at `indices` (kept as u16) by `values` through a sparse accessor.
    pub fn sparse(mut self, indices: &[u32], values: &[f64]) -> Self {
        self.sparse = Some((indices.iter().map(|&i| f64::from(i)).collect(), values.to_vec()));
        self
    }
    /// The values that a reader must find.
    fn shown(&self) -> Vec<f64> {
        let mut shown = if self.without_base { vec![0.0; self.values.len()] } else { self.values.clone() };
        let (indices, values) = self.sparse.as_ref().map_or((&[][..], &[][..]), |(i, v)| (i, v));
        for (index, element) in indices.iter().zip(values.chunks(self.width)) {
            let first = *index as usize * self.width; // may be out of range on purpose
            if let Some(place) = shown.get_mut(first..first + self.width) {
                place.copy_from_slice(element);
            }
        }
        shown
    }
    /// No bufferView: zeros, but for what a sparse part says. The values only give the count.
    pub fn without_base(mut self) -> Self {
        self.without_base = true;
        self
    }
}

/// A document with one buffer.
#[derive(Debug, Clone)]
pub struct Doc {
    /// The document; `buffers` is filled in when it is written.
    pub json: Value,
    /// Buffer 0.
    pub bin: Vec<u8>,
}

impl Doc {
    /// An asset with one empty scene.
    pub fn new() -> Self {
        Doc { json: json!({ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [] }] }), bin: Vec::new() }
    }

    /// Appends to a top-level array and returns the index.
    pub fn push(&mut self, list: &str, value: Value) -> usize {
        let list = &mut self.json[list];
        if list.is_null() {
            *list = json!([]);
        }
        let list = list.as_array_mut().expect("a top-level array");
        list.push(value);
        list.len() - 1
    }

    /// Appends a node.
    pub fn node(&mut self, value: Value) -> usize {
        self.push("nodes", value)
    }

    /// Appends a node and names it in scene 0.
    pub fn root(&mut self, value: Value) -> usize {
        let node = self.node(value);
        self.json["scenes"][0]["nodes"].as_array_mut().expect("nodes").push(json!(node));
        node
    }

    /// Appends raw bytes as a buffer view.
    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.align();
        let offset = self.bin.len();
        self.bin.extend_from_slice(bytes);
        self.push("bufferViews", json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }))
    }

    /// Appends an accessor with the buffer views that it needs.
    pub fn add(&mut self, array: Array) -> usize {
        let count = array.values.len() / array.width;
        let mut accessor = json!({ "componentType": array.component as u32, "count": count, "type": array.kind });
        if array.normalized {
            accessor["normalized"] = json!(true);
        }
        if !array.without_base {
            accessor["bufferView"] = json!(self.base_view(&array));
            if array.accessor_offset > 0 {
                accessor["byteOffset"] = json!(array.accessor_offset);
            }
        }
        let shown = array.shown();
        if count > 0 && shown.iter().all(|v| v.is_finite()) {
            let of = |best: fn(f64, f64) -> f64| -> Vec<f64> {
                let column = |c| shown.iter().skip(c).step_by(array.width).copied();
                (0..array.width).map(|c| rounded(array.component, column(c).reduce(best).expect("a value"))).collect()
            };
            accessor["min"] = json!(of(f64::min));
            accessor["max"] = json!(of(f64::max));
        }
        if let Some((indices, values)) = &array.sparse {
            let (mut index_bytes, mut value_bytes) = (Vec::new(), Vec::new());
            indices.iter().for_each(|&i| Type::U16.write(i, &mut index_bytes));
            values.iter().for_each(|&v| array.component.write(v, &mut value_bytes));
            let (index_view, value_view) = (self.view(&index_bytes), self.view(&value_bytes));
            accessor["sparse"] = json!({ "count": indices.len(), "indices": { "bufferView": index_view, "componentType": 5123 },
                "values": { "bufferView": value_view } });
        }
        self.push("accessors", accessor)
    }

    fn base_view(&mut self, array: &Array) -> usize {
        self.align();
        self.bin.resize(self.bin.len() + array.view_offset, 0xEE);
        let start = self.bin.len();
        self.bin.resize(start + array.accessor_offset, 0xEE);
        for (i, element) in array.values.chunks(array.width).enumerate() {
            if let Some(stride) = array.stride {
                self.bin.resize(start + array.accessor_offset + i * stride, 0xEE);
            }
            element.iter().for_each(|&v| array.component.write(v, &mut self.bin));
        }
        let mut view = json!({ "buffer": 0, "byteOffset": start, "byteLength": self.bin.len() - start });
        if let Some(stride) = array.stride {
            view["byteStride"] = json!(stride);
        }
        self.push("bufferViews", view)
    }

    /// Appends an animation of `(node, path, interpolation, times, outputs)`.
    pub fn animate(&mut self, name: Option<&str>, channels: &[(usize, &str, &str, &[f64], Array)]) -> usize {
        let (mut samplers, mut list) = (Vec::new(), Vec::new());
        for (node, path, interpolation, times, output) in channels {
            let (input, output) = (self.add(scalars(times)), self.add(output.clone()));
            list.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
            samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
        }
        let mut animation = json!({ "channels": list, "samplers": samplers });
        if let Some(name) = name {
            animation["name"] = json!(name);
        }
        self.push("animations", animation)
    }

    /// The document with `buffers`, as a GLB file or a `.gltf` file would hold it.
    fn whole(&self, uri: Option<String>) -> Value {
        let mut json = self.json.clone();
        if json.get("buffers").is_none() {
            json["buffers"] = json!([{ "byteLength": self.bin.len() }]);
        }
        if let Some(uri) = uri
            && json["buffers"][0].get("uri").is_none()
        {
            json["buffers"][0]["uri"] = json!(uri);
        }
        json
    }

    /// A `.gltf` whose buffer is a data URI.
    pub fn to_gltf(&self) -> Vec<u8> {
        let data = base64::engine::general_purpose::STANDARD.encode(&self.bin);
        self.to_gltf_with(&format!("data:application/octet-stream;base64,{data}"))
    }

    /// A `.gltf` whose buffer 0 has this URI.
    pub fn to_gltf_with(&self, uri: &str) -> Vec<u8> {
        serde_json::to_vec(&self.whole(Some(uri.into()))).expect("JSON")
    }

    /// A GLB.
    pub fn to_glb(&self) -> Vec<u8> {
        glb(&serde_json::to_vec(&self.whole(None)).expect("JSON"), &self.bin)
    }

    fn align(&mut self) {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0xEE);
    }
}

/// What a declared minimum must say of a value that was stored as this type.
fn rounded(component: Type, value: f64) -> f64 {
    if component == Type::F32 { f64::from(value as f32) } else { value.trunc() }
}

/// A GLB container around JSON text and binary data.
pub fn glb(json: &[u8], bin: &[u8]) -> Vec<u8> {
    let mut chunks = Vec::new();
    for (kind, bytes, pad) in [(0x4E4F_534A_u32, json, b' '), (0x004E_4942, bin, 0)] {
        let length = bytes.len().next_multiple_of(4);
        chunks.extend((length as u32).to_le_bytes());
        chunks.extend(kind.to_le_bytes());
        chunks.extend_from_slice(bytes);
        chunks.resize(chunks.len() + length - bytes.len(), pad);
    }
    let mut file = b"glTF".to_vec();
    file.extend(2_u32.to_le_bytes());
    file.extend((chunks.len() as u32 + 12).to_le_bytes());
    file.extend(chunks);
    file
}
