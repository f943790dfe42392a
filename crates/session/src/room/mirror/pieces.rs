//! Cuts frames between a room and its mirrors into packets, and joins them again. A packet is a
//! byte, which is 1 if more packets of the same frames follow, and the frames.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::Error;

/// The most bytes of a packet. Transports between servers accept larger ones, and smaller ones let
/// packets of other rooms between them.
const PIECE: usize = 60_000;

/// The packets with these frames.
pub(super) fn cut(frames: &[u8]) -> impl Iterator<Item = Arc<[u8]>> {
    let count = frames.len().div_ceil(PIECE);
    frames.chunks(PIECE).enumerate().map(move |(nth, piece)| {
        let goes_on = u8::from(nth + 1 < count);
        [&[goes_on], piece].concat().into()
    })
}

/// Frames whose packets have not all come.
#[derive(Debug, Default)]
pub(super) struct Joined {
    begun: Vec<u8>,
}

impl Joined {
    /// Adds a packet. Returns the frames once all of their packets have come. `limit`: the most
    /// bytes of the frames together.
    ///
    /// # Errors
    /// A packet that is malformed, and frames above the limit.
    pub(super) fn add(&mut self, packet: &[u8], limit: usize) -> Result<Option<Vec<u8>>, Error> {
        let Some((goes_on, piece)) = packet.split_first().filter(|(goes_on, _)| **goes_on < 2)
        else {
            return Err(Error::malformed("packet between a room and its mirror"));
        };
        let size = self.begun.len() + piece.len();
        if size > limit {
            return Err(Error::TooLarge {
                what: "frames between a room and its mirror",
                size,
                limit,
            });
        }
        self.begun.extend_from_slice(piece);
        Ok((*goes_on == 0).then(|| core::mem::take(&mut self.begun)))
    }

    /// Bytes of memory, about.
    pub(super) fn memory(&self) -> usize {
        self.begun.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_any_size_come_as_they_were() {
        for size in [1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let frames: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let mut joined = Joined::default();
            let packets: Vec<_> = cut(&frames).collect();
            let (last, before) = packets.split_last().unwrap();
            for packet in before {
                assert_eq!(joined.add(packet, size), Ok(None));
            }
            assert_eq!(joined.add(last, size), Ok(Some(frames)));
            assert_eq!(joined.memory(), 0);
        }
    }

    #[test]
    fn what_is_malformed_or_too_much_is_an_error() {
        let mut joined = Joined::default();
        assert!(joined.add(&[], 9).is_err() && joined.add(&[2, 1], 9).is_err());
        assert_eq!(joined.add(&[1, 1, 2, 3], 4), Ok(None));
        assert!(matches!(joined.add(&[1, 4, 5], 4), Err(Error::TooLarge { size: 5, .. })));
    }
}
