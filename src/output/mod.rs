//! Write: texels, plan and scene to files, streamed, all or nothing.

pub mod exr;
pub mod glb;
pub mod ktx2;
pub mod name;
pub mod png;
pub mod raw;
pub mod set;
pub mod sidecar;

mod json;

/// Adds samples of `size` bytes, given in native byte order, to a checksum that is defined over little-endian ones.
fn update_crc32(hasher: &mut crc32fast::Hasher, native: &[u8], size: usize) {
    if cfg!(target_endian = "little") || size == 1 {
        hasher.update(native);
    } else {
        let swapped: Vec<u8> = native.chunks_exact(size).flat_map(|sample| sample.iter().rev().copied()).collect();
        hasher.update(&swapped);
    }
}

/// The fault of a caller that sends other rows than it announced: `found` of `wanted` rows or components.
fn wrong_rows(path: &std::path::Path, found: usize, wanted: &str) -> crate::Error {
    crate::Error::Bake(format!("a texture received {found} components or rows where {wanted} were announced: {}", path.display()))
}
