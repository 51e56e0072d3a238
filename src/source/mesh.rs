//! Mesh primitives: attributes, morph targets and triangles, each decoded once.

use gltf::json::accessor::Type;
use gltf::json::mesh::{Mode, Semantic};
use gltf::json::validation::Checked;

use super::accessor;
use super::document::{Document, missing};
use super::draco::Geometry;
use super::elements::Elements;
use super::influences::{self, Sets};
use super::topology;
use crate::Fault;
use crate::scene::{Attribute, AttributeKind, Component, Primitive, Target};
use crate::warning::{Code, Warnings};

/// Distance of a float vector's length from 1 that is put right without a word.
const UNIT_TOLERANCE: f32 = 1e-2;

/// Bytes that a vertex and an index take in the course of a bake, about.
const VERTEX_COST: u64 = 256;
const INDEX_COST: u64 = 32;

/// What an attribute may be: element types, and component types with their normalized flag.
struct Allowed {
    kinds: &'static [Type],
    /// Of the core specification.
    core: &'static [(Component, bool)],
    /// Of KHR_mesh_quantization on top.
    quantized: &'static [(Component, bool)],
    wanted: &'static str,
}

const I8: (Component, bool) = (Component::I8, false);
const U8: (Component, bool) = (Component::U8, false);
const I16: (Component, bool) = (Component::I16, false);
const U16: (Component, bool) = (Component::U16, false);
const I8N: (Component, bool) = (Component::I8, true);
const U8N: (Component, bool) = (Component::U8, true);
const I16N: (Component, bool) = (Component::I16, true);
const U16N: (Component, bool) = (Component::U16, true);
const F32: (Component, bool) = (Component::F32, false);

const POSITION: Allowed = Allowed {
    kinds: &[Type::Vec3],
    core: &[F32],
    quantized: &[I8, I8N, U8, U8N, I16, I16N, U16, U16N],
    wanted: "VEC3 of F32, or of 8 or 16 bits with KHR_mesh_quantization",
};
const NORMAL: Allowed = Allowed {
    kinds: &[Type::Vec3],
    core: &[F32],
    quantized: &[I8N, I16N],
    wanted: "VEC3 of F32, or normalized I8 or I16 with KHR_mesh_quantization",
};
const TANGENT: Allowed =
    Allowed { kinds: &[Type::Vec4], wanted: "VEC4 of F32, or normalized I8 or I16 with KHR_mesh_quantization", ..NORMAL };
const TARGET_POSITION: Allowed =
    Allowed { quantized: &[I8, I8N, I16, I16N], wanted: "VEC3 of F32, or of I8 or I16 with KHR_mesh_quantization", ..POSITION };
const TEXCOORD: Allowed = Allowed {
    kinds: &[Type::Vec2],
    core: &[F32, U8N, U16N],
    quantized: &[I8, I8N, U8, I16, I16N, U16],
    wanted: "VEC2 of F32, normalized U8 or U16, or another of 8 or 16 bits with KHR_mesh_quantization",
};
const COLOR: Allowed = Allowed { kinds: &[Type::Vec3, Type::Vec4], core: &[F32, U8N, U16N], quantized: &[], wanted: "" };

/// Where a primitive stands in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) mesh: usize,
    pub(super) primitive: usize,
}

impl Place {
    fn pointer(self) -> String {
        format!("/meshes/{}/primitives/{}", self.mesh, self.primitive)
    }
}

