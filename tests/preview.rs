//! Pictures of bakes: drawn from the written files by a software adapter (llvmpipe), whose kind is asserted, and looked at.
//! Every comparison has a twin that must fail. Given models are in `silhouettes`.
//!
//! `INSTA_UPDATE=always` writes the golden picture anew.

mod support;

use std::path::Path;

use support::preview::{Bake, Pixels, bake, draw, settings, try_draw};
use vatbake::baked::Baked;
use vatbake::options::{DeviceChoice, Format, Fps, Normals};
use vatbake::preview::{Background, Made, Settings, Show, View};
use vatbake::targets::Target;
use vatbake::{Error, Input, Options};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/bun.glb");

/// The sample's walk.
fn walk() -> Bake {
    bake(Path::new(SAMPLE), |o| o.clips = vec!["Walk".into()])
}

/// Whether a picture of a model is one: neither empty, nor full, nor black, nor of one colour.
fn check_drawn(picture: &Pixels, back: [u8; 4]) -> Result<(), String> {
    let covered = picture.count(|p| p != back) as f64 / picture.all.len() as f64;
    if !(0.1..0.9).contains(&covered) {
        return Err(format!("{:.1} % of the pixels are not the background", covered * 100.0));
    }
    let mut colours: Vec<[u8; 4]> = picture.all.clone();
    colours.sort_unstable();
    colours.dedup();
    let bright = picture.count(|p| p != back && p[..3].iter().any(|&c| c > 100));
    if colours.len() < 200 || (bright as f64) < 0.1 * picture.all.len() as f64 {
        return Err(format!("{} colours, {bright} bright pixels", colours.len()));
    }
    Ok(())
}

const BACK: [u8; 4] = [0xe6, 0xec, 0xef, 255];

#[test]
fn every_picture_of_a_sheet_shows_the_model() {
    let bake = bake(Path::new(SAMPLE), |_| ());
    let (made, sheet) = draw(&bake, &settings());
    assert_eq!((made.clips.len(), made.pictures.len()), (2, 4), "two clips at two times");
    for shown in &made.pictures {
        check_drawn(&sheet.part(shown), BACK).unwrap_or_else(|e| panic!("{shown:?}: {e}"));
    }
    // what must not pass: nothing, black, one colour, a full picture
    let good = sheet.part(&made.pictures[0]);
    let with = |change: &dyn Fn([u8; 4]) -> [u8; 4]| Pixels { all: good.all.iter().map(|p| change(*p)).collect(), ..good.clone() };
    for (what, bad) in [
        ("empty", with(&|_| BACK)),
        ("black", with(&|_| [0, 0, 0, 255])),
        ("a black model", with(&|p| if p == BACK { BACK } else { [0, 0, 0, 255] })),
        ("a model of one colour", with(&|p| if p == BACK { BACK } else { [200, 120, 80, 255] })),
        ("full", with(&|p| if p == BACK { [9, 9, 9, 255] } else { p })),
    ] {
        assert!(check_drawn(&bad, BACK).is_err(), "{what} passes");
    }
    // the words below
    let [left, top] = made.pictures[0].corner.map(|c| c as usize);
    let below =
        (0..72).flat_map(|x| (101..115).map(move |y| (left + x, top + y))).filter(|(x, y)| sheet.all[y * sheet.size[0] + x][0] < 120);
    assert!(below.count() > 20, "no words stand below a picture");
}

/// Share of the pixels that differ by more than `step` in a channel.
fn outliers(a: &Pixels, b: &Pixels, step: u8) -> f64 {
    assert_eq!(a.size, b.size);
    let differs = |(a, b): (&[u8; 4], &[u8; 4])| (0..4).any(|c| a[c].abs_diff(b[c]) > step);
    a.all.iter().zip(&b.all).filter(|pair| differs(*pair)).count() as f64 / a.all.len() as f64
}

/// A driver of another version may round an edge or a texel otherwise: 1 % of the pixels may differ by more than 12 of 255.
#[test]
fn the_sample_looks_as_it_did() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/preview.png");
    let walk = walk();
    let (_, sheet) = draw(&walk, &settings());
    if std::env::var("INSTA_UPDATE").is_ok_and(|v| v == "always") {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::copy(walk.folder.path().join("picture.png"), &path).expect("the golden picture");
    }
    let golden = Pixels::read(&path);
    let differ = outliers(&sheet, &golden, 12);
    assert!(differ < 0.01, "{:.2} % of the pixels differ from {}", differ * 100.0, path.display());
    let view = View { yaw: View::THREE_QUARTER.yaw + 3.0, ..View::THREE_QUARTER };
    let (_, other) = draw(&walk, &Settings { view, ..settings() });
    assert!(outliers(&other, &golden, 12) > 0.03, "three degrees more are not noticed");
}

