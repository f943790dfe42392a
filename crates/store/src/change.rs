//! Changes of rooms as data, for a log that several servers share.

use crate::api::{Append, OVERHEAD, Part, Record};
use crate::error::Error;
use crate::limits::{
    MAX_CHANNELS, MAX_EVENT, MAX_META, MAX_NAME, MAX_PART, MAX_POSITION, MAX_RECORD, MAX_SHARD,
};

/// A durable change of a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Records, meta data, reserved numbers and events are stored.
    Append(Append),
    /// A part of a snapshot is stored.
    SavePart(SavePart),
    /// The room gets a new incarnation.
    BeginAgain {
        /// The room's name.
        room: String,
        /// The new incarnation.
        incarnation: u64,
    },
    /// The room is deleted, with its events in the outbox.
    Delete {
        /// The room's name.
        room: String,
    },
    /// A whole room takes the place of the room of its name, if there is one, as an import or a
    /// taking back does it.
    Put(Box<RoomCopy>),
    /// The events of a shard up to a number were told, and are erased.
    EventsTold {
        /// The shard, whose log has this change.
        shard: u16,
        /// The number of the last event that was told.
        number: u64,
        /// When that event was stored, in milliseconds since 1970.
        time: u64,
    },
}

/// A part of a room's snapshot to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavePart {
    /// The room's name.
    pub room: String,
    /// The room's incarnation. A part of another incarnation than the stored one is refused.
    pub incarnation: u64,
    /// The part.
    pub part: Part,
    /// Replaces the room's meta data.
    pub meta: Option<Vec<u8>>,
    /// Events for the outbox.
    pub events: Vec<Vec<u8>>,
}

/// A whole room with its history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoomCopy {
    /// The room's name.
    pub room: String,
    /// The incarnation that the room gets.
    pub incarnation: u64,
    /// The incarnation and the head that the room of this name must have, so that the copy loses no
    /// record that was confirmed after it was made; `None` replaces any room.
    pub replaces: Option<(u64, u64)>,
    /// The room's meta data.
    pub meta: Vec<u8>,
    /// Participant numbers up to this one are reserved.
    pub reserved: u32,
    /// The position of the newest record, stored or covered.
    pub head: u64,
    /// When the room was last used, in seconds since 1970.
    pub active: u32,
    /// The parts in the order in which they were stored, each with that time in milliseconds since
    /// 1970.
    pub parts: Vec<(u64, Part)>,
    /// The records in the order of positions, each with the time when it was stored, in seconds
    /// since 1970.
    pub records: Vec<(u32, Record)>,
}

impl Change {
    /// The name of the room that changes; empty if the change is not about a room.
    pub fn room(&self) -> &str {
        match self {
            Change::Append(append) => &append.room,
            Change::SavePart(save) => &save.room,
            Change::BeginAgain { room, .. } | Change::Delete { room } => room,
            Change::Put(copy) => &copy.room,
            Change::EventsTold { .. } => "",
        }
    }

    /// The position in the room that the change begins at; 0 if it has none.
    pub(crate) fn position(&self) -> u64 {
        match self {
            Change::Append(append) => append.records.first().map_or(0, |record| record.position),
            Change::SavePart(save) => save.part.as_of,
            Change::Put(copy) => copy.head,
            Change::EventsTold { number, .. } => *number,
            Change::BeginAgain { .. } | Change::Delete { .. } => 0,
        }
    }

    pub(crate) fn events(&self) -> &[Vec<u8>] {
        match self {
            Change::Append(Append { events, .. }) | Change::SavePart(SavePart { events, .. }) => {
                events
            }
            _ => &[],
        }
    }

    /// True if events that wait in the outbox are erased.
    pub(crate) fn erases_events(&self) -> bool {
        matches!(self, Change::Delete { .. } | Change::Put(_) | Change::EventsTold { .. })
    }

    /// The approximate bytes that the change writes.
    pub fn size(&self) -> u64 {
        let own = match self {
            Change::Append(append) => append.records.iter().map(Record::cost).sum(),
            Change::SavePart(save) => save.part.bytes.len() as u64,
            Change::Put(copy) => copy.bytes(),
            _ => 0,
        };
        own + self.events().iter().map(|event| event.len() as u64 + OVERHEAD).sum::<u64>()
    }

    /// Checks the sizes, and the order of what has to be in order.
    pub(crate) fn check_limits(&self) -> Result<(), Error> {
        check("the room's name", self.room().len(), MAX_NAME)?;
        self.events().iter().try_for_each(|event| check("an event", event.len(), MAX_EVENT))?;
        match self {
            Change::Append(append) => append.check_limits(),
            Change::SavePart(save) => save.check_limits(),
            Change::Put(copy) => copy.check_limits(),
            Change::EventsTold { shard, .. } => check_shard(*shard),
            Change::BeginAgain { .. } | Change::Delete { .. } => Ok(()),
        }
    }
}

impl Append {
    fn check_limits(&self) -> Result<(), Error> {
        check_meta(self.meta.as_deref().unwrap_or_default())?;
        self.records.iter().try_for_each(check_record)
    }
}

impl SavePart {
    pub(crate) fn check_limits(&self) -> Result<(), Error> {
        self.events.iter().try_for_each(|event| check("an event", event.len(), MAX_EVENT))?;
        check_meta(self.meta.as_deref().unwrap_or_default())?;
        check_part(&self.part)
    }
}

impl RoomCopy {
    /// The bytes that the room counts for in quotas.
    pub(crate) fn bytes(&self) -> u64 {
        let parts: u64 =
            self.parts.iter().map(|(_, part)| part.bytes.len() as u64 + OVERHEAD).sum();
        let records: u64 = self.records.iter().map(|(_, record)| record.cost()).sum();
        (self.room.len() + self.meta.len()) as u64 + OVERHEAD + parts + records
    }

    fn check_limits(&self) -> Result<(), Error> {
        check_meta(&self.meta)?;
        let mut least = 1;
        for (_, record) in &self.records {
            check_record(record)?;
            if record.position < least || record.position > self.head {
                return Err(Error::Position { expected: least, found: record.position });
            }
            least = record.position + 1;
        }
        for (_, part) in &self.parts {
            check_part(part)?;
            if part.as_of > self.head {
                return Err(Error::Position { expected: self.head, found: part.as_of });
            }
        }
        check_position(self.head)
    }
}

pub(crate) fn check_shard(shard: u16) -> Result<(), Error> {
    check("the number of a shard", shard.into(), MAX_SHARD.into())
}

fn check_meta(meta: &[u8]) -> Result<(), Error> {
    check("the room's meta data", meta.len(), MAX_META)
}

fn check_record(record: &Record) -> Result<(), Error> {
    check("a record", record.bytes.len(), MAX_RECORD)?;
    check_position(record.position)
}

fn check_part(part: &Part) -> Result<(), Error> {
    check("the part's name", part.name.len(), MAX_NAME)?;
    check("a part", part.bytes.len(), MAX_PART)?;
    check("a part's list of channels", part.channels.len(), MAX_CHANNELS)?;
    check_position(part.as_of)
}

fn check_position(position: u64) -> Result<(), Error> {
    let limit = MAX_POSITION;
    if position > limit { Err(Error::TooLarge { what: "a position", limit }) } else { Ok(()) }
}

fn check(what: &'static str, size: usize, limit: usize) -> Result<(), Error> {
    let limit = limit as u64;
    if size as u64 > limit { Err(Error::TooLarge { what, limit }) } else { Ok(()) }
}
