//! Writes and reads the fields of each type of frame (the table of types is in docs/wire/session.md).

use alloc::vec::Vec;

use super::{Access, Frame, OPTIONAL, ParticipantEntry, PresenceState};
use crate::error::Fault;
use crate::ids::{ChannelNo, Counter, GroupId, ParticipantId, Position};
use crate::limits::{
    MAX_CHANNEL_NAME, MAX_DETAIL, MAX_PART_NAME, MAX_PRESENCE, MAX_TOKEN, MAX_USER,
};
use crate::trace::Carrier;
use crate::wire::handshake::{Hello, Welcome};
use crate::wire::io::{Reader, Write};
use crate::wire::snapshot::Chunk;
use crate::{Compress, Durability, Error, Qos, Rate, Receipt};

/// Added to the state of a participant in PARTICIPANTS if its user follows (wire W100).
const HAS_USER: u8 = 4;

impl<'a> Frame<'a> {
    /// Appends the fields of the frame and returns its tag.
    pub(super) fn write_payload(&self, out: &mut Vec<u8>) -> u8 {
        match self {
            Frame::Hello(hello) => {
                hello.write(out);
                0x01
            }
            Frame::Welcome(welcome) => {
                welcome.write(out);
                0x02
            }
            Frame::Open { reference, access, name, qos, have, compress } => {
                out.varint(u64::from(*reference));
                access.write(out);
                out.bytes(name.as_bytes());
                qos.write(out);
                out.varint(have.get());
                compress.write(out);
                0x03
            }
            Frame::Channel { reference, id, access, name, qos } => {
                out.varint(u64::from(*reference));
                out.varint(u64::from(*id));
                access.write(out);
                out.bytes(name.as_bytes());
                qos.write(out);
                0x04
            }
            Frame::Shut { id } => {
                out.varint(u64::from(*id));
                0x05
            }
            Frame::Messages(payload) => {
                out.extend_from_slice(payload);
                0x06
            }
            Frame::Coded(payload) => {
                out.extend_from_slice(payload);
                0x07
            }
            Frame::Presence(presence) => {
                out.extend_from_slice(presence);
                0x09
            }
            Frame::Participants { complete, list } => {
                out.u8(u8::from(*complete));
                write_participants(list, out);
                0x0a
            }
            Frame::Snapshot(chunk) => {
                chunk.write(out);
                0x0b
            }
            Frame::SnapshotWanted { part, at_least } => {
                out.varint(u64::from(*part));
                out.varint(at_least.get());
                0x0c
            }
            Frame::Synced { channel } => {
                out.varint(u64::from(*channel));
                0x0d
            }
            Frame::Ping { time } => {
                out.varint(*time);
                0x0e
            }
            Frame::Pong { time, received, sent } => {
                out.varint(*time);
                out.varint(*received);
                out.varint(*sent);
                0x0f
            }
            Frame::Error { code, fault, fatal, subject, detail } => {
                out.varint(u64::from(*code));
                out.u8(fault.to_wire());
                out.u8(u8::from(*fatal));
                out.varint(u64::from(*subject));
                out.bytes(detail.as_bytes());
                0x10
            }
            Frame::Bye { reason, retry_ms } => {
                out.varint(u64::from(*reason));
                out.varint(*retry_ms);
                0x11
            }
            Frame::Position(position) => {
                out.varint(position.get());
                0x12
            }
            Frame::Gap { channel, position } => {
                out.varint(u64::from(*channel));
                out.varint(position.get());
                0x13
            }
            Frame::Codecs { set } => {
                out.varint(*set);
                OPTIONAL | 0x19
            }
            Frame::Compress { id, compress } => {
                out.varint(u64::from(*id));
                compress.write(out);
                0x1a
            }
            Frame::PackedSnapshot(chunk) => {
                chunk.write(out);
                0x1b
            }
            Frame::PackedMessages(packed) => {
                out.extend_from_slice(packed);
                0x1c
            }
            Frame::Acknowledged { group, rest } => {
                out.varint(u64::from(*group));
                out.extend_from_slice(rest);
                0x16
            }
            Frame::Model { carrier, group, total, offset, rest } => {
                out.u8(*carrier as u8);
                out.varint(u64::from(*group));
                out.varint(u64::from(*total));
                out.varint(u64::from(*offset));
                out.extend_from_slice(rest);
                0x18
            }
            Frame::Shared(payload) => {
                out.extend_from_slice(payload);
                0x1d
            }
            Frame::SharedDatagram { group, rest } => {
                out.varint(u64::from(*group));
                out.extend_from_slice(rest);
                0x1e
            }
            Frame::SharedAgain { group, waited, rest } => {
                out.varint(u64::from(*group));
                out.varint(u64::from(*waited));
                out.extend_from_slice(rest);
                0x27
            }
            Frame::Leave { carrier, group, rest } => {
                out.u8(*carrier as u8);
                out.varint(u64::from(*group));
                out.extend_from_slice(rest);
                0x1f
            }
            Frame::Change { id, qos } => {
                out.varint(u64::from(*id));
                qos.write(out);
                0x20
            }
            Frame::Rate { id, rate } => {
                out.varint(u64::from(*id));
                out.varint(u64::from(rate.millihertz()));
                0x21
            }
            Frame::Contract(report) => {
                out.extend_from_slice(report);
                OPTIONAL | 0x22
            }
            Frame::Quality(told) => {
                out.extend_from_slice(told);
                0x26
            }
            Frame::Room { durability, load } => {
                out.u8(durability.to_wire());
                out.u64(*load);
                OPTIONAL | 0x28
            }
            Frame::Part { part, counter, name, channels } => {
                out.varint(u64::from(*part));
                out.varint(u64::from(*counter));
                out.bytes(name.as_bytes());
                channels.iter().for_each(|channel| out.varint(u64::from(*channel)));
                0x29
            }
            Frame::Token(token) => {
                out.extend_from_slice(token);
                0x2b
            }
            Frame::TokenWanted => OPTIONAL | 0x2c,
            Frame::Hold { counter, hold_ms } => {
                out.varint(u64::from(*counter));
                out.varint(*hold_ms);
                OPTIONAL | 0x2d
            }
            Frame::Reset { channel, position } => {
                out.varint(u64::from(*channel));
                out.varint(position.get());
                OPTIONAL | 0x2f
            }
            Frame::Ordered { counter } => {
                out.varint(u64::from(*counter));
                0x2a
            }
            Frame::Received { position } => {
                out.varint(position.get());
                0x37
            }
            Frame::Receipt { counter, receipt } => {
                out.varint(u64::from(*counter));
                out.u8(receipt.to_wire());
                OPTIONAL | 0x38
            }
            Frame::Count { everybody, count } => {
                out.u8(u8::from(*everybody));
                out.varint(u64::from(*count));
                OPTIONAL | 0x34
            }
            Frame::PageWanted { after } => {
                out.varint(u64::from(*after));
                OPTIONAL | 0x35
            }
            Frame::Page { after, last, list } => {
                out.varint(u64::from(*after));
                out.u8(u8::from(*last));
                write_participants(list, out);
                0x36
            }
        }
    }

