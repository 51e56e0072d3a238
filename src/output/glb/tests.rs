//! The GLB read back by hand: JSON, accessors, bytes.

use super::*;
use crate::plan::mesh::PartRange;
use crate::scene::{Attribute, AttributeKind, Carried, Component, Image, Node, Part, Primitive};
use crate::warning::Code;

/// A 1x1 picture.
fn picture() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::RgbaImage::new(1, 1).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

fn attribute(semantic: &str, component: Component, components: u8, vertices: usize) -> Attribute {
    let normalized = semantic.starts_with("COLOR") && component != Component::F32;
    let size = component.size() * components as usize * vertices;
    let bytes = if component == Component::F32 { vec![0; size] } else { (0..size).map(|i| i as u8).collect() };
    Attribute { semantic: semantic.into(), kind: AttributeKind { component, normalized, components }, bytes }
}

/// A model of parts, each a fan of triangles with its own material and attributes.
#[derive(Default)]
struct Model {
    scene: Scene,
    mesh: BakeMesh,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    tangents: Vec<[f32; 4]>,
}

impl Model {
    fn add(&mut self, name: Option<&str>, vertices: usize, material: Option<usize>, attributes: Vec<Attribute>, has_tangents: bool) {
        let (first_vertex, first_index, group) = (self.positions.len(), self.mesh.indices.len(), self.mesh.groups.len());
        let at = |i: usize| [0.1 + i as f32 * 0.3, (i * i % 7) as f32 / 3.0, -0.7 / (i + 1) as f32];
        self.positions.extend((first_vertex..first_vertex + vertices).map(at));
        self.normals.resize(first_vertex + vertices, [0.0, 0.6, 0.8]);
        self.tangents.resize(first_vertex + vertices, [1.0, 0.0, 0.0, -1.0]);
        self.mesh.indices.extend((1..vertices - 1).flat_map(|i| [0, i, i + 1]).map(|i| (first_vertex + i) as u32));
        let (vertex_count, index_count) = (vertices, (vertices - 2) * 3);
        self.mesh.groups.push(Group { material, first_vertex, vertex_count, first_index, index_count, attributes, has_tangents });
        self.mesh.parts.push(PartRange { part: group, group, first_vertex, vertex_count, first_index, index_count });
        let local = crate::scene::Local::Trs(Default::default());
        let name = name.map(String::from);
        self.scene.nodes.push(Node { source: group, name, parent: None, in_scene: true, local, weights: vec![] });
        self.scene.primitives.push(Primitive::default());
        self.scene.parts.push(Part { node: group, primitive: group, skin: None });
    }

    fn file(&self) -> MeshFile<'_> {
        let lanes = self.positions.len().min(1024) as u32;
        let groups = (self.positions.len() as u32).div_ceil(lanes);
        let (positions, normals, tangents) = (&self.positions, &self.normals, &self.tangents);
        let (scene, mesh, path) = (&self.scene, &self.mesh, Path::new("hero_vat.glb"));
        MeshFile { scene, mesh, positions, normals, tangents, lanes, groups, uv_set: 1, keep_parts: false, name: "hero", path }
    }
}

/// What a reader sees.
struct Read {
    root: Value,
    bin: Vec<u8>,
    written: MeshWritten,
    warnings: Warnings,
}

fn write(file: &MeshFile<'_>) -> Read {
    let (mut out, mut warnings) = (Vec::new(), Warnings::default());
    let written = write_mesh(file, &mut out, &mut warnings).unwrap();
    assert_eq!(written.bytes, out.len() as u64);
    assert_eq!(written.sha256, Sha256::digest(&out).iter().map(|b| format!("{b:02x}")).collect::<String>());
    let word = |at: usize| u32::from_le_bytes(out[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&out[..4], word(4), word(8)), (&b"glTF"[..], 2, out.len()));
    let json = word(12);
    assert_eq!((&out[16..20], json % 4), (&b"JSON"[..], 0));
    assert_eq!((&out[24 + json..28 + json], word(20 + json)), (&b"BIN\0"[..], out.len() - 28 - json));
    let root: Value = serde_json::from_slice(&out[20..20 + json]).unwrap();
    let bin = out[28 + json..].to_vec();
    assert_eq!(root["buffers"][0]["byteLength"], bin.len());
    Read { root, bin, written, warnings }
}

impl Read {
    fn primitive(&self, mesh: usize, primitive: usize) -> &Value {
        &self.root["meshes"][mesh]["primitives"][primitive]
    }

