//! Verify: reads the written files as a stranger would and says what is wrong with them, in sentences with numbers.
//!
//! [`verify()`] looks at the sidecar (`files`), the texels, the lookup and the clips; where texels are not those that were baked it
//! names what happened to them (`spoil`). With the model it deforms every vertex of every frame again in f64 ([`mod@reference`]) and
//! measures the distance; with a mesh that went through an engine it says whether each vertex still finds its texels.

mod clips;
mod compare;
mod files;
mod lookup;
pub mod reference;
mod remesh;
mod spoil;
mod texels;
mod verdict;

use std::path::PathBuf;

use crate::Result;
use crate::baked::{self, locate};
use crate::options::{Input, MergeClips};
use crate::output::sidecar::{Role, Unit};

pub use verdict::{ClipMeasured, Code, Finding, Level, Measured, MeshVerdict, Place, TextureVerdict, Verdict};

/// What is to be checked, and against what.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The sidecar, its folder, or its path without `.vat.json`.
    pub sidecar: PathBuf,
    /// The model that was baked.
    pub source: Option<Input>,
    /// Files that clips were taken from.
    pub animations: Vec<Input>,
    /// Clips that were put together, as for the bake.
    pub merges: Vec<MergeClips>,
    /// Follow URIs that leave the model's folder.
    pub allow_outside: bool,
    /// The mesh after an engine or a DCC tool.
    pub mesh: Option<PathBuf>,
    /// Largest error of a position that is still fine, metres.
    pub max_error: Option<f64>,
}

/// Checks a bake.
///
/// # Errors
/// Where there is no sidecar that can be read, or the model or the re-exported mesh cannot be. Everything else is a finding.
pub fn verify(request: &Request) -> Result<Verdict> {
    let path = locate::sidecar(&request.sidecar)?;
    let (sidecar, _) = baked::read_sidecar(&path)?;
    let mut findings = verdict::Findings::default();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files::check_sidecar(&sidecar, &name, &mut findings);
    let mut set = files::read_set(&path, &sidecar, &mut findings);
    let mut reference = match &request.source {
        Some(source) => Some(reference::Reference::read(source, request, &sidecar)?),
        None => None,
    };
    if let Some(mesh) = &set.mesh {
        lookup::check(mesh, &sidecar, &mut findings);
        files::check_indices(mesh, &sidecar, &name, &mut findings);
    }
    let baked = set.assemble(&path, &sidecar);
    let (mut size, mut measured) = (0.0, None);
    if let Some(baked) = &baked {
        size = clips::rest_size(baked);
        texels::check(baked, &set, &mut findings);
        let intact = |role| baked.texture(role).is_some_and(|(texture, _)| set.is_intact(texture));
        let expected = match &mut reference {
            Some(reference) => compare::settle(reference, baked, &name, &mut findings),
            None => false,
        };
        let reference = reference.as_ref().filter(|_| expected);
        spoil::name(baked, &set, reference, &mut findings);
        // What texels that are known to be others say of clips and boxes is no news.
        if intact(Role::Position) {
            clips::check_motion(baked, &name, &mut findings);
        }
        if let Some(reference) = reference {
            measured = Some(compare::measure(reference, baked, size, &name, &mut findings));
        }
        compare::check_limit(baked, measured.as_ref(), request.max_error, &name, &mut findings);
    }
    let mesh = match (&request.mesh, &baked) {
        (Some(file), Some(baked)) => Some(remesh::check(file, baked, &mut findings)?),
        _ => None,
    };
    let mut findings = findings.all;
    findings.sort_by_key(|f| f.level);
    let textures = sidecar.textures.iter().enumerate().map(|(i, texture)| set.verdict(i, texture)).collect();
    Ok(Verdict {
        sidecar: path.display().to_string(),
        ok: findings.iter().all(|f| f.level != Level::Wrong),
        vertex_count: sidecar.vertex_count,
        frame_count: sidecar.frame_count,
        unit: if sidecar.space.unit == Some(Unit::Centimetre) { "centimetre" } else { "metre" },
        textures,
        size,
        measured,
        mesh,
        findings,
    })
}
