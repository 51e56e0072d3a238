//! Contact sheets of given models have the silhouettes of a mesh that the CPU deformed: another bake in 32-bit floats, read by the
//! tests' own decoder and filled by the rasteriser below. A mesh of another time must not fit.

mod support;

use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};
use support::decode::{self, Vat};
use support::oracle;
use support::preview::{Pixels, bake, draw, settings};
use vatbake::Options;
use vatbake::baked::{AlphaMode, Baked};
use vatbake::options::Format;
use vatbake::preview::{Background, Settings, Shown, View};

/// Models and clips that are compared.
const COMPARED: [(&str, &[&str]); 2] = [("Fox", &["Walk", "Run"]), ("RobotExpressive", &["Dance", "Running"])];

fn main() {
    let arguments = Arguments::from_args();
    let trials = match oracle::models() {
        Some(models) => COMPARED
            .map(|(name, clips)| {
                let file = models.iter().find(|m| m.name == name).map(|m| m.file.clone());
                Trial::test(format!("model/{name}"), move || compare_silhouettes(&file.ok_or("the inventory lacks it")?, clips))
            })
            .into(),
        None => vec![oracle::without_data()],
    };
    libtest_mimic::run(&arguments, trials).exit();
}

/// Draws a given model's clips and compares every picture with the mesh that the CPU deformed.
fn compare_silhouettes(file: &Path, clips: &[&str]) -> Result<(), Failed> {
    let choose = |format| move |o: &mut Options| (o.format, o.clips) = (format, clips.iter().map(ToString::to_string).collect());
    let written = bake(file, choose(Format::Png16));
    let exact = bake(file, choose(Format::Exr32));
    let vat: Vat = decode::decode(&exact.sidecar).expect("the bake in floats");
    // from the horizon there is no shadow, and alpha is the silhouette
    let view = View { yaw: 50.0, pitch: 0.0, distance: 1.0 };
    let settings = Settings { view, background: Background::Transparent, size: Some([200, 200]), columns: 3, ..settings() };
    let (made, sheet) = draw(&written, &settings);
    let baked = Baked::read(&written.sidecar).expect("the bake");
    assert!(baked.mesh.materials.iter().all(|m| m.alpha_mode == AlphaMode::Opaque), "alpha would be a hole");
    assert_eq!(made.pictures.len(), 3 * clips.len());
    let frame = |shown: &Shown, more: usize| {
        let clip = &baked.sidecar.clips[shown.clip];
        vat.frame(clip.first_frame as usize + (shown.frame as usize + more) % clip.frame_count as usize)
    };
    for shown in &made.pictures {
        assert_eq!(shown.frame.fract(), 0.0, "sheets show whole frames");
        let picture = sheet.part(shown);
        let differ = apart(&picture, &silhouette(&baked, &frame(shown, 0), shown));
        assert!(differ < 0.005, "{}: {shown:?}: {:.2} % apart", file.display(), differ * 100.0);
        let later = apart(&picture, &silhouette(&baked, &frame(shown, 4), shown));
        assert!(later > 0.01, "{}: {shown:?}: four frames later is {:.2} % apart", file.display(), later * 100.0);
    }
    Ok(())
}

/// Coverage of each pixel by the front faces of a mesh, from 16 samples. `positions` by vertex number.
fn silhouette(baked: &Baked, positions: &[[f64; 3]], shown: &Shown) -> Vec<f64> {
    const SIDE: usize = 4;
    let [width, height] = shown.size.map(|s| s as usize);
    let (wide, high) = (width * SIDE, height * SIDE);
    let project = |p: [f64; 3]| {
        let row = |r: usize| (0..3).map(|c| f64::from(shown.projection[c][r]) * p[c]).sum::<f64>() + f64::from(shown.projection[3][r]);
        let w = row(3);
        [(row(0) / w + 1.0) * 0.5 * wide as f64, (1.0 - row(1) / w) * 0.5 * high as f64]
    };
    let mesh = &baked.mesh;
    let points: Vec<[f64; 2]> = mesh.numbers.iter().map(|&n| project(positions[n as usize])).collect();
    let mut hit = vec![false; wide * high];
    for primitive in &mesh.primitives {
        let shows_backs = primitive.material.is_some_and(|m| mesh.materials[m].double_sided);
        for corners in mesh.indices[primitive.first_index..][..primitive.index_count].chunks_exact(3) {
            let [a, b, c] = [0, 1, 2].map(|i| points[corners[i] as usize]);
            let side =
                |from: [f64; 2], to: [f64; 2], p: [f64; 2]| (to[0] - from[0]) * (p[1] - from[1]) - (to[1] - from[1]) * (p[0] - from[0]);
            // y points down, so what turns left in space turns right here
            let area = side(a, b, c);
            if area == 0.0 || (area > 0.0 && !shows_backs) {
                continue;
            }
            let range = |axis: usize, most: usize| {
                let all = [a, b, c].map(|p| p[axis]);
                let [least, largest] = [all.into_iter().fold(f64::MAX, f64::min), all.into_iter().fold(f64::MIN, f64::max)];
                (least.floor().max(0.0) as usize)..(largest.ceil().clamp(0.0, most as f64) as usize)
            };
            for y in range(1, high) {
                for x in range(0, wide) {
                    let p = [x as f64 + 0.5, y as f64 + 0.5];
                    let sides = [side(a, b, p), side(b, c, p), side(c, a, p)].map(|s| s * area.signum());
                    hit[y * wide + x] |= sides.iter().all(|&s| s >= 0.0);
                }
            }
        }
    }
    (0..width * height)
        .map(|i| {
            let (x, y) = (i % width * SIDE, i / width * SIDE);
            (0..SIDE * SIDE).filter(|s| hit[(y + s / SIDE) * wide + x + s % SIDE]).count() as f64 / (SIDE * SIDE) as f64
        })
        .collect()
}

/// Pixels in only one of the two silhouettes, as a share of those in either.
fn apart(picture: &Pixels, coverage: &[f64]) -> f64 {
    let pairs = || picture.all.iter().zip(coverage).map(|(p, c)| (p[3] >= 128, *c >= 0.5));
    let either = pairs().filter(|(a, b)| *a || *b).count();
    assert!(either > picture.all.len() / 20, "{either} pixels of {} are covered", picture.all.len());
    pairs().filter(|(a, b)| a != b).count() as f64 / either as f64
}
