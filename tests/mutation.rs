//! Broken files by the thousand: models made in code and the given ones are flipped, cut, spliced and rewritten by a generator with
//! fixed seeds, then read and baked on the CPU. Whatever comes in: no panic, no second over, no memory beyond a limit, and what bakes
//! all the same holds finite numbers only.
//!
//! A failure names its case; `VATBAKE_MUTATION=NAME/NUMBER cargo test --test mutation` runs it alone and keeps its bytes in
//! `target/tmp/mutation.glb`. `VATBAKE_MUTATION_TIMES=20` runs twenty times as many. Where the process dies without a word, `target/tmp/mutation-case.txt` names the case that ran.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};
use support::bake::bake;
use support::fixture::glb;
use support::models::{QUARTER_Z, Rig, TRIANGLE, along_x, cube, morphing, rigid, sliding};
use support::{Doc, Type, mat4, scalars, vec2, vec3, vec4};
use vatbake::options::{DeviceChoice, Format, Fps};
use vatbake::{Error, Input, Options, Report, Request, Silent};

/// A small input may take this long.
const MOST_TIME: Duration = Duration::from_secs(1);
/// Bytes that a bake may allocate beside its input.
const MOST_MEMORY: usize = 100 << 20;
/// Counts what is allocated: what the system gives the process depends on the machine and on what ran before.
#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;
/// The counters are the whole process's: who reads them runs alone.
static ALONE: Mutex<()> = Mutex::new(());
/// Inputs up to this size are baked to files, which are decoded again; larger ones are baked without writing.
const SMALL: usize = 16 << 10;

