//! The frames of which a packet consists (wire W3, W6).

mod fields;
mod kinds;

use alloc::string::ToString;
use alloc::vec::Vec;

use kinds::{LAST, OPTIONAL, tag};

pub(crate) use fields::ParticipantEntry;
pub use fields::{Access, PresenceState};
pub(crate) use kinds::Frame;

use super::io::{Reader, Write, clip};
use crate::Error;
use crate::ids::GroupId;
use crate::limits::MAX_DETAIL;

/// Reads the frames of a packet one by one.
pub(crate) struct Frames<'a> {
    rest: &'a [u8],
}

impl<'a> Frames<'a> {
    pub(crate) fn new(packet: &'a [u8]) -> Self {
        Frames { rest: packet }
    }

    /// The frames that have not been read yet, as bytes.
    pub(crate) fn remaining(&self) -> &'a [u8] {
        self.rest
    }

    /// The next frame whose type this end knows; `None` at the end of the packet. Unknown optional
    /// frames are skipped.
    pub(crate) fn next(&mut self) -> Result<Option<Frame<'a>>, Error> {
        while let Some((&tag, rest)) = self.rest.split_first() {
            let mut reader = Reader::new(rest, "frame");
            let fields =
                if tag & LAST != 0 { reader.rest() } else { reader.bytes(usize::MAX, "frame")? };
            self.rest = reader.rest();
            let kind = tag & !(LAST | OPTIONAL);
            match Frame::read(kind, fields)? {
                Some(frame) => return Ok(Some(frame)),
                None if tag & OPTIONAL != 0 => {}
                None => return Err(Error::Unsupported { frame: kind }),
            }
        }
        Ok(None)
    }
}

/// The tags of frames that contain a payload and end their packet. Such frames have no length.
pub(crate) const MESSAGES_LAST: u8 = LAST | tag::MESSAGES;
pub(crate) const CODED_LAST: u8 = LAST | tag::CODED;
pub(crate) const SHARED_LAST: u8 = LAST | tag::SHARED;
#[cfg(feature = "ace")]
pub(crate) const PACKED_LAST: u8 = LAST | tag::PACKED_MESSAGES;

/// The first byte of a datagram of a fan-out group, and the first byte of a datagram that begins
/// with acknowledgements of such datagrams. No other datagram begins with one of these two bytes.
pub(crate) const SHARED_DATAGRAM_LAST: u8 = LAST | tag::SHARED_DATAGRAM;
pub(crate) const ACKNOWLEDGED: u8 = tag::ACKNOWLEDGED;

/// Appends the header of a datagram of a fan-out group: the tag and the group's number. The caller
/// appends the payload, which ends with the datagram.
pub(crate) fn shared_datagram(group: GroupId, out: &mut Vec<u8>) {
    out.u8(SHARED_DATAGRAM_LAST);
    out.varint(u64::from(group));
}

impl Frame<'_> {
    /// Appends the frame with tag and length.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut fields = Vec::new();
        let tag = self.write_fields(&mut fields);
        out.u8(tag);
        out.bytes(&fields);
    }
}

