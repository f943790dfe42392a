//! Makes packets as late as possible: only when the transport accepts one.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::time::Duration;

use super::Client;
use super::api::Output;
use super::channel::Channel;
use super::event::Event;
use super::outbox::{Item, Pending, SentValue};
use super::phase::{Hold, Joined, Phase};
use super::session::Session;
use crate::datagrams::{Datagrams, Needs, OutgoingDatagram};
use crate::ids::{Index, Order, ParticipantId, Position};
use crate::link::Link;
use crate::packing::Packing;
use crate::trace::Carrier;
use crate::wire::frame::Frame;
use crate::wire::piece::Piece;
use crate::wire::record::{Number, Record};
use crate::{Error, Kind};

/// A settled value waits at most this long for a datagram to share its packet, and a regular ping goes at most this much earlier,
/// with a datagram: packets of their own cost the headers of IP, UDP and QUIC, and an acknowledgement. A pointer sends datagrams
/// more often.
const SHARES_PACKET: Duration = Duration::from_millis(60);

/// A message to send. Messages are sent in the order in which the application submitted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// The transaction at this place among the pending ones.
    Transaction(usize),
    /// An awareness message of the channel at this place.
    Awareness(usize),
    /// A settled value of the channel at this place: it may have been lost and no newer one followed (W41).
    Settled(usize),
}

impl Client {
    /// Makes packets and datagrams of the messages that are due, as many as the transport accepts.
    pub(super) fn compose(&mut self, now: Duration) {
        let Client { phase, session, packing, .. } = self;
        let composed = match phase {
            Phase::Joined(joined) => joined.compose(session, packing, now),
            Phase::Greeting(greeting) => {
                compose_control(&mut greeting.link, session, now);
                Ok(())
            }
            Phase::Leaving(joined) => {
                compose_control(&mut joined.link, session, now);
                Ok(())
            }
            Phase::Waiting { .. } | Phase::Dialing | Phase::HangingUp { .. } | Phase::Ended => {
                Ok(())
            }
        };
        if let Err(error) = composed {
            return self.fail(error);
        }
        self.finish_closing();
        self.hang_up_after_bye();
        self.session.emit_drain();
    }
}

/// Sends the control frames that wait.
fn compose_control(link: &mut Link, session: &mut Session, now: Duration) {
    while link.ready() && link.has_control() {
        let packet = link.begin(now);
        if packet.is_empty() {
            break;
        }
        link.launched(packet.len());
        session.count_out(packet.len());
        session.outputs.push_back(Output::Send(packet));
    }
}

impl Joined {
    fn compose(
        &mut self,
        session: &mut Session,
        packing: &mut Packing,
        now: Duration,
    ) -> Result<(), Error> {
        let shares = self.datagrams.is_some() && self.compose_datagrams(session, packing, now)?;
        if shares && now + SHARES_PACKET >= self.link.last_ping() + self.timing.ping {
            self.link.ping(now);
        }
        let settled = if shares { now } else { now.saturating_sub(SHARES_PACKET) };
        while self.link.ready() {
            if session.presence_changed {
                session.presence_changed = false;
                self.link.queue(&Frame::Presence(&session.config.presence));
            }
            let due = self.due(session, now, settled, Carrier::Stream);
            let has_control = self.link.has_control();
            if !has_control && self.upload.is_none() && due.is_empty() {
                break;
            }
            let mut packet = self.link.begin(now);
            // The meaning of a payload can depend on control frames, so the payload is sent after all of them.
            if !self.link.has_control() {
                self.add_chunk(packing, now, &mut packet);
                self.add_payload(session, packing, now, &due, &mut packet)?;
            }
            if packet.is_empty() {
                break;
            }
            self.link.launched(packet.len());
            if !due.is_empty() {
                self.link.on_app_data(now);
            }
            session.count_out(packet.len());
            session.outputs.push_back(Output::Send(packet));
        }
        Ok(())
    }

    /// Makes the datagrams that are due. Returns true if there were any.
    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    fn compose_datagrams(
        &mut self,
        session: &mut Session,
        packing: &mut Packing,
        now: Duration,
    ) -> Result<bool, Error> {
        let mut any = false;
        while let Some(datagrams) = self.datagrams.as_ref().filter(|datagrams| datagrams.ready()) {
            let is_due = datagrams.is_due(now);
            let is_clear = datagrams.clear_at().is_none_or(|at| at <= now);
            let answers = self.groups.must_answer(now);
            let due =
                if is_clear { self.due(session, now, now, Carrier::Datagrams) } else { Vec::new() };
            if due.is_empty() && !is_due && !answers {
                break;
            }
            self.add_records(session, packing, now, &due, 0, Carrier::Datagrams);
            // Only the stream has pings.
            self.link.choosing.take_probe();
            let Joined { datagrams: Some(datagrams), groups, link, .. } = self else { break };
            let mut made = datagrams.make(now, false)?;
            if answers || !made.is_empty() {
                let mut header = Vec::new();
                groups.acknowledge(now, &mut header);
                datagrams.put_before(header, &mut made);
            }
            if made.is_empty() && due.is_empty() {
                break;
            }
            for OutgoingDatagram { bytes, header_bytes, .. } in made {
                if !due.is_empty() {
                    link.on_app_data(now);
                }
                session.count_out(bytes.len());
                session.stats.payload_bytes_out += (bytes.len() - header_bytes) as u64;
                session.outputs.push_back(Output::Datagram(bytes));
                any = true;
            }
        }
        Ok(any)
    }

