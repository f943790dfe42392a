//! A room's transactions for programs that are not participants, such as a journal on disk or a
//! feed to another process.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::Ordered;
use crate::Position;
use crate::room::Room;
use crate::room::storage::stored::{StoredTransaction, Write};
use crate::wire::piece::Piece;

impl Room {
    /// The transactions after `position` that are durable, in the room's order. Those that the log
    /// no longer holds in memory are left out (`Limits::max_log_bytes`), so a caller that needs all
    /// of them calls this after each input.
    pub fn transactions_after(&self, position: Position) -> impl Iterator<Item = Ordered<'_>> {
        self.ordered(position, self.common.log.durable())
    }

    /// The transactions of a change that the room has just put out, in the room's order. A store
    /// can keep notes about them in the same commit. Until the change is durable, they must not be
    /// shown to anybody.
    pub fn transactions_of(&self, write: &Write) -> impl Iterator<Item = Ordered<'_>> {
        let position = |one: &StoredTransaction| one.position;
        let first = write.transactions.first().map(position).unwrap_or_default();
        let last = write.transactions.last().map(position).unwrap_or_default();
        self.ordered(Position(first.get().saturating_sub(1)), last)
    }

    /// The transactions after one position, up to another one.
    fn ordered(&self, after: Position, last: Position) -> impl Iterator<Item = Ordered<'_>> {
        let log = &self.common.log;
        let news = log.transactions_after(after).take_while(move |one| one.position <= last);
        let (mut begun, mut first_key) = (Vec::new(), None);
        // Direct transactions are only for their receivers.
        let news = news.filter(|one| one.message.to.is_none());
        news.filter_map(move |one| {
            let message = &one.message;
            if message.piece.begins() {
                (begun, first_key) = (Vec::new(), message.key.as_deref());
            }
            let bytes: &[u8] = &message.bytes;
            if message.piece != Piece::Whole {
                begun.extend_from_slice(bytes);
            }
            (!message.piece.goes_on()).then(|| Ordered {
                position: one.position,
                sender: message.sender,
                channel: &log.channel(message.channel).name,
                key: first_key,
                bytes: match message.piece {
                    Piece::Whole => Cow::Borrowed(bytes),
                    _ => Cow::Owned(core::mem::take(&mut begun)),
                },
                text: message.text,
                departed: message.departed,
            })
        })
    }
}
