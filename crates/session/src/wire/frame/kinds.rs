//! The kinds of frames: what a frame of each kind has, and how it is written and read. The table of
//! types in docs/wire/session.md says which end sends each kind.

use alloc::vec::Vec;

use super::fields::{Access, AnyBool, EightBytes, Field, ParticipantEntry, Rest, Text};
use crate::error::Fault;
use crate::ids::{ChannelNo, Counter, GroupId, ParticipantId, Position};
use crate::limits::{MAX_CHANNEL_NAME, MAX_DETAIL, MAX_OWNER_ADDRESS, MAX_PART_NAME, MAX_TOKEN};
use crate::trace::Carrier;
use crate::wire::handshake::{Hello, Welcome};
use crate::wire::io::Reader;
use crate::wire::snapshot::Chunk;
use crate::{Compress, Durability, Error, Qos, Rate, Receipt};

/// Bit 7 of a tag: the frame has no length and ends with the packet.
pub(super) const LAST: u8 = 0x80;
/// Bit 6 of a tag: a receiver that does not know the type of the frame skips it.
pub(super) const OPTIONAL: u8 = 0x40;

/// Declares [`Frame`], the tags of its kinds, and how their fields are written and read.
///
/// An entry is `NAME = tag => Kind` and the fields in their order on the wire. `OPTIONAL |` before
/// the tag: a receiver that does not know the kind skips it. A field is written and read by `write`
/// and `read` of its type (see [`Field`]) or, after `=`, of a value that says more than the type.
macro_rules! frames {
    ($(
        $(#[$doc:meta])*
        $name:ident = $($optional:ident |)? $tag:literal => $kind:ident
        $(($only:ident: $only_type:ty $(= $only_form:expr)?))?
        $({ $($(#[$field_doc:meta])* $field:ident: $type:ty $(= $form:expr)?),* $(,)? })?
    ;)*) => {
        /// One frame. It borrows from the packet that it was read from.
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) enum Frame<'a> {
            $($(#[$doc])* $kind $(($only_type))? $({ $($(#[$field_doc])* $field: $type),* })?,)*
        }

        /// The tags of the frames, without the bits [`OPTIONAL`] and [`LAST`].
        pub(crate) mod tag {
            $(pub(crate) const $name: u8 = $tag;)*
        }

        impl<'a> Frame<'a> {
            /// Appends the fields of the frame and returns its tag.
            pub(super) fn write_fields(&self, out: &mut Vec<u8>) -> u8 {
                match self {
                    $(Frame::$kind { $(0: $only)? $($($field),*)? } => {
                        $(write_field!(out, $only $(, $only_form)?);)?
                        $($(write_field!(out, $field $(, $form)?);)*)?
                        $($optional |)? tag::$name
                    })*
                }
            }

            /// Reads the fields of the frame with this tag. Returns `None` if this version does not
            /// know the tag.
            pub(super) fn read(tag: u8, fields: &'a [u8]) -> Result<Option<Self>, Error> {
                let mut reader = Reader::new(fields, name(tag));
                let frame = match tag {
                    $(tag::$name => Frame::$kind {
                        $(0: read_field!(reader, $only_type $(, $only_form)?))?
                        $($($field: read_field!(reader, $type $(, $form)?)),*)?
                    },)*
                    _ => return Ok(None),
                };
                reader.finish()?;
                Ok(Some(frame))
            }
        }

        /// The name of a frame in errors, which call RECEIVED and RECEIPT only "frame".
        fn name(tag: u8) -> &'static str {
            match tag {
                _ if matches!(tag, tag::RECEIVED | tag::RECEIPT) => "frame",
                $(tag::$name => stringify!($name),)*
                _ => "frame",
            }
        }
    };
}

macro_rules! write_field {
    ($out:ident, $value:ident) => {
        $value.write($out)
    };
    ($out:ident, $value:ident, $form:expr) => {
        $form.write($value, $out)
    };
}

macro_rules! read_field {
    ($reader:ident, $type:ty) => {
        <$type>::read(&mut $reader)?
    };
    ($reader:ident, $type:ty, $form:expr) => {
        $form.read(&mut $reader)?
    };
}

frames! {
    /// The first frame of a client (wire W9).
    HELLO = 0x01 => Hello(hello: Hello<'a>);

    /// The first frame of a server (wire W10).
    WELCOME = 0x02 => Welcome(welcome: Welcome);

    /// Opens a channel (wire W15 to W18).
    OPEN = 0x03 => Open {
        reference: u32,
        access: Access,
        name: &'a str = Text { limit: MAX_CHANNEL_NAME, what: "channel name" },
        qos: Qos,
        have: Position,
        compress: Compress,
    };

    /// Answers OPEN, or says that the QoS of an open channel changed (wire W16).
    CHANNEL = 0x04 => Channel {
        reference: u32,
        id: ChannelNo,
        access: Access,
        name: &'a str = Text { limit: MAX_CHANNEL_NAME, what: "channel name" },
        qos: Qos,
    };

    /// Ends the client's use of a channel (wire W85).
    SHUT = 0x05 => Shut { id: ChannelNo };

    /// A payload of plain records (wire W26).
    MESSAGES = 0x06 => Messages(records: &'a [u8]);

    /// A payload of records that gmc compressed together (wire W27).
    CODED = 0x07 => Coded(records: &'a [u8]);

    /// What the others are told of this participant. The room checks its size (wire W34).
    PRESENCE = 0x09 => Presence(presence: &'a [u8]);

    /// Participants that came, left or changed (wire W34).
    PARTICIPANTS = 0x0a => Participants {
        complete: bool = AnyBool,
        list: Vec<ParticipantEntry<'a>>,
    };

    /// A piece of a part of the snapshot (wire W32).
    SNAPSHOT = 0x0b => Snapshot(chunk: Chunk<'a>);

    /// Asks a participant for a part of the snapshot as of this position or a later one (wire W32).
    SNAPSHOT_WANTED = 0x0c => SnapshotWanted { part: u32, at_least: Position };

    /// The late-joiner state of the channel is complete; with channel 0, the state of all channels
    /// that were opened with HELLO (wire W18).
    SYNCED = 0x0d => Synced { channel: ChannelNo };

    /// Asks for PONG. `time`: microseconds of the sender's clock (wire W35).
    PING = 0x0e => Ping { time: u64 };

    /// Answers PING (wire W35).
    PONG = 0x0f => Pong { time: u64, received: u64, sent: u64 };

    /// An error. If it is fatal, the transport ends (wire W8, W37).
    ERROR = 0x10 => Error {
        code: u32,
        fault: Fault,
        fatal: bool = AnyBool,
        subject: u32,
        detail: &'a str = Text { limit: MAX_DETAIL, what: "error text" },
    };

    /// The sender ends the transport without an error (wire W36).
    BYE = 0x11 => Bye { reason: u32, retry_ms: u64 };

    /// The position of the stream (wire W23).
    POSITION = 0x12 => Position(position: Position);

    /// Transactions of a channel up to this position can no longer be had (wire W33).
    GAP = 0x13 => Gap { channel: ChannelNo, position: Position };

    /// A receiver's list of the datagrams of a fan-out group that arrived. `rest` is an encoded
    /// [`Acknowledged`](crate::wire::acknowledged::Acknowledged) (wire W72).
    ACKNOWLEDGED = 0x16 => Acknowledged { group: GroupId, rest: &'a [u8] };

    /// A piece of the snapshot of a fan-out group's compression model. The receiver is in the group
    /// once it has all pieces (wire W61, W71).
    MODEL = 0x18 => Model {
        carrier: Carrier,
        group: GroupId,
        total: u32,
        offset: u32,
        rest: &'a [u8],
    };

    /// The codecs that the sender of the frame can read: bit n stands for codec n (wire W46).
    CODECS = OPTIONAL | 0x19 => Codecs { set: u64 };

    /// How the room compresses what it sends the client on a channel (wire W45).
    COMPRESS = 0x1a => Compress { id: ChannelNo, compress: Compress };

    /// A piece of a part of the snapshot whose bytes are packed (wire W53).
    PACKED_SNAPSHOT = 0x1b => PackedSnapshot(chunk: Chunk<'a>);

    /// A payload that a codec packed as a whole (wire W54).
    PACKED_MESSAGES = 0x1c => PackedMessages(packed: &'a [u8]);

    /// A payload that the server sends to all receivers of a fan-out group over their streams (wire
    /// W62).
    SHARED = 0x1d => Shared(payload: &'a [u8]);

    /// A payload that the server sends to all receivers of a fan-out group as a datagram (wire
    /// W70).
    SHARED_DATAGRAM = 0x1e => SharedDatagram { group: GroupId, rest: &'a [u8] };

    /// The receiver is no longer in the group on this carrier (wire W64, W75).
    LEAVE = 0x1f => Leave { carrier: Carrier, group: GroupId, rest: &'a [u8] };

    /// Asks for another QoS of an open channel (wire W77).
    CHANGE = 0x20 => Change { id: ChannelNo, qos: Qos };

    /// The highest rate at which this receiver wants values of each key of a channel; zero: only
    /// the QoS limits the rate (wire W78).
    RATE = 0x21 => Rate { id: ChannelNo, rate: Rate };

    /// Send times and measurements for QoS contracts (wire W79, W80).
    CONTRACT = OPTIONAL | 0x22 => Contract(report: &'a [u8]);

    /// From the server: the time between two quality reports that it wants. From a client: a
    /// quality report (wire W84).
    QUALITY = 0x26 => Quality(report: &'a [u8]);

    /// A payload of a fan-out group whose datagram a receiver lacks. The server sends it over the
    /// stream, `waited` ms after it made the payload (wire W74).
    SHARED_AGAIN = 0x27 => SharedAgain { group: GroupId, waited: u32, rest: &'a [u8] };

    /// What a transaction of this room survives, and a number that changes whenever the room lost
    /// its awareness (wire W94).
    ROOM = OPTIONAL | 0x28 => Room { durability: Durability, load: u64 = EightBytes };

    /// From a client: the application can make this part of the snapshot. From the server: the part
    /// follows in chunks (wire W95).
    PART = 0x29 => Part {
        part: u32,
        /// The receiver's own last transaction that the part covers; 0 from a client.
        counter: Counter,
        name: &'a str = Text { limit: MAX_PART_NAME, what: "name of a part" },
        channels: Vec<ChannelNo>,
    };

    /// The receiver's own transactions up to this counter are ordered (wire W96).
    ORDERED = 0x2a => Ordered { counter: Counter };

    /// Another token of the participant (wire W98).
    TOKEN = 0x2b => Token(token: &'a [u8] = Rest { limit: MAX_TOKEN, what: "token" });

    /// The server wants another token, because the participant's expires soon (wire W98).
    TOKEN_WANTED = OPTIONAL | 0x2c => TokenWanted;

    /// The participant is above a quota: it should send no transaction with this counter or a later
    /// one for this time (wire W99).
    HOLD = OPTIONAL | 0x2d => Hold { counter: Counter, hold_ms: u64 };

    /// A channel was reset up to this position; a GAP follows (wire W102).
    RESET = OPTIONAL | 0x2f => Reset { channel: ChannelNo, position: Position };

    /// The number of participants of a room that is large, or no longer is (wire W103).
    COUNT = OPTIONAL | 0x34 => Count {
        /// True if PARTICIPANTS lists all participants.
        everybody: bool,
        count: u32,
    };

    /// Asks for participants with numbers above this one (wire W105).
    PAGE_WANTED = OPTIONAL | 0x35 => PageWanted { after: ParticipantId };

    /// Participants with numbers above `after`, in the order of their numbers (wire W105).
    PAGE = 0x36 => Page {
        after: ParticipantId,
        /// True if no others follow.
        last: bool,
        list: Vec<ParticipantEntry<'a>>,
    };

    /// The application has its transactions for it alone up to this position (wire W115).
    RECEIVED = 0x37 => Received { position: Position };

    /// The outcome of the receiver's own direct transaction with this counter (wire W116).
    RECEIPT = OPTIONAL | 0x38 => Receipt { counter: Counter, receipt: Receipt };

    /// The address of the server that has the room, which is not the one that the client is
    /// connected to (wire W117).
    OWNER = OPTIONAL | 0x39 => Owner {
        after_ms: u64,
        address: &'a str = Text { limit: MAX_OWNER_ADDRESS, what: "address" },
        /// The UDP port of its WebTransport; 0 if it has none.
        port: u32,
    };
}
