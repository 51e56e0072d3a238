//! A finished bake in words and numbers: the sidecar for players, the report for the caller.

use std::path::{Path, PathBuf};

use glam::Vec3;

use super::textures::TextureFile;
use super::{Outcome, Planned};
use crate::GENERATOR;
use crate::encode::{Layer, NormalMode};
use crate::options::Options;
use crate::output::glb::MeshWritten;
use crate::output::sidecar::{
    Bounds, Clip, ClipSource, Deviation, Encoding, FirstRow, Handedness, Layout, Lookup, Loop, Mesh, Name, Order, Part, Pixel, Role,
    RootMotion, Sidecar, Source, Texture, Unit, VERSION,
};
use crate::plan::frames;
use crate::report::{ClipReport, Device, KitReport, Report, TextureReport, Timing};
use crate::scene::Scene;
use crate::skin::Measured;
use crate::warning::Warnings;

/// File name of the static mesh.
pub fn mesh_file(name: &str) -> String {
    format!("{name}_vat.glb")
}

/// What a player must know, but for what the bake found worth saying.
pub fn sidecar(scene: &Scene, planned: &Planned<'_>, options: &Options, outcome: &Outcome<'_>, mesh: &MeshWritten, name: &str) -> Sidecar {
    let layout = &planned.layout;
    Sidecar {
        format: Name::Vatbake,
        version: VERSION,
        generator: GENERATOR.into(),
        source: Source { file: scene.origin.file.clone(), sha256: scene.origin.sha256.clone(), scene: scene.origin.scene as u32 },
        space: outcome.delivery.space(options.scale as f32),
        rest: options.rest,
        vertex_count: layout.vertex_count as u32,
        frame_count: layout.frame_count as u32,
        layout: Layout {
            width: layout.width as u32,
            height: layout.height as u32,
            blocks: layout.blocks as u32,
            order: Order::BlockMajor,
            first_row: FirstRow::Top,
        },
        textures: textures(planned, outcome),
        mesh: Mesh {
            file: mesh_file(name),
            sha256: mesh.sha256.clone(),
            lookup: Lookup { texcoord: mesh.texcoord, lanes: planned.lookup.lanes as u32, groups: planned.lookup.groups as u32 },
            parts: parts(scene, planned),
        },
        clips: planned
            .clips
            .iter()
            .zip(outcome.ranges)
            .map(|(plan, ranges)| Clip {
                name: Some(plan.name.clone()),
                animation: plan.animation.map(|a| a as u32),
                first_frame: plan.first_frame as u32,
                frame_count: plan.frame_count as u32,
                fps: plan.fps as f32,
                start: plan.start as f32,
                length: plan.length as f32,
                looping: looping(plan),
                stepped: plan.stepped,
                bounds: turned_bounds(planned, outcome, (ranges.least, ranges.largest)),
                largest_displacement: ranges.moved.sqrt() * outcome.delivery.converter.units,
                source: plan.clip.and_then(|c| scene.clips[c].source.as_deref()).map(clip_source),
                root_motion: root_motion(scene, planned, outcome, plan),
            })
            .collect(),
        bounds: turned_bounds(planned, outcome, (outcome.all.least, outcome.all.largest)),
        warnings: Vec::new(),
    }
}

fn looping(plan: &frames::ClipPlan) -> Loop {
    match plan.looping {
        frames::Loop::Closed => Loop::Closed,
        frames::Loop::Cycle => Loop::Cycle,
        frames::Loop::Once => Loop::Once,
    }
}

fn clip_source(source: &crate::scene::ClipSource) -> ClipSource {
    ClipSource { file: source.file.clone(), sha256: source.sha256.clone() }
}

