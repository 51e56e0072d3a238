//! How work is cut changes nothing: not the bytes of the files, not the memory that a long bake takes. Two runs give the same bytes,
//! numbers that f32 cannot hold are refused, and a bake that is killed leaves no set that looks whole.

mod support;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;
use sha2::{Digest, Sha256};
use support::bake::{names_in, refuse, sidecar_of};
use support::decode::{V3, decode};
use support::models::{QUARTER_Z, Rig, TRIANGLE, rigid};
use support::{Baked, bake_fixture};
use support::{Doc, Type, mat4, scalars, vec3, vec4};
use vatbake::options::{DeviceChoice, Format, Fps, Looping, Normals, WorkLimits};
use vatbake::{Error, Input, Options, Request, Silent};

const DEVICES: [DeviceChoice; 2] = [DeviceChoice::Cpu, DeviceChoice::Software];
/// Seconds of the crowd's clip.
const LENGTH: f64 = 10.0;

/// A cloud of skinned triangles on a chain of eight joints, with two morph targets, moving for [`LENGTH`] seconds.
fn crowd(vertices: usize, has_normals: bool) -> Doc {
    let at = |i: usize| -> V3 { [i as f64 * 0.37 % 2.0, i as f64 * 0.011 % 4.0, i as f64 * 0.77 % 1.0] };
    let positions: Vec<V3> = (0..vertices).map(at).collect();
    let joint = |i: usize, of: usize| ((i / 3 + of) % 8) as f64;
    let rig = Rig {
        joints: vec4(&(0..vertices).map(|i| [joint(i, 0), joint(i, 1), joint(i, 2), joint(i, 3)]).collect::<Vec<_>>()).of(Type::U8),
        weights: vec4(&vec![[0.5, 0.25, 0.125, 0.125]; vertices]),
        positions,
        inverse_bind: Some(mat4(&(0..8).map(|j| shifted(-0.5 * j as f64)).collect::<Vec<_>>())),
        ..Rig::new((0..8).map(|j| if j < 7 { json!({ "translation": [0, 0.5, 0], "children": [j + 2] }) } else { json!({}) }).collect())
    };
    let mut doc = rig.doc();
    let indices: Vec<f64> = (0..vertices.next_multiple_of(3)).map(|i| (i % vertices) as f64).collect();
    let indices = doc.add(scalars(&indices).of(Type::U32));
    let targets = [1.0, -0.5].map(|x| doc.add(vec3(&(0..vertices).map(|i| [x * (i % 7) as f64 * 0.01, 0.0, x * 0.1]).collect::<Vec<_>>())));
    let primitive = &mut doc.json["meshes"][0]["primitives"][0];
    primitive["indices"] = json!(indices);
    primitive["targets"] = json!(targets.map(|t| json!({ "POSITION": t })));
    if !has_normals {
        primitive["attributes"].as_object_mut().expect("attributes").remove("NORMAL");
    }
    let times = [0.0, LENGTH / 3.0, LENGTH];
    let turn = vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z, [0.0, 0.6, 0.0, 0.8]]);
    let mut channels: Vec<(usize, &str, &str, &[f64], support::Array)> =
        (1..9).map(|joint| (joint, "rotation", "LINEAR", &times[..], turn.clone())).collect();
    channels.push((0, "weights", "LINEAR", &times, scalars(&[0.0, 0.0, 1.0, 0.0, 0.3, 1.0])));
    doc.animate(Some("sway"), &channels);
    doc
}

fn shifted(y: f64) -> [f64; 16] {
    let mut m: [f64; 16] = std::array::from_fn(|i| if i % 5 == 0 { 1.0 } else { 0.0 });
    m[13] = y;
    m
}

/// All files of a bake, the sidecar too.
fn files(baked: &Baked) -> Vec<(String, Vec<u8>)> {
    let mut files = baked.data_files();
    files.push(("sidecar".into(), std::fs::read(sidecar_of(&baked.report)).expect("a sidecar")));
    files
}

#[track_caller]
fn assert_same(one: &[(String, Vec<u8>)], other: &[(String, Vec<u8>)], what: &str) {
    assert_eq!(one.iter().map(|f| &f.0).collect::<Vec<_>>(), other.iter().map(|f| &f.0).collect::<Vec<_>>(), "{what}");
    for ((name, a), (_, b)) in one.iter().zip(other) {
        let first = a.iter().zip(b).position(|(a, b)| a != b);
        assert!(a == b, "{what}: {name} differs from byte {first:?} on ({} and {} bytes)", a.len(), b.len());
    }
}

// How work is cut

/// Limits under which every buffer, dispatch and texture is a small piece of what the bake needs.
const TINY: WorkLimits = WorkLimits { binding_bytes: Some(1 << 20), workgroups: Some(64), texture_side: Some(256), frames: None };

