//! One leg of a path client-server-client: an afec endpoint, which decides what each datagram
//! holds, with the coders of the payloads. This file sends; [`super::incoming`] receives.

use alloc::vec::Vec;
use core::ops::Range;
use core::time::Duration;

use groupwire_afec::code::Code;
use groupwire_afec::loss::LossModel;
use groupwire_afec::stats::{ReceiverStats, SenderStats};
use groupwire_afec::{self as afec, Endpoint, Scheme, Submission};

use super::acknowledging::Acknowledging;
use super::body::{PLAIN, PayloadReader, PayloadWriter, keep};
use super::copies::{self, Copies};
use super::hash::key_of;
use super::settings::{Redundancy, Settings};
use super::share::{Needs, Notice};
use crate::ids::{ChannelNo, Counter, Position};
use crate::trace::Part;
use crate::wire::io::Write;
use crate::wire::record::{Direction, Record};
use crate::{Error, Qos};

/// Bytes that IP, UDP and QUIC add to a datagram: 28 of IPv4 and UDP, a short header of 11, a tag
/// of 16, and 3 for a frame's type and length.
const TRANSPORT_HEADERS: usize = 58;

/// The bytes that one repeat of a message adds to a datagram, if it is coded together with the
/// messages before and after it. Measured with pointers (tests/all/redundancy.rs).
const REPEAT_PRICE: f64 = 4.0;

/// The bytes of a small message in a packet of its own, with headers.
const MESSAGE_ALONE: f64 = (TRANSPORT_HEADERS + 22) as f64;

/// The most messages that are submitted before the next datagrams are made.
const MAX_SUBMITTED: usize = 64;

/// The number of packets from which on a measured loss rate is reported.
const LEAST_PACKETS: f64 = 20.0;

/// On a path that loses at least this share of the packets in either direction, this end sends a
/// datagram at least every [`SIGN_OF_LIFE`] (wire W35). What the stream carries waits for what was
/// lost before it, and QUIC doubles the time between its attempts, so that at 60 % loss a ping and
/// its answer often take longer than the 5 s after which a silent end counts as dead. Of datagrams
/// in this distance all are lost for 5 s once in 350,000 times.
const LOSES_MANY: f64 = 0.3;
const SIGN_OF_LIFE: Duration = Duration::from_millis(200);

/// Signs of life end this long after the last datagram for another reason: without messages, the
/// ends may never learn that the path has become better. Chosen by judgement; not tuned.
const SIGNS_END: Duration = Duration::from_secs(60);

/// While an end asks for signs of life, both ends send a datagram at least every [`HURRIED_SIGN`],
/// the asked one until [`ASKED_FOR`] after the last question that it received. At 60 % loss the
/// asking end hears nothing for 2.5 s once in 20,000 times.
const HURRIED_SIGN: Duration = Duration::from_millis(100);
const ASKED_FOR: Duration = Duration::from_millis(500);

/// A client asks at this distance until it knows that the server reads its datagrams (wire W120).
/// HELLO and WELCOME that were lost are sent again once QUIC sees an acknowledgement of a later
/// packet. At 60 % loss each way, one packet in six is sent and acknowledged: with the distance
/// [`HURRIED_SIGN`], one join in ten takes longer than 5 s, with this one one in twenty.
const FIRST_SIGN: Duration = Duration::from_millis(50);

/// Bits of a datagram's first byte (wire W68): whether it has an acknowledgement, and the kind of
/// its body ([`super::body`]).
pub(super) const ACKNOWLEDGES: u8 = 4;
pub(super) const KIND: u8 = 3;
/// The kind of a body without records that asks for signs of life (wire W35).
pub(super) const QUESTION: u8 = PLAIN;

/// What one end knows of the path of its datagrams.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Path {
    /// The share of packets to the other end that were lost. `None` before 20 packets.
    pub(crate) lost_to: Option<f64>,
    /// The share of packets from the other end that were lost. `None` before 20 packets.
    pub(crate) lost_from: Option<f64>,
    /// Bytes per second that may be sent, headers included. `None` if no limit is known.
    pub(crate) carries: Option<u32>,
}

/// What the datagrams of a transport need of its congestion control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathNeeds {
    /// Bytes per second that the minimum rates of the channels and the waiting copies of
    /// transactions (wire W82) take, headers included.
    pub minimum_rate: u32,
    /// True if the other end has measured that the path carries no more than it does now.
    pub is_limited: bool,
}

/// A datagram to send.
pub(crate) struct OutgoingDatagram {
    pub(crate) bytes: Vec<u8>,
    /// Bytes before the body.
    pub(crate) header_bytes: usize,
    /// The part of `header_bytes` that is reports and acknowledgements.
    pub(crate) feedback_bytes: usize,
    /// The messages of the body. Empty unless the inspector is in use.
    pub(crate) parts: Vec<Part>,
}

