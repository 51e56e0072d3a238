//! One model, many encodings: a random model is stored again as glTF and its extensions allow (integers, strides, sparse data,
//! compression, several buffers, strips), and bakes to the same positions and normals, exactly where the encoding loses nothing and
//! within its step where it does.

mod support;

use base64::Engine;
use proptest::prelude::*;
use serde_json::json;
use support::bake::{assert_near, bake, input, options};
use support::models::{TRIANGLE, morphing, rigid, sliding};
use support::random::{Model, RATE, direction, document, document_with, model, palette, stored};
use support::{Array, Baked, Doc, Type, bake_fixture, scalars, vec3, vec4};
use vatbake::Input;
use vatbake::options::Fps;
use vatbake::warning::Code;

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Bakes a document as floats, frames at whole multiples of 1 / [`RATE`].
fn bake_exactly(input: Input) -> Result<Baked, TestCaseError> {
    let mut options = options();
    (options.fps, options.exact_fps) = (Fps::Rate(RATE), true);
    bake(input, options).map_err(|e| TestCaseError::fail(format!("refused: {e}")))
}

/// Positions, normals and triangles are the same, to the bit.
fn assert_same(one: &Baked, other: &Baked) -> Result<(), TestCaseError> {
    prop_assert_eq!((one.vertex_count, one.frame_count), (other.vertex_count, other.frame_count));
    prop_assert_eq!(&one.rest, &other.rest);
    prop_assert_eq!(&one.position.image.texels, &other.position.image.texels);
    prop_assert_eq!(&one.normal.as_ref().expect("normals").image.texels, &other.normal.as_ref().expect("normals").image.texels);
    prop_assert_eq!(turned(one), turned(other));
    Ok(())
}

/// Triangles, each from its smallest corner on: how a strip or a codec turns them means nothing.
fn turned(baked: &Baked) -> Vec<[usize; 3]> {
    let turn = |t: &[usize]| {
        let first = (0..3).min_by_key(|&k| t[k]).unwrap_or(0);
        std::array::from_fn(|k| t[(first + k) % 3])
    };
    baked.indices.chunks(3).map(turn).collect()
}

fn uses(doc: &mut Doc, extension: &str) {
    for list in ["extensionsUsed", "extensionsRequired"] {
        if doc.json[list].is_null() {
            doc.json[list] = json!([]);
        }
        let list = doc.json[list].as_array_mut().expect("extensions");
        if !list.iter().any(|e| e == extension) {
            list.push(json!(extension));
        }
    }
}

// Integers

/// How a float of -2..2 is stored.
#[derive(Debug, Clone, Copy)]
struct Stored {
    component: Type,
    normalized: bool,
}

impl Stored {
    fn most(self) -> f64 {
        match self.component {
            Type::I8 => 127.0,
            Type::U8 => 255.0,
            Type::I16 => 32767.0,
            Type::U16 => 65535.0,
            _ => 1.0,
        }
    }
    /// The stored integer for a number of -2..2.
    fn encode(self, value: f64) -> f64 {
        let signed = matches!(self.component, Type::I8 | Type::I16);
        (if signed { value / 2.0 } else { value.abs() / 2.0 } * self.most()).round()
    }
    /// The float that the integer stands for.
    fn decode(self, integer: f64) -> f64 {
        if self.normalized { f64::from(integer as f32 / self.most() as f32) } else { integer }
    }
}

fn integers() -> impl Strategy<Value = Stored> {
    (prop_oneof![Just(Type::I8), Just(Type::U8), Just(Type::I16), Just(Type::U16)], any::<bool>())
        .prop_map(|(component, normalized)| Stored { component, normalized })
}

/// Weights of a vertex as integers that sum to `most`.
fn whole_weights(weights: &[f64], most: f64) -> Vec<f64> {
    let mut whole: Vec<f64> = weights.iter().map(|w| (w * most).round()).collect();
    let largest = (0..whole.len()).max_by(|&a, &b| whole[a].total_cmp(&whole[b])).unwrap_or(0);
    whole[largest] += most - whole.iter().sum::<f64>();
    whole
}

