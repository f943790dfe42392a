//! One end of a path: sends and receives.

mod coded;

use alloc::vec::Vec;
use core::time::Duration;

pub use coded::{Came, Front, Planned};

use crate::path::Path;
use crate::qos::Qos;
use crate::receiver::{Delivery, Receiver};
use crate::scheme::Scheme;
use crate::sender::{Made, SendError, Sender, Submission, Submitted};
use crate::stats::{ReceiverStats, SenderStats};
use crate::wire::{
    ECHO, HEADER, Header, Messages, PacketError, Reader, Report, ReportReader, mark_report,
    write_header, write_message,
};
use crate::{code::Code, loss::LossModel, wire::ChannelReport};

/// Packets whose time of sending is remembered, to measure round trips.
const SENT: usize = 64;

/// Between two choices of codes, which take far longer than all else that a packet makes necessary.
const DECISIONS: Duration = Duration::from_millis(20);

/// Bytes kept free for the header and a report, so that what fits once always fits.
const ROOM: usize = HEADER + 40;

/// What an endpoint is told at its beginning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
    /// Who decides on redundancy. The same at both ends.
    pub scheme: Scheme,
    /// The largest packet that the transport takes, in bytes without its own headers.
    pub mtu: usize,
    /// What the transport adds to each packet: 28 for IPv4 and UDP.
    pub transport_headers: usize,
    /// What a message costs that is repeated in a packet that goes anyway, in bytes, if something beneath compresses
    /// packets; else its length counts.
    pub repeat_price: Option<f64>,
}

impl Default for Config {
    fn default() -> Self {
        Config { scheme: Scheme::Adaptive, mtu: 1200, transport_headers: 28, repeat_price: None }
    }
}

/// Something the application should know of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Notice {
    /// The path cannot meet a channel's target: of its messages, `expected` will miss at best (0 to 1). Lower the
    /// target, allow more time, or go on and know it.
    CannotMeet {
        /// The channel.
        channel: u32,
        /// What it asked for.
        target: f64,
        /// What is to be expected.
        expected: f64,
        /// Whether the target was lowered to that ([`Qos::may_lower`]).
        lowered: bool,
    },
    /// Repeats of this channel's messages do not all fit packets of the path's size any more: its target may not be met.
    /// Send smaller messages, or ask for less.
    Crowded {
        /// The channel.
        channel: u32,
    },
    /// The path can meet the target again.
    CanMeet {
        /// The channel.
        channel: u32,
    },
}

/// One end of a path for packets that may be lost, delayed, reordered and repeated: what an application sends at one
/// end comes out at the other within each channel's loss target and deadline, at the least cost.
///
/// No socket, no clock: hand it what comes ([`receive`](Endpoint::receive)), ask it what to send
/// ([`transmit`](Endpoint::transmit)) until it has nothing more, and come back at [`timeout`](Endpoint::timeout) or
/// with the next happening. `now` is the time since any moment, the same for all calls.
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
/// Whatever comes, in whatever order and number:
///
/// - Memory stays under 16 KB for each channel and direction, beside messages that wait to be sent.
/// - Packets that go for reports alone are at least 5 ms apart and say at most 16 things of channels. No packet exceeds
///   [`Config::mtu`].
/// - A message is sent again as often as its code says (at most seven times if this crate chose it, 32 in the paper's),
///   for at most four requests, each answered in at most three packets (or [`Code::ask`]), and at the end of its
///   cluster once, or up to eleven times where values supersede each other; not after its deadline.
/// - Codes are chosen at most every 20 ms, with many channels less often.
/// - A limit of the rate that a report told is forgotten after four seconds unless it is told again.
/// - A packet that comes again within 15 s is known; no network is expected to hold one for longer.
/// - Up to five packets running that lie about number, time or indices are forgotten after six honest ones;
///   up to three that lie about round trips do no harm. While messages seem hopeless, one goes every 200 ms, so that the
///   path can show that they are not.
///
/// Packets are not authenticated. Who can write many of them as the peer can still distort what is believed of the path,
/// within these bounds, until honest reports correct it.
#[derive(Debug)]
pub struct Endpoint {
    config: Config,
    sender: Sender,
    receiver: Receiver,
    path: Path,
    next_number: u32,
    /// When the last packets were sent, by number.
    sent: [Option<(u32, Duration)>; SENT],
    /// The newest report that came.
    echo: u8,
    /// When it came, and how many packets more are to tell.
    echoing: Option<(Duration, u8)>,
    notices: Vec<Notice>,
    decided: Option<Duration>,
    /// There is news since then.
    undecided: bool,
    /// The newest packet that a round trip was measured with.
    measured: Option<u32>,
}