// Chance

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn new(name: &str, number: usize) -> Self {
        let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Self(seed ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Below `end`; 0 where `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    /// A run of at most `most` bytes within `length`.
    fn run(&mut self, length: usize, most: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        start..start + self.below(most.min(length - start) + 1)
    }
}

// What is mutated

#[derive(Clone)]
struct Seed {
    name: String,
    bytes: Vec<u8>,
}

/// Small models made in code: every kind of data that the reader knows.
fn fixtures() -> Vec<Seed> {
    let mut list = Vec::new();
    let mut add = |name: &str, doc: &Doc| list.push(Seed { name: name.into(), bytes: doc.to_glb() });
    add("slide", &sliding("LINEAR", &[0.0, 0.5, 1.0], &[0.0, 1.0, 0.0]));
    add("cubes", &cubes());
    add("rig", &rig());
    add("morph", &morph());
    add("quantised", &quantised());
    #[cfg(feature = "meshopt")]
    add("meshopt", &compressed());
    list.push(Seed { name: "data-uri".into(), bytes: cubes().to_gltf() });
    list
}

/// Two nodes that show one textured mesh, one spinning below the other.
fn cubes() -> Doc {
    let mut doc = Doc::new();
    let mesh = cube(&mut doc);
    let uv = doc.add(vec2(&[[0.5; 2]; 24]).of(Type::U16).normalized());
    doc.json["meshes"][mesh]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(uv);
    doc.json["meshes"][mesh]["primitives"][0]["material"] = json!(0);
    doc.push("materials", json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }));
    doc.push("textures", json!({ "source": 0, "sampler": 0 }));
    doc.push("samplers", json!({}));
    let view = doc.view(support::models::PIXEL);
    doc.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    doc.root(json!({ "mesh": mesh, "children": [1], "scale": [1.0, 2.0, 1.0] }));
    doc.node(json!({ "mesh": mesh, "matrix": [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 5.0, 0.0, 0.0, 1.0] }));
    let turn = vec4(&[[0.0, 0.0, 0.0, 1.0], QUARTER_Z]).of(Type::F32);
    doc.animate(Some("spin"), &[(0, "rotation", "LINEAR", &[0.0, 0.4], turn), (0, "scale", "STEP", &[0.1, 0.3], vec3(&[[1.0; 3]; 2]))]);
    doc
}

/// A chain of joints with two sets of influences and all three interpolations.
fn rig() -> Doc {
    let identity: [f64; 16] = std::array::from_fn(|i| if i % 5 == 0 { 1.0 } else { 0.0 });
    let nodes = vec![json!({ "children": [2] }), json!({ "translation": [0.0, 1.0, 0.0], "children": [3] }), json!({})];
    let rig = Rig { inverse_bind: Some(mat4(&[identity; 3])), ..Rig::new(nodes) };
    let mut doc = rig.influences([0.0, 1.0, 2.0, 0.0], [0.5, 0.25, 0.0, 0.0]).doc();
    let (joints, weights) = (doc.add(vec4(&[[2.0, 0.0, 0.0, 0.0]; 3]).of(Type::U16)), doc.add(vec4(&[[0.25, 0.0, 0.0, 0.0]; 3])));
    let attributes = &mut doc.json["meshes"][0]["primitives"][0]["attributes"];
    (attributes["JOINTS_1"], attributes["WEIGHTS_1"]) = (json!(joints), json!(weights));
    let spline = vec4(&[[0.0; 4], [0.0, 0.0, 0.0, 1.0], [0.1, 0.0, 0.0, 0.0], [0.0; 4], QUARTER_Z, [0.0; 4]]);
    doc.animate(
        Some("bend"),
        &[
            (1, "rotation", "CUBICSPLINE", &[0.0, 0.5], spline),
            (2, "translation", "LINEAR", &[0.0, 0.2, 0.6], vec3(&along_x(&[0.0, 2.0, 0.0]))),
            (3, "scale", "STEP", &[0.0, 0.3], vec3(&[[1.0; 3], [2.0; 3]])),
        ],
    );
    doc.animate(Some("hop"), &[(1, "translation", "LINEAR", &[0.0, 0.3], vec3(&along_x(&[0.0, 3.0])))]);
    doc
}

/// Two targets, one of them sparse, and no normals.
fn morph() -> Doc {
    let sparse = vec3(&[[0.0; 3]; 3]).without_base().sparse(&[1], &[0.0, 2.0, 0.0]);
    let mut doc = morphing(&TRIANGLE, vec![vec![("POSITION", sparse)], vec![("POSITION", vec3(&[[1.0, 0.0, 0.0]; 3]))]]);
    doc.json["meshes"][0]["weights"] = json!([0.5, 0.0]);
    doc.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().expect("attributes").remove("NORMAL");
    doc.animate(Some("grow"), &[(0, "weights", "LINEAR", &[0.0, 0.5], scalars(&[0.0, 0.0, 1.0, 1.0]))]);
    doc
}

/// Integers everywhere, interleaved, as a strip.
fn quantised() -> Doc {
    let mut doc = rigid(&TRIANGLE);
    let position = doc.add(vec3(&[[0.0; 3], [100.0, 0.0, 0.0], [0.0, 100.0, 0.0], [100.0; 3]]).of(Type::I16).stride(8));
    let normal = doc.add(vec3(&[[0.0, 0.0, 127.0]; 4]).of(Type::I8).normalized().stride(4));
    let indices = doc.add(scalars(&[0.0, 1.0, 2.0, 3.0]).of(Type::U8));
    doc.json["meshes"][0]["primitives"][0] =
        json!({ "attributes": { "POSITION": position, "NORMAL": normal }, "indices": indices, "mode": 5 });
    doc.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    doc.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let turn = vec4(&[[0.0, 0.0, 0.0, 127.0], [0.0, 90.0, 0.0, 90.0]]).of(Type::I8).normalized();
    doc.animate(None, &[(0, "rotation", "LINEAR", &[0.0, 0.4], turn)]);
    doc
}

/// Vertices, indices and animation compressed.
#[cfg(feature = "meshopt")]
fn compressed() -> Doc {
    use support::meshopt::{Packing, compress, padded, vertices};
    let mut doc = cubes();
    let plain = |doc: &Doc, accessor: usize| {
        let view = &doc.json["bufferViews"][support::meshopt::view_of(doc, accessor).0];
        let number = |name: &str| view[name].as_u64().expect("a number") as usize;
        doc.bin[number("byteOffset")..number("byteOffset") + number("byteLength")].to_vec()
    };
    let packing = |mode, filter| Packing { extension: "EXT_meshopt_compression", mode, filter };
    let primitive = doc.json["meshes"][0]["primitives"][0].clone();
    let accessor = |value: &Value| value.as_u64().expect("an accessor") as usize;
    let position = accessor(&primitive["attributes"]["POSITION"]);
    let encoded = vertices(&padded::<12>(&plain(&doc, position), 12), 0);
    compress(&mut doc, position, 12, packing("ATTRIBUTES", "NONE"), &encoded);
    let indices = accessor(&primitive["indices"]);
    let list: Vec<u32> = plain(&doc, indices).chunks(2).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]]))).collect();
    let encoded = meshopt::encode_index_buffer(&list, 24).expect("encoded indices");
    compress(&mut doc, indices, 2, packing("TRIANGLES", "NONE"), &encoded);
    let turn = accessor(&doc.json["animations"][0]["samplers"][0]["output"]);
    let quaternions: Vec<[f32; 4]> = vec![[0.0, 0.0, 0.0, 1.0], QUARTER_Z.map(|v| v as f32)];
    let filtered = meshopt::encode_filter_exp(&quaternions, 16, meshopt::EncodeExpMode::Separate);
    let bytes: Vec<u8> = filtered.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    let encoded = vertices(&padded::<16>(&bytes, 16), 1);
    compress(&mut doc, turn, 16, packing("ATTRIBUTES", "EXPONENTIAL"), &encoded);
    doc
}

/// Small files that ask for as much as their words can say, without being broken otherwise.
fn hostile() -> Vec<Seed> {
    let mut list = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| list.push(Seed { name: name.into(), bytes });
    // Accessors without bytes, of every size up to what is refused.
    for count in [100_000_u64, 300_000, 600_000, 1_040_000, 1_390_000, 2_790_000, 1 << 40] {
        let empty = |kind: &str, component: u32| json!({ "componentType": component, "count": count, "type": kind });
        let all = [
            ("POSITION", "VEC3", 5126),
            ("NORMAL", "VEC3", 5126),
            ("TANGENT", "VEC4", 5126),
            ("TEXCOORD_0", "VEC2", 5126),
            ("COLOR_0", "VEC4", 5126),
            ("JOINTS_0", "VEC4", 5123),
            ("WEIGHTS_0", "VEC4", 5126),
        ];
        for (what, attributes) in [("bare", &all[..1]), ("full", &all[..])] {
            let mut doc = Rig::new(vec![json!({})]).doc();
            doc.json["accessors"] = attributes.iter().map(|(_, kind, component)| empty(kind, *component)).collect();
            let named: serde_json::Map<_, _> = attributes.iter().enumerate().map(|(i, a)| (a.0.to_owned(), json!(i))).collect();
            doc.json["meshes"][0]["primitives"] = json!([{ "attributes": named }]);
            add(&format!("{what}-{count}"), doc.to_glb());
        }
    }
    // Objects of three bytes each.
    for (name, item) in [
        ("nodes", "{}"),
        ("materials", "{}"),
        ("meshes", r#"{"primitives":[]}"#),
        ("animations", "{}"),
        ("accessors", r#"{"count":1,"componentType":5121,"type":"SCALAR"}"#),
    ] {
        let items = vec![item; 400_000 / item.len()].join(",");
        add(name, format!(r#"{{"asset":{{"version":"2.0"}},"{name}":[{items}]}}"#).into_bytes());
    }
    // UV sets without end.
    for set in [u32::MAX, u32::MAX - 1, 1000] {
        let mut doc = cubes();
        let attributes = &mut doc.json["meshes"][0]["primitives"][0]["attributes"];
        attributes[format!("TEXCOORD_{set}")] = attributes["TEXCOORD_0"].clone();
        attributes[format!("COLOR_{set}")] = attributes["TEXCOORD_0"].clone();
        add(&format!("sets-{set}"), doc.to_glb());
    }
    // The same bytes as thousands of images; weights of thousands of targets for thousands of nodes; lists that are looked up in lists.
    let mut doc = cubes();
    let view = doc.view(&vec![7; 100_000]);
    doc.json["images"] = json!(vec![json!({ "bufferView": view, "mimeType": "image/png" }); 5000]);
    add("images", doc.to_glb());
    let mut doc = cubes();
    let nodes: Vec<Value> = (0..20_000).map(|_| json!({ "mesh": 0 })).collect();
    doc.json["nodes"].as_array_mut().expect("nodes").extend(nodes);
    doc.json["meshes"][0]["primitives"][0]["targets"] = json!(vec![json!({}); 20_000]);
    add("weights", doc.to_glb());
    let mut doc = cubes();
    let names: serde_json::Map<_, _> = (0..20_000).map(|i| (format!("EXT_{i}"), json!(1))).collect();
    doc.json["materials"] = json!(vec![json!({ "extensions": { "EXT_0": 1 } }); 10_000]);
    doc.json["extensions"] = json!(names);
    add("extensions", doc.to_glb());
    let mut doc = cubes();
    let mesh = doc.json["meshes"][0].clone();
    doc.json["meshes"] = json!(vec![mesh; 8000]);
    doc.json["nodes"] = (0..8000).map(|i| json!({ "mesh": i })).collect();
    doc.json["scenes"][0]["nodes"] = (0..8000).collect();
    (0..8000).for_each(|i| doc.json["meshes"][i]["primitives"][0]["material"] = json!(i));
    doc.json["materials"] = json!(vec![json!({}); 8000]);
    add("groups", doc.to_glb());
    let mut doc = cubes();
    let clip = doc.json["animations"][0].clone();
    doc.json["animations"] = json!(vec![clip; 8000]);
    add("clips", doc.to_glb());
    // One mesh a thousand times, and one accessor as three hundred targets.
    let mut doc = cubes();
    let nodes: Vec<Value> = (0..5000).map(|_| json!({ "mesh": 0 })).collect();
    (doc.json["scenes"][0]["nodes"], doc.json["nodes"]) = (json!((0..5000).collect::<Vec<_>>()), json!(nodes));
    add("instances", doc.to_glb());
    let points: Vec<[f64; 3]> = (0..3000).map(|i| [i as f64, 1.0, 2.0]).collect();
    let mut doc = morphing(&points, vec![vec![("POSITION", vec3(&points))]]);
    let target = doc.json["meshes"][0]["primitives"][0]["targets"][0].clone();
    doc.json["meshes"][0]["primitives"][0]["targets"] = json!(vec![target; 300]);
    add("targets", doc.to_glb());
    list
}

/// The given models up to 1 MB; side files of a `.gltf` are put into it.
fn given() -> Vec<Seed> {
    let root = support::oracle::shared().join("data");
    if !root.is_dir() {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "the given models are missing: set VATBAKE_SHARED");
        eprintln!("the given models are missing; only those made in code are mutated");
        return Vec::new();
    };
    let mut files = Vec::new();
    find_models(&root.join("models"), &mut files);
    files.sort();
    let seeds = files.into_iter().filter_map(|file| {
        let name = file.strip_prefix(&root).unwrap_or(&file).with_extension("").to_string_lossy().into_owned();
        let mut bytes = std::fs::read(&file).expect("a model");
        if file.extension().is_some_and(|e| e == "gltf") {
            bytes = embed(&bytes, file.parent().expect("a folder"));
        }
        (bytes.len() <= 1 << 20).then_some(Seed { name, bytes })
    });
    seeds.collect()
}

fn find_models(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            find_models(&entry, found);
        } else if entry.extension().is_some_and(|e| e == "glb" || e == "gltf") {
            found.push(entry);
        }
    }
}

fn embed(text: &[u8], folder: &Path) -> Vec<u8> {
    let mut json: Value = serde_json::from_slice(text).expect("JSON");
    for buffer in json["buffers"].as_array_mut().into_iter().flatten() {
        if let Some(bytes) = buffer["uri"].as_str().and_then(|uri| std::fs::read(folder.join(uri.replace("%20", " "))).ok()) {
            let data = base64::engine::general_purpose::STANDARD.encode(bytes);
            buffer["uri"] = json!(format!("data:application/octet-stream;base64,{data}"));
        }
    }
    serde_json::to_vec(&json).expect("JSON")
}

// How

/// One to three changes of one kind.
fn mutate(seed: &Seed, all: &[Seed], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.bytes.clone();
    for _ in 0..[1, 1, 1, 2, 3][random.below(5)] {
        bytes = match random.below(24) {
            0 => flip(bytes, 0, random),
            1 | 2 => {
                let data = data_start(&bytes);
                flip(bytes, data, random)
            }
            3 => cut(bytes, random),
            4 => overwrite(bytes, 0, random),
            5..=8 => {
                let data = data_start(&bytes);
                overwrite(bytes, data, random)
            }
            9 => splice(bytes.clone(), &bytes, random),
            10 => splice(bytes, &all[random.below(all.len())].bytes, random),
            11 => crossed(bytes, &all[random.below(all.len())].bytes, random),
            _ => rewrite(bytes, random),
        };
    }
    bytes
}

/// Where the binary chunk of a GLB begins; 0 in a JSON file.
fn data_start(bytes: &[u8]) -> usize {
    parts(bytes).filter(|(_, bin)| !bin.is_empty()).map_or(0, |(_, bin)| bytes.len() - bin.len())
}

/// A few bits from byte `first` on.
fn flip(mut bytes: Vec<u8>, first: usize, random: &mut Random) -> Vec<u8> {
    for _ in 0..1 + random.below(16) {
        let at = first + random.below(bytes.len() - first);
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << random.below(8);
        }
    }
    bytes
}

/// A shorter file, half of the time with a header that says so.
fn cut(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    bytes.truncate(random.below(bytes.len()));
    if random.below(2) == 0 && bytes.len() >= 12 {
        let length = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
    }
    bytes
}

/// Words from byte `first` on: numbers at the edge of what they can be. From 0, often the header's.
fn overwrite(mut bytes: Vec<u8>, first: usize, random: &mut Random) -> Vec<u8> {
    let words = [0, 1, 2, 3, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff, 0x100, 0x4000_0000];
    let floats = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN, 1e-42, 1e25, -1e19, 1e12, -1e6, 1e-20, 0.0, -2.0];
    for _ in 0..1 + random.below(4) {
        let word = if random.below(2) == 0 { random.pick(&words) } else { random.pick(&floats).to_bits() };
        let end = if first == 0 && random.below(2) == 0 { bytes.len().min(28) } else { bytes.len() };
        let at = (first + random.below(end - first)) / 4 * 4;
        if let Some(place) = bytes.get_mut(at..at + 4) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }
    bytes
}

/// A run of another file (or of the same) over, into or instead of a run of this one.
fn splice(mut bytes: Vec<u8>, other: &[u8], random: &mut Random) -> Vec<u8> {
    let from = random.run(other.len(), 4096);
    let to = random.run(bytes.len(), 4096);
    match random.below(3) {
        0 => drop(bytes.splice(to.start..(to.start + from.len()).min(bytes.len()), other[from].iter().copied())),
        1 => drop(bytes.splice(to.start..to.start, other[from].iter().copied())),
        _ => drop(bytes.splice(to, other[from].iter().copied())),
    }
    bytes
}

/// The JSON of one file over the data of another.
fn crossed(bytes: Vec<u8>, other: &[u8], random: &mut Random) -> Vec<u8> {
    match (parts(&bytes), parts(other)) {
        (Some((json, _)), Some((_, bin))) if !bin.is_empty() && random.below(2) == 0 => glb(json, bin),
        (Some((_, bin)), Some((json, _))) => glb(json, bin),
        _ => bytes,
    }
}

/// The two chunks of a GLB, or the whole of a JSON file.
fn parts(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if !bytes.starts_with(b"glTF") {
        return bytes.starts_with(b"{").then_some((bytes, &[]));
    }
    let length = u32::from_le_bytes(bytes.get(12..16)?.try_into().ok()?) as usize;
    Some((bytes.get(20..20_usize.checked_add(length)?)?, bytes.get(28 + length..).unwrap_or_default()))
}

/// Changes of the JSON that leave it JSON.
fn rewrite(bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let Some((text, bin)) = parts(&bytes) else { return bytes };
    let Ok(mut json) = serde_json::from_slice::<Value>(text) else { return bytes };
    for _ in 0..[1, 1, 1, 2, 3][random.below(5)] {
        let mut places = Vec::new();
        list_places(&json, &mut String::new(), &mut places);
        if places.is_empty() {
            break;
        }
        let (one, other) = (random.below(places.len()), random.below(places.len()));
        let value = json.pointer(&places[one]).cloned().unwrap_or_default();
        let stranger = json.pointer(&places[other]).cloned().unwrap_or_default();
        match random.below(6) {
            0 => remove(&mut json, &places[one]),
            1 if stranger.to_string().len() < 1024 => put(&mut json, &places[one], stranger),
            2 => {
                // Two values trade places; where one holds the other, the later write finds nothing.
                if stranger.to_string().len() < 1024 && value.to_string().len() < 1024 {
                    put(&mut json, &places[one], stranger);
                    put(&mut json, &places[other], value);
                }
            }
            3 => {
                if let Some(list) = json.pointer_mut(&places[one]).and_then(Value::as_array_mut)
                    && let Some(item) = (!list.is_empty()).then(|| list[random.below(list.len())].clone())
                {
                    list.insert(random.below(list.len() + 1), item);
                }
            }
            _ => put(&mut json, &places[one], extreme(&value, random)),
        }
    }
    let text = serde_json::to_vec(&json).expect("JSON");
    if bytes.starts_with(b"glTF") { glb(&text, bin) } else { text }
}

/// A number at the edge, mostly; else something of another type.
fn extreme(value: &Value, random: &mut Random) -> Value {
    if !value.is_number() && random.below(3) > 0 {
        return random.pick(&["", "VEC3", "MAT4", "CUBICSPLINE", "weights", "\u{0}é/~"]).into();
    }
    let near = value.as_i64().unwrap_or(0);
    match random.below(16) {
        0 => json!(0),
        1 => json!(-1),
        2 => json!(1_u64 << 31),
        3 => json!(1_u64 << 32),
        4 => json!(1_u64 << 62),
        5 => json!(u64::MAX),
        6 => json!(1e308),
        7 => json!(-1e308),
        8 => json!(3.4e38),
        9 => json!(1e-42),
        10 => json!(0.5),
        11 => json!(near.wrapping_add(1)),
        12 => json!(near.wrapping_sub(1)),
        13 => json!(near.wrapping_mul(2)),
        14 => json!(random.pick(&[5120, 5121, 5122, 5123, 5125, 5126, 4, 5, 6, 256, 65_535])),
        _ => Value::Null,
    }
}

/// JSON pointers of all values but the root; long arrays of numbers are passed over after a few.
fn list_places(value: &Value, pointer: &mut String, places: &mut Vec<String>) {
    let length = pointer.len();
    let mut visit = |name: &str, item: &Value| {
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        places.push(pointer.clone());
        list_places(item, pointer, places);
        pointer.truncate(length);
    };
    match value {
        Value::Array(list) => list.iter().enumerate().take(64).for_each(|(i, item)| visit(&i.to_string(), item)),
        Value::Object(map) => map.iter().for_each(|(name, item)| visit(name, item)),
        _ => {}
    }
}

fn put(json: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = json.pointer_mut(pointer) {
        *place = value;
    }
}

fn remove(json: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    match json.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.remove(&name.replace("~1", "/").replace("~0", "~"))),
        Some(Value::Array(list)) => {
            if let Some(index) = name.parse().ok().filter(|&i: &usize| i < list.len()) {
                list.remove(index);
            }
        }
        _ => {}
    }
}

// What must hold

/// Bakes one input; the message of a failure without the case's name.
fn check(bytes: &[u8]) -> Result<bool, String> {
    let input = Input::Bytes { name: "mutant.glb".into(), bytes: bytes.to_vec() };
    let options = Options {
        device: DeviceChoice::Cpu,
        format: Format::Exr32,
        fps: Fps::Rate(4.0),
        allow_static: true,
        max_size: 512,
        dry_run: bytes.len() > SMALL,
        ..Options::default()
    };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let memory = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let (begun, busy) = (Instant::now(), processor_time());
    let result = catch_unwind(AssertUnwindSafe(|| bake_one(input, options)));
    // A loaded machine takes long without working: both clocks must be over.
    let took = begun.elapsed().min(processor_time().zip(busy).map_or(Duration::MAX, |(now, then)| now - then));
    let baked = result.map_err(|panic| format!("a panic: {}", message(&*panic)))??;
    if took > MOST_TIME {
        return Err(format!("{took:?}, over {MOST_TIME:?}"));
    }
    let peak = ALLOCATED.peak_usage().saturating_sub(memory);
    let most = bytes.len() + MOST_MEMORY;
    if peak > most {
        return Err(format!("a peak of {} MiB of memory, {} MiB are the limit", peak >> 20, most >> 20));
    }
    Ok(baked)
}

/// Whether the input bakes; an error where what it baked to is not finite.
fn bake_one(input: Input, options: Options) -> Result<bool, String> {
    if options.dry_run {
        let request = Request { input, output: PathBuf::from("nowhere"), options };
        return match vatbake::bake(&request, &mut Silent) {
            Ok(report) => check_report(&report).map(|()| true),
            Err(error) => check_error(&error).map(|()| false),
        };
    }
    match bake(input, options) {
        Ok(baked) => {
            check_report(&baked.report)?;
            let all = |mut values: Box<dyn Iterator<Item = [f64; 3]> + '_>| values.all(|v| v.iter().all(|c| c.is_finite()));
            let texels = |texture: &support::decode::Texture| match &texture.image.texels {
                support::texture::Texels::Float(all) => all.iter().all(|v| v.is_finite()),
                _ => true,
            };
            let sound = all(Box::new(baked.rest.iter().copied()))
                && all(Box::new(baked.rest_normal.iter().flatten().copied()))
                && texels(&baked.position)
                && baked.normal.as_ref().is_none_or(texels);
            if !sound {
                return Err("numbers that are not finite in the files".into());
            }
            Ok(true)
        }
        Err(error) => check_error(&error).map(|()| false),
    }
}

fn check_report(report: &Report) -> Result<(), String> {
    let clips = report.clips.iter().flat_map(|c| [c.length, c.largest_displacement.into()]);
    let errors = report.textures.iter().flat_map(|t| [t.error_max, t.error_rms]);
    let bounds = report.bounds.iter().flatten().map(|&v| f64::from(v));
    match clips.chain(errors).chain(bounds).all(f64::is_finite) {
        true => Ok(()),
        false => Err(format!("numbers that are not finite in the report: {report:?}")),
    }
}

/// A refusal is one sentence of readable length, and no accident of the writer or the device.
fn check_error(error: &Error) -> Result<(), String> {
    let text = error.to_string();
    let is_own = matches!(error, Error::Model { .. } | Error::Bake(_) | Error::Usage(_));
    match is_own && text.len() < 2000 && !text.contains('\n') {
        true => Ok(()),
        false => Err(format!("an odd refusal: {error:?}")),
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without words").to_owned()
}

/// What this process has worked, in Linux's ticks of 10 ms; none elsewhere.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Past the name in brackets: fields 14 and 15, user and system time.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks(14)? + ticks(15)?) * 10))
}

/// Small models for `fuzz/run` to begin with: `cargo test --test mutation -- --ignored`.
#[test]
#[ignore = "writes files for the fuzzer"]
fn write_fuzz_seeds() {
    let folder = PathBuf::from(std::env::var_os("VATBAKE_FUZZ_SEEDS").expect("VATBAKE_FUZZ_SEEDS names the folder"));
    std::fs::create_dir_all(&folder).expect("a folder");
    for seed in fixtures().into_iter().chain(given()).filter(|s| s.bytes.len() <= 64 << 10) {
        std::fs::write(folder.join(seed.name.replace('/', "_")), seed.bytes).expect("a seed");
    }
}

fn tmp(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn mutated_models_are_baked_or_refused() {
    let mut seeds = fixtures();
    let made = seeds.len();
    seeds.extend(given());
    for seed in &seeds[..made] {
        assert_eq!(check(&seed.bytes), Ok(true), "{} before any change", seed.name);
    }
    let alone = std::env::var("VATBAKE_MUTATION").ok();
    let times = std::env::var("VATBAKE_MUTATION_TIMES").map_or(1, |n| n.parse().expect("a number"));
    let (mut cases, mut baked) = (0, 0);
    for (index, seed) in seeds.iter().enumerate() {
        // About as many bytes of each, so that large ones do not take all of the time.
        let count = if index < made { 300 } else { (8_000_000 / seed.bytes.len()).clamp(24, 100) } * times;
        for number in 0..count {
            let name = format!("{}/{number}", seed.name);
            if alone.as_ref().is_some_and(|wanted| *wanted != name) {
                continue;
            }
            std::fs::write(tmp("mutation-case.txt"), &name).expect("a note");
            let bytes = mutate(seed, &seeds, &mut Random::new(&seed.name, number));
            if alone.is_some() {
                std::fs::write(tmp("mutation.glb"), &bytes).expect("a file");
            }
            match check(&bytes) {
                Ok(done) => (cases, baked) = (cases + 1, baked + usize::from(done)),
                Err(what) => panic!("{name}: {what}; VATBAKE_MUTATION={name} runs it alone"),
            }
        }
    }
    eprintln!("{cases} cases, {baked} baked all the same");
    assert!(alone.is_some() || (cases >= 1000 && baked * 20 > cases && baked * 20 < cases * 19), "{cases} cases, {baked} baked");
}

/// Runs only where another test starts this program for it, so that nothing else counts as its memory.
#[test]
fn child_that_checks() {
    let Some(file) = std::env::var_os("VATBAKE_CHILD") else { return };
    let bytes = std::fs::read(file).expect("a file");
    check(&bytes).unwrap_or_else(|what| panic!("{what}"));
}

#[test]
fn hostile_documents_get_no_more_than_others() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in hostile() {
        let file = folder.path().join("hostile.glb");
        std::fs::write(&file, &seed.bytes).expect("a file");
        let mut child = std::process::Command::new(std::env::current_exe().expect("this program"));
        let output = child.args(["--exact", "child_that_checks", "--nocapture"]).env("VATBAKE_CHILD", &file).output().expect("a child");
        let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{} ({} bytes): {text}", seed.name, seed.bytes.len());
    }
}

#[test]
fn every_cut_of_a_small_model_is_refused() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let whole = rig().to_glb();
    for end in 0..whole.len() {
        let input = Input::Bytes { name: "cut.glb".into(), bytes: whole[..end].to_vec() };
        let options = Options { device: DeviceChoice::Cpu, dry_run: true, ..Options::default() };
        let request = Request { input, output: PathBuf::from("nowhere"), options };
        let result = vatbake::bake(&request, &mut Silent);
        assert!(matches!(result, Err(Error::Model { .. })), "{end} of {} bytes: {result:?}", whole.len());
    }
}
