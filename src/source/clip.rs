//! Animations: channels with their keys (glTF 2.0, 3.11), checked and with unit quaternions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gltf::json::accessor::Type;
use gltf::json::animation::{Interpolation as JsonInterpolation, Property as JsonProperty, Sampler};
use gltf::json::validation::Checked;

use super::accessor;
use super::document::{Document, missing};
use super::elements;
use super::nodes::{self, Tree};
use crate::Fault;
use crate::scene::{Channel, Clip, Component, Interpolation, Local, Node, Property, Trs};
use crate::warning::{Code, Warnings};

const AGAIN: &str = "export the model again";

/// Reads all animations of the file; those in which nothing is left that moves are left out.
pub(super) fn read_clips(
    doc: &Document<'_>,
    tree: &mut Tree,
    ignored: &BTreeSet<(usize, usize)>,
    warnings: &mut Warnings,
) -> Result<Vec<Clip>, Fault> {
    let mut clips = Vec::new();
    let mut times = Times { doc, known: BTreeMap::new() };
    for (index, animation) in doc.root.animations.iter().enumerate() {
        let mut channels: Vec<Channel> = Vec::with_capacity(animation.channels.len());
        let mut driven = BTreeMap::new();
        for c in (0..animation.channels.len()).filter(|&c| !ignored.contains(&(index, c))) {
            let Some(channel) = read_channel(&mut times, index, c, tree, warnings)? else { continue };
            match driven.insert((channel.node, channel.property as u8), channels.len()) {
                None => channels.push(channel),
                Some(earlier) => {
                    warnings.add(Code::JsonMended, 1, || {
                        format!("{{count}} departures from the specification were mended, the first: /animations/{index}/channels/{c} drives what an earlier channel drives; the later was taken")
                    });
                    driven.insert((channel.node, channel.property as u8), earlier);
                    channels[earlier] = channel;
                }
            }
        }
        if channels.is_empty() {
            // One whose channels were all ignored has had its note.
            let said = (0..animation.channels.len()).any(|c| ignored.contains(&(index, c)));
            warnings.add(Code::EmptyAnimation, u64::from(!said), || {
                format!("{{count}} animations or channels without keys were left out, the first: /animations/{index}")
            });
            continue;
        }
        clips.push(Clip { name: animation.name.clone(), animation: index, source: None, channels });
    }
    free_animated_matrices(&mut tree.nodes, &clips, warnings);
    Ok(clips)
}

/// An animated node moves by translation, rotation and scale (3.11 forbids a matrix there): what the file gives is taken apart.
pub(crate) fn free_animated_matrices(nodes: &mut [Node], clips: &[Clip], warnings: &mut Warnings) {
    for channel in clips.iter().flat_map(|c| &c.channels).filter(|c| c.property != Property::Weights) {
        let node = &mut nodes[channel.node];
        if let Local::Matrix(matrix) = node.local {
            node.local = Local::Trs(Trs::from_matrix(matrix));
            warnings.add(Code::MatrixNodeAnimated, 1, || {
                format!("{{count}} animated nodes have a matrix (first: /nodes/{}); it was decomposed, which loses a shear", node.source)
            });
        }
    }
}

fn read_channel(
    times: &mut Times<'_, '_>,
    animation: usize,
    index: usize,
    tree: &Tree,
    warnings: &mut Warnings,
) -> Result<Option<Channel>, Fault> {
    let doc = times.doc;
    let json = &doc.root.animations[animation];
    let channel = &json.channels[index];
    let at = format!("/animations/{animation}/channels/{index}");
    let Some(sampler) = json.samplers.get(channel.sampler.value()) else {
        return Err(missing(&format!("{at}/sampler"), "sampler", channel.sampler.value(), json.samplers.len()));
    };
    let Some(&node) = tree.place.get(channel.target.node.value()) else {
        return Err(missing(&format!("{at}/target/node"), "node", channel.target.node.value(), tree.place.len()));
    };
    let Checked::Valid(path) = channel.target.path else { return Ok(None) };
    let property = match path {
        JsonProperty::Translation => Property::Translation,
        JsonProperty::Rotation => Property::Rotation,
        JsonProperty::Scale => Property::Scale,
        JsonProperty::MorphTargetWeights => Property::Weights,
    };
    let width = match property {
        Property::Translation | Property::Scale => 3,
        Property::Rotation => 4,
        Property::Weights => tree.nodes[node].weights.len(),
    };
    if width == 0 {
        warnings.add(Code::WeightsWithoutTargets, 1, || {
            format!("{{count}} channels drive the weights of meshes without morph targets (first: {at}) and were left out")
        });
        return Ok(None);
    }
    let at = format!("/animations/{animation}/samplers/{}", channel.sampler.value());
    let Some(keys) = times.read(sampler, &at, warnings)? else { return Ok(None) };
    let interpolation = match sampler.interpolation {
        Checked::Valid(JsonInterpolation::Linear) => Interpolation::Linear,
        Checked::Valid(JsonInterpolation::Step) => Interpolation::Step,
        Checked::Valid(JsonInterpolation::CubicSpline) => Interpolation::CubicSpline,
        Checked::Invalid => {
            return Err(Fault::new(format!("{at}/interpolation"), "the interpolation is not LINEAR, STEP or CUBICSPLINE", AGAIN));
        }
    };
    let values = read_values(doc, sampler, property, interpolation, keys.len(), width, &at, warnings)?;
    Ok(Some(Channel { node, property, interpolation, times: keys, values, width }))
}