/// The model with the numbers that integers can say, as floats and as those integers.
fn quantised(mut model: Model, position: Stored, weight: Type) -> (Doc, Doc) {
    let integers: Vec<[f64; 3]> = model.vertices.iter().map(|v| v.position.map(|c| position.encode(c))).collect();
    let most = Stored { component: weight, normalized: true }.most();
    let weights: Vec<Vec<f64>> =
        model.vertices.iter().map(|v| whole_weights(&v.influences.iter().map(|i| i.1).collect::<Vec<_>>(), most)).collect();
    for (vertex, (integers, weights)) in model.vertices.iter_mut().zip(integers.iter().zip(&weights)) {
        vertex.position = integers.map(|c| position.decode(c));
        vertex.influences.iter_mut().zip(weights).for_each(|(i, w)| i.1 = stored(w / most));
    }
    let mut encode = |name: &str, array: Array| match name {
        "POSITION" => {
            let size = if matches!(position.component, Type::I8 | Type::U8) { 4 } else { 8 };
            let array = vec3(&integers).of(position.component).stride(size);
            if position.normalized { array.normalized() } else { array }
        }
        "WEIGHTS_0" | "WEIGHTS_1" => {
            let set = usize::from(name == "WEIGHTS_1");
            let row = |w: &Vec<f64>| -> [f64; 4] { std::array::from_fn(|k| w[set * 4 + k]) };
            vec4(&weights.iter().map(row).collect::<Vec<_>>()).of(weight).normalized()
        }
        "JOINTS_0" | "JOINTS_1" => array.of(Type::U16),
        _ => array,
    };
    let mut doc = document_with(&model, &mut encode);
    uses(&mut doc, "KHR_mesh_quantization");
    (document(&model), doc)
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn integers_bake_like_the_floats_that_they_stand_for(
        model in model(), position in integers(), weight in prop_oneof![Just(Type::U8), Just(Type::U16)]
    ) {
        let (plain, integers) = quantised(model, position, weight);
        let found = bake_exactly(input(&integers))?;
        prop_assert_eq!(found.warned(Code::WeightsRenormalised), 0, "whole weights that sum to 1");
        assert_same(&found, &bake_exactly(input(&plain))?)?;
    }
}

// Storage

/// How the bytes of a document's accessors lie.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Storage {
    /// Vertex attributes take turns in one view.
    Interleaved,
    /// Elements apart, with junk between them and before them.
    Spread,
    /// Some elements come from a sparse part over a base that is wrong there.
    SparseOverBase,
    /// All elements that are not zero come from a sparse part over nothing.
    SparseOverZeros,
    /// Each view has a buffer, all of them data URIs.
    Split,
}

/// Where an accessor's elements stand: offset in the buffer, bytes of one, their number. The view is the accessor's own and packed.
fn span(doc: &Doc, accessor: usize) -> (usize, usize, usize) {
    let count = doc.json["accessors"][accessor]["count"].as_u64().expect("a count") as usize;
    let view = doc.json["accessors"][accessor]["bufferView"].as_u64().expect("a view") as usize;
    let number = |name: &str| doc.json["bufferViews"][view][name].as_u64().expect("a number") as usize;
    (number("byteOffset"), number("byteLength") / count, count)
}

fn bytes_of(doc: &Doc, accessor: usize) -> Vec<u8> {
    let (start, size, count) = span(doc, accessor);
    doc.bin[start..start + size * count].to_vec()
}

fn attributes(doc: &Doc) -> Vec<usize> {
    let attributes = doc.json["meshes"][0]["primitives"][0]["attributes"].as_object().expect("attributes");
    attributes.values().map(|v| v.as_u64().expect("an accessor") as usize).collect()
}

fn interleave(doc: &mut Doc) {
    let list = attributes(doc);
    let columns: Vec<(usize, Vec<u8>)> = list.iter().map(|&a| (span(doc, a).1, bytes_of(doc, a))).collect();
    let stride: usize = columns.iter().map(|c| c.0.next_multiple_of(4)).sum();
    let mut bytes = Vec::new();
    for vertex in 0..span(doc, list[0]).2 {
        for (size, column) in &columns {
            bytes.extend_from_slice(&column[vertex * size..(vertex + 1) * size]);
            bytes.resize(bytes.len().next_multiple_of(4), 0xEE);
        }
    }
    let view = doc.view(&bytes);
    doc.json["bufferViews"][view]["byteStride"] = json!(stride);
    let mut offset = 0;
    for (accessor, (size, _)) in list.iter().zip(&columns) {
        doc.json["accessors"][*accessor]["bufferView"] = json!(view);
        doc.json["accessors"][*accessor]["byteOffset"] = json!(offset);
        offset += size.next_multiple_of(4);
    }
}

