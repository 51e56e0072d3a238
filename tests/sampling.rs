//! Closed forms of animation: interpolation (glTF 2.0, appendix C), the grid of frames, what a clip's length is, loops.
//!
//! Poses are read off a triangle whose node is animated; vertex 0 stands at (1, 0, 0) unless a case says otherwise.

mod support;

use serde_json::json;
use support::bake::{assert_near, refuse_at};
use support::decode::{Mode, V3};
use support::models::{QUARTER_Z, TRIANGLE, along_x, rigid, sliding};
use support::{Baked, Doc, Type, bake_fixture, on_every_device, refuse, scalars, vec3, vec4};
use vatbake::options::{Fps, Looping};
use vatbake::warning::Code;

const NEAR: f64 = 1e-6;

/// x of vertex 0 at each frame, less its 1 at rest.
fn slide_of(baked: &Baked, clip: usize) -> Vec<f64> {
    baked.track(clip, 0).iter().map(|p| p[0] - 1.0).collect()
}

#[track_caller]
fn assert_slide(baked: &Baked, wanted: &[f64], tolerance: f64) {
    let found = slide_of(baked, 0);
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    for (k, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!((found - wanted).abs() <= tolerance, "frame {k}: {found}, wanted {wanted} within {tolerance}");
    }
}

/// A triangle turned by these keys.
fn turning(interpolation: &str, times: &[f64], keys: &[[f64; 4]]) -> Doc {
    let mut doc = rigid(&TRIANGLE);
    doc.animate(None, &[(0, "rotation", interpolation, times, vec4(keys))]);
    doc
}

fn at(degrees: f64) -> V3 {
    [degrees.to_radians().cos(), degrees.to_radians().sin(), 0.0]
}

fn fps(rate: f64) -> impl FnOnce(&mut vatbake::Options) {
    move |o| o.fps = Fps::Rate(rate)
}

#[test]
fn a01_cubic_spline_tangents_are_scaled_by_the_segment() {
    // in, value, out a key; out-tangent of key 0 is 4.
    let doc = sliding("CUBICSPLINE", &[0.0, 2.0], &[0.0, 0.0, 4.0, 0.0, 0.0, 0.0]);
    assert_slide(&bake_fixture(&doc, fps(2.0)), &[0.0, 1.125, 1.0, 0.375, 0.0], NEAR);
    let doc = sliding("CUBICSPLINE", &[0.0, 0.5], &[9.0, 1.0, 0.0, 2.0, 2.0, 9.0]);
    assert_slide(&bake_fixture(&doc, fps(4.0)), &[1.0, 1.375, 2.0], NEAR);
}

#[test]
fn a01_cubic_spline_rotations_are_normalised() {
    let none = [0.0; 4];
    let doc = turning("CUBICSPLINE", &[0.0, 2.0], &[none, [0.0, 0.0, 0.0, 1.0], none, none, QUARTER_Z, none]);
    on_every_device(|bake| {
        let baked = bake(&doc);
        assert_eq!(baked.frame_count, 61);
        for frame in 0..61 {
            let corners = baked.frame(frame);
            let length = |p: V3| p.iter().map(|c| c * c).sum::<f64>().sqrt();
            corners.iter().for_each(|p| assert!((length(*p) - 1.0).abs() < NEAR, "frame {frame}: {p:?}"));
        }
        assert_near(baked.position(30, 0), at(45.0), NEAR);
        assert_near(baked.position(60, 0), at(90.0), NEAR);
    });
}

#[test]
fn a02_linear_rotations_go_the_short_way() {
    let s = std::f64::consts::FRAC_1_SQRT_2;
    let doc = turning("LINEAR", &[0.75, 1.0], &[[0.0, 0.0, s, -s], [0.0, 0.0, 0.0, 1.0]]);
    let baked = bake_fixture(&doc, fps(8.0));
    assert_eq!(baked.frame_count, 3);
    assert_near(baked.position(0, 0), at(270.0), NEAR);
    assert_near(baked.position(1, 0), at(315.0), NEAR);
    assert_near(baked.position(2, 0), at(0.0), NEAR);

    let same = turning("LINEAR", &[0.0, 1.0], &[QUARTER_Z, QUARTER_Z.map(|c| -c)]);
    let baked = bake_fixture(&same, |_| ());
    (0..baked.frame_count).for_each(|f| assert_near(baked.position(f, 0), at(90.0), NEAR));
}

