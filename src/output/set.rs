//! A set of files that appears as a whole or not at all.
//!
//! Every file is written under a temporary name in the folder where it is to stand. [`commit`] moves the old files aside, the old
//! sidecar first, and gives the new ones their names, the new sidecar last: where there is no sidecar there is no set. Where one
//! of them can't be replaced, the old ones are put back. Dropping a set that was not committed removes its temporary files, and
//! the folders that it made.
//!
//! Temporary names are `.NAME.vat-tmp-PID-N-FILE`. Each stays locked (advisory, through the operating system) as long as its
//! process lives; a process that is killed leaves its files behind unlocked, and the next set of that name in that folder removes
//! them. Where a file system has no locks they are left alone.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Result};

/// Marks a temporary file.
const MARK: &str = ".vat-tmp-";

/// Files on their way to a folder.
#[derive(Debug)]
pub struct Set {
    folder: PathBuf,
    name: String,
    inputs: Vec<Identity>,
    files: Vec<Pending>,
    /// Folders that this set made, outermost first.
    made: Vec<PathBuf>,
}

/// One file of a set.
#[derive(Debug)]
struct Pending {
    /// Held for its lock until the file has its name.
    lock: Option<File>,
    temporary: PathBuf,
    name: String,
}

/// An open file of a set. It must be closed (dropped) before the set is committed.
#[derive(Debug)]
pub struct SetFile {
    file: File,
    path: PathBuf,
}

impl SetFile {
    /// Where the file will stand: for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Write for SetFile {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.file.write(data)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for SetFile {
    fn read(&mut self, data: &mut [u8]) -> io::Result<usize> {
        self.file.read(data)
    }
}

impl Seek for SetFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Set {
    /// Prepares a set called `name` in `folder`, which is made where missing. `inputs` are files that no output may replace.
    pub fn begin(folder: impl Into<PathBuf>, name: &str, inputs: &[PathBuf]) -> Result<Self> {
        let folder = folder.into();
        let missing: Vec<_> = folder.ancestors().take_while(|f| !f.as_os_str().is_empty() && !f.exists()).map(Path::to_path_buf).collect();
        let inputs = inputs.iter().map(|path| Identity::of(path)).collect();
        let made = missing.into_iter().rev().collect();
        // From here on a failure removes what was made so far.
        let set = Self { folder, name: name.into(), inputs, files: Vec::new(), made };
        fs::create_dir_all(&set.folder).map_err(Error::io("create the output folder", &set.folder))?;
        set.sweep();
        Ok(set)
    }

    /// Opens a file that is to be called `name`.
    pub fn file(&mut self, name: &str) -> Result<SetFile> {
        let path = self.folder.join(name);
        self.check(name, &path)?;
        loop {
            let unique = format!("{}-{}", std::process::id(), next_number());
            let temporary = self.folder.join(format!("{}{unique}-{}", self.prefix(), extension(name)));
            let open = OpenOptions::new().read(true).write(true).create_new(true).open(&temporary);
            let file = open.map_err(Error::io("create an output file", &path))?;
            let locked = file.try_lock();
            // Another set's sweep came between: it took the file for abandoned.
            if matches!(locked, Err(TryLockError::WouldBlock)) || (locked.is_ok() && !temporary.exists()) {
                continue;
            }
            // A file system without locks gives an error: then the file is not swept either.
            let lock = locked.ok().and_then(|()| file.try_clone().ok());
            self.files.push(Pending { lock, temporary, name: name.into() });
            return Ok(SetFile { file, path });
        }
    }

    /// Brings all files to their names, `sidecar` last, and tells their paths in that order.
    pub fn commit(self, sidecar: &str) -> Result<Vec<PathBuf>> {
        commit(vec![self], sidecar).map(|files| files.into_iter().flatten().collect())
    }

    fn prefix(&self) -> String {
        format!(".{}{MARK}", self.name)
    }

    /// Refuses a name that would replace an input, stands for a folder or is taken twice.
    fn check(&self, name: &str, path: &Path) -> Result<()> {
        let identity = Identity::of(path);
        if self.inputs.iter().any(|input| input.is_same(&identity)) {
            return Err(Error::Usage(format!(
                "an output would replace the model or a file that it refers to; choose another folder (--output) or name (--name): {}",
                path.display()
            )));
        }
        if path.is_dir() {
            return Err(Error::Usage(format!("a folder stands where an output file is to go: {}", path.display())));
        }
        if self.files.iter().any(|f| fold(&f.name) == fold(name)) {
            return Err(Error::Usage(format!("two outputs would have the same name: {}", path.display())));
        }
        Ok(())
    }