    fn accessor(&self, number: &Value) -> (&Value, &[u8]) {
        let accessor = &self.root["accessors"][number.as_u64().unwrap() as usize];
        let view = &self.root["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let [offset, length] = ["byteOffset", "byteLength"].map(|key| view[key].as_u64().unwrap() as usize);
        assert_eq!(offset % 4, 0);
        (accessor, &self.bin[offset..offset + length])
    }

    fn floats<const N: usize>(&self, primitive: &Value, semantic: &str) -> Vec<[f32; N]> {
        let (accessor, bytes) = self.accessor(&primitive["attributes"][semantic]);
        assert_eq!((&accessor["componentType"], &accessor["type"]), (&json!(5126), &json!(format!("VEC{N}"))));
        let values: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(accessor["count"], values.len() / N);
        values.as_chunks().0.to_vec()
    }

    fn indices(&self, primitive: &Value) -> (u64, Vec<u32>) {
        let (accessor, bytes) = self.accessor(&primitive["indices"]);
        let component = accessor["componentType"].as_u64().unwrap();
        let size = if component == 5123 { 2 } else { 4 };
        let value = |b: &[u8]| b.iter().rev().fold(0, |v, &byte| v << 8 | u32::from(byte));
        (component, bytes.chunks_exact(size).map(value).collect())
    }

    fn found(&self, code: Code) -> Option<(u64, String)> {
        self.warnings.list().into_iter().find(|w| w.code == code).map(|w| (w.count, w.message))
    }
}

/// Three materials, of which the first two are used; one texture without a picture, one sampler and one image that nobody uses.
fn textured() -> Model {
    let mut model = Model::default();
    model.scene.carried = Carried {
        materials: vec![
            json!({ "name": "unused", "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }),
            json!({ "name": "skin", "pbrMetallicRoughness": { "baseColorTexture": { "index": 2 }, "metallicFactor": 0.5 },
                    "normalTexture": { "index": 1, "scale": 2 }, "extras": { "index": 7 } }),
            json!({ "name": "glass", "emissiveTexture": { "index": 3, "extensions": { "KHR_texture_transform": { "scale": [2, 2] } } },
                    "extensions": { "KHR_materials_transmission": { "transmissionTexture": { "index": 2 } },
                                    "KHR_xmp_json_ld": { "packet": 0 }, "MOZ_lightmap": { "index": 1 } } }),
        ],
        textures: vec![
            json!({ "source": 0 }),
            json!({ "source": 1 }),
            json!({ "source": 2, "sampler": 1 }),
            json!({ "source": 1, "extensions": { "EXT_texture_webp": { "source": 3 } } }),
        ],
        samplers: vec![json!({}), json!({ "magFilter": 9728 })],
        images: vec![
            Image { bytes: Some(picture()), mime_type: Some("image/png".into()), ..Image::default() },
            Image { mime_type: Some("image/png".into()), ..Image::default() },
            Image { bytes: Some(picture()), mime_type: Some("image/png".into()), ..Image::default() },
            Image { bytes: Some(b"RIFF\x04\0\0\0WEBP".to_vec()), mime_type: Some("image/webp".into()), ..Image::default() },
        ],
        extensions_used: vec!["KHR_draco_mesh_compression".into()],
        extensions_required: vec!["KHR_draco_mesh_compression".into(), "KHR_texture_transform".into()],
        extensions: [("KHR_xmp_json_ld", json!({ "packets": [{}] })), ("KHR_other", json!({}))]
            .map(|(k, v)| (k.into(), v))
            .into_iter()
            .collect(),
        copyright: Some("CC0".into()),
    };
    model.add(Some("body"), 5, Some(1), vec![attribute("TEXCOORD_0", Component::F32, 2, 5)], true);
    model.add(Some("visor"), 4, Some(2), vec![attribute("TEXCOORD_0", Component::F32, 2, 4)], false);
    model
}

#[test]
fn one_node_and_a_primitive_a_group() {
    let model = textured();
    let read = write(&model.file());
    let root = &read.root;
    assert_eq!(root["asset"], json!({ "version": "2.0", "generator": crate::GENERATOR, "copyright": "CC0" }));
    assert_eq!(root["scenes"], json!([{ "nodes": [0] }]));
    assert_eq!(root["nodes"], json!([{ "name": "hero", "mesh": 0 }]));
    assert_eq!((read.written.nodes, read.written.primitives, read.written.materials, read.written.texcoord), (1, 2, 2, 1));
    let (body, visor) = (read.primitive(0, 0), read.primitive(0, 1));
    assert_eq!(read.floats::<3>(body, "POSITION"), model.positions[..5]);
    assert_eq!(read.floats::<3>(visor, "POSITION"), model.positions[5..]);
    assert_eq!(read.floats::<3>(visor, "NORMAL"), model.normals[5..]);
    assert_eq!(read.floats::<4>(body, "TANGENT"), model.tangents[..5]);
    assert!(visor["attributes"].get("TANGENT").is_none());
    assert_eq!(read.indices(visor), (5123, vec![0, 1, 2, 0, 2, 3]));
    assert_eq!((&body["material"], &visor["material"]), (&json!(0), &json!(1)));
    assert!(read.warnings.list().is_empty());
}

#[test]
fn position_range_parses_back_to_the_stored_values() {
    let model = textured();
    let read = write(&model.file());
    for primitive in 0..2 {
        let primitive = read.primitive(0, primitive);
        let stored = read.floats::<3>(primitive, "POSITION");
        let accessor = read.accessor(&primitive["attributes"]["POSITION"]).0;
        for axis in 0..3 {
            let values = stored.iter().map(|p| f64::from(p[axis]));
            assert_eq!(accessor["min"][axis].as_f64(), values.clone().reduce(f64::min));
            assert_eq!(accessor["max"][axis].as_f64(), values.reduce(f64::max));
        }
    }
}

#[test]
fn only_what_is_used_is_carried_and_renumbered() {
    let read = write(&textured().file());
    let root = &read.root;
    assert_eq!(root["materials"][0]["name"], "skin");
    assert_eq!(root["materials"][0]["pbrMetallicRoughness"], json!({ "baseColorTexture": { "index": 0 }, "metallicFactor": 0.5 }));
    assert!(root["materials"][0].get("normalTexture").is_none(), "its image is missing");
    assert_eq!(root["materials"][0]["extras"], json!({ "index": 7 }));
    let glass = &root["materials"][1];
    assert_eq!(glass["extensions"]["KHR_materials_transmission"]["transmissionTexture"]["index"], 0);
    assert_eq!(glass["emissiveTexture"]["index"], 1);
    assert!(glass["extensions"].get("MOZ_lightmap").is_none());
    assert_eq!(root["textures"], json!([{ "source": 0, "sampler": 0 }, { "extensions": { "EXT_texture_webp": { "source": 1 } } }]));
    assert_eq!(root["samplers"], json!([{ "magFilter": 9728 }]));
    let images = root["images"].as_array().unwrap();
    assert_eq!(images.iter().map(|i| i["mimeType"].as_str().unwrap()).collect::<Vec<_>>(), ["image/png", "image/webp"]);
    let view = &root["bufferViews"][images[0]["bufferView"].as_u64().unwrap() as usize];
    let [offset, length] = ["byteOffset", "byteLength"].map(|key| view[key].as_u64().unwrap() as usize);
    assert_eq!(read.bin[offset..offset + length], picture());
    assert!(view.get("target").is_none());
    let used = ["EXT_texture_webp", "KHR_materials_transmission", "KHR_texture_transform", "KHR_xmp_json_ld"];
    assert_eq!(root["extensionsUsed"], json!(used));
    assert_eq!(root["extensionsRequired"], json!(["EXT_texture_webp", "KHR_texture_transform"]));
    assert_eq!(root["extensions"], json!({ "KHR_xmp_json_ld": { "packets": [{}] } }));
}

#[test]
fn kept_parts_have_nodes_of_their_own() {
    let mut model = Model::default();
    let colour = attribute("COLOR_0", Component::U8, 3, 7);
    model.add(Some("left"), 7, None, vec![colour], false);
    // Two parts of one group: vertices 0..3 and 3..7.
    let whole = model.mesh.parts[0];
    model.mesh.indices = vec![0, 1, 2, 3, 4, 5, 3, 5, 6];
    model.mesh.groups[0].index_count = 9;
    model.mesh.parts = vec![
        PartRange { vertex_count: 3, index_count: 3, ..whole },
        PartRange { first_vertex: 3, vertex_count: 4, first_index: 3, index_count: 6, part: 9, ..whole },
    ];
    let read = write(&MeshFile { keep_parts: true, ..model.file() });
    assert_eq!(read.root["nodes"], json!([{ "name": "left", "mesh": 0 }, { "name": "hero_1", "mesh": 1 }]));
    assert_eq!(read.root["scenes"][0]["nodes"], json!([0, 1]));
    let second = read.primitive(1, 0);
    assert_eq!(read.floats::<3>(second, "POSITION"), model.positions[3..]);
    assert_eq!(read.indices(second).1, [0, 1, 2, 0, 2, 3]);
    let (accessor, bytes) = read.accessor(&second["attributes"]["COLOR_0"]);
    assert_eq!((&accessor["normalized"], &accessor["type"], &accessor["count"]), (&json!(true), &json!("VEC3"), &json!(4)));
    assert_eq!(bytes, [9, 10, 11, 0, 12, 13, 14, 0, 15, 16, 17, 0, 18, 19, 20, 0]);
    let lookup = read.floats::<2>(second, "TEXCOORD_1");
    assert_eq!(lookup.iter().map(|uv| (uv[0] * 7.0).floor() as usize).collect::<Vec<_>>(), [3, 4, 5, 6]);
}

#[test]
fn carried_attributes_are_padded_to_four_bytes() {
    let mut model = Model::default();
    let custom = [("_ID", Component::U16, 1), ("_MATRIX", Component::I8, 9), ("_WIDE", Component::F32, 4)];
    model.add(None, 3, None, custom.map(|(n, c, k)| attribute(n, c, k, 3)).to_vec(), false);
    let read = write(&model.file());
    let of = |name: &str| {
        let (accessor, bytes) = read.accessor(&read.primitive(0, 0)["attributes"][name]);
        let view = &read.root["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        (accessor["type"].as_str().unwrap(), view["byteStride"].as_u64(), bytes)
    };
    assert_eq!(of("_ID"), ("SCALAR", Some(4), &[0, 1, 0, 0, 2, 3, 0, 0, 4, 5, 0, 0][..]));
    let (kind, stride, bytes) = of("_MATRIX");
    assert_eq!((kind, stride, bytes.len(), &bytes[..8]), ("MAT3", Some(12), 36, &[0, 1, 2, 0, 3, 4, 5, 0][..]));
    assert_eq!((of("_WIDE").0, of("_WIDE").1), ("VEC4", None));
}

#[test]
fn lookup_names_every_vertex() {
    for count in [3, 1000, 1024, 1025, 7024, 70_000] {
        let mut model = Model::default();
        model.add(None, count, None, vec![], false);
        let file = model.file();
        let read = write(&file);
        let primitive = read.primitive(0, 0);
        let (lanes, groups) = (file.lanes as f32, file.groups as f32);
        let number = |uv: &[f32; 2]| (uv[0] * lanes).floor() as usize + file.lanes as usize * (uv[1] * groups).floor() as usize;
        let numbers: Vec<usize> = read.floats::<2>(primitive, "TEXCOORD_1").iter().map(number).collect();
        assert!(numbers.iter().copied().eq(0..count), "{count}");
        assert_eq!(read.floats::<2>(primitive, "TEXCOORD_0"), vec![[0.0; 2]; count], "the sets start at 0");
    }
}

#[test]
fn indices_are_short_up_to_65535_vertices() {
    for (count, component) in [(65_535, 5123), (65_536, 5125)] {
        let mut model = Model::default();
        model.add(None, count, None, vec![], false);
        let read = write(&model.file());
        let (found, indices) = read.indices(read.primitive(0, 0));
        assert_eq!((found, indices.iter().max().copied()), (component, Some(count as u32 - 1)));
    }
}

/// A model whose only group has UV sets `own` and whose material reads set `read`.
fn with_sets(own: &[u32], reference: Value) -> Model {
    let mut model = textured();
    (model.positions, model.mesh) = Default::default();
    let mut material = json!({ "name": "wall", "occlusionTexture": { "index": 2 } });
    material["occlusionTexture"].as_object_mut().unwrap().extend(reference.as_object().unwrap().clone());
    model.scene.carried.materials = vec![material];
    let sets = own.iter().map(|set| attribute(&format!("TEXCOORD_{set}"), Component::F32, 2, 4));
    model.add(None, 4, Some(0), sets.collect(), false);
    model
}

fn sets(read: &Read) -> Vec<&str> {
    let attributes = read.primitive(0, 0)["attributes"].as_object().unwrap();
    attributes.keys().filter_map(|k| k.strip_prefix("TEXCOORD_")).collect()
}

#[test]
fn a_set_that_no_material_reads_is_replaced() {
    let read = write(&with_sets(&[0, 1, 2], json!({})).file());
    assert_eq!((read.written.texcoord, sets(&read)), (1, vec!["0", "1", "2"]));
    assert_eq!(read.found(Code::UvSetReplaced).unwrap().0, 1);
    assert!(read.floats::<2>(read.primitive(0, 0), "TEXCOORD_1").iter().all(|uv| uv[0] > 0.0));
}

#[test]
fn a_set_that_a_material_reads_moves_the_lookup() {
    for reference in [json!({ "texCoord": 1 }), json!({ "extensions": { "KHR_texture_transform": { "texCoord": 1 } } })] {
        let read = write(&with_sets(&[0, 1, 2], reference).file());
        assert_eq!((read.written.texcoord, sets(&read)), (3, vec!["0", "1", "2", "3"]));
        let (_, message) = read.found(Code::UvSetMoved).unwrap();
        assert!(["wall", "TEXCOORD_3", "Bevy"].iter().all(|word| message.contains(word)), "{message}");
        assert!(read.floats::<2>(read.primitive(0, 0), "TEXCOORD_1").iter().all(|uv| *uv == [0.0; 2]));
    }
}

/// Where all sets of engines are taken, one that no material reads gives way.
#[test]
fn a_lookup_goes_beyond_the_sets_of_engines_only_where_all_are_read() {
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    let read = write(&with_sets(&all, json!({ "texCoord": 1 })).file());
    assert_eq!((read.written.texcoord, sets(&read).len()), (2, 8));
    assert_eq!(read.found(Code::UvSetReplaced).unwrap().0, 1);
    assert!(read.found(Code::UvSetMoved).unwrap().1.contains("TEXCOORD_2"));
    // the next free one comes before one that is only unread
    let read = write(&with_sets(&[0, 1, 2], json!({ "texCoord": 1 })).file());
    assert_eq!((read.written.texcoord, read.found(Code::UvSetReplaced).is_none()), (3, true));
}

#[test]
fn a_reference_to_a_missing_picture_reads_no_set() {
    let mut model = with_sets(&[0, 1], json!({ "texCoord": 1 }));
    model.scene.carried.images[2].bytes = None;
    let read = write(&model.file());
    assert_eq!((read.written.texcoord, read.root["materials"].clone()), (1, json!([{ "name": "wall" }])));
    assert!(read.root.get("textures").is_none());
}

#[test]
fn gaps_below_a_higher_set_are_filled() {
    let read = write(&MeshFile { uv_set: 4, ..with_sets(&[0], json!({})).file() });
    assert_eq!((read.written.texcoord, sets(&read)), (4, vec!["0", "1", "2", "3", "4"]));
    assert!(read.warnings.list().is_empty());
}

#[test]
fn all_groups_use_the_same_set() {
    let mut model = with_sets(&[0, 1], json!({ "texCoord": 1 }));
    model.add(None, 3, None, vec![], false);
    let read = write(&model.file());
    assert_eq!(read.written.texcoord, 2);
    assert!(read.primitive(0, 1)["attributes"].get("TEXCOORD_2").is_some());
    assert_eq!(read.floats::<2>(read.primitive(0, 1), "TEXCOORD_1"), [[0.0; 2]; 3]);
}

#[test]
fn vectors_are_unit_whatever_comes() {
    let mut model = textured();
    model.normals[1] = [0.0; 3];
    model.normals[2] = [f32::NAN, 0.0, 0.0];
    model.normals[3] = [0.0, 0.0, 9.0];
    model.tangents[1] = [0.0, 0.0, 0.0, 0.0];
    let read = write(&model.file());
    let primitive = read.primitive(0, 0);
    assert_eq!(read.floats::<3>(primitive, "NORMAL")[..4], [[0.0, 0.6, 0.8], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    assert_eq!(read.floats::<4>(primitive, "TANGENT")[..2], [[1.0, 0.0, 0.0, -1.0], [0.0, 1.0, 0.0, 1.0]]);
}

#[test]
fn broken_positions_and_empty_meshes_are_errors() {
    let fails = |model: &Model| write_mesh(&model.file(), &mut Vec::new(), &mut Warnings::default()).unwrap_err().to_string();
    let mut model = textured();
    model.positions[6][1] = f32::NAN;
    assert!(fails(&model).contains("vertex 6"));
    let mut model = textured();
    model.mesh.groups.iter_mut().for_each(|g| g.index_count = 0);
    assert!(fails(&model).contains("no triangle"));
}

#[test]
fn a_file_over_four_gibibytes_is_an_error() {
    let bin = Bin { length: u64::from(u32::MAX), ..Bin::default() };
    let mut sink = Vec::new();
    let mut out = Hashed { out: &mut sink, hash: Sha256::new(), bytes: 0 };
    let error = write_container(&json!({}), &bin, &mut out, Path::new("big.glb")).unwrap_err();
    assert!(error.to_string().contains("--only"), "{error}");
    assert!(sink.is_empty());
}

#[test]
fn bytes_are_the_same_every_time() {
    let model = textured();
    assert_eq!(write(&model.file()).written, write(&model.file()).written);
}
