//! One hop of the way of awareness: an afec endpoint with the coders of its packets.

use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::code::Code;
use groupwire_afec::loss::LossModel;
use groupwire_afec::stats::{ReceiverStats, SenderStats};
use groupwire_afec::{self as afec, Came, Endpoint, Order, Scheme, Submission};

use super::body::{BodyReader, BodyWriter, Messages, REPEATED, is_coded, keep};
use super::copies::{self, Copies};
use super::{Made, Settings, fnv1a};
use crate::ids::{ChannelNo, Counter, Position};
use crate::limits::{MAX_UNPACKED, RECORD_OVERHEAD};
use crate::packing::Packing;
use crate::wire::body::{Batch, Coding};
use crate::wire::io::{Reader, Write};
use crate::wire::numbering::Numbering;
use crate::wire::record::{self, Direction, Number, Record};
use crate::{Error, Kind, Overflow, Qos};

/// Octets that IP, UDP and QUIC add to a datagram: 28, a short header of 11, a tag of 16, a frame's type and length.
const TRANSPORT_HEADERS: usize = 58;

/// What a message costs that is repeated beside its neighbours: measured with pointers (tests/redundancy.rs).
const REPEAT_PRICE: f64 = 4.0;

/// W40: an acknowledgement waits so long for a datagram that goes anyway ...
const FEEDBACK_WITHIN: Duration = Duration::from_millis(250);

/// ... or until so many datagrams came, ...
const FEEDBACK_AFTER: u32 = 8;

/// ... but none goes sooner after another: at 25 datagrams a second in each third of them, and the sixteen that a decoder
/// promises then last for 1.4 s.
const FEEDBACK_SPACING: Duration = Duration::from_millis(90);

/// Octets of an acknowledgement, at most (gmc).
const MAX_ACKNOWLEDGEMENT: usize = 140;

/// New messages taken for the datagrams that are made next: as many as wait for a channel at most.
const MAX_SUBMITTED: usize = 64;

/// After this, awareness without a deadline is not repeated any more.
const NO_DEADLINE: Duration = Duration::from_secs(5);

/// W69: what both hops together are to hold of the share that may miss: what comes to the server at the last moment comes
/// too late to others. And what the second hop may have of it, at least and at most.
const BOTH: f64 = 0.76;
const LEAST_OF_BOTH: f64 = 0.25;
const MOST_OF_BOTH: f64 = 0.75;

/// W68: bits of a datagram's first octet, with those of [`super::body`].
const ACKNOWLEDGES: u8 = 4;
const KIND: u8 = 3;

/// Which repeats there are, to measure what they are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redundancy {
    /// What each channel's target needs, coded beside its neighbours.
    #[default]
    Adaptive,
    /// The same, but each repeated message goes as it would alone.
    Alone,
    /// None: what is lost is lost.
    Off,
}

/// What a channel needs of both hops, and what the first one leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Needs {
    pub(crate) qos: Qos,
    /// The share of its messages that missed on their way to the server, in 1/1000, once that is known.
    pub(crate) upstream: Option<u16>,
}

/// A channel's target on the way of one hop, which is half of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Notice {
    /// The channel's number in the room.
    pub(crate) channel: ChannelNo,
    /// Which share of its messages may miss on this hop, 0 to 1.
    pub(crate) target: f64,
    /// Which share will miss at best; `None`: the target can be met again.
    pub(crate) expected: Option<f64>,
}

impl Notice {
    /// Which share will miss on both hops at best, in 1/1000, if the other one meets its target; 0: no more than may.
    pub(crate) fn outlook(&self) -> u16 {
        let Some(expected) = self.expected else { return 0 };
        let both = expected + self.target - expected * self.target;
        (both.min(1.0) * 1000.0) as u16
    }
}

/// What one end knows of the way of datagrams.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Path {
    /// The share of packets to the other end that were lost, and of those from it.
    pub(crate) lost_to: Option<f64>,
    pub(crate) lost_from: Option<f64>,
    /// Octets per second that may be sent, headers included; `None`: no limit is known.
    pub(crate) carries: Option<u32>,
}

/// Packets that a share of lost ones is drawn from, at least.
const LEAST_PACKETS: f64 = 20.0;

