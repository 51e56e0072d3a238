//! Plays a kit that `vatbake bake --for bevy` wrote, in Bevy, and compares what is seen with the source model as Bevy skins it.
//!
//! `vatbake-bevy ASSETS KIT SOURCE [--without-unorm16] [--prepass] [--deferred] [--pictures FOLDER]`: the assets folder, and in it the kit's
//! `.vat.json` and the model that was baked. Prints what was measured and what it may be; exit code 1 where something is not as it
//! should be. Each comparison is also made with a wrong pose, which must be seen.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bevy::asset::RenderAssetUsages;
use bevy::asset::meta::{AssetAction, AssetMeta};
use bevy::image::{ImageLoader, ImageLoaderSettings, ImageSampler};
use bevy::math::Vec3;
use serde::Deserialize;

use crate::Aabb;
use crate::picture::Picture;
use crate::stage::{Passes, Settings, Stage};
use crate::vat::VatClip;

/// Of the outline's texels, those that may differ: triangles' edges that meet a texel's centre.
const OUTLINE: f64 = 0.005;
/// Mean difference of a channel in 1/255 over the model: its shading.
const COLOUR: f64 = 1.0;
/// With the floor and the shadow on it, texels that differ visibly, in areas of the model.
const SEEN: f64 = 0.02;
/// How many times over these bounds a wrong pose must be.
const WRONG: f64 = 4.0;

#[derive(Deserialize)]
struct Sidecar {
    textures: Vec<Texture>,
    clips: Vec<Clip>,
    bounds: Bounds,
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct Warning {
    code: String,
}

#[derive(Deserialize)]
struct Texture {
    file: String,
}

#[derive(Deserialize)]
struct Clip {
    name: Option<String>,
    animation: usize,
    frame_count: u32,
    fps: f32,
    start: f32,
}

#[derive(Deserialize)]
struct Bounds {
    min: [f32; 3],
    max: [f32; 3],
}

struct Arguments {
    assets: PathBuf,
    kit: String,
    source: String,
    without_unorm16: bool,
    passes: Passes,
    pictures: Option<PathBuf>,
}

fn arguments() -> Option<Arguments> {
    let mut words = std::env::args().skip(1);
    let (assets, kit, source) = (words.next()?.into(), words.next()?, words.next()?);
    let mut arguments = Arguments { assets, kit, source, without_unorm16: false, passes: Passes::Main, pictures: None };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--without-unorm16" => arguments.without_unorm16 = true,
            "--prepass" => arguments.passes = Passes::Prepass,
            "--deferred" => arguments.passes = Passes::Deferred,
            "--pictures" => arguments.pictures = Some(words.next()?.into()),
            _ => return None,
        }
    }
    Some(arguments)
}

/// The program.
pub fn run() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("vatbake-bevy ASSETS KIT SOURCE [--without-unorm16] [--prepass] [--deferred] [--pictures FOLDER]");
        return ExitCode::from(2);
    };
    let mut report = Report::default();
    if let Err(error) = check(&arguments, &mut report) {
        report.say("the checks end", false, error);
    }
    println!("{} checks, {} failed", report.count, report.failed);
    if report.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Report {
    count: usize,
    failed: usize,
}

impl Report {
    fn say(&mut self, what: &str, holds: bool, measured: impl std::fmt::Display) {
        self.count += 1;
        self.failed += usize::from(!holds);
        println!("{} {what}: {measured}", if holds { "ok    " } else { "FAILED" });
    }
}