#[allow(clippy::too_many_arguments)] // What a sampler's output depends on.
fn read_values(
    doc: &Document<'_>,
    sampler: &Sampler,
    property: Property,
    interpolation: Interpolation,
    keys: usize,
    width: usize,
    at: &str,
    warnings: &mut Warnings,
) -> Result<Vec<f32>, Fault> {
    let at = format!("{at}/output");
    let groups = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let (kind, an_element) = match property {
        Property::Translation | Property::Scale => (Type::Vec3, 1),
        Property::Rotation => (Type::Vec4, 1),
        Property::Weights => (Type::Scalar, width),
    };
    let found = accessor::count(doc, sampler.output.value());
    let wanted = keys as u64 * groups * an_element as u64;
    if let Some(found) = found.filter(|&found| found != wanted) {
        let each = groups * an_element as u64;
        let problem = format!("{found} values for {keys} keys, wanted {wanted} ({each} a key)");
        return Err(Fault::new(at, problem, AGAIN));
    }
    let elements = accessor::read(doc, sampler.output.value(), &at, warnings)?;
    let integer = ![Component::F32, Component::U32].contains(&elements.component);
    if elements.kind != kind || !(elements.component == Component::F32 || integer && elements.normalized) {
        let problem =
            format!("the accessor is a {}, wanted {} of F32 or normalized integers", elements.describe(), elements::type_name(kind));
        return Err(Fault::new(at, problem, AGAIN));
    }
    let mut values = elements.floats()?;
    if property == Property::Rotation {
        // 8-bit quaternions are off by up to a step of 1/127.
        let tolerance = if elements.component == Component::F32 { nodes::UNIT_TOLERANCE } else { 0.02 };
        let repaired = normalise_keys(&mut values, interpolation, tolerance);
        warnings.add(Code::QuaternionNormalised, repaired, || {
            format!("{{count}} quaternions were not of length 1 and were normalised (first: {at})")
        });
    }
    Ok(values)
}

/// Brings the quaternions of all keys to length 1; a spline's tangents shrink or grow with theirs. The number of repairs.
fn normalise_keys(values: &mut [f32], interpolation: Interpolation, tolerance: f64) -> u64 {
    let mut repaired = 0;
    let mut unit = |q: &mut [f32; 4]| {
        let before = *q;
        let (after, far) = nodes::unit_quaternion(before, tolerance);
        repaired += u64::from(far);
        *q = after.map(|v| v as f32);
        let length = before.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
        if length < 1e-30 { 1.0 } else { length.recip() }
    };
    let quaternions = values.as_chunks_mut::<4>().0;
    if interpolation == Interpolation::CubicSpline {
        for [before, value, after] in quaternions.as_chunks_mut::<3>().0 {
            let factor = unit(value);
            for tangent in before.iter_mut().chain(after.iter_mut()) {
                // A key of almost no length must not make an infinity.
                *tangent = (f64::from(*tangent) * factor).clamp(f32::MIN.into(), f32::MAX.into()) as f32;
            }
        }
    } else {
        for q in quaternions {
            unit(q);
        }
    }
    repaired
}

/// Key times, each accessor once: exporters share one among all channels of a clip.
struct Times<'d, 'b> {
    doc: &'d Document<'b>,
    known: BTreeMap<usize, Arc<[f32]>>,
}

impl Times<'_, '_> {
    /// The times of a sampler's keys, or none where there are no keys.
    fn read(&mut self, sampler: &Sampler, at: &str, warnings: &mut Warnings) -> Result<Option<Arc<[f32]>>, Fault> {
        let index = sampler.input.value();
        if let Some(times) = self.known.get(&index) {
            return Ok(Some(times.clone()));
        }
        if accessor::count(self.doc, index) == Some(0) {
            warnings
                .add(Code::EmptyAnimation, 1, || format!("{{count}} animations or channels without keys were left out, the first: {at}"));
            return Ok(None);
        }
        let at = format!("{at}/input");
        let elements = accessor::read(self.doc, index, &at, warnings)?;
        if elements.kind != Type::Scalar || elements.component != Component::F32 {
            return Err(Fault::new(at, format!("the accessor is a {}, wanted SCALAR of F32", elements.describe()), AGAIN));
        }
        let times = elements.floats()?;
        if let Some(i) = times.windows(2).position(|w| w[1] < w[0]) {
            let problem = format!("key {} is at {} s, key {i} before it at {} s; key times must ascend", i + 1, times[i + 1], times[i]);
            return Err(Fault::new(at, problem, "sort the keys and export the model again"));
        }
        let equal = times.windows(2).filter(|w| w[0] == w[1]).count();
        let negative = times.iter().filter(|&&t| t < 0.0).count();
        warnings.add(Code::KeyTimes, (equal + negative) as u64, || {
            format!("{{count}} key times equal the one before (a jump) or are negative (first in {at}); they were kept")
        });
        let times: Arc<[f32]> = times.into();
        self.known.insert(index, times.clone());
        Ok(Some(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_follow_their_key() {
        let mut values = [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 4.0, 0.0, 0.0, 0.0];
        assert_eq!(normalise_keys(&mut values, Interpolation::CubicSpline, 1e-3), 1);
        assert_eq!(values, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_zero_quaternion_is_the_identity() {
        let mut values = [0.0; 8];
        values[4..].copy_from_slice(&[0.0, 0.0, 3.0, 4.0]);
        assert_eq!(normalise_keys(&mut values, Interpolation::Linear, 1e-3), 2);
        assert_eq!(values, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.6, 0.8]);
    }
}