/// A datagram that is being read.
pub(crate) struct Incoming<'p> {
    messages: Messages<'p>,
    /// What its way took.
    way: Duration,
    /// What the packed messages so far stand for, in bytes.
    unpacked: usize,
}

/// See the [module](self).
pub(super) struct Hop {
    settings: Settings,
    endpoint: Endpoint,
    /// The channels that are open, and what was asked of them.
    opened: Vec<(ChannelNo, Needs)>,
    submitted: usize,
    copies: Copies,
    writer: BodyWriter,
    reader: BodyReader,
    kept: Vec<u8>,
    /// Coded datagrams that came since the last acknowledgement.
    unanswered: u32,
    /// When they are to be acknowledged at the latest.
    answer_at: Option<Duration>,
    answered: Option<Duration>,
    /// Octets of the datagram that came last that are no body.
    before_body: usize,
}

impl Hop {
    pub(super) fn new(settings: Settings) -> Self {
        let Settings { max, coded, redundancy, .. } = settings;
        let config = afec::Config {
            scheme: match redundancy {
                Redundancy::Off => Scheme::Fixed(Code::PLAIN),
                Redundancy::Adaptive | Redundancy::Alone => Scheme::Adaptive,
            },
            mtu: max,
            transport_headers: TRANSPORT_HEADERS,
            repeat_price: (coded && redundancy == Redundancy::Adaptive).then_some(REPEAT_PRICE),
        };
        Hop {
            settings,
            endpoint: Endpoint::new(config),
            opened: Vec::new(),
            submitted: 0,
            copies: Copies::default(),
            writer: BodyWriter::new(redundancy == Redundancy::Alone),
            reader: BodyReader::default(),
            kept: Vec::new(),
            unanswered: 0,
            answer_at: None,
            answered: None,
            before_body: 0,
        }
    }

    pub(super) fn clear_at(&self) -> Option<Duration> {
        self.endpoint.allowed()
    }

    pub(super) fn has_room(&self) -> bool {
        self.submitted < MAX_SUBMITTED
    }

    pub(super) fn submit(&mut self, now: Duration, record: &Record<'_>, needs: Needs) {
        self.open(record.channel, needs);
        self.kept.clear();
        keep(record, self.settings.sends, &mut self.kept);
        let key = key_of(record, &needs.qos).unwrap_or(0);
        let submission = Submission { key, age: record.age, payload: &self.kept };
        // The only error is a channel that is not open, and `Datagrams::takes` knows how many there can be.
        let _ = self.endpoint.submit(now, record.channel.get(), submission);
        self.submitted += 1;
    }

    pub(super) fn wants_copies(&self, qos: &Qos) -> bool {
        let Settings { copies, redundancy, .. } = self.settings;
        copies
            && redundancy != Redundancy::Off
            && copies::are_worth_it(qos, &self.endpoint.loss_ahead())
    }

    pub(super) fn copy(
        &mut self,
        now: Duration,
        record: &Record<'_>,
        previous: Position,
        qos: &Qos,
    ) {
        let loss = self.endpoint.loss_ahead();
        self.copies.add(now, record, previous, self.settings.sends, qos, &loss);
    }

    pub(super) fn settled(&mut self, counter: Counter) {
        self.copies.settled(counter);
    }

    /// So many messages of a channel were missed on both hops together beyond what may (less than 0: fewer), as its receiver
    /// sees it.
    pub(super) fn judged(&mut self, channel: ChannelNo, beyond: f64) {
        self.endpoint.judged(channel.get(), beyond);
    }

    /// Opens a channel when it is first used, and lets it be what it has become.
    fn open(&mut self, channel: ChannelNo, needs: Needs) {
        let [sent, received] = needs.of_hop(self.settings.sends);
        match self.opened.iter_mut().find(|(opened, _)| *opened == channel) {
            Some((_, known)) if *known == needs => {}
            Some((_, known)) => {
                let before = known.of_hop(self.settings.sends);
                let anew = known.qos.loss != needs.qos.loss;
                *known = needs;
                if before != [sent, received] {
                    self.endpoint.change(channel.get(), sent, received, anew);
                }
            }
            None => {
                if self.endpoint.open(channel.get(), sent).is_ok() {
                    self.endpoint.change(channel.get(), sent, received, false);
                    self.opened.push((channel, needs));
                }
            }
        }
    }

