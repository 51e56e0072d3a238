//! The kernel as a backend: uploads the mesh once, then palettes and chunks, and reads texels back while the next chunk runs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use glam::Vec3;
use wgpu::{
    BindGroup, BindGroupEntry, BindGroupLayout, BindGroupLayoutEntry, BindingResource, BindingType, Buffer, BufferBindingType,
    BufferUsages, BufferView, CommandEncoder, ComputePipeline, MapMode, SubmissionIndex, Texture, TextureFormat, TextureUsages,
};

use super::layout::{BOUNDS_WGSL, Params, RANGE_STRIDE, RESULT_STRIDE, RowResults, SKIN_WGSL, WORKGROUP, binding};
use super::{Backend, ChunkTexels, Job, Measured, Ranges, TexelBytes};
use crate::encode::{Encoding, Layer, Texel};
use crate::gpu::context::Context;
use crate::options::WorkLimits;
use crate::plan::chunks::{BOUNDS_FRAMES, Chunk, ChunkLimits, IN_FLIGHT, cut_bounds};
use crate::plan::mesh::BakeMesh;
use crate::report::{Device, Progress};
use crate::{Error, Result};

/// Widest storage texture that is used: addresses are folded, and whole multiples of 32 texels leave no gaps in a copy.
const TEXTURE_WIDTH: u32 = 2048;
/// A row of a copy is a multiple of 256 bytes: 32 texels of 8 bytes.
const ROW_TEXELS: u32 = 32;

/// Storage textures of an entry point.
const LAYERS: u32 = 3;

/// An adapter that runs the kernel.
#[derive(Debug)]
pub struct Gpu {
    context: Context,
    work: WorkLimits,
    mesh: Option<MeshBuffers>,
}

/// What stays on the device for the whole bake.
#[derive(Debug)]
struct MeshBuffers {
    vertices: Buffer,
    influences: Buffer,
    morphs: Buffer,
    faces: Buffer,
    rest: Buffer,
}

/// One of the two kernels.
#[derive(Debug)]
struct Pass {
    pipeline: ComputePipeline,
    layout: BindGroupLayout,
}

impl Pass {
    fn dispatch(&self, encoder: &mut CommandEncoder, group: &BindGroup, (x, y, z): (u32, u32, u32)) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(x, y, z);
    }
}

/// What changes from dispatch to dispatch. Writes to it are ordered with the dispatches by the queue.
struct FrameBuffers {
    palettes: Buffer,
    weights: Buffer,
    params: Buffer,
    results: Buffer,
}

impl Gpu {
    /// Starts an adapter.
    ///
    /// # Errors
    /// [`Error::Device`] with the driver's words.
    pub fn start(adapter: &wgpu::Adapter, work: WorkLimits) -> Result<Self> {
        Ok(Self { context: Context::new(adapter, &work)?, work, mesh: None })
    }

    /// Frames whose palettes and weights fit one binding, at most `most`.
    fn frames_that_fit(&self, job: &Job<'_>, most: usize) -> Result<usize> {
        let poser = job.poses.poser();
        let palette = (poser.palette_rows() * 16).max(poser.weight_count() * 4).max(1) as u64;
        let binding = self.context.limits.max_storage_buffer_binding_size.min(self.context.limits.max_buffer_size);
        let frames = (binding / palette).min(most as u64) as usize;
        if frames == 0 {
            return Err(self.context.failed(&format!("one frame's palette takes {palette} bytes, its largest binding {binding}")));
        }
        Ok(frames)
    }

    fn upload_mesh(&mut self, job: &Job<'_>) -> Result<()> {
        if self.mesh.is_none() {
            let (c, m) = (&self.context, job.mesh);
            self.mesh = Some(MeshBuffers {
                vertices: c.storage("vertices", bytemuck::cast_slice(&m.vertices))?,
                influences: c.storage("influences", bytemuck::cast_slice(&m.influences))?,
                morphs: c.storage("morph targets", bytemuck::cast_slice(&m.morphs))?,
                faces: c.storage("faces", bytemuck::cast_slice(&m.faces))?,
                rest: c.storage("rest positions", bytemuck::cast_slice(job.rest))?,
            });
        }
        Ok(())
    }