    /// Reads the fields of a frame of type `kind`. Returns `None` if this version does not know the type.
    pub(super) fn read(kind: u8, payload: &'a [u8]) -> Result<Option<Self>, Error> {
        let mut r = Reader::new(payload, frame_name(kind));
        let frame = match kind {
            0x01 => Frame::Hello(Hello::read(&mut r)?),
            0x02 => Frame::Welcome(Welcome::read(&mut r)?),
            0x03 => Frame::Open {
                reference: r.varint_u32()?,
                access: Access::read(&mut r)?,
                name: r.text(MAX_CHANNEL_NAME, "channel name")?,
                qos: Qos::read(&mut r)?,
                have: Position(r.varint()?),
                compress: Compress::read(&mut r)?,
            },
            0x04 => Frame::Channel {
                reference: r.varint_u32()?,
                id: ChannelNo(r.varint_u32()?),
                access: Access::read(&mut r)?,
                name: r.text(MAX_CHANNEL_NAME, "channel name")?,
                qos: Qos::read(&mut r)?,
            },
            0x05 => Frame::Shut { id: ChannelNo(r.varint_u32()?) },
            0x06 => Frame::Messages(r.rest()),
            0x07 => Frame::Coded(r.rest()),
            0x09 => Frame::Presence(r.rest()),
            0x0a => {
                Frame::Participants { complete: r.u8()? != 0, list: read_participants(&mut r)? }
            }
            0x0b => Frame::Snapshot(Chunk::read(&mut r)?),
            0x0c => {
                Frame::SnapshotWanted { part: r.varint_u32()?, at_least: Position(r.varint()?) }
            }
            0x0d => Frame::Synced { channel: ChannelNo(r.varint_u32()?) },
            0x0e => Frame::Ping { time: r.varint()? },
            0x0f => Frame::Pong { time: r.varint()?, received: r.varint()?, sent: r.varint()? },
            0x10 => Frame::Error {
                code: r.varint_u32()?,
                fault: Fault::from_wire(r.u8()?),
                fatal: r.u8()? != 0,
                subject: r.varint_u32()?,
                detail: r.text(MAX_DETAIL, "error text")?,
            },
            0x11 => Frame::Bye { reason: r.varint_u32()?, retry_ms: r.varint()? },
            0x12 => Frame::Position(Position(r.varint()?)),
            0x13 => {
                Frame::Gap { channel: ChannelNo(r.varint_u32()?), position: Position(r.varint()?) }
            }
            0x19 => Frame::Codecs { set: r.varint()? },
            0x1a => Frame::Compress {
                id: ChannelNo(r.varint_u32()?),
                compress: Compress::read(&mut r)?,
            },
            0x1b => Frame::PackedSnapshot(Chunk::read(&mut r)?),
            0x1c => Frame::PackedMessages(r.rest()),
            0x16 => Frame::Acknowledged { group: GroupId(r.varint_u32()?), rest: r.rest() },
            0x18 => Frame::Model {
                carrier: read_carrier(&mut r)?,
                group: GroupId(r.varint_u32()?),
                total: r.varint_u32()?,
                offset: r.varint_u32()?,
                rest: r.rest(),
            },
            0x1d => Frame::Shared(r.rest()),
            0x1e => Frame::SharedDatagram { group: GroupId(r.varint_u32()?), rest: r.rest() },
            0x1f => Frame::Leave {
                carrier: read_carrier(&mut r)?,
                group: GroupId(r.varint_u32()?),
                rest: r.rest(),
            },
            0x20 => Frame::Change { id: ChannelNo(r.varint_u32()?), qos: Qos::read(&mut r)? },
            0x21 => Frame::Rate {
                id: ChannelNo(r.varint_u32()?),
                rate: Rate::from_millihertz(r.varint_u32()?),
            },
            0x22 => Frame::Contract(r.rest()),
            0x26 => Frame::Quality(r.rest()),
            0x27 => Frame::SharedAgain {
                group: GroupId(r.varint_u32()?),
                waited: r.varint_u32()?,
                rest: r.rest(),
            },
            0x28 => Frame::Room {
                durability: Durability::from_wire(r.u8()?).ok_or_else(|| r.malformed())?,
                load: r.u64()?,
            },
            0x29 => Frame::Part {
                part: r.varint_u32()?,
                counter: Counter(r.varint_u32()?),
                name: r.text(MAX_PART_NAME, "name of a part")?,
                channels: read_channels(&mut r)?,
            },
            0x37 => Frame::Received { position: Position(r.varint()?) },
            0x38 => Frame::Receipt {
                counter: Counter(r.varint_u32()?),
                receipt: Receipt::from_wire(r.u8()?).ok_or_else(|| r.malformed())?,
            },
            0x2b => {
                let token = r.rest();
                if token.len() > MAX_TOKEN {
                    let (what, size, limit) = ("token", token.len(), MAX_TOKEN);
                    return Err(Error::TooLarge { what, size, limit });
                }
                Frame::Token(token)
            }
            0x2c => Frame::TokenWanted,
            0x2d => Frame::Hold { counter: Counter(r.varint_u32()?), hold_ms: r.varint()? },
            0x2f => Frame::Reset {
                channel: ChannelNo(r.varint_u32()?),
                position: Position(r.varint()?),
            },
            0x2a => Frame::Ordered { counter: Counter(r.varint_u32()?) },
            0x34 => Frame::Count { everybody: read_bool(&mut r)?, count: r.varint_u32()? },
            0x35 => Frame::PageWanted { after: ParticipantId(r.varint_u32()?) },
            0x36 => Frame::Page {
                after: ParticipantId(r.varint_u32()?),
                last: read_bool(&mut r)?,
                list: read_participants(&mut r)?,
            },
            _ => return Ok(None),
        };
        r.finish()?;
        Ok(Some(frame))
    }
}

