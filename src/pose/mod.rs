//! Sample: scene, clip and time to the matrices of one frame. The only place that knows interpolation and the node tree.
//!
//! Everything is f64 up to the palette; the palette itself is 3x4 f32, row by row, as the kernel reads it.

mod hierarchy;
pub mod root;
pub mod sampler;
mod source;

pub use hierarchy::{Poser, Scratch};
pub use source::{FrameRef, PoseSource, Poses, sample_times};

/// Rows of one palette matrix: the fourth is always (0, 0, 0, 1).
pub const MATRIX_ROWS: usize = 3;
