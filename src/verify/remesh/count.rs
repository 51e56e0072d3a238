//! Who is named, who is missing, who became one with whom, who stands elsewhere.

use std::collections::HashMap;

use glam::DVec3;

use super::align::Alignment;
use super::{NEAR, Vertex};
use crate::baked::Baked;
use crate::verify::clips::{rest_size, slack};
use crate::verify::compare::unit_name;
use crate::verify::verdict::{Code, Findings, Level, MeshVerdict};

/// Who is named, who is missing, who became one with whom, who stands elsewhere.
#[allow(clippy::too_many_arguments)]
pub(super) fn count(
    file: &str,
    baked: &Baked,
    rest: &[DVec3],
    vertices: &[Vertex],
    numbers: &[Option<u32>],
    alignment: &Alignment,
    in_world: bool,
    verdict: &mut MeshVerdict,
    findings: &mut Findings,
) {
    let limit = NEAR * rest_size(baked).max(f64::MIN_POSITIVE);
    let mut is_named = vec![false; rest.len()];
    let (mut unnamed, mut moved) = (0, Vec::new());
    for (vertex, number) in vertices.iter().zip(numbers) {
        let Some((n, rest)) = number.and_then(|n| Some((n, rest.get(n as usize)?))) else {
            unnamed += 1;
            continue;
        };
        let place = if in_world { vertex.world } else { vertex.local };
        let distance = alignment.apply(*rest).distance(place) / alignment.factor;
        verdict.largest_distance = verdict.largest_distance.max(distance);
        is_named[n as usize] = true;
        if distance.is_nan() || distance > limit {
            moved.push(n);
        }
    }
    let is_used = used_vertices(baked, rest.len());
    let missing: Vec<usize> = (0..rest.len()).filter(|&n| !is_named[n] && is_used[n]).collect();
    verdict.named = is_named.iter().filter(|&&named| named).count();
    verdict.missing = missing.len();
    verdict.moved = moved.len();
    let total = rest.len();
    if unnamed > 0 {
        let text =
            format!("{unnamed} of {} vertices of {file} name no vertex of the bake; export all of them with the lookup", vertices.len());
        findings.wrong(Code::MeshVerticesMissing, file, text);
    }
    if let Some(first) = moved.first() {
        let text = format!(
            "{} vertices of {file} stand elsewhere than in the bake's rest pose, by up to {:.6} m (first: the one that names vertex {first}): the mesh was \
             edited, or names were mixed up; export it as it was imported",
            moved.len(),
            verdict.largest_distance
        );
        findings.wrong(Code::MeshVerticesMoved, file, text);
    }
    let (merged, lost) = sort_missing(&missing, rest, &is_named);
    verdict.merged = merged.len();
    say_merged(file, baked, &merged, findings);
    if let Some(first) = lost.first() {
        let text = format!(
            "{} of {total} vertices of the bake are not in {file} (first: vertex {first}); right for a level of detail or a part, else export the whole mesh",
            lost.len()
        );
        findings.warn(Code::MeshVerticesMissing, file, text);
    }
}

/// Vertices that some triangle of the bake uses: exporters drop the others.
fn used_vertices(baked: &Baked, count: usize) -> Vec<bool> {
    let mut used = vec![false; count];
    for number in baked.mesh.numbered_triangles().into_iter().flatten() {
        if let Some(place) = used.get_mut(number) {
            *place = true;
        }
    }
    used
}

/// Missing vertices that share a place with one that is there, with it; and the others.
fn sort_missing(missing: &[usize], rest: &[DVec3], is_named: &[bool]) -> (Vec<(usize, usize)>, Vec<usize>) {
    let key = |p: DVec3| p.to_array().map(|c| ((c as f32) + 0.0).to_bits());
    let mut there: HashMap<[u32; 3], usize> = HashMap::new();
    for (n, &place) in rest.iter().enumerate().filter(|(n, _)| is_named[*n]) {
        there.entry(key(place)).or_insert(n);
    }
    let (mut merged, mut lost) = (Vec::new(), Vec::new());
    for &n in missing {
        match there.get(&key(rest[n])) {
            Some(&other) => merged.push((n, other)),
            None => lost.push(n),
        }
    }
    (merged, lost)
}

fn say_merged(file: &str, baked: &Baked, merged: &[(usize, usize)], findings: &mut Findings) {
    if merged.is_empty() {
        return;
    }
    let frames = baked.sidecar.frame_count as usize;
    let limit = 2.0 * slack(baked);
    let mut apart = 0.0_f64;
    let mut turned = 0.0_f64;
    for &(a, b) in merged {
        for frame in 0..frames {
            apart = apart.max(baked.position(a, frame).distance(baked.position(b, frame)));
            if let (Some(a), Some(b)) = (baked.normal(a, frame), baked.normal(b, frame)) {
                turned = turned.max(a.distance(b));
            }
        }
    }
    let degrees = (2.0 * (turned / 2.0).min(1.0).asin()).to_degrees();
    let unit = unit_name(baked);
    let first = merged.first().map_or(0, |m| m.0);
    let start = format!("{} vertices of {file} became one with another at the same place (first: vertex {first})", merged.len());
    let remedy = "export without merging vertices";
    if apart > limit {
        findings.wrong(Code::MeshVerticesMerged, file, format!("{start}, and they move apart by up to {apart:.6} {unit}; {remedy}"));
    } else if degrees > 1.0 {
        let text = format!("{start}; they move alike, but normals differ by up to {degrees:.0} degrees, so edges become soft; {remedy}");
        findings.warn(Code::MeshVerticesMerged, file, text);
    } else {
        findings.add(Code::MeshVerticesMerged, Level::Note, Some(file), format!("{start}; they move alike, so nothing is lost"));
    }
}
