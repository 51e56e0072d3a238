//! `vatbake verify` and the decoder under it: a good bake passes, every way to spoil one is named, and hostile files end in a sentence.

mod support;

#[path = "support/verify.rs"]
mod spoil;

use std::f64::consts::FRAC_1_SQRT_2;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use spoil::{Export, Grid, NAMES, Spoiling, assert_clean, check, codes, copy, edit_sidecar, limb, sidecar_in};
use support::bake::{input, options};
use support::decode::V3;
use support::models::{Rig, TRIANGLE, rigid};
use support::{Doc, Type, bake_fixture, scalars, vec3, vec4};
use tempfile::TempDir;
use vatbake::baked::Baked;
use vatbake::options::{Format, Normals, Position, Recompute, RootMotion};
use vatbake::output::sidecar::Role;
use vatbake::verify::reference::Reference;
use vatbake::verify::{Code, Level, Request, Verdict, verify};
use vatbake::{Error, Input, Options};

const X: V3 = [1.0, 0.0, 0.0];
const Z: V3 = [0.0, 0.0, 1.0];

/// The sample: one clip at a low rate, so that a bake is quick.
fn sample(set: impl FnOnce(&mut Options)) -> support::Baked {
    let mut options = Options { clips: vec!["Walk".into()], fps: vatbake::options::Fps::Rate(15.0), ..options() };
    set(&mut options);
    support::bake(Input::File("assets/bun.glb".into()), options).expect("a bake of the sample")
}

fn against(folder: &Path, source: Input) -> Verdict {
    verify(&Request { sidecar: folder.to_path_buf(), source: Some(source), ..Request::default() })
        .unwrap_or_else(|e| panic!("refused: {e}"))
}

/// The decoder of the library and that of the tests were written apart; they must see the same.
fn assert_same(bake: &support::Baked, about: &str) {
    let read = Baked::read(bake.folder.path()).unwrap_or_else(|e| panic!("{about}: {e}"));
    assert_eq!((read.mesh.positions.len(), read.mesh.indices.len()), (bake.vertex_count, bake.indices.len()));
    for texture in &read.sidecar.textures {
        let (texture, image) = read.texture(texture.role).expect("a texture of the role");
        assert_eq!(texture.crc32, format!("{:08x}", image.texels.crc32()), "{about}");
    }
    for frame in 0..bake.frame_count {
        for vertex in (0..bake.vertex_count).step_by(7) {
            // The tests' decoder reads scale and bias as f64 where they are f32.
            support::bake::assert_near(read.position(vertex, frame).to_array(), bake.position(frame, vertex), 1e-6);
            if let Some(normal) = read.normal(vertex, frame) {
                support::bake::assert_near(normal.to_array(), bake.normal(frame, vertex), 1e-12);
            }
        }
    }
}

#[test]
fn t01_good_bakes_of_every_format_pass_with_and_without_the_model() {
    for format in [Format::Png8, Format::Png16, Format::Exr16, Format::Exr32] {
        for normals in [Normals::None, Normals::Separate, Normals::Alpha] {
            for position in [Position::Offset, Position::Absolute] {
                if normals == Normals::Alpha && format != Format::Png16 {
                    continue;
                }
                let about = format!("{format:?} {normals:?} {position:?}");
                let doc = limb(X);
                let bake = bake_fixture(&doc, |o| (o.format, o.normals, o.position, o.tangents) = (format, normals, position, false));
                assert_same(&bake, &about);
                assert_clean(&check(bake.folder.path()), &about);
                let verdict = against(bake.folder.path(), input(&doc));
                assert_clean(&verdict, &about);
                let measured = verdict.measured.expect("a measure");
                let positions = (bake.vertex_count * bake.frame_count) as u64;
                assert_eq!((measured.compared, measured.normal_max.is_some()), (positions, normals != Normals::None));
                // What was measured is what the sidecar records, but for f32.
                let recorded = f64::from(verdict.textures[0].recorded_error);
                assert!(
                    measured.position_max <= recorded + 1e-6 && measured.position_max >= 0.5 * recorded - 1e-6,
                    "{about}: {measured:?}"
                );
                assert!(measured.position_rms <= measured.position_max && measured.clips.len() == 2);
            }
        }
    }
    let bake = sample(|o| o.format = Format::Png16);
    assert_same(&bake, "the sample");
    assert_clean(&against(bake.folder.path(), Input::File("assets/bun.glb".into())), "the sample");
}

#[test]
fn t02_computed_normals_tangents_rest_and_root_motion_pass() {
    let doc = limb(X);
    for recompute in [Recompute::Flat, Recompute::Smooth] {
        let bake = bake_fixture(&doc, |o| o.recompute_normals = Some(recompute));
        let verdict = against(bake.folder.path(), input(&doc));
        assert_clean(&verdict, &format!("{recompute:?}"));
        assert!(verdict.measured.and_then(|m| m.normal_max).is_some_and(|angle| angle < 0.01));
    }
    for set in [
        |o: &mut Options| o.rest = vatbake::options::Rest::FirstFrame,
        |o: &mut Options| o.scale = 2.5,
        |o: &mut Options| o.keep_parts = true,
    ] {
        let bake = bake_fixture(&doc, set);
        assert_clean(&against(bake.folder.path(), input(&doc)), "rest, scale, parts");
    }
    let bake = bake_fixture(&doc, |o| (o.tangents, o.format) = (true, Format::Png16));
    assert_clean(&check(bake.folder.path()), "tangents");
    let bake = bake_fixture(&doc, |o| (o.root_motion, o.root) = (RootMotion::Strip, Some("hip".into())));
    assert!(bake.sidecar["clips"][1]["root_motion"].is_object());
    assert_clean(&against(bake.folder.path(), input(&doc)), "root motion");
    // The track counts: without it the same texels are not the model's.
    edit_sidecar(bake.folder.path(), |json| drop(json["clips"][1].as_object_mut().expect("a clip").remove("root_motion")));
    assert!(codes(&against(bake.folder.path(), input(&doc))).contains(&Code::ErrorLarger));
}

