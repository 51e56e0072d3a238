//! JSON text to the structure of a glTF document: parsed as plain values, mended where exporters are careless, then typed. Every
//! error names its place as a JSON pointer.

use std::collections::BTreeSet;

use gltf::json::Root;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Fault;
use crate::warning::{Code, Warnings};

/// Arrays whose objects this crate reads; everything else is carried or left.
const STRUCTURE: [&str; 9] = ["accessors", "animations", "buffers", "bufferViews", "meshes", "nodes", "scene", "scenes", "skins"];
/// Arrays that only the output opens.
const CARRIED: [&str; 5] = ["materials", "textures", "samplers", "images", "cameras"];

/// Objects that every document may hold, and bytes of text that each one more takes at least: an object of two bytes (`{}`) becomes a
/// thousand bytes of structure.
const OBJECTS_BASE: usize = 49_152;
const BYTES_AN_OBJECT: usize = 20;

/// TEXCOORD and COLOR sets that are carried, at most.
const MOST_SETS: u32 = 32;

/// A document in its parts.
#[derive(Debug)]
pub(super) struct Parsed {
    /// Buffers, accessors, meshes, nodes, skins, animations, scenes.
    pub(super) root: Root,
    /// `materials`, `textures`, `samplers`, `images` and the root's `extensions`, untouched.
    pub(super) carried: Map<String, Value>,
    /// Animation and channel numbers of channels that move no vertex.
    pub(super) ignored_channels: BTreeSet<(usize, usize)>,
}

/// Parses the JSON of a model.
pub(super) fn parse(bytes: &[u8], warnings: &mut Warnings) -> Result<Parsed, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        let byte = bytes.get(at).copied().unwrap_or_default();
        Fault::new("", format!("the JSON is not UTF-8: byte {byte:#04x} at offset {at}"), "save it as UTF-8 or export it again")
    })?;
    let value: Value = serde_json::from_str(text).map_err(|e| syntax_fault(text, &e))?;
    let Value::Object(mut document) = value else {
        return Err(Fault::new("", "the JSON is not an object", "export the model again"));
    };
    let objects = document.values().map(count_objects).sum::<usize>();
    let most = OBJECTS_BASE + bytes.len() / BYTES_AN_OBJECT;
    if objects > most {
        let problem = format!("the JSON holds {objects} objects in {} bytes, wanted at most {most} in so few", bytes.len());
        return Err(Fault::new("", problem, "the file is damaged; export the model again"));
    }
    check_version(&mut document, warnings)?;
    let mut carried = Map::new();
    for key in CARRIED.into_iter().chain(["extensions"]) {
        if let Some(value) = document.remove(key) {
            carried.insert(key.to_owned(), value);
        }
    }
    document.retain(|key, value| {
        let kept = STRUCTURE.into_iter().chain(["asset", "extensionsUsed", "extensionsRequired"]).any(|k| k == key);
        kept && !value.is_null()
    });
    let ignored_channels = mend(&mut document, warnings);
    let document = Value::Object(document);
    check_indices(&document, &mut String::new())?;
    // Keeping track of the path costs as much as all the rest, so it is done only for a document that fails.
    let root = Root::deserialize(&document).or_else(|_| {
        serde_path_to_error::deserialize(&document).map_err(|e| {
            let pointer = pointer_of(e.path());
            Fault::new(pointer, e.into_inner().to_string(), "export the model again or correct the JSON")
        })
    })?;
    Ok(Parsed { root, carried, ignored_channels })
}

/// Objects in a value, itself among them. The parser has bounded the depth.
fn count_objects(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(count_objects).sum(),
        Value::Object(map) => 1 + map.values().map(count_objects).sum::<usize>(),
        _ => 0,
    }
}

