//! One end of a path: it sends and receives packets. A code is the plan by which a sender repeats
//! the messages of a channel; a piggyback is a repeat in a packet with new messages; a report tells
//! the sender of packets how these arrive. The target of a channel is the share of its messages
//! that may miss (not arrive by their deadline). On a conflated channel only the newest value of
//! each key matters.

mod coded;

use alloc::vec::Vec;
use core::time::Duration;

pub use coded::{Arrival, Planned, ShortHeader};

use crate::ids::{ChannelId, Echo, PacketNumber};
use crate::path::Path;
use crate::qos::Qos;
use crate::receiver::{Delivery, Receiver};
use crate::scheme::Scheme;
use crate::sender::{PacketSummary, SendError, Sender, Submission, Submitted};
use crate::stats::{ReceiverStats, SenderStats};
use crate::wire::{
    HEADER, Header, Messages, PacketError, Reader, Report, ReportReader, mark_report, write_header,
    write_message,
};
use crate::{code::Code, loss::LossModel, wire::ChannelReport};

/// The number of newest packets whose time of sending is remembered, to measure round trips: those
/// of two seconds of a telepointer (the pointer of another user, 30 messages a second). Chosen by
/// judgement; not tuned.
const SENT: usize = 64;

/// The least time between two choices of codes. A choice takes about 0.1 ms, all other work for a
/// packet less than 1 µs (measured by `lab/benches/afec`), so choices take at most half a percent
/// of one core.
const DECISIONS: Duration = Duration::from_millis(20);

/// Bytes of a packet that are reserved for the header and a report, so that every accepted message
/// fits beside these.
const RESERVED: usize = HEADER + 40;

/// The settings of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
    /// How redundancy is chosen. The same at both ends.
    pub scheme: Scheme,
    /// The largest packet that the transport takes, in bytes without the transport's headers.
    pub mtu: usize,
    /// The bytes of headers that the transport adds to each packet: 28 for IPv4 and UDP.
    pub transport_headers: usize,
    /// The cost of a piggyback in bytes, if the caller compresses packets. If `None`, it is the
    /// message's length times the compression ratio.
    pub repeat_price: Option<f64>,
}

impl Default for Config {
    fn default() -> Self {
        Config { scheme: Scheme::Adaptive, mtu: 1200, transport_headers: 28, repeat_price: None }
    }
}

/// An event for the application.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Notice {
    /// The path cannot meet a channel's target: at best the share `expected` of its messages will
    /// miss (not arrive by their deadline). The application may lower its demands, allow a longer
    /// deadline, or go on.
    CannotMeet {
        /// The number of the channel.
        channel: ChannelId,
        /// The target of the channel.
        target: f64,
        /// The share of messages that is expected to miss, 0 to 1.
        expected: f64,
    },
    /// The repeats of a channel do not all fit into packets any more, so its target may not be met.
    /// The application should send smaller messages or set a higher target.
    Overloaded {
        /// The number of the channel.
        channel: ChannelId,
    },
    /// The path can meet the target again.
    CanMeet {
        /// The number of the channel.
        channel: ChannelId,
    },
}

