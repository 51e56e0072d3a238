//! The kit for three.js, played in headless Chromium by three.js itself, beside three.js's own skinning of the original model.
//!
//! The kit runs as it is written: its vat.js, its page, the stock loaders. Limits are shares of the picture; each has a twin that
//! must be over it (another moment, another clip, the box or the normals of the rest pose).

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use serde_json::{Value, json};
use support::browser::{self, Page};
use support::{Doc, bake, models, oracle, vec2, vec3, vec4};
use tempfile::TempDir;
use vatbake::options::{DeviceChoice, Format, Fps, Normals, Position};
use vatbake::output::sidecar::{self, Role, Sidecar};
use vatbake::targets::{Kit, Target, three::THREE};
use vatbake::{Input, Options, Request, Silent};

/// Share of the picture's pixels in which two silhouettes may differ.
const SILHOUETTE: f64 = 0.005;

/// Share that a figure has to cover, so that the above means something.
const COVERED: f64 = 0.1;

/// Mean difference of a colour channel, of 255, where both silhouettes are.
const COLOUR: f64 = 2.0;

/// Moments of a clip, as shares of its length: the start, and four within.
const TIMES: [f64; 5] = [0.0, 0.21, 0.43, 0.66, 0.87];

/// Given models, two clips each, at the rate of their keys, so that what is compared is the playback and not the rate.
/// One without normals and indices; one of skins and rigid parts, with a picture; one of skins, morphs, rigid parts and three materials;
/// one of morphs whose clips begin late and whose lookup is TEXCOORD_2.
const MODELS: &[(&str, [&str; 2])] = &[
    ("Fox", ["Walk", "Survey"]),
    ("KayKit-Knight", ["Walking_A", "Cheer"]),
    ("RobotExpressive", ["Running", "Wave"]),
    ("MorphStressTest", ["Pulse", "TheWave"]),
];

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("browser/tells-errors", tells_errors),
        Trial::test("browser/is-stopped", is_stopped),
        Trial::test("files/versions-agree", versions_agree),
        Trial::test("files/snapshot", snapshot),
        Trial::test("files/node-reads-them", node_reads_them),
        Trial::test("sample/silhouettes", || silhouettes(&sample(|_| ())?, SILHOUETTE)),
        Trial::test("sample/shadows", shadows),
        Trial::test("cubes/crowd", crowd),
        Trial::test("sample/time", time),
        Trial::test("cubes/page", page_runs),
        Trial::test("sample/encodings", encodings),
        Trial::test("refused/16-bit-png", refuses_png16),
        Trial::test("triangle/culling", culling),
        Trial::test("square/tangents", tangents),
    ];
    match oracle::models() {
        Some(given) => {
            for (name, clips) in MODELS {
                let model = oracle::find(&given, name);
                let file = model.file;
                trials.push(Trial::test(format!("model/{name}"), move || {
                    silhouettes(&Stage::bake(&file, |o| (o.clips, o.fps) = (clips.map(String::from).into(), Fps::Source))?, SILHOUETTE)
                }));
            }
        }
        None => trials.push(oracle::without_data()),
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// A bake with its kit, and the model that it was made from.
struct Stage {
    _folder: TempDir,
    /// Where bake and kit lie.
    kit: PathBuf,
    model: PathBuf,
    name: String,
    sidecar: Sidecar,
}

impl Stage {
    /// As `--for three` has it; a format that browsers do not load is baked for nobody and gets the kit's text files.
    fn bake(model: &Path, set: impl FnOnce(&mut Options)) -> Result<Self, Failed> {
        let folder = tempfile::tempdir()?;
        let mut options = Options { targets: vec![Target::Three], device: DeviceChoice::Cpu, ..Options::default() };
        set(&mut options);
        let by_hand = options.targets.is_empty();
        let request = Request { input: Input::File(model.to_owned()), output: folder.path().to_owned(), options };
        let report = vatbake::bake(&request, &mut Silent).map_err(|e| e.to_string())?;
        let file = bake::sidecar_of(&report);
        let sidecar = sidecar::read(&std::fs::read(&file)?).map_err(|e| e.to_string())?;
        let name = file.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_suffix(".vat.json")).ok_or("a name")?.to_owned();
        let files = if by_hand { Target::Three.files(&Kit { name: &name, sidecar: &sidecar }) } else { Vec::new() };
        for file in files {
            std::fs::write(folder.path().join(file.name), file.text)?;
        }
        let kit = if by_hand { folder.path().to_owned() } else { folder.path().join("three") };
        Ok(Self { _folder: folder, kit, model: model.to_owned(), name, sidecar })
    }

    /// Runs a check of stage.js. What the page logs as an error or a warning fails it.
    fn check<T: for<'a> Deserialize<'a>>(&self, check: &str, more: Value) -> Result<T, Failed> {
        let visit = self.visit(check, more)?;
        // Reading pixels back is what these checks do.
        let warnings: Vec<_> = visit.warnings.iter().filter(|w| !w.contains("GPU stall due to ReadPixels")).collect();
        if !visit.errors.is_empty() || !warnings.is_empty() {
            return Err(format!("the page logged errors {:?} and warnings {warnings:?}", visit.errors).into());
        }
        Ok(serde_json::from_value(visit.value)?)
    }

    fn visit(&self, check: &str, more: Value) -> Result<browser::Visit, String> {
        let mut input = json!({
            "check": check, "name": self.name, "bake": self.kit, "times": TIMES, "version": THREE,
            "model": self.model.parent(), "model_file": self.model.file_name().map(|n| n.to_string_lossy()),
        });
        if let (Value::Object(input), Value::Object(more)) = (&mut input, more) {
            input.extend(more);
        }
        browser::run("three.mjs", &input, browser::TIMEOUT)
    }
}

