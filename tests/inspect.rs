//! `inspect --json` of every given model shows each quirk that the inventory lists, with its numbers, and none that it does not.
//!
//! One test a model; where `shared/data` is absent they are reported as ignored, but fail where `CI` is `true`. The quirks were found
//! by another program; here each is mapped to the key and count that the model's facts must hold, and a quirk without a mapping fails.

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use support::fixture::{Type, scalars, vec3, vec4};
use support::models::{Rig, TRIANGLE, sliding};
use support::oracle;

fn main() {
    let mut trials = vec![
        Trial::test("a_clean_model_has_no_facts", a_clean_model_has_no_facts),
        Trial::test("facts_are_counted", facts_are_counted),
        Trial::test("people_read_the_facts_too", people_read_the_facts_too),
        Trial::test("several_models_are_an_array", several_models_are_an_array),
        Trial::test("a_broken_model_is_an_error", a_broken_model_is_an_error),
        Trial::test("a_missing_fact_is_noticed", a_missing_fact_is_noticed),
    ];
    trials.extend(given_models());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// A test for each model of the inventory, or what stands in for them where there is no data.
fn given_models() -> Vec<Trial> {
    let data = oracle::shared().join("data");
    let Ok(text) = std::fs::read(data.join("inventory.json")) else {
        return vec![oracle::without_data()];
    };
    let list: Vec<Value> = serde_json::from_slice(&text).expect("the inventory is a JSON array");
    assert!(list.len() > 40, "the inventory lists {} models, expected more than 40", list.len());
    let trial = |model: Value| {
        let file = model["file"].as_str().expect("a file").to_owned();
        let path = data.join(&file);
        Trial::test(format!("model/{file}"), move || check_model(&model, &path))
    };
    list.into_iter().map(trial).collect()
}

/// What a quirk of the inventory asks of the facts.
#[derive(Debug, Default, PartialEq)]
struct Wanted {
    /// Any of these keys: the inventory has one word for some that are told apart here.
    keys: Vec<&'static str>,
    what: Option<String>,
    /// Least and most.
    count: Option<(u64, u64)>,
    of: Option<u64>,
    /// Found in the text.
    texts: Vec<String>,
}

impl Wanted {
    fn key(key: &'static str) -> Self {
        Self { keys: vec![key], ..Self::default() }
    }

    fn what(self, what: &str) -> Self {
        Self { what: Some(what.into()), ..self }
    }

    fn count(self, count: u64) -> Self {
        Self { count: Some((count, count)), ..self }
    }

    /// A count that depends on what is called rounding: up to a twentieth more.
    fn about(self, count: u64) -> Self {
        Self { count: Some((count, count + count / 20)), ..self }
    }

    fn of(self, of: u64) -> Self {
        Self { of: Some(of), ..self }
    }

    fn text(mut self, text: impl Into<String>) -> Self {
        self.texts.push(text.into());
        self
    }

    fn is_met_by(&self, fact: &Value) -> bool {
        let count = fact["count"].as_u64().unwrap_or(0);
        let text = fact["text"].as_str().unwrap_or_default();
        self.keys.iter().any(|key| fact["key"] == *key)
            && self.what.as_ref().is_none_or(|what| fact["what"] == what.as_str())
            && self.count.map_or(count > 0, |(least, most)| (least..=most).contains(&count))
            && self.of.is_none_or(|of| fact["of"] == of)
            && self.texts.iter().all(|wanted| text.contains(wanted.as_str()))
    }
}

/// The facts that a quirk stands for; none where the quirk is unknown.
fn map_quirk(quirk: &str) -> Option<Vec<Wanted>> {
    let wanted = Wanted::key;
    let one = |fact: Wanted| Some(vec![fact]);
    // Quirks without numbers of their own.
    let plain = match quirk {
        "no default scene property" => Some(wanted("no-default-scene").count(1)),
        "interleaved vertex buffers" => Some(wanted("interleaved")),
        "skeleton root not a scene root" => Some(wanted("skeleton-below-root")),
        "negative determinant above skeleton root" => Some(wanted("skeleton-mirrored")),
        "joint rest scale uniform!=1" => Some(wanted("joint-scaled").what("uniform")),
        "skins sharing the same joint list" => Some(wanted("shared-joints")),
        "skinned mesh not at scene root" => Some(wanted("skinned-mesh-below-root")),
        "skinned mesh node has own/parent transform (must be ignored)" => Some(wanted("skinned-mesh-transform").text("ignored")),
        "skinned mesh under negative-determinant transform" => Some(wanted("skinned-mesh-mirrored")),
        "skinned mesh under scaled node" => Some(wanted("skinned-mesh-scaled").what("uniform")),
        "skinned mesh under scaled node (non-uniform)" => Some(wanted("skinned-mesh-scaled").what("non-uniform")),
        "rigid mesh under scaled node" => Some(wanted("rigid-mesh-scaled").what("uniform")),
        "rigid mesh under scaled node (non-uniform)" => Some(wanted("rigid-mesh-scaled").what("non-uniform")),
        "rigid mesh parented to joint" => Some(wanted("rigid-mesh-on-joint")),
        "nodes with matrix" => Some(wanted("matrix-nodes")),
        "joint nodes use matrix" => Some(wanted("matrix-joints")),
        "node-level morph weights" => Some(wanted("node-weights")),
        "skin without inverseBindMatrices" => Some(wanted("no-inverse-bind")),
        "unnamed clip" => Some(wanted("unnamed-clips").count(1)),
        "duplicate/missing clip names" => Some(Wanted { keys: vec!["unnamed-clips", "same-clip-names"], ..Wanted::default() }),
        "clip(s) not starting at t=0" => Some(wanted("late-start")),
        "zero-length clip(s) (single key)" => Some(wanted("no-length")),
        "single-key channels mixed in" => Some(wanted("single-keys")),
        "adjacent quats in opposite hemispheres (slerp shortest path matters)" => Some(wanted("opposite-quaternions")),
        "CUBICSPLINE non-zero rotation tangents" => Some(wanted("rotation-tangents")),
        "animated scale goes negative" => Some(wanted("negative-scale")),
        "animated non-uniform scale" => Some(wanted("non-uniform-scale")),
        "KHR_mesh_quantization" | "EXT_meshopt_compression" | "KHR_meshopt_compression" | "KHR_draco_mesh_compression" => {
            Some(wanted("extension").what(quirk))
        }
        _ => None,
    };
    if let Some(plain) = plain {
        return one(plain);
    }
    if let Some(scale) = quirk.strip_prefix("skeleton under scaled node [") {
        let numbers: Option<Vec<f64>> = scale.strip_suffix(']')?.split(", ").map(|n| n.parse().ok()).collect();
        let shown = numbers?.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
        return one(wanted("skeleton-scaled").what(&shown));
    }
    if let Some(type_) = quirk.strip_prefix("animation ") {
        return one(wanted("output-type").what(&type_.replacen("output ", "", 1)));
    }
    if ["JOINTS_", "WEIGHTS_", "NORMAL ", "POSITION "].iter().any(|start| quirk.starts_with(start)) {
        return one(wanted("attribute-type").what(quirk));
    }
    // The rest begins with a count, or "N/M", or has its count in the middle.
    let numbers = numbers_of(quirk);
    let count = *numbers.first()? as u64;
    let second = numbers.get(1).copied();
    let without_numbers: String = quirk.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect();
    match without_numbers.as_str() {
        "scene with  root nodes" => one(wanted("scene-roots").count(count)),
        " scenes" => one(wanted("several-scenes").count(count)),
        "/ prims without NORMAL" => one(wanted("no-normals").count(count).of(second? as u64)),
        "/ prims non-indexed" => one(wanted("no-indices").count(count).of(second? as u64)),
        " influence sets (JOINTS_)" => one(wanted("influence-sets").what(&count.to_string())),
        " mesh(es) instanced by several nodes (max )" => one(wanted("mesh-instances").count(count).what(&second?.to_string())),
        " sparse accessors ( without base bufferView)" => {
            Some(vec![wanted("sparse-accessors").count(count), wanted("sparse-without-base").count(second? as u64).of(count)])
        }
        " verts with all-zero weights" => one(wanted("zero-weights").count(count)),
        "/ verts with unnormalised weights (sum )" => {
            let sums = format!("from {} to {}", numbers.get(2)?, numbers.get(3)?);
            // The inventory minds 0.001 a vertex, the reader 0.0001 an influence.
            one(wanted("unnormalised-weights").about(count).of(second? as u64).text(sums))
        }
        _ => None,
    }
}

/// Numbers in a text; `..` parts two of them.
fn numbers_of(text: &str) -> Vec<f64> {
    let spaced = text.replace("..", " ");
    spaced.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|word| word.parse().ok()).collect()
}

