//! Which clips, which frames, at which times (format: "Time").

use std::collections::HashMap;

use super::select::select;
use crate::options::{DEFAULT_FPS, Fps, Options};
use crate::pose::Poser;
use crate::pose::sampler::key;
use crate::scene::{Channel, Clip, Interpolation, Scene};
use crate::{Error, Result};

/// Products of seconds and rate this close to a whole number of frames are that number.
const SNAP: f64 = 1e-3;
/// A clip of fewer seconds has one frame: its rate would be no number that anybody could use.
const SHORTEST: f64 = 1e-9;
/// More frames than any texture has rows for: refused before anything is allocated.
const MOST_FRAMES: f64 = 16_777_216.0;

/// How a clip ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// On the pose it began with.
    Closed,
    /// It lacked its closing pose, which was appended as one more frame.
    Cycle,
    /// Elsewhere: plays once and holds.
    Once,
}

/// Frames of one clip.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipPlan {
    /// The file's name, or `anim_N`.
    pub name: String,
    /// Index into [`Scene::clips`]; absent for a static model.
    pub clip: Option<usize>,
    /// Index in the file's `animations`.
    pub animation: Option<usize>,
    /// First frame over the whole bake.
    pub first_frame: usize,
    /// Frames, at least 1.
    pub frame_count: usize,
    /// Seconds at which frame 0 stands.
    pub start: f64,
    /// Seconds from the first frame to the last.
    pub length: f64,
    /// Frames a second of this clip.
    pub fps: f64,
    /// How it ends.
    pub looping: Loop,
    /// Whether a STEP channel moves something.
    pub stepped: bool,
    /// Frames come `k / fps` after the start, exactly.
    exact: bool,
    /// Intervals and their length in seconds before a closing pose was appended.
    intervals: usize,
    span: f64,
}

impl ClipPlan {
    /// Seconds in the animation at which frame `k` of the clip stands, from the whole number k alone.
    pub fn time(&self, k: usize) -> f64 {
        if k > self.intervals {
            self.start // the appended closing pose
        } else if self.exact {
            self.start + k as f64 / self.fps
        } else {
            self.start + k as f64 * self.span / self.intervals.max(1) as f64
        }
    }

    /// Ends the clip with its first pose once more.
    pub fn append_first_pose(&mut self) {
        self.frame_count += 1;
        self.length += self.length / self.intervals.max(1) as f64;
        self.looping = Loop::Cycle;
    }
}

/// Names of all clips of a scene, as a user may type them.
pub fn clip_names(scene: &Scene) -> Vec<String> {
    let name = |c: &Clip| c.name.clone().filter(|n| !n.is_empty()).unwrap_or_else(|| format!("anim_{}", c.animation));
    scene.clips.iter().map(name).collect()
}

/// Lays out the frames of the chosen clips, one after the other; loops are judged afterwards.
///
/// # Errors
/// [`Error::Usage`] for an unknown clip or an empty range, [`Error::Bake`] for no animation or too many frames.
pub fn plan_clips(scene: &Scene, poser: &Poser<'_>, options: &Options) -> Result<Vec<ClipPlan>> {
    let names = clip_names(scene);
    if names.is_empty() {
        if !options.allow_static {
            return Err(Error::Bake(
                "the model has no animation, so there is nothing to bake; --allow-static bakes its rest pose as one frame".into(),
            ));
        }
        return Ok(vec![static_clip(options)]);
    }
    let chosen = if options.clips.is_empty() { (0..names.len()).collect() } else { select(&options.clips, &names, "clip")? };
    let mut plans: Vec<ClipPlan> = Vec::with_capacity(chosen.len());
    for clip in chosen {
        let plan = plan_clip(&names[clip], clip, scene.clips[clip].animation, poser.channels(clip), options)?;
        plans.push(plan);
    }
    number_frames(&mut plans)?;
    Ok(plans)
}

