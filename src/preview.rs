//! Pictures of a bake, made from the files that were written: a contact sheet, an animation, a page.
//!
//! Pictures are drawn by an adapter that reads the textures through the playback code that users get (`shaders/playback/vat.wgsl`), so
//! what is wrong with the files is wrong in the picture. [`Show`] chooses what colours the model or is drawn over it.

mod adapter;
mod camera;
mod colours;
mod error;
mod gif;
pub mod layout;
mod letters;
mod material;
mod moments;
pub mod page;
mod paint;
mod palette;
mod picture;
mod pipeline;
mod render;
mod rig;
mod sheet;
mod upload;
mod write;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use camera::View;
pub use picture::Background;

use self::moments::Moment;
use self::paint::Place;
use self::write::{Output, write_animation, write_page, write_sheet};
use crate::baked::Baked;
use crate::options::{DeviceChoice, Input};
use crate::output::sidecar::{Clip, Role};
use crate::plan::select::{list_names, select};
use crate::report::{Device, Progress};
use crate::{Error, Result};

/// Pictures of a row of a contact sheet unless asked otherwise.
pub const DEFAULT_COLUMNS: u32 = 6;
/// Most pictures of a row.
pub const MOST_COLUMNS: u32 = 64;
/// Range of a picture's side in pixels.
pub const SIZE_RANGE: std::ops::RangeInclusive<u32> = 16..=4096;

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Show {
    /// Materials in light
    Shaded,
    /// Normals as colours
    Normals,
    /// How far each vertex is from where it should be; needs --source
    Error,
    /// The skeleton, red at the root and blue at the tips; needs --source
    Joints,
    /// The first three influences as red, green and blue, black without any; needs --source
    Weights,
    /// The ways of the root and of the ends of limbs; needs --source
    Paths,
}

impl Show {
    /// Whether the bake alone cannot tell.
    pub fn needs_source(self) -> bool {
        !matches!(self, Self::Shaded | Self::Normals)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Shaded => "shaded",
            Self::Normals => "normals",
            Self::Error => "error",
            Self::Joints => "joints",
            Self::Weights => "weights",
            Self::Paths => "paths",
        }
    }
}

/// What kind of picture a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A contact sheet, `.png`.
    Sheet,
    /// An animation, `.gif`.
    Animation,
    /// A page that plays the bake, `.html`.
    Page,
}

impl Kind {
    /// What a file's extension asks for.
    ///
    /// # Errors
    /// [`Error::Usage`] for another one.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("png") => Ok(Self::Sheet),
            Some("gif") => Ok(Self::Animation),
            Some("html" | "htm") => Ok(Self::Page),
            _ => Err(Error::Usage(format!(
                "-o/--output ends in .png for a contact sheet, .gif for an animation or .html for a page; this does not: {}",
                path.display()
            ))),
        }
    }
}

/// How a picture is made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What it shows.
    pub show: Show,
    /// From where.
    pub view: View,
    /// Width and height of one picture; after the motion's own shape where absent.
    pub size: Option<[u32; 2]>,
    /// Most pictures of a row of a sheet.
    pub columns: u32,
    /// Clips by name, glob or number; where empty all of them on a sheet, the first one in an animation.
    pub clips: Vec<String>,
    /// What lies behind the model.
    pub background: Background,
    /// The model that was baked.
    pub source: Option<Input>,
    /// Follow URIs of the source that leave its folder.
    pub allow_outside: bool,
    /// What draws.
    pub device: DeviceChoice,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            show: Show::Shaded,
            view: View::THREE_QUARTER,
            size: None,
            columns: DEFAULT_COLUMNS,
            clips: Vec::new(),
            background: Background::DEFAULT,
            source: None,
            allow_outside: false,
            device: DeviceChoice::Auto,
        }
    }
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Made {
    /// Of which kind.
    pub kind: Kind,
    /// The file.
    pub file: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// What it shows.
    pub show: Show,
    /// Names of the clips that it shows.
    pub clips: Vec<String>,
    /// Pictures of the sheet, or frames of the animation; none of a page.
    pub pictures: Vec<Shown>,
    /// Width and height in pixels; none of a page.
    pub size: Option<[u32; 2]>,
    /// What drew it; none for a page.
    pub device: Option<Device>,
    /// The largest error of what is shown, in metres; only with [`Show::Error`].
    pub largest_error: Option<f64>,
    /// What is worth saying.
    pub notes: Vec<String>,
}

