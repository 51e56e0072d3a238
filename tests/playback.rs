//! The playback code: WGSL and its ports run on a software adapter and must show what the decoder of the tests shows.
//!
//! The bound for a position is four units of 2^-24 of what is added up (rest, scale, bias): one rounding each of texel, product and
//! two sums. For directions, whose length is 1, it is 1e-6. The seams use times and rates that f32 holds exactly.

mod support;

use std::collections::BTreeSet;
use std::process::Command;

use naga::valid::{Capabilities, ValidationFlags, Validator};
use support::decode::{Mode, Texture, V3, Vat, mix, unit};
use support::fixture::{vec3, vec4};
use support::playback::{Resource, run};
use support::{Baked, bake, models};
use vatbake::options::{DeviceChoice, Format, Fps, Looping, Normals, Position};
use vatbake::playback::Language;
use vatbake::{Input, Options};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/bun.glb");
/// Where the part of vat.wgsl begins that a user adapts.
const FETCH: &str = "// ---- The fetch";

/// A module that runs the code of a language on buffers, as WGSL.
fn to_wgsl(language: Language, source: &str) -> String {
    match language {
        Language::Wgsl => format!("{}\n{}", source.split_once(FETCH).expect("the fetch").0, include_str!("playback/check.wgsl")),
        Language::Glsl | Language::Godot => {
            let text = [include_str!("playback/before.glsl"), source, include_str!("playback/check.glsl")].concat();
            let options = naga::front::glsl::Options::from(naga::ShaderStage::Compute);
            let module = naga::front::glsl::Frontend::default().parse(&options, &text);
            write(&module.unwrap_or_else(|e| panic!("{language:?}: {}", e.emit_to_string(&text))))
        }
        Language::Hlsl => {
            let text = [include_str!("playback/before.hlsl"), source, include_str!("playback/check.hlsl")].concat();
            let spirv = glslang(&text, &["-D", "-S", "comp", "-e", "check", "--target-env", "vulkan1.1"]);
            write(&naga::front::spv::parse_u8_slice(&spirv, &Default::default()).expect("SPIR-V"))
        }
    }
}

fn write(module: &naga::Module) -> String {
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(module).expect("a valid module");
    naga::back::wgsl::write_string(module, &info, naga::back::wgsl::WriterFlags::empty()).expect("WGSL")
}

/// Compiles a shader by Khronos's reference compiler.
fn glslang(text: &str, arguments: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let [source, output] = ["shader", "shader.spv"].map(|name| folder.path().join(name));
    std::fs::write(&source, text).expect("a file");
    let made = Command::new("glslangValidator").args(arguments).arg("-o").arg(&output).arg(&source).output();
    let made = made.expect("glslangValidator (on Debian: apt-get install glslang-tools)");
    assert!(made.status.success(), "{}\n{text}", String::from_utf8_lossy(&made.stdout));
    std::fs::read(&output).expect("SPIR-V")
}

/// Lets the same compiler look at OpenGL's dialect, which becomes no SPIR-V.
fn check(text: &str, arguments: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("shader");
    std::fs::write(&source, text).expect("a file");
    let told = Command::new("glslangValidator").args(arguments).arg(&source).output().expect("glslangValidator");
    assert!(told.status.success(), "{}\n{text}", String::from_utf8_lossy(&told.stdout));
}

/// One invocation: a vertex, its instance, and a second clip to fade to.
struct Case {
    rest: V3,
    uv: [f64; 2],
    clip: [f64; 4],
    other: [f64; 4],
    now: f64,
    amount: f64,
}

/// What it found.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shown {
    vertex: usize,
    position: V3,
    normal: V3,
    faded: [V3; 2],
    /// First frame, second frame, blend.
    back: [f64; 3],
}

/// Settings and texels, as the fetch of the tests wants them.
struct Textures {
    settings: Vec<f32>,
    positions: Vec<f32>,
    directions: Vec<f32>,
}

