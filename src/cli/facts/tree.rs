//! Facts of the node tree: where skeletons and meshes hang, and what stands above them.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DMat4, DVec3};

use super::List;
use crate::cli::show::{many, measure};
use crate::scene::{Node, Scene};
use crate::source::Facts;

/// Deviation of a scale from 1, or of axes from each other, that rounding explains.
const SCALE_TOLERANCE: f64 = 1e-3;
/// Deviation of a transform's elements from the identity that rounding explains.
const TRANSFORM_TOLERANCE: f64 = 1e-5;

/// Adds what the tree tells at rest.
pub(super) fn add(scene: &Scene, facts: &Facts, list: &mut List) {
    let worlds = world_matrices(&scene.nodes);
    add_skeletons(scene, &worlds, list);
    add_skinned(scene, &worlds, list);
    add_rigid(scene, &worlds, list);
    add_instances(scene, list);
    list.add("matrix-nodes", facts.matrix_nodes, || {
        format!("{} a matrix instead of translation, rotation and scale", have(facts.matrix_nodes, "node", "nodes"))
    });
    list.add("matrix-joints", facts.matrix_joints, || format!("{} a matrix", have(facts.matrix_joints, "joint", "joints")));
    list.add("node-weights", facts.nodes_with_weights, || {
        format!("{} morph weights of their own, which stand before the mesh's", have(facts.nodes_with_weights, "node", "nodes"))
    });
    list.add("no-inverse-bind", facts.skins_without_inverse_bind, || {
        format!("{} no inverse bind matrices: the identity is taken", have(facts.skins_without_inverse_bind, "skin", "skins"))
    });
}

fn add_skeletons(scene: &Scene, worlds: &[DMat4], list: &mut List) {
    let skins: BTreeSet<usize> = scene.parts.iter().filter_map(|part| part.skin).collect();
    let skins = || skins.iter().filter_map(|&skin| scene.skins.get(skin));
    let joints: BTreeSet<usize> = skins().flat_map(|skin| skin.joints.iter().copied()).collect();
    // A joint that hangs on no joint of its own skin.
    let mut tops = BTreeMap::new();
    for skin in skins() {
        let own: BTreeSet<usize> = skin.joints.iter().copied().collect();
        tops.extend(
            own.iter().map(|&joint| (joint, scene.nodes[joint].parent)).filter(|(_, parent)| parent.is_none_or(|p| !own.contains(&p))),
        );
    }
    let above = || tops.values().flatten().map(|&parent| worlds[parent]);
    let below = above().count();
    list.add("skeleton-below-root", below, || {
        format!("{} below other nodes, not at the scene's root", hang(below, "skeleton root", "skeleton roots"))
    });
    let mirrored = above().filter(is_mirrored).count();
    list.add("skeleton-mirrored", mirrored, || {
        format!("{} below a mirroring transform (negative determinant)", hang(mirrored, "skeleton root", "skeleton roots"))
    });
    let scaled: Vec<_> = above().map(|world| axis_lengths(&world)).filter(is_scaled).collect();
    if let Some(first) = scaled.first() {
        let shown = first.to_array().map(measure).join(", ");
        list.add_what("skeleton-scaled", &shown, scaled.len(), || {
            let of = if scaled.len() == 1 { "" } else { "the first: " };
            format!("{} below a scaled node ({of}{shown})", hang(scaled.len(), "skeleton root", "skeleton roots"))
        });
    }
    let scales = joints.iter().map(|&joint| axis_lengths(&scene.nodes[joint].local.matrix())).filter(is_scaled);
    let (uneven, even): (Vec<_>, Vec<_>) = scales.partition(is_uneven);
    for (what, scales) in [("uniform", even), ("non-uniform", uneven)] {
        list.add_what("joint-scaled", what, scales.len(), || {
            format!("{} a {what} scale other than 1 at rest", have(scales.len(), "joint", "joints"))
        });
    }
    let mut shared: BTreeMap<&[usize], usize> = BTreeMap::new();
    skins().for_each(|skin| *shared.entry(&skin.joints).or_default() += 1);
    let sharing = shared.values().filter(|&&skins| skins > 1).sum();
    list.add("shared-joints", sharing, || format!("{sharing} skins list the same joints as another"));
}