    pub(super) fn timeout(&self, now: Duration) -> Option<Duration> {
        let clear = self.clear_at().unwrap_or_default();
        let copy = self.copies.due().map(|due| due.max(clear));
        [self.endpoint.timeout(now), self.answer_at, copy].into_iter().flatten().min()
    }

    /// Appends the datagrams of the next packet that is due: one, or more if it is too large for that.
    pub(super) fn make(
        &mut self,
        now: Duration,
        traced: bool,
        made: &mut Vec<Made>,
    ) -> Result<(), Error> {
        self.endpoint.expire(now, |_| {});
        self.submitted = 0;
        self.writer.begin();
        self.writer.keep_costs(traced);
        let mut packet = Vec::new();
        let answers = self.answer_at.is_some_and(|at| at <= now);
        self.copies.expire(now);
        let is_clear = self.clear_at().is_none_or(|at| at <= now);
        let copies = self.copies.due().is_some_and(|at| at <= now && is_clear);
        let writer = &mut self.writer;
        let plan = |planned: afec::Planned<'_>| writer.push(&planned);
        let forced = answers || copies;
        let Some(planned) = self.endpoint.transmit_with(now, forced, &mut packet, plan) else {
            return Ok(());
        };
        let room = self.settings.max.saturating_sub(packet.len() + planned.bytes as usize);
        let is_empty = self.writer.len() == 0;
        let copied = self.copies.take(now, room, is_empty, |copy, check| {
            self.writer.push_copy(copy, check);
        });
        let report = planned.report_bytes as usize;
        let mut feedback = report + self.acknowledge(now, &mut packet);
        let mut coded = 0;
        // Halves to try, the first on top.
        let mut parts = Vec::new();
        parts.push(0..self.writer.len());
        let mut is_bare = false;
        while let Some(part) = parts.pop() {
            let front = packet.len();
            let kind = self.writer.write(part.clone(), self.settings.coded, &mut packet)?;
            if packet.len() > self.settings.max {
                // To the decoder the one that was too large is as good as lost.
                packet.truncate(front);
                match part.len() {
                    0 | 1 if is_bare => continue,
                    0 | 1 => {
                        parts.push(part);
                        parts.push(0..0);
                    }
                    len => {
                        let middle = part.start + len / 2;
                        parts.push(middle..part.end);
                        parts.push(part.start..middle);
                    }
                }
                continue;
            }
            coded += packet.len() - front;
            packet[0] |= kind;
            self.endpoint.went(now, packet.len());
            let described = if traced { self.writer.parts(part) } else { Vec::new() };
            made.push(Made {
                octets: core::mem::take(&mut packet),
                private: front,
                feedback: core::mem::take(&mut feedback),
                parts: described,
            });
            if !parts.is_empty() {
                self.endpoint.next_front(now, &mut packet);
                is_bare = true;
            }
        }
        self.endpoint.coded(planned.bytes as usize + copied, coded);
        Ok(())
    }

    /// W40: appends what came of the other end's bodies, if there is something to say, and returns its octets.
    fn acknowledge(&mut self, now: Duration, packet: &mut Vec<u8>) -> usize {
        let spaced = self.answered.is_none_or(|before| now >= before + FEEDBACK_SPACING);
        if self.unanswered == 0 || !spaced {
            return 0;
        }
        self.unanswered = 0;
        self.answer_at = None;
        let mut acknowledgement = Vec::new();
        self.reader.acknowledge(&mut acknowledgement);
        if acknowledgement.is_empty() {
            return 0;
        }
        self.answered = Some(now);
        packet[0] |= ACKNOWLEDGES;
        let before = packet.len();
        packet.bytes(&acknowledgement);
        packet.len() - before
    }

