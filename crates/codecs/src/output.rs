//! The output buffer for an original whose length is not stated: it grows with the decoded data.

use alloc::vec::Vec;

use crate::CodecError;

/// The smallest first size, bytes: most messages are shorter.
const LEAST: usize = 1024;

/// The end of a vector, to which a decoder writes an original of at most `limit` bytes.
///
/// The buffer doubles up to one byte above the limit: if a decoder needs that byte, the original is
/// too large. So memory grows with the decoded data and not with a claimed length.
pub(crate) struct Output<'a> {
    out: &'a mut Vec<u8>,
    /// The length of `out` before decoding.
    start: usize,
    limit: usize,
    /// Bytes of the original so far.
    length: usize,
}

impl<'a> Output<'a> {
    /// A buffer for the original of `packed` bytes of input.
    pub(crate) fn new(out: &'a mut Vec<u8>, packed: usize, limit: usize) -> Self {
        let start = out.len();
        let mut output = Output { out, start, limit, length: 0 };
        output.grow(packed.saturating_mul(4).max(LEAST));
        output
    }

    /// The free part, grown if it was empty. Empty if the limit is exceeded.
    pub(crate) fn free(&mut self) -> &mut [u8] {
        if self.start + self.length == self.out.len() {
            self.grow(self.length.saturating_mul(2));
        }
        &mut self.out[self.start + self.length..]
    }

    /// The original so far with the free part after it, and where the free part begins: at the end
    /// if the limit is exceeded.
    pub(crate) fn original(&mut self) -> (&mut [u8], usize) {
        self.free();
        (&mut self.out[self.start..], self.length)
    }

    /// Counts `bytes` bytes of the free part as written.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.length += bytes;
        debug_assert!(self.start + self.length <= self.out.len(), "only the free part is written");
    }

    /// Ends decoding with the decoder's result. Restores the vector's former length if the original
    /// is malformed or too large.
    pub(crate) fn finish(self, whole: Result<(), CodecError>) -> Result<(), CodecError> {
        let outcome = if self.length > self.limit { Err(CodecError::TooLarge) } else { whole };
        self.out.truncate(self.start + if outcome.is_ok() { self.length } else { 0 });
        outcome
    }

    /// Grows the buffer to `bytes` bytes, at most one above the limit.
    fn grow(&mut self, bytes: usize) {
        let bytes = bytes.min(self.limit.saturating_add(1));
        let end = self.start + bytes;
        self.out.reserve_exact(end.saturating_sub(self.out.len()));
        self.out.resize(end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn output_grows_up_to_one_byte_above_the_limit() {
        let mut out = vec![7];
        let mut output = Output::new(&mut out, 10, 5000);
        let mut steps = Vec::new();
        while !output.free().is_empty() {
            steps.push(output.free().len());
            let free = output.free().len();
            output.advance(free);
        }
        assert_eq!(steps, [1024, 1024, 2048, 905]);
        assert_eq!(output.finish(Ok(())), Err(CodecError::TooLarge));
        assert_eq!(out, [7]);
    }

    #[test]
    fn a_whole_original_stays_and_a_part_is_removed() {
        let mut out = vec![7];
        let mut output = Output::new(&mut out, 1, 3);
        output.free()[..3].copy_from_slice(b"abc");
        output.advance(3);
        assert_eq!(output.finish(Ok(())), Ok(()));
        assert_eq!(out, b"\x07abc");
        let mut output = Output::new(&mut out, 1, 3);
        output.advance(2);
        assert_eq!(output.finish(Err(CodecError::Malformed)), Err(CodecError::Malformed));
        assert_eq!(out, b"\x07abc");
    }
}
