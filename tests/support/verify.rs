//! Spoils bakes in the ways that engines and tools do, and writes meshes as they come back from them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use half::f16;
use serde_json::{Value, json};
use vatbake::output::{exr, png};
use vatbake::verify::{Code, Request, Verdict, verify};

use crate::support::fixture::{Array, Doc, Type, scalars, vec2, vec3, vec4};
use crate::support::models::mesh;
use crate::support::texture::{self, Texels};

/// A texture as numbers that a shader sees.
#[derive(Clone)]
pub struct Grid {
    pub width: usize,
    pub height: usize,
    pub pixel: &'static str,
    pub texels: Vec<[f64; 4]>,
}

impl Grid {
    pub fn read(path: &Path) -> Self {
        let image = texture::read(path).expect("a texture");
        let places = (0..image.height).flat_map(|y| (0..image.width).map(move |x| (x, y)));
        let texels = places.map(|(x, y)| image.shown(x, y)).collect();
        let pixel = if matches!(image.texels, Texels::U8(_)) { "rgba8unorm" } else { image.pixel };
        Self { width: image.width, height: image.height, pixel, texels }
    }

    /// In the same format, or in 8 bits.
    pub fn write(&self, path: &Path) {
        let (width, height) = (self.width as u32, self.height as u32);
        let all = self.texels.as_flattened();
        let steps = |most: f64| -> Vec<u16> { all.iter().map(|v| (v.clamp(0.0, 1.0) * most).round() as u16).collect() };
        let file = File::create(path).expect("a file");
        match self.pixel {
            "rgba8unorm" | "rgba16unorm" => {
                let (depth, most) = if self.pixel == "rgba8unorm" { (png::Depth::Eight, 255.0) } else { (png::Depth::Sixteen, 65535.0) };
                let mut writer = png::PngWriter::new(file, path, width, height, depth).expect("a PNG");
                writer.write_rows(&steps(most)).expect("rows");
                writer.finish().expect("an end");
            }
            "rgba16float" => {
                let mut writer = exr::ExrWriter::new(file, path, width, height, exr::Depth::Half).expect("an EXR");
                writer.write_rows_half(&all.iter().map(|&v| f16::from_f64(v)).collect::<Vec<_>>()).expect("rows");
                writer.finish().expect("an end");
            }
            _ => {
                let mut writer = exr::ExrWriter::new(file, path, width, height, exr::Depth::Float).expect("an EXR");
                writer.write_rows_float(&all.iter().map(|&v| v as f32).collect::<Vec<_>>()).expect("rows");
                writer.finish().expect("an end");
            }
        }
    }

    fn at(&self, x: isize, y: isize) -> [f64; 4] {
        let x = x.clamp(0, self.width as isize - 1) as usize;
        let y = y.clamp(0, self.height as isize - 1) as usize;
        self.texels[y * self.width + x]
    }

    fn made(&self, width: usize, height: usize, make: impl Fn(isize, isize) -> [f64; 4]) -> Self {
        let texels = (0..height as isize).flat_map(|y| (0..width as isize).map(move |x| (x, y))).map(|(x, y)| make(x, y)).collect();
        Self { width, height, pixel: self.pixel, texels }
    }

    fn halved(&self) -> Self {
        self.made(self.width / 2, self.height / 2, |x, y| {
            let four = [self.at(2 * x, 2 * y), self.at(2 * x + 1, 2 * y), self.at(2 * x, 2 * y + 1), self.at(2 * x + 1, 2 * y + 1)];
            std::array::from_fn(|c| four.iter().map(|t| t[c]).sum::<f64>() / 4.0)
        })
    }

    /// Sampled between texels, as `scale` times larger.
    fn scaled(&self, scale: f64) -> Self {
        let to = |n: usize| (n as f64 * scale) as usize;
        self.made(to(self.width), to(self.height), |x, y| {
            let (u, v) = ((x as f64 + 0.5) / scale - 0.5, (y as f64 + 0.5) / scale - 0.5);
            let (left, top) = (u.floor(), v.floor());
            let (right, bottom) = (u - left, v - top);
            let (x, y) = (left as isize, top as isize);
            std::array::from_fn(|c| {
                let row = |y| self.at(x, y)[c] * (1.0 - right) + self.at(x + 1, y)[c] * right;
                row(y) * (1.0 - bottom) + row(y + 1) * bottom
            })
        })
    }
}

/// What tools do to textures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoiling {
    /// Rounded to 8 bits, in a file of the old depth.
    Cut,
    /// The low bytes zeroed (16-bit PNG).
    LowBytesZeroed,
    /// An 8-bit PNG in its place.
    CutFile,
    SrgbEncoded,
    SrgbDecoded,
    /// Cut to 8 bits after the curve, as an import as colours does.
    SrgbCut,
    Halved,
    Enlarged,
    /// A mip level scaled up smoothly.
    MipSmooth,
    /// A mip level scaled up by the nearest texel.
    MipNearest,
    Blocks,
    ChannelsSwapped,
    AlphaMoved,
    AlphaLost,
    FlippedVertically,
    FlippedHorizontally,
}

