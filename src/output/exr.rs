//! RGBA OpenEXR, half or float, lossless ZIP in blocks of 16 rows, compressed in parallel and written in file order.
//!
//! The header describes the samples and nothing else: no chromaticities, no software name, no time. The `exr` crate's
//! own writers want the whole image or a thread of their own; this one takes rows as they come and keeps a few blocks.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use exr::block::{BlockIndex, UncompressedBlock};
use exr::compression::Compression;
use exr::math::Vec2;
use exr::meta::attribute::{ChannelDescription, LineOrder, SampleType, Text};
use exr::meta::header::{Header, LayerAttributes};
use exr::meta::{BlockDescription, MetaData, magic_number};
use half::f16;
use rayon::prelude::*;

use super::{update_crc32, wrong_rows};
use crate::{Error, Result};

/// Rows of a ZIP block (OpenEXR file layout, "Compression").
const BLOCK_ROWS: usize = 16;
/// Channels in the file are sorted by name; where each stands in an RGBA texel.
const CHANNELS: [(&str, usize); 4] = [("A", 3), ("B", 2), ("G", 1), ("R", 0)];

/// What a batch takes at once: the rows, the same by channel, and compressed.
const COPIES: usize = 3;

/// Type of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Depth {
    /// 16-bit float.
    Half,
    /// 32-bit float.
    Float,
}

impl Depth {
    fn size(self) -> usize {
        if self == Self::Half { 2 } else { 4 }
    }
}

/// Writes one RGBA EXR row by row.
pub struct ExrWriter<W: Write + Seek> {
    out: W,
    path: PathBuf,
    headers: [Header; 1],
    depth: Depth,
    width: usize,
    height: usize,
    /// Rows received.
    rows: usize,
    /// Native bytes of rows that wait for their block.
    pending: Vec<u8>,
    /// Bytes of `pending` at which blocks are compressed: a block a thread.
    batch: usize,
    /// Where the table of block offsets stands.
    table: u64,
    /// Where each written block stands.
    offsets: Vec<u64>,
    /// End of what is written.
    end: u64,
    crc: crc32fast::Hasher,
}

