//! The node tree: sorted so that parents come first, checked for cycles without recursion, and the choice of a scene.

use glam::{DMat4, DQuat, DVec3};
use gltf::json::Root;

use super::SceneChoice;
use super::document::missing;
use crate::Fault;
use crate::scene::{Local, Node, Trs};
use crate::warning::{Code, Warnings};

/// Largest deviation of a quaternion's length from 1 that rounding explains.
pub(super) const UNIT_TOLERANCE: f64 = 5e-3;

/// Nodes of the file in their new order.
#[derive(Debug)]
pub(super) struct Tree {
    /// Parents before children.
    pub(super) nodes: Vec<Node>,
    /// For each of the file's nodes its place in `nodes`.
    pub(super) place: Vec<usize>,
}

/// The scene to take; none where the file has no scenes. The error is a sentence for the caller who named one that does not exist.
pub(super) fn choose_scene(root: &Root, choice: &SceneChoice, warnings: &mut Warnings) -> Result<Option<usize>, String> {
    let scenes = &root.scenes;
    let numbered = |number: usize| (number < scenes.len()).then_some(number);
    let unknown = |wanted: &str| {
        let list: Vec<_> = scenes.iter().enumerate().map(|(i, s)| format!("{i} ({})", s.name.as_deref().unwrap_or("unnamed"))).collect();
        let has = if list.is_empty() { "no scenes".to_owned() } else { list.join(", ") };
        format!("the scene `{wanted}` does not exist; the file has {has}")
    };
    match choice {
        SceneChoice::Default => {}
        SceneChoice::Written(0) if scenes.is_empty() => return Ok(None),
        SceneChoice::Written(number) => return numbered(*number as usize).map(Some).ok_or_else(|| unknown(&number.to_string())),
        SceneChoice::Asked(wanted) => {
            let by_name = scenes.iter().position(|s| s.name.as_ref() == Some(wanted));
            let by_number = || wanted.parse().ok().and_then(numbered);
            return by_name.or_else(by_number).map(Some).ok_or_else(|| unknown(wanted));
        }
    }
    let chosen = root.scene.map(|s| s.value()).or_else(|| (!scenes.is_empty()).then_some(0));
    if let Some(chosen) = chosen.filter(|_| scenes.len() > 1) {
        let name = scenes.get(chosen).and_then(|s| s.name.as_deref()).unwrap_or("unnamed");
        warnings.add(Code::SceneChosen, 1, || {
            format!("the file has {} scenes; scene {chosen} ({name}) was taken, --scene takes another", scenes.len())
        });
    }
    Ok(chosen)
}

/// Reads and sorts all nodes of the file and marks those that the scene shows.
pub(super) fn read_tree(root: &Root, scene: Option<usize>, warnings: &mut Warnings) -> Result<Tree, Fault> {
    let parents = find_parents(root)?;
    let order = sort(root, &parents)?;
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    let mut nodes = Vec::with_capacity(order.len());
    for &source in &order {
        let json = &root.nodes[source];
        let local = read_local(json, source, warnings)?;
        let weights = default_weights(root, source, warnings)?;
        nodes.push(Node { source, name: json.name.clone(), parent: parents[source].map(|p| place[p]), in_scene: false, local, weights });
    }
    mark_scene(root, scene, &place, &mut nodes, warnings)?;
    Ok(Tree { nodes, place })
}

/// The parent of each node, from the lists of children.
fn find_parents(root: &Root) -> Result<Vec<Option<usize>>, Fault> {
    let count = root.nodes.len();
    let mut parents: Vec<Option<usize>> = vec![None; count];
    for (parent, node) in root.nodes.iter().enumerate() {
        for (i, child) in node.children.iter().flatten().map(|c| c.value()).enumerate() {
            let at = || format!("/nodes/{parent}/children/{i}");
            let Some(slot) = parents.get_mut(child) else { return Err(missing(&at(), "node", child, count)) };
            if let Some(first) = slot.replace(parent) {
                let problem = format!("node {child} has two parents, {first} and {parent}");
                return Err(Fault::new(at(), problem, "a node may hang on one parent only; export the model again"));
            }
        }
    }
    Ok(parents)
}

