//! `--for` and `--max-error`: what every kit has in common. One run gives all of them; axes, unit, bounds and errors belong together; what an
//! engine cannot hold is refused; and of all encodings that hold a limit the cheapest is taken.
//!
//! What is special to an engine (its importer, its shaders, its text files) is in `kit_*.rs` and `three.rs`.

mod support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::bake::{input, names_in, options};
use support::decode::{V3, Vat, decode};
use support::models::{self, QUARTER_Z, Rig, cube};
use support::{Doc, vec3, vec4};
use tempfile::TempDir;
use vatbake::options::{DeviceChoice, Format, Fps, Normals, Position, RootMotion};
use vatbake::targets::{Kit, Target};
use vatbake::warning::Code;
use vatbake::{Error, Input, Options, Report, Request, Silent};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/bun.glb");

/// A finished run and where it wrote.
struct Run {
    report: Report,
    folder: TempDir,
}

impl Run {
    fn vat(&self, target: Target) -> Vat {
        decode(&self.file(target, ".vat.json")).unwrap_or_else(|e| panic!("{target:?}: {e}"))
    }

    fn file(&self, target: Target, end: &str) -> PathBuf {
        let folder = self.folder.path().join(target.folder());
        let names = names_in(&folder);
        let name = names.iter().find(|n| n.ends_with(end)).unwrap_or_else(|| panic!("no {end} among {names:?}"));
        folder.join(name)
    }

    fn said(&self, code: Code) -> Option<&str> {
        self.report.warnings.iter().find(|w| w.code == code).map(|w| w.message.as_str())
    }
}

fn run(input: Input, options: Options) -> Result<Run, Error> {
    let folder = TempDir::new().expect("a folder");
    let request = Request { input, output: folder.path().to_path_buf(), options };
    match vatbake::bake(&request, &mut Silent) {
        Ok(report) => Ok(Run { report, folder }),
        Err(error) => {
            assert_eq!(names_in(folder.path()), Vec::<String>::new(), "an error left files: {error}");
            Err(error)
        }
    }
}

fn kits(targets: &[Target]) -> Options {
    Options { targets: targets.to_vec(), device: DeviceChoice::Cpu, fps: Fps::Rate(10.0), ..Options::default() }
}

fn sample(options: Options) -> Run {
    run(Input::File(SAMPLE.into()), options).expect("the sample bakes")
}

/// Two cubes on a chain of joints: the second stands off the axes, so that no mirror or swap maps the model to itself.
fn arm(distance: f64) -> Doc {
    let mut doc = Doc::new();
    let cube = cube(&mut doc);
    let tip = doc.node(json!({ "name": "tip", "mesh": cube, "translation": [0.5, 2.0, 1.0], "scale": [0.5, 0.25, 1.0] }));
    doc.root(json!({ "name": "root", "mesh": cube, "children": [tip] }));
    let turns = vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z, [0.0, 0.6, 0.0, 0.8]]);
    let way = vec3(&[[0.0, 0.0, 0.0], [distance / 2.0, 0.1, 0.0], [distance, 0.3, -distance / 4.0]]);
    let times = [0.0, 0.5, 1.0];
    doc.animate(Some("go"), &[(1, "translation", "LINEAR", &times, way), (tip, "rotation", "LINEAR", &times, turns)]);
    doc
}

fn fixture(doc: &Doc, options: Options) -> Run {
    run(input(doc), options).expect("the fixture bakes")
}

/// Every position of every frame.
fn positions(vat: &Vat) -> Vec<Vec<V3>> {
    (0..vat.frame_count).map(|f| vat.frame(f)).collect()
}

fn largest_distance(a: &[Vec<V3>], b: &[Vec<V3>]) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt()).fold(0.0, f64::max)
}

/// glTF's point in an engine's axes and unit.
fn turn(target: Target, [x, y, z]: V3) -> V3 {
    match target {
        Target::Unity => [-x, y, z],
        Target::Unreal => [x * 100.0, z * 100.0, y * 100.0],
        _ => [x, y, z],
    }
}

fn turned(target: Target, all: &[Vec<V3>]) -> Vec<Vec<V3>> {
    all.iter().map(|frame| frame.iter().map(|p| turn(target, *p)).collect()).collect()
}

// One run

