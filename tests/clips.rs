//! Clips from other files, clips put together, root motion: closed forms on small rigs, and a real skeleton on itself.

mod support;

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use support::bake::{assert_near, input, options, refuse_input, sidecar_of};
use support::decode::V3;
use support::models::{Rig, along_x, rigid, sliding};
use support::validate::{issues_of_json, schema_into};
use support::{Baked, Doc, Type, bake, bake_fixture, oracle, refuse, vec3, vec4};
use vatbake::options::{Fps, Looping, MergeClips, RootMotion};
use vatbake::warning::Code;
use vatbake::{Error, Input, Options};

const NEAR: f64 = 1e-5;
const STILL: [f64; 4] = [0.0, 0.0, 0.0, 1.0];
/// 90° about +Y.
const QUARTER_Y: [f64; 4] = [0.0, FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2];

/// A file of motions: nodes as they are given, the first of them in the scene; `slides` are nodes that move by 1 m along x within
/// a second, a clip each.
fn motion(nodes: &[Value], slides: &[(Option<&str>, usize)]) -> Doc {
    let mut doc = Doc::new();
    for (n, node) in nodes.iter().enumerate() {
        if n == 0 {
            doc.root(node.clone())
        } else {
            doc.node(node.clone())
        };
    }
    for (name, node) in slides {
        doc.animate(*name, &[(*node, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0])))]);
    }
    doc
}

fn file(name: &str, doc: &Doc) -> Input {
    Input::Bytes { name: name.into(), bytes: doc.to_glb() }
}

/// Two joints, `Hips` (node 1) and below it `Head` (node 2); vertex 0 hangs on the first, vertices 1 and 2 on the second.
fn hips_and_head() -> Doc {
    let mut rig = Rig::new(vec![json!({ "name": "Hips", "children": [2] }), json!({ "name": "Head" })]);
    rig.joints = vec4(&[[0.0; 4], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]).of(Type::U8);
    rig.doc()
}

fn names(baked: &Baked) -> Vec<&str> {
    baked.clips.iter().map(|c| c.name.as_str()).collect()
}

/// How far a vertex is from its first place in the clip's last frame.
fn way(baked: &Baked, clip: usize, vertex: usize) -> V3 {
    let track = baked.track(clip, vertex);
    std::array::from_fn(|c| track[track.len() - 1][c] - track[0][c])
}

fn message(baked: &Baked, code: Code) -> String {
    baked.report.warnings.iter().find(|w| w.code == code).map_or_else(String::new, |w| w.message.clone())
}

#[test]
fn clips_of_other_files_move_nodes_of_the_same_name() {
    // Other numbers, another parent: the names tell.
    let nodes = [json!({ "name": "Armature", "children": [2] }), json!({ "name": "Head" }), json!({ "name": "Hips", "children": [1] })];
    let walk = file("walk.glb", &motion(&nodes, &[(None, 2)]));
    let run = file("run.glb", &motion(&nodes, &[(Some("Sprint"), 1)]));
    let alone = bake_fixture(&hips_and_head(), |o| (o.allow_static, o.animations) = (false, vec![walk.clone(), run.clone()]));
    assert_eq!(names(&alone), ["walk", "Sprint"], "a model without clips bakes theirs");
    assert_near(way(&alone, 0, 0), [1.0, 0.0, 0.0], NEAR);
    assert_near(way(&alone, 0, 1), [1.0, 0.0, 0.0], NEAR);
    assert_near(way(&alone, 1, 0), [0.0; 3], NEAR);
    assert_near(way(&alone, 1, 1), [1.0, 0.0, 0.0], NEAR);
    for (clip, input, name) in [(0, &walk, "walk.glb"), (1, &run, "run.glb")] {
        let Input::Bytes { bytes, .. } = input else { unreachable!("bytes were made") };
        let sha256: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(alone.sidecar["clips"][clip]["source"], json!({ "file": name, "sha256": sha256 }));
    }
    let codes = [Code::RestPoseDiffers, Code::JointsMissing, Code::MatchedByPath, Code::ChannelUnmatched, Code::MatrixNodeAnimated];
    codes.iter().for_each(|&code| assert_eq!(alone.warned(code), 0, "{code:?}"));

    let mut own = hips_and_head();
    own.animate(Some("Nod"), &[(2, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 3.0])))]);
    let both = bake_fixture(&own, |o| o.animations = vec![walk, run]);
    assert_eq!(names(&both), ["Nod", "walk", "Sprint"], "the model's own come first");
    assert!(both.sidecar["clips"][0].get("source").is_none());
    assert_near(way(&both, 1, 1), [1.0, 0.0, 0.0], NEAR);
}

