//! LZF: a simple and fast Lempel-Ziv codec.
//!
//! ```text
//! 000LLLLL                    1 + L literals follow
//! LLLDDDDD D                  copy 2 + L bytes from 1 + D back (13 bits, the high ones first); L from 1 to 6
//! 111DDDDD L D                copy 9 + L bytes from 1 + D back
//! ```
//!
//! This is the block format of LibLZF. The blocks of LZFX are the same; only the headers that the
//! two programs write before blocks in files differ, and this codec has no such header.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::lz77::{BlockCoder, STRIDE, Table, Writer, exactly, four, same, same_before};
use crate::{Codec, CodecError, Coder, Options, OptionsError};

/// The length of the original as a LEB128 number, then an LZF block.
#[derive(Debug, Clone, Copy)]
pub struct Lzf;

impl Codec for Lzf {
    fn name(&self) -> &'static str {
        "lzf"
    }

    fn number(&self) -> u8 {
        5
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        options.expect_none(self.name())?;
        Ok(Box::new(BlockCoder::new(compress, decompress)))
    }
}

/// The longest distance of a copy: 13 bits.
const WINDOW: usize = 8192;
/// The shortest copy, in bytes.
const SHORTEST: usize = 3;
/// The longest copy, in bytes.
const LONGEST: usize = 264;
/// The longest copy whose instruction takes two bytes.
const SHORT_COPY: usize = 8;
/// The most literals after one instruction byte.
const LITERALS: usize = 32;

/// After 2^5 bytes without a copy only every second position is tried, after 2^6 every third, and
/// so on.
const SKIP_BITS: u32 = 5;

fn compress(input: &[u8], table: &mut Table, out: &mut Vec<u8>) {
    let start = out.len();
    // A copy instruction is at least one byte shorter than the copied bytes, which pays for the
    // instruction byte of the literals after it.
    out.resize(start + input.len() + input.len() / LITERALS + 1 + STRIDE, 0);
    let mut writer = Writer { bytes: &mut out[start..], at: 0 };
    let mut positions = table.begin(input.len());
    // Four bytes are read at once.
    let end = input.len().saturating_sub(4);
    let (mut at, mut done) = (0, 0);
    while at < end {
        let sequence = three(input, at);
        let distance = positions.note(sequence, at);
        // The distance is checked last, because it is the rarer reason to fail.
        let from = at.saturating_sub(distance);
        if three(input, from) != sequence || distance > at.min(WINDOW) {
            at += 1 + ((at - done) >> SKIP_BITS);
            continue;
        }
        let earlier = same_before(input, from, at).min(at - done);
        at -= earlier;
        // Bytes beyond the longest copy would be compared again for the next copy.
        let reach = input.len().min(at + LONGEST);
        let known = earlier + SHORTEST;
        let length = known + same(input, from + SHORTEST, at + known, reach);
        literals(input, done, at, &mut writer);
        copy(distance - 1, length, &mut writer);
        at += length;
        done = at;
        positions.note(three(input, at - 2), at - 2);
    }
    literals(input, done, input.len(), &mut writer);
    let written = writer.at;
    out.truncate(start + written);
}

/// Three bytes as a number.
#[inline(always)]
fn three(input: &[u8], at: usize) -> u32 {
    four(input, at) & 0xff_ffff
}

/// Writes `input[from..to]` as literals.
#[inline(always)]
fn literals(input: &[u8], mut from: usize, to: usize, writer: &mut Writer<'_>) {
    while from < to {
        let count = (to - from).min(LITERALS);
        writer.push(count as u8 - 1);
        writer.copy(input, from, count);
        from += count;
    }
}

/// Writes a copy of `length` bytes at distance `back` + 1.
#[inline(always)]
fn copy(back: usize, length: usize, writer: &mut Writer<'_>) {
    let high = (back >> 8) as u8;
    if length <= SHORT_COPY {
        writer.push(((length - 2) << 5) as u8 | high);
    } else {
        writer.push(7 << 5 | high);
        writer.push((length - SHORT_COPY - 1) as u8);
    }
    writer.push(back as u8);
}

