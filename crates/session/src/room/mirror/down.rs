//! The frames from a room to its mirrors. A frame is its kind, its length, and its fields.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::fields::{
    put_error, put_flag, put_frame, put_message, read_channel, read_error, read_flag, read_link,
    read_message, read_state,
};
use crate::limits::{MAX_CHANNEL_NAME, MAX_PART_NAME, MAX_PRESENCE, MAX_STORED_PART, MAX_USER};
use crate::room::log::{Bounds, Message, Part};
use crate::wire::handshake::{Outcome, Secret};
use crate::wire::io::{Reader, Write};
use crate::{
    ChannelNo, Counter, Durability, Error, Index, LinkId, ParticipantId, Position, PresenceState,
    Qos,
};

/// A frame to a mirror.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToMirror<'a> {
    /// What the room is. It comes first, and once.
    Room(RoomFacts),
    /// A channel, which is new or has another QoS now.
    Channel {
        channel: ChannelNo,
        name: &'a str,
        qos: Qos,
    },
    /// How much of a channel's transactions the room still has.
    Bounds {
        channel: ChannelNo,
        bounds: Bounds,
    },
    /// A part of the snapshot.
    Part(Part),
    /// The present state of a participant. `has_left`: it left meanwhile, and came back.
    Person {
        id: ParticipantId,
        has_left: bool,
        person: Person<'a>,
    },
    Transaction {
        position: Position,
        counter: Counter,
        message: Message,
    },
    Value {
        index: Index,
        after: Counter,
        message: Message,
    },
    /// The share of a channel's messages, in 1/1000, that reached the room late or not at all.
    Upstream {
        channel: ChannelNo,
        share: u16,
    },
    /// The counter of a participant's last transaction that may go to others. It is told where the
    /// room has dropped a transaction before the mirror was told of it.
    Counter {
        id: ParticipantId,
        counter: Counter,
    },
    /// The end of a batch: all transactions up to this position may go to participants.
    End {
        durable: Position,
    },
    /// The client at this connection of the mirror joins.
    Admitted {
        seat: LinkId,
        admission: Admission,
    },
    /// The client at this connection may not join.
    Refused {
        seat: LinkId,
        error: Error,
    },
    /// A control frame for one participant.
    Tell {
        seat: LinkId,
        frame: &'a [u8],
    },
    /// The connection is closed because of this error.
    Close {
        seat: LinkId,
        error: Error,
    },
    /// The connection is not read for this time.
    Delay {
        seat: LinkId,
        time: Duration,
    },
    /// The room has decided on the channel that the participant asked for.
    Opened {
        seat: LinkId,
    },
    /// The participant is told the QoS of a channel.
    Renewed {
        seat: LinkId,
        channel: ChannelNo,
    },
    /// A direct transaction (wire W114) for the participant that its message names.
    Direct {
        position: Position,
        counter: Counter,
        message: Message,
    },
    /// The room needs a part of the snapshot, and asks this mirror's participants for it.
    PartWanted,
}

/// What a mirror has to know of its room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoomFacts {
    pub(super) incarnation: u64,
    pub(super) durability: Durability,
    pub(super) load: u64,
    pub(super) max_message: usize,
    pub(super) max_snapshot: usize,
    pub(super) announce_everybody_up_to: usize,
}

/// A participant as the others see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Person<'a> {
    pub(super) state: PresenceState,
    pub(super) user: Option<&'a str>,
    pub(super) presence: &'a [u8],
}

/// The answer to a client that may join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Admission {
    pub(super) participant: ParticipantId,
    pub(super) secret: Secret,
    pub(super) outcome: Outcome,
    /// The counter of the participant's last transaction that the room has.
    pub(super) counter: Counter,
    /// The counter of its last transaction up to the end of the last batch.
    pub(super) confirmed: Counter,
    pub(super) has_been_here: bool,
}

