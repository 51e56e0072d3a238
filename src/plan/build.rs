//! Scene to [`BakeMesh`]: parts chosen, merged by material, vertices numbered, influences pointed at the palette.

use std::collections::HashMap;
use std::num::NonZeroU32;

use bytemuck::Zeroable;
use glam::Vec3;

use super::directions::{add_smooth_faces, compute_tangents};
use super::mesh::{AttributeSet, BakeMesh, Group, Influence, Morph, PaletteEntry, PartRange, Vertex, WeightRun};
use super::select::select;
use super::size::check_size;
use crate::error::count;
use crate::options::{Options, Recompute};
use crate::scene::{Attribute, Part, Primitive, Scene, Target};
use crate::warning::{Code, Warnings};
use crate::{Error, Result};

/// Builds the mesh of a bake from the scene's parts at or below a node of `only` (all where empty) and not at or below one of
/// `exclude`, with normals and tangents as the options ask.
///
/// # Errors
/// [`Error::Usage`] where a pattern means no node, [`Error::Bake`] where nothing is left or there are too many vertices.
pub fn build_mesh(scene: &Scene, options: &Options, warnings: &mut Warnings) -> Result<BakeMesh> {
    let parts = choose_parts(scene, &options.only, &options.exclude)?;
    let is_flat = |part: usize| is_flat(&scene.primitives[scene.parts[part].primitive], options.recompute_normals);
    let corners = |part: usize| {
        let primitive = &scene.primitives[scene.parts[part].primitive];
        if is_flat(part) { primitive.triangles.len() * 3 } else { primitive.positions.len() }
    };
    let total: usize = parts.iter().map(|&p| corners(p)).sum();
    if total == 0 {
        return Err(Error::Bake("there is nothing to bake: the chosen scene and nodes show no triangle".into()));
    }
    check_size(scene, &parts, total)?;
    let mut builder = Builder { scene, mesh: BakeMesh::default(), entries: HashMap::new(), weights: HashMap::new() };
    for (group, members) in group_parts(scene, &parts, options.tangents).into_iter().enumerate() {
        builder.begin_group(&scene.primitives[scene.parts[members[0]].primitive], options.tangents);
        for part in members {
            builder.add_part(group, part, is_flat(part));
        }
    }
    let mut mesh = builder.mesh;
    if options.recompute_normals == Some(Recompute::Smooth) {
        add_smooth_faces(scene, &mut mesh);
    }
    if options.tangents {
        compute_tangents(scene, &mut mesh, warnings);
    }
    let has_normals = |p: usize| scene.primitives[scene.parts[p].primitive].normals.is_some();
    let flat = parts.iter().filter(|&&p| is_flat(p) && !has_normals(p)).count();
    warnings.add(Code::FlatNormals, flat as u64, || {
        format!("{} without normals: flat ones are computed in every frame, and their vertices are no longer shared", count(flat, "part"))
    });
    Ok(mesh)
}

/// What a target does to a vertex: position, normal, tangent; none where it does nothing.
pub(super) fn displacement(target: &Target, v: usize) -> Option<[[f32; 3]; 3]> {
    let of = |deltas: &Option<Vec<[f32; 3]>>| deltas.as_ref().map_or([0.0; 3], |d| d[v]);
    let all = [of(&target.positions), of(&target.normals), of(&target.tangents)];
    (all != [[0.0; 3]; 3]).then_some(all)
}

/// Whether each triangle of a primitive has a normal of its own (glTF 2.0, 3.7.2.1, where the file has none).
fn is_flat(primitive: &Primitive, recompute: Option<Recompute>) -> bool {
    match recompute {
        Some(Recompute::Flat) => true,
        Some(Recompute::Smooth) => false,
        None => primitive.normals.is_none(),
    }
}

/// Names of all nodes of a file, as a user may type them, by the file's own numbers.
pub fn node_names(scene: &Scene) -> Vec<String> {
    let mut names = vec![String::new(); scene.nodes.iter().map(|n| n.source + 1).max().unwrap_or(0)];
    for node in &scene.nodes {
        names[node.source] = node.name.clone().unwrap_or_else(|| format!("node_{}", node.source));
    }
    names
}

