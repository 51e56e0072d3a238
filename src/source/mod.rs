//! Read: glTF or GLB bytes to a [`Scene`]. The only place that knows accessors, sparse data, strides and extensions.

mod accessor;
mod carried;
mod clip;
mod compression;
mod container;
mod document;
mod draco;
mod elements;
mod extensions;
mod facts;
mod influences;
mod json;
mod mesh;
mod nodes;
mod skin;
mod topology;
mod uri;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::options::Input;
use crate::scene::{Node, Origin, Part, Primitive, Scene, Skin};
use crate::warning::{Code, Warnings};
use crate::{Error, Fault, Result};
pub(crate) use clip::free_animated_matrices;
pub(crate) use container::read_whole;
use document::{Document, missing};
pub use facts::{Facts, WeightFacts};
use uri::Folder;

/// What is to be read.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Which scene.
    pub scene: SceneChoice,
    /// Follow URIs that leave the model's folder.
    pub allow_outside: bool,
    /// Read nodes and animations alone, of all scenes: neither meshes nor skins, materials and images.
    pub motion_only: bool,
}

/// Which scene of a file is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SceneChoice {
    /// The file's default, else the first; everything where the file has no scenes.
    #[default]
    Default,
    /// By name, else by number.
    Asked(String),
    /// The number that a sidecar names: 0 too where the file has no scenes.
    Written(u32),
}

impl SceneChoice {
    /// What a caller asked for, if anything.
    pub fn of(asked: Option<&str>) -> Self {
        asked.map_or(Self::Default, |asked| Self::Asked(asked.into()))
    }
}

/// Reads a model.
///
/// # Errors
/// [`Error::Io`] where the file cannot be read, [`Error::Model`] where the model is broken, a side file is missing or something is
/// asked for that is not supported, [`Error::Usage`] where the scene does not exist.
pub fn read(input: &Input, settings: &Settings, warnings: &mut Warnings) -> Result<Scene> {
    read_with_facts(input, settings, warnings).map(|(scene, _)| scene)
}

/// Reads a model and says how the file says what it says.
///
/// # Errors
/// As [`read`].
pub fn read_with_facts(input: &Input, settings: &Settings, warnings: &mut Warnings) -> Result<(Scene, Facts)> {
    let path = input.path();
    let (bytes, folder) = match input {
        Input::File(path) => {
            let bytes = File::open(path).and_then(read_whole).map_err(Error::io("read the model", path))?;
            (Cow::Owned(bytes), Folder::of(path, settings.allow_outside))
        }
        Input::Bytes { bytes, .. } => (Cow::Borrowed(bytes.as_slice()), Folder::none()),
    };
    let is_file = matches!(input, Input::File(_));
    read_bytes(&bytes, folder, &path, is_file, settings, warnings).map_err(|stop| match stop {
        Stop::Fault(fault) => Error::Model { fault, path },
        Stop::Usage(message) => Error::Usage(message),
    })
}

