//! What the tests of kits share: the engine's import written down as functions, where vertices must be, and shaders made runnable.
//!
//! A kit's test bakes with `--for`, puts mesh and texels through the engine's import, and runs the kit's own shader code on them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use half::f16;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use vatbake::options::{DeviceChoice, Format, Fps};
use vatbake::targets::Target;
use vatbake::{Input, Options};

use super::bake::{self, Baked};
use super::decode::{Texture, V3, Vat, mix, unit};
use super::oracle;
use super::playback::{Resource, run};

/// The sample model.
pub const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/bun.glb");

/// A vertex as an engine holds it.
#[derive(Debug, Clone, Copy)]
pub struct Vertex {
    /// Position of the mesh.
    pub rest: V3,
    /// Lookup coordinates.
    pub uv: [f64; 2],
    /// What it is in the bake: for the comparison only.
    pub number: usize,
}

/// The vertices of the GLB in the order of its buffers.
pub fn vertices(vat: &Vat) -> Vec<Vertex> {
    vat.lookup.iter().map(|&(uv, number)| Vertex { rest: vat.rest[number], uv, number }).collect()
}

/// Another order, and every fifth vertex twice, as where an engine splits vertices or makes a LOD.
pub fn reordered(vertices: &[Vertex]) -> Vec<Vertex> {
    let twice = vertices.iter().step_by(5);
    vertices.iter().rev().chain(twice).copied().collect()
}

/// Rounded to a half float.
pub fn half(v: f64) -> f64 {
    f16::from_f32(v as f32).to_f64()
}

/// Rounded to 16 bits between 0 and 1.
pub fn unorm16(v: f64) -> f64 {
    (v * 65535.0).round() / 65535.0
}

/// The components of every texel as the file has them, row 0 first.
pub fn texels(texture: &Texture) -> Vec<f64> {
    let image = &texture.image;
    (0..image.height).flat_map(|y| (0..image.width).flat_map(move |x| image.shown(x, y))).collect()
}

/// Where a vertex of the bake must be, in the GLB's axes and metres.
pub struct Wanted {
    /// Vertex of the bake, frame of the bake, position.
    pub points: Vec<(usize, usize, V3)>,
    /// Size of the model, metres.
    pub size: f64,
}

/// A model baked for an engine, and where its vertices must be.
pub struct Case {
    pub name: String,
    pub baked: Baked,
    pub wanted: Wanted,
}

fn options(target: Target) -> Options {
    Options { device: DeviceChoice::Cpu, targets: vec![target], ..Options::default() }
}

/// The sample, few frames of it; expected is what a bake of exact floats decodes to.
pub fn sample(target: Target, set: impl Fn(&mut Options)) -> Case {
    let mut asked = Options { fps: Fps::Rate(3.0), max_size: 2500, ..options(target) };
    set(&mut asked);
    let plain = Options { targets: Vec::new(), format: Format::Exr32, ..asked.clone() };
    let exact = bake::bake(Input::File(SAMPLE.into()), plain).expect("the sample bakes");
    let baked = bake::bake(Input::File(SAMPLE.into()), asked).expect("the sample bakes for an engine");
    let frames = 0..exact.frame_count;
    let points = frames.flat_map(|f| (0..exact.vertex_count).map(move |i| (i, f))).map(|(i, f)| (i, f, exact.position(f, i))).collect();
    let size = extent(&exact);
    Case { name: "bun".into(), baked, wanted: Wanted { points, size } }
}

fn extent(vat: &Vat) -> f64 {
    let bounds = |end: &str| super::decode::vector(&vat.sidecar["bounds"][end]).expect("bounds");
    let (min, max) = (bounds("min"), bounds("max"));
    (0..3).map(|c| (max[c] - min[c]).powi(2)).sum::<f64>().sqrt()
}