fn read_carrier(reader: &mut Reader<'_>) -> Result<Carrier, Error> {
    match reader.u8()? {
        0 => Ok(Carrier::Stream),
        1 => Ok(Carrier::Datagrams),
        _ => Err(reader.malformed()),
    }
}

/// Reads channels to the end of the frame. Their numbers ascend.
fn read_channels(reader: &mut Reader<'_>) -> Result<Vec<ChannelNo>, Error> {
    let mut channels = Vec::new();
    while !reader.is_empty() {
        let channel = ChannelNo(reader.varint_u32()?);
        if channels.last().is_some_and(|last| *last >= channel) {
            return Err(reader.malformed());
        }
        channels.push(channel);
    }
    Ok(channels)
}

fn read_bool(reader: &mut Reader<'_>) -> Result<bool, Error> {
    match reader.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(reader.malformed()),
    }
}

fn write_participants(list: &[ParticipantEntry<'_>], out: &mut Vec<u8>) {
    for entry in list {
        out.varint(u64::from(entry.id));
        match entry.user {
            Some(user) => {
                out.u8(entry.state as u8 | HAS_USER);
                out.bytes(user.as_bytes());
            }
            None => out.u8(entry.state as u8),
        }
        out.bytes(entry.presence);
    }
}

/// Reads participants to the end of the frame.
fn read_participants<'a>(reader: &mut Reader<'a>) -> Result<Vec<ParticipantEntry<'a>>, Error> {
    let mut list = Vec::new();
    while !reader.is_empty() {
        let id = ParticipantId(reader.varint_u32()?);
        let (state, has_user) = match reader.u8()? {
            0 => (PresenceState::Left, false),
            1 => (PresenceState::Here, false),
            2 => (PresenceState::Away, false),
            5 => (PresenceState::Here, true),
            6 => (PresenceState::Away, true),
            _ => return Err(reader.malformed()),
        };
        let user = match has_user {
            true => Some(reader.text(MAX_USER, "user")?),
            false => None,
        };
        if user == Some("") {
            return Err(reader.malformed());
        }
        let presence = reader.bytes(MAX_PRESENCE, "presence")?;
        list.push(ParticipantEntry { id, state, user, presence });
    }
    Ok(list)
}

