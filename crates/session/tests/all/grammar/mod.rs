//! The grammar of docs/wire, written a second time: packets are taken apart and put together by a
//! table of fields, without any code of the crate. So a test that passes shows that the documents
//! and the code agree.

mod datagram;
mod numbers;
mod value;

pub(crate) use datagram::{read_datagram, write_datagram};
pub(crate) use numbers::{Meaning, Numbers};
pub(crate) use value::{Fields, Value, hex, quoted, unhex};

/// The type of a field (docs/wire/session.md, *Basic types*).
#[derive(Debug, Clone, Copy)]
enum Type {
    U8,
    U64,
    Varint,
    Text,
    Bytes,
    Secret,
    Rest,
    Resume,
    Qos,
    Compress,
    /// Plain records, to the end.
    Records,
    /// The list of PARTICIPANTS.
    Participants,
    /// The entries of CONTRACT.
    Entries,
    /// The channels of a client's QUALITY.
    Quality,
}

use Type::{
    Bytes, Compress, Entries, Participants, Qos, Quality, Records, Rest, Resume, Secret, Text, U8,
    U64, Varint,
};

type Schema = &'static [(&'static str, Type)];

const QOS: Schema = &[
    ("kind", U8),
    ("overflow", U8),
    ("priority", U8),
    ("flags", U8),
    ("loss", Varint),
    ("deadline_ms", Varint),
    ("rate_min", Varint),
    ("rate_max", Varint),
];

const RESUME: Schema = &[
    ("participant", Varint),
    ("secret", Secret),
    ("incarnation", U64),
    ("position", Varint),
    ("counter", Varint),
];

const CHUNK: Schema =
    &[("part", Varint), ("as_of", Varint), ("total", Varint), ("offset", Varint), ("rest", Rest)];

const GROUP_PIECE: Schema =
    &[("carrier", U8), ("group", Varint), ("total", Varint), ("offset", Varint), ("rest", Rest)];

/// A type of frame: its number, the bits of the tag beside it, its name and its fields.
struct Kind {
    number: u8,
    optional: bool,
    name: &'static str,
    schema: Schema,
}

const fn kind(number: u8, name: &'static str, schema: Schema) -> Kind {
    Kind { number, optional: false, name, schema }
}

const fn optional(number: u8, name: &'static str, schema: Schema) -> Kind {
    Kind { number, optional: true, name, schema }
}