/// Every spoiling of both textures of a bake, with and without the model: named, and by nothing else.
fn spoil_all(bake: &support::Baked, source: &Input, about: &str, expected: usize) {
    let mut done = 0;
    for spoiling in Spoiling::ALL {
        for texture in [&bake.position, bake.normal.as_ref().expect("normals")] {
            if !spoiling.fits(&texture.pixel) {
                continue;
            }
            let folder = copy(bake.folder.path());
            let path = folder.path().join(&texture.file);
            spoiling.apply(&Grid::read(&path)).write(&path);
            for verdict in [check(folder.path()), against(folder.path(), source.clone())] {
                let found = codes(&verdict);
                let shown = format!("{about}, {} {spoiling:?}: {:#?}", texture.file, verdict.findings);
                // Floats that went through 8 bits lost their signs too, and with these what would tell the curve.
                let is_float = texture.pixel.ends_with("float");
                let (needed, allowed): (&[Code], &[Code]) = match spoiling {
                    Spoiling::SrgbCut if is_float => (&[Code::CutTo8Bits], &[Code::CutTo8Bits, Code::Clamped, Code::SrgbEncoded]),
                    Spoiling::Cut | Spoiling::CutFile if is_float => (&[Code::CutTo8Bits], &[Code::CutTo8Bits, Code::Clamped]),
                    _ => (spoiling.codes(), spoiling.codes()),
                };
                assert!(needed.iter().all(|code| found.contains(code)), "not named: {shown}");
                let others: Vec<_> = NAMES.into_iter().filter(|c| found.contains(c) && !allowed.contains(c)).collect();
                assert!(others.is_empty(), "named {others:?} too: {shown}");
                assert!(!verdict.ok, "{shown}");
                assert!(verdict.findings.iter().all(|f| f.message.len() > 20));
            }
            done += 1;
        }
    }
    assert_eq!(done, expected, "{about}");
}

#[test]
fn t03_every_spoiling_of_a_skinned_bake_is_named() {
    let doc = limb(X);
    for (format, expected) in [(Format::Png16, 32), (Format::Exr16, 30), (Format::Exr32, 30)] {
        let bake = bake_fixture(&doc, |o| o.format = format);
        assert_clean(&check(bake.folder.path()), "the unspoilt twin");
        spoil_all(&bake, &input(&doc), &format!("limb {format:?}"), expected);
    }
}

#[test]
fn t04_every_spoiling_of_the_sample_is_named() {
    for (format, expected) in [(Format::Png16, 32), (Format::Exr16, 30)] {
        let bake = sample(|o| o.format = format);
        assert_clean(&check(bake.folder.path()), "the unspoilt twin");
        spoil_all(&bake, &Input::File("assets/bun.glb".into()), &format!("sample {format:?}"), expected);
    }
}

#[test]
fn t05_texels_of_another_bake_are_named() {
    for format in [Format::Png16, Format::Exr16] {
        let (bake, other) = (bake_fixture(&limb(X), |o| o.format = format), bake_fixture(&limb(Z), |o| o.format = format));
        for texture in [&bake.position, bake.normal.as_ref().expect("normals")] {
            let folder = copy(bake.folder.path());
            std::fs::copy(other.folder.path().join(&texture.file), folder.path().join(&texture.file)).expect("a copy");
            for verdict in [check(folder.path()), against(folder.path(), input(&limb(X)))] {
                let found = codes(&verdict);
                assert!(!verdict.ok && found.contains(&Code::OtherBake) && found.contains(&Code::TexelsChanged), "{:#?}", verdict.findings);
                assert!(NAMES.iter().all(|c| *c == Code::OtherBake || !found.contains(c)), "{:#?}", verdict.findings);
            }
        }
        // Both files of one bake, exchanged.
        let folder = copy(bake.folder.path());
        let [a, b] = [&bake.position.file, &bake.normal.as_ref().expect("normals").file].map(|f| folder.path().join(f));
        let spare = folder.path().join("spare");
        for (from, to) in [(&a, &spare), (&b, &a), (&spare, &b)] {
            std::fs::rename(from, to).expect("a rename");
        }
        let verdict = check(folder.path());
        assert!(codes(&verdict).contains(&Code::OtherBake), "{:#?}", verdict.findings);
        // A whole bake that is right in itself is not the model's.
        let verdict = against(other.folder.path(), input(&limb(X)));
        assert!(codes(&verdict).contains(&Code::ErrorLarger) && codes(&verdict).contains(&Code::SourceChanged));
    }
}

#[test]
fn t06_colour_chunks_and_missing_files_are_named() {
    let bake = bake_fixture(&limb(X), |o| o.format = Format::Png16);
    for (name, data) in [("gAMA", 45455_u32.to_be_bytes().to_vec()), ("sRGB", vec![0])] {
        let folder = copy(bake.folder.path());
        let path = folder.path().join(&bake.position.file);
        let mut bytes = std::fs::read(&path).expect("a PNG");
        let chunk = [name.as_bytes(), &data].concat();
        // behind the header: signature, length, type, 13 bytes, CRC
        bytes.splice(33..33, [&(data.len() as u32).to_be_bytes()[..], &chunk, &crc32fast::hash(&chunk).to_be_bytes()].concat());
        std::fs::write(&path, bytes).expect("a PNG");
        let verdict = check(folder.path());
        assert_eq!(codes(&verdict), [Code::ColourChunk].into(), "{:#?}", verdict.findings);
        assert!(verdict.findings[0].message.contains(name));
    }
    for file in [&bake.position.file, "fixture_vat.glb"] {
        let folder = copy(bake.folder.path());
        std::fs::remove_file(folder.path().join(file)).expect("a file");
        assert!(codes(&check(folder.path())).contains(&Code::FileMissing));
        assert!(Baked::read(folder.path()).is_err_and(|e| e.to_string().contains(file)));
    }
}

