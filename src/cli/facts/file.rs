//! Facts of the file: scenes, how data is stored, what is absent.

use super::List;
use crate::cli::show::{many, measure, thousands};
use crate::source::Facts;

/// Extensions that change how vertex data is stored.
const STORAGE: [&str; 4] = ["KHR_mesh_quantization", "KHR_meshopt_compression", "EXT_meshopt_compression", "KHR_draco_mesh_compression"];

/// Adds what the file's structure tells.
pub(super) fn add(facts: &Facts, list: &mut List) {
    add_scenes(facts, list);
    let primitives = facts.primitives;
    let of_primitives = |n: usize| format!("{} of {}", thousands(n as u64), many(primitives, "primitive", "primitives"));
    list.add_of("no-normals", facts.without_normals, primitives, || {
        format!("{} without normals: a bake computes flat ones in every frame", of_primitives(facts.without_normals))
    });
    list.add_of("no-indices", facts.without_indices, primitives, || {
        format!("{} without indices: no vertex is shared between triangles", of_primitives(facts.without_indices))
    });
    for (what, &count) in &facts.attribute_types {
        list.add_what("attribute-type", what, count, || format!("{} in {}", stored(what), many(count, "primitive", "primitives")));
    }
    for (what, &count) in &facts.output_types {
        list.add_what("output-type", what, count, || format!("keys of {} in {}", stored(what), many(count, "channel", "channels")));
    }
    list.add("sparse-accessors", facts.sparse, || many(facts.sparse, "sparse accessor", "sparse accessors"));
    list.add_of("sparse-without-base", facts.sparse_without_base, facts.sparse, || {
        format!("{} of them without a buffer view: zeros, but for the sparse values", thousands(facts.sparse_without_base as u64))
    });
    list.add("interleaved", facts.interleaved_views, || {
        format!("{} in which vertex attributes alternate", many(facts.interleaved_views, "buffer view", "buffer views"))
    });
    for (name, is_required) in facts.extensions.iter().filter(|(name, _)| STORAGE.contains(&name.as_str())) {
        list.add_what("extension", name, 1, || format!("{name} is {}", if *is_required { "required" } else { "used, not required" }));
    }
    add_weights(facts, list);
}

fn add_scenes(facts: &Facts, list: &mut List) {
    let scenes = facts.scenes.len();
    list.add("several-scenes", if scenes > 1 { scenes } else { 0 }, || format!("{scenes} scenes, of which one is shown: --scene chooses"));
    list.add("no-default-scene", usize::from(!facts.has_default_scene), || match scenes {
        0 => "no scene at all: every node is shown".into(),
        _ => "the file does not say which scene to show: the first is taken".into(),
    });
    let roots = facts.scene_roots;
    list.add("scene-roots", if roots > 1 { roots } else { 0 }, || format!("the scene has {} root nodes", thousands(roots as u64)));
}

fn add_weights(facts: &Facts, list: &mut List) {
    let weights = facts.weights;
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let vertices = count(weights.vertices);
    let of_vertices = |n| format!("{} of {}", thousands(n), many(vertices, "skinned vertex", "skinned vertices"));
    list.add_what("influence-sets", facts.influence_sets.to_string(), facts.with_several_sets, || {
        let primitives = many(facts.with_several_sets, "primitive", "primitives");
        format!(
            "up to {} influences a vertex ({} sets of joints and weights) in {primitives}",
            facts.influence_sets * 4,
            facts.influence_sets
        )
    });
    list.add_of("zero-weights", count(weights.zero), vertices, || format!("{} without any weight", of_vertices(weights.zero)));
    list.add_of("unnormalised-weights", count(weights.unnormalised), vertices, || {
        let [least, largest] = weights.sums.unwrap_or_default();
        format!("the weights of {} do not sum to 1: from {} to {}", of_vertices(weights.unnormalised), digits(least), digits(largest))
    });
}

/// `JOINTS_0 u16` in words.
fn stored(what: &str) -> String {
    let (name, component) = what.rsplit_once(' ').unwrap_or((what, ""));
    match component.strip_suffix('n') {
        Some(integer) => format!("{name} stored as normalised {integer}"),
        None => format!("{name} stored as {component}"),
    }
}

/// Four digits, where [`measure`] has three: sums of weights are near 1.
fn digits(sum: f64) -> String {
    if (0.1..10.0).contains(&sum) {
        let text = format!("{sum:.4}");
        return text.trim_end_matches('0').trim_end_matches('.').into();
    }
    measure(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_sums_are_in_words() {
        assert_eq!(stored("JOINTS_0 u16"), "JOINTS_0 stored as u16");
        assert_eq!(stored("morph POSITION i16n"), "morph POSITION stored as normalised i16");
        assert_eq!([0.898_41, 1.0, 1.019, 12.34].map(digits), ["0.8984", "1", "1.019", "12.3"]);
    }
}