/// Numbers frames over the whole bake.
///
/// # Errors
/// [`Error::Bake`] for more frames than any texture holds.
pub fn number_frames(plans: &mut [ClipPlan]) -> Result<()> {
    let mut first = 0;
    for plan in plans.iter_mut() {
        plan.first_frame = first;
        first += plan.frame_count;
    }
    if first as f64 > MOST_FRAMES {
        return Err(Error::Bake(format!("{first} frames are more than any texture holds; lower --fps or choose --clips")));
    }
    Ok(())
}

fn static_clip(options: &Options) -> ClipPlan {
    ClipPlan {
        name: "static".into(),
        clip: None,
        animation: None,
        first_frame: 0,
        frame_count: 1,
        start: 0.0,
        length: 0.0,
        fps: rate(options.fps, &[]),
        looping: Loop::Once,
        stepped: false,
        exact: false,
        intervals: 0,
        span: 0.0,
    }
}

fn plan_clip(name: &str, clip: usize, animation: usize, channels: &[&Channel], options: &Options) -> Result<ClipPlan> {
    let (first, last) = key_range(channels);
    // keys before time 0 are against the specification (5, animation sampler): nothing is sampled there
    let start = options.start.unwrap_or(if options.exact_fps { 0.0 } else { first.max(0.0) });
    let end = options.end.unwrap_or(last.max(if options.start.is_some() { f64::MIN } else { start }));
    // the sidecar has f32
    if !((start as f32).is_finite() && (end as f32).is_finite()) || end < start {
        return Err(Error::Usage(format!(
            "clip '{name}' has keys from {first} s to {last} s, so nothing lies between --start {start} and {end} s; leave it out with --clips or move the range"
        )));
    }
    let (mut fps, length) = (rate(options.fps, channels), end - start);
    if length * fps > MOST_FRAMES {
        return Err(Error::Bake(format!(
            "clip '{name}' lasts {length} s, which at {fps} frames a second is more than any texture holds; cut it with --start and --end or lower --fps"
        )));
    }
    let (intervals, span) = if options.exact_fps {
        let intervals = (length * fps + SNAP).floor();
        (intervals as usize, intervals / fps)
    } else if length > SHORTEST {
        let product = length * fps;
        let whole = product.round();
        // the tie at half a frame is decided by the same tolerance as everything else
        let intervals = if (product - product.floor() - 0.5).abs() < SNAP { product.floor() + 1.0 } else { whole };
        let intervals = intervals.max(1.0);
        fps = intervals / length;
        (intervals as usize, length)
    } else {
        (0, 0.0)
    };
    Ok(ClipPlan {
        name: name.into(),
        clip: Some(clip),
        animation: Some(animation),
        first_frame: 0,
        frame_count: intervals + 1,
        start,
        length: span,
        fps,
        looping: Loop::Once,
        stepped: channels.iter().any(|c| is_stepped(c)),
        exact: options.exact_fps,
        intervals,
        span,
    })
}

/// Seconds of the first and the last key over the channels with more than one key, else over all.
fn key_range(channels: &[&Channel]) -> (f64, f64) {
    let range = |fewest: usize| {
        let times = channels.iter().filter(|c| c.times.len() >= fewest).flat_map(|c| [c.times[0], c.times[c.times.len() - 1]]);
        times.fold(None, |range: Option<(f32, f32)>, t| Some(range.map_or((t, t), |(a, b)| (a.min(t), b.max(t)))))
    };
    match (range(2), range(1)) {
        (Some((first, last)), _) => (first.into(), last.into()),
        (None, Some((first, _))) => (first.into(), first.into()),
        (None, None) => (0.0, 0.0),
    }
}

fn is_stepped(channel: &Channel) -> bool {
    channel.interpolation == Interpolation::Step && (1..channel.times.len()).any(|k| key(channel, k) != key(channel, 0))
}

/// The sampling rate: the one asked for, or one over the most frequent key distance.
fn rate(fps: Fps, channels: &[&Channel]) -> f64 {
    match fps {
        Fps::Rate(rate) => rate,
        Fps::Source => source_rate(channels).unwrap_or(DEFAULT_FPS),
    }
}