#[test]
fn t07_what_the_sidecar_says_wrong_is_named() {
    let bake = bake_fixture(&limb(X), |o| o.format = Format::Png16);
    let cases: &[(&str, Value, Code)] = &[
        ("/layout/width", json!(70), Code::Layout),
        ("/layout/blocks", json!(2), Code::Layout),
        ("/layout/height", json!(40), Code::Layout),
        ("/vertex_count", json!(67), Code::Lookup),
        ("/textures/0/crc32", json!("12"), Code::Sidecar),
        ("/textures/0/gpu_bytes", json!(1), Code::Sidecar),
        ("/textures/0/upload", json!("rgba8unorm"), Code::Sidecar),
        ("/textures/0/encoding", json!("offset-float"), Code::Sidecar),
        ("/textures/0/error/max", json!(0.5), Code::RecordedError),
        ("/textures/0/error/rms", json!(0.01), Code::RecordedError),
        ("/textures/0/error/unit", json!("degree"), Code::RecordedError),
        ("/textures/0/scale/1", json!(1.5), Code::Bounds),
        ("/mesh/sha256", json!("ab".repeat(32)), Code::MeshChanged),
        ("/mesh/lookup/lanes", json!(65), Code::Lookup),
        ("/mesh/parts/0/vertex_count", json!(60), Code::Parts),
        ("/mesh/parts/0/index_count", json!(3), Code::Parts),
        ("/mesh/file", json!("../fixture_vat.glb"), Code::FileMissing),
        ("/clips/1/first_frame", json!(20), Code::Clips),
        ("/clips/0/fps", json!(25.0), Code::ClipTiming),
        ("/clips/0/length", json!(2.0), Code::ClipTiming),
        ("/clips/0/loop", json!("closed"), Code::LoopOpen),
        ("/clips/0/loop", json!("cycle"), Code::LoopOpen),
        ("/clips/0/bounds/max/0", json!(0.1), Code::Bounds),
        ("/clips/0/bounds/max/0", json!(9.0), Code::Bounds),
        ("/bounds/min/1", json!(1.0), Code::Bounds),
        ("/clips/1/largest_displacement", json!(5.0), Code::Displacement),
    ];
    for (pointer, value, code) in cases {
        let folder = copy(bake.folder.path());
        edit_sidecar(folder.path(), |json| *json.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value.clone());
        let verdict = check(folder.path());
        assert!(codes(&verdict).contains(code), "{pointer} = {value}: {:#?}", verdict.findings);
    }
    for (pointer, value) in [("/version", json!(2)), ("/format", json!("vat")), ("/frame_count", json!(-1)), ("/clips/0/fps", Value::Null)]
    {
        let folder = copy(bake.folder.path());
        edit_sidecar(folder.path(), |json| *json.pointer_mut(pointer).expect("a field") = value.clone());
        let refused = verify(&Request { sidecar: folder.path().to_path_buf(), ..Request::default() });
        assert!(matches!(refused, Err(Error::Bake(_))), "{pointer}: {refused:?}");
    }
}

/// What moves by no more than rounding, far away or hardly at all has been baked as well as can be.
#[test]
fn t21_bakes_of_noise_pass() {
    let skinned_still = {
        let mut doc = limb(X);
        let times = [0.0, 0.5, 1.0];
        doc.json["animations"] = json!([]);
        doc.animate(None, &[(1, "rotation", "LINEAR", &times, vec4(&[[0.0, 0.1, 0.0, 0.994_987_437_106_62]; 3]))]);
        doc
    };
    let slid = |from: f64, by: f64| {
        let mut doc = rigid(&TRIANGLE);
        let times = [0.0, 0.5, 1.0];
        doc.animate(None, &[(0, "translation", "LINEAR", &times, vec3(&[0.0, 0.5, 1.0].map(|t| [from + by * t, 0.3 * from, 0.0])))]);
        doc
    };
    let tiny = {
        let mut doc = slid(0.0, 1.0);
        doc.json["nodes"][0]["scale"] = json!([1e-24, 1e-24, 1e-24]);
        doc.animate(
            None,
            &[(0, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2]]))],
        );
        doc
    };
    for (about, doc) in [("still", skinned_still), ("far", slid(1e5, 1e-3)), ("very far", slid(6.4e6, 1.0)), ("tiny", tiny)] {
        for format in [Format::Png16, Format::Exr32] {
            let bake = bake_fixture(&doc, |o| o.format = format);
            assert_clean(&check(bake.folder.path()), &format!("{about} {format:?}"));
            assert_clean(&against(bake.folder.path(), input(&doc)), &format!("{about} {format:?}, with the model"));
        }
    }
}

/// One texel changed, the checksum made to fit: what the texels themselves say.
#[test]
fn t08_texels_that_no_bake_has_are_named() {
    type Edit = fn(&mut Grid);
    let cases: [(Format, usize, Edit, Code); 6] = [
        (Format::Png16, 0, |g| g.texels[66][0] = 0.5, Code::Padding),
        (Format::Png16, 0, |g| g.texels[5][3] = 0.5, Code::Alpha),
        (Format::Png16, 1, |g| g.texels[5] = [0.6, 0.6, 0.6, 1.0], Code::NotUnit),
        (Format::Exr32, 0, |g| g.texels[5][1] = 50.0, Code::Bounds),
        // the last frame of the second clip, which is a loop
        (Format::Exr32, 0, |g| g.texels[49 * 68 + 5][0] += 0.4, Code::LoopOpen),
        (Format::Exr16, 1, |g| g.texels[5] = [0.1, 0.0, 0.0, 1.0], Code::NotUnit),
    ];
    for (format, texture, edit, code) in cases {
        let bake = bake_fixture(&limb(X), |o| o.format = format);
        assert_eq!((bake.width, bake.frame_count), (68, 50));
        let file = if texture == 0 { &bake.position.file } else { &bake.normal.as_ref().expect("normals").file };
        let path = bake.folder.path().join(file);
        let mut grid = Grid::read(&path);
        edit(&mut grid);
        grid.write(&path);
        let crc = crc32fast::hash(&support::texture::read(&path).expect("a texture").bytes());
        edit_sidecar(bake.folder.path(), |json| json["textures"][texture]["crc32"] = json!(format!("{crc:08x}")));
        let verdict = check(bake.folder.path());
        assert!(!verdict.ok && codes(&verdict).contains(&code), "{format:?} {code:?}: {:#?}", verdict.findings);
    }
}

