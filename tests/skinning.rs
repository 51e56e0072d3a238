//! Closed forms of skinning and of the node tree: small inputs whose result can be worked out on paper (glTF 2.0, 3.7.3 and 3.5).
//! Every case runs on the CPU twin and on a software adapter.

mod support;

use serde_json::json;
use support::bake::{assert_near, refuse_at};
use support::decode::{Part, V3, Vat};
use support::models::{self, QUARTER_Z, Rig, TRIANGLE, along_x, cube, normals, rigid};
use support::{Array, Doc, Type, bake_fixture, mat4, on_every_device, refuse, scalars, vec3, vec4};
use vatbake::warning::Code;

/// f32 arithmetic on values near 1.
const NEAR: f64 = 1e-6;

const IDENTITY: [f64; 16] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

/// A matrix that moves and scales, column-major.
fn moved(scale: f64, x: f64, y: f64, z: f64) -> [f64; 16] {
    let s = scale;
    [s, 0.0, 0.0, 0.0, 0.0, s, 0.0, 0.0, 0.0, 0.0, s, 0.0, x, y, z, 1.0]
}

fn assert_frame(vat: &Vat, frame: usize, wanted: &[V3], tolerance: f64) {
    wanted.iter().enumerate().for_each(|(i, p)| assert_near(vat.position(frame, i), *p, tolerance));
}

/// Two joints on the x axis at these places, every vertex with these weights.
fn two_joints(a: f64, b: f64, weights: Array) -> Doc {
    let at = |x: f64| json!({ "translation": [x, 0.0, 0.0] });
    let mut rig = Rig::new(vec![at(a), at(b)]).influences([0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]);
    rig.positions = vec![[0.0; 3], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    rig.weights = weights;
    rig.doc()
}

#[test]
fn s01_the_skinned_nodes_own_transform_is_ignored() {
    let mut doc = Rig::new(vec![json!({})]).doc();
    doc.json["nodes"][0]["translation"] = json!([0.0, 1.0, 0.0]);
    doc.json["nodes"][0]["rotation"] = json!([0.0, 1.0, 0.0, 0.0]);
    let parent = doc.node(json!({ "translation": [1.0, 0.0, 0.0], "children": [0] }));
    doc.json["scenes"][0]["nodes"] = json!([parent, 1]);
    on_every_device(|bake| assert_frame(&bake(&doc), 0, &TRIANGLE, 0.0));

    doc.animate(None, &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&[[0.0; 3], [5.0, 6.0, 7.0]]))]);
    on_every_device(|bake| {
        let baked = bake(&doc);
        (0..baked.frame_count).for_each(|f| assert_frame(&baked, f, &TRIANGLE, 0.0));
        assert_eq!(baked.warned(Code::NothingMoves), 1, "the clip moves a node that no vertex follows");
    });
}

#[test]
fn s02_inverse_bind_matrices_are_optional() {
    let rig =
        || Rig::new(vec![json!({ "translation": [0.0, 2.0, 0.0] }), json!({})]).influences([0.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]);
    let absent = rig().doc();
    let more = Rig { inverse_bind: Some(mat4(&[IDENTITY, IDENTITY, moved(9.0, 9.0, 9.0, 9.0)])), ..rig() }.doc();
    let files = |doc: &Doc| bake_fixture(doc, |_| ()).data_files();
    assert!(!files(&absent).is_empty());
    assert_eq!(files(&absent), files(&more));
    on_every_device(|bake| assert_near(bake(&absent).position(0, 0), [1.0, 1.0, 0.0], NEAR));

    let few = Rig { inverse_bind: Some(mat4(&[IDENTITY])), ..rig() }.doc();
    refuse_at(&few, "/skins/0", &["1", "2"]);
}

