//! The models of a batch: a folder, a glob or a list file, and where in the output tree each goes.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use walkdir::{DirEntry, WalkDir};

use super::config::Target;
use crate::{Error, Result};

/// Models in a stable order, and places that could not be searched.
type Found = (Vec<Target>, Vec<(PathBuf, Error)>);

/// Finds the models that `--batch` names and gives each its folder below `output`.
///
/// # Errors
/// [`Error::Usage`] where there is no such folder, file or match, or a list that is no text; [`Error::Io`] where a list cannot be read.
pub fn find_models(batch: &Path, output: &Path) -> Result<Found> {
    let (mut targets, failed) = if batch.is_dir() {
        search_tree(batch, None, output)
    } else if is_glob(batch) && !batch.exists() {
        let root = glob_root(batch);
        search_tree(&root, Some(&compile_glob(batch)?), output)
    } else if is_model(batch) {
        let shown = batch.display();
        return Err(Error::Usage(format!(
            "--batch takes a folder, a glob or a list file; bake one model with `vatbake bake {shown}`: {shown}"
        )));
    } else if batch.is_file() {
        (read_list(batch, output)?, Vec::new())
    } else {
        let shown = batch.display();
        return Err(Error::Usage(format!("--batch names nothing that exists; give a folder, a glob in quotes or a list file: {shown}")));
    };
    if targets.is_empty() && failed.is_empty() {
        return Err(Error::Usage(format!("--batch finds no .glb or .gltf that is not an earlier bake's: {}", batch.display())));
    }
    targets.sort_by(|a, b| a.input.cmp(&b.input));
    targets.dedup();
    Ok((targets, failed))
}

/// Whether a path has a character that is special in a glob.
pub fn is_glob(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '[', '{'])
}

fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("glb") || e.eq_ignore_ascii_case("gltf"))
}

/// A `X_vat.glb` with `X.vat.json` beside it is what an earlier bake wrote.
fn is_output(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|s| s.to_str()).and_then(|s| s.strip_suffix("_vat"));
    stem.is_some_and(|stem| path.with_file_name(format!("{stem}.vat.json")).is_file())
}

/// Names that begin with a dot, but for the root itself (which may be `.`).
fn is_hidden(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.file_name().to_string_lossy().starts_with('.')
}

/// Every model below `root` that matches, its folder kept below `output`.
fn search_tree(root: &Path, glob: Option<&GlobMatcher>, output: &Path) -> Found {
    let (mut targets, mut failed) = (Vec::new(), Vec::new());
    let is_wanted = |path: &Path| is_model(path) && glob.is_none_or(|glob| glob.is_match(clean(path))) && !is_output(path);
    let target = |path: &Path| {
        let below = path.parent().and_then(|p| p.strip_prefix(root).ok()).unwrap_or(Path::new(""));
        Target { input: path.to_path_buf(), folder: Some(folder_below(output, below)) }
    };
    for entry in WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter().filter_entry(|e| !is_hidden(e)) {
        let entry = match entry {
            Ok(entry) => entry,
            // A link to a folder above: its models are found without it.
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => {
                let path = error.path().unwrap_or(root).to_path_buf();
                // A link to nothing: a model that is missing, or no concern of a batch.
                if path.is_symlink() && !path.exists() {
                    let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
                    targets.extend((!is_hidden && is_wanted(&path)).then(|| target(&path)));
                    continue;
                }
                failed.push((path.clone(), Error::io("search the folder", path)(error.into())));
                continue;
            }
        };
        let path = entry.path();
        if entry.file_type().is_file() && is_wanted(path) {
            targets.push(target(path));
        }
    }
    (targets, failed)
}

/// A join that does not end in a separator.
fn folder_below(output: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { output.to_path_buf() } else { output.join(below) }
}

/// The folders of a glob before its first special character.
fn glob_root(pattern: &Path) -> PathBuf {
    let root: PathBuf = pattern.components().take_while(|c| !is_glob(Path::new(c.as_os_str()))).collect();
    if root.as_os_str().is_empty() { PathBuf::from(".") } else { root }
}

fn compile_glob(pattern: &Path) -> Result<GlobMatcher> {
    let text = clean(pattern);
    match GlobBuilder::new(&text.to_string_lossy()).literal_separator(true).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => {
            Err(Error::Usage(format!("--batch is not a glob ({}); write as in \"models/**/*.glb\": {}", error.kind(), pattern.display())))
        }
    }
}

/// A path without `.` components, so that `./a*.glb` matches what a search from `.` finds.
fn clean(path: &Path) -> PathBuf {
    path.components().filter(|c| *c != Component::CurDir).collect()
}

/// The models of a list file: one path a line, relative to the list. Below the list's folder the tree is kept; a model from
/// elsewhere keeps the folders of its absolute path.
fn read_list(list: &Path, output: &Path) -> Result<Vec<Target>> {
    let bytes = std::fs::read(list).map_err(Error::io("read the list", list))?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(Error::Usage(format!(
            "--batch names a file that is no text; a list holds one path a line in UTF-8: {}",
            list.display()
        )));
    };
    let root = list.parent().unwrap_or(Path::new(""));
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let target = |line: &str| {
        let input = root.join(clean(Path::new(line)));
        let below = list_folder(root, &input);
        Target { input, folder: Some(folder_below(output, &below)) }
    };
    Ok(lines.map(target).collect())
}

