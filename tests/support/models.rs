//! The documents that many cases start from. Triangles carry a normal each vertex, so that no vertex is split by the bake.

use serde_json::{Value, json};

use super::fixture::{Array, Doc, Type, scalars, vec3, vec4};

/// Corners of the triangle that most cases move.
pub const TRIANGLE: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// 90° about Z as a quaternion xyzw.
pub const QUARTER_Z: [f64; 4] = [0.0, 0.0, std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2];

/// Adds a mesh of one primitive, non-indexed, with these attributes; returns the mesh's index.
pub fn mesh(doc: &mut Doc, attributes: Vec<(&str, Array)>) -> usize {
    let attributes: serde_json::Map<String, Value> =
        attributes.into_iter().map(|(name, array)| (name.to_owned(), json!(doc.add(array)))).collect();
    doc.push("meshes", json!({ "primitives": [{ "attributes": attributes }] }))
}

/// Normals along +Z, one a vertex.
pub fn normals(count: usize) -> Array {
    vec3(&vec![[0.0, 0.0, 1.0]; count])
}

/// A triangle with normals under one root node, node 0. Nothing moves.
pub fn rigid(positions: &[[f64; 3]]) -> Doc {
    let mut doc = Doc::new();
    let mesh = mesh(&mut doc, vec![("POSITION", vec3(positions)), ("NORMAL", normals(positions.len()))]);
    doc.root(json!({ "mesh": mesh }));
    doc
}

/// [`rigid`] with an animation of node 0's translation.
pub fn sliding(interpolation: &str, times: &[f64], x: &[f64]) -> Doc {
    let mut doc = rigid(&TRIANGLE);
    doc.animate(None, &[(0, "translation", interpolation, times, vec3(&along_x(x)))]);
    doc
}

/// Points on the x axis.
pub fn along_x(x: &[f64]) -> Vec<[f64; 3]> {
    x.iter().map(|&x| [x, 0.0, 0.0]).collect()
}

/// A skinned mesh. Node 0 shows it, joint k is node k + 1. Joints that are no other joint's child stand in the scene, several of
/// them under one more node that does nothing: a skin's joints need a common root (glTF 2.0, 3.7.3.2).
pub struct Rig {
    /// Undeformed positions.
    pub positions: Vec<[f64; 3]>,
    /// JOINTS_0.
    pub joints: Array,
    /// WEIGHTS_0.
    pub weights: Array,
    /// One node a joint.
    pub nodes: Vec<Value>,
    /// `inverseBindMatrices`, identity where absent.
    pub inverse_bind: Option<Array>,
}

impl Rig {
    /// The triangle, every vertex bound to joint 0, which is where `nodes[0]` says.
    pub fn new(nodes: Vec<Value>) -> Self {
        Rig {
            positions: TRIANGLE.to_vec(),
            joints: vec4(&[[0.0; 4]; 3]).of(Type::U8),
            weights: vec4(&[[1.0, 0.0, 0.0, 0.0]; 3]),
            nodes,
            inverse_bind: None,
        }
    }

    /// All vertices with these joints and weights.
    pub fn influences(mut self, joints: [f64; 4], weights: [f64; 4]) -> Self {
        self.joints = vec4(&vec![joints; self.positions.len()]).of(Type::U8);
        self.weights = vec4(&vec![weights; self.positions.len()]);
        self
    }

    /// The document.
    pub fn doc(self) -> Doc {
        let mut doc = Doc::new();
        let count = self.positions.len();
        let mesh = mesh(
            &mut doc,
            vec![("POSITION", vec3(&self.positions)), ("NORMAL", normals(count)), ("JOINTS_0", self.joints), ("WEIGHTS_0", self.weights)],
        );
        doc.root(json!({ "mesh": mesh, "skin": 0 }));
        let children: Vec<&Value> = self.nodes.iter().filter_map(|n| n["children"].as_array()).flatten().collect();
        let joints: Vec<usize> = (1..=self.nodes.len()).collect();
        let tops: Vec<usize> = joints.iter().copied().filter(|j| !children.contains(&&json!(j))).collect();
        self.nodes.iter().for_each(|node| {
            doc.node(node.clone());
        });
        let top = if tops.len() > 1 { vec![doc.node(json!({ "name": "armature", "children": tops }))] } else { tops };
        doc.json["scenes"][0]["nodes"].as_array_mut().expect("nodes").extend(top.into_iter().map(Value::from));
        let mut skin = json!({ "joints": joints });
        if let Some(matrices) = self.inverse_bind {
            skin["inverseBindMatrices"] = json!(doc.add(matrices));
        }
        doc.push("skins", skin);
        doc
    }
}

/// A triangle with morph targets under node 0; each target is a list of attributes.
pub fn morphing(positions: &[[f64; 3]], targets: Vec<Vec<(&str, Array)>>) -> Doc {
    let mut doc = rigid(positions);
    let targets: Vec<Value> = targets
        .into_iter()
        .map(|target| {
            target.into_iter().map(|(name, array)| (name.to_owned(), json!(doc.add(array)))).collect::<serde_json::Map<_, _>>().into()
        })
        .collect();
    doc.json["meshes"][0]["primitives"][0]["targets"] = json!(targets);
    doc
}

/// A cube of side 2 about the origin: 24 vertices with outward normals, 36 indices counter-clockwise from outside.
pub fn cube(doc: &mut Doc) -> usize {
    let (mut positions, mut normals, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let first = positions.len() as f64;
            for (u, v) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut corner = [0.0; 3];
                corner[axis] = sign;
                corner[(axis + 1) % 3] = u * sign; // reversed on the negative side, which keeps the winding outward
                corner[(axis + 2) % 3] = v;
                positions.push(corner);
                let mut normal = [0.0; 3];
                normal[axis] = sign;
                normals.push(normal);
            }
            indices.extend([0.0, 1.0, 2.0, 0.0, 2.0, 3.0].map(|i| first + i));
        }
    }
    let mesh = mesh(doc, vec![("POSITION", vec3(&positions)), ("NORMAL", vec3(&normals))]);
    let indices = doc.add(scalars(&indices).of(Type::U16));
    doc.json["meshes"][mesh]["primitives"][0]["indices"] = json!(indices);
    mesh
}

/// `count` vertices (at least 3) in triangles that share no vertex but where `count` is no multiple of 3: then the last triangle
/// takes its missing corners from the start. Vertex i stands at `at(i)`.
pub fn cloud(count: usize, at: impl Fn(usize) -> [f64; 3]) -> Doc {
    let positions: Vec<_> = (0..count).map(at).collect();
    let mut doc = rigid(&positions);
    let indices: Vec<f64> = (0..count.next_multiple_of(3)).map(|i| (i % count) as f64).collect();
    let indices = doc.add(scalars(&indices).of(Type::U32));
    doc.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
    doc
}

/// A PNG of one red pixel.
pub const PIXEL: &[u8] = &[
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 144, 119, 83, 222, 0, 0, 0, 12,
    73, 68, 65, 84, 120, 156, 99, 248, 207, 192, 0, 0, 3, 1, 1, 0, 201, 254, 146, 239, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];