/// Moves a third of the elements to a sparse part, or all that are not zero where no base is kept.
fn make_sparse(doc: &mut Doc, accessor: usize, keep_base: bool) {
    let (start, size, count) = span(doc, accessor);
    let bytes = bytes_of(doc, accessor);
    let element = |i: usize| &bytes[i * size..(i + 1) * size];
    let moved: Vec<usize> = (0..count).filter(|&i| if keep_base { i % 3 == 1 } else { element(i).iter().any(|&b| b != 0) }).collect();
    if moved.is_empty() {
        return;
    }
    let indices: Vec<u8> = moved.iter().flat_map(|&i| (i as u32).to_le_bytes()).collect();
    let values: Vec<u8> = moved.iter().flat_map(|&i| element(i)).copied().collect();
    if keep_base {
        moved.iter().for_each(|&i| doc.bin[start + i * size..start + (i + 1) * size].fill(0x11));
    } else {
        doc.json["accessors"][accessor].as_object_mut().expect("an accessor").remove("bufferView");
    }
    let (indices, values) = (doc.view(&indices), doc.view(&values));
    doc.json["accessors"][accessor]["sparse"] = json!({ "count": moved.len(), "values": { "bufferView": values },
        "indices": { "bufferView": indices, "componentType": 5125 } });
}

/// Every view in a buffer of its own, as a `.gltf` of data URIs.
fn split(doc: &Doc) -> Input {
    let mut doc = doc.clone();
    let mut buffers = Vec::new();
    for view in doc.json["bufferViews"].as_array_mut().expect("views") {
        let number = |name: &str| view[name].as_u64().expect("a number") as usize;
        let bytes = &doc.bin[number("byteOffset")..number("byteOffset") + number("byteLength")];
        let media = ["application/octet-stream", "application/gltf-buffer"][buffers.len() % 2];
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        buffers.push(json!({ "byteLength": bytes.len(), "uri": format!("data:{media};base64,{data}") }));
        (view["buffer"], view["byteOffset"]) = (json!(buffers.len() - 1), json!(0));
    }
    doc.json["buffers"] = json!(buffers);
    Input::Bytes { name: "fixture.gltf".into(), bytes: serde_json::to_vec(&doc.json).expect("JSON") }
}

fn stored_anew(model: &Model, storage: Storage) -> Input {
    if storage == Storage::Spread {
        let spread = |name: &str, array: Array| match name {
            "POSITION" | "NORMAL" => array.view_offset(20).offset(8).stride(28),
            "JOINTS_0" | "JOINTS_1" => array.offset(4).stride(12),
            "WEIGHTS_0" | "WEIGHTS_1" => array.stride(48),
            _ => array.view_offset(4).offset(4),
        };
        return input(&document_with(model, &mut { spread }));
    }
    let mut doc = document(model);
    match storage {
        Storage::Interleaved => interleave(&mut doc),
        Storage::SparseOverBase | Storage::SparseOverZeros => {
            let keep_base = storage == Storage::SparseOverBase;
            (0..doc.json["accessors"].as_array().expect("accessors").len()).for_each(|a| make_sparse(&mut doc, a, keep_base));
        }
        Storage::Split => return split(&doc),
        Storage::Spread => {}
    }
    input(&doc)
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn where_bytes_lie_changes_nothing(
        model in model(),
        storage in prop_oneof![
            Just(Storage::Interleaved), Just(Storage::Spread), Just(Storage::SparseOverBase), Just(Storage::SparseOverZeros), Just(Storage::Split)
        ]
    ) {
        assert_same(&bake_exactly(stored_anew(&model, storage))?, &bake_exactly(input(&document(&model)))?)?;
    }
}

// Topology

