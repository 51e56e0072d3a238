//! Closed forms of morph targets: sums of displacements before the skin (glTF 2.0, 3.7.2.2), on the CPU twin and a software adapter.

mod support;

use serde_json::json;
use support::bake::{assert_near, refuse_at};
use support::decode::V3;
use support::models::{QUARTER_Z, Rig, TRIANGLE, along_x, morphing, rigid};
use support::{Array, Doc, Type, bake_fixture, on_every_device, scalars, vec3};
use vatbake::options::Fps;
use vatbake::warning::Code;

const NEAR: f64 = 1e-6;

fn all(v: V3) -> Array {
    vec3(&[v; 3])
}

/// A triangle with targets that move every vertex by these vectors, driven by a weights channel.
fn driven(targets: &[V3], interpolation: &str, times: &[f64], weights: Array) -> Doc {
    let mut doc = morphing(&TRIANGLE, targets.iter().map(|v| vec![("POSITION", all(*v))]).collect());
    doc.animate(None, &[(0, "weights", interpolation, times, weights)]);
    doc
}

#[test]
fn m01_linear_weights_of_several_targets() {
    let doc =
        driven(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "LINEAR", &[0.0, 1.0], scalars(&[1.0, 2.0, 3.0, 5.0, 4.0, -3.0]));
    on_every_device(|bake| {
        let baked = bake(&doc);
        for (frame, w) in [(0, [1.0, 2.0, 3.0]), (15, [3.0, 3.0, 0.0]), (30, [5.0, 4.0, -3.0])] {
            TRIANGLE
                .iter()
                .enumerate()
                .for_each(|(i, p)| assert_near(baked.position(frame, i), std::array::from_fn(|c| p[c] + w[c]), NEAR * 5.0));
        }
    });
}

#[test]
fn m01_cubic_spline_weights_come_in_groups_a_key() {
    // A key: all in-tangents, then all values, then all out-tangents.
    let keys = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    let doc = |values: &[f64]| driven(&[[10.0, 0.0, 0.0], [0.0, 10.0, 0.0]], "CUBICSPLINE", &[0.0, 1.0], scalars(values));
    on_every_device(|bake| {
        let baked = bake(&doc(&keys));
        for (frame, x, y) in [(0, 10.0, 0.0), (15, 5.0, 5.0), (30, 0.0, 10.0)] {
            assert_near(baked.position(frame, 2), [x, y, 1.0], 1e-5);
        }
    });
    refuse_at(&doc(&keys[..11]), "/animations/0/samplers/0", &["11", "12"]);
    refuse_at(&driven(&[[1.0; 3]; 2], "LINEAR", &[0.0, 1.0], scalars(&[0.0; 3])), "/animations/0/samplers/0", &["3", "4"]);
}

#[test]
fn m01_normalised_integer_weights() {
    let weights = scalars(&[0.0, 255.0, 255.0, 0.0]).of(Type::U8).normalized();
    let doc = driven(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "LINEAR", &[0.0, 1.0], weights);
    let baked = bake_fixture(&doc, |o| o.fps = Fps::Rate(2.0));
    assert_near(baked.position(0, 2), [0.0, 1.0, 1.0], NEAR);
    assert_near(baked.position(1, 2), [0.5, 0.5, 1.0], NEAR);
    assert_near(baked.position(2, 2), [1.0, 0.0, 1.0], NEAR);
}

#[test]
fn m02_sparse_targets_and_targets_without_data() {
    let quad = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let none = || vec3(&[[0.0; 3]; 4]).without_base();
    let sparse = none().sparse(&[1, 3], &[0.0, 1.0, 0.0, 0.0, 2.0, 0.0]);
    let mut doc = morphing(&quad, vec![vec![("POSITION", sparse)], vec![("POSITION", none())]]);
    let indices = doc.add(scalars(&[0.0, 1.0, 2.0, 0.0, 2.0, 3.0]).of(Type::U8));
    doc.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
    doc.json["meshes"][0]["weights"] = json!([1.0, 1.0]);
    on_every_device(|bake| {
        let baked = bake(&doc);
        for (i, offset) in [0.0, 1.0, 0.0, 2.0].into_iter().enumerate() {
            assert_near(baked.position(0, i), [quad[i][0], quad[i][1] + offset, 0.0], NEAR);
        }
    });
}

