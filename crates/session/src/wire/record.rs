//! A record is one message on the wire: six numbers and a content (wire W19 to W26).

use alloc::vec::Vec;
use core::time::Duration;

use super::coding::Coding;
use super::io::{Reader, Write};
use super::numbering::Numbering;
use super::piece::Piece;
use crate::ids::{ChannelNo, Counter, Index, ParticipantId, Position};
use crate::limits::{MAX_EXTENSIONS, MAX_KEY};
use crate::packing::Packing;
use crate::{Error, Kind};

/// The number of fields before the content of each record: channel, sender, flags, gap, age, stamp.
pub(crate) const FIELDS: usize = 6;

/// The unit of ages on the wire, in milliseconds (wire W25). With 4 ms, a receiver can draw the
/// path of a pointer accurately, and an age takes only two or three bits after compression.
pub(crate) const AGE_UNIT_MS: u128 = 4;

/// This is added to the length of a key, so that the length byte is a printable character. The
/// compressor then still treats the content of a text message with a key as text (grammar of
/// *content* in docs/wire/session.md).
const PRINTABLE: u64 = 0x20;

// The flags of a record (wire W19).
const TEXT: u32 = 1;
const KEY: u32 = 2;
const PRIORITY: u32 = 4;
const EXTENSIONS: u32 = 8;
const OWN: u32 = 16;
const STATE: u32 = 32;
const FILL: u32 = 64;
const PACKED: u32 = 128;
const GOES_ON: u32 = 256;
const CONTINUES: u32 = 512;
const DIRECT: u32 = 1024;

/// The type of the extension with the participant that left (wire W113).
const DEPARTED: u64 = 1;

/// The direction in which a record is sent. The meaning of the record's `gap` and `stamp` depends
/// on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    ToServer,
    ToClient,
}

impl Direction {
    pub(crate) fn opposite(self) -> Self {
        match self {
            Direction::ToServer => Direction::ToClient,
            Direction::ToClient => Direction::ToServer,
        }
    }
}

/// A message with its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) channel: ChannelNo,
    pub(crate) sender: ParticipantId,
    pub(crate) number: Number,
    /// True if the record only tells the receiver the position of a transaction that it sent
    /// itself. Such a record has no content (wire W29).
    pub(crate) own: bool,
    /// Which piece of a transaction the record carries (wire W97). An own record does not tell.
    pub(crate) piece: Piece,
    /// True if the message is sent because its receiver joined late (wire W31).
    pub(crate) state: bool,
    /// The time since the sending application made the message (wire W25).
    pub(crate) age: Duration,
    /// True if `bytes` is UTF-8 text.
    pub(crate) text: bool,
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) priority: Option<u8>,
    /// The participant that left, if the message is the room's entry about that (wire W113).
    pub(crate) departed: Option<ParticipantId>,
    /// The only participant that receives the message (wire W114). Records to a client do not say
    /// it: it is the client itself.
    pub(crate) to: Option<ParticipantId>,
    /// The message itself.
    pub(crate) bytes: &'a [u8],
    /// If a codec packed the message: the packed form of `bytes`. The record then contains it
    /// instead of `bytes`.
    pub(crate) packed: Option<&'a [u8]>,
    /// The coding of the payload that contains the record.
    pub(crate) coding: Coding,
}

/// The sequence numbers of a message, by its kind (wire W21).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    /// An awareness message. `after` is the counter of the last transaction that its sender sent
    /// before it.
    Awareness { index: Index, after: Counter },
    /// A transaction. In the direction to the server its position is 0, because the room has not
    /// assigned one yet.
    Transaction { counter: Counter, position: Position },
    /// A copy, in a datagram, of a transaction that is also sent on the stream (wire W81).
    /// `previous` is the position of the last transaction before this one that the server sends to
    /// the same receiver.
    Copy { counter: Counter, position: Position, previous: Position },
    /// An older transaction, which is sent because the receiver opened its channel late (wire W18).
    Fill { counter: Counter, position: Position },
    /// A direct transaction: to its receiver, or in an own record to its sender (wire W114).
    Direct { counter: Counter, position: Position },
}

