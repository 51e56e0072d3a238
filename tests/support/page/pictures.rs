//! What the canvas shows.

use glam::{Mat3, Vec3};
use serde_json::{Value, json};
use vatbake::baked::{Baked, Texels};
use vatbake::options::{Format, Normals};
use vatbake::output::sidecar::{Bounds, Forward, Handedness, Role, Space, Unit, Up};
use vatbake::preview::page::Errors;

use super::Failed;
use super::visit::{bake, coverage, difference, sample, visit, write};

/// Two times differ, a loop later is the same, another clip is another, and frames are blended only where that is asked for.
pub fn times_and_loops() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |_| ())?;
    let page = write(&baked, None, folder.path())?;
    let clip = &baked.sidecar.clips[0];
    let frame = |f: f64| f * f64::from(clip.length) / f64::from(clip.frame_count - 1);
    let (a, b) = (frame(2.3), frame(5.6));
    let later = a + f64::from(clip.length);
    let steps = json!([
        ["open", format!("#ui=off&paused&t={a}")],
        ["shot", "a"],
        ["at", format!("t={b}")],
        ["shot", "b"],
        ["at", format!("t={later}")],
        ["shot", "later"],
        ["at", format!("t={later}&loop=off")],
        ["shot", "held"],
        ["at", format!("t={a}&loop=on&clip=Wave")],
        ["shot", "wave"],
        ["at", format!("t={a}&clip=Walk&blend=off")],
        ["shot", "whole"],
        ["at", format!("t={}&blend=on", frame(2.0))],
        ["shot", "frame-2"],
    ]);
    let found = visit(&page, json!({}), steps)?;
    assert_eq!(found.difference("a", "later")?, 0.0, "a loop later");
    assert_eq!(found.difference("whole", "frame-2")?, 0.0, "not blended: the frame before");
    for (one, other) in [("a", "b"), ("a", "held"), ("a", "wave"), ("a", "whole")] {
        let share = found.difference(one, other)?;
        assert!(share > 0.005, "{one} and {other} differ in {share} of the pixels");
    }
    Ok(())
}

/// Every instance is in the one call of its material, up to 10,000, and has its own speed.
pub fn crowd_is_one_call_a_material() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |o| o.only = vec!["Hat".into(), "RollingPin".into()])?;
    let page = write(&baked, None, folder.path())?;
    let length = f64::from(baked.sidecar.clips[0].length);
    let steps = json!([
        ["open", "#paused"],
        ["calls"],
        ["at", "crowd=1000"],
        ["calls"],
        ["look"],
        ["focus", "#crowd"],
        ["press", "End"],
        ["calls"],
        ["look"],
        ["at", "ui=off&crowd=9&t=0.2"],
        ["shot", "a"],
        ["at", format!("t={}", 0.2 + length)],
        ["shot", "later"],
        ["at", "crowd=8"],
        ["shot", "eight"]
    ]);
    let found = visit(&page, json!({}), steps)?;
    for (told, instances) in [(0, 1), (1, 1000), (3, 10000)] {
        let calls = found.told[told].as_array().cloned().unwrap_or_default();
        let (instanced, rest): (Vec<_>, Vec<_>) = calls.iter().partition(|call| call[0] == "drawElementsInstanced");
        let indices: u64 = instanced.iter().filter_map(|call| call[2].as_u64()).sum();
        assert_eq!(instanced.len(), 3, "one call for each of three materials: {calls:?}");
        assert!(instanced.iter().all(|call| call[5] == instances), "{instances} in each: {instanced:?}");
        assert_eq!(indices as usize, baked.mesh.indices.len());
        assert!(rest.iter().all(|call| call[0] == "drawArrays"), "the rest is the ground: {rest:?}");
    }
    assert_eq!((found.text(2, "crowd").as_str(), found.text(4, "crowd").as_str()), ("1,000 instances", "10,000 instances"));
    assert!(found.difference("a", "later")? > 0.001, "the others have their own clips and speeds");
    assert!(found.difference("later", "eight")? > 0.001, "the ninth was there");
    Ok(())
}

