//! The types of fields that only frames have, and how fields are written and read.

use alloc::vec::Vec;

use crate::error::Fault;
use crate::ids::{ChannelNo, Counter, GroupId, ParticipantId, Position};
use crate::limits::{MAX_PRESENCE, MAX_USER};
use crate::trace::Carrier;
use crate::wire::io::{Reader, Write};
use crate::{Durability, Error, Rate, Receipt};

/// What a participant may do with a channel (wire W17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The participant may send messages.
    pub publish: bool,
    /// The participant may receive messages.
    pub subscribe: bool,
}

impl Access {
    /// The right to send and to receive.
    pub const FULL: Access = Access { publish: true, subscribe: true };

    /// The rights that are in both `self` and `other`.
    #[must_use]
    pub const fn and(self, other: Access) -> Access {
        Access {
            publish: self.publish && other.publish,
            subscribe: self.subscribe && other.subscribe,
        }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        out.u8(u8::from(self.publish) | u8::from(self.subscribe) << 1);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let bits = reader.u8()?;
        Ok(Access { publish: bits & 1 != 0, subscribe: bits & 2 != 0 })
    }
}

/// The connection state of a participant (wire W34).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresenceState {
    /// The participant left, or did not reconnect in time after its connection broke.
    Left,
    /// The participant is connected.
    Here,
    /// The participant's connection broke; it may still reconnect.
    Away,
}

/// One participant in a PARTICIPANTS frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ParticipantEntry<'a> {
    pub(crate) id: ParticipantId,
    pub(crate) state: PresenceState,
    /// The user that the server verified (wire W100). A participant that left has none.
    pub(crate) user: Option<&'a str>,
    pub(crate) presence: &'a [u8],
}

/// Added to the state of a participant in PARTICIPANTS if its user follows (wire W100).
const HAS_USER: u8 = 4;

/// A type that has one form in all frames. Types that are more than a number have methods `write`
/// and `read` of their own instead, such as [`Qos`](crate::Qos).
pub(super) trait Field<'a>: Sized {
    fn write(&self, out: &mut Vec<u8>);
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error>;
}

/// Numbers that are a varint on the wire.
macro_rules! varint_fields {
    ($($type:ty: $read:ident => $from:expr;)*) => {
        $(impl Field<'_> for $type {
            fn write(&self, out: &mut Vec<u8>) {
                out.varint(u64::from(*self));
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
                reader.$read().map($from)
            }
        })*
    };
}

varint_fields! {
    u32: varint_u32 => |value| value;
    u64: varint => |value| value;
    ChannelNo: varint_u32 => ChannelNo;
    Counter: varint_u32 => Counter;
    GroupId: varint_u32 => GroupId;
    ParticipantId: varint_u32 => ParticipantId;
    Position: varint => Position;
}

impl Field<'_> for Rate {
    fn write(&self, out: &mut Vec<u8>) {
        out.varint(u64::from(self.millihertz()));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        reader.varint_u32().map(Rate::from_millihertz)
    }
}

impl Field<'_> for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.u8(u8::from(*self));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        match reader.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(reader.malformed()),
        }
    }
}

impl Field<'_> for Carrier {
    fn write(&self, out: &mut Vec<u8>) {
        out.u8(*self as u8);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        match reader.u8()? {
            0 => Ok(Carrier::Stream),
            1 => Ok(Carrier::Datagrams),
            _ => Err(reader.malformed()),
        }
    }
}

impl Field<'_> for Fault {
    fn write(&self, out: &mut Vec<u8>) {
        out.u8(self.to_wire());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        reader.u8().map(Fault::from_wire)
    }
}

impl Field<'_> for Durability {
    fn write(&self, out: &mut Vec<u8>) {
        out.u8(self.to_wire());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Durability::from_wire(reader.u8()?).ok_or_else(|| reader.malformed())
    }
}

impl Field<'_> for Receipt {
    fn write(&self, out: &mut Vec<u8>) {
        out.u8(self.to_wire());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Receipt::from_wire(reader.u8()?).ok_or_else(|| reader.malformed())
    }
}

/// The bytes to the end of the frame.
impl<'a> Field<'a> for &'a [u8] {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        Ok(reader.rest())
    }
}

/// Channels to the end of the frame. Their numbers ascend.
impl Field<'_> for Vec<ChannelNo> {
    fn write(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|channel| channel.write(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let mut channels = Vec::new();
        while !reader.is_empty() {
            let channel = ChannelNo::read(reader)?;
            if channels.last().is_some_and(|last| *last >= channel) {
                return Err(reader.malformed());
            }
            channels.push(channel);
        }
        Ok(channels)
    }
}

/// Participants to the end of the frame.
impl<'a> Field<'a> for Vec<ParticipantEntry<'a>> {
    fn write(&self, out: &mut Vec<u8>) {
        for entry in self {
            entry.id.write(out);
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

    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let mut list = Vec::new();
        while !reader.is_empty() {
            let id = ParticipantId::read(reader)?;
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
}

/// Text of at most `limit` bytes behind its length. Errors call it `what`.
pub(super) struct Text {
    pub(super) limit: usize,
    pub(super) what: &'static str,
}

impl Text {
    pub(super) fn write(&self, text: &str, out: &mut Vec<u8>) {
        out.bytes(text.as_bytes());
    }

    pub(super) fn read<'a>(&self, reader: &mut Reader<'a>) -> Result<&'a str, Error> {
        reader.text(self.limit, self.what)
    }
}

/// The bytes to the end of the frame, at most `limit`. Errors call them `what`.
pub(super) struct Rest {
    pub(super) limit: usize,
    pub(super) what: &'static str,
}

impl Rest {
    pub(super) fn write(&self, bytes: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes);
    }

    pub(super) fn read<'a>(&self, reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
        let bytes = reader.rest();
        let Rest { limit, what } = *self;
        match bytes.len() {
            size if size > limit => Err(Error::TooLarge { what, size, limit }),
            _ => Ok(bytes),
        }
    }
}

/// A byte that stands for true unless it is 0.
pub(super) struct AnyBool;

impl AnyBool {
    pub(super) fn write(&self, value: &bool, out: &mut Vec<u8>) {
        value.write(out);
    }

    pub(super) fn read(&self, reader: &mut Reader<'_>) -> Result<bool, Error> {
        Ok(reader.u8()? != 0)
    }
}

/// A number of eight bytes.
pub(super) struct EightBytes;

impl EightBytes {
    pub(super) fn write(&self, value: &u64, out: &mut Vec<u8>) {
        out.u64(*value);
    }

    pub(super) fn read(&self, reader: &mut Reader<'_>) -> Result<u64, Error> {
        reader.u64()
    }
}
