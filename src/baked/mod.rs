//! A bake as read from its files: what a player would see.
//!
//! The decoder is written from format.md and shares no code with what writes the files but the sidecar's structures. It takes nothing
//! for granted: sizes are compared with the files before memory is reserved, and no index is followed unchecked.

pub(crate) mod gltf;
pub(crate) mod image;
pub(crate) mod locate;
mod material;
mod mesh;
mod octahedral;

use std::path::{Path, PathBuf};

use glam::{DMat3, DVec3};

use crate::output::sidecar::{self, Encoding, Role, Sidecar, Texture};
use crate::{Error, Result};

pub use image::{Image, Texels};
pub use material::{AlphaMode, Material, Picture};
pub use mesh::{Mesh, Primitive};
pub(crate) use mesh::{number as lookup_number, read as read_mesh};

/// Vertices that the lookup can name (format.md, "The mesh").
pub const MOST_VERTICES: u32 = 1 << 20;

/// One bake, decoded.
#[derive(Debug, Clone)]
pub struct Baked {
    /// Where its files lie.
    pub folder: PathBuf,
    /// Name of the bake: the beginning of its files' names.
    pub name: String,
    /// What the sidecar says.
    pub sidecar: Sidecar,
    /// The texture files, each once.
    pub images: Vec<Image>,
    /// The static mesh.
    pub mesh: Mesh,
    /// Per texture of the sidecar, its image.
    image_of: Vec<usize>,
    /// By vertex number: POSITION of the mesh in the sidecar's space.
    rest: Vec<DVec3>,
}

impl Baked {
    /// Reads the set that a sidecar names. A folder with one sidecar in it, and a path without its `.vat.json`, will do.
    ///
    /// # Errors
    /// [`Error::Io`] where a file cannot be read, [`Error::Bake`] where one is not what the sidecar says, [`Error::Usage`] where a
    /// folder has no sidecar or several.
    pub fn read(sidecar: &Path) -> Result<Self> {
        let path = locate::sidecar(sidecar)?;
        let (sidecar, _) = read_sidecar(&path)?;
        let folder = locate::folder(&path);
        check_layout(&sidecar).map_err(|text| Error::Bake(format!("{text}; bake again: {}", path.display())))?;
        let size = (sidecar.layout.width, sidecar.layout.height);

        let mut images: Vec<Image> = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        let mut image_of = Vec::new();
        for texture in &sidecar.textures {
            let number = match names.iter().position(|&n| n == texture.file) {
                Some(number) => number,
                None => {
                    let file = locate::beside(&folder, &texture.file)?;
                    let image = image::read(&file, size, texture.pixel)?;
                    check_image(&image, texture, size, &file)?;
                    names.push(&texture.file);
                    images.push(image);
                    images.len() - 1
                }
            };
            image_of.push(number);
        }
        let file = locate::beside(&folder, &sidecar.mesh.file)?;
        let mesh = mesh::read(&file, &sidecar.mesh.lookup)?;
        let rest = order_rest(&mesh, &sidecar).map_err(|text| Error::Bake(format!("{text}; bake again: {}", file.display())))?;
        Ok(Self { folder, name: locate::name(&path), images, mesh, image_of, rest, sidecar })
    }

    /// A bake from parts that were read one by one, where nothing is missing and every size fits.
    pub(crate) fn assemble(path: &Path, sidecar: Sidecar, images: Vec<Image>, image_of: Vec<usize>, mesh: Mesh) -> Result<Self, String> {
        check_layout(&sidecar)?;
        let size = (sidecar.layout.width, sidecar.layout.height);
        if image_of.len() != sidecar.textures.len() || image_of.iter().any(|&i| images.get(i).is_none_or(|m| (m.width, m.height) != size)) {
            return Err(format!("a texture is not {} x {}", size.0, size.1));
        }
        let rest = order_rest(&mesh, &sidecar)?;
        Ok(Self { folder: locate::folder(path), name: locate::name(path), sidecar, images, mesh, image_of, rest })
    }

    /// The texture of a role with its image. Octahedral normals stand in the position's image.
    pub fn texture(&self, role: Role) -> Option<(&Texture, &Image)> {
        let number = self.sidecar.textures.iter().position(|t| t.role == role)?;
        Some((self.sidecar.textures.get(number)?, self.images.get(*self.image_of.get(number)?)?))
    }

