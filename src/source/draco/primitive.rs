//! The extension in a primitive: which accessors it stands for, and their elements out of the decoded mesh.

use std::collections::BTreeMap;

use gltf::json::mesh::{Mode, Primitive as Json, Semantic};
use gltf::json::validation::Checked;
use serde_json::Value;

use super::super::accessor;
use super::super::document::Document;
use super::super::elements::Elements;
use super::super::extensions::DRACO;
use super::attributes::Attribute;
use super::kind::Kind;
use super::{Decoded, Expected, decode};
use crate::Fault;
use crate::scene::Component;
use crate::warning::Warnings;

const REMEDY: &str = "the file is damaged; export or compress the model again";

/// Where the accessors of a primitive have their elements: in buffers, or in a decoded mesh.
pub(in super::super) struct Geometry<'d, 'b> {
    pub(in super::super) doc: &'d Document<'b>,
    decoded: Option<Decoded>,
    /// By accessor, the attribute of the decoded mesh.
    attributes: BTreeMap<usize, usize>,
    /// The pointer of the extension.
    pointer: String,
}

impl<'d, 'b> Geometry<'d, 'b> {
    /// Decodes a primitive's mesh if it has one. A file that does not require the extension is read without it where it can be.
    pub(in super::super) fn open(doc: &'d Document<'b>, json: &Json, pointer: &str) -> Result<Self, Fault> {
        let pointer = format!("{pointer}/extensions/{DRACO}");
        let mut geometry = Self { doc, decoded: None, attributes: BTreeMap::new(), pointer };
        let Some(extension) = json.extensions.as_ref().and_then(|e| e.others.get(DRACO)) else { return Ok(geometry) };
        let is_bare = |index: usize| doc.root.accessors.get(index).is_some_and(|a| a.buffer_view.is_none());
        if !doc.requires(DRACO) && !json.attributes.values().chain(&json.indices).any(|a| is_bare(a.value())) {
            return Ok(geometry);
        }
        let fault = |problem: String| Fault::new(&geometry.pointer, problem, REMEDY);
        let view = extension.get("bufferView").and_then(Value::as_u64).and_then(|v| usize::try_from(v).ok());
        let view = view.ok_or_else(|| fault("`bufferView` is missing or no whole number".to_owned()))?;
        let encoded = doc.view(view, &geometry.pointer)?;
        let reserve = |count, size| doc.reserve(count, size, "").map_err(|fault| fault.problem);
        // What a stream costs before it yields anything.
        reserve(encoded.len() as u64, 1).map_err(fault)?;
        let decoded = decode(encoded, expect(doc, json), &reserve).map_err(fault)?;
        geometry.attributes = find_attributes(json, extension, &decoded).map_err(fault)?;
        geometry.decoded = Some(decoded);
        Ok(geometry)
    }

    /// The triangles, where they come from a decoded mesh.
    pub(in super::super) fn triangles(&self) -> Option<&[[u32; 3]]> {
        self.decoded.as_ref().map(|decoded| decoded.triangles.as_slice())
    }

    /// Reads an accessor. `at` names who refers to it.
    pub(in super::super) fn read(&self, index: usize, at: &str, warnings: &mut Warnings) -> Result<Elements<'d>, Fault> {
        let attribute = self.attributes.get(&index).and_then(|&a| self.decoded.as_ref()?.attributes.get(a));
        let Some(attribute) = attribute else { return accessor::read(self.doc, index, at, warnings) };
        let expand = |elements: &Elements<'_>| {
            if elements.components != attribute.components {
                return Err(format!("attribute {} has {} components", attribute.id, attribute.components));
            }
            expand(attribute, elements.component, elements.count)
        };
        let wanted = |elements: &Elements<'_>, problem: String| {
            let problem = format!("{problem}, accessor {index} is a {} of {} elements", elements.describe(), elements.count);
            Fault::new(&self.pointer, problem, REMEDY)
        };
        let decode = |elements: &Elements<'_>| expand(elements).map_err(|problem| wanted(elements, problem));
        accessor::read_decoded(self.doc, index, at, &decode, warnings)
    }
}

