//! What both ends keep about one transport: control frames, credit, keep-alive, the body coders.

use alloc::collections::VecDeque;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use crate::Error;
use crate::clock::Clock;
use crate::datagrams::Datagrams;
use crate::limits::{DEFAULT_MAX_PACKET, MAX_DATAGRAM, MAX_DETAIL};
use crate::packing::Choosing;
use crate::stamps::Stamps;
use crate::wire::VERSION;
use crate::wire::body::{BodyDecoder, BodyEncoder};
use crate::wire::frame::Frame;

/// Packets that may wait below us (DESIGN: nothing stale is ever queued).
const MAX_IN_FLIGHT: u8 = 2;

/// Control frames that may wait. A peer that makes more and does not read is stalled.
const MAX_CONTROL: usize = 512;

/// W51: between two pings that are to tell the link's rate.
const PROBE_SPACING: Duration = Duration::from_millis(250);

/// Octets of a PING frame, at most.
pub(crate) const PING_SIZE: usize = 16;

/// Octets of control frames put into one packet, so that a body still fits beside them.
const CONTROL_PER_PACKET: usize = 2048;

/// Silence after which somebody who says something asks whether it is heard: long for a room with people in it.
const PROBE_AFTER: Duration = Duration::from_millis(750);

/// How long an answer may take beyond two round trips: one lost packet, and a busy machine.
const QUIET_AFTER: Duration = Duration::from_millis(750);

/// One transport, from when it opened to when it closed.
pub(crate) struct Link {
    control: VecDeque<Vec<u8>>,
    /// The newest ping to answer: its time, and when it came. Older ones need no answer.
    ping: Option<(u64, u64)>,
    in_flight: u8,
    /// Since when there was something to send and no credit.
    stalled: Option<Duration>,
    heard: Duration,
    pinged: Duration,
    /// Since when a ping waits for any sign of life.
    asked: Option<Duration>,
    /// When something of the application's was last handed down.
    spoke: Duration,
    /// The last ping.
    exchange: Option<Exchange>,
    /// Octets of the packet that came last.
    came: usize,
    fresh_out: bool,
    fresh_in: bool,
    max_packet: usize,
    pub(crate) clock: Clock,
    pub(crate) choosing: Choosing,
    pub(crate) stamps: Stamps,
    pub(crate) bodies: Option<Bodies>,
    /// Octets that a datagram of the transport may have.
    pub(crate) max_datagram: usize,
    /// Once HELLO and WELCOME agreed on them.
    pub(crate) datagrams: Option<Datagrams>,
}

/// A ping and the packet that it went in.
struct Exchange {
    /// As the ping names it.
    time: u64,
    /// Of the packet; 0 until it is known.
    octets: usize,
    /// What packing and unpacking the packet's messages takes.
    work: Duration,
}

/// The coders of a transport, once HELLO and WELCOME agreed.
pub(crate) struct Bodies {
    pub(crate) encoder: BodyEncoder,
    pub(crate) decoder: BodyDecoder,
}

impl Link {
    pub(crate) fn new(now: Duration, max_datagram: usize) -> Self {
        Link {
            control: VecDeque::new(),
            ping: None,
            in_flight: 0,
            stalled: None,
            heard: now,
            pinged: now,
            asked: None,
            spoke: now,
            exchange: None,
            came: 0,
            fresh_out: true,
            fresh_in: true,
            max_packet: DEFAULT_MAX_PACKET,
            clock: Clock::default(),
            choosing: Choosing::default(),
            stamps: Stamps::default(),
            bodies: None,
            max_datagram: max_datagram.min(MAX_DATAGRAM),
            datagrams: None,
        }
    }

    /// What the other end said it takes; this end never makes packets above its own bound either.
    pub(crate) fn limit_packets(&mut self, max_packet: usize) {
        self.max_packet = max_packet.min(DEFAULT_MAX_PACKET);
    }

    /// Bytes of the largest datagram, if both ends agreed on datagrams.
    pub(crate) fn max_datagram_in_use(&self) -> Option<usize> {
        self.datagrams.as_ref().map(|datagrams| datagrams.max())
    }

    pub(crate) fn max_packet(&self) -> usize {
        self.max_packet
    }

    /// Puts a control frame into the next packet.
    pub(crate) fn queue(&mut self, frame: &Frame<'_>) {
        let mut bytes = Vec::new();
        frame.write(&mut bytes);
        self.queue_raw(bytes);
    }

    /// The same for a frame that is written already.
    pub(crate) fn queue_raw(&mut self, frame: Vec<u8>) {
        self.control.push_back(frame);
    }

    pub(crate) fn has_control(&self) -> bool {
        !self.control.is_empty() || self.ping.is_some()
    }

    /// The other end makes more control frames than it reads.
    pub(crate) fn is_flooded(&self) -> bool {
        self.control.len() > MAX_CONTROL
    }

    pub(crate) fn ready(&self) -> bool {
        self.in_flight < MAX_IN_FLIGHT
    }

    /// The transport took a packet.
    pub(crate) fn sent(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.stalled = None;
    }