#[test]
fn ambiguous_names_are_matched_by_their_path() {
    // Two hands of one name, and their order differs.
    let mut rig = Rig::new(vec![
        json!({ "name": "Hips", "children": [2, 4] }),
        json!({ "name": "Left", "children": [3] }),
        json!({ "name": "Hand" }),
        json!({ "name": "Right", "children": [5] }),
        json!({ "name": "Hand" }),
    ]);
    rig.joints = vec4(&[[2.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0], [0.0; 4]]).of(Type::U8);
    let nodes = [
        json!({ "name": "Hips", "children": [1, 3] }),
        json!({ "name": "Right", "children": [2] }),
        json!({ "name": "Hand" }),
        json!({ "name": "Left", "children": [4] }),
        json!({ "name": "Hand" }),
    ];
    let animations = vec![file("right.glb", &motion(&nodes, &[(None, 2)])), file("left.glb", &motion(&nodes, &[(None, 4)]))];
    let baked = bake_fixture(&rig.doc(), |o| o.animations = animations);
    for (clip, moved) in [(0, 1), (1, 0)] {
        (0..3).for_each(|v| assert_near(way(&baked, clip, v), [f64::from(v == moved), 0.0, 0.0], NEAR));
    }
    assert_eq!(baked.warned(Code::MatchedByPath), 4, "two hands, two files");
    assert!(message(&baked, Code::MatchedByPath).contains("'Hand' of right.glb"));
}

#[test]
fn nodes_without_names_are_matched_by_their_place() {
    let mut rig = Rig::new(vec![json!({ "children": [2] }), json!({})]);
    rig.joints = vec4(&[[0.0; 4], [1.0, 0.0, 0.0, 0.0], [0.0; 4]]).of(Type::U8);
    let mut doc = Doc::new();
    doc.root(json!({})); // stands for the mesh's node
    doc.root(json!({ "children": [2] }));
    doc.node(json!({}));
    doc.animate(None, &[(2, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0])))]);
    let baked = bake_fixture(&rig.doc(), |o| o.animations = vec![file("walk.glb", &doc)]);
    (0..3).for_each(|v| assert_near(way(&baked, 0, v), [f64::from(v == 1), 0.0, 0.0], NEAR));
}

#[test]
fn differences_of_the_rest_pose_are_counted() {
    let skeleton = |hips: Value| {
        let head = json!({ "name": "Head", "translation": [0.0, 0.5, 0.0] });
        [json!({ "name": "Armature", "children": [1] }), hips, head]
    };
    let mut rig = Rig::new(vec![
        json!({ "name": "Hips", "translation": [0.0, 1.0, 0.0], "children": [2] }),
        json!({ "name": "Head", "translation": [0.0, 0.5, 0.0] }),
    ]);
    rig.joints = vec4(&[[1.0, 0.0, 0.0, 0.0]; 3]).of(Type::U8);
    let model = rig.doc();
    for (hips, differs, word) in [
        (json!({ "name": "Hips", "translation": [0.0, 1.005, 0.0], "children": [2] }), 0, ""),
        (json!({ "name": "Hips", "translation": [0.0, 1.2, 0.0], "children": [2] }), 1, "0.2000 m"),
        (json!({ "name": "Hips", "translation": [0.0, 1.0, 0.0], "rotation": QUARTER_Y, "children": [2] }), 1, "90.0 degrees"),
        (json!({ "name": "Hips", "translation": [0.0, 1.0, 0.0], "scale": [2.0, 2.0, 2.0], "children": [2] }), 1, "scale 2"),
    ] {
        // The head moves; what stands above it counts too.
        let walk = file("walk.glb", &motion(&skeleton(hips), &[(None, 2)]));
        let baked = bake_fixture(&model, |o| o.animations = vec![walk.clone()]);
        assert_eq!(baked.warned(Code::RestPoseDiffers), differs, "{word}");
        let text = message(&baked, Code::RestPoseDiffers);
        assert!(differs == 0 || ["'Hips'", "walk.glb", word].iter().all(|w| text.contains(w)), "{text}");
        let first = baked.position(0, 0);
        assert_near(first, [1.0, 1.0, 0.0], NEAR); // hips of the model, head of the clip
        if differs > 0 {
            let error = refuse(&model, |o| (o.animations, o.strict) = (vec![walk], true));
            assert!(matches!(error, Error::Strict(_)), "{error}");
        }
    }
}