fn check(arguments: &Arguments, report: &mut Report) -> Result<(), String> {
    let Arguments { assets, kit, source, without_unorm16, passes, pictures } = arguments;
    let sidecar = assets.join(kit);
    let text = std::fs::read(&sidecar).map_err(|e| format!("{}: {e}", sidecar.display()))?;
    let Sidecar { textures, clips, bounds, warnings } = serde_json::from_slice(&text).map_err(|e| format!("{kit}: {e}"))?;
    check_meta(sidecar.parent().unwrap_or(assets), &textures, report)?;

    // Bevy turns the flat normals of the rest pose with the joints; in the bake they are those of each frame.
    let own_normals = !warnings.iter().any(|warning| warning.code == "flat-normals");
    let bounds = [Vec3::from(bounds.min), Vec3::from(bounds.max)];
    let settings = Settings { assets, sidecar: kit, source, without_unorm16: *without_unorm16, passes: *passes };
    let mut stage = Stage::new(&settings, bounds)?;
    let adapter = stage.adapter();
    report.say("the adapter is a software one", adapter.contains("llvmpipe"), adapter);
    let empty = stage.capture()?;
    report.say("nothing is seen of nothing", empty.area() == 0, format!("{} texels", empty.area()));

    let player = stage.player(VatClip::default(), Vec3::ZERO);
    for (index, clip) in clips.iter().enumerate() {
        let intervals = clip.frame_count.saturating_sub(1) as f32;
        for part in [0.0, 0.25, 0.5, 0.8] {
            let frame = (part * intervals).floor();
            // By time, which stands at 0, and by the number of the frame.
            let by_time = VatClip { index, start: -(frame + 0.001) / clip.fps, speed: 1.0, once: part > 0.5 };
            let by_frame = VatClip { index, start: frame, speed: 0.0, once: false };
            let wrong = VatClip { start: (frame + 0.5 * intervals) % intervals.max(1.0), ..by_frame };
            let seconds = clip.start + frame / clip.fps;
            let shown = |stage: &mut Stage, clip| -> Result<[Picture; 2], String> {
                stage.set_clip(player, clip);
                pictures_of(stage, |stage, on| stage.show(player, on))
            };
            let ours = shown(&mut stage, by_frame)?;
            let timed = shown(&mut stage, by_time)?;
            let mistaken = shown(&mut stage, wrong)?;
            stage.show(player, false);
            stage.pose_skinned(clip.animation, seconds)?;
            let bevys = pictures_of(&mut stage, Stage::show_skinned)?;
            stage.show_skinned(false);
            let what = format!("{} frame {frame}", clip.name.as_deref().unwrap_or("clip"));
            let measured = Measured::of(&bevys, &ours);
            let same = if own_normals { measured.within(1.0) } else { measured.outline <= OUTLINE };
            report.say(&what, same && bevys[0].area() > 1000, format!("{measured} of Bevy's skinning"));
            let by_time = ours[0].outline_difference(&timed[0]);
            report.say(&format!("{what} by time"), by_time <= OUTLINE, format!("outline {:.3} % of it by number", 100.0 * by_time));
            let measured = Measured::of(&bevys, &mistaken);
            report.say(&format!("{what} shown half a clip off is noticed"), !measured.any_within(WRONG), measured);
            if let Some(folder) = pictures {
                keep(folder, &format!("{index}-{frame}-kit.ppm"), &ours[1])?;
                keep(folder, &format!("{index}-{frame}-bevy.ppm"), &bevys[1])?;
            }
        }
    }
    check_time(&mut stage, player, report)?;
    check_boxes(&mut stage, player, bounds, report);
    stage.despawn(player);
    check_changes(&mut stage, report)?;
    check_wrap(&mut stage, &clips, report)?;
    check_instances(&mut stage, bounds, clips.first().map_or(1.0, |clip| clip.frame_count as f32), report)?;
    let (built, failed) = stage.pipelines();
    report.say("every pipeline is built", built > 0 && failed.is_empty(), format!("{built} built; {}", failed.join("; ")));
    Ok(())
}

/// Two differing pairs of pictures.
struct Measured {
    outline: f64,
    colour: f64,
    seen: f64,
}

impl Measured {
    fn of(wanted: &[Picture; 2], found: &[Picture; 2]) -> Self {
        Self {
            outline: wanted[0].outline_difference(&found[0]),
            colour: wanted[0].colour_difference(&found[0]),
            seen: wanted[1].seen_difference(&found[1], wanted[0].area()),
        }
    }

    fn ratios(&self) -> [f64; 3] {
        [self.outline / OUTLINE, self.colour / COLOUR, self.seen / SEEN]
    }

    fn within(&self, factor: f64) -> bool {
        self.ratios().iter().all(|ratio| *ratio <= factor)
    }

    fn any_within(&self, factor: f64) -> bool {
        self.ratios().iter().any(|ratio| *ratio <= factor)
    }
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { outline, colour, seen } = self;
        write!(f, "outline {:.3} %, colours {colour:.3}/255, with shadows {:.3} %", 100.0 * outline, 100.0 * seen)
    }
}

