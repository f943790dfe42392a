//! Reports from a receiver to the sender: what arrived, how the path loses packets, and what
//! channels miss.

use alloc::vec::Vec;

use super::{PacketError, Reader, write_varint};
use crate::ids::{ChannelId, ReportNumber};
use crate::loss::LossModel;

/// The bits that say which sections a report has: losses, a rate limit, and parts about channels.
const LOSSES: u8 = 1;
const RATE: u8 = 2;
const CHANNELS: u8 = 4;

/// The part of a report that is about the path. Parts about channels follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    /// The number of the report.
    pub(crate) number: ReportNumber,
    /// The low bits of the highest packet number that arrived: 16 bits, or 8 in a packet with a
    /// short header.
    pub(crate) highest: u16,
    /// How long ago that packet arrived, in ms.
    pub(crate) hold: u32,
    /// How the path loses packets, if that has changed.
    pub(crate) losses: Option<LossModel>,
    /// The rate limit of the path in bytes per second, if that has changed. 0: there is no limit.
    pub(crate) rate: Option<u32>,
}

/// A part of a report about a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChannelReport {
    /// A request for message `first` and for those of the messages after it whose bit is set in
    /// `more`.
    Requests {
        /// The 16 low bits of the first message's index.
        first: u16,
        /// Bit n is set if the message n + 1 places after `first` is requested, too.
        more: u32,
    },
    /// The error-budget balance, times four: how many more messages were missed recently than the
    /// target permits; negative if fewer were missed.
    Balance(i8),
}

impl Report {
    /// Appends the report with its parts about channels. `short` says that the highest packet
    /// number has eight bits.
    pub(crate) fn write(
        &self,
        channels: &[(ChannelId, ChannelReport)],
        short: bool,
        out: &mut Vec<u8>,
    ) {
        let section = |present: bool, bit: u8| if present { bit } else { 0 };
        let sections = section(self.losses.is_some(), LOSSES)
            | section(self.rate.is_some(), RATE)
            | section(!channels.is_empty(), CHANNELS);
        out.push(self.number.0 << 4 | sections);
        match short {
            true => out.push(self.highest as u8),
            false => out.extend_from_slice(&self.highest.to_be_bytes()),
        }
        write_varint(self.hold, out);
        if let Some(losses) = &self.losses {
            out.extend_from_slice(&losses.write());
        }
        if let Some(rate) = self.rate {
            write_varint(rate, out);
        }
        if channels.is_empty() {
            return;
        }
        write_varint(channels.len() as u32, out);
        for (channel, report) in channels {
            write_channel(*channel, *report, out);
        }
    }

    /// Reads a report up to its parts about channels, and returns how many of these follow. A
    /// [`ReportReader`] reads them.
    pub(crate) fn read(reader: &mut Reader<'_>, short: bool) -> Result<(Self, u32), PacketError> {
        let first = reader.u8()?;
        let sections = first & 0x0f;
        if sections & !(LOSSES | RATE | CHANNELS) != 0 {
            return Err(PacketError::UnknownReport);
        }
        let has = |bit: u8| sections & bit != 0;
        let report = Report {
            number: ReportNumber(first >> 4),
            highest: if short { u16::from(reader.u8()?) } else { reader.u16()? },
            hold: reader.varint()?,
            losses: if has(LOSSES) { Some(LossModel::read(reader.array()?)) } else { None },
            rate: if has(RATE) { Some(reader.varint()?) } else { None },
        };
        let channels = if has(CHANNELS) { reader.varint()? } else { 0 };
        Ok((report, channels))
    }
}

fn write_channel(channel: ChannelId, report: ChannelReport, out: &mut Vec<u8>) {
    let kind = match report {
        ChannelReport::Requests { .. } => 0,
        ChannelReport::Balance(_) => 1,
    };
    write_varint(channel.0 * 4 + kind, out);
    match report {
        ChannelReport::Requests { first, more } => {
            out.extend_from_slice(&first.to_be_bytes());
            write_varint(more, out);
        }
        ChannelReport::Balance(value) => out.push(value as u8),
    }
}

/// Reads the parts of a report about channels, one after the other.
pub(crate) struct ReportReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    left: u32,
}

impl<'r, 'a> ReportReader<'r, 'a> {
    pub(crate) fn new(reader: &'r mut Reader<'a>, count: u32) -> Self {
        ReportReader { reader, left: count }
    }

    pub(crate) fn next(&mut self) -> Result<Option<(ChannelId, ChannelReport)>, PacketError> {
        // Each part takes at least two bytes, so reading a false count ends at the end of the
        // packet.
        while let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            let first = self.reader.varint()?;
            let report = match first & 3 {
                0 => ChannelReport::Requests {
                    first: self.reader.u16()?,
                    more: self.reader.varint()?,
                },
                1 => ChannelReport::Balance(self.reader.u8()? as i8),
                // Reserved by docs/wire/reports.md: ignored.
                2 => {
                    self.reader.u8()?;
                    continue;
                }
                _ => return Err(PacketError::UnknownReport),
            };
            return Ok(Some((ChannelId(first >> 2), report)));
        }
        Ok(None)
    }
}
