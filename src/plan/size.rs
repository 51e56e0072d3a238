//! What a bake takes at most: a few bytes of a file may name a mesh on thousands of nodes, each of which has vertices of its own.

use super::build::displacement;
use super::mesh::Morph;
use crate::scene::{Primitive, Scene, Target};
use crate::{Error, Result};

/// The lookup names at most this many vertices through half floats.
const MOST_VERTICES: usize = 1 << 20;
/// Triangles, eight for each vertex of the largest mesh: a mesh shown by many nodes must not fill the memory with indices.
const MOST_TRIANGLES: usize = 1 << 23;
/// Groups of four influences, likewise eight a vertex.
const MOST_INFLUENCES: usize = 1 << 23;
/// Displacements by morph targets that are not zero: a gigabyte, the most that a GPU takes in one buffer. Each instance of a mesh has
/// its own, since its weights are.
const MOST_MORPHS: usize = (1 << 30) / size_of::<Morph>();

/// Refuses parts (indices into [`Scene::parts`]) that unfold to more than a bake takes; `vertices` is how many they have together.
///
/// # Errors
/// [`Error::Bake`] with the numbers.
pub(super) fn check_size(scene: &Scene, parts: &[usize], vertices: usize) -> Result<()> {
    let (mut triangles, mut influences, mut morphs) = (0, 0, 0);
    let mut displacements: Vec<Option<usize>> = vec![None; scene.primitives.len()];
    for part in parts.iter().map(|&p| &scene.parts[p]) {
        let primitive = &scene.primitives[part.primitive];
        triangles += primitive.triangles.len();
        influences += if part.skin.is_some() { primitive.positions.len() * primitive.influences.sets } else { 1 };
        morphs +=
            *displacements[part.primitive].get_or_insert_with(|| primitive.targets.iter().map(|t| count_displacements(primitive, t)).sum());
    }
    for (found, most, what) in [
        (vertices, MOST_VERTICES, "vertices"),
        (triangles, MOST_TRIANGLES, "triangles"),
        (influences, MOST_INFLUENCES, "groups of four influences"),
        (morphs, MOST_MORPHS, "displacements by morph targets"),
    ] {
        if found > most {
            return Err(Error::Bake(format!(
                "{found} {what} are more than the {most} that a bake takes; choose nodes with --only or --exclude, or simplify the model"
            )));
        }
    }
    Ok(())
}

/// Vertices that a morph target moves or turns.
fn count_displacements(primitive: &Primitive, target: &Target) -> usize {
    (0..primitive.positions.len()).filter(|&v| displacement(target, v).is_some()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Part;

    #[test]
    fn few_primitives_on_many_nodes_do_not_fill_the_memory() {
        let refuse = |primitive: Primitive, parts: usize| {
            let part = Part { node: 0, primitive: 0, skin: None };
            let vertices = parts * primitive.positions.len();
            let scene = Scene { primitives: vec![primitive], parts: vec![part; parts], ..Scene::default() };
            check_size(&scene, &(0..parts).collect::<Vec<_>>(), vertices).expect_err("refused").to_string()
        };
        let one = Primitive { positions: vec![[0.0; 3]; 4096], triangles: vec![[0, 1, 2]], ..Primitive::default() };
        assert!(refuse(one.clone(), 257).contains("1052672 vertices are more than the 1048576 "));
        assert!(refuse(Primitive { triangles: vec![[0, 1, 2]; 1 << 20], ..one.clone() }, 9).contains("9437184 triangles"));
        let target = Target { positions: Some(vec![[1.0, 0.0, 0.0]; 4096]), ..Target::default() };
        assert!(refuse(Primitive { targets: vec![target; 64], ..one }, 86).contains("22544384 displacements"));
    }
}