/// The model's triangles through indices of this type; as a strip, joined by triangles without area.
fn indexed(doc: &mut Doc, component: Type, strip: bool) {
    let count = span(doc, attributes(doc)[0]).2;
    let mut indices = Vec::new();
    for i in 0..count {
        if strip && i % 3 == 0 && i > 0 {
            // Three more corners, so that the next triangle stands at an even place and keeps its winding.
            indices.extend([i - 1, i, i]);
        }
        indices.push(i);
    }
    let accessor = doc.add(scalars(&indices.iter().map(|&i| i as f64).collect::<Vec<_>>()).of(component));
    let primitive = &mut doc.json["meshes"][0]["primitives"][0];
    primitive["indices"] = json!(accessor);
    primitive["mode"] = json!(if strip { 5 } else { 4 });
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn indices_and_strips_mean_the_triangles_that_they_list(
        model in model(), component in prop_oneof![Just(Type::U8), Just(Type::U16), Just(Type::U32)], strip in any::<bool>()
    ) {
        let mut doc = document(&model);
        indexed(&mut doc, component, strip);
        assert_same(&bake_exactly(input(&doc))?, &bake_exactly(input(&document(&model)))?)?;
    }

    #[test]
    fn a_fan_means_the_triangles_about_its_first_corner(model in model()) {
        let (mut fan, mut list) = (document(&model), document(&model));
        fan.json["meshes"][0]["primitives"][0]["mode"] = json!(6);
        let corners: Vec<f64> = (1..model.vertices.len() - 1).flat_map(|i| [i as f64, i as f64 + 1.0, 0.0]).collect();
        let indices = list.add(scalars(&corners).of(Type::U8));
        list.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
        assert_same(&bake_exactly(input(&fan))?, &bake_exactly(input(&list))?)?;
    }
}

// Compression

#[cfg(feature = "meshopt")]
mod compression {
    use super::*;
    use support::meshopt::{Packing, compress, vertices};

    const NAMES: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

    /// Compresses an accessor by the vertex codec without loss, its elements padded to whole fours of bytes.
    fn compress_elements(doc: &mut Doc, accessor: usize, extension: &'static str, version: i32) {
        let (_, size, _) = span(doc, accessor);
        let bytes = bytes_of(doc, accessor);
        macro_rules! by_size {
            ($($n:literal)*) => {
                match size.next_multiple_of(4) {
                    $( $n => vertices(&support::meshopt::padded::<$n>(&bytes, size), version), )*
                    other => panic!("an element of {other} bytes"),
                }
            };
        }
        let encoded = by_size!(4 8 12 16 64);
        let packing = Packing { extension, mode: "ATTRIBUTES", filter: "NONE" };
        compress(doc, accessor, size.next_multiple_of(4), packing, &encoded);
    }

    proptest! {
        #![proptest_config(cases(48))]

        #[test]
        fn compressed_without_loss_means_the_same(
            model in model(), name in 0..2_usize, version in 0..2, sequence in any::<bool>(), component in prop_oneof![Just(Type::U16), Just(Type::U32)]
        ) {
            let mut doc = document(&model);
            let plain = bake_exactly(input(&doc))?;
            // Version 1 belongs to the Khronos name alone.
            let (extension, version) = (NAMES[name], if name == 0 { 0 } else { version });
            for accessor in 0..doc.json["accessors"].as_array().expect("accessors").len() {
                compress_elements(&mut doc, accessor, extension, version);
            }
            indexed(&mut doc, component, false);
            let indices = doc.json["accessors"].as_array().expect("accessors").len() - 1;
            let size = span(&doc, indices).1;
            let list: Vec<u32> = (0..model.vertices.len() as u32).collect();
            let (mode, encoded) = match sequence {
                true => ("INDICES", meshopt::encode_index_sequence(&list, list.len())),
                false => ("TRIANGLES", meshopt::encode_index_buffer(&list, list.len())),
            };
            compress(&mut doc, indices, size, Packing { extension, mode, filter: "NONE" }, &encoded.expect("encoded indices"));
            assert_same(&bake_exactly(input(&doc))?, &plain)?;
        }

        #[test]
        fn exponents_keep_positions_within_their_step(model in model(), bits in 10..=24_i32) {
            let mut doc = document(&model);
            let plain = bake_exactly(input(&doc))?;
            let positions: Vec<[f32; 3]> = model.vertices.iter().map(|v| v.position.map(|c| c as f32)).collect();
            let filtered = meshopt::encode_filter_exp(&positions, bits, meshopt::EncodeExpMode::Separate);
            let elements: Vec<[u8; 12]> = filtered.iter().map(bytes_of_words).collect();
            let accessor = doc.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].as_u64().expect("an accessor") as usize;
            compress(&mut doc, accessor, 12, Packing { extension: NAMES[0], mode: "ATTRIBUTES", filter: "EXPONENTIAL" }, &vertices(&elements, 0));
            let found = bake_exactly(input(&doc))?;
            // Coordinates are below 2 and have `bits - 1` bits after the sign.
            let step = 2.0 * 2.0_f64.powi(1 - bits);
            for k in 0..plain.frame_count {
                let largest = palette(&model, k as f64 / RATE).iter().flatten().fold(1.0, |most: f64, v| most.max(v.abs()));
                for i in 0..plain.vertex_count {
                    let (one, other) = (found.position(k, i), plain.position(k, i));
                    let near = (0..3).all(|c| (one[c] - other[c]).abs() <= 3.0 * largest * (step + 1e-6));
                    prop_assert!(near, "frame {k}, vertex {i}: {one:?}, plain {other:?}");
                }
            }
        }