#[test]
fn one_run_gives_the_bytes_of_one_run_each() {
    let options = Options { max_size: 4096, ..kits(&Target::ALL) };
    let together = sample(options.clone());
    assert_eq!(together.report.kits.iter().map(|k| k.target).collect::<Vec<_>>(), Target::ALL);
    for target in Target::ALL {
        let alone = sample(Options { targets: vec![target], ..options.clone() });
        let folder = Path::new(target.folder());
        let names = names_in(&together.folder.path().join(folder));
        assert_eq!(names, names_in(&alone.folder.path().join(folder)));
        assert!(names.len() >= 4, "{names:?}");
        for name in names {
            let bytes = |run: &Run| std::fs::read(run.folder.path().join(folder).join(&name)).expect("a file");
            assert!(bytes(&together) == bytes(&alone), "{target:?} {name}");
        }
    }
}

#[test]
fn without_axes_a_kit_has_the_texels_of_the_native_set() {
    let kit = sample(kits(&[Target::Bevy, Target::Godot]));
    for (target, format) in [(Target::Bevy, Format::Png16), (Target::Godot, Format::Exr16)] {
        let native = sample(Options { format, ..kits(&[]) });
        let mut compared = 0;
        for file in native.report.files.iter().filter(|f| f.extension().is_some_and(|e| e != "json")) {
            let name = file.file_name().expect("a name").to_string_lossy();
            assert!(std::fs::read(file).expect("a file") == std::fs::read(kit.file(target, &name)).expect("a file"), "{target:?} {name}");
            compared += 1;
        }
        assert_eq!(compared, 3, "position, normal, mesh");
    }
}

#[test]
fn a_dry_run_reports_every_kit_and_writes_nothing() {
    let written = fixture(&arm(2.0), kits(&[Target::Three, Target::Unity]));
    let dry = fixture(&arm(2.0), Options { dry_run: true, ..kits(&[Target::Three, Target::Unity]) });
    assert_eq!(names_in(dry.folder.path()), Vec::<String>::new());
    assert_eq!(dry.report.kits.len(), 2);
    for (dry, written) in dry.report.kits.iter().zip(&written.report.kits) {
        assert_eq!((dry.target, dry.textures.len()), (written.target, written.textures.len()));
        assert!(dry.textures.iter().zip(&written.textures).all(|(d, w)| d.error_max == w.error_max && d.gpu_bytes == w.gpu_bytes));
    }
}

// Axes, unit, bounds

#[test]
fn axes_unit_and_bounds_belong_together() {
    let doc = arm(2.0);
    let exact = support::bake_fixture(&doc, |o| o.fps = Fps::Rate(10.0));
    let truth = exact.all_positions();
    let kit = fixture(&doc, Options { format: Format::Auto, ..kits(&Target::ALL) });
    for target in Target::ALL {
        let vat = kit.vat(target);
        let found = positions(&vat);
        let unit = if target == Target::Unreal { 100.0 } else { 1.0 };
        let error = largest_distance(&found, &turned(target, &truth));
        assert!(error <= vat.position.error_max * 1.01 + 1e-6 * unit, "{target:?}: off by {error}, {} written", vat.position.error_max);
        // a mirror or a swap that is left out is seen
        if matches!(target, Target::Unity | Target::Unreal) {
            assert!(largest_distance(&found, &truth) > 1.0, "{target:?}");
        }
        for (clip, json) in vat.clips.iter().zip(vat.sidecar["clips"].as_array().expect("clips")) {
            let frames = &found[clip.first_frame..clip.first_frame + clip.frame_count];
            let all = || frames.iter().flatten().chain(&vat.placed);
            for axis in 0..3 {
                let (least, largest) = all().fold((f64::MAX, f64::MIN), |(a, b), p| (a.min(p[axis]), b.max(p[axis])));
                let [min, max] = clip.bounds.map(|corner| corner[axis]);
                assert!((min - least).abs() < 2e-3 * unit && (max - largest).abs() < 2e-3 * unit, "{target:?} {json} {least}..{largest}");
                assert!(min < max);
            }
        }
        let normal = vat.normal.as_ref().expect("normals");
        for frame in [0, vat.frame_count - 1] {
            for vertex in 0..vat.vertex_count {
                let (found, wanted) = (vat.normal(frame, vertex), turn(target, exact.normal(frame, vertex)));
                let chord: f64 = (0..3).map(|c| (found[c] - wanted[c] / unit).powi(2)).sum::<f64>().sqrt();
                assert!(chord.to_degrees() <= normal.error_max * 1.1 + 0.01, "{target:?} {frame} {vertex}: {found:?} {wanted:?}");
            }
        }
    }
}

