//! One picture of a bake at a moment: the model, and what is drawn over it.

use glam::{DVec3, Vec2};
use rayon::prelude::*;

use super::camera::{Camera, View};
use super::colours;
use super::error::Errors;
use super::letters;
use super::moments::Moment;
use super::picture::{Background, Picture, Rgba};
use super::render::{Colouring, Shot, Stage};
use super::rig::Rig;
use super::upload::to_gltf;
use super::{Settings, Show};
use crate::Result;
use crate::baked::Baked;
use crate::output::sidecar::{Bounds, Clip};

/// Vertices that are decoded to find out how large a motion is; beyond, the sidecar's boxes say it.
const MOST_POINTS: usize = 6_000_000;
/// A clip whose camera would stand nearer than this share of the common one's distance gets its own.
const OWN_CAMERA: f64 = 0.6;
/// Positions of a path.
const PATH_POINTS: usize = 240;
/// Paths that are still told apart: the longest are drawn.
const MOST_PATHS: usize = 24;

/// Where the pictures of a clip are taken from.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The camera.
    pub camera: Camera,
    /// Height of what the model stands on, where it is seen from above.
    pub ground: Option<f64>,
}

/// Trajectories over a clip.
#[derive(Debug)]
struct Path {
    colour: Rgba,
    /// Index into the rig's bones.
    bone: usize,
    points: Vec<DVec3>,
}

/// What all pictures of a run share.
#[derive(Debug)]
pub struct Painter<'a> {
    baked: &'a Baked,
    show: Show,
    background: Background,
    rig: Option<Rig>,
    errors: Option<Errors<'a>>,
    /// Colours of the mesh's vertices that do not change with time.
    fixed: Option<Vec<Rgba>>,
    /// Per clip of the sidecar.
    paths: Vec<Vec<Path>>,
    /// The largest error of what is shown, metres.
    pub largest_error: Option<f64>,
}

impl<'a> Painter<'a> {
    /// Reads the source where something of it is shown, and prepares what is drawn over `moments`, the ones that will be painted.
    ///
    /// # Errors
    /// Those of reading the source, and clips that it lacks.
    pub fn new(baked: &'a Baked, settings: &Settings, moments: &[Moment]) -> Result<Self> {
        let mut shown: Vec<usize> = moments.iter().map(|m| m.clip).collect();
        shown.dedup();
        let (mut rig, mut errors) = (None, None);
        match (settings.show, &settings.source) {
            (Show::Shaded | Show::Normals, _) | (_, None) => {}
            (Show::Error, Some(source)) => errors = Some(Errors::read(source, baked, &shown, settings.allow_outside)?),
            (_, Some(source)) => rig = Some(Rig::read(source, baked, settings.allow_outside)?),
        }
        let mut painter = Self {
            baked,
            show: settings.show,
            background: settings.background,
            rig,
            errors,
            fixed: None,
            paths: baked.sidecar.clips.iter().map(|_| Vec::new()).collect(),
            largest_error: None,
        };
        if painter.errors.is_some() {
            let mut largest = 0.0f64;
            for moment in moments {
                // an error that is no number is the largest
                let of_moment = painter.errors(moment)?.into_iter().map(|e| if e.is_nan() { f64::INFINITY } else { e });
                largest = of_moment.fold(largest, f64::max);
            }
            painter.largest_error = Some(largest);
        }
        match (settings.show, &painter.rig) {
            (Show::Weights, Some(rig)) => painter.fixed = Some(painter.by_mesh(&rig.influences(), [0, 0, 0, 255])),
            (Show::Paths, Some(rig)) => {
                let paths = shown.iter().map(|&c| Ok((c, find_paths(rig, &baked.sidecar.clips[c])?))).collect::<Result<Vec<_>>>()?;
                paths.into_iter().for_each(|(clip, paths)| painter.paths[clip] = paths);
            }
            _ => {}
        }
        Ok(painter)
    }

    /// Everything that pictures of a clip will show, in glTF's axes: for the camera.
    pub fn extent(&self, clip: usize, moments: &[Moment]) -> Result<Vec<DVec3>> {
        let (sidecar, to_gltf) = (&self.baked.sidecar, to_gltf(&self.baked.sidecar));
        let of = &sidecar.clips[clip];
        let vertices = sidecar.vertex_count as usize;
        let mut points: Vec<DVec3> = if vertices.saturating_mul(moments.len()) <= MOST_POINTS {
            let frame = |m: &Moment| {
                let frame = m.whole_frame(of) as usize;
                (0..vertices).map(move |v| self.baked.position(v, frame)).collect::<Vec<_>>()
            };
            moments.par_iter().flat_map_iter(frame).collect()
        } else {
            corners(&of.bounds)
        };
        points.iter_mut().for_each(|p| *p = to_gltf * *p);
        if let (Show::Joints, Some(rig)) = (self.show, &self.rig) {
            let frames: Vec<f64> = moments.iter().map(|m| m.frame).collect();
            points.extend(rig.places(of, &frames)?.into_iter().flatten());
        }
        points.extend(self.paths[clip].iter().flat_map(|path| &path.points));
        Ok(points)
    }

