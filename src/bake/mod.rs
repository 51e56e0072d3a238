//! The line itself: source, pose, plan, skin, output.

mod describe;
mod device;
mod ranges;
mod textures;

use std::io::BufWriter;
use std::time::Instant;

pub use device::devices;
use ranges::{check_ranges, check_reach, choose_encoding, warn_still_clips};

use crate::clips::{attach_clips, merge_clips};
use crate::encode::Encoding;
use crate::options::{Options, Request, Rest, RootMotion};
use crate::output::glb::{MeshFile, MeshWritten, write_mesh};
use crate::output::name::safe_name;
use crate::output::set::Set;
use crate::output::sidecar;
use crate::plan::build::build_mesh;
use crate::plan::chunks::{ChunkLimits, cut_texture};
use crate::plan::frames::{ClipPlan, number_frames, plan_clips};
use crate::plan::layout::{Layout, Lookup};
use crate::plan::loops::judge_loops;
use crate::plan::mesh::BakeMesh;
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
    options.check()?;
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
    request.options.check()?;
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