#[test]
fn joints_that_the_other_file_lacks_are_counted_and_rest() {
    let walk = file("walk.glb", &motion(&[json!({ "name": "Hips", "children": [1] }), json!({ "name": "Tail" })], &[(None, 0), (None, 1)]));
    let baked = bake_fixture(&hips_and_head(), |o| o.animations = vec![walk]);
    assert_eq!(baked.warned(Code::JointsMissing), 1);
    let text = message(&baked, Code::JointsMissing);
    assert!(text.contains("'Head'") && text.contains("walk.glb"), "{text}");
    // The clip of the tail alone moves nothing here: it goes, its channel is counted.
    assert_eq!((baked.warned(Code::ChannelUnmatched), baked.warned(Code::EmptyAnimation), baked.clips.len()), (1, 1, 1));
    assert!(message(&baked, Code::ChannelUnmatched).contains("'Tail'"));
    assert_near(way(&baked, 0, 1), [1.0, 0.0, 0.0], NEAR);
}

#[test]
fn files_without_a_match_or_an_animation_are_refused() {
    let stranger = file("dog.glb", &motion(&[json!({ "name": "Spine" })], &[(None, 0)]));
    let error = refuse(&hips_and_head(), |o| o.animations = vec![stranger]);
    let text = error.to_string();
    assert!(matches!(error, Error::Usage(_)), "{text}");
    ["dog.glb", "fixture.glb", "'Spine'", "'Hips'"].iter().for_each(|word| assert!(text.contains(word), "{word} in {text}"));
    let still = file("pose.glb", &motion(&[json!({ "name": "Hips" })], &[]));
    let text = refuse(&hips_and_head(), |o| o.animations = vec![still]).to_string();
    assert!(text.contains("pose.glb") && text.contains("no animation"), "{text}");
    let broken = Input::Bytes { name: "broken.glb".into(), bytes: b"glTF".to_vec() };
    let error = refuse(&hips_and_head(), |o| o.animations = vec![broken]);
    assert!(matches!(&error, Error::Model { path, .. } if path.ends_with("broken.glb")), "{error}");
}

#[test]
fn clips_with_a_clashing_name_are_called_after_their_file() {
    let nodes = [json!({ "name": "Hips" })];
    let mixamo = |name: &str| file(name, &motion(&nodes, &[(Some("mixamo.com"), 0)]));
    let mut own = hips_and_head();
    own.animate(Some("mixamo.com"), &[(1, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 2.0])))]);
    let animations = vec![mixamo("walk.glb"), mixamo("run.glb")];
    let baked = bake_fixture(&own, |o| o.animations = animations.clone());
    assert_eq!(names(&baked), ["mixamo.com", "walk", "run"]);
    let chosen = bake_fixture(&own, |o| (o.animations, o.clips) = (animations, vec!["run".into(), "0".into()]));
    assert_eq!(names(&chosen), ["run", "mixamo.com"]);
    assert_near(way(&chosen, 1, 0), [2.0, 0.0, 0.0], NEAR);
}

#[test]
fn only_nodes_and_motions_of_the_other_file_are_read() {
    let mut doc = motion(&[json!({ "name": "Hips", "mesh": 0 })], &[(None, 0)]);
    doc.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": 99 } }] })); // no such accessor
    doc.push("images", json!({ "uri": "gone.png" }));
    let baked = bake_fixture(&hips_and_head(), |o| o.animations = vec![file("walk.glb", &doc)]);
    assert_near(way(&baked, 0, 0), [1.0, 0.0, 0.0], NEAR);
    assert_eq!(baked.warned(Code::ImageMissing), 0);
}

#[test]
fn what_the_reader_finds_in_another_file_names_it() {
    let mut doc = motion(&[json!({ "name": "Hips" })], &[]);
    doc.animate(None, &[(0, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[STILL, [0.0, 2.0, 0.0, 0.0]]))]);
    let baked = bake_fixture(&hips_and_head(), |o| o.animations = vec![file("walk.glb", &doc)]);
    assert_eq!(baked.warned(Code::QuaternionNormalised), 1);
    assert!(message(&baked, Code::QuaternionNormalised).starts_with("walk.glb: "));
}

#[test]
fn morph_weights_need_as_many_targets() {
    let with = |targets: usize| {
        let target = || vec![("POSITION", vec3(&along_x(&[1.0, 1.0, 1.0])))];
        let mut doc = support::models::morphing(&support::models::TRIANGLE, (0..targets).map(|_| target()).collect());
        doc.json["nodes"][0]["name"] = json!("Face");
        doc
    };
    let mut talk = with(2);
    talk.animate(Some("Talk"), &[(0, "weights", "LINEAR", &[0.0, 1.0], support::scalars(&[0.0, 0.0, 1.0, 0.0]))]);
    let baked = bake_fixture(&with(2), |o| o.animations = vec![file("talk.glb", &talk)]);
    assert_near(way(&baked, 0, 0), [1.0, 0.0, 0.0], NEAR);
    talk.animate(Some("Slide"), &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0])))]);
    let baked = bake_fixture(&with(1), |o| o.animations = vec![file("talk.glb", &talk)]);
    assert_eq!((names(&baked), baked.warned(Code::WeightsWithoutTargets)), (vec!["Slide"], 1));
}