/// Bakes `frames` frames whole and in pieces, and compares the bytes.
fn cut(doc: &Doc, frames: usize, set: impl Fn(&mut Options)) {
    for device in DEVICES {
        let bake = |memory: Option<u64>, work: WorkLimits| {
            let baked = bake_fixture(doc, |o| {
                (o.device, o.format, o.looping) = (device.clone(), Format::Png16, Looping::None);
                o.fps = Fps::Rate((frames - 1) as f64 / LENGTH);
                (o.memory, o.work) = (memory.unwrap_or(o.memory), work);
                set(o);
            });
            assert_eq!(baked.frame_count, frames);
            files(&baked)
        };
        let whole = bake(None, WorkLimits::default());
        assert_same(&whole, &bake(None, TINY), "tiny limits");
        assert_same(&whole, &bake(Some(1 << 20), WorkLimits::default()), "the least memory");
        // A clip's first pose goes with every run of frames on an adapter, so that two are the least there.
        let least = if device == DeviceChoice::Cpu { 1 } else { 2 };
        assert_same(&whole, &bake(None, WorkLimits { frames: Some(least), ..WorkLimits::default() }), "the fewest frames at a time");
        assert_same(
            &whole,
            &bake(Some(1 << 20), WorkLimits { frames: Some(7), ..TINY }),
            "tiny limits, the least memory, seven frames at a time",
        );
    }
}

#[test]
fn pieces_give_the_bytes_of_the_whole() {
    cut(&crowd(5000, true), 300, |_| ());
}

#[test]
fn pieces_of_several_blocks_give_the_bytes_of_the_whole() {
    cut(&crowd(5000, true), 50, |o| o.max_size = 1024);
}

#[test]
fn pieces_with_flat_normals_give_the_bytes_of_the_whole() {
    cut(&crowd(3000, false), 40, |_| ());
}

#[test]
fn pieces_of_floats_give_the_bytes_of_the_whole() {
    cut(&crowd(2500, true), 40, |o| (o.format, o.max_size) = (Format::Exr32, 1000));
    cut(&crowd(1001, false), 21, |o| o.format = Format::Exr16);
}

#[test]
fn pieces_with_packed_normals_give_the_bytes_of_the_whole() {
    cut(&crowd(2500, true), 40, |o| (o.normals, o.max_size) = (Normals::Alpha, 1000));
}

#[test]
fn what_does_not_fit_the_limits_is_an_error_that_says_so() {
    let work = WorkLimits { binding_bytes: Some(64 << 10), ..TINY };
    let error = refuse(&crowd(5000, true), |o| (o.device, o.work, o.fps) = (DeviceChoice::Software, work, Fps::Rate(1.0)));
    assert!(matches!(&error, Error::Device(text) if text.contains("65536") && text.contains("--device cpu")), "{error}");
}

#[test]
fn two_runs_give_the_same_bytes() {
    let doc = crowd(3001, true);
    for device in DEVICES {
        for format in [Format::Png16, Format::Exr16] {
            let run = || files(&bake_fixture(&doc, |o| (o.device, o.format, o.fps) = (device.clone(), format, Fps::Rate(6.0))));
            assert_same(&run(), &run(), "two runs");
        }
    }
}

// Memory

/// Runs only where another test starts this program for it: bakes, and prints the peak of this process's memory.
#[test]
fn child_that_bakes() {
    let Some(job) = std::env::var_os("VATBAKE_CHILD") else { return };
    let job: serde_json::Value = serde_json::from_str(&job.to_string_lossy()).expect("JSON");
    let device = DEVICES[usize::from(job["software"] == true)].clone();
    let options = Options { device, fps: Fps::Rate(job["fps"].as_f64().expect("a rate")), memory: 64 << 20, ..Options::default() };
    let output = tempfile::tempdir().expect("a folder");
    let request =
        Request { input: Input::File(job["file"].as_str().expect("a file").into()), output: output.path().to_path_buf(), options };
    let report = vatbake::bake(&request, &mut Silent).expect("a bake");
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")).expect("a peak");
    println!("frames={} peak={}", report.frame_count, peak.trim());
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_number_of_frames() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("crowd.glb");
    std::fs::write(&file, crowd(2000, true).to_glb()).expect("a file");
    let peak = |software: bool, frames: usize| -> u64 {
        let job = json!({ "file": file, "software": software, "fps": (frames - 1) as f64 / LENGTH });
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "child_that_bakes", "--nocapture"])
            .env("VATBAKE_CHILD", job.to_string())
            .output()
            .expect("a child");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && text.contains(&format!("frames={frames} ")),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let peak = text.split("peak=").nth(1).and_then(|t| t.split_whitespace().next()).expect("a peak");
        peak.parse::<u64>().expect("a number") << 10
    };
    for software in [false, true] {
        let (short, long) = (peak(software, 200), peak(software, 4000));
        // Held whole, the frames between would take 116 MB of texels; an allocator that keeps freed pages takes a few.
        assert!(long < short + (40 << 20), "software: {software}: {} MiB for 200 frames, {} MiB for 4000", short >> 20, long >> 20);
    }
}