/// The counts of a primitive's accessors.
fn expect(doc: &Document<'_>, json: &Json) -> Expected {
    let count = |index| accessor::count(doc, index).and_then(|n| usize::try_from(n).ok());
    let points = json.attributes.get(&Checked::Valid(Semantic::Positions)).and_then(|a| count(a.value())).unwrap_or(0);
    let is_list = json.mode == Checked::Valid(Mode::Triangles);
    let corners = json.indices.filter(|_| is_list).and_then(|a| count(a.value()));
    // Corners that make no whole triangle fit no mesh.
    Expected { points, triangles: corners.map(|n| if n % 3 == 0 { n / 3 } else { usize::MAX }) }
}

/// The accessors that the extension stands for, each with the index of its attribute in the decoded mesh.
fn find_attributes(json: &Json, extension: &Value, decoded: &Decoded) -> Result<BTreeMap<usize, usize>, String> {
    let ids = extension.get("attributes").and_then(Value::as_object).ok_or("`attributes` is missing or no object")?;
    let mut found = BTreeMap::new();
    for (semantic, accessor) in &json.attributes {
        let Checked::Valid(semantic) = semantic else { continue };
        let name = semantic.to_string();
        let Some(id) = ids.get(&name) else { continue };
        let attribute = id.as_u64().and_then(|id| decoded.attributes.iter().position(|a| u64::from(a.id) == id));
        let Some(attribute) = attribute else {
            let all: Vec<_> = decoded.attributes.iter().map(|a| a.id.to_string()).collect();
            return Err(format!("{name} is attribute {id}, the data has those of the ids {}", all.join(", ")));
        };
        if found.insert(accessor.value(), attribute).is_some_and(|other| other != attribute) {
            return Err(format!("accessor {} stands for two attributes, one of them {name}", accessor.value()));
        }
    }
    Ok(found)
}

/// The value of each point in the accessor's type.
fn expand(attribute: &Attribute, component: Component, points: usize) -> Result<Vec<u8>, String> {
    let size = attribute.components * attribute.kind.size();
    let values = if attribute.kind.same_as(component) { None } else { Some(convert(attribute, component)?) };
    let (bytes, size) = match &values {
        None => (&attribute.bytes, size),
        Some(values) => (values, attribute.components * component.size()),
    };
    let mut expanded = Vec::with_capacity(points * size);
    for point in 0..points {
        let value = match &attribute.value {
            None => Some(point),
            Some(value) => value.get(point).map(|&v| v as usize),
        };
        let value = value.and_then(|v| bytes.get(v.checked_mul(size)?..)?.get(..size));
        expanded.extend_from_slice(value.ok_or_else(|| format!("attribute {} has no value for vertex {point}", attribute.id))?);
    }
    Ok(expanded)
}

/// The distinct values in another type: integers that fit it, or integers as floats.
fn convert(attribute: &Attribute, component: Component) -> Result<Vec<u8>, String> {
    let mismatch = || format!("attribute {} is of {:?}", attribute.id, attribute.kind);
    let mut bytes = Vec::new();
    for word in attribute.bytes.chunks_exact(attribute.kind.size()) {
        let mut raw = [0; 8];
        raw[..word.len()].copy_from_slice(word);
        let unsigned = u64::from_le_bytes(raw);
        let value = match attribute.kind {
            Kind::I8 => i64::from(unsigned as i8),
            Kind::I16 => i64::from(unsigned as i16),
            Kind::I32 => i64::from(unsigned as i32),
            Kind::U8 | Kind::U16 | Kind::U32 | Kind::Bool => unsigned as i64,
            Kind::I64 | Kind::U64 | Kind::F32 | Kind::F64 => return Err(mismatch()),
        };
        let misfit = |_| format!("attribute {} holds {value}", attribute.id);
        match component {
            Component::I8 => bytes.extend(i8::try_from(value).map_err(misfit)?.to_le_bytes()),
            Component::U8 => bytes.extend(u8::try_from(value).map_err(misfit)?.to_le_bytes()),
            Component::I16 => bytes.extend(i16::try_from(value).map_err(misfit)?.to_le_bytes()),
            Component::U16 => bytes.extend(u16::try_from(value).map_err(misfit)?.to_le_bytes()),
            Component::U32 => bytes.extend(u32::try_from(value).map_err(misfit)?.to_le_bytes()),
            Component::F32 => bytes.extend((value as f32).to_le_bytes()),
        }
    }
    Ok(bytes)
}
