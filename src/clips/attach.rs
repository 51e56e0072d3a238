//! Clips of other files on the nodes of the model: asset shops ship one skeleton and a folder of motions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use glam::DVec3;

use super::matching::{Matching, match_nodes};
use crate::error::count;
use crate::options::Input;
use crate::plan::frames::clip_names;
use crate::plan::select::list_names;
use crate::scene::{Clip, ClipSource, Node, Property, Scene, Trs};
use crate::source;
use crate::warning::{Code, Warnings};
use crate::{Error, Result};

/// Translations at rest that differ by this share of the longer one are different.
const TRANSLATION: f64 = 0.01;
/// Likewise by less than this share of the longest translation of all they are equal: joints that lie on each other.
const NEGLIGIBLE: f64 = 1e-4;
/// Rotations at rest that differ by more are different: radians, 1 degree.
const ROTATION: f64 = 0.017_453_292_519_943_295;
/// Scales at rest that differ by this share of the larger one are different.
const SCALE: f64 = 0.01;

/// Appends the clips of `animations` to the scene's, their channels pointed at the nodes of the model. What does not fit is counted
/// in `warnings`; the files join those that no output may replace.
///
/// # Errors
/// Those of [`source::read`], and [`Error::Usage`] for a file without animation or one that moves no node of the model.
pub fn attach_clips(scene: &mut Scene, animations: &[Input], allow_outside: bool, warnings: &mut Warnings) -> Result<()> {
    let mut taken = Vec::with_capacity(animations.len());
    for input in animations {
        let settings = source::Settings { allow_outside, motion_only: true, ..source::Settings::default() };
        let mut found = Warnings::default();
        let other = source::read(input, &settings, &mut found)?;
        warnings.merge_from(&other.origin.file, found);
        scene.origin.files.extend_from_slice(&other.origin.files);
        taken.push((input.stem(), take_clips(scene, other, warnings)?));
    }
    name_clips(&clip_names(scene), &mut taken);
    scene.clips.extend(taken.into_iter().flat_map(|(_, clips)| clips));
    source::free_animated_matrices(&mut scene.nodes, &scene.clips, warnings);
    Ok(())
}

/// The clips of one file with the model's nodes in their channels.
fn take_clips(scene: &Scene, other: Scene, warnings: &mut Warnings) -> Result<Vec<Clip>> {
    let (model, file) = (&scene.origin.file, &other.origin.file);
    if other.clips.is_empty() {
        return Err(Error::Usage(format!("-a/--animations takes the clips of {file}, but it has no animation; leave it out")));
    }
    let matching = match_nodes(&scene.nodes, &other.nodes);
    let driven: BTreeSet<usize> = other.clips.iter().flat_map(|c| &c.channels).map(|c| c.node).collect();
    if driven.iter().all(|&n| matching.to[n].is_none()) {
        let shown = |nodes: &mut dyn Iterator<Item = &Node>| list_names(&nodes.take(3).map(name_node).collect::<Vec<_>>());
        return Err(Error::Usage(format!(
            "none of the {} that {file} moves is in {model}: it moves {} ..., the model has {} ...; take motions of the same skeleton, or rename its nodes",
            count(driven.len(), "node"),
            shown(&mut driven.iter().map(|&n| &other.nodes[n])),
            shown(&mut scene.nodes.iter()),
        )));
    }
    compare(scene, &other, &matching, &driven, warnings);
    let source = Arc::new(ClipSource { file: file.clone(), sha256: other.origin.sha256.clone() });
    let mut clips = Vec::with_capacity(other.clips.len());
    for mut clip in other.clips {
        clip.channels.retain_mut(|channel| {
            let Some(node) = matching.to[channel.node] else {
                warnings.add(Code::ChannelUnmatched, 1, || {
                    let name = name_node(&other.nodes[channel.node]);
                    format!("{{count}} channels drive nodes that {model} does not have and were left out (first: '{name}' of {file})")
                });
                return false;
            };
            let targets = scene.nodes[node].weights.len();
            let fits = channel.property != Property::Weights || channel.width == targets;
            warnings.add(Code::WeightsWithoutTargets, u64::from(!fits), || {
                let name = name_node(&scene.nodes[node]);
                format!("{{count}} channels drive another number of morph targets than the model has (first: {} of {file}, {targets} of '{name}') and were left out", channel.width)
            });
            channel.node = node;
            fits
        });
        if clip.channels.is_empty() {
            let name = clip.name.unwrap_or_default();
            warnings.add(Code::EmptyAnimation, 1, || {
                format!("{{count}} animations that move nothing of the model were left out, the first: '{name}' of {file}")
            });
            continue;
        }
        clips.push(Clip { source: Some(source.clone()), ..clip });
    }
    Ok(clips)
}

