//! What Rust and `shaders/preview.wgsl` share: structures, and how the module is put together.

use bytemuck::{Pod, Zeroable};

use crate::output::sidecar::{Encoding, Role, Sidecar};
use crate::playback::Language;

/// The preview's own part of the module.
pub const PREVIEW_WGSL: &str = include_str!("../../shaders/preview.wgsl");

/// Mirror of `VatBake` in `shaders/playback/vat.wgsl`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct VatBake {
    /// As there.
    pub scale: [f32; 3],
    /// As there.
    pub width: u32,
    /// As there.
    pub bias: [f32; 3],
    /// As there.
    pub frames: u32,
    /// As there.
    pub lanes: u32,
    /// As there.
    pub groups: u32,
    /// As there.
    pub position_encoding: u32,
    /// As there.
    pub normal_encoding: u32,
}

impl VatBake {
    /// The uniforms that a sidecar asks for.
    pub fn new(sidecar: &Sidecar) -> Self {
        let of = |role: Role| sidecar.textures.iter().find(|t| t.role == role);
        let (position, normal) = (of(Role::Position), of(Role::Normal));
        let code = |encoding: Option<Encoding>| match encoding {
            None | Some(Encoding::OffsetUnorm | Encoding::UnitUnorm) => 0,
            Some(Encoding::AbsoluteUnorm | Encoding::UnitFloat) => 1,
            Some(Encoding::OffsetFloat | Encoding::AlphaOctahedral) => 2,
            Some(Encoding::AbsoluteFloat) => 3,
        };
        Self {
            scale: position.and_then(|t| t.scale).unwrap_or([1.0; 3]),
            width: sidecar.layout.width,
            bias: position.and_then(|t| t.bias).unwrap_or_default(),
            frames: sidecar.frame_count,
            lanes: sidecar.mesh.lookup.lanes,
            groups: sidecar.mesh.lookup.groups,
            position_encoding: code(position.map(|t| t.encoding)),
            normal_encoding: code(normal.map(|t| t.encoding)),
        }
    }
}

/// The module: the playback code with its fetch adapted as its comment says, then the preview's own.
///
/// `floats` says of positions and normals whether their texture is read as floats (`rgba8unorm`, `rgba16float`, `rgba32float`).
pub fn shader(floats: [bool; 2]) -> String {
    let mut text = Language::Wgsl.source().to_owned();
    for (name, is_float) in [("vat_positions", floats[0]), ("vat_normals", floats[1])] {
        if is_float {
            text = text.replace(&format!("{name}: texture_2d<u32>;"), &format!("{name}: texture_2d<f32>;"));
            text = text.replace(&format!("vec4f(textureLoad({name}, at, 0)) / 65535.0"), &format!("textureLoad({name}, at, 0)"));
        }
    }
    text + PREVIEW_WGSL
}

/// Mirror of `Material` in `shaders/preview.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct MaterialUniform {
    /// Linear RGBA.
    pub base: [f32; 4],
    /// Of masks.
    pub cutoff: f32,
    /// Whether alpha is coverage.
    pub blends: u32,
    /// Whether back faces are shown.
    pub is_two_sided: u32,
    /// Whether there is a picture.
    pub has_picture: u32,
}

/// Mirror of `View` in `shaders/preview.wgsl`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct ViewUniform {
    /// As there.
    pub projection: [[f32; 4]; 4],
    /// Columns, each filled up to four numbers.
    pub to_gltf: [[f32; 4]; 3],
    /// As there.
    pub clip: [f32; 4],
    /// As there.
    pub eye: [f32; 3],
    /// As there.
    pub now: f32,
    /// As there.
    pub key: [f32; 3],
    /// As there.
    pub ground: f32,
    /// As there.
    pub fall: [f32; 3],
    /// Always 0.
    pub padding: f32,
    /// As there.
    pub fill: [f32; 3],
    /// As there.
    pub colouring: u32,
    /// As there.
    pub rim: [f32; 3],
    /// As there.
    pub has_normals: u32,
}