    /// Begins to read a datagram: takes in its header. `one_way`: what its way took, if its path does not know better.
    pub(super) fn read<'p>(
        &mut self,
        now: Duration,
        packet: &'p [u8],
        one_way: Duration,
        batch: &'p mut Batch,
    ) -> Result<Incoming<'p>, Error> {
        let front = self.endpoint.receive_front(now, packet);
        let front = front.map_err(|_| Error::malformed("datagram: its front"))?;
        let mut reader = Reader::new(front.rest, "datagram");
        if front.bits & ACKNOWLEDGES != 0 {
            self.writer.acknowledge(reader.bytes(MAX_ACKNOWLEDGEMENT, "acknowledgement")?);
        }
        let kind = front.bits & KIND;
        if is_coded(kind) {
            if !self.settings.coded {
                return Err(Error::malformed("datagram: coding was not agreed on"));
            }
            self.expects_answer(now);
        }
        let payload = reader.rest();
        self.before_body = packet.len() - payload.len();
        let messages = self.reader.open(kind, payload, batch);
        Ok(Incoming { messages, way: front.way.unwrap_or(one_way) + front.queued, unpacked: 0 })
    }

    /// The next record of a datagram, with its age by now; `None` behind the last one.
    pub(super) fn next<'r>(
        &mut self,
        now: Duration,
        incoming: &'r mut Incoming<'_>,
        packing: &'r mut Packing,
        needs_of: impl Fn(ChannelNo) -> Result<Needs, Error>,
    ) -> Result<Option<Record<'r>>, Error> {
        let max_message = self.settings.max_message;
        let takes = self.settings.sends.opposite();
        let Incoming { messages, way, unpacked } = incoming;
        let Some((fields, payload, coding)) = messages.next(max_message + RECORD_OVERHEAD)? else {
            return Ok(None);
        };
        let [channel, sender, flags, hop, index, age, stamp, back] = fields;
        let needs = needs_of(ChannelNo(channel))?;
        let qos = needs.qos;
        let repeated = flags & REPEATED != 0;
        let flags = flags & !REPEATED;
        let is_copy = qos.kind == Kind::Transaction;
        if is_copy && !self.settings.copies {
            return Err(Error::malformed("datagram: a transaction"));
        }
        let numbers = [channel, sender, flags, index, stamp, back];
        if is_copy && copies::check(numbers, payload) != hop {
            return Err(Error::malformed("datagram: a damaged copy"));
        }
        let fields = [channel, sender, flags, index, age, stamp];
        let packing = (coding == Coding::Alone).then_some(packing);
        let numbering = &mut Numbering::absolute();
        // W48: beyond what all of a body may stand for, a message is too large.
        let limit = match record::is_packed(&fields) {
            true => max_message.min(MAX_UNPACKED - *unpacked),
            false => max_message,
        };
        let record = record::read(fields, payload, qos.kind, takes, numbering, limit, packing)?;
        if record.packed.is_some() {
            *unpacked += record.bytes.len();
        }
        let record = Record { age: record.age + *way, coding, ..record };
        if is_copy {
            return Ok(Some(Record { number: copied(&record, back)?, ..record }));
        }
        self.open(ChannelNo(channel), needs);
        let key = key_of(&record, &qos).map(|key| (key, back));
        let age = record.age + still_to_go(&qos, takes);
        let came = Came { channel, index: hop as u16, key, age, repeated };
        let _ = self.endpoint.came(now, &came);
        Ok(Some(record))
    }

    /// Ends reading a datagram; returns what came of it as a whole.
    pub(super) fn finish(
        &mut self,
        now: Duration,
        incoming: Incoming<'_>,
        outcome: Result<(), Error>,
    ) -> Result<(), Error> {
        self.endpoint.expire(now, |_| {});
        incoming.messages.finish(outcome)
    }

    fn expects_answer(&mut self, now: Duration) {
        self.unanswered = self.unanswered.saturating_add(1);
        let within =
            if self.unanswered >= FEEDBACK_AFTER { Duration::ZERO } else { FEEDBACK_WITHIN };
        let earliest = self.answered.map_or(now, |before| before + FEEDBACK_SPACING);
        let at = (now + within).max(earliest);
        self.answer_at = Some(self.answer_at.map_or(at, |before| before.min(at)));
    }

    pub(super) fn notice(&mut self) -> Option<Notice> {
        let (channel, expected) = match self.endpoint.notice()? {
            afec::Notice::CannotMeet { channel, expected, .. } => (channel, Some(expected)),
            afec::Notice::CanMeet { channel } => (channel, None),
            afec::Notice::Crowded { channel } => (channel, Some(1.0)),
        };
        let channel = ChannelNo(channel);
        let (_, needs) = self.opened.iter().find(|(opened, _)| *opened == channel)?;
        Some(Notice { channel, target: half(&needs.qos), expected })
    }

    pub(super) fn before_body(&self) -> usize {
        self.before_body
    }

    /// What is known of the path to the other end and from it, and what it carries there, in octets per second.
    pub(super) fn path(&self, now: Duration) -> Path {
        // Of a few packets nothing can be said.
        let rate = |losses: LossModel| (losses.weight >= LEAST_PACKETS).then_some(losses.rate);
        Path {
            lost_to: rate(self.endpoint.loss_ahead()),
            lost_from: rate(self.endpoint.loss()),
            carries: self.endpoint.rate(now),
        }
    }

    /// What codes what is sent, once something was.
    pub(super) fn coder(&self) -> Option<&groupwire_gmc::Encoder> {
        self.writer.coder()
    }

    pub(super) fn stats(&self, channel: ChannelNo) -> Option<(SenderStats, Code, &ReceiverStats)> {
        let (sent, code) = self.endpoint.sent(channel.get())?;
        Some((sent, code, self.endpoint.received(channel.get())?))
    }
}

