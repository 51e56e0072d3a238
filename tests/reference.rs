//! The f64 reference of `verify` against independent truth: positions that other programs computed of the given models.
//!
//! One test a model. Where `shared/data` is absent there is nothing to compare with: reported as ignored, but a failure where `CI`
//! is `true`. Each comparison has a negative twin: with neighbouring frames it must fail.

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use support::oracle::{self, Model};
use vatbake::baked::Baked;
use vatbake::options::{DeviceChoice, Format};
use vatbake::verify::reference::Reference;
use vatbake::verify::{Request, verify};
use vatbake::{Input, Options};

/// Skins, several joint sets, morphs, rigid nodes, splines, quantised and mirrored ones; all have normals, so that vertices keep their order.
const MODELS: &[&str] = &[
    "Fox",
    "CesiumMan",
    "derived/Fox2-8influences",
    "derived/RiggedSimple-MirroredNonUniform",
    "PBRTest-Joints1",
    "MorphStressTest",
    "AnimatedMorphCube-Quantized",
    "SimpleMorph",
    "BoxAnimated",
    "CesiumMilkTruck",
    "InterpolationTest",
    "HandLeft-CubicSpline",
    "Mesh2Motion-Fox",
    "Kenney-PlatformerCharacter",
];

/// Share of the model's size (diagonal of the oracle's box) by which the two may differ: the oracle is f32.
const TOLERANCE: f64 = 1e-5;

fn main() {
    let arguments = Arguments::from_args();
    let Some(models) = oracle::models() else {
        libtest_mimic::run(&arguments, vec![oracle::without_data()]).exit();
    };
    let trial = |name: &&str| {
        let model = oracle::find(&models, name);
        Trial::test(model.name.clone(), move || check(&model))
    };
    libtest_mimic::run(&arguments, MODELS.iter().map(trial).collect()).exit();
}

fn check(model: &Model) -> Result<(), Failed> {
    let options = Options { exact_fps: true, device: DeviceChoice::Cpu, format: Format::Exr32, ..Options::default() };
    let source = Input::File(model.file.clone());
    let bake = support::bake::bake(source.clone(), options).map_err(|e| format!("refused: {e}"))?;
    let read = Baked::read(bake.folder.path())?;
    let mut reference = Reference::read(&source, &Request::default(), &read.sidecar)?;
    reference.settle(&read)?;
    let farthest = compare(model, &read, &reference, 0)?;
    if farthest.is_nan() || farthest > TOLERANCE {
        return Err(format!("a position is {farthest:.2e} of the model's size from the oracle's").into());
    }
    let beside = compare(model, &read, &reference, 1)?;
    if beside <= TOLERANCE {
        return Err("the comparison does not notice the next frame".into());
    }
    // And the bake itself is as far from the reference as f32 is.
    let request = Request { sidecar: bake.folder.path().to_path_buf(), source: Some(source), ..Request::default() };
    let verdict = verify(&request)?;
    let share = verdict.measured.as_ref().map_or(f64::NAN, |m| m.position_share);
    match verdict.ok && share <= TOLERANCE {
        true => Ok(()),
        false => Err(format!("{share:.2e} of the size: {:#?}", verdict.findings).into()),
    }
}

/// Largest distance between reference and oracle as a share of the model's size, `late` frames later in the reference.
fn compare(model: &Model, baked: &Baked, reference: &Reference, late: usize) -> Result<f64, Failed> {
    let expected = oracle::load(model);
    let parts = &baked.sidecar.mesh.parts;
    if parts.len() != expected.primitives.len() || baked.sidecar.clips.len() != expected.clips.len() {
        return Err("other parts or clips than the oracle's".into());
    }
    let (mut farthest, mut compared) = (0.0_f64, 0);
    for clip in &expected.clips {
        let found = baked.sidecar.clips.iter().find(|c| c.animation == Some(clip.animation as u32)).ok_or("a clip was not baked")?;
        for (k, &frame) in clip.frames.iter().enumerate() {
            let row = found.first_frame as usize + (frame + late).min(found.frame_count as usize - 1);
            let pose = reference.frame(&baked.sidecar, row).ok_or("no pose")?;
            let positions = reference.positions(&pose);
            for (i, primitive) in expected.primitives.iter().enumerate() {
                let is_it = |p: &&vatbake::output::sidecar::Part| {
                    primitive.node == Some(p.node as usize) && primitive.primitive == p.primitive as usize
                };
                let part = if primitive.node.is_some() { parts.iter().find(is_it).ok_or("no such part")? } else { &parts[i] };
                if part.vertex_count as usize != primitive.vertices {
                    return Err(format!("{} vertices, expected {}", part.vertex_count, primitive.vertices).into());
                }
                for (j, wanted) in expected.points(clip, k, primitive).into_iter().enumerate() {
                    let found = positions[part.first_vertex as usize + j * expected.stride];
                    farthest = farthest.max((0..3).map(|c| (found[c] - wanted[c]).abs()).fold(0.0, f64::max));
                    compared += 1;
                }
            }
        }
    }
    if compared == 0 {
        return Err("nothing was compared".into());
    }
    Ok(farthest / expected.size)
}