/// Appends an ERROR frame.
pub(crate) fn error_frame(error: &Error, fatal: bool, subject: u32, out: &mut Vec<u8>) {
    let detail = error.to_string();
    let detail = clip(&detail, MAX_DETAIL);
    Frame::Error { code: error.code(), fault: error.fault(), fatal, subject, detail }.write(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Fault;
    use crate::ids::{ChannelNo, Counter, ParticipantId, Position};
    use crate::wire::handshake::Hello;
    use crate::wire::snapshot::Chunk;
    use crate::{Compress, Durability, Qos, Rate, Receipt};
    use alloc::vec;
    use proptest::prelude::*;

    fn examples() -> Vec<Frame<'static>> {
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
                have: Position(7),
                compress: Compress::Named(groupwire_codecs::Choice::codec(1)),
            },
            Frame::Channel {
                reference: 3,
                id: ChannelNo(9),
                access: Access::FULL,
                name: "pointer",
                qos,
            },
            Frame::Shut { id: ChannelNo(9) },
            Frame::Presence(b"me"),
            Frame::Participants {
                complete: true,
                list: vec![
                    ParticipantEntry {
                        id: ParticipantId(4),
                        state: PresenceState::Away,
                        user: None,
                        presence: b"x",
                    },
                    ParticipantEntry {
                        id: ParticipantId(5),
                        state: PresenceState::Here,
                        user: Some("ann"),
                        presence: b"",
                    },
                ],
            },
            Frame::Snapshot(Chunk {
                part: 2,
                as_of: Position(1),
                total: 10,
                offset: 0,
                bytes: b"chunk",
            }),
            Frame::PackedSnapshot(Chunk {
                part: 2,
                as_of: Position(1),
                total: 10,
                offset: 0,
                bytes: b"packed",
            }),
            Frame::SnapshotWanted { part: 1, at_least: Position(300) },
            Frame::Part {
                part: 3,
                counter: Counter(300),
                name: "shapes",
                channels: vec![ChannelNo(1), ChannelNo(300)],
            },
            Frame::Synced { channel: ChannelNo(0) },
            Frame::Ping { time: 1 << 40 },
            Frame::Pong { time: 1, received: 2, sent: 3 },
            Frame::Error { code: 2, fault: Fault::Limit, fatal: true, subject: 0, detail: "no" },
            Frame::Bye { reason: 1, retry_ms: 200 },
            Frame::Position(Position(5)),
            Frame::Reset { channel: ChannelNo(1), position: Position(6) },
            Frame::Gap { channel: ChannelNo(1), position: Position(6) },
            Frame::Ordered { counter: Counter(300) },
            Frame::Received { position: Position(300) },
            Frame::Receipt { counter: Counter(300), receipt: Receipt::NotOpen },
            Frame::Token(b"another"),
            Frame::TokenWanted,
            Frame::Owner { after_ms: 300, address: "https://gw-2.example", port: 443 },
            Frame::Hold { counter: Counter(300), hold_ms: 4000 },
            Frame::Codecs { set: 0x1fff },
            Frame::Compress { id: ChannelNo(300), compress: Compress::Auto },
            Frame::Change { id: ChannelNo(300), qos },
            Frame::Rate { id: ChannelNo(300), rate: Rate::per_second(10) },
            Frame::Room { durability: Durability::Local, load: 77 },
            Frame::Count { everybody: false, count: 10_000 },
            Frame::PageWanted { after: ParticipantId(300) },
            Frame::Page {
                after: ParticipantId(3),
                last: true,
                list: vec![ParticipantEntry {
                    id: ParticipantId(5),
                    state: PresenceState::Here,
                    user: Some("ann"),
                    presence: b"x",
                }],
            },
        ]
    }

    #[test]
    fn every_frame_reads_as_it_was_written() {
        let frames = examples();
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
        for frame in examples() {
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
        assert_eq!(Frames::new(&packet).next(), Ok(Some(Frame::Synced { channel: ChannelNo(0) })));
        let packet = [0x3f, 0];
        assert_eq!(Frames::new(&packet).next(), Err(Error::Unsupported { frame: 0x3f }));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(packet: Vec<u8>) {
            let mut frames = Frames::new(&packet);
            while let Ok(Some(_)) = frames.next() {}
        }
    }

    /// W100: a participant without a user costs no byte for it, and nothing but the stated forms is
    /// accepted.
    #[test]
    fn w100_a_user_is_read_as_it_was_written_and_in_no_other_form() {
        let with = |state: PresenceState, user: Option<&str>| {
            let (id, presence) = (ParticipantId(4), &b"x"[..]);
            let mut packet = Vec::new();
            let list = vec![ParticipantEntry { id, state, user, presence }];
            Frame::Participants { complete: false, list }.write(&mut packet);
            packet
        };
        assert_eq!(with(PresenceState::Here, None), [0x0a, 5, 0, 4, 1, 1, b'x']);
        assert_eq!(with(PresenceState::Away, Some("a")), [0x0a, 7, 0, 4, 6, 1, b'a', 1, b'x']);
        let read = |packet: &[u8]| Frames::new(packet).next().map(|_| ());
        assert_eq!(read(&with(PresenceState::Here, Some(&"u".repeat(256)))), Ok(()));
        let large = read(&with(PresenceState::Here, Some(&"u".repeat(257))));
        assert!(matches!(large, Err(Error::TooLarge { what: "user", .. })), "{large:?}");
        let text = read(&[0x0a, 7, 0, 4, 6, 1, 0xff, 1, b'x']);
        assert!(matches!(text, Err(Error::InvalidText { .. })), "{text:?}");
        assert!(matches!(read(&with(PresenceState::Here, Some(""))), Err(Error::Malformed { .. })));
        for state in [3, 4, 7, 8, 255] {
            let one = read(&[0x0a, 7, 0, 4, state, 1, b'a', 1, b'x']);
            assert!(matches!(one, Err(Error::Malformed { .. })), "{state}: {one:?}");
        }
    }
}
