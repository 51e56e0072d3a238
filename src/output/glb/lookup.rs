//! Which UV set carries the lookup, and what it holds (format.md, "The mesh").

use std::ops::Range;

use super::materials::Parcel;
use crate::plan::mesh::Group;
use crate::warning::{Code, Warnings};

/// Sets that are added because a material reads them, at most: what engines have.
const MOST_SETS: u32 = 8;

/// The set for the lookup: `wanted`, or, where a material reads it, the next one that is free, else the first that no material
/// reads. It is the same for all groups.
pub fn choose_set(groups: &[Group], parcel: &Parcel, wanted: u32, warnings: &mut Warnings) -> u32 {
    let occupied = |group: &Group, set: u32| own_sets(group).any(|s| s == set);
    let reader_of = |set: u32| groups.iter().find(|g| occupied(g, set) && reads(g, parcel, set));
    let mut replace = |set: u32| {
        let replaced = groups.iter().filter(|g| occupied(g, set)).count();
        warnings.add(Code::UvSetReplaced, replaced as u64, || {
            format!("TEXCOORD_{set} of {{count}} output primitive(s) was replaced by the lookup; no material reads it")
        });
    };
    let Some(reader) = reader_of(wanted) else {
        replace(wanted);
        return wanted;
    };
    let is_free = |set: &u32| !groups.iter().any(|g| occupied(g, *set));
    let mut set = (wanted + 1..).find(is_free).unwrap_or(MOST_SETS);
    // Beyond what engines have only where nothing else is left.
    if set >= MOST_SETS
        && let Some(unread) = (1..MOST_SETS).find(|set| reader_of(*set).is_none())
    {
        replace(unread);
        set = unread;
    }
    warnings.add(Code::UvSetMoved, 1, || {
        let material = reader.material.map_or_else(String::new, |m| parcel.material_name(m));
        format!(
            "TEXCOORD_{wanted} is read by material {material}, so the lookup stands in TEXCOORD_{set}; what reads only two sets (Bevy) \
             cannot play it: for that let the source's materials read TEXCOORD_0 alone"
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