/// Says what is different between the two skeletons.
fn compare(scene: &Scene, other: &Scene, matching: &Matching, driven: &BTreeSet<usize>, warnings: &mut Warnings) {
    let file = &other.origin.file;
    warnings.add(Code::MatchedByPath, matching.by_path.len() as u64, || {
        let first = matching.by_path.first().map_or_else(String::new, |&n| name_node(&other.nodes[n]));
        format!("{{count}} nodes whose names did not tell were matched by their path from the root (first: '{first}' of {file})")
    });
    let has_counterpart: HashSet<usize> = matching.to.iter().flatten().copied().collect();
    let skins: BTreeSet<usize> = scene.parts.iter().filter_map(|p| p.skin).collect();
    let joints: BTreeSet<usize> = skins.iter().flat_map(|&s| scene.skins[s].joints.iter().copied()).collect();
    let lone: Vec<usize> = joints.into_iter().filter(|j| !has_counterpart.contains(j)).collect();
    warnings.add(Code::JointsMissing, lone.len() as u64, || {
        let names = list_first(&lone, &scene.nodes);
        format!("{{count}} joints of the model are not in the file that clips were taken from and keep their rest pose (first: {names} not in {file})")
    });
    // What stands above a moved node places it as much as the node itself.
    let mut counts = vec![false; other.nodes.len()];
    for &n in driven {
        let mut node = Some(n);
        while let Some(n) = node.filter(|&n| !std::mem::replace(&mut counts[n], true)) {
            node = other.nodes[n].parent;
        }
    }
    let pairs: Vec<(usize, Trs, Trs)> = (0..other.nodes.len())
        .filter(|&n| counts[n])
        .filter_map(|n| matching.to[n].map(|to| (to, scene.nodes[to].local.trs(), other.nodes[n].local.trs())))
        .collect();
    let longest = pairs.iter().map(|(_, a, _)| a.translation.length()).fold(0.0, f64::max);
    let different: Vec<(usize, String)> = pairs.iter().filter_map(|(node, a, b)| Some((*node, difference(a, b, longest)?))).collect();
    warnings.add(Code::RestPoseDiffers, different.len() as u64, || {
        let nodes: Vec<usize> = different.iter().map(|(node, _)| *node).collect();
        let first = different.first().map_or("", |(_, text)| text.as_str());
        let names = list_first(&nodes, &scene.nodes);
        format!(
            "{{count}} nodes stand otherwise at rest than in the file that clips were taken from (first: {names}, by {first}, in {file}); the clips' values were taken as they are, so proportions may change"
        )
    });
}

