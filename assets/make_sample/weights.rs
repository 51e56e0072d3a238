//! Skin weights: which joints carry a vertex, from the distance to each joint's shapes.

use super::field::Blob;
use super::mesh::Mesh;
use super::rig::{JOINTS, Joint};
use glam::DVec3;

/// Four joints and their weights; the weights add up to 255.
pub type Influences = ([u8; 4], [u8; 4]);

/// How much farther than the nearest a joint may be until its pull is a thirty-second, in metres.
const FADE: f64 = 0.02;

/// The influences of every vertex: a soft nearest joint among those that touch the nearest one, evened out over the mesh.
pub fn skin(mesh: &Mesh, blobs: &[Blob], joints: &[Joint]) -> Vec<Influences> {
    let mut weights: Vec<[f64; JOINTS]> = mesh.positions.iter().map(|&p| pull(p, blobs, joints)).collect();
    for _ in 0..6 {
        let mut sums = vec![([0.0; JOINTS], 0.0); weights.len()];
        for t in &mesh.triangles {
            for (i, j) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                for (into, from) in [(i, j), (j, i)] {
                    sums[into].0.iter_mut().zip(weights[from]).for_each(|(s, w)| *s += w);
                    sums[into].1 += 1.0;
                }
            }
        }
        for (w, (sum, count)) in weights.iter_mut().zip(sums).filter(|(_, s)| s.1 > 0.0) {
            w.iter_mut().zip(sum).for_each(|(w, s)| *w = 0.5 * *w + 0.5 * s / count);
        }
    }
    weights.iter().map(strongest_four).collect()
}

/// Weight shared by two joints: `share` (0 to 1) of it on the second.
pub fn between(first: usize, second: usize, share: f64) -> Influences {
    let mut weights = [0.0; JOINTS];
    (weights[first], weights[second]) = (1.0 - share, share);
    strongest_four(&weights)
}

/// All weight on one joint.
pub fn whole(joint: usize) -> Influences {
    ([joint as u8, 0, 0, 0], [255, 0, 0, 0])
}

fn pull(p: DVec3, blobs: &[Blob], joints: &[Joint]) -> [f64; JOINTS] {
    let mut distances = [f64::INFINITY; JOINTS];
    for blob in blobs {
        let d = &mut distances[blob.joint];
        *d = d.min(blob.form.distance(p));
    }
    let nearest = (0..JOINTS).min_by(|&a, &b| distances[a].total_cmp(&distances[b])).unwrap_or(0);
    let touches = |j: usize| j == nearest || joints[j].parent == Some(nearest) || joints[nearest].parent == Some(j);
    std::array::from_fn(|j| if touches(j) { (FADE / (FADE + distances[j] - distances[nearest])).powi(5) } else { 0.0 })
}

fn strongest_four(weights: &[f64; JOINTS]) -> Influences {
    let mut order: Vec<usize> = (0..JOINTS).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    let total: f64 = order[..4].iter().map(|&j| weights[j]).sum();
    let mut bytes: [u8; 4] = std::array::from_fn(|k| (weights[order[k]] / total * 255.0).round() as u8);
    let rest = 255 - bytes[1..].iter().map(|&w| i32::from(w)).sum::<i32>();
    bytes[0] = rest as u8;
    // An influence without weight names joint 0, as the specification wants it.
    (std::array::from_fn(|k| if bytes[k] > 0 { order[k] as u8 } else { 0 }), bytes)
}
