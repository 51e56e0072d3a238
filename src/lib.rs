//! Bakes the animation of a glTF model into textures that any GPU can play.
//!
//! A vertex animation texture holds one texel for each vertex and frame. [`bake()`] reads a model, deforms it at every frame on a GPU or
//! on the CPU, and writes the textures, a static mesh that knows its texels, and a sidecar that says everything a player must know.
//!
//! ```
//! use vatbake::options::{DeviceChoice, Fps};
//! use vatbake::{Input, Options, Request, Silent};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let request = Request {
//!     input: Input::File("assets/bun.glb".into()),
//!     output: folder.path().to_path_buf(),
//!     options: Options { clips: vec!["Walk".into()], fps: Fps::Rate(15.0), device: DeviceChoice::Cpu, ..Options::default() },
//! };
//! let report = vatbake::bake(&request, &mut Silent)?;
//! assert_eq!((report.clips.len(), report.frame_count), (1, 13));
//!
//! let sidecar = std::fs::read(folder.path().join("bun.vat.json"))?;
//! let sidecar = vatbake::output::sidecar::read(&sidecar)?;
//! assert_eq!(sidecar.vertex_count as usize, report.vertex_count);
//! assert!(sidecar.textures[0].error.max < 1e-5, "metres, measured");
//! # Ok(())
//! # }
//! ```
//!
//! A bake is a straight line, and each step has a module that can be used alone:
//!
//! | step | module | what |
//! | --- | --- | --- |
//! | read | [`source`] | glTF or GLB to a [`scene::Scene`]; everything after it knows nothing of glTF |
//! | sample | [`pose`] | clip and time to matrices and morph weights |
//! | lay out | [`plan`] | which vertices, frames, texels, and how the work is cut |
//! | deform | [`skin`] | vertices times matrices to values, in WGSL or by its twin in Rust; [`mod@encode`] makes texels of them |
//! | write | [`output`] | PNG, EXR, GLB and sidecar; a set of files is complete or absent |
//!
//! [`baked`] reads a bake's files back as a stranger would, and [`mod@verify`] says what is wrong with them and how far they are from the model.
//!
//! [`playback`] has the code that plays what was written, for vertex shaders; [`targets`] the kits for engines; [`mod@preview`] makes
//! pictures, animations and pages.
//!
//! What a caller asks for is in [`options`], what it is told in [`report`], [`warning`] and [`error`]. The library prints nothing; a
//! [`Progress`] hears how far a bake is and may stop it.
//!
//! Features: `cli` (on by default) brings what the program needs, `meshopt` (on by default) the decoder of `EXT_meshopt_compression` and
//! `KHR_meshopt_compression`, which builds a little C++.

pub mod baked;
pub mod encode;
pub mod error;
pub mod options;
pub mod output;
pub mod plan;
pub mod playback;
pub mod pose;
pub mod preview;
pub mod report;
pub mod scene;
pub mod skin;
pub mod source;
pub mod targets;
pub mod verify;
pub mod warning;

mod bake;
mod clips;
mod gpu;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

pub use bake::{bake, devices};
pub use error::{Error, Fault, Result};
pub use options::{Input, Options, Request};
pub use report::{Progress, Report, Silent, Step};

/// What sidecars and GLBs name as their generator.
pub const GENERATOR: &str = concat!("vatbake ", env!("CARGO_PKG_VERSION"));

/// The README's Rust compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