    fn frame_buffers(&self, job: &Job<'_>, frames: usize, results: usize) -> Result<FrameBuffers> {
        let (c, poser) = (&self.context, job.poses.poser());
        let upload = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        Ok(FrameBuffers {
            palettes: c.buffer("palettes", (frames * poser.palette_rows() * 16) as u64, upload)?,
            weights: c.buffer("morph weights", (frames * poser.weight_count() * 4) as u64, upload)?,
            params: c.buffer("parameters", size_of::<Params>() as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST)?,
            results: c.buffer("results", (results * 4) as u64, upload | BufferUsages::COPY_SRC)?,
        })
    }

    /// Queues palettes and weights of `frames`, from frame `at` of the buffers on.
    fn upload_frames(&self, job: &Job<'_>, buffers: &FrameBuffers, frames: std::ops::Range<usize>, at: usize) {
        let poser = job.poses.poser();
        job.poses.with_frames(frames, |poses| {
            let queue = &self.context.queue;
            queue.write_buffer(&buffers.palettes, (at * poser.palette_rows() * 16) as u64, bytemuck::cast_slice(poses.palettes));
            queue.write_buffer(&buffers.weights, (at * poser.weight_count() * 4) as u64, bytemuck::cast_slice(poses.weights));
        });
    }

