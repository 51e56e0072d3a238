//! What plays a bake: the decode of format.md in the languages that engines take (`shaders/playback`).
//!
//! `vat.wgsl` is the source of truth. The others are ports of it, function by function, and are tested against it.

/// A language that the playback code is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Language {
    /// WebGPU, wgpu, Bevy
    Wgsl,
    /// OpenGL, Vulkan, WebGL 2, three.js: GLSL 300 es and 450
    Glsl,
    /// DirectX, Unity
    Hlsl,
    /// Godot 4: a .gdshaderinc
    Godot,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Wgsl, Self::Glsl, Self::Hlsl, Self::Godot];

    /// The code. Its first comment says which vec4 an instance carries and which fields of the sidecar feed which uniform.
    pub const fn source(self) -> &'static str {
        match self {
            Self::Wgsl => include_str!("../shaders/playback/vat.wgsl"),
            Self::Glsl => include_str!("../shaders/playback/vat.glsl"),
            Self::Hlsl => include_str!("../shaders/playback/vat.hlsl"),
            Self::Godot => include_str!("../shaders/playback/vat.gdshaderinc"),
        }
    }
}
