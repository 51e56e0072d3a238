//! What `inspect` finds out about a model, as data: counts from the scene, numbers of a bake from a dry run, guesses from the box.

use std::collections::BTreeMap;

use serde::Serialize;

use super::facts::{Fact, find_facts};
use super::space::{Space, guess_space, rest_box};
use crate::plan::frames::{clip_names, source_rate};
use crate::report::{ClipReport, Report};
use crate::scene::{Clip, Interpolation, Primitive, Scene};
use crate::source::Facts;
use crate::warning::Warning;

/// Share of a vertex's weight that its first four influences must hold to be counted.
const FIRST_FOUR: f32 = 0.95;

/// Everything that `inspect` tells of one model.
#[derive(Debug, Serialize)]
pub struct Survey {
    /// File name.
    pub source: String,
    /// Of the file's bytes.
    pub sha256: String,
    /// Scene that was looked at.
    pub scene: usize,
    /// Names of all scenes.
    pub scenes: Vec<Option<String>>,
    /// Nodes of the file.
    pub nodes: usize,
    /// Nodes of the scene.
    pub nodes_in_scene: usize,
    /// Meshes that the scene shows.
    pub meshes: usize,
    /// Primitives of these meshes.
    pub primitives: usize,
    /// Primitives times the nodes that show them.
    pub parts: usize,
    /// Vertices over all parts, as the file has them.
    pub vertices: usize,
    /// Triangles over all parts.
    pub triangles: usize,
    /// Parts without normals.
    pub parts_without_normals: usize,
    /// Skins.
    pub skins: Vec<SkinSurvey>,
    /// Most influence sets (of four) of a primitive.
    pub influence_sets: usize,
    /// Share (0 to 1) of the skinned vertices whose first four influences hold over 95 % of the weight; absent without a skin.
    pub first_four_share: Option<f64>,
    /// Morph targets over all meshes.
    pub morph_targets: usize,
    /// Materials.
    pub materials: usize,
    /// Images.
    pub images: usize,
    /// Extensions of the file.
    pub extensions_used: Vec<String>,
    /// Extensions without which the file cannot be shown.
    pub extensions_required: Vec<String>,
    /// Animations.
    pub clips: Vec<ClipSurvey>,
    /// What a bake with the default flags would give.
    pub bake: Option<Cost>,
    /// Why there would be no bake.
    pub bake_error: Option<String>,
    /// Boxes and guesses; absent where nothing is shown.
    pub space: Option<Space>,
    /// What is no fault but good to know, see [`find_facts`].
    pub facts: Vec<Fact>,
    /// Everything worth saying.
    pub warnings: Vec<Warning>,
}

/// A skin.
#[derive(Debug, Serialize)]
pub struct SkinSurvey {
    /// The file's name for it.
    pub name: Option<String>,
    /// Joints.
    pub joints: usize,
}

/// An animation.
#[derive(Debug, Serialize)]
pub struct ClipSurvey {
    /// Name as `--clips` takes it.
    pub name: String,
    /// Index in the file's `animations`.
    pub animation: usize,
    /// Seconds of the first key, over the channels that have more than one.
    pub start: f64,
    /// Seconds from the first key to the last.
    pub length: f64,
    /// Animated properties.
    pub channels: usize,
    /// Keys over all channels.
    pub keys: usize,
    /// `LINEAR`, `STEP`, `CUBICSPLINE`, each with its channels.
    pub interpolations: BTreeMap<&'static str, usize>,
    /// One over the most frequent key distance; absent where no channel has two keys.
    pub fps: Option<f64>,
}

/// What a bake would give.
#[derive(Debug, Serialize)]
pub struct Cost {
    /// Frames over all clips.
    pub frame_count: usize,
    /// Vertices, after parts without normals were split.
    pub vertex_count: usize,
    /// Texture width and height in texels.
    pub size: [u32; 2],
    /// Textures.
    pub textures: usize,
    /// Bytes of all textures on the GPU.
    pub gpu_bytes: u64,
    /// Metres.
    pub largest_displacement: f32,
    /// Clips with their frames and loops.
    pub clips: Vec<ClipReport>,
}

/// Puts together what reading and a dry run gave.
pub fn survey_scene(scene: &Scene, facts: &Facts, bake: crate::Result<Report>, warnings: Vec<Warning>) -> Survey {
    let shown = || scene.parts.iter().filter_map(|part| scene.primitives.get(part.primitive));
    let mut meshes = BTreeMap::new();
    for primitive in shown() {
        let targets: &mut usize = meshes.entry(primitive.mesh).or_default();
        *targets = (*targets).max(primitive.targets.len());
    }
    let mut primitives: Vec<_> = scene.parts.iter().map(|part| part.primitive).collect();
    primitives.sort_unstable();
    primitives.dedup();
    let (bake, bake_error, warnings) = match bake {
        Ok(report) => (Some(report), None, None),
        Err(error) => (None, Some(error.to_string()), Some(warnings)),
    };
    Survey {
        source: scene.origin.file.clone(),
        sha256: scene.origin.sha256.clone(),
        scene: scene.origin.scene,
        scenes: facts.scenes.clone(),
        nodes: scene.nodes.len(),
        nodes_in_scene: scene.nodes.iter().filter(|n| n.in_scene).count(),
        meshes: meshes.len(),
        primitives: primitives.len(),
        parts: scene.parts.len(),
        vertices: shown().map(|p| p.positions.len()).sum(),
        triangles: shown().map(|p| p.triangles.len()).sum(),
        parts_without_normals: shown().filter(|p| p.normals.is_none()).count(),
        skins: scene.skins.iter().map(|s| SkinSurvey { name: s.name.clone(), joints: s.joints.len() }).collect(),
        influence_sets: shown().map(|p| p.influences.sets).max().unwrap_or(0),
        first_four_share: first_four_share(primitives.iter().filter_map(|p| scene.primitives.get(*p))),
        morph_targets: meshes.values().sum(),
        materials: scene.carried.materials.len(),
        images: scene.carried.images.len(),
        extensions_used: scene.carried.extensions_used.clone(),
        extensions_required: scene.carried.extensions_required.clone(),
        clips: scene.clips.iter().zip(clip_names(scene)).map(|(clip, name)| survey_clip(clip, name)).collect(),
        space: rest_box(scene).ok().map(|rest| guess_space(rest, bake.as_ref().map(|report| report.bounds))),
        facts: find_facts(scene, facts),
        warnings: warnings.or_else(|| bake.as_ref().map(|report| report.warnings.clone())).unwrap_or_default(),
        bake: bake.map(cost_of),
        bake_error,
    }
}

