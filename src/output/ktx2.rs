//! RGBA KTX 2.0 of half floats, one level, Zstandard (KTX File Format Specification 2.0): what stock loaders of browsers and Bevy read.
//!
//! Texels stream through a compressor on a thread of its own, so that no more than a few pieces are held. The header is completed at
//! the end, when the compressed length is known.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use half::f16;
use ruzstd::encoding::{CompressionLevel, FrameCompressor};

use super::{update_crc32, wrong_rows};
use crate::{Error, GENERATOR, Result};

/// `VK_FORMAT_R16G16B16A16_SFLOAT`.
const VK_FORMAT: u32 = 97;
/// Scheme 2: each level is a Zstandard frame.
const ZSTANDARD: u32 = 2;
/// Bytes of the identifier, the header and the index of one level.
const HEAD: usize = 12 + 68 + 24;
/// Where the level's compressed length stands.
const LEVEL_LENGTH: u64 = 12 + 68 + 8;
const TEXEL_BYTES: usize = 8;
/// Bytes that are sent to the compressor at once.
const PIECE: usize = 256 << 10;
/// Pieces that wait for it.
const WAITING: usize = 2;

/// Writes one RGBA KTX2 of half floats row by row.
pub struct Ktx2Writer<W: Write + Seek + Send + 'static> {
    pieces: Option<SyncSender<Vec<u8>>>,
    compressor: Option<JoinHandle<Drain<W>>>,
    path: PathBuf,
    left: usize,
    total: usize,
    crc: crc32fast::Hasher,
}

impl<W: Write + Seek + Send + 'static> Ktx2Writer<W> {
    /// Begins a file of `width` by `height` texels at the start of `out`, which needs no buffer of its own; `path` is for messages.
    pub fn new(mut out: W, path: impl AsRef<Path>, width: u32, height: u32) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let total = width as usize * height as usize * TEXEL_BYTES;
        out.write_all(&head(width, height, total as u64)).map_err(|e| io_error(&path, e))?;
        let (pieces, source) = sync_channel(WAITING);
        let compressor = std::thread::spawn(move || compress(Pieces { source, piece: Vec::new(), at: 0 }, out));
        let crc = crc32fast::Hasher::new();
        Ok(Self { pieces: Some(pieces), compressor: Some(compressor), path, left: total, total, crc })
    }

    /// Appends whole rows, four components a texel.
    pub fn write_rows_half(&mut self, texels: &[f16]) -> Result<()> {
        if let Some(value) = texels.iter().find(|v| !v.is_finite()) {
            return Err(Error::Bake(format!(
                "a value is {value} as a 16-bit float, whose range ends at 65504; write 32-bit floats (--format exr32): {}",
                self.path.display()
            )));
        }
        let native: &[u8] = bytemuck::cast_slice(texels);
        self.left = self.left.checked_sub(native.len()).ok_or_else(|| wrong_rows(&self.path, native.len(), &self.total.to_string()))?;
        update_crc32(&mut self.crc, native, 2);
        for piece in native.chunks(PIECE) {
            let mut bytes = Vec::with_capacity(piece.len());
            // a vector takes everything
            let _ = super::raw::write_little_endian(&mut bytes, piece, 2);
            if self.pieces.as_ref().is_none_or(|pieces| pieces.send(bytes).is_err()) {
                return Err(Error::Bake(format!("the compressor of a texture ended early: {}", self.path.display())));
            }
        }
        Ok(())
    }

    /// Ends the file and gives the CRC-32 of the texels: components in file order, little-endian.
    pub fn finish(mut self) -> Result<u32> {
        if self.left > 0 {
            return Err(wrong_rows(&self.path, self.total - self.left, &self.total.to_string()));
        }
        self.pieces = None;
        let drain = self.compressor.take().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let Some(Drain { out, bytes, fault }) = drain else { return Ok(self.crc.clone().finalize()) };
        let patch = || {
            if let Some(fault) = fault {
                return Err(fault);
            }
            let mut out = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            out.seek(SeekFrom::Start(LEVEL_LENGTH))?;
            out.write_all(&bytes.to_le_bytes())?;
            out.flush()
        };
        patch().map_err(|e| io_error(&self.path, e))?;
        Ok(self.crc.clone().finalize())
    }
}

