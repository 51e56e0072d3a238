//! Bakes the animation of a glTF model into textures that any GPU can play.

pub mod encode;
pub mod error;
pub mod options;
pub mod output;
pub mod plan;
pub mod pose;
pub mod report;
pub mod scene;
pub mod skin;
pub mod source;
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
