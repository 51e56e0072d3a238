//! What a bake brings to its page: JSON that describes it, and blobs that the JSON names.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::blob::{self, Blob};
use super::{Errors, MOST_BYTES};
use crate::baked::{AlphaMode, Baked, Image, Mesh, Picture, Texels};
use crate::output::sidecar::{Encoding, Role, Sidecar, Texture};

/// The JSON, beside what its blobs are taken from.
pub(super) struct Contents<'a> {
    page: Page<'a>,
    baked: &'a Baked,
    positions: &'a Image,
    normals: Option<&'a Image>,
    /// Error values in the texture's layout.
    errors: Option<Vec<u8>>,
    /// POSITION in the sidecar's space.
    rest: Vec<f32>,
    /// Triangles, material by material.
    indices: Vec<u32>,
    pictures: Vec<&'a Picture>,
}

/// What the page's script reads.
#[derive(Serialize)]
struct Page<'a> {
    name: &'a str,
    sidecar: &'a Sidecar,
    /// From the sidecar's axes and unit to glTF's: a matrix, column by column.
    upright: [f32; 9],
    /// Box of the mesh, in glTF's axes.
    rest_box: Corners,
    positions: Texel<'a>,
    normals: Option<Texel<'a>>,
    /// Normals stand in the alpha of the positions.
    octahedral: bool,
    errors: Option<ErrorTexel<'a>>,
    mesh: Arrays,
    materials: Vec<Material>,
    pictures: Vec<PictureBlob<'a>>,
    /// Bytes of all blobs before they are deflated.
    unpacked: u64,
}

#[derive(Serialize)]
struct Corners {
    min: [f32; 3],
    max: [f32; 3],
}

#[derive(Serialize)]
struct Texel<'a> {
    blob: Blob,
    encoding: Encoding,
    scale: &'a Option<[f32; 3]>,
    bias: &'a Option<[f32; 3]>,
    /// Smallest and largest components, for showing the texture itself.
    range: [[f32; 3]; 2],
}

#[derive(Serialize)]
struct ErrorTexel<'a> {
    blob: Blob,
    unit: &'a str,
    largest: f32,
}

#[derive(Serialize)]
struct Arrays {
    rest: Blob,
    lookup: Blob,
    uv: Blob,
    indices: Blob,
}

/// One draw call.
#[derive(Serialize)]
struct Material {
    color: [f32; 4],
    picture: Option<usize>,
    two_sided: bool,
    alpha: &'static str,
    cutoff: f32,
    first: usize,
    count: usize,
}

#[derive(Serialize)]
struct PictureBlob<'a> {
    mime: &'a str,
    blob: Blob,
}

impl<'a> Contents<'a> {
    /// Gathers them. An error is a sentence without the path.
    pub(super) fn of(baked: &'a Baked, errors: Option<&'a Errors>) -> Result<Self, String> {
        let Baked { sidecar, mesh, .. } = baked;
        if sidecar.clips.is_empty() {
            return Err("the bake has no clip to show; bake again".into());
        }
        let (texture, positions) = baked.texture(Role::Position).ok_or("the bake has no texture of positions; bake again")?;
        let normals = baked.texture(Role::Normal);
        let octahedral = normals.is_some_and(|(texture, _)| texture.encoding == Encoding::AlphaOctahedral);
        let normals = normals.filter(|_| !octahedral);
        let laid_out = errors.map(|errors| lay_out(errors, sidecar)).transpose()?;

        let (axes, units) = (sidecar.space.axes(), sidecar.space.units_a_metre());
        let rest: Vec<f32> = mesh.positions.iter().flat_map(|&p| (axes * glam::Vec3::from(p) * units).to_array()).collect();
        let (materials, indices, pictures) = draw_calls(mesh);

        let pictures_blobs = pictures.iter().enumerate().map(|(i, picture)| PictureBlob {
            mime: &picture.mime,
            blob: Blob { name: format!("picture-{i}"), kind: "u8", bytes: picture.bytes.len() as u64, row: 0 },
        });
        let floats = |name: &str, count: usize, row: usize| Blob { name: name.into(), kind: "f32", bytes: count as u64 * 4, row };
        let mut page = Page {
            name: &baked.name,
            sidecar,
            upright: (axes.transpose() * (1.0 / units)).to_cols_array(),
            rest_box: corners(&mesh.positions),
            positions: texel("positions", texture, positions),
            normals: normals.map(|(texture, image)| texel("normals", texture, image)),
            octahedral,
            errors: errors.zip(laid_out.as_ref()).map(|(errors, values)| ErrorTexel {
                blob: Blob { name: "errors".into(), kind: "u8", bytes: values.len() as u64, row: sidecar.layout.width as usize },
                unit: &errors.unit,
                largest: errors.largest,
            }),
            mesh: Arrays {
                rest: floats("rest", rest.len(), 3),
                lookup: floats("lookup", mesh.lookup.len() * 2, 2),
                uv: floats("uv", mesh.uvs.len() * 2, 2),
                indices: Blob { name: "indices".into(), kind: "u32", bytes: indices.len() as u64 * 4, row: 3 },
            },
            materials,
            pictures: pictures_blobs.collect(),
            unpacked: 0,
        };
        page.unpacked = page.blobs().map(|blob| blob.bytes).sum();
        if page.unpacked > MOST_BYTES {
            return Err(format!(
                "the bake is {} MiB unpacked, and a page holds {} MiB at most; bake fewer clips (--clips) or frames (--fps)",
                page.unpacked.div_ceil(1 << 20),
                MOST_BYTES >> 20
            ));
        }
        Ok(Self { baked, positions, normals: normals.map(|(_, image)| image), errors: laid_out, rest, indices, pictures, page })
    }

