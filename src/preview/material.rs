//! Base-colour pictures of materials: decoded, halved until they fit, with their mip levels.

use std::io::Cursor;

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::picture::{to_linear, to_srgb};

/// Longest side of a picture that is decoded.
const MOST_SIDE: usize = 16_384;
/// Most bytes that a decoder may use for one.
const MOST_BYTES: usize = 1 << 29;

/// A picture of 8-bit sRGB colours with straight alpha.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Width and height, at least 1.
    pub size: [usize; 2],
    /// Row by row from the top.
    pub pixels: Vec<[u8; 4]>,
}

/// Decodes a PNG or a JPEG, whatever its media type says.
///
/// # Errors
/// What is wrong with it, or that it is of another kind.
pub fn decode(bytes: &[u8]) -> Result<Level, String> {
    let level = if bytes.starts_with(b"\x89PNG") {
        decode_png(bytes)?
    } else if bytes.starts_with(&[0xff, 0xd8]) {
        decode_jpeg(bytes)?
    } else {
        return Err("it is neither PNG nor JPEG".into());
    };
    let [width, height] = level.size;
    if width == 0 || height == 0 || level.pixels.len() != width * height {
        return Err("it has no pixels".into());
    }
    Ok(level)
}

fn decode_png(bytes: &[u8]) -> Result<Level, String> {
    let limits = png::Limits { bytes: MOST_BYTES };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    let size = reader.output_buffer_size().filter(|&size| size <= MOST_BYTES && width.max(height) <= MOST_SIDE);
    let mut raw = vec![0; size.ok_or_else(|| format!("it has {width} x {height} pixels"))?];
    let frame = reader.next_frame(&mut raw).map_err(|e| e.to_string())?;
    raw.truncate(frame.buffer_size());
    let pixels = match frame.color_type {
        png::ColorType::Grayscale => raw.iter().map(|&g| [g, g, g, 255]).collect(),
        png::ColorType::GrayscaleAlpha => raw.chunks_exact(2).map(|p| [p[0], p[0], p[0], p[1]]).collect(),
        png::ColorType::Rgb => raw.chunks_exact(3).map(|p| [p[0], p[1], p[2], 255]).collect(),
        png::ColorType::Rgba => raw.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]]).collect(),
        png::ColorType::Indexed => return Err("its palette was not expanded".into()),
    };
    Ok(Level { size: [width, height], pixels })
}

fn decode_jpeg(bytes: &[u8]) -> Result<Level, String> {
    let options = DecoderOptions::default().set_max_width(MOST_SIDE).set_max_height(MOST_SIDE).jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(Cursor::new(bytes), options);
    decoder.decode_headers().map_err(|e| e.to_string())?;
    if decoder.output_buffer_size().is_none_or(|size| size > MOST_BYTES) {
        return Err("it is too large".into());
    }
    let raw = decoder.decode().map_err(|e| e.to_string())?;
    let info = decoder.info().ok_or("it has no header")?;
    let pixels = raw.chunks_exact(3).map(|p| [p[0], p[1], p[2], 255]).collect();
    Ok(Level { size: [info.width.into(), info.height.into()], pixels })
}

/// The picture, halved until no side is longer than `most`, and every level below it down to one pixel.
pub fn levels(picture: Level, most: usize) -> Vec<Level> {
    let mut top = picture;
    while top.size[0].max(top.size[1]) > most.max(1) {
        top = halved(&top);
    }
    let mut levels = vec![top];
    while let Some(last) = levels.last().filter(|l| l.size != [1, 1]) {
        levels.push(halved(last));
    }
    levels
}

/// Half the size: means of linear light, by alpha, so that what cannot be seen lends no colour.
fn halved(level: &Level) -> Level {
    let [width, height] = level.size;
    let size = [(width / 2).max(1), (height / 2).max(1)];
    let table: [f32; 256] = std::array::from_fn(|c| to_linear(c as u8));
    let pixel = |x: usize, y: usize| {
        let mut sum = [0.0f32; 4];
        let mut plain = [0.0f32; 3];
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let p = level.pixels[(2 * y + dy).min(height - 1) * width + (2 * x + dx).min(width - 1)];
            let alpha = f32::from(p[3]) / 255.0;
            (0..3).for_each(|c| {
                sum[c] += table[usize::from(p[c])] * alpha;
                plain[c] += table[usize::from(p[c])];
            });
            sum[3] += alpha;
        }
        let colour = |c: usize| to_srgb(if sum[3] > 0.0 { sum[c] / sum[3] } else { plain[c] / 4.0 });
        [colour(0), colour(1), colour(2), (sum[3] / 4.0 * 255.0 + 0.5) as u8]
    };
    Level { size, pixels: (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y))).map(|(x, y)| pixel(x, y)).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(color: png::ColorType, depth: png::BitDepth, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == png::ColorType::Indexed {
            encoder.set_palette(vec![255, 0, 0, 0, 0, 255]);
        }
        encoder.write_header().expect("a header").write_image_data(data).expect("data");
        bytes
    }

    #[test]
    fn every_kind_of_png_becomes_rgba() {
        use png::{BitDepth, ColorType};
        let pixels = |color, depth, data: &[u8]| decode(&png(color, depth, data)).expect("decodes").pixels;
        assert_eq!(pixels(ColorType::Rgb, BitDepth::Eight, &[1, 2, 3, 4, 5, 6]), [[1, 2, 3, 255], [4, 5, 6, 255]]);
        assert_eq!(pixels(ColorType::Grayscale, BitDepth::Eight, &[9, 8]), [[9, 9, 9, 255], [8, 8, 8, 255]]);
        assert_eq!(pixels(ColorType::GrayscaleAlpha, BitDepth::Eight, &[9, 1, 8, 2]), [[9, 9, 9, 1], [8, 8, 8, 2]]);
        assert_eq!(pixels(ColorType::Indexed, BitDepth::One, &[0b0100_0000]), [[255, 0, 0, 255], [0, 0, 255, 255]]);
        assert_eq!(pixels(ColorType::Grayscale, BitDepth::Sixteen, &[7, 99, 6, 99]), [[7, 7, 7, 255], [6, 6, 6, 255]]);
    }

    #[test]
    fn what_is_no_picture_is_said() {
        let good = png(png::ColorType::Rgb, png::BitDepth::Eight, &[0; 6]);
        for bad in [&b""[..], b"RIFF....WEBP", &good[..40], b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\0\x10JFIF"] {
            assert!(decode(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn levels_end_in_one_pixel_and_average_light() {
        let picture = Level {
            size: [3, 2],
            pixels: vec![[255, 255, 255, 255], [0, 0, 0, 255], [9; 4], [255, 255, 255, 255], [0, 0, 0, 255], [9; 4]],
        };
        let found = levels(picture.clone(), 100);
        assert_eq!(found.iter().map(|l| l.size).collect::<Vec<_>>(), [[3, 2], [1, 1]]);
        assert_eq!(found[1].pixels, [[188, 188, 188, 255]], "half of the light is 188 in sRGB");
        assert_eq!(levels(picture, 2)[0].size, [1, 1]);
        let hidden = Level { size: [2, 1], pixels: vec![[200, 0, 0, 255], [0, 255, 0, 0]] };
        assert_eq!(levels(hidden, 9)[1].pixels, [[200, 0, 0, 128]]);
    }
}