fn sample_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/bun.glb")
}

fn sample(set: impl FnOnce(&mut Options)) -> Result<Stage, Failed> {
    Stage::bake(&sample_file(), set)
}

fn expect(what: bool, text: impl FnOnce() -> String) -> Result<(), Failed> {
    if what { Ok(()) } else { Err(text().into()) }
}

/// One moment of one clip, against the original.
#[derive(Debug, Deserialize)]
struct Moment {
    clip: String,
    seconds: f64,
    /// Share of the picture that the original covers.
    covered: f64,
    /// Share of the picture that only one of the two covers.
    differ: f64,
    /// The same as a share of the figure.
    of_figure: f64,
    /// Mean difference of a channel, of 255, where both are.
    colour: f64,
    /// `differ` a quarter of the clip later.
    late: f64,
    /// `differ` in another clip.
    other: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Silhouettes {
    results: Vec<Moment>,
    /// `colour` with the normals of the rest pose, in the third moment of the first clip.
    resting: f64,
    primitives: usize,
}

fn silhouettes(stage: &Stage, limit: f64) -> Result<(), Failed> {
    let found: Silhouettes = stage.check("silhouettes", json!({}))?;
    expect(found.results.len() == TIMES.len() * stage.sidecar.clips.len(), || format!("{} pictures", found.results.len()))?;
    expect(found.primitives > 0, || "nothing is drawn".into())?;
    for moment in &found.results {
        let at = format!("{} s into {:?}: {moment:?}", moment.seconds, moment.clip);
        expect(moment.covered >= COVERED, || format!("the figure is too small {at}"))?;
        expect(moment.differ < limit, || format!("silhouettes differ {at}"))?;
        expect(moment.late > limit, || format!("a quarter of the clip later looks the same {at}"))?;
    }
    // Clips may share a pose, above all their first.
    for clip in &stage.sidecar.clips {
        let of_clip = found.results.iter().filter(|m| Some(&m.clip) == clip.name.as_ref());
        let alike = of_clip.filter(|m| m.other.is_some_and(|other| other <= limit)).count();
        expect(alike <= 1, || format!("another clip than {:?} looks the same at {alike} moments", clip.name))?;
    }
    if stage.sidecar.textures.iter().any(|t| t.role == Role::Normal) {
        let most = found.results.iter().map(|m| m.colour).fold(0.0, f64::max);
        expect(most < COLOUR, || format!("the shading differs by {most}"))?;
        expect(found.resting > 2.0 * most, || {
            format!("with the normals of the rest pose the shading is as near: {} and {most}", found.resting)
        })?;
    }
    let worst = |of: fn(&Moment) -> f64| found.results.iter().map(of).fold(0.0, f64::max);
    println!(
        "{}: at most {:.3} % of the picture, {:.2} % of the figure; colours by {:.2}, with normals at rest {:.2}",
        stage.name,
        100.0 * worst(|m| m.differ),
        100.0 * worst(|m| m.of_figure),
        worst(|m| m.colour),
        found.resting
    );
    Ok(())
}

#[derive(Debug, Deserialize)]
struct Shadow {
    covered: f64,
    differ: f64,
    late: f64,
    /// `differ` without the kit's depth materials.
    resting: f64,
}

#[derive(Debug, Deserialize)]
struct Shadows {
    directional: Shadow,
    point: Shadow,
}

/// Shadows are the animated pose's.
fn shadows() -> Result<(), Failed> {
    let found: Shadows = sample(|_| ())?.check("shadows", json!({}))?;
    for shadow in [found.directional, found.point] {
        expect(shadow.covered > 0.01, || format!("hardly a shadow: {shadow:?}"))?;
        expect(shadow.differ < SILHOUETTE / 2.0, || format!("shadows differ: {shadow:?}"))?;
        expect(shadow.late > SILHOUETTE / 2.0, || format!("a shadow that stands still: {shadow:?}"))?;
        expect(shadow.resting > SILHOUETTE / 2.0, || format!("the shadow of the rest pose is the same: {shadow:?}"))?;
    }
    Ok(())
}

#[derive(Debug, Deserialize)]
struct Crowd {
    calls: u64,
    triangles: u64,
    alone: u64,
    primitives: u64,
    covered: f64,
    moved: f64,
}

/// Two cubes of two materials, in two clips: little work for a software adapter.
fn cubes() -> Result<Stage, Failed> {
    let mut doc = Doc::new();
    let colours = [[0.9, 0.2, 0.1, 1.0], [0.1, 0.3, 0.9, 1.0]];
    for (k, colour) in colours.into_iter().enumerate() {
        let mesh = models::cube(&mut doc);
        let material = doc.push("materials", json!({ "pbrMetallicRoughness": { "baseColorFactor": colour } }));
        doc.json["meshes"][mesh]["primitives"][0]["material"] = json!(material);
        doc.root(json!({ "mesh": mesh, "translation": [3.0 * k as f64, 0.0, 0.0] }));
    }
    let turn = || vec4(&[[0.0, 0.0, 0.0, 1.0], models::QUARTER_Z]);
    doc.animate(Some("left turns"), &[(0, "rotation", "LINEAR", &[0.0, 1.0], turn())]);
    doc.animate(Some("right turns"), &[(1, "rotation", "LINEAR", &[0.0, 1.0], turn())]);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("two cubes & more.glb");
    std::fs::write(&file, doc.to_glb())?;
    Stage::bake(&file, |_| ())
}

/// A thousand instances are one draw call a material.
fn crowd() -> Result<(), Failed> {
    let stage = cubes()?;
    let found: Crowd = stage.check("crowd", json!({}))?;
    expect(found.calls == 2 && found.primitives == 2, || format!("draw calls: {found:?}"))?;
    expect(found.alone == 24 && found.triangles == 24_000, || format!("triangles: {found:?}"))?;
    expect(found.covered > COVERED && found.moved > SILHOUETTE, || format!("a crowd that is not there or stands still: {found:?}"))
}

#[derive(Debug, Deserialize)]
struct Fade {
    begin: f64,
    middle: [f64; 2],
    end: f64,
    apart: f64,
}

#[derive(Debug, Deserialize)]
struct Time {
    later: f64,
    uneven: f64,
    frame: f64,
    twice: f64,
    held: [f64; 2],
    moving: f64,
    fade: Fade,
    refused: String,
}

/// Long clocks, held frames, once, speed and cross-fades.
fn time() -> Result<(), Failed> {
    let found: Time = sample(|_| ())?.check("time", json!({}))?;
    let same = |d: f64| d < 1e-4; // a few pixels of rounding
    let other = |d: f64| d > SILHOUETTE;
    expect(same(found.later) && other(found.uneven), || format!("a year later: {found:?}"))?;
    expect(same(found.frame) && same(found.twice), || format!("a held frame, and twice the speed: {found:?}"))?;
    expect(found.held.into_iter().all(same) && other(found.moving), || format!("once: {found:?}"))?;
    let fade = &found.fade;
    expect(other(fade.apart) && same(fade.begin) && same(fade.end), || format!("ends of a cross-fade: {found:?}"))?;
    expect(fade.middle.into_iter().all(|d| d > SILHOUETTE / 2.0 && d < fade.apart), || format!("the middle of a cross-fade: {found:?}"))?;
    expect(found.refused.contains("no such clip") && found.refused.contains("Walk"), || found.refused.clone())
}

/// The kit's own page, unchanged: three.js by its import map, the menu, and a picture that moves.
fn page_runs() -> Result<(), Failed> {
    #[derive(Debug, Deserialize)]
    struct Shown {
        clips: Vec<String>,
        moved: bool,
        colours: u64,
    }
    let stage = cubes()?;
    let found: Shown = stage.check("page", json!({}))?;
    let names: Vec<_> = stage.sidecar.clips.iter().filter_map(|c| c.name.clone()).collect();
    expect(found.clips == names, || format!("the menu: {found:?}"))?;
    expect(found.moved && found.colours > 20, || format!("the picture: {found:?}"))
}

/// Every encoding and pixel format that a browser can load plays the same.
fn encodings() -> Result<(), Failed> {
    for (format, position, normals) in [
        (Format::Exr32, Position::Offset, Normals::Separate),
        (Format::Exr16, Position::Absolute, Normals::Separate),
        (Format::Png8, Position::Offset, Normals::Separate),
        (Format::Ktx2, Position::Offset, Normals::None),
    ] {
        let stage = sample(|o| {
            (o.format, o.position, o.normals, o.clips) = (format, position, normals, vec!["Walk".into()]);
            o.targets.retain(|_| format != Format::Png8);
        })?;
        silhouettes(&stage, SILHOUETTE).map_err(|e| format!("{format:?} {position:?} {normals:?}: {}", e.message().unwrap_or_default()))?;
    }
    Ok(())
}

/// Browsers cut 16-bit PNG to 8 bits, so the kit says so instead of showing it.
fn refuses_png16() -> Result<(), Failed> {
    let stage = sample(|o| (o.format, o.targets) = (Format::Png16, Vec::new()))?;
    match stage.visit("crowd", json!({})) {
        Err(error) if error.contains("browsers cut a 16-bit PNG") && error.contains("--for three") => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

#[derive(Debug, Deserialize)]
struct Culling {
    seen: f64,
    calls: u64,
    away: u64,
    back: f64,
    rest: f64,
}

/// A triangle that slides ten metres away is drawn where it is, out of the box of its rest pose.
fn culling() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("sliding.glb");
    std::fs::write(&file, models::sliding("LINEAR", &[0.0, 1.0], &[0.0, 10.0]).to_glb())?;
    let stage = Stage::bake(&file, |_| ())?;
    let look = json!({ "seconds": 1.0, "eye": [10.3, 0.3, 6.0], "target": [10.3, 0.3, 0.0] });
    let found: Culling = stage.check("culling", look)?;
    expect(found.seen > 0.05 && found.calls == 1 && found.back == found.seen, || format!("culled: {found:?}"))?;
    expect(found.away == 0, || format!("not culled although it is far away: {found:?}"))?;
    expect(found.rest == 0.0, || format!("the rest pose's box would have done: {found:?}"))
}

/// A square that turns in its plane, with a normal map that leans to one side. All its UVs are 0, so that nothing but the baked tangents
/// says which side that is.
fn tangents() -> Result<(), Failed> {
    #[derive(Debug, Deserialize)]
    struct Shading {
        colour: f64,
        differ: f64,
    }
    #[derive(Debug, Deserialize)]
    struct Found {
        baked: Shading,
        without: Shading,
    }
    let mut leaning = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_pixel(4, 4, image::Rgb([220, 128, 200])).write_to(&mut leaning, image::ImageFormat::Png)?;
    let mut doc = Doc::new();
    let view = doc.view(leaning.get_ref());
    let source = doc.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    let texture = doc.push("textures", json!({ "source": source }));
    let material = doc.push("materials", json!({ "normalTexture": { "index": texture }, "pbrMetallicRoughness": { "metallicFactor": 0 } }));
    let corners = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
    let attributes = vec![
        ("POSITION", vec3(&corners)),
        ("NORMAL", models::normals(6)),
        ("TANGENT", vec4(&[[1.0, 0.0, 0.0, 1.0]; 6])),
        ("TEXCOORD_0", vec2(&[[0.0; 2]; 6])),
    ];
    let mesh = models::mesh(&mut doc, attributes);
    doc.json["meshes"][mesh]["primitives"][0]["material"] = json!(material);
    doc.root(json!({ "mesh": mesh }));
    doc.animate(None, &[(0, "rotation", "LINEAR", &[0.0, 1.0], vec4(&[[0.0, 0.0, 0.0, 1.0], models::QUARTER_Z]))]);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("square.glb");
    std::fs::write(&file, doc.to_glb())?;
    let found: Found = Stage::bake(&file, |o| o.tangents = true)?.check("tangents", json!({}))?;
    expect(found.baked.differ < SILHOUETTE && found.without.differ < SILHOUETTE, || format!("another shape: {found:?}"))?;
    expect(found.baked.colour < COLOUR, || format!("the shading differs: {found:?}"))?;
    expect(found.without.colour > COLOUR, || format!("the tangents change nothing: {found:?}"))
}

/// The version in the page is the one that the tests run.
fn versions_agree() -> Result<(), Failed> {
    let package: Value = serde_json::from_slice(&std::fs::read(browser::packages().join("three/package.json"))?)?;
    expect(package["version"] == THREE, || format!("three {} is installed, the kit names {THREE}", package["version"]))
}

/// The text files of one small bake.
fn snapshot() -> Result<(), Failed> {
    let sidecar = small_sidecar()?;
    for file in Target::Three.files(&Kit { name: "A & B's", sidecar: &sidecar }) {
        match file.name.rsplit_once('.') {
            Some((_, "html")) => insta::assert_snapshot!("page", file.text),
            Some((_, "md")) => insta::assert_snapshot!("readme", file.text),
            _ => {} // the modules are the same for every bake, and stand in src/targets/three as they are
        }
    }
    Ok(())
}

fn small_sidecar() -> Result<Sidecar, Failed> {
    let baked = bake::bake_fixture(&models::sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]), |_| ());
    Ok(sidecar::read(&std::fs::read(bake::sidecar_of(&baked.report))?).map_err(|e| e.to_string())?)
}

