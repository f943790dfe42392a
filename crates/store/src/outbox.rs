//! The outbox: events for a receiver outside of the server, which are delivered later and at least
//! once.
//!
//! An event is stored in the commit of the change that it tells of, so it is in the outbox exactly
//! if that change is durable. Events are numbered without a gap. The cursor, which is the number of
//! the last event that was told, is stored, too, and told events are erased. An event whose number
//! is missing after the cursor was dropped: it became too old, the outbox too large, its room was
//! deleted, or the disk damaged it. Nothing else waits for the outbox.
//!
//! A cache has an outbox for each shard, whose cursor and numbers are in the shard's row
//! (`shard.rs`): they are equal on all servers, because all of them apply the same changes.

use crc32fast::Hasher;
use rusqlite::{Connection, OptionalExtension, params};

use crate::api::{OVERHEAD, OutboxEvent, OutboxState};
use crate::rows::{Result as Sql, bytes, hash, integer};

/// Bytes and rows of events that one step drops. An outbox at its limit grows by less than this
/// between two steps.
const STEP_BYTES: u64 = 64 << 20;
const STEP_ROWS: i64 = 100_000;

/// The row of a shard's event has the number of the shard, counted from 1, above this many bits.
/// Rows of a store that is no cache have 0 there.
const NUMBER_BITS: u32 = 48;

/// The rows of all events.
pub(crate) const ALL: (i64, i64) = (0, i64::MAX);

