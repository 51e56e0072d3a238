//! PNG of 8 or 16 bits through the `png` crate. Grey, paletted and alpha-less ones, which no bake has, are widened to RGBA, so that
//! what has become of a texture can still be looked at.

use std::io::Cursor;

use super::{Image, Texels, check_size, check_unfolded, components};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

pub(super) fn matches(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

pub(super) fn decode(bytes: &[u8]) -> Result<Image, String> {
    let broken = |e: png::DecodingError| format!("the PNG cannot be read ({e}); it is cut off or damaged");
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(broken)?;
    let (width, height) = (reader.info().width, reader.info().height);
    let texels = check_size(width, height)?;
    let (colour, depth) = reader.output_color_type();
    let size = texels * if depth == png::BitDepth::Sixteen { 8 } else { 4 };
    check_unfolded(size, bytes.len())?;
    let length = reader.output_buffer_size().ok_or("the PNG has more bytes than can be counted")?;
    let mut all = vec![0; length];
    let frame = reader.next_frame(&mut all).map_err(broken)?;
    all.truncate(frame.buffer_size());
    if colour == png::ColorType::GrayscaleAlpha {
        let bytes_a_component = if depth == png::BitDepth::Sixteen { 2 } else { 1 };
        let pairs = all.chunks_exact(bytes_a_component * 2);
        all = pairs.flat_map(|p| [&p[..bytes_a_component]; 3].concat().into_iter().chain(p[bytes_a_component..].iter().copied())).collect();
    }
    let texels = match depth {
        png::BitDepth::Sixteen => Texels::Unorm16(components(&all, u16::from_be_bytes)),
        _ => Texels::Unorm8(all.as_chunks::<4>().0.to_vec()),
    };
    if texels.len() as u64 != u64::from(width) * u64::from(height) {
        return Err(format!("the PNG holds {} texels of {width} x {height}; it is cut off or damaged", texels.len()));
    }
    Ok(Image { width, height, texels })
}

/// Names of the chunks before the image data that say something of colours, and the bit depth of the header.
pub(crate) fn colour_chunks(bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = SIGNATURE.len();
    while matches(bytes) {
        let Some(head) = bytes.get(at..at.saturating_add(8)) else { break };
        let (length, name) = head.split_at(4);
        let length = u32::from_be_bytes(length.try_into().unwrap_or_default()) as usize;
        let name = String::from_utf8_lossy(name).into_owned();
        if name == "IDAT" || name == "IEND" {
            break;
        }
        if ["sRGB", "gAMA", "iCCP", "cHRM", "cICP", "mDCV", "cLLI"].contains(&name.as_str()) {
            names.push(name);
        }
        at = at.saturating_add(12).saturating_add(length);
    }
    names
}
