//! Any bytes: read as a model and, where that succeeds, baked on the CPU without writing. What may not happen: a panic, a hang, an
//! address out of bounds, much memory, a number in the report that is not finite.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vatbake::options::{DeviceChoice, Format, Fps};
use vatbake::warning::Warnings;
use vatbake::{Error, Input, Options, Request, Silent, bake, source};

fuzz_target!(|bytes: &[u8]| {
    let input = Input::Bytes { name: "fuzz.glb".into(), bytes: bytes.to_vec() };
    if let Err(error) = source::read(&input, &source::Settings::default(), &mut Warnings::default()) {
        assert!(matches!(error, Error::Model { .. }), "an odd refusal: {error:?}");
        return;
    }
    let options = Options {
        device: DeviceChoice::Cpu,
        format: Format::Exr32,
        fps: Fps::Rate(10.0),
        allow_static: true,
        max_size: 64,
        dry_run: true,
        ..Options::default()
    };
    if let Ok(report) = bake(&Request { input, output: "nowhere".into(), options }, &mut Silent) {
        assert!(report.bounds.iter().flatten().all(|v| v.is_finite()), "{:?}", report.bounds);
        assert!(report.textures.iter().all(|t| t.error_rms.is_finite()), "{:?}", report.textures);
    }
});
