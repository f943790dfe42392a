//! Null or blank suppression (paper LMC, section 5.3.1): runs of one byte that is known beforehand are told by their
//! length.
//!
//! ```text
//! stream  = [escape:u8 blank:u8 item*]  nothing for an empty message
//! item    = byte                       any but the escape byte
//!         | escape 0                    the escape byte
//!         | escape count:u8             2 + count times the blank
//! ```
//!
//! The blank is 0 in messages that hold more zeros than spaces, and a space in others. The escape byte is the
//! message's rarest.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::escape::{end_of_run, expand, frequencies, literals, rarest};
use crate::{Codec, CodecError, Coder, Memory, Options, OptionsError};

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

/// What a count stands for beyond itself. A run of one more is the shortest that gains.
const BEYOND: usize = 2;
const LONGEST: usize = BEYOND + u8::MAX as usize;

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
            out.extend_from_slice(&[escape, (done - at - BEYOND) as u8]);
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
            [_, count, after @ ..] => Some((blank, BEYOND + usize::from(*count), after)),
            _ => None,
        })
    }

    fn memory(&self) -> Memory {
        Memory::default()
    }
}

/// Where the first run of three blanks or more begins, from `at` on.
fn find_run(input: &[u8], mut at: usize, blank: u8) -> Option<usize> {
    while let Some(three) = input.get(at..at + BEYOND + 1) {
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
    fn the_papers_example() {
        // Table 2: what is left has 27 bytes, and two for the escape and the blank.
        let lines = b"  Date           Name27-11-1931          Ziv";
        assert_eq!(compressed(lines), b"\0   Date\0\x09Name27-11-1931\0\x08Ziv");
        assert_eq!(compressed(lines).len(), 2 + 27);
    }

    #[test]
    fn zeros_are_blanks_where_there_are_more_of_them() {
        assert_eq!(compressed(&[7, 0, 0, 0, 0, b' ', 8]), [1, 0, 7, 1, 2, b' ', 8]);
    }

    #[test]
    fn runs_of_every_length() {
        for length in (0..12).chain(250..270).chain(510..530) {
            let size = compressed(&vec![b' '; length]).len();
            let runs = length.div_ceil(LONGEST);
            assert!(size <= 2 + 2 * runs, "{size} for {length}");
        }
    }

    #[test]
    fn what_is_cut_off_or_too_long_is_refused() {
        for wrong in [&[5][..], &[5, 1, 7], &[5, 0, 5]] {
            let outcome = Coder::decompress(&mut Null, wrong, 100, &mut Vec::new());
            assert_eq!(outcome, Err(CodecError::Malformed), "{wrong:?}");
        }
        let outcome = Coder::decompress(&mut Null, &[5, 0, 5, 255], 256, &mut Vec::new());
        assert_eq!(outcome, Err(CodecError::TooLarge));
    }
}
