//! Fewer values for who asks for fewer (wire.md W78). Nothing is decoded and no value kept for it: a value that comes
//! before its receiver's next slot is left to the journal, where a newer one of its key takes its place.

use alloc::collections::BTreeSet;
use core::time::Duration;

use super::journal::{Awareness, Journal};
use super::participant::Connection;
use super::{Room, flush::Body};
use crate::ids::{ChannelNo, Order, ParticipantId};
use crate::qos::interval_of;
use crate::wire::record::Number;
use crate::{Error, Overflow};

/// What a receiver wants of one channel.
#[derive(Debug)]
pub(super) struct Thinned {
    interval: Duration,
    /// When it may be sent values again.
    slot: Duration,
    /// Values up to this order had their slot.
    cursor: Order,
}

impl Thinned {
    /// In 1/1000 per second; `None`: it wants all again.
    #[cfg(feature = "describe")]
    pub(super) fn rate(&self) -> Option<u32> {
        u32::try_from(1_000_000_000u128.checked_div(self.interval.as_micros())?).ok()
    }
}

/// Values whose slot has come, by the lane that they take.
#[derive(Debug, Default)]
pub(super) struct Slotted {
    pub(super) stream: BTreeSet<Order>,
    pub(super) datagrams: BTreeSet<Order>,
}

impl Room {
    pub(super) fn limit_rate(
        &mut self,
        now: Duration,
        id: ParticipantId,
        channel: ChannelNo,
        rate: u32,
    ) -> Result<(), Error> {
        let Room { participants, channels, journal, .. } = self;
        let connection = participants.get_mut(&id).and_then(|one| one.connection.as_deref_mut());
        let Some(connection) = connection else { return Ok(()) };
        if !connection.channels.contains_key(&channel) {
            return Err(Error::UnknownChannel { channel: channel.get() });
        }
        let conflates = channels[channel.place()].qos.overflow == Overflow::Conflate;
        let cursor = connection.served();
        match connection.thinned.get_mut(&channel) {
            Some(thinned) => {
                let interval = interval_of(rate);
                thinned.slot = thinned.slot.min(now + interval);
                thinned.interval = interval;
            }
            None if rate > 0 && conflates => {
                let thinned = Thinned { interval: interval_of(rate), slot: now, cursor };
                connection.thinned.insert(channel, thinned);
            }
            // It is sent all as it is.
            None => return Ok(()),
        }
        if rate == 0 {
            connection.open_slots(now, id, journal);
            connection.thinned.remove(&channel);
        }
        // Who is sent fewer values is sent them alone.
        self.leave_shared(id);
        self.find_next_slot();
        Ok(())
    }

    /// Sends what was postponed until now.
    pub(super) fn serve_slots(&mut self, now: Duration) {
        let open = |connection: &Connection| connection.next_slot().is_some_and(|at| at <= now);
        let served =
            self.participants.iter().filter(|(_, one)| one.connection.as_deref().is_some_and(open));
        let served: alloc::vec::Vec<ParticipantId> = served.map(|(&id, _)| id).collect();
        for id in served {
            self.open_slots(now, id);
            self.flush_datagrams(now, id);
            self.flush(now, id);
        }
        self.find_next_slot();
    }

    pub(super) fn open_slots(&mut self, now: Duration, id: ParticipantId) {
        let Room { participants, journal, .. } = self;
        if let Some(connection) =
            participants.get_mut(&id).and_then(|one| one.connection.as_deref_mut())
        {
            connection.open_slots(now, id, journal);
        }
    }

    pub(super) fn find_next_slot(&mut self) {
        let connections = self.participants.values().filter_map(|one| one.connection.as_deref());
        self.next_slot = connections.filter_map(Connection::next_slot).min();
    }
}

impl Connection {
    /// Whether a value of this channel waits for a slot instead of going with the others.
    pub(super) fn postpones(&self, channel: ChannelNo) -> bool {
        !self.thinned.is_empty() && self.thinned.contains_key(&channel)
    }

    /// When a slot comes for something that waits.
    pub(super) fn next_slot(&self) -> Option<Duration> {
        let due = self.due.0;
        let waiting = self.thinned.values().filter(|thinned| thinned.cursor < due);
        waiting.map(|thinned| thinned.slot).min()
    }

    /// Lets values go whose slot has come: of each key the newest that the last tick left.
    pub(super) fn open_slots(&mut self, now: Duration, id: ParticipantId, journal: &Journal) {
        if self.thinned.is_empty() {
            return;
        }
        let due = self.due.0;
        let mut thinned = core::mem::take(&mut self.thinned);
        let open = thinned.iter_mut().filter(|(_, one)| one.slot <= now && one.cursor < due);
        for (&channel, Thinned { interval, slot, cursor }) in open {
            let values = journal.awareness_after(*cursor).take_while(|(order, _)| *order <= due);
            let wanted =
                |one: &Awareness| one.message.channel == channel && one.message.sender != id;
            let mut is_any = false;
            for (order, one) in values.filter(|(_, one)| wanted(one)) {
                is_any = true;
                match self.takes_stream(order, &one.message) {
                    true => self.slotted.stream.insert(order),
                    false => self.slotted.datagrams.insert(order),
                };
            }
            *cursor = due;
            if is_any {
                // On average as often as asked, though ticks come when they come.
                *slot = if *slot + *interval > now { *slot + *interval } else { now + *interval };
            }
        }
        self.thinned = thinned;
        // What was replaced before its transport took it.
        for lane in [&mut self.slotted.stream, &mut self.slotted.datagrams] {
            lane.retain(|&order| journal.awareness(order).is_some());
        }
    }

    /// Values over the stream whose slot has come. `true`: all are sent.
    pub(super) fn add_slotted(&mut self, body: &mut Body<'_>, journal: &Journal) -> bool {
        while let Some(&order) = self.slotted.stream.first() {
            if let Some(one) = journal.awareness(order)
                && let Some(opened) = self.subscription(one.message.channel)
            {
                let number = Number::Awareness { index: one.index, after: one.after };
                let state = self.joining.is_some_and(|(until, _)| order <= until);
                if !body.push(&one.message, order, number, state, opened.compress) {
                    return false;
                }
            }
            self.slotted.stream.pop_first();
        }
        true
    }
}
