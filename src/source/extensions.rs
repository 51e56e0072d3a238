//! Extensions: which the reader understands, which it carries, which it leaves aside, and which it must refuse.

use super::compression;
use super::document::Document;
use crate::Fault;
use crate::warning::{Code, Warnings};

/// Draco: meshes in a format of their own.
pub(super) const DRACO: &str = "KHR_draco_mesh_compression";

/// Read here.
const READ: [&str; 4] = [DRACO, "KHR_mesh_quantization", "EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Beginnings of names that concern materials, textures, lights and metadata: carried or without effect on vertices.
const APPEARANCE: [&str; 13] = [
    "KHR_materials_",
    "EXT_materials_",
    "ADOBE_materials_",
    "NV_materials_",
    "MSFT_packing_",
    "KHR_texture_",
    "EXT_texture_",
    "MSFT_texture_",
    "KHR_lights_",
    "EXT_lights_",
    "KHR_xmp",
    "KHR_techniques_webgl",
    "KHR_environment",
];

/// Required or not, they move no vertex of the tree that is baked; they are left aside with a note.
const ASIDE: [&str; 22] = [
    "EXT_mesh_gpu_instancing",
    "KHR_node_visibility",
    "KHR_node_hoverability",
    "KHR_node_selectability",
    "KHR_animation_pointer",
    "KHR_interactivity",
    "KHR_audio_emitter",
    "KHR_audio",
    "KHR_physics_rigid_bodies",
    "KHR_implicit_shapes",
    "MSFT_lod",
    "MSFT_audio_emitter",
    "MSFT_physics",
    "VRM",
    "VRMC_vrm",
    "VRMC_springBone",
    "VRMC_node_constraint",
    "EXT_mesh_features",
    "EXT_instance_features",
    "EXT_structural_metadata",
    "EXT_mesh_manifold",
    "CESIUM_primitive_outline",
];

/// Refuses required extensions that change geometry in ways unknown here, and notes what is left aside.
pub(super) fn check(doc: &Document<'_>, warnings: &mut Warnings) -> Result<(), Fault> {
    for (i, name) in doc.root.extensions_required.iter().enumerate() {
        let pointer = || format!("/extensionsRequired/{i}");
        if compression::EXTENSIONS.contains(&name.as_str()) && !cfg!(feature = "meshopt") {
            let problem = format!("the file requires {name}, and this program was built without the feature `meshopt`");
            return Err(Fault::new(pointer(), problem, compression::REMEDY));
        }
        if !READ.contains(&name.as_str()) && !concerns_appearance(name) && !ASIDE.contains(&name.as_str()) {
            let problem = format!("the file requires the extension {name}, which is not supported");
            let remedy = "export the model without it, or turn it into core glTF with the tool that wrote it";
            return Err(Fault::new(pointer(), problem, remedy));
        }
    }
    let mut aside: Vec<&str> = doc.root.extensions_used.iter().chain(&doc.root.extensions_required).map(String::as_str).collect();
    aside.retain(|name| !READ.contains(name) && !concerns_appearance(name));
    aside.sort_unstable();
    aside.dedup();
    warnings.add(Code::ExtensionIgnored, aside.len() as u64, || {
        format!("left aside, as extensions that the bake does not need: {}", aside.join(", "))
    });
    Ok(())
}

fn concerns_appearance(name: &str) -> bool {
    APPEARANCE.iter().any(|beginning| name.starts_with(beginning))
}