impl ToMirror<'_> {
    /// Appends the frame. `now`: the time to which the ages of messages are counted.
    pub(super) fn write(&self, now: Duration, out: &mut Vec<u8>) {
        put_frame(out, |fields| self.write_fields(now, fields));
    }

    fn write_fields(&self, now: Duration, out: &mut Vec<u8>) -> u8 {
        match self {
            ToMirror::Room(facts) => {
                facts.write(out);
                0
            }
            ToMirror::Channel { channel, name, qos } => {
                out.varint((*channel).into());
                out.bytes(name.as_bytes());
                qos.write(out);
                1
            }
            ToMirror::Bounds { channel, bounds } => {
                out.varint((*channel).into());
                let Bounds { trimmed, covered, reset } = bounds;
                [trimmed, covered, reset].iter().for_each(|place| out.varint(place.get()));
                2
            }
            ToMirror::Part(part) => {
                put_part(part, out);
                3
            }
            ToMirror::Person { id, has_left, person } => {
                out.varint((*id).into());
                put_flag(*has_left, out);
                out.u8(person.state as u8);
                out.bytes(person.user.unwrap_or_default().as_bytes());
                out.bytes(person.presence);
                4
            }
            ToMirror::Transaction { position, counter, message } => {
                put_transaction(now, *position, *counter, message, out);
                5
            }
            ToMirror::Value { index, after, message } => {
                put_value(now, *index, *after, message, out);
                6
            }
            ToMirror::Upstream { channel, share } => {
                out.varint((*channel).into());
                out.varint((*share).into());
                7
            }
            ToMirror::End { durable } => {
                out.varint(durable.get());
                8
            }
            ToMirror::Admitted { seat, admission } => {
                out.varint((*seat).into());
                admission.write(out);
                9
            }
            ToMirror::Refused { seat, error } => {
                out.varint((*seat).into());
                put_error(error, out);
                10
            }
            ToMirror::Tell { seat, frame } => {
                out.varint((*seat).into());
                out.extend_from_slice(frame);
                11
            }
            ToMirror::Close { seat, error } => {
                out.varint((*seat).into());
                put_error(error, out);
                12
            }
            ToMirror::Delay { seat, time } => {
                out.varint((*seat).into());
                out.varint(time.as_micros() as u64);
                13
            }
            ToMirror::Opened { seat } => {
                out.varint((*seat).into());
                14
            }
            ToMirror::Renewed { seat, channel } => {
                out.varint((*seat).into());
                out.varint((*channel).into());
                15
            }
            ToMirror::Direct { position, counter, message } => {
                put_transaction(now, *position, *counter, message, out);
                16
            }
            ToMirror::PartWanted => 17,
            ToMirror::Counter { id, counter } => {
                out.varint((*id).into());
                out.varint((*counter).into());
                18
            }
        }
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// The frame is none that a room of this version writes.
    pub(super) fn read<'a>(now: Duration, r: &mut Reader<'a>) -> Result<ToMirror<'a>, Error> {
        let kind = r.u8()?;
        let mut r = Reader::new(r.bytes(usize::MAX, "frame to a mirror")?, "frame to a mirror");
        let frame = match kind {
            0 => ToMirror::Room(RoomFacts::read(&mut r)?),
            1 => {
                let channel = read_channel(&mut r)?;
                let name = r.text(MAX_CHANNEL_NAME, "channel name")?;
                ToMirror::Channel { channel, name, qos: Qos::read(&mut r)? }
            }
            2 => {
                let channel = read_channel(&mut r)?;
                let (trimmed, covered) = (Position(r.varint()?), Position(r.varint()?));
                let reset = Position(r.varint()?);
                ToMirror::Bounds { channel, bounds: Bounds { trimmed, covered, reset } }
            }
            3 => ToMirror::Part(read_part(&mut r)?),
            4 => {
                let (id, has_left) = (ParticipantId(r.varint_u32()?), read_flag(&mut r)?);
                let state = read_state(&mut r)?;
                let user = Some(r.text(MAX_USER, "user")?).filter(|user| !user.is_empty());
                let presence = r.bytes(MAX_PRESENCE, "presence")?;
                ToMirror::Person { id, has_left, person: Person { state, user, presence } }
            }
            5 => {
                let (position, counter, message) = read_transaction(now, &mut r)?;
                ToMirror::Transaction { position, counter, message }
            }
            6 => {
                let (index, after) = (Index(r.varint_u32()?), Counter(r.varint_u32()?));
                ToMirror::Value { index, after, message: read_message(now, &mut r)? }
            }
            7 => {
                let channel = read_channel(&mut r)?;
                let share = u16::try_from(r.varint()?).map_err(|_| r.malformed())?;
                ToMirror::Upstream { channel, share }
            }
            8 => ToMirror::End { durable: Position(r.varint()?) },
            9 => {
                ToMirror::Admitted { seat: read_link(&mut r)?, admission: Admission::read(&mut r)? }
            }
            10 => ToMirror::Refused { seat: read_link(&mut r)?, error: read_error(&mut r)? },
            11 => ToMirror::Tell { seat: read_link(&mut r)?, frame: r.rest() },
            12 => ToMirror::Close { seat: read_link(&mut r)?, error: read_error(&mut r)? },
            13 => {
                let seat = read_link(&mut r)?;
                ToMirror::Delay { seat, time: Duration::from_micros(r.varint()?) }
            }
            14 => ToMirror::Opened { seat: read_link(&mut r)? },
            15 => ToMirror::Renewed { seat: read_link(&mut r)?, channel: read_channel(&mut r)? },
            16 => {
                let (position, counter, message) = read_transaction(now, &mut r)?;
                ToMirror::Direct { position, counter, message }
            }
            17 => ToMirror::PartWanted,
            18 => {
                let (id, counter) = (ParticipantId(r.varint_u32()?), Counter(r.varint_u32()?));
                ToMirror::Counter { id, counter }
            }
            _ => return Err(Error::Unsupported { frame: kind }),
        };
        r.finish()?;
        Ok(frame)
    }
}

