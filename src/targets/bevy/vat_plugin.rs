//! Plays vertex animation textures of vatbake in Bevy, on any number of entities with one draw for each material. Written by
//! vatbake; the same for every bake, so several bakes share it. It is part of the module that is named after the version of Bevy,
//! vat_0_19.rs for 0.19, from which it takes what is not the same in all of them.
//!
//! ```ignore
//! #[path = "../assets/bevy/vat_0_19.rs"]
//! mod vat;
//!
//! app.add_plugins(VatPlugin);                                              // after DefaultPlugins
//! commands.spawn(VatPlayer::new(server.load("bevy/hero.vat.json")));       // shows its first clip, over and over
//! player.fade_to(VatClip::looped(2, time.elapsed_secs_wrapped()), 0.3);    // clip 2 of the sidecar, faded in over 0.3 s
//! ```

use std::collections::{HashMap, HashSet};

use bevy::asset::load_internal_asset;
use bevy::gltf::Gltf;
use bevy::pbr::{ExtendedMaterial, MaterialExtension};
use bevy::prelude::*;
use bevy::render::render_resource::{AsBindGroup, Buffer, ShaderType, StorageBuffer, WgpuFeatures};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::{ExtractSchedule, MainWorld, RenderApp};
use serde::Deserialize;

use super::{ASSET_EVENTS, Events, PROPAGATE, shader_defs, uuid_handle};
use super::{Aabb, MeshTag, NoAutoAabb, NotShadowCaster, NotShadowReceiver, RenderLayers, ShaderRef, WorldAsset};

#[path = "vat_loader.rs"]
mod vat_loader;
use vat_loader::VatLoader;

const PLAYBACK: Handle<Shader> = uuid_handle!("6f6d1d3c-58a4-4c39-9d0b-0d3e5f4f7a11");
const MATERIAL: Handle<Shader> = uuid_handle!("b1c8a2de-3f57-4a0e-8e42-7c6a90d15b22");

/// Adds the loader of `.vat.json`, the material and the systems that show every [`VatPlayer`].
pub struct VatPlugin;

impl Plugin for VatPlugin {
    fn build(&self, app: &mut App) {
        load_internal_asset!(app, PLAYBACK, "vat_playback.wgsl", Shader::from_wgsl_with_defs, shader_defs());
        load_internal_asset!(app, MATERIAL, "vat_material.wgsl", Shader::from_wgsl);
        app.add_plugins(MaterialPlugin::<VatMaterial>::default())
            .init_asset::<Vat>()
            .preregister_asset_loader::<VatLoader>(&["vat.json"])
            .init_resource::<Models>()
            .add_systems(PreUpdate, wrap)
            .add_systems(PostUpdate, (stop, free_slots, start, fill_slots).chain().before(PROPAGATE).before(ASSET_EVENTS));
        if let Some(render) = app.get_sub_app_mut(RenderApp) {
            render.add_systems(ExtractSchedule, upload);
        }
    }

    fn finish(&self, app: &mut App) {
        let device = app.world().get_resource::<RenderDevice>();
        app.register_asset_loader(VatLoader {
            unorm16: device.is_none_or(|d| d.features().contains(WgpuFeatures::TEXTURE_FORMAT_16BIT_NORM)),
            largest: device.map_or(u32::MAX, |d| d.limits().max_texture_dimension_2d),
        });
    }
}

/// A clip of a bake, as an entity plays it.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct VatClip {
    /// Which one of [`Vat::clips`].
    pub index: usize,
    /// `Time::elapsed_secs_wrapped` at which it began. Where `speed` is 0: the frame of the clip that is shown (3.5 is half way).
    pub start: f32,
    /// 1 is the clip's own.
    pub speed: f32,
    /// Plays once and holds the last frame.
    pub once: bool,
}

impl VatClip {
    /// Over and over, at the clip's own speed.
    pub fn looped(index: usize, start: f32) -> Self {
        Self { index, start, speed: 1.0, once: false }
    }

    /// The vec4 of an instance: first frame, intervals, frames a second, start.
    fn vector(self, clip: Option<&VatClipInfo>) -> Vec4 {
        let Some(clip) = clip else { return Vec4::ZERO };
        let intervals = clip.frame_count.saturating_sub(1) as f32;
        Vec4::new(clip.first_frame as f32, if self.once { -intervals } else { intervals }, clip.fps * self.speed, self.start)
    }
}