/// An open channel.
struct Opened {
    channel: ChannelNo,
    needs: Needs,
    /// True once this end has sent a message of the channel.
    is_sent: bool,
}

/// See the [module](self).
pub(super) struct Leg {
    pub(super) settings: Settings,
    pub(super) endpoint: Endpoint,
    opened: Vec<Opened>,
    /// Bytes per second that the minimum rates of the sent channels take, headers included.
    minimum_rate: u32,
    /// Messages submitted since a packet was last made.
    submitted: usize,
    copies: Copies,
    pub(super) writer: PayloadWriter,
    pub(super) reader: PayloadReader,
    /// Buffer for the record that is being submitted.
    kept: Vec<u8>,
    pub(super) acknowledging: Acknowledging,
    /// Bytes before the body in the newest received datagram.
    pub(super) before_body: usize,
    /// When a datagram was last made.
    made_at: Duration,
    /// When a datagram was last made that was more than a sign of life.
    busy_at: Duration,
    /// Until when the other end wants signs of life: it misses an answer.
    asked_until: Duration,
}

impl Leg {
    pub(super) fn new(settings: Settings) -> Self {
        let Settings { max, coded, redundancy, .. } = settings;
        let config = afec::Config {
            scheme: match redundancy {
                Redundancy::Off => Scheme::Fixed(Code::PLAIN),
                Redundancy::Adaptive | Redundancy::Alone => Scheme::Adaptive,
            },
            mtu: max,
            transport_headers: TRANSPORT_HEADERS,
            repeat_price: (coded.is_some() && redundancy == Redundancy::Adaptive)
                .then_some(REPEAT_PRICE),
        };
        Leg {
            settings,
            endpoint: Endpoint::new(config),
            opened: Vec::new(),
            minimum_rate: 0,
            submitted: 0,
            copies: Copies::default(),
            writer: PayloadWriter::new(redundancy == Redundancy::Alone),
            reader: PayloadReader::new(coded.unwrap_or_default()),
            kept: Vec::new(),
            acknowledging: Acknowledging::default(),
            before_body: 0,
            made_at: Duration::ZERO,
            busy_at: Duration::ZERO,
            asked_until: Duration::ZERO,
        }
    }

    /// Both ends have agreed on these settings.
    pub(super) fn agree(&mut self, settings: Settings) {
        self.reader = PayloadReader::new(settings.coded.unwrap_or_default());
        self.settings = settings;
    }

    /// The time from which on the path's rate permits new messages. `None` for at once.
    pub(super) fn clear_at(&self) -> Option<Duration> {
        self.endpoint.allowed()
    }

    pub(super) fn can_submit(&self) -> bool {
        self.submitted < MAX_SUBMITTED
    }

    pub(super) fn submit(&mut self, now: Duration, record: &Record<'_>, needs: Needs) {
        self.open(record.channel, needs, true);
        self.kept.clear();
        keep(record, self.settings.sends, &mut self.kept);
        let key = key_of(record, &needs.qos).unwrap_or(0);
        let submission = Submission { key, age: record.age, payload: &self.kept };
        // The only error is a channel that is not open. `Datagrams::fits` admits only channels that
        // can be opened.
        let _ = self.endpoint.submit(now, record.channel.get(), submission);
        self.submitted += 1;
    }

    pub(super) fn wants_copies(&self, qos: &Qos) -> bool {
        let Settings { copies, redundancy, .. } = self.settings;
        copies
            && redundancy != Redundancy::Off
            && copies::are_worth_it(qos, self.loss_ahead().as_ref())
    }

    pub(super) fn add_copy(
        &mut self,
        now: Duration,
        record: &Record<'_>,
        previous: Position,
        qos: &Qos,
    ) {
        let loss = self.loss_ahead();
        self.copies.add(now, record, previous, self.settings.sends, qos, loss.as_ref());
    }

    /// The losses of the path to the other end; `None` before its first report.
    fn loss_ahead(&self) -> Option<LossModel> {
        self.endpoint.round_trip().map(|_| self.endpoint.loss_ahead())
    }

    /// The room has given this end's own transactions up to `counter` their places in its order, so
    /// their copies need not be sent any more.
    pub(super) fn on_ordered(&mut self, counter: Counter) {
        self.copies.on_ordered(counter);
    }

    /// The receiver of a channel missed `beyond` messages more than the target permits, on both
    /// legs together. Below zero: fewer.
    pub(super) fn report_misses(&mut self, channel: ChannelNo, beyond: f64) {
        self.endpoint.report_misses(channel.get(), beyond);
    }

