//! Palettes of runs of frames: all at once where they are small, again and again where they are not.

use std::sync::atomic::{AtomicU32, Ordering};

use glam::Vec4;
use rayon::prelude::*;

use super::hierarchy::{Poser, Scratch};
use crate::plan::frames::ClipPlan;

/// Palettes and morph weights of consecutive frames, or of any frames that were asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Poses {
    /// [`crate::plan::mesh::BakeMesh::palette`] matrices a frame, three rows each.
    pub palettes: Vec<Vec4>,
    /// Morph weights, `weight_count` a frame.
    pub weights: Vec<f32>,
}

/// Borrowed palettes and weights of consecutive frames.
#[derive(Debug, Clone, Copy)]
pub struct FrameRef<'a> {
    /// As in [`Poses`].
    pub palettes: &'a [Vec4],
    /// As in [`Poses`].
    pub weights: &'a [f32],
}

/// Samples frames of a bake by their number over the whole bake.
#[derive(Debug)]
pub struct PoseSource<'a> {
    poser: &'a Poser<'a>,
    clips: &'a [ClipPlan],
    /// Every frame, where all of them fit the share of the memory that they may take.
    resident: Option<Poses>,
    /// Bits of the largest magnitudes so far: those of floats without a sign are ordered, NaN above infinity.
    largest: [AtomicU32; 2],
}

impl<'a> PoseSource<'a> {
    /// Samples every frame now where that takes at most `budget` bytes.
    pub fn new(poser: &'a Poser<'a>, clips: &'a [ClipPlan], budget: u64) -> Self {
        let frames = clips.last().map_or(0, |c| c.first_frame + c.frame_count);
        let bytes = frames as u64 * poser.frame_bytes();
        let mut source = Self { poser, clips, resident: None, largest: [AtomicU32::new(0), AtomicU32::new(0)] };
        if bytes <= budget {
            source.resident = Some(source.sample(0..frames));
        }
        source
    }

    /// The poser behind it.
    pub fn poser(&self) -> &Poser<'a> {
        self.poser
    }

    /// Calls `work` with the palettes of frames `range`.
    pub fn with_frames<T>(&self, range: std::ops::Range<usize>, work: impl FnOnce(FrameRef<'_>) -> T) -> T {
        let (p, w) = (self.poser.palette_rows(), self.poser.weight_count());
        match &self.resident {
            Some(all) => work(FrameRef {
                palettes: &all.palettes[range.start * p..range.end * p],
                weights: &all.weights[range.start * w..range.end * w],
            }),
            None => {
                let poses = self.sample(range);
                work(FrameRef { palettes: &poses.palettes, weights: &poses.weights })
            }
        }
    }

    /// Largest magnitude of a palette's element and of a morph weight over the frames sampled so far; NaN where one is.
    pub fn largest(&self) -> [f32; 2] {
        self.largest.each_ref().map(|bits| f32::from_bits(bits.load(Ordering::Relaxed)))
    }

    /// Samples frames in parallel.
    fn sample(&self, range: std::ops::Range<usize>) -> Poses {
        let times: Vec<_> = range.map(|frame| self.locate(frame)).collect();
        let poses = sample_times(self.poser, &times);
        let largest = |bits: &[u32]| bits.iter().map(|bits| bits & !(1 << 31)).max().unwrap_or(0);
        self.largest[0].fetch_max(largest(bytemuck::cast_slice(&poses.palettes)), Ordering::Relaxed);
        self.largest[1].fetch_max(largest(bytemuck::cast_slice(&poses.weights)), Ordering::Relaxed);
        poses
    }

    /// Clip and time of a frame of the whole bake.
    fn locate(&self, frame: usize) -> (Option<usize>, f64) {
        let index = self.clips.partition_point(|c| c.first_frame + c.frame_count <= frame);
        let clip = &self.clips[index];
        (clip.clip, clip.time(frame - clip.first_frame))
    }
}

/// Samples any clips and times, in parallel.
pub fn sample_times(poser: &Poser<'_>, times: &[(Option<usize>, f64)]) -> Poses {
    let (p, w) = (poser.palette_rows(), poser.weight_count());
    let mut poses = Poses { palettes: vec![Vec4::ZERO; times.len() * p], weights: vec![0.0; times.len() * w] };
    // chunks of zero length do not exist: a model without matrices or morphs still has one slot a frame to walk over
    let palettes: Vec<&mut [Vec4]> =
        if p == 0 { times.iter().map(|_| &mut [][..]).collect() } else { poses.palettes.chunks_exact_mut(p).collect() };
    let weights: Vec<&mut [f32]> =
        if w == 0 { times.iter().map(|_| &mut [][..]).collect() } else { poses.weights.chunks_exact_mut(w).collect() };
    times.par_iter().zip(palettes).zip(weights).for_each_init(Scratch::default, |scratch, ((&(clip, time), palette), weights)| {
        poser.pose(clip, time, scratch, palette, weights);
    });
    poses
}

impl Poses {
    /// Borrows all frames.
    pub fn as_ref(&self) -> FrameRef<'_> {
        FrameRef { palettes: &self.palettes, weights: &self.weights }
    }
}
