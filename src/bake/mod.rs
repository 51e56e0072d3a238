//! The line itself: source, pose, plan, skin, output.

mod convert;
mod delivery;
mod describe;
mod device;
mod form;
mod limit;
mod ranges;
mod textures;

use std::io::{BufWriter, Write};
use std::time::Instant;

use delivery::{Candidates, Delivery, choose_usual, list_candidates, plain_encoding};
pub use device::devices;
use ranges::{check_ranges, check_reach, warn_still_clips};

use crate::clips::{attach_clips, merge_clips};
use crate::encode::Encoding;
use crate::options::{Options, Request, Rest, RootMotion};
use crate::output::glb::{MeshFile, MeshWritten, write_mesh};
use crate::output::name::safe_name;
use crate::output::set::{self, Set};
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
use crate::skin::{Backend, Job, Measured, Ranges};
use crate::source::{self, SceneChoice};
use crate::targets::Kit;
use crate::warning::{Code, Warnings};
use crate::{Error, Result};

/// Bakes one model. Either all files of the set are written, complete, or none.
///
/// # Errors
/// Every [`Error`]; the message names what, where, the numbers and the remedy.
pub fn bake(request: &Request, progress: &mut dyn Progress) -> Result<Report> {
    let options = &request.options;
    options.check()?;
    // an engine that does not take what was asked for is told before anything is read
    let candidates = list_candidates(options)?;
    let mut clock = Clock::new();
    let mut warnings = Warnings::default();

    clock.begin(Step::Read, progress, 0);
    let settings =
        source::Settings { scene: SceneChoice::of(options.scene.as_deref()), allow_outside: options.allow_outside, motion_only: false };
    let mut scene = source::read(&request.input, &settings, &mut warnings)?;
    attach_clips(&mut scene, &options.animations, options.allow_outside, &mut warnings)?;
    merge_clips(&mut scene, &options.merges)?;
    run(&scene, request, &candidates, warnings, clock, progress)
}

/// Bakes a model that has been read, with what was said of it by then. Clips of other files and merges are the caller's.
///
/// # Errors
/// As [`bake`].
#[cfg(feature = "cli")]
pub(crate) fn bake_scene(scene: &Scene, request: &Request, warnings: Warnings, progress: &mut dyn Progress) -> Result<Report> {
    request.options.check()?;
    run(scene, request, &list_candidates(&request.options)?, warnings, Clock::new(), progress)
}

