//! The schemes of the paper on forward error correction for groupware messages (AFEC, 2012), as
//! baselines for measurements. Sections below are the paper's.
//!
//! - FEC-n: each packet repeats the last n messages (section 3.2).
//! - AFEC: n follows the share of messages that were lost lately (section 3.3). The receiver asks
//!   for one more repeat (NAK) when that share is above a band, and for one less (DEC) when it is
//!   below.
//!
//! After the last message of a cluster (a run of messages without a pause), further packets carry
//! the repeats that are still missing: "packets containing only redundant messages until the
//! recovery requirements are met" (section 3.2).
//!
//! An [`Endpoint`] is one end of a path with one channel. It has no socket and no clock: `now` is
//! the time since any moment and never decreases.
//!
//! ```
//! use std::time::Duration;
//! use groupwire_papers::afec2012::{Endpoint, Scheme};
//!
//! let mut here = Endpoint::new(Scheme::Fec(2), None);
//! let mut there = Endpoint::new(Scheme::Fec(2), None);
//! let mut packet = Vec::new();
//! for (nth, is_lost) in [true, true, false].into_iter().enumerate() {
//!     let now = Duration::from_millis(33) * nth as u32;
//!     here.send(now, Duration::ZERO, format!("pointer {nth} 20").as_bytes())?;
//!     while here.transmit(now, &mut packet).is_some() {
//!         let mut count = 0;
//!         if !is_lost {
//!             there.receive(now, &packet, |_| count += 1)?;
//!             assert_eq!(count, 3, "the packet repeats both lost messages");
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where the paper is silent, or was not followed
//!
//! - Packets have the format of `groupwire-afec` with one channel, so that costs can be compared
//!   byte by byte.
//! - The paper has no deadline: a message is lost if a newer one arrives before it (section 3.3.1),
//!   however late either comes. An endpoint without a deadline does the same. An endpoint may have
//!   a deadline, so that the scheme can be compared where lateness counts: after it a message is
//!   neither repeated nor delivered, and the controller counts it as lost. The sender subtracts the
//!   delay of the path, half a round trip.
//! - The period of the controller and the most repeats: see [`Controller`].

mod controller;
mod packet;
mod path;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use controller::Controller;
pub use packet::PacketError;

use packet::{Header, Packet, Reader};
use path::Path;
use receiver::Receiver;
use sender::Sender;

/// The largest packet in bytes without the headers of IP and UDP.
const MTU: usize = 1200;
/// Bytes of a packet that are reserved for its header and a report, so that every message fits
/// beside these.
const RESERVED: usize = 45;
/// The number of newest packets whose time of sending is remembered, to measure round trips.
const REMEMBERED: usize = 64;

/// The number of packets that confirm a report, since one may be lost.
const CONFIRMATIONS: u8 = 2;

/// How the number of repeats is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scheme {
    /// Each packet repeats the last n messages.
    Fec(u8),
    /// The controller adapts the number of repeats.
    Afec(Controller),
}

/// One end of a path with one channel.
#[derive(Debug)]
pub struct Endpoint {
    sender: Sender,
    receiver: Receiver,
    /// Round trips, measured with the reports that arrive.
    path: Path,
    next_number: u16,
    /// The numbers of the newest packets and when these were sent. The place of each is its number
    /// modulo [`REMEMBERED`].
    sent: [Option<(u16, Duration)>; REMEMBERED],
    /// The newest packet with which a round trip was measured.
    measured: Option<u16>,
    /// The low bits of the newest report's number, which are sent back to confirm the report.
    echo: u8,
    /// When that report arrived, and how many further packets confirm it.
    echoing: Option<(Duration, u8)>,
}

/// What a packet consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Made {
    /// The number of new messages.
    pub new: u32,
    /// The number of repeated messages.
    pub repeated: u32,
    /// The bytes of the repeated messages with their headers.
    pub repeated_bytes: u32,
}

/// A message that arrived for the first time, and in time if there is a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The time since the application at the message's first sender had the message, as far as the
    /// receiver knows.
    pub age: Duration,
    /// The bytes of the message.
    pub payload: &'a [u8],
}

/// A message that does not fit into a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message of {0} bytes does not fit into a packet")]
pub struct TooLarge(usize);

