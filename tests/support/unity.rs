//! The kit for Unity without Unity: its C# is compiled by mcs upon stand-ins for Unity's API and run by mono, its HLSL is compiled by
//! glslang upon stand-ins for URP's files and run on the software adapter.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use base64::Engine;
use serde_json::Value;
use tempfile::TempDir;
use vatbake::targets::Target;
use vatbake::{Input, Options, Request, Silent};

use crate::support::decode::{self, V3};
use crate::support::playback::{Resource, run};

pub const STUBS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/unity");

/// A bake for Unity, as it would lie under `Assets`.
pub struct Kit {
    _kept: TempDir,
    pub folder: PathBuf,
    pub name: String,
    pub sidecar: Value,
}

impl Kit {
    /// Bakes a model with these options.
    pub fn bake(input: Input, options: Options) -> Self {
        let kept = TempDir::new().expect("a folder");
        let options = Options { targets: vec![Target::Unity], ..options };
        let request = Request { input, output: kept.path().to_path_buf(), options };
        let report = vatbake::bake(&request, &mut Silent).unwrap_or_else(|e| panic!("refused: {e}"));
        let folder = kept.path().join("unity");
        let stub = report.files.iter().find(|f| f.extension().is_some_and(|e| e == "vatbake"));
        let name = stub.expect("a .vatbake file").file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(report.files.iter().all(|f| f.parent() == Some(&folder)), "all in one folder: {:?}", report.files);
        let sidecar = serde_json::from_slice(&std::fs::read(folder.join(format!("{name}.vat.json"))).expect("a sidecar")).expect("JSON");
        Self { _kept: kept, folder, name, sidecar }
    }

    /// A file of the folder.
    pub fn file(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}{ending}", self.name))
    }

    /// What the driver tells (tests/support/unity/Driver.cs).
    pub fn drive(&self, task: &str, more: &[&str]) -> Value {
        let mut command = Command::new("mono");
        let stub = self.file(".vatbake");
        let found = command.arg(programs().join("Driver.exe")).arg(task).arg(stub).args(more).output().expect("mono");
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
        serde_json::from_slice(&found.stdout).expect("the driver tells JSON")
    }

    /// What the importer made of it.
    pub fn import(&self) -> Value {
        let told = self.drive("import", &[]);
        assert_eq!(told["errors"], Value::Array(Vec::new()));
        told
    }

    /// The one error that the importer tells.
    pub fn refused(&self) -> String {
        let told = self.drive("import", &[]);
        let errors = told["errors"].as_array().expect("errors");
        assert_eq!((errors.len(), told.get("mesh")), (1, None), "{errors:?}");
        errors[0].as_str().expect("a message").to_owned()
    }
}

/// The kit's C# and the driver, compiled once: as the editor compiles it, and as a player does.
pub fn programs() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kit_unity");
        std::fs::create_dir_all(&folder).expect("a folder");
        let folder = folder.as_path();
        let kit = sources();
        let stub = |name: &str| PathBuf::from(STUBS).join("stubs").join(name);
        compile(folder, &["-target:library", "-out:UnityEngine.dll", "-r:System.Core"], &[stub("UnityEngine.cs")]);
        compile(folder, &["-target:library", "-out:UnityEditor.dll", "-r:UnityEngine.dll"], &[stub("UnityEditor.cs")]);
        let both = ["-d:UNITY_EDITOR", "-target:library", "-out:Kit.dll", "-r:UnityEngine.dll", "-r:UnityEditor.dll"];
        compile(folder, &both, &kit);
        compile(folder, &["-target:library", "-out:Player.dll", "-r:UnityEngine.dll"], &kit);
        let driver = ["-out:Driver.exe", "-r:UnityEngine.dll", "-r:UnityEditor.dll", "-r:Kit.dll"];
        compile(folder, &driver, &[PathBuf::from(STUBS).join("Driver.cs")]);
        folder.to_path_buf()
    })
}

/// The kit's C# files. A bake writes the same: that is a test of its own.
pub fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/targets/unity");
    let all = std::fs::read_dir(folder).expect("the kit's folder").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = all.filter(|path| path.extension().is_some_and(|e| e == "cs")).collect();
    found.sort();
    assert!(found.len() > 4, "{found:?}");
    found
}

fn compile(folder: &Path, arguments: &[&str], files: &[PathBuf]) {
    if let Err(told) = try_compile(folder, arguments, files) {
        panic!("{told}");
    }
}

