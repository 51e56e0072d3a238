//! Independent truth: every given model is baked, the written files are decoded by a decoder that shares no code with the encoder,
//! and compared with positions that other programs computed (three.js, or a float64 reference).
//!
//! One test a model. Where `shared/data` is absent there is nothing to compare with: reported as ignored, but a failure where `CI`
//! is `true`. Each comparison has a negative twin: the same comparison with frames or clips exchanged must fail.

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use support::decode::{Part, V3, Vat};
use support::oracle::{self, Clip, Model, Oracle, Primitive};
use support::{Baked, bake};
use vatbake::options::{DeviceChoice, Format, Position};
use vatbake::{Input, Options};

/// Share of the model's size (diagonal of the oracle's box) that may be lost besides half a quantisation step.
const TOLERANCE: f64 = 1e-5;

/// Vertices of a primitive that no triangle uses, in models without NORMAL: splitting vertices may drop these, and only these.
const UNUSED_VERTICES: &[(&str, usize)] = &[("BlenderIO-23_multi_prim_sparse_morph", 4)];

/// Models that also go through the other encodings: no normals and skinned, several clips, morphs, rigid nodes, quantised.
const VARIANT_MODELS: &[&str] =
    &["Fox", "CesiumMan", "MorphStressTest", "BoxAnimated", "derived/Fox-gltfpack-c", "Kenney-PlatformerCharacter"];

fn main() {
    let arguments = Arguments::from_args();
    let Some(models) = oracle::models() else {
        libtest_mimic::run(&arguments, vec![oracle::without_data()]).exit();
    };
    let mut trials = Vec::new();
    for model in &models {
        let run = model.clone();
        trials.push(Trial::test(format!("model/{}", model.name), move || check_model(&run)));
    }
    for (variant, format, position) in [
        ("absolute", Format::Png16, Position::Absolute),
        ("exr32", Format::Exr32, Position::Offset),
        ("exr32-absolute", Format::Exr32, Position::Absolute),
        ("exr16", Format::Exr16, Position::Offset),
        ("png8", Format::Png8, Position::Offset),
    ] {
        for name in VARIANT_MODELS {
            let model = oracle::find(&models, name);
            trials.push(Trial::test(format!("variant/{variant}/{name}"), move || check_variant(&model, format, position)));
        }
    }
    let (fox, man) = (oracle::find(&models, "Fox"), oracle::find(&models, "CesiumMan"));
    trials.push(Trial::test("negative/rows-off-by-one", move || {
        must_fail(&fox, &|count, _, frame| if frame + 1 < count { frame + 1 } else { frame - 1 })?;
        must_fail(&man, &|count, _, frame| if frame + 1 < count { frame + 1 } else { frame - 1 })
    }));
    let fox = oracle::find(&models, "Fox");
    trials.push(Trial::test("negative/another-clip", move || must_fail_with_another_clip(&fox)));
    libtest_mimic::run(&arguments, trials).exit();
}

fn options() -> Options {
    Options { exact_fps: true, device: DeviceChoice::Cpu, ..Options::default() }
}

fn bake_model(model: &Model, options: Options) -> Result<Baked, Failed> {
    let baked = bake::bake(Input::File(model.file.clone()), options).map_err(|e| Failed::from(format!("refused: {e}")))?;
    if baked.report.device.kind != "cpu" {
        return Err(format!("asked for the CPU, ran on {:?}", baked.report.device).into());
    }
    Ok(baked)
}

fn check_model(model: &Model) -> Result<(), Failed> {
    let (baked, expected) = (bake_model(model, options())?, oracle::load(model));
    compare(model, &baked, &expected, &as_written)?;
    // Where neighbouring kept frames differ visibly, exchanging them must be noticed: else the comparison sees nothing.
    if expected.clips.iter().any(|clip| expected.motion(clip) > 0.01 * expected.size) {
        let rotate = |count: usize, clip: &Clip, frame: usize| {
            let k = clip.frames.iter().position(|f| *f == frame).unwrap_or(0);
            clip.frames[(k + 1) % clip.frames.len()].min(count - 1)
        };
        if compare(model, &baked, &expected, &rotate).is_ok() {
            return Err("the comparison does not notice exchanged frames".into());
        }
    }
    Ok(())
}

