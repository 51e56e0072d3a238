//! What happened to texels that are not those that were baked.
//!
//! The checksum says only that they differ. What can be undone exactly is undone and proves itself by the checksum ([`exact`]). The rest is
//! named by what it leaves behind: values on a coarse grid, blocks of few colours ([`blocks`]), lengths, boxes and displacements that a
//! curve explains ([`curve`]), neighbours that are alike ([`blur`]); and, with the model, by comparing with the texels that should be
//! there ([`expected`]).

mod blocks;
mod blur;
mod curve;
mod exact;
mod expected;

use super::files::Set;
use super::reference::Reference;
use super::verdict::{Code, Findings};
use crate::baked::{Baked, Image, Texels};
use crate::output::sidecar::{Encoding, Pixel, Role, Texture};

/// Names what happened to each texture that is not intact.
pub(super) fn name(baked: &Baked, set: &Set, reference: Option<&Reference>, findings: &mut Findings) {
    for texture in &baked.sidecar.textures {
        let Some((texture, image)) = baked.texture(texture.role) else { continue };
        if set.is_intact(texture) || texture.encoding == Encoding::AlphaOctahedral {
            continue;
        }
        let case = Case { baked, texture, image };
        let before = findings.all.len();
        // A file of another format has been said to be so; what a curve did to it may still be found.
        let is_converted = image.texels.pixel() != texture.pixel;
        if !is_converted && exact::name(&case, findings) {
            continue;
        }
        if blocks::name(&case, findings) {
            continue;
        }
        let mut is_cut = image.texels.pixel() == Pixel::Rgba8Unorm && texture.pixel != Pixel::Rgba8Unorm;
        if !is_converted && is_on_coarse_grid(&image.texels) && texture.pixel != Pixel::Rgba8Unorm {
            is_cut = true;
            let text = format!(
                "every value of {} is one of 256: something has cut it to 8 bits and widened it again; import it without conversion, or bake in a \
                 format that the engine keeps",
                texture.file
            );
            findings.wrong(Code::CutTo8Bits, &texture.file, text);
        }
        let is_explained = reference.is_some_and(|reference| expected::name(&case, reference, is_cut, findings));
        let mut is_consistent = false;
        if !is_explained {
            match curve::name(&case, is_cut, findings) {
                curve::Answer::Named => {}
                curve::Answer::Consistent if is_cut => {}
                answer => {
                    is_consistent = answer == curve::Answer::Consistent;
                    blur::name(&case, findings);
                }
            }
        }
        if findings.all.len() == before && !is_converted {
            say_other(&case, is_consistent, findings);
        }
    }
}

/// A texture with its image, as it came.
#[derive(Clone, Copy)]
struct Case<'a> {
    baked: &'a Baked,
    texture: &'a Texture,
    image: &'a Image,
}

impl Case<'_> {
    fn file(&self) -> &str {
        &self.texture.file
    }
}

/// Whether all components are multiples of 1/255, in a format that has more.
fn is_on_coarse_grid(texels: &Texels) -> bool {
    let near = |value: f64, tolerance: f64| {
        let steps = value * 255.0;
        (0.0..=1.0).contains(&value) && (steps - steps.round()).abs() <= tolerance
    };
    match texels {
        Texels::Unorm8(_) => false,
        Texels::Unorm16(all) => {
            let mut all = all.as_flattened().iter();
            let repeated = all.clone().all(|v| v >> 8 == v & 255);
            repeated || all.all(|v| v & 255 == 0)
        }
        // a unit in the last place below 1, times 255
        Texels::Half(all) => all.as_flattened().iter().all(|v| near(v.to_f64(), 255.0 / 2048.0)) && has_several(texels),
        Texels::Float(all) => all.as_flattened().iter().all(|&v| near(f64::from(v), 1e-4)) && has_several(texels),
    }
}

/// Whether there are more values than 0 and 1, which lie on any grid.
fn has_several(texels: &Texels) -> bool {
    (0..texels.len()).filter_map(|i| texels.get(i)).flatten().any(|v| v != 0.0 && v != 1.0)
}

/// Nothing known: whole texels of something else, or an edit. Positions that fit the sidecar's boxes and displacements
/// (`is_consistent`) are hardly another bake's; directions say nothing of the kind.
fn say_other(case: &Case<'_>, is_consistent: bool, findings: &mut Findings) {
    let file = case.file();
    if is_consistent && case.texture.role == Role::Position {
        let text = format!(
            "{file} was changed, though boxes and displacements of the clips still fit; with --source it is compared with the model and may be named"
        );
        findings.warn(Code::TexelsChanged, file, text);
        return;
    }
    let marks = [Code::Padding, Code::Alpha, Code::NotUnit, Code::NotFinite];
    let is_whole = !findings.all.iter().any(|f| f.file.as_deref() == Some(file) && marks.contains(&f.code));
    let text = if is_whole {
        format!(
            "{file} is a whole texture, but not this bake's: it is from another bake (an older one, other options); copy all files of one bake together"
        )
    } else {
        format!("{file} was changed in a way that leaves no mark known here, or is no texture of a bake; take the baked file")
    };
    if is_whole {
        findings.wrong(Code::OtherBake, file, text);
    } else {
        findings.warn(Code::TexelsChanged, file, text);
    }
}
