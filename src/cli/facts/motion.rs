//! Facts of the clips: names, times, keys that take another way than they seem to.

use std::collections::BTreeMap;

use super::List;
use crate::cli::show::{many, thousands};
use crate::scene::{Channel, Clip, Interpolation, Property, Scene};

/// Seconds after 0 that are no start of their own.
const START_TOLERANCE: f32 = 1e-4;
/// Products of neighbouring quaternions below 0 that are half turns, either way as long, but for rounding.
const HALF_TURN_TOLERANCE: f32 = 1e-6;
/// Deviation between the axes of a scale, in parts of the largest, that rounding explains.
const SCALE_TOLERANCE: f32 = 1e-3;
/// Length of a tangent, 1/s, from which it bends anything.
const TANGENT_TOLERANCE: f32 = 1e-6;

/// Adds what the clips tell.
pub(super) fn add(scene: &Scene, list: &mut List) {
    let clips = &scene.clips;
    add_names(clips, list);
    let mut add = |key: &'static str, is_one: &dyn Fn(&Clip) -> bool, one: &str, more: &str, rest: &str| {
        let count = clips.iter().filter(|clip| is_one(clip)).count();
        list.add_of(key, count, clips.len(), || {
            format!("{} of {} {} {rest}", thousands(count as u64), many(clips.len(), "clip", "clips"), if count == 1 { one } else { more })
        });
    };
    add("late-start", &|clip| first_key(clip) > START_TOLERANCE, "begins", "begin", "after 0 s: a bake begins at the first key");
    add("no-length", &|clip| length(clip) <= 0.0, "has", "have", "no length: all keys are at one time");
    let has_single = |clip: &Clip| length(clip) > 0.0 && clip.channels.iter().any(|channel| channel.times.len() == 1);
    add("single-keys", &has_single, "has", "have", "channels of a single key among others");
    add_rotations(clips, list);
    add_scales(clips, list);
}

fn add_names(clips: &[Clip], list: &mut List) {
    let name = |clip: &Clip| clip.name.clone().filter(|name| !name.is_empty());
    let unnamed = clips.iter().filter(|clip| name(clip).is_none()).count();
    list.add("unnamed-clips", unnamed, || format!("{} without a name", many(unnamed, "clip", "clips")));
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    clips.iter().filter_map(name).for_each(|name| *names.entry(name).or_default() += 1);
    let same = names.values().filter(|&&clips| clips > 1).sum();
    list.add("same-clip-names", same, || format!("{same} clips share their names with others"));
}

fn add_rotations(clips: &[Clip], list: &mut List) {
    let rotations = || clips.iter().flat_map(|clip| &clip.channels).filter(|channel| channel.property == Property::Rotation);
    let turns: usize = rotations().filter(|channel| channel.interpolation == Interpolation::Linear).map(opposite_neighbours).sum();
    list.add("opposite-quaternions", turns, || {
        format!(
            "{} of rotation keys in opposite hemispheres: only an interpolation that takes the short way is right",
            many(turns, "pair", "pairs")
        )
    });
    let bent = rotations().filter(|channel| has_tangents(channel)).count();
    list.add("rotation-tangents", bent, || {
        format!("{} with tangents other than 0", many(bent, "cubic spline of rotations", "cubic splines of rotations"))
    });
}

fn add_scales(clips: &[Clip], list: &mut List) {
    let channels = clips.iter().flat_map(|clip| &clip.channels).filter(|channel| channel.property == Property::Scale);
    let (mut negative, mut uneven) = (0, 0);
    for channel in channels {
        negative += usize::from(keys::<3>(channel).any(|scale| scale.iter().any(|&axis| axis < 0.0)));
        uneven += usize::from(keys::<3>(channel).any(is_uneven));
    }
    list.add("negative-scale", negative, || format!("{} scales to negative values: parts turn inside out", channels_of(negative)));
    list.add("non-uniform-scale", uneven, || format!("{} scales that differ by axis", channels_of(uneven)));
}

/// "1 channel animates", "2 channels animate".
fn channels_of(count: usize) -> String {
    format!("{} {}", many(count, "channel", "channels"), if count == 1 { "animates" } else { "animate" })
}

/// Values of the keys, without tangents.
fn keys<const N: usize>(channel: &Channel) -> impl Iterator<Item = &[f32; N]> {
    let (group, skip) = if channel.interpolation == Interpolation::CubicSpline { (3, 1) } else { (1, 0) };
    channel.values.as_chunks::<N>().0.iter().skip(skip).step_by(group)
}

fn opposite_neighbours(channel: &Channel) -> usize {
    let quaternions: Vec<_> = keys::<4>(channel).collect();
    let dot = |a: &[f32; 4], b: &[f32; 4]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    quaternions.windows(2).filter(|pair| dot(pair[0], pair[1]) < -HALF_TURN_TOLERANCE).count()
}

fn has_tangents(channel: &Channel) -> bool {
    let is_tangent = |index: usize| index % 3 != 1;
    let quaternions = channel.values.as_chunks::<4>().0.iter().enumerate();
    channel.interpolation == Interpolation::CubicSpline
        && quaternions.filter(|(index, _)| is_tangent(*index)).any(|(_, tangent)| tangent.iter().any(|v| v.abs() > TANGENT_TOLERANCE))
}

fn is_uneven(scale: &[f32; 3]) -> bool {
    let (least, largest) =
        scale.iter().fold((f32::INFINITY, 0.0f32), |(least, largest), axis| (least.min(axis.abs()), largest.max(axis.abs())));
    largest - least > SCALE_TOLERANCE * largest
}

/// Time of the first key of any channel.
fn first_key(clip: &Clip) -> f32 {
    clip.channels.iter().filter_map(|channel| channel.times.first().copied()).reduce(f32::min).unwrap_or(0.0)
}

fn length(clip: &Clip) -> f32 {
    clip.channels.iter().filter_map(|channel| channel.times.last().copied()).reduce(f32::max).unwrap_or(0.0) - first_key(clip)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(property: Property, interpolation: Interpolation, values: &[f32]) -> Channel {
        let width = if property == Property::Rotation { 4 } else { 3 };
        let keys = values.len() / width / if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let times = (0..keys).map(|k| k as f32).collect();
        Channel { node: 0, property, interpolation, times, values: values.into(), width }
    }

    #[test]
    fn tangents_are_no_keys() {
        let mut values = [0.0; 12];
        values[7] = 1.0; // the key, between two tangents
        let still = channel(Property::Rotation, Interpolation::CubicSpline, &values);
        assert_eq!(keys::<4>(&still).collect::<Vec<_>>(), [&[0.0, 0.0, 0.0, 1.0]]);
        assert!(!has_tangents(&still));
        values[8] = 0.5;
        assert!(has_tangents(&channel(Property::Rotation, Interpolation::CubicSpline, &values)));
        assert!(!has_tangents(&channel(Property::Rotation, Interpolation::Linear, &values)));
    }

    #[test]
    fn hemispheres_and_axes_are_compared() {
        let turn = channel(Property::Rotation, Interpolation::Linear, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.6, -0.8, 0.0, 0.0, 0.0, -1.0]);
        assert_eq!(opposite_neighbours(&turn), 1);
        let half = channel(Property::Rotation, Interpolation::Linear, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, -4e-8]);
        assert_eq!(opposite_neighbours(&half), 0);
        assert!(!is_uneven(&[-2.0, 2.0, 2.0]) && is_uneven(&[1.0, 1.0, 1.01]) && !is_uneven(&[0.0; 3]));
    }
}