    /// The next time at which there is something to send on a carrier that accepts packets now.
    pub(super) fn sends_at(&self, session: &Session, now: Duration) -> Option<Duration> {
        let datagrams = self.datagrams.as_ref();
        let datagram = datagrams.and_then(|datagrams| datagrams.timeout(now));
        let takes = datagrams.is_some_and(Datagrams::ready);
        let answer = self.groups.answer_at().filter(|_| takes);
        [self.next_slot(session), datagram, answer].into_iter().flatten().min()
    }

    /// The next time at which a waiting message may be sent. Only messages whose carrier accepts packets now are
    /// considered.
    fn next_slot(&self, session: &Session) -> Option<Duration> {
        let datagrams = self.datagrams.as_ref();
        let takes = |carrier: Carrier| match carrier {
            Carrier::Stream => self.link.ready(),
            Carrier::Datagrams => datagrams.is_some_and(Datagrams::ready),
        };
        let open = || session.channels.iter().filter(|channel| channel.takes_messages());
        let clear = datagrams.and_then(Datagrams::clear_at).unwrap_or_default();
        let slots = |channel: &Channel| {
            let waiting = channel.queue.after(Order(0));
            let carriers = waiting.map(|(_, item)| carrier_of(datagrams, channel, item));
            let slots = carriers.filter(|carrier| takes(*carrier)).map(|carrier| match carrier {
                Carrier::Stream => channel.next_slot,
                Carrier::Datagrams => channel.next_slot.max(clear),
            });
            slots.min()
        };
        let awareness = open().filter_map(slots);
        let transactions = session.sendable().zip(self.releases(session));
        let transactions = transactions.map(|((_, pending), release)| {
            session.channels[pending.channel].next_slot.max(release)
        });
        let over_stream =
            transactions.chain(open().filter_map(Channel::settled_at).map(|at| at + SHARES_PACKET));
        awareness.chain(over_stream.filter(|_| self.link.ready())).min()
    }

    /// The earliest send time of each unsent transaction, in order: zero, or the end of the hold that the server asked for (W99).
    fn releases(&self, session: &Session) -> impl Iterator<Item = Duration> {
        let Hold { until, from } = self.hold;
        let free = from.get().saturating_sub(session.numbered.next().get());
        core::iter::repeat_n(Duration::ZERO, free as usize).chain(core::iter::repeat(until))
    }

