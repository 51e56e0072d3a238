//! Materials, and the palette texture that shades them.
//!
//! All materials share one small texture of two ramps. The left half holds the fur's colours, from the blush of the cheeks over
//! biscuit to the cocoa of paws and ear tips; the right half goes from a warm shade to white and is multiplied with a material's
//! own base colour. A vertex picks its place on a ramp with V.

/// A material: name, sRGB base colour, roughness.
pub const MATERIALS: [(&str, [u8; 3], f64); 9] = [
    ("Fur", [255, 255, 255], 0.85),
    ("Cream", [255, 241, 220], 0.9),
    ("Pink", [244, 160, 150], 0.7),
    ("Ink", [52, 34, 36], 0.25),
    ("White", [255, 255, 255], 0.6),
    ("Apron", [62, 146, 150], 0.85),
    ("Scarf", [222, 74, 68], 0.8),
    ("Linen", [255, 250, 240], 0.9),
    ("Wood", [206, 150, 92], 0.6),
];

/// Indices into `MATERIALS`.
pub const FUR: usize = 0;
#[allow(missing_docs)]
pub const CREAM: usize = 1;
#[allow(missing_docs)]
pub const PINK: usize = 2;
#[allow(missing_docs)]
pub const INK: usize = 3;
#[allow(missing_docs)]
pub const WHITE: usize = 4;
#[allow(missing_docs)]
pub const APRON: usize = 5;
#[allow(missing_docs)]
pub const SCARF: usize = 6;
#[allow(missing_docs)]
pub const LINEN: usize = 7;
#[allow(missing_docs)]
pub const WOOD: usize = 8;

/// Where plain fur is on the fur ramp; below it blush, above it cocoa.
pub const PLAIN_FUR: f64 = 0.4;

const BLUSH: [f64; 3] = [242.0, 138.0, 112.0];
const BISCUIT: [f64; 3] = [236.0, 178.0, 118.0];
const COCOA: [f64; 3] = [124.0, 76.0, 54.0];
const SHADE: [f64; 3] = [206.0, 186.0, 190.0];
const FULL: [f64; 3] = [255.0, 255.0, 255.0];

const WIDTH: u32 = 8;
const HEIGHT: u32 = 64;

/// The texture coordinate of `place` (0 to 1) on the ramp that `material` uses.
pub fn palette_uv(material: usize, place: f64) -> [f64; 2] {
    let margin = 1.0 / f64::from(HEIGHT);
    [if material == FUR { 0.25 } else { 0.75 }, margin + (1.0 - 2.0 * margin) * place.clamp(0.0, 1.0)]
}

/// The palette as a PNG.
pub fn palette_png() -> Vec<u8> {
    let mix = |a: [f64; 3], b: [f64; 3], t: f64| std::array::from_fn::<u8, 3, _>(|k| (a[k] + (b[k] - a[k]) * t).round() as u8);
    let mut pixels = Vec::new();
    for y in 0..HEIGHT {
        let place = f64::from(y) / f64::from(HEIGHT - 1);
        let fur = if place < PLAIN_FUR {
            mix(BLUSH, BISCUIT, place / PLAIN_FUR)
        } else {
            mix(BISCUIT, COCOA, (place - PLAIN_FUR) / (1.0 - PLAIN_FUR))
        };
        let neutral = mix(SHADE, FULL, place);
        (0..WIDTH).for_each(|x| pixels.extend(if x < WIDTH / 2 { fur } else { neutral }));
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().expect("writing to memory");
    writer.write_image_data(&pixels).expect("the buffer has the image's size");
    writer.finish().expect("writing to memory");
    bytes
}

/// An sRGB byte as the linear number that glTF's factors are.
pub fn linear(byte: u8) -> f64 {
    let c = f64::from(byte) / 255.0;
    let value = if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    (value * 1e4).round() / 1e4
}
