//! The transactions that a channel of a client receives, and one that arrives in pieces (wire W97).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::outbox::{Item, Pending};
use crate::Error;
use crate::ids::{Counter, Position};
use crate::limits::MAX_TRANSACTION;
use crate::wire::piece::Piece;
use crate::wire::record::Record;

/// How far this end has the transactions of a channel.
#[derive(Debug)]
pub(super) struct Received {
    /// The position up to which this end has them: that of the newest one that was delivered, or of
    /// the part of the snapshot or the gap that stands for them.
    pub(super) have: Position,
    /// The transaction of which some pieces have arrived.
    begun: Option<Begun>,
    /// While only some pieces of an own transaction are ordered: the counter of the last one that
    /// is.
    pub(super) own_begun: Option<Counter>,
}

/// A transaction of a channel of which some pieces have arrived. No other transaction of the
/// channel comes between them.
#[derive(Debug)]
struct Begun {
    /// The value of [`Received::have`] before the first piece.
    before: Position,
    /// The position of the last piece. The next one follows it, unless the room's store has lost
    /// some.
    last: Position,
    key: Option<Vec<u8>>,
    priority: Option<u8>,
    bytes: Vec<u8>,
}

/// The content of a transaction, without its numbers.
pub(super) struct Content {
    pub(super) key: Option<Vec<u8>>,
    pub(super) priority: Option<u8>,
    pub(super) bytes: Vec<u8>,
}

impl Content {
    /// The content of a message that came as one record.
    pub(super) fn whole(record: &Record<'_>) -> Self {
        let (key, bytes) = (record.key.map(Into::into), record.bytes.to_vec());
        Content { key, priority: record.priority, bytes }
    }
}

impl Received {
    pub(super) fn new(have: Position) -> Self {
        Received { have, begun: None, own_begun: None }
    }

    /// This end has all transactions up to this position, if it had no later ones.
    pub(super) fn advance(&mut self, position: Position) {
        self.have = self.have.max(position);
    }

    /// True if this end has no transactions after this position, and none in part.
    pub(super) fn is_complete_at(&self, position: Position) -> bool {
        self.have <= position && self.begun.is_none() && self.own_begun.is_none()
    }

    /// Forgets the pieces of an incomplete transaction: the other pieces do not follow, or all
    /// pieces come again.
    pub(super) fn forget_begun(&mut self) {
        (self.begun, self.own_begun) = (None, None);
    }

    /// Takes back the pieces of a transaction that this end has in part.
    pub(super) fn take_back_begun(&mut self) {
        if let Some(begun) = self.begun.take() {
            self.have = begun.before;
        }
    }

    /// Keeps the ordered pieces of an own transaction when the session is lost before all its
    /// pieces are ordered. In the new session this participant has another number: the further
    /// pieces arrive as those of another participant, and are joined to the kept ones. `pending`:
    /// the own transactions, still with the counters of the lost session. `position`: that of the
    /// newest ordered piece.
    pub(super) fn keep_own_begun(&mut self, pending: &VecDeque<Pending>, position: Position) {
        let Some(last) = self.own_begun.take() else { return };
        let Some(of_last) = pending.iter().find(|one| one.counter == Some(last)) else { return };
        let pieces = pending.iter().filter(|one| one.order == of_last.order);
        let ordered: Vec<&Item> =
            pieces.take_while(|one| one.counter <= Some(last)).map(|one| &one.item).collect();
        self.begun = ordered.first().map(|first| Begun {
            before: self.have,
            last: position,
            key: first.key.clone().map(<[u8]>::into_vec),
            priority: first.priority,
            bytes: ordered.iter().map(|item| &*item.bytes).collect::<Vec<_>>().concat(),
        });
    }