fn cost_of(report: Report) -> Cost {
    Cost {
        frame_count: report.frame_count,
        vertex_count: report.vertex_count,
        size: report.size,
        textures: report.textures.len(),
        gpu_bytes: report.textures.iter().map(|t| t.gpu_bytes).sum(),
        largest_displacement: report.largest_displacement,
        clips: report.clips,
    }
}

fn survey_clip(clip: &Clip, name: String) -> ClipSurvey {
    let has_length = clip.channels.iter().any(|c| c.times.len() > 1);
    let (mut first, mut last, mut interpolations) = (f32::INFINITY, f32::NEG_INFINITY, BTreeMap::new());
    for channel in &clip.channels {
        let name = match channel.interpolation {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
            Interpolation::CubicSpline => "CUBICSPLINE",
        };
        *interpolations.entry(name).or_default() += 1;
        if let [a, .., b] = channel.times[..]
            && has_length
        {
            (first, last) = (first.min(a), last.max(b));
        } else if let ([a], false) = (&channel.times[..], has_length) {
            (first, last) = (first.min(*a), last.max(*a));
        }
    }
    let is_empty = first > last;
    ClipSurvey {
        name,
        animation: clip.animation,
        start: if is_empty { 0.0 } else { first.into() },
        length: if is_empty { 0.0 } else { f64::from(last) - f64::from(first) },
        channels: clip.channels.len(),
        keys: clip.channels.iter().map(|c| c.times.len()).sum(),
        interpolations,
        fps: source_rate(&clip.channels.iter().collect::<Vec<_>>()),
    }
}

/// Share of the vertices whose first set of influences holds over 95 % of the weight.
fn first_four_share<'a>(primitives: impl Iterator<Item = &'a Primitive>) -> Option<f64> {
    let (mut held, mut all) = (0usize, 0usize);
    for influences in primitives.map(|p| &p.influences).filter(|i| i.sets > 0) {
        let firsts = influences.weights.iter().step_by(influences.sets);
        all += firsts.len();
        held += firsts.filter(|w| w.iter().sum::<f32>() > FIRST_FOUR).count();
    }
    (all > 0).then(|| held as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Channel, Influences, Property};

    fn channel(times: &[f32], interpolation: Interpolation) -> Channel {
        Channel {
            node: 0,
            property: Property::Translation,
            interpolation,
            times: times.into(),
            values: vec![0.0; times.len() * 3],
            width: 3,
        }
    }

    #[test]
    fn clips_run_over_channels_with_several_keys() {
        let channels = vec![
            channel(&[0.0], Interpolation::Step),
            channel(&[0.5, 0.75, 1.0, 2.0], Interpolation::Linear),
            channel(&[0.5, 1.5], Interpolation::Linear),
        ];
        let clip = survey_clip(&Clip { name: None, animation: 3, source: None, channels }, String::new());
        assert_eq!((clip.start, clip.length, clip.keys, clip.channels), (0.5, 1.5, 7, 3));
        assert_eq!(clip.interpolations, BTreeMap::from([("LINEAR", 2), ("STEP", 1)]));
        assert_eq!(clip.fps, Some(4.0));
    }

    #[test]
    fn clips_of_one_key_or_none_have_no_length() {
        let one = survey_clip(
            &Clip { name: None, animation: 0, source: None, channels: vec![channel(&[1.5], Interpolation::Step)] },
            String::new(),
        );
        assert_eq!((one.start, one.length, one.fps), (1.5, 0.0, None));
        let none = survey_clip(&Clip { name: None, animation: 0, source: None, channels: Vec::new() }, String::new());
        assert_eq!((none.start, none.length, none.keys), (0.0, 0.0, 0));
    }

    #[test]
    fn the_first_four_influences_are_the_first_set() {
        let weights = vec![[0.25; 4], [0.0; 4], [0.2; 4], [0.2, 0.0, 0.0, 0.0]];
        let primitive = Primitive { influences: Influences { sets: 2, joints: vec![[0; 4]; 4], weights }, ..Default::default() };
        assert_eq!(first_four_share([&primitive, &Primitive::default()].into_iter()), Some(0.5));
        assert_eq!(first_four_share([&Primitive::default()].into_iter()), None);
    }

    #[test]
    fn a_failed_dry_run_keeps_the_counts() {
        let survey = survey_scene(&Scene::default(), &Facts::default(), Err(crate::Error::Bake("too large".into())), Vec::new());
        assert_eq!((survey.bake.is_none(), survey.bake_error.as_deref()), (true, Some("too large")));
    }
}
