//! A packet's header and its messages. A report tells the other end what arrived.

use alloc::vec::Vec;

use super::{PacketError, Reader, varint_len, write_varint};
use crate::ids::{ChannelId, Echo, Key};

pub(super) const VERSION: u8 = 0b01 << 6;
pub(super) const VERSION_MASK: u8 = 0b11 << 6;
pub(super) const REPORT: u8 = 1 << 5;
pub(super) const ASK: u8 = 1 << 4;
pub(super) const HELD: u8 = 1 << 3;

/// The header of a packet, before its report and its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The 16 low bits of the packet's number.
    pub(crate) number: u16,
    /// The 16 low bits of the sender's clock in ms.
    pub(crate) sent: u16,
    /// Whether a report follows.
    pub(crate) report: bool,
    /// Whether the receiver should request the messages that it misses.
    pub(crate) ask: bool,
    /// The echo of the newest report that the sender of this packet received, if the header has
    /// one. An echo is the low bits of the report's number, and confirms the report.
    pub(crate) echo: Option<Echo>,
    /// How long ago that report arrived, in ms. Only the first packets after the report have this.
    pub(crate) held: Option<u32>,
}

impl Header {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, PacketError> {
        let flags = reader.u8()?;
        if flags & VERSION_MASK != VERSION {
            return Err(PacketError::Version);
        }
        Ok(Header {
            number: reader.u16()?,
            sent: reader.u16()?,
            report: flags & REPORT != 0,
            ask: flags & ASK != 0,
            echo: Some(Echo::of(flags)),
            held: if flags & HELD != 0 { Some(reader.varint()?) } else { None },
        })
    }
}

/// Appends a header.
pub(crate) fn write_header(header: Header, out: &mut Vec<u8>) {
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    let held = flag(header.held.is_some(), HELD);
    let flags = flag(header.report, REPORT)
        | flag(header.ask, ASK)
        | held
        | header.echo.unwrap_or_default().0;
    out.push(VERSION | flags);
    out.extend_from_slice(&header.number.to_be_bytes());
    out.extend_from_slice(&header.sent.to_be_bytes());
    if let Some(held) = header.held {
        write_varint(held, out);
    }
}

/// Sets that bit of a written header which says that a report follows.
pub(crate) fn mark_report(packet: &mut [u8]) {
    if let Some(flags) = packet.first_mut() {
        *flags |= REPORT;
    }
}

/// The header of a message in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageHead {
    pub(crate) channel: ChannelId,
    /// The 16 low bits of the message's index in its channel.
    pub(crate) index: u16,
    /// The age of the message in ms when the packet was sent.
    pub(crate) age: u32,
    /// Whether the message was sent before.
    pub(crate) repeated: bool,
    /// On a conflated channel (newer values of a key replace older ones): the key, and how many
    /// messages earlier in the channel the key was last used, 0 for never.
    pub(crate) key: Option<(Key, u32)>,
}

/// The bytes that [`write_message`] writes.
pub(crate) fn message_len(head: &MessageHead, payload: usize) -> usize {
    let key = head.key.map_or(0, |(key, back)| varint_len(key.0) + varint_len(back));
    varint_len(head.channel.0 * 4)
        + 2
        + varint_len(head.age)
        + key
        + varint_len(payload as u32)
        + payload
}

/// Appends a message.
pub(crate) fn write_message(head: &MessageHead, payload: &[u8], out: &mut Vec<u8>) {
    let kind = u32::from(head.repeated) * 2 + u32::from(head.key.is_some());
    debug_assert!(head.channel <= ChannelId::MAX, "a channel leaves two bits for the kind");
    write_varint(head.channel.0 * 4 + kind, out);
    out.extend_from_slice(&head.index.to_be_bytes());
    write_varint(head.age, out);
    if let Some((key, back)) = head.key {
        write_varint(key.0, out);
        write_varint(back, out);
    }
    write_varint(payload.len() as u32, out);
    out.extend_from_slice(payload);
}

/// Iterates over the messages of a packet, up to the first error.
#[derive(Debug, Clone)]
pub(crate) struct Messages<'a> {
    reader: Reader<'a>,
}

impl<'a> Messages<'a> {
    pub(crate) fn new(reader: Reader<'a>) -> Self {
        Messages { reader }
    }

    fn read(&mut self) -> Result<(MessageHead, &'a [u8]), PacketError> {
        let reader = &mut self.reader;
        let first = reader.varint()?;
        let index = reader.u16()?;
        let age = reader.varint()?;
        let key = match first & 1 {
            1 => Some((Key(reader.varint()?), reader.varint()?)),
            _ => None,
        };
        let len = reader.varint()?;
        let payload = reader.bytes(len as usize)?;
        let repeated = first & 2 == 2;
        let channel = ChannelId(first / 4);
        Ok((MessageHead { channel, index, age, repeated, key }, payload))
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<(MessageHead, &'a [u8]), PacketError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_empty() {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.reader = Reader::new(&[]);
        }
        Some(read)
    }
}
