//! The line itself: source, pose, plan, skin, output.

mod describe;
mod device;
mod textures;

use std::io::BufWriter;
use std::time::Instant;

use glam::Vec3;

pub use device::devices;

use crate::clips::{attach_clips, merge_clips};
use crate::encode::{Encoding, FLAT, Form, NormalMode, Texel};
use crate::options::{Format, Normals, Options, Position, Request, Rest, RootMotion};
use crate::output::glb::{MeshFile, MeshWritten, write_mesh};
use crate::output::name::safe_name;
use crate::output::set::Set;
use crate::output::sidecar;
use crate::plan::build::build_mesh;
use crate::plan::chunks::{ChunkLimits, cut_texture};
use crate::plan::frames::{ClipPlan, number_frames, plan_clips};
use crate::plan::layout::{Layout, Lookup};
use crate::plan::loops::judge_loops;
use crate::plan::mesh::{BakeMesh, Morph};
use crate::plan::root::find_root;
use crate::pose::{PoseSource, Poser, sample_times};
use crate::report::{Progress, Report, Step, Timing};
use crate::scene::Scene;
use crate::skin::rest::{RestPose, count_animated_mirroring, turn_mirrored_parts};
use crate::skin::{Job, Measured, Ranges};
use crate::source;
use crate::warning::{Code, Warnings};
use crate::{Error, Result};

/// Bakes one model. Either all files of the set are written, complete, or none.
///
/// # Errors
/// Every [`Error`]; the message names what, where, the numbers and the remedy.
pub fn bake(request: &Request, progress: &mut dyn Progress) -> Result<Report> {
    let options = &request.options;
    check_options(options)?;
    let mut clock = Clock::new();
    let mut warnings = Warnings::default();

    clock.begin(Step::Read, progress, 0);
    let settings = source::Settings { scene: options.scene.clone(), allow_outside: options.allow_outside, motion_only: false };
    let mut scene = source::read(&request.input, &settings, &mut warnings)?;
    attach_clips(&mut scene, &options.animations, options.allow_outside, &mut warnings)?;
    merge_clips(&mut scene, &options.merges)?;
    run(&scene, request, warnings, clock, progress)
}

/// Bakes a model that has been read, with what was said of it by then. Clips of other files and merges are the caller's.
///
/// # Errors
/// As [`bake`].
#[cfg(feature = "cli")]
pub(crate) fn bake_scene(scene: &Scene, request: &Request, warnings: Warnings, progress: &mut dyn Progress) -> Result<Report> {
    check_options(&request.options)?;
    run(scene, request, warnings, Clock::new(), progress)
}

