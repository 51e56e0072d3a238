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

use std::collections::HashMap;

use bevy::asset::load_internal_asset;
use bevy::gltf::Gltf;
use bevy::pbr::{ExtendedMaterial, MaterialExtension};
use bevy::prelude::*;
use bevy::render::render_resource::{AsBindGroup, ShaderType, WgpuFeatures};
use bevy::render::renderer::RenderDevice;
use serde::Deserialize;

use super::{Aabb, MeshTag, NoAutoAabb, PROPAGATE, ShaderBuffer, ShaderRef, WorldAsset, shader_defs, uuid_handle};

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
            .add_systems(PostUpdate, (free_slots, start, write_slots).chain().before(PROPAGATE));
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
    /// Plays once and holds the last frame. Time wraps after an hour (`Time::<Virtual>::set_wrap_period`); begin anew before.
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

/// Shows a bake at the entity's transform. Change it at any time.
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

    /// Fades to a clip, from its start on.
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
    material: VatExtension,
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

/// The standard material with the textures of a bake.
pub type VatMaterial = ExtendedMaterial<StandardMaterial, VatExtension>;

/// What it reads more than the standard material.
#[derive(Asset, AsBindGroup, TypePath, Clone, Default)]
pub struct VatExtension {
    #[uniform(100)]
    uniform: VatUniform,
    #[texture(101, sample_type = "float", filterable = false, visibility(vertex))]
    position: Option<Handle<Image>>,
    #[texture(102, sample_type = "float", filterable = false, visibility(vertex))]
    normal: Option<Handle<Image>>,
    #[texture(103, sample_type = "float", filterable = false, visibility(vertex))]
    tangent: Option<Handle<Image>>,
    #[storage(104, read_only, visibility(vertex))]
    slots: Handle<ShaderBuffer>,
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

/// `VatSlot` of vat_playback.wgsl.
#[derive(ShaderType, Clone, Copy, Default)]
struct VatSlot {
    clip: Vec4,
    from_clip: Vec4,
    fade: Vec4,
}

/// A bake on the GPU. It stays there until the app ends.
struct Model {
    parts: Vec<(Handle<Mesh>, Handle<VatMaterial>)>,
    slots: Vec<VatSlot>,
    free: Vec<u32>,
    changed: bool,
}

#[derive(Resource, Default)]
struct Models {
    of_bake: HashMap<AssetId<Vat>, Model>,
    /// Of every entity that has one: what despawned with it can't be asked.
    slot_of: HashMap<Entity, Slot>,
}

/// The slot of an entity in its bake's storage buffer: its `MeshTag`.
#[derive(Component, Clone, Copy)]
struct Slot(AssetId<Vat>, u32);

/// Gives every new player whose bake is loaded a slot and one child a material.
fn start(
    mut commands: Commands,
    players: Query<(Entity, &VatPlayer), Without<Slot>>,
    (server, vats, gltfs): (Res<AssetServer>, Res<Assets<Vat>>, Res<Assets<Gltf>>),
    (worlds, standard): (Res<Assets<WorldAsset>>, Res<Assets<StandardMaterial>>),
    (mut materials, mut models): (ResMut<Assets<VatMaterial>>, ResMut<Models>),
) {
    let Models { of_bake, slot_of } = &mut *models;
    for (entity, player) in &players {
        let id = player.vat.id();
        let (true, Some(vat)) = (server.is_loaded_with_dependencies(id), vats.get(id)) else { continue };
        let model = of_bake.entry(id).or_insert_with(|| {
            let scene = gltfs.get(&vat.mesh).and_then(|gltf| worlds.get(gltf.scenes.first()?));
            let parts = scene.map(|scene| parts(&scene.world, vat, &standard, &mut materials)).unwrap_or_default();
            Model { parts, slots: Vec::new(), free: Vec::new(), changed: true }
        });
        let slot = model.free.pop().unwrap_or(model.slots.len() as u32);
        if slot as usize == model.slots.len() {
            model.slots.push(VatSlot::default());
        }
        slot_of.insert(entity, Slot(id, slot));
        commands.entity(entity).insert(Slot(id, slot)).with_children(|children| {
            for (mesh, material) in &model.parts {
                let shown = (Mesh3d(mesh.clone()), MeshMaterial3d(material.clone()), MeshTag(slot));
                // Without NoAutoAabb Bevy puts the box of the rest pose there, and culls what moves out of it.
                children.spawn((shown, vat.bounds, NoAutoAabb));
            }
        });
    }
}

/// The meshes of the GLB's scene, each with its own material, extended. Their transforms are the identity.
fn parts(
    scene: &World,
    vat: &Vat,
    standard: &Assets<StandardMaterial>,
    materials: &mut Assets<VatMaterial>,
) -> Vec<(Handle<Mesh>, Handle<VatMaterial>)> {
    let mut extended = HashMap::new();
    // Absent where the scene has neither: then there is nothing to show.
    let Some(mut meshes) = scene.try_query::<(&Mesh3d, Option<&MeshMaterial3d<StandardMaterial>>)>() else { return Vec::new() };
    let shown = meshes.iter(scene).map(|(mesh, material)| {
        let id = material.map(|material| material.0.id());
        let material = extended.entry(id).or_insert_with(|| {
            let base = id.and_then(|id| standard.get(id)).cloned().unwrap_or_default();
            materials.add(ExtendedMaterial { base, extension: vat.material.clone() })
        });
        (mesh.0.clone(), material.clone())
    });
    shown.collect()
}

/// Writes what players play where they changed; once a frame and bake.
#[allow(unused_mut)] // `get_mut` gives a guard from 0.19 on
fn write_slots(
    players: Query<(&VatPlayer, &Slot), Or<(Changed<VatPlayer>, Added<Slot>)>>,
    vats: Res<Assets<Vat>>,
    mut models: ResMut<Models>,
    mut materials: ResMut<Assets<VatMaterial>>,
    mut buffers: ResMut<Assets<ShaderBuffer>>,
) {
    for (player, Slot(id, slot)) in &players {
        let (Some(vat), Some(model)) = (vats.get(*id), models.of_bake.get_mut(id)) else { continue };
        let [clip, from] = [player.clip, player.from].map(|clip| (clip, vat.clips.get(clip.index).or(vat.clips.first())));
        let stepped = |info: Option<&VatClipInfo>| info.is_some_and(|info| info.stepped) as u32 as f32;
        model.slots[*slot as usize] = VatSlot {
            clip: clip.0.vector(clip.1),
            from_clip: from.0.vector(from.1),
            fade: player.fade.extend(stepped(clip.1)).extend(stepped(from.1)),
        };
        model.changed = true;
    }
    for model in models.of_bake.values_mut().filter(|model| model.changed && !model.slots.is_empty()) {
        model.changed = false;
        let room = model.slots.len().next_power_of_two().max(64);
        let mut data = model.slots.clone();
        data.resize(room, VatSlot::default());
        // The same size is written into the same buffer; more room is a new one, which the materials then bind.
        let current = model.parts.first().and_then(|(_, material)| materials.get(material)).map(|material| &material.extension);
        if let Some(held) = current.filter(|held| held.uniform.slots as usize == room)
            && let Some(mut buffer) = buffers.get_mut(&held.slots)
        {
            buffer.set_data(data);
            continue;
        }
        let buffer = buffers.add(ShaderBuffer::from(data));
        for (_, material) in &model.parts {
            if let Some(mut material) = materials.get_mut(material) {
                material.extension.slots = buffer.clone();
                material.extension.uniform.slots = room as u32;
            }
        }
    }
}

/// A despawned player's slot is given to the next one.
fn free_slots(mut removed: RemovedComponents<Slot>, mut models: ResMut<Models>) {
    for entity in removed.read() {
        if let Some(Slot(id, slot)) = models.slot_of.remove(&entity)
            && let Some(model) = models.of_bake.get_mut(&id)
        {
            model.free.push(slot);
        }
    }
}
