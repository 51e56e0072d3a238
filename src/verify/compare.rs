//! The bake against the model: every vertex of every frame.

use glam::DVec3;
use rayon::prelude::*;

use super::clips::{label, rest_size};
use super::files::first;
use super::reference::Reference;
use super::verdict::{ClipMeasured, Code, Findings, Level, Measured, Place};
use crate::baked::{Baked, decode_direction, decode_position};
use crate::output::sidecar::{Clip, Role, Unit};

/// What f32 may cost a position, as a share of the model's size or of the largest coordinate: what the bake is checked with.
const SINGLE: f64 = 2e-5;
/// The same for a normal, degrees.
const SINGLE_ANGLE: f64 = 0.25;
/// A jump between keys may fall on either side of a time that is f32 in the sidecar: it is looked for so far around.
const AROUND: f64 = 3e-7;

/// Finds the model's vertices in the bake. False where it cannot be the model that was baked.
pub(super) fn settle(reference: &mut Reference, baked: &Baked, file: &str, findings: &mut Findings) -> bool {
    let sidecar = &baked.sidecar;
    if reference.sha256() != sidecar.source.sha256 {
        let text = format!(
            "the model is not the file that was baked (SHA-256 {}... instead of {}...); bake it again, or pass {}",
            first(reference.sha256()),
            first(&sidecar.source.sha256),
            sidecar.source.file
        );
        findings.warn(Code::SourceChanged, file, text);
    }
    if let Err(why) = reference.settle(baked) {
        findings.wrong(Code::SourceMismatch, file, format!("the model is not what was baked: {why}; pass {}", sidecar.source.file));
        return false;
    }
    for (i, why) in reference.missing_clips() {
        let name = sidecar.clips.get(i).map_or_else(String::new, label);
        findings.warn(Code::ClipUnknown, file, format!("clip {name} was not compared with the model: {why}"));
    }
    true
}

/// Sums over some frames.
#[derive(Debug, Clone, Default)]
struct Sums {
    max: f64,
    worst: Option<(usize, usize)>,
    squares: f64,
    count: u64,
    angle: f64,
    angle_worst: Option<(usize, usize)>,
    lost: u64,
}

impl Sums {
    fn join(self, other: Self) -> Self {
        let (max, worst) = if other.max > self.max { (other.max, other.worst) } else { (self.max, self.worst) };
        let (angle, angle_worst) = if other.angle > self.angle { (other.angle, other.angle_worst) } else { (self.angle, self.angle_worst) };
        let (squares, count, lost) = (self.squares + other.squares, self.count + other.count, self.lost + other.lost);
        Self { max, worst, squares, count, angle, angle_worst, lost }
    }

    fn rms(&self) -> f64 {
        (self.squares / f64::max(self.count as f64, 1.0)).sqrt()
    }
}

/// Measures every frame of every clip that the model has.
pub(super) fn measure(reference: &Reference, baked: &Baked, size: f64, file: &str, findings: &mut Findings) -> Measured {
    let sidecar = &baked.sidecar;
    let has_normals = baked.texture(Role::Normal).is_some();
    let mut all = Sums::default();
    let mut rows = Vec::new();
    let mut places = [None, None];
    for (index, clip) in sidecar.clips.iter().enumerate() {
        let frames = (0..clip.frame_count as usize).into_par_iter();
        // In the frames' order, so that the sums are the same every time.
        let sums: Vec<Option<Sums>> = frames.map(|k| measure_frame(reference, baked, clip, index, k)).collect();
        let Some(sums) = sums.into_iter().collect::<Option<Vec<_>>>() else { continue };
        let of_clip = sums.into_iter().fold(Sums::default(), Sums::join);
        let place = |at: Option<(usize, usize)>| {
            at.map(|(frame, vertex)| Place { clip: clip.name.clone().unwrap_or_default(), frame: frame as u32, vertex: vertex as u32 })
        };
        rows.push(ClipMeasured {
            name: clip.name.clone().unwrap_or_default(),
            frame_count: clip.frame_count,
            position_max: of_clip.max,
            position_rms: of_clip.rms(),
            normal_max: has_normals.then_some(of_clip.angle),
            worst: place(of_clip.worst),
        });
        if of_clip.max > all.max || places[0].is_none() {
            places[0] = place(of_clip.worst);
        }
        if of_clip.angle > all.angle || places[1].is_none() {
            places[1] = place(of_clip.angle_worst);
        }
        all = all.join(of_clip);
    }
    let rest_max = rest_distance(reference, baked);
    let [position_worst, normal_worst] = places;
    let measured = Measured {
        position_max: all.max,
        position_rms: all.rms(),
        position_share: if size > 0.0 { all.max / size } else { 0.0 },
        position_worst,
        normal_max: has_normals.then_some(all.angle),
        normal_worst,
        normals_without_direction: all.lost,
        rest_max,
        compared: all.count,
        clips: rows,
    };
    judge(baked, &measured, file, findings);
    measured
}

/// One frame. Where keys jump, the better of three times that the sidecar's f32 may mean.
fn measure_frame(reference: &Reference, baked: &Baked, clip: &Clip, index: usize, k: usize) -> Option<Sums> {
    let around = AROUND * f64::from(clip.start.abs() + clip.length).max(0.1);
    let late: &[f64] = if clip.stepped { &[0.0, around, -around] } else { &[0.0] };
    let mut best: Option<Sums> = None;
    for &late in late {
        let pose = reference.frame_at(clip, index, k, late)?;
        let positions = reference.positions(&pose);
        let normals = if baked.texture(Role::Normal).is_some() { reference.normals(&pose, &positions) } else { Vec::new() };
        let sums = compare_frame(baked, clip, k, &positions, &normals);
        if best.as_ref().is_none_or(|b| sums.max < b.max) {
            best = Some(sums);
        }
    }
    best
}