#[test]
fn s03_weights_are_renormalised_by_their_sum() {
    let bytes = |first: [f64; 4], rest: [f64; 4]| vec4(&[first, rest, rest]).of(Type::U8).normalized();
    let proper = two_joints(0.0, 10.0, bytes([200.0, 55.0, 0.0, 0.0], [200.0, 55.0, 0.0, 0.0]));
    let short = two_joints(1000.0, 1000.0, bytes([199.0, 55.0, 0.0, 0.0], [255.0, 0.0, 0.0, 0.0]));
    let words = two_joints(0.0, 10.0, vec4(&[[40000.0, 25535.0, 0.0, 0.0]; 3]).of(Type::U16).normalized());
    let large = two_joints(0.0, 10.0, vec4(&[[0.6, 0.6, 0.0, 0.0]; 3]));
    on_every_device(|bake| {
        let baked = bake(&proper);
        assert_near(baked.position(0, 0), [2.156_862_745, 0.0, 0.0], 1e-5);
        assert_eq!(baked.warned(Code::WeightsRenormalised), 0);
        let baked = bake(&short);
        assert_near(baked.position(0, 0), [1000.0, 0.0, 0.0], 1e-3);
        assert_eq!(baked.warned(Code::WeightsRenormalised), 1);
        assert_near(bake(&words).position(0, 1), [10.0 * 25535.0 / 65535.0, 1.0, 0.0], 1e-5);
        let baked = bake(&large);
        assert_near(baked.position(0, 0), [5.0, 0.0, 0.0], 1e-5);
        assert_eq!(baked.warned(Code::WeightsRenormalised), 3);
    });
}

#[test]
fn s04_a_vertex_without_weights_follows_the_first_joint_it_names() {
    let mut rig = Rig::new(vec![json!({}), json!({ "translation": [50.0, 0.0, 0.0] })]);
    rig.weights = vec4(&[[1.0, 0.0, 0.0, 0.0], [0.0; 4], [1.0, 0.0, 0.0, 0.0]]);
    let mut doc = rig.doc();
    doc.animate(None, &[(1, "translation", "LINEAR", &[0.0, 1.0], vec3(&[[0.0; 3], [0.0, 1.0, 0.0]]))]);
    on_every_device(|bake| {
        let baked = bake(&doc);
        let last = baked.frame_count - 1;
        assert_near(baked.position(last, 1), [0.0, 2.0, 0.0], NEAR);
        assert_eq!(baked.warned(Code::ZeroWeights), 1);
        let finite = |p: &V3| p.iter().all(|c| c.is_finite());
        assert!(baked.all_positions().iter().flatten().all(finite));
    });
}

#[test]
fn s06_the_skeleton_property_plays_no_part() {
    let rig = |skeleton: Option<usize>| {
        let mut doc = Rig::new(vec![json!({ "translation": [0.0, 0.0, 3.0] })]).doc();
        let armature = doc.node(json!({ "translation": [5.0, 0.0, 0.0], "children": [1] }));
        doc.json["scenes"][0]["nodes"] = json!([0, armature]);
        if let Some(skeleton) = skeleton {
            doc.json["skins"][0]["skeleton"] = json!(skeleton);
        }
        doc
    };
    on_every_device(|bake| {
        for skeleton in [None, Some(1), Some(2)] {
            let wanted = TRIANGLE.map(|p| [p[0] + 5.0, p[1], p[2] + 3.0]);
            assert_frame(&bake(&rig(skeleton)), 0, &wanted, NEAR);
        }
    });
}

#[test]
fn s07_ancestors_of_joints_count_inside_and_outside_the_scene() {
    let mut doc = Rig::new(vec![json!({ "children": [2] }), json!({ "translation": [100.0, 0.0, 0.0] })])
        .influences([1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0])
        .doc();
    let armature = doc.node(json!({ "scale": [0.01, 0.01, 0.01], "children": [1] }));
    doc.json["scenes"][0]["nodes"] = json!([0, armature]);
    let wanted = TRIANGLE.map(|p| [p[0] * 0.01 + 1.0, p[1] * 0.01, p[2] * 0.01]);
    let mut outside = doc.clone();
    outside.json["scenes"][0]["nodes"] = json!([0]);
    on_every_device(|bake| {
        let baked = bake(&doc);
        assert_frame(&baked, 0, &wanted, NEAR);
        assert_eq!(baked.warned(Code::JointOutsideScene), 0);
        let baked = bake(&outside);
        assert_frame(&baked, 0, &wanted, NEAR);
        assert!(baked.warned(Code::JointOutsideScene) > 0);
    });
}

