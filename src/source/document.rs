//! A parsed document with the bytes behind it: buffers and buffer views, loaded when first asked for, and a limit on what a small
//! file may unfold to.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gltf::json::Root;
use gltf::json::buffer::View;

use super::compression;
use super::facts::Seen;
use super::uri::{self, Folder, Target};
use crate::Fault;

/// Bytes that every document may unfold to, whatever its size.
const BUDGET_BASE: u64 = 24 << 20;
/// Bytes that each byte of the input may unfold to on top: room for attributes that many primitives share and for compression.
const BUDGET_FACTOR: u64 = 64;

/// Everything that the readers of meshes, skins and animations look into.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) root: Root,
    bytes: &'a [u8],
    bin: Option<Range<usize>>,
    pub(super) folder: Folder,
    buffers: Vec<OnceCell<Result<Cow<'a, [u8]>, Fault>>>,
    /// Decompressed buffer views.
    unpacked: Vec<OnceCell<Result<Vec<u8>, Fault>>>,
    /// Bytes read from the input and its side files.
    loaded: Cell<u64>,
    /// Bytes unfolded so far.
    unfolded: Cell<u64>,
    /// What decoding came across that the scene no longer shows.
    pub(super) seen: Seen,
    /// Side files read so far.
    read: RefCell<BTreeSet<PathBuf>>,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: Root, bytes: &'a [u8], bin: Option<Range<usize>>, folder: Folder) -> Self {
        let buffers = root.buffers.iter().map(|_| OnceCell::new()).collect();
        let unpacked = root.buffer_views.iter().map(|_| OnceCell::new()).collect();
        let loaded = Cell::new(bytes.len() as u64);
        Self {
            root,
            bytes,
            bin,
            folder,
            buffers,
            unpacked,
            loaded,
            unfolded: Cell::new(0),
            seen: Seen::default(),
            read: RefCell::default(),
        }
    }

    /// Whether the file requires an extension.
    pub(super) fn requires(&self, extension: &str) -> bool {
        self.root.extensions_required.iter().any(|e| e == extension)
    }

    /// Whether the file names an extension at all.
    pub(super) fn uses(&self, extension: &str) -> bool {
        self.requires(extension) || self.root.extensions_used.iter().any(|e| e == extension)
    }

    /// Reserves room for `count` decoded elements of `size` bytes, so that a few bytes of JSON cannot ask for gigabytes.
    pub(super) fn reserve(&self, count: u64, size: u64, at: &str) -> Result<(), Fault> {
        let limit = BUDGET_BASE.saturating_add(self.loaded.get().saturating_mul(BUDGET_FACTOR));
        let total = count.checked_mul(size).and_then(|size| self.unfolded.get().checked_add(size));
        match total.filter(|&total| total <= limit) {
            Some(total) => {
                self.unfolded.set(total);
                Ok(())
            }
            None => {
                let problem =
                    format!("with {count} elements of {size} bytes the file unfolds to more than {limit} bytes, the limit for its size");
                Err(Fault::new(at, problem, "correct the count, or store the data of each accessor in full"))
            }
        }
    }

    /// The bytes of a buffer view, decompressed where it is compressed. `at` names who asks.
    pub(super) fn view(&self, index: usize, at: &str) -> Result<&[u8], Fault> {
        let count = self.root.buffer_views.len();
        let Some((view, cell)) = self.root.buffer_views.get(index).zip(self.unpacked.get(index)) else {
            return Err(missing(at, "bufferView", index, count));
        };
        let pointer = format!("/bufferViews/{index}");
        let Some(packed) = compression::packed(view, &pointer)? else { return self.plain_view(view, &pointer) };
        let optional = !self.requires(packed.extension);
        if optional && let Ok(bytes) = self.plain_view(view, &pointer) {
            return Ok(bytes);
        }
        let unpack = || {
            self.reserve(packed.count, packed.stride, &pointer)?;
            let encoded = self.slice(packed.buffer, packed.offset, packed.length, &packed.pointer)?;
            let bytes = packed.decode(encoded)?;
            if (bytes.len() as u64) < view.byte_length.0 {
                let problem = format!("the compressed data holds {} bytes, the view says {}", bytes.len(), view.byte_length.0);
                return Err(Fault::new(pointer.clone(), problem, "export the model again"));
            }
            Ok(bytes)
        };
        cell.get_or_init(unpack).as_deref().map_err(Clone::clone)
    }

    fn plain_view(&self, view: &View, pointer: &str) -> Result<&[u8], Fault> {
        self.slice(view.buffer.value(), view.byte_offset.unwrap_or_default().0, view.byte_length.0, pointer)
    }

    /// A run of bytes of a buffer.
    fn slice(&self, buffer: usize, offset: u64, length: u64, at: &str) -> Result<&[u8], Fault> {
        let bytes = self.buffer(buffer, at)?;
        let range = offset.checked_add(length).and_then(|end| Some(usize::try_from(offset).ok()?..usize::try_from(end).ok()?));
        range.and_then(|range| bytes.get(range)).ok_or_else(|| {
            let problem = format!("{length} bytes from offset {offset} are wanted, buffer {buffer} has {}", bytes.len());
            Fault::new(at, problem, "the file is damaged; export the model again")
        })
    }

    fn buffer(&self, index: usize, at: &str) -> Result<&[u8], Fault> {
        let Some(cell) = self.buffers.get(index) else { return Err(missing(at, "buffer", index, self.buffers.len())) };
        cell.get_or_init(|| self.load_buffer(index)).as_deref().map_err(Clone::clone)
    }

    fn load_buffer(&self, index: usize) -> Result<Cow<'a, [u8]>, Fault> {
        let pointer = format!("/buffers/{index}");
        let wanted = self.root.buffers.get(index).map_or(0, |b| b.byte_length.0);
        let uri = self.root.buffers.get(index).and_then(|b| b.uri.as_deref());
        let (name, bytes) = match (uri, &self.bin) {
            (Some(uri), _) => {
                let name = if uri::is_data(uri) { "the data URI".to_owned() } else { format!("`{}`", uri::shorten(uri)) };
                (name, Cow::Owned(self.load(uri, &pointer)?.bytes))
            }
            (None, Some(bin)) if index == 0 && !self.is_placeholder(index) => {
                ("the GLB's binary chunk".to_owned(), Cow::Borrowed(&self.bytes[bin.clone()]))
            }
            (None, _) => {
                let problem = "the buffer has neither a URI nor a binary chunk, and its data is needed";
                return Err(Fault::new(pointer, problem, "export the model again, as one .glb"));
            }
        };
        if (bytes.len() as u64) < wanted {
            let problem = format!("{name} has {} bytes, `byteLength` says {wanted}", bytes.len());
            return Err(Fault::new(pointer, problem, "the file is cut off; get it again"));
        }
        Ok(bytes)
    }

    /// Whether a buffer only stands where a decompressed one would be.
    fn is_placeholder(&self, index: usize) -> bool {
        let extensions = self.root.buffers.get(index).and_then(|b| b.extensions.as_ref());
        extensions.is_some_and(|e| {
            let fallback = |name| e.others.get(name)?.get("fallback")?.as_bool();
            compression::EXTENSIONS.into_iter().any(|name| fallback(name) == Some(true))
        })
    }

    /// What a URI stands for, read.
    pub(super) fn load(&self, uri: &str, at: &str) -> Result<Loaded, Fault> {
        let refused = |refusal: uri::Refusal| Fault::new(at, refusal.problem, refusal.remedy);
        let loaded = match self.folder.resolve(uri).map_err(refused)? {
            Target::Data { mime_type, bytes } => Loaded { bytes, mime_type },
            Target::Files(files) => match uri::read_first(&files) {
                Ok((path, bytes)) => {
                    if !self.read.borrow_mut().insert(path.canonicalize().unwrap_or(path)) {
                        // Read before: it must not make room for itself again.
                        self.reserve(1, bytes.len() as u64, at)?;
                        return Ok(Loaded { bytes, mime_type: None });
                    }
                    Loaded { bytes, mime_type: None }
                }
                Err(why) => {
                    let problem = format!("the side file `{}` cannot be read ({why})", uri::shorten(uri));
                    return Err(Fault::new(at, problem, "put it where the model refers to it"));
                }
            },
        };
        self.loaded.set(self.loaded.get().saturating_add(loaded.bytes.len() as u64));
        Ok(loaded)
    }

    /// Absolute paths of the model and of every file that it may refer to.
    pub(super) fn files(&self, main: &Path, images: &[serde_json::Value]) -> Vec<PathBuf> {
        let mut files = vec![std::path::absolute(main).unwrap_or_else(|_| main.to_path_buf())];
        let images = images.iter().filter_map(|image| image.get("uri")?.as_str());
        for uri in self.root.buffers.iter().filter_map(|b| b.uri.as_deref()).chain(images) {
            if let Ok(Target::Files(candidates)) = self.folder.resolve(uri) {
                files.extend(candidates.into_iter().map(|path| std::path::absolute(&path).unwrap_or(path)));
            }
        }
        files.sort();
        files.dedup();
        files
    }
}

/// Bytes behind a URI.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) bytes: Vec<u8>,
    /// From a data URI.
    pub(super) mime_type: Option<String>,
}

/// An index past the end of its array.
pub(super) fn missing(at: &str, what: &str, index: usize, count: usize) -> Fault {
    let has = match count {
        0 => "none".to_owned(),
        1 => "only number 0".to_owned(),
        n => format!("{n} (numbers 0 to {})", n - 1),
    };
    Fault::new(at, format!("{what} {index} does not exist, the file has {has}"), "the file is damaged; export the model again")
}