impl Record<'_> {
    /// Appends the content to `out` and returns the six numbers.
    pub(crate) fn write(
        &self,
        direction: Direction,
        numbering: &mut Numbering,
        out: &mut Vec<u8>,
    ) -> [u32; FIELDS] {
        let mut flags = 0;
        if self.text {
            flags |= TEXT;
        }
        if self.own {
            flags |= OWN;
        }
        if self.state {
            flags |= STATE;
        }
        if !self.own {
            flags |= if self.piece.goes_on() { GOES_ON } else { 0 };
            flags |= if self.piece.begins() { 0 } else { CONTINUES };
        }
        if let Some(key) = self.key {
            flags |= KEY;
            out.varint(key.len() as u64 + PRINTABLE);
            out.extend_from_slice(key);
        }
        if let Some(priority) = self.priority {
            flags |= PRIORITY;
            out.u8(priority);
        }
        if let Some(to) = self.to.filter(|_| direction == Direction::ToServer) {
            flags |= DIRECT;
            out.varint(to.into());
        }
        if let Some(departed) = self.departed {
            flags |= EXTENSIONS;
            write_departed(departed, out);
        }
        if self.packed.is_some() {
            flags |= PACKED;
        }
        out.extend_from_slice(self.packed.unwrap_or(self.bytes));
        let (gap, stamp) = match self.number {
            Number::Awareness { index, after } => (
                numbering.index_to_gap(self.channel, self.sender, index),
                numbering.after_to_stamp(self.sender, after),
            ),
            Number::Transaction { counter, position } | Number::Copy { counter, position, .. } => (
                numbering.counter_to_gap(self.sender, counter),
                match direction {
                    Direction::ToServer => 0,
                    Direction::ToClient => numbering.position_to_stamp(position),
                },
            ),
            Number::Fill { counter, position } | Number::Direct { counter, position } => {
                let is_fill = matches!(self.number, Number::Fill { .. });
                flags |= if is_fill { FILL } else { DIRECT };
                (counter.get(), u32::try_from(position.get()).unwrap_or(u32::MAX))
            }
        };
        let age = (self.age.as_millis() + AGE_UNIT_MS / 2) / AGE_UNIT_MS;
        let age = u32::try_from(age).unwrap_or(u32::MAX);
        [self.channel.get(), self.sender.get(), flags, gap, age, stamp]
    }
}

/// True if a record with these fields announces a transaction of the receiver itself
/// ([`Record::own`]).
pub(crate) fn is_own(fields: &[u32; FIELDS]) -> bool {
    fields[2] & OWN != 0
}

/// True if a record with these fields contains a packed message ([`Record::packed`]).
pub(crate) fn is_packed(fields: &[u32; FIELDS]) -> bool {
    fields[2] & PACKED != 0
}

/// Reads a record from its six fields and its content. `kind` is the kind of the record's channel.
/// `packing` unpacks a packed message; if it is `None`, a packed message is an error.
pub(crate) fn read<'a>(
    fields: [u32; FIELDS],
    content: &'a [u8],
    kind: Kind,
    direction: Direction,
    numbering: &mut Numbering,
    max_message: usize,
    packing: Option<&'a mut Packing>,
) -> Result<Record<'a>, Error> {
    let [channel, sender, flags, gap, age, stamp] = fields;
    let (channel, sender) = (ChannelNo(channel), ParticipantId(sender));
    let piece = check_flags(flags, sender, kind, direction)?;
    let mut reader = Reader::new(content, "record");
    let Header { key, priority, to, departed } = Header::read(&mut reader, flags, direction)?;
    let is_of_room = direction == Direction::ToClient && sender == ParticipantId(0);
    if departed.is_some() && !(is_of_room && kind == Kind::Transaction) {
        return Err(Error::malformed("record: only the room says who departed"));
    }
    let rest = reader.rest();
    let packed = (flags & PACKED != 0).then_some(rest);
    let bytes = match (packed, packing) {
        (None, _) => rest,
        (Some(packed), Some(packing)) => packing.unpack(packed, max_message)?,
        (Some(_), None) => {
            return Err(Error::malformed("record: packed, in a payload that is compressed"));
        }
    };
    if bytes.len() > max_message {
        return Err(Error::TooLarge { what: "message", size: bytes.len(), limit: max_message });
    }
    let text = flags & TEXT != 0;
    if text && core::str::from_utf8(bytes).is_err() {
        return Err(Error::InvalidText { what: "text message" });
    }
    if piece != Piece::Whole && bytes.is_empty() {
        return Err(Error::malformed("record: a piece without bytes"));
    }
    let number = match kind {
        Kind::Awareness => Number::Awareness {
            index: numbering.gap_to_index(channel, sender, gap)?,
            after: numbering.stamp_to_after(sender, stamp)?,
        },
        Kind::Transaction => {
            read_transaction_number(flags, sender, (gap, stamp), direction, numbering)?
        }
    };
    let own = flags & OWN != 0;
    if own && !rest.is_empty() {
        return Err(Error::malformed("record: an own transaction has no payload"));
    }
    Ok(Record {
        channel,
        sender,
        number,
        own,
        piece,
        state: flags & STATE != 0,
        age: Duration::from_millis(u64::from(age) * AGE_UNIT_MS as u64),
        text,
        key,
        priority,
        departed,
        to,
        bytes,
        packed,
        coding: Coding::Alone,
    })
}