/// The model alone, and all of it on a floor that takes its shadow.
fn pictures_of(stage: &mut Stage, show: impl Fn(&mut Stage, bool)) -> Result<[Picture; 2], String> {
    show(stage, true);
    let outline = stage.capture()?;
    stage.show_floor(true);
    let lit = stage.capture()?;
    stage.show_floor(false);
    Ok([outline, lit])
}

fn keep(folder: &Path, name: &str, picture: &Picture) -> Result<(), String> {
    let path = folder.join(name);
    std::fs::write(&path, picture.ppm()).map_err(|e| format!("{}: {e}", path.display()))
}

/// The `.meta` files are read by Bevy as what they are meant to say, and written by it in the same words.
fn check_meta(folder: &Path, textures: &[Texture], report: &mut Report) -> Result<(), String> {
    type Meta = AssetMeta<ImageLoader, ()>;
    let wanted = ImageLoaderSettings {
        is_srgb: false,
        sampler: ImageSampler::nearest(),
        asset_usage: RenderAssetUsages::RENDER_WORLD,
        ..Default::default()
    };
    for Texture { file } in textures {
        let path = folder.join(format!("{file}.meta"));
        let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let meta = Meta::deserialize(&bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        let AssetAction::Load { loader, settings } = &meta.asset else { return Err(format!("{}: not to be loaded", path.display())) };
        let same = format!("{settings:?}") == format!("{wanted:?}");
        let other = format!("{settings:?}") != format!("{:?}", ImageLoaderSettings::default());
        let named = loader == "bevy_image::image_loader::ImageLoader" && meta.meta_format_version == "1.0";
        report.say(&format!("{file}.meta"), same && other && named, format!("{loader}, linear, nearest"));
    }
    Ok(())
}

/// The clock moves what is shown, and by as much as it should.
fn check_time(stage: &mut Stage, player: bevy::prelude::Entity, report: &mut Report) -> Result<(), String> {
    stage.show(player, true);
    let clip = |start| VatClip::looped(0, start);
    stage.set_clip(player, clip(stage.now()));
    let before = stage.capture()?;
    stage.step(0.2);
    let moved = stage.capture()?;
    stage.set_clip(player, clip(stage.now()));
    let again = stage.capture()?;
    let [away, back] = [before.outline_difference(&moved), before.outline_difference(&again)];
    let seen = format!("outline {:.3} % after 0.2 s, {:.3} % when begun anew", 100.0 * away, 100.0 * back);
    report.say("time moves it", away > WRONG * OUTLINE && back <= OUTLINE, seen);
    Ok(())
}

/// Culling looks at the box of the animation, and would look at that of the rest pose if the kit did nothing about it.
fn check_boxes(stage: &mut Stage, player: bevy::prelude::Entity, [low, high]: [Vec3; 2], report: &mut Report) {
    let wanted = Aabb::from_min_max(low, high);
    let boxes = stage.boxes(player);
    let held = !boxes.is_empty() && boxes.iter().all(|found| *found == wanted);
    report.say("the boxes are those of the animation", held, format!("{} meshes", boxes.len()));
    let rest = stage.box_of_bevy(player);
    report.say("Bevy alone would take the rest pose's", rest.is_some_and(|rest| rest != wanted), format!("{rest:?}"));
}

/// A frame of a clip.
fn still(index: usize, frame: f32) -> VatClip {
    VatClip { index, start: frame, speed: 0.0, once: false }
}

/// A player shows the same whatever happens to it and around it, and nothing when it is gone.
fn check_changes(stage: &mut Stage, report: &mut Report) -> Result<(), String> {
    let player = stage.player(still(0, 0.0), Vec3::ZERO);
    let wanted = stage.capture()?;
    let mut same = |stage: &mut Stage, what: &str, found: Picture| {
        let difference = wanted.outline_difference(&found);
        report.say(what, wanted.area() > 1000 && difference == 0.0, format!("outline {:.3} % after it", 100.0 * difference));
        stage.run(1);
    };
    stage.touch_bake();
    let found = stage.capture()?;
    same(stage, "it is shown after a reload", found);

    let taken = stage.take_player(player).ok_or("the player is gone")?;
    let found = stage.capture()?;
    let nothing = found.area();
    stage.give_player(player, taken);
    let found = stage.capture()?;
    same(stage, "it is shown again after its player was taken and given", found);

    let copy = stage.copy(player);
    stage.show(player, false);
    let found = stage.capture()?;
    same(stage, "a copy is shown", found);
    stage.despawn(copy);
    stage.show(player, true);
    stage.run(4);

    // More than the slots that there are to begin with: no frame in between is without it.
    let crowd: Vec<_> = (0..100).map(|_| stage.player(still(0, 0.0), Vec3::ZERO)).collect();
    for frame in 0..4 {
        let found = stage.capture_now()?;
        same(stage, &format!("it is shown in frame {frame} after a crowd came"), found);
    }
    for entity in crowd {
        stage.despawn(entity);
    }
    stage.despawn(player);
    let found = stage.capture()?;
    report.say("nothing is shown without a player", nothing == 0 && found.area() == 0, format!("{nothing} and {} texels", found.area()));
    Ok(())
}

/// Bevy's clock goes back to 0 once an hour; what is played goes on.
fn check_wrap(stage: &mut Stage, clips: &[Clip], report: &mut Report) -> Result<(), String> {
    let (Some(clip), last) = (clips.first(), clips.len() - 1) else { return Ok(()) };
    stage.set_wrap(2);
    stage.run(2);
    let now = stage.now();
    let player = stage.player(VatClip::looped(last, now), Vec3::ZERO);
    stage.change(player, |player| player.fade_to(VatClip::looped(0, now), 0.1));
    for _ in 0..12 {
        stage.step(0.2);
    }
    let (after, found) = (stage.now(), stage.capture()?);
    let intervals = clip.frame_count.saturating_sub(1) as f32;
    stage.set_clip(player, still(0, (2.4 * clip.fps) % intervals.max(1.0)));
    let wanted = stage.capture()?;
    // Without more ado it would be as far back in the clip faded from as the clock went.
    stage.set_clip(player, still(last, 0.0));
    let mistaken = stage.capture()?;
    stage.despawn(player);
    stage.set_wrap(3600);
    let [same, other] = [wanted.outline_difference(&found), mistaken.outline_difference(&found)];
    let seen = format!("outline {:.3} %, and {:.3} % of what it faded from; the clock shows {after:.1} s", 100.0 * same, 100.0 * other);
    report.say("it goes on when the clock goes back", same <= OUTLINE && other > WRONG * OUTLINE && after < 2.0, seen);
    Ok(())
}

/// Instances show what each of them plays, and a crowd takes no more draws than one of them.
fn check_instances(stage: &mut Stage, [low, high]: [Vec3; 2], frames: f32, report: &mut Report) -> Result<(), String> {
    let aside = Vec3::X * 0.6 * (high.x - low.x);
    let still = |frame: f32| still(0, frame.floor());
    let mut alone = |at: Vec3, frame| -> Result<Picture, String> {
        let player = stage.player(still(frame), at);
        let picture = stage.capture()?;
        stage.despawn(player);
        Ok(picture)
    };
    let [left, right] = [alone(-aside, 0.0)?, alone(aside, 0.5 * frames)?];
    let swapped = alone(-aside, 0.5 * frames)?.together(&alone(aside, 0.0)?);
    let wanted = left.together(&right);
    let both = [stage.player(still(0.0), -aside), stage.player(still(0.5 * frames), aside)];
    let found = stage.capture()?;
    let [same, other] = [wanted.outline_difference(&found), swapped.outline_difference(&found)];
    let seen = format!("outline {:.3} %, and {:.3} % with their poses swapped", 100.0 * same, 100.0 * other);
    report.say("two instances show two poses", same <= OUTLINE && other > WRONG * OUTLINE, seen);

    let few = stage.draws();
    let crowd: Vec<_> = (0..200).map(|i| stage.player(VatClip::looped(0, -0.1 * i as f32), 0.02 * i as f32 * Vec3::X)).collect();
    stage.run(4);
    let many = stage.draws();
    let seen = format!("{few:?} draws of 2 instances, {many:?} of {}", 2 + crowd.len());
    report.say("a crowd takes no more draws", few[0] > 0 && few == many && few[1] == 0, seen);
    for entity in crowd.into_iter().chain(both) {
        stage.despawn(entity);
    }
    let none = stage.draws();
    stage.run(4);
    let gone = stage.capture()?;
    report.say("and leaves nothing", gone.area() == 0, format!("{} texels, draws {none:?} before", gone.area()));
    Ok(())
}
