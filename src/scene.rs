//! The vocabulary: an animated model as plain data.
//!
//! `source` fills a [`Scene`]; everything after it knows nothing of glTF. Arrays are parallel and flat, nodes are sorted so that
//! a parent stands before its children, every accessor is decoded, every weight and quaternion is normalised, every index is in
//! range. Code behind this border may index without asking.

mod transform;

use std::sync::Arc;

use glam::DMat4;

pub use transform::{Local, Trs};

/// One animated model, decoded and checked.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// Where it came from.
    pub origin: Origin,
    /// All nodes of the file, parents before children.
    pub nodes: Vec<Node>,
    /// Skins, in the file's order.
    pub skins: Vec<Skin>,
    /// Decoded geometry, each once, however many nodes show it.
    pub primitives: Vec<Primitive>,
    /// What the chosen scene shows: one entry a node and primitive, ordered by the node's index in the file, then the primitive's.
    pub parts: Vec<Part>,
    /// Animations, in the file's order; those of other files come after.
    pub clips: Vec<Clip>,
    /// Materials and images: `source` fills it, only the GLB writer opens it.
    pub carried: Carried,
}

/// The identity of the input.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// File name without its folder.
    pub file: String,
    /// SHA-256 of the file's bytes, lower-case hexadecimal.
    pub sha256: String,
    /// Index of the scene that was taken, 0 where the file has none.
    pub scene: usize,
    /// Absolute paths of every file that was read or that the input refers to: no output may replace one of them.
    pub files: Vec<std::path::PathBuf>,
}

/// A node of the tree.
#[derive(Debug, Clone)]
pub struct Node {
    /// Index in the file's `nodes`.
    pub source: usize,
    /// The file's name for it.
    pub name: Option<String>,
    /// Index into [`Scene::nodes`], always smaller than the node's own.
    pub parent: Option<usize>,
    /// Whether the chosen scene contains it.
    pub in_scene: bool,
    /// Transform relative to the parent when nothing plays.
    pub local: Local,
    /// Default weights of its mesh's morph targets (the node's, else the mesh's, else zeros); empty without targets.
    pub weights: Vec<f64>,
}

/// Joints and what brings a vertex into each joint's space.
#[derive(Debug, Clone)]
pub struct Skin {
    /// The file's name for it.
    pub name: Option<String>,
    /// Indices into [`Scene::nodes`].
    pub joints: Vec<usize>,
    /// One inverse bind matrix a joint; identity where the file has none.
    pub inverse_bind: Vec<DMat4>,
}

/// One decoded mesh primitive: a triangle list.
#[derive(Debug, Clone, Default)]
pub struct Primitive {
    /// Index in the file's `meshes`.
    pub mesh: usize,
    /// Index in that mesh's `primitives`.
    pub primitive: usize,
    /// Index into [`Carried::materials`].
    pub material: Option<usize>,
    /// Number of the TEXCOORD set that its normal map reads, 0 without one: the set that tangents go with.
    pub normal_map_uv: u32,
    /// One a vertex.
    pub positions: Vec<[f32; 3]>,
    /// One unit vector a vertex, or absent in the file.
    pub normals: Option<Vec<[f32; 3]>>,
    /// One a vertex: unit vector and handedness (+1 or -1), or absent in the file.
    pub tangents: Option<Vec<[f32; 4]>>,
    /// Joint influences of all sets; `sets` is 0 where the file has none.
    pub influences: Influences,
    /// Morph targets.
    pub targets: Vec<Target>,
    /// TEXCOORD_n (always f32), COLOR_n and custom attributes, in that order, ascending.
    pub attributes: Vec<Attribute>,
    /// Corners of each triangle, counter-clockwise from outside; vertices that no triangle uses are legal.
    pub triangles: Vec<[u32; 3]>,
}

/// Influences in groups of four, `sets` groups a vertex: group `s` of vertex `v` is at `v * sets + s`.
#[derive(Debug, Clone, Default)]
pub struct Influences {
    /// Number of JOINTS_n / WEIGHTS_n sets.
    pub sets: usize,
    /// Index into [`Skin::joints`]; 0 where the weight is 0.
    pub joints: Vec<[u16; 4]>,
    /// Sum to 1 over all sets of a vertex.
    pub weights: Vec<[f32; 4]>,
}

/// A morph target: displacements of every vertex; what the file leaves out is zero.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// One a vertex.
    pub positions: Option<Vec<[f32; 3]>>,
    /// One a vertex.
    pub normals: Option<Vec<[f32; 3]>>,
    /// One a vertex.
    pub tangents: Option<Vec<[f32; 3]>>,
}

