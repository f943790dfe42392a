//! The state of one transport, at the client or the server: control frames, flow control,
//! keep-alive, the coders of payloads.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use crate::Error;
use crate::clock::Clock;
use crate::datagrams::Datagrams;
use crate::limits::{DEFAULT_MAX_PACKET, MAX_DATAGRAM};
use crate::packing::Choosing;
use crate::stamps::Stamps;
use crate::wire::VERSION;
use crate::wire::frame::Frame;
use crate::wire::payload::{PayloadDecoder, PayloadEncoder};

/// The most packets that the transport may hold before it has sent them. The number is small, so
/// that packets are made late and contain the newest values.
const MAX_IN_FLIGHT: u8 = 2;

/// Control frames that may wait (law 3 in docs/laws.md). A peer that causes more of them and does
/// not read them is disconnected.
const MAX_CONTROL: usize = 512;

/// The shortest time between two pings that measure the link's rate (wire W51).
const PROBE_SPACING: Duration = Duration::from_millis(250);

/// The most bytes of a PING frame.
pub(crate) const PING_SIZE: usize = 16;

/// The most bytes of control frames in one packet, so that the payload still fits into it.
const CONTROL_PER_PACKET: usize = 2048;

/// If the other end has sent no packet since this end sent application data, this end sends a ping
/// this long after the last received packet. In a room that is in use, such a silence is rare.
const PROBE_AFTER: Duration = Duration::from_millis(750);

/// An unanswered ping is suspicious after two round trips and this time. The time allows for one
/// lost packet and a busy machine.
const QUIET_AFTER: Duration = Duration::from_millis(750);

/// This end begins to ask for signs of life in datagrams this long before a silence is suspicious
/// (wire W35).
const ASKS_BEFORE: Duration = Duration::from_millis(500);

/// The answer to a ping waits no longer for a packet to share, in microseconds: the other end would
/// soon ask for signs of life.
const ANSWERS_WITHIN: u64 = 200_000;

/// One transport, from when it opened to when it closed.
pub(crate) struct Link {
    /// Control frames that wait for the next packet.
    control: VecDeque<Vec<u8>>,
    /// The newest ping that is to be answered: its time, and when it was received. Older ones need
    /// no answer.
    ping: Option<(u64, u64)>,
    /// Packets that the transport has not sent yet.
    in_flight: u8,
    /// The time since which data waits to be sent while the transport accepts no packet. `None` if
    /// it accepts packets.
    stalled: Option<Duration>,
    /// The time of the last received packet.
    last_packet: Duration,
    /// The time of the last ping that this end sent.
    last_ping: Duration,
    /// The time of the first ping after the last received packet. `None` if no ping was sent after
    /// it.
    unanswered_since: Option<Duration>,
    /// The time at which application data was last sent.
    last_app_data: Duration,
    /// The last ping that measures the link's rate. `None` after its answer was received.
    exchange: Option<Exchange>,
    /// Bytes of the last received packet.
    received_bytes: usize,
    /// True until the first packet is begun.
    is_first_out: bool,
    /// True until the first packet is received.
    is_first_in: bool,
    /// Bytes of the largest packet that this end makes.
    max_packet: usize,
    pub(crate) clock: Clock,
    pub(crate) choosing: Choosing,
    pub(crate) stamps: Stamps,
    pub(crate) coders: Option<Coders>,
    /// Bytes of the transport's largest datagram.
    pub(crate) max_datagram: usize,
    /// `None` before HELLO and WELCOME, or if both ends did not agree on datagrams.
    pub(crate) datagrams: Option<Datagrams>,
}

/// A ping and the packet that it was sent in.
struct Exchange {
    /// The time that the ping contains: when it was sent, in microseconds of this end's clock.
    time: u64,
    /// Bytes of the packet. 0 until the packet is complete.
    bytes: usize,
    /// The estimated time for packing and unpacking the packet's messages. It does not count as
    /// time on the link.
    work: Duration,
}

/// The coders of a transport, made after HELLO and WELCOME.
pub(crate) struct Coders {
    pub(crate) encoder: PayloadEncoder,
    pub(crate) decoder: PayloadDecoder,
}

impl Link {
    pub(crate) fn new(now: Duration, max_datagram: usize) -> Self {
        Link {
            control: VecDeque::new(),
            ping: None,
            in_flight: 0,
            stalled: None,
            last_packet: now,
            last_ping: now,
            unanswered_since: None,
            last_app_data: now,
            exchange: None,
            received_bytes: 0,
            is_first_out: true,
            is_first_in: true,
            max_packet: DEFAULT_MAX_PACKET,
            clock: Clock::default(),
            choosing: Choosing::default(),
            stamps: Stamps::default(),
            coders: None,
            max_datagram: max_datagram.min(MAX_DATAGRAM),
            datagrams: None,
        }
    }

