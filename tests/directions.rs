//! Normals computed anew, and tangents: values that can be worked out by hand, on every device, and real models' own tangents.

mod support;

use serde_json::json;
use support::bake::{assert_near, bake_fixture, options};
use support::decode::V3;
use support::fixture::{Array, Doc, Type, scalars, vec2, vec3, vec4};
use support::models::{QUARTER_Z, cube, mesh, morphing};
use support::oracle;
use vatbake::options::{Format, Input, Normals, Recompute};
use vatbake::warning::Code;

/// One 16-bit step of a direction's component, with room for the square root.
const NEAR: f64 = 5e-5;

/// A cube whose normals all point along +X, which is wrong for most of it.
fn wrongly_lit_cube() -> Doc {
    let mut doc = Doc::new();
    let mesh = cube(&mut doc);
    let wrong = doc.add(vec3(&[[1.0, 0.0, 0.0]; 24]));
    doc.json["meshes"][mesh]["primitives"][0]["attributes"]["NORMAL"] = json!(wrong);
    doc.root(json!({ "mesh": mesh }));
    doc.animate(None, &[(0, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z]))]);
    doc
}

fn corner_of(position: V3) -> V3 {
    position.map(|c| c.signum() / 3.0_f64.sqrt())
}

#[test]
fn flat_normals_are_those_of_the_triangles() {
    let baked = bake_fixture(&wrongly_lit_cube(), |o| o.recompute_normals = Some(Recompute::Flat));
    assert_eq!(baked.vertex_count, 36, "vertices are no longer shared");
    for frame in [0, 30] {
        for vertex in 0..36 {
            let normal = baked.normal(frame, vertex);
            let axis = (0..3).find(|&c| normal[c].abs() > 0.5).expect("an axis");
            let mut wanted = [0.0; 3];
            wanted[axis] = baked.position(frame, vertex)[axis].signum();
            assert_near(normal, wanted, NEAR);
        }
    }
    assert_eq!(baked.warned(Code::FlatNormals), 0, "the file has normals; these were asked for");
}

#[test]
fn tangents_without_normals_are_ignored() {
    let mut doc = wrongly_lit_cube();
    let tangent = doc.add(vec4(&[[1.0, 0.0, 0.0, 1.0]; 24]));
    doc.json["meshes"][0]["primitives"][0]["attributes"]["TANGENT"] = json!(tangent);
    let has_tangents = |doc: &Doc| {
        let baked = bake_fixture(doc, |_| ());
        baked.glb.json["meshes"][0]["primitives"][0]["attributes"].get("TANGENT").is_some()
    };
    assert!(has_tangents(&doc));
    doc.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().expect("attributes").remove("NORMAL");
    assert!(!has_tangents(&doc));
}

#[test]
fn smooth_normals_join_what_stands_at_one_place() {
    let doc = wrongly_lit_cube();
    let baked = bake_fixture(&doc, |o| o.recompute_normals = Some(Recompute::Smooth));
    assert_eq!(baked.vertex_count, 24);
    // a corner touches one triangle of a face or two: the mean by area is the diagonal only where all three faces count alike
    let near_diagonal = |n: V3, p: V3| (0..3).map(|c| n[c] * corner_of(p)[c]).sum::<f64>() > 0.8;
    for frame in [0, 15, 30] {
        for a in 0..24 {
            let (normal, position) = (baked.normal(frame, a), baked.position(frame, a));
            if frame != 15 {
                assert!(near_diagonal(normal, position), "frame {frame}: {normal:?} at {position:?}");
            }
            for b in 0..24 {
                if baked.rest[a] == baked.rest[b] {
                    assert_near(normal, baked.normal(frame, b), NEAR);
                }
            }
        }
    }
    let rest = baked.rest_normal.as_ref().expect("normals of the mesh");
    (0..24).for_each(|v| assert_near(rest[v], baked.normal(0, v), NEAR));
}

