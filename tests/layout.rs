//! Which texel belongs to which vertex and frame, how the mesh names its texels, how parts are merged, what the ranges say.

mod support;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::bake::{assert_near, input, options};
use support::decode::V3;
use support::models::{QUARTER_Z, TRIANGLE, along_x, cloud, cube, mesh, morphing, normals, rigid, sliding};
use support::{Baked, Doc, Type, bake_fixture, refuse, scalars, vec2, vec3, vec4};
use vatbake::Error;
use vatbake::options::{Format, Fps, Position};
use vatbake::warning::Code;

/// A grid, so that no two vertices stand at one place: 100 a row, a metre apart.
fn grid(i: usize) -> V3 {
    [(i % 100) as f64, (i / 100) as f64, 0.0]
}

/// [`cloud`] on the grid, sliding a metre a frame along z for 10 frames after the first.
fn sliding_grid(count: usize) -> Doc {
    let mut doc = cloud(count, grid);
    doc.animate(None, &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&[[0.0; 3], [0.0, 0.0, 10.0]]))]);
    doc
}

/// How an engine may store a UV.
fn through_half(v: f64) -> f64 {
    half::f16::from_f32(v as f32).to_f64()
}
fn through_unorm16(v: f64) -> f64 {
    (v * 65535.0).round() / 65535.0
}

/// The vertex number that a UV names.
fn named([u, v]: [f64; 2], lanes: f64, groups: f64) -> f64 {
    (u * lanes).floor() + lanes * (v * groups).floor()
}

fn check_lookup(count: usize) {
    let baked = bake_fixture(&cloud(count, grid), |_| ());
    assert_eq!(baked.vertex_count, count);
    let lookup = &baked.sidecar["mesh"]["lookup"];
    let (lanes, groups) = (count.min(1024), count.div_ceil(count.min(1024)));
    assert_eq!((lookup["lanes"].as_u64(), lookup["groups"].as_u64()), (Some(lanes as u64), Some(groups as u64)));
    assert_eq!(lookup["texcoord"], 1);
    let (lanes, groups) = (lanes as f64, groups as f64);
    for (k, (uv, i)) in baked.lookup.iter().enumerate() {
        assert_eq!(*i, k, "vertices are numbered in the order of the GLB's buffers");
        let wanted = [(*i as f64 % lanes + 0.5) / lanes, ((*i as f64 / lanes).floor() + 0.5) / groups];
        assert!((0..2).all(|c| (uv[c] - wanted[c]).abs() < 1e-7), "vertex {i}: {uv:?}, wanted {wanted:?}");
        for (how, stored) in [("half floats", uv.map(through_half)), ("unorm16", uv.map(through_unorm16))] {
            assert_eq!(named(stored, lanes, groups), *i as f64, "vertex {i} of {count} through {how}");
        }
        assert_near(baked.position(0, *i), grid(*i), 0.0);
    }
}

#[test]
fn v02_lookups_survive_half_floats_and_unorm16() {
    [3, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 7024].into_iter().for_each(check_lookup);
}

#[test]
fn v02_a_million_vertices_are_the_most() {
    check_lookup(1 << 20);
    let error = support::bake::bake(input(&cloud((1 << 20) + 1, grid)), options()).err().expect("refused");
    assert!(error.to_string().contains("1048577") || error.to_string().contains("1,048,577"), "{error}");
}

#[test]
fn v02_the_check_notices_lanes_that_are_too_narrow() {
    // 2,048 lanes in half floats: the case from which the format's 1,024 comes.
    let lost = (0..2048).filter(|i| named([through_half((f64::from(*i) + 0.5) / 2048.0), 0.5], 2048.0, 1.0) != f64::from(*i)).count();
    assert!(lost > 500, "{lost}");
    let lost = (0..1024).filter(|i| named([through_half((f64::from(*i) + 0.5) / 1024.0), 0.5], 1024.0, 1.0) != f64::from(*i)).count();
    assert_eq!(lost, 0);
}