    /// Starts a packet: the version if it is the first, control frames, an answer to a ping.
    pub(crate) fn begin(&mut self, now: Duration) -> Vec<u8> {
        let mut packet = Vec::new();
        if core::mem::take(&mut self.fresh_out) {
            packet.push(VERSION);
        }
        // The opening says all at once: what the other end does next depends on all of it.
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

    /// Octets that a packet of this length may still take.
    pub(crate) fn remaining(&self, packet: &[u8]) -> usize {
        self.max_packet.saturating_sub(packet.len())
    }

    /// A packet of so many octets was handed down.
    pub(crate) fn launched(&mut self, octets: usize) {
        self.in_flight += 1;
        // A ping that waits among control frames goes with the last of them.
        if let Some(exchange) = self.exchange.as_mut().filter(|one| one.octets == 0)
            && self.control.is_empty()
        {
            exchange.octets = octets;
        }
    }

    /// Takes the version octet off the first packet.
    pub(crate) fn unwrap<'a>(&mut self, packet: &'a [u8]) -> Result<&'a [u8], Error> {
        if !core::mem::take(&mut self.fresh_in) {
            return Ok(packet);
        }
        match packet.split_first() {
            Some((&VERSION, rest)) => Ok(rest),
            Some((&theirs, _)) => Err(Error::Version { theirs, ours: VERSION }),
            None => Err(Error::malformed("opening")),
        }
    }

    /// The opening was read elsewhere.
    pub(crate) fn opening_was_read(&mut self) {
        self.fresh_in = false;
    }

    /// A packet of so many octets came.
    pub(crate) fn hear(&mut self, now: Duration, octets: usize) {
        self.came = octets;
        self.heard = now;
        self.asked = None;
    }

    pub(crate) fn speak(&mut self, now: Duration) {
        self.spoke = now;
    }

    /// When the other end is to be asked for a sign of life: every `ping`, and soon after something was said that
    /// nobody answers.
    pub(crate) fn next_ping(&self, ping: Duration) -> Duration {
        let regular = self.pinged + ping;
        match self.asked {
            None if self.spoke > self.heard => regular.min(self.heard + PROBE_AFTER),
            _ => regular,
        }
    }

    /// When the silence after a ping becomes suspicious.
    pub(crate) fn quiet_at(&self) -> Option<Duration> {
        let round_trip = self.clock.round_trip().unwrap_or(QUIET_AFTER);
        self.asked.map(|asked| asked + QUIET_AFTER + round_trip * 2)
    }

    pub(crate) fn heard(&self) -> Duration {
        self.heard
    }

    pub(crate) fn pinged(&self) -> Duration {
        self.pinged
    }

    pub(crate) fn ping(&mut self, now: Duration) {
        self.pinged = now;
        self.asked.get_or_insert(now);
        let time = self.start_exchange(now, Duration::ZERO);
        self.queue(&Frame::Ping { time });
    }

    fn start_exchange(&mut self, now: Duration, work: Duration) -> u64 {
        let time = micros(now);
        self.exchange = Some(Exchange { time, octets: 0, work });
        time
    }

    /// W51, W55: puts a ping before the body or chunk, which begins at `at`, if it tells something of the link's rate.
    pub(crate) fn probe(&mut self, now: Duration, packet: &mut Vec<u8>, at: usize) {
        let work = self.choosing.take_probe();
        let has_block = self.choosing.blocks.take_sign();
        if self.remaining(packet) < PING_SIZE {
            return;
        }
        let is_alone = self.in_flight == 0 && now >= self.pinged + PROBE_SPACING;
        let time = match work.filter(|_| is_alone) {
            Some(work) => {
                self.pinged = now;
                self.asked.get_or_insert(now);
                self.start_exchange(now, work)
            }
            // W55: not to learn whether anybody is there.
            None if has_block => micros(now),
            None => return,
        };
        let mut frame = Vec::with_capacity(PING_SIZE);
        Frame::Ping { time }.write(&mut frame);
        packet.splice(at..at, frame);
        if has_block {
            self.choosing.blocks.leave(time, packet.len());
        }
    }

    /// W79: puts a stamp before the body that begins at `at`, if one is due.
    pub(crate) fn stamp(&mut self, now: Duration, packet: &mut Vec<u8>, at: usize) {
        let room = self.remaining(packet);
        self.stamps.write(now, room, packet, at);
    }

    /// How long the stream's last packet took.
    pub(crate) fn transit(&self) -> Duration {
        self.stamps.transit(&self.clock)
    }

    pub(crate) fn answer_ping(&mut self, now: Duration, time: u64) {
        self.ping = Some((time, micros(now)));
    }

    pub(crate) fn pong(&mut self, now: Duration, time: u64, received: u64, sent: u64) {
        self.clock.pong(micros(now), time, received, sent);
        self.choosing.blocks.arrived(now, time, received);
        let Some(Exchange { octets, work, .. }) =
            self.exchange.take_if(|one| one.time == time && one.octets > 0)
        else {
            return;
        };
        let stay = Duration::from_micros(sent.saturating_sub(received));
        let sent = Duration::from_micros(time);
        if let Some(trip) = now.checked_sub(sent).and_then(|all| all.checked_sub(stay)) {
            self.choosing.heard(octets + self.came, trip.saturating_sub(work));
        }
    }

    /// Something wants to be sent but there is no credit: after `dead` of that the peer is not reading.
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

/// Appends an ERROR frame.
pub(crate) fn error_frame(error: &Error, fatal: bool, subject: u32, out: &mut Vec<u8>) {
    let detail = error.to_string();
    let detail = clip(&detail, MAX_DETAIL);
    Frame::Error { code: error.code(), fault: error.fault(), fatal, subject, detail }.write(out);
}

/// At most `limit` octets, not cutting a character.
pub(crate) fn clip(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // Not by an index: if it could panic it would print the text, and bring along what that takes.
    text.get(..end).unwrap_or_default()
}

pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
