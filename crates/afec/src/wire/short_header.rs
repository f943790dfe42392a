//! The short header of a packet whose messages the caller codes (compresses): see
//! [`Endpoint::transmit_with`](crate::Endpoint). A report tells the other end what arrived.
//!
//! ```text
//! header = flags number(1) sent(2) [held] [report]
//! flags  = version(2 bits, 01) report(1) ask(1) held(1) caller's(3)
//! held   = (how long ago a report came, in units of 4 ms) * 8 + the low three bits of its number
//! ```
//!
//! *number* is the eight low bits of the packet number. The receiver completes it with the help of
//! *sent*, the sender's clock. The field *highest* of the report (the highest packet number that
//! arrived) has eight bits, too.

use alloc::vec::Vec;

use super::packet::{ASK, HELD, Header, REPORT, VERSION, VERSION_MASK};
use super::{PacketError, Reader, write_varint};
use crate::ids::Echo;

/// The bits of the first byte that belong to the caller.
pub(crate) const CALLERS: u8 = 0x07;

/// The unit of *held* in ms. With this unit the field takes one byte in the packet after the
/// report. It makes a round trip seem longer by at most one unit.
const HELD_UNIT: u32 = 4;

/// Appends a short header without a report. It has the low bits of `header.number`.
pub(crate) fn write_short_header(header: Header, out: &mut Vec<u8>) {
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    out.push(VERSION | flag(header.ask, ASK) | flag(header.held.is_some(), HELD));
    out.push(header.number as u8);
    out.extend_from_slice(&header.sent.to_be_bytes());
    if let Some(held) = header.held {
        write_varint((held / HELD_UNIT) << 3 | u32::from(header.echo.unwrap_or_default().0), out);
    }
}

/// Reads a short header up to its report, and returns the header with the caller's three bits.
/// `whole` completes the packet number from its eight low bits and the sender's clock.
pub(crate) fn read_short_header(
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
        echo: held.map(|held| Echo::of(held as u8)),
        held: held.map(|held| (held >> 3).saturating_mul(HELD_UNIT)),
    };
    Ok((header, flags & CALLERS))
}
