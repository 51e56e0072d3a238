//! The static mesh: a GLB with the rest pose, the lookup UV set and the source's materials.
//!
//! Nodes have no transform, since positions are those of the scene. Vertices keep the order of the bake, and each attribute has a
//! buffer view of its own. Images, positions and normals go from where they are straight to the file.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::plan::mesh::{BakeMesh, Group};
use crate::scene::Scene;
use crate::warning::Warnings;
use crate::{Error, Result};

use bin::Bin;

mod bin;
mod lookup;
mod materials;
#[cfg(test)]
mod tests;

/// What to write.
#[derive(Debug, Clone, Copy)]
pub struct MeshFile<'a> {
    /// The source, for names and materials.
    pub scene: &'a Scene,
    /// Groups, parts, indices and carried attributes.
    pub mesh: &'a BakeMesh,
    /// Rest positions, one a vertex.
    pub positions: &'a [[f32; 3]],
    /// Rest normals, one a vertex; empty for a mesh without.
    pub normals: &'a [[f32; 3]],
    /// Rest tangents, one a vertex, used where [`Group::has_tangents`]; empty for a mesh without.
    pub tangents: &'a [[f32; 4]],
    /// Vertices of a row of the lookup.
    pub lanes: u32,
    /// Rows of the lookup.
    pub groups: u32,
    /// UV set that is to receive the lookup.
    pub uv_set: u32,
    /// One node and mesh a part instead of one of each.
    pub keep_parts: bool,
    /// Name of the node and mesh.
    pub name: &'a str,
    /// Where the file will stand: for messages.
    pub path: &'a Path,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshWritten {
    /// SHA-256 of the file, lower-case hexadecimal.
    pub sha256: String,
    /// Size of the file.
    pub bytes: u64,
    /// UV set that received the lookup.
    pub texcoord: u32,
    /// Nodes, each with a mesh.
    pub nodes: usize,
    /// Primitives over all meshes: draw calls.
    pub primitives: usize,
    /// Materials.
    pub materials: usize,
}

/// A run of vertices and indices that becomes a primitive.
#[derive(Debug, Clone, Copy)]
struct Run<'a> {
    group: &'a Group,
    first_vertex: usize,
    vertex_count: usize,
    first_index: usize,
    index_count: usize,
}

/// Writes the mesh as GLB. Nothing is written where it returns an error other than of writing.
pub fn write_mesh(file: &MeshFile<'_>, out: &mut dyn Write, warnings: &mut Warnings) -> Result<MeshWritten> {
    if let Some(i) = file.positions.iter().position(|p| !p.iter().all(|v| v.is_finite())) {
        return Err(Error::Bake(format!("vertex {i} of the rest pose has a position that is not a number: {}", file.path.display())));
    }
    let mut bin = Bin::default();
    let shown = file.mesh.groups.iter().filter(|g| g.index_count > 0);
    let parcel = materials::pack(&file.scene.carried, shown.filter_map(|g| g.material), &mut bin);
    let texcoord = lookup::choose_set(&file.mesh.groups, &parcel, file.uv_set, warnings);

    let (mut nodes, mut meshes, mut primitives) = (Vec::new(), Vec::new(), 0);
    for (name, runs) in list_meshes(file) {
        let written: Vec<Value> = runs.iter().map(|run| write_primitive(file, run, &parcel, texcoord, &mut bin)).collect();
        primitives += written.len();
        nodes.push(json!({ "name": name, "mesh": meshes.len() }));
        meshes.push(json!({ "name": name, "primitives": written }));
    }
    if primitives == 0 {
        return Err(Error::Bake(format!("the bake has no triangle, so there is no mesh to write: {}", file.path.display())));
    }
    let (node_count, materials) = (nodes.len(), parcel.materials.len());

    let mut root = Map::new();
    let mut asset = json!({ "version": "2.0", "generator": crate::GENERATOR });
    if let Some(copyright) = &file.scene.carried.copyright {
        asset["copyright"] = copyright.as_str().into();
    }
    root.insert("asset".into(), asset);
    root.insert("scene".into(), 0.into());
    root.insert("scenes".into(), json!([{ "nodes": (0..node_count).collect::<Vec<_>>() }]));
    root.insert("nodes".into(), nodes.into());
    root.insert("meshes".into(), meshes.into());
    parcel.add_to(&mut root, &file.scene.carried);
    root.insert("accessors".into(), std::mem::take(&mut bin.accessors).into());
    root.insert("bufferViews".into(), std::mem::take(&mut bin.views).into());
    root.insert("buffers".into(), json!([{ "byteLength": bin.length }]));

    let mut hashed = Hashed { out, hash: Sha256::new(), bytes: 0 };
    write_container(&Value::Object(root), &bin, &mut hashed, file.path)?;
    let sha256 = hashed.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(MeshWritten { sha256, bytes: hashed.bytes, texcoord, nodes: node_count, primitives, materials })
}

/// The meshes with their names: one of all groups, or one a part.
fn list_meshes<'a>(file: &MeshFile<'a>) -> Vec<(String, Vec<Run<'a>>)> {
    let (mesh, scene) = (file.mesh, file.scene);
    if !file.keep_parts {
        let runs = mesh.groups.iter().filter(|g| g.index_count > 0).map(|group| Run {
            group,
            first_vertex: group.first_vertex,
            vertex_count: group.vertex_count,
            first_index: group.first_index,
            index_count: group.index_count,
        });
        return vec![(file.name.to_string(), runs.collect())];
    }
    let parts = mesh.parts.iter().enumerate().filter(|(_, part)| part.index_count > 0);
    let named = parts.map(|(number, part)| {
        let node = scene.parts.get(part.part).and_then(|p| scene.nodes.get(p.node));
        let name = node.and_then(|n| n.name.clone()).unwrap_or_else(|| format!("{}_{number}", file.name));
        let run = Run {
            group: &mesh.groups[part.group],
            first_vertex: part.first_vertex,
            vertex_count: part.vertex_count,
            first_index: part.first_index,
            index_count: part.index_count,
        };
        (name, vec![run])
    });
    named.collect()
}

