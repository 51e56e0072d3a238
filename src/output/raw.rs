//! Texels alone: four little-endian components a texel, row after row, the top one first. What they mean is in the sidecar.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{update_crc32, wrong_rows};
use crate::{Error, Result};

/// Writes the texels of one texture row by row.
pub struct RawWriter<W: Write> {
    out: W,
    path: PathBuf,
    /// Bytes of a component: 1, 2 or 4.
    size: usize,
    left: usize,
    total: usize,
    crc: crc32fast::Hasher,
}

impl<W: Write> RawWriter<W> {
    /// Begins a file of `width` by `height` texels whose components have `size` bytes; `path` is for messages.
    pub fn new(out: W, path: impl AsRef<Path>, width: u32, height: u32, size: usize) -> Self {
        let total = width as usize * height as usize * 4 * size;
        Self { out, path: path.as_ref().to_path_buf(), size, left: total, total, crc: crc32fast::Hasher::new() }
    }

    /// Appends whole rows: components in native byte order.
    pub fn write_rows(&mut self, native: &[u8]) -> Result<()> {
        self.left = self.left.checked_sub(native.len()).ok_or_else(|| wrong_rows(&self.path, native.len(), &self.total.to_string()))?;
        update_crc32(&mut self.crc, native, self.size);
        write_little_endian(&mut self.out, native, self.size).map_err(Error::io("write a texture", &self.path))
    }

    /// Ends the file and gives the CRC-32 of its bytes.
    pub fn finish(mut self) -> Result<u32> {
        if self.left > 0 {
            return Err(wrong_rows(&self.path, self.total - self.left, &self.total.to_string()));
        }
        self.out.flush().map_err(Error::io("write a texture", &self.path))?;
        Ok(self.crc.finalize())
    }
}

/// Writes components of `size` bytes, given in native byte order.
pub(super) fn write_little_endian(out: &mut dyn Write, native: &[u8], size: usize) -> std::io::Result<()> {
    if cfg!(target_endian = "little") || size == 1 {
        return out.write_all(native);
    }
    let swapped: Vec<u8> = native.chunks_exact(size).flat_map(|sample| sample.iter().rev().copied()).collect();
    out.write_all(&swapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_written_as_they_are_and_counted() {
        let mut out = Vec::new();
        let mut writer = RawWriter::new(&mut out, "t.raw", 1, 2, 2);
        writer.write_rows(bytemuck::cast_slice(&[1_u16, 2, 3, 4])).expect("a row");
        writer.write_rows(bytemuck::cast_slice(&[5_u16, 6, 7, 0x1234])).expect("a row");
        assert!(writer.write_rows(&[0; 8]).is_err(), "a row too many");
        assert!(writer.finish().is_ok());
        assert_eq!(out, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0x34, 0x12]);
        assert!(RawWriter::new(Vec::new(), "t.raw", 1, 2, 2).finish().is_err(), "rows are missing");
    }
}