/// Why reading ended.
enum Stop {
    Fault(Fault),
    Usage(String),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

fn read_bytes(
    bytes: &[u8],
    folder: Folder,
    path: &Path,
    is_file: bool,
    settings: &Settings,
    warnings: &mut Warnings,
) -> Result<(Scene, Facts), Stop> {
    let layout = container::locate(bytes, warnings)?;
    let mut parsed = json::parse(&bytes[layout.json], warnings)?;
    let images = carried::take_array(&mut parsed.carried, "images")?;
    let doc = Document::new(parsed.root, bytes, layout.bin, folder);
    extensions::check(&doc, warnings)?;
    let scene = match settings.motion_only {
        true => None,
        false => nodes::choose_scene(&doc.root, &settings.scene, warnings).map_err(Stop::Usage)?,
    };
    // Every node has weights for all targets of its mesh.
    let weights = doc.root.nodes.iter().filter_map(|n| n.mesh).map(|m| nodes::target_count(&doc.root, m.value()) as u64).sum();
    doc.reserve(weights, size_of::<f64>() as u64, "/nodes")?;
    let mut tree = nodes::read_tree(&doc.root, scene, warnings)?;
    let origin = Origin {
        file: path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
        sha256: Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect(),
        scene: scene.unwrap_or(0),
        files: if is_file { doc.files(path, &images) } else { Vec::new() },
    };
    if settings.motion_only {
        let clips = clip::read_clips(&doc, &mut tree, &parsed.ignored_channels, warnings)?;
        return Ok((Scene { origin, nodes: tree.nodes, clips, ..Scene::default() }, facts::gather_facts(&doc, scene)));
    }
    let skins = skin::read_skins(&doc, &tree.place, warnings)?;
    let carried = carried::read_carried(&doc, parsed.carried, images, warnings)?;
    let (mut primitives, parts) = read_parts(&doc, &tree, &skins, carried.materials.len(), warnings)?;
    for primitive in &mut primitives {
        primitive.normal_map_uv = primitive.material.map_or(0, |m| carried::normal_map_uv(&carried.materials[m]));
    }
    report_joints_outside(&parts, &skins, &tree.nodes, warnings);
    let clips = clip::read_clips(&doc, &mut tree, &parsed.ignored_channels, warnings)?;
    let facts = facts::gather_facts(&doc, scene);
    Ok((Scene { origin, nodes: tree.nodes, skins, primitives, parts, clips, carried }, facts))
}

/// A node of the scene that shows a mesh: indices in the file.
#[derive(Debug, Clone, Copy)]
struct Shown {
    /// Index into [`Scene::nodes`].
    node: usize,
    mesh: usize,
    skin: Option<usize>,
}

/// Decodes every mesh that the scene shows, and lists who shows what.
fn read_parts(
    doc: &Document<'_>,
    tree: &nodes::Tree,
    skins: &[Skin],
    materials: usize,
    warnings: &mut Warnings,
) -> Result<(Vec<Primitive>, Vec<Part>), Fault> {
    let shown = find_shown(doc, tree, skins)?;
    let mut primitives = Vec::new();
    // Per mesh of the file, its primitives that have something to bake.
    let mut decoded: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    // Joints of the smallest skin that each mesh is shown with.
    let mut joint_counts: BTreeMap<usize, Option<usize>> = BTreeMap::new();
    for show in &shown {
        let count = show.skin.and_then(|skin| Some(skins.get(skin)?.joints.len()));
        let least = joint_counts.entry(show.mesh).or_default();
        *least = (*least).into_iter().chain(count).min();
    }
    for (mesh, joint_count) in joint_counts {
        check_targets(doc, mesh)?;
        let count = doc.root.meshes[mesh].primitives.len();
        warnings.add(Code::PrimitiveSkipped, u64::from(count == 0), || {
            format!("{{count}} primitives were left out, the first: /meshes/{mesh} has no primitives at all")
        });
        for primitive in 0..count {
            if let Some(read) = mesh::read_primitive(doc, mesh::Place { mesh, primitive }, joint_count, materials, warnings)? {
                decoded.entry(mesh).or_default().push(primitives.len());
                primitives.push(read);
            }
        }
    }
    let mut parts = Vec::new();
    for show in shown {
        let decoded = decoded.get(&show.mesh).map_or(&[][..], Vec::as_slice);
        doc.reserve(decoded.len() as u64, size_of::<Part>() as u64, "/nodes")?;
        for &primitive in decoded {
            let influenced = primitives[primitive].influences.sets > 0;
            let source = tree.nodes[show.node].source;
            warnings.add(Code::SkinWithoutInfluences, u64::from(show.skin.is_some() && !influenced), || {
                format!(
                    "{{count}} parts have either a skin or JOINTS and WEIGHTS but not both (first: node {source}); they follow their node"
                )
            });
            parts.push(Part { node: show.node, primitive, skin: show.skin.filter(|_| influenced) });
        }
    }
    Ok((primitives, parts))
}

/// The nodes of the scene that have a mesh, by their index in the file.
fn find_shown(doc: &Document<'_>, tree: &nodes::Tree, skins: &[Skin]) -> Result<Vec<Shown>, Fault> {
    let mut shown = Vec::new();
    for (source, json) in doc.root.nodes.iter().enumerate() {
        let node = tree.place[source];
        let Some(mesh) = json.mesh.map(|m| m.value()).filter(|_| tree.nodes[node].in_scene) else { continue };
        if mesh >= doc.root.meshes.len() {
            return Err(missing(&format!("/nodes/{source}/mesh"), "mesh", mesh, doc.root.meshes.len()));
        }
        let skin = json.skin.map(|s| s.value());
        if let Some(skin) = skin.filter(|&s| s >= skins.len()) {
            return Err(missing(&format!("/nodes/{source}/skin"), "skin", skin, skins.len()));
        }
        shown.push(Shown { node, mesh, skin });
    }
    Ok(shown)
}

/// All primitives of a mesh have the same number of morph targets (3.7.2.2).
fn check_targets(doc: &Document<'_>, mesh: usize) -> Result<(), Fault> {
    let wanted = nodes::target_count(&doc.root, mesh);
    for (i, primitive) in doc.root.meshes[mesh].primitives.iter().enumerate() {
        let found = primitive.targets.as_ref().map_or(0, Vec::len);
        if found != wanted {
            let problem = format!("the primitive has {found} morph targets, primitive 0 has {wanted}");
            return Err(Fault::new(format!("/meshes/{mesh}/primitives/{i}/targets"), problem, "export the model again"));
        }
    }
    Ok(())
}

/// Joints that move parts of the scene without being part of it.
fn report_joints_outside(parts: &[Part], skins: &[Skin], nodes: &[Node], warnings: &mut Warnings) {
    let used: BTreeSet<usize> = parts.iter().filter_map(|p| p.skin).collect();
    let joints = used.into_iter().filter_map(|s| skins.get(s)).flat_map(|s| &s.joints);
    let outside: BTreeSet<usize> = joints.copied().filter(|&j| !nodes[j].in_scene).collect();
    warnings.add(Code::JointOutsideScene, outside.len() as u64, || {
        let first = outside.first().map_or(0, |&j| nodes[j].source);
        format!("{{count}} joints are not part of the scene (first: node {first}); they move the mesh all the same")
    });
}
