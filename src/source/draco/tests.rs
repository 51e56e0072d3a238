//! Samples against what Draco's own decoder finds in them (`tests/data/draco/make.mjs`), and damaged ones against the clock.

use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::*;

struct Sample {
    name: String,
    bytes: Vec<u8>,
    expected: Expected,
    hash: String,
}

fn samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/draco");
    let list = std::fs::read_to_string(folder.join("expected.txt")).unwrap();
    let read = |line: &str| {
        let fields: Vec<_> = line.split(' ').collect();
        let [name, points, triangles, hash] = fields[..] else { panic!("{line}") };
        let expected = Expected { points: points.parse().unwrap(), triangles: Some(triangles.parse().unwrap()) };
        let bytes = std::fs::read(folder.join(name).with_extension("drc")).unwrap();
        Sample { name: name.to_owned(), bytes, expected, hash: hash.to_owned() }
    };
    list.lines().map(read).collect()
}

/// Grants what a file of 64 KiB may unfold to.
fn grant() -> impl Fn(u64, u64) -> Result<()> {
    let left = std::cell::Cell::new(36_u64 << 20);
    move |count, size| {
        let rest = count.checked_mul(size).and_then(|size| left.get().checked_sub(size));
        left.set(rest.ok_or("too much")?);
        Ok(())
    }
}

fn hash(decoded: &Decoded, points: usize) -> String {
    let mut hash = Sha256::new();
    decoded.triangles.as_flattened().iter().for_each(|index| hash.update(index.to_le_bytes()));
    for attribute in &decoded.attributes {
        hash.update(attribute.id.to_le_bytes());
        let size = attribute.components * attribute.kind.size();
        for point in 0..points {
            let value = attribute.value.as_ref().map_or(point, |value| value[point] as usize);
            hash.update(&attribute.bytes[value * size..][..size]);
        }
    }
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn samples_decode_bit_by_bit() {
    let samples = samples();
    assert!(samples.len() >= 12);
    for sample in samples {
        let decoded = decode(&sample.bytes, sample.expected, &grant()).unwrap_or_else(|e| panic!("{}: {e}", sample.name));
        assert_eq!(hash(&decoded, sample.expected.points), sample.hash, "{}", sample.name);
    }
}

#[test]
fn streams_that_end_early_are_refused() {
    for sample in samples() {
        for length in 0..sample.bytes.len() {
            // The last byte may hold padding only; nothing else may be missing.
            let result = decode(&sample.bytes[..length], sample.expected, &grant());
            assert!(result.is_err(), "{} of {length} bytes", sample.name);
        }
    }
}

#[test]
fn counts_that_differ_from_the_accessors_are_refused() {
    for sample in samples() {
        let Expected { points, triangles } = sample.expected;
        let more = decode(&sample.bytes, Expected { points: points + 1, triangles }, &grant()).unwrap_err();
        assert!(more.contains(&format!("{points} vertices, the accessor of POSITION {}", points + 1)), "{more}");
        let fewer = decode(&sample.bytes, Expected { points, triangles: triangles.map(|n| n - 1) }, &grant()).unwrap_err();
        assert!(fewer.contains("triangles, the accessor of the indices"), "{fewer}");
        assert!(decode(&sample.bytes, sample.expected, &|_, _| Err("no room".to_owned())).is_err());
    }
}

/// Reproducible noise.
struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[test]
fn damaged_streams_neither_panic_nor_hang() {
    const ROUNDS: usize = 100_000;
    let samples = samples();
    let mut noise = Noise(0x5EED);
    let mut decoded = 0;
    for _ in 0..ROUNDS {
        let sample = &samples[noise.below(samples.len())];
        let mut bytes = sample.bytes.clone();
        for _ in 0..=noise.below(4) {
            // Behind the signature, and in the numbers at the front as often as everywhere.
            let end = if noise.below(2) == 0 { bytes.len().min(64) } else { bytes.len() };
            let at = 7 + noise.below(end - 7);
            match noise.below(4) {
                0 => bytes[at] ^= 1 << noise.below(8),
                1 => bytes[at] = noise.below(256) as u8,
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, [0, 1, 127, 128, 255][noise.below(5)]),
            }
        }
        let start = Instant::now();
        if let Ok(mesh) = decode(&bytes, sample.expected, &grant()) {
            decoded += 1;
            assert!(mesh.triangles.as_flattened().iter().all(|&i| (i as usize) < sample.expected.points));
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{} with {bytes:?}", sample.name);
    }
    // Damage to values goes unnoticed, other damage does not.
    assert!(decoded > ROUNDS / 100 && decoded < ROUNDS / 2, "{decoded}");
}

/// Symbols that merge the hub of a large fan with a new part again and again: linear all the same.
#[test]
fn merging_a_large_fan_repeatedly_takes_linear_time() {
    const MERGES: usize = 40_000;
    const FAN: usize = 160_000;
    let (center, split, right, end) = ("0", "100", "101", "111");
    let text = [end.repeat(MERGES + 1), right.repeat(FAN), [split, center, center].concat().repeat(MERGES)].concat();
    let octets = text.as_bytes().chunks(8);
    let symbols: Vec<u8> = octets.map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | (bit - b'0'))).collect();
    let count = 4 * MERGES + FAN + 1;
    let mut bytes = b"DRACO\x02\x02\x01\x01\0\0\0".to_vec();
    let varint = |mut value: usize, bytes: &mut Vec<u8>| {
        while value > 0x7F {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
    };
    for (number, separator) in [(3 * MERGES + FAN + 3, None), (count, Some(0)), (count, None), (MERGES, Some(0)), (symbols.len(), None)] {
        varint(number, &mut bytes);
        bytes.extend(separator);
    }
    bytes.extend(&symbols);
    // The one part that is left has a boundary: its bit is zero. No attributes.
    bytes.extend([255, 1, 1, 0]);
    let expected = Expected { points: 2 * MERGES + FAN + 3, triangles: Some(count) };
    let start = Instant::now();
    let result = decode(&bytes, expected, &|_, _| Ok(()));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(result.map(|mesh| mesh.triangles.len()), Ok(count));
}
