//! What Rust and WGSL must agree on; `tests/shaders.rs` compares both sides.

use crate::encode::Encoding;

/// Invocations of a workgroup.
pub const WORKGROUP: u32 = 64;
/// `SLOT_STRIDE` of bounds.wgsl: u32 numbers of a clip's ranges.
pub const RANGE_STRIDE: usize = 16;
/// `RESULT_STRIDE` of skin.wgsl: u32 numbers of a row's results.
pub const RESULT_STRIDE: usize = 8;
/// `MOST_COUNTS` of skin.wgsl.
pub const MOST_COUNTS: f32 = 255.0;
/// `NO_DIRECTION` of deform.wgsl.
pub const NO_DIRECTION: f32 = 1e-12;

/// deform.wgsl and bounds.wgsl as one module.
pub const BOUNDS_WGSL: &str = concat!(include_str!("../../shaders/deform.wgsl"), include_str!("../../shaders/bounds.wgsl"));
/// deform.wgsl and skin.wgsl as one module.
pub const SKIN_WGSL: &str = concat!(include_str!("../../shaders/deform.wgsl"), include_str!("../../shaders/skin.wgsl"));

/// Bindings of group 0.
pub mod binding {
    /// [`crate::plan::mesh::Vertex`]
    pub const VERTICES: u32 = 0;
    /// [`crate::plan::mesh::Influence`]
    pub const INFLUENCES: u32 = 1;
    /// [`crate::plan::mesh::Morph`]
    pub const MORPHS: u32 = 2;
    /// Three vertex numbers a face.
    pub const FACES: u32 = 3;
    /// Matrix rows of the frames.
    pub const PALETTES: u32 = 4;
    /// Morph weights of the frames.
    pub const WEIGHTS: u32 = 5;
    /// Rest positions.
    pub const REST: u32 = 6;
    /// Ranges or row results.
    pub const RESULTS: u32 = 7;
    /// [`super::Params`]
    pub const PARAMS: u32 = 8;
    /// Positions of the integer entry point; normals and tangents follow.
    pub const POSITION_UINT: u32 = 9;
    /// Positions of the float entry point; normals and tangents follow.
    pub const POSITION_FLOAT: u32 = 12;
}

/// Uniforms of one dispatch; mirrored in `shaders/deform.wgsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Params {
    /// xyz: range of an axis in metres.
    pub scale: [f32; 4],
    /// xyz: least value of an axis in metres.
    pub bias: [f32; 4],
    /// Largest integer of a position component.
    pub levels: f32,
    /// Largest integer of a normal component.
    pub normal_levels: f32,
    /// Metres of one count of the position error.
    pub error_unit: f32,
    /// Chord of one count of the normal error.
    pub chord_unit: f32,
    /// Matrices a frame.
    pub palette_len: u32,
    /// Morph weights a frame.
    pub weight_count: u32,
    /// First vertex of the run.
    pub first_vertex: u32,
    /// Vertices of the run.
    pub vertex_count: u32,
    /// Texels a row of the run, padding included.
    pub row_texels: u32,
    /// Frames of the run.
    pub frame_count: u32,
    /// Texel address = frame * `frame_stride` + vertex * `vertex_stride`.
    pub frame_stride: u32,
    /// See `frame_stride`.
    pub vertex_stride: u32,
    /// Folds the address into the storage texture.
    pub texture_width: u32,
    /// 1: values are distances from the rest position.
    pub is_offset: u32,
    /// Which clip's ranges.
    pub slot: u32,
    /// Chord of one count of the tangent error.
    pub tangent_unit: f32,
}

impl Params {
    /// The part that an encoding decides.
    pub fn of_encoding(e: &Encoding) -> Self {
        Self {
            scale: e.scale.extend(0.0).to_array(),
            bias: e.bias.extend(0.0).to_array(),
            levels: e.levels,
            normal_levels: e.normal_levels,
            error_unit: e.error_unit,
            chord_unit: e.chord_unit,
            is_offset: e.is_offset.into(),
            tangent_unit: e.tangent_unit,
            ..Self::default()
        }
    }
}

/// Results of one row of texels; mirrored in `shaders/skin.wgsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct RowResults {
    /// Sum of squared counts of the position error.
    pub position_squares: u32,
    /// Sum of squared counts of the normal's chord.
    pub normal_squares: u32,
    /// Bits of the largest squared position error.
    pub position_largest: u32,
    /// Bits of the largest squared chord.
    pub normal_largest: u32,
    /// Normals without a direction.
    pub degenerate: u32,
    /// As `normal_squares`, of the tangent.
    pub tangent_squares: u32,
    /// As `normal_largest`, of the tangent.
    pub tangent_largest: u32,
    /// Always 0.
    pub padding: u32,
}