/// The typed structure keeps indices in 32 bits and would cut a larger one: none is that large in an honest file. `pointer` is
/// where `value` stands; the parser has bounded the depth.
fn check_indices(value: &Value, pointer: &mut String) -> Result<(), Fault> {
    /// Sizes, and places where any number may stand.
    const OTHERS: [&str; 8] = ["count", "byteOffset", "byteLength", "byteStride", "min", "max", "extras", "extensions"];
    let length = pointer.len();
    match value {
        Value::Number(number) if number.as_u64().is_some_and(|n| n > u32::MAX.into()) => {
            let problem = format!("index {number} is larger than any that a glTF file holds ({})", u32::MAX);
            return Err(Fault::new(pointer.clone(), problem, "the file is damaged; export the model again"));
        }
        Value::Array(list) => {
            for (n, item) in list.iter().enumerate() {
                pointer.push_str(&format!("/{n}"));
                check_indices(item, pointer)?;
                pointer.truncate(length);
            }
        }
        Value::Object(map) => {
            for (key, item) in map.iter().filter(|(key, _)| !OTHERS.contains(&key.as_str())) {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                check_indices(item, pointer)?;
                pointer.truncate(length);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Syntax errors, with the byte offset and the usual suspects named.
fn syntax_fault(text: &str, error: &serde_json::Error) -> Fault {
    let line_start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let offset = (line_start + error.column().saturating_sub(1)).min(text.len());
    let near = text.as_bytes().get(offset.saturating_sub(1)..).unwrap_or_default();
    let starts = |word: &str| near.starts_with(word.as_bytes()) || near.get(1..).is_some_and(|n| n.starts_with(word.as_bytes()));
    let remedy = if error.to_string().contains("recursion limit") {
        "take out the part that nests deeper than 128 levels"
    } else if ["NaN", "nan", "Inf", "inf", "-Inf", "-inf", "-nan", "-NaN"].into_iter().any(starts) {
        "NaN and Infinity are no JSON numbers: correct the value or export the model again"
    } else if error.is_eof() {
        "the file is cut off; get it again"
    } else {
        "correct the JSON or export the model again"
    };
    Fault::new("", format!("the JSON is broken at offset {offset}: {error}"), remedy)
}

fn check_version(document: &mut Map<String, Value>, warnings: &mut Warnings) -> Result<(), Fault> {
    let asset = document.entry("asset").or_insert_with(|| Value::Object(Map::new()));
    let Some(asset) = asset.as_object_mut() else {
        return Err(Fault::new("/asset", "`asset` is not an object", "export the model again"));
    };
    if !asset.contains_key("version") {
        warnings.add(Code::JsonMended, 1, || "`asset.version` is missing; 2.0 was taken".to_owned());
        asset.insert("version".to_owned(), "2.0".into());
    }
    asset.remove("extras");
    let accepted = |version: &str| version == "2" || version.starts_with("2.");
    let version = asset.get("version").and_then(Value::as_str).unwrap_or_default();
    if !accepted(version) {
        let found = asset.get("version").map(ToString::to_string).unwrap_or_default();
        let remedy = "convert it to glTF 2.0, for example with `npx gltf-pipeline -i old.gltf -o new.gltf`";
        return Err(Fault::new("/asset/version", format!("the glTF version is {found}, wanted 2.x"), remedy));
    }
    if let Some(least) = asset.get("minVersion").and_then(Value::as_str)
        && least != "2.0"
        && least != "2"
    {
        return Err(Fault::new(
            "/asset/minVersion",
            format!("the file needs a reader of glTF {least}, this one reads 2.0"),
            "export it as 2.0",
        ));
    }
    Ok(())
}

/// Repairs what has one obvious meaning, and finds the channels that move no vertex.
fn mend(document: &mut Map<String, Value>, warnings: &mut Warnings) -> BTreeSet<(usize, usize)> {
    for key in STRUCTURE {
        if let Some(value) = document.get_mut(key) {
            simplify(value);
        }
    }
    for (array, field) in [("scenes", "nodes"), ("meshes", "primitives"), ("animations", "channels"), ("animations", "samplers")] {
        for object in objects(document.get_mut(array)) {
            object.entry(field).or_insert_with(|| Value::Array(Vec::new()));
        }
    }
    for accessor in objects(document.get_mut("accessors")) {
        // Bounds are computed from the data: what the file says is often wrong.
        accessor.remove("min");
        accessor.remove("max");
    }
    let mut unknown = Vec::new();
    for mesh in objects(document.get_mut("meshes")) {
        for primitive in objects(mesh.get_mut("primitives")) {
            let attributes = primitive.entry("attributes").or_insert_with(|| Value::Object(Map::new()));
            if let Some(attributes) = attributes.as_object_mut() {
                unknown.extend(attributes.keys().filter(|name| !is_semantic(name)).cloned());
                attributes.retain(|name, _| is_semantic(name));
            }
        }
    }
    warnings.add(Code::NotCarried, unknown.len() as u64, || {
        format!(
            "{{count}} vertex attributes have names that glTF does not know or sets beyond {MOST_SETS}, such as `{}`, and were left out",
            unknown[0]
        )
    });
    let mut ignored = BTreeSet::new();
    for (a, animation) in objects(document.get_mut("animations")).enumerate() {
        for (c, channel) in objects(animation.get_mut("channels")).enumerate() {
            if !moves_a_node(channel) {
                // A placeholder that the typed structure accepts; the set says to pass over it.
                channel.insert("target".to_owned(), serde_json::json!({ "node": 0, "path": "translation" }));
                channel.insert("sampler".to_owned(), 0.into());
                ignored.insert((a, c));
            }
        }
    }
    warnings.add(Code::ChannelIgnored, ignored.len() as u64, || {
        let (a, c) = ignored.first().copied().unwrap_or_default();
        format!("{{count}} animation channels name no node or a path that moves no vertex (first: /animations/{a}/channels/{c}) and were left out")
    });
    ignored
}

/// Whether a channel names a node and a path of the core specification.
fn moves_a_node(channel: &Map<String, Value>) -> bool {
    let Some(target) = channel.get("target").and_then(Value::as_object) else { return false };
    let path = target.get("path").and_then(Value::as_str).unwrap_or_default();
    target.get("node").is_some_and(|node| !node.is_null()) && ["translation", "rotation", "scale", "weights"].contains(&path)
}

/// Names of attributes that glTF defines, and custom ones.
fn is_semantic(name: &str) -> bool {
    let numbered = || {
        let (base, set) = name.rsplit_once('_')?;
        let number = set.parse::<u32>().ok().filter(|_| set.bytes().all(|b| b.is_ascii_digit()))?;
        // Sets are consecutive (3.7.2.1), and the output fills the gaps below a UV set.
        let most = if ["TEXCOORD", "COLOR"].contains(&base) { MOST_SETS } else { u32::MAX };
        (["TEXCOORD", "COLOR", "JOINTS", "WEIGHTS"].contains(&base) && number < most).then_some(())
    };
    ["POSITION", "NORMAL", "TANGENT"].contains(&name) || name.starts_with('_') || numbered().is_some()
}

/// The objects of an array, if it is one.
fn objects(value: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    value.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Takes out `extras` and properties that are `null`, and turns numbers such as `24.0` and `1e2` into integers, which JSON does not tell apart.
fn simplify(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(map) => {
            map.retain(|key, value| key != "extras" && !value.is_null());
            map.values_mut().for_each(simplify);
        }
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or(-1.0);
            // 2^53: above it not every integer has a float of its own.
            if (0.0..=9_007_199_254_740_992.0).contains(&float) && float.fract() == 0.0 && float.is_sign_positive() {
                *value = (float as u64).into();
            }
        }
        _ => {}
    }
}

/// RFC 6901.
fn pointer_of(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => pointer.push_str(&format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(bytes: &[u8]) -> Fault {
        parse(bytes, &mut Warnings::default()).unwrap_err()
    }

    #[test]
    fn broken_text_is_named_by_offset() {
        assert!(fault(b"{\"a\": \"\x80\"}").problem.contains("byte 0x80 at offset 7"));
        assert!(fault(br#"{"asset":{"version":"2.0"},"x":NaN}"#).remedy.contains("NaN"));
        assert!(fault(br#"{"asset":{"version":"2.0"},"#).remedy.contains("cut off"));
        let deep = format!("{{\"extras\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(fault(deep.as_bytes()).remedy.contains("128 levels"));
    }

    #[test]
    fn objects_of_no_bytes_are_counted() {
        let nodes = |count: usize, item: &str| format!(r#"{{"asset":{{"version":"2.0"}},"nodes":[{}{{}}]}}"#, item.repeat(count));
        assert!(parse(nodes(40_000, "{},").as_bytes(), &mut Warnings::default()).is_ok());
        assert!(parse(nodes(100_000, r#"{"name":"a node"},"#).as_bytes(), &mut Warnings::default()).is_ok());
        assert!(fault(nodes(60_000, "{},").as_bytes()).problem.contains("60002 objects in 1800"));
    }

    #[test]
    fn types_are_named_by_pointer() {
        let fault = fault(br#"{"asset":{"version":"2.0"},"nodes":[{},{"children":["a"]}]}"#);
        assert_eq!(fault.pointer, "/nodes/1/children/0");
    }

    #[test]
    fn channels_that_move_nothing_are_marked() {
        let text = br#"{"asset":{"version":"2.0"},"animations":[{"samplers":[],"channels":[
            {"sampler":0,"target":{"node":0,"path":"scale"}}, {"sampler":0,"target":{"path":"scale"}},
            {"sampler":0,"target":{"path":"pointer","extensions":{"KHR_animation_pointer":{"pointer":"/x"}}}}]}]}"#;
        let mut warnings = Warnings::default();
        let parsed = parse(text, &mut warnings).unwrap();
        assert_eq!(parsed.ignored_channels, BTreeSet::from([(0, 1), (0, 2)]));
        assert_eq!((warnings.list()[0].code, warnings.list()[0].count), (Code::ChannelIgnored, 2));
    }

    #[test]
    fn integral_floats_and_missing_arrays_are_mended() {
        let text = br#"{"asset":{"version":"2.0"},"scenes":[{}],"buffers":[{"byteLength":8.0,"extras":[1]}],"materials":[{"x":1.0}]}"#;
        let parsed = parse(text, &mut Warnings::default()).unwrap();
        assert_eq!(parsed.root.buffers[0].byte_length.0, 8);
        assert!(parsed.root.scenes[0].nodes.is_empty());
        assert!(parsed.carried["materials"][0]["x"].is_f64());
    }

    #[test]
    fn other_versions_are_refused() {
        assert_eq!(fault(br#"{"asset":{"version":"1.0"}}"#).pointer, "/asset/version");
        assert_eq!(fault(br#"{"asset":{"version":"2.0","minVersion":"2.1"}}"#).pointer, "/asset/minVersion");
    }
}
