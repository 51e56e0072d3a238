//! Entropy coding: rANS symbols, tagged symbols and binary rANS (chapters "Rans Decoding" and "Symbol Decoding" of the bitstream
//! specification).

use super::Result;
use super::bitstream::Bytes;

/// Bits of the smallest precision of a symbol table, and of its index.
const INDEX_BITS: u32 = 12;

/// The state of a range coder that reads its bytes from the end.
#[derive(Debug, Clone)]
struct State<'a> {
    bytes: &'a [u8],
    value: u32,
    /// The state is refilled below this.
    base: u32,
}

impl<'a> State<'a> {
    /// Reads the final state of the encoder: 6, 14, 22 or 30 bits, which the last byte's two upper bits say.
    fn new(bytes: &'a [u8], base: u32) -> Result<Self> {
        let length = bytes.last().map_or(1, |&last| usize::from(last >> 6) + 1);
        let Some((rest, tail)) = bytes.len().checked_sub(length).and_then(|at| bytes.split_at_checked(at)) else {
            return Err("an entropy-coded run is too short for its state".to_owned());
        };
        let mut word = [0; 4];
        word[..length].copy_from_slice(tail);
        word[length - 1] &= 0x3F;
        match u32::from_le_bytes(word).checked_add(base).filter(|&value| value < base << 8) {
            Some(value) => Ok(Self { bytes: rest, value, base }),
            None => Err("an entropy-coded run begins with an impossible state".to_owned()),
        }
    }

    fn refill(&mut self) {
        while self.value < self.base {
            let Some((&last, rest)) = self.bytes.split_last() else { return };
            self.value = self.value << 8 | u32::from(last);
            self.bytes = rest;
        }
    }
}

/// Bits with a constant probability. Reading on past the end is harmless and yields what the state says.
#[derive(Debug, Clone)]
pub(super) struct BitRun<'a> {
    state: State<'a>,
    /// Probability of a one, in 1/256.
    one: u32,
}

impl<'a> BitRun<'a> {
    pub(super) fn new(bytes: &mut Bytes<'a>) -> Result<Self> {
        let one = 256 - u32::from(bytes.u8()?);
        Ok(Self { state: State::new(bytes.block()?, 4096)?, one })
    }

    pub(super) fn read(&mut self) -> bool {
        self.state.refill();
        let (quotient, rest) = (self.state.value >> 8, self.state.value & 0xFF);
        let bit = rest < self.one;
        self.state.value = if bit { quotient * self.one + rest } else { self.state.value - quotient * self.one - self.one };
        bit
    }
}

/// Symbols with their probabilities.
struct SymbolRun<'a> {
    state: State<'a>,
    /// Bits of the sum of all probabilities.
    precision: u32,
    /// Symbols of a probability above 0.
    symbols: Vec<u32>,
    /// Where the range of each of them begins, and the end of the last.
    starts: Vec<u32>,
    /// For the upper 12 bits of a place in the range: the first of `symbols` that covers it.
    index: Vec<u32>,
}

impl<'a> SymbolRun<'a> {
    /// Reads the table of probabilities and the coded bytes. Symbols have up to `bits` bits.
    fn new(bytes: &mut Bytes<'a>, bits: u32) -> Result<Self> {
        let precision = (3 * bits / 2).clamp(INDEX_BITS, 20);
        let (symbols, starts) = read_probabilities(bytes, 1 << precision)?;
        let mut index = Vec::with_capacity(1 << INDEX_BITS);
        let mut symbol = 0;
        for place in (0..1_u32 << precision).step_by(1 << (precision - INDEX_BITS)) {
            while starts.get(symbol + 1).is_some_and(|&end| end <= place) {
                symbol += 1;
            }
            index.push(symbol as u32);
        }
        Ok(Self { state: State::new(bytes.block()?, 4 << precision)?, precision, symbols, starts, index })
    }

    fn read(&mut self) -> u32 {
        self.state.refill();
        let (quotient, place) = (self.state.value >> self.precision, self.state.value & ((1 << self.precision) - 1));
        // The ranges cover all places, so the search ends within them; an interval of the index is at most 256 places wide.
        let mut symbol = self.index[(place >> (self.precision - INDEX_BITS)) as usize] as usize;
        while self.starts[symbol + 1] <= place {
            symbol += 1;
        }
        let (start, end) = (self.starts[symbol], self.starts[symbol + 1]);
        self.state.value = quotient * (end - start) + place - start;
        self.symbols[symbol]
    }
}