    /// The messages that may be sent now. With a transaction, all messages that were submitted before it are sent, even
    /// above the maximum rate, so that the transaction does not overtake them: a drag arrives before its drop, unless
    /// their carriers differ. `settled`: values are settled that were settled at this time.
    fn due(
        &self,
        session: &mut Session,
        now: Duration,
        settled: Duration,
        carrier: Carrier,
    ) -> Vec<(Order, Due)> {
        session.channels.iter_mut().for_each(|channel| channel.drop_late(now));
        let mut due = Vec::new();
        let channels = &session.channels;
        let mut transactions_due = false;
        let released = session.sendable().zip(self.releases(session));
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
                let waiting = channel.queue.after(Order(0));
                let queued =
                    waiting.filter(|(_, item)| carrier_of(datagrams, channel, item) == carrier);
                due.extend(queued.map(|(order, _)| (order, Due::Awareness(at))));
            }
            if carrier == Carrier::Stream {
                let values = channel.settled(settled, session.transports, datagrams.is_some());
                due.extend(values.map(|order| (order, Due::Settled(at))));
            }
        }
        // A heap's code is a tenth of the code that sorting takes, and the browser's core is small.
        BinaryHeap::from(due).into_sorted_vec()
    }

    /// Adds the next chunk of the snapshot that is on its way to the server.
    fn add_chunk(&mut self, packing: &mut Packing, now: Duration, packet: &mut Vec<u8>) {
        let Joined { upload: Some(upload), link, .. } = self else { return };
        let at = packet.len();
        upload.add_chunk(now, link, packing, packet);
        link.probe(now, packet, at);
        if upload.is_sent() {
            self.upload = None;
        }
    }

    /// Adds as many messages of `due` as fit into the packet.
    fn add_payload(
        &mut self,
        session: &mut Session,
        packing: &mut Packing,
        now: Duration,
        due: &[(Order, Due)],
        packet: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let remaining = self.link.remaining(packet);
        self.add_records(session, packing, now, due, remaining, Carrier::Stream);
        let Joined { link, coders, .. } = self;
        let at = packet.len();
        if !coders.encoder.is_empty() {
            coders.encoder.finish(&mut link.choosing, packing, packet)?;
            session.stats.payload_bytes_out += (packet.len() - at) as u64;
            link.probe(now, packet, at);
            let is_timed = coders.encoder.take_timed();
            link.stamp(now, is_timed, packet, at);
        }
        Ok(())
    }

    /// Passes as many messages of `due` to the carrier's encoder as it takes: for the stream as many as fit into one
    /// payload, all with the same coding. `remaining`: bytes that a packet of the stream may still take.
    fn add_records(
        &mut self,
        session: &mut Session,
        packing: &mut Packing,
        now: Duration,
        due: &[(Order, Due)],
        remaining: usize,
        carrier: Carrier,
    ) {
        let Joined { link, coders, datagrams, inbound, .. } = self;
        let Session { pending, channels, numbered, transports, stats, .. } = session;
        for &(order, due) in due {
            let (at, item) = match due {
                Due::Transaction(at) => (pending[at].channel, Some(&pending[at].item)),
                Due::Awareness(at) => (at, channels[at].queue.get(order)),
                Due::Settled(at) => {
                    (at, channels[at].sent_values.get(order).map(|value| &value.item))
                }
            };
            let Some(bytes) = item.map(|item| item.bytes.len()) else { continue };
            let channel = &mut channels[at];
            let coding = channel.coding();
            let takes = match (carrier, &datagrams) {
                (Carrier::Stream, _) => {
                    coders.encoder.takes(coding) && coders.encoder.fits(bytes, remaining)
                }
                (Carrier::Datagrams, Some(datagrams)) => datagrams.can_submit(),
                (Carrier::Datagrams, None) => false,
            };
            if !takes {
                break;
            }
            let (Some(id), interval) = (channel.id, channel.qos.interval()) else { break };
            let mut taken = None;
            let mut piece = Piece::Whole;
            let (item, number) = match due {
                Due::Transaction(at) => {
                    let Pending { counter, sent, piece: of_it, item, .. } = &mut pending[at];
                    piece = *of_it;
                    let counter = *counter.get_or_insert_with(|| {
                        *numbered = numbered.next();
                        *numbered
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
                Due::Settled(_) => {
                    let Some(value) = channel.sent_values.remove(order) else { continue };
                    let SentValue { item, index, .. } = value;
                    let number = Number::Awareness { index, after: item.after };
                    (&*taken.insert(item), number)
                }
            };
            let packed = link.choosing.pack(channel.compress, &item.bytes, packing, None);
            let record = Record {
                channel: id,
                sender: ParticipantId(0),
                number,
                own: false,
                piece,
                state: false,
                age: now.saturating_sub(item.born),
                text: item.text,
                key: item.key.as_deref(),
                priority: item.priority,
                departed: None,
                to: item.to.map(|to| to.participant),
                bytes: &item.bytes,
                packed: packed.map(|(_, packed)| packed),
                coding,
            };
            if !matches!(due, Due::Settled(_)) {
                if channel.next_slot <= now {
                    // The next slot counts from the planned slot, not from now: timers are late, and a sender at the
                    // highest rate would fall behind with each late timer.
                    let next = channel.next_slot + interval;
                    channel.next_slot = if next > now { next } else { now + interval };
                }
                channel.stats.sent.count(&record, packed.map(|(choice, _)| choice));
                stats.messages_out += 1;
                stats.bytes_out_before += item.bytes.len() as u64;
            }
            match (carrier, datagrams.as_mut()) {
                (Carrier::Stream, datagrams) => {
                    coders.encoder.push(&record);
                    coders.encoder.note_qos(&channel.qos);
                    if let (Due::Transaction(_), Some(datagrams)) = (due, datagrams)
                        && piece == Piece::Whole
                    {
                        datagrams.add_copy(now, &record, Position(0), &channel.qos);
                    }
                }
                (Carrier::Datagrams, Some(datagrams)) => {
                    let needs = inbound.numbers.needs(id);
                    let needs = needs.unwrap_or(Needs { qos: channel.qos, upstream: None });
                    datagrams.submit(now, &record, needs);
                }
                (Carrier::Datagrams, None) => break,
            }
            if let (Some(item), Number::Awareness { index, .. }) = (taken, number) {
                let (carrier, transport) = (carrier, *transports);
                let (sent, has_arrived) = (now, false);
                let value = SentValue { carrier, transport, item, index, sent, has_arrived };
                channel.keep_sent(order, value);
            }
        }
    }
}

impl Session {
    /// Transactions that are not sent yet, up to the first one whose channel is not open. Later ones wait, because
    /// transactions are sent in order.
    fn sendable(&self) -> impl Iterator<Item = (usize, &Pending)> {
        let unsent = self.pending.iter().enumerate().filter(|(_, pending)| !pending.sent);
        unsent.take_while(|(_, pending)| self.channels[pending.channel].takes_messages())
    }

    /// Tells the application that there is room for messages again, once the queues are half empty.
    fn emit_drain(&mut self) {
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
            self.emit(Event::Drain);
        }
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
