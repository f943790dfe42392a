//! Fields of fixed width: in the fewest bits, or in primitive types.

use super::bits::{Bits, Counter, Reader, Writer};
use super::record::{Field, Fields, Record, Thing, content, thing};
use super::{Error, EventCodec};
use crate::drawing::Event;

/// The width of each field, in bits.
pub(super) struct Widths {
    kind: u32,
    sender: u32,
    session: u32,
    time: u32,
    object: u32,
    coordinate: u32,
    /// The width of a shape or a colour.
    shape: u32,
    position: u32,
    deleted: u32,
    /// The width of the length of a text in bytes.
    length: u32,
    /// The width of the number of objects in a model update.
    count: u32,
}

/// The paper's Table 1 has 5 bits for the type, 6 for the sender, 10 for an object and 11 for a
/// coordinate. Its other fields are ours by the same rule: 14 bits hold the session's number, 30
/// its timestamps, 12 a place in a text of 4095 characters; colours are of a palette of 16.
pub(super) const MINIMAL: Widths = Widths {
    kind: 5,
    sender: 6,
    session: 14,
    time: 30,
    object: 10,
    coordinate: 11,
    shape: 4,
    position: 12,
    deleted: 8,
    length: 8,
    count: 10,
};

/// The shortest of 8, 16 and 32 bits for the same ranges.
pub(super) const PRIMITIVE: Widths = Widths {
    kind: 8,
    sender: 8,
    session: 16,
    time: 32,
    object: 16,
    coordinate: 16,
    shape: 8,
    position: 16,
    deleted: 8,
    length: 8,
    count: 16,
};

/// Holds any event. A message that does not fit in its format's widths is of the kind whose bits
/// are all ones, which none of the seven has, and goes on with these.
const WIDE: Widths = Widths {
    kind: 8,
    sender: 32,
    session: 32,
    time: 64,
    object: 32,
    coordinate: 16,
    shape: 8,
    position: 32,
    deleted: 32,
    length: 64,
    count: 64,
};

/// The bits of an event's message in [`MINIMAL`] widths, without padding.
pub(super) fn minimal_bits(event: &Event) -> u64 {
    let count = |widths, from| {
        let mut fields = Sized { widths, bits: Counter(from) };
        message(&mut event.into(), &mut fields).map(|()| fields.bits.0)
    };
    let wide = || count(&WIDE, MINIMAL.kind.into()).expect("any event fits");
    count(&MINIMAL, 0).unwrap_or_else(|_| wide())
}

/// The widths of Table 1's fields, in its order: message type, sender, object, and each coordinate.
pub(super) const TABLE_1: [u32; 4] =
    [MINIMAL.kind, MINIMAL.sender, MINIMAL.object, MINIMAL.coordinate];

/// A format of fixed widths.
pub(super) struct Fixed(Widths);

impl Fixed {
    pub(super) fn new(widths: Widths) -> Self {
        Self(widths)
    }

    fn wide(&self) -> u64 {
        (1 << self.0.kind) - 1
    }
}

impl EventCodec for Fixed {
    fn encode(&mut self, event: &Event, out: &mut Vec<u8>) {
        let start = out.len();
        let mut fields = Sized { widths: &self.0, bits: Writer::new(out) };
        if message(&mut event.into(), &mut fields).is_ok() {
            return;
        }
        out.truncate(start);
        let mut writer = Writer::new(out);
        let result = writer
            .bits(self.0.kind, &mut self.wide())
            .and_then(|()| message(&mut event.into(), &mut Sized { widths: &WIDE, bits: writer }));
        debug_assert_eq!(result, Ok(()), "any event fits");
    }

    fn decode(&mut self, bytes: &[u8]) -> Result<Event, Error> {
        let mut reader = Reader::new(bytes);
        let mut kind = 0;
        reader.bits(self.0.kind, &mut kind)?;
        let (widths, bits) =
            if kind == self.wide() { (&WIDE, reader) } else { (&self.0, Reader::new(bytes)) };
        let mut fields = Sized { widths, bits };
        let mut record = Record::default();
        message(&mut record, &mut fields)?;
        fields.bits.end()?;
        record.try_into()
    }
}

fn message(record: &mut Record, to: &mut impl Fields) -> Result<(), Error> {
    to.number(Field::Kind, &mut record.kind)?;
    to.number(Field::Sender, &mut record.sender)?;
    to.number(Field::Session, &mut record.session)?;
    to.number(Field::Time, &mut record.time)?;
    content(record, to)
}

struct Sized<'a, B> {
    widths: &'a Widths,
    bits: B,
}

impl<B: Bits> Fields for Sized<'_, B> {
    fn number(&mut self, field: Field, value: &mut u64) -> Result<(), Error> {
        let widths = self.widths;
        let width = match field {
            Field::Kind => widths.kind,
            Field::Sender => widths.sender,
            Field::Session => widths.session,
            Field::Time => widths.time,
            Field::Object => widths.object,
            Field::Coordinate => widths.coordinate,
            Field::Shape | Field::Colour => widths.shape,
            Field::Position => widths.position,
            Field::Deleted => widths.deleted,
        };
        self.bits.bits(width, value)
    }

    fn text(&mut self, text: &mut String) -> Result<(), Error> {
        let mut bytes = std::mem::take(text).into_bytes();
        let mut length = bytes.len() as u64;
        self.bits.bits(self.widths.length, &mut length)?;
        // Characters are read one by one, so that the length in a damaged message cannot take
        // memory.
        for at in 0..length {
            let mut byte = bytes.get(at as usize).copied().unwrap_or_default().into();
            self.bits.bits(8, &mut byte)?;
            if at as usize == bytes.len() {
                bytes.push(byte as u8);
            }
        }
        *text = String::from_utf8(bytes).map_err(|_| Error::Value { field: "text" })?;
        Ok(())
    }

    fn things(&mut self, things: &mut Vec<Thing>) -> Result<(), Error> {
        let mut count = things.len() as u64;
        self.bits.bits(self.widths.count, &mut count)?;
        for at in 0..count {
            if at as usize == things.len() {
                things.push(Thing::default());
            }
            thing(&mut things[at as usize], self)?;
        }
        Ok(())
    }
}
