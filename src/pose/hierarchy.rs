//! World matrices of the nodes a bake needs, and the palette made of them.

use glam::{DMat4, DQuat, DVec3, Vec4};

use super::MATRIX_ROWS;
use super::root::{GroundMove, make_track};
use super::sampler::sample_channel;
use crate::plan::frames::{ClipPlan, Loop};
use crate::plan::mesh::{PaletteEntry, WeightRun};
use crate::scene::{Channel, Property, Scene, Trs};

/// Turns a clip and a time into a palette and morph weights. Cheap to share between threads; [`Scratch`] is a thread's own.
#[derive(Debug)]
pub struct Poser<'a> {
    scene: &'a Scene,
    palette: Vec<PaletteEntry>,
    runs: Vec<WeightRun>,
    weight_count: usize,
    /// Factor on every length.
    scale: f64,
    /// Nodes whose world matrix is needed: those of the palette and all above them.
    needed: Vec<bool>,
    /// First weight of each node, where it has any.
    first_weight: Vec<Option<usize>>,
    /// Per clip: the channels that move something of the bake.
    channels: Vec<Vec<&'a Channel>>,
    /// Whose way over the ground is taken out.
    root: Option<Root>,
}

/// The root of a bake in place.
#[derive(Debug)]
struct Root {
    node: usize,
    /// Per clip: its world matrix at the first frame, where the clip is baked.
    first: Vec<Option<DMat4>>,
}

/// Working space of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    locals: Vec<Trs>,
    moved: Vec<bool>,
    world: Vec<DMat4>,
    values: Vec<f64>,
}

impl<'a> Poser<'a> {
    /// A poser for these palette entries and weights.
    ///
    /// With a `root` (an index into [`Scene::nodes`]) clips are posed in place, from [`Self::begin_clips`] on.
    pub fn new(scene: &'a Scene, palette: &[PaletteEntry], runs: &[WeightRun], scale: f64, root: Option<usize>) -> Self {
        let mut needed = vec![false; scene.nodes.len()];
        let entries = palette.iter().map(|entry| match *entry {
            PaletteEntry::Joint { skin, joint } => scene.skins[skin].joints[joint],
            PaletteEntry::Node(node) => node,
        });
        for node in entries.chain(root) {
            let mut node = Some(node);
            while let Some(n) = node.filter(|&n| !needed[n]) {
                needed[n] = true;
                node = scene.nodes[n].parent;
            }
        }
        let mut first_weight = vec![None; scene.nodes.len()];
        let mut weight_count = 0;
        for run in runs {
            first_weight[run.node] = Some(run.first);
            weight_count = weight_count.max(run.first + run.count);
        }
        let relevant = |c: &&Channel| match c.property {
            Property::Weights => first_weight[c.node].is_some(),
            _ => needed[c.node],
        };
        let channels = scene.clips.iter().map(|clip| clip.channels.iter().filter(relevant).collect()).collect();
        let root = root.map(|node| Root { node, first: vec![None; scene.clips.len()] });
        Self { scene, palette: palette.to_vec(), runs: runs.to_vec(), weight_count, scale, needed, first_weight, channels, root }
    }

    /// Learns where the root stands in the first frame of each clip: that is where it stays. Nothing without a root.
    pub fn begin_clips(&mut self, plans: &[ClipPlan]) {
        if self.root.is_none() {
            return;
        }
        let (mut scratch, mut weights) = (Scratch::default(), vec![0.0; self.weight_count]);
        for plan in plans {
            let Some(clip) = plan.clip else { continue };
            self.solve(plan.clip, plan.time(0), &mut scratch, &mut weights);
            if let Some(root) = &mut self.root {
                root.first[clip] = Some(scratch.world[root.node]);
            }
        }
    }

    /// The node whose way is taken out.
    pub fn root(&self) -> Option<usize> {
        self.root.as_ref().map(|root| root.node)
    }

    /// What was taken out of each frame of a clip, with the bake's lengths; nothing where clips are baked as they are.
    pub fn root_track(&self, plan: &ClipPlan) -> Option<Vec<GroundMove>> {
        let (mut scratch, mut weights) = (Scratch::default(), vec![0.0; self.weight_count]);
        let moves = (0..plan.frame_count).map(|k| {
            self.solve(plan.clip, plan.time(k), &mut scratch, &mut weights);
            let ground = self.ground_move(plan.clip, &scratch)?;
            Some(GroundMove { shift: ground.shift * self.scale, ..ground })
        });
        Some(make_track(moves.collect::<Option<_>>()?, plan.looping == Loop::Cycle))
    }

