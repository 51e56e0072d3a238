//! The passes alone, over a character made in code (7,000 vertices x 3,000 frames), on the CPU twin and on every adapter that is
//! present (llvmpipe among them). Rates are texels a second, that is vertices times frames; nothing is encoded or written.
//!
//! | group | what is measured | floor |
//! | --- | --- | --- |
//! | `pose` | sampling all frames' palettes: joints times frames a second | `copy`: copying as many bytes of palettes |
//! | `bounds` | pass 1: the ranges of every clip; palettes are sampled before | none: it writes nothing |
//! | `texels` | pass 2: positions and normals as 16-bit integers, read back, handed to a sink that drops them | `copy`: copying as many bytes of texels |

mod crowd;

use std::time::Duration;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use crowd::{Crowd, FRAMES, JOINTS, TEXELS};
use vatbake::encode::Texel;
use vatbake::options::WorkLimits;
use vatbake::pose::sample_times;
use vatbake::skin::Backend;
use vatbake::skin::cpu::Cpu;
use vatbake::skin::gpu::Gpu;
use vatbake::{Result, Silent};

/// Memory of the bounds pass: a bake's default.
const MEMORY: u64 = 512 << 20;

fn passes(c: &mut Criterion) {
    run(c).expect("the passes run");
}

fn run(c: &mut Criterion) -> Result<()> {
    let scene = crowd::scene();
    let crowd = Crowd::new(&scene)?;
    let times = crowd.times();

    let mut group = c.benchmark_group("pose");
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements((JOINTS * FRAMES) as u64));
    group.bench_function("sample", |b| b.iter(|| sample_times(&crowd.poser, &times)));
    let palettes = sample_times(&crowd.poser, &times).palettes;
    let mut copy = palettes.clone();
    group.bench_function("copy", |b| b.iter(|| copy.copy_from_slice(std::hint::black_box(&palettes))));
    group.finish();
    drop((palettes, copy));

    let poses = crowd.poses();
    let job = crowd.job(&poses);
    let encoding = crowd.encoding(Texel::Uint)?;
    let mut backends: Vec<Box<dyn Backend>> = vec![Box::new(Cpu)];
    for adapter in adapters() {
        backends.push(Box::new(Gpu::start(&adapter, WorkLimits::default())?));
    }

    let mut group = c.benchmark_group("bounds");
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(TEXELS));
    for backend in &mut backends {
        let name = backend.device().name;
        group.bench_function(name, |b| b.iter(|| backend.bounds(&job, MEMORY, &mut Silent).expect("ranges")));
    }
    group.finish();

    let mut group = c.benchmark_group("texels");
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(TEXELS));
    for backend in &mut backends {
        let name = backend.device().name;
        let chunks = crowd.chunks(&job, backend.as_ref())?;
        group.bench_function(name, |b| {
            b.iter(|| backend.texels(&job, &encoding, &chunks, &mut Silent, &mut |_| Ok(())).expect("texels"));
        });
    }
    // Positions and normals of a chunk, over and over: what the passes do too, with their buffers.
    let chunk = vec![1_u8; (2 * Texel::Uint.bytes()) << 20];
    let mut copy = chunk.clone();
    let bytes = TEXELS as usize * 2 * Texel::Uint.bytes();
    group.bench_function("copy", |b| {
        b.iter(|| {
            for first in (0..bytes).step_by(chunk.len()) {
                let now = chunk.len().min(bytes - first);
                copy[..now].copy_from_slice(std::hint::black_box(&chunk[..now]));
            }
        });
    });
    group.finish();
    Ok(())
}

fn adapters() -> Vec<wgpu::Adapter> {
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(backends))
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    targets = passes
}
criterion_main!(benches);