#[test]
fn t09_every_vertex_has_its_texel_in_every_frame() {
    // vertices, longest side, then the format's numbers: blocks, width, height.
    for (count, max_size, blocks, width, height) in [
        (3, 8192, 1, 4, 12),
        (64, 64, 1, 64, 12),
        (65, 64, 2, 36, 24),
        (150, 64, 3, 52, 36),
        (1024, 1024, 1, 1024, 12),
        (1025, 1024, 2, 516, 24),
        (2049, 1024, 3, 684, 36),
    ] {
        let baked = bake_fixture(&sliding_grid(count), |o| (o.max_size, o.fps, o.format) = (max_size, Fps::Rate(10.0), Format::Png16));
        assert_eq!(baked.frame_count, 11);
        assert_eq!((baked.blocks, baked.width, baked.height), (blocks, width, height), "{count} vertices, side {max_size}");
        assert_eq!(baked.report.size.map(|s| s as usize), [width, height]);
        let mut owned = BTreeSet::new();
        for frame in 0..11 {
            for i in 0..count {
                let [x, y, _] = grid(i);
                assert_near(baked.position(frame, i), [x, y, frame as f64], 1e-4);
                assert!(owned.insert(baked.address(frame, i)), "a texel with two owners");
            }
        }
        for y in 0..height {
            for x in 0..width {
                let texel = baked.position.image.raw(x, y);
                let normal = baked.normal.as_ref().expect("normals").image.raw(x, y);
                if owned.contains(&(x, y)) {
                    assert_eq!(texel[3], 65535.0, "alpha is 1 where unused");
                } else {
                    assert_eq!((texel, normal), ([0.0; 4], [0.0; 4]), "texel ({x}, {y}) belongs to no vertex");
                }
            }
        }
    }
}

#[test]
fn t09_a_texture_that_is_too_large_is_refused_with_remedies() {
    let error = refuse(&sliding_grid(150), |o| (o.max_size, o.fps) = (64, Fps::Rate(100.0)));
    let text = error.to_string();
    assert!(matches!(error, Error::Bake(_)), "{text}");
    // 3 blocks of 101 frames
    for word in ["64", "303", "--max-size", "--fps", "--start"] {
        assert!(text.contains(word) || (word == "303" && text.contains("304")), "expected {word} in: {text}");
    }
}

#[test]
fn remedies_for_a_texture_that_is_too_large_help() {
    let text = |max_size, rate| refuse(&sliding_grid(150), |o| (o.max_size, o.fps) = (max_size, Fps::Rate(rate))).to_string();
    // The side that is named is the least that fits.
    let named = text(64, 100.0);
    let side: u32 = named.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a side at the end");
    let baked = bake_fixture(&sliding_grid(150), |o| (o.max_size, o.fps) = (side, Fps::Rate(100.0)));
    assert!(baked.report.size.iter().all(|&length| length <= side), "{named}");
    assert!(text(side - 4, 100.0).contains(&format!("--max-size {side}")));
    // One clip is not fewer; no frame at all is no frame rate.
    let tiny = text(4, 100.0);
    assert!(tiny.contains("--start") && !tiny.contains("--clips") && !tiny.contains("--fps"), "{tiny}");
}

#[test]
fn chunks_change_no_byte() {
    // 2,100 vertices in 601 frames: more than the 2^20 texels of one chunk; little memory makes the chunks smaller.
    let mut doc = cloud(2100, grid);
    doc.animate(None, &[(0, "rotation", "LINEAR", &[0.0, 20.0], vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z]))]);
    for device in [vatbake::options::DeviceChoice::Cpu, vatbake::options::DeviceChoice::Software] {
        let bake = |memory: u64| bake_fixture(&doc, |o| (o.format, o.memory, o.device) = (Format::Png16, memory, device.clone()));
        let (large, small) = (bake(512 << 20), bake(24 << 20));
        assert_eq!(large.frame_count, 601);
        let sidecar = |b: &Baked| std::fs::read(support::bake::sidecar_of(&b.report)).expect("the sidecar");
        assert!(large.data_files() == small.data_files() && sidecar(&large) == sidecar(&small), "{device:?}");
    }
}

