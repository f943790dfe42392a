//! Packets whose messages the caller codes (compresses) as a unit: the endpoint decides which
//! messages are in a packet, and judges whether those that arrive are in time. A conflated channel
//! is one on which a newer value of a key replaces the older ones. A report tells the other end
//! what arrived; its echo confirms it.

use alloc::vec::Vec;
use core::time::Duration;

use super::Endpoint;
use crate::ids::{ChannelId, Key, PacketNumber};
use crate::path::Path;
use crate::qos::Qos;
use crate::sender::{PacketSummary, SendError, Submission, Submitted};
use crate::wire::{
    Header, MessageHead, PacketError, Reader, mark_report, read_short_header, write_short_header,
};

/// In how many packets, after the first one, the arrival of a report is echoed, so that the other
/// end stops repeating the report. One packet makes up for a single lost echo. Chosen by judgement;
/// not tuned.
const ECHOES: u8 = 1;

/// A message that the caller is to put into a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned<'a> {
    /// The number of the message's channel.
    pub channel: ChannelId,
    /// The 16 low bits of the message's index: its count among the messages of its channel on this
    /// path. The caller sends them with the message.
    pub index: u16,
    /// How many messages earlier in the channel the message's key was last used; 0 if never, or if
    /// the channel is not conflated. The caller sends this with the message.
    pub back: u32,
    /// The age of the message in ms. The caller sends it with the message.
    pub age: u32,
    /// Whether the message was sent before. The caller sends this with the message.
    pub repeated: bool,
    /// The bytes of the message as submitted.
    pub payload: &'a [u8],
}

/// A message that arrived in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// See [`Planned::channel`].
    pub channel: ChannelId,
    /// See [`Planned::index`].
    pub index: u16,
    /// If the channel is conflated: the key, and [`Planned::back`].
    pub key: Option<(u32, u32)>,
    /// The age of the message: [`Planned::age`] plus the time that the packet took.
    pub age: Duration,
    /// See [`Planned::repeated`].
    pub repeated: bool,
}

/// The short header of a packet that arrived.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortHeader<'a> {
    /// The three low bits of the packet's first byte, which belong to the caller.
    pub bits: u8,
    /// The bytes after the header.
    pub rest: &'a [u8],
    /// The delay of the path from the other end without queues: half of the smallest round trip.
    /// `None` until a round trip was measured.
    pub way: Option<Duration>,
    /// The time that the packet spent in queues.
    pub queued: Duration,
    /// The low 16 bits of the sender's clock in ms when the packet was made.
    pub sent: u16,
}