    /// A pass: its entry point is `label`; it writes storage textures of `format` from binding `first` on, where it writes any.
    fn pass(&self, label: &'static str, source: &'static str, constants: &[(&str, f64)], textures: Option<(u32, TextureFormat)>) -> Pass {
        let device = &self.context.device;
        let entry = |binding, ty| BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None };
        let buffer = |ty| BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
        let mut entries: Vec<_> = (binding::VERTICES..=binding::PARAMS)
            .map(|binding| match binding {
                binding::PARAMS => entry(binding, buffer(BufferBindingType::Uniform)),
                binding::RESULTS => entry(binding, buffer(BufferBindingType::Storage { read_only: false })),
                _ => entry(binding, buffer(BufferBindingType::Storage { read_only: true })),
            })
            .collect();
        if let Some((first, format)) = textures {
            let access = wgpu::StorageTextureAccess::WriteOnly;
            let ty = BindingType::StorageTexture { access, format, view_dimension: wgpu::TextureViewDimension::D2 };
            entries.extend((0..LAYERS).map(|layer| entry(first + layer, ty)));
        }
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let descriptor = wgpu::ShaderModuleDescriptor { label: Some(label), source: wgpu::ShaderSource::Wgsl(source.into()) };
        let module = device.create_shader_module(descriptor);
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(label),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(label),
            compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
            cache: None,
        });
        Pass { pipeline, layout }
    }

    fn bind(&self, pass: &Pass, frames: &FrameBuffers, textures: &[(u32, &wgpu::TextureView)]) -> Result<BindGroup> {
        let mesh = self.mesh.as_ref().ok_or_else(|| self.context.failed("the mesh was not uploaded"))?;
        let buffers = [
            (binding::VERTICES, &mesh.vertices),
            (binding::INFLUENCES, &mesh.influences),
            (binding::MORPHS, &mesh.morphs),
            (binding::FACES, &mesh.faces),
            (binding::PALETTES, &frames.palettes),
            (binding::WEIGHTS, &frames.weights),
            (binding::REST, &mesh.rest),
            (binding::RESULTS, &frames.results),
            (binding::PARAMS, &frames.params),
        ];
        let buffers = buffers.map(|(binding, buffer)| BindGroupEntry { binding, resource: buffer.as_entire_binding() });
        let views = textures.iter().map(|&(binding, view)| BindGroupEntry { binding, resource: BindingResource::TextureView(view) });
        let entries: Vec<_> = buffers.into_iter().chain(views).collect();
        Ok(self.context.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &pass.layout, entries: &entries }))
    }

    /// Workgroups for `invocations` in x and y.
    fn groups(&self, invocations: usize) -> (u32, u32) {
        let total = (invocations as u32).div_ceil(WORKGROUP).max(1);
        let x = total.min(self.context.limits.max_compute_workgroups_per_dimension);
        (x, total.div_ceil(x))
    }

    /// Vertices that one dispatch can take.
    fn most_vertices(&self) -> usize {
        let groups = u64::from(self.context.limits.max_compute_workgroups_per_dimension);
        (groups * groups * u64::from(WORKGROUP)).min(1 << 31) as usize
    }

    fn encoder(&self) -> CommandEncoder {
        self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    /// A storage texture for `texels` texels.
    fn texture(&self, format: TextureFormat, texels: usize) -> Texture {
        let width = self.texture_width();
        let size = wgpu::Extent3d { width, height: (texels as u32).div_ceil(width).max(1), depth_or_array_layers: 1 };
        self.context.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("texels"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: TextureUsages::STORAGE_BINDING | TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    }

    fn texture_width(&self) -> u32 {
        self.context.limits.max_texture_dimension_2d.min(TEXTURE_WIDTH) / ROW_TEXELS * ROW_TEXELS
    }
}

impl Backend for Gpu {
    fn device(&self) -> Device {
        self.context.description.clone()
    }

    fn chunk_limits(&self, job: &Job<'_>, limits: ChunkLimits) -> Result<ChunkLimits> {
        let groups = self.context.limits.max_compute_workgroups_per_dimension as usize;
        let texels = self.texture_width() as usize * self.context.limits.max_texture_dimension_2d as usize;
        let width = job.layout.width;
        if width > texels || width > self.most_vertices() {
            return Err(self
                .context
                .failed(&format!("a row of {width} texels is more than the {} that it takes at once", texels.min(self.most_vertices()))));
        }
        Ok(limits.at_most(texels, self.frames_that_fit(job, groups)?))
    }

    fn bounds(&mut self, job: &Job<'_>, memory: u64, progress: &mut dyn Progress) -> Result<Vec<Ranges>> {
        self.upload_mesh(job)?;
        let mut constants = overrides(job.mesh);
        constants.push(("with_tangents", 0.0));
        let pass = self.pass("bounds", BOUNDS_WGSL, &constants, None);
        let poser = job.poses.poser();
        // the clip's first pose goes with every run
        let by_memory = (memory / 8 / poser.frame_bytes().max(1)).clamp(2, 1 + BOUNDS_FRAMES as u64) as usize;
        let frames = self.frames_that_fit(job, by_memory.min(self.work.frames.map_or(usize::MAX, |f| f + 1)))?;
        if frames < 2 {
            return Err(self.context.failed("two frames' palettes do not fit its largest binding"));
        }
        let buffers = self.frame_buffers(job, frames, job.clips.len() * RANGE_STRIDE)?;
        let group = self.bind(&pass, &buffers, &[])?;
        let mut submitted: VecDeque<SubmissionIndex> = VecDeque::new();
        for run in cut_bounds(job.clips, job.mesh.vertices.len(), frames - 1, self.most_vertices()) {
            if progress.is_cancelled() {
                return Err(Error::Interrupted);
            }
            if submitted.len() == IN_FLIGHT
                && let Some(oldest) = submitted.pop_front()
            {
                self.context.wait(oldest)?;
            }
            let first = job.clips[run.clip].first_frame;
            self.upload_frames(job, &buffers, first..first + 1, 0);
            self.upload_frames(job, &buffers, run.frames.clone(), 1);
            let params = Params {
                palette_len: poser.palette_len() as u32,
                weight_count: poser.weight_count() as u32,
                first_vertex: run.vertices.start as u32,
                vertex_count: run.vertices.len() as u32,
                frame_count: run.frames.len() as u32,
                slot: run.clip as u32,
                ..Params::default()
            };
            self.context.queue.write_buffer(&buffers.params, 0, bytemuck::bytes_of(&params));
            let mut encoder = self.encoder();
            let (x, y) = self.groups(run.vertices.len());
            pass.dispatch(&mut encoder, &group, (x, y, 1));
            submitted.push_back(self.context.queue.submit([encoder.finish()]));
            progress.advance((run.frames.len() * run.vertices.len()) as u64);
        }
        let bytes = self.read_buffer(&buffers.results)?;
        let slots: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
        Ok(slots.chunks_exact(RANGE_STRIDE).map(decode_ranges).collect())
    }

    fn texels(
        &mut self,
        job: &Job<'_>,
        encoding: &Encoding,
        chunks: &[Chunk],
        progress: &mut dyn Progress,
        sink: &mut dyn FnMut(ChunkTexels) -> Result<()>,
    ) -> Result<Measured> {
        self.upload_mesh(job)?;
        let most_frames = chunks.iter().map(|c| c.frames.len()).max().unwrap_or(1);
        let most_texels = most_frames * job.layout.width;
        let (entry, format, first_binding) = match encoding.texel {
            Texel::Uint => ("skin_uint", TextureFormat::Rgba16Uint, binding::POSITION_UINT),
            Texel::Float => ("skin_float", TextureFormat::Rgba32Float, binding::POSITION_FLOAT),
        };
        let layers = encoding.layers();
        let mut constants = overrides(job.mesh);
        constants.push(("normal_mode", encoding.normals.code().into()));
        constants.push(("with_tangents", u8::from(encoding.tangents).into()));
        let pass = self.pass(entry, SKIN_WGSL, &constants, Some((first_binding, format)));
        let buffers = self.frame_buffers(job, most_frames, most_frames * RESULT_STRIDE)?;
        // every layer is bound; one that is not written gets a texel
        let all = [Layer::Position, Layer::Normal, Layer::Tangent];
        let bound = all.map(|layer| self.texture(format, if layers.contains(&layer) { most_texels } else { 1 }));
        let views: Vec<_> = bound.iter().map(|t| t.create_view(&wgpu::TextureViewDescriptor::default())).collect();
        let group = self.bind(&pass, &buffers, &(first_binding..).zip(&views).collect::<Vec<_>>())?;
        let textures: Vec<Texture> = bound.into_iter().zip(all).filter(|(_, layer)| layers.contains(layer)).map(|(t, _)| t).collect();
        let mut slots = Vec::new();
        for _ in 0..IN_FLIGHT.min(chunks.len()) {
            slots.push(Slot::new(self, &textures, encoding.texel, most_frames)?);
        }
        let mut measured = Measured::default();
        let mut pending: VecDeque<(usize, &Chunk)> = VecDeque::new();
        for (n, chunk) in chunks.iter().enumerate() {
            if progress.is_cancelled() {
                return Err(Error::Interrupted);
            }
            // one slot stays with the writers while the others are on the device
            if pending.len() + 1 == IN_FLIGHT
                && let Some((slot, done)) = pending.pop_front()
            {
                slots[slot].deliver(self, job, encoding, done, &mut measured, progress, sink)?;
            }
            let slot = n % slots.len();
            slots[slot].wait_for_writers();
            self.upload_frames(job, &buffers, chunk.frames.clone(), 0);
            let vertices = job.layout.block_vertices(chunk.block);
            let params = Params {
                palette_len: job.poses.poser().palette_len() as u32,
                weight_count: job.poses.poser().weight_count() as u32,
                first_vertex: vertices.start as u32,
                vertex_count: vertices.len() as u32,
                row_texels: job.layout.width as u32,
                frame_count: chunk.frames.len() as u32,
                frame_stride: job.layout.width as u32,
                vertex_stride: 1,
                texture_width: self.texture_width(),
                ..Params::of_encoding(encoding)
            };
            self.context.queue.write_buffer(&buffers.params, 0, bytemuck::bytes_of(&params));
            let mut encoder = self.encoder();
            encoder.clear_buffer(&buffers.results, 0, None);
            let (x, y) = self.groups(job.layout.width);
            pass.dispatch(&mut encoder, &group, (x, y, chunk.frames.len() as u32));
            slots[slot].submit(self, encoder, &textures, &buffers.results, chunk.frames.len() * job.layout.width);
            pending.push_back((slot, chunk));
        }
        for (slot, chunk) in pending {
            slots[slot].deliver(self, job, encoding, chunk, &mut measured, progress, sink)?;
        }
        Ok(measured)
    }
}

impl Gpu {
    /// Copies a buffer out; for results, not for texels.
    fn read_buffer(&self, buffer: &Buffer) -> Result<Vec<u8>> {
        let readback = self.context.buffer("readback", buffer.size(), BufferUsages::MAP_READ | BufferUsages::COPY_DST)?;
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &readback, 0, buffer.size());
        let mapped = Arc::new(AtomicUsize::new(0));
        let submission = self.context.queue.submit([encoder.finish()]);
        map(&readback, buffer.size(), &mapped);
        self.context.wait(submission)?;
        let view = self.view(&readback, buffer.size(), &mapped, 1)?;
        Ok(view.to_vec())
    }

    /// The mapped range of a buffer whose `wanted` mappings have been asked for and waited for.
    fn view(&self, buffer: &Buffer, bytes: u64, mapped: &AtomicUsize, wanted: usize) -> Result<BufferView> {
        if mapped.load(Ordering::Acquire) < wanted {
            return Err(self.context.failed("a buffer could not be mapped for reading"));
        }
        buffer.slice(..bytes).get_mapped_range().map_err(|e| self.context.failed(&e.to_string()))
    }
}