#[test]
fn v01_parts_have_columns_of_their_own() {
    let mut doc = rigid(&TRIANGLE);
    let position = doc.add(vec3(&[[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]));
    let normal = doc.add(normals(4));
    let indices = doc.add(scalars(&[0.0, 1.0, 2.0, 0.0, 2.0, 3.0]).of(Type::U8));
    let quad = json!({ "attributes": { "POSITION": position, "NORMAL": normal }, "indices": indices });
    doc.json["meshes"][0]["primitives"].as_array_mut().expect("primitives").push(quad);
    let baked = bake_fixture(&doc, |_| ());
    assert_eq!(baked.lookup.iter().map(|l| l.1).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    let ranges: Vec<_> =
        baked.parts.iter().map(|p| (p.node, p.primitive, p.first_vertex, p.vertex_count, p.first_index, p.index_count)).collect();
    assert_eq!(ranges, [(0, 0, 0, 3, 0, 3), (0, 1, 3, 4, 3, 6)]);
    assert_eq!(baked.indices, [0, 1, 2, 3, 4, 5, 3, 5, 6]);
    // Two vertices at one place stay apart, whatever a welder compares: their lookups differ.
    let bits: BTreeSet<_> = baked.lookup.iter().map(|(uv, _)| uv.map(f64::to_bits)).collect();
    assert_eq!(bits.len(), 7);
}

/// Two meshes of two primitives each, red and blue, under two nodes; the second node slides.
fn two_by_two() -> Doc {
    let mut doc = Doc::new();
    for name in ["red", "blue"] {
        doc.push("materials", json!({ "name": name }));
    }
    for k in 0..2 {
        let shift = |p: V3| [p[0], p[1], p[2] + k as f64];
        let m = mesh(&mut doc, vec![("POSITION", vec3(&TRIANGLE.map(shift))), ("NORMAL", normals(3))]);
        let mut second = doc.json["meshes"][m]["primitives"][0].clone();
        doc.json["meshes"][m]["primitives"][0]["material"] = json!(k);
        second["material"] = json!(1 - k);
        doc.json["meshes"][m]["primitives"].as_array_mut().expect("primitives").push(second);
        doc.root(json!({ "mesh": m, "name": format!("part {k}") }));
    }
    doc.animate(None, &[(1, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, 6.0])))]);
    doc
}

#[test]
fn v14_parts_are_merged_by_material() {
    let baked = bake_fixture(&two_by_two(), |_| ());
    assert_eq!((baked.report.meshes, baked.report.primitives, baked.report.materials), (1, 2, 2));
    assert_eq!(baked.glb.json["meshes"][0]["primitives"].as_array().map(Vec::len), Some(2));
    assert_eq!(baked.parts.len(), 4);
    let mut next = 0;
    for part in &baked.parts {
        assert_eq!(part.first_vertex, next, "parts follow each other");
        next += part.vertex_count;
        let moved = if part.node == 1 { 6.0 } else { 0.0 };
        assert_near(baked.position(30, part.first_vertex), [1.0 + moved, 0.0, part.mesh as f64], 1e-5);
        let material = if part.mesh == part.primitive { 0 } else { 1 };
        assert_eq!(part.material, Some(material));
        assert!(baked.triangles(part).iter().flatten().all(|i| (part.first_vertex..next).contains(i)), "{part:?}");
    }
    assert_eq!(next, baked.vertex_count);
}

#[test]
fn parts_are_kept_apart_on_request() {
    let baked = bake_fixture(&two_by_two(), |o| o.keep_parts = true);
    let nodes: BTreeSet<usize> = baked.glb.shown().expect("nodes").iter().map(|s| s.node).collect();
    assert_eq!(nodes.len(), baked.report.meshes);
    assert!(nodes.len() >= 2, "one node a part, found {}", nodes.len());
    for part in &baked.parts {
        let moved = if part.node == 1 { 6.0 } else { 0.0 };
        assert_near(baked.position(30, part.first_vertex), [1.0 + moved, 0.0, part.mesh as f64], 1e-5);
    }
}

