//! Texels to image files while they arrive: one thread a texture, a few chunks in between.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use glam::Vec3;
use half::f16;

use crate::encode::{Encoding, Layer, Texel};
use crate::options::{Format, Options};
use crate::output::exr::{self, ExrWriter};
use crate::output::png::{self, PngWriter};
use crate::output::set::{Set, SetFile};
use crate::output::sidecar::{Pixel, Role};
use crate::plan::chunks::Chunk;
use crate::report::Progress;
use crate::skin::{Backend, Job, Measured, TexelBytes};
use crate::{Error, Result};

/// Chunks that wait for an encoder.
const WAITING: usize = 1;

/// The image files of a bake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Textures {
    /// One a layer of the encoding, in its order.
    pub files: Vec<TextureFile>,
    /// Bytes that the writers may take together, beside the texels that they are given.
    pub memory: u64,
}

/// One image file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextureFile {
    /// What it holds.
    pub layer: Layer,
    /// The same, in the sidecar's words.
    pub role: Role,
    /// Its name.
    pub file: String,
    /// Its pixels.
    pub pixel: Pixel,
}

/// One image that was written.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Written {
    /// CRC-32 of the decoded texels.
    pub crc32: u32,
    /// Errors of float textures: integers are measured where they are made.
    measured: Measured,
}

impl Textures {
    /// The files that the options ask for.
    pub fn new(name: &str, options: &Options, encoding: &Encoding) -> Self {
        let extension = if encoding.texel == Texel::Uint { "png" } else { "exr" };
        let pixel = Pixel::from(options.format);
        let direction_pixel = match options.normal_bits {
            Some(8) => Pixel::from(Format::Png8),
            Some(_) => Pixel::from(Format::Png16),
            None => pixel,
        };
        let file = |layer: Layer| {
            let (role, what, pixel) = match layer {
                Layer::Position => (Role::Position, "position", pixel),
                Layer::Normal => (Role::Normal, "normal", direction_pixel),
                Layer::Tangent => (Role::Tangent, "tangent", direction_pixel),
            };
            TextureFile { layer, role, file: format!("{name}_vat_{what}.{extension}"), pixel }
        };
        Self { files: encoding.layers().into_iter().map(file).collect(), memory: options.memory / 4 }
    }
}

/// Rows that arrive in order.
type Piece = (Chunk, Box<dyn TexelBytes>);

/// Runs pass 2 and writes its texels to `set`, or only measures them where there is none.
///
/// # Errors
/// What the backend or the writers return; the set is not committed then.
pub fn write(
    textures: &Textures,
    backend: &mut dyn Backend,
    job: &Job<'_>,
    encoding: &Encoding,
    chunks: &[Chunk],
    mut set: Option<&mut Set>,
    progress: &mut dyn Progress,
) -> Result<(Measured, Vec<Written>)> {
    let mut outputs = Vec::new();
    for texture in &textures.files {
        let memory = textures.memory / textures.files.len() as u64;
        outputs.push(Output::new(texture, job, memory, set.as_deref_mut())?);
    }
    std::thread::scope(|scope| {
        let mut senders: Vec<SyncSender<Piece>> = Vec::new();
        let mut threads = Vec::new();
        for (output, texture) in outputs.into_iter().zip(&textures.files) {
            let (sender, receiver) = sync_channel(WAITING);
            senders.push(sender);
            threads.push(scope.spawn(move || write_texture(output, texture, job, encoding, &receiver)));
        }
        let run = backend.texels(job, encoding, chunks, progress, &mut |texels| {
            for (sender, piece) in senders.iter().zip(texels.layers) {
                // a writer that is gone has its own error, which is told below
                sender.send((texels.chunk.clone(), piece)).map_err(|_| Error::Bake("a texture could not be written".into()))?;
            }
            Ok(())
        });
        drop(senders);
        let written: Vec<_> = threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect();
        // a writer's error is why the backend was stopped, where it was
        let written = written.into_iter().collect::<Result<Vec<_>>>()?;
        let mut measured = run?;
        written.iter().for_each(|w| measured.add(&w.measured));
        Ok((measured, written))
    })
}

enum Output {
    Png(Box<PngWriter<SetFile>>),
    Exr(Box<ExrWriter<SetFile>>),
    /// A dry run.
    Nothing,
}

