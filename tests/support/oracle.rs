//! The given models, and where other programs say that their vertices are.
//!
//! `shared/data` lies beside the repository on developers' machines and in CI; `VATBAKE_SHARED` names another place. It is test
//! data of other people's making and no part of the repository.

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use serde_json::Value;

use super::decode::V3;

/// A model of the inventory.
#[derive(Debug, Clone)]
pub struct Model {
    /// Its folder below `models`, for example `derived/TwoScenes`.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// Oracle files without their extension.
    pub oracle: PathBuf,
    /// Some primitive has no NORMAL, so the bake may hold more vertices than the file.
    pub unshared: bool,
}

/// Expected positions of one model.
pub struct Oracle {
    /// Every `stride`-th vertex of a primitive is kept.
    pub stride: usize,
    /// Primitives in the order of their data.
    pub primitives: Vec<Primitive>,
    /// Clips in the order of their data.
    pub clips: Vec<Clip>,
    /// Diagonal of the box of everything, metres.
    pub size: f64,
    points: Vec<f32>,
    kept: usize,
}

/// A primitive as a node shows it.
pub struct Primitive {
    /// Node and index of the primitive in its mesh; no node where the maker lost it.
    pub node: Option<usize>,
    pub primitive: usize,
    /// Vertices in the file.
    pub vertices: usize,
    /// First kept point within a frame.
    first: usize,
}

/// A clip.
pub struct Clip {
    pub animation: usize,
    pub name: Option<String>,
    /// Frames that the clip has at the grid `frame / fps`.
    pub total: usize,
    /// The frames that are kept.
    pub frames: Vec<usize>,
    /// First kept frame in the data.
    first: usize,
}

impl Oracle {
    /// Kept points of a primitive at the `k`-th kept frame of a clip.
    pub fn points(&self, clip: &Clip, k: usize, primitive: &Primitive) -> Vec<V3> {
        let first = (clip.first + k) * self.kept + primitive.first;
        let count = primitive.vertices.div_ceil(self.stride);
        self.points[first * 3..(first + count) * 3].chunks(3).map(|p| [0, 1, 2].map(|c| f64::from(p[c]))).collect()
    }

    /// Largest distance on an axis between neighbouring kept frames of a clip.
    pub fn motion(&self, clip: &Clip) -> f64 {
        let mut most: f64 = 0.0;
        for k in 1..clip.frames.len() {
            for primitive in &self.primitives {
                let pairs = self.points(clip, k - 1, primitive).into_iter().zip(self.points(clip, k, primitive));
                pairs.for_each(|(a, b)| (0..3).for_each(|c| most = most.max((a[c] - b[c]).abs())));
            }
        }
        most
    }
}

/// Where `shared` is expected.
pub fn shared() -> PathBuf {
    std::env::var_os("VATBAKE_SHARED").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from)
}

/// The inventory; none where there is no shared data.
pub fn models() -> Option<Vec<Model>> {
    let data = shared().join("data");
    let text = std::fs::read(data.join("inventory.json")).ok()?;
    let list: Vec<Value> = serde_json::from_slice(&text).expect("the inventory is a JSON array");
    assert!(list.len() > 40, "the inventory lists {} models, expected more than 40", list.len());
    let text_of = |m: &Value, name: &str| m[name].as_str().unwrap_or_else(|| panic!("{name} of {m}")).to_owned();
    let model = |m: &Value| {
        let file = text_of(m, "file");
        let folder = Path::new(&file).parent().and_then(|p| p.strip_prefix("models").ok()).expect("a file below models");
        Model {
            name: folder.to_string_lossy().replace('\\', "/"),
            file: data.join(&file),
            oracle: data.join(text_of(m, "oracle")),
            unshared: m["quirks"].as_array().into_iter().flatten().any(|q| q.as_str().is_some_and(|q| q.contains("without NORMAL"))),
        }
    };
    Some(list.iter().map(model).collect())
}

/// Reads the expected positions.
pub fn load(model: &Model) -> Oracle {
    let with = |extension: &str| PathBuf::from(format!("{}.{extension}", model.oracle.display()));
    let json: Value = serde_json::from_slice(&std::fs::read(with("json")).expect("the oracle's JSON")).expect("JSON");
    let bytes = std::fs::read(with("f32")).expect("the oracle's data");
    let number = |v: &Value| v.as_u64().unwrap_or_else(|| panic!("a whole number, found {v}")) as usize;
    let list = |v: &Value| v.as_array().expect("an array").clone();
    assert_eq!((number(&json["fps"]), json["space"].as_str()), (30, Some("scene")));
    let stride = number(&json["vertex_stride"]);
    let mut kept = 0;
    let mut primitives = Vec::new();
    for p in list(&json["primitives"]) {
        let vertices = number(&p["vertices"]);
        primitives.push(Primitive {
            node: p["node"].as_u64().map(|n| n as usize),
            primitive: number(&p["primitive"]),
            vertices,
            first: kept,
        });
        kept += vertices.div_ceil(stride);
    }
    let (mut first, mut min, mut max) = (0, [f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let mut clips = Vec::new();
    for c in list(&json["clips"]) {
        let frames: Vec<usize> = list(&c["frames"]).iter().map(number).collect();
        for axis in 0..3 {
            min[axis] = min[axis].min(c["min"][axis].as_f64().expect("min"));
            max[axis] = max[axis].max(c["max"][axis].as_f64().expect("max"));
        }
        let count = frames.len();
        let name = c["name"].as_str().map(str::to_owned);
        clips.push(Clip { animation: number(&c["animation"]), name, total: number(&c["frames_in_clip"]), frames, first });
        first += count;
    }
    assert_eq!(bytes.len(), first * kept * 12, "bytes of {}", with("f32").display());
    let size = (0..3).map(|c| (max[c] - min[c]).powi(2)).sum::<f64>().sqrt();
    let points = bytes.chunks(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    Oracle { stride, primitives, clips, size, points, kept }
}

/// What stands in for the tests of given models where there are none: ignored, but a failure where `CI` is `true`.
pub fn without_data() -> Trial {
    let place = shared().join("data/inventory.json");
    let reason = format!("every given model: no {}; VATBAKE_SHARED names the folder `shared`", place.display());
    let required = std::env::var("CI").is_ok_and(|v| v == "true");
    let message = reason.clone();
    Trial::test(reason, move || Err(message.into())).with_ignored_flag(!required)
}

/// The model of this name, which the inventory must have.
#[track_caller]
pub fn find(models: &[Model], name: &str) -> Model {
    models.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("the inventory has no {name}")).clone()
}