/// Shows a bake at the entity's transform, from when its files are loaded. Change it at any time. `RenderLayers`, `NotShadowCaster`
/// and `NotShadowReceiver` of the entity hold for its meshes, which are its children, where they are there from the start.
#[derive(Component, Clone)]
#[require(Transform, Visibility)]
pub struct VatPlayer {
    /// The bake.
    pub vat: Handle<Vat>,
    /// What it plays.
    pub clip: VatClip,
    /// What `clip` is faded in over.
    pub from: VatClip,
    /// When the fade began and how many seconds it takes; 0 seconds: there is none.
    pub fade: Vec2,
}

impl VatPlayer {
    /// Plays the first clip over and over.
    pub fn new(vat: Handle<Vat>) -> Self {
        Self { vat, clip: VatClip::looped(0, 0.0), from: VatClip::default(), fade: Vec2::ZERO }
    }

    /// Fades to a clip, from its start on. What an unfinished fade came from is dropped: it jumps.
    pub fn fade_to(&mut self, clip: VatClip, seconds: f32) {
        self.from = self.clip;
        self.fade = Vec2::new(clip.start, seconds);
        self.clip = clip;
    }
}

/// A bake: what `.vat.json` says, and its textures and mesh.
#[derive(Asset, TypePath)]
pub struct Vat {
    /// Clips in the order of their frames.
    pub clips: Vec<VatClipInfo>,
    /// Box of all animated positions, for culling.
    pub bounds: Aabb,
    mesh: Handle<Gltf>,
    textures: VatTextures,
    uniform: VatUniform,
}

/// A clip of a bake.
#[derive(Deserialize, Clone, Debug)]
#[allow(missing_docs)]
pub struct VatClipInfo {
    pub name: Option<String>,
    pub first_frame: u32,
    pub frame_count: u32,
    pub fps: f32,
    pub length: f32,
    /// `closed` and `cycle` may be played over and over, `once` jumps at its end.
    #[serde(rename = "loop")]
    pub looping: String,
    /// Poses that jump: frames are not blended.
    pub stepped: bool,
}

#[derive(Clone, Default)]
struct VatTextures {
    position: Option<Handle<Image>>,
    normal: Option<Handle<Image>>,
    tangent: Option<Handle<Image>>,
}

/// The standard material with the textures of a bake.
pub type VatMaterial = ExtendedMaterial<StandardMaterial, VatExtension>;

/// What it reads more than the standard material.
#[derive(Asset, AsBindGroup, TypePath, Clone)]
pub struct VatExtension {
    #[uniform(100)]
    uniform: VatUniform,
    #[texture(101, sample_type = "float", filterable = false, visibility(vertex))]
    position: Option<Handle<Image>>,
    #[texture(102, sample_type = "float", filterable = false, visibility(vertex))]
    normal: Option<Handle<Image>>,
    #[texture(103, sample_type = "float", filterable = false, visibility(vertex))]
    tangent: Option<Handle<Image>>,
    // The buffer itself: as an asset it would be another one after each change, up to Bevy 0.18, and the material keep the old one.
    #[storage(104, read_only, buffer, visibility(vertex))]
    slots: Buffer,
}

impl MaterialExtension for VatExtension {
    fn vertex_shader() -> ShaderRef {
        MATERIAL.into()
    }
    fn prepass_vertex_shader() -> ShaderRef {
        MATERIAL.into()
    }
    fn deferred_vertex_shader() -> ShaderRef {
        MATERIAL.into()
    }
}

/// `VatMaterial` of vat_playback.wgsl.
#[derive(ShaderType, Clone, Copy, Default)]
struct VatUniform {
    bake: VatBake,
    tangent_encoding: u32,
    has_normals: u32,
    has_tangents: u32,
    slots: u32,
}

/// `VatBake` of vat_playback.wgsl.
#[derive(ShaderType, Clone, Copy, Default)]
struct VatBake {
    scale: Vec3,
    width: u32,
    bias: Vec3,
    frames: u32,
    lanes: u32,
    groups: u32,
    position_encoding: u32,
    normal_encoding: u32,
}

/// `VatSlot` of vat_playback.wgsl: what one player plays.
#[derive(ShaderType, Clone, Copy, Default)]
struct VatSlot {
    clip: Vec4,
    from_clip: Vec4,
    fade: Vec4,
}

/// Slots of a bake to begin with.
const ROOM: usize = 64;

/// A bake on the GPU, while something plays it.
struct Model {
    parts: Vec<(Handle<Mesh>, Handle<VatMaterial>)>,
    /// [`ROOM`] of them, or twice as many until there is room for every player.
    slots: StorageBuffer<Vec<VatSlot>>,
    /// Slots that were given away at least once: the others follow them.
    used: usize,
    /// Those of them that nobody has now.
    free: Vec<u32>,
    changed: bool,
}

