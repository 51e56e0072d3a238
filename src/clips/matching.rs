//! Which node of one file is which node of another: by name, else by the path from the root.

use std::collections::HashMap;

use crate::scene::Node;

/// Counterparts of another file's nodes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// For each of the other's nodes the model's node; no two have the same.
    pub to: Vec<Option<usize>>,
    /// The other's nodes whose name did not tell, found by their place in the tree.
    pub by_path: Vec<usize>,
}

/// Finds the counterparts of `other`'s nodes among `model`'s. A name that both files have once decides. Where it is absent or
/// ambiguous, the parents' counterpart does: among its children the one of the same name and rank, or, for a node without a name,
/// the one at the same place, as long as both have equally many.
pub fn match_nodes(model: &[Node], other: &[Node]) -> Matching {
    let (model_names, other_names) = (nodes_by_name(model), nodes_by_name(other));
    let mut found = Matching { to: vec![None; other.len()], by_path: Vec::new() };
    let mut is_taken = vec![false; model.len()];
    for (name, nodes) in &other_names {
        if let ([node], Some([only])) = (&nodes[..], model_names.get(name).map(Vec::as_slice)) {
            found.to[*node] = Some(*only);
            is_taken[*only] = true;
        }
    }
    let (there, here) = (Children::of(model), Children::of(other));
    match_siblings(model, other, &there.roots, &here.roots, &mut found, &mut is_taken);
    // parents come first, so theirs is known
    for (n, children) in here.below.iter().enumerate() {
        if let Some(parent) = found.to[n] {
            match_siblings(model, other, &there.below[parent], children, &mut found, &mut is_taken);
        }
    }
    found
}

/// Children of one counterpart and the other: `there` in the model, `here` in the other file.
fn match_siblings(model: &[Node], other: &[Node], there: &[usize], here: &[usize], found: &mut Matching, is_taken: &mut [bool]) {
    if here.iter().all(|&n| found.to[n].is_some()) {
        return;
    }
    let (there_named, here_named) = (group(model, there), group(other, here));
    let mut rank_of: HashMap<Option<&str>, usize> = HashMap::new();
    for (place, &n) in here.iter().enumerate() {
        let name = name_of(&other[n]);
        let rank = rank_of.entry(name).or_default();
        let same = there_named.get(&name).filter(|there| Some(there.len()) == here_named.get(&name).map(Vec::len));
        let by_rank = same.map(|there| there[*rank]);
        *rank += 1;
        let by_place = || (name.is_none() && there.len() == here.len()).then(|| there[place]);
        let to = by_rank.or_else(by_place).filter(|&to| found.to[n].is_none() && !is_taken[to]);
        if let Some(to) = to {
            found.to[n] = Some(to);
            is_taken[to] = true;
            found.by_path.push(n);
        }
    }
}

/// Nodes of a list by their name.
fn group<'a>(nodes: &'a [Node], list: &[usize]) -> HashMap<Option<&'a str>, Vec<usize>> {
    let mut groups: HashMap<_, Vec<usize>> = HashMap::new();
    for &n in list {
        groups.entry(name_of(&nodes[n])).or_default().push(n);
    }
    groups
}

/// A name that tells something.
fn name_of(node: &Node) -> Option<&str> {
    node.name.as_deref().filter(|name| !name.is_empty())
}

/// Nodes of each name; those of the scene that is shown alone, where some are.
fn nodes_by_name(nodes: &[Node]) -> HashMap<&str, Vec<usize>> {
    let mut names: HashMap<&str, Vec<usize>> = HashMap::new();
    for (n, node) in nodes.iter().enumerate() {
        if let Some(name) = name_of(node) {
            names.entry(name).or_default().push(n);
        }
    }
    for same in names.values_mut().filter(|same| same.len() > 1) {
        if same.iter().any(|&n| nodes[n].in_scene) {
            same.retain(|&n| nodes[n].in_scene);
        }
    }
    names
}

/// Children in the file's order.
struct Children {
    roots: Vec<usize>,
    below: Vec<Vec<usize>>,
}

impl Children {
    fn of(nodes: &[Node]) -> Self {
        let mut children = Self { roots: Vec::new(), below: vec![Vec::new(); nodes.len()] };
        for (n, node) in nodes.iter().enumerate() {
            match node.parent {
                None => children.roots.push(n),
                Some(parent) => children.below[parent].push(n),
            }
        }
        children
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Local, Trs};

    /// Nodes from names (`_` for none) and parents.
    fn tree(nodes: &[(&str, Option<usize>)]) -> Vec<Node> {
        let node = |(source, &(name, parent)): (usize, &(&str, Option<usize>))| Node {
            source,
            name: (name != "_").then(|| name.to_owned()),
            parent,
            in_scene: true,
            local: Local::Trs(Trs::default()),
            weights: Vec::new(),
        };
        nodes.iter().enumerate().map(node).collect()
    }

    #[test]
    fn names_decide_wherever_they_stand() {
        let model = tree(&[("Armature", None), ("Hips", Some(0)), ("Head", Some(1)), ("Body", None)]);
        let other = tree(&[("Hips", None), ("Spine", Some(0)), ("Head", Some(1))]);
        assert_eq!(match_nodes(&model, &other), Matching { to: vec![Some(1), None, Some(2)], by_path: vec![] });
    }

    #[test]
    fn equal_names_go_by_their_path() {
        let model = tree(&[("L", None), ("Hand", Some(0)), ("Tip", Some(1)), ("R", None), ("Hand", Some(3)), ("Tip", Some(4))]);
        let other = tree(&[("R", None), ("Hand", Some(0)), ("Tip", Some(1)), ("L", None), ("Hand", Some(3)), ("Tip", Some(4))]);
        let found = match_nodes(&model, &other);
        assert_eq!(found.to, [3, 4, 5, 0, 1, 2].map(Some));
        assert_eq!(found.by_path, [1, 2, 4, 5]);
    }

    #[test]
    fn nodes_without_names_go_by_their_place() {
        let model = tree(&[("_", None), ("_", Some(0)), ("_", Some(0)), ("tail", Some(0))]);
        let other = tree(&[("", None), ("_", Some(0)), ("_", Some(0)), ("_", Some(0))]);
        // The third has no name here and one there: same place among as many children.
        assert_eq!(match_nodes(&model, &other).to, [0, 1, 2, 3].map(Some));
        let fewer = tree(&[("_", None), ("_", Some(0))]);
        assert_eq!(match_nodes(&model, &fewer).to, [Some(0), None], "one child of three could be any");
    }

    #[test]
    fn no_node_has_two_counterparts() {
        let model = tree(&[("_", None), ("Hips", Some(0))]);
        let other = tree(&[("_", None), ("_", Some(0)), ("Hips", None)]);
        assert_eq!(match_nodes(&model, &other).to, [Some(0), None, Some(1)], "the place below the root is taken");
        let other = tree(&[("_", None), ("_", Some(0)), ("Hips", Some(1))]);
        assert_eq!(match_nodes(&model, &other).to, [Some(0), None, Some(1)]);
    }
}
