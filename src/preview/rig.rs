//! The model that a bake was made from, for what the bake itself does not hold: joints and influences.

use glam::{DMat3, DVec3};

use crate::baked::Baked;
use crate::options::{Input, Options, Recompute};
use crate::output::sidecar::{Clip, Loop, Sidecar};
use crate::plan::build::build_mesh;
use crate::plan::frames::clip_names;
use crate::plan::mesh::{BakeMesh, PaletteEntry};
use crate::pose::{MATRIX_ROWS, Poser, sample_times};
use crate::scene::{Property, Scene};
use crate::source::{self, SceneChoice};
use crate::warning::Warnings;
use crate::{Error, Result};

/// A joint as lines are drawn between: a joint of a skin, or a node that carries or moves a rigid part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bone {
    /// Index into the scene's nodes.
    node: usize,
    /// The nearest bone above it: an index into the same list, smaller than its own.
    pub parent: Option<usize>,
    /// Bones above it.
    pub depth: usize,
    /// Whether there is none below it.
    pub is_end: bool,
}

/// A model and how the bake's vertices are found in it.
#[derive(Debug)]
pub struct Rig {
    scene: Scene,
    mesh: BakeMesh,
    /// Per vertex of the bake: its vertex of `mesh`.
    vertices: Vec<usize>,
    /// Per vertex of the bake: whether it has a skin.
    is_skinned: Vec<bool>,
    bones: Vec<Bone>,
    /// Factor on lengths.
    scale: f64,
    /// From the bake's axes and unit to glTF's.
    to_gltf: DMat3,
}

impl Rig {
    /// Reads the model and finds the bake's vertices in it.
    ///
    /// # Errors
    /// Those of [`source::read`]; [`Error::Usage`] where it is another model than the bake's.
    pub fn read(input: &Input, baked: &Baked, allow_outside: bool) -> Result<Self> {
        let sidecar = &baked.sidecar;
        let settings = source::Settings { scene: SceneChoice::Written(sidecar.source.scene), allow_outside, motion_only: false };
        let mut warnings = Warnings::default();
        let scene = source::read(input, &settings, &mut warnings)?;
        check_source(input, sidecar, &scene.origin.sha256)?;
        // The sidecar does not say whether normals were computed anew, which decides how many vertices there are.
        for recompute_normals in [None, Some(Recompute::Flat), Some(Recompute::Smooth)] {
            let mesh = build_mesh(&scene, &Options { recompute_normals, ..Options::default() }, &mut warnings)?;
            if let Some((vertices, is_skinned)) = find_vertices(&scene, &mesh, sidecar) {
                let bones = find_bones(&scene, sidecar);
                let to_gltf = super::upload::to_gltf(sidecar);
                return Ok(Self { scene, mesh, vertices, is_skinned, bones, scale: sidecar.space.scale.into(), to_gltf });
            }
        }
        Err(other_model(input, sidecar, "its meshes have other vertices"))
    }

    /// The bones, parents before children.
    pub fn bones(&self) -> &[Bone] {
        &self.bones
    }

    /// The scene's clip of a sidecar's clip.
    fn clip(&self, clip: &Clip) -> Result<Option<usize>> {
        let name = clip.name.as_deref().unwrap_or("without a name");
        if let Some(from) = &clip.source {
            let remedy = "choose other clips with --clip";
            return Err(Error::Usage(format!("clip '{name}' was taken from {}, which --source does not hold; {remedy}", from.file)));
        }
        let Some(animation) = clip.animation else { return Ok(None) };
        let found = self.scene.clips.iter().position(|c| c.source.is_none() && c.animation == animation as usize);
        if let (Some(i), Some(wanted)) = (found, &clip.name)
            && clip_names(&self.scene).get(i).is_some_and(|own| own != wanted)
        {
            return Err(Error::Usage(format!(
                "clip '{name}' was put together of several animations, which --source holds apart; choose other clips with --clip"
            )));
        }
        found.map(Some).ok_or_else(|| Error::Usage(format!("--source has no animation {animation}, which clip '{name}' was made from")))
    }

    /// Where bones are at a frame of a clip (a frame between two is a blend, as a player shows it): glTF's axes, metres.
    pub fn places(&self, clip: &Clip, frames: &[f64]) -> Result<Vec<Vec<DVec3>>> {
        let palette: Vec<_> = self.bones.iter().map(|bone| PaletteEntry::Node(bone.node)).collect();
        let poser = Poser::new(&self.scene, &palette, &[], self.scale, None);
        let number = self.clip(clip)?;
        let last = clip.frame_count.saturating_sub(1);
        let around: Vec<(u32, u32, f64)> = frames
            .iter()
            .map(|frame| {
                let frame = frame.clamp(0.0, last.into());
                let below = frame.floor() as u32;
                (below, (below + 1).min(last), frame.fract())
            })
            .collect();
        let times: Vec<_> = around.iter().flat_map(|&(a, b, _)| [a, b]).map(|k| (number, time(clip, k))).collect();
        let poses = sample_times(&poser, &times);
        let at = |i: usize, k: u32| {
            let rows = &poses.palettes[i * palette.len() * MATRIX_ROWS..][..palette.len() * MATRIX_ROWS];
            let place = |m: &[glam::Vec4]| DVec3::new(m[0].w.into(), m[1].w.into(), m[2].w.into());
            rows.chunks_exact(MATRIX_ROWS).map(|m| self.in_place(clip, k, place(m))).collect::<Vec<_>>()
        };
        let blend = |(i, &(a, b, share)): (usize, &(u32, u32, f64))| {
            at(2 * i, a).into_iter().zip(at(2 * i + 1, b)).map(|(a, b)| a.lerp(b, share)).collect()
        };
        Ok(around.iter().enumerate().map(blend).collect())
    }