impl<W: Write + Seek + Send + 'static> Drop for Ktx2Writer<W> {
    fn drop(&mut self) {
        // the file is closed before its set is taken away
        self.pieces = None;
        if let Some(thread) = self.compressor.take() {
            drop(thread.join());
        }
    }
}

fn io_error(path: &Path, error: io::Error) -> Error {
    Error::io("write a texture", path)(error)
}

/// Identifier, header, index of the level, data format descriptor and key-value data: all that stands before the level.
fn head(width: u32, height: u32, texel_bytes: u64) -> Vec<u8> {
    let (descriptor, pairs) = (describe_format(), list_pairs());
    let (descriptor_at, pairs_at) = (HEAD, HEAD + descriptor.len());
    let mut head = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
    // format, bytes of a component, width, height, depth, layers, faces, levels, scheme, descriptor, pairs
    let type_size = 2;
    let fields = [VK_FORMAT, type_size, width, height, 0, 0, 1, 1, ZSTANDARD];
    let places = [descriptor_at as u32, descriptor.len() as u32, pairs_at as u32, pairs.len() as u32];
    head.extend(fields.iter().chain(&places).flat_map(|v| v.to_le_bytes()));
    // no global data; the level: offset, compressed length (completed at the end), length
    let level_at = (pairs_at + pairs.len()) as u64;
    head.extend([0, 0, level_at, 0, texel_bytes].iter().flat_map(|v: &u64| v.to_le_bytes()));
    head.extend(descriptor);
    head.extend(pairs);
    head
}

/// The basic descriptor of four signed halves (Khronos Data Format Specification 1.3, 5).
fn describe_format() -> Vec<u8> {
    const SAMPLES: [u8; 4] = [0, 1, 2, 15]; // red, green, blue, alpha
    let block = 24 + 16 * SAMPLES.len();
    let mut bytes = ((block + 4) as u32).to_le_bytes().to_vec();
    bytes.extend(0_u32.to_le_bytes()); // Khronos, basic
    bytes.extend(2_u16.to_le_bytes()); // version 1.3
    bytes.extend((block as u16).to_le_bytes());
    bytes.extend([1, 1, 1, 0]); // RGBSDA, BT.709, linear, straight alpha
    bytes.extend([0; 4]); // blocks of one texel
    bytes.extend([TEXEL_BYTES as u8, 0, 0, 0, 0, 0, 0, 0]);
    for (i, channel) in SAMPLES.into_iter().enumerate() {
        bytes.extend((16 * i as u16).to_le_bytes());
        bytes.extend([15, 0xc0 | channel, 0, 0, 0, 0]); // 16 bits, float and signed, at the texel's origin
        bytes.extend((-1.0_f32).to_bits().to_le_bytes());
        bytes.extend(1.0_f32.to_bits().to_le_bytes());
    }
    bytes
}