impl Endpoint {
    /// An endpoint for messages that are worth nothing once they are older than `deadline`. `None`:
    /// they never expire, as in the paper.
    pub fn new(scheme: Scheme, deadline: Option<Duration>) -> Self {
        let (repeats, controller) = match scheme {
            Scheme::Fec(repeats) => (repeats, None),
            Scheme::Afec(controller) => (0, Some(controller)),
        };
        Endpoint {
            sender: Sender::new(repeats, deadline),
            receiver: Receiver::new(controller, deadline),
            path: Path::default(),
            next_number: 0,
            sent: [None; REMEMBERED],
            measured: None,
            echo: 0,
            echoing: None,
        }
    }

    /// Accepts a message for sending, which is `age` old.
    ///
    /// # Errors
    /// A message that fits no packet.
    pub fn send(&mut self, now: Duration, age: Duration, payload: &[u8]) -> Result<(), TooLarge> {
        if packet::message_len(u32::MAX, payload.len()) > MTU - RESERVED {
            return Err(TooLarge(payload.len()));
        }
        self.sender.submit(now.saturating_sub(age), payload);
        Ok(())
    }

    /// Writes the next packet that is due into `packet`, replacing what that holds. `None` if no
    /// packet is due.
    pub fn transmit(&mut self, now: Duration, packet: &mut Vec<u8>) -> Option<Made> {
        let messages = self.sender.next(now).is_some_and(|at| at <= now);
        let report = self.receiver.report(now);
        if !messages && report.is_none() {
            return None;
        }
        let header = Header {
            number: self.next_number,
            sent: now.as_millis() as u16,
            echo: self.echo,
            held: self.echoing.map(|(at, _)| packet::millis(now.saturating_sub(at))),
            report,
        };
        packet.clear();
        header.write(packet);
        let mut made = Made::default();
        if messages {
            made = self.sender.fill(now, header.number, &self.path, MTU, packet);
        }
        if made.new + made.repeated == 0 && report.is_none() {
            return None;
        }
        self.echoing = self.echoing.and_then(|(at, left)| Some((at, left.checked_sub(1)?)));
        self.sent[usize::from(header.number) % REMEMBERED] = Some((header.number, now));
        self.next_number = header.number.wrapping_add(1);
        Some(made)
    }

    /// Reads a packet from the other end and passes its messages to `deliver`, oldest first.
    ///
    /// # Errors
    /// A packet that is malformed. The fields before the fault were used.
    pub fn receive<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        packet: &[u8],
        mut deliver: F,
    ) -> Result<(), PacketError> {
        let mut reader = Reader::new(packet);
        let header = Header::read(&mut reader)?;
        let queued = self.receiver.arrived(now, &header);
        if let Some(report) = header.report {
            self.echo = report.number;
            self.echoing = Some((now, CONFIRMATIONS - 1));
            self.measure(now, report.highest, report.hold);
            self.sender.step(report.step);
        }
        let delay = self.receiver.one_way(&self.path) + queued;
        let result = Packet::new(reader).try_for_each(|message| {
            self.receiver.message(now, delay, &message?, &mut deliver);
            Ok(())
        });
        self.receiver.expire(now);
        result
    }

    /// Measures the round trip with the packet that a report names as the newest one. Each packet
    /// measures once, and none that is older than the last one that did.
    fn measure(&mut self, now: Duration, highest: u16, hold: u32) {
        let Some((number, at)) = self.sent[usize::from(highest) % REMEMBERED] else { return };
        let is_newer = |newest: u16| (number.wrapping_sub(newest) as i16) > 0;
        if number == highest && self.measured.is_none_or(is_newer) {
            self.measured = Some(number);
            let hold = Duration::from_millis(u64::from(hold));
            if let Some(round_trip) = now.checked_sub(at + hold) {
                self.path.sample(round_trip);
            }
        }
    }

    /// Counts missing messages as lost when their deadline has passed, if there is one.
    pub fn expire(&mut self, now: Duration) {
        self.receiver.expire(now);
    }

    /// When to call [`transmit`](Endpoint::transmit) again, unless something happens earlier.
    pub fn timeout(&self, now: Duration) -> Option<Duration> {
        [self.sender.next(now), self.receiver.next_report()].into_iter().flatten().min()
    }

    /// The number of packets that repeat a message.
    pub fn repeats(&self) -> u8 {
        self.sender.repeats
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.sender.memory() + self.receiver.memory()
    }
}
