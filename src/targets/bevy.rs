//! The kit for Bevy.
//!
//! The plugin, its loader and its shaders are the same for every bake, and the same for several versions of Bevy but for one small
//! module each, which an app names: so the choice stays when a bake is written anew. Of a bake's own are the example, the README and one
//! `.meta` file a texture, without which Bevy takes 8-bit texels for colours and filters them.

use std::collections::BTreeSet;

use super::fill::{fill, line};
use super::{Kit, KitFile};
use crate::output::sidecar::{Clip, Pixel};
use crate::playback::Language;

/// Where the part of the playback code begins that each engine writes for itself.
const FETCH: &str = "// ---- The fetch";

/// The module for each version of Bevy.
const VERSIONS: [(&str, &str); 4] = [
    ("vat_0_19.rs", include_str!("bevy/vat_0_19.rs")),
    ("vat_0_18.rs", include_str!("bevy/vat_0_18.rs")),
    ("vat_0_17.rs", include_str!("bevy/vat_0_17.rs")),
    ("vat_0_16.rs", include_str!("bevy/vat_0_16.rs")),
];
const PLUGIN: &str = include_str!("bevy/vat_plugin.rs");
const LOADER: &str = include_str!("bevy/vat_loader.rs");
const MATERIAL: &str = include_str!("bevy/vat_material.wgsl");
const EXAMPLE: &str = include_str!("bevy/example.rs");
const README: &str = include_str!("bevy/README.md");
const META: &str = include_str!("bevy/texture.meta");

/// Its text files.
pub(super) fn files(kit: &Kit<'_>) -> Vec<KitFile> {
    let file = |name: String, text: String| KitFile { name, text };
    let shared = |name: &str, text: &str| file(name.into(), text.into());
    let mut files = vec![
        shared("vat_plugin.rs", PLUGIN),
        shared("vat_loader.rs", LOADER),
        shared("vat_material.wgsl", MATERIAL),
        shared("vat_playback.wgsl", &playback()),
        file(format!("{}_example.rs", kit.name), example(kit)),
        file(format!("{}_README.md", kit.name), readme(kit)),
    ];
    files.extend(VERSIONS.map(|(name, text)| shared(name, text)));
    // Octahedral normals lie in the position's file.
    let textures: BTreeSet<&str> = kit.sidecar.textures.iter().map(|t| t.file.as_str()).collect();
    files.extend(textures.into_iter().map(|texture| shared(&format!("{texture}.meta"), META)));
    files
}

/// The decode as a module that naga_oil imports, and what it fetches from.
fn playback() -> String {
    let source = Language::Wgsl.source();
    let decode = source.split_once(FETCH).map_or(source, |(decode, _)| decode);
    ["#define_import_path vatbake::playback\n\n", decode, include_str!("bevy/vat_fetch.wgsl")].concat()
}

fn example(kit: &Kit<'_>) -> String {
    // One and a half times the wider of its ground's sides.
    let bounds = &kit.sidecar.bounds;
    let side = (bounds.max[0] - bounds.min[0]).max(bounds.max[2] - bounds.min[2]);
    let spacing = if side > 0.0 { 1.5 * side } else { 1.0 };
    let values = [
        ("title", line(kit.name)),
        ("file", line(kit.name)),
        ("path", kit.name.escape_debug().to_string()),
        ("clips", clips(&kit.sidecar.clips)),
        ("clip_count", kit.sidecar.clips.len().max(1).to_string()),
        ("spacing", format!("{spacing:?}")),
    ];
    fill(EXAMPLE, &values)
}

fn readme(kit: &Kit<'_>) -> String {
    let pixel = kit.sidecar.textures.first().map(|t| t.pixel);
    let (features, format) = match pixel {
        Some(Pixel::Rgba16Float | Pixel::Rgba32Float) => (
            "`ktx2` and `zstd_rust` (or `zstd_c`; `zstd` in 0.16), which its default ones hold",
            "KTX2 textures need no optional feature of the GPU.",
        ),
        Some(Pixel::Rgba8Unorm) => ("`png`, which its default ones hold", "8-bit PNGs need no optional feature of the GPU."),
        _ => (
            "`png`, which its default ones hold",
            "16-bit PNGs stay 16 bits (`Rgba16Unorm`). A GPU without that format gets the same values as 32-bit floats, twice the memory; \
             Bevy alone would log an error and quit. For browsers bake KTX2.",
        ),
    };
    let values = [
        ("title", line(kit.name)),
        ("file", line(kit.name)),
        ("features", features.into()),
        ("format", format.into()),
        ("clips", clips(&kit.sidecar.clips)),
    ];
    fill(README, &values)
}

/// Their numbers and names, in one line.
fn clips(clips: &[Clip]) -> String {
    let named = clips.iter().enumerate().map(|(i, clip)| format!("{i} {}", line(clip.name.as_deref().unwrap_or("without a name"))));
    format!("Clips: {}", named.collect::<Vec<_>>().join(", "))
}