/// The table of docs/wire/session.md. QUALITY differs by direction: see [`schema_of`].
const KINDS: &[Kind] = &[
    kind(
        0x01,
        "HELLO",
        &[
            ("lowest", U8),
            ("capabilities", Varint),
            ("max_packet", Varint),
            ("max_message", Varint),
            ("room", Text),
            ("token", Bytes),
            ("presence", Bytes),
            ("resume", Resume),
        ],
    ),
    kind(
        0x02,
        "WELCOME",
        &[
            ("capabilities", Varint),
            ("max_packet", Varint),
            ("max_message", Varint),
            ("max_snapshot", Varint),
            ("incarnation", U64),
            ("participant", Varint),
            ("secret", Secret),
            ("outcome", U8),
            ("counter", Varint),
            ("position", Varint),
            ("tick_ms", Varint),
            ("ping_ms", Varint),
            ("dead_ms", Varint),
            ("away_ms", Varint),
        ],
    ),
    kind(
        0x03,
        "OPEN",
        &[
            ("ref", Varint),
            ("access", U8),
            ("name", Text),
            ("qos", Qos),
            ("have", Varint),
            ("compress", Compress),
        ],
    ),
    kind(
        0x04,
        "CHANNEL",
        &[("ref", Varint), ("id", Varint), ("access", U8), ("name", Text), ("qos", Qos)],
    ),
    kind(0x05, "SHUT", &[("id", Varint)]),
    kind(0x06, "MESSAGES", &[("records", Records)]),
    kind(0x07, "CODED", &[("rest", Rest)]),
    kind(0x09, "PRESENCE", &[("rest", Rest)]),
    kind(0x0a, "PARTICIPANTS", &[("complete", U8), ("participants", Participants)]),
    kind(0x0b, "SNAPSHOT", CHUNK),
    kind(0x0c, "SNAPSHOT_WANTED", &[("part", Varint), ("at_least", Varint)]),
    kind(0x0d, "SYNCED", &[("id", Varint)]),
    kind(0x0e, "PING", &[("time", Varint)]),
    kind(0x0f, "PONG", &[("time", Varint), ("received", Varint), ("sent", Varint)]),
    kind(
        0x10,
        "ERROR",
        &[("code", Varint), ("fault", U8), ("fatal", U8), ("subject", Varint), ("detail", Text)],
    ),
    kind(0x11, "BYE", &[("reason", Varint), ("retry_ms", Varint)]),
    kind(0x12, "POSITION", &[("position", Varint)]),
    kind(0x13, "GAP", &[("id", Varint), ("position", Varint)]),
    kind(
        0x16,
        "ACKNOWLEDGED",
        &[("group", Varint), ("newest", Varint), ("lacking", Bytes), ("rest", Rest)],
    ),
    kind(0x18, "MODEL", GROUP_PIECE),
    optional(0x19, "CODECS", &[("set", Varint)]),
    kind(0x1a, "COMPRESS", &[("id", Varint), ("compress", Compress)]),
    kind(0x1b, "PACKED_SNAPSHOT", CHUNK),
    kind(0x1c, "PACKED_MESSAGES", &[("rest", Rest)]),
    kind(0x1d, "SHARED", &[("rest", Rest)]),
    kind(0x1e, "SHARED_DATAGRAM", &[("group", Varint), ("rest", Rest)]),
    kind(0x1f, "LEAVE", &[("carrier", U8), ("group", Varint), ("rest", Rest)]),
    kind(0x20, "CHANGE", &[("id", Varint), ("qos", Qos)]),
    kind(0x21, "RATE", &[("id", Varint), ("rate", Varint)]),
    optional(0x22, "CONTRACT", &[("stamp", Varint), ("entries", Entries)]),
    kind(0x26, "QUALITY", &[("reason", Text), ("channels", Quality)]),
    kind(0x27, "SHARED_AGAIN", &[("group", Varint), ("waited_ms", Varint), ("rest", Rest)]),
    optional(0x28, "ROOM", &[("durability", U8), ("load", U64)]),
    kind(0x29, "PART", &[("part", Varint), ("counter", Varint), ("name", Text), ("rest", Rest)]),
    kind(0x2a, "ORDERED", &[("counter", Varint)]),
    kind(0x2b, "TOKEN", &[("rest", Rest)]),
    optional(0x2c, "TOKEN_WANTED", &[]),
    optional(0x2d, "HOLD", &[("counter", Varint), ("hold_ms", Varint)]),
    optional(0x2f, "RESET", &[("id", Varint), ("position", Varint)]),
    kind(0x37, "RECEIVED", &[("position", Varint)]),
    optional(0x39, "OWNER", &[("after_ms", Varint), ("address", Text), ("port", Varint)]),
    optional(0x38, "RECEIPT", &[("counter", Varint), ("outcome", U8)]),
    optional(0x34, "COUNT", &[("everybody", U8), ("count", Varint)]),
    optional(0x35, "PAGE_WANTED", &[("after", Varint)]),
    kind(0x36, "PAGE", &[("after", Varint), ("last", U8), ("participants", Participants)]),
];

/// The fields of QUALITY from the server.
const WISH: Schema = &[("every_ms", Varint)];

/// The end that sent a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum From {
    Client,
    Server,
}

impl From {
    pub(crate) fn name(self) -> &'static str {
        match self {
            From::Client => "client",
            From::Server => "server",
        }
    }
}

/// A frame, by name, with its fields in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) name: &'static str,
    /// True if the frame has no length and ends with the packet.
    pub(crate) is_last: bool,
    pub(crate) fields: Fields,
}

impl Frame {
    /// A frame that is written with a length.
    pub(crate) fn new(name: &'static str, fields: Fields) -> Self {
        Frame { name, is_last: false, fields }
    }

    pub(crate) fn number(&self, field: &str) -> u64 {
        self.fields.number(field)
    }

    pub(crate) fn list(&self, field: &str) -> &[Fields] {
        self.fields.list(field)
    }
}

/// Takes a packet apart. `is_first`: it begins with the version (W4).
///
/// # Errors
/// A violation of the grammar.
pub(crate) fn read_packet(from: From, is_first: bool, packet: &[u8]) -> Result<Vec<Frame>, String> {
    let mut reader = Reader { rest: packet };
    if is_first && reader.u8()? != 1 {
        return Err("the version is 1".into());
    }
    let mut frames = Vec::new();
    while !reader.rest.is_empty() {
        frames.push(reader.frame(from)?);
    }
    Ok(frames)
}

/// Encodes a packet.
pub(crate) fn write_packet(from: From, is_first: bool, frames: &[Frame]) -> Vec<u8> {
    let mut out = Vec::new();
    if is_first {
        out.push(1);
    }
    for frame in frames {
        let kind = KINDS.iter().find(|kind| kind.name == frame.name).expect(frame.name);
        let mut fields = Vec::new();
        write_fields(schema_of(kind, from), &frame.fields, &mut fields);
        let optional = if kind.optional { 0x40 } else { 0 };
        if frame.is_last {
            out.push(0x80 | optional | kind.number);
        } else {
            out.push(optional | kind.number);
            varint(fields.len() as u64, &mut out);
        }
        out.extend(fields);
    }
    out
}