#[test]
fn a_matrix_that_another_file_animates_is_taken_apart() {
    let mut model = hips_and_head();
    let matrix = [0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 1.0]; // 90° about +Y, at x = 5
    model.json["nodes"][1]["matrix"] = json!(matrix);
    let same = [json!({ "name": "Hips", "matrix": matrix })];
    let baked = bake_fixture(&model, |o| o.animations = vec![file("walk.glb", &motion(&same, &[(None, 0)]))]);
    assert_eq!((baked.warned(Code::MatrixNodeAnimated), baked.warned(Code::RestPoseDiffers)), (2, 0), "here and there");
    assert_near(baked.position(0, 0), [0.0, 0.0, -1.0], NEAR);
    assert_near(way(&baked, 0, 0), [1.0, 0.0, 0.0], NEAR);
}

#[test]
fn no_output_replaces_a_file_of_motions() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let walk = folder.path().join("hero_vat.glb");
    let bytes = motion(&[json!({ "name": "Hips" })], &[(None, 0)]).to_glb();
    std::fs::write(&walk, &bytes).expect("a file");
    let options = Options { name: Some("hero".into()), animations: vec![Input::File(walk.clone())], ..options() };
    let request = vatbake::Request { input: input(&hips_and_head()), output: folder.path().into(), options };
    let error = vatbake::bake(&request, &mut vatbake::Silent).expect_err("the mesh would replace it");
    assert!(matches!(&error, Error::Usage(text) if text.contains("hero_vat.glb")), "{error}");
    assert_eq!(std::fs::read(&walk).expect("still there"), bytes);
}

/// [`hips_and_head`] with a clip a joint and one that stands alone between them.
fn split() -> Doc {
    let mut doc = hips_and_head();
    let slide = |to: f64| vec3(&along_x(&[0.0, to]));
    doc.animate(Some("Walk_Hips"), &[(1, "translation", "LINEAR", &[0.0, 1.0], slide(1.0))]);
    doc.animate(Some("Idle"), &[(1, "translation", "LINEAR", &[0.0, 1.0], slide(5.0))]);
    doc.animate(Some("Walk_Head"), &[(2, "translation", "LINEAR", &[0.0, 2.0], slide(2.0))]);
    doc
}

fn merge(name: Option<&str>, clips: &[&str]) -> MergeClips {
    MergeClips { name: name.map(String::from), clips: clips.iter().map(ToString::to_string).collect() }
}

#[test]
fn parts_of_a_motion_are_put_together() {
    for (asked, name) in [
        (merge(None, &["Walk_*"]), "Walk"),
        (merge(Some("Stroll"), &["Walk_Head", "0"]), "Stroll"),
        (merge(Some("Walk_Hips"), &["0", "2"]), "Walk_Hips"), // a part's own name is free
    ] {
        let baked = bake_fixture(&split(), |o| o.merges = vec![asked.clone()]);
        assert_eq!(names(&baked), [name, "Idle"], "{asked:?}");
        assert_eq!(baked.clips[0].length, 2.0);
        assert_near(way(&baked, 0, 0), [1.0, 0.0, 0.0], NEAR);
        assert_near(way(&baked, 0, 1), [3.0, 0.0, 0.0], NEAR);
        assert_near(way(&baked, 1, 1), [5.0, 0.0, 0.0], NEAR);
    }
    let chosen = bake_fixture(&split(), |o| (o.merges, o.clips) = (vec![merge(None, &["Walk_*"])], vec!["Walk".into()]));
    assert_eq!(names(&chosen), ["Walk"], "--clips sees the whole");
}

#[test]
fn parts_may_come_from_several_files() {
    let nodes = [json!({ "name": "Hips", "children": [1] }), json!({ "name": "Head" })];
    let animations = vec![file("legs.glb", &motion(&nodes, &[(None, 0)])), file("arms.glb", &motion(&nodes, &[(None, 1)]))];
    let baked = bake_fixture(&hips_and_head(), |o| (o.animations, o.merges) = (animations, vec![merge(Some("Walk"), &["legs", "arms"])]));
    assert_eq!(names(&baked), ["Walk"]);
    assert_near(way(&baked, 0, 1), [2.0, 0.0, 0.0], NEAR);
    assert_eq!(baked.sidecar["clips"][0]["source"]["file"], "legs.glb");
}

