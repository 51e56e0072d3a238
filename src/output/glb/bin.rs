//! The binary chunk: what stands where, and as what.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::scene::{Attribute, Component};

/// Most vertices that 16-bit indices take: 65535 as an index restarts a primitive (glTF 2.0, 3.7.2.1).
const SHORT_VERTICES: usize = 65535;
/// `bufferView.target` of vertices.
const ARRAY_BUFFER: u32 = 34962;
/// `bufferView.target` of indices.
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// The binary chunk in the making, with the views and accessors into it.
#[derive(Debug, Default)]
pub struct Bin<'a> {
    /// `bufferViews`.
    pub views: Vec<Value>,
    /// `accessors`.
    pub accessors: Vec<Value>,
    /// The bytes of each view; padding to 4 is written between them.
    pub pieces: Vec<Cow<'a, [u8]>>,
    /// Bytes so far, each piece rounded up to 4.
    pub length: u64,
}

impl<'a> Bin<'a> {
    /// Adds bytes and gives their view.
    pub fn add_view(&mut self, bytes: Cow<'a, [u8]>, target: Option<u32>, stride: Option<usize>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.length, "byteLength": bytes.len() });
        if let Some(stride) = stride {
            view["byteStride"] = stride.into();
        }
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.length += (bytes.len() as u64).next_multiple_of(4);
        self.pieces.push(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    fn add_accessor(&mut self, view: usize, component: Component, kind: &str, count: usize) -> usize {
        self.accessors.push(json!({ "bufferView": view, "componentType": component.code(), "count": count, "type": kind }));
        self.accessors.len() - 1
    }

    /// Adds one value a vertex and gives the accessor.
    pub fn add_array<const N: usize>(&mut self, values: Cow<'a, [[f32; N]]>) -> usize {
        let count = values.len();
        let bytes = match values {
            Cow::Borrowed(values) => little_endian(values.as_flattened()),
            Cow::Owned(values) => little_endian(values.as_flattened()).into_owned().into(),
        };
        let view = self.add_view(bytes, Some(ARRAY_BUFFER), None);
        self.add_accessor(view, Component::F32, ["", "SCALAR", "VEC2", "VEC3", "VEC4"][N], count)
    }

    /// A carried attribute's elements from `first` on, each padded to a multiple of 4 bytes (glTF 2.0, 3.6.2.4: columns too).
    pub fn add_attribute(&mut self, attribute: &'a Attribute, first: usize, count: usize) -> usize {
        let kind = attribute.kind;
        let (name, columns) = match kind.components {
            1 => ("SCALAR", 1),
            2 => ("VEC2", 1),
            3 => ("VEC3", 1),
            4 => ("VEC4", 1),
            9 => ("MAT3", 3),
            _ => ("MAT4", 4),
        };
        let size = kind.component.size() * kind.components as usize;
        let column = size / columns;
        let padded = column.next_multiple_of(4);
        let source = &attribute.bytes[first * size..(first + count) * size];
        let bytes = if padded == column {
            Cow::Borrowed(source)
        } else {
            let mut bytes = vec![0; count * columns * padded];
            for (to, from) in bytes.chunks_exact_mut(padded).zip(source.chunks_exact(column)) {
                to[..column].copy_from_slice(from);
            }
            Cow::Owned(bytes)
        };
        let stride = (padded != column).then_some(padded * columns);
        let view = self.add_view(bytes, Some(ARRAY_BUFFER), stride);
        let accessor = self.add_accessor(view, kind.component, name, count);
        if kind.normalized {
            self.accessors[accessor]["normalized"] = true.into();
        }
        accessor
    }

    /// Adds indices, of 16 bits where the number of vertices allows, and gives the accessor.
    pub fn add_indices(&mut self, indices: impl ExactSizeIterator<Item = u32>, vertex_count: usize) -> usize {
        let count = indices.len();
        let (bytes, component): (Vec<u8>, _) = if vertex_count <= SHORT_VERTICES {
            (indices.flat_map(|i| (i as u16).to_le_bytes()).collect(), Component::U16)
        } else {
            (indices.flat_map(u32::to_le_bytes).collect(), Component::U32)
        };
        let view = self.add_view(bytes.into(), Some(ELEMENT_ARRAY_BUFFER), None);
        self.add_accessor(view, component, "SCALAR", count)
    }
}

fn little_endian(values: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") { bytemuck::cast_slice(values).into() } else { values.iter().flat_map(|v| v.to_le_bytes()).collect() }
}