/// All steps after reading.
fn run(
    scene: &Scene,
    request: &Request,
    candidates: &[Candidates],
    mut warnings: Warnings,
    mut clock: Clock,
    progress: &mut dyn Progress,
) -> Result<Report> {
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
    refuse_warnings(options, &warnings)?;
    let asked = options.name.clone().unwrap_or_else(|| request.input.stem());
    let name = safe_name(&asked);
    warnings.add(Code::NameChanged, (name != asked).into(), || {
        format!("'{asked}' is no name that every file system takes; the files are called '{name}'")
    });

    clock.begin(Step::Texels, progress, work);
    let cut = |backend: &mut dyn Backend, kernel: &Encoding| {
        // texels on the device, their copies, and what the encoder holds
        let texel_bytes = kernel.texel.bytes() * kernel.layers().len();
        let limits = ChunkLimits::new(options.memory / 2, texel_bytes * 2, planned.poser.frame_bytes());
        let limits = limits.at_most(usize::MAX, options.work.frames.unwrap_or(usize::MAX));
        Ok::<_, Error>(cut_texture(&planned.layout, backend.chunk_limits(&job, limits)?))
    };
    let stored = match options.max_error {
        Some(limit) => {
            let everything: Vec<_> = candidates.iter().flat_map(|c| c.choices.iter().copied()).collect();
            let chunks = cut(backend.as_mut(), &plain_encoding(&everything, &all))?;
            let chosen =
                limit::choose_measured(options, limit, candidates, &all, backend.as_mut(), &job, &chunks, progress, &mut warnings)?;
            // that was a run of its own
            clock.begin(Step::Texels, progress, work);
            chosen
        }
        None => {
            let size = planned.rest.size() as f32;
            candidates.iter().map(|c| choose_usual(c, &all, size, &mut warnings)).collect::<Result<_>>()?
        }
    };
    refuse_warnings(options, &warnings)?;
    let deliveries: Vec<_> = candidates.iter().zip(&stored).map(|(c, stored)| Delivery::new(c.target, &name, *stored, &all)).collect();
    deliveries.iter().try_for_each(|d| check_file_size(d, &planned.layout))?;
    let kernel = match &deliveries[..] {
        [only] => only.kernel(&all),
        _ => plain_encoding(&stored, &all),
    };
    let chunks = cut(backend.as_mut(), &kernel)?;
    // none in a dry run
    let begin = |d: &Delivery| match options.dry_run {
        true => Ok(None),
        false => Set::begin(d.folder(&request.output), &name, &scene.origin.files).map(Some),
    };
    let mut sets = deliveries.iter().map(begin).collect::<Result<Vec<_>>>()?;
    let places = deliveries.iter().zip(&mut sets);
    let sinks = places.map(|(d, set)| textures::Sink { files: &d.files, converter: &d.converter, set: set.as_mut() }).collect();
    let (measured, written) = textures::write(sinks, backend.as_mut(), &job, &kernel, &chunks, options.memory / 4, progress)?;
    warnings.add(Code::DegenerateNormal, measured.degenerate, || {
        "{count} normals of the bake have no direction (triangles without area, or a matrix that flattens them); the rest normal stands in".into()
    });

    clock.begin(Step::Write, progress, 0);
    let outcomes: Vec<_> = deliveries
        .iter()
        .zip(&written)
        .map(|(delivery, written)| Outcome { ranges: &ranges, all: &all, measured: &measured, delivery, written })
        .collect();
    let mut mesh = None;
    for (delivery, set) in deliveries.iter().zip(&mut sets) {
        // the same each time, and so is what is said about it
        let again = &mut Warnings::default();
        let said = if mesh.is_none() { &mut warnings } else { again };
        let file = write_glb(scene, &planned, options, &name, set.as_mut(), said)?;
        check_lookup(delivery, &file)?;
        mesh = Some(file);
    }
    let Some(mesh) = mesh else { return Err(Error::Bake("a bake without a set of files".into())) };
    let mut sidecars: Vec<_> = outcomes.iter().map(|o| describe::sidecar(scene, &planned, options, o, &mesh, &name)).collect();
    warn_kit_limits(&deliveries, &mut sidecars, &name, &mut warnings);
    refuse_warnings(options, &warnings)?;
    let sidecar_name = format!("{name}.vat.json");
    for ((set, delivery), sidecar) in sets.iter_mut().zip(&deliveries).zip(&sidecars) {
        if let Some(set) = set {
            write_texts(set, delivery, &name, sidecar)?;
            let mut file = set.file(&sidecar_name)?;
            let path = file.path().to_path_buf();
            sidecar::write(sidecar, &mut file, &path)?;
        }
    }
    if !options.dry_run && progress.is_cancelled() {
        return Err(Error::Interrupted);
    }
    let files = set::commit(sets.into_iter().flatten().collect(), &sidecar_name)?;
    let timings = clock.end();
    Ok(describe::report(scene, &planned, &outcomes, &mesh, name, backend.device(), files, &warnings, timings))
}

