//! Which node carries a model over the ground.

use super::build::node_names;
use super::mesh::BakeMesh;
use super::select::{list_names, select};
use crate::scene::Scene;
use crate::{Error, Result};

/// The node that `wanted` means (name, glob or number of the file), else the topmost joint of the skin with the most vertices of the
/// bake. An index into [`Scene::nodes`].
///
/// # Errors
/// [`Error::Usage`] where there is no such node, or several.
pub fn find_root(scene: &Scene, mesh: &BakeMesh, wanted: Option<&str>) -> Result<usize> {
    let names = node_names(scene);
    if let Some(wanted) = wanted {
        let found = select(&[wanted.to_owned()], &names, "node")?;
        let [source] = found[..] else {
            let list: Vec<_> = found.iter().map(|&n| format!("{n} ({})", names[n])).collect();
            return Err(Error::Usage(format!(
                "--root '{wanted}' means {} nodes; name one by its number: {}",
                found.len(),
                list.join(", ")
            )));
        };
        let node = scene.nodes.iter().position(|n| n.source == source);
        return node.ok_or_else(|| Error::Usage(format!("no node has the number {source} that --root names")));
    }
    let mut vertices = vec![0; scene.skins.len()];
    for part in &mesh.parts {
        if let Some(skin) = scene.parts[part.part].skin {
            vertices[skin] += part.vertex_count;
        }
    }
    // the first of those with the most
    let most = (0..vertices.len()).rev().filter(|&skin| vertices[skin] > 0).max_by_key(|&skin| vertices[skin]);
    let Some(skin) = most else {
        return Err(Error::Usage(
            "--root-motion strip needs a root joint, but no part that is baked has a skin; name the node that carries the model with --root".into(),
        ));
    };
    let tops = topmost(scene, &scene.skins[skin].joints);
    match tops[..] {
        [root] => Ok(root),
        _ => {
            let list: Vec<_> = tops.iter().map(|&n| names[scene.nodes[n].source].clone()).collect();
            Err(Error::Usage(format!(
                "--root-motion strip finds {} joints that stand below no other ({}); name the node that carries the model with --root",
                tops.len(),
                list_names(&list)
            )))
        }
    }
}

/// The joints that no other joint stands above, in the order of the nodes.
fn topmost(scene: &Scene, joints: &[usize]) -> Vec<usize> {
    let mut is_joint = vec![false; scene.nodes.len()];
    joints.iter().for_each(|&j| is_joint[j] = true);
    let mut is_below = vec![false; scene.nodes.len()];
    let mut tops = Vec::new();
    for (n, node) in scene.nodes.iter().enumerate() {
        is_below[n] = node.parent.is_some_and(|p| is_below[p] || is_joint[p]);
        if is_joint[n] && !is_below[n] {
            tops.push(n);
        }
    }
    tops
}