impl Model {
    fn take_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used as u32 - 1
        })
    }

    /// How many slots there must be.
    fn room(&self) -> usize {
        self.used.next_power_of_two().max(ROOM)
    }
}

#[derive(Resource, Default)]
struct Models {
    of_bake: HashMap<AssetId<Vat>, Model>,
    /// Of every entity that has one: a despawned one can't be asked.
    slot_of: HashMap<Entity, (AssetId<Vat>, u32)>,
}

/// What a player has while it is shown: a slot in its bake's buffer, which is the `MeshTag` of its meshes. No copy of the entity
/// gets it, but its own.
#[derive(Component)]
struct Shown {
    vat: AssetId<Vat>,
    slot: u32,
    meshes: Vec<Entity>,
}

/// Where Bevy's clock went back to 0, as it does once an hour, times that players hold go back too.
fn wrap(time: Res<Time>, mut last: Local<f32>, mut players: Query<&mut VatPlayer>) {
    let now = time.elapsed_secs_wrapped();
    if now < *last {
        let period = time.wrap_period().as_secs_f32();
        for mut player in &mut players {
            let VatPlayer { clip, from, fade, .. } = &mut *player;
            for clip in [clip, from] {
                clip.start -= if clip.speed == 0.0 { 0.0 } else { period };
            }
            fade.x -= period;
        }
    }
    *last = now;
}

/// Takes down what shows another bake than its player's, or has none, or whose files were changed; `start` builds it anew.
fn stop(
    mut commands: Commands,
    mut changes: Events<AssetEvent<Vat>>,
    shown: Query<(Entity, &Shown, Option<&VatPlayer>)>,
    mut models: ResMut<Models>,
) {
    let changed: HashSet<_> =
        changes.read().filter_map(|change| if let AssetEvent::Modified { id } = change { Some(*id) } else { None }).collect();
    models.of_bake.retain(|id, _| !changed.contains(id));
    for (entity, shown, player) in &shown {
        if changed.contains(&shown.vat) || player.is_none_or(|player| player.vat.id() != shown.vat) {
            for mesh in &shown.meshes {
                commands.entity(*mesh).try_despawn();
            }
            commands.entity(entity).try_remove::<Shown>();
        }
    }
}

/// The slot of a player that is gone is given to the next one. The last of a bake takes what it needs on the GPU along.
fn free_slots(mut gone: RemovedComponents<Shown>, mut models: ResMut<Models>) {
    let Models { of_bake, slot_of } = &mut *models;
    for (id, slot) in gone.read().filter_map(|entity| slot_of.remove(&entity)) {
        let Some(model) = of_bake.get_mut(&id) else { continue };
        model.free.push(slot);
        if model.free.len() == model.used {
            of_bake.remove(&id);
        }
    }
}

/// Gives every new player whose bake is loaded a slot and one child a material.
fn start(
    mut commands: Commands,
    players: Query<(Entity, &VatPlayer, Option<&RenderLayers>, Has<NotShadowCaster>, Has<NotShadowReceiver>), Without<Shown>>,
    (server, vats, gltfs): (Res<AssetServer>, Res<Assets<Vat>>, Res<Assets<Gltf>>),
    (worlds, standard): (Res<Assets<WorldAsset>>, Res<Assets<StandardMaterial>>),
    (mut materials, mut models): (ResMut<Assets<VatMaterial>>, ResMut<Models>),
    (device, queue): (Option<Res<RenderDevice>>, Option<Res<RenderQueue>>),
) {
    // Without a GPU nothing is shown.
    let (Some(device), Some(queue)) = (device, queue) else { return };
    let Models { of_bake, slot_of } = &mut *models;
    for (entity, player, layers, casts_none, receives_none) in &players {
        let id = player.vat.id();
        let (true, Some(vat)) = (server.is_loaded_with_dependencies(id), vats.get(id)) else { continue };
        let model = of_bake.entry(id).or_insert_with(|| {
            let mut slots = StorageBuffer::from(vec![VatSlot::default(); ROOM]);
            slots.write_buffer(&device, &queue);
            let scene = gltfs.get(&vat.mesh).and_then(|gltf| worlds.get(gltf.scenes.first()?));
            let found = scene.zip(slots.buffer()).map(|(scene, buffer)| parts(&scene.world, vat, buffer, &standard, &mut materials));
            let parts = found.unwrap_or_default();
            if parts.is_empty() {
                warn!("{:?} has no mesh to show", player.vat.path());
            }
            Model { parts, slots, used: 0, free: Vec::new(), changed: true }
        });
        let slot = model.take_slot();
        slot_of.insert(entity, (id, slot));
        let mut meshes = Vec::new();
        commands.entity(entity).with_children(|children| {
            for (mesh, material) in &model.parts {
                let shown = (Mesh3d(mesh.clone()), MeshMaterial3d(material.clone()), MeshTag(slot));
                // Without NoAutoAabb Bevy puts the box of the rest pose there, and culls what moves out of it.
                let mut child = children.spawn((shown, vat.bounds, NoAutoAabb));
                if let Some(layers) = layers {
                    child.insert(layers.clone());
                }
                if casts_none {
                    child.insert(NotShadowCaster);
                }
                if receives_none {
                    child.insert(NotShadowReceiver);
                }
                meshes.push(child.id());
            }
        });
        commands.entity(entity).try_insert(Shown { vat: id, slot, meshes });
    }
}

