//! ASN.1 in unaligned PER (ITU-T X.691), as much of it as the [schema](super::asn1_per) needs.
//!
//! By hand, as it is little: the crates that have PER bring a compiler of schemas and some thirty
//! others with them.

use std::ops::Range;

use super::bits::{Bits, Reader, Writer};
use super::record::{Field, Fields, Record, Thing, colour, content, shape, thing};
use super::{Error, EventCodec};
use crate::drawing::{Colour, Event, Shape};

/// Messages in PER.
pub(super) struct Per {
    /// Whether the schema has all values as text, as the XML format has them between two tags.
    pub(super) all_text: bool,
}

impl EventCodec for Per {
    fn encode(&mut self, event: &Event, out: &mut Vec<u8>) {
        let mut fields = Unaligned { bits: Writer::new(out), all_text: self.all_text };
        let result = message(&mut event.into(), &mut fields);
        debug_assert_eq!(result, Ok(()), "the schema has no ranges");
    }

    fn decode(&mut self, bytes: &[u8]) -> Result<Event, Error> {
        let mut fields = Unaligned { bits: Reader::new(bytes), all_text: self.all_text };
        let mut record = Record::default();
        message(&mut record, &mut fields)?;
        fields.bits.end()?;
        record.try_into()
    }
}

fn message(record: &mut Record, to: &mut impl Fields) -> Result<(), Error> {
    to.number(Field::Time, &mut record.time)?;
    to.number(Field::Sender, &mut record.sender)?;
    to.number(Field::Session, &mut record.session)?;
    to.number(Field::Kind, &mut record.kind)?;
    content(record, to)
}

struct Unaligned<B> {
    bits: B,
    all_text: bool,
}

impl<B: Bits> Fields for Unaligned<B> {
    fn number(&mut self, field: Field, value: &mut u64) -> Result<(), Error> {
        match field {
            // The index of one of seven choices (X.691, 23.6) is a whole number of three bits.
            Field::Kind => self.bits.bits(3, value),
            Field::Coordinate if self.all_text => self.digits(value, ".0"),
            Field::Coordinate => self.real(value),
            Field::Shape => {
                let mut name = shape(*value)?.name().to_owned();
                self.text(&mut name)?;
                let found = Shape::named(&name).ok_or(Error::Value { field: "shape" })?;
                *value = found as u64;
                Ok(())
            }
            Field::Colour => {
                let mut name = colour(*value)?.name().to_owned();
                self.text(&mut name)?;
                let found = Colour::named(&name).ok_or(Error::Value { field: "colour" })?;
                *value = found as u64;
                Ok(())
            }
            _ if self.all_text => self.digits(value, ""),
            _ => self.integer(value),
        }
    }

    fn text(&mut self, text: &mut String) -> Result<(), Error> {
        const WHY: Error = Error::Value { field: "text" };
        let space = if self.all_text { " " } else { "" };
        let mut bytes = format!("{space}{text}{space}").into_bytes();
        self.pieces(&mut bytes, |per, byte| per.byte(byte))?;
        let found = String::from_utf8(bytes).map_err(|_| WHY)?;
        let inner = found.strip_prefix(space).and_then(|text| text.strip_suffix(space));
        *text = inner.ok_or(WHY)?.to_owned();
        Ok(())
    }

    fn things(&mut self, things: &mut Vec<Thing>) -> Result<(), Error> {
        self.pieces(things, |per, one| thing(one, per))
    }
}

impl<B: Bits> Unaligned<B> {
    /// A number in decimal digits before `end`, as a text.
    fn digits(&mut self, value: &mut u64, end: &str) -> Result<(), Error> {
        let spelled = |value: u64| format!("{value}{end}");
        let mut text = spelled(*value);
        self.text(&mut text)?;
        let found = text.strip_suffix(end).and_then(|digits| digits.parse().ok());
        // Another spelling would be another message.
        *value = found
            .filter(|found| spelled(*found) == text)
            .ok_or(Error::Value { field: "digits of a number" })?;
        Ok(())
    }

    /// An INTEGER without range (X.691, 12.2.6): its length in bytes, then the two's complement in
    /// as few as hold it.
    fn integer(&mut self, value: &mut u64) -> Result<(), Error> {
        // The sign takes a bit more.
        let mut length = u64::from((64 - value.leading_zeros()) / 8 + 1);
        self.bits.bits(8, &mut length)?;
        if !(1..=9).contains(&length) {
            return Err(Error::Value { field: "length of an integer" });
        }
        let mut sign = 0;
        self.bits.bits(1, &mut sign)?;
        // Nine bytes hold 64 bits and seven zeros.
        let mut above = 0;
        self.bits.bits(if length == 9 { 7 } else { 0 }, &mut above)?;
        if sign != 0 || above != 0 {
            return Err(Error::Value { field: "sign of an integer" });
        }
        self.bits.bits((length as u32 * 8 - 1).min(64), value)
    }

