//! Turned parts (a profile rotated about the Y axis) and tubes.

use super::mesh::{Mesh, smooth_normals};
use glam::DVec3;
use std::f64::consts::TAU;

/// Turns `profile`, smooth runs of (radius, height) from bottom to top; between two runs the edge is hard. A radius of 0 is a pole.
/// `shape` moves every point: it gets the point and its angle.
pub fn lathe(profile: &[&[(f64, f64)]], sides: usize, shape: impl Fn(DVec3, f64) -> DVec3) -> Mesh {
    let mut mesh = Mesh::default();
    for run in profile {
        let mut part = Mesh::default();
        let mut previous: Option<Vec<usize>> = None;
        for &(radius, height) in *run {
            let count = if radius == 0.0 { 1 } else { sides };
            let first = part.positions.len();
            part.positions.extend((0..count).map(|k| {
                let angle = TAU * k as f64 / sides as f64;
                shape(DVec3::new(radius * angle.sin(), height, radius * angle.cos()), angle)
            }));
            let ring: Vec<usize> = (0..sides).map(|k| first + k % count).collect();
            if let Some(below) = previous {
                for k in 0..sides {
                    let next = (k + 1) % sides;
                    let (a, b, c, d) = (below[k], below[next], ring[next], ring[k]);
                    if a != b {
                        part.triangles.push([a, b, c]);
                    }
                    if c != d {
                        part.triangles.push([a, c, d]);
                    }
                }
            }
            previous = Some(ring);
        }
        part.normals = smooth_normals(&part.positions, &part.triangles);
        mesh.append(&part);
    }
    mesh
}

/// A ball of `radii` about `centre`.
pub fn ball(centre: DVec3, radii: DVec3, sides: usize, rings: usize) -> Mesh {
    let profile: Vec<(f64, f64)> = (0..=rings)
        .map(|k| {
            let angle = std::f64::consts::PI * k as f64 / rings as f64;
            (if k == 0 || k == rings { 0.0 } else { angle.sin() }, -angle.cos())
        })
        .collect();
    lathe(&[&profile], sides, |p, _| centre + p * radii)
}

/// A tube of `radius` along `points`, its ends closed by points.
pub fn tube(points: &[DVec3], radius: f64, sides: usize) -> Mesh {
    let last = points.len() - 1;
    let mut mesh = Mesh::default();
    for (k, &p) in points.iter().enumerate() {
        let along = (points[(k + 1).min(last)] - points[k.max(1) - 1]).normalize_or(DVec3::X);
        let side = along.cross(DVec3::Z).normalize_or(DVec3::Y);
        let up = side.cross(along);
        mesh.positions.extend((0..sides).map(|s| {
            let angle = TAU * s as f64 / sides as f64;
            p + (side * angle.cos() + up * angle.sin()) * radius
        }));
    }
    for k in 0..last {
        for s in 0..sides {
            let (a, b) = (k * sides + s, k * sides + (s + 1) % sides);
            mesh.triangles.extend([[a, b + sides, b], [a, a + sides, b + sides]]);
        }
    }
    for (ring, tip, flip) in [(0, points[0] * 2.0 - points[1], false), (last, points[last] * 2.0 - points[last - 1], true)] {
        mesh.positions.push(points[ring].lerp(tip, 0.5));
        let pole = mesh.positions.len() - 1;
        for s in 0..sides {
            let (a, b) = (ring * sides + s, ring * sides + (s + 1) % sides);
            mesh.triangles.push(if flip { [b, a, pole] } else { [a, b, pole] });
        }
    }
    mesh.normals = smooth_normals(&mesh.positions, &mesh.triangles);
    mesh
}
