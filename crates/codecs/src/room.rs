//! Room for an original whose length is not told: taken step by step, as it really comes.

use alloc::vec::Vec;

use crate::CodecError;

/// The least that is taken at first. Bytes.
const LEAST: usize = 1024;

/// Room at the end of a vector for an original of at most `limit` bytes.
///
/// It is given out in growing steps, up to one byte above the limit: who needs that one has met too large an original.
/// So memory follows what there is and not what is claimed.
pub(crate) struct Room<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    limit: usize,
    /// Bytes of the original so far.
    used: usize,
}

impl<'a> Room<'a> {
    /// Room for the original of `packed` bytes.
    pub(crate) fn new(out: &'a mut Vec<u8>, packed: usize, limit: usize) -> Self {
        let start = out.len();
        let mut room = Room { out, start, limit, used: 0 };
        room.take(packed.saturating_mul(4).max(LEAST));
        room
    }

    /// What is free now. Empty: there is no more.
    pub(crate) fn free(&mut self) -> &mut [u8] {
        if self.start + self.used == self.out.len() {
            self.take(self.used.saturating_mul(2));
        }
        &mut self.out[self.start + self.used..]
    }

    /// The original so far, what is free, and where that begins: at the end if there is no more.
    pub(crate) fn original(&mut self) -> (&mut [u8], usize) {
        self.free();
        (&mut self.out[self.start..], self.used)
    }

    /// So many bytes of what was free are written.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.used += bytes;
    }

    /// The vector with the original, or as it was if the original is not whole or too large.
    pub(crate) fn finish(self, whole: Result<(), CodecError>) -> Result<(), CodecError> {
        let outcome = if self.used > self.limit { Err(CodecError::TooLarge) } else { whole };
        self.out.truncate(self.start + if outcome.is_ok() { self.used } else { 0 });
        outcome
    }

    fn take(&mut self, bytes: usize) {
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
    fn room_grows_up_to_one_byte_above_the_limit() {
        let mut out = vec![7];
        let mut room = Room::new(&mut out, 10, 5000);
        let mut steps = Vec::new();
        while !room.free().is_empty() {
            steps.push(room.free().len());
            let free = room.free().len();
            room.advance(free);
        }
        assert_eq!(steps, [1024, 1024, 2048, 905]);
        assert_eq!(room.finish(Ok(())), Err(CodecError::TooLarge));
        assert_eq!(out, [7]);
    }

    #[test]
    fn what_is_whole_stays_and_what_is_not_goes() {
        let mut out = vec![7];
        let mut room = Room::new(&mut out, 1, 3);
        room.free()[..3].copy_from_slice(b"abc");
        room.advance(3);
        assert_eq!(room.finish(Ok(())), Ok(()));
        assert_eq!(out, b"\x07abc");
        let mut room = Room::new(&mut out, 1, 3);
        room.advance(2);
        assert_eq!(room.finish(Err(CodecError::Malformed)), Err(CodecError::Malformed));
        assert_eq!(out, b"\x07abc");
    }
}
