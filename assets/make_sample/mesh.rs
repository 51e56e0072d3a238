//! Triangle meshes, and how a field becomes one: surface nets, then a few rounds of evening out.

use super::field::{gradient, project};
use glam::DVec3;
use std::collections::BTreeMap;

/// Triangles, counter-clockwise seen from outside, with smooth vertex normals.
#[derive(Clone, Default)]
pub struct Mesh {
    /// Vertex positions.
    pub positions: Vec<DVec3>,
    /// Unit normals, one a vertex.
    pub normals: Vec<DVec3>,
    /// Three vertices each.
    pub triangles: Vec<[usize; 3]>,
}

impl Mesh {
    /// Adds `other`, sharing nothing: the seam between the two is a hard edge.
    pub fn append(&mut self, other: &Mesh) {
        let first = self.positions.len();
        self.positions.extend(&other.positions);
        self.normals.extend(&other.normals);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + first)));
    }

    /// Moves every vertex by `f` and computes the normals again.
    pub fn map(mut self, f: impl Fn(DVec3) -> DVec3) -> Mesh {
        self.positions.iter_mut().for_each(|p| *p = f(*p));
        self.normals = smooth_normals(&self.positions, &self.triangles);
        self
    }
}

/// Vertex normals: the triangles' normals, weighted by area.
pub fn smooth_normals(positions: &[DVec3], triangles: &[[usize; 3]]) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; positions.len()];
    for &[a, b, c] in triangles {
        let n = (positions[b] - positions[a]).cross(positions[c] - positions[a]);
        [a, b, c].into_iter().for_each(|i| normals[i] += n);
    }
    normals.into_iter().map(|n| n.normalize_or(DVec3::Y)).collect()
}

/// Unit normals of the field's surface at `positions`.
pub fn field_normals(field: &dyn Fn(DVec3) -> f64, positions: &[DVec3]) -> Vec<DVec3> {
    positions.iter().map(|&p| gradient(field, p).normalize_or(DVec3::Y)).collect()
}

/// The surface of `field` inside the box `min..max`, in cells of `step` metres.
pub fn polygonise(field: &dyn Fn(DVec3) -> f64, min: DVec3, max: DVec3, step: f64) -> Mesh {
    let size: [usize; 3] = ((max - min) / step).ceil().to_array().map(|n| n as usize + 1);
    let corner = |c: [usize; 3]| min + DVec3::new(c[0] as f64, c[1] as f64, c[2] as f64) * step;
    let at = |c: [usize; 3]| (c[2] * size[1] + c[1]) * size[0] + c[0];
    let cells = |margin: usize| {
        (0..size[2] - margin).flat_map(move |z| (0..size[1] - margin).flat_map(move |y| (0..size[0] - margin).map(move |x| [x, y, z])))
    };
    let values: Vec<f64> = cells(0).map(|c| field(corner(c))).collect();

    // One vertex in each cell that the surface crosses: the mean of the crossings of the cell's edges.
    let mut mesh = Mesh::default();
    let mut vertex_of = BTreeMap::new();
    for cell in cells(1) {
        let (mut sum, mut count) = (DVec3::ZERO, 0.0);
        for low in 0..8usize {
            for axis in (0..3).filter(|axis| low >> axis & 1 == 0) {
                let end = |bits: usize| [0, 1, 2].map(|a| cell[a] + (bits >> a & 1));
                let (a, b) = (end(low), end(low | 1 << axis));
                let (va, vb) = (values[at(a)], values[at(b)]);
                if (va < 0.0) != (vb < 0.0) {
                    sum += corner(a).lerp(corner(b), va / (va - vb));
                    count += 1.0;
                }
            }
        }
        if count > 0.0 {
            vertex_of.insert(cell, mesh.positions.len());
            mesh.positions.push(sum / count);
        }
    }
    // A quad about each grid edge that the surface crosses.
    let mut quads = Vec::new();
    for c in cells(1) {
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut next = c;
            next[axis] += 1;
            let inside = values[at(c)] < 0.0;
            if c[u] == 0 || c[v] == 0 || inside == (values[at(next)] < 0.0) {
                continue;
            }
            let around = [(1, 1), (0, 1), (0, 0), (1, 0)].map(|(du, dv)| {
                let mut cell = c;
                cell[u] -= du;
                cell[v] -= dv;
                vertex_of[&cell]
            });
            quads.push(if inside { around } else { [around[3], around[2], around[1], around[0]] });
        }
    }
    even_out(field, &mut mesh.positions, &quads);
    mesh.triangles = quads.iter().flat_map(|&q| split_quad(&mesh.positions, q)).collect();
    mesh.normals = field_normals(field, &mesh.positions);
    mesh
}

/// Pulls vertices towards the middle of their neighbours and back to the surface, so that the triangles become even.
fn even_out(field: &dyn Fn(DVec3) -> f64, positions: &mut [DVec3], quads: &[[usize; 4]]) {
    for _ in 0..4 {
        let mut sums = vec![(DVec3::ZERO, 0.0); positions.len()];
        for q in quads {
            for k in 0..4 {
                let (a, b) = (q[k], q[(k + 1) % 4]);
                sums[a] = (sums[a].0 + positions[b], sums[a].1 + 1.0);
                sums[b] = (sums[b].0 + positions[a], sums[b].1 + 1.0);
            }
        }
        for (p, (sum, count)) in positions.iter_mut().zip(sums) {
            *p = project(field, p.lerp(sum / count, 0.5));
        }
    }
}

/// Two triangles, split along the shorter diagonal.
fn split_quad(positions: &[DVec3], [a, b, c, d]: [usize; 4]) -> [[usize; 3]; 2] {
    if positions[a].distance_squared(positions[c]) <= positions[b].distance_squared(positions[d]) {
        [[a, b, c], [a, c, d]]
    } else {
        [[a, b, d], [b, c, d]]
    }
}
