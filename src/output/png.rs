//! RGBA PNG, 8 or 16 bits, row by row in bounded memory.
//!
//! The file holds IHDR, IDAT and IEND alone: a gAMA, sRGB, cHRM or iCCP chunk would make some readers bend the values. Paeth on
//! every row with the fast deflate is several times as fast as a search for the best filter and about as small on this data,
//! whose rows are successive frames.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, Filter, StreamWriter};

use super::{update_crc32, wrong_rows};
use crate::{Error, Result};

/// Bytes of one IDAT chunk.
const CHUNK: usize = 256 << 10;
/// Texel components converted at a time: what stays in a core's cache.
const PIECE: usize = 64 << 10;

/// Bits of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Depth {
    /// 0..=255.
    Eight,
    /// 0..=65535.
    Sixteen,
}

/// Writes one RGBA PNG row by row.
pub struct PngWriter<W: Write + 'static> {
    stream: StreamWriter<'static, Sink<W>>,
    fault: Fault,
    path: PathBuf,
    depth: Depth,
    /// Components of a row.
    row: usize,
    height: usize,
    rows: usize,
    crc: crc32fast::Hasher,
    /// Components as they stand in the file; reused.
    bytes: Vec<u8>,
}

impl<W: Write + 'static> PngWriter<W> {
    /// Begins a file of `width` by `height` texels. `out` needs no buffer of its own; `path` is for messages.
    pub fn new(out: W, path: impl AsRef<Path>, width: u32, height: u32, depth: Depth) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let fault = Fault::default();
        let mut encoder = Encoder::new(Sink { out, fault: fault.clone() }, width, height);
        encoder.set_color(ColorType::Rgba);
        encoder.set_depth(if depth == Depth::Eight { BitDepth::Eight } else { BitDepth::Sixteen });
        encoder.set_compression(Compression::Fast);
        encoder.set_filter(Filter::Paeth);
        let stream = encoder.write_header().and_then(|w| w.into_stream_writer_with_size(CHUNK)).map_err(|e| io_error(&path, plain(e)))?;
        let (row, height) = (width as usize * 4, height as usize);
        Ok(Self { stream, fault, path, depth, row, height, rows: 0, crc: crc32fast::Hasher::new(), bytes: Vec::new() })
    }

    /// Appends whole rows: four components a texel; with 8 bits the value stands in the low byte.
    pub fn write_rows(&mut self, texels: &[u16]) -> Result<()> {
        let rows = texels.len() / self.row;
        if !texels.len().is_multiple_of(self.row) {
            return Err(wrong_rows(&self.path, texels.len(), &format!("rows of {}", self.row)));
        }
        if rows > self.height - self.rows {
            return Err(wrong_rows(&self.path, self.rows + rows, &self.height.to_string()));
        }
        for piece in texels.chunks(PIECE) {
            self.bytes.clear();
            match self.depth {
                Depth::Eight => {
                    self.bytes.extend(piece.iter().map(|&v| v as u8));
                    self.crc.update(&self.bytes);
                }
                Depth::Sixteen => {
                    update_crc32(&mut self.crc, bytemuck::cast_slice(piece), 2);
                    self.bytes.resize(piece.len() * 2, 0);
                    for (to, from) in self.bytes.as_chunks_mut::<2>().0.iter_mut().zip(piece) {
                        *to = from.to_be_bytes();
                    }
                }
            }
            self.stream.write_all(&self.bytes).map_err(|e| io_error(&self.path, e))?;
        }
        self.rows += rows;
        Ok(())
    }

    /// Ends the file and gives the CRC-32 of the texels: components in file order as little-endian u16 (u8 with 8 bits).
    pub fn finish(self) -> Result<u32> {
        if self.rows != self.height {
            return Err(wrong_rows(&self.path, self.rows, &self.height.to_string()));
        }
        let ended = self.stream.finish().map_err(plain);
        // The encoder writes its last chunks when it is dropped and forgets what went wrong there; the sink does not.
        ended.and(self.fault.take()).map_err(|e| io_error(&self.path, e))?;
        Ok(self.crc.finalize())
    }
}

/// The first error of a sink, seen from outside of the encoder that owns it.
#[derive(Debug, Clone, Default)]
struct Fault(Arc<Mutex<Option<io::Error>>>);

