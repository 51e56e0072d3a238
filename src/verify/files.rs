//! The sidecar's own numbers, and whether the files that it names are there and are what it says.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::verdict::{Code, Findings, TextureVerdict};
use crate::baked::{Baked, Image, MOST_VERTICES, Mesh, check_layout, image, locate, read_mesh};
use crate::encode::FLAT;
use crate::output::sidecar::{Encoding, Pixel, Role, Sidecar, Texture, Unit};

/// What could be read of a bake.
#[derive(Debug, Default)]
pub(super) struct Set {
    /// Distinct files of textures.
    files: Vec<ReadFile>,
    /// Their images where they can be read; taken by [`Set::assemble`].
    images: Vec<Option<Image>>,
    /// Per texture of the sidecar, its file.
    image_of: Vec<usize>,
    pub(super) mesh: Option<Mesh>,
}

/// What a file turned out to be: its checksum is worked out once.
#[derive(Debug)]
struct ReadFile {
    name: String,
    /// Pixels, sides and checksum of the texels; none where the file cannot be read.
    found: Option<(Pixel, [u32; 2], String)>,
}

impl Set {
    /// The bake, where every image is there and of the right size. It takes the images and the mesh along.
    pub(super) fn assemble(&mut self, path: &Path, sidecar: &Sidecar) -> Option<Baked> {
        let images: Vec<Image> = std::mem::take(&mut self.images).into_iter().collect::<Option<_>>()?;
        Baked::assemble(path, sidecar.clone(), images, self.image_of.clone(), self.mesh.take()?).ok()
    }

    /// Whether a texture's texels are those that were baked.
    pub(super) fn is_intact(&self, texture: &Texture) -> bool {
        let file = self.files.iter().find(|file| file.name == texture.file);
        file.and_then(|file| file.found.as_ref()).is_some_and(|(pixel, _, crc32)| *pixel == texture.pixel && *crc32 == texture.crc32)
    }

    pub(super) fn verdict(&self, number: usize, texture: &Texture) -> TextureVerdict {
        let found = self.image_of.get(number).and_then(|&i| self.files.get(i)?.found.as_ref());
        TextureVerdict {
            role: texture.role,
            file: texture.file.clone(),
            pixel: texture.pixel,
            encoding: texture.encoding,
            size: found.map(|(_, size, _)| *size),
            intact: self.is_intact(texture),
            recorded_error: texture.error.max,
        }
    }
}

/// The checksum of an image's texels as a sidecar writes it.
pub(super) fn crc_text(image: &Image) -> String {
    format!("{:08x}", image.texels.crc32())
}

/// Reads every file, whatever is wrong with the others.
pub(super) fn read_set(path: &Path, sidecar: &Sidecar, findings: &mut Findings) -> Set {
    let folder = locate::folder(path);
    let size = (sidecar.layout.width, sidecar.layout.height);
    let mut set = Set::default();
    for texture in &sidecar.textures {
        let known = set.files.iter().position(|file| file.name == texture.file);
        let number = known.unwrap_or_else(|| {
            let read = read_image(&folder, texture, size, findings);
            let found = read.as_ref().map(|(image, crc32)| (image.texels.pixel(), [image.width, image.height], crc32.clone()));
            set.files.push(ReadFile { name: texture.file.clone(), found });
            set.images.push(read.map(|(image, _)| image));
            set.files.len() - 1
        });
        set.image_of.push(number);
    }
    set.mesh = read_baked_mesh(&folder, sidecar, findings);
    set
}

/// The path of a file of the set, or a finding.
fn find(folder: &Path, name: &str, findings: &mut Findings) -> Option<std::path::PathBuf> {
    match locate::beside(folder, name) {
        Ok(file) if file.is_file() => Some(file),
        Ok(_) => {
            findings.wrong(Code::FileMissing, name, format!("{name} is not there; a bake's files lie beside their sidecar"));
            None
        }
        Err(error) => {
            findings.wrong(Code::FileMissing, name, error.to_string());
            None
        }
    }
}