    /// Takes a transaction or the next piece of one, at this position. Returns the whole
    /// transaction if it is complete.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there are more pieces than any transaction has.
    pub(super) fn add_piece(
        &mut self,
        record: &Record<'_>,
        position: Position,
    ) -> Result<Option<Content>, Error> {
        let before = core::mem::replace(&mut self.have, position);
        let Record { piece, key, priority, bytes, .. } = *record;
        let mut begun = match piece.begins() {
            true => {
                let (key, bytes) = (key.map(Into::into), Vec::new());
                Begun { before, last: position, key, priority, bytes }
            }
            false => match self.begun.take() {
                Some(begun) if position == begun.last.next() => Begun { last: position, ..begun },
                // The piece before this one lies before a gap or in a part of the snapshot, or is
                // lost.
                _ => return Ok(None),
            },
        };
        let size = begun.bytes.len() + bytes.len();
        if piece != Piece::Whole && size > MAX_TRANSACTION {
            return Err(Error::TooLarge { what: "transaction", size, limit: MAX_TRANSACTION });
        }
        begun.bytes.extend_from_slice(bytes);
        if piece.goes_on() {
            self.begun = Some(begun);
            return Ok(None);
        }
        self.begun = None;
        let Begun { key, priority, bytes, .. } = begun;
        Ok(Some(Content { key, priority, bytes }))
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::ids::{ChannelNo, Order, ParticipantId};
    use crate::wire::coding::Coding;
    use crate::wire::record::Number;

    fn record(piece: Piece, bytes: &[u8]) -> Record<'_> {
        Record {
            channel: ChannelNo(1),
            sender: ParticipantId(2),
            number: Number::Transaction { counter: Counter(1), position: Position(1) },
            own: false,
            piece,
            state: false,
            age: Duration::ZERO,
            text: false,
            key: piece.begins().then_some(b"plan"),
            priority: None,
            departed: None,
            to: None,
            bytes,
            packed: None,
            coding: Coding::Alone,
        }
    }

    fn add(received: &mut Received, piece: Piece, bytes: &[u8], position: u64) -> Option<Vec<u8>> {
        let content = received.add_piece(&record(piece, bytes), Position(position)).unwrap()?;
        assert_eq!(content.key.as_deref(), Some(&b"plan"[..]));
        Some(content.bytes)
    }

    #[test]
    fn w97_a_transaction_is_handed_over_with_its_last_piece() {
        let mut received = Received::new(Position(3));
        assert_eq!(add(&mut received, Piece::First, b"one ", 4), None);
        assert_eq!(add(&mut received, Piece::Middle, b"after ", 5), None);
        assert!(!received.is_complete_at(Position(5)));
        assert_eq!(add(&mut received, Piece::Last, b"another", 6).unwrap(), b"one after another");
        assert!(received.is_complete_at(Position(6)));
        assert_eq!(add(&mut received, Piece::Whole, b"whole", 7).unwrap(), b"whole");
    }

    #[test]
    fn w97_nothing_is_put_together_of_which_a_piece_is_missing() {
        let mut received = Received::new(Position(3));
        assert_eq!(add(&mut received, Piece::First, b"one ", 4), None);
        assert_eq!(add(&mut received, Piece::Last, b"another", 6), None);
        assert_eq!(add(&mut received, Piece::Last, b"of nothing", 7), None);
        assert!(received.begun.is_none());
    }

    #[test]
    fn w97_a_transaction_is_bounded() {
        let mut received = Received::new(Position(3));
        let half = alloc::vec![0; MAX_TRANSACTION / 2];
        assert_eq!(add(&mut received, Piece::First, &half, 4), None);
        assert_eq!(add(&mut received, Piece::Middle, &half, 5), None);
        let error = received.add_piece(&record(Piece::Last, b"x"), Position(6));
        assert!(matches!(error, Err(Error::TooLarge { limit: MAX_TRANSACTION, .. })));
    }

    #[test]
    fn w97_after_a_lost_session_the_rest_of_an_own_transaction_comes_as_that_of_another() {
        let mut received = Received::new(Position(3));
        let pieces = [(Piece::First, "one "), (Piece::Middle, "after "), (Piece::Last, "another")];
        let pending: VecDeque<Pending> = (5..)
            .zip(pieces)
            .map(|(counter, (piece, bytes))| Pending {
                counter: Some(Counter(counter)),
                sent: true,
                channel: 0,
                order: Order(9),
                piece,
                item: Item {
                    key: piece.begins().then(|| b"plan"[..].into()),
                    priority: None,
                    text: false,
                    to: None,
                    bytes: bytes.as_bytes().into(),
                    born: Duration::ZERO,
                    after: Counter(0),
                },
            })
            .collect();
        received.own_begun = Some(Counter(6));
        received.keep_own_begun(&pending, Position(8));
        assert_eq!(received.own_begun, None);
        assert_eq!(add(&mut received, Piece::Last, b"another", 9).unwrap(), b"one after another");
    }
}
