//! How a file says what it says: what the decoded scene no longer shows, counted for those who wonder about a model.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use gltf::json::accessor::ComponentType;
use gltf::json::animation::Property;
use gltf::json::mesh::{Primitive, Semantic};
use gltf::json::validation::Checked;
use gltf::json::{Accessor, Index, Root};

use super::document::Document;

/// Counts over a whole file, whatever the scene shows of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Names of the scenes.
    pub scenes: Vec<Option<String>>,
    /// Whether the file says which scene is the one to show.
    pub has_default_scene: bool,
    /// Nodes that the scene taken lists.
    pub scene_roots: usize,
    /// Primitives of all meshes.
    pub primitives: usize,
    /// Primitives without NORMAL.
    pub without_normals: usize,
    /// Primitives without indices.
    pub without_indices: usize,
    /// Primitives with more than one set of four influences.
    pub with_several_sets: usize,
    /// Most sets of four influences of a primitive.
    pub influence_sets: usize,
    /// Primitives by attribute and component type, as in `JOINTS_0 u16`; only types that are not the plain one (f32, for joints u8).
    pub attribute_types: BTreeMap<String, usize>,
    /// Channels by path and component type of their values, as in `rotation i16n`; only other types than f32.
    pub output_types: BTreeMap<String, usize>,
    /// Sparse accessors.
    pub sparse: usize,
    /// Sparse accessors without a buffer view of their own.
    pub sparse_without_base: usize,
    /// Buffer views in which several vertex attributes alternate.
    pub interleaved_views: usize,
    /// Nodes that have a matrix.
    pub matrix_nodes: usize,
    /// Joints that have a matrix.
    pub matrix_joints: usize,
    /// Nodes with morph weights of their own.
    pub nodes_with_weights: usize,
    /// Skins without inverse bind matrices.
    pub skins_without_inverse_bind: usize,
    /// Extensions of the file, and whether they are required.
    pub extensions: BTreeMap<String, bool>,
    /// Weights as they were before they were normalised.
    pub weights: WeightFacts,
}

/// Sums of the weights of all skinned vertices that were read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WeightFacts {
    /// Vertices with influences.
    pub vertices: u64,
    /// Vertices without any weight.
    pub zero: u64,
    /// Vertices whose weights do not sum to 1.
    pub unnormalised: u64,
    /// Smallest and largest sum of a vertex that has weights.
    pub sums: Option<[f64; 2]>,
}

impl WeightFacts {
    /// Adds the sum of a vertex that has weights.
    pub(super) fn add_sum(&mut self, sum: f64) {
        let [least, largest] = self.sums.unwrap_or([sum; 2]);
        self.sums = Some([least.min(sum), largest.max(sum)]);
    }

    /// Adds the vertices of another primitive.
    pub(super) fn merge(&mut self, other: Self) {
        self.vertices += other.vertices;
        self.zero += other.zero;
        self.unnormalised += other.unnormalised;
        other.sums.into_iter().flatten().for_each(|sum| self.add_sum(sum));
    }
}

/// What is seen while data is decoded; a document is read through shared references.
pub(super) type Seen = RefCell<WeightFacts>;

/// Counts what a document holds. `scene` is the one taken.
pub(super) fn gather_facts(doc: &Document<'_>, scene: Option<usize>) -> Facts {
    let root = &doc.root;
    let primitives = || root.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let joints: BTreeSet<usize> = root.skins.iter().flat_map(|skin| &skin.joints).map(Index::value).collect();
    let matrices = || root.nodes.iter().enumerate().filter(|(_, node)| node.matrix.is_some()).map(|(index, _)| index);
    let sparse = || root.accessors.iter().filter(|a| a.sparse.is_some());
    let used = root.extensions_used.iter().map(|name| (name.clone(), false));
    let required = root.extensions_required.iter().map(|name| (name.clone(), true));
    Facts {
        scenes: root.scenes.iter().map(|scene| scene.name.clone()).collect(),
        has_default_scene: root.scene.is_some(),
        scene_roots: scene.and_then(|s| root.scenes.get(s)).map_or(0, |scene| scene.nodes.len()),
        primitives: primitives().count(),
        without_normals: primitives().filter(|p| !p.attributes.contains_key(&Checked::Valid(Semantic::Normals))).count(),
        without_indices: primitives().filter(|p| p.indices.is_none()).count(),
        with_several_sets: primitives().filter(|p| influence_sets(p) > 1).count(),
        influence_sets: primitives().map(influence_sets).max().unwrap_or(0),
        attribute_types: count_names(primitives().flat_map(|p| attribute_types(root, p))),
        output_types: count_names(output_types(root)),
        sparse: sparse().count(),
        sparse_without_base: sparse().filter(|a| a.buffer_view.is_none()).count(),
        interleaved_views: interleaved_views(root),
        matrix_nodes: matrices().count(),
        matrix_joints: matrices().filter(|index| joints.contains(index)).count(),
        nodes_with_weights: root.nodes.iter().filter(|node| node.weights.is_some()).count(),
        skins_without_inverse_bind: root.skins.iter().filter(|skin| skin.inverse_bind_matrices.is_none()).count(),
        extensions: used.chain(required).collect(),
        weights: *doc.seen.borrow(),
    }
}

