//! A crowd character made in code: 7,000 vertices, 40 joints, 60 clips of 50 frames. The size of a real one, and no file to read.

// Every bench compiles this module and uses a part of it.
#![allow(dead_code)]

use std::f32::consts::TAU;

use glam::{DMat4, DQuat, DVec3, Vec3};
use vatbake::encode::{Encoding, Form, NormalMode, Texel};
use vatbake::options::Options;
use vatbake::plan::build::build_mesh;
use vatbake::plan::chunks::{Chunk, ChunkLimits, MOST_FRAMES, MOST_TEXELS, cut_texture};
use vatbake::plan::frames::{ClipPlan, plan_clips};
use vatbake::plan::layout::Layout;
use vatbake::plan::mesh::BakeMesh;
use vatbake::pose::{PoseSource, Poser, sample_times};
use vatbake::scene::{Channel, Clip, Influences, Interpolation, Local, Node, Part, Primitive, Property, Scene, Skin, Trs};
use vatbake::skin::cpu::Cpu;
use vatbake::skin::rest::RestPose;
use vatbake::skin::{Backend, Job, Ranges};
use vatbake::warning::Warnings;
use vatbake::{Result, Silent};

/// Vertices.
pub const VERTICES: usize = 7_000;
/// Joints.
pub const JOINTS: usize = 40;
/// Clips.
pub const CLIPS: usize = 60;
/// Frames of a clip.
pub const CLIP_FRAMES: usize = 50;
/// Frames of the bake.
pub const FRAMES: usize = CLIPS * CLIP_FRAMES;
/// Texels of one texture, without padding.
pub const TEXELS: u64 = (VERTICES * FRAMES) as u64;

/// Frames a second, the default of a bake.
const FPS: f32 = 30.0;
/// Vertices of one ring of the tube that is the character.
const RING: usize = 50;
/// Metres from one joint to the next.
const BONE: f64 = 0.05;

/// A tube around a chain of joints, bent by every clip.
pub fn scene() -> Scene {
    let joint = |j: usize| Node {
        source: j,
        name: None,
        parent: j.checked_sub(1),
        in_scene: true,
        local: Local::Trs(Trs { translation: DVec3::Y * if j == 0 { 0.0 } else { BONE }, ..Trs::default() }),
        weights: Vec::new(),
    };
    let mut nodes: Vec<Node> = (0..JOINTS).map(joint).collect();
    nodes.push(Node {
        source: JOINTS,
        name: Some("tube".into()),
        parent: None,
        in_scene: true,
        local: Local::Trs(Trs::default()),
        weights: Vec::new(),
    });
    let inverse_bind = (0..JOINTS).map(|j| DMat4::from_translation(DVec3::Y * (-BONE * j as f64))).collect();
    Scene {
        nodes,
        skins: vec![Skin { name: None, joints: (0..JOINTS).collect(), inverse_bind }],
        primitives: vec![tube()],
        parts: vec![Part { node: JOINTS, primitive: 0, skin: Some(0) }],
        clips: (0..CLIPS).map(bend).collect(),
        ..Scene::default()
    }
}

fn tube() -> Primitive {
    let rings = VERTICES / RING;
    let height = BONE as f32 * (JOINTS - 1) as f32;
    let mut tube = Primitive { influences: Influences { sets: 1, ..Influences::default() }, ..Primitive::default() };
    let mut normals = Vec::with_capacity(VERTICES);
    for v in 0..VERTICES {
        let (ring, turn) = (v / RING, (v % RING) as f32 / RING as f32 * TAU);
        let along = ring as f32 / (rings - 1) as f32;
        let out = Vec3::new(turn.cos(), 0.0, turn.sin());
        tube.positions.push((out * 0.2 + Vec3::Y * height * along).to_array());
        normals.push(out.to_array());
        let nearest = along * (JOINTS - 1) as f32;
        let first = (nearest as usize).saturating_sub(1).min(JOINTS - 4) as u16;
        let near = [0, 1, 2, 3].map(|k| 1.0 / (1.0 + (f32::from(first + k) - nearest).powi(2)));
        let sum: f32 = near.iter().sum();
        tube.influences.joints.push([first, first + 1, first + 2, first + 3]);
        tube.influences.weights.push(near.map(|w| w / sum));
    }
    tube.normals = Some(normals);
    for ring in 0..rings - 1 {
        for k in 0..RING {
            let (a, b) = ((ring * RING + k) as u32, (ring * RING + (k + 1) % RING) as u32);
            let up = RING as u32;
            tube.triangles.extend([[a, a + up, b], [b, a + up, b + up]]);
        }
    }
    tube
}

