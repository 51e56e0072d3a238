//! With the model: the texels that should be there, put through everything that is known to happen to textures, and compared.

use super::super::reference::Reference;
use super::super::texels::is_owned;
use super::super::verdict::{Code, Findings};
use super::{Case, curve};
use crate::output::sidecar::{Encoding, Role};

/// Rows of the first block that are compared at most.
const MOST_ROWS: usize = 96;
/// What happened leaves at most this share of the difference to the texels that should be there.
const EXPLAINED: f64 = 0.3;

/// Texels of some whole rows, three components each.
#[derive(Debug, Clone)]
struct Rows {
    width: usize,
    texels: Vec<[f64; 3]>,
}

/// Names what explains the texels; true where something does, or where they are the model's but for the 8 bits.
pub(super) fn name(case: &Case<'_>, reference: &Reference, is_cut: bool, findings: &mut Findings) -> bool {
    let Some(wanted) = expected_rows(case, reference) else { return false };
    let rows = wanted.texels.len() / wanted.width;
    let found = Rows {
        width: wanted.width,
        texels: (0..rows)
            .flat_map(|y| (0..wanted.width).map(move |x| (x, y)))
            .map(|(x, y)| case.image.texel(x as u32, y as u32))
            .map(|[r, g, b, _]| [r, g, b])
            .collect(),
    };
    let plain = distance(&wanted, &found);
    let spread = |of: &Rows| of.each(|v| v);
    let mut known: Vec<(Code, &str, Rows)> = vec![
        (Code::SrgbEncoded, "sRGB-encoded, as colours are; import it as linear data (no sRGB)", wanted.each(curve::encode)),
        (Code::SrgbDecoded, "put through the inverse of the sRGB curve; import it as linear data (no sRGB)", wanted.each(curve::decode)),
        (Code::Clamped, "cut to 0..1; import it as floats", wanted.each(|v| v.clamp(0.0, 1.0))),
        (Code::MipBlurred, "replaced by a mip level; import it without mip maps", wanted.halve().double(false)),
        (Code::MipBlurred, "replaced by a smoothly scaled mip level; import it without mip maps", wanted.halve().double(true)),
        (Code::MipBlurred, "filtered; import it without filters and mip maps", wanted.soften()),
    ];
    if is_cut {
        known.iter_mut().for_each(|(_, _, rows)| *rows = spread(rows).each(|v| (v.clamp(0.0, 1.0) * 255.0).round() / 255.0));
    }
    let cut = if is_cut { distance(&wanted.each(|v| (v.clamp(0.0, 1.0) * 255.0).round() / 255.0), &found) } else { plain };
    if is_cut && cut <= 1.0 / 255.0 {
        return true;
    }
    let all = known.into_iter().map(|(code, what, rows)| (distance(&rows, &found), code, what));
    let Some((left, code, what)) = all.min_by(|a, b| a.0.total_cmp(&b.0)) else { return false };
    if left.is_nan() || left > EXPLAINED * cut {
        return false;
    }
    let text = format!(
        "{} was {what} (the texels that the model needs, changed so, are {left:.2e} from those in the file on average; unchanged {cut:.2e})",
        case.file()
    );
    findings.wrong(code, case.file(), text);
    true
}

