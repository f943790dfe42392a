//! Reads and writes the fields of frames between a room and its mirrors that several frames have.
//!
//! ```text
//! message = flags:u8 channel:varint sender:varint age:varint [priority:u8] [departed:varint]
//!           [to:varint] [key:bytes] content:bytes               `age` in microseconds
//! error   = code:varint fault:u8 detail:bytes
//! ```

use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::Fault;
use crate::limits::{DEFAULT_MAX_PACKET, MAX_DETAIL, MAX_KEY};
use crate::room::log::Message;
use crate::wire::io::{Reader, Write, clip};
use crate::wire::piece::Piece;
use crate::{ChannelNo, Error, Identity, LinkId, ParticipantId, PresenceState};

const TEXT: u8 = 1;
const KEY: u8 = 2;
const PRIORITY: u8 = 4;
const GOES_ON: u8 = 8;
const CONTINUES: u8 = 16;
const DEPARTED: u8 = 32;
const TO: u8 = 64;

/// The most bytes of an identity's subject, and of its rights: a token of 4,096 bytes brings both.
const MAX_IDENTITY: usize = 64 << 10;

/// The longest age that a message is believed to have: a year.
const OLDEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// The parties that can be at fault, in the order of their numbers.
const FAULTS: [Fault; 5] =
    [Fault::Peer, Fault::Incompatible, Fault::Limit, Fault::Refused, Fault::Own];

/// Writes a frame: its kind, which `write_fields` returns, its length, and its fields.
pub(super) fn put_frame(out: &mut Vec<u8>, write_fields: impl FnOnce(&mut Vec<u8>) -> u8) {
    let mut fields = Vec::new();
    let kind = write_fields(&mut fields);
    out.u8(kind);
    out.bytes(&fields);
}

/// Writes a message with its age at the time `now`.
pub(super) fn put_message(now: Duration, message: &Message, out: &mut Vec<u8>) {
    let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
    out.u8(flag(TEXT, message.text)
        | flag(KEY, message.key.is_some())
        | flag(PRIORITY, message.priority.is_some())
        | flag(GOES_ON, message.piece.goes_on())
        | flag(CONTINUES, !message.piece.begins())
        | flag(DEPARTED, message.departed.is_some())
        | flag(TO, message.to.is_some()));
    out.varint(message.channel.into());
    out.varint(message.sender.into());
    out.varint(now.saturating_sub(message.born).min(OLDEST).as_micros() as u64);
    if let Some(priority) = message.priority {
        out.u8(priority);
    }
    for participant in message.departed.iter().chain(&message.to) {
        out.varint((*participant).into());
    }
    if let Some(key) = &message.key {
        out.bytes(key);
    }
    out.bytes(&message.bytes);
}

/// Reads a message, whose age counts from `now` back.
pub(super) fn read_message(now: Duration, reader: &mut Reader<'_>) -> Result<Message, Error> {
    let flags = reader.u8()?;
    if flags & !(TEXT | KEY | PRIORITY | GOES_ON | CONTINUES | DEPARTED | TO) != 0 {
        return Err(reader.malformed());
    }
    let has = |flag: u8| flags & flag != 0;
    let channel = read_channel(reader)?;
    let sender = ParticipantId(reader.varint_u32()?);
    let age = Duration::from_micros(reader.varint()?).min(OLDEST);
    let priority = if has(PRIORITY) { Some(reader.u8()?) } else { None };
    let departed = if has(DEPARTED) { Some(ParticipantId(reader.varint_u32()?)) } else { None };
    let to = if has(TO) { Some(ParticipantId(reader.varint_u32()?)) } else { None };
    let key = if has(KEY) { Some(reader.bytes(MAX_KEY, "key")?.into()) } else { None };
    let (text, bytes) = (has(TEXT), reader.bytes(DEFAULT_MAX_PACKET, "message")?);
    if text && core::str::from_utf8(bytes).is_err() {
        return Err(Error::InvalidText { what: "text between servers" });
    }
    let piece = Piece::new(!has(CONTINUES), has(GOES_ON));
    let (bytes, born) = (bytes.into(), now.saturating_sub(age));
    Ok(Message { channel, sender, key, priority, departed, to, text, piece, bytes, born })
}

/// Reads the number of a channel, which is never 0.
pub(super) fn read_channel(reader: &mut Reader<'_>) -> Result<ChannelNo, Error> {
    match reader.varint_u32()? {
        0 => Err(reader.malformed()),
        channel => Ok(ChannelNo(channel)),
    }
}

pub(super) fn put_error(error: &Error, out: &mut Vec<u8>) {
    out.varint(error.code().into());
    out.u8(FAULTS.iter().position(|one| *one == error.fault()).unwrap_or_default() as u8);
    match error {
        // The text of an error of another server is passed on as it is.
        Error::Remote { detail, .. } => out.bytes(clip(detail, MAX_DETAIL).as_bytes()),
        _ => out.bytes(clip(&error.to_string(), MAX_DETAIL).as_bytes()),
    }
}

/// Reads an error as the other server described it.
pub(super) fn read_error(reader: &mut Reader<'_>) -> Result<Error, Error> {
    let code = reader.varint_u32()?;
    let fault = FAULTS.get(usize::from(reader.u8()?)).copied();
    let fault = fault.ok_or_else(|| reader.malformed())?;
    let detail = reader.text(MAX_DETAIL, "detail")?.to_string();
    Ok(Error::Remote { code, fault, detail })
}

pub(super) fn put_identity(identity: &Identity, out: &mut Vec<u8>) {
    out.bytes(&identity.subject);
    out.bytes(&identity.rights);
}

pub(super) fn read_identity(reader: &mut Reader<'_>) -> Result<Identity, Error> {
    Ok(Identity {
        subject: reader.bytes(MAX_IDENTITY, "subject")?.into(),
        rights: reader.bytes(MAX_IDENTITY, "rights")?.into(),
    })
}

pub(super) fn read_link(reader: &mut Reader<'_>) -> Result<LinkId, Error> {
    reader.varint().map(LinkId)
}

pub(super) fn put_flag(flag: bool, out: &mut Vec<u8>) {
    out.u8(flag.into());
}

pub(super) fn read_flag(reader: &mut Reader<'_>) -> Result<bool, Error> {
    match reader.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(reader.malformed()),
    }
}

/// Reads the state of a participant: 0 left, 1 here, 2 away.
pub(super) fn read_state(reader: &mut Reader<'_>) -> Result<PresenceState, Error> {
    match reader.u8()? {
        0 => Ok(PresenceState::Left),
        1 => Ok(PresenceState::Here),
        2 => Ok(PresenceState::Away),
        _ => Err(reader.malformed()),
    }
}
