//! The twin as a backend: the reference, and what runs where there is no adapter.

use std::sync::mpsc::{Receiver, Sender, channel};

use glam::Vec3;
use rayon::prelude::*;

use super::layout::{MOST_COUNTS, RowResults};
use super::twin::Twin;
use super::{Backend, ChunkTexels, Job, Measured, Ranges, TexelBytes};
use crate::encode::{Encoding, Layer, NormalMode, Texel, decode_normal, decode_octahedral, encode_octahedral, quantise_normal};
use crate::plan::chunks::{Chunk, ChunkLimits, cut_bounds};
use crate::pose::sample_times;
use crate::report::{Device, Progress};
use crate::{Error, Result};

/// Runs the twin on all cores.
#[derive(Debug, Default)]
pub struct Cpu;

/// The twin as a device.
pub fn device() -> Device {
    let threads = rayon::current_num_threads();
    Device { name: format!("CPU twin ({threads} threads)"), backend: "cpu".into(), kind: "cpu".into(), driver: String::new() }
}

impl Backend for Cpu {
    fn device(&self) -> Device {
        device()
    }

    fn chunk_limits(&self, _: &Job<'_>, limits: ChunkLimits) -> Result<ChunkLimits> {
        Ok(limits)
    }

    fn bounds(&mut self, job: &Job<'_>, memory: u64, progress: &mut dyn Progress) -> Result<Vec<Ranges>> {
        let vertices = job.mesh.vertices.len();
        let most_frames = (memory / 4 / job.poses.poser().frame_bytes().max(1)) as usize;
        let mut ranges = vec![Ranges::EMPTY; job.clips.len()];
        let mut first = Vec::new();
        for run in cut_bounds(job.clips, vertices, most_frames, usize::MAX) {
            if progress.is_cancelled() {
                return Err(Error::Interrupted);
            }
            let clip = &job.clips[run.clip];
            if run.frames.start == clip.first_frame && run.vertices.start == 0 {
                let poses = sample_times(job.poses.poser(), &[(clip.clip, clip.time(0))]);
                let twin = Twin::new(job.mesh, poses.as_ref());
                first = (0..vertices).into_par_iter().map(|v| twin.deform_position(v, 0)).collect();
            }
            let found = job.poses.with_frames(run.frames.clone(), |frames| {
                let twin = Twin::new(job.mesh, frames);
                let one = |frame| frame_ranges(&twin, frame, run.vertices.clone(), job.rest, &first);
                (0..run.frames.len()).into_par_iter().map(one).reduce(|| Ranges::EMPTY, Ranges::join)
            });
            ranges[run.clip] = ranges[run.clip].join(found);
            progress.advance((run.frames.len() * run.vertices.len()) as u64);
        }
        Ok(ranges)
    }

    fn texels(
        &mut self,
        job: &Job<'_>,
        encoding: &Encoding,
        chunks: &[Chunk],
        progress: &mut dyn Progress,
        sink: &mut dyn FnMut(ChunkTexels) -> Result<()>,
    ) -> Result<Measured> {
        let mut measured = Measured::default();
        let pool = Pool::default();
        let row_bytes = job.layout.width * encoding.texel.bytes();
        for chunk in chunks {
            if progress.is_cancelled() {
                return Err(Error::Interrupted);
            }
            let vertices = job.layout.block_vertices(chunk.block);
            let mut layers: Vec<Buffer> = encoding.layers().iter().map(|_| pool.take(row_bytes * chunk.frames.len())).collect();
            let rows = job.poses.with_frames(chunk.frames.clone(), |frames| {
                let twin = Twin::new(job.mesh, frames).with_tangents(encoding.tangents);
                let rows: Vec<Row<'_>> = split_rows(&mut layers, encoding, row_bytes);
                let work = rows.into_par_iter().enumerate().map(|(frame, row)| match encoding.texel {
                    Texel::Uint => skin_uint(&twin, frame, vertices.clone(), job.rest, encoding, row),
                    Texel::Float => skin_float(&twin, frame, vertices.clone(), job.rest, encoding, row),
                });
                work.collect::<Vec<_>>()
            });
            rows.iter().for_each(|row| measured.add_row(row, encoding));
            progress.advance((chunk.frames.len() * vertices.len()) as u64);
            let layers = layers.into_iter().map(|layer| Box::new(layer) as Box<dyn TexelBytes>).collect();
            sink(ChunkTexels { chunk: chunk.clone(), layers })?;
        }
        Ok(measured)
    }
}

/// The memory of one row of texels in every layer; empty where a layer is not written.
#[derive(Default)]
struct Row<'a> {
    position: &'a mut [u8],
    normal: &'a mut [u8],
    tangent: &'a mut [u8],
}

fn split_rows<'a>(layers: &'a mut [Buffer], encoding: &Encoding, row_bytes: usize) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for (buffer, layer) in layers.iter_mut().zip(encoding.layers()) {
        let pieces = buffer.as_mut().chunks_exact_mut(row_bytes);
        rows.resize_with(pieces.len(), Row::default);
        for (row, piece) in rows.iter_mut().zip(pieces) {
            match layer {
                Layer::Position => row.position = piece,
                Layer::Normal => row.normal = piece,
                Layer::Tangent => row.tangent = piece,
            }
        }
    }
    rows
}

impl<'a> Row<'a> {
    /// Positions, normals and tangents as texels; nothing stays nothing, whatever its address.
    fn texels<T: bytemuck::Pod>(self) -> [&'a mut [T]; 3] {
        [self.position, self.normal, self.tangent].map(|row| if row.is_empty() { &mut [] } else { bytemuck::cast_slice_mut(row) })
    }
}