/// One end of a path that may lose, delay, reorder and duplicate packets. The messages that an
/// application sends at one end are delivered at the other end within each channel's loss target
/// and deadline, at the least cost.
///
/// An endpoint has no socket and no clock. The caller passes packets that arrived to
/// [`receive`](Endpoint::receive), sends the packets of [`transmit`](Endpoint::transmit) until that
/// returns `None`, and calls again at [`timeout`](Endpoint::timeout) or when something happens.
/// `now` is the time since any moment, the same for all calls.
///
/// ```
/// use core::time::Duration;
/// use groupwire_afec::{Config, Endpoint, Qos, Submission};
///
/// let mut here = Endpoint::new(Config::default());
/// let mut there = Endpoint::new(Config::default());
/// for end in [&mut here, &mut there] {
///     end.open(7, Qos::new())?;
/// }
/// let now = Duration::ZERO;
/// here.send(now, 7, Submission::new(b"pointer 10 20"))?;
/// let mut packet = Vec::new();
/// while here.transmit(now, &mut packet).is_some() {
///     there.receive(now + Duration::from_millis(20), &packet, |message| {
///         assert_eq!(message.payload, b"pointer 10 20");
///     })?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Bad input
///
/// For all packets that a peer may send, in any order and however many:
///
/// - Memory stays under 16 KB for each channel and direction, without the messages that wait to be
///   sent, and under 36 KB for the repeats that are still to be sent on all channels (4 KB unless
///   [`Scheme::Fixed`] repeats the last 32 messages).
/// - Packets that only carry a report are at least 5 ms apart and have at most 16 parts about
///   channels. No packet exceeds [`Config::mtu`].
/// - A message is repeated as often as its code says (at most seven times if this crate chose the
///   code), once more by the tail flush, and again for at most four requests, each answered in at
///   most three packets (or [`Code::answers`]). On a conflated channel it is repeated up to eleven
///   times. It is not repeated after its deadline.
/// - Codes are chosen at most every 20 ms, with many channels less often.
/// - A rate limit from a report is forgotten after four seconds unless another report repeats it.
///   For a minute after it, conflated values are repeated less.
/// - A copy of a packet is recognised for 15 s; no network is expected to hold a packet for longer.
/// - Up to five consecutive packets with a false number, clock or index are forgotten after six
///   honest ones; up to three false round trips do no harm. While all messages seem to be too late,
///   one is sent every 200 ms all the same, to find out whether the path became faster.
///
/// Packets are not authenticated. An attacker who can write many packets in the peer's name can
/// distort the estimates of the path, within these bounds, until honest reports correct them.
#[derive(Debug)]
pub struct Endpoint {
    config: Config,
    sender: Sender,
    receiver: Receiver,
    path: Path,
    next_number: PacketNumber,
    /// When the newest packets were sent. The index of each is its number modulo [`SENT`].
    sent: [Option<(PacketNumber, Duration)>; SENT],
    /// The echo of the newest report that arrived: the low bits of its number, which are sent back
    /// to confirm the report.
    echo: Echo,
    /// When that report arrived, and how many further packets are to echo it.
    echoing: Option<(Duration, u8)>,
    notices: Vec<Notice>,
    /// When codes were last chosen.
    decided: Option<Duration>,
    /// Whether something on which the choice depends has changed since codes were last chosen.
    undecided: bool,
    /// The number of the newest packet with which a round trip was measured.
    measured: Option<PacketNumber>,
}

impl Endpoint {
    /// An endpoint without channels.
    pub fn new(config: Config) -> Self {
        Endpoint {
            config,
            sender: Sender::new(
                config.scheme,
                config.transport_headers + HEADER,
                config.repeat_price,
            ),
            receiver: Receiver::new(config.scheme),
            path: Path::new(),
            next_number: PacketNumber(0),
            sent: [None; SENT],
            echo: Echo::default(),
            echoing: None,
            notices: Vec::new(),
            decided: None,
            undecided: false,
            measured: None,
        }
    }

    /// Opens a channel for both directions. Both ends must open the same channels with the same QoS
    /// (loss target, deadline and rates).
    ///
    /// # Errors
    /// If the channel is open, too many channels are, or the QoS contradicts itself.
    pub fn open(&mut self, channel: impl Into<ChannelId>, qos: Qos) -> Result<(), SendError> {
        let channel = channel.into();
        self.sender.open(channel, qos)?;
        self.receiver.open(channel, qos)
    }

    /// Accepts a message for sending.
    ///
    /// # Errors
    /// If the channel is not open or the message fits no packet.
    pub fn send(
        &mut self,
        now: Duration,
        channel: impl Into<ChannelId>,
        message: Submission<'_>,
    ) -> Result<Submitted, SendError> {
        self.sender.submit(now, channel.into(), message, self.config.mtu.saturating_sub(RESERVED))
    }

    /// Writes the next packet that is due into `packet`, replacing what that holds, and returns a
    /// summary of the packet. `None` if no packet is due.
    pub fn transmit(&mut self, now: Duration, packet: &mut Vec<u8>) -> Option<PacketSummary> {
        let (messages, report) = self.due(now);
        if !messages && !report {
            return None;
        }
        let number = self.next_number;
        packet.clear();
        write_header(self.header(now, number), packet);
        let before = packet.len();
        let reported = self.receiver.report(now, !messages, &self.path, false, packet);
        let report_bytes = (packet.len() - before) as u32;
        if !messages && !reported {
            return None;
        }
        let remaining = self.config.mtu.saturating_sub(packet.len());
        let mut made = PacketSummary::default();
        if messages {
            made = self.sender.fill(now, number, &self.path, remaining, |head, payload| {
                write_message(head, payload, packet);
            });
        }
        self.note_overflow(now);
        if made.new + made.repeated == 0 && !reported {
            return None;
        }
        made.report_bytes = report_bytes;
        if reported {
            mark_report(packet);
        }
        self.echoing = self.echoing.and_then(|(at, left)| Some((at, left.checked_sub(1)?)));
        self.sender.on_sent(now, packet.len() + self.config.transport_headers);
        self.sent[number.0 as usize % SENT] = Some((number, now));
        self.next_number = number.next();
        Some(made)
    }