impl Output {
    fn new(texture: &TextureFile, job: &Job<'_>, memory: u64, set: Option<&mut Set>) -> Result<Self> {
        let Some(set) = set else { return Ok(Self::Nothing) };
        let file = set.file(&texture.file)?;
        let path = file.path().to_path_buf();
        let (width, height) = (job.layout.width as u32, job.layout.height as u32);
        Ok(match texture.pixel {
            Pixel::Rgba16Unorm => Self::Png(Box::new(PngWriter::new(file, path, width, height, png::Depth::Sixteen)?)),
            Pixel::Rgba8Unorm => Self::Png(Box::new(PngWriter::new(file, path, width, height, png::Depth::Eight)?)),
            Pixel::Rgba16Float => Self::Exr(Box::new(ExrWriter::new(file, path, width, height, exr::Depth::Half)?.with_memory(memory))),
            Pixel::Rgba32Float => Self::Exr(Box::new(ExrWriter::new(file, path, width, height, exr::Depth::Float)?.with_memory(memory))),
        })
    }

    fn finish(self) -> Result<u32> {
        match self {
            Self::Png(writer) => writer.finish(),
            Self::Exr(writer) => writer.finish(),
            Self::Nothing => Ok(0),
        }
    }
}

/// A writer's thread: until the senders are gone. Where they go before the last row, the file stays as it is: whoever stopped them has
/// the error.
fn write_texture(
    mut output: Output,
    texture: &TextureFile,
    job: &Job<'_>,
    encoding: &Encoding,
    pieces: &Receiver<Piece>,
) -> Result<Written> {
    let mut measured = Measured::default();
    let mut halves = Vec::new();
    let mut rows = 0;
    for (chunk, texels) in pieces {
        write_piece(&mut output, texture, &chunk, texels.bytes(), job, encoding, &mut measured, &mut halves)?;
        rows += chunk.frames.len();
    }
    if rows < job.layout.used_rows() {
        return Ok(Written { crc32: 0, measured });
    }
    let padding = vec![0_u8; (job.layout.height - job.layout.used_rows()) * job.layout.width * encoding.texel.bytes()];
    if !padding.is_empty() {
        match &mut output {
            Output::Png(writer) => writer.write_rows(bytemuck::cast_slice(&padding[..]))?,
            Output::Exr(writer) if texture.pixel == Pixel::Rgba16Float => {
                writer.write_rows_half(bytemuck::cast_slice(&padding[..padding.len() / 2]))?;
            }
            Output::Exr(writer) => writer.write_rows_float(&vec![0.0; padding.len() / 4])?,
            Output::Nothing => {}
        }
    }
    Ok(Written { crc32: output.finish()?, measured })
}

#[allow(clippy::too_many_arguments)]
fn write_piece(
    output: &mut Output,
    texture: &TextureFile,
    chunk: &Chunk,
    bytes: &[u8],
    job: &Job<'_>,
    encoding: &Encoding,
    measured: &mut Measured,
    halves: &mut Vec<f16>,
) -> Result<()> {
    if encoding.texel == Texel::Uint {
        return match output {
            Output::Png(writer) => writer.write_rows(&typed::<u16>(bytes)),
            _ => Ok(()),
        };
    }
    let texels = typed::<f32>(bytes);
    let is_half = texture.pixel == Pixel::Rgba16Float;
    if is_half {
        halves.clear();
        halves.extend(texels.iter().map(|&v| f16::from_f32(v)));
    }
    measure_floats(texture.layer, chunk, &texels, is_half.then_some(&halves[..]), job, encoding, measured);
    match output {
        Output::Exr(writer) if is_half => writer.write_rows_half(halves),
        Output::Exr(writer) => writer.write_rows_float(&texels),
        _ => Ok(()),
    }
}

/// Native components of a piece; copied only where its memory is not aligned for them.
fn typed<T: bytemuck::Pod>(bytes: &[u8]) -> std::borrow::Cow<'_, [T]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(texels) => texels.into(),
        Err(_) => bytemuck::pod_collect_to_vec(bytes).into(),
    }
}