#[test]
fn the_same_bake_gives_the_same_bytes() {
    let walk = walk();
    for name in ["a.png", "a.gif"] {
        let bytes = |_| {
            let (_, path) = try_draw(&walk, &Settings { size: Some([24, 32]), ..settings() }, name).expect("drawn");
            std::fs::read(path).expect("the file")
        };
        assert_eq!(bytes(0), bytes(1), "{name}");
    }
}

/// Half floats, floats, 8 bits, normals in alpha or none, several blocks: each goes up in its own format and gives the same picture.
#[test]
fn every_kind_of_texture_gives_the_same_picture() {
    let (_, wanted) = draw(&walk(), &settings());
    let kinds: [(&str, Format, Normals, u32); 6] = [
        ("half", Format::Exr16, Normals::Separate, 8192),
        ("float", Format::Exr32, Normals::Separate, 8192),
        ("8 bits", Format::Png8, Normals::Separate, 8192),
        ("alpha", Format::Png16, Normals::Alpha, 8192),
        ("none", Format::Png16, Normals::None, 8192),
        ("blocks", Format::Png16, Normals::Separate, 2500),
    ];
    for (what, format, normals, max_size) in kinds {
        let bake = bake(Path::new(SAMPLE), |o| {
            (o.format, o.normals, o.max_size, o.clips) = (format, normals, max_size, vec!["Walk".into()]);
        });
        let (_, found) = draw(&bake, &settings());
        // without normals each triangle is flat, which shows inside of the model and not at its edge
        let most = if normals == Normals::None { 0.25 } else { 0.02 };
        let differ = outliers(&found, &wanted, 24);
        assert!(differ < most, "{what}: {:.2} % of the pixels differ", differ * 100.0);
    }
}

/// Rewrites a bake in another engine's axes: texels, ranges, boxes and the sidecar's space; the mesh stays glTF.
fn turn(bake: &Bake, order: [usize; 3], negated: Option<usize>, unit: f64, space: &serde_json::Value) {
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&bake.sidecar).expect("the sidecar")).expect("JSON");
    for (key, value) in space.as_object().expect("fields") {
        json["space"][key] = value.clone();
    }
    for texture in json["textures"].as_array_mut().expect("textures") {
        let path = bake.folder.path().join(texture["file"].as_str().expect("a file"));
        let image = image::open(&path).expect("a PNG").to_rgba16();
        let mut turned = image.clone();
        for (to, from) in turned.pixels_mut().zip(image.pixels()) {
            for (axis, taken) in order.into_iter().enumerate() {
                let value = from.0[taken];
                to.0[axis] = if negated == Some(axis) { u16::MAX - value } else { value };
            }
        }
        turned.save(&path).expect("a PNG");
        if texture["role"] == "position" {
            let number = |v: &serde_json::Value, axis: usize| v[order[axis]].as_f64().expect("a number") * unit;
            let (scale, bias) = (texture["scale"].clone(), texture["bias"].clone());
            for axis in 0..3 {
                let (s, b) = (number(&scale, axis), number(&bias, axis));
                texture["scale"][axis] = (s as f32).into();
                texture["bias"][axis] = (if negated == Some(axis) { -b - s } else { b } as f32).into();
            }
        }
    }
    std::fs::write(&bake.sidecar, json.to_string()).expect("the sidecar");
}

/// Unity's and Unreal's axes are turned upright: the picture is that of the plain bake.
#[test]
fn bakes_in_other_axes_stand_upright() {
    let (_, wanted) = draw(&walk(), &settings());
    let unity = walk();
    turn(&unity, [0, 1, 2], Some(0), 1.0, &serde_json::json!({ "handedness": "left" }));
    let unreal = walk();
    let space = serde_json::json!({ "up": "+z", "forward": "+y", "handedness": "left", "unit": "centimetre" });
    turn(&unreal, [0, 2, 1], None, 100.0, &space);
    for (what, bake) in [("unity", &unity), ("unreal", &unreal)] {
        let (_, found) = draw(bake, &settings());
        let differ = outliers(&found, &wanted, 24);
        assert!(differ < 0.01, "{what}: {:.2} % of the pixels differ", differ * 100.0);
    }
    // axes that are not said are noticed
    let wrong = walk();
    turn(&wrong, [0, 2, 1], None, 1.0, &serde_json::json!({}));
    let (_, found) = draw(&wrong, &settings());
    assert!(outliers(&found, &wanted, 24) > 0.05);
}

