//! Bytes and bits of a Draco bitstream, little-endian, least significant bit first. Every read is checked.

use super::Result;

/// A place in the encoded bytes.
#[derive(Debug, Clone)]
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Bytes not read yet.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| format!("{count} bytes are wanted, {} are left", self.rest.len()))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    pub(super) fn f32(&mut self) -> Result<f32> {
        Ok(f32::from_le_bytes(self.array()?))
    }

    /// A number in groups of 7 bits, the lowest first.
    pub(super) fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a number has more than 64 bits".to_owned())
    }

    /// A count or an index: it fits 31 bits, as everywhere in Draco.
    pub(super) fn count(&mut self) -> Result<usize> {
        let value = self.varint()?;
        let fits = i32::try_from(value).ok().and_then(|v| usize::try_from(v).ok());
        fits.ok_or_else(|| format!("a count is {value}, more than 31 bits hold"))
    }

    /// As many bytes as a number in front of them says.
    pub(super) fn block(&mut self) -> Result<&'a [u8]> {
        let size = self.varint()?;
        self.take(usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// The rest as bits, without taking it.
    pub(super) fn bits(&self) -> Bits<'a> {
        Bits { bytes: self.rest, at: 0 }
    }

    /// Takes what was read as bits, up to the next whole byte.
    pub(super) fn skip(&mut self, bits: &Bits<'_>) -> Result<()> {
        self.take(bits.at.div_ceil(8)).map(drop)
    }
}

/// Single bits.
#[derive(Debug, Clone)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// In bits.
    at: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next `count` bits, at most 32.
    pub(super) fn read(&mut self, count: u32) -> Result<u32> {
        let (first, shift) = (self.at / 8, self.at % 8);
        let end = self.at + count as usize;
        let Some(bytes) = self.bytes.get(first..end.div_ceil(8)) else {
            return Err("the data ends within a run of bits".to_owned());
        };
        let mut word = [0; 8];
        // At most 7 + 32 bits, so 5 bytes.
        word[..bytes.len()].copy_from_slice(bytes);
        self.at = end;
        Ok(((u64::from_le_bytes(word) >> shift) & ((1 << count) - 1)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_groups_of_seven_bits() {
        let mut bytes = Bytes::new(&[0x05, 0xAC, 0x02, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]);
        assert_eq!((bytes.varint().unwrap(), bytes.varint().unwrap()), (5, 300));
        assert!(bytes.count().is_err());
        assert!(Bytes::new(&[0xFF; 12]).varint().is_err());
        assert!(Bytes::new(&[0x80]).varint().is_err());
    }

    #[test]
    fn bits_come_lowest_first() {
        let mut bytes = Bytes::new(&[0b1010_0110, 0xFF, 0x12, 0x34]);
        let mut bits = bytes.bits();
        assert_eq!((bits.read(1).unwrap(), bits.read(3).unwrap(), bits.read(5).unwrap()), (0, 0b011, 0b11010));
        bytes.skip(&bits).unwrap();
        assert_eq!(bytes.left(), 2);
        assert!(bytes.bits().read(17).is_err());
        assert_eq!(bytes.bits().read(0).unwrap(), 0);
    }
}
