//! Random models: a generator of valid skinned ones, their document, and where their vertices must be by a reference in f64 that
//! follows glTF 2.0 (3.7.3, appendix C) by the letter.

use proptest::prelude::*;
use serde_json::json;

use super::fixture::{Array, Doc, Type, mat4, scalars, vec3, vec4};
use super::models::{Rig, mesh};

/// Frames a second of bakes of these models: keys stay off its grid.
pub const RATE: f64 = 10.0;

type Quat = [f64; 4];
type V3 = [f64; 3];
/// Column-major, as glTF has it.
pub type M4 = [f64; 16];

// The model

#[derive(Debug, Clone)]
pub struct Joint {
    /// An earlier joint, or none.
    pub parent: Option<usize>,
    pub translation: V3,
    pub rotation: Quat,
    pub scale: V3,
    pub inverse_bind: M4,
}

#[derive(Debug, Clone)]
pub struct Vertex {
    pub position: V3,
    pub normal: V3,
    /// Four or eight joints with their weights.
    pub influences: Vec<(usize, f64)>,
}

#[derive(Debug, Clone)]
pub struct Channel {
    pub joint: usize,
    pub path: &'static str,
    pub interpolation: &'static str,
    pub times: Vec<f64>,
    /// A key: one value, or with CUBICSPLINE in-tangent, value, out-tangent.
    pub keys: Vec<Vec<f64>>,
}

#[derive(Debug, Clone)]
pub struct Model {
    pub joints: Vec<Joint>,
    pub vertices: Vec<Vertex>,
    pub channels: Vec<Channel>,
    pub sets: usize,
}

/// What survives being stored as f32.
pub fn stored(v: f64) -> f64 {
    f64::from(v as f32)
}

pub fn number(range: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    range.prop_map(stored)
}

pub fn point(reach: f64) -> impl Strategy<Value = V3> {
    [number(-reach..reach), number(-reach..reach), number(-reach..reach)]
}

pub fn unit<const N: usize>(v: [f64; N]) -> [f64; N] {
    let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
    v.map(|c| c / length)
}

pub fn direction<const N: usize>() -> impl Strategy<Value = [f64; N]> {
    let long_enough = |v: &[f64; N]| v.iter().map(|c| c * c).sum::<f64>() > 0.01;
    prop::collection::vec(-1.0..1.0, N)
        .prop_map(|v| -> [f64; N] { std::array::from_fn(|c| v[c]) })
        .prop_filter("too short to have a direction", long_enough)
        .prop_map(|v| unit(v).map(stored))
}

pub fn scale() -> impl Strategy<Value = V3> {
    [number(0.5..2.0), number(0.5..2.0), number(0.5..2.0)]
}

pub fn joint(index: usize) -> impl Strategy<Value = Joint> {
    let parent = prop::option::of(0..index.max(1));
    (parent, point(3.0), direction::<4>(), scale(), point(3.0), direction::<4>(), scale()).prop_map(move |(parent, t, r, s, bt, br, bs)| {
        Joint { parent: parent.filter(|_| index > 0), translation: t, rotation: r, scale: s, inverse_bind: compose(bt, br, bs).map(stored) }
    })
}

pub fn vertex(joints: usize, sets: usize) -> impl Strategy<Value = Vertex> {
    let influences = prop::collection::vec((0..joints, prop_oneof![Just(0.0), 0.05..1.0]), sets * 4);
    (point(2.0), direction::<3>(), influences).prop_map(|(position, normal, mut influences)| {
        influences[0].1 += 0.1; // never without any weight
        // A valid file names a joint once a vertex, and joint 0 where the weight is 0.
        for k in 0..influences.len() {
            if influences[k].1 == 0.0 || influences[..k].iter().any(|i| i.0 == influences[k].0 && i.1 > 0.0) {
                influences[k] = (0, 0.0);
            }
        }
        let sum: f64 = influences.iter().map(|i| i.1).sum();
        influences.iter_mut().for_each(|i| i.1 = stored(i.1 / sum));
        Vertex { position, normal, influences }
    })
}

pub fn channel(joint: usize, path: &'static str) -> impl Strategy<Value = Channel> {
    let value = move || match path {
        "rotation" => direction::<4>().prop_map(|v| v.to_vec()).boxed(),
        "scale" => scale().prop_map(|v| v.to_vec()).boxed(),
        _ => point(3.0).prop_map(|v| v.to_vec()).boxed(),
    };
    let tangent = move || prop::collection::vec(number(-0.3..0.3), if path == "rotation" { 4 } else { 3 });
    let interpolation = prop_oneof![Just("STEP"), Just("LINEAR"), Just("CUBICSPLINE")];
    // Keys stay off the grid of frames, so that no rounding decides between two keys.
    let keys = prop::collection::vec((1..5_u32, tangent(), value(), tangent()), 1..5);
    (interpolation, keys).prop_map(move |(interpolation, keys)| {
        let mut tick = 0;
        let times = keys.iter().map(|k| {
            tick += k.0;
            stored((f64::from(tick) + 0.437) / RATE)
        });
        let times = times.collect();
        let interpolation = if keys.len() == 1 { "LINEAR" } else { interpolation }; // a spline has two keys at least
        let whole = interpolation == "CUBICSPLINE";
        let keys = keys.into_iter().map(|(_, a, v, b)| if whole { [a, v, b].concat() } else { v }).collect();
        Channel { joint, path, interpolation, times, keys }
    })
}

