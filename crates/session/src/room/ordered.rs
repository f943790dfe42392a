//! A room's transactions for programs that are not participants, such as a journal on disk or a feed to another process.

use super::Room;
use crate::{ParticipantId, Position};

/// A transaction at its place in the room's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordered<'a> {
    /// The place in the room's order. Positions begin at 1 and have no gaps.
    pub position: Position,
    /// The participant that sent the transaction.
    pub sender: ParticipantId,
    /// The name of the channel.
    pub channel: &'a str,
    /// The sender's key, if it gave one.
    pub key: Option<&'a [u8]>,
    /// The content.
    pub bytes: &'a [u8],
    /// True if the content was sent as text. It is UTF-8 then.
    pub text: bool,
}

impl Room {
    /// The transactions after `position` that are durable, in the room's order. Those that the log no longer holds in memory are left
    /// out (`Limits::max_log_bytes`), so a caller that needs all of them calls this after each input.
    pub fn transactions_after(&self, position: Position) -> impl Iterator<Item = Ordered<'_>> {
        let log = &self.common.log;
        let durable = log.durable();
        let news = log.transactions_after(position).take_while(move |one| one.position <= durable);
        news.map(|one| Ordered {
            position: one.position,
            sender: one.message.sender,
            channel: &log.channel(one.message.channel).name,
            key: one.message.key.as_deref(),
            bytes: &one.message.bytes,
            text: one.message.text,
        })
    }
}