#[test]
fn nodes_are_chosen_and_left_out() {
    let parts = |only: &[&str], exclude: &[&str]| -> Vec<usize> {
        let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let baked = bake_fixture(&two_by_two(), |o| (o.only, o.exclude) = (list(only), list(exclude)));
        let nodes: BTreeSet<usize> = baked.parts.iter().map(|p| p.node).collect();
        nodes.into_iter().collect()
    };
    assert_eq!(parts(&["part 1"], &[]), [1]);
    assert_eq!(parts(&[], &["part 1"]), [0]);
    assert_eq!(parts(&["part *"], &["0"]), [1]);
    let error = refuse(&two_by_two(), |o| o.only = vec!["shield".into()]);
    assert!(matches!(error, Error::Usage(_)) && error.to_string().contains("shield") && error.to_string().contains("part 1"), "{error}");
}

#[test]
fn v05_bounds_hold_the_animated_box() {
    let mut doc = morphing(&TRIANGLE, vec![vec![("POSITION", vec3(&[[0.0, 7.0, 0.0], [0.0; 3], [0.0; 3]]))]]);
    // Up in frame 17 of 30 alone.
    let key = |frame: f64| frame / 30.0;
    doc.animate(
        Some("raise"),
        &[(0, "weights", "LINEAR", &[0.0, key(16.0), key(17.0), key(18.0), 1.0], scalars(&[0.0, 0.0, 1.0, 0.0, 0.0]))],
    );
    doc.animate(Some("slide"), &[(0, "translation", "LINEAR", &[0.0, 1.0], vec3(&along_x(&[0.0, -4.0])))]);
    let baked = bake_fixture(&doc, |o| o.format = Format::Png16);
    let near = |found: V3, wanted: V3| assert_near(found, wanted, 1e-5);
    near(baked.clips[0].bounds[0], [0.0; 3]);
    near(baked.clips[0].bounds[1], [1.0, 7.0, 1.0]);
    near(baked.clips[1].bounds[0], [-4.0, 0.0, 0.0]);
    near(baked.clips[1].bounds[1], [1.0; 3]);
    let bounds = |corner: &str| support::decode::vector(&baked.sidecar["bounds"][corner]).expect("three numbers");
    near(bounds("min"), [-4.0, 0.0, 0.0]);
    near(bounds("max"), [1.0, 7.0, 1.0]);
    for (k, displacement) in [7.0, 4.0].into_iter().enumerate() {
        assert!((baked.clips[k].largest_displacement - displacement).abs() < 1e-5, "{:?}", baked.clips[k]);
    }
}

#[test]
fn an_axis_without_range_holds_nothing() {
    let baked = bake_fixture(&sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]), |o| o.format = Format::Png16);
    assert_eq!((baked.position.scale[1], baked.position.scale[2]), (0.0, 0.0));
    for frame in 0..baked.frame_count {
        for (i, rest) in TRIANGLE.iter().enumerate() {
            let (x, y) = baked.address(frame, i);
            let [_, y, z, _] = baked.position.image.raw(x, y);
            assert_eq!((y, z), (0.0, 0.0));
            let found = baked.position(frame, i);
            assert_eq!([found[1], found[2]], [rest[1], rest[2]]);
        }
    }
    let lifted: Vec<V3> = [0.0, 0.5, 1.0].map(|x| [x, 3.0, 0.0]).to_vec();
    let absolute = bake_fixture(&rigid(&lifted), |o| (o.format, o.position) = (Format::Png16, Position::Absolute));
    assert_eq!((absolute.position.scale[1], absolute.position.bias[1]), (0.0, 3.0));
    (0..3).for_each(|i| assert_eq!(absolute.position(0, i)[1], 3.0));
}