fn write_primitive<'a>(file: &MeshFile<'a>, run: &Run<'a>, parcel: &materials::Parcel, texcoord: u32, bin: &mut Bin<'a>) -> Value {
    let vertices = run.first_vertex..run.first_vertex + run.vertex_count;
    let mut attributes = Map::new();
    let mut add = |name: &str, accessor: usize| attributes.insert(name.into(), accessor.into());

    let positions = &file.positions[vertices.clone()];
    let position = bin.add_array(positions.into());
    let [min, max] = find_range(positions);
    bin.accessors[position]["min"] = json!(min);
    bin.accessors[position]["max"] = json!(max);
    add("POSITION", position);
    if !file.normals.is_empty() {
        add("NORMAL", bin.add_array(unit_normals(&file.normals[vertices.clone()])));
        if run.group.has_tangents && !file.tangents.is_empty() {
            add("TANGENT", bin.add_array(unit_tangents(&file.tangents[vertices.clone()])));
        }
    }
    let first = run.first_vertex - run.group.first_vertex;
    let sets = lookup::count_sets(run.group, parcel, texcoord);
    for set in 0..sets {
        let name = format!("TEXCOORD_{set}");
        if set == texcoord {
            add(&name, bin.add_array(lookup::lookup_uvs(vertices.clone(), file.lanes, file.groups).into()));
        } else if let Some(carried) = run.group.attributes.iter().find(|a| a.semantic == name) {
            add(&name, bin.add_attribute(carried, first, run.vertex_count));
        } else {
            add(&name, bin.add_array(vec![[0.0; 2]; run.vertex_count].into()));
        }
    }
    for carried in run.group.attributes.iter().filter(|a| !a.semantic.starts_with("TEXCOORD_")) {
        add(&carried.semantic, bin.add_attribute(carried, first, run.vertex_count));
    }

    let indices = file.mesh.indices[run.first_index..run.first_index + run.index_count].iter().map(|&i| i - run.first_vertex as u32);
    let mut primitive = json!({ "attributes": attributes, "indices": bin.add_indices(indices, run.vertex_count) });
    if let Some(material) = run.group.material.and_then(|m| parcel.material_number(m)) {
        primitive["material"] = material.into();
    }
    primitive
}

/// Smallest and largest coordinates; as f64 they are written so that they parse back to the same f32.
fn find_range(positions: &[[f32; 3]]) -> [[f64; 3]; 2] {
    let mut range = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    for position in positions {
        for (axis, &value) in position.iter().enumerate() {
            range[0][axis] = range[0][axis].min(value);
            range[1][axis] = range[1][axis].max(value);
        }
    }
    range.map(|corner| corner.map(f64::from))
}

/// Whether a vector is as long as glTF wants it.
fn is_unit(v: [f32; 3]) -> bool {
    (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - 1.0).abs() < 1e-3
}

/// The vector at length 1; one that has no direction (the deformation has told so) points up.
fn make_unit(v: [f32; 3]) -> [f32; 3] {
    glam::DVec3::from(v.map(f64::from)).try_normalize().unwrap_or(glam::DVec3::Y).as_vec3().into()
}

fn unit_normals(normals: &[[f32; 3]]) -> Cow<'_, [[f32; 3]]> {
    if normals.iter().all(|&n| is_unit(n)) {
        return normals.into();
    }
    normals.iter().map(|&n| if is_unit(n) { n } else { make_unit(n) }).collect()
}

fn unit_tangents(tangents: &[[f32; 4]]) -> Cow<'_, [[f32; 4]]> {
    if tangents.iter().all(|&[x, y, z, w]| is_unit([x, y, z]) && w.abs() == 1.0) {
        return tangents.into();
    }
    let repair = |&[x, y, z, w]: &[f32; 4]| {
        let [x, y, z] = make_unit([x, y, z]);
        [x, y, z, if w < 0.0 { -1.0 } else { 1.0 }]
    };
    tangents.iter().map(repair).collect()
}

/// Header, JSON chunk and BIN chunk (glTF 2.0, 4.4).
fn write_container(root: &Value, bin: &Bin<'_>, out: &mut Hashed<'_>, path: &Path) -> Result<()> {
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = 12 + 8 + text.len() as u64 + 8 + bin.length;
    let Ok(length) = u32::try_from(total) else {
        return Err(Error::Bake(format!(
            "the mesh would be {total} bytes, and a GLB holds at most {}; bake fewer parts (--only, --exclude) or smaller images: {}",
            u32::MAX,
            path.display()
        )));
    };
    let mut head = b"glTF".to_vec();
    for number in [2, length, text.len() as u32] {
        head.extend(number.to_le_bytes());
    }
    head.extend(b"JSON");
    head.append(&mut text);
    head.extend((bin.length as u32).to_le_bytes());
    head.extend(b"BIN\0");
    let mut write = |bytes: &[u8]| out.write_all(bytes).map_err(Error::io("write the mesh", path));
    write(&head)?;
    for piece in &bin.pieces {
        write(piece)?;
        write(&[0; 3][..piece.len().next_multiple_of(4) - piece.len()])?;
    }
    out.flush().map_err(Error::io("write the mesh", path))
}

/// Counts and hashes what passes.
struct Hashed<'a> {
    out: &'a mut dyn Write,
    hash: Sha256,
    bytes: u64,
}

impl Write for Hashed<'_> {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(data)?;
        self.hash.update(&data[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
