//! wgpu: adapters, limits, buffers, waiting. Its types stay here and in `skin/gpu.rs`.

pub mod adapter;
pub mod context;
