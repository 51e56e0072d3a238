//! `--max-error`: every way to store the bake is measured in one run over all frames, and the cheapest that holds the limits is taken.

use super::convert::Converter;
use super::delivery::{Candidates, converter, plain_encoding};
use super::form::Stored;
use super::textures::{self, Sink, TextureFile, list_files};
use crate::encode::{Layer, NormalMode};
use crate::options::{Normals, Options};
use crate::plan::chunks::Chunk;
use crate::report::Progress;
use crate::skin::{Backend, Job, Measured, Ranges};
use crate::targets::Target;
use crate::warning::{Code, Warnings};
use crate::{Error, Result};

/// One thing to measure: a way to store positions or normals in one set's axes.
struct Probe {
    target: Option<Target>,
    converter: Converter,
    files: Vec<TextureFile>,
}

impl Probe {
    fn new(target: Option<Target>, stored: Stored, layer: Layer, all: &Ranges) -> Self {
        // octahedral normals lie in the position's file
        let layer = if stored.normals == NormalMode::Octahedral { Layer::Position } else { layer };
        let files = list_files("probe", &stored).into_iter().filter(|f| f.layer == layer).collect();
        Self { target, converter: converter(target, stored, all), files }
    }

    /// Whether it stores this layer as `stored` would.
    fn measures(&self, target: Option<Target>, stored: &Stored, layer: Layer) -> bool {
        let own = &self.converter.stored;
        let is_octahedral = |s: &Stored| s.normals == NormalMode::Octahedral;
        // engines of the same axes share what is measured
        self.target.map(Target::axes) == target.map(Target::axes)
            && match layer {
                Layer::Position => {
                    let holds = self.files.iter().any(|f| f.layer == Layer::Position);
                    holds && (own.pixel, own.is_offset) == (stored.pixel, stored.is_offset)
                }
                _ if is_octahedral(stored) => is_octahedral(own),
                layer => self.files.iter().any(|f| f.layer == layer) && own.direction_pixel == stored.direction_pixel,
            }
    }
}

/// What one way costs and how far it is off.
struct Measurement {
    stored: Stored,
    /// Largest position error, metres.
    position: f64,
    /// Largest angle between a normal and its texel, degrees.
    normal: f64,
}

/// Measures all candidates in one run of the device and chooses one for each set.
///
/// # Errors
/// [`Error::Bake`] with the best that could be reached where nothing holds the limits; what the backend returns.
#[allow(clippy::too_many_arguments)]
pub fn choose_measured(
    options: &Options,
    limit: f64,
    candidates: &[Candidates],
    all: &Ranges,
    backend: &mut dyn Backend,
    job: &Job<'_>,
    chunks: &[Chunk],
    progress: &mut dyn Progress,
    warnings: &mut Warnings,
) -> Result<Vec<Stored>> {
    let probes = list_probes(candidates, all);
    let everything: Vec<Stored> = candidates.iter().flat_map(|c| c.choices.iter().copied()).collect();
    let kernel = plain_encoding(&everything, all);
    let sinks = probes.iter().map(|p| Sink { files: &p.files, converter: &p.converter, set: None }).collect();
    let (_, written) = textures::write(sinks, backend, job, &kernel, chunks, 0, progress)?;
    let samples = job.layout.vertex_count as u64 * job.layout.frame_count as u64;
    let error = |target, stored: &Stored, layer| {
        let probe = probes.iter().zip(&written).find(|(probe, _)| probe.measures(target, stored, layer));
        probe.map_or(0.0, |(probe, written)| {
            let mut measured = Measured::default();
            written.iter().for_each(|w| measured.add(&w.measured));
            let (largest, _) = measured.error(layer, samples);
            if layer == Layer::Position { largest / f64::from(probe.converter.units) } else { largest }
        })
    };
    let (mut chosen, mut reasons) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let measure = |stored: &Stored| Measurement {
            stored: *stored,
            position: error(candidate.target, stored, Layer::Position),
            normal: if stored.normals == NormalMode::None { 0.0 } else { error(candidate.target, stored, Layer::Normal) },
        };
        let measurements: Vec<_> = candidate.choices.iter().map(measure).collect();
        let (stored, reason) = choose(options, limit, candidate.target, &measurements)?;
        chosen.push(stored);
        reasons.push(reason);
    }
    warnings.add(Code::EncodingChosen, 1, || reasons.join("; "));
    Ok(chosen)
}

/// Each pair of layer and pixels once an engine's axes.
fn list_probes(candidates: &[Candidates], all: &Ranges) -> Vec<Probe> {
    let mut probes: Vec<Probe> = Vec::new();
    for Candidates { target, choices } in candidates {
        for stored in choices {
            let normal = (stored.normals != NormalMode::None).then_some(Layer::Normal);
            for layer in std::iter::once(Layer::Position).chain(normal) {
                if !probes.iter().any(|p| p.measures(*target, stored, layer)) {
                    probes.push(Probe::new(*target, *stored, layer, all));
                }
            }
        }
    }
    probes
}

/// The cheapest within the limits, of equally cheap ones the most exact; and why.
fn choose(options: &Options, limit: f64, target: Option<Target>, measurements: &[Measurement]) -> Result<(Stored, String)> {
    // where the user chose what becomes of normals, that stands
    let most_degrees = if options.normals == Normals::Auto { options.max_normal_error } else { f64::INFINITY };
    let holds = |m: &&Measurement| m.position <= limit && m.normal <= most_degrees;
    let by_cost = |a: &&Measurement, b: &&Measurement| {
        (a.stored.bytes().cmp(&b.stored.bytes())).then(a.position.total_cmp(&b.position)).then(a.normal.total_cmp(&b.normal))
    };
    let what = target.map_or_else(String::new, |t| format!("{} kit: ", t.folder()));
    let Some(best) = measurements.iter().filter(holds).min_by(by_cost) else {
        let nearest = measurements.iter().min_by(|a, b| a.position.total_cmp(&b.position).then(a.normal.total_cmp(&b.normal)));
        let reached =
            nearest.map_or_else(String::new, |m| format!("the best is {}, off by {} m{}", m.stored.words(), short(m.position), degrees(m)));
        return Err(Error::Bake(format!(
            "{what}no encoding stays under --max-error {} m{}; {reached}; raise the limit, leave --format and --position to choose, or bake less ground with \
             --root-motion strip",
            short(limit),
            if most_degrees.is_finite() { format!(" and --max-normal-error {most_degrees} degrees") } else { String::new() },
        )));
    };
    let cheaper = measurements.iter().filter(|m| m.stored.bytes() < best.stored.bytes());
    let missed = cheaper.min_by(|a, b| a.position.total_cmp(&b.position)).map_or_else(
        || "nothing is cheaper".into(),
        |m| format!("the best below it, {}, is off by {} m{}", m.stored.words(), short(m.position), degrees(m)),
    );
    let reason = format!(
        "{what}{} at {} bytes a vertex and frame: off by at most {} m{}, where {} m are allowed; {missed}",
        best.stored.words(),
        best.stored.bytes(),
        short(best.position),
        degrees(best),
        short(limit),
    );
    Ok((best.stored, reason))
}

fn degrees(m: &Measurement) -> String {
    if m.stored.normals == NormalMode::None { String::new() } else { format!(" and {} degrees", short(m.normal)) }
}

/// Three digits, without the noise of the rest.
fn short(value: f64) -> String {
    let text = format!("{value:.2e}");
    text.parse::<f64>().map_or(text, |rounded| rounded.to_string())
}