/// The image and its checksum.
fn read_image(folder: &Path, texture: &Texture, size: (u32, u32), findings: &mut Findings) -> Option<(Image, String)> {
    let name = texture.file.as_str();
    let path = find(folder, name, findings)?;
    if let Ok(head) = locate::read_head(&path, 1 << 20) {
        let chunks = image::png::colour_chunks(&head);
        if !chunks.is_empty() {
            let text = format!(
                "{name} has the chunk{} {}, so programs convert its texels as if they were colours; write it without colour management",
                if chunks.len() == 1 { "" } else { "s" },
                chunks.join(", ")
            );
            findings.wrong(Code::ColourChunk, name, text);
        }
    }
    let image = match image::read(&path, size, texture.pixel) {
        Ok(image) => image,
        Err(error) => {
            findings.wrong(Code::FileUnreadable, name, error.to_string());
            return None;
        }
    };
    let crc32 = crc_text(&image);
    let found = image.texels.pixel();
    if found != texture.pixel {
        let (found_name, wanted) = (image::pixel_name(found), image::pixel_name(texture.pixel));
        match found {
            Pixel::Rgba8Unorm => findings.wrong(
                Code::CutTo8Bits,
                name,
                format!("{name} holds {found_name}, the bake wrote {wanted}: something has cut it to 8 bits; import it without conversion"),
            ),
            _ => findings.wrong(
                Code::PixelFormat,
                name,
                format!("{name} holds {found_name}, the bake wrote {wanted}: something has converted it; take the baked file"),
            ),
        }
    }
    if (image.width, image.height) != size {
        let (x, y) = (f64::from(image.width) / f64::from(size.0), f64::from(image.height) / f64::from(size.1));
        let text = format!(
            "{name} is {} x {} texels, the bake wrote {} x {} ({:.4} and {:.4} of it): something has resized it, so no vertex finds its texel; \
             import it at its own size, without mip maps and limits",
            image.width, image.height, size.0, size.1, x, y
        );
        findings.wrong(Code::Resized, name, text);
        return Some((image, crc32));
    }
    if found == texture.pixel && crc32 != texture.crc32 {
        let text = format!(
            "the texels of {name} are not those that were baked (CRC-32 {crc32} instead of {}); bake again, or take the baked file",
            texture.crc32
        );
        findings.wrong(Code::TexelsChanged, name, text);
    }
    Some((image, crc32))
}

fn read_baked_mesh(folder: &Path, sidecar: &Sidecar, findings: &mut Findings) -> Option<Mesh> {
    let name = sidecar.mesh.file.as_str();
    let path = find(folder, name, findings)?;
    if let Ok(bytes) = locate::read_limited(&path, "read the mesh", 1 << 32) {
        let found: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
        if found != sidecar.mesh.sha256 {
            let text = format!(
                "{name} is not the file that was baked (SHA-256 {}... instead of {}...); take the baked one, and check a mesh that went \
                 through another program with --mesh",
                first(&found),
                first(&sidecar.mesh.sha256)
            );
            findings.wrong(Code::MeshChanged, name, text);
        }
    }
    match read_mesh(&path, &sidecar.mesh.lookup) {
        Ok(mesh) => Some(mesh),
        Err(error) => {
            findings.wrong(Code::FileUnreadable, name, error.to_string());
            None
        }
    }
}

/// The beginning of a hash, for messages.
pub(super) fn first(hash: &str) -> String {
    hash.chars().take(8).collect()
}

