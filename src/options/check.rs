//! Values and combinations of options that mean nothing.

use super::{Format, Fps, Normals, Options, RootMotion};
use crate::plan::layout::LONGEST_SIDE;
use crate::{Error, Result};

/// Smallest and largest [`Options::max_size`]: four texels are the least that a texture has, no adapter takes more than 32,768.
pub const MAX_SIZE_RANGE: std::ops::RangeInclusive<u32> = 4..=LONGEST_SIDE;
/// Smallest and largest [`Options::uv_set`]: set 0 is the picture's, engines have eight.
pub const UV_SET_RANGE: std::ops::RangeInclusive<u32> = 1..=7;

impl Options {
    /// Refuses what means nothing, whatever the model.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the flag and what to do.
    pub fn check(&self) -> Result<()> {
        let usage = |message: &str| Err(Error::Usage(message.into()));
        let is_positive = |value: f64| value.is_finite() && value > 0.0;
        match *self {
            Self { fps: Fps::Rate(rate), .. } if !is_positive(rate) => usage("--fps must be above 0"),
            Self { scale, .. } if !is_positive(scale) => usage("--scale must be above 0"),
            Self { start: Some(start), end: Some(end), .. } if start >= end => {
                Err(Error::Usage(format!("--start {start} must be before --end {end}; swap them or leave one out")))
            }
            Self { root: Some(_), root_motion: RootMotion::Keep, .. } => {
                usage("--root names the node whose way --root-motion strip takes out; add that or leave --root out")
            }
            Self { max_error: Some(error), .. } if !is_positive(error) => usage("--max-error must be a length above 0"),
            Self { max_normal_error, .. } if !is_positive(max_normal_error) => usage("--max-normal-error must be an angle above 0"),
            Self { normals: Normals::Alpha, format, .. } if !matches!(format, Format::Png16 | Format::Auto) => usage(
                "--normals alpha needs --format png16, whose alpha has room for both angles; use --normals separate with other formats",
            ),
            Self { normal_bits: Some(_), format: Format::Exr16 | Format::Exr32 | Format::Ktx2, .. } => {
                usage("--normal-bits is for PNG; in an EXR or KTX2 normals have the bits of its --format, so leave it out")
            }
            Self { normal_bits: Some(_), normals, .. } if !matches!(normals, Normals::Separate | Normals::Auto) => {
                usage("--normal-bits is for a normal texture of its own; leave it out or use --normals separate")
            }
            Self { normal_bits: Some(bits), .. } if !matches!(bits, 8 | 16) => usage("--normal-bits must be 8 or 16"),
            Self { uv_set, .. } if !UV_SET_RANGE.contains(&uv_set) => usage("--uv-set must be 1 to 7"),
            Self { max_size, .. } if !MAX_SIZE_RANGE.contains(&max_size) => usage("--max-size must be 4 to 32768"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_nothing_is_named() {
        let message = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            options.check().expect_err("refused").to_string()
        };
        assert!(Options::default().check().is_ok());
        for (message, flag) in [
            (message(|o| o.fps = Fps::Rate(f64::NAN)), "--fps"),
            (message(|o| o.scale = 0.0), "--scale"),
            (message(|o| (o.start, o.end) = (Some(2.0), Some(2.0))), "--start 2"),
            (message(|o| o.root = Some("Hips".into())), "--root-motion"),
            (message(|o| (o.normals, o.format) = (Normals::Alpha, Format::Png8)), "--normals alpha"),
            (message(|o| (o.normal_bits, o.format) = (Some(8), Format::Exr32)), "--normal-bits"),
            (message(|o| (o.normal_bits, o.normals) = (Some(8), Normals::Alpha)), "--normal-bits"),
            (message(|o| o.normal_bits = Some(12)), "8 or 16"),
            (message(|o| o.uv_set = 0), "--uv-set"),
            (message(|o| o.max_size = 32772), "--max-size"),
        ] {
            assert!(message.contains(flag), "{message}");
        }
    }
}