/// All steps after reading.
fn run(scene: &Scene, request: &Request, mut warnings: Warnings, mut clock: Clock, progress: &mut dyn Progress) -> Result<Report> {
    let options = &request.options;
    clock.begin(Step::Plan, progress, 0);
    let planned = Planned::new(scene, options, &mut warnings)?;
    let poses = PoseSource::new(&planned.poser, &planned.clips, options.memory / 4);
    warnings.add(Code::MirroringAnimated, count_animated_mirroring(scene, &planned.mesh, &poses, planned.layout.frame_count), || {
        "{count} rigid part(s) turn inside out during a clip (a negative scale comes or goes); one index buffer cannot follow: draw them two-sided".into()
    });

    clock.begin(Step::Start, progress, 0);
    let mut backend = device::start(&options.device, options.work)?;
    let job = Job { mesh: &planned.mesh, rest: &planned.rest.positions, poses: &poses, clips: &planned.clips, layout: &planned.layout };

    let work = (planned.layout.vertex_count * planned.layout.frame_count) as u64;
    clock.begin(Step::Bounds, progress, work);
    let ranges = backend.bounds(&job, options.memory, progress)?;
    let all = ranges.iter().copied().reduce(Ranges::join).unwrap_or(Ranges::EMPTY);
    check_reach(&planned.mesh, &poses)?;
    check_ranges(&all)?;
    warn_still_clips(&planned, &ranges, &all, &mut warnings);
    let encoding = choose_encoding(options, &all)?;
    refuse_warnings(options, &warnings)?;

    clock.begin(Step::Texels, progress, work);
    // texels on the device, their copies, and what the encoder holds
    let texel_bytes = encoding.texel.bytes() * encoding.layers().len();
    let limits = ChunkLimits::new(options.memory / 2, texel_bytes * 2, planned.poser.frame_bytes());
    let limits = limits.at_most(usize::MAX, options.work.frames.unwrap_or(usize::MAX));
    let chunks = cut_texture(&planned.layout, backend.chunk_limits(&job, limits)?);
    let asked = options.name.clone().unwrap_or_else(|| request.input.stem());
    let name = safe_name(&asked);
    warnings.add(Code::NameChanged, (name != asked).into(), || {
        format!("'{asked}' is no name that every file system takes; the files are called '{name}'")
    });
    let mut set = match options.dry_run {
        true => None,
        false => Some(Set::begin(&request.output, &name, &scene.origin.files)?),
    };
    let textures = textures::Textures::new(&name, options, &encoding);
    let (measured, written) = textures::write(&textures, backend.as_mut(), &job, &encoding, &chunks, set.as_mut(), progress)?;
    warnings.add(Code::DegenerateNormal, measured.degenerate, || {
        "{count} normals of the bake have no direction (triangles without area, or a matrix that flattens them); the rest normal stands in".into()
    });

    clock.begin(Step::Write, progress, 0);
    let outcome = Outcome { ranges: &ranges, all: &all, measured: &measured, textures: &textures, written: &written, encoding: &encoding };
    let mesh = write_glb(scene, &planned, options, &name, set.as_mut(), &mut warnings)?;
    refuse_warnings(options, &warnings)?;
    let mut files = Vec::new();
    if let Some(mut set) = set {
        let sidecar_name = format!("{name}.vat.json");
        let sidecar = describe::sidecar(scene, &planned, options, &outcome, &mesh, &name, &warnings);
        let mut file = set.file(&sidecar_name)?;
        let path = file.path().to_path_buf();
        sidecar::write(&sidecar, &mut file, &path)?;
        drop(file);
        if progress.is_cancelled() {
            return Err(Error::Interrupted);
        }
        files = set.commit(&sidecar_name)?;
    }
    let timings = clock.end();
    Ok(describe::report(scene, &planned, &outcome, &mesh, name, backend.device(), files, &warnings, timings))
}

/// Everything that is known before the first vertex is moved.
struct Planned<'a> {
    mesh: BakeMesh,
    poser: Poser<'a>,
    clips: Vec<ClipPlan>,
    rest: RestPose,
    layout: Layout,
    lookup: Lookup,
}

impl<'a> Planned<'a> {
    fn new(scene: &'a Scene, options: &Options, warnings: &mut Warnings) -> Result<Self> {
        let mut mesh = build_mesh(scene, options, warnings)?;
        let root = match options.root_motion {
            RootMotion::Keep => None,
            RootMotion::Strip => Some(find_root(scene, &mesh, options.root.as_deref())?),
        };
        let mut poser = Poser::new(scene, &mesh.palette, &mesh.weights, options.scale, root);
        let mut clips = plan_clips(scene, &poser, options)?;
        poser.begin_clips(&clips);
        // Loops only add frames: what is too large already need not be judged.
        Layout::new(mesh.vertices.len(), &clips, options.max_size)?;
        let shown = sample_times(&poser, &[(None, 0.0)]);
        turn_mirrored_parts(scene, &mut mesh, shown.as_ref(), warnings);
        let size = RestPose::new(&mesh, shown.as_ref()).size();
        judge_loops(&mut clips, &mesh, &poser, size, options, warnings)?;
        number_frames(&mut clips)?;
        let rest = match options.rest {
            Rest::Shown => shown,
            Rest::FirstFrame => sample_times(&poser, &[(clips[0].clip, clips[0].time(0))]),
        };
        let rest = RestPose::new(&mesh, rest.as_ref());
        let layout = Layout::new(mesh.vertices.len(), &clips, options.max_size)?;
        let lookup = Lookup::new(mesh.vertices.len());
        Ok(Self { mesh, poser, clips, rest, layout, lookup })
    }
}

