//! Packets are frames, one after the other (wire.md W3, W6).

use alloc::vec::Vec;

use super::handshake::{Hello, Welcome};
use super::io::{Reader, Write};
use super::snapshot::Chunk;
use crate::error::Fault;
use crate::limits::{MAX_CHANNEL_NAME, MAX_DETAIL, MAX_PRESENCE};
use crate::{Compress, Error, Qos};

/// Bit 7 of a tag: the payload runs to the end of the packet.
const LAST: u8 = 0x80;
/// Bit 6 of a tag: a receiver that does not know the type skips the frame.
const OPTIONAL: u8 = 0x40;

/// One frame; borrowed from the packet it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame<'a> {
    Hello(Hello<'a>),
    Welcome(Welcome),
    Open {
        reference: u32,
        access: Access,
        name: &'a str,
        qos: Qos,
        have: u64,
        compress: Compress,
    },
    Channel {
        reference: u32,
        id: u32,
        access: Access,
        name: &'a str,
        qos: Qos,
    },
    Shut {
        id: u32,
    },
    Messages(&'a [u8]),
    Coded(&'a [u8]),
    /// A body of messages, packed as a whole (W54).
    PackedMessages(&'a [u8]),
    Presence(&'a [u8]),
    Participants {
        complete: bool,
        list: Vec<ParticipantEntry<'a>>,
    },
    Snapshot(Chunk<'a>),
    /// The same with its octets packed (W53).
    PackedSnapshot(Chunk<'a>),
    SnapshotWanted {
        at_least: u64,
    },
    Synced {
        channel: u32,
    },
    Ping {
        time: u64,
    },
    Pong {
        time: u64,
        received: u64,
        sent: u64,
    },
    Error {
        code: u32,
        fault: Fault,
        fatal: bool,
        subject: u32,
        detail: &'a str,
    },
    Bye {
        reason: u32,
        retry_ms: u64,
    },
    Position(u64),
    Gap {
        position: u64,
        counter: u32,
    },
    /// What came of the other end's datagrams, as gmc acknowledges it.
    Feedback(&'a [u8]),
    /// Which codecs can be read here: bit n for number n.
    Codecs {
        set: u64,
    },
    Compress {
        id: u32,
        compress: Compress,
    },
}

/// What a participant may do with a channel (W17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Send messages.
    pub publish: bool,
    /// Be sent messages.
    pub subscribe: bool,
}

impl Access {
    /// Both.
    pub const FULL: Access = Access { publish: true, subscribe: true };

    /// What both of two grants allow.
    #[must_use]
    pub const fn and(self, other: Access) -> Access {
        Access {
            publish: self.publish && other.publish,
            subscribe: self.subscribe && other.subscribe,
        }
    }

    fn write(self, out: &mut Vec<u8>) {
        out.u8(u8::from(self.publish) | u8::from(self.subscribe) << 1);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let bits = reader.u8()?;
        Ok(Access { publish: bits & 1 != 0, subscribe: bits & 2 != 0 })
    }
}

/// Whether a participant is there (W34).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresenceState {
    /// Gone for good.
    Left,
    /// Connected.
    Here,
    /// Its connection broke; it may come back.
    Away,
}

/// One line of a PARTICIPANTS frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ParticipantEntry<'a> {
    pub(crate) id: u32,
    pub(crate) state: PresenceState,
    pub(crate) presence: &'a [u8],
}

/// The frames of a packet.
pub(crate) struct Frames<'a> {
    rest: &'a [u8],
}

impl<'a> Frames<'a> {
    pub(crate) fn new(packet: &'a [u8]) -> Self {
        Frames { rest: packet }
    }

    /// What has not been read yet.
    pub(crate) fn remaining(&self) -> &'a [u8] {
        self.rest
    }

    /// The next frame that this end knows; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Frame<'a>>, Error> {
        while let Some((&tag, rest)) = self.rest.split_first() {
            let mut reader = Reader::new(rest, "frame");
            let payload =
                if tag & LAST != 0 { reader.rest() } else { reader.bytes(usize::MAX, "frame")? };
            self.rest = reader.rest();
            let kind = tag & 0x3f;
            match Frame::read(kind, payload)? {
                Some(frame) => return Ok(Some(frame)),
                None if tag & OPTIONAL != 0 => {}
                None => return Err(Error::Unsupported { frame: kind }),
            }
        }
        Ok(None)
    }
}

/// Tags of the body frames, which stand last in their packet.
pub(crate) const MESSAGES_LAST: u8 = LAST | 0x06;
pub(crate) const CODED_LAST: u8 = LAST | 0x07;
#[cfg(feature = "ace")]
pub(crate) const PACKED_LAST: u8 = LAST | 0x1c;

impl<'a> Frame<'a> {
    /// Appends the frame with its length.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut payload = Vec::new();
        let kind = self.write_payload(&mut payload);
        out.u8(kind);
        out.bytes(&payload);
    }

    fn write_payload(&self, out: &mut Vec<u8>) -> u8 {
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
                out.varint(*have);
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
            Frame::Messages(body) => {
                out.extend_from_slice(body);
                0x06
            }
            Frame::Coded(body) => {
                out.extend_from_slice(body);
                0x07
            }
            Frame::Presence(presence) => {
                out.extend_from_slice(presence);
                0x09
            }
            Frame::Participants { complete, list } => {
                out.u8(u8::from(*complete));
                for entry in list {
                    out.varint(u64::from(entry.id));
                    out.u8(entry.state as u8);
                    out.bytes(entry.presence);
                }
                0x0a
            }
            Frame::Snapshot(chunk) => {
                chunk.write(out);
                0x0b
            }
            Frame::SnapshotWanted { at_least } => {
                out.varint(*at_least);
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
                out.varint(*position);
                0x12
            }
            Frame::Gap { position, counter } => {
                out.varint(*position);
                out.varint(u64::from(*counter));
                0x13
            }
            Frame::Feedback(acknowledgement) => {
                out.extend_from_slice(acknowledgement);
                0x15
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
        }
    }

    /// `None`: a type that this version does not know.
    fn read(kind: u8, payload: &'a [u8]) -> Result<Option<Self>, Error> {
        let mut r = Reader::new(payload, frame_name(kind));
        let frame = match kind {
            0x01 => Frame::Hello(Hello::read(&mut r)?),
            0x02 => Frame::Welcome(Welcome::read(&mut r)?),
            0x03 => Frame::Open {
                reference: r.varint_u32()?,
                access: Access::read(&mut r)?,
                name: r.text(MAX_CHANNEL_NAME, "channel name")?,
                qos: Qos::read(&mut r)?,
                have: r.varint()?,
                compress: Compress::read(&mut r)?,
            },
            0x04 => Frame::Channel {
                reference: r.varint_u32()?,
                id: r.varint_u32()?,
                access: Access::read(&mut r)?,
                name: r.text(MAX_CHANNEL_NAME, "channel name")?,
                qos: Qos::read(&mut r)?,
            },
            0x05 => Frame::Shut { id: r.varint_u32()? },
            0x06 => Frame::Messages(r.rest()),
            0x07 => Frame::Coded(r.rest()),
            0x09 => Frame::Presence(r.rest()),
            0x0a => read_participants(&mut r)?,
            0x0b => Frame::Snapshot(Chunk::read(&mut r)?),
            0x0c => Frame::SnapshotWanted { at_least: r.varint()? },
            0x0d => Frame::Synced { channel: r.varint_u32()? },
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
            0x12 => Frame::Position(r.varint()?),
            0x13 => Frame::Gap { position: r.varint()?, counter: r.varint_u32()? },
            0x15 => Frame::Feedback(r.rest()),
            0x19 => Frame::Codecs { set: r.varint()? },
            0x1a => Frame::Compress { id: r.varint_u32()?, compress: Compress::read(&mut r)? },
            0x1b => Frame::PackedSnapshot(Chunk::read(&mut r)?),
            0x1c => Frame::PackedMessages(r.rest()),
            _ => return Ok(None),
        };
        r.finish()?;
        Ok(Some(frame))
    }
}

