//! An independent decoder of a bake, written from the format's page: sidecar, textures and static mesh in, positions and normals
//! of any vertex at any frame out. It shares no code with what wrote the files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::glb::Glb;
use super::texture::{self, Image};

pub type V3 = [f64; 3];

/// One decoded bake.
pub struct Vat {
    pub folder: PathBuf,
    pub sidecar: Value,
    pub vertex_count: usize,
    pub frame_count: usize,
    pub width: usize,
    pub height: usize,
    pub blocks: usize,
    pub position: Texture,
    pub normal: Option<Texture>,
    pub tangent: Option<Texture>,
    pub glb: Glb,
    /// POSITION of the static mesh, by vertex number.
    pub rest: Vec<V3>,
    /// The same as an engine's importer turns it into the sidecar's space.
    pub placed: Vec<V3>,
    /// NORMAL of the static mesh, by vertex number.
    pub rest_normal: Option<Vec<V3>>,
    /// The lookup of each vertex of the GLB in the order of its buffers, and the vertex number that it names.
    pub lookup: Vec<([f64; 2], usize)>,
    /// Vertex numbers of all indices.
    pub indices: Vec<usize>,
    pub parts: Vec<Part>,
    pub clips: Vec<Clip>,
}

/// A texture and how its texels are to be read.
pub struct Texture {
    pub encoding: String,
    pub pixel: String,
    pub scale: V3,
    pub bias: V3,
    pub error_max: f64,
    pub error_rms: f64,
    pub crc32: String,
    pub file: String,
    pub image: Image,
}

/// `mesh.parts`.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub node: usize,
    pub mesh: usize,
    pub primitive: usize,
    pub material: Option<usize>,
    pub skin: Option<usize>,
    pub first_vertex: usize,
    pub vertex_count: usize,
    pub first_index: usize,
    pub index_count: usize,
}

/// `clips`.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    pub name: String,
    pub animation: Option<usize>,
    pub first_frame: usize,
    pub frame_count: usize,
    pub fps: f64,
    pub start: f64,
    pub length: f64,
    pub looping: String,
    pub stepped: bool,
    pub bounds: [V3; 2],
    pub largest_displacement: f64,
}

/// What a player does past the end of a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    Loop,
    PingPong,
    Once,
}

/// Decodes the set that a sidecar names.
pub fn decode(sidecar: &Path) -> Result<Vat, String> {
    let folder = sidecar.parent().ok_or("a sidecar without a folder")?.to_path_buf();
    let text = std::fs::read(sidecar).map_err(|e| format!("{}: {e}", sidecar.display()))?;
    let json: Value = serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", sidecar.display()))?;
    if json["format"] != "vatbake" || json["version"] != 1 {
        return Err(format!("format {} version {}, expected \"vatbake\" 1", json["format"], json["version"]));
    }
    let layout = &json["layout"];
    if layout["order"] != "block-major" || layout["first_row"] != "top" {
        return Err(format!("layout {layout}"));
    }
    let textures: Vec<(String, Texture)> =
        array(&json, "/textures")?.iter().map(|t| read_texture(&folder, t, layout)).collect::<Result<_, String>>()?;
    let mut position = None;
    let mut normal = None;
    let mut tangent = None;
    for (role, texture) in textures {
        match role.as_str() {
            "position" => position = Some(texture),
            "normal" => normal = Some(texture),
            "tangent" => tangent = Some(texture),
            other => return Err(format!("a texture of role {other}")),
        }
    }
    let vertex_count = number(&json, "/vertex_count")?;
    let file = folder.join(text_at(&json, "/mesh/file")?);
    let glb = Glb::read(&std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?)?;
    let mesh = read_mesh(&glb, &json["mesh"]["lookup"], vertex_count)?;
    Ok(Vat {
        folder,
        vertex_count,
        frame_count: number(&json, "/frame_count")?,
        width: number(layout, "/width")?,
        height: number(layout, "/height")?,
        blocks: number(layout, "/blocks")?,
        position: position.ok_or("no texture of role position")?,
        normal,
        tangent,
        placed: mesh.rest.iter().map(|p| to_space(&json["space"], *p)).collect::<Result<_, _>>()?,
        rest: mesh.rest,
        rest_normal: mesh.normal,
        lookup: mesh.lookup,
        indices: mesh.indices,
        parts: array(&json, "/mesh/parts")?.iter().map(read_part).collect::<Result<_, _>>()?,
        clips: array(&json, "/clips")?.iter().map(read_clip).collect::<Result<_, _>>()?,
        glb,
        sidecar: json,
    })
}

