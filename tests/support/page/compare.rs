//! The deciding comparison: outlines of the page, which plays the bake, and of three.js, which skins the original file.

use std::path::Path;

use libtest_mimic::{Failed, Trial};
use serde_json::json;
use vatbake::output::sidecar::Clip;

use super::visit::{address, bake, coverage, difference, write};
use crate::support::browser;
use crate::support::oracle::{self, Model};
use vatbake::options::Fps;

/// Models, and the two clips that are compared: skins; a skin of one clip; rigid parts, skins and morph targets together.
const MODELS: &[(&str, &[&str])] = &[("Fox", &["Survey", "Run"]), ("CesiumMan", &[]), ("RobotExpressive", &["Dance", "Wave"])];

/// Parts of a clip's length at which pictures are compared.
const TIMES: [f64; 5] = [0.07, 0.26, 0.5, 0.71, 0.93];

/// The share of a picture's pixels that may differ: under half of what is asked of the page, and more than three times what was measured.
const TOLERANCE: f64 = 0.002;

/// One test a model; where there are none, one that is ignored, but fails where CI is true.
pub fn trials() -> Vec<Trial> {
    let Some(models) = oracle::models() else {
        let place = oracle::shared().join("data/inventory.json");
        let reason = format!("outlines of three models: no {}; VATBAKE_SHARED names the folder `shared`", place.display());
        let required = std::env::var("CI").is_ok_and(|v| v == "true");
        let message = reason.clone();
        return vec![Trial::test(reason, move || Err(message.into())).with_ignored_flag(!required)];
    };
    let trial = |&(name, clips): &(&str, &'static [&'static str])| {
        let model = models.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("the inventory has no {name}")).clone();
        Trial::test(format!("outline/{name}"), move || check(&model, clips))
    };
    MODELS.iter().map(trial).collect()
}

fn check(model: &Model, clips: &[&str]) -> Result<(), Failed> {
    let (baked, folder) = bake(&model.file, |o| {
        o.fps = Fps::Rate(30.0);
        o.clips = clips.iter().map(|&c| c.to_owned()).collect();
    })?;
    let page = write(&baked, None, folder.path())?;
    let (eye, target) = viewpoint(&baked.sidecar.clips[0]);
    let moment = |index: usize, share: f64| {
        let clip = &baked.sidecar.clips[index];
        let time = share * f64::from(clip.length);
        json!({ "clip": index, "animation": clip.animation, "time": time, "start": clip.start, "eye": eye, "target": target })
    };
    let mut moments: Vec<_> = TIMES.iter().map(|&share| moment(0, share)).collect();
    moments.extend((1..baked.sidecar.clips.len()).map(|index| moment(index, TIMES[1])));
    let (parent, name) = (model.file.parent().unwrap_or(Path::new("")), model.file.file_name().unwrap_or_default().to_string_lossy());
    let input = json!({ "page": address(&page), "model": [parent, name], "folder": folder.path(), "moments": moments });
    let visit = browser::run("../page/compare.mjs", &input, browser::TIMEOUT)?;
    if !visit.errors.is_empty() {
        return Err(format!("{:?}", visit.errors).into());
    }
    let picture = |who: &str, i: usize| -> Result<_, Failed> { Ok(image::open(folder.path().join(format!("{who}-{i}.png")))?.to_rgb8()) };
    let mut shares = Vec::new();
    for i in 0..moments.len() {
        let (page, three) = (picture("page", i)?, picture("three", i)?);
        let (share, covered) = (difference(&page, &three, 127), coverage(&three));
        shares.push(share);
        if covered < 0.1 {
            return Err(format!("moment {i}: the figure covers {covered} of the picture, too little to tell anything").into());
        }
        if share >= TOLERANCE {
            return Err(format!("moment {i}: {share} of the pixels differ, allowed is {TOLERANCE}").into());
        }
        // The twins: another time and another clip are noticed.
        let others = [(i + 2) % TIMES.len()].into_iter().chain((i == 1 && moments.len() > TIMES.len()).then_some(TIMES.len()));
        for other in others {
            let twin = difference(&page, &picture("three", other)?, 127);
            if twin <= TOLERANCE {
                return Err(format!("moment {i} looks like moment {other}: only {twin} of the pixels differ").into());
            }
        }
    }
    println!("outline/{}: {shares:?} of the pixels differ", model.name);
    Ok(())
}

/// Where the camera stands and what it looks at: the figure fills most of the picture.
fn viewpoint(clip: &Clip) -> ([f64; 3], [f64; 3]) {
    let (min, max) = (clip.bounds.min.map(f64::from), clip.bounds.max.map(f64::from));
    let target: [f64; 3] = std::array::from_fn(|k| (min[k] + max[k]) / 2.0);
    let radius = (0..3).map(|k| (max[k] - min[k]).powi(2)).sum::<f64>().sqrt() / 2.0;
    let direction = [0.66, 0.25, 0.71];
    (std::array::from_fn(|k| target[k] + direction[k] * radius * 2.2), target)
}