fn read_participants<'a>(reader: &mut Reader<'a>) -> Result<Frame<'a>, Error> {
    let complete = reader.u8()? != 0;
    let mut list = Vec::new();
    while !reader.is_empty() {
        let id = reader.varint_u32()?;
        let state = match reader.u8()? {
            0 => PresenceState::Left,
            1 => PresenceState::Here,
            2 => PresenceState::Away,
            _ => return Err(reader.malformed()),
        };
        let presence = reader.bytes(MAX_PRESENCE, "presence")?;
        list.push(ParticipantEntry { id, state, presence });
    }
    Ok(Frame::Participants { complete, list })
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
        0x15 => "FEEDBACK",
        0x19 => "CODECS",
        0x1a => "COMPRESS",
        0x1b => "PACKED_SNAPSHOT",
        0x1c => "PACKED_MESSAGES",
        _ => "frame",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn all_kinds() -> Vec<Frame<'static>> {
        let qos = Qos::awareness();
        vec![
            Frame::Hello(Hello {
                lowest: 1,
                capabilities: 1,
                max_packet: 65_536,
                max_message: 1000,
                room: "demo",
                token: b"t",
                presence: b"{}",
                resume: None,
            }),
            Frame::Open {
                reference: 3,
                access: Access::FULL,
                name: "pointer",
                qos,
                have: 7,
                compress: Compress::Named(groupwire_codecs::Choice::codec(1)),
            },
            Frame::Channel { reference: 3, id: 9, access: Access::FULL, name: "pointer", qos },
            Frame::Shut { id: 9 },
            Frame::Presence(b"me"),
            Frame::Participants {
                complete: true,
                list: vec![ParticipantEntry { id: 4, state: PresenceState::Away, presence: b"x" }],
            },
            Frame::Snapshot(Chunk { as_of: 1, counter: 2, total: 10, offset: 0, bytes: b"chunk" }),
            Frame::PackedSnapshot(Chunk {
                as_of: 1,
                counter: 2,
                total: 10,
                offset: 0,
                bytes: b"packed",
            }),
            Frame::SnapshotWanted { at_least: 300 },
            Frame::Synced { channel: 0 },
            Frame::Ping { time: 1 << 40 },
            Frame::Pong { time: 1, received: 2, sent: 3 },
            Frame::Error { code: 2, fault: Fault::Limit, fatal: true, subject: 0, detail: "no" },
            Frame::Bye { reason: 1, retry_ms: 200 },
            Frame::Position(5),
            Frame::Gap { position: 6, counter: 1 },
            Frame::Codecs { set: 0x1fff },
            Frame::Compress { id: 300, compress: Compress::Auto },
        ]
    }

    #[test]
    fn every_frame_reads_as_it_was_written() {
        let frames = all_kinds();
        let mut packet = Vec::new();
        frames.iter().for_each(|frame| frame.write(&mut packet));
        let mut reader = Frames::new(&packet);
        for frame in frames {
            assert_eq!(reader.next(), Ok(Some(frame)));
        }
        assert_eq!(reader.next(), Ok(None));
    }

    #[test]
    fn w3_every_truncation_is_an_error() {
        for frame in all_kinds() {
            let mut packet = Vec::new();
            frame.write(&mut packet);
            for cut in 1..packet.len() {
                assert!(Frames::new(&packet[..cut]).next().is_err(), "{frame:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn w6_unknown_frames_are_skipped_only_when_optional() {
        let packet = [0x3f | OPTIONAL, 2, 0xaa, 0xbb, 0x0d, 1, 0];
        assert_eq!(Frames::new(&packet).next(), Ok(Some(Frame::Synced { channel: 0 })));
        let packet = [0x3f, 0];
        assert_eq!(Frames::new(&packet).next(), Err(Error::Unsupported { frame: 0x3f }));
    }

    proptest! {
        #[test]
        fn random_octets_never_panic(packet: Vec<u8>) {
            let mut frames = Frames::new(&packet);
            while let Ok(Some(_)) = frames.next() {}
        }
    }
}
