//! Reads one written texture into rows of RGBA, row 0 on top: PNG through the `image` crate, EXR through `exr`'s reader, KTX2 by its
//! header and `ruzstd`, raw texels by what the sidecar says of them.

use std::path::Path;

/// RGBA, four components a texel.
#[derive(Debug, Clone, PartialEq)]
pub enum Texels {
    /// 8-bit PNG.
    U8(Vec<u8>),
    /// 16-bit PNG.
    U16(Vec<u16>),
    /// Half or float EXR.
    Float(Vec<f32>),
}

/// One decoded file.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Texels.
    pub width: usize,
    /// Texels.
    pub height: usize,
    /// Row after row.
    pub texels: Texels,
    /// The sidecar's word for what was really found in the file: `rgba16unorm`, `rgba32float` ...
    pub pixel: &'static str,
}

impl Image {
    /// Components as the file holds them: integers, or floats.
    pub fn raw(&self, x: usize, y: usize) -> [f64; 4] {
        assert!(x < self.width && y < self.height, "texel ({x}, {y}) of a {} x {} texture", self.width, self.height);
        let at = (y * self.width + x) * 4;
        std::array::from_fn(|c| match &self.texels {
            Texels::U8(all) => f64::from(all[at + c]),
            Texels::U16(all) => f64::from(all[at + c]),
            Texels::Float(all) => f64::from(all[at + c]),
        })
    }

    /// Components as a shader sees them: unorm integers divided by their largest value.
    pub fn shown(&self, x: usize, y: usize) -> [f64; 4] {
        let most = self.steps().unwrap_or(1.0);
        self.raw(x, y).map(|v| v / most)
    }

    /// The largest integer of a unorm format; none for floats.
    pub fn steps(&self) -> Option<f64> {
        match self.texels {
            Texels::U8(_) => Some(255.0),
            Texels::U16(_) => Some(65535.0),
            Texels::Float(_) => None,
        }
    }

    /// The texels little-endian, as they go up to a GPU.
    pub fn bytes(&self) -> Vec<u8> {
        match &self.texels {
            Texels::U8(all) => all.clone(),
            Texels::U16(all) => all.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Texels::Float(all) if self.pixel == "rgba16float" => all.iter().flat_map(|&v| half::f16::from_f32(v).to_le_bytes()).collect(),
            Texels::Float(all) => all.iter().flat_map(|v| v.to_le_bytes()).collect(),
        }
    }
}

/// Reads raw texels, which say nothing of themselves.
pub fn read_raw(path: &Path, [width, height]: [usize; 2], pixel: &str) -> Result<Image, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let (texels, size, pixel) = match pixel {
        "rgba8unorm" => (Texels::U8(bytes.clone()), 1, "rgba8unorm"),
        "rgba16unorm" => (Texels::U16(bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect()), 2, "rgba16unorm"),
        "rgba16float" => (Texels::Float(halves(&bytes)), 2, "rgba16float"),
        "rgba32float" => {
            (Texels::Float(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()), 4, "rgba32float")
        }
        other => return Err(format!("raw texels of {other}")),
    };
    if bytes.len() != width * height * 4 * size {
        return Err(format!("{}: {} bytes for {width} x {height} texels of {pixel}", path.display(), bytes.len()));
    }
    Ok(Image { width, height, texels, pixel })
}

fn halves(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(2).map(|b| half::f16::from_le_bytes([b[0], b[1]]).to_f32()).collect()
}

fn read_ktx2(path: &Path) -> Result<Image, String> {
    use std::io::Read;
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let number = |at: usize, length: usize| bytes[at..at + length].iter().rev().fold(0, |sum, &b| sum << 8 | usize::from(b));
    let field = |n: usize| number(12 + n * 4, 4);
    // format, type size, width, height, depth, layers, faces, levels, scheme
    let head: Vec<usize> = (0..9).map(field).collect();
    let (width, height) = (head[2], head[3]);
    if bytes[..12] != *b"\xabKTX 20\xbb\r\n\x1a\n" || head[..2] != [97, 2] || head[4..] != [0, 0, 1, 1, 2] {
        return Err(format!("a KTX2 header of {head:?}"));
    }
    let (at, length, whole) = (number(80, 8), number(88, 8), number(96, 8));
    let mut texels = Vec::new();
    let mut level = ruzstd::decoding::StreamingDecoder::new(&bytes[at..at + length]).map_err(|e| e.to_string())?;
    level.read_to_end(&mut texels).map_err(|e| e.to_string())?;
    if texels.len() != whole || whole != width * height * 8 {
        return Err(format!("{} bytes for {width} x {height} texels, {whole} announced", texels.len()));
    }
    Ok(Image { width, height, texels: Texels::Float(halves(&texels)), pixel: "rgba16float" })
}

/// Reads a file by its extension.
pub fn read(path: &Path) -> Result<Image, String> {
    let shown = path.display();
    match path.extension().and_then(|e| e.to_str()) {
        Some("png") => read_png(path).map_err(|e| format!("{shown}: {e}")),
        Some("exr") => read_exr(path).map_err(|e| format!("{shown}: {e}")),
        Some("ktx2") => read_ktx2(path).map_err(|e| format!("{shown}: {e}")),
        other => Err(format!("{shown}: a texture with the extension {other:?}")),
    }
}

fn read_png(path: &Path) -> Result<Image, String> {
    use image::DynamicImage;
    let mut reader = image::ImageReader::open(path).map_err(|e| e.to_string())?;
    reader.no_limits();
    let (image, pixel) = match reader.decode().map_err(|e| e.to_string())? {
        DynamicImage::ImageRgba8(all) => ((all.width(), all.height(), Texels::U8(all.into_raw())), "rgba8unorm"),
        DynamicImage::ImageRgba16(all) => ((all.width(), all.height(), Texels::U16(all.into_raw())), "rgba16unorm"),
        other => return Err(format!("a PNG of colour type {:?}, expected RGBA of 8 or 16 bits", other.color())),
    };
    Ok(Image { width: image.0 as usize, height: image.1 as usize, texels: image.2, pixel })
}

fn read_exr(path: &Path) -> Result<Image, String> {
    use exr::prelude::*;
    let image = read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .from_file(path)
        .map_err(|e| e.to_string())?;
    let layer = image.layer_data;
    let mut texels = vec![0.0; layer.size.area() * 4];
    let mut pixel = None;
    let names: Vec<String> = layer.channel_data.list.iter().map(|c| c.name.to_string()).collect();
    if names != ["A", "B", "G", "R"] {
        return Err(format!("channels {names:?}, expected A B G R (sorted, as EXR keeps them)"));
    }
    for channel in &layer.channel_data.list {
        let place = match channel.name.to_string().as_str() {
            "R" => 0,
            "G" => 1,
            "B" => 2,
            _ => 3,
        };
        let kind = match &channel.sample_data {
            FlatSamples::F16(all) => {
                all.iter().enumerate().for_each(|(i, v)| texels[i * 4 + place] = v.to_f32());
                "rgba16float"
            }
            FlatSamples::F32(all) => {
                all.iter().enumerate().for_each(|(i, v)| texels[i * 4 + place] = *v);
                "rgba32float"
            }
            FlatSamples::U32(_) => return Err("a channel of integers".into()),
        };
        if pixel.is_some_and(|p| p != kind) {
            return Err("channels of different types".into());
        }
        pixel = Some(kind);
    }
    Ok(self::Image { width: layer.size.width(), height: layer.size.height(), texels: Texels::Float(texels), pixel: pixel.unwrap_or("") })
}
