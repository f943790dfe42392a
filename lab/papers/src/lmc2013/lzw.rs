//! LZW with codes of nine bits (section 8.2.3): "9 bits was optimal for our data".

use groupwire_codecs::{Codec, CodecError, Coder, Memory, Options, OptionsError};

/// Codes of nine bits, most significant first: 256 for single bytes, and as many for strings that
/// occurred. Once all are used the dictionary stays as it is, as in the code that the paper took
/// (by M. Nelson). The length of the message stands in front, in place of that code's end mark:
/// seven bits in each byte, the lowest first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lzw9;

const BITS: usize = 9;
const CODES: usize = 1 << BITS;
/// The first code that stands for a string of several bytes.
const FIRST: usize = 256;
/// The slots of the hash table, four for each string.
const SLOTS: usize = 4 * (CODES - FIRST);
/// The most bytes of the length in front.
const MAX_LENGTH: usize = 5;

impl Codec for Lzw9 {
    fn name(&self) -> &'static str {
        "lzw"
    }

    fn number(&self) -> u8 {
        6
    }

    fn coder(&self, _: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        Ok(Box::new(LzwCoder { next: Box::new([(0, 0); SLOTS]), strings: Vec::new() }))
    }
}

struct LzwCoder {
    /// A hash table: for a code and a byte, whose number is never 0, the code of the string that is
    /// longer by that byte.
    next: Box<[(u32, u16); SLOTS]>,
    /// For each code from [`FIRST`] on: its string without the last byte, and its last byte.
    strings: Vec<(u16, u8)>,
}

impl Coder for LzwCoder {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let mut length = input.len();
        while length >= 0x80 {
            out.push(length as u8 | 0x80);
            length >>= 7;
        }
        out.push(length as u8);
        self.next.fill((0, 0));
        let mut bits = Writer { out, pending: 0, count: 0 };
        let mut free = FIRST;
        let mut bytes = input.iter().copied();
        let Some(mut code) = bytes.next().map(usize::from) else { return };
        for byte in bytes {
            let (place, longer) = self.find(code, byte);
            match longer {
                None => {
                    bits.put(code);
                    if free < CODES {
                        self.next[place] = (number(code, byte), free as u16);
                        free += 1;
                    }
                    code = byte.into();
                }
                Some(longer) => code = longer.into(),
            }
        }
        bits.put(code);
        bits.end();
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let start = out.len();
        let result = self.read(input, limit, out);
        if result.is_none() {
            out.truncate(start);
        }
        result.ok_or(CodecError::Malformed)
    }

    fn memory(&self) -> Memory {
        Memory { compress: size_of_val(&*self.next), decompress: 4 * self.strings.capacity() }
    }
}

impl LzwCoder {
    /// The place of a code and a byte in the table, and the longer string's code if it is there.
    fn find(&self, code: usize, byte: u8) -> (usize, Option<u16>) {
        let number = number(code, byte);
        // A multiplication by a large odd number spreads neighbours over the table.
        let mut place = (number.wrapping_mul(0x9e37_79b1) >> 20) as usize % SLOTS;
        loop {
            match self.next[place] {
                (0, _) => return (place, None),
                (known, longer) if known == number => return (place, Some(longer)),
                _ => place = (place + 1) % SLOTS,
            }
        }
    }

    /// Appends the original to `out`. `None` if the input is malformed or its original too long.
    fn read(&mut self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Option<()> {
        let last = input.iter().take(MAX_LENGTH).position(|byte| *byte < 0x80)?;
        let (length, codes) = input.split_at(last + 1);
        let length = length.iter().rev().fold(0, |all, byte| all << 7 | usize::from(byte & 0x7f));
        if length > limit {
            return None;
        }
        let end = out.len() + length;
        self.strings.clear();
        let mut codes = Reader { bytes: codes, pending: 0, count: 0 };
        let mut last: Option<u16> = None;
        let mut string = Vec::new();
        while out.len() < end {
            let code = codes.take()?;
            let known = FIRST + self.strings.len();
            let is_new = usize::from(code) == known && known < CODES;
            if usize::from(code) >= known && !is_new {
                return None;
            }
            // A code that is only now made stands for the last string and its first byte.
            self.spell(if is_new { last? } else { code }, &mut string);
            let first = *string.last()?;
            if let Some(last) = last
                && known < CODES
            {
                self.strings.push((last, first));
            }
            out.extend(string.iter().rev());
            if is_new {
                out.push(first);
            }
            last = Some(code);
        }
        (out.len() == end && codes.bytes.is_empty()).then_some(())
    }

    /// The bytes of a code, the last first.
    fn spell(&self, mut code: u16, string: &mut Vec<u8>) {
        string.clear();
        while let Some(&(shorter, byte)) =
            usize::from(code).checked_sub(FIRST).and_then(|at| self.strings.get(at))
        {
            string.push(byte);
            code = shorter;
        }
        string.push(code as u8);
    }
}

fn number(code: usize, byte: u8) -> u32 {
    (code as u32) << 8 | u32::from(byte) | 1 << 24
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    pending: u32,
    count: usize,
}

impl Writer<'_> {
    fn put(&mut self, code: usize) {
        self.pending = self.pending << BITS | code as u32;
        self.count += BITS;
        while self.count >= 8 {
            self.count -= 8;
            self.out.push((self.pending >> self.count) as u8);
        }
    }

    fn end(self) {
        if self.count > 0 {
            self.out.push((self.pending << (8 - self.count)) as u8);
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    pending: u32,
    count: usize,
}

impl Reader<'_> {
    fn take(&mut self) -> Option<u16> {
        while self.count < BITS {
            let (&byte, rest) = self.bytes.split_first()?;
            self.pending = self.pending << 8 | u32::from(byte);
            self.count += 8;
            self.bytes = rest;
        }
        self.count -= BITS;
        Some((self.pending >> self.count) as u16 & (CODES - 1) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_nine_bits() {
        let mut packed = Vec::new();
        Lzw9.compress(b"abab", &mut packed);
        // The length, then a, b and the string ab: 27 bits.
        assert_eq!(packed, [4, 0b0011_0000, 0b1001_1000, 0b1010_0000, 0b0000_0000]);
    }
}