/// Which piece of a transaction the record carries.
///
/// # Errors
/// Flags that are unknown, that the sender of the record may not set, or that contradict each other
/// (wire W19, W20, W97, W114).
fn check_flags(
    flags: u32,
    sender: ParticipantId,
    kind: Kind,
    direction: Direction,
) -> Result<Piece, Error> {
    let known = TEXT | KEY | PRIORITY | EXTENSIONS | OWN | STATE | FILL | PACKED | DIRECT;
    if flags & !(known | GOES_ON | CONTINUES) != 0 {
        return Err(Error::malformed("record: unknown flags"));
    }
    let piece = read_piece(flags, kind)?;
    let is_of_server = flags & (OWN | STATE | FILL) != 0 || sender != ParticipantId(0);
    if direction == Direction::ToServer && is_of_server {
        return Err(Error::malformed("record: only a server may say this"));
    }
    let is_undirected =
        kind != Kind::Transaction || flags & (STATE | FILL | GOES_ON | CONTINUES) != 0;
    if flags & DIRECT != 0 && is_undirected {
        return Err(Error::malformed("record: to one participant"));
    }
    Ok(piece)
}

/// What stands before the message in the content of a record.
struct Header<'a> {
    key: Option<&'a [u8]>,
    priority: Option<u8>,
    to: Option<ParticipantId>,
    departed: Option<ParticipantId>,
}

impl<'a> Header<'a> {
    fn read(reader: &mut Reader<'a>, flags: u32, direction: Direction) -> Result<Self, Error> {
        let key = match flags & KEY {
            0 => None,
            _ => {
                let size = reader.varint()?.checked_sub(PRINTABLE).ok_or(reader.malformed())?;
                Some(reader.sized(size, MAX_KEY, "key")?)
            }
        };
        let priority = match flags & PRIORITY {
            0 => None,
            _ => Some(reader.u8()?),
        };
        let to = match flags & DIRECT != 0 && direction == Direction::ToServer {
            false => None,
            true => match reader.varint_u32()? {
                0 => return Err(Error::malformed("record: to the room")),
                to => Some(ParticipantId(to)),
            },
        };
        let departed = match flags & EXTENSIONS {
            0 => None,
            _ => read_extensions(reader.bytes(MAX_EXTENSIONS, "extensions")?)?,
        };
        Ok(Header { key, priority, to, departed })
    }
}

/// Reads the numbers of a transaction from the fields `gap` and `stamp` (wire W22, W23).
fn read_transaction_number(
    flags: u32,
    sender: ParticipantId,
    (gap, stamp): (u32, u32),
    direction: Direction,
    numbering: &mut Numbering,
) -> Result<Number, Error> {
    if flags & FILL != 0 {
        return Ok(Number::Fill { counter: Counter(gap), position: Position::from(stamp) });
    }
    if flags & DIRECT != 0 && direction == Direction::ToClient {
        return Ok(Number::Direct { counter: Counter(gap), position: Position::from(stamp) });
    }
    Ok(Number::Transaction {
        counter: numbering.gap_to_counter(sender, gap)?,
        position: match direction {
            Direction::ToServer => Position(0),
            Direction::ToClient => numbering.stamp_to_position(stamp)?,
        },
    })
}