/// What was taken out of a clip's frames, in the set's axes, unit and sense of rotation.
fn root_motion(scene: &Scene, planned: &Planned<'_>, outcome: &Outcome<'_>, plan: &frames::ClipPlan) -> Option<RootMotion> {
    let (root, track) = (planned.poser.root()?, planned.poser.root_track(plan)?);
    let sense = if outcome.delivery.space(1.0).handedness == Handedness::Left { -1.0 } else { 1.0 };
    let converter = &outcome.delivery.converter;
    Some(RootMotion {
        node: scene.nodes[root].source as u32,
        node_name: scene.nodes[root].name.clone(),
        translation: track.iter().map(|m| converter.turn(m.shift.as_vec3()).to_array()).collect(),
        yaw: track.iter().map(|m| m.yaw as f32 * sense).collect(),
    })
}

/// A box that holds the rest pose too, in the set's axes and unit.
fn turned_bounds(planned: &Planned<'_>, outcome: &Outcome<'_>, range: (Vec3, Vec3)) -> Bounds {
    let plain = with_rest(planned, range);
    let (min, max) = outcome.delivery.turn_box((plain.min.into(), plain.max.into()));
    Bounds { min: min.to_array(), max: max.to_array() }
}

/// A box that holds the rest pose too.
fn with_rest(planned: &Planned<'_>, (least, largest): (Vec3, Vec3)) -> Bounds {
    let (rest_least, rest_largest) = planned.rest.bounds();
    Bounds { min: least.min(rest_least).to_array(), max: largest.max(rest_largest).to_array() }
}

fn parts(scene: &Scene, planned: &Planned<'_>) -> Vec<Part> {
    let part = |range: &crate::plan::mesh::PartRange| {
        let part = &scene.parts[range.part];
        let (node, primitive) = (&scene.nodes[part.node], &scene.primitives[part.primitive]);
        Part {
            node: node.source as u32,
            node_name: node.name.clone(),
            mesh: primitive.mesh as u32,
            primitive: primitive.primitive as u32,
            material: primitive.material.map(|m| m as u32),
            skin: part.skin.map(|s| s as u32),
            first_vertex: range.first_vertex as u32,
            vertex_count: range.vertex_count as u32,
            first_index: range.first_index as u32,
            index_count: range.index_count as u32,
        }
    };
    planned.mesh.parts.iter().map(part).collect()
}

fn textures(planned: &Planned<'_>, outcome: &Outcome<'_>) -> Vec<Texture> {
    let converter = &outcome.delivery.converter;
    let texels = planned.layout.width as u64 * planned.layout.height as u64;
    let mut list = Vec::new();
    for (texture, written) in outcome.delivery.files.iter().zip(outcome.written) {
        let axes = (texture.layer == Layer::Position && !converter.stored.is_float()).then_some(&converter.encoding);
        list.push(Texture {
            role: texture.role,
            file: texture.file.clone(),
            pixel: texture.pixel,
            upload: texture.pixel.upload(),
            encoding: texture_encoding(texture, converter.stored.is_offset),
            scale: axes.map(|e| e.scale.to_array()),
            bias: axes.map(|e| e.bias.to_array()),
            gpu_bytes: texels * texture.pixel.texel_bytes(),
            crc32: format!("{:08x}", written.crc32),
            error: deviation(planned, outcome, texture.layer),
        });
    }
    // Octahedral normals share the position's file and memory.
    if converter.stored.normals == NormalMode::Octahedral
        && let Some(position) = list.first().cloned()
    {
        list.push(Texture {
            role: Role::Normal,
            encoding: Encoding::AlphaOctahedral,
            scale: None,
            bias: None,
            gpu_bytes: 0,
            error: deviation(planned, outcome, Layer::Normal),
            ..position
        });
    }
    list
}

fn texture_encoding(texture: &TextureFile, is_offset: bool) -> Encoding {
    let is_uint = matches!(texture.pixel, Pixel::Rgba8Unorm | Pixel::Rgba16Unorm);
    match (texture.role, is_offset) {
        (Role::Position, true) if is_uint => Encoding::OffsetUnorm,
        (Role::Position, false) if is_uint => Encoding::AbsoluteUnorm,
        (Role::Position, true) => Encoding::OffsetFloat,
        (Role::Position, false) => Encoding::AbsoluteFloat,
        _ if is_uint => Encoding::UnitUnorm,
        _ => Encoding::UnitFloat,
    }
}