/// What the passes found.
struct Outcome<'a> {
    ranges: &'a [Ranges],
    all: &'a Ranges,
    measured: &'a Measured,
    textures: &'a textures::Textures,
    written: &'a [textures::Written],
    encoding: &'a Encoding,
}

/// Combinations that mean nothing.
fn check_options(options: &Options) -> Result<()> {
    let usage = |message: &str| Err(Error::Usage(message.into()));
    let png = matches!(options.format, Format::Png16 | Format::Png8);
    match options {
        _ if matches!(options.fps, crate::options::Fps::Rate(rate) if !(rate.is_finite() && rate > 0.0)) => usage("--fps must be above 0"),
        Options { scale, .. } if !(scale.is_finite() && *scale > 0.0) => usage("--scale must be above 0"),
        Options { normals: Normals::Alpha, format, .. } if *format != Format::Png16 => {
            usage("--normals alpha needs --format png16: only 16-bit integers hold both components")
        }
        Options { normal_bits: Some(_), .. } if !png => usage("--normal-bits is for PNG; EXR normals have the format's own bits"),
        Options { normal_bits: Some(bits), .. } if !matches!(bits, 8 | 16) => usage("--normal-bits must be 8 or 16"),
        Options { root: Some(_), root_motion: RootMotion::Keep, .. } => {
            usage("--root names the node whose way --root-motion strip takes out; add that or leave --root out")
        }
        Options { uv_set, .. } if !(1..=7).contains(uv_set) => usage("--uv-set must be 1 to 7"),
        Options { max_size, .. } if *max_size < 4 => usage("--max-size must be at least 4"),
        _ => Ok(()),
    }
}

/// Keys and matrices are finite, yet their products may not be, and what is no number is in no range: a maximum passes over it. So
/// the largest that could come about must stay far enough below the end of f32 for the squares that normals and distances take.
fn check_reach(mesh: &BakeMesh, poses: &PoseSource<'_>) -> Result<()> {
    /// Its square has a place in f32.
    const MOST: f64 = 1e18;
    let [matrix, weight] = poses.largest().map(f64::from);
    let largest = |v: [f32; 3]| v.iter().fold(0.0, |most: f64, c| most.max(c.abs().into()));
    let (mut position, mut normal) = (0.0_f64, 0.0_f64);
    for vertex in &mesh.vertices {
        let morphs = &mesh.morphs[vertex.first_morph as usize..][..vertex.morph_count as usize];
        let sum =
            |of: fn(&Morph) -> [f32; 3]| if morphs.is_empty() { 0.0 } else { weight * morphs.iter().map(|m| largest(of(m))).sum::<f64>() };
        position = position.max(largest(vertex.position) + sum(|m| m.position));
        normal = normal.max(largest(vertex.normal) + sum(|m| m.normal));
    }
    let (reach, turned) = (matrix * (3.0 * position + 1.0), matrix * matrix * normal);
    // written so that NaN fails
    if reach < MOST && turned < MOST * MOST {
        return Ok(());
    }
    Err(Error::Bake(format!(
        "positions or normals leave the range of 32-bit floats (matrices up to {matrix:.1e}, morph weights up to {weight:.1e}, vertices up to {position:.1e}); \
         look for huge scales, translations or weights in the nodes and animations"
    )))
}

/// The ranges themselves, as the device found them.
fn check_ranges(all: &Ranges) -> Result<()> {
    let finite = all.least.is_finite() && all.largest.is_finite() && all.least_offset.is_finite() && all.largest_offset.is_finite();
    if finite && all.moved.is_finite() {
        return Ok(());
    }
    Err(Error::Bake(format!(
        "positions leave the range of 32-bit floats (from {} to {}); look for huge scales or translations in the animation",
        all.least, all.largest
    )))
}