/// W97: only a transaction has pieces. Key, priority and extensions come with the first one.
fn read_piece(flags: u32, kind: Kind) -> Result<Piece, Error> {
    let piece = Piece::new(flags & CONTINUES == 0, flags & GOES_ON != 0);
    let is_permitted = kind == Kind::Transaction && flags & OWN == 0;
    let has_all = piece.begins() || flags & (KEY | PRIORITY | EXTENSIONS) == 0;
    match piece == Piece::Whole || (is_permitted && has_all) {
        true => Ok(piece),
        false => Err(Error::malformed("record: a piece")),
    }
}

/// W113: writes the extension with the participant that left.
fn write_departed(departed: ParticipantId, out: &mut Vec<u8>) {
    let mut value = Vec::new();
    value.varint(departed.into());
    let mut extension = Vec::new();
    extension.varint(DEPARTED);
    extension.bytes(&value);
    out.bytes(&extension);
}

/// Reads extensions, and skips those of unknown types (wire W19). Returns the participant of the
/// extension *departed*.
fn read_extensions(bytes: &[u8]) -> Result<Option<ParticipantId>, Error> {
    let mut reader = Reader::new(bytes, "extensions");
    let mut departed = None;
    while !reader.is_empty() {
        let number = reader.varint()?;
        let value = reader.bytes(MAX_EXTENSIONS, "extension")?;
        if number == DEPARTED {
            let mut value = Reader::new(value, "extension");
            departed = Some(ParticipantId(value.varint_u32()?));
            if !value.is_empty() {
                return Err(value.malformed());
            }
        }
    }
    Ok(departed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use groupwire_codecs::{ALL, Choice, Costs};

    fn to_server(flags: u32, content: &[u8]) -> Result<Record<'_>, Error> {
        let mut numbering = Numbering::default();
        let fields = [1, 0, flags, 0, 0, 0];
        read(fields, content, Kind::Transaction, Direction::ToServer, &mut numbering, 1000, None)
    }

    #[test]
    fn w19_unknown_flags_are_malformed_and_unknown_extensions_skipped() {
        assert!(matches!(to_server(2048, b"x"), Err(Error::Malformed { .. })));
        let record = to_server(EXTENSIONS, &[3, 9, 1, 0xee, b'h', b'i']).unwrap();
        assert_eq!(record.bytes, b"hi");
        assert!(matches!(to_server(EXTENSIONS, &[3, 9, 9, 9]), Err(Error::Malformed { .. })));
    }

    #[test]
    fn w113_only_the_room_says_who_departed() {
        let to_client = |kind: Kind, sender: u32, content: &[u8]| {
            let mut numbering = Numbering::default();
            let fields = [1, sender, EXTENSIONS, 0, 0, 0];
            let direction = Direction::ToClient;
            let read = read(fields, content, kind, direction, &mut numbering, 1000, None);
            read.map(|record| record.departed)
        };
        let entry = [3, 1, 1, 7];
        let departed = Ok(Some(ParticipantId(7)));
        assert_eq!(to_client(Kind::Transaction, 0, &entry), departed);
        assert_eq!(to_client(Kind::Transaction, 0, &[6, 5, 1, 0, 1, 1, 7]), departed);
        for (kind, sender, content) in [
            (Kind::Transaction, 3, &entry[..]),
            (Kind::Awareness, 0, &entry),
            (Kind::Transaction, 0, &[2, 1, 0]),
            (Kind::Transaction, 0, &[4, 1, 2, 7, 7]),
            (Kind::Transaction, 0, &[7, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x1f]),
        ] {
            let malformed =
                matches!(to_client(kind, sender, content), Err(Error::Malformed { .. }));
            assert!(malformed, "{kind:?} of {sender}: {content:?}");
        }
        assert!(matches!(to_server(EXTENSIONS, &entry), Err(Error::Malformed { .. })));
    }

    #[test]
    fn w114_a_transaction_names_its_only_receiver_on_its_way_to_the_server() {
        let record = to_server(DIRECT | TEXT, &[0xac, 2, b'h', b'i']).unwrap();
        assert_eq!((record.to, record.bytes), (Some(ParticipantId(300)), &b"hi"[..]));
        for (flags, content) in [
            (DIRECT, &b""[..]),
            (DIRECT | GOES_ON, &[1, b'x']),
            (DIRECT | CONTINUES, &[1, b'x']),
            (DIRECT, &[0, b'x']),
            (DIRECT, &[0xff, 0xff, 0xff, 0xff, 0x1f]),
        ] {
            let read = to_server(flags, content);
            assert!(matches!(read, Err(Error::Malformed { .. })), "{flags}: {content:?}");
        }
        let to_client = |kind: Kind, flags: u32| {
            let mut numbering = Numbering::default();
            let direction = Direction::ToClient;
            let fields = [1, 3, flags, 70, 0, 500];
            let read = read(fields, b"", kind, direction, &mut numbering, 1000, None);
            read.map(|record| record.number)
        };
        let number = Number::Direct { counter: Counter(70), position: Position(500) };
        assert_eq!(to_client(Kind::Transaction, DIRECT), Ok(number));
        assert_eq!(to_client(Kind::Transaction, DIRECT | OWN), Ok(number));
        for (kind, flags) in [
            (Kind::Awareness, DIRECT),
            (Kind::Transaction, DIRECT | FILL),
            (Kind::Transaction, DIRECT | STATE),
        ] {
            assert!(matches!(to_client(kind, flags), Err(Error::Malformed { .. })), "{flags}");
        }
    }

    #[test]
    fn w97_only_the_first_piece_of_a_transaction_has_more_than_bytes() {
        let pieces = [GOES_ON, GOES_ON | CONTINUES, CONTINUES];
        let came = pieces.map(|flags| to_server(flags, b"x").unwrap().piece);
        assert_eq!(came, [Piece::First, Piece::Middle, Piece::Last]);
        assert_eq!(to_server(GOES_ON | PRIORITY, &[3, b'x']).unwrap().priority, Some(3));
        let malformed = [
            (CONTINUES | PRIORITY, &[3, b'x'][..]),
            (CONTINUES | KEY, &[32 + 1, b'k', b'x']),
            (CONTINUES | EXTENSIONS, &[0, b'x']),
            (GOES_ON, b""),
            (CONTINUES, b""),
        ];
        for (flags, content) in malformed {
            assert!(matches!(to_server(flags, content), Err(Error::Malformed { .. })), "{flags}");
        }
        let (mut numbering, fields) = (Numbering::default(), [1, 0, GOES_ON, 0, 0, 0]);
        let (kind, direction) = (Kind::Awareness, Direction::ToServer);
        let awareness = read(fields, b"x", kind, direction, &mut numbering, 1000, None);
        assert!(matches!(awareness, Err(Error::Malformed { .. })));
    }

    #[test]
    fn w20_a_client_cannot_set_flags_of_the_server() {
        for flags in [OWN, STATE, FILL] {
            assert!(matches!(to_server(flags, b""), Err(Error::Malformed { .. })));
        }
    }

    #[test]
    fn w26_text_is_utf8_and_sizes_are_bounded() {
        let error = to_server(TEXT, &[0xff]).unwrap_err();
        assert_eq!(error, Error::InvalidText { what: "text message" });
        let long = [0u8; 1001];
        assert!(matches!(to_server(0, &long), Err(Error::TooLarge { what: "message", .. })));
    }

    #[test]
    fn w47_only_the_message_is_packed_not_its_key() {
        let mut packing = Packing::new(ALL, Costs::reference());
        let mut read_packed = |flags: u32, message: &[u8], max_message: usize| {
            let packed = packing.pack(Choice::codec(1), message).unwrap();
            let content = [&[32 + 2, b'm', b'e'][..], packed].concat();
            let fields = [1, 0, flags | KEY | PACKED, 0, 0, 0];
            let mut numbering = Numbering::default();
            let (kind, direction) = (Kind::Transaction, Direction::ToServer);
            assert!(matches!(
                to_server(flags | KEY | PACKED, &content),
                Err(Error::Malformed { .. })
            ));
            let packing = Some(&mut packing);
            read(fields, &content, kind, direction, &mut numbering, max_message, packing)
                .map(|record| (record.key.unwrap().to_vec(), record.bytes.to_vec()))
        };
        let text = b"again and again and again and again".repeat(9);
        assert_eq!(read_packed(TEXT, &text, 1000), Ok((b"me".to_vec(), text.clone())));
        assert!(matches!(read_packed(TEXT, &text, 100), Err(Error::Compression { .. })));
        let bytes = [0xff; 500];
        assert_eq!(
            read_packed(TEXT, &bytes, 1000),
            Err(Error::InvalidText { what: "text message" })
        );
        assert!(read_packed(0, &bytes, 1000).is_ok());
    }
}
