//! What every texel must be, whatever it means: a number, in range, zero where no vertex owns it, alpha 1 where unused, directions of
//! unit length.

use rayon::prelude::*;

use super::files::Set;
use super::verdict::{Code, Findings};
use crate::baked::{Baked, Image};
use crate::output::sidecar::{Encoding, Pixel, Texture};

/// Faults of one texture: how many, and where the first is.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    texels: u64,
    first: Option<(u32, u32)>,
    /// The largest deviation.
    most: f64,
}

impl Count {
    fn add(&mut self, x: u32, y: u32, amount: f64) {
        self.texels += 1;
        self.first = self.first.or(Some((x, y)));
        self.most = self.most.max(amount);
    }

    fn join(self, other: Self) -> Self {
        let first = match (self.first, other.first) {
            (Some(a), Some(b)) => Some(if (a.1, a.0) <= (b.1, b.0) { a } else { b }),
            (a, b) => a.or(b),
        };
        Self { texels: self.texels + other.texels, first, most: self.most.max(other.most) }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Faults {
    infinite: Count,
    padding: Count,
    alpha: Count,
    length: Count,
}

pub(super) fn check(baked: &Baked, set: &Set, findings: &mut Findings) {
    for texture in &baked.sidecar.textures {
        let Some((texture, image)) = baked.texture(texture.role) else { continue };
        // Octahedral normals share the position's file, and every value of 16 bits is one.
        if texture.encoding == Encoding::AlphaOctahedral {
            continue;
        }
        let faults = look(baked, texture, image);
        report(&faults, texture, set.is_intact(texture), findings);
    }
}

fn look(baked: &Baked, texture: &Texture, image: &Image) -> Faults {
    let is_alpha_used = baked.sidecar.textures.iter().any(|t| t.file == texture.file && t.encoding == Encoding::AlphaOctahedral);
    let is_direction = matches!(texture.encoding, Encoding::UnitUnorm | Encoding::UnitFloat);
    let tolerance = unit_tolerance(texture.pixel);
    let row = |y: u32| {
        let mut faults = Faults::default();
        for x in 0..image.width {
            let texel = image.texel(x, y);
            if !texel.iter().all(|v| v.is_finite()) {
                faults.infinite.add(x, y, 0.0);
            } else if !is_owned(baked, x, y) {
                if texel != [0.0; 4] {
                    faults.padding.add(x, y, texel.iter().fold(0.0, |most, v| most.max(v.abs())));
                }
            } else {
                if !is_alpha_used && texel[3] != 1.0 {
                    faults.alpha.add(x, y, (texel[3] - 1.0).abs());
                }
                if is_direction {
                    let off = (length(texture, texel) - 1.0).abs();
                    if off > tolerance {
                        faults.length.add(x, y, off);
                    }
                }
            }
        }
        faults
    };
    let join = |a: Faults, b: Faults| Faults {
        infinite: a.infinite.join(b.infinite),
        padding: a.padding.join(b.padding),
        alpha: a.alpha.join(b.alpha),
        length: a.length.join(b.length),
    };
    (0..image.height).into_par_iter().map(row).reduce(Faults::default, join)
}

/// Whether a vertex and frame own a texel.
pub(super) fn is_owned(baked: &Baked, x: u32, y: u32) -> bool {
    let frames = baked.sidecar.frame_count.max(1);
    let (block, width) = (u64::from(y / frames), u64::from(baked.sidecar.layout.width));
    block < u64::from(baked.sidecar.layout.blocks) && block * width + u64::from(x) < u64::from(baked.sidecar.vertex_count)
}

/// Length of a direction's texel before it is normalised.
pub(super) fn length(texture: &Texture, texel: [f64; 4]) -> f64 {
    let [x, y, z] = [texel[0], texel[1], texel[2]].map(|v| if texture.encoding == Encoding::UnitUnorm { v * 2.0 - 1.0 } else { v });
    (x * x + y * y + z * z).sqrt()
}

/// How far rounding to a format's steps may take a unit vector's length from 1: half a step on three axes, with some room.
pub(super) fn unit_tolerance(pixel: Pixel) -> f64 {
    match pixel {
        Pixel::Rgba8Unorm => 0.01,
        Pixel::Rgba16Unorm => 1e-4,
        Pixel::Rgba16Float => 2e-3,
        Pixel::Rgba32Float => 1e-4,
    }
}

fn report(faults: &Faults, texture: &Texture, is_intact: bool, findings: &mut Findings) {
    let file = texture.file.as_str();
    let at = |count: &Count| count.first.map_or_else(String::new, |(x, y)| format!("first: column {x}, row {y}"));
    // Where the texels are those that were baked, the bake itself is at fault; where not, these are marks of what happened.
    let remedy = if is_intact { "bake again with this program" } else { "something has changed the texels" };
    let many = |n: u64| if n == 1 { "1 texel".to_owned() } else { format!("{n} texels") };
    let Faults { infinite, padding, alpha, length } = faults;
    if infinite.texels > 0 {
        let text = format!("{} of {file} hold what is not a number ({}); {remedy}", many(infinite.texels), at(infinite));
        findings.wrong(Code::NotFinite, file, text);
    }
    if padding.texels > 0 {
        let text = format!(
            "{} of {file} that no vertex owns are not zero ({}, up to {:.3}); {remedy}",
            many(padding.texels),
            at(padding),
            padding.most
        );
        findings.wrong(Code::Padding, file, text);
    }
    if alpha.texels > 0 {
        let text =
            format!("the alpha of {} of {file} is not 1 ({}, off by up to {:.4}); {remedy}", many(alpha.texels), at(alpha), alpha.most);
        findings.wrong(Code::Alpha, file, text);
    }
    if length.texels > 0 {
        let text = format!(
            "the directions of {} of {file} are not of unit length ({}, off by up to {:.4}); {remedy}",
            many(length.texels),
            at(length),
            length.most
        );
        findings.wrong(Code::NotUnit, file, text);
    }
}
