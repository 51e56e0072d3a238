//! How texels are stored: every choice that options and engines leave open, as a list with the cheapest first.

use crate::encode::{Form, NormalMode, Texel};
use crate::options::{Format, Normals, Options, Position};
use crate::output::sidecar::Pixel;
use crate::targets::Target;
use crate::{Error, Result};

/// What kind of file holds the texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    Png,
    Exr,
    Ktx2,
    /// Texels alone, for importers of our own.
    Raw,
}

impl Container {
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Exr => "exr",
            Self::Ktx2 => "ktx2",
            Self::Raw => "raw",
        }
    }
}

/// One way to store a bake's texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    pub container: Container,
    pub pixel: Pixel,
    /// Pixels of normals and tangents.
    pub direction_pixel: Pixel,
    pub is_offset: bool,
    pub normals: NormalMode,
    pub tangents: bool,
}

impl Stored {
    /// Bytes that a vertex takes in a frame on the GPU.
    pub fn bytes(&self) -> u64 {
        let directions = u64::from(self.normals == NormalMode::Separate) + u64::from(self.tangents);
        self.pixel.texel_bytes() + directions * self.direction_pixel.texel_bytes()
    }

    /// What the quantisation is asked for.
    pub fn form(&self) -> Form {
        let levels = |pixel| if pixel == Pixel::Rgba8Unorm { 255.0 } else { 65535.0 };
        Form {
            texel: if self.is_float() { Texel::Float } else { Texel::Uint },
            is_offset: self.is_offset,
            levels: levels(self.pixel),
            normals: self.normals,
            normal_levels: levels(self.direction_pixel),
            tangents: self.tangents,
        }
    }

    pub fn is_float(&self) -> bool {
        matches!(self.pixel, Pixel::Rgba16Float | Pixel::Rgba32Float)
    }

    pub fn is_half(&self) -> bool {
        self.pixel == Pixel::Rgba16Float
    }

    /// In a few words, for messages.
    pub fn words(&self) -> String {
        let bits = |pixel| match pixel {
            Pixel::Rgba8Unorm => "8-bit",
            Pixel::Rgba16Unorm => "16-bit",
            Pixel::Rgba16Float => "half-float",
            Pixel::Rgba32Float => "32-bit float",
        };
        let position = if self.is_offset { "offsets" } else { "positions" };
        let normals = match self.normals {
            NormalMode::None => String::new(),
            NormalMode::Octahedral => " with normals in the alpha".into(),
            NormalMode::Separate => format!(" and {} normals", bits(self.direction_pixel)),
        };
        format!("{} {} {position}{normals}", bits(self.pixel), self.container.extension().to_uppercase())
    }
}

/// Formats that an engine loads without loss, the one that `--format auto` takes first.
fn formats(target: Option<Target>) -> &'static [Format] {
    match target {
        None => &[Format::Png16, Format::Png8, Format::Exr16, Format::Exr32],
        // its importer cuts 16-bit PNGs to 8 bits
        Some(Target::Godot) => &[Format::Exr16, Format::Exr32],
        Some(Target::Unity) => &[Format::Png16, Format::Png8, Format::Exr16, Format::Exr32],
        // 16-bit integers become half floats or 8 bits
        Some(Target::Unreal) => &[Format::Exr16, Format::Exr32],
        Some(Target::Bevy) => &[Format::Png16, Format::Png8, Format::Ktx2],
        // browsers cut 16-bit PNGs to 8 bits
        Some(Target::Three) => &[Format::Ktx2, Format::Exr16, Format::Exr32],
    }
}

fn container(target: Option<Target>, format: Format) -> Container {
    match (target, format) {
        (Some(Target::Unity), _) => Container::Raw,
        (_, Format::Auto | Format::Png8 | Format::Png16) => Container::Png,
        (_, Format::Exr16 | Format::Exr32) => Container::Exr,
        (_, Format::Ktx2) => Container::Ktx2,
    }
}

fn pixel(format: Format) -> Pixel {
    match format {
        Format::Png8 => Pixel::Rgba8Unorm,
        Format::Auto | Format::Png16 => Pixel::Rgba16Unorm,
        Format::Exr16 | Format::Ktx2 => Pixel::Rgba16Float,
        Format::Exr32 => Pixel::Rgba32Float,
    }
}