/// Asks for a mapping; `mapped` counts those that came about.
fn map(buffer: &Buffer, bytes: u64, mapped: &Arc<AtomicUsize>) {
    let mapped = mapped.clone();
    buffer.slice(..bytes).map_async(MapMode::Read, move |result| {
        if result.is_ok() {
            mapped.fetch_add(1, Ordering::Release);
        }
    });
}

/// The overrides of deform.wgsl for a mesh.
fn overrides(mesh: &BakeMesh) -> Vec<(&'static str, f64)> {
    let more_sets = mesh.vertices.iter().any(|v| v.sets > 1);
    vec![
        ("has_morphs", f64::from(u8::from(!mesh.morphs.is_empty()))),
        ("has_faces", f64::from(u8::from(!mesh.faces.is_empty()))),
        ("has_more_sets", f64::from(u8::from(more_sets))),
    ]
}

/// Readback buffers of one chunk in flight.
struct Slot {
    texels: Vec<Buffer>,
    results: Buffer,
    texel_bytes: u64,
    /// Bytes of texels that the chunk on the device has.
    used: u64,
    submission: Option<SubmissionIndex>,
    mapped: Arc<AtomicUsize>,
    /// Writers give a buffer back here.
    back: Sender<()>,
    given_back: Receiver<()>,
    with_writers: usize,
}

