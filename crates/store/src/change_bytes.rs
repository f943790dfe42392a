//! The bytes of a list of changes.
//!
//! One byte has the version, and then each change begins with its kind. Numbers are varints of
//! seven bits a byte, the lowest first, in their shortest form; incarnations, which are random, are
//! eight bytes. Bytes and lists have their length before them. A value that may be missing is 0 if
//! it is, otherwise one more than its number or its length. Positions and times are differences:
//! a record that continues the one before has 0.

use thiserror::Error;

use crate::api::{Append, Part, Record};
use crate::change::{Change, RoomCopy, SavePart};
use crate::error::Error as StoreError;

/// The version of the format.
const VERSION: u8 = 1;

const APPEND: u8 = 1;
const SAVE_PART: u8 = 2;
const BEGIN_AGAIN: u8 = 3;
const DELETE: u8 = 4;
const PUT: u8 = 5;
const EVENTS_TOLD: u8 = 6;

/// The bytes are not a list of changes that this version reads.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChangesError {
    /// A newer version wrote the list.
    #[error(
        "the changes have format {0}, and this version reads format {VERSION}; install the newer version that wrote them"
    )]
    Newer(u8),
    /// A newer version wrote a kind of change that this one does not know, or the list is damaged.
    #[error("a change is of the kind {0}, which this version does not know")]
    Kind(u8),
    /// The list is cut off, or a number is not in its shortest form.
    #[error("the changes are malformed {0} bytes before their end")]
    Malformed(usize),
    /// A name is not UTF-8.
    #[error("a name among the changes is no text")]
    Text,
    /// A change exceeds a limit, or its positions are not in order.
    #[error("a change is not permitted: {0}")]
    Limit(#[from] StoreError),
}

/// The bytes of changes.
pub fn write_changes(changes: &[Change]) -> Vec<u8> {
    let mut out = Out(vec![VERSION]);
    changes.iter().for_each(|change| out.change(change));
    out.0
}

/// Reads changes back. All of them keep the [`limits`](crate::limits).
pub fn parse_changes(bytes: &[u8]) -> Result<Vec<Change>, ChangesError> {
    let mut input = Input(bytes);
    match input.byte()? {
        VERSION => {}
        newer => return Err(ChangesError::Newer(newer)),
    }
    let mut changes = Vec::new();
    while !input.0.is_empty() {
        let change = input.change()?;
        change.check_limits()?;
        changes.push(change);
    }
    Ok(changes)
}

struct Out(Vec<u8>);

impl Out {
    fn change(&mut self, change: &Change) {
        match change {
            Change::Append(Append { room, incarnation, records, meta, reserved, events }) => {
                self.kind(APPEND, room);
                self.incarnation(*incarnation);
                self.records(records.iter());
                self.optional_bytes(meta.as_deref());
                self.number(reserved.map_or(0, |reserved| u64::from(reserved) + 1));
                self.list(events.iter(), |out, event| out.bytes(event));
            }
            Change::SavePart(SavePart { room, incarnation, part, meta, events }) => {
                self.kind(SAVE_PART, room);
                self.incarnation(*incarnation);
                self.part(part);
                self.optional_bytes(meta.as_deref());
                self.list(events.iter(), |out, event| out.bytes(event));
            }
            Change::BeginAgain { room, incarnation } => {
                self.kind(BEGIN_AGAIN, room);
                self.incarnation(*incarnation);
            }
            Change::Delete { room } => self.kind(DELETE, room),
            Change::Put(copy) => {
                self.kind(PUT, &copy.room);
                self.copy(copy);
            }
            Change::EventsTold { shard, number, time } => {
                self.0.push(EVENTS_TOLD);
                [u64::from(*shard), *number, *time].into_iter().for_each(|n| self.number(n));
            }
        }
    }

    fn kind(&mut self, kind: u8, room: &str) {
        self.0.push(kind);
        self.bytes(room.as_bytes());
    }

