//! What a caller asks for: every default in one place, used by the library, the help and the README.

mod check;

use std::path::PathBuf;

pub use check::{MAX_SIZE_RANGE, UV_SET_RANGE};
use serde::{Deserialize, Serialize};

use crate::targets::Target;

/// Frames a second unless asked otherwise.
pub const DEFAULT_FPS: f64 = 30.0;
/// Longest side of a texture in texels unless asked otherwise.
pub const DEFAULT_MAX_SIZE: u32 = 8192;
/// Ceiling for working memory in bytes unless asked otherwise.
pub const DEFAULT_MEMORY: u64 = 512 << 20;
/// Degrees: octahedral normals of 8 bits a component stay below it, normals of 8 bits an axis too.
pub const DEFAULT_MAX_NORMAL_ERROR: f64 = 1.0;
/// Second UV set, the one that every engine reads.
pub const DEFAULT_UV_SET: u32 = 1;

/// One model and where its bake goes.
#[derive(Debug, Clone)]
pub struct Request {
    /// The model.
    pub input: Input,
    /// Folder that receives the files; created where missing.
    pub output: PathBuf,
    /// How.
    pub options: Options,
}

/// Where the model's bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A `.glb` or `.gltf` file.
    File(PathBuf),
    /// Bytes in memory with a name for messages and outputs (standard input, archives). Side files are not read.
    Bytes {
        /// File name, for example `hero.glb`.
        name: String,
        /// GLB, or JSON whose buffers are data URIs.
        bytes: Vec<u8>,
    },
}

impl Input {
    /// The path shown in messages.
    pub fn path(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Bytes { name, .. } => PathBuf::from(name),
        }
    }

    /// File name without its extension: the default name of the bake.
    pub fn stem(&self) -> String {
        self.path().file_stem().map_or_else(|| "model".into(), |s| s.to_string_lossy().into_owned())
    }
}

/// How to bake.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Name of the outputs instead of the input's stem.
    pub name: Option<String>,
    /// Other files whose clips are baked too, after the model's own: one skeleton, many files of motions.
    pub animations: Vec<Input>,
    /// Clips that are parts of one, put together before `clips` chooses.
    pub merges: Vec<MergeClips>,
    /// Clips to bake and their order; all in the file's order where empty. Names, globs (`Walk*`), or numbers from 0.
    pub clips: Vec<String>,
    /// Sampling rate.
    pub fps: Fps,
    /// Frame k at `k / fps` from time 0 rather than spread evenly from the first key to the last.
    pub exact_fps: bool,
    /// Seconds at which every clip starts, instead of its first key.
    pub start: Option<f64>,
    /// Seconds at which every clip ends, instead of its last key.
    pub end: Option<f64>,
    /// Which clips are loops.
    pub looping: Looping,
    /// What becomes of the way that a clip carries the model over the ground.
    pub root_motion: RootMotion,
    /// The node whose way it is, by name or number; the common root joint of the skin with the most vertices where absent.
    pub root: Option<String>,
    /// Nodes to keep (with everything below them), by name, glob or number; all where empty.
    pub only: Vec<String>,
    /// Nodes to leave out (with everything below them), by name, glob or number.
    pub exclude: Vec<String>,
    /// Scene by number or name; the file's default where absent.
    pub scene: Option<String>,
    /// Factor on every length.
    pub scale: f64,
    /// Bake a model without animation as one frame.
    pub allow_static: bool,
    /// Engines that get a kit each, in a folder of their own; the native set alone where empty.
    pub targets: Vec<Target>,
    /// Largest position error that is allowed, in metres of the output; chooses what is [`Format::Auto`], [`Normals::Auto`] and
    /// [`Position::Auto`].
    pub max_error: Option<f64>,
    /// Largest angle in degrees between a normal and its texel that `max_error` chooses by.
    pub max_normal_error: f64,
    /// Pixel format of the textures.
    pub format: Format,
    /// Where normals go.
    pub normals: Normals,
    /// Bits of a normal's component in PNG: 8 or 16; the position's where absent.
    pub normal_bits: Option<u8>,
    /// Compute normals anew instead of taking the file's.
    pub recompute_normals: Option<Recompute>,
    /// Write a texture of tangents, the file's or computed (MikkTSpace).
    pub tangents: bool,
    /// What a position texel holds.
    pub position: Position,
    /// Longest side of a texture in texels.
    pub max_size: u32,
    /// Which pose the static mesh shows.
    pub rest: Rest,
    /// UV set that receives the lookup (1 to 7).
    pub uv_set: u32,
    /// One node a source part instead of one merged node.
    pub keep_parts: bool,
    /// What runs the deformation.
    pub device: DeviceChoice,
    /// Ceiling for working memory in bytes.
    pub memory: u64,
    /// Upper bounds below those of the device.
    pub work: WorkLimits,
    /// Treat warnings as errors.
    pub strict: bool,
    /// Plan and report, write nothing.
    pub dry_run: bool,
    /// Read buffers and images from outside the model's folder.
    pub allow_outside: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: None,
            animations: Vec::new(),
            merges: Vec::new(),
            clips: Vec::new(),
            fps: Fps::Rate(DEFAULT_FPS),
            exact_fps: false,
            start: None,
            end: None,
            looping: Looping::Detect,
            root_motion: RootMotion::Keep,
            root: None,
            only: Vec::new(),
            exclude: Vec::new(),
            scene: None,
            scale: 1.0,
            allow_static: false,
            targets: Vec::new(),
            max_error: None,
            max_normal_error: DEFAULT_MAX_NORMAL_ERROR,
            format: Format::Auto,
            normals: Normals::Auto,
            normal_bits: None,
            recompute_normals: None,
            tangents: false,
            position: Position::Auto,
            max_size: DEFAULT_MAX_SIZE,
            rest: Rest::Shown,
            uv_set: DEFAULT_UV_SET,
            keep_parts: false,
            device: DeviceChoice::Auto,
            memory: DEFAULT_MEMORY,
            work: WorkLimits::default(),
            strict: false,
            dry_run: false,
            allow_outside: false,
        }
    }
}

