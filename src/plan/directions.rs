//! Normals and tangents that the file does not have: which triangles make a smooth normal, and tangents by MikkTSpace.

use std::collections::HashMap;

use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::Vec3;

use super::mesh::{BakeMesh, PartRange};
use crate::scene::Scene;
use crate::warning::{Code, Warnings};

/// Gives every vertex the triangles of its node that meet at its undeformed position, whatever their material, so that the kernel
/// computes its normal from them in every frame, weighted by area. The undeformed normal is what a frame without one falls back to.
pub fn add_smooth_faces(scene: &Scene, mesh: &mut BakeMesh) {
    mesh.faces.clear();
    let mut by_node: Vec<(usize, Vec<PartRange>)> = Vec::new();
    for &part in &mesh.parts {
        let node = scene.parts[part.part].node;
        match by_node.iter_mut().find(|(n, _)| *n == node) {
            Some((_, parts)) => parts.push(part),
            None => by_node.push((node, vec![part])),
        }
    }
    for (_, parts) in by_node {
        let mut meeting: HashMap<[u32; 3], Vec<[u32; 3]>> = HashMap::new();
        for part in &parts {
            for triangle in mesh.indices[part.first_index..][..part.index_count].as_chunks::<3>().0 {
                for &corner in triangle {
                    meeting.entry(place(mesh, corner as usize)).or_default().push(*triangle);
                }
            }
        }
        for part in &parts {
            // vertices of one place share one list
            let mut lists: HashMap<[u32; 3], (u32, u32, Vec3)> = HashMap::new();
            for vertex in part.first_vertex..part.first_vertex + part.vertex_count {
                let place = place(mesh, vertex);
                let (first, count, sum) = *lists.entry(place).or_insert_with(|| {
                    let faces = meeting.get(&place).map_or(&[][..], Vec::as_slice);
                    let corner = |v: u32| Vec3::from(mesh.vertices[v as usize].position);
                    let sum = faces.iter().map(|&[a, b, c]| (corner(b) - corner(a)).cross(corner(c) - corner(a))).sum();
                    let first = mesh.faces.len() as u32;
                    mesh.faces.extend_from_slice(faces);
                    (first, faces.len() as u32, sum)
                });
                let vertex = &mut mesh.vertices[vertex];
                vertex.normal = sum.normalize_or(Vec3::from(vertex.normal)).to_array();
                (vertex.first_face, vertex.face_count) = (first, count);
            }
        }
    }
}

/// A position as a key; both zeros are one place.
fn place(mesh: &BakeMesh, vertex: usize) -> [u32; 3] {
    mesh.vertices[vertex].position.map(|c| (c + 0.0).to_bits())
}

/// Computes the undeformed tangents of every part that has none, from its normals and the texture coordinates of its normal map
/// (glTF 2.0, 3.7.2.1: MikkTSpace). A vertex that several triangles share keeps the last one's.
pub fn compute_tangents(scene: &Scene, mesh: &mut BakeMesh, warnings: &mut Warnings) {
    let mut guessed = 0;
    for part in mesh.parts.clone() {
        let primitive = &scene.primitives[scene.parts[part.part].primitive];
        if primitive.tangents.is_some() {
            continue;
        }
        let group = &mesh.groups[part.group];
        let semantic = format!("TEXCOORD_{}", primitive.normal_map_uv);
        let texcoords = group.attributes.iter().find(|a| a.semantic == semantic).map(|a| {
            let floats: Vec<[f32; 2]> = bytemuck::pod_collect_to_vec(&a.bytes);
            floats[part.first_vertex - group.first_vertex..][..part.vertex_count].to_vec()
        });
        let mut tangents: Vec<Option<[f32; 4]>> = vec![None; part.vertex_count];
        let surface = texcoords.map(|texcoords| Surface { mesh, part, texcoords, tangents: &mut tangents });
        let is_computed = surface.is_some_and(|mut surface| generate_tangents(&mut surface).is_ok());
        guessed += u64::from(!is_computed);
        for (vertex, tangent) in (part.first_vertex..).zip(tangents) {
            let normal = Vec3::from(mesh.vertices[vertex].normal);
            let [x, y, z, hand] = tangent.unwrap_or_else(|| normal.normalize_or(Vec3::Z).any_orthonormal_vector().extend(1.0).to_array());
            mesh.vertices[vertex].tangent = [x, y, z];
            mesh.hands[vertex] = hand;
        }
    }
    warnings.add(Code::TangentGuessed, guessed, || {
        "{count} part(s) have no texture coordinates to compute tangents from; any direction across the normal stands in".into()
    });
}

/// One part as MikkTSpace sees it.
struct Surface<'a> {
    mesh: &'a BakeMesh,
    part: PartRange,
    texcoords: Vec<[f32; 2]>,
    tangents: &'a mut Vec<Option<[f32; 4]>>,
}

impl Surface<'_> {
    fn vertex(&self, face: usize, corner: usize) -> usize {
        self.mesh.indices[self.part.first_index + 3 * face + corner] as usize
    }
}

impl Geometry for Surface<'_> {
    fn num_faces(&self) -> usize {
        self.part.index_count / 3
    }

    fn num_vertices_of_face(&self, _: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.mesh.vertices[self.vertex(face, corner)].position
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.mesh.vertices[self.vertex(face, corner)].normal
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        self.texcoords[self.vertex(face, corner) - self.part.first_vertex]
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        let vertex = self.vertex(face, corner) - self.part.first_vertex;
        if let Some(space) = space {
            // MikkTSpace takes v to run upwards, glTF's runs down
            let [x, y, z, hand] = space.tangent_encoded();
            self.tangents[vertex] = Some([x, y, z, -hand]);
        }
    }
}