#[test]
fn parts_that_do_not_go_together_are_refused() {
    for (asked, words) in [
        (merge(None, &["Walk_Hips", "Idle"]), &["translation", "'Hips'", "'Walk_Hips'", "'Idle'"][..]),
        (merge(None, &["Walk_Hips"]), &["two clips", "'Walk_Hips'"]),
        (merge(None, &["Walk_Hips", "0"]), &["two clips"]),
        (merge(None, &["Walk_Hips", "Arms"]), &["'Arms'"]),
        (merge(Some("Idle"), &["Walk_*"]), &["'Idle'"]),
    ] {
        let error = refuse(&split(), |o| o.merges = vec![asked.clone()]);
        let text = error.to_string();
        assert!(matches!(error, Error::Usage(_)), "{text}");
        words.iter().for_each(|word| assert!(text.contains(word), "{word} in: {text}"));
    }
}

fn strip(o: &mut Options) {
    o.root_motion = RootMotion::Strip;
}

/// The track of a clip: yaw and translation a frame.
fn root_track(baked: &Baked, clip: usize) -> Vec<(f64, V3)> {
    let json = &baked.sidecar["clips"][clip]["root_motion"];
    let yaw = json["yaw"].as_array().expect("yaw").iter().map(|y| y.as_f64().expect("a number"));
    let way = json["translation"].as_array().expect("translation").iter().map(|t| support::decode::vector(t).expect("a vector"));
    let track: Vec<_> = yaw.zip(way).collect();
    assert_eq!(track.len(), baked.clips[clip].frame_count);
    track
}

/// A point turned by `yaw` about +Y and moved: as the sidecar's schema says it.
fn carry(p: V3, (yaw, way): (f64, V3)) -> V3 {
    let (sin, cos) = yaw.sin_cos();
    [cos * p[0] + sin * p[2] + way[0], p[1] + way[1], cos * p[2] - sin * p[0] + way[2]]
}

/// The track over the stripped bake gives the kept one.
#[track_caller]
fn assert_given_back(stripped: &Baked, kept: &Baked) {
    assert_given_back_within(stripped, kept, NEAR);
}

#[track_caller]
fn assert_given_back_within(stripped: &Baked, kept: &Baked, tolerance: f64) {
    for clip in 0..kept.clips.len() {
        let track = root_track(stripped, clip);
        for (k, &moved) in track.iter().enumerate() {
            let (from, to) = (stripped.clips[clip].first_frame + k, kept.clips[clip].first_frame + k);
            (0..kept.vertex_count).for_each(|v| assert_near(carry(stripped.position(from, v), moved), kept.position(to, v), tolerance));
        }
    }
}

/// Hips that walk 2 m along +x from (3, 1, 1) and turn by 90° meanwhile, below a node that is turned as Blender's armatures are;
/// the head nods by `nod` degrees and back.
fn walker(nod: f64) -> Doc {
    let half = (nod / 2.0).to_radians();
    let mut doc = hips_and_head();
    let armature = doc.node(
        json!({ "name": "Armature", "rotation": [-FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2], "scale": [0.5, 0.5, 0.5], "children": [1] }),
    );
    doc.json["scenes"][0]["nodes"] = json!([0, armature]);
    // The armature's z is the world's y, its y the world's -z; lengths are halved.
    let places = vec3(&[[6.0, -2.0, 2.0], [10.0, -2.0, 2.0]]);
    doc.animate(
        Some("Walk"),
        &[
            (1, "translation", "LINEAR", &[0.0, 1.0], places),
            (1, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[STILL, [0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2]])),
            (2, "rotation", "LINEAR", &[0.0, 0.5, 1.0], vec4(&[STILL, [half.sin(), 0.0, 0.0, half.cos()], STILL])),
        ],
    );
    doc
}

#[test]
fn a_stripped_walk_stays_where_it_began() {
    let doc = walker(0.0);
    let (kept, stripped) = (bake_fixture(&doc, |_| ()), bake_fixture(&doc, strip));
    assert!(kept.sidecar["clips"][0].get("root_motion").is_none());
    let track = root_track(&stripped, 0);
    let (first, count) = (stripped.frame(0), stripped.frame_count);
    assert_eq!(count, 31);
    for (k, &at) in track.iter().enumerate() {
        stripped.frame(k).into_iter().zip(&first).for_each(|(p, wanted)| assert_near(p, *wanted, NEAR));
        let done = k as f64 / 30.0;
        assert!((at.0 - FRAC_PI_2 * done).abs() < NEAR, "frame {k}: {track:?}");
        // The root's place is carried from (3, 1, 1) to where it is in this frame.
        assert_near(carry([3.0, 1.0, 1.0], at), [3.0 + 2.0 * done, 1.0, 1.0], NEAR);
    }
    assert_eq!(track[0], (0.0, [0.0; 3]));
    (0..kept.vertex_count).for_each(|v| assert_near(stripped.position(0, v), kept.position(0, v), 1e-6));
    assert_given_back(&stripped, &kept);
    let root = &stripped.sidecar["clips"][0]["root_motion"];
    assert_eq!((&root["node"], &root["node_name"]), (&json!(1), &json!("Hips")));
}

