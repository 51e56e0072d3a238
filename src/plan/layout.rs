//! Which texel belongs to which vertex and frame, and which lookup coordinate names which vertex (format: "Vertices, frames,
//! texels" and "The mesh").

use super::frames::ClipPlan;
use crate::{Error, Result};

/// Half floats tell this many texel centres apart.
const MOST_LANES: usize = 1024;
/// No adapter takes a longer side, in texels.
pub const LONGEST_SIDE: u32 = 32768;

/// The texture: block-major, so that rows that follow each other are frames that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Vertices of the bake.
    pub vertex_count: usize,
    /// Frames of the bake.
    pub frame_count: usize,
    /// Texels a row, a multiple of 4; vertices a block.
    pub width: usize,
    /// Runs of vertices, each over all frames.
    pub blocks: usize,
    /// Rows, a multiple of 4.
    pub height: usize,
}

impl Layout {
    /// Lays out `clips` of `vertex_count` vertices in a texture of at most `max_size` texels a side.
    ///
    /// # Errors
    /// [`Error::Bake`] with the sizes, the largest clips and the remedies where it does not fit.
    pub fn new(vertex_count: usize, clips: &[ClipPlan], max_size: u32) -> Result<Self> {
        let frame_count: usize = clips.iter().map(|c| c.frame_count).sum();
        let layout = Self::of(vertex_count, frame_count, max_size);
        if layout.height > whole_fours(max_size) { Err(layout.too_large(clips, max_size)) } else { Ok(layout) }
    }

    /// The layout with rows of at most `max_size` texels, however high.
    fn of(vertex_count: usize, frame_count: usize, max_size: u32) -> Self {
        let blocks = vertex_count.div_ceil(whole_fours(max_size));
        let width = vertex_count.div_ceil(blocks).next_multiple_of(4);
        Self { vertex_count, frame_count, width, blocks, height: (blocks * frame_count).next_multiple_of(4) }
    }

    fn too_large(&self, clips: &[ClipPlan], max_size: u32) -> Error {
        let mut longest: Vec<_> = clips.iter().collect();
        longest.sort_by_key(|c| std::cmp::Reverse(c.frame_count));
        let list: Vec<_> = longest.iter().take(3).map(|c| format!("'{}' with {}", c.name, c.frame_count)).collect();
        // Only what helps is proposed.
        let mut remedies = vec![if clips.len() > 1 { "choose fewer with --clips" } else { "cut it with --start and --end" }.to_string()];
        let rows = whole_fours(max_size) / self.blocks.max(1);
        if rows > 0 {
            remedies.push(format!("lower --fps so that at most {rows} frames remain"));
        }
        let fits = |side: &u32| Self::of(self.vertex_count, self.frame_count, *side).height <= whole_fours(*side);
        if let Some(side) = (max_size / 4 * 4..=LONGEST_SIDE).step_by(4).find(fits) {
            remedies.push(format!("allow a larger side with --max-size {side}"));
        }
        let last = remedies.pop().unwrap_or_default();
        let remedies = if remedies.is_empty() { last } else { format!("{}, or {last}", remedies.join(", ")) };
        Error::Bake(format!(
            "{} vertices x {} frames need a texture of {} x {} texels, over --max-size {max_size}; {} {} frames; {remedies}",
            self.vertex_count,
            self.frame_count,
            self.width,
            self.height,
            if clips.len() > 1 { "the largest clips are" } else { "the clip is" },
            list.join(", "),
        ))
    }

    /// Vertices of a block.
    pub fn block_vertices(&self, block: usize) -> std::ops::Range<usize> {
        block * self.width..((block + 1) * self.width).min(self.vertex_count)
    }

    /// Row of a block's frame.
    pub fn row(&self, block: usize, frame: usize) -> usize {
        block * self.frame_count + frame
    }

    /// Rows that hold frames; the rest up to `height` is padding.
    pub fn used_rows(&self) -> usize {
        self.blocks * self.frame_count
    }
}

/// A side is a multiple of 4, so only whole fours of the limit count.
fn whole_fours(max_size: u32) -> usize {
    (max_size as usize / 4 * 4).max(4)
}

/// How a UV set names vertices: whatever the texture's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lookup {
    /// Vertices a row of the lookup.
    pub lanes: usize,
    /// Rows of the lookup.
    pub groups: usize,
}

impl Lookup {
    /// The lookup of a bake.
    pub fn new(vertex_count: usize) -> Self {
        let lanes = vertex_count.clamp(1, MOST_LANES);
        Self { lanes, groups: vertex_count.div_ceil(lanes).max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_texel_belongs_to_one_vertex_and_frame() {
        for (vertices, max_size) in [(1, 8192), (3, 8192), (1023, 1024), (1024, 1024), (1025, 1024), (2049, 1024), (10, 4), (17, 7)] {
            let blocks = usize::div_ceil(vertices, max_size as usize / 4 * 4);
            let layout = Layout { frame_count: 3, ..sized(vertices, max_size) };
            assert_eq!((layout.blocks, layout.width % 4), (blocks, 0));
            let mut seen = std::collections::HashSet::new();
            for vertex in 0..vertices {
                for frame in 0..3 {
                    assert!(seen.insert((vertex % layout.width, layout.row(vertex / layout.width, frame))));
                }
            }
            assert!(seen.iter().all(|&(x, y)| x < layout.width && y < blocks * 3));
        }
    }

    fn sized(vertices: usize, max_size: u32) -> Layout {
        Layout::new(vertices, &[], max_size).unwrap()
    }

    #[test]
    fn a_lookup_has_a_place_for_every_vertex() {
        assert_eq!(Lookup::new(1), Lookup { lanes: 1, groups: 1 });
        assert_eq!(Lookup::new(1024), Lookup { lanes: 1024, groups: 1 });
        assert_eq!(Lookup::new(1025), Lookup { lanes: 1024, groups: 2 });
        assert_eq!(Lookup::new(1 << 20), Lookup { lanes: 1024, groups: 1024 });
    }
}
