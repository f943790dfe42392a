//! The shards of a cache: how far it has applied the log of each, and the events of each.
//!
//! Several servers share a log of changes for each shard of the rooms, and each of them applies it
//! to a store, which is a cache of the log. The row of a shard is written in the commit that
//! applies its changes, so that it always says what the rooms hold.

use std::collections::BTreeMap;

use crc32fast::Hasher;
use rusqlite::{Connection, Row, params};

use crate::api::OutboxState;
use crate::change::Change;
use crate::error::Error;
use crate::outbox;
use crate::rows::{Result as Sql, bytes, corrupt, integer};

const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS shards (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, number INTEGER NOT NULL,
        state BLOB NOT NULL, told INTEGER NOT NULL, told_time INTEGER NOT NULL,
        next INTEGER NOT NULL, crc INTEGER NOT NULL);
";

/// A place in the log of a shard: its newest record that was applied.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The number of the shard, at most [`limits::MAX_SHARD`](crate::limits::MAX_SHARD).
    pub shard: u16,
    /// The place of the record in the log, as the log counts.
    pub sequence: u64,
    /// The number of the record; the first one of a shard has 1, and each next one has the number
    /// after.
    pub number: u64,
    /// What else the caller has to know there, which the store keeps and does not look into.
    pub state: Vec<u8>,
}

/// The place of a record in a shared log.
#[derive(Debug, Clone)]
pub(crate) struct Logged {
    pub(crate) cursor: Cursor,
    /// The record's time, in milliseconds since 1970.
    pub(crate) time: u64,
}

/// A shard of a cache.
#[derive(Debug, Clone)]
pub(crate) struct Shard {
    pub(crate) cursor: Cursor,
    /// Events have the same numbers on every server, also where there is no outbox.
    pub(crate) outbox: OutboxState,
    /// Set once a record contradicted the store: no later one is applied.
    pub(crate) stopped: Option<Error>,
}

pub(crate) type Shards = BTreeMap<u16, Shard>;

/// Makes the table of a cache and reads it.
pub(crate) fn open(db: &Connection) -> Sql<Shards> {
    create_table(db)?;
    read(db)
}

/// Drops the table and the events of a store that is no cache any more: its rooms change without
/// the logs.
pub(crate) fn forget(db: &Connection) -> Sql<()> {
    if db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'shards'")?.exists([])? {
        db.execute_batch("BEGIN IMMEDIATE; DROP TABLE shards")?;
        outbox::erase_shards(db)?;
        db.execute_batch("COMMIT")?;
    }
    Ok(())
}

/// Reads all shards, and counts the events of each.
pub(crate) fn read(db: &Connection) -> Sql<Shards> {
    let mut statement = db.prepare("SELECT * FROM shards")?;
    let mut rows = statement.query([])?;
    let mut shards = Shards::new();
    while let Some(row) = rows.next()? {
        let mut shard = Shard::read(row)?;
        shard.count_events(db)?;
        shards.insert(shard.cursor.shard, shard);
    }
    Ok(shards)
}

/// Reads a shard, or makes a new one, of which nothing was applied.
pub(crate) fn find(db: &Connection, shard: u16) -> Sql<Shard> {
    Ok(read(db)?.remove(&shard).unwrap_or_else(|| Shard::new(shard)))
}

/// Makes the table.
pub(crate) fn create_table(db: &Connection) -> Sql<()> {
    db.execute_batch(TABLE)
}

impl Shard {
    /// A shard of which nothing was applied.
    pub(crate) fn new(shard: u16) -> Self {
        let cursor = Cursor { shard, ..Cursor::default() };
        // The numbers of a shard's events are unique in its log, so they need no random number.
        Shard { cursor, outbox: OutboxState { id: 0, ..outbox::new_state() }, stopped: None }
    }

    /// Counts the events of a change. Returns the number that the row of the first one gets.
    pub(crate) fn add_events(&mut self, change: &Change, time: u64, has_outbox: bool) -> u64 {
        let outbox = &mut self.outbox;
        if outbox.told_time == 0 {
            outbox.told_time = time;
        }
        if let Change::EventsTold { number, time, .. } = change
            && *number > outbox.told
        {
            (outbox.told, outbox.told_time) = (*number, *time);
        }
        let first = outbox::row_of(self.cursor.shard, outbox.next);
        outbox.next += change.events().len() as u64;
        if has_outbox {
            outbox.add(change.events(), time);
        }
        first
    }

    /// Counts the events again, after some were erased.
    pub(crate) fn count_events(&mut self, db: &Connection) -> Sql<()> {
        self.outbox = outbox::measure_shard(db, self.cursor.shard, self.outbox)?;
        Ok(())
    }

    pub(crate) fn put(&self, db: &Connection) -> Sql<()> {
        let numbers = self.numbers().map(u64::cast_signed);
        let [shard, sequence, number, told, told_time, next] = numbers;
        db.prepare_cached("INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                shard,
                sequence,
                number,
                self.cursor.state,
                told,
                told_time,
                next,
                self.crc()
            ])?;
        Ok(())
    }

    fn read(row: &Row<'_>) -> Sql<Self> {
        let number = |column| integer(row, column).map(i64::cast_unsigned);
        let mut shard = Shard::new(number(0)? as u16);
        shard.cursor = Cursor {
            sequence: number(1)?,
            number: number(2)?,
            state: bytes(row, 3)?.to_vec(),
            ..shard.cursor
        };
        let (told, told_time, next) = (number(4)?, number(5)?, number(6)?);
        shard.outbox = OutboxState { told, told_time, next, ..shard.outbox };
        if integer(row, 7)? != i64::from(shard.crc()) {
            return Err(corrupt("the place in the log of a shard"));
        }
        Ok(shard)
    }

    fn numbers(&self) -> [u64; 6] {
        let Cursor { shard, sequence, number, .. } = self.cursor;
        let OutboxState { told, told_time, next, .. } = self.outbox;
        [u64::from(shard), sequence, number, told, told_time, next]
    }

    fn crc(&self) -> u32 {
        let mut crc = Hasher::new();
        self.numbers().iter().for_each(|number| crc.update(&number.to_le_bytes()));
        crc.update(&self.cursor.state);
        crc.finalize()
    }
}
