//! Bakes a document into a temporary folder and decodes what was written.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use vatbake::options::{DeviceChoice, Format};
use vatbake::warning::Code;
use vatbake::{Error, Input, Options, Report, Request, Silent};

use super::decode::{self, V3, Vat};
use super::fixture::Doc;

/// A finished bake; reads like its decoded files.
pub struct Baked {
    /// What the bake told.
    pub report: Report,
    /// What the files say.
    pub vat: Vat,
    /// Where they lie.
    pub folder: TempDir,
}

impl Deref for Baked {
    type Target = Vat;
    fn deref(&self) -> &Vat {
        &self.vat
    }
}

impl Baked {
    /// How often a finding was counted; the report and the sidecar must agree.
    #[track_caller]
    pub fn warned(&self, code: Code) -> u64 {
        let told = self.report.warnings.iter().find(|w| w.code == code).map_or(0, |w| w.count);
        let written = self.vat.warnings().iter().find(|w| w.0 == code.name()).map_or(0, |w| w.1);
        assert_eq!(told, written, "{} in the report and in the sidecar", code.name());
        told
    }

    /// Every position of every frame, for comparing two bakes.
    pub fn all_positions(&self) -> Vec<Vec<V3>> {
        (0..self.frame_count).map(|f| self.frame(f)).collect()
    }

    /// The bytes of the written files but for the sidecar, by the part of the name after the bake's own.
    pub fn data_files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = self
            .report
            .files
            .iter()
            .filter(|f| f.extension().is_some_and(|e| e != "json"))
            .map(|f| (f.file_name().expect("a name").to_string_lossy().into_owned(), std::fs::read(f).expect("an output")))
            .collect();
        files.sort();
        files
    }
}

/// One software device at a time: parallel ones make llvmpipe slow and, in some versions, crash.
static SOFTWARE: Mutex<()> = Mutex::new(());

/// Bakes anything and decodes it. A bake that cannot be decoded is a panic: the files are wrong.
pub fn bake(input: Input, options: Options) -> Result<Baked, Error> {
    let folder = TempDir::new().expect("a temporary folder");
    let _one = (options.device != DeviceChoice::Cpu).then(|| SOFTWARE.lock().unwrap_or_else(PoisonError::into_inner));
    let request = Request { input, output: folder.path().to_path_buf(), options };
    match vatbake::bake(&request, &mut Silent) {
        Ok(report) => {
            let vat = decode::decode(&sidecar_of(&report)).unwrap_or_else(|e| panic!("the written files do not decode: {e}"));
            Ok(Baked { report, vat, folder })
        }
        Err(error) => {
            assert_eq!(names_in(folder.path()), Vec::<String>::new(), "an error left files: {error}");
            Err(error)
        }
    }
}

/// The sidecar among a report's files.
pub fn sidecar_of(report: &Report) -> PathBuf {
    let is_sidecar = |f: &&PathBuf| f.to_string_lossy().ends_with(".vat.json");
    report.files.iter().find(is_sidecar).unwrap_or_else(|| panic!("no sidecar among {:?}", report.files)).clone()
}

/// File names in a folder, sorted; empty where there is no folder.
pub fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// What fixtures are baked with unless a test says otherwise: exact floats, on the CPU, one frame where nothing moves.
pub fn options() -> Options {
    Options { format: Format::Exr32, device: DeviceChoice::Cpu, allow_static: true, ..Options::default() }
}

/// The document as an input from memory.
pub fn input(doc: &Doc) -> Input {
    Input::Bytes { name: "fixture.glb".into(), bytes: doc.to_glb() }
}

/// Bakes a document that must bake.
#[track_caller]
pub fn bake_fixture(doc: &Doc, set: impl FnOnce(&mut Options)) -> Baked {
    let mut options = options();
    set(&mut options);
    bake(input(doc), options).unwrap_or_else(|e| panic!("refused: {e}"))
}

/// Bakes a document that must be refused, soon and without a file; returns the error.
#[track_caller]
pub fn refuse(doc: &Doc, set: impl FnOnce(&mut Options)) -> Error {
    let mut options = options();
    set(&mut options);
    refuse_input(input(doc), options)
}

/// The same for any input.
#[track_caller]
pub fn refuse_input(input: Input, options: Options) -> Error {
    let begun = Instant::now();
    let result = bake(input, options);
    let took = begun.elapsed();
    match result {
        Ok(baked) => panic!("baked {} vertices, {} frames; it had to be refused", baked.vertex_count, baked.frame_count),
        Err(error) => {
            assert!(took < Duration::from_secs(10), "took {took:?} to say: {error}");
            error
        }
    }
}

/// Refused with a fault whose JSON pointer starts with `pointer` and whose text holds every word.
#[track_caller]
pub fn refuse_at(doc: &Doc, pointer: &str, words: &[&str]) {
    assert_fault(&refuse(doc, |_| ()), pointer, words);
}

/// An [`Error::Model`] at a pointer, its text holding every word.
#[track_caller]
pub fn assert_fault(error: &Error, pointer: &str, words: &[&str]) {
    let text = error.to_string();
    let Error::Model { fault, .. } = error else { panic!("not a fault of the model: {text}") };
    assert!(fault.pointer.starts_with(pointer), "expected a fault at {pointer}, got: {text}");
    for word in words {
        assert!(text.to_lowercase().contains(&word.to_lowercase()), "expected {word:?} in: {text}");
    }
}

/// Runs a case on the CPU twin and on a software adapter, and makes sure that each is what ran.
pub fn on_every_device(case: impl Fn(&dyn Fn(&Doc) -> Baked)) {
    for (device, kind) in [(DeviceChoice::Cpu, "cpu"), (DeviceChoice::Software, "software")] {
        case(&|doc| {
            let baked = bake_fixture(doc, |o| o.device = device.clone());
            assert_eq!(baked.report.device.kind, kind, "what ran: {:?}", baked.report.device);
            baked
        });
    }
}

/// Fails unless two points agree on every axis.
#[track_caller]
pub fn assert_near(found: V3, wanted: V3, tolerance: f64) {
    let near = found.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= tolerance); // false for NaN
    assert!(near, "found {found:?}, wanted {wanted:?} within {tolerance}");
}
