//! The reference: where every vertex of a bake must be, in f64 from the keys to the last matrix.
//!
//! Written for itself, not as the kernel's twin: nodes are posed by the glTF rules (2.0, 3.5.2, 3.7.3, appendix C), weights are divided by
//! their sum, all joint sets and morph targets count, normals go through the cofactor matrix. Which vertex of the bake is which of the model
//! follows from the sidecar's parts; how normals came about (the file's, flat, smooth) from the rest pose.

mod normals;

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::Request;
use crate::Result;
use crate::baked::{Baked, space_matrix};
use crate::clips::{attach_clips, merge_clips};
use crate::options::{Input, Rest};
use crate::output::sidecar::{Clip, Loop, Sidecar};
use crate::plan::frames::clip_names;
use crate::pose::sampler::sample_channel;
use crate::scene::{Part, Primitive, Property, Scene, Trs};
use crate::source::{self, SceneChoice, Settings};
use crate::warning::Warnings;

/// A model with what is needed to pose it as a bake shows it.
#[derive(Debug)]
pub struct Reference {
    scene: Scene,
    /// From glTF's axes and metres to the sidecar's, the bake's scale included.
    space: DMat3,
    /// The vertical of the sidecar's space.
    up: DVec3,
    /// Per clip of the sidecar: the scene's clip; none where nothing plays, an error where the model lacks it.
    clips: Vec<Result<Option<usize>, String>>,
    /// Where each run of the bake's vertices comes from; filled by [`Self::settle`].
    parts: Vec<Run>,
    /// Triangles of the bake that a vertex's normal is made of, where normals are computed.
    faces: Vec<Vec<[usize; 3]>>,
}

/// A run of the bake's vertices.
#[derive(Debug, Clone)]
struct Run {
    part: Part,
    first_vertex: usize,
    /// Vertex of the primitive that each is.
    sources: Vec<u32>,
    /// Normals are the primitive's own.
    has_own_normals: bool,
}

/// World matrices and morph weights of a frame.
#[derive(Debug, Clone)]
pub struct Pose {
    world: Vec<DMat4>,
    weights: Vec<Vec<f64>>,
    /// How a clip in place was carried: turn about the vertical, then move; undone.
    ground: Option<(f64, DVec3)>,
}

impl Reference {
    /// Reads the model and the files that clips come from.
    ///
    /// # Errors
    /// As those of [`source::read`].
    pub fn read(input: &Input, request: &Request, sidecar: &Sidecar) -> Result<Self> {
        let settings =
            Settings { scene: SceneChoice::Written(sidecar.source.scene), allow_outside: request.allow_outside, motion_only: false };
        let mut warnings = Warnings::default();
        let mut scene = source::read(input, &settings, &mut warnings)?;
        attach_clips(&mut scene, &request.animations, request.allow_outside, &mut warnings)?;
        merge_clips(&mut scene, &request.merges)?;
        let clips = sidecar.clips.iter().map(|clip| find_clip(&scene, clip)).collect();
        let space = space_matrix(sidecar) * f64::from(sidecar.space.scale);
        let up = sidecar.space.axes().as_dmat3() * DVec3::Y;
        Ok(Self { scene, space, up, clips, parts: Vec::new(), faces: Vec::new() })
    }

    /// SHA-256 of the model's file.
    pub fn sha256(&self) -> &str {
        &self.scene.origin.sha256
    }

    /// Clips of the sidecar that the model lacks, each with a reason.
    pub fn missing_clips(&self) -> impl Iterator<Item = (usize, &str)> {
        self.clips.iter().enumerate().filter_map(|(i, clip)| Some((i, clip.as_ref().err()?.as_str())))
    }

