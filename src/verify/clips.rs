//! Clips: inside the texture and apart, times that agree, loops that close, boxes that hold what moves.

use glam::DVec3;
use rayon::prelude::*;

use super::verdict::{Code, Findings};
use crate::baked::{Baked, decode_position};
use crate::output::sidecar::{Bounds, Clip, Loop, Role, Sidecar};

/// A gap of this share of the model's size is none (format.md, "Time").
const CLOSED: f64 = 1e-4;

/// A clip's name in quotes for messages.
pub(super) fn label(clip: &Clip) -> String {
    clip.name.as_ref().map_or_else(|| "without a name".into(), |name| format!("'{name}'"))
}

/// What the sidecar says of frames and seconds.
pub(super) fn check_times(sidecar: &Sidecar, file: &str, findings: &mut Findings) {
    let mut owned: Vec<(u64, u64, &Clip)> = Vec::new();
    for clip in &sidecar.clips {
        let name = label(clip);
        let numbers = [clip.fps, clip.start, clip.length, clip.largest_displacement];
        if !numbers.iter().all(|v| v.is_finite()) || clip.fps <= 0.0 || clip.length < 0.0 || clip.largest_displacement < 0.0 {
            let text =
                format!("clip {name} has {} frames a second from {} s on, for {} s, which cannot be", clip.fps, clip.start, clip.length);
            findings.wrong(Code::ClipTiming, file, text);
            continue;
        }
        let (intervals, product) = (f64::from(clip.frame_count.max(1) - 1), f64::from(clip.fps) * f64::from(clip.length));
        if (product - intervals).abs() > 1e-3_f64.max(intervals * 1e-5) {
            let text = format!(
                "clip {name} has {} frames, and {} s at {} a second are {product:.3} intervals",
                clip.frame_count, clip.length, clip.fps
            );
            findings.wrong(Code::ClipTiming, file, text);
        }
        if let Some(track) = &clip.root_motion {
            let (moves, turns, frames) = (track.translation.len(), track.yaw.len(), clip.frame_count as usize);
            let finite = track.translation.as_flattened().iter().chain(&track.yaw).all(|v| v.is_finite());
            if moves != frames || turns != frames || !finite {
                let text = format!("the root motion of clip {name} has {moves} moves and {turns} turns for {frames} frames, each a number");
                findings.wrong(Code::ClipTiming, file, text);
            }
        }
        owned.push((clip.first_frame.into(), u64::from(clip.first_frame) + u64::from(clip.frame_count), clip));
    }
    owned.sort_by_key(|&(first, ..)| first);
    let mut end = 0;
    for (first, last, clip) in owned {
        if first < end {
            let text = format!("clip {} begins at frame {first}, and the clip before it ends at {end}: they share frames", label(clip));
            findings.wrong(Code::Clips, file, text);
        } else if first > end {
            findings.warn(Code::Clips, file, format!("frames {end} to {} belong to no clip", first - 1));
        }
        end = end.max(last);
    }
    if end < sidecar.frame_count.into() {
        findings.warn(Code::Clips, file, format!("frames {end} to {} belong to no clip", sidecar.frame_count - 1));
    }
}

/// Diagonal of the rest pose; that of the boxes where it has none.
pub(super) fn rest_size(baked: &Baked) -> f64 {
    let rest = (0..baked.sidecar.vertex_count as usize).map(|v| baked.rest(v));
    let (min, max) = rest.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(min, max), p| (min.min(p), max.max(p)));
    let size = (max - min).length();
    if size > 0.0 { size } else { corner(baked.sidecar.bounds.min).distance(corner(baked.sidecar.bounds.max)) }
}

fn corner(corner: [f32; 3]) -> DVec3 {
    DVec3::from(corner.map(f64::from))
}

/// What the frames of a clip really do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Motion {
    pub(super) min: DVec3,
    pub(super) max: DVec3,
    /// Largest distance of a vertex from the clip's first pose.
    pub(super) displacement: f64,
}