#[test]
fn the_track_gives_the_walk_back() {
    let doc = walker(70.0);
    for scale in [1.0, 3.0] {
        let kept = bake_fixture(&doc, |o| o.scale = scale);
        let stripped = bake_fixture(&doc, |o| {
            strip(o);
            o.scale = scale;
        });
        assert_given_back(&stripped, &kept);
        let moved = way_at(&stripped, 15, 1);
        assert!(moved > 0.1 * scale, "the head nods in place: {moved}");
    }
    // From the middle of the clip: relative to the first frame that is baked.
    let late = |o: &mut Options| o.start = Some(0.5);
    let kept = bake_fixture(&doc, late);
    let stripped = bake_fixture(&doc, |o| {
        strip(o);
        late(o);
    });
    assert_given_back(&stripped, &kept);
    (0..3).for_each(|v| assert_near(stripped.position(0, v), kept.position(0, v), 1e-6));
}

/// Distance of a vertex between frame 0 and another.
fn way_at(baked: &Baked, frame: usize, vertex: usize) -> f64 {
    let (a, b) = (baked.position(0, vertex), baked.position(frame, vertex));
    (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn the_schema_knows_what_clips_may_have_besides() {
    let doc = walker(70.0);
    let nodes = [json!({ "name": "Head" })];
    let baked = bake_fixture(&doc, |o| {
        strip(o);
        o.animations = vec![file("nod.glb", &motion(&nodes, &[(None, 0)]))];
    });
    assert_eq!(baked.clips.len(), 2);
    let schema = schema_into(baked.folder.path());
    assert_eq!(issues_of_json(&sidecar_of(&baked.report), &schema), Vec::<Value>::new());
    let mut broken = baked.sidecar.clone();
    broken["clips"][1]["root_motion"]["yaw"] = json!("none");
    broken["clips"][1]["source"] = json!({ "file": "nod.glb" });
    let file = baked.folder.path().join("broken.json");
    std::fs::write(&file, broken.to_string()).expect("a file");
    assert!(issues_of_json(&file, &schema).len() >= 2, "both are described");
}

#[test]
fn height_and_leaning_stay() {
    let mut doc = hips_and_head();
    let lean = [0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2]; // about z
    doc.animate(
        None,
        &[
            (1, "translation", "LINEAR", &[0.0, 1.0], vec3(&[[0.0; 3], [4.0, 2.0, 0.0]])),
            (1, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[STILL, lean])),
        ],
    );
    let stripped = bake_fixture(&doc, strip);
    assert_near(stripped.position(30, 0), [0.0, 3.0, 0.0], NEAR); // (1, 0, 0) leans up, and is 2 m higher
    assert_given_back(&stripped, &bake_fixture(&doc, |_| ()));
}

#[test]
fn yaw_goes_on_past_half_a_turn() {
    let mut doc = hips_and_head();
    let turn = |quarters: i32| {
        let half = f64::from(quarters) * PI / 4.0;
        [0.0, half.sin(), 0.0, half.cos()]
    };
    let times: Vec<f64> = (0..=6).map(f64::from).collect();
    doc.animate(None, &[(1, "rotation", "LINEAR", &times, vec4(&(0..=6).map(turn).collect::<Vec<_>>()))]);
    let stripped = bake_fixture(&doc, strip);
    let track = root_track(&stripped, 0);
    for (k, (yaw, _)) in track.iter().enumerate() {
        assert!((yaw - 3.0 * PI * k as f64 / 180.0).abs() < NEAR, "frame {k}: {yaw}");
    }
}

#[test]
fn loops_are_judged_on_what_is_baked() {
    let doc = walker(70.0);
    let (kept, stripped) = (bake_fixture(&doc, |_| ()), bake_fixture(&doc, strip));
    assert_eq!((kept.clips[0].looping.as_str(), stripped.clips[0].looping.as_str()), ("once", "closed"));
    // A cycle without its closing key: twelve steps of a circle, a tenth of a metre each.
    let mut doc = hips_and_head();
    let times: Vec<f64> = (0..12).map(|k| f64::from(k) / 30.0).collect();
    let turn = |k: i32| {
        let half = f64::from(k) * PI / 12.0;
        [half.sin(), 0.0, 0.0, half.cos()]
    };
    let places: Vec<_> = (0..12).map(|k| [0.0, 0.0, f64::from(k) * 0.1]).collect();
    let turns: Vec<_> = (0..12).map(turn).collect();
    doc.animate(None, &[(1, "translation", "LINEAR", &times, vec3(&places)), (2, "rotation", "LINEAR", &times, vec4(&turns))]);
    let stripped = bake_fixture(&doc, strip);
    assert_eq!((stripped.clips[0].looping.as_str(), stripped.frame_count), ("cycle", 13));
    let track = root_track(&stripped, 0);
    (0..13).for_each(|k| assert_near(track[k].1, [0.0, 0.0, 0.1 * k as f64], NEAR)); // the appended frame goes on
    (0..3).for_each(|v| assert_near(stripped.position(12, v), stripped.position(0, v), NEAR));
}

#[test]
fn a_long_drift_names_the_flag() {
    let far = |to: f64| {
        let mut doc = hips_and_head();
        doc.animate(Some("Run"), &[(1, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, to])))]);
        doc
    };
    // The triangle's box has a diagonal of the square root of 3.
    let baked = bake_fixture(&far(1.8), |_| ());
    assert_eq!(baked.warned(Code::RootDrift), 1);
    let text = message(&baked, Code::RootDrift);
    assert!(text.contains("--root-motion strip") && text.contains("'Run'"), "{text}");
    assert_eq!(bake_fixture(&far(1.7), |_| ()).warned(Code::RootDrift), 0);
    assert_eq!(bake_fixture(&far(1.8), strip).warned(Code::RootDrift), 0);
    // A root that stays while something below it goes away: the flag that helps then is another.
    let mut still = hips_and_head();
    still.animate(None, &[(2, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 5.0])))]);
    let baked = bake_fixture(&still, strip);
    assert!(message(&baked, Code::RootDrift).contains("--root"), "two of three vertices hang on the head");
    root_track(&baked, 0).iter().for_each(|m| assert_eq!(*m, (0.0, [0.0; 3])));
    let baked = bake_fixture(&still, |o| {
        strip(o);
        o.root = Some("Head".into());
    });
    assert_eq!(baked.warned(Code::RootDrift), 0);
    (0..3).for_each(|v| assert_near(way(&baked, 0, v), [if v == 0 { -5.0 } else { 0.0 }, 0.0, 0.0], NEAR)); // the whole pose goes back
}