pub fn model() -> impl Strategy<Value = Model> {
    (1..7_usize, 1..3_usize, 1..9_usize).prop_flat_map(|(joints, sets, triangles)| {
        let channels = (0..joints)
            .flat_map(|j| ["translation", "rotation", "scale"].map(|path| prop::option::weighted(0.6, channel(j, path)).boxed()));
        let all = (
            (0..joints).map(|j| joint(j).boxed()).collect::<Vec<_>>(),
            prop::collection::vec(vertex(joints, sets), triangles * 3),
            channels.collect::<Vec<_>>(),
        );
        all.prop_map(move |(joints, vertices, channels)| Model {
            joints,
            vertices,
            channels: channels.into_iter().flatten().collect(),
            sets,
        })
    })
}

/// The model as a glTF document, all floats: node 0 is the mesh, node `j + 1` is joint j.
pub fn document(model: &Model) -> Doc {
    document_with(model, &mut |_, array| array)
}

/// The same with every accessor passed through `encode`, which is told its semantic, its path, `IBM` or `TIMES`.
pub fn document_with(model: &Model, encode: &mut dyn FnMut(&str, Array) -> Array) -> Doc {
    let children = |j: usize| (0..model.joints.len()).filter(|&k| model.joints[k].parent == Some(j)).map(|k| k + 1).collect::<Vec<_>>();
    let node = |(j, joint): (usize, &Joint)| {
        let mut node = json!({ "translation": joint.translation, "rotation": joint.rotation, "scale": joint.scale });
        if !children(j).is_empty() {
            node["children"] = json!(children(j));
        }
        node
    };
    let mut doc = Rig::new(model.joints.iter().enumerate().map(node).collect()).doc();
    let inverse_bind = doc.add(encode("IBM", mat4(&model.joints.iter().map(|j| j.inverse_bind).collect::<Vec<_>>())));
    doc.json["skins"][0]["inverseBindMatrices"] = json!(inverse_bind);
    doc.json["nodes"][0]["translation"] = json!([50.0, 60.0, 70.0]); // must not matter
    let of = |f: &dyn Fn(&Vertex) -> V3| vec3(&model.vertices.iter().map(f).collect::<Vec<_>>());
    let mut attributes = vec![("POSITION", of(&|v| v.position)), ("NORMAL", of(&|v| v.normal))];
    for set in 0..model.sets {
        let four = |f: &dyn Fn(&(usize, f64)) -> f64| {
            let row = |v: &Vertex| std::array::from_fn(|c| f(&v.influences[set * 4 + c]));
            vec4(&model.vertices.iter().map(row).collect::<Vec<_>>())
        };
        attributes.push((["JOINTS_0", "JOINTS_1"][set], four(&|i| i.0 as f64).of(Type::U8)));
        attributes.push((["WEIGHTS_0", "WEIGHTS_1"][set], four(&|i| i.1)));
    }
    let attributes = attributes.into_iter().map(|(name, array)| (name, encode(name, array))).collect();
    let mesh = mesh(&mut doc, attributes);
    doc.json["nodes"][0]["mesh"] = json!(mesh);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for channel in &model.channels {
        let values = channel.keys.concat();
        let output = if channel.path == "rotation" {
            vec4(&values.chunks(4).map(|v| [v[0], v[1], v[2], v[3]]).collect::<Vec<_>>())
        } else {
            vec3(&values.chunks(3).map(|v| [v[0], v[1], v[2]]).collect::<Vec<_>>())
        };
        let (input, output) = (encode("TIMES", scalars(&channel.times)), encode(channel.path, output));
        let (input, output) = (doc.add(input), doc.add(output));
        channels.push(json!({ "sampler": samplers.len(), "target": { "node": channel.joint + 1, "path": channel.path } }));
        samplers.push(json!({ "input": input, "output": output, "interpolation": channel.interpolation }));
    }
    if !channels.is_empty() {
        doc.push("animations", json!({ "channels": channels, "samplers": samplers }));
    }
    doc
}

// The reference

pub fn compose(t: V3, q: Quat, s: V3) -> M4 {
    let [x, y, z, w] = unit(q);
    let columns = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)],
        [2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)],
        [2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)],
    ];
    let mut m = [0.0; 16];
    for c in 0..3 {
        for r in 0..3 {
            m[c * 4 + r] = columns[c][r] * s[c];
        }
        m[12 + c] = t[c];
    }
    m[15] = 1.0;
    m
}