    /// One camera for all clips; each its own where one of them would look lost in the common picture.
    pub fn places(&self, view: &View, extents: &[Vec<DVec3>], aspect: f64) -> Vec<Place> {
        let place = |points: &[DVec3]| {
            let camera = Camera::new(view, points, aspect);
            let lowest = points.iter().map(|p| p.y).filter(|y| y.is_finite()).fold(f64::INFINITY, f64::min);
            Place { camera, ground: (camera.sees_ground() && lowest.is_finite()).then_some(lowest) }
        };
        let common = place(&extents.concat());
        let own: Vec<Place> = extents.iter().map(|points| place(points)).collect();
        let is_lost = own.iter().any(|place| place.camera.distance() < OWN_CAMERA * common.camera.distance());
        if is_lost { own } else { vec![common; extents.len()] }
    }

    /// Paints a moment.
    ///
    /// # Errors
    /// Where the adapter fails.
    pub fn paint(&self, stage: &Stage, place: &Place, moment: &Moment) -> Result<Picture> {
        let clip = &self.baked.sidecar.clips[moment.clip];
        let errors = match (self.show, self.largest_error) {
            (Show::Error, Some(largest)) => {
                let share = |e: f64| if largest > 0.0 { e / largest } else { 0.0 };
                let colours: Vec<_> = self.errors(moment)?.into_iter().map(|e| colours::heat(share(e))).collect();
                Some(self.by_mesh(&colours, colours::heat(1.0)))
            }
            _ => None,
        };
        let colouring = match self.show {
            Show::Shaded => Colouring::Shaded,
            Show::Normals => Colouring::Normals,
            Show::Error | Show::Weights => Colouring::Colours,
            Show::Joints | Show::Paths => Colouring::Clay,
        };
        let intervals = clip.frame_count.saturating_sub(1) as f32;
        let shot = Shot {
            camera: &place.camera,
            // a rate of 0 shows the frame that the last number names
            clip: [clip.first_frame as f32, intervals, 0.0, moment.frame as f32],
            colouring,
            ground: place.ground,
            colours: errors.as_deref().or(self.fixed.as_deref()),
        };
        let layers = stage.draw(&shot)?;
        let mut picture = Picture::compose(&layers, self.background);
        match (self.show, &self.rig) {
            (Show::Joints, Some(rig)) => draw_joints(&mut picture, rig, &place.camera, &single(rig.places(clip, &[moment.frame])?)),
            (Show::Paths, Some(rig)) => {
                let now = single(rig.places(clip, &[moment.frame])?);
                draw_paths(&mut picture, &self.paths[moment.clip], &place.camera, &now);
            }
            _ => {}
        }
        Ok(picture)
    }

    /// Height of the legend below the pictures, in pixels; 0 without one.
    pub fn legend_height(&self, letter: f32) -> u32 {
        if self.largest_error.is_some() { (letter * 5.0).ceil() as u32 } else { 0 }
    }

    /// Draws the legend: what the colours mean, and the largest error.
    pub fn draw_legend(&self, picture: &mut Picture, at: [u32; 2], width: u32, letter: f32) {
        let Some(largest) = self.largest_error else { return };
        let ink = self.background.ink();
        let (bar, thick) = ((width as f32 * 0.45).clamp(20.0, 260.0) as u32, (letter * 1.1).ceil() as u32);
        for x in 0..bar {
            picture.fill(at[0] + x, at[1], [1, thick], colours::heat(f64::from(x) / f64::from(bar.max(2) - 1)));
        }
        let base = (at[1] + thick) as f32 + letter * 1.7;
        let left = at[0] as f32;
        letters::write(picture, "0", Vec2::new(left, base), letter, 1.0, ink);
        let most = colours::length(largest);
        let text =
            letters::fit(&format!("{most} (largest error shown)"), letter, width as f32 - letters::width("0", letter) - letter * 2.0);
        let most_width = letters::width(&text, letter);
        // under the bar's end where it fits, else as far right as the picture allows
        let end = (left + bar as f32 - letters::width(&most, letter)).min(left + width as f32 - most_width);
        letters::write(picture, &text, Vec2::new(end.max(left + letter * 2.0), base), letter, 1.0, ink);
    }

