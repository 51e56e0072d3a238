//! Attributes: integers that are predicted, dequantised or unfolded, and bytes that are stored as they are (chapters "Attributes
//! Decoder" and those of the sequential decoders).

use std::rc::Rc;

use super::bitstream::Bytes;
use super::corners::{Corners, NONE};
use super::entropy::{read_symbols, signed};
use super::kind::Kind;
use super::octahedron::Octahedron;
use super::prediction::{Surroundings, undo, undo_normals};
use super::sequence::{Sequence, walk_by_degree, walk_depth_first};
use super::{Reserve, Result};

/// A decoded attribute.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) id: u32,
    pub(super) kind: Kind,
    pub(super) components: usize,
    /// Distinct values, little-endian.
    pub(super) bytes: Vec<u8>,
    /// Per point, its value; the values are those of the points in their order where absent.
    pub(super) value: Option<Rc<Vec<u32>>>,
}

/// How the triangles look to the attributes.
pub(super) struct Shape {
    pub(super) points: usize,
    /// None with sequential connectivity.
    pub(super) mesh: Option<Mesh>,
}

/// Connectivity as EdgeBreaker makes it.
pub(super) struct Mesh {
    pub(super) corners: Corners,
    /// Connectivities of attributes; the mesh's own where there are no seams.
    pub(super) attributes: Vec<Option<Corners>>,
    /// Per corner, its point.
    pub(super) point: Vec<u32>,
}

/// An attribute before its values are read.
struct Plan {
    position: bool,
    attribute: Attribute,
    coding: u8,
}

/// Positions in the integers of the stream.
struct Positions {
    values: Vec<i32>,
    value: Rc<Vec<u32>>,
}

/// Reads all attributes.
pub(super) fn read_attributes(bytes: &mut Bytes<'_>, shape: &Shape, reserve: &Reserve<'_>) -> Result<Vec<Attribute>> {
    let count = usize::from(bytes.u8()?);
    let mut orders = Vec::new();
    if let Some(mesh) = &shape.mesh {
        for _ in 0..count {
            orders.push(Order::read(bytes, mesh.attributes.len())?);
        }
        let mut tables: Vec<_> = orders.iter().map(|order| order.table).collect();
        tables.sort_unstable();
        tables.dedup();
        if tables.len() < count {
            return Err("two attribute decoders share one connectivity".to_owned());
        }
    }
    let mut groups = Vec::new();
    for _ in 0..count {
        groups.push(read_plans(bytes, shape.points, reserve)?);
    }
    let mut positions = None;
    let mut attributes = Vec::new();
    for (group, plans) in groups.into_iter().enumerate() {
        let Some((mesh, order)) = shape.mesh.as_ref().zip(orders.get(group)) else {
            read_group(bytes, plans, shape.points, None, None, &mut positions, &mut attributes)?;
            continue;
        };
        let corners = order.corners(mesh);
        let sequence = if order.by_degree { walk_by_degree(corners) } else { walk_depth_first(corners) };
        let mut value = vec![NONE; shape.points];
        for (&point, &vertex) in mesh.point.iter().zip(corners.vertices()) {
            // Points and vertices of a checked corner table exist.
            value[point as usize] = sequence.value[vertex as usize];
        }
        // Points without triangles have some value.
        value.iter_mut().filter(|v| **v == NONE).for_each(|v| *v = 0);
        let around = Some((mesh, corners, &sequence));
        read_group(bytes, plans, sequence.corner.len(), around, Some(Rc::new(value)), &mut positions, &mut attributes)?;
    }
    Ok(attributes)
}

/// In which order the values of a group of attributes stand.
struct Order {
    /// The connectivity with seams; the mesh's own where absent.
    table: Option<usize>,
    per_corner: bool,
    by_degree: bool,
}

