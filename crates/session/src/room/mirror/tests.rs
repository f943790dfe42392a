//! The frames between a room and its mirrors read as they were written, and nothing else is read.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use proptest::prelude::*;

use super::down::{Admission, Person, RoomFacts, ToMirror};
use super::up::ToRoom;
use crate::room::log::{Bounds, Message, Part};
use crate::wire::handshake::Outcome;
use crate::wire::io::Reader;
use crate::wire::piece::Piece;
use crate::{
    Access, ChannelNo, Counter, Durability, Error, Fault, Identity, Index, LinkId, ParticipantId,
    Position, PresenceState, Qos, Receipt,
};

const NOW: Duration = Duration::from_secs(100);

fn message() -> Message {
    Message {
        channel: ChannelNo(300),
        sender: ParticipantId(7),
        key: Some(b"key"[..].into()),
        priority: Some(9),
        departed: Some(ParticipantId(4)),
        to: Some(ParticipantId(5)),
        text: true,
        piece: Piece::Middle,
        bytes: b"content"[..].into(),
        born: Duration::from_secs(93),
    }
}

fn part() -> Part {
    Part {
        name: "shapes".into(),
        channels: vec![ChannelNo(1), ChannelNo(300)],
        as_of: Position(1 << 30),
        bytes: b"state".into(),
        counters: BTreeMap::from([(ParticipantId(3), Counter(9))]),
    }
}

fn error() -> Error {
    Error::Remote { code: 17, fault: Fault::Limit, detail: "not now".into() }
}

fn to_mirror() -> Vec<ToMirror<'static>> {
    let (seat, channel, position) = (LinkId(1 << 40), ChannelNo(300), Position(400));
    let (id, counter) = (ParticipantId(300), Counter(12));
    let person = |state| Person { state, user: Some("ann"), presence: b"here" };
    let admission = Admission {
        participant: id,
        secret: [7; 16],
        outcome: Outcome::Lost,
        counter,
        confirmed: Counter(11),
        has_been_here: true,
    };
    vec![
        ToMirror::Room(RoomFacts {
            incarnation: u64::MAX,
            durability: Durability::Cluster,
            load: 3,
            max_message: 60_000,
            max_snapshot: 4 << 20,
            announce_everybody_up_to: 256,
        }),
        ToMirror::Channel { channel, name: "pointers", qos: Qos::awareness() },
        ToMirror::Bounds {
            channel,
            bounds: Bounds { trimmed: position, covered: Position(3), reset: Position(0) },
        },
        ToMirror::Part(part()),
        ToMirror::Person { id, has_left: true, person: person(PresenceState::Away) },
        ToMirror::Transaction { position, counter, message: message() },
        ToMirror::Value { index: Index(u32::MAX), after: counter, message: message() },
        ToMirror::Upstream { channel, share: 1000 },
        ToMirror::Counter { id, counter },
        ToMirror::End { durable: position },
        ToMirror::Admitted { seat, admission },
        ToMirror::Refused { seat, error: error() },
        ToMirror::Tell { seat, frame: b"frame" },
        ToMirror::Close { seat, error: error() },
        ToMirror::Delay { seat, time: Duration::from_millis(300) },
        ToMirror::Opened { seat },
        ToMirror::Renewed { seat, channel },
        ToMirror::Direct { position, counter, message: message() },
        ToMirror::PartWanted,
    ]
}

fn to_room() -> Vec<ToRoom<'static>> {
    let (seat, channel, counter) = (LinkId(1 << 40), ChannelNo(300), Counter(12));
    let identity = Identity { subject: b"ann".into(), rights: b"all".into() };
    let (access, qos) = (Access { publish: false, subscribe: true }, Qos::transaction());
    vec![
        ToRoom::Join { seat, identity: identity.clone(), opening: b"opening" },
        ToRoom::Transaction { seat, counter, message: message() },
        ToRoom::Value { seat, index: Index(300), after: counter, message: message() },
        ToRoom::Closed { seat, error: Some(error()) },
        ToRoom::Closed { seat, error: None },
        ToRoom::Left { seat },
        ToRoom::Open { seat, access, name: "text", qos },
        ToRoom::Change { seat, channel, access, qos },
        ToRoom::Presence { seat, presence: b"here" },
        ToRoom::Renewed { seat, identity },
        ToRoom::Settled {
            to: ParticipantId(5),
            position: Position(400),
            receipt: Receipt::NotOpen,
        },
        ToRoom::Receivers { receivers: vec![(channel, 20_000), (ChannelNo(301), 1)] },
        ToRoom::Offered { channels: vec![ChannelNo(1), channel] },
        ToRoom::Part(part()),
    ]
}

#[test]
fn every_frame_reads_as_it_was_written_and_no_beginning_of_one_does() {
    for frame in to_mirror() {
        let mut bytes = Vec::new();
        frame.write(NOW, &mut bytes);
        let mut reader = Reader::new(&bytes, "frame");
        assert_eq!(ToMirror::read(NOW, &mut reader), Ok(frame));
        assert!(reader.is_empty());
        for cut in 0..bytes.len() {
            assert!(ToMirror::read(NOW, &mut Reader::new(&bytes[..cut], "frame")).is_err());
        }
    }
    for frame in to_room() {
        let mut bytes = Vec::new();
        frame.write(NOW, &mut bytes);
        let mut reader = Reader::new(&bytes, "frame");
        assert_eq!(ToRoom::read(NOW, &mut reader), Ok(frame));
        assert!(reader.is_empty());
        for cut in 0..bytes.len() {
            assert!(ToRoom::read(NOW, &mut Reader::new(&bytes[..cut], "frame")).is_err());
        }
    }
}

/// The ages of messages count from the clock of each end.
#[test]
fn a_message_has_the_same_age_on_another_clock() {
    let mut bytes = Vec::new();
    let frame = ToRoom::Transaction { seat: LinkId(1), counter: Counter(1), message: message() };
    frame.write(NOW, &mut bytes);
    let later = NOW * 2;
    let read = ToRoom::read(later, &mut Reader::new(&bytes, "frame"));
    let Ok(ToRoom::Transaction { message: read, .. }) = read else { panic!("{read:?}") };
    assert_eq!(later - read.born, NOW - message().born);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>, kind in 0u8..20) {
        let mut framed = vec![kind, bytes.len().min(127) as u8];
        framed.extend(&bytes);
        for bytes in [&bytes, &framed] {
            let _ = ToMirror::read(NOW, &mut Reader::new(bytes, "frame"));
            let _ = ToRoom::read(NOW, &mut Reader::new(bytes, "frame"));
        }
    }
}