/// Adds what the kits cannot show as the bake has it; each sidecar tells what was found, and of kits what its own cannot show.
fn warn_kit_limits(deliveries: &[Delivery], sidecars: &mut [sidecar::Sidecar], name: &str, warnings: &mut Warnings) {
    let found = warnings.clone();
    let mut all = Vec::new();
    for (delivery, sidecar) in deliveries.iter().zip(sidecars) {
        let mut own = found.clone();
        if let Some(target) = delivery.target {
            let limits = target.check(&Kit { name, sidecar });
            let limits: Vec<_> = limits.into_iter().map(|what| format!("{} kit: {what}", target.folder())).collect();
            own.add(Code::KitLimits, limits.len() as u64, || limits.join("; "));
            all.extend(limits);
        }
        sidecar.warnings = own.list();
    }
    warnings.add(Code::KitLimits, all.len() as u64, || all.join("; "));
}

/// A file that the engine's importer cannot hold is no use there.
fn check_file_size(delivery: &Delivery, layout: &Layout) -> Result<()> {
    let Some(target) = delivery.target else { return Ok(()) };
    let texels = layout.width as u64 * layout.height as u64;
    match delivery.files.iter().map(|f| texels * f.pixel.texel_bytes()).max() {
        Some(bytes) if bytes > target.longest_file() => Err(Error::Bake(format!(
            "a texture of the {} kit would be {bytes} bytes, and its importer reads at most {}; choose fewer clips with --clips or lower --fps",
            target.folder(),
            target.longest_file(),
        ))),
        _ => Ok(()),
    }
}

/// A lookup that the engine does not read would leave every vertex at its rest.
fn check_lookup(delivery: &Delivery, mesh: &MeshWritten) -> Result<()> {
    match delivery.target {
        Some(target) if mesh.texcoord > target.last_uv_set() => Err(Error::Bake(format!(
            "the lookup stands in UV set {}, and {} reads sets 0 to {} only; name one of those with --uv-set that no material reads for a picture, or free one in the source",
            mesh.texcoord,
            target.folder(),
            target.last_uv_set(),
        ))),
        _ => Ok(()),
    }
}

/// The kit's text files.
fn write_texts(set: &mut Set, delivery: &Delivery, name: &str, sidecar: &sidecar::Sidecar) -> Result<()> {
    let files = delivery.target.map_or_else(Vec::new, |target| target.files(&Kit { name, sidecar }));
    for text in files {
        let mut file = set.file(&text.name)?;
        let path = file.path().to_path_buf();
        file.write_all(text.text.as_bytes()).map_err(Error::io("write a file of the kit", path))?;
    }
    Ok(())
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
        let max_size = options.targets.iter().fold(options.max_size, |side, target| side.min(target.longest_side()));
        Layout::new(mesh.vertices.len(), &clips, max_size)?;
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
        let layout = Layout::new(mesh.vertices.len(), &clips, max_size)?;
        let lookup = Lookup::new(mesh.vertices.len());
        Ok(Self { mesh, poser, clips, rest, layout, lookup })
    }
}

/// What the passes found, for one set of files.
struct Outcome<'a> {
    ranges: &'a [Ranges],
    all: &'a Ranges,
    /// By the device.
    measured: &'a Measured,
    delivery: &'a Delivery,
    /// One an image of the delivery.
    written: &'a [textures::Written],
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

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::targets::Target;

    #[test]
    fn a_texture_that_an_importer_cannot_read_is_refused() {
        let (options, all) = (Options::default(), Ranges { least: Vec3::ZERO, largest: Vec3::ONE, ..Ranges::EMPTY });
        let check = |target, height| {
            let stored = form::list_choices(&options, Some(target)).expect("choices")[0];
            let layout = Layout { vertex_count: 16384, frame_count: height, width: 16384, blocks: 1, height };
            check_file_size(&Delivery::new(Some(target), "t", stored, &all), &layout).map_err(|e| e.to_string())
        };
        assert_eq!(check(Target::Unity, 8192), Ok(()));
        let error = check(Target::Unity, 16384).expect_err("2 GiB");
        assert!(error.contains("unity") && error.contains("2147483648") && error.contains("--fps"), "{error}");
        assert_eq!(check(Target::Bevy, 16384), Ok(()));
    }
}
