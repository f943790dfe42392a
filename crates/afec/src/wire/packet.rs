//! A packet's header and its messages.

use alloc::vec::Vec;

use super::{PacketError, Reader, varint_len, write_varint};

pub(super) const VERSION: u8 = 0b01 << 6;
pub(super) const VERSION_MASK: u8 = 0b11 << 6;
pub(super) const REPORT: u8 = 1 << 5;
pub(super) const ASK: u8 = 1 << 4;
pub(super) const HELD: u8 = 1 << 3;
/// The numbers of reports that an echo tells apart.
pub(crate) const ECHO: u8 = 0x07;

/// What stands before reports and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The low bits of the packet's number.
    pub(crate) number: u16,
    /// The sender's clock in ms, its low bits.
    pub(crate) sent: u16,
    /// Whether a report follows.
    pub(crate) report: bool,
    /// Whether the receiver should ask for what it misses.
    pub(crate) ask: bool,
    /// The newest report that the sender knows, its low three bits, if it is told.
    pub(crate) echo: Option<u8>,
    /// How long ago that report came, in ms, while that is news.
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
            echo: Some(flags & ECHO),
            held: if flags & HELD != 0 { Some(reader.varint()?) } else { None },
        })
    }
}

pub(crate) fn write_header(header: Header, out: &mut Vec<u8>) {
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    let held = flag(header.held.is_some(), HELD);
    let flags = flag(header.report, REPORT)
        | flag(header.ask, ASK)
        | held
        | (header.echo.unwrap_or(0) & ECHO);
    out.push(VERSION | flags);
    out.extend_from_slice(&header.number.to_be_bytes());
    out.extend_from_slice(&header.sent.to_be_bytes());
    if let Some(held) = header.held {
        write_varint(held, out);
    }
}

/// Says in a header that was written that a report follows.
pub(crate) fn mark_report(packet: &mut [u8]) {
    if let Some(flags) = packet.first_mut() {
        *flags |= REPORT;
    }
}

/// What a packet says of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageHead {
    pub(crate) channel: u32,
    /// The low bits of the message's index in its channel.
    pub(crate) index: u16,
    /// In ms, when the packet was sent.
    pub(crate) age: u32,
    /// Whether it was sent before.
    pub(crate) repeated: bool,
    /// The key and how many messages of the channel ago it was used before, 0 for never.
    pub(crate) key: Option<(u32, u32)>,
}

/// How many bytes [`write_message`] takes.
pub(crate) fn message_len(head: &MessageHead, payload: usize) -> usize {
    let key = head.key.map_or(0, |(key, back)| varint_len(key) + varint_len(back));
    varint_len(head.channel * 4)
        + 2
        + varint_len(head.age)
        + key
        + varint_len(payload as u32)
        + payload
}

pub(crate) fn write_message(head: &MessageHead, payload: &[u8], out: &mut Vec<u8>) {
    let kind = u32::from(head.repeated) * 2 + u32::from(head.key.is_some());
    write_varint(head.channel * 4 + kind, out);
    out.extend_from_slice(&head.index.to_be_bytes());
    write_varint(head.age, out);
    if let Some((key, back)) = head.key {
        write_varint(key, out);
        write_varint(back, out);
    }
    write_varint(payload.len() as u32, out);
    out.extend_from_slice(payload);
}

/// The messages of a packet, in turn. Ends after the first error.
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
        let key = if first & 1 == 1 { Some((reader.varint()?, reader.varint()?)) } else { None };
        let len = reader.varint()?;
        let payload = reader.bytes(len as usize)?;
        let repeated = first & 2 == 2;
        Ok((MessageHead { channel: first / 4, index, age, repeated, key }, payload))
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