/// A bake turned by hand into an engine's axes and unit: x negated for Unity, (x, z, y) times 100 for Unreal.
#[test]
fn t09_other_axes_and_units_are_those_of_the_sidecar() {
    let doc = limb(X);
    let spaces: [(Value, f64, fn([f64; 3]) -> [f64; 3]); 2] = [
        (json!({ "up": "+y", "forward": "+z", "handedness": "left", "scale": 1.0 }), 1.0, |[x, y, z]| [-x, y, z]),
        (json!({ "up": "+z", "forward": "+y", "handedness": "left", "scale": 1.0, "unit": "centimetre" }), 100.0, |[x, y, z]| [x, z, y]),
    ];
    for (space, unit, turn) in spaces {
        let bake = bake_fixture(&doc, |o| o.format = Format::Exr32);
        for (file, factor) in [(&bake.position.file, unit), (&bake.normal.as_ref().expect("normals").file, 1.0)] {
            let path = bake.folder.path().join(file);
            let mut grid = Grid::read(&path);
            for [x, y, z, _] in &mut grid.texels {
                [*x, *y, *z] = turn([*x, *y, *z]).map(|v| v * factor);
            }
            grid.write(&path);
        }
        edit_sidecar(bake.folder.path(), |json| {
            for (i, file) in [&bake.position.file, &bake.normal.as_ref().expect("normals").file].into_iter().enumerate() {
                let bytes = support::texture::read(&bake.folder.path().join(file)).expect("a texture").bytes();
                json["textures"][i]["crc32"] = json!(format!("{:08x}", crc32fast::hash(&bytes)));
            }
            let turn_box = |bounds: &mut Value| {
                let corner = |c: &str| turn([0, 1, 2].map(|i| bounds[c][i].as_f64().expect("a number"))).map(|v| v * unit);
                let (a, b) = (corner("min"), corner("max"));
                let (min, max) = ([0, 1, 2].map(|i| a[i].min(b[i]) as f32), [0, 1, 2].map(|i| a[i].max(b[i]) as f32));
                *bounds = json!({ "min": min, "max": max });
            };
            turn_box(&mut json["bounds"]);
            for clip in json["clips"].as_array_mut().expect("clips") {
                turn_box(&mut clip["bounds"]);
                clip["largest_displacement"] = json!((clip["largest_displacement"].as_f64().expect("a number") * unit) as f32);
            }
            json["space"] = space.clone();
        });
        let verdict = against(bake.folder.path(), input(&doc));
        assert_clean(&verdict, &space.to_string());
        assert!(verdict.measured.is_some_and(|m| m.position_max < 2e-6 * unit && m.normal_max.is_some_and(|a| a < 0.01)));
        // Named wrongly, the same texels are not the model's.
        edit_sidecar(bake.folder.path(), |json| json["space"]["handedness"] = json!("right"));
        assert!(codes(&against(bake.folder.path(), input(&doc))).contains(&Code::ErrorLarger));
    }
}

fn reference_of(doc: &Doc, set: impl FnOnce(&mut Options)) -> (Reference, Baked) {
    let bake = bake_fixture(doc, set);
    let read = Baked::read(bake.folder.path()).expect("a bake");
    let mut reference = Reference::read(&input(doc), &Request::default(), &read.sidecar).expect("a model");
    reference.settle(&read).expect("the same model");
    (reference, read)
}

/// Closed forms, not another program: turning, sliding, blending, morphing.
#[test]
fn t10_the_reference_is_where_geometry_says() {
    // A rigid triangle turns by 90 degrees about Z in a second: at frame k of 30 by k / 30 of that.
    let mut doc = rigid(&TRIANGLE);
    doc.animate(None, &[(0, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], support::models::QUARTER_Z]))]);
    let (reference, baked) = reference_of(&doc, |_| ());
    for k in [0_u32, 7, 15, 30] {
        let pose = reference.frame(&baked.sidecar, k as usize).expect("a pose");
        let positions = reference.positions(&pose);
        let (sin, cos) = (f64::from(k) / 30.0 * std::f64::consts::FRAC_PI_2).sin_cos();
        // Keys are f32, so the quarter is one of f32.
        for (found, [x, y, z]) in positions.iter().zip(TRIANGLE) {
            support::bake::assert_near(found.to_array(), [cos * x - sin * y, sin * x + cos * y, z], 1e-7);
        }
        let normals = reference.normals(&pose, &positions);
        support::bake::assert_near(normals[0].expect("a direction").to_array(), Z, 1e-9);
    }
    // Weights 0.6 and 0.9, which are divided by their sum, between a joint at rest and one that slides by 10 m.
    let mut rig = Rig::new(vec![json!({}), json!({})]).influences([0.0, 1.0, 0.0, 0.0], [0.6, 0.9, 0.0, 0.0]);
    rig.positions = TRIANGLE.to_vec();
    let mut doc = rig.doc();
    doc.animate(None, &[(2, "translation", "LINEAR", &[0.0, 1.0], vec3(&[[0.0; 3], [10.0, 0.0, 0.0]]))]);
    let (reference, baked) = reference_of(&doc, |_| ());
    let positions = reference.positions(&reference.frame(&baked.sidecar, 15).expect("a pose"));
    support::bake::assert_near(positions[0].to_array(), [1.0 + 0.6 * 5.0, 0.0, 0.0], 1e-6);
    // A morph of weight 1/4 on a node that is stretched: normals go by the inverse transpose.
    let mut doc = support::models::morphing(
        &TRIANGLE,
        vec![vec![("POSITION", vec3(&[[0.0, 4.0, 0.0]; 3])), ("NORMAL", vec3(&[[4.0, 0.0, 0.0]; 3]))]],
    );
    doc.json["nodes"][0]["scale"] = json!([1.0, 2.0, 4.0]);
    doc.animate(None, &[(0, "weights", "LINEAR", &[0.0, 1.0], scalars(&[0.0, 1.0]))]);
    let (reference, baked) = reference_of(&doc, |o| (o.fps, o.normals) = (vatbake::options::Fps::Rate(4.0), Normals::Separate));
    let pose = reference.frame(&baked.sidecar, 1).expect("a pose");
    let positions = reference.positions(&pose);
    support::bake::assert_near(positions[0].to_array(), [1.0, 2.0, 0.0], 1e-9);
    // (0, 0, 1) + (4, 0, 0) / 4, each divided by its scale
    let length = (1.0_f64 + 1.0 / 16.0).sqrt();
    support::bake::assert_near(
        reference.normals(&pose, &positions)[0].expect("a direction").to_array(),
        [1.0 / length, 0.0, 0.25 / length],
        1e-9,
    );
}

