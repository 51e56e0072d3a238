//! The lookup: each vertex named once, also where an engine keeps UV sets as half floats or as 16-bit unorm.

use half::f16;

use super::verdict::{Code, Findings};
use crate::baked::{MOST_VERTICES, Mesh, lookup_number};
use crate::output::sidecar::Sidecar;

pub(super) fn check(mesh: &Mesh, sidecar: &Sidecar, findings: &mut Findings) {
    let (file, lookup) = (sidecar.mesh.file.as_str(), &sidecar.mesh.lookup);
    // More have been said to be too many, and are not worth their memory.
    if sidecar.vertex_count > MOST_VERTICES {
        return;
    }
    let count = sidecar.vertex_count as usize;
    let mut uses = vec![0_u32; count];
    let mut outside = None;
    for &number in &mesh.numbers {
        match uses.get_mut(number as usize) {
            Some(uses) => *uses += 1,
            None => outside = outside.or(Some(number)),
        }
    }
    if let Some(number) = outside {
        findings.wrong(Code::Lookup, file, format!("the lookup of {file} names vertex {number}, the bake has {count}; bake again"));
    }
    let twice = uses.iter().filter(|&&n| n > 1).count();
    let missing = uses.iter().filter(|&&n| n == 0).count();
    if twice + missing > 0 {
        let first = uses.iter().position(|&n| n != 1).unwrap_or_default();
        let text = format!(
            "the lookup of {file} names {twice} vertices more than once and {missing} not at all, of {count} (first: vertex {first}); bake again"
        );
        findings.wrong(Code::Lookup, file, text);
    }
    let half = |v: f32| f16::from_f32(v).to_f64();
    let unorm = |v: f32| (f64::from(v.clamp(0.0, 1.0)) * 65535.0).round() / 65535.0;
    for (name, store) in [("half floats", &half as &dyn Fn(f32) -> f64), ("16-bit unorm", &unorm)] {
        let lost = mesh.lookup.iter().zip(&mesh.numbers).filter(|(uv, number)| lookup_number(uv.map(store), lookup) != Some(**number));
        let lost: Vec<u32> = lost.map(|(_, &number)| number).collect();
        if let Some(first) = lost.first() {
            let text = format!(
                "kept as {name}, as engines do, the lookup of {file} no longer names {} of {count} vertices (first: vertex {first}); bake again",
                lost.len()
            );
            findings.wrong(Code::LookupPrecision, file, text);
        }
    }
}