#[test]
fn t06_offsets_keep_half_floats_precise_far_from_the_origin() {
    let mut doc = Doc::new();
    let mesh = cube(&mut doc);
    doc.root(json!({ "mesh": mesh, "translation": [1000.0, 0.0, 0.0] }));
    doc.animate(None, &[(0, "translation", "LINEAR", &[0.0, 0.5, 1.0], vec3(&along_x(&[999.9, 1000.1, 999.9])))]);
    let worst = |position: Position| {
        let bake = |format: Format| bake_fixture(&doc, |o| (o.format, o.position) = (format, position));
        let (exact, half) = (bake(Format::Exr32), bake(Format::Exr16));
        let pairs = exact.all_positions().concat().into_iter().zip(half.all_positions().concat());
        pairs.flat_map(|(a, b)| (0..3).map(move |c| (a[c] - b[c]).abs())).fold(0.0, f64::max)
    };
    assert!(worst(Position::Offset) < 1e-4, "{}", worst(Position::Offset));
    assert!(worst(Position::Absolute) > 0.05, "{}", worst(Position::Absolute));
}

/// A triangle with these texture coordinate sets, every component of set n being n + 0.25.
fn with_sets(sets: usize) -> Doc {
    let mut doc = rigid(&TRIANGLE);
    for n in 0..sets {
        let accessor = doc.add(vec2(&[[n as f64 + 0.25; 2]; 3]));
        doc.json["meshes"][0]["primitives"][0]["attributes"][format!("TEXCOORD_{n}")] = json!(accessor);
    }
    doc
}

/// The first component of each texture coordinate set of the only primitive, set by set.
fn sets_of(baked: &Baked) -> Vec<f64> {
    let primitive: &Value = &baked.glb.json["meshes"][0]["primitives"][0];
    (0..)
        .map_while(|n| baked.glb.attribute(primitive, &format!("TEXCOORD_{n}")).expect("an accessor"))
        .map(|values| values.all[0])
        .collect()
}

#[test]
fn v07_the_lookup_finds_its_set() {
    // The lookup of vertex 0 of 3 is 0.5 / 3.
    let first = f64::from(0.5_f32 / 3.0);
    let sets = |doc: &Doc, set: u32| {
        let baked = bake_fixture(doc, |o| o.uv_set = set);
        (sets_of(&baked), baked.sidecar["mesh"]["lookup"]["texcoord"].as_u64().expect("a set"))
    };
    let near = |found: (Vec<f64>, u64), wanted: (&[f64], u64)| {
        assert_eq!((found.0.len(), found.1), (wanted.0.len(), wanted.1), "{found:?}");
        found.0.iter().zip(wanted.0).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{found:?}, wanted {wanted:?}"));
    };
    near(sets(&with_sets(0), 1), (&[0.0, first], 1));
    near(sets(&with_sets(1), 1), (&[0.25, first], 1));
    near(sets(&with_sets(1), 3), (&[0.25, 0.0, 0.0, first], 3));
    near(sets(&with_sets(2), 2), (&[0.25, 1.25, first], 2));

    // A set 1 that no material reads is replaced, and said.
    let baked = bake_fixture(&with_sets(2), |_| ());
    near((sets_of(&baked), 1), (&[0.25, first], 1));
    assert!(baked.warned(Code::UvSetReplaced) > 0);

    // One that a material reads moves the lookup.
    let mut read = with_sets(2);
    read.push("materials", json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0, "texCoord": 1 } } }));
    let view = read.view(support::models::PIXEL);
    read.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    read.push("textures", json!({ "source": 0 }));
    read.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let baked = bake_fixture(&read, |_| ());
    near((sets_of(&baked), baked.sidecar["mesh"]["lookup"]["texcoord"].as_u64().expect("a set")), (&[0.25, 1.25, first], 2));
    assert!(baked.warned(Code::UvSetMoved) > 0);
}
