//! The outer shell of a model: GLB chunks or bare JSON (glTF 2.0, section 4.4).

use std::io::{self, Read};
use std::ops::Range;

use crate::Fault;
use crate::warning::{Code, Warnings};

const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Where the JSON and the binary chunk stand in the file's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) json: Range<usize>,
    pub(super) bin: Option<Range<usize>>,
}

/// A GLB counts its bytes in 32 bits.
const MOST_BYTES: u64 = 1 << 32;
/// As much of a file as shows that it is no model.
const HEAD: u64 = 4096;

/// Reads a model to its end, or as much as shows that it is none: a disk image or an endless stream is not taken into memory.
pub(crate) fn read_whole(mut reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.by_ref().take(HEAD).read_to_end(&mut bytes)?;
    if locate_json(&bytes).is_none() && !bytes.starts_with(b"glTF") && !is_blank(&bytes) {
        return Ok(bytes);
    }
    reader.take(MOST_BYTES).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 4 GiB, which no model may have"));
    }
    Ok(bytes)
}

/// Whether there is nothing but spaces, so far.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.strip_prefix(BOM).unwrap_or(bytes).iter().all(u8::is_ascii_whitespace)
}

/// Where bare JSON begins, if it does.
fn locate_json(bytes: &[u8]) -> Option<usize> {
    let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let first = bytes[start..].iter().find(|b| !b.is_ascii_whitespace());
    (first == Some(&b'{')).then_some(start)
}

/// Finds the JSON and the binary chunk.
pub(super) fn locate(bytes: &[u8], warnings: &mut Warnings) -> Result<Layout, Fault> {
    if bytes.starts_with(b"glTF") {
        return locate_chunks(bytes, warnings);
    }
    match locate_json(bytes) {
        Some(start) => Ok(Layout { json: start..bytes.len(), bin: None }),
        None if is_blank(bytes) => Err(Fault::new("", "the file is empty", "export it again")),
        None => Err(not_a_model(bytes)),
    }
}

fn not_a_model(bytes: &[u8]) -> Fault {
    let (what, remedy) = match bytes {
        b if b.starts_with(b"version https://git-lfs") => ("the file is a Git LFS pointer, not the model itself", "run `git lfs pull`"),
        b if b.starts_with(b"Kaydara FBX") => ("the file is FBX, not glTF", "export it as .glb, for example from Blender"),
        b if b.starts_with(b"PK\x03\x04") => ("the file is a ZIP archive, not glTF", "unpack it and pass the .glb or .gltf in it"),
        _ => (
            "the file is neither a GLB (it does not begin with `glTF`) nor JSON (it does not begin with `{`)",
            "export it as .glb or .gltf",
        ),
    };
    Fault::new("", what, remedy)
}