#[test]
fn s09_skins_share_a_view_of_matrices_at_offsets() {
    let mut doc = Doc::new();
    let matrices = [1.0, 2.0, 3.0, 4.0].map(|x| moved(1.0, x, 0.0, 0.0));
    let all = doc.add(mat4(&matrices));
    let view = doc.json["accessors"][all]["bufferView"].clone();
    let half = |offset: usize| json!({ "bufferView": view, "byteOffset": offset, "componentType": 5126, "count": 2, "type": "MAT4" });
    let skins = [0, 128].map(|offset| doc.push("accessors", half(offset)));
    let (joints, weights) = (vec4(&[[0.0, 1.0, 0.0, 0.0]; 3]).of(Type::U8), vec4(&[[0.5, 0.5, 0.0, 0.0]; 3]));
    let attributes = vec![("POSITION", vec3(&TRIANGLE)), ("NORMAL", normals(3)), ("JOINTS_0", joints), ("WEIGHTS_0", weights)];
    let mesh = models::mesh(&mut doc, attributes);
    for (skin, accessor) in skins.into_iter().enumerate() {
        doc.root(json!({ "mesh": mesh, "skin": skin }));
        doc.push("skins", json!({ "joints": [2, 3], "inverseBindMatrices": accessor }));
    }
    doc.root(json!({ "children": [3] }));
    doc.node(json!({}));
    on_every_device(|bake| {
        let baked = bake(&doc);
        // K-10 too: the same joints, other inverse bind matrices.
        for (node, x) in [(0, 1.5), (1, 3.5)] {
            let part = part_of(&baked, node, 0);
            assert_near(baked.position(0, part.first_vertex), [1.0 + x, 0.0, 0.0], NEAR);
        }
    });
}

fn part_of(vat: &Vat, node: usize, primitive: usize) -> Part {
    let found = vat.parts.iter().find(|p| p.node == node && p.primitive == primitive);
    found.unwrap_or_else(|| panic!("no part of node {node}, primitive {primitive}: {:?}", vat.parts)).clone()
}

