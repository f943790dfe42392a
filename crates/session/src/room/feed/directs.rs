//! Direct transactions on the way to their receivers and, without contents, back to their senders
//! (wire W114). The private stream sends them before later transactions of the room's order; the
//! receiver keeps them until it reaches their places.

use super::private_stream::{Payload, Receiver};
use crate::Position;
use crate::room::log::Direct;
use crate::wire::record::Number;

/// The direct transactions to and from one participant that its transport was handed.
#[derive(Debug, Default)]
pub(in crate::room) struct DirectFeed {
    /// Direct transactions may wait up to this position.
    pub(in crate::room) due: Position,
    /// Received direct transactions up to this position were handed to the transport.
    received: Position,
    /// Confirmations of own direct transactions up to this position were handed to the transport.
    own: Position,
    /// The position of the last direct transaction that was handed to the transport.
    pub(in crate::room) last: Position,
    /// The receiver said that its application has those up to this position, also by an earlier
    /// transport.
    pub(in crate::room) acknowledged: Position,
}

impl DirectFeed {
    /// The feed of a participant that has the log up to `position`. Direct transactions may wait up
    /// to `due`. All that wait are sent again, also those before `position`: the last transport may
    /// have lost them.
    pub(in crate::room) fn new(position: Position, due: Position) -> Self {
        DirectFeed { own: position, due, ..DirectFeed::default() }
    }

    /// True if a direct transaction may have to be sent.
    pub(in crate::room) fn is_due(&self) -> bool {
        self.received < self.due || self.own < self.due
    }

    /// A value that changes whenever a direct transaction is handed to the transport.
    pub(in crate::room) fn progress(&self) -> [Position; 2] {
        [self.received, self.own]
    }

    /// True if the receiver has to be told its position: the last direct transaction lies between
    /// `told` and `until`.
    pub(in crate::room) fn is_owed(&self, told: Position, until: Position) -> bool {
        told < self.last && self.last <= until
    }

    /// Adds direct transactions up to the position `until`, and confirmations of own ones, in the
    /// order of their positions: if not all fit, the receiver delivers the first ones before the
    /// others arrive. Returns true if all of them fitted.
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
        let mut others = others.take_while(|one| one.position <= until).peekable();
        let own = log.transactions_after(self.own).take_while(|one| one.position <= until);
        let own = own.filter(|one| {
            let message = &one.message;
            let start = receiver.starts.get(&message.channel).copied().unwrap_or_default();
            message.sender == receiver.id && message.to.is_some() && one.position > start
        });
        let mut own = own.peekable();
        loop {
            let before = own.peek().map(|one| one.position);
            if let Some(one) = others.next_if(|one| before.is_none_or(|own| one.position <= own)) {
                let &Direct { ref message, counter, position, order } = one;
                let number = Number::Direct { counter, position };
                let compress = receiver.channels.compress(message.channel);
                if !payload.push(message, order, number, false, compress) {
                    return false;
                }
                (self.received, self.last) = (position, position.max(self.last));
            } else if let Some(one) = own.next() {
                let number = Number::Direct { counter: one.counter, position: one.position };
                let compress = receiver.channels.compress(one.message.channel);
                if !payload.push_own(&one.message, number, false, compress) {
                    return false;
                }
                (self.own, self.last) = (one.position, one.position.max(self.last));
            } else {
                break;
            }
        }
        (self.received, self.own) = (until.max(self.received), until.max(self.own));
        true
    }
}
