//! Null or blank suppression (LMC paper, section 5.3.1): runs of one byte, the blank, become a
//! count.
//!
//! ```text
//! stream  = [escape:u8 blank:u8 item*]  nothing for an empty message
//! item    = byte                       any but the escape byte
//!         | escape 0                    the escape byte
//!         | escape count:u8             2 + count times the blank
//! ```
//!
//! The blank is 0 in messages with more zeros than spaces, and a space in others. The escape byte
//! is the message's rarest.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::escape::{end_of_run, expand, frequencies, literals, rarest};
use crate::{Codec, CodecError, Coder, Options, OptionsError};

/// Null or blank suppression.
#[derive(Debug, Clone, Copy)]
pub struct Null;

impl Codec for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn number(&self) -> u8 {
        12
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        options.expect_none(self.name())?;
        Ok(Box::new(Null))
    }
}

/// A count c stands for a run of `BASE` + c bytes. A run of `BASE` + 1 is the shortest that saves
/// anything.
const BASE: usize = 2;
/// The longest run that one count states.
const LONGEST: usize = BASE + u8::MAX as usize;

impl Coder for Null {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        if input.is_empty() {
            return;
        }
        let frequencies = frequencies(input);
        let escape = rarest(&frequencies);
        let spaces = frequencies[usize::from(b' ')] >= frequencies[0];
        let blank = if spaces { b' ' } else { 0 };
        out.extend_from_slice(&[escape, blank]);
        let mut done = 0;
        while let Some(at) = find_run(input, done, blank) {
            literals(&input[done..at], escape, out);
            done = end_of_run(input, at, LONGEST);
            out.extend_from_slice(&[escape, (done - at - BASE) as u8]);
        }
        literals(&input[done..], escape, out);
    }

    fn decompress(
        &mut self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let (escape, blank, items) = match input {
            [] => return Ok(()),
            [escape, blank @ (0 | b' '), items @ ..] => (*escape, *blank, items),
            _ => return Err(CodecError::Malformed),
        };
        expand(items, escape, limit, out, |escaped| match escaped {
            [_, 0, after @ ..] => Some((escape, 1, after)),
            [_, count, after @ ..] => Some((blank, BASE + usize::from(*count), after)),
            _ => None,
        })
    }
}

/// The start of the first run of three or more blanks at or after `at`.
fn find_run(input: &[u8], mut at: usize, blank: u8) -> Option<usize> {
    while let Some(three) = input.get(at..at + BASE + 1) {
        match three.iter().rposition(|&byte| byte != blank) {
            Some(other) => at += other + 1,
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
        Coder::compress(&mut Null, input, &mut out);
        let mut back = Vec::new();
        Coder::decompress(&mut Null, &out, input.len(), &mut back).unwrap();
        assert_eq!(back, input);
        out
    }

    #[test]
    fn the_example_of_the_paper() {
        // Table 2: 27 bytes remain, plus two that state the escape byte and the blank.
        let lines = b"  Date           Name27-11-1931          Ziv";
        assert_eq!(compressed(lines), b"\0   Date\0\x09Name27-11-1931\0\x08Ziv");
        assert_eq!(compressed(lines).len(), 2 + 27);
    }

    #[test]
    fn zero_is_the_blank_where_zeros_outnumber_spaces() {
        assert_eq!(compressed(&[7, 0, 0, 0, 0, b' ', 8]), [1, 0, 7, 1, 2, b' ', 8]);
    }

    #[test]
    fn runs_of_all_lengths() {
        for length in (0..12).chain(250..270).chain(510..530) {
            let size = compressed(&vec![b' '; length]).len();
            let runs = length.div_ceil(LONGEST);
            assert!(size <= 2 + 2 * runs, "{size} for {length}");
        }
    }

    #[test]
    fn truncated_and_too_long_input_is_refused() {
        for wrong in [&[5][..], &[5, 1, 7], &[5, 0, 5]] {
            let outcome = Coder::decompress(&mut Null, wrong, 100, &mut Vec::new());
            assert_eq!(outcome, Err(CodecError::Malformed), "{wrong:?}");
        }
        let outcome = Coder::decompress(&mut Null, &[5, 0, 5, 255], 256, &mut Vec::new());
        assert_eq!(outcome, Err(CodecError::TooLarge));
    }
}