#[test]
fn the_root_may_be_named_and_must_be_when_there_is_none() {
    let doc = sliding("LINEAR", &[0.0, 1.0], &[0.0, 2.0]);
    let error = refuse(&doc, strip);
    assert!(matches!(&error, Error::Usage(text) if text.contains("--root")), "{error}");
    let named = |root: &str| {
        let root = root.to_owned();
        move |o: &mut Options| (o.root_motion, o.root) = (RootMotion::Strip, Some(root))
    };
    let baked = bake_fixture(&doc, named("0"));
    (0..3).for_each(|v| assert_near(way(&baked, 0, v), [0.0; 3], NEAR));
    assert_given_back(&baked, &bake_fixture(&doc, |_| ()));
    for (root, word) in [("Hips", "'Hips'"), ("9", "'9'")] {
        let error = refuse(&doc, named(root));
        assert!(matches!(&error, Error::Usage(text) if text.contains(word)), "{error}");
    }
    let error = refuse(&doc, |o| o.root = Some("0".into()));
    assert!(matches!(&error, Error::Usage(text) if text.contains("--root-motion strip")), "{error}");
    // Two joints that stand below no other.
    let mut two = Rig::new(vec![json!({ "name": "Left" }), json!({ "name": "Right" })]).doc();
    two.animate(None, &[(1, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0])))]);
    let text = refuse(&two, strip).to_string();
    assert!(["'Left'", "'Right'", "--root"].iter().all(|w| text.contains(w)), "{text}");
    let text = refuse(&two, named("*t")).to_string();
    assert!(text.contains("2 nodes"), "{text}");
    assert_near(way(&bake_fixture(&two, named("armature")), 0, 0), [1.0, 0.0, 0.0], NEAR);
    bake_fixture(&rigid(&support::models::TRIANGLE), named("0")); // nothing moves, and nothing is taken out
}

