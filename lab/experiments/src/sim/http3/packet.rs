//! Packets, as long as real ones (RFC 9000, sections 17.3 and 19; RFC 9221; RFC 9297).

use std::ops::Range;
use std::time::Duration;

use groupwire_quic::AckFrequency;

use super::{Ends, Side};

/// The most bytes of a packet, above UDP: every path carries these.
pub(super) const MTU: usize = 1200;
/// The bytes of a packet number while few packets are under way.
const NUMBER: usize = 2;
/// The bytes of the cipher's tag. In the simulation it holds the connection's port, the whole
/// packet number and a checksum.
const TAG: usize = 16;
/// The bytes before a datagram: type, length of up to two bytes, and the session's number.
pub(super) const DATAGRAM_FRAME: usize = 4;
/// The bytes before data of the stream: type, number, offset of up to four bytes, and length.
const STREAM_FRAME: usize = 8;
/// The number of the stream: the first one that a client opens.
const STREAM: u8 = 0;
/// An ACK frame's delay is in units of 2^3 µs unless agreed otherwise (RFC 9000, 18.2).
const DELAY_UNIT: u32 = 8;

const TYPE_PING: u8 = 0x01;
/// The type of a frame of draft-ietf-quic-ack-frequency.
const TYPE_IMMEDIATE_ACK: u8 = 0x1f;
/// A type of two bytes: the varint 0xaf.
const TYPE_ACK_FREQUENCY: [u8; 2] = [0x40, 0xaf];
const TYPE_ACK: u8 = 0x02;
/// The type of a STREAM frame with offset and length.
const TYPE_STREAM: u8 = 0x0e;
/// The type of a DATAGRAM frame with length.
const TYPE_DATAGRAM: u8 = 0x31;

/// The bytes of a packet besides its frames, by its sender.
pub(super) const fn overhead(sender: Side, ends: Ends) -> usize {
    header(sender, ends) + TAG
}

const fn header(sender: Side, ends: Ends) -> usize {
    match sender {
        Side::Client => 1 + ends.server_id() + NUMBER,
        Side::Server => 1 + NUMBER,
    }
}

/// The port and the packet number; `None` if the packet is damaged.
pub(super) fn tag(packet: &[u8]) -> Option<(u32, u64)> {
    let (rest, tag) = packet.split_last_chunk::<TAG>()?;
    let port = u32::from_le_bytes([tag[0], tag[1], tag[2], tag[3]]);
    let number =
        u64::from_le_bytes([tag[4], tag[5], tag[6], tag[7], tag[8], tag[9], tag[10], tag[11]]);
    (tag[12..] == checksum(rest, port, number).to_le_bytes()).then_some((port, number))
}

fn checksum(bytes: &[u8], port: u32, number: u64) -> u32 {
    // FNV-1a, of 32 bits.
    let step = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    let sum = bytes.iter().fold(0x811C_9DC5, step);
    let sum = port.to_le_bytes().iter().fold(sum, step);
    number.to_le_bytes().iter().fold(sum, step)
}

pub(super) struct Writer {
    packet: Vec<u8>,
}

impl Writer {
    pub(super) fn new(sender: Side, ends: Ends) -> Self {
        Writer { packet: vec![0x40; header(sender, ends)] }
    }

    /// Acknowledges ranges, the oldest of them first.
    pub(super) fn ack(&mut self, ranges: &[Range<u64>], delay: Duration) {
        let Some((newest, older)) = ranges.split_last() else { return };
        self.packet.push(TYPE_ACK);
        self.varint(newest.end - 1);
        self.varint((delay.as_micros() / u128::from(DELAY_UNIT)) as u64);
        self.varint(older.len() as u64);
        self.varint(newest.end - 1 - newest.start);
        let mut smallest = newest.start;
        for range in older.iter().rev() {
            self.varint(smallest - range.end - 1);
            self.varint(range.end - 1 - range.start);
            smallest = range.start;
        }
    }

    pub(super) fn fits_datagram(&self, length: usize) -> bool {
        self.packet.len() + DATAGRAM_FRAME + length + TAG <= MTU
    }

    pub(super) fn datagram(&mut self, data: &[u8]) {
        self.packet.push(TYPE_DATAGRAM);
        self.varint(data.len() as u64 + 1);
        self.packet.push(0);
        self.packet.extend_from_slice(data);
    }

