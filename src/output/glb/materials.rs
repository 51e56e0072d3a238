//! Materials with their textures, samplers and images: those that are used, renumbered.
//!
//! Any object in a material that has an integer `index` is a texture reference, by glTF's convention for core and extensions
//! alike (`normalTexture`, `MOZ_lightmap`); what stands in `extras` is nobody's business. A texture names images by `source`,
//! itself or in its extensions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::Bin;
use crate::scene::Carried;

/// What goes into the output.
#[derive(Debug, Default)]
pub struct Parcel {
    pub materials: Vec<Value>,
    textures: Vec<Value>,
    samplers: Vec<Value>,
    images: Vec<Value>,
    /// From the file's number to the output's.
    numbers: BTreeMap<usize, usize>,
    /// By the file's number: UV sets that the material's textures read.
    read: BTreeMap<usize, Vec<u32>>,
}

impl Parcel {
    /// The output's number of a material of the file.
    pub fn material_number(&self, source: usize) -> Option<usize> {
        self.numbers.get(&source).copied()
    }

    /// A material for messages: its name in quotes, or its number in the file.
    pub fn material_name(&self, source: usize) -> String {
        let material = self.material_number(source).and_then(|m| self.materials.get(m));
        material.and_then(|m| m["name"].as_str()).map_or_else(|| source.to_string(), |name| format!("{name:?}"))
    }

    /// UV sets that the textures of a material of the file read.
    pub fn sets_read(&self, source: usize) -> &[u32] {
        self.read.get(&source).map_or(&[], Vec::as_slice)
    }

    /// Puts everything, and the extensions that the output uses, into the root object.
    pub fn add_to(self, root: &mut Map<String, Value>, carried: &Carried) {
        let mut required = required_by_textures(&self.textures);
        let lists = [("materials", self.materials), ("textures", self.textures), ("samplers", self.samplers), ("images", self.images)];
        for (name, list) in lists {
            if !list.is_empty() {
                root.insert(name.into(), list.into());
            }
        }
        let mut used = BTreeSet::new();
        root.values().for_each(|value| collect_extensions(value, &mut used));
        // Root objects of extensions that something refers to (`KHR_xmp_json_ld`, say).
        let shared: Map<_, _> = carried.extensions.iter().filter(|(n, _)| used.contains(*n)).map(|(n, v)| (n.clone(), v.clone())).collect();
        if !shared.is_empty() {
            shared.values().for_each(|value| collect_extensions(value, &mut used));
            root.insert("extensions".into(), shared.into());
        }
        required.extend(carried.extensions_required.iter().filter(|n| used.contains(*n)).cloned());
        for (name, list) in [("extensionsUsed", used), ("extensionsRequired", required)] {
            if !list.is_empty() {
                root.insert(name.into(), list.into_iter().collect());
            }
        }
    }
}

/// Gathers the materials in `used` and what they need. Images go into `bin`.
pub fn pack<'a>(carried: &'a Carried, used: impl Iterator<Item = usize>, bin: &mut Bin<'a>) -> Parcel {
    let used: BTreeSet<usize> = used.filter(|&m| m < carried.materials.len()).collect();
    let mut parcel = Parcel::default();
    let mut packer = Packer { carried, bin, textures: BTreeMap::new(), samplers: BTreeMap::new(), images: BTreeMap::new() };
    for source in used {
        let mut material = carried.materials[source].clone();
        let mut read = BTreeSet::new();
        packer.rewrite(&mut material, &mut read, &mut parcel);
        parcel.numbers.insert(source, parcel.materials.len());
        parcel.read.insert(source, read.into_iter().collect());
        parcel.materials.push(material);
    }
    parcel
}

/// Renumbers on first use; `None` marks what cannot be carried.
struct Packer<'a, 'b> {
    carried: &'a Carried,
    bin: &'b mut Bin<'a>,
    textures: BTreeMap<usize, Option<usize>>,
    samplers: BTreeMap<usize, usize>,
    images: BTreeMap<usize, Option<usize>>,
}

