//! The sRGB curve, one way or the other, and values that were cut: what undoes it brings boxes and displacements back to what the
//! sidecar says, and directions back to unit length.

use super::super::clips::{motion, rest_size, slack};
use super::super::texels::{is_owned, length, unit_tolerance};
use super::super::verdict::{Code, Findings};
use super::Case;
use crate::output::sidecar::{Encoding, Pixel, Role};

/// A curve explains texels where it leaves at most this share of the contradiction.
const EXPLAINED: f64 = 0.3;
/// Unit vectors that a curve explains are so long again but for this, 8 bits included; averaged ones are not.
const STRAIGHT: f64 = 0.02;

/// sRGB's encoding of a linear value (IEC 61966-2-1); odd, so that what is negative stays so.
pub(super) fn encode(v: f64) -> f64 {
    let a = v.abs();
    (if a <= 0.003_130_8 { a * 12.92 } else { 1.055 * a.powf(1.0 / 2.4) - 0.055 }).copysign(v)
}

/// Its inverse.
pub(super) fn decode(v: f64) -> f64 {
    let a = v.abs();
    (if a <= 0.040_45 { a / 12.92 } else { ((a + 0.055) / 1.055).powf(2.4) }).copysign(v)
}

fn map(texel: [f64; 4], curve: fn(f64) -> f64) -> [f64; 4] {
    [curve(texel[0]), curve(texel[1]), curve(texel[2]), texel[3]]
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing contradicts the sidecar.
    Consistent,
    /// A curve was named.
    Named,
    /// No curve explains the contradiction.
    Unexplained,
}

/// Names a curve where one explains the texels.
pub(super) fn name(case: &Case<'_>, is_cut: bool, findings: &mut Findings) -> Answer {
    let misfit: &dyn Fn(fn(f64) -> f64) -> f64 = match case.texture.role {
        Role::Position => &|curve| position_misfit(case, curve),
        _ => &|curve| direction_misfit(case, curve),
    };
    let plain = misfit(|v| v);
    if plain <= noise(case, is_cut) {
        return Answer::Consistent;
    }
    // Undoing an encoding is decoding.
    let (undo_encoding, undo_decoding) = (misfit(decode), misfit(encode));
    let file = case.file();
    let said = |by: f64| match case.texture.role {
        Role::Position => format!(
            "boxes and displacements of the clips, off by {:.2} % of the model's size, are then off by {:.2} %",
            plain * 100.0,
            by * 100.0
        ),
        _ => format!("lengths of directions, off by {plain:.3} on average, are then off by {by:.3}"),
    };
    let explains = |left: f64| left <= EXPLAINED * plain && (case.texture.role == Role::Position || left <= STRAIGHT);
    if explains(undo_encoding) && undo_encoding <= undo_decoding {
        let text = format!("{file} was sRGB-encoded, as colours are: undone, {}; import it as linear data (no sRGB)", said(undo_encoding));
        findings.wrong(Code::SrgbEncoded, file, text);
        return Answer::Named;
    }
    if explains(undo_decoding) {
        let text = format!(
            "{file} went through the inverse of the sRGB curve, as colours do when they are sampled: undone, {}; import it as linear data (no sRGB)",
            said(undo_decoding)
        );
        findings.wrong(Code::SrgbDecoded, file, text);
        return Answer::Named;
    }
    if is_clamped(case) {
        let text = format!(
            "no value of {file} lies outside 0..1, where the sidecar's boxes need some: something has cut them; import it as floats"
        );
        findings.wrong(Code::Clamped, file, text);
        return Answer::Named;
    }
    Answer::Unexplained
}

/// What 8 bits alone may contradict.
fn noise(case: &Case<'_>, is_cut: bool) -> f64 {
    match case.texture.role {
        Role::Position => {
            let size = rest_size(case.baked).max(f64::MIN_POSITIVE);
            let step = case.texture.scale.map_or(1.0, |s| s.iter().fold(0.0_f64, |most, &v| most.max(f64::from(v)))) / 255.0;
            (4.0 * slack(case.baked) + if is_cut { 2.0 * step } else { 0.0 }) / size
        }
        _ => unit_tolerance(if is_cut { Pixel::Rgba8Unorm } else { case.texture.pixel }),
    }
}

/// Largest contradiction between what the sidecar says of the clips and what the texels say, as a share of the model's size.
fn position_misfit(case: &Case<'_>, curve: fn(f64) -> f64) -> f64 {
    let size = rest_size(case.baked).max(f64::MIN_POSITIVE);
    let of_clip = |clip| {
        let found = motion(case.baked, clip, &|texel| map(texel, curve));
        let apart = |a: glam::DVec3, b: [f32; 3]| (a - glam::DVec3::from(b.map(f64::from))).abs().max_element();
        let displaced = (found.displacement - f64::from(clip.largest_displacement)).abs();
        displaced.max(apart(found.min, clip.bounds.min)).max(apart(found.max, clip.bounds.max))
    };
    let most = case.baked.sidecar.clips.iter().map(of_clip).fold(0.0_f64, f64::max);
    if most.is_finite() { most / size } else { f64::INFINITY }
}

/// Mean distance of directions' lengths from 1.
fn direction_misfit(case: &Case<'_>, curve: fn(f64) -> f64) -> f64 {
    let (mut sum, mut count) = (0.0, 0_u64);
    for y in 0..case.image.height {
        for x in (0..case.image.width).filter(|&x| is_owned(case.baked, x, y)) {
            sum += (length(case.texture, map(case.image.texel(x, y), curve)) - 1.0).abs();
            count += 1;
        }
    }
    let mean = sum / f64::max(count as f64, 1.0);
    if mean.is_finite() { mean } else { f64::INFINITY }
}

/// Whether floats that must leave 0..1 do not.
fn is_clamped(case: &Case<'_>) -> bool {
    let is_float = matches!(case.texture.encoding, Encoding::OffsetFloat | Encoding::AbsoluteFloat | Encoding::UnitFloat);
    let mut texels = (0..case.image.texels.len()).filter_map(|i| case.image.texels.get(i)).flatten();
    is_float && texels.all(|v| (0.0..=1.0).contains(&v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_and_its_inverse_meet() {
        for v in [-1.5, -0.3, 0.0, 0.001, 0.2, 0.5, 1.0, 2.0] {
            assert!((decode(encode(v)) - v).abs() < 1e-6 && (encode(decode(v)) - v).abs() < 1e-6, "{v}");
        }
        assert!((encode(0.5) - 0.735_357).abs() < 1e-6);
    }
}