/// `node --check` takes the modules, and not a broken one; the decode in them is that of `shaders/playback`.
fn node_reads_them() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let sidecar = small_sidecar()?;
    std::fs::write(folder.path().join("package.json"), r#"{ "type": "module" }"#)?;
    let check = |file: &Path| Command::new("node").arg("--check").arg(file).output();
    for file in Target::Three.files(&Kit { name: "small", sidecar: &sidecar }) {
        let path = folder.path().join(&file.name);
        if file.name.ends_with(".js") {
            std::fs::write(&path, &file.text)?;
            let output = check(&path)?;
            expect(output.status.success(), || String::from_utf8_lossy(&output.stderr).into_owned())?;
            std::fs::write(folder.path().join("broken.js"), file.text.replacen("export", "exprot", 1))?;
            expect(!check(&folder.path().join("broken.js"))?.status.success(), || "node takes anything".into())?;
        }
    }
    let print = "import(process.argv[1]).then(m => process.stdout.write(m.default))";
    let output = Command::new("node").args(["-e", print]).arg(folder.path().join("vat.glsl.js")).output()?;
    let source = format!("\n{}", vatbake::playback::Language::Glsl.source());
    expect(output.stdout == source.as_bytes(), || format!("another decode: {}", String::from_utf8_lossy(&output.stderr)))
}
fn page(folder: &Path, script: &'static str, input: Value) -> Page<'static> {
    // A page of the folder, or a file: both must work.
    Page { folder: None, address: format!("file://{}", folder.join("page.html").display()), script, input, shot: None }
}

/// What a page logs, throws or cannot load is told; WebGL 2 is there; a page without faults has none.
fn tells_errors() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("page.html"), "<!doctype html><link rel=icon href=data:,><title>A page</title>")?;
    let webgl = "const gl = document.createElement('canvas').getContext('webgl2'); return [document.title, gl !== null, input.a]";
    for served in [true, false] {
        let mut page = page(folder.path(), webgl, json!({ "a": 7 }));
        if served {
            (page.folder, page.address) = (Some(folder.path()), "/page.html".into());
        }
        let visit = browser::open(&page)?;
        if visit.value != json!(["A page", true, 7]) || !visit.errors.is_empty() {
            return Err(format!("served {served}: {visit:?}").into());
        }
        page.script = "console.error('logged'); setTimeout(() => { throw new Error('thrown') }); \
            for (const missing of ['missing.bin', 'https://example.com']) await fetch(missing).catch(() => 0); \
            await new Promise(done => setTimeout(done, 50))";
        let visit = browser::open(&page)?;
        let told = |what: &str| visit.errors.iter().any(|e| e.contains(what));
        if !["logged", "thrown", "missing.bin", "example.com"].into_iter().all(told) {
            return Err(format!("served {served}: not all is told: {visit:?}").into());
        }
    }
    Ok(())
}

/// A script that does not end is stopped, and one that fails says why.
fn is_stopped() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("page.html"), "<!doctype html>")?;
    let mut request = json!({ "folder": folder.path(), "address": "/page.html", "script": "await new Promise(() => 0)", "input": null });
    let Err(error) = browser::run("page.mjs", &request, Duration::from_secs(4)) else { return Err("it ended".into()) };
    if !error.contains("not done after 4 s") {
        return Err(error.into());
    }
    request["script"] = json!("throw new Error('with these words')");
    let Err(error) = browser::run("page.mjs", &request, browser::TIMEOUT) else { return Err("it succeeded".into()) };
    if !error.contains("with these words") {
        return Err(error.into());
    }
    Ok(())
}
