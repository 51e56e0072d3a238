//! Draws a bake at a moment, from its textures, through the playback code.
//!
//! Each picture is drawn at twice its size with four samples a pixel, in linear light; [`super::picture`] makes it smaller.

use std::sync::mpsc::channel;

use bytemuck::Zeroable;
use glam::DVec3;
use half::f16;
use wgpu::{BindGroup, Buffer, BufferUsages, CommandEncoder, Extent3d, TextureFormat, TextureUsages, TextureView};

use super::camera::Camera;
use super::layout::{VatBake, ViewUniform, shader};
use super::picture::Layers;
use super::pipeline::{Pipelines, bake_layout, group, material_layout, view_layout};
use super::upload::{self, MeshBuffers, Surface, format_of};
use crate::baked::{Baked, Primitive};
use crate::gpu::context::Context;
use crate::output::sidecar::Role;
use crate::{Error, Result};

/// What a pixel of the layers holds.
pub(super) const FORMAT: TextureFormat = TextureFormat::Rgba16Float;
/// Depth of the nearest surface.
pub(super) const DEPTH: TextureFormat = TextureFormat::Depth32Float;
/// Samples of a pixel: what every adapter has.
pub(super) const SAMPLES: u32 = 4;
/// Bytes of a pixel.
const PIXEL: u32 = 8;

/// What colours a surface; the numbers are those of `shaders/preview.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colouring {
    /// Material under three lights.
    Shaded = 0,
    /// The normal.
    Normals = 1,
    /// A colour a vertex.
    Colours = 2,
    /// One pale colour.
    Clay = 3,
}

/// One picture to draw.
#[derive(Debug, Clone, Copy)]
pub struct Shot<'a> {
    /// From where.
    pub camera: &'a Camera,
    /// The clip as the playback code takes it.
    pub clip: [f32; 4],
    /// What colours surfaces.
    pub colouring: Colouring,
    /// Height of the plane that catches the shadow, where there is to be one.
    pub ground: Option<f64>,
    /// Colours of the mesh's vertices.
    pub colours: Option<&'a [[u8; 4]]>,
}

/// A bake on an adapter, and what draws it in one size.
#[derive(Debug)]
pub struct Stage {
    context: Context,
    /// Size of the pictures.
    size: [u32; 2],
    mesh: MeshBuffers,
    to_gltf: [[f32; 4]; 3],
    has_normals: bool,
    view: Buffer,
    groups: [BindGroup; 2],
    /// Per primitive.
    draws: Vec<Draw>,
    pipelines: Pipelines,
    samples: TextureView,
    resolved: wgpu::Texture,
    depth: TextureView,
    back: Buffer,
    row: u32,
    /// What cannot be shown.
    pub notes: Vec<String>,
}

#[derive(Debug)]
struct Draw {
    run: Primitive,
    material: usize,
    is_two_sided: bool,
    blends: bool,
    group: BindGroup,
}

impl Stage {
    /// Uploads a bake for pictures of this size.
    ///
    /// # Errors
    /// [`Error::Device`] where the adapter cannot hold it.
    pub fn new(context: Context, baked: &Baked, size: [u32; 2]) -> Result<Self> {
        let most = context.limits.max_texture_dimension_2d / 2;
        if size[0].max(size[1]) > most {
            let name = &context.description.name;
            return Err(Error::Usage(format!("--size {} x {} is more than the {most} a side that '{name}' can draw", size[0], size[1])));
        }
        let device = &context.device;
        let (_, position) =
            baked.texture(Role::Position).ok_or_else(|| Error::Bake("the bake has no texture of positions; bake again".into()))?;
        let normal = baked.texture(Role::Normal).map(|(_, image)| image);
        let mesh = MeshBuffers::new(&context, baked)?;
        let positions = upload::texels(&context, position)?;
        // Where the normals are the position's alpha, or are none, something is bound that nothing reads.
        let is_apart = normal.is_some_and(|image| !std::ptr::eq(image, position));
        let normals = match normal.filter(|_| is_apart) {
            Some(image) => upload::texels(&context, image)?,
            None => positions.clone(),
        };
        let floats = [format_of(position).1, format_of(normal.unwrap_or(position)).1];
        let source = wgpu::ShaderSource::Wgsl(shader(floats).into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("preview"), source });
        let layouts = [bake_layout(device, floats), view_layout(device), material_layout(device)];
        let pipelines = Pipelines::new(device, &module, &layouts);

