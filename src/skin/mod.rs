//! Deform: vertices times palettes to texels. WGSL on any adapter, or its twin on the CPU: the only heavy step.

pub mod cpu;
pub mod gpu;
pub mod layout;
pub mod rest;
pub mod twin;

use glam::Vec3;

use crate::Result;
use crate::encode::{Encoding, Layer, chord_degrees};
use crate::plan::chunks::{Chunk, ChunkLimits};
use crate::plan::frames::ClipPlan;
use crate::plan::layout::Layout;
use crate::plan::mesh::BakeMesh;
use crate::pose::PoseSource;
use crate::report::{Device, Progress};

/// What is deformed.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Vertices.
    pub mesh: &'a BakeMesh,
    /// Rest positions of the output, metres.
    pub rest: &'a [[f32; 3]],
    /// Palettes by frame.
    pub poses: &'a PoseSource<'a>,
    /// Clips.
    pub clips: &'a [ClipPlan],
    /// Texture.
    pub layout: &'a Layout,
}

/// What runs the deformation.
pub trait Backend {
    /// Who it is.
    fn device(&self) -> Device;

    /// What a chunk may take on this device, at most `limits`.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where not even one row fits.
    fn chunk_limits(&self, job: &Job<'_>, limits: ChunkLimits) -> Result<ChunkLimits>;

    /// Pass 1: the ranges of every clip.
    ///
    /// # Errors
    /// [`crate::Error::Device`], [`crate::Error::Interrupted`].
    fn bounds(&mut self, job: &Job<'_>, memory: u64, progress: &mut dyn Progress) -> Result<Vec<Ranges>>;

    /// Pass 2: texels chunk by chunk, in order, to `sink`.
    ///
    /// # Errors
    /// [`crate::Error::Device`], [`crate::Error::Interrupted`], and whatever `sink` returns.
    fn texels(
        &mut self,
        job: &Job<'_>,
        encoding: &Encoding,
        chunks: &[Chunk],
        progress: &mut dyn Progress,
        sink: &mut dyn FnMut(ChunkTexels) -> Result<()>,
    ) -> Result<Measured>;
}

/// Ranges of one clip, metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranges {
    /// Least position.
    pub least: Vec3,
    /// Largest position.
    pub largest: Vec3,
    /// Least distance from the rest position, by axis.
    pub least_offset: Vec3,
    /// Largest distance from the rest position, by axis.
    pub largest_offset: Vec3,
    /// Largest squared distance of a vertex from where the clip's first pose has it.
    pub moved: f32,
}

impl Ranges {
    /// Contains nothing.
    pub const EMPTY: Self = Self {
        least: Vec3::INFINITY,
        largest: Vec3::NEG_INFINITY,
        least_offset: Vec3::INFINITY,
        largest_offset: Vec3::NEG_INFINITY,
        moved: 0.0,
    };

    /// Both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            largest: self.largest.max(other.largest),
            least_offset: self.least_offset.min(other.least_offset),
            largest_offset: self.largest_offset.max(other.largest_offset),
            moved: self.moved.max(other.moved),
        }
    }
}

/// Texels that a writer may hold on to, on any thread; dropping them gives the memory back to the device.
pub trait TexelBytes: Send + Sync {
    /// Native-endian components, row after row without gaps.
    fn bytes(&self) -> &[u8];
}

/// The texels of one chunk.
pub struct ChunkTexels {
    /// Which rows.
    pub chunk: Chunk,
    /// One a layer of the encoding.
    pub layers: Vec<Box<dyn TexelBytes>>,
}

/// Errors measured while texels were made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// Sum of squared position errors, square metres.
    pub position_squares: f64,
    /// Largest position error, metres.
    pub position_max: f64,
    /// Sum of squared chords between a normal and its texel.
    pub normal_squares: f64,
    /// Largest chord.
    pub normal_max: f64,
    /// Normals without a direction.
    pub degenerate: u64,
    /// Sum of squared chords between a tangent and its texel.
    pub tangent_squares: f64,
    /// Largest chord.
    pub tangent_max: f64,
}

impl Measured {
    /// Adds one row's results.
    pub fn add_row(&mut self, row: &layout::RowResults, encoding: &Encoding) {
        let squared = |unit: f32| f64::from(unit) * f64::from(unit);
        self.position_squares += f64::from(row.position_squares) * squared(encoding.error_unit);
        self.normal_squares += f64::from(row.normal_squares) * squared(encoding.chord_unit);
        self.position_max = self.position_max.max(f64::from(f32::from_bits(row.position_largest)).sqrt());
        self.normal_max = self.normal_max.max(f64::from(f32::from_bits(row.normal_largest)).sqrt());
        self.degenerate += u64::from(row.degenerate);
        self.tangent_squares += f64::from(row.tangent_squares) * squared(encoding.tangent_unit);
        self.tangent_max = self.tangent_max.max(f64::from(f32::from_bits(row.tangent_largest)).sqrt());
    }

    /// Adds another part of the same bake.
    pub fn add(&mut self, other: &Self) {
        self.position_squares += other.position_squares;
        self.position_max = self.position_max.max(other.position_max);
        self.normal_squares += other.normal_squares;
        self.normal_max = self.normal_max.max(other.normal_max);
        self.degenerate += other.degenerate;
        self.tangent_squares += other.tangent_squares;
        self.tangent_max = self.tangent_max.max(other.tangent_max);
    }

    /// Largest and root mean square error of a layer over `samples` vertices and frames: metres for positions, else degrees.
    pub fn error(&self, layer: Layer, samples: u64) -> (f64, f64) {
        let rms = |squares: f64| (squares / samples.max(1) as f64).sqrt();
        match layer {
            Layer::Position => (self.position_max, rms(self.position_squares)),
            Layer::Normal => (chord_degrees(self.normal_max), chord_degrees(rms(self.normal_squares))),
            Layer::Tangent => (chord_degrees(self.tangent_max), chord_degrees(rms(self.tangent_squares))),
        }
    }
}
