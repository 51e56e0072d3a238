//! Every shader validates, translates to what the drivers take, and agrees with Rust about layouts, bindings and sizes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::path::Path;

use naga::back::pipeline_constants::process_overrides;
use naga::back::{PipelineConstants, hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Literal, Module, TypeInner};
use vatbake::plan::mesh::{Influence, Morph, Vertex};
use vatbake::preview::layout::{MaterialUniform, PREVIEW_WGSL, VatBake, ViewUniform, shader};
use vatbake::skin::layout::{self, BOUNDS_WGSL, Params, RowResults, SKIN_WGSL, binding};

fn modules() -> Vec<(&'static str, Module, ModuleInfo)> {
    [("bounds", BOUNDS_WGSL), ("skin", SKIN_WGSL)]
        .into_iter()
        .map(|(name, source)| {
            let module = naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)));
            let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
                .validate(&module)
                .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)));
            (name, module, info)
        })
        .collect()
}

/// With the overrides of one kind of mesh filled in, as a pipeline is made.
fn specialised<'a>(module: &'a Module, info: &'a ModuleInfo, has: bool, normal_mode: u32) -> (Cow<'a, Module>, Cow<'a, ModuleInfo>) {
    let mut constants = PipelineConstants::default();
    for name in ["has_morphs", "has_faces", "has_more_sets", "with_tangents"] {
        constants.insert(name.into(), f64::from(u8::from(has)));
    }
    if module.overrides.iter().any(|(_, o)| o.name.as_deref() == Some("normal_mode")) {
        constants.insert("normal_mode".into(), normal_mode.into());
    }
    assert_eq!(constants.len(), module.overrides.len(), "an override is never filled in");
    process_overrides(module, info, None, &constants).expect("overrides")
}

/// A shader that no module contains would be checked by nobody.
#[test]
fn every_shader_file_is_part_of_a_module() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut found = 0;
    for entry in folder.read_dir().expect("shaders/").map(|e| e.expect("an entry").path()) {
        if entry.extension().is_some_and(|e| e == "wgsl") {
            let text = std::fs::read_to_string(&entry).expect("a shader");
            let is_used = [BOUNDS_WGSL, SKIN_WGSL, PREVIEW_WGSL].iter().any(|module| module.contains(&text));
            assert!(is_used, "{} is in no module", entry.display());
            found += 1;
        }
    }
    assert_eq!(found, 4, "deform, bounds, skin, preview");
}

#[test]
fn every_module_translates_to_what_drivers_take() {
    for (name, module, info) in &modules() {
        for (has, normal_mode) in [(true, 1), (false, 0), (true, 2)] {
            let (module, info) = specialised(module, info, has, normal_mode);
            translate(name, &module, &info);
        }
    }
}

fn translate(name: &str, module: &Module, info: &ModuleInfo) {
    let options = spv::Options { lang_version: (1, 3), ..Default::default() };
    let words = spv::write_vec(module, info, &options, None).unwrap_or_else(|e| panic!("{name} to SPIR-V: {e}"));
    assert_eq!(words[0], 0x0723_0203, "{name}: SPIR-V's magic number");
    let metal = msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
    let written = msl::write_string(module, info, &metal, &msl::PipelineOptions::default());
    let (text, _) = written.unwrap_or_else(|e| panic!("{name} to MSL: {e}"));
    assert!(text.contains("kernel void"), "{name}: {text}");
    let options = hlsl::Options { shader_model: hlsl::ShaderModel::V6_0, fake_missing_bindings: true, ..Default::default() };
    let pipeline = hlsl::PipelineOptions::default();
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &pipeline).write(module, info, None).unwrap_or_else(|e| panic!("{name} to HLSL: {e}"));
    assert!(text.contains("numthreads(64, 1, 1)"), "{name}: {text}");
}