/// Given models whose positions other programs computed; none where there is no shared data.
pub fn given(target: Target) -> Vec<Case> {
    const MODELS: [&str; 4] = ["CesiumMan", "BoxAnimated", "MorphStressTest", "RiggedFigure"];
    let Some(models) = oracle::models() else {
        let required = std::env::var("CI").is_ok_and(|v| v == "true");
        assert!(!required, "no shared data at {}", oracle::shared().display());
        return Vec::new();
    };
    let found: Vec<_> = models.iter().filter(|m| MODELS.contains(&m.name.as_str()) && !m.unshared).collect();
    assert!(found.len() >= 2, "{} of {MODELS:?} keep their order of vertices", found.len());
    found
        .into_iter()
        .map(|model| {
            let options = Options { exact_fps: true, ..options(target) };
            let baked = bake::bake(Input::File(model.file.clone()), options).unwrap_or_else(|e| panic!("{}: {e}", model.name));
            let expected = oracle::load(model);
            let mut points = Vec::new();
            for (k, primitive) in expected.primitives.iter().enumerate() {
                let is_it = |p: &&super::decode::Part| Some(p.node) == primitive.node && p.primitive == primitive.primitive;
                let part = baked.parts.iter().find(is_it).unwrap_or(&baked.parts[k]);
                assert_eq!(part.vertex_count, primitive.vertices, "{}", model.name);
                for clip in &expected.clips {
                    let own = baked.clips.iter().find(|c| c.animation == Some(clip.animation)).expect("a clip of that animation");
                    // a dozen frames of each clip are enough here; the oracle's own test looks at all
                    let step = clip.frames.len().div_ceil(12);
                    for (kept, frame) in clip.frames.iter().enumerate().step_by(step) {
                        let row = own.first_frame + (*frame).min(own.frame_count - 1);
                        let shown = expected.points(clip, kept, primitive).into_iter().enumerate();
                        points.extend(shown.map(|(i, point)| (part.first_vertex + i * expected.stride, row, point)));
                    }
                }
            }
            Case { name: model.name.clone(), baked, wanted: Wanted { points, size: expected.size } }
        })
        .collect()
}

/// The kit's text files as they lie in its folder, by name.
pub fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).expect("the kit's folder");
    entries
        .filter_map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some((name, String::from_utf8(std::fs::read(&path).ok()?).ok()?))
        })
        .collect()
}

/// What one invocation is given.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub vertex: Vertex,
    pub clip: [f64; 4],
    pub now: f64,
    pub normal: V3,
}

/// What it gave back.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    pub position: V3,
    pub normal: V3,
    pub tangent: V3,
}

/// Shows a single frame of the bake, whatever the time: rate 0 and a clip that begins there.
pub fn still(frame: usize) -> [f64; 4] {
    [frame as f64, 0.0, 0.0, 0.0]
}

/// Runs a shader made by [`glsl`] or [`hlsl`]: width of the textures, texels of both, calls.
pub fn show(wgsl: &str, width: usize, positions: &[f64], directions: &[f64], calls: &[Call]) -> Vec<Shown> {
    let settings: Vec<f32> = [0.0, 0.0, 0.0, width as f32].into_iter().chain([0.0; 8]).collect();
    let floats = |v: &[f64]| v.iter().map(|v| *v as f32).collect::<Vec<_>>();
    let numbers = |c: &Call| {
        let Call { vertex: Vertex { rest: r, uv, .. }, clip: k, now, normal: n } = c;
        [r[0], r[1], r[2], *now, uv[0], uv[1], 0.0, 0.0, k[0], k[1], k[2], k[3], n[0], n[1], n[2], 0.0]
    };
    let cases = floats(&calls.iter().flat_map(numbers).collect::<Vec<_>>());
    let (positions, directions) = (floats(positions), floats(directions));
    let resources = [&settings, &positions, &directions, &cases].map(|v| Resource::Storage(v));
    let three = |v: [f32; 4]| [v[0], v[1], v[2]].map(f64::from);
    let found = run(wgsl, &resources, calls.len(), 3);
    found.chunks_exact(3).map(|v| Shown { position: three(v[0]), normal: three(v[1]), tangent: three(v[2]) }).collect()
}

