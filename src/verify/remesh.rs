//! A mesh that went through an engine or a DCC tool: does each vertex still name its vertex of the bake, and does it stand where the
//! bake's rest pose has it?
//!
//! The vertex shader sees positions in the mesh's own space, so that is where offsets are added: nodes' transforms are left out unless
//! they alone bring the parts together.

use std::collections::HashMap;
use std::path::Path;

use glam::{DMat3, DVec3};

use super::clips::{rest_size, slack};
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
/// Factors that tools put on lengths: metres, centimetres, millimetres, inches, feet.
const FACTORS: [f64; 9] = [1.0, 100.0, 0.01, 1000.0, 0.001, 1.0 / 0.0254, 0.0254, 1.0 / 0.3048, 0.3048];

/// A vertex as the file has it.
struct Vertex {
    local: DVec3,
    world: DVec3,
    /// TEXCOORD_0 and up.
    uvs: [Option<[f64; 2]>; MOST_SETS as usize],
}

/// How the file's positions come from the bake's.
#[derive(Debug, Clone, Copy)]
struct Alignment {
    axes: DMat3,
    factor: f64,
    shift: DVec3,
    /// Share of the vertices that are near.
    share: f64,
}

impl Alignment {
    fn apply(&self, rest: DVec3) -> DVec3 {
        self.axes * rest * self.factor + self.shift
    }
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
        let sets: Vec<_> =
            (0..MOST_SETS).filter(|&s| vertices.iter().any(|v| v.uvs[s as usize].is_some())).map(|s| s.to_string()).collect();
        let has =
            if sets.is_empty() { "no UV set at all".into() } else { format!("the UV sets {}, none of them the lookup", sets.join(", ")) };
        let text = format!(
            "{file} has lost the lookup, TEXCOORD_{}: it has {has}; export it with all UV sets and without generated light-map UVs",
            lookup.texcoord
        );
        findings.wrong(Code::MeshLookupLost, &file, text);
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

/// All vertices that the file shows, and per UV set the bytes of its smallest component.
fn read_vertices(document: &Document) -> Result<(Vec<Vertex>, [u64; MOST_SETS as usize]), String> {
    let mut vertices = Vec::new();
    let mut smallest = [4; MOST_SETS as usize];
    for shown in document.shown()? {
        let positions: Vec<[f32; 3]> = document.attribute(shown.json, "POSITION")?.ok_or("a primitive has no POSITION")?;
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

/// The change of axes, unit and origin that brings most of the pairs together.
fn align(pairs: &[(DVec3, DVec3)], tried: usize, size: f64) -> Option<Alignment> {
    if pairs.is_empty() {
        return None;
    }
    let count = pairs.len() as f64;
    let (from, to) = pairs.iter().fold((DVec3::ZERO, DVec3::ZERO), |(a, b), (r, p)| (a + *r / count, b + *p / count));
    let spread = |of: &dyn Fn(&(DVec3, DVec3)) -> f64| (pairs.iter().map(of).sum::<f64>() / count).sqrt();
    let guess = spread(&|(_, p)| p.distance_squared(to)) / spread(&|(r, _)| r.distance_squared(from)).max(f64::MIN_POSITIVE);
    let factors = FACTORS.into_iter().chain([guess]).filter(|f| f.is_finite() && *f > 1e-9);
    let near = |a: &Alignment| {
        let limit = NEAR * size.max(f64::MIN_POSITIVE) * a.factor;
        pairs.iter().filter(|(r, p)| a.apply(*r).distance(*p) <= limit).count() as f64 / tried as f64
    };
    let mut best: Option<Alignment> = None;
    for factor in factors {
        for axes in signed_axes() {
            for shift in [DVec3::ZERO, to - axes * from * factor] {
                let mut found = Alignment { axes, factor, shift, share: 0.0 };
                found.share = near(&found);
                if best.is_none_or(|b| found.share > b.share + 1e-9) {
                    best = Some(found);
                }
            }
        }
    }
    best
}

/// All ways to name and point three axes, the unchanged one first.
fn signed_axes() -> impl Iterator<Item = DMat3> {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    ORDERS.into_iter().flat_map(|order| {
        (0..8_u32).map(move |signs| {
            let row = |i: usize| DVec3::AXES[order[i]] * if signs >> i & 1 == 1 { -1.0 } else { 1.0 };
            DMat3::from_cols(row(0), row(1), row(2)).transpose()
        })
    })
}

/// `(x, -z, y)`: what stands on each axis now.
fn axes_text(axes: DMat3) -> String {
    let row = |i: usize| {
        let row = axes.row(i);
        let (c, name) = [(row.x, "x"), (row.y, "y"), (row.z, "z")].into_iter().find(|(c, _)| *c != 0.0).unwrap_or((1.0, "?"));
        format!("{}{name}", if c < 0.0 { "-" } else { "" })
    };
    format!("({}, {}, {})", row(0), row(1), row(2))
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

/// Who is named, who is missing, who became one with whom, who stands elsewhere.
#[allow(clippy::too_many_arguments)]
fn count(
    file: &str,
    baked: &Baked,
    rest: &[DVec3],
    vertices: &[Vertex],
    numbers: &[Option<u32>],
    alignment: &Alignment,
    in_world: bool,
    verdict: &mut MeshVerdict,
    findings: &mut Findings,
) {
    let limit = NEAR * rest_size(baked).max(f64::MIN_POSITIVE);
    let mut is_named = vec![false; rest.len()];
    let (mut unnamed, mut moved) = (0, Vec::new());
    for (vertex, number) in vertices.iter().zip(numbers) {
        let Some((n, rest)) = number.and_then(|n| Some((n, rest.get(n as usize)?))) else {
            unnamed += 1;
            continue;
        };
        let place = if in_world { vertex.world } else { vertex.local };
        let distance = alignment.apply(*rest).distance(place) / alignment.factor;
        verdict.largest_distance = verdict.largest_distance.max(distance);
        is_named[n as usize] = true;
        if distance.is_nan() || distance > limit {
            moved.push(n);
        }
    }
    let is_used = used_vertices(baked, rest.len());
    let missing: Vec<usize> = (0..rest.len()).filter(|&n| !is_named[n] && is_used[n]).collect();
    verdict.named = is_named.iter().filter(|&&named| named).count();
    verdict.missing = missing.len();
    verdict.moved = moved.len();
    let total = rest.len();
    if unnamed > 0 {
        let text =
            format!("{unnamed} of {} vertices of {file} name no vertex of the bake; export all of them with the lookup", vertices.len());
        findings.wrong(Code::MeshVerticesMissing, file, text);
    }
    if let Some(first) = moved.first() {
        let text = format!(
            "{} vertices of {file} stand elsewhere than in the bake's rest pose, by up to {:.6} m (first: the one that names vertex {first}): the mesh was \
             edited, or names were mixed up; export it as it was imported",
            moved.len(),
            verdict.largest_distance
        );
        findings.wrong(Code::MeshVerticesMoved, file, text);
    }
    let (merged, lost) = sort_missing(&missing, rest, &is_named);
    verdict.merged = merged.len();
    say_merged(file, baked, &merged, findings);
    if let Some(first) = lost.first() {
        let text = format!(
            "{} of {total} vertices of the bake are not in {file} (first: vertex {first}); right for a level of detail or a part, else export the whole mesh",
            lost.len()
        );
        findings.warn(Code::MeshVerticesMissing, file, text);
    }
}

/// Vertices that some triangle of the bake uses: exporters drop the others.
fn used_vertices(baked: &Baked, count: usize) -> Vec<bool> {
    let mut used = vec![false; count];
    for number in baked.mesh.numbered_triangles().into_iter().flatten() {
        if let Some(place) = used.get_mut(number) {
            *place = true;
        }
    }
    used
}

/// Missing vertices that share a place with one that is there, with it; and the others.
fn sort_missing(missing: &[usize], rest: &[DVec3], is_named: &[bool]) -> (Vec<(usize, usize)>, Vec<usize>) {
    let key = |p: DVec3| p.to_array().map(|c| ((c as f32) + 0.0).to_bits());
    let mut there: HashMap<[u32; 3], usize> = HashMap::new();
    for (n, &place) in rest.iter().enumerate().filter(|(n, _)| is_named[*n]) {
        there.entry(key(place)).or_insert(n);
    }
    let (mut merged, mut lost) = (Vec::new(), Vec::new());
    for &n in missing {
        match there.get(&key(rest[n])) {
            Some(&other) => merged.push((n, other)),
            None => lost.push(n),
        }
    }
    (merged, lost)
}

fn say_merged(file: &str, baked: &Baked, merged: &[(usize, usize)], findings: &mut Findings) {
    if merged.is_empty() {
        return;
    }
    let frames = baked.sidecar.frame_count as usize;
    let limit = 2.0 * slack(baked);
    let mut apart = 0.0_f64;
    let mut turned = 0.0_f64;
    for &(a, b) in merged {
        for frame in 0..frames {
            apart = apart.max(baked.position(a, frame).distance(baked.position(b, frame)));
            if let (Some(a), Some(b)) = (baked.normal(a, frame), baked.normal(b, frame)) {
                turned = turned.max(a.distance(b));
            }
        }
    }
    let degrees = (2.0 * (turned / 2.0).min(1.0).asin()).to_degrees();
    let unit = unit_name(baked);
    let first = merged.first().map_or(0, |m| m.0);
    let start = format!("{} vertices of {file} became one with another at the same place (first: vertex {first})", merged.len());
    let remedy = "export without merging vertices";
    if apart > limit {
        findings.wrong(Code::MeshVerticesMerged, file, format!("{start}, and they move apart by up to {apart:.6} {unit}; {remedy}"));
    } else if degrees > 1.0 {
        let text = format!("{start}; they move alike, but normals differ by up to {degrees:.0} degrees, so edges become soft; {remedy}");
        findings.warn(Code::MeshVerticesMerged, file, text);
    } else {
        findings.add(Code::MeshVerticesMerged, Level::Note, Some(file), format!("{start}; they move alike, so nothing is lost"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_found_and_named() {
        let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [1.0, 1.0, 0.5]].map(DVec3::from_array);
        let pairs: Vec<_> = points.iter().map(|&p| (p, DVec3::new(p.x, -p.z, p.y) * 100.0)).collect();
        let found = align(&pairs, 5, 3.0).expect("an alignment");
        assert_eq!((axes_text(found.axes).as_str(), found.factor, found.share), ("(x, -z, y)", 100.0, 1.0));
        let same: Vec<_> = points.iter().map(|&p| (p, p)).collect();
        let found = align(&same, 5, 3.0).expect("an alignment");
        assert_eq!((axes_text(found.axes).as_str(), found.factor, found.shift), ("(x, y, z)", 1.0, DVec3::ZERO));
        assert_eq!(signed_axes().count(), 48);
    }
}