#[test]
fn a02_the_arc_is_even_in_angle() {
    // 0 to 170 degrees: a straight blend of quaternions would lag by degrees.
    let half = 85.0_f64.to_radians();
    let doc = turning("LINEAR", &[0.0, 1.0], &[[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, half.sin(), half.cos()]]);
    let baked = bake_fixture(&doc, fps(10.0));
    (0..=10).for_each(|k| assert_near(baked.position(k, 0), at(17.0 * k as f64), NEAR));
}

#[test]
fn a03_values_hold_outside_a_channels_keys() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["nodes"][0]["translation"] = json!([9.0, 9.0, 9.0]);
    doc.animate(
        None,
        &[
            (0, "translation", "LINEAR", &[1.5, 2.5], vec3(&along_x(&[1.0, 2.0]))),
            (0, "rotation", "LINEAR", &[0.0, 0.5], vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z])),
        ],
    );
    let baked = bake_fixture(&doc, |o| (o.fps, o.exact_fps) = (Fps::Rate(2.0), true));
    // Vertex 2 is on the axis of the rotation: it shows the translation; vertex 0 shows both.
    let slide: Vec<f64> = baked.track(0, 2).iter().map(|p| p[0]).collect();
    assert_eq!(slide.len(), 6);
    slide.iter().zip([1.0, 1.0, 1.0, 1.0, 1.5, 2.0]).for_each(|(x, wanted)| assert!((x - wanted).abs() < NEAR, "{slide:?}"));
    assert_near(baked.position(0, 0), [2.0, 0.0, 0.0], NEAR);
    (1..4).for_each(|f| assert_near(baked.position(f, 0), [1.0, 1.0, 0.0], NEAR));
}

#[test]
fn a03_a_clip_starts_at_its_first_key() {
    let baked = bake_fixture(&sliding("LINEAR", &[1.5, 2.5], &[1.0, 2.0]), fps(2.0));
    assert_slide(&baked, &[1.0, 1.5, 2.0], NEAR);
    assert_eq!((baked.clips[0].start, baked.clips[0].length), (1.5, 1.0));
    // With exact frames from time 0: a still lead-in.
    let baked = bake_fixture(&sliding("LINEAR", &[1.5, 2.5], &[1.0, 2.0]), |o| (o.fps, o.exact_fps) = (Fps::Rate(2.0), true));
    assert_slide(&baked, &[1.0, 1.0, 1.0, 1.0, 1.5, 2.0], NEAR);
    // A single key elsewhere does not stretch the clip.
    let mut doc = sliding("LINEAR", &[1.5, 2.5], &[1.0, 2.0]);
    let (input, output) = (doc.add(scalars(&[9.0])), doc.add(vec3(&[[1.0, 1.0, 1.0]])));
    doc.json["animations"][0]["samplers"].as_array_mut().expect("samplers").push(json!({ "input": input, "output": output }));
    let channel = json!({ "sampler": 1, "target": { "node": 0, "path": "scale" } });
    doc.json["animations"][0]["channels"].as_array_mut().expect("channels").push(channel);
    let baked = bake_fixture(&doc, fps(2.0));
    assert_eq!((baked.clips[0].start, baked.clips[0].length), (1.5, 1.0));
}