impl Spoiling {
    pub const ALL: [Self; 16] = [
        Self::Cut,
        Self::LowBytesZeroed,
        Self::CutFile,
        Self::SrgbEncoded,
        Self::SrgbDecoded,
        Self::SrgbCut,
        Self::Halved,
        Self::Enlarged,
        Self::MipSmooth,
        Self::MipNearest,
        Self::Blocks,
        Self::ChannelsSwapped,
        Self::AlphaMoved,
        Self::AlphaLost,
        Self::FlippedVertically,
        Self::FlippedHorizontally,
    ];

    /// What must be said.
    pub fn codes(self) -> &'static [Code] {
        match self {
            Self::Cut | Self::LowBytesZeroed | Self::CutFile => &[Code::CutTo8Bits],
            Self::SrgbEncoded => &[Code::SrgbEncoded],
            Self::SrgbDecoded => &[Code::SrgbDecoded],
            Self::SrgbCut => &[Code::SrgbEncoded, Code::CutTo8Bits],
            Self::Halved | Self::Enlarged => &[Code::Resized],
            Self::MipSmooth | Self::MipNearest => &[Code::MipBlurred],
            Self::Blocks => &[Code::BlockCompressed],
            Self::ChannelsSwapped | Self::AlphaMoved => &[Code::ChannelsSwapped],
            Self::AlphaLost => &[Code::AlphaChanged],
            Self::FlippedVertically => &[Code::FlippedVertically],
            Self::FlippedHorizontally => &[Code::FlippedHorizontally],
        }
    }

    /// Whether it can happen to a file of this format.
    pub fn fits(self, pixel: &str) -> bool {
        match self {
            Self::LowBytesZeroed => pixel == "rgba16unorm",
            _ => true,
        }
    }

    pub fn apply(self, grid: &Grid) -> Grid {
        let each =
            |change: &dyn Fn([f64; 4]) -> [f64; 4]| Grid { texels: grid.texels.iter().map(|&t| change(t)).collect(), ..grid.clone() };
        let cut = |v: f64| (v.clamp(0.0, 1.0) * 255.0).round() / 255.0;
        match self {
            Self::Cut => each(&|t| t.map(cut)),
            Self::LowBytesZeroed => each(&|t| t.map(|v| f64::from(((v * 65535.0).round() as u16) & 0xFF00) / 65535.0)),
            Self::CutFile => Grid { pixel: "rgba8unorm", ..grid.clone() },
            Self::SrgbEncoded => each(&|[r, g, b, a]| [encode(r), encode(g), encode(b), a]),
            Self::SrgbDecoded => each(&|[r, g, b, a]| [decode(r), decode(g), decode(b), a]),
            Self::SrgbCut => each(&|[r, g, b, a]| [encode(r), encode(g), encode(b), a].map(cut)),
            Self::Halved => grid.halved(),
            Self::Enlarged => grid.scaled(1.5),
            Self::MipSmooth => grid.halved().scaled(2.0),
            Self::MipNearest => {
                let half = grid.halved();
                half.made(grid.width, grid.height, |x, y| half.at(x / 2, y / 2))
            }
            Self::Blocks => compress_blocks(grid),
            Self::ChannelsSwapped => each(&|[r, g, b, a]| [b, g, r, a]),
            Self::AlphaMoved => each(&|[r, g, b, a]| [a, r, g, b]),
            Self::AlphaLost => each(&|[r, g, b, _]| [r, g, b, 1.0]),
            Self::FlippedVertically => grid.made(grid.width, grid.height, |x, y| grid.at(x, grid.height as isize - 1 - y)),
            Self::FlippedHorizontally => grid.made(grid.width, grid.height, |x, y| grid.at(grid.width as isize - 1 - x, y)),
        }
    }
}

fn encode(v: f64) -> f64 {
    let a = v.abs();
    (if a <= 0.003_130_8 { 12.92 * a } else { 1.055 * a.powf(1.0 / 2.4) - 0.055 }).copysign(v)
}

fn decode(v: f64) -> f64 {
    let a = v.abs();
    (if a <= 0.040_45 { a / 12.92 } else { ((a + 0.055) / 1.055).powf(2.4) }).copysign(v)
}