fn locate_chunks(bytes: &[u8], warnings: &mut Warnings) -> Result<Layout, Fault> {
    const AGAIN: &str = "the file is damaged; export or download it again";
    let (Some(version), Some(length)) = (word(bytes, 4), word(bytes, 8)) else {
        return Err(Fault::new("", format!("the GLB header has {} bytes instead of {HEADER}", bytes.len()), AGAIN));
    };
    if version != 2 {
        let remedy = "convert it to glTF 2.0, for example with `npx gltf-pipeline -i old.glb -o new.glb`";
        return Err(Fault::new("", format!("the GLB has version {version}, wanted 2"), remedy));
    }
    let length = length as usize;
    if length > bytes.len() {
        return Err(Fault::new("", format!("the GLB header says {length} bytes, the file has {}", bytes.len()), AGAIN));
    }
    let trailing = bytes.len() - length;
    warnings.add(Code::JsonMended, u64::from(trailing > 0), || format!("{trailing} bytes after the end of the GLB were left aside"));

    let mut at = HEADER;
    let (mut json, mut bin) = (None, None);
    let mut number = 0;
    while at < length {
        let (Some(size), Some(kind)) = (word(bytes, at), word(bytes, at + 4)) else {
            return Err(Fault::new("", format!("the header of GLB chunk {number} at byte {at} is cut off"), AGAIN));
        };
        let start = at + CHUNK_HEADER;
        let left = length.saturating_sub(start);
        if start > length || size as usize > left {
            return Err(Fault::new("", format!("GLB chunk {number} at byte {at} says {size} bytes, {left} are left"), AGAIN));
        }
        let end = start + size as usize;
        match (number, kind) {
            (0, JSON) => json = Some(start..end),
            (0, _) => return Err(Fault::new("", format!("the first GLB chunk has type {kind:#010x}, wanted JSON ({JSON:#010x})"), AGAIN)),
            (_, BIN) if bin.is_none() => bin = Some(start..end),
            _ => {}
        }
        at = end;
        number += 1;
    }
    let json = json.ok_or_else(|| Fault::new("", "the GLB has no JSON chunk", AGAIN))?;
    let start = if bytes[json.clone()].starts_with(BOM) { json.start + BOM.len() } else { json.start };
    // Some writers pad the JSON with zeros instead of spaces.
    let padding = bytes[start..json.end].iter().rev().take_while(|&&b| b == 0).count();
    Ok(Layout { json: start..json.end - padding, bin })
}

/// Little-endian word at a byte offset, or none past the end.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glb(chunks: &[(u32, &[u8])]) -> Vec<u8> {
        let length = HEADER + chunks.iter().map(|c| CHUNK_HEADER + c.1.len()).sum::<usize>();
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend((length as u32).to_le_bytes());
        for (kind, data) in chunks {
            bytes.extend((data.len() as u32).to_le_bytes());
            bytes.extend(kind.to_le_bytes());
            bytes.extend(*data);
        }
        bytes
    }

    #[test]
    fn chunks_are_found() {
        let bytes = glb(&[(JSON, b"{}  "), (7, b"unknown!"), (BIN, b"1234")]);
        let layout = locate(&bytes, &mut Warnings::default()).unwrap();
        assert_eq!(&bytes[layout.json], b"{}  ");
        assert_eq!(&bytes[layout.bin.unwrap()], b"1234");
    }

    #[test]
    fn what_is_no_model_is_not_read_to_its_end() {
        for byte in [0, b'y', 0xFF] {
            let bytes = read_whole(io::repeat(byte)).unwrap();
            assert!(bytes.len() as u64 <= HEAD && locate(&bytes, &mut Warnings::default()).is_err());
        }
        let long = |head: &[u8]| [head, &[b' '; 9000], b"{}"].concat();
        for bytes in [long(b""), long(BOM), long(b"glTF"), long(b"{"), b"gl".to_vec(), Vec::new()] {
            assert_eq!(read_whole(&bytes[..]).unwrap(), bytes);
        }
    }

    #[test]
    fn every_cut_is_an_error() {
        let bytes = glb(&[(JSON, b"{}  "), (BIN, b"1234")]);
        for end in 0..bytes.len() {
            assert!(locate(&bytes[..end], &mut Warnings::default()).is_err(), "{end}");
        }
    }

    #[test]
    fn trailing_bytes_are_counted_and_a_long_chunk_is_refused() {
        let mut bytes = glb(&[(JSON, b"{}  ")]);
        bytes.push(0);
        let mut warnings = Warnings::default();
        assert!(locate(&bytes, &mut warnings).is_ok());
        assert_eq!(warnings.list()[0].code, Code::JsonMended);
        bytes[HEADER..HEADER + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let fault = locate(&bytes, &mut Warnings::default()).unwrap_err();
        assert!(fault.problem.contains("4294967295 bytes, 4 are left"), "{fault}");
    }

    #[test]
    fn a_byte_order_mark_is_tolerated() {
        let layout = locate(b"\xEF\xBB\xBF {}", &mut Warnings::default()).unwrap();
        assert_eq!(layout, Layout { json: 3..6, bin: None });
    }
}