fn compare_frame(baked: &Baked, clip: &Clip, k: usize, positions: &[DVec3], normals: &[Option<DVec3>]) -> Sums {
    let frame = clip.first_frame as usize + k;
    let mut sums = Sums::default();
    if let Some((texture, image)) = baked.texture(Role::Position) {
        for (vertex, wanted) in positions.iter().enumerate() {
            let (x, y) = baked.address(vertex, frame);
            let distance = decode_position(texture, image.texel(x, y), baked.rest(vertex)).distance(*wanted);
            // what is no number is as far as can be
            let distance = if distance.is_finite() { distance } else { f64::INFINITY };
            sums.squares += distance * distance;
            sums.count += 1;
            if distance > sums.max || sums.worst.is_none() {
                (sums.max, sums.worst) = (distance, Some((k, vertex)));
            }
        }
    }
    if let Some((texture, image)) = baked.texture(Role::Normal) {
        for (vertex, wanted) in normals.iter().enumerate() {
            let Some(wanted) = wanted else {
                sums.lost += 1;
                continue;
            };
            let (x, y) = baked.address(vertex, frame);
            let chord = decode_direction(texture, image, x, y).distance(*wanted);
            let angle = (2.0 * (chord / 2.0).clamp(0.0, 1.0).asin()).to_degrees();
            if angle > sums.angle || sums.angle_worst.is_none() {
                (sums.angle, sums.angle_worst) = (angle, Some((k, vertex)));
            }
        }
    }
    sums
}

/// Largest distance of the mesh from the model's rest pose.
fn rest_distance(reference: &Reference, baked: &Baked) -> f64 {
    let Some(pose) = reference.rest_pose(&baked.sidecar) else { return 0.0 };
    let positions = reference.positions(&pose);
    positions.iter().enumerate().map(|(v, p)| p.distance(baked.rest(v))).fold(0.0, f64::max)
}

/// What f32 may cost a position of this bake.
fn single(baked: &Baked) -> f64 {
    let b = &baked.sidecar.bounds;
    let largest = b.min.iter().chain(&b.max).fold(0.0_f64, |most, &v| most.max(f64::from(v).abs()));
    SINGLE * largest.max(rest_size(baked))
}

fn judge(baked: &Baked, measured: &Measured, file: &str, findings: &mut Findings) {
    let unit = unit_name(baked);
    let single = single(baked);
    let recorded = |role| baked.texture(role).map_or(0.0, |(texture, _)| f64::from(texture.error.max));
    let at = |place: &Option<Place>| {
        place.as_ref().map_or_else(String::new, |p| format!(" (clip '{}', frame {}, vertex {})", p.clip, p.frame, p.vertex))
    };
    if measured.position_max > recorded(Role::Position) * 1.01 + single {
        let text = format!(
            "a position is {:.3e} {unit} from where the model has it, {:.3} % of the model's size{}; the sidecar says {:.3e} at most",
            measured.position_max,
            measured.position_share * 100.0,
            at(&measured.position_worst),
            recorded(Role::Position)
        );
        findings.wrong(Code::ErrorLarger, file, text);
    }
    if let Some(angle) = measured.normal_max.filter(|&angle| angle > recorded(Role::Normal) * 1.01 + SINGLE_ANGLE) {
        let text = format!(
            "a normal is turned by {angle:.3} degrees against the model's{}; the sidecar says {:.3} at most",
            at(&measured.normal_worst),
            recorded(Role::Normal)
        );
        // Thin triangles turn by much for little: positions decide whether a bake is right.
        let level = if angle > 10.0 * (recorded(Role::Normal) + 1.0) { Level::Wrong } else { Level::Warning };
        findings.add(Code::ErrorLarger, level, Some(file), text);
    }
    if measured.rest_max > single {
        let text = format!("the mesh stands up to {:.3e} {unit} from the model's rest pose; bake again", measured.rest_max);
        findings.wrong(Code::RestDiffers, file, text);
    }
    if measured.normals_without_direction > 0 {
        let text = format!("{} normals have no direction in the model and were not compared", measured.normals_without_direction);
        findings.add(Code::NotUnit, Level::Note, Some(file), text);
    }
}

/// The sidecar's unit as text: after a number.
pub(super) fn unit_name(baked: &Baked) -> &'static str {
    if baked.sidecar.space.unit == Some(Unit::Centimetre) { "cm" } else { "m" }
}

/// The measured error against the limit that was asked for; the recorded one without a model.
pub(super) fn check_limit(baked: &Baked, measured: Option<&Measured>, limit: Option<f64>, file: &str, findings: &mut Findings) {
    let Some(limit) = limit else { return };
    // nothing compared is nothing proven
    let measured = measured.filter(|m| m.compared > 0);
    let units = f64::from(baked.sidecar.space.units_a_metre());
    let (error, what) = match measured {
        Some(measured) => (measured.position_max, "measured against the model"),
        None => (baked.texture(Role::Position).map_or(0.0, |(t, _)| f64::from(t.error.max)), "as the sidecar records it"),
    };
    if error.is_nan() || error > limit * units {
        let unit = unit_name(baked);
        let text = format!(
            "the largest error of a position, {what}, is {error:.3e} {unit}, over the limit of {:.3e} {unit}; bake in a finer format (--max-error chooses)",
            limit * units
        );
        findings.wrong(Code::OverMaxError, file, text);
    }
}