impl<W: Write + Seek> ExrWriter<W> {
    /// Begins a file of `width` by `height` texels at the start of `out`, which needs no buffer of its own; `path` is for messages.
    pub fn new(mut out: W, path: impl AsRef<Path>, width: u32, height: u32, depth: Depth) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let (width, height) = (width as usize, height as usize);
        let sample = if depth == Depth::Half { SampleType::F16 } else { SampleType::F32 };
        let channels = CHANNELS.iter().map(|&(name, _)| ChannelDescription::new(name, sample, false)).collect();
        let header = Header::new(Text::default(), (width, height), channels)
            .with_encoding(Compression::ZIP16, BlockDescription::ScanLines, LineOrder::Increasing)
            .with_attributes(LayerAttributes::default());
        let headers = [header];
        let mut start = Vec::new();
        write_header(&headers, &mut start).map_err(|e| io_error(&path, plain(e)))?;
        let table = start.len() as u64;
        let blocks = height.div_ceil(BLOCK_ROWS);
        // Filled in at the end, when the sizes of the blocks are known.
        start.resize(start.len() + blocks * 8, 0);
        out.write_all(&start).map_err(|e| io_error(&path, e))?;
        let batch = rayon::current_num_threads() * BLOCK_ROWS * width * 4 * depth.size();
        let (end, offsets) = (start.len() as u64, Vec::with_capacity(blocks));
        let crc = crc32fast::Hasher::new();
        Ok(Self { out, path, headers, depth, width, height, rows: 0, pending: Vec::new(), batch, table, offsets, end, crc })
    }

    /// Keeps what rows take while they wait, are split by channel and compressed below `bytes`, but for the one block that it takes.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        let block = BLOCK_ROWS * self.width * 4 * self.depth.size();
        let blocks = usize::try_from(bytes).unwrap_or(usize::MAX) / COPIES / block.max(1);
        self.batch = self.batch.min(blocks.max(1) * block);
        self
    }

    /// Appends whole rows of halves, four components a texel.
    pub fn write_rows_half(&mut self, texels: &[f16]) -> Result<()> {
        if let Some(value) = texels.iter().find(|v| !v.is_finite()) {
            return Err(Error::Bake(format!(
                "a value is {value} as a 16-bit float, whose range ends at 65504; write 32-bit floats (--format exr32): {}",
                self.path.display()
            )));
        }
        self.write_rows(bytemuck::cast_slice(texels), Depth::Half)
    }

    /// Appends whole rows of floats, four components a texel.
    pub fn write_rows_float(&mut self, texels: &[f32]) -> Result<()> {
        if let Some(value) = texels.iter().find(|v| !v.is_finite()) {
            return Err(Error::Bake(format!("a value is {value}, which no texture may hold: {}", self.path.display())));
        }
        self.write_rows(bytemuck::cast_slice(texels), Depth::Float)
    }

    /// Ends the file and gives the CRC-32 of the texels: components in file order, little-endian.
    pub fn finish(mut self) -> Result<u32> {
        if self.rows != self.height {
            return Err(wrong_rows(&self.path, self.rows, &self.height.to_string()));
        }
        self.compress_pending()?;
        let table: Vec<u8> = self.offsets.iter().flat_map(|o| o.to_le_bytes()).collect();
        let (out, at) = (&mut self.out, self.table);
        let ended = out.seek(SeekFrom::Start(at)).and_then(|_| out.write_all(&table)).and_then(|()| out.flush());
        ended.map_err(|e| io_error(&self.path, e))?;
        Ok(self.crc.finalize())
    }

    fn write_rows(&mut self, bytes: &[u8], depth: Depth) -> Result<()> {
        let row = self.width * 4 * self.depth.size();
        if depth != self.depth || !bytes.len().is_multiple_of(row) {
            let found = bytes.len() / depth.size();
            return Err(wrong_rows(&self.path, found, &format!("rows of {} {:?} components", self.width * 4, self.depth)));
        }
        let rows = bytes.len() / row;
        if rows > self.height - self.rows {
            return Err(wrong_rows(&self.path, self.rows + rows, &self.height.to_string()));
        }
        self.rows += rows;
        update_crc32(&mut self.crc, bytes, self.depth.size());
        let mut rest = bytes;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(self.batch - self.pending.len()));
            self.pending.extend_from_slice(now);
            rest = later;
            if self.pending.len() == self.batch {
                self.compress_pending()?;
            }
        }
        Ok(())
    }

    /// Compresses and writes all pending rows; only the last block of the file may have fewer than 16.
    fn compress_pending(&mut self) -> Result<()> {
        let row = self.width * 4 * self.depth.size();
        let first = self.offsets.len();
        let blocks: Vec<(usize, &[u8])> = self.pending.chunks(row * BLOCK_ROWS).enumerate().collect();
        let chunks: Vec<exr::error::Result<Vec<u8>>> = blocks
            .into_par_iter()
            .map(|(i, texels)| {
                let data = match self.depth {
                    Depth::Half => split_channels::<2>(texels, self.width),
                    Depth::Float => split_channels::<4>(texels, self.width),
                };
                let pixel_size = Vec2(self.width, texels.len() / row);
                let index = BlockIndex { layer: 0, pixel_position: Vec2(0, (first + i) * BLOCK_ROWS), pixel_size, level: Vec2(0, 0) };
                let mut chunk = Vec::new();
                UncompressedBlock { index, data }.compress_to_chunk(&self.headers)?.write(&mut chunk, 1)?;
                Ok(chunk)
            })
            .collect();
        for chunk in chunks {
            let chunk = chunk.map_err(|e| io_error(&self.path, plain(e)))?;
            self.out.write_all(&chunk).map_err(|e| io_error(&self.path, e))?;
            self.offsets.push(self.end);
            self.end += chunk.len() as u64;
        }
        self.pending.clear();
        Ok(())
    }
}

