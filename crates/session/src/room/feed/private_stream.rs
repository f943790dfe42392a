//! The stream of one receiver. It carries, in this order: older messages of channels that were
//! opened late, settled values (sent as datagrams and not replaced since), values of rate-limited
//! channels, and new messages up to the last tick.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::carry::Feed;
use super::directs::DirectFeed;
use super::downsampling::Released;
use super::gaps::gaps;
use super::participants::Introductions;
use super::record::RecordBuilder;
use crate::link::Coders;
use crate::room::log::{
    Carries, Channels, Covered, Cursor, Filter, Item, Message, NotInMemory, Starts, Transaction,
    Value,
};
use crate::room::subscriptions::Subscriptions;
use crate::room::subscriptions::rate_limit::RateLimits;
use crate::wire::frame::Frame;
use crate::wire::payload::SharedModel;
use crate::wire::record::{Number, Record};
use crate::{ChannelNo, Compress, Order, ParticipantId, Position};

/// See the [module](self).
pub(in crate::room) struct PrivateStream {
    pub(in crate::room) feed: Feed,
    /// Older messages that the receiver lacks of channels that it opened late. One channel is sent
    /// after the other.
    pub(in crate::room) history: VecDeque<History>,
    pub(in crate::room) directs: DirectFeed,
    /// The model of the receiver's encoder, as long as it equals the model of other newcomers.
    pub(in crate::room) model: Option<Arc<SharedModel>>,
    /// Aggregated values up to this order are not sent: they came before the receiver joined.
    pub(in crate::room) present_from: Order,
}

/// The older messages of channels: their transactions, and the newest awareness value of each key.
/// The channels are one that was opened late, or all those of a part of the snapshot, which begin
/// anew with it because one of them was opened late.
#[derive(Debug)]
pub(in crate::room) struct History {
    /// The channels that were opened late: SYNCED is sent for each of them after the older
    /// messages.
    pub(in crate::room) opened: Vec<ChannelNo>,
    pub(in crate::room) channels: Vec<ChannelNo>,
    pub(in crate::room) feed: Feed,
}

/// The receiver of a private stream.
#[derive(Clone, Copy)]
pub(in crate::room) struct Receiver<'a> {
    pub(in crate::room) id: ParticipantId,
    pub(in crate::room) channels: &'a Subscriptions,
    pub(in crate::room) limits: &'a RateLimits,
    /// The messages that the receiver gets from a shared stream instead.
    pub(in crate::room) covered: Option<Covered<'a>>,
    /// The most bytes of a datagram to the receiver; `None` if its transport has no datagrams.
    pub(in crate::room) max_datagram: Option<usize>,
    /// Messages up to this order are late-joiner state: they were in the room before the receiver
    /// joined.
    pub(in crate::room) state_until: Order,
    /// Aggregated values up to this order are not sent: they came before the receiver joined.
    pub(in crate::room) present_from: Order,
    /// Channels whose transactions the receiver needs only from a later position on.
    pub(in crate::room) starts: &'a Starts,
}

impl<'a> Receiver<'a> {
    /// The filter for all that the receiver is sent of its channels.
    pub(in crate::room) fn all(&self) -> Filter<'a> {
        Filter {
            starts: Some(self.starts),
            ..Filter::new(Channels::Open(self.channels), Carries::All)
        }
    }

    /// The messages that are sent over the stream first: those that fit no datagram, transactions,
    /// and late-joiner state.
    pub(in crate::room) fn stream(&self) -> Carries {
        Carries::Stream { max_datagram: self.max_datagram, state_until: self.state_until }
    }

    /// The filter for new messages of the stream. It leaves out values of rate-limited channels.
    pub(super) fn news(&self, now: Duration) -> Filter<'a> {
        Filter {
            receiver: Some(self.id),
            covered: self.covered,
            limits: Some(self.limits),
            now: Some(now),
            present_from: self.present_from,
            starts: Some(self.starts),
            ..Filter::new(Channels::Open(self.channels), self.stream())
        }
    }

    /// The filter for the older messages of a channel that was opened late. It leaves out
    /// aggregated values: they are events of the past, not state.
    pub(in crate::room) fn history<'b>(&self, channels: &'b [ChannelNo]) -> Filter<'b> {
        Filter {
            receiver: Some(self.id),
            now: Some(Duration::ZERO),
            present_from: Order(u64::MAX),
            ..Filter::new(Channels::Few(channels), Carries::All)
        }
    }

    fn settled(&self, max_datagram: usize) -> Filter<'a> {
        let carries = Carries::Settled { max_datagram, state_until: self.state_until };
        Filter {
            receiver: Some(self.id),
            covered: self.covered,
            ..Filter::new(Channels::Open(self.channels), carries)
        }
    }
}

