//! Runs a playback shader's `deform` on the software adapter, one invocation a case.

use std::sync::mpsc;

use wgpu::util::{BufferInitDescriptor, DeviceExt, TextureDataOrder};
use wgpu::{BufferUsages, TextureUsages};

use super::decode::V3;
use super::texture::Image;

/// Calls the shader: rest, UV, clock and instance of each case in, position and normal out.
const ENTRY: &str = "
struct Case { rest: vec3f, u: f32, v: f32, now: f32, padding: vec2f, instance: vec4f }
@group(0) @binding(3) var<storage, read> cases: array<Case>;
@group(0) @binding(4) var<storage, read_write> results: array<vec4f>;

@compute @workgroup_size(1)
fn check(@builtin(global_invocation_id) id: vec3u) {
    let given = cases[id.x];
    let deformed = deform(given.rest, vec2f(given.u, given.v), given.instance, given.now);
    results[id.x * 2] = vec4f(deformed.position, 0.0);
    results[id.x * 2 + 1] = vec4f(deformed.normal, 0.0);
}
";
/// Floats of a case.
const CASE: usize = 12;

/// Positions and normals that `deform` finds. `shader` declares the uniform, the position and the normal texture as bindings 0 to 2.
pub fn run(shader: &str, uniform: &[u32], textures: [&Image; 2], cases: &[f32]) -> Vec<(V3, V3)> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let backends = descriptor.backends;
    let adapters = pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(backends));
    let adapter = adapters.into_iter().find(|a| a.get_info().device_type == wgpu::DeviceType::Cpu).expect("a software adapter (llvmpipe)");
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())).expect("it starts");

    let source = wgpu::ShaderSource::Wgsl(format!("{shader}{ENTRY}").into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("check"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let buffer = |contents: &[u8], usage| device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage });
    let count = cases.len() / CASE;
    let (uniform, input) =
        (buffer(bytemuck::cast_slice(uniform), BufferUsages::UNIFORM), buffer(bytemuck::cast_slice(cases), BufferUsages::STORAGE));
    let output = buffer(&vec![0; count * 32], BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let back = buffer(&vec![0; count * 32], BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let views = textures.map(|image| {
        let texture = wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: image.width as u32, height: image.height as u32, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba16Uint,
            usage: TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        };
        device.create_texture_with_data(&queue, &texture, TextureDataOrder::LayerMajor, &image.bytes()).create_view(&Default::default())
    });
    let resources = [
        uniform.as_entire_binding(),
        wgpu::BindingResource::TextureView(&views[0]),
        wgpu::BindingResource::TextureView(&views[1]),
        input.as_entire_binding(),
        output.as_entire_binding(),
    ];
    let entries: Vec<_> = resources.into_iter().zip(0..).map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource }).collect();
    let layout = pipeline.get_bind_group_layout(0);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(count as u32, 1, 1);
    }
    encoder.copy_buffer_to_buffer(&output, 0, &back, 0, Some(count as u64 * 32));
    queue.submit([encoder.finish()]);
    let (done, mapped) = mpsc::channel();
    back.map_async(wgpu::MapMode::Read, .., move |result| done.send(result).expect("a listener"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("it ends");
    mapped.recv().expect("an answer").expect("a mapped buffer");
    let bytes = back.get_mapped_range(..).expect("a mapped range");
    let values: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
    let vector = |v: &[f32]| [v[0], v[1], v[2]].map(f64::from);
    values.chunks_exact(8).map(|v| (vector(v), vector(&v[4..]))).collect()
}