#[test]
fn entry_points_and_workgroups_are_those_of_rust() {
    let mut names = Vec::new();
    for (_, module, _) in modules() {
        for entry in &module.entry_points {
            assert_eq!(entry.workgroup_size, [layout::WORKGROUP, 1, 1], "{}", entry.name);
            names.push(entry.name.clone());
        }
    }
    assert_eq!(names, ["bounds", "skin_uint", "skin_float"]);
}

#[test]
fn bindings_are_those_of_rust() {
    let expected: BTreeMap<&str, u32> = [
        ("vertices", binding::VERTICES),
        ("influences", binding::INFLUENCES),
        ("morphs", binding::MORPHS),
        ("faces", binding::FACES),
        ("palettes", binding::PALETTES),
        ("weights", binding::WEIGHTS),
        ("rest", binding::REST),
        ("results", binding::RESULTS),
        ("params", binding::PARAMS),
        ("position_uint", binding::POSITION_UINT),
        ("normal_uint", binding::POSITION_UINT + 1),
        ("tangent_uint", binding::POSITION_UINT + 2),
        ("position_float", binding::POSITION_FLOAT),
        ("normal_float", binding::POSITION_FLOAT + 1),
        ("tangent_float", binding::POSITION_FLOAT + 2),
    ]
    .into();
    for (module_name, module, _) in modules() {
        let found: BTreeMap<&str, u32> = module
            .global_variables
            .iter()
            .filter_map(|(_, v)| {
                let at = v.binding.as_ref()?;
                assert_eq!(at.group, 0);
                Some((v.name.as_deref()?, at.binding))
            })
            .collect();
        let wanted = expected.iter().filter(|(_, at)| module_name == "skin" || **at <= binding::PARAMS).map(|(n, b)| (*n, *b)).collect();
        assert_eq!(found, wanted, "{module_name}");
    }
}

/// Offsets of a WGSL structure's members and its size.
fn structure(module: &Module, name: &str) -> (Vec<(String, usize)>, usize) {
    let (_, ty) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some(name)).unwrap_or_else(|| panic!("no structure {name}"));
    let TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no structure") };
    (members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset as usize)).collect(), *span as usize)
}

#[test]
fn structures_are_those_of_rust() {
    let named = |list: &[(&str, usize)]| list.iter().map(|(n, o)| ((*n).to_owned(), *o)).collect::<Vec<_>>();
    macro_rules! at {
        ($ty:ty: $($field:ident),*) => { [$((stringify!($field), offset_of!($ty, $field))),*] };
    }
    for (_, module, _) in modules() {
        let (members, size) = structure(&module, "Params");
        let wanted = at!(Params: scale, bias, levels, normal_levels, error_unit, chord_unit, palette_len, weight_count, first_vertex, vertex_count, row_texels, frame_count,
            frame_stride, vertex_stride, texture_width, is_offset, slot, tangent_unit);
        assert_eq!((members, size), (named(&wanted), size_of::<Params>()));

        let (members, size) = structure(&module, "Influence");
        assert_eq!((members, size), (named(&at!(Influence: joints, weights)), size_of::<Influence>()));

        // a vec3 would be padded: vectors are written as their components
        let (p, n) = (offset_of!(Vertex, position), offset_of!(Vertex, normal));
        let mut wanted = vec![("px", p), ("py", p + 4), ("pz", p + 8)];
        wanted.extend(at!(Vertex: first_set));
        wanted.extend([("nx", n), ("ny", n + 4), ("nz", n + 8)]);
        wanted.extend(at!(Vertex: sets, first_morph, morph_count, first_face, face_count));
        let t = offset_of!(Vertex, tangent);
        wanted.extend([("tx", t), ("ty", t + 4), ("tz", t + 8)]);
        wanted.extend(at!(Vertex: padding));
        assert_eq!(structure(&module, "Vertex"), (named(&wanted), size_of::<Vertex>()));

        let (p, n) = (offset_of!(Morph, position), offset_of!(Morph, normal));
        let mut wanted = vec![("px", p), ("py", p + 4), ("pz", p + 8)];
        wanted.extend(at!(Morph: weight));
        wanted.extend([("nx", n), ("ny", n + 4), ("nz", n + 8)]);
        wanted.extend(at!(Morph: padding));
        let t = offset_of!(Morph, tangent);
        wanted.extend([("tx", t), ("ty", t + 4), ("tz", t + 8)]);
        wanted.extend(at!(Morph: padding_2));
        assert_eq!(structure(&module, "Morph"), (named(&wanted), size_of::<Morph>()));
    }
}