    /// Removes temporary files of this name whose process is gone: those that can be locked.
    fn sweep(&self) {
        let prefix = self.prefix();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix));
            if is_ours
                && entry.file_type().is_ok_and(|t| t.is_file())
                && let Some(_lock) = lock_abandoned(&entry.path())
            {
                // What cannot be removed harms nobody.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        // Nothing can be done about what cannot be removed; the next set of this name tries again.
        for file in self.files.drain(..) {
            drop(file.lock);
            let _ = fs::remove_file(file.temporary);
        }
        for folder in self.made.drain(..).rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Commits several sets, each with a sidecar of this name: all of them or none. Tells their files' paths, sidecars last.
pub fn commit(mut sets: Vec<Set>, sidecar: &str) -> Result<Vec<Vec<PathBuf>>> {
    for set in &mut sets {
        let Some(last) = set.files.iter().position(|f| f.name == sidecar) else {
            return Err(Error::Bake(format!("a set cannot be completed without its sidecar {sidecar}: {}", set.folder.display())));
        };
        let last = set.files.remove(last);
        set.files.push(last);
    }
    // One commit after the other, or the files of two would stand beside one sidecar; in the order of names, or two would wait for
    // each other. Where a folder cannot be locked, nothing waits.
    let mut folders: Vec<&Path> = sets.iter().map(|set| set.folder.as_path()).collect();
    folders.sort();
    let folders: Vec<_> = folders.into_iter().filter_map(|folder| File::open(folder).ok()).collect();
    let _turns: Vec<_> = folders.iter().map(File::lock).collect();
    let mut exchange = Exchange::default();
    for set in &sets {
        for file in set.files.iter().rev() {
            exchange.move_aside(set, &file.name)?;
        }
    }
    for set in &mut sets {
        for file in &mut set.files {
            exchange.place(file, set.folder.join(&file.name))?;
        }
    }
    exchange.complete();
    let paths = |set: &Set| set.files.iter().map(|file| set.folder.join(&file.name)).collect();
    let done = sets.iter().map(paths).collect();
    for set in &mut sets {
        set.files.clear();
        set.made.clear();
    }
    Ok(done)
}

/// New files in the places of old ones: unless it is completed, dropping it puts the old ones back.
#[derive(Debug, Default)]
struct Exchange {
    aside: Vec<Aside>,
    placed: Vec<PathBuf>,
}

/// An old file under a temporary name.
#[derive(Debug)]
struct Aside {
    /// Held so that nobody sweeps it.
    _lock: Option<File>,
    temporary: PathBuf,
    path: PathBuf,
}

impl Exchange {
    /// Gets an old file out of the way, where there is one.
    fn move_aside(&mut self, set: &Set, name: &str) -> Result<()> {
        let path = set.folder.join(name);
        let failed = Error::io("replace an old file (is it open in another program, or protected?)", &path);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(error)),
            Ok(found) if found.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
            Ok(_) => {}
        }
        let temporary = set.folder.join(format!("{}{}-{}-old", set.prefix(), std::process::id(), next_number()));
        let lock = File::open(&path).ok().filter(|file| file.try_lock().is_ok());
        fs::rename(&path, &temporary).map_err(failed)?;
        self.aside.push(Aside { _lock: lock, temporary, path });
        Ok(())
    }

    /// Gives a file its name.
    fn place(&mut self, file: &mut Pending, path: PathBuf) -> Result<()> {
        fs::rename(&file.temporary, &path).map_err(Error::io("rename a finished file", &path))?;
        // Not before: what is not locked is swept.
        file.lock = None;
        self.placed.push(path);
        Ok(())
    }

    /// The new files stay, the old ones go.
    fn complete(mut self) {
        self.placed.clear();
        for old in self.aside.drain(..) {
            // What cannot be removed is swept by the next set of its name.
            let _ = fs::remove_file(&old.temporary);
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // Nothing more can be done about what cannot be put back.
        for path in self.placed.drain(..).rev() {
            let _ = fs::remove_file(path);
        }
        for old in self.aside.drain(..).rev() {
            let _ = fs::rename(&old.temporary, &old.path);
        }
    }
}

/// Tells apart the temporary files of one process.
fn next_number() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// A temporary file that no living process holds, locked.
fn lock_abandoned(path: &Path) -> Option<File> {
    let file = OpenOptions::new().write(true).open(path).ok()?;
    file.try_lock().is_ok().then_some(file)
}

