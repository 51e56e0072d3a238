//! The texture encoders, fed with 256 rows of a character made in code (7,000 texels a row, deformed by the CPU twin). Rates are
//! bytes of texels a second, before compression.
//!
//! | group | what is measured |
//! | --- | --- |
//! | `png` | 16 and 8 bits, into memory that is thrown away |
//! | `exr` | half and float, into memory |
//! | `floor` | `copy`: copying the same bytes; `file`: writing them to a new file in the temporary folder, as they are |

mod crowd;

use std::io::{Cursor, Write};
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main, measurement::WallTime};
use crowd::Crowd;
use half::f16;
use vatbake::Result;
use vatbake::encode::Texel;
use vatbake::output::{exr, png};

/// Rows of the textures that are encoded.
const ROWS: usize = 256;

fn encoders(c: &mut Criterion) {
    run(c).expect("the encoders run");
}

fn run(c: &mut Criterion) -> Result<()> {
    let scene = crowd::scene();
    let crowd = Crowd::new(&scene)?;
    let (uint, width) = crowd.rows(&crowd.encoding(Texel::Uint)?, ROWS)?;
    let (float, _) = crowd.rows(&crowd.encoding(Texel::Float)?, ROWS)?;
    let sixteen: Vec<u16> = bytemuck::pod_collect_to_vec(&uint);
    let eight: Vec<u16> = sixteen.iter().map(|v| v >> 8).collect();
    let float: Vec<f32> = bytemuck::pod_collect_to_vec(&float);
    let halves: Vec<f16> = float.iter().map(|&v| f16::from_f32(v)).collect();
    let (width, height) = (width as u32, ROWS as u32);

    let mut group = c.benchmark_group("png");
    for (name, texels, depth, bytes) in [("16 bits", &sixteen, png::Depth::Sixteen, 2), ("8 bits", &eight, png::Depth::Eight, 1)] {
        prepare(&mut group, texels.len() * bytes);
        group.bench_function(name, |b| {
            b.iter(|| -> Result<u32> {
                let mut writer = png::PngWriter::new(std::io::sink(), "bench.png", width, height, depth)?;
                writer.write_rows(texels)?;
                writer.finish()
            });
        });
    }
    group.finish();

    let mut group = c.benchmark_group("exr");
    let mut file = Vec::new();
    prepare(&mut group, halves.len() * 2);
    group.bench_function("half", |b| {
        b.iter(|| -> Result<u32> {
            let mut writer = exr::ExrWriter::new(Cursor::new(&mut file), "bench.exr", width, height, exr::Depth::Half)?;
            writer.write_rows_half(&halves)?;
            writer.finish()
        });
    });
    prepare(&mut group, float.len() * 4);
    group.bench_function("float", |b| {
        b.iter(|| -> Result<u32> {
            let mut writer = exr::ExrWriter::new(Cursor::new(&mut file), "bench.exr", width, height, exr::Depth::Float)?;
            writer.write_rows_float(&float)?;
            writer.finish()
        });
    });
    group.finish();

    let mut group = c.benchmark_group("floor");
    prepare(&mut group, uint.len());
    let mut copy = uint.clone();
    group.bench_function("copy", |b| b.iter(|| copy.copy_from_slice(std::hint::black_box(&uint))));
    group.bench_function("file", |b| {
        b.iter(|| {
            let mut file = tempfile::tempfile().expect("a temporary file");
            file.write_all(&uint).expect("room for it");
        });
    });
    group.finish();
    Ok(())
}

fn prepare(group: &mut BenchmarkGroup<'_, WallTime>, bytes: usize) {
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Bytes(bytes as u64));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    targets = encoders
}
criterion_main!(benches);