fn frame_name(kind: u8) -> &'static str {
    match kind {
        0x01 => "HELLO",
        0x02 => "WELCOME",
        0x03 => "OPEN",
        0x04 => "CHANNEL",
        0x05 => "SHUT",
        0x06 => "MESSAGES",
        0x07 => "CODED",
        0x09 => "PRESENCE",
        0x0a => "PARTICIPANTS",
        0x0b => "SNAPSHOT",
        0x0c => "SNAPSHOT_WANTED",
        0x0d => "SYNCED",
        0x0e => "PING",
        0x0f => "PONG",
        0x10 => "ERROR",
        0x11 => "BYE",
        0x12 => "POSITION",
        0x13 => "GAP",
        0x19 => "CODECS",
        0x1a => "COMPRESS",
        0x1b => "PACKED_SNAPSHOT",
        0x1c => "PACKED_MESSAGES",
        0x16 => "ACKNOWLEDGED",
        0x18 => "MODEL",
        0x1d => "SHARED",
        0x1e => "SHARED_DATAGRAM",
        0x1f => "LEAVE",
        0x20 => "CHANGE",
        0x21 => "RATE",
        0x22 => "CONTRACT",
        0x26 => "QUALITY",
        0x27 => "SHARED_AGAIN",
        0x28 => "ROOM",
        0x29 => "PART",
        0x2a => "ORDERED",
        0x2b => "TOKEN",
        0x2c => "TOKEN_WANTED",
        0x2d => "HOLD",
        0x2f => "RESET",
        0x34 => "COUNT",
        0x35 => "PAGE_WANTED",
        0x36 => "PAGE",
        _ => "frame",
    }
}