impl Order {
    fn read(bytes: &mut Bytes<'_>, tables: usize) -> Result<Self> {
        let (table, kind, method) = (bytes.u8()?, bytes.u8()?, bytes.u8()?);
        let table = if table < 0x80 { Some(usize::from(table)) } else { None };
        let per_corner = kind != 0;
        if table.is_some_and(|t| t >= tables) || (per_corner && table.is_none()) || method > 1 || (per_corner && method != 0) {
            return Err(format!("an attribute decoder names connectivity {table:?} of {tables} and traversal {method}"));
        }
        Ok(Self { table, per_corner, by_degree: method == 1 })
    }

    fn corners<'m>(&self, mesh: &'m Mesh) -> &'m Corners {
        let own = self.table.filter(|_| self.per_corner).and_then(|table| mesh.attributes.get(table)?.as_ref());
        own.unwrap_or(&mesh.corners)
    }
}

fn read_plans(bytes: &mut Bytes<'_>, points: usize, reserve: &Reserve<'_>) -> Result<Vec<Plan>> {
    let count = bytes.count()?;
    // Each has six bytes at least.
    if count == 0 || count > bytes.left() / 6 {
        return Err(format!("an attribute decoder has {count} attributes"));
    }
    let mut plans = Vec::with_capacity(count);
    for _ in 0..count {
        let position = bytes.u8()? == 0;
        let (kind, components, _normalized) = (Kind::new(bytes.u8()?)?, usize::from(bytes.u8()?), bytes.u8()?);
        let id = bytes.varint()?;
        let id = u32::try_from(id).map_err(|_| format!("the id of an attribute is {id}, more than 32 bits hold"))?;
        if components == 0 {
            return Err(format!("attribute {id} has no components"));
        }
        reserve(points as u64, (components * kind.size().max(4)) as u64)?;
        plans.push(Plan { position, attribute: Attribute { id, kind, components, bytes: Vec::new(), value: None }, coding: 0 });
    }
    for plan in &mut plans {
        plan.coding = bytes.u8()?;
    }
    Ok(plans)
}

/// Reads a group of attributes of `count` values each. `value` holds the value of each point.
fn read_group(
    bytes: &mut Bytes<'_>,
    mut plans: Vec<Plan>,
    count: usize,
    around: Option<(&Mesh, &Corners, &Sequence)>,
    value: Option<Rc<Vec<u32>>>,
    positions: &mut Option<Positions>,
    attributes: &mut Vec<Attribute>,
) -> Result<()> {
    // Integers of the attributes that are not stored as bytes.
    let mut integers = Vec::with_capacity(plans.len());
    for plan in &mut plans {
        let attribute = &mut plan.attribute;
        attribute.value = value.clone();
        if plan.coding == 0 {
            attribute.bytes = bytes.take(count * attribute.components * attribute.kind.size())?.to_vec();
            integers.push(Vec::new());
            continue;
        }
        let position = positions.as_ref().zip(around).map(|(positions, (mesh, ..))| move |corner| positions.at(mesh, corner));
        let position = position.as_ref().map(|at| at as &dyn Fn(u32) -> [i64; 3]);
        let surroundings = around.map(|(_, corners, sequence)| Surroundings { corners, sequence, position });
        let values = read_integers(bytes, plan, count, surroundings.as_ref())?;
        if plan.position && plan.attribute.components == 3 && positions.is_none() {
            *positions = value.clone().map(|value| Positions { values: values.clone(), value });
        }
        integers.push(values);
    }
    for (plan, integers) in plans.iter_mut().zip(integers) {
        match plan.coding {
            0 => {}
            1 => plan.attribute.store(&integers)?,
            2 => plan.attribute.dequantise(bytes, &integers)?,
            _ => plan.attribute.unfold(bytes, &integers)?,
        }
    }
    attributes.extend(plans.into_iter().map(|plan| plan.attribute));
    Ok(())
}

impl Positions {
    fn at(&self, mesh: &Mesh, corner: u32) -> [i64; 3] {
        let value = self.value[mesh.point[corner as usize] as usize] as usize;
        self.values.as_chunks::<3>().0.get(value).map_or([0; 3], |v| v.map(i64::from))
    }
}