    /// Where a vertex and frame stand in the textures.
    pub fn address(&self, vertex: usize, frame: usize) -> (u32, u32) {
        let width = self.sidecar.layout.width.max(1) as usize;
        ((vertex % width) as u32, (vertex / width * self.sidecar.frame_count as usize + frame) as u32)
    }

    /// Where the rest pose has a vertex, in the sidecar's space.
    ///
    /// # Panics
    /// Where the bake has no such vertex.
    pub fn rest(&self, vertex: usize) -> DVec3 {
        self.rest[vertex]
    }

    /// Where a vertex (by its number) is at a frame of the bake, in the sidecar's space and unit.
    ///
    /// # Panics
    /// Where the bake has no such vertex or frame.
    pub fn position(&self, vertex: usize, frame: usize) -> DVec3 {
        assert!(frame < self.sidecar.frame_count as usize, "frame {frame} of {}", self.sidecar.frame_count);
        let rest = self.rest[vertex];
        let Some((texture, image)) = self.texture(Role::Position) else { return rest };
        let (x, y) = self.address(vertex, frame);
        decode_position(texture, image.texel(x, y), rest)
    }

    /// The unit normal of a vertex at a frame, in the sidecar's space; none where the bake has no normals.
    ///
    /// # Panics
    /// Where the bake has no such vertex or frame.
    pub fn normal(&self, vertex: usize, frame: usize) -> Option<DVec3> {
        self.direction(Role::Normal, vertex, frame)
    }

    /// The unit tangent of a vertex at a frame; none where the bake has no tangents.
    ///
    /// # Panics
    /// Where the bake has no such vertex or frame.
    pub fn tangent(&self, vertex: usize, frame: usize) -> Option<DVec3> {
        self.direction(Role::Tangent, vertex, frame)
    }

    fn direction(&self, role: Role, vertex: usize, frame: usize) -> Option<DVec3> {
        assert!(vertex < self.rest.len() && frame < self.sidecar.frame_count as usize, "vertex {vertex}, frame {frame}");
        let (texture, image) = self.texture(role)?;
        let (x, y) = self.address(vertex, frame);
        Some(decode_direction(texture, image, x, y))
    }
}

/// The sidecar, and the bytes that it was read from.
pub(crate) fn read_sidecar(path: &Path) -> Result<(Sidecar, Vec<u8>)> {
    let bytes = locate::read_limited(path, "read the sidecar", 1 << 28)?;
    let sidecar = sidecar::read(&bytes).map_err(|e| Error::Bake(format!("{e}: {}", path.display())))?;
    Ok((sidecar, bytes))
}

/// From glTF's axes and metres to the sidecar's.
pub(crate) fn space_matrix(sidecar: &Sidecar) -> DMat3 {
    sidecar.space.axes().as_dmat3() * f64::from(sidecar.space.units_a_metre())
}

pub(crate) fn decode_position(texture: &Texture, texel: [f64; 4], rest: DVec3) -> DVec3 {
    let texel = DVec3::new(texel[0], texel[1], texel[2]);
    let vector = |v: Option<[f32; 3]>, absent: f32| DVec3::from(v.unwrap_or([absent; 3]).map(f64::from));
    match texture.encoding {
        Encoding::OffsetUnorm => rest + texel * vector(texture.scale, 1.0) + vector(texture.bias, 0.0),
        Encoding::AbsoluteUnorm => texel * vector(texture.scale, 1.0) + vector(texture.bias, 0.0),
        Encoding::OffsetFloat => rest + texel,
        _ => texel,
    }
}

pub(crate) fn decode_direction(texture: &Texture, image: &Image, x: u32, y: u32) -> DVec3 {
    if texture.encoding == Encoding::AlphaOctahedral {
        return octahedral::decode(image.alpha16(x, y));
    }
    let [x, y, z, _] = image.texel(x, y);
    let value = DVec3::new(x, y, z);
    let value = if texture.encoding == Encoding::UnitUnorm { value * 2.0 - 1.0 } else { value };
    value.normalize_or_zero()
}

