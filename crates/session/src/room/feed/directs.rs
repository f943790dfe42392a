//! Transactions for one participant, on the way to it and, without contents, back to its sender (wire
//! W114). The private stream carries them before the transactions after them in the order, and the
//! receiver keeps them until it reaches their places.

use super::private_stream::{Payload, Receiver};
use crate::Position;
use crate::room::log::Direct;
use crate::wire::record::Number;

/// What of these a transport was handed.
#[derive(Debug, Default)]
pub(in crate::room) struct DirectFeed {
    /// There may be some up to this position.
    pub(in crate::room) due: Position,
    /// Those of others up to this position were handed to the transport.
    received: Position,
    /// The participant's own ones up to this position are confirmed.
    own: Position,
    /// The place of the last one that was handed to the transport.
    pub(in crate::room) last: Position,
}

impl DirectFeed {
    /// For a participant that has the log up to this position, when there may be some up to `due`. All that waits for it is sent, as it may have come to the place of
    /// something that its last transport lost.
    pub(in crate::room) fn new(position: Position, due: Position) -> Self {
        DirectFeed { own: position, due, ..DirectFeed::default() }
    }

    /// True if something may have to be sent.
    pub(in crate::room) fn is_due(&self) -> bool {
        self.received < self.due || self.own < self.due
    }

    /// A value that changes whenever something is handed to the transport.
    pub(in crate::room) fn progress(&self) -> [Position; 2] {
        [self.received, self.own]
    }

    /// True if the receiver, which was told position `told` and is sent all up to `until`, has to be told its position.
    pub(in crate::room) fn is_owed(&self, told: Position, until: Position) -> bool {
        told < self.last && self.last <= until
    }

    /// Adds what is due up to the position `until`. Returns true if all of it fitted.
    pub(super) fn add(
        &mut self,
        payload: &mut Payload<'_>,
        receiver: Receiver<'_>,
        until: Position,
    ) -> bool {
        if !self.is_due() {
            return true;
        }
        let log = payload.builder.log;
        let others = log.directs.waiting(receiver.id, self.received);
        for one in others.take_while(|one| one.position <= until) {
            let &Direct { ref message, counter, position, order } = one;
            let number = Number::Direct { counter, position };
            let compress = receiver.channels.compress(message.channel);
            if !payload.push(message, order, number, false, compress) {
                return false;
            }
            (self.received, self.last) = (position, position.max(self.last));
        }
        self.received = until.max(self.received);
        let own = log.transactions_after(self.own).take_while(|one| one.position <= until);
        let own = own.filter(|one| {
            let message = &one.message;
            let start = receiver.starts.get(&message.channel).copied().unwrap_or_default();
            message.sender == receiver.id && message.to.is_some() && one.position > start
        });
        for one in own {
            let number = Number::Direct { counter: one.counter, position: one.position };
            let compress = receiver.channels.compress(one.message.channel);
            if !payload.push_own(&one.message, number, false, compress) {
                return false;
            }
            (self.own, self.last) = (one.position, one.position.max(self.last));
        }
        self.own = until.max(self.own);
        true
    }
}
