//! The kit for three.js: an ES module that plays any bake, the decode as another, a page that shows a crowd of this one.

use super::fill::fill;
use super::{Kit, KitFile};
use crate::playback::Language;

/// The release that the page takes from the network, and that the tests run.
pub const THREE: &str = "0.187.0";

/// Its text files.
pub(super) fn files(kit: &Kit<'_>) -> Vec<KitFile> {
    let clips = &kit.sidecar.clips;
    let count = if clips.len() == 1 { "its clip".to_owned() } else { format!("a menu of its {} clips", clips.len()) };
    // A name in backticks within a line: by its number where it would break the line.
    let plain = |name: &&str| !name.contains(|c: char| c.is_control() || matches!(c, '`' | '\'' | '\\'));
    let first = clips.first().and_then(|clip| clip.name.as_deref()).filter(plain);
    let clip = first.map_or("0".to_owned(), |name| format!("'{name}'"));
    let readme = fill(include_str!("three/README.md"), &[("name", kit.name), ("three", THREE), ("clips", &count), ("clip", &clip)]);
    let page = fill(include_str!("three/page.html"), &[("name", escape_html(kit.name).as_str()), ("three", THREE)]);
    let file = |name: &str, text: String| KitFile { name: name.to_owned(), text };
    vec![
        file("vat.js", include_str!("three/vat.js").to_owned()),
        file("vat.glsl.js", decode_module()),
        file(&format!("{}.html", kit.name), page),
        file(&format!("{}_README.md", kit.name), readme),
    ]
}

/// The playback code as a string of JavaScript.
fn decode_module() -> String {
    let mut text = Language::Glsl.source().replace('\\', "\\\\");
    text = text.replace('`', "\\`").replace("${", "\\${");
    format!("// The decode, as `vatbake shader glsl` prints it; vat.js puts it into the materials.\nexport default /* glsl */`\n{text}`;\n")
}

/// Text and attribute values of HTML.
fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_text() {
        assert_eq!(escape_html("a & \"b\" <'c'>"), "a &amp; &quot;b&quot; &lt;&#39;c&#39;&gt;");
    }
}
