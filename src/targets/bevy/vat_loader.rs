//! Reads `.vat.json`, the textures that it names, each as its `.meta` file says, and the mesh. Part of vat_plugin.rs.

use bevy::asset::io::Reader;
use bevy::asset::{AssetLoader, AssetPath, LoadContext};
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use serde::Deserialize;

use super::super::{Aabb, Failure, load_image, load_mesh, path_of};
use super::{Vat, VatBake, VatClipInfo, VatTextures, VatUniform};

/// Reads a sidecar, its textures and its mesh.
#[derive(TypePath)]
pub(super) struct VatLoader {
    /// The device samples 16-bit PNGs as they are.
    pub(super) unorm16: bool,
    /// The longest side of a texture that it takes.
    pub(super) largest: u32,
}

/// What is read of a sidecar.
#[derive(Deserialize)]
struct Sidecar {
    version: u32,
    frame_count: u32,
    layout: Layout,
    textures: Vec<Texture>,
    mesh: MeshFile,
    clips: Vec<VatClipInfo>,
    bounds: Bounds,
}

#[derive(Deserialize)]
struct Layout {
    width: u32,
    height: u32,
}

#[derive(Deserialize)]
struct Texture {
    role: String,
    file: String,
    pixel: String,
    encoding: String,
    #[serde(default)]
    scale: [f32; 3],
    #[serde(default)]
    bias: [f32; 3],
}

#[derive(Deserialize)]
struct MeshFile {
    file: String,
    lookup: Lookup,
}

#[derive(Deserialize)]
struct Lookup {
    texcoord: u32,
    lanes: u32,
    groups: u32,
}

#[derive(Deserialize)]
struct Bounds {
    min: [f32; 3],
    max: [f32; 3],
}

impl AssetLoader for VatLoader {
    type Asset = Vat;
    type Settings = ();
    type Error = Failure;

    async fn load(&self, reader: &mut dyn Reader, _: &(), context: &mut LoadContext<'_>) -> Result<Vat, Self::Error> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        let sidecar: Sidecar = serde_json::from_slice(&bytes)?;
        let Sidecar { version, frame_count: frames, layout: Layout { width, height }, mesh, clips, bounds, .. } = sidecar;
        if version != 1 {
            return Err(format!("version {version} of the format; this plugin plays version 1").into());
        }
        let Lookup { texcoord, lanes, groups } = mesh.lookup;
        if texcoord != 1 {
            return Err(format!("the lookup UV is set {texcoord}, and Bevy reads sets 0 and 1: bake with --uv-set 1").into());
        }
        if width.max(height) > self.largest {
            let largest = self.largest;
            return Err(format!("{width} x {height} texels, and this GPU takes {largest} a side: bake with --max-size {largest}").into());
        }
        let mut textures = VatTextures::default();
        let mut uniform = VatUniform { bake: VatBake { width, frames, lanes, groups, ..default() }, ..default() };
        for texture in sidecar.textures {
            let encoding = match texture.encoding.as_str() {
                "offset-unorm" | "unit-unorm" => 0,
                "absolute-unorm" | "unit-float" => 1,
                "offset-float" | "alpha-octahedral" => 2,
                "absolute-float" => 3,
                other => return Err(format!("unknown encoding {other} of {}", texture.file).into()),
            };
            // Such normals lie in the position's alpha.
            let handle = if texture.encoding == "alpha-octahedral" {
                None
            } else {
                let image = self.image(&texture, [width, height], context).await?;
                Some(context.add_labeled_asset(texture.role.clone(), image))
            };
            match texture.role.as_str() {
                "position" => {
                    uniform.bake.scale = texture.scale.into();
                    uniform.bake.bias = texture.bias.into();
                    uniform.bake.position_encoding = encoding;
                    textures.position = handle;
                }
                "normal" => {
                    uniform.bake.normal_encoding = encoding;
                    uniform.has_normals = 1;
                    textures.normal = handle;
                }
                "tangent" => {
                    uniform.tangent_encoding = encoding;
                    uniform.has_tangents = 1;
                    textures.tangent = handle;
                }
                other => return Err(format!("unknown role {other} of {}", texture.file).into()),
            }
        }
        if textures.position.is_none() {
            return Err("no texture of positions".into());
        }
        let mesh = load_mesh(context, beside(context, &mesh.file));
        Ok(Vat { clips, bounds: Aabb::from_min_max(bounds.min.into(), bounds.max.into()), mesh, textures, uniform })
    }
}

impl VatLoader {
    /// Loads a texture as its `.meta` file says and checks that it came whole.
    async fn image(&self, texture: &Texture, size: [u32; 2], context: &mut LoadContext<'_>) -> Result<Image, Failure> {
        let mut image = load_image(context, beside(context, &texture.file)).await?;
        let found = image.texture_descriptor.format;
        let wanted = match texture.pixel.as_str() {
            "rgba16unorm" => TextureFormat::Rgba16Unorm,
            "rgba8unorm" => TextureFormat::Rgba8Unorm,
            "rgba16float" => TextureFormat::Rgba16Float,
            _ => TextureFormat::Rgba32Float,
        };
        if found != wanted || size != [image.width(), image.height()] {
            let (file, [width, height]) = (&texture.file, size);
            let found = format!("{found:?} of {} x {}", image.width(), image.height());
            return Err(format!("{file} loads as {found}, not {wanted:?} of {width} x {height}: is {file}.meta beside it?").into());
        }
        // Where the GPU lacks this format: the same values in 32-bit floats, twice the memory.
        if found == TextureFormat::Rgba16Unorm && !self.unorm16 {
            let wide = |bytes: &[u8]| (u16::from_le_bytes([bytes[0], bytes[1]]) as f32 / 65535.0).to_le_bytes();
            image.data = image.data.take().map(|data| data.chunks_exact(2).flat_map(wide).collect());
            image.texture_descriptor.format = TextureFormat::Rgba32Float;
        }
        Ok(image)
    }
}

/// The path of a file beside the sidecar.
fn beside(context: &LoadContext<'_>, file: &str) -> AssetPath<'static> {
    let sidecar = path_of(context);
    AssetPath::from(sidecar.path().with_file_name(file)).with_source(sidecar.source().clone_owned())
}