impl Packer<'_, '_> {
    /// Renumbers the texture references below a value and notes the UV sets that they read. False: the value is a reference to a
    /// texture that has no image and is to go.
    fn rewrite(&mut self, value: &mut Value, read: &mut BTreeSet<u32>, parcel: &mut Parcel) -> bool {
        match value {
            Value::Array(list) => list.retain_mut(|v| self.rewrite(v, read, parcel)),
            Value::Object(object) => {
                if let Some(index) = object.get("index").and_then(Value::as_u64) {
                    let Some(texture) = self.texture(index, parcel) else { return false };
                    object.insert("index".into(), texture.into());
                    let sets =
                        [object.get("texCoord"), object.get("extensions").and_then(|e| e.get("KHR_texture_transform")?.get("texCoord"))];
                    read.extend(sets.iter().flatten().filter_map(|s| u32::try_from(s.as_u64()?).ok()));
                    if sets[0].is_none() {
                        read.insert(0);
                    }
                }
                object.retain(|key, v| key == "extras" || self.rewrite(v, read, parcel));
                // An object of extensions that became empty would be an empty list.
                if object.get("extensions").and_then(Value::as_object).is_some_and(Map::is_empty) {
                    object.shift_remove("extensions");
                }
            }
            _ => {}
        }
        true
    }

    fn texture(&mut self, source: u64, parcel: &mut Parcel) -> Option<usize> {
        let source = usize::try_from(source).ok()?;
        if let Some(&known) = self.textures.get(&source) {
            return known;
        }
        let texture = self.carried.textures.get(source).and_then(Value::as_object).cloned();
        let number = texture.and_then(|texture| {
            let texture = self.rewrite_texture(texture, parcel)?;
            parcel.textures.push(texture);
            Some(parcel.textures.len() - 1)
        });
        self.textures.insert(source, number);
        number
    }

    fn rewrite_texture(&mut self, mut texture: Map<String, Value>, parcel: &mut Parcel) -> Option<Value> {
        let mut pictured = self.rewrite_source(&mut texture, parcel) == Some(true);
        if let Some(Value::Object(extensions)) = texture.get_mut("extensions") {
            extensions.retain(|_, extension| {
                let found = extension.as_object_mut().and_then(|e| self.rewrite_source(e, parcel));
                pictured |= found == Some(true);
                found != Some(false)
            });
            if extensions.is_empty() {
                texture.shift_remove("extensions");
            }
        }
        if !pictured {
            return None;
        }
        if let Some(sampler) = texture.get("sampler").and_then(Value::as_u64) {
            match self.sampler(sampler, parcel) {
                Some(number) => texture.insert("sampler".into(), number.into()),
                None => texture.shift_remove("sampler"),
            };
        }
        Some(texture.into())
    }

    /// Renumbers `source`: whether its image is there, or nothing where there is no `source`.
    fn rewrite_source(&mut self, object: &mut Map<String, Value>, parcel: &mut Parcel) -> Option<bool> {
        let source = object.get("source")?.as_u64();
        let image = source.and_then(|s| self.image(usize::try_from(s).ok()?, parcel));
        match image {
            Some(number) => object.insert("source".into(), number.into()),
            None => object.shift_remove("source"),
        };
        Some(image.is_some())
    }

    fn sampler(&mut self, source: u64, parcel: &mut Parcel) -> Option<usize> {
        let source = usize::try_from(source).ok()?;
        let sampler = self.carried.samplers.get(source)?;
        Some(*self.samplers.entry(source).or_insert_with(|| {
            parcel.samplers.push(sampler.clone());
            parcel.samplers.len() - 1
        }))
    }

    fn image(&mut self, source: usize, parcel: &mut Parcel) -> Option<usize> {
        if let Some(&known) = self.images.get(&source) {
            return known;
        }
        let number = self.carried.images.get(source).and_then(|image| {
            let bytes = image.bytes.as_deref()?;
            let media = image.mime_type.as_deref()?;
            let view = self.bin.add_view(bytes.into(), None, None);
            let mut json = image.json.clone();
            json.insert("bufferView".into(), view.into());
            json.insert("mimeType".into(), media.into());
            parcel.images.push(json.into());
            Some(parcel.images.len() - 1)
        });
        self.images.insert(source, number);
        number
    }
}

/// Extensions without which a texture has no picture.
fn required_by_textures(textures: &[Value]) -> BTreeSet<String> {
    let bare = textures.iter().filter(|t| t.get("source").is_none()).filter_map(|t| t.get("extensions")?.as_object());
    // One of several would do, but which is the reader's choice.
    let single = bare.filter(|e| e.values().filter(|v| v.get("source").is_some()).count() == 1);
    single.flat_map(|e| e.iter().filter(|(_, v)| v.get("source").is_some()).map(|(name, _)| name.clone())).collect()
}

/// Names of all extensions below a value.
fn collect_extensions(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|v| collect_extensions(v, names)),
        Value::Object(object) => {
            if let Some(Value::Object(extensions)) = object.get("extensions") {
                names.extend(extensions.keys().cloned());
            }
            object.iter().filter(|(key, _)| *key != "extras").for_each(|(_, v)| collect_extensions(v, names));
        }
        _ => {}
    }
}
