//! A texture file: PNG, EXR, KTX2, told by their first bytes, or raw texels. Row 0 is the top row, the first in the file.

mod exr;
mod ktx2;
pub(crate) mod png;

use std::path::Path;

use half::f16;

use super::locate::read_limited;
use crate::output::sidecar::Pixel;
use crate::{Error, Result};

/// Texels that any image may have: more than the largest bake.
const MOST_TEXELS: u64 = 1 << 29;
/// Bytes that a byte of a file may unfold to, for deflate's 1032 and what a predictor adds; so a small file cannot ask for gigabytes.
const MOST_UNFOLDED: u64 = 4096;

/// One decoded file.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Row after row, the top one first.
    pub texels: Texels,
}

/// RGBA texels as the file holds them.
#[derive(Debug, Clone, PartialEq)]
pub enum Texels {
    /// 8 bits: texel = value / 255.
    Unorm8(Vec<[u8; 4]>),
    /// 16 bits: texel = value / 65535.
    Unorm16(Vec<[u16; 4]>),
    /// Half floats.
    Half(Vec<[f16; 4]>),
    /// 32-bit floats.
    Float(Vec<[f32; 4]>),
}

impl Texels {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::Unorm8(all) => all.len(),
            Self::Unorm16(all) => all.len(),
            Self::Half(all) => all.len(),
            Self::Float(all) => all.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sidecar's word for them.
    pub fn pixel(&self) -> Pixel {
        match self {
            Self::Unorm8(_) => Pixel::Rgba8Unorm,
            Self::Unorm16(_) => Pixel::Rgba16Unorm,
            Self::Half(_) => Pixel::Rgba16Float,
            Self::Float(_) => Pixel::Rgba32Float,
        }
    }

    /// Texel `i`, unorm values divided by their largest.
    pub fn get(&self, i: usize) -> Option<[f64; 4]> {
        match self {
            Self::Unorm8(all) => all.get(i).map(|t| t.map(|v| f64::from(v) / 255.0)),
            Self::Unorm16(all) => all.get(i).map(|t| t.map(|v| f64::from(v) / 65535.0)),
            Self::Half(all) => all.get(i).map(|t| t.map(f64::from)),
            Self::Float(all) => all.get(i).map(|t| t.map(f64::from)),
        }
    }

    /// CRC-32 of all components, little-endian.
    pub fn crc32(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        // In runs, so that a large image is not copied whole.
        match self {
            Self::Unorm8(all) => hasher.update(all.as_flattened()),
            Self::Unorm16(all) => all.chunks(4096).for_each(|run| hasher.update(&little(run, u16::to_le_bytes))),
            Self::Half(all) => all.chunks(4096).for_each(|run| hasher.update(&little(run, f16::to_le_bytes))),
            Self::Float(all) => all.chunks(4096).for_each(|run| hasher.update(&little(run, f32::to_le_bytes))),
        }
        hasher.finalize()
    }

    /// All components, little-endian: what goes up to a GPU.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Unorm8(all) => all.as_flattened().to_vec(),
            Self::Unorm16(all) => little(all, u16::to_le_bytes),
            Self::Half(all) => little(all, f16::to_le_bytes),
            Self::Float(all) => little(all, f32::to_le_bytes),
        }
    }
}

fn little<T: Copy, const N: usize>(texels: &[[T; 4]], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    texels.as_flattened().iter().flat_map(|&v| bytes(v)).collect()
}

impl Image {
    /// The texel at a column and row, unorm values divided by their largest.
    ///
    /// # Panics
    /// Where the image has no such texel.
    pub fn texel(&self, x: u32, y: u32) -> [f64; 4] {
        let at = self.index(x, y);
        self.texels.get(at).unwrap_or_else(|| panic!("texel ({x}, {y}) of {} x {}", self.width, self.height))
    }