#[test]
fn m02_a_sparse_accessor_leaves_its_base_view_alone() {
    let mut doc = rigid(&TRIANGLE);
    let base = doc.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].as_u64().expect("an index") as usize;
    let mended = doc.add(vec3(&TRIANGLE).sparse(&[2], &[0.0, 0.0, 9.0]));
    // Both accessors read one view.
    doc.json["accessors"][mended]["bufferView"] = doc.json["accessors"][base]["bufferView"].clone();
    let mesh = doc.json["meshes"][0].clone();
    let second = doc.push("meshes", mesh);
    doc.json["meshes"][second]["primitives"][0]["attributes"]["POSITION"] = json!(mended);
    doc.root(json!({ "mesh": second }));
    let baked = bake_fixture(&doc, |_| ());
    assert_near(baked.position(0, 2), [0.0, 0.0, 1.0], 0.0);
    assert_near(baked.position(0, 5), [0.0, 0.0, 9.0], 0.0);
    assert_near(baked.position(0, 4), [0.0, 1.0, 0.0], 0.0);
}

#[test]
fn m04_targets_move_before_the_skin() {
    let mut doc = Rig::new(vec![json!({ "rotation": QUARTER_Z })]).doc();
    let target = doc.add(all([0.0, 1.0, 0.0]));
    doc.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": target }]);
    doc.json["meshes"][0]["weights"] = json!([1.0]);
    let mut turned = morphing(&TRIANGLE, vec![vec![("POSITION", all([0.0, 1.0, 0.0]))]]);
    turned.json["nodes"][0]["rotation"] = json!(QUARTER_Z);
    turned.json["nodes"][0]["weights"] = json!([1.0]);
    on_every_device(|bake| {
        for doc in [&doc, &turned] {
            // (1,0,0) goes to (1,1,0), then a quarter turn takes it to (-1,1,0).
            assert_near(bake(doc).position(0, 0), [-1.0, 1.0, 0.0], NEAR);
        }
    });
}

#[test]
fn m05_normals_are_displaced_then_normalised() {
    let s = std::f64::consts::FRAC_1_SQRT_2;
    let doc = |delta: V3, weight: f64| {
        let mut doc = morphing(&TRIANGLE, vec![vec![("NORMAL", all(delta))]]);
        doc.json["nodes"][0]["weights"] = json!([weight]);
        doc
    };
    on_every_device(|bake| {
        assert_near(bake(&doc([1.0, 0.0, -1.0], 1.0)).normal(0, 0), [1.0, 0.0, 0.0], NEAR);
        assert_near(bake(&doc([1.0, 0.0, -1.0], 0.5)).normal(0, 0), [s, 0.0, s], NEAR);
        assert_near(bake(&doc([0.0, 0.0, 1.0], -0.5)).normal(0, 0), [0.0, 0.0, 1.0], NEAR);
        assert_near(bake(&doc([1.0, 0.0, 0.0], 3.0)).normal(0, 0), [3.0 / 10.0_f64.sqrt(), 0.0, 1.0 / 10.0_f64.sqrt()], NEAR);
        // Nothing is left: the undeformed normal stands in, and it is said.
        let baked = bake(&doc([0.0, 0.0, -1.0], 1.0));
        assert_near(baked.normal(0, 0), [0.0, 0.0, 1.0], NEAR);
        assert!(baked.warned(Code::DegenerateNormal) > 0);
    });
}

#[test]
fn m07_without_normals_flat_ones_follow_the_morph() {
    // Two triangles in the xy plane; the target folds the second up by 90 degrees about the y axis.
    let positions = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
    let fold = vec3(&[[0.0; 3], [0.0; 3], [0.0; 3], [-1.0, 0.0, 1.0]]);
    let mut doc = morphing(&positions, vec![vec![("POSITION", fold)]]);
    doc.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().expect("attributes").remove("NORMAL");
    let indices = doc.add(scalars(&[0.0, 1.0, 2.0, 0.0, 3.0, 1.0]).of(Type::U16));
    doc.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
    doc.animate(None, &[(0, "weights", "LINEAR", &[0.0, 1.0], scalars(&[0.0, 1.0]))]);
    on_every_device(|bake| {
        let baked = bake(&doc);
        let triangles = baked.triangles(&baked.parts[0]);
        for (frame, wanted) in [(0, [0.0, 0.0, 1.0]), (30, [-1.0, 0.0, 0.0])] {
            triangles[0].iter().for_each(|&i| assert_near(baked.normal(frame, i), [0.0, 0.0, 1.0], 1e-5));
            triangles[1].iter().for_each(|&i| assert_near(baked.normal(frame, i), wanted, 1e-5));
        }
    });
}