/// Compiles C#; a warning is an error.
pub fn try_compile(folder: &Path, arguments: &[&str], files: &[PathBuf]) -> Result<(), String> {
    let made =
        Command::new("mcs").current_dir(folder).args(["-langversion:7.2", "-warn:4", "-warnaserror"]).args(arguments).args(files).output();
    let made = made.expect("mcs (on Debian: apt-get install mono-mcs)");
    if made.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&[made.stdout, made.stderr].concat()).into_owned()) }
}

/// A folder with the kit's HLSL and what stands in for URP's.
pub fn shader_folder(kit: &Path) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let library = folder.path().join("Packages/com.unity.render-pipelines.universal/ShaderLibrary");
    std::fs::create_dir_all(&library).expect("a folder");
    for name in ["Core.hlsl", "Shadows.hlsl", "Lighting.hlsl"] {
        std::fs::copy(Path::new(STUBS).join("urp_stubs").join(name), library.join(name)).expect("a copy");
    }
    for name in ["VatSurface.hlsl", "VatPlayback.hlsl"] {
        std::fs::copy(kit.join(name), folder.path().join(name)).expect("a copy");
    }
    folder
}

/// Compiles HLSL in such a folder to SPIR-V; what the compiler says is the error.
pub fn glslang(folder: &Path, text: &str, stage: &str, entry: &str) -> Result<Vec<u8>, String> {
    let [source, output] = ["shader.hlsl", "shader.spv"].map(|name| folder.join(name));
    std::fs::write(&source, text).expect("a file");
    let mut command = Command::new("glslangValidator");
    command.args(["-D", "-S", stage, "-e", entry, "--target-env", "vulkan1.1", "--auto-map-locations"]);
    if stage != "comp" {
        command.arg("--auto-map-bindings");
    }
    let made = command.arg(format!("-I{}", folder.display())).arg("-o").arg(&output).arg(&source).output();
    let made = made.expect("glslangValidator (on Debian: apt-get install glslang-tools)");
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stdout).into_owned());
    }
    std::fs::read(&output).map_err(|e| e.to_string())
}

/// The kit's vatbake_shape as WGSL that the software adapter runs. Made once: its files are the same in every kit.
pub fn shape(kit: &Path) -> &'static str {
    static MADE: OnceLock<String> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = shader_folder(kit);
        let text = std::fs::read_to_string(Path::new(STUBS).join("urp_stubs/run.hlsl")).expect("run.hlsl");
        let spirv = glslang(folder.path(), &text, "comp", "run").unwrap_or_else(|e| panic!("{e}"));
        let module = naga::front::spv::parse_u8_slice(&spirv, &naga::front::spv::Options::default()).expect("SPIR-V");
        let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
        let info = validator.validate(&module).expect("a valid module");
        naga::back::wgsl::write_string(&module, &info, naga::back::wgsl::WriterFlags::empty()).expect("WGSL")
    })
}

/// A texture as a shader sees it.
#[derive(Clone)]
pub struct Texels {
    pub width: usize,
    pub all: Vec<f32>,
}

impl Texels {
    /// Of bytes, row 0 first, in a format of Unity's.
    pub fn read(format: &str, width: usize, bytes: &[u8]) -> Self {
        let short = |b: &[u8]| u16::from_le_bytes([b[0], b[1]]);
        let all = match format {
            "RGBA32" => bytes.iter().map(|&b| f32::from(b) / 255.0).collect(),
            "RGBA64" => bytes.chunks_exact(2).map(|b| f32::from(short(b)) / 65535.0).collect(),
            "RGBAHalf" => bytes.chunks_exact(2).map(|b| half::f16::from_bits(short(b)).to_f32()).collect(),
            "RGBAFloat" => bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
            other => panic!("format {other}"),
        };
        Self { width, all }
    }

    /// Rows the other way round, as an importer of images leaves them.
    pub fn turn_over(&mut self) {
        self.all = self.all.chunks_exact(self.width * 4).rev().flatten().copied().collect();
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.all.len() / self.width / 4
    }
}

/// A mesh with textures and a material, as Unity holds it.
#[derive(Clone)]
pub struct Imported {
    pub positions: Vec<V3>,
    pub normals: Vec<V3>,
    pub lookup: Vec<[f64; 2]>,
    pub position: Texels,
    pub normal: Option<Texels>,
    /// Properties of the material, one to four numbers each.
    pub material: Vec<(String, Vec<f64>)>,
}