impl PrivateStream {
    /// The stream of a receiver that has the log up to `position` and no awareness yet. It may be
    /// sent everything up to `until`.
    pub(in crate::room) fn new(position: Position, until: Cursor, directs: DirectFeed) -> Self {
        let cursor = Cursor { log: position, awareness: Order(0), settled: until.settled };
        let (feed, history) = (Feed { cursor, until }, VecDeque::new());
        PrivateStream { feed, history, directs, model: None, present_from: until.awareness }
    }

    /// Fills a payload with the messages that the receiver still has to be sent. Returns control
    /// frames to send after the payload.
    ///
    /// # Errors
    /// [`NotInMemory`] if transactions that the receiver still has to be sent are no longer in
    /// memory.
    pub(in crate::room) fn fill(
        &mut self,
        payload: &mut Payload<'_>,
        receiver: Receiver<'_>,
        released: &mut Released,
    ) -> Result<Vec<Frame<'static>>, NotInMemory> {
        let mut notices = Vec::new();
        if self.directs.add(payload, receiver, self.feed.until.log)
            && self.add_history(payload, receiver, &mut notices)
            && self.add_settled(payload, receiver)?
            && add_released(payload, receiver, released)
        {
            let (log, now) = (payload.builder.log, payload.builder.now);
            let until = self.feed.until;
            if receiver.covered.is_some() {
                // All transactions come over the shared stream, because their order must be kept.
                self.feed.until.log = self.feed.cursor.log;
            }
            let carried =
                self.feed.carry(log, receiver.news(now), |item| payload.push_item(item, receiver));
            self.feed.until = until;
            carried?;
        }
        Ok(notices)
    }

    /// Adds older messages of channels that were opened late. Returns true if all of them fitted.
    fn add_history(
        &mut self,
        payload: &mut Payload<'_>,
        receiver: Receiver<'_>,
        notices: &mut Vec<Frame<'static>>,
    ) -> bool {
        let log = payload.builder.log;
        while let Some(History { opened, channels, feed }) = self.history.front_mut() {
            for &channel in &*channels {
                notices.extend(gaps(log, channel, feed.cursor.log, feed.until.log));
            }
            if let Some(trimmed) = channels.iter().map(|&channel| log.trimmed(channel)).max() {
                feed.cursor.log = feed.cursor.log.max(trimmed.min(feed.until.log));
            }
            let carried = feed.carry(log, receiver.history(channels), |item| {
                let (message, number) = match item {
                    Item::Transaction(Transaction { message, counter, position, .. }) => {
                        (message, Number::Fill { counter: *counter, position: *position })
                    }
                    Item::Value(_, Value { message, index, after, .. }) => {
                        (message, Number::Awareness { index: *index, after: *after })
                    }
                };
                let compress = receiver.channels.compress(message.channel);
                payload.push(message, item.order(), number, true, compress)
            });
            if !carried.is_ok_and(|carried| carried.is_all) {
                return false;
            }
            notices.extend(opened.drain(..).map(|channel| Frame::Synced { channel }));
            self.history.pop_front();
        }
        true
    }

    /// W41: adds values that were sent as datagrams and not replaced by newer ones. Returns true if
    /// all of them fitted.
    fn add_settled(
        &mut self,
        payload: &mut Payload<'_>,
        receiver: Receiver<'_>,
    ) -> Result<bool, NotInMemory> {
        let Some(max_datagram) = receiver.max_datagram else { return Ok(true) };
        let log = payload.builder.log;
        let mut feed = Feed {
            until: self.feed.until.with_log(self.feed.cursor.log),
            cursor: self.feed.cursor,
        };
        let carried = feed.carry(log, receiver.settled(max_datagram), |item| {
            let is_pushed = payload.push_item(item, receiver);
            if is_pushed {
                payload.coders.encoder.note_repeated();
            }
            is_pushed
        })?;
        // Only `settled` is taken over. At the first housekeeping after a join, `until.settled` may
        // be before the cursor, which then stays.
        self.feed.cursor.settled = feed.cursor.settled;
        Ok(carried.is_all)
    }
}