#[test]
fn a04_frame_counts() {
    for (length, rate, intervals) in
        [(1.0333333, 30.0, 31), (0.7, 30.0, 21), (4.35, 100.0, 435), (0.1, 30.0, 3), (1.0, 30.0, 30), (0.01, 30.0, 1)]
    {
        let doc = sliding("LINEAR", &[0.0, length], &[0.0, 1.0]);
        let baked = bake_fixture(&doc, fps(rate));
        let clip = &baked.clips[0];
        assert_eq!(clip.frame_count, intervals + 1, "{length} s at {rate}");
        assert!((clip.fps - intervals as f64 / f64::from(length as f32)).abs() < 1e-4, "{clip:?}");
        let found = slide_of(&baked, 0);
        assert!(found[0].abs() < NEAR && (found[intervals] - 1.0).abs() < NEAR, "the first and the last pose are there: {found:?}");
    }
    for (length, rate, frames) in
        [(1.0333333, 30.0, 32), (0.7, 30.0, 22), (4.35, 100.0, 436), (0.1, 30.0, 4), (0.99, 30.0, 30), (0.01, 30.0, 1)]
    {
        let doc = sliding("LINEAR", &[0.0, length], &[0.0, 1.0]);
        let baked = bake_fixture(&doc, |o| (o.fps, o.exact_fps) = (Fps::Rate(rate), true));
        assert_eq!((baked.clips[0].frame_count, baked.clips[0].fps), (frames, rate), "{length} s, exactly {rate}");
    }
}

#[test]
fn a04_times_do_not_drift() {
    // 6,000 intervals near 1,200 s: thirtieths added up in f32 would be 0.2 s off.
    let doc = sliding("LINEAR", &[0.0, 1200.0], &[0.0, 1200.0]);
    let baked = bake_fixture(&doc, |o| (o.start, o.end) = (Some(1000.0), Some(1200.0)));
    assert_eq!(baked.frame_count, 6001);
    for (k, x) in slide_of(&baked, 0).iter().enumerate() {
        let wanted = 1000.0 + k as f64 / 30.0;
        assert!((x - wanted).abs() < 2e-4, "frame {k}: {x}, wanted {wanted}");
    }
}

#[test]
fn v15_a_range_in_seconds() {
    let baked = bake_fixture(&sliding("LINEAR", &[0.0, 3.0], &[0.0, 3.0]), |o| {
        (o.start, o.end, o.fps) = (Some(1.0), Some(1.5), Fps::Rate(24.0));
    });
    let wanted: Vec<f64> = (0..13).map(|k| 1.0 + f64::from(k) / 24.0).collect();
    assert_slide(&baked, &wanted, NEAR);
    assert_eq!((baked.clips[0].start, baked.clips[0].length), (1.0, 0.5));
    let error = refuse(&sliding("LINEAR", &[0.0, 3.0], &[0.0, 3.0]), |o| (o.start, o.end) = (Some(2.0), Some(1.0)));
    assert!(matches!(error, vatbake::Error::Usage(_)), "{error}");
}

#[test]
fn the_files_own_rate_is_its_most_frequent_key_distance() {
    let times = [0.0, 0.125, 0.25, 0.375, 0.5, 1.0];
    let baked = bake_fixture(&sliding("LINEAR", &times, &[0.0, 1.0, 0.0, 3.0, 0.0, 5.0]), |o| o.fps = Fps::Source);
    assert_eq!((baked.clips[0].frame_count, baked.clips[0].fps), (9, 8.0));
}

#[test]
fn rates_that_are_no_rates_are_refused() {
    for rate in [0.0, -30.0, f64::NAN, f64::INFINITY] {
        let error = refuse(&sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]), fps(rate));
        assert!(matches!(error, vatbake::Error::Usage(_)), "{rate}: {error}");
    }
    // A rate that would need billions of frames: the sizes are named, nothing is allocated.
    let error = refuse(&sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]), fps(1e9));
    assert!(matches!(error, vatbake::Error::Bake(_) | vatbake::Error::Usage(_)), "{error}");
}

#[test]
fn a05_a_key_is_hit_exactly() {
    let doc = sliding("STEP", &[0.0, 1.0, 2.0], &[0.0, 7.0, 9.0]);
    assert_slide(&bake_fixture(&doc, fps(1.0)), &[0.0, 7.0, 9.0], 0.0);
    let doc = sliding("LINEAR", &[0.0, 1.0, 2.0], &[0.25, 7.0, 9.5]);
    assert_slide(&bake_fixture(&doc, fps(1.0)), &[0.25, 7.0, 9.5], 0.0);
}

