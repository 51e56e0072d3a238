//! One page that shows a bake in a browser: a file that opens from disk and loads nothing from anywhere.
//!
//! The page is put together from the files beside this module. Its decode is `shaders/playback/vat.glsl`, run by WebGL 2 on the texels
//! as they are in the files: they are embedded as numbers, since a browser cuts a 16-bit PNG to 8 bits. Whatever comes from the bake
//! is data in the page (JSON and base64), never markup, and a content security policy forbids all scripts but the page's own.

mod blob;
mod contents;
mod squeeze;

use std::io::{self, Write};
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::baked::Baked;
use crate::playback::Language;
use crate::{Error, Result};
use contents::Contents;
use squeeze::{Kind, squeeze};

/// Bytes of texels, mesh and pictures that a page may hold, before they are deflated.
pub const MOST_BYTES: u64 = 512 << 20;

/// How far each vertex is from the source, for the view that shows it as heat.
#[derive(Debug, Clone, PartialEq)]
pub struct Errors {
    /// Unit of `largest`: `metre`, `centimetre`, `degree`, or any other word to be shown after the number.
    pub unit: String,
    /// What 255 stands for.
    pub largest: f32,
    /// One a vertex and frame: `values[frame * vertex_count + vertex]`, by the numbers of the bake; 0 is no error, 255 the largest.
    pub values: Vec<u8>,
}

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(
    "'use strict';\n",
    include_str!("page/script/unpack.js"),
    include_str!("page/script/camera.js"),
    include_str!("page/script/crowd.js"),
    include_str!("page/script/scene.js"),
    include_str!("page/script/facts.js"),
    include_str!("page/script/controls.js"),
    include_str!("page/script/show.js"),
    include_str!("page/script/preview.js"),
    include_str!("page/script/begin.js"),
);

/// Writes the page of a bake. `errors` adds a view.
///
/// # Errors
/// [`Error::Bake`] where the bake holds more than [`MOST_BYTES`], has no clip or no texture of positions, or where `errors` has not one
/// value a vertex and frame; nothing is written then. [`Error::Io`] where `out` refuses.
pub fn write(baked: &Baked, errors: Option<&Errors>, out: &mut dyn Write) -> Result<()> {
    let path = sidecar_path(baked);
    let contents = Contents::of(baked, errors).map_err(|text| Error::Bake(format!("{text}: {}", path.display())))?;
    let done = compose(out, |name, out| match name {
        "data" => out.write_all(harmless(&contents.json()?).as_bytes()),
        _ => contents.write_blobs(out),
    });
    done.map_err(Error::io("write the preview page of the bake", path))
}

/// The page's own text, without what a bake brings.
pub fn code() -> String {
    let mut code = Vec::new();
    // Writing to memory does not fail, and all parts are text.
    let _ = compose(&mut code, |_, _| Ok(()));
    String::from_utf8(code).unwrap_or_default()
}

/// Writes the page; `fill` writes what a bake brings: `data` and `blobs`.
fn compose(out: &mut dyn Write, mut fill: impl FnMut(&str, &mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let (style, script) = (squeeze(STYLE, Kind::Style), squeeze(SCRIPT, Kind::Script));
    let page = PAGE.replace('\r', "");
    for (text, placeholder) in parts(&page) {
        out.write_all(text.as_bytes())?;
        match placeholder {
            "data" | "blobs" => fill(placeholder, out)?,
            "generator" => out.write_all(crate::GENERATOR.as_bytes())?,
            "style" => out.write_all(style.as_bytes())?,
            "script" => out.write_all(script.as_bytes())?,
            "style-hash" => out.write_all(hash(&style).as_bytes())?,
            "script-hash" => out.write_all(hash(&script).as_bytes())?,
            name => out.write_all(shader(name).as_bytes())?,
        }
    }
    out.flush()
}

/// A template's pieces: text, and the name of the placeholder that follows it (none after the last). What is put in place is never
/// searched for placeholders.
fn parts(template: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((text, (name, after))) = rest.split_once("{{").and_then(|(text, tail)| Some((text, tail.split_once("}}")?))) {
        parts.push((text, name));
        rest = after;
    }
    parts.push((rest, ""));
    parts
}

/// A shader by its place in the page; nothing for no name.
fn shader(name: &str) -> String {
    let text = match name {
        "decode" => Language::Glsl.source(),
        "scene-vertex" => include_str!("page/scene.vert"),
        "scene-fragment" => include_str!("page/scene.frag"),
        "ground-vertex" => include_str!("page/ground.vert"),
        "ground-fragment" => include_str!("page/ground.frag"),
        "texture-fragment" => include_str!("page/texture.frag"),
        _ => "",
    };
    squeeze(text, Kind::Shader)
}

/// JSON that ends no script element and begins no comment, whatever its strings hold.
fn harmless(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// As a content security policy names a script.
fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

fn sidecar_path(baked: &Baked) -> PathBuf {
    baked.folder.join(format!("{}.vat.json", baked.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that the page promises to stay under, without the bake.
    const PROMISED: usize = 60_000;

    #[test]
    fn page_without_a_bake_is_small() {
        let code = code();
        assert!(code.len() < PROMISED, "{} bytes, promised are fewer than {PROMISED}", code.len());
        assert!(code.contains("class Preview") && code.contains("vat_octahedral"), "script and decode are in it");
        assert!(!code.contains("{{") && !code.contains('\r'), "nothing is left to fill in");
    }

    #[test]
    fn template_is_cut_at_its_placeholders() {
        assert_eq!(parts("a{{b}}c{{d}}"), [("a", "b"), ("c", "d"), ("", "")]);
        assert_eq!(parts(""), [("", "")]);
        assert_eq!(parts("a{{b"), [("a{{b", "")]);
    }

    #[test]
    fn json_in_a_script_element_stays_there() {
        let json = serde_json::json!({ "name": "</script><!--<script>" }).to_string();
        let text = harmless(&json);
        assert!(!text.contains('<'), "{text}");
        let back: serde_json::Value = serde_json::from_str(&text).expect("still JSON");
        assert_eq!(back["name"], "</script><!--<script>");
    }
}