/// How a bake may be stored for `target` (the native set where there is none), in the order of preference: with `--max-error` the
/// cheapest first, else what is usual first. Never empty.
///
/// # Errors
/// [`Error::Usage`] where the engine does not load what was asked for.
pub fn list_choices(options: &Options, target: Option<Target>) -> Result<Vec<Stored>> {
    let possible = formats(target);
    let formats: Vec<Format> = match (options.format, target) {
        (Format::Auto, _) => possible.to_vec(),
        (format, None) => vec![format],
        (format, Some(_)) if possible.contains(&format) => vec![format],
        (format, Some(target)) => {
            let names: Vec<_> = possible.iter().map(|f| format_name(*f)).collect();
            return Err(Error::Usage(format!(
                "--for {} cannot take --format {}: it loads {} without loss; choose one of them or leave --format out",
                target.folder(),
                format_name(format),
                names.join(", "),
            )));
        }
    };
    let chooses = options.max_error.is_some();
    let positions: &[bool] = match options.position {
        Position::Auto if chooses => &[true, false],
        Position::Auto | Position::Offset => &[true],
        Position::Absolute => &[false],
    };
    let mut choices = Vec::new();
    // bits of normals are those of a PNG's integers
    let fits = |format: &&Format| options.normal_bits.is_none() || !matches!(pixel(**format), Pixel::Rgba16Float | Pixel::Rgba32Float);
    for &format in formats.iter().filter(fits) {
        for &is_offset in positions {
            for (normals, direction_pixel) in list_normals(options, format, chooses) {
                let (container, pixel) = (container(target, format), pixel(format));
                choices.push(Stored { container, pixel, direction_pixel, is_offset, normals, tangents: options.tangents });
            }
        }
    }
    if choices.is_empty() {
        let engine = target.map_or("this bake", Target::folder);
        let flag = if options.normal_bits.is_some() { "--normal-bits" } else { "--normals alpha" };
        return Err(Error::Usage(format!(
            "{flag} needs integers (--format png16), which {engine} does not load without loss; leave it out"
        )));
    }
    if chooses {
        choices.sort_by_key(Stored::bytes);
    }
    Ok(choices)
}

/// Where normals may go in a format, and their pixels.
fn list_normals(options: &Options, format: Format, chooses: bool) -> Vec<(NormalMode, Pixel)> {
    let own = pixel(format);
    let is_png = matches!(own, Pixel::Rgba8Unorm | Pixel::Rgba16Unorm);
    let direction = match options.normal_bits {
        Some(8) if is_png => Pixel::Rgba8Unorm,
        Some(_) if is_png => Pixel::Rgba16Unorm,
        _ => own,
    };
    let separate = (NormalMode::Separate, direction);
    let alpha = (own == Pixel::Rgba16Unorm).then_some((NormalMode::Octahedral, own));
    match options.normals {
        Normals::None => vec![(NormalMode::None, direction)],
        Normals::Separate => vec![separate],
        Normals::Alpha => alpha.into_iter().collect(),
        Normals::Auto if !chooses || options.normal_bits.is_some() => vec![separate],
        Normals::Auto => {
            let bits: &[Pixel] = if is_png { &[Pixel::Rgba8Unorm, Pixel::Rgba16Unorm] } else { &[own] };
            alpha.into_iter().chain(bits.iter().map(|&pixel| (NormalMode::Separate, pixel))).collect()
        }
    }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Auto => "auto",
        Format::Png16 => "png16",
        Format::Png8 => "png8",
        Format::Exr16 => "exr16",
        Format::Exr32 => "exr32",
        Format::Ktx2 => "ktx2",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_limit_the_usual_comes_first() {
        let first = |target| list_choices(&Options::default(), target).expect("choices")[0];
        let native = first(None);
        assert_eq!((native.container, native.pixel, native.is_offset), (Container::Png, Pixel::Rgba16Unorm, true));
        assert_eq!((native.normals, native.direction_pixel), (NormalMode::Separate, Pixel::Rgba16Unorm));
        assert_eq!(first(Some(Target::Three)).container, Container::Ktx2);
        assert_eq!(first(Some(Target::Unity)).container, Container::Raw);
        for target in [Target::Godot, Target::Unreal] {
            assert_eq!((first(Some(target)).container, first(Some(target)).pixel), (Container::Exr, Pixel::Rgba16Float));
        }
    }

    #[test]
    fn with_a_limit_the_cheapest_comes_first() {
        let options = Options { max_error: Some(0.001), ..Options::default() };
        let choices = list_choices(&options, None).expect("choices");
        assert!(choices.is_sorted_by_key(Stored::bytes));
        assert_eq!(choices[0].bytes(), 8);
        assert!(choices.iter().any(|c| !c.is_offset) && choices.iter().any(|c| c.normals == NormalMode::Octahedral));
        let pinned = Options { format: Format::Exr32, position: Position::Offset, ..options };
        assert_eq!(list_choices(&pinned, None).expect("choices").len(), 1);
    }

    #[test]
    fn what_an_engine_does_not_load_is_refused() {
        let refused = |target, change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            list_choices(&options, Some(target)).expect_err("refused").to_string()
        };
        let text = refused(Target::Godot, |o| o.format = Format::Png16);
        assert!(text.contains("--for godot") && text.contains("exr16, exr32"), "{text}");
        let text = refused(Target::Three, |o| o.normals = Normals::Alpha);
        assert!(text.contains("--normals alpha"), "{text}");
        let text = refused(Target::Godot, |o| o.normal_bits = Some(8));
        assert!(text.contains("--normal-bits") && text.contains("godot"), "{text}");
        let limited = Options { max_error: Some(0.1), normal_bits: Some(8), ..Options::default() };
        assert!(list_choices(&limited, None).expect("choices").iter().all(|c| c.direction_pixel == Pixel::Rgba8Unorm));
    }
}