    fn copy(&mut self, copy: &RoomCopy) {
        self.incarnation(copy.incarnation);
        self.list(copy.replaces.iter(), |out, &(incarnation, head)| {
            out.incarnation(incarnation);
            out.number(head);
        });
        self.bytes(&copy.meta);
        [u64::from(copy.reserved), copy.head, u64::from(copy.active)]
            .into_iter()
            .for_each(|number| self.number(number));
        self.list(copy.parts.iter(), |out, (taken, part)| {
            out.number(*taken);
            out.part(part);
        });
        self.records(copy.records.iter().map(|(_, record)| record));
        let mut before = 0_u32;
        for (time, _) in &copy.records {
            self.number(u64::from(time.wrapping_sub(before)));
            before = *time;
        }
    }

    fn part(&mut self, part: &Part) {
        self.bytes(part.name.as_bytes());
        self.list(part.channels.iter(), |out, &channel| out.number(u64::from(channel)));
        self.number(part.as_of);
        self.bytes(&part.bytes);
    }

    fn records<'a>(&mut self, records: impl ExactSizeIterator<Item = &'a Record>) {
        let mut before = 0_u64;
        self.list(records, |out, record| {
            out.number(record.position.wrapping_sub(before).wrapping_sub(1));
            before = record.position;
            [record.channel, record.author, record.recipient, record.counter]
                .into_iter()
                .for_each(|number| out.number(u64::from(number)));
            out.bytes(&record.bytes);
        });
    }

    fn list<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.number(items.len() as u64);
        items.for_each(|item| write(self, item));
    }

    fn optional_bytes(&mut self, bytes: Option<&[u8]>) {
        self.number(bytes.map_or(0, |bytes| bytes.len() as u64 + 1));
        self.0.extend_from_slice(bytes.unwrap_or_default());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn incarnation(&mut self, incarnation: u64) {
        self.0.extend_from_slice(&incarnation.to_le_bytes());
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

type Read<T> = Result<T, ChangesError>;

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn change(&mut self) -> Read<Change> {
        Ok(match self.byte()? {
            APPEND => Change::Append(Append {
                room: self.text()?,
                incarnation: self.incarnation()?,
                records: self.records()?,
                meta: self.optional_bytes()?,
                reserved: self.optional()?.map(|number| self.fit(number)).transpose()?,
                events: self.list(Self::bytes)?,
            }),
            SAVE_PART => Change::SavePart(SavePart {
                room: self.text()?,
                incarnation: self.incarnation()?,
                part: self.part()?,
                meta: self.optional_bytes()?,
                events: self.list(Self::bytes)?,
            }),
            BEGIN_AGAIN => {
                Change::BeginAgain { room: self.text()?, incarnation: self.incarnation()? }
            }
            DELETE => Change::Delete { room: self.text()? },
            PUT => Change::Put(Box::new(self.copy()?)),
            EVENTS_TOLD => Change::EventsTold {
                shard: self.small()?,
                number: self.number()?,
                time: self.number()?,
            },
            kind => return Err(ChangesError::Kind(kind)),
        })
    }

    fn copy(&mut self) -> Read<RoomCopy> {
        let mut copy = RoomCopy {
            room: self.text()?,
            incarnation: self.incarnation()?,
            replaces: match self.number()? {
                0 => None,
                1 => Some((self.incarnation()?, self.number()?)),
                _ => return Err(self.malformed()),
            },
            meta: self.bytes()?,
            reserved: self.small()?,
            head: self.number()?,
            active: self.small()?,
            parts: self.list(|input| Ok((input.number()?, input.part()?)))?,
            records: self.records()?.into_iter().map(|record| (0, record)).collect(),
        };
        let mut before = 0_u32;
        for (time, _) in &mut copy.records {
            before = before.wrapping_add(self.small()?);
            *time = before;
        }
        Ok(copy)
    }

    fn part(&mut self) -> Read<Part> {
        Ok(Part {
            name: self.text()?,
            channels: self.list(Self::small)?,
            as_of: self.number()?,
            bytes: self.bytes()?,
        })
    }

    fn records(&mut self) -> Read<Vec<Record>> {
        let mut before = 0_u64;
        self.list(|input| {
            before = before.wrapping_add(input.number()?).wrapping_add(1);
            Ok(Record {
                position: before,
                channel: input.small()?,
                author: input.small()?,
                recipient: input.small()?,
                counter: input.small()?,
                bytes: input.bytes()?,
            })
        })
    }

    // Each item has at least one byte, so that a list is at most as long as the input.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = Vec::new();
        for _ in 0..self.number()? {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn text(&mut self) -> Read<String> {
        String::from_utf8(self.bytes()?).map_err(|_| ChangesError::Text)
    }

    fn optional_bytes(&mut self) -> Read<Option<Vec<u8>>> {
        self.optional()?.map(|length| self.take(length).map(<[u8]>::to_vec)).transpose()
    }

    fn bytes(&mut self) -> Read<Vec<u8>> {
        let length = self.number()?;
        self.take(length).map(<[u8]>::to_vec)
    }

    fn optional(&mut self) -> Read<Option<u64>> {
        Ok(self.number()?.checked_sub(1))
    }

    fn incarnation(&mut self) -> Read<u64> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(|| self.malformed())?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    fn small<T: TryFrom<u64>>(&mut self) -> Read<T> {
        let number = self.number()?;
        self.fit(number)
    }

    fn fit<T: TryFrom<u64>>(&self, number: u64) -> Read<T> {
        T::try_from(number).map_err(|_| self.malformed())
    }

    fn number(&mut self) -> Read<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has one bit, and no byte but the first ends a number with zeros.
            if (shift == 63 && bits > 1) || (byte == 0 && shift > 0) {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.malformed())
    }

    fn byte(&mut self) -> Read<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn take(&mut self, length: u64) -> Read<&'a [u8]> {
        let length = usize::try_from(length).map_err(|_| self.malformed())?;
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(|| self.malformed())?;
        self.0 = rest;
        Ok(taken)
    }

    fn malformed(&self) -> ChangesError {
        ChangesError::Malformed(self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn record() -> impl Strategy<Value = Record> {
        let numbers = any::<(u32, u32, u32, u32)>();
        (0..=limits::MAX_POSITION, numbers, vec(any::<u8>(), 0..9)).prop_map(
            |(position, (channel, author, recipient, counter), bytes)| Record {
                position,
                channel,
                author,
                recipient,
                counter,
                bytes,
            },
        )
    }

    fn part() -> impl Strategy<Value = Part> {
        let name = any::<String>().prop_map(|name| name.chars().take(64).collect());
        (name, vec(any::<u32>(), 0..4), 0..=limits::MAX_POSITION, vec(any::<u8>(), 0..9))
            .prop_map(|(name, channels, as_of, bytes)| Part { name, channels, as_of, bytes })
    }

    fn copy() -> impl Strategy<Value = RoomCopy> {
        let ends = (any::<(u64, Option<(u64, u64)>, u32, u32)>(), vec(any::<u8>(), 0..9));
        (ends, vec((any::<u64>(), part()), 0..3), vec((any::<u32>(), record()), 0..4)).prop_map(
            |(((incarnation, replaces, reserved, active), meta), parts, mut records)| {
                records.sort_by_key(|(_, record)| record.position);
                records.dedup_by_key(|(_, record)| record.position);
                records.retain(|(_, record)| record.position > 0);
                let (room, head) = ("a".into(), limits::MAX_POSITION);
                RoomCopy {
                    room,
                    incarnation,
                    replaces,
                    meta,
                    reserved,
                    head,
                    active,
                    parts,
                    records,
                }
            },
        )
    }

    fn change() -> impl Strategy<Value = Change> {
        let room = || any::<String>().prop_map(|name| name.chars().take(64).collect::<String>());
        let meta = || proptest::option::of(vec(any::<u8>(), 0..9));
        let events = || vec(vec(any::<u8>(), 0..9), 0..3);
        let append = (room(), any::<(u64, Option<u32>)>(), vec(record(), 0..4), meta(), events());
        let save = (room(), any::<u64>(), part(), meta(), events());
        prop_oneof![
            append.prop_map(|(room, (incarnation, reserved), records, meta, events)| {
                Change::Append(Append { room, incarnation, records, meta, reserved, events })
            }),
            save.prop_map(|(room, incarnation, part, meta, events)| {
                Change::SavePart(SavePart { room, incarnation, part, meta, events })
            }),
            (room(), any::<u64>())
                .prop_map(|(room, incarnation)| Change::BeginAgain { room, incarnation }),
            room().prop_map(|room| Change::Delete { room }),
            copy().prop_map(|copy| Change::Put(Box::new(copy))),
            (0..=limits::MAX_SHARD, any::<u64>(), any::<u64>())
                .prop_map(|(shard, number, time)| Change::EventsTold { shard, number, time }),
        ]
    }

    proptest! {
        #[test]
        fn changes_are_read_as_they_were_written(changes in vec(change(), 0..6)) {
            let bytes = write_changes(&changes);
            prop_assert_eq!(parse_changes(&bytes).unwrap(), changes.clone());
            for end in 0..bytes.len() {
                // A cut between two changes leaves the changes before it.
                if let Ok(fewer) = parse_changes(&bytes[..end]) {
                    prop_assert!(changes.starts_with(&fewer) && fewer.len() < changes.len());
                }
            }
        }

        #[test]
        fn any_bytes_are_refused_or_have_one_form(mut bytes in vec(any::<u8>(), 1..200)) {
            bytes[0] = VERSION;
            if let Ok(changes) = parse_changes(&bytes) {
                prop_assert_eq!(write_changes(&changes), bytes);
            }
        }

        #[test]
        fn a_flipped_bit_is_refused_or_has_one_form(changes in vec(change(), 1..4), at: usize) {
            let mut bytes = write_changes(&changes);
            let at = at % (8 * bytes.len());
            bytes[at / 8] ^= 1 << (at % 8);
            if let Ok(changes) = parse_changes(&bytes) {
                prop_assert_eq!(write_changes(&changes), bytes);
            }
        }
    }

    #[test]
    fn what_exceeds_a_limit_is_refused() {
        let long = Change::Delete { room: "x".repeat(limits::MAX_NAME + 1) };
        let refused = parse_changes(&write_changes(&[long]));
        assert!(matches!(refused, Err(ChangesError::Limit(StoreError::TooLarge { .. }))));
        assert_eq!(parse_changes(&[2]), Err(ChangesError::Newer(2)));
        assert_eq!(parse_changes(&[1, 99]), Err(ChangesError::Kind(99)));
        assert_eq!(parse_changes(&[1, DELETE, 0x80, 0]), Err(ChangesError::Malformed(0)));
        assert_eq!(parse_changes(&[1, DELETE, 1, 0xff]), Err(ChangesError::Text));
        let huge = [&[1, APPEND, 0][..], &[0; 8], &[0xff; 9], &[1]].concat();
        assert!(matches!(parse_changes(&huge), Err(ChangesError::Malformed(_))));
        assert_eq!(parse_changes(&[]), Err(ChangesError::Malformed(0)));
    }

    #[test]
    fn a_record_of_150_bytes_takes_some_10_more() {
        let record = |position| Record {
            position,
            channel: 1,
            author: 300,
            recipient: 0,
            counter: 2000,
            bytes: vec![7; 150],
        };
        let append = Append { records: (1..=100).map(record).collect(), ..Append::default() };
        assert!(write_changes(&[Change::Append(append)]).len() < 100 * 160 + 20);
    }
}
