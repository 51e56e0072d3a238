//! The sidecar: everything that a player must know, as JSON.
//!
//! The structures mirror format.md ("The sidecar") field by field, in its order; their comments are the descriptions of the
//! schema. Numbers are f32 and are written in the shortest form that parses back to the same f32.

use std::io::Write;
use std::path::Path;

use glam::{Mat3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::json::Lines;
use crate::options::Rest;
use crate::warning::Warning;
use crate::{Error, Result};

/// Version of the format that is written and the only one that is read.
pub const VERSION: u32 = 1;

/// Describes one bake: its textures, its mesh and its clips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sidecar {
    /// Always `vatbake`.
    pub format: Name,
    /// Version of the format; a change of meaning raises it.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The program that wrote it.
    pub generator: String,
    /// The model that was baked.
    pub source: Source,
    /// Coordinate system of positions, normals and the mesh.
    pub space: Space,
    /// Which pose the mesh shows.
    pub rest: Rest,
    /// Vertices of the bake, over all parts.
    pub vertex_count: u32,
    /// Frames of the bake, over all clips.
    pub frame_count: u32,
    /// Where a vertex and frame stand in the textures.
    pub layout: Layout,
    /// The textures.
    pub textures: Vec<Texture>,
    /// The static mesh.
    pub mesh: Mesh,
    /// Clips in the order of their frames.
    pub clips: Vec<Clip>,
    /// Box of all animated positions and the rest pose, for culling; not the value range.
    pub bounds: Bounds,
    /// Everything that the bake found worth saying.
    pub warnings: Vec<Warning>,
}

/// The format's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Name {
    /// The only one.
    #[default]
    Vatbake,
}

/// The model that was baked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// File name without its folder.
    pub file: String,
    /// SHA-256 of the file's bytes, hexadecimal.
    pub sha256: String,
    /// Index of the glTF scene.
    pub scene: u32,
}

/// Coordinate system of texels, ranges, bounds and lengths: glTF's own in metres, or that of the engine that the bake is for. The
/// mesh's file is glTF and stays in glTF's axes and metres; the engine's importer turns it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Space {
    /// Axis that points up.
    pub up: Up,
    /// Axis that a model faces.
    pub forward: Forward,
    /// Handedness.
    pub handedness: Handedness,
    /// Factor that was applied to every length of the source.
    pub scale: f32,
    /// Unit of lengths; absent where it is the metre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

impl Space {
    /// glTF's axes, lengths times `scale`.
    pub fn scaled(scale: f32) -> Self {
        Self { up: Up::PositiveY, forward: Forward::PositiveZ, handedness: Handedness::Right, scale, unit: None }
    }

    /// From glTF's axes to these: a rotation, with a reflection where handedness differs. Lengths keep their unit.
    pub fn axes(&self) -> Mat3 {
        let up = match self.up {
            Up::PositiveY => Vec3::Y,
            Up::PositiveZ => Vec3::Z,
        };
        let forward = match self.forward {
            Forward::PositiveY => Vec3::Y,
            Forward::PositiveZ => Vec3::Z,
        };
        let side = match self.handedness {
            Handedness::Right => up.cross(forward),
            Handedness::Left => forward.cross(up),
        };
        Mat3::from_cols(side, up, forward)
    }

    /// Units of a metre.
    pub fn units_a_metre(&self) -> f32 {
        if self.unit == Some(Unit::Centimetre) { 100.0 } else { 1.0 }
    }
}

/// Axis that points up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Up {
    /// +Y.
    #[serde(rename = "+y")]
    PositiveY,
    /// +Z.
    #[serde(rename = "+z")]
    PositiveZ,
}

/// Axis that a model faces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Forward {
    /// +Y.
    #[serde(rename = "+y")]
    PositiveY,
    /// +Z.
    #[serde(rename = "+z")]
    PositiveZ,
}

/// Handedness of a coordinate system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Handedness {
    /// Right-handed.
    Right,
    /// Left-handed.
    Left,
}

/// Where a vertex and frame stand in the textures: vertex i of frame f (over all clips) is the texel
/// `(i mod width, floor(i / width) * frame_count + f)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Layout {
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Runs of `width` vertices; each has `frame_count` rows.
    pub blocks: u32,
    /// Order of the rows.
    pub order: Order,
    /// Which row of the image is row 0.
    pub first_row: FirstRow,
}

/// Order of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// All frames of the first block of vertices, then all frames of the next.
    BlockMajor,
}

