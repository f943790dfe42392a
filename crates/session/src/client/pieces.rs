//! A transaction that arrives in pieces (wire W97).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::channel::Channel;
use super::outbox::{Item, Pending};
use crate::Error;
use crate::ids::Position;
use crate::limits::MAX_TRANSACTION;
use crate::wire::piece::Piece;
use crate::wire::record::Record;

/// A transaction of a channel of which some pieces have arrived. No other transaction of the channel comes between them.
#[derive(Debug)]
pub(super) struct Begun {
    /// Up to where this end had the channel before.
    pub(super) before: Position,
    /// The position of the last piece. The next one follows it, unless the room's store has lost some.
    last: Position,
    key: Option<Vec<u8>>,
    priority: Option<u8>,
    bytes: Vec<u8>,
}

/// What the application is handed of a transaction, besides its numbers.
pub(super) struct Content {
    pub(super) key: Option<Vec<u8>>,
    pub(super) priority: Option<u8>,
    pub(super) bytes: Vec<u8>,
}

impl Channel {
    /// The session is lost: what comes of an own transaction of which some pieces were ordered, comes as that of another
    /// participant. `pending`: the own transactions, which still have their old counters.
    /// `position`: that of the last piece.
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
            bytes: ordered.iter().flat_map(|item| &item.bytes).copied().collect(),
        });
    }

    /// Takes a transaction or the next piece of one, at this position. Returns the whole transaction if it is complete.
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
                // What comes before it was before a gap or a part of the snapshot, or is lost.
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