#[test]
fn s11_every_influence_set_counts() {
    let nodes = [0.0, 10.0, 20.0, 30.0, 40.0].map(|x| json!({ "translation": [x, 0.0, 0.0] }));
    let mut rig = Rig::new(nodes.to_vec()).influences([0.0, 1.0, 2.0, 3.0], [0.2; 4]);
    rig.positions = vec![[0.0; 3], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut doc = rig.doc();
    let joints = doc.add(vec4(&[[4.0, 0.0, 0.0, 0.0]; 3]).of(Type::U8));
    let weights = doc.add(vec4(&[[0.2, 0.0, 0.0, 0.0]; 3]));
    let attributes = doc.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().expect("attributes");
    attributes.insert("JOINTS_1".into(), json!(joints));
    attributes.insert("WEIGHTS_1".into(), json!(weights));
    on_every_device(|bake| {
        let baked = bake(&doc);
        assert_near(baked.position(0, 0), [20.0, 0.0, 0.0], 1e-5);
        assert_eq!(baked.warned(Code::WeightsRenormalised), 0);
    });
    for missing in ["WEIGHTS_1", "JOINTS_1"] {
        let mut half = doc.clone();
        half.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().expect("attributes").remove(missing);
        refuse_at(&half, "/meshes/0/primitives/0", &[missing]);
    }
}

#[test]
fn s12_joint_indices_of_every_kind() {
    // 300 joints, the last one named by u16.
    let mut nodes: Vec<_> = (0..299).map(|_| json!({ "translation": [-7.0, -7.0, -7.0] })).collect();
    nodes.push(json!({ "translation": [0.0, 0.0, 5.0] }));
    let mut rig = Rig::new(nodes);
    rig.joints = vec4(&[[299.0, 0.0, 0.0, 0.0]; 3]).of(Type::U16);
    let many = rig.doc();
    // u8 with padding between elements, and at an offset.
    let strided = |stride: usize, offset: usize| {
        let mut rig = Rig::new(vec![json!({ "translation": [9.0, 9.0, 9.0] }), json!({ "translation": [0.0, 0.0, 5.0] })]);
        rig.joints = vec4(&[[1.0, 0.0, 0.0, 0.0]; 3]).of(Type::U8).stride(stride).offset(offset);
        rig.doc()
    };
    let wanted = TRIANGLE.map(|p| [p[0], p[1], p[2] + 5.0]);
    on_every_device(|bake| {
        for doc in [&many, &strided(4, 0), &strided(8, 0), &strided(12, 4)] {
            assert_frame(&bake(doc), 0, &wanted, NEAR);
        }
    });
}

#[test]
fn s12_a_joint_out_of_range_matters_only_with_weight() {
    let rig = |weights: [f64; 4]| {
        let mut rig = Rig::new(vec![json!({})]);
        rig.joints = vec4(&[[0.0, 65535.0, 0.0, 0.0]; 3]).of(Type::U16);
        rig.weights = vec4(&[weights; 3]);
        rig.doc()
    };
    let baked = bake_fixture(&rig([1.0, 0.0, 0.0, 0.0]), |_| ());
    assert_frame(&baked, 0, &TRIANGLE, 0.0);
    assert!(baked.warned(Code::UnusedJointOutOfRange) > 0);
    refuse_at(&rig([0.5, 0.5, 0.0, 0.0]), "/meshes/0/primitives/0", &["65535", "1"]);
}

#[test]
fn s14_negative_and_undefined_weights_count_as_nothing() {
    for first in [[1.5, -0.5, 0.0, 0.0], [f64::NAN, 1.0, 0.0, 0.0], [f64::INFINITY, 1.0, 0.0, 0.0]] {
        let doc = two_joints(1.0, 2.0, vec4(&[first, [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]));
        let wanted = if first[0] == 1.5 { 1.0 } else { 2.0 };
        let baked = bake_fixture(&doc, |_| ());
        assert_near(baked.position(0, 0), [wanted, 0.0, 0.0], NEAR);
        assert_eq!(baked.warned(Code::InvalidWeights), 1, "{first:?}");
        let strict = refuse(&doc, |o| o.strict = true);
        assert!(matches!(strict, vatbake::Error::Strict(_)), "{strict}");
    }
}

#[test]
fn s15_normals_go_through_the_cofactor_matrix() {
    let s = std::f64::consts::FRAC_1_SQRT_2;
    let scaled = |scale: [f64; 3], normal: [f64; 3]| {
        let mut doc = Rig::new(vec![json!({ "scale": scale })]).doc();
        let accessor = doc.add(vec3(&[normal; 3]));
        doc.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(accessor);
        doc
    };
    let tall = scaled([1.0, 4.0, 1.0], [s, s, 0.0]);
    let flat = scaled([1.0, 0.0, 1.0], [s, s, 0.0]);
    let point = scaled([0.0, 0.0, 0.0], [s, s, 0.0]);
    // 4 / sqrt(17) and 1 / sqrt(17)
    let wanted = [0.970_142_5, 0.242_535_63, 0.0];
    let rigid_doc = {
        let mut doc = rigid(&TRIANGLE);
        let accessor = doc.add(vec3(&[[s, s, 0.0]; 3]));
        doc.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(accessor);
        doc.json["nodes"][0]["scale"] = json!([1.0, 4.0, 1.0]);
        doc
    };
    on_every_device(|bake| {
        assert_near(bake(&tall).normal(0, 0), wanted, NEAR);
        assert_near(bake(&rigid_doc).normal(0, 0), wanted, NEAR);
        // Without height the surface can only face along y.
        assert_near(bake(&flat).normal(0, 0), [0.0, 1.0, 0.0], NEAR);
        // Without volume the bind normal stays.
        let baked = bake(&point);
        assert_near(baked.normal(0, 0), [s, s, 0.0], NEAR);
        assert!(baked.warned(Code::DegenerateNormal) > 0);
    });
}

/// Volume that the triangles of a part enclose at a frame; positive where they are counter-clockwise from outside.
fn volume(vat: &Vat, part: &Part, frame: usize) -> f64 {
    let triangles = vat.triangles(part);
    assert!(!triangles.is_empty());
    let cross = |a: V3, b: V3| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let dot = |a: V3, b: V3| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    triangles.iter().map(|t| t.map(|i| vat.position(frame, i))).map(|[a, b, c]| dot(a, cross(b, c)) / 6.0).sum()
}

/// Smallest cosine between a vertex's normal and its direction from the middle of a cube of this centre.
fn outwardness(vat: &Vat, frame: usize) -> f64 {
    let dot = |i: usize| (0..3).map(|c| vat.position(frame, i)[c] * vat.normal(frame, i)[c]).sum::<f64>();
    (0..vat.vertex_count).map(dot).fold(f64::INFINITY, f64::min)
}

#[test]
fn s16_a_mirrored_rigid_part_turns_its_winding() {
    for scale in [[-1.0, 1.0, 1.0], [1.0, -2.0, 1.0], [-1.0, -1.0, -1.0], [-1.0, -1.0, 1.0], [1.0, 1.0, 1.0]] {
        let mut doc = Doc::new();
        let mesh = cube(&mut doc);
        doc.root(json!({ "mesh": mesh, "scale": scale }));
        on_every_device(|bake| {
            let baked = bake(&doc);
            let size: f64 = scale.iter().product();
            assert!((volume(&baked, &baked.parts[0], 0) - 8.0 * size.abs()).abs() < 1e-4, "{scale:?}");
            assert!(outwardness(&baked, 0) > 0.99, "{scale:?}: a normal points inwards");
        });
    }
    // One mesh, shown mirrored and as it is: each instance has its own winding.
    let mut doc = Doc::new();
    let mesh = cube(&mut doc);
    doc.root(json!({ "mesh": mesh }));
    doc.root(json!({ "mesh": mesh, "scale": [-1.0, 1.0, 1.0] }));
    let baked = bake_fixture(&doc, |_| ());
    baked.parts.iter().for_each(|part| assert!((volume(&baked, part, 0) - 8.0).abs() < 1e-4, "{part:?}"));
}

#[test]
fn s16_animated_mirroring_is_said() {
    let mut doc = Doc::new();
    let mesh = cube(&mut doc);
    let node = doc.root(json!({ "mesh": mesh }));
    doc.animate(None, &[(node, "scale", "LINEAR", &[0.0, 1.0], vec3(&[[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]]))]);
    assert!(bake_fixture(&doc, |_| ()).warned(Code::MirroringAnimated) > 0);
    let mirrored_joint = Rig::new(vec![json!({ "scale": [-1.0, 1.0, 1.0] })]).doc();
    assert!(bake_fixture(&mirrored_joint, |_| ()).warned(Code::MirroredSkin) > 0);
}

#[test]
fn s17_a_matrix_with_shear_is_used_as_it_is() {
    let mut doc = Rig::new(vec![json!({ "translation": [0.0, 1.0, 0.0] })]).doc();
    // x' = x + y / 2, column-major
    let shear = [1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let parent = doc.node(json!({ "matrix": shear, "children": [1] }));
    doc.json["scenes"][0]["nodes"] = json!([0, parent]);
    let wanted = TRIANGLE.map(|p| [p[0] + (p[1] + 1.0) / 2.0, p[1] + 1.0, p[2]]);
    on_every_device(|bake| assert_frame(&bake(&doc), 0, &wanted, NEAR));
}

#[test]
fn s17_an_animated_matrix_node_is_decomposed_and_said() {
    let mut doc = rigid(&TRIANGLE);
    doc.json["nodes"][0]["matrix"] = json!([2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 5.0, 0.0, 0.0, 1.0]);
    doc.animate(None, &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&[[0.0; 3], [0.0, 1.0, 0.0]]))]);
    let baked = bake_fixture(&doc, |_| ());
    assert_frame(&baked, 0, &TRIANGLE.map(|p| p.map(|c| c * 2.0)), NEAR);
    assert_eq!(baked.warned(Code::MatrixNodeAnimated), 1);
}

