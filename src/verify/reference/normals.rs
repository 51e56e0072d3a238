//! Normals of the reference: the file's own, flat or smooth, whichever the bake has.

use std::collections::HashMap;

use glam::{DMat3, DQuat, DVec3};

use super::{Pose, Reference, Run, blend};
use crate::baked::Baked;

/// Squared length, as a share of what it is made of, below which a direction is rounding noise in f32 too.
const NO_DIRECTION: f64 = 1e-9;

impl Reference {
    /// Per part, the way to make normals that comes closest to the rest pose's and to those of some frames: the file's, flat, or smooth
    /// over the node. A bake does not say which it was, and on a cube at rest all look alike.
    pub(super) fn choose_normals(&mut self, baked: &Baked, rest_pose: &Pose, by_number: &[Option<usize>], triangles: &[[usize; 3]]) {
        const FRAMES: usize = 8;
        let count = baked.sidecar.vertex_count as usize;
        self.faces = vec![Vec::new(); count];
        let mut flat: Vec<Vec<[usize; 3]>> = vec![Vec::new(); count];
        for &triangle in triangles {
            for corner in triangle {
                if let Some(faces) = flat.get_mut(corner) {
                    faces.push(triangle);
                }
            }
        }
        let smooth = self.smooth_faces(&flat, count);
        // The mesh's normals are in glTF's axes.
        let axes = baked.sidecar.space.axes().as_dmat3();
        let at_rest = |vertex: usize| {
            let normal = baked.mesh.normals.as_ref()?.get(by_number.get(vertex).copied().flatten()?)?;
            Some(axes * DVec3::from(normal.map(f64::from)))
        };
        let mut costs = vec![[0.0; 3]; self.parts.len()];
        self.add_costs(rest_pose, &flat, &smooth, &at_rest, &mut costs);
        let frames = baked.sidecar.frame_count as usize;
        for frame in (0..frames).step_by(frames.div_ceil(FRAMES).max(1)) {
            if let Some(pose) = self.frame(&baked.sidecar, frame) {
                self.add_costs(&pose, &flat, &smooth, &|vertex| baked.normal(vertex, frame), &mut costs);
            }
        }
        for (run, [own, by_flat, by_smooth]) in self.parts.iter_mut().zip(costs) {
            run.has_own_normals &= own <= by_flat.min(by_smooth) + 1e-6;
            if !run.has_own_normals {
                let faces = if by_flat <= by_smooth { &flat } else { &smooth };
                let range = run.first_vertex..run.first_vertex + run.sources.len();
                range.for_each(|vertex| self.faces[vertex] = faces[vertex].clone());
            }
        }
    }

    /// Adds each part's mean distance from the shown normals in a pose: by the file's own, by flat ones, by smooth ones.
    fn add_costs(
        &self,
        pose: &Pose,
        flat: &[Vec<[usize; 3]>],
        smooth: &[Vec<[usize; 3]>],
        shown: &dyn Fn(usize) -> Option<DVec3>,
        costs: &mut [[f64; 3]],
    ) {
        let positions = self.positions(pose);
        let mean = |normals: &mut dyn Iterator<Item = (usize, Option<DVec3>)>| {
            let (mut sum, mut seen) = (0.0, 0_u32);
            for (vertex, normal) in normals {
                if let (Some(a), Some(b)) = (normal, shown(vertex).and_then(|n| n.try_normalize())) {
                    sum += a.distance(b);
                    seen += 1;
                }
            }
            if seen == 0 { 0.0 } else { sum / f64::from(seen) }
        };
        for (run, cost) in self.parts.iter().zip(costs) {
            let range = run.first_vertex..run.first_vertex + run.sources.len();
            let computed = |faces: &[Vec<[usize; 3]>]| mean(&mut range.clone().map(|v| (v, self.face_normal(&faces[v], &positions))));
            let primitive = &self.scene.primitives[run.part.primitive];
            cost[0] += if run.has_own_normals { mean(&mut range.clone().zip(self.own_normals(run, pose))) } else { f64::INFINITY };
            // Flat normals share no vertex.
            let is_unshared = run.sources.len() == primitive.triangles.len() * 3;
            cost[1] += if is_unshared { computed(flat) } else { f64::INFINITY };
            cost[2] += computed(smooth);
        }
    }