/// A point of glTF's axes in metres as the engines have it whose space a sidecar may name.
fn to_space(space: &Value, [x, y, z]: V3) -> Result<V3, String> {
    let word = |name: &str, usual: &'static str| space[name].as_str().unwrap_or(usual).to_owned();
    let words = [word("up", "+y"), word("forward", "+z"), word("handedness", "right"), word("unit", "metre")];
    match words.each_ref().map(String::as_str) {
        ["+y", "+z", "right", "metre"] => Ok([x, y, z]),
        // Unity
        ["+y", "+z", "left", "metre"] => Ok([-x, y, z]),
        // Unreal's Interchange
        ["+z", "+y", "left", "centimetre"] => Ok([x * 100.0, z * 100.0, y * 100.0]),
        other => Err(format!("a space {other:?}")),
    }
}

impl Vat {
    /// The texel of vertex `i` at frame `f` (of the whole bake).
    pub fn address(&self, frame: usize, vertex: usize) -> (usize, usize) {
        assert!(frame < self.frame_count && vertex < self.vertex_count, "vertex {vertex}, frame {frame}");
        (vertex % self.width, vertex / self.width * self.frame_count + frame)
    }

    /// Where vertex `i` is at frame `f`.
    pub fn position(&self, frame: usize, vertex: usize) -> V3 {
        let (x, y) = self.address(frame, vertex);
        let t = self.position.image.shown(x, y);
        let Texture { encoding, scale, bias, .. } = &self.position;
        let rest = if encoding.starts_with("offset") { self.placed[vertex] } else { [0.0; 3] };
        std::array::from_fn(|c| match encoding.as_str() {
            "offset-unorm" | "absolute-unorm" => rest[c] + t[c] * scale[c] + bias[c],
            "offset-float" | "absolute-float" => rest[c] + t[c],
            other => panic!("position encoding {other}"),
        })
    }

    /// The unit normal of vertex `i` at frame `f`.
    pub fn normal(&self, frame: usize, vertex: usize) -> V3 {
        let (x, y) = self.address(frame, vertex);
        let normal = self.normal.as_ref().expect("a bake with normals");
        let t = normal.image.shown(x, y);
        match normal.encoding.as_str() {
            "unit-unorm" => unit([t[0] * 2.0 - 1.0, t[1] * 2.0 - 1.0, t[2] * 2.0 - 1.0]),
            "unit-float" => unit([t[0], t[1], t[2]]),
            "alpha-octahedral" => packed(normal.image.raw(x, y)[3] as u32),
            other => panic!("normal encoding {other}"),
        }
    }

    /// The unit tangent of vertex `i` at frame `f`.
    pub fn tangent(&self, frame: usize, vertex: usize) -> V3 {
        let (x, y) = self.address(frame, vertex);
        let tangent = self.tangent.as_ref().expect("a texture of tangents");
        let t = tangent.image.shown(x, y);
        match tangent.encoding.as_str() {
            "unit-unorm" => unit([t[0] * 2.0 - 1.0, t[1] * 2.0 - 1.0, t[2] * 2.0 - 1.0]),
            "unit-float" => unit([t[0], t[1], t[2]]),
            other => panic!("tangent encoding {other}"),
        }
    }

    /// Every position of one frame.
    pub fn frame(&self, frame: usize) -> Vec<V3> {
        (0..self.vertex_count).map(|i| self.position(frame, i)).collect()
    }

    /// The positions of one vertex through a clip.
    pub fn track(&self, clip: usize, vertex: usize) -> Vec<V3> {
        let clip = &self.clips[clip];
        (0..clip.frame_count).map(|k| self.position(clip.first_frame + k, vertex)).collect()
    }

    /// The frames (of the whole bake) that a player shows `seconds` after the clip began, and how far it is from the first to the second.
    pub fn between(&self, clip: usize, seconds: f64, mode: Mode) -> (usize, usize, f64) {
        let clip = &self.clips[clip];
        let intervals = (clip.frame_count - 1) as f64;
        if clip.frame_count == 1 {
            return (clip.first_frame, clip.first_frame, 0.0);
        }
        let x = seconds * clip.fps;
        let x = match mode {
            Mode::Once => x.clamp(0.0, intervals),
            Mode::Loop => x.rem_euclid(intervals),
            Mode::PingPong => intervals - (x.rem_euclid(2.0 * intervals) - intervals).abs(),
        };
        let first = x.floor().min(intervals - 1.0);
        (clip.first_frame + first as usize, clip.first_frame + first as usize + 1, x - first)
    }

    /// Where a player shows vertex `i`, `seconds` after the clip began.
    pub fn play(&self, clip: usize, seconds: f64, mode: Mode, vertex: usize) -> V3 {
        let (first, second, blend) = self.between(clip, seconds, mode);
        mix(self.position(first, vertex), self.position(second, vertex), blend)
    }

