//! Bytes in a page: deflated, as base64 in pieces, each in a script element of its own, so that none is a very long string.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

/// Deflated bytes of a piece; a multiple of three, so that only the last piece is padded.
const PIECE: usize = 3 << 20;

/// What a page says of a blob.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Blob {
    /// Names its pieces.
    pub(super) name: String,
    /// What it is an array of: `u8`, `u16`, `f16`, `f32` or `u32`.
    pub(super) kind: &'static str,
    /// Bytes before deflating.
    pub(super) bytes: u64,
    /// Numbers of a row; each is written as the difference to the one above it, as whole numbers, and a row as the lowest bytes of
    /// all of them, then the next, and so on. 0: as it is.
    pub(super) row: usize,
}

/// Whole numbers that wrap around, as which all arrays are written.
pub(super) trait Whole: Copy + Default {
    /// Bytes of one.
    const SIZE: usize;
    /// The number less another.
    fn less(self, other: Self) -> Self;
    /// One of its bytes, the lowest is 0.
    fn byte(self, place: usize) -> u8;
}

macro_rules! whole {
    ($($type:ty),*) => { $(
        impl Whole for $type {
            const SIZE: usize = size_of::<Self>();
            fn less(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn byte(self, place: usize) -> u8 {
                self.to_le_bytes()[place]
            }
        }
    )* };
}
whole!(u8, u16, u32);

/// Writes the pieces of a blob. Numbers of a row stand under each other, and frames that follow each other are alike: their differences
/// deflate better, and better still where the bytes that are nearly always 0 or 255 stand together. On the sample 16-bit texels come to
/// two thirds of what they do as they are.
pub(super) fn write<T: Whole>(blob: &Blob, numbers: impl Iterator<Item = T>, out: &mut dyn Write) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(Pieces { name: &blob.name, waiting: Vec::new(), out }, Compression::fast());
    // Without rows there is nothing above; a line is as long as is good for writing.
    let row = if blob.row == 0 { 1 << 14 } else { blob.row };
    let (mut above, mut line, mut bytes) = (vec![T::default(); row], Vec::with_capacity(row), Vec::new());
    let mut numbers = numbers.peekable();
    while numbers.peek().is_some() {
        line.clear();
        line.extend(numbers.by_ref().take(row));
        bytes.clear();
        if blob.row == 0 {
            bytes.extend(line.iter().flat_map(|&number: &T| (0..T::SIZE).map(move |place| number.byte(place))));
        } else {
            let difference = |place| line.iter().zip(&above).map(move |(number, &before)| number.less(before).byte(place));
            bytes.extend((0..T::SIZE).flat_map(difference));
            above.clear();
            above.extend_from_slice(&line);
        }
        encoder.write_all(&bytes)?;
    }
    encoder.finish()?.end()
}

/// Takes deflated bytes and writes them as script elements.
struct Pieces<'a> {
    name: &'a str,
    waiting: Vec<u8>,
    out: &'a mut dyn Write,
}

impl Pieces<'_> {
    fn put(&mut self, count: usize) -> io::Result<()> {
        let piece: Vec<u8> = self.waiting.drain(..count).collect();
        writeln!(self.out, "<script type=\"text/plain\" data-blob=\"{}\">{}</script>", self.name, STANDARD.encode(piece))
    }

    fn end(mut self) -> io::Result<()> {
        match self.waiting.len() {
            0 => Ok(()),
            left => self.put(left),
        }
    }
}

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        while self.waiting.len() >= PIECE {
            self.put(PIECE)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the page's script makes of a blob.
    fn read(page: &str, name: &str) -> (Vec<u8>, usize) {
        let head = format!("<script type=\"text/plain\" data-blob=\"{name}\">");
        let pieces: Vec<_> = page.split(&head).skip(1).map(|p| p.split('<').next().expect("text")).collect();
        let deflated: Vec<u8> = pieces.iter().flat_map(|p| STANDARD.decode(p).expect("base64")).collect();
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(&deflated[..]), &mut bytes).expect("deflated");
        (bytes, pieces.len())
    }

    fn written<T: Whole>(row: usize, numbers: &[T]) -> Vec<u8> {
        let blob = Blob { name: "texels".into(), kind: "u16", bytes: 0, row };
        let mut page = Vec::new();
        write(&blob, numbers.iter().copied(), &mut page).expect("memory");
        page
    }

    #[test]
    fn rows_are_differences_that_wrap_byte_by_byte() {
        let page = written(2, &[1_u16, 2, 3, 1, 0, 65535, 0]);
        let (bytes, pieces) = read(std::str::from_utf8(&page).expect("text"), "texels");
        // 1, 2; 2, 65535; 65533, 65534; 0: low bytes, then high bytes of each row.
        assert_eq!((bytes, pieces), (vec![1, 2, 0, 0, 2, 255, 0, 255, 253, 254, 255, 255, 0, 0], 1));
    }

    #[test]
    fn long_blob_has_several_pieces_that_join() {
        // Noise does not deflate: 8 MiB become three pieces.
        let mut state = 1_u32;
        let noise: Vec<u32> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state ^ (state >> 15)
        })
        .take(2 << 20)
        .collect();
        let page = written(0, &noise);
        let (bytes, pieces) = read(std::str::from_utf8(&page).expect("text"), "texels");
        assert_eq!(pieces, 3);
        assert!(bytes == noise.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>(), "the bytes come back");
    }
}