    /// Returns whether messages are due, and whether a report is due. Chooses codes before, if a
    /// choice is due.
    fn due(&mut self, now: Duration) -> (bool, bool) {
        self.undecided |= self.sender.drop_old_limit(now);
        self.decide_if_due(now);
        let messages = self.sender.next(now).is_some_and(|at| at <= now);
        (messages, self.receiver.next_report(now, &self.path).is_some_and(|at| at <= now))
    }

    /// Adds a [`Notice::Overloaded`] for each channel whose repeats no longer fit into packets.
    fn note_overflow(&mut self, now: Duration) {
        let notices = &mut self.notices;
        self.sender.overflowing(now, |channel| {
            let notice = Notice::Overloaded { channel };
            if !notices.contains(&notice) {
                notices.push(notice);
            }
        });
    }

    /// Reads a packet from the other end and passes its messages to `deliver`, those of a channel
    /// oldest first.
    ///
    /// # Errors
    /// If the packet is malformed: the fields before the fault were used, the rest was not. A copy
    /// of a packet that arrived before is harmless and is reported as [`PacketError::Duplicate`].
    pub fn receive<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        packet: &[u8],
        mut deliver: F,
    ) -> Result<(), PacketError> {
        let mut reader = Reader::new(packet);
        let header = Header::read(&mut reader)?;
        let bytes = packet.len() + self.config.transport_headers;
        let queued = self.receiver.arrived(now, &header, bytes).ok_or(PacketError::Duplicate)?;
        if header.report {
            self.take_report(now, &mut reader, None)?;
        }
        self.receiver.messages(now, queued, &self.path, Messages::new(reader), &mut deliver)
    }

    /// Uses the report of a packet. `short_echoes` is the number of further packets that echo the
    /// report, if the packet has a short header. Full headers always have an echo.
    fn take_report(
        &mut self,
        now: Duration,
        reader: &mut Reader<'_>,
        short_echoes: Option<u8>,
    ) -> Result<(), PacketError> {
        let short = short_echoes.is_some();
        let (report, count) = Report::read(reader, short)?;
        self.echo = report.number.echo();
        self.echoing = Some((now, short_echoes.unwrap_or(1)));
        self.measure(now, &report, short);
        if let Some(losses) = report.losses {
            self.sender.set_loss(losses);
        }
        self.sender.on_report(now, report.rate);
        let mut channels = ReportReader::new(reader, count);
        let mut has_balance = false;
        while let Some((channel, part)) = channels.next()? {
            match part {
                ChannelReport::Requests { first, more } => {
                    self.sender.on_request(now, channel, first, more, &self.path);
                }
                ChannelReport::Balance(quarters) => {
                    self.sender.set_balance(channel, f64::from(quarters) / 4.0);
                    has_balance = true;
                }
            }
        }
        let age = self.decided.map(|at| now.saturating_sub(at));
        self.undecided |= has_balance || report.losses.is_some() || report.rate.is_some();
        self.undecided |= age.is_none_or(|age| age >= Duration::from_secs(1));
        self.decide_if_due(now);
        Ok(())
    }

    /// Chooses codes if something has changed and enough time has passed since the last choice.
    fn decide_if_due(&mut self, now: Duration) {
        let pause = DECISIONS * (1 + self.sender.channels() / 4);
        let rested = self.decided.is_none_or(|at| at + pause <= now);
        if self.undecided && rested {
            self.undecided = false;
            self.decided = Some(now);
            self.decide(now);
        }
    }

    /// Measures the round trip with the packet that a report names as the newest one.
    fn measure(&mut self, now: Duration, report: &Report, short: bool) {
        let sent = self.sent[usize::from(report.highest) % SENT];
        let mask = if short { 0xff } else { 0xffff };
        if let Some((number, at)) = sent
            && number.low() & mask == report.highest
            && self.measured.is_none_or(|newest| number.is_after(newest))
        {
            // Each packet measures once, and none that is older than the last one that did (RFC
            // 9002, section 5.1). Otherwise a peer that repeats an old number could make the path
            // look as slow as that peer likes.
            self.measured = Some(number);
            let hold = Duration::from_millis(u64::from(report.hold));
            if let Some(round_trip) = now.checked_sub(at + hold) {
                let was_sure = self.path.is_sure();
                self.path.sample(round_trip);
                // A path that is longer than a deadline is believed only now.
                self.undecided |= self.path.is_sure() && !was_sure;
            }
        }
    }

    /// Chooses the codes of all channels. Adds a notice for each channel whose target went out of
    /// reach or came back into reach.
    fn decide(&mut self, now: Duration) {
        let loss_back = self.receiver.loss().rate;
        let notices = &mut self.notices;
        self.sender.decide(now, &self.path, loss_back, |channel, qos, told| {
            // Only the newest notice of a channel is kept: the application may read notices late.
            notices.retain(|notice| !notice.is_about(channel));
            notices.push(match told {
                Some(expected) => Notice::CannotMeet { channel, target: qos.target, expected },
                None => Notice::CanMeet { channel },
            });
        });
    }

    /// Counts missing messages as missed when their deadline has passed.
    pub fn expire(&mut self, now: Duration) {
        self.receiver.expire(now);
    }

    /// When to call [`transmit`](Endpoint::transmit) again, unless something happens earlier.
    pub fn timeout(&self, now: Duration) -> Option<Duration> {
        let report = self.receiver.next_report(now, &self.path);
        [self.sender.next(now), report].into_iter().flatten().min()
    }

    /// Sets the rate of the transport's own congestion control in bytes per second, if the
    /// transport has one, as QUIC has. The rate control of the endpoint only lowers that rate.
    pub fn set_transport_rate(&mut self, rate: Option<u32>) {
        self.sender.set_transport_rate(rate);
    }

    /// Notes that a packet of this endpoint was dropped on this side, so that it does not count as
    /// lost by the path. The messages in it are repeated as those of lost packets are.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_afec::{Config, Endpoint, Qos, Submission};
    ///
    /// let mut here = Endpoint::new(Config::default());
    /// here.open(7, Qos::new())?;
    /// here.send(Duration::ZERO, 7, Submission::new(b"pointer 10 20"))?;
    /// let mut packet = Vec::new();
    /// here.transmit(Duration::ZERO, &mut packet);
    /// // The socket's buffer was full.
    /// here.on_dropped();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_dropped(&mut self) {
        self.sender.on_dropped();
    }

    /// Removes and returns the next event for the application.
    pub fn notice(&mut self) -> Option<Notice> {
        if self.notices.is_empty() { None } else { Some(self.notices.remove(0)) }
    }

    /// The statistics of what was sent on a channel, and the channel's code. A conflated channel
    /// ([`Order::Newest`](crate::Order::Newest)) has no code of its own: the returned one describes
    /// the repeats of a value that no newer value follows in time.
    pub fn sent(&self, channel: impl Into<ChannelId>) -> Option<(SenderStats, Code)> {
        self.sender.stats(channel.into())
    }

    /// The statistics of what was received on a channel. `None` if the channel is not open.
    pub fn received(&self, channel: impl Into<ChannelId>) -> Option<&ReceiverStats> {
        self.receiver.stats(channel.into())
    }

    /// The estimated losses of the path from the other end.
    pub fn loss(&self) -> LossModel {
        self.receiver.loss()
    }

    /// The losses of the path to the other end, as it last reported them.
    pub fn loss_ahead(&self) -> LossModel {
        self.sender.loss()
    }

    /// The rate limit of the path to the other end in bytes per second, headers included. `None` if
    /// the path shows no limit.
    pub fn rate(&self, now: Duration) -> Option<u32> {
        self.sender.rate(now)
    }

    /// The smoothed round trip. `None` until a round trip was measured.
    pub fn round_trip(&self) -> Option<Duration> {
        self.path.is_known().then(|| self.path.round_trip())
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.sender.memory() + self.receiver.memory()
    }
}

impl Notice {
    /// Whether the notice says if the target of channel `id` can be met.
    fn is_about(&self, id: ChannelId) -> bool {
        match self {
            Notice::CannotMeet { channel, .. } | Notice::CanMeet { channel } => *channel == id,
            Notice::Overloaded { .. } => false,
        }
    }
}
