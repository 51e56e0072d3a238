//! Joints and weights of a primitive: all sets together, normalised over all of them (glTF 2.0, 3.7.3.3).

use std::collections::BTreeMap;

use gltf::json::accessor::Type;

use super::draco::Geometry;
use super::elements::Elements;
use super::facts::WeightFacts;
use crate::Fault;
use crate::scene::{Component, Influences};
use crate::warning::{Code, Warnings};

/// Accessor numbers of `JOINTS_n` or `WEIGHTS_n`, by n.
pub(super) type Sets = BTreeMap<u32, usize>;

/// Deviation of a float weight from what was meant, an influence: exporters round to three or four digits.
const FLOAT_TOLERANCE: f64 = 1e-4;

/// One set as read, before normalisation.
struct Set {
    joints: Vec<u32>,
    weights: Vec<f32>,
    /// Deviation of the sum that this set's encoding explains, an influence.
    tolerance: f64,
}

/// Counts of repairs over one primitive.
#[derive(Default)]
struct Repairs {
    weights: WeightFacts,
    worst: f64,
    invalid: u64,
    junk: u64,
}

/// Reads the influences of a primitive whose skin has `joint_count` joints. `at` points at the primitive's attributes.
pub(super) fn read_influences(
    geometry: &Geometry<'_, '_>,
    joints: &Sets,
    weights: &Sets,
    vertices: usize,
    joint_count: usize,
    at: &str,
    warnings: &mut Warnings,
) -> Result<Influences, Fault> {
    for (set, has, lacks) in [(joints, "JOINTS", "WEIGHTS"), (weights, "WEIGHTS", "JOINTS")] {
        let other = if has == "JOINTS" { weights } else { joints };
        if let Some(n) = set.keys().find(|n| !other.contains_key(n)) {
            return Err(Fault::new(at, format!("{has}_{n} stands without {lacks}_{n}"), "the two go together; export the model again"));
        }
    }
    let mut sets = Vec::new();
    for (n, &joint_accessor) in joints {
        let Some(&weight_accessor) = weights.get(n) else { continue };
        sets.push(read_set(geometry, *n, joint_accessor, weight_accessor, vertices, at, warnings)?);
    }
    let mut influences = Influences { sets: sets.len(), ..Influences::default() };
    if sets.is_empty() {
        return Ok(influences);
    }
    influences.joints.reserve(vertices * sets.len());
    influences.weights.reserve(vertices * sets.len());
    let mut repairs = Repairs::default();
    repairs.weights.vertices = vertices as u64;
    for vertex in 0..vertices {
        push_vertex(&sets, vertex, joint_count, at, &mut repairs, &mut influences)?;
    }
    geometry.doc.seen.borrow_mut().merge(repairs.weights);
    report(&repairs, at, warnings);
    Ok(influences)
}

fn read_set(
    geometry: &Geometry<'_, '_>,
    n: u32,
    joints: usize,
    weights: usize,
    vertices: usize,
    at: &str,
    warnings: &mut Warnings,
) -> Result<Set, Fault> {
    let joints_at = format!("{at}/JOINTS_{n}");
    let joints = geometry.read(joints, &joints_at, warnings)?;
    check(&joints, &[Component::U8, Component::U16], "U8 or U16", vertices, &joints_at)?;
    let weights_at = format!("{at}/WEIGHTS_{n}");
    let mut weights = geometry.read(weights, &weights_at, warnings)?;
    check(&weights, &[Component::F32, Component::U8, Component::U16], "F32, or normalized U8 or U16", vertices, &weights_at)?;
    if weights.component != Component::F32 && !weights.normalized {
        weights.normalized = true;
        warnings.add(Code::JsonMended, 1, || {
            format!("{{count}} departures from the specification were mended, the first: {weights_at} holds integers that are not marked as normalized")
        });
    }
    let tolerance = match weights.component {
        Component::U8 => 0.1 / 255.0,
        Component::U16 => 0.1 / 65535.0,
        _ => FLOAT_TOLERANCE,
    };
    Ok(Set { joints: joints.unsigned(), weights: weights.floats_unchecked()?, tolerance })
}

fn check(elements: &Elements<'_>, components: &[Component], wanted: &str, vertices: usize, at: &str) -> Result<(), Fault> {
    const REMEDY: &str = "export the model again";
    if elements.kind != Type::Vec4 || !components.contains(&elements.component) {
        return Err(Fault::new(at, format!("the accessor is a {}, wanted VEC4 of {wanted}", elements.describe()), REMEDY));
    }
    if elements.count != vertices {
        return Err(Fault::new(at, format!("{} elements for {vertices} vertices", elements.count), REMEDY));
    }
    Ok(())
}