impl Textures {
    /// Those of a bake; directions are the normals or the tangents.
    fn of(vat: &Vat, direction: &Texture) -> Self {
        let code = |names: &[&str], name: &str| names.iter().position(|n| *n == name).unwrap_or_else(|| panic!("encoding {name}")) as f64;
        let lookup = ["lanes", "groups"].map(|key| vat.sidecar["mesh"]["lookup"][key].as_f64().expect("a number"));
        let position = code(&["offset-unorm", "absolute-unorm", "offset-float", "absolute-float"], &vat.position.encoding);
        let normal = code(&["unit-unorm", "unit-float", "alpha-octahedral"], &direction.encoding);
        let sizes = [vat.width, vat.frame_count].map(|v| v as f64);
        let rows = [(vat.position.scale, sizes[0]), (vat.position.bias, sizes[1])];
        let settings = rows.iter().flat_map(|(v, w)| [v[0], v[1], v[2], *w]).chain(lookup).chain([position, normal]);
        let texels = |texture: &Texture| {
            let image = &texture.image;
            let all = (0..image.height).flat_map(|y| (0..image.width).flat_map(move |x| image.shown(x, y)));
            all.map(|v| v as f32).collect()
        };
        Self { settings: settings.map(|v| v as f32).collect(), positions: texels(&vat.position), directions: texels(direction) }
    }

    fn show(&self, wgsl: &str, cases: &[Case]) -> Vec<Shown> {
        let numbers = |c: &Case| {
            let [r, uv] = [&c.rest[..], &c.uv[..]];
            [r, &[c.now], uv, &[c.amount, 0.0], &c.clip, &c.other].concat().into_iter().map(|v| v as f32).collect::<Vec<_>>()
        };
        let cases: Vec<f32> = cases.iter().flat_map(numbers).collect();
        let resources = [&self.settings, &self.positions, &self.directions, &cases].map(|v| Resource::Storage(v));
        let found = run(wgsl, &resources, cases.len() / 16, 5);
        let three = |v: [f32; 4]| [v[0], v[1], v[2]].map(f64::from);
        let shown = |v: &[[f32; 4]]| Shown {
            vertex: v[0][3] as usize,
            position: three(v[0]),
            normal: three(v[1]),
            faded: [three(v[2]), three(v[3])],
            back: three(v[4]),
        };
        found.chunks_exact(5).map(shown).collect()
    }
}

/// Largest distance that rounding allows of a position, by axis.
fn bound(vat: &Vat, rest: V3) -> V3 {
    let noise = 4.0 / f64::from(1 << 24);
    let is_float = vat.position.encoding.ends_with("float");
    // what a float texel holds is at most as far as the bake reaches
    let reach = vat.sidecar["bounds"].as_object().expect("bounds").values().flat_map(|v| support::decode::vector(v).expect("three"));
    let reach = reach.fold(0.0, |most: f64, v| most.max(v.abs()));
    std::array::from_fn(|c| {
        let added = if is_float { 2.0 * reach } else { vat.position.scale[c].abs() + vat.position.bias[c].abs() };
        noise * (rest[c].abs() + added)
    })
}

fn near(what: &str, found: V3, wanted: V3, within: V3) -> Result<(), String> {
    let is_near = (0..3).all(|c| (found[c] - wanted[c]).abs() <= within[c]); // false for NaN
    if is_near { Ok(()) } else { Err(format!("{what}: found {found:?}, wanted {wanted:?} within {within:?}")) }
}

/// Largest distance of a component of a direction.
const DIRECTION: V3 = [1e-6; 3];
/// Largest distance of a port from the WGSL: four units of 2^-23, the last place of a number between 1 and 2, which the sample stays
/// below. A compiler may multiply by a reciprocal where another divides.
const PORT: V3 = [4.0 / (1 << 23) as f64; 3];

/// The sample, few frames of it, cut into blocks.
fn sample(set: impl FnOnce(&mut Options)) -> Baked {
    let mut options = Options { device: DeviceChoice::Cpu, fps: Fps::Rate(3.0), max_size: 2500, ..Options::default() };
    set(&mut options);
    bake::bake(Input::File(SAMPLE.into()), options).expect("the sample bakes")
}

/// The sample in every encoding, and the texture that is looked at besides positions.
fn bakes() -> Vec<(Baked, &'static str)> {
    let plain: [(Format, Position, Normals); 8] = [
        (Format::Png16, Position::Offset, Normals::Separate),
        (Format::Png16, Position::Absolute, Normals::Separate),
        (Format::Png16, Position::Offset, Normals::Alpha),
        (Format::Png8, Position::Offset, Normals::Separate),
        (Format::Exr16, Position::Offset, Normals::Separate),
        (Format::Exr16, Position::Absolute, Normals::Separate),
        (Format::Exr32, Position::Offset, Normals::Separate),
        (Format::Exr32, Position::Absolute, Normals::Separate),
    ];
    let with_normals =
        plain.map(|(format, position, normals)| (sample(|o| (o.format, o.position, o.normals) = (format, position, normals)), "normal"));
    let with_tangents = [Format::Png16, Format::Exr16].map(|format| (sample(|o| (o.format, o.tangents) = (format, true)), "tangent"));
    with_normals.into_iter().chain(with_tangents).collect()
}