/// Adds values of rate-limited channels whose turn has come. Returns true if all of them fitted.
fn add_released(
    payload: &mut Payload<'_>,
    receiver: Receiver<'_>,
    released: &mut Released,
) -> bool {
    let log = payload.builder.log;
    while let Some(&order) = released.stream.first() {
        if let Some(value) = log.value(order)
            && receiver.channels.receives(value.message.channel).is_some()
            && !payload.push_item(Item::Value(order, value), receiver)
        {
            return false;
        }
        released.stream.pop_first();
    }
    true
}

/// A payload that is being filled.
pub(in crate::room) struct Payload<'a> {
    /// Bytes left in the packet.
    pub(in crate::room) remaining: usize,
    pub(in crate::room) coders: &'a mut Coders,
    pub(in crate::room) builder: RecordBuilder<'a>,
    /// The time to which the ages of late-joiner state are counted.
    pub(in crate::room) state_at: Duration,
    /// The number of messages that were added, without the receiver's own, and of their bytes
    /// before compression.
    pub(in crate::room) messages: u64,
    pub(in crate::room) bytes: u64,
    pub(in crate::room) introductions: Introductions<'a>,
}

impl Payload<'_> {
    /// Adds a message. Returns false if it does not fit into this packet.
    fn push_item(&mut self, item: Item<'_>, receiver: Receiver<'_>) -> bool {
        let state = item.order() <= receiver.state_until;
        match item {
            Item::Transaction(Transaction { message, counter, position, order }) => {
                let number = Number::Transaction { counter: *counter, position: *position };
                let compress = receiver.channels.compress(message.channel);
                match message.sender == receiver.id {
                    true => self.push_own(message, number, state, compress),
                    false => self.push(message, *order, number, state, compress),
                }
            }
            Item::Value(order, Value { message, index, after, .. }) => {
                let number = Number::Awareness { index: *index, after: *after };
                let compress = receiver.channels.compress(message.channel);
                self.push(message, order, number, state, compress)
            }
        }
    }

    /// Adds a message, compressed as `compress` says. Returns false if it does not fit into this
    /// packet.
    pub(super) fn push(
        &mut self,
        message: &Message,
        order: Order,
        number: Number,
        state: bool,
        compress: Compress,
    ) -> bool {
        if !self.introduces(message.sender, order)
            || !self.takes(message, message.bytes.len(), compress)
        {
            return false;
        }
        let now = if state { self.state_at } else { self.builder.now };
        let record = self.builder.record(message, order, number, compress);
        let age = now.saturating_sub(message.born);
        self.coders.encoder.push(&Record { state, age, ..record });
        self.coders.encoder.note_qos(&self.builder.log.channel(message.channel).qos);
        self.messages += 1;
        self.bytes += message.bytes.len() as u64;
        true
    }

    /// Adds the confirmation of the receiver's own message, without the message's bytes. Returns
    /// false if it does not fit.
    pub(super) fn push_own(
        &mut self,
        message: &Message,
        number: Number,
        state: bool,
        compress: Compress,
    ) -> bool {
        if !self.takes(message, 0, compress) {
            return false;
        }
        let record = self.builder.own(message, number, compress);
        self.coders.encoder.push(&Record { state, ..record });
        true
    }

    /// Keeps place for the entry of a sender that the receiver does not know. Returns false if this
    /// packet has none.
    fn introduces(&mut self, sender: ParticipantId, order: Order) -> bool {
        let Some(size) = self.introductions.needs(sender, order) else { return true };
        let remaining = self.remaining.saturating_sub(size);
        if !self.coders.encoder.fits(0, remaining) {
            return false;
        }
        self.remaining = remaining;
        self.introductions.add(sender);
        true
    }

    fn takes(&self, message: &Message, bytes: usize, compress: Compress) -> bool {
        let encoder = &self.coders.encoder;
        encoder.takes(self.builder.coding(message.channel, compress))
            && encoder.fits(bytes, self.remaining)
    }
}
