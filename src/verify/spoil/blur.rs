//! Mip maps and filters: each texel is like its neighbours, though in a bake neighbours in a row are vertices that may lie anywhere.

use super::super::texels::{is_owned, length};
use super::super::verdict::{Code, Findings};
use super::Case;
use crate::output::sidecar::{Encoding, Role};

/// Share of the blocks of 2 x 2 on the grid that must be one colour.
const ALIKE: f64 = 0.95;
/// Directions this much too short are means of several.
const SHORT: f64 = 0.02;
/// Neighbours that differ by less than this share of what the rest pose and vertices further off let expect were averaged.
const SMOOTH: f64 = 0.45;

pub(super) fn name(case: &Case<'_>, findings: &mut Findings) -> bool {
    let file = case.file();
    let why = alike_in_twos(case).or_else(|| soft_alpha(case)).or_else(|| short_directions(case)).or_else(|| smooth_columns(case));
    let Some(why) = why else { return false };
    let text = format!("{file} was filtered, as mip maps and smooth scaling do: {why}; import it without mip maps and at its own size");
    findings.wrong(Code::MipBlurred, file, text);
    true
}

/// A mip level scaled up again: blocks of 2 x 2 are one colour on the grid and not beside it.
fn alike_in_twos(case: &Case<'_>) -> Option<String> {
    let image = case.image;
    let share = |offset: u32| {
        let (mut alike, mut all) = (0_u64, 0_u64);
        for y in (offset..image.height.saturating_sub(1)).step_by(2) {
            for x in (offset..image.width.saturating_sub(1)).step_by(2) {
                let first = image.texel(x, y);
                all += 1;
                alike += u64::from([(1, 0), (0, 1), (1, 1)].iter().all(|&(dx, dy)| image.texel(x + dx, y + dy) == first));
            }
        }
        alike as f64 / f64::max(all as f64, 1.0)
    };
    let (on, beside) = (share(0), share(1));
    (on >= ALIKE && beside <= 0.8 * on).then(|| {
        format!("{:.0} % of its blocks of 2 x 2 texels are one colour, {:.0} % of those beside the grid", on * 100.0, beside * 100.0)
    })
}

/// Alphas between 0 and 1, at the border to texels that no vertex owns.
fn soft_alpha(case: &Case<'_>) -> Option<String> {
    let is_used = case.baked.sidecar.textures.iter().any(|t| t.file == case.texture.file && t.encoding == Encoding::AlphaOctahedral);
    if is_used {
        return None;
    }
    let texels = (0..case.image.texels.len()).filter_map(|i| case.image.texels.get(i));
    let soft = texels.filter(|t| (0.02..0.98).contains(&t[3])).count();
    (soft > 0).then(|| format!("{soft} alphas lie between 0 and 1, where a bake has only these two"))
}

/// The mean of unit vectors is shorter than one.
fn short_directions(case: &Case<'_>) -> Option<String> {
    if case.texture.role == Role::Position {
        return None;
    }
    let (mut short, mut long, mut all) = (0_u64, 0_u64, 0_u64);
    for y in 0..case.image.height {
        for x in (0..case.image.width).filter(|&x| is_owned(case.baked, x, y)) {
            let length = length(case.texture, case.image.texel(x, y));
            all += 1;
            short += u64::from(length < 1.0 - SHORT);
            long += u64::from(length > 1.0 + SHORT);
        }
    }
    (short * 20 > all && long * 20 < short).then(|| {
        let share = short as f64 / f64::max(all as f64, 1.0) * 100.0;
        format!("{share:.0} % of its directions are shorter than 1, as means are, and {long} longer")
    })
}

/// Differences between vertices beside each other, against those between vertices eight columns apart, each as a share of the rest
/// pose's: what is far apart in space moves apart, whatever the columns between.
fn smooth_columns(case: &Case<'_>) -> Option<String> {
    if case.texture.role != Role::Position {
        return None;
    }
    const FAR: usize = 8;
    let baked = case.baked;
    let width = (baked.sidecar.layout.width as usize).min(baked.sidecar.vertex_count as usize);
    let frames = baked.sidecar.frame_count as usize;
    if width < 4 * FAR {
        return None;
    }
    let value = |vertex: usize, frame: usize| {
        let (x, y) = baked.address(vertex, frame);
        let [r, g, b, _] = case.image.texel(x, y);
        glam::DVec3::new(r, g, b)
    };
    let spread = |at: &dyn Fn(usize) -> glam::DVec3, apart: usize| -> f64 {
        (0..width - apart).map(|v| at(v).distance_squared(at(v + apart))).sum()
    };
    let rest = |v: usize| baked.rest(v);
    let (rest_near, rest_far) = (spread(&rest, 1) / (width - 1) as f64, spread(&rest, FAR) / (width - FAR) as f64);
    let (mut near, mut far) = (0.0, 0.0);
    for frame in (0..frames).step_by((frames / 64).max(1)) {
        let at = |v: usize| value(v, frame);
        near += spread(&at, 1) / (width - 1) as f64;
        far += spread(&at, FAR) / (width - FAR) as f64;
    }
    let ratio = (near / far) / (rest_near / rest_far);
    (ratio.is_finite() && ratio < SMOOTH).then(|| {
        format!("vertices beside each other differ by {:.0} % of what their places in the rest pose let expect", ratio.sqrt() * 100.0)
    })
}