/// What is different between two rest transforms, the model's first, or nothing.
fn difference(a: &Trs, b: &Trs, longest: f64) -> Option<String> {
    let apart = a.translation.distance(b.translation);
    let turned = 2.0 * a.rotation.dot(b.rotation).abs().min(1.0).acos();
    let limit = (TRANSLATION * a.translation.length().max(b.translation.length())).max(NEGLIGIBLE * longest);
    let differs = |a: f64, b: f64| (a - b).abs() > SCALE * a.abs().max(b.abs());
    let scaled = (0..3).any(|axis| differs(a.scale[axis], b.scale[axis]));
    let mut parts = Vec::new();
    if apart > limit {
        parts.push(format!("{apart:.4} m"));
    }
    if turned > ROTATION {
        parts.push(format!("{:.1} degrees", turned.to_degrees()));
    }
    if scaled {
        let list = |s: DVec3| format!("{:.3} {:.3} {:.3}", s.x, s.y, s.z);
        parts.push(format!("scale {} there, {} here", list(b.scale), list(a.scale)));
    }
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// Names that were in one place alone stay; the others are called after their file.
fn name_clips(own: &[String], files: &mut [(String, Vec<Clip>)]) {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for name in own.iter().cloned().chain(files.iter().flat_map(|(_, clips)| clips).filter_map(|c| c.name.clone())) {
        *uses.entry(name).or_default() += 1;
    }
    let is_kept = |name: &Option<String>| name.as_ref().is_some_and(|n| !n.is_empty() && uses.get(n) == Some(&1));
    let kept = files.iter().flat_map(|(_, clips)| clips).filter(|c| is_kept(&c.name)).filter_map(|c| c.name.clone());
    let mut taken: HashSet<String> = own.iter().cloned().chain(kept).collect();
    for (stem, clips) in files {
        let is_only = clips.len() == 1;
        for clip in clips.iter_mut().filter(|c| !is_kept(&c.name)) {
            let base = match clip.name.as_deref().filter(|n| !n.is_empty()) {
                _ if is_only => stem.clone(),
                Some(name) => format!("{stem}_{name}"),
                None => format!("{stem}_{}", clip.animation),
            };
            let mut name = base.clone();
            for n in 2.. {
                if taken.insert(name.clone()) {
                    break;
                }
                name = format!("{base}_{n}");
            }
            clip.name = Some(name);
        }
    }
}

fn name_node(node: &Node) -> String {
    node.name.clone().unwrap_or_else(|| format!("node_{}", node.source))
}

/// "'Hips', 'Spine', 'Head'": the first three.
fn list_first(nodes: &[usize], of: &[Node]) -> String {
    let names: Vec<_> = nodes.iter().take(3).map(|&n| format!("'{}'", name_node(&of[n]))).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(own: &[&str], files: &[(&str, &[&str])]) -> Vec<String> {
        let clip = |(animation, name): (usize, &&str)| Clip {
            name: (*name != "_").then(|| name.to_string()),
            animation,
            source: None,
            channels: Vec::new(),
        };
        let own: Vec<String> = own.iter().map(ToString::to_string).collect();
        let mut files: Vec<_> =
            files.iter().map(|(stem, clips)| (stem.to_string(), clips.iter().enumerate().map(clip).collect())).collect();
        name_clips(&own, &mut files);
        files.into_iter().flat_map(|(_, clips): (_, Vec<Clip>)| clips).filter_map(|c| c.name).collect()
    }

    #[test]
    fn clips_are_named_after_their_file_where_the_name_does_not_tell() {
        assert_eq!(named(&["Idle"], &[("walk", &["Walk"]), ("run", &["_"])]), ["Walk", "run"]);
        assert_eq!(named(&["mixamo.com"], &[("walk", &["mixamo.com"]), ("run", &["mixamo.com"])]), ["walk", "run"]);
        assert_eq!(named(&[], &[("walk", &["mixamo.com"]), ("run", &["mixamo.com"])]), ["walk", "run"]);
        assert_eq!(named(&["A"], &[("pack", &["A", "B", "_", ""])]), ["pack_A", "B", "pack_2", "pack_3"]);
        assert_eq!(named(&["walk"], &[("walk", &["_"]), ("walk", &["_"])]), ["walk_2", "walk_3"]);
        assert_eq!(named(&["X"], &[("a", &["X"]), ("b", &["a"])]), ["a_2", "a"], "a name that tells is not taken away");
    }

    #[test]
    fn rest_transforms_within_the_tolerances_are_equal() {
        let a = Trs { translation: DVec3::Y, ..Trs::default() };
        let near = Trs { translation: DVec3::Y * 1.009, rotation: glam::DQuat::from_rotation_x(0.017), scale: DVec3::splat(1.009) };
        assert_eq!(difference(&a, &near, 1.0), None);
        assert_eq!(difference(&a, &Trs { translation: DVec3::Y * 1.1, ..a }, 1.0).as_deref(), Some("0.1000 m"));
        let turned = Trs { rotation: -glam::DQuat::from_rotation_x(0.5), ..a };
        assert_eq!(difference(&a, &turned, 1.0).as_deref(), Some("28.6 degrees"));
        let both = Trs { scale: DVec3::new(1.0, -1.0, 1.0), translation: DVec3::ZERO, ..a };
        assert_eq!(difference(&a, &both, 1.0).as_deref(), Some("1.0000 m and scale 1.000 -1.000 1.000 there, 1.000 1.000 1.000 here"));
        let on_each_other = Trs { translation: DVec3::X * 1e-5, ..Trs::default() };
        assert_eq!(difference(&Trs::default(), &on_each_other, 1.0), None);
    }
}
