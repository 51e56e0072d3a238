//! Where a bake's files are: beside the sidecar and nowhere else.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::{Error, Result};

/// What a sidecar's name ends with.
const ENDING: &str = ".vat.json";

/// The sidecar that a path means: itself, the only one of a folder, or the one whose name lacks its ending.
pub(crate) fn sidecar(path: &Path) -> Result<PathBuf> {
    if path.is_dir() {
        return only_sidecar(path);
    }
    if path.is_file() {
        return Ok(path.to_path_buf());
    }
    let mut longer = path.as_os_str().to_owned();
    longer.push(ENDING);
    let longer = PathBuf::from(longer);
    if longer.is_file() {
        return Ok(longer);
    }
    // Opening what is neither (a pipe) may wait for ever.
    std::fs::metadata(path).map_err(Error::io("read the sidecar", path))?;
    Err(Error::Usage(format!("neither a file nor a folder; pass a bake's {ENDING} or its folder: {}", path.display())))
}

fn only_sidecar(folder: &Path) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io("list the folder", folder))? {
        let path = entry.map_err(Error::io("list the folder", folder))?.path();
        if path.to_string_lossy().ends_with(ENDING) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Error::Usage(format!("the folder holds no {ENDING} file; pass the folder of a bake: {}", folder.display()))),
        [first, second, ..] => {
            let name = |p: &Path| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (first, second) = (name(first), name(second));
            let count = found.len();
            Err(Error::Usage(format!(
                "the folder holds {count} bakes ({first}, {second}{}); pass one of their {ENDING} files: {}",
                if count > 2 { " ..." } else { "" },
                folder.display()
            )))
        }
    }
}

/// The folder that a sidecar lies in.
pub(crate) fn folder(sidecar: &Path) -> PathBuf {
    match sidecar.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// The bake's name: the sidecar's without its ending.
pub(crate) fn name(sidecar: &Path) -> String {
    let name = sidecar.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(ENDING).unwrap_or(&name).to_owned()
}

/// A file that the sidecar names: one that lies beside it.
pub(crate) fn beside(folder: &Path, name: &str) -> Result<PathBuf> {
    let mut components = Path::new(name).components();
    match (components.next(), components.next()) {
        (Some(Component::Normal(_)), None) if !name.contains(['/', '\\']) => Ok(folder.join(name)),
        _ => Err(Error::Bake(format!(
            "the sidecar names the file {name:?}, and a bake's files lie beside their sidecar; bake again: {}",
            folder.display()
        ))),
    }
}

/// A whole file of at most `most` bytes.
pub(crate) fn read_limited(path: &Path, action: &'static str, most: u64) -> Result<Vec<u8>> {
    let file = File::open(path).map_err(Error::io(action, path))?;
    let meta = file.metadata().map_err(Error::io(action, path))?;
    if !meta.is_file() {
        return Err(Error::Bake(format!("this is not a file, so it cannot be part of a bake: {}", path.display())));
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(Error::io(action, path))?;
    if bytes.len() as u64 > most {
        return Err(Error::Bake(format!("the file has more than {most} bytes, too many for what it should be: {}", path.display())));
    }
    Ok(bytes)
}

/// The beginning of a file.
pub(crate) fn read_head(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Error::io("read", path))?;
    file.take(most).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    Ok(bytes)
}
