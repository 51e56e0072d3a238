//! From what was typed to what is meant: requests that can be baked one after the other, and how to show them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::args::BakeArgs;
use super::batch;
use super::input::{STDIN_NAME, check_input, is_stdin, open_animation, open_input};
use super::values::resolve_looping;
use crate::options::{Input, Options, Request};
use crate::output::name::safe_name;
use crate::{Error, Result};

/// A run of `vatbake bake`.
#[derive(Debug)]
pub struct Config {
    /// One a model.
    pub requests: Vec<Request>,
    /// Folders of a batch that could not be searched: failures that do not stop the rest.
    pub failed: Vec<(PathBuf, Error)>,
    /// Whether the models come from `--batch`.
    pub batch: bool,
    /// Whether the result is a list, even of one model.
    pub several: bool,
    /// Errors only.
    pub quiet: bool,
    /// Reports as JSON on standard output.
    pub json: bool,
    /// Show the time of each step.
    pub timings: bool,
}

/// A model and the folder that receives its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The model, or `-`.
    pub input: PathBuf,
    /// Folder of the outputs; without one the model gets `NAME_vat` of its own.
    pub folder: Option<PathBuf>,
}

impl Target {
    fn stem(&self) -> String {
        if is_stdin(&self.input) { STDIN_NAME.into() } else { Input::File(self.input.clone()).stem() }
    }
}

/// Resolves the flags of `bake`. Standard input is read last, when nothing else can be wrong.
pub fn resolve_bake(args: BakeArgs) -> Result<Config> {
    if let Some(folder) = &args.output {
        check_output(folder)?;
    }
    let (targets, failed) = match (&args.batch, &args.output) {
        (Some(batch), Some(output)) => batch::find_models(batch, output)?,
        _ => (args.inputs.iter().map(|input| Target { input: input.clone(), folder: args.output.clone() }).collect(), Vec::new()),
    };
    let batch = args.batch.is_some();
    let several = batch || targets.len() > 1;
    if several && args.name.is_some() {
        return Err(Error::Usage(format!("--name names one bake but there are {} inputs; bake them one at a time", targets.len())));
    }
    let (quiet, json, timings) = (args.quiet, args.json, args.timings);
    let options = resolve_options(args)?;
    let requests = if let (Some(name), [target]) = (&options.name, &targets[..]) {
        let output = target.folder.clone().unwrap_or_else(|| own_folder(name));
        vec![Request { input: open_input(&target.input)?, output, options }]
    } else {
        let names = name_targets(&targets)?;
        // All are checked before standard input is read.
        targets.iter().try_for_each(|target| check_input(&target.input))?;
        let request = |(target, name): (&Target, String)| {
            let output = target.folder.clone().unwrap_or_else(|| own_folder(&name));
            let name = (name != target.stem()).then_some(name);
            Ok(Request { input: open_input(&target.input)?, output, options: Options { name, ..options.clone() } })
        };
        targets.iter().zip(names).map(request).collect::<Result<_>>()?
    };
    Ok(Config { requests, failed, batch, several, quiet, json, timings })
}

/// The flags as options, with the combinations that make no sense refused.
fn resolve_options(args: BakeArgs) -> Result<Options> {
    let options = Options {
        name: args.name,
        animations: args.animations.iter().map(|path| open_animation(path)).collect::<Result<_>>()?,
        merges: args.merge_clips,
        clips: args.clips,
        fps: args.fps.0,
        exact_fps: args.exact_fps,
        start: args.start,
        end: args.end,
        looping: resolve_looping(args.looping)?,
        root_motion: args.root_motion,
        root: args.root,
        only: args.only,
        exclude: args.exclude,
        scene: args.scene,
        scale: args.scale,
        allow_static: args.allow_static,
        targets: args.targets,
        max_error: args.max_error,
        max_normal_error: args.max_normal_error,
        format: args.format,
        normals: args.normals,
        normal_bits: args.normal_bits,
        recompute_normals: args.recompute_normals,
        tangents: args.tangents,
        position: args.position,
        max_size: args.max_size,
        rest: args.rest,
        uv_set: args.uv_set,
        keep_parts: args.keep_parts,
        device: args.device.0,
        memory: args.memory.0,
        work: crate::options::WorkLimits::default(),
        strict: args.strict,
        dry_run: args.dry_run,
        allow_outside: args.allow_outside,
    };
    options.check()?;
    Ok(options)
}

/// Names of the outputs: the stem, or stem and extension where one folder would hold two models of one stem.
///
/// # Errors
/// [`Error::Usage`] where two models would still write the same files. Case is ignored, as some file systems do.
fn name_targets(targets: &[Target]) -> Result<Vec<String>> {
    let key = |target: &Target, name: &str| (target.folder.clone(), safe_name(name).to_lowercase());
    let mut stems: HashMap<_, usize> = HashMap::new();
    for target in targets {
        *stems.entry(key(target, &target.stem())).or_default() += 1;
    }
    let name = |target: &Target| {
        let stem = target.stem();
        let shared = stems.get(&key(target, &stem)).is_some_and(|n| *n > 1);
        match target.input.extension() {
            Some(extension) if shared => format!("{stem}_{}", extension.to_string_lossy()),
            _ => stem,
        }
    };
    let names: Vec<_> = targets.iter().map(name).collect();
    let mut taken: HashMap<_, &Path> = HashMap::new();
    for (target, name) in targets.iter().zip(&names) {
        let input = target.input.display();
        match taken.insert(key(target, name), &target.input) {
            Some(other) if other == target.input => return Err(Error::Usage(format!("an input is named twice; name it once: {input}"))),
            Some(other) => {
                let other = other.display();
                let remedy = "bake them apart, each with its own -o/--output or --name";
                return Err(Error::Usage(format!("{other} and {input} would write files of the same names; {remedy}")));
            }
            None => {}
        }
    }
    Ok(names)
}

