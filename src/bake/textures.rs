//! Texels to image files while they arrive: one thread a texture, a few chunks in between.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::convert::{Converter, Rows, Values, needs_normals};
use super::form::{Container, Stored};
use crate::encode::{Encoding, Layer, Texel};
use crate::output::exr::{self, ExrWriter};
use crate::output::ktx2::Ktx2Writer;
use crate::output::png::{self, PngWriter};
use crate::output::raw::RawWriter;
use crate::output::set::{Set, SetFile};
use crate::output::sidecar::{Pixel, Role};
use crate::plan::chunks::Chunk;
use crate::report::Progress;
use crate::skin::{Backend, Job, Measured, TexelBytes};
use crate::{Error, Result};

/// Chunks that wait for an encoder.
const WAITING: usize = 1;

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
    /// What kind of file it is.
    pub container: Container,
}

/// One image that was written.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Written {
    /// CRC-32 of the decoded texels.
    pub crc32: u32,
    /// Errors of textures that were made here: the kernel measures its own integers.
    pub measured: Measured,
}

/// The image files of a set called `name`.
pub fn list_files(name: &str, stored: &Stored) -> Vec<TextureFile> {
    let file = |layer: Layer| {
        let (role, what, pixel) = match layer {
            Layer::Position => (Role::Position, "position", stored.pixel),
            Layer::Normal => (Role::Normal, "normal", stored.direction_pixel),
            Layer::Tangent => (Role::Tangent, "tangent", stored.direction_pixel),
        };
        let container = stored.container;
        TextureFile { layer, role, file: format!("{name}_vat_{what}.{}", container.extension()), pixel, container }
    };
    stored.form().layers().into_iter().map(file).collect()
}

/// What becomes of the device's texels in one set.
#[derive(Debug)]
pub struct Sink<'a> {
    /// Its image files.
    pub files: &'a [TextureFile],
    /// How plain values become its texels.
    pub converter: &'a Converter,
    /// Where they go; nowhere in a dry run, which only measures.
    pub set: Option<&'a mut Set>,
}

/// Rows that arrive in order: one layer after the other.
type Piece = (Chunk, Arc<Vec<Box<dyn TexelBytes>>>);