/// Which row of the image is row 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FirstRow {
    /// The top one, the first in the file.
    Top,
}

/// One texture. It is linear data: to be sampled without filtering, mip maps or lossy compression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Texture {
    /// What it holds.
    pub role: Role,
    /// File name, beside the sidecar.
    pub file: String,
    /// Pixel format of the file.
    pub pixel: Pixel,
    /// Texture format to upload to that needs no optional feature.
    pub upload: Upload,
    /// From texel to value.
    pub encoding: Encoding,
    /// Per axis: value = texel * scale + bias, for the unorm encodings of positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f32; 3]>,
    /// Per axis: value = texel * scale + bias, for the unorm encodings of positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<[f32; 3]>,
    /// Bytes on the GPU in the upload format.
    pub gpu_bytes: u64,
    /// CRC-32 of the decoded texels, little-endian components in file order; eight hexadecimal digits.
    pub crc32: String,
    /// Measured against the values before quantisation, over every texel.
    pub error: Deviation,
}

/// What a texture holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Where the vertex is.
    Position,
    /// The unit normal.
    Normal,
    /// The unit tangent.
    Tangent,
}

/// Pixel format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pixel {
    /// 16-bit PNG or raw texels: texel = stored / 65535.
    Rgba16Unorm,
    /// 8-bit PNG: texel = stored / 255.
    Rgba8Unorm,
    /// Half-float EXR, KTX2 or raw texels.
    Rgba16Float,
    /// 32-bit float EXR or raw texels.
    Rgba32Float,
}

impl Pixel {
    /// The texture format that takes the file's texels without an optional feature.
    pub fn upload(self) -> Upload {
        match self {
            Self::Rgba16Unorm => Upload::Rgba16Uint,
            Self::Rgba8Unorm => Upload::Rgba8Unorm,
            Self::Rgba16Float => Upload::Rgba16Float,
            Self::Rgba32Float => Upload::Rgba32Float,
        }
    }

    /// Bytes of a texel on the GPU.
    pub fn texel_bytes(self) -> u64 {
        match self {
            Self::Rgba8Unorm => 4,
            Self::Rgba16Unorm | Self::Rgba16Float => 8,
            Self::Rgba32Float => 16,
        }
    }
}

/// Texture format on the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Upload {
    /// Unsigned integers: texel = value / 65535.
    Rgba16Uint,
    /// 0..1.
    Rgba8Unorm,
    /// Half floats.
    Rgba16Float,
    /// 32-bit floats.
    Rgba32Float,
}

/// From texel to value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// rest + texel * scale + bias, texel in 0..1; rest is the POSITION of the mesh.
    OffsetUnorm,
    /// texel * scale + bias, texel in 0..1.
    AbsoluteUnorm,
    /// rest + texel; rest is the POSITION of the mesh.
    OffsetFloat,
    /// texel.
    AbsoluteFloat,
    /// normalize(texel * 2 - 1).
    UnitUnorm,
    /// normalize(texel).
    UnitFloat,
    /// Normals in the position texture's alpha: 16 bits, low byte x, high byte y, octahedral, unorm8 each.
    AlphaOctahedral,
}

/// A measured error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Deviation {
    /// The largest.
    pub max: f32,
    /// Root mean square.
    pub rms: f32,
    /// Of both.
    pub unit: Unit,
}

/// Unit of a length or an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Of positions.
    Metre,
    /// Of positions, for an engine that counts in it.
    Centimetre,
    /// Of directions.
    Degree,
}

/// The static mesh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mesh {
    /// File name, beside the sidecar.
    pub file: String,
    /// SHA-256 of the file's bytes, hexadecimal.
    pub sha256: String,
    /// How a vertex finds its number.
    pub lookup: Lookup,
    /// Where each run of vertices comes from, ascending.
    pub parts: Vec<Part>,
}

/// How a vertex finds its number: `floor(u * lanes) + lanes * floor(v * groups)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lookup {
    /// Number of the UV set: `TEXCOORD_n`.
    pub texcoord: u32,
    /// Vertices of a row of the lookup.
    pub lanes: u32,
    /// Rows of the lookup.
    pub groups: u32,
}

/// A run of vertices and indices and its origin; numbers are those of the whole bake and of the source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Node of the source file.
    pub node: u32,
    /// That node's name, null where it has none.
    pub node_name: Option<String>,
    /// Mesh of the source file.
    pub mesh: u32,
    /// Primitive of that mesh.
    pub primitive: u32,
    /// Material of the source file, null where it has none.
    pub material: Option<u32>,
    /// Skin of the source file, null for a rigid part.
    pub skin: Option<u32>,
    /// First vertex.
    pub first_vertex: u32,
    /// Number of vertices.
    pub vertex_count: u32,
    /// First index.
    pub first_index: u32,
    /// Number of indices.
    pub index_count: u32,
}

