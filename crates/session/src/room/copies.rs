//! Copies in datagrams of the transactions that a participant is sent over a stream of its own (wire.md W81 to W83).

use core::time::Duration;

use super::Room;
use super::journal::Journal;
use super::outgoing::Maker;
use super::participant::Connection;
use crate::Compress;
use crate::ids::{ParticipantId, Position};
use crate::wire::record::Number;

impl Room {
    /// Looks when copies are due.
    pub(super) fn copies_are_due(&mut self, now: Duration, id: ParticipantId) {
        let Some(connection) = self.connection(id) else { return };
        let datagrams = connection.link.datagrams.as_ref();
        let Some(due) = datagrams.and_then(|datagrams| datagrams.timeout(now)) else { return };
        let due = connection.datagrams_at.map_or(due, |before| before.min(due));
        self.datagrams_are_due(now, id, Some(due));
    }
}

impl Connection {
    /// Copies the transactions that the stream was handed behind position `from` of the log, if its path needs that. `told`:
    /// the last one of which the stream had told before.
    pub(super) fn copy_news(
        &mut self,
        id: ParticipantId,
        (from, told): (Position, Position),
        journal: &Journal,
        maker: &mut Maker<'_>,
    ) {
        let until = self.log_cursor;
        if until == from || self.joining.is_some() || self.membership.is_member() {
            return;
        }
        let Some(mut datagrams) = self.link.datagrams.take() else { return };
        // A stream that began anew has told nothing: all before is taken for what the receiver is sent.
        let mut previous = if told == Position(0) { from } else { told };
        for one in journal.transactions_after(from).take_while(|one| one.position <= until) {
            let message = &one.message;
            let opened = self.channels.get(&message.channel);
            let is_own = message.sender == id;
            if !is_own && !opened.is_some_and(|opened| opened.access.subscribe) {
                continue;
            }
            let qos = maker.channels[message.channel.place()].qos;
            if datagrams.wants_copies(&qos) {
                let number = Number::Transaction { counter: one.counter, position: one.position };
                let compress = opened.map_or(Compress::Template, |opened| opened.compress);
                let now = maker.now;
                let record = match is_own {
                    true => maker.own(message, number, compress),
                    false => maker.record(message, one.order, number, compress),
                };
                datagrams.copy(now, &record, previous, &qos);
            }
            previous = one.position;
        }
        self.link.datagrams = Some(datagrams);
    }
}