    /// How far the root has come since the first frame, by the world matrices of `scratch`.
    fn ground_move(&self, clip: Option<usize>, scratch: &Scratch) -> Option<GroundMove> {
        let root = self.root.as_ref()?;
        let first = root.first[clip?].as_ref()?;
        Some(GroundMove::between(first, &scratch.world[root.node]))
    }

    /// Channels of a clip that move a part of the bake.
    pub fn channels(&self, clip: usize) -> &[&'a Channel] {
        &self.channels[clip]
    }

    /// Matrices of a frame.
    pub fn palette_len(&self) -> usize {
        self.palette.len()
    }

    /// Rows of a frame's palette.
    pub fn palette_rows(&self) -> usize {
        self.palette.len() * MATRIX_ROWS
    }

    /// Bytes of a frame's palette and weights.
    pub fn frame_bytes(&self) -> u64 {
        (self.palette_rows() * size_of::<Vec4>() + self.weight_count * size_of::<f32>()) as u64
    }

    /// Morph weights of a frame.
    pub fn weight_count(&self) -> usize {
        self.weight_count
    }

    /// Writes the palette ([`Self::palette_rows`]) and the morph weights ([`Self::weight_count`]) of `clip` at `time`
    /// (seconds); what a viewer shows when nothing plays where `clip` is absent.
    pub fn pose(&self, clip: Option<usize>, time: f64, scratch: &mut Scratch, palette: &mut [Vec4], weights: &mut [f32]) {
        self.solve(clip, time, scratch, weights);
        let mut outer = DMat4::from_scale(DVec3::splat(self.scale));
        if let Some(ground) = self.ground_move(clip, scratch) {
            outer *= ground.inverse();
        }
        for (entry, rows) in self.palette.iter().zip(palette.chunks_exact_mut(MATRIX_ROWS)) {
            let matrix = match *entry {
                PaletteEntry::Joint { skin, joint } => {
                    let skin = &self.scene.skins[skin];
                    outer * scratch.world[skin.joints[joint]] * skin.inverse_bind[joint]
                }
                PaletteEntry::Node(node) => outer * scratch.world[node],
            };
            write_rows(&matrix, rows);
        }
    }

    /// World matrices into `scratch.world`, morph weights into `weights`.
    fn solve(&self, clip: Option<usize>, time: f64, scratch: &mut Scratch, weights: &mut [f32]) {
        let nodes = &self.scene.nodes;
        scratch.locals.resize(nodes.len(), Trs::default());
        scratch.world.resize(nodes.len(), DMat4::IDENTITY);
        scratch.moved.clear();
        scratch.moved.resize(nodes.len(), false);
        for run in &self.runs {
            for (slot, &w) in weights[run.first..run.first + run.count].iter_mut().zip(&nodes[run.node].weights) {
                *slot = w as f32;
            }
        }
        for channel in clip.map_or(&[][..], |clip| &self.channels[clip]) {
            scratch.values.resize(channel.width, 0.0);
            sample_channel(channel, time, &mut scratch.values);
            let v = &scratch.values;
            if channel.property == Property::Weights {
                if let Some(first) = self.first_weight[channel.node] {
                    weights[first..first + channel.width].iter_mut().zip(v).for_each(|(slot, &w)| *slot = w as f32);
                }
                continue;
            }
            let local = &mut scratch.locals[channel.node];
            if !std::mem::replace(&mut scratch.moved[channel.node], true) {
                *local = nodes[channel.node].local.trs();
            }
            match channel.property {
                Property::Translation => local.translation = DVec3::new(v[0], v[1], v[2]),
                Property::Scale => local.scale = DVec3::new(v[0], v[1], v[2]),
                _ => local.rotation = DQuat::from_xyzw(v[0], v[1], v[2], v[3]),
            }
        }
        for (n, node) in nodes.iter().enumerate().filter(|(n, _)| self.needed[*n]) {
            let local = if scratch.moved[n] { scratch.locals[n].matrix() } else { node.local.matrix() };
            scratch.world[n] = node.parent.map_or(local, |parent| scratch.world[parent] * local);
        }
    }
}

/// The first three rows of a matrix as f32.
fn write_rows(matrix: &DMat4, rows: &mut [Vec4]) {
    for (r, row) in rows.iter_mut().enumerate() {
        *row = matrix.row(r).as_vec4();
    }
}
