//! Building packets, late: only when the transport can take one.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::outbox::{Channel, Item, Pending, Resting};
use super::{Client, Event, Output, Phase};
use crate::datagrams::{Datagrams, Made, Needs};
use crate::ids::{Counter, Index, Order, ParticipantId, Position};
use crate::link::{Bodies, PING_SIZE};
use crate::packing::Piece;
use crate::wire::body::Lane;
use crate::wire::frame::Frame;
use crate::wire::record::{Number, Record};
use crate::{Error, Kind};

/// A snapshot on its way to the server.
pub(super) struct Upload {
    as_of: Position,
    bytes: Box<[u8]>,
    offset: usize,
}

impl Upload {
    pub(super) fn new(as_of: Position, bytes: &[u8]) -> Self {
        Upload { as_of, bytes: bytes.into(), offset: 0 }
    }
}

/// What goes into a body, in the order in which the application submitted it.
#[derive(Debug, Clone, Copy)]
enum Due {
    /// By place among the pending.
    Transaction(usize),
    /// By channel.
    Awareness(usize),
    /// By channel: it may have been lost and nothing newer followed (W41).
    Rested(usize),
}

impl Client {
    /// Sends what is due, as far as the transport takes it.
    pub(super) fn compose(&mut self, now: Duration) {
        if let Err(error) = self.compose_datagrams(now) {
            return self.fail(error);
        }
        while let Some(link) = self.link.as_mut().filter(|link| link.ready()) {
            let talking = self.phase == Phase::Joined && link.bodies.is_some();
            if talking && core::mem::take(&mut self.presence_changed) {
                link.queue(&Frame::Presence(&self.config.presence));
            }
            let due = if talking { self.due(now, Lane::Stream) } else { Vec::new() };
            let upload = talking && self.upload.is_some();
            let Some(link) =
                self.link.as_mut().filter(|link| link.has_control() || upload || !due.is_empty())
            else {
                break;
            };
            let mut packet = link.begin(now);
            // What a body means can depend on control frames, so it never overtakes them.
            let is_next = !link.has_control();
            if upload && is_next {
                self.add_chunk(now, &mut packet);
            }
            let added = if is_next { self.add_body(now, &due, &mut packet) } else { Ok(()) };
            if let Err(error) = added {
                return self.fail(error);
            }
            if packet.is_empty() {
                break;
            }
            if let Some(link) = self.link.as_mut() {
                link.launched(packet.len());
            }
            self.launch(now, !due.is_empty(), packet.len());
            self.outputs.push_back(Output::Send(packet));
        }
        self.hang_up_after_goodbye();
        self.say_drained();
    }

    fn compose_datagrams(&mut self, now: Duration) -> Result<(), Error> {
        while self.phase == Phase::Joined {
            let Some(datagrams) = self.link.as_ref().and_then(|link| link.datagrams.as_ref())
            else {
                break;
            };
            if !datagrams.ready() {
                break;
            }
            let is_due = datagrams.is_due(now);
            let is_clear = datagrams.clear_at().is_none_or(|at| at <= now);
            let answers = self.classes.must_answer(now);
            let due = if is_clear { self.due(now, Lane::Datagrams) } else { Vec::new() };
            if due.is_empty() && !is_due && !answers {
                break;
            }
            self.add_records(now, &due, 0, Lane::Datagrams);
            let Some(link) = self.link.as_mut() else { break };
            // Only the stream has pings.
            link.choosing.take_probe();
            let Some(datagrams) = link.datagrams.as_mut() else { break };
            let mut made = datagrams.make(now, false)?;
            if answers || !made.is_empty() {
                let mut front = Vec::new();
                self.classes.acknowledge(now, &mut front);
                datagrams.put_before(front, &mut made);
            }
            if made.is_empty() && due.is_empty() {
                break;
            }
            for Made { octets, .. } in made {
                self.launch(now, !due.is_empty(), octets.len());
                self.outputs.push_back(Output::Datagram(octets));
            }
        }
        Ok(())
    }

    fn launch(&mut self, now: Duration, speaks: bool, size: usize) {
        if let Some(link) = self.link.as_mut().filter(|_| speaks) {
            link.speak(now);
        }
        self.stats.packets_out += 1;
        self.stats.bytes_out_after += size as u64;
    }

