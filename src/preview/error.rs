//! How far decoded vertices are from where they should be, by the reference in f64.

use rayon::prelude::*;

use super::page;
use crate::baked::Baked;
use crate::options::Input;
use crate::verify::Request;
use crate::verify::reference::Reference;
use crate::{Error, Result};

/// The reference of a bake.
#[derive(Debug)]
pub struct Errors<'a> {
    baked: &'a Baked,
    reference: Reference,
}

impl<'a> Errors<'a> {
    /// Reads the model and finds the bake's vertices in it.
    ///
    /// # Errors
    /// Those of reading the model; [`Error::Usage`] where it is another one than the bake's, or lacks one of `clips` (indices into the
    /// sidecar's).
    pub fn read(input: &Input, baked: &'a Baked, clips: &[usize], allow_outside: bool) -> Result<Self> {
        let sidecar = &baked.sidecar;
        let mut reference = Reference::read(input, &Request { allow_outside, ..Request::default() }, sidecar)?;
        super::rig::check_source(input, sidecar, reference.sha256())?;
        reference.settle(baked).map_err(|why| super::rig::other_model(input, sidecar, &why))?;
        if let Some((clip, why)) = reference.missing_clips().find(|(clip, _)| clips.contains(clip)) {
            return Err(Error::Usage(format!("--source does not hold clip {clip} of the bake ({why}); choose other clips with --clip")));
        }
        Ok(Self { baked, reference })
    }

    /// The error of every vertex at a frame of the bake, by vertex number; metres.
    ///
    /// # Errors
    /// [`Error::Bake`] where no clip has the frame.
    pub fn at(&self, frame: u32) -> Result<Vec<f64>> {
        let sidecar = &self.baked.sidecar;
        let pose = self.reference.frame(sidecar, frame as usize);
        let pose = pose.ok_or_else(|| Error::Bake(format!("no clip of the bake has frame {frame}; bake again")))?;
        let units = f64::from(sidecar.space.units_a_metre());
        let wanted = self.reference.positions(&pose);
        let error = |(v, wanted): (usize, &glam::DVec3)| self.baked.position(v, frame as usize).distance(*wanted) / units;
        Ok(wanted.par_iter().enumerate().map(error).collect())
    }

    /// All of them, for the page.
    ///
    /// # Errors
    /// As [`Self::at`].
    pub fn all(&self) -> Result<page::Errors> {
        let sidecar = &self.baked.sidecar;
        let vertices = sidecar.vertex_count as usize;
        let mut errors = vec![0.0f32; vertices * sidecar.frame_count as usize];
        for frame in sidecar.clips.iter().flat_map(|clip| clip.first_frame..clip.first_frame + clip.frame_count) {
            let row = errors.chunks_exact_mut(vertices.max(1)).nth(frame as usize);
            row.into_iter().flatten().zip(self.at(frame)?).for_each(|(to, error)| *to = error as f32);
        }
        let largest = errors.iter().copied().filter(|e| e.is_finite()).fold(0.0, f32::max);
        let share = |e: f32| if largest > 0.0 { (e / largest * 255.0).clamp(0.0, 255.0) + 0.5 } else { 0.0 };
        // what is no number is shown as the worst
        let values = errors.iter().map(|&e| if e.is_finite() { share(e) as u8 } else { 255 }).collect();
        Ok(page::Errors { unit: "metre".into(), largest, values })
    }
}
