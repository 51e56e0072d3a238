//! Compresses buffer views of a fixture as gltfpack does: EXT_meshopt_compression or KHR_meshopt_compression, with the data in
//! buffer 0 and a placeholder where the plain data would be.

use serde_json::{Value, json};

use super::fixture::Doc;

/// What a compressed view says about itself.
#[derive(Debug, Clone, Copy)]
pub struct Packing {
    /// `EXT_meshopt_compression` or `KHR_meshopt_compression`.
    pub extension: &'static str,
    /// `ATTRIBUTES`, `TRIANGLES` or `INDICES`.
    pub mode: &'static str,
    /// `NONE`, `OCTAHEDRAL`, `QUATERNION`, `EXPONENTIAL`.
    pub filter: &'static str,
}

/// The view of an accessor and the number of its elements.
pub fn view_of(doc: &Doc, accessor: usize) -> (usize, usize) {
    let number = |name: &str| doc.json["accessors"][accessor][name].as_u64().expect("a number") as usize;
    (number("bufferView"), number("count"))
}

/// Lets `encoded` stand for the bytes of an accessor's view: `count` elements of `stride` bytes. The plain bytes are wiped.
pub fn compress(doc: &mut Doc, accessor: usize, stride: usize, packing: Packing, encoded: &[u8]) {
    let (view, count) = view_of(doc, accessor);
    let place = |name: &str, json: &Value| json["bufferViews"][view][name].as_u64().unwrap_or(0) as usize;
    let (start, length) = (place("byteOffset", &doc.json), place("byteLength", &doc.json));
    doc.bin[start..start + length].fill(0xEE);
    let scratch = doc.view(encoded);
    let at = doc.json["bufferViews"][scratch]["byteOffset"].clone();
    doc.json["bufferViews"].as_array_mut().expect("views").pop();
    let mut compressed = json!({ "buffer": 1, "byteOffset": 0, "byteLength": count * stride, "extensions": { packing.extension:
        { "buffer": 0, "byteOffset": at, "byteLength": encoded.len(), "byteStride": stride, "count": count, "mode": packing.mode,
          "filter": packing.filter } } });
    if packing.mode == "ATTRIBUTES" && length != count * stride {
        compressed["byteStride"] = json!(stride); // elements are padded
    }
    if let Some(stride) = doc.json["bufferViews"][view].get("byteStride") {
        compressed["byteStride"] = stride.clone();
    }
    doc.json["bufferViews"][view] = compressed;
    let longest = doc.json["buffers"][1]["byteLength"].as_u64().unwrap_or(0).max((count * stride) as u64);
    doc.json["buffers"] = json!([{ "byteLength": doc.bin.len() },
        { "byteLength": longest, "extensions": { packing.extension: { "fallback": true } } }]);
    for list in ["extensionsUsed", "extensionsRequired"] {
        let list = &mut doc.json[list];
        if list.is_null() {
            *list = json!([]);
        }
        let list = list.as_array_mut().expect("extensions");
        if !list.iter().any(|e| e == packing.extension) {
            list.push(json!(packing.extension));
        }
    }
}

/// Elements of `N` bytes, out of packed ones of `size` bytes that are padded with zeros.
pub fn padded<const N: usize>(bytes: &[u8], size: usize) -> Vec<[u8; N]> {
    bytes.chunks(size).map(|element| std::array::from_fn(|i| element.get(i).copied().unwrap_or(0))).collect()
}

/// The vertex codec at its version 0 or 1.
pub fn vertices<const N: usize>(elements: &[[u8; N]], version: i32) -> Vec<u8> {
    meshopt::encode_vertex_buffer_level(elements, 2, Some(version)).expect("encoded vertices")
}
