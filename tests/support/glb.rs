//! Reads a written GLB by hand: just as much glTF as the format's page says the static mesh uses.

use serde_json::Value;

/// The static mesh of a bake.
#[derive(Debug, Clone)]
pub struct Glb {
    /// The JSON chunk.
    pub json: Value,
    /// The binary chunk.
    pub bin: Vec<u8>,
}

/// A decoded accessor: values as shaders see them (normalised integers divided), row after row.
#[derive(Debug, Clone)]
pub struct Values {
    /// Components an element.
    pub width: usize,
    /// glTF's component type.
    pub component: u64,
    /// All components.
    pub all: Vec<f64>,
}

impl Values {
    /// Elements.
    pub fn count(&self) -> usize {
        self.all.len() / self.width
    }
    /// The first `N` components of element `i`.
    pub fn get<const N: usize>(&self, i: usize) -> [f64; N] {
        std::array::from_fn(|c| self.all[i * self.width + c])
    }
}

/// One primitive as a mesh node shows it.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Index of the node.
    pub node: usize,
    /// The primitive's JSON.
    pub json: Value,
}

impl Glb {
    /// Takes the container apart.
    pub fn read(file: &[u8]) -> Result<Glb, String> {
        let word = |at: usize| -> Result<usize, String> {
            let bytes = file.get(at..at + 4).ok_or("the file ends within a header")?;
            Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
        };
        if file.get(..4) != Some(b"glTF") || word(4)? != 2 || word(8)? != file.len() {
            return Err("not a GLB 2 whose length is the file's".into());
        }
        let (mut at, mut json, mut bin) = (12, None, Vec::new());
        while at < file.len() {
            let (length, kind) = (word(at)?, word(at + 4)?);
            let chunk = file.get(at + 8..at + 8 + length).ok_or("a chunk runs over the end")?;
            match kind {
                0x4E4F_534A => json = Some(serde_json::from_slice(chunk).map_err(|e| e.to_string())?),
                0x004E_4942 => bin = chunk.to_vec(),
                other => return Err(format!("a chunk of type {other:#x}")),
            }
            at += 8 + length;
        }
        Ok(Glb { json: json.ok_or("no JSON chunk")?, bin })
    }

    /// Bytes of a buffer view.
    pub fn view(&self, index: usize) -> Result<&[u8], String> {
        let view = &self.json["bufferViews"][index];
        let start = view["byteOffset"].as_u64().unwrap_or(0) as usize;
        let length = view["byteLength"].as_u64().ok_or_else(|| format!("bufferView {index} without byteLength"))? as usize;
        self.bin.get(start..start + length).ok_or_else(|| format!("bufferView {index} runs over the buffer"))
    }

    /// Values of an accessor.
    pub fn values(&self, index: usize) -> Result<Values, String> {
        let accessor = &self.json["accessors"][index];
        let number = |name: &str| accessor[name].as_u64();
        let count = number("count").ok_or_else(|| format!("accessor {index} without count"))? as usize;
        let component = number("componentType").ok_or_else(|| format!("accessor {index} without componentType"))?;
        let width = match accessor["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            other => return Err(format!("accessor {index} of type {other:?}")),
        };
        let (size, most) = match component {
            5120 => (1, 127.0),
            5121 => (1, 255.0),
            5122 => (2, 32767.0),
            5123 => (2, 65535.0),
            5125 => (4, 4_294_967_295.0),
            5126 => (4, 1.0),
            other => return Err(format!("accessor {index} of componentType {other}")),
        };
        let view = number("bufferView").ok_or_else(|| format!("accessor {index} without bufferView"))? as usize;
        let bytes = self.view(view)?;
        let stride = self.json["bufferViews"][view]["byteStride"].as_u64().map_or(size * width, |s| s as usize);
        let first = number("byteOffset").unwrap_or(0) as usize;
        let divisor = if accessor["normalized"] == Value::Bool(true) { most } else { 1.0 };
        let mut all = Vec::with_capacity(count * width);
        for element in 0..count {
            for c in 0..width {
                let at = first + element * stride + c * size;
                let raw = bytes.get(at..at + size).ok_or_else(|| format!("accessor {index} runs over its view"))?;
                let value = match component {
                    5120 => f64::from(raw[0] as i8),
                    5121 => f64::from(raw[0]),
                    5122 => f64::from(i16::from_le_bytes([raw[0], raw[1]])),
                    5123 => f64::from(u16::from_le_bytes([raw[0], raw[1]])),
                    5125 => f64::from(u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]])),
                    _ => f64::from(f32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]])),
                };
                all.push((value / divisor).max(if divisor == 1.0 { f64::NEG_INFINITY } else { -1.0 }));
            }
        }
        Ok(Values { width, component, all })
    }

    /// An attribute of a primitive.
    pub fn attribute(&self, primitive: &Value, name: &str) -> Result<Option<Values>, String> {
        primitive["attributes"][name].as_u64().map(|index| self.values(index as usize)).transpose()
    }

    /// The primitives that the scene shows, in order. Positions are in the scene's space, so no node may have a transform.
    pub fn shown(&self) -> Result<Vec<Shown>, String> {
        let scene = self.json["scene"].as_u64().unwrap_or(0) as usize;
        let list = |value: &Value| -> Vec<usize> {
            value.as_array().into_iter().flatten().filter_map(|v| v.as_u64()).map(|v| v as usize).collect()
        };
        let mut open: Vec<usize> = list(&self.json["scenes"][scene]["nodes"]).into_iter().rev().collect();
        let mut shown = Vec::new();
        while let Some(node) = open.pop() {
            let value = &self.json["nodes"][node];
            if let Some(name) = ["matrix", "translation", "rotation", "scale", "skin"].iter().find(|n| value.get(**n).is_some()) {
                return Err(format!("node {node} of the static mesh has `{name}`"));
            }
            if let Some(mesh) = value["mesh"].as_u64() {
                let primitives = self.json["meshes"][mesh as usize]["primitives"].as_array().ok_or("a mesh without primitives")?;
                shown.extend(primitives.iter().map(|json| Shown { node, json: json.clone() }));
            }
            open.extend(list(&value["children"]).into_iter().rev());
        }
        Ok(shown)
    }
}