/// Key-value pairs, sorted by key: rows run down, and who wrote it.
fn list_pairs() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in [("KTXorientation", "rd"), ("KTXwriter", GENERATOR)] {
        let pair = format!("{key}\0{value}\0");
        bytes.extend((pair.len() as u32).to_le_bytes());
        bytes.extend(pair.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

/// What arrives, as the compressor reads it.
struct Pieces {
    source: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            // the end is where the sender is gone
            let Ok(piece) = self.source.recv() else { return Ok(0) };
            (self.piece, self.at) = (piece, 0);
        }
        let count = buffer.len().min(self.piece.len() - self.at);
        buffer[..count].copy_from_slice(&self.piece[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Where compressed bytes go. The compressor cannot hear of a fault, so the first one is kept and what follows is dropped.
struct Drain<W: Write> {
    out: BufWriter<W>,
    bytes: u64,
    fault: Option<io::Error>,
}

impl<W: Write> Write for Drain<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.fault.is_none() {
            self.fault = self.out.write_all(data).err();
            self.bytes += data.len() as u64;
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn compress<W: Write>(source: Pieces, out: W) -> Drain<W> {
    let mut drain = Drain { out: BufWriter::with_capacity(PIECE, out), bytes: 0, fault: None };
    let mut compressor = FrameCompressor::new(CompressionLevel::Fastest);
    compressor.set_source(source);
    compressor.set_drain(&mut drain);
    compressor.compress();
    drop(compressor);
    if drain.fault.is_none() {
        drain.fault = drain.out.flush().err();
    }
    drain
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn texels(count: usize) -> Vec<f16> {
        (0..count * 4).map(|i| f16::from_f32((i as f32 * 0.37).sin() * 3.0)).collect()
    }

    /// Writes to a file that stays open, so that it can be read afterwards.
    fn write(width: u32, height: u32, texels: &[f16]) -> (Vec<u8>, u32) {
        let mut file = tempfile::tempfile().expect("a file");
        let mut writer = Ktx2Writer::new(file.try_clone().expect("a handle"), "t.ktx2", width, height).expect("a writer");
        texels.chunks(width as usize * 4).for_each(|row| writer.write_rows_half(row).expect("a row"));
        let crc = writer.finish().expect("a file");
        let mut bytes = Vec::new();
        file.rewind().expect("its start");
        file.read_to_end(&mut bytes).expect("its bytes");
        (bytes, crc)
    }

    fn number(bytes: &[u8], at: usize, length: usize) -> usize {
        bytes[at..at + length].iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte))
    }

    #[test]
    fn the_level_inflates_to_the_texels() {
        for (width, height) in [(4, 4), (300, 700)] {
            let texels = texels(width * height);
            let (bytes, crc) = write(width as u32, height as u32, &texels);
            let (at, length, whole) = (number(&bytes, 80, 8), number(&bytes, 88, 8), number(&bytes, 96, 8));
            assert_eq!((at + length, whole), (bytes.len(), texels.len() * 2));
            let mut inflated = Vec::new();
            let mut decoder = ruzstd::decoding::StreamingDecoder::new(Cursor::new(&bytes[at..])).expect("a frame");
            decoder.read_to_end(&mut inflated).expect("texels");
            let wanted: Vec<u8> = texels.iter().flat_map(|v| v.to_le_bytes()).collect();
            assert!(inflated == wanted);
            assert_eq!(crc, crc32fast::hash(&wanted));
        }
    }

    #[test]
    fn the_head_says_what_follows() {
        let (bytes, _) = write(8, 4, &texels(32));
        assert_eq!(&bytes[..12], b"\xabKTX 20\xbb\r\n\x1a\n");
        let field = |n: usize| number(&bytes, 12 + n * 4, 4);
        assert_eq!((0..9).map(field).collect::<Vec<_>>(), [97, 2, 8, 4, 0, 0, 1, 1, 2]);
        let (descriptor, length) = (field(9), field(10));
        assert_eq!((descriptor, length, number(&bytes, descriptor, 4)), (104, 92, 92));
        let (pairs, length) = (field(11), field(12));
        assert_eq!(pairs, 104 + 92);
        assert!(bytes[pairs..pairs + length].windows(17).any(|w| w == b"KTXorientation\0rd"));
        assert_eq!(number(&bytes, 80, 8), pairs + length);
    }

    #[test]
    fn infinity_and_missing_rows_are_refused() {
        let writer = || Ktx2Writer::new(Cursor::new(Vec::new()), "t.ktx2", 4, 4).expect("a writer");
        let error = writer().write_rows_half(&[f16::INFINITY; 16]).expect_err("infinity").to_string();
        assert!(error.contains("exr32") && error.contains("t.ktx2"), "{error}");
        assert!(writer().finish().is_err());
        assert!(writer().write_rows_half(&texels(17)).is_err());
    }

    #[test]
    fn a_full_disk_is_an_error() {
        /// Takes the head and no more.
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, data: &[u8]) -> io::Result<usize> {
                self.0 += data.len();
                if self.0 > 600 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(data.len()) }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        impl Seek for Full {
            fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
                Ok(0)
            }
        }
        let mut writer = Ktx2Writer::new(Full(0), "t.ktx2", 256, 256).expect("a writer");
        texels(256 * 256).chunks(256 * 4).for_each(|row| writer.write_rows_half(row).expect("taken"));
        let error = writer.finish().expect_err("a full disk").to_string();
        assert!(error.contains("t.ktx2"), "{error}");
    }
}