        #[test]
        fn octahedral_normals_turn_by_their_step_at_most(
            normals in prop::collection::vec(direction::<3>(), 3), wide in any::<bool>(), color in any::<bool>()
        ) {
            let mut doc = rigid(&TRIANGLE);
            let four: Vec<[f32; 4]> = normals.iter().map(|n| [n[0] as f32, n[1] as f32, n[2] as f32, f32::from(u8::from(color))]).collect();
            let (component, stride) = if wide { (Type::I16, 8) } else { (Type::I8, 4) };
            let accessor = doc.add(vec3(&[[0.0; 3]; 3]).of(component).normalized().stride(stride));
            let encoded = if wide {
                let filtered = meshopt::encode_filter_oct::<u16>(&four, 16);
                vertices(&filtered.iter().map(bytes_of_halves).collect::<Vec<[u8; 8]>>(), 0)
            } else {
                vertices(&meshopt::encode_filter_oct::<u8>(&four, 8), 0)
            };
            compress(&mut doc, accessor, stride, Packing { extension: NAMES[0], mode: "ATTRIBUTES", filter: "OCTAHEDRAL" }, &encoded);
            uses(&mut doc, "KHR_mesh_quantization");
            doc.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(accessor);
            let baked = bake_exactly(input(&doc))?;
            // A step of the octahedron and one of the vector, each a little stretched.
            let step = if wide { 4.0 / 32767.0 } else { 4.0 / 127.0 };
            for (i, wanted) in normals.iter().enumerate() {
                let found = baked.normal(0, i);
                prop_assert!((0..3).all(|c| (found[c] - wanted[c]).abs() <= step), "{found:?}, wanted {wanted:?} within {step}");
            }
        }