/// W81: the number of a transaction that is there `back` positions after the last one before it.
fn copied(record: &Record<'_>, back: u32) -> Result<Number, Error> {
    match record.number {
        Number::Transaction { counter, position } if !record.state => {
            let previous = Position(position.get().saturating_sub(u64::from(back)));
            Ok(Number::Copy { counter, position, previous })
        }
        _ => Err(Error::malformed("datagram: an older transaction")),
    }
}

/// What the server at least leaves of the deadline for the tick and the way to the receivers, when it judges what came: three
/// tenths. Of messages that came with less left, nobody has much.
fn still_to_go(qos: &Qos, takes: Direction) -> Duration {
    match takes {
        Direction::ToServer => deadline(qos) * 3 / 10,
        Direction::ToClient => Duration::ZERO,
    }
}

fn deadline(qos: &Qos) -> Duration {
    qos.deadline.unwrap_or(NO_DEADLINE).min(afec::Qos::LONGEST_DEADLINE)
}

impl Needs {
    /// What is sent and what is received on a hop whose end sends there.
    fn of_hop(&self, sends: Direction) -> [afec::Qos; 2] {
        [sends, sends.opposite()].map(|direction| self.of_way(direction))
    }

    /// W69: what one hop needs so that both together meet the channel's needs. Towards the server the rest of the way takes
    /// two fifths of the deadline: more than half of it, less what the tick takes.
    fn of_way(&self, direction: Direction) -> afec::Qos {
        let deadline = deadline(&self.qos);
        let (target, ahead) = match direction {
            Direction::ToServer => (half(&self.qos), deadline * 2 / 5),
            Direction::ToClient => (self.rest(), Duration::ZERO),
        };
        afec::Qos {
            target,
            deadline,
            ahead,
            order: match self.qos.overflow {
                Overflow::Conflate => Order::Newest,
                Overflow::Aggregate => Order::AsTheyCome,
            },
            rate_min: f64::from(self.qos.rate_min) / 1000.0,
            // The rate was seen to already.
            rate_max: 0.0,
            priority: self.qos.priority,
            may_lower: false,
        }
    }

    /// The share that may miss on the way to a client: what the way to the server left, as far as that is known.
    fn rest(&self) -> f64 {
        let Some(upstream) = self.upstream else { return half(&self.qos) };
        let rest = loss(&self.qos) * BOTH - f64::from(upstream) / 1000.0;
        rest.max(loss(&self.qos) * LEAST_OF_BOTH).min(loss(&self.qos) * MOST_OF_BOTH)
    }
}

/// The share of messages that may miss on one of two hops: a little less than half of what may on both, for it is held on
/// average, and some messages that came in time here come too late there.
fn half(qos: &Qos) -> f64 {
    loss(qos) * 0.45
}

/// The share that may miss on both hops.
fn loss(qos: &Qos) -> f64 {
    f64::from(qos.loss.min(1000)) / 1000.0
}

/// What a message replaces on a channel that conflates. Who finds two keys of one value only confuses the books, and
/// while the path is too narrow for all, loses values.
fn key_of(record: &Record<'_>, qos: &Qos) -> Option<u32> {
    if qos.overflow != Overflow::Conflate {
        return None;
    }
    let start = record.sender.get().to_le_bytes();
    Some(fnv1a(start.iter().chain(record.key.unwrap_or_default())))
}
