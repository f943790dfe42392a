//! The LZO decompressor. Every read and write is checked, whatever the block holds.

use alloc::vec::Vec;

use super::MIDDLE;
use crate::CodecError;
use crate::lz77::{Writer, exactly};

/// One byte of a block gives at most this many bytes.
const DENSEST: usize = 255;

/// Appends the `length` bytes of the original of `block` to `out`. On an error `out` is unchanged.
pub(super) fn block(block: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
    exactly(length, block, DENSEST, out, |writer| {
        instructions(&mut Reader { block, at: 0 }, writer)
    })
}

/// The meaning of an instruction below 16 depends on the number of literals before it: none, fewer
/// than this, or more.
const MANY: usize = 4;

fn instructions(reader: &mut Reader<'_>, writer: &mut Writer<'_>) -> Result<(), CodecError> {
    let mut before = 0;
    if let Some(&first @ 18..) = reader.block.first() {
        reader.at = 1;
        let count = usize::from(first) - 17;
        reader.literals(count, writer)?;
        before = count.min(MANY);
    }
    loop {
        let instruction = usize::from(reader.next()?);
        let (distance, length, literals) = match instruction {
            64.. => {
                let high = usize::from(reader.next()?);
                let distance = 1 + (high << 3 | instruction >> 2 & 7);
                (distance, (instruction >> 5) + 1, instruction & 3)
            }
            32.. => {
                let length = 2 + reader.length(instruction & 31, 31)?;
                let back = reader.next_two()?;
                (1 + (back >> 2), length, back & 3)
            }
            16.. => {
                let length = 2 + reader.length(instruction & 7, 7)?;
                let back = reader.next_two()?;
                let distance = MIDDLE + ((instruction & 8) << 11) + (back >> 2);
                if distance == MIDDLE {
                    let whole = instruction == 17 && back == 0 && reader.at == reader.block.len();
                    return if whole { Ok(()) } else { Err(CodecError::Malformed) };
                }
                (distance, length, back & 3)
            }
            _ if before == 0 => {
                let count = 3 + reader.length(instruction, 15)?;
                reader.literals(count, writer)?;
                before = MANY;
                continue;
            }
            _ => {
                let high = usize::from(reader.next()?);
                let distance = 1 + (high << 2 | instruction >> 2);
                match before {
                    MANY => (distance + 2048, 3, instruction & 3),
                    _ => (distance, 2, instruction & 3),
                }
            }
        };
        writer.repeat(distance, length)?;
        if literals > 0 {
            reader.literals(literals, writer)?;
        }
        before = literals;
    }
}

struct Reader<'a> {
    block: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    #[inline(always)]
    fn next(&mut self) -> Result<u8, CodecError> {
        let byte = self.block.get(self.at).ok_or(CodecError::Malformed)?;
        self.at += 1;
        Ok(*byte)
    }

    #[inline(always)]
    fn next_two(&mut self) -> Result<usize, CodecError> {
        let rest = self.block.get(self.at..).and_then(|rest| rest.first_chunk());
        self.at += 2;
        Ok(usize::from(u16::from_le_bytes(*rest.ok_or(CodecError::Malformed)?)))
    }

    /// The length that an instruction states: `short`, if that is not 0. Otherwise `most`, the
    /// largest value of the instruction's own field, plus a number in the bytes that follow: 255
    /// for each zero byte, plus the first byte that is not zero, which ends it.
    #[inline(always)]
    fn length(&mut self, short: usize, most: usize) -> Result<usize, CodecError> {
        if short > 0 {
            return Ok(short);
        }
        let mut length = most;
        loop {
            match self.next()? {
                0 => length += 255,
                last => return Ok(length + usize::from(last)),
            }
        }
    }

    #[inline(always)]
    fn literals(&mut self, count: usize, writer: &mut Writer<'_>) -> Result<(), CodecError> {
        writer.literals(self.block, self.at, count)?;
        self.at += count;
        Ok(())
    }
}
