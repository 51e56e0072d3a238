//! A picture in memory: 8-bit sRGB with straight alpha, and lines drawn on it.

use std::io::Write;
use std::path::Path;

use glam::Vec2;
use half::f16;

use crate::{Error, Result};

/// Red, green, blue in sRGB, and alpha.
pub type Rgba = [u8; 4];

/// Share of the background's light that the shadow takes away.
const SHADOW: f32 = 0.26;

/// What lies behind the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// One colour, sRGB.
    Colour([u8; 3]),
    /// Nothing.
    Transparent,
}

impl Background {
    /// Pale and a little cool: warm models stand out.
    pub const DEFAULT: Self = Self::Colour([0xe6, 0xec, 0xef]);

    /// As a pixel.
    pub fn pixel(self) -> Rgba {
        match self {
            Self::Colour([r, g, b]) => [r, g, b, 255],
            Self::Transparent => [0; 4],
        }
    }

    /// A colour in which words can be read on it. On no background it is a grey that shows on light and dark pages.
    pub fn ink(self) -> Rgba {
        match self {
            Self::Colour(c) if 0.3 * f32::from(c[0]) + 0.59 * f32::from(c[1]) + 0.11 * f32::from(c[2]) > 128.0 => [0x2b, 0x33, 0x38, 255],
            Self::Colour(_) => [0xee, 0xf1, 0xf3, 255],
            Self::Transparent => [0x80, 0x88, 0x8c, 255],
        }
    }
}

impl std::str::FromStr for Background {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("transparent") {
            return Ok(Self::Transparent);
        }
        let digits = text.strip_prefix('#').unwrap_or(text);
        let is_colour = digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_colour);
        let [_, r, g, b] = number.ok_or("give a colour as in #e6ecef, or transparent")?.to_be_bytes();
        Ok(Self::Colour([r, g, b]))
    }
}

impl std::fmt::Display for Background {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Colour([r, g, b]) => write!(f, "#{r:02x}{g:02x}{b:02x}"),
            Self::Transparent => f.write_str("transparent"),
        }
    }
}

/// What the adapter drew, at twice the size of the picture: linear light, colours multiplied by alpha.
#[derive(Debug)]
pub struct Layers {
    /// Size of the picture, half of that of the layers.
    pub size: [u32; 2],
    /// The model.
    pub model: Vec<[f16; 4]>,
    /// Its shadow on the ground, by alpha.
    pub shadow: Option<Vec<[f16; 4]>>,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Width and height.
    pub size: [u32; 2],
    /// Row by row from the top.
    pub pixels: Vec<Rgba>,
}

impl Picture {
    /// A picture of one colour.
    pub fn new(size: [u32; 2], fill: Rgba) -> Self {
        Self { size, pixels: vec![fill; size[0] as usize * size[1] as usize] }
    }

