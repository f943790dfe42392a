//! What a receiver tells the sender.

use alloc::vec::Vec;

use super::{PacketError, Reader, write_varint};
use crate::loss::LossModel;

const LOSSES: u8 = 1;
const RATE: u8 = 2;
const CHANNELS: u8 = 4;

/// A report, without what it says of channels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    /// Its own number, four bits.
    pub(crate) number: u8,
    /// The low bits of the highest packet number that came.
    pub(crate) highest: u16,
    /// How long ago that packet came, in ms.
    pub(crate) hold: u32,
    /// How the path loses packets, if there is news.
    pub(crate) losses: Option<LossModel>,
    /// What the path carries, in bytes per second, if there is news; 0: no limit is known.
    pub(crate) rate: Option<u32>,
}

/// What a report says of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChannelReport {
    /// Message `first` is missed, and those after it whose bit is set in `more`.
    Asks { first: u16, more: u32 },
    /// How many more messages were missed lately than the target permits, in quarters; negative: fewer.
    Standing(i8),
    /// NAK and DEC of the paper (3.3.1): so many more, or fewer, repeats.
    Step(i8),
}

impl Report {
    /// Appends the report; the second part of `channels` says what it says of the first. `short`: its highest number has
    /// eight bits.
    pub(crate) fn write(&self, channels: &[(u32, ChannelReport)], short: bool, out: &mut Vec<u8>) {
        let section = |present: bool, bit: u8| if present { bit } else { 0 };
        let sections = section(self.losses.is_some(), LOSSES)
            | section(self.rate.is_some(), RATE)
            | section(!channels.is_empty(), CHANNELS);
        out.push(self.number << 4 | sections);
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

    /// Reads a report up to its channels, which are to be read to the end before what follows it.
    pub(crate) fn read(reader: &mut Reader<'_>, short: bool) -> Result<(Self, u32), PacketError> {
        let first = reader.u8()?;
        let sections = first & 0x0f;
        if sections & !(LOSSES | RATE | CHANNELS) != 0 {
            return Err(PacketError::UnknownReport);
        }
        let has = |bit: u8| sections & bit != 0;
        let report = Report {
            number: first >> 4,
            highest: if short { u16::from(reader.u8()?) } else { reader.u16()? },
            hold: reader.varint()?,
            losses: if has(LOSSES) { Some(LossModel::read(reader.array()?)) } else { None },
            rate: if has(RATE) { Some(reader.varint()?) } else { None },
        };
        let channels = if has(CHANNELS) { reader.varint()? } else { 0 };
        Ok((report, channels))
    }
}

fn write_channel(channel: u32, report: ChannelReport, out: &mut Vec<u8>) {
    let kind = match report {
        ChannelReport::Asks { .. } => 0,
        ChannelReport::Standing(_) => 1,
        ChannelReport::Step(_) => 2,
    };
    write_varint(channel * 4 + kind, out);
    match report {
        ChannelReport::Asks { first, more } => {
            out.extend_from_slice(&first.to_be_bytes());
            write_varint(more, out);
        }
        ChannelReport::Standing(value) | ChannelReport::Step(value) => out.push(value as u8),
    }
}

/// What a report says of channels, in turn.
pub(crate) struct ReportReader<'r, 'a> {
    reader: &'r mut Reader<'a>,
    left: u32,
}

impl<'r, 'a> ReportReader<'r, 'a> {
    pub(crate) fn new(reader: &'r mut Reader<'a>, count: u32) -> Self {
        ReportReader { reader, left: count }
    }

    pub(crate) fn next(&mut self) -> Result<Option<(u32, ChannelReport)>, PacketError> {
        // Each takes at least two bytes, so a lying count ends with the packet.
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        let first = self.reader.varint()?;
        let report = match first & 3 {
            0 => ChannelReport::Asks { first: self.reader.u16()?, more: self.reader.varint()? },
            1 => ChannelReport::Standing(self.reader.u8()? as i8),
            2 => ChannelReport::Step(self.reader.u8()? as i8),
            _ => return Err(PacketError::UnknownReport),
        };
        Ok(Some((first >> 2, report)))
    }
}