/// Reads one primitive, or none where it has nothing to bake. `joint_count` is the number of joints of the smallest skin that it is
/// shown with, none without a skin; `materials` the number of materials.
pub(super) fn read_primitive(
    doc: &Document<'_>,
    place: Place,
    joint_count: Option<usize>,
    materials: usize,
    warnings: &mut Warnings,
) -> Result<Option<Primitive>, Fault> {
    let pointer = place.pointer();
    let Some(json) = doc.root.meshes.get(place.mesh).and_then(|m| m.primitives.get(place.primitive)) else { return Ok(None) };
    let mut skip = |why: &str| {
        warnings.add(Code::PrimitiveSkipped, 1, || format!("{{count}} primitives were left out, the first: {pointer} {why}"));
        Ok(None)
    };
    let Checked::Valid(mode) = json.mode else {
        return Err(Fault::new(format!("{pointer}/mode"), "the mode is not one of 0 to 6", "export the model again"));
    };
    if !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
        return skip("holds points or lines");
    }
    let Some(positions) = json.attributes.get(&Checked::Valid(Semantic::Positions)) else { return skip("has no POSITION") };
    let geometry = Geometry::open(doc, json, &pointer)?;

    let at = format!("{pointer}/attributes");
    // what Draco holds has been charged for by its decoder
    if geometry.triangles().is_none() {
        reserve_empty(doc, positions.value(), VERTEX_COST)?;
    }
    let mut reader = Reader { doc, geometry: &geometry, vertices: None, warnings };
    let positions = reader.read(positions.value(), &POSITION, &format!("{at}/POSITION"))?.vectors::<3>()?;
    let vertices = positions.len();
    let mut primitive = Primitive { mesh: place.mesh, primitive: place.primitive, positions, ..Primitive::default() };
    let (mut joints, mut weights) = (Sets::new(), Sets::new());
    for (semantic, accessor) in &json.attributes {
        let Checked::Valid(semantic) = semantic else { continue };
        let accessor = accessor.value();
        let at = format!("{at}/{}", semantic.to_string());
        match semantic {
            Semantic::Positions => {}
            Semantic::Normals => {
                let elements = reader.read(accessor, &NORMAL, &at)?;
                let mut normals = elements.vectors::<3>()?;
                let repaired = normals.iter_mut().filter_map(|n| make_unit(n, [0.0, 0.0, 1.0], elements.component).then_some(())).count();
                report_repaired(repaired, &at, reader.warnings);
                primitive.normals = Some(normals);
            }
            Semantic::Tangents => {
                let elements = reader.read(accessor, &TANGENT, &at)?;
                let mut tangents = elements.vectors::<4>()?;
                let repaired = tangents.iter_mut().filter_map(|t| make_unit_tangent(t, elements.component).then_some(())).count();
                report_repaired(repaired, &at, reader.warnings);
                primitive.tangents = Some(tangents);
            }
            Semantic::Joints(n) => drop(joints.insert(*n, accessor)),
            Semantic::Weights(n) => drop(weights.insert(*n, accessor)),
            Semantic::TexCoords(_) => {
                let floats = reader.read(accessor, &TEXCOORD, &at)?.floats()?;
                let bytes = floats.iter().flat_map(|v| v.to_le_bytes()).collect();
                let kind = AttributeKind { component: Component::F32, normalized: false, components: 2 };
                primitive.attributes.push(Attribute { semantic: semantic.to_string(), kind, bytes });
            }
            Semantic::Colors(_) | Semantic::Extras(_) => primitive.attributes.extend(reader.read_carried(accessor, semantic, &at)?),
        }
    }
    if primitive.normals.is_none() {
        primitive.tangents = None; // 3.7.2.1: they are to be ignored then
    }
    primitive.attributes.sort_by_key(|a| attribute_order(&a.semantic));
    if let Some(joint_count) = joint_count {
        let (influences, facts) = influences::read_influences(&geometry, &joints, &weights, vertices, joint_count, &at, reader.warnings)?;
        primitive.influences = influences;
        doc.seen.borrow_mut().merge(facts);
    } else {
        reader.warnings.add(Code::SkinWithoutInfluences, u64::from(!joints.is_empty()), || {
            format!("{{count}} parts have either a skin or JOINTS and WEIGHTS but not both (first: {pointer}); they follow their node")
        });
    }
    for (t, target) in json.targets.iter().flatten().enumerate() {
        primitive.targets.push(reader.read_target(target, &format!("{pointer}/targets/{t}"))?);
    }
    let (mode, indices) = match (geometry.triangles(), json.indices) {
        (Some(triangles), _) => (Mode::Triangles, Some(triangles.as_flattened().to_vec())),
        (None, Some(accessor)) => (mode, Some(reader.read_indices(accessor.value(), vertices, &format!("{pointer}/indices"))?)),
        (None, None) => (mode, None),
    };
    let corners = indices.as_ref().map_or(vertices, Vec::len);
    let (triangles, left) = topology::triangles(mode, indices.as_deref(), vertices);
    warnings.add(Code::IncompleteTriangle, left as u64, || {
        format!("{{count}} indices make no whole triangle (first: {corners} corners in {pointer}) and were left out")
    });
    if triangles.is_empty() {
        warnings.add(Code::PrimitiveSkipped, 1, || format!("{{count}} primitives were left out, the first: {pointer} has no triangle"));
        return Ok(None);
    }
    primitive.triangles = triangles;
    primitive.material = json.material.map(|m| m.value());
    if let Some(material) = primitive.material.filter(|&m| m >= materials) {
        return Err(missing(&format!("{pointer}/material"), "material", material, materials));
    }
    Ok(Some(primitive))
}