/// One over the most frequent key distance; whole where it is within a thousandth of it. Of equally frequent distances the
/// shorter counts.
pub fn source_rate(channels: &[&Channel]) -> Option<f64> {
    const TICKS: f64 = 1e5;
    let mut counts: HashMap<u64, (usize, f64)> = HashMap::new();
    for channel in channels {
        for pair in channel.times.windows(2) {
            let distance = f64::from(pair[1]) - f64::from(pair[0]);
            if distance > 1.0 / TICKS {
                let entry = counts.entry((distance * TICKS).round() as u64).or_insert((0, 0.0));
                *entry = (entry.0 + 1, entry.1 + distance);
            }
        }
    }
    let (_, (count, sum)) = counts.into_iter().max_by_key(|&(ticks, (count, _))| (count, std::cmp::Reverse(ticks)))?;
    let rate = count as f64 / sum;
    let whole = rate.round();
    Some(if whole > 0.0 && (rate - whole).abs() < SNAP * whole { whole } else { rate })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Property;

    fn channel(times: &[f32]) -> Channel {
        let values = times.iter().flat_map(|&t| [t, 0.0, 0.0]).collect();
        Channel { node: 0, property: Property::Translation, interpolation: Interpolation::Linear, times: times.into(), values, width: 3 }
    }

    fn plan(times: &[f32], options: &Options) -> ClipPlan {
        plan_clip("clip", 0, 0, &[&channel(times)], options).unwrap()
    }

    fn at(fps: f64) -> Options {
        Options { fps: Fps::Rate(fps), ..Options::default() }
    }

    #[test]
    fn frame_counts_survive_the_rounding_of_key_times() {
        for (length, fps, intervals) in [(1.033_333_3_f32, 30.0, 31), (0.7, 30.0, 21), (4.35, 100.0, 435), (0.1, 30.0, 3)] {
            assert_eq!(plan(&[0.0, length], &at(fps)).frame_count, intervals + 1, "{length} s at {fps}");
            let exact = Options { exact_fps: true, ..at(fps) };
            assert_eq!(plan(&[0.0, length], &exact).frame_count, intervals + 1, "{length} s at exactly {fps}");
        }
    }

    #[test]
    fn times_come_from_whole_numbers() {
        let long = plan(&[0.0, 1200.0], &at(30.0));
        assert_eq!((long.frame_count, long.time(36_000)), (36_001, 1200.0));
    }

    #[test]
    fn a_clip_runs_from_its_first_key_to_its_last() {
        let clip = plan(&[0.5, 1.0, 1.6], &at(10.0));
        assert_eq!((clip.start, clip.frame_count), (0.5, 12));
        assert!((clip.length - 1.1).abs() < 1e-6 && (clip.time(11) - 1.6).abs() < 1e-6);
        let exact = plan(&[0.5, 1.0, 1.6], &Options { exact_fps: true, ..at(10.0) });
        assert_eq!((exact.start, exact.frame_count, exact.time(16)), (0.0, 17, 1.6));
    }

    #[test]
    fn a_range_can_be_asked_for() {
        let options = Options { start: Some(1.0), end: Some(1.5), ..at(24.0) };
        let clip = plan(&[0.0, 3.0], &options);
        assert_eq!((clip.frame_count, clip.time(0), clip.time(12)), (13, 1.0, 1.5));
        let late = Options { start: Some(5.0), ..at(24.0) };
        assert!(matches!(plan_clip("clip", 0, 0, &[&channel(&[0.0, 3.0])], &late), Err(Error::Usage(_))));
    }

    #[test]
    fn one_key_is_one_frame() {
        let clip = plan(&[2.0], &at(30.0));
        assert_eq!((clip.frame_count, clip.length, clip.fps, clip.time(0)), (1, 0.0, 30.0, 2.0));
    }

    #[test]
    fn the_rate_of_the_source_is_its_most_frequent_key_distance() {
        let keys: Vec<f32> = (0..20).map(|k| k as f32 / 24.0).chain([5.0]).collect();
        assert_eq!(source_rate(&[&channel(&keys)]), Some(24.0));
        assert_eq!(source_rate(&[&channel(&[1.0])]), None);
    }
}
