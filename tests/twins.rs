//! The kernel on a software adapter (llvmpipe) and its twin on the CPU give the same texels: one test a given model, one for a
//! model made here.
//!
//! Tolerance (the design's): positions within one quantisation step of the axis or 2^-20 of the largest coordinate, whichever is
//! more; normals within one step a component. Which device ran is asserted, and a perturbed copy must fail the same comparison.

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::json;
use support::decode::{V3, Vat};
use support::models::{Rig, TRIANGLE};
use support::oracle::{self, Model};
use support::texture::Texels;
use support::{Baked, Doc, Type, bake, vec3, vec4};
use vatbake::options::{DeviceChoice, Format, Normals};
use vatbake::{Error, Input, Options};

/// Models that also go through other formats.
const VARIANT_MODELS: &[&str] = &["Fox", "CesiumMan", "MorphStressTest"];

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("fixture", || check(&|device| bake_fixture(device))),
        Trial::test("negative/fixture", || must_notice(&bake_fixture(DeviceChoice::Cpu)?)),
    ];
    match oracle::models() {
        Some(models) => trials.extend(trials_of(models)),
        None => trials.push(oracle::without_data()),
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn trials_of(models: Vec<Model>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for model in models {
        let run = model.clone();
        trials.push(Trial::test(format!("model/{}", model.name), move || {
            check(&|device| bake_model(&run, Options { device, ..Options::default() }))
        }));
        if VARIANT_MODELS.contains(&model.name.as_str()) {
            for (name, format, normals) in [
                ("exr32", Format::Exr32, Normals::Separate),
                ("exr16", Format::Exr16, Normals::Separate),
                ("png8", Format::Png8, Normals::Separate),
                ("alpha", Format::Png16, Normals::Alpha),
            ] {
                let run = model.clone();
                trials.push(Trial::test(format!("variant/{name}/{}", model.name), move || {
                    check(&|device| bake_model(&run, Options { device, format, normals, ..Options::default() }))
                }));
            }
        }
    }
    trials
}

/// Two joints that swing apart, a blend between them, a morph: everything that the kernel does in three vertices.
fn fixture() -> Doc {
    let mut rig = Rig::new(vec![json!({}), json!({ "translation": [0.0, 1.0, 0.0] })]);
    rig.joints = vec4(&[[0.0, 1.0, 0.0, 0.0]; 3]).of(Type::U8);
    rig.weights = vec4(&[[1.0, 0.0, 0.0, 0.0], [0.3, 0.7, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]);
    let mut doc = rig.doc();
    let target = doc.add(vec3(&TRIANGLE.map(|p| [p[1], p[2], p[0]])));
    doc.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": target }]);
    let s = std::f64::consts::FRAC_1_SQRT_2;
    doc.animate(
        Some("swing"),
        &[
            (1, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], [s, 0.0, 0.0, s]])),
            (2, "scale", "LINEAR", &[0.0, 1.0], vec3(&[[1.0, 1.0, 1.0], [1.0, 3.0, 0.5]])),
            (0, "weights", "LINEAR", &[0.0, 0.5], support::scalars(&[0.0, 1.0])),
        ],
    );
    doc
}

fn bake_fixture(device: DeviceChoice) -> Result<Baked, Failed> {
    finish(bake::bake(bake::input(&fixture()), Options { device, ..Options::default() }))
}

fn bake_model(model: &Model, options: Options) -> Result<Baked, Failed> {
    finish(bake::bake(Input::File(model.file.clone()), options))
}

fn finish(result: Result<Baked, Error>) -> Result<Baked, Failed> {
    result.map_err(|error| match error {
        Error::Device(text) => {
            format!("{text}. Without a GPU these tests need Mesa's llvmpipe: apt-get install mesa-vulkan-drivers").into()
        }
        other => format!("refused: {other}").into(),
    })
}

/// Bakes on both and compares.
fn check(bake: &dyn Fn(DeviceChoice) -> Result<Baked, Failed>) -> Result<(), Failed> {
    let (cpu, gpu) = (bake(DeviceChoice::Cpu)?, bake(DeviceChoice::Software)?);
    let (twin, adapter) = (&cpu.report.device, &gpu.report.device);
    if twin.kind != "cpu" || adapter.kind != "software" {
        return Err(format!("asked for the twin and a software adapter, ran on {twin:?} and {adapter:?}").into());
    }
    if cfg!(target_os = "linux") && !adapter.name.contains("llvmpipe") {
        return Err(format!("expected llvmpipe, ran on {adapter:?}").into());
    }
    compare(&cpu, &gpu).map_err(Failed::from)
}

