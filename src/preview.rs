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

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use camera::View;
pub use picture::Background;

use self::error::Errors;
use self::gif::Animation;
use self::moments::{Moment, for_animation, for_sheet};
use self::paint::{Painter, Place};
use self::palette::Counter;
use self::render::Stage;
use self::sheet::{Grid, letter_of};
use crate::baked::Baked;
use crate::options::{DeviceChoice, Input};
use crate::output::set::Set;
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
/// Pixels of a sheet's picture, as the side of a square, unless asked otherwise.
const SHEET_SIDE: f64 = 220.0;
/// The same for an animation.
const ANIMATION_SIDE: f64 = 380.0;

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

/// The file that is being written.
struct Output {
    set: Set,
    name: String,
    path: PathBuf,
}

impl Output {
    fn begin(baked: &Baked, settings: &Settings, path: &Path) -> Result<Self> {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name else {
            return Err(Error::Usage(format!("-o/--output has no file name that can be written: {}", path.display())));
        };
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let sidecar = &baked.sidecar;
        let files = sidecar.textures.iter().map(|t| &t.file).chain([&sidecar.mesh.file]).map(|file| baked.folder.join(file));
        let mut inputs: Vec<PathBuf> = files.chain([baked.folder.join(format!("{}.vat.json", baked.name))]).collect();
        if let Some(Input::File(source)) = &settings.source {
            inputs.push(source.clone());
        }
        Ok(Self { set: Set::begin(folder, name, &inputs)?, name: name.into(), path: path.into() })
    }

    fn open(&mut self) -> Result<BufWriter<crate::output::set::SetFile>> {
        Ok(BufWriter::with_capacity(1 << 16, self.set.file(&self.name)?))
    }

    fn commit(self) -> Result<PathBuf> {
        self.set.commit(&self.name)?;
        Ok(self.path)
    }
}

fn made(
    kind: Kind,
    pictures: Vec<Shown>,
    size: Option<[u32; 2]>,
    device: Option<Device>,
    largest_error: Option<f64>,
    notes: Vec<String>,
) -> Made {
    Made { kind, file: PathBuf::new(), bytes: 0, show: Show::Shaded, clips: Vec::new(), pictures, size, device, largest_error, notes }
}

/// Writes the page, which needs no adapter. With a source it has a view of the errors too.
fn write_page(baked: &Baked, settings: &Settings, clips: &[usize], file: &mut Output) -> Result<Made> {
    let errors = match &settings.source {
        Some(source) => Some(Errors::read(source, baked, clips, settings.allow_outside)?.all()?),
        None => None,
    };
    let path = file.path.clone();
    let mut out = file.open()?;
    page::write(baked, errors.as_ref(), &mut out)?;
    finish(out, &path)?;
    Ok(made(Kind::Page, Vec::new(), None, None, errors.map(|errors| errors.largest.into()), Vec::new()))
}

/// Width and height of a picture of what these points show, about `side` squared.
fn fit_size(settings: &Settings, points: &[glam::DVec3], side: f64) -> [u32; 2] {
    settings.size.unwrap_or_else(|| {
        let aspect = settings.view.aspect(points).clamp(0.6, 1.7).sqrt();
        [side * aspect, side / aspect].map(|side| (side / 4.0).round() as u32 * 4)
    })
}

