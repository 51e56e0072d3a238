//! The pipelines that draw a bake, and the layouts of what they read.

use wgpu::{BindGroup, BindGroupLayout, RenderPipeline, ShaderModule};

use super::render::{DEPTH, FORMAT, SAMPLES};

/// By whether back faces are shown.
#[derive(Debug)]
pub struct Pipelines {
    /// What hides what is behind it.
    pub solid: [RenderPipeline; 2],
    /// What is blended over it.
    pub clear: [RenderPipeline; 2],
    /// The shadow on the ground.
    pub shadow: RenderPipeline,
}

impl Pipelines {
    /// Compiles them.
    pub fn new(device: &wgpu::Device, module: &ShaderModule, layouts: &[BindGroupLayout; 3]) -> Self {
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("preview"),
            bind_group_layouts: &layouts.each_ref().map(Some),
            immediate_size: 0,
        });
        let pipeline = |vertex: &str, fragment: &str, shows_backs: bool, writes_depth: bool| {
            use wgpu::VertexFormat::{Float32x2, Float32x3, Unorm8x4};
            let attributes = [(Float32x3, 0), (Float32x2, 1), (Float32x2, 2), (Unorm8x4, 3)]
                .map(|(format, shader_location)| [wgpu::VertexAttribute { format, offset: 0, shader_location }]);
            let buffers = attributes.each_ref().map(|attributes| {
                let array_stride = attributes[0].format.size();
                Some(wgpu::VertexBufferLayout { array_stride, step_mode: wgpu::VertexStepMode::Vertex, attributes })
            });
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(fragment),
                layout: Some(&layout),
                vertex: wgpu::VertexState { module, entry_point: Some(vertex), compilation_options: Default::default(), buffers: &buffers },
                primitive: wgpu::PrimitiveState { cull_mode: (!shows_backs).then_some(wgpu::Face::Back), ..Default::default() },
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(writes_depth),
                    depth_compare: Some(wgpu::CompareFunction::Less),
                    stencil: Default::default(),
                    bias: Default::default(),
                }),
                multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
                fragment: Some(wgpu::FragmentState {
                    module,
                    entry_point: Some(fragment),
                    compilation_options: Default::default(),
                    targets: &[Some(wgpu::ColorTargetState {
                        format: FORMAT,
                        blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                        write_mask: wgpu::ColorWrites::ALL,
                    })],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        Self {
            solid: [false, true].map(|backs| pipeline("show_model", "paint_solid", backs, true)),
            clear: [false, true].map(|backs| pipeline("show_model", "paint_clear", backs, false)),
            shadow: pipeline("show_shadow", "paint_shadow", true, false),
        }
    }
}

fn entry(binding: u32, visibility: wgpu::ShaderStages, ty: wgpu::BindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None }
}

const UNIFORM: wgpu::BindingType =
    wgpu::BindingType::Buffer { ty: wgpu::BufferBindingType::Uniform, has_dynamic_offset: false, min_binding_size: None };

fn texture_type(sample_type: wgpu::TextureSampleType) -> wgpu::BindingType {
    wgpu::BindingType::Texture { sample_type, view_dimension: wgpu::TextureViewDimension::D2, multisampled: false }
}

fn layout(device: &wgpu::Device, entries: &[wgpu::BindGroupLayoutEntry]) -> BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("preview"), entries })
}

/// Uniforms and textures of the bake; `floats` says which textures are read as floats.
pub fn bake_layout(device: &wgpu::Device, floats: [bool; 2]) -> BindGroupLayout {
    let kind = |is_float: bool| match is_float {
        true => texture_type(wgpu::TextureSampleType::Float { filterable: false }),
        false => texture_type(wgpu::TextureSampleType::Uint),
    };
    let vertex = wgpu::ShaderStages::VERTEX;
    layout(device, &[entry(0, vertex, UNIFORM), entry(1, vertex, kind(floats[0])), entry(2, vertex, kind(floats[1]))])
}

/// The view.
pub fn view_layout(device: &wgpu::Device) -> BindGroupLayout {
    layout(device, &[entry(0, wgpu::ShaderStages::VERTEX_FRAGMENT, UNIFORM)])
}

/// A material, its picture and how that is sampled.
pub fn material_layout(device: &wgpu::Device) -> BindGroupLayout {
    let fragment = wgpu::ShaderStages::FRAGMENT;
    let picture = texture_type(wgpu::TextureSampleType::Float { filterable: true });
    let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
    layout(device, &[entry(0, fragment, UNIFORM), entry(1, fragment, picture), entry(2, fragment, sampler)])
}

/// Resources in the order of their bindings.
pub fn group<const N: usize>(device: &wgpu::Device, layout: &BindGroupLayout, resources: [wgpu::BindingResource<'_>; N]) -> BindGroup {
    let entries: Vec<_> = (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("preview"), layout, entries: &entries })
}