    /// Triangles of the same node that meet at a vertex's undeformed position.
    fn smooth_faces(&self, flat: &[Vec<[usize; 3]>], count: usize) -> Vec<Vec<[usize; 3]>> {
        let mut meeting: HashMap<(usize, [u32; 3]), Vec<[usize; 3]>> = HashMap::new();
        let mut places = vec![None; count];
        for run in &self.parts {
            let positions = &self.scene.primitives[run.part.primitive].positions;
            for (i, &source) in run.sources.iter().enumerate() {
                let place = positions.get(source as usize).map(|p| (run.part.node, p.map(|c| (c + 0.0).to_bits())));
                if let Some(key) = place {
                    meeting.entry(key).or_default().extend(&flat[run.first_vertex + i]);
                }
                places[run.first_vertex + i] = place;
            }
        }
        places.into_iter().map(|place| place.and_then(|key| meeting.get(&key).cloned()).unwrap_or_default()).collect()
    }

    /// Every normal of the bake, by vertex number; none where it has no direction. `positions` are those of the same pose.
    pub fn normals(&self, pose: &Pose, positions: &[DVec3]) -> Vec<Option<DVec3>> {
        let mut normals = vec![None; positions.len()];
        for run in &self.parts {
            let places = &mut normals[run.first_vertex..run.first_vertex + run.sources.len()];
            if run.has_own_normals {
                places.iter_mut().zip(self.own_normals(run, pose)).for_each(|(place, normal)| *place = normal);
            } else {
                for (i, place) in places.iter_mut().enumerate() {
                    *place = self.faces.get(run.first_vertex + i).and_then(|faces| self.face_normal(faces, positions));
                }
            }
        }
        normals
    }

    /// The file's normals, morphed and turned by the cofactor matrix of the blend.
    fn own_normals(&self, run: &Run, pose: &Pose) -> Vec<Option<DVec3>> {
        let primitive = &self.scene.primitives[run.part.primitive];
        let Some(normals) = &primitive.normals else { return vec![None; run.sources.len()] };
        let joints = self.joint_matrices(run, pose);
        let targets = &pose.weights[run.part.node];
        // Rotations alone are left of the sidecar's space: a reflection keeps outside outside.
        let axes = self.space * (1.0 / self.space.x_axis.length());
        let turn = |&source: &u32| {
            let v = source as usize;
            let mut n = DVec3::from(normals[v].map(f64::from));
            for (target, weight) in primitive.targets.iter().zip(targets) {
                if let Some(deltas) = &target.normals {
                    n += DVec3::from(deltas[v].map(f64::from)) * *weight;
                }
            }
            let m = DMat3::from_mat4(blend(primitive, v, &joints));
            let [x, y, z] = [m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis)];
            let cofactor = DMat3::from_cols(x, y, z);
            let side = if m.determinant() < 0.0 { -1.0 } else { 1.0 };
            let turned = cofactor * n * side;
            let size = (x.length_squared() + y.length_squared() + z.length_squared()) * n.length_squared();
            (turned.length_squared() > NO_DIRECTION * size).then(|| {
                let turned = axes * turned.normalize();
                pose.ground.map_or(turned, |(yaw, _)| DQuat::from_axis_angle(self.up, -yaw) * turned)
            })
        };
        run.sources.iter().map(turn).collect()
    }

    /// Sum of the faces' cross products in a pose: the normal by area.
    fn face_normal(&self, faces: &[[usize; 3]], positions: &[DVec3]) -> Option<DVec3> {
        let (mut sum, mut size) = (DVec3::ZERO, 0.0);
        for face in faces {
            let [a, b, c] = [positions.get(face[0])?, positions.get(face[1])?, positions.get(face[2])?];
            let (b, c) = (*b - *a, *c - *a);
            sum += b.cross(c);
            size += b.length_squared() * c.length_squared();
        }
        // Corners go round the other way in a mirrored space.
        let side = if self.space.determinant() < 0.0 { -1.0 } else { 1.0 };
        (sum.length_squared() > NO_DIRECTION * size).then(|| sum.normalize() * side)
    }
}
