//! The kit for Godot 4: shader, material, a scene with a crowd, and import settings for textures and mesh.
//!
//! Godot imports what it finds, so the settings lie beside the files: it reads `.import` before the first import and fills in what is
//! not there. Resources name each other by file name alone, which Godot takes as relative to the resource's own folder, so the kit
//! may lie anywhere in a project.

use super::fill::{fill, line};
use super::{Kit, KitFile};
use crate::output::sidecar::{Bounds, Clip, Encoding, Loop, Role, Sidecar, Texture};
use crate::playback::Language;

/// Instances along each side of the crowd in the scene.
const SIDE: u16 = 10;
/// Frames up to which a half float counts without a gap.
const MOST_HALF: u32 = 2048;

/// Its text files.
pub(super) fn files(kit: &Kit<'_>) -> Vec<KitFile> {
    let Kit { name, sidecar } = *kit;
    let file = |name: String, text: String| KitFile { name, text };
    let mut files = vec![
        file("vat.gdshaderinc".into(), Language::Godot.source().into()),
        file("vat_crowd.gd".into(), include_str!("godot/crowd.gd").into()),
        file(format!("{name}_vat.gdshader"), shader(sidecar)),
        file(format!("{name}_vat.tres"), material(name, sidecar)),
        file(format!("{name}_vat.tscn"), scene(name, sidecar)),
        file(format!("{}.import", sidecar.mesh.file), mesh_import(sidecar)),
    ];
    let settings = |texture: &Texture| file(format!("{}.import", texture.file), include_str!("godot/texture.import").into());
    files.extend(sidecar.textures.iter().filter(|t| t.encoding != Encoding::AlphaOctahedral).map(settings));
    files.push(file(format!("{name}_README.md"), readme(name, sidecar)));
    files
}

/// What the kit cannot hold, a sentence each.
pub(super) fn check(kit: &Kit<'_>) -> Vec<String> {
    let sidecar = kit.sidecar;
    let mut found = Vec::new();
    if sidecar.frame_count > MOST_HALF + 1 {
        found.push(format!(
            "the bake has {} frames; Godot's Compatibility renderer keeps instance data as half floats, which count to {MOST_HALF}, so \
             clips that begin later play in Forward+ and Mobile only",
            sidecar.frame_count
        ));
    }
    let stepped = sidecar.clips.iter().filter(|c| c.stepped).count();
    if stepped > 0 {
        found.push(format!("{stepped} clip(s) jump between frames (stepped), and the crowd's shader blends across the jumps"));
    }
    found
}

/// The vertex input that a UV set of the GLB becomes: two sets of their own, the next six in pairs.
fn lookup(texcoord: u32) -> Option<&'static str> {
    ["UV", "UV2", "CUSTOM0.xy", "CUSTOM0.zw", "CUSTOM1.xy", "CUSTOM1.zw", "CUSTOM2.xy", "CUSTOM2.zw"].get(texcoord as usize).copied()
}

fn texture(sidecar: &Sidecar, role: Role) -> Option<&Texture> {
    sidecar.textures.iter().find(|t| t.role == role)
}

fn shader(sidecar: &Sidecar) -> String {
    let lookup = lookup(sidecar.mesh.lookup.texcoord).unwrap_or("UV2");
    let tangents = texture(sidecar, Role::Tangent);
    let tangent_code = tangents.map_or_else(String::new, |texture| {
        let encoding = if texture.encoding == Encoding::UnitUnorm { "VAT_UNIT_UNORM" } else { "VAT_UNIT_FLOAT" };
        fill(include_str!("godot/tangent.gdshaderinc"), &[("tangent_encoding", encoding)])
    });
    let mut normal_code = String::new();
    if tangents.is_some() {
        // Godot has made BINORMAL of the mesh's own vectors before this; its side is TANGENT's w
        normal_code += "\tfloat side = dot(cross(NORMAL, TANGENT), BINORMAL) < 0.0 ? -1.0 : 1.0;\n";
    }
    if texture(sidecar, Role::Normal).is_some() {
        normal_code += "\tNORMAL = pose.normal;\n";
    }
    if tangents.is_some() {
        normal_code += &format!("\tTANGENT = vat_tangent(vat_bake(), {lookup}, INSTANCE_CUSTOM, now);\n");
        normal_code += "\tBINORMAL = cross(NORMAL, TANGENT) * side;\n";
    }
    let normal_map =
        if tangents.is_some() { "\tNORMAL_MAP = texture(normal_texture, UV).rgb;\n\tNORMAL_MAP_DEPTH = normal_scale;\n" } else { "" };
    let values = [("lookup", lookup), ("tangent_code", &tangent_code), ("normal_code", &normal_code), ("normal_map", normal_map)];
    fill(include_str!("godot/vat.gdshader"), &values)
}

/// A string of Godot's text formats.
/// A string of Godot's text files, which no control character but these can be part of.
fn quote(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() && !"\n\t".contains(c) { ' ' } else { c }).collect();
    format!("\"{}\"", clean.replace('\\', "\\\\").replace('"', "\\\""))
}

fn vector(v: [f32; 3]) -> String {
    format!("Vector3({}, {}, {})", v[0], v[1], v[2])
}