/// Kinds of facts that the inventory does not look for.
fn is_beyond_the_inventory(fact: &Value) -> bool {
    let what = fact["what"].as_str().unwrap_or_default();
    // Of stored types it lists those of the attributes of skinned meshes.
    fact["key"] == "attribute-type" && (what.starts_with("TEXCOORD_") || what.starts_with("TANGENT ") || what.starts_with("morph "))
}

fn check_model(model: &Value, path: &Path) -> Result<(), Failed> {
    let words = [PathBuf::from("--json"), path.to_path_buf()];
    let (code, stdout, stderr) = inspect(&words)?;
    let survey: Value = serde_json::from_str(&stdout).map_err(|e| format!("not JSON ({e}): {stdout}\n{stderr}"))?;
    if code != 0 || !survey["bake_error"].is_null() {
        return Err(format!("exit code {code}, bake error {}", survey["bake_error"]).into());
    }
    let quirks = model["quirks"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut wanted = Vec::new();
    for quirk in quirks {
        wanted.extend(map_quirk(quirk).ok_or_else(|| format!("no fact stands for the quirk \"{quirk}\""))?);
    }
    compare(&survey, &wanted).map_err(Failed::from)?;
    check_numbers(model, &survey).map_err(Failed::from)
}

/// Each quirk has a fact, and each fact a quirk.
fn compare(survey: &Value, wanted: &[Wanted]) -> Result<(), String> {
    let facts = survey["facts"].as_array().ok_or("no facts")?;
    let absent: Vec<_> = wanted.iter().filter(|wanted| !facts.iter().any(|fact| wanted.is_met_by(fact))).collect();
    let astray: Vec<_> =
        facts.iter().filter(|fact| !is_beyond_the_inventory(fact) && !wanted.iter().any(|wanted| wanted.is_met_by(fact))).collect();
    if absent.is_empty() && astray.is_empty() {
        return Ok(());
    }
    Err(format!("quirks without a fact: {absent:#?}\nfacts without a quirk: {astray:#?}\nall facts: {facts:#?}"))
}

/// What the inventory counts besides its quirks, and what every survey tells.
fn check_numbers(model: &Value, survey: &Value) -> Result<(), String> {
    let length = |value: &Value| value.as_array().map_or(0, Vec::len);
    let joints: u64 = survey["skins"].as_array().into_iter().flatten().filter_map(|skin| skin["joints"].as_u64()).sum();
    let is_skinned = model["skins"].as_u64().unwrap_or(0) > 0;
    let share = survey["first_four_share"].as_f64();
    let space = &survey["space"];
    let checks = [
        ("skins", model["skins"] == length(&survey["skins"]) as u64),
        ("clips", length(&model["clips"]) == length(&survey["clips"])),
        ("joints", !is_skinned || model["joints"].as_u64().is_some_and(|n| n <= joints)),
        ("influence_sets", model["influence_sets"] == survey["influence_sets"]),
        ("extensions_required", model["extensions_required"] == survey["extensions_required"]),
        ("first_four_share", share.is_some() == is_skinned && share.is_none_or(|share| (0.0..=1.0).contains(&share))),
        ("first_four_share of one set", model["influence_sets"] != 1 || share == Some(1.0)),
        ("space.rest", length(&space["rest"]) == 2),
        ("space.animated", length(&space["animated"]) == 2),
        ("space.up", ["+y", "+z", "unclear"].iter().any(|up| space["up"] == *up)),
        ("space.unit", ["metres", "centimetres", "millimetres", "unclear"].iter().any(|unit| space["unit"] == *unit)),
    ];
    for (key, code) in [("unnormalised-weights", "weights-renormalised"), ("zero-weights", "zero-weights")] {
        let count = |list: &str, name: &str, wanted: &str| {
            survey[list].as_array().into_iter().flatten().find(|item| item[name] == wanted).map(|item| item["count"].clone())
        };
        let (fact, warning) = (count("facts", "key", key), count("warnings", "code", code));
        if fact != warning {
            return Err(format!("the fact {key} counts {fact:?}, the warning {code} {warning:?}"));
        }
    }
    let wrong: Vec<_> = checks.into_iter().filter(|(_, holds)| !holds).map(|(name, _)| name).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrong: {wrong:?}, inventory {model:#}, survey {survey:#}")) }
}

/// Exit code, standard output, standard error of `vatbake inspect`.
fn inspect(words: &[PathBuf]) -> Result<(i32, String, String), Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vatbake"));
    command.arg("inspect").args(words).env("NO_COLOR", "1").env_remove("RUST_LOG").env_remove("VATBAKE_LOG");
    let output = command.output()?;
    let code = output.status.code().ok_or("ended by a signal")?;
    Ok((code, String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

/// The JSON of models made in code.
fn inspect_models(models: &[(&str, Vec<u8>)]) -> Result<(i32, Value), Failed> {
    let folder = tempfile::tempdir()?;
    let mut words = vec![PathBuf::from("--json")];
    for (name, bytes) in models {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes)?;
        words.push(path);
    }
    let (code, stdout, _) = inspect(&words)?;
    Ok((code, serde_json::from_str(&stdout)?))
}

/// A skinned triangle of which nothing is out of the ordinary.
fn clean() -> support::Doc {
    let mut rig = Rig::new(vec![json!({})]);
    rig.inverse_bind = Some(support::mat4(&[glam::DMat4::IDENTITY.to_cols_array()]));
    let mut doc = rig.doc();
    // One root, without a transform, for the mesh and the joint.
    doc.json["scenes"][0]["nodes"] = json!([0]);
    doc.json["nodes"][0]["children"] = json!([1]);
    let indices = doc.add(scalars(&[0.0, 1.0, 2.0]).of(Type::U16));
    doc.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
    doc.animate(Some("Move"), &[(1, "translation", "LINEAR", &[0.0, 1.0], vec3(&[[0.0; 3], [1.0, 0.0, 0.0]]))]);
    doc
}

/// Without a skeleton there is nothing at all to tell; with one, only that its root hangs below the scene's.
fn a_clean_model_has_no_facts() -> Result<(), Failed> {
    let mut rigid = sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]);
    let indices = rigid.add(scalars(&[0.0, 1.0, 2.0]).of(Type::U16));
    rigid.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
    rigid.json["animations"][0]["name"] = json!("Slide");
    let (code, survey) = inspect_models(&[("rigid.glb", rigid.to_glb())])?;
    assert_eq!((code, &survey["facts"]), (0, &json!([])));
    let (code, survey) = inspect_models(&[("skinned.glb", clean().to_glb())])?;
    assert_eq!((code, keys(&survey)), (0, BTreeSet::from(["skeleton-below-root".to_owned()])));
    Ok(())
}

fn keys(survey: &Value) -> BTreeSet<String> {
    survey["facts"].as_array().into_iter().flatten().filter_map(|fact| Some(fact["key"].as_str()?.to_owned())).collect()
}

/// Counts that no given model tells apart.
fn facts_are_counted() -> Result<(), Failed> {
    let mut doc = clean();
    doc.json["scenes"] = json!([{ "name": "Main", "nodes": [0, 2, 3] }, { "nodes": [] }, { "name": "Spare", "nodes": [] }]);
    // Weights 0.5 + 0.5, 0.25 + 0.5, none.
    let weights = doc.add(vec4(&[[0.5, 0.5, 0.0, 0.0], [0.25, 0.5, 0.0, 0.0], [0.0; 4]]));
    doc.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(weights);
    doc.node(json!({ "matrix": glam::DMat4::from_scale(glam::DVec3::new(-1.0, 2.0, 1.0)).to_cols_array() }));
    doc.node(json!({ "scale": [3.0, 3.0, 3.0] }));
    let flips = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.6, -0.8], [0.0, 0.0, 0.0, 1.0]];
    doc.animate(
        Some("Move"),
        &[(1, "rotation", "LINEAR", &[1.0, 2.0, 3.0], vec4(&flips)), (1, "scale", "LINEAR", &[1.0], vec3(&[[1.0, -2.0, 1.0]]))],
    );
    doc.animate(None, &[(1, "translation", "LINEAR", &[2.0], vec3(&TRIANGLE[..1]))]);
    let (code, survey) = inspect_models(&[("model.glb", doc.to_glb())])?;
    assert_eq!((code, &survey["scenes"]), (0, &json!(["Main", null, "Spare"])));
    let wanted = [
        Wanted::key("several-scenes").count(3),
        Wanted::key("scene-roots").count(3),
        Wanted::key("zero-weights").count(1).of(3),
        Wanted::key("unnormalised-weights").count(1).of(3).text("from 0.75 to 1"),
        Wanted::key("skeleton-below-root").count(1),
        Wanted::key("matrix-nodes").count(1),
        Wanted::key("unnamed-clips").count(1),
        Wanted::key("same-clip-names").count(2),
        Wanted::key("late-start").count(2).of(3),
        Wanted::key("no-length").count(1).of(3),
        Wanted::key("single-keys").count(1).of(3),
        Wanted::key("opposite-quaternions").count(2),
        Wanted::key("negative-scale").count(1),
        Wanted::key("non-uniform-scale").count(1),
    ];
    compare(&survey, &wanted).map_err(Failed::from)
}