    /// What the script reads first.
    pub(super) fn json(&self) -> io::Result<String> {
        Ok(serde_json::to_string(&self.page)?)
    }

    /// Writes every blob that the JSON names.
    pub(super) fn write_blobs(&self, out: &mut dyn Write) -> io::Result<()> {
        let Page { positions, normals, errors, mesh: arrays, pictures, .. } = &self.page;
        write_texels(&positions.blob, self.positions, out)?;
        if let (Some(texel), Some(image)) = (normals, self.normals) {
            write_texels(&texel.blob, image, out)?;
        }
        if let (Some(texel), Some(values)) = (errors, &self.errors) {
            blob::write(&texel.blob, values.iter().copied(), out)?;
        }
        let mesh = &self.baked.mesh;
        let bits = |v: &f32| v.to_bits();
        blob::write(&arrays.rest, self.rest.iter().map(bits), out)?;
        blob::write(&arrays.lookup, mesh.lookup.as_flattened().iter().map(bits), out)?;
        blob::write(&arrays.uv, mesh.uvs.as_flattened().iter().map(bits), out)?;
        blob::write(&arrays.indices, self.indices.iter().copied(), out)?;
        pictures.iter().zip(&self.pictures).try_for_each(|(told, picture)| blob::write(&told.blob, picture.bytes.iter().copied(), out))
    }
}

impl Page<'_> {
    fn blobs(&self) -> impl Iterator<Item = &Blob> {
        let arrays = [&self.mesh.rest, &self.mesh.lookup, &self.mesh.uv, &self.mesh.indices];
        let textures = [Some(&self.positions.blob), self.normals.as_ref().map(|t| &t.blob), self.errors.as_ref().map(|t| &t.blob)];
        arrays.into_iter().chain(textures.into_iter().flatten()).chain(self.pictures.iter().map(|picture| &picture.blob))
    }
}

/// Error values where the texture has the vertex and frame.
fn lay_out(errors: &Errors, sidecar: &Sidecar) -> Result<Vec<u8>, String> {
    let (vertices, frames) = (sidecar.vertex_count as usize, sidecar.frame_count as usize);
    let (width, height) = (sidecar.layout.width as usize, sidecar.layout.height as usize);
    if errors.values.len() != vertices * frames || !errors.largest.is_finite() {
        return Err(format!(
            "{} error values of at most {}, where {vertices} vertices and {frames} frames need one each and a finite largest",
            errors.values.len(),
            errors.largest
        ));
    }
    let mut values = vec![0; width * height];
    for (frame, row) in errors.values.chunks_exact(vertices.max(1)).enumerate() {
        for (block, run) in row.chunks(width.max(1)).enumerate() {
            let first = (block * frames + frame) * width;
            let place =
                values.get_mut(first..first + run.len()).ok_or("the texture is too small for its vertices and frames; bake again")?;
            place.copy_from_slice(run);
        }
    }
    Ok(values)
}

