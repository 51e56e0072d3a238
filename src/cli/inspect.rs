//! `vatbake inspect`: what is in a model, what a bake would cost, what is worth knowing, what looks wrong.

use std::path::{Path, PathBuf};

use super::args::InspectArgs;
use super::exit::Exit;
use super::input::open_input;
use super::json::{Answer, answers_text};
use super::progress::{Bar, watch_interrupts};
use super::show::{Paint, bytes, indent, many, measure, plain, print, say, table, thousands};
use super::space::Space;
use super::summary::{error_line, finding};
use super::survey::{ClipSurvey, Survey, survey_scene};
use crate::bake::bake_scene;
use crate::options::{DEFAULT_FPS, DeviceChoice, Options, Request};
use crate::source::{self, SceneChoice};
use crate::warning::{Level, Warnings};
use crate::{Error, Result};

/// Shows each model.
///
/// # Errors
/// [`Error::Usage`] where an input is no model. What happens to a model is shown, and in the exit code.
pub fn run(args: &InspectArgs) -> Result<Exit> {
    let inputs: Vec<_> = args.inputs.iter().map(|path| open_input(path)).collect::<Result<_>>()?;
    let several = inputs.len() > 1;
    watch_interrupts();
    let mut results = Vec::new();
    for input in inputs {
        let path = input.path();
        let options = Options {
            scene: args.scene.clone(),
            allow_outside: args.allow_outside,
            allow_static: true,
            dry_run: true,
            // A dry run writes no texels: not worth the start of a driver.
            device: DeviceChoice::Cpu,
            ..Options::default()
        };
        let result = inspect(&Request { input, output: PathBuf::new(), options });
        match &result {
            Ok(survey) if !args.json => {
                let gap = if results.is_empty() { "" } else { "\n" };
                print(&format!("{gap}{}", describe(survey, &path, Paint::stdout())))?;
            }
            Ok(_) => {}
            Err(error) => say(&error_line(error, several.then(|| path.display().to_string()).as_deref(), Paint::stderr())),
        }
        let stop = matches!(result, Err(Error::Interrupted));
        results.push((path, result));
        if stop {
            break;
        }
    }
    if args.json {
        let answers: Vec<_> = results.iter().map(|(path, result)| Answer::new(result, path)).collect();
        print(&answers_text(&answers, several))?;
    }
    let ends = results.iter().map(|(_, result)| result.as_ref().map_or_else(Exit::of, |_| Exit::Done));
    Ok(if several { Exit::of_several(ends) } else { ends.fold(Exit::Done, |_, end| end) })
}

fn inspect(request: &Request) -> Result<Survey> {
    let settings = source::Settings {
        scene: SceneChoice::of(request.options.scene.as_deref()),
        allow_outside: request.options.allow_outside,
        ..Default::default()
    };
    let mut warnings = Warnings::default();
    let (scene, facts) = source::read_with_facts(&request.input, &settings, &mut warnings)?;
    let mut bar = Bar::new(request.input.stem(), false);
    match bake_scene(&scene, request, warnings.clone(), &mut bar) {
        Err(Error::Interrupted) => Err(Error::Interrupted),
        bake => Ok(survey_scene(&scene, &facts, bake, warnings.list())),
    }
}

