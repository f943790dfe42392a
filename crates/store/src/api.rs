//! The data that callers pass to the store and receive from it.

use std::fmt;
use std::time::Duration;

/// One transaction of a room's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The place in the room's order. The first record of a room has position 1, and each next one
    /// has the position after.
    pub position: u64,
    /// The number of the channel, as the caller counts them.
    pub channel: u32,
    /// The participant who wrote the transaction; 0 is the server.
    pub author: u32,
    /// The participant to whom the transaction is addressed; 0 is everybody.
    pub recipient: u32,
    /// The author's own count of transactions.
    pub counter: u32,
    /// The content, which the store does not look into. At most
    /// [`limits::MAX_RECORD`](crate::limits::MAX_RECORD) bytes.
    pub bytes: Vec<u8>,
}

impl Record {
    /// The bytes that the record counts for in quotas.
    pub(crate) fn cost(&self) -> u64 {
        self.bytes.len() as u64 + OVERHEAD
    }
}

/// A change of a room, which is stored in one commit: all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Append {
    /// The room's name. A room that is not stored yet is created if the first record has position
    /// 1.
    pub room: String,
    /// The room's incarnation. An append of another incarnation than the stored one is refused.
    pub incarnation: u64,
    /// The next records of the room, in order.
    pub records: Vec<Record>,
    /// Replaces the room's meta data: the caller's channels with their QoS, and counters of
    /// participants.
    pub meta: Option<Vec<u8>>,
    /// Participant numbers up to this one are reserved from now on. It never goes down.
    pub reserved: Option<u32>,
    /// Events for the outbox, which hands them to its receiver once the change is stored. Each has
    /// at most [`limits::MAX_EVENT`](crate::limits::MAX_EVENT) bytes.
    pub events: Vec<Vec<u8>>,
}

impl Append {
    /// True if the append has nothing of the room itself, at most events.
    pub(crate) fn changes_no_room(&self) -> bool {
        let Append { records, meta, reserved, .. } = self;
        records.is_empty() && meta.is_none() && reserved.is_none()
    }
}

/// A part of a room's snapshot: a state that stands for the records of some channels up to a
/// position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The part's name. A newer part of the same name replaces the older one.
    pub name: String,
    /// The channels whose records the part covers.
    pub channels: Vec<u32>,
    /// The part covers records up to this position.
    pub as_of: u64,
    /// The content, at most [`limits::MAX_PART`](crate::limits::MAX_PART) bytes.
    pub bytes: Vec<u8>,
}

impl Part {
    /// True if the part stands for a record of this channel at this position.
    pub fn covers(&self, channel: u32, position: u64) -> bool {
        position <= self.as_of && self.channels.contains(&channel)
    }
}

/// Everything that is needed to serve a room again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The room's incarnation.
    pub incarnation: u64,
    /// The newest meta data; empty if there never was any.
    pub meta: Vec<u8>,
    /// Participant numbers up to this one are reserved.
    pub reserved: u32,
    /// The position of the newest record, stored or covered.
    pub head: u64,
    /// When the last record was stored, in milliseconds since 1970.
    pub active: u64,
    /// The newest intact part of each name.
    pub parts: Vec<Part>,
    /// The intact records that no part covers, in the order of positions.
    pub records: Vec<Record>,
    /// The damage that was found. If this is not empty, confirmed records may be missing, and the
    /// caller has to begin a new incarnation with
    /// [`RoomLog::begin_again`](crate::RoomLog::begin_again).
    pub damage: Vec<Damage>,
}

/// Something confirmed that could not be read back from the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The record at this position.
    Record {
        /// The record's position.
        position: u64,
    },
    /// A part of the snapshot. If the part before it is intact, that one and the log behind it were
    /// loaded.
    Part {
        /// The part's name.
        name: String,
        /// The position up to which it covers its channels.
        as_of: u64,
        /// True if an older part and the log behind it took its place, so that nothing is missing.
        replaced: bool,
    },
    /// The room's meta data, or its numbers.
    Meta,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Record { position } => write!(f, "transaction {position} cannot be read"),
            Damage::Part { name, as_of, replaced } => {
                write!(f, "snapshot {name:?} up to transaction {as_of} cannot be read")?;
                if *replaced { f.write_str(", and an older one replaces it") } else { Ok(()) }
            }
            Damage::Meta => f.write_str("its channels and counters cannot be read"),
        }
    }
}

/// One room in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomInfo {
    /// The room's name.
    pub name: String,
    /// The room's incarnation.
    pub incarnation: u64,
    /// The position of the newest record.
    pub head: u64,
    /// The number of stored records, with those that are kept as history.
    pub records: u64,
    /// The bytes that count towards the quota.
    pub bytes: u64,
    /// When the last record was stored, in seconds since 1970.
    pub active: u64,
}

