//! The rest pose of the output mesh: skinned like any frame, by the twin, whatever device bakes (format: "The mesh").

use glam::Vec3;
use rayon::prelude::*;

use super::twin::{Matrix, Twin, determinant};
use crate::plan::mesh::{BakeMesh, PaletteEntry};
use crate::pose::{FrameRef, MATRIX_ROWS, PoseSource};
use crate::scene::{Property, Scene};
use crate::warning::{Code, Warnings};

/// What the static mesh shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RestPose {
    /// Metres.
    pub positions: Vec<[f32; 3]>,
    /// Unit vectors.
    pub normals: Vec<[f32; 3]>,
    /// Unit vectors and handedness; zeros where a group has none.
    pub tangents: Vec<[f32; 4]>,
}

impl RestPose {
    /// Deforms every vertex by the first frame of `frames`.
    pub fn new(mesh: &BakeMesh, frames: FrameRef<'_>) -> Self {
        let twin = Twin::new(mesh, frames).with_tangents(true);
        let deformed: Vec<_> = (0..mesh.vertices.len()).into_par_iter().map(|v| twin.deform(v, 0)).collect();
        let tangent = |(v, hand): (usize, &f32)| {
            // a mirrored surface has its bitangent on the other side
            let is_mirrored = determinant(&twin.blend_matrix(&mesh.vertices[v], 0)) < 0.0;
            deformed[v].tangent.extend(if is_mirrored { -hand } else { *hand }).to_array()
        };
        Self {
            positions: deformed.iter().map(|d| d.position.to_array()).collect(),
            normals: deformed.iter().map(|d| d.normal.to_array()).collect(),
            tangents: mesh.hands.iter().enumerate().map(tangent).collect(),
        }
    }

    /// Diagonal of the box of the positions, metres.
    pub fn size(&self) -> f64 {
        let (least, largest) = self.bounds();
        (largest - least).as_dvec3().length()
    }

    /// Box of the positions, metres.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        self.positions.iter().fold(start, |(least, largest), &p| (least.min(p.into()), largest.max(p.into())))
    }
}

/// Turns the triangles of rigid parts whose node mirrors them in `frames`' first frame (glTF 2.0, 3.7.4), and says which skinned
/// parts are mirrored by their joints, where the specification is silent.
pub fn turn_mirrored_parts(scene: &Scene, mesh: &mut BakeMesh, frames: FrameRef<'_>, warnings: &mut Warnings) {
    let twin = Twin::new(mesh, frames);
    let mirrored: Vec<bool> = mesh
        .parts
        .iter()
        .map(|part| {
            let vertices = &mesh.vertices[part.first_vertex..][..part.vertex_count];
            let negative = vertices.iter().filter(|v| determinant(&twin.blend_matrix(v, 0)) < 0.0).count();
            negative * 2 > vertices.len()
        })
        .collect();
    let (mut skinned, mut first) = (0, None);
    for (part, _) in mesh.parts.clone().into_iter().zip(mirrored).filter(|(_, mirrored)| *mirrored) {
        let source = &scene.parts[part.part];
        if source.skin.is_some() {
            skinned += 1;
            first.get_or_insert(source.node);
            continue;
        }
        for triangle in mesh.indices[part.first_index..][..part.index_count].chunks_exact_mut(3) {
            triangle.swap(1, 2);
        }
        let faces = mesh.vertices[part.first_vertex..][..part.vertex_count].iter().filter(|v| v.face_count > 0);
        let faces = faces.map(|v| v.first_face as usize..(v.first_face + v.face_count) as usize);
        let range = faces.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0);
        for face in &mut mesh.faces[range] {
            face.swap(1, 2);
        }
    }
    warnings.add(Code::MirroredSkin, skinned, || {
        let node = first.map_or_else(String::new, |n| node_label(scene, n));
        format!("{{count}} skinned part(s) are mirrored by their joints (first: {node}); their triangles were left as they are and may show their backs: \
                 draw them two-sided or mirror the model in its authoring tool")
    });
}

/// Rigid parts that are mirrored in some frames and not in others.
pub fn count_animated_mirroring(scene: &Scene, mesh: &BakeMesh, poses: &PoseSource<'_>, frame_count: usize) -> u64 {
    // only a scale that passes through zero can do it
    let changes_side = |c: &crate::scene::Channel| c.property == Property::Scale && c.values.iter().any(|&v| v < 0.0);
    if !scene.clips.iter().flat_map(|clip| &clip.channels).any(changes_side) {
        return 0;
    }
    let rigid: Vec<usize> = (0..mesh.palette.len()).filter(|&e| matches!(mesh.palette[e], PaletteEntry::Node(_))).collect();
    let mut sides = vec![(false, false); rigid.len()];
    for frame in 0..frame_count {
        poses.with_frames(frame..frame + 1, |frames| {
            for (&entry, (negative, positive)) in rigid.iter().zip(&mut sides) {
                let rows = &frames.palettes[entry * MATRIX_ROWS..][..MATRIX_ROWS];
                let determinant = determinant(&Matrix { x: rows[0], y: rows[1], z: rows[2] });
                *negative |= determinant < 0.0;
                *positive |= determinant > 0.0;
            }
        });
    }
    sides.iter().filter(|(negative, positive)| *negative && *positive).count() as u64
}

/// A node as messages name it.
pub fn node_label(scene: &Scene, node: usize) -> String {
    let node = &scene.nodes[node];
    node.name.as_ref().map_or_else(|| format!("node {}", node.source), |name| format!("node {} '{name}'", node.source))
}