    /// Finds out which vertex of the bake is which of the model's, and how its normals came about.
    ///
    /// # Errors
    /// Where a part of the bake cannot be one of the model's, with the numbers.
    pub fn settle(&mut self, baked: &Baked) -> Result<(), String> {
        let sidecar = &baked.sidecar;
        let pose = self.rest_pose(sidecar).ok_or("the model lacks the clip that the rest pose is taken from")?;
        let by_number = baked.mesh.vertices_by_number();
        let triangles = baked.mesh.numbered_triangles();
        self.parts.clear();
        for part in &sidecar.mesh.parts {
            let is_it = |p: &&Part| {
                let primitive = &self.scene.primitives[p.primitive];
                self.scene.nodes[p.node].source == part.node as usize
                    && (primitive.mesh, primitive.primitive) == (part.mesh as usize, part.primitive as usize)
            };
            let name = part.node_name.as_ref().map_or_else(|| format!("node {}", part.node), |n| format!("node {} ('{n}')", part.node));
            let found = self.scene.parts.iter().find(is_it).copied();
            let found = found.ok_or_else(|| format!("{name} of the model shows no primitive {} of mesh {}", part.primitive, part.mesh))?;
            let primitive = &self.scene.primitives[found.primitive];
            let (first_vertex, count) = (part.first_vertex as usize, part.vertex_count as usize);
            if first_vertex + count > baked.sidecar.vertex_count as usize {
                let last = first_vertex + count - 1;
                return Err(format!("{name} has vertices {first_vertex} to {last} in a bake of {}", baked.sidecar.vertex_count));
            }
            let run = |sources: Vec<u32>| Run { part: found, first_vertex, sources, has_own_normals: primitive.normals.is_some() };
            let shared = primitive.positions.len();
            let mut candidates = Vec::new();
            if count == shared {
                candidates.push(run((0..shared as u32).collect()));
            }
            if count == primitive.triangles.len() * 3 {
                candidates.push(run(primitive.triangles.as_flattened().to_vec()));
            }
            let rest_error = |run: &Run| {
                let mut positions = vec![DVec3::ZERO; count];
                self.deform(run, &pose, &mut positions);
                let apart = positions.iter().enumerate().map(|(i, p)| p.distance(baked.rest(first_vertex + i)));
                apart.fold(0.0, f64::max)
            };
            let best = candidates.into_iter().min_by(|a, b| rest_error(a).total_cmp(&rest_error(b)));
            self.parts.push(best.ok_or_else(|| {
                let corners = primitive.triangles.len() * 3;
                format!("{name} has {count} vertices in the bake, in the model {shared}, or {corners} one a corner")
            })?);
        }
        self.choose_normals(baked, &pose, &by_number, &triangles);
        Ok(())
    }

    /// The pose that the static mesh shows; none where the model lacks its clip.
    pub fn rest_pose(&self, sidecar: &Sidecar) -> Option<Pose> {
        match sidecar.rest {
            Rest::Shown => Some(self.pose(None, 0.0)),
            Rest::FirstFrame => self.frame(sidecar, 0),
        }
    }

    /// The pose of a frame of the bake; none where the model lacks its clip or no clip has it.
    pub fn frame(&self, sidecar: &Sidecar, frame: usize) -> Option<Pose> {
        let holds = |c: &Clip| (c.first_frame as usize..(c.first_frame + c.frame_count) as usize).contains(&frame);
        let index = sidecar.clips.iter().position(holds)?;
        let clip = sidecar.clips.get(index)?;
        self.frame_at(clip, index, frame - clip.first_frame as usize, 0.0)
    }

    /// The pose of frame `k` of a clip, `late` seconds after its time.
    pub(super) fn frame_at(&self, clip: &Clip, index: usize, k: usize, late: f64) -> Option<Pose> {
        let number = *self.clips.get(index)?.as_ref().ok()?;
        let is_closing = clip.looping == Loop::Cycle && k > 0 && k + 1 == clip.frame_count as usize;
        // The closing frame of a cycle is the first pose once more.
        let k = if is_closing { 0 } else { k };
        let mut pose = self.pose(number, time(clip, k) + late);
        if let Some(track) = &clip.root_motion {
            let (translation, yaw) = (track.translation.get(k)?, track.yaw.get(k)?);
            pose.ground = Some((f64::from(*yaw), DVec3::from(translation.map(f64::from))));
        }
        Some(pose)
    }

    /// Matrices and weights of a clip at a time; what a viewer shows when nothing plays without a clip.
    fn pose(&self, clip: Option<usize>, time: f64) -> Pose {
        let nodes = &self.scene.nodes;
        let mut weights: Vec<Vec<f64>> = nodes.iter().map(|n| n.weights.clone()).collect();
        let mut moved: Vec<Option<Trs>> = vec![None; nodes.len()];
        for channel in clip.map_or(&[][..], |c| &self.scene.clips[c].channels) {
            let mut v = vec![0.0; channel.width];
            sample_channel(channel, time, &mut v);
            if channel.property == Property::Weights {
                weights[channel.node].iter_mut().zip(&v).for_each(|(weight, &value)| *weight = value);
                continue;
            }
            let local = moved[channel.node].get_or_insert_with(|| nodes[channel.node].local.trs());
            match channel.property {
                Property::Translation => local.translation = DVec3::new(v[0], v[1], v[2]),
                Property::Scale => local.scale = DVec3::new(v[0], v[1], v[2]),
                _ => local.rotation = DQuat::from_xyzw(v[0], v[1], v[2], v[3]).normalize(),
            }
        }
        let mut world: Vec<DMat4> = Vec::with_capacity(nodes.len());
        for (node, moved) in nodes.iter().zip(moved) {
            let local = moved.map_or_else(|| node.local.matrix(), |trs| trs.matrix());
            world.push(node.parent.map_or(local, |parent| world[parent] * local));
        }
        Pose { world, weights, ground: None }
    }

