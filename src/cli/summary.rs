//! What a bake says when it is done: the closing line, what was found, how long it took.

use super::show::{Paint, bytes, many, measure, plain, table, thousands};
use crate::Error;
use crate::report::{Report, Step, TextureReport};
use crate::warning::{Code, Level, Warning};

/// Notes shown in full; JSON has all of them.
const NOTES_SHOWN: usize = 3;

/// The line that a bake ends with.
pub fn closing_line(report: &Report) -> String {
    let [width, height] = report.size;
    let mut parts = vec![
        many(report.clips.len(), "clip", "clips"),
        many(report.frame_count, "frame", "frames"),
        many(report.vertex_count, "vertex", "vertices"),
        format!("{width} x {height} texels"),
    ];
    if report.kits.is_empty() {
        parts.extend(cost_and_errors(&report.textures));
    }
    parts.extend([
        many(report.meshes, "mesh", "meshes"),
        many(report.materials, "material", "materials"),
        format!("moves at most {} m", measure(f64::from(report.largest_displacement))),
        format!("ran on {}", report.device.name),
    ]);
    let kits = report.kits.iter().map(|kit| {
        let forms: std::collections::BTreeSet<&str> = kit.textures.iter().map(|t| t.pixel.as_str()).collect();
        let forms = forms.into_iter().collect::<Vec<_>>().join(" and ");
        let end = if kit.folder.as_os_str().is_empty() { String::new() } else { format!(" -> {}", kit.folder.display()) };
        plain(&format!("  {}: {forms}, {}{end}", kit.target.folder(), cost_and_errors(&kit.textures).join(", ")))
    });
    let folder = match report.kits.is_empty() {
        true => report.files.last().and_then(|file| file.parent()),
        false => report.files.last().and_then(|file| file.parent()?.parent()),
    };
    let end = match folder {
        Some(folder) if folder.as_os_str().is_empty() => " -> .".into(),
        Some(folder) => format!(" -> {}", folder.display()),
        None => " (dry run, nothing was written)".into(),
    };
    let line = plain(&format!("{}: {}{end}", report.name, parts.join(", ")));
    std::iter::once(line).chain(kits).collect::<Vec<_>>().join("\n")
}

/// What the textures take on the GPU, and how far each is off.
fn cost_and_errors(textures: &[TextureReport]) -> Vec<String> {
    let gpu_bytes = textures.iter().map(|t| t.gpu_bytes).sum();
    std::iter::once(format!("{} on the GPU", bytes(gpu_bytes))).chain(textures.iter().map(error_of)).collect()
}

/// Largest error of a texture in its unit: the position's in the file's, the normal's in degrees.
fn error_of(texture: &TextureReport) -> String {
    let unit = match texture.unit.as_str() {
        "metre" => " m",
        "centimetre" => " cm",
        "degree" => "°",
        other => other,
    };
    format!("{} error at most {}{unit}", texture.role, measure(texture.error_max))
}

/// Which engines keep 16 bits a component: said once a run with 16-bit PNGs, unless the bake's own notes say it.
pub fn engine_line<'a>(mut reports: impl Iterator<Item = &'a Report> + Clone) -> Option<String> {
    let is_png16 = |r: &Report| r.kits.is_empty() && r.textures.iter().any(|t| t.pixel == "rgba16unorm");
    let is_said = |r: &Report| r.warnings.iter().any(|w| w.code == Code::EngineCuts);
    (reports.clone().any(is_png16) && !reports.any(is_said)).then(|| {
        "16-bit PNG: Bevy and Unity (as RGBA64) keep the 16 bits; Godot, Unreal and browsers cut them to 8: use --format exr16 for those engines".into()
    })
}

/// Warnings, each kind once with its count, then the first notes. `about` names the model where there are several.
pub fn findings(warnings: &[Warning], about: Option<&str>, paint: Paint) -> Vec<String> {
    let about = about.map_or(String::new(), |name| format!("{name}: "));
    let text = |w: &Warning| finding(w, &about);
    let of = |level| warnings.iter().filter(move |w| w.level == level);
    let mut lines: Vec<_> = of(Level::Warning).map(|w| format!("{} {}", paint.yellow("warning:"), text(w))).collect();
    lines.extend(of(Level::Note).take(NOTES_SHOWN).map(|w| paint.dim(&format!("note: {}", text(w)))));
    let left = of(Level::Note).count().saturating_sub(NOTES_SHOWN);
    if left > 0 {
        lines.push(paint.dim(&format!("note: {about}{} not shown; --json has all", many(left, "more note", "more notes"))));
    }
    lines
}

/// One finding with its count, which most messages already hold. `about` stands before the message.
pub fn finding(warning: &Warning, about: &str) -> String {
    let Warning { code, count, message, .. } = warning;
    let is_said = *count == 1 || message.split(|c: char| !c.is_ascii_digit()).any(|number| number == count.to_string());
    let times = if is_said { String::new() } else { format!(", {} times", thousands(*count)) };
    plain(&format!("[{}{times}] {about}{message}", code.name()))
}