/// A packet of one frame from a client.
pub(crate) fn one(name: &'static str, fields: Fields) -> Vec<u8> {
    write_packet(From::Client, false, &[Frame::new(name, fields)])
}

fn schema_of(kind: &Kind, from: From) -> Schema {
    match (kind.name, from) {
        ("QUALITY", From::Server) => WISH,
        _ => kind.schema,
    }
}

/// Appends a varint (W1).
pub(crate) fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 & 0x7f | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads the basic types.
pub(crate) struct Reader<'a> {
    pub(crate) rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or("it ends too early")?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    /// W1.
    pub(crate) fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0u128;
        for place in 0..10 {
            let byte = self.u8()?;
            value |= u128::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                let is_short = byte != 0 || place == 0;
                let value = u64::try_from(value).map_err(|_| "a varint beyond 64 bits")?;
                return if is_short { Ok(value) } else { Err("a padded varint".into()) };
            }
        }
        Err("a varint of more than ten bytes".into())
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], String> {
        let length = self.varint()?;
        self.take(usize::try_from(length).map_err(|_| "a length beyond all memory")?)
    }

    fn text(&mut self) -> Result<String, String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|error| error.to_string())
    }

    fn frame(&mut self, from: From) -> Result<Frame, String> {
        let tag = self.u8()?;
        let is_last = tag & 0x80 != 0;
        let bytes = if is_last { self.take(self.rest.len())? } else { self.bytes()? };
        let kind = KINDS.iter().find(|kind| kind.number == tag & 0x3f);
        let kind = kind.ok_or_else(|| format!("an unknown frame {tag:#04x}"))?;
        if kind.optional != (tag & 0x40 != 0) {
            return Err(format!("{}: bit 6 of its tag", kind.name));
        }
        let mut reader = Reader { rest: bytes };
        let fields = reader.fields(schema_of(kind, from))?;
        match reader.rest {
            [] => Ok(Frame { name: kind.name, is_last, fields }),
            rest => Err(format!("{}: {} bytes too many", kind.name, rest.len())),
        }
    }

    fn fields(&mut self, schema: Schema) -> Result<Fields, String> {
        let mut fields = Fields::default();
        for (name, kind) in schema {
            fields.push(name, self.value(*kind)?);
        }
        Ok(fields)
    }

    fn value(&mut self, kind: Type) -> Result<Value, String> {
        Ok(match kind {
            U8 => Value::Number(self.u8()?.into()),
            U64 => {
                let bytes = self.take(8)?.try_into().map_err(|_| "eight bytes")?;
                Value::Number(u64::from_le_bytes(bytes))
            }
            Varint => Value::Number(self.varint()?),
            Text => Value::Text(self.text()?),
            Bytes => Value::Bytes(self.bytes()?.to_vec()),
            Secret => Value::Bytes(self.take(16)?.to_vec()),
            Rest => Value::Bytes(self.take(self.rest.len())?.to_vec()),
            Resume => match self.u8()? {
                0 => Value::None,
                1 => Value::Fields(self.fields(RESUME)?),
                other => return Err(format!("resume {other}")),
            },
            Qos => Value::Fields(self.fields(QOS)?),
            Compress => Value::Bytes(match self.u8()? {
                kind @ 0..=2 => vec![kind],
                3 => vec![3, self.u8()?],
                other => return Err(format!("compress {other}")),
            }),
            Records => self.list(|reader| reader.record(&STREAM_RECORD))?,
            Participants => self.list(Reader::participant)?,
            Entries => self.list(|reader| {
                reader.fields(&[("channel", Varint), ("upstream", Varint), ("expected", Varint)])
            })?,
            Quality => self.list(Reader::quality)?,
        })
    }

    fn list(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<Fields, String>,
    ) -> Result<Value, String> {
        let mut list = Vec::new();
        while !self.rest.is_empty() {
            list.push(each(self)?);
        }
        Ok(Value::List(list))
    }

    /// W34, W100.
    fn participant(&mut self) -> Result<Fields, String> {
        let mut one = self.fields(&[("id", Varint), ("state", U8)])?;
        match one.number("state") {
            0..=2 => {}
            5 | 6 => one.push("user", self.value(Text)?),
            other => return Err(format!("state {other}")),
        }
        one.push("presence", self.value(Bytes)?);
        Ok(one)
    }

    /// W19, W67.
    fn record(&mut self, numbers: &[&'static str]) -> Result<Fields, String> {
        let mut fields = Fields::default();
        for name in numbers {
            fields.push(name, Value::Number(self.varint()?));
        }
        let flags = fields.number("flags");
        let mut content = Reader { rest: self.bytes()? };
        if flags & 2 != 0 {
            let length = content.varint()?.checked_sub(32).ok_or("a key's length")?;
            fields.push("key", Value::Bytes(content.take(length as usize)?.to_vec()));
        }
        if flags & 4 != 0 {
            fields.push("priority", Value::Number(content.u8()?.into()));
        }
        // W114: in a direct record from a server, the receiver is known, and `sender` is not 0.
        if flags & 1024 != 0 && fields.number("sender") == 0 {
            fields.push("to", Value::Number(content.varint()?));
        }
        if flags & 8 != 0 {
            fields.push("extensions", Value::Bytes(content.bytes()?.to_vec()));
        }
        fields.push("octets", Value::Bytes(content.rest.to_vec()));
        Ok(fields)
    }

    fn quality(&mut self) -> Result<Fields, String> {
        let mut fields = Fields::default();
        for name in QUALITY {
            fields.push(name, Value::Number(self.varint()?));
        }
        let count = self.varint()?;
        let counts: Result<Vec<u64>, String> = (0..count).map(|_| self.varint()).collect();
        fields.push("latency", Value::Numbers(counts?));
        Ok(fields)
    }
}