/// Box (rest pose included) and displacement of a clip, each texel changed by `map` before it is decoded.
pub(super) fn motion(baked: &Baked, clip: &Clip, map: &(dyn Fn([f64; 4]) -> [f64; 4] + Sync)) -> Motion {
    let vertices = baked.sidecar.vertex_count as usize;
    let start = Motion { min: DVec3::INFINITY, max: DVec3::NEG_INFINITY, displacement: 0.0 };
    let Some((texture, image)) = baked.texture(Role::Position) else { return start };
    let first = clip.first_frame as usize;
    let at = |vertex: usize, frame: usize| {
        let (x, y) = baked.address(vertex, frame);
        decode_position(texture, map(image.texel(x, y)), baked.rest(vertex))
    };
    let of_vertex = |vertex: usize| {
        let (rest, begun) = (baked.rest(vertex), at(vertex, first));
        let mut found = Motion { min: rest, max: rest, displacement: 0.0 };
        for frame in first..first + clip.frame_count as usize {
            let position = at(vertex, frame);
            found.min = found.min.min(position);
            found.max = found.max.max(position);
            found.displacement = found.displacement.max(position.distance(begun));
        }
        found
    };
    let join =
        |a: Motion, b: Motion| Motion { min: a.min.min(b.min), max: a.max.max(b.max), displacement: a.displacement.max(b.displacement) };
    (0..vertices).into_par_iter().map(of_vertex).reduce(|| start, join)
}

/// How far a decoded position may be from what was deformed: the recorded error, and what f32 cannot hold.
pub(super) fn slack(baked: &Baked) -> f64 {
    let recorded = baked.texture(Role::Position).map_or(0.0, |(texture, _)| f64::from(texture.error.max));
    let b = &baked.sidecar.bounds;
    let largest = b.min.iter().chain(&b.max).fold(0.0_f64, |most, &v| most.max(f64::from(v).abs()));
    recorded * 1.001 + largest * 2e-6
}

/// Lengths are measured by their squares, in 32 bits: those of less are 0.
const LEAST_LENGTH: f64 = 1e-18;

/// What the texels say of boxes, displacements and loops.
pub(super) fn check_motion(baked: &Baked, file: &str, findings: &mut Findings) {
    let sidecar = &baked.sidecar;
    let slack = slack(baked);
    let size = rest_size(baked);
    let mut all = Motion { min: DVec3::INFINITY, max: DVec3::NEG_INFINITY, displacement: 0.0 };
    for clip in &sidecar.clips {
        let found = motion(baked, clip, &|texel| texel);
        all = Motion { min: all.min.min(found.min), max: all.max.max(found.max), displacement: all.displacement };
        check_box(&format!("clip {}", label(clip)), &clip.bounds, found, slack, file, findings);
        let said = f64::from(clip.largest_displacement);
        if (found.displacement - said).abs() > 2.0 * slack + LEAST_LENGTH {
            let text = format!(
                "clip {} moves a vertex by {} from its first pose, the sidecar says {said}; bake again",
                label(clip),
                found.displacement
            );
            findings.wrong(Code::Displacement, file, text);
        }
        check_loop(baked, clip, size, slack, file, findings);
    }
    if !sidecar.clips.is_empty() {
        check_box("the bake", &sidecar.bounds, all, slack, file, findings);
    }
}

fn check_box(what: &str, said: &Bounds, found: Motion, slack: f64, file: &str, findings: &mut Findings) {
    let (min, max) = (corner(said.min), corner(said.max));
    let out = (min - found.min).max(found.max - max).max_element();
    let wide = (found.min - min).max(max - found.max).max_element();
    if out.is_nan() || out > slack {
        let text = format!("the box of {what} is too small: a position lies {out:.6} outside, and culling will cut it off; bake again");
        findings.wrong(Code::Bounds, file, text);
    }
    if wide > slack {
        findings.warn(Code::Bounds, file, format!("the box of {what} is up to {wide:.6} larger than what is in it"));
    }
}

fn check_loop(baked: &Baked, clip: &Clip, size: f64, slack: f64, file: &str, findings: &mut Findings) {
    if clip.frame_count < 2 || clip.looping == Loop::Once {
        return;
    }
    let vertices = baked.sidecar.vertex_count as usize;
    let (first, last) = (clip.first_frame as usize, (clip.first_frame + clip.frame_count - 1) as usize);
    let largest = |a: usize, b: usize| (0..vertices).map(|v| baked.position(v, a).distance(baked.position(v, b))).fold(0.0, f64::max);
    let gap = largest(first, last);
    let allowed = match clip.looping {
        // the first pose once more: the same texels
        Loop::Cycle => 0.0,
        _ => (CLOSED * size).max(0.5 * largest(first, first + 1).min(largest(last - 1, last))) + 2.0 * slack,
    };
    // Two devices may round the same pose differently by one step; one bake runs on one.
    if gap > allowed {
        let text = format!(
            "clip {} is said to loop ({}), and its last pose is {gap:.6} from its first, where {allowed:.6} is allowed; bake again",
            label(clip),
            if clip.looping == Loop::Cycle { "cycle" } else { "closed" }
        );
        findings.wrong(Code::LoopOpen, file, text);
    }
}
