//! The sets of files that one bake gives: the native one, or a kit an engine. Each has its own axes, its own way to store texels, its own
//! folder; all come from one run of the device.

use std::path::{Path, PathBuf};

use glam::{Mat3, Vec3};

use super::convert::Converter;
use super::form::{Stored, list_choices};
use super::textures::{TextureFile, list_files};
use crate::encode::{Encoding, Form, NormalMode, Texel};
use crate::options::Options;
use crate::output::sidecar::{Space, Unit};
use crate::skin::Ranges;
use crate::targets::Target;
use crate::warning::{Code, Warnings};
use crate::{Error, Result};

/// Half floats are coarse where they put a vertex this share of the model's size off.
const COARSE: f32 = 1.0 / 2000.0;

/// One set of files.
#[derive(Debug)]
pub struct Delivery {
    /// The engine; none for the native set.
    pub target: Option<Target>,
    pub converter: Converter,
    /// Its images.
    pub files: Vec<TextureFile>,
}

/// The ways to store one set, before one is chosen.
#[derive(Debug)]
pub struct Candidates {
    pub target: Option<Target>,
    /// In the order of preference; never empty.
    pub choices: Vec<Stored>,
}

impl Delivery {
    pub fn new(target: Option<Target>, name: &str, stored: Stored, all: &Ranges) -> Self {
        Self { target, converter: converter(target, stored, all), files: list_files(name, &stored) }
    }

    /// Where its files go.
    pub fn folder(&self, output: &Path) -> PathBuf {
        self.target.map_or_else(|| output.to_path_buf(), |target| output.join(target.folder()))
    }

    /// The space of its texels, ranges and bounds; `scale` is the factor on the source's lengths.
    pub fn space(&self, scale: f32) -> Space {
        space(self.target, scale)
    }

    /// A box in its axes and unit.
    pub fn turn_box(&self, range: (Vec3, Vec3)) -> (Vec3, Vec3) {
        turn_box(self.converter.axes, self.converter.units, range)
    }

    /// What the device is to write, where this is the only set: its integers, else plain values.
    pub fn kernel(&self, all: &Ranges) -> Encoding {
        let is_native = self.target.is_none() && !self.converter.stored.is_float();
        if is_native { self.converter.encoding } else { plain_encoding(&[self.converter.stored], all) }
    }
}

fn space(target: Option<Target>, scale: f32) -> Space {
    target.map_or_else(
        || Space::scaled(scale),
        |target| {
            let axes = target.axes();
            let unit = (axes.scale != 1.0).then_some(Unit::Centimetre);
            Space { up: axes.up, forward: axes.forward, handedness: axes.handedness, scale, unit }
        },
    )
}

/// How plain values become what `stored` asks for.
pub fn converter(target: Option<Target>, stored: Stored, all: &Ranges) -> Converter {
    let space = space(target, 1.0);
    let (axes, units) = (space.axes(), space.units_a_metre());
    let range = turn_box(axes, units, value_range(all, stored.is_offset));
    let encoding = Encoding::new(stored.form(), range, largest_coordinate(all) * units);
    Converter { stored, encoding, axes, units }
}

/// Plain values: positions themselves, and the directions that any of the sets needs.
pub fn plain_encoding(stored: &[Stored], all: &Ranges) -> Encoding {
    let normals = if stored.iter().any(|s| s.normals != NormalMode::None) { NormalMode::Separate } else { NormalMode::None };
    let tangents = stored.iter().any(|s| s.tangents);
    let form = Form { texel: Texel::Float, is_offset: false, levels: 65535.0, normals, normal_levels: 65535.0, tangents };
    Encoding::new(form, (all.least, all.largest), largest_coordinate(all))
}

/// A box turned into other axes and units: corners change places where an axis is negated.
fn turn_box(axes: Mat3, units: f32, (least, largest): (Vec3, Vec3)) -> (Vec3, Vec3) {
    let (a, b) = (axes * least * units, axes * largest * units);
    (a.min(b), a.max(b))
}

/// Least and largest value that is stored, glTF's axes, metres.
fn value_range(all: &Ranges, is_offset: bool) -> (Vec3, Vec3) {
    if is_offset { (all.least_offset, all.largest_offset) } else { (all.least, all.largest) }
}

pub(super) fn largest_coordinate(all: &Ranges) -> f32 {
    all.least.abs().max(all.largest.abs()).max_element()
}

/// The sets that the options ask for.
///
/// # Errors
/// [`Error::Usage`] where an engine does not take what was asked for.
pub fn list_candidates(options: &Options) -> Result<Vec<Candidates>> {
    let mut targets: Vec<Option<Target>> = options.targets.iter().copied().map(Some).collect();
    targets.sort();
    targets.dedup();
    if targets.is_empty() {
        targets.push(None);
    }
    targets.into_iter().map(|target| Ok(Candidates { target, choices: list_choices(options, target)? })).collect()
}

/// Without `--max-error`: what is usual, but floats where halves are coarse and there is a choice.
///
/// # Errors
/// [`Error::Bake`] where only half floats may be used and a value is outside their range.
pub fn choose_usual(candidates: &Candidates, all: &Ranges, size: f32, warnings: &mut Warnings) -> Result<Stored> {
    let units = space(candidates.target, 1.0).units_a_metre();
    let error = |stored: &Stored| half_error(stored, value_range(all, stored.is_offset));
    let farthest = |stored: &Stored| {
        let (least, largest) = value_range(all, stored.is_offset);
        least.abs().max(largest.abs()).max_element() * units
    };
    let fine = |stored: &&Stored| !stored.is_half() || (error(stored) <= size * COARSE && farthest(stored) <= half::f16::MAX.to_f32());
    let stored = candidates.choices.iter().find(fine).unwrap_or(&candidates.choices[0]);
    let farthest = farthest(stored);
    if stored.is_half() && farthest > half::f16::MAX.to_f32() {
        return Err(Error::Bake(format!(
            "a value of {farthest} is outside the range of half floats, which ends at 65504; use --format exr32{}",
            if stored.is_offset { "" } else { " or --position offset" }
        )));
    }
    if let Some(target) = candidates.target.filter(|_| !fine(&stored)) {
        warnings.add(Code::CoarseHalf, 1, || {
            format!(
                "half floats put vertices of the {} kit up to {} m off, where the model is {size} m large; use --format exr32 or png16 where the engine takes it, \
                 or take the way over the ground out with --root-motion strip",
                target.folder(),
                error(stored)
            )
        });
    }
    Ok(*stored)
}

/// Half a step of a half float at the far end of a range, metres, over three axes; 0 for other pixels.
fn half_error(stored: &Stored, (least, largest): (Vec3, Vec3)) -> f32 {
    /// Bits of a half's fraction, and one for the half step.
    const BITS: i32 = 11;
    if !stored.is_half() {
        return 0.0;
    }
    let far = least.abs().max(largest.abs());
    let step = |value: f32| if value > 0.0 { 2.0_f32.powi(value.log2().floor() as i32 - BITS) } else { 0.0 };
    Vec3::new(step(far.x), step(far.y), step(far.z)).length()
}