    /// Opens the afec channel on first use. When the needs changed, updates its loss target and
    /// deadline. `sends` says that this end sends a message of the channel.
    pub(super) fn open(&mut self, channel: ChannelNo, needs: Needs, sends: bool) {
        let known = self.opened.iter_mut().find(|opened| opened.channel == channel);
        if known.as_ref().is_some_and(|known| known.needs == needs && (known.is_sent || !sends)) {
            return;
        }
        let [sent, received] = needs.of_leg(self.settings.sends);
        match known {
            Some(known) => {
                let before = known.needs.of_leg(self.settings.sends);
                let anew = known.needs.qos.loss != needs.qos.loss;
                known.needs = needs;
                known.is_sent |= sends;
                if before != [sent, received] {
                    self.endpoint.set_qos(channel.get(), sent, received, anew);
                }
            }
            None => {
                if self.endpoint.open(channel.get(), sent).is_err() {
                    return;
                }
                self.endpoint.set_qos(channel.get(), sent, received, false);
                self.opened.push(Opened { channel, needs, is_sent: sends });
            }
        }
        let sent = self.opened.iter().filter(|opened| opened.is_sent);
        let messages: f64 = sent.map(|opened| opened.needs.qos.rate_min.hertz()).sum();
        self.minimum_rate = (messages * MESSAGE_ALONE) as u32;
    }

    /// Stops sending and repeating the messages that were submitted on the channel. The channel's
    /// indices continue when it is used again (wire W67).
    pub(super) fn close(&mut self, channel: ChannelNo) {
        self.endpoint.forget_messages(channel.get());
        self.copies.close(channel);
    }

    /// `asks_at`: from when on this end asks for signs of life.
    pub(super) fn timeout(&self, now: Duration, asks_at: Option<Duration>) -> Option<Duration> {
        let clear = self.clear_at().unwrap_or_default();
        let copy = self.copies.due().map(|due| due.max(clear));
        let acknowledgement = self.acknowledging.due();
        [self.endpoint.timeout(now), acknowledgement, copy, self.sign_of_life(asks_at)]
            .into_iter()
            .flatten()
            .min()
    }

    /// The other end asks for signs of life.
    pub(super) fn on_asked(&mut self, now: Duration) {
        self.asked_until = now + ASKED_FOR;
    }

    /// When a datagram is due although there is nothing to tell, so that the other end hears
    /// something. `None` on a path that loses little, if neither end asks for it.
    fn sign_of_life(&self, asks_at: Option<Duration>) -> Option<Duration> {
        let is_bad = |loss: LossModel| loss.weight >= LEAST_PACKETS && loss.rate >= LOSES_MANY;
        let is_wanted = self.made_at < self.busy_at + SIGNS_END
            && (is_bad(self.endpoint.loss_ahead()) || is_bad(self.endpoint.loss()));
        let clear = self.clear_at().unwrap_or_default();
        let hurried = (self.made_at + HURRIED_SIGN).max(clear);
        let asked = (hurried < self.asked_until).then_some(hurried);
        let is_first = self.settings.sends == Direction::ToServer && self.loss_ahead().is_none();
        let spacing = if is_first { FIRST_SIGN } else { HURRIED_SIGN };
        let asks = asks_at.map(|at| at.max(self.made_at + spacing).max(clear));
        [is_wanted.then(|| self.made_at + SIGN_OF_LIFE), asked, asks].into_iter().flatten().min()
    }

    /// Appends the datagrams of the next packet that is due: one, or several if the coded packet is
    /// too large for one.
    pub(super) fn make(
        &mut self,
        now: Duration,
        traced: bool,
        asks_at: Option<Duration>,
        made: &mut Vec<OutgoingDatagram>,
    ) -> Result<(), Error> {
        self.endpoint.expire(now);
        self.submitted = 0;
        self.writer.begin();
        self.writer.keep_costs(traced);
        let mut packet = Vec::new();
        let acknowledges = self.acknowledging.due().is_some_and(|at| at <= now);
        self.copies.expire(now);
        let is_clear = self.clear_at().is_none_or(|at| at <= now);
        let copies = self.copies.due().is_some_and(|at| at <= now && is_clear);
        let signs = self.sign_of_life(asks_at).is_some_and(|at| at <= now);
        let writer = &mut self.writer;
        let plan = |planned: afec::Planned<'_>| writer.push(&planned);
        let forced = acknowledges || copies || signs;
        let Some(planned) = self.endpoint.transmit_with(now, forced, &mut packet, plan) else {
            return Ok(());
        };
        self.made_at = now;
        if !signs {
            self.busy_at = now;
        }
        let remaining = self.settings.max.saturating_sub(packet.len() + planned.bytes as usize);
        let is_empty = self.writer.len() == 0;
        let copied = self.copies.take(now, remaining, is_empty, |copy, check| {
            self.writer.push_copy(copy, check);
        });
        let report = planned.report_bytes as usize;
        let feedback = report + self.acknowledge(now, &mut packet);
        if self.writer.len() == 0 && asks_at.is_some_and(|at| at <= now) {
            packet[0] |= QUESTION;
        }
        let coded = self.write_datagrams(now, traced, packet, feedback, made)?;
        self.endpoint.on_coded(planned.bytes as usize + copied, coded);
        Ok(())
    }