/// What the schema cannot say of the sidecar's fields.
pub(super) fn check_sidecar(sidecar: &Sidecar, name: &str, findings: &mut Findings) {
    let mut wrong = |code, text: String| findings.wrong(code, name, text);
    let is_hex = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let clip_hashes = sidecar.clips.iter().filter_map(|c| c.source.as_ref()).map(|s| ("clips[].source.sha256", s.sha256.as_str(), 64));
    let texture_hashes = sidecar.textures.iter().map(|t| ("textures[].crc32", t.crc32.as_str(), 8));
    let hashes = [("source.sha256", sidecar.source.sha256.as_str(), 64), ("mesh.sha256", sidecar.mesh.sha256.as_str(), 64)];
    for (field, text, digits) in hashes.into_iter().chain(texture_hashes).chain(clip_hashes) {
        if !is_hex(text, digits) {
            wrong(Code::Sidecar, format!("{field} of the sidecar is {text:?}, where {digits} lower-case hexadecimal digits stand"));
        }
    }
    if !(sidecar.space.scale.is_finite() && sidecar.space.scale > 0.0) {
        wrong(Code::Sidecar, format!("space.scale of the sidecar is {}, where a factor above 0 stands", sidecar.space.scale));
    }
    if let Err(text) = check_layout(sidecar) {
        wrong(Code::Layout, text);
    }
    check_sizes(sidecar, &mut wrong);
    check_textures(sidecar, &mut wrong);
    check_parts(sidecar, &mut wrong);
    super::clips::check_times(sidecar, name, findings);
}

/// The layout is the one that the format computes (format.md, "Vertices, frames, texels").
fn check_sizes(sidecar: &Sidecar, wrong: &mut impl FnMut(Code, String)) {
    let layout = &sidecar.layout;
    for (side, texels) in [("width", layout.width), ("height", layout.height)] {
        if !texels.is_multiple_of(4) {
            wrong(Code::Layout, format!("the {side} of the layout is {texels}, which is no multiple of 4"));
        }
    }
    let (blocks, vertices) = (u64::from(layout.blocks), u64::from(sidecar.vertex_count));
    if blocks > 1 && (blocks - 1) * u64::from(layout.width) >= vertices {
        wrong(Code::Layout, format!("the layout has {blocks} blocks, and {vertices} vertices need fewer of {} texels", layout.width));
    }
    let lookup = &sidecar.mesh.lookup;
    let lanes = sidecar.vertex_count.min(1024);
    if lookup.lanes != lanes || lookup.groups != sidecar.vertex_count.div_ceil(lanes.max(1)) {
        let (lanes, groups) = (lanes, sidecar.vertex_count.div_ceil(lanes.max(1)));
        wrong(
            Code::Lookup,
            format!(
                "the lookup has {} lanes and {} groups, {} vertices have {lanes} and {groups}",
                lookup.lanes, lookup.groups, sidecar.vertex_count
            ),
        );
    }
    if sidecar.vertex_count > MOST_VERTICES {
        wrong(Code::Lookup, format!("the bake has {} vertices, and a lookup names at most {MOST_VERTICES}", sidecar.vertex_count));
    }
}

fn check_textures(sidecar: &Sidecar, wrong: &mut impl FnMut(Code, String)) {
    let texels = u64::from(sidecar.layout.width) * u64::from(sidecar.layout.height);
    let corners = [sidecar.bounds.min, sidecar.bounds.max];
    let largest = corners.as_flattened().iter().fold(0.0_f64, |most, &v| most.max(f64::from(v).abs()));
    for (i, texture) in sidecar.textures.iter().enumerate() {
        let file = &texture.file;
        if sidecar.textures.iter().take(i).any(|t| t.role == texture.role) {
            wrong(Code::Sidecar, format!("{file} is the second texture of its role"));
        }
        let is_unorm = matches!(texture.pixel, Pixel::Rgba8Unorm | Pixel::Rgba16Unorm);
        let fits = match texture.encoding {
            Encoding::OffsetUnorm | Encoding::AbsoluteUnorm | Encoding::UnitUnorm => is_unorm,
            Encoding::OffsetFloat | Encoding::AbsoluteFloat | Encoding::UnitFloat => !is_unorm,
            Encoding::AlphaOctahedral => texture.pixel == Pixel::Rgba16Unorm,
        };
        if !fits || texture.upload != texture.pixel.upload() {
            let (pixel, upload, encoding) = (texture.pixel, texture.upload, texture.encoding);
            wrong(Code::Sidecar, format!("{file} is {pixel:?}, to be uploaded as {upload:?}, with {encoding:?}: they do not go together"));
        }
        let shared = sidecar.textures.iter().take(i).any(|t| t.file == *file);
        let bytes = if shared { 0 } else { texels.saturating_mul(texture.pixel.texel_bytes()) };
        if texture.gpu_bytes != bytes {
            wrong(Code::Sidecar, format!("gpu_bytes of {file} is {}, {texels} texels take {bytes}", texture.gpu_bytes));
        }
        check_error(texture, largest, wrong);
    }
}