impl Fault {
    fn note(&self, error: &io::Error) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert_with(|| error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error));
    }

    fn take(&self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// The file behind the encoder; it remembers its first error and flushes when it goes.
struct Sink<W: Write> {
    out: W,
    fault: Fault,
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.out.write(data).inspect_err(|e| {
            if e.kind() != io::ErrorKind::Interrupted {
                self.fault.note(e);
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().inspect_err(|e| self.fault.note(e))
    }
}

impl<W: Write> Drop for Sink<W> {
    fn drop(&mut self) {
        // An error is in `fault`, where `finish` finds it.
        let _ = self.flush();
    }
}

fn plain(error: EncodingError) -> io::Error {
    match error {
        EncodingError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

fn io_error(path: &Path, source: io::Error) -> Error {
    Error::Io { action: "write the texture", path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer whose bytes stay reachable, and which is full after `room` bytes.
    #[derive(Clone)]
    struct Shared(Arc<Mutex<Vec<u8>>>, usize);

    impl Shared {
        fn new(room: usize) -> Self {
            Self(Arc::default(), room)
        }
        fn bytes(&self) -> Vec<u8> {
            self.0.lock().unwrap().clone()
        }
    }

    impl Write for Shared {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            let mut bytes = self.0.lock().unwrap();
            if bytes.len() + data.len() > self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            bytes.extend_from_slice(data);
            Ok(data.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn write(texels: &[u16], width: u32, depth: Depth, rows_at_once: usize) -> (Vec<u8>, u32) {
        let out = Shared::new(usize::MAX);
        let row = width as usize * 4;
        let mut writer = PngWriter::new(out.clone(), "t.png", width, (texels.len() / row) as u32, depth).unwrap();
        for rows in texels.chunks(row * rows_at_once) {
            writer.write_rows(rows).unwrap();
        }
        let crc = writer.finish().unwrap();
        (out.bytes(), crc)
    }

    fn chunk_names(mut png: &[u8]) -> Vec<String> {
        let mut names = Vec::new();
        png = &png[8..];
        while let Some((head, rest)) = png.split_at_checked(8) {
            names.push(String::from_utf8(head[4..].to_vec()).unwrap());
            let length = u32::from_be_bytes(head[..4].try_into().unwrap()) as usize;
            png = &rest[length + 4..];
        }
        names
    }

    /// Not to be compressed: a multiplicative hash of the position.
    fn noise(count: usize) -> Vec<u16> {
        (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u16).collect()
    }

    #[test]
    fn every_16_bit_value_comes_back_from_two_decoders() {
        let texels: Vec<u16> = (0..256 * 256).flat_map(|i| [i as u16, !(i as u16), (i as u16).rotate_left(8), 65535]).collect();
        let (file, crc) = write(&texels, 256, Depth::Sixteen, 7);
        assert_eq!(image::load_from_memory(&file).unwrap().as_rgba16().unwrap().as_raw(), &texels);
        let mut reader = png::Decoder::new(io::Cursor::new(&file)).read_info().unwrap();
        let mut raw = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut raw).unwrap();
        assert!(raw.chunks_exact(2).zip(&texels).all(|(b, &t)| u16::from_be_bytes([b[0], b[1]]) == t));
        let little: Vec<u8> = texels.iter().flat_map(|t| t.to_le_bytes()).collect();
        assert_eq!(crc, crc32fast::hash(&little));
    }

    #[test]
    fn eight_bits_take_the_low_byte() {
        let texels: Vec<u16> = (0..64 * 12 * 4).map(|i| (i % 256) as u16).collect();
        let (file, crc) = write(&texels, 64, Depth::Eight, 12);
        let low: Vec<u8> = texels.iter().map(|&t| t as u8).collect();
        assert_eq!(image::load_from_memory(&file).unwrap().as_rgba8().unwrap().as_raw(), &low);
        assert_eq!(crc, crc32fast::hash(&low));
    }

    #[test]
    fn holds_no_colour_chunk_and_bounded_idat_chunks() {
        let texels = noise(512 * 256 * 4);
        let names = chunk_names(&write(&texels, 512, Depth::Sixteen, 64).0);
        assert_eq!((names.first().unwrap().as_str(), names.last().unwrap().as_str()), ("IHDR", "IEND"));
        assert!(names.len() > 5 && names[1..names.len() - 1].iter().all(|n| n == "IDAT"), "{names:?}");
    }

    #[test]
    fn bytes_do_not_depend_on_how_rows_arrive() {
        let texels = noise(320 * 300 * 4);
        assert_eq!(write(&texels, 320, Depth::Sixteen, 1), write(&texels, 320, Depth::Sixteen, 300));
    }

    #[test]
    fn missing_partial_and_surplus_rows_are_errors() {
        let row = [0u16; 16];
        let new = || PngWriter::new(Shared::new(usize::MAX), "t.png", 4, 2, Depth::Sixteen).unwrap();
        let mut short = new();
        short.write_rows(&row).unwrap();
        assert!(short.finish().unwrap_err().to_string().contains("t.png"));
        assert!(new().write_rows(&row[..15]).is_err());
        assert!(new().write_rows(&[0; 48]).is_err());
    }

    #[test]
    fn a_full_disk_is_seen_even_at_the_last_chunk() {
        let texels = noise(64 * 8 * 4);
        let size = write(&texels, 64, Depth::Sixteen, 8).0.len();
        for room in [0, 40, size - 13, size - 1] {
            let ended = PngWriter::new(Shared::new(room), "full.png", 64, 8, Depth::Sixteen).and_then(|mut w| {
                w.write_rows(&texels)?;
                w.finish()
            });
            assert!(matches!(ended, Err(Error::Io { .. })), "room for {room} of {size} bytes");
        }
    }
}