impl Imported {
    /// What the kit's importer made.
    pub fn of(told: &Value) -> Self {
        let texture = |index: usize| {
            let json = told["textures"].get(index)?;
            let data = base64::engine::general_purpose::STANDARD.decode(json["data"].as_str()?).expect("base64");
            Some(Texels::read(json["format"].as_str()?, json["width"].as_u64()? as usize, &data))
        };
        let material = &told["materials"][0];
        let vectors = material["vectors"].as_object().expect("vectors").iter();
        let floats = material["floats"].as_object().expect("floats").iter();
        let has_normals = material["textures"].get("_VatNormals").is_some();
        Self {
            positions: points(&told["mesh"]["positions"]),
            normals: points(&told["mesh"]["normals"]),
            lookup: pairs(&told["mesh"]["lookup"]),
            position: texture(0).expect("a texture of positions"),
            normal: texture(1).filter(|_| has_normals),
            material: vectors
                .map(|(k, v)| (k.clone(), numbers(v)))
                .chain(floats.map(|(k, v)| (k.clone(), vec![v.as_f64().expect("a number")])))
                .collect(),
        }
    }

    /// A property of the material.
    pub fn set(&mut self, name: &str, value: &[f64]) {
        self.material.retain(|(known, _)| known != name);
        self.material.push((name.into(), value.into()));
    }

    /// Which vertex of the bake each vertex is, by the format's formula.
    pub fn numbers(&self, sidecar: &Value) -> Vec<usize> {
        let [lanes, groups] = ["lanes", "groups"].map(|key| sidecar["mesh"]["lookup"][key].as_f64().expect("a number"));
        self.lookup.iter().map(|[u, v]| ((u * lanes).floor() + lanes * ((1.0 - v) * groups).floor()) as usize).collect()
    }

    /// Position and normal of each case: vertex, instance, time. An instance has three vectors: clip, clip faded out, fade.
    pub fn show(&self, wgsl: &str, surface: &str, instances: &[[[f64; 4]; 3]], cases: &[(usize, usize, f64)]) -> Vec<[V3; 2]> {
        let normals = self.normal.as_ref().map_or(&[0.0; 4][..], |t| t.all.as_slice());
        let instances: Vec<f32> = instances.iter().flatten().flatten().map(|v| *v as f32).collect();
        let flat: Vec<f32> = cases
            .iter()
            .flat_map(|&(vertex, instance, now)| {
                let ([p, n], [u, v]) = ([self.positions[vertex], self.normals[vertex]], self.lookup[vertex]);
                [p[0], p[1], p[2], now, n[0], n[1], n[2], 0.0, u, v, instance as f64, 0.0]
            })
            .map(|v| v as f32)
            .collect();
        let resources = [
            Resource::Uniform(self.uniforms(surface)),
            Resource::Storage(&self.position.all),
            Resource::Storage(normals),
            Resource::Storage(&instances),
            Resource::Storage(&flat),
        ];
        let found = run(wgsl, &resources, cases.len(), 2);
        let three = |v: [f32; 4]| [v[0], v[1], v[2]].map(f64::from);
        found.chunks_exact(2).map(|v| [three(v[0]), three(v[1])]).collect()
    }

    /// The material's block as the shader declares it: vectors, then single numbers, so that nothing is padded in between.
    fn uniforms(&self, surface: &str) -> Vec<u32> {
        let mut words: Vec<u32> = Vec::new();
        let mut singles = false;
        for (kind, name) in members(surface) {
            let value = self.material.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, v)| v.as_slice());
            let width = if kind == "float4" { 4 } else { 1 };
            assert!(width == 1 || !singles, "{name} is a vector behind a single number");
            assert!(value.len() <= width, "{name} = {value:?}");
            singles |= width == 1;
            words.extend((0..width).map(|k| (value.get(k).copied().unwrap_or(0.0) as f32).to_bits()));
        }
        words.resize(words.len().next_multiple_of(4), 0);
        words
    }
}

/// Type and name of the members of UnityPerMaterial.
pub fn members(surface: &str) -> Vec<(String, String)> {
    let block = surface.split_once("CBUFFER_START(UnityPerMaterial)").expect("the block").1.split_once("CBUFFER_END").expect("its end").0;
    let lines = block.lines().filter_map(|line| line.split_once(';').map(|(declared, _)| declared.trim()));
    let found: Vec<_> = lines.filter_map(|d| d.split_once(' ')).map(|(kind, name)| (kind.to_owned(), name.trim().to_owned())).collect();
    assert!(found.len() > 10, "{block}");
    found
}

pub fn numbers(json: &Value) -> Vec<f64> {
    json.as_array().unwrap_or_else(|| panic!("an array, found {json}")).iter().map(|v| v.as_f64().expect("a number")).collect()
}

pub fn points(json: &Value) -> Vec<V3> {
    json.as_array().into_iter().flatten().map(|v| decode::vector(v).expect("three")).collect()
}

pub fn pairs(json: &Value) -> Vec<[f64; 2]> {
    json.as_array().into_iter().flatten().map(|v| numbers(v).try_into().expect("two")).collect()
}
