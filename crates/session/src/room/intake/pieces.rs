//! Transactions whose pieces have not all arrived (wire W97). The log gets all pieces of a
//! transaction at once, so that it takes effect as a whole or not at all.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::limits::{MAX_PIECES, MAX_TRANSACTION};
use crate::room::log::Message;
use crate::wire::piece::Piece;
use crate::{Counter, Error, ParticipantId};

/// See the [module](self).
#[derive(Debug)]
pub(in crate::room) struct Pieces {
    /// The most bytes of memory for the pieces of all participants. Above it, the room takes no
    /// transactions.
    limit: usize,
    /// The pieces that have come over the present transport of each participant, in the order of
    /// their counters.
    begun: BTreeMap<ParticipantId, Begun>,
    memory: usize,
}

#[derive(Debug, Default)]
struct Begun {
    pieces: Vec<(Message, Counter)>,
    /// The bytes of the pieces so far, and the memory that they take.
    size: usize,
    memory: usize,
}

impl Pieces {
    pub(in crate::room) fn new(limit: usize) -> Self {
        Pieces { limit, begun: BTreeMap::new(), memory: 0 }
    }

    /// The counter of the last piece that came of the participant's transaction; `None` if it is
    /// not in the midst of one.
    pub(in crate::room) fn last(&self, sender: ParticipantId) -> Option<Counter> {
        self.begun.get(&sender)?.pieces.last().map(|(_, counter)| *counter)
    }

    /// Bytes of memory that the pieces take, about.
    pub(in crate::room) fn memory(&self) -> usize {
        self.memory
    }

    /// True if the pieces take more memory than they may.
    pub(in crate::room) fn is_full(&self) -> bool {
        self.memory > self.limit
    }

    /// Adds the next transaction or piece of one of its sender. Returns all pieces of the
    /// transaction, if it is complete.
    ///
    /// # Errors
    /// A piece that does not follow the one before, and a transaction that is too large.
    pub(in crate::room) fn add(
        &mut self,
        message: Message,
        counter: Counter,
    ) -> Result<Option<Vec<(Message, Counter)>>, Error> {
        let (sender, piece) = (message.sender, message.piece);
        let before = self.begun.get(&sender).and_then(|begun| begun.pieces.last());
        let follows = match before {
            None => piece.begins(),
            Some((before, _)) => {
                let is_alike = message.channel == before.channel && message.text == before.text;
                !piece.begins() && is_alike
            }
        };
        if !follows {
            return Err(Error::malformed("record: a piece that does not follow the one before"));
        }
        if piece == Piece::Whole {
            return Ok(Some([(message, counter)].into()));
        }
        let begun = self.begun.entry(sender).or_default();
        let (size, memory) = (message.bytes.len(), message.cost());
        begun.size += size;
        begun.memory += memory;
        self.memory += memory;
        if begun.size > MAX_TRANSACTION || begun.pieces.len() >= MAX_PIECES {
            let (size, limit) = (begun.size, MAX_TRANSACTION);
            return Err(Error::TooLarge { what: "transaction", size, limit });
        }
        begun.pieces.push((message, counter));
        match piece.goes_on() {
            true => Ok(None),
            false => Ok(self.forget(sender)),
        }
    }

    /// Removes and returns the participant's pieces, when its transaction is complete or its
    /// transport is gone. In the second case the participant sends them again.
    pub(in crate::room) fn forget(
        &mut self,
        sender: ParticipantId,
    ) -> Option<Vec<(Message, Counter)>> {
        let begun = self.begun.remove(&sender)?;
        self.memory -= begun.memory;
        Some(begun.pieces)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::ChannelNo;

    fn piece(channel: u32, piece: Piece, size: usize) -> Message {
        Message {
            channel: ChannelNo(channel),
            sender: ParticipantId(1),
            key: None,
            priority: None,
            departed: None,
            to: None,
            text: false,
            piece,
            bytes: alloc::vec![7; size].into(),
            born: Duration::ZERO,
        }
    }

    #[test]
    fn w97_a_transaction_is_complete_with_its_last_piece() {
        let mut pieces = Pieces::new(1 << 20);
        assert_eq!(pieces.last(ParticipantId(1)), None);
        assert_eq!(pieces.add(piece(1, Piece::First, 9), Counter(4)), Ok(None));
        assert_eq!(pieces.add(piece(1, Piece::Middle, 9), Counter(5)), Ok(None));
        assert_eq!(pieces.last(ParticipantId(1)), Some(Counter(5)));
        assert!(pieces.memory() > 18);
        let all = pieces.add(piece(1, Piece::Last, 9), Counter(6)).unwrap().unwrap();
        let counters: Vec<u32> = all.iter().map(|(_, counter)| counter.get()).collect();
        assert_eq!(counters, [4, 5, 6]);
        assert_eq!((pieces.memory(), pieces.last(ParticipantId(1))), (0, None));
        let whole = pieces.add(piece(1, Piece::Whole, 9), Counter(7)).unwrap().unwrap();
        assert_eq!(whole.len(), 1);
    }

    #[test]
    fn w97_pieces_follow_each_other_and_nothing_of_a_forgotten_one_stays() {
        let mut pieces = Pieces::new(1 << 20);
        for lost in [Piece::Middle, Piece::Last] {
            assert!(pieces.add(piece(1, lost, 9), Counter(1)).is_err());
        }
        pieces.add(piece(1, Piece::First, 9), Counter(1)).unwrap();
        for (channel, other) in [(1, Piece::First), (1, Piece::Whole), (2, Piece::Middle)] {
            assert!(pieces.add(piece(channel, other, 9), Counter(2)).is_err());
        }
        let text = Message { text: true, ..piece(1, Piece::Last, 9) };
        assert!(pieces.add(text, Counter(2)).is_err());
        pieces.forget(ParticipantId(1));
        assert_eq!((pieces.memory(), pieces.last(ParticipantId(1))), (0, None));
    }

    #[test]
    fn w97_a_transaction_is_bounded_in_bytes_and_in_pieces() {
        let mut pieces = Pieces::new(1 << 20);
        pieces.add(piece(1, Piece::First, MAX_TRANSACTION), Counter(1)).unwrap();
        let error = pieces.add(piece(1, Piece::Middle, 1), Counter(2)).unwrap_err();
        assert!(matches!(error, Error::TooLarge { limit: MAX_TRANSACTION, .. }));
        pieces.forget(ParticipantId(1));
        assert_eq!(pieces.memory(), 0);
        pieces.add(piece(1, Piece::First, 1), Counter(1)).unwrap();
        for _ in 1..MAX_PIECES {
            pieces.add(piece(1, Piece::Middle, 1), Counter(2)).unwrap();
        }
        assert!(pieces.add(piece(1, Piece::Last, 1), Counter(3)).is_err());
    }
}