#[test]
fn m09_unequal_target_counts_are_refused() {
    let mut doc = morphing(&TRIANGLE, vec![vec![("POSITION", all([1.0, 0.0, 0.0]))]]);
    let mut other = doc.json["meshes"][0]["primitives"][0].clone();
    other["targets"] = json!([]);
    doc.json["meshes"][0]["primitives"].as_array_mut().expect("primitives").push(other);
    refuse_at(&doc, "/meshes/0", &["1", "0"]);
}

#[test]
fn m10_base_and_displacement_have_types_of_their_own() {
    let i16n = |v: f64| v * 32767.0;
    let mut wide = morphing(&TRIANGLE, vec![vec![("POSITION", all([i16n(0.0), i16n(1.0), i16n(-1.0)]).of(Type::I16).normalized())]]);
    wide.json["nodes"][0]["weights"] = json!([2.0]);
    let mut narrow = morphing(&TRIANGLE, vec![vec![("POSITION", all([0.0, 3.0, -2.0]).of(Type::I8))]]);
    let base = narrow.add(vec3(&TRIANGLE.map(|p| p.map(|c| c * 100.0))).of(Type::I16));
    narrow.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(base);
    narrow.json["nodes"][0]["weights"] = json!([1.0]);
    for doc in [&mut wide, &mut narrow] {
        doc.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
        doc.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    }
    on_every_device(|bake| {
        assert_near(bake(&wide).position(0, 0), [1.0, 2.0, -2.0], NEAR);
        assert_near(bake(&narrow).position(0, 0), [100.0, 3.0, -2.0], 1e-5);
    });
}

#[test]
fn a18_weights_for_a_mesh_without_targets_are_left_out() {
    let mut doc = rigid(&TRIANGLE);
    doc.animate(
        None,
        &[
            (0, "weights", "LINEAR", &[0.0, 1.0], scalars(&[0.0, 1.0])),
            (0, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0]))),
        ],
    );
    let baked = bake_fixture(&doc, |_| ());
    assert_near(baked.position(30, 0), [2.0, 0.0, 0.0], NEAR);
    assert!(baked.warned(Code::WeightsWithoutTargets) > 0);
}

#[test]
fn default_weights_hold_where_nothing_drives_them() {
    let mut doc = morphing(&TRIANGLE, vec![vec![("POSITION", all([0.0, 0.0, 4.0]))], vec![("POSITION", all([0.0, 8.0, 0.0]))]]);
    doc.json["meshes"][0]["weights"] = json!([0.5, 0.0]);
    let own = doc.root(json!({ "mesh": 0, "weights": [0.0, 0.25] }));
    doc.animate(None, &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 1.0])))]);
    on_every_device(|bake| {
        let baked = bake(&doc);
        let first = |node: usize| baked.parts.iter().find(|p| p.node == node).expect("a part").first_vertex;
        assert_near(baked.position(0, first(0)), [1.0, 0.0, 2.0], NEAR);
        assert_near(baked.position(0, first(own)), [1.0, 2.0, 0.0], NEAR);
        assert_near(baked.rest[first(own)], [1.0, 2.0, 0.0], NEAR);
    });
}

#[test]
fn many_targets_add_up() {
    // 300 targets, each a hundredth along x, all at weight 1, and a skin that shifts.
    let mut doc = Rig::new(vec![json!({ "translation": [0.0, 0.0, 1.0] })]).doc();
    let target = doc.add(all([0.01, 0.0, 0.0]));
    doc.json["meshes"][0]["primitives"][0]["targets"] = json!(vec![json!({ "POSITION": target }); 300]);
    doc.json["meshes"][0]["weights"] = json!(vec![1.0; 300]);
    on_every_device(|bake| assert_near(bake(&doc).position(0, 0), [4.0, 0.0, 1.0], 1e-4));
}

#[test]
fn instances_of_one_mesh_morph_on_their_own() {
    let mut doc = driven(&[[0.0, 5.0, 0.0]], "LINEAR", &[0.0, 1.0], scalars(&[0.0, 1.0]));
    let second = doc.root(json!({ "mesh": 0, "translation": [20.0, 0.0, 0.0] }));
    on_every_device(|bake| {
        let baked = bake(&doc);
        let first = |node: usize| baked.parts.iter().find(|p| p.node == node).expect("a part").first_vertex;
        assert_near(baked.position(30, first(0)), [1.0, 5.0, 0.0], NEAR);
        assert_near(baked.position(30, first(second)), [21.0, 0.0, 0.0], 1e-5);
    });
}