    /// Sets the largest packet that the other end accepts. This end makes no packet larger than
    /// [`DEFAULT_MAX_PACKET`].
    pub(crate) fn limit_packets(&mut self, max_packet: usize) {
        self.max_packet = max_packet.min(DEFAULT_MAX_PACKET);
    }

    /// Bytes of the largest datagram. `None` if both ends did not agree on datagrams.
    pub(crate) fn max_datagram_in_use(&self) -> Option<usize> {
        self.datagrams.as_ref().map(|datagrams| datagrams.max())
    }

    pub(crate) fn max_packet(&self) -> usize {
        self.max_packet
    }

    /// Queues a control frame for the next packet.
    pub(crate) fn queue(&mut self, frame: &Frame<'_>) {
        let mut bytes = Vec::new();
        frame.write(&mut bytes);
        self.queue_raw(bytes);
    }

    /// Queues a control frame that is already encoded.
    pub(crate) fn queue_raw(&mut self, frame: Vec<u8>) {
        self.control.push_back(frame);
    }

    /// True if a control frame or an answer to a ping waits.
    pub(crate) fn has_control(&self) -> bool {
        self.has_frames() || self.ping.is_some()
    }

    /// True if a control frame waits that is not an answer to a ping.
    pub(crate) fn has_frames(&self) -> bool {
        !self.control.is_empty()
    }

    /// True if too many control frames wait: the other end causes more than it reads.
    pub(crate) fn is_flooded(&self) -> bool {
        self.control.len() > MAX_CONTROL
    }

    /// True if the transport accepts another packet.
    pub(crate) fn ready(&self) -> bool {
        self.in_flight < MAX_IN_FLIGHT
    }

    /// True if the transport keeps no packet.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    /// The transport keeps one more packet, which the room expected it to send at once. So it may
    /// keep one packet more than [`MAX_IN_FLIGHT`].
    pub(crate) fn keeps(&mut self) {
        self.in_flight = self.in_flight.saturating_add(1);
    }

    /// The transport sent a packet.
    pub(crate) fn sent(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.stalled = None;
    }

    /// Begins a packet: writes the version byte if it is the first packet, then waiting control
    /// frames, then the answer to the newest ping.
    pub(crate) fn begin(&mut self, now: Duration) -> Vec<u8> {
        let mut packet = Vec::new();
        if core::mem::take(&mut self.is_first_out) {
            packet.push(VERSION);
        }
        // The first packet has all frames of the opening, because the other end's answer depends on
        // all of them.
        let most = if packet.is_empty() { CONTROL_PER_PACKET } else { self.max_packet };
        while let Some(frame) = self.control.front() {
            if packet.len() > 1 && packet.len() + frame.len() > most {
                break;
            }
            packet.append(&mut self.control.pop_front().unwrap_or_default());
        }
        if let Some((time, received)) = self.ping.take() {
            Frame::Pong { time, received, sent: micros(now) }.write(&mut packet);
        }
        packet
    }

    /// Bytes that may still be added to `packet`.
    pub(crate) fn remaining(&self, packet: &[u8]) -> usize {
        self.max_packet.saturating_sub(packet.len())
    }

    /// A packet of `bytes` bytes was handed to the transport.
    pub(crate) fn launched(&mut self, bytes: usize) {
        debug_assert!(self.ready(), "a packet is made only when the transport takes one");
        self.in_flight += 1;
        // If no control frame waits any more, the ping was sent: it was one of the control frames.
        if let Some(exchange) = self.exchange.as_mut().filter(|one| one.bytes == 0)
            && self.control.is_empty()
        {
            exchange.bytes = bytes;
        }
    }