pub fn multiply(a: &M4, b: &M4) -> M4 {
    std::array::from_fn(|i| (0..4).map(|k| a[k * 4 + i % 4] * b[i / 4 * 4 + k]).sum())
}

/// Appendix C.
pub fn sample(channel: &Channel, t: f64) -> Vec<f64> {
    let width = if channel.path == "rotation" { 4 } else { 3 };
    let spline = channel.interpolation == "CUBICSPLINE";
    let value = |k: usize| -> Vec<f64> {
        let v = if spline { channel.keys[k][width..2 * width].to_vec() } else { channel.keys[k].clone() };
        if width == 4 { unit([v[0], v[1], v[2], v[3]]).to_vec() } else { v }
    };
    let last = channel.times.len() - 1;
    if t <= channel.times[0] {
        return value(0);
    }
    if t >= channel.times[last] {
        return value(last);
    }
    let k = channel.times.iter().rposition(|&key| key <= t).unwrap_or(0);
    let length = channel.times[k + 1] - channel.times[k];
    let s = (t - channel.times[k]) / length;
    let (a, b) = (value(k), value(k + 1));
    match channel.interpolation {
        "STEP" => a,
        "LINEAR" if width == 4 => slerp(&a, &b, s),
        "LINEAR" => (0..width).map(|c| a[c] + (b[c] - a[c]) * s).collect(),
        _ => {
            let (out, into) = (&channel.keys[k][2 * width..], &channel.keys[k + 1][..width]);
            let (s2, s3) = (s * s, s * s * s);
            let blend = |c: usize| {
                (2.0 * s3 - 3.0 * s2 + 1.0) * a[c]
                    + length * (s3 - 2.0 * s2 + s) * out[c]
                    + (-2.0 * s3 + 3.0 * s2) * b[c]
                    + length * (s3 - s2) * into[c]
            };
            (0..width).map(blend).collect()
        }
    }
}

pub fn slerp(a: &[f64], b: &[f64], s: f64) -> Vec<f64> {
    let dot: f64 = (0..4).map(|c| a[c] * b[c]).sum();
    let angle = dot.abs().min(1.0).acos();
    if angle < 1e-6 {
        return a.to_vec();
    }
    let (wa, wb) = (((1.0 - s) * angle).sin() / angle.sin(), dot.signum() * (s * angle).sin() / angle.sin());
    (0..4).map(|c| wa * a[c] + wb * b[c]).collect()
}

/// Joint matrices at a time: world times inverse bind.
pub fn palette(model: &Model, t: f64) -> Vec<M4> {
    let mut worlds: Vec<M4> = Vec::new();
    for (j, joint) in model.joints.iter().enumerate() {
        let find = |path: &str| model.channels.iter().find(|c| c.joint == j && c.path == path).map(|c| sample(c, t));
        let three = |path: &str, rest: V3| find(path).map_or(rest, |v| [v[0], v[1], v[2]]);
        let rotation = find("rotation").map_or(joint.rotation, |v| [v[0], v[1], v[2], v[3]]);
        let local = compose(three("translation", joint.translation), rotation, three("scale", joint.scale));
        worlds.push(joint.parent.map_or(local, |p| multiply(&worlds[p], &local)));
    }
    worlds.iter().zip(&model.joints).map(|(world, joint)| multiply(world, &joint.inverse_bind)).collect()
}

pub fn blend(palette: &[M4], vertex: &Vertex) -> M4 {
    let sum: f64 = vertex.influences.iter().map(|i| i.1).sum();
    std::array::from_fn(|e| vertex.influences.iter().map(|(j, w)| palette[*j][e] * w / sum).sum())
}

pub fn transform(m: &M4, p: V3) -> V3 {
    std::array::from_fn(|r| m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r])
}

/// The normal by the inverse transpose (through the cofactors, with the determinant's sign); none where the blend has next to no
/// volume, so that f32 cannot say where it points.
pub fn normal(m: &M4, n: V3) -> Option<V3> {
    let column = |c: usize| [m[c * 4], m[c * 4 + 1], m[c * 4 + 2]];
    let cross = |a: V3, b: V3| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let cofactors = [cross(column(1), column(2)), cross(column(2), column(0)), cross(column(0), column(1))];
    let determinant: f64 = (0..3).map(|c| column(0)[c] * cofactors[0][c]).sum();
    let turned: V3 = std::array::from_fn(|c| (0..3).map(|r| cofactors[r][c] * n[r]).sum::<f64>() * determinant.signum());
    let length = turned.iter().map(|c| c * c).sum::<f64>().sqrt();
    let size = (0..3).flat_map(column).map(|c| c * c).sum::<f64>();
    (length > 0.02 * size && determinant.abs() > 1e-4 * size.powf(1.5)).then(|| turned.map(|c| c / length))
}