#[test]
fn smooth_normals_cross_the_border_between_materials_but_not_between_nodes() {
    // two triangles of a roof: one mesh of two primitives, then two nodes
    let left = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 1.0]];
    let right = [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]];
    let build = |one_node: bool| {
        let mut doc = Doc::new();
        let meshes = [left, right].map(|corners| mesh(&mut doc, vec![("POSITION", vec3(&corners))]));
        doc.push("materials", json!({}));
        doc.json["meshes"][meshes[1]]["primitives"][0]["material"] = json!(0);
        if one_node {
            let second = doc.json["meshes"][meshes[1]]["primitives"][0].clone();
            doc.json["meshes"][meshes[0]]["primitives"].as_array_mut().expect("primitives").push(second);
            doc.json["meshes"].as_array_mut().expect("meshes").pop();
            doc.root(json!({ "mesh": 0 }));
        } else {
            for m in meshes {
                doc.root(json!({ "mesh": m }));
            }
        }
        doc
    };
    let still = |o: &mut vatbake::Options| (o.allow_static, o.recompute_normals) = (true, Some(Recompute::Smooth));
    let joined = bake_fixture(&build(true), still);
    assert_near(joined.normal(0, 0), [0.0, 1.0, 0.0], NEAR);
    assert_near(joined.normal(0, 3), [0.0, 1.0, 0.0], NEAR);
    let apart = bake_fixture(&build(false), still);
    let s = 0.5_f64.sqrt();
    assert_near(apart.normal(0, 0), [-s, s, 0.0], NEAR);
    assert_near(apart.normal(0, 3), [s, s, 0.0], NEAR);
}

#[test]
fn computed_normals_follow_morphs_that_leave_the_files_normals_behind() {
    // a flap that folds up by 90 degrees; the target moves positions only
    let flap = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mut doc = morphing(&flap, vec![vec![("POSITION", vec3(&[[0.0; 3], [-1.0, 0.0, 1.0], [0.0; 3]]))]]);
    doc.animate(None, &[(0, "weights", "LINEAR", &[0.0, 1.0], scalars(&[0.0, 1.0]))]);
    for recompute in [Recompute::Flat, Recompute::Smooth] {
        let baked = bake_fixture(&doc, |o| o.recompute_normals = Some(recompute));
        assert_near(baked.normal(0, 0), [0.0, 0.0, 1.0], NEAR);
        assert_near(baked.normal(30, 0), [-1.0, 0.0, 0.0], NEAR);
    }
    let kept = bake_fixture(&doc, |_| ());
    assert_near(kept.normal(30, 0), [0.0, 0.0, 1.0], NEAR);
}

/// A textured square in the xy plane that turns 90 degrees about Z; u runs along +X, v downwards as in glTF.
fn sign(tangents: Option<Array>, flipped_u: bool) -> Doc {
    let mut doc = Doc::new();
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let u = |x: f64| if flipped_u { 1.0 - x } else { x };
    let uv = corners.map(|[x, y, _]| [u(x), 1.0 - y]);
    let mut attributes = vec![("POSITION", vec3(&corners)), ("NORMAL", vec3(&[[0.0, 0.0, 1.0]; 4])), ("TEXCOORD_0", vec2(&uv))];
    attributes.extend(tangents.map(|t| ("TANGENT", t)));
    let mesh = mesh(&mut doc, attributes);
    let indices = doc.add(scalars(&[0.0, 1.0, 2.0, 0.0, 2.0, 3.0]).of(Type::U16));
    doc.json["meshes"][mesh]["primitives"][0]["indices"] = json!(indices);
    doc.root(json!({ "mesh": mesh }));
    doc.animate(None, &[(0, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z]))]);
    doc
}