    /// Returns a received packet without the version byte, which only the first packet has. Returns
    /// an error if the version is not this end's.
    pub(crate) fn unwrap<'a>(&mut self, packet: &'a [u8]) -> Result<&'a [u8], Error> {
        if !core::mem::take(&mut self.is_first_in) {
            return Ok(packet);
        }
        match packet.split_first() {
            Some((&VERSION, rest)) => Ok(rest),
            Some((&theirs, _)) => Err(Error::Version { theirs, ours: VERSION }),
            None => Err(Error::malformed("opening")),
        }
    }

    /// The version byte of the first packet was already removed by the caller.
    pub(crate) fn opening_was_read(&mut self) {
        self.is_first_in = false;
    }

    /// A packet of `bytes` bytes was received.
    pub(crate) fn on_packet(&mut self, now: Duration, bytes: usize) {
        self.received_bytes = bytes;
        self.last_packet = now;
        self.unanswered_since = None;
    }

    /// Application data was sent.
    pub(crate) fn on_app_data(&mut self, now: Duration) {
        self.last_app_data = now;
    }

    /// The time of the next ping: after each interval `ping`, and sooner if the other end is silent
    /// after application data was sent.
    pub(crate) fn next_ping(&self, ping: Duration) -> Duration {
        let regular = self.last_ping + ping;
        match self.unanswered_since {
            None if self.last_app_data > self.last_packet => {
                regular.min(self.last_packet + PROBE_AFTER)
            }
            _ => regular,
        }
    }

    /// The time at which the silence after a ping becomes suspicious. `None` if no ping is
    /// unanswered.
    pub(crate) fn quiet_at(&self) -> Option<Duration> {
        let round_trip = self.clock.round_trip().unwrap_or(QUIET_AFTER);
        self.unanswered_since.map(|since| since + QUIET_AFTER + round_trip * 2)
    }

    /// From when on this end asks for signs of life. `None` if no ping is unanswered.
    pub(crate) fn asks_at(&self) -> Option<Duration> {
        self.quiet_at().map(|at| at.saturating_sub(ASKS_BEFORE))
    }

    /// The time of the last received packet.
    pub(crate) fn last_packet(&self) -> Duration {
        self.last_packet
    }

    /// True if a ping has waited so long for its answer that the other end would soon take this one
    /// for silent.
    pub(crate) fn is_answer_late(&self, now: Duration) -> bool {
        self.ping.is_some_and(|(_, received)| micros(now) >= received + ANSWERS_WITHIN)
    }

    /// The time of the last ping that this end sent.
    pub(crate) fn last_ping(&self) -> Duration {
        self.last_ping
    }

    /// Queues a ping.
    pub(crate) fn ping(&mut self, now: Duration) {
        self.last_ping = now;
        self.unanswered_since.get_or_insert(now);
        let time = self.start_exchange(now, Duration::ZERO);
        self.queue(&Frame::Ping { time });
    }

    /// Remembers a ping that is sent now. Returns the time to put into it.
    fn start_exchange(&mut self, now: Duration, work: Duration) -> u64 {
        let time = micros(now);
        self.exchange = Some(Exchange { time, bytes: 0, work });
        time
    }

    /// Inserts a ping at `at`, before the payload or the snapshot chunk of the packet, if a
    /// measurement of the link's rate (wire W51) or of packed blocks (wire W55) is due.
    pub(crate) fn probe(&mut self, now: Duration, packet: &mut Vec<u8>, at: usize) {
        let work = self.choosing.take_probe();
        let has_block = self.choosing.blocks.take_arrival_probe();
        if self.remaining(packet) < PING_SIZE {
            return;
        }
        let is_alone = self.in_flight == 0 && now >= self.last_ping + PROBE_SPACING;
        let time = match work.filter(|_| is_alone) {
            Some(work) => {
                self.last_ping = now;
                self.unanswered_since.get_or_insert(now);
                self.start_exchange(now, work)
            }
            // This ping measures blocks (wire W55). It does not count for keep-alive.
            None if has_block => micros(now),
            None => return,
        };
        let mut frame = Vec::with_capacity(PING_SIZE);
        Frame::Ping { time }.write(&mut frame);
        packet.splice(at..at, frame);
        if has_block {
            self.choosing.blocks.on_packet_sent(time, packet.len());
        }
    }

    /// Inserts a time stamp at `at`, before the payload of the packet, if one is due (wire W79).
    /// `is_timed`: ages of messages in the payload matter.
    pub(crate) fn stamp(&mut self, now: Duration, is_timed: bool, packet: &mut Vec<u8>, at: usize) {
        let remaining = self.remaining(packet);
        self.stamps.write(now, remaining, is_timed, packet, at);
    }

    /// The estimated time that the last received packet of the stream took from the other end to
    /// this end.
    pub(crate) fn transit(&self) -> Duration {
        self.stamps.transit(&self.clock)
    }

    /// A ping was received: the next packet answers it.
    pub(crate) fn on_ping(&mut self, now: Duration, time: u64) {
        self.ping = Some((time, micros(now)));
    }

    /// An answer to a ping was received. `time`: the time in the ping. `received` and `sent`: when
    /// the other end received the ping and sent the answer, in microseconds of its clock.
    pub(crate) fn on_pong(&mut self, now: Duration, time: u64, received: u64, sent: u64) {
        self.clock.pong(micros(now), time, received, sent);
        self.choosing.blocks.on_arrival(now, time, received);
        let Some(Exchange { bytes, work, .. }) =
            self.exchange.take_if(|one| one.time == time && one.bytes > 0)
        else {
            return;
        };
        let stay = Duration::from_micros(sent.saturating_sub(received));
        let sent = Duration::from_micros(time);
        if let Some(trip) = now.checked_sub(sent).and_then(|all| all.checked_sub(stay)) {
            self.choosing.on_round_trip(bytes + self.received_bytes, trip.saturating_sub(work));
        }
    }

    /// To be called while data waits to be sent. Returns an error if the transport has accepted no
    /// packet for the time `dead`: the other end does not read.
    pub(crate) fn check_stall(&mut self, now: Duration, dead: Duration) -> Result<(), Error> {
        match self.stalled {
            _ if self.ready() => self.stalled = None,
            None => self.stalled = Some(now),
            Some(since) if now.saturating_sub(since) >= dead => return Err(Error::Stalled),
            Some(_) => {}
        }
        Ok(())
    }
}

/// A time in microseconds.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