#[test]
fn errors_are_those_of_the_written_texels() {
    let doc = arm(30.0);
    let truth = support::bake_fixture(&doc, |o| (o.fps, o.position) = (Fps::Rate(10.0), Position::Absolute)).all_positions();
    for (target, format) in [(Target::Unity, Format::Png8), (Target::Unreal, Format::Exr16), (Target::Three, Format::Ktx2)] {
        let vat = fixture(&doc, Options { format, ..kits(&[target]) }).vat(target);
        let error = largest_distance(&positions(&vat), &turned(target, &truth));
        let told = vat.position.error_max;
        assert!((error - told).abs() <= 0.02 * error + 1e-7, "{target:?}: {error}, told {told}");
        assert!(told > 0.0);
    }
}

#[test]
fn root_motion_is_in_the_kits_axes_and_sense() {
    let mut doc = Rig::new(vec![json!({ "name": "Hips" })]).doc();
    let half = (0.25_f64).sin_cos();
    let turn = vec4(&[[0.0, 0.0, 0.0, 1.0], [0.0, half.0, 0.0, half.1]]);
    doc.animate(
        Some("walk"),
        &[(1, "translation", "LINEAR", &[0.0, 1.0], vec3(&[[0.0; 3], [3.0, 0.0, 2.0]])), (1, "rotation", "LINEAR", &[0.0, 1.0], turn)],
    );
    let run = fixture(&doc, Options { root_motion: RootMotion::Strip, ..kits(&[Target::Bevy, Target::Unity, Target::Unreal]) });
    let last = |target: Target| {
        let motion = run.vat(target).sidecar["clips"][0]["root_motion"].clone();
        let at = |name: &str| motion[name].as_array().and_then(|list| list.last().cloned()).unwrap_or(Value::Null);
        let shift: Vec<f64> = at("translation").as_array().expect("a point").iter().map(|v| v.as_f64().expect("a number")).collect();
        (shift, at("yaw").as_f64().expect("an angle"))
    };
    let near = |(shift, yaw): (Vec<f64>, f64), wanted: [f64; 3], turned: f64| {
        assert!(shift.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-3) && (yaw - turned).abs() < 1e-4, "{shift:?} {yaw}");
    };
    near(last(Target::Bevy), [3.0, 0.0, 2.0], 0.5);
    near(last(Target::Unity), [-3.0, 0.0, 2.0], -0.5);
    near(last(Target::Unreal), [300.0, 200.0, 0.0], -0.5);
}

// What a kit cannot hold

#[test]
fn halves_that_are_too_coarse_become_floats_or_are_said() {
    let near = fixture(&arm(2.0), kits(&[Target::Godot, Target::Unreal, Target::Three]));
    let far = fixture(&arm(100.0), kits(&[Target::Godot, Target::Unreal, Target::Three]));
    for target in [Target::Godot, Target::Unreal, Target::Three] {
        assert_eq!(near.vat(target).position.pixel, "rgba16float", "{target:?}");
        assert_eq!(far.vat(target).position.pixel, "rgba32float", "{target:?}");
    }
    assert_eq!((near.said(Code::CoarseHalf), far.said(Code::CoarseHalf)), (None, None));
    let huge = fixture(&arm(2.0), Options { scale: 1e6, ..kits(&[Target::Godot]) });
    assert_eq!(huge.vat(Target::Godot).position.pixel, "rgba32float", "beyond the range of halves, however large the model");
    let forced = fixture(&arm(100.0), Options { format: Format::Ktx2, ..kits(&[Target::Three]) });
    assert!(forced.said(Code::CoarseHalf).is_some_and(|m| m.contains("three") && m.contains("exr32")), "{:?}", forced.report.warnings);
    let refused = run(input(&arm(1e4)), Options { format: Format::Exr16, ..kits(&[Target::Unreal]) }).err().map(|e| e.to_string());
    assert!(refused.as_ref().is_some_and(|m| m.contains("65504") && m.contains("exr32")), "{refused:?}");
}

