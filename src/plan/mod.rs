//! Lay out: scene, options and limits to which vertices, which frames, which texels, which chunks. Pure arithmetic, but for the
//! judgement of loops, which looks at four poses a clip.

pub mod build;
pub mod chunks;
pub mod directions;
pub mod frames;
pub mod layout;
pub mod loops;
pub mod mesh;
pub mod root;
pub mod select;
mod size;