#[test]
fn s19_quaternions_are_normalised() {
    let turned = |rotation: [f64; 4]| {
        let mut doc = rigid(&TRIANGLE);
        doc.json["nodes"][0]["rotation"] = json!(rotation);
        doc
    };
    let mut keyed = rigid(&TRIANGLE);
    keyed.animate(None, &[(0, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 3.0, 3.0], [0.0, 0.0, 0.1, 0.1]]))]);
    on_every_device(|bake| {
        let baked = bake(&turned([0.0, 0.0, std::f64::consts::SQRT_2, std::f64::consts::SQRT_2]));
        assert_near(baked.position(0, 0), [0.0, 1.0, 0.0], NEAR);
        assert!(baked.warned(Code::QuaternionNormalised) > 0);
        let baked = bake(&turned([0.0; 4]));
        assert_frame(&baked, 0, &TRIANGLE, 0.0);
        assert!(baked.warned(Code::QuaternionNormalised) > 0);
        let baked = bake(&keyed);
        (0..baked.frame_count).for_each(|f| assert_near(baked.position(f, 0), [0.0, 1.0, 0.0], NEAR));
    });
}

#[test]
fn s20_rigid_parts_follow_their_animated_ancestors() {
    // A skinned triangle, and a cube that hangs on its joint without a skin.
    let mut doc = Rig::new(vec![json!({})]).doc();
    let mesh = cube(&mut doc);
    let sword = doc.node(json!({ "mesh": mesh, "translation": [0.0, 10.0, 0.0] }));
    doc.json["nodes"][1]["children"] = json!([sword]);
    doc.animate(None, &[(1, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z]))]);
    on_every_device(|bake| {
        let baked = bake(&doc);
        let (skinned, rigid) = (part_of(&baked, 0, 0), part_of(&baked, sword, 0));
        let last = baked.frame_count - 1;
        let middle = |frame: usize| -> V3 {
            let sum =
                (0..24).map(|i| baked.position(frame, rigid.first_vertex + i)).fold([0.0; 3], |s, p| std::array::from_fn(|c| s[c] + p[c]));
            sum.map(|c| c / 24.0)
        };
        assert_near(middle(0), [0.0, 10.0, 0.0], 1e-5);
        assert_near(middle(last), [-10.0, 0.0, 0.0], 1e-5);
        assert_near(baked.position(last, skinned.first_vertex), [0.0, 1.0, 0.0], NEAR);
    });
}

