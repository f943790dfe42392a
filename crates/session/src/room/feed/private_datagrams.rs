//! Chooses what goes into the datagrams of one receiver: the awareness messages up to the last
//! tick, without those that the receiver is sent in datagrams that it shares with others, its
//! fan-out group (wire W38 to W42). The afec crate decides which messages are repeated.

use core::time::Duration;

use super::carry::Feed;
use super::downsampling::Released;
use super::record::RecordBuilder;
use crate::datagrams::Datagrams;
use crate::room::accounting::upstream::Upstreams;
use crate::room::log::{Carries, Channels, Covered, Cursor, Filter, Item, Value};
use crate::room::subscriptions::Subscriptions;
use crate::room::subscriptions::rate_limit::RateLimits;
use crate::wire::record::Number;
use crate::{Order, ParticipantId};

/// The awareness messages that one receiver is still to be sent in datagrams.
#[derive(Debug, Default)]
pub(in crate::room) struct PrivateDatagrams {
    pub(in crate::room) feed: Feed,
    /// When the next datagrams are due: the receiver's entry in the room's timers.
    pub(in crate::room) planned: Option<Duration>,
}

/// The receiver of private datagrams.
#[derive(Clone, Copy)]
pub(in crate::room) struct Receiver<'a> {
    pub(in crate::room) id: ParticipantId,
    pub(in crate::room) channels: &'a Subscriptions,
    pub(in crate::room) limits: &'a RateLimits,
    /// The messages that the receiver gets from a fan-out group instead.
    pub(in crate::room) covered: Option<Covered<'a>>,
}

/// The number of messages that [`PrivateDatagrams::fill`] added, and of their bytes before
/// compression.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::room) struct Added {
    pub(in crate::room) messages: u64,
    pub(in crate::room) bytes: u64,
}

/// Adds values to the datagrams: the datagrams and everything needed to make records.
struct Sink<'a> {
    datagrams: &'a mut Datagrams,
    builder: RecordBuilder<'a>,
    channels: &'a Subscriptions,
    upstreams: &'a Upstreams,
    added: Added,
}

impl PrivateDatagrams {
    /// The datagrams of a receiver that has all awareness up to this cursor.
    pub(in crate::room) fn at(cursor: Cursor) -> Self {
        PrivateDatagrams { feed: Feed::at(cursor), planned: None }
    }

    /// Hands the values that the receiver still has to be sent to `datagrams`, until `datagrams`
    /// accepts no more.
    pub(in crate::room) fn fill(
        &mut self,
        datagrams: &mut Datagrams,
        receiver: Receiver<'_>,
        released: &mut Released,
        builder: RecordBuilder<'_>,
        upstreams: &Upstreams,
    ) -> Added {
        let (now, log) = (builder.now, builder.log);
        let filter = Filter {
            receiver: Some(receiver.id),
            covered: receiver.covered,
            limits: Some(receiver.limits),
            now: Some(now),
            ..Filter::new(
                Channels::Open(receiver.channels),
                Carries::Datagrams { max: datagrams.max() },
            )
        };
        let channels = receiver.channels;
        let mut sink = Sink { datagrams, builder, channels, upstreams, added: Added::default() };
        while let Some(&order) = released.datagrams.first() {
            if let Some(value) = log.value(order)
                && channels.receives(value.message.channel).is_some()
                && !sink.push(order, value)
            {
                return sink.added;
            }
            released.datagrams.pop_first();
        }
        let carried = self.feed.carry(log, filter, |item| match item {
            Item::Value(order, value) => sink.push(order, value),
            Item::Transaction(_) => true,
        });
        debug_assert!(carried.is_ok(), "no transactions are due");
        sink.added
    }
}

impl Sink<'_> {
    /// Adds a value. Returns false if `datagrams` accepts no further message now.
    fn push(&mut self, order: Order, value: &Value) -> bool {
        if !self.datagrams.can_submit() {
            return false;
        }
        let message = &value.message;
        let number = Number::Awareness { index: value.index, after: value.after };
        let qos = self.builder.log.channel(message.channel).qos;
        let needs = self.upstreams.needs(message.channel, qos);
        let compress = self.channels.compress(message.channel);
        let now = self.builder.now;
        let record = self.builder.record(message, order, number, compress);
        self.datagrams.submit(now, &record, needs);
        self.added.messages += 1;
        self.added.bytes += message.bytes.len() as u64;
        true
    }
}