/// The device measures the integers that it makes itself, the writers what they make.
fn deviation(planned: &Planned<'_>, outcome: &Outcome<'_>, layer: Layer) -> Deviation {
    let samples = planned.layout.vertex_count as u64 * planned.layout.frame_count as u64;
    let mut measured = Measured { degenerate: 0, ..*outcome.measured };
    outcome.written.iter().for_each(|w| measured.add(&w.measured));
    let (max, rms) = measured.error(layer, samples);
    // the sum is kept in counts, so it may round above what it cannot exceed
    let rms = rms.min(max);
    let unit = match layer {
        Layer::Position => outcome.delivery.space(1.0).unit.unwrap_or(Unit::Metre),
        _ => Unit::Degree,
    };
    Deviation { max: max as f32, rms: rms as f32, unit }
}

/// What the caller is told.
#[allow(clippy::too_many_arguments)]
pub fn report(
    scene: &Scene,
    planned: &Planned<'_>,
    outcomes: &[Outcome<'_>],
    mesh: &MeshWritten,
    name: String,
    device: Device,
    files: Vec<Vec<PathBuf>>,
    warnings: &Warnings,
    timings: Vec<Timing>,
) -> Report {
    let layout = &planned.layout;
    let outcome = &outcomes[0];
    let none = Vec::new();
    let files_of = |number: usize| files.get(number).unwrap_or(&none);
    let kits = outcomes.iter().enumerate().filter_map(|(number, outcome)| {
        let textures = texture_reports(planned, outcome, files_of(number));
        Some(KitReport {
            target: outcome.delivery.target?,
            textures,
            folder: files_of(number).last().and_then(|f| f.parent()).unwrap_or(Path::new("")).to_path_buf(),
        })
    });
    let bounds = with_rest(planned, (outcome.all.least, outcome.all.largest));
    Report {
        source: scene.origin.file.clone(),
        name,
        device,
        vertex_count: layout.vertex_count,
        frame_count: layout.frame_count,
        size: [layout.width as u32, layout.height as u32],
        clips: planned
            .clips
            .iter()
            .zip(outcome.ranges)
            .map(|(plan, ranges)| ClipReport {
                name: plan.name.clone(),
                frame_count: plan.frame_count,
                length: plan.length,
                looping: label(&looping(plan)),
                largest_displacement: ranges.moved.sqrt(),
            })
            .collect(),
        textures: texture_reports(planned, outcome, files_of(0)),
        kits: kits.collect(),
        meshes: mesh.nodes,
        primitives: mesh.primitives,
        materials: mesh.materials,
        triangles: planned.mesh.indices.len() / 3,
        bounds: [bounds.min, bounds.max],
        largest_displacement: outcome.all.moved.sqrt(),
        files: files.into_iter().flatten().collect(),
        warnings: warnings.list(),
        timings,
    }
}

fn texture_reports(planned: &Planned<'_>, outcome: &Outcome<'_>, files: &[PathBuf]) -> Vec<TextureReport> {
    let on_disk = |file: &str| {
        let path = files.iter().find(|p| p.file_name().is_some_and(|n| n == file));
        path.and_then(|p| p.metadata().ok()).map_or(0, |m| m.len())
    };
    let report = |t: Texture| TextureReport {
        role: label(&t.role),
        file_bytes: if t.encoding == Encoding::AlphaOctahedral { 0 } else { on_disk(&t.file) },
        file: if files.is_empty() { String::new() } else { t.file },
        pixel: label(&t.pixel),
        encoding: label(&t.encoding),
        gpu_bytes: t.gpu_bytes,
        error_max: t.error.max.into(),
        error_rms: t.error.rms.into(),
        unit: label(&t.error.unit),
    };
    textures(planned, outcome).into_iter().map(report).collect()
}

/// The name of a sidecar's enumeration value, as in the JSON.
fn label(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
