//! Vertex animation textures of vatbake for Bevy 0.18: the module to declare, with what vat_plugin.rs takes from Bevy and is not the
//! same in each of its versions. Written by vatbake; the same for every bake. It needs the crates `serde` (with `derive`) and
//! `serde_json`.
#![allow(dead_code)] // an app need not use everything

use std::error::Error;

use bevy::asset::{AssetEventSystems, AssetPath, LoadContext, uuid_handle};
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::{NoAutoAabb, RenderLayers};
use bevy::gltf::{Gltf, GltfLoaderSettings};
use bevy::image::ImageLoaderSettings;
use bevy::light::{NotShadowCaster, NotShadowReceiver};
use bevy::mesh::MeshTag;
use bevy::prelude::*;
use bevy::prelude::{MessageReader as Events, Scene as WorldAsset};
use bevy::shader::{ShaderDefVal, ShaderRef};

#[path = "vat_plugin.rs"]
mod vat_plugin;
pub use vat_plugin::*;

const ASSET_EVENTS: AssetEventSystems = AssetEventSystems;
const PROPAGATE: TransformSystems = TransformSystems::Propagate;

type Failure = Box<dyn Error + Send + Sync>;

/// Bevy defines all that the shaders need.
fn shader_defs() -> Vec<ShaderDefVal> {
    Vec::new()
}

/// The sidecar's path.
fn path_of<'a>(context: &'a LoadContext<'_>) -> &'a AssetPath<'static> {
    context.path()
}

/// A file as its `.meta` file says; linear also in an app that reads no such files.
async fn load_image(context: &mut LoadContext<'_>, path: AssetPath<'static>) -> Result<Image, Failure> {
    let linear = |settings: &mut ImageLoaderSettings| settings.is_srgb = false;
    Ok(context.loader().with_settings(linear).immediate().load::<Image>(path).await?.take())
}

/// The mesh must stay in the axes of the texture, whatever the app does with other files.
fn load_mesh(context: &mut LoadContext<'_>, path: AssetPath<'static>) -> Handle<Gltf> {
    let settings = |settings: &mut GltfLoaderSettings| settings.convert_coordinates = Some(default());
    context.loader().with_settings(settings).load(path)
}
