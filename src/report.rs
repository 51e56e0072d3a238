//! What a bake tells its caller.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::targets::Target;
use crate::warning::Warning;

/// Told while a bake runs. The library prints nothing; a caller shows what it likes.
pub trait Progress {
    /// A step begins that has `total` units (texels, or 0 where unknown).
    fn begin(&mut self, _step: Step, _total: u64) {}
    /// `done` more units of the current step are done.
    fn advance(&mut self, _done: u64) {}
    /// Asked between pieces of work: true stops the bake with [`crate::Error::Interrupted`].
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Shows nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;
impl Progress for Silent {}

/// The steps of a bake, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Reading the model.
    Read,
    /// Laying out frames and texels, judging loops.
    Plan,
    /// Starting the device.
    Start,
    /// First pass: ranges.
    Bounds,
    /// Second pass: texels, encoded and written while they arrive.
    Texels,
    /// Mesh, sidecar, renaming.
    Write,
}

/// The result of one bake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The model's file name.
    pub source: String,
    /// Name of the bake.
    pub name: String,
    /// The device that ran.
    pub device: Device,
    /// Vertices of the bake.
    pub vertex_count: usize,
    /// Frames over all clips.
    pub frame_count: usize,
    /// Texture width and height in texels.
    pub size: [u32; 2],
    /// Clips in the order of their frames.
    pub clips: Vec<ClipReport>,
    /// One a texture; where there are kits, those of the first.
    pub textures: Vec<TextureReport>,
    /// One an engine of `--for`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kits: Vec<KitReport>,
    /// Mesh nodes of the output GLB.
    pub meshes: usize,
    /// Primitives of the output GLB: draw calls an instance.
    pub primitives: usize,
    /// Materials of the output GLB.
    pub materials: usize,
    /// Triangles.
    pub triangles: usize,
    /// Box of all animated positions and the rest pose, metres.
    pub bounds: [[f32; 3]; 2],
    /// Largest displacement of any vertex from its clip's first pose, metres.
    pub largest_displacement: f32,
    /// The files, in the order in which they were renamed; empty after a dry run.
    pub files: Vec<PathBuf>,
    /// Everything worth saying.
    pub warnings: Vec<Warning>,
    /// Wall-clock seconds of each step.
    pub timings: Vec<Timing>,
}

/// The device that ran a bake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// The adapter's name, or "CPU twin (N threads)".
    pub name: String,
    /// `vulkan`, `metal`, `dx12` or `cpu`.
    pub backend: String,
    /// `discrete`, `integrated`, `virtual`, `software`, `cpu` or `other`.
    pub kind: String,
    /// Driver name and version as the system tells them; empty for the twin.
    pub driver: String,
}

/// One clip of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClipReport {
    /// Name.
    pub name: String,
    /// Frames.
    pub frame_count: usize,
    /// Seconds.
    pub length: f64,
    /// `closed`, `cycle` or `once`.
    #[serde(rename = "loop")]
    pub looping: String,
    /// Metres.
    pub largest_displacement: f32,
}

/// One texture of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TextureReport {
    /// `position`, `normal` or `tangent`.
    pub role: String,
    /// File name; empty after a dry run.
    pub file: String,
    /// Pixel format.
    pub pixel: String,
    /// Encoding.
    pub encoding: String,
    /// Bytes on the GPU.
    pub gpu_bytes: u64,
    /// Bytes on disk; 0 after a dry run.
    pub file_bytes: u64,
    /// Largest error, in `unit`.
    pub error_max: f64,
    /// Root mean square error, in `unit`.
    pub error_rms: f64,
    /// `metre`, `centimetre` or `degree`.
    pub unit: String,
}

/// What was written for one engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KitReport {
    /// The engine.
    pub target: Target,
    /// Where its files are; empty after a dry run.
    pub folder: PathBuf,
    /// One a texture.
    pub textures: Vec<TextureReport>,
}

/// Wall-clock time of one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Step.
    pub step: Step,
    /// Seconds.
    pub seconds: f64,
}