fn push_vertex(
    sets: &[Set],
    vertex: usize,
    joint_count: usize,
    at: &str,
    repairs: &mut Repairs,
    influences: &mut Influences,
) -> Result<(), Fault> {
    let first = influences.weights.len();
    let (mut sum, mut tolerance, mut invalid) = (0.0, 0.0, false);
    for (s, set) in sets.iter().enumerate() {
        let (mut joints, mut weights) = ([0; 4], [0.0; 4]);
        for k in 0..4 {
            let (joint, weight) = (set.joints[vertex * 4 + k], set.weights[vertex * 4 + k]);
            let usable = weight.is_finite() && weight >= 0.0;
            invalid |= !usable;
            // Denormals count as 0: many GPUs flush them.
            if !usable || weight < f32::MIN_POSITIVE {
                repairs.junk += u64::from(joint as usize >= joint_count);
                continue;
            }
            if joint as usize >= joint_count {
                let problem = format!("vertex {vertex} names joint {joint} with weight {weight}, the skin has {joint_count} joints");
                return Err(Fault::new(format!("{at}/JOINTS_{s}"), problem, "bind the mesh anew and export the model again"));
            }
            // Joints come from u8 or u16.
            joints[k] = joint as u16;
            weights[k] = weight;
            sum += f64::from(weight);
            tolerance += set.tolerance;
        }
        influences.joints.push(joints);
        influences.weights.push(weights);
    }
    repairs.invalid += u64::from(invalid);
    if sum < f64::from(f32::MIN_POSITIVE) {
        repairs.weights.zero += 1;
        let joint = sets.first().map_or(0, |set| set.joints[vertex * 4]);
        influences.joints[first][0] = if (joint as usize) < joint_count { joint as u16 } else { 0 };
        influences.weights[first..].fill([0.0; 4]);
        influences.weights[first][0] = 1.0;
        return Ok(());
    }
    repairs.weights.add_sum(sum);
    let deviation = (sum - 1.0).abs();
    if deviation > tolerance {
        repairs.weights.unnormalised += 1;
        repairs.worst = repairs.worst.max(deviation);
    }
    for weight in influences.weights[first..].as_flattened_mut() {
        *weight = (f64::from(*weight) / sum) as f32;
    }
    Ok(())
}

fn report(repairs: &Repairs, at: &str, warnings: &mut Warnings) {
    warnings.add(Code::WeightsRenormalised, repairs.weights.unnormalised, || {
        let worst = repairs.worst;
        format!("the weights of {{count}} vertices did not sum to 1 (by up to {worst:.3} at {at}) and were divided by their sum")
    });
    warnings.add(Code::ZeroWeights, repairs.weights.zero, || {
        format!("{{count}} vertices have no weight at all (first at {at}) and follow the first joint that they name; bind them to a joint")
    });
    warnings.add(Code::InvalidWeights, repairs.invalid, || {
        format!("the weights of {{count}} vertices are negative or not finite (first at {at}) and were taken as 0")
    });
    warnings.add(Code::UnusedJointOutOfRange, repairs.junk, || {
        format!("{{count}} influences of weight 0 name joints that the skin does not have (first at {at}); joint 0 was taken")
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(weights: [f32; 4], joints: [u32; 4]) -> (Result<Influences, Fault>, Repairs) {
        let sets = [Set { joints: joints.to_vec(), weights: weights.to_vec(), tolerance: FLOAT_TOLERANCE }];
        let mut influences = Influences { sets: 1, ..Influences::default() };
        let mut repairs = Repairs::default();
        let result = push_vertex(&sets, 0, 2, "", &mut repairs, &mut influences);
        (result.map(|()| influences), repairs)
    }

    #[test]
    fn weights_are_divided_by_their_sum() {
        let (influences, repairs) = vertex([0.6, 0.6, 0.0, 0.0], [0, 1, 0, 0]);
        assert_eq!(influences.unwrap().weights, [[0.5, 0.5, 0.0, 0.0]]);
        assert_eq!(repairs.weights.unnormalised, 1);
        assert_eq!(vertex([0.33333, 0.33333, 0.33333, 0.0], [0, 1, 0, 0]).1.weights.unnormalised, 0);
    }

    #[test]
    fn no_weight_means_the_first_joint_named() {
        let (influences, repairs) = vertex([0.0, f32::NAN, -1.0, 0.0], [1, 0, 0, 9]);
        let influences = influences.unwrap();
        assert_eq!((influences.joints[0], influences.weights[0]), ([1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]));
        assert_eq!((repairs.weights.zero, repairs.invalid, repairs.junk), (1, 1, 1));
    }

    #[test]
    fn a_joint_out_of_range_with_weight_is_an_error() {
        assert!(vertex([0.5, 0.5, 0.0, 0.0], [0, 2, 0, 0]).0.is_err());
    }
}