fn influence_sets(primitive: &Primitive) -> usize {
    primitive.attributes.keys().filter(|semantic| matches!(semantic, Checked::Valid(Semantic::Joints(_)))).count()
}

fn count_names(names: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}

/// Attributes of a primitive that move vertices or name texels, where their type is not the plain one; each name once.
fn attribute_types(root: &Root, primitive: &Primitive) -> BTreeSet<String> {
    let mut named: Vec<(String, Index<Accessor>)> = Vec::new();
    for (semantic, accessor) in &primitive.attributes {
        if let Checked::Valid(semantic) = semantic
            && !matches!(semantic, Semantic::Colors(_) | Semantic::Extras(_))
        {
            named.push((semantic.to_string(), *accessor));
        }
    }
    for target in primitive.targets.iter().flatten() {
        let attributes = [("POSITION", target.positions), ("NORMAL", target.normals), ("TANGENT", target.tangents)];
        named.extend(attributes.into_iter().filter_map(|(name, accessor)| Some((format!("morph {name}"), accessor?))));
    }
    let plain = |name: &str| if name.starts_with("JOINTS_") { "u8" } else { "f32" };
    let typed = named.into_iter().filter_map(|(name, accessor)| Some((component_name(root, accessor)?, name)));
    typed.filter(|(component, name)| component != plain(name)).map(|(component, name)| format!("{name} {component}")).collect()
}

/// Values of channels that are not f32.
fn output_types(root: &Root) -> impl Iterator<Item = String> {
    root.animations.iter().flat_map(|animation| {
        animation.channels.iter().filter_map(|channel| {
            let component = component_name(root, animation.samplers.get(channel.sampler.value())?.output)?;
            let path = match channel.target.path {
                Checked::Valid(Property::Translation) => "translation",
                Checked::Valid(Property::Rotation) => "rotation",
                Checked::Valid(Property::Scale) => "scale",
                Checked::Valid(Property::MorphTargetWeights) => "weights",
                Checked::Invalid => return None,
            };
            (component != "f32").then(|| format!("{path} {component}"))
        })
    })
}

/// `u16`, or `u16n` where it is normalized.
fn component_name(root: &Root, accessor: Index<Accessor>) -> Option<String> {
    let accessor = root.accessors.get(accessor.value())?;
    let Checked::Valid(component) = accessor.component_type else { return None };
    let name = match component.0 {
        ComponentType::I8 => "i8",
        ComponentType::U8 => "u8",
        ComponentType::I16 => "i16",
        ComponentType::U16 => "u16",
        ComponentType::U32 => "u32",
        ComponentType::F32 => "f32",
    };
    Some(format!("{name}{}", if accessor.normalized && name != "f32" { "n" } else { "" }))
}

/// Buffer views with a stride in which attributes begin at different places of the first element.
fn interleaved_views(root: &Root) -> usize {
    let mut starts: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    for index in root.meshes.iter().flat_map(|mesh| &mesh.primitives).flat_map(|p| p.attributes.values()) {
        let Some(accessor) = root.accessors.get(index.value()) else { continue };
        let Some(view) = accessor.buffer_view.map(|view| view.value()) else { continue };
        let stride = root.buffer_views.get(view).and_then(|v| v.byte_stride).map_or(0, |stride| stride.0 as u64);
        let offset = accessor.byte_offset.unwrap_or_default().0;
        if offset < stride {
            starts.entry(view).or_default().insert(offset);
        }
    }
    starts.values().filter(|offsets| offsets.len() > 1).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_primitives_come_together() {
        let mut all = WeightFacts::default();
        all.merge(WeightFacts { vertices: 3, zero: 1, unnormalised: 0, sums: None });
        assert_eq!(all.sums, None);
        all.merge(WeightFacts { vertices: 2, zero: 0, unnormalised: 1, sums: Some([0.5, 1.0]) });
        all.merge(WeightFacts { vertices: 1, zero: 0, unnormalised: 1, sums: Some([1.25, 1.25]) });
        assert_eq!(all, WeightFacts { vertices: 6, zero: 1, unnormalised: 2, sums: Some([0.5, 1.25]) });
    }

    #[test]
    fn attributes_that_alternate_are_told_from_those_one_after_the_other() {
        let views = |second_offset: u64| {
            let text = format!(
                r#"{{"asset":{{"version":"2.0"}},"buffers":[{{"byteLength":96}}],"bufferViews":[{{"buffer":0,"byteLength":96,"byteStride":24}}],
                "accessors":[{{"bufferView":0,"componentType":5126,"count":2,"type":"VEC3"}},
                {{"bufferView":0,"byteOffset":{second_offset},"componentType":5126,"count":2,"type":"VEC3"}}],
                "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"NORMAL":1}}}}]}}]}}"#
            );
            interleaved_views(&serde_json::from_str(&text).unwrap())
        };
        assert_eq!((views(12), views(48)), (1, 0));
    }
}
