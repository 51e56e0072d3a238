//! A mesh that went through an engine or a DCC tool: does each vertex still name its vertex of the bake, and does it stand where the
//! bake's rest pose has it?
//!
//! The vertex shader sees positions in the mesh's own space, so that is where offsets are added: nodes' transforms are left out unless
//! they alone bring the parts together.

mod align;
mod count;

use std::path::Path;

use glam::{DMat3, DVec3};

use align::{Alignment, align, axes_text};
use count::count;

use super::clips::rest_size;
use super::compare::unit_name;
use super::verdict::{Code, Findings, Level, MeshVerdict};
use crate::baked::gltf::Document;
use crate::baked::{Baked, lookup_number, space_matrix};
use crate::output::sidecar::{Encoding, Role};
use crate::{Error, Result};

/// UV sets that are looked into.
const MOST_SETS: u32 = 8;
/// A vertex stands where it should within this share of the model's size.
const NEAR: f64 = 1e-4;
/// Vertices that an alignment is tried on.
const SAMPLE: usize = 2000;

/// A vertex as the file has it.
struct Vertex {
    local: DVec3,
    world: DVec3,
    /// TEXCOORD_0 and up.
    uvs: [Option<[f64; 2]>; MOST_SETS as usize],
}

/// How the lookup is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    set: u32,
    flipped: bool,
}

/// Looks at a re-exported mesh.
///
/// # Errors
/// Where the file cannot be read.
pub(super) fn check(path: &Path, baked: &Baked, findings: &mut Findings) -> Result<MeshVerdict> {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let document = Document::read(path)?;
    let (vertices, smallest) = read_vertices(&document).map_err(|text| Error::Bake(format!("{text}: {}", path.display())))?;
    let lookup = baked.sidecar.mesh.lookup;
    let rest = rest_by_number(baked);
    let mut verdict = MeshVerdict {
        file: file.clone(),
        vertices: vertices.len(),
        named: 0,
        texcoord: None,
        flipped: false,
        axes: "(x, y, z)".into(),
        factor: 1.0,
        missing: rest.len(),
        merged: 0,
        moved: 0,
        largest_distance: 0.0,
    };
    let Some((reading, alignment, in_world)) = find_lookup(&vertices, baked, &rest) else {
        say_lost(&file, &vertices, lookup.texcoord, findings);
        return Ok(verdict);
    };
    let numbers: Vec<Option<u32>> = vertices.iter().map(|v| read_number(v, reading, baked)).collect();
    (verdict.texcoord, verdict.flipped) = (Some(reading.set), reading.flipped);
    (verdict.axes, verdict.factor) = (axes_text(alignment.axes), alignment.factor);
    say_reading(&file, reading, lookup.texcoord, findings);
    say_alignment(&file, baked, &alignment, in_world, findings);
    say_precision(&file, &vertices, reading, baked, smallest[reading.set as usize], findings);
    count(&file, baked, &rest, &vertices, &numbers, &alignment, in_world, &mut verdict, findings);
    Ok(verdict)
}

/// No set brings the vertices to their places: cut to 8 bits, or not there.
fn say_lost(file: &str, vertices: &[Vertex], wanted: u32, findings: &mut Findings) {
    let found: Vec<[f64; 2]> = vertices.iter().filter_map(|v| *v.uvs.get(wanted as usize)?).collect();
    let is_coarse = |v: f64| ((v * 255.0) - (v * 255.0).round()).abs() < 1e-4;
    if found.as_flattened().iter().all(|&v| is_coarse(v)) && found.iter().any(|uv| uv[0] > 0.0 && uv[0] < 1.0) {
        let text = format!(
            "the lookup of {file} was cut to 8 bits, so vertices find each other's texels; export UV sets as floats or 16 bits, without quantisation"
        );
        findings.wrong(Code::MeshLookupQuantised, file, text);
        return;
    }
    let sets: Vec<_> = (0..MOST_SETS).filter(|&s| vertices.iter().any(|v| v.uvs[s as usize].is_some())).map(|s| s.to_string()).collect();
    let has = if sets.is_empty() { "no UV set at all".into() } else { format!("the UV sets {}, none of them the lookup", sets.join(", ")) };
    let text = format!(
        "{file} has lost the lookup, TEXCOORD_{wanted}: it has {has}; export it with all UV sets and without generated light-map UVs"
    );
    findings.wrong(Code::MeshLookupLost, file, text);
}