    /// The first three influences of every vertex of the bake as red, green and blue; black where it has none.
    pub fn influences(&self) -> Vec<[u8; 4]> {
        let colour = |(&v, &is_skinned): (&usize, &bool)| {
            let vertex = &self.mesh.vertices[v];
            match self.mesh.influences.get(vertex.first_set as usize).filter(|_| is_skinned) {
                Some(four) => [0, 1, 2, 3].map(|k| if k < 3 { (four.weights[k].clamp(0.0, 1.0) * 255.0 + 0.5) as u8 } else { 255 }),
                None => [0, 0, 0, 255],
            }
        };
        self.vertices.iter().zip(&self.is_skinned).map(colour).collect()
    }

    /// A point of the source where a bake in place has it: without the way that the sidecar holds.
    fn in_place(&self, clip: &Clip, frame: u32, point: DVec3) -> DVec3 {
        let Some(motion) = &clip.root_motion else { return point };
        let (Some(shift), Some(yaw)) = (motion.translation.get(frame as usize), motion.yaw.get(frame as usize)) else { return point };
        // the last step of a cycle goes on where the next one begins, and shows the first pose
        if clip.looping == Loop::Cycle && frame + 1 == clip.frame_count {
            return point;
        }
        let shift = self.to_gltf * DVec3::from(shift.map(f64::from));
        // a reflection turns the other way around
        let turn = f64::from(*yaw) * self.to_gltf.determinant().signum();
        DMat3::from_rotation_y(-turn) * (point - shift)
    }
}

/// The error that says that another model was given.
pub fn other_model(input: &Input, sidecar: &Sidecar, why: &str) -> Error {
    let (was, path) = (&sidecar.source.file, input.path());
    Error::Usage(format!("--source is not the model that was baked ({why}); name '{was}' as it was then: {}", path.display()))
}

/// Makes sure that it is the same file.
pub fn check_source(input: &Input, sidecar: &Sidecar, sha256: &str) -> Result<()> {
    if sha256 == sidecar.source.sha256 { Ok(()) } else { Err(other_model(input, sidecar, "its SHA-256 differs")) }
}

/// Seconds of the source's animation at a frame of a clip.
fn time(clip: &Clip, frame: u32) -> f64 {
    // the pose that was appended to close a cycle is its first
    if clip.looping == Loop::Cycle && frame + 1 == clip.frame_count {
        return clip.start.into();
    }
    f64::from(clip.start) + if clip.fps > 0.0 { f64::from(frame) / f64::from(clip.fps) } else { 0.0 }
}

/// For every vertex of the bake its vertex in the mesh of the whole scene, and whether it has a skin; none where they do not match.
fn find_vertices(scene: &Scene, mesh: &BakeMesh, sidecar: &Sidecar) -> Option<(Vec<usize>, Vec<bool>)> {
    let count = sidecar.vertex_count as usize;
    let (mut vertices, mut is_skinned) = (vec![usize::MAX; count], vec![false; count]);
    for part in &sidecar.mesh.parts {
        let found = mesh.parts.iter().find(|range| {
            let of = &scene.parts[range.part];
            let primitive = &scene.primitives[of.primitive];
            let origin = [scene.nodes[of.node].source, primitive.mesh, primitive.primitive];
            origin == [part.node, part.mesh, part.primitive].map(|n| n as usize)
        })?;
        if found.vertex_count != part.vertex_count as usize {
            return None;
        }
        let first = part.first_vertex as usize;
        let numbers = vertices.get_mut(first..first.checked_add(found.vertex_count)?)?;
        numbers.iter_mut().zip(found.first_vertex..).for_each(|(to, from)| *to = from);
        is_skinned[first..first + found.vertex_count].fill(scene.parts[found.part].skin.is_some());
    }
    vertices.iter().all(|&v| v != usize::MAX).then_some((vertices, is_skinned))
}

/// Joints of the skins that move the bake; of a rigid part its node, and what moves it.
fn find_bones(scene: &Scene, sidecar: &Sidecar) -> Vec<Bone> {
    let mut is_bone = vec![false; scene.nodes.len()];
    let moves = |c: &crate::scene::Channel| c.property != Property::Weights;
    let mut is_moved = vec![false; scene.nodes.len()];
    scene.clips.iter().flat_map(|clip| &clip.channels).filter(|c| moves(c)).for_each(|c| is_moved[c.node] = true);
    for part in &sidecar.mesh.parts {
        let joints = part.skin.and_then(|skin| scene.skins.get(skin as usize)).map(|skin| &skin.joints[..]);
        joints.into_iter().flatten().for_each(|&joint| is_bone[joint] = true);
        if joints.is_none() {
            let mut node = scene.nodes.iter().position(|n| n.source == part.node as usize);
            while let Some(n) = node {
                is_bone[n] |= is_moved[n] || scene.nodes[n].source == part.node as usize;
                node = scene.nodes[n].parent;
            }
        }
    }
    let mut bones: Vec<Bone> = Vec::new();
    // the bone that a node is or hangs from
    let mut above: Vec<Option<usize>> = vec![None; scene.nodes.len()];
    for (n, node) in scene.nodes.iter().enumerate() {
        let parent = node.parent.and_then(|p| above[p]);
        above[n] = parent;
        if is_bone[n] {
            above[n] = Some(bones.len());
            let depth = parent.map_or(0, |p| bones[p].depth + 1);
            bones.push(Bone { node: n, parent, depth, is_end: true });
            if let Some(parent) = parent {
                bones[parent].is_end = false;
            }
        }
    }
    bones
}