/// Depth-first order from the nodes without a parent; what is not reached lies on a cycle.
fn sort(root: &Root, parents: &[Option<usize>]) -> Result<Vec<usize>, Fault> {
    let mut order = Vec::with_capacity(parents.len());
    let mut reached = vec![false; parents.len()];
    let mut stack: Vec<usize> = (0..parents.len()).rev().filter(|&n| parents[n].is_none()).collect();
    while let Some(node) = stack.pop() {
        reached[node] = true;
        order.push(node);
        stack.extend(root.nodes[node].children.iter().flatten().rev().map(|c| c.value()));
    }
    match reached.iter().position(|&r| !r) {
        None => Ok(order),
        Some(node) => {
            let problem = format!(
                "node {node} is below itself or below a cycle of nodes ({} of {} nodes hang on no root)",
                parents.len() - order.len(),
                parents.len()
            );
            Err(Fault::new(format!("/nodes/{node}"), problem, "a node tree has no cycles; export the model again"))
        }
    }
}

fn read_local(json: &gltf::json::Node, index: usize, warnings: &mut Warnings) -> Result<Local, Fault> {
    let finite = |name: &str, values: &[f32]| match values.iter().find(|v| !v.is_finite()) {
        Some(v) => Err(Fault::new(
            format!("/nodes/{index}/{name}"),
            format!("the value {v} is not a finite f32"),
            "correct it or export the model again",
        )),
        None => Ok(()),
    };
    if let Some(matrix) = json.matrix {
        finite("matrix", &matrix)?;
        let matrix = DMat4::from_cols_array(&matrix.map(f64::from));
        let has_trs = json.translation.is_some() || json.rotation.is_some() || json.scale.is_some();
        warnings.add(Code::JsonMended, u64::from(has_trs && matrix != DMat4::IDENTITY), || {
            format!("{{count}} departures from the specification were mended, the first: node {index} has a matrix and a translation, rotation or scale; the matrix was taken")
        });
        if matrix != DMat4::IDENTITY {
            return Ok(Local::Matrix(matrix));
        }
    }
    let mut trs = Trs::default();
    if let Some(t) = json.translation {
        finite("translation", &t)?;
        trs.translation = DVec3::from_array(t.map(f64::from));
    }
    if let Some(s) = json.scale {
        finite("scale", &s)?;
        trs.scale = DVec3::from_array(s.map(f64::from));
    }
    if let Some(r) = json.rotation {
        finite("rotation", &r.0)?;
        let (rotation, repaired) = unit_quaternion(r.0, UNIT_TOLERANCE);
        trs.rotation = DQuat::from_array(rotation);
        warnings.add(Code::QuaternionNormalised, u64::from(repaired), || {
            format!("{{count}} quaternions were not of length 1 and were normalised (first: /nodes/{index}/rotation)")
        });
    }
    Ok(Local::Trs(trs))
}

/// A quaternion at length 1, the identity for zero, and whether it was further from 1 than `tolerance`.
pub(super) fn unit_quaternion(q: [f32; 4], tolerance: f64) -> ([f64; 4], bool) {
    let q = q.map(f64::from);
    let length = q.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length < 1e-30 { ([0.0, 0.0, 0.0, 1.0], true) } else { (q.map(|v| v / length), (length - 1.0).abs() > tolerance) }
}

/// Weights of a node's morph targets when nothing plays: the node's, else the mesh's, else zeros (3.7.2.2).
fn default_weights(root: &Root, index: usize, warnings: &mut Warnings) -> Result<Vec<f64>, Fault> {
    let node = &root.nodes[index];
    let Some(mesh_index) = node.mesh.map(|m| m.value()) else { return Ok(Vec::new()) };
    let Some(mesh) = root.meshes.get(mesh_index) else {
        return Err(missing(&format!("/nodes/{index}/mesh"), "mesh", mesh_index, root.meshes.len()));
    };
    let count = target_count(root, mesh_index);
    let (given, at) = match (&node.weights, &mesh.weights) {
        (Some(weights), _) => (weights.as_slice(), format!("/nodes/{index}/weights")),
        (None, Some(weights)) => (weights.as_slice(), format!("/meshes/{mesh_index}/weights")),
        (None, None) => (&[][..], String::new()),
    };
    if let Some(v) = given.iter().find(|v| !v.is_finite()) {
        return Err(Fault::new(at, format!("the value {v} is not a finite f32"), "correct it or export the model again"));
    }
    warnings.add(Code::JsonMended, u64::from(!given.is_empty() && given.len() != count), || {
        format!("{{count}} departures from the specification were mended, the first: {} weights for {count} morph targets at {at}; what lacks is 0", given.len())
    });
    let mut weights: Vec<f64> = given.iter().copied().map(f64::from).collect();
    weights.resize(count, 0.0);
    Ok(weights)
}