#[test]
fn a06_steps_hold_and_are_flagged() {
    let baked = bake_fixture(&sliding("STEP", &[0.0, 0.5, 1.0], &[0.0, 10.0, 10.0]), |_| ());
    let found = slide_of(&baked, 0);
    assert_eq!((found[14], found[15], found[30]), (0.0, 10.0, 10.0), "{found:?}");
    assert!(baked.clips[0].stepped);
    let baked = bake_fixture(&sliding("LINEAR", &[0.0, 0.5, 1.0], &[0.0, 10.0, 10.0]), |_| ());
    assert!(!baked.clips[0].stepped);
    // A STEP channel that holds one value makes no jump.
    let mut doc = sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]);
    let mut still = doc.clone();
    still.animate(None, &[(0, "scale", "STEP", &[0.0, 1.0], vec3(&[[1.0; 3]; 2]))]);
    merge_second_animation(&mut still);
    assert!(!bake_fixture(&still, |_| ()).clips[0].stepped);
    doc.animate(None, &[(0, "scale", "STEP", &[0.0, 1.0], vec3(&[[1.0; 3], [2.0; 3]]))]);
    merge_second_animation(&mut doc);
    assert!(bake_fixture(&doc, |_| ()).clips[0].stepped);
}

/// Moves the only channel of the second animation into the first, as its second sampler.
fn merge_second_animation(doc: &mut Doc) {
    let second = doc.json["animations"].as_array_mut().expect("animations").pop().expect("a second animation");
    doc.json["animations"][0]["samplers"].as_array_mut().expect("samplers").push(second["samplers"][0].clone());
    let mut channel = second["channels"][0].clone();
    channel["sampler"] = json!(1);
    doc.json["animations"][0]["channels"].as_array_mut().expect("channels").push(channel);
}

#[test]
fn a08_equal_times_are_a_jump_to_the_later_value() {
    let baked = bake_fixture(&sliding("LINEAR", &[0.0, 1.0, 1.0, 2.0], &[0.0, 1.0, 5.0, 6.0]), fps(1000.0));
    let found = slide_of(&baked, 0);
    assert_eq!(found.len(), 2001);
    for (frame, wanted) in [(999, 0.999), (1000, 5.0), (1500, 5.5), (2000, 6.0)] {
        assert!((found[frame] - wanted).abs() < NEAR, "frame {frame}: {}", found[frame]);
    }
    assert!(baked.warned(Code::KeyTimes) > 0);
}

#[test]
fn a08_unsorted_and_undefined_times_are_refused() {
    for times in [[0.0, 2.0, 1.0], [0.0, f64::NAN, 1.0], [f64::NAN, 0.5, 1.0], [0.0, 1.0, f64::INFINITY]] {
        let error = refuse(&sliding("LINEAR", &times, &[0.0, 1.0, 2.0]), |_| ()).to_string();
        assert!(error.contains("/animations/0/samplers/0") || error.contains("/accessors/"), "{error}");
    }
}

#[test]
fn a08_negative_times_keep_their_order() {
    let baked = bake_fixture(&sliding("LINEAR", &[-1.0, 0.0, 1.0], &[-1.0, 0.0, 1.0]), fps(2.0));
    let found = slide_of(&baked, 0);
    assert_eq!(found.last(), Some(&1.0));
    assert!(found.windows(2).all(|w| (w[1] - w[0] - 0.5).abs() < NEAR), "{found:?}");
    assert!(baked.warned(Code::KeyTimes) > 0);
}