/// Frames of a GIF as they are shown, with their delays.
fn play(path: &Path) -> Vec<(Pixels, u16)> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(std::fs::File::open(path).expect("the file")).expect("a GIF");
    assert!(matches!(decoder.repeat(), gif::Repeat::Infinite), "it repeats");
    let size = [decoder.width(), decoder.height()].map(usize::from);
    let mut canvas = Pixels { size, all: vec![[0; 4]; size[0] * size[1]] };
    let mut frames = Vec::new();
    while let Some(frame) = decoder.read_next_frame().expect("a frame") {
        let (left, top, width) = (usize::from(frame.left), usize::from(frame.top), usize::from(frame.width));
        for (i, pixel) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, p)| p[3] > 0) {
            canvas.all[(top + i / width) * size[0] + left + i % width].copy_from_slice(pixel);
        }
        frames.push((canvas.clone(), frame.delay));
        if frame.dispose == gif::DisposalMethod::Background {
            canvas.all.fill([0; 4]);
        }
    }
    frames
}

#[test]
fn an_animation_has_every_frame_at_its_time() {
    let bake = bake(Path::new(SAMPLE), |_| ());
    let settings = settings();
    let (made, path) = try_draw(&bake, &settings, "walk.gif").expect("drawn");
    assert_eq!((made.clips.as_slice(), made.pictures.len()), (&["Walk".to_string()][..], 24), "a loop of 25 frames goes without the last");
    assert_eq!(made.device.map(|d| d.kind).as_deref(), Some("software"));
    let frames = play(&path);
    assert_eq!(frames.len(), 24);
    let length: u32 = frames.iter().map(|(_, delay)| u32::from(*delay)).sum();
    assert_eq!(length, 80, "0.8 s");
    assert!(frames.iter().all(|(_, delay)| (3..=4).contains(delay)), "30 a second are 3 or 4 hundredths");
    for (picture, _) in &frames {
        check_drawn(picture, BACK).unwrap_or_else(|e| panic!("{e}"));
    }
    let apart = |a: usize, b: usize| outliers(&frames[a].0, &frames[b].0, 30);
    assert!(apart(0, 12) > 0.05, "the middle of the walk is the beginning");
    assert!(apart(23, 0) < 0.75 * apart(0, 12), "the end does not lead to the beginning");
    // a sheet of as many times has the same camera and the same pictures, but for the colours that the palette lacks
    let (sheet, pixels) = draw(&bake, &Settings { columns: 24, clips: vec!["Walk".into()], ..settings.clone() });
    let shown = &sheet.pictures[12];
    assert_eq!((sheet.pictures.len(), shown.frame, shown.projection), (24, 12.0, made.pictures[12].projection));
    assert!(outliers(&pixels.part(shown), &frames[12].0, 40) < 0.03, "colours of the palette are far off");
    assert!(outliers(&pixels.part(shown), &frames[14].0, 40) > 0.03, "two frames later passes too");

    let (made, path) =
        try_draw(&bake, &Settings { clips: vec!["Wave".into()], background: Background::Transparent, ..settings }, "w.gif").expect("drawn");
    assert_eq!(made.clips, ["Wave"]);
    let frames = play(&path);
    assert_eq!(frames.len(), made.pictures.len());
    assert!(frames.iter().all(|(p, _)| p.all[0][3] == 0 && p.count(|p| p[3] == 255) > p.all.len() / 10), "clear around, solid inside");
}