fn write_sheet(baked: &Baked, settings: &Settings, clips: &[usize], file: &mut Output, progress: &mut dyn Progress) -> Result<Made> {
    let sidecar = &baked.sidecar;
    let rows: Vec<Vec<Moment>> = clips.iter().map(|&c| for_sheet(c, &sidecar.clips[c], settings.columns)).collect();
    let all = rows.concat();
    let context = adapter::start(&settings.device)?;
    let painter = Painter::new(baked, settings, &all)?;
    let extents = clips.iter().zip(&rows).map(|(&c, row)| painter.extent(c, row)).collect::<Result<Vec<_>>>()?;
    let cell = fit_size(settings, &extents.concat(), SHEET_SIDE);
    let letter = letter_of(cell);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(1) as u32;
    let grid = Grid { cell, count: [columns, rows.len() as u32], letter, legend: painter.legend_height(letter) };
    let mut sheet = grid.sheet(settings.background)?;
    let places = painter.places(&settings.view, &extents, f64::from(cell[0]) / f64::from(cell[1]));
    let stage = Stage::new(context, baked, cell).map_err(adapter::drawing)?;
    let ink = settings.background.ink();
    let mut shown = Vec::with_capacity(all.len());
    for ((row, moments), place) in (0..).zip(&rows).zip(&places) {
        for (column, moment) in (0..).zip(moments) {
            if progress.is_cancelled() {
                return Err(Error::Interrupted);
            }
            let picture = painter.paint(&stage, place, moment).map_err(adapter::drawing)?;
            shown.push(Shown::new(moment, place, grid.corner(column, row), cell));
            grid.put(&mut sheet, [column, row], &picture, &clip_name(&sidecar.clips[moment.clip]), moment, ink);
        }
    }
    let (at, width) = grid.legend_place()?;
    painter.draw_legend(&mut sheet, at, width, letter);
    let path = file.path.clone();
    let mut out = file.open()?;
    sheet.write_png(&mut out, &path)?;
    finish(out, &path)?;
    Ok(made(Kind::Sheet, shown, Some(sheet.size), Some(stage.device().clone()), painter.largest_error, stage.notes))
}

fn write_animation(baked: &Baked, settings: &Settings, clips: &[usize], file: &mut Output, progress: &mut dyn Progress) -> Result<Made> {
    let sidecar = &baked.sidecar;
    let clip = clips.first().copied().unwrap_or_default();
    let frames = for_animation(clip, &sidecar.clips[clip]);
    let moments: Vec<Moment> = frames.iter().map(|(moment, _)| *moment).collect();
    let context = adapter::start(&settings.device)?;
    let painter = Painter::new(baked, settings, &moments)?;
    let extents = [painter.extent(clip, &moments)?];
    let size = fit_size(settings, &extents[0], ANIMATION_SIDE);
    let letter = letter_of(size);
    let full = [size[0], size[1] + painter.legend_height(letter)];
    let mut places = painter.places(&settings.view, &extents, f64::from(size[0]) / f64::from(size[1]));
    if settings.background == Background::Transparent {
        // a GIF's pixel is there or not, and half a shadow is neither
        places.iter_mut().for_each(|place| place.ground = None);
    }
    let stage = Stage::new(context, baked, size).map_err(adapter::drawing)?;
    let paint = |moment: &Moment| {
        let picture = painter.paint(&stage, &places[0], moment).map_err(adapter::drawing)?;
        let mut whole = picture::Picture::new(full, settings.background.pixel());
        whole.put(&picture, 0, 0);
        painter.draw_legend(&mut whole, [letter as u32, size[1]], size[0].saturating_sub(2 * letter as u32), letter);
        Ok::<_, Error>(whole)
    };
    let mut counter = Counter::default();
    let stride = moments.len().div_ceil(gif::SAMPLES).max(1);
    for moment in moments.iter().step_by(stride) {
        if progress.is_cancelled() {
            return Err(Error::Interrupted);
        }
        gif::count(&mut counter, &paint(moment)?);
    }
    let path = file.path.clone();
    let mut animation = Animation::begin(file.open()?, full, &counter, settings.background, &path)?;
    for (moment, delay) in &frames {
        if progress.is_cancelled() {
            return Err(Error::Interrupted);
        }
        animation.add(&paint(moment)?, *delay, &path)?;
    }
    animation.finish(&path)?;
    let shown = moments.iter().map(|moment| Shown::new(moment, &places[0], [0, 0], size)).collect();
    Ok(made(Kind::Animation, shown, Some(full), Some(stage.device().clone()), painter.largest_error, stage.notes))
}

/// Makes sure that the last bytes are written.
fn finish(mut out: BufWriter<crate::output::set::SetFile>, path: &Path) -> Result<()> {
    std::io::Write::flush(&mut out).map_err(Error::io("write the picture", path))
}