#[test]
fn a11_counts_that_do_not_match_are_refused() {
    refuse_at(&sliding("LINEAR", &[0.0, 1.0, 2.0], &[0.0, 1.0]), "/animations/0/samplers/0", &["3", "2"]);
    refuse_at(&sliding("LINEAR", &[0.0, 1.0], &[0.0; 6]), "/animations/0/samplers/0", &["2", "6"]);
    refuse_at(&sliding("CUBICSPLINE", &[0.0, 1.0], &[0.0; 2]), "/animations/0/samplers/0", &["6", "2"]);
    // The right number of values of the wrong kind.
    let mut doc = rigid(&TRIANGLE);
    doc.animate(None, &[(0, "translation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0; 4]; 2]))]);
    refuse_at(&doc, "/animations/0", &["VEC4", "VEC3"]);
}

#[test]
fn a12_every_clip_has_its_own_length_and_rows() {
    let mut doc = sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]);
    doc.animate(Some("long"), &[(0, "translation", "LINEAR", &[0.0, 3.0], vec3(&along_x(&[5.0, 8.0])))]);
    let baked = bake_fixture(&doc, fps(10.0));
    let rows: Vec<_> = baked.clips.iter().map(|c| (c.first_frame, c.frame_count)).collect();
    assert_eq!((rows, baked.frame_count), (vec![(0, 11), (11, 31)], 42));
    let (a, b) = (slide_of(&baked, 0), slide_of(&baked, 1));
    (0..=10).for_each(|k| assert!((a[k] - k as f64 / 10.0).abs() < NEAR));
    (0..=30).for_each(|k| assert!((b[k] - 5.0 - k as f64 / 10.0).abs() < NEAR));
}

#[test]
fn clips_are_chosen_and_ordered() {
    let mut doc = rigid(&TRIANGLE);
    for (name, x) in [("Idle", 1.0), ("WalkFast", 2.0), ("WalkSlow", 3.0)] {
        doc.animate(Some(name), &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[x, x + 0.5])))]);
    }
    let names = |clips: &[&str]| -> Vec<String> {
        let baked = bake_fixture(&doc, |o| o.clips = clips.iter().map(|c| (*c).to_owned()).collect());
        let first = |k: usize| slide_of(&baked, k)[0];
        baked.clips.iter().enumerate().for_each(|(k, c)| assert!((first(k) - c.animation.expect("its number") as f64 - 1.0).abs() < NEAR));
        baked.clips.iter().map(|c| c.name.clone()).collect()
    };
    assert_eq!(names(&[]), ["Idle", "WalkFast", "WalkSlow"]);
    assert_eq!(names(&["WalkSlow", "Idle"]), ["WalkSlow", "Idle"]);
    assert_eq!(names(&["Walk*"]), ["WalkFast", "WalkSlow"]);
    assert_eq!(names(&["2", "0"]), ["WalkSlow", "Idle"]);
    let error = refuse(&doc, |o| o.clips = vec!["Run".into()]);
    let text = error.to_string();
    assert!(
        matches!(error, vatbake::Error::Usage(_)) && ["Run", "Idle", "WalkFast", "WalkSlow"].iter().all(|n| text.contains(n)),
        "{text}"
    );
}

#[test]
fn a13_names_are_kept_whatever_they_are() {
    let long = "é".repeat(300);
    let names = ["", "Idle", "idle", "Idle", "A|B", "a/b", "..", "CON", "x:y", long.as_str(), "🏃"];
    let mut doc = rigid(&TRIANGLE);
    for name in names {
        doc.animate(Some(name), &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0])))]);
    }
    doc.animate(None, &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0])))]);
    let baked = bake_fixture(&doc, |_| ());
    assert_eq!(baked.clips.len(), names.len() + 1);
    for (k, clip) in baked.clips.iter().enumerate() {
        assert_eq!(clip.animation, Some(k), "clips are told apart by number");
        if names.get(k).is_some_and(|n| !n.is_empty()) {
            assert_eq!(clip.name, names[k]);
        } else {
            assert!(!clip.name.is_empty(), "an unnamed clip gets a name");
        }
    }
}

#[test]
fn a14_channels_without_a_node_are_left_out() {
    let mut doc = sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]);
    let channels = doc.json["animations"][0]["channels"].as_array_mut().expect("channels");
    channels.push(json!({ "sampler": 0, "target": { "path": "translation" } }));
    channels.push(json!({ "sampler": 0, "target": { "path": "pointer",
        "extensions": { "KHR_animation_pointer": { "pointer": "/materials/0/emissiveFactor" } } } }));
    doc.json["extensionsUsed"] = json!(["KHR_animation_pointer"]);
    let baked = bake_fixture(&doc, fps(1.0));
    assert_slide(&baked, &[0.0, 1.0], NEAR);
    assert_eq!(baked.warned(Code::ChannelIgnored), 2);
}