    /// The layers over a background.
    pub fn compose(layers: &Layers, background: Background) -> Self {
        let [width, height] = layers.size.map(|side| side as usize);
        let shade = layers.shadow.as_ref().map(|shadow| blurred_shadow(shadow, width, height));
        let mut picture = Self::new(layers.size, background.pixel());
        let linear = match background {
            Background::Colour(c) => c.map(to_linear),
            Background::Transparent => [0.0; 3],
        };
        let is_clear = background == Background::Transparent;
        for (i, pixel) in picture.pixels.iter_mut().enumerate() {
            let (x, y) = (i % width, i / width);
            let mut sum = [0.0f32; 4];
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let texel = layers.model[(2 * y + dy) * 2 * width + 2 * x + dx];
                // a light that is brighter than white would win against its neighbours at the edge
                sum.iter_mut().zip(texel).for_each(|(sum, v)| *sum += v.to_f32().clamp(0.0, 1.0) * 0.25);
            }
            let dark = SHADOW * shade.as_ref().map_or(0.0, |shade| shade[i]);
            let left = 1.0 - sum[3];
            if sum[3] == 0.0 && dark < 0.002 {
                continue;
            }
            *pixel = if is_clear {
                let alpha = sum[3] + left * dark;
                let colour = |c: usize| if alpha > 0.0 { to_srgb(sum[c] / alpha) } else { 0 };
                [colour(0), colour(1), colour(2), (alpha * 255.0 + 0.5) as u8]
            } else {
                let colour = |c: usize| to_srgb(sum[c] + left * linear[c] * (1.0 - dark));
                [colour(0), colour(1), colour(2), 255]
            };
        }
        picture
    }

    /// A pixel.
    #[cfg(test)]
    pub fn at(&self, x: u32, y: u32) -> Rgba {
        self.pixels[(y * self.size[0] + x) as usize]
    }

    /// Lays `colour` over a pixel, as much of it as `coverage` says. Outside of the picture nothing happens.
    pub fn blend(&mut self, x: i64, y: i64, colour: Rgba, coverage: f32) {
        let [width, height] = self.size.map(i64::from);
        if !(0..width).contains(&x) || !(0..height).contains(&y) {
            return;
        }
        let Some(pixel) = self.pixels.get_mut((y * width + x) as usize) else { return };
        let over = coverage.clamp(0.0, 1.0) * f32::from(colour[3]) / 255.0;
        let under = f32::from(pixel[3]) / 255.0 * (1.0 - over);
        let alpha = over + under;
        if alpha <= 0.0 {
            return;
        }
        for (to, from) in pixel.iter_mut().zip(colour).take(3) {
            *to = ((f32::from(from) * over + f32::from(*to) * under) / alpha + 0.5) as u8;
        }
        pixel[3] = (alpha * 255.0 + 0.5) as u8;
    }

    /// Draws lines with round ends, `radius` pixels to each side; where they cross, they count once.
    pub fn stroke(&mut self, strokes: &[Vec<Vec2>], radius: f32, colour: Rgba) {
        let reach = Vec2::splat(radius + 1.0);
        let all = || strokes.iter().flatten().copied().filter(|p| p.is_finite());
        let (least, most) = all().fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(a, b), p| (a.min(p), b.max(p)));
        if !least.is_finite() {
            return;
        }
        let limit = Vec2::new(self.size[0] as f32, self.size[1] as f32);
        let (least, most) = ((least - reach).max(Vec2::ZERO).floor(), (most + reach).min(limit).ceil());
        for y in least.y as i64..most.y as i64 {
            for x in least.x as i64..most.x as i64 {
                let at = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let near = strokes.iter().flat_map(|s| s.windows(2)).map(|pair| distance(at, pair[0], pair[1]));
                let near = near.fold(f32::INFINITY, f32::min);
                if near < radius + 0.5 {
                    self.blend(x, y, colour, radius + 0.5 - near);
                }
            }
        }
    }

    /// Draws a line that may be long: piece by piece.
    pub fn line(&mut self, points: &[Vec2], radius: f32, colour: Rgba) {
        for pair in points.windows(2) {
            self.stroke(&[pair.to_vec()], radius, colour);
        }
    }

    /// Draws a disc.
    pub fn dot(&mut self, at: Vec2, radius: f32, colour: Rgba) {
        self.stroke(&[vec![at, at]], radius, colour);
    }

    /// Fills a rectangle, sides in pixels.
    pub fn fill(&mut self, left: u32, top: u32, size: [u32; 2], colour: Rgba) {
        for y in top..top.saturating_add(size[1]).min(self.size[1]) {
            for x in left..left.saturating_add(size[0]).min(self.size[0]) {
                self.blend(x.into(), y.into(), colour, 1.0);
            }
        }
    }

    /// Copies a picture into this one.
    pub fn put(&mut self, picture: &Self, left: u32, top: u32) {
        let (width, from) = (self.size[0] as usize, picture.size[0] as usize);
        for (y, row) in picture.pixels.chunks_exact(from.max(1)).enumerate() {
            let start = (top as usize + y) * width + left as usize;
            let fits = from.min(width.saturating_sub(left as usize));
            if let Some(to) = self.pixels.get_mut(start..start + fits) {
                to.copy_from_slice(&row[..fits]);
            }
        }
    }

    /// Writes it as a PNG, without alpha where all of it is opaque. `path` is for messages.
    pub fn write_png(&self, out: &mut dyn Write, path: &Path) -> Result<()> {
        let fault = |e: png::EncodingError| Error::io("write the picture", path)(std::io::Error::other(e));
        let is_opaque = self.pixels.iter().all(|p| p[3] == 255);
        let mut encoder = png::Encoder::new(out, self.size[0], self.size[1]);
        encoder.set_color(if is_opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::Adaptive);
        let mut writer = encoder.write_header().map_err(fault)?;
        if is_opaque {
            let rgb: Vec<u8> = self.pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
            writer.write_image_data(&rgb).map_err(fault)?;
        } else {
            writer.write_image_data(self.pixels.as_flattened()).map_err(fault)?;
        }
        writer.finish().map_err(fault)
    }
}

/// Distance of a point from a line's piece.
fn distance(at: Vec2, from: Vec2, to: Vec2) -> f32 {
    let (way, here) = (to - from, at - from);
    let share = if way.length_squared() > 0.0 { (here.dot(way) / way.length_squared()).clamp(0.0, 1.0) } else { 0.0 };
    here.distance(way * share)
}