#[test]
fn s20_children_of_a_skinned_node_keep_its_transform() {
    let mut doc = Rig::new(vec![json!({})]).doc();
    let mesh = cube(&mut doc);
    let child = doc.node(json!({ "mesh": mesh }));
    doc.json["nodes"][0]["children"] = json!([child]);
    doc.json["nodes"][0]["translation"] = json!([0.0, 0.0, 30.0]);
    let baked = bake_fixture(&doc, |_| ());
    let part = part_of(&baked, child, 0);
    assert!((baked.position(0, part.first_vertex)[2] - 30.0).abs() < 1.1);
    assert_frame(&baked, 0, &TRIANGLE, 0.0);
}

#[test]
fn s21_scenes() {
    let mut doc = rigid(&TRIANGLE);
    let node = doc.node(json!({ "mesh": 0, "translation": [0.0, 0.0, 8.0] }));
    doc.push("scenes", json!({ "name": "second", "nodes": [node] }));
    let parts = |doc: &Doc, scene: Option<&str>| -> Vec<usize> {
        bake_fixture(doc, |o| o.scene = scene.map(str::to_owned)).parts.iter().map(|p| p.node).collect()
    };
    assert_eq!(parts(&doc, None), [0]);
    doc.json["scene"] = json!(1);
    assert_eq!(parts(&doc, None), [node]);
    assert_eq!(parts(&doc, Some("0")), [0]);
    assert_eq!(parts(&doc, Some("second")), [node]);
    doc.json.as_object_mut().expect("a document").remove("scene");
    assert_eq!(parts(&doc, None), [0], "scene 0 where the file names none");
    doc.json.as_object_mut().expect("a document").remove("scenes");
    assert_eq!(parts(&doc, None), [0, node], "all roots where there is no scene");
    let error = refuse(&doc, |o| o.scene = Some("7".into()));
    assert!(matches!(error, vatbake::Error::Usage(_)) && error.to_string().contains('7'), "{error}");
}

