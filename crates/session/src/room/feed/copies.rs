//! Copies in datagrams of the transactions that a private stream carries (wire W81 to W83). How often each is copied is
//! decided in `datagrams/copies.rs`.

use super::carry::Feed;
use super::private_stream::Receiver;
use super::record::RecordBuilder;
use crate::Position;
use crate::datagrams::Datagrams;
use crate::room::log::Item;
use crate::wire::record::Number;

/// Copies the transactions that the stream was handed, if the path loses so much that this pays. `news`: the positions between
/// which they are. `told`: the last position of which the stream had told before.
pub(in crate::room) fn copy(
    (from, until): (Position, Position),
    told: Position,
    datagrams: &mut Datagrams,
    receiver: Receiver<'_>,
    builder: &mut RecordBuilder<'_>,
) {
    let (log, now) = (builder.log, builder.now);
    // A stream that began anew has told nothing: all before counts as something that the receiver was sent.
    let mut previous = if told == Position(0) { from } else { told };
    let mut feed = Feed::default();
    (feed.cursor.log, feed.until.log) = (from, until);
    let copied = feed.carry(log, receiver.news(now), |item| {
        let Item::Transaction(one) = item else { return true };
        let message = &one.message;
        let qos = log.channel(message.channel).qos;
        if datagrams.wants_copies(&qos) {
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