/// Runs pass 2 with the encoding `kernel`: its integers go to the one sink as they are, plain values are converted for each sink.
/// `memory` is what the writers may take together, beside the texels that they are given. One list of what was written a sink.
///
/// # Errors
/// What the backend or the writers return; no set is committed then.
pub fn write(
    sinks: Vec<Sink<'_>>,
    backend: &mut dyn Backend,
    job: &Job<'_>,
    kernel: &Encoding,
    chunks: &[Chunk],
    memory: u64,
    progress: &mut dyn Progress,
) -> Result<(Measured, Vec<Vec<Written>>)> {
    let count = sinks.iter().map(|s| s.files.len()).sum::<usize>().max(1);
    let mut outputs = Vec::new();
    for (number, mut sink) in sinks.into_iter().enumerate() {
        for texture in sink.files {
            let output = Output::new(texture, job, memory / count as u64, sink.set.as_deref_mut())?;
            outputs.push((number, texture, Task::new(texture, sink.converter, kernel), output));
        }
    }
    std::thread::scope(|scope| {
        let mut senders: Vec<SyncSender<Piece>> = Vec::new();
        let mut threads = Vec::new();
        for (number, texture, task, output) in outputs {
            let (sender, receiver) = sync_channel(WAITING);
            senders.push(sender);
            threads.push((number, scope.spawn(move || write_texture(output, texture, &task, job, &receiver))));
        }
        let run = backend.texels(job, kernel, chunks, progress, &mut |texels| {
            let layers = Arc::new(texels.layers);
            for sender in &senders {
                // a writer that is gone has its own error, which is told below
                let piece = (texels.chunk.clone(), layers.clone());
                sender.send(piece).map_err(|_| Error::Bake("a texture could not be written".into()))?;
            }
            Ok(())
        });
        drop(senders);
        let mut written: Vec<Vec<Written>> = Vec::new();
        let mut failed = None;
        for (number, thread) in threads {
            let result = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            written.resize_with(written.len().max(number + 1), Vec::new);
            match result {
                Ok(texture) => written[number].push(texture),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        // a writer's error is why the backend was stopped, where it was
        failed.map_or(Ok(()), Err)?;
        Ok((run?, written))
    })
}

/// What a writer makes of a piece.
enum Task<'a> {
    /// The kernel's integers of this layer as they are.
    Copy(usize),
    /// Its own texels of the plain values of one layer, and of the normals where they share it.
    Convert { converter: &'a Converter, layer: Layer, own: usize, normals: Option<usize> },
}

impl<'a> Task<'a> {
    fn new(texture: &TextureFile, converter: &'a Converter, kernel: &Encoding) -> Self {
        let place = |wanted: Layer| kernel.layers().iter().position(|l| *l == wanted);
        let own = place(texture.layer).unwrap_or_default();
        if kernel.texel == Texel::Uint {
            return Self::Copy(own);
        }
        let normals = needs_normals(&converter.stored, texture.layer).then(|| place(Layer::Normal)).flatten();
        Self::Convert { converter, layer: texture.layer, own, normals }
    }
}

enum Output {
    Png(Box<PngWriter<SetFile>>),
    Exr(Box<ExrWriter<SetFile>>),
    Ktx2(Box<Ktx2Writer<SetFile>>),
    Raw(Box<RawWriter<std::io::BufWriter<SetFile>>>),
    /// A dry run.
    Nothing,
}

impl Output {
    fn new(texture: &TextureFile, job: &Job<'_>, memory: u64, set: Option<&mut Set>) -> Result<Self> {
        let Some(set) = set else { return Ok(Self::Nothing) };
        let file = set.file(&texture.file)?;
        let path = file.path().to_path_buf();
        let (width, height) = (job.layout.width as u32, job.layout.height as u32);
        Ok(match (texture.container, texture.pixel) {
            (Container::Png, Pixel::Rgba8Unorm) => Self::Png(Box::new(PngWriter::new(file, path, width, height, png::Depth::Eight)?)),
            (Container::Png, _) => Self::Png(Box::new(PngWriter::new(file, path, width, height, png::Depth::Sixteen)?)),
            (Container::Exr, pixel) => {
                let depth = if pixel == Pixel::Rgba16Float { exr::Depth::Half } else { exr::Depth::Float };
                Self::Exr(Box::new(ExrWriter::new(file, path, width, height, depth)?.with_memory(memory)))
            }
            (Container::Ktx2, _) => Self::Ktx2(Box::new(Ktx2Writer::new(file, path, width, height)?)),
            (Container::Raw, pixel) => {
                let size = pixel.texel_bytes() as usize / 4;
                Self::Raw(Box::new(RawWriter::new(std::io::BufWriter::new(file), path, width, height, size)))
            }
        })
    }

    fn write(&mut self, pixel: Pixel, rows: &Rows) -> Result<()> {
        match self {
            Self::Png(writer) => writer.write_rows(&rows.integers),
            Self::Exr(writer) if pixel == Pixel::Rgba16Float => writer.write_rows_half(&rows.halves),
            Self::Exr(writer) => writer.write_rows_float(&rows.floats),
            Self::Ktx2(writer) => writer.write_rows_half(&rows.halves),
            Self::Raw(writer) => match pixel {
                Pixel::Rgba8Unorm => writer.write_rows(&rows.integers.iter().map(|&c| c as u8).collect::<Vec<_>>()),
                Pixel::Rgba16Unorm => writer.write_rows(bytemuck::cast_slice(&rows.integers)),
                Pixel::Rgba16Float => writer.write_rows(bytemuck::cast_slice(&rows.halves)),
                Pixel::Rgba32Float => writer.write_rows(bytemuck::cast_slice(&rows.floats)),
            },
            Self::Nothing => Ok(()),
        }
    }

    fn finish(self) -> Result<u32> {
        match self {
            Self::Png(writer) => writer.finish(),
            Self::Exr(writer) => writer.finish(),
            Self::Ktx2(writer) => writer.finish(),
            Self::Raw(writer) => writer.finish(),
            Self::Nothing => Ok(0),
        }
    }
}

/// A writer's thread: until the senders are gone. Where they go before the last row, the file stays as it is: whoever stopped them has
/// the error.
fn write_texture(mut output: Output, texture: &TextureFile, task: &Task<'_>, job: &Job<'_>, pieces: &Receiver<Piece>) -> Result<Written> {
    let mut measured = Measured::default();
    let mut rows = Rows { is_dropped: matches!(output, Output::Nothing), ..Rows::default() };
    let mut count = 0;
    for (chunk, layers) in pieces {
        match *task {
            Task::Copy(own) => {
                if let Output::Png(writer) = &mut output {
                    writer.write_rows(&typed::<u16>(layers[own].bytes()))?;
                }
            }
            Task::Convert { converter, layer, own, normals } => {
                let (own, normals) = (typed::<f32>(layers[own].bytes()), normals.map(|n| typed::<f32>(layers[n].bytes())));
                let values = Values { chunk: &chunk, own: &own, normals: normals.as_deref() };
                converter.convert(layer, values, job, &mut rows, &mut measured);
                output.write(texture.pixel, &rows)?;
            }
        }
        count += chunk.frames.len();
    }
    if count < job.layout.used_rows() {
        return Ok(Written { crc32: 0, measured });
    }
    let padding = (job.layout.height - job.layout.used_rows()) * job.layout.width;
    if padding > 0 {
        output.write(texture.pixel, &Rows::zero(texture.pixel, padding))?;
    }
    Ok(Written { crc32: output.finish()?, measured })
}

/// Native components of a piece; copied only where its memory is not aligned for them.
fn typed<T: bytemuck::Pod>(bytes: &[u8]) -> Cow<'_, [T]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(texels) => texels.into(),
        Err(_) => bytemuck::pod_collect_to_vec(bytes).into(),
    }
}

#[cfg(test)]
mod tests {
    use glam::{Mat3, Vec3};

    use super::*;
    use crate::encode::NormalMode;
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
        let stored = Stored {
            container: Container::Exr,
            pixel: Pixel::Rgba32Float,
            direction_pixel: Pixel::Rgba32Float,
            is_offset: true,
            normals: NormalMode::Separate,
            tangents: false,
        };
        let encoding = Encoding::new(stored.form(), (Vec3::ZERO, Vec3::ONE), 1.0);
        let converter = Converter { stored, encoding, axes: Mat3::IDENTITY, units: 1.0 };
        let chunks = cut_texture(&layout, ChunkLimits { texels: 4, frames: 1 });
        let mut set = Set::begin(folder.path(), "t", &[]).expect("a set");
        let files = list_files("t", &stored);
        let sinks = vec![Sink { files: &files, converter: &converter, set: Some(&mut set) }];
        let result = write(sinks, &mut Spoiled, &job, &encoding, &chunks, 0, &mut Silent);
        let error = result.expect_err("NaN is not written").to_string();
        assert!(error.contains("NaN") && error.contains("t_vat_normal.exr"), "{error}");
    }
}