fn check_variant(model: &Model, format: Format, position: Position) -> Result<(), Failed> {
    let baked = bake_model(model, Options { format, position, ..options() })?;
    let encoding = &baked.position.encoding;
    let wanted = if position == Position::Absolute { "absolute" } else { "offset" };
    if !encoding.starts_with(wanted) {
        return Err(format!("encoding {encoding}, asked for {wanted}").into());
    }
    compare(model, &baked, &oracle::load(model), &as_written)
}

fn must_fail(model: &Model, frame_of: FrameOf<'_>) -> Result<(), Failed> {
    let (baked, expected) = (bake_model(model, options())?, oracle::load(model));
    compare(model, &baked, &expected, &as_written)?;
    match compare(model, &baked, &expected, frame_of) {
        Ok(()) => Err(format!("{}: the comparison does not notice other rows", model.name).into()),
        Err(_) => Ok(()),
    }
}

fn must_fail_with_another_clip(model: &Model) -> Result<(), Failed> {
    let (mut baked, expected) = (bake_model(model, options())?, oracle::load(model));
    compare(model, &baked, &expected, &as_written)?;
    let clips = &mut baked.vat.clips;
    (clips[0].animation, clips[2].animation) = (clips[2].animation, clips[0].animation);
    // Frame counts differ as well; only what the poses say is of interest here.
    clips.iter_mut().for_each(|c| c.frame_count = c.frame_count.min(20));
    match compare(model, &baked, &expected, &as_written) {
        Err(failed) if failed.message().is_some_and(|m| m.contains("points") || m.contains("vertex")) => Ok(()),
        other => Err(format!("another clip's rows: {other:?}").into()),
    }
}

/// Which frame of a baked clip stands for a frame of the oracle: `(frames of the baked clip, the oracle's clip, its frame)`.
type FrameOf<'a> = &'a dyn Fn(usize, &Clip, usize) -> usize;

/// The frame itself; past the last one a clip holds its last pose (the oracle's clips also last for channels that move nothing).
fn as_written(count: usize, _: &Clip, frame: usize) -> usize {
    frame.min(count - 1)
}

/// Compares every kept frame of every clip, part by part.
fn compare(model: &Model, vat: &Vat, expected: &Oracle, frame_of: FrameOf<'_>) -> Result<(), Failed> {
    if vat.parts.len() != expected.primitives.len() {
        return Err(format!("{} parts, expected {}", vat.parts.len(), expected.primitives.len()).into());
    }
    if vat.clips.len() != expected.clips.len() {
        return Err(format!("{} clips, expected {}", vat.clips.len(), expected.clips.len()).into());
    }
    let tolerance: V3 = std::array::from_fn(|c| vat.half_step(c) + TOLERANCE * expected.size);
    for (k, primitive) in expected.primitives.iter().enumerate() {
        let is_it = |p: &&Part| Some(p.node) == primitive.node && p.primitive == primitive.primitive;
        let part = match primitive.node {
            Some(node) => {
                vat.parts.iter().find(is_it).ok_or_else(|| format!("no part of node {node}, primitive {}", primitive.primitive))?
            }
            None => &vat.parts[k],
        };
        let tracks = Tracks::gather(vat, part, expected, primitive, frame_of)?;
        let shown = format!("node {:?}, primitive {}", primitive.node, primitive.primitive);
        let result = if model.unshared {
            let unused = UNUSED_VERTICES.iter().find(|(name, _)| *name == model.name).map_or(0, |(_, count)| *count);
            tracks.agree_as_sets(tolerance, expected.stride, unused)
        } else {
            tracks.agree_in_order(tolerance, expected.stride, primitive.vertices, part.vertex_count)
        };
        result.map_err(|e| Failed::from(format!("{shown}: {e} (tolerance {tolerance:?})")))?;
    }
    Ok(())
}