/// GLSL 4.50 as WGSL.
pub fn glsl(text: &str) -> String {
    let options = naga::front::glsl::Options::from(naga::ShaderStage::Compute);
    let module = naga::front::glsl::Frontend::default().parse(&options, text);
    write(&module.unwrap_or_else(|e| panic!("{}", e.emit_to_string(text))))
}

/// HLSL with the entry point `check` as WGSL, by Khronos's reference compiler.
pub fn hlsl(text: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let [source, output] = ["shader", "shader.spv"].map(|name| folder.path().join(name));
    std::fs::write(&source, text).expect("a file");
    let arguments = ["-D", "-S", "comp", "-e", "check", "--target-env", "vulkan1.1", "-o"];
    let made = Command::new("glslangValidator").args(arguments).arg(&output).arg(&source).output();
    let made = made.expect("glslangValidator (on Debian: apt-get install glslang-tools)");
    assert!(made.status.success(), "{}\n{text}", String::from_utf8_lossy(&made.stdout));
    let spirv = std::fs::read(&output).expect("SPIR-V");
    write(&naga::front::spv::parse_u8_slice(&spirv, &Default::default()).expect("SPIR-V"))
}

fn write(module: &naga::Module) -> String {
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(module).expect("a valid module");
    naga::back::wgsl::write_string(module, &info, naga::back::wgsl::WriterFlags::empty()).expect("WGSL")
}

/// One wanted point for each imported vertex of that number and each wanted frame.
pub fn calls(imported: &[Vertex], wanted: &Wanted) -> Vec<(Call, V3)> {
    let mut by_number: BTreeMap<usize, Vec<Vertex>> = BTreeMap::new();
    imported.iter().for_each(|v| by_number.entry(v.number).or_default().push(*v));
    let of = |number: usize| by_number.get(&number).unwrap_or_else(|| panic!("vertex {number} was lost on import")).iter();
    let call = |vertex: &Vertex, frame: usize| Call { vertex: *vertex, clip: still(frame), now: 7.0, normal: [0.0, 0.0, 1.0] };
    wanted.points.iter().flat_map(|&(number, frame, point)| of(number).map(move |v| (call(v, frame), point))).collect()
}

/// The first position that is farther from where it must be than `within`, on an axis.
pub fn compare(found: &[Shown], wanted: &[V3], within: f64) -> Result<(), String> {
    assert_eq!(found.len(), wanted.len());
    assert!(found.len() > 100, "{} positions", found.len());
    let far = |(shown, point): &(&Shown, &V3)| !(0..3).all(|c| (shown.position[c] - point[c]).abs() <= within); // true for NaN
    let wrong: Vec<_> = found.iter().zip(wanted).filter(far).collect();
    match wrong.first() {
        None => Ok(()),
        Some((shown, point)) => Err(format!(
            "{} of {} positions are wrong, the first {:?}, wanted {point:?} within {within}",
            wrong.len(),
            found.len(),
            shown.position
        )),
    }
}

/// What halves keep of the farthest offset, and a share of the model for f32 arithmetic, metres. `units` of the texels are a metre.
pub fn tolerance(case: &Case, units: f64) -> f64 {
    let step = (0..3).map(|axis| case.baked.half_step(axis)).fold(0.0, f64::max);
    step / units + 2e-5 * case.wanted.size
}

/// Halfway between frames, by time: what a clip of the kit shows `seconds` after it began.
pub fn between(exact: impl Fn(usize) -> V3, first_frame: usize, intervals: usize, x: f64) -> V3 {
    let below = (x.floor() as usize).min(intervals.saturating_sub(1));
    mix(exact(first_frame + below), exact(first_frame + (below + 1).min(intervals)), x - below as f64)
}

/// Cosine of the angle between two directions.
pub fn cosine(a: V3, b: V3) -> f64 {
    let (a, b) = (unit(a), unit(b));
    (0..3).map(|c| a[c] * b[c]).sum()
}