    /// Errors at the nearest whole frame, by vertex number; metres.
    fn errors(&self, moment: &Moment) -> Result<Vec<f64>> {
        let frame = moment.whole_frame(&self.baked.sidecar.clips[moment.clip]);
        self.errors.as_ref().map_or(Ok(Vec::new()), |errors| errors.at(frame))
    }

    /// Colours by vertex number in the order of the mesh's vertices.
    fn by_mesh(&self, colours: &[Rgba], absent: Rgba) -> Vec<Rgba> {
        self.baked.mesh.numbers.iter().map(|&n| colours.get(n as usize).copied().unwrap_or(absent)).collect()
    }
}

fn single(mut places: Vec<Vec<DVec3>>) -> Vec<DVec3> {
    places.pop().unwrap_or_default()
}

fn corners(bounds: &Bounds) -> Vec<DVec3> {
    let side = |i: usize, axis: usize| f64::from(if i >> axis & 1 == 0 { bounds.min[axis] } else { bounds.max[axis] });
    (0..8).map(|i| DVec3::new(side(i, 0), side(i, 1), side(i, 2))).collect()
}

/// Lines from each joint to the one above it, and the joints.
fn draw_joints(picture: &mut Picture, rig: &Rig, camera: &Camera, places: &[DVec3]) {
    let bones = rig.bones();
    let deepest = bones.iter().map(|b| b.depth).max().unwrap_or(0);
    let radius = (picture.size[0].min(picture.size[1]) as f32 / 200.0).max(0.9);
    let at: Vec<Option<Vec2>> = places.iter().map(|&p| camera.project(p, picture.size)).collect();
    let pairs = || bones.iter().zip(&at).filter_map(|(bone, at)| Some((bone, (*at)?)));
    // a dark edge keeps lines apart from the model and from each other
    for (extra, darker) in [(radius * 0.8, true), (0.0, false)] {
        let colour = |depth: usize| if darker { [0x20, 0x24, 0x28, 255] } else { colours::depth(depth, deepest) };
        for (bone, to) in pairs() {
            if let Some(from) = bone.parent.and_then(|p| at[p]) {
                picture.line(&[from, to], radius + extra, colour(bone.depth));
            }
        }
        for (bone, to) in pairs() {
            picture.dot(to, radius * 1.7 + extra, colour(bone.depth));
        }
    }
}

fn draw_paths(picture: &mut Picture, paths: &[Path], camera: &Camera, now: &[DVec3]) {
    let radius = (picture.size[0].min(picture.size[1]) as f32 / 260.0).max(0.7);
    let size = picture.size;
    for path in paths {
        let points: Vec<Vec2> = path.points.iter().filter_map(|&p| camera.project(p, size)).collect();
        picture.line(&points, radius, path.colour);
    }
    for path in paths {
        if let Some(at) = now.get(path.bone).and_then(|&p| camera.project(p, size)) {
            picture.dot(at, radius * 3.4, [0x20, 0x24, 0x28, 255]);
            picture.dot(at, radius * 2.6, path.colour);
        }
    }
}

/// The ways of the roots and of the ends of limbs over a whole clip.
fn find_paths(rig: &Rig, clip: &Clip) -> Result<Vec<Path>> {
    let last = f64::from(clip.frame_count.saturating_sub(1));
    let count = (clip.frame_count as usize).clamp(1, PATH_POINTS);
    let frames: Vec<f64> = (0..count).map(|k| last * k as f64 / (count.max(2) - 1) as f64).collect();
    let places = rig.places(clip, &frames)?;
    let way = |bone: usize| places.iter().map(|frame| frame[bone]).collect::<Vec<_>>();
    let far = |points: &[DVec3]| points.windows(2).map(|pair| pair[0].distance(pair[1])).sum::<f64>();
    let bones = || rig.bones().iter().enumerate();
    let mut ends: Vec<(usize, Vec<DVec3>)> = bones().filter(|(_, b)| b.is_end && b.parent.is_some()).map(|(i, _)| (i, way(i))).collect();
    ends.sort_by(|a, b| far(&b.1).total_cmp(&far(&a.1)));
    ends.truncate(MOST_PATHS);
    ends.sort_by_key(|(bone, _)| *bone);
    let shown = ends.len();
    let ends = ends.into_iter().enumerate().map(|(i, (bone, points))| Path { colour: colours::path(i, shown), bone, points });
    let roots = bones().filter(|(_, b)| b.parent.is_none()).map(|(bone, _)| Path { colour: colours::depth(0, 1), bone, points: way(bone) });
    Ok(ends.chain(roots).collect())
}