/// One texel of each texture moved by a little more than the tolerance must be noticed; an untouched copy must not.
fn must_notice(baked: &Baked) -> Result<(), Failed> {
    let read = || support::decode::decode(&bake::sidecar_of(&baked.report));
    compare(baked, &read()?).map_err(|e| Failed::from(format!("a bake differs from itself: {e}")))?;
    for role in ["position", "normal"] {
        let mut copy = read()?;
        let texture = match role {
            "position" => &mut copy.position,
            _ => copy.normal.as_mut().ok_or("no normals")?,
        };
        let Texels::U16(all) = &mut texture.image.texels else { return Err("not 16-bit".into()) };
        let moved = &mut all[1]; // y of vertex 0 in frame 0
        *moved = if *moved > 1000 { *moved - 3 } else { *moved + 3 };
        if compare(baked, &copy).is_ok() {
            return Err(format!("3 steps of one {role} texel are not noticed").into());
        }
    }
    let mut copy = read()?;
    copy.clips[0].frame_count -= 1;
    match compare(baked, &copy) {
        Ok(()) => Err("a missing frame is not noticed".into()),
        Err(_) => Ok(()),
    }
}

/// The design's tolerance between two bakes of one model.
fn compare(a: &Vat, b: &Vat) -> Result<(), String> {
    let shape = |v: &Vat| (v.vertex_count, v.frame_count, v.width, v.height, v.blocks);
    if shape(a) != shape(b) {
        return Err(format!("layouts {:?} and {:?}", shape(a), shape(b)));
    }
    if a.parts != b.parts {
        return Err("different parts".into());
    }
    for (x, y) in a.clips.iter().zip(&b.clips) {
        let key = |c: &support::decode::Clip| (c.name.clone(), c.first_frame, c.frame_count, c.looping.clone(), c.stepped);
        if key(x) != key(y) {
            return Err(format!("clips {x:?} and {y:?}"));
        }
    }
    let positions: Vec<Vec<V3>> = (0..a.frame_count).map(|f| a.frame(f)).collect();
    let largest = positions.iter().flatten().flatten().fold(0.0, |most: f64, v| most.max(v.abs()));
    // Rest pose, bias and scale of the two bakes may each differ in the last place of an f32: the second term.
    let rounding = largest * 2.0_f64.powi(-22);
    let tolerance: V3 = std::array::from_fn(|c| position_step(a, c).max(largest * 2.0_f64.powi(-20)) + rounding);
    for (f, row) in positions.iter().enumerate() {
        for (i, p) in row.iter().enumerate() {
            let q = b.position(f, i);
            let near = (0..3).all(|c| (p[c] - q[c]).abs() <= tolerance[c]); // false for NaN
            if !near {
                return Err(format!("vertex {i}, frame {f}: {p:?} and {q:?} (tolerance {tolerance:?})"));
            }
        }
    }
    compare_normals(a, b)
}

/// What one step of a texel is worth on an axis, metres.
fn position_step(vat: &Vat, axis: usize) -> f64 {
    2.0 * vat.half_step(axis)
}

/// Within one step a component of what the files hold; floats within one step of 16 bits.
fn compare_normals(a: &Vat, b: &Vat) -> Result<(), String> {
    let (Some(x), Some(y)) = (&a.normal, &b.normal) else { return Err("a bake without normals".into()) };
    if x.encoding == "alpha-octahedral" {
        return compare_packed(a, b);
    }
    let step = match x.pixel.as_str() {
        "rgba16float" => 2.0_f64.powi(-10), // a unit in the last place near 1
        "rgba32float" => 2.0 / 65535.0,
        _ => 1.0,
    };
    // A flat normal is a cross product of edges, each the difference of two f32 positions: on a triangle a thousand times smaller
    // than its distance from the origin that costs more than a step. There, and only there, a few may be a few steps off.
    let flat = a.warnings().iter().any(|(code, _)| code == "flat-normals");
    let (few, most) = if flat { (a.frame_count * a.vertex_count / 10_000, 4.0 * step) } else { (0, step) };
    let mut over = Vec::new();
    for f in 0..a.frame_count {
        for i in 0..a.vertex_count {
            let (s, t) = a.address(f, i);
            let (p, q) = (x.image.raw(s, t), y.image.raw(s, t));
            let within = |most: f64| (0..4).all(|c| (p[c] - q[c]).abs() <= most);
            if !within(step) {
                over.push(format!("vertex {i}, frame {f}: texels {p:?} and {q:?}"));
            }
            if !within(most) || over.len() > few {
                return Err(format!(
                    "{} normals differ (at most {few} may, by at most {most}), the last: {}",
                    over.len(),
                    over[over.len() - 1]
                ));
            }
        }
    }
    Ok(())
}

/// Octahedral normals in alpha: one step of a byte moves a normal by less than 2 degrees, also across the fold.
fn compare_packed(a: &Vat, b: &Vat) -> Result<(), String> {
    for f in 0..a.frame_count {
        for i in 0..a.vertex_count {
            let (p, q) = (a.normal(f, i), b.normal(f, i));
            let cosine: f64 = (0..3).map(|c| p[c] * q[c]).sum();
            let near = cosine >= 2.0_f64.to_radians().cos();
            if !near {
                return Err(format!("normal of vertex {i}, frame {f}: {p:?} and {q:?}"));
            }
        }
    }
    Ok(())
}
