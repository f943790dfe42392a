//! The header and the block headers of a zstd frame (RFC 8878, section 3.1.1).
//!
//! They are checked before a decoder gets the frame, so that no memory is allocated for false
//! claims.

#[cfg(any(not(feature = "all"), test))]
use alloc::vec::Vec;

use crate::CodecError;

/// The largest original of one block (RFC 8878, section 3.1.1.2). Bytes.
pub(super) const LARGEST_BLOCK: u64 = 128 << 10;

/// The facts that a frame states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// The length of the original, if the frame states it.
    pub(super) content: Option<u64>,
    /// The longest original that the blocks can give.
    pub(super) most: u64,
    /// The longest distance of a match.
    pub(super) window: u64,
    /// The position of the first block.
    pub(super) blocks: usize,
}

impl Frame {
    /// Reads the header and all block headers.
    ///
    /// # Errors
    /// `TooLarge` if the stated length is above the limit; `Malformed` if the frame does not end
    /// with the last byte, or has a checksum or a dictionary number, which this codec never writes.
    pub(super) fn read(bytes: &[u8], limit: usize) -> Result<Frame, CodecError> {
        let mut rest = bytes;
        let descriptor = take(&mut rest, 1)? as u8;
        let (checksum, reserved, dictionary) =
            (descriptor & 4 != 0, descriptor & 8 != 0, descriptor & 3 != 0);
        if checksum || reserved || dictionary {
            return Err(CodecError::Malformed);
        }
        let single = descriptor & 32 != 0;
        let window = if single { 0 } else { window(take(&mut rest, 1)?) };
        let content = match descriptor >> 6 {
            0 if !single => None,
            0 => Some(take(&mut rest, 1)?),
            1 => Some(take(&mut rest, 2)? + 256),
            2 => Some(take(&mut rest, 4)?),
            _ => Some(take(&mut rest, 8)?),
        };
        let window = if single { content.unwrap_or(0) } else { window };
        let blocks = bytes.len() - rest.len();
        if content.is_some_and(|content| content > limit as u64) {
            return Err(CodecError::TooLarge);
        }
        Ok(Frame { content, most: read_blocks(rest, window.min(LARGEST_BLOCK))?, window, blocks })
    }
}

/// The longest original that the blocks can give; one block gives at most `largest` bytes.
fn read_blocks(mut bytes: &[u8], largest: u64) -> Result<u64, CodecError> {
    let mut most = 0;
    loop {
        let header = take(&mut bytes, 3)?;
        let size = header >> 3;
        let (stored, original) = match header >> 1 & 3 {
            0 => (size, size),
            1 => (1, size),
            2 => (size, largest),
            _ => return Err(CodecError::Malformed),
        };
        if size > largest || stored > bytes.len() as u64 {
            return Err(CodecError::Malformed);
        }
        bytes = &bytes[stored as usize..];
        most += original;
        if header & 1 != 0 {
            return if bytes.is_empty() { Ok(most) } else { Err(CodecError::Malformed) };
        }
    }
}

/// The window size: a power of two, plus eighths of it.
fn window(descriptor: u64) -> u64 {
    let base = 1024 << (descriptor >> 3);
    base + base / 8 * (descriptor & 7)
}

/// Takes the next number of `size` bytes, little-endian.
fn take(bytes: &mut &[u8], size: usize) -> Result<u64, CodecError> {
    let (number, rest) = bytes.split_at_checked(size).ok_or(CodecError::Malformed)?;
    *bytes = rest;
    Ok(number.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

/// Appends the header, without magic bytes, of a frame that states its length and whose window is
/// its length.
#[cfg(any(not(feature = "all"), test))]
pub(super) fn write_header(length: usize, out: &mut Vec<u8>) {
    let (flag, number, size) = match length {
        0..256 => (0, length, 1),
        256..65_792 => (1, length - 256, 2),
        65_792..=0xffff_ffff => (2, length, 4),
        _ => (3, length, 8),
    };
    out.push(flag << 6 | 32);
    out.extend_from_slice(&(number as u64).to_le_bytes()[..size]);
}

/// Appends an uncompressed block that is not the last.
#[cfg(any(not(feature = "all"), test))]
pub(super) fn raw_block(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32 * 8).to_le_bytes()[..3]);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        // A single segment of two bytes, in one raw block.
        let frame = Frame::read(&[0x20, 2, 0x11, 0, 0, 7, 8], 2);
        assert_eq!(frame, Ok(Frame { content: Some(2), most: 2, window: 2, blocks: 2 }));
        assert_eq!(Frame::read(&[0x20, 2, 0x11, 0, 0, 7, 8], 1), Err(CodecError::TooLarge));
        // A window of 1 KiB and an eighth, and a block of 1000 bytes that are the same.
        let frame = Frame::read(&[0, 1, 0x43, 0x1f, 0, 7], 9);
        assert_eq!(frame, Ok(Frame { content: None, most: 1000, window: 1152, blocks: 2 }));
    }

    #[test]
    fn bytes_after_or_within_the_last_block_are_malformed() {
        let frame = [0x20, 2, 0x11, 0, 0, 7, 8, 9];
        for length in [0, 1, 2, 3, 4, 5, 6, 8] {
            assert_eq!(Frame::read(&frame[..length], 2), Err(CodecError::Malformed), "{length}");
        }
    }

    #[test]
    fn checksums_and_dictionary_numbers_are_malformed() {
        for flag in [1, 2, 3, 4, 8] {
            let frame = [0x20 | flag, 2, 0x11, 0, 0, 7, 8];
            assert_eq!(Frame::read(&frame, 2), Err(CodecError::Malformed), "{flag}");
        }
    }
}