#[test]
fn t11_the_worst_place_and_the_limit_are_named() {
    let doc = limb(X);
    let bake = bake_fixture(&doc, |o| o.format = Format::Exr32);
    let path = bake.folder.path().join(&bake.position.file);
    let mut grid = Grid::read(&path);
    grid.texels[(31 + 4) * 68 + 9][1] += 0.25;
    grid.write(&path);
    let verdict = against(bake.folder.path(), input(&doc));
    let measured = verdict.measured.expect("a measure");
    let worst = measured.position_worst.expect("a place");
    assert_eq!((worst.clip.as_str(), worst.frame, worst.vertex), ("sway", 4, 9));
    assert!((measured.position_max - 0.25).abs() < 1e-5 && (measured.position_share - 0.25 / verdict.size).abs() < 1e-5);
    assert!(measured.clips[0].position_max < 1e-5 && (measured.clips[1].position_max - 0.25).abs() < 1e-5);

    let good = bake_fixture(&doc, |o| o.format = Format::Png8);
    let with = |max_error: f64, source: bool| {
        let source = source.then(|| input(&doc));
        let request = Request { sidecar: good.folder.path().to_path_buf(), source, max_error: Some(max_error), ..Request::default() };
        verify(&request).expect("a verdict")
    };
    let error = f64::from(with(1.0, false).textures[0].recorded_error);
    for source in [false, true] {
        assert!(with(error * 1.01, source).ok);
        let over = with(error * 0.9, source);
        assert_eq!((over.ok, codes(&over)), (false, [Code::OverMaxError].into()));
    }
}

#[test]
fn t12_models_that_are_not_the_bakes_are_refused_or_named() {
    let bake = bake_fixture(&limb(X), |_| ());
    let found = against(bake.folder.path(), input(&rigid(&TRIANGLE)));
    assert!(!found.ok && codes(&found).contains(&Code::SourceMismatch) && found.measured.is_none());
    // One clip fewer: the other is still measured.
    let mut doc = limb(X);
    doc.json["animations"].as_array_mut().expect("clips").pop();
    let found = against(bake.folder.path(), input(&doc));
    assert!(codes(&found).is_superset(&[Code::SourceChanged, Code::ClipUnknown].into()), "{:#?}", found.findings);
    assert_eq!(found.measured.map(|m| m.clips.len()), Some(1));
}

/// What engines and DCC tools do to meshes.
#[test]
fn t13_re_exported_meshes_are_judged() {
    type Edit = fn(&mut Export);
    let bake = sample(|o| o.format = Format::Png16);
    let folder = bake.folder.path();
    assert!(bake.sidecar["mesh"]["lookup"]["groups"].as_u64() > Some(1), "several groups, so that a flip of v can be seen");
    let cases: &[(&str, Edit, Option<(Code, Level)>)] = &[
        ("unchanged", |_| (), None),
        ("16-bit UVs", |e| e.uv_type = Type::U16, None),
        ("8-bit UVs", |e| e.uv_type = Type::U8, Some((Code::MeshLookupQuantised, Level::Wrong))),
        ("no second set", |e| drop(e.sets.pop()), Some((Code::MeshLookupLost, Level::Wrong))),
        ("a set dropped", |e| drop((e.sets.remove(0), e.sets[0].0 = "TEXCOORD_0".into())), Some((Code::MeshLookupMoved, Level::Wrong))),
        ("v flipped", |e| e.lookup().iter_mut().for_each(|uv| uv[1] = 1.0 - uv[1]), Some((Code::MeshLookupFlipped, Level::Wrong))),
        (
            "light map",
            |e| e.lookup().iter_mut().enumerate().for_each(|(i, uv)| *uv = [(i as f64 * 0.618) % 1.0, (i as f64 * 0.324) % 1.0]),
            Some((Code::MeshLookupLost, Level::Wrong)),
        ),
        ("Z up", |e| e.positions.iter_mut().for_each(|p| *p = [p[0], -p[2], p[1]]), Some((Code::MeshAxes, Level::Wrong))),
        ("centimetres", |e| e.positions.iter_mut().for_each(|p| *p = p.map(|v| v * 100.0)), Some((Code::MeshAxes, Level::Wrong))),
        ("moved", |e| e.positions.iter_mut().for_each(|p| p[1] += 0.5), Some((Code::MeshAxes, Level::Warning))),
        ("sculpted", |e| e.positions.iter_mut().step_by(10).for_each(|p| p[1] += 0.05), Some((Code::MeshVerticesMoved, Level::Wrong))),
        ("half deleted", |e| drop(e.indices.drain(..e.indices.len() / 6 * 3)), None),
        ("node turned", |e| e.node = json!({ "rotation": [FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2], "scale": [0.01, 0.01, 0.01] }), None),
    ];
    for (about, edit, expected) in cases {
        let mut export = Export::of(&bake);
        edit(&mut export);
        let path = folder.join("back.glb");
        export.write(&path);
        let request = Request { sidecar: sidecar_in(folder), mesh: Some(path), ..Request::default() };
        let verdict = verify(&request).unwrap_or_else(|e| panic!("{about}: {e}"));
        let found: Vec<_> = verdict.findings.iter().map(|f| (f.code, f.level)).collect();
        match expected {
            None => assert!(found.is_empty(), "{about}: {:#?}", verdict.findings),
            Some(wanted) => {
                assert!(found.contains(wanted), "{about}: {:#?}", verdict.findings);
                assert_eq!(
                    found.iter().filter(|f| f.1 == Level::Wrong).count(),
                    usize::from(wanted.1 == Level::Wrong),
                    "{about}: {:#?}",
                    verdict.findings
                );
            }
        }
        let mesh = verdict.mesh.expect("a verdict on the mesh");
        match *about {
            "Z up" => assert_eq!(mesh.axes, "(x, -z, y)"),
            "centimetres" => assert!((mesh.factor - 100.0).abs() < 1e-9),
            "a set dropped" => assert_eq!(mesh.texcoord, Some(0)),
            "v flipped" => assert!(mesh.flipped),
            "sculpted" => assert!((mesh.largest_distance - 0.05).abs() < 1e-6),
            _ => {}
        }
    }
    let text = verify(&Request { sidecar: sidecar_in(folder), mesh: Some(folder.join("none.glb")), ..Request::default() });
    assert!(matches!(text, Err(Error::Io { .. })), "{text:?}");
}

