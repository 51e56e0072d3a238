//! The kit for Unreal Engine 5: a script for its editor that imports mesh and textures, makes the materials and a crowd.
//!
//! Unreal keeps assets in a binary form of its own, so the kit is a program that makes them. `import_NAME.py` is a few lines about one
//! bake; what it calls is the same for every bake and reads the sidecar.

use super::fill::{fill, line};
use super::{Kit, KitFile};
use crate::output::sidecar::Clip;
use crate::playback::Language;

/// Its text files.
pub(super) fn files(kit: &Kit<'_>) -> Vec<KitFile> {
    let Kit { name, sidecar } = *kit;
    let file = |name: String, text: String| KitFile { name, text };
    // a string of Python is one of JSON but for characters that JSON need not escape and safe names do not hold
    let quoted = serde_json::Value::from(name).to_string();
    let asset = asset_name(name);
    let script = [("name", quoted.as_str()), ("asset", &serde_json::Value::from(asset).to_string()), ("doc", &plain(name))];
    vec![
        file(format!("import_{name}.py"), fill(include_str!("unreal/import.py"), &script)),
        file("vat_unreal.py".into(), include_str!("unreal/vat_unreal.py").into()),
        file("vat_unreal.hlsl".into(), custom_hlsl()),
        file(format!("{name}_README.md"), readme(kit, &sidecar.clips)),
    ]
}

/// What the kit cannot hold, a sentence each.
pub(super) fn check(kit: &Kit<'_>) -> Vec<String> {
    let stepped = kit.sidecar.clips.iter().filter(|c| c.stepped).count();
    if stepped == 0 {
        return Vec::new();
    }
    vec![format!("{stepped} clip(s) jump between frames (stepped), and the material blends across the jumps")]
}

/// A folder of assets, by whose name Unreal allows letters, digits and `_`. Two names that differ in others stay two.
fn asset_name(name: &str) -> String {
    let asset: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    if asset == name { asset } else { format!("{asset}_{:08x}", crc32fast::hash(name.as_bytes())) }
}

/// A name inside a docstring: no quote or backslash that would end it.
fn plain(name: &str) -> String {
    name.replace(['\\', '"'], "_")
}

/// The decode as the code of a Custom node takes it. Such code is the body of a function, which can hold structs with functions but
/// no functions and no constants of its own; textures are its parameters, so they are handed down.
fn custom_hlsl() -> String {
    let source = Language::Hlsl.source();
    let mut constants = String::new();
    let mut structs = String::new();
    let mut functions = String::new();
    // blocks are parted by empty lines; comments above a block belong to it
    for block in source.split("\n\n") {
        let body = || block.lines().filter(|line| !line.starts_with("//"));
        let Some(first) = body().next() else { continue };
        if first.starts_with("static const uint ") {
            let values = body().filter_map(|line| line.strip_prefix("static const uint ")?.strip_suffix(';')?.split_once(" = "));
            values.for_each(|(name, value)| constants += &format!("#define {name} {value}u\n"));
        } else if first.starts_with("struct ") {
            structs += &format!("{block}\n\n");
        } else if !first.starts_with('#') {
            let textures = "Texture2D positions, Texture2D normals, ";
            let handed = block
                .replace("vat_frame(VatBake", &format!("vat_frame({textures}VatBake"))
                .replace("vat_pose(VatBake", &format!("vat_pose({textures}VatBake"))
                .replace("vat_frame(bake", "vat_frame(positions, normals, bake");
            for line in handed.lines() {
                functions += &if line.is_empty() { "\n".into() } else { format!("    {line}\n") };
            }
            functions.push('\n');
        }
    }
    format!(
        "{}\n{constants}#define VAT_FETCH_POSITION(at) positions.Load(int3(at, 0))\n#define VAT_FETCH_NORMAL(at) normals.Load(int3(at, 0))\n\n\
         {structs}struct VatPlayer {{\n{}\n}};\n",
        include_str!("unreal/head.hlsl"),
        functions.trim_end()
    )
}

fn readme(kit: &Kit<'_>, clips: &[Clip]) -> String {
    let name = |clip: &Clip| clip.name.as_deref().map_or_else(|| "unnamed".into(), line);
    let mut listed = clips.iter().take(8).map(name).collect::<Vec<_>>().join(", ");
    if clips.len() > 8 {
        listed += &format!(" and {} more", clips.len() - 8);
    }
    let stepped: Vec<String> = clips.iter().filter(|c| c.stepped).map(name).collect();
    let last = match stepped.as_slice() {
        [] => String::new(),
        names => format!("These clips jump between frames and are blended all the same: {}.", names.join(", ")),
    };
    let text = fill(include_str!("unreal/readme.md"), &[("name", kit.name), ("clips", &listed), ("stepped", &last)]);
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