#[test]
fn a17_what_a_clip_does_not_move_keeps_its_value() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["nodes"][0]["scale"] = json!([2.0, 2.0, 2.0]);
    doc.animate(Some("slide"), &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[5.0, 6.0])))]);
    doc.animate(Some("turn"), &[(0, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z]))]);
    let both = bake_fixture(&doc, |_| ());
    let alone = bake_fixture(&doc, |o| o.clips = vec!["turn".into()]);
    assert_near(alone.track(0, 0)[30], [0.0, 2.0, 0.0], NEAR);
    assert_near(alone.track(0, 0)[0], [2.0, 0.0, 0.0], NEAR);
    for (i, vertex) in (0..3).map(|i| (i, alone.track(0, i))) {
        both.track(1, i).iter().zip(&vertex).for_each(|(a, b)| assert_near(*a, *b, 0.0));
    }
}

#[test]
fn a19_empty_animations_are_left_out() {
    let mut doc = sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]);
    doc.push("animations", json!({ "name": "nothing", "channels": [], "samplers": [] }));
    doc.animate(Some("no keys"), &[(0, "translation", "LINEAR", &[], vec3(&[]))]);
    let baked = bake_fixture(&doc, |_| ());
    assert_eq!(baked.clips.len(), 1);
    assert_eq!(baked.warned(Code::EmptyAnimation), 3, "two animations and the channel of one");
}

#[test]
fn a20_the_data_holds_not_the_declared_range() {
    let mut doc = sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]);
    let input = doc.json["animations"][0]["samplers"][0]["input"].as_u64().expect("an index") as usize;
    doc.json["accessors"][input]["max"] = json!([1e308]);
    let baked = bake_fixture(&doc, |_| ());
    assert_eq!(baked.clips[0].length, 1.0);
}

#[test]
fn normalised_integer_outputs() {
    // Rotations as i8, i16 and u8; the identity and a half turn are exact but for the component's rounding.
    for (component, most) in [(Type::I8, 127.0), (Type::I16, 32767.0)] {
        let mut doc = rigid(&TRIANGLE);
        let keys = vec4(&[[0.0, 0.0, 0.0, most], [0.0, 0.0, most, 0.0], [0.0, 0.0, -most - 1.0, 0.0]]).of(component).normalized();
        doc.animate(None, &[(0, "rotation", "LINEAR", &[0.0, 1.0, 2.0], keys)]);
        let baked = bake_fixture(&doc, fps(1.0));
        assert_near(baked.position(0, 0), at(0.0), NEAR);
        assert_near(baked.position(1, 0), at(180.0), NEAR);
        assert_near(baked.position(2, 0), at(180.0), NEAR);
    }
}

#[test]
fn a_clip_of_one_key_is_one_frame() {
    let baked = bake_fixture(&sliding("LINEAR", &[0.5], &[3.0]), |_| ());
    assert_slide(&baked, &[3.0], NEAR);
    assert_eq!((baked.clips[0].frame_count, baked.clips[0].length), (1, 0.0));
    assert_near(baked.play(0, 0.7, Mode::Loop, 0), [4.0, 0.0, 0.0], NEAR);
}

#[test]
fn a_clip_that_moves_an_unused_node_is_said() {
    let mut doc = rigid(&TRIANGLE);
    let camera = doc.root(json!({ "name": "camera" }));
    doc.animate(None, &[(camera, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0])))]);
    assert_eq!(bake_fixture(&doc, |_| ()).warned(Code::NothingMoves), 1);
    let error = refuse(&doc, |o| o.strict = true);
    assert!(matches!(error, vatbake::Error::Strict(_)), "{error}");
}

