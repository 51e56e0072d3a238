//! Which clips are loops (format: "Time"): judged by the gap between last and first pose beside the steps next to it. The same
//! poses tell which clips carry the model away.

use super::frames::{ClipPlan, Loop};
use super::mesh::BakeMesh;
use super::select::select;
use crate::Result;
use crate::options::{Looping, Options, RootMotion};
use crate::pose::{Poser, sample_times};
use crate::skin::twin::Twin;
use crate::warning::{Code, Warnings};

/// At most this many vertices are compared.
const MOST_VERTICES: usize = 4096;
/// A gap of this share of the model's size is no gap.
const CLOSED: f64 = 1e-4;

/// Decides the loop of every clip and appends the first pose to those that lack their closing one. `size` is the diagonal of the
/// rest pose in metres.
///
/// # Errors
/// [`crate::Error::Usage`] where `--loop` names no clip.
pub fn judge_loops(
    plans: &mut [ClipPlan],
    mesh: &BakeMesh,
    poser: &Poser<'_>,
    size: f64,
    options: &Options,
    warnings: &mut Warnings,
) -> Result<()> {
    let names: Vec<String> = plans.iter().map(|p| p.name.clone()).collect();
    let asked: Option<Vec<usize>> = match &options.looping {
        Looping::Detect => None,
        Looping::All => Some((0..plans.len()).collect()),
        Looping::None => Some(Vec::new()),
        Looping::Named(patterns) => Some(select(patterns, &names, "clip")?),
    };
    for (index, plan) in plans.iter_mut().enumerate() {
        let asked = asked.as_ref().map(|list| list.contains(&index));
        let (found, drift) = judge_clip(plan, mesh, poser, size);
        warnings.add(Code::RootDrift, u64::from(drift > size), || {
            let remedy = match options.root_motion {
                RootMotion::Keep => "--root-motion strip bakes them in place and writes the way in the sidecar",
                RootMotion::Strip => {
                    "the root whose way --root-motion strip takes out does not carry it; name the node that does with --root"
                }
            };
            let name = &plan.name;
            format!("{{count}} clip(s) carry the model further than its own size (first: '{name}', {drift:.2} m over the ground): {remedy}")
        });
        match (asked, found) {
            (Some(false), _) => plan.looping = Loop::Once,
            (_, Loop::Closed) => plan.looping = Loop::Closed,
            (Some(true), _) => plan.append_first_pose(),
            (None, Loop::Cycle) if !options.exact_fps => {
                plan.append_first_pose();
                warnings.add(Code::CycleClosed, 1, || {
                    format!("{{count}} clip(s) lacked the closing pose of their cycle, which was appended (first: '{}'); --loop none keeps them as they are", plan.name)
                });
            }
            (None, _) => plan.looping = Loop::Once,
        }
    }
    Ok(())
}

/// How the clip ends, and how far over the ground it leaves half of the vertices from where they began, metres.
fn judge_clip(plan: &ClipPlan, mesh: &BakeMesh, poser: &Poser<'_>, size: f64) -> (Loop, f64) {
    let last = plan.frame_count - 1;
    let frames = [0, 1.min(last), last.saturating_sub(1), last];
    let poses = sample_times(poser, &frames.map(|k| (plan.clip, plan.time(k))));
    let twin = Twin::new(mesh, poses.as_ref());
    let vertices = mesh.vertices.len();
    let compared = vertices.min(MOST_VERTICES);
    // largest distances: last to first pose, first step, last step
    let mut distances = [0.0_f64; 3];
    let mut drifts = Vec::with_capacity(compared);
    for n in 0..compared {
        let vertex = n * vertices / compared;
        let at = |frame: usize| twin.deform_position(vertex, frame).as_dvec3();
        let [first, second, before, end] = [at(0), at(1), at(2), at(3)];
        drifts.push((end - first).with_y(0.0).length());
        for (largest, distance) in distances.iter_mut().zip([end.distance(first), first.distance(second), before.distance(end)]) {
            *largest = largest.max(distance);
        }
    }
    let [gap, opening, closing] = distances;
    let middle = drifts.len() / 2;
    let drift = if drifts.is_empty() { 0.0 } else { *drifts.select_nth_unstable_by(middle, f64::total_cmp).1 };
    let mean = (opening + closing) / 2.0;
    let looping = if gap <= CLOSED * size || gap <= 0.5 * opening.min(closing) {
        Loop::Closed
    } else if plan.frame_count >= 4 && (0.5 * mean..=1.5 * mean).contains(&gap) {
        Loop::Cycle
    } else {
        Loop::Once
    };
    (looping, drift)
}
