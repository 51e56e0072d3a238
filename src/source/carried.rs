//! What passes from the input to the output unopened: materials, textures, samplers, and images with their bytes.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::document::Document;
use crate::Fault;
use crate::scene::{Carried, Image};
use crate::warning::{Code, Warnings};

/// Takes a root array out of the carried JSON.
pub(super) fn take_array(json: &mut Map<String, Value>, key: &str) -> Result<Vec<Value>, Fault> {
    let items = match json.remove(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(Fault::new(format!("/{key}"), format!("`{key}` is not an array"), "export the model again")),
    };
    match items.iter().position(|item| !item.is_object()) {
        None => Ok(items),
        Some(i) => Err(Fault::new(format!("/{key}/{i}"), "the item is not an object", "export the model again")),
    }
}

/// Fills the parcel. `images` are the items of the file's `images`.
pub(super) fn read_carried(
    doc: &Document<'_>,
    mut json: Map<String, Value>,
    images: Vec<Value>,
    warnings: &mut Warnings,
) -> Result<Carried, Fault> {
    let mut carried = Carried {
        materials: take_array(&mut json, "materials")?,
        textures: take_array(&mut json, "textures")?,
        samplers: take_array(&mut json, "samplers")?,
        extensions_used: doc.root.extensions_used.clone(),
        extensions_required: doc.root.extensions_required.clone(),
        copyright: doc.root.asset.copyright.clone(),
        ..Carried::default()
    };
    let mut lost = Vec::new();
    for (i, image) in images.into_iter().enumerate() {
        if let Value::Object(image) = image {
            carried.images.push(read_image(doc, image, i, &mut lost));
        }
    }
    warnings.add(Code::ImageMissing, lost.len() as u64, || {
        format!("{{count}} images could not be read (first: {}); the materials keep their other parts", lost[0])
    });
    if let Some(Value::Object(extensions)) = json.remove("extensions") {
        let used = extensions_of(&carried);
        carried.extensions = extensions.into_iter().filter(|(name, _)| used.contains(name.as_str())).collect();
    }
    Ok(carried)
}

/// Number of the TEXCOORD set that a material's normal map reads.
pub(super) fn normal_map_uv(material: &Value) -> u32 {
    let texture = &material["normalTexture"];
    let transformed = &texture["extensions"]["KHR_texture_transform"]["texCoord"];
    transformed.as_u64().or_else(|| texture["texCoord"].as_u64()).and_then(|n| n.try_into().ok()).unwrap_or(0)
}

/// Extensions that materials, textures, samplers and images use, whose root objects they may then need.
fn extensions_of(carried: &Carried) -> BTreeSet<String> {
    let items = carried.materials.iter().chain(&carried.textures).chain(&carried.samplers);
    let all = items.map(|item| item.get("extensions")).chain(carried.images.iter().map(|image| image.json.get("extensions")));
    all.flatten().filter_map(Value::as_object).flat_map(Map::keys).cloned().collect()
}

/// Reads one image; what cannot be read leaves its bytes empty and a sentence in `lost`.
fn read_image(doc: &Document<'_>, mut json: Map<String, Value>, index: usize, lost: &mut Vec<Fault>) -> Image {
    let pointer = format!("/images/{index}");
    let uri = json.remove("uri").and_then(|v| v.as_str().map(str::to_owned));
    let view = json.remove("bufferView").and_then(|v| v.as_u64());
    let declared = json.get("mimeType").and_then(Value::as_str).map(str::to_owned);
    let found = match (&uri, view) {
        (Some(uri), _) => doc.load(uri, &pointer).map(|loaded| (loaded.bytes, loaded.mime_type)),
        (None, Some(view)) => doc.view(usize::try_from(view).unwrap_or(usize::MAX), &pointer).and_then(|bytes| {
            // Many images may stand for the same bytes.
            doc.reserve(1, bytes.len() as u64, &pointer)?;
            Ok((bytes.to_vec(), None))
        }),
        (None, None) => Err(Fault::new(&pointer, "the image has neither a URI nor a buffer view", "")),
    };
    let (bytes, mime) = match found {
        Ok((bytes, mime)) => (Some(bytes), mime),
        Err(fault) => {
            lost.push(Fault { remedy: String::new(), ..fault });
            (None, None)
        }
    };
    // What the bytes are counts more than what is said of them.
    let sniffed = bytes.as_deref().and_then(sniff).map(str::to_owned);
    let mime_type = sniffed.or(declared).or(mime).or_else(|| uri.as_deref().and_then(by_extension).map(str::to_owned));
    Image { json, bytes, mime_type }
}

/// Media type from the first bytes.
fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        b if b.starts_with(b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        b if b.starts_with(b"\xFF\xD8\xFF") => Some("image/jpeg"),
        b if b.starts_with(b"\xABKTX 20\xBB") => Some("image/ktx2"),
        b if b.starts_with(b"RIFF") && b.get(8..12) == Some(b"WEBP") => Some("image/webp"),
        b if b.get(4..12) == Some(b"ftypavif") => Some("image/avif"),
        b if b.starts_with(b"DDS ") => Some("image/vnd-ms.dds"),
        _ => None,
    }
}

fn by_extension(uri: &str) -> Option<&'static str> {
    match uri.rsplit('.').next()?.to_ascii_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "webp" => Some("image/webp"),
        "ktx2" => Some("image/ktx2"),
        "avif" => Some("image/avif"),
        "dds" => Some("image/vnd-ms.dds"),
        _ => None,
    }
}