/// A bake of one frame stands, and so does a crowd of it.
pub fn still_bake_stands() -> Result<(), Failed> {
    let (moving, folder) = bake(&sample(), |_| ())?;
    // A baked mesh has no animation.
    let (baked, still) = bake(&folder.path().join(&moving.sidecar.mesh.file), |o| o.allow_static = true)?;
    assert_eq!((baked.sidecar.frame_count, baked.sidecar.clips[0].length), (1, 0.0));
    let page = write(&baked, None, still.path())?;
    let steps = json!([
        ["open", "#ui=off&view=flat"],
        ["shot", "one"],
        ["wait", 300],
        ["shot", "later"],
        ["look"],
        ["at", "crowd=5"],
        ["shot", "five"],
        ["press", "ArrowRight", "End", "Home", "l"],
        ["look"],
        ["at", "view=texture"],
        ["shot", "texture"]
    ]);
    let found = visit(&page, json!({}), steps)?;
    assert!(coverage(&found.picture("one")?) > 0.1 && coverage(&found.picture("five")?) > 0.05);
    assert_eq!(found.difference("one", "later")?, 0.0);
    assert!(found.difference("one", "five")? > 0.05);
    assert_eq!(found.text(0, "caption"), "static, frame 0.0 of 0");
    Ok(())
}

/// Views show different things; the texture's marks stand around the rows that play, and only there.
pub fn views() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |_| ())?;
    let (vertices, frames) = (baked.sidecar.vertex_count as usize, baked.sidecar.frame_count as usize);
    let values = (0..vertices * frames).map(|i| (i % vertices * 255 / vertices) as u8).collect();
    let page = write(&baked, Some(&Errors { unit: "metre".into(), largest: 0.0042, values }), folder.path())?;
    let names = ["shaded", "normals", "error", "flat", "texture"];
    let mut steps = vec![json!(["open", "#ui=off&paused&t=0.2"])];
    for name in names {
        steps.extend([json!(["at", format!("view={name}")]), json!(["shot", name])]);
    }
    let clip = &baked.sidecar.clips[0];
    let second = f64::from(clip.length) / f64::from(clip.frame_count - 1);
    steps.extend([json!(["at", format!("t={}", second * 4.5)]), json!(["shot", "between"]), json!(["look"])]);
    steps.extend([json!(["at", "texture=normal"]), json!(["shot", "normal-texture"]), json!(["at", "view=error&ui=on"]), json!(["look"])]);
    let found = visit(&page, json!({}), steps.into())?;
    for (i, one) in names.iter().enumerate() {
        for other in &names[..i] {
            let share = found.difference(one, other)?;
            assert!(share > 0.02, "{one} and {other} differ in {share} of the pixels");
        }
    }
    assert!(found.difference("between", "normal-texture")? > 0.5);
    assert!(found.text(1, "note").contains("4.2 mm"), "{}", found.text(1, "note"));
    assert_eq!(found.text(0, "caption"), "Walk, rows 4 and 5");

    // Where a picture is white from side to side.
    let white = |name: &str| -> Result<Vec<u32>, Failed> {
        let picture = found.picture(name)?;
        Ok((0..picture.height()).filter(|&y| (0..picture.width()).all(|x| picture.get_pixel(x, y).0 == [255; 3])).collect())
    };
    let tall = 360.0 / f64::from(baked.sidecar.layout.height);
    for (name, first, after) in [("texture", 2.0, 3.0), ("between", 4.0, 6.0)] {
        let (above, below) = ((first * tall - 3.0) as u32, (after * tall + 2.0) as u32);
        let lines = white(name)?;
        assert!(lines.contains(&above) && lines.contains(&below), "{name}: marks at {lines:?}, expected {above} and {below}");
        assert!(lines.iter().all(|y| y.abs_diff(above) < 2 || y.abs_diff(below) < 2), "{name}: other marks at {lines:?}");
    }
    assert!(white("shaded")?.is_empty());
    Ok(())
}