/// Appends [`ToMirror::Transaction`] without a copy of the message.
pub(super) fn write_transaction(
    now: Duration,
    position: Position,
    counter: Counter,
    message: &Message,
    out: &mut Vec<u8>,
) {
    let mut fields = Vec::with_capacity(message.size() + 32);
    put_transaction(now, position, counter, message, &mut fields);
    out.u8(5);
    out.bytes(&fields);
}

/// Appends [`ToMirror::Value`] without a copy of the message.
pub(super) fn write_value(
    now: Duration,
    index: Index,
    after: Counter,
    message: &Message,
    out: &mut Vec<u8>,
) {
    let mut fields = Vec::with_capacity(message.size() + 32);
    put_value(now, index, after, message, &mut fields);
    out.u8(6);
    out.bytes(&fields);
}

/// Appends [`ToMirror::Part`] without a copy of the part.
pub(super) fn write_part(part: &Part, out: &mut Vec<u8>) {
    let mut fields = Vec::with_capacity(part.bytes.len() + 64);
    put_part(part, &mut fields);
    out.u8(3);
    out.bytes(&fields);
}

fn put_transaction(
    now: Duration,
    position: Position,
    counter: Counter,
    message: &Message,
    out: &mut Vec<u8>,
) {
    out.varint(position.get());
    out.varint(counter.into());
    put_message(now, message, out);
}

fn read_transaction(
    now: Duration,
    r: &mut Reader<'_>,
) -> Result<(Position, Counter, Message), Error> {
    Ok((Position(r.varint()?), Counter(r.varint_u32()?), read_message(now, r)?))
}

fn put_value(now: Duration, index: Index, after: Counter, message: &Message, out: &mut Vec<u8>) {
    out.varint(index.into());
    out.varint(after.into());
    put_message(now, message, out);
}

/// Writes a part of the snapshot, towards either end.
pub(super) fn put_part(part: &Part, out: &mut Vec<u8>) {
    let Part { name, channels, as_of, bytes, counters } = part;
    out.bytes(name.as_bytes());
    out.varint(as_of.get());
    out.varint(channels.len() as u64);
    channels.iter().for_each(|channel| out.varint((*channel).into()));
    out.varint(counters.len() as u64);
    for (participant, counter) in counters {
        out.varint((*participant).into());
        out.varint((*counter).into());
    }
    out.bytes(bytes);
}

pub(super) fn read_part(r: &mut Reader<'_>) -> Result<Part, Error> {
    let name = String::from(r.text(MAX_PART_NAME, "part name")?);
    let as_of = Position(r.varint()?);
    let mut channels = Vec::new();
    for _ in 0..r.varint()? {
        let channel = read_channel(r)?;
        if channels.last().is_some_and(|last| *last >= channel) {
            return Err(r.malformed());
        }
        channels.push(channel);
    }
    let mut counters = BTreeMap::new();
    for _ in 0..r.varint()? {
        counters.insert(ParticipantId(r.varint_u32()?), Counter(r.varint_u32()?));
    }
    let bytes = r.bytes(MAX_STORED_PART, "part of a snapshot")?.into();
    Ok(Part { name, channels, as_of, bytes, counters })
}

impl RoomFacts {
    fn write(&self, out: &mut Vec<u8>) {
        out.u64(self.incarnation);
        out.u8(self.durability.to_wire());
        out.u64(self.load);
        let numbers = [self.max_message, self.max_snapshot, self.announce_everybody_up_to];
        numbers.iter().for_each(|number| out.varint(*number as u64));
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        let incarnation = r.u64()?;
        let durability = Durability::from_wire(r.u8()?).ok_or_else(|| r.malformed())?;
        let load = r.u64()?;
        let mut number = || r.varint().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        Ok(RoomFacts {
            incarnation,
            durability,
            load,
            max_message: number()?,
            max_snapshot: number()?,
            announce_everybody_up_to: number()?,
        })
    }
}

impl Admission {
    fn write(&self, out: &mut Vec<u8>) {
        out.varint(self.participant.into());
        out.extend_from_slice(&self.secret);
        out.u8(match self.outcome {
            Outcome::New => 0,
            Outcome::Resumed => 1,
            Outcome::Lost => 2,
        });
        out.varint(self.counter.into());
        out.varint(self.confirmed.into());
        put_flag(self.has_been_here, out);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        let (participant, secret) = (ParticipantId(r.varint_u32()?), r.array()?);
        let outcome = match r.u8()? {
            0 => Outcome::New,
            1 => Outcome::Resumed,
            2 => Outcome::Lost,
            _ => return Err(r.malformed()),
        };
        let (counter, confirmed) = (Counter(r.varint_u32()?), Counter(r.varint_u32()?));
        let has_been_here = read_flag(r)?;
        Ok(Admission { participant, secret, outcome, counter, confirmed, has_been_here })
    }
}
