//! From a decoded bake to the adapter: texels as the sidecar says that they are uploaded, the mesh, its materials.

use glam::{DMat3, DVec3};
use wgpu::{BufferUsages, Extent3d, Texture, TextureFormat, TextureUsages, TextureView};

use super::layout::MaterialUniform;
use super::material::{Level, decode, levels};
use crate::baked::{AlphaMode, Baked, Image, Material, Texels};
use crate::gpu::context::Context;
use crate::output::sidecar::Sidecar;
use crate::{Error, Result};

/// The format to upload an image to without an optional feature (`textures[].upload`), and whether it is read as floats.
pub fn format_of(image: &Image) -> (TextureFormat, bool) {
    match image.texels {
        Texels::Unorm8(_) => (TextureFormat::Rgba8Unorm, true),
        Texels::Unorm16(_) => (TextureFormat::Rgba16Uint, false),
        Texels::Half(_) => (TextureFormat::Rgba16Float, true),
        Texels::Float(_) => (TextureFormat::Rgba32Float, true),
    }
}

/// Uploads a texture of the bake.
///
/// # Errors
/// [`Error::Device`] where the adapter takes no texture of this size.
pub fn texels(context: &Context, image: &Image) -> Result<TextureView> {
    let most = context.limits.max_texture_dimension_2d;
    if image.width.max(image.height) > most {
        return Err(Error::Device(format!(
            "the bake's texture has {} x {} texels and '{}' takes {most} a side; bake again with --max-size {most}",
            image.width, image.height, context.description.name
        )));
    }
    let (format, _) = format_of(image);
    let size = [image.width, image.height];
    let texture = texture(context, "texels", size, 1, format);
    let bytes = image.texels.bytes();
    write(context, &texture, 0, size, &bytes, (bytes.len() / image.height.max(1) as usize) as u32);
    Ok(texture.create_view(&Default::default()))
}

fn texture(context: &Context, label: &str, [width, height]: [u32; 2], levels: u32, format: TextureFormat) -> Texture {
    context.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

fn write(context: &Context, texture: &Texture, level: u32, [width, height]: [u32; 2], bytes: &[u8], row: u32) {
    let to = wgpu::TexelCopyTextureInfo { texture, mip_level: level, origin: Default::default(), aspect: Default::default() };
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
    context.queue.write_texture(to, bytes, layout, Extent3d { width, height, depth_or_array_layers: 1 });
}

/// The mesh on the adapter.
#[derive(Debug)]
pub struct MeshBuffers {
    /// POSITION in the texels' axes and unit.
    pub rest: wgpu::Buffer,
    /// The lookup UV.
    pub lookup: wgpu::Buffer,
    /// UV of the base-colour picture.
    pub uvs: wgpu::Buffer,
    /// One colour a vertex, sRGB; written anew where it changes.
    pub colours: wgpu::Buffer,
    /// Triangles.
    pub indices: wgpu::Buffer,
}

impl MeshBuffers {
    /// Uploads the mesh.
    ///
    /// # Errors
    /// [`Error::Device`] where the adapter takes no buffer of this size.
    pub fn new(context: &Context, baked: &Baked) -> Result<Self> {
        let mesh = &baked.mesh;
        let to_space = to_gltf(&baked.sidecar).inverse();
        let turned = |p: &[f32; 3]| (to_space * DVec3::from(p.map(f64::from))).as_vec3().to_array();
        let rest: Vec<[f32; 3]> = mesh.positions.iter().map(turned).collect();
        let filled = |label, bytes: &[u8], usage| {
            let buffer = context.buffer(label, bytes.len() as u64, usage | BufferUsages::COPY_DST)?;
            context.queue.write_buffer(&buffer, 0, bytes);
            Ok::<_, Error>(buffer)
        };
        Ok(Self {
            rest: filled("positions", bytemuck::cast_slice(&rest), BufferUsages::VERTEX)?,
            lookup: filled("lookup coordinates", bytemuck::cast_slice(&mesh.lookup), BufferUsages::VERTEX)?,
            uvs: filled("texture coordinates", bytemuck::cast_slice(&mesh.uvs), BufferUsages::VERTEX)?,
            colours: filled("colours", &vec![0; mesh.positions.len() * 4], BufferUsages::VERTEX)?,
            indices: filled("indices", bytemuck::cast_slice(&mesh.indices), BufferUsages::INDEX)?,
        })
    }
}

/// From a sidecar's axes and unit to glTF's and metres.
pub fn to_gltf(sidecar: &Sidecar) -> DMat3 {
    sidecar.space.axes().as_dmat3().inverse() * (1.0 / f64::from(sidecar.space.units_a_metre()))
}

/// A material ready for the adapter.
#[derive(Debug)]
pub struct Surface {
    /// Its numbers.
    pub uniform: MaterialUniform,
    /// Its base-colour picture, or one white pixel.
    pub picture: TextureView,
}

/// Uploads a material, the glTF default where there is none. What cannot be shown is said in `notes`.
pub fn surface(context: &Context, material: Option<&Material>, notes: &mut Vec<String>) -> Surface {
    let mut picture = None;
    if let Some((material, image)) = material.and_then(|m| Some((m, m.image.as_ref()?))) {
        match decode(&image.bytes) {
            Ok(level) => picture = Some(level),
            Err(why) => {
                let name = material.name.as_deref().unwrap_or("without a name");
                notes.push(format!("the base-colour picture ({}) of material '{name}' is not shown, only its colour: {why}", image.mime));
            }
        }
    }
    let finite = |v: f32, or: f32| if v.is_finite() { v } else { or };
    let uniform = MaterialUniform {
        base: material.map_or([1.0; 4], |m| m.base_color).map(|v| finite(v, 1.0)),
        cutoff: material.filter(|m| m.alpha_mode == AlphaMode::Mask).map_or(0.0, |m| finite(m.alpha_cutoff, 0.5)),
        blends: material.is_some_and(|m| m.alpha_mode == AlphaMode::Blend).into(),
        is_two_sided: material.is_some_and(|m| m.double_sided).into(),
        has_picture: picture.is_some().into(),
    };
    let white = Level { size: [1, 1], pixels: vec![[255; 4]] };
    let levels = levels(picture.unwrap_or(white), context.limits.max_texture_dimension_2d.min(4096) as usize);
    let sides = |level: &Level| level.size.map(|side| side as u32);
    let texture = texture(context, "base colour", sides(&levels[0]), levels.len() as u32, TextureFormat::Rgba8UnormSrgb);
    for (number, level) in (0..).zip(&levels) {
        write(context, &texture, number, sides(level), level.pixels.as_flattened(), level.size[0] as u32 * 4);
    }
    Surface { uniform, picture: texture.create_view(&Default::default()) }
}