fn corners(positions: &[[f32; 3]]) -> Corners {
    let fold = |start: f32, pick: fn(f32, f32) -> f32| {
        std::array::from_fn(|axis| match positions.is_empty() {
            true => 0.0,
            false => positions.iter().fold(start, |so_far, p| pick(so_far, p[axis])),
        })
    };
    Corners { min: fold(f32::INFINITY, f32::min), max: fold(f32::NEG_INFINITY, f32::max) }
}

fn texel<'a>(name: &str, texture: &'a Texture, image: &Image) -> Texel<'a> {
    let (kind, size) = match image.texels {
        Texels::Unorm8(_) => ("u8", 4),
        Texels::Unorm16(_) => ("u16", 8),
        Texels::Half(_) => ("f16", 8),
        Texels::Float(_) => ("f32", 16),
    };
    let bytes = u64::from(image.width) * u64::from(image.height) * size;
    let range = match (&image.texels, texture.encoding) {
        (Texels::Unorm8(_) | Texels::Unorm16(_), _) => [[0.0; 3], [1.0; 3]],
        (_, Encoding::UnitFloat) => [[-1.0; 3], [1.0; 3]],
        (Texels::Half(texels), _) => range_of(texels.iter().map(|t| t.map(f32::from))),
        (Texels::Float(texels), _) => range_of(texels.iter().copied()),
    };
    let blob = Blob { name: name.into(), kind, bytes, row: image.width as usize * 4 };
    Texel { blob, encoding: texture.encoding, scale: &texture.scale, bias: &texture.bias, range }
}

/// Smallest and largest finite components. JSON has no infinity.
fn range_of(texels: impl Iterator<Item = [f32; 4]>) -> [[f32; 3]; 2] {
    let none = [[f32::MAX; 3], [f32::MIN; 3]];
    let [low, high] = texels.fold(none, |[low, high], t| {
        let pick = |so_far: [f32; 3], pick: fn(f32, f32) -> f32| {
            std::array::from_fn(|c| if t[c].is_finite() { pick(so_far[c], t[c]) } else { so_far[c] })
        };
        [pick(low, f32::min), pick(high, f32::max)]
    });
    if (0..3).all(|c| low[c] <= high[c]) { [low, high] } else { [[0.0; 3], [1.0; 3]] }
}

fn write_texels(blob: &Blob, image: &Image, out: &mut dyn Write) -> io::Result<()> {
    match &image.texels {
        Texels::Unorm8(texels) => blob::write(blob, texels.as_flattened().iter().copied(), out),
        Texels::Unorm16(texels) => blob::write(blob, texels.as_flattened().iter().copied(), out),
        Texels::Half(texels) => blob::write(blob, texels.as_flattened().iter().map(|v| v.to_bits()), out),
        Texels::Float(texels) => blob::write(blob, texels.as_flattened().iter().map(|v| v.to_bits()), out),
    }
}

/// Primitives of one material become one draw call. Materials share pictures that are the same.
fn draw_calls(mesh: &Mesh) -> (Vec<Material>, Vec<u32>, Vec<&Picture>) {
    let mut runs: BTreeMap<Option<usize>, Vec<u32>> = BTreeMap::new();
    for primitive in &mesh.primitives {
        let run = mesh.indices.get(primitive.first_index..primitive.first_index + primitive.index_count);
        runs.entry(primitive.material).or_default().extend(run.unwrap_or_default());
    }
    let (mut materials, mut indices, mut pictures) = (Vec::new(), Vec::new(), Vec::<&Picture>::new());
    for (number, run) in runs {
        let material = number.and_then(|n| mesh.materials.get(n));
        let picture = material.and_then(|m| m.image.as_ref()).map(|picture| {
            let known = pictures.iter().position(|p| *p == picture);
            known.unwrap_or_else(|| {
                pictures.push(picture);
                pictures.len() - 1
            })
        });
        materials.push(Material {
            color: material.map_or([1.0; 4], |m| m.base_color),
            picture,
            two_sided: material.is_some_and(|m| m.double_sided),
            alpha: match material.map(|m| m.alpha_mode) {
                Some(AlphaMode::Mask) => "mask",
                Some(AlphaMode::Blend) => "blend",
                Some(AlphaMode::Opaque) | None => "opaque",
            },
            cutoff: material.map_or(0.5, |m| m.alpha_cutoff),
            first: indices.len(),
            count: run.len(),
        });
        indices.extend(run);
    }
    (materials, indices, pictures)
}