    pub(super) fn room_for_stream(&self) -> usize {
        MTU.saturating_sub(self.packet.len() + STREAM_FRAME + TAG)
    }

    pub(super) fn stream(&mut self, offset: u64, data: &[u8]) {
        self.packet.extend_from_slice(&[TYPE_STREAM, STREAM]);
        self.varint(offset);
        self.varint(data.len() as u64);
        self.packet.extend_from_slice(data);
    }

    pub(super) fn ping(&mut self) {
        self.packet.push(TYPE_PING);
    }

    /// Asks for acknowledgements at once, as a PING does, even of an end that was asked to be slow.
    pub(super) fn immediate_ack(&mut self) {
        self.packet.push(TYPE_IMMEDIATE_ACK);
    }

    pub(super) fn ack_frequency(&mut self, sequence: u64, asked: AckFrequency) {
        self.packet.extend_from_slice(&TYPE_ACK_FREQUENCY);
        self.varint(sequence);
        self.varint(u64::from(asked.threshold));
        self.varint(asked.max_delay.as_micros() as u64);
        self.varint(u64::from(asked.reordering));
    }

    pub(super) fn finish(mut self, port: u32, number: u64) -> Vec<u8> {
        let sum = checksum(&self.packet, port, number);
        self.packet.extend_from_slice(&port.to_le_bytes());
        self.packet.extend_from_slice(&number.to_le_bytes());
        self.packet.extend_from_slice(&sum.to_le_bytes());
        self.packet
    }

    /// Appends a varint (RFC 9000, section 16).
    fn varint(&mut self, value: u64) {
        match value {
            0..0x40 => self.packet.push(value as u8),
            0x40..0x4000 => self.packet.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
            0x4000..0x4000_0000 => {
                self.packet.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes());
            }
            _ => self.packet.extend_from_slice(&(value | 0xC000_0000_0000_0000).to_be_bytes()),
        }
    }
}

pub(super) enum Frame<'a> {
    Ping,
    ImmediateAck,
    AckFrequency(AckFrequency),
    /// The ranges, the newest first.
    Ack {
        ranges: Vec<Range<u64>>,
        delay: Duration,
    },
    Stream {
        offset: u64,
        data: &'a [u8],
    },
    Datagram(&'a [u8]),
}

/// Reads the frames of a packet whose tag was right.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(packet: &'a [u8], sender: Side, ends: Ends) -> Self {
        let frames = packet.get(header(sender, ends)..packet.len().saturating_sub(TAG));
        Reader(frames.unwrap_or_default())
    }

    pub(super) fn next(&mut self) -> Option<Frame<'a>> {
        match self.byte()? {
            TYPE_PING => Some(Frame::Ping),
            TYPE_IMMEDIATE_ACK => Some(Frame::ImmediateAck),
            first if first == TYPE_ACK_FREQUENCY[0] => self.ack_frequency(),
            TYPE_ACK => self.ack(),
            TYPE_STREAM => {
                self.byte()?;
                let offset = self.varint()?;
                Some(Frame::Stream { offset, data: self.bytes()? })
            }
            TYPE_DATAGRAM => Some(Frame::Datagram(self.bytes()?.split_first()?.1)),
            _ => None,
        }
    }

    fn ack(&mut self) -> Option<Frame<'a>> {
        let largest = self.varint()?;
        let delay = Duration::from_micros(self.varint()?.saturating_mul(u64::from(DELAY_UNIT)));
        let older = self.varint()?;
        let mut smallest = largest.checked_sub(self.varint()?)?;
        let newest = smallest..largest + 1;
        let mut ranges = vec![newest];
        for _ in 0..older {
            let end = smallest.checked_sub(self.varint()? + 1)?;
            smallest = (end - 1).checked_sub(self.varint()?)?;
            ranges.push(smallest..end);
        }
        Some(Frame::Ack { ranges, delay })
    }

    fn ack_frequency(&mut self) -> Option<Frame<'a>> {
        let _type = self.byte()?;
        let _sequence = self.varint()?;
        Some(Frame::AckFrequency(AckFrequency {
            threshold: u32::try_from(self.varint()?).ok()?,
            max_delay: Duration::from_micros(self.varint()?),
            reordering: u32::try_from(self.varint()?).ok()?,
        }))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let more = (1_u32 << (first >> 6)) - 1;
        (0..more).try_fold(u64::from(first & 0x3F), |value, _| {
            Some(value << 8 | u64::from(self.byte()?))
        })
    }
}