/// Seconds of each step and their sum.
pub fn timings(report: &Report) -> String {
    let name = |step| match step {
        Step::Read => "read",
        Step::Plan => "plan",
        Step::Start => "start",
        Step::Bounds => "bounds",
        Step::Texels => "texels",
        Step::Write => "write",
    };
    let total: f64 = report.timings.iter().map(|t| t.seconds).sum();
    let row = |name: &str, seconds: f64| {
        let share = if total > 0.0 { 100.0 * seconds / total } else { 0.0 };
        vec![name.into(), format!("{seconds:.3}"), format!("{share:.0} %")]
    };
    let mut rows: Vec<_> = report.timings.iter().map(|t| row(name(t.step), t.seconds)).collect();
    rows.push(row("total", total));
    table(&["step", ">seconds", ">share"], &rows)
}

/// An error as one line, with the model that it is about where the message does not name it.
pub fn error_line(error: &Error, about: Option<&str>, paint: Paint) -> String {
    let named = matches!(error, Error::Io { .. } | Error::Model { .. });
    let about = about.filter(|_| !named).map_or(String::new(), |name| format!("{name}: "));
    format!("{} {}", paint.red("error:"), plain(&format!("{about}{error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{ClipReport, Device, Timing};

    fn report() -> Report {
        let texture = |role: &str, error_max, unit: &str| TextureReport {
            role: role.into(),
            file: format!("Fox_vat_{role}.png"),
            pixel: "rgba16unorm".into(),
            encoding: "offset-unorm".into(),
            gpu_bytes: 2_267_136,
            file_bytes: 1,
            error_max,
            error_rms: error_max / 2.0,
            unit: unit.into(),
        };
        let clip = ClipReport { name: "Run".into(), frame_count: 162, length: 1.0, looping: "closed".into(), largest_displacement: 38.2 };
        Report {
            source: "Fox.glb".into(),
            name: "Fox".into(),
            device: Device { name: "CPU twin (2 threads)".into(), backend: "cpu".into(), kind: "cpu".into(), driver: String::new() },
            vertex_count: 1728,
            frame_count: 162,
            size: [1728, 164],
            clips: vec![clip],
            kits: Vec::new(),
            textures: vec![texture("position", 0.000_46, "metre"), texture("normal", 0.0014, "degree")],
            meshes: 1,
            primitives: 1,
            materials: 1,
            triangles: 576,
            bounds: [[0.0; 3], [1.0; 3]],
            largest_displacement: 38.2,
            files: vec!["out/Fox_vat.glb".into(), "out/Fox.vat.json".into()],
            warnings: Vec::new(),
            timings: vec![Timing { step: Step::Read, seconds: 0.25 }, Timing { step: Step::Texels, seconds: 0.75 }],
        }
    }

    #[test]
    fn the_closing_line_says_it_all() {
        let wanted = "Fox: 1 clip, 162 frames, 1,728 vertices, 1728 x 164 texels, 4.3 MiB on the GPU, position error at most 0.00046 m, \
                      normal error at most 0.0014°, 1 mesh, 1 material, moves at most 38.2 m, ran on CPU twin (2 threads) -> out";
        assert_eq!(closing_line(&report()), wanted);
        let dry = Report { files: Vec::new(), ..report() };
        assert!(closing_line(&dry).ends_with("(dry run, nothing was written)"));
    }

    #[test]
    fn engines_are_named_once_and_for_png16_only() {
        let note = Warning { code: Code::EngineCuts, level: Level::Note, count: 1, message: "said".into() };
        let said = Report { warnings: vec![note], ..report() };
        let mut exr = report();
        exr.textures.iter_mut().for_each(|t| t.pixel = "rgba16float".into());
        assert!(engine_line([report()].iter()).is_some_and(|line| line.contains("Bevy") && line.contains("Godot")));
        assert_eq!(engine_line([said].iter()), None);
        assert_eq!(engine_line([exr].iter()), None);
    }

    #[test]
    fn warnings_stand_before_notes_and_notes_are_few() {
        let found = |code: Code, count| Warning { code, level: code.level(), count, message: format!("about {}", code.name()) };
        let codes = [Code::FlatNormals, Code::SceneChosen, Code::CycleClosed, Code::NameChanged, Code::NotCarried, Code::ZeroWeights];
        let warnings: Vec<_> = codes.into_iter().zip(1..).map(|(code, count)| found(code, count)).collect();
        let lines = findings(&warnings, Some("a.glb"), Paint::off());
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[0], "warning: [zero-weights, 6 times] a.glb: about zero-weights");
        assert_eq!(lines[1], "note: [flat-normals] a.glb: about flat-normals");
        assert_eq!(lines[4], "note: a.glb: 2 more notes not shown; --json has all");
    }

    #[test]
    fn counts_are_not_said_twice() {
        let warning = |message: &str| Warning { code: Code::ZeroWeights, level: Level::Warning, count: 37, message: message.into() };
        assert_eq!(finding(&warning("37 vertices"), ""), "[zero-weights] 37 vertices");
        assert_eq!(finding(&warning("vertices of mesh 137"), ""), "[zero-weights, 37 times] vertices of mesh 137");
    }

    #[test]
    fn timings_add_up() {
        assert_eq!(timings(&report()), "step    seconds  share\nread      0.250   25 %\ntexels    0.750   75 %\ntotal     1.000  100 %");
    }

    #[test]
    fn errors_name_the_model_once() {
        let io = Error::io("read the model", "a.glb")(std::io::ErrorKind::NotFound.into());
        assert_eq!(error_line(&io, Some("a.glb"), Paint::off()).matches("a.glb").count(), 1);
        assert_eq!(error_line(&Error::Bake("too wide".into()), Some("a.glb"), Paint::off()), "error: a.glb: too wide");
    }
}