/// A clip of several frames whose poses differ by rounding noise at most, or that moves nothing that is baked.
fn warn_still_clips(planned: &Planned<'_>, ranges: &[Ranges], all: &Ranges, warnings: &mut Warnings) {
    let noise = largest_coordinate(all) * FLAT;
    for (clip, range) in planned.clips.iter().zip(ranges) {
        let Some(index) = clip.clip else { continue };
        let moves_nothing = planned.poser.channels(index).is_empty();
        let still = moves_nothing || clip.frame_count > 1 && range.moved.sqrt() <= noise;
        warnings.add(Code::NothingMoves, still.into(), || {
            format!("{{count}} clip(s) in which no vertex moves (first: '{}'); leave them out with --clips", clip.name)
        });
    }
}

fn largest_coordinate(all: &Ranges) -> f32 {
    all.least.abs().max(all.largest.abs()).max_element()
}

/// The encoding that the options and the ranges ask for.
fn choose_encoding(options: &Options, all: &Ranges) -> Result<Encoding> {
    let is_offset = options.position == Position::Offset;
    let range: (Vec3, Vec3) = if is_offset { (all.least_offset, all.largest_offset) } else { (all.least, all.largest) };
    let largest = range.0.abs().max(range.1.abs()).max_element();
    if options.format == Format::Exr16 && largest > half::f16::MAX.to_f32() {
        return Err(Error::Bake(format!(
            "a value of {largest} is outside the range of half floats, which ends at 65504; use --format exr32{}",
            if is_offset { "" } else { " or --position offset" }
        )));
    }
    let levels = |bits: u8| if bits == 8 { 255.0 } else { 65535.0 };
    let position_bits = if options.format == Format::Png8 { 8 } else { 16 };
    let texel = if matches!(options.format, Format::Png8 | Format::Png16) { Texel::Uint } else { Texel::Float };
    let normals = match options.normals {
        Normals::None => NormalMode::None,
        Normals::Separate => NormalMode::Separate,
        Normals::Alpha => NormalMode::Octahedral,
    };
    let form = Form {
        texel,
        is_offset,
        levels: levels(position_bits),
        normals,
        normal_levels: levels(options.normal_bits.unwrap_or(position_bits)),
        tangents: options.tangents,
    };
    Ok(Encoding::new(form, range, largest_coordinate(all)))
}

/// Under `--strict` a warning ends the bake before anything is written.
fn refuse_warnings(options: &Options, warnings: &Warnings) -> Result<()> {
    if !options.strict || warnings.is_clean() {
        return Ok(());
    }
    let list = warnings.list().into_iter().filter(|w| w.level == crate::warning::Level::Warning).collect();
    Err(Error::Strict(list))
}

fn write_glb(
    scene: &Scene,
    planned: &Planned<'_>,
    options: &Options,
    name: &str,
    set: Option<&mut Set>,
    warnings: &mut Warnings,
) -> Result<MeshWritten> {
    let file_name = describe::mesh_file(name);
    let mut file = MeshFile {
        scene,
        mesh: &planned.mesh,
        positions: &planned.rest.positions,
        normals: &planned.rest.normals,
        tangents: &planned.rest.tangents,
        lanes: planned.lookup.lanes as u32,
        groups: planned.lookup.groups as u32,
        uv_set: options.uv_set,
        keep_parts: options.keep_parts,
        name,
        path: std::path::Path::new(&file_name),
    };
    match set {
        None => write_mesh(&file, &mut std::io::sink(), warnings),
        Some(set) => {
            let out = set.file(&file_name)?;
            let path = out.path().to_path_buf();
            file.path = &path;
            write_mesh(&file, &mut BufWriter::with_capacity(1 << 18, out), warnings)
        }
    }
}

/// Wall-clock time of the steps.
struct Clock {
    current: Option<(Step, Instant)>,
    timings: Vec<Timing>,
}

impl Clock {
    fn new() -> Self {
        Self { current: None, timings: Vec::new() }
    }

    fn begin(&mut self, step: Step, progress: &mut dyn Progress, total: u64) {
        self.stop();
        self.current = Some((step, Instant::now()));
        progress.begin(step, total);
    }

    fn stop(&mut self) {
        if let Some((step, since)) = self.current.take() {
            self.timings.push(Timing { step, seconds: since.elapsed().as_secs_f64() });
        }
    }

    fn end(mut self) -> Vec<Timing> {
        self.stop();
        self.timings
    }
}
