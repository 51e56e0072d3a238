//! Cutting a mesh along a line that is drawn on it, so that colours meet at clean borders, and raising a region into a panel.

use super::mesh::Mesh;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// An edge, its smaller vertex first.
fn edge(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

/// Splits the triangles of `mesh` where `region` changes sign and gives those inside (negative) the tag `tag`.
/// `tags` has one entry a triangle. New vertices are put back on the surface by `project`; normals are left to the caller.
pub fn cut(mesh: &mut Mesh, tags: &mut Vec<usize>, tag: usize, region: &dyn Fn(DVec3) -> f64, project: &dyn Fn(DVec3) -> DVec3) {
    let mut values: Vec<f64> = mesh.positions.iter().map(|&p| region(p)).collect();
    snap(mesh, &mut values, project);

    let mut on_edge = BTreeMap::new();
    let (mut triangles, mut new_tags) = (Vec::new(), Vec::new());
    for (&t, &old) in mesh.triangles.iter().zip(tags.iter()) {
        // The outline of the triangle with the crossings put in, then the part on either side.
        let mut sides: [Vec<usize>; 2] = Default::default();
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            if values[a] <= 0.0 {
                sides[0].push(a);
            }
            if values[a] >= 0.0 {
                sides[1].push(a);
            }
            if values[a] * values[b] < 0.0 {
                let crossing = *on_edge.entry(edge(a, b)).or_insert_with(|| {
                    let (a, b) = edge(a, b);
                    let p = mesh.positions[a].lerp(mesh.positions[b], values[a] / (values[a] - values[b]));
                    mesh.positions.push(project(p));
                    mesh.positions.len() - 1
                });
                sides.iter_mut().for_each(|side| side.push(crossing));
            }
        }
        let flat = t.iter().all(|&i| values[i] == 0.0);
        if flat {
            let centre = (mesh.positions[t[0]] + mesh.positions[t[1]] + mesh.positions[t[2]]) / 3.0;
            sides[if region(centre) < 0.0 { 1 } else { 0 }].clear();
        }
        for (side, outline) in sides.iter().enumerate().filter(|(_, outline)| outline.len() >= 3) {
            for k in 1..outline.len() - 1 {
                triangles.push([outline[0], outline[k], outline[k + 1]]);
                new_tags.push(if side == 0 { tag } else { old });
            }
        }
    }
    mesh.triangles = triangles;
    *tags = new_tags;
}

/// Moves vertices that are close to the line onto it: the cut leaves no slivers.
fn snap(mesh: &mut Mesh, values: &mut [f64], project: &dyn Fn(DVec3) -> DVec3) {
    let edges: BTreeSet<_> = mesh.triangles.iter().flat_map(|t| [edge(t[0], t[1]), edge(t[1], t[2]), edge(t[2], t[0])]).collect();
    let mut nearest: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for (a, b) in edges {
        if values[a] * values[b] < 0.0 {
            let t = values[a] / (values[a] - values[b]);
            for (from, to, t) in [(a, b, t), (b, a, 1.0 - t)] {
                let best = nearest.entry(from).or_insert((1.0, to));
                if t < best.0 {
                    *best = (t, to);
                }
            }
        }
    }
    let old = mesh.positions.clone();
    for (from, (t, to)) in nearest {
        if t < 0.3 && values[to] != 0.0 {
            mesh.positions[from] = project(old[from].lerp(old[to], t));
            values[from] = 0.0;
        }
    }
}

/// The triangles tagged `tag`, lifted by `height` along the normals and closed by a wall with hard edges.
/// Returns the panel and, for each of its vertices, the vertex of `mesh` that it came from.
pub fn raise(mesh: &Mesh, tags: &[usize], tag: usize, height: f64) -> (Mesh, Vec<usize>) {
    let inside = || mesh.triangles.iter().zip(tags).filter(|(_, t)| **t == tag).map(|(t, _)| *t);
    let edges: BTreeSet<_> = inside().flat_map(|[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
    let border: Vec<_> = edges.iter().copied().filter(|&(a, b)| !edges.contains(&(b, a))).collect();
    let mut outward: BTreeMap<usize, DVec3> = BTreeMap::new();
    for &(a, b) in &border {
        for i in [a, b] {
            *outward.entry(i).or_default() += (mesh.positions[b] - mesh.positions[a]).cross(mesh.normals[i]);
        }
    }
    // Vertices by their source and storey: 0 the lid, 1 the wall's top, 2 its foot (a little below the surface).
    let (mut panel, mut origins, mut index) = (Mesh::default(), Vec::new(), BTreeMap::new());
    let mut vertex = |panel: &mut Mesh, source: usize, storey: usize| {
        *index.entry((source, storey)).or_insert_with(|| {
            let normal = mesh.normals[source];
            let lift = [height, height, -0.3 * height][storey];
            panel.positions.push(mesh.positions[source] + normal * lift);
            panel.normals.push(if storey == 0 { normal } else { outward[&source].normalize_or(normal) });
            origins.push(source);
            panel.positions.len() - 1
        })
    };
    for t in inside() {
        let lid = t.map(|i| vertex(&mut panel, i, 0));
        panel.triangles.push(lid);
    }
    for (a, b) in border {
        let [top_a, top_b, foot_a, foot_b] = [(a, 1), (b, 1), (a, 2), (b, 2)].map(|(i, storey)| vertex(&mut panel, i, storey));
        panel.triangles.extend([[top_b, top_a, foot_a], [top_b, foot_a, foot_b]]);
    }
    (panel, origins)
}
