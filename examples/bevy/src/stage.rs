//! An app without a window: a camera that renders to an image, a light with shadows, a floor that can be hidden, and the model
//! twice, once as Bevy skins it and once as the kit plays it. Time stands still unless it is moved.

use std::path::Path;
use std::time::{Duration, Instant};

use bevy::app::PluginsState;
use bevy::asset::LoadState;
use bevy::core_pipeline::core_3d::Opaque3d;
use bevy::core_pipeline::deferred::Opaque3dDeferred;
use bevy::core_pipeline::prepass::{DeferredPrepass, DepthPrepass, MotionVectorPrepass, NormalPrepass};
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::gltf::Gltf;
use bevy::pbr::DefaultOpaqueRendererMethod;
use bevy::prelude::*;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_phase::{BinnedPhaseItem, ViewBinnedRenderPhases};
use bevy::render::render_resource::{CachedPipelineState, PipelineCache, WgpuFeatures};
use bevy::render::renderer::RenderAdapterInfo;
use bevy::render::settings::WgpuSettings;
use bevy::render::view::screenshot::Screenshot;
use bevy::render::{RenderApp, RenderPlugin};
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;

use crate::picture::{BACKGROUND, Picture};
use crate::vat::{Vat, VatClip, VatPlayer, VatPlugin};
use crate::{Aabb, SceneRoot, Seen, camera, shadowed, target_image};

/// Side of the picture in texels.
const SIDE: u32 = 512;
/// Until files are loaded, pipelines built and the last change is seen.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Resource, Default)]
struct Captured(Option<Picture>);

/// See the module.
pub struct Stage {
    app: App,
    target: Handle<Image>,
    vat: Handle<Vat>,
    skinned: Entity,
    floor: Entity,
    passes: Passes,
    animations: Vec<Handle<AnimationClip>>,
}

/// How the model is drawn.
#[derive(Clone, Copy, PartialEq)]
pub enum Passes {
    /// In one pass, and in that of shadows.
    Main,
    /// After a prepass of depth, normals and motion vectors.
    Prepass,
    /// Deferred.
    Deferred,
}

/// What the app is started with.
pub struct Settings<'a> {
    pub assets: &'a Path,
    pub sidecar: &'a str,
    pub source: &'a str,
    /// As on a GPU that can't sample 16-bit unorm textures.
    pub without_unorm16: bool,
    pub passes: Passes,
}

impl Stage {
    /// Starts the app and waits until everything is loaded. `bounds` is what the camera sees.
    pub fn new(settings: &Settings<'_>, bounds: [Vec3; 2]) -> Result<Self, String> {
        let mut wgpu = WgpuSettings::default();
        if settings.without_unorm16 {
            wgpu.disabled_features = Some(WgpuFeatures::TEXTURE_FORMAT_16BIT_NORM);
        }
        let mut app = App::new();
        let assets = AssetPlugin { file_path: settings.assets.to_string_lossy().into(), ..default() };
        let render = RenderPlugin { render_creation: wgpu.into(), synchronous_pipeline_compilation: true, ..default() };
        let window = WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() };
        let plugins = DefaultPlugins.set(assets).set(render).set(window).disable::<PipelinedRenderingPlugin>();
        app.add_plugins((plugins, VatPlugin)).init_resource::<Captured>();
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
        if settings.passes == Passes::Deferred {
            app.insert_resource(DefaultOpaqueRendererMethod::deferred());
        }
        while app.plugins_state() == PluginsState::Adding {
            bevy::tasks::tick_global_task_pools_on_main_thread();
        }
        app.finish();
        app.cleanup();

        let world = app.world_mut();
        let server = world.resource::<AssetServer>().clone();
        let vat: Handle<Vat> = server.load(settings.sidecar.to_string());
        let source: Handle<Gltf> = server.load(settings.source.to_string());
        let begun = Instant::now();
        while !(server.is_loaded_with_dependencies(&vat) && server.is_loaded_with_dependencies(&source)) {
            for state in [server.load_state(&vat), server.load_state(&source)] {
                if let LoadState::Failed(error) = state {
                    return Err(error.to_string());
                }
            }
            if begun.elapsed() > PATIENCE {
                return Err("the files do not load".into());
            }
            app.update();
        }
        let world = app.world_mut();
        let gltf = world.resource::<Assets<Gltf>>().get(&source).ok_or("the source is gone")?;
        let (scene, animations) = (gltf.scenes.first().cloned().ok_or("the source has no scene")?, gltf.animations.clone());
        let skinned = world.spawn((SceneRoot(scene), Visibility::Hidden)).id();