#[test]
fn what_an_engine_does_not_take_is_refused_before_anything_is_written() {
    let refused = |targets: &[Target], change: fn(&mut Options)| {
        let mut options = kits(targets);
        change(&mut options);
        run(Input::File(SAMPLE.into()), options).err().map(|e| e.to_string()).expect("refused")
    };
    for (message, words) in [
        (refused(&[Target::Bevy, Target::Godot], |o| o.format = Format::Png16), ["--for godot", "exr16"]),
        (refused(&[Target::Unreal], |o| o.format = Format::Ktx2), ["--for unreal", "exr32"]),
        (refused(&[Target::Three], |o| o.normals = Normals::Alpha), ["--normals alpha", "three"]),
        (refused(&[Target::Bevy], |o| o.uv_set = 2), ["bevy", "UV set 2"]),
        (refused(&[Target::Three], |o| o.fps = Fps::Rate(900.0)), ["4096", "--fps"]),
    ] {
        assert!(words.iter().all(|w| message.contains(w)), "{message}");
    }
    let wide = sample(kits(&[Target::Three]));
    assert!(wide.report.size.iter().all(|side| *side <= 4096), "{:?}", wide.report.size);
    assert!(sample(kits(&[Target::Bevy])).report.size[0] > 4096);
}

// --max-error

#[test]
fn a_sidecar_tells_what_its_own_kit_cannot_show() {
    let mut doc = models::rigid(&models::TRIANGLE);
    doc.animate(None, &[(0, "translation", "STEP", &[0.0, 0.5, 1.0], vec3(&[[0.0; 3], [1.0; 3], [2.0; 3]]))]);
    let baked = run(input(&doc), kits(&[Target::Godot, Target::Bevy, Target::Unreal])).expect("a bake");
    let said = baked.said(Code::KitLimits).expect("the run tells of all of them");
    assert!(said.contains("godot kit:") && said.contains("unreal kit:"), "{said}");
    let of_kit = |target| {
        let warnings = baked.vat(target).sidecar["warnings"].clone();
        let found = warnings.as_array().expect("warnings").iter().find(|w| w["code"] == "kit-limits").cloned();
        found.map(|w| (w["count"].as_u64(), w["message"].to_string()))
    };
    assert!(of_kit(Target::Bevy).is_none());
    for (own, other) in [(Target::Godot, "unreal kit:"), (Target::Unreal, "godot kit:")] {
        let (count, message) = of_kit(own).expect("it tells");
        assert_eq!(count, Some(message.matches(" kit:").count() as u64), "{message}");
        assert!(message.contains(&format!("{} kit:", own.folder())) && !message.contains(other), "{message}");
    }
}

/// Names of clips can hold anything, and stand in texts of many kinds.
#[test]
fn control_characters_and_long_names_stay_out_of_texts() {
    let sidecar = vatbake::output::sidecar::read(include_bytes!("kit/sidecar.json").as_slice()).expect("a sidecar");
    for stepped in [false, true] {
        let mut sidecar = sidecar.clone();
        sidecar.clips = sidecar.clips.iter().cycle().take(8).cloned().collect();
        for clip in &mut sidecar.clips {
            (clip.name, clip.stepped) = (Some(format!("a\0b\u{1}c\nd\u{2028}e\"}}f{}", "x".repeat(300))), stepped);
        }
        for target in Target::ALL {
            for file in target.files(&Kit { name: "hero", sidecar: &sidecar }) {
                let found = file.text.chars().find(|c| c.is_control() && !"\n\r\t".contains(*c));
                assert_eq!(found, None, "{target:?} {}", file.name);
                if file.name.ends_with(".md") {
                    assert!(file.text.lines().all(|line| line.len() < 1200 && !line.starts_with("d ")), "{target:?} {}", file.name);
                }
            }
        }
    }
}

#[test]
fn names_that_unreal_takes_for_one_stay_two() {
    let sidecar = vatbake::output::sidecar::read(include_bytes!("kit/sidecar.json").as_slice()).expect("a sidecar");
    let folder_of = |name: &str| {
        let files = Target::Unreal.files(&Kit { name, sidecar: &sidecar });
        let script = files.into_iter().find(|f| f.name.ends_with(".py") && f.name.starts_with("import_")).expect("the script");
        script.text.lines().find(|line| line.starts_with("CONTENT = ")).expect("the folder").to_owned()
    };
    let folders: std::collections::BTreeSet<_> = ["b_x", "b x", "b.x", "b-x"].into_iter().map(folder_of).collect();
    assert_eq!(folders.len(), 4, "{folders:?}");
    assert!(folder_of("b_x").ends_with("\"b_x\"") && folder_of("b x").contains("\"b_x_"));
}

