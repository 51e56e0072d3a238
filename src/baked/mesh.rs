//! The static mesh of a bake: rest pose, lookup, triangles and materials.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::gltf::Document;
use super::material::{self, Material};
use crate::output::sidecar::Lookup;
use crate::{Error, Result};

/// Vertices of all primitives in the GLB's order, one after another; primitives that share their vertices have them once. Positions
/// and normals are the file's own: glTF's axes, metres.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    /// POSITION.
    pub positions: Vec<[f32; 3]>,
    /// NORMAL, where every primitive has them.
    pub normals: Option<Vec<[f32; 3]>>,
    /// The set that the base-colour texture reads, its texture transform applied; zeros where there is none.
    pub uvs: Vec<[f32; 2]>,
    /// The lookup.
    pub lookup: Vec<[f32; 2]>,
    /// Number of the vertex in the bake, as the lookup says.
    pub numbers: Vec<u32>,
    /// Runs of `indices`, one a draw call.
    pub primitives: Vec<Primitive>,
    /// Triangles, as indices into the arrays above.
    pub indices: Vec<u32>,
    /// Materials of the file.
    pub materials: Vec<Material>,
}

/// A run of indices with one material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Primitive {
    /// Index into [`Mesh::materials`].
    pub material: Option<usize>,
    /// Index into [`Mesh::indices`].
    pub first_index: usize,
    /// Number of indices.
    pub index_count: usize,
}

impl Mesh {
    /// By the bake's vertex number: the index into the arrays.
    pub(crate) fn vertices_by_number(&self) -> Vec<Option<usize>> {
        let mut by_number = vec![None; self.numbers.iter().map(|&n| n as usize + 1).max().unwrap_or(0)];
        for (i, &number) in self.numbers.iter().enumerate() {
            if let Some(place) = by_number.get_mut(number as usize) {
                *place = Some(i);
            }
        }
        by_number
    }

    /// All triangles as vertex numbers of the bake.
    pub(crate) fn numbered_triangles(&self) -> Vec<[usize; 3]> {
        let number = |&i: &u32| self.numbers.get(i as usize).map_or(0, |&n| n as usize);
        self.indices.as_chunks::<3>().0.iter().map(|t| [number(&t[0]), number(&t[1]), number(&t[2])]).collect()
    }
}

/// The vertex that a lookup coordinate names (format.md, "The player").
pub(crate) fn number(uv: [f64; 2], lookup: &Lookup) -> Option<u32> {
    let (lanes, groups) = (f64::from(lookup.lanes), f64::from(lookup.groups));
    let (column, row) = ((uv[0] * lanes).floor(), (uv[1] * groups).floor());
    let inside = (0.0..lanes).contains(&column) && (0.0..groups).contains(&row);
    inside.then_some(row * lanes + column).filter(|&n| n <= f64::from(u32::MAX)).map(|n| n as u32)
}

/// Most vertices and most indices that are read: four times what a bake may have.
pub(crate) const MOST: usize = 96 << 20;

/// Reads the mesh of a bake.
pub(crate) fn read(path: &Path, lookup: &Lookup) -> Result<Mesh> {
    let document = Document::read(path)?;
    build(&document, lookup).map_err(|text| Error::Bake(format!("{text}: {}", path.display())))
}

fn build(document: &Document, lookup: &Lookup) -> Result<Mesh, String> {
    let materials = material::read(document)?;
    let set = format!("TEXCOORD_{}", lookup.texcoord);
    let mut mesh = Mesh { normals: Some(Vec::new()), ..Mesh::default() };
    // Vertices that were read already, by the attributes that they came from.
    let mut seen: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for shown in document.shown()? {
        let primitive = shown.json;
        let material = primitive["material"].as_u64().map(|m| m as usize);
        if let Some(m) = material.filter(|&m| m >= materials.len()) {
            return Err(format!("material {m} does not exist; the file is damaged"));
        }
        let key = primitive["attributes"].to_string();
        let (base, count) = match seen.get(&key) {
            Some(&known) => known,
            None => {
                let base = mesh.positions.len();
                let uv = material.and_then(|m| materials[m].1.as_ref());
                let count = add_vertices(document, primitive, &set, uv, lookup, &mut mesh)?;
                seen.insert(key, (base, count));
                (base, count)
            }
        };
        if mesh.positions.len().max(mesh.indices.len()) > MOST {
            return Err(format!("the mesh shows more than {MOST} vertices or indices; instances of one mesh count each"));
        }
        let first_index = mesh.indices.len();
        let base = u32::try_from(base).map_err(|_| "the mesh has too many vertices")?;
        mesh.indices.extend(document.indices(primitive, count)?.into_iter().map(|i| i + base));
        let index_count = mesh.indices.len() - first_index;
        if !index_count.is_multiple_of(3) {
            return Err(format!("a primitive has {index_count} indices, which make no whole triangles; the file is damaged"));
        }
        mesh.primitives.push(Primitive { material, first_index, index_count });
    }
    if mesh.indices.is_empty() {
        return Err("the file has no triangle; take the baked mesh, or bake again".into());
    }
    mesh.materials = materials.into_iter().map(|(material, _)| material).collect();
    Ok(mesh)
}

/// Appends a primitive's vertices and says how many there are.
fn add_vertices(
    document: &Document,
    primitive: &Value,
    set: &str,
    uv: Option<&material::Mapping>,
    lookup: &Lookup,
    mesh: &mut Mesh,
) -> Result<usize, String> {
    let wrong = |name: &str, found: usize, wanted: usize| format!("{name} has {found} elements, POSITION {wanted}; the file is damaged");
    let positions: Vec<[f32; 3]> = document.attribute(primitive, "POSITION")?.ok_or("a primitive has no POSITION")?;
    if mesh.positions.len() + positions.len() > u32::MAX as usize {
        return Err("the mesh has too many vertices".into());
    }
    if let Some(i) = positions.iter().position(|p| !p.iter().all(|v| v.is_finite())) {
        return Err(format!("POSITION {i} of a primitive is not a number; the file is damaged"));
    }
    let count = positions.len();
    let coordinates: Vec<[f32; 2]> = document.attribute(primitive, set)?.ok_or_else(|| format!("a primitive has no {set}, the lookup"))?;
    if coordinates.len() != count {
        return Err(wrong(set, coordinates.len(), count));
    }
    for &[u, v] in &coordinates {
        let number = number([u, v].map(f64::from), lookup);
        mesh.numbers.push(number.ok_or_else(|| format!("the lookup ({u}, {v}) names no vertex: it is outside 0..1"))?);
    }
    let normals: Option<Vec<[f32; 3]>> = document.attribute(primitive, "NORMAL")?;
    match (&mut mesh.normals, normals) {
        (_, Some(normals)) if normals.len() != count => return Err(wrong("NORMAL", normals.len(), count)),
        (Some(all), Some(normals)) => all.extend(normals),
        (all, _) => *all = None,
    }
    let name = format!("TEXCOORD_{}", uv.map_or(0, |m| m.set));
    let uvs: Option<Vec<[f32; 2]>> = if name == set { None } else { document.attribute(primitive, &name)? };
    match uvs {
        Some(uvs) if uvs.len() != count => return Err(wrong(&name, uvs.len(), count)),
        Some(uvs) => mesh.uvs.extend(uvs.into_iter().map(|t| uv.map_or(t, |m| m.apply(t)))),
        None => mesh.uvs.resize(mesh.uvs.len() + count, [0.0; 2]),
    }
    mesh.positions.extend(positions);
    mesh.lookup.extend(coordinates);
    Ok(count)
}