/// The tables. The event with the greatest number is never removed before it was told, only
/// emptied, so that no number is given out twice. `outbox_state` has one row.
const TABLES: &str = "
    CREATE TABLE outbox (id INTEGER PRIMARY KEY, room TEXT NOT NULL, time INTEGER NOT NULL, bytes BLOB NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE outbox_state (id INTEGER PRIMARY KEY, name INTEGER NOT NULL, told INTEGER NOT NULL, time INTEGER NOT NULL,
        crc INTEGER NOT NULL);
";

/// Makes the tables if `is_wanted`, and reads the state of the outbox. If no outbox is wanted any
/// more, its events are dropped.
pub(crate) fn open(db: &Connection, is_wanted: bool, now: u64) -> Sql<Option<OutboxState>> {
    let is_there = exists(db)?;
    if !is_wanted {
        if is_there && oldest(db, ALL)?.is_some() {
            remove(db, "id > ?", params![0])?;
        }
        return Ok(None);
    }
    if !is_there {
        db.execute_batch("BEGIN IMMEDIATE")?;
        create_tables(db)?;
        db.execute_batch("COMMIT")?;
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

/// Makes the tables.
pub(crate) fn create_tables(db: &Connection) -> Sql<()> {
    db.execute_batch(TABLES)
}

/// True if there are tables of an outbox.
pub(crate) fn exists(db: &Connection) -> Sql<bool> {
    db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'outbox_state'")?.exists([])
}

/// The row of the event of a shard that has this number there.
pub(crate) fn row_of(shard: u16, number: u64) -> u64 {
    ((u64::from(shard) + 1) << NUMBER_BITS) + number
}

/// The rows that the events of a shard may have: those after the first one, up to the second one.
pub(crate) fn rows_of(shard: u16) -> (i64, i64) {
    let start = row_of(shard, 0).cast_signed();
    (start, start + (1 << NUMBER_BITS) - 1)
}

/// Writes the rows of events, the first with the number `first`.
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

/// Erases the events of a room that is deleted.
pub(crate) fn erase_room(db: &Connection, room: &str) -> Sql<()> {
    remove(db, "room = ?", params![room])
}

/// Erases the events up to `number`, which were told. Returns the new state.
pub(crate) fn acknowledge(db: &Connection, outbox: OutboxState, number: u64) -> Sql<OutboxState> {
    let last = number.cast_signed();
    let time = db
        .prepare_cached("SELECT time FROM outbox WHERE id = ?")?
        .query_row([last], |row| row.get::<_, i64>(0));
    let told_time = time.optional()?.map_or(outbox.told_time, i64::cast_unsigned);
    let (count, bytes) = size_of(db, (0, last))?;
    db.prepare_cached("DELETE FROM outbox WHERE id <= ?")?.execute([last])?;
    let told = OutboxState {
        told: number,
        told_time,
        waiting: outbox.waiting.saturating_sub(count),
        bytes: outbox.bytes.saturating_sub(bytes),
        oldest: oldest(db, ALL)?,
        ..outbox
    };
    put_state(db, &told)?;
    Ok(told)
}

/// Erases the events of a shard up to `number`, which were told.
pub(crate) fn erase_told(db: &Connection, shard: u16, number: u64) -> Sql<()> {
    let (first, last) = (rows_of(shard).0, row_of(shard, number).cast_signed());
    db.prepare_cached("DELETE FROM outbox WHERE id > ? AND id <= ?")?.execute([first, last])?;
    Ok(())
}

/// Erases the events of a shard.
pub(crate) fn erase_shard(db: &Connection, shard: u16) -> Sql<()> {
    db.execute("DELETE FROM outbox WHERE id > ? AND id <= ?", rows_of(shard)).map(drop)
}

/// Erases the events of all shards.
pub(crate) fn erase_shards(db: &Connection) -> Sql<()> {
    match exists(db)? {
        true => db.execute("DELETE FROM outbox WHERE id > ?", [rows_of(0).0]).map(drop),
        false => Ok(()),
    }
}

/// Erases all events of a cache, and those from before it was one.
pub(crate) fn erase_all(db: &Connection) -> Sql<()> {
    if exists(db)? { db.execute_batch("DELETE FROM outbox") } else { Ok(()) }
}

/// Reads the events of a shard with their rooms and with their numbers there.
pub(crate) fn of_shard(db: &Connection, shard: u16) -> Sql<Vec<(String, OutboxEvent)>> {
    if !exists(db)? {
        return Ok(Vec::new());
    }
    let (rows, start) = (rows_of(shard), rows_of(shard).0);
    let mut room_of = db.prepare("SELECT room FROM outbox WHERE id = ?")?;
    let with_room = |event: OutboxEvent| {
        let row = start + event.number.cast_signed();
        Ok((room_of.query_row([row], |row| row.get(0))?, event))
    };
    read(db, rows, start, usize::MAX, usize::MAX)?.into_iter().map(with_room).collect()
}

/// Writes the events of a shard.
pub(crate) fn put_shard(db: &Connection, shard: u16, events: &[(String, OutboxEvent)]) -> Sql<()> {
    events.iter().try_for_each(|(room, event)| {
        let OutboxEvent { number, time, bytes } = event;
        insert(db, row_of(shard, *number), room, *time, std::slice::from_ref(bytes))
    })
}

/// Which events are dropped: those from before `due`, and the oldest ones in `rows` while there are
/// more than `max_bytes`, as far as they are from before `until`.
pub(crate) struct Drops {
    pub(crate) rows: (i64, i64),
    pub(crate) max_bytes: u64,
    pub(crate) due: u64,
    pub(crate) until: u64,
}

/// Drops the oldest events. Returns the new state.
pub(crate) fn drop_oldest(db: &Connection, outbox: OutboxState, drops: &Drops) -> Sql<OutboxState> {
    let Drops { rows: (after, end), max_bytes, due, until } = *drops;
    let mut rest = outbox;
    let mut statement = db.prepare_cached(
        "SELECT id, length(bytes), time FROM outbox WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
    )?;
    let mut rows = statement.query([after, end, STEP_ROWS])?;
    let (mut last, mut dropped) = (after, 0);
    while let Some(row) = rows.next()? {
        let (id, length, time): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // An empty row goes with the event before it.
        if length > 0 {
            let time = time.cast_unsigned();
            let is_over = rest.bytes > max_bytes && time < until || time < due;
            if !is_over || dropped > STEP_BYTES {
                break;
            }
            let size = length.cast_unsigned() + OVERHEAD;
            rest.bytes = rest.bytes.saturating_sub(size);
            rest.waiting = rest.waiting.saturating_sub(1);
            rest.dropped += 1;
            dropped += size;
        }
        last = id;
    }
    drop(rows);
    remove(db, "id > ? AND id <= ?", params![after, last])?;
    rest.oldest = oldest(db, drops.rows)?;
    Ok(rest)
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

/// Reads the events of some rows. Those that were emptied or damaged are left out. The numbers of
/// events are counted from `start`.
pub(crate) fn read(
    db: &Connection,
    (after, last): (i64, i64),
    start: i64,
    max_events: usize,
    max_bytes: usize,
) -> Sql<Vec<OutboxEvent>> {
    let mut statement = db.prepare_cached(
        "SELECT id, time, bytes, crc FROM outbox WHERE id > ? AND id <= ? ORDER BY id",
    )?;
    let mut rows = statement.query([after, last])?;
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
        let number = (number - start).cast_unsigned();
        events.push(OutboxEvent { number, time, bytes: bytes.to_vec() });
    }
    Ok(events)
}

/// The state of an outbox that was just made.
pub(crate) fn new_state() -> OutboxState {
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

/// Counts the events of a shard that wait.
pub(crate) fn measure_shard(db: &Connection, shard: u16, state: OutboxState) -> Sql<OutboxState> {
    if !exists(db)? {
        return Ok(state);
    }
    let (waiting, bytes) = size_of(db, rows_of(shard))?;
    Ok(OutboxState { waiting, bytes, oldest: oldest(db, rows_of(shard))?, ..state })
}

/// Counts the events that wait.
pub(crate) fn measure(db: &Connection, state: OutboxState) -> Sql<OutboxState> {
    let (waiting, bytes) = size_of(db, ALL)?;
    let greatest =
        db.query_row("SELECT max(id) FROM outbox", [], |row| row.get::<_, Option<i64>>(0))?;
    let next = greatest.map_or(0, i64::cast_unsigned).max(state.told) + 1;
    Ok(OutboxState { waiting, bytes, oldest: oldest(db, ALL)?, next, ..state })
}

// The number of events in these rows that wait, and their bytes.
fn size_of(db: &Connection, rows: (i64, i64)) -> Sql<(u64, u64)> {
    let (count, bytes): (i64, i64) = db
        .prepare_cached(
            "SELECT count(*), coalesce(sum(length(bytes)), 0) FROM outbox WHERE id > ? AND id <= ? AND length(bytes) > 0",
        )?
        .query_row(rows, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let count = count.cast_unsigned();
    Ok((count, bytes.cast_unsigned() + count * OVERHEAD))
}

fn oldest(db: &Connection, rows: (i64, i64)) -> Sql<Option<u64>> {
    let time = db
        .prepare_cached(
            "SELECT time FROM outbox WHERE id > ? AND id <= ? AND length(bytes) > 0 ORDER BY id LIMIT 1",
        )?
        .query_row(rows, |row| row.get::<_, i64>(0))
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
