//! Which moments of a clip a picture shows.

use crate::output::sidecar::{Clip, Loop};

/// Shortest delay of a GIF's frame that browsers honour, in hundredths of a second.
const SHORTEST_DELAY: f64 = 2.0;
/// How long a GIF stays at the end of a clip that is no loop, in hundredths of a second.
const HOLD: u32 = 60;

/// A moment of a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Index into the sidecar's clips.
    pub clip: usize,
    /// Frames since the clip began; between two frames the player blends.
    pub frame: f64,
    /// Seconds since the clip began.
    pub seconds: f64,
}

impl Moment {
    fn new(index: usize, clip: &Clip, frame: f64) -> Self {
        // what must not be blended is not
        let frame = if clip.stepped { frame.floor() } else { frame };
        let fps = f64::from(clip.fps);
        Self { clip: index, frame, seconds: if fps > 0.0 { frame / fps } else { 0.0 } }
    }

    /// The nearest frame of the whole bake.
    pub fn whole_frame(&self, clip: &Clip) -> u32 {
        let within = (self.frame.round() as u32).min(clip.frame_count.saturating_sub(1));
        clip.first_frame.saturating_add(within)
    }
}

/// Whether the last frame shows the first pose again.
fn repeats(clip: &Clip) -> bool {
    clip.looping != Loop::Once && clip.frame_count > 1
}

/// Evenly spread moments on whole frames, at most `columns`. A loop's closing frame is its first and is not shown twice.
pub fn for_sheet(index: usize, clip: &Clip, columns: u32) -> Vec<Moment> {
    let intervals = clip.frame_count.saturating_sub(1);
    let (count, steps) = match repeats(clip) {
        true => (columns.min(intervals), columns.min(intervals)),
        false => (columns.min(clip.frame_count), columns.min(clip.frame_count).saturating_sub(1)),
    };
    let frame = |k: u32| (f64::from(k) * f64::from(intervals) / f64::from(steps.max(1))).round();
    (0..count.max(1)).map(|k| Moment::new(index, clip, frame(k))).collect()
}

/// Every frame of a clip with its delay in hundredths of a second. A loop goes without its closing frame; more frames a second than
/// a GIF can show become fewer.
pub fn for_animation(index: usize, clip: &Clip) -> Vec<(Moment, u16)> {
    let intervals = clip.frame_count.saturating_sub(1);
    let period = 100.0 / f64::from(clip.fps).max(1e-3);
    if intervals == 0 {
        return vec![(Moment::new(index, clip, 0.0), 100)];
    }
    let (steps, stride) = if period >= SHORTEST_DELAY {
        (intervals, 1.0)
    } else {
        let steps = (f64::from(intervals) * period / SHORTEST_DELAY).round().max(1.0);
        (steps as u32, f64::from(intervals) / steps)
    };
    let count = if repeats(clip) { steps } else { steps + 1 };
    // each delay is what is left to the next frame's own time, so that rounding does not add up
    let at = |k: u32| (f64::from(k) * stride * period).round();
    let delay = |k: u32| {
        let hold = if !repeats(clip) && k == steps { HOLD } else { 0 };
        (at(k + 1) - at(k)).max(1.0) + f64::from(hold)
    };
    (0..count).map(|k| (Moment::new(index, clip, f64::from(k) * stride), delay(k).min(65535.0) as u16)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::sidecar::Bounds;

    fn clip(frame_count: u32, fps: f32, looping: Loop) -> Clip {
        Clip {
            name: None,
            animation: None,
            first_frame: 10,
            frame_count,
            fps,
            start: 0.0,
            length: (frame_count - 1) as f32 / fps,
            looping,
            stepped: false,
            bounds: Bounds { min: [0.0; 3], max: [0.0; 3] },
            largest_displacement: 0.0,
            source: None,
            root_motion: None,
        }
    }

    fn sheet(clip: &Clip, columns: u32) -> Vec<f64> {
        for_sheet(0, clip, columns).iter().map(|m| m.frame).collect()
    }

    #[test]
    fn a_loop_is_shown_without_its_closing_frame() {
        assert_eq!(sheet(&clip(25, 30.0, Loop::Closed), 6), [0.0, 4.0, 8.0, 12.0, 16.0, 20.0]);
        assert_eq!(sheet(&clip(25, 30.0, Loop::Once), 5), [0.0, 6.0, 12.0, 18.0, 24.0]);
        assert_eq!(sheet(&clip(3, 30.0, Loop::Cycle), 6), [0.0, 1.0]);
        assert_eq!(sheet(&clip(3, 30.0, Loop::Once), 6), [0.0, 1.0, 2.0]);
        assert_eq!(sheet(&clip(1, 30.0, Loop::Once), 6), [0.0]);
        assert_eq!(for_animation(0, &clip(25, 30.0, Loop::Closed)).len(), 24);
        assert_eq!(for_animation(0, &clip(25, 30.0, Loop::Once)).len(), 25);
    }

    #[test]
    fn delays_add_up_to_the_clip() {
        for (frames, fps, loops) in [(25, 30.0, 24), (31, 29.97, 30), (61, 24.0, 60), (121, 60.0, 100), (241, 120.0, 100), (11, 50.0, 10)] {
            let shown = for_animation(0, &clip(frames, fps, Loop::Closed));
            let sum: f64 = shown.iter().map(|(_, d)| f64::from(*d)).sum();
            let wanted = 100.0 * f64::from(frames - 1) / f64::from(fps);
            assert!((sum - wanted).abs() <= 0.5 && shown.len() == loops, "{frames} at {fps}: {sum}, {wanted}, {}", shown.len());
            assert!(shown.iter().all(|(_, d)| *d >= 2));
        }
        let once = for_animation(0, &clip(4, 10.0, Loop::Once));
        assert_eq!(once.iter().map(|(_, d)| *d).collect::<Vec<_>>(), [10, 10, 10, 70]);
    }

    #[test]
    fn jumps_are_not_blended() {
        let stepped = Clip { stepped: true, ..clip(241, 120.0, Loop::Once) };
        assert!(for_animation(0, &stepped).iter().all(|(m, _)| m.frame.fract() == 0.0));
        assert!(for_animation(0, &clip(241, 120.0, Loop::Once)).iter().any(|(m, _)| m.frame.fract() != 0.0));
    }

    #[test]
    fn odd_rates_make_no_odd_delays() {
        for fps in [0.0, 1e-9, f32::NAN, 1e9] {
            let shown = for_animation(0, &Clip { fps, ..clip(5, 30.0, Loop::Once) });
            assert!(!shown.is_empty() && shown.iter().all(|(m, d)| *d > 0 && m.seconds.is_finite() && m.frame <= 4.0), "{fps}: {shown:?}");
        }
    }

    #[test]
    fn moments_name_frames_of_the_bake() {
        let clip = clip(5, 10.0, Loop::Once);
        assert_eq!(for_sheet(0, &clip, 3).iter().map(|m| m.whole_frame(&clip)).collect::<Vec<_>>(), [10, 12, 14]);
    }
}