/// BC1 for unorm: two colours of 5, 6 and 5 bits a block and two between them. For floats the same with eight steps, as BC6H has.
fn compress_blocks(grid: &Grid) -> Grid {
    let is_unorm = grid.pixel == "rgba16unorm";
    let mut out = grid.clone();
    for (by, bx) in (0..grid.height / 4).flat_map(|y| (0..grid.width / 4).map(move |x| (y, x))) {
        let places: Vec<usize> = (0..16).map(|i| (by * 4 + i / 4) * grid.width + bx * 4 + i % 4).collect();
        let colour = |p: usize| [0, 1, 2].map(|c| grid.texels[p][c]);
        let square = |a: [f64; 3], b: [f64; 3]| (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>();
        let far =
            |from: [f64; 3]| places.iter().map(|&p| colour(p)).max_by(|a, b| square(*a, from).total_cmp(&square(*b, from))).expect("16");
        let a = far(colour(places[0]));
        let b = far(a);
        let store = |v: [f64; 3]| match is_unorm {
            true => [31.0, 63.0, 31.0].iter().zip(v).map(|(m, v)| (v * m).round() / m).collect::<Vec<_>>().try_into().expect("three"),
            false => v,
        };
        let (a, b): ([f64; 3], [f64; 3]) = (store(a), store(b));
        let steps = if is_unorm { 3 } else { 7 };
        let line: Vec<[f64; 3]> = (0..=steps)
            .map(|i| {
                let share = f64::from(i) / f64::from(steps);
                let eight = |v: f64| if is_unorm { (v * 255.0).round() / 255.0 } else { v };
                std::array::from_fn(|c| eight(a[c] + (b[c] - a[c]) * share))
            })
            .collect();
        for &p in &places {
            let near = line.iter().min_by(|a, b| square(**a, colour(p)).total_cmp(&square(**b, colour(p)))).expect("a colour");
            out.texels[p] = [near[0], near[1], near[2], grid.texels[p][3]];
        }
    }
    out
}

/// Codes that name what happened to a texture.
pub const NAMES: [Code; 15] = [
    Code::PixelFormat,
    Code::Resized,
    Code::CutTo8Bits,
    Code::SrgbEncoded,
    Code::SrgbDecoded,
    Code::Clamped,
    Code::MipBlurred,
    Code::BlockCompressed,
    Code::ChannelsSwapped,
    Code::AlphaChanged,
    Code::BytesSwapped,
    Code::FlippedVertically,
    Code::FlippedHorizontally,
    Code::OtherBake,
    Code::ColourChunk,
];

/// A skinned model with a morph: a bent tube of vertices that lie in no order, two clips of 1 s and 0.6 s. `axis` turns the joint.
pub fn limb(axis: [f64; 3]) -> Doc {
    const COUNT: usize = 66;
    let place = |i: usize| {
        let (angle, height) = (i as f64 * 2.399_963, ((i * 29) % COUNT) as f64 / COUNT as f64 * 2.0);
        (angle, height)
    };
    let positions: Vec<[f64; 3]> = (0..COUNT).map(|i| (place(i).0.cos() * 0.3, place(i).1, place(i).0.sin() * 0.3).into()).collect();
    let normals: Vec<[f64; 3]> = (0..COUNT).map(|i| [place(i).0.cos(), 0.0, place(i).0.sin()]).collect();
    let weights: Vec<[f64; 4]> = (0..COUNT).map(|i| (place(i).1 / 2.0).clamp(0.0, 1.0)).map(|w| [1.0 - w, w, 0.0, 0.0]).collect();
    let mut doc = Doc::new();
    let mesh = mesh(
        &mut doc,
        vec![
            ("POSITION", vec3(&positions)),
            ("NORMAL", vec3(&normals)),
            ("JOINTS_0", vec4(&[[0.0, 1.0, 0.0, 0.0]; COUNT]).of(Type::U8)),
            ("WEIGHTS_0", vec4(&weights)),
        ],
    );
    let target = doc.add(vec3(&(0..COUNT).map(|i| [0.1 * (i % 5) as f64, 0.0, 0.05 * (i % 3) as f64]).collect::<Vec<_>>()));
    doc.json["meshes"][mesh]["primitives"][0]["targets"] = json!([{ "POSITION": target }]);
    doc.root(json!({ "mesh": mesh, "skin": 0 }));
    doc.root(json!({ "name": "hip", "children": [2] }));
    doc.node(json!({ "name": "knee", "translation": [0.0, 1.0, 0.0] }));
    let binds = [0.0, -1.0].map(|y| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, y, 0.0, 1.0]);
    let binds = doc.add(crate::support::fixture::mat4(&binds));
    doc.push("skins", json!({ "joints": [1, 2], "inverseBindMatrices": binds }));
    let turn = |angle: f64| {
        let (sin, cos) = (angle / 2.0).sin_cos();
        [axis[0] * sin, axis[1] * sin, axis[2] * sin, cos]
    };
    doc.animate(
        Some("bend"),
        &[
            (2, "rotation", "LINEAR", &[0.0, 0.5, 1.0], vec4(&[turn(0.0), turn(1.3), turn(0.4)])),
            (0, "weights", "LINEAR", &[0.0, 1.0], scalars(&[0.0, 1.0])),
        ],
    );
    doc.animate(
        Some("sway"),
        &[
            (1, "translation", "LINEAR", &[0.0, 0.3, 0.6], vec3(&[[0.0; 3], [0.4, 0.2, -0.3], [0.0; 3]])),
            (1, "rotation", "LINEAR", &[0.0, 0.3, 0.6], vec4(&[turn(0.0), turn(-0.8), turn(0.0)])),
        ],
    );
    doc
}