/// Sampling rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fps {
    /// Frames a second.
    Rate(f64),
    /// Each clip's most frequent key distance.
    Source,
}

/// Clips that become one: some exporters write an animation a bone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeClips {
    /// Name of the whole; the common beginning of the parts' names, else the first one's, where absent.
    pub name: Option<String>,
    /// The parts: names, globs, or numbers from 0; two clips or more.
    pub clips: Vec<String>,
}

/// What becomes of the way that a clip carries the model over the ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum RootMotion {
    /// It is baked.
    Keep,
    /// It is taken out and written in the sidecar: a player moves the instance instead.
    Strip,
}

/// Which clips are loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looping {
    /// Found by comparing first and last poses.
    Detect,
    /// Every clip.
    All,
    /// No clip.
    None,
    /// These clips (names, globs, numbers); the others play once.
    Named(Vec<String>),
}

/// Pixel format of the textures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Format {
    /// png16, or what the engine of --for loads without loss; with --max-error the cheapest that holds it.
    Auto,
    /// 16-bit RGBA PNG.
    Png16,
    /// 8-bit RGBA PNG.
    Png8,
    /// Half-float RGBA EXR.
    Exr16,
    /// 32-bit float RGBA EXR.
    Exr32,
    /// Half-float RGBA KTX2, Zstandard: for three.js and Bevy.
    Ktx2,
}

/// Where normals go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Normals {
    /// separate, with --max-error the cheapest that holds --max-normal-error.
    Auto,
    /// A texture of their own.
    Separate,
    /// The position texture's alpha, octahedral, 8 bits a component (PNG16 only).
    Alpha,
    /// Nowhere.
    None,
}

/// How normals are computed anew, in every frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Recompute {
    /// Each triangle its own; vertices are no longer shared.
    Flat,
    /// The mean of all triangles at a position of the same node, by area.
    Smooth,
}

/// What a position texel holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Position {
    /// offset, with --max-error the better of both.
    Auto,
    /// Distance from the rest position.
    Offset,
    /// The position itself.
    Absolute,
}

/// Which pose the static mesh shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Rest {
    /// What a viewer shows when nothing plays.
    Shown,
    /// Frame 0 of the bake.
    FirstFrame,
}

/// What runs the deformation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A hardware adapter, else the CPU twin.
    Auto,
    /// A hardware adapter, else an error.
    Gpu,
    /// A software adapter (llvmpipe, WARP), else an error.
    Software,
    /// The CPU twin.
    Cpu,
    /// The first adapter whose name contains this text, whatever its case.
    Named(String),
}

/// Upper bounds on what a device is asked for, below its own: to share it, and to test how work is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkLimits {
    /// Bytes of one storage buffer.
    pub binding_bytes: Option<u64>,
    /// Workgroups a dimension of a dispatch.
    pub workgroups: Option<u32>,
    /// Texels a side of a storage texture.
    pub texture_side: Option<u32>,
    /// Frames of one piece of work.
    pub frames: Option<usize>,
}