/// Every vertex in every frame, by the lookup UV of the mesh.
fn sweep(wgsl: &str, vat: &Vat, role: &str) -> Result<Vec<Shown>, String> {
    let direction = if role == "tangent" { &vat.tangent } else { &vat.normal };
    let textures = Textures::of(vat, direction.as_ref().expect("directions"));
    let places: Vec<_> = vat.lookup.iter().flat_map(|&(uv, vertex)| (0..vat.frame_count).map(move |frame| (uv, vertex, frame))).collect();
    let case = |&(uv, vertex, frame): &([f64; 2], usize, usize)| {
        let clip = [frame as f64, 0.0, 0.0, 0.0];
        Case { rest: vat.rest[vertex], uv, clip, other: clip, now: 1.0, amount: 0.5 }
    };
    let cases: Vec<_> = places.iter().map(case).collect();
    let found = textures.show(wgsl, &cases);
    for ((_, vertex, frame), shown) in places.into_iter().zip(&found) {
        let what = format!("{} vertex {vertex} frame {frame}", vat.position.encoding);
        if shown.vertex != vertex {
            return Err(format!("{what}: took it for {}", shown.vertex));
        }
        near(&what, shown.position, vat.position(frame, vertex), bound(vat, vat.rest[vertex]))?;
        let direction = if role == "tangent" { vat.tangent(frame, vertex) } else { vat.normal(frame, vertex) };
        near(&what, shown.normal, direction, DIRECTION)?;
    }
    Ok(found)
}

#[test]
fn every_texel_of_every_encoding_is_decoded() {
    let ports = Language::ALL.map(|language| (language, to_wgsl(language, language.source())));
    let mut encodings = BTreeSet::new();
    for (baked, role) in bakes() {
        assert!(baked.blocks == 3 && baked.frame_count > 10, "{} blocks, {} frames", baked.blocks, baked.frame_count);
        let direction = if role == "tangent" { &baked.tangent } else { &baked.normal };
        encodings.extend([baked.position.encoding.clone(), direction.as_ref().expect("directions").encoding.clone()]);
        let mut first = None;
        for (language, wgsl) in &ports {
            let found = sweep(wgsl, &baked, role).unwrap_or_else(|e| panic!("{language:?}: {e}"));
            // a port is the same arithmetic; compilers put it into other instructions
            let source = first.get_or_insert_with(|| found.clone());
            for (port, source) in found.iter().zip(source.iter()) {
                near(&format!("{language:?} and WGSL"), port.position, source.position, PORT).unwrap_or_else(|e| panic!("{e}"));
                near(&format!("{language:?} and WGSL"), port.normal, source.normal, PORT).unwrap_or_else(|e| panic!("{e}"));
            }
        }
    }
    let all = ["absolute-float", "absolute-unorm", "alpha-octahedral", "offset-float", "offset-unorm", "unit-float", "unit-unorm"];
    assert_eq!(encodings.into_iter().collect::<Vec<_>>(), all, "the format's table");
}

/// Three clips of 8 frames a second that end far from where they begin: 4 intervals, none, and 5. f32 holds all times exactly.
fn jumps() -> Baked {
    let mut doc = models::rigid(&models::TRIANGLE);
    for (intervals, seed) in [(4, 1.0), (0, 2.0), (5, 3.0)] {
        let keys = || (0..=intervals).map(|k| f64::from(k) + seed);
        let times: Vec<f64> = (0..=intervals).map(|k| f64::from(k) / 8.0).collect();
        let places: Vec<V3> = keys().map(|k| [k * k, (k * 2.0).sin(), k]).collect();
        let turns: Vec<[f64; 4]> = keys().map(|k| [(k * 0.4).sin(), 0.0, 0.0, (k * 0.4).cos()]).collect();
        let channels = [(0, "translation", "LINEAR", &times[..], vec3(&places)), (0, "rotation", "LINEAR", &times[..], vec4(&turns))];
        doc.animate(None, &channels);
    }
    let baked = bake::bake_fixture(&doc, |o| (o.fps, o.looping) = (Fps::Rate(8.0), Looping::None));
    let found: Vec<_> = baked.clips.iter().map(|c| (c.first_frame, c.frame_count)).collect();
    assert_eq!(found, [(0, 5), (5, 1), (6, 6)]);
    assert!(baked.clips[0].fps == 8.0 && baked.clips[2].fps == 8.0);
    baked
}