#[test]
fn d20_small_armatures_with_large_inverse_bind_matrices() {
    let rig =
        Rig { inverse_bind: Some(mat4(&[moved(100.0, 0.0, 0.0, 0.0)])), ..Rig::new(vec![json!({ "translation": [1000.0, 0.0, 0.0] })]) };
    let mut doc = rig.doc();
    let armature = doc.node(json!({ "scale": [0.01, 0.01, 0.01], "children": [1] }));
    doc.json["scenes"][0]["nodes"] = json!([0, armature]);
    let wanted = TRIANGLE.map(|p| [p[0] + 10.0, p[1], p[2]]);
    on_every_device(|bake| assert_frame(&bake(&doc), 0, &wanted, 1e-5));
}

#[test]
fn g10_nothing_is_needed_but_a_triangle() {
    let wanted = TRIANGLE;
    let mut empty_targets = Rig::new(vec![json!({})]).doc();
    empty_targets.json["meshes"][0]["primitives"][0]["targets"] = json!([]);
    on_every_device(|bake| {
        assert_frame(&bake(&rigid(&TRIANGLE)), 0, &wanted, 0.0);
        assert_frame(&bake(&empty_targets), 0, &wanted, 0.0);
    });
}

#[test]
fn v04_a_bend_reports_how_far_it_moves() {
    let mut doc = Rig::new(vec![json!({})]).doc();
    doc.animate(Some("bend"), &[(1, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z]))]);
    on_every_device(|bake| {
        let baked = bake(&doc);
        let wanted = std::f64::consts::SQRT_2; // (1,0,0) to (0,1,0)
        assert!((baked.clips[0].largest_displacement - wanted).abs() < 1e-5, "{}", baked.clips[0].largest_displacement);
        assert!((f64::from(baked.report.largest_displacement) - wanted).abs() < 1e-5);
        assert_eq!(baked.warned(Code::NothingMoves), 0);
    });
}

