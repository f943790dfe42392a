//! The frames from a mirror to its room. A frame is its kind, its length, and its fields. All of
//! them name the *seat* that they are about: the connection of a client at the mirror.

use alloc::vec::Vec;
use core::time::Duration;

use super::down::{put_part, read_part};
use super::fields::{
    put_error, put_flag, put_frame, put_identity, put_message, read_channel, read_error, read_flag,
    read_identity, read_link, read_message,
};
use crate::limits::{MAX_CHANNEL_NAME, MAX_PRESENCE};
use crate::room::log::{MOST_CHANNELS, Message, Part};
use crate::wire::io::{Reader, Write};
use crate::{
    Access, ChannelNo, Counter, Error, Identity, Index, LinkId, ParticipantId, Position, Qos,
    Receipt,
};

/// A frame to the room.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToRoom<'a> {
    /// A client that may join sent its first packet.
    Join {
        seat: LinkId,
        identity: Identity,
        opening: &'a [u8],
    },
    /// A transaction of a participant, or a piece of one.
    Transaction {
        seat: LinkId,
        counter: Counter,
        message: Message,
    },
    Value {
        seat: LinkId,
        index: Index,
        after: Counter,
        message: Message,
    },
    /// The connection is gone. `error`: why the mirror closed it, if it did.
    Closed {
        seat: LinkId,
        error: Option<Error>,
    },
    /// The participant has left.
    Left {
        seat: LinkId,
    },
    /// The participant opens a channel that the mirror does not know.
    Open {
        seat: LinkId,
        access: Access,
        name: &'a str,
        qos: Qos,
    },
    /// The participant, which has the channel open with this access, asks for another QoS.
    Change {
        seat: LinkId,
        channel: ChannelNo,
        access: Access,
        qos: Qos,
    },
    Presence {
        seat: LinkId,
        presence: &'a [u8],
    },
    Renewed {
        seat: LinkId,
        identity: Identity,
    },
    /// The direct transaction at this position was delivered to the participant, or cannot be.
    Settled {
        to: ParticipantId,
        position: Position,
        receipt: Receipt,
    },
    /// The number of receivers of each channel at this mirror.
    Receivers {
        receivers: Vec<(ChannelNo, u64)>,
    },
    /// The channels of the parts of the snapshot that participants can make.
    Offered {
        channels: Vec<ChannelNo>,
    },
    /// A part of the snapshot that a participant has made.
    Part(Part),
}

