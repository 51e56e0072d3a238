//! One clip out of several: some exporters write an animation a bone.

use std::collections::HashMap;

use crate::options::MergeClips;
use crate::plan::frames::clip_names;
use crate::plan::select::select;
use crate::scene::{Clip, Property, Scene};
use crate::{Error, Result};

/// Puts the clips of each of `merges` together: one clip with the channels of all, where the first of them was. All of `merges`
/// mean the clips as they were before.
///
/// # Errors
/// [`Error::Usage`] where a pattern names no clip, fewer than two clips are named, two of them drive the same property of the same
/// node, or a name is already another clip's.
pub fn merge_clips(scene: &mut Scene, merges: &[MergeClips]) -> Result<()> {
    let names = clip_names(scene);
    let chosen: Vec<Vec<usize>> = merges.iter().map(|m| select(&m.clips, &names, "clip")).collect::<Result<_>>()?;
    let is_part = |clip: usize| chosen.iter().any(|parts| parts.contains(&clip));
    let left: Vec<&String> = names.iter().enumerate().filter(|(i, _)| !is_part(*i)).map(|(_, name)| name).collect();
    let mut merged: Vec<(usize, Clip)> = Vec::new();
    for (merge, parts) in merges.iter().zip(&chosen) {
        let [first, _, ..] = parts[..] else {
            let found = parts.first().map_or("", |&p| &names[p]);
            return Err(Error::Usage(format!(
                "--merge-clips needs two clips or more, but '{}' names '{found}' alone",
                merge.clips.join(",")
            )));
        };
        let is_free = |name: &String| !left.contains(&name) && merged.iter().all(|(_, clip)| clip.name.as_ref() != Some(name));
        let name = match &merge.name {
            Some(name) if !is_free(name) => {
                return Err(Error::Usage(format!("--merge-clips cannot make '{name}': another clip has that name; choose another")));
            }
            Some(name) => name.clone(),
            None => {
                let of_parts: Vec<&str> = parts.iter().map(|&p| names[p].as_str()).collect();
                common_name(&of_parts).filter(is_free).unwrap_or_else(|| names[first].clone())
            }
        };
        let place = parts.iter().copied().min().unwrap_or(first);
        merged.push((place, join(scene, parts, &names, name)?));
    }
    let old = std::mem::take(&mut scene.clips);
    for (i, clip) in old.into_iter().enumerate() {
        scene.clips.extend(merged.iter().filter(|(place, _)| *place == i).map(|(_, clip)| clip.clone()));
        if !is_part(i) {
            scene.clips.push(clip);
        }
    }
    Ok(())
}

/// One clip with the channels of `parts`; number and file are the first one's.
fn join(scene: &Scene, parts: &[usize], names: &[String], name: String) -> Result<Clip> {
    let mut driven: HashMap<(usize, Property), usize> = HashMap::new();
    let mut channels = Vec::new();
    for &part in parts {
        for channel in &scene.clips[part].channels {
            if let Some(other) = driven.insert((channel.node, channel.property), part) {
                let node = &scene.nodes[channel.node];
                return Err(Error::Usage(format!(
                    "--merge-clips finds the {} of node {} ('{}') both in clip '{}' and in clip '{}'; merge only clips that move different things",
                    word(channel.property),
                    node.source,
                    node.name.as_deref().unwrap_or("unnamed"),
                    names[other],
                    names[part],
                )));
            }
            channels.push(channel.clone());
        }
    }
    let first = &scene.clips[parts[0]];
    Ok(Clip { name: Some(name), animation: first.animation, source: first.source.clone(), channels })
}

fn word(property: Property) -> &'static str {
    match property {
        Property::Translation => "translation",
        Property::Rotation => "rotation",
        Property::Scale => "scale",
        Property::Weights => "morph weights",
    }
}

/// The longest beginning that all names share and that ends with a word of each, without separators at its end.
fn common_name(names: &[&str]) -> Option<String> {
    let first = names.first()?;
    let is_end = |name: &str, at: usize| {
        let (before, after) = (name[..at].chars().next_back(), name[at..].chars().next());
        match (before, after) {
            (Some(before), Some(after)) => {
                !before.is_alphanumeric()
                    || !after.is_alphanumeric()
                    || before.is_lowercase() && (after.is_uppercase() || after.is_numeric())
            }
            _ => true,
        }
    };
    let ends = first.char_indices().map(|(at, _)| at).chain([first.len()]).rev();
    let common = ends.map(|at| &first[..at]).find(|start| names.iter().all(|n| n.starts_with(start) && is_end(n, start.len())))?;
    let name = common.trim_end_matches(|c: char| !c.is_alphanumeric());
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_name_ends_with_a_word() {
        for (names, wanted) in [
            (&["Walk_Hips", "Walk_Spine"][..], Some("Walk")),
            (&["Walk_Left", "Walk_Leg"], Some("Walk")),
            (&["WalkHips", "WalkSpine"], Some("Walk")),
            (&["Walk1", "Walk2"], Some("Walk")),
            (&["Armature|Walk.001", "Armature|Walk.002"], Some("Armature|Walk")),
            (&["Walk", "Walk.001"], Some("Walk")),
            (&["läuft_a", "läuft_ä"], Some("läuft")),
            (&["hips", "hands"], None),
            (&["_a", "_b"], None),
            (&["", ""], None),
        ] {
            assert_eq!(common_name(names).as_deref(), wanted, "{names:?}");
        }
    }
}