/// One picture of a sheet, or frame of an animation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// Index of the clip in the sidecar.
    pub clip: usize,
    /// Frames since the clip began; between two frames the player blends.
    pub frame: f64,
    /// Seconds since the clip began.
    pub seconds: f64,
    /// Its left upper corner in the file, in pixels.
    pub corner: [u32; 2],
    /// Width and height.
    pub size: [u32; 2],
    /// From glTF's axes and metres to the picture, column by column: x and y from -1 to 1, depth from 0 to 1.
    pub projection: [[f32; 4]; 4],
}

impl Shown {
    fn new(moment: &Moment, place: &Place, corner: [u32; 2], size: [u32; 2]) -> Self {
        let projection = place.camera.matrix().to_cols_array_2d();
        Self { clip: moment.clip, frame: moment.frame, seconds: moment.seconds, corner, size, projection }
    }
}

/// Makes the picture that `output`'s extension asks for. The file is complete or absent, and never one that the bake consists of.
///
/// # Errors
/// [`Error::Usage`] where settings do not fit the bake, [`Error::Device`] where a picture is asked for and no adapter draws it, and
/// those of reading the source and writing the file.
pub fn preview(baked: &Baked, settings: &Settings, output: &Path, progress: &mut dyn Progress) -> Result<Made> {
    let kind = Kind::of(output)?;
    check(baked, settings, kind)?;
    let clips = choose_clips(baked, settings, kind)?;
    let mut file = Output::begin(baked, settings, output)?;
    let made = match kind {
        Kind::Page => write_page(baked, settings, &clips, &mut file),
        Kind::Sheet => write_sheet(baked, settings, &clips, &mut file, progress),
        Kind::Animation => write_animation(baked, settings, &clips, &mut file, progress),
    }?;
    if progress.is_cancelled() {
        return Err(Error::Interrupted);
    }
    let path = file.commit()?;
    let bytes = std::fs::metadata(&path).map_err(Error::io("read the size of", &path))?.len();
    let names = clips.iter().map(|&c| clip_name(&baked.sidecar.clips[c])).collect();
    Ok(Made { kind, file: path, bytes, clips: names, show: settings.show, ..made })
}

/// A clip as messages and pictures name it.
fn clip_name(clip: &Clip) -> String {
    let unnamed = || clip.animation.map_or_else(|| "static".into(), |animation| format!("anim_{animation}"));
    clip.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(unnamed)
}

fn check(baked: &Baked, settings: &Settings, kind: Kind) -> Result<()> {
    let name = settings.show.name();
    if settings.show.needs_source() && settings.source.is_none() {
        let file = &baked.sidecar.source.file;
        return Err(Error::Usage(format!("--show {name} needs the model that was baked; give it with --source, as in --source {file}")));
    }
    if kind == Kind::Page && matches!(settings.show, Show::Joints | Show::Weights | Show::Paths) {
        return Err(Error::Usage(format!("--show {name} is for pictures, and a page has views of its own; name a .png or .gif with -o")));
    }
    if settings.show == Show::Normals && baked.texture(Role::Normal).is_none() {
        return Err(Error::Usage("--show normals has nothing to show: this bake was made with --normals none".into()));
    }
    if let Some([width, height]) = settings.size.filter(|size| size.iter().any(|side| !SIZE_RANGE.contains(side))) {
        let (least, most) = SIZE_RANGE.into_inner();
        return Err(Error::Usage(format!("--size takes sides from {least} to {most} pixels, not {width} x {height}")));
    }
    if !(1..=MOST_COLUMNS).contains(&settings.columns) {
        return Err(Error::Usage(format!("--columns takes 1 to {MOST_COLUMNS}, not {}", settings.columns)));
    }
    Ok(())
}

fn choose_clips(baked: &Baked, settings: &Settings, kind: Kind) -> Result<Vec<usize>> {
    let names: Vec<String> = baked.sidecar.clips.iter().map(clip_name).collect();
    if names.is_empty() {
        return Err(Error::Bake("the bake has no clip; bake again".into()));
    }
    let chosen = if settings.clips.is_empty() { (0..names.len()).collect() } else { select(&settings.clips, &names, "clip")? };
    match (kind, &chosen[..]) {
        // a page shows all
        (Kind::Page, _) if !settings.clips.is_empty() => {
            Err(Error::Usage("--clip is for pictures, and a page has every clip; name a .png or .gif with -o".into()))
        }
        (Kind::Animation, [first, ..]) if settings.clips.is_empty() => Ok(vec![*first]),
        (Kind::Animation, [_, _, ..]) => {
            let list: Vec<String> = chosen.iter().map(|&c| names[c].clone()).collect();
            Err(Error::Usage(format!("an animation shows one clip, and --clip means {}: {}", list.len(), list_names(&list))))
        }
        _ => Ok(chosen),
    }
}