    /// When the next waiting message may go, of those whose lane takes something now.
    pub(super) fn next_slot<'a>(&'a self) -> Option<Duration> {
        let link = self.link.as_ref()?;
        let takes = |lane: Lane| match lane {
            Lane::Stream => link.ready(),
            Lane::Datagrams => link.datagrams.as_ref().is_some_and(Datagrams::ready),
        };
        let open = || self.channels.iter().filter(|channel| channel.takes_messages());
        let clear = link.datagrams.as_ref().and_then(Datagrams::clear_at).unwrap_or_default();
        let slots = |channel: &'a Channel| {
            let lanes = channel.queue.after(Order(0)).map(|(_, item)| self.lane(channel, item));
            lanes.filter(|lane| takes(*lane)).map(|lane| match lane {
                Lane::Stream => channel.next_slot,
                Lane::Datagrams => channel.next_slot.max(clear),
            })
        };
        let awareness = open().filter_map(|channel| slots(channel).min());
        let transactions =
            self.sendable().map(|(_, pending)| self.channels[pending.channel].next_slot);
        let over_stream = transactions.chain(open().filter_map(Channel::rested_at));
        awareness.chain(over_stream.filter(|_| link.ready())).min()
    }

    /// The lane that a value takes.
    fn lane(&self, channel: &Channel, item: &Item) -> Lane {
        let datagrams = self.link.as_ref().and_then(|link| link.datagrams.as_ref());
        let key = item.key.as_ref().map_or(0, |key| key.len());
        let id = channel.id.unwrap_or_default();
        match datagrams {
            Some(datagrams) if datagrams.takes(id, item.bytes.len(), key) => Lane::Datagrams,
            _ => Lane::Stream,
        }
    }

    /// Transactions that are not sent yet, up to the first whose channel is not open: they go in order.
    fn sendable(&self) -> impl Iterator<Item = (usize, &Pending)> {
        let unsent = self.pending.iter().enumerate().filter(|(_, pending)| !pending.sent);
        unsent.take_while(|(_, pending)| self.channels[pending.channel].takes_messages())
    }

    /// What may go now. A transaction takes everything submitted before it along, whatever the rate says, so that
    /// nothing overtakes: a drag arrives before its drop, unless they take different lanes.
    fn due(&mut self, now: Duration, lane: Lane) -> Vec<(Order, Due)> {
        self.channels.iter_mut().for_each(|channel| channel.drop_late(now));
        let mut due = Vec::new();
        let channels = &self.channels;
        let sendable = self.sendable();
        let transactions: Vec<(Order, Due)> =
            sendable.map(|(at, pending)| (pending.order, Due::Transaction(at))).collect();
        let transactions_due = transactions.iter().any(|(_, due)| match due {
            Due::Transaction(at) => channels[self.pending[*at].channel].next_slot <= now,
            Due::Awareness(_) | Due::Rested(_) => false,
        });
        if transactions_due && lane == Lane::Stream {
            due.extend(transactions);
        }
        let Some(link) = self.link.as_ref() else { return due };
        let (transport, has_datagrams) = (self.transports, link.datagrams.is_some());
        for (at, channel) in channels.iter().enumerate().filter(|(_, one)| one.takes_messages()) {
            if transactions_due || channel.next_slot <= now {
                let queued = channel
                    .queue
                    .after(Order(0))
                    .filter(|(_, item)| self.lane(channel, item) == lane);
                due.extend(queued.map(|(order, _)| (order, Due::Awareness(at))));
            }
            if lane == Lane::Stream {
                let rested = channel.rested(now, transport, has_datagrams);
                due.extend(rested.map(|order| (order, Due::Rested(at))));
            }
        }
        due.sort_unstable_by_key(|(order, _)| *order);
        due
    }

    fn add_chunk(&mut self, now: Duration, packet: &mut Vec<u8>) {
        let (Some(upload), Some(link)) = (self.upload.as_mut(), self.link.as_mut()) else { return };
        let (at, room) = (packet.len(), link.remaining(packet).saturating_sub(PING_SIZE));
        let Upload { as_of, ref bytes, offset } = *upload;
        let piece = Piece { as_of, counter: Counter(0), snapshot: bytes, offset };
        let packing = &mut self.packing;
        upload.offset += piece.write(now, room, &mut link.choosing, packing, None, packet);
        link.probe(now, packet, at);
        if upload.offset == upload.bytes.len() {
            self.upload = None;
        }
    }

    /// Adds as much of `due` as one packet takes.
    fn add_body(
        &mut self,
        now: Duration,
        due: &[(Order, Due)],
        packet: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let Some(room) = self.link.as_ref().map(|link| link.remaining(packet)) else {
            return Ok(());
        };
        self.add_records(now, due, room, Lane::Stream);
        let Some(link) = self.link.as_mut() else { return Ok(()) };
        let at = packet.len();
        if let Some(Bodies { encoder, .. }) =
            link.bodies.as_mut().filter(|one| !one.encoder.is_empty())
        {
            encoder.finish(&mut link.choosing, &mut self.packing, packet)?;
            link.probe(now, packet, at);
            link.stamp(now, packet, at);
        }
        Ok(())
    }

    /// Hands as much of `due` to the lane's encoder as one body takes: all of it of one coding. `room` is what a
    /// packet of the stream has left.
    fn add_records(&mut self, now: Duration, due: &[(Order, Due)], room: usize, lane: Lane) {
        for &(order, due) in due {
            let (at, item) = match due {
                Due::Transaction(at) => (self.pending[at].channel, Some(&self.pending[at].item)),
                Due::Awareness(at) => (at, self.channels[at].queue.get(order)),
                Due::Rested(at) => {
                    (at, self.channels[at].resting.get(order).map(|resting| &resting.item))
                }
            };
            let Some(bytes) = item.map(|item| item.bytes.len()) else { continue };
            let channel = &mut self.channels[at];
            let coding = channel.coding();
            let Some(link) = self.link.as_mut() else { break };
            let takes = match (lane, link.bodies.as_ref(), link.datagrams.as_ref()) {
                (Lane::Stream, Some(bodies), _) => {
                    bodies.encoder.takes(coding) && bodies.encoder.fits(bytes, room)
                }
                (Lane::Datagrams, _, Some(datagrams)) => datagrams.has_room(),
                _ => false,
            };
            if !takes {
                break;
            }
            let (Some(id), interval) = (channel.id, channel.qos.interval()) else { break };
            let mut taken = None;
            let (item, number) = match due {
                Due::Transaction(at) => {
                    let Pending { counter, sent, item, .. } = &mut self.pending[at];
                    let counter = *counter.get_or_insert_with(|| {
                        self.numbered = self.numbered.next();
                        self.numbered
                    });
                    *sent = true;
                    (&*item, Number::Transaction { counter, position: Position(0) })
                }
                Due::Awareness(_) => {
                    let Some(item) = channel.take(order) else { continue };
                    channel.index = Index(channel.index.get().wrapping_add(1));
                    let number = Number::Awareness { index: channel.index, after: item.after };
                    (&*taken.insert(item), number)
                }
                Due::Rested(_) => {
                    let Some(rested) = channel.resting.remove(order) else { continue };
                    let Resting { item, index, .. } = rested;
                    let number = Number::Awareness { index, after: item.after };
                    (&*taken.insert(item), number)
                }
            };
            let packed = link.choosing.pack(channel.compress, &item.bytes, &mut self.packing, None);
            let needs = self.known.get(id.get() as usize).copied().flatten();
            let needs = needs.unwrap_or(Needs { qos: channel.qos, upstream: None });
            let record = Record {
                channel: id,
                sender: ParticipantId(0),
                number,
                own: false,
                state: false,
                age: now.saturating_sub(item.born),
                text: item.text,
                key: item.key.as_deref(),
                priority: item.priority,
                bytes: &item.bytes,
                packed: packed.map(|(_, packed)| packed),
                coding,
            };
            if !matches!(due, Due::Rested(_)) {
                if channel.next_slot <= now {
                    channel.next_slot = now + interval;
                }
                channel.stats.sent.count(&record, packed.map(|(choice, _)| choice));
                self.stats.messages_out += 1;
                self.stats.bytes_out_before += item.bytes.len() as u64;
            }
            match (lane, link.bodies.as_mut(), link.datagrams.as_mut()) {
                (Lane::Stream, Some(bodies), datagrams) => {
                    bodies.encoder.push(&record);
                    if let (Due::Transaction(_), Some(datagrams)) = (due, datagrams) {
                        datagrams.copy(now, &record, Position(0), &channel.qos);
                    }
                }
                (_, _, Some(datagrams)) => datagrams.submit(now, &record, needs),
                _ => break,
            }
            if let (Some(item), Number::Awareness { index, .. }) = (taken, number) {
                let transport = self.transports;
                channel.rest(order, Resting { lane, transport, item, index, sent: now });
            }
        }
    }

    fn hang_up_after_goodbye(&mut self) {
        if self.phase == Phase::Leaving
            && self.link.as_ref().is_some_and(|link| !link.has_control())
        {
            self.outputs.push_back(Output::Hangup);
            self.end();
        }
    }

    /// Half-empty queues take messages again.
    fn say_drained(&mut self) {
        let limits = &self.config.limits;
        let full = |channel: &Channel| {
            channel.qos.kind == Kind::Awareness
                && (channel.queue.len() * 2 > limits.max_keys
                    || channel.queued_bytes * 2 > limits.max_awareness_bytes)
        };
        if self.wants_drain
            && self.pending.len() * 2 <= limits.max_pending
            && self.pending_bytes * 2 <= limits.max_pending_bytes
            && !self.channels.iter().any(full)
        {
            self.wants_drain = false;
            self.outputs.push_back(Output::Event(Event::Drain));
        }
    }
}
