//! What the first pass found: whether it can be stored, and which clips stand still.

use super::Planned;
use super::delivery::largest_coordinate;
use crate::encode::FLAT;
use crate::plan::mesh::{BakeMesh, Morph};
use crate::pose::PoseSource;
use crate::skin::Ranges;
use crate::warning::{Code, Warnings};
use crate::{Error, Result};

/// Keys and matrices are finite, yet their products may not be, and what is no number is in no range: a maximum passes over it. So
/// the largest that could come about must stay far enough below the end of f32 for the squares that normals and distances take.
pub(super) fn check_reach(mesh: &BakeMesh, poses: &PoseSource<'_>) -> Result<()> {
    /// Its square has a place in f32.
    const MOST: f64 = 1e18;
    let [matrix, weight] = poses.largest().map(f64::from);
    let largest = |v: [f32; 3]| v.iter().fold(0.0, |most: f64, c| most.max(c.abs().into()));
    let (mut position, mut normal) = (0.0_f64, 0.0_f64);
    for vertex in &mesh.vertices {
        let morphs = &mesh.morphs[vertex.first_morph as usize..][..vertex.morph_count as usize];
        let sum =
            |of: fn(&Morph) -> [f32; 3]| if morphs.is_empty() { 0.0 } else { weight * morphs.iter().map(|m| largest(of(m))).sum::<f64>() };
        position = position.max(largest(vertex.position) + sum(|m| m.position));
        normal = normal.max(largest(vertex.normal) + sum(|m| m.normal));
    }
    let (reach, turned) = (matrix * (3.0 * position + 1.0), matrix * matrix * normal);
    // written so that NaN fails
    if reach < MOST && turned < MOST * MOST {
        return Ok(());
    }
    Err(Error::Bake(format!(
        "positions or normals may reach {:.1e}, beyond {MOST:.0e} their squares leave the range of 32-bit floats (matrices up to \
         {matrix:.1e}, morph weights up to {weight:.1e}, vertices up to {position:.1e}); look for huge scales, translations or weights \
         in the nodes and animations",
        reach.max(turned.sqrt()),
    )))
}

/// The ranges themselves, as the device found them.
pub(super) fn check_ranges(all: &Ranges) -> Result<()> {
    let finite = all.least.is_finite() && all.largest.is_finite() && all.least_offset.is_finite() && all.largest_offset.is_finite();
    if finite && all.moved.is_finite() {
        return Ok(());
    }
    Err(Error::Bake(format!(
        "positions leave the range of 32-bit floats (from {} to {}); look for huge scales or translations in the animation",
        all.least, all.largest
    )))
}

/// A clip of several frames whose poses differ by rounding noise at most, or that moves nothing that is baked.
pub(super) fn warn_still_clips(planned: &Planned<'_>, ranges: &[Ranges], all: &Ranges, warnings: &mut Warnings) {
    let noise = largest_coordinate(all) * FLAT;
    for (clip, range) in planned.clips.iter().zip(ranges) {
        let Some(index) = clip.clip else { continue };
        let moves_nothing = planned.poser.channels(index).is_empty();
        let still = moves_nothing || clip.frame_count > 1 && range.moved.sqrt() <= noise;
        warnings.add(Code::NothingMoves, still.into(), || {
            format!("{{count}} clip(s) in which no vertex moves (first: '{}'); leave them out with --clips", clip.name)
        });
    }
}