/// What must hold for any texel to be found.
pub(crate) fn check_layout(sidecar: &Sidecar) -> Result<(), String> {
    let (layout, vertices, frames) = (&sidecar.layout, sidecar.vertex_count, sidecar.frame_count);
    if vertices == 0 || frames == 0 || layout.width == 0 || layout.height == 0 || layout.blocks == 0 {
        return Err(format!(
            "the sidecar has {vertices} vertices, {frames} frames and {} blocks in {} x {} texels; none may be 0",
            layout.blocks, layout.width, layout.height
        ));
    }
    if vertices > MOST_VERTICES {
        return Err(format!("the sidecar has {vertices} vertices, and a lookup names at most {MOST_VERTICES}"));
    }
    let (columns, rows) = (u64::from(layout.width) * u64::from(layout.blocks), u64::from(layout.blocks) * u64::from(frames));
    if columns < u64::from(vertices) || rows > u64::from(layout.height) {
        return Err(format!(
            "{vertices} vertices and {frames} frames in {} blocks do not fit {} x {} texels",
            layout.blocks, layout.width, layout.height
        ));
    }
    match sidecar.textures.iter().find(|t| t.role == Role::Position) {
        None => Err("the sidecar names no texture of positions".into()),
        Some(t) => check_encoding(t),
    }?;
    sidecar.textures.iter().try_for_each(check_encoding)?;
    let clips = sidecar.clips.iter().enumerate();
    let mut outside = clips.filter(|(_, c)| c.frame_count == 0 || u64::from(c.first_frame) + u64::from(c.frame_count) > u64::from(frames));
    match outside.next() {
        Some((i, c)) => {
            Err(format!("clip {i} has {} frames from frame {}, outside the bake's {frames} frames", c.frame_count, c.first_frame))
        }
        None => Ok(()),
    }
}

/// An encoding that fits its role, with the numbers that it needs.
fn check_encoding(texture: &Texture) -> Result<(), String> {
    let Texture { role, encoding, file, .. } = texture;
    let directions = matches!(encoding, Encoding::UnitUnorm | Encoding::UnitFloat | Encoding::AlphaOctahedral);
    if (*role == Role::Position) == directions {
        return Err(format!("the {role:?} texture {file:?} has the encoding {encoding:?}, which does not go with it"));
    }
    if matches!(encoding, Encoding::OffsetUnorm | Encoding::AbsoluteUnorm) {
        let finite = |v: Option<[f32; 3]>| v.is_some_and(|v| v.iter().all(|c| c.is_finite()));
        if !finite(texture.scale) || !finite(texture.bias) {
            return Err(format!("the texture {file:?} is {encoding:?} and lacks a scale and bias of three finite numbers"));
        }
    }
    Ok(())
}

/// An image is as large and of the kind that the sidecar says.
fn check_image(image: &Image, texture: &Texture, size: (u32, u32), path: &Path) -> Result<()> {
    const REMEDY: &str = "something has converted it; take the baked file, or bake again";
    if (image.width, image.height) != size {
        return Err(Error::Bake(format!(
            "the texture is {} x {} texels, the sidecar says {} x {}; {REMEDY}: {}",
            image.width,
            image.height,
            size.0,
            size.1,
            path.display()
        )));
    }
    if image.texels.pixel() != texture.pixel {
        let (found, wanted) = (image::pixel_name(image.texels.pixel()), image::pixel_name(texture.pixel));
        return Err(Error::Bake(format!("the texture holds {found}, the sidecar says {wanted}; {REMEDY}: {}", path.display())));
    }
    Ok(())
}

/// Rest positions by vertex number; each number must be there once.
fn order_rest(mesh: &Mesh, sidecar: &Sidecar) -> Result<Vec<DVec3>, String> {
    let (count, to_space) = (sidecar.vertex_count as usize, space_matrix(sidecar));
    let mut rest = vec![None; count];
    for (&number, &position) in mesh.numbers.iter().zip(&mesh.positions) {
        match rest.get_mut(number as usize) {
            None => return Err(format!("the mesh's lookup names vertex {number}, the sidecar has {count}")),
            Some(Some(_)) => return Err(format!("the mesh's lookup names vertex {number} twice")),
            Some(place) => *place = Some(to_space * DVec3::from(position.map(f64::from))),
        }
    }
    let missing = rest.iter().position(Option::is_none);
    missing.map_or(Ok(()), |i| Err(format!("no vertex of the mesh names vertex {i} of {count}")))?;
    Ok(rest.into_iter().flatten().collect())
}