/// Indices of the parts to bake.
fn choose_parts(scene: &Scene, only: &[String], exclude: &[String]) -> Result<Vec<usize>> {
    let names = node_names(scene);
    let below = |patterns: &[String]| -> Result<Vec<bool>> {
        let chosen = select(patterns, &names, "node")?;
        let mut inside = vec![false; scene.nodes.len()];
        for (n, node) in scene.nodes.iter().enumerate() {
            inside[n] = chosen.contains(&node.source) || node.parent.is_some_and(|p| inside[p]);
        }
        Ok(inside)
    };
    let (kept, dropped) = (below(only)?, below(exclude)?);
    let is_kept = |part: &Part| (only.is_empty() || kept[part.node]) && !dropped[part.node];
    let parts: Vec<usize> = (0..scene.parts.len()).filter(|&p| is_kept(&scene.parts[p])).collect();
    if parts.is_empty() && !scene.parts.is_empty() {
        return Err(Error::Usage("--only and --exclude leave no part to bake".into()));
    }
    Ok(parts)
}

/// Parts that share material and attributes, in the order of their first appearance.
fn group_parts(scene: &Scene, parts: &[usize], tangents: bool) -> Vec<Vec<usize>> {
    let mut keys: HashMap<(Option<usize>, bool, AttributeSet), usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &part in parts {
        let primitive = &scene.primitives[scene.parts[part].primitive];
        let attributes = primitive.attributes.iter().map(|a| (a.semantic.clone(), a.kind)).collect();
        let key = (primitive.material, tangents || primitive.tangents.is_some(), attributes);
        let group = *keys.entry(key).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(part);
    }
    groups
}

struct Builder<'a> {
    scene: &'a Scene,
    mesh: BakeMesh,
    entries: HashMap<PaletteEntry, u32>,
    weights: HashMap<usize, usize>,
}

