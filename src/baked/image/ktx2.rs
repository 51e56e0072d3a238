//! KTX2 (Khronos, version 2.0): level 0 of a two-dimensional image in an uncompressed RGBA format, as it is or in Zstandard frames.

use std::io::Read;

use half::f16;

use super::{Image, Texels, check_size, components};

const IDENTIFIER: &[u8; 12] = b"\xABKTX 20\xBB\r\n\x1A\n";
/// Where the level index begins: after the identifier, nine words, and the index of descriptor, key-value and global data.
const LEVELS: usize = 80;

// Numbers of Vulkan's formats.
const R8G8B8A8_UNORM: u32 = 37;
const R8G8B8A8_SRGB: u32 = 43;
const R16G16B16A16_UNORM: u32 = 91;
const R16G16B16A16_UINT: u32 = 95;
const R16G16B16A16_SFLOAT: u32 = 97;
const R32G32B32A32_SFLOAT: u32 = 109;

pub(super) fn matches(bytes: &[u8]) -> bool {
    bytes.starts_with(IDENTIFIER)
}

pub(super) fn decode(bytes: &[u8]) -> Result<Image, String> {
    const CUT: &str = "the KTX2 file is cut off or damaged";
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let header = |number: usize| word(IDENTIFIER.len() + number * 4).ok_or(CUT);
    let (format, width, height) = (header(0)?, header(2)?, header(3)?);
    let (depth, layers, faces, scheme) = (header(4)?, header(5)?, header(6)?, header(8)?);
    if depth > 1 || layers > 1 || faces != 1 {
        return Err(format!(
            "the KTX2 file has depth {depth}, {layers} layers and {faces} faces, where one plain image is read; bake again"
        ));
    }
    let texel_bytes = match format {
        R8G8B8A8_UNORM => 4,
        R16G16B16A16_UNORM | R16G16B16A16_UINT | R16G16B16A16_SFLOAT => 8,
        R32G32B32A32_SFLOAT => 16,
        R8G8B8A8_SRGB => {
            return Err("the KTX2 file is sRGB-encoded, and texels are linear data; convert it without sRGB, or bake again".into());
        }
        other => {
            return Err(format!(
                "the KTX2 file has Vulkan's format {other}, where plain RGBA of 8, 16 or 32 bits is read: a compressed format loses what \
                 the texels say; bake again"
            ));
        }
    };
    check_sections(bytes)?;
    let size = check_size(width, height)? * texel_bytes;
    let (offset, length, unfolded) = (long(LEVELS).ok_or(CUT)?, long(LEVELS + 8).ok_or(CUT)?, long(LEVELS + 16).ok_or(CUT)?);
    let range = usize::try_from(offset).ok().zip(offset.checked_add(length).and_then(|end| usize::try_from(end).ok()));
    let stored = range.and_then(|(start, end)| bytes.get(start..end)).ok_or(CUT)?;
    if unfolded != size {
        return Err(format!("the KTX2 file says {unfolded} bytes for {width} x {height} texels, which have {size}; it is damaged"));
    }
    let wrong = |found: usize| format!("the KTX2 file holds {found} bytes of texels, {size} were announced; it is cut off or damaged");
    let data = match scheme {
        0 => stored.to_vec(),
        2 => {
            let zstd = |e: &dyn std::fmt::Display| format!("the KTX2 file's Zstandard frame cannot be read ({e}); it is damaged");
            // Grows as texels come, so that a frame that says too much reserves nothing.
            let mut data = Vec::new();
            let decoder = ruzstd::decoding::StreamingDecoder::new(stored).map_err(|e| zstd(&e))?;
            decoder.take(size.saturating_add(1)).read_to_end(&mut data).map_err(|e| zstd(&e))?;
            data
        }
        other => return Err(format!("the KTX2 file has supercompression {other}, where none (0) or Zstandard (2) is read; bake again")),
    };
    if data.len() as u64 != size {
        return Err(wrong(data.len()));
    }
    let texels = match format {
        R8G8B8A8_UNORM => Texels::Unorm8(data.as_chunks::<4>().0.to_vec()),
        R16G16B16A16_SFLOAT => Texels::Half(components(&data, f16::from_le_bytes)),
        R32G32B32A32_SFLOAT => Texels::Float(components(&data, f32::from_le_bytes)),
        _ => Texels::Unorm16(components(&data, u16::from_le_bytes)),
    };
    Ok(Image { width, height, texels })
}

/// What stands beside the texels is where the index says, and does not call them colours (KTX 2.0, 3.8 to 3.11).
fn check_sections(bytes: &[u8]) -> Result<(), String> {
    /// Offset of the transfer function in a basic data format descriptor, after its total size.
    const TRANSFER: u64 = 14;
    const SRGB: u8 = 2;
    let number = |at: usize, size: usize| bytes.get(at..at + size).map(|b| b.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)));
    let sections = [("data format descriptor", 48, 4), ("key/value data", 56, 4), ("global data of the supercompression", 64, 8)];
    for (name, at, size) in sections {
        let (offset, length) = number(at, size).zip(number(at + size, size)).ok_or("the KTX2 file is cut off")?;
        let is_inside = match length {
            0 => offset == 0,
            _ => offset >= LEVELS as u64 && offset.checked_add(length).is_some_and(|end| end <= bytes.len() as u64),
        };
        if !is_inside {
            let total = bytes.len();
            return Err(format!("the KTX2 file's {name} would be {length} bytes at {offset} of {total}; it is damaged"));
        }
        if at == 48 && length > TRANSFER && bytes.get((offset + TRANSFER) as usize) == Some(&SRGB) {
            return Err("the KTX2 file's descriptor calls the texels sRGB, and they are linear data; bake again".into());
        }
    }
    Ok(())
}
