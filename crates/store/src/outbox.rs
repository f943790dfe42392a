//! The outbox: events for somebody outside, who is told of them later and at least once.
//!
//! An event is stored in the commit of what it tells of, so it is in the outbox exactly if that is durable. Events are numbered
//! without a gap. The number up to which they were told, the cursor, is stored too, and told events are erased. An event whose number
//! is missing behind the cursor was dropped: it became too old, the outbox too large, its room was deleted, or the disk damaged it.
//! Nothing else waits for the outbox.

use std::time::Duration;

use crc32fast::Hasher;
use rusqlite::{Connection, OptionalExtension, params};

use crate::api::OVERHEAD;
use crate::error::{Error, reading};
use crate::request::{Done, Request};
use crate::rows::{Result as Sql, bytes, hash, integer};
use crate::store::Store;
use crate::writer::Writer;
use crate::{Append, RoomLog};

/// Bytes and rows of events that one step drops. An outbox at its limit grows by less than this between two steps.
const STEP_BYTES: u64 = 64 << 20;
const STEP_ROWS: u64 = 100_000;

/// How far behind the receiver of events may be. What is older is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxLimits {
    /// Bytes of the events that wait.
    pub max_bytes: u64,
    /// The age of an event.
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

/// How far the receiver of events is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxState {
    /// A random number that the outbox got when it was made: numbers of events are unique together with it.
    pub id: u64,
    /// The number of the last event that was told; 0 if none was.
    pub told: u64,
    /// The time of that event, or of the making of the outbox, in milliseconds since 1970.
    pub told_time: u64,
    /// The number of events that wait.
    pub waiting: u64,
    /// Their bytes, with their overhead.
    pub bytes: u64,
    /// The time of the oldest one that waits, in milliseconds since 1970; `None` if none waits.
    pub oldest: Option<u64>,
    /// Events that were dropped since the store was opened.
    pub dropped: u64,
    /// The number of the next event.
    pub next: u64,
}

