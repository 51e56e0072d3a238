//! Skins: joints and inverse bind matrices (glTF 2.0, 3.7.3). `skeleton` says nothing that matters here.

use glam::DMat4;
use gltf::json::accessor::Type;

use super::accessor;
use super::document::{Document, missing};
use crate::Fault;
use crate::scene::{Component, Skin};
use crate::warning::Warnings;

/// Reads all skins of the file. `place` maps the file's nodes to the scene's.
pub(super) fn read_skins(doc: &Document<'_>, place: &[usize], warnings: &mut Warnings) -> Result<Vec<Skin>, Fault> {
    (0..doc.root.skins.len()).map(|index| read_skin(doc, index, place, warnings)).collect()
}

fn read_skin(doc: &Document<'_>, index: usize, place: &[usize], warnings: &mut Warnings) -> Result<Skin, Fault> {
    let json = &doc.root.skins[index];
    let pointer = format!("/skins/{index}");
    if json.joints.is_empty() {
        return Err(Fault::new(pointer, "the skin has 0 joints, wanted at least 1", "export the model again"));
    }
    let mut joints = Vec::with_capacity(json.joints.len());
    for (i, joint) in json.joints.iter().map(|j| j.value()).enumerate() {
        let Some(&node) = place.get(joint) else { return Err(missing(&format!("{pointer}/joints/{i}"), "node", joint, place.len())) };
        joints.push(node);
    }
    let inverse_bind = match json.inverse_bind_matrices {
        None => vec![DMat4::IDENTITY; joints.len()],
        Some(accessor) => read_matrices(doc, accessor.value(), joints.len(), &format!("{pointer}/inverseBindMatrices"), warnings)?,
    };
    Ok(Skin { name: json.name.clone(), joints, inverse_bind })
}

/// One matrix a joint; more are ignored, fewer are an error.
fn read_matrices(doc: &Document<'_>, index: usize, wanted: usize, at: &str, warnings: &mut Warnings) -> Result<Vec<DMat4>, Fault> {
    let elements = accessor::read(doc, index, at, warnings)?;
    if elements.kind != Type::Mat4 || elements.component != Component::F32 {
        return Err(Fault::new(at, format!("the accessor is a {}, wanted MAT4 of F32", elements.describe()), "export the model again"));
    }
    if elements.count < wanted {
        let problem = format!("{} inverse bind matrices for {wanted} joints", elements.count);
        return Err(Fault::new(at, problem, "bind the mesh anew and export the model again"));
    }
    let matrices = elements.vectors::<16>()?;
    Ok(matrices.iter().take(wanted).map(|m| DMat4::from_cols_array(&m.map(f64::from))).collect())
}
