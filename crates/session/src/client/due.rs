//! Which messages are due on a carrier, and when the next one is.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::time::Duration;

use super::channel::Channel;
use super::compose::SHARES_PACKET;
use super::outbox::Item;
use super::phase::{Hold, Joined};
use super::session::Session;
use crate::datagrams::Datagrams;
use crate::ids::{Counter, Order};
use crate::trace::Carrier;

/// A message to send. Messages are sent in the order in which the application submitted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The transaction at this place among the pending ones.
    Transaction(usize),
    /// An awareness message of the channel at this place.
    Awareness(usize),
    /// A settled value of the channel at this place: it may have been lost and no newer one
    /// followed (W41).
    Settled(usize),
}

impl Joined {
    /// The next time at which there is something to send on a carrier that accepts packets now.
    pub(super) fn sends_at(&self, session: &Session, now: Duration) -> Option<Duration> {
        let datagrams = self.datagrams.as_ref();
        let datagram = datagrams.and_then(|datagrams| datagrams.timeout(now));
        let takes = datagrams.is_some_and(Datagrams::ready);
        let answer = self.groups.answer_at().filter(|_| takes);
        [self.next_slot(session), datagram, answer].into_iter().flatten().min()
    }

    /// The next time at which a waiting message may be sent. Only messages whose carrier accepts
    /// packets now are considered.
    fn next_slot(&self, session: &Session) -> Option<Duration> {
        let datagrams = self.datagrams.as_ref();
        let takes = |carrier: Carrier| match carrier {
            Carrier::Stream => self.link.ready(),
            Carrier::Datagrams => datagrams.is_some_and(Datagrams::ready),
        };
        let open = || session.channels.iter().filter(|channel| channel.takes_messages());
        let clear = datagrams.and_then(Datagrams::clear_at).unwrap_or_default();
        let slots = |channel: &Channel| {
            let waiting = channel.values.queue.after(Order(0));
            let carriers = waiting.map(|(_, item)| carrier_of(datagrams, channel, item));
            let slots = carriers.filter(|carrier| takes(*carrier)).map(|carrier| match carrier {
                Carrier::Stream => channel.next_slot,
                Carrier::Datagrams => channel.next_slot.max(clear),
            });
            slots.min()
        };
        let awareness = open().filter_map(slots);
        let sendable = session.outbox.sendable(|at| session.channels[at].takes_messages());
        let transactions = sendable.zip(self.releases(session.outbox.numbered));
        let transactions = transactions.map(|((_, pending), release)| {
            session.channels[pending.channel].next_slot.max(release)
        });
        let over_stream = transactions.chain(
            open().filter_map(|channel| channel.values.settled_at()).map(|at| at + SHARES_PACKET),
        );
        awareness.chain(over_stream.filter(|_| self.link.ready())).min()
    }

    /// The earliest send time of each unsent transaction, in order: zero, or the end of the hold
    /// that the server asked for (W99). `numbered`: the newest transaction that was numbered.
    fn releases(&self, numbered: Counter) -> impl Iterator<Item = Duration> + use<> {
        let Hold { until, from } = self.hold;
        let free = from.get().saturating_sub(numbered.next().get());
        core::iter::repeat_n(Duration::ZERO, free as usize).chain(core::iter::repeat(until))
    }

    /// The messages that may be sent now. With a transaction, all messages that were submitted
    /// before it are sent, even above the maximum rate, so that the transaction does not overtake
    /// them: a drag arrives before its drop, unless their carriers differ. `settled`: values are
    /// settled that were settled at this time.
    pub(super) fn due(
        &self,
        session: &Session,
        now: Duration,
        settled: Duration,
        carrier: Carrier,
    ) -> Vec<(Order, Due)> {
        let Session { outbox, channels, transports, .. } = session;
        let mut due = Vec::new();
        let mut transactions_due = false;
        let released =
            outbox.sendable(|at| channels[at].takes_messages()).zip(self.releases(outbox.numbered));
        let released = released.take_while(|(_, release)| *release <= now);
        let transactions = released.map(|((at, pending), _)| {
            transactions_due |= channels[pending.channel].next_slot <= now;
            (pending.order, Due::Transaction(at))
        });
        due.extend(transactions);
        if !transactions_due || carrier != Carrier::Stream {
            due.clear();
        }
        let datagrams = self.datagrams.as_ref();
        let open = channels.iter().enumerate().filter(|(_, channel)| channel.takes_messages());
        for (at, channel) in open {
            if transactions_due || channel.next_slot <= now {
                let waiting = channel.values.queue.after(Order(0));
                let queued =
                    waiting.filter(|(_, item)| carrier_of(datagrams, channel, item) == carrier);
                due.extend(queued.map(|(order, _)| (order, Due::Awareness(at))));
            }
            if carrier == Carrier::Stream {
                let values =
                    channel.values.settled(settled, transports.opened, datagrams.is_some());
                due.extend(values.map(|order| (order, Due::Settled(at))));
            }
        }
        // A heap's code is a tenth of the code that sorting takes, and the browser's core is small.
        BinaryHeap::from(due).into_sorted_vec()
    }
}

/// The carrier of a message: datagrams if it fits into one, else the stream.
fn carrier_of(datagrams: Option<&Datagrams>, channel: &Channel, item: &Item) -> Carrier {
    let key = item.key.as_ref().map_or(0, |key| key.len());
    let id = channel.id.unwrap_or_default();
    match datagrams {
        Some(datagrams) if datagrams.fits(id, item.bytes.len(), key) => Carrier::Datagrams,
        _ => Carrier::Stream,
    }
}
