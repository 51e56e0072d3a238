//! Vertex animation textures of vatbake for Bevy 0.16: the module to declare, with what vat_plugin.rs takes from Bevy and is not the
//! same in each of its versions. Written by vatbake; the same for every bake. It needs the crates `serde` (with `derive`) and
//! `serde_json`.
#![allow(dead_code)] // an app need not use everything

use std::error::Error;

use bevy::asset::{AssetPath, LoadContext, weak_handle as uuid_handle};
use bevy::gltf::Gltf;
use bevy::prelude::Scene as WorldAsset;
use bevy::prelude::*;
use bevy::render::mesh::MeshTag;
use bevy::render::primitives::Aabb;
use bevy::render::render_resource::{ShaderDefVal, ShaderRef};
use bevy::render::storage::ShaderStorageBuffer as ShaderBuffer;
use bevy::transform::TransformSystem;

#[path = "vat_plugin.rs"]
mod vat_plugin;
pub use vat_plugin::*;

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

/// A file as its `.meta` file says.
async fn load_image(context: &mut LoadContext<'_>, path: AssetPath<'static>) -> Result<Image, Failure> {
    Ok(context.loader().immediate().load::<Image>(path).await?.take())
}

fn load_mesh(context: &mut LoadContext<'_>, path: AssetPath<'static>) -> Handle<Gltf> {
    context.load(path)
}
