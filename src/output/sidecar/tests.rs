//! Text, round trips, refusals and the schema.

use super::*;
use crate::warning::{Code, Level};

fn sample() -> Sidecar {
    let unit_box = Bounds { min: [-0.1, 0.0, -1.0], max: [0.1, 1.5, 16777217.0] };
    let texture = |role, encoding, range: Option<[f32; 3]>, unit| Texture {
        role,
        file: format!("Fox_vat_{role:?}.png").to_lowercase(),
        pixel: Pixel::Rgba16Unorm,
        upload: Pixel::Rgba16Unorm.upload(),
        encoding,
        scale: range,
        bias: range.map(|r| r.map(|v| -v)),
        gpu_bytes: 2_267_136,
        crc32: "9d0b3a7c".into(),
        error: Deviation { max: 4.6e-4, rms: 2.1e-4, unit },
    };
    Sidecar {
        format: Name::Vatbake,
        version: VERSION,
        generator: "vatbake 0.1.0".into(),
        source: Source { file: "Fox.glb".into(), sha256: "00ff".into(), scene: 0 },
        space: Space::scaled(1.0),
        rest: Rest::Shown,
        vertex_count: 1728,
        frame_count: 162,
        layout: Layout { width: 1728, height: 164, blocks: 1, order: Order::BlockMajor, first_row: FirstRow::Top },
        textures: vec![
            texture(Role::Position, Encoding::OffsetUnorm, Some([51.2, 40.1, 1.0e-7]), Unit::Metre),
            texture(Role::Normal, Encoding::UnitUnorm, None, Unit::Degree),
        ],
        mesh: Mesh {
            file: "Fox_vat.glb".into(),
            sha256: "11ee".into(),
            lookup: Lookup { texcoord: 1, lanes: 1024, groups: 2 },
            parts: vec![Part {
                node: 1,
                node_name: None,
                mesh: 0,
                primitive: 0,
                material: Some(0),
                skin: None,
                first_vertex: 0,
                vertex_count: 1728,
                first_index: 0,
                index_count: 1728,
            }],
        },
        clips: vec![Clip {
            name: Some("Survey".into()),
            animation: Some(0),
            first_frame: 0,
            frame_count: 104,
            fps: 30.146_341,
            start: 0.0,
            length: 3.416_666_7,
            looping: Loop::Closed,
            stepped: false,
            bounds: unit_box,
            largest_displacement: 38.2,
            source: None,
            root_motion: None,
        }],
        bounds: unit_box,
        warnings: vec![],
    }
}

fn text(sidecar: &Sidecar) -> String {
    let mut out = Vec::new();
    write(sidecar, &mut out, Path::new("Fox.vat.json")).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn is_written_as_documented() {
    insta::assert_snapshot!(text(&sample()));
}

#[test]
fn reads_back_to_the_same_bits() {
    let mut sidecar = sample();
    sidecar.clips[0].name = None;
    sidecar.textures[0].scale = Some([f32::MIN_POSITIVE, 0.1 + 0.2, f32::from_bits(1)]);
    let warning = Warning { code: Code::ZeroWeights, level: Level::Warning, count: 2, message: "a \"b\"\n".into() };
    sidecar.warnings.push(warning);
    assert_eq!(read(text(&sidecar).as_bytes()).unwrap(), sidecar);
}

#[test]
fn what_a_clip_may_have_besides_reads_back() {
    let mut sidecar = sample();
    let plain = text(&sidecar);
    assert!(!plain.contains("root_motion"));
    sidecar.clips[0].source = Some(ClipSource { file: "walk.glb".into(), sha256: "22ff".into() });
    sidecar.clips[0].root_motion =
        Some(RootMotion { node: 3, node_name: None, translation: vec![[0.0; 3], [0.1, 0.0, -2.5]], yaw: vec![0.0, 7.1] });
    let whole = text(&sidecar);
    assert!(whole.contains("\"yaw\": [0.0, 7.1]"), "{whole}");
    assert_eq!(read(whole.as_bytes()).unwrap(), sidecar);
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    for value in [f32::NAN, f32::INFINITY] {
        let mut sidecar = sample();
        sidecar.clips[0].bounds.max[1] = value;
        let error = write(&sidecar, &mut Vec::new(), Path::new("Fox.vat.json")).unwrap_err().to_string();
        assert!(error.contains("clips[0].bounds.max[1]"), "{error}");
        let mut sidecar = sample();
        sidecar.textures[0].bias = Some([0.0, 0.0, value]);
        assert!(write(&sidecar, &mut Vec::new(), Path::new("Fox.vat.json")).is_err());
    }
}

#[test]
fn unknown_fields_pass_and_other_versions_do_not() {
    let json = text(&sample());
    let more = json.replacen('{', "{\n  \"later\": { \"x\": [1] },", 1);
    assert_eq!(read(more.as_bytes()).unwrap(), sample());
    let newer = json.replace("\"version\": 1", "\"version\": 2");
    assert!(read(newer.as_bytes()).unwrap_err().to_string().contains("version 2"));
    let broken = json.replace("\"width\": 1728", "\"width\": \"wide\"");
    assert!(read(broken.as_bytes()).unwrap_err().to_string().contains("layout.width"));
    assert!(read(b"{}").unwrap_err().to_string().contains("not a sidecar"));
}

#[test]
fn schema_describes_every_field_and_allows_more() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(schema.get("$id").is_none());
    assert_eq!(schema["properties"]["version"]["const"], VERSION);
    let definitions = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    let objects: Vec<_> = definitions.filter(|d| d["type"] == "object").collect();
    assert!(objects.len() > 10);
    for object in objects {
        assert!(object.get("additionalProperties").is_none(), "{object}");
        for (name, field) in object["properties"].as_object().unwrap() {
            assert!(field.get("description").is_some(), "{name} of {object}");
        }
    }
    let written: serde_json::Value = serde_json::from_str(&text(&sample())).unwrap();
    let named: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(named, written.as_object().unwrap().keys().collect::<Vec<_>>());
}