/// Where a listed model goes below the output folder. Never climbs out of it.
fn list_folder(root: &Path, input: &Path) -> PathBuf {
    let parent = input.parent().unwrap_or(Path::new(""));
    let below = match parent.strip_prefix(root) {
        Ok(below) if !below.components().any(|c| c == Component::ParentDir) => below.to_path_buf(),
        _ => std::path::absolute(parent).unwrap_or_else(|_| parent.to_path_buf()),
    };
    let mut folder = PathBuf::new();
    for component in below.components() {
        match component {
            Component::Normal(name) => folder.push(name),
            Component::ParentDir => drop(folder.pop()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            std::fs::write(path, b"x").expect("a file");
        }
        dir
    }

    fn found(dir: &tempfile::TempDir, batch: impl AsRef<Path>) -> Vec<(String, String)> {
        let (targets, failed) = find_models(&dir.path().join(batch), Path::new("out")).expect("finds");
        assert!(failed.is_empty(), "{failed:?}");
        let slashes = |p: &Path| p.to_string_lossy().replace('\\', "/");
        let pair =
            |t: &Target| (slashes(t.input.strip_prefix(dir.path()).expect("below")), slashes(t.folder.as_deref().expect("a folder")));
        targets.iter().map(pair).collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    #[test]
    fn a_folder_keeps_its_tree_and_passes_over_outputs() {
        let dir = tree(&[
            "in/b.glb",
            "in/a.GLTF",
            "in/deep/er/c.glb",
            "in/note.txt",
            "in/.git/d.glb",
            "in/.e.glb", // hidden
            "in/b_vat.glb",
            "in/b.vat.json",
            "in/private_vat.glb", // the last has no sidecar: the user's own
        ]);
        let wanted =
            pairs(&[("in/a.GLTF", "out"), ("in/b.glb", "out"), ("in/deep/er/c.glb", "out/deep/er"), ("in/private_vat.glb", "out")]);
        assert_eq!(found(&dir, "in"), wanted);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_counts_where_it_is_called_like_a_model() {
        let dir = tree(&["in/a.glb"]);
        // The third is what an editor leaves beside a file that is open.
        for link in ["in/b.glb", "in/note.txt", "in/.#a.glb"] {
            std::os::unix::fs::symlink("nowhere", dir.path().join(link)).expect("a link");
        }
        assert_eq!(found(&dir, "in"), pairs(&[("in/a.glb", "out"), ("in/b.glb", "out")]));
        assert_eq!(found(&dir, "in/a*.glb"), pairs(&[("in/a.glb", "out")]));
    }

    #[test]
    fn globs_match_from_their_fixed_part() {
        let dir = tree(&["in/a/x.glb", "in/a/y.gltf", "in/b/x.glb", "in/b/c/x.glb", "z.glb"]);
        assert_eq!(found(&dir, "in/*/x.glb"), pairs(&[("in/a/x.glb", "out/a"), ("in/b/x.glb", "out/b")]));
        assert_eq!(found(&dir, "in/b/**/*.glb"), pairs(&[("in/b/c/x.glb", "out/c"), ("in/b/x.glb", "out")]));
        assert_eq!(found(&dir, "in/a/*.{glb,gltf}").len(), 2);
        assert!(matches!(find_models(&dir.path().join("in/[x.glb"), Path::new("out")), Err(Error::Usage(_))));
    }

    #[test]
    fn lists_are_relative_to_themselves() {
        let dir = tree(&["in/a/x.glb", "in/y.glb"]);
        let list = "\u{feff}# two models\n\n y.glb \r\n./a/x.glb\nmissing/z.glb\n";
        std::fs::write(dir.path().join("in/list.txt"), list).expect("a list");
        let wanted = pairs(&[("in/a/x.glb", "out/a"), ("in/missing/z.glb", "out/missing"), ("in/y.glb", "out")]);
        assert_eq!(found(&dir, "in/list.txt"), wanted);
    }

    #[test]
    fn nothing_leaves_the_output_folder() {
        assert_eq!(list_folder(Path::new("/lists"), Path::new("/lists/../other/a.glb")), Path::new("other"));
        assert_eq!(list_folder(Path::new("/lists"), Path::new("/srv/m/a.glb")), Path::new("srv/m"));
        assert_eq!(list_folder(Path::new("/lists"), Path::new("/../../a.glb")), Path::new(""));
    }

    #[test]
    fn nothing_to_bake_is_wrong_usage() {
        let dir = tree(&["in/note.txt", "one.glb"]);
        for batch in ["in", "in/*.glb", "absent", "one.glb"] {
            let result = find_models(&dir.path().join(batch), Path::new("out"));
            assert!(matches!(result, Err(Error::Usage(_))), "{batch}: {result:?}");
        }
    }
}
