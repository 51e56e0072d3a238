//! What may be typed. Doc comments are the help; defaults come from [`Options::default`], so that they cannot drift.
//! `-h` shows the flags that most runs need, `--help` all of them.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, value_parser};

use super::values::{Bytes, Device, Rate, parse_angle, parse_bits, parse_length, parse_merge, parse_name, parse_scale, parse_seconds};
use super::verify;
use crate::options::{Format, MAX_SIZE_RANGE, MergeClips, Normals, Options, Position, Recompute, Rest, RootMotion, UV_SET_RANGE};
use crate::playback::Language;
use crate::targets::Target;

/// Bakes the animation of glTF models into vertex animation textures
///
/// The deformation runs on any GPU, or on the CPU where there is none. A bake writes the textures, a static GLB with a lookup UV set,
/// and a JSON sidecar that says everything a player must know.
#[derive(Debug, Parser)]
#[command(name = "vatbake", version, max_term_width = 110, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 warnings under --strict")]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Bake models into textures, a static mesh and a sidecar
    Bake(Box<BakeArgs>),
    /// Show what is in a model, what a bake would cost and what looks wrong
    Inspect(InspectArgs),
    /// List what could run a bake, and what `--device auto` takes
    Devices(DevicesArgs),
    /// Print the JSON Schema of the sidecar
    Schema,
    /// Print the code that plays a bake, for a vertex shader
    Shader(ShaderArgs),
    /// Make a picture, an animation or a page of a bake, from its files
    Preview(super::preview::PreviewArgs),
    /// Check a bake's files: whole, intact, playable, and how far from the model
    Verify(verify::VerifyArgs),
}