const QUALITY: [&str; 8] =
    ["channel", "judged", "missed", "late", "saved", "rate", "median_ms", "p99_ms"];

pub(crate) const STREAM_RECORD: [&str; 6] = ["channel", "sender", "flags", "gap", "age", "stamp"];

fn write_fields(schema: Schema, fields: &Fields, out: &mut Vec<u8>) {
    for (name, kind) in schema {
        write_value(*kind, fields.get(name), out);
    }
}

fn write_value(kind: Type, value: &Value, out: &mut Vec<u8>) {
    match (kind, value) {
        (U8, Value::Number(number)) => out.push(*number as u8),
        (U64, Value::Number(number)) => out.extend(number.to_le_bytes()),
        (Varint, Value::Number(number)) => varint(*number, out),
        (Text, Value::Text(text)) => write_bytes(text.as_bytes(), out),
        (Bytes, Value::Bytes(bytes)) => write_bytes(bytes, out),
        (Secret | Rest | Compress, Value::Bytes(bytes)) => out.extend(bytes),
        (Resume, Value::None) => out.push(0),
        (Resume, Value::Fields(fields)) => {
            out.push(1);
            write_fields(RESUME, fields, out);
        }
        (Qos, Value::Fields(fields)) => write_fields(QOS, fields, out),
        (Records, Value::List(records)) => {
            records.iter().for_each(|record| write_record(&STREAM_RECORD, record, out));
        }
        (Participants, Value::List(list)) => {
            for one in list {
                let user: Schema = if one.number("state") > 4 { &[("user", Text)] } else { &[] };
                write_fields(&[("id", Varint), ("state", U8)], one, out);
                write_fields(user, one, out);
                write_fields(&[("presence", Bytes)], one, out);
            }
        }
        (Entries, Value::List(list)) => {
            for one in list {
                ["channel", "upstream", "expected"]
                    .iter()
                    .for_each(|name| varint(one.number(name), out));
            }
        }
        (Quality, Value::List(list)) => {
            for one in list {
                QUALITY.iter().for_each(|name| varint(one.number(name), out));
                let Value::Numbers(counts) = one.get("latency") else { panic!("latency") };
                varint(counts.len() as u64, out);
                counts.iter().for_each(|count| varint(*count, out));
            }
        }
        (kind, value) => panic!("{value:?} is no {kind:?}"),
    }
}

pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    varint(bytes.len() as u64, out);
    out.extend(bytes);
}

/// W19: the numbers, and key, priority and extensions as far as the flags say that they are there.
pub(crate) fn write_record(numbers: &[&str], record: &Fields, out: &mut Vec<u8>) {
    numbers.iter().for_each(|name| varint(record.number(name), out));
    let flags = record.number("flags");
    let mut content = Vec::new();
    if flags & 2 != 0 {
        let key = record.bytes("key");
        varint(key.len() as u64 + 32, &mut content);
        content.extend(key);
    }
    if flags & 4 != 0 {
        content.push(record.number("priority") as u8);
    }
    if let Some(Value::Number(to)) = record.find("to") {
        varint(*to, &mut content);
    }
    if flags & 8 != 0 {
        write_bytes(record.bytes("extensions"), &mut content);
    }
    content.extend(record.bytes("octets"));
    write_bytes(&content, out);
}
