//! Puts a sheet, an animation or a page together and into its file.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::Errors;
use super::gif::{self, Animation};
use super::moments::{Moment, for_animation, for_sheet};
use super::paint::Painter;
use super::palette::Counter;
use super::picture::{Background, Picture};
use super::render::Stage;
use super::sheet::{Grid, letter_of};
use super::{Kind, Made, Settings, Show, Shown, adapter, clip_name, page};
use crate::baked::Baked;
use crate::options::Input;
use crate::output::set::{Set, SetFile};
use crate::report::{Device, Progress};
use crate::targets::{Kit, Target};
use crate::{Error, Result};

/// Pixels of a sheet's picture, as the side of a square, unless asked otherwise.
const SHEET_SIDE: f64 = 220.0;
/// The same for an animation.
const ANIMATION_SIDE: f64 = 380.0;
/// Pixels that an animation may hold while its palette is made.
const KEPT_PIXELS: usize = 1 << 26;

/// The file that is being written.
pub struct Output {
    set: Set,
    name: String,
    path: PathBuf,
}

impl Output {
    /// Prepares it. Neither the files of the bake and its kit nor the source may be replaced.
    pub fn begin(baked: &Baked, settings: &Settings, path: &Path) -> Result<Self> {
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
        inputs.extend(kit_files(baked));
        if let Some(Input::File(source)) = &settings.source {
            inputs.push(source.clone());
        }
        Ok(Self { set: Set::begin(folder, name, &inputs)?, name: name.into(), path: path.into() })
    }

    fn open(&mut self) -> Result<BufWriter<SetFile>> {
        Ok(BufWriter::with_capacity(1 << 16, self.set.file(&self.name)?))
    }

    /// Gives it its name.
    pub fn commit(self) -> Result<PathBuf> {
        self.set.commit(&self.name)?;
        Ok(self.path)
    }
}

/// The text files of the kit that the bake lies in: where all of one are there, since a page of the same name may have come from here.
fn kit_files(baked: &Baked) -> Vec<PathBuf> {
    let kit = Kit { name: &baked.name, sidecar: &baked.sidecar };
    let paths = |target: &Target| target.files(&kit).into_iter().map(|file| baked.folder.join(file.name)).collect::<Vec<_>>();
    Target::ALL.iter().map(paths).filter(|files| files.iter().all(|file| file.is_file())).flatten().collect()
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
pub fn write_page(baked: &Baked, settings: &Settings, clips: &[usize], file: &mut Output) -> Result<Made> {
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

/// Draws a contact sheet.
pub fn write_sheet(baked: &Baked, settings: &Settings, clips: &[usize], file: &mut Output, progress: &mut dyn Progress) -> Result<Made> {
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

/// Draws an animation.
pub fn write_animation(
    baked: &Baked,
    settings: &Settings,
    clips: &[usize],
    file: &mut Output,
    progress: &mut dyn Progress,
) -> Result<Made> {
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
        let mut whole = Picture::new(full, settings.background.pixel());
        whole.put(&picture, 0, 0);
        painter.draw_legend(&mut whole, [letter as u32, size[1]], size[0].saturating_sub(2 * letter as u32), letter);
        Ok::<_, Error>(whole)
    };
    let mut counter = Counter::default();
    let stride = moments.len().div_ceil(gif::SAMPLES).max(1);
    // what the palette is made from need not be drawn twice
    let is_small = full[0] as usize * full[1] as usize * gif::SAMPLES <= KEPT_PIXELS;
    let mut kept: Vec<Option<Picture>> = vec![None; moments.len()];
    for (moment, kept) in moments.iter().zip(&mut kept).step_by(stride) {
        if progress.is_cancelled() {
            return Err(Error::Interrupted);
        }
        let picture = paint(moment)?;
        gif::count(&mut counter, &picture);
        *kept = is_small.then_some(picture);
    }
    let path = file.path.clone();
    let mut animation = Animation::begin(file.open()?, full, &counter, settings.background, &path)?;
    for ((moment, delay), kept) in frames.iter().zip(kept) {
        if progress.is_cancelled() {
            return Err(Error::Interrupted);
        }
        let picture = kept.map_or_else(|| paint(moment), Ok)?;
        animation.add(&picture, *delay, &path)?;
    }
    animation.finish(&path)?;
    let shown = moments.iter().map(|moment| Shown::new(moment, &places[0], [0, 0], size)).collect();
    Ok(made(Kind::Animation, shown, Some(full), Some(stage.device().clone()), painter.largest_error, stage.notes))
}

/// Makes sure that the last bytes are written.
fn finish(mut out: BufWriter<SetFile>, path: &Path) -> Result<()> {
    out.flush().map_err(Error::io("write the picture", path))
}