/// Decodes every float texel again as a player would and adds what it is off by.
fn measure_floats(
    layer: Layer,
    chunk: &Chunk,
    texels: &[f32],
    halves: Option<&[f16]>,
    job: &Job<'_>,
    encoding: &Encoding,
    measured: &mut Measured,
) {
    let vertices = job.layout.block_vertices(chunk.block);
    for (row, values) in texels.chunks_exact(job.layout.width * 4).enumerate() {
        for (i, vertex) in vertices.clone().enumerate() {
            let at = i * 4;
            let value = Vec3::from_slice(&values[at..]);
            let stored = halves.map_or(value, |halves| {
                let texel = &halves[row * job.layout.width * 4 + at..];
                Vec3::new(texel[0].to_f32(), texel[1].to_f32(), texel[2].to_f32())
            });
            if layer == Layer::Position {
                let rest = if encoding.is_offset { Vec3::from(job.rest[vertex]) } else { Vec3::ZERO };
                let error = ((rest + stored).as_dvec3() - (rest.as_dvec3() + value.as_dvec3())).length_squared();
                measured.position_squares += error;
                measured.position_max = measured.position_max.max(error.sqrt());
            } else {
                let chord = f64::from((stored.normalize_or(Vec3::Z) - value).length_squared());
                let (squares, largest) = match layer {
                    Layer::Normal => (&mut measured.normal_squares, &mut measured.normal_max),
                    _ => (&mut measured.tangent_squares, &mut measured.tangent_max),
                };
                *squares += chord;
                *largest = largest.max(chord.sqrt());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Form, NormalMode};
    use crate::plan::chunks::{ChunkLimits, cut_texture};
    use crate::plan::layout::Layout;
    use crate::plan::mesh::BakeMesh;
    use crate::pose::{PoseSource, Poser};
    use crate::report::{Device, Silent};
    use crate::scene::Scene;
    use crate::skin::{ChunkTexels, Ranges};

    struct Bytes(Vec<u8>);
    impl TexelBytes for Bytes {
        fn bytes(&self) -> &[u8] {
            &self.0
        }
    }

    /// Sends chunk after chunk, the normals of the second not to be written.
    struct Spoiled;
    impl Backend for Spoiled {
        fn device(&self) -> Device {
            unreachable!("nobody asks")
        }
        fn chunk_limits(&self, _: &Job<'_>, limits: ChunkLimits) -> Result<ChunkLimits> {
            Ok(limits)
        }
        fn bounds(&mut self, _: &Job<'_>, _: u64, _: &mut dyn Progress) -> Result<Vec<Ranges>> {
            Ok(Vec::new())
        }
        fn texels(
            &mut self,
            job: &Job<'_>,
            _: &Encoding,
            chunks: &[Chunk],
            _: &mut dyn Progress,
            sink: &mut dyn FnMut(ChunkTexels) -> Result<()>,
        ) -> Result<Measured> {
            for (n, chunk) in chunks.iter().enumerate() {
                let layer = |value: f32| {
                    let texels = vec![value; chunk.frames.len() * job.layout.width * 4];
                    Box::new(Bytes(bytemuck::cast_slice(&texels).to_vec())) as Box<dyn TexelBytes>
                };
                let normal = if n == 1 { f32::NAN } else { 0.5 };
                sink(ChunkTexels { chunk: chunk.clone(), layers: vec![layer(0.5), layer(normal)] })?;
            }
            Ok(Measured::default())
        }
    }

    #[test]
    fn the_error_of_the_texture_that_failed_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let (scene, mesh, rest) = (Scene::default(), BakeMesh::default(), vec![[0.0; 3]; 4]);
        let poser = Poser::new(&scene, &[], &[], 1.0, None);
        let poses = PoseSource::new(&poser, &[], 0);
        let layout = Layout { vertex_count: 4, frame_count: 64, width: 4, blocks: 1, height: 64 };
        let job = Job { mesh: &mesh, rest: &rest, poses: &poses, clips: &[], layout: &layout };
        let (normals, levels) = (NormalMode::Separate, 65535.0);
        let form = Form { texel: Texel::Float, is_offset: true, levels, normals, normal_levels: levels, tangents: false };
        let encoding = Encoding::new(form, (Vec3::ZERO, Vec3::ONE), 1.0);
        let textures = Textures::new("t", &Options { format: Format::Exr32, ..Options::default() }, &encoding);
        let chunks = cut_texture(&layout, ChunkLimits { texels: 4, frames: 1 });
        let mut set = Set::begin(folder.path(), "t", &[]).expect("a set");
        let result = write(&textures, &mut Spoiled, &job, &encoding, &chunks, Some(&mut set), &mut Silent);
        let error = result.expect_err("NaN is not written").to_string();
        assert!(error.contains("NaN") && error.contains("t_vat_normal.exr"), "{error}");
    }
}