/// A verdict without anything else to compare with.
pub fn check(folder: &Path) -> Verdict {
    verify(&Request { sidecar: folder.to_path_buf(), ..Request::default() }).unwrap_or_else(|e| panic!("refused: {e}"))
}

pub fn codes(verdict: &Verdict) -> BTreeSet<Code> {
    verdict.findings.iter().map(|f| f.code).collect()
}

#[track_caller]
pub fn assert_clean(verdict: &Verdict, about: &str) {
    assert!(verdict.ok && verdict.findings.is_empty(), "{about}: {:#?}", verdict.findings);
}

/// Changes the sidecar of a folder.
pub fn edit_sidecar(folder: &Path, edit: impl FnOnce(&mut Value)) {
    let path = sidecar_in(folder);
    let mut json: Value = serde_json::from_slice(&std::fs::read(&path).expect("a sidecar")).expect("JSON");
    edit(&mut json);
    std::fs::write(path, serde_json::to_vec(&json).expect("JSON")).expect("a sidecar");
}

pub fn sidecar_in(folder: &Path) -> PathBuf {
    let names = crate::support::bake::names_in(folder);
    folder.join(names.iter().find(|n| n.ends_with(".vat.json")).expect("a sidecar"))
}

/// All files of a folder in another, so that a bake is spoilt once and again.
pub fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().expect("a folder");
    for name in crate::support::bake::names_in(from) {
        std::fs::copy(from.join(&name), to.path().join(&name)).expect("a copy");
    }
    to
}

/// A mesh as a tool writes it: vertices, UV sets, triangles.
#[derive(Clone)]
pub struct Export {
    pub positions: Vec<[f64; 3]>,
    pub sets: Vec<(String, Vec<[f64; 2]>)>,
    pub indices: Vec<usize>,
    /// UVs are kept as this type, normalised where it is one of integers.
    pub uv_type: Type,
    pub node: Value,
}

impl Export {
    /// What was baked, unchanged.
    pub fn of(vat: &crate::support::Vat) -> Self {
        let lookup = vat.lookup.iter().map(|(uv, _)| *uv).collect();
        let by_number: std::collections::BTreeMap<usize, usize> = vat.lookup.iter().enumerate().map(|(i, (_, n))| (*n, i)).collect();
        Self {
            positions: vat.lookup.iter().map(|(_, n)| vat.rest[*n]).collect(),
            sets: vec![("TEXCOORD_0".into(), vec![[0.0; 2]; vat.lookup.len()]), ("TEXCOORD_1".into(), lookup)],
            indices: vat.indices.iter().map(|n| by_number[n]).collect(),
            uv_type: Type::F32,
            node: json!({}),
        }
    }

    pub fn lookup(&mut self) -> &mut Vec<[f64; 2]> {
        &mut self.sets.last_mut().expect("a set").1
    }

    pub fn write(&self, path: &Path) {
        let mut doc = Doc::new();
        let most = match self.uv_type {
            Type::U8 => 255.0,
            Type::U16 => 65535.0,
            _ => 1.0,
        };
        let mut attributes = vec![("POSITION", vec3(&self.positions))];
        for (name, uvs) in &self.sets {
            let stored: Vec<[f64; 2]> =
                uvs.iter().map(|uv| uv.map(|v| if most > 1.0 { (v.clamp(0.0, 1.0) * most).round() } else { v })).collect();
            let array: Array = vec2(&stored).of(self.uv_type);
            attributes.push((name, if most > 1.0 { array.normalized().stride(4) } else { array.stride(12) }));
        }
        let mesh = mesh(&mut doc, attributes);
        let indices = doc.add(scalars(&self.indices.iter().map(|&i| i as f64).collect::<Vec<_>>()).of(Type::U32));
        doc.json["meshes"][mesh]["primitives"][0]["indices"] = json!(indices);
        let mut node = self.node.clone();
        node["mesh"] = json!(mesh);
        doc.root(node);
        File::create(path).and_then(|mut f| f.write_all(&doc.to_glb())).expect("a GLB");
    }
}
