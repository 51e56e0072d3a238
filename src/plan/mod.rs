//! Lay out: which frames, which texels, which chunks. Pure arithmetic.

pub mod mesh;
