//! Which UV set carries the lookup, and what it holds (format.md, "The mesh").

use std::ops::Range;

use super::materials::Parcel;
use crate::plan::mesh::Group;
use crate::warning::{Code, Warnings};

/// Sets that are added because a material reads them, at most: what engines have.
const MOST_SETS: u32 = 8;

/// The set for the lookup: `wanted`, or the next free one where a material reads `wanted`. It is the same for all groups.
pub fn choose_set(groups: &[Group], parcel: &Parcel, wanted: u32, warnings: &mut Warnings) -> u32 {
    let occupied = |group: &Group, set: u32| own_sets(group).any(|s| s == set);
    let reader = groups.iter().find(|g| occupied(g, wanted) && reads(g, parcel, wanted));
    let Some(reader) = reader else {
        let replaced = groups.iter().filter(|g| occupied(g, wanted)).count();
        warnings.add(Code::UvSetReplaced, replaced as u64, || {
            format!("TEXCOORD_{wanted} of {{count}} output primitive(s) was replaced by the lookup; no material reads it")
        });
        return wanted;
    };
    let mut set = wanted + 1;
    while groups.iter().any(|g| occupied(g, set)) {
        set += 1;
    }
    warnings.add(Code::UvSetMoved, 1, || {
        let material = reader.material.map_or_else(String::new, |m| parcel.material_name(m));
        format!(
            "TEXCOORD_{wanted} is read by material {material}, so the lookup stands in TEXCOORD_{set}; Godot and Bevy, which read \
             only two sets, cannot play it: for them let the source's materials read TEXCOORD_0 alone"
        )
    });
    set
}

/// Number of sets that a group's primitives are to have: its own, the lookup's and those that its material reads, without a gap.
pub fn count_sets(group: &Group, parcel: &Parcel, lookup: u32) -> u32 {
    let read = group.material.map_or(&[][..], |m| parcel.sets_read(m));
    let last = own_sets(group).chain(read.iter().copied().filter(|&s| s < MOST_SETS)).chain([lookup]).max();
    last.unwrap_or(lookup) + 1
}

/// Lookup coordinates of vertices by their numbers over the whole bake.
pub fn lookup_uvs(vertices: Range<usize>, lanes: u32, groups: u32) -> Vec<[f32; 2]> {
    let (lanes_f, groups_f, lanes) = (f64::from(lanes), f64::from(groups), lanes as usize);
    let uv = |i: usize| [((i % lanes) as f64 + 0.5) / lanes_f, ((i / lanes) as f64 + 0.5) / groups_f].map(|v| v as f32);
    vertices.map(uv).collect()
}

fn reads(group: &Group, parcel: &Parcel, set: u32) -> bool {
    group.material.is_some_and(|m| parcel.sets_read(m).contains(&set))
}

fn own_sets(group: &Group) -> impl Iterator<Item = u32> + '_ {
    group.attributes.iter().filter_map(|a| a.semantic.strip_prefix("TEXCOORD_")?.parse().ok())
}