#[test]
fn tangents_turn_with_the_surface() {
    for format in [Format::Png16, Format::Exr32] {
        for device in [vatbake::options::DeviceChoice::Cpu, vatbake::options::DeviceChoice::Software] {
            for normals in [Normals::Separate, Normals::None] {
                let file = vec4(&[[1.0, 0.0, 0.0, 1.0]; 4]);
                let baked = bake_fixture(&sign(Some(file), false), |o| {
                    (o.tangents, o.format, o.normals, o.device) = (true, format, normals, device.clone());
                });
                assert_near(baked.tangent(0, 0), [1.0, 0.0, 0.0], NEAR);
                assert_near(baked.tangent(30, 2), [0.0, 1.0, 0.0], NEAR);
                assert_eq!(baked.normal.is_some(), normals == Normals::Separate);
                let tangent = baked.tangent.as_ref().expect("tangents");
                assert!(tangent.error_max < 0.0016 && tangent.file.contains("_vat_tangent."), "{} {}", tangent.error_max, tangent.file);
            }
        }
    }
    assert!(bake_fixture(&sign(None, false), |_| ()).tangent.is_none(), "nobody asked");
}

/// Tangents of the static mesh: xyz and handedness of each vertex.
fn rest_tangents(baked: &support::bake::Baked) -> Vec<[f64; 4]> {
    let shown = baked.glb.shown().expect("the mesh");
    let values = baked.glb.attribute(&shown[0].json, "TANGENT").expect("readable").expect("tangents");
    (0..values.count()).map(|i| values.get::<4>(i)).collect()
}

#[test]
fn tangents_are_computed_where_the_file_has_none() {
    for (flipped, x, hand) in [(false, 1.0, 1.0), (true, -1.0, -1.0)] {
        let baked = bake_fixture(&sign(None, flipped), |o| o.tangents = true);
        assert_near(baked.tangent(0, 1), [x, 0.0, 0.0], NEAR);
        assert_near(baked.tangent(30, 1), [0.0, x, 0.0], NEAR);
        // glTF: bitangent = cross(normal, tangent) * w, and it runs against v, which points down
        for [_, _, _, w] in rest_tangents(&baked) {
            assert_eq!(w, hand);
        }
    }
}

#[test]
fn tangents_without_texture_coordinates_are_said() {
    let mut doc = wrongly_lit_cube();
    let right = cube(&mut doc);
    doc.json["nodes"][0]["mesh"] = json!(right);
    let baked = bake_fixture(&doc, |o| o.tangents = true);
    assert_eq!(baked.warned(Code::TangentGuessed), 1);
    for vertex in 0..24 {
        let (n, t) = (baked.normal(7, vertex), baked.tangent(7, vertex));
        assert!((0..3).map(|c| n[c] * t[c]).sum::<f64>().abs() < 1e-4, "{n:?} {t:?}");
    }
}

/// MikkTSpace gives what authoring tools write. The one given model whose own tangents come from its normal map's coordinates by
/// that algorithm is read with them and without; the others' are zero, guessed or of the opposite convention.
#[test]
fn computed_tangents_are_those_of_a_real_model() {
    let Some(models) = oracle::models() else {
        assert!(std::env::var("CI").is_err(), "../shared/data is required in CI");
        return;
    };
    let model = models.iter().find(|m| m.name == "PBRTest-Joints1").expect("the model");
    let scene = vatbake::source::read(&Input::File(model.file.clone()), &Default::default(), &mut Default::default()).expect("reads");
    assert!(scene.primitives.iter().all(|p| p.tangents.is_some()));
    let mut bare = scene.clone();
    bare.primitives.iter_mut().for_each(|p| p.tangents = None);
    let tangents = |scene| {
        let options = vatbake::Options { tangents: true, ..options() };
        let mesh = vatbake::plan::build::build_mesh(scene, &options, &mut Default::default()).expect("builds");
        mesh.vertices.iter().zip(&mesh.hands).map(|(v, &hand)| (v.tangent, hand)).collect::<Vec<_>>()
    };
    let (file, computed) = (tangents(&scene), tangents(&bare));
    let dot = |a: [f32; 3], b: [f32; 3]| (0..3).map(|c| a[c] * b[c]).sum::<f32>();
    let alike = file.iter().zip(&computed).filter(|(a, b)| a.1 == b.1 && dot(a.0, b.0) > 0.98).count();
    assert!(alike * 100 >= file.len() * 90, "{alike} of {} tangents agree", file.len());
}
