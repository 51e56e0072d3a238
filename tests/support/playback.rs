//! Runs playback code as a compute shader on the software adapter, one invocation a case.

use std::sync::{Mutex, PoisonError, mpsc};

use wgpu::util::{BufferInitDescriptor, DeviceExt, TextureDataOrder};
use wgpu::{BufferUsages, TextureUsages};

use super::texture::Image;

/// What a shader reads.
pub enum Resource<'a> {
    Uniform(Vec<u32>),
    Storage(&'a [f32]),
    Texture(&'a Image),
}

/// Invocations of a workgroup: what every shader run here declares.
const GROUP: usize = 64;

/// One software device at a time, as in `bake`.
static SOFTWARE: Mutex<()> = Mutex::new(());

/// Runs the only entry point of a WGSL module for `count` cases. `resources` are the bindings from 0, the binding after them receives
/// `vectors` vec4s a case, which come back.
pub fn run(wgsl: &str, resources: &[Resource<'_>], count: usize, vectors: usize) -> Vec<[f32; 4]> {
    let _one = SOFTWARE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let backends = descriptor.backends;
    let adapters = pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(backends));
    let adapter = adapters.into_iter().find(|a| a.get_info().device_type == wgpu::DeviceType::Cpu).expect("a software adapter (llvmpipe)");
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())).expect("it starts");

    let source = wgpu::ShaderSource::Wgsl(wgsl.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let buffer = |contents: &[u8], usage| device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage });
    let view = |image: &Image| {
        assert_eq!(image.pixel, "rgba16unorm", "what the tests upload");
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
    };
    enum Held {
        Buffer(wgpu::Buffer),
        View(wgpu::TextureView),
    }
    let size = (count * vectors * 16) as u64;
    let output = buffer(&vec![0; size as usize], BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let back = buffer(&vec![0; size as usize], BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let mut held: Vec<Held> = resources
        .iter()
        .map(|resource| match resource {
            Resource::Uniform(words) => Held::Buffer(buffer(bytemuck::cast_slice(words), BufferUsages::UNIFORM)),
            Resource::Storage(floats) => Held::Buffer(buffer(bytemuck::cast_slice(floats), BufferUsages::STORAGE)),
            Resource::Texture(image) => Held::View(view(image)),
        })
        .collect();
    held.push(Held::Buffer(output.clone()));
    let resources = held.iter().map(|held| match held {
        Held::Buffer(buffer) => buffer.as_entire_binding(),
        Held::View(view) => wgpu::BindingResource::TextureView(view),
    });
    let entries: Vec<_> = resources.zip(0..).map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource }).collect();
    let layout = pipeline.get_bind_group_layout(0);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(count.div_ceil(GROUP) as u32, 1, 1);
    }
    encoder.copy_buffer_to_buffer(&output, 0, &back, 0, Some(size));
    queue.submit([encoder.finish()]);
    let (done, mapped) = mpsc::channel();
    back.map_async(wgpu::MapMode::Read, .., move |result| done.send(result).expect("a listener"));
    device.poll(wgpu::PollType::wait_indefinitely()).expect("it ends");
    mapped.recv().expect("an answer").expect("a mapped buffer");
    let bytes = back.get_mapped_range(..).expect("a mapped range");
    bytemuck::pod_collect_to_vec(&bytes)
}