/// Each form of texels shows the same figure as the default one.
pub fn every_encoding() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |_| ())?;
    let page = write(&baked, None, folder.path())?;
    let steps = json!([
        ["open", "#ui=off&paused&t=0.23"],
        ["shot", "shaded"],
        ["at", "view=normals"],
        ["look"],
        ["at", "view=flat"],
        ["shot", "flat"],
        ["at", "view=shaded&t=0.47"],
        ["shot", "other"]
    ]);
    let reference = visit(&page, json!({}), steps.clone())?;
    let covered = coverage(&reference.picture("flat")?);
    assert!((0.1..0.6).contains(&covered), "the figure covers {covered}");
    let forms: [(&str, Format, Normals, &str); 5] = [
        ("exr16", Format::Exr16, Normals::Separate, "f16"),
        ("exr32", Format::Exr32, Normals::Separate, "f32"),
        ("png8", Format::Png8, Normals::Separate, "u8"),
        ("alpha", Format::Png16, Normals::Alpha, "u16"),
        ("none", Format::Png16, Normals::None, "u16"),
    ];
    for (name, format, normals, kind) in forms {
        let (baked, folder) = bake(&sample(), |o| (o.format, o.normals) = (format, normals))?;
        let page = write(&baked, None, folder.path())?;
        assert!(std::fs::read_to_string(&page)?.contains(&format!(r#""name":"positions","kind":"{kind}""#)), "{name} is {kind}");
        let found = visit(&page, json!({}), steps.clone())?;
        let between = |a: &str, b: &str, tolerance| Ok::<_, Failed>(difference(&reference.picture(a)?, &found.picture(b)?, tolerance));
        let outline = between("flat", "flat", 127)?;
        assert!(outline < 0.003, "{name}: {outline} of the outline differs");
        // 8 bits are steps of millimetres and half degrees; without normals the faces show theirs.
        let bound = if normals == Normals::None { 0.2 } else { 0.02 };
        let (same, other) = (between("shaded", "shaded", 32)?, between("shaded", "other", 32)?);
        assert!(same < bound && other > 0.01 && other > 2.0 * same, "{name}: {same} differs, {other} at another time");
        assert_eq!(found.text(0, "note").contains("holds no normals"), normals == Normals::None, "{name}");
    }
    Ok(())
}

/// Bakes in the axes and units of engines stand as the default one does.
pub fn other_axes_are_turned_upright() -> Result<(), Failed> {
    let (baked, folder) = bake(&sample(), |o| o.format = Format::Exr32)?;
    let steps =
        json!([["open", "#ui=off&paused&t=0.23&eye=1.5,0.9,2&target=0,0.5,0"], ["shot", "shaded"], ["at", "view=flat"], ["shot", "flat"]]);
    let reference = visit(&write(&baked, None, folder.path())?, json!({}), steps.clone())?;
    let unity = Space { handedness: Handedness::Left, ..Space::scaled(1.0) };
    let unreal = Space { up: Up::PositiveZ, forward: Forward::PositiveY, unit: Some(Unit::Centimetre), ..unity.clone() };
    for (name, space) in [("unity", unity), ("unreal", unreal)] {
        let mut mistaken = baked.clone();
        mistaken.sidecar.space = space.clone();
        let shown = |bake: &Baked, steps: Value| visit(&write(bake, None, folder.path())?, json!({}), steps);
        let found = shown(&turned(&baked, space), steps.clone())?;
        let outline = difference(&reference.picture("flat")?, &found.picture("flat")?, 127);
        let shaded = difference(&reference.picture("shaded")?, &found.picture("shaded")?, 32);
        assert!(outline < 0.001 && shaded < 0.002, "{name}: {outline} of the outline, {shaded} of the shading differ");
        let found = shown(&mistaken, steps.clone())?;
        let outline = difference(&reference.picture("flat")?, &found.picture("flat")?, 127);
        assert!(outline > 0.005, "{name}: texels that were not turned would show, {outline}");
    }
    Ok(())
}

/// A bake of floats in other axes.
fn turned(baked: &Baked, space: Space) -> Baked {
    let (axes, units) = (space.axes(), space.units_a_metre());
    let mut turned = baked.clone();
    let file = |role: Role| baked.sidecar.textures.iter().find(|t| t.role == role).map(|t| t.file.clone());
    assert_ne!(file(Role::Position), file(Role::Normal), "files of their own, the positions' first");
    for (image, factor) in turned.images.iter_mut().zip([units, 1.0]) {
        let Texels::Float(texels) = &mut image.texels else { panic!("floats were baked") };
        for texel in texels {
            let value = axes * Vec3::new(texel[0], texel[1], texel[2]) * factor;
            texel[..3].copy_from_slice(&value.to_array());
        }
    }
    let boxes = turned.sidecar.clips.iter_mut().map(|clip| &mut clip.bounds).chain([&mut turned.sidecar.bounds]);
    boxes.for_each(|bounds| *bounds = turned_box(axes, units, bounds));
    turned.sidecar.space = space;
    turned
}

fn turned_box(axes: Mat3, units: f32, bounds: &Bounds) -> Bounds {
    let (a, b) = (axes * Vec3::from(bounds.min) * units, axes * Vec3::from(bounds.max) * units);
    Bounds { min: a.min(b).to_array(), max: a.max(b).to_array() }
}
