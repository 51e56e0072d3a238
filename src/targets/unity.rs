//! The kit for Unity with the Universal Render Pipeline.
//!
//! Unity has no importer for GLB, and its texture import would compress, halve and colour-correct the texels. So the kit brings an
//! importer of its own: `NAME.vatbake` is a file of one line, the sidecar's name, and becomes a prefab with mesh, textures, materials and
//! clips. Its extension is its own, since extensions of two parts (`vat.json`) are documented from Unity 6 on only.
//!
//! No `.meta` files: nothing refers to a file by its GUID, and no file has import settings that matter.

use super::fill::{fill, line};
use super::{Kit, KitFile};
use crate::output::sidecar::Sidecar;
use crate::playback::Language;

/// What is the same for every bake.
const SHARED: [(&str, &str); 9] = [
    ("Vat.shader", include_str!("unity/Vat.shader")),
    ("VatBake.cs", include_str!("unity/VatBake.cs")),
    ("VatGlb.cs", include_str!("unity/VatGlb.cs")),
    ("VatImporter.cs", include_str!("unity/VatImporter.cs")),
    ("VatJson.cs", include_str!("unity/VatJson.cs")),
    ("VatMaterials.cs", include_str!("unity/VatMaterials.cs")),
    ("VatPlayback.hlsl", Language::Hlsl.source()),
    ("VatSpawner.cs", include_str!("unity/VatSpawner.cs")),
    ("VatSurface.hlsl", include_str!("unity/VatSurface.hlsl")),
];

/// Its text files.
pub(super) fn files(kit: &Kit<'_>) -> Vec<KitFile> {
    let shared = SHARED.map(|(name, text)| KitFile { name: name.into(), text: text.into() });
    let own = [
        KitFile { name: format!("{}.vatbake", kit.name), text: format!("{}.vat.json\n", kit.name) },
        KitFile { name: format!("{}_README.md", kit.name), text: readme(kit.name, kit.sidecar) },
    ];
    shared.into_iter().chain(own).collect()
}

fn readme(name: &str, sidecar: &Sidecar) -> String {
    const LISTED: usize = 8;
    let mut clips: Vec<String> = sidecar.clips.iter().take(LISTED).enumerate().map(|(k, clip)| code(clip.name.as_deref(), k)).collect();
    if sidecar.clips.len() > LISTED {
        clips.push(format!("{} more", sidecar.clips.len() - LISTED));
    }
    let first = quoted(sidecar.clips.first().and_then(|clip| clip.name.as_deref()).unwrap_or("clip_0"));
    let values = [
        ("name", name),
        ("vertices", &sidecar.vertex_count.to_string()),
        ("frames", &sidecar.frame_count.to_string()),
        ("first_clip", &first),
        ("clips", &clips.join(", ")),
    ];
    fill(include_str!("unity/README.md"), &values)
}

/// A clip's name as the importer gives it, to stand in a line of Markdown: whatever a file calls it.
fn code(name: Option<&str>, number: usize) -> String {
    let name = name.map_or_else(|| format!("clip_{number}"), shown);
    format!("`{}`", line(&name))
}

/// The same within a C# string within a line of Markdown.
fn quoted(name: &str) -> String {
    shown(name).replace('\\', "\\\\").replace('"', "\\\"")
}

fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() || c == '`' { '?' } else { c }).collect()
}