    /// The normal that it shows.
    pub fn play_normal(&self, clip: usize, seconds: f64, mode: Mode, vertex: usize) -> V3 {
        let (first, second, blend) = self.between(clip, seconds, mode);
        unit(mix(self.normal(first, vertex), self.normal(second, vertex), blend))
    }

    /// Largest error that rounding to this format may cause on an axis, metres: half a step, or half a unit in the last place.
    pub fn half_step(&self, axis: usize) -> f64 {
        match self.position.image.steps() {
            Some(steps) => self.position.scale[axis] / steps / 2.0,
            None => {
                let half = if self.position.pixel == "rgba16float" { 2.0_f64.powi(-11) } else { 2.0_f64.powi(-24) };
                (0..self.frame_count).flat_map(|f| (0..self.vertex_count).map(move |i| (f, i))).fold(0.0, |most: f64, (f, i)| {
                    let (x, y) = self.address(f, i);
                    most.max(self.position.image.raw(x, y)[axis].abs())
                }) * half
            }
        }
    }

    /// Triangles of a part as vertex numbers.
    pub fn triangles(&self, part: &Part) -> Vec<[usize; 3]> {
        self.indices[part.first_index..part.first_index + part.index_count].chunks(3).map(|t| [t[0], t[1], t[2]]).collect()
    }

    /// Codes of the sidecar's warnings with their counts.
    pub fn warnings(&self) -> Vec<(String, u64)> {
        let list = self.sidecar["warnings"].as_array().cloned().unwrap_or_default();
        list.iter().map(|w| (w["code"].as_str().unwrap_or("").to_owned(), w["count"].as_u64().unwrap_or(0))).collect()
    }
}

struct Mesh {
    rest: Vec<V3>,
    normal: Option<Vec<V3>>,
    lookup: Vec<([f64; 2], usize)>,
    indices: Vec<usize>,
}

/// Reads positions by the lookup UV: which vertex number each vertex of the GLB has, each number exactly once.
fn read_mesh(glb: &Glb, lookup: &Value, vertex_count: usize) -> Result<Mesh, String> {
    let lanes = number(lookup, "/lanes")? as f64;
    let groups = number(lookup, "/groups")? as f64;
    let name = format!("TEXCOORD_{}", number(lookup, "/texcoord")?);
    let mut mesh = Mesh {
        rest: vec![[f64::NAN; 3]; vertex_count],
        normal: Some(vec![[f64::NAN; 3]; vertex_count]),
        lookup: Vec::new(),
        indices: Vec::new(),
    };
    // Primitives may share an accessor (and so a range of vertices): each is read once.
    let mut seen = std::collections::BTreeMap::new();
    for shown in glb.shown()? {
        let primitive = &shown.json;
        if primitive["mode"].as_u64().unwrap_or(4) != 4 {
            return Err(format!("a primitive of mode {}", primitive["mode"]));
        }
        let id = primitive["attributes"].to_string();
        let numbers: Vec<usize> = if let Some(numbers) = seen.get(&id) {
            Vec::clone(numbers)
        } else {
            let uv = glb.attribute(primitive, &name)?.ok_or_else(|| format!("a primitive without {name}"))?;
            let position = glb.attribute(primitive, "POSITION")?.ok_or("a primitive without POSITION")?;
            let normal = glb.attribute(primitive, "NORMAL")?;
            let mut numbers = Vec::with_capacity(uv.count());
            for k in 0..uv.count() {
                let [u, v] = uv.get::<2>(k);
                let i = ((u * lanes).floor() + lanes * (v * groups).floor()) as usize;
                let place = mesh.rest.get_mut(i).ok_or_else(|| format!("UV ({u}, {v}) names vertex {i} of {vertex_count}"))?;
                if !place[0].is_nan() {
                    return Err(format!("vertex {i} is named twice"));
                }
                *place = position.get(k);
                match (&mut mesh.normal, &normal) {
                    (Some(all), Some(normal)) => all[i] = normal.get(k),
                    _ => mesh.normal = None,
                }
                mesh.lookup.push(([u, v], i));
                numbers.push(i);
            }
            seen.insert(id, numbers.clone());
            numbers
        };
        match primitive["indices"].as_u64() {
            Some(index) => {
                for i in glb.values(index as usize)?.all {
                    mesh.indices.push(*numbers.get(i as usize).ok_or_else(|| format!("index {i} of {} vertices", numbers.len()))?);
                }
            }
            None => mesh.indices.extend(numbers),
        }
    }
    match mesh.rest.iter().position(|p| p[0].is_nan()) {
        Some(i) => Err(format!("no vertex of the mesh names texel column {i}")),
        None => Ok(mesh),
    }
}