#[test]
fn each_view_draws_what_it_says() {
    let walk = walk();
    let show = |show: Show, source: bool| {
        let source = source.then(|| Input::File(SAMPLE.into()));
        draw(&walk, &Settings { show, source, size: Some([120, 160]), view: View { yaw: 20.0, pitch: 10.0, distance: 1.0 }, ..settings() })
    };
    let first = |(made, sheet): &(Made, Pixels)| sheet.part(&made.pictures[0]);
    let pure = |c: usize| move |p: [u8; 4]| p[c] > 200 && (0..3).all(|k| k == c || p[k] < 90);
    let shaded = first(&show(Show::Shaded, false));
    assert!(shaded.count(pure(2)) == 0, "blue in the plain picture");

    let normals = first(&show(Show::Normals, false));
    let to_eye = normals.count(|p| p[2] > 220 && p[0].abs_diff(128) < 70 && p[1].abs_diff(128) < 70);
    assert!(to_eye > 400, "{to_eye} pixels face the camera");
    assert!(shaded.count(|p| p != BACK && p[2] > 220 && p[0].abs_diff(128) < 70) < to_eye / 4);

    let joints = first(&show(Show::Joints, true));
    assert!(joints.count(pure(0)) > 3 && joints.count(pure(2)) > 10, "the root is red, the tips are blue");
    let paths = first(&show(Show::Paths, true));
    assert!(paths.count(pure(0)) > 3, "the root's way is red");
    let strong = paths.count(|p| p[..3].iter().max().zip(p[..3].iter().min()).is_some_and(|(a, b)| a - b > 120));
    assert!(strong > 60, "{strong} pixels of ways");

    let weights = first(&show(Show::Weights, true));
    let black = weights.count(|p| p[..3] == [0, 0, 0]);
    assert!(
        weights.count(|p| p[0] > 150 && p[1] < 20 && p[2] < 20) > 1500 && black > 300,
        "{black} pixels of the hat and the pin are black"
    );
    assert!(weights.count(|p| p[1] > 60 && p[2] < 60 && p[0] < 220) > 30, "second influences are green");

    let (made, sheet) = show(Show::Error, true);
    let (largest, told) =
        (made.largest_error.expect("an error"), Baked::read(&walk.sidecar).expect("the bake").sidecar.textures[0].error.max);
    assert!(largest > 0.1 * f64::from(told) && largest < 1.05 * f64::from(told) + 1e-6, "{largest}, the bake measured {told}");
    let legend = sheet.all[(sheet.size[1] - 30) * sheet.size[0]..].to_vec();
    let legend = Pixels { size: [sheet.size[0], 30], all: legend };
    let warm = |p: [u8; 4]| p[0] > 220 && p[2] < 100;
    let cold = |p: [u8; 4]| p[0] < 60 && p[2] > 80;
    assert!(legend.count(warm) > 20 && legend.count(cold) > 20, "the legend runs from blue to red");
    assert!(sheet.part(&made.pictures[0]).count(|p| p[1] > p[0] && p[1] > p[2]) > 100, "errors of rounding are everywhere");
}

/// A bake whose ranges are 1 % off has an error a thousand times as large, and says so.
#[test]
fn a_spoilt_bake_has_a_large_error() {
    let walk = walk();
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&walk.sidecar).expect("the sidecar")).expect("JSON");
    let scale = json["textures"][0]["scale"][1].as_f64().expect("a number");
    json["textures"][0]["scale"][1] = ((scale * 1.01) as f32).into();
    std::fs::write(&walk.sidecar, json.to_string()).expect("the sidecar");
    let (made, _) = draw(&walk, &Settings { show: Show::Error, source: Some(Input::File(SAMPLE.into())), ..settings() });
    let largest = made.largest_error.expect("an error");
    assert!(largest > 0.003 * scale && largest < 0.0101 * scale, "{largest} m, 1 % of {scale} m is wrong");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let walk = walk();
    let refused = |settings: Settings, name: &str| match try_draw(&walk, &settings, name) {
        Err(Error::Usage(text)) => text,
        Err(other) => panic!("not a usage error: {other}"),
        Ok((made, _)) => panic!("made {made:?}"),
    };
    for show in [Show::Error, Show::Joints, Show::Weights, Show::Paths] {
        let text = refused(Settings { show, ..settings() }, "a.png");
        assert!(text.contains("--source bun.glb"), "{text}");
    }
    let text = refused(Settings { clips: vec!["Run".into()], ..settings() }, "a.png");
    assert!(text.contains("'Run'") && text.contains("'Walk'"), "{text}");
    assert!(refused(settings(), "a.jpg").contains(".gif"));
    assert!(refused(Settings { device: DeviceChoice::Cpu, ..settings() }, "a.png").contains("--device cpu"));
    let text = refused(Settings { size: Some([8, 8]), ..settings() }, "a.png");
    assert!(text.contains("--size"), "{text}");
    let other = tempfile::NamedTempFile::with_suffix(".glb").expect("a file");
    std::fs::write(other.path(), support::models::rigid(&support::models::TRIANGLE).to_glb()).expect("a model");
    let source = Some(Input::File(other.path().into()));
    for show in [Show::Error, Show::Joints] {
        let text = refused(Settings { show, source: source.clone(), ..settings() }, "a.png");
        assert!(text.contains("not the model that was baked"), "{text}");
    }
    let bare = bake(Path::new(SAMPLE), |o| o.normals = Normals::None);
    let text = try_draw(&bare, &Settings { show: Show::Normals, ..settings() }, "a.png").expect_err("no normals").to_string();
    assert!(text.contains("--normals none"), "{text}");

    // the bake is left as it is
    let path = walk.folder.path().join("bun_vat_position.png");
    let before = std::fs::read(&path).expect("the texture");
    assert!(refused(settings(), "bun_vat_position.png").contains("would replace"));
    assert!(std::fs::read(&path).expect("the texture") == before);
    // and so is a kit: its page has the name that a preview's would have, which may be written anew
    let kit = tempfile::tempdir().expect("a folder");
    let options = Options { targets: vec![Target::Three], device: DeviceChoice::Cpu, fps: Fps::Rate(5.0), ..Options::default() };
    let request = vatbake::Request { input: Input::File(SAMPLE.into()), output: kit.path().into(), options };
    vatbake::bake(&request, &mut vatbake::Silent).expect("a kit");
    let page = kit.path().join("three/bun.html");
    let before = std::fs::read(&page).expect("the kit's page");
    let draw_page = |folder: &Path| {
        let baked = Baked::read(folder).expect("the bake");
        vatbake::preview::preview(&baked, &settings(), &folder.join("bun.html"), &mut vatbake::Silent)
    };
    let text = draw_page(&kit.path().join("three")).expect_err("the kit's page").to_string();
    assert!(text.contains("would replace") && std::fs::read(&page).expect("the page") == before, "{text}");
    for _ in 0..2 {
        draw_page(walk.folder.path()).expect("a page beside a bake");
    }
    let mut left = support::bake::names_in(walk.folder.path());
    left.retain(|name| !name.starts_with("bun"));
    assert_eq!(left, Vec::<String>::new(), "errors left files");
}

