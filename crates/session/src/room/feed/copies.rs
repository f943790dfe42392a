//! Copies the transactions of a private stream into datagrams (wire W81 to W83).
//! `datagrams/copies.rs` decides how often each is copied.

use super::carry::Feed;
use super::private_stream::Receiver;
use super::record::RecordBuilder;
use crate::Position;
use crate::datagrams::Datagrams;
use crate::room::log::{Filter, Item};
use crate::wire::record::Number;

/// If the path loses enough packets, copies into datagrams the transactions after position `from`,
/// up to `until`, which the stream was just handed. `told`: the last position that the stream had
/// announced to the receiver before them.
pub(in crate::room) fn copy(
    (from, until): (Position, Position),
    told: Position,
    datagrams: &mut Datagrams,
    receiver: Receiver<'_>,
    builder: &mut RecordBuilder<'_>,
) {
    let (log, now) = (builder.log, builder.now);
    // A stream that was restarted has announced no position yet: the receiver counts as having
    // everything up to `from`.
    let mut previous = if told == Position(0) { from } else { told };
    let mut feed = Feed::default();
    (feed.cursor.log, feed.until.log) = (from, until);
    // The receiver needs all earlier direct transactions before it can take a copy of a later
    // transaction (W114).
    let filter = Filter { places: true, ..receiver.news(now) };
    let copied = feed.carry(log, filter, |item| {
        let Item::Transaction(one) = item else { return true };
        let message = &one.message;
        let qos = log.channel(message.channel).qos;
        if message.to.is_none() && datagrams.wants_copies(&qos) {
            let number = Number::Transaction { counter: one.counter, position: one.position };
            let compress = receiver.channels.compress(message.channel);
            let record = match message.sender == receiver.id {
                true => builder.own(message, number, compress),
                false => builder.record(message, one.order, number, compress),
            };
            datagrams.add_copy(now, &record, previous, &qos);
        }
        previous = one.position;
        true
    });
    debug_assert!(copied.is_ok(), "the stream was handed these transactions just now");
}