// Numbers

#[test]
fn numbers_beyond_f32_are_refused_wherever_they_arise() {
    // In the middle of a clip: infinity times 0 is no number, and no range shows it.
    let blown_up = |path: &'static str, values: [V3; 3]| {
        let mut doc = rigid(&TRIANGLE);
        doc.root(json!({ "children": [0], "scale": [1e30, 1e30, 1e30] }));
        doc.json["scenes"][0]["nodes"] = json!([1]);
        doc.animate(None, &[(0, path, "LINEAR", &[0.0, 0.5, 1.0], vec3(&values))]);
        doc
    };
    let small = [1e-30, 1e-30, 1e-30];
    let mut weights =
        support::models::morphing(&TRIANGLE, vec![vec![("POSITION", vec3(&[[1e30, 0.0, 0.0], [-1e30, 0.0, 0.0], [0.0; 3]]))]]);
    weights.animate(None, &[(0, "weights", "LINEAR", &[0.0, 0.5, 1.0], scalars(&[0.0, 1e30, 0.0]))]);
    for doc in
        [blown_up("scale", [small, [1e20, 1e20, 1e20], small]), blown_up("translation", [[0.0; 3], [1e20, -1e20, 0.0], [0.0; 3]]), weights]
    {
        for device in DEVICES {
            for format in [Format::Exr32, Format::Png16] {
                let error = refuse(&doc, |o| (o.device, o.format) = (device.clone(), format));
                assert!(matches!(&error, Error::Bake(text) if text.contains("range of 32-bit floats")), "{error}");
            }
        }
    }
}

#[test]
fn a_clip_of_almost_no_length_has_one_frame() {
    let mut doc = rigid(&TRIANGLE);
    doc.animate(None, &[(0, "translation", "LINEAR", &[0.0, 1e-42], vec3(&[[0.0; 3], [1.0, 0.0, 0.0]]))]);
    let baked = bake_fixture(&doc, |_| ());
    assert_eq!((baked.frame_count, baked.clips[0].length), (1, 0.0));
}

// Killed

/// Whether the files of the set that a sidecar names are all there and belong to it; a half set is a panic.
#[cfg(feature = "cli")]
fn whole_set(folder: &Path) -> bool {
    let sidecar = folder.join("crowd.vat.json");
    if !sidecar.exists() {
        return false;
    }
    let vat = decode(&sidecar).unwrap_or_else(|e| panic!("a sidecar without its set: {e}"));
    for texture in [Some(&vat.position), vat.normal.as_ref()].into_iter().flatten() {
        let crc = crc32fast::hash(&texture.image.bytes());
        assert_eq!(format!("{crc:08x}"), texture.crc32, "{} is of another bake", texture.file);
    }
    let mesh = std::fs::read(folder.join(vat.sidecar["mesh"]["file"].as_str().expect("a name"))).expect("a mesh");
    let hash: String = Sha256::digest(mesh).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(vat.sidecar["mesh"]["sha256"], hash, "the mesh is of another bake");
    true
}

#[cfg(feature = "cli")]
#[test]
fn a_killed_bake_leaves_no_set_that_looks_whole_and_the_next_heals() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("crowd.glb");
    std::fs::write(&file, crowd(4000, true).to_glb()).expect("a file");
    let output = folder.path().join("out");
    let program = |fps: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vatbake"));
        command.arg("bake").arg(&file).arg("-o").arg(&output).args(["--device", "cpu", "--fps", fps, "--quiet"]);
        command
    };
    let bake = |fps: &str| assert!(program(fps).status().expect("a bake").success());
    let complete = ["crowd.vat.json", "crowd_vat.glb", "crowd_vat_normal.png", "crowd_vat_position.png"];
    let begun = Instant::now();
    bake("20");
    let took = begun.elapsed();
    assert!(whole_set(&output));
    let mut died = 0;
    for step in 0..12_u32 {
        // Half of the time over an old set of another rate, half of the time into nothing.
        if step % 2 == 0 {
            std::fs::remove_dir_all(&output).expect("removed");
        } else {
            bake("10");
        }
        let mut child = program("20").spawn().expect("a bake");
        std::thread::sleep(took * (step + 1) / 12);
        child.kill().expect("a kill");
        died += usize::from(!child.wait().expect("an end").success());
        let whole = whole_set(&output);
        assert!(step % 2 == 1 || !whole || names_in(&output) == complete, "{:?}", names_in(&output));
        bake("20");
        assert!(whole_set(&output));
        assert_eq!(names_in(&output), complete, "after the next bake");
    }
    assert!(died >= 4, "{died} of 12 bakes were killed before they were done, of {took:?}");
}