impl Slot {
    fn new(gpu: &Gpu, textures: &[Texture], texel: Texel, frames: usize) -> Result<Self> {
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let texel_bytes = texel.bytes() as u64;
        let bytes = |t: &Texture| u64::from(t.width()) * u64::from(t.height()) * texel_bytes;
        let texels = textures.iter().map(|t| gpu.context.buffer("read-back texels", bytes(t), usage)).collect::<Result<_>>()?;
        let results = gpu.context.buffer("read-back results", (frames * RESULT_STRIDE * 4) as u64, usage)?;
        let (back, given_back) = channel();
        Ok(Self { texels, results, texel_bytes, used: 0, submission: None, mapped: Arc::default(), back, given_back, with_writers: 0 })
    }

    fn wait_for_writers(&mut self) {
        while self.with_writers > 0 && self.given_back.recv().is_ok() {
            self.with_writers -= 1;
        }
    }

    /// Appends the copies of `texels` texels and of the results, and submits.
    fn submit(&mut self, gpu: &Gpu, mut encoder: CommandEncoder, textures: &[Texture], results: &Buffer, texels: usize) {
        for (buffer, texture) in self.texels.iter().zip(textures) {
            let height = (texels as u32).div_ceil(texture.width());
            let layout = wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(texture.width() * self.texel_bytes as u32),
                rows_per_image: None,
            };
            let size = wgpu::Extent3d { width: texture.width(), height, depth_or_array_layers: 1 };
            encoder.copy_texture_to_buffer(texture.as_image_copy(), wgpu::TexelCopyBufferInfo { buffer, layout }, size);
        }
        encoder.copy_buffer_to_buffer(results, 0, &self.results, 0, self.results.size());
        self.used = texels as u64 * self.texel_bytes;
        self.submission = Some(gpu.context.queue.submit([encoder.finish()]));
        self.mapped = Arc::default();
        for buffer in &self.texels {
            map(buffer, self.used, &self.mapped);
        }
        map(&self.results, self.results.size(), &self.mapped);
    }

    /// Waits for the device, adds up what it measured and hands the texels on.
    #[allow(clippy::too_many_arguments)]
    fn deliver(
        &mut self,
        gpu: &Gpu,
        job: &Job<'_>,
        encoding: &Encoding,
        chunk: &Chunk,
        measured: &mut Measured,
        progress: &mut dyn Progress,
        sink: &mut dyn FnMut(ChunkTexels) -> Result<()>,
    ) -> Result<()> {
        if let Some(submission) = self.submission.take() {
            gpu.context.wait(submission)?;
        }
        let wanted = self.texels.len() + 1;
        let results: Vec<RowResults> =
            bytemuck::pod_collect_to_vec(&gpu.view(&self.results, self.results.size(), &self.mapped, wanted)?[..]);
        self.results.unmap();
        results[..chunk.frames.len()].iter().for_each(|row| measured.add_row(row, encoding));
        let mut texels = Vec::new();
        for buffer in &self.texels {
            let view = gpu.view(buffer, self.used, &self.mapped, wanted)?;
            texels.push(Box::new(Mapped { view: Some(view), buffer: buffer.clone(), back: self.back.clone() }) as Box<dyn TexelBytes>);
            self.with_writers += 1;
        }
        progress.advance((chunk.frames.len() * job.layout.block_vertices(chunk.block).len()) as u64);
        sink(ChunkTexels { chunk: chunk.clone(), layers: texels })
    }
}