fn read_texture(folder: &Path, json: &Value, layout: &Value) -> Result<(String, Texture), String> {
    let file = text_at(json, "/file")?;
    let pixel = text_at(json, "/pixel")?;
    let path = folder.join(&file);
    let image = match path.extension().is_some_and(|e| e == "raw") {
        true => texture::read_raw(&path, [number(layout, "/width")?, number(layout, "/height")?], &pixel)?,
        false => texture::read(&path)?,
    };
    let size = (number(layout, "/width")?, number(layout, "/height")?);
    if pixel != image.pixel || size != (image.width, image.height) {
        return Err(format!("{file} is {} {} x {}, the sidecar says {pixel} {size:?}", image.pixel, image.width, image.height));
    }
    let triple = |name: &str| if json.get(name).is_some() { vector(&json[name]) } else { Ok([f64::NAN; 3]) };
    let texture = Texture {
        encoding: text_at(json, "/encoding")?,
        pixel,
        scale: triple("scale")?,
        bias: triple("bias")?,
        error_max: real(json, "/error/max")?,
        error_rms: real(json, "/error/rms")?,
        crc32: text_at(json, "/crc32")?,
        file,
        image,
    };
    Ok((text_at(json, "/role")?, texture))
}

fn read_part(json: &Value) -> Result<Part, String> {
    let index = |name: &str| json[name].as_u64().map(|v| v as usize);
    let field = |name: &str| index(name).ok_or_else(|| format!("{name} of the part {json}"));
    Ok(Part {
        node: field("node")?,
        mesh: field("mesh")?,
        primitive: field("primitive")?,
        material: index("material"),
        skin: index("skin"),
        first_vertex: field("first_vertex")?,
        vertex_count: field("vertex_count")?,
        first_index: field("first_index")?,
        index_count: field("index_count")?,
    })
}

fn read_clip(json: &Value) -> Result<Clip, String> {
    Ok(Clip {
        name: text_at(json, "/name")?,
        animation: json["animation"].as_u64().map(|v| v as usize),
        first_frame: number(json, "/first_frame")?,
        frame_count: number(json, "/frame_count")?,
        fps: real(json, "/fps")?,
        start: real(json, "/start")?,
        length: real(json, "/length")?,
        looping: text_at(json, "/loop")?,
        stepped: json["stepped"].as_bool().ok_or("stepped of a clip")?,
        bounds: [vector(&json["bounds"]["min"])?, vector(&json["bounds"]["max"])?],
        largest_displacement: real(json, "/largest_displacement")?,
    })
}

fn at<'a>(json: &'a Value, pointer: &str) -> Result<&'a Value, String> {
    json.pointer(pointer).ok_or_else(|| format!("no {pointer} in {}", json.to_string().chars().take(200).collect::<String>()))
}
fn array<'a>(json: &'a Value, pointer: &str) -> Result<&'a Vec<Value>, String> {
    at(json, pointer)?.as_array().ok_or_else(|| format!("{pointer} is no array"))
}
fn number(json: &Value, pointer: &str) -> Result<usize, String> {
    at(json, pointer)?.as_u64().map(|v| v as usize).ok_or_else(|| format!("{pointer} is no whole number"))
}
fn real(json: &Value, pointer: &str) -> Result<f64, String> {
    at(json, pointer)?.as_f64().ok_or_else(|| format!("{pointer} is no number"))
}
fn text_at(json: &Value, pointer: &str) -> Result<String, String> {
    at(json, pointer)?.as_str().map(str::to_owned).ok_or_else(|| format!("{pointer} is no string"))
}
/// Three numbers of an array.
pub fn vector(json: &Value) -> Result<V3, String> {
    let list: Vec<f64> = json.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    list.try_into().map_err(|_| format!("{json} is no array of three numbers"))
}

/// Straight from `a` to `b`.
pub fn mix(a: V3, b: V3, amount: f64) -> V3 {
    std::array::from_fn(|c| a[c] + (b[c] - a[c]) * amount)
}

/// Length 1.
pub fn unit(v: V3) -> V3 {
    let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
    v.map(|c| c / length)
}

/// Two bytes of an alpha, low byte x, to a unit vector.
fn packed(alpha: u32) -> V3 {
    octahedral(f64::from(alpha & 255) / 255.0 * 2.0 - 1.0, f64::from(alpha >> 8) / 255.0 * 2.0 - 1.0)
}

/// Octahedral components -1..1 to a unit vector (Cigolle et al. 2014).
fn octahedral(x: f64, y: f64) -> V3 {
    let z = 1.0 - x.abs() - y.abs();
    let fold = |a: f64, b: f64| (1.0 - b.abs()) * if a >= 0.0 { 1.0 } else { -1.0 };
    unit(if z < 0.0 { [fold(x, y), fold(y, x), z] } else { [x, y, z] })
}
