//! The header of a packet whose messages are coded by somebody else: see [`Endpoint::transmit_with`](crate::Endpoint).
//!
//! ```text
//! front = flags number(1) sent(2) [held] [report]
//! flags = version(2 bits, 01) report(1) ask(1) held(1) caller's(3)
//! held  = (how long ago a report came, in units of 4 ms) * 8 + the low three bits of its number
//! ```
//!
//! *number* has eight bits: which of the numbers that end so is meant, *sent* tells. Of the report, *highest* has eight.

use alloc::vec::Vec;

use super::packet::{ASK, ECHO, HELD, Header, REPORT, VERSION, VERSION_MASK};
use super::{PacketError, Reader, write_varint};

/// Bits of the first byte that are the caller's.
pub(crate) const CALLERS: u8 = 0x07;

/// In ms: so it takes one byte in the packet after the report. The round trip seems so much longer at most.
const HELD_UNIT: u32 = 4;

/// Appends the front without a report. The number's upper bits are left out.
pub(crate) fn write_front(header: Header, out: &mut Vec<u8>) {
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    out.push(VERSION | flag(header.ask, ASK) | flag(header.held.is_some(), HELD));
    out.push(header.number as u8);
    out.extend_from_slice(&header.sent.to_be_bytes());
    if let Some(held) = header.held {
        write_varint((held / HELD_UNIT) << 3 | u32::from(header.echo.unwrap_or(0)), out);
    }
}

/// Reads a front up to its report, and the caller's bits. `whole` makes the number of its low bits and the time.
pub(crate) fn read_front(
    reader: &mut Reader<'_>,
    whole: impl FnOnce(u8, u16) -> u16,
) -> Result<(Header, u8), PacketError> {
    let flags = reader.u8()?;
    if flags & VERSION_MASK != VERSION {
        return Err(PacketError::Version);
    }
    let (low, sent) = (reader.u8()?, reader.u16()?);
    let held = if flags & HELD != 0 { Some(reader.varint()?) } else { None };
    let header = Header {
        number: whole(low, sent),
        sent,
        report: flags & REPORT != 0,
        ask: flags & ASK != 0,
        echo: held.map(|held| held as u8 & ECHO),
        held: held.map(|held| (held >> 3).saturating_mul(HELD_UNIT)),
    };
    Ok((header, flags & CALLERS))
}