/// Vertices at one place: merged ones that move alike are harmless, those that move apart are not.
#[test]
fn t14_merged_vertices_are_judged_by_how_they_move() {
    for (apart, level) in [(false, Level::Note), (true, Level::Wrong)] {
        // Two triangles that share an edge's place, on two joints.
        let mut rig = Rig::new(vec![json!({}), json!({})]);
        rig.positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.5]];
        let joint = f64::from(u8::from(apart));
        rig.joints =
            vec4(&[[0.0; 4], [0.0; 4], [0.0; 4], [joint, 0.0, 0.0, 0.0], [joint, 0.0, 0.0, 0.0], [joint, 0.0, 0.0, 0.0]]).of(Type::U8);
        rig.weights = vec4(&[[1.0, 0.0, 0.0, 0.0]; 6]);
        let mut doc = rig.doc();
        doc.animate(None, &[(2, "translation", "LINEAR", &[0.0, 1.0], vec3(&[[0.0; 3], [0.0, 0.0, 2.0]]))]);
        let bake = bake_fixture(&doc, |_| ());
        let mut export = Export::of(&bake);
        let kept = [0, 1, 2, 5];
        export.positions = kept.map(|i| export.positions[i]).to_vec();
        export.sets.iter_mut().for_each(|(_, uvs)| *uvs = kept.map(|i| uvs[i]).to_vec());
        export.indices = vec![0, 1, 2, 1, 3, 2];
        let path = bake.folder.path().join("back.glb");
        export.write(&path);
        let verdict =
            verify(&Request { sidecar: sidecar_in(bake.folder.path()), mesh: Some(path), ..Request::default() }).expect("a verdict");
        let found: Vec<_> = verdict.findings.iter().map(|f| (f.code, f.level)).collect();
        assert_eq!(found, [(Code::MeshVerticesMerged, level)], "{:#?}", verdict.findings);
        assert_eq!(verdict.mesh.map(|m| (m.missing, m.merged)), Some((2, 2)));
    }
}

/// KTX2 and raw texels, which no bake of this repository's tests writes: made here from one of its EXRs.
#[test]
fn t15_ktx2_and_raw_texels_are_read() {
    for (format, vk, word) in [(Format::Exr16, 97_u32, "rgba16float"), (Format::Exr32, 109, "rgba32float")] {
        let bake = bake_fixture(&limb(X), |o| o.format = format);
        let bytes = support::texture::read(&bake.folder.path().join(&bake.position.file)).expect("a texture").bytes();
        let packed = ruzstd::encoding::compress_to_vec(&bytes[..], ruzstd::encoding::CompressionLevel::Fastest);
        let ktx2 = |scheme: u32, data: &[u8]| {
            let mut file = b"\xABKTX 20\xBB\r\n\x1A\n".to_vec();
            let size = if vk == 97 { 2 } else { 4 };
            for word in [vk, size, bake.width as u32, bake.height as u32, 0, 0, 1, 1, scheme, 0, 0, 0, 0, 0, 0, 0, 0] {
                file.extend(word.to_le_bytes());
            }
            for word in [104, data.len() as u64, bytes.len() as u64] {
                file.extend(word.to_le_bytes());
            }
            file.extend(data);
            file
        };
        for (name, file) in [("p.ktx2", ktx2(0, &bytes)), ("p.ktx2", ktx2(2, &packed)), ("p.raw", bytes.clone())] {
            let folder = copy(bake.folder.path());
            let path = folder.path().join(name);
            std::fs::write(&path, &file).expect("a file");
            edit_sidecar(folder.path(), |json| json["textures"][0]["file"] = json!(name));
            assert_clean(&check(folder.path()), word);
            assert_clean(&against(folder.path(), input(&limb(X))), word);
            for cut in [0, 11, 40, 90, 103, file.len() / 2 + 1, file.len() - 1] {
                std::fs::write(&path, &file[..cut]).expect("a file");
                let verdict = check(folder.path());
                assert!(codes(&verdict).contains(&Code::FileUnreadable), "{name} cut to {cut}: {:#?}", verdict.findings);
                assert!(Baked::read(folder.path()).is_err_and(|e| e.to_string().contains(name)));
            }
        }
    }
}