impl Endpoint {
    /// An end without channels.
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
            next_number: 0,
            sent: [None; SENT],
            echo: 0,
            echoing: None,
            notices: Vec::new(),
            decided: None,
            undecided: false,
            measured: None,
        }
    }

    /// Opens a channel for both directions. Both ends open the same ones, with the same QoS.
    ///
    /// # Errors
    /// If it is open, there are too many, or the QoS makes no sense.
    pub fn open(&mut self, channel: u32, qos: Qos) -> Result<(), SendError> {
        self.sender.open(channel, qos)?;
        self.receiver.open(channel, qos)
    }

    /// Takes a message to send.
    ///
    /// # Errors
    /// If the channel is not open or the message fits no packet.
    pub fn send(
        &mut self,
        now: Duration,
        channel: u32,
        message: Submission<'_>,
    ) -> Result<Submitted, SendError> {
        self.sender.submit(now, channel, message, self.config.mtu.saturating_sub(ROOM))
    }

    /// Writes the next packet that is due into `packet`, whose old content goes, and says what it is made of; `None` if
    /// none is due.
    pub fn transmit(&mut self, now: Duration, packet: &mut Vec<u8>) -> Option<Made> {
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
        let room = self.config.mtu.saturating_sub(packet.len());
        let mut made = Made::default();
        if messages {
            made = self.sender.fill(now, number, &self.path, room, |head, payload| {
                write_message(head, payload, packet);
            });
        }
        self.note_crowded(now);
        if made.new + made.repeated == 0 && !reported {
            return None;
        }
        made.report_bytes = report_bytes;
        if reported {
            mark_report(packet);
        }
        self.echoing = self.echoing.and_then(|(at, left)| Some((at, left.checked_sub(1)?)));
        self.sender.spend(now, packet.len() + self.config.transport_headers);
        self.sent[number as usize % SENT] = Some((number, now));
        self.next_number = number.wrapping_add(1);
        Some(made)
    }

    /// Whether messages are due, and a report.
    fn due(&mut self, now: Duration) -> (bool, bool) {
        self.undecided |= self.sender.forget_limit(now);
        self.decide_if_due(now);
        let messages = self.sender.next(now).is_some_and(|at| at <= now);
        (messages, self.receiver.next_report(now, &self.path).is_some_and(|at| at <= now))
    }

    fn note_crowded(&mut self, now: Duration) {
        let notices = &mut self.notices;
        self.sender.crowded(now, |channel| {
            let notice = Notice::Crowded { channel };
            if !notices.contains(&notice) {
                notices.push(notice);
            }
        });
    }

    /// Takes a packet from the other end and hands its messages to `deliver`, those of a channel oldest first.
    ///
    /// # Errors
    /// If the packet is not what the other end writes: what stood before the fault was used, the rest was not. A
    /// repeated packet is told as [`PacketError::Duplicate`] and harmless.
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

    /// `echoes`: how often it is said to have come if only packets that tell when say so, as behind a short front.
    fn take_report(
        &mut self,
        now: Duration,
        reader: &mut Reader<'_>,
        echoes: Option<u8>,
    ) -> Result<(), PacketError> {
        let short = echoes.is_some();
        let (report, count) = Report::read(reader, short)?;
        self.echo = report.number & ECHO;
        self.echoing = Some((now, echoes.unwrap_or(1)));
        self.measure(now, &report, short);
        if let Some(losses) = report.losses {
            self.sender.lost_like(losses);
        }
        self.sender.heard(now, report.rate);
        let mut channels = ReportReader::new(reader, count);
        let mut standing = false;
        while let Some((channel, part)) = channels.next()? {
            match part {
                ChannelReport::Asks { first, more } => {
                    self.sender.asked(now, channel, first, more, &self.path);
                }
                ChannelReport::Standing(quarters) => {
                    self.sender.stands(channel, f64::from(quarters) / 4.0);
                    standing = true;
                }
                ChannelReport::Step(steps) => self.sender.step(channel, steps),
            }
        }
        let age = self.decided.map(|at| now.saturating_sub(at));
        self.undecided |= standing || report.losses.is_some() || report.rate.is_some();
        self.undecided |= age.is_none_or(|age| age >= Duration::from_secs(1));
        self.decide_if_due(now);
        Ok(())
    }

    fn decide_if_due(&mut self, now: Duration) {
        let pause = DECISIONS * (1 + self.sender.channels() / 4);
        let rested = self.decided.is_none_or(|at| at + pause <= now);
        if self.undecided && rested {
            self.undecided = false;
            self.decided = Some(now);
            self.decide(now);
        }
    }

    fn measure(&mut self, now: Duration, report: &Report, short: bool) {
        let sent = self.sent[usize::from(report.highest) % SENT];
        let told = if short { 0xff } else { 0xffff };
        if let Some((number, at)) = sent
            && number as u16 & told == report.highest
            && self.measured.is_none_or(|newest| number.wrapping_sub(newest) as i32 > 0)
        {
            // Each packet measures once, and none older than one that did (RFC 9002, section 5.1): else who repeats an
            // old number makes the path look as slow as he likes.
            self.measured = Some(number);
            let hold = Duration::from_millis(u64::from(report.hold));
            if let Some(round_trip) = now.checked_sub(at + hold) {
                self.path.sample(round_trip);
            }
        }
    }

    fn decide(&mut self, now: Duration) {
        let loss_back = self.receiver.loss().rate;
        let notices = &mut self.notices;
        self.sender.decide(now, &self.path, loss_back, |channel, qos, told| {
            // One per channel, the newest: nobody has to read them in time.
            notices.retain(|notice| !notice.is_about(channel));
            notices.push(match told {
                Some(expected) => Notice::CannotMeet {
                    channel,
                    target: qos.target,
                    expected,
                    lowered: qos.may_lower,
                },
                None => Notice::CanMeet { channel },
            });
        });
    }

    /// Judges messages by the time and hands over what was held back for missing ones that are given up now.
    pub fn expire<F: FnMut(Delivery<'_>)>(&mut self, now: Duration, mut deliver: F) {
        self.receiver.expire(now, &mut deliver);
    }

    /// When to call [`transmit`](Endpoint::transmit) and [`expire`](Endpoint::expire) again, if nothing happens before.
    pub fn timeout(&self, now: Duration) -> Option<Duration> {
        let report = self.receiver.next_report(now, &self.path);
        [self.sender.next(now), report, self.receiver.next_expiry()].into_iter().flatten().min()
    }

    /// Tells what the transport can send, in bytes per second, if it knows, as QUIC does. Ours only ever lowers it.
    pub fn set_transport_rate(&mut self, rate: Option<u32>) {
        self.sender.set_transport_rate(rate);
    }

    /// The next thing that the application should know of.
    pub fn notice(&mut self) -> Option<Notice> {
        if self.notices.is_empty() { None } else { Some(self.notices.remove(0)) }
    }

    /// What was sent on a channel, and the code that is in force; where values supersede each other
    /// ([`Order::Newest`](crate::Order::Newest)), for a value that nothing newer follows in time.
    pub fn sent(&self, channel: u32) -> Option<(SenderStats, Code)> {
        self.sender.stats(channel)
    }

    /// What came on a channel.
    pub fn received(&self, channel: u32) -> Option<&ReceiverStats> {
        self.receiver.stats(channel)
    }

    /// What is believed of the path from the other end.
    pub fn loss(&self) -> LossModel {
        self.receiver.loss()
    }

    /// What the other end last told of the path to it.
    pub fn loss_ahead(&self) -> LossModel {
        self.sender.loss()
    }

    /// What this end may send, in bytes per second of whole packets, headers included; `None`: the path shows no limit.
    pub fn rate(&self, now: Duration) -> Option<u32> {
        self.sender.rate(now)
    }

    /// The smoothed round trip, once it was measured.
    pub fn round_trip(&self) -> Option<Duration> {
        self.path.is_known().then(|| self.path.round_trip())
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.sender.memory() + self.receiver.memory()
    }
}

impl Notice {
    fn is_about(&self, id: u32) -> bool {
        match self {
            Notice::CannotMeet { channel, .. } | Notice::CanMeet { channel } => *channel == id,
            Notice::Crowded { .. } => false,
        }
    }
}