/// Number of morph targets of a mesh's primitives, which `mesh` checks to be one number.
pub(super) fn target_count(root: &Root, mesh: usize) -> usize {
    let primitive = root.meshes.get(mesh).and_then(|m| m.primitives.first());
    primitive.and_then(|p| p.targets.as_ref()).map_or(0, Vec::len)
}

/// Marks what stands below the scene's roots; without scenes, everything is shown.
fn mark_scene(root: &Root, scene: Option<usize>, place: &[usize], nodes: &mut [Node], warnings: &mut Warnings) -> Result<(), Fault> {
    let Some(scene) = scene else {
        nodes.iter_mut().for_each(|n| n.in_scene = true);
        return Ok(());
    };
    let Some(json) = root.scenes.get(scene) else { return Err(missing("/scene", "scene", scene, root.scenes.len())) };
    for (i, node) in json.nodes.iter().map(|n| n.value()).enumerate() {
        let Some(&new) = place.get(node) else {
            return Err(missing(&format!("/scenes/{scene}/nodes/{i}"), "node", node, place.len()));
        };
        warnings.add(Code::JsonMended, u64::from(nodes[new].parent.is_some()), || {
            format!("{{count}} departures from the specification were mended, the first: scene {scene} lists node {node}, which has a parent; the parent's transform applies")
        });
        nodes[new].in_scene = true;
    }
    for i in 0..nodes.len() {
        if nodes[i].parent.is_some_and(|p| nodes[p].in_scene) {
            nodes[i].in_scene = true;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_a_sidecar_names_is_no_name() {
        let scenes = |json: serde_json::Value| serde_json::from_value::<Root>(json).expect("a document");
        let choose = |root: &Root, choice| choose_scene(root, &choice, &mut Warnings::default());
        let asset = serde_json::json!({ "version": "2.0" });
        let named = scenes(serde_json::json!({ "asset": asset, "scenes": [{ "name": "1", "nodes": [] }, { "name": "b", "nodes": [] }] }));
        assert_eq!(choose(&named, SceneChoice::of(Some("1"))), Ok(Some(0)), "a name comes before a number");
        assert_eq!(choose(&named, SceneChoice::Written(1)), Ok(Some(1)));
        assert!(choose(&named, SceneChoice::Written(2)).is_err_and(|text| text.contains("`2`") && text.contains("0 (1), 1 (b)")));
        let bare = scenes(serde_json::json!({ "asset": asset }));
        assert_eq!(choose(&bare, SceneChoice::Written(0)), Ok(None));
        assert!(choose(&bare, SceneChoice::Written(1)).is_err() && choose(&bare, SceneChoice::of(Some("0"))).is_err());
    }

    fn root(nodes: &str) -> Root {
        let text = format!(r#"{{"asset":{{"version":"2.0"}},"nodes":[{nodes}]}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn parents_come_first() {
        let tree = read_tree(&root(r#"{},{"children":[0,3]},{"children":[1]},{}"#), None, &mut Warnings::default()).unwrap();
        assert_eq!(tree.nodes.iter().map(|n| n.source).collect::<Vec<_>>(), [2, 1, 0, 3]);
        assert_eq!(tree.nodes.iter().map(|n| n.parent).collect::<Vec<_>>(), [None, Some(0), Some(1), Some(1)]);
        assert_eq!(tree.place, [2, 1, 0, 3]);
    }

    #[test]
    fn cycles_two_parents_and_strangers_are_refused() {
        for nodes in [
            r#"{"children":[0]}"#,
            r#"{},{"children":[2]},{"children":[1]}"#,
            r#"{"children":[2]},{"children":[2]},{}"#,
            r#"{"children":[1]}"#,
        ] {
            assert!(read_tree(&root(nodes), None, &mut Warnings::default()).is_err(), "{nodes}");
        }
    }
}