/// The header of a KTX2 that was baked says where things are, and that they are no colours.
#[test]
fn t23_a_damaged_header_of_a_ktx2_is_named() {
    let bake = bake_fixture(&limb(X), |o| o.format = Format::Ktx2);
    assert_clean(&check(bake.folder.path()), "as baked");
    let name = &bake.position.file;
    let whole = std::fs::read(bake.folder.path().join(name)).expect("the texture");
    let descriptor = u32::from_le_bytes(whole[48..52].try_into().expect("a word")) as usize;
    for (at, value, word) in [(51, 1, "descriptor"), (59, 1, "key/value"), (68, 1, "global"), (descriptor + 14, 2, "sRGB")] {
        let folder = copy(bake.folder.path());
        let mut bytes = whole.clone();
        bytes[at] = value;
        std::fs::write(folder.path().join(name), bytes).expect("a file");
        let verdict = check(folder.path());
        let found = verdict.findings.iter().find(|f| f.code == Code::FileUnreadable);
        assert!(found.is_some_and(|f| format!("{f:?}").contains(word)), "{at}: {:#?}", verdict.findings);
    }
}

/// Cut, changed and boundless files: a finding or an error, soon, never a panic.
#[test]
fn t16_hostile_files_end_in_sentences() {
    let begun = std::time::Instant::now();
    for format in [Format::Png16, Format::Exr16] {
        let bake = bake_fixture(&limb(X), |o| o.format = format);
        let folder = copy(bake.folder.path());
        let normal = &bake.normal.as_ref().expect("normals").file;
        for file in [&bake.position.file, normal, "fixture_vat.glb", "fixture.vat.json"] {
            let path = folder.path().join(file);
            let whole = std::fs::read(&path).expect("a file");
            let mut seed = 12345_u32;
            let mut random = move |below: usize| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 8) as usize % below.max(1)
            };
            for round in 0..150 {
                let mut bytes = whole.clone();
                if round < 40 {
                    bytes.truncate(if round < 20 { round * 7 } else { random(whole.len()) });
                } else {
                    for _ in 0..1 + random(3) {
                        // half of them in the headers
                        let at = if round % 2 == 0 { random(whole.len().min(400)) } else { random(whole.len()) };
                        bytes[at] = [0, 0xFF, 0x7F, 0x80, random(256) as u8][random(5)];
                    }
                }
                if bytes == whole {
                    continue;
                }
                std::fs::write(&path, &bytes).expect("a file");
                let verdict = verify(&Request { sidecar: folder.path().to_path_buf(), ..Request::default() });
                let is_said = verdict.as_ref().map_or_else(|e| !e.to_string().is_empty(), |v| !v.findings.is_empty());
                // What an EXR's header says beside its texels has no checksum, nor has the sidecar.
                let is_checked = file.ends_with("png") || file.ends_with("glb");
                assert!(is_said || !is_checked, "round {round} of {file}: nothing is said");
                let _ = Baked::read(folder.path());
            }
            std::fs::write(&path, &whole).expect("a file");
        }
        assert_clean(&check(folder.path()), "all restored");
    }
    let bake = bake_fixture(&limb(X), |o| o.format = Format::Png16);
    let huge = json!(4_000_000_000_u32);
    for pointers in [
        &["/vertex_count"][..],
        &["/frame_count"],
        &["/layout/width"],
        &["/layout/width", "/layout/height"],
        &["/layout/width", "/layout/height", "/vertex_count", "/frame_count", "/layout/blocks"],
        &["/clips/0/first_frame"],
        &["/clips/0/frame_count"],
        &["/mesh/lookup/lanes", "/mesh/lookup/groups"],
        &["/mesh/lookup/texcoord"],
        &["/mesh/parts/0/vertex_count"],
        &["/mesh/parts/0/first_vertex"],
    ] {
        let folder = copy(bake.folder.path());
        edit_sidecar(folder.path(), |json| pointers.iter().for_each(|p| *json.pointer_mut(p).expect("a field") = huge.clone()));
        let verdict = verify(&Request { sidecar: folder.path().to_path_buf(), source: Some(input(&limb(X))), ..Request::default() });
        assert!(verdict.is_ok_and(|v| !v.ok), "{pointers:?}");
        assert!(pointers[0].contains("parts") || Baked::read(folder.path()).is_err(), "{pointers:?}");
    }
    // A header that asks for far more than its file can hold.
    let path = bake.folder.path().join(&bake.position.file);
    let mut bytes = std::fs::read(&path).expect("a PNG");
    bytes[16..24].copy_from_slice(&[0, 0, 0x40, 0, 0, 0, 0x40, 0]);
    let crc = crc32fast::hash(&bytes[12..29]).to_be_bytes();
    bytes[29..33].copy_from_slice(&crc);
    std::fs::write(&path, bytes).expect("a PNG");
    assert!(codes(&check(bake.folder.path())).contains(&Code::FileUnreadable));
    assert!(begun.elapsed().as_secs() < 300, "took {:?}", begun.elapsed());
}

