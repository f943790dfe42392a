//! Reads a room's channels for programs that are not participants: the number and size of their
//! messages, and the newest ones.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use crate::room::Room;
use crate::room::administration::{ChannelContents, LookedAt, Newest, PartFacts};
use crate::room::log::{Message, Transaction};
use crate::{ChannelNo, Order, Position};

impl Room {
    /// What the room's channels hold.
    pub fn channels(&self) -> Vec<ChannelContents> {
        let log = &self.common.log;
        let mut held: BTreeMap<ChannelNo, [(usize, usize); 2]> = BTreeMap::new();
        let mut count = |kind: usize, message: &Message| {
            let (number, bytes) = &mut held.entry(message.channel).or_default()[kind];
            // A large transaction counts once.
            *number += usize::from(!message.piece.goes_on());
            *bytes += message.bytes.len();
        };
        log.transactions_after(Position(0)).for_each(|one| count(0, &one.message));
        log.values_after(Order(0)).for_each(|(_, value)| count(1, &value.message));
        let channels = log.channels().map(|(id, channel)| {
            let [transactions, values] = held.get(&id).copied().unwrap_or_default();
            let receives = |one: &&crate::room::Connection| one.channels.receives(id).is_some();
            let part = log.part_of(id).map(|part| PartFacts {
                name: part.name.clone(),
                as_of: part.as_of,
                size: part.bytes.len(),
            });
            ChannelContents {
                id,
                name: channel.name.clone(),
                qos: channel.qos,
                receivers: self.connections().filter(receives).count(),
                transactions,
                values,
                part,
                reset: log.last_reset(id),
            }
        });
        channels.collect()
    }

    /// The newest transactions of a channel, the newest one first, and the newest values; `None` if
    /// there is no such channel. Transactions of a stored room are among them once they are
    /// durable.
    pub fn newest(
        &self,
        now: Duration,
        channel: &str,
        wanted: &Newest,
    ) -> Option<(Vec<LookedAt>, Vec<LookedAt>)> {
        let id = self.common.log.find_channel(channel)?;
        Some((self.newest_transactions(now, id, wanted), self.newest_values(now, id, wanted)))
    }

    pub(in crate::room) fn newest_transactions(
        &self,
        now: Duration,
        channel: ChannelNo,
        wanted: &Newest,
    ) -> Vec<LookedAt> {
        let log = &self.common.log;
        let before = wanted.transactions_before.map_or(u64::MAX, |one| one.get().saturating_sub(1));
        let newest = log.transactions_up_to(Position(before).min(log.durable()));
        let (mut found, mut pieces) = (Vec::new(), VecDeque::new());
        // Direct transactions are only for their receivers.
        let is_shown =
            |one: &&Transaction| one.message.channel == channel && one.message.to.is_none();
        for one in newest.filter(is_shown) {
            if found.len() >= wanted.limit {
                break;
            }
            // Pieces come newest first, so the last piece comes first.
            if !one.message.piece.goes_on() {
                pieces.clear();
            }
            pieces.push_front(one);
            if one.message.piece.begins() {
                found.extend(joined(now, &pieces, wanted.max_bytes));
            }
        }
        found
    }

    fn newest_values(&self, now: Duration, channel: ChannelNo, wanted: &Newest) -> Vec<LookedAt> {
        // Frames of sound are not shown (W119).
        if self.common.log.channel(channel).qos.has_speakers() {
            return Vec::new();
        }
        let before = wanted.values_before.unwrap_or(Order(u64::MAX));
        let mut newest = VecDeque::new();
        let values = self.common.log.values_after(Order(0));
        let values = values.take_while(|(order, _)| *order < before);
        for one in values.filter(|(_, value)| value.message.channel == channel) {
            if newest.len() == wanted.limit {
                newest.pop_back();
            }
            newest.push_front(one);
        }
        let looked_at = newest.into_iter().map(|(order, value)| {
            let position = Position(0);
            looked_at(now, &value.message, wanted.max_bytes, (position, order))
        });
        looked_at.collect()
    }
}

/// A transaction in pieces as one, with the key of the first piece and the position of the last.
pub(in crate::room) fn joined(
    now: Duration,
    pieces: &VecDeque<&Transaction>,
    max_bytes: usize,
) -> Option<LookedAt> {
    let (first, last) = (pieces.front()?, pieces.back()?);
    let place = (last.position, last.order);
    let mut whole = looked_at(now, &first.message, max_bytes, place);
    for piece in pieces.iter().skip(1) {
        let bytes = &piece.message.bytes;
        whole.size += bytes.len();
        whole.bytes.extend(bytes.iter().take(max_bytes - whole.bytes.len()));
    }
    Some(whole)
}

pub(in crate::room) fn looked_at(
    now: Duration,
    message: &Message,
    max_bytes: usize,
    (position, order): (Position, Order),
) -> LookedAt {
    let bytes = &message.bytes;
    LookedAt {
        position,
        order,
        sender: message.sender,
        key: message.key.as_ref().map(|key| key.to_vec()),
        text: message.text,
        departed: message.departed,
        size: bytes.len(),
        bytes: bytes[..bytes.len().min(max_bytes)].to_vec(),
        age: now.saturating_sub(message.born),
    }
}