/// The first rows as the model needs them.
fn expected_rows(case: &Case<'_>, reference: &Reference) -> Option<Rows> {
    let baked = case.baked;
    let (width, frames) = (case.image.width as usize, baked.sidecar.frame_count as usize);
    let rows = frames.min(MOST_ROWS).min(case.image.height as usize);
    let mut texels = vec![[0.0; 3]; width * rows];
    for (frame, row) in texels.chunks_exact_mut(width).enumerate() {
        let pose = reference.frame(&baked.sidecar, frame)?;
        let positions = reference.positions(&pose);
        let directions = match case.texture.role {
            Role::Position => Vec::new(),
            Role::Normal => reference.normals(&pose, &positions),
            Role::Tangent => return None,
        };
        for (vertex, texel) in row.iter_mut().enumerate().filter(|(x, _)| is_owned(baked, *x as u32, frame as u32)) {
            let value = match case.texture.role {
                Role::Position => *positions.get(vertex)?,
                _ => (*directions.get(vertex)?)?,
            };
            let offset = if matches!(case.texture.encoding, Encoding::OffsetUnorm | Encoding::OffsetFloat) {
                baked.rest(vertex)
            } else {
                glam::DVec3::ZERO
            };
            let value = (value - offset).to_array();
            *texel = match case.texture.encoding {
                Encoding::OffsetUnorm | Encoding::AbsoluteUnorm => {
                    let (scale, bias) = (case.texture.scale?, case.texture.bias?);
                    std::array::from_fn(|c| if scale[c] == 0.0 { 0.0 } else { (value[c] - f64::from(bias[c])) / f64::from(scale[c]) })
                }
                Encoding::UnitUnorm => value.map(|v| v * 0.5 + 0.5),
                _ => value,
            };
        }
    }
    Some(Rows { width, texels })
}

/// Root mean square over all components.
fn distance(a: &Rows, b: &Rows) -> f64 {
    let squares: f64 = a.texels.as_flattened().iter().zip(b.texels.as_flattened()).map(|(a, b)| (a - b) * (a - b)).sum();
    (squares / f64::max(a.texels.len() as f64 * 3.0, 1.0)).sqrt()
}

impl Rows {
    fn each(&self, change: impl Fn(f64) -> f64) -> Self {
        Self { width: self.width, texels: self.texels.iter().map(|t| t.map(&change)).collect() }
    }

    fn height(&self) -> usize {
        self.texels.len() / self.width.max(1)
    }

    /// The nearest texel, inside.
    fn at(&self, x: isize, y: isize) -> [f64; 3] {
        let (x, y) = (x.clamp(0, self.width as isize - 1) as usize, y.clamp(0, self.height() as isize - 1) as usize);
        self.texels.get(y * self.width + x).copied().unwrap_or_default()
    }

    /// The next mip level: means of 2 x 2.
    fn halve(&self) -> Self {
        let (width, height) = (self.width.div_ceil(2), self.height().div_ceil(2));
        let mean = |x: isize, y: isize| {
            let four = [self.at(2 * x, 2 * y), self.at(2 * x + 1, 2 * y), self.at(2 * x, 2 * y + 1), self.at(2 * x + 1, 2 * y + 1)];
            std::array::from_fn(|c| four.iter().map(|t| t[c]).sum::<f64>() / 4.0)
        };
        let places = (0..height as isize).flat_map(|y| (0..width as isize).map(move |x| (x, y)));
        Self { width, texels: places.map(|(x, y)| mean(x, y)).collect() }
    }

    /// Twice as wide and high, by the nearest texel or between texels.
    fn double(&self, smooth: bool) -> Self {
        let (width, height) = (self.width * 2, self.height() * 2);
        let between = |x: isize, y: isize| {
            let (left, right) = if x % 2 == 0 { (x / 2 - 1, 0.75) } else { (x / 2, 0.25) };
            let (top, bottom) = if y % 2 == 0 { (y / 2 - 1, 0.75) } else { (y / 2, 0.25) };
            std::array::from_fn(|c| {
                let row = |y: isize| self.at(left, y)[c] * (1.0 - right) + self.at(left + 1, y)[c] * right;
                row(top) * (1.0 - bottom) + row(top + 1) * bottom
            })
        };
        let places = (0..height as isize).flat_map(|y| (0..width as isize).map(move |x| (x, y)));
        let pick = |(x, y): (isize, isize)| if smooth { between(x, y) } else { self.at(x / 2, y / 2) };
        Self { width, texels: places.map(pick).collect() }
    }

    /// The mean of 3 x 3.
    fn soften(&self) -> Self {
        let (width, height) = (self.width as isize, self.height() as isize);
        let mean = |x: isize, y: isize| {
            let nine = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy))).map(|(dx, dy)| self.at(x + dx, y + dy));
            nine.fold([0.0; 3], |sum, t| std::array::from_fn(|c| sum[c] + t[c] / 9.0))
        };
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Self { width: self.width, texels: places.map(|(x, y)| mean(x, y)).collect() }
    }
}