/// A pipe to which nobody writes: opened, it would be waited for.
#[cfg(unix)]
#[test]
fn t22_a_pipe_is_no_sidecar() {
    let folder = TempDir::new().expect("a folder");
    let pipe = folder.path().join("a.vat.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let refused = verify(&Request { sidecar: pipe, ..Request::default() });
    assert!(matches!(&refused, Err(Error::Usage(text)) if text.contains("neither a file nor a folder")), "{refused:?}");
}

#[test]
fn t17_a_folder_a_name_and_a_sidecar_mean_the_same_bake() {
    let bake = bake_fixture(&limb(X), |_| ());
    let folder = bake.folder.path();
    for path in [folder.to_path_buf(), folder.join("fixture"), folder.join("fixture.vat.json")] {
        assert_eq!(Baked::read(&path).map(|b| b.name).ok().as_deref(), Some("fixture"), "{}", path.display());
    }
    std::fs::copy(folder.join("fixture.vat.json"), folder.join("second.vat.json")).expect("a copy");
    assert!(Baked::read(folder).is_err_and(|e| matches!(&e, Error::Usage(text) if text.contains("2 bakes"))));
    let empty = TempDir::new().expect("a folder");
    assert!(matches!(Baked::read(empty.path()), Err(Error::Usage(_))));
    assert!(matches!(Baked::read(&empty.path().join("none.vat.json")), Err(Error::Io { .. })));
    let (_, image) = Baked::read(&folder.join("fixture"))
        .map(|b| b.texture(Role::Position).map(|(t, i)| (t.clone(), i.clone())))
        .expect("a bake")
        .expect("a texture");
    assert_eq!(image.texels.bytes().len(), image.texels.len() * 16);
}

#[cfg(feature = "cli")]
mod program {
    use super::*;

    fn answer(words: &[&str], folder: &Path) -> (i32, String, String) {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_vatbake"));
        let output = command.current_dir(folder).arg("verify").args(words).env("NO_COLOR", "1").output().expect("runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code().expect("ended by itself"), text(output.stdout), text(output.stderr))
    }

    #[test]
    fn t18_exit_codes_table_and_json() {
        let doc = limb(X);
        let bake = bake_fixture(&doc, |o| o.format = Format::Png16);
        let folder = bake.folder.path();
        std::fs::write(folder.join("limb.glb"), doc.to_glb()).expect("a model");
        let (code, out, err) = answer(&["fixture.vat.json", "--source", "limb.glb", "--max-error", "1mm"], folder);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        for words in ["66 vertices, 50 frames", "as baked", "bend", "sway", "against the model", "nothing is wrong"] {
            assert!(out.contains(words), "no {words:?} in: {out}");
        }
        let (code, out, _) = answer(&["fixture.vat.json", "--max-error", "1um"], folder);
        assert!(code == 1 && out.contains("wrong: [over-max-error]") && out.contains("1 thing is wrong"), "{out}");

        let (code, out, err) = answer(&[".", "--source", "limb.glb", "--json"], folder);
        let json: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!((&json["ok"], &json["findings"], &json["unit"]), (&json!(true), &json!([]), &json!("metre")));
        assert_eq!(json["textures"][0]["size"], json!([68, 52]));
        assert!(
            json["measured"]["position_max"].is_f64() && json["measured"]["clips"][1]["worst"]["vertex"].is_u64() && json["mesh"].is_null()
        );

        let path = folder.join(&bake.position.file);
        Spoiling::SrgbEncoded.apply(&Grid::read(&path)).write(&path);
        let (code, out, _) = answer(&["fixture", "--json"], folder);
        let json: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!((code, &json["ok"]), (1, &json!(false)));
        let found: Vec<_> = json["findings"].as_array().expect("findings").iter().map(|f| f["code"].as_str().expect("a code")).collect();
        assert_eq!(found, ["texels-changed", "srgb-encoded"]);
        assert!(json["findings"].as_array().expect("findings").iter().all(|f| f["level"] == "wrong" && f["file"] == bake.position.file));

        for words in [
            &["fixture.vat.json", "--max-error", "0"][..],
            &[],
            &["fixture.vat.json", "-a", "x.glb"],
            &["fixture.vat.json", "--source", "nothing", "--frames"],
        ] {
            assert_eq!(answer(words, folder).0, 2, "{words:?}");
        }
        for words in [&["none.vat.json"][..], &["fixture.vat.json", "--source", "none.glb"], &["limb.glb"]] {
            let (code, out, err) = answer(words, folder);
            assert!(code == 1 && out.is_empty() && err.starts_with("error: "), "{words:?}: {err}");
        }
        let (code, out, _) = answer(&["none.vat.json", "--json"], folder);
        assert_eq!((code, serde_json::from_str::<Value>(&out).expect("JSON")["exit"].as_u64()), (1, Some(1)));
    }

    #[test]
    fn t19_clips_of_other_files_and_merged_ones_are_compared() {
        let doc = limb(X);
        let folder = TempDir::new().expect("a folder");
        let [model, motion] = ["model.glb", "motion.glb"].map(|name| folder.path().join(name));
        let mut still = doc.clone();
        still.json["animations"].as_array_mut().expect("clips").truncate(1);
        for (i, node) in still.json["nodes"].as_array_mut().expect("nodes").iter_mut().enumerate() {
            node["name"] = json!(format!("n{i}"));
        }
        let mut moves = doc.clone();
        moves.json["animations"].as_array_mut().expect("clips").remove(0);
        moves.json["nodes"] = still.json["nodes"].clone();
        std::fs::write(&model, still.to_glb()).expect("a model");
        std::fs::write(&motion, moves.to_glb()).expect("a motion");
        let options = Options { animations: vec![Input::File(motion.clone())], ..options() };
        let bake = support::bake(Input::File(model.clone()), options).expect("a bake");
        let request = |animations: Vec<PathBuf>| Request {
            sidecar: bake.folder.path().to_path_buf(),
            source: Some(Input::File(model.clone())),
            animations: animations.into_iter().map(Input::File).collect(),
            ..Request::default()
        };
        assert_clean(&verify(&request(vec![motion.clone()])).expect("a verdict"), "another file's clip");
        let without = verify(&request(Vec::new())).expect("a verdict");
        assert_eq!(codes(&without), [Code::ClipUnknown].into());
        assert!(without.findings[0].message.contains("--animations"), "{:?}", without.findings);
    }
}

#[test]
fn t20_a_limit_is_not_kept_by_comparing_nothing() {
    let bake = bake_fixture(&limb(X), |o| o.format = Format::Png8);
    let folder = copy(bake.folder.path());
    edit_sidecar(folder.path(), |json| json["clips"][0]["animation"] = json!(7));
    let judge = |limit: f64| {
        let source = Some(input(&limb(X)));
        let request = Request { sidecar: folder.path().to_path_buf(), source, max_error: Some(limit), ..Request::default() };
        codes(&verify(&request).expect("a verdict"))
    };
    assert!(judge(1.0).contains(&Code::ClipUnknown) && !judge(1.0).contains(&Code::OverMaxError));
    assert!(judge(1e-6).contains(&Code::OverMaxError));
}