fn people_read_the_facts_too() -> Result<(), Failed> {
    let mut doc = clean();
    doc.json["scenes"] = json!([{ "name": "Main", "nodes": [0] }, { "nodes": [] }]);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("model.glb");
    std::fs::write(&path, doc.to_glb())?;
    let (code, stdout, stderr) = inspect(&[path])?;
    assert_eq!((code, stderr.as_str()), (0, ""));
    let at = |text: &str| stdout.find(text).ok_or_else(|| Failed::from(format!("no `{text}` in {stdout}")));
    assert!(at("worth knowing")? < at("2 scenes, of which one is shown: --scene chooses")?);
    at("0 (Main), 1")?;
    Ok(())
}

fn several_models_are_an_array() -> Result<(), Failed> {
    let rigid = sliding("LINEAR", &[0.0, 1.0], &[0.0, 1.0]);
    let (code, list) = inspect_models(&[
        ("a.glb", clean().to_glb()),
        ("b.gltf", rigid.to_gltf()),
        ("broken.glb", b"glTF".to_vec()),
        ("c.glb", rigid.to_glb()),
    ])?;
    let list = list.as_array().ok_or("no array")?;
    let sources: Vec<_> = list.iter().map(|answer| answer["source"].as_str().and_then(|s| s.rsplit(['/', '\\']).next())).collect();
    assert_eq!((code, sources), (1, vec![Some("a.glb"), Some("b.gltf"), Some("broken.glb"), Some("c.glb")]));
    assert!(list[2]["error"].is_string() && list[2]["facts"].is_null());
    // The same document in two containers: the same facts.
    assert!(list[1]["facts"] == list[3]["facts"] && keys(&list[1]).contains("unnamed-clips"), "{list:#?}");
    Ok(())
}