        let [low, high] = bounds;
        let (middle, reach) = (0.5 * (low + high), 0.5 * (high - low).length());
        let target = world.resource_mut::<Assets<Image>>().add(target_image(SIDE));
        let eye = Transform::from_translation(middle + reach * Vec3::new(1.2, 0.6, 2.2)).looking_at(middle, Vec3::Y);
        let [r, g, b] = BACKGROUND;
        let clear = ClearColorConfig::Custom(Color::srgb_u8(r, g, b));
        let view = (Camera3d::default(), camera(clear, target.clone()), Tonemapping::None, Msaa::Off, eye);
        let mut camera = world.spawn(view);
        match settings.passes {
            Passes::Main => {}
            Passes::Prepass => _ = camera.insert((DepthPrepass, NormalPrepass, MotionVectorPrepass)),
            Passes::Deferred => _ = camera.insert((DepthPrepass, MotionVectorPrepass, DeferredPrepass)),
        }
        let sun = DirectionalLight { illuminance: 4000.0, ..default() };
        world.spawn((shadowed(sun), Transform::from_xyz(1.0, 2.0, 0.5).looking_at(Vec3::ZERO, Vec3::Y)));
        let plane = world.resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(6.0 * reach, 6.0 * reach));
        let grey = world.resource_mut::<Assets<StandardMaterial>>().add(Color::srgb(0.6, 0.6, 0.6));
        let at = Transform::from_xyz(middle.x, low.y, middle.z);
        let floor = world.spawn((Mesh3d(plane), MeshMaterial3d(grey), at, Visibility::Hidden)).id();
        Ok(Self { app, target, vat, skinned, floor, passes: settings.passes, animations })
    }

    pub fn adapter(&self) -> String {
        self.app.world().get_resource::<RenderAdapterInfo>().map_or("no adapter".into(), |info| info.name.clone())
    }

    pub fn now(&self) -> f32 {
        self.app.world().resource::<Time>().elapsed_secs_wrapped()
    }

    /// Lets time pass in one frame.
    pub fn step(&mut self, seconds: f32) {
        self.app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(seconds)));
        self.app.update();
        self.app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    }

    /// A player of the kit at a place.
    pub fn player(&mut self, clip: VatClip, at: Vec3) -> Entity {
        let mut player = VatPlayer::new(self.vat.clone());
        player.clip = clip;
        self.app.world_mut().spawn((player, Transform::from_translation(at))).id()
    }

    pub fn set_clip(&mut self, player: Entity, clip: VatClip) {
        self.change(player, |player| player.clip = clip);
    }

    pub fn change(&mut self, player: Entity, change: impl FnOnce(&mut VatPlayer)) {
        if let Some(mut player) = self.app.world_mut().get_mut::<VatPlayer>(player) {
            change(&mut player);
        }
    }

    /// Takes the player off its entity, which stays.
    pub fn take_player(&mut self, entity: Entity) -> Option<VatPlayer> {
        self.app.world_mut().entity_mut(entity).take::<VatPlayer>()
    }

    pub fn give_player(&mut self, entity: Entity, player: VatPlayer) {
        self.app.world_mut().entity_mut(entity).insert(player);
    }

    /// A copy of an entity, as an app makes it.
    pub fn copy(&mut self, entity: Entity) -> Entity {
        self.app.world_mut().entity_mut(entity).clone_and_spawn()
    }

    /// Says that the bake's files were changed, as Bevy does when it has read them anew.
    #[allow(unused_mut)] // a guard from 0.19 on
    pub fn touch_bake(&mut self) {
        let vat = self.vat.id();
        // The guard of 0.19 tells only of what was changed.
        if let Some(mut vat) = self.app.world_mut().resource_mut::<Assets<Vat>>().get_mut(vat) {
            vat.clips.shrink_to_fit();
        }
    }

    /// After how many seconds Bevy's clock goes back to 0: an hour, unless it is set.
    pub fn set_wrap(&mut self, seconds: u64) {
        self.app.world_mut().resource_mut::<Time<Virtual>>().set_wrap_period(Duration::from_secs(seconds));
    }

    pub fn despawn(&mut self, entity: Entity) {
        self.app.world_mut().despawn(entity);
    }

    pub fn show(&mut self, entity: Entity, shown: bool) {
        let visibility = if shown { Visibility::Visible } else { Visibility::Hidden };
        self.app.world_mut().entity_mut(entity).insert(visibility);
    }

    pub fn show_floor(&mut self, shown: bool) {
        self.show(self.floor, shown);
    }

    /// Shows or hides the model as Bevy animates it.
    pub fn show_skinned(&mut self, shown: bool) {
        self.show(self.skinned, shown);
    }

    /// Poses the model as Bevy animates it: an animation of the file, in its own seconds.
    pub fn pose_skinned(&mut self, animation: usize, seconds: f32) -> Result<(), String> {
        let clip = self.animations.get(animation).cloned().ok_or("the source has no such animation")?;
        let world = self.app.world_mut();
        let (graph, node) = AnimationGraph::from_clip(clip);
        let graph = world.resource_mut::<Assets<AnimationGraph>>().add(graph);
        let mut players = world.query::<(Entity, &mut AnimationPlayer)>();
        let mut found = Vec::new();
        for (entity, mut player) in players.iter_mut(world) {
            player.stop_all();
            player.play(node).seek_to(seconds).pause();
            found.push(entity);
        }
        for entity in &found {
            world.entity_mut(*entity).insert(AnimationGraphHandle(graph.clone()));
        }
        if found.is_empty() { Err("Bevy found nothing to animate in the source".into()) } else { Ok(()) }
    }

    /// The boxes by which the meshes of a player are culled.
    pub fn boxes(&mut self, player: Entity) -> Vec<Aabb> {
        let world = self.app.world();
        let children = world.get::<Children>(player).into_iter().flatten();
        children.filter_map(|child| world.get::<Aabb>(*child)).copied().collect()
    }

    /// The box that Bevy itself gives a mesh of the player's.
    pub fn box_of_bevy(&mut self, player: Entity) -> Option<Aabb> {
        let world = self.app.world_mut();
        let child = *world.get::<Children>(player)?.first()?;
        let mesh = world.get::<Mesh3d>(child)?.clone();
        let material = world.resource_mut::<Assets<StandardMaterial>>().add(StandardMaterial::default());
        let twin = world.spawn((mesh, MeshMaterial3d(material), Transform::default(), Visibility::Hidden)).id();
        self.run(3);
        let found = self.app.world().get::<Aabb>(twin).copied();
        self.despawn(twin);
        found
    }

    pub fn run(&mut self, frames: usize) {
        for _ in 0..frames {
            self.app.update();
        }
    }

    /// Runs until changes are seen, then takes a picture.
    pub fn capture(&mut self) -> Result<Picture, String> {
        self.run(4);
        self.capture_now()
    }

    /// A picture of the next frame.
    pub fn capture_now(&mut self) -> Result<Picture, String> {
        self.app.world_mut().resource_mut::<Captured>().0 = None;
        let keep = |captured: Seen<'_, '_>, mut kept: ResMut<Captured>| {
            let image: &Image = captured.event();
            let bytes = image.data.as_deref().unwrap_or_default();
            let texels = bytes.as_chunks::<4>().0.iter().map(|[r, g, b, _]| [*r, *g, *b]).collect();
            kept.0 = Some(Picture { width: image.width() as usize, texels });
        };
        self.app.world_mut().spawn(Screenshot::image(self.target.clone())).observe(keep);
        let begun = Instant::now();
        loop {
            self.app.update();
            if let Some(picture) = self.app.world_mut().resource_mut::<Captured>().0.take() {
                return Ok(picture);
            }
            if begun.elapsed() > PATIENCE {
                return Err("no picture comes back".into());
            }
        }
    }

    /// Draws of the opaque pass: those that can show many instances, and those of things that Bevy draws one by one.
    pub fn draws(&self) -> [usize; 2] {
        fn of<P: BinnedPhaseItem>(world: &World) -> [usize; 2] {
            let Some(phases) = world.get_resource::<ViewBinnedRenderPhases<P>>() else { return [0; 2] };
            phases.values().fold([0; 2], |[together, alone], phase| {
                let drawn = phase.multidrawable_meshes.len() + phase.batchable_meshes.len();
                [together + drawn, alone + phase.unbatchable_meshes.len()]
            })
        }
        let world = self.app.sub_app(RenderApp).world();
        match self.passes {
            Passes::Deferred => of::<Opaque3dDeferred>(world),
            Passes::Main | Passes::Prepass => of::<Opaque3d>(world),
        }
    }

    /// How many pipelines were built, and what Bevy said of those that were not.
    pub fn pipelines(&self) -> (usize, Vec<String>) {
        let cache = self.app.sub_app(RenderApp).world().resource::<PipelineCache>();
        let failed = cache.pipelines().filter_map(|pipeline| match &pipeline.state {
            CachedPipelineState::Err(error) => Some(error.to_string()),
            _ => None,
        });
        let failed: Vec<_> = failed.collect();
        (cache.pipelines().count() - failed.len(), failed)
    }
}