/// One clip: every joint swings, each at its own phase, a key a frame.
fn bend(clip: usize) -> Clip {
    let times: std::sync::Arc<[f32]> = (0..CLIP_FRAMES).map(|k| k as f32 / FPS).collect();
    let channel = |joint: usize| {
        let values = (0..CLIP_FRAMES).flat_map(|k| {
            let phase = (k as f64 / (CLIP_FRAMES - 1) as f64 + joint as f64 / 7.0 + clip as f64 / 11.0) * f64::from(TAU);
            let swing = DQuat::from_rotation_x(0.08 * phase.sin()) * DQuat::from_rotation_z(0.05 * phase.cos());
            swing.as_quat().to_array()
        });
        let (property, interpolation) = (Property::Rotation, Interpolation::Linear);
        Channel { node: joint, property, interpolation, times: times.clone(), values: values.collect(), width: 4 }
    };
    Clip { name: Some(format!("bend {clip}")), animation: clip, channels: (0..JOINTS).map(channel).collect(), source: None }
}

/// Everything that a pass works on.
pub struct Crowd<'a> {
    /// Samples the scene.
    pub poser: Poser<'a>,
    mesh: BakeMesh,
    clips: Vec<ClipPlan>,
    rest: RestPose,
    layout: Layout,
}

impl<'a> Crowd<'a> {
    /// Lays the scene out as a bake does.
    pub fn new(scene: &'a Scene) -> Result<Self> {
        let mesh = build_mesh(scene, &Options::default(), &mut Warnings::default())?;
        let poser = Poser::new(scene, &mesh.palette, &mesh.weights, 1.0, None);
        let clips = plan_clips(scene, &poser, &Options::default())?;
        let rest = RestPose::new(&mesh, sample_times(&poser, &[(None, 0.0)]).as_ref());
        let layout = Layout::new(mesh.vertices.len(), &clips, 8192)?;
        assert_eq!((layout.vertex_count, layout.frame_count), (VERTICES, FRAMES));
        Ok(Self { mesh, poser, clips, rest, layout })
    }

    /// Every frame's palette, resident as in a bake of this size.
    pub fn poses(&self) -> PoseSource<'_> {
        PoseSource::new(&self.poser, &self.clips, u64::MAX)
    }

    /// Clip and time of every frame.
    pub fn times(&self) -> Vec<(Option<usize>, f64)> {
        self.clips.iter().flat_map(|c| (0..c.frame_count).map(move |k| (c.clip, c.time(k)))).collect()
    }

    /// What a backend is given.
    pub fn job<'b>(&'b self, poses: &'b PoseSource<'b>) -> Job<'b> {
        Job { mesh: &self.mesh, rest: &self.rest.positions, poses, clips: &self.clips, layout: &self.layout }
    }

    /// The texture cut as a bake with plenty of memory cuts it.
    pub fn chunks(&self, job: &Job<'_>, backend: &dyn Backend) -> Result<Vec<Chunk>> {
        let limits = ChunkLimits { texels: MOST_TEXELS, frames: MOST_FRAMES };
        Ok(cut_texture(&self.layout, backend.chunk_limits(job, limits)?))
    }

    /// The first `frames` rows of the position texture, and the width of a row.
    pub fn rows(&self, encoding: &Encoding, frames: usize) -> Result<(Vec<u8>, usize)> {
        let poses = self.poses();
        let job = self.job(&poses);
        let mut bytes = Vec::new();
        let chunks = [Chunk { block: 0, frames: 0..frames, row: 0 }];
        Cpu.texels(&job, encoding, &chunks, &mut Silent, &mut |texels| {
            bytes.extend_from_slice(texels.layers[0].bytes());
            Ok(())
        })?;
        Ok((bytes, self.layout.width))
    }

    /// The encoding of a default bake, or that of an EXR.
    pub fn encoding(&self, texel: Texel) -> Result<Encoding> {
        let poses = self.poses();
        let ranges = Cpu.bounds(&self.job(&poses), 512 << 20, &mut Silent)?;
        let all = ranges.into_iter().reduce(Ranges::join).unwrap_or(Ranges::EMPTY);
        let coordinate = all.least.abs().max(all.largest.abs()).max_element();
        let range = (all.least_offset, all.largest_offset);
        let form = Form { texel, is_offset: true, levels: 65535.0, normals: NormalMode::Separate, normal_levels: 65535.0, tangents: false };
        Ok(Encoding::new(form, range, coordinate))
    }
}
