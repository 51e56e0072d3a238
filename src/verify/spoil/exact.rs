//! What can be undone exactly: turned over, channels or bytes exchanged, alpha replaced, files exchanged. The checksum is the proof.

use super::super::files::crc_text;
use super::super::texels::is_owned;
use super::super::verdict::{Code, Findings};
use super::Case;
use crate::baked::{Image, Texels};

/// Orders of four channels: where each channel of the bake stands now.
const CHANNELS: [&str; 4] = ["R", "G", "B", "A"];

/// Names what an exact inverse proves; true where one does.
pub(super) fn name(case: &Case<'_>, findings: &mut Findings) -> bool {
    let (file, wanted) = (case.file(), case.texture.crc32.as_str());
    let crc = crc_text(case.image);
    let other = case.baked.sidecar.textures.iter().find(|t| t.crc32 == crc && t.file != case.texture.file);
    if let Some(other) = other {
        let text = format!("{file} holds the texels of {}: the files have been exchanged; copy the bake again", other.file);
        findings.wrong(Code::OtherBake, file, text);
        return true;
    }
    if let Some(swapped) = swap_bytes(case.image)
        && crc_text(&swapped) == wanted
    {
        let text = format!(
            "the two bytes of each component of {file} stand in the other order: it was read as big-endian; read it as little-endian"
        );
        findings.wrong(Code::BytesSwapped, file, text);
        return true;
    }
    let mut orders = Vec::new();
    permutations(&mut [0, 1, 2, 3], 0, &mut orders);
    for (rows, columns) in [(false, false), (true, false), (false, true), (true, true)] {
        for &order in &orders {
            let is_same = order == [0, 1, 2, 3];
            if is_same && !rows && !columns {
                continue;
            }
            if crc_text(&rearrange(case.image, order, rows, columns)) != wanted {
                continue;
            }
            if rows {
                let text = format!("{file} is upside down: its first row is the bake's last; import it without flipping, row 0 on top");
                findings.wrong(Code::FlippedVertically, file, text);
            }
            if columns {
                findings.wrong(
                    Code::FlippedHorizontally,
                    file,
                    format!("{file} is mirrored: its first column is the bake's last; import it as it is"),
                );
            }
            if !is_same {
                let now: Vec<_> = order.iter().map(|&c| CHANNELS[c]).collect();
                let text =
                    format!("the channels of {file} are exchanged: the bake's R G B A now stand in {}; import it as RGBA", now.join(" "));
                findings.wrong(Code::ChannelsSwapped, file, text);
            }
            return true;
        }
    }
    let is_alpha_used = case.baked.sidecar.textures.iter().filter(|t| t.file == case.texture.file).count() > 1;
    if !is_alpha_used && crc_text(&restore_alpha(case)) == wanted {
        let text =
            format!("only the alpha of {file} was changed, as programs do that drop it; positions and normals are whole, so it plays");
        findings.warn(Code::AlphaChanged, file, text);
        return true;
    }
    false
}

fn permutations(order: &mut [usize; 4], from: usize, all: &mut Vec<[usize; 4]>) {
    if from == order.len() {
        all.push(*order);
        return;
    }
    for i in from..order.len() {
        order.swap(from, i);
        permutations(order, from + 1, all);
        order.swap(from, i);
    }
}

/// Component `c` of the result is component `order[c]` of the image, its rows or columns turned over.
fn rearrange(image: &Image, order: [usize; 4], rows: bool, columns: bool) -> Image {
    let (width, height) = (image.width as usize, image.height as usize);
    fn turn<T: Copy>(all: &[[T; 4]], width: usize, height: usize, order: [usize; 4], rows: bool, columns: bool) -> Vec<[T; 4]> {
        let mut turned = Vec::with_capacity(all.len());
        for y in 0..height {
            let from = if rows { height - 1 - y } else { y };
            let row = all.get(from * width..(from + 1) * width).unwrap_or_default();
            let pick = |texel: &[T; 4]| order.map(|c| texel[c]);
            if columns { turned.extend(row.iter().rev().map(pick)) } else { turned.extend(row.iter().map(pick)) }
        }
        turned
    }
    let texels = match &image.texels {
        Texels::Unorm8(all) => Texels::Unorm8(turn(all, width, height, order, rows, columns)),
        Texels::Unorm16(all) => Texels::Unorm16(turn(all, width, height, order, rows, columns)),
        Texels::Half(all) => Texels::Half(turn(all, width, height, order, rows, columns)),
        Texels::Float(all) => Texels::Float(turn(all, width, height, order, rows, columns)),
    };
    Image { texels, ..*image }
}

fn swap_bytes(image: &Image) -> Option<Image> {
    let texels = match &image.texels {
        Texels::Unorm8(_) => return None,
        Texels::Unorm16(all) => Texels::Unorm16(all.iter().map(|t| t.map(u16::swap_bytes)).collect()),
        Texels::Half(all) => Texels::Half(all.iter().map(|t| t.map(|v| half::f16::from_bits(v.to_bits().swap_bytes()))).collect()),
        Texels::Float(all) => Texels::Float(all.iter().map(|t| t.map(|v| f32::from_bits(v.to_bits().swap_bytes()))).collect()),
    };
    Some(Image { texels, ..*image })
}

/// The image with the alpha that a bake writes where it does not use it.
fn restore_alpha(case: &Case<'_>) -> Image {
    let width = case.image.width as usize;
    let owned = |i: usize| is_owned(case.baked, (i % width) as u32, (i / width) as u32);
    fn set<T: Copy>(all: &[[T; 4]], owned: impl Fn(usize) -> bool, one: T, zero: T) -> Vec<[T; 4]> {
        all.iter().enumerate().map(|(i, &[r, g, b, _])| [r, g, b, if owned(i) { one } else { zero }]).collect()
    }
    let texels = match &case.image.texels {
        Texels::Unorm8(all) => Texels::Unorm8(set(all, owned, 255, 0)),
        Texels::Unorm16(all) => Texels::Unorm16(set(all, owned, 65535, 0)),
        Texels::Half(all) => Texels::Half(set(all, owned, half::f16::ONE, half::f16::ZERO)),
        Texels::Float(all) => Texels::Float(set(all, owned, 1.0, 0.0)),
    };
    Image { texels, ..*case.image }
}