/// The survey for people.
fn describe(survey: &Survey, path: &Path, paint: Paint) -> String {
    let counts = table(&["", ""], &counts(survey));
    let mut text = format!("{}\n{}", paint.bold(&plain(&path.display().to_string())), indent(counts.trim_start(), 2));
    if !survey.clips.is_empty() {
        text += &format!("\n  {}\n{}", paint.bold("clips"), indent(&clips_table(&survey.clips), 4));
    }
    text += &format!("\n  {}\n    {}", paint.bold(&format!("a bake at {DEFAULT_FPS} fps")), cost_line(survey));
    if !survey.facts.is_empty() {
        let facts = survey.facts.iter().map(|fact| plain(&fact.text)).collect::<Vec<_>>().join("\n");
        text += &format!("\n  {}\n{}", paint.bold("worth knowing"), indent(&facts, 4));
    }
    let of = |level| survey.warnings.iter().filter(move |w| w.level == level).collect::<Vec<_>>();
    for (title, found) in [("looks wrong", of(Level::Warning)), ("notes", of(Level::Note))] {
        if !found.is_empty() {
            text +=
                &format!("\n  {}\n{}", paint.bold(title), indent(&found.iter().map(|w| finding(w, "")).collect::<Vec<_>>().join("\n"), 4));
        }
    }
    text.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

/// One row a kind of thing.
fn counts(survey: &Survey) -> Vec<Vec<String>> {
    let list = |names: &[String]| if names.is_empty() { "none".into() } else { names.join(", ") };
    let joints = survey.skins.iter().map(|s| s.joints).sum();
    let mut rows = vec![
        ("scene", format!("{}, {} of {}", scene_label(survey, survey.scene), survey.nodes_in_scene, many(survey.nodes, "node", "nodes"))),
        (
            "meshes",
            format!(
                "{}, {}, {}",
                thousands(survey.meshes as u64),
                many(survey.primitives, "primitive", "primitives"),
                many(survey.parts, "part shown", "parts shown")
            ),
        ),
        ("vertices", format!("{}, in {}", thousands(survey.vertices as u64), many(survey.triangles, "triangle", "triangles"))),
        (
            "normals",
            if survey.parts_without_normals == 0 {
                "all parts".into()
            } else {
                format!("absent in {} of {}", many(survey.parts_without_normals, "part", "parts"), survey.parts)
            },
        ),
        (
            "skins",
            format!(
                "{}, {}, {}",
                thousands(survey.skins.len() as u64),
                many(joints, "joint", "joints"),
                many(survey.influence_sets, "influence set", "influence sets")
            ),
        ),
    ];
    if survey.scenes.len() > 1 {
        let scenes = (0..survey.scenes.len()).map(|scene| scene_label(survey, scene)).collect::<Vec<_>>().join(", ");
        rows.insert(1, ("scenes", scenes));
    }
    if let Some(share) = survey.first_four_share {
        rows.push(("", format!("the first four influences hold over 95 % of the weight in {:.1} % of the vertices", 100.0 * share)));
    }
    rows.push(("morph targets", thousands(survey.morph_targets as u64)));
    rows.push(("materials", format!("{}, {}", thousands(survey.materials as u64), many(survey.images, "image", "images"))));
    rows.push(("extensions", list(&survey.extensions_used)));
    if !survey.extensions_required.is_empty() {
        rows.push(("required", list(&survey.extensions_required)));
    }
    if let Some(space) = &survey.space {
        rows.extend(space_rows(space));
    }
    rows.into_iter().map(|(name, value)| vec![name.into(), value]).collect()
}

/// Number and name, as `--scene` takes them.
fn scene_label(survey: &Survey, scene: usize) -> String {
    match survey.scenes.get(scene).and_then(Option::as_deref) {
        Some(name) => format!("{scene} ({name})"),
        None => scene.to_string(),
    }
}

fn space_rows(space: &Space) -> Vec<(&'static str, String)> {
    let point = |p: [f32; 3]| p.map(|x| measure(x.into())).join(", ");
    let up = match space.up {
        "+y" => "+Y is up, as glTF has it",
        "+z" => "+Z looks like up: the model seems to lie on its back",
        _ => "up-axis unclear: neither +Y nor +Z begins at the ground",
    };
    let unit = match space.scale {
        Some(scale) => format!("looks like {}: --scale {scale} makes it metres", space.unit),
        None if space.unit == "metres" => "metres are plausible".into(),
        None => "unit unclear".into(),
    };
    let corners = |[min, max]: [[f32; 3]; 2]| format!("({}) to ({})", point(min), point(max));
    let mut rows = vec![("box", format!("{} at rest", corners(space.rest)))];
    rows.extend(space.animated.map(|animated| ("", format!("{} over all poses", corners(animated)))));
    rows.push(("space", format!("height {}, {unit}; {up}", measure(space.height.into()))));
    rows
}

fn clips_table(clips: &[ClipSurvey]) -> String {
    let row = |clip: &ClipSurvey| {
        vec![
            clip.animation.to_string(),
            clip.name.clone(),
            format!("{:.3}", clip.start),
            format!("{:.3}", clip.length),
            thousands(clip.channels as u64),
            thousands(clip.keys as u64),
            clip.fps.map_or("-".into(), measure),
            clip.interpolations.keys().copied().collect::<Vec<_>>().join(" "),
        ]
    };
    let head = [">#", "name", ">start s", ">length s", ">channels", ">keys", ">keys a second", "interpolation"];
    table(&head, &clips.iter().map(row).collect::<Vec<_>>())
}

fn cost_line(survey: &Survey) -> String {
    match (&survey.bake, &survey.bake_error) {
        (Some(cost), _) => format!(
            "{}, {}, {} of {} x {} texels, {} on the GPU, moves at most {}",
            many(cost.frame_count, "frame", "frames"),
            many(cost.vertex_count, "vertex", "vertices"),
            many(cost.textures, "texture", "textures"),
            cost.size[0],
            cost.size[1],
            bytes(cost.gpu_bytes),
            measure(cost.largest_displacement.into()),
        ),
        (None, Some(error)) => format!("fails: {}", plain(error)),
        (None, None) => "not tried".into(),
    }
}