/// A vertex attribute that is carried through untouched.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// glTF semantic, for example `TEXCOORD_0`.
    pub semantic: String,
    /// How the bytes are to be read.
    pub kind: AttributeKind,
    /// Little-endian, tightly packed: `vertices * components * component.size()` bytes.
    pub bytes: Vec<u8>,
}

/// Element type of an [`Attribute`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttributeKind {
    /// Component type.
    pub component: Component,
    /// Whether integers stand for 0..1 or -1..1.
    pub normalized: bool,
    /// 1 to 4, or 9 and 16 for matrices.
    pub components: u8,
}

/// glTF component types (5120 and up).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Component {
    /// 5120
    I8,
    /// 5121
    U8,
    /// 5122
    I16,
    /// 5123
    U16,
    /// 5125
    U32,
    /// 5126
    F32,
}

impl Component {
    /// Bytes of one component.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// glTF's number for it.
    pub fn code(self) -> u32 {
        match self {
            Self::I8 => 5120,
            Self::U8 => 5121,
            Self::I16 => 5122,
            Self::U16 => 5123,
            Self::U32 => 5125,
            Self::F32 => 5126,
        }
    }
}

/// One primitive shown by one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Index into [`Scene::nodes`].
    pub node: usize,
    /// Index into [`Scene::primitives`].
    pub primitive: usize,
    /// Index into [`Scene::skins`]; a rigid part has none and follows its node. Set only where the primitive has influences.
    pub skin: Option<usize>,
}

/// An animation.
#[derive(Debug, Clone)]
pub struct Clip {
    /// The file's name for it.
    pub name: Option<String>,
    /// Index in the file's `animations`.
    pub animation: usize,
    /// The other file that it was taken from; the model's own clips have none.
    pub source: Option<Arc<ClipSource>>,
    /// What moves.
    pub channels: Vec<Channel>,
}

/// A file that gave its clips to a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClipSource {
    /// File name without its folder.
    pub file: String,
    /// SHA-256 of the file's bytes, lower-case hexadecimal.
    pub sha256: String,
}

/// One animated property of one node.
#[derive(Debug, Clone)]
pub struct Channel {
    /// Index into [`Scene::nodes`].
    pub node: usize,
    /// Which property.
    pub property: Property,
    /// Between keys.
    pub interpolation: Interpolation,
    /// Seconds, ascending (equal neighbours are a jump: the later key wins at that time), at least one.
    pub times: Arc<[f32]>,
    /// `width` values a key (3 for translation and scale, 4 for a rotation xyzw, the target count for weights); with CUBICSPLINE
    /// three groups of `width` a key: in-tangents, values, out-tangents. Rotation values are unit quaternions.
    pub values: Vec<f32>,
    /// Values a key.
    pub width: usize,
}

/// What a channel drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Property {
    /// Metres.
    Translation,
    /// Unit quaternion, xyzw.
    Rotation,
    /// Per axis.
    Scale,
    /// Morph target weights.
    Weights,
}

/// How values between keys come about (glTF 2.0, appendix C).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The earlier key's value.
    Step,
    /// Straight; rotations by spherical linear interpolation the short way.
    Linear,
    /// Hermite with tangents scaled by the key distance; rotations normalised after.
    CubicSpline,
}

/// An opaque parcel from the input's JSON to the output's: indices in it are the file's own.
#[derive(Debug, Clone, Default)]
pub struct Carried {
    /// `materials`, untouched.
    pub materials: Vec<serde_json::Value>,
    /// `textures`, untouched.
    pub textures: Vec<serde_json::Value>,
    /// `samplers`, untouched.
    pub samplers: Vec<serde_json::Value>,
    /// `images` with their bytes.
    pub images: Vec<Image>,
    /// `extensionsUsed` of the file.
    pub extensions_used: Vec<String>,
    /// `extensionsRequired` of the file.
    pub extensions_required: Vec<String>,
    /// `extensions` of the root object that materials may refer to.
    pub extensions: serde_json::Map<String, serde_json::Value>,
    /// `asset.copyright`.
    pub copyright: Option<String>,
}

/// One image of the file.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// The image object without `uri` and `bufferView`.
    pub json: serde_json::Map<String, serde_json::Value>,
    /// The encoded picture (PNG, JPEG, KTX2, WebP ...), absent where it could not be read.
    pub bytes: Option<Vec<u8>>,
    /// Media type: what the bytes are, else what the file says.
    pub mime_type: Option<String>,
}
