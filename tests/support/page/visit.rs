//! Visits preview pages in headless Chromium (`visit.mjs`) and measures pictures of them.

use std::path::{Path, PathBuf};

use image::RgbImage;
use libtest_mimic::Failed;
use serde_json::{Value, json};
use tempfile::TempDir;
use vatbake::baked::Baked;
use vatbake::options::{DeviceChoice, Fps};
use vatbake::preview::page::{self, Errors};
use vatbake::{Input, Options, Request, Silent};

use crate::support::bake::sidecar_of;
use crate::support::browser;

/// What a visit came to.
pub struct Visit {
    /// What the steps returned, in their order.
    pub told: Vec<Value>,
    /// Every URL that was asked for.
    pub requests: Vec<String>,
    folder: TempDir,
}

impl Visit {
    /// A picture that a step took.
    pub fn picture(&self, name: &str) -> Result<RgbImage, Failed> {
        Ok(image::open(self.folder.path().join(format!("{name}.png")))?.to_rgb8())
    }

    /// The share of pixels in which two of its pictures differ.
    pub fn difference(&self, a: &str, b: &str) -> Result<f64, Failed> {
        Ok(difference(&self.picture(a)?, &self.picture(b)?, 24))
    }

    /// A field of what the `k`-th step told, as text.
    pub fn text(&self, k: usize, field: &str) -> String {
        let value = self.told.get(k).map_or(&Value::Null, |told| &told[field]);
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }
}

/// Opens a page and goes through steps. Anything that goes wrong in the page is a failure.
pub fn visit(page: &Path, window: Value, steps: Value) -> Result<Visit, Failed> {
    let folder = tempfile::tempdir()?;
    let input = json!({ "address": address(page), "window": window, "folder": folder.path(), "steps": steps });
    let found = browser::run("../page/visit.mjs", &input, browser::TIMEOUT)?;
    let list = |name: &str| found.value[name].as_array().cloned().unwrap_or_default();
    let errors = list("errors");
    if !errors.is_empty() || !found.errors.is_empty() {
        return Err(format!("the page logged {errors:?} {:?}", found.errors).into());
    }
    let requests = list("requests").iter().map(|r| r.as_str().unwrap_or_default().to_owned()).collect();
    Ok(Visit { told: list("told"), requests, folder })
}

/// A file's URL.
pub fn address(file: &Path) -> String {
    format!("file://{}", file.display())
}

/// The share of pixels in which some channel differs by more than `tolerance` of 255.
pub fn difference(a: &RgbImage, b: &RgbImage, tolerance: u8) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions(), "pictures of one size");
    let differ = |(a, b): (&image::Rgb<u8>, &image::Rgb<u8>)| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > tolerance);
    let count = a.pixels().zip(b.pixels()).filter(|&pair| differ(pair)).count();
    count as f64 / a.pixels().len().max(1) as f64
}

/// The share of white in a picture of the flat view.
pub fn coverage(picture: &RgbImage) -> f64 {
    picture.pixels().filter(|p| p.0[0] > 127).count() as f64 / picture.pixels().len().max(1) as f64
}

/// A bake of a model on the CPU, as it is read from its files, and the folder that its page goes to.
pub fn bake(model: &Path, set: impl FnOnce(&mut Options)) -> Result<(Baked, TempDir), Failed> {
    let folder = tempfile::tempdir()?;
    let mut options = Options { device: DeviceChoice::Cpu, fps: Fps::Rate(10.0), ..Options::default() };
    set(&mut options);
    let request = Request { input: Input::File(model.to_path_buf()), output: folder.path().to_path_buf(), options };
    let report = vatbake::bake(&request, &mut Silent)?;
    Ok((Baked::read(&sidecar_of(&report))?, folder))
}

/// The sample.
pub fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/bun.glb")
}

/// Writes a bake's page.
pub fn write(baked: &Baked, errors: Option<&Errors>, folder: &Path) -> Result<PathBuf, Failed> {
    let mut bytes = Vec::new();
    page::write(baked, errors, &mut bytes)?;
    let file = folder.join("page.html");
    std::fs::write(&file, bytes)?;
    Ok(file)
}