/// The meshes of the GLB's scene, each with its own material, extended. Their transforms are the identity.
fn parts(
    scene: &World,
    vat: &Vat,
    slots: &Buffer,
    standard: &Assets<StandardMaterial>,
    materials: &mut Assets<VatMaterial>,
) -> Vec<(Handle<Mesh>, Handle<VatMaterial>)> {
    let VatTextures { position, normal, tangent } = vat.textures.clone();
    let uniform = VatUniform { slots: ROOM as u32, ..vat.uniform };
    let extension = VatExtension { uniform, position, normal, tangent, slots: slots.clone() };
    let mut extended = HashMap::new();
    // Absent where the scene has neither: then there is nothing to show.
    let Some(mut meshes) = scene.try_query::<(&Mesh3d, Option<&MeshMaterial3d<StandardMaterial>>)>() else { return Vec::new() };
    let shown = meshes.iter(scene).map(|(mesh, material)| {
        let id = material.map(|material| material.0.id());
        let material = extended.entry(id).or_insert_with(|| {
            let base = id.and_then(|id| standard.get(id)).cloned().unwrap_or_default();
            materials.add(ExtendedMaterial { base, extension: extension.clone() })
        });
        (mesh.0.clone(), material.clone())
    });
    shown.collect()
}

/// Notes what players play where they changed. Where slots ran out, materials get a larger buffer.
#[allow(unused_mut)] // `get_mut` gives a guard from 0.19 on
fn fill_slots(
    players: Query<(&VatPlayer, &Shown), Or<(Changed<VatPlayer>, Added<Shown>)>>,
    vats: Res<Assets<Vat>>,
    (mut models, mut materials): (ResMut<Models>, ResMut<Assets<VatMaterial>>),
    (device, queue): (Option<Res<RenderDevice>>, Option<Res<RenderQueue>>),
) {
    let (Some(device), Some(queue)) = (device, queue) else { return };
    for model in models.of_bake.values_mut() {
        let room = model.room();
        if model.slots.get().len() < room {
            model.slots.get_mut().resize(room, VatSlot::default());
            model.slots.write_buffer(&device, &queue);
        }
        let Some(buffer) = model.slots.buffer() else { continue };
        for (_, id) in &model.parts {
            // Asked first: what `get_mut` hands out is prepared anew.
            if materials.get(id).is_some_and(|material| material.extension.uniform.slots as usize != room) {
                if let Some(mut material) = materials.get_mut(id) {
                    material.extension.slots = buffer.clone();
                    material.extension.uniform.slots = room as u32;
                }
            }
        }
    }
    for (player, shown) in &players {
        let (Some(vat), Some(model)) = (vats.get(shown.vat), models.of_bake.get_mut(&shown.vat)) else { continue };
        let [clip, from] = [player.clip, player.from].map(|clip| (clip, vat.clips.get(clip.index).or(vat.clips.first())));
        let stepped = |info: Option<&VatClipInfo>| info.is_some_and(|info| info.stepped) as u32 as f32;
        model.slots.get_mut()[shown.slot as usize] = VatSlot {
            clip: clip.0.vector(clip.1),
            from_clip: from.0.vector(from.1),
            fade: player.fade.extend(stepped(clip.1)).extend(stepped(from.1)),
        };
        model.changed = true;
    }
}

/// Copies slots that changed to the GPU between two frames, so that none of them shows half of it.
fn upload(mut main: ResMut<MainWorld>, device: Res<RenderDevice>, queue: Res<RenderQueue>) {
    for model in main.resource_mut::<Models>().of_bake.values_mut().filter(|model| model.changed) {
        model.changed = false;
        model.slots.write_buffer(&device, &queue);
    }
}
