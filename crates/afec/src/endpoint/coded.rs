//! Packets whose messages somebody else codes, as a unit: this end decides what is in them and keeps the books.

use alloc::vec::Vec;
use core::time::Duration;

use super::Endpoint;
use crate::path::Path;
use crate::sender::{Made, SendError, Submission, Submitted};
use crate::wire::{Header, MessageHead, PacketError, Reader, mark_report, read_front, write_front};

/// In how many packets behind the first it is said that a report came: who sends it again stops then.
const ECHOES: u8 = 1;

/// A message that is to be in the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned<'a> {
    /// Its channel.
    pub channel: u32,
    /// The low bits of its place among the messages of the channel on this path. Travels with it.
    pub index: u16,
    /// How many messages of the channel ago the previous one of its key was, 0 for none or if the channel does not
    /// conflate. Travels with it.
    pub back: u32,
    /// How old it is, in ms. Travels with it.
    pub age: u32,
    /// Whether it was sent before. Travels with it.
    pub repeated: bool,
    /// What was submitted.
    pub payload: &'a [u8],
}

/// A message that was in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Came {
    /// As it was planned.
    pub channel: u32,
    /// As it was planned.
    pub index: u16,
    /// Its key, and `back` as it was planned, if its channel conflates.
    pub key: Option<(u32, u32)>,
    /// Its age when the packet was made, and what its way took.
    pub age: Duration,
    /// As it was planned.
    pub repeated: bool,
}

/// The front of a packet that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Front<'a> {
    /// The three low bits of the packet's first byte, which are the caller's.
    pub bits: u8,
    /// What stands behind the front.
    pub rest: &'a [u8],
    /// Half of the path's own round trip, once it was measured.
    pub way: Option<Duration>,
    /// What queues added.
    pub queued: Duration,
}

impl Endpoint {
    /// Like [`transmit`](Endpoint::transmit), for a caller that codes the messages itself: appends the packet's front to
    /// `packet` and hands what is to be in it to `take`, the messages of a channel together and the oldest first.
    /// `forced`: a packet is to be made in any case. The three low bits of the front's first byte are the caller's.
    ///
    /// Messages are planned by what they become, as [`coded`](Endpoint::coded) says. If they do not fit all the same, the
    /// rest goes behind a [`next_front`](Endpoint::next_front).
    pub fn transmit_with(
        &mut self,
        now: Duration,
        forced: bool,
        packet: &mut Vec<u8>,
        mut take: impl FnMut(Planned<'_>),
    ) -> Option<Made> {
        let (messages, report) = self.due(now);
        if !(messages || report || forced) {
            return None;
        }
        let start = packet.len();
        let number = self.next_front(now, packet);
        let front = packet.len();
        let reported = self.receiver.report(now, !messages, &self.path, true, packet);
        let mut made = Made::default();
        if messages {
            let room = self.config.mtu.saturating_sub(packet.len());
            made = self.sender.fill(now, number, &self.path, room, |head, payload| {
                take(Planned {
                    channel: head.channel,
                    index: head.index,
                    back: head.key.map_or(0, |(_, back)| back),
                    age: head.age,
                    repeated: head.repeated,
                    payload,
                });
            });
        }
        self.note_crowded(now);
        if made.new + made.repeated == 0 && !reported && !forced {
            packet.truncate(start);
            self.next_number = number;
            return None;
        }
        made.report_bytes = (packet.len() - front) as u32;
        if reported {
            mark_report(&mut packet[start..]);
        }
        Some(made)
    }

    /// Takes a message to send, however large it seems: the caller knows what fits a packet once it is coded.
    ///
    /// # Errors
    /// If the channel is not open.
    pub fn submit(
        &mut self,
        now: Duration,
        channel: u32,
        message: Submission<'_>,
    ) -> Result<Submitted, SendError> {
        self.sender.submit(now, channel, message, usize::MAX)
    }

    /// Appends the front of one more packet, for what did not fit, and returns its number.
    pub fn next_front(&mut self, now: Duration, packet: &mut Vec<u8>) -> u32 {
        let number = self.next_number;
        write_front(self.header(now, number), packet);
        self.echoing = self.echoing.and_then(|(at, left)| Some((at, left.checked_sub(1)?)));
        self.sent[number as usize % super::SENT] = Some((number, now));
        self.next_number = number.wrapping_add(1);
        number
    }

    /// A packet went that has so many bytes.
    pub fn went(&mut self, now: Duration, bytes: usize) {
        self.sender.spend(now, bytes + self.config.transport_headers);
    }

    /// Messages of so many bytes became so many.
    pub fn coded(&mut self, before: usize, after: usize) {
        self.sender.coded(before, after);
    }

    /// Before this, what the path carries permits no packet.
    pub fn allowed(&self) -> Option<Duration> {
        self.sender.allowed()
    }

    /// Takes a packet's front. Its messages go to [`came`](Endpoint::came).
    ///
    /// # Errors
    /// As [`receive`](Endpoint::receive).
    pub fn receive_front<'a>(
        &mut self,
        now: Duration,
        packet: &'a [u8],
    ) -> Result<Front<'a>, PacketError> {
        let mut reader = Reader::new(packet);
        let receiver = &self.receiver;
        let (header, bits) =
            read_front(&mut reader, |low, sent| receiver.whole_number(now, low, sent))?;
        let bytes = packet.len() + self.config.transport_headers;
        let queued = self.receiver.arrived(now, &header, bytes).ok_or(PacketError::Duplicate)?;
        if header.report {
            self.take_report(now, &mut reader, Some(ECHOES))?;
        }
        let way = self.receiver.way(&self.path);
        Ok(Front { bits, rest: reader.rest(), way, queued })
    }

    /// Judges a message. Whether it is handed to the application, and in which order, is up to the caller.
    ///
    /// # Errors
    /// [`PacketError::UnknownChannel`].
    pub fn came(&mut self, now: Duration, message: &Came) -> Result<(), PacketError> {
        let head = MessageHead {
            channel: message.channel,
            index: message.index,
            age: 0,
            repeated: message.repeated,
            key: message.key,
        };
        self.receiver.message(now, &head, message.age, &[], &self.path, &mut |_| {})
    }

    /// Gives a channel other needs, of what is sent and of what is received. `anew`: what was missed before counts no more.
    pub fn change(&mut self, channel: u32, sent: crate::Qos, received: crate::Qos, anew: bool) {
        self.sender.change(channel, sent, anew);
        self.receiver.change(channel, received, anew);
        self.undecided = true;
    }

    /// So many messages of a channel were missed beyond what is permitted (less than 0: fewer), says who sees more of their
    /// way than this hop. From then on that is what the other end is told, and makes good.
    pub fn judged(&mut self, channel: u32, beyond: f64) {
        self.receiver.judged(channel, beyond);
    }

    /// How long packets are on their way to the other end, queues included, once it was measured.
    pub fn one_way(&self) -> Option<Duration> {
        self.path.is_known().then(|| Path::one_way(&self.path))
    }

    pub(super) fn header(&self, now: Duration, number: u32) -> Header {
        Header {
            number: number as u16,
            sent: now.as_millis() as u16,
            report: false,
            ask: self.sender.wants_asks(),
            echo: Some(self.echo),
            held: self.echoing.map(|(at, _)| now.saturating_sub(at).as_millis().min(60_000) as u32),
        }
    }
}