/// A mapped readback buffer; dropping it gives it back.
struct Mapped {
    view: Option<BufferView>,
    buffer: Buffer,
    back: Sender<()>,
}

impl TexelBytes for Mapped {
    fn bytes(&self) -> &[u8] {
        self.view.as_deref().unwrap_or_default()
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.view = None; // before the buffer is unmapped
        self.buffer.unmap();
        // the slot may be gone already
        let _ = self.back.send(());
    }
}

/// The slots of bounds.wgsl.
fn decode_ranges(slots: &[u32]) -> Ranges {
    let largest = |s: usize| unordered(slots[s]);
    let least = |s: usize| unordered(!slots[s]);
    let vector = |get: &dyn Fn(usize) -> f32, s: usize| Vec3::new(get(s), get(s + 1), get(s + 2));
    Ranges {
        largest: vector(&largest, 0),
        least: vector(&least, 3),
        largest_offset: vector(&largest, 6),
        least_offset: vector(&least, 9),
        moved: largest(12),
    }
}

/// The float whose `ordered` number (bounds.wgsl) this is.
fn unordered(bits: u32) -> f32 {
    f32::from_bits(if bits & 0x8000_0000 != 0 { bits & 0x7fff_ffff } else { !bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_numbers_come_back() {
        let ordered = |f: f32| if f.is_sign_negative() { !f.to_bits() } else { f.to_bits() | 0x8000_0000 };
        let values = [-3.5e8, -1.0, -1e-30, 0.0, 1e-30, 2.0, 7e20];
        assert!(values.windows(2).all(|pair| ordered(pair[0]) < ordered(pair[1])));
        assert!(values.iter().all(|&v| unordered(ordered(v)) == v));
    }
}
