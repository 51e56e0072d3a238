//! Write: texels, plan and scene to files, streamed, all or nothing.

pub mod exr;
pub mod glb;
pub mod png;
pub mod set;
pub mod sidecar;