/// One clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clip {
    /// The file's name for it, or one after its file where that tells more; `anim_N` where it has none.
    pub name: Option<String>,
    /// Animation of the source file, the first one's where several were merged; null where a static model was baked.
    pub animation: Option<u32>,
    /// First frame, over the whole bake.
    pub first_frame: u32,
    /// Number of frames; a clip of one frame stands still.
    pub frame_count: u32,
    /// Frames a second.
    pub fps: f32,
    /// Seconds of the source's timeline at frame 0.
    pub start: f32,
    /// Seconds from the first frame to the last.
    pub length: f32,
    /// Whether and how it repeats.
    #[serde(rename = "loop")]
    pub looping: Loop,
    /// Whether something jumps between frames, so that a player should not blend across.
    pub stepped: bool,
    /// Box of the clip's positions and the rest pose.
    pub bounds: Bounds,
    /// Largest distance of any vertex from the clip's first pose, metres.
    pub largest_displacement: f32,
    /// The file that the clip was taken from, where it is not the model itself; `animation` is that file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ClipSource>,
    /// The way over the ground that was taken out of the clip, which stays in place; absent where clips are baked as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_motion: Option<RootMotion>,
}

/// Another file than the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClipSource {
    /// File name without its folder.
    pub file: String,
    /// SHA-256 of the file's bytes, hexadecimal.
    pub sha256: String,
}

/// How a clip carried the model over the ground, relative to its first frame: an instance that is turned by `yaw` and then moved by
/// `translation` shows the frame as the source has it. One entry a frame, from zero; the closing frame of a `cycle` goes on by the
/// step before it, so that the next cycle begins there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RootMotion {
    /// Node of the model whose way it is.
    pub node: u32,
    /// That node's name, null where it has none.
    pub node_name: Option<String>,
    /// Metres, one a frame; y is 0.
    pub translation: Vec<[f32; 3]>,
    /// Radians about +Y through the model's origin, one a frame; goes on past half a turn, so that neighbours can be blended.
    pub yaw: Vec<f32>,
}

/// Whether and how a clip repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Loop {
    /// The last pose is the first.
    Closed,
    /// The first pose was appended to close the cycle: the last frame is the first again.
    Cycle,
    /// It plays once and holds.
    Once,
}

/// An axis-aligned box, metres.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// Smallest coordinates.
    pub min: [f32; 3],
    /// Largest coordinates.
    pub max: [f32; 3],
}

/// The JSON Schema (2020-12) of a sidecar.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Sidecar).to_value()
}

/// Writes a sidecar, with arrays of numbers on one line, and a line feed at the end. A number that is not finite is an error.
/// `path` is for messages.
pub fn write(sidecar: &Sidecar, out: &mut dyn Write, path: &Path) -> Result<()> {
    let fault = |text: String| Error::Bake(format!("the sidecar {text}: {}", path.display()));
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Lines::default());
    sidecar.serialize(&mut serializer).map_err(|e| fault(format!("cannot be written ({e})")))?;
    text.push(b'\n');
    // JSON has no NaN and no infinity (they come out as null), and what is written must read back as it was.
    let back = read(&text).map_err(|e| fault(format!("would hold a value that is not a number ({e})")))?;
    if back != *sidecar {
        return Err(fault("would not read back as it was written".into()));
    }
    out.write_all(&text).map_err(Error::io("write the sidecar", path))
}

/// Reads a sidecar.
pub fn read(bytes: &[u8]) -> Result<Sidecar> {
    #[derive(Deserialize)]
    struct Head {
        format: String,
        version: u32,
    }
    let head: Head = serde_json::from_slice(bytes)
        .map_err(|e| Error::Bake(format!("this is not a sidecar: {e}; expected the .vat.json file of a bake")))?;
    if head.format != "vatbake" || head.version != VERSION {
        return Err(Error::Bake(format!(
            "the sidecar has format {:?}, version {}, where \"vatbake\", version {VERSION}, is read; bake again with this program",
            head.format, head.version
        )));
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut json)
        .map_err(|e| Error::Bake(format!("the sidecar is broken at {}: {}; bake again", e.path(), e.inner())))
}

#[cfg(test)]
mod tests;