fn add_skinned(scene: &Scene, worlds: &[DMat4], list: &mut List) {
    let nodes: BTreeSet<usize> = scene.parts.iter().filter(|part| part.skin.is_some()).map(|part| part.node).collect();
    let below = nodes.iter().filter(|&&node| scene.nodes[node].parent.is_some()).count();
    list.add("skinned-mesh-below-root", below, || {
        format!("{} below other nodes, not at the scene's root", hang(below, "skinned mesh", "skinned meshes"))
    });
    let moved = nodes.iter().filter(|&&node| !worlds[node].abs_diff_eq(DMat4::IDENTITY, TRANSFORM_TOLERANCE)).count();
    list.add("skinned-mesh-transform", moved, || {
        let meshes = many(moved, "skinned mesh", "skinned meshes");
        format!("{meshes} at a node whose transform is not the identity: it is ignored, as glTF says, since joints place the vertices")
    });
    let mirrored = nodes.iter().filter(|&&node| is_mirrored(&worlds[node])).count();
    list.add("skinned-mesh-mirrored", mirrored, || {
        format!("{} below a mirroring transform (negative determinant)", hang(mirrored, "skinned mesh", "skinned meshes"))
    });
    add_scaled("skinned-mesh-scaled", ["skinned mesh", "skinned meshes"], &nodes, worlds, list);
}

fn add_rigid(scene: &Scene, worlds: &[DMat4], list: &mut List) {
    let nodes: BTreeSet<usize> = scene.parts.iter().filter(|part| part.skin.is_none()).map(|part| part.node).collect();
    add_scaled("rigid-mesh-scaled", ["rigid mesh", "rigid meshes"], &nodes, worlds, list);
    let joints: BTreeSet<usize> = scene.skins.iter().flat_map(|skin| skin.joints.iter().copied()).collect();
    let on_joint = nodes.iter().filter(|&&node| scene.nodes[node].parent.is_some_and(|parent| joints.contains(&parent))).count();
    list.add("rigid-mesh-on-joint", on_joint, || format!("{} on a joint", hang(on_joint, "rigid mesh", "rigid meshes")));
}

fn add_scaled(key: &'static str, [one, more]: [&str; 2], nodes: &BTreeSet<usize>, worlds: &[DMat4], list: &mut List) {
    let scales = nodes.iter().map(|&node| axis_lengths(&worlds[node])).filter(is_scaled);
    let (uneven, even): (Vec<_>, Vec<_>) = scales.partition(is_uneven);
    for (what, scales) in [("uniform", even), ("non-uniform", uneven)] {
        list.add_what(key, what, scales.len(), || format!("{} under a {what} scale", hang(scales.len(), one, more)));
    }
}

fn add_instances(scene: &Scene, list: &mut List) {
    let mut shown: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for part in &scene.parts {
        shown.entry(scene.primitives[part.primitive].mesh).or_default().insert(part.node);
    }
    let several: Vec<_> = shown.values().map(BTreeSet::len).filter(|&nodes| nodes > 1).collect();
    let most = several.iter().copied().max().unwrap_or(0);
    list.add_what("mesh-instances", most.to_string(), several.len(), || {
        format!(
            "{} shown by several nodes, at most {most}: each has vertices of its own in a bake",
            many(several.len(), "mesh is", "meshes are")
        )
    });
}

/// "1 node has", "2 nodes have".
fn have(count: usize, one: &str, more: &str) -> String {
    format!("{} {}", many(count, one, more), if count == 1 { "has" } else { "have" })
}

/// "1 mesh hangs", "2 meshes hang".
fn hang(count: usize, one: &str, more: &str) -> String {
    format!("{} {}", many(count, one, more), if count == 1 { "hangs" } else { "hang" })
}

/// Of every node when nothing plays; parents come first.
fn world_matrices(nodes: &[Node]) -> Vec<DMat4> {
    let mut worlds: Vec<DMat4> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let local = node.local.matrix();
        worlds.push(node.parent.map_or(local, |parent| worlds[parent] * local));
    }
    worlds
}

fn is_mirrored(matrix: &DMat4) -> bool {
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis.truncate());
    x.cross(y).dot(z) < 0.0
}

fn axis_lengths(matrix: &DMat4) -> DVec3 {
    DVec3::from_array([matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis.truncate().length()))
}

fn is_scaled(lengths: &DVec3) -> bool {
    (*lengths - DVec3::ONE).abs().max_element() > SCALE_TOLERANCE
}

fn is_uneven(lengths: &DVec3) -> bool {
    lengths.max_element() - lengths.min_element() > SCALE_TOLERANCE * lengths.max_element()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_told_apart() {
        let matrix = |x, y, z| DMat4::from_scale(DVec3::new(x, y, z));
        let kind = |m: DMat4| (is_scaled(&axis_lengths(&m)), is_uneven(&axis_lengths(&m)), is_mirrored(&m));
        assert_eq!(kind(DMat4::IDENTITY), (false, false, false));
        assert_eq!(kind(matrix(1.0, -1.0, 1.0)), (false, false, true));
        assert_eq!(kind(matrix(100.0, 100.0, 100.0)), (true, false, false));
        assert_eq!(kind(matrix(-2.0, -1.0, 1.0)), (true, true, false));
    }
}
