//! The format of packets: that of `groupwire-afec` (docs/wire/reports.md) with one channel.

use std::time::Duration;

/// Bits of the first byte: the version, whether the packet has a report, whether *held* follows,
/// and the echo.
const VERSION: u8 = 0b01 << 6;
const REPORT: u8 = 1 << 5;
const HELD: u8 = 1 << 3;
const ECHO: u8 = 0b111;
/// The second half of a report's first byte: a part about channels follows, and nothing else.
const CHANNELS: u8 = 4;
/// The number of the only channel, and the kinds of its messages and of its part in a report.
const CHANNEL: u8 = 1 << 2;
const REPEATED: u8 = 2;
const STEP: u8 = 2;

/// Why a packet could not be read. The fault is the sender's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a packet that is cut off or of another format")]
pub struct PacketError;

/// The header of a packet with its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) number: u16,
    /// The sender's clock in ms.
    pub(super) sent: u16,
    /// The low bits of the number of the newest report that arrived.
    pub(super) echo: u8,
    /// For how many ms the sender has held that report, if this packet confirms it.
    pub(super) held: Option<u32>,
    pub(super) report: Option<Report>,
}

/// A report of the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Report {
    /// The number of the report, of three bits.
    pub(super) number: u8,
    /// The highest packet number that arrived, and how many ms ago.
    pub(super) highest: u16,
    pub(super) hold: u32,
    /// 1 for NAK (one more repeat), -1 for DEC (one less).
    pub(super) step: i8,
}

/// A message in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message<'a> {
    /// The low bits of the message's count.
    pub(super) index: u16,
    /// The age of the message in ms when the packet was sent.
    pub(super) age: u32,
    pub(super) is_repeated: bool,
    pub(super) payload: &'a [u8],
}

impl Header {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(self.report.is_some(), REPORT) | flag(self.held.is_some(), HELD);
        out.push(VERSION | flags | self.echo);
        out.extend(self.number.to_be_bytes());
        out.extend(self.sent.to_be_bytes());
        if let Some(held) = self.held {
            write_varint(held, out);
        }
        if let Some(report) = &self.report {
            out.push(report.number << 4 | CHANNELS);
            out.extend(report.highest.to_be_bytes());
            write_varint(report.hold, out);
            out.extend([1, CHANNEL | STEP, report.step as u8]);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, PacketError> {
        let flags = reader.u8()?;
        Ok(Header {
            number: reader.u16()?,
            sent: reader.u16()?,
            echo: flags & ECHO,
            held: if flags & HELD != 0 { Some(reader.varint()?) } else { None },
            report: if flags & REPORT != 0 { Some(Report::read(reader)?) } else { None },
        })
    }
}

impl Report {
    fn read(reader: &mut Reader<'_>) -> Result<Self, PacketError> {
        let number = reader.u8()? >> 4 & ECHO;
        let (highest, hold) = (reader.u16()?, reader.varint()?);
        match [reader.u8()?, reader.u8()?] {
            [1, kind] if kind == CHANNEL | STEP => {}
            _ => return Err(PacketError),
        }
        Ok(Report { number, highest, hold, step: reader.u8()? as i8 })
    }
}

impl Message<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(CHANNEL | if self.is_repeated { REPEATED } else { 0 });
        out.extend(self.index.to_be_bytes());
        write_varint(self.age, out);
        write_varint(self.payload.len() as u32, out);
        out.extend(self.payload);
    }
}

/// The bytes of a message of `payload` bytes with its header.
pub(super) fn message_len(age: u32, payload: usize) -> usize {
    3 + varint_len(age) + varint_len(payload as u32) + payload
}

/// A duration in whole ms, at most a minute.
pub(super) fn millis(duration: Duration) -> u32 {
    duration.as_millis().min(60_000) as u32
}

/// Reads the messages of a packet.
pub(super) struct Packet<'a> {
    reader: Reader<'a>,
}

impl<'a> Packet<'a> {
    pub(super) fn new(reader: Reader<'a>) -> Self {
        Packet { reader }
    }

    fn message(&mut self) -> Result<Message<'a>, PacketError> {
        let reader = &mut self.reader;
        let kind = reader.u8()?;
        let (index, age, len) = (reader.u16()?, reader.varint()?, reader.varint()?);
        let payload = reader.bytes(len as usize)?;
        Ok(Message { index, age, is_repeated: kind & REPEATED != 0, payload })
    }
}

impl<'a> Iterator for Packet<'a> {
    type Item = Result<Message<'a>, PacketError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.reader.rest.is_empty()).then(|| self.message())
    }
}

/// Reads the fields of a packet.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(packet: &'a [u8]) -> Self {
        Reader { rest: packet }
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], PacketError> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(PacketError)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn u8(&mut self) -> Result<u8, PacketError> {
        Ok(self.bytes(1)?[0])
    }

    fn u16(&mut self) -> Result<u16, PacketError> {
        let bytes = self.bytes(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// LEB128.
    fn varint(&mut self) -> Result<u32, PacketError> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return u32::try_from(value).map_err(|_| PacketError);
            }
        }
        Err(PacketError)
    }
}

fn write_varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn varint_len(value: u32) -> usize {
    (38 - (value | 1).leading_zeros() as usize) / 7
}