impl Builder<'_> {
    fn begin_group(&mut self, first: &Primitive, tangents: bool) {
        let attributes =
            first.attributes.iter().map(|a| Attribute { semantic: a.semantic.clone(), kind: a.kind, bytes: Vec::new() }).collect();
        self.mesh.groups.push(Group {
            material: first.material,
            first_vertex: self.mesh.vertices.len(),
            first_index: self.mesh.indices.len(),
            attributes,
            has_tangents: tangents || first.tangents.is_some(),
            ..Group::default()
        });
    }

    fn add_part(&mut self, group: usize, index: usize, flat: bool) {
        let part = self.scene.parts[index];
        let primitive = &self.scene.primitives[part.primitive];
        let (first_vertex, first_index) = (self.mesh.vertices.len(), self.mesh.indices.len());
        // Which of the primitive's vertices each vertex of the bake is; un-shared where normals are flat.
        let sources: Vec<u32> =
            if flat { primitive.triangles.as_flattened().to_vec() } else { (0..primitive.positions.len() as u32).collect() };
        let triangles: Vec<[u32; 3]> = if flat {
            (0..primitive.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect()
        } else {
            primitive.triangles.clone()
        };
        self.add_vertices(part, primitive, &sources);
        if flat {
            self.add_faces(first_vertex, &triangles);
        }
        let base = first_vertex as u32;
        self.mesh.indices.extend(triangles.iter().flatten().map(|&corner| base + corner));
        let to = &mut self.mesh.groups[group];
        for (to, from) in to.attributes.iter_mut().zip(&primitive.attributes) {
            let size = from.kind.component.size() * usize::from(from.kind.components);
            if flat {
                sources.iter().for_each(|&v| to.bytes.extend_from_slice(&from.bytes[v as usize * size..][..size]));
            } else {
                to.bytes.extend_from_slice(&from.bytes);
            }
        }
        match &primitive.tangents {
            Some(tangents) => self.mesh.hands.extend(sources.iter().map(|&v| tangents[v as usize][3])),
            None => self.mesh.hands.resize(self.mesh.vertices.len(), 0.0),
        }
        let range = PartRange {
            part: index,
            group,
            first_vertex,
            vertex_count: self.mesh.vertices.len() - first_vertex,
            first_index,
            index_count: self.mesh.indices.len() - first_index,
        };
        to.vertex_count += range.vertex_count;
        to.index_count += range.index_count;
        self.mesh.parts.push(range);
    }

    fn add_vertices(&mut self, part: Part, primitive: &Primitive, sources: &[u32]) {
        // A rigid part is a skin with one joint: all of its vertices share one group of influences.
        let rigid = part.skin.is_none().then(|| {
            let joint = self.entry(PaletteEntry::Node(part.node));
            self.mesh.influences.push(Influence { joints: [joint; 4], weights: [1.0, 0.0, 0.0, 0.0] });
            self.mesh.influences.len() as u32 - 1
        });
        let first_weight = (!primitive.targets.is_empty()).then(|| self.weight_run(part.node, primitive.targets.len()));
        // What each of the primitive's vertices needs is written once, however often flat normals repeat it: where it stands first.
        let mut written: Vec<Option<NonZeroU32>> = vec![None; primitive.positions.len()];
        for &source in sources {
            let v = source as usize;
            let vertex = match written[v] {
                Some(number) => self.mesh.vertices[number.get() as usize - 1],
                None => {
                    let (first_set, sets) = match (rigid, part.skin) {
                        (Some(set), _) => (set, 1),
                        (None, Some(skin)) => self.add_influences(primitive, skin, v),
                        (None, None) => unreachable!("a part without a skin is rigid"),
                    };
                    let (first_morph, morph_count) = first_weight.map_or((0, 0), |first| self.add_morphs(primitive, first, v));
                    let normal = primitive.normals.as_ref().map_or([0.0, 0.0, 1.0], |n| n[v]);
                    let position = primitive.positions[v];
                    let [x, y, z, _] = primitive.tangents.as_ref().map_or([0.0; 4], |t| t[v]);
                    let tangent = [x, y, z];
                    Vertex { position, first_set, normal, sets, first_morph, morph_count, tangent, ..Vertex::zeroed() }
                }
            };
            self.mesh.vertices.push(vertex);
            // never 0; `check_size` bounds it
            written[v] = NonZeroU32::new(self.mesh.vertices.len() as u32);
        }
    }

    /// One face a triangle, shared by its three corners; the undeformed face normal is what a corner falls back to.
    fn add_faces(&mut self, first_vertex: usize, triangles: &[[u32; 3]]) {
        for triangle in triangles {
            let corners = triangle.map(|c| first_vertex + c as usize);
            let [a, b, c] = corners.map(|v| Vec3::from(self.mesh.vertices[v].position));
            let normal = (b - a).cross(c - a).normalize_or(Vec3::Z).to_array();
            let first_face = self.mesh.faces.len() as u32;
            self.mesh.faces.push(corners.map(|v| v as u32));
            for v in corners {
                let vertex = &mut self.mesh.vertices[v];
                (vertex.first_face, vertex.face_count, vertex.normal) = (first_face, 1, normal);
            }
        }
    }

    /// Groups of four, the largest weights first: the kernel stops at the first 0.
    fn add_influences(&mut self, primitive: &Primitive, skin: usize, v: usize) -> (u32, u32) {
        let sets = primitive.influences.sets;
        let joints = primitive.influences.joints[v * sets..][..sets].as_flattened();
        let weights = primitive.influences.weights[v * sets..][..sets].as_flattened();
        let mut found: Vec<(u16, f32)> = joints.iter().copied().zip(weights.iter().copied()).filter(|(_, w)| *w != 0.0).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        let first = self.mesh.influences.len();
        for group in found.chunks(4) {
            // a place without weight names the first joint, which is at hand
            let mut entries = [self.entry(PaletteEntry::Joint { skin, joint: group[0].0.into() }); 4];
            let mut weights = [0.0; 4];
            for (k, &(joint, weight)) in group.iter().enumerate() {
                entries[k] = self.entry(PaletteEntry::Joint { skin, joint: joint.into() });
                weights[k] = weight;
            }
            self.mesh.influences.push(Influence { joints: entries, weights });
        }
        (first as u32, (self.mesh.influences.len() - first) as u32)
    }

    fn add_morphs(&mut self, primitive: &Primitive, first_weight: usize, v: usize) -> (u32, u32) {
        let first = self.mesh.morphs.len();
        for (t, target) in primitive.targets.iter().enumerate() {
            if let Some([position, normal, tangent]) = displacement(target, v) {
                let weight = (first_weight + t) as u32;
                self.mesh.morphs.push(Morph { position, weight, normal, tangent, ..Morph::zeroed() });
            }
        }
        (first as u32, (self.mesh.morphs.len() - first) as u32)
    }

    fn entry(&mut self, entry: PaletteEntry) -> u32 {
        let palette = &mut self.mesh.palette;
        *self.entries.entry(entry).or_insert_with(|| {
            palette.push(entry);
            palette.len() as u32 - 1
        })
    }

    fn weight_run(&mut self, node: usize, count: usize) -> usize {
        let mesh = &mut self.mesh;
        *self.weights.entry(node).or_insert_with(|| {
            let first = mesh.weight_count;
            mesh.weights.push(WeightRun { node, first, count });
            mesh.weight_count += count;
            first
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Local, Node, Trs};

    fn node(source: usize, parent: Option<usize>, name: &str) -> Node {
        Node { source, name: Some(name.into()), parent, in_scene: true, local: Local::Trs(Trs::default()), weights: Vec::new() }
    }

    fn triangle(material: Option<usize>, normals: bool) -> Primitive {
        Primitive {
            material,
            positions: vec![[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [1., 1., 0.]],
            normals: normals.then(|| vec![[0., 0., 1.]; 4]),
            triangles: vec![[0, 1, 2], [2, 1, 3]],
            ..Primitive::default()
        }
    }

    fn scene() -> Scene {
        let part = |node, primitive| Part { node, primitive, skin: None };
        Scene {
            nodes: vec![node(2, None, "root"), node(0, Some(0), "body"), node(1, Some(0), "hat")],
            primitives: vec![triangle(Some(1), true), triangle(None, false), triangle(Some(1), true)],
            parts: vec![part(1, 0), part(1, 1), part(2, 2)],
            ..Scene::default()
        }
    }

    #[test]
    fn parts_merge_by_material_and_flat_parts_share_no_vertex() {
        let mesh = build_mesh(&scene(), &Options::default(), &mut Warnings::default()).unwrap();
        let runs: Vec<_> = mesh.groups.iter().map(|g| (g.material, g.first_vertex, g.vertex_count, g.index_count)).collect();
        assert_eq!(runs, [(Some(1), 0, 8, 12), (None, 8, 6, 6)]);
        let parts: Vec<_> = mesh.parts.iter().map(|p| (p.part, p.first_vertex, p.vertex_count)).collect();
        assert_eq!(parts, [(0, 0, 4), (2, 4, 4), (1, 8, 6)]);
        assert_eq!(mesh.palette, [PaletteEntry::Node(1), PaletteEntry::Node(2)]);
        assert_eq!(mesh.indices[12..], [8, 9, 10, 11, 12, 13]);
        assert_eq!((mesh.vertices[13].first_face, mesh.vertices[13].face_count), (1, 1));
    }

    #[test]
    fn displacements_of_many_instances_have_a_limit() {
        let mut scene = scene();
        let target = Target { positions: Some(vec![[1.0, 0.0, 0.0]; 400]), ..Target::default() };
        let still = Target { positions: Some(vec![[0.0; 3]; 400]), ..Target::default() };
        scene.primitives[0].positions = vec![[0.0; 3]; 400];
        scene.primitives[0].normals = Some(vec![[0.0, 0.0, 1.0]; 400]);
        scene.primitives[0].targets = [vec![target; 100], vec![still; 100]].concat();
        scene.parts = vec![scene.parts[0]; 1000];
        let error = build_mesh(&scene, &Options::default(), &mut Warnings::default()).unwrap_err().to_string();
        assert!(error.contains("40000000 displacements"), "{error}");
        scene.parts.truncate(10);
        assert_eq!(build_mesh(&scene, &Options::default(), &mut Warnings::default()).unwrap().morphs.len(), 400_000);
    }

    #[test]
    fn only_and_exclude_mean_whole_branches() {
        let build = |only: &[&str], exclude: &[&str]| {
            let strings = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
            let options = Options { only: strings(only), exclude: strings(exclude), ..Options::default() };
            build_mesh(&scene(), &options, &mut Warnings::default())
        };
        assert_eq!(build(&["root"], &["hat"]).unwrap().parts.len(), 2);
        assert_eq!(build(&["1"], &[]).unwrap().parts.len(), 1, "numbers are the file's own");
        assert!(matches!(build(&["hat"], &["root"]), Err(Error::Usage(_))));
        assert!(matches!(build(&["shield"], &[]), Err(Error::Usage(m)) if m.contains("'body', 'hat', 'root'")));
    }
}
