//! Materials as far as a preview shows them: base colour, its picture, and how alpha is meant.

use base64::Engine;
use serde_json::Value;

use super::gltf::{Document, list};

/// A material of the mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The file's name for it.
    pub name: Option<String>,
    /// Linear RGBA; the picture is multiplied by it.
    pub base_color: [f32; 4],
    /// The base-colour picture.
    pub image: Option<Picture>,
    /// Whether back faces are shown.
    pub double_sided: bool,
    /// What alpha means.
    pub alpha_mode: AlphaMode,
    /// With [`AlphaMode::Mask`]: what is below is not there.
    pub alpha_cutoff: f32,
}

/// What alpha means (glTF 2.0, 3.9.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AlphaMode {
    /// Nothing.
    Opaque,
    /// There or not.
    Mask,
    /// Blended.
    Blend,
}

/// An encoded picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Media type, as in `image/png`.
    pub mime: String,
    /// The file's bytes.
    pub bytes: Vec<u8>,
}

/// How the base-colour texture is laid on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mapping {
    pub(super) set: u64,
    offset: [f32; 2],
    rotation: f32,
    scale: [f32; 2],
}

impl Mapping {
    /// Translation * rotation * scale (KHR_texture_transform).
    pub(super) fn apply(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        let (u, v) = (u * self.scale[0], v * self.scale[1]);
        let (sin, cos) = self.rotation.sin_cos();
        [self.offset[0] + cos * u + sin * v, self.offset[1] - sin * u + cos * v]
    }
}

/// All materials of a file. A picture that cannot be read is absent.
pub(super) fn read(document: &Document) -> Result<Vec<(Material, Option<Mapping>)>, String> {
    let read = |json: &Value| {
        let specular = &json["extensions"]["KHR_materials_pbrSpecularGlossiness"];
        let metallic = &json["pbrMetallicRoughness"];
        let (factor, texture) = match metallic.is_object() || !specular.is_object() {
            true => (&metallic["baseColorFactor"], &metallic["baseColorTexture"]),
            false => (&specular["diffuseFactor"], &specular["diffuseTexture"]),
        };
        let material = Material {
            name: json["name"].as_str().map(str::to_owned),
            base_color: floats(factor).unwrap_or([1.0; 4]),
            image: texture["index"].as_u64().and_then(|index| find_picture(document, index)),
            double_sided: json["doubleSided"].as_bool().unwrap_or(false),
            alpha_mode: match json["alphaMode"].as_str() {
                Some("MASK") => AlphaMode::Mask,
                Some("BLEND") => AlphaMode::Blend,
                _ => AlphaMode::Opaque,
            },
            alpha_cutoff: json["alphaCutoff"].as_f64().unwrap_or(0.5) as f32,
        };
        (material, texture.is_object().then(|| read_mapping(texture)))
    };
    Ok(list(&document.root, "materials").iter().map(read).collect())
}

fn read_mapping(texture: &Value) -> Mapping {
    let transform = &texture["extensions"]["KHR_texture_transform"];
    Mapping {
        set: transform["texCoord"].as_u64().or(texture["texCoord"].as_u64()).unwrap_or(0),
        offset: floats(&transform["offset"]).unwrap_or([0.0; 2]),
        rotation: transform["rotation"].as_f64().unwrap_or(0.0) as f32,
        scale: floats(&transform["scale"]).unwrap_or([1.0; 2]),
    }
}

/// The picture of a texture: its own source first, for that is PNG or JPEG, then those of extensions.
fn find_picture(document: &Document, texture: u64) -> Option<Picture> {
    let texture = list(&document.root, "textures").get(usize::try_from(texture).ok()?)?;
    let others = texture["extensions"].as_object().into_iter().flat_map(|all| all.values()).map(|e| &e["source"]);
    let sources = std::iter::once(&texture["source"]).chain(others).filter_map(Value::as_u64);
    sources.filter_map(|source| read_picture(document, list(&document.root, "images").get(usize::try_from(source).ok()?)?)).next()
}

fn read_picture(document: &Document, image: &Value) -> Option<Picture> {
    let mut mime = image["mimeType"].as_str().map(str::to_owned);
    let bytes = if let Some(view) = image["bufferView"].as_u64() {
        document.buffer_view(view).ok()?.to_vec()
    } else {
        let (kind, data) = image["uri"].as_str()?.strip_prefix("data:")?.split_once(";base64,")?;
        mime = mime.or_else(|| Some(kind.to_owned()));
        base64::engine::general_purpose::STANDARD.decode(data).ok()?
    };
    let found = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [0xAB, b'K', b'T', b'X', ..] => Some("image/ktx2"),
        _ => None,
    };
    Some(Picture { mime: found.map(str::to_owned).or(mime)?, bytes })
}

fn floats<const N: usize>(json: &Value) -> Option<[f32; N]> {
    let all: Vec<f32> = json.as_array()?.iter().filter_map(|v| Some(v.as_f64()? as f32)).collect();
    all.try_into().ok()
}