    /// A REAL (X.691, 15, by X.690, 8.5 and 11.3): its length in bytes; none for zero, else base 2,
    /// an exponent of one byte, and an odd mantissa. Coordinates are whole, so that the exponent is
    /// how many zeros the value ends with.
    fn real(&mut self, value: &mut u64) -> Result<(), Error> {
        const WHY: Error = Error::Value { field: "coordinate" };
        const BASE_2_POSITIVE: u8 = 0x80;
        let mut exponent = if *value == 0 { 0 } else { value.trailing_zeros() as u8 };
        let mut mantissa = *value >> exponent;
        let bytes = (64 - mantissa.leading_zeros()).div_ceil(8);
        let mut length = if *value == 0 { 0 } else { 2 + u64::from(bytes) };
        self.bits.bits(8, &mut length)?;
        if length == 0 {
            *value = 0;
            return Ok(());
        }
        let mut form = BASE_2_POSITIVE;
        self.byte(&mut form)?;
        self.byte(&mut exponent)?;
        if form != BASE_2_POSITIVE || !(3..=10).contains(&length) {
            return Err(WHY);
        }
        self.bits.bits(8 * (length as u32 - 2), &mut mantissa)?;
        // No coordinate has more than 16 bits.
        if mantissa > 0xffff || mantissa.is_multiple_of(2) || exponent > 15 {
            return Err(WHY);
        }
        *value = mantissa << exponent;
        Ok(())
    }

    fn byte(&mut self, byte: &mut u8) -> Result<(), Error> {
        let mut value = (*byte).into();
        self.bits.bits(8, &mut value)?;
        *byte = value as u8;
        Ok(())
    }

    /// A list of any length (X.691, 11.9.4.2): its length, or that of a piece of it, comes first.
    fn pieces<T: Default>(
        &mut self,
        list: &mut Vec<T>,
        mut item: impl FnMut(&mut Self, &mut T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut done = 0;
        loop {
            let Range { start, end } =
                done..done + self.length(list.len() - done.min(list.len()))?;
            for at in start..end {
                // Items are added one by one, so that the length in a damaged message cannot take
                // memory.
                if at == list.len() {
                    list.push(T::default());
                }
                item(self, &mut list[at])?;
            }
            done = end;
            if end - start < PIECE {
                // The reader may have begun with a name of another length.
                list.truncate(done);
                return Ok(());
            }
        }
    }

    /// The number of items that come next, if `left` are left: below 128 in a byte, below 16384 in
    /// two, else up to four times 16384, after which another length follows.
    fn length(&mut self, left: usize) -> Result<usize, Error> {
        let mut long = left >= 128;
        self.bits.flag(&mut long)?;
        let mut pieces = left >= PIECE;
        if long {
            self.bits.flag(&mut pieces)?;
        }
        let mut number = match (long, pieces) {
            (true, true) => (left / PIECE).min(4),
            _ => left,
        } as u64;
        let width = match (long, pieces) {
            (false, _) => 7,
            (true, false) => 14,
            (true, true) => 6,
        };
        self.bits.bits(width, &mut number)?;
        match (long, pieces) {
            (true, true) if !(1..=4).contains(&number) => {
                Err(Error::Value { field: "length of a piece" })
            }
            (true, true) => Ok(number as usize * PIECE),
            _ => Ok(number as usize),
        }
    }
}

/// Items of the shortest piece that others follow.
const PIECE: usize = 16384;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::{Kind, Point};

    fn writer(out: &mut Vec<u8>) -> Unaligned<Writer<'_>> {
        Unaligned { bits: Writer::new(out), all_text: false }
    }

    fn reader(bytes: &[u8]) -> Unaligned<Reader<'_>> {
        Unaligned { bits: Reader::new(bytes), all_text: false }
    }

    #[test]
    fn a_telepointer_is_as_the_standard_says() {
        let kind = Kind::Telepointer(Point { x: 981, y: 688 });
        let mut out = Vec::new();
        Per { all_text: false }.encode(&Event { time_ms: 716_632_726, sender: 7, kind }, &mut out);
        // Three integers, then three bits of choice, so that the rest is shifted by three.
        assert_eq!(out[..10], [4, 0x2a, 0xb6, 0xf2, 0x96, 1, 7, 2, 0x24, 0x8d]);
        let rest = [4, 0x80, 0, 0x03, 0xd5, 3, 0x80, 4, 43_u8];
        let shifted: Vec<_> = (0..=rest.len())
            .map(|at| {
                let before = at.checked_sub(1).map_or(0, |at| rest[at]) << 5;
                before | rest.get(at).map_or(0, |byte| byte >> 3)
            })
            .collect();
        assert_eq!(out[10..], shifted);
    }

    #[test]
    fn integers_have_the_fewest_bytes() {
        for (value, bytes) in [
            (0, 1),
            (127, 1),
            (128, 2),
            (32_767, 2),
            (32_768, 3),
            (u64::MAX >> 1, 8),
            (u64::MAX, 9),
        ] {
            let mut out = Vec::new();
            writer(&mut out).integer(&mut value.clone()).unwrap();
            assert_eq!((out.len(), out[0]), (bytes + 1, bytes as u8), "{value}");
            let mut found = 0;
            reader(&out).integer(&mut found).unwrap();
            assert_eq!(found, value);
        }
    }

    #[test]
    fn long_texts_come_in_pieces() {
        for (length, bytes) in
            [(127, 1), (128, 2), (16_383, 2), (16_384, 2), (70_000, 3), (131_072, 3), (131_200, 4)]
        {
            let mut text = "x".repeat(length);
            let mut out = Vec::new();
            writer(&mut out).text(&mut text).unwrap();
            assert_eq!(out.len(), length + bytes, "{length}");
            let mut found = String::new();
            let mut per = reader(&out);
            per.text(&mut found).unwrap();
            assert_eq!((found, per.bits.end()), (text, Ok(())));
        }
    }
}