    /// The alpha of a texel as 16 bits; 0 where the texels are not of 16 bits.
    pub(super) fn alpha16(&self, x: u32, y: u32) -> u16 {
        match &self.texels {
            Texels::Unorm16(all) => all.get(self.index(x, y)).map_or(0, |t| t[3]),
            _ => 0,
        }
    }

    fn index(&self, x: u32, y: u32) -> usize {
        assert!(x < self.width && y < self.height, "texel ({x}, {y}) of {} x {}", self.width, self.height);
        y as usize * self.width as usize + x as usize
    }
}

/// A pixel format for messages.
pub(crate) fn pixel_name(pixel: Pixel) -> &'static str {
    match pixel {
        Pixel::Rgba8Unorm => "8-bit unorm texels",
        Pixel::Rgba16Unorm => "16-bit unorm texels",
        Pixel::Rgba16Float => "half-float texels",
        Pixel::Rgba32Float => "32-bit float texels",
    }
}

/// Reads a texture file. `size` and `pixel` are what the sidecar says: raw texels say nothing of themselves.
pub(crate) fn read(path: &Path, size: (u32, u32), pixel: Pixel) -> Result<Image> {
    let bytes = read_limited(path, "read the texture", 1 << 34)?;
    let image = if png::matches(&bytes) {
        png::decode(&bytes)
    } else if exr::matches(&bytes) {
        exr::decode(&bytes)
    } else if ktx2::matches(&bytes) {
        ktx2::decode(&bytes)
    } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("raw")) {
        decode_raw(&bytes, size, pixel)
    } else {
        Err("the file is neither PNG, EXR nor KTX2 and does not end on .raw; take the baked file, or bake again".into())
    };
    image.map_err(|text| Error::Bake(format!("{text}: {}", path.display())))
}

/// Raw texels, little-endian. How many bytes a texel has follows from the file's length; the sidecar tells halves from integers.
fn decode_raw(bytes: &[u8], (width, height): (u32, u32), pixel: Pixel) -> Result<Image, String> {
    let texels = check_size(width, height)?;
    let found = bytes.len() as u64;
    let texels = if found == texels * 4 {
        Texels::Unorm8(bytes.as_chunks::<4>().0.to_vec())
    } else if found == texels * 8 && pixel == Pixel::Rgba16Float {
        Texels::Half(components(bytes, f16::from_le_bytes))
    } else if found == texels * 8 {
        Texels::Unorm16(components(bytes, u16::from_le_bytes))
    } else if found == texels * 16 {
        Texels::Float(components(bytes, f32::from_le_bytes))
    } else {
        return Err(format!(
            "the file has {found} bytes, {width} x {height} texels have {}, {} or {}; take the baked file, or bake again",
            texels * 4,
            texels * 8,
            texels * 16
        ));
    };
    Ok(Image { width, height, texels })
}

/// Little-endian components, four a texel; a rest that makes no texel is left.
fn components<T: Copy, const N: usize>(bytes: &[u8], read: fn([u8; N]) -> T) -> Vec<[T; 4]> {
    let all = bytes.as_chunks::<N>().0;
    all.as_chunks::<4>().0.iter().map(|four| four.map(read)).collect()
}

/// The number of texels, where it is one that an image may have.
fn check_size(width: u32, height: u32) -> Result<u64, String> {
    let texels = u64::from(width) * u64::from(height);
    if texels == 0 || texels > MOST_TEXELS {
        return Err(format!("the image says {width} x {height} texels, where 1 to {MOST_TEXELS} are read; bake again"));
    }
    Ok(texels)
}

/// Whether so many bytes may come out of a file of `length`.
fn check_unfolded(unfolded: u64, length: usize) -> Result<(), String> {
    if unfolded > (length as u64).saturating_mul(MOST_UNFOLDED).saturating_add(1 << 20) {
        return Err(format!("the image says {unfolded} bytes of texels, and the file has only {length}; it is cut off or damaged"));
    }
    Ok(())
}
