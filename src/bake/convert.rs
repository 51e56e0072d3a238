//! From values to a set's texels: turned into its axes and unit, narrowed to its pixels, and measured against what they were.
//!
//! The device gives plain values once (positions and directions as f32, glTF's axes, metres); each set that is no copy of the
//! kernel's integers makes its own texels of them. The quantisation is that of [`crate::encode`], so the native set has the same bytes
//! whichever way it is made.

use glam::{DVec3, Mat3, Vec3};
use half::f16;

use super::form::Stored;
use crate::encode::{Encoding, Layer, NormalMode, decode_normal, decode_octahedral, encode_octahedral, quantise_normal};
use crate::output::sidecar::Pixel;
use crate::plan::chunks::Chunk;
use crate::skin::{Job, Measured};

/// How values become one set's texels.
#[derive(Debug, Clone, Copy)]
pub struct Converter {
    pub stored: Stored,
    /// Of values in the set's axes and unit.
    pub encoding: Encoding,
    /// From glTF's axes to the set's.
    pub axes: Mat3,
    /// The set's units of a metre.
    pub units: f32,
}

/// Rows of one texture as they are written; reused.
#[derive(Debug, Default)]
pub struct Rows {
    /// Nobody wants them: a dry run only measures.
    pub is_dropped: bool,
    pub integers: Vec<u16>,
    pub halves: Vec<f16>,
    pub floats: Vec<f32>,
}

/// A chunk's plain values.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    pub chunk: &'a Chunk,
    /// Four components a texel: the layer that is converted.
    pub own: &'a [f32],
    /// Those of the normals, where they go into the position's alpha.
    pub normals: Option<&'a [f32]>,
}

impl Converter {
    /// A point in the set's axes and unit.
    pub fn turn(&self, point: Vec3) -> Vec3 {
        self.axes * point * self.units
    }

    /// Makes `rows` the texels of one layer and adds their errors to `measured`. Texels that no vertex owns are zero.
    pub fn convert(&self, layer: Layer, values: Values<'_>, job: &Job<'_>, rows: &mut Rows, measured: &mut Measured) {
        let pixel = if layer == Layer::Position { self.stored.pixel } else { self.stored.direction_pixel };
        rows.clear();
        let vertices = job.layout.block_vertices(values.chunk.block);
        let width = job.layout.width * 4;
        for (row, texels) in values.own.chunks_exact(width).enumerate() {
            let normals = values.normals.map(|all| &all[row * width..][..width]);
            for (i, vertex) in vertices.clone().enumerate() {
                let value = Vec3::from_slice(&texels[i * 4..]);
                let normal = normals.map(|row| self.axes * Vec3::from_slice(&row[i * 4..]));
                let texel = match layer {
                    Layer::Position => self.position(value, job.rest[vertex].into(), normal, measured),
                    _ => self.direction(layer, self.axes * value, measured),
                };
                rows.push(pixel, texel);
            }
            for _ in vertices.len()..job.layout.width {
                rows.push(pixel, [0.0; 4]);
            }
        }
    }

    /// A position's texel.
    fn position(&self, position: Vec3, rest: Vec3, normal: Option<Vec3>, measured: &mut Measured) -> [f32; 4] {
        let (value, origin) = match self.stored.is_offset {
            true => (self.turn(position - rest), self.turn(rest)),
            false => (self.turn(position), Vec3::ZERO),
        };
        let (texel, decoded, opaque) = if self.stored.is_float() {
            let kept = if self.stored.is_half() { halve(value) } else { value };
            (value, kept, 1.0)
        } else {
            let texel = self.encoding.quantise(value);
            (texel, self.encoding.decode(texel), self.encoding.levels)
        };
        let error = (exact(self, position) - (origin + decoded).as_dvec3()).length_squared();
        measured.position_squares += error;
        measured.position_max = measured.position_max.max(error.sqrt());
        let alpha = normal.map_or(opaque, |normal| {
            let texel = encode_octahedral(normal);
            measure_chord(decode_octahedral(texel), normal, Layer::Normal, measured);
            f32::from(texel)
        });
        texel.extend(alpha).to_array()
    }

    /// The texel of a normal or a tangent.
    fn direction(&self, layer: Layer, value: Vec3, measured: &mut Measured) -> [f32; 4] {
        let levels = self.encoding.normal_levels;
        let (texel, decoded, opaque) = match self.stored.direction_pixel {
            Pixel::Rgba16Float => (value, halve(value).normalize_or(Vec3::Z), 1.0),
            Pixel::Rgba32Float => (value, value.normalize_or(Vec3::Z), 1.0),
            Pixel::Rgba8Unorm | Pixel::Rgba16Unorm => {
                let texel = quantise_normal(value, levels);
                (texel, decode_normal(texel, levels), levels)
            }
        };
        measure_chord(decoded, value, layer, measured);
        texel.extend(opaque).to_array()
    }
}

/// Where a point is in the set's axes and unit, without the rounding of the way there.
fn exact(converter: &Converter, point: Vec3) -> DVec3 {
    converter.axes.as_dmat3() * point.as_dvec3() * f64::from(converter.units)
}

fn halve(value: Vec3) -> Vec3 {
    Vec3::from(value.to_array().map(|c| f16::from_f32(c).to_f32()))
}

fn measure_chord(decoded: Vec3, value: Vec3, layer: Layer, measured: &mut Measured) {
    let chord = f64::from((decoded - value).length_squared());
    let (squares, largest) = match layer {
        Layer::Tangent => (&mut measured.tangent_squares, &mut measured.tangent_max),
        _ => (&mut measured.normal_squares, &mut measured.normal_max),
    };
    *squares += chord;
    *largest = largest.max(chord.sqrt());
}

impl Rows {
    /// Texels that no vertex owns.
    pub fn zero(pixel: Pixel, texels: usize) -> Self {
        let mut rows = Self::default();
        (0..texels).for_each(|_| rows.push(pixel, [0.0; 4]));
        rows
    }

    fn clear(&mut self) {
        self.integers.clear();
        self.halves.clear();
        self.floats.clear();
    }

    fn push(&mut self, pixel: Pixel, texel: [f32; 4]) {
        if self.is_dropped {
            return;
        }
        match pixel {
            Pixel::Rgba8Unorm | Pixel::Rgba16Unorm => self.integers.extend(texel.map(|c| c as u16)),
            Pixel::Rgba16Float => self.halves.extend(texel.map(f16::from_f32)),
            Pixel::Rgba32Float => self.floats.extend(texel),
        }
    }
}

/// Which of the device's plain layers a converter needs beside the one it converts.
pub fn needs_normals(stored: &Stored, layer: Layer) -> bool {
    layer == Layer::Position && stored.normals == NormalMode::Octahedral
}
