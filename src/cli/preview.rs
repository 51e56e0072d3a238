//! `vatbake preview`: pictures of a bake.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::exit::Exit;
use super::input::open_input;
use super::json::to_text;
use super::progress::{Bar, watch_interrupts};
use super::show::{Paint, bytes, many, plain, print, say};
use super::values::Device;
use crate::baked::Baked;
use crate::preview::{Background, DEFAULT_COLUMNS, Kind, MOST_COLUMNS, Made, SIZE_RANGE, Settings, Show, View, preview};
use crate::{Error, Result};

const EXAMPLES: &str = "Examples:
  vatbake preview fox_vat/fox.vat.json -o fox.png
  vatbake preview fox_vat/fox.vat.json -o run.gif --clip Run --camera side --background transparent
  vatbake preview fox_vat/fox.vat.json -o error.png --show error --source fox.glb";

/// Flags of `preview`.
#[derive(Debug, ClapArgs)]
#[command(after_long_help = EXAMPLES)]
pub struct PreviewArgs {
    /// Sidecar of a bake (.vat.json), or its folder
    #[arg(value_name = "SIDECAR")]
    pub sidecar: PathBuf,
    /// File to write: .png is a contact sheet, .gif an animation, .html a page [default: ./NAME_preview.png]
    ///
    /// The sheet has a row for each clip and a column for each time. The animation loops without a seam where the clip does.
    /// Pictures need a graphics adapter, be it a software one; the page needs none.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What the picture shows
    #[arg(long, value_enum, default_value_t = Settings::default().show)]
    pub show: Show,
    /// The model that was baked, for what the bake itself does not hold; `-` reads a GLB from standard input
    #[arg(long, value_name = "MODEL")]
    pub source: Option<PathBuf>,
    /// Clips to show: names, globs (Walk*) or numbers from 0 [default: all on a sheet, the first in an animation]
    #[arg(short, long, value_name = "CLIP,...", value_delimiter = ',')]
    pub clip: Vec<String>,
    /// front, side, three-quarter, top, or degrees: yaw, pitch and perhaps a factor on the distance
    #[arg(long, value_name = "VIEW|YAW,PITCH[,FACTOR]", default_value = "three-quarter", allow_hyphen_values = true)]
    pub camera: View,
    /// Width and height of one picture in pixels, 16 to 4096; one number for both [default: after the motion's shape]
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    pub size: Option<[u32; 2]>,
    /// Most pictures in a row of a sheet, 1 to 64
    #[arg(long, value_name = "N", default_value_t = DEFAULT_COLUMNS, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_COLUMNS)))]
    pub columns: u32,
    /// What lies behind the model: a colour as in #e6ecef, or transparent
    #[arg(long, value_name = "COLOUR", default_value_t = Background::DEFAULT)]
    pub background: Background,
    /// What draws: auto takes a hardware GPU, else a software adapter; gpu, software, or a part of a name
    #[arg(long, value_name = "auto|gpu|software|NAME", default_value_t = Device(Settings::default().device))]
    pub device: Device,
    /// Read buffers and images of the model that lie outside its folder, instead of an error
    #[arg(long)]
    pub allow_outside: bool,
    /// Print errors only
    #[arg(short, long)]
    pub quiet: bool,
    /// Print what was made as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// `640x480`, or `512` for both sides.
fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let sides: Vec<Option<u32>> = text.split(['x', 'X', '×']).map(|side| side.trim().parse().ok()).collect();
    let size = match sides[..] {
        [Some(both)] => [both, both],
        [Some(width), Some(height)] => [width, height],
        _ => [0, 0],
    };
    let (least, most) = SIZE_RANGE.into_inner();
    if size.iter().all(|side| SIZE_RANGE.contains(side)) {
        Ok(size)
    } else {
        Err(format!("give sides from {least} to {most}, as in 256x320 or 256"))
    }
}

/// Makes the picture.
///
/// # Errors
/// Those of [`preview`] and of reading the bake.
pub fn run(args: &PreviewArgs) -> Result<Exit> {
    // what is wrong with the words is said before anything is read
    if let Some(output) = &args.output {
        Kind::of(output)?;
    }
    if args.show.needs_source() && args.source.is_none() {
        let value = clap::ValueEnum::to_possible_value(&args.show).map_or_else(String::new, |v| v.get_name().to_owned());
        return Err(Error::Usage(format!("--show {value} needs the model that was baked; give it with --source MODEL")));
    }
    watch_interrupts();
    let baked = Baked::read(&args.sidecar)?;
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}_preview.png", baked.name)));
    let settings = Settings {
        show: args.show,
        view: args.camera,
        size: args.size,
        columns: args.columns,
        clips: args.clip.clone(),
        background: args.background,
        source: args.source.as_deref().map(open_input).transpose()?,
        allow_outside: args.allow_outside,
        device: args.device.0.clone(),
    };
    let mut bar = Bar::new(baked.name.clone(), true);
    let made = preview(&baked, &settings, &output, &mut bar)?;
    drop(bar);
    if !args.quiet {
        let paint = Paint::stderr();
        made.notes.iter().for_each(|note| say(&paint.dim(&format!("note: {}", plain(note)))));
        if !args.json {
            print(&closing_line(&baked.name, &made))?;
        }
    }
    if args.json {
        print(&to_text(&made))?;
    }
    Ok(Exit::Done)
}

/// What was made, how large it is, what drew it.
fn closing_line(name: &str, made: &Made) -> String {
    let mut parts = vec![many(made.clips.len(), "clip", "clips")];
    match made.kind {
        Kind::Sheet => parts.push(many(made.pictures.len(), "picture", "pictures")),
        Kind::Animation => parts.push(many(made.pictures.len(), "frame", "frames")),
        Kind::Page => {}
    }
    parts.extend(made.size.map(|[width, height]| format!("{width} x {height} pixels")));
    parts.push(bytes(made.bytes));
    parts.extend(made.largest_error.map(|e| format!("largest error {} m", super::show::measure(e))));
    parts.extend(made.device.as_ref().map(|device| format!("drawn by {}", device.name)));
    plain(&format!("{name}: {} -> {}", parts.join(", "), made.file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_one_side_or_two() {
        assert_eq!((parse_size("256"), parse_size("256x320"), parse_size("640 X 480")), (Ok([256, 256]), Ok([256, 320]), Ok([640, 480])));
        for bad in ["", "x", "15", "256x", "256x5000", "1x2x3", "-5", "25.5"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_closing_line_says_what_and_where() {
        let frame = crate::preview::Shown { clip: 0, frame: 0.0, seconds: 0.0, corner: [0; 2], size: [380; 2], projection: [[0.0; 4]; 4] };
        let made = Made {
            kind: Kind::Animation,
            file: "out/fox.gif".into(),
            bytes: 20_480,
            show: Show::Shaded,
            clips: vec!["Run".into()],
            pictures: vec![frame; 24],
            size: Some([380, 380]),
            device: Some(crate::report::Device {
                name: "llvmpipe".into(),
                backend: "vulkan".into(),
                kind: "software".into(),
                driver: String::new(),
            }),
            largest_error: None,
            notes: Vec::new(),
        };
        assert_eq!(closing_line("fox", &made), "fox: 1 clip, 24 frames, 380 x 380 pixels, 20.0 KiB, drawn by llvmpipe -> out/fox.gif");
    }
}
