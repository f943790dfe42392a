//! The frames of which a packet consists (wire W3, W6).

mod payload;

use alloc::string::ToString;
use alloc::vec::Vec;

use super::handshake::{Hello, Welcome};
use super::io::{Reader, Write, clip};
use super::snapshot::Chunk;
use crate::error::Fault;
use crate::ids::{ChannelNo, Counter, GroupId, ParticipantId, Position};
use crate::limits::MAX_DETAIL;
use crate::trace::Carrier;
use crate::{Compress, Durability, Error, Qos, Rate, Receipt};

/// Bit 7 of a tag: the frame has no length and ends with the packet.
const LAST: u8 = 0x80;
/// Bit 6 of a tag: a receiver that does not know the type of the frame skips it.
const OPTIONAL: u8 = 0x40;

/// One frame. It borrows from the packet that it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame<'a> {
    Hello(Hello<'a>),
    Welcome(Welcome),
    /// What a transaction of this room survives, and a number that changes whenever the room lost its awareness (wire W94).
    Room {
        durability: Durability,
        load: u64,
    },
    Open {
        reference: u32,
        access: Access,
        name: &'a str,
        qos: Qos,
        have: Position,
        compress: Compress,
    },
    Channel {
        reference: u32,
        id: ChannelNo,
        access: Access,
        name: &'a str,
        qos: Qos,
    },
    Shut {
        id: ChannelNo,
    },
    Messages(&'a [u8]),
    Coded(&'a [u8]),
    /// A payload that a codec packed as a whole (wire W54).
    PackedMessages(&'a [u8]),
    Presence(&'a [u8]),
    Participants {
        complete: bool,
        list: Vec<ParticipantEntry<'a>>,
    },
    /// From a client: the application can make this part of the snapshot (wire W95). From the server: the part follows in
    /// chunks.
    Part {
        part: u32,
        /// The receiver's own last transaction that the part covers; 0 from a client.
        counter: Counter,
        name: &'a str,
        channels: Vec<ChannelNo>,
    },
    Snapshot(Chunk<'a>),
    /// A piece of a part of the snapshot whose bytes are packed (wire W53).
    PackedSnapshot(Chunk<'a>),
    SnapshotWanted {
        part: u32,
        at_least: Position,
    },
    Synced {
        channel: ChannelNo,
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
    Position(Position),
    /// A channel was reset up to this position; a GAP follows (wire W102).
    Reset {
        channel: ChannelNo,
        position: Position,
    },
    /// Transactions of a channel up to this position can no longer be had (wire W33).
    Gap {
        channel: ChannelNo,
        position: Position,
    },
    /// The receiver's own transactions up to this counter are ordered (wire W96).
    Ordered {
        counter: Counter,
    },
    /// The application has its transactions for it alone up to this position (wire W115).
    Received {
        position: Position,
    },
    /// The outcome of the receiver's own direct transaction with this counter (wire W116).
    Receipt {
        counter: Counter,
        receipt: Receipt,
    },
    /// Another token of the participant (wire W98).
    Token(&'a [u8]),
    /// The server wants another token, because the participant's expires soon (wire W98).
    TokenWanted,
    /// The participant is above a quota: it should send no transaction with this counter or a later one for this time (wire
    /// W99).
    Hold {
        counter: Counter,
        hold_ms: u64,
    },
    /// The number of participants of a room that is large, or no longer is (wire W103).
    Count {
        /// True if PARTICIPANTS lists all participants.
        everybody: bool,
        count: u32,
    },
    /// Asks for participants with numbers above this one (wire W105).
    PageWanted {
        after: ParticipantId,
    },
    /// Participants with numbers above `after`, in the order of their numbers (wire W105).
    Page {
        after: ParticipantId,
        /// True if no others follow.
        last: bool,
        list: Vec<ParticipantEntry<'a>>,
    },
    /// The codecs that the sender of the frame can read: bit n stands for codec n (wire W46).
    Codecs {
        set: u64,
    },
    Compress {
        id: ChannelNo,
        compress: Compress,
    },
    /// A receiver's list of the datagrams of a fan-out group that arrived. `rest` is an encoded
    /// [`Acknowledged`](super::acknowledged::Acknowledged) (wire W72).
    Acknowledged {
        group: GroupId,
        rest: &'a [u8],
    },
    /// A piece of the snapshot of a fan-out group's compression model. The receiver is in the group once it has all
    /// pieces (wire W61, W71).
    Model {
        carrier: Carrier,
        group: GroupId,
        total: u32,
        offset: u32,
        rest: &'a [u8],
    },
    /// A payload that the server sends to all receivers of a fan-out group over their streams (wire W62).
    Shared(&'a [u8]),
    /// A payload that the server sends to all receivers of a fan-out group as a datagram (wire W70).
    SharedDatagram {
        group: GroupId,
        rest: &'a [u8],
    },
    /// A payload of a fan-out group whose datagram a receiver lacks. The server sends it over the stream, `waited` ms
    /// after it made the payload (wire W74).
    SharedAgain {
        group: GroupId,
        waited: u32,
        rest: &'a [u8],
    },
    /// The receiver is no longer in the group on this carrier (wire W64, W75).
    Leave {
        carrier: Carrier,
        group: GroupId,
        rest: &'a [u8],
    },
    /// Asks for another QoS of an open channel (wire W77).
    Change {
        id: ChannelNo,
        qos: Qos,
    },
    /// The highest rate at which this receiver wants values of each key of a channel; zero: only the QoS limits the rate
    /// (wire W78).
    Rate {
        id: ChannelNo,
        rate: Rate,
    },
    /// Send times and measurements for QoS contracts (wire W79, W80).
    Contract(&'a [u8]),
    /// From the server: the time between two quality reports that it wants. From a client: a quality report (wire W84).
    Quality(&'a [u8]),
}

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

    fn write(self, out: &mut Vec<u8>) {
        out.u8(u8::from(self.publish) | u8::from(self.subscribe) << 1);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
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

    /// The next frame whose type this end knows; `None` at the end of the packet. Unknown optional frames are skipped.
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

/// The tags of frames that contain a payload and end their packet. Such frames have no length.
pub(crate) const MESSAGES_LAST: u8 = LAST | 0x06;
pub(crate) const CODED_LAST: u8 = LAST | 0x07;
pub(crate) const SHARED_LAST: u8 = LAST | 0x1d;
#[cfg(feature = "ace")]
pub(crate) const PACKED_LAST: u8 = LAST | 0x1c;

/// The first byte of a datagram of a fan-out group, and the first byte of a datagram that begins with acknowledgements
/// of such datagrams. No other datagram begins with one of these two bytes.
pub(crate) const SHARED_DATAGRAM_LAST: u8 = LAST | 0x1e;
pub(crate) const ACKNOWLEDGED: u8 = 0x16;

/// Appends the header of a datagram of a fan-out group: the tag and the group's number. The caller appends the payload,
/// which ends with the datagram.
pub(crate) fn shared_datagram(group: GroupId, out: &mut Vec<u8>) {
    out.u8(SHARED_DATAGRAM_LAST);
    out.varint(u64::from(group));
}

impl<'a> Frame<'a> {
    /// Appends the frame with tag and length.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut payload = Vec::new();
        let kind = self.write_payload(&mut payload);
        out.u8(kind);
        out.bytes(&payload);
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

    /// W100: a participant without a user costs no byte for it, and nothing but the stated forms is accepted.
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