    /// Writes the messages of the body writer behind the header in `packet`. If the datagram gets
    /// too large, its messages are halved, and each half goes into a datagram of its own; a single
    /// message that does not fit behind the header of a first datagram goes into a further one, and
    /// is dropped if it does not fit there either. Returns the bytes of the payloads.
    fn write_datagrams(
        &mut self,
        now: Duration,
        traced: bool,
        mut packet: Vec<u8>,
        mut feedback: usize,
        made: &mut Vec<OutgoingDatagram>,
    ) -> Result<usize, Error> {
        let mut coded = 0;
        // Ranges of messages that are still to be written, the first one on top.
        let mut parts = Vec::new();
        parts.push(0..self.writer.len());
        let mut has_short_header = false;
        while let Some(part) = parts.pop() {
            let header = packet.len();
            let kind = self.writer.write(part.clone(), self.settings.coded, &mut packet)?;
            if packet.len() > self.settings.max {
                // The encoder counts the body that was too large as a lost packet.
                packet.truncate(header);
                split(part, has_short_header, &mut parts);
                continue;
            }
            coded += packet.len() - header;
            packet[0] |= kind;
            self.endpoint.on_sent(now, packet.len());
            let described = if traced { self.writer.parts(part) } else { Vec::new() };
            made.push(OutgoingDatagram {
                bytes: core::mem::take(&mut packet),
                header_bytes: header,
                feedback_bytes: core::mem::take(&mut feedback),
                parts: described,
            });
            if !parts.is_empty() {
                self.endpoint.next_header(now, &mut packet);
                has_short_header = true;
            }
        }
        Ok(coded)
    }

    /// Appends the acknowledgement of the other end's payloads if one is due (wire W40). Returns
    /// its bytes.
    fn acknowledge(&mut self, now: Duration, packet: &mut Vec<u8>) -> usize {
        if !self.acknowledging.take(now) {
            return 0;
        }
        let mut acknowledgement = Vec::new();
        self.reader.acknowledge(&mut acknowledgement);
        if acknowledgement.is_empty() {
            return 0;
        }
        self.acknowledging.sent(now);
        packet[0] |= ACKNOWLEDGES;
        let before = packet.len();
        packet.bytes(&acknowledgement);
        packet.len() - before
    }

    pub(super) fn notice(&mut self) -> Option<Notice> {
        let (channel, expected) = match self.endpoint.notice()? {
            afec::Notice::CannotMeet { channel, expected, .. } => (channel, Some(expected)),
            afec::Notice::CanMeet { channel } => (channel, None),
            afec::Notice::Overloaded { channel } => (channel, Some(1.0)),
        };
        let channel = ChannelNo(channel.0);
        let opened = self.opened.iter().find(|opened| opened.channel == channel)?;
        Some(Notice::new(channel, &opened.needs.qos, expected))
    }

    pub(super) fn before_body(&self) -> usize {
        self.before_body
    }

    /// A datagram was dropped before it left.
    pub(super) fn dropped(&mut self) {
        self.endpoint.on_dropped();
    }

    pub(super) fn path_needs(&self, now: Duration) -> PathNeeds {
        let is_limited = self.endpoint.rate(now).is_some();
        let copies = (self.copies.rate() * MESSAGE_ALONE) as u32;
        PathNeeds { minimum_rate: self.minimum_rate.saturating_add(copies), is_limited }
    }

    pub(super) fn path(&self, now: Duration) -> Path {
        let rate = |losses: LossModel| (losses.weight >= LEAST_PACKETS).then_some(losses.rate);
        Path {
            lost_to: rate(self.endpoint.loss_ahead()),
            lost_from: rate(self.endpoint.loss()),
            carries: self.endpoint.rate(now),
        }
    }

    /// The encoder of the payloads. `None` before the first coded body.
    pub(super) fn coder(&self) -> Option<&groupwire_gmc::Encoder> {
        self.writer.coder()
    }

    pub(super) fn stats(&self, channel: ChannelNo) -> Option<(SenderStats, Code, &ReceiverStats)> {
        let (sent, code) = self.endpoint.sent(channel.get())?;
        Some((sent, code, self.endpoint.received(channel.get())?))
    }
}

/// Replaces a range of messages that does not fit a datagram: by its two halves or, for a single
/// message, by an empty range and the message: the first datagram then has only the header, and the
/// message is in the next one. A single message that does not fit behind a short header is dropped.
fn split(part: Range<usize>, has_short_header: bool, parts: &mut Vec<Range<usize>>) {
    match part.len() {
        0 | 1 if has_short_header => {}
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
}
