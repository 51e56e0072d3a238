//! Vertex animation textures of vatbake for Bevy 0.16: the module to declare, with what vat_plugin.rs takes from Bevy and is not the
//! same in each of its versions. Written by vatbake; the same for every bake. It needs the crates `serde` (with `derive`) and
//! `serde_json`.
#![allow(dead_code)] // an app need not use everything

use std::error::Error;

use bevy::asset::{AssetEvents, AssetPath, LoadContext, weak_handle as uuid_handle};
use bevy::gltf::Gltf;
use bevy::image::ImageLoaderSettings;
use bevy::pbr::{NotShadowCaster, NotShadowReceiver};
use bevy::prelude::*;
use bevy::prelude::{EventReader as Events, Scene as WorldAsset};
use bevy::render::mesh::MeshTag;
use bevy::render::primitives::Aabb;
use bevy::render::render_resource::{ShaderDefVal, ShaderRef};
use bevy::render::view::RenderLayers;
use bevy::transform::TransformSystem;

#[path = "vat_plugin.rs"]
mod vat_plugin;
pub use vat_plugin::*;

const ASSET_EVENTS: AssetEvents = AssetEvents;
const PROPAGATE: TransformSystem = TransformSystem::TransformPropagate;

/// Bevy keeps the boxes that it finds.
#[derive(Component)]
struct NoAutoAabb;

type Failure = Box<dyn Error + Send + Sync>;

/// Materials are bound to group 2; later versions say so themselves.
fn shader_defs() -> Vec<ShaderDefVal> {
    vec![ShaderDefVal::UInt("MATERIAL_BIND_GROUP".into(), 2)]
}

/// The sidecar's path.
fn path_of<'a>(context: &'a LoadContext<'_>) -> &'a AssetPath<'static> {
    context.asset_path()
}

/// A file as its `.meta` file says; linear also in an app that reads no such files.
async fn load_image(context: &mut LoadContext<'_>, path: AssetPath<'static>) -> Result<Image, Failure> {
    let linear = |settings: &mut ImageLoaderSettings| settings.is_srgb = false;
    Ok(context.loader().with_settings(linear).immediate().load::<Image>(path).await?.take())
}

fn load_mesh(context: &mut LoadContext<'_>, path: AssetPath<'static>) -> Handle<Gltf> {
    context.load(path)
}