/// Zeroes what lies after the last vertex.
fn pad<T: bytemuck::Pod>(row: &mut [T], count: usize) {
    if let Some(padding) = row.get_mut(count..) {
        padding.fill(T::zeroed());
    }
}

/// Twin of `bounds`, one frame at a time.
fn frame_ranges(twin: &Twin<'_>, frame: usize, vertices: std::ops::Range<usize>, rest: &[[f32; 3]], first: &[Vec3]) -> Ranges {
    let mut ranges = Ranges::EMPTY;
    for vertex in vertices {
        let position = twin.deform_position(vertex, frame);
        let offset = position - Vec3::from(rest[vertex]);
        ranges.least = ranges.least.min(position);
        ranges.largest = ranges.largest.max(position);
        ranges.least_offset = ranges.least_offset.min(offset);
        ranges.largest_offset = ranges.largest_offset.max(offset);
        ranges.moved = ranges.moved.max(position.distance_squared(first[vertex]));
    }
    ranges
}

fn squared_counts(square: f32, unit: f32) -> u32 {
    let counts = (square.sqrt() / unit + 0.5).min(MOST_COUNTS) as u32;
    counts * counts
}

/// Twin of `skin_uint`, one row.
fn skin_uint(twin: &Twin<'_>, frame: usize, vertices: std::ops::Range<usize>, rest: &[[f32; 3]], e: &Encoding, row: Row<'_>) -> RowResults {
    let [positions, normals, tangents] = row.texels::<[u16; 4]>();
    let mut results = RowResults::default();
    let offset = f32::from(u8::from(e.is_offset));
    let direction = |n: Vec3| [n.x as u16, n.y as u16, n.z as u16, e.normal_levels as u16];
    let count = vertices.len();
    for (i, vertex) in vertices.enumerate() {
        let deformed = twin.deform(vertex, frame);
        let at_rest = Vec3::from(rest[vertex]) * offset;
        let texel = e.quantise(deformed.position - at_rest);
        let error = at_rest + e.decode(texel) - deformed.position;
        add_error(error, e.error_unit, &mut results.position_squares, &mut results.position_largest);
        let mut alpha = e.levels as u16;
        if e.normals != NormalMode::None {
            let seen = if e.normals == NormalMode::Separate {
                let n = quantise_normal(deformed.normal, e.normal_levels);
                normals[i] = direction(n);
                decode_normal(n, e.normal_levels)
            } else {
                alpha = encode_octahedral(deformed.normal);
                decode_octahedral(alpha)
            };
            add_error(seen - deformed.normal, e.chord_unit, &mut results.normal_squares, &mut results.normal_largest);
            results.degenerate += u32::from(deformed.degenerate);
        }
        if e.tangents {
            let t = quantise_normal(deformed.tangent, e.normal_levels);
            tangents[i] = direction(t);
            let chord = decode_normal(t, e.normal_levels) - deformed.tangent;
            add_error(chord, e.tangent_unit, &mut results.tangent_squares, &mut results.tangent_largest);
        }
        positions[i] = [texel.x as u16, texel.y as u16, texel.z as u16, alpha];
    }
    pad(positions, count);
    pad(normals, count);
    pad(tangents, count);
    results
}

fn add_error(error: Vec3, unit: f32, squares: &mut u32, largest: &mut u32) {
    let square = error.dot(error);
    *squares += squared_counts(square, unit);
    // bits of floats that are not negative order as the floats do
    *largest = (*largest).max(square.to_bits());
}

/// Twin of `skin_float`, one row.
fn skin_float(
    twin: &Twin<'_>,
    frame: usize,
    vertices: std::ops::Range<usize>,
    rest: &[[f32; 3]],
    e: &Encoding,
    row: Row<'_>,
) -> RowResults {
    let [positions, normals, tangents] = row.texels::<[f32; 4]>();
    let mut results = RowResults::default();
    let offset = f32::from(u8::from(e.is_offset));
    let count = vertices.len();
    for (i, vertex) in vertices.enumerate() {
        let deformed = twin.deform(vertex, frame);
        let value = deformed.position - Vec3::from(rest[vertex]) * offset;
        positions[i] = value.extend(1.0).to_array();
        if e.normals == NormalMode::Separate {
            normals[i] = deformed.normal.extend(1.0).to_array();
            results.degenerate += u32::from(deformed.degenerate);
        }
        if e.tangents {
            tangents[i] = deformed.tangent.extend(1.0).to_array();
        }
    }
    pad(positions, count);
    pad(normals, count);
    pad(tangents, count);
    results
}

/// Buffers that come back when a writer is done with them.
struct Pool {
    back: Sender<Vec<u128>>,
    free: Receiver<Vec<u128>>,
}

impl Default for Pool {
    fn default() -> Self {
        let (back, free) = channel();
        Self { back, free }
    }
}

impl Pool {
    fn take(&self, bytes: usize) -> Buffer {
        let mut words = self.free.try_recv().unwrap_or_default();
        words.resize(bytes.div_ceil(size_of::<u128>()), 0);
        Buffer { words, bytes, back: self.back.clone() }
    }
}

/// One of the pool's buffers, aligned for any texel.
struct Buffer {
    words: Vec<u128>,
    bytes: usize,
    back: Sender<Vec<u128>>,
}

impl Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }
}

impl TexelBytes for Buffer {
    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // the pool may be gone already
        let _ = self.back.send(std::mem::take(&mut self.words));
    }
}