/// Positions of one part at every kept frame of every clip: found and wanted.
struct Tracks {
    at: Vec<(usize, usize)>,
    found: Vec<Vec<V3>>,
    wanted: Vec<Vec<V3>>,
}

impl Tracks {
    fn gather(vat: &Vat, part: &Part, expected: &Oracle, primitive: &Primitive, frame_of: FrameOf<'_>) -> Result<Tracks, Failed> {
        let mut tracks = Tracks { at: Vec::new(), found: Vec::new(), wanted: Vec::new() };
        for clip in &expected.clips {
            let baked = vat.clips.iter().find(|c| c.animation == Some(clip.animation));
            let baked = baked.ok_or_else(|| format!("animation {} was not baked", clip.animation))?;
            if baked.frame_count > clip.total {
                return Err(format!("clip {:?} has {} frames, expected {}", clip.name, baked.frame_count, clip.total).into());
            }
            for (k, frame) in clip.frames.iter().enumerate() {
                let row = baked.first_frame + frame_of(baked.frame_count, clip, *frame);
                tracks.at.push((clip.animation, *frame));
                tracks.found.push((0..part.vertex_count).map(|i| vat.position(row, part.first_vertex + i)).collect());
                tracks.wanted.push(expected.points(clip, k, primitive));
            }
        }
        Ok(tracks)
    }

    /// Vertex by vertex, in the file's order.
    fn agree_in_order(&self, tolerance: V3, stride: usize, vertices: usize, baked: usize) -> Result<(), String> {
        if vertices != baked {
            return Err(format!("{baked} vertices, expected {vertices}"));
        }
        let mut failed = 0;
        let mut first = None;
        for (row, (clip, frame)) in self.at.iter().enumerate() {
            for (k, wanted) in self.wanted[row].iter().enumerate() {
                let found = self.found[row][k * stride];
                if !near(found, *wanted, tolerance) {
                    failed += 1;
                    first.get_or_insert_with(|| {
                        format!("clip {clip}, frame {frame}, vertex {}: {found:?}, expected {wanted:?}", k * stride)
                    });
                }
            }
        }
        first.map_or(Ok(()), |first| Err(format!("{failed} positions are wrong, the first: {first}")))
    }

    /// As sets: each wanted point has a baked one that follows it through all frames, and the reverse.
    fn agree_as_sets(&self, tolerance: V3, stride: usize, unused: usize) -> Result<(), String> {
        let missing = unmatched(&self.wanted, &self.found, tolerance);
        if missing.len() > unused {
            let text = |v: &usize| format!("{v} ({:?} at first)", self.wanted[0][*v]);
            return Err(format!("no baked vertex follows {} of the expected points, the first: {}", missing.len(), text(&missing[0])));
        }
        if stride == 1 {
            let astray = unmatched(&self.found, &self.wanted, tolerance);
            if let Some(first) = astray.first() {
                return Err(format!("{} baked points are nowhere expected, the first: {:?}", astray.len(), self.found[0][*first]));
            }
        }
        Ok(())
    }
}

/// Indices of the tracks of `of` that no track of `among` follows. Tracks are indexed by row, then by point.
fn unmatched(of: &[Vec<V3>], among: &[Vec<V3>], tolerance: V3) -> Vec<usize> {
    let points = of.first().map_or(0, Vec::len);
    let others = among.first().map_or(0, Vec::len);
    let follows = |a: usize, b: usize| of.iter().zip(among).all(|(mine, theirs)| near(theirs[b], mine[a], tolerance));
    (0..points).filter(|&a| !(0..others).any(|b| follows(a, b))).collect()
}

/// Within the tolerance on each axis; false for NaN.
fn near(a: V3, b: V3, tolerance: V3) -> bool {
    (0..3).all(|c| (a[c] - b[c]).abs() <= tolerance[c])
}