#[test]
fn flat_normals_follow_the_deformed_triangles() {
    // Two triangles that share an edge, folded by a joint, without NORMAL: corners are split, normals are each triangle's own.
    let mut doc = Doc::new();
    let positions = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
    let joints = vec4(&[[0.0; 4], [0.0; 4], [0.0; 4], [1.0, 0.0, 0.0, 0.0]]).of(Type::U8);
    let attributes = vec![("POSITION", vec3(&positions)), ("JOINTS_0", joints), ("WEIGHTS_0", vec4(&[[1.0, 0.0, 0.0, 0.0]; 4]))];
    let mesh = models::mesh(&mut doc, attributes);
    let indices = doc.add(scalars(&[0.0, 1.0, 2.0, 0.0, 3.0, 1.0]).of(Type::U8));
    doc.json["meshes"][mesh]["primitives"][0]["indices"] = json!(indices);
    doc.root(json!({ "mesh": mesh, "skin": 0 }));
    let joints = [doc.root(json!({ "children": [2] })), doc.node(json!({}))];
    doc.push("skins", json!({ "joints": joints }));
    let s = std::f64::consts::FRAC_1_SQRT_2;
    doc.animate(None, &[(joints[1], "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], [0.0, s, 0.0, s]]))]);
    on_every_device(|bake| {
        let baked = bake(&doc);
        assert_eq!(baked.vertex_count, 6, "no corner is shared");
        assert!(baked.warned(Code::FlatNormals) > 0);
        let last = baked.frame_count - 1;
        // The second triangle turns about y: (1,0,0) goes to (0,0,-1), its normal from +z to +x.
        for (frame, turned) in [(0, [0.0, 0.0, 1.0]), (last, [1.0, 0.0, 0.0])] {
            for (t, wanted) in [(0, [0.0, 0.0, 1.0]), (1, turned)] {
                baked.triangles(&baked.parts[0])[t].iter().for_each(|&i| assert_near(baked.normal(frame, i), wanted, 1e-5));
            }
        }
        assert_near(baked.position(last, baked.triangles(&baked.parts[0])[1][1]), [0.0, 0.0, -1.0], NEAR);
    });
}

#[test]
fn v03_a_hard_cube_keeps_its_six_normals() {
    let mut doc = Doc::new();
    let mesh = cube(&mut doc);
    doc.root(json!({ "mesh": mesh }));
    let baked = bake_fixture(&doc, |_| ());
    assert_eq!(baked.vertex_count, 24);
    for i in 0..24 {
        let normal = baked.normal(0, i);
        assert_eq!(normal.iter().filter(|c| (c.abs() - 1.0).abs() < NEAR).count(), 1, "{normal:?}");
    }
}

#[test]
fn the_rest_pose_is_what_a_viewer_shows() {
    // Undeformed a hundred times too small; the joint scales it. The rest pose must be the shown one.
    let mut doc = Rig::new(vec![json!({ "scale": [100.0, 100.0, 100.0] })]).doc();
    doc.animate(None, &[(1, "translation", "LINEAR", &[0.0, 1.0], vec3(&[[0.0, 3.0, 0.0], [0.0, 4.0, 0.0]]))]);
    let baked = bake_fixture(&doc, |_| ());
    assert_near(baked.rest[0], [100.0, 0.0, 0.0], 1e-5);
    let first = bake_fixture(&doc, |o| o.rest = vatbake::options::Rest::FirstFrame);
    assert_near(first.rest[0], [100.0, 3.0, 0.0], 1e-5);
    assert_near(first.position(first.frame_count - 1, 0), [100.0, 4.0, 0.0], 1e-4);
}

#[test]
fn a_length_factor_scales_everything() {
    let mut doc = rigid(&TRIANGLE);
    doc.animate(None, &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 2.0])))]);
    let baked = bake_fixture(&doc, |o| o.scale = 10.0);
    assert_near(baked.position(baked.frame_count - 1, 0), [30.0, 0.0, 0.0], 1e-4);
    assert_near(baked.rest[1], [0.0, 10.0, 0.0], 1e-5);
    assert_near(baked.normal(0, 0), [0.0, 0.0, 1.0], NEAR);
}

#[test]
fn without_animation_a_bake_is_refused_unless_asked_for() {
    let still = rigid(&TRIANGLE);
    let error = refuse(&still, |o| o.allow_static = false);
    assert!(error.to_string().contains("--allow-static"), "{error}");
    assert_eq!(bake_fixture(&still, |_| ()).frame_count, 1);
}
