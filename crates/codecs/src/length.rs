//! The length of the original, as LEB128 in at most four bytes, before a block whose format does
//! not state it.

use alloc::vec::Vec;

use crate::CodecError;

/// Appends `length` to `out`.
pub(crate) fn write(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// Reads the length, at most `limit`, and returns it with the block that follows.
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