/// Eight poses around a circle of radius 5, an eighth of a second apart; with the ninth, which is the first again, if `closed`.
fn circling(closed: bool) -> Doc {
    let count = if closed { 9 } else { 8 };
    let pose = |k: usize| (k as f64 / 8.0 * std::f64::consts::TAU).sin_cos();
    let keys: Vec<V3> = (0..count).map(|k| [5.0 * pose(k).1, 5.0 * pose(k).0, 0.0]).collect();
    let times: Vec<f64> = (0..count).map(|k| k as f64 / 8.0).collect();
    let mut doc = rigid(&TRIANGLE);
    doc.animate(None, &[(0, "translation", "LINEAR", &times, vec3(&keys))]);
    doc
}

#[test]
fn loops_are_closed_cycles_or_neither() {
    let closed = bake_fixture(&circling(true), fps(8.0));
    assert_eq!((closed.clips[0].looping.as_str(), closed.clips[0].frame_count, closed.clips[0].length), ("closed", 9, 1.0));
    assert_eq!(closed.warned(Code::CycleClosed), 0);

    let cycle = bake_fixture(&circling(false), fps(8.0));
    let clip = &cycle.clips[0];
    assert_eq!((clip.looping.as_str(), clip.frame_count, clip.length), ("cycle", 9, 1.0), "the first pose is appended");
    assert_eq!(cycle.warned(Code::CycleClosed), 1);
    assert_near(cycle.track(0, 0)[8], cycle.track(0, 0)[0], NEAR);
    (0..9).for_each(|k| assert_near(cycle.track(0, 0)[k], closed.track(0, 0)[k], NEAR));

    let once = bake_fixture(&sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]), |_| ());
    assert_eq!((once.clips[0].looping.as_str(), once.clips[0].frame_count), ("once", 31));
    assert_eq!(once.report.clips[0].looping, "once");
}

#[test]
fn loops_are_decided_by_the_caller_too() {
    let none = bake_fixture(&circling(true), |o| (o.fps, o.looping) = (Fps::Rate(8.0), Looping::None));
    assert_eq!((none.clips[0].looping.as_str(), none.clips[0].frame_count), ("once", 9));
    let none = bake_fixture(&circling(false), |o| (o.fps, o.looping) = (Fps::Rate(8.0), Looping::None));
    assert_eq!((none.clips[0].looping.as_str(), none.clips[0].frame_count), ("once", 8));
    let all = bake_fixture(&circling(false), |o| (o.fps, o.looping) = (Fps::Rate(8.0), Looping::All));
    assert_ne!(all.clips[0].looping, "once");

    let mut two = circling(true);
    two.json["animations"][0]["name"] = json!("Walk");
    let mut other = two.json["animations"][0].clone();
    other["name"] = json!("Die");
    two.push("animations", other);
    let named = bake_fixture(&two, |o| (o.fps, o.looping) = (Fps::Rate(8.0), Looping::Named(vec!["Walk".into()])));
    assert_eq!(named.clips.iter().map(|c| c.looping.as_str()).collect::<Vec<_>>(), ["closed", "once"]);
}

#[test]
fn exact_frames_append_nothing() {
    let baked = bake_fixture(&circling(false), |o| (o.fps, o.exact_fps) = (Fps::Rate(8.0), true));
    assert_eq!(baked.clips[0].frame_count, 8);
}

#[test]
fn the_player_loops_reflects_and_holds() {
    let baked = bake_fixture(&sliding("LINEAR", &[0.0, 1.0], &[0.0, 10.0]), fps(10.0));
    let x = |seconds: f64, mode: Mode| baked.play(0, seconds, mode, 0)[0] - 1.0;
    for (seconds, looped, reflected, held) in
        [(0.25, 2.5, 2.5, 2.5), (0.95, 9.5, 9.5, 9.5), (1.25, 2.5, 7.5, 10.0), (2.25, 2.5, 2.5, 10.0), (-0.25, 7.5, 2.5, 0.0)]
    {
        assert!((x(seconds, Mode::Loop) - looped).abs() < 1e-5, "loop at {seconds}");
        assert!((x(seconds, Mode::PingPong) - reflected).abs() < 1e-5, "ping-pong at {seconds}: {}", x(seconds, Mode::PingPong));
        assert!((x(seconds, Mode::Once) - held).abs() < 1e-5, "once at {seconds}");
    }
}
