//! Draws a bake on the software adapter and reads the picture.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;
use vatbake::baked::Baked;
use vatbake::options::DeviceChoice;
use vatbake::preview::{Made, Settings, Shown, preview};
use vatbake::{Error, Input, Options, Request, Silent};

/// A bake on disk.
pub struct Bake {
    pub folder: TempDir,
    pub sidecar: PathBuf,
}

pub fn bake(model: &Path, set: impl FnOnce(&mut Options)) -> Bake {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = Options { device: DeviceChoice::Cpu, ..Options::default() };
    set(&mut options);
    let request = Request { input: Input::File(model.into()), output: folder.path().into(), options };
    let report = vatbake::bake(&request, &mut Silent).unwrap_or_else(|e| panic!("{}: {e}", model.display()));
    Bake { sidecar: super::bake::sidecar_of(&report), folder }
}

/// Small pictures by the software adapter.
pub fn settings() -> Settings {
    Settings { device: DeviceChoice::Software, size: Some([72, 100]), columns: 2, ..Settings::default() }
}

/// 8-bit RGBA.
#[derive(Debug, Clone, PartialEq)]
pub struct Pixels {
    pub size: [usize; 2],
    pub all: Vec<[u8; 4]>,
}

impl Pixels {
    pub fn read(path: &Path) -> Self {
        let image = image::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).to_rgba8();
        Self { size: [image.width() as usize, image.height() as usize], all: image.pixels().map(|p| p.0).collect() }
    }

    /// What a sheet shows of one picture.
    pub fn part(&self, shown: &Shown) -> Self {
        let ([left, top], size) = (shown.corner.map(|c| c as usize), shown.size.map(|s| s as usize));
        let row = |y: usize| &self.all[(top + y) * self.size[0] + left..][..size[0]];
        Self { size, all: (0..size[1]).flat_map(row).copied().collect() }
    }

    pub fn count(&self, wanted: impl Fn([u8; 4]) -> bool) -> usize {
        self.all.iter().filter(|p| wanted(**p)).count()
    }
}

/// One run at a time: parallel ones make llvmpipe slow.
static ONE: Mutex<()> = Mutex::new(());

pub fn try_draw(bake: &Bake, settings: &Settings, name: &str) -> Result<(Made, PathBuf), Error> {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let baked = Baked::read(&bake.sidecar)?;
    let path = bake.folder.path().join(name);
    preview(&baked, settings, &path, &mut Silent).map(|made| (made, path))
}

/// Draws a sheet on the software adapter.
pub fn draw(bake: &Bake, settings: &Settings) -> (Made, Pixels) {
    let (made, path) = try_draw(bake, settings, "picture.png").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(made.device.as_ref().map(|d| d.kind.as_str()), Some("software"), "what drew: {:?}", made.device);
    let pixels = Pixels::read(&path);
    assert_eq!(made.size.map(|s| s.map(|s| s as usize)), Some(pixels.size));
    (made, pixels)
}