/// Appends the `length` bytes of the original of `block` to `out`. On an error `out` is unchanged.
fn decompress(block: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
    // Three bytes give at most 264.
    exactly(length, block, LONGEST / 3, out, |writer| instructions(block, writer))
}

fn instructions(block: &[u8], writer: &mut Writer<'_>) -> Result<(), CodecError> {
    let mut at = 0;
    let byte =
        |at: usize| block.get(at).map(|&byte| usize::from(byte)).ok_or(CodecError::Malformed);
    while at < block.len() {
        let first = byte(at)?;
        at += 1;
        if first < LITERALS {
            let count = first + 1;
            writer.literals(block, at, count)?;
            at += count;
            continue;
        }
        let mut length = (first >> 5) + 2;
        if length > SHORT_COPY {
            length += byte(at)?;
            at += 1;
        }
        let distance = 1 + ((first & 31) << 8 | byte(at)?);
        at += 1;
        writer.repeat(distance, length)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{mixed, noise};
    use alloc::vec;
    use proptest::prelude::*;

    fn compressed(input: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compress(input, &mut Table::default(), &mut out);
        out
    }

    fn decompressed(block: &[u8], length: usize) -> Result<Vec<u8>, CodecError> {
        let mut out = vec![7];
        let outcome = decompress(block, length, &mut out);
        assert_eq!(out.remove(0), 7);
        assert!(outcome.is_ok() || out.is_empty());
        outcome.map(|()| out)
    }

    /// Compresses with each implementation and decompresses with both. The other implementation
    /// fails on messages that hardly get smaller, so it gets some zeros more.
    fn agree(message: &[u8]) {
        let ours = compressed(message);
        assert_eq!(decompressed(&ours, message.len()).unwrap(), message);
        if !message.is_empty() {
            assert_eq!(::lzf::decompress(&ours, message.len()).unwrap(), message);
        }
        let roomy = [message, &vec![0; 300 + message.len() / 16]].concat();
        let theirs = ::lzf::compress(&roomy).unwrap();
        assert_eq!(decompressed(&theirs, roomy.len()).unwrap(), roomy);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn another_implementation_reads_and_writes_the_same(message in mixed()) {
            agree(&message);
        }

        #[test]
        fn arbitrary_blocks_that_we_read_the_other_reads_alike(
            block in proptest::collection::vec(prop_oneof![any::<u8>(), 0u8..36], 1..60),
            length in 1usize..600,
        ) {
            if let Ok(plain) = decompressed(&block, length) {
                prop_assert_eq!(Ok(plain), ::lzf::decompress(&block, length));
            }
        }

        #[test]
        fn only_the_exact_length_is_accepted(message in mixed(), cut: prop::sample::Index) {
            let block = compressed(&message);
            prop_assert!(decompressed(&block, message.len() + 1).is_err());
            if !message.is_empty() {
                prop_assert!(decompressed(&block, message.len() - 1).is_err());
                let cut = cut.index(block.len());
                prop_assert!(decompressed(&block[..cut], message.len()).is_err());
            }
        }
    }

    #[test]
    fn every_instruction_is_written() {
        assert_eq!(compressed(b"abc"), b"\x02abc");
        assert_eq!(compressed(b"abcabcabc--"), b"\x02abc\x80\x02\x01--");
        assert_eq!(compressed(&[5; 30]), [0, 5, 0xe0, 20, 0]);
    }

    #[test]
    fn all_distances_and_lengths_are_coded() {
        for distance in [1, 2, 255, 256, 257, 8191, 8192, 8193] {
            for length in [3, 8, 9, 263, 264, 265, 600] {
                let mut message = noise(distance, 3);
                for at in 0..length {
                    message.push(message[at]);
                }
                agree(&message);
            }
        }
        for count in (0..70).chain([5000]) {
            agree(&noise(count, 1));
        }
    }

    #[test]
    fn copies_from_before_the_start_are_refused() {
        for wrong in
            [&[32, 0][..], &[0, 1, 32, 1], &[0, 1, 224, 0, 1], &[0, 1, 32], &[0, 1, 224, 0], &[31]]
        {
            for length in 0..12 {
                assert!(decompressed(wrong, length).is_err(), "{wrong:?}");
            }
        }
    }
}