/// The shadow's alpha at the picture's size, softened.
fn blurred_shadow(shadow: &[[f16; 4]], width: usize, height: usize) -> Vec<f32> {
    let half = |i: usize| {
        let (x, y) = (2 * (i % width), 2 * (i / width));
        [(0, 0), (1, 0), (0, 1), (1, 1)].iter().map(|(dx, dy)| shadow[(y + dy) * 2 * width + x + dx][3].to_f32() * 0.25).sum::<f32>()
    };
    let mut alpha: Vec<f32> = (0..width * height).map(half).collect();
    let radius = (width.min(height) / 60).max(1);
    for _ in 0..2 {
        alpha = blur_rows(&alpha, width, radius); // turned
        alpha = blur_rows(&alpha, height, radius);
    }
    // It fades out at the edges, where it would be cut off.
    let soft = (width.min(height) as f32 / 10.0).max(1.0);
    let fade = |at: usize, side: usize| ((at.min(side - 1 - at) as f32 + 0.5) / soft).min(1.0);
    for (i, shade) in alpha.iter_mut().enumerate() {
        let edge = fade(i % width, width).min(fade(i / width, height));
        *shade *= edge * edge * (3.0 - 2.0 * edge);
    }
    alpha
}

/// Averages along rows; the result has rows and columns exchanged.
fn blur_rows(values: &[f32], width: usize, radius: usize) -> Vec<f32> {
    let height = values.len() / width.max(1);
    let mut blurred = vec![0.0; values.len()];
    for (y, row) in values.chunks_exact(width).enumerate() {
        let clamped = |x: isize| row[x.clamp(0, width as isize - 1) as usize];
        let reach = radius as isize;
        let mut sum: f32 = (-reach..=reach).map(clamped).sum();
        for x in 0..width as isize {
            blurred[x as usize * height + y] = (sum / (2 * radius + 1) as f32).max(0.0);
            sum += clamped(x + reach + 1) - clamped(x - reach);
        }
    }
    blurred
}

/// sRGB to linear light.
pub fn to_linear(c: u8) -> f32 {
    let c = f32::from(c) / 255.0;
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Linear light to sRGB.
pub fn to_srgb(c: f32) -> u8 {
    let c = c.clamp(0.0, 1.0);
    let c = if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    (c * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_goes_both_ways() {
        for c in 0..=255 {
            assert_eq!(to_srgb(to_linear(c)), c);
        }
        assert_eq!((to_srgb(f32::NAN), to_srgb(9.0)), (0, 255));
    }

    #[test]
    fn layers_lie_over_the_background() {
        let half = f16::from_f32(0.5);
        let model = vec![[f16::ONE, f16::ZERO, f16::ZERO, f16::ONE], [f16::ZERO; 4], [half, f16::ZERO, f16::ZERO, half], [f16::ZERO; 4]];
        // two texels of four: one red, one red by half: 3/8 of the pixel
        let layers = Layers { size: [1, 1], model, shadow: None };
        let shown = Picture::compose(&layers, Background::Colour([0, 0, 255]));
        assert_eq!(shown.pixels[0], [to_srgb(0.375), 0, to_srgb(0.625), 255]);
        let clear = Picture::compose(&layers, Background::Transparent);
        assert_eq!(clear.pixels[0], [255, 0, 0, 96]);
        // in the middle of a small picture, between edges that fade
        let shadow = Some(vec![[f16::ZERO, f16::ZERO, f16::ZERO, f16::ONE]; 36]);
        let layers = Layers { size: [3, 3], model: vec![[f16::ZERO; 4]; 36], shadow };
        let dark = to_srgb(1.0 - SHADOW);
        assert_eq!(Picture::compose(&layers, Background::Colour([255; 3])).at(1, 1), [dark, dark, dark, 255]);
        assert_eq!(Picture::compose(&layers, Background::Transparent).at(1, 1), [0, 0, 0, (SHADOW * 255.0 + 0.5) as u8]);
        assert!(Picture::compose(&layers, Background::Colour([255; 3])).at(0, 1)[0] > dark);
    }

    #[test]
    fn lines_are_drawn_where_they_are_and_nowhere_else() {
        let mut picture = Picture::new([20, 20], [0; 4]);
        picture.line(&[Vec2::new(-50.0, 10.0), Vec2::new(1e6, 10.0)], 1.0, [255, 0, 0, 255]);
        assert_eq!((picture.at(10, 9), picture.at(10, 10), picture.at(10, 5)), ([255, 0, 0, 255], [255, 0, 0, 255], [0; 4]));
        let before = picture.clone();
        picture.line(&[Vec2::new(-50.0, -50.0), Vec2::new(-40.0, f32::NAN)], 3.0, [0, 255, 0, 255]);
        picture.fill(30, 30, [u32::MAX, 5], [9; 4]);
        picture.put(&Picture::new([4, 4], [9; 4]), 30, 30);
        assert!(picture == before, "what lies outside changed the picture");
    }

    #[test]
    fn backgrounds_are_parsed_and_shown() {
        assert_eq!("#0a0B0c".parse(), Ok(Background::Colour([10, 11, 12])));
        assert_eq!("Transparent".parse(), Ok(Background::Transparent));
        assert_eq!(Background::DEFAULT.to_string().parse(), Ok(Background::DEFAULT));
        for bad in ["", "red", "#12345", "#1234567", "#+12345", "#12345g"] {
            assert!(bad.parse::<Background>().is_err(), "{bad}");
        }
    }
}