/// Folder of a bake that names none.
fn own_folder(name: &str) -> PathBuf {
    PathBuf::from(format!("{}_vat", safe_name(name)))
}

fn check_output(folder: &Path) -> Result<()> {
    if folder.as_os_str().is_empty() {
        return Err(Error::Usage("-o/--output is empty; name a folder, or leave it out for ./STEM_vat/".into()));
    }
    if folder.is_file() {
        return Err(Error::Usage(format!("-o/--output names a file, but a bake writes several; name a folder: {}", folder.display())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::args::{Args, Command};
    use super::*;
    use crate::options::{Format, MergeClips, Normals};

    fn resolve(line: &str) -> Result<Config> {
        let words = ["vatbake", "bake"].into_iter().chain(line.split_whitespace());
        match Args::try_parse_from(words).expect("parses").command {
            Command::Bake(args) => resolve_bake(*args),
            _ => unreachable!("bake was typed"),
        }
    }

    fn places(line: &str) -> Vec<(PathBuf, Option<String>)> {
        resolve(line).expect(line).requests.into_iter().map(|r| (r.output, r.options.name)).collect()
    }

    #[test]
    fn no_flags_are_the_defaults() {
        let config = resolve("fox.glb").expect("resolves");
        assert_eq!(config.requests.len(), 1);
        assert_eq!(config.requests[0].options, Options::default());
        assert_eq!(config.requests[0].output, Path::new("fox_vat"));
        assert!(!config.several && !config.batch && !config.quiet && !config.json && !config.timings);
    }

    #[test]
    fn outputs_go_to_one_folder_or_one_each() {
        assert_eq!(places("a/fox.glb b/robot.gltf"), [("fox_vat".into(), None), ("robot_vat".into(), None)]);
        assert_eq!(places("a/fox.glb b/robot.gltf -o out"), [("out".into(), None), ("out".into(), None)]);
        assert_eq!(places("a/fox.glb --name hero"), [("hero_vat".into(), Some("hero".into()))]);
        assert_eq!(places("a/fox.glb --name hero -o out"), [("out".into(), Some("hero".into()))]);
    }

    #[test]
    fn equal_stems_are_told_apart() {
        let (glb, gltf) = (Some("hero_glb".to_string()), Some("hero_gltf".to_string()));
        assert_eq!(places("hero.glb hero.gltf -o out"), [("out".into(), glb.clone()), ("out".into(), gltf.clone())]);
        assert_eq!(places("hero.glb hero.gltf"), [("hero_glb_vat".into(), glb), ("hero_gltf_vat".into(), gltf)]);
        for clash in ["a/hero.glb b/hero.glb", "hero.glb Hero.glb", "hero.glb hero.gltf hero_glb.glb"] {
            let error = resolve(clash).expect_err(clash);
            assert!(matches!(&error, Error::Usage(text) if text.contains("same names")), "{error}");
        }
        let error = resolve("hero.glb hero.glb").expect_err("twice");
        assert!(error.to_string().contains("named twice"), "{error}");
    }

    #[test]
    fn flags_reach_the_options() {
        let line = "fox.glb -c Walk,Run --fps source --only A --exclude B,C -n --strict --scene 1 --scale 0.01 --allow-static --allow-outside \
                    --start 0.5 --end 2 --loop all --for unity,bevy --max-error 0.5mm --max-normal-error 0.5 --format png8 --normals separate --normal-bits 16 --recompute-normals smooth --tangents --position absolute --max-size 4096 --rest first-frame \
                    --uv-set 2 --keep-parts --device llvm --memory 64M --name f -a walk.glb run.glb --merge-clips A=a,b --merge-clips c,d \
                    --root-motion strip --root Hips";
        let config = resolve(line).expect("resolves");
        let wanted = Options {
            name: Some("f".into()),
            animations: vec![Input::File("walk.glb".into()), Input::File("run.glb".into())],
            merges: vec![
                MergeClips { name: Some("A".into()), clips: vec!["a".into(), "b".into()] },
                MergeClips { name: None, clips: vec!["c".into(), "d".into()] },
            ],
            clips: vec!["Walk".into(), "Run".into()],
            fps: crate::options::Fps::Source,
            exact_fps: false,
            start: Some(0.5),
            end: Some(2.0),
            looping: crate::options::Looping::All,
            root_motion: crate::options::RootMotion::Strip,
            root: Some("Hips".into()),
            only: vec!["A".into()],
            exclude: vec!["B".into(), "C".into()],
            scene: Some("1".into()),
            scale: 0.01,
            allow_static: true,
            targets: vec![crate::targets::Target::Unity, crate::targets::Target::Bevy],
            max_error: Some(0.0005),
            max_normal_error: 0.5,
            format: Format::Png8,
            normals: Normals::Separate,
            normal_bits: Some(16),
            recompute_normals: Some(crate::options::Recompute::Smooth),
            tangents: true,
            position: crate::options::Position::Absolute,
            max_size: 4096,
            rest: crate::options::Rest::FirstFrame,
            uv_set: 2,
            keep_parts: true,
            device: crate::options::DeviceChoice::Named("llvm".into()),
            memory: 64 << 20,
            work: crate::options::WorkLimits::default(),
            strict: true,
            dry_run: true,
            allow_outside: true,
        };
        assert_eq!(config.requests[0].options, wanted);
        assert!(resolve("fox.glb --exact-fps").expect("resolves").requests[0].options.exact_fps);
    }
}