fn a_broken_model_is_an_error() -> Result<(), Failed> {
    let mut doc = clean();
    doc.json["nodes"][0]["children"] = json!([7]);
    let (code, answer) = inspect_models(&[("broken.glb", doc.to_glb())])?;
    assert_eq!((code, &answer["exit"]), (1, &json!(1)));
    assert!(answer["error"].as_str().is_some_and(|error| error.contains("/nodes/0/children/0")), "{answer}");
    Ok(())
}

/// The comparison itself: it fails for a fact that is absent, wrong, or one too many.
fn a_missing_fact_is_noticed() -> Result<(), Failed> {
    let survey = json!({ "facts": [{ "key": "no-normals", "count": 1, "of": 2, "text": "1 of 2 primitives without normals" }] });
    let of = |quirk: &str| map_quirk(quirk).ok_or_else(|| Failed::from(format!("no mapping for {quirk}")));
    compare(&survey, &of("1/2 prims without NORMAL")?)?;
    for other in ["2/2 prims without NORMAL", "1/3 prims without NORMAL", "1/2 prims non-indexed"] {
        assert!(compare(&survey, &of(other)?).is_err(), "{other}");
    }
    assert!(compare(&survey, &[]).is_err() && map_quirk("3 vertices that sing").is_none() && map_quirk("sings").is_none());
    Ok(())
}