fn limited(doc: &Doc, limit: f64, change: impl FnOnce(&mut Options)) -> Result<Run, Error> {
    let mut all = Options { format: Format::Auto, max_error: Some(limit), ..options() };
    change(&mut all);
    run(input(doc), all)
}

fn cost(report: &Report) -> u64 {
    report.textures.iter().map(|t| t.gpu_bytes).sum()
}

#[test]
fn of_what_holds_the_limit_the_cheapest_is_taken() {
    let doc = arm(3.0);
    // every way to store it, baked one by one
    let mut ways = Vec::new();
    for format in [Format::Png8, Format::Png16, Format::Exr16, Format::Exr32] {
        for position in [Position::Offset, Position::Absolute] {
            for (normals, normal_bits) in
                [(Normals::Separate, None), (Normals::Separate, Some(8)), (Normals::Separate, Some(16)), (Normals::Alpha, None)]
            {
                let options = Options { format, position, normals, normal_bits, ..options() };
                if options.check().is_ok() {
                    ways.push(run(input(&doc), options).expect("a bake").report);
                }
            }
        }
    }
    assert!(ways.len() >= 14, "{}", ways.len());
    let error = |report: &Report, role: &str| report.textures.iter().find(|t| t.role == role).map_or(0.0, |t| t.error_max);
    let mut chosen = std::collections::BTreeSet::new();
    for (limit, degrees) in [(0.1, 1.0), (0.01, 1.0), (0.01, 0.3), (0.001, 1.0), (0.001, 0.01), (0.0001, 1.0), (1e-5, 0.1), (1e-6, 1.0)] {
        let best = limited(&doc, limit, |o| o.max_normal_error = degrees).expect("something holds it");
        let report = &best.report;
        assert!(error(report, "position") <= limit && error(report, "normal") <= degrees, "{limit} {degrees}: {:?}", report.textures);
        let holds = |w: &&Report| error(w, "position") <= limit && error(w, "normal") <= degrees;
        let cheapest = ways.iter().filter(holds).map(cost).min().expect("one holds it");
        assert_eq!(cost(report), cheapest, "{limit} {degrees}: {:?}", best.said(Code::EncodingChosen));
        let said = best.said(Code::EncodingChosen).expect("why");
        assert!(said.contains("bytes a vertex and frame") && said.contains("off by at most"), "{said}");
        chosen.insert(report.textures.iter().map(|t| format!("{} {} ", t.pixel, t.encoding)).collect::<String>());
    }
    assert!(chosen.len() >= 4, "the limits do not tell encodings apart: {chosen:?}");
}

#[test]
fn what_was_asked_for_stands_and_the_impossible_names_the_best() {
    let doc = arm(3.0);
    let pinned = limited(&doc, 0.1, |o| (o.format, o.normals) = (Format::Png16, Normals::None)).expect("a bake");
    assert_eq!(pinned.report.textures.iter().map(|t| t.pixel.as_str()).collect::<Vec<_>>(), ["rgba16unorm"]);
    let error = limited(&doc, 1e-4, |o| o.format = Format::Png8).err().map(|e| e.to_string()).expect("refused");
    assert!(error.contains("--max-error") && error.contains("8-bit PNG") && error.contains("the best is"), "{error}");
    // each engine has its own choice
    let kits = limited(&doc, 1e-4, |o| o.targets = vec![Target::Bevy, Target::Godot]).expect("kits");
    assert_eq!(kits.vat(Target::Bevy).position.pixel, "rgba16unorm");
    assert_eq!(kits.vat(Target::Godot).position.pixel, "rgba32float");
    assert!(kits.said(Code::EncodingChosen).is_some_and(|m| m.contains("bevy") && m.contains("godot")));
}

#[test]
fn the_limit_is_kept_on_the_device_too() {
    let run = |device| limited(&arm(3.0), 1e-4, |o| o.device = device).expect("a bake").report;
    let (cpu, gpu) = (run(DeviceChoice::Cpu), run(DeviceChoice::Software));
    assert!(gpu.device.name.contains("llvmpipe"), "{:?}", gpu.device);
    assert_eq!(cpu.textures.iter().map(|t| &t.pixel).collect::<Vec<_>>(), gpu.textures.iter().map(|t| &t.pixel).collect::<Vec<_>>());
    assert!(gpu.textures[0].error_max <= 1e-4);
}