fn constant(module: &Module, name: &str) -> f64 {
    let (_, c) = module.constants.iter().find(|(_, c)| c.name.as_deref() == Some(name)).unwrap_or_else(|| panic!("no constant {name}"));
    match module.global_expressions[c.init] {
        naga::Expression::Literal(Literal::F32(v)) => v.into(),
        naga::Expression::Literal(Literal::U32(v)) => v.into(),
        ref other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn constants_are_those_of_rust() {
    let modules = modules();
    let (bounds, skin) = (&modules[0].1, &modules[1].1);
    assert_eq!(constant(bounds, "SLOT_STRIDE"), layout::RANGE_STRIDE as f64);
    assert_eq!(constant(skin, "RESULT_STRIDE"), layout::RESULT_STRIDE as f64);
    assert_eq!(size_of::<RowResults>(), layout::RESULT_STRIDE * 4);
    assert_eq!(constant(skin, "MOST_COUNTS"), f64::from(layout::MOST_COUNTS));
    for module in [bounds, skin] {
        assert_eq!(constant(module, "NO_DIRECTION"), f64::from(layout::NO_DIRECTION));
    }
}

/// The preview's module with every kind of texture that a bake may have, for every driver, and its structures as Rust has them.
#[test]
fn the_preview_validates_with_every_kind_of_texture() {
    for floats in [[false, false], [true, false], [false, true], [true, true]] {
        let source = shader(floats);
        let module = naga::front::wgsl::parse_str(&source).unwrap_or_else(|e| panic!("{floats:?}: {}", e.emit_to_string(&source)));
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
        let info = info.unwrap_or_else(|e| panic!("{floats:?}: {}", e.emit_to_string(&source)));
        assert_eq!(source.matches("texture_2d<u32>;").count(), floats.iter().filter(|is_float| !**is_float).count());

        let options = spv::Options { lang_version: (1, 3), ..Default::default() };
        spv::write_vec(&module, &info, &options, None).unwrap_or_else(|e| panic!("to SPIR-V: {e}"));
        let metal = msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
        msl::write_string(&module, &info, &metal, &msl::PipelineOptions::default()).unwrap_or_else(|e| panic!("to MSL: {e}"));
        let options = hlsl::Options { shader_model: hlsl::ShaderModel::V6_0, fake_missing_bindings: true, ..Default::default() };
        let (pipeline, mut text) = (hlsl::PipelineOptions::default(), String::new());
        hlsl::Writer::new(&mut text, &options, &pipeline).write(&module, &info, None).unwrap_or_else(|e| panic!("to HLSL: {e}"));

        let named = |list: &[(&str, usize)]| list.iter().map(|(n, o)| ((*n).to_owned(), *o)).collect::<Vec<_>>();
        macro_rules! at {
            ($ty:ty: $($field:ident),*) => { [$((stringify!($field), offset_of!($ty, $field))),*] };
        }
        let bake = at!(VatBake: scale, width, bias, frames, lanes, groups, position_encoding, normal_encoding);
        assert_eq!(structure(&module, "VatBake"), (named(&bake), size_of::<VatBake>()));
        let material = at!(MaterialUniform: base, cutoff, blends, is_two_sided, has_picture);
        assert_eq!(structure(&module, "Material"), (named(&material), size_of::<MaterialUniform>()));
        let view = at!(ViewUniform: projection, to_gltf, clip, eye, now, key, ground, fall, padding, fill, colouring, rim, has_normals);
        assert_eq!(structure(&module, "View"), (named(&view), size_of::<ViewUniform>()));
    }
}