        #[test]
        fn compressed_rotations_turn_by_their_step_at_most(turns in prop::collection::vec(direction::<4>(), 2), version in 0..2) {
            let times = [0.0, 1.0];
            let document = |values: Array| {
                let mut doc = rigid(&TRIANGLE);
                doc.animate(None, &[(0, "rotation", "STEP", &times, values)]);
                doc
            };
            let plain = bake_exactly(input(&document(vec4(&[turns[0], turns[1]]))))?;
            let four: Vec<[f32; 4]> = turns.iter().map(|q| q.map(|c| c as f32)).collect();
            let filtered = meshopt::encode_filter_quat(&four, 16);
            let elements: Vec<[u8; 8]> = filtered.iter().map(|v| bytes_of_halves(&v.map(|c| c as u16))).collect();
            let mut doc = document(vec4(&[[0.0; 4]; 2]).of(Type::I16).normalized());
            let output = doc.json["animations"][0]["samplers"][0]["output"].as_u64().expect("an accessor") as usize;
            compress(&mut doc, output, 8, Packing { extension: NAMES[1], mode: "ATTRIBUTES", filter: "QUATERNION" }, &vertices(&elements, version));
            let found = bake_exactly(input(&doc))?;
            prop_assert_eq!((found.frame_count, found.warned(Code::QuaternionNormalised)), (plain.frame_count, 0));
            for k in 0..plain.frame_count {
                // Components come in steps of 1 / 32767 of sqrt(1/2); a rotation doubles their angle.
                (0..3).for_each(|i| assert_near(found.position(k, i), plain.position(k, i), 4.0 / 32767.0));
            }
        }
    }

    fn bytes_of_words(words: &[u32; 3]) -> [u8; 12] {
        std::array::from_fn(|i| words[i / 4].to_le_bytes()[i % 4])
    }

    fn bytes_of_halves(halves: &[u16; 4]) -> [u8; 8] {
        std::array::from_fn(|i| halves[i / 2].to_le_bytes()[i % 2])
    }

    /// A model that slides, its positions compressed; the view, and the name of the extension.
    fn sliding_compressed() -> (Doc, usize) {
        let mut doc = sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]);
        let accessor = doc.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].as_u64().expect("an accessor") as usize;
        compress_elements(&mut doc, accessor, NAMES[0], 0);
        (doc, accessor)
    }

    #[test]
    fn d04_a_required_compression_is_decoded() {
        let (doc, _) = sliding_compressed();
        assert_near(bake_fixture(&doc, |_| ()).position(0, 0), TRIANGLE[0], 0.0);
    }

    #[test]
    fn d04_a_full_fallback_is_read_where_the_compression_is_not_required() {
        let (mut doc, accessor) = sliding_compressed();
        doc.json.as_object_mut().expect("a document").remove("extensionsRequired");
        let plain: Vec<u8> = TRIANGLE.iter().flatten().flat_map(|&v| ((v * 2.0) as f32).to_le_bytes()).collect();
        let data = base64::engine::general_purpose::STANDARD.encode(&plain);
        // Twice as large as the compressed copy, to see which was read; the compressed bytes are broken besides.
        doc.json["buffers"][1] = json!({ "byteLength": plain.len(), "uri": format!("data:application/octet-stream;base64,{data}") });
        let view = support::meshopt::view_of(&doc, accessor).0;
        doc.json["bufferViews"][view]["extensions"][NAMES[0]]["byteLength"] = json!(3);
        assert_near(bake_fixture(&doc, |_| ()).position(0, 0), TRIANGLE[0].map(|c| c * 2.0), 0.0);
    }

    #[test]
    fn d04_a_placeholder_is_not_read_where_the_compression_is_not_required() {
        let (mut doc, _) = sliding_compressed();
        doc.json.as_object_mut().expect("a document").remove("extensionsRequired");
        assert_near(bake_fixture(&doc, |_| ()).position(0, 0), TRIANGLE[0], 0.0);
    }

    #[test]
    fn d04_compressed_data_that_is_broken_is_refused_by_its_place() {
        let (doc, accessor) = sliding_compressed();
        let view = support::meshopt::view_of(&doc, accessor).0;
        for (field, value) in
            [("byteLength", json!(9)), ("count", json!(300)), ("byteStride", json!(13)), ("mode", json!("TRIANGLES")), ("buffer", json!(7))]
        {
            let mut doc = doc.clone();
            doc.json["bufferViews"][view]["extensions"][NAMES[0]][field] = value;
            support::bake::refuse_at(&doc, &format!("/bufferViews/{view}"), &[]);
        }
    }
}

#[test]
fn quantised_morph_deltas_move_like_floats() {
    for (component, normalized) in [(Type::I8, false), (Type::I8, true), (Type::I16, false), (Type::I16, true)] {
        let stored = Stored { component, normalized };
        let integers = [[10.0, -20.0, 0.0], [0.0, 30.0, 0.0], [100.0, 0.0, -100.0]];
        let bake = |deltas: Array| {
            let mut doc = morphing(&TRIANGLE, vec![vec![("POSITION", deltas)]]);
            uses(&mut doc, "KHR_mesh_quantization");
            doc.animate(None, &[(0, "weights", "LINEAR", &[0.0, 1.0], scalars(&[0.0, 0.7]))]);
            bake_fixture(&doc, |_| ())
        };
        let array = vec3(&integers).of(component).stride(8);
        let found = bake(if normalized { array.normalized() } else { array });
        let plain = bake(vec3(&integers.map(|v| v.map(|c| stored.decode(c)))));
        assert_eq!(found.all_positions(), plain.all_positions(), "{stored:?}");
    }
}