/// A bake has 1,048,576 at most; an engine may split some.
const MOST_VERTICES: usize = 8 << 20;

/// All vertices that the file shows, and per UV set the bytes of its smallest component.
fn read_vertices(document: &Document) -> Result<(Vec<Vertex>, [u64; MOST_SETS as usize]), String> {
    let mut vertices = Vec::new();
    let mut smallest = [4; MOST_SETS as usize];
    for shown in document.shown()? {
        let positions: Vec<[f32; 3]> = document.attribute(shown.json, "POSITION")?.ok_or("a primitive has no POSITION")?;
        if vertices.len() + positions.len() > MOST_VERTICES {
            return Err(format!("the file shows more than {MOST_VERTICES} vertices; instances of one mesh count each"));
        }
        let mut sets: Vec<Option<Vec<[f32; 2]>>> = Vec::new();
        for (set, size) in (0..MOST_SETS).zip(&mut smallest) {
            let name = format!("TEXCOORD_{set}");
            sets.push(document.attribute(shown.json, &name)?.filter(|uvs: &Vec<_>| uvs.len() == positions.len()));
            match document.component_type(shown.json, &name) {
                Some(5120 | 5121) => *size = 1,
                Some(5122 | 5123) => *size = (*size).min(2),
                _ => {}
            }
        }
        for (i, position) in positions.iter().enumerate() {
            let local = DVec3::from(position.map(f64::from));
            let uvs = std::array::from_fn(|set| sets[set].as_ref().and_then(|uvs| Some(uvs.get(i)?.map(f64::from))));
            vertices.push(Vertex { local, world: shown.world.transform_point3(local), uvs });
        }
    }
    if vertices.is_empty() {
        return Err("the file shows no vertex; export the mesh again".into());
    }
    Ok((vertices, smallest))
}

/// POSITION of the baked mesh by vertex number, in glTF's axes.
fn rest_by_number(baked: &Baked) -> Vec<DVec3> {
    let mut rest = vec![DVec3::ZERO; baked.sidecar.vertex_count as usize];
    for (&number, position) in baked.mesh.numbers.iter().zip(&baked.mesh.positions) {
        if let Some(place) = rest.get_mut(number as usize) {
            *place = DVec3::from(position.map(f64::from));
        }
    }
    rest
}

fn read_number(vertex: &Vertex, reading: Reading, baked: &Baked) -> Option<u32> {
    let [u, v] = vertex.uvs[reading.set as usize]?;
    let number = lookup_number([u, if reading.flipped { 1.0 - v } else { v }], &baked.sidecar.mesh.lookup)?;
    (number < baked.sidecar.vertex_count).then_some(number)
}

/// The UV set that names vertices best, the right way up or upside down; none where no set brings half of them to their places.
fn find_lookup(vertices: &[Vertex], baked: &Baked, rest: &[DVec3]) -> Option<(Reading, Alignment, bool)> {
    let wanted = baked.sidecar.mesh.lookup.texcoord;
    let sets = std::iter::once(wanted).chain((0..MOST_SETS).filter(|&s| s != wanted));
    let mut best: Option<(Reading, Alignment, bool)> = None;
    for set in sets.filter(|&s| s < MOST_SETS) {
        for flipped in [false, true] {
            let reading = Reading { set, flipped };
            for in_world in [false, true] {
                let place = |v: &Vertex| if in_world { v.world } else { v.local };
                let pairs: Vec<(DVec3, DVec3)> =
                    sample(vertices).filter_map(|v| Some((*rest.get(read_number(v, reading, baked)? as usize)?, place(v)))).collect();
                let tried = sample(vertices).count();
                let Some(found) = align(&pairs, tried, rest_size(baked)) else { continue };
                // Something must be gained by looking elsewhere than where it should be.
                if best.as_ref().is_none_or(|(_, b, _)| found.share > b.share + 0.02) {
                    best = Some((reading, found, in_world));
                }
            }
        }
    }
    best.filter(|(_, alignment, _)| alignment.share >= 0.5)
}

