//! `vatbake verify`: what is wrong with a bake, and how exact it is.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::exit::Exit;
use super::input::{open_animation, open_input};
use super::json::to_text;
use super::show::{Paint, indent, many, measure, plain, print, table, thousands};
use super::values::{parse_length, parse_merge};
use crate::Result;
use crate::options::MergeClips;
use crate::verify::{Finding, Level, Measured, MeshVerdict, Place, Request, Verdict, verify};

const EXAMPLES: &str = "Examples:
  vatbake verify fox_vat
  vatbake verify out/fox.vat.json --source fox.glb --max-error 0.5mm
  vatbake verify out/hero.vat.json --source hero.glb -a motions/*.glb
  vatbake verify out/fox.vat.json --mesh from_blender.glb --json";

/// Flags of `verify`.
#[derive(Debug, ClapArgs)]
#[command(after_long_help = EXAMPLES)]
#[command(after_help = "Exit codes: 0 nothing is wrong, 1 something is, or the error is over --max-error, 2 wrong usage")]
pub struct VerifyArgs {
    /// Sidecar (.vat.json), or the folder of one bake
    #[arg(value_name = "SIDECAR")]
    pub sidecar: PathBuf,
    /// Model that was baked: every vertex of every frame is compared with it; `-` reads a GLB from standard input
    #[arg(long, value_name = "MODEL")]
    pub source: Option<PathBuf>,
    /// Files that clips of the bake were taken from
    #[arg(short, long, value_name = "FILE", num_args = 1.., requires = "source")]
    pub animations: Vec<PathBuf>,
    /// Clips that were put together, as for the bake
    #[arg(long, value_name = "[NAME=]CLIP,...", value_parser = parse_merge, requires = "source")]
    pub merge_clips: Vec<MergeClips>,
    /// The mesh after an engine or a modelling program (.glb or .gltf): does each vertex still find its texels?
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// Largest error of a position that is fine, as in 0.5mm or 0.001 (metres): measured with --source, else as recorded
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    pub max_error: Option<f64>,
    /// Read buffers and images that lie outside the model's folder, instead of an error
    #[arg(long)]
    pub allow_outside: bool,
    /// Print JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// Checks a bake and shows the verdict.
///
/// # Errors
/// Where the sidecar, the model or the mesh cannot be read.
pub fn run(args: &VerifyArgs) -> Result<Exit> {
    let request = Request {
        sidecar: args.sidecar.clone(),
        source: args.source.as_deref().map(open_input).transpose()?,
        animations: args.animations.iter().map(|path| open_animation(path)).collect::<Result<_>>()?,
        merges: args.merge_clips.clone(),
        allow_outside: args.allow_outside,
        mesh: args.mesh.clone(),
        max_error: args.max_error,
    };
    let verdict = verify(&request)?;
    let text = if args.json { to_text(&verdict) } else { describe(&verdict, Paint::stdout()) };
    print(&text)?;
    Ok(if verdict.ok { Exit::Done } else { Exit::Failed })
}

/// The verdict for people.
fn describe(verdict: &Verdict, paint: Paint) -> String {
    let unit = if verdict.unit == "centimetre" { "cm" } else { "m" };
    let mut text = format!(
        "{}\n  {}, {}\n\n",
        paint.bold(&plain(&verdict.sidecar)),
        many(verdict.vertex_count as usize, "vertex", "vertices"),
        many(verdict.frame_count as usize, "frame", "frames")
    );
    text += &indent(&textures(verdict, unit), 2);
    if let Some(measured) = &verdict.measured {
        text += &format!("\n\n  {}\n{}", paint.bold("against the model"), indent(&measures(measured, unit), 4));
    }
    if let Some(mesh) = &verdict.mesh {
        text += &format!("\n\n  {}\n{}", paint.bold("the mesh"), indent(&mesh_lines(mesh), 4));
    }
    text += "\n\n";
    for finding in &verdict.findings {
        text += &format!("{}\n", finding_line(finding, paint));
    }
    let of = |level| verdict.findings.iter().filter(|f| f.level == level).count();
    text += &match (of(Level::Wrong), of(Level::Warning)) {
        (0, 0) => "nothing is wrong".to_owned(),
        (0, warnings) => format!("nothing is wrong; {}", many(warnings, "warning", "warnings")),
        (wrong, 0) => paint.red(&many(wrong, "thing is wrong", "things are wrong")),
        (wrong, warnings) => {
            paint.red(&format!("{}, {}", many(wrong, "thing is wrong", "things are wrong"), many(warnings, "warning", "warnings")))
        }
    };
    text.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

/// One finding with its code.
fn finding_line(finding: &Finding, paint: Paint) -> String {
    let message = format!("[{}] {}", finding.code.name(), plain(&finding.message));
    match finding.level {
        Level::Wrong => format!("{} {message}", paint.red("wrong:")),
        Level::Warning => format!("{} {message}", paint.yellow("warning:")),
        Level::Note => paint.dim(&format!("note: {message}")),
    }
}

fn textures(verdict: &Verdict, unit: &str) -> String {
    let row = |t: &crate::verify::TextureVerdict| {
        let size = t.size.map_or_else(|| "unreadable".into(), |[w, h]| format!("{w} x {h}"));
        let is_length = t.role == crate::output::sidecar::Role::Position;
        let error = format!("{}{}", measure(t.recorded_error.into()), if is_length { format!(" {unit}") } else { "°".into() });
        let state = if t.intact { "as baked" } else { "changed" };
        vec![word(&t.role), t.file.clone(), size, word(&t.pixel), word(&t.encoding), error, state.into()]
    };
    table(
        &["texture", "file", ">size", "pixel", "encoding", ">recorded error", "texels"],
        &verdict.textures.iter().map(row).collect::<Vec<_>>(),
    )
}

/// The sidecar's word for one of its values.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

fn place(place: Option<&Place>) -> [String; 2] {
    place.map_or_else(|| [String::new(), String::new()], |p| [thousands(p.frame.into()), thousands(p.vertex.into())])
}

fn measures(measured: &Measured, unit: &str) -> String {
    let angle = |a: Option<f64>| a.map_or_else(|| "-".into(), |a| format!("{}°", measure(a)));
    let rows = measured.clips.iter().map(|c| {
        let [frame, vertex] = place(c.worst.as_ref());
        let length = |v: f64| format!("{} {unit}", measure(v));
        vec![
            c.name.clone(),
            thousands(c.frame_count.into()),
            length(c.position_max),
            length(c.position_rms),
            angle(c.normal_max),
            frame,
            vertex,
        ]
    });
    let mut text = table(&["clip", ">frames", ">largest", ">rms", ">normal", ">worst frame", ">vertex"], &rows.collect::<Vec<_>>());
    text += &format!(
        "\nlargest {} {unit} ({} % of the model's size), rms {} {unit}, over {} positions; rest pose {} {unit}",
        measure(measured.position_max),
        measure(measured.position_share * 100.0),
        measure(measured.position_rms),
        thousands(measured.compared),
        measure(measured.rest_max)
    );
    if let (Some(angle), Some(p)) = (measured.normal_max, &measured.normal_worst) {
        text += &format!("\nlargest angle of a normal {}°, clip {}, frame {}, vertex {}", measure(angle), p.clip, p.frame, p.vertex);
    }
    text
}

fn mesh_lines(mesh: &MeshVerdict) -> String {
    let lookup = match mesh.texcoord {
        Some(set) => format!("TEXCOORD_{set}{}", if mesh.flipped { ", upside down" } else { "" }),
        None => "lost".into(),
    };
    let rows = [
        ("file", mesh.file.clone()),
        ("vertices", format!("{}, naming {} of the bake", thousands(mesh.vertices as u64), thousands(mesh.named as u64))),
        ("lookup", lookup),
        ("axes", format!("{} times {}", mesh.axes, measure(mesh.factor))),
        ("missing", format!("{}, of these merged {}", thousands(mesh.missing as u64), thousands(mesh.merged as u64))),
        ("moved", format!("{}, by up to {} m", thousands(mesh.moved as u64), measure(mesh.largest_distance))),
    ];
    table(&["", ""], &rows.map(|(name, value)| vec![name.to_owned(), value])).trim_start().to_owned()
}