fn material(name: &str, sidecar: &Sidecar) -> String {
    let mut head = format!("[ext_resource type=\"Shader\" path={} id=\"shader\"]\n", quote(&format!("{name}_vat.gdshader")));
    let mut body = String::from("[resource]\nshader = ExtResource(\"shader\")\n");
    let mut loads = 2;
    let mut parameter = |name: &str, value: String| body += &format!("shader_parameter/{name} = {value}\n");
    for (role, uniform, id) in [
        (Role::Position, "vat_positions", "positions"),
        (Role::Normal, "vat_normals", "normals"),
        (Role::Tangent, "vat_tangents", "tangents"),
    ] {
        if let Some(texture) = texture(sidecar, role).filter(|t| t.encoding != Encoding::AlphaOctahedral) {
            head += &format!("[ext_resource type=\"Texture2D\" path={} id=\"{id}\"]\n", quote(&texture.file));
            parameter(uniform, format!("ExtResource(\"{id}\")"));
            loads += 1;
        }
    }
    let position = texture(sidecar, Role::Position);
    if let Some((scale, bias)) = position.and_then(|t| Some((t.scale?, t.bias?))) {
        parameter("vat_scale", vector(scale));
        parameter("vat_bias", vector(bias));
    }
    parameter("vat_width", sidecar.layout.width.to_string());
    parameter("vat_frame_count", sidecar.frame_count.to_string());
    parameter("vat_lanes", sidecar.mesh.lookup.lanes.to_string());
    parameter("vat_groups", sidecar.mesh.lookup.groups.to_string());
    // the constants of vat.gdshaderinc
    let position_encoding = match position.map(|t| t.encoding) {
        Some(Encoding::OffsetUnorm) => 0,
        Some(Encoding::AbsoluteUnorm) => 1,
        Some(Encoding::AbsoluteFloat) => 3,
        _ => 2,
    };
    let normal_encoding = match texture(sidecar, Role::Normal).map(|t| t.encoding) {
        Some(Encoding::UnitUnorm) => 0,
        Some(Encoding::AlphaOctahedral) => 2,
        _ => 1,
    };
    parameter("vat_position_encoding", position_encoding.to_string());
    parameter("vat_normal_encoding", normal_encoding.to_string());
    format!("[gd_resource type=\"ShaderMaterial\" load_steps={loads} format=3]\n\n{head}\n{body}")
}

/// What an instance carries of a clip: first frame, intervals (negative plays once), frames a second.
fn clip_vector(clip: &Clip) -> [f32; 3] {
    let intervals = clip.frame_count.saturating_sub(1) as f32;
    [clip.first_frame as f32, if clip.looping == Loop::Once && intervals > 0.0 { -intervals } else { intervals }, clip.fps]
}

fn clip_name(clip: &Clip) -> &str {
    clip.name.as_deref().unwrap_or("unnamed")
}

/// Metres from instance to instance, so that none reaches into another.
fn spacing(bounds: &Bounds) -> f32 {
    let size = |axis: usize| bounds.max[axis] - bounds.min[axis];
    (size(0).max(size(2)) * 1.25).max(0.01)
}

/// Godot's AABB is a corner and a size; `reach` is how far the crowd goes to each side on x and z.
fn aabb(bounds: &Bounds, reach: f32) -> String {
    let grown = [reach, 0.0, reach];
    let numbers: [f32; 6] = std::array::from_fn(|i| {
        let axis = i % 3;
        let low = bounds.min[axis] - grown[axis];
        if i < 3 { low } else { bounds.max[axis] + grown[axis] - low }
    });
    format!("AABB({})", numbers.map(|v| v.to_string()).join(", "))
}

fn scene(name: &str, sidecar: &Sidecar) -> String {
    let spacing = spacing(&sidecar.bounds);
    let reach = spacing * f32::from(SIDE - 1) / 2.0;
    let names: Vec<String> = sidecar.clips.iter().map(|c| quote(clip_name(c))).collect();
    let clips: Vec<String> = sidecar.clips.iter().flat_map(clip_vector).map(|v| v.to_string()).collect();
    // what Godot takes out of node names
    let node: String = name.chars().map(|c| if ".:@/\"%".contains(c) { '_' } else { c }).collect();
    let values = [
        ("glb", quote(&sidecar.mesh.file)),
        ("material", quote(&format!("{name}_vat.tres"))),
        ("node", quote(&node)),
        ("custom_aabb", aabb(&sidecar.bounds, reach)),
        ("count", (u32::from(SIDE) * u32::from(SIDE)).to_string()),
        ("spacing", spacing.to_string()),
        ("names", names.join(", ")),
        ("clips", clips.join(", ")),
        ("bounds", aabb(&sidecar.bounds, 0.0)),
    ];
    fill(include_str!("godot/crowd.tscn"), &values)
}

fn mesh_import(sidecar: &Sidecar) -> String {
    // tangents are made where the bake has them for every frame; else they would not follow
    let tangents = if texture(sidecar, Role::Tangent).is_some() { "true" } else { "false" };
    fill(include_str!("godot/mesh.import"), &[("tangents", tangents)])
}

fn readme(name: &str, sidecar: &Sidecar) -> String {
    let in_line = |clip: &Clip| line(clip_name(clip));
    let clips: Vec<String> = sidecar.clips.iter().map(in_line).take(8).collect();
    let mut listed = clips.join(", ");
    if sidecar.clips.len() > clips.len() {
        listed += &format!(" and {} more", sidecar.clips.len() - clips.len());
    }
    let count = (u32::from(SIDE) * u32::from(SIDE)).to_string();
    let stepped: Vec<String> = sidecar.clips.iter().filter(|c| c.stepped).map(in_line).collect();
    let last = match stepped.as_slice() {
        [] => "The lookup UV names the vertex, so splitting, reordering or thinning the mesh is safe; changing UV sets is not.".into(),
        names => format!("These clips jump between frames and are blended all the same: {}.", names.join(", ")),
    };
    fill(include_str!("godot/readme.md"), &[("name", name), ("count", &count), ("clips", &listed), ("stepped", &last)])
}