    /// Every position of the bake, by vertex number, in the sidecar's space.
    pub fn positions(&self, pose: &Pose) -> Vec<DVec3> {
        let count = self.parts.iter().map(|r| r.first_vertex + r.sources.len()).max().unwrap_or(0);
        let mut positions = vec![DVec3::ZERO; count];
        for run in &self.parts {
            self.deform(run, pose, &mut positions[run.first_vertex..run.first_vertex + run.sources.len()]);
        }
        positions
    }

    fn deform(&self, run: &Run, pose: &Pose, positions: &mut [DVec3]) {
        let primitive = &self.scene.primitives[run.part.primitive];
        let joints = self.joint_matrices(run, pose);
        let targets = &pose.weights[run.part.node];
        for (position, &source) in positions.iter_mut().zip(&run.sources) {
            let v = source as usize;
            let mut p = DVec3::from(primitive.positions[v].map(f64::from));
            for (target, weight) in primitive.targets.iter().zip(targets) {
                if let Some(deltas) = &target.positions {
                    p += DVec3::from(deltas[v].map(f64::from)) * *weight;
                }
            }
            let placed = self.space * blend(primitive, v, &joints).transform_point3(p);
            *position = match pose.ground {
                Some((yaw, shift)) => DQuat::from_axis_angle(self.up, -yaw) * (placed - shift),
                None => placed,
            };
        }
    }

    /// World matrix of each joint times its inverse bind matrix; the node's alone for a rigid part.
    fn joint_matrices(&self, run: &Run, pose: &Pose) -> Vec<DMat4> {
        match run.part.skin {
            Some(skin) => {
                let skin = &self.scene.skins[skin];
                skin.joints.iter().zip(&skin.inverse_bind).map(|(&joint, bind)| pose.world[joint] * *bind).collect()
            }
            None => vec![pose.world[run.part.node]],
        }
    }
}

/// Weighted sum of a vertex's joint matrices, weights divided by their sum.
fn blend(primitive: &Primitive, vertex: usize, joints: &[DMat4]) -> DMat4 {
    let influences = &primitive.influences;
    let (sets, single) = (influences.sets, joints.first().copied().unwrap_or(DMat4::IDENTITY));
    if sets == 0 || joints.len() == 1 {
        return single;
    }
    let range = vertex * sets..(vertex + 1) * sets;
    let (Some(numbers), Some(weights)) = (influences.joints.get(range.clone()), influences.weights.get(range)) else { return single };
    let (mut sum, mut matrix) = (0.0, DMat4::ZERO);
    for (&joint, &weight) in numbers.as_flattened().iter().zip(weights.as_flattened()).filter(|(_, w)| **w != 0.0) {
        let weight = f64::from(weight);
        sum += weight;
        matrix += joints.get(usize::from(joint)).copied().unwrap_or(single) * weight;
    }
    if sum > 0.0 { matrix * (1.0 / sum) } else { single }
}

/// The scene's clip that a clip of the sidecar was baked from.
fn find_clip(scene: &Scene, clip: &Clip) -> Result<Option<usize>, String> {
    let Some(animation) = clip.animation else { return Ok(None) };
    let names = clip_names(scene);
    let comes_from = |c: &crate::scene::Clip| match (&clip.source, &c.source) {
        (None, None) => true,
        (Some(a), Some(b)) => a.sha256 == b.sha256 || a.file == b.file,
        _ => false,
    };
    let found: Vec<usize> =
        (0..scene.clips.len()).filter(|&i| scene.clips[i].animation == animation as usize && comes_from(&scene.clips[i])).collect();
    let named = |i: &&usize| clip.name.as_ref().is_none_or(|name| names.get(**i) == Some(name));
    match (found.iter().find(named), found.first(), &clip.source) {
        (Some(&i), ..) => Ok(Some(i)),
        (None, Some(&i), _) => Err(format!(
            "animation {animation} of the model is called '{}'; where clips were put together, pass --merge-clips as for the bake",
            names.get(i).map_or("", String::as_str)
        )),
        (None, None, Some(source)) => Err(format!("it was taken from {}; pass that file with --animations", source.file)),
        (None, None, None) => Err(format!("the model has no animation {animation}")),
    }
}

/// Seconds at which frame `k` of a clip stands. Start and length are f32 in the sidecar; where the end is a key, it is one as f32.
fn time(clip: &Clip, k: usize) -> f64 {
    let start = f64::from(clip.start);
    let mut intervals = f64::from(clip.frame_count.max(1) - 1);
    let mut share = 1.0;
    if clip.looping == Loop::Cycle && intervals > 1.0 {
        share = (intervals - 1.0) / intervals;
        intervals -= 1.0;
    }
    if intervals == 0.0 {
        return start;
    }
    let length = f64::from(clip.length) * share;
    let end = f64::from((start + length) as f32);
    let snapped = end - start;
    let length = if (snapped / share) as f32 == clip.length { snapped } else { length };
    start + k as f64 * length / intervals
}