/// The skin with the most vertices decides.
#[test]
fn the_largest_skin_has_the_root() {
    let mut doc = hips_and_head();
    doc.push("skins", json!({ "joints": [2] }));
    let small = doc.json["meshes"][0].clone();
    doc.push("meshes", small);
    let second = doc.root(json!({ "mesh": 1, "skin": 1 }));
    let joints = doc.add(vec4(&[[0.0; 4]; 3]).of(Type::U8));
    doc.json["meshes"][1]["primitives"][0]["attributes"]["JOINTS_0"] = json!(joints);
    doc.animate(None, &[(2, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0])))]);
    let node_of = |doc: &Doc| bake_fixture(doc, strip).sidecar["clips"][0]["root_motion"]["node"].clone();
    assert_eq!(node_of(&doc), 1, "of equally many the first");
    let primitive = doc.json["meshes"][1]["primitives"][0].clone();
    doc.json["meshes"][1]["primitives"].as_array_mut().expect("primitives").push(primitive);
    assert_eq!(node_of(&doc), 2);
    assert_eq!(second, 3);
}

/// Skeletons of several exporters: what is taken out is what the sidecar says.
#[test]
fn real_walks_are_given_back() {
    let Some(models) = real_models() else { return };
    for name in ["CesiumMan", "RiggedFigure", "Fox", "KayKit-Knight"] {
        let model = models.iter().find(|m| m.name == name).expect(name);
        let bake_as = |root_motion| {
            // Two of KayKit's 76: one turns, one goes aside.
            let two = || vec!["1H_Ranged_Aiming".into(), "Dodge_Left".into()];
            let clips = if name == "KayKit-Knight" { two() } else { Vec::new() };
            let root = (name == "Fox" && root_motion == RootMotion::Strip).then(|| "b_Hip_01".into());
            let options = Options { root_motion, root, clips, fps: Fps::Rate(6.0), looping: Looping::None, ..options() };
            bake(Input::File(model.file.clone()), options).unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let (kept, stripped) = (bake_as(RootMotion::Keep), bake_as(RootMotion::Strip));
        let bounds = &kept.sidecar["bounds"];
        let corner = |which: &str| support::decode::vector(&bounds[which]).expect("a corner");
        let size = (0..3).map(|c| (corner("max")[c] - corner("min")[c]).powi(2)).sum::<f64>().sqrt();
        assert_given_back_within(&stripped, &kept, NEAR * size);
        if name == "Fox" {
            let way = (0..3).flat_map(|clip| root_track(&stripped, clip)).map(|(_, way)| way[2].abs()).fold(0.0, f64::max);
            assert!(way > 5.0, "the hips of a run go to and fro: {way}");
        }
        if name == "KayKit-Knight" {
            let [aim, dodge] = [0, 1].map(|clip| *root_track(&stripped, clip).last().expect("a frame"));
            assert!(aim.0 > 0.2 && dodge.1[0] > 0.4, "an archer turns to aim, {aim:?}; the other dodges, {dodge:?}");
        }
    }
}

/// The given models; none where they are absent, which CI does not allow.
fn real_models() -> Option<Vec<oracle::Model>> {
    let models = oracle::models();
    assert!(models.is_some() || std::env::var_os("CI").is_none(), "shared/data is missing");
    models
}

/// The model's clips on the model itself: the same positions, exactly.
#[test]
fn a_real_skeleton_takes_its_own_clips() {
    let Some(models) = real_models() else { return };
    let model = models.iter().find(|m| m.name == "Mesh2Motion-Fox").expect("the fox");
    let options = Options { animations: vec![Input::File(model.file.clone())], fps: Fps::Rate(5.0), ..options() };
    let baked = bake(Input::File(model.file.clone()), options).expect("bakes");
    let own = baked.clips.len() / 2;
    assert_eq!((own, baked.clips.len()), (14, 28));
    assert_eq!(baked.clips[14].name, "fox-animations_Bark");
    for code in [Code::RestPoseDiffers, Code::JointsMissing, Code::ChannelUnmatched] {
        assert_eq!(baked.warned(code), 0, "{code:?}");
    }
    for clip in 0..own {
        let (a, b) = (&baked.clips[clip], &baked.clips[own + clip]);
        assert_eq!((a.frame_count, a.length, &a.looping, a.animation), (b.frame_count, b.length, &b.looping, b.animation), "{}", a.name);
        assert_eq!(baked.sidecar["clips"][own + clip]["source"]["sha256"], baked.sidecar["source"]["sha256"]);
        for k in 0..a.frame_count {
            let same = (0..baked.vertex_count).all(|v| baked.position(a.first_frame + k, v) == baked.position(b.first_frame + k, v));
            assert!(same, "{} and {}, frame {k}", a.name, b.name);
        }
    }
    let stranger = models.iter().find(|m| m.name == "CesiumMan").expect("a man");
    let error =
        refuse_input(Input::File(stranger.file.clone()), Options { animations: vec![Input::File(model.file.clone())], ..self::options() });
    assert!(matches!(&error, Error::Usage(text) if text.contains("CesiumMan.glb") && text.contains("fox-animations.glb")), "{error}");
}