/// The tables. The event with the greatest number is never removed before it was told, only emptied, so that no number is given out
/// twice. `outbox_state` has one row.
const TABLES: &str = "
    CREATE TABLE outbox (id INTEGER PRIMARY KEY, room TEXT NOT NULL, time INTEGER NOT NULL, bytes BLOB NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE outbox_state (id INTEGER PRIMARY KEY, name INTEGER NOT NULL, told INTEGER NOT NULL, time INTEGER NOT NULL,
        crc INTEGER NOT NULL);
";

impl Store {
    /// Puts events of a room into the outbox, and then calls `done`. They need not wait for anything else of the room. Events of
    /// what an [`Append`] or a part of a snapshot stores are given to that instead. Without [`Options::outbox`](crate::Options::outbox),
    /// events are ignored.
    pub fn put_events(&self, room: &str, events: Vec<Vec<u8>>, done: Done) {
        self.append(Append { room: room.to_owned(), events, ..Append::default() }, done);
    }

    /// Reads the oldest events that were not told, in the order of their numbers, until their content exceeds `max_bytes`; at least
    /// one if there is one. Those after the number `last` are left out. This reads the disk.
    pub fn events(
        &self,
        last: u64,
        max_events: usize,
        max_bytes: usize,
    ) -> Result<Vec<OutboxEvent>, Error> {
        let Some(OutboxState { told, .. }) = self.outbox() else { return Ok(Vec::new()) };
        let last = i64::try_from(last).unwrap_or(i64::MAX);
        self.shared().with_reader(|db| read(db, told, last, max_events, max_bytes).map_err(reading))
    }

    /// The events up to this number were told: the cursor moves, and they are erased. Then `done` is called.
    pub fn events_told(&self, number: u64, done: Done) {
        let call = move |writer: &mut Writer| writer.events_told(number);
        self.send(done, |answer| Request::Call(Box::new(call), answer));
    }

    /// How far the receiver of events is; `None` without [`Options::outbox`](crate::Options::outbox).
    pub fn outbox(&self) -> Option<OutboxState> {
        self.shared().state().outbox
    }
}

impl Writer {
    fn events_told(&mut self, number: u64) -> Result<(), Error> {
        let Some(outbox) = self.shared.state().outbox else { return Ok(()) };
        if number <= outbox.told || number >= outbox.next {
            return Ok(());
        }
        let mut told = OutboxState { told: number, ..outbox };
        self.transaction(|db| {
            let last = number.cast_signed();
            let time = db
                .prepare_cached("SELECT time FROM outbox WHERE id = ?")?
                .query_row([last], |row| row.get::<_, i64>(0));
            told.told_time = time.optional()?.map_or(outbox.told_time, i64::cast_unsigned);
            let (count, bytes) = size_up_to(db, last)?;
            db.prepare_cached("DELETE FROM outbox WHERE id <= ?")?.execute([last])?;
            told.waiting -= count.min(told.waiting);
            told.bytes -= bytes.min(told.bytes);
            told.oldest = oldest(db)?;
            put_state(db, &told)
        })?;
        self.note_outbox(told);
        Ok(())
    }

    /// True if events are older, or more, than the limits permit.
    pub(crate) fn outbox_is_over(&self) -> bool {
        let Some(limits) = self.shared.options.outbox else { return false };
        let Some(outbox) = self.shared.state().outbox else { return false };
        outbox.bytes > limits.max_bytes || outbox.oldest.is_some_and(|time| time < self.due(limits))
    }

    /// Drops the oldest events, as far as the limits demand it.
    pub(crate) fn drop_events(&mut self) -> Result<(), Error> {
        let (Some(limits), Some(outbox)) = (self.shared.options.outbox, self.shared.state().outbox)
        else {
            return Ok(());
        };
        let due = self.due(limits);
        let mut rest = outbox;
        self.transaction(|db| {
            let mut statement = db
                .prepare_cached("SELECT id, length(bytes), time FROM outbox ORDER BY id LIMIT ?")?;
            let mut rows = statement.query([STEP_ROWS.cast_signed()])?;
            let (mut last, mut dropped) = (0, 0);
            while let Some(row) = rows.next()? {
                let (id, length, time): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
                // An empty row goes with the event before it.
                if length > 0 {
                    let is_over = rest.bytes > limits.max_bytes || time.cast_unsigned() < due;
                    if !is_over || dropped > STEP_BYTES {
                        break;
                    }
                    let size = length.cast_unsigned() + OVERHEAD;
                    rest.bytes -= size.min(rest.bytes);
                    rest.waiting -= 1.min(rest.waiting);
                    rest.dropped += 1;
                    dropped += size;
                }
                last = id;
            }
            drop(rows);
            remove(db, "id <= ?", params![last])?;
            rest.oldest = oldest(db)?;
            Ok(())
        })?;
        self.note_outbox(rest);
        Ok(())
    }

    /// Counts what remains after the events of a room were erased.
    pub(crate) fn measure_outbox(&mut self) {
        let Some(before) = self.shared.state().outbox else { return };
        match measure(&self.db, before) {
            Ok(rest) => {
                let dropped = before.dropped + before.waiting.saturating_sub(rest.waiting);
                self.note_outbox(OutboxState { dropped, ..rest });
            }
            Err(error) => drop(self.poison(&error)),
        }
    }

    /// Adds the events that were committed.
    pub(crate) fn add_to_outbox(&mut self, events: &[Vec<u8>], time: u64) {
        let mut state = self.shared.state();
        let Some(outbox) = &mut state.outbox else { return };
        for event in events {
            let size = event.len() as u64 + OVERHEAD;
            outbox.next += 1;
            outbox.waiting += 1;
            outbox.bytes += size;
            outbox.oldest.get_or_insert(time);
            self.unsaved += size;
        }
    }

    fn note_outbox(&mut self, outbox: OutboxState) {
        let before = self.shared.state().outbox.replace(outbox);
        let erased = before.map_or(0, |before| before.bytes.saturating_sub(outbox.bytes));
        self.unsaved += erased;
        self.sweep.compaction.note_deletion(erased);
    }

    /// Events that were stored before this time are too old.
    fn due(&self, limits: OutboxLimits) -> u64 {
        let age = u64::try_from(limits.max_age.as_millis()).unwrap_or(u64::MAX);
        self.shared.now().saturating_sub(age)
    }
}

/// Makes the tables if `is_wanted`, and reads how far the receiver is. If no receiver is wanted any more, its events are dropped.
pub(crate) fn open(db: &Connection, is_wanted: bool, now: u64) -> Sql<Option<OutboxState>> {
    let is_there =
        db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'outbox_state'")?.exists([])?;
    if !is_wanted {
        if is_there && oldest(db)?.is_some() {
            remove(db, "id > ?", params![0])?;
        }
        return Ok(None);
    }
    if !is_there {
        db.execute_batch(&format!("BEGIN IMMEDIATE; {TABLES} COMMIT"))?;
    }
    let state = match find_state(db)? {
        Some(state) => state,
        None => {
            let first =
                db.query_row("SELECT min(id) FROM outbox", [], |row| row.get::<_, Option<i64>>(0))?;
            let told = first.map_or(0, |first| (first - 1).cast_unsigned());
            let state = OutboxState { told, told_time: now, ..new_state() };
            put_state(db, &state)?;
            state
        }
    };
    measure(db, state).map(Some)
}

/// Writes the rows of events, of which the first one gets this number.
pub(crate) fn insert(
    db: &Connection,
    first: u64,
    room: &str,
    time: u64,
    events: &[Vec<u8>],
) -> Sql<()> {
    for (event, number) in events.iter().zip(first.cast_signed()..) {
        let crc = event_crc(number, time, event);
        db.prepare_cached("INSERT INTO outbox VALUES (?, ?, ?, ?, ?)")?.execute(params![
            number,
            room,
            time.cast_signed(),
            event,
            crc
        ])?;
    }
    Ok(())
}

/// Erases the events of a room, which is deleted.
pub(crate) fn erase_room(db: &Connection, room: &str) -> Sql<()> {
    remove(db, "room = ?", params![room])
}

// Removes rows, and empties the one with the greatest number.
fn remove(db: &Connection, which: &str, parameters: &[&dyn rusqlite::ToSql]) -> Sql<()> {
    db.execute(
        &format!("UPDATE outbox SET room = '', bytes = x'' WHERE {which} AND id = (SELECT max(id) FROM outbox)"),
        parameters,
    )?;
    db.execute(
        &format!("DELETE FROM outbox WHERE {which} AND id < (SELECT max(id) FROM outbox)"),
        parameters,
    )?;
    Ok(())
}

fn read(
    db: &Connection,
    told: u64,
    last: i64,
    max_events: usize,
    max_bytes: usize,
) -> Sql<Vec<OutboxEvent>> {
    let mut statement = db.prepare_cached(
        "SELECT id, time, bytes, crc FROM outbox WHERE id > ? AND id <= ? ORDER BY id",
    )?;
    let mut rows = statement.query(params![told.cast_signed(), last])?;
    let (mut events, mut size) = (Vec::new(), 0);
    while events.len() < max_events
        && let Some(row) = rows.next()?
    {
        let (number, time) = (integer(row, 0)?, integer(row, 1)?.cast_unsigned());
        let bytes = bytes(row, 2)?;
        if bytes.is_empty() || integer(row, 3)? != i64::from(event_crc(number, time, bytes)) {
            continue;
        }
        size += bytes.len();
        if size > max_bytes && !events.is_empty() {
            break;
        }
        events.push(OutboxEvent { number: number.cast_unsigned(), time, bytes: bytes.to_vec() });
    }
    Ok(events)
}

fn new_state() -> OutboxState {
    let mut id = [0; 8];
    getrandom::fill(&mut id).expect("the operating system has a random source");
    let id = u64::from_le_bytes(id);
    OutboxState {
        id,
        told: 0,
        told_time: 0,
        waiting: 0,
        bytes: 0,
        oldest: None,
        dropped: 0,
        next: 1,
    }
}

fn find_state(db: &Connection) -> Sql<Option<OutboxState>> {
    let mut statement =
        db.prepare("SELECT name, told, time, crc FROM outbox_state WHERE id = 1")?;
    let mut rows = statement.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let number = |column| integer(row, column).map(i64::cast_unsigned);
    let (id, told, told_time) = (number(0)?, number(1)?, number(2)?);
    let is_intact = integer(row, 3)? == i64::from(state_crc(id, told, told_time));
    Ok(is_intact.then(|| OutboxState { id, told, told_time, ..new_state() }))
}

fn put_state(db: &Connection, state: &OutboxState) -> Sql<()> {
    let OutboxState { id, told, told_time, .. } = *state;
    db.prepare_cached("INSERT OR REPLACE INTO outbox_state VALUES (1, ?, ?, ?, ?)")?.execute(
        params![
            id.cast_signed(),
            told.cast_signed(),
            told_time.cast_signed(),
            state_crc(id, told, told_time)
        ],
    )?;
    Ok(())
}

fn measure(db: &Connection, state: OutboxState) -> Sql<OutboxState> {
    let (waiting, bytes) = size_up_to(db, i64::MAX)?;
    let greatest =
        db.query_row("SELECT max(id) FROM outbox", [], |row| row.get::<_, Option<i64>>(0))?;
    let next = greatest.map_or(0, i64::cast_unsigned).max(state.told) + 1;
    Ok(OutboxState { waiting, bytes, oldest: oldest(db)?, next, ..state })
}

// The number of events up to this one that wait, and their bytes.
fn size_up_to(db: &Connection, last: i64) -> Sql<(u64, u64)> {
    let (count, bytes): (i64, i64) = db
        .prepare_cached(
            "SELECT count(*), coalesce(sum(length(bytes)), 0) FROM outbox WHERE id <= ? AND length(bytes) > 0",
        )?
        .query_row([last], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let count = count.cast_unsigned();
    Ok((count, bytes.cast_unsigned() + count * OVERHEAD))
}

fn oldest(db: &Connection) -> Sql<Option<u64>> {
    let time = db
        .prepare_cached("SELECT time FROM outbox WHERE length(bytes) > 0 ORDER BY id LIMIT 1")?
        .query_row([], |row| row.get::<_, i64>(0))
        .optional()?;
    Ok(time.map(i64::cast_unsigned))
}

fn event_crc(number: i64, time: u64, event: &[u8]) -> u32 {
    let mut crc = hash(event);
    crc.update(&number.to_le_bytes());
    crc.update(&time.to_le_bytes());
    crc.finalize()
}

fn state_crc(id: u64, told: u64, time: u64) -> u32 {
    let mut crc = Hasher::new();
    [id, told, time].iter().for_each(|number| crc.update(&number.to_le_bytes()));
    crc.finalize()
}
