//! Whole bakes of the sample in `assets/`, through the library.
//!
//! | group | what is measured | floor |
//! | --- | --- | --- |
//! | `bake` | everything from the model's bytes to the renamed set, with the default options, on the CPU twin and on the software adapter where there is one (its start included): texels a second | `files`: writing as many bytes as the set has, one file |
//! | `read` | the reader alone, from memory: bytes of the GLB a second | `copy`: copying the same bytes |

use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use vatbake::options::DeviceChoice;
use vatbake::source::{Settings, read};
use vatbake::warning::Warnings;
use vatbake::{Input, Options, Request, Result, Silent};

fn bakes(c: &mut Criterion) {
    run(c).expect("the sample bakes");
}

fn run(c: &mut Criterion) -> Result<()> {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/bun.glb");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let request = |device| Request {
        input: Input::File(model.clone()),
        output: folder.path().to_path_buf(),
        options: Options { device, ..Options::default() },
    };

    let mut group = c.benchmark_group("bake");
    let report = vatbake::bake(&request(DeviceChoice::Cpu), &mut Silent)?;
    let texels = (report.vertex_count * report.frame_count) as u64;
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(texels));
    let mut devices = vec![("cpu", DeviceChoice::Cpu)];
    if vatbake::devices(&DeviceChoice::Software).is_ok() {
        devices.push(("software", DeviceChoice::Software));
    }
    for (name, device) in devices {
        let request = request(device);
        group.bench_function(name, |b| b.iter(|| vatbake::bake(&request, &mut Silent).expect("a bake")));
    }
    let bytes: u64 = report.files.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum();
    let bytes = vec![1_u8; bytes as usize];
    let path = folder.path().join("floor");
    group.bench_function("files", |b| b.iter(|| std::fs::write(&path, &bytes).expect("room for it")));
    group.finish();

    let mut group = c.benchmark_group("read");
    let bytes = std::fs::read(&model).expect("the sample");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    let input = Input::Bytes { name: "bun.glb".into(), bytes: bytes.clone() };
    group.bench_function("read", |b| b.iter(|| read(&input, &Settings::default(), &mut Warnings::default()).expect("the sample is sound")));
    let mut copy = bytes.clone();
    group.bench_function("copy", |b| b.iter(|| copy.copy_from_slice(std::hint::black_box(&bytes))));
    group.finish();
    Ok(())
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    targets = bakes
}
criterion_main!(benches);