/// What a temporary file's name ends on: the file's own name after the bake's would make it too long.
fn extension(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Names that some file system takes for the same.
fn fold(name: &str) -> String {
    name.to_lowercase()
}

/// What tells that two paths are one file.
#[derive(Debug)]
struct Identity {
    /// Device and inode, where the file exists and the system has them: hard links.
    inode: Option<(u64, u64)>,
    /// The file without links, or its folder without links and its name, in lower case.
    paths: Vec<String>,
}

impl Identity {
    fn of(path: &Path) -> Self {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let beside = || Some(absolute.parent()?.canonicalize().ok()?.join(absolute.file_name()?));
        let paths = [absolute.canonicalize().ok(), beside(), Some(absolute.clone())];
        let paths = paths.into_iter().flatten().map(|p| fold(&p.to_string_lossy())).collect();
        Self { inode: inode(path), paths }
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.inode.is_some() && self.inode == other.inode) || self.paths.iter().any(|p| other.paths.contains(p))
    }
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|m| (m.dev(), m.ino()))
}

/// Hard links are not seen here: the standard library does not tell a file's number yet.
#[cfg(not(unix))]
fn inode(_: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(set: &mut Set, name: &str, text: &str) {
        set.file(name).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn listing(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn commit_renames_all_and_the_sidecar_last() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("a.vat.json");
        fs::write(&old, "old").unwrap();
        let mut set = Set::begin(folder.path(), "a", &[]).unwrap();
        put(&mut set, "a.vat.json", "new");
        put(&mut set, "a_vat_position.png", "texels");
        assert_eq!(fs::read_to_string(&old).unwrap(), "old");
        let done = set.commit("a.vat.json").unwrap();
        assert_eq!(done, [folder.path().join("a_vat_position.png"), old.clone()]);
        assert_eq!(fs::read_to_string(&old).unwrap(), "new");
        assert_eq!(listing(folder.path()), ["a.vat.json", "a_vat_position.png"]);
    }

    #[test]
    fn a_set_dropped_half_way_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("x/y");
        let mut set = Set::begin(&deep, "a", &[]).unwrap();
        put(&mut set, "a_vat_position.png", "texels");
        assert_eq!(listing(&deep).len(), 1);
        drop(set);
        assert!(listing(folder.path()).is_empty());
    }

    #[test]
    fn a_set_dropped_half_way_leaves_the_old_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.vat.json"), "old").unwrap();
        let mut set = Set::begin(folder.path(), "a", &[]).unwrap();
        put(&mut set, "a.vat.json", "new");
        drop(set);
        assert_eq!(fs::read_to_string(folder.path().join("a.vat.json")).unwrap(), "old");
        assert_eq!(listing(folder.path()), ["a.vat.json"]);
    }

    #[test]
    fn a_failed_rename_leaves_no_half_set() {
        let folder = tempfile::tempdir().unwrap();
        let mut set = Set::begin(folder.path(), "a", &[]).unwrap();
        for name in ["a_1.png", "a_2.png", "a.vat.json"] {
            put(&mut set, name, "x");
        }
        fs::create_dir(folder.path().join("a_2.png")).unwrap();
        assert!(matches!(set.commit("a.vat.json"), Err(Error::Io { .. })));
        assert_eq!(listing(folder.path()), ["a_2.png"]);
    }

    /// Two sets, the second of which has a file that cannot be replaced, or whose new file is gone: the old files stand as before.
    #[test]
    fn what_cannot_be_replaced_leaves_the_old_files() {
        for is_blocked in [true, false] {
            let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let begin = |folder: &Path, text: &str| {
                let mut set = Set::begin(folder, "a", &[]).unwrap();
                for name in ["a.vat.json", "a_1.png", "a_2.png"] {
                    put(&mut set, name, text);
                }
                set
            };
            commit(vec![begin(one.path(), "old"), begin(other.path(), "old")], "a.vat.json").unwrap();
            let sets = vec![begin(one.path(), "new"), begin(other.path(), "new")];
            if is_blocked {
                fs::remove_file(other.path().join("a_1.png")).unwrap();
                fs::create_dir(other.path().join("a_1.png")).unwrap();
            } else {
                fs::remove_file(&sets[1].files[2].temporary).unwrap();
            }
            let error = commit(sets, "a.vat.json").unwrap_err().to_string();
            assert!(error.contains("a_1.png") || error.contains("a_2.png"), "{error}");
            for folder in [&one, &other] {
                assert_eq!(listing(folder.path()), ["a.vat.json", "a_1.png", "a_2.png"]);
                let kept = |name| fs::read_to_string(folder.path().join(name)).unwrap() == "old";
                assert!(kept("a.vat.json") && kept("a_2.png") && (is_blocked || kept("a_1.png")));
            }
            // and where nothing is in the way they are replaced
            commit(vec![begin(one.path(), "new")], "a.vat.json").unwrap();
            assert_eq!(fs::read_to_string(one.path().join("a_2.png")).unwrap(), "new");
            assert_eq!(listing(one.path()), ["a.vat.json", "a_1.png", "a_2.png"]);
        }
    }

    #[test]
    fn what_a_killed_process_left_is_swept_and_what_lives_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let stale = folder.path().join(".a.vat-tmp-1-0-png");
        let other = folder.path().join(".ab.vat-tmp-1-0-png");
        fs::write(&stale, "half").unwrap();
        fs::write(&other, "half").unwrap();
        let mut first = Set::begin(folder.path(), "a", &[]).unwrap();
        assert!(!stale.exists() && other.exists());
        put(&mut first, "a.vat.json", "first");
        let mut second = Set::begin(folder.path(), "a", &[]).unwrap();
        put(&mut second, "a.vat.json", "second");
        first.commit("a.vat.json").unwrap();
        second.commit("a.vat.json").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a.vat.json")).unwrap(), "second");
    }

    #[test]
    fn sets_of_one_name_neither_sweep_nor_mix() {
        let folder = tempfile::tempdir().unwrap();
        let bake = &|content: &str| {
            let mut set = Set::begin(folder.path(), "a", &[]).unwrap();
            put(&mut set, "a.png", content);
            put(&mut set, "a.vat.json", content);
            set.commit("a.vat.json").unwrap();
        };
        for _ in 0..50 {
            std::thread::scope(|scope| {
                for content in ["1", "2", "3", "4"] {
                    scope.spawn(move || (0..4).for_each(|_| bake(content)));
                }
            });
            assert_eq!(listing(folder.path()), ["a.png", "a.vat.json"]);
            // Only a system that locks folders keeps two sets apart.
            if cfg!(unix) {
                let read = |name| fs::read_to_string(folder.path().join(name)).unwrap();
                assert_eq!(read("a.png"), read("a.vat.json"));
            }
        }
    }

    #[test]
    fn no_input_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("Hero_vat.glb");
        fs::write(&model, "model").unwrap();
        let mut set = Set::begin(folder.path(), "hero", std::slice::from_ref(&model)).unwrap();
        for name in ["Hero_vat.glb", "hero_VAT.glb"] {
            let error = set.file(name).unwrap_err();
            assert!(matches!(&error, Error::Usage(m) if m.contains("--name")), "{error}");
        }
        put(&mut set, "hero_vat2.glb", "fine");
        assert!(matches!(set.file("HERO_vat2.glb"), Err(Error::Usage(_))));
        // A file that the model names but that is not there yet.
        let mut set = Set::begin(folder.path(), "b", &[folder.path().join("B.bin")]).unwrap();
        assert!(matches!(set.file("b.bin"), Err(Error::Usage(_))));
    }

    #[cfg(unix)]
    #[test]
    fn links_to_an_input_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model.glb");
        fs::write(&model, "model").unwrap();
        fs::hard_link(&model, folder.path().join("hard.glb")).unwrap();
        std::os::unix::fs::symlink(&model, folder.path().join("soft.glb")).unwrap();
        let other = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path(), other.path().join("door")).unwrap();
        let inputs = [model];
        assert!(matches!(Set::begin(folder.path(), "a", &inputs).unwrap().file("hard.glb"), Err(Error::Usage(_))));
        assert!(matches!(Set::begin(folder.path(), "a", &inputs).unwrap().file("soft.glb"), Err(Error::Usage(_))));
        assert!(matches!(Set::begin(other.path().join("door"), "a", &inputs).unwrap().file("Model.glb"), Err(Error::Usage(_))));
    }

    #[test]
    fn a_folder_in_the_way_and_a_missing_sidecar_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a.png")).unwrap();
        let mut set = Set::begin(folder.path(), "a", &[]).unwrap();
        assert!(matches!(set.file("a.png"), Err(Error::Usage(_))));
        put(&mut set, "a_2.png", "x");
        assert!(set.commit("a.vat.json").is_err());
        assert_eq!(listing(folder.path()), ["a.png"]);
    }
}