const BAKE_EXAMPLES: &str = "Examples:
  vatbake bake knight.glb
  vatbake bake fox.glb robot.glb -o out/ --fps 60 --clips Walk,Run --format exr32
  vatbake bake --batch characters/ -o out/
  vatbake bake hero.glb --for godot,three --max-error 0.5mm
  vatbake bake hero.glb -a motions/*.glb --root-motion strip
  cat fox.glb | vatbake bake - --name fox";

/// Flags of `bake`.
#[derive(Debug, ClapArgs)]
#[command(after_long_help = BAKE_EXAMPLES)]
pub struct BakeArgs {
    /// Models (.glb or .gltf); `-` reads a GLB from standard input
    #[arg(value_name = "INPUT", required_unless_present = "batch", conflicts_with = "batch")]
    pub inputs: Vec<PathBuf>,

    /// Folder for all files [default: ./STEM_vat/ for each input]
    #[arg(short, long, value_name = "FOLDER", help_heading = "Common")]
    pub output: Option<PathBuf>,
    /// Bake every model of a folder, a glob, or a list file; needs -o
    ///
    /// The folder tree is kept below the output folder, and a model that fails does not stop the rest. A list file holds one path a line,
    /// relative to the list; a line that begins with # is a comment. Hidden folders and the outputs of earlier bakes are passed over.
    #[arg(long, value_name = "FOLDER|GLOB|LIST", requires = "output", conflicts_with = "name", help_heading = "Common")]
    pub batch: Option<PathBuf>,
    /// Bake the clips of these files too, on the nodes of the same names, after the model's own
    ///
    /// For one skeleton and a folder of motions; the files need no mesh. To be given after the models. Nodes are matched by name, else by their path from the root;
    /// differences between the skeletons are warnings. A clip without a name, or with one that occurs twice, is named after its file.
    #[arg(short, long, value_name = "FILE", num_args = 1.., hide_short_help = true, help_heading = "Common")]
    pub animations: Vec<PathBuf>,
    /// Put clips together that are parts of one motion, before --clips chooses; may be given again
    ///
    /// For exporters that write an animation a bone. Parts are names, globs (Walk_*) or numbers from 0, two clips or more; the whole
    /// is called NAME, else what the parts' names have in common, else like the first part. Two parts must not move the same thing.
    #[arg(long, value_name = "[NAME=]CLIP,...", value_parser = parse_merge, hide_short_help = true, help_heading = "Common")]
    pub merge_clips: Vec<MergeClips>,
    /// Clips to bake, in this order: names, globs (Walk*) or numbers from 0 [default: all]
    #[arg(short, long, value_name = "CLIP,...", value_delimiter = ',', help_heading = "Common")]
    pub clips: Vec<String>,
    /// Frames a second, above 0 to 1000, or `source` for the rate of each clip's keys
    #[arg(long, value_name = "N|source", allow_negative_numbers = true, default_value_t = Rate(Options::default().fps), help_heading = "Common")]
    pub fps: Rate,
    /// Keep only these nodes and what is below them: names, globs or numbers [default: all]
    #[arg(long, value_name = "NODE,...", value_delimiter = ',', hide_short_help = true, help_heading = "Common")]
    pub only: Vec<String>,
    /// Leave out these nodes and what is below them: names, globs or numbers [default: none]
    #[arg(long, value_name = "NODE,...", value_delimiter = ',', hide_short_help = true, help_heading = "Common")]
    pub exclude: Vec<String>,
    /// Show what a bake would give, write nothing
    #[arg(short = 'n', long, help_heading = "Common")]
    pub dry_run: bool,
    /// Print errors only
    #[arg(short, long, help_heading = "Common")]
    pub quiet: bool,
    /// Print the report as JSON on standard output; an array where there are several models
    #[arg(long, help_heading = "Common")]
    pub json: bool,
    /// Take warnings (not notes) for errors: nothing is written, exit code 3
    #[arg(long, hide_short_help = true, help_heading = "Common")]
    pub strict: bool,

    /// Scene to bake, by number or name [default: the file's own]
    #[arg(long, value_name = "SCENE", hide_short_help = true, help_heading = "Scene")]
    pub scene: Option<String>,
    /// Factor on every length, 0.000001 to 1000000
    #[arg(long, value_name = "FACTOR", default_value_t = Options::default().scale, value_parser = parse_scale, allow_negative_numbers = true, help_heading = "Scene")]
    pub scale: f64,
    /// Bake a model without animation as one frame, instead of an error
    #[arg(long, hide_short_help = true, help_heading = "Scene")]
    pub allow_static: bool,
    /// Read buffers and images that lie outside the model's folder, instead of an error
    #[arg(long, hide_short_help = true, help_heading = "Scene")]
    pub allow_outside: bool,

    /// Seconds at which every clip starts, from 0 up [default: its first key]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true, hide_short_help = true, help_heading = "Time")]
    pub start: Option<f64>,
    /// Seconds at which every clip ends, after --start [default: its last key]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true, hide_short_help = true, help_heading = "Time")]
    pub end: Option<f64>,
    /// Put frame k at exactly k / fps from time 0, instead of spreading frames evenly from the first key to the last
    #[arg(long, conflicts_with = "start", hide_short_help = true, help_heading = "Time")]
    pub exact_fps: bool,
    /// Clips that are loops: names, globs, numbers, or `all`, or `none` [default: found by comparing first and last poses]
    #[arg(long = "loop", value_name = "CLIP,...|all|none", value_delimiter = ',', hide_short_help = true, help_heading = "Time")]
    pub looping: Vec<String>,
    /// What becomes of the way that a clip carries the model over the ground
    #[arg(long, value_enum, default_value_t = Options::default().root_motion, hide_short_help = true, help_heading = "Time")]
    pub root_motion: RootMotion,
    /// Node whose way --root-motion strip takes out: name or number [default: topmost joint of the skin with the most vertices]
    #[arg(long, value_name = "NODE", hide_short_help = true, help_heading = "Time")]
    pub root: Option<String>,

    /// Write a kit for each of these engines instead, in a folder of its own: the bake in the form that the engine loads without
    /// loss, with shader, material, import settings and what else it needs
    #[arg(long = "for", value_name = "ENGINE,...", value_enum, value_delimiter = ',', help_heading = "Texture")]
    pub targets: Vec<Target>,
    /// Choose the cheapest encoding whose measured position error stays under this length (0.5mm, 1cm, or metres)
    ///
    /// Chooses among all values of --format, --normals and --position that are left at `auto`, by a run that measures each of them over
    /// all frames. Which one it was and why is a note; an error names the best that can be had where none is exact enough.
    #[arg(long, value_name = "LENGTH", value_parser = parse_length, hide_short_help = true, help_heading = "Texture")]
    pub max_error: Option<f64>,
    /// Largest angle in degrees between a normal and its texel that --max-error chooses by, where --normals is auto
    #[arg(long, value_name = "DEGREES", default_value_t = Options::default().max_normal_error, requires = "max_error", value_parser = parse_angle, hide_short_help = true, help_heading = "Texture")]
    pub max_normal_error: f64,
    /// Pixel format of the textures
    #[arg(long, value_enum, default_value_t = Options::default().format, help_heading = "Texture")]
    pub format: Format,
    /// Where normals go
    #[arg(long, value_enum, default_value_t = Options::default().normals, help_heading = "Texture")]
    pub normals: Normals,
    /// Bits of a normal's component, 8 or 16; PNG and a normal texture of its own only [default: the format's]
    #[arg(long, value_name = "BITS", value_parser = parse_bits, hide_short_help = true, help_heading = "Texture")]
    pub normal_bits: Option<u8>,
    /// Compute normals anew in every frame: each triangle its own, or smooth over all triangles at a position of the node, by area
    /// [default: the file's; flat where it has none]
    #[arg(long, value_enum, value_name = "HOW", hide_short_help = true, help_heading = "Texture")]
    pub recompute_normals: Option<Recompute>,
    /// Write a texture of tangents too: the file's, else by MikkTSpace; handedness stays with the mesh
    #[arg(long, hide_short_help = true, help_heading = "Texture")]
    pub tangents: bool,
    /// What a position texel holds
    #[arg(long, value_enum, default_value_t = Options::default().position, hide_short_help = true, help_heading = "Texture")]
    pub position: Position,
    /// Longest side of a texture in texels, 4 to 32768
    #[arg(long, value_name = "TEXELS", default_value_t = Options::default().max_size,
          value_parser = value_parser!(u32).range(as_i64(MAX_SIZE_RANGE)), hide_short_help = true, help_heading = "Texture")]
    pub max_size: u32,

    /// Which pose the static mesh shows
    #[arg(long, value_enum, default_value_t = Options::default().rest, hide_short_help = true, help_heading = "Mesh")]
    pub rest: Rest,
    /// UV set that receives the lookup, 1 to 7
    #[arg(long, value_name = "SET", default_value_t = Options::default().uv_set,
          value_parser = value_parser!(u32).range(as_i64(UV_SET_RANGE)), hide_short_help = true, help_heading = "Mesh")]
    pub uv_set: u32,
    /// Write one node a part of the model, instead of one merged node
    #[arg(long, hide_short_help = true, help_heading = "Mesh")]
    pub keep_parts: bool,

    /// What runs the deformation
    ///
    /// auto: a hardware GPU, else the CPU; gpu: a hardware GPU or an error; software: a software adapter (llvmpipe, WARP) or an error;
    /// cpu: no adapter at all; else the first adapter whose name contains this text (see `vatbake devices`).
    #[arg(long, value_name = "auto|gpu|software|cpu|NAME", default_value_t = Device(Options::default().device), help_heading = "Work")]
    pub device: Device,
    /// Ceiling for working memory in bytes, 1M or more; K, M and G count in 1024s
    #[arg(long, value_name = "BYTES", default_value_t = Bytes(Options::default().memory), hide_short_help = true, help_heading = "Work")]
    pub memory: Bytes,
    /// Show how long each step took
    #[arg(long, conflicts_with = "quiet", hide_short_help = true, help_heading = "Work")]
    pub timings: bool,
    /// Name of the outputs, for one input [default: the input's stem]
    #[arg(long, value_name = "NAME", value_parser = parse_name, hide_short_help = true, help_heading = "Work")]
    pub name: Option<String>,
}

/// A range as clap wants it.
fn as_i64(range: std::ops::RangeInclusive<u32>) -> std::ops::RangeInclusive<i64> {
    i64::from(*range.start())..=i64::from(*range.end())
}

/// Flags of `inspect`.
#[derive(Debug, ClapArgs)]
pub struct InspectArgs {
    /// Models (.glb or .gltf); `-` reads a GLB from standard input
    #[arg(value_name = "FILE", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Print JSON on standard output; an array where there are several models
    #[arg(long)]
    pub json: bool,
    /// Scene to look at, by number or name [default: the file's own]
    #[arg(long, value_name = "SCENE")]
    pub scene: Option<String>,
    /// Read buffers and images that lie outside the model's folder, instead of an error
    #[arg(long)]
    pub allow_outside: bool,
}

/// Flags of `devices`.
#[derive(Debug, ClapArgs)]
pub struct DevicesArgs {
    /// Print JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// Flags of `shader`.
#[derive(Debug, ClapArgs)]
pub struct ShaderArgs {
    /// Language of the shader
    #[arg(value_name = "LANGUAGE", value_enum)]
    pub language: Language,
    /// File to write instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}