/// Zeros cost the file nothing, but the bake `cost` bytes each: that is charged where an accessor has no bytes of its own.
fn reserve_empty(doc: &Document<'_>, index: usize, cost: u64) -> Result<(), Fault> {
    match doc.root.accessors.get(index) {
        Some(accessor) if accessor.buffer_view.is_none() => doc.reserve(accessor.count.0, cost, &format!("/accessors/{index}")),
        _ => Ok(()),
    }
}

/// TEXCOORD_n, COLOR_n, then custom names; each by number or name.
fn attribute_order(semantic: &str) -> (u8, u32, String) {
    let number = |prefix: &str| semantic.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
    match (number("TEXCOORD_"), number("COLOR_")) {
        (Some(n), _) => (0, n, String::new()),
        (_, Some(n)) => (1, n, String::new()),
        _ => (2, 0, semantic.to_owned()),
    }
}

/// Reads attributes of one primitive, all with one number of vertices.
struct Reader<'d, 'b, 'w> {
    doc: &'d Document<'b>,
    geometry: &'d Geometry<'d, 'b>,
    vertices: Option<usize>,
    warnings: &'w mut Warnings,
}

impl<'d> Reader<'d, '_, '_> {
    fn read(&mut self, index: usize, allowed: &Allowed, at: &str) -> Result<Elements<'d>, Fault> {
        let elements = self.read_any(index, at)?;
        let component = (elements.component, elements.normalized && elements.component != Component::F32);
        let quantized = allowed.quantized.contains(&component);
        if !allowed.kinds.contains(&elements.kind) || !(quantized || allowed.core.contains(&component)) {
            let problem = format!("the accessor is a {}, wanted {}", elements.describe(), allowed.wanted);
            return Err(Fault::new(at, problem, "export the model again"));
        }
        let undeclared = quantized && !self.doc.uses("KHR_mesh_quantization");
        self.warnings.add(Code::JsonMended, u64::from(undeclared), || {
            format!("{{count}} departures from the specification were mended, the first: {at} holds integers without KHR_mesh_quantization in `extensionsUsed`")
        });
        Ok(elements)
    }

    /// An accessor of any type with one element a vertex.
    fn read_any(&mut self, index: usize, at: &str) -> Result<Elements<'d>, Fault> {
        let wanted = self.vertices;
        if let (Some(wanted), Some(found)) = (wanted, accessor::count(self.doc, index))
            && wanted as u64 != found
        {
            let problem = format!("{found} elements, POSITION has {wanted}");
            return Err(Fault::new(at, problem, "all attributes of a primitive have one count; export the model again"));
        }
        let elements = self.geometry.read(index, at, self.warnings)?;
        self.vertices = Some(elements.count);
        Ok(elements)
    }

    /// A colour or custom attribute in its own type; a colour of a type that glTF does not know is left out.
    fn read_carried(&mut self, index: usize, semantic: &Semantic, at: &str) -> Result<Option<Attribute>, Fault> {
        let elements = self.read_any(index, at)?;
        elements.check()?;
        let component = (elements.component, elements.normalized && elements.component != Component::F32);
        if matches!(semantic, Semantic::Colors(_)) && !(COLOR.kinds.contains(&elements.kind) && COLOR.core.contains(&component)) {
            let what = elements.describe();
            self.warnings.add(Code::NotCarried, 1, || {
                format!("{{count}} attributes were left out, the first: {at} is a {what}, which glTF does not allow")
            });
            return Ok(None);
        }
        let kind = AttributeKind { component: component.0, normalized: component.1, components: elements.components as u8 };
        Ok(Some(Attribute { semantic: semantic.to_string(), kind, bytes: elements.bytes.into_owned() }))
    }

    fn read_target(&mut self, json: &gltf::json::mesh::MorphTarget, at: &str) -> Result<Target, Fault> {
        let mut read = |accessor: Option<gltf::json::Index<_>>, allowed: &Allowed, name: &str| match accessor {
            None => Ok(None),
            Some(accessor) => {
                let accessor: gltf::json::Index<gltf::json::Accessor> = accessor;
                self.read(accessor.value(), allowed, &format!("{at}/{name}"))?.vectors::<3>().map(Some)
            }
        };
        Ok(Target {
            positions: read(json.positions, &TARGET_POSITION, "POSITION")?,
            normals: read(json.normals, &NORMAL, "NORMAL")?,
            // A target's tangent has no handedness.
            tangents: read(json.tangents, &NORMAL, "TANGENT")?,
        })
    }

    fn read_indices(&mut self, index: usize, vertices: usize, at: &str) -> Result<Vec<u32>, Fault> {
        reserve_empty(self.doc, index, INDEX_COST)?;
        let elements = accessor::read(self.doc, index, at, self.warnings)?;
        if elements.kind != Type::Scalar || ![Component::U8, Component::U16, Component::U32].contains(&elements.component) {
            let problem = format!("the accessor is a {}, wanted SCALAR of U8, U16 or U32", elements.describe());
            return Err(Fault::new(at, problem, "export the model again"));
        }
        let indices = elements.unsigned();
        if let Some(i) = indices.iter().position(|&i| i as usize >= vertices) {
            let problem = format!("index number {i} is {}, the primitive has {vertices} vertices", indices[i]);
            return Err(Fault::new(at, problem, "the file is damaged; export the model again"));
        }
        Ok(indices)
    }
}

/// Brings a vector to length 1. Whether that was more than rounding: true for zero and for floats far from length 1.
fn make_unit(v: &mut [f32; 3], instead: [f32; 3], component: Component) -> bool {
    // In f64: neither over- nor underflow for any f32.
    let length = v.iter().map(|&c| f64::from(c) * f64::from(c)).sum::<f64>().sqrt();
    if length < 1e-30 {
        *v = instead;
        return true;
    }
    *v = v.map(|c| (f64::from(c) / length) as f32);
    component == Component::F32 && (length - 1.0).abs() > f64::from(UNIT_TOLERANCE)
}

fn make_unit_tangent(t: &mut [f32; 4], component: Component) -> bool {
    let [x, y, z, w] = *t;
    let mut axis = [x, y, z];
    let repaired = make_unit(&mut axis, [1.0, 0.0, 0.0], component);
    *t = [axis[0], axis[1], axis[2], if w < 0.0 { -1.0 } else { 1.0 }];
    repaired
}

fn report_repaired(count: usize, at: &str, warnings: &mut Warnings) {
    warnings.add(Code::NormalRepaired, count as u64, || {
        format!("{{count}} normals or tangents were not of length 1 (first at {at}) and were normalised, those of length 0 replaced")
    });
}