        let uniform = |label, bytes: &[u8]| {
            let buffer = context.buffer(label, bytes.len() as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST)?;
            context.queue.write_buffer(&buffer, 0, bytes);
            Ok::<_, Error>(buffer)
        };
        let view = uniform("view", bytemuck::bytes_of(&ViewUniform::zeroed()))?;
        let bake = uniform("bake", bytemuck::bytes_of(&VatBake::new(&baked.sidecar)))?;
        let of_view = |v| wgpu::BindingResource::TextureView(v);
        let groups = [
            group(device, &layouts[0], [bake.as_entire_binding(), of_view(&positions), of_view(&normals)]),
            group(device, &layouts[1], [view.as_entire_binding()]),
        ];

        let mut notes = Vec::new();
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            address_mode_u: wgpu::AddressMode::Repeat,
            address_mode_v: wgpu::AddressMode::Repeat,
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..Default::default()
        });
        let materials = baked.mesh.materials.iter().map(Some).chain([None]);
        let surfaces: Vec<Surface> = materials.map(|material| upload::surface(&context, material, &mut notes)).collect();
        let mut draws = Vec::new();
        for &run in &baked.mesh.primitives {
            let material = run.material.unwrap_or(surfaces.len() - 1).min(surfaces.len() - 1);
            let Surface { uniform: numbers, picture } = &surfaces[material];
            let buffer = uniform("material", bytemuck::bytes_of(numbers))?;
            let group =
                group(device, &layouts[2], [buffer.as_entire_binding(), of_view(picture), wgpu::BindingResource::Sampler(&sampler)]);
            draws.push(Draw { run, material, is_two_sided: numbers.is_two_sided == 1, blends: numbers.blends == 1, group });
        }
        draws.sort_by_key(|draw| draw.material);

        let drawn = size.map(|side| side * 2);
        let row = (drawn[0] * PIXEL).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let samples = target(device, drawn, FORMAT, SAMPLES, TextureUsages::RENDER_ATTACHMENT);
        let depth = target(device, drawn, DEPTH, SAMPLES, TextureUsages::RENDER_ATTACHMENT);
        let resolved = target(device, drawn, FORMAT, 1, TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC);
        let bytes = u64::from(row) * u64::from(drawn[1]);
        let back = context.buffer("pixels", bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST)?;
        let columns = upload::to_gltf(&baked.sidecar).to_cols_array_2d();
        let to_gltf = columns.map(|c| [c[0] as f32, c[1] as f32, c[2] as f32, 0.0]);
        context.check()?;
        Ok(Self {
            size,
            mesh,
            to_gltf,
            has_normals: normal.is_some(),
            view,
            groups,
            draws,
            pipelines,
            samples: samples.create_view(&Default::default()),
            resolved,
            depth: depth.create_view(&Default::default()),
            back,
            row,
            notes,
            context,
        })
    }

    /// The adapter.
    pub fn device(&self) -> &crate::report::Device {
        &self.context.description
    }

    /// Draws one picture.
    ///
    /// # Errors
    /// [`Error::Device`] where the driver fails.
    pub fn draw(&self, shot: &Shot<'_>) -> Result<Layers> {
        let camera = shot.camera;
        // From the left above, as one reads; the shadow falls to the right and a little behind.
        let key = camera.direction(-0.55, 0.75, 0.62);
        let fall = (camera.direction(-0.3, 0.4, 0.25) + DVec3::Y * 1.2).normalize_or(DVec3::Y);
        let vector = |v: DVec3| v.as_vec3().to_array();
        let view = ViewUniform {
            projection: camera.matrix().to_cols_array_2d(),
            to_gltf: self.to_gltf,
            clip: shot.clip,
            eye: vector(camera.eye()),
            now: 0.0,
            key: vector(key),
            ground: shot.ground.unwrap_or_default() as f32,
            fall: vector(fall),
            padding: 0.0,
            fill: vector(camera.direction(0.8, 0.15, 0.5)),
            colouring: shot.colouring as u32,
            rim: vector(camera.direction(0.5, 0.5, -0.7)),
            has_normals: self.has_normals.into(),
        };
        self.context.queue.write_buffer(&self.view, 0, bytemuck::bytes_of(&view));
        if let Some(colours) = shot.colours {
            self.context.queue.write_buffer(&self.mesh.colours, 0, bytemuck::cast_slice(colours));
        }
        let model = self.pass(|pass| {
            for (pipelines, only_blended) in [(&self.pipelines.solid, false), (&self.pipelines.clear, true)] {
                for draw in self.draws.iter().filter(|draw| draw.blends || !only_blended) {
                    pass.set_pipeline(&pipelines[usize::from(draw.is_two_sided)]);
                    draw.run_on(pass);
                }
            }
        })?;
        let shadow = match shot.ground.filter(|_| fall.y > 0.3) {
            None => None,
            Some(_) => Some(self.pass(|pass| {
                pass.set_pipeline(&self.pipelines.shadow);
                self.draws.iter().for_each(|draw| draw.run_on(pass));
            })?),
        };
        Ok(Layers { size: self.size, model, shadow })
    }

    /// One pass over an empty picture, and what it left.
    fn pass(&self, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) -> Result<Vec<[f16; 4]>> {
        let context = &self.context;
        let mut encoder = context.device.create_command_encoder(&Default::default());
        let resolved = self.resolved.create_view(&Default::default());
        {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("preview"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &self.samples,
                    depth_slice: None,
                    resolve_target: Some(&resolved),
                    ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), store: wgpu::StoreOp::Discard },
                })],
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view: &self.depth,
                    depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                    stencil_ops: None,
                }),
                ..Default::default()
            });
            pass.set_bind_group(0, &self.groups[0], &[]);
            pass.set_bind_group(1, &self.groups[1], &[]);
            let mesh = &self.mesh;
            for (slot, buffer) in (0..).zip([&mesh.rest, &mesh.lookup, &mesh.uvs, &mesh.colours]) {
                pass.set_vertex_buffer(slot, buffer.slice(..));
            }
            pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
            draw(&mut pass);
        }
        self.read_back(encoder)
    }

    /// Runs the commands and copies the picture.
    fn read_back(&self, mut encoder: CommandEncoder) -> Result<Vec<[f16; 4]>> {
        let context = &self.context;
        let [width, height] = self.size.map(|side| side * 2);
        encoder.copy_texture_to_buffer(
            self.resolved.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.back,
                layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(self.row), rows_per_image: None },
            },
            Extent3d { width, height, depth_or_array_layers: 1 },
        );
        let submission = context.queue.submit([encoder.finish()]);
        let (done, mapped) = channel();
        self.back.map_async(wgpu::MapMode::Read, .., move |result| {
            // nobody listens any more where waiting failed
            let _ = done.send(result);
        });
        context.wait(submission)?;
        let lost = |e: String| context.failed(&format!("the picture did not come back ({e})"));
        mapped.recv().map_err(|e| lost(e.to_string()))?.map_err(|e| lost(e.to_string()))?;
        let mut pixels = Vec::with_capacity(width as usize * height as usize);
        {
            let bytes = self.back.get_mapped_range(..).map_err(|e| lost(e.to_string()))?;
            let row = (width * PIXEL) as usize;
            for line in bytes.chunks_exact(self.row as usize).take(height as usize) {
                pixels.extend(bytemuck::pod_collect_to_vec::<u8, [f16; 4]>(&line[..row]));
            }
        }
        self.back.unmap();
        Ok(pixels)
    }
}

impl Draw {
    fn run_on(&self, pass: &mut wgpu::RenderPass<'_>) {
        let (first, count) = (self.run.first_index as u32, self.run.index_count as u32);
        pass.set_bind_group(2, &self.group, &[]);
        pass.draw_indexed(first..first + count, 0, 0..1);
    }
}

fn target(device: &wgpu::Device, [width, height]: [u32; 2], format: TextureFormat, samples: u32, usage: TextureUsages) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: samples,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}