impl Endpoint {
    /// Does what [`transmit`](Endpoint::transmit) does, for a caller that codes the messages
    /// itself: appends the short header of a packet to `packet` and passes the messages of the
    /// packet to `take`, those of a channel together and the oldest first. If `forced` is set, it
    /// makes a packet even if none is due. The three low bits of the first byte belong to the
    /// caller.
    ///
    /// The number of messages follows from the compression ratio so far (see
    /// [`on_coded`](Endpoint::on_coded)). The caller puts messages that do not fit into a further
    /// packet, which begins with [`next_header`](Endpoint::next_header).
    pub fn transmit_with(
        &mut self,
        now: Duration,
        forced: bool,
        packet: &mut Vec<u8>,
        mut take: impl FnMut(Planned<'_>),
    ) -> Option<PacketSummary> {
        let (messages, report) = self.due(now);
        if !(messages || report || forced) {
            return None;
        }
        let start = packet.len();
        let number = self.append_header(now, packet);
        let header = packet.len();
        let reported = self.receiver.report(now, !messages, &self.path, true, packet);
        let mut made = PacketSummary::default();
        if messages {
            let remaining = self.config.mtu.saturating_sub(packet.len());
            made = self.sender.fill(now, number, &self.path, remaining, |head, payload| {
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
        self.note_overflow(now);
        if made.new + made.repeated == 0 && !reported && !forced {
            packet.truncate(start);
            self.next_number = number;
            return None;
        }
        made.report_bytes = (packet.len() - header) as u32;
        if reported {
            mark_report(&mut packet[start..]);
        }
        Some(made)
    }

    /// Accepts a message for sending, of any size: the caller knows which messages fit into a
    /// packet when they are coded.
    ///
    /// # Errors
    /// If the channel is not open.
    pub fn submit(
        &mut self,
        now: Duration,
        channel: impl Into<ChannelId>,
        message: Submission<'_>,
    ) -> Result<Submitted, SendError> {
        self.sender.submit(now, channel.into(), message, usize::MAX)
    }

    /// Appends the short header of one more packet, for messages that did not fit, and returns that
    /// packet's number.
    pub fn next_header(&mut self, now: Duration, packet: &mut Vec<u8>) -> u32 {
        self.append_header(now, packet).0
    }

    fn append_header(&mut self, now: Duration, packet: &mut Vec<u8>) -> PacketNumber {
        let number = self.next_number;
        write_short_header(self.header(now, number), packet);
        self.echoing = self.echoing.and_then(|(at, left)| Some((at, left.checked_sub(1)?)));
        self.sent[number.0 as usize % super::SENT] = Some((number, now));
        self.next_number = number.next();
        number
    }

    /// Notes that the caller sent a packet of `bytes` bytes, which counts against the rate limit.
    pub fn on_sent(&mut self, now: Duration, bytes: usize) {
        self.sender.on_sent(now, bytes + self.config.transport_headers);
    }

    /// Updates the compression ratio: the caller coded `raw` bytes of messages into `coded` bytes.
    pub fn on_coded(&mut self, raw: usize, coded: usize) {
        self.sender.on_coded(raw, coded);
    }

    /// The earliest time of the next packet, if the rate of the path is limited.
    pub fn allowed(&self) -> Option<Duration> {
        self.sender.allowed()
    }

    /// Reads the short header of a packet. The caller decodes the messages and passes them to
    /// [`on_message`](Endpoint::on_message).
    ///
    /// # Errors
    /// The same as those of [`receive`](Endpoint::receive).
    pub fn receive_header<'a>(
        &mut self,
        now: Duration,
        packet: &'a [u8],
    ) -> Result<ShortHeader<'a>, PacketError> {
        let mut reader = Reader::new(packet);
        let receiver = &self.receiver;
        let (header, bits) =
            read_short_header(&mut reader, |low, sent| receiver.whole_number(now, low, sent))?;
        let bytes = packet.len() + self.config.transport_headers;
        let queued = self.receiver.arrived(now, &header, bytes).ok_or(PacketError::Duplicate)?;
        if header.report {
            self.take_report(now, &mut reader, Some(ECHOES))?;
        }
        let way = self.receiver.one_way(&self.path);
        Ok(ShortHeader { bits, rest: reader.rest(), way, queued, sent: header.sent })
    }

    /// Judges whether a message that arrived is in time. The caller decides whether and in which
    /// order the application gets it.
    ///
    /// # Errors
    /// [`PacketError::UnknownChannel`].
    pub fn on_message(&mut self, now: Duration, message: &Arrival) -> Result<(), PacketError> {
        let head = MessageHead {
            channel: message.channel,
            index: message.index,
            age: 0,
            repeated: message.repeated,
            key: message.key.map(|(key, back)| (Key(key), back)),
        };
        self.receiver.message(now, &head, message.age, &[], &self.path, &mut |_| {})
    }

    /// Replaces the QoS of a channel, separately for each direction. If `reset_balance` is set,
    /// earlier misses do not count any more.
    pub fn set_qos(
        &mut self,
        channel: impl Into<ChannelId>,
        sent: Qos,
        received: Qos,
        reset_balance: bool,
    ) {
        let channel = channel.into();
        self.sender.set_qos(channel, sent, reset_balance);
        self.receiver.set_qos(channel, received, reset_balance);
        self.undecided = true;
    }

    /// Drops the messages of a channel that were submitted: they are neither sent nor repeated any
    /// more, not even if the other end requests them. The channel stays open, and its indices go
    /// on.
    pub fn forget_messages(&mut self, channel: impl Into<ChannelId>) {
        self.sender.forget_messages(channel.into());
    }

    /// Adds `beyond` to the error-budget balance that this end reports to the other end: the number
    /// of misses minus the number of permitted misses. It is for a caller that judges messages from
    /// application to application, over further legs (paths) than this one. From the first call on,
    /// the misses that the endpoint itself sees do not count.
    pub fn report_misses(&mut self, channel: impl Into<ChannelId>, beyond: f64) {
        self.receiver.report_misses(channel.into(), beyond);
    }

    /// The time that packets take to the other end, including the time in queues. `None` until a
    /// round trip was measured.
    pub fn one_way(&self) -> Option<Duration> {
        self.path.is_known().then(|| Path::one_way(&self.path))
    }

    /// The header of packet `number`, without a report.
    pub(super) fn header(&self, now: Duration, number: PacketNumber) -> Header {
        Header {
            number: number.low(),
            sent: now.as_millis() as u16,
            report: false,
            ask: self.sender.wants_requests(),
            echo: Some(self.echo),
            held: self.echoing.map(|(at, _)| now.saturating_sub(at).as_millis().min(60_000) as u32),
        }
    }
}