/// A recorded error is one that rounding to the texture's steps can have. `largest` is the bake's largest |coordinate|: an axis whose
/// range is noise beside it holds no steps.
fn check_error(texture: &Texture, largest: f64, wrong: &mut impl FnMut(Code, String)) {
    let (error, file) = (&texture.error, &texture.file);
    let is_number = error.max.is_finite() && error.rms.is_finite() && error.max >= 0.0 && error.rms >= 0.0;
    // Squares are added up in 1/256 steps (see `skin`), so that the mean of equal errors may come out a little over the largest.
    if !is_number || f64::from(error.rms) > f64::from(error.max) * 1.02 + 1e-12 {
        wrong(
            Code::RecordedError,
            format!("the error of {file} is {} at most and {} on average (RMS), which cannot be", error.max, error.rms),
        );
        return;
    }
    let is_length = texture.role == Role::Position;
    if is_length == (error.unit == Unit::Degree) {
        wrong(Code::RecordedError, format!("the error of {file} is recorded in {:?}, which does not go with its role", error.unit));
    }
    let steps = match texture.pixel {
        Pixel::Rgba8Unorm => 255.0,
        Pixel::Rgba16Unorm => 65535.0,
        _ => return,
    };
    let limit = match (texture.role, texture.scale) {
        (Role::Position, Some(scale)) => {
            let half = scale.map(|s| f64::from(s) / steps / 2.0);
            let range = scale.iter().chain(texture.bias.iter().flatten()).fold(0.0_f64, |most, &v| most.max(f64::from(v).abs()));
            half.iter().map(|h| h * h).sum::<f64>().sqrt() * 1.01 + range * 1e-5 + largest * f64::from(FLAT)
        }
        // half a step on three axes of 2, as an angle; octahedral ones have 255 steps and are worst between the axes
        (_, _) if texture.encoding == Encoding::AlphaOctahedral => 1.0,
        _ => (3.0_f64.sqrt() / steps).to_degrees() * 1.05 + 1e-3,
    };
    if f64::from(error.max) > limit {
        wrong(
            Code::RecordedError,
            format!("the error of {file} is recorded as {} where the encoding allows {limit:.3e} at most", error.max),
        );
    }
}

/// The parts' triangles are those of the mesh.
pub(super) fn check_indices(mesh: &Mesh, sidecar: &Sidecar, name: &str, findings: &mut Findings) {
    let said: u64 = sidecar.mesh.parts.iter().map(|part| u64::from(part.index_count)).sum();
    if said != mesh.indices.len() as u64 {
        let (file, found) = (&sidecar.mesh.file, mesh.indices.len());
        findings.wrong(Code::Parts, name, format!("the parts have {said} indices, {file} has {found}; take the files of one bake"));
    }
}

/// Parts cover all vertices and follow each other.
fn check_parts(sidecar: &Sidecar, wrong: &mut impl FnMut(Code, String)) {
    let (mut vertex, mut index) = (0_u64, 0_u64);
    for (i, part) in sidecar.mesh.parts.iter().enumerate() {
        if u64::from(part.first_vertex) != vertex || u64::from(part.first_index) != index {
            wrong(
                Code::Parts,
                format!(
                    "part {i} begins at vertex {} and index {}, the parts before it end at {vertex} and {index}",
                    part.first_vertex, part.first_index
                ),
            );
            return;
        }
        vertex += u64::from(part.vertex_count);
        index += u64::from(part.index_count);
    }
    if vertex != u64::from(sidecar.vertex_count) {
        wrong(Code::Parts, format!("the parts have {vertex} vertices, the bake {}", sidecar.vertex_count));
    }
}
