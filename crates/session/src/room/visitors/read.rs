//! Reads messages for visitors. There is no queue for them: a visitor says how far it has read.

use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::{MissedBefore, NotRead, Page, Place, ReadMessage, Reading};
use crate::room::Room;
use crate::room::administration::look::{joined, looked_at};
use crate::room::administration::{LookedAt, Newest};
use crate::room::log::Transaction;
use crate::{Access, ChannelNo, Identity, Order, ParticipantId, Position};

impl Room {
    /// Reads what a [visitor](Room::visit) lacks of channels: transactions in the room's order,
    /// which in a stored room are durable, and the newest values. A page ends early if it is full;
    /// values come with the last page of the transactions, since they may refer to these.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::room::{Config, NotRead, Reading, Room, Visit};
    /// use groupwire_session::{AllowAll, Identity};
    ///
    /// let now = Duration::ZERO;
    /// let mut room = Room::new(Config::new("demo", 1), Box::new(AllowAll));
    /// let ann = room.visit(now, &Visit { identity: &Identity::default(), name: "" }).unwrap();
    /// let reading = Reading { channels: &["log"], after: None, limit: 10, max_bytes: 1 << 20 };
    /// assert_eq!(room.read(now, ann, &reading), Err(NotRead::NoChannel("log".to_string())));
    /// ```
    ///
    /// # Errors
    /// [`NotRead`] says why nothing can be read.
    pub fn read(
        &self,
        now: Duration,
        visitor: ParticipantId,
        reading: &Reading<'_>,
    ) -> Result<Page, NotRead> {
        let peer = self.peers.get(&visitor).ok_or(NotRead::Gone)?;
        let channels = reading.channels.iter().map(|name| self.readable(&peer.identity, name));
        let channels: Vec<ChannelNo> = channels.collect::<Result<_, _>>()?;
        let log = &self.common.log;
        let mut page = Page::default();
        let Some(after) = reading.after else {
            for (at, &channel) in channels.iter().enumerate() {
                let (limit, max_bytes) = (reading.limit, usize::MAX);
                let newest =
                    Newest { transactions_before: None, values_before: None, limit, max_bytes };
                let found = self.newest_transactions(now, channel, &newest);
                let mut bytes = 0;
                let fits = |one: &LookedAt| {
                    let before = bytes;
                    bytes += one.bytes.len();
                    before < reading.max_bytes
                };
                let found: Vec<_> = found.into_iter().take_while(fits).collect();
                page.messages.extend(found.into_iter().rev().map(|one| self.named(at, one)));
            }
            page.messages.sort_by_key(|one| one.message.position);
            page.place.position = log.durable();
            self.read_values(now, &channels, reading, Order(0), &mut page);
            return Ok(page);
        };
        page.place = after;
        for (at, &channel) in channels.iter().enumerate() {
            let gone = log.trimmed(channel).max(log.last_reset(channel)).min(log.durable());
            if gone > after.position {
                page.missed.push(MissedBefore { channel: at, position: gone });
            }
        }
        self.read_transactions(now, &channels, reading, after.position, &mut page);
        if !page.more {
            self.read_values(now, &channels, reading, after.order, &mut page);
        }
        Ok(page)
    }

    /// The channel of this name, if its messages may be read.
    fn readable(&self, identity: &Identity, name: &str) -> Result<ChannelNo, NotRead> {
        let log = &self.common.log;
        let channel = log.find_channel(name);
        let qos = channel.map_or_else(crate::Qos::transaction, |channel| log.channel(channel).qos);
        let access = Access { publish: false, subscribe: true };
        let granted = self.common.permissions.may_use(identity, name, access, qos);
        let refused = |why: String| NotRead::Refused { channel: name.into(), why };
        let granted = granted.map_err(refused)?;
        if !granted.access.and(access).subscribe {
            let why = "receiving the messages of this channel is not permitted".to_string();
            return Err(NotRead::Refused { channel: name.into(), why });
        }
        channel.ok_or_else(|| NotRead::NoChannel(name.into()))
    }

    fn read_transactions(
        &self,
        now: Duration,
        channels: &[ChannelNo],
        reading: &Reading<'_>,
        after: Position,
        page: &mut Page,
    ) {
        let log = &self.common.log;
        let durable = log.durable();
        let (mut pieces, mut bytes) = (VecDeque::<&Transaction>::new(), 0);
        for one in log.transactions_after(after).take_while(|one| one.position <= durable) {
            let Some(at) = channels.iter().position(|channel| *channel == one.message.channel)
            else {
                continue;
            };
            // Direct transactions are only for their receivers.
            if one.message.to.is_some() {
                continue;
            }
            if one.message.piece.begins() {
                if page.messages.len() >= reading.limit || bytes >= reading.max_bytes {
                    page.more = true;
                    return;
                }
                pieces.clear();
            }
            pieces.push_back(one);
            if !one.message.piece.goes_on() {
                if let Some(whole) = joined(now, &pieces, usize::MAX) {
                    bytes += whole.bytes.len();
                    page.messages.push(self.named(at, whole));
                }
                page.place.position = one.position;
            }
        }
        // A place behind the room's newest position is one of another room of this name.
        page.place.position = durable;
    }

    fn read_values(
        &self,
        now: Duration,
        channels: &[ChannelNo],
        reading: &Reading<'_>,
        after: Order,
        page: &mut Page,
    ) {
        let log = &self.common.log;
        // Later values may refer to transactions that are not durable yet.
        let end = log.order().min(log.durable_order());
        let (mut count, mut bytes) = (0, 0);
        page.place.order = after.min(end);
        for (order, value) in log.values_after(after).take_while(|(order, _)| *order <= end) {
            // Frames of sound are of no use to those who ask now and then (W119).
            let wanted = value.message.channel;
            let Some(at) = channels.iter().position(|channel| *channel == wanted) else { continue };
            if log.channel(wanted).qos.has_speakers() {
                continue;
            }
            if count >= reading.limit || bytes >= reading.max_bytes {
                page.more = true;
                return;
            }
            let value = looked_at(now, &value.message, usize::MAX, (Position(0), order));
            (count, bytes) = (count + 1, bytes + value.bytes.len());
            page.messages.push(self.named(at, value));
            page.place.order = order;
        }
        page.place.order = end;
    }

    /// A message with the user that sent it.
    fn named(&self, channel: usize, message: LookedAt) -> ReadMessage {
        let sender = self.common.members.roster.get(message.sender);
        let user = sender.and_then(|sender| sender.user.as_deref()).map(Into::into);
        ReadMessage { channel, user, message }
    }

    /// The place of somebody who has everything.
    pub fn newest_place(&self) -> Place {
        let log = &self.common.log;
        Place { position: log.durable(), order: log.order().min(log.durable_order()) }
    }
}