impl ToRoom<'_> {
    /// Appends the frame. `now`: the time to which the ages of messages are counted.
    pub(super) fn write(&self, now: Duration, out: &mut Vec<u8>) {
        put_frame(out, |fields| self.write_fields(now, fields));
    }

    fn write_fields(&self, now: Duration, out: &mut Vec<u8>) -> u8 {
        match self {
            ToRoom::Join { seat, identity, opening } => {
                out.varint((*seat).into());
                put_identity(identity, out);
                out.extend_from_slice(opening);
                0
            }
            ToRoom::Transaction { seat, counter, message } => {
                out.varint((*seat).into());
                out.varint((*counter).into());
                put_message(now, message, out);
                1
            }
            ToRoom::Value { seat, index, after, message } => {
                out.varint((*seat).into());
                out.varint((*index).into());
                out.varint((*after).into());
                put_message(now, message, out);
                2
            }
            ToRoom::Closed { seat, error } => {
                out.varint((*seat).into());
                put_flag(error.is_some(), out);
                error.iter().for_each(|error| put_error(error, out));
                3
            }
            ToRoom::Left { seat } => {
                out.varint((*seat).into());
                4
            }
            ToRoom::Open { seat, access, name, qos } => {
                out.varint((*seat).into());
                put_access(*access, out);
                out.bytes(name.as_bytes());
                qos.write(out);
                5
            }
            ToRoom::Change { seat, channel, access, qos } => {
                out.varint((*seat).into());
                out.varint((*channel).into());
                put_access(*access, out);
                qos.write(out);
                6
            }
            ToRoom::Presence { seat, presence } => {
                out.varint((*seat).into());
                out.extend_from_slice(presence);
                7
            }
            ToRoom::Renewed { seat, identity } => {
                out.varint((*seat).into());
                put_identity(identity, out);
                8
            }
            ToRoom::Settled { to, position, receipt } => {
                out.varint((*to).into());
                out.varint(position.get());
                out.u8(receipt.to_wire());
                9
            }
            ToRoom::Receivers { receivers } => {
                for (channel, count) in receivers {
                    out.varint((*channel).into());
                    out.varint(*count);
                }
                10
            }
            ToRoom::Offered { channels } => {
                channels.iter().for_each(|channel| out.varint((*channel).into()));
                11
            }
            ToRoom::Part(part) => {
                put_part(part, out);
                12
            }
        }
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// The frame is none that a mirror of this version writes.
    pub(super) fn read<'a>(now: Duration, r: &mut Reader<'a>) -> Result<ToRoom<'a>, Error> {
        let kind = r.u8()?;
        let mut r = Reader::new(r.bytes(usize::MAX, "frame of a mirror")?, "frame of a mirror");
        let frame = match kind {
            0 => ToRoom::Join {
                seat: read_link(&mut r)?,
                identity: read_identity(&mut r)?,
                opening: r.rest(),
            },
            1 => ToRoom::Transaction {
                seat: read_link(&mut r)?,
                counter: Counter(r.varint_u32()?),
                message: read_message(now, &mut r)?,
            },
            2 => ToRoom::Value {
                seat: read_link(&mut r)?,
                index: Index(r.varint_u32()?),
                after: Counter(r.varint_u32()?),
                message: read_message(now, &mut r)?,
            },
            3 => {
                let seat = read_link(&mut r)?;
                let error = if read_flag(&mut r)? { Some(read_error(&mut r)?) } else { None };
                ToRoom::Closed { seat, error }
            }
            4 => ToRoom::Left { seat: read_link(&mut r)? },
            5 => ToRoom::Open {
                seat: read_link(&mut r)?,
                access: read_access(&mut r)?,
                name: r.text(MAX_CHANNEL_NAME, "channel name")?,
                qos: Qos::read(&mut r)?,
            },
            6 => ToRoom::Change {
                seat: read_link(&mut r)?,
                channel: read_channel(&mut r)?,
                access: read_access(&mut r)?,
                qos: Qos::read(&mut r)?,
            },
            7 => {
                let (seat, presence) = (read_link(&mut r)?, r.rest());
                if presence.len() > MAX_PRESENCE {
                    return Err(r.malformed());
                }
                ToRoom::Presence { seat, presence }
            }
            8 => ToRoom::Renewed { seat: read_link(&mut r)?, identity: read_identity(&mut r)? },
            9 => ToRoom::Settled {
                to: ParticipantId(r.varint_u32()?),
                position: Position(r.varint()?),
                receipt: Receipt::from_wire(r.u8()?).ok_or_else(|| r.malformed())?,
            },
            10 => {
                let mut receivers = Vec::new();
                while !r.is_empty() {
                    receivers.push((read_channel(&mut r)?, r.varint_u32()?.into()));
                    check_count(receivers.len())?;
                }
                ToRoom::Receivers { receivers }
            }
            11 => {
                let mut channels = Vec::new();
                while !r.is_empty() {
                    channels.push(read_channel(&mut r)?);
                    check_count(channels.len())?;
                }
                ToRoom::Offered { channels }
            }
            12 => ToRoom::Part(read_part(&mut r)?),
            _ => return Err(Error::Unsupported { frame: kind }),
        };
        r.finish()?;
        Ok(frame)
    }
}

/// # Errors
/// A frame names more channels than a room has (wire W16).
fn check_count(count: usize) -> Result<(), Error> {
    let limit = MOST_CHANNELS as usize;
    match count <= limit {
        true => Ok(()),
        false => Err(Error::TooMany { what: "channels of a mirror", limit }),
    }
}

fn put_access(access: Access, out: &mut Vec<u8>) {
    out.u8(u8::from(access.publish) | u8::from(access.subscribe) << 1);
}

fn read_access(r: &mut Reader<'_>) -> Result<Access, Error> {
    let bits = r.u8()?;
    match bits < 4 {
        true => Ok(Access { publish: bits & 1 != 0, subscribe: bits & 2 != 0 }),
        false => Err(r.malformed()),
    }
}
