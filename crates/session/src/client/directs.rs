//! Direct transactions (wire W114 to W116): received ones that wait for their places in the order,
//! and own ones whose receipts have not come.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::api::{Output, Recipient};
use super::channel_id::ChannelId;
use super::event::{Event, Incoming};
use super::outbox::Outbox;
use super::session::Session;
use crate::ids::{Counter, Position};
use crate::{Error, Receipt};

/// The most direct transactions that wait for their places. A server keeps fewer for a participant.
const MAX_HELD: usize = 4096;

/// The own direct transactions without a receipt, and the position of the last received one.
#[derive(Debug, Default)]
pub(super) struct Directs {
    /// Own direct transactions that are ordered and whose receipts have not come.
    awaited: Vec<(Counter, ChannelId, Recipient)>,
    /// Receipts of own direct transactions that are not known to be ordered.
    early: Vec<(Counter, Receipt)>,
    /// The position of the last direct transaction that the application received.
    pub(super) received: Position,
}

/// The direct transactions of one transport that wait for their places.
#[derive(Default)]
pub(super) struct Held {
    /// Positions in ascending order, each with the counter and the message; an own transaction has
    /// no message.
    list: Vec<(Position, Counter, Option<Incoming>)>,
    /// The position for the next RECEIVED frame: the application has its direct transactions up to
    /// there.
    pub(super) received: Option<Position>,
}

impl Held {
    /// Keeps a direct transaction until all transactions before it have come.
    ///
    /// # Errors
    /// More direct transactions wait than a room keeps.
    pub(super) fn add(
        &mut self,
        session: &mut Session,
        (position, counter): (Position, Counter),
        message: Option<Incoming>,
    ) -> Result<(), Error> {
        if self.list.len() >= MAX_HELD {
            let what = "transactions for one participant";
            return Err(Error::TooMany { what, limit: MAX_HELD });
        }
        let place = self.list.iter().position(|(other, ..)| *other > position);
        self.list.insert(place.unwrap_or(self.list.len()), (position, counter, message));
        let until = session.delivered.position;
        self.release(session, until);
        Ok(())
    }

    /// Delivers the direct transactions up to the position `until`, because all transactions before
    /// them have come.
    pub(super) fn release(&mut self, session: &mut Session, until: Position) {
        while self.list.first().is_some_and(|(first, ..)| *first <= until) {
            match self.list.remove(0) {
                (position, counter, None) => session.confirm_direct(counter, position),
                (position, _, Some(message)) => {
                    // The message is dropped if its channel was closed meanwhile.
                    if session.channels[message.channel.0 as usize].id.is_some() {
                        session.directs.received = position;
                        self.received = Some(position);
                        session.emit(Event::Direct(message));
                    }
                }
            }
        }
    }
}

impl Directs {
    /// The own direct transaction with this counter is ordered: reports its receipt if that has
    /// come, else waits for it.
    pub(super) fn await_receipt(
        &mut self,
        counter: Counter,
        channel: ChannelId,
        to: Recipient,
    ) -> Option<Event> {
        match self.early.iter().position(|(early, _)| *early == counter) {
            Some(at) => {
                let (_, receipt) = self.early.remove(at);
                Some(Event::Receipt { channel, to, receipt })
            }
            None => {
                self.awaited.push((counter, channel, to));
                None
            }
        }
    }

    /// The server reports the outcome of an own direct transaction. It may repeat a receipt of an
    /// earlier transport. Returns the event if the transaction is ordered.
    pub(super) fn on_receipt(
        &mut self,
        counter: Counter,
        receipt: Receipt,
        outbox: &Outbox,
    ) -> Option<Event> {
        if let Some(at) = self.awaited.iter().position(|(awaited, ..)| *awaited == counter) {
            let (_, channel, to) = self.awaited.remove(at);
            return Some(Event::Receipt { channel, to, receipt });
        }
        if outbox.find(counter).is_some() {
            self.early.push((counter, receipt));
        }
        None
    }

    /// The session is lost, so the server will send no receipts for its direct transactions. In
    /// another incarnation of the room (not `is_same`), participants have other numbers, so waiting
    /// direct transactions are given up. `outputs` gets the receipts of all these transactions.
    pub(super) fn start_over(
        &mut self,
        is_same: bool,
        outbox: &mut Outbox,
        outputs: &mut VecDeque<Output>,
    ) {
        self.early.clear();
        let mut lost = core::mem::take(&mut self.awaited);
        if !is_same {
            self.received = Position(0);
            outbox.retain(|pending| {
                let channel = ChannelId(pending.channel as u32);
                pending.item.to.is_none_or(|to| {
                    lost.push((Counter(0), channel, to));
                    false
                })
            });
        }
        let receipt = Receipt::Unknown;
        for (_, channel, to) in lost {
            outputs.push_back(Output::Event(Event::Receipt { channel, to, receipt }));
        }
    }
}
