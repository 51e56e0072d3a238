//! How the work is cut: whole file rows of one block, small enough for memory, limits and watchdogs, large enough to be fast.

use super::frames::ClipPlan;
use super::layout::Layout;

/// Texels of a chunk at most: larger was slower and trips watchdogs.
pub const MOST_TEXELS: usize = 1 << 20;
/// Frames of a chunk at most.
pub const MOST_FRAMES: usize = 128;
/// Frames that one invocation of the bounds pass carries at most.
pub const BOUNDS_FRAMES: usize = 64;
/// Vertices times frames of one bounds dispatch at most.
pub const BOUNDS_WORK: usize = 1 << 22;
/// Chunks in flight.
pub const IN_FLIGHT: usize = 3;

/// What a chunk may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkLimits {
    /// Texels.
    pub texels: usize,
    /// Frames.
    pub frames: usize,
}

impl ChunkLimits {
    /// What `memory` bytes allow with `IN_FLIGHT` chunks of `texel_bytes` and frames of `frame_bytes`.
    pub fn new(memory: u64, texel_bytes: usize, frame_bytes: u64) -> Self {
        let each = memory / IN_FLIGHT as u64 / 2;
        let texels = (each / texel_bytes.max(1) as u64).min(MOST_TEXELS as u64) as usize;
        let frames = (each / frame_bytes.max(1)).min(MOST_FRAMES as u64) as usize;
        Self { texels: texels.max(1), frames: frames.max(1) }
    }

    /// The smaller of both.
    pub fn at_most(self, texels: usize, frames: usize) -> Self {
        Self { texels: self.texels.min(texels), frames: self.frames.min(frames) }
    }
}

/// Consecutive frames of one block: rows of the texture that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Block.
    pub block: usize,
    /// Frames over the whole bake.
    pub frames: std::ops::Range<usize>,
    /// First row of the texture.
    pub row: usize,
}

/// Cuts a texture into chunks, in the order of its rows. A chunk holds at least one row, whatever the limits.
pub fn cut_texture(layout: &Layout, limits: ChunkLimits) -> Vec<Chunk> {
    let frames = (limits.texels / layout.width).clamp(1, limits.frames);
    let mut chunks = Vec::new();
    for block in 0..layout.blocks {
        for first in (0..layout.frame_count).step_by(frames) {
            let last = (first + frames).min(layout.frame_count);
            chunks.push(Chunk { block, frames: first..last, row: layout.row(block, first) });
        }
    }
    chunks
}

/// Consecutive frames of one clip, and the vertices that one dispatch carries through them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Index of the clip in the plan.
    pub clip: usize,
    /// Frames over the whole bake.
    pub frames: std::ops::Range<usize>,
    /// Vertices.
    pub vertices: std::ops::Range<usize>,
}

/// Cuts the bounds pass.
pub fn cut_bounds(clips: &[ClipPlan], vertex_count: usize, most_frames: usize, most_vertices: usize) -> Vec<Run> {
    let frames = most_frames.clamp(1, BOUNDS_FRAMES);
    let vertices = (BOUNDS_WORK / frames).min(most_vertices).max(1);
    let mut runs = Vec::new();
    for (index, clip) in clips.iter().enumerate() {
        let end = clip.first_frame + clip.frame_count;
        for first in (clip.first_frame..end).step_by(frames) {
            for start in (0..vertex_count).step_by(vertices) {
                let range = start..(start + vertices).min(vertex_count);
                runs.push(Run { clip: index, frames: first..(first + frames).min(end), vertices: range });
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_cover_every_row_once_and_keep_the_limits(
            vertices in 1_usize..200_000, frames in 1_usize..5_000, max_size in 4_usize..16_384, texels in 1_usize..2_000_000, most in 1_usize..300
        ) {
            let blocks = vertices.div_ceil(max_size / 4 * 4);
            let width = vertices.div_ceil(blocks).next_multiple_of(4);
            let layout = Layout { vertex_count: vertices, frame_count: frames, width, blocks, height: (blocks * frames).next_multiple_of(4) };
            let mut row = 0;
            for chunk in cut_texture(&layout, ChunkLimits { texels, frames: most }) {
                prop_assert_eq!(chunk.row, row);
                prop_assert!(!chunk.frames.is_empty() && chunk.frames.len() <= most);
                prop_assert!(chunk.frames.len() == 1 || chunk.frames.len() * width <= texels);
                row += chunk.frames.len();
            }
            prop_assert_eq!(row, layout.used_rows());
        }

        #[test]
        fn a_ceiling_for_memory_is_kept(memory in 1_u64 << 20..1 << 33, texel in 8_usize..64, frame in 1_u64..1_000_000) {
            let limits = ChunkLimits::new(memory, texel, frame);
            prop_assert!(limits.texels <= MOST_TEXELS && limits.frames <= MOST_FRAMES);
            prop_assert!(limits.texels == 1 || (limits.texels * texel * IN_FLIGHT) as u64 <= memory);
            prop_assert!(limits.frames == 1 || limits.frames as u64 * frame * IN_FLIGHT as u64 <= memory);
        }
    }
}