/// Magic number, version and attributes.
fn write_header(headers: &[Header], out: &mut Vec<u8>) -> exr::error::UnitResult {
    let version = MetaData::validate(headers, true)?;
    magic_number::write(out)?;
    version.write(out)?;
    Header::write_all(headers, out, version.has_multiple_layers)
}

/// RGBA texels to what a scan-line block holds: for each row, each channel's samples in turn.
fn split_channels<const SIZE: usize>(texels: &[u8], width: usize) -> Vec<u8> {
    let mut split = vec![0; texels.len()];
    for (to, from) in split.chunks_exact_mut(width * 4 * SIZE).zip(texels.chunks_exact(width * 4 * SIZE)) {
        let (samples, _) = from.as_chunks::<SIZE>();
        for (line, (_, component)) in to.chunks_exact_mut(width * SIZE).zip(CHANNELS) {
            for (to, from) in line.as_chunks_mut::<SIZE>().0.iter_mut().zip(samples.iter().skip(component).step_by(4)) {
                *to = *from;
            }
        }
    }
    split
}

fn plain(error: exr::error::Error) -> io::Error {
    match error {
        exr::error::Error::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

fn io_error(path: &Path, source: io::Error) -> Error {
    Error::Io { action: "write the texture", path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exr::prelude::{ReadChannels, ReadLayers};
    use std::io::Cursor;

    fn ramp(width: usize, height: usize) -> Vec<f32> {
        (0..width * height * 4).map(|i| (i as f32 * 0.618_034).fract() * 200.0 - 100.0).collect()
    }

    fn write(texels: &[f32], width: u32, depth: Depth, rows_at_once: usize) -> (Vec<u8>, u32) {
        let row = width as usize * 4;
        let mut file = Cursor::new(Vec::new());
        let mut writer = ExrWriter::new(&mut file, "t.exr", width, (texels.len() / row) as u32, depth).unwrap();
        for rows in texels.chunks(row * rows_at_once) {
            match depth {
                Depth::Half => writer.write_rows_half(&rows.iter().map(|&v| f16::from_f32(v)).collect::<Vec<_>>()).unwrap(),
                Depth::Float => writer.write_rows_float(rows).unwrap(),
            }
        }
        let crc = writer.finish().unwrap();
        (file.into_inner(), crc)
    }

    /// Texels as the `exr` crate reads them, RGBA by channel name, f32.
    fn read(file: &[u8]) -> Vec<f32> {
        let image = exr::prelude::read()
            .no_deep_data()
            .largest_resolution_level()
            .all_channels()
            .all_layers()
            .all_attributes()
            .non_parallel()
            .from_buffered(Cursor::new(file))
            .unwrap();
        let layer = &image.layer_data[0];
        let find = |name: &str| layer.channel_data.list.iter().find(|c| c.name.eq(name)).unwrap();
        let channels = ["R", "G", "B", "A"].map(|name| find(name).sample_data.values_as_f32().collect::<Vec<_>>());
        (0..channels[0].len()).flat_map(|i| [0, 1, 2, 3].map(|c| channels[c][i])).collect()
    }

    #[test]
    fn floats_come_back_exactly() {
        let texels = ramp(52, 37);
        let (file, crc) = write(&texels, 52, Depth::Float, 5);
        assert_eq!(read(&file), texels);
        assert_eq!(crc, crc32fast::hash(&texels.iter().flat_map(|t| t.to_le_bytes()).collect::<Vec<_>>()));
    }

    #[test]
    fn halves_come_back_exactly() {
        let texels = ramp(52, 37);
        let halves: Vec<f16> = texels.iter().map(|&v| f16::from_f32(v)).collect();
        let (file, crc) = write(&texels, 52, Depth::Half, 37);
        assert_eq!(read(&file), halves.iter().map(|h| h.to_f32()).collect::<Vec<_>>());
        assert_eq!(crc, crc32fast::hash(&halves.iter().flat_map(|t| t.to_le_bytes()).collect::<Vec<_>>()));
    }

    #[test]
    fn bytes_do_not_depend_on_how_rows_arrive() {
        let texels = ramp(24, 150);
        let whole = write(&texels, 24, Depth::Float, 150);
        assert_eq!(write(&texels, 24, Depth::Float, 1), whole);
        assert_eq!(write(&texels, 24, Depth::Float, 17), whole);
    }

    #[test]
    fn bytes_do_not_depend_on_the_memory_and_no_more_rows_wait_than_it_holds() {
        let texels = ramp(24, 150);
        let whole = write(&texels, 24, Depth::Float, 150).0;
        for (memory, batch) in [(0, 16), (24 * 16 * 16 * 3 - 1, 16), (24 * 16 * 16 * 3 * 2, 32)] {
            let mut file = Cursor::new(Vec::new());
            let mut writer = ExrWriter::new(&mut file, "t.exr", 24, 150, Depth::Float).unwrap();
            writer.batch = usize::MAX; // as if there were any number of threads
            let mut writer = writer.with_memory(memory);
            assert_eq!(writer.batch, batch * 24 * 16);
            writer.write_rows_float(&texels).unwrap();
            assert!(writer.pending.capacity() <= writer.batch * 2);
            writer.finish().unwrap();
            assert!(file.into_inner() == whole, "{memory}");
        }
    }

    #[test]
    fn header_holds_nothing_of_machine_time_or_colour() {
        let (file, _) = write(&ramp(8, 20), 8, Depth::Half, 20);
        let meta = MetaData::read_from_buffered(Cursor::new(&file), true).unwrap();
        let header = &meta.headers[0];
        let mut names: Vec<String> = header.all_named_attributes().map(|(name, _)| String::from_utf8(name.to_vec()).unwrap()).collect();
        names.sort();
        // `chunkCount` and `type` are required of files with several parts and allowed in others.
        let wanted = ["channels", "chunkCount", "compression", "dataWindow", "displayWindow", "lineOrder", "pixelAspectRatio"];
        assert_eq!(names, [&wanted[..], &["screenWindowCenter", "screenWindowWidth", "type"]].concat());
        assert_eq!((header.compression, header.line_order), (Compression::ZIP16, LineOrder::Increasing));
        assert_eq!(header.chunk_count, 2);
    }

    #[test]
    fn blocks_stand_in_increasing_order_where_the_table_says() {
        let (file, _) = write(&ramp(8, 100), 8, Depth::Half, 100);
        let table = (0..=file.len() - 56).find(|&at| {
            // The table's first entry points right behind the table.
            u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) == (at + 56) as u64
        });
        let offset = |i: usize| u64::from_le_bytes(file[table.unwrap() + i * 8..][..8].try_into().unwrap()) as usize;
        let rows: Vec<i32> = (0..7).map(|i| i32::from_le_bytes(file[offset(i)..][..4].try_into().unwrap())).collect();
        assert_eq!(rows, [0, 16, 32, 48, 64, 80, 96]);
        assert!((1..7).all(|i| offset(i) > offset(i - 1)));
    }

    #[test]
    fn wrong_rows_and_values_are_errors() {
        let new = || ExrWriter::new(Cursor::new(Vec::new()), "t.exr", 4, 2, Depth::Half).unwrap();
        assert!(new().finish().unwrap_err().to_string().contains("t.exr"));
        assert!(new().write_rows_half(&[f16::ONE; 15]).is_err());
        assert!(new().write_rows_half(&[f16::ONE; 48]).is_err());
        assert!(new().write_rows_float(&[1.0; 16]).is_err());
        let message = new().write_rows_half(&[f16::INFINITY; 16]).unwrap_err().to_string();
        assert!(message.contains("exr32"), "{message}");
    }
}