/// What one case must show: of the clip, of the clip that it fades to, and where a ping-pong is.
struct Wanted {
    clip: (usize, f64, Mode),
    other: (usize, f64, Mode),
    back: (usize, usize, f64),
}

/// Times on frames, between them, and within a thousandth of a second of the ends; turns before and after the first; all modes.
fn seam_cases(vat: &Vat) -> Vec<(usize, Case, Wanted)> {
    let grain = 1.0 / 1024.0;
    let mut cases = Vec::new();
    let mut add = |vertex: usize, clip: [f64; 4], other: [f64; 4], now: f64, wanted: Wanted| {
        let uv = vat.lookup.iter().find(|l| l.1 == vertex).expect("a lookup").0;
        let amount = [0.0, 0.25, 0.5, 1.0][cases.len() % 4];
        cases.push((vertex, Case { rest: vat.rest[vertex], uv, clip, other, now, amount }, wanted));
    };
    let count = vat.clips.len();
    for (index, clip) in vat.clips.iter().enumerate() {
        let intervals = (clip.frame_count - 1) as f64;
        let length = intervals / 8.0;
        let ends = [-3.0, -1.0, 0.0, 1.0, 2.0, 3.0, 8.0].into_iter().flat_map(|k| [-grain, 0.0, grain].map(|d| k * length + d));
        let frames = (0..=clip.frame_count).flat_map(|k| [0.0, 0.5, 0.875].map(|d| (k as f64 + d) / 8.0));
        for (turn, seconds) in ends.chain(frames).enumerate() {
            for (sign, mode) in [(1.0, Mode::Loop), (-1.0, Mode::Once)] {
                let start = [0.0, 2.5, -100.0][turn % 3];
                let next = &vat.clips[(index + 1) % count];
                let other = [next.first_frame as f64, (next.frame_count - 1) as f64, 8.0, start + 0.25];
                let back = if mode == Mode::Once { seconds.clamp(0.0, 2.0 * length) } else { seconds };
                let wanted = Wanted {
                    clip: (index, seconds, mode),
                    other: ((index + 1) % count, seconds - 0.25, Mode::Loop),
                    back: vat.between(index, back, Mode::PingPong),
                };
                add(turn % 3, [clip.first_frame as f64, sign * intervals, 8.0, start], other, start + seconds, wanted);
            }
        }
        // an explicit frame, whatever the time; one that the clip lacks is the nearest
        for (turn, frame) in [0.0, 0.25, 1.0, 2.5, intervals - 0.125, intervals, -1.0, 100.0].into_iter().enumerate() {
            let sign = if turn % 2 == 0 { 1.0 } else { -1.0 };
            let clip = [clip.first_frame as f64, sign * intervals, 0.0, frame];
            let shown = (index, frame / 8.0, Mode::Once);
            let wanted = Wanted { clip: shown, other: shown, back: vat.between(index, frame / 8.0, Mode::Once) };
            add(turn % 3, clip, clip, 7.0, wanted);
        }
    }
    cases
}

fn seams(wgsl: &str, vat: &Vat) -> Result<Vec<Shown>, String> {
    let (cases, wanted): (Vec<_>, Vec<_>) = seam_cases(vat).into_iter().map(|(vertex, case, wanted)| (case, (vertex, wanted))).unzip();
    let found = Textures::of(vat, vat.normal.as_ref().expect("normals")).show(wgsl, &cases);
    for ((case, (vertex, wanted)), shown) in cases.iter().zip(wanted).zip(&found) {
        let what = format!("clip {:?} at {}, {:?} {}", case.clip, case.now, wanted.clip.2, wanted.clip.1);
        // two decoded frames and their blend: three times the rounding of one
        let within = bound(vat, case.rest).map(|v| 3.0 * v);
        let at = |(clip, seconds, mode)| (vat.play(clip, seconds, mode, vertex), vat.play_normal(clip, seconds, mode, vertex));
        let (a, b) = (at(wanted.clip), at(wanted.other));
        near(&what, shown.position, a.0, within)?;
        near(&what, shown.normal, a.1, DIRECTION)?;
        near(&format!("faded, {what}"), shown.faded[0], mix(a.0, b.0, case.amount), within.map(|v| 2.0 * v))?;
        // what almost cancels is left with few digits
        let left = mix(a.1, b.1, case.amount);
        let length = left.iter().map(|v| v * v).sum::<f64>().sqrt();
        near(&format!("faded, {what}"), shown.faded[1], unit(left), DIRECTION.map(|v| v / length))?;
        let back = [wanted.back.0 as f64, wanted.back.1 as f64, wanted.back.2];
        near(&format!("forth and back, {what}"), shown.back, back, [0.0, 0.0, 1e-5])?;
    }
    Ok(found)
}