/// The integers of an attribute, predictions undone.
fn read_integers(bytes: &mut Bytes<'_>, plan: &Plan, count: usize, around: Option<&Surroundings<'_>>) -> Result<Vec<i32>> {
    let components = match plan.coding {
        1 | 2 => plan.attribute.components,
        3 => 2,
        coding => return Err(format!("an attribute is coded by number {coding}, wanted 0 to 3")),
    };
    let method = bytes.u8()? as i8;
    let transform = if method == -2 { None } else { Some(bytes.u8()?) };
    let total = count * components;
    let symbols = match bytes.u8()? {
        0 => read_plain(bytes, total)?,
        _ => read_symbols(bytes, total, components)?,
    };
    match (transform, plan.coding) {
        (None, _) => Ok(symbols.into_iter().map(signed).collect()),
        (Some(1), 1 | 2) => {
            let mut values: Vec<i32> = symbols.into_iter().map(signed).collect();
            undo(bytes, method, &mut values, components, around)?;
            Ok(values)
        }
        (Some(3), 3) => {
            // Corrections on the octahedron are positive.
            let mut points: Vec<i32> = symbols.into_iter().map(|s| s as i32).collect();
            undo_normals(bytes, method, &mut points, around)?;
            Ok(points)
        }
        (Some(transform), _) => Err(format!("the prediction transform is number {transform}, wanted 1, or 3 for normals")),
    }
}

/// Integers of a fixed number of bytes.
fn read_plain(bytes: &mut Bytes<'_>, count: usize) -> Result<Vec<u32>> {
    let size = usize::from(bytes.u8()?);
    if !(1..=4).contains(&size) {
        return Err(format!("integers have {size} bytes, wanted 1 to 4"));
    }
    let widen = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    Ok(bytes.take(count * size)?.chunks_exact(size).map(widen).collect())
}

impl Attribute {
    fn store(&mut self, integers: &[i32]) -> Result<()> {
        let size = self.kind.size();
        if matches!(self.kind, Kind::F32 | Kind::F64 | Kind::I64 | Kind::U64 | Kind::Bool) {
            return Err(format!("attribute {} is of {:?} but coded as integers of 32 bits", self.id, self.kind));
        }
        self.bytes = integers.iter().flat_map(|v| v.to_le_bytes().into_iter().take(size)).collect();
        Ok(())
    }

    fn dequantise(&mut self, bytes: &mut Bytes<'_>, integers: &[i32]) -> Result<()> {
        let min = (0..self.components).map(|_| bytes.f32()).collect::<Result<Vec<_>>>()?;
        let (range, bits) = (bytes.f32()?, bytes.u8()?);
        if self.kind != Kind::F32 || !(1..=30).contains(&bits) {
            return Err(format!("attribute {} is of {:?} and quantised to {bits} bits, wanted F32 and 1 to 30", self.id, self.kind));
        }
        let step = range / ((1_u32 << bits) - 1) as f32;
        let floats = integers.chunks_exact(self.components).flat_map(|v| v.iter().zip(&min).map(|(&v, &min)| v as f32 * step + min));
        self.bytes = floats.flat_map(f32::to_le_bytes).collect();
        Ok(())
    }

    fn unfold(&mut self, bytes: &mut Bytes<'_>, integers: &[i32]) -> Result<()> {
        let octahedron = Octahedron::new(u32::from(bytes.u8()?))?;
        if self.kind != Kind::F32 || self.components != 3 {
            let (id, kind, components) = (self.id, self.kind, self.components);
            return Err(format!("attribute {id} holds normals in {components} components of {kind:?}, wanted 3 of F32"));
        }
        let floats = integers.as_chunks::<2>().0.iter().flat_map(|&point| octahedron.unproject(point));
        self.bytes = floats.flat_map(f32::to_le_bytes).collect();
        Ok(())
    }
}
