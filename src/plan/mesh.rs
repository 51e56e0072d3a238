//! The mesh of a bake: every part's vertices in one numbering, merged by material, with what the kernel needs to move them.

use crate::scene::{Attribute, AttributeKind};

/// All vertices of a bake in the order of the output's vertex buffers.
#[derive(Debug, Clone, Default)]
pub struct BakeMesh {
    /// One primitive of the output each: runs of vertices and indices that share material and attribute set.
    pub groups: Vec<Group>,
    /// Which source node and primitive each run comes from, ascending by first vertex.
    pub parts: Vec<PartRange>,
    /// Triangle corners over the whole bake: vertex numbers of the bake.
    pub indices: Vec<u32>,
    /// One a vertex, for the kernel.
    pub vertices: Vec<Vertex>,
    /// Groups of four influences, `Vertex::sets` of them from `Vertex::first_set`.
    pub influences: Vec<Influence>,
    /// Morph displacements, `Vertex::morph_count` of them from `Vertex::first_morph`.
    pub morphs: Vec<Morph>,
    /// Triangles from which a normal is computed: three vertex numbers each.
    pub faces: Vec<[u32; 3]>,
    /// Palette entries of a frame, in order.
    pub palette: Vec<PaletteEntry>,
    /// Morph weights of a frame: which node's weights stand where.
    pub weights: Vec<WeightRun>,
    /// Number of morph weights of a frame.
    pub weight_count: usize,
    /// Handedness of each vertex's tangent, +1 or -1 (0 where `Group::has_tangents` is false).
    pub hands: Vec<f32>,
}

/// One primitive of the output.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// Index into [`crate::scene::Carried::materials`].
    pub material: Option<usize>,
    /// Vertices, over the whole bake.
    pub first_vertex: usize,
    /// Number of vertices.
    pub vertex_count: usize,
    /// Indices, over the whole bake.
    pub first_index: usize,
    /// Number of indices.
    pub index_count: usize,
    /// Carried attributes, each over the group's vertices.
    pub attributes: Vec<Attribute>,
    /// Whether the vertices have tangents.
    pub has_tangents: bool,
}

/// Attribute names and types that a group's parts share.
pub type AttributeSet = Vec<(String, AttributeKind)>;

/// Where one source part went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartRange {
    /// Index into [`crate::scene::Scene::parts`].
    pub part: usize,
    /// Index into [`BakeMesh::groups`].
    pub group: usize,
    /// First vertex, over the whole bake.
    pub first_vertex: usize,
    /// Number of vertices.
    pub vertex_count: usize,
    /// First index, over the whole bake.
    pub first_index: usize,
    /// Number of indices.
    pub index_count: usize,
}

/// One vertex as the kernel sees it; mirrored in `shaders/deform.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Vertex {
    /// Undeformed position.
    pub position: [f32; 3],
    /// First group of four influences.
    pub first_set: u32,
    /// Undeformed unit normal.
    pub normal: [f32; 3],
    /// Number of groups of four influences, at least 1.
    pub sets: u32,
    /// First morph displacement.
    pub first_morph: u32,
    /// Number of morph displacements.
    pub morph_count: u32,
    /// First face.
    pub first_face: u32,
    /// Number of faces whose deformed corners make the normal; 0 where the vertex's own normal is deformed.
    pub face_count: u32,
    /// Undeformed unit tangent; zero where none is known.
    pub tangent: [f32; 3],
    /// Always 0.
    pub padding: u32,
}

/// Four influences of a vertex; mirrored in `shaders/deform.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Influence {
    /// Index into the palette of a frame.
    pub joints: [u32; 4],
    /// Weights, the largest first; all sets of a vertex sum to 1.
    pub weights: [f32; 4],
}

/// One vertex's displacement by one morph target; mirrored in `shaders/deform.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Morph {
    /// Displacement of the position at weight 1.
    pub position: [f32; 3],
    /// Index into the morph weights of a frame.
    pub weight: u32,
    /// Displacement of the normal at weight 1.
    pub normal: [f32; 3],
    /// Always 0.
    pub padding: u32,
    /// Displacement of the tangent at weight 1.
    pub tangent: [f32; 3],
    /// Always 0.
    pub padding_2: u32,
}

/// What one matrix of the palette is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PaletteEntry {
    /// World matrix of `Skin::joints[joint]` times its inverse bind matrix.
    Joint {
        /// Index into [`crate::scene::Scene::skins`].
        skin: usize,
        /// Index into [`crate::scene::Skin::joints`].
        joint: usize,
    },
    /// World matrix of a node (index into [`crate::scene::Scene::nodes`]).
    Node(usize),
}

/// Morph weights of one node within a frame's weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightRun {
    /// Index into [`crate::scene::Scene::nodes`].
    pub node: usize,
    /// First weight.
    pub first: usize,
    /// Number of weights.
    pub count: usize,
}