#[test]
fn modes_and_fades_are_right_at_and_around_the_seams() {
    let baked = jumps();
    for language in Language::ALL {
        let found = seams(&to_wgsl(language, language.source()), &baked).unwrap_or_else(|e| panic!("{language:?}: {e}"));
        assert!(found.len() > 200, "{}", found.len());
    }
}

/// The middle between two opposite normals is no direction: a finite one all the same.
#[test]
fn opposite_normals_fade_without_a_hole() {
    // one vertex, two frames, offset-float and unit-float
    let settings = vec![1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0, 1.0, 1.0, 2.0, 1.0];
    let textures = Textures { settings, positions: vec![0.0; 8], directions: vec![0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0] };
    let clip = |frame: f64| [frame, 0.0, 0.0, 0.0];
    let case = Case { rest: [1.0, 2.0, 3.0], uv: [0.5, 0.5], clip: clip(0.0), other: clip(1.0), now: 0.0, amount: 0.5 };
    for language in Language::ALL {
        let found = textures.show(&to_wgsl(language, language.source()), std::slice::from_ref(&case));
        assert_eq!(
            (found[0].position, found[0].normal, found[0].faded[1]),
            ([1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
            "{language:?}"
        );
    }
}

/// A constant that is wrong by little is found, in every language.
#[test]
fn a_wrong_constant_fails_the_comparison() {
    let (alpha, jumps) = (sample(|o| o.normals = Normals::Alpha), jumps());
    let plain = sample(|_| ());
    let wrong = [
        ("alpha * 65535.0", "alpha * 65534.0"),
        ("/ 255.0 * 2.0", "/ 256.0 * 2.0"),
        ("texel.xyz * 2.0 - 1.0", "texel.xyz * 2.0 - 1.0001"),
        ("rest + value", "rest + value * 1.0001"),
        ("below + 1.0", "below + 2.0"),
        ("2.0 * intervals", "intervals"),
        ("bake.width * bake.frames + frame", "bake.width * bake.frames"),
        ("frames.blend)", "floor(frames.blend))"),
    ];
    for language in Language::ALL {
        for (right, instead) in wrong {
            let source = language.source();
            assert_eq!(source.matches(right).count(), 1, "{language:?}: {right}");
            let wgsl = to_wgsl(language, &source.replace(right, instead));
            let tried = [sweep(&wgsl, &alpha, "normal"), sweep(&wgsl, &plain, "normal"), seams(&wgsl, &jumps)];
            assert!(tried.iter().any(Result::is_err), "{language:?}: {instead} for {right} was not found");
        }
    }
}

/// The part that the tests replace compiles as it is printed.
#[test]
fn the_fetch_of_each_language_compiles() {
    // as it is printed, and with the change that its comment asks for where texels are floats or 8 bits
    let source = Language::Wgsl.source();
    for text in [source.to_owned(), source.replace("texture_2d<u32>;", "texture_2d<f32>;").replace("at, 0)) / 65535.0", "at, 0))")] {
        let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
        Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).expect("a valid module");
    }

    let glsl = "in vec3 rest; in vec2 uv; in vec4 clip; uniform float now;
        void main() { VatPose pose = vat_pose(vat_bake, rest, uv, clip, now); gl_Position = vec4(pose.position + pose.normal, 1.0); }";
    for version in ["#version 300 es", "#version 450"] {
        check(&[version, Language::Glsl.source(), glsl].join("\n"), &["-S", "vert"]);
    }
    // Godot's language is GLSL but for hints behind uniforms; that is all that the shim takes away
    let hints = " : filter_nearest, repeat_disable;";
    assert_eq!(Language::Godot.source().matches(hints).count(), 2);
    let source = Language::Godot.source().replace(hints, ";");
    check(&["#version 450", &source, &glsl.replace("vat_bake,", "vat_bake(),")].join("\n"), &["-S", "vert"]);

    let hlsl = "float now;
        float4 show(float3 rest : POSITION, float2 uv : TEXCOORD1, float4 clip : TEXCOORD2) : SV_Position {
            VatPose pose = vat_pose(vat_bake, rest, uv, clip, now); return float4(pose.position + pose.normal, 1.0); }";
    let arguments = ["-D", "-S", "vert", "-e", "show", "--auto-map-locations", "--target-env", "vulkan1.1"];
    glslang(&[Language::Hlsl.source(), hlsl].concat(), &arguments);
}
