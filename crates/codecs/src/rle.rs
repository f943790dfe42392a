//! Run-length encoding (LMC paper, section 5.3.2): four or more equal bytes in a row become one
//! byte and a count.
//!
//! ```text
//! stream  = [escape:u8 item*]           nothing for an empty message
//! item    = byte                       any but the escape byte
//!         | escape 0                    the escape byte
//!         | escape count:u8 byte       3 + count times that byte
//! ```
//!
//! The escape byte is the message's rarest, so that few literals equal it. The paper puts the count
//! after the byte; here the count comes first, so that a literal escape byte takes two bytes and
//! not three.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::escape::{end_of_run, expand, frequencies, literals, rarest};
use crate::{Codec, CodecError, Coder, Options, OptionsError};

/// Run-length encoding.
#[derive(Debug, Clone, Copy)]
pub struct Rle;

impl Codec for Rle {
    fn name(&self) -> &'static str {
        "rle"
    }

    fn number(&self) -> u8 {
        11
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        options.expect_none(self.name())?;
        Ok(Box::new(Rle))
    }
}

/// A count c stands for a run of `BASE` + c bytes. A run of `BASE` + 1 is the shortest that saves
/// anything.
const BASE: usize = 3;
/// The longest run that one count states.
const LONGEST: usize = BASE + u8::MAX as usize;

impl Coder for Rle {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        if input.is_empty() {
            return;
        }
        let escape = rarest(&frequencies(input));
        out.push(escape);
        let mut done = 0;
        while let Some(at) = find_run(input, done) {
            literals(&input[done..at], escape, out);
            done = end_of_run(input, at, LONGEST);
            out.extend_from_slice(&[escape, (done - at - BASE) as u8, input[at]]);
        }
        literals(&input[done..], escape, out);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let Some((&escape, items)) = input.split_first() else { return Ok(()) };
        expand(items, escape, limit, out, |escaped| match escaped {
            [_, 0, after @ ..] => Some((escape, 1, after)),
            [_, count, byte, after @ ..] => Some((*byte, BASE + usize::from(*count), after)),
            _ => None,
        })
    }
}

/// The start of the first run of four or more equal bytes at or after `at`.
fn find_run(input: &[u8], mut at: usize) -> Option<usize> {
    while let Some(four) = input.get(at..at + BASE + 1) {
        // A run begins after the last pair of neighbours that differ.
        match four.windows(2).rposition(|two| two[0] != two[1]) {
            Some(before) => at += before + 1,
            None => return Some(at),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn compressed(input: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Coder::compress(&mut Rle, input, &mut out);
        let mut back = Vec::new();
        Coder::decompress(&mut Rle, &out, input.len(), &mut back).unwrap();
        assert_eq!(back, input);
        out
    }

    #[test]
    fn the_example_of_the_paper() {
        // Table 3: 12 bytes become 5, plus one that states the escape byte.
        assert_eq!(compressed(b"CAAAAAAAAAAT"), [0, b'C', 0, 7, b'A', b'T']);
    }

    #[test]
    fn runs_of_all_lengths() {
        for length in (0..12).chain(250..270).chain(510..530) {
            let size = compressed(&vec![9; length]).len();
            let runs = length.div_ceil(LONGEST);
            assert!(size <= 1 + 3 * runs, "{size} for {length}");
        }
    }

    #[test]
    fn the_escape_byte_can_be_a_literal() {
        let all: Vec<u8> = (0..=255).chain(0..=255).chain([7; 9]).chain(1..=255).collect();
        assert_eq!(compressed(&all).len(), 1 + all.len() - 9 + 3 + 2);
    }

    #[test]
    fn truncated_and_too_long_input_is_refused() {
        for wrong in [&[5, 5][..], &[5, 5, 1], &[5, 1, 5, 2]] {
            let outcome = Coder::decompress(&mut Rle, wrong, 100, &mut Vec::new());
            assert_eq!(outcome, Err(CodecError::Malformed), "{wrong:?}");
        }
        let outcome = Coder::decompress(&mut Rle, &[5, 5, 255, 1], 257, &mut Vec::new());
        assert_eq!(outcome, Err(CodecError::TooLarge));
    }
}