/// Symbols of a probability above 0, and where the range of each begins, with the end of the last.
fn read_probabilities(bytes: &mut Bytes<'_>, sum: u32) -> Result<(Vec<u32>, Vec<u32>)> {
    let count = bytes.count()?;
    let (mut symbols, mut starts, mut total) = (Vec::new(), vec![0], 0_u32);
    let mut symbol = 0;
    while symbol < count {
        let head = bytes.u8()?;
        let (tag, mut probability) = (head & 3, u32::from(head >> 2));
        if tag == 3 {
            // A run of symbols that do not occur.
            symbol += probability as usize + 1;
            continue;
        }
        for byte in 0..u32::from(tag) {
            probability |= u32::from(bytes.u8()?) << (8 * byte + 6);
        }
        if probability > 0 {
            // Both fit: a probability has at most 22 bits, the total is at most 2^20 before, and a count 31 bits.
            total += probability;
            symbols.push(symbol as u32);
            starts.push(total);
        }
        if total > sum {
            break;
        }
        symbol += 1;
    }
    if total != sum || symbol > count {
        return Err(format!("the probabilities of a symbol table sum to {total}, wanted {sum}"));
    }
    Ok((symbols, starts))
}

/// Decodes `count` symbols, which stand in groups of `components`. The caller vouches for the room that `count` takes.
pub(super) fn read_symbols(bytes: &mut Bytes<'_>, count: usize, components: usize) -> Result<Vec<u32>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    match bytes.u8()? {
        0 => read_tagged(bytes, count, components),
        1 => {
            let bits = u32::from(bytes.u8()?);
            if !(1..=18).contains(&bits) {
                return Err(format!("symbols have {bits} bits, wanted 1 to 18"));
            }
            let mut run = SymbolRun::new(bytes, bits)?;
            Ok((0..count).map(|_| run.read()).collect())
        }
        scheme => Err(format!("the symbol coding is number {scheme}, wanted 0 or 1")),
    }
}

/// A coded number of bits for each group, then the values of its components in that many bits.
fn read_tagged(bytes: &mut Bytes<'_>, count: usize, components: usize) -> Result<Vec<u32>> {
    let mut run = SymbolRun::new(bytes, 5)?;
    let mut bits = bytes.bits();
    let mut symbols = Vec::with_capacity(count);
    while symbols.len() < count {
        let width = run.read();
        if width > 32 {
            return Err(format!("a tagged value has {width} bits, wanted at most 32"));
        }
        for _ in 0..components.min(count - symbols.len()) {
            symbols.push(bits.read(width)?);
        }
    }
    bytes.skip(&bits)?;
    Ok(symbols)
}

/// Numbers whose sign stands in the lowest bit.
pub(super) fn signed(symbol: u32) -> i32 {
    let magnitude = (symbol >> 1) as i32;
    if symbol & 1 == 0 { magnitude } else { -magnitude - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_one_symbol_needs_no_bytes() {
        // Raw symbols of 1 bit; two symbols, the first absent, the second 4096/4096; a state of one byte.
        let head = [1, 1, 2, 0b0000_0011, 0b0000_0010, 0x40, 0x00, 1, 0];
        let (mut bytes, wanted) = (Bytes::new(&head), vec![1; 70]);
        assert_eq!(read_symbols(&mut bytes, 70, 1).unwrap(), wanted);
        assert_eq!(bytes.left(), 0);
    }

    #[test]
    fn tables_that_do_not_sum_up_are_refused() {
        assert!(read_probabilities(&mut Bytes::new(&[1, 0b0000_0010, 0x40, 0x01]), 4096).is_err());
        assert!(read_probabilities(&mut Bytes::new(&[2, 0b0000_0010, 0x40, 0x00, 0b1111_1111]), 4096).is_err());
        assert!(read_probabilities(&mut Bytes::new(&[0]), 4096).is_err());
        assert_eq!(read_probabilities(&mut Bytes::new(&[1, 0b0000_0010, 0x40, 0x00]), 4096).unwrap(), (vec![0], vec![0, 4096]));
    }

    #[test]
    fn states_that_cannot_be_are_refused() {
        assert!(State::new(&[], 4096).is_err());
        assert!(State::new(&[0x80], 4096).is_err());
        assert!(State::new(&[0xFF, 0xFF, 0xBF], 4096).is_err());
        assert_eq!(State::new(&[7, 3, 0x41], 4096).unwrap().value, 4096 + 0x103);
    }

    #[test]
    fn signs_stand_in_the_lowest_bit() {
        assert_eq!([0, 1, 2, 3, u32::MAX - 1, u32::MAX].map(signed), [0, -1, 1, -2, i32::MAX, i32::MIN]);
    }
}
