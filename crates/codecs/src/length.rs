//! The length of the original before a block that does not tell it: LEB128, at most four bytes.

use alloc::vec::Vec;

use crate::CodecError;

pub(crate) fn write(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// The length, not above `limit`, and the block after it.
pub(crate) fn read(input: &[u8], limit: usize) -> Result<(usize, &[u8]), CodecError> {
    let mut length = 0;
    // Four groups of seven bits: 256 MiB, more than any limit in use.
    for (index, &byte) in input.iter().take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return match length > limit {
                true => Err(CodecError::TooLarge),
                false => Ok((length, &input[index + 1..])),
            };
        }
    }
    Err(CodecError::Malformed)
}