#[cfg(feature = "cli")]
mod program {
    use super::*;
    use assert_cmd::Command;

    fn vatbake(words: &[&str], folder: &Path) -> Command {
        let mut command = Command::cargo_bin("vatbake").expect("the program");
        command.args(words).current_dir(folder);
        command
    }

    #[test]
    fn the_command_writes_what_the_extension_asks_for() {
        let walk = walk();
        let run = |words: &[&str]| {
            let sidecar = walk.sidecar.to_string_lossy().into_owned();
            let common = ["preview", &sidecar, "--device", "software", "--size", "40x56", "--columns", "2"];
            vatbake(&[&common[..], words].concat(), walk.folder.path()).output().expect("it runs")
        };
        let told = run(&[]);
        let line = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(
            told.status.success() && line.starts_with("bun: 1 clip, 2 pictures, ") && line.trim_end().ends_with("-> bun_preview.png"),
            "{told:?}"
        );
        assert!(walk.folder.path().join("bun_preview.png").is_file(), "the default is ./NAME_preview.png");
        let told = run(&["-o", "x.gif", "--json", "--camera", "-30,20,1.2", "--background", "#102030"]);
        let json: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
        assert_eq!(
            (json["kind"].as_str(), json["file"].as_str(), json["pictures"].as_array().map(Vec::len)),
            (Some("animation"), Some("x.gif"), Some(24))
        );
        assert!(json["device"]["kind"] == "software" && json["bytes"].as_u64().is_some_and(|b| b > 1000), "{json}");
        let told = run(&["-o", "y.png", "--quiet"]);
        assert!(told.status.success() && told.stdout.is_empty() && told.stderr.is_empty(), "{told:?}");

        for (words, part) in [
            (&["--camera", "back"][..], "three-quarter"),
            (&["--camera", "0,100"], "pitch"),
            (&["--show", "joints"], "--source"),
            (&["-o", "a.bmp"], ".html"),
            (&["--clip", "Fly"], "'Walk'"),
            (&["--background", "mauve"], "transparent"),
        ] {
            let told = run(words);
            let text = String::from_utf8_lossy(&told.stderr).into_owned();
            assert!(told.status.code() == Some(2) && text.contains(part), "{words:?}: {told:?}");
        }
    }

    /// The Vulkan loader finds no driver where its list names none.
    #[cfg(target_os = "linux")]
    #[test]
    fn without_an_adapter_the_page_is_still_written() {
        let walk = walk();
        let sidecar = walk.sidecar.to_string_lossy().into_owned();
        let run = |output: &str| {
            let mut command = vatbake(&["preview", &sidecar, "-o", output], walk.folder.path());
            command.env("VK_DRIVER_FILES", "/nonexistent.json").env("VK_ICD_FILENAMES", "/nonexistent.json").output().expect("it runs")
        };
        let told = run("a.png");
        let text = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(told.status.code() == Some(1) && text.contains("mesa-vulkan-drivers") && text.contains(".html"), "{told:?}");
        assert!(!walk.folder.path().join("a.png").exists());
        assert!(run("a.html").status.success());
        let page = std::fs::read_to_string(walk.folder.path().join("a.html")).expect("the page");
        assert!(page.contains("<canvas"), "{} bytes", page.len());
    }
}
