//! Surfaces: geometry with a material, texture coordinates and skin weights.

use super::colours::palette_uv;
use super::mesh::Mesh;
use super::rig::HEAD;
use super::weights::{Influences, whole};
use std::collections::BTreeMap;

/// The surface of one material.
pub struct Surface {
    /// Index into `MATERIALS`.
    pub material: usize,
    /// Its geometry.
    pub mesh: Mesh,
    /// One a vertex.
    pub uvs: Vec<[f64; 2]>,
    /// One a vertex; empty for a rigid part.
    pub influences: Vec<Influences>,
    /// The vertices with the morph target at full weight, where there is one.
    pub morphed: Option<Mesh>,
}

/// A surface shaded from `dark` to `light` metres of height.
pub fn surface(material: usize, mesh: Mesh, influences: Vec<Influences>, dark: f64, light: f64) -> Surface {
    let uvs = mesh.positions.iter().map(|p| palette_uv(material, (p.y - dark) / (light - dark))).collect();
    Surface { material, mesh, uvs, influences, morphed: None }
}

/// The same, carried by the head.
pub fn head_surface(material: usize, mesh: Mesh, dark: f64, light: f64) -> Surface {
    let influences = vec![whole(HEAD); mesh.positions.len()];
    surface(material, mesh, influences, dark, light)
}

/// Adds `other` to the surface of its material, or as a new one.
pub fn merge(surfaces: &mut Vec<Surface>, other: Surface) {
    match surfaces.iter_mut().find(|surface| surface.material == other.material) {
        Some(into) => {
            into.mesh.append(&other.mesh);
            into.uvs.extend(other.uvs);
            into.influences.extend(other.influences);
        }
        None => surfaces.push(other),
    }
}

/// The triangles tagged `tag`, which is their material, with the vertices that they use; `place` is where a vertex is on the ramp.
pub fn pick(mesh: &Mesh, tags: &[usize], tag: usize, influences: &[Influences], place: &dyn Fn(usize) -> f64) -> Surface {
    let (mut part, mut used, mut index) = (Mesh::default(), Vec::new(), BTreeMap::new());
    for t in mesh.triangles.iter().zip(tags).filter(|(_, t)| **t == tag).map(|(t, _)| *t) {
        let corners = t.map(|i| {
            *index.entry(i).or_insert_with(|| {
                part.positions.push(mesh.positions[i]);
                part.normals.push(mesh.normals[i]);
                used.push(i);
                used.len() - 1
            })
        });
        part.triangles.push(corners);
    }
    let uvs = used.iter().map(|&i| palette_uv(tag, place(i))).collect();
    let influences = used.iter().map(|&i| influences[i]).collect();
    Surface { material: tag, mesh: part, uvs, influences, morphed: None }
}