fn sample(vertices: &[Vertex]) -> impl Iterator<Item = &Vertex> {
    vertices.iter().step_by((vertices.len() / SAMPLE).max(1))
}

fn say_reading(file: &str, reading: Reading, wanted: u32, findings: &mut Findings) {
    if reading.set != wanted {
        let text = format!(
            "the lookup of {file} stands in TEXCOORD_{}, the sidecar says TEXCOORD_{wanted}: a set was dropped or added; let the player read set {}, \
             or export all sets",
            reading.set, reading.set
        );
        findings.wrong(Code::MeshLookupMoved, file, text);
    }
    if reading.flipped {
        let text = format!(
            "the lookup of {file} is upside down: 1 - v names the vertices; export without flipping UVs, or let the player take 1 - v"
        );
        findings.wrong(Code::MeshLookupFlipped, file, text);
    }
}

/// Axes and unit: fine where nothing changed, or where it is what the sidecar's space asks for.
fn say_alignment(file: &str, baked: &Baked, alignment: &Alignment, in_world: bool, findings: &mut Findings) {
    let size = rest_size(baked);
    let space = space_matrix(&baked.sidecar);
    let is_moved = alignment.shift.length() > NEAR * size * alignment.factor;
    let is_same = alignment.axes == DMat3::IDENTITY && alignment.factor == 1.0;
    if in_world {
        let text =
            format!("the parts of {file} stand right only with their nodes' transforms; apply these (or draw each part with its own)");
        findings.warn(Code::MeshAxes, file, text);
    }
    if is_same && !is_moved {
        return;
    }
    let what = format!(
        "the bake's (x, y, z) is {}{}{} in {file}",
        axes_text(alignment.axes),
        if (alignment.factor - 1.0).abs() < 1e-9 { String::new() } else { format!(" times {:.6}", alignment.factor) },
        if is_moved {
            format!(", moved by ({:.4}, {:.4}, {:.4})", alignment.shift.x, alignment.shift.y, alignment.shift.z)
        } else {
            String::new()
        }
    );
    if (alignment.axes * alignment.factor).abs_diff_eq(space, 1e-6) && !is_moved {
        findings.add(Code::MeshAxes, Level::Note, Some(file), format!("{what}, as the sidecar's space has it"));
        return;
    }
    let encoding = baked.texture(Role::Position).map(|(texture, _)| texture.encoding);
    let is_offset = matches!(encoding, Some(Encoding::OffsetUnorm | Encoding::OffsetFloat));
    // A shift alone leaves offsets as they are.
    let is_wrong = !(is_offset && is_same);
    let text = format!(
        "{what}; positions decoded from the textures are in the sidecar's space ({}): export with its axes and unit, or turn what is decoded",
        unit_name(baked)
    );
    findings.add(Code::MeshAxes, if is_wrong { Level::Wrong } else { Level::Warning }, Some(file), text);
}

/// How far coordinates are from where the bake put them, in cells of the lookup.
fn say_precision(file: &str, vertices: &[Vertex], reading: Reading, baked: &Baked, bytes: u64, findings: &mut Findings) {
    let lookup = &baked.sidecar.mesh.lookup;
    let off = |v: &Vertex| {
        let [u, v] = v.uvs[reading.set as usize]?;
        let from_middle = |t: f64, cells: u32| ((t * f64::from(cells)).rem_euclid(1.0) - 0.5).abs();
        Some(from_middle(u, lookup.lanes).max(from_middle(v, lookup.groups)))
    };
    let most = vertices.iter().filter_map(off).fold(0.0, f64::max);
    if bytes == 1 && (lookup.lanes > 128 || lookup.groups > 128) || most > 0.25 {
        let text = format!(
            "the lookup of {file} is stored too coarsely ({bytes} byte(s) a component): coordinates are up to {most:.2} of a cell from its middle, and \
             at 0.5 a vertex finds another's texels; export UV sets as floats, without quantisation"
        );
        findings.add(Code::MeshLookupQuantised, if most > 0.45 { Level::Wrong } else { Level::Warning }, Some(file), text);
    }
}