/// What the store holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// The number of rooms.
    pub rooms: usize,
    /// Bytes of records, parts and meta data with their overhead: what the quota is compared with.
    pub live: u64,
    /// Bytes that wait for their removal from the disk.
    pub garbage: u64,
    /// Commits since the store was opened.
    pub commits: u64,
    /// Syncs of the store's thread since the store was opened: one of each commit, and those of
    /// checkpoints.
    pub syncs: u64,
}

/// The limits of the events that wait for the receiver. Events beyond them are dropped, the oldest
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxLimits {
    /// The most bytes of the events that wait.
    pub max_bytes: u64,
    /// The largest age of an event.
    pub max_age: Duration,
}

/// An event that waits in the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxEvent {
    /// Its number in the outbox; the first one has 1.
    pub number: u64,
    /// When it was stored, in milliseconds since 1970.
    pub time: u64,
    /// The content, which the store does not look into.
    pub bytes: Vec<u8>,
}

/// The state of the outbox: which events were told, and which wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxState {
    /// A random number that the outbox got when it was made: numbers of events are unique together
    /// with it.
    pub id: u64,
    /// The number of the last event that was told; 0 if none was.
    pub told: u64,
    /// The time of that event, or of the making of the outbox, in milliseconds since 1970.
    pub told_time: u64,
    /// The number of events that wait.
    pub waiting: u64,
    /// The bytes of the events that wait, with their overhead.
    pub bytes: u64,
    /// The time of the oldest event that waits, in milliseconds since 1970; `None` if none waits.
    pub oldest: Option<u64>,
    /// Events that were dropped since the store was opened.
    pub dropped: u64,
    /// The number of the next event.
    pub next: u64,
}

impl OutboxState {
    /// The state without the events that wait.
    pub(crate) fn without_events(self) -> Self {
        OutboxState { told: 0, waiting: 0, bytes: 0, oldest: None, dropped: 0, next: 1, ..self }
    }

    /// The sum of the events that wait here and in another outbox.
    pub(crate) fn and(self, other: &Self) -> Self {
        OutboxState {
            waiting: self.waiting + other.waiting,
            bytes: self.bytes + other.bytes,
            oldest: self.oldest.into_iter().chain(other.oldest).min(),
            dropped: self.dropped + other.dropped,
            next: self.next + other.next - 1,
            ..self
        }
    }

    /// Counts events that wait from now on.
    pub(crate) fn add(&mut self, events: &[Vec<u8>], time: u64) {
        for event in events {
            self.waiting += 1;
            self.bytes += event.len() as u64 + OVERHEAD;
            self.oldest.get_or_insert(time);
        }
    }

    /// Checks the relations between the numbers in debug builds.
    pub(crate) fn check(&self) {
        debug_assert!(self.told < self.next, "the cursor of the outbox is before its end");
        debug_assert!(
            self.waiting < self.next - self.told,
            "the events that wait are between the cursor and the end of the outbox"
        );
        debug_assert!(
            self.bytes >= self.waiting * OVERHEAD && (self.waiting > 0 || self.bytes == 0),
            "the bytes of the outbox are those of the events that wait"
        );
    }
}

/// The state that a room is taken back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The snapshot with this number becomes the newest of its name again. No record is lost: the
    /// log has the records that later snapshots of the name covered.
    Snapshot(i64),
    /// Everything after the record at this position is taken back.
    Position(u64),
}

/// A part of a room's snapshot that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Its number in this store.
    pub id: i64,
    /// The part's name.
    pub name: String,
    /// The numbers of the channels whose records it covers.
    pub channels: Vec<u32>,
    /// It covers records up to this position.
    pub as_of: u64,
    /// When it was stored, in milliseconds since 1970.
    pub taken: u64,
    /// The size of its content in bytes.
    pub size: u64,
    /// True if it is the newest of its name.
    pub is_newest: bool,
}

/// What a room can be taken back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshots {
    /// The position of the newest record.
    pub head: u64,
    /// The room can be taken back to each position from this one on. 0: the log reaches back to the
    /// room's beginning.
    pub oldest: u64,
    /// The snapshots, in the order in which they were stored.
    pub snapshots: Vec<SnapshotInfo>,
}

/// The counts of an export or a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of rooms.
    pub rooms: u64,
    /// The number of intact records.
    pub records: u64,
    /// The number of intact parts of snapshots.
    pub parts: u64,
    /// Rooms, records and parts that were left out because their checksums do not hold.
    pub damaged: u64,
}

/// The bytes that a record, a part or a room counts for, beside its content: the fields and
/// SQLite's own bytes.
pub(crate) const OVERHEAD: u64 = 64;
